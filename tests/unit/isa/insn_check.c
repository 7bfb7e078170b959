/* See insn_check.h. */
#include "insn_check.h"

#include <string.h>

static bool has(const struct as_insn *insn, uint32_t flag)
{
    return (insn->flags & flag) != 0;
}

static const char *check_length(const struct as_insn *insn, const uint8_t *bytes, size_t size)
{
    if (size == 0)
        return insn->length == 0 ? NULL : "length without bytes";
    if (insn->length == 0 || insn->length > size || insn->length > AS_INSN_MAX_BYTES)
        return "length";
    if (insn->arch == AS_ARCH_RISCV64 && insn->length != ((bytes[0] & 3) == 3 ? 4 : 2) && insn->length != size)
        return "length bits";
    return memcmp(insn->bytes, bytes, insn->length) == 0 ? NULL : "bytes";
}

static const char *check_list(const struct as_insn *insn, const uint8_t *list, unsigned count, unsigned limit)
{
    if (count > limit)
        return "too many registers";
    for (unsigned i = 0; i < count; i++) {
        if (list[i] >= AS_REG_COUNT || strcmp(as_register_name(insn->arch, list[i]), "none") == 0)
            return "no such register";
        if (insn->arch == AS_ARCH_RISCV64 && list[i] == AS_REG_INT0)
            return "the zero register";
        if (memchr(list, list[i], i))
            return "a register twice";
    }
    return NULL;
}

static const char *check_control(const struct as_insn *insn)
{
    bool control = as_insn_is_control(insn),
         direct = insn->class_ == AS_CLASS_BRANCH || insn->class_ == AS_CLASS_JUMP || insn->class_ == AS_CLASS_CALL;
    if (has(insn, AS_INSN_ENDS_BLOCK) != (control || insn->class_ == AS_CLASS_SYSTEM))
        return "ends_block";
    if (has(insn, AS_INSN_CONDITIONAL) != (insn->class_ == AS_CLASS_BRANCH))
        return "conditional";
    if (insn->target && !direct)
        return "target";
    if (insn->class_ == AS_CLASS_SYSTEM && !has(insn, AS_INSN_SERIALISES))
        return "a system call that does not serialise";
    bool x86 = insn->arch == AS_ARCH_X86_64;
    if (x86 && as_insn_is_call(insn) && !has(insn, AS_INSN_STORE))
        return "a call without its store";
    if (x86 && insn->class_ == AS_CLASS_RETURN && !has(insn, AS_INSN_LOAD))
        return "a return without its load";
    return NULL;
}

static const char *check_flags(const struct as_insn *insn)
{
    const uint32_t both = AS_INSN_LOAD | AS_INSN_STORE;
    if (insn->class_ == AS_CLASS_LOAD && !has(insn, AS_INSN_LOAD))
        return "a load that does not";
    if (insn->class_ == AS_CLASS_STORE && !has(insn, AS_INSN_STORE))
        return "a store that does not";
    if (insn->class_ == AS_CLASS_ATOMIC && ((insn->flags & both) != both || !has(insn, AS_INSN_ATOMIC)))
        return "an atomic that is not";
    if (has(insn, AS_INSN_LOCKED) && insn->class_ != AS_CLASS_ATOMIC)
        return "locked";
    if (has(insn, AS_INSN_COND_MEM | AS_INSN_BULK_MEM) && !has(insn, both))
        return "the manner of an access without one";
    if (has(insn, AS_INSN_REP) && insn->class_ != AS_CLASS_STRING)
        return "rep";
    if (has(insn, AS_INSN_PREFETCH | AS_INSN_CACHE_FLUSH | AS_INSN_CACHE_CLEAN) && (has(insn, both) || !insn->n_mem))
        return "a cache operation that accesses";
    if (has(insn, AS_INSN_FUSE_FIRST) && (!insn->fuse || insn->arch != AS_ARCH_X86_64))
        return "fuse";
    return NULL;
}

static bool in_reads(const struct as_insn *insn, uint8_t reg)
{
    return reg == AS_REG_NONE || memchr(insn->reads, reg, insn->n_reads) != NULL;
}

