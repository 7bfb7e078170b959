/* A file in /tmp for the profile that a group of tests writes: set up and tear down of the group. */
#ifndef AS_TESTS_UNIT_PROFILE_H
#define AS_TESTS_UNIT_PROFILE_H

#include <stdlib.h>
#include <unistd.h>

static char unit_profile[] = "/tmp/assay-test-profile-XXXXXX"; /* its name */

/* An empty file, which tells a store that it may replace it. */
static inline int unit_profile_make(void **state)
{
    int fd = mkstemp(unit_profile);
    return fd < 0 || close(fd) != 0;
}

static inline int unit_profile_remove(void **state)
{
    unlink(unit_profile);
    return 0;
}

#endif
