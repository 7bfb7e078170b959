/* See core_bed.h. */
#include "core_bed.h"

#include "unit.h"

void core_bed_open_machine(struct core_bed *bed, const char *machine, const char *changes)
{
    struct as_error err = AS_ERROR_INIT;
    *bed = (struct core_bed){.pc = BED_CODE, .length = 4};
    if (!as_machine_load(machine, &bed->machine, &err) || !as_machine_set(&bed->machine, "memory.fault_cycles=0", &err))
        fail_msg("%s", err.message);
    if (changes && !as_machine_set(&bed->machine, changes, &err))
        fail_msg("%s: %s", changes, err.message);
}

void core_bed_open(struct core_bed *bed, const char *changes)
{
    core_bed_open_machine(bed, "boom-tip", changes);
}

void core_bed_close(struct core_bed *bed)
{
    as_vec_free(&bed->code);
    as_vec_free(&bed->steps);
    as_vec_free(&bed->warm);
    as_vec_free(&bed->foreign);
    free(bed->pipes);
}

static void add_read(struct as_insn *insn, int reg)
{
    for (uint8_t i = 0; i < insn->n_reads; i++)
        if (insn->reads[i] == reg)
            return;
    if (reg != BED_NONE)
        insn->reads[insn->n_reads++] = (uint8_t)reg;
}

static uint8_t all(uint8_t n)
{
    return (uint8_t)((1u << n) - 1);
}

uint32_t core_bed_add_flagged(struct core_bed *bed, enum as_class class_, uint32_t flags, int write, int a, int b)
{
    uint32_t number = (uint32_t)bed->code.len;
    bool load = class_ == AS_CLASS_LOAD || class_ == AS_CLASS_ATOMIC;
    bool store = class_ == AS_CLASS_STORE || class_ == AS_CLASS_ATOMIC;
    struct as_insn insn = {.address = bed->pc, .arch = AS_ARCH_RISCV64, .class_ = (uint8_t)class_, .id = number + 1};
    insn.length = bed->length;
    insn.flags = flags | (load ? AS_INSN_LOAD : 0) | (store ? AS_INSN_STORE : 0);
    add_read(&insn, a);
    add_read(&insn, b);
    if (write != BED_NONE)
        insn.writes[insn.n_writes++] = (uint8_t)write;
    if (load || store)
        insn.mem[insn.n_mem++] =
            (struct as_mem_operand){.base = a == BED_NONE ? AS_REG_NONE : (uint8_t)a,
                                    .index = AS_REG_NONE,
                                    .access = (load ? AS_ACCESS_LOAD : 0) | (store ? AS_ACCESS_STORE : 0),
                                    .size = 8};
    insn.uops[insn.n_uops++] = (struct as_uop){.class_ = (uint8_t)class_,
                                               .mem = insn.n_mem ? 0 : AS_UOP_NO_MEM,
                                               .reads = all(insn.n_reads),
                                               .writes = all(insn.n_writes)};
    *as_vec_push(&bed->code) = insn;
    bed->pc += insn.length;
    return number;
}

uint32_t core_bed_add(struct core_bed *bed, enum as_class class_, int write, int a, int b)
{
    return core_bed_add_flagged(bed, class_, 0, write, a, b);
}

void core_bed_step(struct core_bed *bed, uint32_t insn)
{
    const struct as_insn *what = &bed->code.data[insn];
    *as_vec_push(&bed->steps) = (struct bed_step){.insn = insn, .next = what->address + what->length};
}

void core_bed_access(struct core_bed *bed, uint32_t insn, uint64_t address)
{
    core_bed_step(bed, insn);
    bed->steps.data[bed->steps.len - 1].access =
        (struct as_core_access){.address = address,
                                .size = 8,
                                .renames = as_recipe_renames(&bed->code.data[insn], 8),
                                .kind = bed->code.data[insn].flags & AS_INSN_STORE ? AS_ACCESS_STORE : AS_ACCESS_LOAD};
}

void core_bed_jump(struct core_bed *bed, uint32_t insn, bool taken, uint64_t target)
{
    struct as_insn *what = &bed->code.data[insn];
    bool indirect = what->class_ == AS_CLASS_RETURN || what->class_ == AS_CLASS_JUMP_INDIRECT ||
                    what->class_ == AS_CLASS_CALL_INDIRECT;
    core_bed_step(bed, insn);
    struct bed_step *step = &bed->steps.data[bed->steps.len - 1];
    step->taken = taken;
    if (taken)
        step->next = target;
    if (!indirect)
        what->target = target;
}

void core_bed_do(struct core_bed *bed, enum as_class class_, int write, int a, int b)
{
    core_bed_step(bed, core_bed_add(bed, class_, write, a, b));
}

void core_bed_load(struct core_bed *bed, int write, int base, uint64_t address)
{
    core_bed_access(bed, core_bed_add(bed, AS_CLASS_LOAD, write, base, BED_NONE), address);
}

void core_bed_store(struct core_bed *bed, int base, int data, uint64_t address)
{
    core_bed_access(bed, core_bed_add(bed, AS_CLASS_STORE, BED_NONE, base, data), address);
}

void core_bed_warm(struct core_bed *bed, uint64_t address, uint64_t bytes)
{
    *as_vec_push(&bed->warm) = (struct bed_range){address, bytes};
}

void core_bed_give_away(struct core_bed *bed, uint64_t address, uint64_t bytes)
{
    *as_vec_push(&bed->foreign) = (struct bed_range){address, bytes};
}

