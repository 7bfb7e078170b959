/* Counts of basic blocks from a profile. The code is block_victim.S in this very program, which is the recorded file:
 *
 *   block             instructions   executed   goes to
 *   block_victim      2              2          loop
 *   loop              3              20         join 15, way 5
 *   way               1              5          join
 *   join              2              20         loop 18, end 2
 *   end               1 (call), 1    2          called 2, back
 *   called            1              2
 */
#include "view/annotation.h"
#include "view/block_counts.h"

#include "unit.h"
#include "view_bed.h"

#include <math.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define NONE AS_STORE_NONE

extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char block_victim[], block_victim_loop[], block_victim_way[], block_victim_join[], block_victim_end[],
    block_victim_called[];

/* Every instruction, by its place in the profile, and how often it ran. Lengths are those of the encodings. */
enum { XOR, MOV, ADD, TEST, JZ, WAY, DEC, JNZ, CALL, RET, CALLED, ELSEWHERE, INSNS };
static const struct {
    const char *start;
    unsigned offset;
    uint64_t executions;
} code[INSNS] = {
    [XOR] = {block_victim, 0, 2},        [MOV] = {block_victim, 2, 2},           [ADD] = {block_victim_loop, 0, 20},
    [TEST] = {block_victim_loop, 3, 20}, [JZ] = {block_victim_loop, 5, 20},      [WAY] = {block_victim_way, 0, 5},
    [DEC] = {block_victim_join, 0, 20},  [JNZ] = {block_victim_join, 2, 20},     [CALL] = {block_victim_end, 0, 2},
    [RET] = {block_victim_end, 5, 2},    [CALLED] = {block_victim_called, 0, 2}, [ELSEWHERE] = {NULL, 0x40, 30},
};

static char program[4096];

static uint64_t address_of(int insn)
{
    return (uint64_t)(uintptr_t)code[insn].start + code[insn].offset;
}

/* Module 0 is this program, module 1 code that is in no file, module 2 a file that is gone. */
static struct as_store_writer *begin(const char *path)
{
    struct as_store_writer *writer = bed_writer(path);
    struct stat status;
    assert_int_equal(stat(program, &status), 0);
    int64_t time = status.st_mtim.tv_sec * INT64_C(1000000000) + status.st_mtim.tv_nsec;
    as_store_add_module(writer, &(struct as_store_module){.path = program,
                                                          .base = (uint64_t)(uintptr_t)__ehdr_start,
                                                          .file_size = (uint64_t)status.st_size,
                                                          .file_time = time});
    as_store_add_module(writer, &(struct as_store_module){.path = "[jit]"});
    as_store_add_module(writer, &(struct as_store_module){.path = "/none/such", .base = 1, .file_size = 3});
    as_store_add_thread(writer, &(struct as_store_thread){1, 100, NULL, 0, 0, 0});
    for (int i = 0; i < INSNS; i++)
        as_store_add_instruction(
            writer, &(struct as_store_insn){.location = {address_of(i), i == ELSEWHERE, NONE, NONE, NONE, 0, NONE}});
    return writer;
}

static void write_executed(const char *path)
{
    struct as_store_writer *writer = begin(path);
    uint32_t series = as_store_add_series(
        writer,
        &(struct as_store_series){.name = "golden", .exact = true, .unit = "cycles", .scale = 1, .precise = -1});
    for (uint32_t i = 0; i < INSNS; i++)
        as_store_add_time(writer, &(struct as_store_time){series, 0, i, 1, 0, code[i].executions});
    bed_commit(writer);
}

