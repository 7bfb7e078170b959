/* See trace_observer.h. Keeps a stream for each guest thread and passes the records to it; the formats do the rest. */
#include "observe/trace_format.h"

#include "base/vec.h"
#include "observe/bundled.h"

#include <inttypes.h>

struct stream {
    bool opened;
    void *self; /* state of the format; NULL: not written */
    FILE *out;
};

struct as_trace_texts {
    const struct as_run_info *run;
    AS_VEC(char *) texts; /* by instruction id; NULL: not looked up yet */
};

struct as_trace {
    const struct as_trace_format *format;
    const struct as_run_info *run;
    struct as_trace_files files;
    struct as_trace_texts texts;
    AS_VEC(struct stream) streams; /* by thread number */
    char *path;                    /* of the first thread's file, if the run opens them; NULL: `files` opens them */
};

struct as_trace *as_trace_new(const struct as_trace_format *format, const struct as_run_info *run,
                              const struct as_trace_files *files)
{
    struct as_trace *trace = as_alloc(sizeof *trace);
    trace->format = format;
    trace->run = run;
    trace->files = *files;
    trace->texts.run = run;
    return trace;
}

void as_trace_free(struct as_trace *trace)
{
    if (!trace)
        return;
    for (size_t i = 0; i < trace->streams.len; i++)
        if (trace->streams.data[i].self)
            trace->format->free(trace->streams.data[i].self);
    for (size_t i = 0; i < trace->texts.texts.len; i++)
        free(trace->texts.texts.data[i]);
    free(trace->path);
    as_vec_free(&trace->texts.texts);
    as_vec_free(&trace->streams);
    free(trace);
}

uint64_t as_trace_address(const struct as_run_info *run, uint32_t insn)
{
    const struct as_insn *known = run->insn(run->context, insn);
    return known ? known->address : 0;
}

const char *as_trace_text(struct as_trace_texts *texts, uint32_t insn)
{
    while (texts->texts.len <= insn)
        *as_vec_push(&texts->texts) = NULL;
    char **text = &texts->texts.data[insn];
    if (!*text) {
        char line[160];
        const struct as_insn *known = texts->run->insn(texts->run->context, insn);
        *text = as_strdup(known ? as_insn_text(known, line, sizeof line) : "?");
    }
    return *text;
}

static struct stream *stream_of(struct as_trace *trace, uint32_t thread)
{
    while (trace->streams.len <= thread)
        *as_vec_push(&trace->streams) = (struct stream){0};
    struct stream *stream = &trace->streams.data[thread];
    if (!stream->opened) {
        stream->opened = true;
        stream->out = trace->files.open(trace->files.context, thread);
        struct as_trace_target target = {
            .run = trace->run, .texts = &trace->texts, .out = stream->out, .thread = thread};
        stream->self = stream->out ? trace->format->start(&target) : NULL;
    }
    return stream;
}

static void observe(void *self, const struct as_pipe_batch *batch)
{
    struct as_trace *trace = self;
    struct stream *stream = stream_of(trace, batch->thread);
    if (!stream->self || ferror(stream->out)) /* the owner of the file will see the error, too */
        return;
    trace->format->add(stream->self, batch->pipes, batch->n);
    if (batch->pipes[batch->n - 1].flags & AS_PIPE_LAST)
        trace->format->end(stream->self);
}

static void observe_edges(void *self, const struct as_edge_batch *batch)
{
    struct as_trace *trace = self;
    struct stream *stream = stream_of(trace, batch->thread);
    if (!stream->self || ferror(stream->out))
        return;
    trace->format->add_edges(stream->self, batch);
    if (batch->last)
        trace->format->end(stream->self);
}

static void forget_edges(void *self)
{
    const struct as_trace *trace = self;
    for (size_t i = 0; trace->format->forget && i < trace->streams.len; i++)
        if (trace->streams.data[i].self)
            trace->format->forget(trace->streams.data[i].self);
}

static void finish(void *self, FILE *out)
{
    struct as_trace *trace = self;
    stream_of(trace, 1); /* a trace without instructions is valid, too */
    for (size_t i = 0; i < trace->streams.len; i++) {
        struct stream *stream = &trace->streams.data[i];
        if (stream->self && !ferror(stream->out))
            trace->format->end(stream->self);
    }
}

static void release(void *self)
{
    as_trace_free(self);
}

const struct as_observer as_trace_observer = {
    .version = AS_OBSERVER_VERSION,
    .record_size = sizeof(struct as_pipe),
    .name = "trace",
    .batch = observe,
    .finish = finish,
    .free = release,
};

/* ---- bundled: the run opens the files ---- */

static FILE *open_of_run(void *context, uint32_t thread)
{
    struct as_trace *trace = context;
    if (thread == 1)
        return trace->run->open(trace->run->context, trace->path);
    char *path = as_format("%s.%" PRIu32, trace->path, thread);
    FILE *file = trace->run->open(trace->run->context, path);
    free(path);
    return file;
}

/* The first thread's file is opened at once, so that a run is not lost to a wrong path. */
static void *create(const struct as_trace_format *format, const struct as_run_info *run, const char *path)
{
    if (!*path)
        return NULL;
    struct as_trace *trace = as_trace_new(format, run, &(struct as_trace_files){.open = open_of_run});
    trace->files.context = trace;
    trace->path = as_strdup(path);
    if (stream_of(trace, 1)->self)
        return trace;
    as_trace_free(trace);
    return NULL;
}

static void *create_konata(const struct as_run_info *run, const char *argument)
{
    return create(&as_trace_konata, run, argument);
}

static void *create_o3pipeview(const struct as_run_info *run, const char *argument)
{
    return create(&as_trace_o3pipeview, run, argument);
}

static void *create_cycle_trace(const struct as_run_info *run, const char *argument)
{
    return create(&as_trace_cycles, run, argument);
}

static void *create_cycle_trace_all(const struct as_run_info *run, const char *argument)
{
    return create(&as_trace_all_cycles, run, argument);
}

static void *create_commit_csv(const struct as_run_info *run, const char *argument)
{
    return create(&as_trace_commit_csv, run, argument);
}

static void *create_commit_trace(const struct as_run_info *run, const char *argument)
{
    return create(&as_trace_commit_binary, run, argument);
}

#define TRACE_OBSERVER(its_name, its_create, ...)                                                                      \
    {                                                                                                                  \
        .version = AS_OBSERVER_VERSION, .record_size = sizeof(struct as_pipe), .name = its_name, .create = its_create, \
        .batch = observe, .finish = finish, .free = release, __VA_ARGS__                                               \
    }
const struct as_observer as_konata_observer = TRACE_OBSERVER("konata", create_konata);
const struct as_observer as_o3pipeview_observer = TRACE_OBSERVER("o3pipeview", create_o3pipeview);
const struct as_observer as_cycle_trace_observer = TRACE_OBSERVER("cycle-trace", create_cycle_trace);
const struct as_observer as_cycle_trace_all_observer = TRACE_OBSERVER("cycle-trace-all", create_cycle_trace_all);
const struct as_observer as_commit_csv_observer =
    TRACE_OBSERVER("commit-csv", create_commit_csv, .edges = observe_edges, .forget = forget_edges);
const struct as_observer as_commit_trace_observer =
    TRACE_OBSERVER("commit-trace", create_commit_trace, .edges = observe_edges, .forget = forget_edges);
