/* How a program is started and waited for (launch.h). A script stands for QEMU and says what it was given. */
#include "engine/launch.h"

#include "base/signals.h"
#include "engine/find_qemu.h"
#include "engine/gear.h"
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/personality.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define VERSION "[ \"$1\" = --version ] && { echo qemu version 7.2; exit; }\n"

static char folder[] = "/tmp/assay-launch.XXXXXX", qemu[64], said[64];
static struct as_child child;
static struct as_error error;
static struct as_engine_options options;
static char *const argv[] = {"/bin/true", "an argument", NULL};

static int make_folder(void **state)
{
    if (!mkdtemp(folder))
        return -1;
    snprintf(qemu, sizeof qemu, "%s/qemu", folder);
    snprintf(said, sizeof said, "%s/said", folder);
    return 0;
}

static int remove_folder(void **state)
{
    unlink(qemu);
    unlink(said);
    return rmdir(folder);
}

static int set_up(void **state)
{
    options = (struct as_engine_options)AS_ENGINE_OPTIONS_DEFAULT;
    options.qemu = qemu;
    options.plugin = "/a/plugin.so";
    options.argv = argv;
    error = (struct as_error)AS_ERROR_INIT;
    return 0;
}

/* %s in the script is the file in which it says what there is to say. */
static void write_qemu(const char *script)
{
    FILE *file = fopen(qemu, "w");
    assert_non_null(file);
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    fprintf(file, script, said);
    assert_true(fclose(file) == 0 && chmod(qemu, 0700) == 0);
    unlink(said);
}

static void start_and_wait(void)
{
    if (!as_child_start(&child, &options, &error))
        fail_msg("%s", error.message);
    as_child_wait(&child);
    assert_true(child.ended);
}

