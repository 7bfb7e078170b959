/* Names for the stubs through which a module calls others: each stub jumps through a slot of the global offset table,
 * and a relocation names the function whose address the dynamic linker puts there. The stubs are found by decoding them, not by
 * counting: that holds for every layout in use (.plt, .plt.sec with endbr64, .plt.got, lld's, RISC-V's).
 */
#include "symbol/symtab.h"

#include "base/alloc.h"
#include "base/map.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_STUB_NAME = 1024 };
static const uint64_t max_section = (uint64_t)256 << 20, max_stubs = (uint64_t)16 << 20; /* bytes of a section */
static const size_t max_text = (size_t)64 << 20; /* bytes of all names of stubs: no real module has a hundredth */

/* Dynamic symbols: what relocations refer to. */
struct dynamic {
    Elf64_Sym *symbols;
    size_t count;
    char *strings;
    size_t strings_size;
};

static const struct as_elf_section *find_type(const struct as_elf *elf, uint32_t type)
{
    for (size_t i = 0; i < elf->sections.len; i++)
        if (elf->sections.data[i].type == type)
            return &elf->sections.data[i];
    return NULL;
}

static void read_dynamic(const struct as_elf *elf, struct dynamic *dynamic)
{
    size_t size = 0;
    dynamic->symbols = (Elf64_Sym *)(void *)as_elf_read(elf, find_type(elf, SHT_DYNSYM), max_section, &size);
    dynamic->count = size / sizeof(Elf64_Sym);
    dynamic->strings = (char *)as_elf_read(elf, as_elf_section(elf, ".dynstr"), max_section, &dynamic->strings_size);
    if (dynamic->strings == NULL)
        dynamic->strings_size = 0;
}

static const char *dynamic_name(const struct dynamic *dynamic, uint64_t index)
{
    if (index >= dynamic->count || dynamic->symbols[index].st_name >= dynamic->strings_size)
        return "";
    return dynamic->strings + dynamic->symbols[index].st_name;
}

static bool is_irelative(uint16_t machine, uint64_t type)
{
    return machine == EM_X86_64 ? type == R_X86_64_IRELATIVE : type == 58 /* R_RISCV_IRELATIVE */;
}

/* The name of the function at an address, among the symbols read so far. */
static const char *name_at(const struct as_symtab *table, const struct as_map *by_address, uint64_t address)
{
    const uint64_t *at = as_map_get(by_address, address);
    return at != NULL ? table->symbols.data[*at].raw : "";
}

/* Notes for each slot that a relocation fills whose name (a pointer) it gets. */
static void map_slots(const struct as_elf *elf, const struct as_symtab *table, const struct dynamic *dynamic,
                      const struct as_map *by_address, struct as_map *slots)
{
    for (size_t i = 0; i < elf->sections.len; i++) {
        size_t size = 0;
        const struct as_elf_section *section = &elf->sections.data[i];
        if (section->type != SHT_RELA || (section->flags & SHF_ALLOC) == 0)
            continue;
        uint8_t *bytes = as_elf_read(elf, section, max_section, &size);
        for (size_t k = 0; bytes != NULL && k < size / sizeof(Elf64_Rela); k++) {
            Elf64_Rela rela;
            memcpy(&rela, bytes + k * sizeof rela, sizeof rela);
            const char *name = is_irelative(elf->machine, ELF64_R_TYPE(rela.r_info))
                                   ? name_at(table, by_address, (uint64_t)rela.r_addend)
                                   : dynamic_name(dynamic, ELF64_R_SYM(rela.r_info));
            if (name[0] != '\0')
                *as_map_put(slots, rela.r_offset) = (uint64_t)(uintptr_t)name;
        }
        free(bytes);
    }
}

/* x86-64: [endbr64] [bnd] jmp *disp(%rip). Returns the slot, or 0. */
static uint64_t slot_x86(const uint8_t *code, size_t size, uint64_t address)
{
    size_t at = 0;
    if (size >= 4 && memcmp(code, "\xf3\x0f\x1e\xfa", 4) == 0)
        at = 4;
    if (at < size && code[at] == 0xf2)
        at++;
    if (size < at + 6 || code[at] != 0xff || code[at + 1] != 0x25)
        return 0;
    int32_t disp;
    memcpy(&disp, code + at + 2, sizeof disp);
    return address + at + 6 + (uint64_t)(int64_t)disp;
}

