/* All kinds of report as text, JSON and CSV, on the profiles of view_bed.h, against tests/golden/report_*.txt: a wrong
 * number, a lost row, a column in another's place or another order is seen. */
#include "unit.h"

#include "report/report_kinds.h"
#include "report_bed.h"
#include "unit_golden.h"
#include "view_bed.h"

static const struct as_term plain = {.width = 80}, wide = {.width = 130, .utf8 = true},
                            colour = {.width = 100, .colour = true, .utf8 = true}, narrow = {.width = 50};

static void put_whole_text(FILE *out, const struct as_report_kind *kind, const struct as_report_request *request,
                           const struct as_term *term)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_report_request wanted = *request;
    wanted.text = true;
    void *state = kind->make(&wanted, &err);
    if (!state)
        fail_msg("%s", err.message);
    kind->text(state, out, term);
    kind->free(state);
}

static void put_text(FILE *out, const struct as_report_kind *kind, const struct as_report_request *request,
                     const struct as_term *term)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    put_whole_text(file, kind, request, term);
    fclose(file);
    report_bed_put_text(out, text, request->other ? &request->other->summary : &request->view->summary, term);
    free(text);
}

static void put_whole_json(FILE *out, const struct as_report_kind *kind, const struct as_report_request *request)
{
    struct as_error err = AS_ERROR_INIT;
    void *state = kind->make(request, &err);
    assert_non_null(state);
    struct as_json *json = as_json_new(out);
    as_json_object(json, NULL);
    assert_true(kind->json(state, json, &err));
    as_json_end(json);
    assert_true(as_json_finish(json));
    kind->free(state);
}

static void put_json(FILE *out, const struct as_report_kind *kind, const struct as_report_request *request)
{
    char *text = NULL;
    size_t size = 0;
    FILE *json = open_memstream(&text, &size);
    put_whole_json(json, kind, request);
    fclose(json);
    report_bed_put_json(out, text);
    free(text);
}

/* Lines end in CR and LF, which golden files show as they are. */
static void put_csv(FILE *out, const struct as_report_kind *kind, const struct as_report_request *request)
{
    struct as_error err = AS_ERROR_INIT;
    void *state = kind->make(request, &err);
    assert_non_null(state);
    assert_true(kind->csv(state, out, &err));
    kind->free(state);
}

/* Every writer of a kind, with all rows. */
static void put_all(FILE *out, const struct as_report_kind *kind, const struct as_report_request *request,
                    const char *title)
{
    unit_golden_section(out, "%s, 80 columns", title);
    put_text(out, kind, request, &plain);
    unit_golden_section(out, "%s, 130 columns, UTF-8", title);
    put_text(out, kind, request, &wide);
    unit_golden_section(out, "%s, JSON", title);
    put_json(out, kind, request);
    unit_golden_section(out, "%s, CSV", title);
    put_csv(out, kind, request);
}

static void rows(void **state)
{
    struct as_view view = view_bed_open("shop.db", NULL), tea = view_bed_open("shop.db", "tea");
    FILE *out = unit_golden_begin();
    put_all(out, &as_report_rows, &(struct as_report_request){.view = &view}, "functions");
    put_all(out, &as_report_rows, &(struct as_report_request){.view = &tea, .by = AS_REPORT_BY_INSTRUCTION},
            "instructions of tea");
    unit_golden_section(out, "colours");
    put_text(out, &as_report_rows, &(struct as_report_request){.view = &view}, &colour);
    unit_golden_section(out, "50 columns, the first two by executions");
    put_text(out, &as_report_rows,
             &(struct as_report_request){.view = &view, .limit = 2, .limited = true, .sort = "executions"}, &narrow);
    unit_golden_section(out, "50 columns, instructions");
    put_text(out, &as_report_rows, &(struct as_report_request){.view = &view, .by = AS_REPORT_BY_INSTRUCTION}, &narrow);
    unit_golden_section(out, "by an event");
    put_text(out, &as_report_rows, &(struct as_report_request){.view = &view, .sort = "ST-LLC"}, &plain);
    unit_golden_section(out, "the first, as JSON and CSV");
    put_json(out, &as_report_rows, &(struct as_report_request){.view = &view, .limit = 1});
    put_csv(out, &as_report_rows, &(struct as_report_request){.view = &view, .limit = 1});
    as_view_free(&view);
    as_view_free(&tea);
    unit_golden_check(out, "report_rows.txt");
}

