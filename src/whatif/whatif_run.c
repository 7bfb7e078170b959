/* The runs of a session of experiments: the program as it is, then once for each experiment. See whatif.h. */
#include "whatif/whatif_experiments.h"

#include "agent/agent_host.h"
#include "base/signals.h"

#include <inttypes.h>
#include <stdlib.h>

enum { DEFAULT_RANK = 5 };

static bool run_once(struct as_whatif *whatif, struct as_modelled *modelled, struct as_error *err)
{
    struct as_engine_options engine = whatif->request->engine;
    engine.discard_stdout = true; /* in all runs alike, because programs behave differently on a terminal */
    engine.environment = whatif->environment ? whatif->environment : engine.environment;
    as_input_rewind(&whatif->input);
    as_model_set_memo(modelled->model, &whatif->request->memo);
    modelled->meter = whatif->request->meter;
    modelled->meter_context = whatif->request->meter_context;
    return as_modelled_run(modelled, engine, err);
}

/* Behind each run: keeps the signal by which the user interrupted the session. Returns whether it cut this run off. */
static bool end_run(struct as_whatif *whatif, const struct as_model_result *result)
{
    int by = as_signals_between(), cut_by = as_run_end_cut_by(&result->engine.end);
    whatif->interrupted_by = cut_by ? cut_by : by;
    return cut_by != 0;
}

bool as_whatif_run_as_is(struct as_whatif *whatif, struct as_error *err)
{
    struct as_modelled *modelled = &whatif->as_is;
    if (!as_input_keep(&whatif->input, &whatif->request->notices, err) ||
        !as_modelled_open(modelled, whatif->request->core, &whatif->request->set, err) ||
        !as_modelled_watch(modelled, err))
        return false;
    as_oracle_set_events(modelled->oracle, AS_CORE_IDEAL, AS_CORE_IDEAL);
    as_model_set_transfers(modelled->model, as_moved_take, &whatif->moved);
    if (whatif->heap.rules.len)
        as_model_set_calls(modelled->model, &as_heap_sink, &whatif->heap);
    if (!run_once(whatif, modelled, err))
        return false;
    end_run(whatif, &modelled->result);
    if (whatif->interrupted_by)
        return as_error_set_status(err, 128 + whatif->interrupted_by,
                                   "interrupted before the first experiment: there is nothing to compare");
    if (!as_oracle_check(modelled->oracle, err))
        return false;
    whatif->golden = as_oracle_pics(modelled->oracle);
    return true;
}

static uint32_t ideal_of(void *context, const struct as_model *model, const struct as_insn *insn)
{
    return as_experiment_mask(context, model, insn);
}

/* The changes of the machine for all runs and for this one. The caller frees. */
static struct as_strlist changes_of(const struct as_whatif *whatif, const struct as_experiment *experiment)
{
    struct as_strlist set = {.data = as_alloc_array(whatif->request->set.len + experiment->n, sizeof(char *))};
    for (size_t i = 0; i < whatif->request->set.len; i++)
        set.data[set.len++] = whatif->request->set.data[i];
    for (size_t i = 0; i < experiment->n; i++)
        if (experiment->causes[i]->set)
            set.data[set.len++] = experiment->causes[i]->set;
    return set;
}

