/* See pmu_cost.h. */
#include "pmu/pmu_cost.h"

/* A handler in the program wants to know of each sample, so each raises an interrupt. */
struct as_pmu_price as_pmu_price(const struct as_pmu *pmu, enum as_pmu_handler handler, uint64_t samples,
                                 uint64_t cycles, uint64_t threads)
{
    uint64_t interrupts = handler == AS_HANDLER_NONE ? samples / pmu->buffer_records : samples;
    struct as_pmu_price price = {.bytes = threads * pmu->buffer_bytes};
    price.cycles = samples * ((uint64_t)pmu->assist + pmu->copy) + interrupts * pmu->interrupt_cost;
    if (handler >= AS_HANDLER_SIGNAL)
        price.cycles += samples * pmu->signal;
    if (handler >= AS_HANDLER_IOCTL)
        price.cycles += samples * pmu->ioctl;
    price.overhead = cycles ? (double)price.cycles / (double)cycles : 0;
    return price;
}

enum {
    WORD = 8,
    OIR_BYTES = 9,      /* TIP's oldest-instruction register: 64 bits of address, 3 of flags */
    PSV_BITS = 9,       /* events of an instruction */
    LAST_PSV_BYTES = 2, /* … of the one that committed last */
    FETCH_BITS = 2,     /* DR-L1 and DR-TLB */
    FETCH_STAGES = 3,
    PERF_BYTES = 40, /* that perf adds to a sample */
};

struct as_pmu_hardware as_pmu_hardware(const struct as_pmu_sizes *sizes, double frequency, double rate)
{
    struct as_pmu_hardware hardware = {.rob_bits = PSV_BITS, .fetch_bits = FETCH_BITS};
    uint32_t registers = sizes->commit_width + 2; /* addresses, cycle, flags */
    /* Fetch stages, entries of decode and dispatch, DR-SQ at dispatch, ST-TLB in each entry of the load-store unit. */
    uint32_t bits =
        FETCH_STAGES * FETCH_BITS + 2 * sizes->dispatch_width * FETCH_BITS + 1 + sizes->load_queue + sizes->store_queue;
    hardware.tip_bytes = OIR_BYTES + registers * WORD;
    hardware.tea_bytes =
        (sizes->fetch_buffer * FETCH_BITS + 7) / 8 + (sizes->rob * PSV_BITS + 7) / 8 + (bits + 7) / 8 + LAST_PSV_BYTES;
    hardware.plain_sample = PERF_BYTES + 2 * WORD;
    hardware.tip_sample = PERF_BYTES + registers * WORD;
    hardware.plain_rate = rate * hardware.plain_sample;
    hardware.tip_rate = rate * hardware.tip_sample;
    /* The addresses at the head of the ROB, the oldest one's, cycle and flags, every cycle. */
    hardware.oracle_rate = frequency * (registers + 1) * WORD;
    return hardware;
}
