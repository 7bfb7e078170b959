/* The profile file: the records that a profile consists of. store_write.h writes one, store_read.h reads one; no other
 * folder knows SQL. doc/format/profile.md describes the format.
 *
 * Things are numbered densely from 0 in the order in which they were added (modules, files, functions, blocks, inlined
 * calls, instructions, threads, series, states, paths). AS_STORE_NONE in place of such a number means "none" or
 * "unknown". Times are integers, in units of 1/scale of what the series counts (cycles, nanoseconds …), so that sums
 * are exact. Strings are bytes up to their NUL, stored unchanged, whatever their encoding; NULL if unknown.
 */
#ifndef AS_STORE_STORE_H
#define AS_STORE_STORE_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

#define AS_STORE_NONE UINT32_MAX

enum {
    AS_STORE_APPLICATION_ID = 0x41735379, /* "AsSy" */
    /* The version that is written; older ones are migrated when they are read. */
    AS_STORE_VERSION = 6,
    AS_STORE_MAX_TEXT = 64 << 20, /* most bytes of one string */
};

/* Keys of the meta table. Others may be added freely; readers must not depend on any of them. */
#define AS_META_PROGRAM "program" /* path of the program that was run */
#define AS_META_TITLE "title"     /* what reports name instead of the program: a running process, the whole machine */
#define AS_META_DIRECTORY "directory" /* its working directory */
#define AS_META_STATUS "status"       /* its exit status, or 128 + the signal */
#define AS_META_HOST "host"
#define AS_META_ARCH "arch"             /* of the program: x86_64, riscv64 */
#define AS_META_ASSAY "assay"           /* version that wrote the file */
#define AS_META_DATE "date"             /* of the start, ISO 8601 in UTC */
#define AS_META_SOURCE "source"         /* model, pmu, timer, import */
#define AS_META_SOURCE_WHY "source_why" /* why that source was chosen: what auto found */
#define AS_META_CORE_WHY "core_why"     /* why this core was modelled, if nobody asked for it */
#define AS_META_CORE "core"             /* name of the modelled core, or of the processor */
#define AS_META_MACHINE "machine"       /* the machine file's text */
#define AS_META_SERIES "series"         /* name of the series to show by default */
#define AS_META_GOLDEN "golden"         /* name of the exact series */
#define AS_META_PERIOD "period"
#define AS_META_RATE "rate"
#define AS_META_RANDOM "random"
#define AS_META_CYCLES "cycles"
#define AS_META_INSTRUCTIONS "instructions"
#define AS_META_SECONDS "seconds"
#define AS_META_FREQUENCY "frequency"
#define AS_META_MERGED "merged" /* number of profiles it was merged from; absent if it was not merged */
#define AS_META_FOUND "found "  /* and a module's path: where its file was found, if not there (import --symfs) */
#define AS_META_DETERMINISTIC "deterministic" /* its threads ran in a fixed order; absent if they did not */
#define AS_META_PARTIAL "partial"             /* why the profile does not cover the whole run; absent if it does */
#define AS_META_PART "part" /* which part of the run was measured, in words; absent if all of it was */

/* Keys of quality that are read again. */
#define AS_QUALITY_SAMPLED_CYCLES "sampled_cycles" /* that the samples of TIP and TEA are parts of */

/* A mapped file, or "[anon]", "[vdso]" … */
struct as_store_module {
    const char *path, *build_id; /* hexadecimal */
    uint64_t base;               /* run-time address minus address in the file: subtract it for objdump */
    uint64_t file_size;          /* 0: unknown; size and time identify a changed file that has no build-id */
    int64_t file_time;           /* time of the last change, in nanoseconds since 1970 */
};
/* Whether an address minus the base is an offset in the file: there is no file of [kernel], say, and text of perf script has the
 * addresses of the run, and not where files were mapped. */
static inline bool as_store_module_is_placed(const struct as_store_module *module)
{
    return module->base > 0 || (module->path[0] != '[' && (module->file_size > 0 || module->build_id));
}

struct as_store_function {
    const char *name, *linkage_name; /* demangled, and as in the symbol table */
    uint32_t module, file, line;     /* where it is defined; line 0: unknown */
    uint64_t address, size;          /* run-time address */
};

struct as_store_block {
    uint32_t function;
    uint64_t address, size;
};

/* A call that was inlined: `function` at (file, line) in `parent`, or in the real function if parent is NONE. */
struct as_store_inline {
    uint32_t parent;
    const char *function;
    uint32_t file, line;
};

