/* Call trees: nodes, their order, folding, components, names, walks. The numbers are those of view_bed.h. */
#include "unit.h"

#include "view/rows.h"
#include "view/tree.h"
#include "view_bed.h"

#include <math.h>

#define NONE AS_STORE_NONE
enum { L1 = 1, LLC = 2, MB = 16 };

static struct as_tree make(const struct as_view *view, bool folded)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_tree tree;
    if (!(folded ? as_tree_make_folded : as_tree_make)(&tree, view, &err))
        fail_msg("%s", err.message);
    return tree;
}

struct wanted {
    uint32_t function, parent, depth, first, n;
    uint64_t self, total;
    uint32_t levels;
};

static void check_nodes(const struct as_tree *tree, const struct wanted *wanted, size_t n)
{
    assert_int_equal(tree->n, n);
    for (size_t i = 0; i < n; i++) {
        const struct as_tree_node *node = &tree->nodes[i];
        assert_int_equal(node->function, wanted[i].function);
        assert_int_equal(node->parent, wanted[i].parent);
        assert_int_equal(node->depth, wanted[i].depth);
        assert_int_equal(node->n, wanted[i].n);
        if (node->n)
            assert_int_equal(node->first, wanted[i].first);
        assert_int_equal(node->self, wanted[i].self);
        assert_int_equal(node->total, wanted[i].total);
        assert_int_equal(node->levels, wanted[i].levels);
    }
}

static void nodes_level_by_level(void **state)
{
    static const struct wanted wanted[] = {{0, NONE, 0, 4, 2, 1000, 3100, 1}, /* 0: main */
                                           {1, NONE, 0, 0, 0, 400, 400, 1},   /* 1: sell, thread 2 */
                                           {2, NONE, 0, 0, 0, 260, 260, 1},   /* 2: count, thread 2 */
                                           {NONE, NONE, 0, 0, 0, 240, 240, 1},
                                           {1, 0, 1, 6, 2, 1100, 1900, 1}, /* 4: main > sell */
                                           {1, 0, 1, 0, 0, 200, 200, 1},   /* 5: main > (signal) sell */
                                           {1, 4, 2, 8, 1, 300, 450, 1},   /* 6: main > sell > sell */
                                           {2, 4, 2, 0, 0, 350, 350, 1},   /* 7: main > sell > count */
                                           {2, 6, 3, 0, 0, 150, 150, 1}};
    static const uint32_t node_of[] = {0, 4, 7, 6, 8, 5, 2, 1, 3};
    struct as_view view = view_bed_open("shop.db", NULL);
    struct as_tree tree = make(&view, false);
    check_nodes(&tree, wanted, 9);
    assert_int_equal(tree.n_roots, 4);
    assert_int_equal(tree.total, 4000);
    assert_ptr_equal(tree.view, &view);
    assert_true(tree.nodes[5].signal);
    assert_false(tree.nodes[4].signal);
    assert_int_equal(tree.nodes[3].address, 0x2000);
    for (size_t i = 0; i < 9; i++)
        assert_int_equal(tree.node_of[i], node_of[i]);
    as_tree_free(&tree);
    as_view_free(&view);
}

/* sell > sell is one node, which calls count once; what a signal interrupted is no recursion. */
static void recursion_is_folded(void **state)
{
    static const struct wanted wanted[] = {{0, NONE, 0, 4, 2, 1000, 3100, 1}, {1, NONE, 0, 0, 0, 400, 400, 1},
                                           {2, NONE, 0, 0, 0, 260, 260, 1},   {NONE, NONE, 0, 0, 0, 240, 240, 1},
                                           {1, 0, 1, 6, 1, 1400, 1900, 2},    {1, 0, 1, 0, 0, 200, 200, 1},
                                           {2, 4, 2, 0, 0, 500, 500, 1}};
    struct as_view view = view_bed_open("shop.db", NULL);
    struct as_tree tree = make(&view, true);
    check_nodes(&tree, wanted, 7);
    assert_int_equal(tree.total, 4000);
    as_tree_free(&tree);
    as_view_free(&view);
}

