/* An object as assembly with nops: a small one, made here byte by byte, against text worked out by hand; and what must be
 * refused. */
#include "unit.h"

#include "trust/object_file.h"
#include "trust/remedy.h"

enum {
    TEXT = 1,
    DATA,
    BSS,
    FRAMES,
    DEBUG,
    COMMENT,
    TEXT_RELA,
    DATA_RELA,
    FRAMES_RELA,
    SYMTAB,
    STRTAB,
    NAMES,
    SECTIONS
};
enum { FILE_NAME = 1, TEXT_SYMBOL, DATA_SYMBOL, ZEROED, HOT, COLD, VALUE, PUTS, LIMIT, SPARE, SYMBOLS };

/* hot: mov (%rdi), %eax; sub $1, %esi; jne hot; call puts; ret; three nops
 * cold: mov data + 8(%rip), %eax; jne cold; jmp hot */
static const uint8_t code[] = {0x8b, 0x07, 0x83, 0xee, 0x01, 0x75, 0xf9, 0xe8, 0, 0,    0,    0,    0xc3,
                               0x90, 0x90, 0x90, 0x8b, 0x05, 0,    0,    0,    0, 0x75, 0xf8, 0xeb, 0xe6};
/* What all frames have; the frame of hot: 16 bytes from its second instruction on, remembered from the call on, where rbp is
 * at 16 bytes below. */
static const uint8_t frames[] = {0x14, 0,    0, 0, 0,    0, 0, 0, 1,    'z',  'R',  0,    1,    0x78, 0x10, 1,
                                 0x1b, 0x0c, 7, 8, 0x90, 1, 0, 0, 0x14, 0,    0,    0,    28,   0,    0,    0,
                                 0,    0,    0, 0, 13,   0, 0, 0, 0,    0x42, 0x0e, 0x10, 0x45, 0x0a, 0x86, 2};

struct image {
    _Alignas(16) uint8_t bytes[8192];
    size_t size;
    char names[256], strings[256];
    size_t names_size, strings_size;
    Elf64_Ehdr *header;
    Elf64_Shdr *sections;
    Elf64_Sym *symbols;
    Elf64_Rela *text_relas, *data_relas, *frame_relas;
};

static void *put(struct image *image, const void *bytes, size_t size)
{
    image->size = (image->size + 15) / 16 * 16;
    void *at = image->bytes + image->size;
    if (bytes)
        memcpy(at, bytes, size);
    image->size += size;
    assert_true(image->size <= sizeof image->bytes);
    return at;
}

static uint32_t name(char *table, size_t *size, const char *text)
{
    size_t at = *size;
    strcpy(table + at, text);
    *size += strlen(text) + 1;
    return (uint32_t)at;
}

static void set_section(struct image *image, int number, const char *text, uint32_t type, uint64_t flags,
                        uint64_t align, const void *at, size_t size)
{
    image->sections[number] = (Elf64_Shdr){.sh_name = name(image->names, &image->names_size, text),
                                           .sh_type = type,
                                           .sh_flags = flags,
                                           .sh_addralign = align,
                                           .sh_offset = at ? (uint64_t)((const uint8_t *)at - image->bytes) : 0,
                                           .sh_size = size};
}

static void set_rela(struct image *image, int number, const char *text, uint32_t of, const Elf64_Rela *relas, size_t n)
{
    set_section(image, number, text, SHT_RELA, 0, 8, relas, n * sizeof *relas);
    image->sections[number].sh_entsize = sizeof *relas;
    image->sections[number].sh_link = SYMTAB;
    image->sections[number].sh_info = of;
}

static void set_symbol(struct image *image, int number, const char *text, int type, int binding, uint16_t section,
                       uint64_t value, uint64_t size)
{
    image->symbols[number] = (Elf64_Sym){.st_name = name(image->strings, &image->strings_size, text),
                                         .st_info = ELF64_ST_INFO(binding, type),
                                         .st_shndx = section,
                                         .st_value = value,
                                         .st_size = size};
}

