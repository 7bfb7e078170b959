/* Views and their rows: levels, orders, filters, names, components. The numbers are those of view_bed.h. */
#include "unit.h"

#include "view/rows.h"
#include "view/time_window.h"
#include "view_bed.h"

#define NONE AS_STORE_NONE
enum { L1 = 1, LLC = 2, MB = 16 };

struct wanted {
    uint32_t id;
    uint64_t units, samples, executions;
};

static void check_rows(const struct as_store_rows *rows, const struct wanted *wanted, size_t n)
{
    uint64_t units = 0;
    assert_int_equal(rows->n, n);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(rows->rows[i].id, wanted[i].id);
        assert_int_equal(rows->rows[i].units, wanted[i].units);
        assert_int_equal(rows->rows[i].samples, wanted[i].samples);
        assert_int_equal(rows->rows[i].executions, wanted[i].executions);
        units += wanted[i].units;
    }
    assert_int_equal(rows->units, units);
}
#define CHECK_ROWS(rows, ...)                                                                                          \
    check_rows(rows, (const struct wanted[]){__VA_ARGS__},                                                             \
               sizeof((const struct wanted[]){__VA_ARGS__}) / sizeof(struct wanted))

static struct as_rows make(const struct as_view *view, enum as_store_level level, const char *sort)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_rows list;
    if (!as_rows_make(&list, view, level, sort, &err))
        fail_msg("%s", err.message);
    return list;
}

static void check_order(const struct as_view *view, enum as_store_level level, const char *sort, const uint32_t *ids,
                        size_t n)
{
    struct as_rows list = make(view, level, sort);
    assert_int_equal(list.rows.n, n);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(list.rows.rows[i].id, ids[i]);
    as_rows_free(&list);
}
#define CHECK_ORDER(view, level, sort, ...)                                                                            \
    check_order(view, level, sort, (const uint32_t[]){__VA_ARGS__}, sizeof((const uint32_t[]){__VA_ARGS__}) / 4)

static void refused(const struct as_view *view, enum as_store_level level, const char *sort, const char *message)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_rows list;
    assert_false(as_rows_make(&list, view, level, sort, &err));
    assert_non_null(strstr(err.message, message));
    assert_int_equal(err.status, AS_EXIT_USAGE);
    as_rows_free(&list);
}

static void every_level(void **state)
{
    struct as_view view = view_bed_open("shop.db", NULL);
    struct as_rows list = make(&view, AS_STORE_BY_FUNCTION, NULL);
    CHECK_ROWS(&list.rows, {1, 2000, 0, 98}, {0, 1000, 0, 38}, {2, 760, 0, 33}, {NONE, 240, 0, 3});
    assert_int_equal(list.rows.total, 4000);
    assert_int_equal(list.order.key, AS_SORT_SELF);
    as_rows_free(&list);
    list = make(&view, AS_STORE_BY_MODULE, NULL);
    CHECK_ROWS(&list.rows, {0, 3240, 0, 139}, {1, 760, 0, 33});
    as_rows_free(&list);
    list = make(&view, AS_STORE_BY_THREAD, NULL);
    CHECK_ROWS(&list.rows, {0, 3340, 0, 154}, {1, 660, 0, 18});
    as_rows_free(&list);
    list = make(&view, AS_STORE_BY_FILE, NULL);
    /* Code without a source file is a row for each module. */
    CHECK_ROWS(&list.rows, {0, 2700, 0, 127}, {NONE, 760, 0, 33}, {1, 300, 0, 9}, {NONE, 240, 0, 3});
    as_rows_free(&list);
    list = make(&view, AS_STORE_BY_BLOCK, NULL);
    /* Code outside blocks is a row for each instruction. */
    CHECK_ROWS(&list.rows, {NONE, 1600, 0, 35}, {NONE, 760, 0, 33}, {0, 600, 0, 21}, {1, 400, 0, 17},
               {NONE, 250, 0, 31}, {NONE, 240, 0, 3}, {NONE, 150, 0, 32});
    as_rows_free(&list);
    list = make(&view, AS_STORE_BY_PROGRAM, NULL);
    assert_int_equal(list.rows.n, 1);
    assert_int_equal(list.rows.rows[0].units, 4000);
    as_rows_free(&list);
    as_view_free(&view);
}

