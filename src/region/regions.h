/* Regions: which parts of a run are measured, and what happens between them.
 *
 * The regions of a list are used in order. Each has a start point, a stop point and a weight. Before it come `warm`
 * instructions, which only update caches, TLBs and predictors, and then `settle` instructions, which also go through
 * the pipeline but are not measured. Everything else is only counted.
 *
 * This folder knows nothing of programs, threads or engines. This header represents what a user writes
 * ("main..+5M,warm=1M,weight=0.3"); region_run.h is the state machine that an engine asks. Instructions are counted
 * over all threads, in the order in which the engine sees them. Any thread that executes a landmark passes it.
 */
#ifndef AS_REGION_REGIONS_H
#define AS_REGION_REGIONS_H

#include "base/error.h"
#include "base/vec.h"

#include <stdint.h>

/* How the instructions of a stretch are treated. */
enum as_mode {
    AS_MODE_COUNT,  /* only counted */
    AS_MODE_WARM,   /* update caches, TLBs and predictors; simulated time stands still */
    AS_MODE_SETTLE, /* go through the model, but are not measured */
    AS_MODE_DETAIL, /* modelled and measured */
};

/* At what regions start or stop. */
enum as_landmark_kind { AS_LANDMARK_SYMBOL, AS_LANDMARK_ADDRESS, AS_LANDMARK_MARKER };
enum { AS_MARKER_ANY = -1, AS_MARKER_MOST = 2047 };
struct as_landmark {
    enum as_landmark_kind kind;
    char *symbol;     /* NAME or MODULE:NAME; of an address in a module: the module's name */
    uint64_t address; /* as mapped; with a module: as in the file */
    int32_t marker;   /* the marker's number, or AS_MARKER_ANY */
};

enum as_point_kind {
    AS_POINT_NONE,        /* as a start: where the program starts; as a stop: where it ends */
    AS_POINT_INSTRUCTION, /* `number` instructions have been executed since the program's start */
    AS_POINT_LANDMARK,    /* a landmark is executed: for the `number`-th time since the program's start; 0: next */
    AS_POINT_CYCLE,       /* the model's clock reaches this cycle */
    AS_POINT_SIGNAL,      /* the user sent a signal */
    AS_POINT_DELAY,       /* `number` nanoseconds after the program's start, on the wall clock */
};
struct as_point {
    enum as_point_kind kind;
    uint32_t landmark; /* index into the list's landmarks */
    uint64_t number;
};

#define AS_REGION_ALL UINT64_MAX
enum { AS_REGION_THREADS = 4 };
struct as_region {
    struct as_point start, stop;
    uint64_t offset;       /* number of instructions between the start point and the region */
    uint64_t max;          /* limit of instructions; AS_REGION_ALL: no limit */
    uint64_t warm, settle; /* instructions before the region; warm AS_REGION_ALL: all since the preceding region */
    double weight;
    bool repeat; /* starts again when its start point comes again; if it starts by count, as soon as it stops */
    /* While the program has several threads: begins and ends with the next head of a loop, and is so many times as long, with what
     * settles before it, up to AS_REGION_THREADS: each thread has its share. */
    bool heads;
    enum as_mode mode;
    char *text; /* as the user wrote it; NULL: not given as text */
};
#define AS_REGION_DEFAULT                                                                                              \
    {                                                                                                                  \
        .max = AS_REGION_ALL, .weight = 1, .mode = AS_MODE_DETAIL                                                      \
    }

struct as_regions {
    AS_VEC(struct as_region) list;
    AS_VEC(struct as_landmark) landmarks;
    bool open_ended; /* a plan for programs of any length, most of which end before its end */
    bool to_the_end; /* behind the last region the run goes on, and is counted, to the end of the program */
    bool undecided;  /* how long to warm is still being found out: what comes next is not known before it comes */
    uint64_t near;   /* see as_region_run_near; 0: AS_NEAR. May change when a stretch begins */
};

void as_regions_free(struct as_regions *regions);

/* Adds a region from text: START..STOP[,warm=N][,settle=N][,max=N][,weight=W][,mode=M][,repeat] as in
 * doc/format/regions.md. After a failure the list can only be freed. */
bool as_regions_parse(struct as_regions *regions, const char *text, struct as_error *err) AS_MUST_CHECK;
/* Adds the regions of a file. */
bool as_regions_read(struct as_regions *regions, const char *path, struct as_error *err) AS_MUST_CHECK;
/* Call this once all regions are added: it sorts regions that start by count, and refuses lists that cannot work. */
bool as_regions_check(struct as_regions *regions, struct as_error *err) AS_MUST_CHECK;

const char *as_mode_name(enum as_mode mode);
/* A landmark as a user would write it; the caller frees. */
char *as_landmark_name(const struct as_landmark *landmark);

/* The limit of instructions of a region; AS_REGION_ALL: no limit. */
uint64_t as_region_length(const struct as_region *region);
/* The limit of instructions of all regions together; 0: no limit, or a plan that says nothing about the program. */
uint64_t as_regions_length(const struct as_regions *regions);
/* Whether any weight is not 1. NULL: there is no list. */
bool as_regions_weighted(const struct as_regions *regions);

/* Adds a region that covers the whole program, and returns it for the caller to fill. Valid until the next call. */
struct as_region *as_regions_add(struct as_regions *regions);
/* Returns the number of a landmark; equal landmarks have one number. The text is copied. */
uint32_t as_regions_landmark(struct as_regions *regions, const struct as_landmark *landmark);
/* The point at which a function is executed next. */
struct as_point as_regions_symbol(struct as_regions *regions, const char *name);

#endif