static void expect_said(const char *want)
{
    char text[4096] = "";
    FILE *file = fopen(said, "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    assert_string_equal(text, want);
}

/* What it is told, how it ends, and that whoever looks at the doorbell learns of that. */
static void its_life(void **state)
{
    char want[512];
    static char *const environment[] = {"ONE=1", "QEMU_LOG=x", NULL};
    options.environment = environment;
    write_qemu("#!/bin/sh\n" VERSION
               "for word; do echo \"<$word>\"; done >%1$s\necho \"$ONE,$QEMU_LOG,$HOME\" >>%1$s\nexit 7\n");
    start_and_wait();
    assert_true(WIFEXITED(child.wait_status) && WEXITSTATUS(child.wait_status) == 7);
    assert_int_equal(child.wire->doorbell, 1);
    assert_false(child.reaper_runs);
    snprintf(want, sizeof want,
             "<-plugin>\n<%s,memory=%s,process=0>\n<-seed>\n<1>\n<-E>\n<QEMU_LOG=x>\n<-0>\n</bin/true>\n</bin/"
             "true>\n<an argument>\n1,,\n",
             options.plugin, child.wire->memory);
    expect_said(want);
    as_child_free(&child);
    assert_true(child.memory == -1 && !child.wire && child.pid == 0);
}

/* The memory is the child's, too, by the name that it is given. */
static void shared_memory(void **state)
{
    write_qemu("#!/bin/sh\n" VERSION "exit 0\n");
    start_and_wait();
    int same = open(child.wire->memory, O_RDONLY | O_CLOEXEC);
    struct as_wire_header head;
    assert_true(same >= 0);
    assert_int_equal(pread(same, &head, sizeof head, 0), sizeof head);
    struct stat file;
    assert_int_equal(fstat(same, &file), 0);
    assert_int_equal(file.st_size, AS_WIRE_SIZE);
    close(same);
    assert_true(head.magic == AS_WIRE_MAGIC && head.version == AS_WIRE_VERSION && head.header_size == sizeof head);
    assert_string_equal(head.plugin, "/a/plugin.so");
    assert_string_equal(head.qemu[AS_ARCH_X86_64], qemu);
    assert_string_equal(head.qemu[AS_ARCH_RISCV64], ""); /* one that was given is for one architecture */
    assert_true(head.follow_exec);
    assert_int_equal(head.detached, 0);
    assert_int_equal(fcntl(child.memory, F_GETFD), FD_CLOEXEC);
    assert_int_equal(pthread_mutex_trylock(&child.wire->reader_alive), EBUSY); /* as long as we live */
    as_child_free(&child);
}

static struct as_wire_header header_of(void)
{
    write_qemu("#!/bin/sh\n" VERSION "exit 0\n");
    start_and_wait();
    struct as_wire_header head = *child.wire;
    as_child_free(&child);
    return head;
}

/* What options come to in the header. */
static void header(void **state)
{
    options.no_follow = true;
    options.window = 5000;
    options.stacks = true;
    struct as_wire_header head = header_of();
    assert_true(!head.follow_exec && head.window == 5000 && head.stacks && !head.in_step);
    assert_int_equal(head.stamped, 0);
    options.handovers = true;
    options.stacks = false;
    head = header_of();
    assert_true(head.stamped == AS_WIRE_STAMPED_THREADS && !head.stacks);
    options.causal = true;
    head = header_of();
    assert_true(head.stamped == AS_WIRE_STAMPED && head.in_step && head.window == 1000);
    options.window = 300;
    assert_int_equal(header_of().window, 300);
    options.window = 0;
    assert_int_equal(header_of().window, 1000);
    options.deterministic = true;
    head = header_of();
    assert_true(!head.in_step && head.window == 0);
}

/* The other architecture's QEMU is for a program that this one executes. */
static void qemus_on_the_path(void **state)
{
    struct as_qemu here, there;
    struct as_error ignored = AS_ERROR_INIT;
    options.qemu = NULL;
    bool both =
        as_qemu_find(AS_ARCH_X86_64, NULL, &here, &ignored) && as_qemu_find(AS_ARCH_RISCV64, NULL, &there, &ignored);
    if (!both)
        unit_skip("not both of QEMU's programs are installed");
    options.plugin = "/nonexistent/plugin.so"; /* QEMU ends at once */
    options.discard_stdout = true;
    int kept = dup(STDERR_FILENO), nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    dup2(nowhere, STDERR_FILENO);
    start_and_wait();
    dup2(kept, STDERR_FILENO);
    close(kept);
    close(nowhere);
    assert_string_equal(child.wire->qemu[AS_ARCH_X86_64], here.path);
    assert_string_equal(child.wire->qemu[AS_ARCH_RISCV64], there.path);
    assert_string_equal(child.wire->sysroot[AS_ARCH_RISCV64], as_qemu_sysroot(AS_ARCH_RISCV64));
    as_child_free(&child);
}

/* What the script writes to stdout while ours is `out` and the standard error `err`. */
static void write_to(const char *out, const char *err)
{
    int outs = dup(STDOUT_FILENO), errs = dup(STDERR_FILENO);
    int to = open(out, O_WRONLY | O_APPEND | O_CLOEXEC), log = open(err, O_WRONLY | O_APPEND | O_CLOEXEC);
    fflush(stdout);
    dup2(to, STDOUT_FILENO);
    dup2(log, STDERR_FILENO);
    bool ok = as_child_start(&child, &options, &error);
    dup2(outs, STDOUT_FILENO);
    dup2(errs, STDERR_FILENO);
    close(outs);
    close(errs);
    close(to);
    close(log);
    assert_true(ok);
    as_child_wait(&child);
    as_child_free(&child);
}

static void clear_said(void)
{
    FILE *file = fopen(said, "w");
    assert_true(file && fclose(file) == 0);
}

static void its_output(void **state)
{
    write_qemu("#!/bin/sh\n" VERSION "echo out\n");
    clear_said();
    write_to(said, "/dev/null");
    expect_said("out\n");
    options.discard_stdout = true;
    clear_said();
    write_to(said, "/dev/null");
    expect_said("");
    options.discard_stdout = false;
    options.stdout_to_stderr = true;
    write_to("/dev/null", said);
    expect_said("out\n");
}

/* Addresses are not random, and limited where nothing else limits them. */
static void its_process(void **state)
{
    write_qemu("#!/bin/sh\n" VERSION "cat /proc/self/personality >%1$s\nulimit -v >>%1$s\n");
    start_and_wait();
    as_child_free(&child);
    FILE *file = fopen(said, "r");
    unsigned persona;
    unsigned long long kilobytes;
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%x %llu", &persona, &kilobytes), 2);
    fclose(file);
    assert_int_equal(persona & ADDR_NO_RANDOMIZE, ADDR_NO_RANDOMIZE);
    unsigned long long memory = (unsigned long long)sysconf(_SC_PHYS_PAGES) *
                                (unsigned long long)sysconf(_SC_PAGESIZE) / 1024,
                       least = 96ULL << 20;
    assert_int_equal(kilobytes, 2 * memory > least ? 2 * memory : least);
}

/* A file that answers and then turns out to be no program: what the kernel says comes back. */
static void cannot_be_run(void **state)
{
    char plain[80];
    snprintf(plain, sizeof plain, "%s.plain", qemu);
    write_qemu("#!/bin/sh\n" VERSION);
    FILE *file = fopen(qemu, "w");
    assert_non_null(file);
    fprintf(file, "#!/bin/sh\necho qemu version 7.2\nprintf nothing >%s\nmv %s %s\n", plain, plain, qemu);
    assert_true(fclose(file) == 0 && chmod(qemu, 0700) == 0);
    assert_false(as_child_start(&child, &options, &error));
    assert_int_equal(error.status, AS_EXIT_CANNOT_RUN);
    assert_non_null(strstr(error.message, "qemu cannot be run: Permission denied"));
    assert_true(child.memory == -1 && !child.wire);
}

static void errors(void **state)
{
    static char *const gone[] = {"/nonexistent/program", NULL};
    options.argv = gone;
    write_qemu("#!/bin/sh\n" VERSION);
    assert_false(as_child_start(&child, &options, &error));
    assert_int_equal(error.status, AS_EXIT_NOT_FOUND);
    options.argv = argv;
    options.qemu = "/nonexistent/qemu";
    assert_false(as_child_start(&child, &options, &error));
    assert_non_null(strstr(error.message, "/nonexistent/qemu"));
    assert_true(child.memory == -1 && !child.wire);
}

/* One that goes on is killed, and waited for. */
static void freed_while_it_runs(void **state)
{
    write_qemu("#!/bin/sh\n" VERSION "exec sleep 1000\n");
    assert_true(as_child_start(&child, &options, &error));
    pid_t pid = child.pid;
    assert_int_equal(kill(pid, 0), 0);
    as_child_free(&child);
    assert_int_equal(kill(pid, 0), -1);
    assert_int_equal(errno, ESRCH);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(its_life, set_up),
        cmocka_unit_test_setup(shared_memory, set_up),
        cmocka_unit_test_setup(header, set_up),
        cmocka_unit_test_setup(qemus_on_the_path, set_up),
        cmocka_unit_test_setup(its_output, set_up),
        cmocka_unit_test_setup(its_process, set_up),
        cmocka_unit_test_setup(cannot_be_run, set_up),
        cmocka_unit_test_setup(errors, set_up),
        cmocka_unit_test_setup(freed_while_it_runs, set_up),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
