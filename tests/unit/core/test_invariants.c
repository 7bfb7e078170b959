/* What holds for the core's records whatever happens: order, widths, sizes of queues, and that every cycle is accounted
 * for. Random programs with everything in them (page faults, memory-order violations, flushes, serialising
 * instructions, fences, atomics, dividers, all levels of memory) on all machines and on some that are odd. */
#include "unit.h"

#include "observe/oracle.h"
#include "stream_gen.h"

enum { STEPS = 8000 };

static const struct stream_mix everything = {.mul = 6,
                                             .div = 2,
                                             .fp = 8,
                                             .fp_div = 2,
                                             .loads = 22,
                                             .stores = 12,
                                             .branches = 15,
                                             .nops = 3,
                                             .fences = 5,
                                             .atomics = 5,
                                             .serialising = 5,
                                             .flushing = 10,
                                             .footprint = 2 << 20,
                                             .far = 8,
                                             .alias = 60,
                                             .late = 40,
                                             .partial = 20,
                                             .wild = 25};

static const struct as_insn *insn_of(const struct core_bed *bed, size_t step)
{
    return &bed->code.data[bed->steps.data[step].insn];
}

static void check_order(const struct core_bed *bed)
{
    struct as_pipe before = {0};
    for (size_t i = 0; i < bed->steps.len; i++) {
        const struct as_pipe *pipe = &bed->pipes[i];
        assert_true(pipe->fetch + bed->machine.front.depth <= pipe->dispatch);
        assert_true(pipe->dispatch <= pipe->issue);
        assert_true(pipe->issue <= pipe->done);
        assert_true(pipe->done < pipe->commit);
        assert_true(before.fetch <= pipe->fetch);
        assert_true(before.dispatch <= pipe->dispatch);
        assert_true(before.commit <= pipe->commit);
        if (pipe->flags & AS_PIPE_SERIALISED)
            assert_true(pipe->dispatch > before.commit);
        if (before.flags & AS_PIPE_SERIALISED)
            assert_true(pipe->dispatch > before.commit);
        if (before.flags & AS_PIPE_FLUSHES)
            assert_true(pipe->fetch >= before.commit + bed->machine.front.flush);
        if (before.flags & AS_PIPE_MISPREDICTED)
            assert_true(pipe->fetch >= before.done + bed->machine.front.redirect);
        before = *pipe;
    }
}

/* Number i + n enters only when number i has left. */
static void check_sizes(const struct core_bed *bed)
{
    const struct as_machine *machine = &bed->machine;
    struct {
        uint32_t size, n;
        uint64_t leaves[4096];
    } *files = as_alloc_array(4, sizeof *files);
    files[0].size = machine->back.rob;
    files[1].size = machine->back.load_queue;
    files[2].size = machine->back.int_registers - 32;
    files[3].size = machine->back.fp_registers - 32;
    for (size_t i = 0; i < bed->steps.len; i++) {
        const struct as_insn *insn = insn_of(bed, i);
        bool writes_fp = insn->n_writes && insn->writes[0] >= AS_REG_VEC0;
        bool uses[4] = {true, insn->flags & AS_INSN_LOAD, insn->n_writes && !writes_fp, writes_fp};
        for (int file = 0; file < 4; file++) {
            if (!uses[file])
                continue;
            uint64_t *leaves = &files[file].leaves[files[file].n % files[file].size];
            if (files[file].n++ >= files[file].size)
                assert_true(bed->pipes[i].dispatch > *leaves);
            *leaves = bed->pipes[i].commit;
        }
    }
    free(files);
}

/* At most `width` have the same cycle. The cycles ascend. */
static void check_width(const struct core_bed *bed, size_t offset, uint32_t width)
{
    for (size_t i = width; i < bed->steps.len; i++) {
        uint64_t now, then;
        memcpy(&now, (const char *)&bed->pipes[i] + offset, sizeof now);
        memcpy(&then, (const char *)&bed->pipes[i - width] + offset, sizeof then);
        assert_true(now > then);
    }
}

