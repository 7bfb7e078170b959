/* Facts of samples, and descriptions of events that record more than the kernel's fields. See import_facts.h. */
#include "import/import_facts.h"

#include "base/alloc.h"
#include "base/show.h"
#include "base/str.h"
#include "perfdata/mem_source.h"

#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

const struct as_import_kind_text as_import_kind_texts[AS_IMPORT_KINDS] = {
    [AS_KIND_WEIGHT] = {"weight", "the weights of the samples: on most processors the latency of the access, in cycles",
                        "cycles", true},
    [AS_KIND_WEIGHT_2] = {"weight 2",
                          "the second weight of the samples: on Intel's processors cycles of the instruction", "cycles",
                          false},
    [AS_KIND_WEIGHT_3] = {"weight 3", "the third weight of the samples: on Intel's processors cycles until it retired",
                          "cycles", false},
    [AS_KIND_TAG_TO_RETIRE] = {"tag to retire", "cycles from tagging the operation until it retired", "cycles", false},
    [AS_KIND_COMPLETION_TO_RETIRE] = {"completion to retire",
                                      "cycles between completion and retirement of the operation", "cycles", false},
    [AS_KIND_MISS_LATENCY] = {"miss latency", "cycles until a load that missed the first-level data cache got its data",
                              "cycles", true},
    [AS_KIND_TLB_LATENCY] = {"TLB refill latency", "cycles until a missing translation was in the first-level TLB",
                             "cycles", false},
    [AS_KIND_OPEN_REQUESTS] = {"open requests", "misses outstanding when a load's line arrived", "requests", false},
    [AS_KIND_FETCH_LATENCY] = {"fetch latency", "cycles until the fetch was complete or abandoned", "cycles", false},
    [AS_KIND_TOTAL_LATENCY] = {"total latency", "cycles from the operation's dispatch to its completion", "cycles",
                               true},
    [AS_KIND_ISSUE_LATENCY] = {"issue latency", "cycles from the operation's dispatch to its issue", "cycles", false},
    [AS_KIND_TRANSLATION_LATENCY] = {"translation latency", "cycles spent on translating the address", "cycles", false},
};

void as_import_add_value(struct as_import_facts *facts, enum as_import_kind kind, uint64_t value)
{
    /* No latency is longer, and sums of them stay below what a profile stores. */
    static const uint64_t most = UINT64_C(1) << 40;
    value = value < most ? value : most;
    if (facts->n_values < AS_IMPORT_VALUES)
        facts->values[facts->n_values++] = (struct as_import_value){kind, value};
    if (as_import_kind_texts[kind].of_access)
        facts->weight = value;
}

static uint8_t kind_of(const struct as_perf_sample *sample)
{
    if (!(sample->has & PERF_SAMPLE_DATA_SRC))
        return 0;
    struct as_mem_source source = as_mem_source_decode(sample->data_src);
    return (uint8_t)((source.load ? AS_STORE_LOAD : 0) | (source.store ? AS_STORE_STORE : 0));
}

void as_import_facts_of(const struct as_perf_sample *sample, struct as_import_tagging *tagging,
                        struct as_import_raw *raw, struct as_import_facts *facts)
{
    *facts = (struct as_import_facts){.events = as_import_source(sample),
                                      .tells_address = sample->has & PERF_SAMPLE_ADDR,
                                      .address = sample->addr,
                                      .kind = kind_of(sample)};
    if (sample->has & (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT))
        as_import_add_value(facts, AS_KIND_WEIGHT, sample->weight);
    if (sample->weight2)
        as_import_add_value(facts, AS_KIND_WEIGHT_2, sample->weight2);
    if (sample->weight3)
        as_import_add_value(facts, AS_KIND_WEIGHT_3, sample->weight3);
    if (sample->has & PERF_SAMPLE_RAW && (tagging->unit == AS_IMPORT_IBS_OP || tagging->unit == AS_IMPORT_IBS_FETCH))
        as_import_ibs_facts(sample, tagging, raw, facts);
    if (tagging->unit == AS_IMPORT_TEA && !as_import_tea_events_of(sample, &facts->events))
        raw->bad++;
}

