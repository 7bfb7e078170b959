/* Where the accesses of a run go: an observer that interleaves threads finely (lens/weave.h) and gives what comes out to
 * the exact analysis and to the modelled machine with its watchpoints, whichever there are. */
#ifndef AS_REUSE_REUSE_FEED_H
#define AS_REUSE_REUSE_FEED_H

#include "reuse/reuse.h"

struct as_modelled_lens;
struct as_reuse_feed;
/* NULL: not asked for. Both stay the caller's. */
struct as_reuse_feed *as_reuse_feed_new(struct as_reuse *exact, struct as_modelled_lens *lens);
extern const struct as_observer as_reuse_feed_observer; /* its self is the feed, and its free frees it */

#endif
