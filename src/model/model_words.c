/* Blocks of a thread whose core runs apart, straight from the words that QEMU wrote, as long as they come as they came before. All
 * that model_blocks.c does with a block that the engine reports is done here in the same order, but for what such blocks do not
 * need. See model_inside.h. */
#include "engine/block_word.h"
#include "model/model_inside.h"

/* Whether an execution of all of the body can have led to the block of this number, which is then its likely one. */
static __attribute__((noinline)) bool find_next(const struct as_words_ahead *ahead, struct as_block_body *body,
                                                uint64_t number)
{
    if (number >= ahead->blocks->len)
        return false; /* an access, an event, or not known yet */
    const struct as_block *block = body->block, *next = as_block_pages_get(ahead->blocks, (uint32_t)number);
    if (!next || !as_block_leads_to(block, next->address))
        return false;
    if (next->n == 1 && next->address - block->address < block->end - block->address)
        return false; /* it may be a second try */
    body->likely = (uint32_t)number;
    body->next = next->address;
    body->taken = block->outcome == AS_OUTCOME_LEAVES || next->address != block->end;
    return true;
}

/* Whether the taken transfer leaves the call path of a calm thread as it is. */
static inline bool is_quiet(struct as_model *model, const struct as_thread *thread, struct as_block_body *body)
{
    if (__builtin_expect(body->leaving == AS_LEAVING_UNKNOWN, 0))
        body->leaving = as_call_tracker_keeps(model->calls, thread, body->block) ? AS_LEAVING_QUIET : AS_LEAVING_LOUD;
    return body->leaving == AS_LEAVING_QUIET;
}

static inline struct as_block_exec exec_of(const struct as_block_body *body, const uint64_t *words)
{
    return (struct as_block_exec){.block = body->block,
                                  .end = body->n,
                                  .taken = body->taken,
                                  .next = body->next,
                                  .words = words,
                                  .n_words = body->n_accesses};
}

static __attribute__((noinline)) void find_path(struct as_model *model, const struct as_thread *thread,
                                                const struct as_block_exec *exec)
{
    struct model_thread *own = thread->user;
    own->path = as_paths_number(&model->paths, own->book, as_call_tracker_begin(model->calls, thread, exec));
    as_paths_note(&model->paths, own->path);
}

/* What the next execution and the one behind it will be looked up in, as far as they come as they came before. Inline: GCC
 * takes a function that only fetches for one without effect, and leaves out its call. */
static inline __attribute__((always_inline)) void fetch_for_host(struct as_block_body *const *bodies, size_t n_bodies,
                                                                 const struct as_block_body *next)
{
    if (!next)
        return;
    __builtin_prefetch(next->chain ? (const void *)next->chain : next); /* never NULL: chains.h */
    const struct as_block_body *then = next->likely < n_bodies ? bodies[next->likely] : NULL;
    if (then) {
        __builtin_prefetch(then);
        __builtin_prefetch((const char *)then + HOST_LINE);
    }
}

/* Returns the number of blocks. */
static uint32_t take_all(struct as_model *model, const struct as_thread *thread, struct as_words_ahead *ahead)
{
    struct model_thread *own = thread->user;
    const uint64_t *words = ahead->words + ahead->at, *end = ahead->words + ahead->n;
    struct as_block_body *const *bodies = model->bodies.numbered.data;
    size_t n_bodies = model->bodies.numbered.len;
    uint64_t left = ahead->left, number = ahead->number, time = ahead->time;
    uint32_t blocks = 0;
    bool calm = as_call_tracker_is_calm(model->calls, thread);
    for (;; blocks++) {
        struct as_block_body *body = number < n_bodies ? bodies[number] : NULL;
        if (!body || body->n_accesses >= (size_t)(end - words) || body->n >= left)
            break;
        uint64_t word = words[body->n_accesses], next = as_wire_number_of(word);
        fetch_for_host(bodies, n_bodies, next < n_bodies ? bodies[next] : NULL);
        if (next != body->likely && !find_next(ahead, body, next))
            break;
        if (!own->path) {
            struct as_block_exec exec = exec_of(body, words);
            find_path(model, thread, &exec);
            calm = as_call_tracker_is_calm(model->calls, thread);
        }
        if (!as_body_has_words(body, words, as_chains_room(&model->chains, own->path)))
            break;
        bool taken = body->taken;
        as_chains_add(&model->chains, body, words, taken, body->next, own->path);
        if (body->indirect)
            as_targets_note(&model->leaders, body->block->image, body->next);
        if (taken ? !calm || !is_quiet(model, thread, body) : body->touches_stack) {
            struct as_block_exec exec = exec_of(body, words);
            if (as_call_tracker_end(model->calls, thread, &exec))
                own->path = 0; /* whether it is calm is asked with the next one */
            else
                calm = as_call_tracker_is_calm(model->calls, thread);
        }
        words += body->n_accesses + 1;
        left -= body->n;
        number = next;
        time = as_wire_time_of(time, word);
    }
    ahead->at = (size_t)(words - ahead->words);
    ahead->instructions = ahead->left - left;
    ahead->number = (uint32_t)number;
    ahead->time = time;
    return blocks;
}

void as_model_take(void *context, struct as_thread *thread, struct as_words_ahead *ahead)
{
    struct as_model *model = context;
    struct model_thread *own = thread->user;
    if (!model->apart || !own->runs || model->stretch.mode == AS_MODE_WARM ||
        !as_model_cores_has(&model->cores, &own->seat))
        return;
    if (model->together.on && model->apart != own)
        as_model_turn_to(model, own);
    if (model->apart != own)
        return;
    as_model_note_ran(model);
    uint32_t blocks = take_all(model, thread, ahead);
    if (!model->together.on) /* else it is the cores' to count */
        as_model_count_shares(model, blocks);
    model->apart_for += blocks;
    if (__builtin_expect(model->measure.on, 1))
        model->instructions += ahead->instructions;
}