static void rows_at_every_level(void **state)
{
    struct as_view view = view_bed_open("shop.db", NULL);
    FILE *out = unit_golden_begin();
    for (int by = 0; by < AS_REPORT_BY_CPU; by++) {
        struct as_report_request request = {.view = &view, .by = (enum as_report_by)by};
        unit_golden_section(out, "%s", as_report_by_names[by]);
        put_text(out, &as_report_rows, &request, &plain);
        put_csv(out, &as_report_rows, &request);
    }
    unit_golden_section(out, "threads, processes, commands, instructions, modules as JSON");
    put_json(out, &as_report_rows, &(struct as_report_request){.view = &view, .by = AS_REPORT_BY_THREAD});
    put_json(out, &as_report_rows, &(struct as_report_request){.view = &view, .by = AS_REPORT_BY_PROCESS});
    put_json(out, &as_report_rows, &(struct as_report_request){.view = &view, .by = AS_REPORT_BY_COMMAND});
    put_json(out, &as_report_rows, &(struct as_report_request){.view = &view, .by = AS_REPORT_BY_INSTRUCTION});
    put_json(out, &as_report_rows, &(struct as_report_request){.view = &view, .by = AS_REPORT_BY_MODULE});
    as_view_free(&view);
    unit_golden_check(out, "report_levels.txt");
}

static void filters(void **state)
{
    struct as_view view = view_bed_open_with(&(struct as_view_options){.file = "shop.db",
                                                                       .modules = VIEW_BED_WORDS("shop", "lib*"),
                                                                       .symbols = VIEW_BED_WORDS("sell"),
                                                                       .events = VIEW_BED_WORDS("ST-L1")});
    struct as_view thread =
        view_bed_open_with(&(struct as_view_options){.file = "shop.db", .threads = VIEW_BED_WORDS("2")});
    FILE *out = unit_golden_begin();
    unit_golden_section(out, "modules, symbol and event");
    put_text(out, &as_report_rows, &(struct as_report_request){.view = &view}, &plain);
    put_json(out, &as_report_rows, &(struct as_report_request){.view = &view});
    unit_golden_section(out, "a thread");
    put_text(out, &as_report_rows, &(struct as_report_request){.view = &thread}, &plain);
    put_text(out, &as_report_calls, &(struct as_report_request){.view = &thread}, &plain);
    put_text(out, &as_report_flame, &(struct as_report_request){.view = &thread}, &plain);
    put_json(out, &as_report_rows, &(struct as_report_request){.view = &thread});
    as_view_free(&view);
    as_view_free(&thread);
    unit_golden_check(out, "report_filters.txt");
}

static void calls(void **state)
{
    struct as_view view = view_bed_open("shop.db", NULL), tea = view_bed_open("shop.db", "tea");
    FILE *out = unit_golden_begin();
    put_all(out, &as_report_calls, &(struct as_report_request){.view = &view}, "golden");
    put_all(out, &as_report_calls, &(struct as_report_request){.view = &tea}, "tea");
    unit_golden_section(out, "colours");
    put_text(out, &as_report_calls, &(struct as_report_request){.view = &view}, &colour);
    unit_golden_section(out, "50 columns");
    put_text(out, &as_report_calls, &(struct as_report_request){.view = &view}, &narrow);
    unit_golden_section(out, "30 and 20 columns");
    put_text(out, &as_report_calls, &(struct as_report_request){.view = &tea}, &(struct as_term){.width = 30});
    put_text(out, &as_report_calls, &(struct as_report_request){.view = &view}, &(struct as_term){.width = 20});
    unit_golden_section(out, "the three largest");
    struct as_report_request three = {.view = &view, .limit = 3, .limited = true};
    put_text(out, &as_report_calls, &three, &plain);
    put_csv(out, &as_report_calls, &three);
    put_json(out, &as_report_calls, &three);
    as_view_free(&view);
    as_view_free(&tea);
    unit_golden_check(out, "report_calls.txt");
}

