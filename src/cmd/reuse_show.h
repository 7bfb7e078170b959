/* What `assay reuse` prints: text with bars, one JSON document, or CSV. */
#ifndef AS_CMD_REUSE_SHOW_H
#define AS_CMD_REUSE_SHOW_H

#include "base/json.h"
#include "core/machine.h"
#include "count/tracker.h"
#include "engine/engine.h"
#include "native/host_caches.h"
#include "reuse/reuse.h"
#include "reuse/reuse_advice.h"
#include "reuse/reuse_estimate.h"
#include "reuse/reuse_native.h"
#include "reuse/reuse_objects.h"

#include <stdio.h>

enum { AS_REUSE_ADVICE_MOST = 8 };

struct as_reuse_shown {
    char **argv;
    const struct as_engine *engine;
    const struct as_engine_result *result;
    uint64_t instructions; /* that were seen; 0: not known, on this machine */
    const struct as_machine *machine;
    const struct as_reuse_options *options;
    const struct as_reuse *exact;      /* NULL: not asked for */
    const struct as_code_sites *sites; /* what paths mean; NULL: there are none */
    const struct as_call_tracker *calls;
    const struct as_reuse_objects *objects;
    struct as_adjacent *adjacent;             /* NULL: not asked for */
    const struct as_reuse_estimate *estimate; /* from watchpoints; NULL: exact alone */
    const char *pmu;                          /* whose samples they began with; NULL: an ideal sampler's */
    uint64_t missed;                          /* overflows that it missed */
    const struct as_reuse_native *native;     /* … on this machine; NULL: the modelled one */
    const struct as_reuse_native_info *native_info;
    bool shared; /* … of the shared cache */
    uint32_t watched_bytes;
    uint64_t top; /* rows of each list, of text */
    struct as_host_cache host[AS_HOST_CACHES];
    size_t n_host;
    struct as_reuse_advice advice[AS_REUSE_ADVICE_MOST];
    size_t n_advice;
};

/* The part of the run that was seen, in words. Returns `text`; NULL: all of it was, or it ran on this machine. */
const char *as_reuse_part(const struct as_reuse_shown *shown, char text[AS_ENGINE_PART]);

/* Whether caches are shown: of lines alone, since they have no other granules. */
bool as_reuse_has_caches(const struct as_reuse_shown *shown);

/* Where a piece of code is, for people and for programs. */
struct as_reuse_location {
    const char *function, *file, *module;
    uint64_t address;
    int line;
};
struct as_reuse_location as_reuse_locate(const struct as_reuse_shown *shown, uint32_t code);
/* "axpy at axpy.c:12", "main+0x1c" where there are no lines. The caller frees. */
char *as_reuse_location_text(const struct as_reuse_shown *shown, uint32_t code);

/* The functions of a call path, innermost first: fills at most `n` and returns how many it has; 0: unknown. */
size_t as_reuse_frames(const struct as_reuse_shown *shown, uint32_t path, const char **names, size_t n);
/* "main > solve > step", shortened in the middle; "" where it is unknown. The caller frees. */
char *as_reuse_path_text(const struct as_reuse_shown *shown, uint32_t path);

/* What the last level's numbers come from: the sockets' views, or while there is one thread, that one's. */
const struct as_reuse_view *as_reuse_shown_shared(const struct as_reuse_shown *shown);
/* Whose working set over time is shown: all sockets', or the only thread's; NULL: there is none. */
const struct as_reuse_view *as_reuse_working_view(const struct as_reuse_shown *shown);
/* The smallest cache, in granules, whose misses can be told: 1, unless the lines are a sample. */
uint64_t as_reuse_least(const struct as_reuse_shown *shown);
/* "exact", or of which sample of the lines, and from where on its distances can be told. Returns `text`. */
enum { AS_REUSE_HOW = 80 };
const char *as_reuse_method_text(const struct as_reuse_shown *shown, char text[AS_REUSE_HOW]);
/* Share of the touches that an LRU cache of so many granules misses: private to threads, or shared. */
double as_reuse_miss_ratio(const struct as_reuse_shown *shown, bool shared, uint64_t granules);
/* By how much a sample of the lines may be off there; 0: every line is counted. */
double as_reuse_miss_ratio_error(const struct as_reuse_shown *shown, bool shared, uint64_t granules);
/* Pairs by reuses from beyond the L1, most first. The caller frees. */
const struct as_reuse_pair **as_reuse_sorted_pairs(const struct as_reuse_view *view);
/* Codes by misses of a level, most first; *n of them have any. The caller frees. */
uint32_t *as_reuse_sorted_codes(const struct as_reuse_view *view, int level, size_t *n);
uint64_t as_reuse_sum(const uint64_t causes[AS_MISS_CAUSES]);
/* Misses of a simulated level by cause, of all threads and sockets. */
void as_reuse_level_misses(const struct as_reuse_shown *shown, int level, uint64_t missed[AS_MISS_CAUSES]);
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
/* By which factor the number of accesses, and distances that were timed, may be off: 1 or more. */
double as_reuse_native_off(const struct as_reuse_native_info *info);
/* What the distances of a bin come from: "counted", "timed" or "both". */
const char *as_reuse_how(uint64_t all, uint64_t counted);
/* With `counted`: what the distances of each bin come from, and by which factor they may be `off` where they were timed. */
void as_reuse_json_bins(struct as_json *json, const char *name, const struct as_distances *distances,
                        const struct as_distances *counted, double off);
void as_reuse_json_histogram(struct as_json *json, const char *name, const struct as_distances *distances);
void as_reuse_json_counts(struct as_json *json, const struct as_reuse_counts *counts, bool shared);
void as_reuse_json_location(struct as_json *json, const struct as_reuse_shown *shown, const char *name, uint32_t code,
                            uint32_t path);
/* Share of the accesses that an LRU cache of so many granules misses, estimated. */
double as_reuse_estimate_ratio(const struct as_reuse_estimate *estimate, uint64_t granules);
/* Up to how many granules miss ratios are shown; 0: nothing is known of any. */
uint64_t as_reuse_estimate_sizes(const struct as_reuse_estimate *estimate);
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
