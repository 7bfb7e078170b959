/* Reads symbol tables and decides which symbol an address belongs to. Labels that assemblers and linkers leave for
 * their own use (RISC-V mapping symbols, ".L…") are not functions. */
#include "symbol/symtab.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

static const uint64_t max_table = (uint64_t)1 << 30; /* bytes of one symbol or string table */

void as_symtab_keep(struct as_symtab *table, void *buffer)
{
    *as_vec_push(&table->buffers) = buffer;
}

static void index_code(struct as_symtab *table)
{
    if (table->code.len == 0)
        return;
    struct as_address_range *copy = as_alloc_array(table->code.len, sizeof *copy);
    memcpy(copy, table->code.data, table->code.len * sizeof *copy);
    as_interval_build(&table->code_index, copy, table->code.len);
    free(copy);
}

void as_symtab_set_code(struct as_symtab *table, const struct as_elf *elf)
{
    for (size_t i = 0; i < elf->sections.len; i++) {
        const struct as_elf_section *s = &elf->sections.data[i];
        if ((s->flags & SHF_EXECINSTR) != 0 && (s->flags & SHF_ALLOC) != 0 && s->size <= UINT64_MAX - s->address) {
            uint32_t id = (uint32_t)table->code.len;
            *as_vec_push(&table->code) = (struct as_address_range){s->address, s->address + s->size, 0, id};
        }
    }
    for (size_t i = 0; i < elf->segments.len; i++) {
        const struct as_elf_segment *s = &elf->segments.data[i];
        uint32_t id = (uint32_t)table->code.len;
        if (s->executable)
            *as_vec_push(&table->code) = (struct as_address_range){s->address, s->address + s->memory_size, 1, id};
    }
    index_code(table);
}

void as_symtab_set_data(struct as_symtab *table, const struct as_elf *elf)
{
    table->data = true;
    for (size_t i = 0; i < elf->sections.len; i++) {
        const struct as_elf_section *s = &elf->sections.data[i];
        if ((s->flags & (SHF_EXECINSTR | SHF_ALLOC | SHF_TLS)) == SHF_ALLOC && s->size <= UINT64_MAX - s->address) {
            uint32_t id = (uint32_t)table->code.len;
            *as_vec_push(&table->code) = (struct as_address_range){s->address, s->address + s->size, 0, id};
        }
    }
    index_code(table);
    for (size_t i = 0; i < elf->sections.len; i++) {
        const struct as_elf_section *s = &elf->sections.data[i];
        if ((s->flags & (SHF_EXECINSTR | SHF_ALLOC | SHF_TLS)) != SHF_ALLOC || !s->name)
            continue;
        char *name = as_strdup(s->name);
        as_symtab_keep(table, name);
        as_symtab_add(table, &(struct as_symbol){.address = s->address,
                                                 .size = s->size,
                                                 .raw = name,
                                                 .rank = AS_SYMBOL_LOCAL_LABEL,
                                                 .binding = STB_LOCAL});
    }
}

bool as_symtab_is_code(const struct as_symtab *table, uint64_t address)
{
    return as_interval_find(&table->code_index, address) != AS_INTERVAL_NONE;
}

static uint64_t code_end(const struct as_symtab *table, uint64_t address)
{
    uint32_t id = as_interval_find(&table->code_index, address);
    return id == AS_INTERVAL_NONE ? address : table->code.data[id].end;
}

void as_symtab_add(struct as_symtab *table, const struct as_symbol *symbol)
{
    uint64_t room = code_end(table, symbol->address) - symbol->address;
    if (room == 0)
        return;
    struct as_symbol *added = as_vec_push(&table->symbols);
    *added = *symbol;
    added->size = symbol->size < room ? symbol->size : room;
    table->named += symbol->raw != NULL;
}

static bool is_private_label(const char *name)
{
    return name[0] == '\0' || strncmp(name, ".L", 2) == 0 || (name[0] == '$' && (name[1] == 'x' || name[1] == 'd'));
}

/* The class of a symbol, or AS_SYMBOL_RANKS where it is not code (not a variable). */
static enum as_symbol_rank rank_of(const Elf64_Sym *sym, const char *name, bool data)
{
    unsigned type = ELF64_ST_TYPE(sym->st_info), binding = ELF64_ST_BIND(sym->st_info);
    if (sym->st_shndx == SHN_UNDEF || sym->st_shndx == SHN_ABS || sym->st_shndx == SHN_COMMON || name[0] == '\0')
        return AS_SYMBOL_RANKS;
    if (data)
        return type == STT_OBJECT && sym->st_size > 0 ? AS_SYMBOL_SIZED : AS_SYMBOL_RANKS;
    if (type == STT_FUNC || type == STT_GNU_IFUNC)
        return sym->st_size > 0 ? AS_SYMBOL_SIZED : AS_SYMBOL_UNSIZED;
    if (type != STT_NOTYPE || is_private_label(name))
        return AS_SYMBOL_RANKS;
    if (sym->st_size > 0)
        return AS_SYMBOL_UNSIZED;
    return binding == STB_LOCAL ? AS_SYMBOL_LOCAL_LABEL : AS_SYMBOL_GLOBAL_LABEL;
}

static const struct as_elf_section *section_by_index(const struct as_elf *elf, uint32_t index)
{
    for (size_t i = 0; i < elf->sections.len; i++)
        if (elf->sections.data[i].index == index)
            return &elf->sections.data[i];
    return NULL;
}

