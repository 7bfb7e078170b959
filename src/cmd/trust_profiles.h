/* Two samplers against each other where there is no truth: how far two profiles of one program are apart, level by
 * level, and whether chance explains it. */
#ifndef AS_CMD_TRUST_PROFILES_H
#define AS_CMD_TRUST_PROFILES_H

#include "base/error.h"

#include <stdio.h>

bool as_trust_compare_profiles(const char *first, const char *second, bool json, FILE *out,
                               struct as_error *err) AS_MUST_CHECK;

#endif
