/* The counter against a naive one that looks at each instruction of each execution, over random executions: whole,
 * partial, going on with a rep instruction, of blocks that always access the same, that vary, and that disagree with
 * the decoder; with every access recorded and with those alone that vary; in threads that come, go and come again. */
#include "../engine/stream_bed.h"
#include "base/random.h"
#include "count/counts.h"
#include "unit.h"

enum { THREADS = 5, EXECUTIONS = 20000, MOST_WORDS = 64, MOST_BLOCKS = 64, REGIONS = 3 };

static struct bed bed;
static uint64_t seed;

static uint32_t random_below(uint32_t n)
{
    return (uint32_t)as_random_below(&seed, n);
}

/* What the naive counter found. */
struct naive {
    struct as_counts threads[THREADS + 1];
    struct as_counts regions[REGIONS + 1]; /* the last: in none */
    uint32_t region;                       /* at the moment */
    uint64_t executions[MOST_BLOCKS][16], taken[MOST_BLOCKS];
    uint64_t indirect[16]; /* targets that were called, 0x8000 + 16 i */
};

static int set_up(void **state)
{
    bed_init(&bed);
    bed_add_code(&bed);
    bed_block(&bed, 0x5000, "c4 e2 69 90 04 88, 90, c3");                    /* gather; nop; ret */
    bed_block(&bed, 0x5100, "f0 01 08, 48 01 06, 87 08, 0f 85 00 01 00 00"); /* atomics, read-modify-write, jne */
    bed_block(&bed, 0x5200, "48 8b 07, ff d0");                              /* mov; call rax */
    bed_block(&bed, 0x5300, "0f 10 00, ff 30, 0f ae 00, 48 f7 f1, ff 10");   /* movups, push, fxsave, div, call [rax] */
    bed_block(&bed, 0x5400, "48 a5, aa, f3 ab");                             /* movsq, stosb, rep stosd */
    bed.image = 2;
    bed_block(&bed, 0x6000, "2f 35 06 10, 2f 35 b6 18, 63 04 05 00"); /* lr.d; sc.d; beqz */
    bed_block(&bed, 0x6100, "2f 35 b6 00, 53 f5 a5 02, 82 80");       /* amoadd.d; fadd.d; ret */
    return 0;
}

static int tear_down(void **state)
{
    bed_free(&bed);
    return 0;
}

/* One execution in the making. */
struct made {
    struct as_block_exec exec;
    uint64_t words[MOST_WORDS];
    uint32_t loads, stores; /* accesses of the instruction at hand */
};

static void add_word(struct made *made, uint32_t index, unsigned kind, uint64_t address, uint32_t size)
{
    assert_true(made->exec.n_words < MOST_WORDS);
    made->words[made->exec.n_words++] = (uint64_t)kind << 62 | (uint64_t)index << AS_WIRE_INDEX_SHIFT |
                                        (uint64_t)__builtin_ctz(size) << AS_WIRE_SIZE_SHIFT | address;
}

/* A memory operand as QEMU performs it, in pieces of 8 bytes. */
static void add_operand(struct made *made, uint32_t index, const struct as_mem_operand *operand, unsigned kind)
{
    uint64_t address = 0x10000 + 0x100 * random_below(1000);
    uint32_t piece = operand->size > 8 ? 8 : operand->size ? operand->size : 1;
    for (uint32_t at = 0; at < operand->size && at < 64; at += piece)
        add_word(made, index, kind, address + at, piece);
}

/* What the decoder says. Atomics come in either of QEMU's two ways. */
static void access_as_expected(struct made *made, uint32_t index, const struct as_insn *insn, bool recorded)
{
    made->loads = as_insn_count_accesses(insn, AS_ACCESS_LOAD);
    made->stores = as_insn_count_accesses(insn, AS_ACCESS_STORE);
    if (!recorded && random_below(4)) /* the plugin may record more than it must */
        return;
    for (uint8_t m = 0; m < insn->n_mem; m++) {
        unsigned kind = insn->mem[m].access;
        if (kind == (AS_ACCESS_LOAD | AS_ACCESS_STORE) && (insn->class_ != AS_CLASS_ATOMIC || random_below(2))) {
            struct made before = *made;
            add_operand(made, index, &insn->mem[m], AS_ACCESS_LOAD);
            for (size_t w = before.exec.n_words, end = made->exec.n_words; w < end; w++) /* the same place */
                made->words[made->exec.n_words++] = (made->words[w] & ~AS_WIRE_ACCESS_MASK) | AS_WIRE_STORE;
        } else if (kind) {
            add_operand(made, index, &insn->mem[m], kind);
        }
    }
}

