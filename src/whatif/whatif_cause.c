/* Causes and their effects. See whatif.h. */
#include "whatif/whatif.h"

#include "base/split.h"

#include <math.h>
#include <string.h>

static bool read_event(const char *name, uint32_t *events, struct as_error *err)
{
    const struct as_event_info *event = as_event_find(name);
    if (event && event->bit & AS_CORE_IDEAL) {
        *events |= event->bit;
        return true;
    }
    struct as_str known = {0};
    as_events_list(AS_CORE_IDEAL, &known);
    if (event && event->bit == AS_EVENT_COHERENCE)
        as_error_set_status(err, AS_EXIT_USAGE,
                            "%s (%s) is not a cost of the core that could be removed; --separate VARIABLE tries what "
                            "the parts of a variable on lines of their own would bring ('assay comm' names variables)",
                            event->name, event->description);
    else if (event)
        as_error_set_status(err, AS_EXIT_USAGE, "%s (%s) is not a cost that could be removed; the events are %s",
                            event->name, event->description, as_str_get(&known));
    else
        as_error_set_status(err, AS_EXIT_USAGE, "no event '%s'; the events are %s", name, as_str_get(&known));
    as_str_free(&known);
    return false;
}

bool as_cause_parse(const char *text, struct as_cause *cause, struct as_error *err)
{
    *cause = (struct as_cause){.text = as_strdup(text)};
    const char *at = strchr(text, '@');
    char *names = as_strndup(text, at ? (size_t)(at - text) : strlen(text)), **words = as_split(names, "+,", NULL);
    bool ok = true;
    for (char **name = words; *name && ok; name++)
        ok = read_event(*name, &cause->events, err);
    if (ok && !cause->events)
        ok = as_error_set_status(err, AS_EXIT_USAGE, "'%s' does not name an event: give EVENT or EVENT@PLACE", text);
    ok = ok && (!at || as_place_parse(at + 1, &cause->place, err));
    free(names);
    as_split_free(words);
    if (!ok)
        as_cause_free(cause);
    return ok;
}

void as_cause_free(struct as_cause *cause)
{
    free(cause->text);
    free(cause->separate);
    free(cause->heap.function);
    as_place_free(&cause->place);
    *cause = (struct as_cause){0};
}

uint32_t as_experiment_mask(const struct as_experiment *experiment, const struct as_model *model,
                            const struct as_insn *insn)
{
    uint32_t events = 0;
    struct as_location location = {0};
    for (size_t i = 0; i < experiment->n; i++) {
        const struct as_cause *cause = experiment->causes[i];
        if (cause->place.text && !location.module)
            as_model_locate(model, insn->id, &location);
        if (!cause->place.text || as_place_holds(&cause->place, insn, &location))
            events |= cause->events;
    }
    return events;
}

double as_experiment_promise(const struct as_whatif *whatif, const struct as_experiment *experiment)
{
    double cycles = (double)whatif->as_is.result.cycles;
    return experiment->promised < cycles ? cycles / (cycles - experiment->promised) : NAN;
}

double as_experiment_speedup(const struct as_whatif *whatif, const struct as_experiment *experiment)
{
    if (experiment->skipped)
        return 1;
    return (double)whatif->as_is.result.elapsed / (double)experiment->result.elapsed;
}
