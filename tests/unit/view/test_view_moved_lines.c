/* Cache lines of a profile whose samples say where their data came from: each row of the profile has another number of
 * samples, so that one which is counted in another's place is seen. */
#include "view/moved_lines.h"

#include "unit.h"
#include "view_bed.h"

#define NONE AS_STORE_NONE

enum {
    L1 = 1 << 0,
    FILL_BUFFER = 1 << 1,
    L2 = 1 << 2,
    L3 = 1 << 3,
    RAM = 1 << 4,
    REMOTE = 1 << 5,
    FAR_NODE = 1 << 6,
    MODIFIED = 1 << 7,
    LOCKED = 1 << 8,
    L1_MISS = 1 << 9,
    MISSED = 1 << 10,
    LOAD = AS_STORE_LOAD,
    STORE = AS_STORE_STORE,
};
static const char *const names[] = {"L1",       "fill buffer", "L2",     "L3",      "RAM",   "remote",
                                    "far-node", "modified",    "locked", "L1-miss", "missed"};

/* Threads 1 and 2 of process 7, thread 3 of process 8; of "work" the second instruction has a line; of "prog" there is a
 * variable "table" of three lines; the heap has no module. */
static struct as_store_writer *begin(const char *path, const char *source)
{
    struct as_store_writer *writer = bed_writer(path);
    as_store_add_meta(writer, AS_META_SOURCE, source);
    for (uint32_t i = 1; i <= 3; i++)
        as_store_add_thread(writer, &(struct as_store_thread){i, i == 3 ? 8 : 7, NULL, 0, 0, 0});
    for (uint32_t i = 0; i < sizeof names / sizeof *names; i++)
        as_store_add_event(writer, &(struct as_store_event){i, names[i], NULL, NONE, NULL});
    as_store_add_module(writer, &(struct as_store_module){.path = "/bin/prog"});
    as_store_add_file(writer, "/src/work.c");
    as_store_add_function(writer, &(struct as_store_function){.name = "work", .file = NONE, .address = 16, .size = 64});
    for (uint32_t i = 0; i < 2; i++)
        as_store_add_instruction(
            writer, &(struct as_store_insn){.location = {16 + 4 * i, 0, 0, NONE, i ? 0 : NONE, i ? 77 : 0, NONE}});
    as_store_add_object(writer, &(struct as_store_object){0, "table", 0x1010, 192});
    as_store_add_object(writer, &(struct as_store_object){NONE, "[heap]", 0x9000, 0});
    return writer;
}

static uint32_t add_series(struct as_store_writer *writer, const char *name, uint64_t samples)
{
    return as_store_add_series(
        writer,
        &(struct as_store_series){.name = name, .unit = "accesses", .scale = 1, .precise = 2, .samples = samples});
}

static struct as_c2c read_lines(const char *path)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_c2c c2c = {0};
    if (!as_moved_lines_read(&c2c, path, &err))
        fail_msg("%s", err.message);
    return c2c;
}

static void check_count(const struct as_c2c_counts *counts, const char *name, uint64_t wanted)
{
    uint64_t value;
    const char *found;
    for (size_t i = 0; (found = as_c2c_count(counts, i, &value)); i++)
        if (strcmp(found, name) == 0 && value != wanted)
            fail_msg("%s: %llu and not %llu", name, (unsigned long long)value, (unsigned long long)wanted);
}

/* ---- where data came from ---- */

