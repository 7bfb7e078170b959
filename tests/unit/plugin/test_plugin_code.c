/* What the plugin tells of code, of programs that are executed and of forked processes, without QEMU: blocks are made up, the memory is this
 * process's own, and /bin/echo is executed in the place of QEMU. */
#include "lane_bed.h"

#include "plugin/code.h"
#include "plugin/follow.h"
#include "plugin/shared.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>

/* ---- what QEMU has ---- */

enum { BASE = 0x10000 /* guest addresses are lower by so much */, LONGEST = 15, INSNS = 3, LONG_WORD = 4098 };

struct qemu_plugin_insn {
    uint8_t bytes[20];
    size_t size;
    uint64_t address;
};
struct qemu_plugin_tb {
    struct qemu_plugin_insn insns[INSNS];
};

#include "made_insns.h"

void *qemu_plugin_insn_haddr(const struct qemu_plugin_insn *insn)
{
    return (void *)(uintptr_t)(insn->address + BASE);
}

char *qemu_plugin_path_to_binary(void)
{
    return strdup("/nowhere/program");
}

/* ---- messages ---- */

static const uint64_t *at; /* the next message of the code lane */

static void open_code(void)
{
    as_plugin.arch = AS_ARCH_X86_64;
    as_code_start_process(2);
    at = as_plugin.code->chunk;
}

/* Returns its words. */
static const uint64_t *expect(enum as_wire_message kind, size_t *n)
{
    assert_true(at < as_plugin.code->write);
    assert_int_equal(*at >> AS_WIRE_EVENT_SHIFT, kind);
    *n = *at & UINT32_MAX;
    const uint64_t *words = at + 1;
    at += 1 + *n;
    assert_true(at <= as_plugin.code->write);
    return words;
}

static void expect_text(const uint64_t *words, size_t n, const char *text)
{
    assert_int_equal(n, strlen(text) / 8 + 1);
    assert_string_equal((const char *)words, text);
}

static void expect_no_more(void)
{
    assert_ptr_equal(at, as_plugin.code->write);
    assert_int_equal(as_plugin.code->published, (uint64_t)(at - as_plugin.code->chunk));
}

static void expect_module(uintptr_t first, uintptr_t end, uint64_t offset, const char *path)
{
    size_t n;
    const uint64_t *words = expect(AS_WIRE_MODULE, &n);
    assert_int_equal(words[0], 5);
    assert_int_equal(words[1], first - BASE);
    assert_int_equal(words[2], end - BASE);
    assert_int_equal(words[3], offset);
    expect_text(words + 4, n - 4, path);
}

static uint32_t report(uintptr_t host, bool recorded)
{
    struct qemu_plugin_tb tb = {{{"\x90", 1, host - BASE},
                                 {"abcdefghijklmno", LONGEST, host - BASE + 1},
                                 {"ABCDEFGHIJKLMNOPQRST", 20, host - BASE + 16}}};
    return as_code_report_block(&tb, INSNS, recorded);
}

static void expect_block(uintptr_t host, uint32_t id, bool recorded)
{
    static const char bytes[INSNS][17] = {"\x90\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1", "abcdefghijklmno\17",
                                          "ABCDEFGHIJKLMNO\17"}; /* no instruction is longer */
    size_t n;
    const uint64_t *words = expect(AS_WIRE_CODE, &n);
    assert_int_equal(n, 4 + 2 * INSNS);
    assert_int_equal(words[0], 5 | (recorded ? 0 : AS_WIRE_CODE_BARE));
    assert_int_equal(words[1], id);
    assert_int_equal(words[2], INSNS);
    assert_int_equal(words[3], host - BASE);
    for (size_t i = 0; i < INSNS; i++)
        assert_memory_equal(words + 4 + 2 * i, bytes[i], 16);
}

/* ---- code ---- */

static uintptr_t map_page(int flags, int fd, off_t offset)
{
    void *page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | flags, fd, offset);
    assert_true(page != MAP_FAILED);
    return (uintptr_t)page;
}

static int make_file(char *path)
{
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
    assert_true(fd >= 0 && ftruncate(fd, 3 * 4096) == 0);
    return fd;
}