/* A chain of one function, a handler of the same function in it, and callers without a name. */
static void recursion_of_many_kinds(void **state)
{
    static const struct as_store_path paths[] = {{NONE, 0, NONE, 16, 0, false},    {0, 0, NONE, 16, 0, false},
                                                 {1, 0, NONE, 16, 0, false},       {0, 0, NONE, 16, 0, true},
                                                 {NONE, NONE, NONE, 64, 0, false}, {4, NONE, NONE, 64, 0, false},
                                                 {4, NONE, NONE, 80, 0, false},    {0, 0, NONE, 16, 99, false}};
    static const struct wanted wanted[] = {{0, NONE, 0, 2, 1, 1 + 2 + 4 + 128, 143, 3},
                                           {NONE, NONE, 0, 3, 2, 16, 112, 1},
                                           {0, 0, 1, 0, 0, 8, 8, 1},
                                           {NONE, 1, 1, 0, 0, 64, 64, 1},
                                           {NONE, 1, 1, 0, 0, 32, 32, 1}};
    struct as_store_writer *writer = bed_writer("deep.db");
    uint32_t series = as_store_add_series(
        writer, &(struct as_store_series){.name = "golden", .unit = "cycles", .scale = 1, .precise = -1});
    as_store_add_thread(writer, &(struct as_store_thread){1, 7, NULL, 0, 0, 0});
    as_store_add_function(writer, &(struct as_store_function){"f", NULL, NONE, NONE, 0, 16, 4});
    for (uint32_t i = 0; i < 8; i++) {
        as_store_add_path(writer, &paths[i]);
        as_store_add_path_time(writer, &(struct as_store_path_time){series, 0, i, NONE, UINT64_C(1) << i, 0});
    }
    bed_commit(writer);
    struct as_view view = view_bed_open("deep.db", NULL);
    struct as_tree tree = make(&view, true);
    check_nodes(&tree, wanted, 5);
    assert_int_equal(tree.nodes[3].address, 80);
    assert_int_equal(tree.nodes[4].address, 64);
    assert_false(as_tree_has_parts(&tree));
    as_tree_free(&tree);
    as_view_free(&view);
}

static void a_series_without_paths(void **state)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_view view = view_bed_open("shop.db", "clock");
    struct as_tree tree;
    assert_false(as_tree_make(&tree, &view, &err));
    assert_non_null(strstr(err.message, "shop.db: the series clock has no call paths"));
    assert_non_null(strstr(err.message, "--call-graph"));
    assert_non_null(strstr(err.message, "perf record -g"));
    as_tree_free(&tree);
    as_view_free(&view);
}

/* A thread's tree has its times alone. */
static void one_thread(void **state)
{
    struct as_view view =
        view_bed_open_with(&(struct as_view_options){.file = "shop.db", .threads = VIEW_BED_WORDS("2")});
    struct as_tree tree = make(&view, false);
    assert_int_equal(tree.total, 660);
    assert_int_equal(tree.nodes[0].function, 1);
    assert_int_equal(tree.nodes[0].total, 400);
    assert_int_equal(tree.nodes[1].total, 260);
    assert_int_equal(tree.nodes[2].total, 0);
    assert_int_equal(tree.legend.units[1], 400);
    as_tree_free(&tree);
    as_view_free(&view);
}

static void names_with_modules(void **state)
{
    static const char *const names[] = {
        "main (shop)", "sell (shop)", "count (libshop.so.1)", "shop+0x2000", "sell", "(signal) sell", "sell", "count"};
    struct as_view view = view_bed_open("shop.db", NULL);
    struct as_tree tree = make(&view, false);
    char name[AS_TREE_NAME_MAX];
    for (size_t i = 0; i < 8; i++)
        assert_string_equal(as_tree_name(&tree, &tree.nodes[i], name), names[i]);
    as_tree_free(&tree);
    as_view_free(&view);
}

