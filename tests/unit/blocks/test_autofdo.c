/* Counts by source line, of functions of this test whose blocks are said to have run so often. */
#include "blocks/autofdo.h"

#include "unit.h"

#include <stdio.h>

/* Not static, so that they have symbols; offsets of lines are those from the line of the name. */
int fdo_leaf(int x);
int fdo_caller(int x);
int fdo_idle(int x);

__attribute__((noinline)) int fdo_leaf(int x)
{
    return x * 3 ^ 1; /* 2 */
}

static inline __attribute__((always_inline)) int fdo_inlined(int x)
{
    return x * 5 ^ 2; /* 2 */
}

__attribute__((noinline)) int fdo_caller(int x)
{
    x = fdo_leaf(x); /* 2 */
    x += fdo_inlined(x);
    return x;
}

__attribute__((noinline)) int fdo_idle(int x)
{
    return x + 7;
}

enum { LEAF = 7000, CALLER = 300 };
static const char *const names[] = {"fdo_leaf", "fdo_caller", "fdo_idle", "autofdo_victim", "autofdo_tail"};

static uint32_t find(const struct as_cfg_module *m, const char *name)
{
    for (uint32_t i = 0; i < m->functions.len; i++)
        if (m->functions.data[i].linkage && strcmp(m->functions.data[i].linkage, name) == 0)
            return i;
    fail_msg("%s is not there", name);
    return 0;
}

/* With what was executed, or with what samples fell on. */
static struct as_cfg *make_cfg(uint32_t *module, void (*see)(struct as_cfg *cfg, uint32_t module, uint64_t offset))
{
    char path[4096];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    assert_true(n > 0);
    path[n] = '\0';
    struct as_cfg *cfg = as_cfg_new(NULL);
    *module = as_cfg_module_of(cfg, path, AS_ARCH_X86_64);
    const struct as_symtab *table = &as_cfg_get(cfg, *module)->symbols.symbols;
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        for (size_t i = 0; i < table->symbols.len; i++)
            if (table->symbols.data[i].raw && strcmp(table->symbols.data[i].raw, names[k]) == 0)
                see(cfg, *module, table->symbols.data[i].address);
    as_cfg_build(cfg);
    return cfg;
}

static void set_counts(struct as_flow *flow, uint32_t module, const char *name, double count)
{
    const struct as_cfg_module *m = as_cfg_get(flow->cfg, module);
    const struct as_cfg_function *f = &m->functions.data[find(m, name)];
    for (uint32_t i = 0; i < f->n; i++)
        flow->counts[module][f->first + i] = count;
}

/* The call of fdo_leaf, so often. */
static void add_call(struct as_flow *flow, uint32_t module, double count)
{
    const struct as_cfg_module *m = as_cfg_get(flow->cfg, module);
    const struct as_cfg_function *from = &m->functions.data[find(m, "fdo_caller")],
                                 *to = &m->functions.data[find(m, "fdo_leaf")];
    for (uint32_t i = 0; i < from->n; i++) {
        const struct as_cfg_block *block = &m->blocks.data[from->first + i];
        if (block->last_class == AS_CLASS_CALL && block->target == to->start)
            as_flow_add(flow, &(struct as_flow_branch){.module = module,
                                                       .to_module = module,
                                                       .from = block->last,
                                                       .to = to->start,
                                                       .kind = AS_EDGE_CALL,
                                                       .count = count});
    }
}

static struct as_flow *make_flow(struct as_cfg *cfg, uint32_t module)
{
    struct as_flow *flow = as_flow_new(cfg);
    set_counts(flow, module, "fdo_leaf", LEAF);
    set_counts(flow, module, "fdo_caller", CALLER);
    add_call(flow, module, CALLER - 0.4);
    as_flow_finish(flow);
    return flow;
}

static char *text_of(const struct as_autofdo *profile)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    as_autofdo_write_text(profile, out);
    fclose(out);
    return text;
}

static void check_has(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("'%s' is not in:\n%s", part, text);
}