static int by_cycle(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* A queue issues so many a cycle, and holds so many between dispatch and issue. */
static void check_queue(const struct core_bed *bed, enum as_queue_kind queue)
{
    uint64_t *issues = as_alloc_array(bed->steps.len, sizeof *issues);
    uint32_t width = bed->machine.back.queue_width[queue];
    size_t n = 0;
    for (size_t i = 0; i < bed->steps.len; i++) {
        enum as_class class_ = (enum as_class)insn_of(bed, i)->class_;
        if (class_ == AS_CLASS_NOP || class_ == AS_CLASS_FENCE || as_machine_queue(as_machine_unit(class_)) != queue)
            continue;
        uint32_t waiting = 0;
        for (size_t j = n; j-- > 0 && n - j <= bed->machine.back.rob;)
            waiting += issues[j] >= bed->pipes[i].dispatch;
        assert_true(waiting < bed->machine.back.queue_size[queue]);
        issues[n++] = bed->pipes[i].issue;
    }
    qsort(issues, n, sizeof *issues, by_cycle);
    for (size_t i = width; i < n; i++)
        assert_true(issues[i] > issues[i - width]);
    free(issues);
}

static void check_oracle(const struct core_bed *bed)
{
    uint32_t width = bed->machine.back.commit_width;
    struct as_run_info run = {.size = sizeof run, .commit_width = width, .commit_group = width};
    struct as_pipe_batch batch = {.size = sizeof batch, .n = bed->steps.len, .pipes = bed->pipes};
    struct as_error err = AS_ERROR_INIT;
    struct as_oracle *oracle = as_oracle_new(&run, &err);
    assert_non_null(oracle);
    as_oracle_observer.batch(oracle, &batch);
    as_oracle_observer.finish(oracle, NULL);
    if (!as_oracle_check(oracle, &err))
        fail_msg("%s", err.message);
    struct as_oracle_thread total = as_oracle_total(oracle);
    assert_int_equal(total.cycles, bed->pipes[bed->steps.len - 1].commit);
    assert_int_equal(total.instructions, bed->steps.len);
    as_oracle_free(oracle);
}

static void check(const struct core_bed *bed)
{
    check_order(bed);
    check_sizes(bed);
    check_width(bed, offsetof(struct as_pipe, dispatch), bed->machine.back.width);
    check_width(bed, offsetof(struct as_pipe, commit), bed->machine.back.commit_width);
    for (int queue = 0; queue < AS_QUEUE_COUNT; queue++)
        check_queue(bed, (enum as_queue_kind)queue);
    check_oracle(bed);
}

/* Returns how many memory-order violations there were. */
static uint64_t check_machine(const char *machine, const char *changes)
{
    uint64_t violations = 0, faults = 0, flushes = 0;
    for (uint64_t seed = 1; seed <= 8; seed++) {
        struct core_bed bed;
        struct stream_mix mix = everything;
        if (seed % 2)
            mix.footprint = 256; /* loads and stores meet */
        struct as_error err = AS_ERROR_INIT;
        core_bed_open_machine(&bed, machine, changes);
        assert_true(as_machine_set(&bed.machine, "memory.fault_cycles=1500", &err));
        stream_generate(&bed, &mix, seed, 400, STEPS);
        core_bed_run(&bed);
        check(&bed);
        violations += bed.counters.memory_order_violations;
        faults += bed.counters.page_faults;
        flushes += bed.counters.flushes;
        struct as_pipe *first = bed.pipes;
        bed.pipes = NULL;
        core_bed_run(&bed); /* again, to the byte */
        assert_memory_equal(first, bed.pipes, bed.steps.len * sizeof *first);
        free(first);
        core_bed_close(&bed);
    }
    assert_true(faults > 0 && flushes > faults + violations);
    return violations;
}

static void holds_on_all_machines(void **state)
{
    uint64_t violations = check_machine("boom-tip", NULL);
    violations += check_machine("boom-tea", NULL);
    violations += check_machine("golden-cove-like", "back.dependence_predictor=no");
    violations += check_machine("zen4-like", "back.dependence_predictor=no");
    assert_true(violations > 10); /* or nothing was seen of them */
}

static void holds_on_odd_machines(void **state)
{
    check_machine("boom-tip", "back.rob=12,queue.int.size=4,queue.mem.size=2,queue.fp.size=2,front.fetch_buffer=8");
    check_machine("boom-tip", "back.load_queue=5,back.store_queue=2,front.max_branches=2,front.fetch_targets=3");
    check_machine("boom-tip",
                  "back.int_registers=45,back.fp_registers=36,back.width=3,back.commit_width=2,back.rob=24");
    check_machine("boom-tip", "front.depth=1,front.redirect=0,front.flush=0,back.dispatch_to_issue=0");
    check_machine("boom-tip", "memory.l1d.mshrs=1,memory.l2.mshrs=1,memory.llc.mshrs=1,dram.queue=1,dram.banks=1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(holds_on_all_machines),
        cmocka_unit_test(holds_on_odd_machines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
