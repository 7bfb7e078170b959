/* as_program_find against files made here: ELF headers with one thing wrong each, and scripts whose interpretation is
 * compared with what the running kernel makes of them. argv[1] is the interpreter for those (show_args). */
#include "engine/program.h"

#include "unit.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static char dir[] = "/tmp/assay-program-XXXXXX";
static struct as_program program;
static struct as_error error;

/* A well-formed static x86-64 program of two headers and a few bytes; tests spoil it. */
struct image {
    Elf64_Ehdr ehdr;
    Elf64_Phdr phdr[2];
    char text[64];
};

static struct image good_image(void)
{
    struct image image = {
        .ehdr = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
                 .e_type = ET_EXEC,
                 .e_machine = EM_X86_64,
                 .e_version = EV_CURRENT,
                 .e_entry = 0x400000 + offsetof(struct image, text),
                 .e_phoff = offsetof(struct image, phdr),
                 .e_ehsize = sizeof(Elf64_Ehdr),
                 .e_phentsize = sizeof(Elf64_Phdr),
                 .e_phnum = 2},
        .phdr = {{.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_vaddr = 0x400000},
                 {.p_type = PT_NOTE, .p_offset = offsetof(struct image, text)}},
    };
    image.phdr[0].p_filesz = image.phdr[0].p_memsz = sizeof image;
    return image;
}

static const char *put(const char *name, const void *bytes, size_t length, mode_t mode)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    unlink(path);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, length), (ssize_t)length);
    assert_int_equal(fchmod(fd, mode), 0);
    close(fd);
    return path;
}

static bool find(const char *name, const char *search_path)
{
    memset(&error, 0, sizeof error);
    bool ok = as_program_find(name, search_path, &program, &error);
    if (!ok) {
        assert_null(strchr(error.message, '\n'));
        assert_true(error.status == AS_EXIT_NOT_FOUND || error.status == AS_EXIT_CANNOT_RUN);
    }
    return ok;
}

