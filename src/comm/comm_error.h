/* How wrong an estimated matrix of communication is. */
#ifndef AS_COMM_COMM_ERROR_H
#define AS_COMM_COMM_ERROR_H

#include "comm/pair_matrix.h"

/* What the matrices of a run differ by: cells as shares of the largest exact one. */
struct as_comm_error {
    double total;         /* estimated / exact - 1; 0 where nothing was exchanged */
    double mean, largest; /* of the cells with any communication, absolute */
    double false_share;   /* estimated share of false sharing less the exact one */
};
struct as_comm_error as_comm_error(const struct as_pair_matrix *estimate, const struct as_pair_matrix *exact);

#endif
