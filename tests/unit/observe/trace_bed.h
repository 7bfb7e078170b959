/* What the tests of the traces share: random records, a run with addresses, and files in memory. */
#ifndef TESTS_TRACE_BED_H
#define TESTS_TRACE_BED_H

#include "unit.h"

#include "observe/trace_observer.h"
#include "pipe_gen.h"

#include <stdio.h>

enum { BED_STATICS = 200, BED_THREADS = 4 };

struct trace_bed {
    struct pipe_gen gen;
    struct as_run_info run;
    struct as_insn insns[BED_STATICS];
    FILE *files[BED_THREADS]; /* by thread number */
    char *text[BED_THREADS];
    size_t size[BED_THREADS];
    uint32_t refused; /* the thread that gets no file; 0: none */
};

static inline uint64_t bed_address(uint32_t id)
{
    return 0x401000 + 4 * (uint64_t)id;
}

static inline const struct as_insn *bed_insn(void *context, uint32_t id)
{
    struct trace_bed *bed = context;
    return id < BED_STATICS ? &bed->insns[id] : NULL;
}

static inline FILE *bed_open(void *context, uint32_t thread)
{
    struct trace_bed *bed = context;
    assert_true(thread < BED_THREADS);
    assert_null(bed->files[thread]); /* once */
    if (thread != bed->refused)
        bed->files[thread] = open_memstream(&bed->text[thread], &bed->size[thread]);
    return bed->files[thread];
}

static inline void bed_init(struct trace_bed *bed, uint64_t seed, uint32_t width, bool fuse)
{
    static const uint8_t add[] = {0x48, 0x01, 0xd8}; /* add rax, rbx */
    *bed = (struct trace_bed){.gen = {.random = seed * 0x9e3779b97f4a7c15u + 1,
                                      .width = width,
                                      .fuse = fuse,
                                      .statics = BED_STATICS,
                                      .paths = 3,
                                      .trouble = 1 + (uint32_t)seed % 12}};
    for (uint32_t id = 0; id < BED_STATICS; id++) {
        as_insn_decode(AS_ARCH_X86_64, bed_address(id), add, sizeof add, &bed->insns[id]);
        bed->insns[id].id = id;
    }
    bed->run = pipe_gen_run(&bed->gen);
    bed->run.context = bed;
    bed->run.insn = bed_insn;
}

static inline struct as_trace *bed_trace(struct trace_bed *bed, const struct as_trace_format *format)
{
    struct as_trace_files files = {.open = bed_open, .context = bed};
    return as_trace_new(format, &bed->run, &files);
}

/* After this, text and size hold what was written. */
static inline void bed_finish(struct trace_bed *bed, struct as_trace *trace)
{
    as_trace_observer.finish(trace, stderr);
    as_trace_observer.free(trace);
    for (int i = 0; i < BED_THREADS; i++)
        if (bed->files[i])
            fclose(bed->files[i]);
}

static inline void bed_free(struct trace_bed *bed)
{
    for (int i = 0; i < BED_THREADS; i++)
        free(bed->text[i]);
}

#endif
