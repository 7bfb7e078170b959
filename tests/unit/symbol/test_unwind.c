/* Functions from unwind tables that are put together here, byte by byte: every encoding of an address, the versions and letters of what
 * entries have in common, and tables that are damaged. */
#include "unit.h"

#include "symbol/symtab.h"

#include <dwarf.h>
#include <elf.h>
#include <stdio.h>

enum { TEXT = 0x1000, TEXT_SIZE = 0x1000, FRAMES = 0x3000, MOST = 1024 };
static const char names[] = "\0.text\0.eh_frame\0.names";

static char path[] = "/tmp/assay-unwind-XXXXXX";
static uint8_t frames[MOST];
static size_t size;
static struct as_symtab table;

static void put(uint64_t value, size_t bytes)
{
    assert_true(size + bytes <= sizeof frames);
    memcpy(frames + size, &value, bytes); /* little-endian, as the file */
    size += bytes;
}

/* Begins an entry; returns where. `id` is that of a CIE, or how far back the CIE of an FDE is. */
static size_t begin(uint32_t id)
{
    size_t at = size;
    put(0, 4);
    put(id, 4);
    return at;
}

static void end(size_t at)
{
    uint32_t length = (uint32_t)(size - at - 4);
    memcpy(frames + at, &length, sizeof length);
}

/* A CIE with the letters, and for them the given bytes. Its return address is a number of two bytes, except in version 1. */
static size_t cie(uint8_t version, const char *letters, const char *data, size_t data_size)
{
    size_t at = begin(0);
    put(version, 1);
    for (const char *letter = letters; letter == letters || letter[-1] != '\0'; letter++)
        put((uint8_t)*letter, 1);
    put(1, 1);
    put(0x78, 1);
    put(version == 1 ? 0x90 : 0x0190, version == 1 ? 1 : 2);
    if (letters[0] == 'z')
        put(data_size, 1);
    for (size_t i = 0; i < data_size; i++)
        put((uint8_t)data[i], 1);
    end(at);
    return at;
}

/* An FDE whose values have `bytes` bytes; `relative`: the address counts from its own place. */
static void fde(size_t of, uint64_t start, uint64_t length, size_t bytes, bool relative)
{
    size_t at = begin((uint32_t)(size + 4 - of));
    put(relative ? start - (FRAMES + size) : start, bytes);
    put(length, bytes);
    put(0, 1);
    end(at);
}

static void write_elf(void)
{
    struct {
        Elf64_Ehdr head;
        Elf64_Shdr sections[4];
        char names[sizeof names];
        uint8_t frames[MOST];
    } file = {
        .head = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
                 .e_type = ET_DYN,
                 .e_machine = EM_X86_64,
                 .e_version = EV_CURRENT,
                 .e_shoff = sizeof file.head,
                 .e_ehsize = sizeof file.head,
                 .e_shentsize = sizeof(Elf64_Shdr),
                 .e_shnum = 4,
                 .e_shstrndx = 3},
        .sections = {{0},
                     {.sh_name = 1,
                      .sh_type = SHT_NOBITS,
                      .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
                      .sh_addr = TEXT,
                      .sh_size = TEXT_SIZE},
                     {.sh_name = 7, .sh_type = SHT_PROGBITS, .sh_flags = SHF_ALLOC, .sh_addr = FRAMES, .sh_size = size},
                     {.sh_name = 17, .sh_type = SHT_STRTAB, .sh_size = sizeof names}}};
    memcpy(file.names, names, sizeof names);
    memcpy(file.frames, frames, sizeof frames);
    file.sections[2].sh_offset = offsetof(typeof(file), frames);
    file.sections[3].sh_offset = offsetof(typeof(file), names);
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    assert_int_equal(fwrite(&file, sizeof file, 1, out), 1);
    assert_int_equal(fclose(out), 0);
}

/* What is read of the table so far. */
static void read_table(void)
{
    struct as_error err = AS_ERROR_INIT;
    as_symtab_free(&table);
    table = (struct as_symtab){0};
    write_elf();
    struct as_elf *elf = as_elf_open(path, &err);
    assert_non_null(elf);
    as_symtab_set_code(&table, elf);
    as_symtab_add_unwind(&table, elf);
    as_elf_close(elf);
}

static void expect(size_t i, uint64_t start, uint64_t length)
{
    assert_true(i < table.symbols.len);
    assert_int_equal(table.symbols.data[i].address, start);
    assert_int_equal(table.symbols.data[i].size, length);
    assert_int_equal(table.symbols.data[i].rank, AS_SYMBOL_UNWIND);
    assert_null(table.symbols.data[i].raw);
}

static int set_up(void **state)
{
    strcpy(path + sizeof path - 7, "XXXXXX");
    close(mkstemp(path));
    size = 0;
    memset(frames, 0, sizeof frames);
    return 0;
}

static int clean_up(void **state)
{
    as_symtab_free(&table);
    table = (struct as_symtab){0};
    unlink(path);
    return 0;
}

static void of_every_size(void **state)
{
    const struct {
        char encoding;
        uint8_t bytes;
        bool relative;
    } cases[] = {{DW_EH_PE_absptr, 8, false},
                 {DW_EH_PE_udata2, 2, false},
                 {DW_EH_PE_udata4, 4, false},
                 {DW_EH_PE_udata8, 8, false},
                 {DW_EH_PE_sdata2, 2, false},
                 {DW_EH_PE_sdata4, 4, false},
                 {DW_EH_PE_sdata8, 8, false},
                 {DW_EH_PE_pcrel | DW_EH_PE_sdata2, 2, true},
                 {DW_EH_PE_pcrel | DW_EH_PE_sdata4, 4, true},
                 {DW_EH_PE_pcrel | DW_EH_PE_sdata8, 8, true},
                 {DW_EH_PE_pcrel, 8, true}};
    size_t n = sizeof cases / sizeof cases[0];
    for (size_t i = 0; i < n; i++)
        fde(cie(1, "zR", &cases[i].encoding, 1), TEXT + 0x10 * i, 3 + i, cases[i].bytes, cases[i].relative);
    read_table();
    assert_int_equal(table.symbols.len, n);
    for (size_t i = 0; i < n; i++)
        expect(i, TEXT + 0x10 * i, 3 + i);
}

