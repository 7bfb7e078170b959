/* What imports make of whole recordings, number by number: each as the JSON that `assay export --format=json` writes of its unit_profile,
 * shortened, against tests/golden/import_profiles.txt. The recordings are built by hand (perf_build.h). */
#include "perf_build.h"

#include "export/export.h"
#include "import/import_add.h"

#include "unit.h"
#include "unit_golden.h"
#include "unit_profile.h"

#include <linux/perf_event.h>

static void hear(void *context, enum as_log_level level, const char *text)
{
    fprintf(context, "notice: %s\n", text);
}

struct bed {
    struct as_perf_reader *reader;
    struct as_import_options options;
    struct as_import *import;
    struct as_perf_event *events[2];
    size_t n_events;
    uint64_t time;
};

static bool keep_event(void *context, const struct as_perf_event *event, struct as_error *err)
{
    struct bed *bed = context;
    if (bed->n_events < 2)
        bed->events[bed->n_events++] = (struct as_perf_event *)event;
    return as_import_sink.event(bed->import, event, err);
}

/* Reads the recording; more may be handed to its sink then. */
static void open_bed(struct bed *bed, const struct as_str *file, struct as_import_options options, FILE *out)
{
    struct as_error err = AS_ERROR_INIT;
    static const struct as_perf_sink own = {.event = keep_event};
    *bed = (struct bed){.options = options, .time = 1000};
    bed->reader = as_perf_reader_memory(file->data, file->len, NULL, &err);
    if (!bed->reader)
        fail_msg("%s", err.message);
    bed->options.writer = as_store_writer_open(unit_profile, &err);
    bed->options.info = as_perf_reader_info(bed->reader);
    bed->options.notices = (struct as_notices){hear, out};
    bed->import = as_import_open(&bed->options);
    bool by_hand = options.start != 0;
    if (!as_perf_reader_run(bed->reader, by_hand ? &own : &as_import_sink, by_hand ? (void *)bed : bed->import, &err))
        fail_msg("%s", err.message);
}

/* Lines below the third level stand on one, which is enough to see what differs. */
static void write_shortened(const char *text, FILE *out)
{
    for (const char *c = text; *c; c++) {
        size_t spaces = *c == '\n' ? strspn(c + 1, " ") : 0;
        bool closes = *c == '\n' && (c[1 + spaces] == '}' || c[1 + spaces] == ']');
        if (spaces + 2 * closes <= 6) {
            fputc(*c, out);
            continue;
        }
        fputc(' ', out);
        c += spaces;
    }
}

static void close_bed(struct bed *bed, FILE *out)
{
    struct as_error err = AS_ERROR_INIT;
    char *text;
    size_t size;
    as_import_finish(bed->import);
    as_import_describe(bed->import, bed->reader, "test");
    as_import_write(bed->import, bed->reader);
    if (!as_store_writer_commit(bed->options.writer, &err))
        fail_msg("%s", err.message);
    as_import_free(bed->import);
    as_perf_reader_close(bed->reader);
    struct as_store *store = as_store_open(unit_profile, &err);
    FILE *memory = open_memstream(&text, &size);
    if (!store || !as_export_find("json")->write(store, &(struct as_export_options){0}, memory, &err))
        fail_msg("%s", err.message);
    fclose(memory);
    char *numbers = strstr(text, "  \"recordings\": ["), *behind = numbers ? strstr(numbers, "],\n") : NULL;
    if (behind) /* chosen by chance */
        memmove(numbers, behind + 3, strlen(behind + 3) + 1);
    write_shortened(text, out);
    as_store_close(store);
    free(text);
}

/* ---- one of every record ---- */

static void every(FILE *out)
{
    struct build records = every_record(false);
    struct as_str file = wrap(&(struct wrapping){0}, every_attr, 2, &records);
    struct bed bed;
    unit_golden_section(out, "one of every record");
    open_bed(&bed, &file, (struct as_import_options){0}, out);
    close_bed(&bed, out);
    as_str_free(&records.bytes);
    as_str_free(&file);
}

/* ---- a text ---- */

