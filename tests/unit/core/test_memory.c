/* The memory of a core as a whole: what each level costs, what a chase over each size costs, stores, flushes,
 * crossings, bandwidth, several cores; and under random load, what must hold whatever happens. Figures are
 * memory_bed.h's. */
#include "unit.h"

#include "memory_bed.h"

#include "core/memory_hit.h"

enum { BASE = 0x101000, L1_STRIDE = 1024, L2_STRIDE = 4096 };

/* ---- levels ---- */

/* Takes the line of BASE out of L1, or out of L1 and L2, by loading lines of the same set. */
static uint64_t push_out(struct bed *bed, uint64_t cycle, uint64_t stride, uint64_t lines)
{
    for (uint64_t i = 1; i <= lines; i++)
        cycle = bed_load(bed, cycle, BASE + i * stride);
    return cycle + 1000;
}

static void costs_what_each_level_costs(void **state)
{
    struct bed bed = bed_open(bed_machine());
    uint64_t t = bed_warm_page(&bed, BASE); /* whose walk opened bank 0; BASE's row lies in bank 5 */
    struct as_memory_answer answer = bed_ask(&bed, AS_MEMORY_LOAD, t, BASE);
    assert_int_equal(answer.done, t + BED_TO_DRAM + BED_ROW_CLOSED);
    assert_int_equal(answer.events, AS_EVENT_ST_L1 | AS_EVENT_ST_LLC);
    answer = bed_ask(&bed, AS_MEMORY_LOAD, t + 1000, BASE);
    assert_int_equal(answer.done, t + 1000 + BED_L1);
    assert_int_equal(answer.events, 0);

    t = push_out(&bed, t + 2000, L1_STRIDE, 4);
    answer = bed_ask(&bed, AS_MEMORY_LOAD, t, BASE);
    assert_int_equal(answer.done, t + BED_L1 + BED_L2);
    assert_int_equal(answer.events, AS_EVENT_ST_L1 | AS_EVENT_L2_HIT);

    t = push_out(&bed, t + 1000, L2_STRIDE, 10);
    answer = bed_ask(&bed, AS_MEMORY_LOAD, t, BASE);
    assert_int_equal(answer.done, t + BED_L1 + BED_L2 + BED_LLC);
    assert_int_equal(answer.events, AS_EVENT_ST_L1 | AS_EVENT_LLC_HIT);
    bed_close(&bed);
}

static void does_without_l2(void **state)
{
    struct as_machine machine = bed_machine();
    machine.memory.l2 = (struct as_cache_machine){0};
    struct bed bed = bed_open(machine);
    uint64_t t = bed_warm_page(&bed, BASE);
    assert_int_equal(bed_load(&bed, t, BASE), t + BED_L1 + BED_LLC + BED_ROW_CLOSED);
    t = push_out(&bed, t + 1000, L1_STRIDE, 4);
    struct as_memory_answer answer = bed_ask(&bed, AS_MEMORY_LOAD, t, BASE);
    assert_int_equal(answer.done, t + BED_L1 + BED_LLC);
    assert_int_equal(answer.events, AS_EVENT_ST_L1 | AS_EVENT_LLC_HIT);
    assert_int_equal(bed_count(&bed).l2_accesses, 0);
    bed_close(&bed);
}

/* A fetch that hits costs nothing beyond the pipeline's own stages; one that misses waits for its line. */
static void fetches_code(void **state)
{
    struct as_machine machine = bed_machine();
    machine.memory.l1i.latency = 3;
    struct bed bed = bed_open(machine);
    as_memory_fetch(bed.memory, 1, BASE + BED_LINE);
    uint64_t t = 10000, latency = bed.machine.memory.l1i.latency;
    struct as_memory_answer answer = as_memory_fetch(bed.memory, t, BASE);
    assert_int_equal(answer.done, t + latency + BED_L2 + BED_LLC + BED_ROW_HIT);
    assert_int_equal(answer.events, AS_EVENT_DR_L1);
    assert_int_equal(as_memory_fetch(bed.memory, t + 5, BASE).done, answer.done);
    assert_int_equal(as_memory_fetch(bed.memory, answer.done - 1, BASE).done, answer.done);
    answer = as_memory_fetch(bed.memory, answer.done, BASE);
    assert_int_equal(answer.events, 0);
    for (uint64_t i = 1; i <= 4; i++)
        t = as_memory_fetch(bed.memory, t + 1000, BASE + i * L1_STRIDE).done;
    answer = as_memory_fetch(bed.memory, t, BASE);
    assert_int_equal(answer.done, t + latency + BED_L2);
    assert_int_equal(answer.events, AS_EVENT_DR_L1 | AS_EVENT_L2_HIT);
    bed_close(&bed);
}

