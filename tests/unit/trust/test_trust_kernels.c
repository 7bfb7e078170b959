/* The programs of `assay trust`: what their labels claim is what the decoder sees in the bytes, jumps land on
 * instructions, nops are as many as asked for, and what chases pointers visits every element. */
#include "unit.h"
#include "unit_golden.h"

#include "assay/insn.h"
#include "base/alloc.h"
#include "base/str.h"
#include "trust/trust_kernels.h"

#include <math.h>

static enum as_arch arch = AS_ARCH_X86_64; /* of the code that is looked at */

static struct as_kernel_code build(const char *name, struct as_kernel_options options)
{
    const struct as_kernel *kernel = as_kernel_find(name);
    struct as_kernel_code code = {.bytes = as_alloc(AS_KERNEL_BYTES)};
    assert_non_null(kernel);
    assert_true(as_kernel_build(kernel, &options, &code));
    return code;
}

static struct as_insn decode(const struct as_kernel_code *code, uint32_t offset)
{
    struct as_insn insn;
    assert_true(as_insn_decode(arch, AS_KERNEL_ADDRESS + offset, code->bytes + offset, code->size - offset, &insn));
    return insn;
}

static void check_label(const struct as_kernel_code *code, const struct as_kernel_label *label, const char *kernel)
{
    struct as_insn insn = decode(code, label->offset);
    bool whole = label->end - label->offset == insn.length;
    bool ok = label->end > label->offset && label->end <= code->size;
    if (whole) {
        ok = ok && (label->events >> AS_KERNEL_LOADS & 1) == ((insn.flags & AS_INSN_LOAD) != 0);
        ok = ok && (label->events >> AS_KERNEL_STORES & 1) == ((insn.flags & AS_INSN_STORE) != 0);
        ok = ok && (label->events >> AS_KERNEL_LOCKED & 1) == ((insn.flags & AS_INSN_ATOMIC) != 0);
        ok = ok && (label->events >> AS_KERNEL_BRANCHES & 1) == as_insn_is_control(&insn);
        ok = ok && (label->events >> AS_KERNEL_RETURNS & 1) == (insn.class_ == AS_CLASS_RETURN);
        ok = ok && (label->events >> AS_KERNEL_SYSCALLS & 1) == (insn.class_ == AS_CLASS_SYSTEM);
    }
    if (!ok)
        fail_msg("%s: the label %s at 0x%x is not what it says", kernel, label->name, label->offset);
}

/* A function begins behind a jump or a return, and what fills space there: nothing falls into it. */
static bool is_function(const struct as_kernel_code *code, uint32_t begin)
{
    enum as_class before = AS_CLASS_RETURN;
    for (uint32_t at = 0; at < begin; at += decode(code, at).length)
        before = decode(code, at).class_ == AS_CLASS_NOP ? before : decode(code, at).class_;
    return before == AS_CLASS_RETURN || before == AS_CLASS_JUMP;
}

/* From the start to the end there is one instruction after the other, and jumps go to the start of one. */
static void check_flow(const struct as_kernel_code *code, const char *kernel)
{
    bool *starts = as_alloc(code->size + 1);
    for (uint32_t at = 0; at < code->size;) {
        starts[at] = true;
        at += decode(code, at).length;
    }
    for (uint32_t at = 0; at < code->size; at += decode(code, at).length) {
        struct as_insn insn = decode(code, at);
        uint64_t target = insn.target - AS_KERNEL_ADDRESS;
        if (insn.target && (target >= code->size || !starts[target]))
            fail_msg("%s: the jump at 0x%x goes to 0x%llx", kernel, at, (unsigned long long)target);
        if (insn.class_ == AS_CLASS_CALL && !is_function(code, (uint32_t)target))
            fail_msg("%s: the call at 0x%x goes to 0x%llx", kernel, at, (unsigned long long)target);
    }
    free(starts);
}

static void check_kernels(bool riscv)
{
    static const uint8_t ret[] = {0xc3}, riscv_ret[] = {0x67, 0x80, 0x00, 0x00};
    for (size_t i = 0; i < AS_KERNEL_COUNT; i++) {
        struct as_kernel_options options = as_kernels[i].usual;
        options.riscv = riscv;
        for (options.nops = 0; options.nops < 60 && (!riscv || as_kernels[i].emit_riscv); options.nops += 25) {
            struct as_kernel_code code = build(as_kernels[i].name, options);
            assert_true(code.n_labels > 0);
            for (size_t j = 0; j < code.n_labels; j++)
                check_label(&code, &code.labels[j], as_kernels[i].name);
            check_flow(&code, as_kernels[i].name);
            size_t size = riscv ? sizeof riscv_ret : sizeof ret;
            assert_memory_equal(code.bytes + code.size - size, riscv ? riscv_ret : ret, size);
            free(code.bytes);
        }
    }
}

