/* The results of `assay compare`, and how they are shown. */
#ifndef AS_CMD_COMPARE_H
#define AS_CMD_COMPARE_H

#include "base/json.h"
#include "model/groups.h"
#include "model/model.h"
#include "observe/oracle.h"
#include "observe/stacks.h"
#include "sampler/sampling.h"

struct as_compare {
    char **argv;
    const struct as_machine *machine;
    const struct as_model *model;
    struct as_model_result result;
    const struct as_oracle *oracle;
    struct as_profile truth;
    struct as_groups groups;
    struct as_levels levels;              /* of the groups */
    struct as_sampling *const *samplings; /* the first was asked for, the others are the sweep */
    size_t n_samplings;
    uint64_t top;          /* number of rows */
    uint32_t events;       /* the set asked for */
    struct as_pics golden; /* with all events that any sampler here records */
    /* The stacks that rows show: the golden ones, or those of one sampler (--pics-of). */
    struct as_pics shown;
    uint32_t shown_events;
    uint64_t shown_total;
    const char *pics_of, *place;      /* NULL: golden; no place was given */
    const struct as_listing *listing; /* … and no instructions */
    bool colour;
    char *const
        *missing; /* in the first: machines that were asked for, and have no whole run since the user interrupted it */
    size_t n_missing;
};

/* For n machines, at least one: everything about the first, and how the others compare with it. */
void as_compare_json(const struct as_compare *const *compares, size_t n, struct as_json *json);
/* Calls without a call path of their own: too deep, or there are too many paths. */
uint64_t as_compare_folded_calls(const struct as_compare *compare);
void as_compare_text(const struct as_compare *const *compares, size_t n, FILE *out);

#endif
