/* See trust_kernels.h. Registers: rdi data, rsi iterations left, rdx an offset, rax, rcx, r8 to r11 scratch. */
#include "trust/trust_kernels.h"

#include <stdlib.h>
#include <string.h>

/* ---- bytes ---- */

void as_kernel_put(struct as_kernel_code *code, const void *bytes, size_t size)
{
    if (code->size + size > AS_KERNEL_BYTES) {
        code->overflowed = true;
        return;
    }
    memcpy(code->bytes + code->size, bytes, size);
    code->size += size;
}

/* One instruction of an iteration. */
#define INSN(code, ...)                                                                                                \
    do {                                                                                                               \
        static const uint8_t insn_bytes[] = {__VA_ARGS__};                                                             \
        as_kernel_put(code, insn_bytes, sizeof insn_bytes);                                                            \
        (code)->per_iteration[AS_KERNEL_INSTRUCTIONS]++;                                                               \
    } while (0)

/* One before the loop or behind it, which does not count. */
#define OUTSIDE(code, ...)                                                                                             \
    do {                                                                                                               \
        static const uint8_t insn_bytes[] = {__VA_ARGS__};                                                             \
        as_kernel_put(code, insn_bytes, sizeof insn_bytes);                                                            \
    } while (0)

static void put_u32(struct as_kernel_code *code, uint32_t value)
{
    as_kernel_put(code, &value, sizeof value);
}

static void nops(struct as_kernel_code *code, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        INSN(code, 0x90);
}

/* Adds to a register that nobody reads. */
static void adds(struct as_kernel_code *code, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        INSN(code, 0x49, 0x83, 0xc0, 0x01); /* add $1, %r8 */
}

static void align(struct as_kernel_code *code)
{
    while (code->size % 64)
        OUTSIDE(code, 0x90);
}

/* ---- labels ---- */

struct as_kernel_label *as_kernel_label(struct as_kernel_code *code, const char *name, uint32_t number)
{
    static struct as_kernel_label spare;
    struct as_kernel_label *here = code->n_labels < AS_KERNEL_LABELS ? &code->labels[code->n_labels++] : &spare;
    *here = (struct as_kernel_label){.offset = (uint32_t)code->size};
    size_t length = strlen(name) < 10 ? strlen(name) : 10;
    memcpy(here->name, name, length);
    if (number >= 10)
        here->name[length++] = (char)('0' + number / 10 % 10);
    if (number)
        here->name[length++] = (char)('0' + number % 10);
    return here;
}

void as_kernel_end_label(struct as_kernel_code *code, struct as_kernel_label *here, uint32_t events)
{
    here->end = (uint32_t)code->size;
    here->events = events | 1u << AS_KERNEL_INSTRUCTIONS;
    for (uint32_t i = 1; i < AS_KERNEL_EVENTS; i++)
        code->per_iteration[i] += events >> i & 1;
}

enum {
    LOAD = AS_KERNEL_A_LOAD,
    STORE = AS_KERNEL_A_STORE,
    BRANCH = AS_KERNEL_A_BRANCH,
    CONDITIONAL = AS_KERNEL_A_CONDITIONAL,
    TAKEN = AS_KERNEL_A_TAKEN,
    LOCKED = AS_KERNEL_A_LOCKED,
};

/* A conditional jump back, taken but for the last time. */
static void jump_back(struct as_kernel_code *code, size_t loop)
{
    struct as_kernel_label *jump = as_kernel_label(code, "jne", 0);
    INSN(code, 0x0f, 0x85);
    put_u32(code, (uint32_t)(loop - code->size - 4));
    as_kernel_end_label(code, jump, CONDITIONAL | TAKEN);
}

static void count_down(struct as_kernel_code *code, size_t loop)
{
    struct as_kernel_label *sub = as_kernel_label(code, "sub", 0);
    INSN(code, 0x48, 0x83, 0xee, 0x01); /* sub $1, %rsi */
    as_kernel_end_label(code, sub, 0);
    struct as_kernel_label *cmp = as_kernel_label(code, "cmp", 0);
    INSN(code, 0x48, 0x83, 0xfe, 0x00); /* cmp $0, %rsi */
    as_kernel_end_label(code, cmp, 0);
    jump_back(code, loop);
}

static void finish(struct as_kernel_code *code)
{
    OUTSIDE(code, 0xc3);
}

/* ---- the kernels ---- */

