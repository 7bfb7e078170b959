/* From a name to something that QEMU can run: a search along PATH, then `#!` lines until an ELF file is found, then its
 * header and program headers.
 *
 * The rules are the kernel's (execve of Linux 6): 256 bytes of a `#!` line count, surrounding blanks are dropped,
 * everything after the interpreter is one argument, and at most five scripts follow each other. Nothing is mapped (a
 * file can shrink while we look at it): every read is a pread with its length checked, and no byte of the file is
 * trusted.
 */
#include "engine/program.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CANNOT(...) as_error_set_status(err, AS_EXIT_CANNOT_RUN, __VA_ARGS__)

/* An opened candidate. `shown` begins every message: the name as given, or "script: its interpreter …". */
struct file {
    int fd;
    uint64_t size;
    const char *shown;
};

static uint16_t le16(const uint8_t *p)
{
    return (uint16_t)(p[0] | p[1] << 8);
}

static uint32_t le32(const uint8_t *p)
{
    return (uint32_t)le16(p) | (uint32_t)le16(p + 2) << 16;
}

static uint64_t le64(const uint8_t *p)
{
    return (uint64_t)le32(p) | (uint64_t)le32(p + 4) << 32;
}

/* Whether [offset, offset + length) lies inside a whole of `size`. */
static bool inside(uint64_t offset, uint64_t length, uint64_t size)
{
    return offset <= size && length <= size - offset;
}

/* Reads as much of `length` as there is; less than that only at the end of the file or on an error. */
static size_t read_at(int fd, void *buffer, size_t length, uint64_t offset)
{
    size_t done = 0;
    while (done < length) {
        ssize_t n = pread(fd, (char *)buffer + done, length - done, (off_t)(offset + done));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        done += (size_t)n;
    }
    return done;
}

static const char *kind_name(mode_t mode)
{
    if (S_ISDIR(mode))
        return "a directory";
    if (S_ISFIFO(mode))
        return "a named pipe";
    if (S_ISSOCK(mode))
        return "a socket";
    return "a device";
}

/* The checks that come before any reading. On failure `*why` is the errno that execve would give. */
static bool check_file(const char *path, const char *shown, int *why, struct as_error *err)
{
    struct stat st;
    if (stat(path, &st) < 0) {
        *why = errno;
        if (*why == ENOENT || *why == ENOTDIR)
            return as_error_set_status(err, AS_EXIT_NOT_FOUND, "%s: not found", shown);
        return CANNOT("%s: cannot be looked up: %s", shown, strerror(*why));
    }
    *why = EACCES;
    if (!S_ISREG(st.st_mode))
        return CANNOT("%s: this is %s, not a program", shown, kind_name(st.st_mode));
    if (faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) < 0) {
        *why = errno;
        bool none = *why == EACCES && (st.st_mode & 0111) == 0;
        return CANNOT("%s: not executable: %s", shown, none ? "chmod +x would make it so" : strerror(*why));
    }
    return true;
}

/* One element of PATH and the name, joined; an empty element is the working directory. */
static bool join(const char *dir, size_t dir_len, const char *name, char *path)
{
    if (dir_len == 0) {
        dir = ".";
        dir_len = 1;
    }
    int n = snprintf(path, PATH_MAX, "%.*s/%s", (int)(dir_len < PATH_MAX ? dir_len : PATH_MAX), dir, name);
    return n > 0 && n < PATH_MAX;
}

/* The search of execvp: the first candidate that can be executed; a forbidden one is remembered and reported at the end. */
static bool search(const char *name, const char *search_path, char *path, struct as_error *err)
{
    struct as_error forbidden = {.status = 0};
    for (const char *dir = search_path;;) {
        const char *end = strchrnul(dir, ':');
        struct as_error trial = AS_ERROR_INIT;
        int why = 0;
        if (join(dir, (size_t)(end - dir), name, path)) {
            if (check_file(path, path, &why, &trial))
                return true;
            if (why == EACCES && forbidden.status == 0)
                forbidden = trial;
        }
        if (*end == '\0')
            break;
        dir = end + 1;
    }
    if (forbidden.status != 0)
        return as_error_set_status(err, forbidden.status, "%s", forbidden.message);
    return as_error_set_status(err, AS_EXIT_NOT_FOUND, "%s: not found along PATH", name);
}

