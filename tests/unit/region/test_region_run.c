/* The state machine of regions, fed with counts and landmarks; what it says of each instruction as a letter: '.' is
 * counted, w warms, s settles, and a digit is measured in the region of that number. */
#include "region/region_run.h"

#include "base/str.h"
#include "unit.h"

enum { F, G }; /* landmarks of the programs below */

static struct as_regions list;
static uint32_t threads;

static int set_up(void **state)
{
    list = (struct as_regions){0};
    threads = 1;
    assert_int_equal(as_regions_symbol(&list, "f").landmark, F);
    assert_int_equal(as_regions_symbol(&list, "g").landmark, G);
    assert_int_equal(as_regions_symbol(&list, "f").landmark, F);
    return 0;
}

static int tear_down(void **state)
{
    as_regions_free(&list);
    return 0;
}

static struct as_region *add(void)
{
    return as_regions_add(&list);
}

static struct as_point at_instruction(uint64_t number)
{
    return (struct as_point){.kind = AS_POINT_INSTRUCTION, .number = number};
}

static struct as_point at_landmark(uint32_t landmark, uint64_t times)
{
    return (struct as_point){.kind = AS_POINT_LANDMARK, .landmark = landmark, .number = times};
}

static char letter(const struct as_region_run *run)
{
    if (run->stretch.region != AS_REGION_NONE)
        return (char)((run->stretch.mode == AS_MODE_DETAIL ? '1' : 'a') + (int)run->stretch.region);
    return ".ws!"[run->stretch.mode];
}

/* Executes a program, one character an instruction: f and g are landmarks, h is the head of a loop. */
static char *execute(struct as_region_run *run, const char *program)
{
    struct as_str seen = {0};
    as_str_add(&seen, "");
    for (const char *insn = program; *insn; insn++) {
        as_region_run_cross(run);
        if (!run->over && (*insn == 'f' || *insn == 'g'))
            as_region_run_pass(run, *insn == 'f' ? F : G);
        if (*insn == 'h')
            as_region_run_head(run);
        as_region_run_cross(run);
        if (run->over)
            break;
        assert_true(run->left > 0);
        as_str_add(&seen, (const char[]){letter(run), 0});
        as_region_run_count(run, 1);
    }
    return as_str_take(&seen);
}

static void expect(const char *program, const char *want)
{
    struct as_region_run run;
    as_region_run_init(&run, &list);
    run.threads = threads;
    char *seen = execute(&run, program);
    assert_string_equal(seen, want);
    for (uint32_t i = 0; i < list.list.len; i++) { /* what it counted is what it said */
        uint64_t n = 0;
        for (const char *at = seen; *at; at++)
            n += *at == (char)('1' + (int)i) || *at == (char)('a' + (int)i);
        assert_int_equal(as_region_run_outcome(&run, i).instructions, n);
    }
    assert_int_equal(run.count, strlen(seen));
    free(seen);
    as_region_run_free(&run);
}

static void test_all(void **state)
{
    expect("----", "1111");
    struct as_region_run run;
    as_region_run_init(&run, NULL);
    assert_false(as_region_run_reached(&run));
    as_region_run_count(&run, 5);
    assert_true(as_region_run_reached(&run));
    assert_int_equal(run.stretch.mode, AS_MODE_DETAIL);
    assert_int_equal(as_region_run_outcome(&run, 0).instructions, 5);
    as_region_run_free(&run);
}

static void test_counts(void **state)
{
    struct as_region *region = add();
    region->offset = 2;
    region->max = 3;
    expect("--------", "..111");
    region->start = at_instruction(1);
    expect("--------", "...111");
    region->stop = at_instruction(5);
    expect("--------", "...11");
    region->stop = at_instruction(1); /* before it starts: nothing is in it */
    expect("--------", "...");
}

/* With to_the_end what is behind the last region is counted, and nothing starts again. */
static void test_the_rest(void **state)
{
    struct as_region *region = add();
    region->max = 3;
    list.to_the_end = true;
    expect("--------", "111.....");
    region->start = at_landmark(F, 0);
    expect("-f---f-f", ".111....");
    region->max = AS_REGION_ALL;
    region->stop = at_landmark(G, 0);
    expect("-f-g-f-g", ".11.....");
    list.to_the_end = false;
    expect("-f-g-f-g", ".11");
}

