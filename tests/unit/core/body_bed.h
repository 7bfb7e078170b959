/* The steps of a core_bed as blocks: for whoever runs them with a memo. */
#ifndef AS_TESTS_BODY_BED_H
#define AS_TESTS_BODY_BED_H

#include "core/memo.h"
#include "core_bed.h"

struct body_join {
    const struct as_body *first, *second;
    bool taken;
    struct as_body *both;
};

struct body_bed {
    const struct core_bed *bed;
    AS_VEC(struct as_body *) bodies; /* by first step's instruction, then by length: see body_bed_next */
    AS_VEC(uint32_t) starts;
    struct as_core_access accesses[64];
    uint32_t n_accesses;
    AS_VEC(struct body_join) joins;
};

/* The block that starts with step `at`: up to a control transfer, 16 instructions at most. Returns how many steps. */
uint32_t body_bed_next(struct body_bed *bodies, size_t at, struct as_body_run *run);
/* The thread makes a pause before step `at`, as system calls do. */
static inline bool body_bed_pauses(size_t at)
{
    return at > 900 && at % 1000 < 3;
}
/* The same for a chain of up to so many blocks, without pauses in it. */
uint32_t body_bed_chain(struct body_bed *bodies, size_t at, uint32_t blocks, struct as_body_run *run);
void body_bed_close(struct body_bed *bodies);

#endif