/* Listing 1 of PES: one load of `ratio` instructions, which misses the L1. */
static void emit_accuracy(struct as_kernel_code *code, const struct as_kernel_options *options)
{
    OUTSIDE(code, 0x48, 0x89, 0xf8); /* mov %rdi, %rax */
    size_t loop = code->size;
    struct as_kernel_label *load = as_kernel_label(code, "load", 0);
    INSN(code, 0x8b, 0x00); /* mov (%rax), %eax */
    as_kernel_end_label(code, load, LOAD | 1 << AS_KERNEL_L1_MISS);
    INSN(code, 0x48, 0xc1, 0xe0, 0x07); /* shl $7, %rax */
    INSN(code, 0x48, 0x01, 0xf8);       /* add %rdi, %rax */
    adds(code, options->ratio > 6 ? options->ratio - 6 : 0);
    count_down(code, loop);
    finish(code);
}

/* Listing 4.1: one load of `ratio` instructions, which hits. */
static void emit_load_ratio(struct as_kernel_code *code, const struct as_kernel_options *options)
{
    size_t loop = code->size;
    struct as_kernel_label *load = as_kernel_label(code, "load", 0);
    INSN(code, 0x8b, 0x07); /* mov (%rdi), %eax */
    as_kernel_end_label(code, load, LOAD);
    adds(code, options->ratio > 4 ? options->ratio - 4 : 0);
    count_down(code, loop);
    finish(code);
}

static void lock_add(struct as_kernel_code *code, uint32_t number)
{
    struct as_kernel_label *add = as_kernel_label(code, "lock add", number);
    INSN(code, 0xf0, 0x83, 0x07, 0x01); /* lock addl $1, (%rdi) */
    as_kernel_end_label(code, add, LOCKED);
}

static void emit_locked_load(struct as_kernel_code *code, const struct as_kernel_options *options)
{
    size_t loop = code->size;
    lock_add(code, 0);
    adds(code, options->ratio > 4 ? options->ratio - 4 : 0);
    count_down(code, loop);
    finish(code);
}

/* Listing 2: `places` equal loads in a row. */
static void emit_bias(struct as_kernel_code *code, const struct as_kernel_options *options)
{
    size_t loop = code->size;
    for (uint32_t i = 1; i <= options->places; i++) {
        struct as_kernel_label *load = as_kernel_label(code, "load ", i);
        INSN(code, 0x8b, 0x07);
        as_kernel_end_label(code, load, LOAD);
        nops(code, options->nops);
    }
    count_down(code, loop);
    finish(code);
}

/* Two equal loads, `nops` apart, and far from those of the next iteration. */
static void emit_distance(struct as_kernel_code *code, const struct as_kernel_options *options)
{
    size_t loop = code->size;
    for (uint32_t i = 1; i <= 2; i++) {
        struct as_kernel_label *load = as_kernel_label(code, "load ", i);
        INSN(code, 0x8b, 0x07);
        as_kernel_end_label(code, load, LOAD);
        nops(code, i == 1 ? options->nops : AS_KERNEL_FAR);
    }
    count_down(code, loop);
    finish(code);
}

/* Listing 3: a call, two locked adds, a load, branches of both kinds. */
static void emit_multi_event(struct as_kernel_code *code, const struct as_kernel_options *options)
{
    OUTSIDE(code, 0xeb, 0x01); /* jmp over the function */
    size_t function = code->size;
    struct as_kernel_label *ret = as_kernel_label(code, "ret", 0);
    INSN(code, 0xc3);
    as_kernel_end_label(code, ret, BRANCH | TAKEN | LOAD | 1 << AS_KERNEL_RETURNS);
    size_t loop = code->size;
    struct as_kernel_label *call = as_kernel_label(code, "call", 0);
    INSN(code, 0xe8);
    put_u32(code, (uint32_t)(function - code->size - 4));
    as_kernel_end_label(code, call, AS_KERNEL_A_CALL | STORE);
    lock_add(code, 1);
    lock_add(code, 2);
    struct as_kernel_label *load = as_kernel_label(code, "load", 0);
    INSN(code, 0x8b, 0x07);
    as_kernel_end_label(code, load, LOAD);
    INSN(code, 0x48, 0x83, 0xee, 0x01); /* sub $1, %rsi */
    INSN(code, 0x48, 0x83, 0xfe, 0x00); /* cmp $0, %rsi */
    struct as_kernel_label *je = as_kernel_label(code, "je", 0);
    INSN(code, 0x74, 0x0a); /* je over the rest */
    as_kernel_end_label(code, je, CONDITIONAL);
    INSN(code, 0x48, 0x83, 0xfe, 0x00);
    jump_back(code, loop);
    finish(code);
}