static void expect_failure(const char *name, int status, const char *part)
{
    assert_false(find(name, NULL));
    assert_int_equal(error.status, status);
    if (strstr(error.message, part) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", error.message, part);
}

static void expect_bad_image(const struct image *image, const char *part)
{
    expect_failure(put("bad", image, sizeof *image, 0755), AS_EXIT_CANNOT_RUN, part);
}

static void test_good(void **state)
{
    struct image image = good_image();
    assert_true(find(put("good", &image, sizeof image, 0755), NULL));
    assert_int_equal(program.arch, AS_ARCH_X86_64);
    assert_false(program.is_script || program.dynamic);
    image.ehdr.e_machine = EM_RISCV;
    image.ehdr.e_type = ET_DYN; /* static PIE: no interpreter, but an entry */
    assert_true(find(put("good", &image, sizeof image, 0755), NULL));
    assert_int_equal(program.arch, AS_ARCH_RISCV64);
}

static void test_dynamic(void **state)
{
    struct image image = good_image();
    strcpy(image.text, "/lib/ld.so.1");
    image.phdr[1] = (Elf64_Phdr){.p_type = PT_INTERP, .p_offset = offsetof(struct image, text), .p_filesz = 13};
    assert_true(find(put("dynamic", &image, sizeof image, 0755), NULL));
    assert_true(program.dynamic);
    assert_string_equal(program.elf_interpreter, "/lib/ld.so.1");
    image.phdr[1].p_filesz = 12; /* no zero at the end */
    expect_bad_image(&image, "dynamic loader");
    image.phdr[1].p_filesz = 1;
    expect_bad_image(&image, "dynamic loader");
    image.phdr[1].p_filesz = UINT64_MAX;
    expect_bad_image(&image, "dynamic loader");
    image.phdr[1].p_filesz = 13;
    image.phdr[1].p_offset = UINT64_MAX - 4;
    expect_bad_image(&image, "dynamic loader");
}

static void test_foreign(void **state)
{
    static const struct {
        uint16_t machine;
        uint8_t class, data;
        const char *part;
    } cases[] = {
        {EM_386, ELFCLASS32, ELFDATA2LSB, "this is a 32-bit x86 program; Assay runs x86-64 and riscv64 programs"},
        {EM_X86_64, ELFCLASS32, ELFDATA2LSB, "x32"},
        {EM_RISCV, ELFCLASS32, ELFDATA2LSB, "32-bit RISC-V"},
        {EM_AARCH64, ELFCLASS64, ELFDATA2LSB, "64-bit AArch64"},
        {EM_ARM, ELFCLASS32, ELFDATA2LSB, "32-bit Arm"},
        {EM_PPC64, ELFCLASS64, ELFDATA2MSB, "64-bit big-endian PowerPC 64"},
        {EM_S390, ELFCLASS64, ELFDATA2MSB, "big-endian IBM Z"},
        {EM_X86_64, ELFCLASS64, ELFDATA2MSB, "big-endian"},
        {64000, ELFCLASS64, ELFDATA2LSB, "machine number 64000"},
        {EM_X86_64, 9, ELFDATA2LSB, "corrupt"},
        {EM_X86_64, ELFCLASS64, 0, "corrupt"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct image image = good_image();
        image.ehdr.e_ident[EI_CLASS] = cases[i].class;
        image.ehdr.e_ident[EI_DATA] = cases[i].data;
        image.ehdr.e_machine = cases[i].data == ELFDATA2MSB ? __builtin_bswap16(cases[i].machine) : cases[i].machine;
        expect_bad_image(&image, cases[i].part);
    }
}

/* Of this machine or of another one; what is no program is neither. */
static void test_here(void **state)
{
    struct utsname machine;
    struct image image = good_image();
    assert_int_equal(uname(&machine), 0);
    bool x86 = strcmp(machine.machine, "x86_64") == 0;
    assert_int_equal(as_program_is_foreign(put("own", &image, sizeof image, 0755), NULL, &error), !x86);
    image.ehdr.e_machine = EM_RISCV;
    assert_int_equal(as_program_is_foreign(put("other", &image, sizeof image, 0755), NULL, &error),
                     strcmp(machine.machine, "riscv64") != 0);
    assert_int_equal(error.status, AS_EXIT_CANNOT_RUN);
    assert_non_null(strstr(error.message, x86 ? "is for riscv64, and this machine is x86_64" : "is for "));
    assert_false(as_program_is_foreign("/nonexistent/program", NULL, &error));
}

static void test_types(void **state)
{
    struct image image = good_image();
    image.ehdr.e_type = ET_REL;
    expect_bad_image(&image, "object file");
    image.ehdr.e_type = ET_CORE;
    expect_bad_image(&image, "core dump");
    image.ehdr.e_type = 77;
    expect_bad_image(&image, "type 77");
    image.ehdr.e_type = ET_DYN;
    image.ehdr.e_entry = 0;
    expect_bad_image(&image, "shared library");
}

static void test_corrupt(void **state)
{
    struct image image = good_image();
    image.ehdr.e_phnum = 0;
    expect_bad_image(&image, "no segments");
    image.ehdr.e_phnum = 0xffff;
    expect_bad_image(&image, "corrupt");
    image.ehdr.e_phnum = 9;
    expect_bad_image(&image, "truncated");
    image = good_image();
    image.ehdr.e_phoff = UINT64_MAX - 8;
    expect_bad_image(&image, "truncated");
    image = good_image();
    image.ehdr.e_phentsize = 1;
    expect_bad_image(&image, "corrupt");
    image = good_image();
    image.phdr[0].p_type = PT_NOTE;
    expect_bad_image(&image, "no segments");
    image = good_image();
    image.phdr[0].p_filesz++;
    expect_bad_image(&image, "truncated");
    image = good_image();
    image.phdr[0].p_memsz--;
    expect_bad_image(&image, "impossible");
    image = good_image();
    image.phdr[0].p_vaddr = UINT64_MAX - 8;
    expect_bad_image(&image, "impossible");
}

/* Cut at every length: never accepted, always one line. */
static void test_truncated(void **state)
{
    struct image image = good_image();
    for (size_t length = 4; length < sizeof image; length++)
        expect_failure(put("cut", &image, length, 0755), AS_EXIT_CANNOT_RUN, "truncated");
    for (size_t length = 1; length < 4; length++)
        expect_failure(put("cut", &image, length, 0755), AS_EXIT_CANNOT_RUN, "neither");
    expect_failure(put("cut", &image, 0, 0755), AS_EXIT_CANNOT_RUN, "empty");
}

static void test_not_a_program(void **state)
{
    struct image image = good_image();
    expect_failure("/nonexistent/x", AS_EXIT_NOT_FOUND, "/nonexistent/x: not found");
    expect_failure("/etc/passwd/x", AS_EXIT_NOT_FOUND, "not found");
    expect_failure("", AS_EXIT_NOT_FOUND, "empty");
    expect_failure(dir, AS_EXIT_CANNOT_RUN, "directory");
    expect_failure("/dev/null", AS_EXIT_CANNOT_RUN, "device");
    expect_failure(put("text", "hello\n", 6, 0755), AS_EXIT_CANNOT_RUN, "neither");
    expect_failure(put("plain", &image, sizeof image, 0644), AS_EXIT_CANNOT_RUN, "chmod +x");
    char pipe_path[256], longer[PATH_MAX + 10];
    snprintf(pipe_path, sizeof pipe_path, "%s/pipe", dir);
    assert_int_equal(mkfifo(pipe_path, 0777), 0); /* opening it would block */
    expect_failure(pipe_path, AS_EXIT_CANNOT_RUN, "named pipe");
    memset(longer, 'a', sizeof longer);
    longer[sizeof longer - 1] = '\0';
    expect_failure(longer, AS_EXIT_CANNOT_RUN, "too long");
    longer[300] = '\0';
    expect_failure(longer, AS_EXIT_CANNOT_RUN, "cannot be looked up");
}

static void test_unreadable(void **state)
{
    struct image image = good_image();
    const char *path = put("unreadable", &image, sizeof image, 0111);
    if (access(path, R_OK) == 0)
        unit_skip("root reads everything");
    expect_failure(path, AS_EXIT_CANNOT_RUN, "cannot be read");
}

static void test_search(void **state)
{
    struct image image = good_image();
    char path[1024], found[256];
    put("plain", &image, sizeof image, 0644);
    snprintf(found, sizeof found, "%s", put("here", &image, sizeof image, 0755));
    snprintf(path, sizeof path, "/nonexistent:%s", dir);
    assert_true(find("here", path));
    assert_string_equal(program.path, found);
    assert_false(find("gone", path));
    assert_int_equal(error.status, AS_EXIT_NOT_FOUND);
    assert_non_null(strstr(error.message, "PATH"));
    assert_false(find("plain", path)); /* there but forbidden: 126, like a shell */
    assert_int_equal(error.status, AS_EXIT_CANNOT_RUN);
    assert_false(find("here", "/nonexistent"));
    for (size_t i = 0; i < 2; i++) { /* folders that are not searched for */
        assert_false(find(i ? ".." : ".", path));
        assert_non_null(strstr(error.message, i ? "..: this is a directory" : ".: this is a directory"));
        assert_null(strstr(error.message, "/"));
    }
    char old[PATH_MAX];
    assert_non_null(getcwd(old, sizeof old));
    assert_int_equal(chdir(dir), 0);
    assert_true(find("here", "/nonexistent:")); /* an empty element is the working directory */
    assert_string_equal(program.path, "./here");
    assert_true(find("here", NULL)); /* no search */
    assert_string_equal(program.path, "here");
    assert_int_equal(chdir(old), 0);
}

/* What the kernel makes of a script: the interpreter's own output, or "" where it refuses. */
static void kernel_view(const char *script, char *out, size_t size)
{
    int pipes[2];
    assert_int_equal(pipe2(pipes, O_CLOEXEC), 0);
    pid_t pid = fork();
    if (pid == 0) {
        dup2(pipes[1], 1);
        execl(script, script, "user", (char *)NULL);
        _exit(0);
    }
    close(pipes[1]);
    size_t length = 0;
    ssize_t n;
    while (length < size - 1 && (n = read(pipes[0], out + length, size - 1 - length)) > 0)
        length += (size_t)n;
    out[length] = '\0';
    close(pipes[0]);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void our_view(const char *script, char *out, size_t size)
{
    out[0] = '\0';
    if (!find(script, NULL))
        return;
    assert_true(program.is_script);
    int n = snprintf(out, size, "[%s]", program.path);
    for (size_t i = 0; i < program.n_script_args; i++)
        n += snprintf(out + n, size - (size_t)n, "[%s]", program.script_args[i]);
    snprintf(out + n, size - (size_t)n, "[%s][user]", program.script_path);
}

static void expect_like_kernel(const char *text, size_t length)
{
    char ours[4096], theirs[4096];
    const char *script = put("script", text, length, 0755);
    kernel_view(script, theirs, sizeof theirs);
    our_view(script, ours, sizeof ours);
    assert_string_equal(ours, theirs);
}

/* %s is the interpreter; \1 stands for a zero byte. */
static const char *const lines[] = {
    "#!%s\n",
    "#! %s\n",
    "#!\t %s \t\n",
    "#!%s one\n",
    "#!%s  one two\tthree  \n",
    "#!%s",
    "#!%s  ",
    "#!%s one  ",
    "#!%s one\1two\n",
    "#!%s \1two\n",
    "#!%s\1 one\n",
    "#!\n%s\n",
    "#! \t\n",
    "#!%s one\nrest",
    "#!%s\r\n",
    "#!%s one\r\n",
    "#!%s\xff\xfe\n",
    " #!%s\n",
    "#",
    "#!%s\t\tone\n",
};

static void test_scripts_like_kernel(void **state)
{
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        char text[512];
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        int n = snprintf(text, sizeof text, lines[i], "./show_args");
        for (int k = 0; k < n; k++)
            if (text[k] == '\1')
                text[k] = '\0';
        expect_like_kernel(text, (size_t)n);
    }
    for (size_t length = 230; length < 300;
         length++) { /* around the limit, with and without a newline, in argument … */
        char text[512];
        int n = snprintf(text, sizeof text, "#!./show_args ");
        memset(text + n, 'a', length - (size_t)n);
        expect_like_kernel(text, length);
        text[length - 1] = '\n';
        expect_like_kernel(text, length);
        memset(text + 2, '/', length - 13); /* … and in the path */
        memcpy(text + 2, "./", 2);
        memcpy(text + length - 11, "show_args\nx", 11);
        expect_like_kernel(text, length);
        text[length - 2] = ' ';
        expect_like_kernel(text, length);
    }
}

static void test_nested_like_kernel(void **state)
{
    char text[256], name[32], ours[4096], theirs[4096], path[256];
    int n = snprintf(text, sizeof text, "#!./show_args arg0\n");
    put("n0", text, (size_t)n, 0755);
    for (int depth = 1; depth < 8; depth++) {
        n = snprintf(text, sizeof text, "#!./n%d arg%d\n", depth - 1, depth);
        snprintf(name, sizeof name, "n%d", depth);
        snprintf(path, sizeof path, "%s", put(name, text, (size_t)n, 0755));
        kernel_view(path, theirs, sizeof theirs);
        our_view(path, ours, sizeof ours);
        assert_string_equal(ours, theirs);
    }
    assert_non_null(strstr(error.message, "more than"));
    n = snprintf(text, sizeof text, "#!%s/self\n", dir);
    expect_failure(put("self", text, (size_t)n, 0755), AS_EXIT_CANNOT_RUN, "more than");
}

static void test_script_messages(void **state)
{
    const char *crlf = "#!/bin/sh\r\n", *missing = "#!/nonexistent/perl -w\n", *folder = "#!/etc\n";
    expect_failure(put("s", crlf, strlen(crlf), 0755), AS_EXIT_CANNOT_RUN, "carriage return");
    expect_failure(put("s", missing, strlen(missing), 0755), AS_EXIT_CANNOT_RUN, "its interpreter /nonexistent/perl");
    expect_failure(put("s", folder, strlen(folder), 0755), AS_EXIT_CANNOT_RUN, "directory");
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good),
        cmocka_unit_test(test_dynamic),
        cmocka_unit_test(test_foreign),
        cmocka_unit_test(test_here),
        cmocka_unit_test(test_types),
        cmocka_unit_test(test_corrupt),
        cmocka_unit_test(test_truncated),
        cmocka_unit_test(test_not_a_program),
        cmocka_unit_test(test_unreadable),
        cmocka_unit_test(test_search),
        cmocka_unit_test(test_scripts_like_kernel),
        cmocka_unit_test(test_nested_like_kernel),
        cmocka_unit_test(test_script_messages),
    };
    if (argc < 2 || mkdtemp(dir) == NULL || chdir(dir) < 0 || symlink(argv[1], "show_args") < 0)
        return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", dir);
    return system(command) != 0 || failed != 0;
}
