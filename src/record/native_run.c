/* A native recording from the start of the program, or from attaching to it, to its end. See record_native.h.
 *
 * Signals: Ctrl-C on the terminal reaches a launched program by itself; what is sent to us alone is passed on to it. We
 * wait for its end, and a second one ends the recording. A process that we are attached to is left alone: the first one
 * ends the recording.
 */
#include "native/probe_parts.h"
#include "record/record_native.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static const int caught[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGALRM};
enum { CAUGHT = sizeof caught / sizeof *caught };
static struct sigaction old_actions[CAUGHT];
static struct as_native_session *_Atomic current;
static _Atomic pid_t forward_to; /* 0: attached, or not started yet */
static _Atomic int early;        /* a signal for a program that had not started yet */
static atomic_bool attached;
static _Atomic unsigned interrupts;

static void on_signal(int signal, siginfo_t *info, void *context)
{
    int saved = errno;
    struct as_native_session *session = atomic_load(&current);
    pid_t pid = atomic_load(&forward_to);
    bool sent = info->si_code <= 0 && signal != SIGALRM; /* by a process, not by the terminal */
    if (sent && pid > 0)
        kill(pid, signal);
    else if (sent && !atomic_load(&attached))
        atomic_store(&early, signal);
    bool ends = signal == SIGALRM;
    if (signal == SIGINT || signal == SIGTERM)
        ends = atomic_fetch_add(&interrupts, 1) + 1 >= (atomic_load(&attached) ? 1 : 2);
    if (ends && session)
        as_native_stop(session);
    errno = saved;
}

/* Before the program starts, so that there is no moment in which a signal ends us and leaves it alone. */
static void catch_signals(bool to_attach)
{
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART};
    atomic_store(&attached, to_attach);
    atomic_store(&forward_to, 0);
    atomic_store(&early, 0);
    atomic_store(&interrupts, 0);
    for (size_t i = 0; i < CAUGHT; i++) {
        sigaction(caught[i], NULL, &old_actions[i]);
        if (old_actions[i].sa_handler != SIG_IGN || caught[i] == SIGALRM)
            sigaction(caught[i], &action, NULL);
    }
}

static void restore_signals(void)
{
    setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL);
    for (size_t i = 0; i < CAUGHT; i++)
        sigaction(caught[i], &old_actions[i], NULL);
    atomic_store(&current, NULL);
}

/* It has started: signals reach it from here on, with one that came too early. */
static void watch_session(struct as_native_session *session)
{
    atomic_store(&current, session);
    if (atomic_load(&attached))
        return;
    atomic_store(&forward_to, as_native_pid(session));
    int signal = atomic_exchange(&early, 0);
    if (signal)
        kill(as_native_pid(session), signal);
}

/* Who has interrupted the program once more meanwhile shall not lose what is being saved. */
static void restore_signals_to_save(void)
{
    restore_signals();
    if (atomic_load(&interrupts) == 0)
        return;
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
}

static void start_alarm(double seconds)
{
    struct itimerval timer = {
        .it_value = {.tv_sec = (time_t)seconds, .tv_usec = (suseconds_t)(fmod(seconds, 1) * 1e6)}};
    if (isnan(seconds))
        return;
    if (timer.it_value.tv_sec == 0 && timer.it_value.tv_usec == 0)
        timer.it_value.tv_usec = 1; /* 0 would be never */
    setitimer(ITIMER_REAL, &timer, NULL);
}

/* ---- the sink: that of an import, behind what looks for accesses where these were asked for ---- */

static bool take_event(void *context, const struct as_perf_event *event, struct as_error *err)
{
    return as_import_sink.event(((struct as_native_result *)context)->import, event, err);
}

static bool take_process(void *context, const struct as_perf_process *process, struct as_error *err)
{
    struct as_native_result *result = context;
    result->execs += process->kind == AS_PERF_COMM && process->exec;
    if (result->accesses)
        as_native_accesses_process(result->accesses, process);
    return as_import_sink.process(result->import, process, err);
}

static bool take_ksymbol(void *context, const struct as_perf_ksymbol *symbol, struct as_error *err)
{
    return as_import_sink.ksymbol(((struct as_native_result *)context)->import, symbol, err);
}

static bool take_sample(void *context, const struct as_perf_sample *sample, struct as_error *err)
{
    struct as_native_result *result = context;
    if (result->accesses)
        as_native_accesses_sample(result->accesses, sample);
    return as_import_sink.sample(result->import, sample, err);
}

static bool take_switch(void *context, const struct as_perf_switch *change, struct as_error *err)
{
    return as_import_sink.context_switch(((struct as_native_result *)context)->import, change, err);
}

static bool take_aux(void *context, const struct as_perf_aux *aux, struct as_error *err)
{
    return as_import_sink.aux(((struct as_native_result *)context)->import, aux, err);
}

static const struct as_perf_sink native_sink = {.event = take_event,
                                                .process = take_process,
                                                .ksymbol = take_ksymbol,
                                                .sample = take_sample,
                                                .context_switch = take_switch,
                                                .aux = take_aux};

/* ---- running ---- */

