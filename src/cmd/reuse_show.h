/* What `assay reuse` prints: text with bars, one JSON document, or CSV. */
#ifndef AS_CMD_REUSE_SHOW_H
#define AS_CMD_REUSE_SHOW_H

#include "base/json.h"
#include "core/machine.h"
#include "native/host_caches.h"
#include "reuse/reuse.h"
#include "reuse/reuse_advice.h"
#include "reuse/reuse_estimate.h"
#include "reuse/reuse_names.h"
#include "reuse/reuse_native.h"
#include "reuse/reuse_objects.h"
#include "reuse/reuse_ratios.h"

#include <stdio.h>

struct as_reuse_shown {
    char **argv;
    const char *part;      /* of the run that was seen, in words; NULL: all of it, or it ran on this machine */
    uint64_t instructions; /* that were seen; 0: not known, on this machine */
    uint64_t threads;
    double seconds;
    int exit_status; /* the program's */
    const struct as_machine *machine;
    const struct as_reuse_options *options;
    const struct as_reuse *exact; /* NULL: not asked for */
    struct as_reuse_names names;  /* of codes and paths */
    const struct as_reuse_objects *objects;
    struct as_adjacent *adjacent;              /* NULL: not asked for */
    const struct as_reuse_estimate *estimate;  /* from watchpoints; NULL: exact alone */
    const char *pmu;                           /* whose samples they began with; NULL: an ideal sampler's */
    uint64_t missed;                           /* overflows that it missed */
    const struct as_reuse_native_info *native; /* … on this machine; NULL: the modelled one */
    bool shared;                               /* … of the shared cache */
    uint32_t watched_bytes;
    uint64_t top; /* rows of each list, of text */
    struct as_host_cache host[AS_HOST_CACHES];
    size_t n_host;
    const struct as_reuse_advice *advice;
    size_t n_advice;
};

/* Whether caches are shown: of lines alone, since they have no other granules. */
bool as_reuse_has_caches(const struct as_reuse_shown *shown);

struct as_reuse_location as_reuse_locate(const struct as_reuse_shown *shown, uint32_t code);
/* "axpy at axpy.c:12", "main+0x1c" where there are no lines. The caller frees. */
char *as_reuse_location_text(const struct as_reuse_shown *shown, uint32_t code);

size_t as_reuse_frames(const struct as_reuse_shown *shown, uint32_t path, const char **names, size_t n);
/* "main > solve > step", shortened in the middle; "" where it is unknown. The caller frees. */
char *as_reuse_path_text(const struct as_reuse_shown *shown, uint32_t path);

/* "exact", or of which sample of the lines, and from where on its distances can be told. Returns `text`. */
enum { AS_REUSE_HOW = 80 };
const char *as_reuse_method_text(const struct as_reuse_shown *shown, char text[AS_REUSE_HOW]);
/* The advice as a sentence or two. The caller frees. */
const char *as_reuse_size_text(uint64_t bytes, char text[32]); /* "48 KiB", "1.5 MiB" */
/* How much the code brought into the L1, or the last level, from the one below; "-": the machine has no such level. */
const char *as_reuse_brought_text(const struct as_reuse_shown *shown, const struct as_reuse_code *code, int level,
                                  char text[32]);
char *as_reuse_advice_text(const struct as_reuse_shown *shown, const struct as_reuse_advice *advice);

extern const char *const as_reuse_level_names[AS_REUSE_LEVELS], *const as_miss_cause_names[AS_MISS_CAUSES];
extern const char *const as_reuse_advice_names[];

/* Pieces that several of them need. */
/* `counted`: those of which every access was counted; NULL: that is not shown. */
void as_reuse_print_histogram(FILE *out, const char *title, const struct as_distances *distances,
                              const struct as_distances *counted);
/* What the distances of a bin come from: "counted", "timed" or "both". */
const char *as_reuse_how(uint64_t all, uint64_t counted);
/* With `counted`: what the distances of each bin come from, and by which factor they may be `off` where they were timed. */
void as_reuse_json_bins(struct as_json *json, const char *name, const struct as_distances *distances,
                        const struct as_distances *counted, double off);
void as_reuse_json_histogram(struct as_json *json, const char *name, const struct as_distances *distances);
void as_reuse_json_counts(struct as_json *json, const struct as_reuse_counts *counts, bool shared);
void as_reuse_json_location(struct as_json *json, const struct as_reuse_shown *shown, const char *name, uint32_t code,
                            uint32_t path);
void as_reuse_show_watch_text(const struct as_reuse_shown *shown, FILE *out);
void as_reuse_json_watch(struct as_json *json, const struct as_reuse_shown *shown);

/* Misses by object. */
void as_reuse_print_objects(const struct as_reuse_shown *shown, FILE *out);
void as_reuse_json_objects(struct as_json *json, const struct as_reuse_shown *shown);

/* What an adjacent-line prefetcher could take away from threads, if that was asked for. */
void as_reuse_print_adjacent(const struct as_reuse_shown *shown, FILE *out);
void as_reuse_json_adjacent(struct as_json *json, const struct as_reuse_shown *shown);

void as_reuse_show_text(const struct as_reuse_shown *shown, FILE *out);
bool as_reuse_show_json(const struct as_reuse_shown *shown, FILE *out);
void as_reuse_show_csv(const struct as_reuse_shown *shown, FILE *out);

#endif
