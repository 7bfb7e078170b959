/* See stream_gen.h. */
#include "stream_gen.h"

const char *const bed_odd_machines[BED_ODD_MACHINES] = {
    "back.rob=16,queue.int.size=6,queue.mem.size=4,queue.fp.size=4,front.fetch_buffer=8",
    "back.load_queue=3,back.store_queue=3,front.max_branches=2,front.fetch_targets=5",
    "back.int_registers=40,back.fp_registers=40,back.width=3,back.commit_width=2,back.rob=126",
    "front.depth=1,front.redirect=0,front.flush=0,back.dispatch_to_issue=0",
    "back.memory_speculation=no,back.store_drain=2,front.depth=12,back.dispatch_to_issue=4",
    "back.dependence_predictor=yes,unit.store.latency=3,unit.load.latency=2,back.forward_latency=7",
    "queue.mem.width=1,unit.int.count=1,predictor.fast_entries=0,front.taken_bubble=3,back.flag_flush=no",
    "back.width=1,back.commit_width=1,front.fetch_width=1,front.fetch_buffer=1,back.rob=2",
    "back.rob_rows=no,back.int_registers=40,back.width=3,back.commit_width=5",
    "back.width=8,back.rob=24,front.fetch_bytes=32,back.commit_width=6",
    "front.fetch_width=3,queue.int.size=6,front.max_branches=2",
};

struct generator {
    struct core_bed *bed;
    const struct stream_mix *mix;
    uint64_t seed;
    uint64_t near[32]; /* by base register: what it points at */
    uint32_t *targets; /* static index, by static branch */
    uint8_t *habits;   /* chance of being taken, in a hundred */
};

static uint32_t below(struct generator *generator, uint32_t n)
{
    return (uint32_t)(bed_random(&generator->seed) % n);
}

static bool chance(struct generator *generator, uint32_t of_hundred)
{
    return below(generator, 100) < of_hundred;
}

static int any_int(struct generator *generator)
{
    return 1 + (int)below(generator, 24);
}

static int any_fp(struct generator *generator)
{
    return AS_REG_VEC0 + (int)below(generator, 32);
}

static int sometimes(struct generator *generator, int reg)
{
    return chance(generator, 60) ? reg : BED_NONE;
}

/* Registers 25 and up are never written: addresses from them are known early. */
static int any_base(struct generator *generator)
{
    return chance(generator, generator->mix->late) ? any_int(generator) : 25 + (int)below(generator, 6);
}

static bool add_rare(struct generator *generator)
{
    const struct stream_mix *mix = generator->mix;
    struct core_bed *bed = generator->bed;
    uint32_t pick = below(generator, 1000);
    uint32_t fence = AS_INSN_FENCE_LOAD | (chance(generator, 50) ? AS_INSN_FENCE_STORE : 0);
    if (pick < mix->fences)
        core_bed_add_flagged(bed, AS_CLASS_FENCE, fence, BED_NONE, BED_NONE, BED_NONE);
    else if ((pick -= mix->fences) < mix->atomics)
        core_bed_add(bed, AS_CLASS_ATOMIC, any_int(generator), any_base(generator), any_int(generator));
    else if ((pick -= mix->atomics) < mix->serialising)
        core_bed_add_flagged(bed, AS_CLASS_SERIALISE, AS_INSN_SERIALISES, any_int(generator), BED_NONE, BED_NONE);
    else if ((pick -= mix->serialising) < mix->flushing)
        core_bed_add_flagged(bed, chance(generator, 80) ? AS_CLASS_SERIALISE : AS_CLASS_SYSTEM,
                             AS_INSN_FLUSHES | (chance(generator, 50) ? AS_INSN_SERIALISES : 0), any_int(generator),
                             any_int(generator), BED_NONE);
    else
        return false;
    return true;
}

static void add_fp(struct generator *generator, bool divides)
{
    static const enum as_class simple[] = {AS_CLASS_FP_ADD, AS_CLASS_FP_MUL, AS_CLASS_FP_FMA, AS_CLASS_FP_CONVERT};
    enum as_class class_ = simple[below(generator, 4)];
    if (divides)
        class_ = chance(generator, 70) ? AS_CLASS_FP_DIV : AS_CLASS_FP_SQRT;
    core_bed_add(generator->bed, class_, any_fp(generator), any_fp(generator), sometimes(generator, any_fp(generator)));
}