static void open_import(struct as_native_result *result, const struct as_record *record)
{
    struct as_import_options options = {.writer = record->writer,
                                        .info = as_perf_reader_info(as_native_reader(result->session)),
                                        .spaces.live = true,
                                        .unwind = record->options->call_graph == AS_RECORD_DWARF,
                                        .addresses = record->options->accesses,
                                        .notices = as_notices_to_log};
    char most[32];
    if (as_probe_read("", "/proc/sys/kernel/perf_event_max_stack", most, sizeof most))
        options.max_stack = (uint32_t)strtoul(most, NULL, 10);
    result->import = as_import_open(&options);
    if (record->options->accesses)
        result->accesses = as_native_accesses_new(result->import, record->options->seed);
}

bool as_native_execute(struct as_native_result *result, const struct as_record *record,
                       const struct as_native_plan *plan, struct as_error *err)
{
    pid_t pid = (pid_t)record->options->pid;
    struct as_native_options options = plan->options;
    if (record->options->allocations && !as_record_agent_open(result, record, err))
        return false;
    if (result->agent)
        options.environment = as_agent_environment(result->agent);
    catch_signals(pid != 0);
    result->session = pid ? as_native_attach(&options, pid, err) : as_native_launch(&options, record->argv, err);
    if (!result->session) {
        restore_signals();
        return false;
    }
    open_import(result, record);
    watch_session(result->session);
    start_alarm(record->options->duration);
    bool ok = as_native_run(result->session, &native_sink, result, err);
    restore_signals_to_save();
    as_import_finish(result->import);
    if (result->accesses)
        as_native_accesses_finish(result->accesses);
    result->running = !pid && as_native_wait_status(result->session) == -1;
    result->interrupted = result->running && atomic_load(&interrupts) >= 2;
    return ok || as_store_writer_failed(record->writer); /* what is wrong with the file, commit says */
}

bool as_native_repeat(const struct as_record *record, const struct as_native_plan *plan, struct as_store_run *run,
                      struct as_error *err)
{
    static const struct as_perf_sink nobody = {0};
    catch_signals(false);
    struct as_native_session *session = as_native_launch(&plan->options, record->argv, err);
    if (!session) {
        restore_signals();
        return false;
    }
    watch_session(session);
    bool ok = as_native_run(session, &nobody, NULL, err);
    restore_signals();
    int status = as_native_wait_status(session);
    run->seconds = as_native_info(session)->seconds;
    run->samples = as_native_info(session)->samples;
    run->status = status != -1 && WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    as_native_close(session);
    if (ok && atomic_load(&interrupts))
        return as_error_set(err, "interrupted");
    return ok;
}

void as_native_result_free(struct as_native_result *result)
{
    as_native_accesses_free(result->accesses);
    as_import_free(result->import);
    as_native_close(result->session);
    as_agent_close(result->agent);
}

/* ---- a process that runs already ---- */

static char *read_link(uint64_t pid, const char *name)
{
    char path[64], target[PATH_MAX];
    snprintf(path, sizeof path, "/proc/%" PRIu64 "/%s", pid, name);
    ssize_t size = readlink(path, target, sizeof target - 1);
    return size > 0 ? as_strndup(target, (size_t)size) : NULL;
}

/* A file of /proc/PID; `size` bytes of it at most. -1: there is none. */
static ssize_t read_of(uint64_t pid, const char *name, char *text, size_t size)
{
    char path[64];
    size_t done = 0;
    snprintf(path, sizeof path, "/proc/%" PRIu64 "/%s", pid, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    for (ssize_t n; done < size && (n = read(fd, text + done, size - done)) > 0;)
        done += (size_t)n;
    close(fd);
    return (ssize_t)done;
}

/* Words of the command line; a kernel thread has none, but a name. The record's argv is freed with its first word. */
bool as_native_describe_process(struct as_record *record, struct as_error *err)
{
    enum { MOST = 1 << 20 };
    char *text = as_alloc(MOST + 1);
    ssize_t got = read_of(record->options->pid, "cmdline", text, MOST);
    size_t size = got > 0 ? (size_t)got : 0, words = 0;
    if (got < 0) {
        free(text);
        return as_error_set(err, "there is no process %" PRIu64, record->options->pid);
    }
    if (size == 0 && read_of(record->options->pid, "comm", text, MOST) > 0)
        size = strcspn(text, "\n");
    if (size == 0 || text[size - 1])
        text[size++] = '\0';
    for (size_t at = 0; at < size; at += strlen(text + at) + 1)
        words++;
    record->argv = as_alloc_array(words + 1, sizeof *record->argv);
    for (size_t at = 0, i = 0; i < words; at += strlen(text + at) + 1)
        record->argv[i++] = text + at;
    return true;
}

void as_native_add_process(const struct as_record *record)
{
    uint64_t pid = record->options->pid;
    char *program = read_link(pid, "exe"), *directory = read_link(pid, "cwd");
    as_store_add_meta(record->writer, AS_META_PROGRAM, program ? program : record->argv[0]);
    as_store_add_meta(record->writer, AS_META_DIRECTORY, directory);
    as_store_add_meta_u64(record->writer, "process", pid);
    free(program);
    free(directory);
}
