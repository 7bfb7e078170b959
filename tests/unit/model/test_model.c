/* Whole runs of model_victim.c in the model: what its observers see, what it says of code, call paths and groups.
 *
 * usage: test_model VICTIM MACHINE PLUGIN STRIPPED
 *
 * STRIPPED is the victim without symbols. */
#include "engine/find_qemu.h"
#include "model/groups.h"
#include "model/model_inside.h"
#include "observe/fanout.h"

#include "unit.h"

#include <inttypes.h>
#include <sched.h>

enum { CALLS = 1000 };
static char **arguments, *plugin;

/* What an observer counts. */
struct seen {
    const struct as_model *model;
    uint64_t instructions, continued, batches, last;
    AS_VEC(uint64_t) executions; /* by instruction id */
    AS_VEC(uint32_t) path_of;    /* the last one, by instruction id */
};

static void take_batch(void *self, const struct as_pipe_batch *batch)
{
    struct seen *seen = self;
    seen->batches++;
    for (size_t i = 0; i < batch->n; i++) {
        const struct as_pipe *pipe = &batch->pipes[i];
        while (seen->executions.len <= pipe->insn) {
            *as_vec_push(&seen->executions) = 0;
            *as_vec_push(&seen->path_of) = 0;
        }
        seen->instructions += !(pipe->flags & AS_PIPE_CONTINUES);
        seen->continued += (pipe->flags & AS_PIPE_CONTINUES) != 0;
        seen->last += (pipe->flags & AS_PIPE_LAST) != 0;
        seen->executions.data[pipe->insn]++;
        seen->path_of.data[pipe->insn] = pipe->path;
    }
}

/* What an observer that asks for occupancy counts. */
struct occupied {
    uint64_t records, commits, stays[AS_RESOURCE_COUNT], cycles[AS_RESOURCE_COUNT], from[AS_RESOURCE_COUNT];
};

static void take_stays(void *self, const struct as_pipe_batch *batch)
{
    struct occupied *occupied = self;
    occupied->records += batch->n;
    for (size_t i = 0; i < batch->n; i++)
        occupied->commits += batch->pipes[i].commit * (batch->pipes[i].insn + UINT64_C(1)) + batch->pipes[i].issue;
    for (size_t i = 0; i < batch->n_stays; i++) {
        occupied->stays[batch->stays[i].resource]++;
        occupied->cycles[batch->stays[i].resource] += batch->stays[i].cycles;
        occupied->from[batch->stays[i].resource] += batch->stays[i].from;
    }
}

static const struct as_observer occupying = {.version = AS_OBSERVER_VERSION,
                                             .record_size = sizeof(struct as_pipe),
                                             .name = "occupying",
                                             .wants = AS_WANT_OCCUPANCY,
                                             .batch = take_stays};

/* What an observer that asks for accesses counts, of functions that repeat string instructions. */
struct moved {
    const struct as_model *model;
    uint64_t records, accesses, loaded, stored, wrong;
    uint32_t longest;
};

static bool repeats(const struct moved *moved, uint32_t id)
{
    return as_engine_insn(as_model_engine(moved->model), id)->flags & AS_INSN_REP;
}

static void take_accesses(void *self, const struct as_pipe_batch *batch)
{
    struct moved *moved = self;
    for (size_t i = 0; i < batch->n; i++)
        moved->records += repeats(moved, batch->pipes[i].insn);
    for (size_t i = 0; i < batch->n_accesses; i++) {
        const struct as_data_access *access = &batch->accesses[i];
        moved->wrong += batch->pipes[batch->owners[i]].insn != access->insn;
        if (!repeats(moved, access->insn))
            continue;
        moved->accesses++;
        moved->longest = access->size > moved->longest ? access->size : moved->longest;
        moved->loaded += access->kind == AS_ACCESS_LOAD ? access->size : 0;
        moved->stored += access->kind == AS_ACCESS_STORE ? access->size : 0;
    }
}