/* Folders along PATH have these, too, but nobody means them. */
static bool is_folder(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

static bool locate(const char *name, const char *search_path, char *path, struct as_error *err)
{
    if (name[0] == '\0')
        return as_error_set_status(err, AS_EXIT_NOT_FOUND, "the program's name is empty");
    if (search_path != NULL && strchr(name, '/') == NULL && !is_folder(name))
        return search(name, search_path, path, err);
    size_t length = strlen(name);
    if (length >= PATH_MAX)
        return CANNOT("%.60s…: the name is too long", name);
    memcpy(path, name, length + 1);
    return true;
}

static bool open_file(const char *path, struct file *file, struct as_error *err)
{
    int why;
    if (!check_file(path, file->shown, &why, err))
        return false;
    /* Non-blocking in case it has become a pipe since. */
    file->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file->fd < 0)
        return CANNOT("%s: cannot be read: %s", file->shown, strerror(errno));
    struct stat st;
    if (fstat(file->fd, &st) < 0 || !S_ISREG(st.st_mode)) {
        close(file->fd);
        return CANNOT("%s: changed while it was being opened", file->shown);
    }
    file->size = (uint64_t)st.st_size;
    return true;
}

/* ---- ELF ---- */

static const char *machine_name(uint16_t machine)
{
    static const struct {
        uint16_t machine;
        const char *name;
    } names[] = {
        {EM_386, "x86"},
        {EM_X86_64, "x86-64"},
        {EM_RISCV, "RISC-V"},
        {EM_AARCH64, "AArch64"},
        {EM_ARM, "Arm"},
        {EM_PPC64, "PowerPC 64"},
        {EM_PPC, "PowerPC"},
        {EM_S390, "IBM Z (s390)"},
        {EM_MIPS, "MIPS"},
        {EM_MIPS_RS3_LE, "MIPS"},
        {EM_SPARC, "SPARC"},
        {EM_SPARCV9, "SPARC V9"},
        {EM_IA_64, "Itanium"},
        {EM_ALPHA, "Alpha"},
        {0x9026, "Alpha"},
        {EM_PARISC, "PA-RISC"},
        {EM_68K, "Motorola 68k"},
        {EM_SH, "SuperH"},
        {EM_LOONGARCH, "LoongArch"},
        {EM_XTENSA, "Xtensa"},
        {EM_MICROBLAZE, "MicroBlaze"},
        {EM_OPENRISC, "OpenRISC"},
        {EM_BPF, "BPF"},
        {EM_AVR, "AVR"},
        {EM_CSKY, "C-SKY"},
        {EM_ARC_COMPACT, "ARC"},
        {EM_ALTERA_NIOS2, "Nios II"},
        {EM_QDSP6, "Hexagon"},
        {EM_AMDGPU, "AMD GPU"},
        {EM_CUDA, "NVIDIA GPU"},
        {EM_TILEGX, "TILE-Gx"},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].machine == machine)
            return names[i].name;
    return NULL;
}

/* Word size, byte order and architecture: ours, or a message that names what it is. */
static bool check_machine(const struct file *file, const uint8_t *ehdr, enum as_arch *arch, struct as_error *err)
{
    const char *ours = "Assay runs x86-64 and riscv64 programs";
    uint8_t class = ehdr[EI_CLASS], data = ehdr[EI_DATA];
    if ((class != ELFCLASS32 && class != ELFCLASS64) || (data != ELFDATA2LSB && data != ELFDATA2MSB) ||
        ehdr[EI_VERSION] != EV_CURRENT)
        return CANNOT("%s: the ELF header is corrupt (class %u, byte order %u, version %u)", file->shown, class, data,
                      ehdr[EI_VERSION]);
    uint16_t machine = data == ELFDATA2LSB ? le16(ehdr + 18) : (uint16_t)(ehdr[18] << 8 | ehdr[19]);
    *arch = machine == EM_RISCV ? AS_ARCH_RISCV64 : AS_ARCH_X86_64;
    if (class == ELFCLASS64 && data == ELFDATA2LSB && (machine == EM_X86_64 || machine == EM_RISCV))
        return true;
    if (class == ELFCLASS32 && machine == EM_X86_64)
        return CANNOT("%s: this is an x32 program (x86-64 with 32-bit pointers); %s", file->shown, ours);
    const char *bits = class == ELFCLASS32 ? "32-bit" : "64-bit", *order = data == ELFDATA2MSB ? " big-endian" : "";
    const char *name = machine_name(machine);
    if (name == NULL)
        return CANNOT("%s: this is a %s%s program for machine number %u; %s", file->shown, bits, order, machine, ours);
    return CANNOT("%s: this is a %s%s %s program; %s", file->shown, bits, order, name, ours);
}