bool as_whatif_check_machine(const struct as_whatif *whatif, const struct as_experiment *experiment,
                             struct as_error *err)
{
    struct as_machine machine;
    struct as_strlist set = changes_of(whatif, experiment);
    bool ok = as_modelled_machine(&machine, whatif->request->core, &set, err);
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

/* What the program did otherwise is worth a warning; one that was interrupted is not shown at all. */
static void compare_work(const struct as_whatif *whatif, const struct as_experiment *experiment)
{
    const struct as_model_result *as_is = &whatif->as_is.result;
    if (experiment->result.instructions != as_is->instructions)
        as_notice(&whatif->request->notices, AS_LOG_WARN,
                  "the program executed %" PRIu64 " instructions this time, not %" PRIu64
                  ": this explains a part of the difference in time",
                  experiment->result.instructions, as_is->instructions);
}

static bool run_experiment(struct as_whatif *whatif, struct as_experiment *experiment, struct as_error *err)
{
    struct as_modelled modelled = {0};
    struct as_strlist set = changes_of(whatif, experiment);
    bool ok = as_modelled_open(&modelled, whatif->request->core, &set, err);
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
    ok = ok && run_once(whatif, &modelled, err);
    experiment->result = modelled.result;
    as_modelled_free(&modelled);
    as_heap_free(&experiment->heap);
    return ok;
}

static int by_speedup(const void *a, const void *b)
{
    const struct as_experiment *x = a, *y = b;
    uint64_t left = x->skipped ? UINT64_MAX : x->result.elapsed, right = y->skipped ? UINT64_MAX : y->result.elapsed;
    return (left > right) - (left < right);
}

/* Until the user interrupts them. Returns how many are whole; SIZE_MAX: one failed. */
static size_t run_experiments(struct as_whatif *whatif, struct as_error *err)
{
    bool cut = false;
    size_t i = 0;
    for (; i < whatif->experiments.len && !whatif->interrupted_by; i++) {
        struct as_experiment *experiment = &whatif->experiments.data[i];
        as_experiment_weigh(whatif, experiment);
        as_notice(&whatif->request->notices, AS_LOG_NOTE, "run %zu of %zu: %s %s%s", i + 1, whatif->experiments.len,
                  experiment->causes[0]->separate ? "with" : "without", experiment->causes[0]->text,
                  experiment->n > 1 ? " …" : "");
        if (experiment->skipped)
            continue;
        if (!run_experiment(whatif, experiment, err))
            return SIZE_MAX;
        cut = end_run(whatif, &experiment->result);
        if (!cut)
            compare_work(whatif, experiment);
    }
    return i - cut;
}

/* The experiments that are whole count, if the user interrupted the others. */
static bool try_all(struct as_whatif *whatif, struct as_error *err)
{
    size_t all = whatif->experiments.len, whole = run_experiments(whatif, err);
    if (whole > all)
        return false;
    whatif->missing = all - whole;
    if (whatif->missing && whole == 0)
        return as_error_set_status(err, 128 + whatif->interrupted_by,
                                   "interrupted before one experiment was whole: there is nothing to compare");
    return true;
}

bool as_whatif_try(struct as_whatif *whatif, struct as_error *err)
{
    const struct as_whatif_request *request = whatif->request;
    if (!as_engine_check_measured(&whatif->as_is.result.engine, whatif->as_is.result.instructions, err))
        return false;
    if (whatif->as_is.result.engine.threads > 1)
        as_notice(&request->notices, AS_LOG_NOTE,
                  "the program has several threads: their interleaving, and so its time, differs from run to run");
    if (!as_whatif_check_places(whatif, err))
        return false;
    size_t asked = whatif->experiments.len;
    uint64_t ranked = request->rank != AS_WHATIF_USUAL ? request->rank : asked ? 0 : DEFAULT_RANK;
    as_whatif_add_ranked(whatif, ranked);
    if (ranked)
        as_whatif_add_worst(whatif);
    if (!as_whatif_find_variables(whatif, err))
        return false;
    if (!try_all(whatif, err))
        return false;
    size_t whole = whatif->experiments.len - whatif->missing;
    if (whole > asked)
        qsort(whatif->experiments.data + asked, whole - asked, sizeof *whatif->experiments.data, by_speedup);
    return true;
}

void as_whatif_free(struct as_whatif *whatif)
{
    for (size_t i = 0; i < whatif->experiments.len; i++)
        free((void *)whatif->experiments.data[i].causes);
    for (size_t i = 0; i < whatif->causes.len; i++) {
        as_cause_free(whatif->causes.data[i]);
        free(whatif->causes.data[i]);
    }
    as_vec_free(&whatif->experiments);
    as_vec_free(&whatif->causes);
    as_pics_free(&whatif->golden);
    as_moved_free(&whatif->moved);
    as_heap_free(&whatif->heap);
    as_agent_model_environment_free(whatif->environment);
    as_modelled_free(&whatif->as_is);
}