struct as_memory *core_bed_other_core(const struct core_bed *bed, struct as_uncore *uncore)
{
    struct as_memory *other = bed->foreign.len ? as_memory_new(&bed->machine, uncore, 1) : NULL;
    for (size_t i = 0; i < bed->foreign.len; i++) {
        const struct bed_range *range = &bed->foreign.data[i];
        for (uint64_t at = 0; at < range->bytes; at += bed->machine.memory.line)
            as_memory_warm(other, AS_MEMORY_STORE, range->address + at, 8);
    }
    return other;
}

struct as_op core_bed_op(const struct core_bed *bed, const struct bed_step *step)
{
    return (struct as_op){.insn = &bed->code.data[step->insn],
                          .next = step->next,
                          .accesses = &step->access,
                          .n_accesses = step->access.size != 0,
                          .taken = step->taken,
                          .ideal = bed->ideal};
}

void core_bed_each_warm(const struct core_bed *bed, void (*touch)(void *context, bool code, uint64_t address),
                        void *context)
{
    uint64_t line = bed->machine.memory.line;
    for (size_t i = 0; i < bed->warm.len; i++)
        for (uint64_t at = 0; at < bed->warm.data[i].bytes; at += line)
            touch(context, false, bed->warm.data[i].address + at);
    uint64_t last = UINT64_MAX;
    for (size_t i = 0; i < bed->code.len && !bed->cold_code; i++) {
        const struct as_insn *insn = &bed->code.data[i];
        for (uint64_t at = insn->address / line; at <= (insn->address + insn->length - 1) / line; at++) {
            if (at != last)
                touch(context, true, at * line);
            last = at;
        }
    }
}

/* ---- running ---- */

struct warming {
    struct as_core *core;
    struct as_pipe pipe;
    struct as_insn insn; /* the core looks back at the last one */
};

static void execute(struct warming *warming, struct as_insn insn, const struct as_core_access *access)
{
    warming->insn = insn;
    struct as_op op = {
        .insn = &warming->insn, .next = insn.address + insn.length, .accesses = access, .n_accesses = access != NULL};
    as_core_execute(warming->core, &op, &warming->pipe);
}

static void warm_line(void *context, bool code, uint64_t address)
{
    struct warming *warming = context;
    struct as_core_access access = {.address = address, .size = 8, .kind = AS_ACCESS_LOAD};
    struct as_insn insn = {.address = code ? address : BED_CODE - 256,
                           .length = 4,
                           .n_uops = 1,
                           .class_ = code ? AS_CLASS_INT : AS_CLASS_LOAD,
                           .flags = code ? 0 : AS_INSN_LOAD};
    insn.uops[0] = (struct as_uop){.class_ = insn.class_, .mem = AS_UOP_NO_MEM};
    execute(warming, insn, code ? NULL : &access);
}

static void make_system_call(struct warming *warming)
{
    struct as_insn insn = {.address = BED_CODE - 128,
                           .length = 4,
                           .n_uops = 1,
                           .class_ = AS_CLASS_SYSTEM,
                           .flags = AS_INSN_SERIALISES | AS_INSN_FLUSHES};
    insn.uops[0] = (struct as_uop){.class_ = AS_CLASS_SYSTEM, .mem = AS_UOP_NO_MEM};
    execute(warming, insn, NULL);
}

uint64_t core_bed_warm_up(const struct core_bed *bed, struct as_core *core)
{
    struct warming warming = {.core = core};
    core_bed_each_warm(bed, warm_line, &warming);
    make_system_call(&warming);
    return warming.pipe.commit;
}

void core_bed_run(struct core_bed *bed)
{
    struct as_uncore *uncore = as_uncore_new(&bed->machine);
    struct as_core *core = as_core_new(&bed->machine, uncore, 0, NULL, NULL);
    struct as_counters before;
    if (bed->stays)
        as_core_log_stays(core, bed->stays);
    bed->start = core_bed_warm_up(bed, core);
    struct as_memory *other = core_bed_other_core(bed, uncore);
    as_core_count(core, &before);
    bed->kernel_cycles = as_core_kernel_cycles(core);
    free(bed->pipes);
    bed->pipes = as_alloc_array(bed->steps.len + 1, sizeof *bed->pipes);
    for (size_t i = 0; i < bed->steps.len; i++) {
        struct as_op op = core_bed_op(bed, &bed->steps.data[i]);
        struct as_pipe *pipe = &bed->pipes[i];
        as_core_execute(core, &op, pipe);
        pipe->fetch -= bed->start;
        pipe->dispatch -= bed->start;
        pipe->issue -= bed->start;
        pipe->done -= bed->start;
        pipe->commit -= bed->start;
    }
    as_core_count(core, &bed->counters);
    uint64_t *after = (uint64_t *)&bed->counters;
    for (size_t i = 0; i < sizeof before / sizeof(uint64_t); i++)
        after[i] -= ((const uint64_t *)&before)[i];
    bed->kernel_cycles = as_core_kernel_cycles(core) - bed->kernel_cycles;
    as_core_free(core);
    as_memory_free(other);
    as_uncore_free(uncore);
}

double core_bed_rate(const struct core_bed *bed, long from, long to)
{
    long n = (long)bed->steps.len;
    from = from < 0 ? n + from : from;
    to = to < 0 ? n + to : to;
    assert_true(0 <= from && from < to && to < n);
    return (double)(bed->pipes[to].commit - bed->pipes[from].commit) / (double)(to - from);
}
