/* What the tests of units share: code that is made of numbers, units with nothing special, and a run of records through one. */
#ifndef PMU_BED_H
#define PMU_BED_H

#include "unit.h"

#include "base/vec.h"
#include "pmu/pmu_stream.h"

/* The address of an instruction is 16 times its number; its kind is the number's last digit in base 16. */
enum { NOP = 0, LOAD = 1, STORE = 2, BRANCH = 3, CALL = 4, RET = 5, LOCKED = 6, SYSCALL = 7, LOAD2 = 8, KINDS };

extern const struct as_run_info bed_run;
extern const struct as_pmu plain_pebs, plain_ibs, plain_spe;

struct taken {
    AS_VEC(struct as_pmu_sample) samples;
    AS_VEC(struct as_pmu_branch) branches; /* of the last sample */
    struct as_pmu_counts counts[AS_PMU_COUNTERS_MAX];
};

void bed_take(void *context, const struct as_pmu_sample *sample); /* adds a sample to a struct taken */
struct taken run(const struct as_pmu_request *request, const struct as_pipe *pipes, size_t n,
                 const struct as_data_access *accesses, const uint32_t *owners, size_t n_accesses);
void clear(struct taken *taken);
struct as_pmu_request ask(const struct as_pmu *pmu, const char *event, uint64_t period);

#endif
