/* See compare_traces.h. */
#include "cmd/compare_traces.h"

#include "base/log.h"
#include "base/vec.h"
#include "cmd/output.h"
#include "observe/trace_observer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { FORMATS = 3 };

struct trace_file {
    uint32_t thread;
    char *path;
    struct as_output output;
};

/* One format. During the run, its observer's thread alone adds files. */
struct trace {
    const char *path; /* NULL: not asked for */
    AS_VEC(struct trace_file *) files;
    struct as_error err; /* of the first file that could not be opened */
    bool failed;
};

struct as_traces {
    struct trace traces[FORMATS];
};

static struct trace_file *add_file(struct trace *trace, uint32_t thread, struct as_error *err)
{
    struct trace_file *file = as_alloc(sizeof *file);
    file->thread = thread;
    file->path = thread == 1 ? as_strdup(trace->path) : as_format("%s.%" PRIu32, trace->path, thread);
    if (as_output_open(&file->output, file->path, err)) {
        *as_vec_push(&trace->files) = file;
        return file;
    }
    free(file->path);
    free(file);
    return NULL;
}

static FILE *open_file(void *context, uint32_t thread)
{
    struct trace *trace = context;
    struct as_error err = AS_ERROR_INIT;
    if (thread == 1)
        return trace->files.data[0]->output.file;
    struct trace_file *file = trace->failed ? NULL : add_file(trace, thread, &err);
    if (!file && !trace->failed) {
        trace->failed = true;
        trace->err = err;
    }
    return file ? file->output.file : NULL;
}

static bool same_path(const char *a, const char *b)
{
    struct stat of_a, of_b;
    if (!a || !b)
        return false;
    if (strcmp(a, b) == 0)
        return true;
    return stat(a, &of_a) == 0 && stat(b, &of_b) == 0 && S_ISREG(of_a.st_mode) && of_a.st_dev == of_b.st_dev &&
           of_a.st_ino == of_b.st_ino;
}

static bool check_paths(const struct as_trace_options *options, struct as_error *err)
{
    if (same_path(options->konata, options->o3pipeview) || same_path(options->konata, options->cycles) ||
        same_path(options->o3pipeview, options->cycles))
        return as_error_set_status(err, AS_EXIT_USAGE, "two traces cannot go to one file");
    return true;
}

struct as_traces *as_traces_open(const struct as_trace_options *options, const struct as_run_info *run,
                                 struct as_fanout *fanout, struct as_error *err)
{
    const struct as_trace_format *const formats[FORMATS] = {&as_trace_konata, &as_trace_o3pipeview, &as_trace_cycles};
    const char *const paths[FORMATS] = {options->konata, options->o3pipeview, options->cycles};
    if (!check_paths(options, err))
        return NULL;
    struct as_traces *traces = as_alloc(sizeof *traces);
    for (int i = 0; i < FORMATS; i++) {
        struct trace *trace = &traces->traces[i];
        trace->path = paths[i];
        if (!trace->path)
            continue;
        if (!add_file(trace, 1, err)) {
            as_traces_free(traces);
            return NULL;
        }
        struct as_trace_files files = {.open = open_file, .context = trace};
        as_fanout_add(fanout, &as_trace_observer, as_trace_new(formats[i], run, &files), false);
    }
    return traces;
}

/* In words that a person reads at a glance. */
static void note_size(const struct trace_file *file, double bytes)
{
    static const char *const units[] = {"bytes", "kB", "MB", "GB", "TB"};
    size_t unit = 0;
    for (; bytes >= 1000 && unit + 1 < sizeof units / sizeof *units; unit++)
        bytes /= 1000;
    as_log_note("wrote %s (%.*f %s)", file->path, unit ? 1 : 0, bytes, units[unit]);
}

static bool finish_file(struct trace_file *file, struct as_error *err)
{
    off_t size = ftello(file->output.file);
    bool ok = as_output_finish(&file->output, err);
    file->output = (struct as_output){0};
    if (ok && size >= 0)
        note_size(file, (double)size);
    return ok;
}

bool as_traces_finish(struct as_traces *traces, struct as_error *err)
{
    bool ok = true;
    for (int i = 0; i < FORMATS && ok; i++) {
        struct trace *trace = &traces->traces[i];
        if (trace->failed) {
            *err = trace->err;
            ok = false;
        }
        for (size_t f = 0; f < trace->files.len && ok; f++)
            ok = finish_file(trace->files.data[f], err);
    }
    return ok;
}

void as_traces_free(struct as_traces *traces)
{
    if (!traces)
        return;
    for (int i = 0; i < FORMATS; i++) {
        struct trace *trace = &traces->traces[i];
        for (size_t f = 0; f < trace->files.len; f++) {
            as_output_drop(&trace->files.data[f]->output);
            free(trace->files.data[f]->path);
            free(trace->files.data[f]);
        }
        as_vec_free(&trace->files);
    }
    free(traces);
}
