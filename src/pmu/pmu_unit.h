/* The inside of a stream: what the kinds of units share. See pmu_stream.h. */
#ifndef AS_PMU_UNIT_H
#define AS_PMU_UNIT_H

#include "assay/edge.h"
#include "base/vec.h"
#include "pmu/pmu_stream.h"

#define AS_PMU_NEVER UINT64_MAX

/* A static instruction, as units see it. */
struct as_pmu_code {
    uint64_t address;
    uint32_t flags;    /* enum as_insn_flag */
    uint32_t counters; /* bit i: counter i may count it */
    uint8_t class_;
    bool known, system;
};

/* An executed one, of the program or of the kernel stub. */
struct as_pmu_op {
    const struct as_pipe *pipe;
    const struct as_pmu_code *code;
    size_t index; /* of its record in the batch */
    bool kernel;
};

struct as_pmu_lbr {
    struct as_pmu_branch ring[AS_PMU_LBR_MAX];
    uint32_t n, next; /* entries; where the next one goes */
    uint64_t last;    /* retirement of the newest */
    bool open;        /* the newest lacks its target */
};

struct as_pmu_pebs {
    uint64_t count[AS_PMU_COUNTERS_MAX];
    uint64_t armed_at[AS_PMU_COUNTERS_MAX]; /* the unit records the event from this cycle on; NEVER: it is not armed */
    uint64_t slice_end;
    uint64_t clock;  /* the retirement of what was counted last */
    uint32_t active; /* bit i: counter i is on the hardware */
};

/* One tag of a unit: IBS has one for operations and one for fetches, SPE has one. */
struct as_pmu_tag {
    uint64_t count, limit;
    uint64_t due;          /* what is dispatched after this cycle is tagged; NEVER: not yet */
    uint64_t resume;       /* nothing is counted that was dispatched before */
    uint64_t group;        /* the dispatch cycle that the candidate is chosen from; NEVER: none */
    uint32_t seen;         /* operations of that group */
    uint64_t interrupt_at; /* NEVER: no sample waits */
    bool wants_next;       /* the sample gets the address of what follows */
    struct as_pmu_sample sample;
    struct as_pmu_branch branches[AS_PMU_LBR_MAX];
};

struct as_pmu_tip {
    uint64_t due;    /* the next sampling cycle */
    uint64_t commit; /* the last one */
    uint16_t flags;  /* of the last record */
    struct as_pmu_sample last;
    AS_VEC(struct as_pmu_sample) group; /* that commits in a sampling cycle */
};

/* A thread's unit. */
struct as_pmu_core {
    struct as_pmu_stream *stream;
    uint32_t thread;
    uint64_t shift;  /* cycles of the kernel stub so far */
    uint64_t before; /* … of programs that the thread executed before */
    uint64_t commit; /* the last one of the program */
    uint64_t fetch;  /* of the last record */
    uint64_t seed;
    struct as_pmu_lbr lbr;
    struct as_pmu_pebs pebs;
    struct as_pmu_tag op, fetches;
    struct as_pmu_tip tip;
    uint64_t spe_busy;      /* until its sample has retired */
    uint32_t behind_target; /* SPE: instructions since the last branch target */
    uint64_t target;        /* … its address, and instruction */
    uint32_t target_insn;
    bool was_taken;
};

/* What a block counts, by the number of its edge (assay/edge.h). */
enum { AS_PMU_SUMS = 4 };
struct as_pmu_sums {
    uint16_t counts[AS_PMU_SUMS]; /* events of the first counters */
    uint16_t uops;
    bool known;
    bool apart;       /* its records are needed: a system call */
    uint32_t wrong;   /* operations that are dispatched behind its branches and squashed */
    uint16_t flags;   /* of the last record */
    bool begins;      /* has an instruction that is not continued; at this address */
    uint16_t n_taken; /* branches that were taken: as_pmu_stream.taken from first_taken on */
    uint32_t first_taken;
    uint64_t address;
};

/* A block, and when it is dispatched and retires. */
struct as_pmu_span {
    uint64_t dispatch, last_dispatch, commit;
    const struct as_edge_run *run;
};

struct as_pmu_unit {
    bool needs_all; /* every record, not only those that a counter may count */
    void (*open)(struct as_pmu_core *core);
    void (*op)(struct as_pmu_core *core, const struct as_pmu_op *op);
    void (*finish)(struct as_pmu_core *core); /* nothing follows; may be NULL */
    /* Counts a whole block. False where a sample may be chosen or taken in it: then it gets the records. NULL: it always
     * does. */
    bool (*skip)(struct as_pmu_core *core, const struct as_pmu_sums *sums, const struct as_pmu_span *span);
};
extern const struct as_pmu_unit as_pmu_unit_pebs, as_pmu_unit_ibs, as_pmu_unit_spe, as_pmu_unit_tip;

