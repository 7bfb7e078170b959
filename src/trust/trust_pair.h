/* Two profiles of one program against each other, where there is no truth: how far they are apart at each level, whether
 * chance explains it, and whether it is more than to expect, by the errors of the two or by what two such samplers make of
 * the program in the model. */
#ifndef AS_TRUST_TRUST_PAIR_H
#define AS_TRUST_TRUST_PAIR_H

#include "score/agreement.h"
#include "trust/trust_again.h"
#include "view/diff.h"

enum { AS_TRUST_LEVELS = 4 };
extern const enum as_store_level as_trust_levels[AS_TRUST_LEVELS]; /* finest first */

/* What tells how far apart to expect them. */
enum as_trust_expects { AS_TRUST_NOTHING, AS_TRUST_MODEL_EXPECTS, AS_TRUST_ERRORS_EXPECT };

struct as_trust_pair {
    struct as_view views[AS_DIFF_SIDES];
    struct as_agreement agreements[AS_TRUST_LEVELS];
    bool comparable; /* both count the same; if not, nothing is expected */
    enum as_trust_expects by;
    double expected[AS_TRUST_LEVELS]; /* distances of two such profiles, if something tells them */
};

/* The views are open, and stay the caller's. `again`: run the program in the model if the errors of the two are not
 * known; NULL: do not. False: they are not of one program, or cannot be read or run. */
bool as_trust_pair_make(struct as_trust_pair *pair, const struct as_again_options *again,
                        struct as_error *err) AS_MUST_CHECK;
/* The finest level at which they agree, as an index of as_trust_levels; AS_TRUST_LEVELS: none. */
size_t as_trust_pair_agreed(const struct as_trust_pair *pair);
/* Whether they are further apart, at any level, than what is expected and chance explain. */
bool as_trust_pair_is_far(const struct as_trust_pair *pair);

/* What the series of a view counts: "time", by whatever clock, or an event. */
const char *as_trust_counted(const struct as_view *view);

#endif
