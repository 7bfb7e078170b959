/* A profile's program again, in the model, sampled as the profile was: what such samples get wrong on this very program. */
#ifndef AS_CMD_TRUST_AGAIN_H
#define AS_CMD_TRUST_AGAIN_H

#include "base/notice.h"
#include "view/view.h"

struct as_again_options {
    const char *core;   /* NULL: one like the profile's processor */
    uint64_t max, seed; /* instructions that are measured, from the hottest function on */
    struct as_notices notices;
};

/* `of` is open; `again` gets the view of a profile that goes away when it is freed. Refuses profiles that are not of
 * samples, of ways that are not modelled, of programs that are not here. */
bool as_trust_again(const struct as_view *of, const struct as_again_options *options, struct as_view *again,
                    struct as_error *err) AS_MUST_CHECK;

/* What the way gets wrong by itself on the program, by level: the error that `again` has, less chance. It becomes the bias of
 * `of`, here and in its file, where reports find it from then on; a notice says so, or why it cannot be written. */
void as_trust_again_keep(struct as_view *of, const struct as_view *again, const struct as_notices *notices);

#endif