/* Listing 4: system calls; what the kernel does in them is not this code's. The ioctl is on no file. */
static void emit_exec_mode(struct as_kernel_code *code, const struct as_kernel_options *options)
{
    OUTSIDE(code, 0x49, 0x89, 0xf0);                         /* mov %rsi, %r8 */
    OUTSIDE(code, 0x48, 0xc7, 0xc7, 0xff, 0xff, 0xff, 0xff); /* mov $-1, %rdi */
    size_t loop = code->size;
    INSN(code, 0xb8, 0x10, 0x00, 0x00, 0x00); /* mov $16, %eax: ioctl */
    INSN(code, 0xbe, 0x67, 0x00, 0x00, 0x00); /* mov $0x67, %esi */
    struct as_kernel_label *call = as_kernel_label(code, "syscall", 0);
    INSN(code, 0x0f, 0x05);
    as_kernel_end_label(code, call, 1 << AS_KERNEL_SYSCALLS);
    INSN(code, 0x49, 0x83, 0xe8, 0x01); /* sub $1, %r8 */
    INSN(code, 0x49, 0x83, 0xf8, 0x00); /* cmp $0, %r8 */
    jump_back(code, loop);
    finish(code);
}

uint32_t as_kernel_area(const struct as_kernel_options *options)
{
    uint32_t area = 1024;
    while (area < options->ratio * 1024 && area < AS_KERNEL_DATA / 4)
        area *= 2;
    return area;
}

uint32_t as_kernel_missing(uint32_t area)
{
    return 1u << AS_KERNEL_L1_MISS | (area > AS_KERNEL_IN_L2 / 4 ? 1u << AS_KERNEL_L2_MISS : 0);
}

/* The next offset in an area of so many bytes, a power of two. */
static void advance(struct as_kernel_code *code, uint8_t step, uint32_t area)
{
    INSN(code, 0x48, 0x83, 0xc2); /* add $step, %rdx */
    as_kernel_put(code, &step, 1);
    INSN(code, 0x81, 0xe2); /* and $mask, %edx */
    put_u32(code, area - 1);
}

static void read_at(struct as_kernel_code *code, uint32_t number, uint32_t displacement, uint32_t events)
{
    struct as_kernel_label *load = as_kernel_label(code, "R", number);
    INSN(code, 0x48, 0x8b, 0x84, 0x17); /* mov displacement(%rdi,%rdx), %rax */
    put_u32(code, displacement);
    as_kernel_end_label(code, load, events);
}

/* Snippet 1: four reads of 32 bytes in a row, with a fence before them or without. */
static void emit_snippet1(struct as_kernel_code *code, const struct as_kernel_options *options)
{
    OUTSIDE(code, 0x31, 0xd2); /* xor %edx, %edx */
    size_t loop = code->size;
    if (options->fence)
        INSN(code, 0x0f, 0xae, 0xe8); /* lfence */
    for (uint32_t i = 0; i < 4; i++) {
        read_at(code, i + 1, 8 * i, LOAD);
        nops(code, options->nops);
    }
    advance(code, 32, AS_KERNEL_DATA);
    count_down(code, loop);
    finish(code);
}

/* A jump over a nop that the flags before it take every other time. */
static void jump_half_the_time(struct as_kernel_code *code, const char *name)
{
    struct as_kernel_label *label = as_kernel_label(code, name, 0);
    INSN(code, 0x75, 0x01); /* jnz over a nop */
    as_kernel_end_label(code, label, CONDITIONAL);
    code->per_iteration[AS_KERNEL_TAKEN] += 0.5;
    nops(code, 1);
    code->per_iteration[AS_KERNEL_INSTRUCTIONS] -= 0.5;
}

