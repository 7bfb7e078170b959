/* Numbers for call paths: one for each thread and node of its image's calling-context tree, so that sums by path
 * (as_pipe.path) can later be separated by thread and image.
 *
 * Numbers are dense and start at 1; 0 is an unknown path. Threads beyond the first AS_PATHS_THREADS share the numbers
 * of AS_PATHS_SHARED, so that a program that keeps starting threads does not exhaust memory.
 */
#ifndef AS_MODEL_PATHS_H
#define AS_MODEL_PATHS_H

#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

enum { AS_PATHS_THREADS = 256, AS_PATHS_MAX = 1 << 22 };
#define AS_PATHS_SHARED UINT32_MAX

struct as_path_key {
    uint32_t thread; /* its number, or AS_PATHS_SHARED */
    uint32_t tree;   /* of the call tracker (as_call_tracker_tree) */
    uint32_t node;
};

/* The numbers of one thread and tree, by node; 0: none yet. */
struct as_path_book {
    uint32_t thread, tree;
    AS_VEC(uint32_t) numbers;
};

struct as_paths {
    AS_VEC(struct as_path_key) keys; /* by number - 1 */
    AS_VEC(struct as_path_book *) books;
    bool notes;             /* which paths threads come to … */
    AS_VEC(uint32_t) noted; /* … since the list was emptied last; some of them more than once */
};

struct as_path_book *as_paths_book(struct as_paths *paths, uint32_t thread, uint32_t tree);
uint32_t as_paths_number_slowly(struct as_paths *paths, struct as_path_book *book, uint32_t node);
void as_paths_free(struct as_paths *paths);

static inline void as_paths_note(struct as_paths *paths, uint32_t number)
{
    if (__builtin_expect(paths->notes && number, 0))
        *as_vec_push(&paths->noted) = number;
}

static inline uint32_t as_paths_number(struct as_paths *paths, struct as_path_book *book, uint32_t node)
{
    if (__builtin_expect(node < book->numbers.len && book->numbers.data[node], 1))
        return book->numbers.data[node];
    return as_paths_number_slowly(paths, book, node);
}

#endif
