/* The profile file: the records that a profile is made of. store_write.h makes one, store_read.h reads it; nobody else
 * knows SQL. doc/format/profile.md is the format.
 *
 * Things are numbered densely from 0 in the order in which they were added (modules, files, functions, blocks, inlined
 * calls, instructions, threads, series, states, paths); AS_STORE_NONE stands for "none" or "unknown" wherever one is
 * named. Times are integers, in units of 1/scale of what the series counts (cycles, nanoseconds …), so that sums are
 * exact. Strings are bytes up to their NUL, kept as they are, whatever their encoding; NULL where unknown.
 */
#ifndef AS_STORE_STORE_H
#define AS_STORE_STORE_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

#define AS_STORE_NONE UINT32_MAX

enum {
    AS_STORE_APPLICATION_ID = 0x41735379, /* "AsSy" */
    AS_STORE_VERSION = 2,                 /* that is written; older ones are migrated when they are read */
    AS_STORE_MAX_TEXT = 64 << 20,         /* bytes of one string */
};

/* Keys of the meta table. Others may be added freely; readers must live without any of them. */
#define AS_META_PROGRAM "program"     /* path of what was run */
#define AS_META_DIRECTORY "directory" /* its working directory */
#define AS_META_STATUS "status"       /* its exit status, or 128 + the signal */
#define AS_META_HOST "host"
#define AS_META_ARCH "arch"             /* of the program: x86_64, riscv64 */
#define AS_META_ASSAY "assay"           /* version that wrote the file */
#define AS_META_DATE "date"             /* of the start, ISO 8601 in UTC */
#define AS_META_SOURCE "source"         /* model, pmu, timer, import */
#define AS_META_SOURCE_WHY "source_why" /* why that one: what auto found */
#define AS_META_CORE "core"             /* name of the modelled core, or of the processor */
#define AS_META_MACHINE "machine"       /* the machine file's text */
#define AS_META_SERIES "series"         /* name of the series to show where nobody asks for another */
#define AS_META_GOLDEN "golden"         /* name of the exact series */
#define AS_META_PERIOD "period"
#define AS_META_RATE "rate"
#define AS_META_RANDOM "random"
#define AS_META_CYCLES "cycles"
#define AS_META_INSTRUCTIONS "instructions"
#define AS_META_SECONDS "seconds"
#define AS_META_FREQUENCY "frequency"
#define AS_META_MERGED "merged"   /* how many profiles it was made of; absent where it was not */
#define AS_META_PARTIAL "partial" /* why the profile is not of the whole run; absent where it is */

/* A mapped file, or "[anon]", "[vdso]" … */
struct as_store_module {
    const char *path, *build_id; /* hexadecimal */
    uint64_t base;               /* run-time address minus address in the file: what to take off for objdump */
    uint64_t file_size;          /* 0: unknown; size and time tell a changed file without a build-id */
    int64_t file_time;           /* last change, nanoseconds since 1970 */
};

struct as_store_function {
    const char *name, *linkage_name; /* demangled, and as in the symbol table */
    uint32_t module, file, line;     /* where it is defined; line 0: unknown */
    uint64_t address, size;          /* run-time address */
};

struct as_store_block {
    uint32_t function;
    uint64_t address, size;
};

/* A call that was inlined: `function` at (file, line) in `parent`, or in the real function where parent is NONE. */
struct as_store_inline {
    uint32_t parent;
    const char *function;
    uint32_t file, line;
};

/* Where an instruction belongs. */
struct as_store_location {
    uint64_t address;
    uint32_t module, function, block, file, line;
    uint32_t inlined; /* innermost inlined call that it comes from */
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
    uint32_t number; /* as shown to people */
    int64_t process; /* its id then; 0: unknown */
    const char *name;
    uint64_t cycles, instructions, samples;
};