/* Snippet 2: the loop's branch, one every second time, fifty nops, one every third time. */
static void emit_snippet2(struct as_kernel_code *code, const struct as_kernel_options *options)
{
    OUTSIDE(code, 0x41, 0xb9, 0x03, 0x00, 0x00, 0x00); /* mov $3, %r9d */
    size_t loop = code->size;
    nops(code, options->nops);          /* behind Br1 */
    INSN(code, 0x40, 0xf6, 0xc6, 0x01); /* test $1, %sil */
    jump_half_the_time(code, "Br2");
    nops(code, options->nops > 50 ? options->nops : 50);
    INSN(code, 0x41, 0xff, 0xc9); /* dec %r9d */
    struct as_kernel_label *third = as_kernel_label(code, "Br3", 0);
    INSN(code, 0x75, 0x06); /* jnz over the mov */
    as_kernel_end_label(code, third, CONDITIONAL);
    code->per_iteration[AS_KERNEL_TAKEN] += 2.0 / 3;
    INSN(code, 0x41, 0xb9, 0x03, 0x00, 0x00, 0x00); /* mov $3, %r9d */
    code->per_iteration[AS_KERNEL_INSTRUCTIONS] -= 2.0 / 3;
    nops(code, options->nops);
    INSN(code, 0x48, 0x83, 0xee, 0x01); /* sub $1, %rsi */
    struct as_kernel_label *first = as_kernel_label(code, "Br1", 0);
    INSN(code, 0x0f, 0x85);
    put_u32(code, (uint32_t)(loop - code->size - 4));
    as_kernel_end_label(code, first, CONDITIONAL | TAKEN);
    finish(code);
}

/* Snippet 3: four lines are flushed, then read: all miss the last level. Flushing takes a processor hundreds of cycles,
 * which the core model does not have: `ratio` sums in a row, each of which waits for the one before, stand for them. */
static void emit_snippet3(struct as_kernel_code *code, const struct as_kernel_options *options)
{
    enum { AREA = AS_KERNEL_DATA / 8 };
    OUTSIDE(code, 0x31, 0xd2);
    size_t loop = code->size;
    for (uint32_t i = 0; i < 4; i++) {
        INSN(code, 0x0f, 0xae, 0xbc, 0x17); /* clflush displacement(%rdi,%rdx) */
        put_u32(code, i * AREA);
    }
    adds(code, options->ratio);
    INSN(code, 0x0f, 0xae, 0xf0); /* mfence */
    INSN(code, 0x0f, 0xae, 0xe8); /* lfence */
    for (uint32_t i = 0; i < 4; i++) {
        read_at(code, i + 1, i * AREA, LOAD | 1 << AS_KERNEL_L1_MISS | 1 << AS_KERNEL_L2_MISS | 1 << AS_KERNEL_L3_MISS);
        nops(code, options->nops);
    }
    advance(code, 8, AREA);
    count_down(code, loop);
    finish(code);
}

/* Four stores in a row, and far from those of the next iteration: evenly apart, each would get as many samples of others as
 * it loses. */
static void emit_stores(struct as_kernel_code *code, const struct as_kernel_options *options)
{
    size_t loop = code->size;
    for (uint8_t i = 0; i < 4; i++) {
        uint8_t displacement = (uint8_t)(8 * i);
        struct as_kernel_label *store = as_kernel_label(code, "W", i + 1u);
        INSN(code, 0x48, 0x89, 0x47); /* mov %rax, displacement(%rdi) */
        as_kernel_put(code, &displacement, 1);
        as_kernel_end_label(code, store, STORE);
        nops(code, options->nops);
    }
    nops(code, AS_KERNEL_FAR);
    count_down(code, loop);
    finish(code);
}

/* Four reads in areas of `ratio` KiB each, three lines further every time: too much for the L1, or for the L2. They are far from
 * those of the next iteration. */
static void emit_misses(struct as_kernel_code *code, const struct as_kernel_options *options)
{
    uint32_t area = as_kernel_area(options);
    OUTSIDE(code, 0x31, 0xd2); /* xor %edx, %edx */
    size_t loop = code->size;
    for (uint32_t i = 0; i < 4; i++) {
        read_at(code, i + 1, i * area, LOAD | as_kernel_missing(area));
        nops(code, options->nops);
    }
    nops(code, AS_KERNEL_FAR);
    INSN(code, 0x48, 0x81, 0xc2); /* add $192, %rdx */
    put_u32(code, AS_KERNEL_STRIDE);
    INSN(code, 0x81, 0xe2); /* and $mask, %edx */
    put_u32(code, area - 1);
    count_down(code, loop);
    finish(code);
}

/* A branch that goes either way by a bit of random numbers. */
static void emit_mispredict(struct as_kernel_code *code, const struct as_kernel_options *options)
{
    OUTSIDE(code, 0xb8, 0x01, 0x00, 0x00, 0x00); /* mov $1, %eax */
    size_t loop = code->size;
    INSN(code, 0x69, 0xc0, 0x6d, 0x4e, 0xc6, 0x41); /* imul $1103515245, %eax, %eax */
    INSN(code, 0x05, 0x39, 0x30, 0x00, 0x00);       /* add $12345, %eax */
    INSN(code, 0xa9, 0x00, 0x00, 0x80, 0x00);       /* test $1 << 23, %eax */
    jump_half_the_time(code, "either");
    count_down(code, loop);
    finish(code);
}

