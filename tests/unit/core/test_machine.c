/* Machine files: what ships loads and says what the papers say, each key is checked, each mistake is one clear line.
 * The argument is doc/format/machine.md, which must list every key as the table has it. */
#include "unit.h"

#include "core/machine_table.h"

#include <stdio.h>
#include <sys/stat.h>

static const char *doc_path;

static struct as_machine *load(const char *name)
{
    struct as_machine *machine = malloc(sizeof *machine);
    struct as_error err = AS_ERROR_INIT;
    if (!as_machine_load(name, machine, &err))
        fail_msg("%s", err.message);
    return machine;
}

/* The machine in the file's own format; the caller frees it. */
static char *print(const struct as_machine *machine)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    as_machine_print(machine, out);
    fclose(out);
    return text;
}

static void expect_error(const char *text, size_t size, const char *expected)
{
    struct as_machine machine;
    struct as_error err = AS_ERROR_INIT;
    assert_false(as_machine_parse(text, size, "test", &machine, &err));
    if (!strstr(err.message, expected))
        fail_msg("expected '%s', got '%s'", expected, err.message);
    assert_null(strchr(err.message, '\n'));
}

struct listing {
    int count;
    char last[64];
};

static void check_one(void *context, const char *name)
{
    struct listing *listing = context;
    struct as_machine *machine = load(name);
    assert_true(strcmp(listing->last, name) < 0); /* sorted, none twice */
    assert_string_equal(machine->name, name);
    assert_true(machine->description[0] && machine->source[0] && strstr(machine->path, name));
    snprintf(listing->last, sizeof listing->last, "%s", name);
    listing->count++;
    free(machine);
}

static void test_all_that_ship(void **state)
{
    (void)state;
    struct listing listing = {0};
    as_machine_list(check_one, &listing);
    assert_true(listing.count >= 4);
    static const char *const names[] = {"boom-tea", "boom-tip", "golden-cove-like", "skylake-like", "zen4-like"};
    for (int i = 0; i < 4; i++)
        free(load(names[i]));
}

static void test_paper_a(void **state)
{
    (void)state;
    struct as_machine *m = load("boom-tip");
    assert_true(m->frequency == 3.2e9);
    assert_int_equal(m->front.fetch_width, 8);
    assert_int_equal(m->front.fetch_buffer, 32);
    assert_int_equal(m->front.fetch_targets, 40);
    assert_int_equal(m->front.max_branches, 20);
    assert_int_equal(m->back.width, 4);
    assert_int_equal(m->back.rob, 128);
    assert_int_equal(m->back.int_registers, 128);
    assert_int_equal(m->back.queue_size[AS_QUEUE_MEM], 24);
    assert_int_equal(m->back.queue_width[AS_QUEUE_MEM], 2);
    assert_int_equal(m->back.queue_size[AS_QUEUE_INT], 40);
    assert_int_equal(m->back.queue_width[AS_QUEUE_INT], 4);
    assert_int_equal(m->back.queue_size[AS_QUEUE_FP], 32);
    assert_int_equal(m->back.load_queue, 32);
    assert_int_equal(m->memory.l1d.size, 32768);
    assert_int_equal(m->memory.l1d.mshrs, 8);
    assert_int_equal(m->memory.l2.size, 512 * 1024);
    assert_int_equal(m->memory.l2.mshrs, 12);
    assert_int_equal(m->memory.llc.size, 4 << 20);
    assert_int_equal(m->memory.llc.mshrs, 8);
    assert_int_equal(m->memory.l2tlb.entries, 512);
    assert_int_equal(m->memory.l2tlb.ways, 1);
    assert_true(m->dram.bandwidth == 25.6e9 && m->dram.cas_ns == 14);
    free(m);
}

