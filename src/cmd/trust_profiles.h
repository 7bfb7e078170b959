/* Profiles, by what error to expect of their samples: one by itself, or two against each other where there is no truth. */
#ifndef AS_CMD_TRUST_PROFILES_H
#define AS_CMD_TRUST_PROFILES_H

#include "base/strlist.h"
#include "trust/trust_again.h"

#include <stdio.h>

struct as_trust_asked {
    bool json;
    struct as_strlist series; /* to judge, of each profile; the last one is that of all further ones */
    bool again;               /* run the program in the model */
    struct as_again_options how;
};

/* Opens the profile with this number. */
bool as_trust_open_profile(const struct as_trust_asked *asked, size_t number, const char *file, struct as_view *view,
                           struct as_error *err) AS_MUST_CHECK;

/* What error to expect, by level, and what makes it: trust_profile.c. */
bool as_trust_show_profile(const char *file, const struct as_trust_asked *asked, FILE *out,
                           struct as_error *err) AS_MUST_CHECK;

/* How far two profiles of one program are apart, level by level; whether chance explains it; and, with `again`, how far
 * apart two such samplers are on this program in the model. */
bool as_trust_compare_profiles(const char *first, const char *second, const struct as_trust_asked *asked, FILE *out,
                               struct as_error *err) AS_MUST_CHECK;

#endif
