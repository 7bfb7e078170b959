/* What assay comm prints: text, JSON, CSV. */
#ifndef AS_CMD_COMM_SHOW_H
#define AS_CMD_COMM_SHOW_H

#include "comm/comm_native.h"
#include "comm/comm_rows.h"
#include "comm/comm_run.h"

struct as_comm_shown {
    char **argv;
    const struct as_comm_options *options; /* of the model; NULL: on the machine */
    const struct as_comm_result *result;
    const struct as_comm_run *run;            /* NULL: on the machine */
    const struct as_comm_native_info *native; /* NULL: in the model */
    double seconds;
    const struct as_comm_rows *rows;
    uint64_t top; /* lines, objects, pairs of code */
};

void as_comm_text(const struct as_comm_shown *shown, FILE *out);
bool as_comm_json(const struct as_comm_shown *shown, FILE *out); /* false: it could not be written */
void as_comm_csv(const struct as_comm_shown *shown, FILE *out);
void as_comm_svg(const struct as_comm_shown *shown, FILE *out);
void as_comm_html(const struct as_comm_shown *shown, FILE *out);

/* What the matrices of a run differ by: cells as shares of the largest exact one. */
struct as_comm_error {
    double total;         /* estimated / exact - 1; 0 where nothing was exchanged */
    double mean, largest; /* of the cells with any communication, absolute */
    double false_share;   /* estimated share of false sharing less the exact one */
};
struct as_comm_error as_comm_error(const struct as_pair_matrix *estimate, const struct as_pair_matrix *exact);

#endif