static void flame(void **state)
{
    struct as_view view = view_bed_open("shop.db", NULL), tea = view_bed_open("shop.db", "tea");
    const struct as_term *terms[] = {&plain, &wide, &colour, &narrow, &(struct as_term){.width = 20}};
    FILE *out = unit_golden_begin();
    for (size_t i = 0; i < 5; i++) {
        unit_golden_section(out, "%u columns", terms[i]->width);
        put_text(out, &as_report_flame, &(struct as_report_request){.view = &view}, terms[i]);
        put_text(out, &as_report_flame, &(struct as_report_request){.view = &tea}, terms[i]);
    }
    as_view_free(&view);
    as_view_free(&tea);
    unit_golden_check(out, "report_flame.txt");
}

/* A caller without callees, and one with one: what is called stands below its caller, not at the left. */
static void flame_with_a_gap(void **state)
{
    static const char *const names[] = {"lone", "outer", "inner"};
    static const struct as_store_path all[] = {{AS_STORE_NONE, 0, AS_STORE_NONE, 0x1000, 0, false},
                                               {AS_STORE_NONE, 1, AS_STORE_NONE, 0x1010, 0, false},
                                               {1, 2, AS_STORE_NONE, 0x1020, 0x1014, false}};
    static const uint64_t units[] = {600, 0, 400};
    struct as_store_writer *writer = bed_writer("gap.db");
    as_store_add_thread(writer, &(struct as_store_thread){1, 100, NULL, 1000, 0, 0});
    as_store_add_module(writer, &(struct as_store_module){.path = "/opt/gap"});
    uint32_t series = as_store_add_series(
        writer,
        &(struct as_store_series){.name = "golden", .exact = true, .unit = "cycles", .scale = 1, .precise = -1});
    for (uint32_t i = 0; i < 3; i++) {
        uint64_t start = 0x1000 + 16 * i;
        as_store_add_function(writer, &(struct as_store_function){names[i], NULL, 0, AS_STORE_NONE, 0, start, 16});
        as_store_add_instruction(
            writer, &(struct as_store_insn){
                        {start, 0, i, AS_STORE_NONE, AS_STORE_NONE, 0, AS_STORE_NONE}, 0, "nop", "nop", NULL, 0});
        as_store_add_path(writer, &all[i]);
    }
    for (uint32_t i = 0; i < 3; i += 2) {
        as_store_add_time(writer, &(struct as_store_time){series, 0, i, units[i], 0, 1});
        as_store_add_path_time(writer, &(struct as_store_path_time){series, 0, i, AS_STORE_NONE, units[i], 0});
    }
    bed_commit(writer);
    struct as_view view = view_bed_open("gap.db", NULL);
    FILE *out = unit_golden_begin();
    put_text(out, &as_report_flame, &(struct as_report_request){.view = &view}, &(struct as_term){.width = 50});
    as_view_free(&view);
    unit_golden_check(out, "report_flame_gap.txt");
}

static void data(void **state)
{
    struct as_view view = view_bed_open("shop.db", "tea");
    FILE *out = unit_golden_begin();
    put_all(out, &as_report_data, &(struct as_report_request){.view = &view}, "objects");
    put_all(out, &as_report_data, &(struct as_report_request){.view = &view, .by = AS_REPORT_BY_LINE}, "lines");
    put_all(out, &as_report_data, &(struct as_report_request){.view = &view, .by = AS_REPORT_BY_INSTRUCTION},
            "instructions");
    unit_golden_section(out, "the first two");
    struct as_report_request two = {.view = &view, .limit = 2, .by = AS_REPORT_BY_OBJECT};
    put_text(out, &as_report_data, &two, &colour);
    put_json(out, &as_report_data, &two);
    put_csv(out, &as_report_data, &two);
    as_view_free(&view);
    unit_golden_check(out, "report_data.txt");
}