static void test_paper_b(void **state)
{
    (void)state;
    struct as_machine *m = load("boom-tea");
    assert_int_equal(m->front.fetch_buffer, 48);
    assert_int_equal(m->front.fetch_targets, 60);
    assert_int_equal(m->front.max_branches, 30);
    assert_int_equal(m->back.rob, 192);
    assert_int_equal(m->back.queue_size[AS_QUEUE_MEM], 48);
    assert_int_equal(m->back.queue_size[AS_QUEUE_INT], 80);
    assert_int_equal(m->back.queue_size[AS_QUEUE_FP], 48);
    assert_int_equal(m->back.store_queue, 64);
    assert_int_equal(m->memory.l1d.mshrs, 16);
    assert_int_equal(m->memory.l2.size, 0);
    assert_int_equal(m->memory.llc.size, 2 << 20);
    assert_int_equal(m->memory.llc.ways, 16);
    assert_int_equal(m->memory.llc.banks, 2);
    assert_int_equal(m->memory.llc.mshrs, 12);
    assert_int_equal(m->memory.l2tlb.entries, 1024);
    assert_true(m->dram.bandwidth == 16e9);
    free(m);
}

static void test_round_trip(void **state)
{
    (void)state;
    static const char *const names[] = {"boom-tea", "boom-tip", "golden-cove-like", "skylake-like", "zen4-like"};
    for (int i = 0; i < 4; i++) {
        struct as_machine *machine = load(names[i]), *again = malloc(sizeof *again);
        struct as_error err = AS_ERROR_INIT;
        char *text = print(machine), *second;
        assert_true(as_machine_parse(text, strlen(text), "printed", again, &err));
        memset(machine->path, 0, sizeof machine->path);
        assert_memory_equal(machine, again, sizeof *machine);
        second = print(again);
        assert_string_equal(text, second);
        free(text);
        free(second);
        free(machine);
        free(again);
    }
}

/* Values whose text is not exact at the first digit. */
static void test_round_trip_of_numbers(void **state)
{
    (void)state;
    static const double rates[] = {25.6e9, 1e9 / 3, 1e6, 123456789.125, 9.87654321e12};
    struct as_machine *machine = load("boom-tip");
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        machine->dram.bandwidth = rates[i];
        machine->frequency = rates[i] / 100 + 1e6;
        machine->dram.cas_ns = rates[i] / 1e11;
        char *text = print(machine);
        struct as_machine *again = malloc(sizeof *again);
        struct as_error err = AS_ERROR_INIT;
        assert_true(as_machine_parse(text, strlen(text), "printed", again, &err));
        assert_true(again->dram.bandwidth == machine->dram.bandwidth && again->frequency == machine->frequency &&
                    again->dram.cas_ns == machine->dram.cas_ns);
        free(text);
        free(again);
    }
    free(machine);
}

/* boom-tip without the line of `key`; with `instead` at its place where that is not NULL. */
static char *without(const char *text, const char *key, const char *instead)
{
    char *copy = malloc(strlen(text) + 6000), *to = copy;
    size_t length = strlen(key);
    for (const char *line = text; *line;) {
        const char *end = strchr(line, '\n') + 1;
        bool found = strncmp(line, key, length) == 0 && line[length] == ' ';
        if (!found)
            to = mempcpy(to, line, (size_t)(end - line));
        else if (instead)
            to += sprintf(to, "%s\n", instead);
        line = end;
    }
    *to = '\0';
    return copy;
}

static void test_every_key(void **state)
{
    (void)state;
    struct as_machine *machine = load("boom-tip"), *parsed = malloc(sizeof *parsed);
    char *text = print(machine), expected[200], line[200];
    for (size_t i = 0; i < as_fields_count; i++) {
        const struct as_field *field = &as_fields[i];
        struct as_error err = AS_ERROR_INIT;
        char *less = without(text, field->key, NULL);
        bool read = as_machine_parse(less, strlen(less), "test", parsed, &err);
        snprintf(expected, sizeof expected, "test: no value for %s (", field->key);
        if (field->flags & AS_FIELD_REQUIRED)
            assert_true(!read && strstr(err.message, expected));
        free(less);
        snprintf(line, sizeof line, "%s =", field->key);
        less = without(text, field->key, line);
        if (field->kind != AS_FIELD_TEXT)
            expect_error(less, strlen(less), "not allowed; ");
        free(less);
        /* A key twice. */
        char value[1024], *twice = NULL;
        if (!*as_field_text(field, machine, value, sizeof value))
            continue;
        assert_true(asprintf(&twice, "%s%s = %s\n", text, field->key, value) > 0);
        snprintf(expected, sizeof expected, "'%s' was already given in line ", field->key);
        expect_error(twice, strlen(twice), expected);
        free(twice);
    }
    free(text);
    free(machine);
    free(parsed);
}