/* ---- events ---- */

static bool begins(const char *text, const char *with)
{
    return text && strncmp(text, with, strlen(with)) == 0;
}

/* On AMD's processors the kernel uses IBS op for the precise cycles and retired operations of the general PMU (Linux
 * arch/x86/events/amd/ibs.c). */
static bool stands_for_ibs(const struct as_perf_event *event)
{
    return event->precise > 0 && ((event->type == PERF_TYPE_HARDWARE && event->config == PERF_COUNT_HW_CPU_CYCLES) ||
                                  (event->type == PERF_TYPE_RAW && (event->config == 0x76 || event->config == 0xc1)));
}

struct as_import_tagging as_import_unit_of(const struct as_perf_event *event, const struct as_perf_info *info)
{
    struct as_import_tagging tagging = {.cpu = as_ibs_cpu(info ? info->cpu_id : NULL)};
    const char *name = event->pmu ? event->pmu : event->name;
    if (begins(name, "ibs_op") || (tagging.cpu.family && stands_for_ibs(event)))
        tagging.unit = AS_IMPORT_IBS_OP;
    else if (begins(name, "ibs_fetch"))
        tagging.unit = AS_IMPORT_IBS_FETCH;
    else if (begins(name, "arm_spe"))
        tagging.unit = AS_IMPORT_SPE;
    else if (event->pmu && (strcmp(event->pmu, "tip") == 0 || strcmp(event->pmu, "tea") == 0))
        tagging.unit = strcmp(event->pmu, "tea") == 0 ? AS_IMPORT_TEA : AS_IMPORT_TIP;
    return tagging;
}

const char *as_import_unit_counts(const struct as_import_tagging *tagging)
{
    if (tagging->unit == AS_IMPORT_IBS_FETCH)
        return "fetches";
    if (tagging->unit == AS_IMPORT_TIP || tagging->unit == AS_IMPORT_TEA)
        return "cycles";
    if (tagging->unit == AS_IMPORT_SPE || (tagging->unit == AS_IMPORT_IBS_OP && tagging->known && tagging->counts_ops))
        return "operations";
    return tagging->unit == AS_IMPORT_IBS_OP && tagging->known ? "cycles" : NULL;
}

static char *every(const struct as_perf_event *event, const char *what)
{
    return event->period ? as_format("one every %s %s", AS_COUNT(event->period), what)
                         : as_format("%s a second, counted in %s", AS_COUNT(event->frequency), what);
}

char *as_import_unit_text(const struct as_import_tagging *tagging, const struct as_perf_event *event)
{
    static const char *const units[] = {[AS_IMPORT_IBS_OP] = "AMD IBS op: tagged operations",
                                        [AS_IMPORT_IBS_FETCH] = "AMD IBS fetch: tagged fetches",
                                        [AS_IMPORT_SPE] = "Arm SPE: sampled operations",
                                        [AS_IMPORT_TIP] = "TIP: what commits, or what is waited for",
                                        [AS_IMPORT_TEA] = "TEA: what commits, or what is waited for, and its events"};
    if (tagging->unit == AS_IMPORT_PLAIN)
        return as_format("samples of %s, each standing for its period", event->name);
    const char *counts = as_import_unit_counts(tagging), *what = counts ? counts : "cycles or operations";
    if (tagging->unit == AS_IMPORT_IBS_OP && tagging->counts_ops)
        what = "dispatched operations";
    char *often = every(event, what), *filter = NULL;
    if (tagging->latency_threshold)
        filter = as_format(", loads of at least %" PRIu32 " cycles only", tagging->latency_threshold);
    char *text = as_format("%s, %s%s%s%s", units[tagging->unit], often, tagging->random ? ", at random" : "",
                           tagging->l3_miss_only ? ", only those that missed L3" : "", filter ? filter : "");
    free(often);
    free(filter);
    return text;
}
