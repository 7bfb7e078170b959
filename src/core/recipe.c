/* See recipe.h. */
#include "core/recipe.h"

#include <string.h>

static const struct as_uop plain_uop = {.class_ = AS_CLASS_INT, .mem = AS_UOP_NO_MEM};

/* The registers that a mask names, up to `most`; false where there are more. */
static bool list_registers(uint8_t mask, const uint8_t *from, uint8_t *to, uint32_t most, uint8_t none)
{
    memset(to, none, most);
    for (uint32_t n = 0; mask; mask &= (uint8_t)(mask - 1)) {
        if (n == most)
            return false;
        to[n++] = from[__builtin_ctz(mask)];
    }
    return true;
}

static uint8_t kind_of(enum as_class class_)
{
    switch (class_) {
    case AS_CLASS_LOAD:
        return AS_MICRO_LOAD;
    case AS_CLASS_STORE:
        return AS_MICRO_STORE;
    case AS_CLASS_ATOMIC:
        return AS_MICRO_ATOMIC;
    case AS_CLASS_CACHE:
        return AS_MICRO_CACHE;
    case AS_CLASS_FENCE:
        return AS_MICRO_FENCE;
    case AS_CLASS_NOP:
        return AS_MICRO_NOP;
    default:
        return AS_MICRO_UNIT;
    }
}

static uint8_t registers_of(const struct as_insn *insn)
{
    if (!insn->n_writes)
        return AS_REGISTERS_NONE;
    if (insn->writes[0] < AS_REG_INT0 + 32)
        return AS_REGISTERS_INT;
    return insn->writes[0] >= AS_REG_VEC0 && insn->writes[0] < AS_REG_VEC0 + 32 ? AS_REGISTERS_FP : AS_REGISTERS_NONE;
}

/* Which unit issues it is the class's; which queue it waits in is the unit's. */
static void choose_unit(const struct as_machine *machine, enum as_class class_, struct as_micro *micro)
{
    enum as_unit unit = as_machine_unit(class_);
    enum as_queue_kind queue = as_machine_queue(unit);
    micro->unit = (uint8_t)unit;
    micro->queue = (uint8_t)queue;
    micro->latency = as_machine_latency(machine, class_);
    micro->interval = as_machine_interval(machine, class_);
    if (micro->interval > 1)
        micro->traits |= AS_MICRO_LONG;
    else if (machine->units[unit].count < machine->back.queue_width[queue])
        micro->traits |= AS_MICRO_TIGHT;
}

static void name_address(const struct as_insn *insn, const struct as_uop *uop, struct as_micro *micro)
{
    micro->base = micro->index = AS_REG_NONE;
    if (uop->mem >= insn->n_mem)
        return;
    const struct as_mem_operand *mem = &insn->mem[uop->mem];
    micro->base = mem->base < AS_REG_COUNT ? mem->base : AS_REG_READY;
    micro->index = mem->index < AS_REG_COUNT ? mem->index : AS_REG_READY;
}

static void make_micro(const struct as_machine *machine, const struct as_insn *insn, const struct as_uop *uop,
                       struct as_micro *micro)
{
    enum as_class class_ = (enum as_class)uop->class_;
    *micro = (struct as_micro){.kind = kind_of(class_), .after = uop->after, .waits = as_wait_slot(insn->address)};
    name_address(insn, uop, micro);
    choose_unit(machine, class_, micro);
    if (class_ != AS_CLASS_NOP && class_ != AS_CLASS_FENCE)
        micro->traits |= AS_MICRO_QUEUED;
    if (class_ == AS_CLASS_LOAD || class_ == AS_CLASS_ATOMIC)
        micro->traits |= AS_MICRO_LOADS;
    if (class_ == AS_CLASS_STORE || class_ == AS_CLASS_ATOMIC)
        micro->traits |= AS_MICRO_STORES;
    bool reads = list_registers(uop->reads, insn->reads, micro->reads, AS_MICRO_READS, AS_REG_READY);
    bool writes = list_registers(uop->writes, insn->writes, micro->writes, AS_MICRO_WRITES, AS_REG_SINK);
    if (!reads || !writes)
        micro->traits |= AS_MICRO_WIDE;
}

