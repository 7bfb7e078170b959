/* From a recording of Linux perf to a profile. The recording is read once: places become modules, functions and
 * instructions of the profile when a sample first meets them (import_code.c), samples are added up by series, thread,
 * instruction, call path and what they met (import_samples.c), and the sums are written at the end (import_write.c).
 * What a sample says beside where it was are its facts (import_facts.h), whether the kernel said it in fields, AMD's
 * IBS in registers (import_ibs.c) or Arm's SPE in packets (import_spe.c).
 *
 * An address is kept as the module's address in the first process that had it, plus the offset in the module: so what
 * several processes ran of one file is one instruction.
 */
#ifndef AS_IMPORT_H
#define AS_IMPORT_H

#include "assay/insn.h"
#include "base/map.h"
#include "base/vec.h"
#include "import/import_facts.h"
#include "native/stack_walk.h"
#include "perfdata/perf_order.h"
#include "perfdata/perf_spaces.h"
#include "perfdata/spe_packets.h"
#include "store/store_write.h"

/* ---- the code: import_code.c ---- */

struct as_import_module {
    uint64_t base; /* address minus offset in the module */
    bool matched;  /* its file is here, the one that was recorded */
    const char *path;
    int fd;                                /* -1: not open */
    struct as_map instructions, functions; /* by offset in the module; functions: number + 1 */
    struct as_map calls;                   /* by the offset of their last byte: how far before it they begin */
};

/* An instruction that a sample has met; its line and what it was inlined from are known at the end. */
struct as_import_insn {
    uint64_t address, target;
    uint32_t module, function, file, line, inlined;
    struct as_perf_location location;
    char *text;
    const char *class_;
    uint8_t bytes[AS_INSN_MAX_BYTES], n_bytes;
};

struct as_import_code {
    struct as_store_writer *writer;
    struct as_perf_spaces *spaces;
    struct as_strings *module_keys, *file_keys, *inline_keys, *names;
    AS_VEC(struct as_import_module) modules;    /* by number */
    AS_VEC(struct as_import_insn) instructions; /* by number */
    size_t n_open, next_close;
    uint64_t decoded; /* instructions with bytes */
};

/* What a sample or a frame stands at. */
struct as_import_spot {
    uint32_t pid;
    enum as_perf_mode mode;
    uint64_t address;
    bool called;                       /* it is the last byte of a call */
    const struct as_perf_frame *frame; /* perf script text: what it says; else NULL */
    size_t n_inlined;                  /* frames before it that were inlined into it */
};

struct as_import_where {
    uint32_t module, function; /* function: or NONE */
    uint64_t address, offset;  /* in the profile, in the module */
    uint64_t entry;            /* of the function, in the profile; 0: unknown */
    enum as_perf_match match;
    bool unmapped; /* in no module, and nobody has a name for it */
    uint64_t file_offset;
    struct as_perf_location location;
};

void as_import_code_open(struct as_import_code *code, struct as_store_writer *writer, struct as_perf_spaces *spaces);
void as_import_code_find(struct as_import_code *code, const struct as_import_spot *spot, struct as_import_where *where);
uint32_t as_import_code_instruction(struct as_import_code *code, const struct as_import_spot *spot,
                                    const struct as_import_where *where);
/* The call instruction whose last byte `where` is; `where` becomes its first. NONE, and nothing changes, where the file
 * is not here or there is no call. */
uint32_t as_import_code_call(struct as_import_code *code, const struct as_import_spot *spot,
                             struct as_import_where *where);
/* The module of a location that was found at `address`. */
uint32_t as_import_code_module(struct as_import_code *code, const struct as_perf_location *location, uint64_t address);
/* When there are no more: their lines, and all of them to the profile. Before whatever refers to one is written. */
void as_import_code_write(struct as_import_code *code);
void as_import_code_free(struct as_import_code *code);

/* ---- the samples: import_samples.c ---- */