/* With several threads a region waits for the head of a loop, but not for longer than half its length; and it is as many times as
 * long as there are threads, up to a limit, as is what settles before it, and five times more. */
static void test_heads(void **state)
{
    struct as_region *region = add();
    region->start = at_instruction(2);
    region->settle = 1;
    region->max = 4;
    region->heads = true;
    expect("-h-h-----h--", ".s1111");
    threads = 2;
    expect("-h-h------------", ".ss1111111111");
    expect("-h-h--------h---", ".ss111111111");
    region->settle = 0;
    region->max = 2;
    threads = 4;
    expect("--h-------h-----", "..11111111");
    threads = 5;
    expect("--h-------h-----", "..11111111");
    region = add();
    region->start = at_instruction(24);
    region->settle = 1;
    region->max = 1;
    region->heads = true;
    threads = 2;
    expect("--h---h---------------------", "..1111........ssssssssss22");
    threads = 1; /* alone it does not fall out of step */
    expect("--h---h---------------------", "..11...................s2");
}

static void test_landmarks(void **state)
{
    struct as_region *region = add();
    region->start = at_landmark(F, 0);
    region->stop = at_landmark(G, 0);
    expect("-g-f-g-f", "...11");
    region->offset = 3; /* g is passed before the region begins */
    expect("-f-g--g-", "....11");
    region->offset = 0;
    region->stop = at_landmark(F, 0); /* what begins a region does not end it */
    expect("-f---f-f", ".1111");
}

static void test_nth_time(void **state)
{
    struct as_region *region = add();
    region->start = at_landmark(F, 3);
    region->stop = at_landmark(F, 5);
    expect("f-f-f-f-f-f", "....1111");
    region->start = at_landmark(G, 1);
    expect("f-f-f-f-gf-f", "........1");
    expect("f-f-f-f-f-gf", "..........11"); /* the fifth time was before: it goes on to the end */
}

static void test_adjacent(void **state)
{
    *add() = (struct as_region){.max = 2, .weight = 1, .mode = AS_MODE_DETAIL};
    for (int i = 1; i < 3; i++) {
        struct as_region *region = add();
        region->start = at_instruction((uint64_t)(2 * i));
        region->max = 2;
    }
    expect("--------", "112233");
    as_vec_clear(&list.list);
    for (uint64_t i = 1; i < 4; i++) {
        struct as_region *region = add();
        region->start = at_landmark(F, i);
        region->stop = at_landmark(F, i + 1);
    }
    expect("-f-f--f-f-", ".1122233");
}

static void test_warm_and_settle(void **state)
{
    struct as_region *first = add();
    first->start = at_instruction(6);
    first->max = 2;
    first->warm = 3;
    first->settle = 1;
    struct as_region *second = add();
    second->start = at_instruction(12);
    second->max = 1;
    second->warm = AS_REGION_ALL;
    expect("--------------------", "..wwws11wwww2");
    list.list.data[1].start = at_instruction(9); /* there is room for one */
    list.list.data[1].warm = 5;
    expect("--------------------", "..wwws11w2");
    list.list.data[0].settle = 100;
    expect("--------------------", "ssssss11w2");
}

static void test_warm_before_a_landmark(void **state)
{
    struct as_region *region = add();
    region->start = at_landmark(F, 0);
    region->warm = AS_REGION_ALL;
    region->max = 2;
    expect("---f----", "www11");
    region->warm = 2; /* how far away it is, is known behind the landmark only */
    region->offset = 4;
    expect("---f--------", ".....ww11");
    region->warm = AS_REGION_ALL;
    expect("---f--------", "wwwwwww11");
}

static void test_modes_of_regions(void **state)
{
    struct as_region *region = add();
    region->max = 2;
    region->mode = AS_MODE_WARM;
    region = add();
    region->start = at_instruction(2);
    region->max = 1;
    expect("------", "aa2");
}

