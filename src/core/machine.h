/* A machine: every size, width and latency of the modelled core and memory, as plain data.
 *
 * Machines are text files under machines/ (doc/format/machine.md), loaded at run time and validated: an unknown key, a
 * value out of range or an impossible combination is one clear line. The table in machine.c names every field with its
 * range, its meaning and its default, and is the only list of them.
 */
#ifndef AS_CORE_MACHINE_H
#define AS_CORE_MACHINE_H

#include "assay/insn.h"
#include "base/error.h"
#include "base/str.h"

#include <stdio.h>

/* Units of execution. Each instruction class goes to one of them (machine.c has the map). */
enum as_unit {
    AS_UNIT_INT, /* integer, branches, and everything that has no unit of its own */
    AS_UNIT_MUL,
    AS_UNIT_DIV,    /* not pipelined unless div_interval says so */
    AS_UNIT_FP,     /* add, compare, convert, moves between register files */
    AS_UNIT_FP_MUL, /* multiply and multiply-add */
    AS_UNIT_FP_DIV, /* divide and square root */
    AS_UNIT_VECTOR, /* packed integer */
    AS_UNIT_LOAD,
    AS_UNIT_STORE,
    AS_UNIT_COUNT
};

/* Issue queues. Each unit is fed by one of them. */
enum as_queue_kind { AS_QUEUE_INT, AS_QUEUE_MEM, AS_QUEUE_FP, AS_QUEUE_COUNT };

struct as_unit_machine {
    uint32_t count;    /* how many of it there are */
    uint32_t latency;  /* cycles from issue to result; loads: to the cache access, whose latency is the L1's */
    uint32_t interval; /* cycles until the same one can start again: 1 is fully pipelined */
};

struct as_cache_machine {
    uint32_t size; /* bytes; 0: the level does not exist (l2 only) */
    uint32_t ways;
    uint32_t latency; /* cycles of a hit, counted from the request at this level */
    uint32_t mshrs;   /* misses that can be outstanding */
    uint32_t banks;   /* accesses of one cycle must go to different ones; 0: no limit */
    bool next_line;   /* prefetches the line behind one that missed */
    bool adjacent;    /* … the other line of its aligned pair */
};

struct as_tlb_machine {
    uint32_t entries;
    uint32_t ways;    /* equal to entries: fully associative */
    uint32_t latency; /* extra cycles when the level before it missed and this one hits */
};

enum { AS_TAGE_TABLES_MAX = 16, AS_CORES_MAX = 1024 };

/* What private caches do about each other: nothing; M, E, S; … and F; … and O. */
/* Which committed stores leave the store queue before the line has come that another core has (core_drain.c): none, those that no load
 * has taken a value from, all. */
enum as_gather { AS_GATHER_NO, AS_GATHER_UNREAD, AS_GATHER_ALL };
enum as_protocol { AS_PROTOCOL_OFF, AS_PROTOCOL_MESI, AS_PROTOCOL_MESIF, AS_PROTOCOL_MOESI };

struct as_coherence_machine {
    uint32_t protocol;       /* enum as_protocol */
    uint32_t local, remote;  /* cycles from the shared level's request to another core's line, by socket */
    uint32_t upgrade;        /* cycles until other cores' copies of a line are gone */
    uint32_t hold;           /* cycles that a core keeps a line for which another one waits */
    bool migratory;          /* a load of a line that its owner has written gets the right to write it */
    uint32_t gather;         /* enum as_gather */
    uint32_t slice;          /* cycles that a thread keeps a core that others wait for */
    uint32_t cores, sockets; /* cores 0: one for each thread */
    char pinning[256];       /* compact (or ""), scatter, or the cores of threads 1, 2 … */
};

struct as_machine {
    char name[64];
    char description[256];
    char source[512]; /* where the numbers come from */
    char cpuid[256];  /* the processors that it stands for: "VENDOR FAMILY:MODEL-MODEL FAMILY *" */
    char path[4096];  /* the file */
    double frequency; /* Hz: turns cycles into seconds and rates into periods */

    struct {
        uint32_t fetch_width;   /* instructions a packet */
        uint32_t fetch_bytes;   /* a packet lies within an aligned block of this many bytes */
        uint32_t fetch_buffer;  /* instructions between fetch and decode */
        uint32_t fetch_targets; /* packets in flight from fetch to commit (fetch target queue) */
        uint32_t depth;         /* cycles from fetch to dispatch when nothing is in the way */
        uint32_t taken_bubble;  /* cycles without fetch behind a predicted-taken branch, unless its target came from the
                                   first-level BTB */
        uint32_t btb_miss_bubble; /* … and so many more when the BTB did not have it and decode had to compute it */
        uint32_t redirect;     /* cycles from the resolution of a mispredicted branch to the fetch of the right path */
        uint32_t flush;        /* cycles from the commit of an instruction that flushes to the next fetch */
        uint32_t max_branches; /* unresolved branches in flight; dispatch of one more waits */
    } front;

    struct {
        uint32_t tage_tables;                       /* tagged tables; 0: the bimodal table alone */
        uint32_t tage_entries[AS_TAGE_TABLES_MAX];  /* log2 entries of each, the one with the shortest history first */
        uint32_t tage_tag_bits[AS_TAGE_TABLES_MAX]; /* of each */
        uint32_t tage_shortest, tage_longest;       /* history lengths, geometric between; the indirect tables' too */
        uint32_t base_entries;                      /* log2 entries of the bimodal table */
        uint32_t btb_entries, btb_ways;
        uint32_t fast_entries, fast_ways; /* first-level BTB: no bubble where it has the target; 0: there is none */
        uint32_t ras_entries;
        uint32_t indirect_tables;   /* tagged tables of the indirect predictor; 0: the BTB's last target alone */
        uint32_t indirect_entries;  /* log2 entries of each */
        uint32_t indirect_tag_bits; /* of each */
    } predictor;