static void set_symbols(struct image *image)
{
    name(image->strings, &image->strings_size, "");
    set_symbol(image, FILE_NAME, "sample.c", STT_FILE, STB_LOCAL, SHN_ABS, 0, 0);
    set_symbol(image, TEXT_SYMBOL, "", STT_SECTION, STB_LOCAL, TEXT, 0, 0);
    set_symbol(image, DATA_SYMBOL, "", STT_SECTION, STB_LOCAL, DATA, 0, 0);
    set_symbol(image, ZEROED, "zeroed", STT_OBJECT, STB_LOCAL, BSS, 0, 4);
    set_symbol(image, HOT, "hot", STT_FUNC, STB_GLOBAL, TEXT, 0, 13);
    set_symbol(image, COLD, "cold", STT_FUNC, STB_WEAK, TEXT, 16, 10);
    set_symbol(image, VALUE, "value", STT_OBJECT, STB_GLOBAL, DATA, 0, 8);
    set_symbol(image, PUTS, "puts", STT_NOTYPE, STB_GLOBAL, SHN_UNDEF, 0, 0);
    set_symbol(image, LIMIT, "limit", STT_NOTYPE, STB_GLOBAL, SHN_ABS, 7, 0);
    set_symbol(image, SPARE, "spare", STT_OBJECT, STB_GLOBAL, SHN_COMMON, 16, 24);
    image->symbols[COLD].st_other = STV_HIDDEN;
}

static void set_relocs(struct image *image)
{
    image->text_relas[0] = (Elf64_Rela){18, ELF64_R_INFO(DATA_SYMBOL, R_X86_64_PC32), 4}; /* not in order */
    image->text_relas[1] = (Elf64_Rela){8, ELF64_R_INFO(PUTS, R_X86_64_PLT32), -4};
    image->data_relas[0] = (Elf64_Rela){0, ELF64_R_INFO(HOT, R_X86_64_64), 0};
    image->data_relas[1] = (Elf64_Rela){8, ELF64_R_INFO(TEXT_SYMBOL, R_X86_64_64), 2};
    image->frame_relas[0] = (Elf64_Rela){32, ELF64_R_INFO(TEXT_SYMBOL, R_X86_64_PC32), 0};
}

static void make(struct image *image)
{
    static const uint8_t zeros[16];
    *image = (struct image){0};
    image->header = put(image, NULL, sizeof *image->header);
    image->sections = put(image, NULL, SECTIONS * sizeof *image->sections);
    image->symbols = put(image, NULL, SYMBOLS * sizeof *image->symbols);
    image->text_relas = put(image, NULL, 2 * sizeof *image->text_relas);
    image->data_relas = put(image, NULL, 2 * sizeof *image->data_relas);
    image->frame_relas = put(image, NULL, 2 * sizeof *image->frame_relas);
    set_symbols(image);
    set_relocs(image);
    name(image->names, &image->names_size, "");
    set_section(image, TEXT, ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 16, put(image, code, sizeof code),
                sizeof code);
    set_section(image, DATA, ".data", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, 8, put(image, zeros, 16), 16);
    set_section(image, BSS, ".bss", SHT_NOBITS, SHF_ALLOC | SHF_WRITE, 4, NULL, 4);
    set_section(image, FRAMES, ".eh_frame", SHT_PROGBITS, SHF_ALLOC, 8, put(image, frames, sizeof frames),
                sizeof frames);
    set_section(image, DEBUG, ".debug_info", SHT_PROGBITS, 0, 1, put(image, zeros, 1), 1);
    set_section(image, COMMENT, ".comment", SHT_PROGBITS, 0, 1, put(image, zeros, 1), 1);
    set_rela(image, TEXT_RELA, ".rela.text", TEXT, image->text_relas, 2);
    set_rela(image, DATA_RELA, ".rela.data", DATA, image->data_relas, 2);
    set_rela(image, FRAMES_RELA, ".rela.eh_frame", FRAMES, image->frame_relas, 1);
    set_section(image, SYMTAB, ".symtab", SHT_SYMTAB, 0, 8, image->symbols, SYMBOLS * sizeof *image->symbols);
    image->sections[SYMTAB].sh_entsize = sizeof *image->symbols;
    image->sections[SYMTAB].sh_link = STRTAB;
    set_section(image, STRTAB, ".strtab", SHT_STRTAB, 0, 1, put(image, image->strings, image->strings_size),
                image->strings_size);
    set_section(image, NAMES, ".shstrtab", SHT_STRTAB, 0, 1, NULL, 0);
    image->sections[NAMES].sh_size = image->names_size;
    image->sections[NAMES].sh_offset =
        (uint64_t)((uint8_t *)put(image, image->names, image->names_size) - image->bytes);
    *image->header = (Elf64_Ehdr){.e_type = ET_REL,
                                  .e_machine = EM_X86_64,
                                  .e_shoff = (uint64_t)((uint8_t *)image->sections - image->bytes),
                                  .e_shentsize = sizeof *image->sections,
                                  .e_shnum = SECTIONS,
                                  .e_shstrndx = NAMES};
    memcpy(image->header->e_ident, ELFMAG, SELFMAG);
    image->header->e_ident[EI_CLASS] = ELFCLASS64;
    image->header->e_ident[EI_DATA] = ELFDATA2LSB;
}

