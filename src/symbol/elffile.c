/* Opens and reads untrusted ELF files. libelf only sees files that have passed check_header: the tables lie inside the
 * file, their entries have the right size, their number is bounded. */
#include "symbol/elffile.h"

#include "base/alloc.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { MAX_SECTIONS = 1 << 20, MAX_SEGMENTS = 4096 };
static const uint64_t max_file = (uint64_t)64 << 30;

static struct as_file_identity identity_from(const struct stat *st)
{
    return (struct as_file_identity){.known = true,
                                     .device = st->st_dev,
                                     .inode = st->st_ino,
                                     .size = (uint64_t)st->st_size,
                                     .seconds = st->st_mtim.tv_sec,
                                     .nanoseconds = st->st_mtim.tv_nsec};
}

struct as_file_identity as_file_identity_of(const char *path)
{
    struct stat st;
    if (stat(path, &st) < 0)
        return (struct as_file_identity){0};
    return identity_from(&st);
}

bool as_file_identity_same(const struct as_file_identity *a, const struct as_file_identity *b)
{
    return a->known == b->known && a->device == b->device && a->inode == b->inode && a->size == b->size &&
           a->seconds == b->seconds && a->nanoseconds == b->nanoseconds;
}

static bool read_all(int fd, void *buffer, size_t length, uint64_t offset)
{
    for (size_t done = 0; done < length;) {
        ssize_t n = pread(fd, (char *)buffer + done, length - done, (off_t)(offset + done));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        done += (size_t)n;
    }
    return true;
}

/* A regular file, opened without blocking on what only looks like one. */
static bool open_regular(struct as_elf *elf, const char *path, struct as_error *err)
{
    struct stat st;
    if (stat(path, &st) < 0)
        return as_error_set(err, "%s: %s", path, strerror(errno));
    if (!S_ISREG(st.st_mode))
        return as_error_set(err, "%s: not a regular file", path);
    elf->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (elf->fd < 0 || fstat(elf->fd, &st) < 0)
        return as_error_set(err, "%s: %s", path, strerror(errno));
    if (!S_ISREG(st.st_mode) || (uint64_t)st.st_size > max_file)
        return as_error_set(err, "%s: not a regular file, or too large", path);
    elf->identity = identity_from(&st);
    elf->size = (uint64_t)st.st_size;
    return true;
}

/* How many section headers there are, in the ELF header or, beyond 65279, in section 0. False: none can be read. */
static bool section_count(const struct as_elf *elf, const Elf64_Ehdr *ehdr, uint64_t *count)
{
    *count = ehdr->e_shnum;
    if (ehdr->e_shoff == 0 || ehdr->e_shnum != 0)
        return true;
    Elf64_Shdr first;
    if (!as_inside(ehdr->e_shoff, sizeof first, elf->size) || !read_all(elf->fd, &first, sizeof first, ehdr->e_shoff))
        return false;
    *count = first.sh_size;
    return true;
}

static bool check_header(struct as_elf *elf, const char *path, struct as_error *err)
{
    Elf64_Ehdr ehdr;
    if (elf->size < sizeof ehdr || !read_all(elf->fd, &ehdr, sizeof ehdr, 0) ||
        memcmp(ehdr.e_ident, ELFMAG, SELFMAG) != 0)
        return as_error_set(err, "%s: not an ELF file", path);
    if (ehdr.e_ident[EI_CLASS] != ELFCLASS64 || ehdr.e_ident[EI_DATA] != ELFDATA2LSB)
        return as_error_set(err, "%s: not a 64-bit little-endian ELF file", path);
    elf->machine = ehdr.e_machine;
    elf->type = ehdr.e_type;
    uint64_t sections;
    bool ok = section_count(elf, &ehdr, &sections) && sections <= MAX_SECTIONS && ehdr.e_phnum <= MAX_SEGMENTS &&
              (ehdr.e_phnum == 0 || ehdr.e_phentsize == sizeof(Elf64_Phdr)) &&
              (sections == 0 || ehdr.e_shentsize == sizeof(Elf64_Shdr)) &&
              as_inside(ehdr.e_phoff, ehdr.e_phnum * sizeof(Elf64_Phdr), elf->size) &&
              (sections == 0 || as_inside(ehdr.e_shoff, sections * sizeof(Elf64_Shdr), elf->size));
    if (!ok)
        return as_error_set(err, "%s: corrupt or truncated (its ELF tables lie outside of the file)", path);
    return true;
}

