/* Programs with known answers for the native samplers: `native_victim WHAT [ARGUMENTS]`.
 *
 *   shares N             seven_tenths and three_tenths, called in turn: that is how their time divides
 *   threads T N          T threads, each with that work
 *   held T N             T threads that work until a byte comes, and then do that work; writes a byte when all are there
 *   short N              N threads, one after the other, that end at once
 *   exec PROGRAM ARGS…   becomes another program
 *   time FILE PROGRAM …  runs it and writes its seconds, of the clock and of the processors, to FILE
 *   close N              closes every descriptor above 2, then works
 *   block N              blocks every signal, then works
 *   die N                works, then dies by SIGSEGV
 *   daemon N FILE        forks twice, the parent ends, the grandchild works and writes "done" to FILE; if FILE.wait is
 *                        there, when it is no more (a minute at most)
 *   forks P N            P children, each with that work
 *   linger N FILE        works and writes "done" to FILE
 *   deep N               outer_call, middle_call, inner_call, without frame pointers
 *   tall N               tower calls itself 40 times, with frames of 600 bytes: more than a copy of the stack holds
 *   faults N             N page faults, one page after the other of 4096, round and round
 *   churn N T            T threads at a time, each starts the next in its place and ends, for N milliseconds
 *   phases TIME DIR      first_phase until the clock says TIME (seconds since 1970; 0: for a while), then, each when DIR has
 *                        the file go.2 and go.3, second_phase and third_phase for a while. Writes idle.2 and idle.3 before
 *                        it waits, which takes next to no processor time. The second lies between markers 1 and 2
 *   accesses N           loads from and stores to a table whose address it prints first; waits for a byte
 *   mix N                the same with two loads and a store in one loop, each on a third of the table
 */
#include "apart.h"
#include "assay/marker.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ROUND = 20000, FAULT_PAGES = 4096 };

static uint64_t spin(uint64_t count)
{
    uint64_t x = count;
    while (count--)
        __asm__ volatile("imul $3, %0, %0" : "+r"(x)); /* takes three cycles, whatever is around it */
    return x;
}

UNIT_APART static uint64_t seven_tenths(void)
{
    __asm__ volatile("");
    return spin(7 * ROUND);
}

UNIT_APART static uint64_t three_tenths(void)
{
    __asm__ volatile("nop");
    return spin(3 * ROUND);
}

static void work(long n)
{
    for (long i = 0; i < n; i++) {
        seven_tenths();
        three_tenths();
    }
}

static void *work_thread(void *argument)
{
    work((long)(intptr_t)argument);
    return NULL;
}

static void *end_at_once(void *argument)
{
    return argument;
}

static int run_threads(int n, void *(*body)(void *), void *argument, int at_a_time)
{
    pthread_t threads[256];
    for (int done = 0; done < n;) {
        int batch = n - done < at_a_time ? n - done : at_a_time;
        for (int i = 0; i < batch; i++)
            if (pthread_create(&threads[i], NULL, body, argument) != 0)
                return 1;
        for (int i = 0; i < batch; i++)
            pthread_join(threads[i], NULL);
        done += batch;
    }
    return 0;
}

static atomic_bool let_go;

static void *work_held(void *argument)
{
    while (!let_go)
        work(1);
    return work_thread(argument);
}

