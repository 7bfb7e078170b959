/* What sampling costs: time and memory of a run that is sampled, and the storage that TIP and TEA add to a core. */
#ifndef AS_PMU_COST_H
#define AS_PMU_COST_H

#include "pmu/pmu_request.h"

/* Of a run with so many samples. */
struct as_pmu_price {
    uint64_t cycles; /* that the run takes longer, all threads together */
    double overhead; /* … as a part of the run */
    uint64_t bytes;  /* of memory */
};
struct as_pmu_price as_pmu_price(const struct as_pmu *pmu, enum as_pmu_handler handler, uint64_t samples,
                                 uint64_t cycles, uint64_t threads);

/* Parts of a core that the storage depends on. */
struct as_pmu_sizes {
    uint32_t commit_width, dispatch_width, rob, fetch_buffer, load_queue, store_queue;
};

/* Storage of TIP and of what TEA adds to it, in bytes a core; bits an entry; data. After the tables of the two papers,
 * whose core gives 57, 249, 306 and 9. */
struct as_pmu_hardware {
    uint32_t tip_bytes, tea_bytes;     /* tea_bytes: without TIP's */
    uint32_t rob_bits, fetch_bits;     /* that TEA adds to an entry */
    uint32_t plain_sample, tip_sample; /* bytes: of a unit that has one address, and of TIP and TEA */
    double plain_rate, tip_rate;       /* bytes a second at `rate` samples a second */
    double oracle_rate;                /* … if every cycle were recorded */
};
struct as_pmu_hardware as_pmu_hardware(const struct as_pmu_sizes *sizes, double frequency, double rate);

#endif
