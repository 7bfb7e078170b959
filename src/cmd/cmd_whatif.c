/* assay whatif: runs the program again with named causes of time made ideal, and reports the speed-up. */
#include "agent/agent_host.h"
#include "base/log.h"
#include "cmd/commands.h"
#include "cmd/default_core.h"
#include "cmd/model_options.h"
#include "cmd/output.h"
#include "cmd/progress.h"
#include "cmd/run_options.h"
#include "cmd/shared_options.h"
#include "cmd/whatif.h"
#include "record/input.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { DEFAULT_RANK = 5, SUGGEST_WITHIN = 3 };

struct whatif_options {
    struct as_run_options run;
    bool json, together;
    const char *output, *core;
    uint64_t rank;
    struct as_strlist set, ideal, remove, change, separate;
};

static const struct as_option options_table[] = {
    {.name = "ideal",
     .type = AS_OPTION_LIST,
     .offset = offsetof(struct whatif_options, ideal),
     .value = "EVENT[@PLACE]",
     .help = "Try it without this event (several joined by '+') at PLACE: a function, NAME+0xOFFSET, MODULE:NAME or "
             "0xADDRESS; without PLACE, everywhere. May be given several times: each is an experiment."},
    {.name = "remove",
     .type = AS_OPTION_LIST,
     .offset = offsetof(struct whatif_options, remove),
     .value = "PLACE",
     .help = "Try it with a nop in place of each instruction there (branches stay); each is an experiment."},
    {.name = "change",
     .type = AS_OPTION_LIST,
     .offset = offsetof(struct whatif_options, change),
     .value = "KEY=VALUE",
     .help = "Try it with another value of the machine (memory.llc.latency=1); each is an experiment."},
    {.name = "separate",
     .type = AS_OPTION_LIST,
     .offset = offsetof(struct whatif_options, separate),
     .value = "VARIABLE",
     .help = "Try it with each element of this array (each word of another variable) on a cache line of its own, as "
             "padding would do against false sharing. heap:FUNCTION: each block that this function allocates; "
             "heap:FUNCTION/BYTES: each part of so many bytes. Each is an experiment."},
    {.name = "together",
     .type = AS_OPTION_FLAG,
     .offset = offsetof(struct whatif_options, together),
     .help = "Also try all of these at once."},
    {.name = "rank",
     .type = AS_OPTION_U64,
     .offset = offsetof(struct whatif_options, rank),
     .value = "N",
     .help = "Try the N pairs of instruction and event with the most time in cycle stacks, and rank them by their "
             "measured speed-up (default 5 if nothing else is asked for)."},
    AS_CORE_OPTION(struct whatif_options, core, AS_NEAREST_CORE, "."),
    AS_SET_OPTION(struct whatif_options, set,
                  "Change one value of the machine for all runs; may be given several times."),
    AS_JSON_OPTION(struct whatif_options, json, AS_JSON_HELP),
    AS_OUTPUT_OPTION(struct whatif_options, output, "Write the result to FILE."),
    AS_MEMO_OPTIONS(struct whatif_options, run),
    AS_RUN_OPTIONS(struct whatif_options, run),
    {.name = NULL},
};

struct session {
    const struct whatif_options *options;
    char **argv;
    struct as_input input;
    struct as_modelled as_is;
    struct as_pics golden;
    struct as_moved moved; /* lines, in the run as it is */
    struct as_heap heap;   /* … and blocks that experiments are about */
    char **environment;    /* with the agent, if there are any; NULL: ours */
    AS_VEC(struct as_cause *) causes;
    AS_VEC(struct as_experiment) experiments;
    struct as_output output;
};

/* ---- runs ---- */

static bool run_once(struct session *session, struct as_modelled *modelled, struct as_error *err)
{
    struct as_engine_options engine = as_run_engine_options(&session->options->run, session->argv);
    engine.discard_stdout = true; /* in all runs alike, because programs behave differently on a terminal */
    engine.environment = session->environment ? session->environment : engine.environment;
    as_input_rewind(&session->input);
    struct as_memo_options memo = as_run_memo_options(&session->options->run);
    as_model_set_memo(modelled->model, &memo);
    return as_progress_run(modelled, engine, err);
}

