/* What a native source samples, from the options. See record_native.h. */
#include "native/choose.h"
#include "native/probe_parts.h"
#include "record/record_native.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* 8 KiB of stack hold most call chains; the kernel copies them at every sample. For accesses the next return addresses
 * are enough. */
enum { CLOCK_MOST = 100000 }; /* per second: limit of perf_swevent_start_hrtimer in the kernel */
enum { STACK_BYTES = 8192, ACCESS_STACK_BYTES = 512, ACCESS_RING = 512 << 10, ACCESS_WAIT_MS = 20 };

/* Nobody asked for copies of the stack, so a buffer as small as it is without them needs no note. */
enum { AUTO_RING = 512 << 10 };

static bool check_system_wide(const struct as_record_options *options, struct as_error *err)
{
    const char *other = options->pid                        ? "--pid"
                        : options->accesses                 ? "--accesses"
                        : options->allocations              ? "--allocations"
                        : as_native_regions_wanted(options) ? "regions"
                        : options->repeat > 1               ? "--repeat"
                                                            : NULL;
    return !other || as_error_set_status(err, AS_EXIT_USAGE,
                                         "--system-wide records all processes and cannot be used with %s", other);
}

static bool check_options(const struct as_record_options *options, const char *source, struct as_error *err)
{
    if (options->model_wish)
        return as_error_set_status(err, AS_EXIT_USAGE, "--%s needs --source=model: the %s source does not have it",
                                   options->model_wish, source);
    if (!isnan(options->rate) && !(options->rate >= 0.01 && options->rate <= 1e6))
        return as_error_set_status(err, AS_EXIT_USAGE, "--rate=%g: the rate must be 0.01 to 1000000 samples a second",
                                   options->rate);
    if (!isnan(options->rate) && options->period)
        return as_error_set_status(err, AS_EXIT_USAGE, "give either --rate or --period, not both");
    if (options->repeat > 1 && options->pid)
        return as_error_set_status(err, AS_EXIT_USAGE,
                                   "--repeat needs a program to start and cannot be used with --pid");
    if (options->allocations && options->pid)
        return as_error_set_status(
            err, AS_EXIT_USAGE,
            "--allocations needs the agent in the program from its start and cannot be used with --pid");
    if (options->allocations && (options->delay > 0 || options->switches || as_native_regions_wanted(options)))
        return as_error_set_status(
            err, AS_EXIT_USAGE,
            "--allocations counts the whole run and cannot be used with --delay, --switch-signal or regions");
    if (!as_native_regions_check(options, err))
        return false;
#ifndef __x86_64__
    if (options->accesses)
        return as_error_set_status(err, AS_EXIT_USAGE, "--accesses works only on x86-64");
#endif
    if (!isnan(options->duration) && !options->pid && !options->system_wide)
        return as_error_set_status(err, AS_EXIT_USAGE,
                                   "--duration is for --pid and --system-wide: a program is recorded to its end");
    if (options->system_wide && !check_system_wide(options, err))
        return false;
    if (options->call_graph == AS_RECORD_LBR)
        return as_error_set_status(err, AS_EXIT_USAGE, "--call-graph=lbr is for a modelled PMU (--source=pmu:NAME)");
    if (!isnan(options->duration) && !(options->duration > 0 && options->duration < 1e8))
        return as_error_set_status(err, AS_EXIT_USAGE, "--duration=%g: the duration must be more than 0 seconds",
                                   options->duration);
    return true;
}

/* Whether `auto` takes copies of the stack: 8 KiB a sample. With more samples than these they would be lost when the
 * machine is busy, and how often an event with a period occurs is not known. */
static bool can_copy(const struct as_record_options *options, bool timer)
{
#ifndef __x86_64__
    return false; /* src/native/stack_walk.h unwinds x86-64 only */
#endif
    static const double most = 2000, most_of_processors = 1000; /* samples a second */
    if (options->period && !timer)
        return false;
    double rate = options->period ? 1e9 / (double)options->period : isnan(options->rate) ? 0 : options->rate;
    return rate <= (options->processors || options->system_wide ? most_of_processors : most);
}

