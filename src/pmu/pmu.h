/* A modelled sampling unit: what a .pmu file says of it (doc/format/pmu.md).
 *
 * The samplers of src/sampler are ideal policies. A unit here is a mechanism with its imperfections: counters that
 * overflow, the delay until the hardware is armed, tags at dispatch, interrupts that come late. Each of them is a key of
 * the file, with the source of its number.
 *
 * This folder must not know the core model or the engine: it reads records (assay/pipe.h) and nothing else.
 */
#ifndef AS_PMU_H
#define AS_PMU_H

#include "base/error.h"
#include "base/str.h"

#include <limits.h>
#include <stdint.h>
#include <stdio.h>

enum as_pmu_kind { AS_PMU_PEBS, AS_PMU_IBS, AS_PMU_SPE, AS_PMU_TIP, AS_PMU_TEA, AS_PMU_KINDS };
extern const char *const as_pmu_kind_names[]; /* "pebs" …, NULL behind the last */

/* Which operation of a dispatch group a tagging unit takes. */
enum as_pmu_slot { AS_PMU_SLOT_FIRST, AS_PMU_SLOT_ANY };

/* Where TIP and TEA choose an instruction: among those that commit, as proposed, or as it is dispatched. */
enum as_pmu_stage { AS_PMU_STAGE_COMMIT, AS_PMU_STAGE_DISPATCH };

/* Events with a shadow of their own. */
enum as_pmu_shadow {
    AS_SHADOW_INSTRUCTIONS,
    AS_SHADOW_LOADS,
    AS_SHADOW_STORES,
    AS_SHADOW_BRANCHES,
    AS_SHADOW_L1_MISS,
    AS_SHADOW_L2_MISS,
    AS_SHADOW_L3_MISS,
    AS_SHADOW_COUNT
};

struct as_pmu {
    char name[64], description[256], source[512];
    char cpu_id[64]; /* "AuthenticAMD,25,17,1", the MIDR in hexadecimal; "": none is given */
    uint32_t kind;   /* enum as_pmu_kind */
    /* PEBS */
    uint32_t counters, fixed;
    bool pdir, latency;
    uint32_t shadow[AS_SHADOW_COUNT]; /* cycles from the overflow until the unit is armed */
    uint32_t multiplex;               /* microseconds that a set of events stays on the counters */
    /* IBS */
    uint32_t random_bits, fetch_random_bits;
    bool counts_ops, off_by_one;
    uint32_t slot;              /* enum as_pmu_slot */
    uint32_t interrupt, jitter; /* cycles from retirement until the handler stops the counter: least, and up to more */
    /* SPE */
    uint32_t jitter_bits, least_interval, target_window;
    /* TIP and TEA */
    uint32_t stage; /* enum as_pmu_stage */
    /* LBR */
    uint32_t lbr;
    bool lbr_cycles, lbr_mispredicts, lbr_call_stack;
    /* What a sample costs, and the memory that it takes */
    uint32_t record_bytes, buffer_records, buffer_bytes;
    uint32_t assist, interrupt_cost, copy, signal, ioctl, handler_loads;
    /* The stub that stands for the kernel: instructions */
    uint32_t kernel_entry, kernel_body, kernel_locked, kernel_exit;
    char path[PATH_MAX]; /* "" where it came from a text */
};

/* `name_or_path`: a file that ships (skylake), or a path. */
bool as_pmu_load(const char *name_or_path, struct as_pmu *pmu, struct as_error *err) AS_MUST_CHECK;
bool as_pmu_parse(const char *text, size_t size, const char *origin, struct as_pmu *pmu,
                  struct as_error *err) AS_MUST_CHECK;
/* Each KEY=VALUE in place of what the file says. They are checked together, whatever their order; false: nothing is set. */
bool as_pmu_set(struct as_pmu *pmu, const char *const *assignments, size_t n, struct as_error *err) AS_MUST_CHECK;
void as_pmu_print(const struct as_pmu *pmu, FILE *out);

void as_pmu_list(void (*found)(void *context, const char *name), void *context);
void as_pmu_names(struct as_str *list); /* "a, b": for help and messages */
void as_pmu_keys(void (*found)(void *context, const char *key, const char *meaning, const char *allowed),
                 void *context);

#endif