static void add_table(struct as_symtab *table, const struct as_elf *elf, const struct as_elf_section *section)
{
    size_t size, strings_size;
    char *strings = (char *)as_elf_read(elf, section_by_index(elf, section->link), max_table, &strings_size);
    if (strings == NULL)
        return;
    as_symtab_keep(table, strings);
    uint8_t *bytes = as_elf_read(elf, section, max_table, &size);
    for (size_t i = 1; bytes != NULL && i < size / sizeof(Elf64_Sym); i++) {
        Elf64_Sym sym;
        memcpy(&sym, bytes + i * sizeof sym, sizeof sym);
        const char *name = sym.st_name < strings_size ? strings + sym.st_name : "";
        enum as_symbol_rank rank = rank_of(&sym, name, table->data);
        struct as_symbol symbol = {.address = sym.st_value,
                                   .size = sym.st_size,
                                   .raw = name,
                                   .rank = (uint8_t)rank,
                                   .binding = ELF64_ST_BIND(sym.st_info)};
        if (rank < AS_SYMBOL_RANKS)
            as_symtab_add(table, &symbol);
    }
    free(bytes);
}

void as_symtab_add_symbols(struct as_symtab *table, const struct as_elf *elf)
{
    for (size_t i = 0; i < elf->sections.len; i++) {
        const struct as_elf_section *section = &elf->sections.data[i];
        if (section->type == SHT_SYMTAB || section->type == SHT_DYNSYM)
            add_table(table, elf, section);
    }
}

/* Leading underscores, as far as they matter. Mangled names all begin alike: theirs carry no information. */
static size_t underscores(const char *name)
{
    size_t n = 0;
    while (n < 8 && name[n] == '_')
        n++;
    return n == 1 && name[1] == 'Z' ? 0 : n;
}

/* Only the first 256 bytes count: a hostile table could repeat a huge name. */
int as_symbol_compare_names(const struct as_symbol *a, const struct as_symbol *b)
{
    if (a->raw == NULL || b->raw == NULL)
        return (a->raw == NULL) - (b->raw == NULL);
    int local = (a->binding == STB_LOCAL) - (b->binding == STB_LOCAL);
    if (local != 0)
        return local;
    size_t ua = underscores(a->raw), ub = underscores(b->raw);
    if (ua != ub)
        return ua < ub ? -1 : 1;
    int weak = (a->binding == STB_WEAK) - (b->binding == STB_WEAK);
    if (weak != 0)
        return weak;
    size_t la = strnlen(a->raw, 256), lb = strnlen(b->raw, 256);
    if (la != lb)
        return la < lb ? -1 : 1;
    return strncmp(a->raw, b->raw, 256);
}

static int by_address(const void *x, const void *y)
{
    const struct as_symbol *a = x, *b = y;
    if (a->address != b->address)
        return a->address < b->address ? -1 : 1;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    if (a->size != b->size)
        return a->size < b->size ? -1 : 1;
    return as_symbol_compare_names(a, b);
}

/* Gives symbols without a size the room up to the next one; local labels end only one another. Goes downwards;
 * `next[r]` is the lowest address above the current one at which a symbol of class r starts. */
static void extend_unsized(struct as_symtab *table)
{
    uint64_t next[AS_SYMBOL_RANKS], pending[AS_SYMBOL_RANKS], at = UINT64_MAX;
    for (size_t r = 0; r < AS_SYMBOL_RANKS; r++)
        next[r] = pending[r] = UINT64_MAX;
    for (size_t i = table->symbols.len; i-- > 0;) {
        struct as_symbol *symbol = &table->symbols.data[i];
        if (symbol->address != at)
            memcpy(next, pending, sizeof next);
        at = symbol->address;
        pending[symbol->rank] = at;
        if (symbol->size > 0)
            continue;
        uint64_t end = code_end(table, at);
        for (size_t r = 0; r < AS_SYMBOL_RANKS; r++)
            if (r != AS_SYMBOL_LOCAL_LABEL || symbol->rank == AS_SYMBOL_LOCAL_LABEL)
                end = next[r] < end ? next[r] : end;
        symbol->size = end - at;
    }
}

void as_symtab_finish(struct as_symtab *table)
{
    if (table->symbols.len == 0)
        return;
    qsort(table->symbols.data, table->symbols.len, sizeof *table->symbols.data, by_address);
    extend_unsized(table);
    struct as_address_range *items = as_alloc_array(table->symbols.len, sizeof *items);
    size_t count = 0;
    for (size_t i = 0; i < table->symbols.len && i < AS_INTERVAL_NONE; i++) {
        const struct as_symbol *s = &table->symbols.data[i];
        const struct as_address_range *last = count > 0 ? &items[count - 1] : NULL;
        struct as_address_range item = {s->address, s->address + s->size, s->rank, (uint32_t)i};
        /* Same range, same class: the better name came first. */
        if (last == NULL || last->start != item.start || last->end != item.end || last->rank != item.rank)
            items[count++] = item;
    }
    as_interval_build(&table->index, items, count);
    free(items);
}

struct as_symbol *as_symtab_find(const struct as_symtab *table, uint64_t address)
{
    uint32_t id = as_interval_find(&table->index, address);
    return id == AS_INTERVAL_NONE ? NULL : &table->symbols.data[id];
}

void as_symtab_free(struct as_symtab *table)
{
    for (size_t i = 0; i < table->buffers.len; i++)
        free(table->buffers.data[i]);
    as_vec_free(&table->buffers);
    as_vec_free(&table->symbols);
    as_vec_free(&table->code);
    as_interval_free(&table->code_index);
    as_interval_free(&table->index);
}
