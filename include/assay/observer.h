/* Observers: analyses that read what a program executes, on a thread of their own, while it runs.
 *
 * There are two kinds of batches, and an observer takes one of them or both:
 *
 *   as_pipe_batch    executed instructions with their pipeline times, from the core model (assay compare). Batches hold
 *                    records of one guest thread, at least one; batches of several threads are interleaved by simulated
 *                    time. An observer that asks for them (`wants`) also gets the accesses of these instructions, and
 *                    how long they occupied which part of the core. What no observer asks for is not collected.
 *   as_access_batch  accesses alone, without the core model, at the engine's speed (assay stat). Guest threads are
 *                    interleaved by executed instructions, in turns of a few hundred accesses.
 *
 * Each observer runs on a thread of its own and gets every batch, in order; a batch is reused when the last observer is
 * done with it, so what is to be kept must be copied. The functions of one observer are never called concurrently:
 * create, then batch or accesses…, then finish, then free; all but batch and accesses on the main thread.
 *
 * An observer that does not need the order can say that it works as several (`workers`): Assay then creates up to that
 * many, as far as there are processors; of n, number k gets the batches k, k + n, k + 2n …. When the run is over, Assay
 * merges the others into the first (`merge`), frees them, and lets the first finish.
 *
 * To write one out of tree: build a shared object that exports `const struct as_observer assay_observer`
 * (AS_OBSERVER_EXPORT), and give it to `assay compare --observer FILE.so[,ARGUMENT]` or, where it takes accesses, to
 * `assay stat --observer`. doc/examples/observer has one. An observer that crashes is left out from there on: the run
 * continues, its results are lost, Assay ends with 125.
 *
 * Version 2 added accesses, occupancy, workers and output files. An observer that was built for version 1 is refused
 * with a message that says to build it again; its source needs no change.
 */
#ifndef ASSAY_OBSERVER_H
#define ASSAY_OBSERVER_H

#include "assay/insn.h"
#include "assay/pipe.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { AS_OBSERVER_VERSION = 2 };
#define AS_OBSERVER_EXPORT __attribute__((visibility("default")))

/* ---- what batches hold ---- */

/* One access of an executed instruction. Pieces of one operand are one access, and so is an atomic read-modify-write.
 * Of a repeated string instruction (rep movs) each element is one. Where a machine moves several elements at a time
 * (back.string_bytes), a pipe batch has one record for them, and one access as long as all of them. */
struct as_data_access {
    uint64_t address;
    uint32_t insn;      /* as_insn.id of the static instruction */
    uint32_t size : 24; /* bytes */
    uint32_t kind : 8;  /* AS_ACCESS_LOAD, AS_ACCESS_STORE, both for an atomic; AS_ACCESS_PREFETCH or AS_ACCESS_FLUSH */
};

/* Parts of the core of which there are only so many entries. */
enum as_resource {
    AS_RESOURCE_ROB,       /* from dispatch to commit */
    AS_RESOURCE_QUEUE_INT, /* the issue queues, from dispatch to issue */
    AS_RESOURCE_QUEUE_MEM,
    AS_RESOURCE_QUEUE_FP,
    AS_RESOURCE_LOAD_QUEUE,  /* from dispatch to commit */
    AS_RESOURCE_STORE_QUEUE, /* from dispatch until the store has reached the cache */
    AS_RESOURCE_MSHR_L1I,    /* misses under way: from the miss to the line's arrival */
    AS_RESOURCE_MSHR_L1D,
    AS_RESOURCE_MSHR_L2,
    AS_RESOURCE_COUNT
};

/* One entry of a resource was in use from cycle `from` on, for `cycles` cycles. */
struct as_stay {
    uint64_t from;
    uint32_t cycles;
    uint8_t resource; /* enum as_resource */
};

/* What pipe batches carry only for observers that ask. */
enum as_want {
    AS_WANT_ACCESSES = 1 << 0,
    AS_WANT_OCCUPANCY = 1 << 1,
};