/* ---- chases ---- */

/* Cycles of a load in a chain of dependent ones that visits every line of `bytes` in a random order, over and over. */
static double chase(uint64_t bytes)
{
    struct bed bed = bed_open(bed_machine());
    uint32_t n = (uint32_t)(bytes / BED_LINE), *order = malloc(n * sizeof *order);
    uint64_t seed = 17, cycle = 1, start = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t other = (uint32_t)(bed_random(&seed) % (i + 1));
        order[i] = order[other];
        order[other] = i;
    }
    for (int pass = 0; pass < 4; pass++) {
        start = cycle;
        for (uint32_t i = 0; i < n; i++)
            cycle = bed_load(&bed, cycle, BASE + order[i] * (uint64_t)BED_LINE);
    }
    free(order);
    bed_close(&bed);
    return (double)(cycle - start) / n;
}

/* Each set is visited in the same order every time, so what is larger than a level (by a whole way or more in every
 * set) never hits there: the plateaus are exact. From memory, some rows are open. */
static void chases_at_the_speed_of_the_level(void **state)
{
    assert_float_equal(chase(2 << 10), BED_L1, 1e-9);
    assert_float_equal(chase(4 << 10), BED_L1, 1e-9);
    assert_float_equal(chase(8 << 10), BED_L1 + BED_L2, 1e-9);
    assert_float_equal(chase(24 << 10), BED_L1 + BED_L2, 1e-9);
    assert_float_equal(chase(64 << 10), BED_L1 + BED_L2 + BED_LLC, 1e-9);
    assert_float_equal(chase(192 << 10), BED_L1 + BED_L2 + BED_LLC, 1e-9);
    double memory = chase(1 << 20);
    assert_true(memory > BED_TO_DRAM + BED_ROW_CONFLICT - 3 && memory <= BED_TO_DRAM + BED_ROW_CONFLICT);
}

/* ---- bandwidth ---- */

/* Loads of one line each, `window` under way: the bus is the limit once there are enough of them. */
static double stream(uint32_t window, bool stores)
{
    enum { LINES = 20000 };
    struct as_machine machine = bed_machine();
    machine.memory.l1d.mshrs = machine.memory.l2.mshrs = machine.memory.llc.mshrs = 64;
    struct bed bed = bed_open(machine);
    uint64_t done[64] = {0}, cycle = 1, first = 0;
    for (uint64_t at = 0; at < LINES * BED_LINE; at += BED_PAGE) /* all of them fit into the TLB */
        cycle = as_memory_translate(bed.memory, cycle, BASE + at).done;
    for (uint64_t i = 0; i < LINES; i++) {
        uint64_t *oldest = &done[i % window];
        cycle = *oldest > cycle ? *oldest : cycle + 1;
        first = i == LINES / 2 ? cycle : first;
        *oldest = bed_load(&bed, cycle, BASE + i * BED_LINE);
        if (stores)
            bed_ask(&bed, AS_MEMORY_STORE, *oldest, BASE + i * BED_LINE);
    }
    bed_close(&bed);
    return (double)(cycle - first) / (LINES / 2);
}

static void streams_at_the_speed_of_the_bus(void **state)
{
    double line = stream(48, false);
    assert_float_equal(line, BED_BURST, 0.02 * BED_BURST);
    /* one at a time: the whole latency, mostly of open rows */
    double alone = stream(1, false);
    assert_float_equal(alone, BED_TO_DRAM + BED_ROW_HIT, 3);
    assert_float_equal(stream(2, false), alone / 2, 2);
    /* every line comes and goes */
    assert_float_equal(stream(48, true), 2 * BED_BURST, 0.02 * 2 * BED_BURST);
}

