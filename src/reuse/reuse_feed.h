/* Where the accesses of a run go: an observer that interleaves threads finely (lens/weave.h) and gives what comes out to
 * the exact analysis and to a modelled machine with watchpoints, whichever there are. */
#ifndef AS_REUSE_REUSE_FEED_H
#define AS_REUSE_REUSE_FEED_H

#include "lens/modelled_lens.h"
#include "reuse/adjacent.h"
#include "reuse/code_sites.h"
#include "reuse/reuse.h"
#include "reuse/reuse_watch.h"

struct as_reuse_feed_options {
    struct as_reuse *exact;       /* NULL: no exact analysis. It stays the caller's */
    struct as_adjacent *adjacent; /* NULL: not asked for. It stays the caller's */
    bool watch;                   /* samples and watchpoints on a modelled machine: */
    struct as_watch_options watch_options;
    uint64_t period;                 /* accesses; loads and stores have a counter each */
    uint32_t registers;              /* of a thread, 0 to 4 */
    const struct as_lens_unit *unit; /* what samples; NULL: an ideal unit */
    bool disturb;                    /* threads stand still while samples and traps are handled */
    /* The kind of the records that say which call path a thread is in from there on, by `insn` and `address`; 0: there are
     * none. With them, codes are those of as_reuse_feed_sites. */
    uint8_t path_kind;
    const struct as_run_info *run; /* asked for instructions, to find the threads' stacks; NULL: they stay unknown */
};

struct as_reuse_feed;
struct as_reuse_feed *as_reuse_feed_new(const struct as_reuse_feed_options *options);
extern const struct as_observer as_reuse_feed_observer; /* its self is the feed */
void as_reuse_feed_free(struct as_reuse_feed *feed);    /* not the observer's: results are read after it is gone */
/* After the observer's finish. NULL: nothing is watched. */
const struct as_reuse_watch *as_reuse_feed_watch(const struct as_reuse_feed *feed);
uint64_t as_reuse_feed_missed(const struct as_reuse_feed *feed);   /* samples, by the unit */
uint64_t as_reuse_feed_accesses(const struct as_reuse_feed *feed); /* that the machine has seen */
/* What codes mean; a path's name is insn << 32 | address of its record. NULL: codes are instructions. */
const struct as_code_sites *as_reuse_feed_sites(const struct as_reuse_feed *feed);
uint64_t as_reuse_feed_stack(const struct as_reuse_feed *feed, uint32_t thread); /* an address on it; 0: unknown */

#endif