/* An instruction that varies: as often as it likes, each access its own; one kind at a time. */
static void access_at_will(struct made *made, uint32_t index, const struct as_insn *insn, uint32_t most,
                           bool at_least_once)
{
    uint32_t times = at_least_once ? 1 + random_below(most) : random_below(most + 1);
    made->loads = insn->flags & AS_INSN_LOAD ? times : 0;
    made->stores = insn->flags & AS_INSN_STORE ? times : 0;
    for (uint32_t i = 0; i < times; i++) {
        if (insn->flags & AS_INSN_LOAD)
            add_word(made, index, AS_ACCESS_LOAD, 0x20000 + 0x100 * i, 4);
        if (insn->flags & AS_INSN_STORE)
            add_word(made, index, AS_ACCESS_STORE, 0x30000 + 0x100 * i, 4);
    }
}

static void make_accesses(struct made *made, uint32_t index, bool recorded)
{
    const struct as_insn *insn = made->exec.block->insns[index];
    bool disagrees = recorded && made->exec.block->flags & AS_BLOCK_DISAGREES;
    if (insn->flags & AS_INSN_REP)
        access_at_will(made, index, insn, 1, true);
    else if (insn->flags & AS_INSN_MULTI_MEM)
        access_at_will(made, index, insn, 4, false);
    else if (insn->flags & AS_INSN_VARIES || (disagrees && insn->class_ == AS_CLASS_LOAD))
        access_at_will(made, index, insn, 1, false);
    else
        access_as_expected(made, index, insn, recorded);
}

static void count_in(struct as_counts *counts, const struct made *made, uint32_t index)
{
    const struct as_block_exec *exec = &made->exec;
    const struct as_insn *insn = exec->block->insns[index];
    bool goes_on = exec->continues && index == exec->first;
    counts->load_accesses += made->loads;
    counts->store_accesses += made->stores;
    if (goes_on)
        return;
    counts->instructions++;
    counts->classes[insn->class_]++;
    counts->loads += made->loads > 0;
    counts->stores += made->stores > 0;
    counts->branches += as_insn_is_control(insn);
    counts->conditional += insn->class_ == AS_CLASS_BRANCH;
    counts->calls += insn->class_ == AS_CLASS_CALL || insn->class_ == AS_CLASS_CALL_INDIRECT;
    counts->returns += insn->class_ == AS_CLASS_RETURN;
}

static void count_naively(struct naive *naive, uint32_t thread, const struct made *made, uint32_t index)
{
    count_in(&naive->threads[thread], made, index);
    count_in(&naive->regions[naive->region], made, index);
    naive->executions[made->exec.block->index][index] += !made->exec.continues || index != made->exec.first;
}

static void count_taken(struct naive *naive, uint32_t thread, const struct as_block *block, uint64_t times)
{
    naive->threads[thread].taken += times;
    naive->regions[naive->region].taken += times;
    naive->taken[block->index] += times;
}

/* The sum of some executions of a block that always accesses the same. */
static void execute_some(struct as_counter *counter, struct naive *naive, struct as_thread *thread,
                         const struct as_block *block)
{
    struct made made = {.exec = {.block = block, .end = block->n}};
    uint32_t runs = 1 + random_below(5),
             taken = block->outcome == AS_OUTCOME_LEAVES   ? runs
                     : block->outcome == AS_OUTCOME_EITHER ? random_below(runs + 1)
                                                           : 0,
             target = random_below(16);
    for (uint32_t run = 0; run < runs; run++)
        for (uint32_t i = 0; i < block->n; i++) {
            made.loads = as_insn_count_accesses(block->insns[i], AS_ACCESS_LOAD);
            made.stores = as_insn_count_accesses(block->insns[i], AS_ACCESS_STORE);
            count_naively(naive, thread->number, &made, i);
        }
    count_taken(naive, thread->number, block, taken);
    naive->indirect[target] |= block->last_class == AS_CLASS_CALL_INDIRECT;
    as_counter_sink.tally(counter, thread, block,
                          &(struct as_tally){.runs = runs, .taken = taken, .next = 0x8000 + 16 * target});
}