static bool run_as_is(struct session *session, struct as_error *err)
{
    struct as_modelled *modelled = &session->as_is;
    if (!as_modelled_open(modelled, session->options->core, &session->options->set, err) ||
        !as_modelled_watch(modelled, err))
        return false;
    as_oracle_set_events(modelled->oracle, AS_CORE_IDEAL, AS_CORE_IDEAL);
    as_model_set_transfers(modelled->model, as_moved_take, &session->moved);
    if (session->heap.rules.len)
        as_model_set_calls(modelled->model, &as_heap_sink, &session->heap);
    if (!run_once(session, modelled, err))
        return false;
    as_fanout_report(modelled->fanout, stderr);
    if (!as_oracle_check(modelled->oracle, err))
        return false;
    session->golden = as_oracle_pics(modelled->oracle);
    return true;
}

static uint32_t ideal_of(void *context, const struct as_model *model, const struct as_insn *insn)
{
    return as_experiment_mask(context, model, insn);
}

/* The changes of the machine for all runs and for this one. The caller frees. */
static struct as_strlist changes_of(const struct session *session, const struct as_experiment *experiment)
{
    struct as_strlist set = {.data = as_alloc_array(session->options->set.len + experiment->n, sizeof(char *))};
    for (size_t i = 0; i < session->options->set.len; i++)
        set.data[set.len++] = session->options->set.data[i];
    for (size_t i = 0; i < experiment->n; i++)
        if (experiment->causes[i]->set)
            set.data[set.len++] = experiment->causes[i]->set;
    return set;
}

/* Checks values before the program runs. */
static bool check_machine(const struct session *session, const struct as_experiment *experiment, struct as_error *err)
{
    struct as_machine machine;
    struct as_strlist set = changes_of(session, experiment);
    bool ok = as_modelled_machine(&machine, session->options->core, &set, err);
    as_strlist_free(&set);
    return ok;
}

static uint64_t move(void *context, uint64_t address)
{
    const struct as_experiment *experiment = context;
    for (size_t i = 0; i < experiment->n; i++)
        address = as_apart_move(&experiment->causes[i]->apart, address);
    return as_heap_move(&experiment->heap, address);
}

static bool separates(const struct as_experiment *experiment)
{
    for (size_t i = 0; i < experiment->n; i++)
        if (experiment->causes[i]->separate)
            return true;
    return false;
}

static bool run_experiment(struct session *session, struct as_experiment *experiment, struct as_error *err)
{
    struct as_modelled modelled = {0};
    const struct as_model_result *as_is = &session->as_is.result;
    struct as_strlist set = changes_of(session, experiment);
    bool ok = as_modelled_open(&modelled, session->options->core, &set, err);
    as_strlist_free(&set);
    if (ok)
        as_model_set_ideal(modelled.model, ideal_of, experiment);
    if (ok && separates(experiment))
        as_model_set_moves(modelled.model, move, experiment);
    for (size_t i = 0; i < experiment->n; i++)
        if (experiment->causes[i]->heap.function)
            as_heap_add_rule(&experiment->heap, &experiment->causes[i]->heap);
    if (ok && experiment->heap.rules.len)
        as_model_set_calls(modelled.model, &as_heap_sink, &experiment->heap);
    ok = ok && run_once(session, &modelled, err);
    experiment->result = modelled.result;
    as_modelled_free(&modelled);
    as_heap_free(&experiment->heap);
    if (ok && experiment->result.instructions != as_is->instructions)
        as_log_warn("the program executed %" PRIu64 " instructions this time, not %" PRIu64
                    ": this explains a part of the difference in time",
                    experiment->result.instructions, as_is->instructions);
    if (ok && experiment->result.engine.end.interrupted)
        return as_error_set_status(err, 130, "interrupted");
    return ok;
}

/* ---- experiments ---- */

static struct as_cause *new_cause(struct session *session)
{
    return *as_vec_push(&session->causes) = as_alloc(sizeof(struct as_cause));
}

static void add_experiment(struct session *session, struct as_cause *const *causes, size_t n)
{
    const struct as_cause **copy = as_alloc_array(n, sizeof *copy);
    memcpy(copy, causes, n * sizeof *copy);
    *as_vec_push(&session->experiments) = (struct as_experiment){.causes = copy, .n = n};
}

