/* See bias.h. */
#include "score/bias.h"

#include <math.h>
#include <string.h>
#include <strings.h>

const char *const as_bias_levels[AS_BIAS_LEVELS] = {"function", "block", "instruction"};

#define ABOUT_interrupt "an interrupt is taken behind the instruction that it was due at, where the processor stops"
#define ABOUT_pebs_cycles "PEBS gives the next instruction that commits, not the one that the processor waits for"
#define ABOUT_pebs_instructions "PEBS sees no event in the shadow of the one before, and takes the next"
#define ABOUT_pdir_instructions "PEBS with a precise distribution takes the very event"
#define ABOUT_pebs_loads "PEBS sees no load in the shadow of the one before, and takes the next"
#define ABOUT_pebs_branches "PEBS sees no branch in the shadow of the one before, and takes the next"
#define ABOUT_pebs_misses "PEBS sees no miss in the shadow of the one before, and takes the next"
#define ABOUT_ibs_cycles "IBS tags what is dispatched when the time has come, not what the processor waits for"
#define ABOUT_ibs_ops "IBS tags one operation of a dispatch group, and counts nothing until its interrupt was handled"
#define ABOUT_spe "SPE drops what it chooses while the operation before is in flight"
#define ABOUT_tip "TIP charges the instructions that commit, or that commit waits for"

static const struct as_bias table[] = {
#include "score/bias_table.inc"
};

const struct as_bias *as_bias_named(const char *way)
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strcmp(table[i].way, way) == 0)
            return &table[i];
    return NULL;
}

/* ---- which way ---- */

static bool has(const char *text, const char *word)
{
    return text && strcasestr(text, word);
}

/* What is counted, by the names that processors give their events. */
static const struct {
    const char *word, *way;
} pebs_events[] = {
    {"_miss", "pebs-misses"},      {"-miss", "pebs-misses"}, {"load", "pebs-loads"},
    {"mem_inst", "pebs-loads"},    {"br_", "pebs-branches"}, {"branch", "pebs-branches"},
    {"inst", "pebs-instructions"}, {"cycle", "pebs-cycles"}, {"clk", "pebs-cycles"},
};

static const char *pebs_way(const struct as_sampled_by *by)
{
    if (has(by->event, "inst_retired.prec_dist") ||
        (by->precise >= 3 && has(by->event, "inst") && !has(by->event, "mem_")))
        return "pdir-instructions";
    for (size_t i = 0; i < sizeof pebs_events / sizeof *pebs_events; i++)
        if (has(by->event, pebs_events[i].word))
            return pebs_events[i].way;
    return NULL;
}

static const char *ibs_way(const struct as_sampled_by *by)
{
    if (has(by->event, "fetch"))
        return NULL;
    return has(by->event, "cnt_ctl=1") || has(by->event, "ops") || has(by->event, "inst") ? "ibs-ops" : "ibs-cycles";
}

/* The model's samplers that are ways of the table. */
static const char *sampler_way(const char *sampler)
{
    static const struct {
        const char *sampler, *way;
    } samplers[] = {{"software", "interrupt"}, {"nci", "pebs-cycles"}, {"tip", "tip"}, {"tea", "tip"}};
    for (size_t i = 0; i < sizeof samplers / sizeof *samplers; i++)
        if (sampler && strcmp(samplers[i].sampler, sampler) == 0)
            return samplers[i].way;
    return NULL;
}

static const char *way_of(const struct as_sampled_by *by)
{
    if (by->source && strcmp(by->source, "model") == 0)
        return sampler_way(by->sampler);
    bool time = has(by->event, "clock") || has(by->event, "cycles");
    if (has(by->event, "ibs_"))
        return ibs_way(by);
    if (has(by->event, "arm_spe"))
        return "spe";
    if (by->precise > 0)
        return has(by->processor, "AMD") ? ibs_way(by) : pebs_way(by);
    return time || (by->source && strcmp(by->source, "timer") == 0) ? "interrupt" : NULL;
}

const struct as_bias *as_bias_of(const struct as_sampled_by *by)
{
    const char *way = way_of(by);
    return way ? as_bias_named(way) : NULL;
}

double as_bias_with_chance(double bias, double chance)
{
    return isnan(bias) || isnan(chance) ? NAN : fmin(hypot(bias, chance), 1);
}

double as_bias_without_chance(double error, double chance)
{
    return isnan(error) ? NAN : sqrt(fmax(0, error * error - chance * chance));
}

double as_bias_apart(double a, double b)
{
    return fmin(1, sqrt(a * a + b * b));
}
