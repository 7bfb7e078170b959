/* See export_mapping.h. Files are untrusted: every header is read separately and may be wrong. */
#include "export/export_mapping.h"

#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Whether this is the file that was run, not another one of the same name. */
static bool is_unchanged(int fd, const struct as_store_module *module)
{
    struct stat info;
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode))
        return false;
    int64_t time = (int64_t)info.st_mtim.tv_sec * 1000000000 + info.st_mtim.tv_nsec;
    return (uint64_t)info.st_size == module->file_size && time == module->file_time;
}

static bool is_elf64(const Elf64_Ehdr *header)
{
    return memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 && header->e_ident[EI_CLASS] == ELFCLASS64 &&
           header->e_ident[EI_DATA] == ELFDATA2LSB && header->e_phentsize == sizeof(Elf64_Phdr);
}

/* Finds the segment that contains `address`, an address as in the file. Segments are mapped in whole pages, so the page
 * in which one begins belongs to it. */
static bool find_offset(int fd, uint64_t address, uint64_t *offset)
{
    enum { PAGE = 4096 };
    Elf64_Ehdr header;
    Elf64_Phdr segment;
    if (pread(fd, &header, sizeof header, 0) != sizeof header || !is_elf64(&header))
        return false;
    for (size_t i = 0; i < header.e_phnum; i++) {
        uint64_t at = header.e_phoff + i * sizeof segment;
        if (at > INT64_MAX || pread(fd, &segment, sizeof segment, (off_t)at) != sizeof segment)
            return false;
        uint64_t start = segment.p_vaddr & ~(uint64_t)(PAGE - 1), before = segment.p_vaddr - start;
        if (segment.p_type == PT_LOAD && (segment.p_flags & PF_X) && address >= start && segment.p_offset >= before &&
            address - start < segment.p_filesz + before) {
            *offset = segment.p_offset - before + (address - start);
            return true;
        }
    }
    return false;
}

uint64_t as_export_file_offset(const struct as_store_module *module, uint64_t address)
{
    uint64_t in_file = address - module->base, offset = 0;
    int fd = module->path ? open(module->path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC) : -1;
    bool found = fd >= 0 && is_unchanged(fd, module) && find_offset(fd, in_file, &offset);
    if (fd >= 0)
        close(fd);
    if (found)
        return offset;
    return module->base && address >= module->base ? in_file : 0;
}