static void blocks(void *unused)
{
    char path[] = "/tmp/assay-plugin-XXXXXX", file[64], other[64];
    size_t n;
    assert_non_null(mkdtemp(path));
    snprintf(file, sizeof file, "%s/new\nline\nname", path);
    snprintf(other, sizeof other, "%s/other", path);
    int fd = make_file(file), second = make_file(other);
    uintptr_t page = map_page(0, fd, 4096), between = page + 100;
    open_code();
    assert_int_equal(as_plugin.code->is_code, 1);
    const uint64_t process[] = {3, 2, 5, BED_PID, AS_ARCH_X86_64};
    assert_memory_equal(expect(AS_WIRE_PROCESS, &n), process, sizeof process);
    assert_int_equal(n, 5);
    assert_int_equal(report(between, false), 0);
    assert_true(as_plugin.guest_base_known && as_plugin.guest_base == BASE);
    const uint64_t *program = expect(AS_WIRE_PROGRAM, &n);
    assert_int_equal(program[0], 5);
    expect_text(program + 1, n - 1, "/nowhere/program");
    expect_module(page, page + 4096, 4096, file);
    expect_block(between, 0, false);
    assert_int_equal(report(page, true), 1);
    expect_block(page, 1, true);
    as_code_maps_changed(); /* not there */
    report(page + 4095, true);
    expect_block(page + 4095, 2, true);
    assert_true(mmap((void *)page, 4096, PROT_READ, MAP_PRIVATE | MAP_FIXED, second, 8192) == (void *)page);
    report(page, true); /* nobody has said so */
    expect_block(page, 3, true);
    as_code_maps_changed();
    report(page, true);
    expect_module(page, page + 4096, 8192, other);
    expect_block(page, 4, true);
    expect_no_more();
    unlink(file);
    unlink(other);
    rmdir(path);
}