/* One measurement of the run: the golden reference, a sampler, an event of the PMU. */
struct as_store_series {
    const char *name;        /* "golden", "tea", "cycles:ppp"; unique */
    const char *description; /* what it stands for, for people */
    bool exact;              /* every cycle, not samples */
    const char *unit;        /* "cycles", "nanoseconds", "samples", an event's name */
    uint64_t scale;          /* units of time a `unit`: at least 1 */
    const char *event;       /* what made it sample */
    int32_t precise;         /* precise level; -1: does not apply */
    uint64_t period;         /* mean; 0: none */
    double rate;             /* asked for, per second; 0: none */
    uint64_t samples, lost, throttled, dropped;
    uint64_t events; /* bits of the events that it can see; 0: none, so it has no components */
};

/* The series of a run that was measured in regions only, and those that its error bars are made of: the same without a
 * part of the regions each. */
#define AS_STORE_SAMPLED "sampled"
#define AS_STORE_REPLICATE "replicate "

/* A bit of components' event masks. */
struct as_store_event {
    uint32_t bit;            /* 0 … 63 */
    const char *name;        /* "ST-L1" */
    const char *description; /* for people */
    uint32_t parent;         /* bit of the event that it is a case of, or NONE */
    const char *state;       /* commit state that it explains: "stalled", "drained", "flushed" */
};

/* A kind of time (commit states), for state times. */
struct as_store_state {
    const char *name, *description;
};

/* Time of an instruction in a thread. */
struct as_store_time {
    uint32_t series, thread, instruction;
    uint64_t units, samples, executions; /* executions: where the series counts them */
};

/* The part of it with exactly these events; 0: none of them. The parts add up to the time where a series has any. */
struct as_store_component {
    uint32_t series, thread, instruction;
    uint64_t events, units, samples;
};

/* The part of it in one state. */
struct as_store_state_time {
    uint32_t series, thread, instruction, state;
    uint64_t units;
};

/* A node of the calling-context tree; its parent was added before it. NONE as parent: a root. */
struct as_store_path {
    uint32_t parent, function;
    uint32_t call_site;    /* instruction in the parent's function, or NONE */
    uint64_t address;      /* of the function's entry, for where it has no name */
    uint64_t call_address; /* of the call; 0: unknown */
    bool signal;           /* entered as a signal handler */
};

/* Time of a path itself, without what it calls; by instruction, or as a whole (NONE). */
struct as_store_path_time {
    uint32_t series, thread, path, instruction;
    uint64_t units, samples;
};

/* The part of a path's own time with exactly these events; the parts add up to the path's time where a series has any.
 */
struct as_store_path_component {
    uint32_t series, thread, path;
    uint64_t events, units, samples;
};

/* Data that a program accesses: a variable of a module, or a region ("[heap]", "[stack]", a mapped file). */
struct as_store_object {
    uint32_t module; /* NONE: of no file */
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
    AS_STORE_HOW_EXACT,    /* the interrupted instruction accesses it: worked out from the saved registers */
    AS_STORE_HOW_NEXT,     /* the first access behind the interrupted instruction, worked out likewise */
    AS_STORE_HOW_WATCHED,  /* that instruction's, when it was reached: an execution watchpoint */
    AS_STORE_HOW_COUNT
};

/* Samples that found this instruction to access this address. */
struct as_store_access {
    uint32_t series, thread, instruction;
    uint64_t address;
    uint32_t size;        /* bytes; 0: unknown */
    uint32_t kind;        /* AS_STORE_LOAD | AS_STORE_STORE; 0: unknown */
    uint32_t how, object; /* as_store_access_how; NONE: nobody knows what is there */
    uint64_t units, samples;
};

/* A taken branch as the branch stacks of a series' samples hold it. Instructions are where it is and where it goes. */
struct as_store_branch {
    uint32_t series, source, target;
    uint64_t taken, mispredicted;
    uint64_t cycles; /* from the branch before it in the stack to this one, added up; 0: the processor does not tell */
};

/* A bar of the whole program: `stack` names what it splits ("states", "stack" …), rows in the order they were added. */
struct as_store_stack {
    uint32_t series;
    const char *stack, *name;
    uint64_t units;
};

/* How wrong a series is, or may be: measure "error", "systematic", "pics", "estimate" …; granularity "instruction",
 * "block", "function" …; a fraction. */
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

/* What limits the result, in words; the number where there is one (NAN: none). */
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
