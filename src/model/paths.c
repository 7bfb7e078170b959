/* See paths.h. */
#include "model/paths.h"

struct as_path_book *as_paths_book(struct as_paths *paths, uint32_t thread, uint32_t tree)
{
    thread = thread <= AS_PATHS_THREADS ? thread : AS_PATHS_SHARED;
    for (size_t i = paths->books.len; i-- > 0;)
        if (paths->books.data[i]->thread == thread && paths->books.data[i]->tree == tree)
            return paths->books.data[i];
    struct as_path_book *book = as_alloc(sizeof *book);
    book->thread = thread;
    book->tree = tree;
    *as_vec_push(&paths->books) = book;
    return book;
}

uint32_t as_paths_number_slowly(struct as_paths *paths, struct as_path_book *book, uint32_t node)
{
    if (paths->keys.len >= AS_PATHS_MAX)
        return 0;
    while (book->numbers.len <= node)
        *as_vec_push(&book->numbers) = 0;
    *as_vec_push(&paths->keys) = (struct as_path_key){.thread = book->thread, .tree = book->tree, .node = node};
    return book->numbers.data[node] = (uint32_t)paths->keys.len;
}

void as_paths_free(struct as_paths *paths)
{
    for (size_t i = 0; i < paths->books.len; i++) {
        as_vec_free(&paths->books.data[i]->numbers);
        free(paths->books.data[i]);
    }
    as_vec_free(&paths->books);
    as_vec_free(&paths->keys);
    as_vec_free(&paths->noted);
}
