/* Profiles of one program as one: other runs, other threads, regions with weights.
 *
 * What two profiles have in common is found by what it is, not by its number or address: a module by its build-id and
 * name, code by its place in the module and its bytes, a series by its name (each table's descriptor says it,
 * store/store_table.h). Addresses become those of the first profile that has the module. Then times add up.
 *
 * Inputs are read twice, one after the other: first what was run and which series there are, which decides the scale of
 * times and finds what cannot be merged; then code and rows, which go straight into the output. Memory is bounded by the
 * code of the output and of one input, not by the number of inputs or of rows.
 *
 * A weight is a fraction. It scales times exactly: the output's series have a scale in which every input's times are
 * whole. Counts (executions, branches, counters) are rounded so that their sums stay; samples are not scaled, because
 * what is not known for sure depends on how many there were.
 */
#ifndef AS_MERGE_H
#define AS_MERGE_H

#include "base/error.h"
#include "base/notice.h"

#include "store/store_write.h"

#include <stddef.h>
#include <stdint.h>

struct as_weight {
    uint64_t part, whole; /* in lowest terms; whole is not 0 */
};
/* "3", "0.25", "37/1024": more than 0, at most 18 digits. */
bool as_weight_read(const char *text, struct as_weight *weight);

struct as_merge_input {
    const char *path;
    const char *name; /* for messages and the output's record of what was merged; NULL: the path */
    struct as_weight weight;
};

struct as_merge_options {
    bool force;                /* merge what is of different programs or machines, leave out series that do not fit */
    bool runs;                 /* the inputs are the runs of one recording: they are not named in the output */
    const char *version;       /* of Assay, for the output; NULL: as in the inputs */
    struct as_notices notices; /* what was left out */
};

/* Writes `output`, which must be none of the inputs: whole, or not at all. */
bool as_merge(const struct as_merge_input *inputs, size_t n, const char *output, const struct as_merge_options *options,
              struct as_error *err) AS_MUST_CHECK;
/* The same into a profile that was opened for writing; nothing else may be added to it. The caller commits it. */
bool as_merge_into(const struct as_merge_input *inputs, size_t n, struct as_store_writer *writer,
                   const struct as_merge_options *options, struct as_error *err) AS_MUST_CHECK;

#endif
