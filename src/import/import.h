/* From samples as Linux perf records them to a profile. `assay import` reads them from a file, `assay record` gets them
 * from a live session; both hand them to one sink.
 *
 * Samples are read once. Their addresses become modules, functions and instructions of the profile when a sample first
 * refers to them (import_code.c). Samples are added up by series, thread, instruction, call path and events
 * (import_samples.c); the sums are written at the end (import_write.c). Everything that a sample contains besides its
 * address is called its facts (import_facts.h), whether it came in fields of the kernel, in registers of AMD's IBS
 * (import_ibs.c) or in packets of Arm's SPE (import_spe.c).
 *
 * An address is stored as the module's address in the first process that mapped it, plus the offset in the module. So
 * the same instruction of one file, run by several processes, is one instruction.
 *
 * Calls: open; the sink's functions, with the import as context; the caller's own additions (import_add.h); finish; write;
 * free. Other folders include no header of src/import but these two.
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
    const struct as_perf_info *info;      /* of the recording; NULL: not known */
    struct as_perf_spaces_options spaces; /* where names come from */
    bool unwind;                          /* unwind copies of the stack, if an event has them */
    bool addresses;                       /* the caller looks for data addresses, and reports samples without one */
    uint32_t max_stack;    /* most frames that the kernel follows, if the event does not tell; 0: its default */
    uint64_t most_waiting; /* most bytes of SPE records that wait for their time; 0: 256 MiB */
    uint64_t start;        /* when the recording began, on the samples' clock; 0: with its first sample */
    struct as_notices notices;
};

struct as_import *as_import_open(const struct as_import_options *options);
void as_import_free(struct as_import *import); /* accepts NULL */

extern const struct as_perf_sink as_import_sink; /* with a struct as_import as context */
/* Call this after the last record, before anything is counted or written. */
void as_import_finish(struct as_import *import);

/* Adds the recording's origin, command and machine to the profile. A live session writes its own instead. */
void as_import_describe(const struct as_import *import, const struct as_perf_reader *reader, const char *path);
/* Adds the code, the threads, the series with their sums, and what is known about their quality. */
void as_import_write(struct as_import *import, const struct as_perf_reader *reader);

struct as_import_counts {
    uint64_t samples; /* of all events of the reader */
    uint64_t units;   /* of the first event */
    size_t events;    /* events of the reader; and those that have samples */
    size_t events_with_samples;
    size_t threads, processes;
};
struct as_import_counts as_import_count(const struct as_import *import);

/* Returns the number of samples of a process. */
uint64_t as_import_samples_of(const struct as_import *import, uint32_t pid);

/* Returns what is mapped where, according to the records so far. */
struct as_perf_spaces *as_import_spaces(const struct as_import *import);

/* Notes the files in which much of a series' time has no function, and which package has the names, in a profile whose
 * times are written. `import`: files that it does not have here are left out; NULL: none are. */
void as_import_hint_names(struct as_store_writer *writer, uint32_t series, const struct as_import *import);

#endif
