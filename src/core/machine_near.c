/* Which machine is nearest to a processor. Machine files name the processors that they stand for in their key `cpuid`. */
#include "base/split.h"
#include "core/machine.h"

#include <stdio.h>
#include <string.h>

/* "25", "25:17", "25:16-31" */
static int fits_family(const char *word, unsigned family, unsigned model)
{
    unsigned its, first, last;
    int n = sscanf(word, "%u:%u-%u", &its, &first, &last);
    if (n < 1 || its != family)
        return 0;
    if (n == 1)
        return 3;
    return model >= first && model <= (n == 3 ? last : first) ? 4 : 0;
}

static bool is_vendor(const char *word)
{
    return strchr("0123456789*", word[0]) == NULL;
}

int as_machine_fits(const char *cpuid, const struct as_machine_processor *processor)
{
    size_t n;
    char **words = as_split(cpuid, " ", &n);
    bool mine = true; /* a star before all vendors is for any processor */
    bool any = true;
    int best = 0;
    for (size_t i = 0; i < n; i++) {
        int fits = 0;
        if (is_vendor(words[i])) {
            mine = strcmp(words[i], processor->vendor) == 0;
            any = false;
        } else if (strcmp(words[i], "*") == 0)
            fits = any ? 1 : mine ? 2 : 0;
        else if (mine && !any)
            fits = fits_family(words[i], processor->family, processor->model);
        best = fits > best ? fits : best;
    }
    as_split_free(words);
    return best;
}

struct search {
    const struct as_machine_processor *processor;
    int best;
    char *name;
};

static void consider(void *context, const char *name)
{
    struct search *search = context;
    struct as_error err = AS_ERROR_INIT;
    struct as_machine machine;
    if (!as_machine_load(name, &machine, &err))
        return; /* a file that is broken is reported when it is asked for */
    int fits = as_machine_fits(machine.cpuid, search->processor);
    if (fits > search->best) {
        search->best = fits;
        snprintf(search->name, AS_MACHINE_NAME, "%s", name);
    }
}

int as_machine_nearest(const struct as_machine_processor *processor, char name[AS_MACHINE_NAME])
{
    struct search search = {.processor = processor, .name = name};
    name[0] = '\0';
    as_machine_list(consider, &search);
    return search.best;
}
