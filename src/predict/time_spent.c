/* See time_spent.h. */
#include "predict/time_spent.h"

#include "base/alloc.h"

#include <stdlib.h>

void as_time_spent_init(struct as_time_spent *spent)
{
    *spent = (struct as_time_spent){.functions = as_strings_new()};
}

void as_time_spent_free(struct as_time_spent *spent)
{
    as_strings_free(spent->functions);
    as_vec_free(&spent->sums);
    as_vec_free(&spent->all);
    as_vec_free(&spent->ends);
}

uint32_t as_time_spent_function(struct as_time_spent *spent, const char *name)
{
    return as_strings_intern(spent->functions, name);
}

void as_time_spent_add(struct as_time_spent *spent, uint32_t function, double cycles)
{
    while (spent->sums.len <= function)
        *as_vec_push(&spent->sums) = 0;
    spent->sums.data[function] += cycles;
}

void as_time_spent_end(struct as_time_spent *spent, uint32_t interval)
{
    size_t last = spent->all.len;
    for (uint32_t i = 0; i < spent->sums.len; i++) {
        if (spent->sums.data[i] > 0)
            *as_vec_push(&spent->all) = (struct as_spent){i, spent->sums.data[i]};
        spent->sums.data[i] = 0;
    }
    while (spent->ends.len < interval)
        *as_vec_push(&spent->ends) = last;
    *as_vec_push(&spent->ends) = spent->all.len;
}

/* Adds the cycles of an interval by function, each time `part`. */
static void add_interval(const struct as_time_spent *spent, size_t interval, double part, double *sums)
{
    if (interval >= spent->ends.len)
        return;
    for (size_t i = interval ? spent->ends.data[interval - 1] : 0; i < spent->ends.data[interval]; i++)
        sums[spent->all.data[i].function] += part * spent->all.data[i].cycles;
}

/* Fills `sums`, by function, with what the point has more than the phase on average. */
static void compare(const struct as_time_spent *spent, const struct as_choice *choice, uint32_t phase,
                    const struct as_vectors *vectors, double *sums)
{
    double instructions = 0;
    uint32_t own = choice->points.data[phase].interval;
    for (size_t i = 0; i < choice->groups.len; i++)
        instructions += choice->groups.data[i] == phase ? (double)vectors->list.data[i].instructions : 0;
    for (size_t i = 0; i < choice->groups.len; i++)
        if (choice->groups.data[i] == phase)
            add_interval(spent, i, -1 / instructions, sums);
    add_interval(spent, own, 1 / (double)vectors->list.data[own].instructions, sums);
}

struct as_blamed as_time_spent_blame(const struct as_time_spent *spent, const struct as_choice *choice, uint32_t phase,
                                     const struct as_vectors *vectors)
{
    size_t n = as_strings_count(spent->functions);
    double *sums = as_alloc_array(n + 1, sizeof *sums), difference = 0;
    struct as_blamed found = {0};
    compare(spent, choice, phase, vectors, sums);
    for (size_t i = 0; i < n; i++)
        difference += sums[i];
    for (size_t i = 0; i < n; i++)
        if ((difference > 0 ? sums[i] : -sums[i]) > (difference > 0 ? found.cpi : -found.cpi))
            found = (struct as_blamed){as_strings_get(spent->functions, (uint32_t)i), sums[i]};
    free(sums);
    return found;
}
