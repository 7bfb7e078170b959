/* Call chains from copies of the stack (perf record --call-graph=dwarf, or a session that asks for them). See import.h.
 *
 * A copy does not contain the kernel's own frames: they come from the sample's chain, or only the sampled address does.
 * The frames from the copy follow. If the copy gives only the interrupted address, the sample's own chain is kept,
 * provided it has callers.
 */
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

/* Copies the kernel's part of the chain; `*user` is the number of addresses that belong to the program. */
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

void as_import_count_cut(struct as_import *import, const struct as_perf_sample *sample, bool walked)
{
    struct as_import_chains *chains = &import->whole;
    uint32_t most = sample->event->max_stack    ? sample->event->max_stack
                    : import->options.max_stack ? import->options.max_stack
                                                : DEFAULT_MOST;
    enum as_walk_end end = walked ? as_stack_walker_end(import->walker) : AS_WALK_ENDED;
    if (!(sample->has & PERF_SAMPLE_CALLCHAIN))
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
        as_str_addf(text, "at the end of the copy of %" PRIu32 " bytes of the stack", chains->copy);
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