static void test_missed(void **state)
{
    struct as_region *region = add();
    region->start = at_landmark(F, 0);
    region->max = 4;
    region = add();
    region->start = at_instruction(3);
    region->max = 1;
    region = add();
    region->start = at_landmark(F, 2);
    region->max = 1;
    region = add();
    region->start = at_instruction(9);
    region->max = 1;
    expect("-f-f--------", ".1111....4");
    struct as_region_run run;
    as_region_run_init(&run, &list);
    free(execute(&run, "-f-f----------"));
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(as_region_run_outcome(&run, i).missed, i == 1 || i == 2);
    as_region_run_free(&run);
}

static uint32_t changes;

static void on_change(void *context)
{
    changes++;
}

/* Without a point that recurs, a region of so many instructions repeats at once: each piece is announced. */
static void test_pieces(void **state)
{
    struct as_region *region = add();
    struct as_region_run run;
    region->max = 3;
    region->repeat = true;
    as_region_run_init(&run, &list);
    run.on_change = on_change;
    changes = 0;
    char *seen = execute(&run, "..........");
    assert_string_equal(seen, "1111111111");
    assert_int_equal(changes, 3);
    assert_false(run.over);
    assert_int_equal(as_region_run_outcome(&run, 0).times, 4);
    assert_int_equal(as_region_run_outcome(&run, 0).instructions, 10);
    free(seen);
    as_region_run_free(&run);
}

/* Behind the last region the rest is counted: whatever is asked or happens there, nothing begins. */
static void test_behind_the_last(void **state)
{
    struct as_region *region = add();
    struct as_region_run run;
    region->max = 3;
    list.to_the_end = true;
    as_region_run_init(&run, &list);
    free(execute(&run, "...."));
    assert_false(run.over);
    assert_int_equal(run.stretch.region, AS_REGION_NONE);
    assert_int_equal(run.at, 0); /* of the list's own */
    as_region_run_signal(&run);
    as_region_run_time(&run, 1000);
    as_region_run_clock(&run, 1000);
    as_region_run_pass(&run, 0);
    assert_false(as_region_run_is_due(&run, 1000));
    assert_int_equal(as_region_run_passes_left(&run), 0);
    assert_int_equal(as_region_run_lead(&run), 0);
    assert_int_equal(as_region_run_to_end(&run), UINT64_MAX);
    assert_int_equal(as_region_run_outcome(&run, 0).times, 1);
    assert_int_equal(as_region_run_outcome(&run, 0).instructions, 3);
    list.to_the_end = false;
    as_region_run_free(&run);
}

static void test_repeat(void **state)
{
    struct as_region *region = add();
    region->start = at_landmark(F, 0);
    region->stop = at_landmark(G, 0);
    region->repeat = true;
    expect("-f-g-f-g-f", ".11..11..1");
    struct as_region_run run;
    as_region_run_init(&run, &list);
    free(execute(&run, "-f-g-f-g-f"));
    assert_int_equal(as_region_run_outcome(&run, 0).times, 3);
    assert_false(run.over);
    as_region_run_free(&run);
    region->stop = at_landmark(F, 0);
    expect("-f--f-f-", ".1111111");
}

/* What became of each region: whether it stopped before the program did, and whether its start had passed already. */
static void test_outcomes(void **state)
{
    add()->max = 2;
    struct as_region *region = add();
    region->start = at_landmark(F, 0);
    region->stop = at_landmark(G, 0);
    add()->start = at_instruction(1);
    region = add();
    region->start = at_landmark(F, 0);
    region->stop = at_landmark(G, 0);
    struct as_region_run run;
    as_region_run_init(&run, &list);
    char *seen = execute(&run, "--f-g--f--");
    assert_string_equal(seen, "1122...444");
    static const struct as_region_outcome wanted[] = {
        {2, 1, .stopped = true}, {2, 1, .stopped = true}, {0, 0, .missed = true}, {3, 1, .stopped = false}};
    for (uint32_t i = 0; i < 4; i++) {
        struct as_region_outcome outcome = as_region_run_outcome(&run, i);
        assert_int_equal(outcome.instructions, wanted[i].instructions);
        assert_int_equal(outcome.times, wanted[i].times);
        assert_int_equal(outcome.stopped, wanted[i].stopped);
        assert_int_equal(outcome.missed, wanted[i].missed);
    }
    free(seen);
    as_region_run_free(&run);
}

