/* Samples a program through a session and prints what came, by function: the driver of src/native for tests and bench.
 *
 *     native_shares [-r RATE] [-c CLOCKS] [-e EVENT] [-u] [-g] [-F] [-b BYTES] [-p PID [-t SECONDS]] PROGRAM ARGS…
 *     native_shares -i PERF.DATA
 *
 * -u: user mode alone; -g: call chains; -a: data accesses; -F: no children; -b: size of a buffer; -q: no names, which
 * take time; -i: the same from a recording of perf. One line "SHARE FUNCTION MODULE" each, largest first, then
 * "# samples N lost N …".
 */
#include "base/clock.h"
#include "base/map.h"
#include "base/vec.h"
#include "native/reconstruct.h"
#include "native/session.h"
#include "perfdata/perf_spaces.h"

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

struct row {
    char name[200];
    double weight;
};

struct tally {
    struct as_native_session *session;
    struct as_perf_spaces *spaces;
    struct as_strings *names;
    AS_VEC(double) weights;
    struct as_map threads;
    double total, begin, limit;
    uint64_t forks, exits, execs, depth, kernel, how[3];
    struct as_code *code; /* with -a */
    bool quiet;
};

static bool on_process(void *context, const struct as_perf_process *process, struct as_error *err)
{
    struct tally *tally = context;
    tally->forks += process->kind == AS_PERF_FORK;
    tally->exits += process->kind == AS_PERF_EXIT;
    tally->execs += process->kind == AS_PERF_COMM && process->exec;
    if (tally->code)
        as_code_process(tally->code, process, err);
    return as_perf_spaces_process(tally->spaces, process, err);
}

static bool on_sample(void *context, const struct as_perf_sample *sample, struct as_error *err)
{
    struct tally *tally = context;
    struct as_perf_location location;
    struct as_reconstruction access;
    char name[200] = "all";
    if (!tally->quiet) {
        as_perf_spaces_find(tally->spaces, sample->pid, sample->mode, sample->ip, &location);
        char start[32] = "-";
        if (location.function_start) /* stripped: where the unwind tables say that a function begins */
            snprintf(start, sizeof start, "0x%lx", location.function_start);
        snprintf(name, sizeof name, "%.120s %.60s", location.function ? location.function : start,
                 location.module_name);
    }
    uint32_t id = as_strings_intern(tally->names, name);
    while (tally->weights.len <= id)
        *as_vec_push(&tally->weights) = 0;
    double weight = tally->session ? as_native_weight(tally->session, sample) : (double)sample->period;
    if (tally->code) {
        as_reconstruct(tally->code, sample, 0, &access);
        tally->how[access.how]++;
    }
    tally->weights.data[id] += weight;
    tally->total += weight;
    tally->depth += sample->n_chain;
    tally->kernel += sample->mode == AS_PERF_KERNEL;
    as_map_put(&tally->threads, sample->tid);
    if (tally->limit > 0 && as_clock_seconds() - tally->begin > tally->limit)
        as_native_stop(tally->session);
    return true;
}

static int by_weight(const void *a, const void *b)
{
    double x = ((const struct row *)a)->weight, y = ((const struct row *)b)->weight;
    return x < y ? 1 : x > y ? -1 : 0;
}

