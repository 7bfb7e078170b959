/* The writers of all formats on a profile whose numbers are made by hand: each number in a format's text follows from the
 * tables here, and each is different from the others, so that one in another's place is seen.
 *
 *   cycles (quarters)          thread 1        thread 2        executions
 *   main  0x1000 nop            10 (40)                         3
 *         0x1004 call work      20 (80)                         5
 *   work  0x2000 load           50 (200: 80 of them ST-L1)      7
 *         0x2004 store                          110 (440, all ST-L1)  11
 *
 *   call paths: main 30 and main > work 50 in thread 1, main > work 110 in thread 2. In all: 190 cycles.
 *   Formats list components by their time, so ST-L1 with 130 cycles comes before base with 60.
 *   The series "clock" has three samples of 1000 nanoseconds: two at the load (main > work), one at the call (main).
 */
#include "unit.h"

#include "base/alloc.h"
#include "base/random.h"
#include "export/export.h"
#include "export/export_mapping.h"
#include "export/export_proto.h"
#include "export_bed.h"
#include "store_bed.h"

#include <link.h>
#include <stdio.h>
#include <sys/stat.h>

#define NONE AS_STORE_NONE

static void add_program(struct as_store_writer *writer)
{
    as_store_add_meta(writer, AS_META_PROGRAM, "/bin/shop");
    as_store_add_meta(writer, AS_META_SERIES, "golden");
    as_store_add_argument(writer, "/bin/shop");
    as_store_add_argument(writer, "--fast");
    as_store_add_counter(writer, "branches", 77);
    as_store_add_quality(writer, "advice", 0.25, "look again");
    as_store_add_run(writer, &(struct as_store_run){9, 1900, 260, 3, 0.5, 0});
    as_store_add_thread(writer, &(struct as_store_thread){1, 4711, NULL, 80, 15, 0});
    as_store_add_thread(writer, &(struct as_store_thread){2, 4711, "helper", 110, 11, 0});
    as_store_add_event(writer, &(struct as_store_event){0, "ST-L1", "missed", NONE, "stalled"});
    as_store_add_module(writer, &(struct as_store_module){.path = "/bin/shop", .build_id = "c0ffee"});
    as_store_add_file(writer, "shop.c");
    as_store_add_function(writer, &(struct as_store_function){"main", "main", 0, 0, 10, 0x1000, 8});
    as_store_add_function(writer, &(struct as_store_function){"work", "work", 0, 0, 20, 0x2000, 8});
    const struct as_store_insn code[] = {
        {{0x1000, 0, 0, NONE, 0, 11, NONE}, 0, "nop", "nop", (const uint8_t *)"\x90", 1},
        {{0x1004, 0, 0, NONE, 0, 12, NONE}, 0x2000, "call 0x2000", "call", (const uint8_t *)"\xe8\x0f", 2},
        {{0x2000, 0, 1, NONE, 0, 21, NONE}, 0, "mov rax, [rbx]", "load", NULL, 0},
        {{0x2004, 0, 1, NONE, 0, 22, NONE}, 0, "mov [rbx], rax", "store", NULL, 0},
    };
    for (size_t i = 0; i < sizeof code / sizeof *code; i++)
        as_store_add_instruction(writer, &code[i]);
    as_store_add_path(writer, &(struct as_store_path){NONE, 0, NONE, 0x1000, 0, false});
    as_store_add_path(writer, &(struct as_store_path){0, 1, 1, 0x2000, 0x1004, false});
}

static void add_golden(struct as_store_writer *writer)
{
    const struct as_store_series golden = {
        .name = "golden", .exact = true, .unit = "cycles", .scale = 4, .precise = -1, .events = 1};
    uint32_t s = as_store_add_series(writer, &golden);
    const struct as_store_time times[] = {
        {s, 0, 0, 40, 0, 3}, {s, 0, 1, 80, 0, 5}, {s, 0, 2, 200, 0, 7}, {s, 1, 3, 440, 0, 11}};
    const struct as_store_component parts[] = {
        {s, 0, 0, 0, 40, 0}, {s, 0, 1, 0, 80, 0}, {s, 0, 2, 0, 120, 0}, {s, 0, 2, 1, 80, 0}, {s, 1, 3, 1, 440, 0}};
    const struct as_store_path_time paths[] = {
        {s, 0, 0, NONE, 120, 0}, {s, 0, 1, NONE, 200, 0}, {s, 1, 1, NONE, 440, 0}};
    const struct as_store_path_component path_parts[] = {
        {s, 0, 0, 0, 120, 0}, {s, 0, 1, 0, 120, 0}, {s, 0, 1, 1, 80, 0}, {s, 1, 1, 1, 440, 0}};
    for (size_t i = 0; i < 4; i++)
        as_store_add_time(writer, &times[i]);
    for (size_t i = 0; i < 5; i++)
        as_store_add_component(writer, &parts[i]);
    for (size_t i = 0; i < 3; i++)
        as_store_add_path_time(writer, &paths[i]);
    for (size_t i = 0; i < 4; i++)
        as_store_add_path_component(writer, &path_parts[i]);
}