struct kind {
    uint32_t kind;
    uint64_t events;
    const char *counted; /* as this, beside loads or stores */
};
static const struct kind kinds[] = {
    {LOAD, MODIFIED | L3, "local_hitm"},
    {LOAD, MODIFIED | REMOTE, "remote_hitm"},
    {LOAD, REMOTE | L3, "local_peer"},
    {LOAD, REMOTE | FAR_NODE, "remote_peer"},
    {LOAD, RAM, "local_dram"},
    {LOAD, RAM | REMOTE | FAR_NODE, "remote_dram"},
    {LOAD, L3 | L2, "load_llc"},
    {LOAD, L2 | FILL_BUFFER, "load_l2"},
    {LOAD, FILL_BUFFER | L1, "load_fill_buffer"},
    {LOAD, L1 | LOCKED, "load_l1"},
    {LOAD, 0, NULL},
    {LOAD | STORE, L1 | L1_MISS, "load_l1"},
    {STORE, L1, "store_l1_hit"},
    {STORE, L1 | L1_MISS, "store_l1_miss"},
    {STORE, MISSED | LOCKED, "store_l1_miss"},
    {STORE, RAM, "store_no_level"},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* Row i has 2 to the i samples, so that each sum tells its parts. */
static uint64_t wanted_of(const char *name, bool modelled)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < KINDS; i++) {
        const char *counted = kinds[i].counted;
        if (modelled && counted && strcmp(counted, "store_l1_hit") == 0)
            counted = "store_no_level"; /* when it is sampled it has not been in the cache yet */
        bool counts = strcmp(name, "records") == 0 || (strcmp(name, "locks") == 0 && kinds[i].events & LOCKED) ||
                      (strcmp(name, "loads") == 0 && kinds[i].kind & LOAD) ||
                      (strcmp(name, "stores") == 0 && kinds[i].kind == STORE) ||
                      (counted && strcmp(name, counted) == 0);
        sum += counts ? UINT64_C(1) << i : 0;
    }
    return sum;
}

static void check_kinds(const char *path, const char *source, bool modelled)
{
    struct as_store_writer *writer = begin(path, source);
    uint64_t all = (UINT64_C(1) << KINDS) - 1;
    uint32_t series = add_series(writer, "loads", all + 100);
    for (uint32_t i = 0; i < KINDS; i++)
        as_store_add_access_component(writer,
                                      &(struct as_store_access_component){series, 0, 0, 0x1000 + 64 * i, kinds[i].kind,
                                                                          0, kinds[i].events, 1, UINT64_C(1) << i});
    bed_commit(writer);
    struct as_c2c c2c = read_lines(path);
    uint64_t value;
    const char *name;
    for (size_t i = 0; (name = as_c2c_count(&c2c.counts, i, &value)); i++)
        check_count(&c2c.counts, name, wanted_of(name, modelled));
    assert_int_equal(c2c.modelled, modelled);
    assert_int_equal(c2c.without_source, 100);
    assert_int_equal(c2c.lines.len, KINDS);
    as_c2c_free(&c2c);
}

static void sources_of_data(void **state)
{
    check_kinds("kinds.db", "pmu", false);
}

static void modelled_stores_have_no_level(void **state)
{
    check_kinds("modelled.db", "pmu:spe", true);
}

/* ---- lines ---- */

