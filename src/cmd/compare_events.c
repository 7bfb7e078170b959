/* See compare_events.h. */
#include "cmd/compare_events.h"

#include "base/ratio.h"
#include "base/show.h"
#include "base/vec.h"

#include <inttypes.h>
#include <math.h>

enum { LONG_STALLS = 5, SHOWN_COMPONENTS = 10 };

static double cycles_of(uint64_t units)
{
    return (double)units / (double)AS_CYCLE_UNITS;
}

/* ---- stalls without an event ---- */

struct long_stall {
    uint32_t id;
    uint64_t cycles;
};

static int compare_stalls(const void *a, const void *b)
{
    const struct long_stall *x = a, *y = b;
    if (x->cycles != y->cycles)
        return x->cycles < y->cycles ? 1 : -1;
    return (x->id > y->id) - (x->id < y->id);
}

/* The instructions with the most time in long stalls without an event. The caller frees. */
static struct long_stall *long_stalls(const struct as_compare *compare, size_t *n)
{
    const struct as_map *by_insn = &as_oracle_unexplained(compare->oracle)->long_by_insn;
    struct long_stall *stalls = as_alloc_array(by_insn->len + 1, sizeof *stalls);
    *n = 0;
    for (size_t i = 0; i < by_insn->cap; i++)
        if (by_insn->slots[i].used)
            stalls[(*n)++] = (struct long_stall){(uint32_t)by_insn->slots[i].key, by_insn->slots[i].value};
    qsort(stalls, *n, sizeof *stalls, compare_stalls);
    *n = *n < LONG_STALLS ? *n : LONG_STALLS;
    return stalls;
}

/* ---- JSON ---- */

void as_compare_event_names_json(struct as_json *json, const char *name, uint32_t events)
{
    as_json_array(json, name);
    for (int i = 0; i < AS_EVENT_COUNT; i++)
        if (events & as_events[i].bit)
            as_json_string(json, NULL, as_events[i].name);
    as_json_end(json);
}

void as_compare_components_json(struct as_json *json, const char *name, const struct as_pics_entry *entries, size_t n)
{
    char text[AS_EVENTS_NAME_MAX];
    as_json_object(json, name);
    for (size_t i = 0; i < n; i++)
        if (entries[i].units)
            as_json_double(json, as_events_name(entries[i].events, text, sizeof text), cycles_of(entries[i].units));
    as_json_end(json);
}

static void json_each_event(struct as_json *json, const struct as_compare *compare, const struct as_pics *pics)
{
    as_json_object(json, "by_event");
    for (int i = 0; i < AS_EVENT_COUNT; i++) {
        if (!(compare->events & as_events[i].bit))
            continue;
        struct as_event_sum sum = as_pics_event(pics, as_events[i].bit);
        as_json_object(json, as_events[i].name);
        as_json_string(json, "description", as_events[i].description);
        as_json_string(json, "explains", as_explains_name(as_events[i].explains));
        as_json_u64(json, "count", sum.count);
        as_json_double(json, "cycles", cycles_of(sum.units));
        as_json_double(json, "share", as_ratio(sum.units, compare->truth.total));
        as_json_u64(json, "instructions", sum.instructions);
        as_json_double(json, "correlation", sum.correlation);
        as_json_end(json);
    }
    as_json_end(json);
    as_json_object(json, "correlation");
    for (int i = 0; i < AS_EVENT_COUNT; i++)
        if (compare->events & as_events[i].bit)
            as_json_double(json, as_events[i].name, as_pics_event(pics, as_events[i].bit).correlation);
    as_json_end(json);
}

static void json_combined(struct as_json *json, const struct as_compare *compare, const struct as_pics *pics)
{
    struct as_combined_sum sum = as_pics_combined(pics);
    as_json_object(json, "combined");
    as_json_u64(json, "met", sum.met);
    as_json_double(json, "executions", as_ratio(sum.combined, sum.met));
    as_json_double(json, "cycles", as_ratio(sum.combined_units, compare->truth.total));
    as_json_double(json, "independent_executions", as_ratio(sum.independent, sum.met));
    as_json_double(json, "independent_cycles", as_ratio(sum.independent_units, compare->truth.total));
    as_json_end(json);
}