/* Both limits of each number: just inside is read, just outside is not, nor is anything that is no number. */
static void test_every_range(void **state)
{
    (void)state;
    static const char *const wrong[] = {"",    "x",     "-1", "1e3", "0x1.", " ",   "1 2", "99999999999999999999999",
                                        "nan", "1.5.2", "+4", "4x",  "inf",  "1;2", "４"};
    struct as_machine *machine = load("boom-tip"), scratch;
    for (size_t i = 0; i < as_fields_count; i++) {
        const struct as_field *field = &as_fields[i];
        if (field->kind == AS_FIELD_TEXT)
            continue;
        for (size_t j = 0; j < sizeof wrong / sizeof *wrong; j++)
            if (!(field->flags & AS_FIELD_TABLES && j == 6))
                assert_false(as_field_parse(field, &scratch, wrong[j]));
        if (field->kind != AS_FIELD_COUNT)
            continue;
        char value[64];
        snprintf(value, sizeof value, "%.0f", field->max + 1);
        assert_false(as_field_parse(field, &scratch, value));
        snprintf(value, sizeof value, "%.0f", field->max);
        if (!(field->flags & AS_FIELD_POWER2))
            assert_true(as_field_parse(field, &scratch, value));
        snprintf(value, sizeof value, "%.0f", field->min - 1);
        assert_false(as_field_parse(field, &scratch, value));
        snprintf(value, sizeof value, "%.0f", field->min);
        assert_true(as_field_parse(field, &scratch, value));
    }
    free(machine);
}

static void test_units(void **state)
{
    (void)state;
    struct as_machine *m = load("boom-tip");
    struct as_error err = AS_ERROR_INIT;
    static const char *const sizes[] = {"32K", "32KB", "32KiB", "32768", "32768B", "32 K", "0x8000", "0X8000"};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char assignment[64];
        snprintf(assignment, sizeof assignment, "memory.l1i.size=%s", sizes[i]);
        m->memory.l1i.size = 0;
        assert_true(as_field_parse(as_field_find("memory.l1i.size"), m, sizes[i]));
        assert_int_equal(m->memory.l1i.size, 32768);
    }
    assert_true(as_machine_set(m, "frequency=2800MHz", &err));
    assert_true(m->frequency == 2.8e9);
    assert_true(as_machine_set(m, "dram.bandwidth=800 MB/s", &err));
    assert_true(m->dram.bandwidth == 8e8);
    assert_false(as_machine_set(m, "frequency=3", &err));
    assert_false(as_machine_set(m, "dram.cas=14", &err));
    assert_false(as_machine_set(m, "dram.bandwidth=14GB", &err));
    free(m);
}

