/* Sampling sessions on programs with known answers (native_victim.c), with the kernel's task clock, which every machine
 * with perf events has. */
#include "native/reconstruct.h"
#include "native/session.h"
#include "native/stack_walk.h"
#include "perfdata/perf_spaces.h"

#include "perf_here.h"
#include "unit.h"

#include "base/map.h"
#include "base/vec.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>

struct tally {
    struct as_native_session *session;
    struct as_perf_spaces *spaces;
    struct as_code *code;
    struct as_map threads, processes;
    uint64_t samples, seven, three, kernel, forks, exits, execs, out_of_order, chained;
    double weight;
    uint64_t last_time;
    char stop_at[32];   /* a function: the first sample in it ends the session */
    uint64_t low, high; /* a table */
    bool spread;        /* skip accesses at random */
    uint64_t third[3];  /* accesses to each third of the table */
    uint64_t how[3], inside[3], loads, stores;
    struct as_stack_walker *walker;
    const char *event; /* NULL: task-clock */
    int channel;       /* to a victim that waits until it is attached to; 0: none */
    uint64_t last_address;
    bool sleeps;
    uint64_t walked, complete;
    int waited;
    struct as_native_info info;
    struct as_error err;
};

static bool on_process(void *context, const struct as_perf_process *process, struct as_error *err)
{
    struct tally *tally = context;
    tally->forks += process->kind == AS_PERF_FORK;
    tally->exits += process->kind == AS_PERF_EXIT;
    tally->execs += process->kind == AS_PERF_COMM && process->exec;
    as_code_process(tally->code, process, err);
    if (tally->walker)
        as_stack_walker_process(tally->walker, process, err);
    return as_perf_spaces_process(tally->spaces, process, err);
}

static void look_at_access(struct tally *tally, const struct as_perf_sample *sample)
{
    struct as_reconstruction found;
    as_reconstruct(tally->code, sample, tally->spread ? (unsigned)rand() % 16 : 0, &found);
    tally->how[found.how]++;
    if (!found.n || found.accesses[0].address < tally->low || found.accesses[0].address >= tally->high)
        return;
    tally->inside[found.how]++;
    tally->third[(found.accesses[0].address - tally->low) * 3 / (tally->high - tally->low)]++;
    tally->loads += found.accesses[0].access == AS_ACCESS_LOAD && found.accesses[0].size == 8;
    tally->stores += found.accesses[0].access == AS_ACCESS_STORE && found.accesses[0].size == 8;
}

/* inner_call, middle_call, outer_call, …, main */
static void walk_stack(struct tally *tally, const struct as_perf_sample *sample)
{
    static const char *const names[] = {"inner_call", "middle_call", "outer_call"};
    uint64_t frames[AS_WALK_MAX];
    size_t n = as_stack_walker_walk(tally->walker, sample, frames, AS_WALK_MAX);
    bool right = n >= 4, main_called = false;
    for (size_t i = 0; i < n; i++) {
        struct as_perf_location location;
        as_perf_spaces_find(tally->spaces, sample->pid, AS_PERF_USER, frames[i] - (i > 0), &location);
        const char *function = location.function ? location.function : "";
        if (i == 0 && strcmp(function, "inner_call") != 0)
            return; /* elsewhere */
        right &= i >= 3 || strcmp(function, names[i]) == 0;
        main_called |= strcmp(function, "main") == 0;
    }
    tally->walked++;
    tally->complete += right && main_called;
}

/* Until our child has used 20 ms more of a processor, however long the machine takes for that, or has ended. */
static void sleep_while_it_works(pid_t pid)
{
    clockid_t clock;
    struct timespec now, begun;
    siginfo_t ended = {.si_pid = 0};
    if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &begun) != 0)
        return;
    do {
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
        if (waitid(P_PID, (id_t)pid, &ended, WEXITED | WNOHANG | WNOWAIT) != 0 || clock_gettime(clock, &now) != 0)
            return;
    } while (ended.si_pid == 0 && (now.tv_sec - begun.tv_sec) * 1000000000L + now.tv_nsec - begun.tv_nsec < 20000000);
}