/* while (n--) ((n % 2) ? x /= y : x += y); */
static void emit_latency_biased(struct as_kernel_code *code, const struct as_kernel_options *options)
{
    OUTSIDE(code, 0x41, 0xba, 0x07, 0x00, 0x00, 0x00); /* mov $7, %r10d */
    size_t loop = code->size;
    INSN(code, 0x40, 0xf6, 0xc6, 0x01); /* test $1, %sil */
    INSN(code, 0x74, 0x0d);             /* jz to the sum */
    struct as_kernel_label *divide = as_kernel_label(code, "divide", 0);
    INSN(code, 0x4c, 0x89, 0xc8); /* mov %r9, %rax */
    INSN(code, 0x31, 0xd2);       /* xor %edx, %edx */
    INSN(code, 0x49, 0xf7, 0xf2); /* div %r10 */
    INSN(code, 0x49, 0x89, 0xc1); /* mov %rax, %r9 */
    INSN(code, 0xeb, 0x03);       /* jmp over the sum */
    as_kernel_end_label(code, divide, 0);
    divide->executed = 2.5;
    struct as_kernel_label *sum = as_kernel_label(code, "sum", 0);
    INSN(code, 0x4d, 0x01, 0xd1); /* add %r10, %r9 */
    as_kernel_end_label(code, sum, 0);
    sum->executed = 0.5;
    code->per_iteration[AS_KERNEL_INSTRUCTIONS] -= 3; /* half of five and half of one are executed */
    code->per_iteration[AS_KERNEL_BRANCHES] += 1.5;
    code->per_iteration[AS_KERNEL_CONDITIONAL]++;
    count_down(code, loop);
    finish(code);
}

/* `places` functions that do equal work, each called by the one before. */
static void emit_call_chain(struct as_kernel_code *code, const struct as_kernel_options *options)
{
    size_t starts[AS_KERNEL_LABELS], head;
    uint32_t n = options->places < 40 ? options->places : 40;
    OUTSIDE(code, 0xe9); /* jmp to the loop */
    head = code->size;
    put_u32(code, 0);
    for (uint32_t i = n; i > 0; i--) {
        align(code);
        starts[i] = code->size;
        struct as_kernel_label *function = as_kernel_label(code, "f", i);
        adds(code, i == n ? 14 : 12);
        if (i < n) {
            INSN(code, 0xe8);
            put_u32(code, (uint32_t)(starts[i + 1] - code->size - 4));
            INSN(code, 0x90);
        }
        INSN(code, 0xc3);
        as_kernel_end_label(code, function, 0);
        code->per_iteration[AS_KERNEL_BRANCHES] += i < n ? 2 : 1;
        code->per_iteration[AS_KERNEL_CALLS] += i < n;
    }
    align(code);
    uint32_t over = (uint32_t)(code->size - head - 4);
    if (!code->overflowed)
        memcpy(code->bytes + head, &over, sizeof over);
    size_t loop = code->size;
    INSN(code, 0xe8);
    put_u32(code, (uint32_t)(starts[1] - code->size - 4));
    code->per_iteration[AS_KERNEL_BRANCHES]++;
    code->per_iteration[AS_KERNEL_CALLS]++;
    count_down(code, loop);
    finish(code);
}