static const char *check_mem(const struct as_insn *insn)
{
    unsigned accesses = 0;
    if (insn->n_mem > AS_INSN_MAX_MEM)
        return "too many memory operands";
    for (unsigned i = 0; i < insn->n_mem; i++) {
        const struct as_mem_operand *mem = &insn->mem[i];
        accesses |= mem->access;
        if (mem->access > (AS_ACCESS_LOAD | AS_ACCESS_STORE) || mem->segment > 2)
            return "access";
        if (mem->scale != 1 && mem->scale != 2 && mem->scale != 4 && mem->scale != 8)
            return "scale";
        if (!in_reads(insn, mem->base) || !in_reads(insn, mem->index))
            return "an address register that is not read";
        if (mem->pc_relative && (mem->base != AS_REG_NONE || mem->index != AS_REG_NONE))
            return "pc_relative";
    }
    /* Only what has more operands than fit may access memory by none of them. */
    bool full = insn->n_mem == AS_INSN_MAX_MEM;
    if (!full && has(insn, AS_INSN_LOAD) != ((accesses & AS_ACCESS_LOAD) != 0))
        return "load";
    if (!full && has(insn, AS_INSN_STORE) != ((accesses & AS_ACCESS_STORE) != 0))
        return "store";
    return NULL;
}

/* `earlier` is the mask of the uops before it. */
static const char *check_uop(const struct as_insn *insn, const struct as_uop *uop, unsigned earlier)
{
    if (uop->class_ >= AS_CLASS_COUNT)
        return "uop class";
    if (uop->after & ~earlier)
        return "a uop that waits for a later one";
    if (uop->reads >> insn->n_reads || uop->writes >> insn->n_writes)
        return "uop registers";
    if (uop->mem != AS_UOP_NO_MEM && uop->mem >= insn->n_mem)
        return "uop memory";
    unsigned need = uop->class_ == AS_CLASS_LOAD ? AS_ACCESS_LOAD : uop->class_ == AS_CLASS_STORE ? AS_ACCESS_STORE : 0;
    if (need && (uop->mem == AS_UOP_NO_MEM || !(insn->mem[uop->mem].access & need)))
        return "uop access";
    return NULL;
}

/* Every access is some uop's, and every register is read and written by one; rsp may be left to the stack engine. */
static const char *check_uops(const struct as_insn *insn)
{
    unsigned reads = 0, writes = 0, loads = 0, stores = 0;
    if (insn->n_uops == 0 || insn->n_uops > AS_INSN_MAX_UOPS)
        return "number of uops";
    for (unsigned i = 0; i < insn->n_uops; i++) {
        const struct as_uop *uop = &insn->uops[i];
        const char *wrong = check_uop(insn, uop, (1u << i) - 1);
        if (wrong)
            return wrong;
        reads |= uop->reads;
        writes |= uop->writes;
        if (uop->mem != AS_UOP_NO_MEM && uop->class_ != AS_CLASS_STORE)
            loads |= 1u << uop->mem;
        if (uop->mem != AS_UOP_NO_MEM && uop->class_ != AS_CLASS_LOAD)
            stores |= 1u << uop->mem;
    }
    for (unsigned i = 0; i < insn->n_mem; i++) {
        if ((insn->mem[i].access & AS_ACCESS_LOAD) && !(loads >> i & 1))
            return "a load without uop";
        if ((insn->mem[i].access & AS_ACCESS_STORE) && !(stores >> i & 1))
            return "a store without uop";
    }
    for (unsigned i = 0; i < insn->n_writes; i++)
        if (!(writes >> i & 1) && !(insn->arch == AS_ARCH_X86_64 && insn->writes[i] == 4))
            return "a register that no uop writes";
    return reads == (1u << insn->n_reads) - 1 ? NULL : "a register that no uop reads";
}

const char *insn_check(const struct as_insn *insn, const uint8_t *bytes, size_t size, bool known)
{
    const char *wrong = check_length(insn, bytes, size);
    if (!wrong && (insn->class_ >= AS_CLASS_COUNT || (insn->class_ == AS_CLASS_UNKNOWN) == known))
        wrong = "class";
    if (!wrong)
        wrong = check_list(insn, insn->reads, insn->n_reads, AS_INSN_MAX_READS);
    if (!wrong)
        wrong = check_list(insn, insn->writes, insn->n_writes, AS_INSN_MAX_WRITES);
    if (!wrong)
        wrong = check_control(insn);
    if (!wrong)
        wrong = check_flags(insn);
    if (!wrong)
        wrong = check_mem(insn);
    return wrong ? wrong : check_uops(insn);
}