static void add_clock(struct as_store_writer *writer)
{
    const struct as_store_series clock = {.name = "clock",
                                          .unit = "nanoseconds",
                                          .scale = 1,
                                          .event = "task-clock",
                                          .precise = 0,
                                          .period = 1000,
                                          .samples = 3};
    uint32_t s = as_store_add_series(writer, &clock);
    as_store_add_time(writer, &(struct as_store_time){s, 0, 1, 1000, 1, 0});
    as_store_add_time(writer, &(struct as_store_time){s, 0, 2, 2000, 2, 0});
    as_store_add_path_time(writer, &(struct as_store_path_time){s, 0, 0, 1, 1000, 1});
    as_store_add_path_time(writer, &(struct as_store_path_time){s, 0, 1, 2, 2000, 2});
}

/* One sample, whose time is known. */
static void add_moment(struct as_store_writer *writer)
{
    const struct as_store_series faults = {
        .name = "faults", .unit = "faults", .scale = 1, .event = "page-faults", .period = 1, .samples = 1};
    uint32_t s = as_store_add_series(writer, &faults);
    as_store_add_time(writer, &(struct as_store_time){s, 1, 2, 1, 1, 0});
    as_store_add_path_time(writer, &(struct as_store_path_time){s, 1, 1, 2, 1, 1});
    as_store_add_moment(writer, &(struct as_store_moment){s, 1, 2, 7654321, 3, 1, 0, 1, 1});
}

static struct as_store *store;

static int set_up(void **state)
{
    struct as_store_writer *writer = bed_writer(bed_path("shop.db"));
    add_program(writer);
    add_golden(writer);
    add_clock(writer);
    add_moment(writer);
    bed_commit(writer);
    store = bed_open(bed_path("shop.db"));
    return 0;
}

static int tear_down(void **state)
{
    as_store_close(store);
    return 0;
}

static char *written(const char *format, struct as_export_options options, size_t *size)
{
    return export_written(store, format, options, size);
}

static void assert_written(const char *format, struct as_export_options options, const char *expected)
{
    size_t size;
    char *text = written(format, options, &size);
    assert_string_equal(text, expected);
    free(text);
}

/* All of them are in the text, in this order. */
static void assert_in_order(const char *text, const char *const *parts)
{
    for (const char *at = text; *parts; parts++) {
        const char *found = strstr(at, *parts);
        if (!found)
            fail_msg("'%s' is not behind '%.60s' in: %s", *parts, at, text);
        at = found + strlen(*parts);
    }
}

/* ---- texts ---- */

static void folded(void **state)
{
    assert_written("folded", (struct as_export_options){0}, "main 30\nmain;work 160\n");
    assert_written("folded", (struct as_export_options){.series = "clock"}, "main 1000\nmain;work 2000\n");
    assert_written("folded", (struct as_export_options){.threads = (const bool[]){false, true}}, "main;work 110\n");
}

static void csv(void **state)
{
    assert_written(
        "csv", (struct as_export_options){0},
        "address,module,offset,function,file,line,class,text,samples,executions,cycles,ST-L1,base\r\n"
        "0x1000,/bin/shop,0x1000,main,shop.c,11,nop,nop,0,3,10.000000,0.000000,10.000000\r\n"
        "0x1004,/bin/shop,0x1004,main,shop.c,12,call,call 0x2000,0,5,20.000000,0.000000,20.000000\r\n"
        "0x2000,/bin/shop,0x2000,work,shop.c,21,load,\"mov rax, [rbx]\",0,7,50.000000,20.000000,30.000000\r\n"
        "0x2004,/bin/shop,0x2004,work,shop.c,22,store,\"mov [rbx], rax\",0,11,110.000000,110.000000,"
        "0.000000\r\n");
    assert_written("csv", (struct as_export_options){.series = "clock"},
                   "address,module,offset,function,file,line,class,text,samples,executions,nanoseconds\r\n"
                   "0x1004,/bin/shop,0x1004,main,shop.c,12,call,call 0x2000,1,0,1000\r\n"
                   "0x2000,/bin/shop,0x2000,work,shop.c,21,load,\"mov rax, [rbx]\",2,0,2000\r\n");
}