/* A random execution of a random block, told to the counter and counted naively. */
static void execute(struct as_counter *counter, struct naive *naive, struct as_thread *thread, bool recorded)
{
    const struct as_block *block = bed.code.blocks.data[random_below((uint32_t)bed.code.blocks.len)];
    if (!(block->flags & (AS_BLOCK_VARIES | AS_BLOCK_DISAGREES)) && random_below(8) == 0) {
        execute_some(counter, naive, thread, block);
        return;
    }
    struct made made = {.exec = {.block = block, .end = block->n}};
    struct as_block_exec *exec = &made.exec;
    if (random_below(8) == 0) {
        exec->first = random_below(block->n);
        exec->end = exec->first + 1 + random_below(block->n - exec->first);
    }
    exec->continues = block->insns[exec->first]->flags & AS_INSN_REP && random_below(2);
    bool to_its_end = exec->end == block->n;
    uint64_t target = random_below(16);
    exec->next = 0x8000 + 16 * target;
    exec->taken =
        to_its_end && (block->outcome == AS_OUTCOME_LEAVES || (block->outcome == AS_OUTCOME_EITHER && random_below(2)));
    count_taken(naive, thread->number, block, exec->taken);
    for (uint32_t i = exec->first; i < exec->end; i++) {
        make_accesses(&made, i, recorded);
        count_naively(naive, thread->number, &made, i);
    }
    naive->indirect[target] |= to_its_end && exec->first == 0 && block->last_class == AS_CLASS_CALL_INDIRECT;
    exec->words = made.words;
    as_counter_sink.block(counter, thread, exec);
}

static void check_counts(const struct as_counts *seen, const struct as_counts *want)
{
    const uint64_t *a = (const uint64_t *)seen, *b = (const uint64_t *)want;
    for (size_t i = 0; i < sizeof *seen / sizeof *a; i++)
        if (a[i] != b[i])
            fail_msg("count %zu is %lu instead of %lu", i, a[i], b[i]);
}

static void check_all(const struct as_counter *counter, const struct naive *naive)
{
    struct as_counts total = {0}, seen;
    assert_int_equal(as_counter_count_threads(counter), THREADS);
    for (uint32_t i = 1; i <= THREADS; i++) {
        assert_int_equal(as_counter_thread(counter, i - 1)->number, i);
        assert_int_equal(as_counter_thread(counter, i - 1)->tid, 1000 + i);
        check_counts(&as_counter_thread(counter, i - 1)->counts, &naive->threads[i]);
        as_counts_add(&total, &naive->threads[i]);
    }
    seen = as_counter_total(counter);
    check_counts(&seen, &total);
    for (size_t b = 0; b < bed.code.blocks.len; b++) {
        for (uint32_t i = 0; i < bed.code.blocks.data[b]->n; i++)
            assert_int_equal(as_counter_executions(counter, bed.code.blocks.data[b], i), naive->executions[b][i]);
        assert_int_equal(as_counter_taken(counter, bed.code.blocks.data[b]), naive->taken[b]);
    }
    for (uint32_t i = 0; i < REGIONS; i++) {
        seen = as_counter_region(counter, i);
        check_counts(&seen, &naive->regions[i]);
    }
    seen = as_counter_region(counter, REGIONS + 7);
    check_counts(&seen, &(struct as_counts){0});
}

static void check_indirect(const struct as_counter *counter, const struct naive *naive)
{
    size_t n, wanted = 0;
    const uint64_t *targets = as_counter_indirect_targets(counter, &n);
    for (size_t i = 0; i < 16; i++) {
        unsigned found = 0;
        for (size_t k = 0; k < n; k++)
            found += (targets[k] & 0xffffffffffff) == 0x8000 + 16 * i && targets[k] >> 48 == 1;
        assert_int_equal(found, naive->indirect[i]);
        wanted += naive->indirect[i];
    }
    assert_int_equal(n, wanted);
}