/* RISC-V: auipc t3, hi; ld t3, lo(t3); jalr t1, t3; nop. */
static uint64_t slot_riscv(const uint8_t *code, size_t size, uint64_t address)
{
    uint32_t auipc, load;
    if (size < 8)
        return 0;
    memcpy(&auipc, code, 4);
    memcpy(&load, code + 4, 4);
    if ((auipc & 0xfff) != 0xe17 || (load & 0xfffff) != 0xe3e03)
        return 0;
    return address + (uint64_t)(int64_t)(int32_t)(auipc & 0xfffff000) + (uint64_t)(int64_t)((int32_t)load >> 20);
}

static void add_stub(struct as_symtab *table, uint64_t address, uint64_t size, const char *name, size_t *total)
{
    char text[MAX_STUB_NAME];
    size_t length = strnlen(name, sizeof text - 5);
    const char *version = memchr(name, '@', length);
    length = version != NULL && version != name ? (size_t)(version - name) : length;
    if ((*total += length) > max_text)
        return;
    memcpy(text, name, length);
    memcpy(text + length, "@plt", 5);
    char *kept = as_strdup(text);
    as_symtab_keep(table, kept);
    struct as_symbol symbol = {
        .address = address, .size = size, .raw = kept, .rank = AS_SYMBOL_SIZED, .binding = STB_LOCAL};
    as_symtab_add(table, &symbol);
}

static void add_stubs(struct as_symtab *table, const struct as_elf *elf, const struct as_elf_section *section,
                      const struct as_map *slots)
{
    size_t size = 0, total = 0, step = section->entry_size == 8 || section->entry_size == 32 ? section->entry_size : 16;
    uint8_t *code = as_elf_read(elf, section, max_stubs, &size);
    for (size_t at = 0; code != NULL && at < size; at += step) {
        uint64_t address = section->address + at;
        uint64_t slot = elf->machine == EM_X86_64 ? slot_x86(code + at, size - at, address)
                                                  : slot_riscv(code + at, size - at, address);
        const uint64_t *name = slot != 0 ? as_map_get(slots, slot) : NULL;
        if (name != NULL)
            add_stub(table, address, step, (const char *)(uintptr_t)*name, &total);
    }
    free(code);
    /* What is not a stub (the header, the lazy part next to .plt.sec) belongs to the table as a whole. */
    struct as_symbol whole = {.address = section->address,
                              .size = section->size,
                              .raw = ".plt",
                              .rank = AS_SYMBOL_UNSIZED,
                              .binding = STB_LOCAL};
    if (section->size > 0)
        as_symtab_add(table, &whole);
}

/* The best name at each address. */
static void map_symbols(const struct as_symtab *table, struct as_map *by_address)
{
    for (size_t i = 0; i < table->symbols.len; i++) {
        const struct as_symbol *symbol = &table->symbols.data[i];
        const uint64_t *known = symbol->raw != NULL ? as_map_get(by_address, symbol->address) : NULL;
        if (symbol->raw != NULL && (known == NULL || as_symbol_compare_names(symbol, &table->symbols.data[*known]) < 0))
            *as_map_put(by_address, symbol->address) = i;
    }
}

void as_symtab_add_plt(struct as_symtab *table, const struct as_elf *elf)
{
    struct dynamic dynamic = {0};
    struct as_map by_address = {0}, slots = {0};
    bool any = false;
    for (size_t i = 0; i < elf->sections.len; i++)
        any |= strncmp(elf->sections.data[i].name, ".plt", 4) == 0 || strcmp(elf->sections.data[i].name, ".iplt") == 0;
    if (!any || (elf->machine != EM_X86_64 && elf->machine != EM_RISCV))
        return;
    read_dynamic(elf, &dynamic);
    map_symbols(table, &by_address);
    map_slots(elf, table, &dynamic, &by_address, &slots);
    for (size_t i = 0; i < elf->sections.len; i++) {
        const struct as_elf_section *section = &elf->sections.data[i];
        if ((section->flags & SHF_EXECINSTR) != 0 &&
            (strncmp(section->name, ".plt", 4) == 0 || strcmp(section->name, ".iplt") == 0))
            add_stubs(table, elf, section, &slots);
    }
    as_map_free(&slots);
    as_map_free(&by_address);
    free(dynamic.symbols);
    free(dynamic.strings);
}