struct as_import_sum {
    uint32_t first, second; /* what it is of; see below */
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

struct as_import_thread {
    uint32_t pid, tid;
    char *name;
    uint64_t samples;
};

struct as_import_path {
    struct as_store_path path;
    uint32_t module; /* where it has no function; else NONE */
};

/* What the samples of an event had beside the address. */
struct as_import_series {
    uint64_t samples, units;
    bool components; /* its samples say what they met */
    struct as_import_tagging tagging;
    uint32_t measures[AS_IMPORT_KINDS]; /* number + 1; 0: none */
    const struct as_import_own *own;    /* NULL: an event of the reader's */
};

/* A number that samples of an event have beside their period, latencies mostly: a series of its own. */
struct as_import_measure {
    uint32_t event;
    enum as_import_kind kind;
    uint64_t samples;
};

/* A series that is made of something else than a reader's samples. */
struct as_import_own {
    const char *name, *description, *unit;
};

/* ---- data accesses: import_data.c ---- */

/* Samples that found an instruction to access an address. */
struct as_import_access {
    uint32_t event, thread, instruction, object;
    uint64_t address;
    uint32_t size;
    uint8_t kind, how; /* as in the store */
    uint64_t units, weight, samples;
};

struct as_import_data {
    struct as_strings *object_keys; /* objects by number */
    size_t regions;                 /* without a name of their own */
    struct as_map numbers;          /* hash of what makes it, to item + 1 */
    AS_VEC(struct as_import_access) accesses;
    uint64_t how[AS_STORE_HOW_COUNT]; /* samples */
    uint64_t without;                 /* samples of events with addresses that have none */
    uint8_t kind;                     /* of the sample at hand, where its fields do not say; 0: unknown */
    uint32_t size;                    /* likewise */
};

enum { AS_IMPORT_KERNEL_FRAMES = 256 };

/* Call chains that lack their outermost frames: import_stacks.c. */
enum as_import_cut { AS_CUT_KERNEL, AS_CUT_FRAMES, AS_CUT_COPY, AS_IMPORT_CUTS };
struct as_import_chains {
    uint64_t all, cut[AS_IMPORT_CUTS];
    uint32_t most;  /* frames that the kernel follows, where the event does not say; 0: its default */
    uint32_t limit; /* the one that cut some */
    uint32_t copy;  /* bytes, likewise */
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
    const struct as_perf_event *event; /* whose samples the records are; NULL: there is none */
    struct as_map numbers;             /* index of a buffer, to number + 1 */
    AS_VEC(struct as_import_spe_buffer *) buffers;
    struct as_perf_order waiting; /* records by time */
    uint64_t most_waiting;        /* bytes of them; 0: 256 MiB */
    struct as_map running;        /* processor, to process << 32 | thread */
    struct as_map processes;      /* thread, to process */
    uint64_t bytes, records, bad_bytes, damaged, without_place, without_thread, unknown_sources;
    uint64_t first_time, last_time; /* of records; 0: no time is known */
};

/* Sums of events, or of measures. */
struct as_import_table {
    struct as_import_sums times;      /* (spot, event or measure) */
    struct as_import_sums components; /* (time, mask) */
    struct as_import_sums path_times; /* (path spot, event or measure) */
};

struct as_import {
    const struct as_perf_info *info; /* of the recording; NULL: nothing is known */
    struct as_import_code code;
    struct as_import_data data;
    struct as_perf_spaces *spaces;
    struct as_store_writer *writer;
    AS_VEC(struct as_import_thread) threads;
    AS_VEC(struct as_import_series) series; /* by the event's index */
    AS_VEC(struct as_import_measure) measures;
    struct as_map thread_numbers; /* pid << 32 | tid, to number + 1 */
    struct as_map path_numbers;   /* hash of what makes it, to number + 1 */
    AS_VEC(struct as_import_path) paths;
    AS_VEC(uint64_t) masks; /* sets of events that came up, by number */
    struct as_map mask_numbers;
    struct as_import_sums spots;      /* (instruction, thread) */
    struct as_import_sums path_spots; /* (path, spot) */
    struct as_import_table by_event, by_measure;
    uint64_t matched, unmatched, other; /* samples in files that are here, are not, in no file */
    struct as_import_branches branches;
    uint64_t stray_frames;
    struct as_import_chains whole;
    bool live;                    /* a recording that ends with a summary, which says what is missing */
    uint64_t chains, lone_chains; /* of samples in user mode; without any caller */
    struct as_import_raw raw;
    struct as_import_spe spe;
    bool unwinds;                   /* copies of the stack, as soon as an event has some */
    struct as_stack_walker *walker; /* NULL: not */
    uint64_t walked, unwalked;      /* copies that gave callers, and that gave none */
    uint64_t chain[AS_IMPORT_KERNEL_FRAMES + AS_WALK_MAX + 1];
};

extern const struct as_perf_sink as_import_sink; /* with a struct as_import as context */
/* After the last record, before anything is written or counted. */
void as_import_finish(struct as_import *import);
uint64_t as_import_samples(const struct as_import *import); /* of all events */
/* A sample that is none of the reader's. False: the profile cannot be written, which commit says. */
bool as_import_add_sample(struct as_import *import, const struct as_perf_sample *sample,
                          const struct as_import_facts *facts);
void as_import_free(struct as_import *import);
/* The thread's number; a name replaces the one before. */
uint32_t as_import_thread(struct as_import *import, uint32_t pid, uint32_t tid, const char *name);
/* Another series, to be added to by its number. After the last sample. */
uint32_t as_import_add_own(struct as_import *import, const struct as_import_own *own);
/* What `n` return addresses in the space of `pid`, innermost first, stand for in such a series. */
void as_import_add_calls(struct as_import *import, uint32_t series, uint32_t pid, uint32_t thread,
                         const uint64_t *returns, size_t n, uint64_t units, uint64_t count);

void as_import_sample_branches(struct as_import *import, const struct as_perf_sample *sample,
                               const struct as_import_facts *facts);
void as_import_write_branches(const struct as_import *import, uint32_t event, uint32_t series);
void as_import_count_branches(const struct as_import *import);

/* One access as a sample has it. */
struct as_import_touch {
    uint32_t event, pid, tid;
    enum as_perf_mode mode;
    uint64_t ip, address, stack_pointer; /* 0: unknown */
    uint32_t size;
    uint8_t kind, how;
    uint64_t units, weight, samples;
};
void as_import_data_open(struct as_import *import);
/* The number of the access that it was added to. */
uint32_t as_import_add_touch(struct as_import *import, const struct as_import_touch *touch);
/* The address that the processor recorded with a sample, where it did. */
void as_import_sample_address(struct as_import *import, const struct as_perf_sample *sample,
                              const struct as_import_facts *facts);
void as_import_sort_accesses(struct as_import *import); /* after the last, before they are written */
/* Rows of a series, units or weights; and how many samples had addresses. */
void as_import_write_accesses(const struct as_import *import, uint32_t event, uint32_t series, bool weights);
void as_import_write_data_quality(const struct as_import *import);
void as_import_data_free(struct as_import_data *data);

/* Parts of the sink. */
void as_import_spe_event(struct as_import *import, const struct as_perf_event *event);
bool as_import_spe_aux(struct as_import *import, const struct as_perf_aux *aux); /* false: writing has failed */
void as_import_spe_process(struct as_import *import, const struct as_perf_process *process); /* before it is used */
void as_import_spe_switch(struct as_import *import, const struct as_perf_switch *change);
void as_import_spe_until(struct as_import *import, uint64_t time); /* uses the records before that time */
void as_import_spe_finish(struct as_import *import);               /* those that are left */
void as_import_spe_quality(const struct as_import *import);
void as_import_spe_free(struct as_import *import);

/* ---- copies of the stack: import_stacks.c ---- */

void as_import_walk_stacks(struct as_import *import); /* from the next process record on; once or more */
/* The sample with the call chain that its copy of the stack gives. False: it has none, or its own chain is better.
 * Until the next call. */
bool as_import_walk(struct as_import *import, const struct as_perf_sample *sample, struct as_perf_sample *walked);
/* Whether the chain that a sample has was cut, by the kernel or, `walked`, where it was made of a copy. */
void as_import_count_cut(struct as_import *import, const struct as_perf_sample *sample, bool walked);
void as_import_write_cuts(const struct as_import *import); /* and says so where they are not few */

/* ---- the profile: import_write.c ---- */

/* Adds what was added up, and what is known of the recording. */
void as_import_write_samples(struct as_import *import, const struct as_perf_reader *reader); /* the first of these */
void as_import_write(struct as_import *import, const struct as_perf_reader *reader, const char *path);

#endif
