/* See pair_matrix.h. */
#include "comm/pair_matrix.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

void as_pair_matrix_grow(struct as_pair_matrix *matrix, size_t n)
{
    if (n <= matrix->n)
        return;
    if (n > matrix->cap) {
        size_t cap = matrix->cap ? matrix->cap : 8;
        while (cap < n)
            cap *= 2;
        struct as_pair_cell *cells = as_alloc_array(cap * cap, sizeof *cells);
        for (size_t i = 0; i < matrix->n; i++)
            memcpy(cells + i * cap, matrix->cells + i * matrix->cap, matrix->n * sizeof *cells);
        free(matrix->cells);
        matrix->cells = cells;
        matrix->cap = cap;
    }
    matrix->n = n;
}

struct as_pair_cell as_pair_matrix_pair(const struct as_pair_matrix *matrix, size_t a, size_t b)
{
    if (a >= matrix->n || b >= matrix->n || a == b)
        return (struct as_pair_cell){0};
    const struct as_pair_cell *one = &matrix->cells[a * matrix->cap + b], *other = &matrix->cells[b * matrix->cap + a];
    return (struct as_pair_cell){.true_ = one->true_ + other->true_, .false_ = one->false_ + other->false_};
}

struct as_pair_cell as_pair_matrix_total(const struct as_pair_matrix *matrix)
{
    struct as_pair_cell total = {0};
    for (size_t i = 0; i < matrix->n; i++)
        for (size_t k = 0; k < i; k++) {
            struct as_pair_cell pair = as_pair_matrix_pair(matrix, i, k);
            total.true_ += pair.true_;
            total.false_ += pair.false_;
        }
    return total;
}

void as_pair_matrix_fold(const struct as_pair_matrix *matrix, const uint32_t *to, size_t groups,
                         struct as_pair_matrix *folded)
{
    as_pair_matrix_grow(folded, groups);
    for (size_t i = 0; i < matrix->n; i++)
        for (size_t k = 0; k < matrix->n; k++) {
            const struct as_pair_cell *cell = &matrix->cells[i * matrix->cap + k];
            if (to[i] == to[k])
                continue;
            as_pair_matrix_add(folded, to[i], to[k], false, cell->true_);
            as_pair_matrix_add(folded, to[i], to[k], true, cell->false_);
        }
}

void as_pair_matrix_free(struct as_pair_matrix *matrix)
{
    free(matrix->cells);
    memset(matrix, 0, sizeof *matrix);
}
