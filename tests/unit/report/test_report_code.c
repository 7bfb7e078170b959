/* Annotations as text and JSON and the page's document, on the profiles of view_bed.h, against
 * tests/golden/report_annotate.txt and report_page.txt. */
#include "unit.h"

#include "report/annotate.h"
#include "report/page_document.h"
#include "report_bed.h"
#include "unit_golden.h"
#include "view_bed.h"

static const struct as_term plain = {.width = 80}, wide = {.width = 130, .utf8 = true},
                            colour = {.width = 100, .colour = true, .utf8 = true}, narrow = {.width = 40};

static void put_annotation(FILE *out, const struct as_annotation *annotation, const char *title)
{
    const struct as_term *terms[] = {&plain, &wide, &colour, &narrow, &(struct as_term){.width = 20}};
    for (size_t i = 0; i < 5; i++) {
        unit_golden_section(out, "%s, %u columns", title, terms[i]->width);
        char *text = NULL;
        size_t size = 0;
        FILE *file = open_memstream(&text, &size);
        as_annotation_text(annotation, file, terms[i]);
        fclose(file);
        report_bed_put_text(out, text, &annotation->view->summary, terms[i]);
        free(text);
    }
    unit_golden_section(out, "%s, JSON", title);
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    struct as_json *json = as_json_new(file);
    as_annotation_json(annotation, json);
    assert_true(as_json_finish(json));
    fclose(file);
    report_bed_put_json(out, text);
    free(text);
}

static void put_function(FILE *out, const struct as_view *view, uint32_t function, struct as_sources *sources,
                         const char *title)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_annotation annotation;
    assert_true(as_annotation_make(&annotation, view, function, sources, &err));
    put_annotation(out, &annotation, title);
    as_annotation_free(&annotation);
}

static void annotations(void **state)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_view view = view_bed_open("shop.db", NULL), tea = view_bed_open("shop.db", "tea");
    struct as_sources *sources = as_sources_new(".");
    struct as_annotation annotation;
    FILE *out = unit_golden_begin();
    put_function(out, &view, 0, sources, "main");
    put_function(out, &tea, 1, sources, "sell of tea");
    assert_true(as_annotation_make_outside(&annotation, &view, 8, sources, &err));
    put_annotation(out, &annotation, "code in no function");
    as_annotation_free(&annotation);
    as_sources_free(sources);
    as_view_free(&view);
    as_view_free(&tea);
    unit_golden_check(out, "report_annotate.txt");
}

/* Names of C++ lose the arguments of their templates before they are cut. */
static void long_names(void **state)
{
    static const char name[] = "shop::till<int, std::vector<char>>::operator<<(shop::coin<5>, long, long, long)";
    struct as_store_writer *writer = bed_writer("long.db");
    uint32_t series = as_store_add_series(
        writer, &(struct as_store_series){.name = "golden", .unit = "cycles", .scale = 1, .precise = -1, .events = 1});
    as_store_add_thread(writer, &(struct as_store_thread){1, 7, NULL, 0, 0, 0});
    as_store_add_module(writer, &(struct as_store_module){.path = "[jit]"});
    as_store_add_file(writer, "/opt/src/shop.c");
    as_store_add_function(writer, &(struct as_store_function){name, NULL, 0, 0, 1, 0x4000, 16});
    as_store_add_inline(writer, &(struct as_store_inline){AS_STORE_NONE, name, 0, 2});
    as_store_add_inline(writer,
                        &(struct as_store_inline){AS_STORE_NONE, "operator<(shop::till<int>, shop::till<int>)", 0, 3});
    as_store_add_event(writer, &(struct as_store_event){0, "ST-L1", NULL, AS_STORE_NONE, NULL});
    for (uint32_t i = 0; i < 4; i++) { /* three lines; the third calls its own function, the fourth has a file alone */
        as_store_add_instruction(writer,
                                 &(struct as_store_insn){{0x4000 + 4 * i, 0, 0, AS_STORE_NONE, 0, i < 3 ? 11 + i : 0,
                                                          i && i < 3 ? i - 1 : AS_STORE_NONE},
                                                         0x4000,
                                                         "jmp 0x4000",
                                                         i == 2 ? "call" : "branch",
                                                         (const uint8_t *)"abcd",
                                                         4});
        as_store_add_time(writer, &(struct as_store_time){series, 0, i, 100 + 100 * i, 1, 0});
        as_store_add_component(writer, &(struct as_store_component){series, 0, i, 1, 10 + 5 * i, 1});
        as_store_add_component(writer, &(struct as_store_component){series, 0, i, 0, 90 + 95 * i, 0});
    }
    bed_commit(writer);
    struct as_view view = view_bed_open("long.db", NULL);
    struct as_sources *sources = as_sources_new(".");
    FILE *out = unit_golden_begin();
    put_function(out, &view, 0, sources, "a long name");
    as_sources_free(sources);
    as_view_free(&view);
    unit_golden_check(out, "report_names.txt");
}