static void lines_and_instructions(void **state)
{
    static const uint64_t lines[][3] = {{0, 21, 1600},  {NONE, 0, 760}, {0, 11, 400}, {1, 5, 300}, {0, 22, 250},
                                        {NONE, 0, 240}, {0, 12, 200},   {0, 23, 150}, {0, 14, 100}};
    struct as_view view = view_bed_open("shop.db", NULL);
    struct as_rows list = make(&view, AS_STORE_BY_LINE, NULL);
    assert_int_equal(list.rows.n, 9);
    for (size_t i = 0; i < 9; i++) {
        assert_int_equal(list.rows.rows[i].id, lines[i][0]);
        assert_int_equal(list.rows.rows[i].line, lines[i][1]);
        assert_int_equal(list.rows.rows[i].units, lines[i][2]);
    }
    as_rows_free(&list);
    list = make(&view, AS_STORE_BY_INSTRUCTION, NULL);
    CHECK_ROWS(&list.rows, {4, 1600, 0, 35}, {7, 760, 0, 33}, {0, 400, 0, 10}, {2, 300, 0, 9}, {5, 250, 0, 31},
               {8, 240, 0, 3}, {1, 200, 0, 11}, {6, 150, 0, 32}, {3, 100, 0, 8});
    as_rows_free(&list);
    as_view_free(&view);
}

static void every_order(void **state)
{
    struct as_view view = view_bed_open("shop.db", NULL), tea = view_bed_open("shop.db", "tea");
    CHECK_ORDER(&view, AS_STORE_BY_FUNCTION, "self", 1, 0, 2, NONE);
    CHECK_ORDER(&view, AS_STORE_BY_FUNCTION, "total", 0, 1, 2, NONE);
    CHECK_ORDER(&view, AS_STORE_BY_FUNCTION, "name", NONE, 2, 0, 1);
    CHECK_ORDER(&view, AS_STORE_BY_FUNCTION, "address", 0, 1, NONE, 2);
    CHECK_ORDER(&view, AS_STORE_BY_FUNCTION, "st-llc", 1, 2, 0, NONE);
    CHECK_ORDER(&view, AS_STORE_BY_FUNCTION, "FL-MB", 0, 1, NONE, 2);
    CHECK_ORDER(&view, AS_STORE_BY_INSTRUCTION, "executions", 4, 7, 6, 5, 1, 0, 2, 3, 8);
    CHECK_ORDER(&tea, AS_STORE_BY_INSTRUCTION, "samples", 4, 7, 0);
    CHECK_ORDER(&tea, AS_STORE_BY_INSTRUCTION, "address", 0, 4, 7);
    CHECK_ORDER(&tea, AS_STORE_BY_INSTRUCTION, "ST-LLC", 7, 0, 4);
    struct as_rows list = make(&view, AS_STORE_BY_FUNCTION, "st-llc");
    assert_int_equal(list.order.key, AS_SORT_EVENT);
    assert_int_equal(list.order.event, LLC);
    assert_string_equal(list.order.event_name, "ST-LLC");
    as_rows_free(&list);
    as_view_free(&view);
    as_view_free(&tea);
}

static void orders_that_make_no_sense(void **state)
{
    struct as_view view = view_bed_open("shop.db", NULL), clock = view_bed_open("shop.db", "clock");
    struct as_view event =
        view_bed_open_with(&(struct as_view_options){.file = "shop.db", .events = VIEW_BED_WORDS("ST-L1")});
    refused(&view, AS_STORE_BY_FUNCTION, "size", "--sort=size: unknown");
    refused(&view, AS_STORE_BY_LINE, "total", "only functions have totals");
    refused(&view, AS_STORE_BY_LINE, "samples", "has no samples");
    refused(&clock, AS_STORE_BY_FUNCTION, "total", "no call paths");
    refused(&clock, AS_STORE_BY_LINE, "executions", "counts no executions");
    refused(&clock, AS_STORE_BY_LINE, "ST-L1", "records no events");
    refused(&event, AS_STORE_BY_FUNCTION, "total", "no totals of the time with an event");
    as_view_free(&event);
    as_view_free(&view);
    as_view_free(&clock);
}

static void groups_that_are_not_known(void **state)
{
    static const struct as_store_thread unknown[] = {{1, 0, NULL, 0, 0, 0}, {2, 0, "", 0, 0, 0}};
    struct as_view view = view_bed_open("shop.db", NULL);
    view.thread = unknown;
    view.n_threads = 2;
    refused(&view, AS_STORE_BY_PROCESS, NULL, "does not say to which processes");
    refused(&view, AS_STORE_BY_COMMAND, NULL, "has no names of commands");
    as_view_free(&view);
}