static void read_segments(struct as_elf *elf)
{
    size_t count = 0;
    if (elf_getphdrnum(elf->elf, &count) != 0 || count > MAX_SEGMENTS)
        return;
    for (size_t i = 0; i < count; i++) {
        GElf_Phdr phdr;
        if (gelf_getphdr(elf->elf, (int)i, &phdr) == NULL || phdr.p_type != PT_LOAD ||
            phdr.p_memsz > UINT64_MAX - phdr.p_vaddr)
            continue;
        *as_vec_push(&elf->segments) = (struct as_elf_segment){.offset = phdr.p_offset,
                                                               .address = phdr.p_vaddr,
                                                               .file_size = phdr.p_filesz,
                                                               .memory_size = phdr.p_memsz,
                                                               .executable = (phdr.p_flags & PF_X) != 0};
    }
}

static void read_sections(struct as_elf *elf)
{
    size_t names;
    if (elf_getshdrstrndx(elf->elf, &names) != 0)
        return;
    for (Elf_Scn *scn = NULL; (scn = elf_nextscn(elf->elf, scn)) != NULL;) {
        GElf_Shdr shdr;
        if (gelf_getshdr(scn, &shdr) == NULL)
            continue;
        const char *name = elf_strptr(elf->elf, names, shdr.sh_name);
        *as_vec_push(&elf->sections) = (struct as_elf_section){.name = name != NULL ? name : "",
                                                               .index = (uint32_t)elf_ndxscn(scn),
                                                               .type = shdr.sh_type,
                                                               .link = shdr.sh_link,
                                                               .flags = shdr.sh_flags,
                                                               .address = shdr.sh_addr,
                                                               .offset = shdr.sh_offset,
                                                               .size = shdr.sh_size,
                                                               .entry_size = shdr.sh_entsize};
    }
}

struct as_elf *as_elf_open(const char *path, struct as_error *err)
{
    struct as_elf *elf = as_alloc(sizeof *elf);
    elf->fd = -1;
    elf_version(EV_CURRENT);
    if (!open_regular(elf, path, err) || !check_header(elf, path, err))
        goto fail;
    elf->elf = elf_begin(elf->fd, ELF_C_READ, NULL);
    if (elf->elf == NULL || elf_kind(elf->elf) != ELF_K_ELF) {
        as_error_set(err, "%s: %s", path, elf_errmsg(-1));
        goto fail;
    }
    read_segments(elf);
    read_sections(elf);
    return elf;
fail:
    as_elf_close(elf);
    return NULL;
}

void as_elf_close(struct as_elf *elf)
{
    if (elf == NULL)
        return;
    elf_end(elf->elf);
    if (elf->fd >= 0)
        close(elf->fd);
    as_vec_free(&elf->segments);
    as_vec_free(&elf->sections);
    free(elf);
}

const struct as_elf_section *as_elf_section(const struct as_elf *elf, const char *name)
{
    for (size_t i = 0; i < elf->sections.len; i++)
        if (strcmp(elf->sections.data[i].name, name) == 0)
            return &elf->sections.data[i];
    return NULL;
}

bool as_elf_has_debug(const struct as_elf *elf)
{
    const struct as_elf_section *info = as_elf_section(elf, ".debug_info");
    if (info == NULL)
        info = as_elf_section(elf, ".zdebug_info");
    return info != NULL && info->type != SHT_NOBITS && info->size > 0;
}