static const char script[] = "prog 100/101 [002] 10.000001: 1000 cycles:u:\n"
                             "\t401010 leaf+0x10 (/nowhere/prog)\n"
                             "\t401100 small+0x0 (inlined)\n"
                             "\t401120 middle+0x20 (/nowhere/prog)\n"
                             "\t401200 main+0x40 (/nowhere/prog)\n"
                             "\n"
                             "prog 100/101 [002] 10.000002: 1000 cycles:u:\n"
                             "\t401014 leaf+0x14 (/nowhere/prog)\n"
                             "\t401204 main+0x44 (/nowhere/prog)\n"
                             "\n"
                             "other 200/200 [000] 10.000009: 500 instructions:u:\n"
                             "\t7f0010 [unknown] (/nowhere/lib.so)\n"
                             "\n"
                             "prog 100/101 [002] 10.000012: 700 cycles:\n"
                             "\tffffffff81000010 do_it+0x10 ([kernel.kallsyms])\n"
                             "\tffffffff81000110 enter+0x10 ([kernel.kallsyms]_text)\n"
                             "\tffffffff81000210 guest+0x10 ([guest.kernel.kallsyms.7])\n"
                             "\tffffffff81000310 other+0x10 ([guest.kernel.kallsyms])\n"
                             "\tffffffff81000410 odd+0x10 ([kernel.kall])\n"
                             "\tffffffff81000510 own+0x10 ([guest.kernel.kall])\n"
                             "\n";

static void text(FILE *out)
{
    struct as_str file = {.data = (char *)script, .len = sizeof script - 1};
    struct bed bed;
    unit_golden_section(out, "a text of perf script");
    open_bed(&bed, &file, (struct as_import_options){0}, out);
    close_bed(&bed, out);
}

/* ---- two processes, by hand ---- */

enum { PID = 100, WORKER = 101, CHILD = 200, CODE = 0x400000, LIB = 0x500000, HEAP = 0x600000, ANON = 0x700000 };
enum { STACK = 0x900000, SIZE = 0x10000 };

static const struct attr attrs[2] = {
    {.type = PERF_TYPE_HARDWARE,
     .config = PERF_COUNT_HW_CPU_CYCLES,
     .period = 1000,
     .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD |
                    PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_BRANCH_STACK,
     .ids = {1},
     .n_ids = 1,
     .name = "cycles"},
    {.type = PERF_TYPE_RAW,
     .config = 0x1cd,
     .period = 50,
     .precise = 2,
     .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD |
                    PERF_SAMPLE_ADDR | PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_WEIGHT,
     .ids = {2},
     .n_ids = 1,
     .name = "mem-loads"}};

static void tell(struct bed *bed, struct as_perf_process process)
{
    struct as_error err = AS_ERROR_INIT;
    process.time = bed->time += 10;
    process.mode = process.mode ? process.mode : AS_PERF_USER;
    assert_true(as_import_sink.process(bed->import, &process, &err));
}

static void name(struct bed *bed, uint32_t pid, uint32_t tid, const char *comm, bool exec)
{
    tell(bed, (struct as_perf_process){.kind = AS_PERF_COMM, .pid = pid, .tid = tid, .name = comm, .exec = exec});
}

static void map(struct bed *bed, uint32_t pid, uint64_t start, const char *file, bool data)
{
    tell(bed, (struct as_perf_process){.kind = AS_PERF_MAP,
                                       .pid = pid,
                                       .tid = pid,
                                       .name = file,
                                       .start = start,
                                       .length = SIZE,
                                       .offset = start == LIB ? 0x2000 : 0,
                                       .data = data});
}

static void give(struct bed *bed, struct as_perf_sample sample)
{
    struct as_error err = AS_ERROR_INIT;
    sample.has = sample.event->sample_type;
    sample.mode = sample.ip >> 63 ? AS_PERF_KERNEL : AS_PERF_USER;
    sample.time = bed->time += 10;
    sample.branch_index = -1;
    assert_true(as_import_sink.sample(bed->import, &sample, &err));
}

/* With the calls that led there: return addresses, the innermost first; 0 ends them. */
static void give_chain(struct bed *bed, uint32_t pid, uint32_t tid, uint64_t ip, const uint64_t *returns)
{
    uint64_t chain[16] = {ip >> 63 ? (uint64_t)PERF_CONTEXT_KERNEL : (uint64_t)PERF_CONTEXT_USER, ip};
    size_t n = 2;
    for (; *returns; returns++)
        chain[n++] = *returns;
    struct as_perf_branch branches[] = {{.from = CODE + 0x30, .to = CODE + 0x100, .predicted = true, .cycles = 7},
                                        {.from = LIB + 0x40, .to = ip, .mispredicted = true, .cycles = 30},
                                        {0}};
    give(bed, (struct as_perf_sample){.event = bed->events[0],
                                      .ip = ip,
                                      .pid = pid,
                                      .tid = tid,
                                      .cpu = tid % 4,
                                      .period = 1000 + tid,
                                      .chain = chain,
                                      .n_chain = n,
                                      .branches = branches,
                                      .n_branches = tid == WORKER ? 3 : 0});
}

