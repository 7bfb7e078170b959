/* Counted stretches whose accesses go through a sieve: the caches behind the first one, and the pages, see what they would
 * see. See model_inside.h.
 *
 * Data comes as it passes. Code comes when the stretch ends: the lines of all blocks that were executed in it, in order of their
 * first execution in the program. Calls and returns are followed as they come. In the last part of the stretch all blocks come
 * (as_block_exec.near): they fetch their code and train the branch predictor. What is left to warming before a region are the first
 * data cache and TLB, whose last users are not known.
 *
 * Each thread has a sieve of its own. What passes one changes the others as it changes caches that are kept coherent: a line that is written is in no other,
 * one that is read may be written by nobody without passing again. QEMU reports all accesses of a process with several threads. Far from
 * a region their sieves are as coarse as QEMU's is for one thread (engine/sieve.h). */
#include "model/model_inside.h"

#include <string.h>

/* Places of the last part of a stretch: a quarter of it, its half, its end. */
enum { QUARTER, HALF, END, PLACES };

struct as_model_sieve {
    bool coarse;                                 /* of several threads, far from a region */
    uint64_t part;                               /* instructions of the last part; 0: nobody asks */
    uint64_t trained;                            /* … that came so far in this stretch */
    uint32_t reached;                            /* places … */
    uint64_t at[PLACES], mispredictions[PLACES]; /* … and what was there */
    bool complete;                               /* of the stretch before */
    bool near;                                   /* the last part of the stretch has begun */
    AS_VEC(bool) marked;                         /* by block: it was executed in this stretch */
    AS_VEC(struct mark {
        const struct as_block *block;
        const struct model_thread *thread;
    })
    marks;
};

void as_model_set_sieve(struct as_model *model)
{
    model->sieve = as_alloc(sizeof *model->sieve);
}

void as_model_sieve_free(struct as_model *model)
{
    if (!model->sieve)
        return;
    as_vec_free(&model->sieve->marked);
    as_vec_free(&model->sieve->marks);
    free(model->sieve);
}

void as_model_sieve_mark(struct as_model *model, const struct as_thread *thread, const struct as_block *block)
{
    struct as_model_sieve *sieve = model->sieve;
    while (sieve->marked.len <= block->index)
        *as_vec_push(&sieve->marked) = false;
    if (sieve->marked.data[block->index])
        return;
    sieve->marked.data[block->index] = true;
    *as_vec_push(&sieve->marks) = (struct mark){.block = block, .thread = thread->user};
}

static int by_index(const void *a, const void *b)
{
    uint32_t first = ((const struct mark *)a)->block->index, second = ((const struct mark *)b)->block->index;
    return (first > second) - (first < second);
}

/* Fetches the code that was executed. */
static void fetch_marked(struct as_model *model)
{
    struct as_model_sieve *sieve = model->sieve;
    if (sieve->marks.len)
        qsort(sieve->marks.data, sieve->marks.len, sizeof *sieve->marks.data, by_index);
    for (size_t i = 0; i < sieve->marks.len; i++) {
        const struct mark *mark = &sieve->marks.data[i];
        if (mark->thread->seat.core && !sieve->near) {
            as_model_warm_in_place(model, mark->thread);
            as_model_warm_fetch(model, mark->block);
        }
        sieve->marked.data[mark->block->index] = false;
    }
    as_vec_clear(&sieve->marks);
    as_model_warm_end(model);
}

/* ---- how training goes ---- */

void as_model_set_training(struct as_model *model, uint64_t near)
{
    model->sieve->part = near;
}

static void reach(struct as_model *model)
{
    struct as_model_sieve *sieve = model->sieve;
    as_model_warm_mark(model, &sieve->mispredictions[sieve->reached]);
    sieve->at[sieve->reached++] = sieve->trained;
}

/* Instructions of the last part were executed. */
static inline void train(struct as_model *model, uint64_t instructions)
{
    struct as_model_sieve *sieve = model->sieve;
    sieve->trained += instructions;
    if (__builtin_expect(sieve->trained >= sieve->part >> (2 - sieve->reached), 0) && sieve->reached < END &&
        sieve->part)
        reach(model);
}

static void end_training(struct as_model *model)
{
    enum { BLOCK = 1024 }; /* no block has so many instructions: the part begins with one */
    struct as_model_sieve *sieve = model->sieve;
    sieve->complete = sieve->reached == END && sieve->trained + BLOCK >= sieve->part && model->n_cores == 1;
    if (sieve->complete)
        reach(model);
    sieve->trained = sieve->reached = 0;
}

/* Mispredictions of each instruction behind a place, up to the next. */
static double rate_behind(const struct as_model_sieve *sieve, int place)
{
    return (double)(sieve->mispredictions[place + 1] - sieve->mispredictions[place]) /
           (double)(sieve->at[place + 1] - sieve->at[place]);
}

bool as_model_training(const struct as_model *model, double *excess)
{
    const struct as_model_sieve *sieve = model->sieve;
    if (sieve->complete)
        *excess = rate_behind(sieve, QUARTER) - rate_behind(sieve, HALF);
    return sieve->complete;
}

/* ---- accesses ---- */

static uint64_t slots_of(const struct as_model *model)
{
    return model->sieve->coarse ? AS_SIEVE_COARSE_SLOTS : AS_SIEVE_SLOTS;
}