static bool on_sample(void *context, const struct as_perf_sample *sample, struct as_error *err)
{
    struct tally *tally = context;
    struct as_perf_location location;
    as_perf_spaces_find(tally->spaces, sample->pid, sample->mode, sample->ip, &location);
    const char *function = location.function ? location.function : "";
    tally->samples++;
    tally->seven += strcmp(function, "seven_tenths") == 0;
    tally->three += strcmp(function, "three_tenths") == 0;
    tally->kernel += sample->mode == AS_PERF_KERNEL;
    tally->weight += as_native_weight(tally->session, sample);
    tally->out_of_order += sample->time < tally->last_time;
    tally->last_time = sample->time;
    tally->chained += sample->n_chain >= 3;
    as_map_put(&tally->threads, sample->tid);
    as_map_put(&tally->processes, sample->pid);
    tally->last_address = sample->addr;
    if (tally->sleeps && tally->samples % 16 == 0)
        sleep_while_it_works((pid_t)sample->pid);
    if (tally->high)
        look_at_access(tally, sample);
    if (tally->walker)
        walk_stack(tally, sample);
    if (tally->stop_at[0] && strcmp(function, tally->stop_at) == 0)
        as_native_stop(tally->session);
    return true;
}

static const struct as_perf_sink sink = {.process = on_process, .sample = on_sample};

/* Runs and sums up; `attach` 0 launches. False: it could not be started (tally->err). */
static bool sample(struct tally *tally, struct as_native_options options, char *const argv[], pid_t attach)
{
    struct as_native_event event;
    struct as_perf_spaces_options spaces = {.no_debug = true, .trust_paths = true};
    tally->err = (struct as_error)AS_ERROR_INIT;
    assert_true(as_native_event_parse("", tally->event ? tally->event : "task-clock", &event, &tally->err));
    options.events = &event;
    options.n_events = 1;
    tally->waited = -1;
    tally->session =
        attach ? as_native_attach(&options, attach, &tally->err) : as_native_launch(&options, argv, &tally->err);
    if (!tally->session)
        return false;
    if (tally->channel)
        assert_int_equal(write(tally->channel, "", 1), 1); /* it is attached: the victim may begin */
    tally->spaces = as_perf_spaces_new(&spaces);
    tally->code = as_code_new(true);
    bool ok = as_native_run(tally->session, &sink, tally, &tally->err);
    tally->waited = as_native_wait_status(tally->session);
    tally->info = *as_native_info(tally->session);
    as_native_close(tally->session);
    as_perf_spaces_free(tally->spaces);
    as_code_free(tally->code);
    return ok;
}

static void forget(struct tally *tally)
{
    as_map_free(&tally->threads);
    as_map_free(&tally->processes);
}

#define ARGS(...) ((char *[]){VICTIM, __VA_ARGS__, NULL})

static void need_clock(void)
{
    if (unit_no_task_clock())
        unit_skip("the task clock cannot be sampled here: %s", unit_no_task_clock());
}

/* Chance, at five standard deviations: of a share of n samples (binomial; samples of neighbours are independent enough
 * with prime periods), and of a number of samples (no more than Poisson's: a timer is more regular than that, but fires
 * late where a machine is busy). */
static double share_spread(double share, double n)
{
    return 5 * sqrt(share * (1 - share) / n);
}

static double count_spread(double n)
{
    return 5 * sqrt(n);
}

/* Half a point for the calls between the two functions. What a busy machine does in the kernel is not the program's. */
static void check_shares(const struct tally *tally)
{
    double n = (double)(tally->seven + tally->three), user = (double)(tally->samples - tally->kernel);
    assert_true(n > 100);
    assert_true(fabs((double)tally->seven / n - 0.7) < share_spread(0.7, n) + 0.005);
    assert_true(n > 0.95 * user - count_spread(0.05 * user)); /* the rest is the program's start */
    assert_int_equal(tally->info.lost, 0);
}