static const struct as_observer moving = {.version = AS_OBSERVER_VERSION,
                                          .record_size = sizeof(struct as_pipe),
                                          .name = "moving",
                                          .wants = AS_WANT_ACCESSES,
                                          .batch = take_accesses};

static const struct as_observer counting = {
    .version = AS_OBSERVER_VERSION, .record_size = sizeof(struct as_pipe), .name = "counting", .batch = take_batch};

struct place {
    uint32_t insn, path;
};

/* What an observer sees of regions: batches are of one region each, in its own time. */
struct bordered {
    const struct as_model *model;
    uint64_t records, latest, accesses, addresses;
    uint32_t early; /* records with a time before the region's first cycle, or in the wrong order */
    uint32_t last, leaves, in_work;
    AS_VEC(struct place) places; /* of each record: names are known when the run has ended */
};

static void take_bordered(void *self, const struct as_pipe_batch *batch)
{
    struct bordered *bordered = self;
    for (size_t i = 0; i < batch->n; i++) {
        const struct as_pipe *pipe = &batch->pipes[i];
        bordered->records += !(pipe->flags & AS_PIPE_CONTINUES);
        bordered->last += (pipe->flags & AS_PIPE_LAST) != 0;
        bordered->early += pipe->fetch == 0 || pipe->fetch > pipe->dispatch || pipe->dispatch > pipe->issue ||
                           pipe->issue > pipe->done || pipe->done > pipe->commit || pipe->commit < bordered->latest;
        bordered->latest = pipe->commit;
        *as_vec_push(&bordered->places) = (struct place){.insn = pipe->insn, .path = pipe->path};
    }
    for (size_t i = 0; i < batch->n_accesses; i++)
        bordered->addresses += batch->accesses[i].address;
    bordered->accesses += batch->n_accesses;
}

static void name_places(struct bordered *bordered)
{
    const struct as_run_info *info = as_model_run_info(bordered->model);
    for (size_t i = 0; i < bordered->places.len; i++) {
        const struct place *place = &bordered->places.data[i];
        struct as_location location;
        const char *names[4];
        if (!as_model_locate(bordered->model, place->insn, &location) || !location.function ||
            strcmp(location.function, "leaf") != 0)
            continue;
        bordered->leaves++;
        bordered->in_work += info->frames(info->context, place->path, names, 4) >= 3 && strcmp(names[0], "leaf") == 0 &&
                             strcmp(names[1], "work") == 0 && strcmp(names[2], "run") == 0;
    }
    as_vec_free(&bordered->places);
}

static const struct as_observer bordering = {.version = AS_OBSERVER_VERSION,
                                             .record_size = sizeof(struct as_pipe),
                                             .name = "bordering",
                                             .wants = AS_WANT_ACCESSES,
                                             .batch = take_bordered};

/* How else the victim is run. */
static char *victim;
static struct bordered *bordered;
static uint64_t (*moves)(void *context, uint64_t address);
static size_t memo_bytes;
static struct occupied *occupied;
static struct moved *moved;
static uint32_t string_bytes;
static const struct as_regions *regions;
static uint64_t *also_executed; /* by another sink */

static void count_also(void *context, struct as_thread *thread, const struct as_block_exec *exec)
{
    *(uint64_t *)context += as_block_exec_count(exec);
}

static const struct as_sink also = {.block = count_also};

struct run {
    struct as_machine machine;
    struct as_model *model;
    struct as_model_result result;
    struct seen seen;
};

