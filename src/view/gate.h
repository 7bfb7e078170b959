/* A gate: whether a program, or a part of it, has become slower than allowed. For scripts that need an exit status.
 *
 * Growth is a fraction of the earlier time. Only significant changes count (diff.h). A row that did not exist before
 * has grown without bound. Rows count only if their change is at least AS_GATE_LEAST of the program's earlier time:
 * smaller ones change with every compiler.
 *
 * Profiles of different work are not judged: a program that crashed was not fast. Nor are those of different cores, whose
 * times differ for the same work. That is neither a pass nor a slowdown.
 *
 * A limit that is smaller than the smallest change that the samples can show is inconclusive, unless the change is
 * significant. That counts as failed if the gate is strict.
 */
#ifndef AS_VIEW_GATE_H
#define AS_VIEW_GATE_H

#include "view/diff.h"

#define AS_GATE_LEAST 0.001

struct as_gate {
    double program; /* allowed growth of the program; NAN: any */
    double row;     /* allowed growth of a row; NAN: any */
    bool strict;    /* what is inconclusive has failed */
};

enum as_gate_verdict { AS_GATE_PASSED, AS_GATE_INCONCLUSIVE, AS_GATE_FAILED };

struct as_gate_finding {
    const struct as_diff_row *row; /* NULL: the whole program */
    double before, after, growth;
    enum as_gate_verdict verdict;
    double least;  /* smallest growth that the samples can show; 0: the times are exact */
    double needed; /* samples on each side that could show a growth beyond the limit; INFINITY: no number can */
};

struct as_gate_result {
    struct as_gate gate;
    AS_VEC(char *) obstacles;                /* why the profiles are not judged, in words; then there are no findings */
    AS_VEC(struct as_gate_finding) findings; /* the program if it has a limit, then the rows that failed */
    size_t rows, failed_rows;                /* rows checked, and rows that failed */
    size_t noisy_rows;                       /* rows that seem to have grown beyond the limit, within noise */
    bool exact;                              /* the times of both profiles are */
    enum as_gate_verdict verdict;            /* of all */
};

static inline bool as_gate_judged(const struct as_gate_result *result)
{
    return result->obstacles.len == 0;
}

/* Whether the verdict makes the gate fail. */
static inline bool as_gate_fails(const struct as_gate_result *result, enum as_gate_verdict verdict)
{
    return verdict == AS_GATE_FAILED || (verdict == AS_GATE_INCONCLUSIVE && result->gate.strict);
}

void as_gate_judge(struct as_gate_result *result, struct as_gate gate, const struct as_diff *diff);
void as_gate_free(struct as_gate_result *result);

/* Reads "2%", "2" or "0.5 %" as a fraction. */
bool as_gate_parse(const char *text, double *fraction);

#endif
