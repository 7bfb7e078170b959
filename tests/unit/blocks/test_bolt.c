/* Straight runs from counts of blocks and edges: together they give the counts again. */
#include "blocks/bolt.h"
#include "graph.h"

#include "unit.h"

static uint64_t covers(const as_bolt_runs *runs, uint64_t address)
{
    uint64_t n = 0;
    for (size_t i = 0; i < runs->len; i++)
        n += runs->data[i].start <= address && address <= runs->data[i].end ? runs->data[i].count : 0;
    return n;
}

static void expect(const char *graph, const double *counts, const char *branches)
{
    struct as_cfg *cfg = graph_make(graph);
    struct as_flow *flow = graph_flow(cfg, counts, branches);
    as_bolt_runs runs = as_bolt_runs_of(flow, 0);
    const struct as_cfg_module *m = as_cfg_get(cfg, 0);
    for (uint32_t i = 0; i < m->blocks.len; i++) {
        assert_int_equal(covers(&runs, m->blocks.data[i].start), (uint64_t)counts[i]);
        uint64_t ends = 0;
        for (size_t r = 0; r < runs.len; r++)
            ends += runs.data[r].end == m->blocks.data[i].last ? runs.data[r].count : 0;
        double fall =
            i + 1 < m->blocks.len && m->blocks.data[i].last_class != AS_CLASS_CALL ? graph_edge(flow, i, i + 1) : 0;
        assert_int_equal(ends, (uint64_t)(counts[i] - (fall > 0 ? fall : 0)));
    }
    as_vec_free(&runs);
    as_flow_free(flow);
    as_cfg_free(cfg);
}

static void test_runs(void **state)
{
    const double diamond[] = {100, 30, 70, 100}, loop[] = {10, 40, 400, 40, 10}, call[] = {10, 6, 5, 9};
    expect("3b2 2j3 4i r", diamond, "0>2:70 1>3:30");
    expect("2i 3i 5b2 2b1 r", loop, "2>2:360 3>1:30");
    expect("2b3 2c i r", call, "0>3:4 1>0:6");
}

static void expect_fdata(const char *graph, const double *counts, const char *branches, const char *want)
{
    static const char *const names[] = {"f", "g"};
    struct as_cfg *cfg = graph_make(graph);
    struct as_flow *flow = graph_flow(cfg, counts, branches);
    struct as_cfg_module *m = as_cfg_get(cfg, 0);
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    for (size_t i = 0; i < m->functions.len; i++)
        m->functions.data[i].linkage = names[i];
    as_bolt_write_fdata(flow, 0, out);
    fclose(out);
    assert_string_equal(text, want);
    free(text);
    as_flow_free(flow);
    as_cfg_free(cfg);
}

/* A diamond, and a function that calls it. Offsets count from the function's start. Control comes to `f` 40 times from elsewhere, and
 * behind the call in `g` BOLT's block goes on. */
static void test_fdata(void **state)
{
    const double counts[] = {100, 30, 70, 100, 60, 60};
    expect_fdata("3b2 2j3 4i r | 2c r", counts, "0>2:70 1>3:30 4>0:60",
                 "1 f 8 1 f c 0 30\n"
                 "1 f 8 1 f 14 0 70\n"
                 "1 f 10 1 f 24 0 30\n"
                 "1 f 20 1 f 24 0 70\n"
                 "1 g 4 1 f 0 0 60\n"
                 "0 [unknown] 0 1 f 0 0 40\n"
                 "0 [unknown] 0 1 g 0 0 60\n");
}

/* A jump through a table leads to the second and the third block, so the third begins there for BOLT, too. */
static void test_fdata_of_a_table(void **state)
{
    const double counts[] = {10, 4, 10};
    expect_fdata("2x 3i r", counts, "0>1:4 0>2:6",
                 "1 f 4 1 f 8 0 4\n"
                 "1 f 4 1 f 14 0 6\n"
                 "1 f 10 1 f 14 0 4\n"
                 "0 [unknown] 0 1 f 0 0 10\n");
}

/* A file can be named in fdata if one function in it has a symbol with a size, that is no stub of the linker. */
static void test_check(void **state)
{
    static const struct {
        struct as_symbol symbol;
        bool good;
    } cases[] = {
        {{.raw = "f", .rank = AS_SYMBOL_SIZED}, true},         {{.raw = NULL, .rank = AS_SYMBOL_SIZED}, false},
        {{.raw = "f", .rank = AS_SYMBOL_SIZED + 1}, false},    {{.raw = ".plt", .rank = AS_SYMBOL_SIZED}, false},
        {{.raw = "puts@plt", .rank = AS_SYMBOL_SIZED}, false}, {{.raw = "f.part.0", .rank = AS_SYMBOL_SIZED}, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct as_cfg *cfg = graph_make("r");
        struct as_cfg_module *m = as_cfg_get(cfg, 0);
        struct as_error err = AS_ERROR_INIT;
        assert_false(as_bolt_check(cfg, 0, &err)); /* no symbols at all */
        assert_non_null(strstr(err.message, "has no symbols"));
        *as_vec_push(&m->symbols.symbols.symbols) = cases[i].symbol;
        assert_int_equal(as_bolt_check(cfg, 0, &err), cases[i].good);
        as_vec_free(&m->symbols.symbols.symbols);
        as_cfg_free(cfg);
    }
}

/* Local functions of one name are numbered by their addresses, counting those that never ran. */
static void test_fdata_of_locals(void **state)
{
    static const uint64_t before = GRAPH_START - 0x100;
    const double counts[] = {10, 20, 30};
    struct as_cfg *cfg = graph_make("r | r | r");
    struct as_flow *flow = graph_flow(cfg, counts, "");
    struct as_cfg_module *m = as_cfg_get(cfg, 0);
    static const char *const names[] = {"own", "own", "open@V1"};
    const struct as_symbol symbols[] = {
        {.address = before, .raw = "own", .binding = STB_LOCAL, .rank = AS_SYMBOL_SIZED},
        {.address = graph_start(cfg, 0), .raw = "own", .binding = STB_LOCAL, .rank = AS_SYMBOL_SIZED},
        {.address = graph_start(cfg, 0), .raw = "alias", .binding = STB_LOCAL, .rank = AS_SYMBOL_SIZED},
        {.address = graph_start(cfg, 1), .raw = "own", .binding = STB_LOCAL, .rank = AS_SYMBOL_SIZED},
        {.address = graph_start(cfg, 2), .raw = "open@V1", .binding = STB_GLOBAL, .rank = AS_SYMBOL_SIZED}};
    for (size_t i = 0; i < 3; i++) {
        m->functions.data[i].linkage = names[i];
        m->functions.data[i].local = i < 2;
    }
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++)
        *as_vec_push(&m->symbols.symbols.symbols) = symbols[i];
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    as_bolt_write_fdata(flow, 0, out);
    fclose(out);
    assert_string_equal(text, "0 [unknown] 0 1 own/2 0 0 10\n"
                              "0 [unknown] 0 1 own/3 0 0 20\n"
                              "0 [unknown] 0 1 open 0 0 30\n");
    free(text);
    as_vec_free(&m->symbols.symbols.symbols);
    as_flow_free(flow);
    as_cfg_free(cfg);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_runs), cmocka_unit_test(test_fdata),
                                       cmocka_unit_test(test_fdata_of_a_table), cmocka_unit_test(test_check),
                                       cmocka_unit_test(test_fdata_of_locals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
