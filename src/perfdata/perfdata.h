/* Recordings of Linux perf: perf.data in file and pipe mode, in both byte orders, with and without zstd compression,
 * and the text of `perf script`. One reader handles all of them: it recognises the format, puts the records in order of
 * time as perf does, decodes them and passes them to a sink.
 *
 *     struct as_perf_reader *reader = as_perf_reader_open(path, NULL, &err);
 *     bool ok = reader != NULL && as_perf_reader_run(reader, &sink, context, &err);
 *     … as_perf_reader_info(reader), as_perf_reader_summary(reader) …
 *     as_perf_reader_close(reader);
 *
 * Files are untrusted. An invalid header is an error. If the stream of records breaks off or becomes invalid, reading
 * ends there: everything before that point is delivered, and the summary reports the `problem`. Memory is bounded by
 * the limits below and by a small multiple of the file's size, time by its size.
 *
 * Numbers follow linux/perf_event.h: PERF_SAMPLE_* bits, PERF_TYPE_*, register masks.
 */
#ifndef AS_PERFDATA_PERFDATA_H
#define AS_PERFDATA_PERFDATA_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

/* ---- what a file says about itself ---- */

enum as_perf_format { AS_PERF_FILE, AS_PERF_PIPE, AS_PERF_SCRIPT };

struct as_perf_pmu {
    uint32_t type; /* as in as_perf_event.type */
    const char *name;
};

/* Converts ticks of the processor's timer (TSC, Arm's generic timer) to the recording's nanoseconds. */
struct as_perf_ticks {
    bool known;
    uint64_t shift, multiplier, zero;
    uint64_t cycles, mask; /* for counters that have fewer bits than the ticks; mask 0: they have as many */
};

/* Strings are NULL and numbers 0 if the file does not contain them. */
struct as_perf_info {
    enum as_perf_format format;
    bool swapped; /* its byte order is not that of this machine */
    const char *host, *os_release, *version, *arch, *cpu, *cpu_id;
    const char *command; /* words with a space between them */
    uint32_t cpus_online, cpus_available;
    uint64_t memory_kib;
    uint64_t first_time, last_time; /* of samples, according to the file; the summary has what was read */
    uint64_t features[4];           /* bit n: the file has feature n */
    struct as_perf_pmu *pmus;
    size_t n_pmus;
    uint32_t aux_type; /* who wrote the AUX data: AS_PERF_AUX_*; 0: none */
    struct as_perf_ticks ticks;
};
uint64_t as_perf_ticks_time(const struct as_perf_info *info, uint64_t ticks); /* AS_PERF_NO_TIME: not known */

enum { AS_PERF_AUX_INTEL_PT = 1, AS_PERF_AUX_INTEL_BTS = 2, AS_PERF_AUX_ARM_SPE = 4 };

/* A recorded event: perf's attr with its name. Lives as long as the reader. */
struct as_perf_event {
    uint32_t index;   /* 0, 1 … in the order of the file */
    const char *name; /* as perf shows it ("cycles:ppp"), else made from type and config; never NULL */
    const char *pmu;  /* "cpu", "ibs_op" …; NULL where unknown */
    uint32_t type;
    uint64_t config, config1, config2;
    uint64_t period, frequency; /* one of them is 0 */
    unsigned precise;           /* precise_ip */
    uint64_t sample_type, read_format, branch_type, regs_user, regs_intr;
    uint64_t flags; /* the bit field of perf_event_attr, `disabled` in bit 0, whatever the byte order of the file */
    uint32_t stack_user;
    uint16_t max_stack; /* most frames of a call chain; 0: the kernel's setting */
    int32_t clock;      /* clockid; -1: perf's own */
    /* Counted while reading. */
    uint64_t samples, total_period, lost, throttled;
    uint64_t without_period; /* samples of a text without a column for the period: each counts as 1 */
};

bool as_perf_event_is_clock(const struct as_perf_event *event); /* cpu-clock, task-clock */
/* The unit of its periods: "nanoseconds" for clocks, "samples" if the samples have no periods, "taken branches" or "instructions" of
 * a raw event that has a name of the user's own, else the event without its modifiers ("cycles"). The caller frees. */
char *as_perf_event_unit(const struct as_perf_event *event);

/* ---- what happened ---- */

enum as_perf_mode {
    AS_PERF_MODE_UNKNOWN,
    AS_PERF_KERNEL,
    AS_PERF_USER,
    AS_PERF_HYPERVISOR,
    AS_PERF_GUEST_KERNEL,
    AS_PERF_GUEST_USER
};

#define AS_PERF_NO_TIME UINT64_MAX

