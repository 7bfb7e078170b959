/* Whole runs of comm_victim.c: what is exact of a line that two threads hand to each other, the code and paths of both sides, their
 * stacks and cores; and the contacts of the estimate where nothing is exact.
 *
 * usage: test_comm_run VICTIM PLUGIN */
#include "comm/comm_run.h"

#include "unit_engine.h"

#include <string.h>

enum { ROUNDS = 100, BALL_OFFSET = 16 };
static char **arguments, *plugin;

struct bed {
    struct as_engine_options options;
    struct as_engine *engine;
    struct as_comm_run *run;
    struct as_engine_result ended;
    struct as_comm_result result;
};

static void open_bed(struct bed *bed, const struct as_comm_options *comm)
{
    struct as_error err = AS_ERROR_INIT;
    bed->options = unit_engine_options(arguments[1], plugin);
    bed->options.observed = bed->options.causal = true;
    bed->run = as_comm_run_new(comm);
    void *context;
    const struct as_sink *sink = as_comm_run_sink(bed->run, &context);
    bed->engine = as_engine_start(&bed->options, &err);
    if (!bed->engine || !as_comm_run_start(bed->run, bed->engine, &err) ||
        !as_engine_run(bed->engine, sink, context, &bed->ended, &err))
        fail_msg("%s", err.message);
    assert_int_equal(bed->ended.end.exit_status, 0);
    as_comm_run_finish(bed->run);
    bed->result = as_comm_run_result(bed->run);
}

static void close_bed(struct bed *bed)
{
    as_comm_run_free(bed->run);
    as_engine_free(bed->engine);
}

/* Contacts of the line of `ball`: all between two executions of hit(). */
static bool is_ball(const struct bed *bed, const struct as_contact *contact)
{
    struct as_space *space = as_comm_space(&bed->result, contact->process, contact->to.insn);
    char *text = as_comm_address_text(space, contact->line + BALL_OFFSET);
    bool is = strncmp(text, "ball", 4) == 0;
    free(text);
    return is;
}

static void check_path(const struct bed *bed, uint32_t path, const char *outermost)
{
    const char *names[16];
    size_t n = as_comm_frames(&bed->result, path, names, 16), at = 0;
    assert_in_range(n, 3, 16);
    assert_string_equal(names[0], "hit");
    assert_string_equal(names[1], "play");
    while (at < n && strcmp(names[at], outermost) != 0)
        at++;
    assert_in_range(at, 2, n - 1);
}

static void check_side(const struct bed *bed, const struct as_contact_side *side)
{
    struct as_comm_location place;
    assert_int_equal(side->offset, BALL_OFFSET);
    assert_int_equal(side->size, 8);
    assert_int_equal(side->process, 0);
    assert_true(as_comm_locate(&bed->result, side->process, side->insn, &place));
    assert_string_equal(place.location.function, "hit");
}

/* The thread that has the turn loads the ball from the other one: each time but the first, where all of that is seen. */
static void the_ball(void **state)
{
    struct as_comm_options options = {.machine = AS_MODELLED_OPTIONS_DEFAULT, .no_estimate = true};
    struct bed bed;
    uint64_t moved = 0;
    open_bed(&bed, &options);
    const struct as_comm_result *result = &bed.result;
    assert_string_equal(result->source, "model");
    assert_int_equal(result->n_threads, 2);
    assert_null(result->estimate);
    for (size_t i = 0; i < result->contacts->list.len; i++) {
        const struct as_contact *contact = &result->contacts->list.data[i];
        if (!is_ball(&bed, contact))
            continue;
        bool to_main = contact->to_threads == 1; /* the first row */
        moved += contact->count;
        assert_false(contact->is_false);
        assert_int_equal(contact->remote, 0);
        check_side(&bed, &contact->from);
        check_side(&bed, &contact->to);
        check_path(&bed, contact->to.path, to_main ? "main" : "other");
        check_path(&bed, contact->from.path, to_main ? "other" : "main");
    }
    assert_in_range(moved, 1, 2 * ROUNDS - 1); /* a busy machine may let fewer be seen, never more */
    assert_true(as_pair_matrix_pair(result->exact, 0, 1).true_ >= moved);
    assert_true(as_comm_run_memory(bed.run) > 0 && as_comm_run_coherent(bed.run).last_writer >= moved);
    assert_int_equal(as_comm_run_instructions(bed.run), bed.ended.executed);
    close_bed(&bed);
}

