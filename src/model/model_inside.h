/* The inside of the model: what its files share. See model.h.
 *
 *   model.c             one run: set up, observers' questions, results
 *   model_threads.c     threads and their cores, their time, the batches that they fill
 *   model_stretches.c   what to do with the stretches of a run: count, warm, measure
 *   model_warm.c        blocks that warm
 *   warm_words.c        what warms, on its way to a core
 *   model_sieve.c       counted stretches whose accesses are sieved
 *   model_time.c        time that passes where nothing is modelled
 *   model_twin.c        copies of a run that measure one stretch of it
 *   model_blocks.c      the way of a block into its core, and of its records into a batch
 *   model_together.c    cores of several threads on the other host thread
 *   model_words.c       … of blocks that come as they came before, straight from QEMU's words
 */
#ifndef AS_MODEL_MODEL_INSIDE_H
#define AS_MODEL_MODEL_INSIDE_H

#include "base/vec.h"
#include "count/targets.h"
#include "engine/sieve.h"
#include "model/ahead.h"
#include "model/bodies.h"
#include "model/chains.h"
#include "model/executed.h"
#include "model/measure.h"
#include "model/model.h"
#include "model/model_cores.h"
#include "model/shared_memory.h"
#include "model/string_run.h"

enum { AS_MODEL_ROUNDS = 4 }; /* of which times are kept */
enum { HOST_LINE = 64 };      /* bytes: what two host threads write lies further apart */

/* What was measured of late, weighted. */
struct as_model_pace {
    double cycles, instructions;
};

/* What a thread had named itself when it ended or executed another program. */
struct as_model_name {
    uint32_t thread, image;
    char name[sizeof(((struct as_thread *)0)->name)];
};

struct model_thread {
    struct as_seat seat; /* its core; empty if the thread has ended */
    uint32_t number, image, process;
    int32_t pid;
    bool forked; /* its process has its parent's pages, and has touched none of them itself */
    bool runs;
    bool woken;             /* it does not run yet, but the thread that woke it is known, and when */
    struct as_model *model; /* context of code_at */
    struct as_path_book *book;
    struct as_counters before; /* what its core had counted when the measured stretch began */
    uint64_t left_at;          /* its core's cycle at the end of the last measured stretch */
    struct as_model_pace pace;
    struct as_string_run strings;
    double due;      /* cycles of counted and warming instructions by which its time is still to go on */
    uint64_t *slots; /* of its sieve (model_sieve.c); NULL: it has accessed nothing in a counted stretch */
    /* What the reading thread writes for each call and return. A core that runs apart reads what is above and writes what is
     * below, so that it lies on host lines of its own. */
    char line_before[HOST_LINE];
    bool followed; /* while warming: the call tracker knows where the thread is */
    uint32_t path; /* call path of the next block; 0: still to be determined */
    char line_behind[HOST_LINE];
    /* From here on the core's, which may run apart. */
    struct as_pipe_buffer *buffer;   /* the batch being filled; NULL: none */
    size_t n;                        /* number of records in it */
    uint64_t cycles_before;          /* of programs that the thread executed before this one */
    uint64_t told;                   /* the last commit of this program that observers have seen */
    struct as_stay_log stays;        /* used only if an observer wants occupancy */
    uint64_t border, shift;          /* records are reported `shift` cycles earlier, but not before `border` */
    bool within;                     /* the stretch has executed a block */
    bool drops;                      /* the memo is full */
    uint64_t noted[AS_MODEL_ROUNDS]; /* its time at the end of the last rounds: model_together.c */
    char last_line[HOST_LINE];
};

enum { AS_MODEL_MARKS = 1 << 12 }; /* that are remembered */

/* What warms a core and is still to be done: see warm_words.c. */
struct as_warm_words {
    struct as_core *core;
    bool apart; /* the core that runs apart only warms */
    size_t n;
    uint64_t words[AS_AHEAD_WORDS];
};

/* See model_together.c. */
struct as_model_together {
    bool on, ran;                 /* ran: blocks have come since the last round ended. Cores that run apart read `on` */
    uint32_t quiet, quiet_enough; /* rounds in which no core had to be asked; so many are enough */
    uint64_t round, seen;         /* the one at hand, and the one whose times are looked at */
    uint64_t handed[AS_MODEL_ROUNDS]; /* what has been put into the queue by the end of each */
    bool shared[AS_MODEL_ROUNDS];     /* lines had moved between cores then */
};