/* ---- what comes out ---- */

/* Without the comments that show each instruction. */
static void drop_comments(struct as_str *text)
{
    struct as_str kept = {0};
    for (char *at = text->data; at && *at;) {
        char *end = strchr(at, '\n');
        if (*at != '#')
            as_str_add_bytes(&kept, at, (size_t)(end + 1 - at));
        at = end + 1;
    }
    as_str_free(text);
    *text = kept;
}

static const char expected[] = "\t.section \".text\",\"ax\",@progbits\n"
                               "\t.section \".data\",\"aw\",@progbits\n"
                               "\t.section \".bss\",\"aw\",@nobits\n"
                               "\t.file \"sample.c\"\n"
                               "\t.type \"zeroed\", @object\n"
                               "\t.globl \"hot\"\n"
                               "\t.type \"hot\", @function\n"
                               "\t.weak \"cold\"\n"
                               "\t.type \"cold\", @function\n"
                               "\t.hidden \"cold\"\n"
                               "\t.globl \"value\"\n"
                               "\t.type \"value\", @object\n"
                               "\t.globl \"puts\"\n"
                               "\t.globl \"limit\"\n"
                               "\t.type \"limit\", @notype\n"
                               "\t.set \"limit\", 7\n"
                               "\t.globl \"spare\"\n"
                               "\t.type \"spare\", @object\n"
                               "\t.comm \"spare\",24,16\n"
                               "\t.section \".text\",\"ax\",@progbits\n"
                               "\t.balign 16\n"
                               "\t.balign 16\n"
                               "\"hot\":\n"
                               ".Lassay_1_0:\n"
                               "\t.cfi_startproc\n"
                               "\t.rept 3\n\tnop\n\t.endr\n"
                               "\t.byte 139,7\n"
                               ".Lassay_1_2:\n"
                               "\t.cfi_escape 14,16\n"
                               "\t.byte 131,238,1\n"
                               "\tjnz .Lassay_1_0\n"
                               "\t.cfi_escape 10\n"
                               "\t.cfi_escape 134,2\n"
                               "\t.reloc .+1, R_X86_64_PLT32, \"puts\" + -4\n"
                               "\t.byte 232,0,0,0,0\n"
                               "\t.rept 3\n\tnop\n\t.endr\n"
                               "\t.byte 195\n"
                               "\t.cfi_endproc\n"
                               "\t.size \"hot\", . - \"hot\"\n"
                               "\t.byte 144\n"
                               "\t.byte 144\n"
                               "\t.byte 144\n"
                               "\t.balign 16\n"
                               "\"cold\":\n"
                               ".Lassay_1_10:\n"
                               "\t.reloc .+2, R_X86_64_PC32, \".data\" + 4\n"
                               "\t.byte 139,5,0,0,0,0\n"
                               "\t.byte 117,248\n"
                               "\tjmp .Lassay_1_0\n"
                               "\t.size \"cold\", . - \"cold\"\n"
                               "\t.section \".data\",\"aw\",@progbits\n"
                               "\t.balign 8\n"
                               "\"value\":\n"
                               "\t.reloc .+0, R_X86_64_64, \"hot\" + 0\n"
                               "\t.byte 0,0,0,0,0,0,0,0\n"
                               "\t.size \"value\", 8\n"
                               "\t.reloc .+0, R_X86_64_64, .Lassay_1_2 + 0\n"
                               "\t.byte 0,0,0,0,0,0,0,0\n"
                               "\t.section \".bss\",\"aw\",@nobits\n"
                               "\t.balign 4\n"
                               "\"zeroed\":\n"
                               "\t.zero 4\n"
                               "\t.size \"zeroed\", 4\n";

