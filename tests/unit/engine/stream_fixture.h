/* What tests of streams begin with: one bed, new for each test, with the code of stream_bed.h. */
#ifndef STREAM_FIXTURE_H
#define STREAM_FIXTURE_H

#include "stream_bed.h"

static struct bed bed;

static inline int set_up(void **state)
{
    bed_init(&bed);
    bed_add_code(&bed);
    return 0;
}

static inline int tear_down(void **state)
{
    bed_free(&bed);
    return 0;
}

static inline void expect(const char *want)
{
    bed_expect_always(&bed, want, 0);
}

#endif