/* The unpacked size that a compressed section claims; 0 where that is impossible. */
static uint64_t unpacked_size(const struct as_elf *elf, const struct as_elf_section *section)
{
    uint8_t head[12];
    if ((section->flags & SHF_COMPRESSED) != 0) {
        Elf64_Chdr chdr;
        return section->size >= sizeof chdr && read_all(elf->fd, &chdr, sizeof chdr, section->offset) ? chdr.ch_size
                                                                                                      : 0;
    }
    if (section->size < sizeof head || !read_all(elf->fd, head, sizeof head, section->offset) ||
        memcmp(head, "ZLIB", 4) != 0)
        return 0;
    uint64_t size = 0;
    for (size_t i = 4; i < sizeof head; i++)
        size = size << 8 | head[i];
    return size;
}

static uint8_t *read_compressed(const struct as_elf *elf, const struct as_elf_section *section, uint64_t limit,
                                size_t *size)
{
    uint64_t claimed = unpacked_size(elf, section);
    Elf_Scn *scn = elf_getscn(elf->elf, section->index);
    if (claimed == 0 || claimed > limit || claimed > (1 << 20) + 100 * section->size || scn == NULL)
        return NULL;
    int rc = (section->flags & SHF_COMPRESSED) != 0 ? elf_compress(scn, 0, 0) : elf_compress_gnu(scn, 0, 0);
    Elf_Data *data = rc < 0 ? NULL : elf_rawdata(scn, NULL);
    if (data == NULL || data->d_buf == NULL || data->d_size == 0 || data->d_size > limit)
        return NULL;
    uint8_t *bytes = calloc(data->d_size + AS_ELF_PAD, 1);
    if (bytes != NULL)
        memcpy(bytes, data->d_buf, *size = data->d_size);
    return bytes;
}

uint8_t *as_elf_read(const struct as_elf *elf, const struct as_elf_section *section, uint64_t limit, size_t *size)
{
    if (section == NULL || section->type == SHT_NOBITS || section->size == 0 || section->size > limit ||
        !as_inside(section->offset, section->size, elf->size))
        return NULL;
    if ((section->flags & SHF_COMPRESSED) != 0 || strncmp(section->name, ".zdebug_", 8) == 0)
        return read_compressed(elf, section, limit, size);
    uint8_t *bytes = calloc(section->size + AS_ELF_PAD, 1); /* a large one may fail: it costs names, not the run */
    if (bytes == NULL || !read_all(elf->fd, bytes, section->size, section->offset)) {
        free(bytes);
        return NULL;
    }
    *size = section->size;
    return bytes;
}

/* Finds the GNU build-id among notes. */
static bool scan_notes(const uint8_t *notes, size_t size, struct as_build_id *id)
{
    for (size_t at = 0; as_inside(at, sizeof(Elf64_Nhdr), size);) {
        Elf64_Nhdr nhdr;
        memcpy(&nhdr, notes + at, sizeof nhdr);
        uint64_t name = at + sizeof nhdr, text = name + (((uint64_t)nhdr.n_namesz + 3) & ~(uint64_t)3);
        if (!as_inside(text, nhdr.n_descsz, size))
            return false;
        if (nhdr.n_type == NT_GNU_BUILD_ID && nhdr.n_namesz == 4 && memcmp(notes + name, "GNU", 4) == 0 &&
            nhdr.n_descsz > 0 && nhdr.n_descsz <= sizeof id->bytes) {
            memcpy(id->bytes, notes + text, nhdr.n_descsz);
            id->len = nhdr.n_descsz;
            return true;
        }
        at = text + (((uint64_t)nhdr.n_descsz + 3) & ~(uint64_t)3);
    }
    return false;
}

void as_elf_build_id(const struct as_elf *elf, struct as_build_id *id)
{
    id->len = 0;
    for (size_t i = 0; i < elf->sections.len && id->len == 0; i++) {
        size_t size;
        uint8_t *notes =
            elf->sections.data[i].type == SHT_NOTE ? as_elf_read(elf, &elf->sections.data[i], 1 << 16, &size) : NULL;
        if (notes != NULL)
            scan_notes(notes, size, id);
        free(notes);
    }
}