/* ---- the page ---- */

static const char *meaning_of(const char *key)
{
    return strcmp(key, "back.rob") == 0 ? "entries of the reorder buffer" : NULL;
}

/* The document without the page around it; the caller frees. */
static char *document_of(const struct as_view *view, const struct as_diff *diff)
{
    static const char begin[] = "id=\"assay-data\">";
    struct as_error err = AS_ERROR_INIT;
    struct as_sources *sources = as_sources_new(".");
    struct as_page_options options = {
        .sources = sources, .diff = diff, .meaning = meaning_of, .encoding = AS_PAGE_PLAIN};
    char *page = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&page, &size);
    if (!as_page_document_write(view, &options, file, &err))
        fail_msg("%s", err.message);
    fclose(file);
    const char *at = strstr(page, begin);
    assert_non_null(at);
    at += strlen(begin);
    char *document = strndup(at, (size_t)(strstr(at, "</script>") - at));
    free(page);
    as_sources_free(sources);
    return document;
}

/* A line for each member. */
static void put_document(FILE *out, const struct as_view *view, const struct as_diff *diff)
{
    char *document = document_of(view, diff);
    for (const char *at = document; *at; at++) {
        fputc(*at, out);
        if (*at == ',' && at[1] == '"')
            fputc('\n', out);
    }
    free(document);
}

static void put_page(FILE *out, const char *title, const char *path)
{
    struct as_view view = view_bed_open(path, NULL);
    unit_golden_section(out, "%s", title);
    put_document(out, &view, NULL);
    as_view_free(&view);
}

static void pages(void **state)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_view view = view_bed_open("shop.db", NULL), tea = view_bed_open("shop.db", "tea"),
                   old = view_bed_open("old.db", NULL), recursive = view_bed_open("long.db", NULL);
    struct as_diff *diff = as_diff_new(&old, &view, AS_STORE_BY_FUNCTION, &err);
    FILE *out = unit_golden_begin();
    unit_golden_section(out, "shop, and what changed since old");
    put_document(out, &view, diff);
    unit_golden_section(out, "shop as tea shows it");
    put_document(out, &tea, NULL);
    unit_golden_section(out, "old");
    put_document(out, &old, NULL);
    unit_golden_section(out, "a function that calls itself");
    put_document(out, &recursive, NULL);
    as_view_free(&recursive);
    as_diff_free(diff);
    as_view_free(&view);
    as_view_free(&tea);
    as_view_free(&old);
    report_bed_waits("waits.db");
    report_bed_sampled("sampled.db");
    put_page(out, "threads that wait for each other", "waits.db");
    put_page(out, "regions of a run, with error bars", "sampled.db");
    unit_golden_check(out, "report_page.txt");
}

/* ---- more than a page shows ---- */

enum { THREADS = AS_PAGE_THREADS + 1, OBJECTS = AS_PAGE_ROWS + 3, CODE = AS_PAGE_INSNS / 2 };