static void labels_are_right(void **state)
{
    check_kernels(false);
}

static void riscv_labels_are_right(void **state)
{
    arch = AS_ARCH_RISCV64;
    check_kernels(true);
    arch = AS_ARCH_X86_64;
    struct as_kernel_code code = {.bytes = as_alloc(AS_KERNEL_BYTES)};
    const struct as_kernel *flushes = as_kernel_find("snippet3");
    struct as_kernel_options options = flushes->usual;
    options.riscv = true;
    assert_false(as_kernel_build(flushes, &options, &code));
    free(code.bytes);
}

/* The functions lie before the loop: the start jumps over them to the first call. */
static void riscv_call_chain_starts_at_its_loop(void **state)
{
    struct as_kernel_options options = {.places = 4, .riscv = true};
    arch = AS_ARCH_RISCV64;
    struct as_kernel_code code = build("call-chain", options);
    struct as_insn over = decode(&code, 4);
    assert_int_equal(over.class_, AS_CLASS_JUMP);
    struct as_insn call = decode(&code, (uint32_t)(over.target - AS_KERNEL_ADDRESS));
    assert_int_equal(call.class_, AS_CLASS_CALL);
    assert_true(call.target < call.address && call.target > over.address);
    free(code.bytes);
    arch = AS_ARCH_X86_64;
}

/* A branch reaches 4 KiB; further away there is a jump, and a branch past it. */
static void riscv_loops_of_any_length(void **state)
{
    struct as_kernel_options options = {.places = 4, .nops = 100, .riscv = true};
    struct as_kernel_code code = build("bias", options);
    assert_float_equal(code.per_iteration[AS_KERNEL_INSTRUCTIONS], 4 * 101 + 2, 0);
    assert_float_equal(code.per_iteration[AS_KERNEL_BRANCHES], 1, 0);
    free(code.bytes);
    options.nops = 5000;
    code = build("bias", options);
    assert_float_equal(code.per_iteration[AS_KERNEL_INSTRUCTIONS], 4 * 5001 + 3, 0);
    assert_float_equal(code.per_iteration[AS_KERNEL_BRANCHES], 2, 0);
    arch = AS_ARCH_RISCV64;
    check_flow(&code, "bias");
    arch = AS_ARCH_X86_64;
    free(code.bytes);
}

/* With the usual options, counted by hand from the listings: labels in the order of the code, events of an iteration. */
static const struct {
    const char *kernel, *labels;
    double instructions, loads, stores, locked, branches, taken, returns, conditional, calls, l1_miss, l2_miss, l3_miss,
        syscalls;
} listings[] = {
    {"accuracy", "load sub cmp jne", 20, 1, 0, 0, 1, 1, 0, 1, 0, 1, 0, 0, 0},
    {"load-ratio", "load sub cmp jne", 4, 1, 0, 0, 1, 1, 0, 1, 0, 0, 0, 0, 0},
    {"locked-load", "lock add sub cmp jne", 4, 1, 1, 1, 1, 1, 0, 1, 0, 0, 0, 0, 0},
    {"bias", "load 1 load 2 load 3 load 4 sub cmp jne", 7, 4, 0, 0, 1, 1, 0, 1, 0, 0, 0, 0, 0},
    {"distance", "load 1 load 2 sub cmp jne", 605, 2, 0, 0, 1, 1, 0, 1, 0, 0, 0, 0, 0},
    {"multi-event", "ret call lock add1 lock add2 load je jne", 10, 4, 3, 2, 4, 3, 1, 2, 1, 0, 0, 0, 0},
    {"exec-mode", "syscall jne", 6, 0, 0, 0, 1, 1, 0, 1, 0, 0, 0, 0, 1},
    {"snippet1", "R1 R2 R3 R4 sub cmp jne", 10, 4, 0, 0, 1, 1, 0, 1, 0, 0, 0, 0, 0},
    {"snippet2", "Br2 Br3 Br1", 55 + 0.5 + 1.0 / 3 + 1, 0, 0, 0, 3, 1 + 0.5 + 2.0 / 3, 0, 3, 0, 0, 0, 0, 0},
    {"snippet3", "R1 R2 R3 R4 sub cmp jne", 615, 4, 0, 0, 1, 1, 0, 1, 0, 4, 4, 4, 0},
    {"stores", "W1 W2 W3 W4 sub cmp jne", 607, 0, 4, 0, 1, 1, 0, 1, 0, 0, 0, 0, 0},
    {"misses", "R1 R2 R3 R4 sub cmp jne", 609, 4, 0, 0, 1, 1, 0, 1, 0, 4, 0, 0, 0},
    {"mispredict", "either sub cmp jne", 7.5, 0, 0, 0, 2, 1.5, 0, 2, 0, 0, 0, 0, 0},
    {"latency-biased", "divide sum sub cmp jne", 8, 0, 0, 0, 2.5, 1, 0, 2, 0, 0, 0, 0, 0},
    {"call-chain", "f10 f9 f8 f7 f6 f5 f4 f3 f2 f1 sub cmp jne", 154, 0, 0, 0, 21, 1, 0, 1, 10, 0, 0, 0, 0},
};

