/* Declarations shared by the files of this folder. See import.h. */
#ifndef AS_IMPORT_INTERNAL_H
#define AS_IMPORT_INTERNAL_H

#include "base/map.h"
#include "base/vec.h"
#include "import/import_add.h"
#include "import/import_code.h"
#include "import/import_facts.h"
#include "native/stack_walk.h"
#include "perfdata/perf_order.h"
#include "perfdata/spe_packets.h"

/* ---- the samples: import_samples.c ---- */

struct as_import_sum {
    uint32_t first, second; /* the pair that the sum belongs to; see below */
    uint64_t units, samples, weight;
};

/* Sums by a pair of numbers. */
struct as_import_sums {
    struct as_map index; /* first << 32 | second, to item + 1 */
    AS_VEC(struct as_import_sum) items;
};
struct as_import_sum *as_import_sum_of(struct as_import_sums *sums, uint32_t first, uint32_t second);
static inline uint32_t as_import_sum_number(const struct as_import_sums *sums, const struct as_import_sum *sum)
{
    return (uint32_t)(sum - sums->items.data);
}

/* A thread as long as it has one name: exec and prctl change it. */
struct as_import_thread {
    uint32_t pid, tid;
    uint32_t before; /* the same thread with an earlier name; NONE: it had none */
    char *name;
    uint64_t samples;
};

struct as_import_path {
    struct as_store_path path;
    uint32_t module; /* if there is no function; else NONE */
};

/* What the samples of an event have besides the address. */
struct as_import_series {
    uint64_t samples, units;
    double squares;  /* of their periods */
    uint64_t timed;  /* samples with a time */
    bool components; /* its samples have events */
    struct as_import_tagging tagging;
    uint32_t measures[AS_IMPORT_KINDS]; /* number + 1; 0: none */
    const struct as_import_own *own;    /* NULL: an event of the reader */
};

/* A number that samples of an event have besides their period, mostly a latency: a series of its own. */
struct as_import_measure {
    uint32_t event;
    enum as_import_kind kind;
    uint64_t samples;
};

/* ---- data accesses: import_data.c ---- */

/* Samples of one instruction that accesses one address and meets the same events. */
struct as_import_access {
    uint32_t event, thread, instruction, object;
    uint64_t address;
    uint32_t size;
    uint8_t kind, how; /* as in the store */
    uint64_t events;   /* of the samples */
    uint64_t units, weight, samples;
};

struct as_import_data {
    struct as_strings *object_keys; /* objects by number */
    size_t regions;                 /* number of objects without a name of their own */
    struct as_map numbers;          /* hash of the object, to item + 1 */
    AS_VEC(struct as_import_access) accesses;
    uint64_t how[AS_STORE_HOW_COUNT]; /* samples */
    uint64_t without;                 /* samples without an address, of events that record it */
    uint8_t kind;                     /* of the current sample, if its fields do not tell; 0: not known */
    uint32_t size;                    /* likewise */
};

enum { AS_IMPORT_KERNEL_FRAMES = 256 };

/* Reasons why call chains lack their outermost frames: import_stacks.c. */
enum as_import_cut { AS_CUT_KERNEL, AS_CUT_FRAMES, AS_CUT_COPY, AS_IMPORT_CUTS };
/* What found the callers of a sample. */
enum as_chain_way { AS_CHAIN_UNWOUND, AS_CHAIN_POINTERS, AS_CHAIN_JOINED, AS_CHAIN_WAYS };
struct as_import_chains {
    uint64_t all, cut[AS_IMPORT_CUTS];
    uint32_t limit; /* the limit that cut some */
    uint32_t copy;  /* size in bytes of the copy that cut some */
};

/* Branch stacks: import_branches.c. */
struct as_import_branches {
    struct as_import_sums pairs; /* (source, target): instructions */
    struct as_import_sums taken; /* (pair, event): samples are times taken, units mispredicted, weight cycles */
    uint64_t stacks, sampled;    /* sampled: taken branches that are samples themselves */
    uint64_t entries, mispredicted, cycles;
};

/* ---- AUX data of SPE: import_spe.c ---- */

struct as_import_spe_buffer;
struct as_import_spe {
    const struct as_perf_event *event; /* the event that the records belong to; NULL: none */
    struct as_map numbers;             /* index of a buffer, to number + 1 */
    AS_VEC(struct as_import_spe_buffer *) buffers;
    struct as_perf_order waiting; /* records sorted by time */
    struct as_map running;        /* processor, to process << 32 | thread */
    struct as_map processes;      /* thread, to process */
    uint64_t bytes, records, bad_bytes, damaged, without_place, without_thread, unknown_sources;
    uint64_t first_time, last_time; /* of records; 0: not known */
};

/* A sample, for the profile of a part of the time. */
struct as_import_moment {
    uint64_t time, units;
    uint32_t number;     /* of the event or measure */
    uint32_t cell, path; /* path NONE: without a call chain */
    uint32_t processor, mask;
};

/* Sums of events, or of measures; and the samples one by one, of events whose samples have times. */
struct as_import_table {
    AS_VEC(struct as_import_moment) moments;
    struct as_import_sums times;      /* (cell, event or measure) */
    struct as_import_sums components; /* (time, mask) */
    struct as_import_sums path_times; /* (path cell, event or measure) */
};

struct as_import_waiting_sample;