/* `more` paths and instructions than a page has. Thread i has 100 + i units. Of the paths below the root, all have 1000
 * units but the last `more`, which have one; of two functions with half of the instructions each, the second has one
 * more if `more`. Object and branch i has 10000 - i units, and is met as often. */
static void write_crowd(const char *path, uint32_t more)
{
    struct as_store_writer *writer = bed_writer(path);
    uint32_t series = as_store_add_series(
        writer, &(struct as_store_series){.name = "clock", .unit = "cycles", .scale = 1, .precise = -1});
    for (uint32_t i = 0; i < THREADS; i++)
        as_store_add_thread(writer, &(struct as_store_thread){i + 1, 7, NULL, 0, 0, 0});
    as_store_add_function(writer, &(struct as_store_function){"large", NULL, AS_STORE_NONE, AS_STORE_NONE, 0, 16, 0});
    as_store_add_function(writer, &(struct as_store_function){"small", NULL, AS_STORE_NONE, AS_STORE_NONE, 0, 32, 0});
    for (uint32_t i = 0; i < 2 * CODE + (more > 0); i++)
        as_store_add_instruction(writer, &(struct as_store_insn){{64 + i, AS_STORE_NONE, i >= CODE, AS_STORE_NONE,
                                                                  AS_STORE_NONE, 0, AS_STORE_NONE},
                                                                 0,
                                                                 "nop",
                                                                 NULL,
                                                                 NULL,
                                                                 0});
    for (uint32_t i = 0; i < THREADS; i++)
        as_store_add_time(writer, &(struct as_store_time){series, i, 0, 100 + i, 1, 0});
    as_store_add_time(writer, &(struct as_store_time){series, 0, CODE, 5, 1, 0});
    for (uint32_t i = 0; i < OBJECTS; i++) {
        as_store_add_object(writer, &(struct as_store_object){AS_STORE_NONE, "object", 64 * (i + 1), 64});
        as_store_add_access(writer, &(struct as_store_access){series, 0, 0, 64 * (i + 1), 4, AS_STORE_LOAD, 0, i,
                                                              10000 - i, 20000 - i});
        as_store_add_branch(writer, &(struct as_store_branch){series, 0, i, 10000 - i, 5000 - i, 0});
    }
    for (uint32_t i = 0; i < AS_PAGE_PATHS + more; i++) {
        as_store_add_path(
            writer, &(struct as_store_path){i ? 0 : AS_STORE_NONE, AS_STORE_NONE, AS_STORE_NONE, 64 + i, 0, false});
        as_store_add_path_time(
            writer, &(struct as_store_path_time){series, 0, i, AS_STORE_NONE, i < AS_PAGE_PATHS ? 1000 : 1, 1});
    }
    bed_commit(writer);
}

/* How many numbers the array behind `name` has, the first of that name behind `from`. */
static size_t count_of(const char *document, const char *from, const char *name)
{
    const char *at = strstr(document, from);
    assert_non_null(at);
    at = strstr(at, name);
    assert_non_null(at);
    at = strchr(at, '[');
    size_t n = at[1] != ']';
    for (; *at != ']'; at++)
        n += *at == ',';
    return n;
}

static const char shortened[] = "without instructions", folded[] = "counted as time of their callers";

static void a_page_that_is_just_full(void **state)
{
    write_crowd("full.db", 0);
    struct as_view view = view_bed_open("full.db", NULL);
    char *document = document_of(&view, NULL);
    assert_null(strstr(document, shortened));
    assert_null(strstr(document, folded));
    assert_int_equal(count_of(document, "\"paths\":{\"parent\"", "parent"), AS_PAGE_PATHS);
    assert_int_equal(count_of(document, "\"instructions\":{\"address\"", "address"), AS_PAGE_INSNS);
    free(document);
    as_view_free(&view);
}