static void give_access(struct bed *bed, uint32_t tid, uint64_t ip, uint64_t address, uint64_t op, uint64_t weight)
{
    union perf_mem_data_src source = {.mem_op = op, .mem_lvl = PERF_MEM_LVL_HIT | PERF_MEM_LVL_L2};
    give(bed, (struct as_perf_sample){.event = bed->events[1],
                                      .ip = ip,
                                      .pid = tid == CHILD ? CHILD : PID,
                                      .tid = tid,
                                      .cpu = 1,
                                      .period = 50,
                                      .addr = address,
                                      .weight = weight,
                                      .data_src = source.val});
}

static void play_processes(struct bed *bed)
{
    name(bed, PID, PID, "perf-exec", false);
    name(bed, PID, PID, "program", true);
    map(bed, PID, CODE, "/nowhere/program", false);
    map(bed, PID, LIB, "/nowhere/lib.so", false);
    map(bed, PID, HEAP, "[heap]", true);
    map(bed, PID, ANON, "//anon", true);
    map(bed, PID, STACK, "[stack]", true);
    tell(bed, (struct as_perf_process){
                  .kind = AS_PERF_FORK, .pid = PID, .tid = WORKER, .parent_pid = PID, .parent_tid = PID});
    name(bed, PID, WORKER, "worker", false);
    tell(bed, (struct as_perf_process){
                  .kind = AS_PERF_FORK, .pid = CHILD, .tid = CHILD, .parent_pid = PID, .parent_tid = PID});
}

static void play_samples(struct bed *bed)
{
    const uint64_t kernel = UINT64_C(0xffffffff81000020);
    const uint64_t deep[] = {CODE + 0x105, LIB + 0x205, CODE + 0x305, 0}, one[] = {CODE + 0x305, 0}, none[] = {0};
    const uint64_t entry[] = {kernel + 0x50, (uint64_t)PERF_CONTEXT_USER, CODE + 0x18, CODE + 0x305, 0};
    const uint64_t stray[] = {0x1234, 1, CODE + 0x305, 0};
    give_chain(bed, PID, PID, CODE + 0x10, deep);
    give_chain(bed, PID, PID, CODE + 0x10, deep);
    give_chain(bed, PID, PID, CODE + 0x14, one);
    give_chain(bed, PID, WORKER, LIB + 0x20, one);
    give_chain(bed, PID, WORKER, LIB + 0x20, none);
    give_chain(bed, PID, WORKER, kernel, entry);
    give_chain(bed, CHILD, CHILD, CODE + 0x10, stray);
    give_chain(bed, CHILD, CHILD, 0x4321, none); /* nothing is mapped there */
    give_access(bed, PID, CODE + 0x10, HEAP + 8, PERF_MEM_OP_LOAD, 12);
    give_access(bed, PID, CODE + 0x10, HEAP + 8, PERF_MEM_OP_LOAD, 14);
    give_access(bed, WORKER, CODE + 0x18, ANON + 0x40, PERF_MEM_OP_STORE, 0);
    give_access(bed, WORKER, CODE + 0x18, LIB + 0x800, PERF_MEM_OP_LOAD, 5);
    give_access(bed, CHILD, LIB + 0x24, STACK + 0x10, PERF_MEM_OP_LOAD, 300);
    give_access(bed, CHILD, LIB + 0x24, 0x42, PERF_MEM_OP_LOAD, 1); /* nothing is mapped there */
    give_access(bed, CHILD, LIB + 0x24, 0, 0, 2);                   /* no address */
    name(bed, PID, WORKER, "renamed", false);
    give_chain(bed, PID, WORKER, LIB + 0x20, one);
}

