/* How far sampling alone moves a profile at each level, from the samples of its instructions. The groups are the rows that a report
 * shows: code without a function by module, code without a line by function. Were all code without a line of a module one group, a
 * line would seem to be better known than its function.
 */
#ifndef AS_SCORE_ROWS_BY_CHANCE_H
#define AS_SCORE_ROWS_BY_CHANCE_H

#include "base/map.h"
#include "base/vec.h"

enum as_row_level { AS_ROW_INSTRUCTION, AS_ROW_LINE, AS_ROW_FUNCTION, AS_ROW_LEVELS };

extern const char *const as_row_level_names[AS_ROW_LEVELS];

/* Samples of an instruction. */
struct as_row_samples {
    uint64_t instruction;
    uint32_t file, line; /* line 0: not known */
    uint32_t function;   /* UINT32_MAX: not known */
    uint32_t module;
    uint64_t units, samples;
};

/* {0} is without samples. */
struct as_row_sums {
    struct as_row_groups {
        struct as_map index; /* key to group + 1 */
        AS_VEC(uint64_t) units;
        AS_VEC(uint64_t) samples;
    } levels[AS_ROW_LEVELS];
    bool lines; /* some are known */
};

void as_row_sums_add(struct as_row_sums *sums, const struct as_row_samples *samples);
/* `samples`: their effective number (as_sampling_error). NAN: not known, as by line where no line is. */
double as_row_sums_error(const struct as_row_sums *sums, enum as_row_level level, double samples);
void as_row_sums_free(struct as_row_sums *sums);

#endif
