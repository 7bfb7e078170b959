/* The sources that there are, the best first. See record.h. */
#include "cmd/record.h"

#include <string.h>

static const struct as_record_source *const sources[] = {&as_record_model, NULL};

/* Named by the command line already, not there yet. */
static const char *const planned[] = {"pmu", "timer", NULL};

static const struct as_record_source *choose_any(const struct as_record_options *options, const char **why,
                                                 struct as_error *err)
{
    for (size_t i = 0; sources[i]; i++)
        if (sources[i]->possible(options, err)) {
            *why = i == 0 ? "auto: the best source that there is" : "auto: those before it cannot work here";
            return sources[i];
        }
    return NULL;
}

const struct as_record_source *as_record_choose(const struct as_record_options *options, const char **why,
                                                struct as_error *err)
{
    const char *name = options->source;
    if (strcmp(name, "auto") == 0)
        return choose_any(options, why, err);
    *why = "asked for";
    for (size_t i = 0; sources[i]; i++)
        if (strcmp(sources[i]->name, name) == 0)
            return sources[i]->possible(options, err) ? sources[i] : NULL;
    for (size_t i = 0; planned[i]; i++)
        if (strcmp(planned[i], name) == 0) {
            as_error_set_status(err, AS_EXIT_USAGE, "--source=%s: this version has no such source yet; there is model",
                                name);
            return NULL;
        }
    as_error_set_status(err, AS_EXIT_USAGE, "--source=%s: unknown; there are auto and model", name);
    return NULL;
}