/* Two modules have a start each: below the roots their modules are named too. */
static void names_of_namesakes(void **state)
{
    struct as_store_writer *writer = bed_writer("names.db");
    uint32_t series = as_store_add_series(
        writer, &(struct as_store_series){.name = "golden", .unit = "cycles", .scale = 1, .precise = -1});
    as_store_add_thread(writer, &(struct as_store_thread){1, 7, NULL, 0, 0, 0});
    as_store_add_module(writer, &(struct as_store_module){.path = "[one]"});
    as_store_add_module(writer, &(struct as_store_module){.path = "[two]"});
    static const struct as_store_function functions[] = {{"root", NULL, 0, NONE, 0, 8, 4},
                                                         {"start", NULL, 0, NONE, 0, 16, 4},
                                                         {"start", NULL, 1, NONE, 0, 32, 4},
                                                         {"twice", NULL, 1, NONE, 0, 48, 4},
                                                         {"twice", NULL, 1, NONE, 0, 64, 4}};
    for (uint32_t i = 0; i < 5; i++) {
        as_store_add_function(writer, &functions[i]);
        as_store_add_path(writer, &(struct as_store_path){i ? i - 1 : NONE, i, NONE, functions[i].address, 0, i == 2});
        as_store_add_path_time(writer, &(struct as_store_path_time){series, 0, i, NONE, 5, 0});
    }
    bed_commit(writer);
    struct as_view view = view_bed_open("names.db", NULL);
    struct as_tree tree = make(&view, false);
    static const char *const names[] = {"root ([one])", "start ([one])", "(signal) start ([two])", "twice", "twice"};
    char name[AS_TREE_NAME_MAX];
    for (size_t i = 0; i < 5; i++)
        assert_string_equal(as_tree_name(&tree, &tree.nodes[i], name), names[i]);
    as_tree_free(&tree);
    as_view_free(&view);
}

static void check_row(const struct as_store_row *row, uint64_t units, const uint64_t parts[][2], size_t n)
{
    assert_int_equal(row->units, units);
    assert_int_equal(row->n_parts, n);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(row->parts[i].key, parts[i][0]);
        assert_int_equal(row->parts[i].units, parts[i][1]);
    }
    as_tree_row_free((struct as_store_row *)row);
}

static void components_of_nodes(void **state)
{
    static const uint64_t main_self[][2] = {{0, 910}, {MB, 90}},
                          main_total[][2] = {{0, 2010}, {L1 | LLC, 600}, {L1, 400}, {MB, 90}},
                          sell_self[][2] = {{0, 500}, {L1 | LLC, 400}, {L1, 200}},
                          sell_total[][2] = {{0, 1000}, {L1 | LLC, 500}, {L1, 400}}, deep[][2] = {{0, 150}};
    static const uint64_t inner[][2] = {{L1, 200}, {0, 150}, {L1 | LLC, 100}}, interrupted[][2] = {{0, 100}, {3, 100}};
    struct as_view view = view_bed_open("shop.db", NULL);
    struct as_tree tree = make(&view, false);
    struct as_store_row row;
    assert_true(as_tree_has_parts(&tree));
    as_tree_row_self(&tree, &tree.nodes[0], &row);
    check_row(&row, 1000, main_self, 2);
    as_tree_row_total(&tree, &tree.nodes[0], &row);
    check_row(&row, 3100, main_total, 4);
    as_tree_row_self(&tree, &tree.nodes[4], &row);
    check_row(&row, 1100, sell_self, 3);
    as_tree_row_total(&tree, &tree.nodes[4], &row);
    check_row(&row, 1900, sell_total, 3);
    as_tree_row_total(&tree, &tree.nodes[6], &row);
    check_row(&row, 450, inner, 3);
    as_tree_row_self(&tree, &tree.nodes[5], &row);
    check_row(&row, 200, interrupted, 2);
    as_tree_row_total(&tree, &tree.nodes[8], &row);
    check_row(&row, 150, deep, 1);
    assert_int_equal(tree.legend.n, 5);
    assert_int_equal(tree.legend.units[0], 2250);
    assert_int_equal(tree.legend.units[1], 1000);
    assert_int_equal(tree.legend.total, 4000);
    as_tree_free(&tree);
    as_view_free(&view);
}

