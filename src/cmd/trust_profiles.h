/* Profiles, by what error to expect of their samples: one by itself, or two against each other where there is no truth. */
#ifndef AS_CMD_TRUST_PROFILES_H
#define AS_CMD_TRUST_PROFILES_H

#include "cmd/trust_again.h"

#include <stdio.h>

struct as_trust_asked {
    bool json;
    bool again; /* run the program in the model */
    struct as_again_options how;
};

/* What error to expect, by level, and what makes it: trust_profile.c. */
bool as_trust_show_profile(const char *file, const struct as_trust_asked *asked, FILE *out,
                           struct as_error *err) AS_MUST_CHECK;

/* How far two profiles of one program are apart, level by level; whether chance explains it; and, with `again`, how far
 * apart two such samplers are on this program in the model. */
bool as_trust_compare_profiles(const char *first, const char *second, const struct as_trust_asked *asked, FILE *out,
                               struct as_error *err) AS_MUST_CHECK;

#endif