static void branches(void **state)
{
    struct as_view view = view_bed_open("shop.db", "tea");
    FILE *out = unit_golden_begin();
    put_all(out, &as_report_branches, &(struct as_report_request){.view = &view}, "all");
    unit_golden_section(out, "the first two");
    struct as_report_request two = {.view = &view, .limit = 2};
    put_text(out, &as_report_branches, &two, &colour);
    put_json(out, &as_report_branches, &two);
    put_csv(out, &as_report_branches, &two);
    as_view_free(&view);
    view = view_bed_open_with(
        &(struct as_view_options){.file = "shop.db", .series = "tea", .symbols = VIEW_BED_WORDS("sell")});
    unit_golden_section(out, "of sell");
    put_text(out, &as_report_branches, &(struct as_report_request){.view = &view}, &plain);
    as_view_free(&view);
    unit_golden_check(out, "report_branches.txt");
}

static void diff(void **state)
{
    struct as_view view = view_bed_open("shop.db", NULL), old = view_bed_open("old.db", NULL);
    FILE *out = unit_golden_begin();
    put_all(out, &as_report_diff, &(struct as_report_request){.view = &view, .other = &old}, "functions");
    put_all(out, &as_report_diff, &(struct as_report_request){.view = &old, .other = &view, .by = AS_REPORT_BY_LINE},
            "lines, the other way round");
    unit_golden_section(out, "the first two");
    struct as_report_request two = {.view = &view, .other = &old, .limit = 2};
    put_text(out, &as_report_diff, &two, &colour);
    put_json(out, &as_report_diff, &two);
    put_csv(out, &as_report_diff, &two);
    unit_golden_section(out, "with itself");
    put_text(out, &as_report_diff, &(struct as_report_request){.view = &view, .other = &view}, &plain);
    as_view_free(&view);
    as_view_free(&old);
    unit_golden_check(out, "report_diff.txt");
}

/* Heads of all series. */
static void heads(void **state)
{
    static const char *const series[] = {"golden", "tea", "bytes", "clock"};
    FILE *out = unit_golden_begin();
    for (size_t i = 0; i < 4; i++) {
        struct as_view view = view_bed_open("shop.db", series[i]);
        unit_golden_section(out, "%s", series[i]);
        put_whole_text(out, &as_report_rows, &(struct as_report_request){.view = &view}, &plain);
        put_whole_json(out, &as_report_rows, &(struct as_report_request){.view = &view, .limit = 1});
        as_view_free(&view);
    }
    unit_golden_check(out, "report_heads.txt");
}

/* Notes on what is missing, from the part on that misleads. */
static void write_missing(const char *path, double less)
{
    static const struct {
        const char *key;
        double least;
        const char *text;
    } parts[] = {{"not_sampled", 0.2, "not_sampled"},
                 {"cut_chains", 0.01, "cut_chains"},
                 {"lone_chains", 0.5, "part of the call chains have no caller"},
                 {"not_unwound", 0.2, "not_unwound"},
                 {"unmatched_files", 0.2, "unmatched_files"}};
    struct as_store_writer *writer = bed_writer(path);
    as_store_add_series(writer,
                        &(struct as_store_series){.name = "clock", .unit = "nanoseconds", .scale = 1, .precise = -1});
    as_store_add_meta(writer, AS_META_SOURCE, "timer");
    as_store_add_meta(writer, AS_META_PARTIAL, "it was interrupted");
    as_store_add_meta_double(writer, AS_META_SECONDS, 1.5);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        as_store_add_quality(writer, parts[i].key, parts[i].least - less, parts[i].text);
    bed_commit(writer);
}

static void missing_parts(void **state)
{
    FILE *out = unit_golden_begin();
    for (int i = 0; i < 2; i++) {
        write_missing("missing.db", i * 1e-6);
        struct as_view view = view_bed_open("missing.db", NULL);
        unit_golden_section(out, "%s", i ? "just below" : "enough");
        put_whole_text(out, &as_report_rows, &(struct as_report_request){.view = &view}, &plain);
        as_view_free(&view);
    }
    unit_golden_check(out, "report_missing.txt");
}