static void totals_of_functions(void **state)
{
    struct as_view view = view_bed_open("shop.db", NULL);
    struct as_rows list = make(&view, AS_STORE_BY_FUNCTION, NULL), lines = make(&view, AS_STORE_BY_LINE, NULL);
    const uint64_t totals[] = {2500, 3100, 760, 240};
    assert_true(as_rows_has_total(&list));
    assert_false(as_rows_has_total(&lines));
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(as_rows_total(&list, &list.rows.rows[i]), totals[i]);
    assert_int_equal(as_rows_total(&lines, &lines.rows.rows[0]), 1600);
    /* A function that control falls into has more time than its paths. */
    struct as_store_row row = {.id = 2, .units = 800};
    assert_int_equal(as_rows_total(&list, &row), 800);
    as_rows_free(&list);
    as_rows_free(&lines);
    as_view_free(&view);
}

static void filters_leave_what_they_name(void **state)
{
    struct as_view view =
        view_bed_open_with(&(struct as_view_options){.file = "shop.db", .threads = VIEW_BED_WORDS("2")});
    struct as_rows list = make(&view, AS_STORE_BY_FUNCTION, NULL);
    CHECK_ROWS(&list.rows, {1, 400, 0, 5}, {2, 260, 0, 13});
    assert_int_equal(list.rows.total, 660);
    assert_int_equal(as_rows_total(&list, &list.rows.rows[0]), 400);
    as_rows_free(&list);
    as_view_free(&view);
    view = view_bed_open_with(&(struct as_view_options){.file = "shop.db", .threads = VIEW_BED_WORDS("worker", "1")});
    list = make(&view, AS_STORE_BY_THREAD, NULL);
    CHECK_ROWS(&list.rows, {0, 3340, 0, 154}, {1, 660, 0, 18});
    as_rows_free(&list);
    as_view_free(&view);
    view = view_bed_open_with(&(struct as_view_options){.file = "shop.db", .modules = VIEW_BED_WORDS("libshop*")});
    list = make(&view, AS_STORE_BY_FUNCTION, NULL);
    CHECK_ROWS(&list.rows, {2, 760, 0, 33});
    assert_int_equal(list.rows.total, 4000);
    assert_true(as_view_counts(&view, 7));
    assert_false(as_view_counts(&view, 4));
    as_rows_free(&list);
    as_view_free(&view);
    view =
        view_bed_open_with(&(struct as_view_options){.file = "shop.db", .modules = VIEW_BED_WORDS("/opt/shop/bin/*")});
    list = make(&view, AS_STORE_BY_MODULE, NULL);
    CHECK_ROWS(&list.rows, {0, 3240, 0, 139});
    as_rows_free(&list);
    as_view_free(&view);
}

static void filters_by_symbol_and_event(void **state)
{
    struct as_view view =
        view_bed_open_with(&(struct as_view_options){.file = "shop.db", .symbols = VIEW_BED_WORDS("_Z4*", "c?unt")});
    struct as_rows list = make(&view, AS_STORE_BY_FUNCTION, NULL);
    CHECK_ROWS(&list.rows, {1, 2000, 0, 98}, {2, 760, 0, 33});
    assert_true(as_view_counts(&view, 4));
    assert_false(as_view_counts(&view, 0));
    assert_false(as_view_counts(&view, 8));
    as_rows_free(&list);
    as_view_free(&view);
    view =
        view_bed_open_with(&(struct as_view_options){.file = "shop.db", .events = VIEW_BED_WORDS("st-llc", "FL-MB")});
    assert_int_equal(view.events, LLC | MB);
    list = make(&view, AS_STORE_BY_FUNCTION, NULL);
    assert_int_equal(list.rows.n, 3);
    assert_int_equal(list.rows.rows[0].units, 1000);
    assert_int_equal(list.rows.rows[1].units, 260);
    assert_int_equal(list.rows.rows[2].units, 90);
    assert_false(as_rows_has_total(&list));
    as_rows_free(&list);
    as_view_free(&view);
}