static void run_victim(struct run *run, char *argument, as_ideal_of *ideal)
{
    struct as_error err = AS_ERROR_INIT;
    char *argv[] = {victim ? victim : arguments[1], argument, NULL};
    struct as_engine_options options = AS_ENGINE_OPTIONS_DEFAULT;
    struct as_fanout_options how = AS_FANOUT_DEFAULTS;
    *run = (struct run){0};
    how.batch = AS_MODEL_BATCH;
    options.argv = argv;
    options.plugin = plugin;
    options.regions = regions;
    if (!as_machine_load(arguments[2], &run->machine, &err))
        fail_msg("%s", err.message);
    run->machine.back.string_bytes = string_bytes;
    run->model = as_model_new(&run->machine);
    run->seen.model = run->model;
    if (ideal)
        as_model_set_ideal(run->model, ideal, NULL);
    if (also_executed)
        as_model_add_also(run->model, &also, also_executed);
    struct as_fanout *fanout = as_fanout_new(&how);
    as_fanout_add(fanout, &counting, &run->seen, false);
    if (occupied)
        as_fanout_add(fanout, &occupying, occupied, false);
    if (moved) {
        *moved = (struct moved){.model = run->model};
        as_fanout_add(fanout, &moving, moved, false);
    }
    if (bordered) {
        *bordered = (struct bordered){.model = run->model};
        as_fanout_add(fanout, &bordering, bordered, false);
    }
    if (moves)
        as_model_set_moves(run->model, moves, NULL);
    as_model_set_memo(run->model, &(struct as_memo_options){.bytes = memo_bytes});
    if (!as_model_run(run->model, &options, fanout, &run->result, &err))
        fail_msg("%s", err.message);
    assert_int_equal(as_fanout_free(fanout), 0);
    if (bordered)
        name_places(bordered);
}

static void end_run(struct run *run)
{
    as_vec_free(&run->seen.executions);
    as_vec_free(&run->seen.path_of);
    as_model_free(run->model);
}

/* Without QEMU nothing can be run here. */
static void need_qemu(void)
{
    struct as_qemu qemu;
    struct as_error err = AS_ERROR_INIT;
    if (!as_qemu_find(AS_ARCH_X86_64, NULL, &qemu, &err))
        unit_skip("%s", err.message);
}

static bool is_in(const struct run *run, uint32_t id, const char *function)
{
    struct as_location location;
    return as_model_locate(run->model, id, &location) && location.function && strcmp(location.function, function) == 0;
}

/* Of the first instruction of a function. */
static uint64_t executions_of(const struct run *run, const char *function)
{
    uint64_t first = 0, lowest = UINT64_MAX;
    for (uint32_t id = 0; id < run->seen.executions.len; id++) {
        uint64_t address = as_engine_insn(as_model_engine(run->model), id)->address;
        if (is_in(run, id, function) && address < lowest) {
            lowest = address;
            first = run->seen.executions.data[id];
        }
    }
    return first;
}

static void test_counts(void **state)
{
    struct run run;
    uint64_t executed = 0;
    need_qemu();
    also_executed = &executed;
    run_victim(&run, NULL, NULL);
    also_executed = NULL;
    const struct as_model_result *result = &run.result;
    assert_int_equal(executed, result->instructions);
    assert_int_equal(result->engine.end.exit_status, 3);
    assert_true(as_run_end_complete(&result->engine.end));
    assert_int_equal(result->instructions, run.seen.instructions);
    assert_true(result->cycles > 0 && result->elapsed >= result->cycles);
    assert_int_equal(run.seen.last, 1); /* one thread ended */
    assert_int_equal(executions_of(&run, "work"), CALLS);
    assert_int_equal(executions_of(&run, "leaf"), 2 * CALLS);
    assert_int_equal(as_model_process(run.model, 1), 1);
    assert_int_equal(as_model_process(run.model, 2), 0);
    assert_int_equal(as_model_progress(run.model), result->instructions);
    end_run(&run);
}

static void test_threads(void **state)
{
    struct run run;
    need_qemu();
    run_victim(&run, "twice", NULL);
    assert_int_equal(run.seen.last, 2);
    assert_int_equal(executions_of(&run, "work"), 2 * CALLS);
    assert_int_equal(as_model_process(run.model, 2), 1);
    end_run(&run);
}

/* Two threads that have no line in common run their cores together on the other host thread, from some time on: each at its own pace, the same
 * every time. */