static int run_held(int n, long rounds)
{
    pthread_t threads[256];
    for (int i = 0; i < n; i++)
        if (pthread_create(&threads[i], NULL, work_held, (void *)(intptr_t)rounds) != 0)
            return 1;
    char byte;
    if (write(STDOUT_FILENO, "", 1) != 1 || read(STDIN_FILENO, &byte, 1) != 1)
        return 1;
    let_go = true;
    for (int i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
    return 0;
}

static int write_done(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    return fd >= 0 && write(fd, "done", 4) == 4 && close(fd) == 0 ? 0 : 1;
}

static int become_daemon(long n, const char *path)
{
    if (fork() != 0)
        _exit(0);
    setsid();
    if (fork() != 0)
        _exit(0);
    for (int fd = 0; fd < 1024; fd++)
        close(fd);
    work(n);
    char wait[4096];
    snprintf(wait, sizeof wait, "%s.wait", path);
    for (int i = 0; i < 1200 && access(wait, F_OK) == 0; i++)
        usleep(50000);
    return write_done(path);
}

static double seconds_of(struct timeval a, struct timeval b)
{
    return (double)(a.tv_sec + b.tv_sec) + 1e-6 * (double)(a.tv_usec + b.tv_usec);
}

static int run_timed(const char *path, char **argv)
{
    struct timespec begin, end;
    struct rusage usage;
    int status;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    pid_t pid = fork();
    if (pid == 0) {
        execvp(argv[0], argv);
        _exit(127);
    }
    if (wait4(pid, &status, 0, &usage) != pid || status != 0)
        return 1;
    clock_gettime(CLOCK_MONOTONIC, &end);
    FILE *file = fopen(path, "w");
    if (!file)
        return 1;
    fprintf(file, "%.6f %.6f\n", (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec),
            seconds_of(usage.ru_utime, usage.ru_stime));
    return fclose(file) == 0 ? 0 : 1;
}

static int run_forks(int children, long n)
{
    for (int i = 0; i < children; i++)
        if (fork() == 0) {
            work(n);
            _exit(0);
        }
    while (wait(NULL) > 0)
        ;
    return 0;
}

UNIT_NO_FRAME static uint64_t inner_call(uint64_t n)
{
    return spin(n) + 1;
}

UNIT_NO_FRAME static uint64_t middle_call(uint64_t n)
{
    volatile uint64_t room[40]; /* a frame that nobody could guess */
    room[n % 40] = inner_call(n);
    return room[n % 40] + 1;
}

UNIT_NO_FRAME static uint64_t outer_call(uint64_t n)
{
    return middle_call(n) + 1;
}

static int run_deep(long n)
{
    uint64_t sum = 0;
    for (long i = 0; i < n; i++)
        sum += outer_call(10 * ROUND);
    return sum == 1;
}

__attribute__((noinline)) static uint64_t tower_top(uint64_t n)
{
    return spin(n) + 1;
}

__attribute__((noinline)) static uint64_t tower(int floor, uint64_t n)
{
    volatile uint64_t room[75];
    room[floor] = floor ? tower(floor - 1, n) : tower_top(n);
    return room[floor] + 1;
}

static int run_tall(long n)
{
    uint64_t sum = 0;
    for (long i = 0; i < n; i++)
        sum += tower(40, 10 * ROUND);
    return sum == 1;
}

static double churn_until;
static atomic_int churning;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Works for a millisecond or so, most of it before its successor is there. */
static void *churn(void *argument)
{
    pthread_t next;
    work(3);
    if (now() < churn_until) {
        churning++;
        if (pthread_create(&next, NULL, churn, argument) == 0)
            pthread_detach(next);
        else
            churning--;
    }
    three_tenths();
    churning--;
    return NULL;
}

static int run_churn(long milliseconds, int n)
{
    pthread_t first;
    churn_until = now() + 1e-3 * (double)milliseconds;
    churning = n;
    for (int i = 0; i < n; i++)
        if (pthread_create(&first, NULL, churn, NULL) != 0 || pthread_detach(first) != 0)
            return 1;
    while (churning > 0)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    return 0;
}

static int run_faults(long n)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), size = FAULT_PAGES * page;
    char *pages = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED)
        return 1;
    madvise(pages, size, MADV_NOHUGEPAGE);
    for (long i = 0; i < n; i++) {
        if (i % FAULT_PAGES == 0)
            madvise(pages, size, MADV_DONTNEED);
        *(volatile char *)(pages + (size_t)(i % FAULT_PAGES) * page) = 1;
    }
    return 0;
}

enum { TABLE = 1023 };
static uint64_t table[TABLE];

UNIT_APART static void store_table(uint64_t value)
{
    for (size_t i = 0; i < TABLE; i++) {
        table[i] = value;
        __asm__ volatile("" ::: "memory");
    }
}

UNIT_APART static uint64_t load_table(void)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < TABLE; i++) {
        sum += table[i];
        __asm__ volatile("" : "+r"(sum)::"memory");
    }
    return sum;
}

