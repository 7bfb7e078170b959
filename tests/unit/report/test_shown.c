/* What reports put on terminals: names made harmless and cut to columns, bars that lose nothing to rounding, arrows
 * that meet their ends, source files of any kind. */
#include "unit.h"

#include "base/alloc.h"
#include "report/annotate.h"
#include "report/report_text.h"

#include <sys/stat.h>

static const struct as_term plain = {.width = 80}, fancy = {.width = 80, .utf8 = true};

/* What a function wrote; the caller frees. */
#define written(expression)                                                                                            \
    ({                                                                                                                 \
        char *text_ = NULL;                                                                                            \
        size_t size_ = 0;                                                                                              \
        FILE *out = open_memstream(&text_, &size_);                                                                    \
        expression;                                                                                                    \
        fclose(out);                                                                                                   \
        text_;                                                                                                         \
    })

static void check_text(char *seen, const char *wanted)
{
    assert_string_equal(seen, wanted);
    free(seen);
}

static void names_are_harmless(void **state)
{
    assert_string_equal(AS_SHOW(NULL), "?");
    assert_string_equal(AS_SHOW("plain"), "plain");
    assert_string_equal(AS_SHOW("a\nb\tc\033[31m\177"), "a?b?c?[31m?");
    assert_string_equal(AS_SHOW("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"), "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
    assert_string_equal(AS_SHOW("\xff\xfe\xc3"), "???");
    assert_string_equal(AS_SHOW("\xc0\xaf \xe0\x80\xaf \xed\xa0\x80 \xf4\x90\x80\x80"), "?? ??? ??? ????");
    assert_string_equal(AS_SHOW("c1 \xc2\x9b"), "c1 ?");
    assert_string_equal(AS_SHOW("right \xe2\x80\xae left \xe2\x80\xa8 line"), "right ? left ? line");
}

static void long_names_are_cut(void **state)
{
    char *name = as_alloc(1 << 20);
    memset(name, 'x', (1 << 20) - 1);
    assert_true(strlen(AS_SHOW(name)) < AS_SHOW_MAX);
    check_text(written(as_show_in(out, &plain, name, 10, true)), "xxxxxxxx..");
    check_text(written(as_show_in(out, &fancy, name, 10, true)), "xxxxxxxxx…");
    free(name);
}

static void long_text_is_wrapped(void **state)
{
    const struct as_term narrow = {.width = 20};
    check_text(written(as_show_wrapped(out, &narrow, "short", 0, 2)), "short");
    check_text(written(as_show_wrapped(out, &narrow, "one of two, and the other", 0, 2)),
               "one of two,\n  and the other");
    check_text(written(as_show_wrapped(out, &narrow, "a clause of too many words for it", 0, 4)),
               "a clause of too many\n    words for it");
    check_text(written(as_show_wrapped(out, &narrow, "é€, x", 18, 18)), "é€,\n                  x");
    check_text(written(as_show_wrapped(out, &narrow, "awordthatislongerthanthelineis", 0, 2)),
               "awordthatislongerthanthelineis");
    check_text(written(as_show_wrapped(out, &narrow, "", 0, 2)), "");
}

static void names_fill_their_columns(void **state)
{
    check_text(written(as_show_in(out, &fancy, "é€", 5, true)), "é€   ");
    check_text(written(as_show_in(out, &fancy, "é€", 2, true)), "é€");
    check_text(written(as_show_in(out, &fancy, "é€x", 2, false)), "é…");
    check_text(written(as_show_in(out, &plain, "abc", 3, true)), "abc");
    check_text(written(as_show_in(out, &plain, "abc", 5, false)), "abc");
    check_text(written(as_show_in(out, &plain, "é", 3, true)), "?  ");
}

static void shares_have_colours(void **state)
{
    const struct as_term coloured = {.width = 80, .colour = true};
    check_text(written(as_term_heat(out, &coloured, 0.00499)), "");
    check_text(written(as_term_heat(out, &coloured, 0.005)), "\033[32m");
    check_text(written(as_term_heat(out, &coloured, 0.0199)), "\033[32m");
    check_text(written(as_term_heat(out, &coloured, 0.02)), "\033[33m");
    check_text(written(as_term_heat(out, &coloured, 0.099)), "\033[33m");
    check_text(written(as_term_heat(out, &coloured, 0.1)), "\033[1;31m");
    check_text(written(as_term_heat(out, &plain, 0.1)), "");
}

static void keys_have_signs(void **state)
{
    const struct as_term coloured = {.width = 80, .colour = true};
    assert_int_equal(as_term_letter(0), '.');
    assert_int_equal(as_term_letter(1), 'A');
    assert_int_equal(as_term_letter(AS_TERM_KEYS - 1), 'K');
    assert_int_equal(as_term_letter(AS_TERM_KEYS), '?');
    check_text(written(as_term_key(out, &plain, 2, 3)), "BBB");
    check_text(written(as_term_key(out, &coloured, 2, 2)), "\033[44;30mBB\033[0m");
    check_text(written(as_term_key(out, &coloured, AS_TERM_KEYS, 1)), "\033[100;30m?\033[0m");
    check_text(written(as_term_key(out, &coloured, 2, 0)), "");
}

static void bars_lose_nothing(void **state)
{
    struct as_store_row_part parts[] = {{.key = 0, .units = 333}, {.key = 1, .units = 333}, {.key = 2, .units = 334}};
    struct as_store_row row = {.units = 1000, .parts = parts, .n_parts = 3};
    struct as_store_rows rows = {.rows = &row, .n = 1};
    struct as_legend legend = as_legend_of(&rows);
    assert_int_equal(legend.n, 3);
    assert_int_equal(legend.total, 1000);
    check_text(written(as_legend_bar(&legend, out, &plain, &row, 1000, 10, true)), "...AAAABBB");
    check_text(written(as_legend_bar(&legend, out, &plain, &row, 2000, 10, true)), "..ABB     ");
    check_text(written(as_legend_bar(&legend, out, &plain, &row, 2000, 10, false)), "..ABB");
}

static void base_keeps_its_sign(void **state)
{
    struct as_store_row_part parts[] = {{.key = 8, .units = 5}};
    struct as_store_row row = {.units = 5, .parts = parts, .n_parts = 1};
    struct as_store_rows rows = {.rows = &row, .n = 1};
    struct as_legend legend = as_legend_of(&rows);
    assert_int_equal(legend.masks[0], 0);
    assert_int_equal(as_legend_key(&legend, 8), 1);
    assert_int_equal(as_legend_key(&legend, 4), AS_LEGEND_KEYS);
}

static void many_components_share_a_sign(void **state)
{
    struct as_store_row_part parts[20];
    struct as_store_row row = {.parts = parts, .n_parts = 20};
    for (uint64_t i = 0; i < 20; i++)
        parts[i] = (struct as_store_row_part){.key = i, .units = 100 - i};
    struct as_store_rows rows = {.rows = &row, .n = 1};
    struct as_legend legend = as_legend_of(&rows);
    uint64_t sum = legend.others;
    for (size_t i = 0; i < legend.n; i++)
        sum += legend.units[i];
    assert_int_equal(legend.n, AS_LEGEND_KEYS);
    assert_int_equal(sum, legend.total);
}

/* A loop, a jump over it, and a jump nowhere. */
static void arrows_meet_their_ends(void **state)
{
    struct as_note_insn insns[] = {{.address = 0, .target = 16, .jumps = true},
                                   {.address = 4},
                                   {.address = 8, .target = 4, .jumps = true},
                                   {.address = 12, .target = 999, .jumps = true},
                                   {.address = 16}};
    struct as_arrows *arrows = as_arrows_new(insns, 5);
    assert_int_equal(as_arrows_width(arrows), 4);
    const char *rows[] = {".-- ", "|.> ", "|'- ", "|   ", "'-> "};
    for (size_t i = 0; i < 5; i++)
        check_text(written(as_arrows_put(arrows, out, &plain, i, false)), rows[i]);
    check_text(written(as_arrows_put(arrows, out, &plain, 2, true)), "||  ");
    check_text(written(as_arrows_put(arrows, out, &plain, 0, true)), "    ");
    check_text(written(as_arrows_put(arrows, out, &fancy, 1, false)), "│┌▶ ");
    as_arrows_free(arrows);
}

static void calls_have_no_arrow(void **state)
{
    struct as_note_insn insns[] = {{.address = 0}, {.address = 4, .target = 0}};
    struct as_arrows *arrows = as_arrows_new(insns, 2);
    assert_int_equal(as_arrows_width(arrows), 0);
    as_arrows_free(arrows);
}

static void sources_of_any_kind(void **state)
{
    char directory[] = "/tmp/assay-unit-XXXXXX", path[200];
    assert_non_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/a.c", directory);
    FILE *file = fopen(path, "w");
    fputs("first\r\nsecond\n\nlast", file);
    fclose(file);
    struct as_sources *sources = as_sources_new(directory);
    const struct as_source *source = as_sources_get(sources, path);
    assert_null(source->problem);
    assert_int_equal(source->n_lines, 4);
    assert_string_equal(as_source_line(source, 1), "first");
    assert_string_equal(as_source_line(source, 4), "last");
    assert_null(as_source_line(source, 0));
    assert_null(as_source_line(source, 5));
    assert_ptr_equal(as_sources_get(sources, path), source);
    assert_null(as_sources_get(sources, "/nowhere/at/all/a.c")->problem); /* found below the directory */
    assert_non_null(as_sources_get(sources, "/nowhere/b.c")->problem);
    assert_non_null(as_sources_get(sources, directory)->problem);
    assert_non_null(as_sources_get(sources, "")->problem);
    as_sources_free(sources);
    remove(path);
    rmdir(directory);
}

static void counts_have_commas(void **state)
{
    assert_string_equal(AS_COUNT(0), "0");
    assert_string_equal(AS_COUNT(999), "999");
    assert_string_equal(AS_COUNT(1000), "1,000");
    assert_string_equal(AS_COUNT(UINT64_MAX), "18,446,744,073,709,551,615");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_harmless),
        cmocka_unit_test(long_text_is_wrapped),
        cmocka_unit_test(long_names_are_cut),
        cmocka_unit_test(names_fill_their_columns),
        cmocka_unit_test(shares_have_colours),
        cmocka_unit_test(keys_have_signs),
        cmocka_unit_test(bars_lose_nothing),
        cmocka_unit_test(base_keeps_its_sign),
        cmocka_unit_test(many_components_share_a_sign),
        cmocka_unit_test(arrows_meet_their_ends),
        cmocka_unit_test(calls_have_no_arrow),
        cmocka_unit_test(sources_of_any_kind),
        cmocka_unit_test(counts_have_commas),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