/* ---- stores, flushes ---- */

static void takes_stores_while_there_are_mshrs(void **state)
{
    struct bed bed = bed_open(bed_machine());
    uint64_t t = bed_warm_page(&bed, BASE), first = bed_load(&bed, t, BASE) + 1000;
    assert_int_equal(bed_ask(&bed, AS_MEMORY_STORE, first, BASE).done, first);
    t = first + 1000;
    for (uint64_t i = 1; i <= 4; i++) { /* from open rows; the bus sends one after the other */
        struct as_memory_answer answer = bed_ask(&bed, AS_MEMORY_STORE, t, BASE + i * BED_LINE);
        assert_int_equal(answer.done, t);
        assert_int_equal(answer.events, AS_EVENT_ST_L1 | AS_EVENT_ST_LLC);
    }
    /* all four MSHRs are taken: until the first line is there, less the time that finding out takes */
    uint64_t arrival = t + BED_TO_DRAM + BED_ROW_HIT;
    assert_int_equal(bed_ask(&bed, AS_MEMORY_STORE, t + 1, BASE + 5 * BED_LINE).done, arrival - BED_L1);
    assert_int_equal(bed_ask(&bed, AS_MEMORY_STORE, t + 1, BASE + 6 * BED_LINE).done, arrival + BED_BURST - BED_L1);
    /* a line on its way has an MSHR already; a line that is there needs none */
    assert_int_equal(bed_ask(&bed, AS_MEMORY_STORE, t + 2, BASE + BED_LINE + 8).done, t + 2);
    assert_int_equal(bed_ask(&bed, AS_MEMORY_STORE, t + 2, BASE).done, t + 2);
    bed_close(&bed);
}

static void flushes_a_line_everywhere(void **state)
{
    struct as_machine machine = bed_machine();
    struct bed bed = bed_open(machine);
    struct as_memory *other = as_memory_new(&machine, bed.uncore, 1);
    uint64_t t = bed_warm_page(&bed, BASE);
    bed_load(&bed, t, BASE);
    as_memory_access(other, AS_MEMORY_LOAD, t, BASE, 8);
    struct as_memory_answer flush = bed_ask(&bed, AS_MEMORY_FLUSH, t + 1000, BASE);
    assert_int_equal(flush.done, t + 1000 + BED_TO_DRAM);
    assert_int_equal(bed_count(&bed).dram_writes, 0); /* clean */
    assert_true(as_memory_access(other, AS_MEMORY_LOAD, t + 2000, BASE, 8).events & AS_EVENT_ST_LLC);
    assert_true(bed_ask(&bed, AS_MEMORY_LOAD, t + 3000, BASE).events & AS_EVENT_LLC_HIT);
    as_memory_fetch(bed.memory, t + 3500, BASE);
    bed_ask(&bed, AS_MEMORY_STORE, t + 4000, BASE);
    bed_ask(&bed, AS_MEMORY_FLUSH, t + 5000, BASE + 63);
    assert_true(as_memory_fetch(bed.memory, t + 5500, BASE).events & AS_EVENT_DR_L1);
    assert_int_equal(bed_count(&bed).dram_writes, 1);
    bed_ask(&bed, AS_MEMORY_FLUSH, t + 6000, BASE);
    assert_int_equal(bed_count(&bed).dram_writes, 1);
    as_memory_free(other);
    bed_close(&bed);
}

/* ---- crossings, processes ---- */

