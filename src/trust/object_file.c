/* See object_file.h. What the text of an assembler cannot say again, or could say wrongly, is refused: sections of one name, links
 * between sections, names that need escapes. */
#include "trust/object_file.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_SECTIONS = 60000 };

bool as_object_is_elf(const char *bytes, size_t size)
{
    return size >= SELFMAG && memcmp(bytes, ELFMAG, SELFMAG) == 0;
}

bool as_object_is_x86(const char *bytes, size_t size)
{
    Elf64_Ehdr header;
    if (!as_object_is_elf(bytes, size) || size < sizeof header)
        return false;
    memcpy(&header, bytes, sizeof header);
    return header.e_machine == EM_X86_64;
}

struct reader {
    const uint8_t *bytes;
    size_t size;
    const Elf64_Shdr *headers;
    size_t n;
    struct as_object *object;
};

/* ---- relocations ---- */

struct reloc_name {
    const char *name;
    bool relative;
};
#define NAMED(type) [type] = {#type, false}
#define RELATIVE(type) [type] = {#type, true}
static const struct reloc_name reloc_names[] = {
    NAMED(R_X86_64_64),
    RELATIVE(R_X86_64_PC32),
    NAMED(R_X86_64_GOT32),
    RELATIVE(R_X86_64_PLT32),
    RELATIVE(R_X86_64_GOTPCREL),
    NAMED(R_X86_64_32),
    NAMED(R_X86_64_32S),
    NAMED(R_X86_64_16),
    RELATIVE(R_X86_64_PC16),
    NAMED(R_X86_64_8),
    RELATIVE(R_X86_64_PC8),
    NAMED(R_X86_64_DTPMOD64),
    NAMED(R_X86_64_DTPOFF64),
    NAMED(R_X86_64_TPOFF64),
    NAMED(R_X86_64_TLSGD),
    NAMED(R_X86_64_TLSLD),
    NAMED(R_X86_64_DTPOFF32),
    NAMED(R_X86_64_GOTTPOFF),
    NAMED(R_X86_64_TPOFF32),
    RELATIVE(R_X86_64_PC64),
    NAMED(R_X86_64_GOTOFF64),
    NAMED(R_X86_64_GOTPC32),
    NAMED(R_X86_64_SIZE32),
    NAMED(R_X86_64_SIZE64),
    NAMED(R_X86_64_GOTPC32_TLSDESC),
    NAMED(R_X86_64_TLSDESC_CALL),
    RELATIVE(R_X86_64_GOTPCRELX),
    RELATIVE(R_X86_64_REX_GOTPCRELX),
};

const char *as_object_reloc_name(uint32_t type)
{
    return type < sizeof reloc_names / sizeof *reloc_names ? reloc_names[type].name : NULL;
}

bool as_object_reloc_relative(uint32_t type)
{
    return as_object_reloc_name(type) && reloc_names[type].relative;
}

static int by_offset(const void *a, const void *b)
{
    const struct as_object_reloc *one = a, *two = b;
    return one->offset < two->offset ? -1 : one->offset > two->offset;
}

/* ---- the tables of the file ---- */

static bool inside(const struct reader *in, uint64_t offset, uint64_t size)
{
    return offset <= in->size && size <= in->size - offset;
}

/* A text of a string table. */
static const char *text_at(const struct reader *in, uint32_t table, uint64_t offset)
{
    if (table >= in->n || in->headers[table].sh_type != SHT_STRTAB)
        return NULL;
    const Elf64_Shdr *header = &in->headers[table];
    if (!inside(in, header->sh_offset, header->sh_size) || offset >= header->sh_size)
        return NULL;
    const char *text = (const char *)in->bytes + header->sh_offset + offset;
    return memchr(text, '\0', header->sh_size - offset) ? text : NULL;
}

static bool writable(const char *name)
{
    return name && !strpbrk(name, "\"\\@\n\r");
}

static bool is_left_out(const struct as_object_section *section)
{
    return section->type == SHT_NULL || section->type == SHT_SYMTAB || section->type == SHT_STRTAB ||
           section->type == SHT_RELA || section->type == SHT_GROUP || strncmp(section->name, ".debug_", 7) == 0 ||
           strcmp(section->name, ".eh_frame") == 0 || strcmp(section->name, ".comment") == 0 ||
           strcmp(section->name, ".llvm_addrsig") == 0;
}