static void test_together(void **state)
{
    enum { ROUNDS = 30 };
    struct run runs[2];
    cpu_set_t set;
    need_qemu();
    if (sched_getaffinity(0, sizeof set, &set) != 0 || CPU_COUNT(&set) < 2)
        unit_skip("this process may use only one processor");
    memo_bytes = AS_MODEL_MEMO_BYTES;
    for (int i = 0; i < 2; i++) {
        run_victim(&runs[i], "long", NULL);
        assert_int_equal(runs[i].seen.last, 2);
        assert_int_equal(executions_of(&runs[i], "leaf"), 2 * 2 * ROUNDS * CALLS);
        assert_int_equal(runs[i].result.instructions, runs[i].seen.instructions);
        assert_true(runs[i].model->together.round > 100);
        assert_true(3 * runs[i].result.elapsed < 2 * runs[i].result.cycles); /* at the same time */
    }
    memo_bytes = 0;
    for (int i = 0; i < 2; i++)
        end_run(&runs[i]);
}

static void test_code(void **state)
{
    struct run run;
    struct as_location location;
    size_t n, targets = 0;
    need_qemu();
    run_victim(&run, NULL, NULL);
    for (uint32_t id = 0; id < run.seen.executions.len; id++)
        if (run.seen.executions.data[id] && !as_model_executed(run.model, id))
            fail_msg("instruction %u was executed, and the model does not know", id);
    assert_false(as_model_executed(run.model, UINT32_MAX));
    assert_false(as_model_locate(run.model, UINT32_MAX, &location));
    const uint64_t *leaders = as_model_leaders(run.model, &n);
    for (size_t i = 0; i < n; i++) {
        const struct as_insn *insn = as_engine_insn_at(as_model_engine(run.model), 1, leaders[i] & 0xffffffffffff);
        targets += insn && is_in(&run, insn->id, "work");
    }
    assert_true(targets > 0); /* of the call through a pointer */
    end_run(&run);
}

static void test_paths(void **state)
{
    struct run run;
    static const char *const expected[] = {"leaf", "work", "run", "main"};
    const char *names[4];
    uint32_t path = 0;
    need_qemu();
    run_victim(&run, NULL, NULL);
    const struct as_run_info *info = as_model_run_info(run.model);
    for (uint32_t id = 0; id < run.seen.path_of.len; id++)
        if (is_in(&run, id, "leaf"))
            path = run.seen.path_of.data[id];
    assert_true(info->frames(info->context, path, names, 4) >= 4);
    for (size_t i = 0; i < 4; i++)
        assert_string_equal(names[i], expected[i]);
    assert_int_equal(info->frames(info->context, 0, names, 4), 0);
    assert_int_equal(info->frames(info->context, UINT32_MAX, names, 4), 0);
    end_run(&run);
}

/* Where an indirect jump has led, a block begins: what lies before it is in another one. */
static void check_leaders(const struct run *run, const struct as_groups *groups)
{
    const struct as_engine *engine = as_model_engine(run->model);
    size_t n;
    const uint64_t *leaders = as_model_leaders(run->model, &n);
    for (uint32_t id = 0; id < run->seen.executions.len; id++) {
        const struct as_insn *insn = as_engine_insn(engine, id);
        for (size_t i = 0; i < n; i++) {
            const struct as_insn *leader = leaders[i] == as_target_key(1, insn->address + insn->length)
                                               ? as_engine_insn_at(engine, 1, as_target_address(leaders[i]))
                                               : NULL;
            if (leader && groups->block_of[leader->id] == groups->block_of[id])
                fail_msg("a jump leads into a block, to 0x%" PRIx64, leader->address);
        }
    }
}

/* All instructions of a block are in one function, and every executed instruction is in both. */
static void test_groups(void **state)
{
    struct run run;
    struct as_groups groups = {0};
    bool named = false;
    need_qemu();
    run_victim(&run, NULL, NULL);
    as_groups_make(&groups, run.model);
    uint32_t *function_of_block = calloc(groups.blocks.count, sizeof *function_of_block);
    for (uint32_t id = 0; id < run.seen.executions.len; id++) {
        uint32_t block = groups.block_of[id], function = groups.function_of[id];
        if (!run.seen.executions.data[id])
            continue;
        assert_true(block < groups.blocks.count && function < groups.functions.count);
        assert_true(function_of_block[block] == 0 || function_of_block[block] == function + 1);
        function_of_block[block] = function + 1;
        named = named || strcmp(as_groups_function(&groups, function), "leaf (model_victim)") == 0;
    }
    assert_true(named);
    check_leaders(&run, &groups);
    free(function_of_block);
    as_groups_free(&groups);
    end_run(&run);
}

