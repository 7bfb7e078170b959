/* A profile's program again, in the model, sampled as the profile was: what such samples get wrong on this very program.
 *
 * A few runs, each from one of the hottest functions on, stand for the functions that they consist of; the rest of the
 * samples keeps what the suite's programs have. */
#ifndef AS_TRUST_TRUST_AGAIN_H
#define AS_TRUST_TRUST_AGAIN_H

#include "base/notice.h"
#include "view/view.h"

struct as_again_options {
    const char *core;   /* NULL: one like the profile's processor */
    uint64_t max, seed; /* instructions that are measured, in all */
    struct as_notices notices;
};

/* Where an interrupt falls in a short loop depends on how many instructions are fetched ahead, to the last one, which is not
 * known of a processor so exactly. So each run is there with the fetch buffer of the machine, and with one and two
 * entries fewer. */
enum { AS_AGAIN_RUNS = 4, AS_AGAIN_WINDOWS = 3 };

struct as_again_run {
    char *from;   /* the function */
    double share; /* of the profile's samples that it stands for */
    struct as_view views[AS_AGAIN_WINDOWS];
};

struct as_again {
    struct as_again_run runs[AS_AGAIN_RUNS];
    size_t n;
    double measured; /* their shares together */
};

/* `of` is open. Refuses profiles that are not of samples, of ways that are not modelled, of programs that are not here or
 * that have changed. `like`: the same functions as there; NULL: those in which `of` has most samples. Freed by the caller
 * even after a failure. */
bool as_trust_again(const struct as_view *of, const struct as_again_options *options, const struct as_again *like,
                    struct as_again *again, struct as_error *err) AS_MUST_CHECK;
void as_trust_again_free(struct as_again *again);

/* What the way gets wrong by itself on the program, by level: the error of the runs, less chance, by their shares. It becomes
 * the bias of `of`, here and in its file, where reports find it from then on; a notice says so, or why it cannot be
 * written. */
void as_trust_again_keep(struct as_view *of, const struct as_again *again, const struct as_notices *notices);

#endif