struct as_pmu_stream {
    const struct as_run_info *run;
    struct as_pmu pmu;
    struct as_pmu_request request;
    const struct as_pmu_unit *unit;
    as_pmu_take *take;
    void *context;
    struct as_pmu_counts counts[AS_PMU_COUNTERS_MAX];
    AS_VEC(struct as_pmu_code) code;    /* by instruction */
    AS_VEC(struct as_pmu_core *) cores; /* by thread */
    AS_VEC(struct as_pmu_sums) sums;    /* by edge */
    AS_VEC(uint32_t) taken;             /* their taken branches: numbers of records */
    uint64_t cycles;
    uint64_t slice; /* cycles of a multiplexing interval */
    const struct as_pipe_batch *batch;
    size_t next_access; /* in it */
};

static inline uint64_t as_pmu_commit(const struct as_pmu_core *core, const struct as_pmu_op *op)
{
    return op->pipe->commit + core->shift;
}
static inline uint64_t as_pmu_dispatch(const struct as_pmu_core *core, const struct as_pmu_op *op)
{
    return op->pipe->dispatch + core->shift;
}
static inline bool as_pmu_counts_mode(const struct as_pmu_counter *counter, bool kernel)
{
    return kernel ? counter->kernel : counter->user;
}

/* pmu_stream.c: a thread's unit, at the start of a batch, and at its end, with the last commit. */
struct as_pmu_core *as_pmu_begin(struct as_pmu_stream *stream, const struct as_pipe_batch *batch, uint32_t thread);
void as_pmu_end(struct as_pmu_core *core, uint64_t commit);
void as_pmu_learn(struct as_pmu_stream *stream, uint32_t id);
static inline const struct as_pmu_code *as_pmu_code_of(struct as_pmu_stream *stream, uint32_t id)
{
    if (__builtin_expect(id >= stream->code.len || !stream->code.data[id].known, 0))
        as_pmu_learn(stream, id);
    return &stream->code.data[id];
}
/* Records, the first of which has this index in the batch. */
void as_pmu_feed(struct as_pmu_core *core, const struct as_pipe *pipes, size_t n, size_t first);

/* pmu_edges.c */
void as_pmu_edges(void *self, const struct as_edge_batch *batch);
void as_pmu_forget(void *self);

/* What a sample of this instruction says, apart from branches. */
void as_pmu_describe(struct as_pmu_core *core, uint32_t counter, const struct as_pmu_op *op,
                     struct as_pmu_sample *sample);
/* Describes the instruction and passes the sample on. */
void as_pmu_sample_now(struct as_pmu_core *core, uint32_t counter, const struct as_pmu_op *op);
void as_pmu_pass_on(struct as_pmu_core *core, const struct as_pmu_sample *sample);

/* pmu_lbr.c */
void as_pmu_lbr_note(struct as_pmu_core *core, const struct as_pmu_op *op);
void as_pmu_lbr_arrive(struct as_pmu_core *core, uint64_t address); /* what was retired behind the newest branch */
uint32_t as_pmu_lbr_read(const struct as_pmu_core *core, struct as_pmu_branch *branches); /* newest first */

/* pmu_kernel.c: what follows a system call. */
void as_pmu_kernel_run(struct as_pmu_core *core, const struct as_pmu_op *call);

/* pmu_tag.c */
void as_pmu_tag_restart(struct as_pmu_core *core, struct as_pmu_tag *tag, uint32_t counter, uint64_t resume);
/* Takes the operation as the tag's sample; it waits for the interrupt. */
void as_pmu_tag_put(struct as_pmu_core *core, struct as_pmu_tag *tag, uint32_t counter, const struct as_pmu_op *op);
/* If the interrupt has come by the time of this operation: passes the sample on and counts again. */
void as_pmu_tag_settle(struct as_pmu_core *core, struct as_pmu_tag *tag, uint32_t counter, const struct as_pmu_op *op);
/* The last operation has passed. */
void as_pmu_tag_finish(struct as_pmu_core *core, struct as_pmu_tag *tag, uint32_t counter);
/* Dispatched behind a branch and squashed: the cycles from `start` to below `end`; false: none. */
bool as_pmu_wrong_path(const struct as_pmu_core *core, const struct as_pmu_op *op, uint64_t *start, uint64_t *end);

#endif