static void accesses_every_line_that_it_touches(void **state)
{
    struct bed bed = bed_open(bed_machine());
    uint64_t t = bed_warm_page(&bed, BASE);
    bed_load(&bed, t, BASE);
    struct as_counters before = bed_count(&bed);
    struct as_memory_answer answer = as_memory_access(bed.memory, AS_MEMORY_LOAD, t + 1000, BASE + 60, 4);
    assert_int_equal(answer.done, t + 1000 + BED_L1); /* ends with the line */
    answer = as_memory_access(bed.memory, AS_MEMORY_LOAD, t + 1000, BASE + 60, 8);
    assert_int_equal(answer.done, t + 1000 + BED_TO_DRAM + BED_ROW_HIT);
    assert_int_equal(answer.events, AS_EVENT_ST_L1 | AS_EVENT_ST_LLC);
    answer = as_memory_access(bed.memory, AS_MEMORY_LOAD, t + 2000, BASE + 32, 512); /* lines 0 to 8 */
    struct as_counters after = bed_count(&bed);
    assert_int_equal(after.l1d_accesses - before.l1d_accesses, 1 + 2 + 9);
    assert_int_equal(after.l1d_misses - before.l1d_misses, 1 + 7);
    /* the end of the address space and sizes beyond reason do no harm */
    as_memory_access(bed.memory, AS_MEMORY_LOAD, t + 3000, UINT64_MAX - 3, 8);
    as_memory_access(bed.memory, AS_MEMORY_STORE, t + 4000, UINT64_MAX, UINT32_MAX);
    as_memory_access(bed.memory, AS_MEMORY_LOAD, t + 5000, BASE, 0);
    bed_close(&bed);
}

static void keeps_processes_apart(void **state)
{
    struct as_machine machine = bed_machine();
    struct bed bed = bed_open(machine);
    struct as_memory *thread = as_memory_new(&machine, bed.uncore, 1), *other = as_memory_new(&machine, bed.uncore, 2);
    as_memory_set_process(other, 4095);
    bed_load(&bed, 1, BASE);
    assert_true(as_memory_access(thread, AS_MEMORY_LOAD, 10000, BASE, 8).events & AS_EVENT_LLC_HIT);
    assert_true(as_memory_access(other, AS_MEMORY_LOAD, 20000, BASE, 8).events & AS_EVENT_ST_LLC);
    as_memory_free(thread);
    as_memory_free(other);
    bed_close(&bed);
}

/* Two processes see one line at different addresses. */
static void keeps_shared_lines_together(void **state)
{
    struct as_machine machine = bed_machine();
    machine.coherence = (struct as_coherence_machine){
        .protocol = AS_PROTOCOL_MESI, .local = 35, .remote = 90, .upgrade = 25, .sockets = 1};
    struct bed bed = bed_open(machine);
    struct as_memory *other = as_memory_new(&machine, bed.uncore, 1);
    const uint64_t elsewhere = BASE + 16 * BED_PAGE;
    const struct as_shared_range here = {BASE, BASE + BED_PAGE, AS_SHARED_BIT},
                                 there = {elsewhere, elsewhere + BED_PAGE, AS_SHARED_BIT};
    const struct as_shared_ranges ours = {.low = BASE, .span = BED_PAGE, .list = &here, .n = 1},
                                  theirs = {.low = elsewhere, .span = BED_PAGE, .list = &there, .n = 1};
    as_memory_set_process(bed.memory, 1);
    as_memory_set_process(other, 2);
    as_memory_set_shared(bed.memory, &ours);
    as_memory_set_shared(other, &theirs);
    bed_load(&bed, 1, BASE);
    as_memory_warm(bed.memory, AS_MEMORY_STORE, BASE, 8);
    as_memory_warm(other, AS_MEMORY_LOAD, elsewhere + BED_PAGE, 8); /* their pages exist */
    as_memory_warm(other, AS_MEMORY_LOAD, elsewhere + 1024, 8);
    assert_true(as_memory_access(other, AS_MEMORY_LOAD, 10000, elsewhere, 8).events & AS_EVENT_COHERENCE);
    assert_false(as_memory_access(other, AS_MEMORY_LOAD, 20000, elsewhere + BED_PAGE, 8).events & AS_EVENT_COHERENCE);
    as_memory_free(other);
    bed_close(&bed);
}

/* ---- program order and time order ---- */

/* Loads as a core makes them: a window of WINDOW, some of which need the result of an earlier one. */
enum { LOADS = 20000, WINDOW = 64 };

static struct load {
    uint64_t address, done, commit;
    uint32_t gap;
    int needs; /* number of an earlier load, or -1 */
    bool asked;
} loads[LOADS];

