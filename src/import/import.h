/* From samples as Linux perf records them to a profile. `assay import` reads them from a file, `assay record` gets them
 * from a live session; both hand them to one sink.
 *
 * Samples are read once. Their addresses become modules, functions and instructions of the profile when a sample first
 * meets them (import_code.c); samples are added up by series, thread, instruction, call path and what they met
 * (import_samples.c); the sums are written at the end (import_write.c). What a sample says beside its address are its
 * facts (import_facts.h), whether the kernel said it in fields, AMD's IBS in registers (import_ibs.c) or Arm's SPE in
 * packets (import_spe.c).
 *
 * An address is kept as the module's address in the first process that had it, plus the offset in the module: so what
 * several processes ran of one file is one instruction.
 *
 * Calls: open; the sink's functions, with the import as context; additions of the caller's own; finish; write; free.
 * This header is all that other folders include of src/import.
 */
#ifndef AS_IMPORT_H
#define AS_IMPORT_H

#include "base/notice.h"
#include "perfdata/perf_spaces.h"
#include "perfdata/perfdata.h"
#include "store/store_write.h"

struct as_import;

struct as_import_options {
    struct as_store_writer *writer;
    const struct as_perf_info *info;      /* of the recording; NULL: nothing is known */
    struct as_perf_spaces_options spaces; /* where names come from */
    bool unwind;                          /* copies of the stack, if an event has some */
    bool addresses;                       /* the caller looks for data addresses, and reports samples without one */
    uint32_t max_stack;    /* frames that the kernel follows, where the event does not say; 0: its default */
    uint64_t most_waiting; /* bytes of SPE records that may wait for their time; 0: 256 MiB */
    struct as_notices notices;
};

struct as_import *as_import_open(const struct as_import_options *options);
void as_import_free(struct as_import *import); /* NULL is fine */

extern const struct as_perf_sink as_import_sink; /* with a struct as_import as context */
/* After the last record, before anything is counted or written. */
void as_import_finish(struct as_import *import);

/* Adds the recording's origin, command and machine to the profile; a live session has other words for them. */
void as_import_describe(const struct as_import *import, const struct as_perf_reader *reader, const char *path);
/* Adds the code, threads, series and their sums, and what is known about their quality. */
void as_import_write(struct as_import *import, const struct as_perf_reader *reader);

struct as_import_counts {
    uint64_t samples; /* of all events of the reader */
    uint64_t units;   /* of the first event */
    size_t events;    /* of the reader; those with samples */
    size_t events_with_samples;
    size_t threads, processes;
};
struct as_import_counts as_import_count(const struct as_import *import);

/* What was mapped where, as told so far. */
struct as_perf_spaces *as_import_spaces(const struct as_import *import);

/* ---- what is not a sample: series that the caller adds to itself ---- */

struct as_import_own {
    const char *name, *description, *unit;
};
/* Another series; returns its number. After the last sample. */
uint32_t as_import_add_own(struct as_import *import, const struct as_import_own *own);
/* Returns the thread's number; a name replaces the one before. */
uint32_t as_import_thread(struct as_import *import, uint32_t pid, uint32_t tid, const char *name);
/* Adds to such a series what `n` return addresses in the space of `pid`, innermost first, stand for. */
void as_import_add_calls(struct as_import *import, uint32_t series, uint32_t pid, uint32_t thread,
                         const uint64_t *returns, size_t n, uint64_t units, uint64_t count);

/* ---- data accesses that the caller found ---- */

/* One access as a sample has it. */
struct as_import_touch {
    uint32_t event, pid, tid;
    enum as_perf_mode mode;
    uint64_t ip, address, stack_pointer; /* 0: unknown */
    uint32_t size;
    uint8_t kind, how; /* as in the store */
    uint64_t units, weight, samples;
};
/* Returns the number of the access that it was added to. */
uint32_t as_import_add_touch(struct as_import *import, const struct as_import_touch *touch);
void as_import_add_to_access(struct as_import *import, uint32_t number, uint64_t units, uint64_t samples);
/* The kind and size of the next sample's access, where the sample itself does not say. 0: unknown. */
void as_import_expect_access(struct as_import *import, uint8_t kind, uint32_t size);
/* Counts samples whose address was found in this way (enum as_store_how). */
void as_import_count_found(struct as_import *import, uint8_t how, uint64_t samples);

#endif