/* What the agent could not count, where it is a call or more. */
static void agent_notes(void **state)
{
    struct as_store_writer *writer = bed_writer("agent.db");
    uint32_t series = as_store_add_series(
        writer, &(struct as_store_series){.name = "bytes", .unit = "bytes", .scale = 1, .precise = -1, .samples = 2});
    as_store_add_quality(writer, "agent_first", 2, "that came first");
    as_store_add_quality(writer, "agent_half", 0.5, "that do not count");
    as_store_add_quality(writer, "agent_one", 1, "that came last");
    as_store_add_thread(writer, &(struct as_store_thread){1, 7, NULL, 0, 0, 0});
    as_store_add_instruction(writer, &(struct as_store_insn){{16, AS_STORE_NONE, AS_STORE_NONE, AS_STORE_NONE,
                                                              AS_STORE_NONE, 0, AS_STORE_NONE},
                                                             0,
                                                             "call",
                                                             NULL,
                                                             NULL,
                                                             0});
    as_store_add_time(writer, &(struct as_store_time){series, 0, 0, 64, 2, 0});
    as_store_add_object(writer, &(struct as_store_object){AS_STORE_NONE, "ab", 0, 8});
    as_store_add_access(writer, &(struct as_store_access){series, 0, 0, 64, 4, AS_STORE_LOAD, 0, 0, 64, 2});
    bed_commit(writer);
    struct as_view view = view_bed_open("agent.db", NULL);
    FILE *out = unit_golden_begin();
    unit_golden_section(out, "notes");
    put_whole_text(out, &as_report_rows, &(struct as_report_request){.view = &view}, &plain);
    unit_golden_section(out, "a short name");
    put_text(out, &as_report_data, &(struct as_report_request){.view = &view}, &plain);
    as_view_free(&view);
    unit_golden_check(out, "report_agent.txt");
}

static void write_one(const char *path, uint64_t units)
{
    struct as_store_writer *writer = bed_writer(path);
    uint32_t series = as_store_add_series(
        writer,
        &(struct as_store_series){.name = "golden", .unit = "cycles", .scale = 1, .exact = true, .precise = -1});
    as_store_add_thread(writer, &(struct as_store_thread){1, 7, NULL, 0, 0, 0});
    as_store_add_function(writer, &(struct as_store_function){"f", NULL, AS_STORE_NONE, AS_STORE_NONE, 0, 16, 4});
    as_store_add_instruction(
        writer, &(struct as_store_insn){
                    {16, AS_STORE_NONE, 0, AS_STORE_NONE, AS_STORE_NONE, 0, AS_STORE_NONE}, 0, "nop", NULL, NULL, 0});
    as_store_add_time(writer, &(struct as_store_time){series, 0, 0, units, 1, 0});
    bed_commit(writer);
}

/* Changes from too small to be told to a thousandfold, both ways. */
static void changes_of_any_size(void **state)
{
    static const uint64_t sizes[] = {100004, 100006, 100499, 100501, 99999000, 100000000};
    struct as_report_request request = {.limit = 0};
    FILE *out = unit_golden_begin();
    write_one("one.db", 100000);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        write_one("other.db", sizes[i]);
        struct as_view one = view_bed_open("one.db", NULL), other = view_bed_open("other.db", NULL);
        unit_golden_section(out, "%zu", (size_t)sizes[i]);
        request.view = &other;
        request.other = &one;
        put_text(out, &as_report_diff, &request, &plain);
        request.view = &one;
        request.other = &other;
        put_text(out, &as_report_diff, &request, &plain);
        as_view_free(&one);
        as_view_free(&other);
    }
    unit_golden_check(out, "report_changes.txt");
}

/* ---- what applies ---- */

static void refused(const struct as_report_kind *kind, enum as_report_by by, bool sorted,
                    struct as_report_filters filters, const char *message)
{
    struct as_error err = AS_ERROR_INIT;
    assert_false(as_report_kind_takes(kind, by, sorted, filters, &err));
    assert_string_equal(err.message, message);
    assert_int_equal(err.status, AS_EXIT_USAGE);
}

