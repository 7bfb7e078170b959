/* A gate: whether a program, or a part of it, has become slower than allowed. For scripts that need an exit status.
 *
 * Growth is a fraction of the earlier time. Only significant changes count (diff.h). A row that did not exist before
 * has grown without bound. Rows count only if their change is at least AS_GATE_LEAST of the program's earlier time:
 * smaller ones change with every compiler.
 */
#ifndef AS_VIEW_GATE_H
#define AS_VIEW_GATE_H

#include "view/diff.h"

#define AS_GATE_LEAST 0.001

struct as_gate {
    double program; /* allowed growth of the program; NAN: any */
    double row;     /* allowed growth of a row; NAN: any */
};

struct as_gate_finding {
    const struct as_diff_row *row; /* NULL: the whole program */
    double before, after, growth;
    bool failed;
};

struct as_gate_result {
    struct as_gate gate;
    AS_VEC(struct as_gate_finding) findings; /* the program if it has a limit, then the rows that failed */
    size_t rows, failed_rows;                /* rows checked, and rows that failed */
    size_t failed;                           /* program and rows that failed */
};

void as_gate_judge(struct as_gate_result *result, struct as_gate gate, const struct as_diff *diff);
void as_gate_free(struct as_gate_result *result);

/* Reads "2%", "2" or "0.5 %" as a fraction. */
bool as_gate_parse(const char *text, double *fraction);

#endif