static bool check_type(const struct file *file, uint16_t type, struct as_error *err)
{
    if (type == ET_EXEC || type == ET_DYN)
        return true;
    if (type == ET_REL)
        return CANNOT("%s: this is an object file (not linked), not a program", file->shown);
    if (type == ET_CORE)
        return CANNOT("%s: this is a core dump, not a program", file->shown);
    return CANNOT("%s: this is an ELF file of type %u, not a program", file->shown, type);
}

static bool read_interpreter(const struct file *file, const uint8_t *phdr, struct as_program *program,
                             struct as_error *err)
{
    uint64_t offset = le64(phdr + 8), size = le64(phdr + 32);
    char *path = program->elf_interpreter;
    if (size < 2 || size > PATH_MAX || !inside(offset, size, file->size) ||
        read_at(file->fd, path, size, offset) != size || path[size - 1] != '\0' || path[0] == '\0')
        return CANNOT("%s: the ELF file is corrupt (bad path of the dynamic loader)", file->shown);
    program->dynamic = true;
    return true;
}

static bool check_load(const struct file *file, const uint8_t *phdr, struct as_error *err)
{
    uint64_t offset = le64(phdr + 8), address = le64(phdr + 16), file_size = le64(phdr + 32), size = le64(phdr + 40);
    if (!inside(offset, file_size, file->size))
        return CANNOT("%s: the ELF file is truncated (a segment ends behind the end of the file)", file->shown);
    if (file_size > size || size > (uint64_t)1 << 47 || address > UINT64_MAX - size)
        return CANNOT("%s: the ELF file is corrupt (impossible segment)", file->shown);
    return true;
}

/* Goes over the program headers. The kernel allows 64 KiB of them. */
static bool read_segments(const struct file *file, const uint8_t *ehdr, struct as_program *program,
                          struct as_error *err)
{
    uint64_t table = le64(ehdr + 32);
    size_t entry = le16(ehdr + 54), count = le16(ehdr + 56), loads = 0;
    if (count == 0)
        return CANNOT("%s: this ELF file has no segments to load: not a program", file->shown);
    if (entry != sizeof(Elf64_Phdr) || count * entry > 65536)
        return CANNOT("%s: the ELF header is corrupt (%zu program headers of %zu bytes)", file->shown, count, entry);
    if (!inside(table, count * entry, file->size))
        return CANNOT("%s: the ELF file is truncated (program headers behind the end of the file)", file->shown);
    for (size_t i = 0; i < count; i++) {
        uint8_t phdr[sizeof(Elf64_Phdr)];
        if (read_at(file->fd, phdr, sizeof phdr, table + i * sizeof phdr) != sizeof phdr)
            return CANNOT("%s: cannot be read to its end", file->shown);
        if (le32(phdr) == PT_INTERP && !program->dynamic && !read_interpreter(file, phdr, program, err))
            return false;
        if (le32(phdr) == PT_LOAD && !check_load(file, phdr, err))
            return false;
        loads += le32(phdr) == PT_LOAD;
    }
    if (loads == 0)
        return CANNOT("%s: this ELF file has no segments to load: not a program", file->shown);
    return true;
}

static bool read_elf(const struct file *file, const uint8_t *ehdr, size_t length, struct as_program *program,
                     struct as_error *err)
{
    if (length < sizeof(Elf32_Ehdr))
        return CANNOT("%s: the ELF file is truncated (%zu bytes)", file->shown, length);
    if (!check_machine(file, ehdr, &program->arch, err))
        return false;
    if (length < sizeof(Elf64_Ehdr))
        return CANNOT("%s: the ELF file is truncated (%zu bytes)", file->shown, length);
    uint16_t type = le16(ehdr + 16);
    if (!check_type(file, type, err) || !read_segments(file, ehdr, program, err))
        return false;
    /* libc.so.6 and ld.so are libraries that run: they have an entry point. */
    if (type == ET_DYN && !program->dynamic && le64(ehdr + 24) == 0)
        return CANNOT("%s: this is a shared library, not a program", file->shown);
    return true;
}

/* ---- scripts ---- */

static bool blank(char c)
{
    return c == ' ' || c == '\t';
}

static char *skip_blanks(char *from, const char *end)
{
    while (from < end && blank(*from))
        from++;
    return from;
}

/* Splits a `#!` line in place exactly like the kernel: `line` holds AS_PROGRAM_LINE bytes, zeros behind the file's end,
 * Blanks at the end go only in front of a newline; blanks before a zero byte leave an empty argument.
 * `*interpreter` and `*argument` (NULL: none) point into it. False: the kernel would return "exec format error". */
