/* Two processes and the memory that they share: what goes to and fro is known.
 *
 *   anon      memory without a file that the child got by its fork
 *   file      each maps a file by itself, the child with another offset and so at another address
 *   sysv      System V memory, attached by each
 *   futex     as anon, but who waits sleeps in the kernel
 *   private   a private mapping: each has its own, so nothing goes to and fro. Pipes keep the two in step
 *
 * ROUNDS times the parent writes a word, which the child waits for and answers by the next: two hand-overs a round, all true sharing.
 * Then each adds ADDS times to a word of its own on the line behind that: false sharing.
 *
 * Usage: processes KIND [ROUNDS [ADDS]] (default 200, and as many). The parent prints the last word. */
#include <linux/futex.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096, WORDS_OF_LINE = 8 };

struct page {
    _Alignas(64) volatile uint64_t ball;
    _Alignas(64) volatile uint64_t beside[WORDS_OF_LINE];
};

static uint64_t rounds = 200, adds;
static bool sleeps; /* who waits for the ball */

/* The low half of the ball, which never has as many turns as it holds. */
static void call_futex(struct page *page, int call, uint64_t value)
{
    syscall(SYS_futex, &page->ball, call, (uint32_t)value, NULL, NULL, 0);
}

static void pass(struct page *page, uint64_t self)
{
    for (uint64_t i = 0; i < rounds; i++) {
        for (uint64_t seen; (seen = page->ball) != 2 * i + self;)
            if (sleeps)
                call_futex(page, FUTEX_WAIT, seen);
        page->ball = 2 * i + self + 1;
        if (sleeps)
            call_futex(page, FUTEX_WAKE, 1);
    }
}

static void add(struct page *page, uint64_t self)
{
    for (uint64_t i = 0; i < adds; i++)
        page->beside[self]++;
}

static void *mapped(int flags, int file, off_t offset)
{
    void *memory = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, flags, file, offset);
    if (memory == MAP_FAILED)
        exit(1);
    return memory;
}

/* Two pages of a file: the child maps both, and uses the second, which is the parent's first. */
static struct page *map_file(int file, uint64_t self)
{
    char *both = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, file, self ? 0 : PAGE);
    return both == MAP_FAILED ? NULL : (struct page *)(self ? both + PAGE : both);
}

static struct page *attach(int id)
{
    void *memory = shmat(id, NULL, 0);
    return memory == (void *)-1 ? NULL : memory;
}

static void keep_in_step(const int *pipes, uint64_t self)
{
    char byte = 0;
    if (write(pipes[self ? 3 : 1], &byte, 1) != 1 || read(pipes[self ? 0 : 2], &byte, 1) != 1)
        exit(1);
}

int main(int argc, char **argv)
{
    const char *kind = argc > 1 ? argv[1] : "";
    rounds = argc > 2 ? strtoull(argv[2], NULL, 10) : rounds;
    adds = argc > 3 ? strtoull(argv[3], NULL, 10) : rounds;
    char path[] = "/tmp/assay-processes-XXXXXX";
    int file = -1, id = -1, pipes[4];
    struct page *page = NULL;
    sleeps = strcmp(kind, "futex") == 0;
    if (strcmp(kind, "anon") == 0 || sleeps) {
        page = mapped(MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    } else if (strcmp(kind, "private") == 0) {
        page = mapped(MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    } else if (strcmp(kind, "file") == 0) {
        file = mkstemp(path);
        if (file < 0 || unlink(path) != 0 || ftruncate(file, 3 * PAGE) != 0)
            return 1;
    } else if (strcmp(kind, "sysv") == 0) {
        id = shmget(IPC_PRIVATE, PAGE, 0600);
    } else {
        fputs("usage: processes anon|file|sysv|futex|private [ROUNDS [ADDS]]\n", stderr);
        return 2;
    }
    if (pipe(pipes) != 0 || pipe(pipes + 2) != 0)
        return 1;
    pid_t child = fork();
    uint64_t self = child == 0;
    page = file >= 0 ? map_file(file, self) : id >= 0 ? attach(id) : page;
    if (child < 0 || !page)
        return 1;
    keep_in_step(pipes, self);
    if (strcmp(kind, "private") == 0)
        for (uint64_t i = 0; i < rounds; i++)
            page->ball = i;
    else
        pass(page, self);
    add(page, self);
    keep_in_step(pipes, self);
    if (self)
        return 0;
    waitpid(child, NULL, 0);
    if (id >= 0)
        shmctl(id, IPC_RMID, NULL);
    printf("%lu\n", (unsigned long)page->ball);
    return 0;
}
