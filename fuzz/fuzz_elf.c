/* Everything that reads a program file, on arbitrary bytes: what the command line does with it (as_program_find) and
 * what the symbol library makes of it.
 *
 * Input that begins like an ELF file is taken as one. Anything else is DWARF: lengths of seven sections (two bytes
 * each), then their bytes; they are wrapped into a sound ELF file, so that mutations reach the readers behind it.
 */
#include "engine/program.h"
#include "symbol/space.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SECTIONS = 7, TEXT_AT = 0x100, TEXT_SIZE = 0x2000 };
static const char *const names[SECTIONS] = {".debug_info",     ".debug_abbrev",   ".debug_line",  ".debug_str",
                                            ".debug_line_str", ".debug_rnglists", ".debug_ranges"};

static void put(int fd, const void *bytes, size_t size, uint64_t offset)
{
    if (size > 0 && pwrite(fd, bytes, size, (off_t)offset) != (ssize_t)size)
        abort();
}

/* An ELF file with an executable segment of TEXT_SIZE zeros at TEXT_AT, one symbol-less .text and the given sections.
 */
static void write_wrapped(int fd, const uint8_t *data, size_t size)
{
    char text[256] = "\0.text\0.shstrtab";
    size_t text_size = 17, at = 2 * SECTIONS;
    Elf64_Shdr headers[SECTIONS + 3] = {
        [1] = {.sh_name = 1,
               .sh_type = SHT_PROGBITS,
               .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
               .sh_addr = TEXT_AT,
               .sh_offset = TEXT_AT,
               .sh_size = TEXT_SIZE},
    };
    for (size_t i = 0; i < SECTIONS; i++) {
        size_t length = (size_t)(data[2 * i] | data[2 * i + 1] << 8);
        length = length > size - at ? size - at : length;
        headers[i + 2] = (Elf64_Shdr){.sh_name = (uint32_t)text_size,
                                      .sh_type = SHT_PROGBITS,
                                      .sh_offset = TEXT_AT + TEXT_SIZE + at,
                                      .sh_size = length};
        text_size += (size_t)snprintf(text + text_size, sizeof text - text_size, "%s", names[i]) + 1;
        at += length;
    }
    uint64_t strings = TEXT_AT + TEXT_SIZE + size, table = (strings + text_size + 7) & ~(uint64_t)7;
    headers[SECTIONS + 2] =
        (Elf64_Shdr){.sh_name = 7, .sh_type = SHT_STRTAB, .sh_offset = strings, .sh_size = text_size};
    Elf64_Ehdr ehdr = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
                       .e_type = ET_EXEC,
                       .e_machine = EM_X86_64,
                       .e_version = EV_CURRENT,
                       .e_entry = TEXT_AT,
                       .e_phoff = sizeof ehdr,
                       .e_shoff = table,
                       .e_ehsize = sizeof ehdr,
                       .e_phentsize = sizeof(Elf64_Phdr),
                       .e_phnum = 1,
                       .e_shentsize = sizeof(Elf64_Shdr),
                       .e_shnum = SECTIONS + 3,
                       .e_shstrndx = SECTIONS + 2};
    Elf64_Phdr phdr = {
        .p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_filesz = TEXT_AT + TEXT_SIZE, .p_memsz = TEXT_AT + TEXT_SIZE};
    put(fd, &ehdr, sizeof ehdr, 0);
    put(fd, &phdr, sizeof phdr, sizeof ehdr);
    put(fd, data, size, TEXT_AT + TEXT_SIZE);
    put(fd, text, text_size, strings);
    put(fd, headers, sizeof headers, table);
}

static void look_up(const char *path)
{
    struct as_space_options options = {.debug_path = "/nonexistent"};
    struct as_space *space = as_space_new(&options);
    as_space_map(space, 0, 0x10000, 0, path);
    as_space_map(space, 0x400000, 0x410000, 0, path);
    for (uint64_t i = 0; i < 1600; i++) {
        uint64_t at = (i % 8 == 0 ? 0x400000 : 0) + i * 7;
        struct as_location location;
        struct as_line line;
        struct as_inline_frame frames[8];
        as_space_find(space, at, &location);
        if (location.module == NULL || location.module_name == NULL)
            abort();
        if (as_space_line(space, at, &line) && (line.file == NULL || line.line < 0))
            abort();
        size_t count = as_space_inline(space, at, frames, 8);
        for (size_t k = 0; k < count; k++)
            if (frames[k].function == NULL || strlen(frames[k].function) > 4096)
                abort();
    }
    as_space_name(space, 0x1234);
    as_space_build_id(space, 0x1234);
    as_space_resolve(space, "main");
    as_space_resolve(space, "outer::name(int)");
    struct as_space_quality quality;
    as_space_quality(space, &quality);
    as_space_free(space);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct as_program program;
    bool is_elf = size >= SELFMAG && memcmp(data, ELFMAG, SELFMAG) == 0;
    if (!is_elf && size < 2 * SECTIONS)
        return 0;
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    if (fd < 0)
        abort();
    if (is_elf)
        put(fd, data, size, 0);
    else
        write_wrapped(fd, data, size);
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    struct as_error err = AS_ERROR_INIT;
    if (!as_program_find(path, NULL, &program, &err) && (err.message[0] == '\0' || strchr(err.message, '\n') != NULL))
        abort();
    look_up(path);
    close(fd);
    return 0;
}