static uint32_t remove_leaf(void *context, const struct as_model *model, const struct as_insn *insn)
{
    struct as_location location;
    bool in_leaf =
        as_model_locate(model, insn->id, &location) && location.function && strcmp(location.function, "leaf") == 0;
    return in_leaf ? AS_IDEAL_REMOVED : 0;
}

/* The model gives the same cycles for the same execution, and fewer where divisions are nops. */
static void test_ideal(void **state)
{
    struct run first, second, without;
    need_qemu();
    run_victim(&first, NULL, NULL);
    run_victim(&second, NULL, NULL);
    run_victim(&without, NULL, remove_leaf);
    assert_int_equal(first.result.cycles, second.result.cycles);
    assert_int_equal(first.result.instructions, second.result.instructions);
    assert_int_equal(without.result.instructions, first.result.instructions);
    assert_true(without.result.cycles + 2 * CALLS < first.result.cycles);
    end_run(&first);
    end_run(&second);
    end_run(&without);
}

/* What is remembered of the pipeline makes no difference to any time, nor to what queues held. */
static void test_memo(void **state)
{
    struct run with, without;
    struct occupied first = {0}, second = {0};
    need_qemu();
    occupied = &first;
    run_victim(&without, NULL, NULL);
    memo_bytes = AS_MODEL_MEMO_BYTES;
    occupied = &second;
    run_victim(&with, NULL, NULL);
    memo_bytes = 0;
    occupied = NULL;
    assert_int_equal(with.result.cycles, without.result.cycles);
    assert_memory_equal(&first, &second, sizeof first);
    assert_int_equal(first.records, without.result.instructions + without.seen.continued);
    assert_true(first.stays[AS_RESOURCE_ROB] >= first.records); /* one for each micro-operation */
    assert_true(first.cycles[AS_RESOURCE_QUEUE_INT] > 0 && first.cycles[AS_RESOURCE_LOAD_QUEUE] > 0);
    end_run(&with);
    end_run(&without);
}

/* What observers are told about the machine, each number another. */
static void test_run_info(void **state)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_machine machine;
    assert_true(as_machine_load(arguments[2], &machine, &err));
    machine.back.commit_width = 3, machine.back.width = 5, machine.back.rob = 71;
    machine.back.queue_size[AS_QUEUE_INT] = 21;
    machine.back.queue_size[AS_QUEUE_MEM] = 22;
    machine.back.queue_size[AS_QUEUE_FP] = 23;
    machine.back.load_queue = 31, machine.back.store_queue = 32;
    machine.memory.l1i.mshrs = 2, machine.memory.l1d.mshrs = 9, machine.memory.l2.mshrs = 11;
    for (int fuse = 0; fuse <= 1; fuse++) {
        machine.back.fuse = fuse;
        struct as_model *model = as_model_new(&machine);
        const struct as_run_info *info = as_model_run_info(model);
        const uint32_t entries[AS_RESOURCE_COUNT] = {
            [AS_RESOURCE_ROB] = 71,      [AS_RESOURCE_QUEUE_INT] = 21,  [AS_RESOURCE_QUEUE_MEM] = 22,
            [AS_RESOURCE_QUEUE_FP] = 23, [AS_RESOURCE_LOAD_QUEUE] = 31, [AS_RESOURCE_STORE_QUEUE] = 32,
            [AS_RESOURCE_MSHR_L1I] = 2,  [AS_RESOURCE_MSHR_L1D] = 9,    [AS_RESOURCE_MSHR_L2] = 11};
        assert_memory_equal(info->entries, entries, sizeof entries);
        assert_string_equal(info->machine, machine.name);
        assert_true(info->frequency == machine.frequency && info->size == sizeof *info);
        assert_true(info->commit_width == 3 && info->dispatch_width == 5 && info->rob == 71);
        assert_int_equal(info->commit_group, fuse ? 6 : 3); /* each may be a pair */
        as_model_free(model);
    }
}