static void filters_that_match_nothing(void **state)
{
    const struct {
        struct as_view_options options;
        const char *message;
    } cases[] = {
        {{.file = "shop.db", .threads = VIEW_BED_WORDS("3")},
         "--thread=3: the profile has no such thread; it has 2 threads"},
        {{.file = "shop.db", .modules = VIEW_BED_WORDS("libc*")}, "--module=libc*: no module"},
        {{.file = "shop.db", .symbols = VIEW_BED_WORDS("nobody")}, "--symbol=nobody: no function"},
        {{.file = "shop.db", .events = VIEW_BED_WORDS("DR")}, "no such event; its events are ST-L1, ST-LLC, FL-MB"},
        {{.file = "shop.db", .series = "clock", .events = VIEW_BED_WORDS("ST-L1")},
         "the series clock records no events"},
        {{.file = "shop.db", .series = "none"}, "no series of that name; its series are golden, tea"},
        {{.file = "nowhere.db"}, "nowhere.db"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct as_error err = AS_ERROR_INIT;
        struct as_view view;
        assert_false(as_view_open(&view, &cases[i].options, &err));
        assert_non_null(strstr(err.message, cases[i].message));
        as_view_free(&view);
    }
}

static void words_of_filters(void **state)
{
    static const char *const names[] = {"thread", "module", "symbol", "event"}, *const plurals[] = {
                                                                                    "threads", "modules", "symbols",
                                                                                    "events"};
    struct as_view view =
        view_bed_open_with(&(struct as_view_options){.file = "shop.db",
                                                     .threads = VIEW_BED_WORDS("1"),
                                                     .modules = VIEW_BED_WORDS("shop", "lib*"),
                                                     .symbols = VIEW_BED_WORDS("main", "sell", "count"),
                                                     .events = VIEW_BED_WORDS("ST-L1")});
    struct as_view_filter filters[AS_VIEW_FILTERS];
    const size_t counts[] = {1, 2, 3, 1};
    as_view_filters(&view, filters);
    for (size_t i = 0; i < AS_VIEW_FILTERS; i++) {
        assert_string_equal(filters[i].name, names[i]);
        assert_string_equal(filters[i].plural, plurals[i]);
        assert_int_equal(filters[i].words->len, counts[i]);
    }
    assert_string_equal(filters[3].words->data[0], "ST-L1");
    as_view_free(&view);
}

static void names_of_rows(void **state)
{
    struct as_view view = view_bed_open("shop.db", NULL);
    char name[AS_ROW_NAME_MAX];
    const struct {
        enum as_store_level level;
        struct as_store_row row;
        const char *name;
    } cases[] = {{AS_STORE_BY_PROGRAM, {.id = 0}, "shop"},
                 {AS_STORE_BY_THREAD, {.id = 0}, "1"},
                 {AS_STORE_BY_THREAD, {.id = 1}, "2 worker"},
                 {AS_STORE_BY_MODULE, {.id = 1}, "libshop.so.1"},
                 {AS_STORE_BY_MODULE, {.id = NONE}, "(no module)"},
                 {AS_STORE_BY_FUNCTION, {.id = 2}, "count"},
                 {AS_STORE_BY_FUNCTION, {.id = NONE, .module = 1}, "[libshop.so.1]"},
                 {AS_STORE_BY_FUNCTION, {.id = NONE, .module = NONE}, "(no function)"},
                 {AS_STORE_BY_FILE, {.id = 1}, "till.h"},
                 {AS_STORE_BY_FILE, {.id = NONE}, "(no source file)"},
                 {AS_STORE_BY_LINE, {.id = 0, .line = 12}, "shop.c:12"},
                 {AS_STORE_BY_LINE, {.id = NONE}, "(no source file)"},
                 {AS_STORE_BY_BLOCK, {.function = 0, .address = 0x1009}, "main+0x9"},
                 {AS_STORE_BY_INSTRUCTION, {.function = 1, .address = 0x1100}, "sell+0x0"},
                 {AS_STORE_BY_INSTRUCTION, {.function = 1, .address = 0x10ff}, "0x10ff"},
                 {AS_STORE_BY_INSTRUCTION, {.function = NONE, .module = NONE, .address = 0x2000}, "0x2000"},
                 {AS_STORE_BY_INSTRUCTION, {.function = NONE, .module = 1, .address = 0x5fff}, "0x5fff"},
                 {AS_STORE_BY_BLOCK, {.function = NONE, .module = 1, .address = 0x7040}, "libshop.so.1+0x1040"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(as_view_row_name(&view, cases[i].level, &cases[i].row, name), cases[i].name);
    assert_string_equal(as_view_location_name(&view, 5, name), "sell+0x4");
    assert_string_equal(as_view_location_name(&view, 8, name), "shop+0x2000");
    assert_null(as_view_module(&view, NONE));
    assert_null(as_view_file(&view, NONE));
    assert_int_equal(as_view_function_address(&view, 1), 0x1100);
    assert_int_equal(as_view_function_address(&view, NONE), 0);
    assert_true(as_view_cycles(&view, 6) == 1.5);
    as_view_free(&view);
}

/* Threads of several processes are told apart. */
static void names_of_processes(void **state)
{
    struct as_store_writer *writer = bed_writer("two.db");
    as_store_add_thread(writer, &(struct as_store_thread){1, 7, NULL, 0, 0, 0});
    as_store_add_thread(writer, &(struct as_store_thread){2, 8, "child", 0, 0, 0});
    as_store_add_thread(writer, &(struct as_store_thread){3, 0, NULL, 0, 0, 0});
    as_store_add_module(writer, &(struct as_store_module){.path = "/opt/dir/"});
    as_store_add_module(writer, &(struct as_store_module){.path = NULL});
    as_store_add_series(writer,
                        &(struct as_store_series){.name = "golden", .unit = "cycles", .scale = 1, .precise = -1});
    bed_commit(writer);
    struct as_view view = view_bed_open("two.db", NULL);
    char name[AS_ROW_NAME_MAX];
    assert_string_equal(as_view_module(&view, 0), "/opt/dir/");
    assert_null(as_view_module(&view, 1));
    static const char *const names[] = {"1, process 7", "2 child, process 8", "3", "0"};
    for (uint32_t i = 0; i < 4; i++)
        assert_string_equal(as_view_row_name(&view, AS_STORE_BY_THREAD, &(struct as_store_row){.id = i}, name),
                            names[i]);
    as_view_free(&view);
    writer = bed_writer("just_two.db");
    as_store_add_thread(writer, &(struct as_store_thread){1, 7, NULL, 0, 0, 0});
    as_store_add_thread(writer, &(struct as_store_thread){2, 8, NULL, 0, 0, 0});
    as_store_add_series(writer,
                        &(struct as_store_series){.name = "golden", .unit = "cycles", .scale = 1, .precise = -1});
    bed_commit(writer);
    view = view_bed_open("just_two.db", NULL);
    assert_string_equal(as_view_row_name(&view, AS_STORE_BY_THREAD, &(struct as_store_row){.id = 1}, name),
                        "2, process 8");
    as_view_free(&view);
}

static void names_of_components(void **state)
{
    struct as_view view = view_bed_open("shop.db", NULL);
    char name[AS_COMPONENT_MAX];
    assert_string_equal(as_view_component(&view, 0, name), "Base");
    assert_string_equal(as_view_component(&view, L1 | LLC, name), "ST-L1+ST-LLC");
    assert_string_equal(as_view_component(&view, MB, name), "FL-MB");
    static const char *const levels[] = {"program",  "thread", "process", "command", "cpu",        "module",
                                         "function", "file",   "line",    "block",   "instruction"};
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++)
        assert_string_equal(as_view_level_name((enum as_store_level)i), levels[i]);
    as_view_free(&view);
}

static void components_of_rows(void **state)
{
    static const uint64_t masks[] = {0, L1 | LLC, L1, LLC, MB}, units[] = {2250, 1000, 400, 260, 90};
    struct as_view view = view_bed_open("shop.db", NULL);
    struct as_rows list = make(&view, AS_STORE_BY_FUNCTION, NULL);
    const struct as_store_row *sell = &list.rows.rows[0];
    assert_int_equal(list.legend.n, 5);
    assert_int_equal(list.legend.total, 4000);
    assert_int_equal(list.legend.others, 0);
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(list.legend.masks[i], masks[i]);
        assert_int_equal(list.legend.units[i], units[i]);
        assert_int_equal(as_legend_key(&list.legend, masks[i]), i);
    }
    assert_int_equal(as_legend_key(&list.legend, 64), AS_LEGEND_KEYS);
    assert_int_equal(as_row_part(sell, 0), 600);
    assert_int_equal(as_row_part(sell, L1), 400);
    assert_int_equal(as_row_part(sell, LLC), 0);
    assert_int_equal(as_row_event_units(sell, L1), 1400);
    assert_int_equal(as_row_event_units(sell, LLC), 1000);
    assert_int_equal(as_row_event_units(sell, MB), 0);
    as_rows_free(&list);
    as_view_free(&view);
}

/* More components than keys: the smallest share the rest; equal ones come by their events. */
static void components_without_a_key(void **state)
{
    struct as_store_row_part parts[14];
    for (uint64_t i = 0; i < 14; i++)
        parts[i] = (struct as_store_row_part){.key = i + 1, .units = i == 3 ? 0 : 100 - i / 2};
    struct as_store_row row = {.parts = parts, .n_parts = 14};
    struct as_legend legend = as_legend_of(&(struct as_store_rows){.rows = &row, .n = 1});
    assert_int_equal(legend.n, AS_LEGEND_KEYS);
    assert_int_equal(legend.masks[0], 0);
    assert_int_equal(legend.units[0], 0);
    assert_int_equal(legend.masks[1], 1);
    assert_int_equal(legend.masks[2], 2);
    assert_int_equal(legend.masks[3], 3);
    assert_int_equal(legend.masks[4], 5);
    assert_int_equal(legend.masks[11], 12);
    assert_int_equal(legend.others, 94 + 94);
    assert_int_equal(legend.total, 100 + 100 + 99 + 98 + 98 + 97 + 97 + 96 + 96 + 95 + 95 + 94 + 94);
}

/* Base has its key also where it has no time. */
static void base_without_time(void **state)
{
    struct as_store_row_part parts[] = {{.key = 0, .units = 0}, {.key = 8, .units = 5}};
    struct as_store_row row = {.parts = parts, .n_parts = 2};
    struct as_legend legend = as_legend_of(&(struct as_store_rows){.rows = &row, .n = 1});
    assert_int_equal(legend.n, 2);
    assert_int_equal(as_legend_key(&legend, 0), 0);
    assert_int_equal(as_legend_key(&legend, 8), 1);
}

/* Rows without a number are shown where they have time, and only there. */
static void nothing_in_no_function(void **state)
{
    struct as_store_writer *writer = bed_writer("none.db");
    uint32_t series = as_store_add_series(
        writer, &(struct as_store_series){.name = "golden", .unit = "cycles", .scale = 1, .precise = -1});
    as_store_add_thread(writer, &(struct as_store_thread){1, 7, NULL, 0, 0, 0});
    as_store_add_function(writer, &(struct as_store_function){"idle", NULL, NONE, NONE, 0, 16, 4});
    as_store_add_instruction(writer,
                             &(struct as_store_insn){{16, NONE, 0, NONE, NONE, 0, NONE}, 0, "nop", NULL, NULL, 0});
    as_store_add_instruction(writer,
                             &(struct as_store_insn){{32, NONE, NONE, NONE, NONE, 0, NONE}, 0, "nop", NULL, NULL, 0});
    as_store_add_time(writer, &(struct as_store_time){series, 0, 0, 0, 0, 4});
    as_store_add_time(writer, &(struct as_store_time){series, 0, 1, 0, 0, 5});
    bed_commit(writer);
    struct as_view view = view_bed_open("none.db", NULL);
    struct as_rows list = make(&view, AS_STORE_BY_FUNCTION, NULL);
    CHECK_ROWS(&list.rows, {0, 0, 0, 4});
    as_rows_free(&list);
    as_view_free(&view);
}

/* ---- parts of the time ---- */

static void times_as_text(void **state)
{
    static const struct {
        const char *text;
        uint64_t from, until;
    } good[] = {
        {"1s..2s", 1000000000, 2000000000},
        {"1..2", 1000000000, 2000000000},
        {"1.5..2.25", 1500000000, 2250000000},
        {"500ms..", 500000000, UINT64_MAX},
        {"..20us", 0, 20000},
        {"7ns..1min", 7, 60000000000},
    };
    static const char *const bad[] = {"",     "..",    "1",    "1s",    "1s-2s", "2s..1s",
                                      "1..1", "-1..2", "x..2", "1..2h", "1e30.."};
    struct as_time_window window;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        struct as_error err = AS_ERROR_INIT;
        if (!as_time_window_read(good[i].text, &window, &err))
            fail_msg("%s", err.message);
        assert_int_equal(window.from, good[i].from);
        assert_int_equal(window.until, good[i].until);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct as_error err = AS_ERROR_INIT;
        if (as_time_window_read(bad[i], &window, &err))
            fail_msg("'%s' was read", bad[i]);
        assert_int_equal(err.status, AS_EXIT_USAGE);
    }
}