/* Signals and times come between instructions. */
static void test_from_outside(void **state)
{
    struct as_region_run run;
    struct as_region *region = add();
    region->start.kind = region->stop.kind = AS_POINT_SIGNAL;
    region->repeat = true;
    as_region_run_init(&run, &list);
    char seen[8] = "";
    for (size_t i = 0; i < 7; i++) {
        assert_int_equal(run.awaits, AS_POINT_SIGNAL);
        as_region_run_time(&run, 1000);
        as_region_run_clock(&run, 1000);
        if (i == 1 || i == 3 || i == 6)
            as_region_run_signal(&run);
        seen[i] = letter(&run);
        as_region_run_count(&run, 1);
    }
    assert_string_equal(seen, ".11...1");
    as_region_run_free(&run);

    region->repeat = false;
    region->start = (struct as_point){.kind = AS_POINT_DELAY, .number = 100};
    region->stop = (struct as_point){.kind = AS_POINT_DELAY, .number = 200};
    as_region_run_init(&run, &list);
    as_region_run_time(&run, 99);
    assert_int_equal(letter(&run), '.');
    as_region_run_time(&run, 100);
    assert_int_equal(letter(&run), '1');
    as_region_run_signal(&run);
    assert_int_equal(letter(&run), '1');
    as_region_run_time(&run, 300);
    assert_true(run.over);
    as_region_run_free(&run);
}

/* Before a cycle there must be time. */
static void test_cycles(void **state)
{
    struct as_region_run run;
    struct as_region *region = add();
    region->start = (struct as_point){.kind = AS_POINT_CYCLE, .number = 10};
    region->stop = (struct as_point){.kind = AS_POINT_CYCLE, .number = 20};
    as_region_run_init(&run, &list);
    assert_int_equal(letter(&run), 's');
    as_region_run_clock(&run, 9);
    assert_int_equal(letter(&run), 's');
    as_region_run_clock(&run, 11);
    assert_int_equal(letter(&run), '1');
    as_region_run_clock(&run, 20);
    assert_true(run.over);
    as_region_run_free(&run);
}

/* Nothing comes before time 0. */
static void test_starts_at_zero(void **state)
{
    struct as_region_run run;
    struct as_region *region = add();
    region->stop = (struct as_point){.kind = AS_POINT_CYCLE, .number = 20};
    for (int kind = 0; kind < 2; kind++) {
        region->start = (struct as_point){.kind = kind ? AS_POINT_DELAY : AS_POINT_CYCLE};
        as_region_run_init(&run, &list);
        assert_int_equal(letter(&run), '1');
        as_region_run_clock(&run, 19);
        assert_int_equal(letter(&run), '1');
        as_region_run_clock(&run, 20);
        assert_true(run.over);
        as_region_run_free(&run);
    }
}

static unsigned changes;
static void note_change(void *context)
{
    changes += *(unsigned *)context;
}

/* Every stretch is announced, and none that is not one. */
static void test_changes(void **state)
{
    struct as_region_run run;
    unsigned one = 1;
    struct as_region *region = add();
    region->start = at_instruction(4);
    region->max = 2;
    region->warm = 2;
    as_region_run_init(&run, &list);
    run.on_change = note_change;
    run.context = &one;
    changes = 0;
    free(execute(&run, "-f-g--f-----"));
    assert_int_equal(changes, 3); /* warm, open, over */
    as_region_run_free(&run);
}

static void test_length(void **state)
{
    assert_int_equal(as_regions_length(NULL), 0);
    assert_int_equal(as_regions_length(&list), 0);
    struct as_region *region = add();
    region->max = 5;
    assert_int_equal(as_regions_length(&list), 5);
    region = add();
    assert_int_equal(as_regions_length(&list), 0);
    region->start = at_instruction(10);
    region->stop = at_instruction(13);
    assert_int_equal(as_regions_length(&list), 8);
    list.open_ended = true;
    assert_int_equal(as_regions_length(&list), 0);
    list.open_ended = false;
    region->max = 2;
    assert_int_equal(as_regions_length(&list), 7);
}

