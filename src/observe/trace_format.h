/* What a trace format does with the records of one guest thread, and what the formats share. */
#ifndef AS_OBSERVE_TRACE_FORMAT_H
#define AS_OBSERVE_TRACE_FORMAT_H

#include "assay/edge.h"
#include "observe/attribution.h"
#include "observe/trace_observer.h"

struct as_trace_texts; /* disassembly, kept by instruction */

struct as_trace_target {
    const struct as_run_info *run;
    struct as_trace_texts *texts;
    FILE *out;
    uint32_t thread;
};

/* Calls: start, then (add…, end)…, then free. The records of a program that the thread executes after its first one
 * come after an end, with cycles from 1 again; the format goes on where it was. */
struct as_trace_format {
    const char *name;
    void *(*start)(const struct as_trace_target *target);
    void (*add)(void *self, const struct as_pipe *pipes, size_t n);
    /* NULL, or the same of a batch with runs along edges: then records of edges are not made for the format. */
    void (*add_edges)(void *self, const struct as_edge_batch *batch);
    void (*forget)(void *self); /* NULL, or: edges that were seen are gone */
    void (*end)(void *self);    /* writes everything that was kept back */
    void (*free)(void *self);
};

/* The disassembly; valid as long as the texts. */
const char *as_trace_text(struct as_trace_texts *texts, uint32_t insn);
uint64_t as_trace_address(const struct as_run_info *run, uint32_t insn);

#endif