static void a_page_that_is_too_small(void **state)
{
    write_crowd("crowd.db", 4);
    struct as_view view = view_bed_open("crowd.db", NULL);
    char *document = document_of(&view, NULL);
    assert_non_null(strstr(document, shortened));
    assert_non_null(strstr(document, folded));
    assert_int_equal(count_of(document, "\"paths\":{\"parent\"", "parent"), AS_PAGE_PATHS);
    assert_int_equal(count_of(document, "\"instructions\":{\"address\"", "address"), CODE);
    assert_non_null(strstr(document, "\"functions\":{\"row\":[0,1],\"cycles\":[3828,5]}")); /* all of their time */
    assert_non_null(strstr(document, "\"cycles\":[1004,1e+03,")); /* the root's, and four folded */
    assert_int_equal(count_of(document, "\"data\":{\"name\"", "name"), AS_PAGE_ROWS);
    assert_non_null(strstr(document, "\"rest\":{\"rows\":3,\"cycles\":23997,\"samples\":53997}"));
    assert_int_equal(count_of(document, "\"branches\":{\"from\"", "name"), AS_PAGE_ROWS);
    assert_non_null(strstr(document, "\"rest\":{\"rows\":3,\"taken\":23997,\"mispredicted\":8997}"));
    /* The first thread has 105 units, the second, which has the least, no list. */
    assert_non_null(
        strstr(document, "\"threads\":[{\"row\":[0,1],\"cycles\":[1e+02,5]},null,{\"row\":[0],\"cycles\":[102]}"));
    free(document);
    as_view_free(&view);
}

static int set_up(void **state)
{
    view_bed_enter();
    view_bed_shop("shop.db");
    view_bed_old("old.db");
    view_bed_file("shop.c",
                  "1\n2\n3\n4\n5\n6\n7\n8\n9\nint main(void)\n\tfor (;;) {\n\t\tsell();\n\n\t\tadd_up(); // 14\n"
                  "15\n16\n17\n18\n19\nstatic void sell(void)\n{ char *price = *money;\n\tcount();\n}\n");
    return 0;
}

/* Sources share the page's room: of two that have more than half of it, the second is left out. */
static void sources_beyond_the_page(void **state)
{
    enum { SIZE = AS_PAGE_SOURCE / 2 + 1 };
    char paths[2][300], *text = malloc(SIZE + 1);
    struct as_store_writer *writer = bed_writer(bed_path("sources.db"));
    uint32_t series = as_store_add_series(
        writer, &(struct as_store_series){.name = "clock", .unit = "cycles", .scale = 1, .precise = -1});
    as_store_add_thread(writer, &(struct as_store_thread){1, 7, NULL, 0, 0, 0});
    memset(text, 'x', SIZE);
    text[SIZE] = '\n';
    for (uint32_t i = 0; i < 2; i++) {
        snprintf(paths[i], sizeof paths[i], "%s", bed_path(i ? "second.c" : "first.c"));
        bed_write(paths[i], text, SIZE + 1);
        as_store_add_file(writer, paths[i]);
        as_store_add_instruction(
            writer,
            &(struct as_store_insn){
                {64 + i, AS_STORE_NONE, AS_STORE_NONE, AS_STORE_NONE, i, 1, AS_STORE_NONE}, 0, "nop", NULL, NULL, 0});
        as_store_add_time(writer, &(struct as_store_time){series, 0, i, 100, 1, 0});
    }
    bed_commit(writer);
    free(text);
    struct as_view view = view_bed_open(bed_path("sources.db"), NULL);
    char *document = document_of(&view, NULL), *first = strstr(document, paths[0]),
         *second = strstr(document, paths[1]);
    assert_true(first && second && first < second);
    assert_non_null(strstr(first, "xxxx"));
    assert_true(strstr(first, "xxxx") < second);
    assert_null(strstr(second, "xxxx"));
    assert_non_null(strstr(second, "left out: the page would be too large"));
    free(document);
    as_view_free(&view);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(annotations),
        cmocka_unit_test(long_names),
        cmocka_unit_test(pages),
        cmocka_unit_test(sources_beyond_the_page),
        cmocka_unit_test(a_page_that_is_just_full),
        cmocka_unit_test(a_page_that_is_too_small),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