static void callgrind(void **state)
{
    assert_written("callgrind", (struct as_export_options){0},
                   "# callgrind format\nversion: 1\ncreator: assay\ncmd: /bin/shop --fast\ndesc: Series: golden\n"
                   "positions: instr line\nevent: ST_L1 : ST-L1\nevent: base : base\nevents: Cycles ST_L1 base\n\n"
                   "ob=(1) /bin/shop\nfl=(1) shop.c\nfn=(1) main\n0x1000 11 10 0 10\n0x1004 12 20 0 20\n"
                   "cob=(1)\ncfi=(1)\ncfn=(2) work\ncalls=5 0x2000 20\n0x1004 12 160 130 30\n\n"
                   "ob=(1)\nfl=(1)\nfn=(2)\n0x2000 21 50 20 30\n0x2004 22 110 110 0\n\n"
                   "totals: 190 130 60\n");
}

static void speedscope(void **state)
{
    size_t size;
    char *text = written("speedscope", (struct as_export_options){0}, &size);
    assert_in_order(text,
                    (const char *const[]){
                        "\"name\":\"/bin/shop, cycles of golden\",\"activeProfileIndex\":0,",
                        "{\"name\":\"main\",\"file\":\"shop.c\",\"line\":10},{\"name\":\"work\",\"file\":\"shop.c\","
                        "\"line\":20}",
                        "\"name\":\"thread 1\",\"unit\":\"none\",\"startValue\":0,\"samples\":[[0],[0,1]],"
                        "\"weights\":[30,50],\"endValue\":80}",
                        "\"name\":\"helper, thread 2\",\"unit\":\"none\",\"startValue\":0,\"samples\":[[0,1]],"
                        "\"weights\":[110],\"endValue\":110}",
                        NULL});
    free(text);
    text = written("speedscope", (struct as_export_options){.series = "clock"}, &size);
    assert_in_order(text, (const char *const[]){"\"unit\":\"nanoseconds\"", "\"samples\":[[0],[0,1]]",
                                                "\"weights\":[1000,2000],\"endValue\":3000", NULL});
    free(text);
}

static void perf_script(void **state)
{
    assert_written("perf-script", (struct as_export_options){.series = "clock"},
                   "thread_1 4711/1     0.000000:       1000 task-clock: \n"
                   "\t            1004 main+0x4 (/bin/shop)\n\n"
                   "thread_1 4711/1     0.000001:       1000 task-clock: \n"
                   "\t            2000 work+0x0 (/bin/shop)\n"
                   "\t            1004 main+0x4 (/bin/shop)\n\n"
                   "thread_1 4711/1     0.000002:       1000 task-clock: \n"
                   "\t            2000 work+0x0 (/bin/shop)\n"
                   "\t            1004 main+0x4 (/bin/shop)\n\n");
    assert_written("perf-script", (struct as_export_options){.series = "faults"},
                   "helper 4711/2     0.007654:          1 page-faults: \n"
                   "\t            2000 work+0x0 (/bin/shop)\n"
                   "\t            1004 main+0x4 (/bin/shop)\n\n");
}

/* Without white space, so that layout does not matter. */
static char *written_json(struct as_export_options options)
{
    size_t size;
    char *text = written("json", options, &size), *to = text;
    for (const char *at = text; *at; at++)
        if (*at != ' ' && *at != '\n')
            *to++ = *at;
    *to = '\0';
    return text;
}

static void json(void **state)
{
    char *text = written_json((struct as_export_options){0});
    assert_in_order(text, (const char *const[]){"{\"format\":\"assayprofile\",\"version\":", "\"branches\":77",
                                                "\"build_id\":\"c0ffee\"", "\"bytes\":\"90\"", "\"bytes\":\"e80f\"",
                                                "\"name\":\"golden\"", "\"scale\":4", "\"name\":\"clock\"",
                                                "\"period\":1000", "\"samples\":3", NULL});
    assert_non_null(strstr(text, "\"instruction\":3,\"thread\":1,\"units\":440,\"samples\":0,\"executions\":11"));
    assert_non_null(strstr(text, "\"units\":2000,\"samples\":2"));
    assert_non_null(strstr(text, "\"path\":\"/bin/shop\""));
    assert_non_null(strstr(text, "\"name\":\"work\""));
    assert_non_null(strstr(text, "{\"key\":\"advice\",\"value\":0.25,"));
    assert_non_null(strstr(text, "{\"number\":9,\"cycles\":1900,"));
    free(text);
}