struct as_import {
    struct as_import_options options;
    const struct as_perf_info *info; /* from the options, like the writer */
    struct as_perf_spaces *spaces;
    struct as_store_writer *writer;
    struct as_import_code code;
    struct as_import_data data;
    AS_VEC(struct as_import_thread) threads;
    size_t named_alone;                     /* threads that have no samples, but a name for their processes */
    AS_VEC(struct as_import_series) series; /* by the event's index */
    AS_VEC(struct as_import_measure) measures;
    struct as_map thread_numbers; /* pid << 32 | tid, to number + 1 of the thread with its present name */
    struct as_map path_numbers;   /* hash of the path, to number + 1 */
    AS_VEC(struct as_import_path) paths;
    AS_VEC(uint64_t) masks; /* sets of events, by number */
    struct as_map mask_numbers;
    struct as_import_sums cells;      /* (instruction, thread) */
    struct as_import_sums path_cells; /* (path, cell) */
    struct as_import_table by_event, by_measure;
    /* Samples in files that match, in files that are missing or changed, and in no file. */
    uint64_t matched, unmatched, other;
    struct as_import_branches branches;
    uint64_t stray_frames, huge_periods;
    struct as_import_chains whole;
    uint64_t chains, lone_chains; /* samples in user mode with a call chain; those whose chain has no caller */
    uint64_t lone_generated;      /* of the latter, those in code that the program made */
    uint64_t made_roots;          /* chains with callers whose outermost frame is in such code */
    bool made_root;               /* the current sample's is */
    uint64_t guessed;             /* samples with the name of one of several functions that were there */
    struct as_import_raw raw;
    char *command; /* the name of the program that perf started; NULL: it started none, or that is not known */
    uint32_t command_pid;
    bool met_names;                                    /* a thread was named */
    AS_VEC(struct as_import_waiting_sample *) waiting; /* import_waiting.c */
    bool releasing;                                    /* samples do not wait again */
    struct as_import_spe spe;
    struct as_stack_walker *walker; /* NULL: stacks are not unwound */
    uint64_t walked, unwalked;      /* copies that gave callers or the start of a thread, and others */
    enum as_chain_way way;          /* of the current sample */
    uint64_t ways[AS_CHAIN_WAYS];   /* chains in user mode that have callers */
    uint64_t chain[AS_IMPORT_KERNEL_FRAMES + AS_WALK_MAX + 1];
    uint64_t pointers[AS_WALK_MAX]; /* the program's part of the kernel's chain of the current sample */
    size_t n_pointers;
};

/* Adds a sample that did not come from the reader. Returns false if the profile cannot be written; commit reports
 * why. */
bool as_import_add_sample(struct as_import *import, const struct as_perf_sample *sample,
                          const struct as_import_facts *facts);

/* ---- samples in generated code without a name yet: import_waiting.c ---- */

enum { AS_IMPORT_ALL = UINT32_MAX };
bool as_import_must_wait(struct as_import *import, const struct as_perf_sample *sample);
void as_import_wait(struct as_import *import, const struct as_perf_sample *sample, const struct as_import_facts *facts);
/* Adds the waiting samples of a process, whose mappings end now, or of AS_IMPORT_ALL. */
void as_import_release(struct as_import *import, uint32_t pid);
void as_import_waiting_free(struct as_import *import);

/* Whether the code of a module, by our name for it or one of perf's, is in memory that the program wrote: import_hints.c. */
bool as_import_is_made(const char *path);

/* Whether perf record was asked for all processes of the machine, or of some processors: import_wide.c. */
bool as_import_is_wide_command(const char *command);

/* Writes the moments of the events' series, then those of the measures, whose numbers begin with `measures`:
 * import_moments.c. */
void as_import_write_moments(struct as_import *import, uint32_t measures);

void as_import_sample_branches(struct as_import *import, const struct as_perf_sample *sample,
                               const struct as_import_facts *facts);
void as_import_write_branches(const struct as_import *import, uint32_t event, uint32_t series);
void as_import_count_branches(const struct as_import *import);

void as_import_data_open(struct as_import *import);
/* Adds the address that the processor recorded with a sample, if it did. */
void as_import_sample_address(struct as_import *import, const struct as_perf_sample *sample,
                              const struct as_import_facts *facts);
void as_import_sort_accesses(struct as_import *import); /* call this after the last access, before writing */
/* Writes the rows of a series, with units or weights; and the number of samples that had addresses. */
void as_import_write_accesses(const struct as_import *import, uint32_t event, uint32_t series, bool weights);
void as_import_write_data_quality(const struct as_import *import);
void as_import_data_free(struct as_import_data *data);

/* Parts of the sink. */
void as_import_spe_event(struct as_import *import, const struct as_perf_event *event);
bool as_import_spe_aux(struct as_import *import, const struct as_perf_aux *aux); /* false: writing has failed */
/* Before the process is used. */
void as_import_spe_process(struct as_import *import, const struct as_perf_process *process);
void as_import_spe_switch(struct as_import *import, const struct as_perf_switch *change);
void as_import_spe_until(struct as_import *import, uint64_t time); /* uses the records up to that time */
void as_import_spe_finish(struct as_import *import);               /* uses the remaining records */
void as_import_spe_quality(const struct as_import *import);
void as_import_spe_free(struct as_import *import);

/* ---- copies of the stack: import_stacks.c ---- */

/* Applies from the next process record on; may be called again. */
void as_import_walk_stacks(struct as_import *import);
/* Returns the sample with the call chain that was unwound from its copy of the stack, valid until the next call.
 * Returns false if there is no copy, or if the sample's own chain is better. */
bool as_import_walk(struct as_import *import, const struct as_perf_sample *sample, struct as_perf_sample *walked);
/* Counts the chain of a sample as recorded, after as_import_walk, if it was cut: by the kernel or, if it was unwound, at
 * the end of the copy. */
void as_import_count_cut(struct as_import *import, const struct as_perf_sample *sample);
void as_import_write_ways(const struct as_import *import); /* what found the callers, and in what part of the samples */
void as_import_write_cuts(const struct as_import *import); /* and reports them if they are many */

#endif
