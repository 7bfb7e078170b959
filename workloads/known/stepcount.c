/* Counts what an x86-64 program executes by stepping the processor through it one instruction at a time (ptrace), with
 * its threads and child processes. It shares nothing with Assay: no QEMU, no decoder but the few opcodes below. The
 * tests hold the table of known answers against it, so that an error in the table cannot agree with one in Assay.
 *
 * A step ends in one of these: the instruction completed (SIGTRAP), it completed as a system call that ends the task
 * (exit status), it did not complete because a signal came first or it faulted (any other stop), or nothing ran at all
 * because a handler was just entered (the kernel's own SIGTRAP right after a signal was passed on). A rep string
 * instruction or a gather may trap between its parts; it completes when the instruction pointer moves.
 *
 * Usage: stepcount PROGRAM [ARGS…]; the counts are one JSON document on stdout. Memory accesses are not counted.
 */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum kind { OTHER, CONDITIONAL, JUMP, CALL, RETURN, SYSTEM_CALL };
enum { MAX_TASKS = 256, CODE_BYTES = 15 };

struct counts {
    uint64_t instructions, branches, conditional, taken, calls, returns, syscalls;
};

struct task {
    pid_t id;
    bool alive, signalled;
    enum kind kind;      /* of the instruction about to execute, … */
    uint64_t at, behind; /* … its address and, for conditional branches, that of the next one */
    struct counts counts;
};

static struct task tasks[MAX_TASKS];
static int task_count, alive_count, process_count = 1;

static void die(const char *what)
{
    fprintf(stderr, "stepcount: %s: %s\n", what, strerror(errno));
    exit(125);
}

static struct task *task_of(pid_t id)
{
    for (int i = 0; i < task_count; i++)
        if (tasks[i].id == id && tasks[i].alive)
            return &tasks[i];
    if (task_count == MAX_TASKS) {
        fprintf(stderr, "stepcount: more than %d tasks\n", MAX_TASKS);
        exit(125);
    }
    tasks[task_count] = (struct task){.id = id, .alive = true};
    alive_count++;
    return &tasks[task_count++];
}

static enum kind kind_of_group5(uint8_t modrm)
{
    switch (modrm >> 3 & 7) {
    case 2:
    case 3:
        return CALL;
    case 4:
    case 5:
        return JUMP;
    default:
        return OTHER;
    }
}

/* *length: of the instruction, set for conditional branches alone. */
static enum kind classify(const uint8_t *code, size_t *length)
{
    size_t i = 0;
    while (i < 12 && (memchr("\x66\x67\xf2\xf3\x2e\x3e\x26\x36\x64\x65\xf0", code[i], 11) || (code[i] & 0xf0) == 0x40))
        i++;
    uint8_t op = code[i], next = code[i + 1];
    *length = i + (op == 0x0f ? 6 : 2);
    if ((op & 0xf0) == 0x70 || (op >= 0xe0 && op <= 0xe3) || (op == 0x0f && (next & 0xf0) == 0x80))
        return CONDITIONAL;
    if (op == 0xe9 || op == 0xeb)
        return JUMP;
    if (op == 0xe8)
        return CALL;
    if (op == 0xc2 || op == 0xc3)
        return RETURN;
    if (op == 0x0f && next == 0x05)
        return SYSTEM_CALL;
    return op == 0xff ? kind_of_group5(next) : OTHER;
}

static uint64_t pointer_of(const struct task *task)
{
    errno = 0;
    long value = ptrace(PTRACE_PEEKUSER, task->id, offsetof(struct user_regs_struct, rip), NULL);
    if (errno)
        die("cannot read the instruction pointer");
    return (uint64_t)value;
}

static void look_ahead(struct task *task)
{
    uint8_t code[CODE_BYTES + 1] = {0};
    size_t length;
    task->at = pointer_of(task);
    for (size_t want = CODE_BYTES; want > 0; want--) { /* less at the end of a mapping */
        struct iovec local = {code, want}, remote = {(void *)task->at, want};
        if (process_vm_readv(task->id, &local, 1, &remote, 1, 0) == (ssize_t)want)
            break;
    }
    task->kind = classify(code, &length);
    task->behind = task->at + length;
}

