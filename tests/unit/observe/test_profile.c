/* Profiles, cycle stacks and classes. */
#include "unit.h"

#include "observe/profile.h"
#include "observe/stacks.h"

#include <math.h>

static void add_up(void **state)
{
    struct as_profile profile = {0};
    as_profile_add(&profile, 7, 10);
    as_profile_add(&profile, 0, 1);
    as_profile_add(&profile, 7, 5);
    assert_int_equal(as_profile_get(&profile, 7), 15);
    assert_int_equal(as_profile_get(&profile, 0), 1);
    assert_int_equal(as_profile_get(&profile, 3), 0);
    assert_int_equal(as_profile_get(&profile, 4000000000u), 0);
    assert_int_equal(profile.total, 16);
    as_profile_free(&profile);
}

static void charge_shares(void **state)
{
    struct as_profile profile = {0};
    const struct as_attribution three = {.state = AS_STATE_COMPUTING, .n = 3, .ids = {4, 5, 4}};
    as_profile_charge(&profile, &three, 100);
    assert_int_equal(as_profile_get(&profile, 4), 200 * AS_CYCLE_UNITS / 3);
    assert_int_equal(as_profile_get(&profile, 5), 100 * AS_CYCLE_UNITS / 3);
    assert_int_equal(profile.states[AS_STATE_COMPUTING], 100 * AS_CYCLE_UNITS);
    as_profile_free(&profile);
}

/* Ids without a group, and groups beyond the count, are one group. */
static void unknown_group(void **state)
{
    const uint32_t of[] = {0, 9};
    const struct as_grouping odd = {.of = of, .n = 2, .count = 1};
    struct as_profile profile = {0};
    as_profile_add(&profile, 0, 1);
    as_profile_add(&profile, 1, 2);
    as_profile_add(&profile, 50, 4);
    uint64_t *sums = as_profile_group(&profile, &odd);
    assert_int_equal(sums[0], 1);
    assert_int_equal(sums[1], 6);
    free(sums);
    as_profile_free(&profile);
}

/* ---- stacks ---- */

static const struct as_insn insns[] = {
    {.class_ = AS_CLASS_INT},
    {.class_ = AS_CLASS_LOAD, .flags = AS_INSN_LOAD},
    {.class_ = AS_CLASS_STORE, .flags = AS_INSN_STORE},
    {.class_ = AS_CLASS_INT, .flags = AS_INSN_LOAD | AS_INSN_STORE}, /* add to memory: waits for the load */
    {.class_ = AS_CLASS_RETURN, .flags = AS_INSN_LOAD},
    {.class_ = AS_CLASS_CALL, .flags = AS_INSN_STORE},
};

/* The same instructions are no confusion, whatever lies behind those that count. */
static void same_instructions(void **state)
{
    struct as_confusion confusion = {0};
    struct as_attribution said = {.n = 1, .ids = {3, 8}}, truth = {.n = 1, .ids = {3, 9}};
    as_confusion_add(&confusion, &said, &truth, 7);
    assert_int_equal(confusion.same, 7 * AS_CYCLE_UNITS);
    truth.ids[0] = 4;
    as_confusion_add(&confusion, &said, &truth, 5);
    assert_int_equal(confusion.same, 7 * AS_CYCLE_UNITS);
    assert_int_equal(confusion.total, 12 * AS_CYCLE_UNITS);
    as_confusion_free(&confusion);
}

static void kinds_of_stalls(void **state)
{
    static const enum as_stack_part want[] = {AS_STACK_ALU_STALL,  AS_STACK_LOAD_STALL, AS_STACK_STORE_STALL,
                                              AS_STACK_LOAD_STALL, AS_STACK_LOAD_STALL, AS_STACK_ALU_STALL};
    for (size_t i = 0; i < sizeof insns / sizeof *insns; i++)
        assert_int_equal(as_stack_stall_of(&insns[i]), want[i]);
    assert_int_equal(as_stack_stall_of(NULL), AS_STACK_ALU_STALL);
}

