/* See traced_paths.h. */
#include "reuse/traced_paths.h"

#include "base/map.h"
#include "base/random.h"
#include "base/vec.h"

#include <string.h>

enum { STACK = 16384, PIECE = 4096, SP = 4 };

struct path {
    size_t first, n; /* of the addresses */
    uint32_t image;
    uint32_t next; /* with the same hash; 0: none */
};

struct as_traced_paths {
    struct as_stack_walker *walker;
    AS_VEC(uint64_t) addresses;
    AS_VEC(struct path) list; /* by number - 1 */
    struct as_map numbers;    /* by hash: the first path that has it */
    uint8_t stack[STACK];
};

struct as_traced_paths *as_traced_paths_new(void)
{
    struct as_traced_paths *paths = as_alloc(sizeof *paths);
    paths->walker = as_stack_walker_new(NULL);
    return paths;
}

void as_traced_paths_free(struct as_traced_paths *paths)
{
    if (!paths)
        return;
    as_stack_walker_free(paths->walker);
    as_vec_free(&paths->addresses);
    as_vec_free(&paths->list);
    as_map_free(&paths->numbers);
    free(paths);
}

void as_traced_paths_map(struct as_traced_paths *paths, const struct as_perf_process *map)
{
    as_stack_walker_process(paths->walker, map, NULL);
}

void as_traced_paths_forget(struct as_traced_paths *paths, pid_t pid)
{
    struct as_perf_process gone = {.kind = AS_PERF_EXIT, .pid = (uint32_t)pid, .tid = (uint32_t)pid};
    as_stack_walker_process(paths->walker, &gone, NULL);
}

/* ---- walking ---- */

/* A piece at a time: behind the end of a stack nothing is mapped. */
static size_t read_stack(struct as_traced_paths *paths, const struct as_traced_stop *place)
{
    uint64_t from = place->state->value[SP];
    size_t got = 0, n = 1;
    while (got < STACK && n) {
        size_t wanted = PIECE - (from + got) % PIECE;
        wanted = wanted < STACK - got ? wanted : STACK - got;
        n = place->read(place->context, from + got, paths->stack + got, wanted);
        got += n;
        n = n == wanted ? n : 0;
    }
    return got;
}

static size_t walk(struct as_traced_paths *paths, const struct as_traced_stop *place, uint64_t frames[AS_TRACED_FRAMES])
{
    /* rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8 … here; rax, rbx, rcx, rdx, rsi, rdi, rbp, rsp, rip, r8 … in records. */
    static const uint8_t order[8] = {0, 3, 1, 2, 6, 7, 5, 4};
    const struct as_machine_state *state = place->state;
    uint64_t values[17];
    for (int i = 0; i < 8; i++)
        values[i] = state->value[order[i]];
    values[8] = state->ip;
    memcpy(values + 9, state->value + 8, 8 * sizeof *values);
    struct as_perf_sample sample = {.pid = (uint32_t)place->pid,
                                    .tid = (uint32_t)place->pid,
                                    .user_regs = {.abi = 2, .mask = 0xff01ff, .values = values, .count = 17},
                                    .stack = paths->stack,
                                    .stack_size = STACK};
    sample.stack_valid = read_stack(paths, place);
    size_t n = as_stack_walker_walk(paths->walker, &sample, frames, AS_TRACED_FRAMES);
    frames[0] = place->insn;
    return n ? n : 1;
}

/* ---- numbers ---- */

static bool is_equal(const struct as_traced_paths *paths, const struct path *path, const uint64_t *frames, size_t n)
{
    return path->n == n && memcmp(paths->addresses.data + path->first, frames, n * sizeof *frames) == 0;
}

static uint32_t number_of(struct as_traced_paths *paths, uint32_t image, const uint64_t *frames, size_t n)
{
    uint64_t hash = image;
    for (size_t i = 0; i < n; i++)
        hash = as_random_hash(hash ^ frames[i]);
    uint64_t *first = as_map_put(&paths->numbers, hash);
    for (uint32_t at = (uint32_t)*first; at; at = paths->list.data[at - 1].next)
        if (paths->list.data[at - 1].image == image && is_equal(paths, &paths->list.data[at - 1], frames, n))
            return at;
    *as_vec_push(&paths->list) =
        (struct path){.first = paths->addresses.len, .n = n, .image = image, .next = (uint32_t)*first};
    for (size_t i = 0; i < n; i++)
        *as_vec_push(&paths->addresses) = frames[i];
    return (uint32_t)(*first = paths->list.len);
}

uint32_t as_traced_paths_find(struct as_traced_paths *paths, const struct as_traced_stop *place)
{
    uint64_t frames[AS_TRACED_FRAMES];
    size_t n = walk(paths, place, frames);
    return number_of(paths, place->image, frames, n);
}

const uint64_t *as_traced_paths_get(const struct as_traced_paths *paths, uint32_t path, size_t *n, uint32_t *image)
{
    *n = 0;
    if (!path || path > paths->list.len)
        return NULL;
    const struct path *found = &paths->list.data[path - 1];
    *n = found->n;
    *image = found->image;
    return paths->addresses.data + found->first;
}
