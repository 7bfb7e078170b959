/* See pmu_request.h. */
#include "pmu/pmu_request.h"

#include <stdlib.h>
#include <string.h>

const char *const as_pmu_handler_names[] = {
    [AS_HANDLER_NONE] = "none", [AS_HANDLER_SIGNAL] = "signal", [AS_HANDLER_IOCTL] = "ioctl", NULL};

enum { WORD = 96 };

/* ---- one event ---- */

static bool unknown_event(const struct as_pmu *pmu, const char *name, struct as_error *err)
{
    struct as_str names = {0};
    as_pmu_events_name(pmu->kind, &names);
    as_error_set_status(err, AS_EXIT_USAGE, "%s has no event '%.60s'; it has %s", pmu->name, name, as_str_get(&names));
    as_str_free(&names);
    return false;
}

static bool add_modifier(const struct as_pmu *pmu, struct as_pmu_counter *counter, char letter, unsigned *precise)
{
    bool spe = pmu->kind == AS_PMU_SPE;
    counter->user = counter->user || letter == 'u';
    counter->kernel = counter->kernel || letter == 'k';
    *precise += letter == 'p';
    if (spe && letter == 'l')
        counter->filter |= AS_INSN_LOAD;
    if (spe && letter == 's')
        counter->filter |= AS_INSN_STORE;
    if (spe && letter == 'b')
        counter->filter |= AS_PMU_BRANCHES;
    return strchr(spe ? "ukplsb" : "ukp", letter) != NULL;
}

static bool parse_modifiers(const struct as_pmu *pmu, const char *word, const char *modifiers,
                            struct as_pmu_counter *counter, struct as_error *err)
{
    unsigned precise = 0;
    for (; *modifiers; modifiers++)
        if (!add_modifier(pmu, counter, *modifiers, &precise))
            return as_error_set_status(err, AS_EXIT_USAGE,
                                       "%s: unknown modifier '%c'; there are u, k, p and, for SPE, "
                                       "l, s and b",
                                       word, *modifiers);
    if (precise > 3)
        return as_error_set_status(err, AS_EXIT_USAGE, "%s: at most three p modifiers (ppp)", word);
    counter->precise_dist = precise == 3;
    if (!counter->user && !counter->kernel)
        counter->user = counter->kernel = true;
    return true;
}

static bool parse_threshold(const char *word, const char *text, struct as_pmu_counter *counter, struct as_error *err)
{
    char *end;
    unsigned long value = strtoul(text, &end, 10);
    if (!counter->event->latency && !(counter->event->kinds >> AS_PMU_SPE & 1))
        return as_error_set_status(err, AS_EXIT_USAGE, "%s: only load-latency and SPE's operations have a threshold",
                                   word);
    if (end == text || *end || value < 1 || value > 65535)
        return as_error_set_status(err, AS_EXIT_USAGE, "%s: a threshold is a whole number of cycles from 1 to 65535",
                                   word);
    counter->threshold = (uint32_t)value;
    return true;
}

bool as_pmu_request_add(struct as_pmu_request *request, const char *event, uint64_t period, struct as_error *err)
{
    struct as_pmu_counter counter = {.period = period};
    char word[WORD], *modifiers, *threshold;
    if (request->n == AS_PMU_COUNTERS_MAX)
        return as_error_set_status(err, AS_EXIT_USAGE, "more than %d events", AS_PMU_COUNTERS_MAX);
    snprintf(word, sizeof word, "%s", event);
    if ((modifiers = strchr(word, ':')))
        *modifiers++ = '\0';
    if ((threshold = strchr(word, '=')))
        *threshold++ = '\0';
    counter.event = as_pmu_event_find(word);
    if (!counter.event || !(counter.event->kinds >> request->pmu->kind & 1))
        return unknown_event(request->pmu, word, err);
    counter.threshold = counter.event->latency ? 3 : 0;
    if (!parse_modifiers(request->pmu, event, modifiers ? modifiers : "", &counter, err) ||
        (threshold && !parse_threshold(event, threshold, &counter, err)))
        return false;
    request->counters[request->n++] = counter;
    return true;
}

const char *as_pmu_default_event(const struct as_pmu *pmu)
{
    static const char *const events[AS_PMU_KINDS] = {[AS_PMU_PEBS] = "instructions",
                                                     [AS_PMU_IBS] = "ops",
                                                     [AS_PMU_SPE] = "operations",
                                                     [AS_PMU_TIP] = "cycles",
                                                     [AS_PMU_TEA] = "cycles"};
    if (pmu->kind == AS_PMU_PEBS && pmu->pdir)
        return "instructions:ppp";
    return pmu->kind == AS_PMU_IBS && !pmu->counts_ops ? "cycles" : events[pmu->kind];
}