    struct {
        uint32_t width; /* decode, rename and dispatch, micro-operations a cycle */
        uint32_t commit_width;
        uint32_t rob;                                                     /* entries, one for each micro-operation */
        bool rob_rows;                                                    /* a row of `width` for a dispatch group */
        uint32_t int_registers, fp_registers;                             /* physical ones */
        uint32_t queue_size[AS_QUEUE_COUNT], queue_width[AS_QUEUE_COUNT]; /* entries; issues a cycle */
        uint32_t load_queue, store_queue;
        uint32_t store_drain;       /* committed stores a cycle from the store queue to the cache */
        uint32_t string_bytes;      /* that rep stos and rep movs move a cycle; 0: an element (model/string_run.h) */
        uint32_t forward_latency;   /* load from a store in the store queue, in place of the L1's latency */
        bool rename_memory;         /* integer loads have a store's value at once */
        bool memory_speculation;    /* loads pass stores whose address is not known yet */
        bool dependence_predictor;  /* … unless they were caught before */
        uint32_t dispatch_to_issue; /* cycles at least between them */
        bool fuse;                  /* compare-and-branch pairs are one micro-operation */
        bool flag_flush;            /* accesses of FP flags and control registers flush when they commit (BOOM) */
        bool retry_vector;          /* a second try starts with an empty signature vector */
    } back;

    struct as_unit_machine units[AS_UNIT_COUNT];
    uint32_t fma_latency, fp_convert_latency, fp_sqrt_latency, fp_sqrt_interval, atomic_latency;

    struct {
        uint32_t line; /* bytes */
        struct as_cache_machine l1i, l1d, l2, llc;
        struct as_tlb_machine itlb, dtlb, l2tlb;
        uint32_t walk_levels;    /* memory accesses of a page walk */
        uint32_t walkers;        /* walks at a time */
        uint32_t fault_cycles;   /* handling the first touch of a page; 0: pages are there from the start */
        uint32_t syscall_cycles; /* kernel time of a system call, kept apart from the program's */
        uint32_t page;           /* bytes */
    } memory;

    struct as_coherence_machine coherence;

    struct {
        uint32_t banks, row_bytes;    /* over all ranks */
        double cas_ns, rcd_ns, rp_ns; /* column access, row activation, precharge */
        double bandwidth;             /* bytes a second at most */
        double overhead_ns;           /* controller and wires, each access */
        uint32_t queue;               /* requests that wait at the controller */
    } dram;
};

/* A name ("boom-tip": found in the machines folder of the build tree or the installation) or the path of a file. */
bool as_machine_load(const char *name_or_path, struct as_machine *machine, struct as_error *err) AS_MUST_CHECK;
/* From text; `origin` is what errors call it. Used by the fuzzer too. */
bool as_machine_parse(const char *text, size_t size, const char *origin, struct as_machine *machine,
                      struct as_error *err) AS_MUST_CHECK;
/* Changes one key ("back.rob=64") or several that only fit together ("back.rob=8,back.width=2"), validated like the
 * file. On failure the machine stays as it was. */
bool as_machine_set(struct as_machine *machine, const char *assignment, struct as_error *err) AS_MUST_CHECK;
bool as_machine_validate(const struct as_machine *machine, struct as_error *err) AS_MUST_CHECK;
void as_machine_print(const struct as_machine *machine, FILE *out); /* in the file's own format: reads back the same */
/* What a key of the file means, in words; NULL: there is no such key. */
const char *as_machine_meaning(const char *key);
/* Calls `found` with the name of each machine that as_machine_load finds by name, sorted. */
void as_machine_list(void (*found)(void *context, const char *name), void *context);

/* A processor, as x86-64 ones name themselves. */
struct as_machine_processor {
    char vendor[32];
    unsigned family, model;
};
/* How well a machine's key `cpuid` ("AuthenticAMD 25:16-31 25 *") fits a processor: 4 family and model, 3 family, 2 vendor
 * ("VENDOR *"), 1 any processor ("*"), 0 not at all. */
int as_machine_fits(const char *cpuid, const struct as_machine_processor *processor);
/* The machine that fits best, and how well; "" and 0: none does. Of equal ones the first by name. */
enum { AS_MACHINE_NAME = 256 };
int as_machine_nearest(const struct as_machine_processor *processor, char name[AS_MACHINE_NAME]);

/* Adds these names, "a, b". */
void as_machine_names(struct as_str *list);
/* Calls `found` for each key with its meaning and what it allows, in the order of the file. */
void as_machine_keys(void (*found)(void *context, const char *key, const char *meaning, const char *allowed),
                     void *context);

/* The socket of a core. */
uint32_t as_machine_socket(const struct as_machine *machine, uint32_t core);
/* The core that the n-th thread (from 0) of those that run is pinned to; n itself where there is no number of cores. */
uint32_t as_machine_core(const struct as_machine *machine, uint32_t n);

enum as_unit as_machine_unit(enum as_class class_);
enum as_queue_kind as_machine_queue(enum as_unit unit);
uint32_t as_machine_latency(const struct as_machine *machine, enum as_class class_);
uint32_t as_machine_interval(const struct as_machine *machine, enum as_class class_);

#endif
