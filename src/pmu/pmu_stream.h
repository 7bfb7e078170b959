/* A modelled unit at work: an observer of the core model's records that takes samples as the unit would.
 *
 * Each guest thread has a core of its own, and so a unit of its own. The unit does not slow the program down: what its
 * samples cost is computed afterwards (pmu_cost.h), and the records stay those of a run that nobody watches. System
 * calls are followed by a stub of kernel instructions that the core model does not have: they take a cycle each, of the
 * unit's time alone.
 *
 * Calls: new, added to a fan-out as as_pmu_observer, then `counts`. Samples come on the observer's thread, or from
 * finish, in the order in which the unit completes them.
 */
#ifndef AS_PMU_STREAM_H
#define AS_PMU_STREAM_H

#include "assay/observer.h"
#include "pmu/pmu_request.h"

#define AS_PMU_KERNEL_TEXT UINT64_C(0xffffffff81000000) /* where the stub lies */
#define AS_PMU_NO_INSN UINT32_MAX

struct as_pmu_branch {
    uint64_t from, to;
    uint32_t cycles; /* since the one before; 0: unknown */
    bool mispredicted;
};
enum { AS_PMU_LBR_MAX = 64 };

struct as_pmu_sample {
    uint32_t counter;    /* of the request */
    uint32_t thread;     /* number of the guest thread */
    uint32_t insn, path; /* as in as_pipe; AS_PMU_NO_INSN: of the kernel stub */
    uint64_t ip;         /* as the unit says */
    uint64_t cycle;      /* in which it was complete, of its core with the stub's cycles */
    uint64_t weight;     /* what it stands for, of what the event counts */
    uint64_t address;    /* of data; 0: none */
    uint32_t size;       /* bytes */
    uint8_t access;      /* AS_ACCESS_* */
    uint8_t class_;      /* enum as_class */
    uint16_t flags;      /* enum as_pipe_flag */
    uint32_t insn_flags; /* enum as_insn_flag */
    uint32_t events;     /* enum as_event */
    uint32_t latency;    /* cycles from issue to the result */
    uint32_t issued;     /* … from dispatch to issue */
    uint32_t completed;  /* … from the result to retirement */
    uint32_t retired;    /* … from dispatch to retirement */
    uint64_t target;     /* of a taken branch, where the unit tells; 0: unknown */
    bool kernel;         /* the mode that the sample tells */
    bool was_kernel;     /* the mode that the instruction was executed in */
    uint32_t n_branches;
    const struct as_pmu_branch *branches; /* newest first; valid during the call */
};

typedef void as_pmu_take(void *context, const struct as_pmu_sample *sample);

/* Of one counter, over all threads. */
struct as_pmu_counts {
    uint64_t happened; /* what the event counts, in the whole run */
    uint64_t counted;  /* … while the counter was on it */
    uint64_t overflows, samples;
    uint64_t missed;     /* overflows while the sample before was not taken yet */
    uint64_t squashed;   /* tags on the wrong path */
    uint64_t collisions; /* SPE: chosen while the one before was in flight */
    uint64_t filtered;   /* SPE: taken and not wanted */
};

struct as_pmu_stream;
struct as_pmu_stream *as_pmu_stream_new(const struct as_run_info *run, const struct as_pmu_request *request,
                                        as_pmu_take *take, void *context, struct as_error *err) AS_MUST_CHECK;
void as_pmu_stream_free(struct as_pmu_stream *stream); /* the fan-out does that for its observers */
extern const struct as_observer as_pmu_observer;

/* After the run. */
const struct as_pmu_counts *as_pmu_stream_counts(const struct as_pmu_stream *stream, size_t counter);
uint64_t as_pmu_stream_cycles(const struct as_pmu_stream *stream);  /* of all cores, without the stub's */
uint64_t as_pmu_stream_threads(const struct as_pmu_stream *stream); /* that had records */

#endif