static void iterations_are_the_listings(void **state)
{
    assert_int_equal(sizeof listings / sizeof *listings, AS_KERNEL_COUNT);
    for (size_t i = 0; i < AS_KERNEL_COUNT; i++) {
        struct as_kernel_code code = build(listings[i].kernel, as_kernel_find(listings[i].kernel)->usual);
        struct as_str labels = {0};
        for (size_t j = 0; j < code.n_labels; j++)
            as_str_addf(&labels, "%s%s", j ? " " : "", code.labels[j].name);
        assert_string_equal(as_str_get(&labels), listings[i].labels);
        for (size_t j = 0; j < AS_KERNEL_EVENTS; j++)
            if (fabs(code.per_iteration[j] - (&listings[i].instructions)[j]) > 1e-9)
                fail_msg("%s: %g of event %zu", listings[i].kernel, code.per_iteration[j], j);
        as_str_free(&labels);
        free(code.bytes);
    }
}

/* What is not an instruction more or less of one architecture is the same on both. */
static void riscv_iterations_are_the_listings(void **state)
{
    static const char *const same[] = {"accuracy", "load-ratio", "bias",   "distance", "exec-mode",
                                       "snippet1", "snippet2",   "stores", "misses"};
    for (size_t k = 0; k < sizeof same / sizeof *same; k++) {
        struct as_kernel_options options = as_kernel_find(same[k])->usual;
        options.riscv = true;
        struct as_kernel_code code = build(same[k], options);
        for (size_t i = 0; i < AS_KERNEL_COUNT; i++)
            for (size_t j = 0; j < AS_KERNEL_EVENTS && strcmp(listings[i].kernel, same[k]) == 0; j++)
                if (j != AS_KERNEL_INSTRUCTIONS && fabs(code.per_iteration[j] - (&listings[i].instructions)[j]) > 1e-9)
                    fail_msg("%s: %g of event %zu", same[k], code.per_iteration[j], j);
        free(code.bytes);
    }
}

/* Where no jump leads out of the loop or over a part of it, what is counted is what lies in it. */
static void loops_are_as_long_as_they_say(void **state)
{
    static const char *const straight[] = {"accuracy",  "load-ratio", "locked-load", "bias",   "distance",
                                           "exec-mode", "snippet1",   "snippet3",    "stores", "misses"};
    for (size_t i = 0; i < sizeof straight / sizeof *straight; i++) {
        struct as_kernel_options options = as_kernel_find(straight[i])->usual;
        options.nops = 11;
        struct as_kernel_code code = build(straight[i], options);
        const struct as_kernel_label *jump = &code.labels[code.n_labels - 1];
        uint64_t at = decode(&code, jump->offset).target - AS_KERNEL_ADDRESS;
        double n = 0;
        for (; at < jump->end; n++)
            at += decode(&code, (uint32_t)at).length;
        assert_int_equal(at, jump->end);
        assert_float_equal(n, code.per_iteration[AS_KERNEL_INSTRUCTIONS], 0);
        free(code.bytes);
    }
}

static bool is_zeroing(const struct as_insn *insn)
{
    return arch == AS_ARCH_X86_64 && insn->bytes[0] == 0x31 && (insn->bytes[1] >> 3 & 7) == (insn->bytes[1] & 7);
}

