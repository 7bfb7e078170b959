/* Observers: analyses that read every executed instruction with its pipeline times.
 *
 * Records travel in batches. Each observer runs on a thread of its own and gets every batch, in order; a batch is
 * reused when the last observer is done with it, so records must be copied to be kept. The functions of one observer
 * are never called concurrently: create, then batch…, then finish, then free; all but batch on the main thread. Batches
 * hold records of one thread only, at least one; batches of several threads are interleaved by simulated time.
 *
 * To write one out of tree: build a shared object that exports `const struct as_observer assay_observer`
 * (AS_OBSERVER_EXPORT), and give it to `assay compare --observer FILE.so[,ARGUMENT]`. doc/examples/observer has one.
 * An observer that crashes is left out from there on: the run continues, its results are lost, Assay ends with 125.
 */
#ifndef ASSAY_OBSERVER_H
#define ASSAY_OBSERVER_H

#include "assay/insn.h"
#include "assay/pipe.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { AS_OBSERVER_VERSION = 1 };
#define AS_OBSERVER_EXPORT __attribute__((visibility("default")))

/* What an observer can ask about the run; valid in every call. Static instructions may be added between batches, never
 * changed: look them up by the ids in the records. */
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
};

struct as_pipe_batch {
    size_t size; /* of this struct */
    uint32_t thread;
    size_t n;
    const struct as_pipe *pipes;
};

struct as_observer {
    uint32_t version;     /* AS_OBSERVER_VERSION */
    uint32_t record_size; /* sizeof(struct as_pipe) */
    const char *name;
    void *(*create)(const struct as_run_info *run, const char *argument); /* NULL: it cannot work (say why on stderr) */
    void (*batch)(void *self, const struct as_pipe_batch *batch);
    void (*finish)(void *self, FILE *out); /* no more batches; results to `out`. May be NULL */
    void (*free)(void *self);              /* may be NULL */
};

#endif