static void add_branch(struct generator *generator, uint32_t n_static)
{
    static const uint8_t habits[] = {0, 3, 30, 90, 97, 100};
    uint32_t number = core_bed_add(generator->bed, AS_CLASS_BRANCH, BED_NONE, sometimes(generator, any_int(generator)),
                                   sometimes(generator, any_int(generator)));
    /* Mostly forward over a few; sometimes a loop back. A loop must be left at some time. */
    uint32_t to = number + 1 + below(generator, 12);
    bool back = chance(generator, 25);
    if (back)
        to = number > 20 ? number - below(generator, 20) : 0;
    generator->targets[number] = to < n_static ? to : 0;
    uint8_t habit = chance(generator, generator->mix->wild) ? 50 : habits[below(generator, 6)];
    generator->habits[number] = back && habit > 90 ? 90 : habit;
}

static void add_static(struct generator *generator, uint32_t n_static)
{
    const struct stream_mix *mix = generator->mix;
    struct core_bed *bed = generator->bed;
    uint32_t pick = below(generator, 100);
    if (add_rare(generator))
        return;
    if (pick < mix->mul)
        core_bed_add(bed, AS_CLASS_MUL, any_int(generator), any_int(generator), any_int(generator));
    else if ((pick -= mix->mul) < mix->div)
        core_bed_add(bed, AS_CLASS_DIV, any_int(generator), any_int(generator), any_int(generator));
    else if ((pick -= mix->div) < mix->fp + mix->fp_div)
        add_fp(generator, pick < mix->fp_div);
    else if ((pick -= mix->fp + mix->fp_div) < mix->loads)
        core_bed_add(bed, AS_CLASS_LOAD, chance(generator, 75) ? any_int(generator) : any_fp(generator),
                     any_base(generator), BED_NONE);
    else if ((pick -= mix->loads) < mix->stores)
        core_bed_add(bed, AS_CLASS_STORE, BED_NONE, any_base(generator),
                     chance(generator, 75) ? any_int(generator) : any_fp(generator));
    else if ((pick -= mix->stores) < mix->branches)
        add_branch(generator, n_static);
    else if ((pick -= mix->branches) < mix->nops)
        core_bed_add(bed, AS_CLASS_NOP, BED_NONE, BED_NONE, BED_NONE);
    else
        core_bed_add(bed, AS_CLASS_INT, chance(generator, 85) ? any_int(generator) : BED_NONE, any_int(generator),
                     sometimes(generator, any_int(generator)));
}

static uint64_t any_address(struct generator *generator, uint8_t base, uint32_t *size)
{
    const struct stream_mix *mix = generator->mix;
    if (chance(generator, mix->alias))
        base = (uint8_t)(1 + below(generator, 30));
    if (chance(generator, mix->far))
        generator->near[base] = bed_random(&generator->seed) % mix->footprint & ~7ull;
    uint64_t at = (generator->near[base] + below(generator, 16) * 8) % mix->footprint;
    *size = 8;
    if (chance(generator, mix->partial)) {
        *size = 1u << below(generator, 4);
        at += below(generator, 8 / *size) * *size;
    }
    return BED_DATA + at;
}

/* Executes the static instruction `at`; returns the one that follows. */
static uint32_t step(struct generator *generator, uint32_t at)
{
    struct core_bed *bed = generator->bed;
    const struct as_insn *insn = &bed->code.data[at];
    if (insn->flags & (AS_INSN_LOAD | AS_INSN_STORE)) {
        uint32_t size;
        core_bed_access(bed, at, any_address(generator, insn->mem[0].base, &size));
        struct as_core_access *access = &bed->steps.data[bed->steps.len - 1].access;
        access->size = size;
        access->renames = as_recipe_renames(insn, size);
    } else if (insn->class_ == AS_CLASS_BRANCH) {
        bool taken = chance(generator, generator->habits[at]);
        core_bed_jump(bed, at, taken, bed->code.data[generator->targets[at]].address);
        return taken ? generator->targets[at] : at + 1;
    } else if (insn->class_ == AS_CLASS_JUMP) {
        core_bed_jump(bed, at, true, bed->code.data[0].address);
        return 0;
    } else {
        core_bed_step(bed, at);
    }
    return at + 1;
}

void stream_generate(struct core_bed *bed, const struct stream_mix *mix, uint64_t seed, uint32_t n_static,
                     uint32_t n_steps)
{
    struct generator generator = {.bed = bed, .mix = mix, .seed = seed};
    generator.targets = as_alloc_array(n_static + 1, sizeof *generator.targets);
    generator.habits = as_alloc_array(n_static + 1, 1);
    for (uint32_t i = 0; i < n_static; i++) {
        bed->length = chance(&generator, 30) ? 2 : 4;
        add_static(&generator, n_static);
    }
    bed->length = 4;
    core_bed_add(bed, AS_CLASS_JUMP, BED_NONE, BED_NONE, BED_NONE);
    for (uint32_t i = 0, at = 0; i < n_steps; i++)
        at = step(&generator, at);
    free(generator.targets);
    free(generator.habits);
}
