/* The table of all keys of a machine file. doc/format/machine.md describes them; a test compares the two.
 *
 * Parts that a real machine can lack (the L2, the second-level TLB, a prefetcher) have a default that means "none". All
 * other keys are required, so that every number of a machine is stated.
 */
#include "core/machine_table.h"

#include <stddef.h>

#define AT(member) offsetof(struct as_machine, member)
#define MUST(key, kind, member, min, max, meaning)                                                                     \
    {                                                                                                                  \
        key, AS_FIELD_##kind, AS_FIELD_REQUIRED, AT(member), min, max, 0, meaning, NULL                                \
    }
#define MUST2(key, kind, member, min, max, meaning)                                                                    \
    {                                                                                                                  \
        key, AS_FIELD_##kind, AS_FIELD_REQUIRED | AS_FIELD_POWER2, AT(member), min, max, 0, meaning, NULL              \
    }
#define LIST(key, kind, member, min, max, meaning)                                                                     \
    {                                                                                                                  \
        key, AS_FIELD_##kind, AS_FIELD_REQUIRED | AS_FIELD_TABLES, AT(member), min, max, 0, meaning, NULL              \
    }
#define MAY(key, kind, member, min, max, otherwise, meaning)                                                           \
    {                                                                                                                  \
        key, AS_FIELD_##kind, 0, AT(member), min, max, otherwise, meaning, NULL                                        \
    }
#define MAY2(key, kind, member, min, max, otherwise, meaning)                                                          \
    {                                                                                                                  \
        key, AS_FIELD_##kind, AS_FIELD_POWER2, AT(member), min, max, otherwise, meaning, NULL                          \
    }
#define TEXT(key, member, meaning)                                                                                     \
    {                                                                                                                  \
        key, AS_FIELD_TEXT, 0, AT(member), 0, sizeof((struct as_machine *)0)->member, 0, meaning, NULL                 \
    }

#define CHOICE(key, member, words, last, otherwise, meaning)                                                           \
    {                                                                                                                  \
        key, AS_FIELD_CHOICE, 0, AT(member), 0, last, otherwise, meaning, words                                        \
    }

#define QUEUE(name, index, what)                                                                                       \
    MUST("queue." name ".size", COUNT, back.queue_size[index], 1, 1024, "entries of the " what " issue queue"),        \
        MUST("queue." name ".width", COUNT, back.queue_width[index], 1, 16, "issues a cycle from the " what " queue")

#define UNIT(name, index, what)                                                                                        \
    MUST("unit." name ".count", COUNT, units[index].count, 1, 16, "units: " what),                                     \
        MUST("unit." name ".latency", COUNT, units[index].latency, 1, 1000, "cycles from issue to result: " what),     \
        MAY("unit." name ".interval", COUNT, units[index].interval, 1, 1000, 1,                                        \
            "cycles until the same unit can start again (1: pipelined): " what)

/* A level that must exist. The latency of an instruction fetch that hits is part of front.depth. */
#define CACHE(name, member, what)                                                                                      \
    MUST("memory." name ".size", BYTES, memory.member.size, 64, 1u << 30, "bytes of the " what),                       \
        MUST("memory." name ".ways", COUNT, memory.member.ways, 1, 64, "ways of the " what),                           \
        MUST("memory." name ".latency", COUNT, memory.member.latency, 1, 1000,                                         \
             "cycles of a hit, from the request at this level: " what),                                                \
        MUST("memory." name ".mshrs", COUNT, memory.member.mshrs, 1, 1024, "outstanding misses of the " what),         \
        MAY2("memory." name ".banks", COUNT, memory.member.banks, 0, 64, 0,                                            \
             "banks, one access a cycle each (0: no limit): " what),                                                   \
        MAY("memory." name ".next_line", YESNO, memory.member.next_line, 0, 1, 0,                                      \
            "prefetches the line behind one that missed: " what),                                                      \
        MAY("memory." name ".adjacent_line", YESNO, memory.member.adjacent, 0, 1, 0,                                   \
            "prefetches the other line of the aligned pair of one that missed: " what)