/* A machine that moves several elements at a time accesses as many bytes as one that moves them one by one, in fewer
 * accesses, whether it remembers its pipeline, and however often it must forget. */
static void test_strings(void **state)
{
    static const size_t bytes[] = {0, AS_MODEL_MEMO_BYTES, 1};
    struct moved single, pieces;
    struct run run;
    need_qemu();
    moved = &single;
    run_victim(&run, "fill", NULL);
    end_run(&run);
    assert_int_equal(single.longest, 8);
    assert_true(single.stored >= 3 * 4000 + 3 * 500 * 8 && single.loaded >= 3 * 500 * 8);
    moved = &pieces;
    string_bytes = 32;
    for (size_t i = 0; i < sizeof bytes / sizeof *bytes; i += 1 + UNIT_SANITIZED) {
        memo_bytes = bytes[i];
        run_victim(&run, "fill", NULL);
        end_run(&run);
        assert_int_equal(pieces.longest, 32);
        assert_int_equal(pieces.stored, single.stored);
        assert_int_equal(pieces.loaded, single.loaded);
        assert_true(pieces.records + 3 * (4000 - 4000 / 32 - 2) <= single.records);
        assert_int_equal(single.wrong + pieces.wrong, 0);
    }
    moved = NULL;
    string_bytes = 0;
    memo_bytes = 0;
}

/* A region behind a warm-up takes the cycles that it takes in the whole run, or nearly; without one, caches are cold. */
static void test_warming(void **state)
{
    enum { SKIP = 20000, MEASURED = 5000 };
    uint64_t cycles[2], misses[2];
    need_qemu();
    for (int warm = 0; warm < 2; warm++) {
        struct as_regions list = {0};
        struct as_region *region = as_regions_add(&list);
        struct run run;
        region->start = as_regions_symbol(&list, "main");
        region->offset = SKIP;
        region->max = MEASURED;
        region->warm = warm ? SKIP : 0;
        regions = &list;
        run_victim(&run, NULL, NULL);
        regions = NULL;
        assert_int_equal(run.result.instructions, MEASURED);
        cycles[warm] = run.result.cycles;
        misses[warm] = run.result.counters.l1i_misses + run.result.counters.branch_mispredictions;
        end_run(&run);
        as_regions_free(&list);
    }
    assert_true(misses[1] < misses[0] && cycles[1] < cycles[0]);
}

/* Two regions, one behind a warm-up: each has its instructions and its cycles, times go on from one to the other as if nothing were
 * between them, and behind a warm-up calls are known as if all had been followed in detail. */
static void test_regions(void **state)
{
    static const size_t bytes[] = {0, AS_MODEL_MEMO_BYTES};
    uint64_t cycles[2];
    need_qemu();
    for (size_t i = 0; i < sizeof bytes / sizeof *bytes; i++) {
        struct as_regions list = {0};
        struct bordered seen;
        struct run run;
        for (int at = 0; at < 2; at++) {
            struct as_region *region = as_regions_add(&list);
            region->start = as_regions_symbol(&list, at ? "work" : "main");
            region->start.number = at ? 400 : 1;
            region->offset = at ? 9000 : 1000;
            region->max = at ? 5000 : 3000;
            region->warm = at ? 8000 : 500;
            region->settle = at ? 0 : 200;
        }
        regions = &list;
        bordered = &seen;
        memo_bytes = bytes[i];
        run_victim(&run, NULL, NULL);
        const struct as_counters *first = as_model_region(run.model, 0), *second = as_model_region(run.model, 1);
        assert_int_equal(first->instructions, 3000);
        assert_int_equal(second->instructions, 5000);
        assert_int_equal(first->cycles + second->cycles, run.result.cycles);
        assert_true(first->cycles > 0 && second->cycles > 0 && second->cycles < 100 * 5000);
        assert_int_equal(as_model_region(run.model, 2)->instructions, 0);
        assert_int_equal(seen.records, 8000);
        assert_int_equal(seen.latest, run.result.cycles); /* the last one's commit */
        assert_int_equal(seen.early, 0);
        assert_int_equal(seen.last, 1); /* in the last batch, although the thread goes on uncounted */
        assert_true(seen.leaves > 1000 && seen.in_work == seen.leaves);
        cycles[i] = run.result.cycles;
        end_run(&run);
        as_regions_free(&list);
    }
    assert_int_equal(cycles[0], cycles[1]); /* with a memo and without */
    regions = NULL;
    bordered = NULL;
    memo_bytes = 0;
}

