/* Memory: instruction and data caches, TLBs with their walker, the shared last level and DRAM, as times.
 *
 * An access asks "requested at cycle t, when is it there?" and gets the answer at once; calls come in program order for
 * each core, not in time order, so an access can be asked for an earlier cycle than the one before it. Structures with
 * a limited number of slots (MSHRs, walkers, DRAM banks, the bus) keep the times at which their slots are free; a line
 * that is being filled is present with the cycle at which its data arrives. doc/design/memory.md says what that
 * approximates.
 *
 * Private to a core: L1I, L1D, L2, TLBs. Shared (struct as_uncore): LLC, DRAM and the directory that keeps private
 * copies in agreement (coherence.c). One thread owns all cores.
 */
#ifndef AS_CORE_MEMORY_H
#define AS_CORE_MEMORY_H

#include "assay/pipe.h"
#include "base/counters.h"
#include "base/shared_lines.h"
#include "core/machine.h"
#include "core/transfer.h"

struct as_stay_log;
struct as_uncore;
struct as_uncore *as_uncore_new(const struct as_machine *machine);
void as_uncore_free(struct as_uncore *uncore);
/* Calls `on_transfer` for each line that goes from core to core, or whose other copies go. NULL: nobody asks. */
void as_uncore_set_transfers(struct as_uncore *uncore, as_on_transfer *on_transfer, void *context);

/* The pages of [start, end) have been touched by the process: data in them does not fault. */
void as_uncore_touch(struct as_uncore *uncore, const struct as_machine *machine, uint32_t process, uint64_t start,
                     uint64_t end);
/* Lines that DRAM was read for so far, with times and without. */
uint64_t as_uncore_reads(const struct as_uncore *uncore);
/* What one takes that meets nothing but another row in its bank, in cycles from the last-level cache on. */
uint64_t as_uncore_read_latency(const struct as_uncore *uncore);
/* Caches, TLBs and pages are as in another uncore of the same machine, as far as both have the same cores. Nothing is under
 * way in either. Not for cores that share lines. */
void as_uncore_copy(struct as_uncore *to, const struct as_uncore *from);

struct as_memory;
struct as_memory *as_memory_new(const struct as_machine *machine, struct as_uncore *uncore, uint32_t core);
void as_memory_free(struct as_memory *memory); /* before its uncore */
/* The memory of a core that several threads use, at a time or one after the other: made where there is none yet, and there
 * until its uncore is freed or it is dropped. */
struct as_memory *as_memory_take(const struct as_machine *machine, struct as_uncore *uncore, uint32_t core);
void as_memory_leave(struct as_memory *memory);
uint32_t as_memory_users(const struct as_memory *memory);
void as_uncore_drop(struct as_uncore *uncore, uint32_t core); /* nobody uses it any more: its caches are gone */
/* Addresses are those of this process (0 at first): equal addresses of different processes are different lines. Threads
 * of one process share theirs. */
void as_memory_set_process(struct as_memory *memory, uint32_t process);
/* What the process shares with others: those lines have one name for all. They live as long as the memory uses them and may change
 * between accesses. NULL, as at first: nothing. */
void as_memory_set_shared(struct as_memory *memory, const struct as_shared_ranges *shared);
/* Whose accesses they are: what transfers call this side. 0 at first. */
void as_memory_set_thread(struct as_memory *memory, uint32_t thread);

/* From now on these events do not happen to accesses of this core, as if their causes had been removed: ST_L1, ST_TLB,
 * ST_LLC, DR_L1, DR_TLB, BANK, and FL_EX (pages need no fault). A line that would have missed is there as if a prefetch
 * had brought it in time: it costs no time and no bandwidth. 0, the start: the real machine. */
void as_memory_set_ideal(struct as_memory *memory, uint32_t events);

/* From now on the core's own caches say into `log` how long their MSHRs are in use. */
void as_memory_log_stays(struct as_memory *memory, struct as_stay_log *log);

enum as_memory_kind {
    AS_MEMORY_LOAD,
    AS_MEMORY_OWN,   /* a load that is going to write: done is when the core owns the line too */
    AS_MEMORY_STORE, /* a committed store that drains, translated when it executed: done is when the cache has taken it
                        and its store queue entry is free: `cycle` unless it misses and has to wait for an MSHR */
    AS_MEMORY_PREFETCH, /* never faults, never waits (done is `cycle`), is dropped where no MSHR is free */
    AS_MEMORY_FLUSH,    /* the line leaves all caches of all cores; done is when the last level has seen it */
};

struct as_memory_answer {
    uint64_t done; /* the data is there (a hit: t + L1 latency; each further level adds its own latency) */
    uint32_t
        events;     /* ST_L1, ST_TLB, ST_LLC, L2_HIT, LLC_HIT, COHERENCE, PREFETCHED, BANK; for fetches DR_L1, DR_TLB */
    uint32_t fault; /* first touch of its page: done is when the walk found that out; ask again after handling it. (A
                        bool, as wide as events: with padding, returning it would cost as much as the access.) */
};

/* A data access; one that crosses a line is two, the later one counts. */
struct as_memory_answer as_memory_access(struct as_memory *memory, enum as_memory_kind kind, uint64_t cycle,
                                         uint64_t address, uint32_t size);
/* AS_MEMORY_STORE, by instruction `insn`, whose name transfers of the line will have. */
struct as_memory_answer as_memory_store(struct as_memory *memory, uint64_t cycle, uint64_t address, uint32_t size,
                                        uint32_t insn);
/* Behind an access with the event COHERENCE: the instruction that made it. Its transfers are told then. */
void as_memory_name_insn(struct as_memory *memory, uint32_t insn);
/* When the core could have the line of its last atomic, if it asked at `cycle` for it: where another core owns it, when it leaves that one. Until
 * then the other core may use it. */
uint64_t as_memory_turn(struct as_memory *memory, uint64_t cycle);
/* When another core last took the line of an address; UINT64_MAX: that is not known (any more). */
uint64_t as_memory_lost(const struct as_memory *memory, uint64_t address);
/* Only the translation, for a store that executes and drains later (its line is asked for then). done is the cycle in
 * which the physical address is known: `cycle` where the TLB hits. events ST_TLB; fault as above. */
struct as_memory_answer as_memory_translate(struct as_memory *memory, uint64_t cycle, uint64_t address);
/* The instruction line that holds `address`. done == cycle where it hits (the hit latency is part of front.depth);
 * otherwise done is when the line has arrived and can be fetched. Never faults. */
struct as_memory_answer as_memory_fetch(struct as_memory *memory, uint64_t cycle, uint64_t address);

/* An access that comes soon: the host fetches what it will look at in the levels below L1 and in the L2 TLB. Changes nothing. */
void as_memory_announce(const struct as_memory *memory, uint64_t address);
/* Whether that would be of use: of the data accesses since the last call, one in sixteen or more missed the L1. */
bool as_memory_misses_often(struct as_memory *memory);

/* The same accesses without times: contents of caches and TLBs change, nothing is counted. */
void as_memory_warm(struct as_memory *memory, enum as_memory_kind kind, uint64_t address, uint32_t size);
void as_memory_warm_fetch(struct as_memory *memory, uint64_t address);

/* Sets what memory counts of the table of counters (base/counters.h), the shared part included. */
void as_memory_count(const struct as_memory *memory, struct as_counters *counters);

#endif