static void a_part_of_the_time(void **state)
{
    struct as_view view =
        view_bed_open_with(&(struct as_view_options){.file = "shop.db", .series = "clock", .time = "1s..2s"});
    assert_int_equal(view.summary.samples, 1);
    assert_string_equal(view.summary.part, "1 s to 1.5 s of 1.5 s");
    assert_true(view.summary.seconds == 0.5);
    assert_int_equal(view.summary.instructions, 0);
    assert_int_equal(view.summary.cycles, 0); /* nanoseconds are none */
    struct as_rows list = {0};
    struct as_error err = AS_ERROR_INIT;
    assert_true(as_rows_make(&list, &view, AS_STORE_BY_PROCESSOR, NULL, &err));
    assert_int_equal(list.rows.n, 1);
    char name[AS_ROW_NAME_MAX];
    assert_string_equal(as_view_row_name(&view, AS_STORE_BY_PROCESSOR, &list.rows.rows[0], name), "2");
    as_rows_free(&list);
    as_view_free(&view);
}

/* Samples of functions of which no line is known, and of one of which it is. */
static void write_lineless(void)
{
    enum { FUNCTIONS = 5, EACH = 30 };
    struct as_store_writer *writer = bed_writer("lineless.db");
    as_store_add_meta(writer, AS_META_SOURCE, "timer");
    as_store_add_thread(writer, &(struct as_store_thread){1, 7, NULL, 0, 0, 0});
    as_store_add_module(writer, &(struct as_store_module){.path = "/nowhere/p"});
    as_store_add_file(writer, "p.c");
    as_store_add_series(
        writer,
        &(struct as_store_series){
            .name = "task-clock", .unit = "nanoseconds", .scale = 1, .precise = -1, .samples = FUNCTIONS * EACH});
    for (uint32_t i = 0; i < FUNCTIONS; i++) {
        char name[] = {(char)('a' + i), '\0'};
        uint32_t file = i ? AS_STORE_NONE : 0, line = i ? 0 : 12;
        as_store_add_function(writer, &(struct as_store_function){name, NULL, 0, AS_STORE_NONE, 0, 16 * (i + 1), 16});
        as_store_add_instruction(writer, &(struct as_store_insn){.location = {16 * (i + 1), 0, i, AS_STORE_NONE, file,
                                                                              line, AS_STORE_NONE}});
        as_store_add_time(writer, &(struct as_store_time){0, 0, i, 1000 * EACH, EACH, 0});
    }
    for (uint32_t i = 0; i < FUNCTIONS * EACH; i++)
        as_store_add_moment(
            writer, &(struct as_store_moment){0, 0, i % FUNCTIONS, 1000 * i, AS_STORE_NONE, AS_STORE_NONE, 0, 1000, 1});
    bed_commit(writer);
}