static void make_loads(uint64_t cold_pages, uint64_t cold_percent, uint64_t needy_percent)
{
    uint64_t seed = 42;
    for (int i = 0; i < LOADS; i++) {
        bool cold = bed_random(&seed) % 100 < cold_percent, needy = bed_random(&seed) % 100 < needy_percent;
        int back = (int)(1 + bed_random(&seed) % 24);
        loads[i] = (struct load){
            .address = BASE + bed_random(&seed) % (cold ? cold_pages * BED_PAGE : 2048) / 8 * 8,
            .gap = (uint32_t)(bed_random(&seed) % 4),
            .needs = needy && i >= back ? i - back : -1,
        };
    }
}

static uint64_t ready_at(int i)
{
    uint64_t cycle = 1000 + (uint64_t)i / 2;
    if (i >= WINDOW && loads[i - WINDOW].commit > cycle)
        cycle = loads[i - WINDOW].commit;
    if (loads[i].needs >= 0 && loads[loads[i].needs].done > cycle)
        cycle = loads[loads[i].needs].done;
    return cycle + loads[i].gap;
}

/* The next one in the order of time, among those whose needs are known. */
static int earliest(int oldest)
{
    int best = oldest;
    for (int i = oldest; i < oldest + WINDOW && i < LOADS; i++) {
        bool known = !loads[i].asked && (loads[i].needs < 0 || loads[loads[i].needs].asked);
        if (known && (loads[best].asked || ready_at(i) < ready_at(best)))
            best = i;
    }
    return best;
}

/* Cycles for all loads. */
static uint64_t run_loads(bool in_time_order)
{
    struct as_machine machine = bed_machine();
    machine.memory.l1d.mshrs = machine.memory.llc.mshrs = machine.dram.queue = 8;
    machine.memory.l2.mshrs = 12;
    struct bed bed = bed_open(machine);
    for (int i = 0; i < LOADS; i++)
        loads[i].asked = false;
    for (int oldest = 0; oldest < LOADS;) {
        struct load *load = &loads[in_time_order ? earliest(oldest) : oldest];
        load->done = bed_load(&bed, ready_at((int)(load - loads)), load->address);
        load->asked = true;
        for (; oldest < LOADS && loads[oldest].asked; oldest++) {
            uint64_t before = oldest ? loads[oldest - 1].commit : 0;
            loads[oldest].commit = loads[oldest].done > before ? loads[oldest].done : before;
        }
    }
    bed_close(&bed);
    return loads[LOADS - 1].commit;
}

static void check_order(uint64_t cold_pages, uint64_t cold_percent, uint64_t needy_percent, double bound)
{
    make_loads(cold_pages, cold_percent, needy_percent);
    double program = (double)run_loads(false), time = (double)run_loads(true);
    double difference = program / time - 1;
    print_message("%3lu pages, %3lu %% cold, %2lu %% needy: %.0f cycles in program order, %+.2f %% of time order\n",
                  (unsigned long)cold_pages, (unsigned long)cold_percent, (unsigned long)needy_percent, program,
                  100 * difference);
    assert_true(difference > -bound && difference < bound);
}

/* The core asks in program order, the model answers nearly as if it had asked in the order of time. It does worst where
 * every load misses and waits for an MSHR: waiting ones then go on in program order, not first come, first served. */
static void answers_nearly_as_in_time_order(void **state)
{
    for (uint64_t needy = 5; needy <= 80; needy += 25) {
        check_order(12, 10, needy, 0.04);
        check_order(60, 10, needy, 0.04);
        check_order(400, 10, needy, 0.04);
        check_order(12, 100, needy, 0.06);
        check_order(60, 100, needy, 0.06);
        check_order(400, 100, needy, 0.06);
    }
}

/* ---- whatever happens ---- */