static enum as_record_calls calls_of(const struct as_record_options *options, bool timer)
{
    if (options->call_graph != AS_RECORD_AUTO)
        return (enum as_record_calls)options->call_graph;
    return can_copy(options, timer) ? AS_RECORD_AUTO : AS_RECORD_FP;
}

static uint64_t chain_fields(enum as_record_calls calls)
{
    static const uint64_t copies = PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
    static const uint64_t fields[] = {[AS_RECORD_AUTO] = PERF_SAMPLE_CALLCHAIN | copies,
                                      [AS_RECORD_FP] = PERF_SAMPLE_CALLCHAIN,
                                      [AS_RECORD_DWARF] = copies,
                                      [AS_RECORD_NO_CALLS] = 0};
    return fields[calls];
}

static void fill_options(struct as_native_plan *plan, const struct as_record_options *options, bool timer,
                         size_t events, uint64_t fields)
{
    uint64_t chains = chain_fields(calls_of(options, timer));
    plan->unwind = chains & PERF_SAMPLE_STACK_USER;
    plan->options =
        (struct as_native_options){.events = plan->events,
                                   .n_events = events,
                                   .rate = isnan(options->rate) ? 0 : options->rate,
                                   .period = options->period,
                                   .processors = options->processors || options->system_wide,
                                   .everything = options->system_wide,
                                   .random = options->random,
                                   .mode = options->user ? AS_NATIVE_USER : AS_NATIVE_ALLOWED,
                                   .fields = chains | fields | (options->branches ? PERF_SAMPLE_BRANCH_STACK : 0),
                                   .stack_bytes = options->stack_size ? (uint32_t)options->stack_size : STACK_BYTES,
                                   .ring_enough = options->call_graph == AS_RECORD_AUTO ? AUTO_RING : 0,
                                   .stdout_to_stderr = options->stdout_to_stderr,
                                   .delay = options->delay,
                                   .switches = options->switches};
    if (as_native_regions_wanted(options)) {
        plan->options.regions = options->engine.regions;
        plan->options.switches = options->engine.switches;
        plan->options.resolve = as_native_resolve;
    }
    if (!options->accesses)
        return;
    plan->options.fields |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
    plan->options.data_maps = true;
    plan->options.wait_ms = ACCESS_WAIT_MS; /* short, so that watchpoints are armed while the program is still near */
    if (!plan->unwind) {
        plan->options.stack_bytes = ACCESS_STACK_BYTES;
        plan->options.ring_bytes = ACCESS_RING;
    }
}

bool as_native_plan_timer(struct as_native_plan *plan, const struct as_record_options *options, struct as_error *err)
{
    if (!check_options(options, "timer", err))
        return false;
    if (options->event.len)
        return as_error_set_status(err, AS_EXIT_USAGE,
                                   "--event is for --source=pmu: the timer source samples the task clock");
    /* The kernel's clocks are no faster, whatever is asked for, so samples would stand for less than their time. */
    if (!isnan(options->rate) && options->rate > CLOCK_MOST)
        return as_error_set_status(err, AS_EXIT_USAGE,
                                   "--rate=%g: the kernel's clocks give at most %d samples a second", options->rate,
                                   CLOCK_MOST);
    if (options->period && options->period < 1000000000 / CLOCK_MOST)
        return as_error_set_status(err, AS_EXIT_USAGE,
                                   "--period=%u: the period is in nanoseconds of the task clock, at least 10000",
                                   (unsigned)options->period);
    if (options->branches)
        return as_error_set_status(err, AS_EXIT_USAGE, "--branches is for --source=pmu: a clock has no branch stacks");
    fill_options(plan, options, true, 1, 0);
    bool clocks = plan->options.processors;
    snprintf(plan->how, sizeof plan->how, "%s", clocks ? "clocks of all processors" : "the kernel's task clock");
    return as_native_event_parse("", clocks ? "cpu-clock" : "task-clock", &plan->events[0], err);
}