/* What cannot be built, one change each to boom-tip. */
static void test_combinations(void **state)
{
    (void)state;
    static const struct {
        const char *change, *expected;
    } cases[] = {
        {"back.rob=2", "back.width = 4 is more than back.rob = 2"},
        {"back.rob=3,back.width=3", "back.commit_width = 4 is more than back.rob = 3"},
        {"back.width=2", "back.commit_width = 4 is more than back.width = 2, a row of back.rob_rows = yes"},
        {"back.width=3,back.commit_width=3", "back.rob = 128 is no number of rows of back.width = 3"},
        {"queue.mem.size=1", "queue.mem.width = 2 is more than queue.mem.size = 1"},
        {"queue.fp.width=16,queue.fp.size=15", "queue.fp.width = 16 is more than queue.fp.size = 15"},
        {"back.int_registers=33", "back.int_registers=33: not allowed; a whole number from 34 to 4096"},
        {"back.commit_width=0", "from 1 to 12"},
        {"back.commit_width=13", "from 1 to 12"},
        {"front.fetch_bytes=2", "a power of two from 4 to 256"},
        {"front.fetch_bytes=48", "a power of two from 4 to 256"},
        {"front.fetch_bytes=128", "front.fetch_bytes = 128 is more than memory.line = 64"},
        {"front.fetch_buffer=7", "front.fetch_width = 8 does not fit into front.fetch_buffer = 7"},
        {"memory.l1d.size=48K",
         "memory.l1d.size = 49152 in 8 ways of lines of 64: the number of sets is not a power of two"},
        {"memory.l1d.size=256", "memory.l1d.size = 256 is less than one line of 64 in each of 8 ways"},
        {"memory.l2.size=16K", "memory.l2.size = 16384 is less than memory.l1d.size = 32768"},
        {"memory.llc.size=16K", "memory.llc.size = 16384 is less than memory.l1d.size = 32768"},
        {"memory.l2.mshrs=0", "memory.l2.mshrs is missing"},
        {"memory.l2.latency=0", "memory.l2.latency is missing"},
        {"memory.line=1024,dram.row_bytes=512", "memory.line = 1024 is more than"},
        {"memory.dtlb.ways=5",
         "memory.dtlb.entries = 32 in memory.dtlb.ways = 5: the number of sets is not a power of two"},
        {"memory.l2tlb.ways=0", "memory.l2tlb.entries = 512 in memory.l2tlb.ways = 0"},
        {"memory.itlb.ways=64", "memory.itlb.entries = 32 in memory.itlb.ways = 64"},
        {"predictor.btb_ways=3", "predictor.btb_entries = 2048 in predictor.btb_ways = 3"},
        {"predictor.fast_ways=0", "predictor.fast_entries = 128 in predictor.fast_ways = 0"},
        {"predictor.tage_longest=1", "predictor.tage_shortest = 2 is more than predictor.tage_longest = 1"},
        {"predictor.tage_tables=5", "predictor.tage_entries has 6 values but needs 5 (predictor.tage_tables)"},
        {"predictor.tage_tables=7", "predictor.tage_entries is not allowed"},
        {"predictor.tage_entries=2048 2048", "predictor.tage_entries is not allowed"},
        {"predictor.tage_entries=1000", "predictor.tage_entries=1000: not allowed; one for all tables"},
        {"back.memory_speculation=no,back.dependence_predictor=yes", "back.memory_speculation = no"},
        {"dram.banks=12", "a power of two from 1 to 4096"},
        {"back.robb=64", "no machine has the key 'back.robb'; did you mean 'back.rob'?"},
        {"rob=64", "did you mean 'back.rob'?"},
        {"zebra=64", "no machine has the key 'zebra'"},
        {"back.rob", "'back.rob' is not of the form key=value"},
        {"back.rob=64,", "'' is not of the form key=value"},
        {"", "'' is not of the form key=value"},
        {"=", "no machine has the key ''"},
        {"memory.l1d.size=64k", "from 64 to 1G (bytes of the L1 data cache); did you mean 64K?"},
        {"memory.llc.size=4mib", "did you mean 4MiB?"},
        {"frequency=3ghz", "did you mean 3GHz?"},
        {"memory.l1d.size=0x8000K", "not allowed"},
        {"memory.l1d.size=0x", "not allowed"},
        {"memory.l1d.size=0x10000000000000000", "not allowed"},
        {"frequency=0x10", "frequency=0x10: not allowed"},
        {"name=a#b", "name=a#b: not allowed"},
    };
    struct as_machine *machine = load("boom-tip"), *before = load("boom-tip");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct as_error err = AS_ERROR_INIT;
        assert_false(as_machine_set(machine, cases[i].change, &err));
        if (!strstr(err.message, cases[i].expected))
            fail_msg("%s: expected '%s', got '%s'", cases[i].change, cases[i].expected, err.message);
        assert_memory_equal(machine, before, sizeof *machine);
    }
    free(machine);
    free(before);
}