/* Each sample stands for 1000 events, and the series counts quarters of them. */
static void write_sampled(const char *path, const char *event, const uint64_t samples[INSNS],
                          const struct as_store_branch *branches, size_t n_branches)
{
    struct as_store_writer *writer = begin(path);
    uint64_t all = 0;
    for (int i = 0; i < INSNS; i++)
        all += samples[i];
    uint32_t series = as_store_add_series(
        writer,
        &(struct as_store_series){
            .name = "s", .event = event, .unit = "events", .scale = 4, .precise = 2, .period = 1000, .samples = all});
    for (uint32_t i = 0; i < INSNS; i++)
        if (samples[i])
            as_store_add_time(writer, &(struct as_store_time){series, 0, i, 4000 * samples[i], samples[i], 0});
    for (size_t i = 0; i < n_branches; i++)
        as_store_add_branch(writer, &branches[i]);
    bed_commit(writer);
}

static struct as_block_counts make(struct as_view *view, const char *path,
                                   const struct as_block_counts_options *options)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_block_counts counts;
    *view = view_bed_open(path, NULL);
    if (!as_block_counts_make(&counts, view, options, &err))
        fail_msg("%s", err.message);
    return counts;
}

static void refused(const char *path, const struct as_block_counts_options *options, const char *part)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_block_counts counts;
    struct as_view view = view_bed_open(path, NULL);
    assert_false(as_block_counts_make(&counts, &view, options, &err));
    if (!strstr(err.message, part))
        fail_msg("%s", err.message);
    as_view_free(&view);
}

/* A count, and whether a block begins there. */
static void check_at(const struct as_block_counts *counts, int insn, double wanted, bool begins)
{
    bool starts = !begins;
    double count = as_block_counts_at(counts, 0, address_of(insn), &starts);
    if (!(fabs(count - wanted) <= 1e-6 * wanted) || starts != begins)
        fail_msg("instruction %d: %g, %d and not %g, %d", insn, count, starts, wanted, begins);
}

static void check_blocks(const struct as_block_counts *counts, const double wanted[6])
{
    static const int begin[] = {XOR, ADD, WAY, DEC, CALL, CALLED}, inside[] = {MOV, JZ, -1, JNZ, -1, -1};
    for (size_t i = 0; i < 6; i++) {
        check_at(counts, begin[i], wanted[i], true);
        if (inside[i] >= 0)
            check_at(counts, inside[i], wanted[i], false);
    }
}

static const double executed[] = {2, 20, 5, 20, 2, 2};

static void done(struct as_block_counts *counts, struct as_view *view)
{
    as_block_counts_free(counts);
    as_view_free(view);
}

/* ---- counted executions ---- */

static void exact_counts(void **state)
{
    struct as_view view;
    bool starts;
    struct as_block_counts counts = make(&view, "executed.db", &(struct as_block_counts_options){.method = -1});
    check_blocks(&counts, executed);
    assert_true(counts.most == 20 && !counts.samples && as_block_counts_are_executions(&counts));
    assert_true(as_flow_total(counts.flow) == 2 * 2 + 20 * 3 + 5 + 20 * 2 + 2 * 2 + 2);
    assert_int_equal(counts.refused.len, 1); /* not what has neither samples nor executions */
    assert_string_equal(counts.refused.data[0].path, "[jit]");
    assert_true(counts.refused.data[0].executions == 30 && counts.refused.data[0].samples == 0);
    assert_true(isnan(as_block_counts_at(&counts, 1, 0x40, &starts)));
    assert_true(isnan(as_block_counts_at(&counts, 3, 0x40, &starts)));
    assert_true(isnan(as_block_counts_at(&counts, 0, (uint64_t)(uintptr_t)__ehdr_start, &starts)));
    assert_true(counts.flow->edges.len == 0);
    done(&counts, &view);
}

/* The edge between two blocks that begin at these instructions. */
static double edge(const struct as_block_counts *counts, int from, int to, enum as_edge_kind kind)
{
    uint64_t base = (uint64_t)(uintptr_t)__ehdr_start;
    uint32_t a = as_cfg_find(counts->cfg, 0, address_of(from) - base),
             b = as_cfg_find(counts->cfg, 0, address_of(to) - base);
    for (size_t i = 0; i < counts->flow->edges.len; i++) {
        const struct as_flow_edge *found = &counts->flow->edges.data[i];
        if (found->from == a && found->to == b && found->kind == kind)
            return found->count;
    }
    return NAN;
}

