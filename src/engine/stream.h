/* From the words of a thread's lane to block executions: what completed, which way branches went, rep iterations,
 * signals. One stream a guest thread. */
#ifndef AS_ENGINE_STREAM_H
#define AS_ENGINE_STREAM_H

#include "base/vec.h"
#include "engine/code_table.h"
#include "engine/engine.h"
#include "engine/hops.h"
#include "engine/ways.h"
#include "region/region_run.h"

/* A process, as far as its threads' streams need it. */
struct as_process {
    uint32_t number, image;
    int32_t pid;
    int pidfd; /* -1: none */
    bool dead;
    uint32_t thread, thread_image; /* its first thread's number, and the image that it ran last */
};

/* Where blocks have stamps: when the current block began, and up to where blocks may be told (causal_reading.h). */
struct as_causal {
    bool stamped, pass;   /* pass: the block that is held may be told */
    uint64_t time, begun; /* the last whole time; the time of the current block */
    uint64_t held;        /* what comes next decides, ended then and is not told yet; 0: no */
    uint64_t horizon;     /* a block that decides and ended before then may be told */
    uint64_t bound;       /* a block that began later is not told yet */
};

static inline bool as_causal_holds(const struct as_causal *causal)
{
    return causal->held || causal->begun > causal->bound;
}

struct as_stream {
    struct as_thread thread;
    struct as_code_table *code;
    struct as_region_run *regions; /* of all streams together */
    const struct as_sink *sink;
    void *context;
    uint32_t *disagreements;
    uint64_t *clock_calls; /* of all streams together, by enum as_clock_call; may be NULL */
    bool blocks_only;      /* no block's accesses are recorded, but for those that vary */
    bool bare;             /* … of the block that is being executed */
    uint64_t blind;    /* instructions that were reported to the sink without the accesses that it should have had */
    uint64_t executed; /* instructions of blocks that ended, counted as the plugin counts them */
    AS_VEC(struct as_ways) ways; /* by block id */
    AS_VEC(uint32_t) counted;    /* ids of blocks that were counted since the last report, once each */
    AS_VEC(struct as_hop) hops;  /* transfers of a counted stretch that the sink does not know of yet */
    bool near;                   /* the sink is told all executions of the stretch's last part */
    bool summed;                 /* what was counted since the last report is to be reported */
    uint32_t doubts;             /* of the code table, when the ways were learned */

    struct as_block *block; /* being executed; its accesses are collected in carry when a piece of the ring ended */
    uint64_t registers[AS_LINEAR_REGISTERS]; /* at the block's start, if has_registers */
    bool has_registers;
    AS_VEC(uint64_t) carry;
    uint32_t block_id; /* … by the plugin's number */
    uint32_t in_vain,
        refused; /* how long blocks go by after an offer that the sink refused (as_sink.take); … for how many more */
    bool continues;       /* block goes on with a rep instruction */
    bool iterates;        /* and so did the one before */
    uint64_t rep_address; /* the thread last executed the rep instruction there */
    bool told; /* the block before was reported to the sink, to its end (kept up to date where that may matter) */
    bool in_sigreturn;
    bool
        lands; /* in a counted stretch: the block at hand is where a signal led to, or where the thread goes on behind a handler */
    const struct as_block *left; /* for as_sink.cut: the last execution was of it, to its end; NULL: none */
    uint64_t led;                /* … and led there; 0: not known */
    struct as_causal causal;
    AS_VEC(uint64_t) interrupted_reps; /* for each handler that runs: the rep_address to go on with, or 0 */
};

enum as_stream_status {
    AS_STREAM_OK,
    AS_STREAM_NEEDS_CODE, /* an unknown block comes next: the code lanes have to be read first */
    AS_STREAM_CORRUPT,
    AS_STREAM_HELD, /* the current block may not be told yet: see struct as_causal */
};
/* Consumes words, as many as make whole records, and stores their number in *done. */
enum as_stream_status as_stream_consume(struct as_stream *stream, const uint64_t *words, size_t n, size_t *done);
void as_stream_finish(struct as_stream *stream); /* the thread executes nothing more */
/* Measuring begins or ends: see as_sink.cut. */
void as_stream_cut(struct as_stream *stream, bool ends);
void as_stream_free(struct as_stream *stream);

#endif