static void empty_sieves(struct as_model *model)
{
    for (size_t i = 0; i < model->threads.len; i++)
        if (model->threads.data[i] && model->threads.data[i]->slots)
            memset(model->threads.data[i]->slots, 0, slots_of(model) * sizeof *model->threads.data[i]->slots);
}

/* From here on all sieves are of the other kind. */
static __attribute__((noinline)) void set_coarse(struct as_model *model, bool coarse)
{
    empty_sieves(model);
    model->sieve->coarse = coarse;
}

/* A counted stretch has ended. */
void as_model_sieve_end(struct as_model *model)
{
    end_training(model);
    fetch_marked(model);
    model->sieve->near = false;
    set_coarse(model, false);
}

void as_model_sieve_leave(struct model_thread *own)
{
    free(own->slots);
    own->slots = NULL;
}

/* A thread's access has passed its sieve. */
static __attribute__((noinline)) void tell_others(struct as_model *model, const struct model_thread *own,
                                                  uint64_t address, bool writes)
{
    uint64_t n = slots_of(model);
    for (size_t i = 0; i < model->threads.len; i++) {
        struct model_thread *other = model->threads.data[i];
        if (other && other != own && other->slots && other->process == own->process)
            as_sieve_lose(other->slots, n, address, writes);
    }
}

static inline void warm_words(struct as_model *model, struct model_thread *own, const uint64_t *words, size_t n)
{
    static const uint64_t address_bits = (UINT64_C(1) << AS_ACCESS_ADDRESS_BITS) - 1;
    bool alone = model->n_cores == 1;
    if (__builtin_expect(!own->slots, 0))
        own->slots = as_alloc_array(AS_SIEVE_COARSE_SLOTS, sizeof *own->slots);
    if (__builtin_expect(model->sieve->coarse != (!alone && !model->sieve->near), 0))
        set_coarse(model, !model->sieve->coarse);
    uint64_t slots = slots_of(model);
    for (size_t i = 0; i < n; i++) {
        uint64_t address = words[i] & address_bits;
        uint8_t kind = as_access_kind(words[i]);
        if (!as_sieve_pass(own->slots, slots, address, kind >> 1))
            continue;
        if (!alone)
            tell_others(model, own, address, kind >> 1);
        as_model_warm_word(model, as_access_of_byte(words[i]));
    }
}

/* What is executed from here on fetches its own code. */
static inline void begin_near(struct as_model *model)
{
    if (__builtin_expect(model->sieve->near, 1))
        return;
    fetch_marked(model);
    model->sieve->near = true;
}

static void warm_code(struct as_model *model, const struct as_block_exec *exec)
{
    const struct as_block *block = exec->block;
    if (!exec->continues)
        as_model_warm_fetch(model, block);
    if (exec->end == block->n && block->outcome != AS_OUTCOME_FALLS)
        as_model_warm_control(model, block, exec->taken, exec->next);
}

static inline void begin(struct as_model *model, struct model_thread *own)
{
    if (__builtin_expect(!as_model_cores_has(&model->cores, &own->seat), 0)) {
        as_model_settle(model);
        as_model_cores_enter(&model->cores, &own->seat);
    }
    as_model_warm_begin(model, own);
}

/* The path that the thread is on is asked for again: a signal has led it elsewhere, or it is back. */
static void begin_path(struct as_model *model, struct as_thread *thread, const struct as_block_exec *exec)
{
    (void)as_call_tracker_begin(model->calls, thread, exec);
    ((struct model_thread *)thread->user)->followed = true;
}

/* Follows a transfer. Its accesses are those that passed the sieve, so which of them is the return address is not known. */
static void follow(struct as_model *model, struct as_thread *thread, const struct as_block_exec *exec)
{
    struct model_thread *own = thread->user;
    struct as_block_exec bare = *exec;
    bare.words = NULL;
    bare.n_words = 0;
    if (__builtin_expect(!own->followed, 0))
        begin_path(model, thread, &bare);
    own->path = 0;
    own->followed = true;
    as_call_tracker_end(model->calls, thread, &bare);
}

void as_model_passed(void *context, struct as_thread *thread, const struct as_block_exec *exec)
{
    struct as_model *model = context;
    struct model_thread *own = thread->user;
    begin(model, own);
    if (exec->near) {
        begin_near(model);
        warm_code(model, exec);
        train(model, as_block_exec_count(exec));
    }
    warm_words(model, own, exec->words, exec->n_words);
    as_model_warm_end(model);
    if (exec->taken && exec->block->outcome == AS_OUTCOME_LEAVES)
        follow(model, thread, exec);
    else if (__builtin_expect(!own->followed, 0))
        begin_path(model, thread, exec);
}

void as_model_trail(void *context, struct as_thread *thread, const struct as_trail *trail)
{
    struct as_model *model = context;
    const struct as_block *block = as_block_pages_get(trail->blocks, trail->first);
    size_t from = 0;
    begin(model, thread->user);
    begin_near(model);
    for (size_t i = 0; i < trail->n; i++) {
        if (as_access_kind(trail->words[i]))
            continue;
        const struct as_block *next = as_block_pages_get(trail->blocks, (uint32_t)trail->words[i]);
        if (block->outcome == AS_OUTCOME_FALLS)
            as_model_warm_fetch(model, block);
        else
            as_model_warm_both(model, block, block->outcome == AS_OUTCOME_LEAVES || next->address != block->end,
                               next->address);
        warm_words(model, thread->user, trail->words + from, i - from);
        train(model, block->n);
        block = next;
        from = i + 1;
    }
    as_model_warm_end(model);
}
