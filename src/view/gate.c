/* See gate.h. */
#include "view/gate.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>

static double growth_of(const double cycles[AS_DIFF_SIDES])
{
    return cycles[AS_DIFF_BEFORE] > 0  ? as_diff_change(cycles) / cycles[AS_DIFF_BEFORE]
           : cycles[AS_DIFF_AFTER] > 0 ? INFINITY
                                       : 0;
}

static void add(struct as_gate_result *result, const struct as_diff_row *row, const double cycles[AS_DIFF_SIDES],
                bool failed)
{
    *as_vec_push(&result->findings) =
        (struct as_gate_finding){row, cycles[AS_DIFF_BEFORE], cycles[AS_DIFF_AFTER], growth_of(cycles), failed};
    result->failed += failed;
    result->failed_rows += failed && row;
}

static bool is_too_slow(const struct as_diff *diff, const struct as_diff_row *row, double limit)
{
    return row->significant && growth_of(row->cycles) > limit &&
           as_diff_change(row->cycles) >= AS_GATE_LEAST * diff->cycles[AS_DIFF_BEFORE];
}

void as_gate_judge(struct as_gate_result *result, struct as_gate gate, const struct as_diff *diff)
{
    *result = (struct as_gate_result){.gate = gate};
    if (!isnan(gate.program))
        add(result, NULL, diff->cycles, diff->significant && growth_of(diff->cycles) > gate.program);
    if (isnan(gate.row))
        return;
    result->rows = diff->rows.len;
    for (size_t i = 0; i < diff->rows.len; i++)
        if (is_too_slow(diff, &diff->rows.data[i], gate.row))
            add(result, &diff->rows.data[i], diff->rows.data[i].cycles, true);
}

void as_gate_free(struct as_gate_result *result)
{
    as_vec_free(&result->findings);
}

bool as_gate_parse(const char *text, double *fraction)
{
    char *end;
    double percent = strtod(text, &end);
    if (end == text || !(percent >= 0 && percent <= 1e6))
        return false;
    while (isspace((unsigned char)*end))
        end++;
    if (*end == '%')
        end++;
    *fraction = percent / 100;
    return *end == '\0';
}
