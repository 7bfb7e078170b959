/* See accuracy.h. */
#include "blocks/accuracy.h"

#include "blocks/balance.h"

#include <math.h>
#include <stdlib.h>

struct rank {
    uint32_t module, function;
    double instructions;
};

static int by_instructions(const void *a, const void *b)
{
    const struct rank *x = a, *y = b;
    if (x->instructions != y->instructions)
        return x->instructions < y->instructions ? 1 : -1;
    if (x->module != y->module)
        return x->module < y->module ? -1 : 1;
    return x->function < y->function ? -1 : x->function > y->function;
}

/* All functions, most instructions first; the caller frees. */
static struct rank *rank_functions(const struct as_flow *flow, size_t *n)
{
    AS_VEC(struct rank) ranks = {0};
    for (uint32_t m = 0; m < as_cfg_count_modules(flow->cfg); m++)
        for (uint32_t i = 0; i < as_cfg_get(flow->cfg, m)->functions.len; i++)
            *as_vec_push(&ranks) = (struct rank){m, i, as_flow_function_instructions(flow, m, i)};
    if (ranks.len)
        qsort(ranks.data, ranks.len, sizeof *ranks.data, by_instructions);
    *n = ranks.len;
    return ranks.data;
}

static void compare_ranks(const struct as_flow *estimate, const struct as_flow *truth, struct as_accuracy *result)
{
    size_t n;
    struct rank *theirs = rank_functions(estimate, &n), *right = rank_functions(truth, &n);
    bool ordered = true;
    for (size_t i = 0; i < n && i < AS_ACCURACY_TOP && right[i].instructions > 0; i++) {
        result->top++;
        for (size_t k = 0; k < n && k < AS_ACCURACY_TOP; k++)
            result->top_found += theirs[k].module == right[i].module && theirs[k].function == right[i].function &&
                                 theirs[k].instructions > 0;
        ordered = ordered && theirs[i].module == right[i].module && theirs[i].function == right[i].function;
        result->top_ordered += ordered;
    }
    free(theirs);
    free(right);
}

double as_accuracy_interval(const struct as_flow *flow, uint32_t module, uint32_t block)
{
    const double z = 1.959963984540054; /* of a normal distribution, 95 % */
    const double t = 2.119905299221011; /* of Student's with AS_BALANCE_DRAWS degrees of freedom, likewise */
    _Static_assert(AS_BALANCE_DRAWS == 16, "the quantile is of 16 draws");
    if (!flow->samples)
        return 0;
    double count = flow->counts[module][block];
    if (flow->deviations)
        return count > 0 ? t * flow->deviations[module][block] / count : INFINITY;
    double n = flow->samples[module][block] / fmax(flow->together, 1);
    return n > 0 ? z / sqrt(n) : INFINITY;
}

struct as_accuracy as_accuracy_of(const struct as_flow *estimate, const struct as_flow *truth)
{
    struct as_accuracy result = {0};
    double total = as_flow_total(truth), wrong = 0, functions = 0, covered = 0;
    for (uint32_t m = 0; m < as_cfg_count_modules(truth->cfg); m++) {
        const struct as_cfg_module *module = as_cfg_get(truth->cfg, m);
        for (uint32_t b = 0; b < module->blocks.len; b++) {
            double is = as_flow_instructions(truth, m, b), off = as_flow_instructions(estimate, m, b) - is;
            wrong += fabs(off);
            double margin = as_accuracy_interval(estimate, m, b) * as_flow_instructions(estimate, m, b);
            covered += fabs(off) <= margin ? is : 0;
        }
        for (uint32_t i = 0; i < module->functions.len; i++)
            functions +=
                fabs(as_flow_function_instructions(estimate, m, i) - as_flow_function_instructions(truth, m, i));
    }
    if (total > 0) {
        result.block = wrong / total;
        result.function = functions / total;
        result.covered = covered / total;
    }
    compare_ranks(estimate, truth, &result);
    return result;
}
