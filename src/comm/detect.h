/* Communication from samples and watchpoints: Algorithm 1 of ComDetective (002, 5.3), as a client of a lens.
 *
 * A sampled store is published on the bulletin board. A sample of a line that another thread has published lately is
 * communication. Otherwise the thread watches some published line itself: if it touches that, that is communication, too.
 * Each detection stands for a sampling period of accesses; a trap for L / (D * M) times that, because D registers of M
 * bytes see only a part of a line of L bytes.
 *
 * Where the paper leaves room, or contradicts itself, this is what happens here and why (doc/design/comm.md has the
 * measurements):
 *   publishing    line 22 of the algorithm keeps any entry that has not expired, the text only the thread's own. Here a
 *                 sampled store always replaces the line's entry. Its own is as old as its sample before, so by the rule
 *                 for readers it has expired; keeping another's would hide every second writer of a line that all write.
 *   recent        a thread takes an entry as recent, to watch it, only if it was published between its last two samples.
 *   life          an entry is not watched any more when its thread has taken `entry_life` further samples of stores (2). A
 *                 look-up takes it until another one replaces it, as line 11 does.
 *   watchpoints   expire after `watch_life` samples of their thread (2), loads included.
 *   t_prev        is kept for each of the last few lines, not once for all of them, and a trap sets it as well: what was
 *                 counted on one line says nothing about another, and an entry counts once for each thread. For lines that the thread
 *                 has forgotten, the entry itself has a mark of each thread (of the first 64) that counted it.
 *   turns         where threads take turns on a processor, a line that both use all the time changes hands once a turn, not
 *                 once for each period that a sample stands for. A look-up whose reader did not run when the entry was
 *                 published, or whose publisher does not run any more, counts 1 if the publisher had sampled the line before.
 *   true or false is whether the thread touches bytes that the publisher was sampled to store to, with this store or with one of its
 *                 samples of the line before. Where `watch_published` is set, one register watches the published bytes: a thread that
 *                 touches these and others before its watchpoints expire, as one that reads a whole buffer does, has true sharing.
 *   atomics       count as stores. A counter of loads sees them too; those samples are left out.
 */
#ifndef AS_COMM_DETECT_H
#define AS_COMM_DETECT_H

#include "base/vec.h"
#include "comm/contact.h"
#include "comm/pair_matrix.h"
#include "lens/lens.h"

enum {
    AS_DETECT_THREADS = 2048,
    AS_DETECT_OWN_SAMPLES = 4096
}; /* threads: those whose numbers are below that are seen */

struct as_detect_options {
    size_t buckets;       /* of the board */
    uint32_t entry_life;  /* store samples of the publisher */
    uint32_t watch_life;  /* samples of the thread that watches */
    uint32_t registers;   /* at most so many of what the machine has */
    uint32_t own_samples; /* a line of which the thread has one among so many of its own samples is not watched */
    bool
        watch_published; /* one of several registers watches the published bytes; otherwise all watch bytes at random */
    bool last_stores;    /* not Algorithm 1: last_store.h */
    uint32_t follow_life; /* … store samples of all threads for which a store is followed */
    uint64_t seed;
};
#define AS_DETECT_OPTIONS_DEFAULT                                                                                      \
    {                                                                                                                  \
        .buckets = 127, .entry_life = 2, .watch_life = 2, .registers = 4, .own_samples = AS_DETECT_OWN_SAMPLES,        \
        .seed = 1                                                                                                      \
    }

/* One detection, as it was. */
struct as_detection {
    struct as_lens_access from, to; /* from: the published store */
    uint64_t count;                 /* accesses for which it stands */
    bool is_false;
};

struct as_detect_counts {
    uint64_t load_samples, store_samples, ignored; /* ignored: atomics by the counter of loads */
    uint64_t published, found;                     /* found: communication by a look-up */
    uint64_t turns;                                /* … of these, between threads that did not run at the same time */
    uint64_t armed, trapped;                       /* lines that were watched; … on which a trap came */
    uint64_t refused;                              /* the machine gave no register */
    uint64_t unseen;                               /* samples of threads whose number is too large */
};

struct as_detect;
struct as_detect *as_detect_new(const struct as_lens *lens, const struct as_detect_options *options);
extern const struct as_lens_client as_detect_client; /* its context is the detector */
/* No more calls come: what is left open counts as it is. */
void as_detect_finish(struct as_detect *detect);
struct as_detect_counts as_detect_counts(const struct as_detect *detect);
/* When no more calls come. `places`: of each thread number below n, its row; UINT32_MAX: not in the matrix. */
void as_detect_matrix(const struct as_detect *detect, const uint32_t *places, size_t n, struct as_pair_matrix *matrix);
void as_detect_contacts(const struct as_detect *detect, const uint32_t *places, size_t n, struct as_contacts *contacts);
void as_detect_free(struct as_detect *detect);

#endif
