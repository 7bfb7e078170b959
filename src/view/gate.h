/* A gate: whether a program, or a part of it, has become slower than allowed. For scripts that must end with a status.
 *
 * Growth is a fraction of the time before. Only significant changes count (diff.h). A row that was not there before has
 * grown without bound. Rows count where their change is at least AS_GATE_LEAST of the program's time before: what is
 * smaller moves with every compiler.
 */
#ifndef AS_VIEW_GATE_H
#define AS_VIEW_GATE_H

#include "view/diff.h"

#define AS_GATE_LEAST 0.001

struct as_gate {
    double program; /* the growth that is allowed; NAN: any */
    double row;     /* of a row; NAN: any */
};

struct as_gate_finding {
    const struct as_diff_row *row; /* NULL: the program */
    double before, after, growth;
    bool failed;
};

struct as_gate_result {
    struct as_gate gate;
    AS_VEC(struct as_gate_finding) findings; /* the program where it has a limit, then rows that have failed */
    size_t rows, failed_rows;                /* that were looked at; of these */
    size_t failed;                           /* the program and rows */
};

void as_gate_judge(struct as_gate_result *result, struct as_gate gate, const struct as_diff *diff);
void as_gate_free(struct as_gate_result *result);

/* Reads "2%", "2" or "0.5 %" as a fraction. */
bool as_gate_parse(const char *text, double *fraction);

#endif