static void run_random(bool recorded)
{
    struct naive naive = {.region = REGIONS};
    struct as_counter *counter = as_counter_new(recorded);
    struct as_thread threads[THREADS + 1] = {0};
    bool runs[THREADS + 1] = {false};
    const uint64_t args[6] = {0};
    for (uint32_t i = 1; i <= THREADS; i++)
        threads[i] = (struct as_thread){.number = i, .process = 1, .pid = 1000, .tid = (int32_t)(1000 + i)};
    for (int i = 0; i < EXECUTIONS; i++) {
        uint32_t number = 1 + random_below(THREADS);
        struct as_thread *thread = &threads[number];
        if (!runs[number])
            as_counter_sink.thread_start(counter, thread);
        runs[number] = true;
        execute(counter, &naive, thread, recorded);
        if (random_below(10) == 0) {
            as_counter_sink.syscall(counter, thread, 1, args);
            naive.threads[number].syscalls++;
            naive.regions[naive.region].syscalls++;
        }
        if (random_below(500) == 0) { /* measuring goes on elsewhere, or rests */
            naive.region = random_below(REGIONS + 1);
            uint32_t region = naive.region < REGIONS ? naive.region : AS_REGION_NONE;
            as_counter_sink.stretch(counter, &(struct as_stretch){.region = region});
        }
        if (random_below(300) == 0) { /* it executes another program */
            as_counter_sink.thread_end(counter, thread);
            runs[number] = false;
        }
    }
    for (uint32_t i = 1; i <= THREADS; i++)
        if (runs[i])
            as_counter_sink.thread_end(counter, &threads[i]);
    check_all(counter, &naive);
    check_indirect(counter, &naive);
    as_counter_free(counter);
}

static void test_blocks_only(void **state)
{
    for (seed = 1; seed < 100; seed += 50)
        run_random(false);
}

static void test_recorded(void **state)
{
    seed = 7;
    run_random(true);
}

/* Blocks whose accesses are not what the decoder says are counted as they were seen. */
static void test_disagreeing(void **state)
{
    for (size_t i = 0; i < bed.code.blocks.len; i += 2)
        bed.code.blocks.data[i]->flags |= AS_BLOCK_DISAGREES;
    seed = 3;
    run_random(true);
}

/* Threads that still run count in their region, too. */
static void test_regions_of_running_threads(void **state)
{
    struct naive naive = {.region = 1};
    struct as_counter *counter = as_counter_new(false);
    struct as_thread thread = {.number = 1};
    seed = 5;
    as_counter_sink.thread_start(counter, &thread);
    as_counter_sink.stretch(counter, &(struct as_stretch){.region = 1});
    for (int i = 0; i < 100; i++)
        execute(counter, &naive, &thread, false);
    struct as_counts seen = as_counter_region(counter, 1);
    check_counts(&seen, &naive.regions[1]);
    seen = as_counter_region(counter, 0);
    check_counts(&seen, &(struct as_counts){0});
    as_counter_free(counter);
}

/* A run without an end: what is there is freed, and nothing of it counts. */
static void test_unfinished(void **state)
{
    struct as_counter *counter = as_counter_new(false);
    struct as_thread thread = {.number = 3};
    struct naive naive = {.region = REGIONS};
    seed = 1;
    as_counter_sink.thread_start(counter, &thread);
    for (int i = 0; i < 100; i++)
        execute(counter, &naive, &thread, false);
    assert_int_equal(as_counter_count_threads(counter), 3);
    as_counter_free(counter);
}

/* Whose counts they are. */
static void test_names_of_threads(void **state)
{
    struct as_counter *counter = as_counter_new(false);
    struct as_thread thread = {.number = 2, .process = 7, .pid = 11, .tid = 13};
    as_counter_sink.thread_start(counter, &thread);
    const struct as_thread_counts *counts = as_counter_thread(counter, 1);
    assert_true(counts->number == 2 && counts->process == 7 && counts->pid == 11 && counts->tid == 13);
    as_counter_sink.thread_end(counter, &thread);
    as_counter_free(counter);
}

/* Code that was translated and never ran. */
static void test_never_run(void **state)
{
    struct as_counter *counter = as_counter_new(false);
    for (size_t b = 0; b < bed.code.blocks.len; b++) {
        const struct as_block *block = bed.code.blocks.data[b];
        for (uint32_t i = 0; i < block->n; i++)
            assert_int_equal(as_counter_executions(counter, block, i), 0);
        assert_int_equal(as_counter_taken(counter, block), 0);
    }
    as_counter_free(counter);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_blocks_only), TEST(test_recorded),
        TEST(test_disagreeing), TEST(test_regions_of_running_threads),
        TEST(test_unfinished),  TEST(test_names_of_threads),
        TEST(test_never_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