static void json_of_a_thread(void **state)
{
    const bool second[] = {false, true};
    char *text = written_json((struct as_export_options){.threads = second});
    assert_non_null(strstr(text, "\"instruction\":3,\"thread\":1,\"units\":440,\"samples\":0,\"executions\":11"));
    assert_null(strstr(text, "\"units\":200,")); /* the first thread's load */
    assert_null(strstr(text, "\"units\":2000,"));
    assert_non_null(strstr(text, "\"path\":\"/bin/shop\"")); /* what is not of a thread stays */
    free(text);
}

/* ---- pprof: a protocol buffer, read by hand ---- */

struct wire {
    const uint8_t *at, *end;
};

static uint64_t varint(struct wire *wire)
{
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
        assert_true(wire->at < wire->end && shift < 64);
        uint8_t byte = *wire->at++;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return value;
    }
}

/* The next field: a number, or bytes. False at the end. */
static bool next_field(struct wire *wire, uint64_t *field, uint64_t *number, struct wire *bytes)
{
    if (wire->at == wire->end)
        return false;
    uint64_t tag = varint(wire), value = varint(wire);
    *field = tag >> 3;
    *number = value;
    if ((tag & 7) == 2) {
        assert_true(value <= (uint64_t)(wire->end - wire->at));
        *bytes = (struct wire){wire->at, wire->at + value};
        wire->at += value;
    } else {
        assert_int_equal(tag & 7, 0);
    }
    return true;
}

struct pprof_sample {
    size_t depth, n;
    uint64_t values[8];
};

static struct pprof_sample read_sample(struct wire wire)
{
    struct pprof_sample sample = {0};
    struct wire bytes;
    for (uint64_t field, number; next_field(&wire, &field, &number, &bytes);) {
        bool packed = field <= 2 && bytes.at && bytes.end == wire.at;
        struct wire one = packed ? bytes : (struct wire){0};
        for (uint64_t value = number; field <= 2; value = 0) {
            if (packed)
                value = varint(&one);
            if (field == 1)
                sample.depth++;
            else if (sample.n < 8)
                sample.values[sample.n++] = value;
            if (!packed || one.at == one.end)
                break;
        }
        bytes = (struct wire){0};
    }
    return sample;
}

static void pprof(void **state)
{
    size_t size, n = 0;
    char *text = written("pprof", (struct as_export_options){.series = "clock", .uncompressed = true}, &size);
    struct wire wire = {(const uint8_t *)text, (const uint8_t *)text + size}, bytes = {0};
    struct pprof_sample samples[8];
    for (uint64_t field, number; next_field(&wire, &field, &number, &bytes);)
        if (field == 2 && n < 8)
            samples[n++] = read_sample(bytes);
    assert_int_equal(n, 2);
    assert_int_equal(samples[0].depth, 1);
    assert_int_equal(samples[1].depth, 2);
    assert_int_equal(samples[0].n, 2); /* samples, nanoseconds */
    assert_int_equal(samples[0].values[0], 1);
    assert_int_equal(samples[0].values[1], 1000);
    assert_int_equal(samples[1].values[0], 2);
    assert_int_equal(samples[1].values[1], 2000);
    free(text);
}

/* The fields of a message, nested ones in braces: those of a location are its lines. */
static void describe(FILE *out, struct wire wire, bool is_location)
{
    struct wire bytes = {0};
    for (uint64_t field, number; next_field(&wire, &field, &number, &bytes); bytes = (struct wire){0})
        if (is_location && field == 4) {
            fprintf(out, " {");
            describe(out, bytes, false);
            fprintf(out, " }");
        } else {
            fprintf(out, " %d=%d", (int)field, (int)number);
        }
}