struct as_pipe_batch {
    size_t size; /* of this struct */
    uint32_t thread;
    size_t n;
    const struct as_pipe *pipes;
    uint64_t number; /* of the batch, from 0: the order of the run, for those that see every n-th */
    uint64_t
        cycles_before; /* of programs that the thread executed before this one: their cycles count from 1 as well */
    /* AS_WANT_ACCESSES: in program order. owners[i] is the index in pipes of the record that made accesses[i]. */
    size_t n_accesses;
    const struct as_data_access *accesses;
    const uint32_t *owners;
    /* AS_WANT_OCCUPANCY: those whose end became known, in no particular order. A store leaves its queue long after its
     * record has gone, perhaps in a later batch. */
    size_t n_stays;
    const struct as_stay *stays;
};

/* Accesses that one thread made one after the other: accesses[first..end) of their batch. */
struct as_access_turn {
    uint32_t thread, process;
    uint32_t first, end;
    uint64_t executed; /* instructions that the thread had executed when the turn began */
};

/* When a turn was, by clocks that go alike for all threads: a thread's executed instructions, and those of others while
 * it waited in system calls or had not started yet. While a thread polls memory until
 * another one writes to it, its clock does not run ahead of theirs. */
struct as_access_time {
    uint64_t clock, end; /* of the turn's begin, and behind its last access */
    uint32_t image;      /* another number: the thread executes another program now */
};

struct as_access_batch {
    size_t size; /* of this struct */
    uint64_t number;
    size_t n, n_turns;
    const struct as_data_access *accesses;
    const struct as_access_turn *turns; /* ascending; together they are all accesses of the batch */
    /* Further members of version 2: compare `size` in an observer that is to run with older programs. */
    const struct as_access_time *times; /* by turn */
    size_t n_ended;
    const uint32_t
        *ended; /* threads that ended since the batch before; their turns are in this batch or earlier ones */
};

/* ---- the run ---- */

/* What an observer can ask about the run; valid in every call. Static instructions may be added between batches, never
 * changed: look them up by the ids in the records. Without the core model all that describes the core is 0 or "". */
struct as_run_info {
    size_t size; /* of this struct */
    const char *machine;
    double frequency;
    uint32_t commit_width, rob;
    uint32_t dispatch_width; /* micro-operations a cycle that can enter the ROB */
    uint32_t commit_group;   /* instructions that can commit in one cycle: commit_width, more where pairs fuse */
    void *context;
    const struct as_insn *(*insn)(void *context, uint32_t id);
    const char *(*function)(void *context, uint32_t id); /* "main"; "" where unknown. Only from finish */
    uint32_t entries[AS_RESOURCE_COUNT];                 /* that each resource has; 0: without limit, or no such part */
    /* The functions of a call path (as_pipe.path), the innermost first: fills at most `n` names and returns how many
     * frames the path has, 0 where it is unknown. Only from finish. */
    size_t (*frames)(void *context, uint32_t path, const char **names, size_t n);
    /* Opens a file to write, from create or batch. It stays Assay's, which closes it after finish and only then gives it
     * its name: it appears whole, or not at all. NULL: it cannot be opened; the user is told why.
     * No two observers get the same file; the workers of one do, when they are created. */
    FILE *(*open)(void *context, const char *path);
};

/* ---- the observer ---- */

struct as_edge_batch;

struct as_observer {
    uint32_t version;     /* AS_OBSERVER_VERSION */
    uint32_t record_size; /* sizeof(struct as_pipe) */
    const char *name;
    void *(*create)(const struct as_run_info *run, const char *argument); /* NULL: it cannot work (say why on stderr) */
    void (*batch)(void *self, const struct as_pipe_batch *batch);         /* may be NULL where it takes accesses */
    void (*finish)(void *self, FILE *out); /* no more batches; results to `out`. May be NULL */
    void (*free)(void *self);              /* may be NULL */
    uint32_t wants;                        /* AS_WANT_* */
    uint32_t workers;                      /* how many can share the work; 0 and 1: one sees everything, in order */
    void (*accesses)(void *self, const struct as_access_batch *batch); /* may be NULL where it takes batches */
    void (*merge)(void *self, void *other); /* takes in what `other` has seen; where workers is 2 or more */
    /* For Assay's own, NULL in others (assay/edge.h): blocks in place of `batch`; and, on the producer's thread while no
     * batch is being worked on, that all edges so far will be gone. */
    void (*edges)(void *self, const struct as_edge_batch *batch);
    void (*forget)(void *self);
};

#endif