/* Every register that code reads is one of the arguments or of the sums, which nobody reads, or has been written before. */
static void check_registers(const struct as_kernel_code *code, const char *kernel, uint64_t known)
{
    for (uint32_t at = 0; at < code->size; at += decode(code, at).length) {
        struct as_insn insn = decode(code, at);
        for (uint8_t i = 0; i < insn.n_reads && !is_zeroing(&insn); i++)
            if (insn.reads[i] < AS_REG_VEC0 && !(known >> insn.reads[i] & 1))
                fail_msg("%s: the instruction at 0x%x reads register %u, which nothing has set", kernel, at,
                         insn.reads[i]);
        for (uint8_t i = 0; i < insn.n_writes; i++)
            known |= insn.writes[i] < AS_REG_VEC0 ? UINT64_C(1) << insn.writes[i] : 0;
    }
}

static void registers_are_set(void **state)
{
    enum { RAX = 1 << 0, RSP = 1 << 4, RSI = 1 << 6, RDI = 1 << 7, R8 = 1 << 8, R9 = 1 << 9 };
    enum {
        ZERO = 1 << 0,
        RA = 1 << 1,
        SP = 1 << 2,
        T0 = 1 << 5,
        A0 = 1 << 10,
        A1 = 1 << 11,
        T3 = 1 << 28,
        T5 = 1 << 30
    };
    for (size_t i = 0; i < AS_KERNEL_COUNT; i++) {
        bool stores = strcmp(as_kernels[i].name, "stores") == 0,
             divides = strcmp(as_kernels[i].name, "latency-biased") == 0;
        struct as_kernel_options options = as_kernels[i].usual;
        struct as_kernel_code code = build(as_kernels[i].name, options);
        check_registers(&code, as_kernels[i].name, RSP | RSI | RDI | R8 | (stores ? RAX : 0) | (divides ? R9 : 0));
        free(code.bytes);
        options.riscv = true;
        if (!as_kernels[i].emit_riscv)
            continue;
        code = build(as_kernels[i].name, options);
        arch = AS_ARCH_RISCV64;
        check_registers(&code, as_kernels[i].name,
                        ZERO | RA | SP | A0 | A1 | T5 | (stores ? T0 : 0) | (divides ? T3 : 0));
        arch = AS_ARCH_X86_64;
        free(code.bytes);
    }
}

/* Each way is taken every other time: of RISC-V's, two instructions and one; of x86's, five and one. */
static void halves_are_executed(void **state)
{
    for (int riscv = 0; riscv <= 1; riscv++) {
        struct as_kernel_options options = as_kernel_find("latency-biased")->usual;
        options.riscv = riscv;
        struct as_kernel_code code = build("latency-biased", options);
        assert_string_equal(code.labels[0].name, "divide");
        assert_float_equal(code.labels[0].executed, riscv ? 1 : 2.5, 0);
        assert_string_equal(code.labels[1].name, "sum");
        assert_float_equal(code.labels[1].executed, 0.5, 0);
        free(code.bytes);
    }
}

static void parameters_do_what_they_say(void **state)
{
    struct as_kernel_code code = build("load-ratio", (struct as_kernel_options){.ratio = 30});
    assert_float_equal(code.per_iteration[AS_KERNEL_INSTRUCTIONS], 30, 0);
    assert_float_equal(code.per_iteration[AS_KERNEL_LOADS], 1, 0);
    free(code.bytes);
    code = build("accuracy", (struct as_kernel_options){.ratio = 100});
    assert_float_equal(code.per_iteration[AS_KERNEL_INSTRUCTIONS], 100, 0);
    free(code.bytes);
    code = build("bias", (struct as_kernel_options){.places = 6, .nops = 3});
    assert_float_equal(code.per_iteration[AS_KERNEL_LOADS], 6, 0);
    assert_float_equal(code.per_iteration[AS_KERNEL_INSTRUCTIONS], 6 * 4 + 3, 0);
    free(code.bytes);
    code = build("snippet1", (struct as_kernel_options){.fence = false});
    double plain = code.per_iteration[AS_KERNEL_INSTRUCTIONS];
    free(code.bytes);
    code = build("snippet1", (struct as_kernel_options){.fence = true, .nops = 44});
    assert_float_equal(code.per_iteration[AS_KERNEL_INSTRUCTIONS], plain + 1 + 4 * 44, 0);
    free(code.bytes);
}

static void too_large_is_refused(void **state)
{
    struct as_kernel_code code = {.bytes = as_alloc(AS_KERNEL_BYTES)};
    assert_false(as_kernel_build(as_kernel_find("bias"),
                                 &(struct as_kernel_options){.places = 40, .nops = AS_KERNEL_NOPS_MAX * 2}, &code));
    free(code.bytes);
}