static struct as_cause *add_separation(struct session *session, const char *name)
{
    struct as_cause *cause = new_cause(session);
    *cause =
        (struct as_cause){.text = as_format("parts of %s on lines of their own", name), .separate = as_strdup(name)};
    return cause;
}

static bool add_heap(struct session *session, const char *text, struct as_error *err)
{
    struct as_cause *cause = new_cause(session);
    if (!as_heap_parse(text, &cause->heap, err))
        return false;
    cause->separate = as_strdup(text);
    cause->text = cause->heap.part ? as_format("parts of %" PRIu64 " bytes of what %s allocates on lines of their own",
                                               cause->heap.part, cause->heap.function)
                                   : as_format("blocks that %s allocates on lines of their own", cause->heap.function);
    as_heap_add_rule(&session->heap, &cause->heap);
    return session->environment || (session->environment = as_agent_model_environment(err));
}

/* Reads the causes before anything runs. */
static bool read_causes(struct session *session, struct as_error *err)
{
    const struct whatif_options *options = session->options;
    for (size_t i = 0; i < options->ideal.len; i++)
        if (!as_cause_parse(options->ideal.data[i], new_cause(session), err))
            return false;
    for (size_t i = 0; i < options->remove.len; i++) {
        struct as_cause *cause = new_cause(session);
        *cause = (struct as_cause){.text = as_strdup(options->remove.data[i]), .events = AS_IDEAL_REMOVED};
        if (!as_place_parse(options->remove.data[i], &cause->place, err))
            return false;
    }
    for (size_t i = 0; i < options->change.len; i++)
        *new_cause(session) =
            (struct as_cause){.text = as_strdup(options->change.data[i]), .set = options->change.data[i]};
    for (size_t i = 0; i < options->separate.len; i++)
        if (!as_heap_is_rule(options->separate.data[i]))
            add_separation(session, options->separate.data[i]);
        else if (!add_heap(session, options->separate.data[i], err))
            return false;
    for (size_t i = 0; i < session->causes.len; i++)
        add_experiment(session, &session->causes.data[i], 1);
    if (options->together && session->causes.len > 1)
        add_experiment(session, session->causes.data, session->causes.len);
    for (size_t i = 0; i < session->experiments.len; i++)
        if (!check_machine(session, &session->experiments.data[i], err))
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

static void add_candidate(struct session *session, const struct candidate *candidate)
{
    const struct as_model *model = session->as_is.model;
    const struct as_insn *insn = as_engine_insn(as_model_engine(model), candidate->id);
    struct as_cause *cause = new_cause(session);
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
    add_experiment(session, &cause, 1);
}

static void add_ranked(struct session *session, uint64_t most)
{
    size_t n;
    struct candidate *candidates = candidates_of(&session->golden, &n);
    for (size_t i = 0; i < n && i < most; i++)
        add_candidate(session, &candidates[i]);
    free(candidates);
}

/* ---- what the cycle stacks promise ---- */

static const char *near_name(const struct session *session, const char *name)
{
    const char *best = NULL;
    size_t distance = SUGGEST_WITHIN + 1;
    for (size_t i = 0; i < session->golden.len; i++) {
        struct as_location location = {0};
        as_model_locate(session->as_is.model, session->golden.data[i].id, &location);
        size_t d = location.function ? as_cli_distance(name, location.function) : SIZE_MAX;
        if (d < distance) {
            distance = d;
            best = location.function;
        }
    }
    return best;
}

static bool complain_place(const struct session *session, const struct as_place *place, struct as_error *err)
{
    const char *near = place->function ? near_name(session, place->function) : NULL;
    if (near && strcmp(near, place->function) != 0)
        return as_error_set_status(err, AS_EXIT_USAGE, "no instruction at '%s' ran; did you mean '%s'?", place->text,
                                   near);
    return as_error_set_status(err, AS_EXIT_USAGE,
                               "no instruction at '%s' ran; 'assay stat --functions=100' lists functions that did",
                               place->text);
}

static bool has_place(const struct session *session, const struct as_place *place)
{
    uint32_t last = UINT32_MAX;
    for (size_t i = 0; i < session->golden.len; i++) {
        uint32_t id = session->golden.data[i].id;
        struct as_location location = {0};
        if (id == last)
            continue;
        last = id;
        as_model_locate(session->as_is.model, id, &location);
        if (as_place_holds(place, as_engine_insn(as_model_engine(session->as_is.model), id), &location))
            return true;
    }
    return false;
}

static void weigh(const struct session *session, struct as_experiment *experiment)
{
    const struct as_model *model = session->as_is.model;
    uint64_t units = 0;
    uint32_t last = UINT32_MAX, mask = 0, n_insns = 0;
    bool machine = false;
    for (size_t i = 0; i < experiment->n; i++)
        machine |= experiment->causes[i]->set || experiment->causes[i]->separate;
    for (size_t i = 0; i < session->golden.len; i++) {
        const struct as_pics_entry *entry = &session->golden.data[i];
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

static int by_speedup(const void *a, const void *b)
{
    const struct as_experiment *x = a, *y = b;
    uint64_t left = x->skipped ? UINT64_MAX : x->result.elapsed, right = y->skipped ? UINT64_MAX : y->result.elapsed;
    return (left > right) - (left < right);
}

/* Where the variables are that shall lie apart: addresses in QEMU are the same in every run. */
static bool find_variables(struct session *session, struct as_error *err)
{
    for (uint32_t i = 0; i < session->causes.len; i++) {
        struct as_cause *cause = session->causes.data[i];
        if (cause->separate && !cause->heap.function &&
            !as_apart_find(&session->moved, session->as_is.model, cause->separate, i, &cause->apart))
            return as_error_set_status(err, AS_EXIT_USAGE,
                                       "no line of a variable '%s' went from core to core; 'assay record' and 'assay "
                                       "report --waits' show which did",
                                       cause->separate);
    }
    for (size_t i = 0; i < session->heap.rules.len; i++)
        if (!session->heap.found.data[i])
            return as_error_set_status(err, AS_EXIT_USAGE,
                                       "no block that '%s' allocates is known; Assay's agent sees the calls of malloc "
                                       "and its kin of programs that are linked dynamically",
                                       session->heap.rules.data[i]->function);
    return true;
}

/* Next to instructions and events: the variable whose parts share lines, where accesses waited for at least a hundredth of the
 * time for that. */
static void add_worst(struct session *session)
{
    char *name = as_apart_worst(&session->moved, session->as_is.model, session->as_is.result.cycles / 100);
    if (!name)
        return;
    struct as_cause *cause = add_separation(session, name);
    add_experiment(session, &cause, 1);
    free(name);
}

static bool try_all(struct session *session, struct as_error *err)
{
    const struct whatif_options *options = session->options;
    for (size_t i = 0; i < session->causes.len; i++)
        if (session->causes.data[i]->place.text && !has_place(session, &session->causes.data[i]->place))
            return complain_place(session, &session->causes.data[i]->place, err);
    size_t asked = session->experiments.len;
    uint64_t ranked = options->rank != UINT64_MAX ? options->rank : asked ? 0 : DEFAULT_RANK;
    add_ranked(session, ranked);
    if (ranked)
        add_worst(session);
    if (!find_variables(session, err))
        return false;
    for (size_t i = 0; i < session->experiments.len; i++) {
        struct as_experiment *experiment = &session->experiments.data[i];
        weigh(session, experiment);
        as_log_note("run %zu of %zu: %s %s%s", i + 1, session->experiments.len,
                    experiment->causes[0]->separate ? "with" : "without", experiment->causes[0]->text,
                    experiment->n > 1 ? " …" : "");
        if (!experiment->skipped && !run_experiment(session, experiment, err))
            return false;
    }
    qsort(session->experiments.data + asked, session->experiments.len - asked, sizeof *session->experiments.data,
          by_speedup);
    return true;
}

/* ---- the command ---- */

static int show(struct session *session)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_whatif whatif = {.argv = session->argv,
                               .as_is = &session->as_is,
                               .experiments = session->experiments.data,
                               .n = session->experiments.len};
    if (session->options->json) {
        struct as_json *json = as_json_new(session->output.file);
        as_whatif_json(&whatif, json);
        if (!as_json_finish(json) && !session->output.path)
            return as_cli_stdout_failed();
    } else {
        as_whatif_text(&whatif, session->output.file);
    }
    return as_output_finish(&session->output, &err) ? AS_EXIT_OK : as_cli_fail(&as_command_whatif, &err);
}

static int run_session(struct session *session)
{
    struct as_error err = AS_ERROR_INIT;
    bool ok = read_causes(session, &err) && as_output_open(&session->output, session->options->output, &err) &&
              as_input_keep(&session->input, &as_notices_to_log, &err) && run_as_is(session, &err);
    int status = ok ? as_run_report(&session->as_is.result.engine, &session->options->run) : AS_EXIT_OK;
    if (ok && session->as_is.result.instructions == 0)
        ok = as_error_set(&err, "nothing was measured, so there is nothing to try");
    if (ok && session->as_is.result.engine.threads > 1)
        as_log_note("the program has several threads: their interleaving, and so its time, differs from run to run");
    if (!ok || !try_all(session, &err)) {
        as_output_drop(&session->output);
        return as_cli_fail(&as_command_whatif, &err);
    }
    int failed = show(session);
    return failed ? failed : status;
}

static void clean_up(struct session *session)
{
    for (size_t i = 0; i < session->experiments.len; i++)
        free((void *)session->experiments.data[i].causes);
    for (size_t i = 0; i < session->causes.len; i++) {
        as_cause_free(session->causes.data[i]);
        free(session->causes.data[i]);
    }
    as_vec_free(&session->experiments);
    as_vec_free(&session->causes);
    as_pics_free(&session->golden);
    as_moved_free(&session->moved);
    as_heap_free(&session->heap);
    as_agent_model_environment_free(session->environment);
    as_modelled_free(&session->as_is);
}

static int run_whatif(int argc, char **argv)
{
    struct whatif_options options = {.run = AS_RUN_OPTIONS_DEFAULT, .core = NULL, .rank = UINT64_MAX};
    int rest;
    enum as_parse parsed = as_cli_parse(&as_command_whatif, argc, argv, &options, &rest);
    if (parsed != AS_PARSE_OK)
        return parsed == AS_PARSE_HELP ? AS_EXIT_OK : AS_EXIT_USAGE;
    struct as_default_core core;
    if (rest < argc)
        options.core = as_core_or_default(options.core, argv[rest], &core);
    struct session session = {.options = &options, .argv = argv + rest};
    struct as_error err = AS_ERROR_INIT;
    int status = rest >= argc                                ? as_cli_usage(&as_command_whatif, "no program given")
                 : as_run_options_settle(&options.run, &err) ? run_session(&session)
                                                             : as_cli_fail(&as_command_whatif, &err);
    clean_up(&session);
    as_strlist_free(&options.set);
    as_strlist_free(&options.ideal);
    as_strlist_free(&options.remove);
    as_strlist_free(&options.change);
    as_strlist_free(&options.separate);
    as_run_options_free(&options.run);
    return status;
}

const struct as_command as_command_whatif = {
    .name = "whatif",
    .summary = "The speed-up from removing a cause of time",
    .usage = "[options] [--] PROGRAM [ARGS…]",
    .description =
        "Runs the program on a modelled core as it is, then again with named causes made ideal: an event at an "
        "instruction, in a function or everywhere, a value of the machine, or parts of a variable on cache lines of "
        "their own. It prints the speed-up that the cycle "
        "stacks promise next to the one that the second run shows; only the latter includes what hides behind a cause "
        "or is exposed when it is gone. The program runs once more for each cause; its standard output is not shown.",
    .options = options_table,
    .examples = "  assay whatif -- ./prog\n"
                "  assay whatif --ideal ST-L1@main+0x1c --ideal FL-MB -- ./prog\n"
                "  assay whatif --separate counters -- ./prog\n"
                "  assay whatif --separate heap:make_counters/24 -- ./prog\n"
                "  assay whatif --change memory.llc.latency=10 --core zen4-like -- ./prog\n",
    .run = run_whatif,
};