static void complete(struct task *task, bool ended)
{
    struct counts *counts = &task->counts;
    uint64_t now = ended ? 0 : pointer_of(task);
    if (task->kind == OTHER && now == task->at)
        return;
    counts->instructions++;
    counts->syscalls += task->kind == SYSTEM_CALL;
    counts->calls += task->kind == CALL;
    counts->returns += task->kind == RETURN;
    counts->conditional += task->kind == CONDITIONAL;
    bool jumps = task->kind == JUMP || task->kind == CALL || task->kind == RETURN;
    counts->branches += jumps || task->kind == CONDITIONAL;
    counts->taken += jumps || (task->kind == CONDITIONAL && now != task->behind);
}

/* The stop at the first instruction of a handler, before that executes. A signal without a handler has none. */
static bool entered_handler(const struct task *task)
{
    siginfo_t info = {0};
    return task->signalled && ptrace(PTRACE_GETSIGINFO, task->id, NULL, &info) == 0 && info.si_code == SIGTRAP;
}

static void resume(struct task *task, int signal_number)
{
    task->signalled = signal_number != 0;
    if (ptrace(PTRACE_SINGLESTEP, task->id, NULL, (void *)(uintptr_t)signal_number) < 0 && errno != ESRCH)
        die("cannot step");
}

static void on_stop(struct task *task, int status)
{
    int event = status >> 16, number = WSTOPSIG(status);
    if (event == PTRACE_EVENT_FORK || event == PTRACE_EVENT_VFORK)
        process_count++;
    if (event) {
        resume(task, 0); /* in the middle of a system call, or a new task's first stop */
        return;
    }
    int pass_on = 0;
    if (number != SIGTRAP)
        pass_on = number;
    else if (!entered_handler(task))
        complete(task, false);
    look_ahead(task);
    resume(task, pass_on);
}

/* A new task announces itself by a SIGSTOP (seen before or after its parent's event). */
static void on_change(pid_t id, int status)
{
    int before = task_count;
    struct task *task = task_of(id);
    if (WIFEXITED(status) || WIFSIGNALED(status)) {
        if (WIFEXITED(status) && task->kind == SYSTEM_CALL)
            complete(task, true);
        task->alive = false;
        alive_count--;
    } else if (task_count > before) {
        look_ahead(task);
        resume(task, 0);
    } else {
        on_stop(task, status);
    }
}

static int start(char **argv)
{
    pid_t child = fork();
    if (child < 0)
        die("cannot fork");
    if (child == 0) {
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0)
            die("cannot be traced");
        execv(argv[0], argv);
        die(argv[0]);
    }
    int status;
    if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status))
        exit(125);
    long options =
        PTRACE_O_EXITKILL | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXEC;
    if (ptrace(PTRACE_SETOPTIONS, child, NULL, (void *)options) < 0)
        die("cannot set options");
    on_change(child, status);
    return child;
}

static void print_counts(const struct counts *counts)
{
    printf("\"instructions\": %llu, \"branches\": %llu, \"conditional\": %llu, \"taken\": %llu, \"calls\": %llu, "
           "\"returns\": %llu, \"syscalls\": %llu",
           (unsigned long long)counts->instructions, (unsigned long long)counts->branches,
           (unsigned long long)counts->conditional, (unsigned long long)counts->taken,
           (unsigned long long)counts->calls, (unsigned long long)counts->returns,
           (unsigned long long)counts->syscalls);
}

static void print_all(void)
{
    struct counts total = {0};
    printf("{\"by_thread\": [");
    for (int i = 0; i < task_count; i++) {
        struct counts *counts = &tasks[i].counts;
        total.instructions += counts->instructions, total.branches += counts->branches;
        total.conditional += counts->conditional, total.taken += counts->taken, total.calls += counts->calls;
        total.returns += counts->returns, total.syscalls += counts->syscalls;
        printf("%s{", i ? ", " : "");
        print_counts(counts);
        printf("}");
    }
    printf("], ");
    print_counts(&total);
    printf(", \"threads\": %d, \"processes\": %d}\n", task_count, process_count);
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: stepcount PROGRAM [ARGS…]\n");
        return 2;
    }
    pid_t first = start(argv + 1);
    int result = 0;
    while (alive_count > 0) {
        int status;
        pid_t id = waitpid(-1, &status, __WALL);
        if (id < 0)
            die("cannot wait");
        on_change(id, status);
        if (id == first && WIFEXITED(status))
            result = WEXITSTATUS(status);
        else if (id == first && WIFSIGNALED(status))
            result = 128 + WTERMSIG(status);
    }
    print_all();
    return result;
}
