/* See rows_by_chance.h. */
#include "score/rows_by_chance.h"

#include "score/sampling_error.h"

#include <math.h>

const char *const as_row_level_names[AS_ROW_LEVELS] = {"instruction", "line", "function"};

static void add_to_group(struct as_row_groups *groups, uint64_t key, const struct as_row_samples *samples)
{
    uint64_t *index = as_map_put(&groups->index, key);
    if (*index == 0) {
        *as_vec_push(&groups->units) = 0;
        *as_vec_push(&groups->samples) = 0;
        *index = groups->units.len;
    }
    groups->units.data[*index - 1] += samples->units;
    groups->samples.data[*index - 1] += samples->samples;
}

static uint64_t function_key(const struct as_row_samples *samples)
{
    return samples->function != UINT32_MAX ? samples->function : UINT64_C(1) << 32 | samples->module;
}

static uint64_t line_key(const struct as_row_samples *samples)
{
    return samples->line ? (uint64_t)samples->file << 32 | samples->line : UINT64_C(1) << 63 | function_key(samples);
}

void as_row_sums_add(struct as_row_sums *sums, const struct as_row_samples *samples)
{
    sums->lines |= samples->line != 0;
    add_to_group(&sums->levels[AS_ROW_INSTRUCTION], samples->instruction, samples);
    add_to_group(&sums->levels[AS_ROW_LINE], line_key(samples), samples);
    add_to_group(&sums->levels[AS_ROW_FUNCTION], function_key(samples), samples);
}

double as_row_sums_error(const struct as_row_sums *sums, enum as_row_level level, double samples)
{
    const struct as_row_groups *groups = &sums->levels[level];
    if (level == AS_ROW_LINE && !sums->lines)
        return NAN;
    return as_sampling_error(as_weights_of(groups->units.data, groups->units.len), groups->samples.data, samples);
}

void as_row_sums_free(struct as_row_sums *sums)
{
    for (size_t i = 0; i < AS_ROW_LEVELS; i++) {
        as_map_free(&sums->levels[i].index);
        as_vec_free(&sums->levels[i].units);
        as_vec_free(&sums->levels[i].samples);
    }
}