static const struct as_remedy_options loads = {
    .arch = AS_ARCH_X86_64, .function = "hot", .event = AS_REMEDY_LOADS, .nops = 3};

static void all_of_it(void **state)
{
    static struct image image;
    struct as_remedy_result result = {0};
    struct as_error err = AS_ERROR_INIT;
    struct as_str out = {0};
    make(&image);
    if (!as_remedy_apply(&loads, (char *)image.bytes, image.size, &out, &result, &err))
        fail_msg("%s", err.message);
    drop_comments(&out);
    assert_string_equal(out.data, expected);
    assert_true(result.functions == 1 && result.instructions == 5 && result.events == 2 && result.debug_dropped);
    as_str_free(&out);
}

static void what_is_an_event(void **state)
{
    static const struct {
        enum as_remedy_event event;
        const char *function;
        uint64_t functions, instructions, events;
    } cases[] = {{AS_REMEDY_STORES, "hot", 1, 5, 1},
                 {AS_REMEDY_BRANCHES, "hot", 1, 5, 3},
                 {AS_REMEDY_BRANCHES, "cold", 1, 3, 2},
                 {AS_REMEDY_LOADS, NULL, 2, 8, 3}};
    static struct image image;
    make(&image);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct as_remedy_options options = {.function = cases[i].function, .event = cases[i].event, .nops = 1};
        struct as_remedy_result result = {0};
        struct as_error err = AS_ERROR_INIT;
        struct as_str out = {0};
        assert_true(as_remedy_apply(&options, (char *)image.bytes, image.size, &out, &result, &err));
        assert_int_equal(result.functions, cases[i].functions);
        assert_int_equal(result.instructions, cases[i].instructions);
        assert_int_equal(result.events, cases[i].events);
        as_str_free(&out);
    }
}

/* Places that the user names, and what is shown of the function. */
static void places(void **state)
{
    static const uint64_t here[] = {2, 0xc}, wrong[] = {2, 3};
    static struct image image;
    struct as_remedy_options options = loads;
    struct as_str shown = {0}, out = {0};
    struct as_remedy_result result = {.shown = &shown};
    struct as_error err = AS_ERROR_INIT;
    make(&image);
    options.places = here;
    options.n_places = 2;
    assert_true(as_remedy_apply(&options, (char *)image.bytes, image.size, &out, &result, &err));
    assert_int_equal(result.events, 2);
    assert_int_equal(strncmp(shown.data, "      +0x0 mov ", 15), 0);
    assert_non_null(strstr(shown.data, "\n+          3 nops\n      +0x2 sub "));
    assert_non_null(strstr(shown.data, "\n+          3 nops\n      +0xc ret"));
    options.places = wrong;
    assert_false(as_remedy_apply(&options, (char *)image.bytes, image.size, &out, &result, &err));
    assert_string_equal(err.message, "1 --at positions are not at the start of an instruction");
    as_str_free(&shown);
    as_str_free(&out);
}

/* ---- what is refused ---- */

static void check_refused(struct image *image, const char *message)
{
    struct as_remedy_result result = {0};
    struct as_error err = AS_ERROR_INIT;
    struct as_str out = {0};
    assert_false(as_remedy_apply(&loads, (char *)image->bytes, image->size, &out, &result, &err));
    assert_string_equal(err.message, message);
    as_str_free(&out);
    make(image);
}

static void other_files(void **state)
{
    static struct image image;
    make(&image);
    image.header->e_type = ET_DYN;
    check_refused(&image, "a linked program or library, in which code cannot move; give its objects or assembly");
    image.header->e_machine = EM_RISCV;
    check_refused(&image, "objects of x86-64 only: linkers change the code of others; give the assembly (cc -S)");
    image.header->e_ident[EI_CLASS] = ELFCLASS32;
    check_refused(&image, "not an object of a 64-bit little-endian machine");
    image.header->e_ident[EI_DATA] = ELFDATA2MSB;
    check_refused(&image, "not an object of a 64-bit little-endian machine");
    image.bytes[0] = 'x';
    check_refused(&image, "neither assembly nor an object");
}

