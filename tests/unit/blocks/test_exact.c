/* Exact counts of blocks from what an engine counted: translated blocks that overlap and are cut anywhere, a fault half-way, jumps,
 * calls, and where measuring ended; and whether that is the code of its file. The engine and its counters are played here. */
#include "blocks/exact.h"

#include "unit.h"

enum { BASE = 0x7000, BLOCKS = 6, MOST = 4 };

/* One instruction of four bytes a letter: i, b(ranch), j(ump), x (jumps anywhere), c(all), r(eturn). */
static const struct played {
    uint64_t address, target;
    const char *insns;
    uint64_t executions[MOST], taken;
} played[BLOCKS] = {
    {0x00, 0x10, "iib", {10, 10, 10}, 4}, /* falls to 0x0c six times */
    {0x04, 0x10, "ib", {5, 5}, 5},        /* a part of it, entered in its midst, always taken */
    {0x0c, 0x20, "j", {6}, 6},
    {0x10, 0x40, "iic", {9, 9, 8}, 8}, /* a fault at the call, once */
    {0x20, 0, "ix", {6, 6}, 0},        /* jumps to 0x10 once, and to 0x40 */
    {0x40, 0, "ir", {13, 13}, 0},
};
static const struct as_jump_count jumps[] = {{4, BASE + 0x10, 1}, {4, BASE + 0x40, 5}},
                                  cuts[] = {{2, BASE + 0x20, 1}, {4, BASE + 0x20, 1}};

static struct as_block *blocks[BLOCKS];
static struct as_insn insns[BLOCKS][MOST];
static struct as_image image = {.number = 1, .arch = AS_ARCH_X86_64};

/* Code of this test's file, in place of what is in no file: eighteen no-operations of four bytes. Never called. */
__asm__(".text\n"
        ".globl exact_code\n"
        ".type exact_code, @function\n"
        "exact_code:\n"
        "    .rept 18\n"
        "    .byte 0x0f, 0x1f, 0x40, 0x00\n"
        "    .endr\n"
        ".size exact_code, . - exact_code\n");
extern const char exact_code[];

static struct as_location place = {.module = "[code]", .module_name = "[code]"}; /* of what is at BASE */

/* ---- in place of the engine (engine.h), its counters (counts.h, jumps.h) and its address space ---- */

size_t as_engine_count_blocks(const struct as_engine *engine)
{
    return BLOCKS;
}

const struct as_block *as_engine_block(const struct as_engine *engine, size_t index)
{
    return blocks[index];
}

const struct as_image *as_engine_image(const struct as_engine *engine, uint32_t number)
{
    assert_int_equal(number, 1);
    return &image;
}

uint64_t as_counter_executions(const struct as_counter *counter, const struct as_block *block, uint32_t index)
{
    return played[block->index].executions[index];
}

uint64_t as_counter_taken(const struct as_counter *counter, const struct as_block *block)
{
    return played[block->index].taken;
}

const struct as_jump_count *as_jump_counter_list(const struct as_jump_counter *counter, size_t *n)
{
    *n = sizeof jumps / sizeof *jumps;
    return jumps;
}

const struct as_jump_count *as_jump_counter_cuts(const struct as_jump_counter *counter, size_t *n)
{
    *n = sizeof cuts / sizeof *cuts;
    return cuts;
}

void as_space_find(struct as_space *space, uint64_t address, struct as_location *location)
{
    *location = place;
    location->module_offset += address - BASE;
}

/* ---- the run ---- */

static uint8_t class_of(char letter)
{
    return letter == 'b'   ? AS_CLASS_BRANCH
           : letter == 'j' ? AS_CLASS_JUMP
           : letter == 'x' ? AS_CLASS_JUMP_INDIRECT
           : letter == 'c' ? AS_CLASS_CALL
           : letter == 'r' ? AS_CLASS_RETURN
                           : AS_CLASS_INT;
}

static int set_up(void **state)
{
    for (uint32_t i = 0; i < BLOCKS; i++) {
        const struct played *one = &played[i];
        struct as_block *block = as_alloc(sizeof *block + MOST * sizeof *block->insns);
        blocks[i] = block;
        block->index = i;
        block->image = 1;
        block->n = (uint32_t)strlen(one->insns);
        block->address = BASE + one->address;
        block->end = block->address + 4 * block->n;
        for (uint32_t k = 0; k < block->n; k++) {
            insns[i][k] = (struct as_insn){.address = block->address + 4 * k,
                                           .length = 4,
                                           .n_uops = 1,
                                           .class_ = class_of(one->insns[k]),
                                           .arch = AS_ARCH_X86_64};
            block->insns[k] = &insns[i][k];
        }
        insns[i][block->n - 1].target = one->target ? BASE + one->target : 0;
    }
    return 0;
}

static int tear_down(void **state)
{
    for (uint32_t i = 0; i < BLOCKS; i++)
        free(blocks[i]);
    return 0;
}

static struct as_flow *flow_of(bool whole)
{
    return as_exact_flow(NULL, NULL, NULL, &(struct as_exact_options){.whole = whole});
}

static double count_at(const struct as_flow *flow, uint64_t address)
{
    uint32_t block = as_cfg_find_start(flow->cfg, 0, address);
    return block == AS_CFG_NONE ? -1 : flow->counts[0][block];
}