static double children_seconds(void)
{
    struct rusage usage;
    getrusage(RUSAGE_CHILDREN, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

static double wall_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void gives_known_shares(void **state)
{
    need_clock();
    char *work = UNIT_SANITIZED ? "800" : "2000";
    for (unsigned clocks = 1; clocks <= 3; clocks += 2) {
        struct tally tally = {0};
        double before = children_seconds(), began = wall_seconds(), stolen = unit_stolen_seconds();
        assert_true(
            sample(&tally, (struct as_native_options){.rate = 4000, .clocks = clocks}, ARGS("shares", work), 0));
        double seconds = children_seconds() - before, elapsed = wall_seconds() - began;
        double clock = tally.info.counted;
        stolen = unit_stolen_seconds() - stolen;
        check_shares(&tally);
        assert_int_equal(tally.waited, 0);
        assert_int_equal(tally.execs, 1);
        assert_int_equal(tally.out_of_order, 0);
        double expected = 4000 * clock, spread = count_spread(expected);
        /* 10 ms until it became the victim. The clock goes on in interrupts, and while the host has the processor for
         * others, which usage leaves out. */
        assert_true(clock > 0.98 * seconds - 0.01 && clock < elapsed);
        assert_true(fabs(tally.weight * 1e-9 - clock) < spread / expected * clock + 0.02); /* all of its time */
        assert_true(fabs((double)tally.samples - expected) < spread + 80 + 4000 * stolen);
        forget(&tally);
    }
}

static void user_mode_alone(void **state)
{
    need_clock();
    struct tally tally = {0};
    assert_true(
        sample(&tally, (struct as_native_options){.rate = 4000, .mode = AS_NATIVE_USER}, ARGS("shares", "300"), 0));
    assert_int_equal(tally.kernel, 0);
    assert_false(tally.info.kernel);
    check_shares(&tally);
    forget(&tally);
}

static void reaches_ten_kilohertz(void **state)
{
    need_clock();
    struct tally tally = {0};
    double before = children_seconds();
    assert_true(sample(&tally, (struct as_native_options){.rate = 10007, .fields = PERF_SAMPLE_CALLCHAIN},
                       ARGS("shares", "1000"), 0));
    double seconds = children_seconds() - before;
    assert_true((double)tally.samples > 10007 * seconds - count_spread(10007 * seconds));
    assert_int_equal(tally.info.lost, 0);
    forget(&tally);
}

static void follows_threads(void **state)
{
    need_clock();
    struct tally tally = {0};
    assert_true(sample(&tally, (struct as_native_options){.rate = 4000}, ARGS("threads", "64", "60"), 0));
    assert_int_equal(tally.threads.len >= 64, 1);
    assert_int_equal(tally.forks, 64);
    check_shares(&tally);
    forget(&tally);
}

static void loses_no_short_thread(void **state)
{
    need_clock();
    struct tally tally = {0};
    double before = children_seconds(), stolen = unit_stolen_seconds();
    uint64_t n = UNIT_SANITIZED ? 4000 : 10000;
    assert_true(
        sample(&tally, (struct as_native_options){.rate = 4000}, ARGS("short", UNIT_SANITIZED ? "4000" : "10000"), 0));
    double seconds = children_seconds() - before;
    stolen = unit_stolen_seconds() - stolen + 0.02;
    assert_true(tally.info.counted > 0.3 * seconds); /* starting a thread is not all in */
    assert_true(tally.info.counted < 1.05 * seconds + stolen);
    assert_non_null(strstr(tally.info.notes[0], "too short to be sampled"));
    assert_int_equal(tally.waited, 0);
    assert_int_equal(tally.forks, n);
    assert_int_equal(tally.exits, n + 1);
    assert_int_equal(tally.info.lost, 0);
    forget(&tally);
}

static void follows_forks_and_exec(void **state)
{
    need_clock();
    struct tally tally = {0};
    assert_true(sample(&tally, (struct as_native_options){.rate = 4000}, ARGS("forks", "4", "300"), 0));
    assert_true(tally.processes.len >= 4);
    check_shares(&tally);
    forget(&tally);
    tally = (struct tally){0};
    assert_true(sample(&tally, (struct as_native_options){.rate = 4000}, ARGS("exec", VICTIM, "shares", "500"), 0));
    assert_int_equal(tally.execs, 2);
    check_shares(&tally);
    forget(&tally);
    tally = (struct tally){0};
    assert_true(
        sample(&tally, (struct as_native_options){.rate = 4000, .no_children = true}, ARGS("forks", "4", "300"), 0));
    assert_true(tally.seven + tally.three < 10);
    forget(&tally);
}

static void survives_odd_programs(void **state)
{
    need_clock();
    struct tally tally = {0};
    assert_true(sample(&tally, (struct as_native_options){.rate = 4000}, ARGS("close", "500"), 0));
    check_shares(&tally);
    forget(&tally);
    tally = (struct tally){0};
    assert_true(sample(&tally, (struct as_native_options){.rate = 4000}, ARGS("block", "500"), 0));
    check_shares(&tally);
    forget(&tally);
    tally = (struct tally){0};
    assert_true(sample(&tally, (struct as_native_options){.rate = 4000}, ARGS("die", "500"), 0));
    check_shares(&tally);
    assert_true(WIFSIGNALED(tally.waited) && WTERMSIG(tally.waited) == SIGSEGV);
    forget(&tally);
}

static char *temporary(void)
{
    static char path[64];
    snprintf(path, sizeof path, "/tmp/assay-native.XXXXXX");
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    return path;
}

/* Waits for "done" in the file. */
static bool comes_to_its_end(const char *path)
{
    for (int i = 0; i < 3600; i++) {
        char text[8] = "";
        int fd = open(path, O_RDONLY);
        ssize_t n = read(fd, text, 4);
        close(fd);
        if (n == 4 && memcmp(text, "done", 4) == 0)
            return true;
        nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    }
    return false;
}

static void leaves_daemons_alone(void **state)
{
    need_clock();
    struct tally tally = {0};
    char *path = temporary(), wait[4096];
    snprintf(wait, sizeof wait, "%s.wait", path);
    close(open(wait, O_CREAT | O_WRONLY, 0600)); /* while it is there, the daemon does not end */
    assert_true(sample(&tally, (struct as_native_options){.rate = 4000}, ARGS("daemon", "300", path), 0));
    unlink(wait);
    assert_int_equal(tally.waited, 0);
    assert_in_range(tally.info.processes_left, 1, 2); /* the one between them may not have ended yet */
    assert_non_null(strstr(tally.info.notes[0], "still run"));
    assert_true(comes_to_its_end(path));
    unlink(path);
    forget(&tally);
}

/* Waits until a child of the process has become the victim. */
static bool runs_the_victim(pid_t parent)
{
    char path[64], exe[64], target[4096];
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)parent, (int)parent);
    for (int i = 0; i < 18000; i++) {
        int child = 0;
        FILE *file = fopen(path, "r");
        bool found = file && fscanf(file, "%d", &child) == 1;
        if (file)
            fclose(file);
        snprintf(exe, sizeof exe, "/proc/%d/exe", child);
        ssize_t n = found ? readlink(exe, target, sizeof target - 1) : -1;
        target[n > 0 ? n : 0] = 0;
        if (n > 0 && strcmp(strrchr(target, '/'), strrchr(VICTIM, '/')) == 0)
            return true;
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
    return false;
}

/* The recorder is killed in the middle; the program goes on to its end. */
static void program_survives_the_recorder(void **state)
{
    need_clock();
    char *path = temporary();
    pid_t recorder = fork();
    if (recorder == 0) {
        struct tally tally = {0};
        sample(&tally, (struct as_native_options){.rate = 4000}, ARGS("linger", "1500", path), 0);
        _exit(0);
    }
    assert_true(runs_the_victim(recorder));
    kill(recorder, SIGKILL);
    assert_int_equal(waitpid(recorder, NULL, 0), recorder);
    assert_true(comes_to_its_end(path));
    unlink(path);
}

/* A victim outside of any session; `channel` is its standard input and output. */
static pid_t start_victim(char *const argv[], int *channel)
{
    int ends[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    pid_t pid = fork();
    if (pid == 0) {
        dup2(ends[1], STDIN_FILENO);
        dup2(ends[1], STDOUT_FILENO);
        execv(argv[0], argv);
        _exit(127);
    }
    close(ends[1]);
    *channel = ends[0];
    return pid;
}

/* A victim with a table that waits to be told to begin. */
static pid_t start_table(char *const argv[], int *channel, uint64_t *low, uint64_t *high)
{
    char line[64] = "";
    unsigned long start, size;
    pid_t pid = start_victim(argv, channel);
    assert_true(read(*channel, line, sizeof line - 1) > 0);
    assert_int_equal(sscanf(line, "%lx %lu", &start, &size), 2);
    *low = start;
    *high = start + size;
    return pid;
}

static void attaches_to_all_threads(void **state)
{
    need_clock();
    struct tally tally = {0};
    int status;
    char byte;
    pid_t pid = start_victim(ARGS("held", "8", UNIT_SANITIZED ? "400" : "1000"), &tally.channel);
    assert_int_equal(read(tally.channel, &byte, 1), 1); /* all are there, and none ends before it is attached to */
    assert_true(sample(&tally, (struct as_native_options){.rate = 2000}, NULL, pid));
    assert_in_range(tally.threads.len, 8, 9); /* the first thread waits */
    assert_int_equal(tally.waited, -1);
    check_shares(&tally);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    close(tally.channel);
    forget(&tally);
}

static void stops_when_told(void **state)
{
    need_clock();
    struct tally tally = {.stop_at = "three_tenths"};
    int output, status;
    pid_t pid = start_victim(ARGS("shares", "100000"), &output);
    assert_true(sample(&tally, (struct as_native_options){.rate = 1000}, NULL, pid));
    assert_true(tally.three > 0);
    assert_int_equal(waitpid(pid, &status, WNOHANG), 0); /* it still runs */
    kill(pid, SIGKILL);
    waitpid(pid, &status, 0);
    close(output);
    forget(&tally);
}

/* The victim says where its table is and works on nothing else. */
static void reconstructs_accesses(void **state)
{
    need_clock();
    struct tally tally = {0};
    int status;
    pid_t pid = start_table(ARGS("accesses", "300000"), &tally.channel, &tally.low, &tally.high);
    assert_true(sample(
        &tally, (struct as_native_options){.rate = 4000, .mode = AS_NATIVE_USER, .fields = PERF_SAMPLE_REGS_USER}, NULL,
        pid));
    waitpid(pid, &status, 0);
    close(tally.channel);
    uint64_t found = tally.how[AS_RECONSTRUCT_EXACT] + tally.how[AS_RECONSTRUCT_NEXT];
    uint64_t inside = tally.inside[AS_RECONSTRUCT_EXACT] + tally.inside[AS_RECONSTRUCT_NEXT];
    print_message("exact %lu next %lu none %lu, loads %lu stores %lu\n", tally.how[0], tally.how[1], tally.how[2],
                  tally.loads, tally.stores);
    assert_true(tally.samples > 100);
    assert_true(found > 0);
    assert_true(inside >= found * 95 / 100);
    assert_true(tally.loads > 0 && tally.stores > 0);
    assert_int_equal(tally.loads + tally.stores, inside);
    forget(&tally);
}

/* Three accesses in one loop: a[i], b[i] loaded, c[i] stored. The timer stops where the processor likes to
 * stop, so without skipping some are seen more than others; with skipping each has its third. */
static void skipping_takes_the_bias_out(void **state)
{
    need_clock();
    for (int spread = 0; spread <= 1; spread++) {
        struct tally tally = {.spread = spread};
        int status;
        pid_t pid = start_table(ARGS("mix", "1000000"), &tally.channel, &tally.low, &tally.high);
        assert_true(sample(
            &tally, (struct as_native_options){.rate = 4000, .mode = AS_NATIVE_USER, .fields = PERF_SAMPLE_REGS_USER},
            NULL, pid));
        waitpid(pid, &status, 0);
        close(tally.channel);
        double inside = (double)(tally.third[0] + tally.third[1] + tally.third[2]);
        print_message("%s: a %.1f %%, b %.1f %%, c %.1f %% of %.0f (exact %lu next %lu none %lu)\n",
                      spread ? "skipping" : "first access", 100 * (double)tally.third[0] / inside,
                      100 * (double)tally.third[1] / inside, 100 * (double)tally.third[2] / inside, inside,
                      tally.how[0], tally.how[1], tally.how[2]);
        assert_true(inside > 0.9 * (double)tally.samples);
        for (int i = 0; spread && i < 3; i++)
            assert_true(fabs((double)tally.third[i] / inside - 1.0 / 3) < share_spread(1.0 / 3, inside) + 0.02);
        forget(&tally);
    }
}

/* The breakpoint PMU counts exactly: every store to one word of the table is a sample. */
static void samples_every_watchpoint_hit(void **state)
{
    enum { STORES = 1500 };
    int status;
    uint64_t low, high;
    char name[64];
    struct tally tally = {0};
    pid_t pid = start_table(ARGS("accesses", "1500"), &tally.channel, &low, &high);
    snprintf(name, sizeof name, "mem:%#lx/8:w", low + 64);
    tally.event = name;
    bool ok = sample(&tally, (struct as_native_options){.mode = AS_NATIVE_USER, .fields = PERF_SAMPLE_ADDR}, NULL, pid);
    if (!ok)
        kill(pid, SIGKILL); /* it still waits */
    waitpid(pid, &status, 0);
    close(tally.channel);
    if (!ok && unit_no_watchpoints())
        unit_skip("no hardware watchpoints here: %s", unit_no_watchpoints());
    assert_true(ok);
    assert_int_equal(tally.samples, STORES);
    assert_int_equal(tally.info.lost, 0);
    assert_int_equal(tally.last_address, low + 64);
    forget(&tally);
}

/* A sink that sleeps: the queue is full, then the kernel's buffers; what is lost is counted. */
static void counts_what_is_lost(void **state)
{
    need_clock();
    struct tally tally = {.sleeps = true};
    double stolen = unit_stolen_seconds();
    assert_true(sample(&tally, (struct as_native_options){.rate = 10007, .ring_bytes = 32 << 10, .queue_bytes = 1},
                       ARGS("shares", "3000"), 0));
    double expected = 10007 * tally.info.counted;
    stolen = unit_stolen_seconds() - stolen + 0.02; /* the clock goes on then, and its timer does not fire */
    print_message("%lu lost, %lu samples of %.0f\n", tally.info.lost, tally.samples, expected);
    assert_true(tally.info.lost > 0);
    assert_true(fabs((double)(tally.info.lost + tally.samples) - expected) <
                count_spread(expected) + 0.04 * expected + 10007 * stolen);
    forget(&tally);
}

static void takes_call_chains(void **state)
{
    need_clock();
    struct tally tally = {0};
    assert_true(sample(&tally, (struct as_native_options){.rate = 4000, .fields = PERF_SAMPLE_CALLCHAIN},
                       ARGS("shares", "300"), 0));
    assert_true(tally.chained > tally.samples * 9 / 10);
    forget(&tally);
}

static void unwinds_without_frame_pointers(void **state)
{
    need_clock();
    struct tally tally = {.walker = as_stack_walker_new(NULL)};
    assert_true(sample(
        &tally, (struct as_native_options){.rate = 1000, .fields = PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER},
        ARGS("deep", "1500"), 0));
    assert_int_equal(tally.info.lost, 0);
    assert_true(tally.walked > 50);
    /* One in a hundred is in a prologue or an epilogue. */
    double missing = (double)(tally.walked - tally.complete), expected = 0.01 * (double)tally.walked;
    assert_true(missing <= expected + count_spread(expected));
    as_stack_walker_free(tally.walker);
    forget(&tally);
}

/* ---- faults ---- */

static void says_what_cannot_be_run(void **state)
{
    need_clock();
    struct tally tally = {0};
    char *const nothing[] = {"/nonexistent/program", NULL}, *const folder[] = {"/etc", NULL};
    assert_false(sample(&tally, (struct as_native_options){0}, nothing, 0));
    assert_int_equal(tally.err.status, AS_EXIT_NOT_FOUND);
    assert_false(sample(&tally, (struct as_native_options){0}, folder, 0));
    assert_int_equal(tally.err.status, AS_EXIT_CANNOT_RUN);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no child is left */
}

static void says_there_is_no_process(void **state)
{
    struct tally tally = {0};
    pid_t pid = fork();
    if (pid == 0)
        _exit(0);
    waitpid(pid, NULL, 0);
    assert_false(sample(&tally, (struct as_native_options){0}, NULL, pid));
    assert_non_null(strstr(tally.err.message, "there is no process"));
}

static void without_descriptors(void *argument)
{
    struct rlimit limit = {20, 20};
    struct tally tally = {0};
    setrlimit(RLIMIT_NOFILE, &limit);
    if (sample(&tally, (struct as_native_options){.clocks = 8}, ARGS("shares", "1"), 0))
        dprintf(STDERR_FILENO, "opened\n");
    dprintf(STDERR_FILENO, "%s\n", tally.err.message);
}

static void says_descriptors_ran_out(void **state)
{
    need_clock();
    char text[512];
    unit_run_child(without_descriptors, NULL, text, sizeof text);
    assert_non_null(strstr(text, "out of file descriptors"));
    assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1); /* one line */
}

/* As a user without rights: locked memory and kernel mode are limited. */
static void as_nobody(void *argument)
{
    struct rlimit none = {0, 0};
    struct tally tally = {0};
    setrlimit(RLIMIT_MEMLOCK, &none);
    uid_t nobody = 2000000 + (uid_t)getpid(); /* the memory is each user's, and other tests may run */
    if (setgid(65534) != 0 || setuid(nobody) != 0)
        _exit(9);
    prctl(PR_SET_DUMPABLE, 1); /* what an ordinary user's processes are */
    size_t ring = (size_t)(uintptr_t)argument;
    bool ok = sample(&tally, (struct as_native_options){.rate = 4000, .ring_bytes = ring},
                     (char *[]){"/bin/sh", "-c", "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done", NULL}, 0);
    dprintf(STDERR_FILENO, "%d %lu %zu %lu|", ok, tally.samples, tally.info.ring_bytes, tally.kernel);
    for (int i = 0; i < AS_NATIVE_NOTES && tally.info.notes[i][0]; i++)
        dprintf(STDERR_FILENO, "%s|", tally.info.notes[i]);
    dprintf(STDERR_FILENO, "%s\n", tally.err.message);
}

static long paranoid(void)
{
    long value = -1;
    FILE *file = fopen("/proc/sys/kernel/perf_event_paranoid", "r");
    if (file && fscanf(file, "%ld", &value) != 1)
        value = -1;
    if (file)
        fclose(file);
    return value;
}

static void makes_do_with_less(void **state)
{
    need_clock();
    char text[2048];
    if (getuid() != 0)
        unit_skip("only root can become nobody");
    int status = unit_run_child(as_nobody, (void *)(uintptr_t)(4 << 20), text, sizeof text);
    assert_int_equal(status, 0);
    print_message("%s", text);
    if (paranoid() >= 3) {
        assert_non_null(strstr(text, "perf_event_paranoid is 3"));
        return;
    }
    unsigned long samples, ring, kernel;
    int ok;
    assert_int_equal(sscanf(text, "%d %lu %lu %lu|", &ok, &samples, &ring, &kernel), 4);
    assert_int_equal(ok, 1);
    assert_true(samples > 0);
    assert_true(ring < 4 << 20);
    assert_int_equal((4 << 20) % ring, 0); /* the kernel takes powers of two */
    assert_non_null(strstr(text, "buffers of"));
    if (paranoid() == 2) {
        assert_int_equal(kernel, 0);
        assert_non_null(strstr(text, "user mode only"));
    }
}

static void refuses_nonsense(void **state)
{
    struct tally tally = {0};
    assert_false(sample(&tally, (struct as_native_options){.rate = 1e9}, ARGS("shares", "1"), 0));
    assert_false(sample(&tally, (struct as_native_options){.clocks = 99}, ARGS("shares", "1"), 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gives_known_shares),
        cmocka_unit_test(user_mode_alone),
        cmocka_unit_test(reaches_ten_kilohertz),
        cmocka_unit_test(follows_threads),
        cmocka_unit_test(loses_no_short_thread),
        cmocka_unit_test(follows_forks_and_exec),
        cmocka_unit_test(survives_odd_programs),
        cmocka_unit_test(leaves_daemons_alone),
        cmocka_unit_test(program_survives_the_recorder),
        cmocka_unit_test(attaches_to_all_threads),
        cmocka_unit_test(stops_when_told),
        cmocka_unit_test(reconstructs_accesses),
        cmocka_unit_test(skipping_takes_the_bias_out),
        cmocka_unit_test(samples_every_watchpoint_hit),
        cmocka_unit_test(counts_what_is_lost),
        cmocka_unit_test(takes_call_chains),
        cmocka_unit_test(unwinds_without_frame_pointers),
        cmocka_unit_test(says_what_cannot_be_run),
        cmocka_unit_test(says_there_is_no_process),
        cmocka_unit_test(says_descriptors_ran_out),
        cmocka_unit_test(makes_do_with_less),
        cmocka_unit_test(refuses_nonsense),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
