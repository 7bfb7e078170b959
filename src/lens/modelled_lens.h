/* The modelled machine behind a lens: counters that overflow and debug registers, on the accesses of a run without the
 * core model.
 *
 * What is modelled (doc/design/comm.md has the sources):
 *   counters    AS_SAMPLING_EVENTS, like PEBS: loads and stores have a counter each, which samples every period-th access
 *               of its kind; an atomic is counted by both. AS_SAMPLING_ACCESSES, like PEBS with an event for all instructions
 *               that access memory: one counter, an atomic is counted once. AS_SAMPLING_OPERATIONS, like IBS: one counter
 *               of instructions; the tagged one gives a sample if it accesses memory, and none otherwise.
 *   registers   1 to 4 of a thread; a trap comes behind each access of a watched kind that touches watched bytes.
 *   cost        instructions that a thread stands still for each sample and each trap. They are always added up
 *               (as_modelled_cost); with `disturb` the other threads run on meanwhile, as on a real machine.
 *   a unit      struct as_lens_unit: what a real unit does to that. Its delays are in instructions, as there is no other time
 *               here; the core model's units (src/pmu) have cycles.
 * What is not: accesses by the kernel, the time of accesses, which operation of a group a unit tags.
 *
 * The lens is fed with the spans of a weave (lens/weave.h). All calls of the client come from there, on one thread.
 */
#ifndef AS_LENS_MODELLED_LENS_H
#define AS_LENS_MODELLED_LENS_H

#include "lens/lens.h"
#include "lens/weave.h"

enum as_lens_sampling { AS_SAMPLING_EVENTS, AS_SAMPLING_ACCESSES, AS_SAMPLING_OPERATIONS };

/* Where threads run, in the order in which they appear. */
enum as_pinning { AS_PINNING_COMPACT, AS_PINNING_SCATTER };

/* How a sampling unit differs from an ideal one; 0: not at all. */
struct as_lens_unit {
    enum as_lens_sampling sampling;
    uint64_t load_shadow,
        store_shadow;     /* EVENTS: instructions from an overflow until the unit is armed; the next access of
                                           that kind is the sample, and what overflows meanwhile is missed */
    uint32_t random_bits; /* OPERATIONS: so many random bits … */
    bool adds;            /* … are added to each period (SPE); else it is as much shorter (IBS) */
    uint64_t deaf;        /* OPERATIONS: instructions behind a tagged one that are not counted */
    uint64_t sample_cost; /* instructions */
};

struct as_modelled_options {
    enum as_lens_sampling sampling;
    struct as_lens_unit unit;
    uint64_t load_period, store_period; /* accesses; 0: no such counter. EVENTS; for ACCESSES load_period */
    uint64_t period;                    /* instructions. AS_SAMPLING_OPERATIONS */
    bool random;                        /* each period is drawn from 7/8 to 9/8 of that */
    uint32_t registers;                 /* 1 to AS_LENS_REGISTERS; 0: there are none */
    uint32_t cores, sockets;            /* 0 cores: as many as threads */
    enum as_pinning pinning;
    const uint32_t *pins; /* of the n-th thread, over and over; NULL: `pinning` decides */
    size_t n_pins;
    uint64_t sample_cost, trap_cost; /* instructions */
    bool disturb;
    uint64_t seed;
};
#define AS_MODELLED_OPTIONS_DEFAULT                                                                                    \
    {                                                                                                                  \
        .load_period = 50000, .store_period = 50000, .period = 50000, .random = true, .registers = 4, .sockets = 1,    \
        .sample_cost = 4000, .trap_cost = 4000, .seed = 1                                                              \
    }

/* Lets the unit sample: periods are as given then but for its own random bits. */
void as_modelled_set_unit(struct as_modelled_options *options, const struct as_lens_unit *unit);

struct as_modelled_cost {
    uint64_t samples, traps, armings; /* armings: armed, moved and disarmed */
    uint64_t untagged;                /* AS_SAMPLING_OPERATIONS: tagged instructions that made no access */
    uint64_t missed;                  /* overflows while the unit waited for its sample */
    uint64_t stood;                   /* instructions that threads stood still for them, in all */
};

struct as_modelled_lens;
/* The path of calls that a thread is in, for samples and traps; NULL: paths are unknown. */
typedef uint32_t as_modelled_path(void *context, uint32_t thread);

struct as_modelled_lens *as_modelled_lens_new(const struct as_modelled_options *options);
struct as_lens as_modelled_lens_open(struct as_modelled_lens *lens); /* valid as long as that */
/* Before the first span. Several clients would fight for the registers: one. */
void as_modelled_lens_set_client(struct as_modelled_lens *lens, const struct as_lens_client *client, void *context);
void as_modelled_lens_set_paths(struct as_modelled_lens *lens, as_modelled_path *path, void *context);
/* The weave that `disturb` delays; it may be NULL without that. */
void as_modelled_lens_span(struct as_modelled_lens *lens, struct as_weave *weave, const struct as_weave_span *span);
void as_modelled_lens_end_thread(struct as_modelled_lens *lens, uint32_t thread);
uint32_t as_modelled_lens_core(const struct as_modelled_lens *lens, uint32_t thread); /* 0 where it is unknown */
struct as_modelled_cost as_modelled_lens_cost(const struct as_modelled_lens *lens);
void as_modelled_lens_free(struct as_modelled_lens *lens);

#endif