/* What is neither a load nor a store is counted, and has no line; an address of 0 is not known. */
static void write_lines(const char *path)
{
    struct as_store_writer *writer = begin(path, "pmu");
    uint32_t loads = add_series(writer, "mem", 40), latency = add_series(writer, "mem latency", 40);
    const struct as_store_access_component rows[] = {
        {loads, 0, 0, 0x1048, LOAD, 0, MODIFIED, 1, 5}, /* the second line of the table */
        {loads, 1, 1, 0x1048, STORE, 0, L1, 1, 7},
        {loads, 2, 0, 0x1048, LOAD, 0, L1, 1, 3}, /* of another process: another line */
        {loads, 0, 0, 0x9008, LOAD, 1, MODIFIED, 1, 9},
        {loads, 1, 0, 0x9008, LOAD, 1, L2, 1, 1},
        {loads, 0, 0, 0x5000, LOAD, NONE, L1, 1, 2},
        {loads, 0, 0, 0x1000, LOAD, 0, L1, 1, 1}, /* before the table begins: no offset is negative */
        {loads, 0, 0, 0, LOAD, NONE, L1, 1, 4},
        {loads, 0, 0, 0x7000, 0, NONE, L1, 1, 6},
        {latency, 0, 0, 0x9008, LOAD, 1, MODIFIED, 300, 3},
        {latency, 1, 0, 0x9008, LOAD, 1, L2, 40, 1},
        {latency, 1, 1, 0x1048, STORE, 0, L1, 80, 2},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        as_store_add_access_component(writer, &rows[i]);
    bed_commit(writer);
}

static const struct as_c2c_line *line_at(const struct as_c2c *c2c, uint32_t pid, uint64_t address)
{
    for (size_t i = 0; i < c2c->lines.len; i++)
        if (c2c->lines.data[i].pid == pid && c2c->lines.data[i].address == address)
            return &c2c->lines.data[i];
    fail_msg("no line %#llx", (unsigned long long)address);
    return NULL;
}

static void lines(void **state)
{
    write_lines("lines.db");
    struct as_c2c c2c = read_lines("lines.db");
    assert_int_equal(c2c.lines.len, 5);
    assert_true(c2c.lines.data[0].address == 0x9000 && c2c.lines.data[1].address == 0x1040); /* by what moved */
    assert_int_equal(c2c.counts.records, 38);
    assert_int_equal(c2c.counts.unparsed, 6);
    assert_int_equal(c2c.without_source, 2); /* a measure of the same samples is not counted again */
    const struct as_c2c_line *line = line_at(&c2c, 7, 0x1040);
    assert_int_equal(line->counts.records, 12);
    assert_string_equal(line->object, "table+0x30");
    assert_string_equal(line_at(&c2c, 8, 0x1040)->object, "table+0x30");
    assert_int_equal(line_at(&c2c, 8, 0x1040)->counts.records, 3);
    assert_string_equal(line_at(&c2c, 7, 0x9000)->object, "[heap]");
    assert_string_equal(line_at(&c2c, 7, 0x5000)->object, "[unknown]");
    assert_string_equal(line_at(&c2c, 7, 0x1000)->object, "table");
    as_c2c_free(&c2c);
}

static void code_and_latencies(void **state)
{
    write_lines("code.db");
    struct as_c2c c2c = read_lines("code.db");
    const struct as_c2c_line *table = line_at(&c2c, 7, 0x1040), *heap = line_at(&c2c, 7, 0x9000);
    assert_int_equal(table->accesses.len, 2);
    const struct as_c2c_access *load = &table->accesses.data[0], *store = &table->accesses.data[1];
    assert_string_equal(load->code, "work+0x0");
    assert_string_equal(store->code, "work at work.c:77");
    assert_string_equal(store->module, "prog");
    assert_true(load->ip == 16 && store->ip == 20 && load->offset == 8);
    assert_true(store->threads.len == 1 && store->threads.data[0] == 2);
    assert_true(store->latency == 0 && store->weighed == 0); /* of loads alone */
    assert_int_equal(heap->accesses.len, 1);
    assert_int_equal(heap->accesses.data[0].latency, 340);
    assert_int_equal(heap->accesses.data[0].weighed, 4);
    assert_int_equal(heap->accesses.data[0].threads.len, 2);
    as_c2c_free(&c2c);
}

static void nothing_to_show(void **state)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_c2c c2c = {0};
    struct as_store_writer *writer = begin("none.db", "pmu");
    add_series(writer, "mem", 3);
    bed_commit(writer);
    assert_false(as_moved_lines_read(&c2c, "none.db", &err));
    assert_non_null(strstr(err.message, "where its data came from"));
    assert_false(as_moved_lines_read(&c2c, "missing.db", &err));
}

static int set_up(void **state)
{
    view_bed_enter();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sources_of_data), cmocka_unit_test(modelled_stores_have_no_level),
        cmocka_unit_test(lines),           cmocka_unit_test(code_and_latencies),
        cmocka_unit_test(nothing_to_show),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