static uint16_t recipe_traits(const struct as_machine *machine, const struct as_insn *insn)
{
    bool system = insn->class_ == AS_CLASS_SYSTEM;
    bool flushes = system || (insn->flags & AS_INSN_FLUSHES && machine->back.flag_flush);
    return (uint16_t)((as_insn_is_control(insn) ? AS_RECIPE_CONTROL : 0) |
                      (machine->back.fuse && insn->class_ == AS_CLASS_BRANCH ? AS_RECIPE_FUSES : 0) |
                      (insn->flags & AS_INSN_FUSE_FIRST ? AS_RECIPE_FUSED : 0) |
                      (insn->flags & AS_INSN_SERIALISES ? AS_RECIPE_SERIALISES : 0) |
                      (flushes ? AS_RECIPE_FLUSHES : 0) | (system ? AS_RECIPE_SYSTEM : 0) |
                      (insn->flags & AS_INSN_ATOMIC ? AS_RECIPE_ATOMIC : 0) |
                      (insn->flags & AS_INSN_LOCKED ? AS_RECIPE_LOCKED : 0) |
                      (insn->flags & AS_INSN_MULTI_MEM ? AS_RECIPE_EACH : 0));
}

static bool is_load_unit(const struct as_insn *insn, const struct as_recipe *recipe)
{
    const struct as_micro *micro = recipe->micro;
    return recipe->n == 2 && micro[0].kind == AS_MICRO_LOAD && micro[1].kind == AS_MICRO_UNIT &&
           !((micro[0].traits | micro[1].traits) & (AS_MICRO_WIDE | AS_MICRO_SERIALISES | AS_MICRO_STORES)) &&
           !(insn->flags & (AS_INSN_LOCKED | AS_INSN_MULTI_MEM));
}

static uint8_t shape_of(const struct as_insn *insn, const struct as_recipe *recipe)
{
    enum { OTHERS = AS_RECIPE_HOLDS & ~(AS_RECIPE_FUSED | AS_RECIPE_CONTROL) };
    bool alone = !(recipe->traits & (OTHERS | AS_RECIPE_ATOMIC | AS_RECIPE_LOCKED | AS_RECIPE_EACH));
    bool plain = !(recipe->traits & (AS_RECIPE_FUSES | AS_RECIPE_STORES | AS_RECIPE_CONTROL | OTHERS));
    if (plain && is_load_unit(insn, recipe))
        return AS_SHAPE_LOAD_UNIT;
    if (recipe->n != 1 || recipe->micro[0].traits & AS_MICRO_WIDE)
        return AS_SHAPE_ANY;
    switch (recipe->micro[0].kind) {
    case AS_MICRO_UNIT:
        if (alone && recipe->traits & AS_RECIPE_CONTROL && !(recipe->traits & AS_RECIPE_FUSED))
            return AS_SHAPE_BRANCH;
        return plain ? AS_SHAPE_PLAIN_UNIT : AS_SHAPE_UNIT;
    case AS_MICRO_LOAD:
        if (insn->flags & (AS_INSN_LOCKED | AS_INSN_MULTI_MEM))
            return AS_SHAPE_ANY;
        return plain ? AS_SHAPE_PLAIN_LOAD : AS_SHAPE_LOAD;
    case AS_MICRO_STORE:
        return alone && !(recipe->traits & (AS_RECIPE_FUSED | AS_RECIPE_CONTROL)) ? AS_SHAPE_PLAIN_STORE
                                                                                  : AS_SHAPE_STORE;
    default:
        return AS_SHAPE_ANY;
    }
}

static bool are_integers(const uint8_t *registers, uint8_t n)
{
    for (uint8_t i = 0; i < n; i++)
        if (registers[i] >= AS_REG_INT0 + 32 && registers[i] != AS_REG_FLAGS)
            return false;
    return true;
}

bool as_recipe_renames(const struct as_insn *insn, uint32_t size)
{
    return (size == 4 || size == 8) && !(insn->flags & (AS_INSN_MULTI_MEM | AS_INSN_BULK_MEM)) &&
           are_integers(insn->reads, insn->n_reads) && are_integers(insn->writes, insn->n_writes);
}

/* The first micro-operation waits for what the instruction waits for; the last takes its register and branch tag. */
void as_recipe_make(const struct as_machine *machine, const struct as_insn *insn, struct as_recipe *recipe)
{
    recipe->block = insn->address / machine->front.fetch_bytes;
    recipe->line = (insn->address + insn->length - 1) / machine->memory.line;
    recipe->insn = insn->id;
    recipe->n = insn->n_uops ? insn->n_uops : 1;
    recipe->traits = recipe_traits(machine, insn);
    for (uint8_t i = 0; i < recipe->n; i++) {
        make_micro(machine, insn, insn->n_uops ? &insn->uops[i] : &plain_uop, &recipe->micro[i]);
        if (recipe->micro[i].traits & AS_MICRO_STORES)
            recipe->traits |= AS_RECIPE_STORES;
    }
    struct as_micro *last = &recipe->micro[recipe->n - 1];
    last->registers = registers_of(insn);
    if (as_insn_is_control(insn))
        last->traits |= AS_MICRO_BRANCH;
    if (insn->flags & AS_INSN_SERIALISES)
        recipe->micro[0].traits |= AS_MICRO_SERIALISES;
    recipe->shape = shape_of(insn, recipe);
}