static void json_unexplained(struct as_json *json, const struct as_compare *compare)
{
    const struct as_stall_lengths *stalls = as_oracle_unexplained(compare->oracle);
    size_t n;
    struct long_stall *longest = long_stalls(compare, &n);
    as_json_object(json, "unexplained_stalls");
    as_json_u64(json, "count", stalls->n);
    as_json_u64(json, "cycles", stalls->cycles);
    as_json_u64(json, "p50", as_stall_quantile(stalls, 0.5));
    as_json_u64(json, "p99", as_stall_quantile(stalls, 0.99));
    as_json_u64(json, "longest", stalls->longest);
    as_json_array(json, "long");
    for (size_t i = 0; i < n; i++) {
        const struct as_insn *insn = as_engine_insn(as_model_engine(compare->model), longest[i].id);
        struct as_location location = {0};
        char text[160];
        as_model_locate(compare->model, longest[i].id, &location);
        as_json_object(json, NULL);
        as_json_string(json, "module", location.module);
        as_json_string(json, "function", location.function);
        as_json_address(json, "address", insn->address);
        as_json_string(json, "text", as_insn_text(insn, text, sizeof text));
        as_json_u64(json, "cycles", longest[i].cycles);
        as_json_end(json);
    }
    as_json_end(json);
    as_json_end(json);
    free(longest);
}

void as_compare_events_json(const struct as_compare *compare, struct as_json *json)
{
    struct as_pics shown = as_pics_fold(&compare->golden, compare->events, NULL);
    struct as_pics program = as_pics_fold(&shown, compare->events, &as_grouping_program);
    as_json_object(json, "events");
    as_compare_event_names_json(json, "set", compare->events);
    as_compare_components_json(json, "components", program.data, program.len);
    json_each_event(json, compare, &shown);
    json_combined(json, compare, &shown);
    json_unexplained(json, compare);
    as_json_end(json);
    as_pics_free(&shown);
    as_pics_free(&program);
}

/* ---- text ---- */

static void text_each_event(FILE *out, const struct as_compare *compare, const struct as_pics *pics)
{
    fprintf(out, "\nEvents, and the time of the instructions that met them (alone or with others):\n");
    fprintf(out, "  %-11s %12s %9s %12s  %s\n", "event", "met", "time", "correlation", "");
    for (int i = 0; i < AS_EVENT_COUNT; i++) {
        if (!(compare->events & as_events[i].bit))
            continue;
        struct as_event_sum sum = as_pics_event(pics, as_events[i].bit);
        fprintf(out, "  %-11s %12s %7.2f %% ", as_events[i].name, AS_COUNT(sum.count),
                100 * as_ratio(sum.units, compare->truth.total));
        if (isnan(sum.correlation))
            fprintf(out, "%11s", "-");
        else
            fprintf(out, "%11.2f", sum.correlation);
        fprintf(out, "   %s\n", as_events[i].description);
    }
}

static int compare_units(const void *a, const void *b)
{
    const struct as_pics_entry *x = a, *y = b;
    if (x->units != y->units)
        return x->units < y->units ? 1 : -1;
    return (x->events > y->events) - (x->events < y->events);
}

static void text_components(FILE *out, const struct as_compare *compare, struct as_pics *program)
{
    char text[AS_EVENTS_NAME_MAX];
    uint64_t rest = 0;
    qsort(program->data, program->len, sizeof *program->data, compare_units);
    fprintf(out, "\nThe program's cycle stack:\n");
    for (size_t i = 0; i < program->len; i++) {
        const struct as_pics_entry *entry = &program->data[i];
        if (i >= SHOWN_COMPONENTS)
            rest += entry->units;
        else if (entry->units)
            fprintf(out, "  %6.2f %%  %s\n", 100 * as_ratio(entry->units, compare->truth.total),
                    as_events_name(entry->events, text, sizeof text));
    }
    if (rest)
        fprintf(out, "  %6.2f %%  %zu more\n", 100 * as_ratio(rest, compare->truth.total),
                program->len - SHOWN_COMPONENTS);
}

void as_compare_events_text(const struct as_compare *compare, FILE *out)
{
    if (compare->events == 0 || compare->truth.total == 0)
        return;
    struct as_pics shown = as_pics_fold(&compare->golden, compare->events, NULL);
    struct as_pics program = as_pics_fold(&shown, compare->events, &as_grouping_program);
    const struct as_stall_lengths *stalls = as_oracle_unexplained(compare->oracle);
    struct as_combined_sum sum = as_pics_combined(&shown);
    text_each_event(out, compare, &shown);
    text_components(out, compare, &program);
    fprintf(out,
            "\nOf the instructions that met an event, %.1f %% met several; they account for %.1f %% of all cycles.\n"
            "99 %% of the stalls that no event explains are at most %" PRIu64 " cycles long; the longest is %" PRIu64
            ".\n",
            100 * as_ratio(sum.combined, sum.met), 100 * as_ratio(sum.combined_units, compare->truth.total),
            as_stall_quantile(stalls, 0.99), stalls->longest);
    as_pics_free(&shown);
    as_pics_free(&program);
}
