/* What assay compare says of events, as text and JSON, against tests/golden/compare_events.txt: cycle stacks and stalls made by hand. */
#include "unit.h"

#include "cmd/compare_events.h"
#include "unit_golden.h"

enum { INSNS = 9 };

static struct as_stall_lengths stalls;
static struct as_insn insns[INSNS];

const struct as_stall_lengths *as_oracle_unexplained(const struct as_oracle *oracle)
{
    return &stalls;
}

const struct as_engine *as_model_engine(const struct as_model *model)
{
    return NULL;
}

const struct as_insn *as_engine_insn(const struct as_engine *engine, uint32_t id)
{
    assert_true(id < INSNS);
    return &insns[id];
}

bool as_model_locate(const struct as_model *model, uint32_t id, struct as_location *location)
{
    *location = (struct as_location){.module = "/bin/prog", .function = id % 2 ? "odd" : NULL};
    return true;
}

/* Entries by instruction and events, as the Oracle sorts them; the time of each is `cycles`. */
static void add(struct as_compare *compare, uint32_t id, uint32_t events, uint64_t cycles, uint64_t count)
{
    *as_vec_push(&compare->golden) = (struct as_pics_entry){id, events, cycles * AS_CYCLE_UNITS, count};
    compare->truth.total += cycles * AS_CYCLE_UNITS;
}

/* A few instructions, of which the first meets many combinations of events: more than are listed. */
static void fill(struct as_compare *compare)
{
    for (uint32_t mask = 0; mask < 12; mask++)
        add(compare, 0,
            (mask & 1 ? as_events[0].bit : 0) | (mask & 2 ? as_events[1].bit : 0) | (mask & 4 ? as_events[2].bit : 0) |
                (mask & 8 ? as_events[4].bit : 0),
            100 - 5 * mask, 10 + mask);
    add(compare, 1, 0, 50, 5);
    add(compare, 1, as_events[0].bit, 700, 70);
    add(compare, 2, 0, 30, 30);
    compare->events = as_events[0].bit | as_events[1].bit | as_events[2].bit | as_events[4].bit | as_events[5].bit;
    for (uint32_t i = 0; i < INSNS; i++) {
        insns[i] =
            (struct as_insn){.id = i, .address = 0x1000 + i, .length = 1, .bytes = {0x90}, .arch = AS_ARCH_X86_64};
        as_stall_note(&stalls, i, 3 + i, 20);
        if (i < 7)
            as_stall_note(&stalls, i, 1000 + 10 * (i % 3), 1 + i % 2);
    }
}

static int by_key(const void *a, const void *b)
{
    const struct as_pics_entry *x = a, *y = b;
    return as_pics_key(x) < as_pics_key(y) ? -1 : as_pics_key(x) > as_pics_key(y);
}

static void test_events(void **state)
{
    struct as_compare compare = {0};
    FILE *out = unit_golden_begin();
    unit_golden_section(out, "nothing");
    as_compare_events_text(&compare, out);
    fill(&compare);
    qsort(compare.golden.data, compare.golden.len, sizeof *compare.golden.data, by_key);
    unit_golden_section(out, "text");
    as_compare_events_text(&compare, out);
    unit_golden_section(out, "JSON");
    struct as_json *json = as_json_new(out);
    as_json_object(json, NULL);
    as_compare_events_json(&compare, json);
    as_json_end(json);
    assert_true(as_json_finish(json));
    unit_golden_check(out, "compare_events.txt");
    as_pics_free(&compare.golden);
    as_stall_free(&stalls);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_events)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
