/* The rows of `assay doctor`: each fact with its meaning for Assay and a remedy. */
#ifndef AS_CMD_DOCTOR_ROWS_H
#define AS_CMD_DOCTOR_ROWS_H

#include "base/error.h"
#include "base/vec.h"
#include "native/probe.h"

enum as_verdict { AS_VERDICT_OK, AS_VERDICT_LIMITED, AS_VERDICT_MISSING, AS_VERDICT_COUNT };

struct as_doctor_row {
    const char *name;  /* fixed, for programs: "debug_registers" */
    const char *label; /* for people */
    enum as_verdict verdict;
    char *state;
    char *remedy; /* "" if there is nothing to do */
};
typedef AS_VEC(struct as_doctor_row) as_doctor_rows;

/* Appends a row; `remedy` NULL: none. The state is a format. */
void as_doctor_add(as_doctor_rows *rows, const char *name, const char *label, enum as_verdict verdict,
                   const char *remedy, const char *state, ...) AS_PRINTF(6, 7);
void as_doctor_rows_free(as_doctor_rows *rows);
const char *as_verdict_name(enum as_verdict verdict);

/* Rows from the probe: the processor, perf events, settings. */
void as_doctor_native_rows(const struct as_probe *probe, as_doctor_rows *rows);

/* Rows about what the model source needs: QEMU, the plugin, memory, libraries; and whether a program really runs, which
 * is returned. */
bool as_doctor_model_rows(const struct as_probe *probe, as_doctor_rows *rows);

/* The source that measures best here: a precise PMU shows the real machine, the model is exact about what it models,
 * the timer always remains. */
struct as_doctor_choice {
    const char *source; /* NULL: no source works */
    const char *why;
};
struct as_doctor_choice as_doctor_choose(const struct as_probe *probe, bool model_works);

#endif