static struct as_machine random_machine(uint64_t *seed)
{
    struct as_machine machine = bed_machine();
    struct as_cache_machine *levels[] = {&machine.memory.l1i, &machine.memory.l1d, &machine.memory.l2,
                                         &machine.memory.llc};
    for (int i = 0; i < 4; i++) {
        levels[i]->mshrs = (uint32_t)(1 + bed_random(seed) % 12);
        levels[i]->next_line = bed_random(seed) % 2;
        levels[i]->adjacent = bed_random(seed) % 2;
        levels[i]->banks = (uint32_t)(bed_random(seed) % 3 * 2);
    }
    if (bed_random(seed) % 3 == 0)
        machine.memory.l2 = (struct as_cache_machine){0};
    machine.memory.itlb = machine.memory.dtlb = (struct as_tlb_machine){.entries = 8, .ways = 8};
    if (bed_random(seed) % 3)
        machine.memory.l2tlb = (struct as_tlb_machine){.entries = 32, .ways = 4, .latency = 6};
    machine.memory.walk_levels = (uint32_t)(1 + bed_random(seed) % 5);
    machine.memory.walkers = (uint32_t)(1 + bed_random(seed) % 2);
    machine.memory.fault_cycles = bed_random(seed) % 2 ? 500 : 0;
    machine.dram.queue = (uint32_t)(1 + bed_random(seed) % 16);
    return machine;
}

static void check_counters(const struct bed *bed, const struct as_memory *memory, bool has_l2)
{
    struct as_counters c = {0};
    as_memory_count(memory, &c);
    assert_true(c.l1d_misses + c.l1d_merges <= c.l1d_accesses);
    assert_true(c.l1i_misses + c.l1i_merges <= c.l1i_accesses);
    assert_true(c.l2_misses + c.l2_merges <= c.l2_accesses);
    assert_true(c.llc_misses + c.llc_merges <= c.llc_accesses);
    uint64_t from_l1 = c.l1i_misses + c.l1d_misses + c.l1i_prefetches + c.l1d_prefetches + c.walk_accesses;
    assert_int_equal(has_l2 ? c.l2_accesses : c.llc_accesses, from_l1);
    if (has_l2)
        assert_int_equal(c.llc_accesses, c.l2_misses + c.l2_prefetches);
    assert_int_equal(c.dram_reads, c.llc_misses + c.llc_prefetches);
    assert_true(c.dram_row_hits <= c.dram_reads);
    assert_int_equal(c.prefetches, c.l1i_prefetches + c.l1d_prefetches + c.l2_prefetches + c.llc_prefetches);
    uint32_t levels = bed->machine.memory.walk_levels;
    assert_int_equal(c.walk_accesses, c.page_walks * levels);
    if (bed->machine.memory.l2tlb.entries)
        assert_int_equal(c.page_walks, c.l2tlb_misses);
    assert_true(c.page_walks <= c.itlb_misses + c.dtlb_misses);
    assert_true(c.page_faults <= c.page_walks && (bed->machine.memory.fault_cycles || c.page_faults == 0));
}

/* Random accesses, a little out of the order of time. Returns a sum over all answers. */
static uint64_t run_randomly(uint64_t seed, int steps)
{
    struct bed bed = bed_open(random_machine(&seed));
    uint64_t base = 1000, sum = 0, latest[3] = {0};
    for (int i = 0; i < steps; i++) {
        base += bed_random(&seed) % 30;
        uint64_t cycle = base - bed_random(&seed) % 300;
        uint64_t pages = i % 2000 < 1000 ? 4 : 200, address = BASE + bed_random(&seed) % (pages * BED_PAGE);
        struct as_memory_answer answer;
        uint64_t what = bed_random(&seed) % 16;
        if (what < 3) {
            answer = as_memory_fetch(bed.memory, cycle, address);
            assert_false(answer.fault);
        } else {
            enum as_memory_kind kind = what < 10   ? AS_MEMORY_LOAD
                                       : what < 14 ? AS_MEMORY_STORE
                                       : what < 15 ? AS_MEMORY_PREFETCH
                                                   : AS_MEMORY_FLUSH;
            answer = as_memory_access(bed.memory, kind, cycle, address, (uint32_t)(1 << bed_random(&seed) % 6));
            if (kind == AS_MEMORY_LOAD && !answer.fault)
                assert_true(answer.done >= cycle + BED_L1);
        }
        assert_true(answer.done >= cycle);
        latest[i % 3] = answer.done;
        sum = sum * 31 + answer.done * 4 + answer.events + answer.fault;
        if (i % 64 == 0) /* as a core would, wait now and then: memory is slower than this */
            base = latest[2] > base ? latest[2] : base;
    }
    check_counters(&bed, bed.memory, bed.machine.memory.l2.size != 0);
    bed_close(&bed);
    return sum;
}