static void accepted(const struct as_report_kind *kind, enum as_report_by by, bool sorted,
                     struct as_report_filters filters)
{
    struct as_error err = AS_ERROR_INIT;
    assert_true(as_report_kind_takes(kind, by, sorted, filters, &err));
}

static void what_applies(void **state)
{
    const struct as_report_filters none = {0}, all = {true, true, true, true}, time = {.time = true};
    for (int by = 0; by < AS_REPORT_BY_OBJECT; by++) {
        accepted(&as_report_rows, (enum as_report_by)by, true, all);
        accepted(&as_report_diff, (enum as_report_by)by, false, all);
    }
    refused(&as_report_rows, AS_REPORT_BY_OBJECT, false, none,
            "--by=object does not apply to rows: it is only for --data");
    accepted(&as_report_calls, 0, false, (struct as_report_filters){.threads = true});
    refused(&as_report_calls, 0, false, (struct as_report_filters){.places = true},
            "--module or --symbol does not apply to call paths");
    refused(&as_report_calls, 0, false, (struct as_report_filters){.events = true},
            "--event does not apply to call paths");
    refused(&as_report_calls, AS_REPORT_BY_LINE, false, none, "--by=line does not apply to call paths");
    refused(&as_report_calls, 0, true, none, "--sort is for rows; --calls has its own order");
    accepted(&as_report_flame, 0, false, (struct as_report_filters){.threads = true});
    refused(&as_report_flame, AS_REPORT_BY_FILE, false, none, "--by=file does not apply to call paths");
    refused(&as_report_branches, 0, false, (struct as_report_filters){.threads = true},
            "--thread does not apply to branches");
    accepted(&as_report_branches, 0, false, (struct as_report_filters){.places = true});
    accepted(&as_report_data, AS_REPORT_BY_OBJECT, false, (struct as_report_filters){true, true, false});
    accepted(&as_report_data, AS_REPORT_BY_LINE, false, none);
    accepted(&as_report_data, AS_REPORT_BY_INSTRUCTION, false, none);
    accepted(&as_report_data, AS_REPORT_BY_FUNCTION, false, none);
    refused(&as_report_data, AS_REPORT_BY_MODULE, false, none, "--by=module does not apply to data");
    refused(&as_report_data, AS_REPORT_BY_OBJECT, false, time, "--time does not apply to data");
    accepted(&as_report_calls, 0, false, time);
    refused(&as_report_diff, 0, true, none, "--sort is for rows; --diff has its own order");
    assert_null(as_report_flame.json);
    assert_null(as_report_flame.csv);
}

/* A kind that cannot be made says why and leaves nothing behind. */
static void what_is_not_there(void **state)
{
    struct as_view clock = view_bed_open("shop.db", "clock"), view = view_bed_open("shop.db", NULL);
    const struct as_report_kind *const kinds[] = {&as_report_calls, &as_report_flame, &as_report_branches,
                                                  &as_report_data,  &as_report_diff,  &as_report_rows};
    static const char *const messages[] = {"no call paths", "no call paths", "no branches",
                                           "data address",  "counts",        "--sort=size"};
    for (size_t i = 0; i < 6; i++) {
        struct as_error err = AS_ERROR_INIT;
        struct as_report_request request = {.view = &clock, .other = &view, .sort = "size"};
        assert_null(kinds[i]->make(&request, &err));
        assert_non_null(strstr(err.message, messages[i]));
    }
    as_view_free(&clock);
    as_view_free(&view);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows),
        cmocka_unit_test(rows_at_every_level),
        cmocka_unit_test(filters),
        cmocka_unit_test(calls),
        cmocka_unit_test(flame),
        cmocka_unit_test(flame_with_a_gap),
        cmocka_unit_test(data),
        cmocka_unit_test(branches),
        cmocka_unit_test(diff),
        cmocka_unit_test(heads),
        cmocka_unit_test(missing_parts),
        cmocka_unit_test(agent_notes),
        cmocka_unit_test(changes_of_any_size),
        cmocka_unit_test(what_applies),
        cmocka_unit_test(what_is_not_there),
    };
    return cmocka_run_group_tests(tests, view_bed_set_up, NULL);
}