/* What an instruction belongs to. */
struct as_store_location {
    uint64_t address;
    uint32_t module, function, block, file, line;
    uint32_t inlined; /* the innermost inlined call that it is part of */
};

struct as_store_insn {
    struct as_store_location location;
    uint64_t target;    /* direct jumps and calls; 0: none */
    const char *text;   /* disassembly */
    const char *class_; /* as_class_name, or NULL */
    const uint8_t *bytes;
    size_t n_bytes;
};

struct as_store_thread {
    uint32_t number; /* as reports show it */
    int64_t process; /* id of its process; 0: unknown */
    const char *name;
    uint64_t cycles, instructions, samples;
};

/* One measurement of the run: the golden reference, a sampler, an event of the PMU. */
struct as_store_series {
    const char *name;        /* "golden", "tea", "cycles:ppp"; unique */
    const char *description; /* its meaning, for reports */
    bool exact;              /* covers every cycle; false: made of samples */
    const char *unit;        /* "cycles", "nanoseconds", "samples", an event's name */
    uint64_t scale;          /* units of time per `unit`: at least 1 */
    const char *event;       /* the event that triggered the samples */
    int32_t precise;         /* precise level; -1: does not apply */
    uint64_t period;         /* mean; 0: none */
    double rate;             /* the rate asked for, per second; 0: none */
    uint64_t samples, lost, throttled, dropped;
    uint64_t events; /* bits of the events that it can record; 0: none, so it has no components */
};

/* The series of a run of which only regions were measured, and the series for its error bars: each replicate is computed
 * without a part of the regions. What all of them have in common, that of instructions without chance, is a series by itself,
 * and so are the means of times that are the mean times one factor in each replicate; the factors are estimates of it. */
#define AS_STORE_SAMPLED "sampled"
#define AS_STORE_REPLICATE "replicate "
#define AS_STORE_REPLICATE_COMMON AS_STORE_REPLICATE "common"
#define AS_STORE_REPLICATE_ALIKE AS_STORE_REPLICATE "alike"
#define AS_STORE_PRIOR                                                                                                 \
    "prior" /* the measure of what regions are expected to differ by: a deviation of the program's time */
#define AS_STORE_PRIOR_REGIONS                                                                                         \
    "regions" /* its granularity for how many regions are as certain, where that is not known */
#define AS_STORE_PRIOR_COMMON                                                                                          \
    "common" /* another one: half the 95 % interval of what all regions have too much or too little */
#define AS_STORE_FACTOR "factor" /* the measure of these estimates; the granularity is the replicate's name */
/* Measures of two more: of a counter, which the granularity names, half the 95 % interval as a part of it; and, of `common`, that
 * replicates have the times of single threads (1). */
#define AS_STORE_COUNTER_ERROR "counter"
#define AS_STORE_BY_THREADS "threads"

/* A bit of the event masks of components. */
struct as_store_event {
    uint32_t bit;            /* 0 … 63 */
    const char *name;        /* "ST-L1" */
    const char *description; /* for reports */
    uint32_t parent;         /* bit of the event that this one is a special case of, or NONE */
    const char *state;       /* commit state that it explains: "stalled", "drained", "flushed" */
};

/* A kind of time (commit states), for state times. */
struct as_store_state {
    const char *name, *description;
};

/* The time of an instruction in a thread. */
struct as_store_time {
    uint32_t series, thread, instruction;
    uint64_t units, samples, executions; /* executions: if the series counts them */
};

/* The part of a time with exactly these events; 0: without any. If a series has components, they add up to the time. */
struct as_store_component {
    uint32_t series, thread, instruction;
    uint64_t events, units, samples;
};

/* The part of a time in one state. */
struct as_store_state_time {
    uint32_t series, thread, instruction, state;
    uint64_t units;
};

/* A node of the calling-context tree; its parent was added before it. A root has NONE as its parent. */
struct as_store_path {
    uint32_t parent, function;
    uint32_t call_site;    /* instruction in the parent's function, or NONE */
    uint64_t address;      /* of the function's entry; names the function if it has no name */
    uint64_t call_address; /* of the call; 0: unknown */
    bool signal;           /* entered as a signal handler */
};

/* The self time of a path, without its callees: by instruction, or as a whole (NONE). */
struct as_store_path_time {
    uint32_t series, thread, path, instruction;
    uint64_t units, samples;
};

/* The part of a path's self time with exactly these events. If a series has such parts, they add up to the path's time.
 */
struct as_store_path_component {
    uint32_t series, thread, path;
    uint64_t events, units, samples;
};

