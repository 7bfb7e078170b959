/* The time of threads between the regions of a sampled run (model_time.c).
 *
 * usage: test_model_time MACHINE */
#include "model/model_inside.h"

#include "unit.h"

static char *machine_path;
static const struct as_image image = {.number = 1, .arch = AS_ARCH_X86_64};

struct bed {
    struct as_machine machine;
    struct as_model *model;
    struct as_thread threads[3];
};

static struct model_thread *start(struct bed *bed, uint32_t number)
{
    struct as_thread *thread = &bed->threads[number - 1];
    *thread = (struct as_thread){.number = number, .process = number, .image = &image};
    as_model_thread_start(bed->model, thread);
    return thread->user;
}

static void let_pass(struct bed *bed, struct model_thread *own, uint64_t instructions)
{
    static const struct as_block block = {.n = 1};
    as_model_let_pass(bed->model, own, &block, 0, 1, instructions);
    as_model_warm_end(bed->model);
}

static struct bed set_up(void)
{
    struct bed bed = {0};
    struct as_error err = AS_ERROR_INIT;
    if (!as_machine_load(machine_path, &bed.machine, &err))
        fail_msg("%s", err.message);
    return bed;
}

/* A shell waits for a command, which starts another one: that starts when the command does so, not when the shell began to wait. What
 * the shell executed before it waited is told afterwards. */
static void test_counted_before_waiting(void **state)
{
    struct bed bed = set_up();
    bed.model = as_model_new(&bed.machine);
    struct model_thread *shell = start(&bed, 1), *command = start(&bed, 2);
    as_model_stop(bed.model, shell);
    assert_true(shell->seat.waits);
    let_pass(&bed, shell, 1000);
    assert_false(shell->runs);
    let_pass(&bed, command, 1000000);
    uint64_t now = as_core_time(command->seat.core);
    assert_true(now > as_core_time(shell->seat.core));
    assert_true(as_core_time(start(&bed, 3)->seat.core) >= now);
    as_model_catch_up(bed.model, shell); /* the command has ended, perhaps */
    assert_true(shell->runs && !shell->seat.waits);
    assert_true(as_core_time(shell->seat.core) >= now);
    as_model_free(bed.model);
}

static double by_part(void *context, const struct as_block *block, uint32_t first, uint32_t end)
{
    return *(const double *)context * (end - first) + first;
}

/* Where costs are given, time goes on by them. */
static void test_given_pace(void **state)
{
    struct bed bed = set_up();
    double each = 2.5;
    const struct as_block block = {.n = 8};
    bed.model = as_model_new(&bed.machine);
    struct model_thread *first = start(&bed, 1), *second = start(&bed, 2);
    as_model_set_pace(bed.model, by_part, &each);
    as_model_let_pass(bed.model, first, &block, 4, 8, 100);
    as_model_let_pass(bed.model, second, &block, 0, 2, 100);
    as_model_warm_end(bed.model);
    assert_int_equal(as_core_time(first->seat.core) - as_core_time(second->seat.core),
                     100 * (4 * 2.5 + 4) - 100 * 2 * 2.5);
    as_model_free(bed.model);
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    machine_path = argv[1];
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_counted_before_waiting),
                                       cmocka_unit_test(test_given_pace)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
