/* The table of samplers. A new one is a file with its policy, a line here and one in sampler.h. */
#include "sampler/sampler.h"

#include <string.h>

const struct as_sampler *const as_samplers[AS_SAMPLER_COUNT] = {
    &as_sampler_software, &as_sampler_dispatch, &as_sampler_lci,     &as_sampler_nci,
    &as_sampler_nci_ilp,  &as_sampler_tip_ilp,  &as_sampler_tip,     &as_sampler_ris,
    &as_sampler_ibs,      &as_sampler_spe,      &as_sampler_nci_tea, &as_sampler_tea,
};

const struct as_sampler *as_sampler_find(const char *name)
{
    for (int i = 0; i < AS_SAMPLER_COUNT; i++)
        if (strcmp(as_samplers[i]->name, name) == 0)
            return as_samplers[i];
    return NULL;
}

void as_samplers_name(struct as_str *list)
{
    for (int i = 0; i < AS_SAMPLER_COUNT; i++)
        as_str_add_word(list, true, as_samplers[i]->name);
}

void as_samplers_name_events(struct as_str *list)
{
    for (int i = 0; i < AS_SAMPLER_COUNT; i++)
        as_str_add_word(list, as_samplers[i]->events, as_samplers[i]->name);
}
