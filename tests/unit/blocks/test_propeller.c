/* The compiler's map of basic blocks from bytes, and the order of a function's blocks. */
#include "blocks/propeller.h"
#include "graph.h"

#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

/* A number, a gap or a size of 2^32 is no block's; the largest that fit are. */
static void test_large(void **state)
{
    enum { FIRST = 11 };
    static const uint8_t most[] = {0xff, 0xff, 0xff, 0xff, 0x0f}, more[] = {0x80, 0x80, 0x80, 0x80, 0x10};
    for (size_t place = 0; place < 4; place++) {
        uint8_t text[32] = {2, 0, 0x00, 0x10, 0, 0, 0, 0, 0, 0, 1};
        for (int too_large = 0; too_large < 2; too_large++) {
            struct as_propeller_map map = {0};
            struct as_error err = AS_ERROR_INIT;
            size_t n = FIRST;
            for (size_t i = 0; i < 4; i++) /* number, gap, size and how it ends */
                if (i == place) {
                    memcpy(text + n, too_large ? more : most, sizeof most);
                    n += sizeof most;
                } else
                    text[n++] = 1;
            bool right = as_propeller_read(text, n, &map, &err);
            assert_int_equal(right, !too_large || place == 3);
            if (right) {
                const struct as_propeller_block *block = &map.blocks.data[0];
                assert_int_equal(block->id, place == 0 ? UINT32_MAX : 1);
                assert_int_equal(block->start, 0x1000 + (place == 1 ? UINT64_C(0xffffffff) : 1));
                assert_int_equal(block->end - block->start, place == 2 ? UINT64_C(0xffffffff) : 1);
            }
            as_propeller_map_free(&map);
        }
    }
}

/* ---- a file that has such a map: this program ---- */

/* Four blocks as the compiler numbers them, of which the third never runs; the map says so in a section of its own. Never called. */
__asm__(".text\n"
        ".globl propeller_victim\n"
        ".type propeller_victim, @function\n"
        "propeller_victim:\n"
        "    testl %edi, %edi\n"
        "    je .Lvictim3\n"
        ".Lvictim1:\n"
        "    decl %edi\n"
        "    jne .Lvictim1\n"
        ".Lvictim2:\n"
        "    addl $1, %edi\n"
        ".Lvictim3:\n"
        "    ret\n"
        ".Lvictim4:\n"
        ".size propeller_victim, . - propeller_victim\n"
        ".section .llvm_bb_addr_map, \"\", @progbits\n"
        "    .byte 2, 0\n"
        "    .quad propeller_victim\n"
        "    .uleb128 4\n"
        "    .uleb128 0, 0, .Lvictim1 - propeller_victim, 8\n"
        "    .uleb128 5, 0, .Lvictim2 - .Lvictim1, 8\n"
        "    .uleb128 6, 0, .Lvictim3 - .Lvictim2, 8\n"
        "    .uleb128 9, 0, .Lvictim4 - .Lvictim3, 1\n"
        ".text\n");

static void see_victim(struct as_cfg *cfg, uint32_t module, uint64_t *start)
{
    const struct as_symtab *table = &as_cfg_get(cfg, module)->symbols.symbols;
    *start = 0;
    for (size_t i = 0; i < table->symbols.len; i++)
        if (table->symbols.data[i].raw && strcmp(table->symbols.data[i].raw, "propeller_victim") == 0)
            *start = table->symbols.data[i].address;
    assert_true(*start > 0);
    as_cfg_touch(cfg, module, *start);
    as_cfg_build(cfg);
}