static void test_set(void **state)
{
    (void)state;
    struct as_machine *machine = load("boom-tip");
    struct as_error err = AS_ERROR_INIT;
    assert_true(as_machine_set(machine, " back.rob = 64 ", &err));
    assert_int_equal(machine->back.rob, 64);
    assert_true(as_machine_set(machine, "back.rob=2,back.width=2,back.commit_width=1", &err));
    assert_int_equal(machine->back.rob, 2);
    assert_true(as_machine_set(machine, "memory.l2.size=0", &err));
    assert_int_equal(machine->memory.l2.size, 0);
    assert_true(as_machine_set(machine, "predictor.tage_entries=1024", &err));
    assert_true(as_machine_set(machine, "predictor.tage_tag_bits=9,predictor.tage_tables=12", &err));
    assert_int_equal(machine->predictor.tage_entries[11], 10);
    assert_true(as_machine_set(machine, "back.flag_flush=no", &err));
    assert_false(machine->back.flag_flush);
    free(machine);
}

static void test_bad_text(void **state)
{
    (void)state;
    static char large[(1 << 20) + 1], line[6000];
    expect_error("", 0, "test: no value for frequency");
    expect_error("back.rob\n", 9, "test:1: 'back.rob' is not of the form 'key = value'");
    expect_error("\n\n# x\nback.rib = 5\n", 20, "test:4: unknown key 'back.rib'; did you mean 'back.rob'?");
    expect_error("back.rob = many", 15,
                 "test:1: back.rob = many: not allowed; a whole number from 1 to 4096 (entries of the reorder buffer)");
    expect_error("back.rob = 5\0", 13, "test:1: byte 0x00 is not text");
    expect_error("# \x1b[31m\n", 8, "test:1: byte 0x1b is not text");
    expect_error("\x7f"
                 "ELF",
                 4, "test:1: byte 0x7f is not text");
    expect_error("\xff\xfe = 1", 6, "test:1: unknown key");
    memset(large, ' ', sizeof large);
    expect_error(large, sizeof large, "test: larger than 1 MiB");
    memset(line, 'x', sizeof line);
    expect_error(line, sizeof line, "test:1: the line has 6000 bytes; at most 4095 are allowed");
    memset(line, 'x', 4000);
    expect_error(line, 4000, "test:1: 'xxx");
    expect_error("name = a\nname = b\n", 18, "test:2: 'name' was already given in line 1");
}

static void test_layout(void **state)
{
    (void)state;
    struct as_machine *machine = load("boom-tip"), *parsed = malloc(sizeof *parsed);
    struct as_error err = AS_ERROR_INIT;
    char *text = print(machine), *other = NULL;
    char *less = without(text, "back.rob", "\t back.rob\t=  128\t# comment = 5\r");
    assert_true(asprintf(&other, "# größe\r\n\r\n   \n%s", less) > 0);
    other[strlen(other) - 1] = '\0'; /* no newline at the end */
    assert_true(as_machine_parse(other, strlen(other), "test", parsed, &err));
    assert_int_equal(parsed->back.rob, 128);
    free(less);
    free(other);
    free(text);
    free(machine);
    free(parsed);
}

static void expect_no_load(const char *name, const char *expected, int status)
{
    struct as_machine machine;
    struct as_error err = AS_ERROR_INIT;
    assert_false(as_machine_load(name, &machine, &err));
    if (!strstr(err.message, expected))
        fail_msg("expected '%s', got '%s'", expected, err.message);
    assert_int_equal(err.status, status);
}