static bool check_section(const struct as_object_section *section, struct as_error *err)
{
    const uint64_t known = SHF_WRITE | SHF_ALLOC | SHF_EXECINSTR | SHF_MERGE | SHF_STRINGS | SHF_TLS | SHF_GROUP |
                           SHF_EXCLUDE | SHF_INFO_LINK;
    bool plain = section->type == SHT_PROGBITS || section->type == SHT_NOBITS || section->type == SHT_NOTE ||
                 section->type == SHT_INIT_ARRAY || section->type == SHT_FINI_ARRAY ||
                 section->type == SHT_PREINIT_ARRAY;
    if (!plain || (section->flags & ~known) || (section->align & (section->align - 1)))
        return as_error_set(err, "its section %s cannot be written as assembly; give the assembly (cc -S)",
                            section->name);
    return true;
}

static bool read_section(const struct reader *in, const Elf64_Shdr *header, uint32_t names, struct as_error *err)
{
    struct as_object_section section = {.name = text_at(in, names, header->sh_name),
                                        .size = header->sh_size,
                                        .flags = header->sh_flags,
                                        .align = header->sh_addralign,
                                        .entry_size = header->sh_entsize,
                                        .type = header->sh_type};
    bool file = section.type != SHT_NOBITS && section.type != SHT_NULL;
    if (!writable(section.name) || section.size > UINT32_MAX || (file && !inside(in, header->sh_offset, section.size)))
        return as_error_set(err, "its table of sections is damaged");
    section.data = file ? in->bytes + header->sh_offset : NULL;
    in->object->debug |= strncmp(section.name, ".debug_", 7) == 0;
    section.kept = !is_left_out(&section);
    if (section.kept && !check_section(&section, err))
        return false;
    for (size_t i = 0; section.kept && i < in->object->sections.len; i++)
        if (in->object->sections.data[i].kept && strcmp(in->object->sections.data[i].name, section.name) == 0)
            return as_error_set(err, "it has two sections %s; give the assembly (cc -S)", section.name);
    *as_vec_push(&in->object->sections) = section;
    return true;
}

static bool read_symbol(const struct reader *in, const Elf64_Sym *from, uint32_t names, struct as_error *err)
{
    struct as_object_symbol symbol = {.name = text_at(in, names, from->st_name),
                                      .value = from->st_value,
                                      .size = from->st_size,
                                      .section = from->st_shndx,
                                      .type = ELF64_ST_TYPE(from->st_info),
                                      .binding = ELF64_ST_BIND(from->st_info),
                                      .visibility = ELF64_ST_VISIBILITY(from->st_other)};
    bool special = symbol.section == SHN_ABS || symbol.section == SHN_COMMON;
    if (!writable(symbol.name) || (!special && symbol.section >= in->object->sections.len))
        return as_error_set(err, "a symbol of it cannot be written as assembly; give the assembly (cc -S)");
    if (!special && symbol.section &&
        (symbol.value > in->object->sections.data[symbol.section].size ||
         symbol.size > in->object->sections.data[symbol.section].size - symbol.value))
        return as_error_set(err, "symbol %s lies outside of its section", symbol.name);
    *as_vec_push(&in->object->symbols) = symbol;
    return true;
}

static bool read_symbols(const struct reader *in, struct as_error *err)
{
    for (size_t i = 0; i < in->n; i++) {
        const Elf64_Shdr *header = &in->headers[i];
        if (header->sh_type != SHT_SYMTAB)
            continue;
        if (header->sh_entsize != sizeof(Elf64_Sym) || header->sh_offset % 8 || in->object->symbols.len)
            return as_error_set(err, "its table of symbols is damaged");
        const Elf64_Sym *symbols = (const Elf64_Sym *)(in->bytes + header->sh_offset);
        for (size_t s = 0; s < header->sh_size / sizeof *symbols; s++)
            if (!read_symbol(in, &symbols[s], header->sh_link, err))
                return false;
    }
    return true;
}

