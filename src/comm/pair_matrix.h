/* How much each pair of threads communicated, true and false sharing apart. Threads are numbered from 0; the matrix grows
 * with them, up to AS_PAIR_THREADS. What is added goes to one cell, (from, to); as a person sees it the matrix is symmetric:
 * a pair is the sum of both cells. */
#ifndef AS_COMM_PAIR_MATRIX_H
#define AS_COMM_PAIR_MATRIX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { AS_PAIR_THREADS = 4096 };

struct as_pair_cell {
    uint64_t true_, false_;
};

struct as_pair_matrix {
    size_t n, cap;              /* threads; room for */
    struct as_pair_cell *cells; /* cap x cap */
};

void as_pair_matrix_grow(struct as_pair_matrix *matrix, size_t n);
static inline void as_pair_matrix_add(struct as_pair_matrix *matrix, size_t from, size_t to, bool is_false,
                                      uint64_t count)
{
    struct as_pair_cell *cell = &matrix->cells[from * matrix->cap + to];
    *(is_false ? &cell->false_ : &cell->true_) += count;
}
/* Of a pair, whoever was first. */
struct as_pair_cell as_pair_matrix_pair(const struct as_pair_matrix *matrix, size_t a, size_t b);
struct as_pair_cell as_pair_matrix_total(const struct as_pair_matrix *matrix); /* every transfer once */
static inline uint64_t as_pair_sum(struct as_pair_cell cell)
{
    return cell.true_ + cell.false_;
}

/* All of it, or the part that is true or false sharing: 0, 1, 2, as three matrices show it. */
static inline uint64_t as_pair_part(struct as_pair_cell cell, int part)
{
    return part == 0 ? as_pair_sum(cell) : part == 1 ? cell.true_ : cell.false_;
}
/* The same by group: row i goes to row to[i]; what stays within a group is left out. */
void as_pair_matrix_fold(const struct as_pair_matrix *matrix, const uint32_t *to, size_t groups,
                         struct as_pair_matrix *folded);
void as_pair_matrix_free(struct as_pair_matrix *matrix);

#endif