static double edge(const struct as_flow *flow, uint64_t from, uint64_t to, enum as_edge_kind kind)
{
    size_t n;
    uint32_t block = as_cfg_find_start(flow->cfg, 0, from);
    assert_true(block != AS_CFG_NONE);
    const struct as_flow_edge *edges = as_flow_out(flow, 0, block, &n);
    for (size_t i = 0; i < n; i++)
        if (edges[i].target == to && edges[i].kind == kind)
            return edges[i].count;
    return -1;
}

static void end(struct as_flow *flow)
{
    struct as_cfg *cfg = flow->cfg;
    as_flow_free(flow);
    as_cfg_free(cfg);
}

static void in_parts(void **state)
{
    struct as_flow *flow = flow_of(false);
    assert_int_equal(as_cfg_count_modules(flow->cfg), 1);
    assert_null(flow->samples);
    assert_true(count_at(flow, 0x00) == 10 && count_at(flow, 0x04) == 15 && count_at(flow, 0x0c) == 6);
    assert_true(count_at(flow, 0x10) == 9 && count_at(flow, 0x18) == 8); /* the call ran less often */
    assert_true(count_at(flow, 0x20) == 6 && count_at(flow, 0x40) == 13);
    assert_true(edge(flow, 0x04, 0x10, AS_EDGE_TAKEN) == 9);
    assert_true(edge(flow, 0x04, 0x0c, AS_EDGE_FALL) == 6);
    assert_true(edge(flow, 0x0c, 0x20, AS_EDGE_TAKEN) == 5); /* the last time, what it leads to was not counted */
    assert_true(edge(flow, 0x18, 0x40, AS_EDGE_CALL) == 8);
    assert_true(edge(flow, 0x20, 0x10, AS_EDGE_INDIRECT) == 1); /* a cut that is indirect was not in the list */
    assert_true(edge(flow, 0x20, 0x40, AS_EDGE_INDIRECT) == 5);
    assert_true(edge(flow, 0x20, 0x20, AS_EDGE_INDIRECT) == -1);
    end(flow);
}

static void whole(void **state)
{
    struct as_flow *flow = flow_of(true);
    assert_true(count_at(flow, 0x10) == 9 && count_at(flow, 0x18) == -1);
    assert_true(count_at(flow, 0x00) == 10);
    assert_true(edge(flow, 0x10, 0x40, AS_EDGE_CALL) == 8);
    end(flow);
}

/* ---- code of a file ---- */

/* Where the file has the code. */
static uint64_t offset_of_code(const char *path)
{
    struct as_cfg *cfg = as_cfg_new(NULL);
    const struct as_symtab *table = &as_cfg_get(cfg, as_cfg_module_of(cfg, path, AS_ARCH_X86_64))->symbols.symbols;
    uint64_t offset = 0;
    for (size_t i = 0; i < table->symbols.len; i++)
        if (table->symbols.data[i].raw && strcmp(table->symbols.data[i].raw, "exact_code") == 0)
            offset = table->symbols.data[i].address;
    as_cfg_free(cfg);
    return offset;
}

static int set_up_file(void **state)
{
    static char path[4096];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    assert_true(n > 0);
    path[n] = '\0';
    set_up(state);
    for (uint32_t i = 0; i < BLOCKS * MOST; i++)
        memcpy(insns[i / MOST][i % MOST].bytes, exact_code, 4);
    place = (struct as_location){.module = path, .module_name = "test_exact", .module_offset = offset_of_code(path)};
    return place.module_offset ? 0 : -1;
}

static int tear_down_file(void **state)
{
    place = (struct as_location){.module = "[code]", .module_name = "[code]"};
    return tear_down(state);
}

static void check_code(enum as_cfg_code code, uint64_t differs)
{
    struct as_flow *flow = flow_of(true);
    const struct as_cfg_module *module = as_cfg_get(flow->cfg, 0);
    assert_int_equal(as_cfg_count_modules(flow->cfg), 1);
    assert_true(module->has_code);
    assert_int_equal(module->code, code);
    if (code != AS_CFG_CODE_ONE)
        assert_int_equal(module->code_differs - place.module_offset, differs);
    end(flow);
}

static void of_its_file(void **state)
{
    check_code(AS_CFG_CODE_ONE, 0);
}

static void of_another_file(void **state)
{
    insns[5][1].bytes[3] = insns[4][0].bytes[1] = 1;
    check_code(AS_CFG_CODE_OTHER, 0x21);
}

/* Other bytes at one address: that is known without the file; the lowest such address counts. */
static void of_code_that_changed(void **state)
{
    insns[1][1].bytes[3] = insns[1][0].bytes[0] = insns[5][0].bytes[0] = 0x90;
    check_code(AS_CFG_CODE_MIXED, 0x04);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(in_parts, set_up, tear_down),
        cmocka_unit_test_setup_teardown(whole, set_up, tear_down),
        cmocka_unit_test_setup_teardown(of_its_file, set_up_file, tear_down_file),
        cmocka_unit_test_setup_teardown(of_another_file, set_up_file, tear_down_file),
        cmocka_unit_test_setup_teardown(of_code_that_changed, set_up_file, tear_down_file)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