/* Where each thread's stack is, what it mostly did, and its core. */
static void threads(void **state)
{
    struct as_comm_options options = {.machine = AS_MODELLED_OPTIONS_DEFAULT, .no_estimate = true};
    struct bed bed;
    open_bed(&bed, &options);
    const struct as_comm_thread *main_ = &bed.result.threads[0], *other = &bed.result.threads[1];
    assert_true(main_->process == 1 && other->process == 1 && main_->core == 0 && other->core == 1);
    assert_true(main_->pid == other->pid && main_->tid != other->tid && main_->number != other->number);
    assert_true(main_->stack_start < main_->stack_end && other->stack_start < other->stack_end);
    assert_true(main_->stack_end <= other->stack_start || other->stack_end <= main_->stack_start);
    assert_true(main_->paths[0] && main_->paths[1] && main_->paths[2] && main_->paths[3]);
    close_bed(&bed);
}

/* With every access sampled and nothing exact, the contacts are those of the estimate; with two sockets of one core, all are remote where
 * they are exact. */
static void estimates(void **state)
{
    struct as_comm_options options = {
        .machine = AS_MODELLED_OPTIONS_DEFAULT, .detect = AS_DETECT_OPTIONS_DEFAULT, .no_exact = true};
    struct bed bed;
    uint64_t moved = 0;
    options.machine.load_period = options.machine.store_period = 2;
    open_bed(&bed, &options);
    const struct as_contacts *contacts = bed.result.contacts;
    assert_null(bed.result.exact);
    for (size_t i = 0; i < contacts->list.len; i++) {
        assert_int_equal(contacts->list.data[i].from.process, 0);
        if (!is_ball(&bed, &contacts->list.data[i]))
            continue;
        check_side(&bed, &contacts->list.data[i].to);
        moved += contacts->list.data[i].count;
    }
    assert_true(as_pair_sum(as_pair_matrix_pair(bed.result.estimate, 0, 1)) >= moved);
    assert_true(bed.result.detect.published > 0 && as_comm_run_cost(bed.run).samples > 0);
    assert_int_equal(as_comm_run_memory(bed.run), 0);
    close_bed(&bed);
}

static void nodes(void **state)
{
    struct as_comm_options options = {.machine = AS_MODELLED_OPTIONS_DEFAULT, .no_estimate = true, .no_paths = true};
    struct bed bed;
    options.machine.cores = options.machine.sockets = 2;
    assert_int_equal(as_comm_node(&options, 0), 0);
    assert_int_equal(as_comm_node(&options, 1), 1);
    open_bed(&bed, &options);
    for (size_t i = 0; i < bed.result.contacts->list.len; i++) {
        const struct as_contact *contact = &bed.result.contacts->list.data[i];
        assert_int_equal(contact->remote, contact->count);
        assert_true(contact->from.path == 0 && contact->to.path == 0);
    }
    close_bed(&bed);
    options.machine.cores = 8;
    assert_int_equal(as_comm_node(&options, 3), 0);
    assert_int_equal(as_comm_node(&options, 4), 1);
    options.machine.sockets = 1;
    assert_int_equal(as_comm_node(&options, 7), 0);
}

int main(int argc, char **argv)
{
    arguments = argv;
    plugin = realpath(argv[2], NULL); /* QEMU wants a path, not a name */
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_ball), cmocka_unit_test(threads),
                                       cmocka_unit_test(estimates), cmocka_unit_test(nodes)};
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(plugin);
    return failed;
}