static bool read_relocs(const struct reader *in, const Elf64_Shdr *header, struct as_error *err)
{
    if (header->sh_info >= in->n || header->sh_entsize != sizeof(Elf64_Rela) || header->sh_offset % 8)
        return as_error_set(err, "a table of relocations is damaged");
    struct as_object_section *section = &in->object->sections.data[header->sh_info];
    const Elf64_Rela *relocs = (const Elf64_Rela *)(in->bytes + header->sh_offset);
    for (size_t r = 0; r < header->sh_size / sizeof *relocs; r++) {
        struct as_object_reloc reloc = {relocs[r].r_offset, (uint32_t)ELF64_R_TYPE(relocs[r].r_info),
                                        (uint32_t)ELF64_R_SYM(relocs[r].r_info), relocs[r].r_addend};
        if (reloc.offset >= section->size || reloc.symbol >= in->object->symbols.len)
            return as_error_set(err, "a relocation of %s is damaged", section->name);
        if (section->kept && !as_object_reloc_name(reloc.type))
            return as_error_set(err, "relocation %u of %s is not known here; give the assembly (cc -S)", reloc.type,
                                section->name);
        *as_vec_push(&section->relocs) = reloc;
    }
    if (section->relocs.len)
        qsort(section->relocs.data, section->relocs.len, sizeof *section->relocs.data, by_offset);
    return true;
}

static bool read_group(const struct reader *in, const Elf64_Shdr *header, struct as_error *err)
{
    size_t n = header->sh_size / 4;
    if (header->sh_info >= in->object->symbols.len || header->sh_offset % 4 || n == 0)
        return as_error_set(err, "a group of sections is damaged");
    const Elf64_Word *words = (const Elf64_Word *)(in->bytes + header->sh_offset);
    for (size_t i = 1; i < n; i++) {
        if (words[i] >= in->object->sections.len || words[0] != GRP_COMDAT)
            return as_error_set(err, "a group of sections is damaged, or of a kind that is not known here");
        in->object->sections.data[words[i]].group = in->object->symbols.data[header->sh_info].name;
    }
    return true;
}

static bool check_header(const struct reader *in, const Elf64_Ehdr *header, struct as_error *err)
{
    if (in->size < sizeof *header || header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB)
        return as_error_set(err, "not an object of a 64-bit little-endian machine");
    if (header->e_type != ET_REL)
        return as_error_set(err,
                            "a linked program or library, in which code cannot move; give its objects or assembly");
    if (header->e_machine != EM_X86_64)
        return as_error_set(err,
                            "objects of x86-64 only: linkers change the code of others; give the assembly (cc -S)");
    if (header->e_shentsize != sizeof(Elf64_Shdr) || header->e_shnum == 0 || header->e_shnum > MOST_SECTIONS ||
        header->e_shoff % 8 || !inside(in, header->e_shoff, header->e_shnum * sizeof(Elf64_Shdr)))
        return as_error_set(err, "its table of sections is damaged");
    return true;
}

static bool read_all(struct reader *in, uint32_t names, struct as_error *err)
{
    for (size_t i = 0; i < in->n; i++)
        if (!read_section(in, &in->headers[i], names, err))
            return false;
    if (!read_symbols(in, err))
        return false;
    for (size_t i = 0; i < in->n; i++) {
        if (in->headers[i].sh_type == SHT_RELA && !read_relocs(in, &in->headers[i], err))
            return false;
        if (in->headers[i].sh_type == SHT_GROUP && !read_group(in, &in->headers[i], err))
            return false;
    }
    for (size_t i = 0; i < in->n; i++) {
        struct as_object_section *section = &in->object->sections.data[i];
        if (section->data && (section->flags & SHF_EXECINSTR))
            section->wanted = as_alloc_array(section->size + 1, sizeof(bool));
    }
    return as_object_read_frames(in->object, err);
}

bool as_object_read(struct as_object *object, const uint8_t *bytes, size_t size, struct as_error *err)
{
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)bytes;
    struct reader in = {.bytes = bytes, .size = size, .object = object};
    *object = (struct as_object){0};
    if (!check_header(&in, header, err))
        return false;
    in.headers = (const Elf64_Shdr *)(bytes + header->e_shoff);
    in.n = header->e_shnum;
    if (read_all(&in, header->e_shstrndx, err))
        return true;
    as_object_free(object);
    return false;
}

void as_object_free(struct as_object *object)
{
    for (size_t i = 0; i < object->sections.len; i++) {
        struct as_object_section *section = &object->sections.data[i];
        for (size_t n = 0; n < section->notes.len; n++)
            free(section->notes.data[n].text);
        as_vec_free(&section->notes);
        as_vec_free(&section->relocs);
        free(section->wanted);
    }
    as_vec_free(&object->sections);
    as_vec_free(&object->symbols);
}