static void edges_of_exact_counts(void **state)
{
    struct as_view view;
    struct as_block_counts counts =
        make(&view, "executed.db", &(struct as_block_counts_options){.method = -1, .edges = true});
    check_blocks(&counts, executed);
    assert_true(edge(&counts, ADD, DEC, AS_EDGE_TAKEN) == 15);
    assert_true(edge(&counts, ADD, WAY, AS_EDGE_FALL) == 5);
    assert_true(edge(&counts, DEC, ADD, AS_EDGE_TAKEN) == 18);
    assert_true(edge(&counts, DEC, CALL, AS_EDGE_FALL) == 2);
    assert_true(edge(&counts, CALL, CALLED, AS_EDGE_CALL) == 2);
    done(&counts, &view);
}

/* The instructions of an annotation get the counts of their blocks; those of no block have none. */
static void counts_of_an_annotation(void **state)
{
    static const int insns[] = {XOR, MOV, ADD, WAY, ELSEWHERE};
    static const bool starts[] = {true, false, true, true, false};
    struct as_view view;
    struct as_block_counts counts = make(&view, "executed.db", &(struct as_block_counts_options){.method = -1});
    struct as_annotation annotation = {.what = {.module = 0}};
    for (size_t i = 0; i < 5; i++)
        *as_vec_push(&annotation.insns) = (struct as_note_insn){.address = address_of(insns[i])};
    as_annotation_count_runs(&annotation, &counts);
    assert_true(annotation.has_runs && !annotation.runs_are_time && annotation.most_runs == 20);
    for (size_t i = 0; i < 4; i++) {
        assert_true(annotation.insns.data[i].runs == (double)code[insns[i]].executions);
        assert_int_equal(annotation.insns.data[i].starts, starts[i]);
    }
    assert_true(isnan(annotation.insns.data[4].runs));
    as_vec_free(&annotation.insns);
    done(&counts, &view);
    write_sampled("cycles.db", "cycles", (const uint64_t[INSNS]){[ADD] = 30}, NULL, 0);
    counts = make(&view, "cycles.db", &(struct as_block_counts_options){.method = -1});
    annotation = (struct as_annotation){.what = {.module = 0}};
    as_annotation_count_runs(&annotation, &counts);
    assert_true(annotation.runs_are_time && annotation.most_runs == 0);
    done(&counts, &view);
}

static void exact_counts_need_no_method(void **state)
{
    refused("executed.db", &(struct as_block_counts_options){.method = AS_METHOD_IP}, "leave --method out");
    refused("executed.db", &(struct as_block_counts_options){.method = -1, .balance = true}, "leave --balance out");
}

/* ---- samples ---- */

/* 1000 instructions for each sample, divided by the instructions of the block. */
static void addresses(void **state)
{
    struct as_view view;
    write_sampled("ip.db", "instructions:u",
                  (const uint64_t[INSNS]){[XOR] = 2, [ADD] = 30, [JZ] = 15, [WAY] = 5, [DEC] = 40, [ELSEWHERE] = 8},
                  NULL, 0);
    struct as_block_counts counts = make(&view, "ip.db", &(struct as_block_counts_options){.method = -1});
    assert_int_equal(counts.method, AS_METHOD_IP);
    check_at(&counts, XOR, 1000, true);
    check_at(&counts, ADD, 15000, true);
    check_at(&counts, WAY, 5000, true);
    check_at(&counts, JNZ, 20000, false);
    assert_true(counts.most == 20000 && counts.per_sample == 0 && as_block_counts_are_executions(&counts));
    assert_true(counts.refused.len == 1 && counts.refused.data[0].samples == 8);
    done(&counts, &view);
    refused("ip.db", &(struct as_block_counts_options){.method = AS_METHOD_FLOW}, "has no branches");
    refused("ip.db", &(struct as_block_counts_options){.method = AS_METHOD_LBR}, "--method=lbr needs the recording");
    refused("ip.db", &(struct as_block_counts_options){.method = AS_METHOD_FIXED},
            "--method=fixed needs the recording");
}

