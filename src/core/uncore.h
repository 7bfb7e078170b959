/* What all cores share (struct as_uncore) and what each has for itself (struct as_memory). Private to memory.c, which
 * makes accesses, and coherence.c, which keeps the private caches of several cores in agreement.
 */
#ifndef AS_CORE_UNCORE_H
#define AS_CORE_UNCORE_H

#include "base/vec.h"
#include "core/directory.h"
#include "core/memory.h"
#include "core/tlb.h"

enum { AS_SOCKETS = 2 };

struct as_uncore {
    struct as_coherence_machine coherence;
    struct as_cache llc[AS_SOCKETS]; /* one for each socket */
    struct as_dram dram;
    struct as_map touched;    /* data pages of all processes that have been touched */
    struct as_memory **cores; /* by number; NULL: there is none */
    size_t n_cores, n_live;   /* entries; those that are not NULL */
    bool coherent;            /* several cores have caches: the directory is kept from then on */
    struct as_directory directory;
    as_on_transfer *on_transfer; /* NULL: nobody asks */
    void *context;
};

/* What an access that leaves the L1 wants: the caches below ask for lines alone. */
struct as_wish {
    bool writes, quiet; /* quiet: code and page tables, which nobody writes */
    bool dirty;         /* the line came, or comes, with data that memory does not have */
    uint32_t offset, size;
    uint64_t bytes; /* bit i: byte i of the line, or that part of it (as_memory.grain) */
};

/* A line that another core has been promised, and that this one may use until then. */
struct as_leaving {
    uint64_t line; /* + 1; 0: none */
    uint64_t since, until;
};

enum { AS_LEAVING = 8 };

struct as_memory {
    struct as_port port; /* of its caches to what is shared; the first member */
    uint32_t line_shift, page_shift;
    uint32_t core, socket, users;
    uint32_t thread, process;
    uint32_t grain;                        /* log2 of the bytes that a bit of as_wish.bytes stands for */
    uint64_t line_mask;                    /* bytes of a line - 1 */
    uint64_t line_tag, page_tag;           /* of the process */
    const struct as_shared_ranges *shared; /* … and what others may share of its memory */
    struct as_uncore *uncore;
    struct as_cache *llc; /* its socket's */
    struct as_tlb dtlb, itlb;
    struct as_walker walker;
    bool has_l2;
    uint32_t flush_latency;
    uint32_t ideal; /* enum as_event */
    struct as_cache l1d, l1i, l2;
    uint64_t code_page, code_ready; /* the page, + 1, of the last code, and since when it is there; 0: not known */
    uint64_t warmed;                /* the line, + 1, that the last access warmed, where that was all it did; 0: none */
    bool warmed_dirty;              /* … and it was a store */
    uint64_t seen_accesses, seen_misses; /* of l1d, at the last call of as_memory_misses_often */
    struct as_wish wish;
    bool moved;                            /* the access at hand made a transfer */
    uint64_t taken;                        /* … or took this line, + 1, which no other core has now; 0: none */
    struct as_leaving leaving[AS_LEAVING]; /* the newest ones; by number modulo their number */
    uint32_t n_leaving;
    uint64_t locked;                      /* the line, + 1, that an atomic has loaded just before it left; 0: none */
    uint64_t ordered;                     /* the last atomic has its line: what is behind it comes no earlier */
    uint64_t fought;                      /* that line, + 1; 0: there was none */
    uint32_t snooped;                     /* … or found this in others' caches: SNOOP_CLEAN, SNOOP_MISS, or 0 */
    AS_VEC(struct as_transfer) transfers; /* that wait for the name of their instruction */
    uint64_t upgrades, fetched;           /* lines that others' copies had to go of; that came from another core */
};

enum { AS_ADDRESS_BITS = 48 };

/* Memory that processes share is nobody's own. */
static inline uint64_t as_memory_tag(const struct as_memory *memory, uint64_t address)
{
    return as_shared_is(address) ? 0 : memory->line_tag;
}

/* ---- memory.c ---- */

/* The line of an address that lies among those that may be shared. */
uint64_t as_memory_shared_line(const struct as_memory *memory, uint64_t address);

/* ---- coherence.c ---- */

/* A core joins those that have caches, or leaves them. */
void as_coherence_join(struct as_uncore *uncore, struct as_memory *memory);
void as_coherence_leave(struct as_uncore *uncore, struct as_memory *memory);
/* The core has the line in its L1, and writes it: when it may, at `cycle` at the earliest. */
uint64_t as_coherence_own(struct as_memory *memory, uint64_t cycle, uint64_t line);
/* The same, and a read, without time. */
void as_coherence_warm(struct as_memory *memory, uint64_t line, bool writes);
/* Whether the core may use a line at `cycle` that its caches do not have any more, because it leaves only then. */
bool as_coherence_stays(const struct as_memory *memory, uint64_t cycle, uint64_t line);
/* Takes the line out of all private caches; returns whether one of them was dirty. */
bool as_coherence_drop_all(struct as_uncore *uncore, uint64_t line);

static inline uint32_t as_memory_slot(struct as_memory *memory, uint64_t line)
{
    return as_tags_find(&memory->l1d.tags, line);
}

#endif
