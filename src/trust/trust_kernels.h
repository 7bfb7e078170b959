/* Programs whose events are known: small loops of machine code with parameters, for x86-64 and RISC-V, and what one
 * iteration of each counts. `qualify` (workloads) executes them; `assay trust` builds the same code to know which instruction is where.
 *
 * After the listings of three papers: Sasongko's Accuracy-Bench, Load-Ratio, Locked-Load, Bias-Bench, Multi-Event and
 * Exec-Mode; the three snippets of Yi et al., with nops; Nowak's latency-biased and call-chain kernels.
 *
 * Uses the C library only: it is linked into the program that is measured.
 */
#ifndef AS_TRUST_KERNELS_H
#define AS_TRUST_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define AS_KERNEL_ADDRESS UINT64_C(0x20000000) /* where the code lies in the program */

enum as_kernel_event {
    AS_KERNEL_INSTRUCTIONS,
    AS_KERNEL_LOADS,
    AS_KERNEL_STORES,
    AS_KERNEL_LOCKED,
    AS_KERNEL_BRANCHES,
    AS_KERNEL_TAKEN,
    AS_KERNEL_RETURNS,
    AS_KERNEL_CONDITIONAL,
    AS_KERNEL_CALLS,
    AS_KERNEL_L1_MISS,
    AS_KERNEL_L2_MISS,
    AS_KERNEL_L3_MISS,
    AS_KERNEL_SYSCALLS,
    AS_KERNEL_EVENTS
};

struct as_kernel_options {
    uint64_t iterations;
    uint32_t ratio;  /* instructions of an iteration, where one of them is the event */
    uint32_t places; /* equal loads in a row, or functions of the call chain */
    uint32_t nops;   /* behind each event */
    bool fence;      /* at the start of each iteration */
    bool riscv;      /* code for RV64GC, not for x86-64 */
};

enum { AS_KERNEL_BYTES = 1 << 20, AS_KERNEL_LABELS = 64, AS_KERNEL_DATA = 1 << 22, AS_KERNEL_NOPS_MAX = 20000 };

/* An instruction, or a run of them, that is told apart from others. */
struct as_kernel_label {
    char name[16];
    uint32_t offset, end; /* in the code */
    uint32_t events;      /* 1 << enum as_kernel_event: that it counts, each in every iteration */
    double executed;      /* its instructions in an iteration on average; 0: one for each that it has */
};

struct as_kernel_code {
    uint8_t *bytes; /* AS_KERNEL_BYTES, the caller's */
    size_t size;
    struct as_kernel_label labels[AS_KERNEL_LABELS];
    size_t n_labels;
    double per_iteration[AS_KERNEL_EVENTS];
    bool overflowed; /* the code did not fit */
};

struct as_kernel {
    const char *name, *about;
    struct as_kernel_options usual; /* iterations: so many that a run takes a fraction of a second */
    void (*emit)(struct as_kernel_code *code, const struct as_kernel_options *options);
    void (*emit_riscv)(struct as_kernel_code *code, const struct as_kernel_options *options); /* NULL: cannot be */
    bool chases; /* the data are a random cycle of indices, 128 bytes apart */
};

enum { AS_KERNEL_COUNT = 15 };
extern const struct as_kernel as_kernels[AS_KERNEL_COUNT];
const struct as_kernel *as_kernel_find(const char *name); /* NULL: there is none */

/* Code of a function (data, iterations) that returns nothing. False: it is too large, or there is none for RISC-V. */
bool as_kernel_build(const struct as_kernel *kernel, const struct as_kernel_options *options,
                     struct as_kernel_code *code);
void as_kernel_fill(const struct as_kernel *kernel, void *data, size_t size);
/* Sets one of iterations, ratio, places, nops and fence from KEY=VALUE; false: no such key, or not a number of it. */
bool as_kernel_set(struct as_kernel_options *options, const char *assignment);

/* For the emitters. */
struct as_kernel_label *as_kernel_label(struct as_kernel_code *code, const char *name, uint32_t number);
void as_kernel_end_label(struct as_kernel_code *code, struct as_kernel_label *label, uint32_t events);
void as_kernel_put(struct as_kernel_code *code, const void *bytes, size_t size);
/* Of the kernel `misses`: bytes of each of its four areas, a power of two, and what reads in them miss. Its reads go on by
 * three lines, so that a prefetch of the next one does not help. */
uint32_t as_kernel_area(const struct as_kernel_options *options);
uint32_t as_kernel_missing(uint32_t area);
enum { AS_KERNEL_STRIDE = 192, AS_KERNEL_IN_L2 = 1 << 20 };
enum { AS_KERNEL_FAR = 600 }; /* nops that put iterations out of each other's shadow */

enum {
    AS_KERNEL_A_LOAD = 1 << AS_KERNEL_LOADS,
    AS_KERNEL_A_STORE = 1 << AS_KERNEL_STORES,
    AS_KERNEL_A_BRANCH = 1 << AS_KERNEL_BRANCHES,
    AS_KERNEL_A_CONDITIONAL = 1 << AS_KERNEL_BRANCHES | 1 << AS_KERNEL_CONDITIONAL,
    AS_KERNEL_A_CALL = 1 << AS_KERNEL_BRANCHES | 1 << AS_KERNEL_TAKEN | 1 << AS_KERNEL_CALLS,
    AS_KERNEL_A_TAKEN = 1 << AS_KERNEL_TAKEN,
    AS_KERNEL_A_LOCKED = 1 << AS_KERNEL_LOADS | 1 << AS_KERNEL_STORES | 1 << AS_KERNEL_LOCKED,
};

/* trust_kernels_riscv.c */
typedef void as_kernel_emitter(struct as_kernel_code *code, const struct as_kernel_options *options);
as_kernel_emitter as_riscv_accuracy, as_riscv_load_ratio, as_riscv_locked_load, as_riscv_bias, as_riscv_distance,
    as_riscv_multi_event, as_riscv_exec_mode, as_riscv_snippet1, as_riscv_snippet2, as_riscv_stores, as_riscv_misses,
    as_riscv_mispredict, as_riscv_latency_biased, as_riscv_call_chain;

#endif
