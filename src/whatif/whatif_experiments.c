/* Which experiments there are: those that were asked for, and those that the cycle stacks of the program as it is promise most of.
 * See whatif_experiments.h. */
#include "whatif/whatif_experiments.h"

#include "agent/agent_host.h"
#include "base/similar.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SUGGEST_WITHIN = 3 };

static struct as_cause *new_cause(struct as_whatif *whatif)
{
    return *as_vec_push(&whatif->causes) = as_alloc(sizeof(struct as_cause));
}

static void add_experiment(struct as_whatif *whatif, struct as_cause *const *causes, size_t n)
{
    const struct as_cause **copy = as_alloc_array(n, sizeof *copy);
    memcpy(copy, causes, n * sizeof *copy);
    *as_vec_push(&whatif->experiments) = (struct as_experiment){.causes = copy, .n = n};
}

static struct as_cause *add_separation(struct as_whatif *whatif, const char *name)
{
    struct as_cause *cause = new_cause(whatif);
    *cause =
        (struct as_cause){.text = as_format("parts of %s on lines of their own", name), .separate = as_strdup(name)};
    return cause;
}

static bool add_heap(struct as_whatif *whatif, const char *text, struct as_error *err)
{
    struct as_cause *cause = new_cause(whatif);
    if (!as_heap_parse(text, &cause->heap, err))
        return false;
    cause->separate = as_strdup(text);
    cause->text = cause->heap.part ? as_format("parts of %" PRIu64 " bytes of what %s allocates on lines of their own",
                                               cause->heap.part, cause->heap.function)
                                   : as_format("blocks that %s allocates on lines of their own", cause->heap.function);
    as_heap_add_rule(&whatif->heap, &cause->heap);
    return whatif->environment || (whatif->environment = as_agent_model_environment(err));
}

/* Reads the causes before anything runs. */
bool as_whatif_prepare(struct as_whatif *whatif, struct as_error *err)
{
    const struct as_whatif_request *request = whatif->request;
    for (size_t i = 0; i < request->ideal.len; i++)
        if (!as_cause_parse(request->ideal.data[i], new_cause(whatif), err))
            return false;
    for (size_t i = 0; i < request->remove.len; i++) {
        struct as_cause *cause = new_cause(whatif);
        *cause = (struct as_cause){.text = as_strdup(request->remove.data[i]), .events = AS_IDEAL_REMOVED};
        if (!as_place_parse(request->remove.data[i], &cause->place, err))
            return false;
    }
    for (size_t i = 0; i < request->change.len; i++)
        *new_cause(whatif) =
            (struct as_cause){.text = as_strdup(request->change.data[i]), .set = request->change.data[i]};
    for (size_t i = 0; i < request->separate.len; i++)
        if (!as_heap_is_rule(request->separate.data[i]))
            add_separation(whatif, request->separate.data[i]);
        else if (!add_heap(whatif, request->separate.data[i], err))
            return false;
    for (size_t i = 0; i < whatif->causes.len; i++)
        add_experiment(whatif, &whatif->causes.data[i], 1);
    if (request->together && whatif->causes.len > 1)
        add_experiment(whatif, whatif->causes.data, whatif->causes.len);
    for (size_t i = 0; i < whatif->experiments.len; i++)
        if (!as_whatif_check_machine(whatif, &whatif->experiments.data[i], err))
            return false;
    return true;
}

struct candidate {
    uint32_t id, event;
    uint64_t units;
};

static int by_units(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    if (x->units != y->units)
        return x->units < y->units ? 1 : -1;
    return x->id != y->id ? (x->id > y->id) - (x->id < y->id) : (x->event > y->event) - (x->event < y->event);
}

/* Time by instruction and event. Dependent events count as their roots: without the L1 miss there is no LLC miss. The
 * caller frees. */
static struct candidate *candidates_of(const struct as_pics *golden, size_t *n)
{
    struct candidate *all = as_alloc_array(golden->len * AS_EVENT_COUNT + 1, sizeof *all);
    *n = 0;
    for (size_t i = 0; i < golden->len;) {
        uint32_t id = golden->data[i].id;
        uint64_t units[AS_EVENT_COUNT] = {0};
        for (; i < golden->len && golden->data[i].id == id; i++)
            for (size_t e = 0; e < AS_EVENT_COUNT; e++)
                if (as_events[e].roots == 0 && as_events[e].bit & AS_CORE_IDEAL & golden->data[i].events)
                    units[e] += golden->data[i].units;
        for (size_t e = 0; e < AS_EVENT_COUNT; e++)
            if (units[e])
                all[(*n)++] = (struct candidate){.id = id, .event = as_events[e].bit, .units = units[e]};
    }
    qsort(all, *n, sizeof *all, by_units);
    return all;
}

static void add_candidate(struct as_whatif *whatif, const struct candidate *candidate)
{
    const struct as_model *model = whatif->as_is.model;
    const struct as_insn *insn = as_engine_insn(as_model_engine(model), candidate->id);
    struct as_cause *cause = new_cause(whatif);
    struct as_location location = {0};
    char event[AS_EVENTS_NAME_MAX], where[32];
    as_model_locate(model, candidate->id, &location);
    as_events_name(candidate->event, event, sizeof event);
    /* By the address in its file, which is the same in every run, wherever the file is loaded. */
    *cause = (struct as_cause){
        .events = candidate->event,
        .place = {.module = as_strdup(location.module), .address = location.module_offset, .has_address = true}};
    snprintf(where, sizeof where, "+0x%" PRIx64,
             location.function ? insn->address - location.function_start : location.module_offset);
    const char *name = location.function ? location.function : location.module_name;
    cause->text = as_alloc(strlen(event) + strlen(name) + strlen(where) + 2);
    sprintf(cause->text, "%s@%s%s", event, name, where);
    cause->place.text = as_strdup(strchr(cause->text, '@') + 1);
    add_experiment(whatif, &cause, 1);
}