static void write_labels(const struct as_kernel_code *code, uint32_t at, FILE *out)
{
    for (size_t i = 0; i < code->n_labels; i++) {
        const struct as_kernel_label *label = &code->labels[i];
        if (label->offset == at)
            fprintf(out, " %s: to 0x%x, events 0x%x, executed %g\n", label->name, label->end, label->events,
                    label->executed);
    }
}

/* What the decoder reads in the bytes: a row for equal instructions in a row, which are nops mostly. */
static void write_code(const struct as_kernel_code *code, FILE *out)
{
    for (uint32_t at = 0, n = 0; at < code->size; n = 0) {
        struct as_insn first = decode(code, at), next = first;
        uint32_t start = at;
        char text[96];
        write_labels(code, start, out);
        for (; at < code->size && next.length == first.length && !memcmp(next.bytes, first.bytes, first.length); n++) {
            at += first.length;
            next = at < code->size ? decode(code, at) : next;
        }
        fprintf(out, "  0x%x %s", start, as_insn_text(&first, text, sizeof text));
        fprintf(out, n > 1 ? " (%u times)\n" : "\n", n);
    }
    for (size_t i = 0; i < AS_KERNEL_EVENTS; i++)
        fprintf(out, "%s%.4g", i ? " " : "  an iteration: ", code->per_iteration[i]);
    fprintf(out, "\n");
}

static void listings_are_known(void **state)
{
    FILE *out = unit_golden_begin();
    for (size_t i = 0; i < 2 * (size_t)AS_KERNEL_COUNT; i++) {
        const struct as_kernel *kernel = &as_kernels[i % AS_KERNEL_COUNT];
        struct as_kernel_options options = kernel->usual;
        options.riscv = i >= AS_KERNEL_COUNT;
        if (options.riscv && !kernel->emit_riscv)
            continue;
        arch = options.riscv ? AS_ARCH_RISCV64 : AS_ARCH_X86_64;
        struct as_kernel_code code = build(kernel->name, options);
        unit_golden_section(out, "%s, %s", kernel->name, options.riscv ? "riscv64" : "x86_64");
        fprintf(out, "%u iterations\n", (unsigned)options.iterations);
        write_code(&code, out);
        free(code.bytes);
    }
    arch = AS_ARCH_X86_64;
    unit_golden_check(out, "trust_kernels.txt");
}

static void keys(void **state)
{
    struct as_kernel_options options = {0};
    assert_true(as_kernel_set(&options, "nops=44"));
    assert_int_equal(options.nops, 44);
    assert_true(as_kernel_set(&options, "iterations=12345678901"));
    assert_int_equal(options.iterations, 12345678901);
    assert_true(as_kernel_set(&options, "fence=1"));
    assert_true(options.fence);
    static const char *const wrong[] = {"nops",    "nops=",    "nops=x", "nops=1x",      "nops=20001", "places=0",
                                        "fence=2", "ratio=-1", "nop=1",  "iterations=0", "=3",         ""};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        if (as_kernel_set(&options, wrong[i]))
            fail_msg("'%s' was taken", wrong[i]);
}

static void the_chase_is_one_cycle(void **state)
{
    char *data = as_alloc(AS_KERNEL_DATA);
    as_kernel_fill(as_kernel_find("accuracy"), data, AS_KERNEL_DATA);
    uint32_t at = 0, steps = 0;
    do {
        memcpy(&at, data + 128 * (size_t)at, sizeof at);
        assert_true(at < 1024);
        steps++;
    } while (at != 0 && steps < 5000);
    assert_int_equal(steps, 1024);
    free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(labels_are_right),
                                       cmocka_unit_test(riscv_labels_are_right),
                                       cmocka_unit_test(riscv_call_chain_starts_at_its_loop),
                                       cmocka_unit_test(riscv_loops_of_any_length),
                                       cmocka_unit_test(parameters_do_what_they_say),
                                       cmocka_unit_test(iterations_are_the_listings),
                                       cmocka_unit_test(riscv_iterations_are_the_listings),
                                       cmocka_unit_test(loops_are_as_long_as_they_say),
                                       cmocka_unit_test(registers_are_set),
                                       cmocka_unit_test(halves_are_executed),
                                       cmocka_unit_test(too_large_is_refused),
                                       cmocka_unit_test(listings_are_known),
                                       cmocka_unit_test(keys),
                                       cmocka_unit_test(the_chase_is_one_cycle)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