/* Memory without a file: the runtime's jitdump tells what is there. */
static void made_code(void *unused)
{
    char path[] = "/tmp/assay-plugin-XXXXXX", dump[64], wrong[64];
    size_t n;
    assert_non_null(mkdtemp(path));
    snprintf(dump, sizeof dump, "%s/jit-%d.dump", path, BED_PID);
    snprintf(wrong, sizeof wrong, "%s/jit-%d.dump", path, BED_PID + 1);
    int other = make_file(wrong), fd = make_file(dump);
    map_page(0, other, 0);
    uintptr_t page = map_page(MAP_ANONYMOUS, -1, 0);
    assert_int_equal(munmap((void *)page, 4096), 0); /* so that what follows lies beside nothing of its kind */
    page = (uintptr_t)mmap((void *)(uintptr_t)0x7000000000, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    open_code();
    expect(AS_WIRE_PROCESS, &n);
    report(page, true);
    expect(AS_WIRE_PROGRAM, &n);
    expect_module(page, page + 4096, 0, "");
    expect_block(page, 0, true);
    uintptr_t mapped = map_page(0, fd, 0);
    as_code_maps_changed();
    report(page, true);
    const uint64_t *words = expect(AS_WIRE_DUMP, &n);
    assert_int_equal(words[0], 5);
    expect_text(words + 1, n - 1, dump);
    expect_block(page, 1, true);
    as_code_maps_changed();
    report(page, true); /* it is known */
    expect_block(page, 2, true);
    report(mapped, true);
    expect_module(mapped, mapped + 4096, 0, dump);
    expect_block(mapped, 3, true);
    expect_no_more();
    unlink(dump);
    unlink(wrong);
    rmdir(path);
}

/* So many mappings that they need more room; the first and the last are found again. */
static void many_modules(void *unused)
{
    enum { MANY = 100 };
    uintptr_t pages[MANY];
    size_t n;
    int fd = open("/proc/self/exe", O_RDONLY);
    open_code();
    expect(AS_WIRE_PROCESS, &n);
    for (uint32_t i = 0; i < MANY; i++) { /* of one file, which the kernel does not make one mapping of */
        pages[i] = (uintptr_t)mmap((void *)(uintptr_t)(0x7000000000 + i * UINT64_C(8192)), 4096, PROT_READ, MAP_PRIVATE,
                                   fd, 0);
        report(pages[i], true);
        if (i == 0)
            expect(AS_WIRE_PROGRAM, &n);
        assert_int_equal(expect(AS_WIRE_MODULE, &n)[1], pages[i] - BASE);
        expect_block(pages[i], i, true);
    }
    for (uint32_t i = 0; i < MANY; i++) {
        report(pages[i], true);
        expect_block(pages[i], MANY + i, true);
    }
    expect_no_more();
}

static void test_code(void **state)
{
    bed_run(blocks, NULL);
    bed_run(made_code, NULL);
    bed_run(many_modules, NULL);
}

/* ---- words of QEMU ---- */

static void notes(void *unused)
{
    uint64_t registers[32] = {[16] = 0x405678};
    size_t n;
    struct as_wire_lane *lane = bed_start(0);
    lane->cpu = registers;
    uint64_t *before = lane->write;
    open_code();
    expect(AS_WIRE_PROCESS, &n);
    as_code_capture_stderr();
    fputs("something is wrong\n", stderr);
    fflush(stderr);
    const uint64_t *words = expect(AS_WIRE_NOTE, &n);
    expect_text(words, n, "something is wrong\n");
    assert_ptr_equal(lane->write, before);
    fputs("qemu: uncaught target signal 11 (Segmentation fault) - core dumped\n", stderr);
    fflush(stderr);
    expect(AS_WIRE_NOTE, &n);
    assert_int_equal(before[0], (uint64_t)AS_WIRE_DEATH << AS_WIRE_EVENT_SHIFT | 11);
    assert_int_equal(before[1], 0x405678);
    assert_int_equal(lane->published, (uint64_t)(before + 2 - lane->chunk));
    as_code_report_execute("/bin/true", true);
    words = expect(AS_WIRE_EXECUTE, &n);
    assert_int_equal(words[0], 1);
    expect_text(words + 1, n - 1, "/bin/true");
    as_code_lock_for_fork(); /* a thread dies that holds the lock: its words are lost */
    fputs("lost\n", stderr);
    fflush(stderr);
    as_code_unlock_after_fork();
    expect_no_more();
}

static void test_notes(void **state)
{
    bed_run(notes, NULL);
}

/* ---- programs that are executed ---- */

static char program[4096]; /* this one */

static void execute(const char *path, char **argv, char **envp)
{
    as_follow_execve((uintptr_t)path, (uintptr_t)argv, (uintptr_t)envp);
}

static void expect_execution(const char *path)
{
    size_t n;
    const uint64_t *words = expect(AS_WIRE_EXECUTE, &n);
    assert_int_equal(words[0], 0);
    expect_text(words + 1, n - 1, path);
}

static void open_follow(void)
{
    as_plugin.pid = getpid();
    wire->follow_exec = 1;
    strcpy(wire->qemu[AS_ARCH_X86_64], "/bin/echo");
    strcpy(wire->qemu[AS_ARCH_RISCV64], "/bin/echo");
    strcpy(wire->plugin, "/nowhere/engine.so");
    strcpy(wire->memory, "/proc/1/fd/3");
}

/* They run by themselves, or do not run at all. */
static void not_followed(void *unused)
{
    char *argv[] = {"program", NULL}, *envp[] = {NULL};
    char link[32];
    size_t n;
    open_code();
    open_follow();
    expect(AS_WIRE_PROCESS, &n);
    execute("/nowhere/at/all", argv, envp);
    execute("/etc/passwd", argv, envp); /* which is no program */
    execute((char *)8, argv, envp);
    expect_no_more();
    wire->follow_exec = 0;
    execute(program, argv, envp);
    expect_execution(program);
    wire->follow_exec = 1;
    execute("/proc/self/exe", argv, envp);
    expect_execution("/proc/self/exe");
    int fd = open(program, O_RDONLY);
    snprintf(link, sizeof link, "/dev/fd/%d", fd);
    execute(link, argv, envp);
    expect_execution(link);
    wire->qemu[AS_ARCH_X86_64][0] = wire->qemu[AS_ARCH_RISCV64][0] = '\0';
    execute(program, argv, envp);
    expect_execution(program);
    atomic_store(&wire->detached, 1);
    open_follow();
    execute(program, argv, envp);
    expect_execution(program);
    expect_no_more();
}

/* Words may be longer than a page, and end where their memory does. */
static void followed(void *unused)
{
    char *envp[] = {"HOME=/nowhere", NULL};
    char *pages = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    munmap(pages + 2 * 4096, 4096);
    memset(pages, 'x', 2 * 4096 - 1);
    char *argv[] = {"program", "one", "", pages + 2 * 4096 - 5, pages + 2 * 4096 - 1 - LONG_WORD, NULL};
    open_code();
    open_follow();
    dup2(STDERR_FILENO, STDOUT_FILENO);
    execute(program, (char **)8, envp); /* where nothing can be read */
    execute(program, argv, (char **)8);
    execute(program, argv, envp);
}

static void test_executions(void **state)
{
    static const char begin[] = "-plugin /nowhere/engine.so,memory=/proc/1/fd/3,process=3 ";
    char said[1 << 15], end[sizeof program + 32], longest[LONG_WORD + 2];
    bed_run(not_followed, NULL);
    assert_int_equal(unit_run_child(followed, NULL, said, sizeof said), 0);
    memset(longest, 'x', LONG_WORD);
    strcpy(longest + LONG_WORD, "\n");
    snprintf(end, sizeof end, "%s one  xxxx ", program);
    size_t tail = strlen(end) + LONG_WORD + 1;
    assert_true(strlen(said) >= tail);
    assert_memory_equal(said, begin, sizeof begin - 1);
    assert_memory_equal(said + strlen(said) - tail, end, strlen(end));
    assert_string_equal(said + strlen(said) - LONG_WORD - 1, longest);
}

/* ---- forked processes ---- */

static void forks(void *unused)
{
    size_t n;
    as_follow_setup();
    bed_start(0);
    struct as_wire_lane *second = bed_start(2);
    open_code();
    atomic_store(&wire->next_process, 40);
    as_follow_note_syscall(2);
    pid_t child = fork();
    if (child == 0) {
        at = as_plugin.code->chunk;
        const uint64_t *words = expect(AS_WIRE_PROCESS, &n), *started = as_lane_of[2]->chunk;
        assert_true(words[0] == 41 && words[1] == 3 && words[2] == 5 && words[3] == (uint64_t)getpid());
        expect_no_more();
        assert_ptr_equal(as_lane_of[0], &as_lane_unclaimed);
        assert_ptr_not_equal(as_lane_of[2], second);
        assert_int_equal(started[0], (uint64_t)AS_WIRE_THREAD_START << AS_WIRE_EVENT_SHIFT | 41);
        assert_int_equal(started[3], second->thread);
        as_code_lock_for_fork(); /* nobody has it */
        as_code_unlock_after_fork();
        _exit(7);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 7 << 8);
    assert_int_equal(as_plugin.process, 3);
    as_code_lock_for_fork();
    as_code_unlock_after_fork();
}

static void *die_with_it(void *unused)
{
    pthread_mutex_lock(&wire->reader_alive);
    return NULL;
}

/* `context`: the reader has let go of the process. */
static void loses_its_reader(void *context)
{
    pthread_t reader;
    pthread_mutexattr_t robust;
    pthread_mutexattr_init(&robust);
    pthread_mutexattr_setrobust(&robust, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&wire->reader_alive, &robust);
    atomic_store(&wire->detached, *(bool *)context);
    pthread_create(&reader, NULL, die_with_it, NULL);
    pthread_join(reader, NULL);
    as_follow_watch_reader();
    if (!*(bool *)context)
        for (;;)
            pause();
}

static void test_forked_processes(void **state)
{
    char text[256];
    bed_run(forks, NULL);
    for (int detached = 0; detached < 2; detached++)
        assert_int_equal(unit_run_child(loses_its_reader, &(bool){detached}, text, sizeof text),
                         detached ? 0 : SIGKILL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_code), cmocka_unit_test(test_notes),
                                       cmocka_unit_test(test_executions), cmocka_unit_test(test_forked_processes)};
    ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
    if (n <= 0)
        return 2;
    bed_open();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