static void holds_its_books_under_any_load(void **state)
{
    for (uint64_t seed = 1; seed <= 30; seed++)
        run_randomly(seed, 5000);
}

static void answers_the_same_every_time(void **state)
{
    for (uint64_t seed = 1; seed <= 5; seed++)
        assert_int_equal(run_randomly(seed, 20000), run_randomly(seed, 20000));
}

/* A load or a store as the core makes it, which looks for the usual case itself. */
static struct as_memory_answer ask_quickly(struct bed *bed, bool store, uint64_t cycle, uint64_t address, uint32_t size)
{
    if (store && as_memory_hits_store(bed->memory, cycle, address, size, AS_TRANSFER_NO_INSN))
        return (struct as_memory_answer){.done = cycle};
    if (store)
        return as_memory_store_slowly(bed->memory, cycle, address, size, AS_TRANSFER_NO_INSN);
    if (as_memory_hits_load(bed->memory, cycle, address, size))
        return (struct as_memory_answer){.done = cycle + BED_L1};
    return as_memory_load_slowly(bed->memory, cycle, address, size);
}

static void compare_ways(struct as_machine machine, uint64_t seed, uint32_t pages)
{
    struct bed quick = bed_open(machine), plain = bed_open(machine);
    uint64_t cycle = 1;
    for (uint32_t i = 0; i < 3000; i++) {
        bool store = bed_random(&seed) % 4 == 0;
        uint64_t address = BASE + bed_random(&seed) % pages * BED_PAGE + bed_random(&seed) % 1024;
        uint32_t size = 1u << bed_random(&seed) % 6;
        struct as_memory_answer first = ask_quickly(&quick, store, cycle, address, size);
        struct as_memory_answer second = store
                                             ? as_memory_store(plain.memory, cycle, address, size, AS_TRANSFER_NO_INSN)
                                             : as_memory_access(plain.memory, AS_MEMORY_LOAD, cycle, address, size);
        assert_int_equal(first.done, second.done);
        assert_int_equal(first.events, second.events);
        assert_int_equal(first.fault, second.fault);
        cycle += bed_random(&seed) % 8 + (first.fault ? 500 : 0) + (bed_random(&seed) % 32 == 0 ? 200 : 0);
    }
    struct as_counters counters[2] = {bed_count(&quick), bed_count(&plain)};
    assert_memory_equal(&counters[0], &counters[1], sizeof counters[0]);
    assert_true(counters[0].l1d_misses > 100 && counters[0].l1d_accesses > 3000); /* some are in two lines */
    bed_close(&quick);
    bed_close(&plain);
}

/* The ways by which a core comes to its memory answer alike: in one line and in two, on new pages and old ones, with banks. */
static void answers_the_same_by_all_ways(void **state)
{
    struct as_machine machine = bed_machine();
    compare_ways(machine, 1, 4);
    machine.memory.l1d.banks = 4;
    compare_ways(machine, 2, 4);
    machine.memory.l1d.banks = 0;
    machine.memory.dtlb = (struct as_tlb_machine){.entries = 4, .ways = 4};
    compare_ways(machine, 3, 32);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(costs_what_each_level_costs),
        cmocka_unit_test(does_without_l2),
        cmocka_unit_test(fetches_code),
        cmocka_unit_test(chases_at_the_speed_of_the_level),
        cmocka_unit_test(streams_at_the_speed_of_the_bus),
        cmocka_unit_test(takes_stores_while_there_are_mshrs),
        cmocka_unit_test(flushes_a_line_everywhere),
        cmocka_unit_test(accesses_every_line_that_it_touches),
        cmocka_unit_test(keeps_processes_apart),
        cmocka_unit_test(keeps_shared_lines_together),
        cmocka_unit_test(answers_nearly_as_in_time_order),
        cmocka_unit_test(holds_its_books_under_any_load),
        cmocka_unit_test(answers_the_same_every_time),
        cmocka_unit_test(answers_the_same_by_all_ways),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