struct as_model {
    const struct as_machine *machine;
    struct as_uncore *uncore;
    struct as_engine *engine;
    struct as_fanout *fanout;
    uint32_t wants; /* AS_WANT_* of the observers */
    struct as_call_tracker *calls;
    struct as_paths paths;
    struct as_run_info info;
    as_open_file *open; /* NULL: observers cannot write files */
    void *open_context;
    AS_VEC(struct model_thread *) threads; /* by thread number - 1 */
    AS_VEC(struct as_model_name) names;    /* that threads have given themselves, in the order of their ends */
    struct as_model_cores cores;
    struct as_stretch stretch;
    struct as_measure measure;
    struct as_model_pace pace; /* of all threads */
    as_model_pace_of *pace_of; /* NULL: paces are those that were measured */
    void *pace_context;
    uint64_t let_pass, retired; /* cycles: of instructions that were not modelled; of cores whose threads have ended */
    uint64_t marks[AS_MODEL_MARKS]; /* by number: when what was stored before it could be seen */
    uint64_t stopped;               /* the latest time at which a thread stopped, to wait or for good */
    struct as_model_result total;   /* counts of threads that have ended */
    struct as_memo *memo;           /* NULL: none */
    struct as_pipe *records;        /* of the run at hand */
    struct as_bodies bodies;
    struct as_model_sieve *sieve; /* NULL: nobody sees accesses of counted stretches */
    struct as_ahead *ahead;       /* NULL: cores never run apart */
    struct model_thread *taking;  /* the thread whose core runs apart now, as the other host thread has it */
    uint32_t n_cores;
    bool shared;                 /* there have been two cores at a time: lines may be elsewhere */
    as_on_transfer *on_transfer; /* NULL: transfers are not reported */
    void *transfer_context;
    struct as_shared_memory *memory_shared; /* between processes */
    const struct as_sink *kernel_calls;     /* NULL: nobody asks */
    void *calls_context;
    as_ideal_of *ideal_of;
    void *ideal_context;
    AS_VEC(struct also {
        const struct as_sink *sink;
        void *context;
    })
    also;
    as_region_measured *measured; /* NULL: not reported */
    void *measured_context;
    struct as_model_together together;
    uint32_t shares;               /* for how many more blocks the threads are read in small steps */
    AS_VEC(uint32_t) ideals;       /* by instruction; only with ideal_of */
    AS_VEC(struct as_insn *) nops; /* nops that replace removed instructions; NULL for all others */
    char own_line[HOST_LINE];
    /* From here on what the reading thread writes for each block: a core that runs apart reads what is above. */
    uint64_t instructions;
    struct model_thread *apart; /* the thread whose core runs apart now; NULL: none */
    uint64_t calm, calm_enough; /* blocks since the last interruption; how many of them make a core run apart */
    uint64_t apart_for;         /* … and how many ran apart */
    struct as_targets leaders;
    struct as_chains chains; /* on their way to a core that runs apart */
    struct as_executed executed;
    AS_VEC(uint8_t) warm_ways; /* by block: how its accesses are read where they warm */
    struct as_warm_words warm;
};

enum { CALM_LEAST = 2000, CALM_MOST = 256000 }; /* in blocks */

/* ---- model.c ---- */

/* Whether an observer wants to see code that is only counted. */
bool as_model_counts_all(const struct as_model *model);
/* For a block that is executed for the first time. */
void as_model_note_executed(struct as_model *model, const struct as_block *block);

/* ---- model_threads.c ---- */

void as_model_thread_start(void *context, struct as_thread *thread);
void as_model_thread_end(void *context, struct as_thread *thread);
/* A thread that starts or returns from a system call continues at the present: the time of the slowest running thread
 * or, if none runs, the time at which the last one stopped. */
void as_model_catch_up(struct as_model *model, struct model_thread *thread);
void as_model_stop(struct as_model *model, struct model_thread *thread);
/* Sends the thread's batch to the observers. */
void as_model_publish(struct as_model *model, struct model_thread *own, uint32_t number, bool last);
void as_model_settle_apart(struct as_model *model);

/* Call this before handling anything but a block. */
static inline void as_model_settle(struct as_model *model)
{
    if (model->apart)
        as_model_settle_apart(model);
    model->calm = 0;
    model->together.quiet = 0;
}

/* ---- model_stretches.c ---- */

void as_model_stretch(void *context, const struct as_stretch *stretch);
/* Takes over what the kernel knows of pages that were touched while nobody saw accesses. */
void as_model_gap_end(void *context);
/* Code that is only counted is also reported to observers that count it, and it needs a location in the profile. */
void as_model_skipped(void *context, struct as_thread *thread, const struct as_block *block, uint32_t first,
                      uint32_t end, uint64_t times);