const struct as_field as_fields[] = {
    TEXT("name", name, "the machine's name; the file's own where absent"),
    TEXT("description", description, "one line for people"),
    TEXT("source", source, "where the numbers come from"),
    TEXT("cpuid", cpuid, "the processors that it stands for, by vendor, family and model"),
    MUST("frequency", HERTZ, frequency, 1e6, 1e11, "clock of the core"),

    MUST("front.fetch_width", COUNT, front.fetch_width, 1, 64, "instructions in a fetch packet"),
    MUST2("front.fetch_bytes", BYTES, front.fetch_bytes, 4, 256, "aligned block that a fetch packet lies in"),
    MUST("front.fetch_buffer", COUNT, front.fetch_buffer, 1, 1024, "instructions between fetch and decode"),
    MUST("front.fetch_targets", COUNT, front.fetch_targets, 1, 1024, "fetch packets in flight up to commit"),
    MUST("front.depth", COUNT, front.depth, 1, 100, "cycles from fetch to dispatch"),
    MUST("front.taken_bubble", COUNT, front.taken_bubble, 0, 100,
         "cycles without fetch behind a taken branch (first-level BTB: none)"),
    MUST("front.btb_miss_bubble", COUNT, front.btb_miss_bubble, 0, 100,
         "more of them where decode has to compute the target"),
    MUST("front.redirect", COUNT, front.redirect, 0, 100, "cycles from a mispredicted branch's result to the fetch"),
    MUST("front.flush", COUNT, front.flush, 0, 100, "cycles from a flushing instruction's commit to the fetch"),
    MUST("front.max_branches", COUNT, front.max_branches, 1, 1024, "unresolved branches in flight"),

    MUST("predictor.tage_tables", COUNT, predictor.tage_tables, 0, AS_TAGE_TABLES_MAX, "tagged tables of the TAGE"),
    LIST("predictor.tage_entries", LOG2, predictor.tage_entries, 4, 16, "entries of each, shortest history first"),
    LIST("predictor.tage_tag_bits", COUNT, predictor.tage_tag_bits, 4, 15, "tag bits of each"),
    MUST("predictor.tage_shortest", COUNT, predictor.tage_shortest, 1, 1000, "branches in the shortest history"),
    MUST("predictor.tage_longest", COUNT, predictor.tage_longest, 1, 1000, "branches in the longest history"),
    MUST("predictor.base_entries", LOG2, predictor.base_entries, 4, 20, "two-bit counters of the bimodal table"),
    MUST("predictor.btb_entries", COUNT, predictor.btb_entries, 1, 1u << 20, "branch targets in the BTB"),
    MUST("predictor.btb_ways", COUNT, predictor.btb_ways, 1, 64, "ways of the BTB"),
    MAY("predictor.fast_entries", COUNT, predictor.fast_entries, 0, 1u << 16, 0,
        "targets in the first-level BTB, which costs no bubble (0: there is none)"),
    MAY("predictor.fast_ways", COUNT, predictor.fast_ways, 0, 64, 0, "its ways"),
    MUST("predictor.ras_entries", COUNT, predictor.ras_entries, 1, 1024, "return addresses on the return stack"),
    MAY("predictor.indirect_tables", COUNT, predictor.indirect_tables, 0, AS_TAGE_TABLES_MAX, 0,
        "tagged tables of indirect targets (0: the BTB alone)"),
    MAY("predictor.indirect_entries", LOG2, predictor.indirect_entries, 4, 16, 9, "entries of each"),
    MAY("predictor.indirect_tag_bits", COUNT, predictor.indirect_tag_bits, 4, 16, 9, "tag bits of each"),

    MUST("back.width", COUNT, back.width, 1, 16, "micro-operations decoded, renamed and dispatched a cycle"),
    MUST("back.commit_width", COUNT, back.commit_width, 1, 12, "micro-operations committed a cycle"),
    MUST("back.rob", COUNT, back.rob, 1, 4096, "entries of the reorder buffer"),
    MAY("back.rob_rows", YESNO, back.rob_rows, 0, 1, 0,
        "dispatch groups are rows of it, a cycle commits from one of them"),
    MUST("back.int_registers", COUNT, back.int_registers, 34, 4096, "physical integer registers"),
    MUST("back.fp_registers", COUNT, back.fp_registers, 34, 4096, "physical FP and vector registers"),
    QUEUE("int", AS_QUEUE_INT, "integer"),
    QUEUE("mem", AS_QUEUE_MEM, "memory"),
    QUEUE("fp", AS_QUEUE_FP, "FP"),
    MUST("back.load_queue", COUNT, back.load_queue, 1, 2048, "loads in flight up to commit"),
    MUST("back.store_queue", COUNT, back.store_queue, 1, 2048, "stores in flight up to the cache"),
    MUST("back.store_drain", COUNT, back.store_drain, 1, 16, "committed stores a cycle to the cache"),
    MUST("back.forward_latency", COUNT, back.forward_latency, 1, 100,
         "in place of the L1's latency where a queued store has the data"),
    MAY2("back.string_bytes", COUNT, back.string_bytes, 0, 64, 0,
         "that repeated string instructions (rep stos, rep movs) move a cycle; 0: an element"),
    MAY("back.rename_memory", YESNO, back.rename_memory, 0, 1, 0,
        "loads of 4 or 8 bytes into integer registers have an integer register's value that was stored there at once"),
    MUST("back.memory_speculation", YESNO, back.memory_speculation, 0, 1, "loads pass stores of unknown address"),
    MAY("back.dependence_predictor", YESNO, back.dependence_predictor, 0, 1, 0, "… unless they were caught before"),
    MUST("back.dispatch_to_issue", COUNT, back.dispatch_to_issue, 0, 100, "cycles at least from dispatch to issue"),
    MAY("back.fuse", YESNO, back.fuse, 0, 1, 0, "compare-and-branch pairs are one micro-operation"),
    MAY("back.flag_flush", YESNO, back.flag_flush, 0, 1, 0, "accesses of FP flags and CSRs flush at commit"),
    MAY("back.retry_vector", YESNO, back.retry_vector, 0, 1, 0,
        "an instruction that is tried again has a signature vector for each try"),

    UNIT("int", AS_UNIT_INT, "integer and branches"),
    UNIT("mul", AS_UNIT_MUL, "integer multiply"),
    UNIT("div", AS_UNIT_DIV, "integer divide"),
    UNIT("fp", AS_UNIT_FP, "FP add, compare, move"),
    UNIT("fp_mul", AS_UNIT_FP_MUL, "FP multiply and multiply-add"),
    UNIT("fp_div", AS_UNIT_FP_DIV, "FP divide and square root"),
    UNIT("vector", AS_UNIT_VECTOR, "packed integer"),
    UNIT("load", AS_UNIT_LOAD, "loads, up to the cache access"),
    UNIT("store", AS_UNIT_STORE, "stores, up to the store queue"),
    MUST("unit.fp_fma.latency", COUNT, fma_latency, 1, 1000, "cycles of a multiply-add"),
    MUST("unit.fp_convert.latency", COUNT, fp_convert_latency, 1, 1000, "cycles of an FP conversion"),
    MUST("unit.fp_sqrt.latency", COUNT, fp_sqrt_latency, 1, 1000, "cycles of a square root"),
    MUST("unit.fp_sqrt.interval", COUNT, fp_sqrt_interval, 1, 1000, "cycles until the next square root can start"),
    MUST("unit.atomic.latency", COUNT, atomic_latency, 0, 1000, "cycles of an atomic operation beyond its load"),

    MUST2("memory.line", BYTES, memory.line, 16, 1024, "bytes of a cache line, at all levels"),
    CACHE("l1i", l1i, "L1 instruction cache"),
    CACHE("l1d", l1d, "L1 data cache"),
    MAY("memory.l2.size", BYTES, memory.l2.size, 0, 1u << 30, 0, "bytes of the private L2 (0: there is none)"),
    MAY("memory.l2.ways", COUNT, memory.l2.ways, 0, 64, 0, "ways of the L2"),
    MAY("memory.l2.latency", COUNT, memory.l2.latency, 0, 1000, 0,
        "cycles of a hit, from the request at this level: L2"),
    MAY("memory.l2.mshrs", COUNT, memory.l2.mshrs, 0, 1024, 0, "outstanding misses of the L2"),
    MAY2("memory.l2.banks", COUNT, memory.l2.banks, 0, 64, 0, "banks, one access a cycle each (0: no limit): L2"),
    MAY("memory.l2.next_line", YESNO, memory.l2.next_line, 0, 1, 0, "prefetches the line behind one that missed: L2"),
    MAY("memory.l2.adjacent_line", YESNO, memory.l2.adjacent, 0, 1, 0,
        "prefetches the other line of the aligned pair of one that missed: L2"),
    CACHE("llc", llc, "last-level cache, shared"),
    MUST("memory.itlb.entries", COUNT, memory.itlb.entries, 1, 1u << 16, "pages in the instruction TLB"),
    MUST("memory.itlb.ways", COUNT, memory.itlb.ways, 1, 1u << 16, "its ways (as many as entries: associative)"),
    MUST("memory.dtlb.entries", COUNT, memory.dtlb.entries, 1, 1u << 16, "pages in the data TLB"),
    MUST("memory.dtlb.ways", COUNT, memory.dtlb.ways, 1, 1u << 16, "its ways (as many as entries: associative)"),
    MAY("memory.l2tlb.entries", COUNT, memory.l2tlb.entries, 0, 1u << 16, 0, "pages in the L2 TLB (0: there is none)"),
    MAY("memory.l2tlb.ways", COUNT, memory.l2tlb.ways, 0, 1u << 16, 0, "its ways (1: direct-mapped)"),
    MAY("memory.l2tlb.latency", COUNT, memory.l2tlb.latency, 0, 1000, 0, "extra cycles where it has the page"),
    MUST("memory.walk_levels", COUNT, memory.walk_levels, 1, 6, "memory accesses of a page walk"),
    MUST("memory.walkers", COUNT, memory.walkers, 1, 64, "page walks at a time"),
    MUST("memory.fault_cycles", COUNT, memory.fault_cycles, 0, 1e6, "cycles of the first touch of a page (0: none)"),
    MUST("memory.syscall_cycles", COUNT, memory.syscall_cycles, 0, 1e7, "kernel cycles of a system call"),
    MAY2("memory.page", BYTES, memory.page, 4096, 1u << 30, 4096, "bytes of a page"),

    CHOICE("coherence.protocol", coherence.protocol, "off mesi mesif moesi", AS_PROTOCOL_MOESI, AS_PROTOCOL_MESI,
           "what private caches do about other cores' copies"),
    MAY("coherence.local", COUNT, coherence.local, 1, 10000, 60,
        "cycles until another core's line is there, from the request at the last level: same socket"),
    MAY("coherence.remote", COUNT, coherence.remote, 1, 10000, 200, "the same: other socket"),
    MAY("coherence.upgrade", COUNT, coherence.upgrade, 1, 10000, 40,
        "cycles until other cores' copies of a line are gone"),
    MAY("coherence.hold", COUNT, coherence.hold, 0, 1000, 40,
        "cycles that a core keeps a line that it has got although another core waits for it"),
    MAY("coherence.migratory", YESNO, coherence.migratory, 0, 1, 0,
        "a load of a line that its owner has written takes the line, with the right to write it"),
    CHOICE("coherence.gather", coherence.gather, "no unread all", AS_GATHER_ALL, AS_GATHER_NO,
           "stores that are put together outside of the store queue while their line is on its way from another core"),
    MAY("coherence.cores", COUNT, coherence.cores, 0, AS_CORES_MAX, 0, "cores (0: one for each thread)"),
    MAY("coherence.sockets", COUNT, coherence.sockets, 1, 2, 1, "sockets, each with a last-level cache"),
    MAY("coherence.slice", COUNT, coherence.slice, 1000, 1e9, 1000000,
        "cycles that a thread keeps a core that other threads wait for"),
    TEXT("coherence.pinning", coherence.pinning,
         "compact, scatter, or the cores of threads 1, 2 …; compact where absent"),

    MUST2("dram.banks", COUNT, dram.banks, 1, 4096, "banks over all ranks and channels"),
    MUST2("dram.row_bytes", BYTES, dram.row_bytes, 256, 1u << 20, "bytes of an open row"),
    MUST("dram.cas", NS, dram.cas_ns, 0, 1000, "column access"),
    MUST("dram.rcd", NS, dram.rcd_ns, 0, 1000, "row activation to column access"),
    MUST("dram.rp", NS, dram.rp_ns, 0, 1000, "precharge"),
    MUST("dram.bandwidth", RATE, dram.bandwidth, 1e6, 1e13, "bytes a second at most"),
    MUST("dram.overhead", NS, dram.overhead_ns, 0, 1000, "controller and wires, each access"),
    MUST("dram.queue", COUNT, dram.queue, 1, 4096, "requests that wait at the controller"),
};

const size_t as_fields_count = sizeof as_fields / sizeof *as_fields;
