/* See thread_starts.h. A thread can have several such functions, as some paths are cut: the one with most time counts. */
#include "view/thread_starts.h"

#include "base/alloc.h"
#include "base/map.h"
#include "symbol/thread_entry.h"

#include <stdlib.h>
#include <string.h>

/* ---- paths ---- */

static bool is_entry(const struct as_view *view, uint32_t function)
{
    const char *name = as_view_function(view, function);
    return !name || as_is_thread_entry(name);
}

/* Below what is not known to be the start of a thread, no start is looked for. */
#define CUT (AS_STORE_NONE - 1)

static bool is_end(const struct as_view *view, uint32_t function)
{
    const char *name = as_view_function(view, function);
    return name && as_is_thread_end(name);
}

static uint32_t start_of(const struct as_view *view, const struct as_store_path *path, const uint32_t *starts,
                         bool modelled)
{
    bool root = path->parent == AS_STORE_NONE, entry = is_entry(view, path->function);
    if (!root && starts[path->parent] != AS_STORE_NONE)
        return starts[path->parent];
    if (entry)
        return is_end(view, path->function) ? CUT : AS_STORE_NONE;
    return root && !modelled ? CUT : path->function;
}

/* By path: the function that its thread began with, NONE or CUT. Paths of samples are whole only if they begin in the C
 * library; those of the model always are. Parents come before their children. */
static uint32_t *find_starts(const struct as_view *view)
{
    size_t n;
    const struct as_store_path *paths = as_store_paths(view->store, &n);
    bool modelled = view->summary.source && strcmp(view->summary.source, "model") == 0;
    uint32_t *starts = as_alloc_array(n + 1, sizeof *starts);
    for (size_t i = 0; i < n; i++)
        starts[i] = start_of(view, &paths[i], starts, modelled);
    return starts;
}

/* ---- threads ---- */

/* By thread: the one that its process began with. */
static uint32_t *find_first(const struct as_view *view)
{
    struct as_map by_process = {0};
    uint32_t *first = as_alloc_array(view->n_threads + 1, sizeof *first);
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t i = 0; i < view->n_threads; i++) {
            const struct as_store_thread *thread = &view->thread[i];
            uint64_t *known = as_map_put(&by_process, (uint64_t)thread->process + 1);
            const struct as_store_thread *other = *known ? &view->thread[*known - 1] : NULL;
            bool leads = thread->number == thread->process ||
                         (other && other->number != other->process && thread->number < other->number);
            *known = !other || leads ? i + 1 : *known;
            first[i] = (uint32_t)(*known - 1);
        }
    as_map_free(&by_process);
    return first;
}

static bool lacks_name(const struct as_store_thread *thread, const struct as_store_thread *first)
{
    if (thread->number == first->number)
        return false;
    return !thread->name || !*thread->name || (first->name && strcmp(thread->name, first->name) == 0);
}

/* ---- both ---- */

const char **as_thread_starts(const struct as_view *view, struct as_error *err)
{
    struct as_store_raw raw;
    if (!as_store_raw(view->store, view->series, view->threads, &raw, err))
        return NULL;
    const char **names = as_alloc_array(view->n_threads + 1, sizeof *names);
    uint64_t *most = as_alloc_array(view->n_threads + 1, sizeof *most);
    uint32_t *starts = find_starts(view), *first = find_first(view);
    struct as_map sums = {0};
    for (size_t i = 0; i < raw.n_paths; i++) {
        uint32_t thread = raw.paths[i].thread, start = starts[raw.paths[i].path];
        if (start >= CUT || !lacks_name(&view->thread[thread], &view->thread[first[thread]]))
            continue;
        uint64_t *sum = as_map_put(&sums, (uint64_t)thread << 32 | start);
        *sum += raw.paths[i].units;
        if (*sum > most[thread]) {
            most[thread] = *sum;
            names[thread] = as_view_function(view, start);
        }
    }
    as_map_free(&sums);
    free(most);
    free(starts);
    free(first);
    as_store_raw_free(&raw);
    return names;
}
