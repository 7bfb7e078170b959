/* See comm_error.h. */
#include "comm/comm_error.h"

#include "base/ratio.h"

static double false_share(const struct as_pair_matrix *matrix)
{
    struct as_pair_cell total = as_pair_matrix_total(matrix);
    return as_ratio(total.false_, as_pair_sum(total));
}

static uint64_t largest_cell(const struct as_pair_matrix *matrix)
{
    uint64_t most = 0;
    for (size_t i = 0; i < matrix->n; i++)
        for (size_t k = 0; k < i; k++) {
            uint64_t cell = as_pair_sum(as_pair_matrix_pair(matrix, i, k));
            most = cell > most ? cell : most;
        }
    return most;
}

struct as_comm_error as_comm_error(const struct as_pair_matrix *estimate, const struct as_pair_matrix *exact)
{
    struct as_comm_error error = {0};
    uint64_t guessed = as_pair_sum(as_pair_matrix_total(estimate)), known = as_pair_sum(as_pair_matrix_total(exact));
    uint64_t most = largest_cell(exact);
    size_t cells = 0;
    for (size_t i = 0; i < exact->n; i++)
        for (size_t k = 0; k < i; k++) {
            double a = as_ratio(as_pair_sum(as_pair_matrix_pair(estimate, i, k)), most);
            double b = as_ratio(as_pair_sum(as_pair_matrix_pair(exact, i, k)), most);
            double apart = a > b ? a - b : b - a;
            cells += a > 0 || b > 0;
            error.mean += apart;
            error.largest = apart > error.largest ? apart : error.largest;
        }
    error.mean = cells ? error.mean / (double)cells : 0;
    error.total = known ? as_ratio(guessed, known) - 1 : 0;
    error.false_share = known && guessed ? false_share(estimate) - false_share(exact) : 0;
    return error;
}