/* Loads and stores are recorded with the source of their data and the latency, if the PMU provides them. */
static bool tells_data(const struct as_native_event *event)
{
    return event->unit == AS_NATIVE_UNIT_IBS_OP || strncmp(event->name, "loads", 5) == 0 ||
           strncmp(event->name, "stores", 6) == 0 || strstr(event->name, "mem-loads") ||
           strstr(event->name, "mem-stores");
}

/* The kernel records the address of a page fault. */
static bool tells_fault(const struct as_native_event *event)
{
    uint64_t which = event->attr.config;
    return event->attr.type == PERF_TYPE_SOFTWARE &&
           (which == PERF_COUNT_SW_PAGE_FAULTS || which == PERF_COUNT_SW_PAGE_FAULTS_MIN ||
            which == PERF_COUNT_SW_PAGE_FAULTS_MAJ);
}

static bool plan_events(struct as_native_plan *plan, const struct as_record_options *options, struct as_error *err)
{
    bool data = true, faults = options->accesses;
    if (options->event.len > AS_NATIVE_MAX_EVENTS)
        return as_error_set_status(err, AS_EXIT_USAGE, "--event: at most %d events at a time", AS_NATIVE_MAX_EVENTS);
    for (size_t i = 0; i < options->event.len; i++) {
        if (!as_native_event_parse("", options->event.data[i], &plan->events[i], err))
            return false;
        data = data && tells_data(&plan->events[i]);
        faults = faults && tells_fault(&plan->events[i]);
    }
    fill_options(plan, options, false, options->event.len,
                 data     ? PERF_SAMPLE_ADDR | PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_WEIGHT
                 : faults ? PERF_SAMPLE_ADDR
                          : 0);
    snprintf(plan->how, sizeof plan->how, "the named events");
    return true;
}

bool as_native_plan_pmu(struct as_native_plan *plan, const struct as_record_options *options, struct as_error *err)
{
    struct as_probe probe = {.precise = -1};
    struct as_native_choice choice;
    if (!check_options(options, "pmu", err))
        return false;
    if (options->random && options->period < AS_NATIVE_LEAST_RANDOM)
        return as_error_set_status(
            err, AS_EXIT_USAGE,
            "--random needs a --period of at least %d events: with a rate, the kernel varies the period itself",
            AS_NATIVE_LEAST_RANDOM);
    if (options->processors)
        return as_error_set_status(err, AS_EXIT_USAGE, "--processors is for --source=timer");
    if (options->event.len)
        return plan_events(plan, options, err);
    as_probe_machine("", &probe);
    if (!as_native_choose("", &probe, AS_NATIVE_PMU, AS_NATIVE_TIME, &choice, err))
        return false;
    memcpy(plan->events, choice.events, choice.n_events * sizeof *choice.events);
    fill_options(plan, options, false, choice.n_events, choice.fields);
    snprintf(plan->how, sizeof plan->how, "%s: %s", choice.how, choice.reason);
    return true;
}

void as_native_look(struct as_native_outlook *outlook)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_native_choice choice;
    struct as_probe probe = {.precise = -1};
    *outlook = (struct as_native_outlook){0};
    as_probe_processor("", &probe);
    as_probe_perf("", &probe);
    if (!as_native_choose("", &probe, AS_NATIVE_AUTO, AS_NATIVE_TIME, &choice, &err)) {
        snprintf(outlook->why, sizeof outlook->why, "%.250s", err.message);
        return;
    }
    bool pmu = choice.source == AS_NATIVE_PMU;
    outlook->precise = pmu && (probe.precise >= 1 || probe.ibs_op.sampling.works || probe.spe.sampling.works);
    outlook->skid = pmu && !outlook->precise;
    if (pmu)
        snprintf(outlook->why, sizeof outlook->why, "%s: %.180s", choice.how, choice.reason);
    else
        snprintf(outlook->why, sizeof outlook->why, "%s", choice.reason);
}