static void test_finding(void **state)
{
    (void)state;
    char longest[5000], *text;
    struct as_machine *machine = load("boom-tip");
    memset(longest, 'a', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    expect_no_load("boom-tap", "no machine 'boom-tap'; there are: boom-tea, boom-tip", AS_EXIT_USAGE);
    expect_no_load("", "no machine ''", AS_EXIT_USAGE);
    expect_no_load("./none.machine", "./none.machine: cannot be read: No such file", AS_EXIT_FAILURE);
    expect_no_load("/", "/: cannot be read: Is a directory", AS_EXIT_FAILURE);
    expect_no_load("/dev/null", "/dev/null: no value for frequency", AS_EXIT_FAILURE);
    expect_no_load("/dev/zero", "/dev/zero: larger than 1 MiB", AS_EXIT_FAILURE);
    expect_no_load("/proc/self/exe", "/proc/self/exe:1: ", AS_EXIT_FAILURE);
    expect_no_load(longest, "too long", AS_EXIT_USAGE);
    /* A file of one's own, which takes its name from the file. */
    text = print(machine);
    char *unnamed = without(text, "name", NULL);
    FILE *out = fopen("my own.machine", "w");
    assert_non_null(out);
    assert_true(fputs(unnamed, out) >= 0 && fclose(out) == 0);
    struct as_machine *mine = load("./my own.machine");
    assert_string_equal(mine->name, "my own");
    assert_string_equal(mine->path, "./my own.machine");
    free(mine);
    mine = load("my own.machine");
    assert_string_equal(mine->name, "my own");
    unlink("my own.machine");
    free(mine);
    free(unnamed);
    free(text);
    free(machine);
}

static void test_filled_by_hand(void **state)
{
    (void)state;
    struct as_machine *machine = load("boom-tip");
    struct as_error err = AS_ERROR_INIT;
    assert_true(as_machine_validate(machine, &err));
    machine->memory.walkers = 0;
    assert_false(as_machine_validate(machine, &err));
    assert_non_null(strstr(err.message, "memory.walkers is not allowed; a whole number from 1 to 64"));
    machine->memory.walkers = 1;
    machine->predictor.base_entries = 64 + 11; /* a shift that would wrap */
    assert_false(as_machine_validate(machine, &err));
    machine->predictor.base_entries = 11;
    memset(machine->name, 'x', sizeof machine->name);
    assert_false(as_machine_validate(machine, &err));
    free(machine);
}

static void test_classes(void **state)
{
    (void)state;
    struct as_machine *machine = load("golden-cove-like");
    for (int i = 0; i < AS_CLASS_COUNT; i++) {
        assert_in_range(as_machine_unit(i), 0, AS_UNIT_COUNT - 1);
        assert_in_range(as_machine_queue(as_machine_unit(i)), 0, AS_QUEUE_COUNT - 1);
        assert_true(as_machine_latency(machine, i) >= 1 && as_machine_interval(machine, i) >= 1);
    }
    assert_int_equal(as_machine_unit(AS_CLASS_BRANCH), AS_UNIT_INT);
    assert_int_equal(as_machine_unit(AS_CLASS_UNKNOWN), AS_UNIT_INT);
    assert_int_equal(as_machine_queue(as_machine_unit(AS_CLASS_ATOMIC)), AS_QUEUE_MEM);
    assert_int_equal(as_machine_queue(as_machine_unit(AS_CLASS_VECTOR)), AS_QUEUE_FP);
    assert_int_equal(as_machine_latency(machine, AS_CLASS_FP_ADD), 3);
    assert_int_equal(as_machine_latency(machine, AS_CLASS_FP_FMA), 4);
    assert_int_equal(as_machine_latency(machine, AS_CLASS_FP_DIV), 14);
    assert_int_equal(as_machine_interval(machine, AS_CLASS_FP_DIV), 4);
    assert_int_equal(as_machine_latency(machine, AS_CLASS_FP_SQRT), 18);
    assert_int_equal(as_machine_interval(machine, AS_CLASS_FP_SQRT), 6);
    assert_int_equal(as_machine_interval(machine, AS_CLASS_MUL), 1);
    free(machine);
}

/* The row that the documentation has for a key. */
static void doc_row(const struct as_field *field, char *row, size_t size)
{
    char allowed[160], value[128] = "required";
    struct as_machine *machine = calloc(1, sizeof *machine);
    if (!(field->flags & AS_FIELD_REQUIRED)) {
        as_field_default(field, machine);
        as_field_text(field, machine, value, sizeof value);
    }
    snprintf(row, size, "| `%s` | %s | %s | %s |\n", field->key, as_field_allowed(field, allowed, sizeof allowed),
             value, field->meaning);
    free(machine);
}

static void test_documentation(void **state)
{
    (void)state;
    char row[600];
    static char text[100000];
    FILE *in = fopen(doc_path, "r");
    assert_non_null(in);
    text[fread(text, 1, sizeof text - 1, in)] = '\0';
    fclose(in);
    for (size_t i = 0; i < as_fields_count; i++) {
        doc_row(&as_fields[i], row, sizeof row);
        if (!strstr(text, row))
            fail_msg("doc/format/machine.md lacks this row: %s", row);
    }
}

static void print_key(void *context, const char *key, const char *meaning, const char *allowed)
{
    int *count = context;
    assert_true(key[0] && meaning[0] && allowed[0]);
    ++*count;
}

static void test_keys(void **state)
{
    (void)state;
    int count = 0;
    as_machine_keys(print_key, &count);
    assert_int_equal(count, as_fields_count);
    for (size_t i = 0; i < as_fields_count; i++) {
        assert_ptr_equal(as_field_find(as_fields[i].key), &as_fields[i]); /* no key twice */
        assert_ptr_equal(as_field_guess(as_fields[i].key), &as_fields[i]);
    }
}

static void test_fits(void **state)
{
    static const struct {
        const char *cpuid, *vendor;
        unsigned family, model;
        int fits;
    } cases[] = {{"A 25:17", "A", 25, 17, 4},
                 {"A 25:17", "A", 25, 18, 0},
                 {"A 25:17", "A", 26, 17, 0},
                 {"A 25:16-31", "A", 25, 16, 4},
                 {"A 25:16-31", "A", 25, 31, 4},
                 {"A 25:16-31", "A", 25, 15, 0},
                 {"A 25:16-31", "A", 25, 32, 0},
                 {"A 25", "A", 25, 200, 3},
                 {"A 25", "B", 25, 200, 0},
                 {"A *", "A", 1, 1, 2},
                 {"A *", "B", 1, 1, 0},
                 {"*", "B", 1, 1, 1},
                 {"A 25:17 25 *", "A", 25, 17, 4},
                 {"A * 25 25:17", "A", 25, 17, 4},
                 {"A 25:17 25 *", "A", 25, 3, 3},
                 {"A 25:17 25 *", "A", 9, 3, 2},
                 {"A 6 B 25", "A", 25, 1, 0},
                 {"A 6 B 25", "B", 25, 1, 3},
                 {"* A 25", "B", 25, 1, 1},
                 {"", "A", 25, 17, 0},
                 {"25", "A", 25, 17, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct as_machine_processor processor = {.family = cases[i].family, .model = cases[i].model};
        snprintf(processor.vendor, sizeof processor.vendor, "%s", cases[i].vendor);
        assert_int_equal(as_machine_fits(cases[i].cpuid, &processor), cases[i].fits);
    }
}

/* A processor of each kind that files name, one of a family that none names, and one of no vendor that is known. */
static void test_nearest(void **state)
{
    static const struct {
        struct as_machine_processor processor;
        const char *name; /* NULL: any that fits so well */
        int fits;
    } cases[] = {
        {{"AuthenticAMD", 25, 17}, "zen4-like", 4}, {{"GenuineIntel", 6, 85}, NULL, 4}, {{"Nobody", 1, 1}, NULL, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char name[AS_MACHINE_NAME];
        assert_int_equal(as_machine_nearest(&cases[i].processor, name), cases[i].fits);
        if (cases[i].name)
            assert_string_equal(name, cases[i].name);
        struct as_machine *machine = load(name);
        assert_int_equal(as_machine_fits(machine->cpuid, &cases[i].processor), cases[i].fits);
        free(machine);
    }
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "rows") == 0) { /* what to paste into the documentation */
        char row[600];
        for (size_t i = 0; i < as_fields_count; i++) {
            doc_row(&as_fields[i], row, sizeof row);
            fputs(row, stdout);
        }
        return 0;
    }
    doc_path = argc > 1 ? argv[1] : "doc/format/machine.md";
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_that_ship),
        cmocka_unit_test(test_paper_a),
        cmocka_unit_test(test_paper_b),
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_round_trip_of_numbers),
        cmocka_unit_test(test_every_key),
        cmocka_unit_test(test_every_range),
        cmocka_unit_test(test_units),
        cmocka_unit_test(test_combinations),
        cmocka_unit_test(test_set),
        cmocka_unit_test(test_bad_text),
        cmocka_unit_test(test_layout),
        cmocka_unit_test(test_finding),
        cmocka_unit_test(test_filled_by_hand),
        cmocka_unit_test(test_classes),
        cmocka_unit_test(test_keys),
        cmocka_unit_test(test_documentation),
        cmocka_unit_test(test_fits),
        cmocka_unit_test(test_nearest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
