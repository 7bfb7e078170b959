/* Call chains from copies of the stack (perf record --call-graph=dwarf, or a session that asks for them). See import.h.
 *
 * A copy does not contain the kernel's own frames: they come from the sample's chain, or only the sampled address does.
 * The frames from the copy follow. A sample may also have the kernel's chain of the program, by frame pointers. Unwind
 * tables are right for all code that has them, frame pointers only where every function keeps one, so the tables go
 * first. Frame pointers continue where the tables end before the outermost function:
 *
 * - The copy is full. The frames of the kernel's chain whose frame pointers are beyond the copy are callers of all that
 *   was unwound. How many lie within it is known: the copy contains them.
 * - There is no table (generated code). The kernel's chain goes on from the place where the tables ended.
 *
 * If the copy gives only the interrupted address, and the tables do not say that a thread begins there, the sample's
 * own chain is kept, provided it has callers.
 */
#include "base/show.h"
#include "base/str.h"
#include "import/import_internal.h"

#include <inttypes.h>
#include <linux/perf_event.h>
#include <string.h>

/* Whether the file is the one that was recorded; only then its unwind tables are used, like its names. */
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

/* Copies the kernel's part of the chain; the addresses that belong to the program go to import->pointers. */
static size_t kernel_part(struct as_import *import, const struct as_perf_sample *sample, size_t max)
{
    uint64_t *chain = import->chain;
    size_t n = 0, at = 0;
    uint64_t address;
    enum as_perf_mode mode = sample->mode;
    import->n_pointers = 0;
    if (sample->mode == AS_PERF_KERNEL) {
        chain[n++] = PERF_CONTEXT_KERNEL;
        chain[n++] = sample->ip;
    }
    for (bool first = true; as_perf_chain_next(sample, &at, &address, &mode); first = false) {
        if (mode == AS_PERF_USER && import->n_pointers < AS_WALK_MAX)
            import->pointers[import->n_pointers++] = address;
        else if (mode == AS_PERF_KERNEL && !first && n >= 2 && n < max)
            chain[n++] = address;
    }
    return n;
}

static uint64_t register_of(const struct as_perf_sample *sample, unsigned number)
{
    const struct as_perf_regs *regs = &sample->user_regs;
    size_t at = (size_t)__builtin_popcountll(regs->mask & ((UINT64_C(1) << number) - 1));
    return regs->mask >> number & 1 && at < regs->count ? regs->values[at] : 0;
}

/* Returns the index of the first address of import->pointers that was read beyond the copy, where each frame pointer
 * before it was within; n_pointers if there is none, or if the copy does not contain what the kernel followed. */
static size_t first_beyond(const struct as_import *import, const struct as_perf_sample *sample)
{
    enum { BP = 6, SP = 7 }; /* perf's numbers of the registers */
    uint64_t start = register_of(sample, SP), at = register_of(sample, BP), words[2];
    for (size_t i = 1; i < import->n_pointers; i++) {
        if (at < start)
            break;
        if (at - start > sample->stack_valid || sample->stack_valid - (at - start) < sizeof words)
            return i;
        memcpy(words, sample->stack + (at - start), sizeof words);
        if (words[1] != import->pointers[i] || words[0] <= at)
            break;
        at = words[0];
    }
    return import->n_pointers;
}

/* Returns the index of import->pointers at which the chain goes on behind its `n` unwound frames; n_pointers: nowhere. */
static size_t continues_at(const struct as_import *import, const struct as_perf_sample *sample, const uint64_t *frames,
                           size_t n)
{
    enum as_walk_end end = as_stack_walker_end(import->walker);
    if (end == AS_WALK_BEYOND_COPY)
        return first_beyond(import, sample);
    for (size_t i = 1; end == AS_WALK_LOST && i + 1 < import->n_pointers; i++)
        if (import->pointers[i] == frames[n - 1])
            return i + 1;
    return import->n_pointers;
}

bool as_import_walk(struct as_import *import, const struct as_perf_sample *sample, struct as_perf_sample *walked)
{
    uint64_t *chain = import->chain;
    import->way = AS_CHAIN_POINTERS;
    if (!import->walker || !(sample->has & PERF_SAMPLE_STACK_USER))
        return false;
    size_t n = kernel_part(import, sample, AS_IMPORT_KERNEL_FRAMES);
    chain[n++] = PERF_CONTEXT_USER;
    size_t frames = as_stack_walker_walk(import->walker, sample, chain + n, AS_WALK_MAX);
    bool whole = frames > 1 || as_stack_walker_end(import->walker) == AS_WALK_ENDED;
    import->walked += whole;
    import->unwalked += !whole;
    if (!whole && import->n_pointers > 1)
        return false;
    import->way = AS_CHAIN_UNWOUND;
    for (size_t i = frames > 1 ? continues_at(import, sample, chain + n, frames) : import->n_pointers;
         i < import->n_pointers && frames < AS_WALK_MAX; i++) {
        import->way = AS_CHAIN_JOINED;
        chain[n + frames++] = import->pointers[i];
    }
    *walked = *sample;
    walked->chain = chain;
    walked->n_chain = frames > 0 ? n + frames : n - 1;
    walked->has |= PERF_SAMPLE_CALLCHAIN;
    return true;
}