/* Relative to data or text, through a pointer, of any length, or none at all. */
static void refused_encodings(void **state)
{
    const char refused[] = {(char)(DW_EH_PE_textrel | DW_EH_PE_udata4), (char)(DW_EH_PE_datarel | DW_EH_PE_udata4),
                            (char)(DW_EH_PE_indirect | DW_EH_PE_udata4), DW_EH_PE_uleb128, (char)DW_EH_PE_omit};
    for (size_t i = 0; i < sizeof refused; i++)
        fde(cie(1, "zR", refused + i, 1), TEXT + 0x10 * i, 8, 4, false);
    const char good = DW_EH_PE_udata4;
    fde(cie(1, "zR", &good, 1), TEXT + 0x100, 8, 4, false);
    read_table();
    assert_int_equal(table.symbols.len, 1);
    expect(0, TEXT + 0x100, 8);
}

/* Addresses are whole where no letter says otherwise; the letters before R have bytes of their own; what does not begin with z, and what
 * has more letters than are known, says nothing about its entries. */
static void letters(void **state)
{
    static const struct {
        uint8_t version;
        const char *letters, *data;
        size_t data_size, bytes;
    } cases[] = {
        {1, "", "", 0, 8},
        {3, "", "", 0, 8},
        {3, "zR", "\3", 1, 4},
        {3, "zPR", "\2\xaa\xbb\3", 4, 4},                 /* a routine of two bytes */
        {1, "zPLR", "\0\1\2\3\4\5\6\7\x08\x1b\3", 11, 4}, /* of eight */
        {1, "zRS", "\2", 1, 2},
        {1, "zSLRBG", "\x1b\2", 2, 2},
    };
    static const char *const unknown[] = {"eh", "R", "zRSBGCD", "zRSBGCDE", "zRSBGCDEF"};
    size_t n = sizeof cases / sizeof cases[0];
    for (size_t i = 0; i < n; i++)
        fde(cie(cases[i].version, cases[i].letters, cases[i].data, cases[i].data_size), TEXT + 0x10 * i, 3 + i,
            cases[i].bytes, false);
    for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++)
        fde(cie(1, unknown[i], "\2\2\2\2", 4), TEXT + 0x200 + 0x10 * i, 8, 2, false);
    read_table();
    assert_int_equal(table.symbols.len, n);
    for (size_t i = 0; i < n; i++)
        expect(i, TEXT + 0x10 * i, 3 + i);
}

/* Several entries of one CIE, some behind the next; one of nothing, one at address 0 and one outside of the code are none. */
static void entries_of_two(void **state)
{
    size_t first = cie(1, "zR", "\3", 1), second = cie(1, "zR", "\2", 1);
    fde(second, TEXT, 1, 2, false);
    fde(first, TEXT + 0x10, 2, 4, false);
    fde(first, TEXT + 0x20, 0, 4, false);
    fde(first, 0, 8, 4, false);
    fde(first, TEXT + TEXT_SIZE, 8, 4, false);
    fde(second, TEXT + 0x20, 3, 2, false);
    fde(first, TEXT + TEXT_SIZE - 4, 8, 4, false);
    read_table();
    assert_int_equal(table.symbols.len, 4);
    expect(0, TEXT, 1);
    expect(1, TEXT + 0x10, 2);
    expect(2, TEXT + 0x20, 3);
    expect(3, TEXT + TEXT_SIZE - 4, 4); /* cut where the code ends */
}

/* A length of 8 bytes; behind a length of 0 nothing counts. */
static void lengths(void **state)
{
    size_t common = cie(1, "zR", "\3", 1);
    put(0xffffffff, 4);
    put(4 + 8 + 1, 8);
    put(size - common, 4);
    put(TEXT, 4);
    put(8, 4);
    put(0, 1);
    fde(common, TEXT + 0x10, 8, 4, false);
    put(0, 4);
    fde(common, TEXT + 0x20, 8, 4, false);
    read_table();
    assert_int_equal(table.symbols.len, 2);
    expect(0, TEXT, 8);
    expect(1, TEXT + 0x10, 8);
}

/* What is cut has the entries before the cut. An entry's CIE cannot lie before the table. */
static void damage(void **state)
{
    size_t common = cie(1, "zR", "\3", 1);
    fde(common, TEXT, 8, 4, false);
    size_t second = size;
    fde(common, TEXT + 0x10, 8, 4, false);
    size_t whole = size;
    for (size = second; size < whole; size++) {
        read_table();
        assert_int_equal(table.symbols.len, 1);
    }
    read_table();
    assert_int_equal(table.symbols.len, 2);
    uint32_t before = (uint32_t)second + 5;
    memcpy(frames + second + 4, &before, sizeof before);
    fde(common, TEXT + 0x20, 8, 4, false);
    read_table();
    assert_int_equal(table.symbols.len, 2);
    expect(0, TEXT, 8);
    expect(1, TEXT + 0x20, 8);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, clean_up)

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(of_every_size),  TEST(refused_encodings), TEST(letters),
                                       TEST(entries_of_two), TEST(lengths),           TEST(damage)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
