/* Call chains from copies of the stack (perf record --call-graph=dwarf, or a session that asks for them). See import.h.
 *
 * What the kernel did inside is in no copy: the sample's own chain has it, or its address alone. Behind it comes what
 * the copy gives. Where that is nothing but the interrupted place, the sample's own chain is kept, if it has callers.
 */
#include "cmd/import.h"

#include <linux/perf_event.h>

/* A file gives unwind tables only if it is the one that was recorded, as it gives names. */
static bool is_recorded(void *context, uint32_t pid, uint64_t address)
{
    struct as_import *import = context;
    struct as_perf_location location;
    as_perf_spaces_find(import->spaces, pid, AS_PERF_USER, address, &location);
    return location.match == AS_PERF_MATCHED || location.match == AS_PERF_TRUSTED;
}

void as_import_walk_stacks(struct as_import *import)
{
    struct as_stack_walker_options options = {.usable = is_recorded, .context = import};
    if (!import->walker)
        import->walker = as_stack_walker_new(&options);
}

/* Copies the part before the program's own; `*user`: addresses of the chain that are the program's. */
static size_t kernel_part(const struct as_perf_sample *sample, uint64_t *chain, size_t max, size_t *user)
{
    size_t n = 0, at = 0;
    uint64_t address;
    enum as_perf_mode mode = sample->mode;
    *user = 0;
    if (sample->mode == AS_PERF_KERNEL) {
        chain[n++] = PERF_CONTEXT_KERNEL;
        chain[n++] = sample->ip;
    }
    for (bool first = true; as_perf_chain_next(sample, &at, &address, &mode); first = false) {
        if (mode == AS_PERF_USER)
            ++*user;
        else if (mode == AS_PERF_KERNEL && !first && n >= 2 && n < max)
            chain[n++] = address;
    }
    return n;
}

bool as_import_walk(struct as_import *import, const struct as_perf_sample *sample, struct as_perf_sample *walked)
{
    uint64_t *chain = import->chain;
    size_t user, n;
    if (!import->walker || !(sample->has & PERF_SAMPLE_STACK_USER))
        return false;
    n = kernel_part(sample, chain, AS_IMPORT_KERNEL_FRAMES, &user);
    chain[n++] = PERF_CONTEXT_USER;
    size_t frames = as_stack_walker_walk(import->walker, sample, chain + n, AS_WALK_MAX);
    import->walked += frames > 1;
    import->unwalked += frames <= 1;
    if (frames <= 1 && user > 1)
        return false;
    *walked = *sample;
    walked->chain = chain;
    walked->n_chain = frames > 0 ? n + frames : n - 1;
    walked->has |= PERF_SAMPLE_CALLCHAIN;
    return true;
}
