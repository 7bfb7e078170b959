/* Merges profiles of one program: other runs, other threads, regions with weights.
 *
 * Things are matched by what they are, not by number or address: a module by its build-id and name, code by its
 * location in the module and its bytes, a series by its name (each table's descriptor names its key,
 * store/store_table.h). Addresses become those of the first profile that has the module. Then times are added up.
 *
 * The inputs are read twice, one after the other. The first pass reads what was run and which series there are; it
 * chooses the scale of times and finds profiles that cannot be merged. The second pass copies code and rows straight
 * into the output. Memory is bounded by the code of the output and of one input, not by the number of inputs or of
 * rows.
 *
 * A weight is a fraction. It scales times exactly: the output's series have a scale in which the times of every input
 * are integers. Counts (executions, branches, counters) are rounded so that their sums are kept. Samples are not
 * scaled, because the uncertainty of a time depends on how many there were.
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

/* What the inputs are parts of: one run, of which each has the regions of one weight. */
struct as_merge_parts {
    const char *part; /* which part of the run was measured (AS_META_PART); NULL: all of it */
    const char *note; /* for the output's limitations */
};

struct as_merge_options {
    bool force; /* merge profiles of different programs or machines, and leave out series that do not fit */
    bool runs;  /* the inputs are the runs of one recording: the output does not list them */
    const struct as_merge_parts *parts; /* NULL: the inputs are runs of their own */
    const char *version;                /* of Assay, for the output; NULL: as in the inputs */
    struct as_notices notices;          /* receive what was left out */
};

/* Writes `output`, which must not be one of the inputs. The output is complete or not there at all. */
bool as_merge(const struct as_merge_input *inputs, size_t n, const char *output, const struct as_merge_options *options,
              struct as_error *err) AS_MUST_CHECK;
/* The same, into a profile that is open for writing. Nothing else may be added to it. The caller commits it. */
bool as_merge_into(const struct as_merge_input *inputs, size_t n, struct as_store_writer *writer,
                   const struct as_merge_options *options, struct as_error *err) AS_MUST_CHECK;

#endif
