/* Reuse distances from samples and watchpoints (ReuseTracker's Algorithms 2 and 3), a client of a lens (lens/lens.h).
 *
 * A sampled access is a use. Its address is watched on all threads of the process, with one slot, the same debug register
 * on each. In a thread (AS_WATCH_THREADS) the owner's register traps reads and writes, the others' writes; in a shared
 * cache (AS_WATCH_CACHE) those of all threads of the socket trap both, those of other sockets writes. The first trap decides:
 * reuse or invalidation, at the distance that the counters say, the owner's own or the sum over its socket; in a shared cache
 * a trap of the owner ends the use as a pair of one core, which is the thread's: without it the next access of another thread
 * would be taken for the reuse of a use long before. One use has one outcome.
 *
 * All slots taken, which use goes? With AS_REPLACE_RESERVOIR, as in the paper: a sample replaces one with probability
 * 1/n at the n-th sample since the slot was armed; after a trap n is 1 again. A sample that had a chance of p to get a
 * slot weighs 1/p. A use that nobody comes back to for long then keeps a slot for long, and of a phase that follows
 * hardly a sample gets one, while another finds a slot free: weights differ much, and few samples decide. With
 * AS_REPLACE_GRADED every sample has the same chance, slots free or not: one in so many is watched and weighs as much.
 * That number falls when a sample is watched in a free slot and rises when a use had to go for another, so it follows
 * the phases of a program. Which use goes then is drawn, rather one of an age at which uses seldom end (patience.h).
 * Uses that got to an age at which they hardly ever end, most others having ended sooner, are far: half of the slots is
 * theirs, and one in so many of them may stay there, in the same way, so that some are watched for very long. In both
 * cases the use that had to go is kept as given up at its distance: see survival.h.
 *
 * (Algorithm 2 as printed returns after arming the first thread; it means after the last.)
 *
 * Handlers may run on several threads at once. A slot is written under its lock (test and test-and-set; who does not get
 * it lets the sample go); readers do not lock: two counters around the contents tell whether they are whole. Nothing is
 * allocated in handlers: outcomes go into a list made before. */
#ifndef AS_REUSE_REUSE_WATCH_H
#define AS_REUSE_REUSE_WATCH_H

#include "lens/lens.h"
#include "reuse/survival.h"

enum as_watch_mode { AS_WATCH_THREADS, AS_WATCH_CACHE };
enum as_watch_replacement { AS_REPLACE_GRADED, AS_REPLACE_RESERVOIR };

struct as_watch_options {
    enum as_watch_mode mode;
    enum as_watch_replacement replacement;
    uint32_t sockets; /* thread k of a process, in order of appearance, is on socket k mod sockets */
    uint32_t length;  /* bytes that are watched: 1, 2, 4, 8 */
    uint64_t most;    /* outcomes that are kept */
    uint64_t lag;     /* machine time until the other threads are armed; 0: at once */
    uint64_t seed;
};
#define AS_WATCH_OPTIONS_DEFAULT                                                                                       \
    {                                                                                                                  \
        .sockets = 1, .length = 8, .most = 1 << 18, .seed = 1                                                          \
    }

/* A use and what became of it. */
struct as_watch_outcome {
    struct as_watched_use use;
    uint64_t address;
    uint64_t use_insn, end_insn; /* of reuse and invalidation */
    uint32_t use_path, end_path;
    uint32_t use_thread, end_thread;
    bool use_write, end_write, relaxed;
    uint64_t time; /* of the use, as the machine has it */
};

struct as_watch_result {
    uint64_t samples; /* that the machine took */
    uint64_t armed;   /* of those, watched */
    uint64_t dropped; /* of those, not watched: no slot was given up for them */
    uint64_t busy;    /* of those, not watched: the slot was being changed, or a register refused */
    uint64_t stale;   /* traps that came too late: their use had its outcome */
    uint64_t reuses, invalidations, own, given_up, never; /* own: pairs of one core, in a shared cache */
    uint64_t relaxed; /* reuses before which another thread had stored while not all were armed yet */
    uint64_t lost;    /* outcomes beyond `most` */
    uint64_t traps;
};

struct as_reuse_watch;
struct as_reuse_watch *as_reuse_watch_new(const struct as_watch_options *options, const struct as_lens *lens);
void as_reuse_watch_free(struct as_reuse_watch *watch);
extern const struct as_lens_client as_reuse_watch_client; /* its context is the watch */

/* For a machine that knows some outcomes without watching: adds one. */
void as_reuse_watch_add(struct as_reuse_watch *watch, const struct as_watch_outcome *outcome);
/* … and for one that arms before the use: the use that these watchpoints (as_lens_watch.data) are of is made now. */
void as_reuse_watch_used(struct as_reuse_watch *watch, uint64_t data);

/* … and for one that learns only later how much a sample stands for: multiplies the weights of uses made at time t by
 * factors[t], for t below n. */
void as_reuse_watch_weigh(struct as_reuse_watch *watch, const double *factors, size_t n);

/* For machines that are modelled, with a lag: a thread is about to make these accesses, the machine's time being `now`. */
struct as_data_access;
void as_reuse_watch_before(struct as_reuse_watch *watch, uint32_t thread, const struct as_data_access *accesses,
                           size_t n, uint64_t now);

/* When the program has ended: what is still watched never ended. */
void as_reuse_watch_finish(struct as_reuse_watch *watch);
struct as_watch_result as_reuse_watch_result(const struct as_reuse_watch *watch);
bool as_reuse_watch_is_shared(const struct as_reuse_watch *watch); /* distances are those of all threads */
const struct as_watch_outcome *as_reuse_watch_outcomes(const struct as_reuse_watch *watch, size_t *n);

#endif