/* ---- model_warm.c ---- */

/* Updates caches, TLBs and predictors with a block. */
void as_model_warm_block(struct as_model *model, struct as_thread *thread, const struct as_block_exec *exec);

/* ---- warm_words.c ---- */

/* What comes next warms this thread's core; where that is possible, on the other host thread. */
void as_model_warm_begin(struct as_model *model, struct model_thread *own);
/* … but in place. */
void as_model_warm_in_place(struct as_model *model, const struct model_thread *own);
/* What has come is done before the core is used in place. */
void as_model_warm_end(struct as_model *model);
void as_model_warm_flush(struct as_model *model);
/* What comes through `ahead`, on that one's host thread. */
void as_model_warm_apart(void *context, const uint64_t *words, size_t n);

/* The code of a block is fetched; its control transfer happens. */
void as_model_warm_fetch(struct as_model *model, const struct as_block *block);
void as_model_warm_control(struct as_model *model, const struct as_block *block, bool taken, uint64_t next);
void as_model_warm_both(struct as_model *model, const struct as_block *block, bool taken, uint64_t next);
void as_model_warm_range(struct as_model *model, uint64_t address, uint64_t end); /* code */
/* A word of an execution that is one access. */
void as_model_warm_word(struct as_model *model, uint64_t word);
void as_model_warm_access(struct as_model *model, const struct as_access *access);
/* The core waits so many cycles. */
void as_model_warm_wait(struct as_model *model, uint64_t cycles);
/* What the core mispredicted without time before this is stored there: known when the core has settled. */
void as_model_warm_mark(struct as_model *model, uint64_t *mispredictions);

/* ---- model_time.c ---- */

/* The stretch that was measured of the thread ends. */
void as_model_learn_pace(struct as_model *model, struct model_thread *own);
/* The thread has executed a part of a block, so often, that does not go through its pipeline. */
void as_model_let_pass(struct as_model *model, struct model_thread *own, const struct as_block *block, uint32_t first,
                       uint32_t end, uint64_t times);
/* Its time goes on by what it is behind: before it is compared with that of another thread. */
void as_model_pass_due(struct as_model *model, struct model_thread *own);

/* ---- model_sieve.c ---- */

void as_model_sieve_free(struct as_model *model);
/* The thread has ended. */
void as_model_sieve_leave(struct model_thread *own);
/* The block was executed in a counted stretch. */
void as_model_sieve_mark(struct as_model *model, const struct as_thread *thread, const struct as_block *block);
void as_model_sieve_end(struct as_model *model);
void as_model_passed(void *context, struct as_thread *thread, const struct as_block_exec *exec);
void as_model_trail(void *context, struct as_thread *thread, const struct as_trail *trail);

/* ---- model_blocks.c ---- */

/* The thread's core runs apart from now on, if it may: only its own thread depends on its time and nobody is told what it does. */
bool as_model_set_apart(struct as_model *model, struct model_thread *own);
/* Runs a block that comes through `ahead`, on that one's host thread. */
void as_model_run_apart(void *context, const struct as_body_run *run, uint32_t path);
bool as_model_announce(void *context, const uint64_t *addresses, size_t n); /* an as_ahead_announce */

/* ---- model_together.c ---- */

enum { AS_MODEL_SHARED_BLOCKS = 4000 }; /* for so many more, threads are read in small steps */

/* So many blocks have run. Nothing is written where there is nothing to count: what lies beside it is read for each run. */
static inline void as_model_count_shares(struct as_model *model, uint32_t blocks)
{
    if (__builtin_expect(model->shares > 0, 0))
        model->shares -= model->shares < blocks ? model->shares : blocks;
}

/* A block has come. It is written once a round only, for the sake of those that read what lies beside it. */
static inline void as_model_note_ran(struct as_model *model)
{
    if (!model->together.ran)
        model->together.ran = true;
}

void as_model_prepare_together(struct as_model *model);
void as_model_round(void *context, bool exactly); /* as_sink.round */
/* The blocks that follow are this thread's. */
void as_model_turn_to(struct as_model *model, struct model_thread *own);
void as_model_end_together(struct as_model *model); /* all of them have run */
/* Words that come through `ahead`, on that one's host thread. */
void as_model_take_together(struct as_model *model, const uint64_t *words);

/* ---- model_words.c ---- */

/* See as_sink.take. */
void as_model_take(void *context, struct as_thread *thread, struct as_words_ahead *ahead);

#endif