enum { FURTHER = 1 << 16 };

static uint64_t move_further(void *context, uint64_t address)
{
    return address + FURTHER;
}

/* Data that lies elsewhere in the model: observers see each access there, the first time its block runs and all others. */
static void test_moves(void **state)
{
    struct bordered here, there;
    struct run run;
    need_qemu();
    memo_bytes = AS_MODEL_MEMO_BYTES;
    bordered = &here;
    run_victim(&run, NULL, NULL);
    end_run(&run);
    bordered = &there;
    moves = move_further;
    run_victim(&run, NULL, NULL);
    end_run(&run);
    assert_true(here.accesses > 6 * CALLS && here.leaves > 4 * CALLS);
    assert_int_equal(there.accesses, here.accesses);
    assert_int_equal(there.addresses, here.addresses + FURTHER * here.accesses);
    moves = NULL;
    bordered = NULL;
    memo_bytes = 0;
}

/* The offset of a function in its module; 0: there is none. */
static uint64_t offset_of(const struct run *run, const char *function)
{
    for (uint32_t id = 0; id < run->seen.executions.len; id++) {
        struct as_location location;
        uint64_t address = as_engine_insn(as_model_engine(run->model), id)->address;
        if (is_in(run, id, function) && as_model_locate(run->model, id, &location))
            return location.module_offset - (address - location.function_start);
    }
    return 0;
}

/* Functions without names have their places; what frees groups may be called again. */
static void test_nameless_groups(void **state)
{
    struct run run;
    struct as_groups groups = {0};
    char expected[64];
    size_t at = 0;
    need_qemu();
    run_victim(&run, NULL, NULL);
    snprintf(expected, sizeof expected, "model_stripped+0x%" PRIx64 " (model_stripped)", offset_of(&run, "leaf"));
    end_run(&run);
    victim = arguments[4];
    run_victim(&run, NULL, NULL);
    victim = NULL;
    as_groups_make(&groups, run.model);
    while (at < groups.functions.count && strcmp(as_groups_function(&groups, (uint32_t)at), expected) != 0)
        at++;
    if (at == groups.functions.count)
        fail_msg("no function is called %s", expected);
    as_groups_free(&groups);
    assert_true(!groups.function_names && !groups.block_of && !groups.functions.of && !groups.blocks.count);
    as_groups_free(&groups);
    end_run(&run);
}

int main(int argc, char **argv)
{
    arguments = argv;
    plugin = argc == 5 ? realpath(argv[3], NULL) : NULL; /* QEMU looks elsewhere for a name alone */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts),  cmocka_unit_test(test_threads),        cmocka_unit_test(test_together),
        cmocka_unit_test(test_code),    cmocka_unit_test(test_paths),          cmocka_unit_test(test_groups),
        cmocka_unit_test(test_ideal),   cmocka_unit_test(test_memo),           cmocka_unit_test(test_strings),
        cmocka_unit_test(test_warming), cmocka_unit_test(test_run_info),       cmocka_unit_test(test_regions),
        cmocka_unit_test(test_moves),   cmocka_unit_test(test_nameless_groups)};
    int failed = plugin ? cmocka_run_group_tests(tests, NULL, NULL) : 2;
    free(plugin);
    return failed;
}