/* Micro-operations: as many as instructions here, but for the call. */
static void operations(void **state)
{
    struct as_view view;
    const uint64_t samples[INSNS] = {[ADD] = 30};
    write_sampled("uops.db", "uops_retired.all", samples, NULL, 0);
    struct as_block_counts counts = make(&view, "uops.db", &(struct as_block_counts_options){.method = -1});
    assert_int_equal(counts.method, AS_METHOD_UOPS);
    check_at(&counts, ADD, 10000, true);
    done(&counts, &view);
    write_sampled("cycles.db", "cycles", samples, NULL, 0);
    refused("cycles.db", &(struct as_block_counts_options){.method = AS_METHOD_UOPS},
            "--method=uops says nothing of it");
    counts = make(&view, "cycles.db", &(struct as_block_counts_options){.method = -1});
    assert_int_equal(counts.method, AS_METHOD_IP);
    assert_false(as_block_counts_are_executions(&counts));
    done(&counts, &view);
}

/* Balanced, a block that control must pass has what comes in: where samples say nothing of edges, if that is wanted. */
static void balanced_addresses(void **state)
{
    struct as_view view;
    const struct as_block_counts_options wanted[] = {{.method = -1},
                                                     {.method = -1, .edges = true},
                                                     {.method = -1, .balance = true},
                                                     {.method = -1, .balance_addresses = true}};
    write_sampled("even.db", "instructions:u", (const uint64_t[INSNS]){[ADD] = 30, [DEC] = 40}, NULL, 0);
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        struct as_block_counts counts = make(&view, "even.db", &wanted[i]);
        bool starts, balanced = i >= 2;
        double loop = as_block_counts_at(&counts, 0, address_of(ADD), &starts),
               join = as_block_counts_at(&counts, 0, address_of(DEC), &starts);
        assert_int_equal(edge(&counts, ADD, DEC, AS_EDGE_TAKEN) > 0, i > 0);
        if (balanced)
            assert_true(fabs(loop - join) < 1 && loop > 10000 && join < 20000);
        else
            assert_true(loop == 10000 && join == 20000);
        done(&counts, &view);
    }
}

/* ---- branches ---- */

/* Of 34 entries, 2 samples with 17 each: jz 15, jnz 17 of which 3 were predicted wrongly, the call 2. */
static const struct as_store_branch branches[] = {
    {0, JZ, DEC, 15, 0, 0}, {0, JNZ, ADD, 17, 3, 0}, {0, CALL, CALLED, 2, 0, 0}};

/* An event that counts no branches: each entry stands for itself. */
static void flow_of_branches(void **state)
{
    struct as_view view;
    write_sampled("flow.db", "cycles", (const uint64_t[INSNS]){[ADD] = 2}, branches, 3);
    struct as_block_counts counts = make(&view, "flow.db", &(struct as_block_counts_options){.method = -1});
    assert_int_equal(counts.method, AS_METHOD_FLOW);
    assert_true(counts.per_sample == 17 && counts.flow->together == 17 && as_block_counts_are_executions(&counts));
    assert_true(edge(&counts, ADD, DEC, AS_EDGE_TAKEN) == 15);
    assert_true(edge(&counts, DEC, ADD, AS_EDGE_TAKEN) == 17);
    assert_true(edge(&counts, CALL, CALLED, AS_EDGE_CALL) == 2);
    check_at(&counts, CALLED, 2, true);
    for (size_t i = 0; i < counts.flow->edges.len; i++)
        if (counts.flow->edges.data[i].count == 17)
            assert_true(counts.flow->edges.data[i].mispredicted == 3);
    done(&counts, &view);
}

