/* What assay comm prints: text, JSON, CSV. */
#ifndef AS_CMD_COMM_SHOW_H
#define AS_CMD_COMM_SHOW_H

#include "agent/mpi_host.h"
#include "base/json.h"
#include "comm/comm_native.h"
#include "comm/comm_rows.h"
#include "comm/comm_run.h"

struct as_comm_shown {
    char **argv;
    const struct as_comm_options *options; /* of the model; NULL: on the machine */
    const struct as_comm_result *result;
    const struct as_comm_run *run;            /* NULL: on the machine */
    const struct as_comm_native_info *native; /* NULL: in the model */
    const struct as_mpi_messages *mpi;        /* NULL: nobody counts messages */
    const char *heap_unknown;                 /* why heap objects are not known; NULL: they are, or it is the model */
    double seconds;
    const char *part; /* of the run that was seen, in words; NULL: all of it */
    const struct as_comm_rows *rows;
    uint64_t top; /* lines, objects, pairs of code */
};

void as_comm_text(const struct as_comm_shown *shown, FILE *out);
void as_comm_summary(const struct as_comm_shown *shown,
                     FILE *out); /* its first lines: threads, totals, costs, pattern */
void as_comm_path_text(const struct as_comm_shown *shown, uint32_t path, FILE *out); /* " < caller < its caller" */
bool as_comm_json(const struct as_comm_shown *shown, FILE *out); /* false: it could not be written */
void as_comm_csv(const struct as_comm_shown *shown, FILE *out);
void as_comm_svg(const struct as_comm_shown *shown, FILE *out);
void as_comm_html(const struct as_comm_shown *shown, FILE *out);

void as_comm_json_code(struct as_json *json, const char *name, const struct as_comm_shown *shown,
                       const struct as_comm_code *code);

/* Between nodes: comm_nodes.c. */
bool as_comm_has_nodes(const struct as_comm_shown *shown); /* several, and it is known what went between them */
void as_comm_nodes_text(const struct as_comm_shown *shown, FILE *out);
void as_comm_nodes_json(struct as_json *json, const struct as_comm_shown *shown);
/* The matrix of threads by node. The caller frees it. */
void as_comm_nodes_fold(const struct as_comm_shown *shown, const struct as_pair_matrix *matrix,
                        struct as_pair_matrix *folded);

/* "12.3M", "." for 0: five characters for a cell. May use `text`. */
const char *as_comm_cell_text(uint64_t count, char text[24]);
int as_comm_mpi_rank(const struct as_mpi_messages *mpi, int32_t pid); /* of a process; -1: it is none */
void as_comm_mpi_text(const struct as_comm_shown *shown, FILE *out);
void as_comm_mpi_json(struct as_json *json, const struct as_comm_shown *shown);
void as_comm_mpi_csv(const struct as_comm_shown *shown, FILE *out); /* a line for each pair of ranks */
/* Bytes: messages as true_, collective operations as false_. */
void as_comm_mpi_matrix(const struct as_mpi_messages *mpi, struct as_pair_matrix *matrix);

#endif