/* Data that a program accesses: a variable of a module, or a region ("[heap]", "[stack]", a mapped file). */
struct as_store_object {
    uint32_t module; /* NONE: not in a file */
    const char *name;
    uint64_t address, size; /* run-time address; size 0: unknown */
};

enum as_store_access_kind {
    AS_STORE_LOAD = 1,
    AS_STORE_STORE = 2, /* bits: an instruction may do both at one address */
};

/* Where a data address comes from. */
enum as_store_access_how {
    AS_STORE_HOW_HARDWARE, /* the processor recorded it with the sample */
    AS_STORE_HOW_EXACT,    /* the interrupted instruction accesses it: computed from the saved registers */
    AS_STORE_HOW_NEXT,     /* it is the next access after the interrupted instruction, computed likewise */
    AS_STORE_HOW_WATCHED,  /* the same access, read when an execution watchpoint was reached */
    AS_STORE_HOW_COUNT
};

/* Samples at which this instruction accessed this address. */
struct as_store_access {
    uint32_t series, thread, instruction;
    uint64_t address;
    uint32_t size;        /* bytes; 0: unknown */
    uint32_t kind;        /* AS_STORE_LOAD | AS_STORE_STORE; 0: unknown */
    uint32_t how, object; /* as_store_access_how; object NONE: not known */
    uint64_t units, samples;
};

/* The part of an access's samples with exactly these events: where the data came from, whether another core had changed the
 * line. They add up to the access's samples where the processor tells; otherwise there are none. */
struct as_store_access_component {
    uint32_t series, thread, instruction;
    uint64_t address;
    uint32_t kind, object; /* as of the access */
    uint64_t events, units, samples;
};

/* A taken branch from the branch stacks of a series' samples: the instructions of the branch and of its target. */
struct as_store_branch {
    uint32_t series, source, target;
    uint64_t taken, mispredicted;
    uint64_t cycles; /* sum of the cycles since the preceding branch in the stack; 0: not recorded by the processor */
};

enum as_store_wait_kind {
    AS_STORE_WAIT_READ,    /* a load fetched a line that another core could write */
    AS_STORE_WAIT_WRITE,   /* a store or an atomic fetched it */
    AS_STORE_WAIT_UPGRADE, /* a store or an atomic had it; the copies of others had to go */
    AS_STORE_WAIT_KINDS
};

/* Waits for another core's copy of a cache line: whose access waited, and whose write (or read) made it wait. */
struct as_store_wait {
    uint32_t series, thread, instruction; /* that waited */
    uint32_t other, culprit;              /* thread and instruction that made it wait; culprit NONE: not known */
    uint64_t line;                        /* address of the line's first byte */
    uint32_t offset;                      /* of the access in the line */
    uint32_t kind;                        /* enum as_store_wait_kind */
    uint32_t sharing;                     /* 1: both touched the same bytes (true sharing); 0: the line alone (false) */
    uint32_t object;                      /* that lies there; NONE: not known */
    uint32_t place;            /* the part of it, an object of its own: "counters[3].hits"; NONE: not known */
    uint64_t units, transfers; /* units: from the request to the line's arrival */
};

/* Samples of one place at one time: `times`, `components` and `path_times` without the times at which they were taken.
 * A series either has all of its samples here, or none. */
struct as_store_moment {
    uint32_t series, thread, instruction;
    uint64_t time;      /* nanoseconds since the recording, or the modelled run, began */
    uint32_t processor; /* that ran the thread; NONE: not recorded */
    uint32_t path;      /* NONE: without a call path */
    uint64_t events, units, samples;
};

/* A bar for the whole program: `stack` names what it divides ("states", "stack" …), rows in the order they were
 * added. */
struct as_store_stack {
    uint32_t series;
    const char *stack, *name;
    uint64_t units;
};

/* How wrong a series is, or may be, as a fraction: measure "error", "systematic", "pics", "estimate" …; granularity
 * "instruction", "block", "function" …. */
struct as_store_estimate {
    uint32_t series;
    const char *measure, *granularity;
    double value;
};

struct as_store_pair {
    const char *key, *value;
};

struct as_store_counter {
    const char *name;
    uint64_t value;
};

/* A limitation of the result: a text, and a number if there is one (NAN: none). */
struct as_store_quality {
    const char *key;
    double value;
    const char *text;
};

struct as_store_run {
    uint32_t number; /* from 1 */
    uint64_t cycles, instructions, samples;
    double seconds;
    int32_t status;
};

#endif
