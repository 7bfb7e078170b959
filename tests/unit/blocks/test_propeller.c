/* The compiler's map of basic blocks from bytes, and the order of a function's blocks. */
#include "blocks/propeller.h"
#include "graph.h"

#include "unit.h"

#include <string.h>

/* Two functions, the second in two ranges: version, features, [ranges], address, blocks of (id, gap, size, how it ends). */
/* clang-format off */
static const uint8_t bytes[] = {
    2, 0, 0x00, 0x10, 0, 0, 0, 0, 0, 0, 3,      0, 0, 12, 8,  2, 4, 0x88, 1, 0,  1, 0, 8, 1,
    2, 8, 2, 0x00, 1, 0, 0, 0, 0, 0, 0, 1,      0, 0, 5, 1,
             0x00, 2, 0, 0, 0, 0, 0, 0, 1,      7, 0, 6, 1};
/* clang-format on */

static void test_read(void **state)
{
    struct as_propeller_map map = {0};
    struct as_error err = {0};
    assert_true(as_propeller_read(bytes, sizeof bytes, &map, &err));
    assert_int_equal(map.functions.len, 3);
    assert_int_equal(map.blocks.len, 5);
    assert_int_equal(map.functions.data[0].start, 0x1000);
    assert_int_equal(map.functions.data[0].n, 3);
    assert_int_equal(map.blocks.data[1].id, 2);
    assert_int_equal(map.blocks.data[1].start, 0x1010); /* a gap of 4 behind the first */
    assert_int_equal(map.blocks.data[1].end, 0x1098);
    assert_int_equal(map.functions.data[2].start, 0x200);
    assert_int_equal(map.functions.data[2].first, 4);
    assert_int_equal(map.blocks.data[4].id, 7);
    as_propeller_map_free(&map);
}

static void test_bad(void **state)
{
    uint8_t changed[sizeof bytes];
    for (size_t size = 1; size < sizeof bytes; size++) { /* cut anywhere but between the functions */
        struct as_propeller_map map = {0};
        struct as_error err = {0};
        assert_int_equal(as_propeller_read(bytes, size, &map, &err), size == 24);
        as_propeller_map_free(&map);
    }
    static const struct {
        size_t at;
        uint8_t value;
        const char *says;
    } cases[] = {{0, 1, "version 1"}, {1, 1, "profile in it"}, {10, 0xff, "corrupt"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct as_propeller_map map = {0};
        struct as_error err = {0};
        memcpy(changed, bytes, sizeof bytes);
        changed[cases[i].at] = cases[i].value;
        assert_false(as_propeller_read(changed, sizeof changed, &map, &err));
        assert_non_null(strstr(err.message, cases[i].says));
        as_propeller_map_free(&map);
    }
}

/* The compiler's blocks are the graph's, but for those that `joins` names, which are parts of the one before. */
static void expect(const char *graph, const double *counts, const char *branches, const char *joins, const char *order)
{
    struct as_cfg *cfg = graph_make(graph);
    struct as_flow *flow = graph_flow(cfg, counts, branches);
    const struct as_cfg_module *m = as_cfg_get(cfg, 0);
    struct as_propeller_map map = {0};
    for (uint32_t i = 0; i < m->blocks.len; i++)
        if (strchr(joins, (int)('0' + i)))
            map.blocks.data[map.blocks.len - 1].end = m->blocks.data[i].end;
        else
            *as_vec_push(&map.blocks) = (struct as_propeller_block){m->blocks.data[i].start, m->blocks.data[i].end, i};
    *as_vec_push(&map.functions) = (struct as_propeller_function){m->blocks.data[0].start, 0, map.blocks.len};
    uint32_t indices[16];
    char text[17] = "";
    size_t n = as_propeller_layout(flow, 0, &map, &map.functions.data[0], indices);
    for (size_t i = 0; i < n; i++)
        text[i] = (char)('0' + map.blocks.data[indices[i]].id);
    assert_string_equal(text, order);
    as_propeller_map_free(&map);
    as_flow_free(flow);
    as_cfg_free(cfg);
}

static void test_layout(void **state)
{
    const double diamond[] = {100, 30, 70, 100}, never[] = {100, 0, 100, 100}, loop[] = {10, 400, 390, 10};
    const double call[] = {10, 10, 2, 10};
    expect("3b2 2j3 4i r", diamond, "0>2:70 1>3:30", "", "0231");
    expect("3b2 2j3 4i r", never, "0>2:100", "", "023");       /* what never ran is left to the cold section */
    expect("i 2b3 2j1 r", loop, "1>3:10 2>1:390", "", "0123"); /* a loop stays one */
    expect("c b3 i r", call, "0>0:10 1>3:8", "1", "032");      /* a call does not end the compiler's block */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_read), cmocka_unit_test(test_bad),
                                       cmocka_unit_test(test_layout)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