static void damaged_tables(void **state)
{
    static struct image image;
    make(&image);
    image.header->e_shoff = image.size;
    check_refused(&image, "its table of sections is damaged");
    image.sections[DATA].sh_offset = image.size - 15;
    check_refused(&image, "its table of sections is damaged");
    image.symbols[COLD].st_size = 11;
    check_refused(&image, "symbol cold lies outside of its section");
    image.symbols[COLD].st_shndx = SECTIONS;
    check_refused(&image, "a symbol of it cannot be written as assembly; give the assembly (cc -S)");
    image.sections[SYMTAB].sh_entsize = 25;
    check_refused(&image, "its table of symbols is damaged");
    image.data_relas[1].r_offset = 16;
    check_refused(&image, "a relocation of .data is damaged");
    image.data_relas[1].r_info = ELF64_R_INFO(SYMBOLS, R_X86_64_64);
    check_refused(&image, "a relocation of .data is damaged");
    image.sections[DATA_RELA].sh_info = SECTIONS;
    check_refused(&image, "a table of relocations is damaged");
    image.sections[COMMENT].sh_type = SHT_GROUP;
    image.sections[COMMENT].sh_info = SYMBOLS;
    check_refused(&image, "a group of sections is damaged");
    image.sections[COMMENT].sh_type = SHT_GROUP;
    image.sections[COMMENT].sh_info = HOT;
    image.sections[COMMENT].sh_offset = image.sections[DATA].sh_offset;
    image.sections[COMMENT].sh_size = image.sections[DATA].sh_size;
    check_refused(&image, "a group of sections is damaged, or of a kind that is not known here");
    image.data_relas[1].r_info = ELF64_R_INFO(HOT, R_X86_64_COPY);
    check_refused(&image, "relocation 5 of .data is not known here; give the assembly (cc -S)");
}

static void what_cannot_be_said(void **state)
{
    static struct image image;
    make(&image);
    image.sections[DATA].sh_type = SHT_NOTE + 100;
    check_refused(&image, "its section .data cannot be written as assembly; give the assembly (cc -S)");
    image.sections[DATA].sh_addralign = 12;
    check_refused(&image, "its section .data cannot be written as assembly; give the assembly (cc -S)");
    image.sections[BSS].sh_name = image.sections[DATA].sh_name;
    check_refused(&image, "it has two sections .data; give the assembly (cc -S)");
    image.symbols[COLD].st_name = image.symbols[HOT].st_name;
    check_refused(&image, "it has two symbols 'hot'; give the assembly (cc -S)");
    image.symbols[HOT].st_size = 0;
    check_refused(&image, "function 'hot' has no size");
    image.symbols[HOT].st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT);
    check_refused(&image, "there is no function 'hot' in it");
    image.symbols[HOT].st_size = 17;
    check_refused(&image, "two of its functions overlap; give the assembly (cc -S)");
    image.data_relas[1].r_addend = 1;
    check_refused(&image, "something refers to .text+0x1, which is in the middle of an instruction; give the assembly "
                          "(cc -S)");
    image.data_relas[1].r_addend = 27;
    check_refused(&image, "something refers to a place outside of .text; give the assembly (cc -S)");
    image.symbols[VALUE].st_info = ELF64_ST_INFO(7, STT_OBJECT);
    check_refused(&image, "symbol value is of a kind that is not known here");
    uint8_t *text = image.bytes + image.sections[TEXT].sh_offset;
    text[5] = 0xe2; /* loop */
    check_refused(&image, ".text+0x5: loop reaches 128 bytes only; give the assembly (cc -S)");
    text[0] = 0x06;
    check_refused(&image, ".text+0x0 is not an instruction that is known here");
}

