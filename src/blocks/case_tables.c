/* See case_tables.h. */
#include "blocks/case_tables.h"

#include "base/search.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    LEAST_ENTRIES =
        4, /* compilers make no smaller tables; what happens to look like one is rarely longer than one entry */
    MOST_ENTRIES = 4096
};

/* ---- the addresses that a function takes ---- */

static bool has_jump(const struct as_insn *insns, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (insns[i].class_ == AS_CLASS_JUMP_INDIRECT)
            return true;
    return false;
}

/* lea disp32(%rip): a REX prefix with W, 8d, mod 0 and rm 5. */
static bool takes_x86(const struct as_insn *insn, uint64_t *address)
{
    const uint8_t *bytes = insn->bytes;
    int32_t disp;
    if (insn->length == 7 && (bytes[0] & 0xf8) == 0x48 && bytes[1] == 0x8d && (bytes[2] & 0xc7) == 5) {
        memcpy(&disp, bytes + 3, sizeof disp);
        *address = insn->address + insn->length + (uint64_t)(int64_t)disp;
        return true;
    }
    for (uint8_t i = 0; i < insn->n_mem; i++) {
        const struct as_mem_operand *mem = &insn->mem[i];
        if (mem->base != AS_REG_NONE || mem->index == AS_REG_NONE || mem->segment || mem->disp <= 0)
            continue;
        *address = (uint64_t)mem->disp;
        return true;
    }
    return false;
}

static uint32_t rv_word(const struct as_insn *insn)
{
    uint32_t word = 0;
    memcpy(&word, insn->bytes, sizeof word);
    return insn->length == sizeof word ? word : 0;
}

/* auipc or lui, and addi of the same register right behind it. */
static bool takes_rv(const struct as_insn *insn, const struct as_insn *next, uint64_t *address)
{
    enum { AUIPC = 0x17, LUI = 0x37, ADDI = 0x13 };
    uint32_t upper = rv_word(insn), lower = rv_word(next), rd = upper >> 7 & 0x1f;
    uint32_t opcode = upper & 0x7f;
    if ((opcode != AUIPC && opcode != LUI) || (lower & 0x707f) != ADDI || (lower >> 7 & 0x1f) != rd ||
        (lower >> 15 & 0x1f) != rd)
        return false;
    int64_t offset = (int64_t)(int32_t)(upper & 0xfffff000) + ((int32_t)lower >> 20);
    *address = (opcode == AUIPC ? insn->address : 0) + (uint64_t)offset;
    return true;
}

static int by_address(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static as_case_targets find_taken(const struct as_insn *insns, size_t n)
{
    as_case_targets taken = {0};
    for (size_t i = 0; i < n; i++) {
        uint64_t address;
        bool takes = insns[i].arch == AS_ARCH_X86_64 ? takes_x86(&insns[i], &address)
                                                     : i + 1 < n && takes_rv(&insns[i], &insns[i + 1], &address);
        if (takes)
            *as_vec_push(&taken) = address;
    }
    if (taken.len)
        qsort(taken.data, taken.len, sizeof *taken.data, by_address);
    return taken;
}

/* ---- what lies there ---- */

/* As much as the file has, `size` at most. */
static size_t read_data(const struct as_elf *elf, uint64_t address, void *data, size_t size)
{
    for (size_t i = 0; i < elf->segments.len; i++) {
        const struct as_elf_segment *segment = &elf->segments.data[i];
        if (address < segment->address || address - segment->address >= segment->file_size)
            continue;
        uint64_t at = address - segment->address, left = segment->file_size - at;
        ssize_t n = pread(elf->fd, data, left < size ? left : size, (off_t)(segment->offset + at));
        return n > 0 ? (size_t)n : 0;
    }
    return 0;
}

enum kind { RELATIVE, WIDE, NARROW, N_KINDS };

static uint64_t entry_of(enum kind kind, uint64_t table, const uint8_t *data)
{
    uint64_t wide;
    int32_t narrow;
    if (kind == WIDE) {
        memcpy(&wide, data, sizeof wide);
        return wide;
    }
    memcpy(&narrow, data, sizeof narrow);
    return kind == NARROW ? (uint32_t)narrow : table + (uint64_t)(int64_t)narrow;
}

static bool begins_insn(const struct as_insn *insns, size_t n, uint64_t address)
{
    size_t at = as_search(0, n, i, insns[i].address < address);
    return at < n && insns[at].address == address;
}

/* How many entries from the table on, up to `end`, lead to instructions. They are added to the targets. */
static size_t read_table(const struct as_elf *elf, const struct as_insn *insns, size_t n, enum kind kind,
                         uint64_t table, uint64_t end, as_case_targets *targets)
{
    uint8_t data[256];
    size_t size = kind == WIDE ? 8 : 4, entries = 0, have = 0, at = 0;
    for (; entries < MOST_ENTRIES && end - table >= (entries + 1) * size; entries++, at += size) {
        if (at + size > have) {
            have = read_data(elf, table + entries * size, data, sizeof data);
            at = 0;
        }
        if (size > have || !begins_insn(insns, n, entry_of(kind, table, data + at)))
            break;
        *as_vec_push(targets) = entry_of(kind, table, data + at);
    }
    return entries;
}

as_case_targets as_case_targets_find(const struct as_elf *elf, const struct as_insn *insns, size_t n)
{
    as_case_targets targets = {0}, taken = {0};
    if (elf && has_jump(insns, n))
        taken = find_taken(insns, n);
    for (size_t i = 0, next; i < taken.len; i = next) {
        for (next = i + 1; next < taken.len && taken.data[next] == taken.data[i];)
            next++;
        uint64_t end = next < taken.len ? taken.data[next] : UINT64_MAX;
        for (enum kind kind = 0; kind < N_KINDS; kind++) {
            size_t before = targets.len;
            if (read_table(elf, insns, n, kind, taken.data[i], end, &targets) >= LEAST_ENTRIES)
                break;
            targets.len = before;
        }
    }
    as_vec_free(&taken);
    return targets;
}