static bool split_line(char *line, char **interpreter, char **argument)
{
    char *limit = line + AS_PROGRAM_LINE, *newline = memchr(line, '\n', AS_PROGRAM_LINE);
    char *end = newline != NULL ? newline : limit - 1;
    while (newline != NULL && end > line + 2 && blank(end[-1]))
        end--;
    char *name = skip_blanks(line + 2, end), *stop = name;
    while (stop < limit && *stop != '\0' && *stop != '\n' && !blank(*stop))
        stop++;
    if (stop == name || stop == limit) /* no interpreter, or its path is cut off */
        return false;
    *argument = stop < end && *stop != '\0' ? skip_blanks(stop, end) : NULL;
    *stop = *end = '\0';
    *interpreter = name;
    return true;
}

/* Puts an argument in front of those of the scripts seen so far: the innermost interpreter gets its own first. The text
 * comes from a `#!` line, so it is shorter than AS_PROGRAM_LINE. */
static void push_front(struct as_program *program, const char *text)
{
    memmove(program->script_args[1], program->script_args[0], program->n_script_args * AS_PROGRAM_LINE);
    size_t length = strnlen(text, AS_PROGRAM_LINE - 1);
    memcpy(program->script_args[0], text, length);
    program->script_args[0][length] = '\0';
    program->n_script_args++;
}

/* One script: its interpreter becomes the path, what was the path becomes an argument. */
static bool read_script(const struct file *file, char *line, size_t depth, struct as_program *program,
                        struct as_error *err)
{
    char *interpreter, *argument;
    if (!split_line(line, &interpreter, &argument))
        return CANNOT("%s: its #! line names no interpreter, or is longer than %d bytes", file->shown, AS_PROGRAM_LINE);
    if (depth == AS_PROGRAM_SCRIPTS)
        return CANNOT("%s: more than %d scripts that interpret one another", file->shown, AS_PROGRAM_SCRIPTS);
    if (program->is_script)
        push_front(program, program->path);
    else
        memcpy(program->script_path, program->path, sizeof program->script_path);
    if (argument != NULL)
        push_front(program, argument);
    program->is_script = true;
    snprintf(program->path, sizeof program->path, "%s", interpreter);
    return true;
}

/* A missing interpreter is an error of the script: the message says so and names the usual cause. */
static bool explain_interpreter(const char *script, const char *interpreter, struct as_error *err)
{
    if (err == NULL || err->status != AS_EXIT_NOT_FOUND)
        return false;
    size_t length = strlen(interpreter);
    if (length > 0 && interpreter[length - 1] == '\r')
        return CANNOT("%s: its #! line ends in a carriage return (CRLF line ends): there is no interpreter \"%.*s\\r\"",
                      script, (int)(length - 1), interpreter);
    return CANNOT("%s: its interpreter %s is not there", script, interpreter);
}

/* Opens program->path and takes one step: to the ELF file (*done) or to the next interpreter. */
static bool step(const char *shown, size_t depth, struct as_program *program, bool *done, struct as_error *err)
{
    struct file file = {.fd = -1, .shown = shown};
    if (!open_file(program->path, &file, err))
        return false;
    uint8_t head[AS_PROGRAM_LINE] = {0};
    size_t length = read_at(file.fd, head, sizeof head, 0);
    bool ok = false;
    if (length == 0) {
        CANNOT("%s: the file is empty", file.shown);
    } else if (length >= SELFMAG && memcmp(head, ELFMAG, SELFMAG) == 0) {
        ok = *done = read_elf(&file, head, length, program, err);
    } else if (length >= 2 && head[0] == '#' && head[1] == '!') {
        ok = read_script(&file, (char *)head, depth, program, err);
    } else {
        CANNOT("%s: neither an ELF program nor a script with a #! line", file.shown);
    }
    close(file.fd);
    return ok;
}

bool as_program_find(const char *name, const char *search_path, struct as_program *program, struct as_error *err)
{
    struct as_error local = AS_ERROR_INIT;
    if (err == NULL)
        err = &local;
    memset(program, 0, sizeof *program);
    if (!locate(name, search_path, program->path, err))
        return false;
    bool done = false;
    char shown[2 * PATH_MAX + 32];
    for (size_t depth = 0; !done; depth++) {
        if (depth == 0)
            snprintf(shown, sizeof shown, "%s", program->path);
        else
            snprintf(shown, sizeof shown, "%s: its interpreter %s", name, program->path);
        if (!step(shown, depth, program, &done, err))
            return depth > 0 && !done ? explain_interpreter(name, program->path, err) : false;
    }
    return true;
}