void as_import_write_ways(const struct as_import *import)
{
    static const char *const words[] = {[AS_CHAIN_POINTERS] = "frame pointers",
                                        [AS_CHAIN_UNWOUND] = "unwind tables",
                                        [AS_CHAIN_JOINED] = "unwind tables and then frame pointers"};
    static const char *const counters[] = {[AS_CHAIN_POINTERS] = "chains_by_frame_pointers",
                                           [AS_CHAIN_UNWOUND] = "chains_unwound",
                                           [AS_CHAIN_JOINED] = "chains_joined"};
    struct as_str text = {0};
    uint64_t with = import->chains - import->lone_chains;
    if (!import->chains || !(import->options.spaces.live || import->walked + import->unwalked))
        return;
    as_str_add(&text, "part of the call chains have callers");
    if (import->made_roots >= import->chains / 100 + 1) /* what called that code is missing */
        as_str_addf(&text, ", %.1f %% only up to code that the program made",
                    100 * (double)import->made_roots / (double)import->chains);
    for (int i = 0, shown = 0; i < AS_CHAIN_WAYS; i++) {
        if (!import->ways[i])
            continue;
        as_str_addf(&text, "%s%.1f %% by %s", shown++ ? ", " : ": ",
                    100 * (double)import->ways[i] / (double)import->chains, words[i]);
        as_store_add_counter(import->writer, counters[i], import->ways[i]);
    }
    if (with)
        as_store_add_quality(import->writer, "call_chains", (double)with / (double)import->chains, as_str_get(&text));
    as_str_free(&text);
}

/* ---- chains that were cut ---- */

enum { DEFAULT_MOST = 127 }; /* PERF_MAX_STACK_DEPTH of linux/perf_event.h */
#define LEAST_TOLD 0.01

/* Without frame pointers the kernel follows arbitrary values and may run in circles; its last frame is then outside all
 * code. */
static bool is_cut_by_kernel(struct as_import *import, const struct as_perf_sample *sample, uint32_t most)
{
    size_t n = 0, at = 0;
    uint64_t address = 0;
    struct as_perf_location last;
    enum as_perf_mode mode = sample->mode;
    for (size_t i = 0; i < sample->n_frames; i++)
        n += !sample->frames[i].inlined;
    while (as_perf_chain_next(sample, &at, &address, &mode))
        n++;
    if (n < most || sample->n_frames > 0)
        return n >= most;
    as_perf_spaces_find(import->spaces, sample->pid, mode, address, &last);
    return strcmp(last.module, "[unknown]") != 0 && last.function != NULL;
}

void as_import_count_cut(struct as_import *import, const struct as_perf_sample *sample)
{
    bool walked = import->way == AS_CHAIN_UNWOUND;
    struct as_import_chains *chains = &import->whole;
    uint32_t most = sample->event->max_stack    ? sample->event->max_stack
                    : import->options.max_stack ? import->options.max_stack
                                                : DEFAULT_MOST;
    enum as_walk_end end = walked ? as_stack_walker_end(import->walker) : AS_WALK_ENDED;
    if (!walked && !(sample->has & PERF_SAMPLE_CALLCHAIN))
        return;
    chains->all++;
    if (end == AS_WALK_BEYOND_COPY) {
        chains->cut[AS_CUT_COPY]++;
        chains->copy = (uint32_t)sample->stack_size;
    }
    chains->cut[AS_CUT_FRAMES] += end == AS_WALK_AT_MAX;
    if (!walked && is_cut_by_kernel(import, sample, most)) {
        chains->cut[AS_CUT_KERNEL]++;
        chains->limit = most;
    }
}

static void add_reason(struct as_str *text, const struct as_import_chains *chains, enum as_import_cut cut)
{
    if (!chains->cut[cut])
        return;
    as_str_add(text, text->len ? " or " : "");
    if (cut == AS_CUT_KERNEL)
        as_str_addf(text, "at %" PRIu32 " frames (kernel.perf_event_max_stack)", chains->limit);
    else if (cut == AS_CUT_FRAMES)
        as_str_addf(text, "at %d frames", AS_WALK_MAX);
    else
        as_str_addf(text, "at the end of the copy of %s bytes of the stack", AS_COUNT(chains->copy));
}

void as_import_write_cuts(const struct as_import *import)
{
    const struct as_import_chains *chains = &import->whole;
    struct as_str why = {0};
    uint64_t cut = 0;
    for (int i = 0; i < AS_IMPORT_CUTS; i++) {
        add_reason(&why, chains, (enum as_import_cut)i);
        cut += chains->cut[i];
    }
    double part = cut ? (double)cut / (double)chains->all : 0;
    char *text =
        as_format("part of the call chains were cut %s: totals of outer functions are too small", as_str_get(&why));
    if (cut)
        as_store_add_quality(import->writer, "cut_chains", part, text);
    if (part >= LEAST_TOLD && !import->options.spaces.live)
        as_notice(&import->options.notices, AS_LOG_NOTE,
                  "%.0f %% of the call chains were cut %s: totals of outer functions are too small", 100 * part,
                  as_str_get(&why));
    free(text);
    as_str_free(&why);
}
