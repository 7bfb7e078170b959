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
    const struct as_term *terms[] = {&plain, &wide, &colour, &narrow};
    for (size_t i = 0; i < 4; i++) {
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
    struct as_store_writer *writer = view_bed_writer("long.db");
    uint32_t series = as_store_add_series(
        writer, &(struct as_store_series){.name = "golden", .unit = "cycles", .scale = 1, .precise = -1});
    as_store_add_thread(writer, &(struct as_store_thread){1, 7, NULL, 0, 0, 0});
    as_store_add_module(writer, &(struct as_store_module){.path = "[jit]"});
    as_store_add_file(writer, "/opt/src/shop.c");
    as_store_add_function(writer, &(struct as_store_function){name, NULL, 0, 0, 1, 0x4000, 8});
    as_store_add_inline(writer, &(struct as_store_inline){AS_STORE_NONE, name, 0, 2});
    for (uint32_t i = 0; i < 2; i++) {
        as_store_add_instruction(
            writer, &(struct as_store_insn){{0x4000 + 4 * i, 0, 0, AS_STORE_NONE, 0, 11 + i, i ? 0 : AS_STORE_NONE},
                                            0x4000,
                                            "jmp 0x4000",
                                            "branch",
                                            (const uint8_t *)"abcd",
                                            4});
        as_store_add_time(writer, &(struct as_store_time){series, 0, i, 1 + i, 1, 0});
    }
    view_bed_commit(writer);
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

/* The document without the page around it, a line for each member. */
static void put_document(FILE *out, const struct as_view *view, const struct as_diff *diff)
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
    const char *at = strstr(page, begin), *end;
    assert_non_null(at);
    end = strstr(at, "</script>");
    for (at += strlen(begin); at < end; at++) {
        fputc(*at, out);
        if (*at == ',' && at[1] == '"')
            fputc('\n', out);
    }
    free(page);
    as_sources_free(sources);
}

static void pages(void **state)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_view view = view_bed_open("shop.db", NULL), tea = view_bed_open("shop.db", "tea"),
                   old = view_bed_open("old.db", NULL);
    struct as_diff *diff = as_diff_new(&old, &view, AS_STORE_BY_FUNCTION, &err);
    FILE *out = unit_golden_begin();
    unit_golden_section(out, "shop, and what changed since old");
    put_document(out, &view, diff);
    unit_golden_section(out, "shop as tea shows it");
    put_document(out, &tea, NULL);
    unit_golden_section(out, "old");
    put_document(out, &old, NULL);
    as_diff_free(diff);
    as_view_free(&view);
    as_view_free(&tea);
    as_view_free(&old);
    unit_golden_check(out, "report_page.txt");
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(annotations),
        cmocka_unit_test(long_names),
        cmocka_unit_test(pages),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