/* ---- all of them ---- */

static bool check_counter(const struct as_pmu_request *request, const struct as_pmu_counter *counter,
                          struct as_error *err)
{
    const struct as_pmu *pmu = request->pmu;
    const char *name = counter->event->name;
    if (counter->precise_dist && (!pmu->pdir || counter->event->fixed != 1))
        return as_error_set_status(err, AS_EXIT_USAGE, "%s:ppp: %s", name,
                                   pmu->pdir ? "only instructions have a precise distribution"
                                             : "this unit has no precise distribution (pdir = no)");
    if (counter->event->latency && !pmu->latency)
        return as_error_set_status(err, AS_EXIT_USAGE, "%s: %s cannot sample by latency (latency = no)", name,
                                   pmu->name);
    if (counter->event->fixed == 3 && pmu->fixed < 3)
        return as_error_set_status(err, AS_EXIT_USAGE, "%s: only a third fixed counter counts them, and %s has %u",
                                   name, pmu->name, pmu->fixed);
    if (pmu->kind == AS_PMU_IBS && counter->event->counts == AS_COUNTS_OPS && !pmu->counts_ops)
        return as_error_set_status(err, AS_EXIT_USAGE, "%s counts cycles only (counts_ops = no); --event=cycles",
                                   pmu->name);
    if (pmu->kind == AS_PMU_IBS && !(counter->user && counter->kernel))
        return as_error_set_status(err, AS_EXIT_USAGE, "%s: IBS cannot count one mode only", name);
    if (counter->period == 0)
        return as_error_set_status(err, AS_EXIT_USAGE, "%s: a period is at least 1", name);
    if (pmu->kind == AS_PMU_SPE && counter->period < pmu->least_interval)
        return as_error_set_status(err, AS_EXIT_USAGE, "%s takes intervals of %u operations and more", pmu->name,
                                   pmu->least_interval);
    return true;
}

bool as_pmu_request_check(const struct as_pmu_request *request, struct as_error *err)
{
    const struct as_pmu *pmu = request->pmu;
    size_t fetches = 0;
    for (size_t i = 0; i < request->n; i++) {
        if (!check_counter(request, &request->counters[i], err))
            return false;
        fetches += request->counters[i].event->counts == AS_COUNTS_FETCHES;
    }
    if (pmu->kind == AS_PMU_IBS && (fetches > 1 || request->n - fetches > 1))
        return as_error_set_status(err, AS_EXIT_USAGE, "%s has one counter for operations and one for fetches",
                                   pmu->name);
    if (pmu->kind > AS_PMU_IBS && request->n > 1)
        return as_error_set_status(err, AS_EXIT_USAGE, "%s has one counter", pmu->name);
    if (request->branches && !pmu->lbr)
        return as_error_set_status(err, AS_EXIT_USAGE, "%s has no branch record (lbr = 0)", pmu->name);
    if (request->call_stack && !pmu->lbr_call_stack)
        return as_error_set_status(err, AS_EXIT_USAGE, "the branch record of %s keeps no call stack", pmu->name);
    return true;
}

const char *as_pmu_counter_name(const struct as_pmu_request *request, size_t i, char *text, size_t size)
{
    const struct as_pmu_counter *counter = &request->counters[i];
    bool one = counter->user != counter->kernel;
    switch (request->pmu->kind) {
    case AS_PMU_PEBS:
        snprintf(text, size, "%s:%s%s", counter->event->name, counter->precise_dist ? "ppp" : "pp",
                 !one            ? ""
                 : counter->user ? "u"
                                 : "k");
        break;
    case AS_PMU_IBS:
        snprintf(text, size, "%s",
                 counter->event->counts == AS_COUNTS_FETCHES  ? "ibs_fetch//"
                 : counter->event->counts == AS_COUNTS_CYCLES ? "ibs_op//"
                                                              : "ibs_op/cnt_ctl=1/");
        break;
    case AS_PMU_SPE:
        snprintf(text, size, "arm_spe_0//%s", !one ? "" : counter->user ? "u" : "k");
        break;
    default:
        snprintf(text, size, "%s/cycles/", as_pmu_kind_names[request->pmu->kind]);
    }
    return text;
}