/* All but the samples: modules, locations with their lines, functions, and the strings that their numbers are of. */
static void pprof_tables(void **state)
{
    static const char expected[] =
        "3 1=1 2=4096 3=12288 5=8 6=9 7=1 8=1 9=1 10=1\n"
        "4 1=1 2=1 3=4100 { 1=1 2=12 }\n"
        "4 1=2 2=1 3=8192 { 1=2 2=21 }\n"
        "5 1=1 2=10 3=10 4=11 5=10\n"
        "5 1=2 2=12 3=12 4=11 5=20\n"
        "strings:  samples count nanoseconds thread thread_number component thread 1 /bin/shop c0ffee main shop.c work";
    size_t size, shown_size;
    char *text = written("pprof", (struct as_export_options){.series = "clock", .uncompressed = true}, &size), *shown;
    struct wire wire = {(const uint8_t *)text, (const uint8_t *)text + size}, bytes = {0};
    FILE *out = open_memstream(&shown, &shown_size);
    for (uint64_t field, number; next_field(&wire, &field, &number, &bytes);)
        if (field >= 3 && field <= 5) {
            fprintf(out, "%d", (int)field);
            describe(out, bytes, field == 4);
            fprintf(out, "\n");
        }
    fprintf(out, "strings:");
    wire.at = (const uint8_t *)text;
    for (uint64_t field, number; next_field(&wire, &field, &number, &bytes);)
        if (field == 6)
            fprintf(out, " %.*s", (int)number, (const char *)bytes.at);
    fclose(out);
    if (strncmp(shown, expected, strlen(expected)) != 0)
        fail_msg("%s", shown);
    free(shown);
    free(text);
}

static unsigned count(const char *text, const char *part)
{
    unsigned n = 0;
    for (const char *at = text; (at = strstr(at, part)); at++)
        n++;
    return n;
}

/* Three samples of 253 quarters each, at 126, 379 and 633: one in the load, and two in the store. */
static void samples_are_chosen_evenly(void **state)
{
    size_t size;
    char *text = written("perf-script", (struct as_export_options){.samples = 3}, &size);
    assert_int_equal(count(text, "cycles:"), 3);
    assert_int_equal(count(text, " 2000 work"), 1);
    assert_int_equal(count(text, " 2004 work"), 2);
    assert_int_equal(count(text, " 1004 main"), 3); /* their caller */
    free(text);
}

/* The number of pprof's first mapping, of a program by this name. What is less than half a cycle (scale 4) is nothing. */
static uint64_t first_mapping(const char *program)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_store_writer *writer = bed_writer(bed_path("named.db"));
    if (program)
        as_store_add_meta(writer, AS_META_PROGRAM, program);
    as_store_add_thread(writer, &(struct as_store_thread){1, 4711, NULL, 0, 0, 0});
    as_store_add_module(writer, &(struct as_store_module){.path = "/lib/first.so"});
    as_store_add_module(writer, &(struct as_store_module){.path = "/bin/shop"});
    for (uint32_t i = 0; i < 3; i++)
        as_store_add_instruction(
            writer, &(struct as_store_insn){
                        {0x5000 * (i + 1), i == 0 ? 0 : 1, NONE, NONE, NONE, 0, NONE}, 0, "nop", "nop", NULL, 0});
    uint32_t s = as_store_add_series(
        writer,
        &(struct as_store_series){.name = "golden", .exact = true, .unit = "cycles", .scale = 4, .precise = -1});
    as_store_add_time(writer, &(struct as_store_time){s, 0, 0, 12, 0, 1});
    as_store_add_time(writer, &(struct as_store_time){s, 0, 1, 20, 0, 1});
    as_store_add_time(writer, &(struct as_store_time){s, 0, 2, 1, 0, 1});
    bed_commit(writer);
    struct as_store *named = bed_open(bed_path("named.db"));
    char *text = NULL;
    size_t size, mappings = 0, samples = 0;
    uint64_t first = 0;
    FILE *out = open_memstream(&text, &size);
    assert_true(as_export_find("pprof")->write(named, &(struct as_export_options){.uncompressed = true}, out, &err));
    assert_int_equal(fclose(out), 0);
    struct wire wire = {(const uint8_t *)text, (const uint8_t *)text + size}, bytes = {0}, inner = {0};
    for (uint64_t field, number, id; next_field(&wire, &field, &number, &bytes);) {
        samples += field == 2;
        if (field != 3)
            continue;
        assert_true(next_field(&bytes, &field, &id, &inner) && field == 1);
        first = mappings++ ? first : id;
    }
    assert_int_equal(mappings, 2);
    assert_int_equal(samples, 2);
    free(text);
    as_store_close(named);
    return first;
}