/* No line is better known than the function that it is in: code without a line counts by function. */
static void errors_of_a_part(void **state)
{
    write_lineless();
    struct as_view view = view_bed_open_with(&(struct as_view_options){.file = "lineless.db", .time = "0s..1000s"});
    double line = as_store_estimate_of(view.store, 0, "estimate", "line"),
           function = as_store_estimate_of(view.store, 0, "estimate", "function");
    assert_int_equal(view.summary.samples, 150);
    assert_true(function > 0.05);
    assert_true(line == function); /* each function has one line, or none */
    as_view_free(&view);
}

static void times_that_are_not_there(void **state)
{
    static const struct {
        const char *series, *time, *message;
    } cases[] = {
        {"golden", "1s..2s",
         "golden is exact: it adds up every cycle, but keeps neither its time nor its processor; of "
         "this profile, these series have times: clock"},
        {"tea", "1s..2s", "tea is added up while the model runs, without times"},
        {"clock", "2s..", "there are no samples then; the first is at 1.5 s, the last at 1.5 s"},
        {"clock", "..1s", "there are no samples then"},
        {"clock", "2s", "not a range of times"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct as_view view;
        struct as_error err = AS_ERROR_INIT;
        bool opened = as_view_open(
            &view, &(struct as_view_options){.file = "shop.db", .series = cases[i].series, .time = cases[i].time},
            &err);
        assert_false(opened);
        if (!strstr(err.message, cases[i].message))
            fail_msg("%s", err.message);
        as_view_free(&view);
    }
    struct as_view view = view_bed_open("shop.db", NULL);
    refused(&view, AS_STORE_BY_PROCESSOR, NULL, "--by=cpu: the series golden is exact");
    as_view_free(&view);
}

/* Threads 7 (the first of process 7), 8, 9 and 11 have the program's name, 10 has its own. Paths of samples: start_thread
 * > work > deep, start_thread > pool.so+0x40 > deep, and cut ones: deep > work. */
static void write_threads(const char *source)
{
    static const char *const names[] = {"start_thread", "work", "deep", "libc.so.6+0x10", "pool.so+0x40"};
    static const uint32_t parents[][2] = {{NONE, 0}, {0, 1}, {1, 2}, {NONE, 2}, {3, 1},
                                          {NONE, 3}, {5, 2}, {0, 4}, {7, 2}};
    static const uint64_t times[][3] = {{0, 2, 10}, {1, 2, 10}, {1, 6, 5}, {2, 4, 10}, {3, 2, 10}, {4, 8, 10}};
    struct as_store_writer *writer = bed_writer("threads.db");
    as_store_add_meta(writer, AS_META_SOURCE, source);
    for (uint32_t i = 7; i <= 11; i++)
        as_store_add_thread(writer, &(struct as_store_thread){i, 7, i != 10 ? "prog" : "own", 0, 0, 0});
    as_store_add_module(writer, &(struct as_store_module){.path = "/bin/prog"});
    for (uint32_t i = 0; i < 5; i++)
        as_store_add_function(writer, &(struct as_store_function){.name = names[i], .file = NONE, .address = 16 * i});
    as_store_add_instruction(writer, &(struct as_store_insn){.location = {32, 0, 2, NONE, NONE, 0, NONE}});
    for (size_t i = 0; i < sizeof parents / sizeof *parents; i++)
        as_store_add_path(writer, &(struct as_store_path){.parent = parents[i][0],
                                                          .function = parents[i][1],
                                                          .call_site = NONE,
                                                          .address = 16 * parents[i][1]});
    uint32_t series = as_store_add_series(
        writer, &(struct as_store_series){.name = "clock", .unit = "ns", .scale = 1, .precise = -1, .samples = 6});
    for (uint32_t i = 0; i < 5; i++)
        as_store_add_time(writer, &(struct as_store_time){series, i, 0, i == 1 ? 15 : 10, 1, 0});
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        as_store_add_path_time(writer, &(struct as_store_path_time){series, (uint32_t)times[i][0],
                                                                    (uint32_t)times[i][1], NONE, times[i][2], 1});
    bed_commit(writer);
}

static void starts_of_threads(void **state)
{
    static const char *const sources[] = {"timer", "model"};
    static const char *const wanted[2][5] = {
        {"7 prog", "8 prog: work", "9 prog", "10 own", "11 prog: pool.so+0x40"},
        {"7 prog", "8 prog: work", "9 prog: deep", "10 own", "11 prog: pool.so+0x40"}};
    for (size_t i = 0; i < 2; i++) {
        write_threads(sources[i]);
        struct as_view view = view_bed_open("threads.db", NULL);
        struct as_rows list = make(&view, AS_STORE_BY_THREAD, NULL);
        char name[AS_ROW_NAME_MAX];
        assert_int_equal(list.rows.n, 5);
        for (size_t k = 0; k < 5; k++) /* "7 …" has the number 0 */
            assert_string_equal(as_rows_name(&list, &list.rows.rows[k], name), wanted[i][list.rows.rows[k].id]);
        as_rows_free(&list);
        as_view_free(&view);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_level),
        cmocka_unit_test(lines_and_instructions),
        cmocka_unit_test(every_order),
        cmocka_unit_test(orders_that_make_no_sense),
        cmocka_unit_test(groups_that_are_not_known),
        cmocka_unit_test(totals_of_functions),
        cmocka_unit_test(filters_leave_what_they_name),
        cmocka_unit_test(filters_by_symbol_and_event),
        cmocka_unit_test(filters_that_match_nothing),
        cmocka_unit_test(words_of_filters),
        cmocka_unit_test(names_of_rows),
        cmocka_unit_test(names_of_processes),
        cmocka_unit_test(starts_of_threads),
        cmocka_unit_test(names_of_components),
        cmocka_unit_test(components_of_rows),
        cmocka_unit_test(components_without_a_key),
        cmocka_unit_test(base_without_time),
        cmocka_unit_test(nothing_in_no_function),
        cmocka_unit_test(times_as_text),
        cmocka_unit_test(a_part_of_the_time),
        cmocka_unit_test(errors_of_a_part),
        cmocka_unit_test(times_that_are_not_there),
    };
    return cmocka_run_group_tests(tests, view_bed_set_up, NULL);
}