/* One that counts taken branches: 2 samples of 1000 are shared among 34 entries. */
static void flow_of_taken_branches(void **state)
{
    struct as_view view;
    write_sampled("taken.db", "br_inst_retired.near_taken", (const uint64_t[INSNS]){[ADD] = 2}, branches, 3);
    struct as_block_counts counts = make(&view, "taken.db", &(struct as_block_counts_options){.method = -1});
    assert_true(fabs(edge(&counts, ADD, DEC, AS_EDGE_TAKEN) - 15 * 2000 / 34.0) < 1e-6);
    assert_true(as_samples_of_branches(counts.samples));
    done(&counts, &view);
    counts = make(&view, "taken.db", &(struct as_block_counts_options){.method = -1, .balance = true});
    assert_true(counts.flow->deviations != NULL || counts.flow->steady != NULL);
    done(&counts, &view);
}

/* ---- nothing to count ---- */

static void code_that_cannot_be_read(void **state)
{
    write_sampled("jit.db", "cycles", (const uint64_t[INSNS]){[ELSEWHERE] = 3}, NULL, 0);
    refused("jit.db", &(struct as_block_counts_options){.method = -1}, "[jit]: its code is in no file");
    write_sampled("none.db", "cycles", (const uint64_t[INSNS]){0}, NULL, 0);
    refused("none.db", &(struct as_block_counts_options){.method = -1}, "nothing is in code that can be read");
    struct as_store_writer *writer = begin("gone.db");
    as_store_add_instruction(writer, &(struct as_store_insn){.location = {0x10, 2, NONE, NONE, NONE, 0, NONE}});
    uint32_t series = as_store_add_series(
        writer, &(struct as_store_series){.name = "s", .unit = "events", .scale = 1, .precise = 2, .samples = 9});
    as_store_add_time(writer, &(struct as_store_time){series, 0, INSNS, 9, 9, 0});
    as_store_add_time(writer, &(struct as_store_time){series, 0, ELSEWHERE, 8, 8, 0}); /* fewer: it is not the reason */
    bed_commit(writer);
    refused("gone.db", &(struct as_block_counts_options){.method = -1}, "/none/such: it no longer exists");
}

/* The reason is that of what ran most, whichever comes first. */
static void reason_of_most_executions(void **state)
{
    static const char *const reasons[2] = {"[jit]: its code is in no file", "/none/such: it no longer exists"};
    for (uint32_t more = 0; more < 2; more++) {
        struct as_store_writer *writer = begin("most.db");
        as_store_add_instruction(writer, &(struct as_store_insn){.location = {0x10, 2, NONE, NONE, NONE, 0, NONE}});
        uint32_t series = as_store_add_series(
            writer,
            &(struct as_store_series){.name = "golden", .exact = true, .unit = "cycles", .scale = 1, .precise = -1});
        as_store_add_time(writer, &(struct as_store_time){series, 0, ELSEWHERE, 5, 0, 30});
        as_store_add_time(writer, &(struct as_store_time){series, 0, INSNS, 5, 0, 29 + 2 * more});
        bed_commit(writer);
        refused("most.db", &(struct as_block_counts_options){.method = -1}, reasons[more]);
    }
}

static int set_up(void **state)
{
    ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
    assert_true(n > 0);
    view_bed_enter();
    write_executed("executed.db");
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_counts),
        cmocka_unit_test(edges_of_exact_counts),
        cmocka_unit_test(counts_of_an_annotation),
        cmocka_unit_test(exact_counts_need_no_method),
        cmocka_unit_test(addresses),
        cmocka_unit_test(operations),
        cmocka_unit_test(balanced_addresses),
        cmocka_unit_test(flow_of_branches),
        cmocka_unit_test(flow_of_taken_branches),
        cmocka_unit_test(code_that_cannot_be_read),
        cmocka_unit_test(reason_of_most_executions),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