static void check_walk(const struct as_tree *tree, size_t limit, double least, const uint32_t *nodes, size_t n,
                       uint64_t left_out)
{
    struct as_tree_walk walk = as_tree_walk_start(tree, limit, least);
    const struct as_tree_node *node;
    size_t seen = 0;
    while ((node = as_tree_walk_next(&walk))) {
        assert_true(seen < n);
        assert_int_equal(node - tree->nodes, nodes[seen++]);
    }
    assert_int_equal(seen, n);
    assert_int_equal(walk.left_out, left_out);
    assert_null(walk.shown);
}
#define CHECK_WALK(tree, limit, least, left_out, ...)                                                                  \
    check_walk(tree, limit, least, (const uint32_t[]){__VA_ARGS__}, sizeof((const uint32_t[]){__VA_ARGS__}) / 4,       \
               left_out)

static void walks_in_the_order_of_a_listing(void **state)
{
    struct as_view view = view_bed_open("shop.db", NULL);
    struct as_tree tree = make(&view, false);
    CHECK_WALK(&tree, 0, 0, 0, 0, 4, 6, 8, 7, 5, 1, 2, 3);
    CHECK_WALK(&tree, 3, 0, 6, 0, 4, 6);               /* the three largest */
    CHECK_WALK(&tree, 1, 0, 5, 0);                     /* two children and three roots */
    CHECK_WALK(&tree, 0, 0.1, 5, 0, 4, 6, 1);          /* 400 of 4000 is a tenth */
    CHECK_WALK(&tree, 0, 0.0625, 3, 0, 4, 6, 7, 1, 2); /* 250 of 4000 */
    as_tree_free(&tree);
    as_view_free(&view);
}

static void the_next_node(void **state)
{
    struct as_view view = view_bed_open("shop.db", NULL);
    struct as_tree tree = make(&view, false);
    assert_int_equal(as_tree_next(&tree, 0, false), 4);
    assert_int_equal(as_tree_next(&tree, 0, true), 1);
    assert_int_equal(as_tree_next(&tree, 8, false), 7);
    assert_int_equal(as_tree_next(&tree, 7, false), 5);
    assert_int_equal(as_tree_next(&tree, 5, false), 1);
    assert_int_equal(as_tree_next(&tree, 3, false), NONE);
    as_tree_free(&tree);
    as_view_free(&view);
}

/* Two functions, main > work, in two replicates: main has 400 in each, of which 100 are the same in both; work has 500 and 700. Of the
 * series' 1,000 cycles `without` are on no path. */
static void write_replicates(const char *path, bool by_path, uint64_t without)
{
    static const uint64_t works[] = {500, 700};
    struct as_store_writer *writer = bed_writer(path);
    as_store_add_meta(writer, AS_META_PROGRAM, "/opt/shop");
    as_store_add_thread(writer, &(struct as_store_thread){1, 100, NULL, 1000, 0, 0});
    as_store_add_module(writer, &(struct as_store_module){.path = "/opt/shop"});
    for (uint32_t i = 0; i < 2; i++) {
        as_store_add_function(writer,
                              &(struct as_store_function){i ? "work" : "main", NULL, 0, NONE, 0, 16 * (i + 1), 16});
        as_store_add_instruction(
            writer, &(struct as_store_insn){{16 * (i + 1), 0, i, NONE, NONE, 0, NONE}, 0, "nop", "nop", NULL, 0});
        as_store_add_path(writer, &(struct as_store_path){.parent = i ? 0 : NONE, .function = i, .call_site = NONE});
    }
    static const char *const names[] = {AS_STORE_SAMPLED, AS_STORE_REPLICATE_COMMON, AS_STORE_REPLICATE "1",
                                        AS_STORE_REPLICATE "2"};
    for (uint32_t i = 0; i < 4; i++) {
        struct as_store_series series = {.name = names[i], .unit = "cycles", .scale = 1, .precise = -1};
        uint32_t number = as_store_add_series(writer, &series);
        uint64_t units[] = {i == 0 ? 400 : i == 1 ? 100 : 300, i == 0 ? 600 : i == 1 ? 0 : works[i - 2]};
        for (uint32_t at = 0; at < 2; at++) {
            as_store_add_time(writer, &(struct as_store_time){number, 0, at, units[at], 0, 0});
            uint64_t own = units[at] - (i == 0 && at == 1 ? without : 0);
            if (own && (by_path || i == 0))
                as_store_add_path_time(writer, &(struct as_store_path_time){
                                                   .series = number, .path = at, .instruction = NONE, .units = own});
        }
    }
    bed_commit(writer);
}