UNIT_APART static void mix_table(void)
{
    const volatile uint64_t *a = table, *b = table + TABLE / 3;
    volatile uint64_t *c = table + 2 * (TABLE / 3);
    for (size_t i = 0; i < TABLE / 3; i++)
        c[i] = a[i] + b[i];
}

static int run_accesses(long n, bool mix)
{
    uint64_t sum = 0;
    printf("%p %zu\n", (void *)table, sizeof table);
    fflush(stdout);
    char byte;
    if (read(STDIN_FILENO, &byte, 1) != 1)
        return 1;
    for (long i = 0; mix && i < n; i++)
        mix_table();
    for (long i = 0; !mix && i < n; i++) {
        store_table((uint64_t)i);
        sum += load_table();
    }
    return sum == 1;
}

/* ---- phases ---- */

UNIT_APART static uint64_t first_phase(void)
{
    __asm__ volatile("nop; nop");
    return spin(ROUND);
}

UNIT_APART static uint64_t second_phase(void)
{
    __asm__ volatile("nop; nop; nop");
    return spin(ROUND);
}

UNIT_APART static uint64_t third_phase(void)
{
    __asm__ volatile("nop; nop; nop; nop");
    return spin(ROUND);
}

static double clock_of(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void run_phase(uint64_t (*phase)(void))
{
    static const double SECONDS = 0.3; /* of the processor */
    for (double end = clock_of(CLOCK_PROCESS_CPUTIME_ID) + SECONDS; clock_of(CLOCK_PROCESS_CPUTIME_ID) < end;)
        phase();
}

static bool wait_for_go(const char *directory, int number)
{
    char idle[4096], go[4096];
    snprintf(idle, sizeof idle, "%s/idle.%d", directory, number);
    snprintf(go, sizeof go, "%s/go.%d", directory, number);
    if (write_done(idle) != 0)
        return false;
    while (access(go, F_OK) != 0)
        usleep(50000);
    return true;
}

static int run_phases(double until, const char *directory)
{
    if (until == 0)
        run_phase(first_phase);
    while (clock_of(CLOCK_REALTIME) < until)
        first_phase();
    if (!wait_for_go(directory, 2))
        return 1;
    ASSAY_ROI_BEGIN();
    run_phase(second_phase);
    ASSAY_ROI_END();
    if (!wait_for_go(directory, 3))
        return 1;
    run_phase(third_phase);
    return 0;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    long first = argc > 2 ? atol(argv[2]) : 0, second = argc > 3 ? atol(argv[3]) : 0;
    sigset_t all;
    sigfillset(&all);
    if (strcmp(what, "exec") == 0 && argc > 2)
        return execvp(argv[2], argv + 2);
    if (strcmp(what, "time") == 0 && argc > 3)
        return run_timed(argv[2], argv + 3);
    if (strcmp(what, "threads") == 0)
        return run_threads((int)first, work_thread, (void *)(intptr_t)second, 256);
    if (strcmp(what, "held") == 0)
        return run_held((int)first, second);
    if (strcmp(what, "short") == 0)
        return run_threads((int)first, end_at_once, NULL, 1);
    if (strcmp(what, "daemon") == 0 && argc > 3)
        return become_daemon(first, argv[3]);
    if (strcmp(what, "forks") == 0)
        return run_forks((int)first, second);
    if (strcmp(what, "churn") == 0)
        return run_churn(first, (int)second);
    if (strcmp(what, "faults") == 0)
        return run_faults(first);
    if (strcmp(what, "deep") == 0)
        return run_deep(first);
    if (strcmp(what, "tall") == 0)
        return run_tall(first);
    if (strcmp(what, "phases") == 0 && argc > 3)
        return run_phases(atof(argv[2]), argv[3]);
    if (strcmp(what, "accesses") == 0 || strcmp(what, "mix") == 0)
        return run_accesses(first, what[0] == 'm');
    if (strcmp(what, "close") == 0)
        for (int fd = 3; fd < 1024; fd++)
            close(fd);
    if (strcmp(what, "block") == 0)
        sigprocmask(SIG_BLOCK, &all, NULL);
    work(first);
    if (strcmp(what, "die") == 0)
        raise(SIGSEGV);
    return strcmp(what, "linger") == 0 && argc > 3 ? write_done(argv[3]) : 0;
}