void as_whatif_add_ranked(struct as_whatif *whatif, uint64_t most)
{
    size_t n;
    struct candidate *candidates = candidates_of(&whatif->golden, &n);
    for (size_t i = 0; i < n && i < most; i++)
        add_candidate(whatif, &candidates[i]);
    free(candidates);
}

/* ---- what the cycle stacks promise ---- */

static const char *near_name(const struct as_whatif *whatif, const char *name)
{
    const char *best = NULL;
    size_t distance = SUGGEST_WITHIN + 1;
    for (size_t i = 0; i < whatif->golden.len; i++) {
        struct as_location location = {0};
        as_model_locate(whatif->as_is.model, whatif->golden.data[i].id, &location);
        size_t d = location.function ? as_word_distance(name, location.function) : SIZE_MAX;
        if (d < distance) {
            distance = d;
            best = location.function;
        }
    }
    return best;
}

static bool complain_place(const struct as_whatif *whatif, const struct as_place *place, struct as_error *err)
{
    const char *near = place->function ? near_name(whatif, place->function) : NULL;
    if (near && strcmp(near, place->function) != 0)
        return as_error_set_status(err, AS_EXIT_USAGE, "no instruction at '%s' ran; did you mean '%s'?", place->text,
                                   near);
    return as_error_set_status(err, AS_EXIT_USAGE,
                               "no instruction at '%s' ran; 'assay stat --functions=100' lists functions that did",
                               place->text);
}

static bool has_place(const struct as_whatif *whatif, const struct as_place *place)
{
    uint32_t last = UINT32_MAX;
    for (size_t i = 0; i < whatif->golden.len; i++) {
        uint32_t id = whatif->golden.data[i].id;
        struct as_location location = {0};
        if (id == last)
            continue;
        last = id;
        as_model_locate(whatif->as_is.model, id, &location);
        if (as_place_holds(place, as_engine_insn(as_model_engine(whatif->as_is.model), id), &location))
            return true;
    }
    return false;
}

bool as_whatif_check_places(const struct as_whatif *whatif, struct as_error *err)
{
    for (size_t i = 0; i < whatif->causes.len; i++)
        if (whatif->causes.data[i]->place.text && !has_place(whatif, &whatif->causes.data[i]->place))
            return complain_place(whatif, &whatif->causes.data[i]->place, err);
    return true;
}

void as_experiment_weigh(const struct as_whatif *whatif, struct as_experiment *experiment)
{
    const struct as_model *model = whatif->as_is.model;
    uint64_t units = 0;
    uint32_t last = UINT32_MAX, mask = 0, n_insns = 0;
    bool machine = false;
    for (size_t i = 0; i < experiment->n; i++)
        machine |= experiment->causes[i]->set || experiment->causes[i]->separate;
    for (size_t i = 0; i < whatif->golden.len; i++) {
        const struct as_pics_entry *entry = &whatif->golden.data[i];
        const struct as_insn *insn = as_engine_insn(as_model_engine(model), entry->id);
        if (entry->id != last)
            mask = as_experiment_mask(experiment, model, insn);
        if (as_insn_is_control(insn))
            mask &= ~(uint32_t)AS_IDEAL_REMOVED; /* it is not removed */
        if (entry->id != last && mask) {
            experiment->insn = entry->id;
            n_insns++;
        }
        last = entry->id;
        if (entry->events & mask || mask & AS_IDEAL_REMOVED) {
            units += entry->units;
            experiment->met += entry->count;
        }
    }
    experiment->about_one = n_insns == 1;
    experiment->promised = machine ? NAN : (double)units / (double)AS_CYCLE_UNITS;
    experiment->skipped = !machine && experiment->met == 0;
}

/* Where the variables are that shall lie apart: addresses in QEMU are the same in every run. */
bool as_whatif_find_variables(struct as_whatif *whatif, struct as_error *err)
{
    for (uint32_t i = 0; i < whatif->causes.len; i++) {
        struct as_cause *cause = whatif->causes.data[i];
        if (cause->separate && !cause->heap.function &&
            !as_apart_find(&whatif->moved, whatif->as_is.model, cause->separate, i, &cause->apart))
            return as_error_set_status(err, AS_EXIT_USAGE,
                                       "no line of a variable '%s' went from core to core; 'assay record' and 'assay "
                                       "report --waits' show which did",
                                       cause->separate);
    }
    for (size_t i = 0; i < whatif->heap.rules.len; i++)
        if (!whatif->heap.found.data[i])
            return as_error_set_status(err, AS_EXIT_USAGE,
                                       "no block that '%s' allocates is known; Assay's agent sees the calls of malloc "
                                       "and its kin of programs that are linked dynamically",
                                       whatif->heap.rules.data[i]->function);
    return true;
}

/* Next to instructions and events: the variable whose parts share lines, where accesses waited for at least a hundredth of the
 * time for that. */
void as_whatif_add_worst(struct as_whatif *whatif)
{
    char *name = as_apart_worst(&whatif->moved, whatif->as_is.model, whatif->as_is.result.cycles / 100);
    if (!name)
        return;
    struct as_cause *cause = add_separation(whatif, name);
    add_experiment(whatif, &cause, 1);
    free(name);
}