const struct as_kernel as_kernels[AS_KERNEL_COUNT] = {
    {"accuracy",
     "one load of so many instructions, which misses the L1 (Accuracy-Bench)",
     {.iterations = 100000, .ratio = 20},
     emit_accuracy,
     as_riscv_accuracy,
     .chases = true},
    {"load-ratio",
     "one load of so many instructions, which hits",
     {.iterations = 500000, .ratio = 4},
     emit_load_ratio,
     as_riscv_load_ratio},
    {"locked-load",
     "one locked add of so many instructions",
     {.iterations = 200000, .ratio = 4},
     emit_locked_load,
     as_riscv_locked_load},
    {"bias", "equal loads in a row (Bias-Bench)", {.iterations = 500000, .places = 4}, emit_bias, as_riscv_bias},
    {"distance", "two equal loads, so many nops apart", {.iterations = 20000}, emit_distance, as_riscv_distance},
    {"multi-event",
     "six kinds of events in known numbers",
     {.iterations = 200000},
     emit_multi_event,
     as_riscv_multi_event},
    {"exec-mode", "system calls", {.iterations = 20000}, emit_exec_mode, as_riscv_exec_mode},
    {"snippet1", "four reads in a row", {.iterations = 300000, .fence = true}, emit_snippet1, as_riscv_snippet1},
    {"snippet2",
     "three branches, one of them far from the others",
     {.iterations = 300000},
     emit_snippet2,
     as_riscv_snippet2},
    {"snippet3", "four reads of lines that were flushed", {.iterations = 20000, .ratio = 600}, emit_snippet3},
    {"stores", "four stores in a row, far from the next four", {.iterations = 100000}, emit_stores, as_riscv_stores},
    {"misses",
     "four reads, each in an area of so many KiB, far from the next four",
     {.iterations = 100000, .ratio = 64},
     emit_misses,
     as_riscv_misses},
    {"mispredict",
     "a branch that goes either way at random",
     {.iterations = 200000},
     emit_mispredict,
     as_riscv_mispredict},
    {"latency-biased",
     "a division and a sum in turn",
     {.iterations = 300000},
     emit_latency_biased,
     as_riscv_latency_biased},
    {"call-chain",
     "functions that do equal work and call each other",
     {.iterations = 50000, .places = 10},
     emit_call_chain,
     as_riscv_call_chain},
};

const struct as_kernel *as_kernel_find(const char *name)
{
    for (size_t i = 0; i < AS_KERNEL_COUNT; i++)
        if (strcmp(as_kernels[i].name, name) == 0)
            return &as_kernels[i];
    return NULL;
}

bool as_kernel_build(const struct as_kernel *kernel, const struct as_kernel_options *options,
                     struct as_kernel_code *code)
{
    uint8_t *bytes = code->bytes;
    *code = (struct as_kernel_code){.bytes = bytes};
    as_kernel_emitter *emit = options->riscv ? kernel->emit_riscv : kernel->emit;
    if (!emit)
        return false;
    emit(code, options);
    return !code->overflowed;
}

/* A random cycle through all elements, the same in every run: the Sattolo shuffle. */
void as_kernel_fill(const struct as_kernel *kernel, void *data, size_t size)
{
    enum { LINE = 64, STRIDE = 128, ELEMENTS = 1024 };
    uint32_t order[ELEMENTS];
    uint64_t state = 1;
    /* Line by line: one memset of all is a `rep stosb`, whose bytes QEMU stores one at a time, longer than most kernels run. */
    for (size_t at = 0; at + LINE <= size; at += LINE)
        memset((char *)data + at, 0, LINE);
    if (!kernel->chases || size < STRIDE * ELEMENTS)
        return;
    for (uint32_t i = 0; i < ELEMENTS; i++)
        order[i] = i;
    for (uint32_t i = ELEMENTS - 1; i > 0; i--) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        uint32_t other = (uint32_t)((state >> 33) % i), swap = order[i];
        order[i] = order[other];
        order[other] = swap;
    }
    for (uint32_t i = 0; i < ELEMENTS; i++)
        memcpy((char *)data + STRIDE * order[i], &order[(i + 1) % ELEMENTS], sizeof *order);
}

bool as_kernel_set(struct as_kernel_options *options, const char *assignment)
{
    const char *equals = strchr(assignment, '=');
    char *end;
    size_t length = equals ? (size_t)(equals - assignment) : 0;
    if (!equals || equals[1] < '0' || equals[1] > '9')
        return false;
    unsigned long long value = strtoull(equals + 1, &end, 10);
    const struct {
        const char *name;
        uint32_t *to, min, max;
    } keys[] = {{"ratio", &options->ratio, 1, 10000},
                {"places", &options->places, 1, 40},
                {"nops", &options->nops, 0, AS_KERNEL_NOPS_MAX}};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strlen(keys[i].name) == length && strncmp(keys[i].name, assignment, length) == 0) {
            *keys[i].to = (uint32_t)value;
            return *end == '\0' && value >= keys[i].min && value <= keys[i].max;
        }
    if (strncmp(assignment, "iterations=", 11) == 0)
        options->iterations = value;
    else if (strncmp(assignment, "fence=", 6) == 0)
        options->fence = value;
    else
        return false;
    return *end == '\0' && (assignment[0] == 'i' ? value >= 1 : value <= 1);
}
