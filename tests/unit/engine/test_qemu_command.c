/* The command line with which QEMU is started (qemu_command.h). */
#include "engine/qemu_command.h"

#include "base/alloc.h"
#include "base/str.h"
#include "unit.h"

#include <stdio.h>

static struct as_program *program;
static struct as_qemu_setup setup;
static struct as_qemu_command command;

static int set_up(void **state)
{
    program = as_alloc(sizeof *program);
    strcpy(program->path, "/bin/prog");
    setup = (struct as_qemu_setup){.qemu = "/usr/bin/qemu", .plugin = "/lib/plugin.so", .memory = "/proc/1/fd/3"};
    return 0;
}

static int tear_down(void **state)
{
    as_qemu_command_free(&command);
    free(program);
    return 0;
}

static void expect_list(char **list, const char *want)
{
    struct as_str text = {0};
    for (; *list; list++)
        as_str_addf(&text, "%s|", *list);
    assert_string_equal(as_str_get(&text), want);
    as_str_free(&text);
}

static void build(char *const *argv, char *const *envp)
{
    as_qemu_command_free(&command);
    assert_true(as_qemu_command_build(&command, &setup, program, argv, envp));
}

static char *const argv[] = {"prog", "one", "two", NULL}, *const nothing[] = {NULL};

static void plain(void **state)
{
    build(argv, nothing);
    expect_list(
        command.argv,
        "/usr/bin/qemu|-plugin|/lib/plugin.so,memory=/proc/1/fd/3,process=0|-seed|1|-0|prog|/bin/prog|one|two|");
    expect_list(command.envp, "");
    setup.sysroot = "";
    setup.process = 7;
    setup.plugin = "/a,b/p,.so"; /* QEMU would cut it at a comma */
    build(nothing, nothing);
    expect_list(command.argv,
                "/usr/bin/qemu|-plugin|/a,,b/p,,.so,memory=/proc/1/fd/3,process=7|-seed|1|-0||/bin/prog|");
    setup.sysroot = "/root of it";
    strcpy(program->path, "-prog");
    build(argv, nothing);
    expect_list(command.argv, "/usr/bin/qemu|-plugin|/a,,b/p,,.so,memory=/proc/1/fd/3,process=7|-seed|1|-L|/root of "
                              "it|-0|prog|./-prog|one|two|");
}

/* QEMU reverses the environment; what would steer QEMU itself comes as an option. */
static void environment(void **state)
{
    static char *const envp[] = {"A=1",    "LD_PRELOAD=x.so", "QEMU_STRACE=1", "LD_LIBRARY_PATH=a,b",
                                 "LD_ODD", "LDX=2",           "B=3",           NULL};
    build(argv, envp);
    expect_list(command.argv, "/usr/bin/qemu|-plugin|/lib/plugin.so,memory=/proc/1/fd/3,process=0|-seed|1|"
                              "-E|QEMU_STRACE=1|-E|LD_PRELOAD=x.so|-0|prog|/bin/prog|one|two|");
    expect_list(command.envp, "B=3|LDX=2|LD_ODD|LD_LIBRARY_PATH=a,b|A=1|");
}

static void script(void **state)
{
    program->is_script = true;
    program->n_script_args = 2;
    strcpy(program->script_args[0], "-x");
    strcpy(program->script_args[1], "inner");
    strcpy(program->script_path, "./script");
    build(argv, nothing);
    expect_list(command.argv, "/usr/bin/qemu|-plugin|/lib/plugin.so,memory=/proc/1/fd/3,process=0|-seed|1|"
                              "-0|/bin/prog|/bin/prog|-x|inner|./script|one|two|");
    program->is_script = false; /* what was left there does not matter */
    build(argv, nothing);
    expect_list(
        command.argv,
        "/usr/bin/qemu|-plugin|/lib/plugin.so,memory=/proc/1/fd/3,process=0|-seed|1|-0|prog|/bin/prog|one|two|");
}

/* What lies on top of the stack: the path, the environment, the arguments and the name, each with its zero byte. */
static size_t bytes_on_the_stack(size_t behind)
{
    size_t bytes = strlen(program->path) + 1;
    for (char **one = command.envp; *one; one++)
        bytes += strlen(*one) + 1;
    for (char **one = command.argv + behind; *one; one++)
        bytes += strlen(*one) + 1;
    return bytes + strlen(command.argv[behind - 2]) + 1;
}

/* The variable comes last and fills up what the others leave of a granule, whatever it had; without it nothing is filled up. */
static void padding(void **state)
{
    static char *const envps[][4] = {{"A=1", AS_PADDING_VARIABLE "xxx", "B=2", NULL},
                                     {AS_PADDING_VARIABLE, "A=1", "B=2", NULL},
                                     {"A=1", "B=22222222222", AS_PADDING_VARIABLE "y", NULL}};
    enum { BEHIND = 8 }; /* arguments before the program's */
    for (size_t i = 0; i < 3; i++) {
        build(argv, envps[i]);
        assert_int_equal(strncmp(command.envp[0], "B=2", 3), 0);
        assert_string_equal(command.envp[1], "A=1");
        assert_null(command.envp[3]);
        assert_string_equal(command.argv[BEHIND], "one");
        const char *filled = command.envp[2] + strlen(AS_PADDING_VARIABLE);
        assert_int_equal(strncmp(command.envp[2], AS_PADDING_VARIABLE, strlen(AS_PADDING_VARIABLE)), 0);
        assert_true(strlen(filled) > 0 && strspn(filled, "x") == strlen(filled));
        assert_int_equal(bytes_on_the_stack(BEHIND) % AS_PADDING_GRANULE, 0);
    }
}

static void loader(void **state)
{
    assert_true(as_program_has_loader(program, NULL));
    program->dynamic = true;
    strcpy(program->elf_interpreter, "/nonexistent/ld.so");
    assert_false(as_program_has_loader(program, NULL));
    assert_false(as_program_has_loader(program, "/usr"));
    strcpy(program->elf_interpreter, "/self/maps");
    assert_false(as_program_has_loader(program, ""));
    assert_true(as_program_has_loader(program, "/proc"));
    strcpy(program->elf_interpreter, "/proc/self/maps"); /* beside the sysroot */
    assert_true(as_program_has_loader(program, "/proc"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(plain, set_up, tear_down),
        cmocka_unit_test_setup_teardown(environment, set_up, tear_down),
        cmocka_unit_test_setup_teardown(script, set_up, tear_down),
        cmocka_unit_test_setup_teardown(padding, set_up, tear_down),
        cmocka_unit_test_setup_teardown(loader, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