static void print(struct tally *tally, double seconds)
{
    const struct as_native_info nothing = {0}, *info = tally->session ? as_native_info(tally->session) : &nothing;
    struct row *rows = as_alloc_array(tally->weights.len + 1, sizeof *rows);
    for (size_t i = 0; i < tally->weights.len; i++) {
        snprintf(rows[i].name, sizeof rows[i].name, "%s", as_strings_get(tally->names, (uint32_t)i));
        rows[i].weight = tally->weights.data[i];
    }
    qsort(rows, tally->weights.len, sizeof *rows, by_weight);
    for (size_t i = 0; i < tally->weights.len; i++)
        printf("%.4f %s\n", rows[i].weight / tally->total, rows[i].name);
    printf("# samples %lu lost %lu throttled %lu threads %zu forks %lu exits %lu execs %lu kernel %lu frames %lu "
           "weight %.6f seconds %.6f left %lu events %zu ring %zu exact %lu next %lu none %lu counted %.6f\n",
           info->samples, info->lost, info->throttled, tally->threads.len, tally->forks, tally->exits, tally->execs,
           tally->kernel, tally->depth, tally->total * 1e-9, seconds, info->processes_left, info->events_open,
           info->ring_bytes, tally->how[0], tally->how[1], tally->how[2], info->counted);
    for (int i = 0; i < AS_NATIVE_NOTES && info->notes[i][0]; i++)
        printf("# note %s\n", info->notes[i]);
    free(rows);
}

static int finish(struct tally *tally, bool ok, const struct as_error *err, double seconds)
{
    int status = ok && tally->session ? as_native_wait_status(tally->session) : -1;
    if (ok)
        print(tally, seconds);
    else
        fprintf(stderr, "%s\n", err->message);
    as_native_close(tally->session);
    as_perf_spaces_free(tally->spaces);
    as_code_free(tally->code);
    as_strings_free(tally->names);
    as_vec_free(&tally->weights);
    as_map_free(&tally->threads);
    return !ok ? err->status : status == -1 ? 0 : WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static const struct as_perf_sink sink = {.process = on_process, .sample = on_sample};

static bool live(struct tally *tally, struct as_native_options *options, const char *name, int pid, char **argv,
                 struct as_error *err)
{
    struct as_native_event event;
    if (!as_native_event_parse("", name, &event, err))
        return false;
    options->events = &event;
    options->n_events = 1;
    tally->session = pid ? as_native_attach(options, pid, err) : as_native_launch(options, argv, err);
    return tally->session && as_native_run(tally->session, &sink, tally, err);
}

static bool recorded(struct tally *tally, const char *path, struct as_error *err)
{
    struct as_perf_reader *reader = as_perf_reader_open(path, NULL, err);
    bool ok = reader && as_perf_reader_run(reader, &sink, tally, err);
    as_perf_reader_close(reader);
    return ok;
}

int main(int argc, char **argv)
{
    struct as_error err = AS_ERROR_INIT;
    const char *name = "task-clock", *input = NULL;
    struct as_native_options options = {0};
    struct as_perf_spaces_options spaces = {.no_debug = true, .trust_paths = true};
    struct tally tally = {0};
    int pid = 0;
    for (int option; (option = getopt(argc, argv, "+r:c:e:ugaqFp:t:b:i:")) != -1;) {
        options.rate = option == 'r' ? atof(optarg) : options.rate;
        options.clocks = option == 'c' ? (unsigned)atoi(optarg) : options.clocks;
        options.mode = option == 'u' ? AS_NATIVE_USER : options.mode;
        options.fields |= option == 'g' ? PERF_SAMPLE_CALLCHAIN : option == 'a' ? PERF_SAMPLE_REGS_USER : 0;
        options.ring_bytes = option == 'b' ? strtoull(optarg, NULL, 0) : options.ring_bytes;
        options.no_children |= option == 'F';
        tally.quiet |= option == 'q';
        name = option == 'e' ? optarg : name;
        input = option == 'i' ? optarg : input;
        pid = option == 'p' ? atoi(optarg) : pid;
        tally.limit = option == 't' ? atof(optarg) : tally.limit;
        if (option == '?')
            return 2;
    }
    tally.spaces = as_perf_spaces_new(&spaces);
    tally.names = as_strings_new();
    tally.code = options.fields & PERF_SAMPLE_REGS_USER ? as_code_new(true) : NULL;
    tally.begin = as_clock_seconds();
    bool ok = input ? recorded(&tally, input, &err) : live(&tally, &options, name, pid, argv + optind, &err);
    return finish(&tally, ok, &err, as_clock_seconds() - tally.begin);
}