static void test_file(void **state)
{
    char path[4096], *text = NULL;
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    assert_true(n > 0);
    path[n] = '\0';
    struct as_cfg *cfg = as_cfg_new(NULL);
    struct as_error err = AS_ERROR_INIT;
    uint32_t module = as_cfg_module_of(cfg, path, AS_ARCH_X86_64);
    uint64_t start;
    see_victim(cfg, module, &start);
    if (!as_propeller_check(cfg, module, &err))
        fail_msg("%s", err.message);
    struct as_flow *flow = as_flow_new(cfg);
    struct as_cfg_module *m = as_cfg_get(cfg, module);
    assert_int_equal(m->blocks.len, 4);
    flow->counts[module][0] = 10, flow->counts[module][1] = 50, flow->counts[module][3] = 10;
    as_flow_add(flow, &(struct as_flow_branch){.module = module,
                                               .to_module = module,
                                               .from = m->blocks.data[0].last,
                                               .to = m->blocks.data[3].start,
                                               .kind = AS_EDGE_TAKEN,
                                               .count = 7});
    as_flow_add(flow, &(struct as_flow_branch){.module = module,
                                               .to_module = module,
                                               .from = m->blocks.data[1].last,
                                               .to = m->blocks.data[1].start,
                                               .kind = AS_EDGE_TAKEN,
                                               .count = 47});
    as_flow_finish(flow);
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_true(as_propeller_write_clusters(flow, module, out, &err));
    fclose(out);
    assert_string_equal(text, "v1\nf propeller_victim\nc 0 9 5\n"); /* what was never executed is left out */
    free(text);
    as_flow_free(flow);
    as_cfg_free(cfg);
}

static void test_other_files(void **state)
{
    struct as_cfg *cfg = as_cfg_new(NULL);
    struct as_error err = AS_ERROR_INIT;
    uint32_t library = as_cfg_module_of(cfg, "/proc/self/exe.not", AS_ARCH_X86_64),
             system = as_cfg_module_of(cfg, "/bin/sh", AS_ARCH_X86_64);
    assert_false(as_propeller_check(cfg, library, &err));
    assert_false(as_propeller_check(cfg, system, &err));
    assert_non_null(strstr(err.message, "has no map of basic blocks; build it with clang"));
    as_cfg_free(cfg);
}

/* The compiler's blocks are the graph's, but for those that `joins` names, which are parts of the one before, and those that `splits` names,
 * of which it has two: the first instruction and the rest. */
static void expect(const char *graph, const double *counts, const char *branches, const char *joins, const char *splits,
                   const char *order)
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
    for (uint32_t i = 0; i < m->blocks.len; i++)
        if (strchr(splits, (int)('0' + i))) {
            struct as_propeller_block rest = map.blocks.data[i];
            rest.start += 4;
            rest.id += 5;
            map.blocks.data[i].end = rest.start;
            as_vec_push(&map.blocks);
            memmove(&map.blocks.data[i + 2], &map.blocks.data[i + 1],
                    (map.blocks.len - i - 2) * sizeof *map.blocks.data);
            map.blocks.data[i + 1] = rest;
        }
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
    expect("3b2 2j3 4i r", diamond, "0>2:70 1>3:30", "", "", "0231");
    expect("3b2 2j3 4i r", never, "0>2:100", "", "", "023");       /* what never ran is left to the cold section */
    expect("i 2b3 2j1 r", loop, "1>3:10 2>1:390", "", "", "0123"); /* a loop stays one */
    expect("c b3 i r", call, "0>0:10 1>3:8", "1", "", "032");      /* a call does not end the compiler's block */
    expect("3b2 2j3 4i r", diamond, "0>2:70 1>3:30", "", "0",
           "05231"); /* two of its blocks stand for one that was counted */
    expect("3b2 2j3 4i r", diamond, "0>2:70 1>3:30", "", "2", "02731");
    expect("i 2b3 2j1 r", loop, "1>3:10 2>1:390", "", "1", "01623");
    expect("3b2 2j3 4i r", never, "0>2:100", "", "2", "0273");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_read),   cmocka_unit_test(test_bad),
                                       cmocka_unit_test(test_layout), cmocka_unit_test(test_large),
                                       cmocka_unit_test(test_file),   cmocka_unit_test(test_other_files)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