static const struct as_insn *insn_at(void *context, uint32_t id)
{
    return id < sizeof insns / sizeof *insns ? &insns[id] : NULL;
}

static void stack_of_a_run(void **state)
{
    const struct as_pipe pipes[] = {
        {.insn = 0, .dispatch = 3, .commit = 5},                                 /* 2 drained, 2 stalled, 1 */
        {.insn = 1, .dispatch = 3, .commit = 10},                                /* 4 stalled, 1 */
        {.insn = 2, .dispatch = 3, .commit = 12, .flags = AS_PIPE_MISPREDICTED}, /* 1 stalled, 1 */
        {.insn = 4, .dispatch = 17, .commit = 18, .flags = AS_PIPE_FLUSHES},     /* 4 mispredict, 1 stalled, 1 */
        {.insn = 0, .dispatch = 27, .commit = 30, .flags = AS_PIPE_EXCEPTION, .exception = 5}, /* 3 + 5 misc, 3, 1 */
    };
    const struct as_run_info run = {.size = sizeof run, .commit_width = 2, .insn = insn_at};
    struct as_error err = AS_ERROR_INIT;
    struct as_oracle *oracle = as_oracle_new(&run, &err);
    const struct as_pipe_batch batch = {.size = sizeof batch, .n = 5, .pipes = pipes};
    as_oracle_observer.batch(oracle, &batch);
    as_oracle_observer.finish(oracle, NULL);
    struct as_stack stack = as_stack_of(oracle, &run);
    static const uint64_t want[AS_STACK_COUNT] = {
        [AS_STACK_EXECUTION] = 5, [AS_STACK_ALU_STALL] = 5,  [AS_STACK_LOAD_STALL] = 5, [AS_STACK_STORE_STALL] = 1,
        [AS_STACK_FRONT_END] = 2, [AS_STACK_MISPREDICT] = 4, [AS_STACK_MISC_FLUSH] = 8,
    };
    for (int part = 0; part < AS_STACK_COUNT; part++)
        assert_int_equal(stack.units[part], want[part] * AS_CYCLE_UNITS);
    assert_int_equal(as_stack_total(&stack), 30 * AS_CYCLE_UNITS);
    assert_int_equal(as_stack_intensity(&stack), AS_INTENSITY_FLUSH);
    as_oracle_free(oracle);
}

static void classes(void **state)
{
    struct as_stack stack = {.units = {[AS_STACK_EXECUTION] = 51, [AS_STACK_MISPREDICT] = 49}};
    assert_int_equal(as_stack_intensity(&stack), AS_INTENSITY_COMPUTE);
    stack =
        (struct as_stack){.units = {[AS_STACK_EXECUTION] = 50, [AS_STACK_LOAD_STALL] = 47, [AS_STACK_MISPREDICT] = 3}};
    assert_int_equal(as_stack_intensity(&stack), AS_INTENSITY_STALL);
    stack = (struct as_stack){.units = {[AS_STACK_EXECUTION] = 50,
                                        [AS_STACK_LOAD_STALL] = 46,
                                        [AS_STACK_MISPREDICT] = 3,
                                        [AS_STACK_MISC_FLUSH] = 1}};
    assert_int_equal(as_stack_intensity(&stack), AS_INTENSITY_FLUSH);
    assert_string_equal(as_intensity_name(AS_INTENSITY_FLUSH), "flush");
    assert_string_equal(as_stack_part_name(AS_STACK_MISC_FLUSH), "misc_flush");
    assert_string_equal(as_state_name(AS_STATE_DRAINED), "drained");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(add_up),
        cmocka_unit_test(charge_shares),
        cmocka_unit_test(unknown_group),
        cmocka_unit_test(kinds_of_stalls),
        cmocka_unit_test(stack_of_a_run),
        cmocka_unit_test(classes),
        cmocka_unit_test(same_instructions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