/* pprof takes the first mapping for the program: the module of its path, else of its name, else what comes first. */
static void the_program_is_the_first_mapping(void **state)
{
    assert_int_equal(first_mapping("shop"), 2);
    assert_int_equal(first_mapping("/bin/shop"), 2);
    assert_int_equal(first_mapping("/opt/shop"), 2);
    assert_int_equal(first_mapping("/lib/first.so"), 1);
    assert_int_equal(first_mapping("/bin/gone"), 1);
    assert_int_equal(first_mapping(NULL), 1);
}

/* Where an address is in its file: by the segments of a file that is there, else as if it were mapped from its start. */
static int find_code(struct dl_phdr_info *info, size_t size, void *data)
{
    uint64_t *found = data, address = (uintptr_t)find_code;
    found[0] = info->dlpi_addr;
    for (unsigned i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_LOAD && info->dlpi_phdr[i].p_flags & PF_X)
            found[1] = address - info->dlpi_addr - info->dlpi_phdr[i].p_vaddr + info->dlpi_phdr[i].p_offset;
    return 1; /* the program itself comes first */
}

static void offsets_in_files(void **state)
{
    uint64_t found[2] = {0}, address = (uintptr_t)find_code;
    dl_iterate_phdr(find_code, found);
    struct stat info;
    assert_int_equal(stat("/proc/self/exe", &info), 0);
    struct as_store_module gone = {.path = "/absent", .base = 0x7000},
                           here = {.path = "/proc/self/exe", .base = found[0]};
    here.file_size = (uint64_t)info.st_size;
    here.file_time = info.st_mtim.tv_sec * INT64_C(1000000000) + info.st_mtim.tv_nsec;
    assert_true(found[1] != 0);
    assert_int_equal(as_export_file_offset(&here, address), found[1]);
    assert_int_equal(as_export_file_offset(&here, found[0] + (UINT64_C(1) << 40)), UINT64_C(1)
                                                                                       << 40); /* in no segment */
    here.file_time++;                                                                          /* another file */
    assert_int_equal(as_export_file_offset(&here, address), address - found[0]);
    assert_int_equal(as_export_file_offset(&gone, 0x7123), 0x123);
    assert_int_equal(as_export_file_offset(&gone, 0x6fff), 0);
}

/* A file of 64 bits with three segments: data, code that begins in the middle of a page, and code that begins before its file would. */
struct made_file {
    Elf64_Ehdr header;
    Elf64_Phdr segments[3];
};
static const struct made_file made_file = {
    .header = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB},
               .e_phoff = offsetof(struct made_file, segments),
               .e_phentsize = sizeof(Elf64_Phdr),
               .e_phnum = 3},
    .segments = {{.p_type = PT_LOAD, .p_flags = PF_R, .p_vaddr = 0x2000, .p_offset = 0x9000, .p_filesz = 0x4000},
                 {.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_vaddr = 0x2010, .p_offset = 0x1010, .p_filesz = 0x500},
                 {.p_type = PT_LOAD, .p_flags = PF_X, .p_vaddr = 0x7010, .p_offset = 0xf, .p_filesz = 0x500}}};

static uint64_t offset_in(const struct made_file *file, size_t size, uint64_t address)
{
    enum { BASE = 0x100000 };
    const char *path = bed_path("segments");
    struct stat info;
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    assert_int_equal(fwrite(file, 1, size, out), size);
    assert_int_equal(fclose(out), 0);
    assert_int_equal(stat(path, &info), 0);
    struct as_store_module module = {.path = path, .base = BASE, .file_size = size};
    module.file_time = info.st_mtim.tv_sec * INT64_C(1000000000) + info.st_mtim.tv_nsec;
    return as_export_file_offset(&module, BASE + address);
}