static void test_distance_to_the_end(void **state)
{
    struct as_region_run run;
    struct as_region *region = add();
    region->start = at_instruction(10);
    region->max = 5;
    region->warm = 4;
    as_region_run_init(&run, &list);
    assert_int_equal(as_region_run_to_end(&run), 15);
    as_region_run_count(&run, 6);
    as_region_run_cross(&run); /* warming */
    assert_int_equal(as_region_run_to_end(&run), 9);
    as_region_run_count(&run, 4);
    as_region_run_cross(&run);
    assert_int_equal(as_region_run_to_end(&run), 5);
    as_region_run_free(&run);
    region->start = at_landmark(F, 0);
    as_region_run_init(&run, &list);
    assert_true(as_region_run_to_end(&run) == UINT64_MAX);
    as_region_run_free(&run);
}

static void expect_prospect(const struct as_region_run *run, uint64_t count, uint64_t counted, uint64_t to_end)
{
    struct as_region_prospect prospect;
    assert_true(as_region_run_foresee(run, count, &prospect));
    assert_int_equal(prospect.counted, counted);
    assert_int_equal(prospect.to_end, to_end);
}

static void add_by_count(uint64_t start, uint64_t length)
{
    struct as_region *region = add();
    region->start = at_instruction(start);
    region->max = length;
    region->warm = 3;
    region->settle = 2;
    region->heads = true;
}

/* What comes at later counts, from the start and from within the first region: 20 to 30, then 32 to 42, then 42 to 52. */
static void test_foresee(void **state)
{
    struct as_region_run run;
    struct as_region_prospect prospect;
    add_by_count(20, 10);
    add_by_count(32, 10);
    add_by_count(36, 10);
    as_region_run_init(&run, &list);
    for (int inside = 0; inside < 2; inside++) {
        expect_prospect(&run, 4, 11, 26);
        expect_prospect(&run, 15, 0, 15);
        expect_prospect(&run, 29, 0, 1);
        expect_prospect(&run, 30, 0, 12); /* behind the region, and so near the next one that it warms */
        expect_prospect(&run, 42, 0, 10); /* it would have begun before */
        assert_false(as_region_run_foresee(&run, 52, &prospect));
        while (run.count < 25) {
            as_region_run_cross(&run);
            as_region_run_count(&run, 1);
        }
    }
    as_region_run_free(&run);
}

/* Not where something else than counts decides, or what comes is being found out. */
static void test_foresee_nothing(void **state)
{
    struct as_region_run run;
    struct as_region_prospect prospect;
    add_by_count(20, 10);
    add_by_count(50, 10);
    as_region_run_init(&run, &list);
    expect_prospect(&run, 35, 10, 25);
    list.undecided = true;
    assert_false(as_region_run_foresee(&run, 4, &prospect));
    list.undecided = false;
    list.list.data[1].start = at_landmark(F, 0);
    expect_prospect(&run, 4, 11, 26);
    assert_false(as_region_run_foresee(&run, 35, &prospect));
    as_region_run_free(&run);
}

/* Whether times are scaled at all. */
static void test_weighted(void **state)
{
    assert_false(as_regions_weighted(NULL));
    assert_false(as_regions_weighted(&list));
    add();
    add();
    assert_false(as_regions_weighted(&list));
    for (size_t i = 0; i < 2; i++) {
        list.list.data[i].weight = 0.5;
        assert_true(as_regions_weighted(&list));
        list.list.data[i].weight = 1;
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_all),
        TEST(test_counts),
        TEST(test_the_rest),
        TEST(test_heads),
        TEST(test_weighted),
        TEST(test_landmarks),
        TEST(test_nth_time),
        TEST(test_adjacent),
        TEST(test_warm_and_settle),
        TEST(test_warm_before_a_landmark),
        TEST(test_modes_of_regions),
        TEST(test_missed),
        TEST(test_pieces),
        TEST(test_behind_the_last),
        TEST(test_repeat),
        TEST(test_outcomes),
        TEST(test_from_outside),
        TEST(test_cycles),
        TEST(test_starts_at_zero),
        TEST(test_changes),
        TEST(test_length),
        TEST(test_distance_to_the_end),
        TEST(test_foresee),
        TEST(test_foresee_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