static void test_lines(void **state)
{
    struct as_error err = AS_ERROR_INIT;
    uint32_t module;
    struct as_cfg *cfg = make_cfg(&module, as_cfg_see);
    if (!as_autofdo_check(cfg, module, &err)) {
        as_cfg_free(cfg);
        unit_skip("this test is built without debug information");
    }
    struct as_flow *flow = make_flow(cfg, module);
    struct as_autofdo *profile = as_autofdo_new(flow, module, &err);
    assert_non_null(profile);
    assert_int_equal(as_autofdo_count_functions(profile), 2); /* one did not run */
    char *text = text_of(profile);
    assert_int_equal(strncmp(text, "fdo_leaf:", 9), 0); /* the hottest first */
    check_has(text, ":7000\n");                         /* heads: how often they were entered */
    check_has(text, ":300\n");
    check_has(text, "\n 2: 7000\n");
    check_has(text, "\n 2: 300 fdo_leaf:300\n");
    check_has(text, "\n 3: fdo_inlined:");
    check_has(text, "\n  2: 300\n"); /* its own line, below the call's */
    assert_null(strstr(text, "fdo_idle"));
    free(text);
    as_autofdo_free(profile);
    as_flow_free(flow);
    as_cfg_free(cfg);
}

/* Each block of the victim ran ten times more than the one before, from 10 on; it ends in a jump to another function. */
static struct as_autofdo *victim_profile(struct as_cfg *cfg, uint32_t module)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_flow *flow = as_flow_new(cfg);
    const struct as_cfg_module *m = as_cfg_get(cfg, module);
    const struct as_cfg_function *from = &m->functions.data[find(m, "autofdo_victim")],
                                 *to = &m->functions.data[find(m, "autofdo_tail")];
    for (uint32_t i = 0; i < from->n; i++) {
        const struct as_cfg_block *block = &m->blocks.data[from->first + i];
        flow->counts[module][from->first + i] = 10 * (i + 1);
        if (block->last_class == AS_CLASS_JUMP && block->target == to->start)
            as_flow_add(flow, &(struct as_flow_branch){.module = module,
                                                       .to_module = module,
                                                       .from = block->last,
                                                       .to = to->start,
                                                       .kind = AS_EDGE_TAKEN,
                                                       .count = 10 * (i + 1)});
        else if (block->last_class == AS_CLASS_BRANCH && block->target == block->start)
            as_flow_add(flow, &(struct as_flow_branch){.module = module,
                                                       .to_module = module,
                                                       .from = block->last,
                                                       .to = block->start,
                                                       .kind = AS_EDGE_TAKEN,
                                                       .count = 5});
    }
    as_flow_finish(flow);
    struct as_autofdo *profile = as_autofdo_new(flow, module, &err);
    as_flow_free(flow);
    return profile;
}

/* What Clang packs into a discriminator: which of the line's blocks it is, and how many copies an instruction stands for. */
static void test_discriminators(void **state)
{
    uint32_t module;
    struct as_cfg *cfg = make_cfg(&module, as_cfg_touch);
    struct as_autofdo *profile = victim_profile(cfg, module);
    assert_non_null(profile);
    assert_true(as_autofdo_has_discriminators(profile));
    char *text = text_of(profile);
    check_has(text, "autofdo_victim:");
    check_has(text, ":10\n"
                    " 1.3: 10\n"
                    " 2: 50\n" /* two copies in blocks of their own: 20 and 30 */
                    " 3.300: 40\n"
                    " 4.5: 2000\n" /* 40 copies */
                    " 5: 120\n"    /* two copies in one block */
                    " 6: 310\n"    /* four in one block, and what was not unrolled: 4 * 60 + 70 */
                    " 7: 180\n"    /* what is behind a loop is no copy of what is in it: twice the larger one */
                    " 8: 100 autofdo_tail:100\n");
    free(text);
    as_autofdo_free(profile);
    as_cfg_free(cfg);
}

/* Nothing ran, and code without any debug information. */
static void test_nothing(void **state)
{
    struct as_error err = AS_ERROR_INIT;
    uint32_t module;
    struct as_cfg *cfg = make_cfg(&module, as_cfg_see);
    struct as_flow *flow = as_flow_new(cfg);
    as_flow_finish(flow);
    assert_null(as_autofdo_new(flow, module, &err));
    assert_non_null(strstr(err.message, "nothing that ran"));
    as_flow_free(flow);
    as_cfg_free(cfg);
    cfg = as_cfg_new(NULL);
    module = as_cfg_module_of(cfg, "[code]", AS_ARCH_X86_64);
    assert_false(as_autofdo_check(cfg, module, &err));
    assert_non_null(strstr(err.message, "has no debug information"));
    as_cfg_free(cfg);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_lines), cmocka_unit_test(test_discriminators),
                                       cmocka_unit_test(test_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