enum { AS_PERF_BUILD_ID_MAX = 20 };
struct as_perf_build_id {
    uint8_t size; /* 0: unknown */
    uint8_t bytes[AS_PERF_BUILD_ID_MAX];
};

enum as_perf_process_kind { AS_PERF_MAP, AS_PERF_COMM, AS_PERF_FORK, AS_PERF_EXIT };

struct as_perf_process {
    enum as_perf_process_kind kind;
    uint32_t pid, tid, parent_pid, parent_tid; /* parents: fork and exit */
    uint64_t time;                             /* nanoseconds, or AS_PERF_NO_TIME */
    enum as_perf_mode mode;
    /* COMM: by execve, which drops all mappings. FORK: perf wrote it for a process that already existed; its own
     * mappings follow instead of the parent's. */
    bool exec;
    const char *name; /* COMM: the thread's; MAP: the file's path or "[heap]", "//anon" … */
    /* MAP: */
    uint64_t start, length, offset;
    bool data;             /* not mapped for execution */
    uint32_t prot, flags;  /* 0 if the record does not contain them */
    uint32_t major, minor; /* the file's device */
    uint64_t inode;        /* 0: unknown */
    struct as_perf_build_id build_id;
};

struct as_perf_ksymbol {
    uint64_t address, time;
    uint32_t length;
    const char *name;
    bool gone; /* the thread ends here */
};

enum as_perf_loss_kind { AS_PERF_LOST, AS_PERF_LOST_SAMPLES, AS_PERF_THROTTLE, AS_PERF_UNTHROTTLE };

struct as_perf_loss {
    enum as_perf_loss_kind kind;
    const struct as_perf_event *event; /* NULL: unknown */
    uint64_t count, time;              /* count: records or samples lost; 1 for throttling */
    uint32_t cpu;                      /* UINT32_MAX: unknown */
};

/* The thread that runs on a processor from now on: context switches, and the thread at the start of a trace. */
struct as_perf_switch {
    uint32_t pid, tid, cpu;
    uint32_t other_pid, other_tid; /* the thread that comes, or ran before; 0 if the record does not contain it */
    uint64_t time;
    bool out, preempted;
};

/* Trace data written by the processor, in pieces. */
struct as_perf_aux {
    uint32_t index, tid, cpu; /* of the buffer; tid and cpu UINT32_MAX: any */
    uint64_t offset;          /* position of the piece in everything that the buffer ever held */
    uint64_t left;            /* bytes of the same record that follow */
    const uint8_t *data;
    size_t size;
};

/* ---- samples ---- */

struct as_perf_branch {
    uint64_t from, to;
    bool mispredicted, predicted, in_transaction, abort; /* neither of the first two: not recorded */
    uint16_t cycles;                                     /* since the preceding branch; 0: unknown */
    uint8_t type, speculation, new_type, privilege;      /* PERF_BR_* */
};

struct as_perf_regs {
    uint64_t abi, mask;     /* abi 0: none were saved */
    const uint64_t *values; /* one for each bit of mask, from the lowest */
    size_t count;
};

struct as_perf_read_value {
    uint64_t value, id, lost;
};

/* A frame that the recording has a name for (`perf script` text only). The ip is as perf prints it: in chains, the
 * offset in the file for user code and the address for the kernel's. */
struct as_perf_frame {
    uint64_t ip;
    const char *symbol; /* NULL: "[unknown]" */
    uint64_t offset;    /* in the symbol; UINT64_MAX: not printed */
    const char *module; /* NULL: not printed */
    uint64_t in_module; /* offset in the module's file; UINT64_MAX: not printed */
    const char *file;   /* of its source; NULL: not printed, or unknown to perf */
    uint32_t line;
    bool inlined;
};

/* Everything that a sample can contain. `has` lists the PERF_SAMPLE_* fields that are there; the others are 0, except
 * period, which is then the event's own (or 1), pid and tid (UINT32_MAX), cpu (UINT32_MAX) and time (AS_PERF_NO_TIME).
 * Pointers are valid during the call. */
struct as_perf_sample {
    struct as_perf_event *event;
    uint64_t has;
    enum as_perf_mode mode;
    bool exact_ip;    /* the processor guarantees that ip is the sampled instruction */
    const char *comm; /* perf script text only */

    uint64_t id, stream_id;
    uint64_t ip, addr, time, period;
    uint32_t pid, tid, cpu;

    const struct as_perf_read_value *values;
    size_t n_values;
    uint64_t time_enabled, time_running;

    const uint64_t *chain; /* innermost first, with PERF_CONTEXT_* marks: see as_perf_chain_next */
    size_t n_chain;
    const struct as_perf_frame *frames; /* innermost first */
    size_t n_frames;

    const uint8_t *raw;
    size_t raw_size;

