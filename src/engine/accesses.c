/* Raw access words to accesses. QEMU performs a wide operand in pieces (two of 8 bytes for a 16-byte load), and an
 * atomic either as one access of both kinds or, in a single-threaded program, as a load and a store; here they become
 * what the instruction does. */
#include "engine/engine.h"

#include "engine/wire.h"

uint32_t as_insn_count_accesses(const struct as_insn *insn, uint8_t kind)
{
    uint32_t n = 0;
    for (uint8_t m = 0; m < insn->n_mem; m++)
        n += (insn->mem[m].access & kind) != 0;
    return n;
}

static struct as_access unpack(uint64_t word)
{
    return (struct as_access){
        .index = (uint32_t)(word >> AS_WIRE_INDEX_SHIFT & AS_WIRE_INDEX_MASK),
        .size = 1u << (word >> AS_WIRE_SIZE_SHIFT & 7),
        .address = (uint64_t)((int64_t)(word << (64 - AS_WIRE_ADDRESS_BITS)) >> (64 - AS_WIRE_ADDRESS_BITS)),
        .kind = (uint8_t)(word >> 62),
    };
}

_Static_assert(AS_WIRE_SIZE_SHIFT == 50 && AS_WIRE_INDEX_SHIFT == 53 && AS_WIRE_INDEX_MASK == 511 &&
                   AS_WIRE_STORE == (uint64_t)AS_ACCESS_STORE << 62,
               "as_access_size, _index and _kind");
_Static_assert(AS_ACCESS_ADDRESS_BITS == AS_WIRE_ADDRESS_BITS && AS_WIRE_INDEX_SHIFT >= AS_ACCESS_ADDRESS_BITS,
               "the head of a word is all but its address");

bool as_accesses_are_plain(const struct as_block_exec *exec)
{
    const struct as_block *block = exec->block;
    if (exec->first != 0 || exec->end != block->n || exec->continues || block->n_hints)
        return false;
    for (size_t i = 0; i < exec->n_words; i++) {
        struct as_access access = unpack(exec->words[i]), before = unpack(exec->words[i ? i - 1 : 0]);
        if (access.index >= block->n || block->insns[access.index]->flags & (AS_INSN_ATOMIC | AS_INSN_BULK_MEM))
            return false;
        if (i > 0 && access.index == before.index && access.kind == before.kind)
            return false;
    }
    return true;
}

/* The size of the operand that this access belongs to: the largest of its kind. */
static uint32_t operand_size(const struct as_insn *insn, uint8_t kind)
{
    uint32_t size = 0;
    for (uint8_t m = 0; m < insn->n_mem; m++)
        if (insn->mem[m].access & kind && insn->mem[m].size > size)
            size = insn->mem[m].size;
    return size;
}

/* QEMU performs some scalar operands wider than they are (a fused multiply-add's, for one): what is beyond an operand
 * that is the only one of its kind is not the program's. */
static bool is_beyond(const struct as_insn *insn, const struct as_access *access, const struct as_access *piece)
{
    return piece->index == access->index && piece->kind == access->kind &&
           !(insn->flags & (AS_INSN_MULTI_MEM | AS_INSN_BULK_MEM | AS_INSN_ATOMIC)) &&
           piece->address == access->address + access->size && access->size == operand_size(insn, access->kind) &&
           as_insn_count_accesses(insn, access->kind) == 1;
}

static bool joins(const struct as_insn *insn, const struct as_access *access, const struct as_access *piece)
{
    if (piece->index != access->index || insn->flags & AS_INSN_MULTI_MEM)
        return false;
    if (insn->flags & (AS_INSN_ATOMIC | AS_INSN_BULK_MEM))
        return true;
    if (piece->kind != access->kind)
        return false;
    return piece->address == access->address + access->size &&
           access->size + piece->size <= operand_size(insn, access->kind);
}

static void join(struct as_access *access, const struct as_access *piece)
{
    uint64_t end = access->address + access->size, piece_end = piece->address + piece->size;
    if (piece->address < access->address)
        access->address = piece->address;
    access->size = (uint32_t)((piece_end > end ? piece_end : end) - access->address);
    access->kind |= piece->kind;
}

/* QEMU performs a store-conditional as a compare-and-swap and reads what it saves in bulk: loads that are not the
 * program's. False: nothing was accessed. */
static bool settle_kind(const struct as_insn *insn, struct as_access *access)
{
    if (insn->class_ == AS_CLASS_ATOMIC)
        access->kind = AS_ACCESS_LOAD | AS_ACCESS_STORE;
    else if (insn->flags & (AS_INSN_ATOMIC | AS_INSN_BULK_MEM))
        access->kind &= (uint8_t)((insn->flags & AS_INSN_LOAD ? AS_ACCESS_LOAD : 0) |
                                  (insn->flags & AS_INSN_STORE ? AS_ACCESS_STORE : 0));
    return access->kind != 0;
}

/* The next access that QEMU reported. */
static bool next_reported(struct as_accesses *accesses, struct as_access *access)
{
    const struct as_block_exec *exec = accesses->exec;
    while (accesses->next < exec->n_words) {
        *access = unpack(exec->words[accesses->next++]);
        if (access->index >= exec->end)
            return false;
        if (access->index < exec->first)
            continue;
        const struct as_insn *insn = exec->block->insns[access->index];
        while (accesses->next < exec->n_words) {
            struct as_access piece = unpack(exec->words[accesses->next]);
            bool beyond = is_beyond(insn, access, &piece);
            if (!beyond && !joins(insn, access, &piece))
                break;
            if (!beyond)
                join(access, &piece);
            accesses->next++;
        }
        if (settle_kind(insn, access))
            return true;
    }
    return false;
}

/* The next prefetch or flush, if it comes before the next report. */
static bool next_hint(struct as_accesses *accesses, struct as_access *access)
{
    const struct as_block_exec *exec = accesses->exec;
    const struct as_block *block = exec->block;
    while (accesses->next_hint < block->n_hints && block->hints[accesses->next_hint].index < exec->first)
        accesses->next_hint++;
    while (accesses->next < exec->n_words && unpack(exec->words[accesses->next]).index < exec->first)
        accesses->next++;
    if (!exec->registers || accesses->next_hint >= block->n_hints)
        return false;
    const struct as_hint *hint = &block->hints[accesses->next_hint];
    if (hint->index >= exec->end ||
        (accesses->next < exec->n_words && unpack(exec->words[accesses->next]).index < hint->index))
        return false;
    accesses->next_hint++;
    *access = (struct as_access){.index = hint->index,
                                 .size = 1,
                                 .address = as_linear_value(&hint->address, exec->registers),
                                 .kind = hint->kind};
    return true;
}

bool as_accesses_next(struct as_accesses *accesses, struct as_access *access)
{
    if (accesses->exec->block->n_hints && next_hint(accesses, access))
        return true;
    return next_reported(accesses, access);
}
