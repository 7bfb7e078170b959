/* Profiles to merge: runs of one small program, wherever it was loaded and in whatever order its code was met. */
#ifndef MERGE_BED_H
#define MERGE_BED_H

#include "merge/merge.h"
#include "store_bed.h"

struct run {
    const char *source;   /* "model", "timer" */
    const char *build_id; /* of the program */
    uint64_t base;        /* where it was loaded */
    bool backwards;       /* numbers of code, threads and files in the other order */
    uint64_t times;       /* every time, count and sample is that many times the first */
    uint64_t scale;       /* of the golden series */
    uint64_t events;      /* mask of the sampler */
    int64_t process;
    const char *unit, *core, *program, *first_event;
    bool lacks_sampler;
    bool loose;        /* also an access, its component and a wait at an address of no object, the same in every run */
    bool nameless;     /* also paths to code without a name: at the first address of each module */
    uint8_t rewritten; /* added to the second byte of each instruction, as a JIT would */
};
#define RUN_INIT                                                                                                       \
    {                                                                                                                  \
        .source = "timer", .build_id = "abcd", .base = 0x1000, .times = 1, .scale = 10, .events = 3, .process = 100,   \
        .unit = "cycles", .core = "boom", .program = "/bin/demo", .first_event = "ST-L1"                               \
    }

/* Every table has rows. */
void merge_bed_write(const char *path, const struct run *run);

/* Merges, or fails the test. `weights`: texts, or NULL. */
void merge_bed_merge(const char *output, size_t n, const char *const *paths, const char *const *weights);
/* Merging must fail, with one line that has `part` in it, and leave no file. */
void merge_bed_refuse(const char *part, const char *first, const char *second);

/* All rows of a file; the caller frees. With `canonical` set, names stand for numbers and rows are in their order, so
 * that profiles with other numbers compare equal. */
char *merge_bed_dump(const char *path);
char *merge_bed_canonical(const char *path);
int64_t merge_bed_number(const char *path, const char *sql);

#endif