    const struct as_perf_branch *branches; /* newest first */
    size_t n_branches;
    int64_t branch_index; /* hw_idx; -1: unknown */
    const uint64_t *branch_counters;

    struct as_perf_regs user_regs, intr_regs;
    const uint8_t *stack; /* from the stack pointer up */
    size_t stack_size, stack_valid;

    uint64_t weight;           /* WEIGHT: all of it; WEIGHT_STRUCT: the first part, mostly the latency in cycles */
    uint16_t weight2, weight3; /* WEIGHT_STRUCT: Intel: cycles to issue or retire; 0 elsewhere */
    uint64_t data_src, transaction, physical, cgroup, data_page_size, code_page_size;
    const uint8_t *aux;
    size_t aux_size;
};

/* Walks a chain without its marks: returns the next address and its mode. `*at` starts at 0; `*mode` starts as the
 * sample's. Returns false at the end. */
bool as_perf_chain_next(const struct as_perf_sample *sample, size_t *at, uint64_t *ip, enum as_perf_mode *mode);

/* A register by its number in the architecture's asm/perf_regs.h; false: not saved. */
bool as_perf_reg(const struct as_perf_regs *regs, unsigned number, uint64_t *value);

/* ---- the reader ---- */

/* Any member may be NULL. Each is called on the thread of as_perf_reader_run, in the order of time as far as the file
 * allows; `event` once for each event, before anything that refers to it. A member that returns false ends the run,
 * which then returns false; it may set err. */
struct as_perf_sink {
    bool (*event)(void *context, const struct as_perf_event *event, struct as_error *err);
    bool (*build_id)(void *context, const char *path, enum as_perf_mode mode, const struct as_perf_build_id *id,
                     struct as_error *err);
    bool (*process)(void *context, const struct as_perf_process *process, struct as_error *err);
    bool (*ksymbol)(void *context, const struct as_perf_ksymbol *symbol, struct as_error *err);
    bool (*sample)(void *context, const struct as_perf_sample *sample, struct as_error *err);
    bool (*loss)(void *context, const struct as_perf_loss *loss, struct as_error *err);
    bool (*context_switch)(void *context, const struct as_perf_switch *change, struct as_error *err);
    bool (*aux)(void *context, const struct as_perf_aux *aux, struct as_error *err);
};

enum { AS_PERF_RECORD_TYPES = 96 };

struct as_perf_summary {
    uint64_t records[AS_PERF_RECORD_TYPES]; /* by PERF_RECORD_* number, unpacked ones included */
    uint64_t other_records;                 /* with higher numbers */
    uint64_t samples;                       /* delivered */
    uint64_t bad_samples;                   /* shorter than their contents */
    uint64_t unknown_ids;                   /* of unknown events: left out */
    uint64_t lost, lost_samples, throttled, unthrottled;
    uint64_t out_of_order; /* records delivered after a later one */
    uint64_t packed_bytes, unpacked_bytes, aux_bytes;
    uint64_t aux_truncated, aux_collisions; /* AUX records with these flags */
    uint64_t first_time, last_time;         /* of samples; AS_PERF_NO_TIME: none had one */
    uint64_t skipped_lines;                 /* perf script text: lines that are neither a sample nor a frame */
    bool incomplete;                        /* the records end early, or become invalid */
    char problem[256];                      /* one line, or "" */
};

struct as_perf_options {
    uint64_t queue_limit; /* bytes of records kept to put them in order; 0: AS_PERF_QUEUE_LIMIT */
};
#define AS_PERF_QUEUE_LIMIT ((uint64_t)512 << 20)

struct as_perf_reader;
/* `path` "-" is standard input. On failure returns NULL and one line in err. */
struct as_perf_reader *as_perf_reader_open(const char *path, const struct as_perf_options *options,
                                           struct as_error *err) AS_MUST_CHECK;
/* The bytes must outlive the reader. */
struct as_perf_reader *as_perf_reader_memory(const void *bytes, size_t size, const struct as_perf_options *options,
                                             struct as_error *err) AS_MUST_CHECK;
bool as_perf_reader_run(struct as_perf_reader *reader, const struct as_perf_sink *sink, void *context,
                        struct as_error *err) AS_MUST_CHECK; /* call this once */
const struct as_perf_info *as_perf_reader_info(const struct as_perf_reader *reader);
const struct as_perf_summary *as_perf_reader_summary(const struct as_perf_reader *reader);
size_t as_perf_reader_events(const struct as_perf_reader *reader);
const struct as_perf_event *as_perf_reader_event(const struct as_perf_reader *reader, size_t index);
void as_perf_reader_close(struct as_perf_reader *reader);

const char *as_perf_record_name(uint32_t type); /* "MMAP2" …; NULL: unknown */

#endif