static void by_hand(FILE *out)
{
    static const struct as_import_own own = {"bytes", "bytes that were asked for", "bytes"};
    const uint64_t returns[] = {CODE + 0x205, CODE + 0x305};
    struct build records = {0};
    struct as_str file = wrap(&(struct wrapping){0}, attrs, 2, &records);
    struct bed bed;
    unit_golden_section(out, "two processes: chains, branches, accesses, the caller's own series");
    open_bed(&bed, &file, (struct as_import_options){.start = 1050}, out);
    play_processes(&bed);
    play_samples(&bed);
    uint32_t series = as_import_add_own(bed.import, &own);
    as_import_add_calls(bed.import, series, PID, as_import_thread(bed.import, PID, PID, NULL), returns, 2, 4096, 3);
    assert_int_equal(as_import_samples_of(bed.import, PID), 11);
    close_bed(&bed, out);
    as_str_free(&file);
}

/* ---- stacks ---- */

enum { RED_ZONE = 256, STACK_MOST = 64 << 20 }; /* as in import_data.c */

/* What an access by a stack pointer is of: the first thread's stack, which may have outgrown its mapping, that of another thread, or
 * what else is mapped there. */
static void touch_stacks(struct bed *bed)
{
    static const struct {
        uint32_t tid;
        uint64_t address, stack_pointer;
    } touches[] = {
        {PID, STACK + 0x800, STACK + 0x400},
        {PID, STACK + 0x400, STACK + 0x400},
        {PID, STACK + 0x300, STACK + 0x400},
        {PID, STACK + 0x2ff, STACK + 0x400},
        {PID, STACK + 0x800, 0},
        {PID, STACK - 0x80, STACK - 0x40}, /* below its mapping */
        {PID, STACK - 0x40, STACK + 0x40},
        {PID, STACK - 0x800, STACK + 0x40},
        {PID, 0x8000000, 0x8000100},
        {PID, 0x7fff0ff, 0x8000200},
        {PID, 0x8000000 + STACK_MOST - RED_ZONE - 1, 0x8000000},
        {PID, 0x8000000 + STACK_MOST - RED_ZONE, 0x8000000},
        {PID, HEAP + 0x10, HEAP},
        {PID, ANON + 0x10, ANON},
        {WORKER, ANON + 0x40, ANON + 0x20},
        {WORKER, ANON + 0x40, ANON + 0x140},
        {WORKER, ANON + 0x40, ANON + 0x141},
        {WORKER, ANON + SIZE - 1, ANON},
        {WORKER, ANON + SIZE, ANON + SIZE - 1},
        {WORKER, HEAP + 0x40, HEAP + 0x40},
        {WORKER, HEAP + 0x40, ANON + 0x40},
        {WORKER, STACK + 0x40, STACK + 0x20},
        {WORKER, LIB + 0x40, LIB + 0x20},
        {WORKER, 0x8000000, 0x8000000},
    };
    for (size_t i = 0; i < sizeof touches / sizeof *touches; i++) {
        struct as_import_touch touch = {.event = 1,
                                        .pid = PID,
                                        .tid = touches[i].tid,
                                        .mode = AS_PERF_USER,
                                        .ip = CODE + 0x10 + 4 * i,
                                        .address = touches[i].address,
                                        .stack_pointer = touches[i].stack_pointer,
                                        .size = 8,
                                        .kind = i % 2 ? AS_STORE_LOAD : AS_STORE_STORE,
                                        .how = AS_STORE_HOW_NEXT,
                                        .units = 100 + i};
        as_import_add_touch(bed->import, &touch);
    }
}

static void stacks(FILE *out)
{
    struct build records = {0};
    struct as_str file = wrap(&(struct wrapping){0}, attrs, 2, &records);
    struct bed bed;
    unit_golden_section(out, "accesses by the stack pointer");
    open_bed(&bed, &file, (struct as_import_options){.start = 1050}, out);
    play_processes(&bed);
    give_access(&bed, PID, CODE + 0x10, HEAP + 8, PERF_MEM_OP_LOAD, 12);
    touch_stacks(&bed);
    close_bed(&bed, out);
    as_str_free(&file);
}

static void profiles(void **state)
{
    FILE *out = unit_golden_begin();
    every(out);
    text(out);
    by_hand(out);
    stacks(out);
    unit_golden_check(out, "import_profiles.txt");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(profiles)};
    return cmocka_run_group_tests(tests, unit_profile_make, unit_profile_remove);
}
