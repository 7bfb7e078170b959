/* What warms caches, TLBs and predictors of a core, as words on their way there: to the other host thread, if there is one core
 * and a processor for it, else they are done as soon as a block is complete. The order is the same, and so is the result.
 *
 * An access is the word that the engine has for it. Other words have no kind of access in their highest bits, but what is to be
 * done, and an address of the program or of ours; some are followed by more. See model_inside.h. */
#include "model/model_inside.h"

enum { WHAT_SHIFT = 52, TAKEN_BIT = 48 };
enum what { FETCH, CONTROL, BOTH, RANGE, ACCESS, WAIT, MARK };
#define LOW_BITS ((UINT64_C(1) << TAKEN_BIT) - 1)

static inline void push(struct as_model *model, size_t n, uint64_t first, uint64_t second, uint64_t third)
{
    struct as_warm_words *warm = &model->warm;
    if (__builtin_expect(warm->n + n > AS_AHEAD_WORDS, 0))
        as_model_warm_flush(model);
    uint64_t *to = &warm->words[warm->n];
    to[0] = first;
    if (n > 1)
        to[1] = second;
    if (n > 2)
        to[2] = third;
    warm->n += n;
}

static inline uint64_t head(enum what what, bool taken, uint64_t low)
{
    return (uint64_t)what << WHAT_SHIFT | (uint64_t)taken << TAKEN_BIT | low;
}

static inline uint64_t pointer(const struct as_block *block)
{
    return (uint64_t)(uintptr_t)block;
}

void as_model_warm_fetch(struct as_model *model, const struct as_block *block)
{
    push(model, 1, head(FETCH, false, pointer(block)), 0, 0);
}

void as_model_warm_control(struct as_model *model, const struct as_block *block, bool taken, uint64_t next)
{
    push(model, 2, head(CONTROL, taken, pointer(block)), next, 0);
}

void as_model_warm_both(struct as_model *model, const struct as_block *block, bool taken, uint64_t next)
{
    push(model, 2, head(BOTH, taken, pointer(block)), next, 0);
}

void as_model_warm_range(struct as_model *model, uint64_t address, uint64_t end)
{
    push(model, 3, head(RANGE, false, 0), address, end);
}

void as_model_warm_word(struct as_model *model, uint64_t word)
{
    push(model, 1, word, 0, 0);
}

void as_model_warm_access(struct as_model *model, const struct as_access *access)
{
    push(model, 3, head(ACCESS, false, access->kind), access->address, access->size);
}

void as_model_warm_wait(struct as_model *model, uint64_t cycles)
{
    push(model, 2, head(WAIT, false, 0), cycles, 0);
}

void as_model_warm_mark(struct as_model *model, uint64_t *mispredictions)
{
    push(model, 2, head(MARK, false, 0), (uint64_t)(uintptr_t)mispredictions, 0);
}

/* ---- at the core ---- */

static void control(struct as_core *core, uint64_t word, uint64_t next)
{
    const struct as_block *block = (const struct as_block *)(uintptr_t)(word & LOW_BITS);
    as_core_warm_control(core, block->insns[block->n - 1], word >> TAKEN_BIT & 1, next);
}

static void fetch(struct as_core *core, uint64_t word)
{
    const struct as_block *block = (const struct as_block *)(uintptr_t)(word & LOW_BITS);
    as_core_warm_fetch(core, block->address, block->end);
}

/* Returns how many words were accesses. */
static size_t warm_accesses(struct as_core *core, const uint64_t *words, size_t n)
{
    enum { MOST = 64 };
    struct as_core_access accesses[MOST];
    size_t done = 0;
    for (; done < n && done < MOST && as_access_kind(words[done]); done++) {
        accesses[done].address = as_access_address(words[done]);
        accesses[done].size = as_access_size(words[done]);
        accesses[done].kind = as_access_kind(words[done]);
    }
    as_core_warm_accesses(core, accesses, done);
    return done;
}

/* Returns how many words it took. */
static size_t do_one(struct as_core *core, const uint64_t *words)
{
    struct as_core_access access;
    switch ((enum what)(words[0] >> WHAT_SHIFT)) {
    case FETCH:
        fetch(core, words[0]);
        return 1;
    case CONTROL:
        control(core, words[0], words[1]);
        return 2;
    case BOTH:
        fetch(core, words[0]);
        control(core, words[0], words[1]);
        return 2;
    case RANGE:
        as_core_warm_fetch(core, words[1], words[2]);
        return 3;
    case ACCESS:
        access = (struct as_core_access){.kind = (uint8_t)words[0], .address = words[1], .size = (uint32_t)words[2]};
        as_core_warm_accesses(core, &access, 1);
        return 3;
    case WAIT:
        as_core_wait_until(core, as_core_time(core) + words[1]);
        return 2;
    case MARK:
        *(uint64_t *)(uintptr_t)words[1] = as_core_warm_mispredictions(core);
        return 2;
    }
    return 1;
}

static void do_all(struct as_core *core, const uint64_t *words, size_t n)
{
    for (size_t i = 0; i < n;)
        i += as_access_kind(words[i]) ? warm_accesses(core, words + i, n - i) : do_one(core, words + i);
}

void as_model_warm_apart(void *context, const uint64_t *words, size_t n)
{
    struct as_model *model = context;
    if (model->together.on)
        as_model_take_together(model, words);
    else
        do_all(model->taking->seat.core, words, n);
}

/* ---- on the thread that reads ---- */

void as_model_warm_flush(struct as_model *model)
{
    struct as_warm_words *warm = &model->warm;
    if (warm->n && model->apart)
        as_ahead_put_words(model->ahead, warm->words, warm->n);
    else if (warm->n)
        do_all(warm->core, warm->words, warm->n);
    warm->n = 0;
}

void as_model_warm_end(struct as_model *model)
{
    if (__builtin_expect(!model->apart, 0))
        as_model_warm_flush(model);
}

void as_model_warm_in_place(struct as_model *model, const struct model_thread *own)
{
    if (model->warm.core != own->seat.core)
        as_model_warm_flush(model);
    model->warm.core = own->seat.core;
}

void as_model_warm_begin(struct as_model *model, struct model_thread *own)
{
    if (__builtin_expect(model->apart != NULL, 1))
        return;
    as_model_warm_in_place(model, own);
    if (as_model_set_apart(model, own))
        model->warm.apart = true;
}
