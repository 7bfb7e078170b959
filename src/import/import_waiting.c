/* Samples of a live recording in code that a program generated and that has no name yet. The file with the names may be
 * written as late as the end of the program (Java's -XX:+DumpPerfMapAtExit), so such samples wait for it. See
 * import_internal.h. */
#include "import/import_internal.h"

struct as_import_waiting_sample {
    struct as_perf_sample sample; /* with its own chain; what facts were made of is gone */
    struct as_import_facts facts;
    uint64_t *chain;
    char *comm;
};

enum { MOST_WAITING = 1 << 20 }; /* samples: hours at the usual rate; later ones do not wait */

static bool is_nameless(struct as_import *import, uint32_t pid, enum as_perf_mode mode, uint64_t address)
{
    struct as_perf_location location;
    as_perf_spaces_find(import->spaces, pid, mode, address, &location);
    return mode == AS_PERF_USER && !location.function && strcmp(location.module, "[anon]") == 0;
}

bool as_import_must_wait(struct as_import *import, const struct as_perf_sample *sample)
{
    size_t at = 0;
    uint64_t address;
    enum as_perf_mode mode = sample->mode;
    if (!import->options.spaces.live || import->options.addresses || import->releasing || sample->n_branches ||
        import->waiting.len >= MOST_WAITING)
        return false;
    if (is_nameless(import, sample->pid, sample->mode, sample->ip))
        return true;
    while (as_perf_chain_next(sample, &at, &address, &mode))
        if (is_nameless(import, sample->pid, mode, address))
            return true;
    return false;
}

void as_import_wait(struct as_import *import, const struct as_perf_sample *sample, const struct as_import_facts *facts)
{
    const char *comm = as_perf_spaces_comm(import->spaces, sample->pid, sample->tid);
    struct as_import_waiting_sample *waiting = as_alloc(sizeof *waiting);
    *waiting =
        (struct as_import_waiting_sample){.sample = *sample, .facts = *facts, .comm = comm ? as_strdup(comm) : NULL};
    waiting->chain = as_alloc_array(sample->n_chain + 1, sizeof *waiting->chain);
    if (sample->n_chain)
        memcpy(waiting->chain, sample->chain, sample->n_chain * sizeof *waiting->chain);
    waiting->sample.chain = waiting->chain;
    waiting->sample.comm = waiting->comm;
    waiting->sample.raw = waiting->sample.stack = waiting->sample.aux = NULL;
    waiting->sample.values = NULL;
    waiting->sample.user_regs = waiting->sample.intr_regs = (struct as_perf_regs){0};
    *as_vec_push(&import->waiting) = waiting;
}

static void free_waiting(struct as_import_waiting_sample *waiting)
{
    free(waiting->chain);
    free(waiting->comm);
    free(waiting);
}

void as_import_release(struct as_import *import, uint32_t pid)
{
    size_t kept = 0;
    import->releasing = true;
    for (size_t i = 0; i < import->waiting.len; i++) {
        struct as_import_waiting_sample *waiting = import->waiting.data[i];
        if (pid != AS_IMPORT_ALL && waiting->sample.pid != pid) {
            import->waiting.data[kept++] = waiting;
            continue;
        }
        as_import_add_sample(import, &waiting->sample, &waiting->facts);
        free_waiting(waiting);
    }
    import->waiting.len = kept;
    import->releasing = false;
}

void as_import_waiting_free(struct as_import *import)
{
    for (size_t i = 0; i < import->waiting.len; i++)
        free_waiting(import->waiting.data[i]);
    as_vec_free(&import->waiting);
}