/* Shares of 500 of 900 and 700 of 1,100; t with one degree of freedom, and (n - 1) / sqrt(n) of the deviation of two values. */
static void replicates_give_errors(void **state)
{
    struct as_error err = AS_ERROR_INIT;
    write_replicates("replicates.db", true, 0);
    struct as_view view = view_bed_open("replicates.db", NULL);
    struct as_tree tree = make(&view, false);
    assert_true(as_tree_errors_make(&tree, &err));
    double apart = 700.0 / 1100 - 500.0 / 900, error = 12.706 * apart / 2;
    assert_true(fabs(tree.self_errors[1] - error) < 1e-4);
    assert_true(fabs(tree.total_errors[1] - error) < 1e-4);
    assert_true(fabs(tree.self_errors[0] - error) < 1e-4); /* what work has not, main has */
    assert_true(tree.total_errors[0] < 1e-12);             /* all of the time in each */
    as_tree_free(&tree);
    struct as_rows rows;
    assert_true(as_rows_make(&rows, &view, AS_STORE_BY_FUNCTION, NULL, &err));
    assert_int_equal(rows.rows.rows[0].id, 1);
    assert_true(fabs(rows.total_errors[0] - error) < 1e-4);
    assert_true(rows.total_errors[1] < 1e-12);
    as_rows_free(&rows);
    as_view_free(&view);
    (void)state;
}

/* Of 1,000 cycles 100 are on no path: all of them may be main's, and 2 sqrt(5/9) of them, at most all, work's. */
static void time_without_a_path_is_uncertain(void **state)
{
    struct as_error err = AS_ERROR_INIT;
    write_replicates("without.db", true, 100);
    struct as_view view = view_bed_open("without.db", NULL);
    struct as_tree tree = make(&view, false);
    assert_true(as_tree_errors_make(&tree, &err));
    assert_true(fabs(tree.total_errors[0] - 0.1) < 1e-9);
    assert_true(fabs(tree.self_errors[1] - 12.706 * (700.0 / 1100 - 500.0 / 900) / 2 - 0.1) < 1e-4);
    as_tree_free(&tree);
    as_view_free(&view);
    (void)state;
}

/* Profiles of older versions have no paths in replicates; others have no replicates. */
static void errors_that_are_not_known(void **state)
{
    struct as_error err = AS_ERROR_INIT;
    write_replicates("older.db", false, 0);
    const char *const files[] = {"older.db", "shop.db"};
    for (size_t i = 0; i < 2; i++) {
        struct as_view view = view_bed_open(files[i], NULL);
        struct as_tree tree = make(&view, false);
        assert_true(as_tree_errors_make(&tree, &err));
        assert_null(tree.self_errors);
        assert_null(tree.total_errors);
        as_tree_free(&tree);
        as_view_free(&view);
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodes_level_by_level),
        cmocka_unit_test(recursion_is_folded),
        cmocka_unit_test(recursion_of_many_kinds),
        cmocka_unit_test(a_series_without_paths),
        cmocka_unit_test(one_thread),
        cmocka_unit_test(names_with_modules),
        cmocka_unit_test(names_of_namesakes),
        cmocka_unit_test(components_of_nodes),
        cmocka_unit_test(walks_in_the_order_of_a_listing),
        cmocka_unit_test(the_next_node),
        cmocka_unit_test(replicates_give_errors),
        cmocka_unit_test(time_without_a_path_is_uncertain),
        cmocka_unit_test(errors_that_are_not_known),
    };
    return cmocka_run_group_tests(tests, view_bed_set_up, NULL);
}
