/* What reuse_watch.c (slots, threads, arming, outcomes) and reuse_choice.c (which sample gets a slot) share. For no one else. */
#ifndef AS_REUSE_REUSE_WATCH_INTERNAL_H
#define AS_REUSE_REUSE_WATCH_INTERNAL_H

#include "base/vec.h"
#include "reuse/patience.h"
#include "reuse/reuse_watch.h"

#include <stdatomic.h>

enum { AS_USE_PENDING = 2 * AS_LENS_REGISTERS };

/* What a slot watches. Readers copy it. */
struct as_use_contents {
    bool active;
    uint64_t serial; /* of the use: 1, 2 … */
    struct as_lens_access use;
    struct as_lens_watch watch;
    uint64_t count; /* accesses of the owner, or of its socket, up to the use */
    double weight;
};

struct as_use_slot {
    atomic_flag lock;
    _Atomic uint64_t begun, ended; /* writes: different while one is under way */
    struct as_use_contents contents;
    double samples;  /* since it was armed, this one included */
    uint64_t since;  /* the number of the sample that it was armed for */
    double kept;     /* the chance that its use had to be here still … */
    uint32_t octave; /* … by octaves of distances, up to this one */
    float passed[AS_DISTANCE_OCTAVES];
    _Atomic bool relaxed; /* another thread stored before all were armed */
};

struct as_use_thread {
    uint32_t number, process, socket, index; /* index in its process */
    bool live;
    uint64_t last_count; /* accesses, when last asked … */
    uint8_t how;         /* … and what that comes from: enum as_lens_how */
    struct as_lens_ref refs[AS_LENS_REGISTERS];
    bool armed[AS_LENS_REGISTERS];
};

/* Threads that are to be armed later. */
struct as_use_pending {
    uint32_t slot;
    uint64_t serial, due;
};

struct as_reuse_watch {
    struct as_watch_options options;
    struct as_lens lens;
    uint32_t n_slots, n_live; /* n_live: threads */
    struct as_use_slot slots[AS_LENS_REGISTERS];
    AS_VEC(struct as_use_thread *) threads; /* in order of appearance */
    AS_VEC(uint32_t) by_number;             /* place in threads + 1 */
    _Atomic uint64_t serials, seed;
    struct as_watch_outcome *outcomes;
    _Atomic size_t n_outcomes;
    struct as_use_pending pending[AS_USE_PENDING];
    size_t n_pending;
    _Atomic uint64_t samples, armed, dropped, busy, stale, traps, relaxed;
    /* AS_REPLACE_GRADED, under `choosing`: one in so many samples is watched, and has its turn when the credit is 1; one in so many
     * uses that are far may stay; what is known of ages. */
    atomic_flag choosing;
    double one_in, credit, far_one_in;
    struct as_patience patience;
};

/* Acquires the slot from as_use_unlock. */
static inline bool as_use_try_lock(struct as_use_slot *slot)
{
    return !atomic_flag_test_and_set_explicit(&slot->lock, memory_order_acquire);
}

static inline void as_use_unlock(struct as_use_slot *slot)
{
    atomic_flag_clear_explicit(&slot->lock, memory_order_release);
}

/* Both under the slot's lock. begin: the slot watches this use from now on; the one before is recorded as given up. spare: its
 * use could have had to go, and stayed with this chance. */
void as_use_begin(struct as_reuse_watch *watch, uint32_t number, const struct as_lens_access *use, double weight);
void as_use_spare(struct as_reuse_watch *watch, struct as_use_slot *slot, double chance);

/* reuse_choice.c: a sample of a known thread, and a use whose end was seen (under its slot's lock). */
void as_use_choose(struct as_reuse_watch *watch, const struct as_lens_access *use, double weight);
void as_use_learn(struct as_reuse_watch *watch, const struct as_use_slot *slot);

#endif
