/* How long the memory model takes for an access, by where it hits. Not a test: prints nanoseconds.
 * The machine is boom-tip's memory. Each case runs at least half a second; WINDOW accesses are under way at most, as in
 * a core with a load queue. */
#include "base/random.h"
#include "core/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { WINDOW = 16 };

static struct as_machine boom(void)
{
    struct as_machine machine = {.frequency = 3.2e9};
    machine.memory.line = 64;
    machine.memory.page = 4096;
    machine.memory.l1i = (struct as_cache_machine){.size = 32 << 10, .ways = 8, .latency = 1, .mshrs = 2};
    machine.memory.l1d =
        (struct as_cache_machine){.size = 32 << 10, .ways = 8, .latency = 3, .mshrs = 8, .next_line = true};
    machine.memory.l2 = (struct as_cache_machine){.size = 512 << 10, .ways = 8, .latency = 14, .mshrs = 12};
    machine.memory.llc = (struct as_cache_machine){.size = 4 << 20, .ways = 8, .latency = 30, .mshrs = 8};
    machine.memory.itlb = machine.memory.dtlb = (struct as_tlb_machine){.entries = 32, .ways = 32};
    machine.memory.l2tlb = (struct as_tlb_machine){.entries = 512, .ways = 1, .latency = 4};
    machine.memory.walk_levels = 3;
    machine.memory.walkers = 1;
    machine.memory.fault_cycles = 1500;
    machine.dram.banks = 32;
    machine.dram.row_bytes = 8192;
    machine.dram.cas_ns = machine.dram.rcd_ns = machine.dram.rp_ns = 14;
    machine.dram.bandwidth = 25.6e9;
    machine.dram.overhead_ns = 20;
    machine.dram.queue = 8;
    return machine;
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time); /* the machine may be busy */
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Addresses are made before the clock starts: a shuffle over `bytes`, or in order. */
static void run(const char *name, uint64_t bytes, uint64_t stride, bool shuffled, enum as_memory_kind kind, bool banks)
{
    struct as_machine machine = boom();
    machine.memory.l1d.next_line = !shuffled;
    machine.memory.l1d.banks = banks ? 8 : 0;
    struct as_uncore *uncore = as_uncore_new(&machine);
    struct as_memory *memory = as_memory_new(&machine, uncore, 0);
    uint32_t n = (uint32_t)(bytes / stride), *order = malloc(n * sizeof *order);
    uint64_t seed = 1;
    for (uint32_t i = 0; i < n; i++)
        order[i] = i;
    for (uint32_t i = n; shuffled && i-- > 1;) {
        uint32_t other = (uint32_t)as_random_below(&seed, i + 1), kept = order[i];
        order[i] = order[other];
        order[other] = kept;
    }
    uint64_t cycle = 1, accesses = 0, sum = 0, done[WINDOW] = {0};
    for (uint32_t i = 0; i < n; i++)
        cycle = as_memory_access(memory, kind, cycle, order[i] * stride, 8).done + 1;
    struct as_counters before = {0}, after = {0};
    as_memory_count(memory, &before);
    double start = now(), spent;
    do {
        for (uint32_t i = 0; i < n; i++) {
            struct as_memory_answer answer = as_memory_access(memory, kind, cycle, order[i] * stride, 8);
            sum += answer.events;
            uint64_t *oldest = &done[i % WINDOW];
            cycle = *oldest > cycle ? *oldest : cycle + 1;
            *oldest = answer.done;
        }
        accesses += n;
        spent = now() - start;
    } while (spent < 0.5);
    as_memory_count(memory, &after);
    printf("%-34s %6.2f ns  (misses per access: l1d %.2f l2 %.2f llc %.2f, dtlb %.2f, %lu)\n", name,
           spent / (double)accesses * 1e9, (double)(after.l1d_misses - before.l1d_misses) / (double)accesses,
           (double)(after.l2_misses - before.l2_misses) / (double)accesses,
           (double)(after.llc_misses - before.llc_misses) / (double)accesses,
           (double)(after.dtlb_misses - before.dtlb_misses) / (double)accesses, (unsigned long)(sum & 1));
    free(order);
    as_memory_free(memory);
    as_uncore_free(uncore);
}

int main(void)
{
    run("L1 hits, in order, loads", 16 << 10, 8, false, AS_MEMORY_LOAD, false);
    run("L1 hits, shuffled, loads", 24 << 10, 64, true, AS_MEMORY_LOAD, false);
    run("L1 hits, shuffled, loads, banks", 24 << 10, 64, true, AS_MEMORY_LOAD, true);
    run("L1 hits, shuffled, stores", 24 << 10, 64, true, AS_MEMORY_STORE, false);
    run("L2 hits, shuffled, TLB reach", 112 << 10, 64, true, AS_MEMORY_LOAD, false);
    run("L2 hits, shuffled, L2 TLB", 400 << 10, 64, true, AS_MEMORY_LOAD, false);
    run("LLC hits, shuffled, page walks", 3 << 20, 64, true, AS_MEMORY_LOAD, false);
    run("DRAM, shuffled, page walks", 64 << 20, 64, true, AS_MEMORY_LOAD, false);
    run("DRAM, stream by 8 bytes, loads", 64 << 20, 8, false, AS_MEMORY_LOAD, false);
    run("DRAM, stream by 64 bytes, loads", 64 << 20, 64, false, AS_MEMORY_LOAD, false);
    run("DRAM, stream by 64 bytes, stores", 64 << 20, 64, false, AS_MEMORY_STORE, false);
    return 0;
}
