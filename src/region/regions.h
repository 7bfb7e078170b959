/* Regions: which parts of a run are measured, and what happens between them.
 *
 * A list of regions is taken in its order. Each has a point at which it starts and one at which it stops, a weight,
 * and what is done before it: `warm` instructions that only bring caches, TLBs and predictors up to date, then
 * `settle` instructions that also go through the pipeline but are not measured. Everything else is only counted.
 *
 * Nothing here knows programs, threads or engines: region_run.h is the state machine that an engine asks, and this
 * header is what people write ("main..+5M,warm=1M,weight=0.3"). Instructions are counted over all threads, in the order
 * in which the engine sees them; a landmark is passed by whichever thread executes it.
 */
#ifndef AS_REGION_REGIONS_H
#define AS_REGION_REGIONS_H

#include "base/error.h"
#include "base/vec.h"

#include <stdint.h>

/* What happens to the instructions of a stretch of the run. */
enum as_mode {
    AS_MODE_COUNT,  /* they are counted, nothing else */
    AS_MODE_WARM,   /* caches, TLBs and predictors see them; no time passes */
    AS_MODE_SETTLE, /* they go through the model, but are not measured */
    AS_MODE_DETAIL, /* everything */
};

/* A place of the program at which regions start or stop. */
enum as_landmark_kind { AS_LANDMARK_SYMBOL, AS_LANDMARK_ADDRESS, AS_LANDMARK_MARKER };
enum { AS_MARKER_ANY = -1, AS_MARKER_MOST = 2047 };
struct as_landmark {
    enum as_landmark_kind kind;
    char *symbol;     /* NAME or MODULE:NAME; of an address in a module: the module's name */
    uint64_t address; /* as mapped; with a module: as the file has it */
    int32_t marker;   /* the marker's number, or AS_MARKER_ANY */
};

enum as_point_kind {
    AS_POINT_NONE,        /* to start: where the program starts; to stop: where it ends */
    AS_POINT_INSTRUCTION, /* `number` instructions have been executed since the program's start */
    AS_POINT_LANDMARK,    /* a landmark is executed: for the `number`-th time since the program's start; 0: next */
    AS_POINT_CYCLE,       /* the model's time */
    AS_POINT_SIGNAL,      /* the user sent a signal */
    AS_POINT_DELAY,       /* `number` nanoseconds after the program's start, on the wall clock */
};
struct as_point {
    enum as_point_kind kind;
    uint32_t landmark; /* index into the list's landmarks */
    uint64_t number;
};

#define AS_REGION_ALL UINT64_MAX
struct as_region {
    struct as_point start, stop;
    uint64_t offset;       /* instructions between the start point and the region */
    uint64_t max;          /* the most instructions that it has; AS_REGION_ALL: no limit */
    uint64_t warm, settle; /* instructions before it; warm AS_REGION_ALL: all since the region before it */
    double weight;
    bool repeat; /* it starts again whenever its start point comes again; where that is a count, as soon as it stops */
    enum as_mode mode;
    char *text; /* as the user wrote it; NULL: it came from nowhere */
};
#define AS_REGION_DEFAULT                                                                                              \
    {                                                                                                                  \
        .max = AS_REGION_ALL, .weight = 1, .mode = AS_MODE_DETAIL                                                      \
    }

struct as_regions {
    AS_VEC(struct as_region) list;
    AS_VEC(struct as_landmark) landmarks;
};

void as_regions_free(struct as_regions *regions);

/* Adds a region from text: START..STOP[,warm=N][,settle=N][,max=N][,weight=W][,mode=M][,repeat] as in
 * doc/format/regions.md. On failure the list is good for nothing but as_regions_free. */
bool as_regions_parse(struct as_regions *regions, const char *text, struct as_error *err) AS_MUST_CHECK;
/* Adds the regions of a file. */
bool as_regions_read(struct as_regions *regions, const char *path, struct as_error *err) AS_MUST_CHECK;
/* When all are there: puts regions that start by count in order, and refuses lists that cannot work. */
bool as_regions_check(struct as_regions *regions, struct as_error *err) AS_MUST_CHECK;

const char *as_mode_name(enum as_mode mode);
/* A landmark as a user would write it; the caller frees. */
char *as_landmark_name(const struct as_landmark *landmark);

/* The most instructions that a region has; AS_REGION_ALL: no limit. */
uint64_t as_region_length(const struct as_region *region);
/* The most instructions that all regions together have; 0: no limit. */
uint64_t as_regions_length(const struct as_regions *regions);

/* Adds a region and returns it, all of the program until something is set. Valid until the next one is added. */
struct as_region *as_regions_add(struct as_regions *regions);
/* The number of a landmark, the same for the same landmark. Its text is copied. */
uint32_t as_regions_landmark(struct as_regions *regions, const struct as_landmark *landmark);
/* The point at which a function is next executed. */
struct as_point as_regions_symbol(struct as_regions *regions, const char *name);

#endif