static void frames_of_other_kinds(void **state)
{
    static const struct {
        size_t at;
        uint8_t byte;
    } changes[] = {{8, 3},  {10, 'X'}, {12, 2},  {13, 0x7c}, {14, 3},    {16, 0x0b},
                   {18, 6}, {22, 1},   {28, 90}, {36, 27},   {41, 0x4e}, {42, 0x3f}};
    static struct image image;
    make(&image);
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        image.bytes[image.sections[FRAMES].sh_offset + changes[i].at] = changes[i].byte;
        check_refused(&image, "its .eh_frame has an unsupported format; give the assembly (cc -S)");
    }
    uint8_t *first = image.bytes + image.sections[FRAMES].sh_offset;
    memmove(first + 12, first + 11, 12); /* over a byte of padding: "zRX", of which only the last is unknown */
    first[11] = 'X';
    check_refused(&image, "its .eh_frame has an unsupported format; give the assembly (cc -S)");
    image.frame_relas[0].r_info = ELF64_R_INFO(TEXT_SYMBOL, R_X86_64_PC64);
    check_refused(&image, "its .eh_frame has an unsupported format; give the assembly (cc -S)");
}

/* The same frame, with a function that handles exceptions (puts, here), which a relocation names. */
static void handlers_of_exceptions(void **state)
{
    static const uint8_t personal[] = {0x18, 0, 0, 0, 0,    0,    0, 0, 1,    'z', 'P',  'R', 0, 1, 0x78, 0x10, 6, 0x1b,
                                       0,    0, 0, 0, 0x1b, 0x0c, 7, 8, 0x90, 1,   0x14, 0,   0, 0, 32,   0,    0, 0,
                                       0,    0, 0, 0, 13,   0,    0, 0, 0,    0,   0,    0,   0, 0, 0,    0};
    static struct image image;
    struct as_remedy_result result = {0};
    struct as_error err = AS_ERROR_INIT;
    struct as_str out = {0};
    for (size_t relocs = 1; relocs <= 2; relocs++) {
        make(&image);
        const uint8_t *at = put(&image, personal, sizeof personal);
        image.sections[FRAMES].sh_offset = (uint64_t)(at - image.bytes);
        image.sections[FRAMES].sh_size = sizeof personal;
        image.sections[FRAMES_RELA].sh_size = relocs * sizeof *image.frame_relas;
        image.frame_relas[0].r_offset = 36;
        image.frame_relas[1] = (Elf64_Rela){18, ELF64_R_INFO(PUTS, R_X86_64_PC32), 0};
        if (relocs == 1)
            check_refused(&image, "its .eh_frame has an unsupported format; give the assembly (cc -S)");
        else if (!as_remedy_apply(&loads, (char *)image.bytes, image.size, &out, &result, &err))
            fail_msg("%s", err.message);
    }
    assert_non_null(strstr(out.data, "\t.cfi_startproc\n\t.cfi_personality 27, \"puts\" + 0\n"));
    as_str_free(&out);
}

static void relocations(void **state)
{
    assert_string_equal(as_object_reloc_name(R_X86_64_GOTPCRELX), "R_X86_64_GOTPCRELX");
    assert_string_equal(as_object_reloc_name(R_X86_64_REX_GOTPCRELX), "R_X86_64_REX_GOTPCRELX");
    assert_null(as_object_reloc_name(R_X86_64_REX_GOTPCRELX + 1));
    assert_null(as_object_reloc_name(R_X86_64_COPY));
    assert_true(as_object_reloc_relative(R_X86_64_PC32) && as_object_reloc_relative(R_X86_64_PLT32));
    assert_false(as_object_reloc_relative(R_X86_64_64) || as_object_reloc_relative(R_X86_64_32S));
    assert_true(as_object_is_elf("\177ELF", 4) && !as_object_is_elf("\177ELF", 3) && !as_object_is_elf("\177ELG", 4));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_of_it),
                                       cmocka_unit_test(what_is_an_event),
                                       cmocka_unit_test(places),
                                       cmocka_unit_test(other_files),
                                       cmocka_unit_test(damaged_tables),
                                       cmocka_unit_test(what_cannot_be_said),
                                       cmocka_unit_test(frames_of_other_kinds),
                                       cmocka_unit_test(handlers_of_exceptions),
                                       cmocka_unit_test(relocations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
