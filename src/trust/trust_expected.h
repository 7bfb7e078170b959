/* One profile: what error to expect of its samples. */
#ifndef AS_TRUST_TRUST_EXPECTED_H
#define AS_TRUST_TRUST_EXPECTED_H

#include "view/view.h"

struct as_trust_expected {
    double errors[AS_BIAS_LEVELS]; /* of chance and bias, that of half of the suite's programs; or what was measured */
    double chance[AS_BIAS_LEVELS]; /* NAN: it is no estimate */
    int believed;                  /* the finest level with a small error there and above; -1: none */
};

/* Opens a profile that is exact or has samples. `series`: NULL: its default. */
bool as_trust_open_view(struct as_view *view, const char *file, const char *series, struct as_error *err) AS_MUST_CHECK;
struct as_trust_expected as_trust_expect(const struct as_view *view);

/* Whether the error of the series was measured in its own run, or is none. */
bool as_trust_has_error(const struct as_view *view);
/* The error of a profile, measured or to be expected; NAN: not known. */
double as_trust_error_at(const struct as_view *view, enum as_bias_level level);

#endif
