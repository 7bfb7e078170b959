/* See insn_build.h. */
#include "isa/insn_build.h"

#include <string.h>

void as_insn_build_begin(struct as_insn_build *build, struct as_insn *insn, enum as_arch arch, uint64_t address)
{
    memset(insn, 0, sizeof *insn);
    insn->address = address;
    insn->arch = (uint8_t)arch;
    *build = (struct as_insn_build){.insn = insn};
}

void as_insn_build_unknown(struct as_insn *insn, const uint8_t *bytes, size_t length)
{
    uint64_t address = insn->address;
    enum as_arch arch = insn->arch;
    struct as_insn_build build;
    as_insn_build_begin(&build, insn, arch, address);
    insn->class_ = AS_CLASS_UNKNOWN;
    insn->length = (uint8_t)length;
    if (length > 0)
        memcpy(insn->bytes, bytes, length);
    as_insn_add_uop(insn, (struct as_uop){.class_ = AS_CLASS_UNKNOWN, .mem = AS_UOP_NO_MEM});
}

static uint8_t find(const uint8_t *list, uint8_t count, uint8_t reg)
{
    for (uint8_t i = 0; i < count; i++)
        if (list[i] == reg)
            return (uint8_t)(1u << i);
    return 0;
}

static uint8_t add(uint8_t *list, uint8_t *count, uint8_t limit, uint8_t reg)
{
    if (reg == AS_REG_NONE)
        return 0;
    uint8_t bit = find(list, *count, reg);
    if (bit || *count == limit)
        return bit;
    list[*count] = reg;
    return (uint8_t)(1u << (*count)++);
}

void as_insn_read_data(struct as_insn_build *build, uint8_t reg)
{
    struct as_insn *insn = build->insn;
    build->data_reads |= add(insn->reads, &insn->n_reads, AS_INSN_MAX_READS, reg);
}

void as_insn_read_address(struct as_insn_build *build, uint8_t reg)
{
    struct as_insn *insn = build->insn;
    build->address_reads |= add(insn->reads, &insn->n_reads, AS_INSN_MAX_READS, reg);
}

void as_insn_write(struct as_insn_build *build, uint8_t reg)
{
    struct as_insn *insn = build->insn;
    add(insn->writes, &insn->n_writes, AS_INSN_MAX_WRITES, reg);
}

void as_insn_forget_reads(struct as_insn_build *build)
{
    struct as_insn *insn = build->insn;
    insn->n_reads = 0;
    memset(insn->reads, 0, sizeof insn->reads);
    build->address_reads = build->data_reads = 0;
}

/* Takes the bit out of a mask and closes the gap. */
static uint8_t squeeze(uint8_t mask, unsigned at)
{
    unsigned low = mask & ((1u << at) - 1);
    return (uint8_t)(low | (unsigned)mask >> (at + 1) << at);
}

void as_insn_forget_read(struct as_insn_build *build, uint8_t reg)
{
    struct as_insn *insn = build->insn;
    for (uint8_t i = 0; i < insn->n_reads; i++) {
        if (insn->reads[i] != reg)
            continue;
        memmove(insn->reads + i, insn->reads + i + 1, (size_t)(insn->n_reads - i - 1));
        insn->reads[--insn->n_reads] = 0;
        build->address_reads = squeeze(build->address_reads, i);
        build->data_reads = squeeze(build->data_reads, i);
        return;
    }
}

struct as_mem_operand *as_insn_add_mem(struct as_insn_build *build, const struct as_mem_operand *mem)
{
    struct as_insn *insn = build->insn;
    as_insn_read_address(build, mem->base);
    as_insn_read_address(build, mem->index);
    if (mem->segment)
        as_insn_read_address(build, AS_REG_SEGMENT);
    if (mem->access & AS_ACCESS_LOAD)
        insn->flags |= AS_INSN_LOAD;
    if (mem->access & AS_ACCESS_STORE)
        insn->flags |= AS_INSN_STORE;
    if (insn->n_mem == AS_INSN_MAX_MEM)
        return NULL;
    insn->mem[insn->n_mem] = *mem;
    return &insn->mem[insn->n_mem++];
}

uint8_t as_insn_read_bit(const struct as_insn *insn, uint8_t reg)
{
    return find(insn->reads, insn->n_reads, reg);
}

uint8_t as_insn_write_bit(const struct as_insn *insn, uint8_t reg)
{
    return find(insn->writes, insn->n_writes, reg);
}

uint8_t as_insn_mem_bits(const struct as_insn *insn, uint8_t mem)
{
    const struct as_mem_operand *operand = &insn->mem[mem];
    unsigned bits = as_insn_read_bit(insn, operand->base) | as_insn_read_bit(insn, operand->index);
    if (operand->segment)
        bits |= as_insn_read_bit(insn, AS_REG_SEGMENT);
    return (uint8_t)bits;
}

bool as_insn_add_uop(struct as_insn *insn, struct as_uop uop)
{
    if (insn->n_uops == AS_INSN_MAX_UOPS)
        return false;
    insn->uops[insn->n_uops++] = uop;
    return true;
}
