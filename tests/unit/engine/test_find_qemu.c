/* Which QEMU is taken, and what is said about those that cannot be: scripts stand for it. */
#include "engine/find_qemu.h"
#include "unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

static char folder[] = "/tmp/assay-find-qemu.XXXXXX";

static const char *put(const char *name, const char *script)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "#!/bin/sh\n%s\n", script);
    assert_true(fclose(file) == 0 && chmod(path, 0700) == 0);
    return path;
}

static const char *put_at(const char *name, const char *script, time_t time)
{
    const char *path = put(name, script);
    assert_int_equal(utimensat(AT_FDCWD, path, (struct timespec[]){{.tv_sec = time}, {.tv_sec = time}}, 0), 0);
    return path;
}

static int make_folder(void **state)
{
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    static const char *const names[] = {"qemu", "qemu-x86_64", "qemu-x86_64-static", "qemu-riscv64"};
    char path[128];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        unlink(path);
    }
    return rmdir(folder);
}

static void versions(void **state)
{
    static const struct {
        const char *script, *why; /* NULL: it is taken */
    } cases[] = {{"echo \"qemu-x86_64 version 7.2.5 (Debian)\"", NULL},
                 {"echo qemu version 6.0", NULL},
                 {"echo qemu version 8.99.1", NULL},
                 {"echo qemu version 5.2.0", "is QEMU 5.2, too old: Assay needs 6.0"},
                 {"echo qemu version 9.1.0", "is QEMU 9.1, whose plugin interface Assay does not know"},
                 {"echo qemu version 7", "is not QEMU"},
                 {"echo hello", "is not QEMU"},
                 {"exit 1", "does not run"},
                 {"test \"$1\" = --version || echo qemu version 7.0", "does not run"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct as_error err = AS_ERROR_INIT;
        struct as_qemu qemu;
        const char *path = put("qemu", cases[i].script);
        assert_int_equal(as_qemu_find(AS_ARCH_X86_64, path, &qemu, &err), !cases[i].why);
        assert_string_equal(qemu.path, path);
        if (cases[i].why)
            assert_non_null(strstr(err.message, cases[i].why));
        if (i == 0)
            assert_true(qemu.major == 7 && qemu.minor == 2);
    }
}

/* The one on PATH, else the one that is linked statically. */
static void on_the_path(void **state)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_qemu qemu;
    char *before = strdup(getenv("PATH")), path[256];
    snprintf(path, sizeof path, "%s", folder);
    setenv("PATH", path, 1);
    assert_false(as_qemu_find(AS_ARCH_X86_64, NULL, &qemu, &err));
    assert_non_null(strstr(err.message, "qemu-x86_64 was not found on PATH"));
    put_at("qemu-x86_64-static", "echo qemu version 7.1.0", 1);
    assert_true(as_qemu_find(AS_ARCH_X86_64, NULL, &qemu, &err));
    assert_true(qemu.major == 7 && qemu.minor == 1);
    assert_false(as_qemu_find(AS_ARCH_RISCV64, NULL, &qemu, &err));
    assert_non_null(strstr(err.message, "qemu-riscv64 was not found"));
    put_at("qemu-x86_64", "echo qemu version 8.2.0", 2);
    assert_true(as_qemu_find(AS_ARCH_X86_64, NULL, &qemu, &err));
    assert_true(qemu.major == 8 && qemu.minor == 2);
    setenv("PATH", before, 1);
    free(before);
    assert_false(as_qemu_find(AS_ARCH_X86_64, "/etc/passwd", &qemu, &err));
    assert_non_null(strstr(err.message, "/etc/passwd is not an executable file"));
}

static int minor_of(enum as_arch arch, const char *path)
{
    struct as_qemu qemu;
    return as_qemu_find(arch, path, &qemu, NULL) ? qemu.minor : -1;
}

/* Files of one directory and one time, which a package has, are asked once; any other by itself. */
static void asks_a_build_once(void **state)
{
    char given[128];
    snprintf(given, sizeof given, "%s", put_at("qemu-x86_64", "echo qemu version 7.3.0", 1000));
    assert_int_equal(minor_of(AS_ARCH_X86_64, given), 3);
    put_at("qemu-x86_64", "echo qemu version 7.4.0", 1000);
    assert_int_equal(minor_of(AS_ARCH_X86_64, given), 3);
    assert_int_equal(minor_of(AS_ARCH_RISCV64, put_at("qemu-riscv64", "echo hello", 1000)), 3);
    assert_int_equal(minor_of(AS_ARCH_X86_64, put_at("qemu", "echo qemu version 7.5.0", 1000)), 5);
    assert_int_equal(minor_of(AS_ARCH_RISCV64, put_at("qemu-riscv64", "echo hello", 1001)), -1);
    assert_int_equal(minor_of(AS_ARCH_X86_64, put_at("qemu-x86_64", "echo qemu version 7.6.0", 1002)), 6);
    assert_int_equal(minor_of(AS_ARCH_X86_64, put("qemu-x86_64", "echo qemu version 7.7.0")), 7);
}

/* What does not fit is left unread, and a program that goes on is ended. */
static void answers(void **state)
{
    char text[8] = "";
    assert_int_equal(as_qemu_ask(put("qemu", "echo \"<$1>\""), "a b", -1, text, sizeof text), 6);
    assert_string_equal(text, "<a b>\n");
    assert_int_equal(as_qemu_ask(put("qemu", "while :; do echo abcdefghij; done"), "", -1, text, sizeof text), 7);
    assert_string_equal(text, "abcdefg");
    assert_int_equal(as_qemu_ask("/nowhere/qemu", "", -1, text, sizeof text), 0);
    int ends[2];
    char script[48];
    assert_int_equal(pipe(ends), 0);
    snprintf(script, sizeof script, "echo x >/proc/self/fd/%d", ends[1]);
    assert_int_equal(as_qemu_ask(put("qemu", script), "", ends[1], text, sizeof text), 0);
    assert_int_equal(read(ends[0], text, 1), 1); /* it had the descriptor */
    close(ends[0]);
    close(ends[1]);
}

/* It says so on standard error, of an option without its argument. */
static void plugins(void **state)
{
    static const struct {
        const char *script;
        bool takes;
    } cases[] = {{"test \"$1\" = -plugin && echo \"qemu: missing argument for option 'plugin'\" >&2; exit 1", true},
                 {"echo \"qemu: missing argument for option 'plugin'\"; exit 1", true},
                 {"echo \"qemu: unknown option 'plugin'\" >&2; exit 1", false},
                 {"exit 1", false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(as_qemu_takes_plugins(put("qemu", cases[i].script)), cases[i].takes);
    assert_false(as_qemu_takes_plugins("/nowhere/qemu"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(versions), cmocka_unit_test(on_the_path),
                                       cmocka_unit_test(asks_a_build_once), cmocka_unit_test(answers),
                                       cmocka_unit_test(plugins)};
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