static void offsets_by_segments(void **state)
{
    const size_t whole = sizeof made_file;
    assert_int_equal(offset_in(&made_file, whole, 0x2000), 0x1000); /* the page in which it begins */
    assert_int_equal(offset_in(&made_file, whole, 0x2010), 0x1010);
    assert_int_equal(offset_in(&made_file, whole, 0x250f), 0x150f);
    assert_int_equal(offset_in(&made_file, whole, 0x2510), 0x2510); /* behind it: in none */
    assert_int_equal(offset_in(&made_file, whole, 0x1fff), 0x1fff);
    assert_int_equal(offset_in(&made_file, whole, 0x7010), 0x7010);
    assert_int_equal(offset_in(&made_file, whole - 1, 0x2010), 0x1010);
    assert_int_equal(offset_in(&made_file, whole - sizeof(Elf64_Phdr) - 1, 0x2010), 0x2010); /* cut off */
    assert_int_equal(offset_in(&made_file, sizeof(Elf64_Ehdr) - 1, 0x2010), 0x2010);
    struct made_file other = made_file;
    other.segments[2].p_offset = 0x10; /* of the page, just enough */
    assert_int_equal(offset_in(&other, whole, 0x7011), 0x11);
    other.header.e_ident[EI_CLASS] = ELFCLASS32;
    assert_int_equal(offset_in(&other, whole, 0x2010), 0x2010);
    other = made_file;
    other.header.e_ident[EI_DATA] = ELFDATA2MSB;
    assert_int_equal(offset_in(&other, whole, 0x2010), 0x2010);
    other = made_file;
    other.header.e_ident[1] = 'e';
    assert_int_equal(offset_in(&other, whole, 0x2010), 0x2010);
    other = made_file;
    other.header.e_phentsize++;
    assert_int_equal(offset_in(&other, whole, 0x2010), 0x2010);
    other = made_file;
    other.header.e_phoff = UINT64_MAX - sizeof(Elf64_Phdr);
    assert_int_equal(offset_in(&other, whole, 0x2010), 0x2010);
}

/* What zlib gets in several pieces comes out whole; what is not packed is as it is. */
static void long_messages_are_packed(void **state)
{
    enum { SIZE = 300000 };
    struct as_error err = AS_ERROR_INIT;
    uint64_t seed = 3;
    uint8_t *bytes = as_alloc(SIZE), *back = as_alloc(SIZE + 1);
    for (size_t i = 0; i < SIZE; i++)
        bytes[i] = (uint8_t)as_random_below(&seed, 256);
    for (int packed = 0; packed < 2; packed++) {
        char *text = NULL;
        size_t size;
        struct as_proto_file file;
        struct as_str message = {0};
        FILE *out = open_memstream(&text, &size);
        assert_true(as_proto_file_open(&file, out, packed, &err));
        as_str_add_bytes(&message, (const char *)bytes, SIZE - 1);
        as_proto_file_write(&file, &message);
        assert_int_equal(message.len, 0);
        as_str_add_bytes(&message, (const char *)bytes + SIZE - 1, 1);
        as_proto_file_write(&file, &message);
        as_proto_file_close(&file);
        assert_int_equal(fclose(out), 0);
        z_stream stream = {.next_in = (uint8_t *)text, .avail_in = (uInt)size, .next_out = back, .avail_out = SIZE + 1};
        if (packed) {
            assert_int_equal(inflateInit2(&stream, 15 + 16), Z_OK);
            assert_int_equal(inflate(&stream, Z_FINISH), Z_STREAM_END);
            assert_int_equal(stream.total_out, SIZE);
            inflateEnd(&stream);
        } else
            assert_int_equal(size, SIZE);
        assert_memory_equal(packed ? (const char *)back : text, bytes, SIZE);
        as_str_free(&message);
        free(text);
    }
    free(bytes);
    free(back);
}

static void every_format_is_found(void **state)
{
    struct as_str names = {0};
    size_t n = 0;
    for (; as_export_formats[n]; n++)
        assert_ptr_equal(as_export_find(as_export_formats[n]->name), as_export_formats[n]);
    assert_int_equal(n, 7);
    assert_null(as_export_find("paper"));
    as_export_name_formats(&names);
    assert_non_null(strstr(as_str_get(&names), "callgrind, "));
    as_str_free(&names);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(folded),
        cmocka_unit_test(csv),
        cmocka_unit_test(callgrind),
        cmocka_unit_test(speedscope),
        cmocka_unit_test(perf_script),
        cmocka_unit_test(json),
        cmocka_unit_test(json_of_a_thread),
        cmocka_unit_test(pprof),
        cmocka_unit_test(pprof_tables),
        cmocka_unit_test(samples_are_chosen_evenly),
        cmocka_unit_test(the_program_is_the_first_mapping),
        cmocka_unit_test(offsets_by_segments),
        cmocka_unit_test(long_messages_are_packed),
        cmocka_unit_test(offsets_in_files),
        cmocka_unit_test(every_format_is_found),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
