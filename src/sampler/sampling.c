/* See sampling.h. The samples of a thread wait in a queue, with the truth for their cycles, until every sampler has
 * answered: LCI, NCI and TIP answer at once or in the next batch, the others when the front end has progressed far
 * enough. */
#include "sampler/sampling_stream.h"

#include <inttypes.h>

struct as_sampling *as_sampling_new(const struct as_run_info *run, const struct as_schedule *schedule,
                                    const struct as_sampler *const *samplers, size_t n, struct as_error *err)
{
    uint32_t group = run->commit_group > run->commit_width ? run->commit_group : run->commit_width;
    if (schedule->period == 0 || group == 0 || group > AS_GROUP_MAX || run->dispatch_width == 0) {
        as_error_set(err, schedule->period == 0 ? "a sampling period is at least 1 cycle"
                                                : "samplers cannot follow a core of this width");
        return NULL;
    }
    struct as_sampling *sampling = as_alloc(sizeof *sampling);
    sampling->run = *run;
    sampling->run.commit_group = group;
    sampling->schedule = *schedule;
    sampling->n = n;
    sampling->results = as_alloc_array(n, sizeof *sampling->results);
    sampling->merged = as_alloc_array(n, sizeof *sampling->merged);
    sampling->paths = as_alloc_array(n, sizeof *sampling->paths);
    for (size_t i = 0; i < n; i++) {
        sampling->results[i].sampler = samplers[i];
        sampling->results[i].events = samplers[i]->events;
    }
    return sampling;
}

void as_sampling_set_events(struct as_sampling *sampling, uint32_t events)
{
    for (size_t i = 0; i < sampling->n; i++)
        if (sampling->results[i].sampler->any_events)
            sampling->results[i].events = events;
}

static void free_tallies(const struct as_sampling *sampling, struct as_pics_tally *tallies)
{
    for (size_t i = 0; tallies && i < sampling->n; i++)
        as_pics_tally_free(&tallies[i]);
    free(tallies);
}

static void free_stream(struct as_sampling_stream *stream)
{
    if (!stream)
        return;
    as_vec_free(&stream->queue);
    free(stream->readers);
    free(stream);
}

void as_sampling_free(struct as_sampling *sampling)
{
    if (!sampling)
        return;
    for (size_t i = 0; i < sampling->streams.len; i++)
        free_stream(sampling->streams.data[i]);
    for (size_t i = 0; i < sampling->n; i++) {
        as_profile_free(&sampling->results[i].profile);
        as_confusion_free(&sampling->results[i].confusion);
    }
    for (size_t i = 0; i < sampling->tallies.len; i++)
        free_tallies(sampling, sampling->tallies.data[i]);
    free_tallies(sampling, sampling->merged);
    free_tallies(sampling, sampling->paths);
    as_vec_free(&sampling->tallies);
    as_vec_free(&sampling->streams);
    as_vec_free(&sampling->room);
    free(sampling->results);
    free(sampling);
}

struct as_sampling_stream *as_sampling_stream_of(struct as_sampling *sampling, uint32_t thread)
{
    while (sampling->streams.len <= thread)
        *as_vec_push(&sampling->streams) = NULL;
    struct as_sampling_stream **stream = &sampling->streams.data[thread];
    if (!*stream) {
        *stream = as_alloc(sizeof **stream);
        (*stream)->thread = thread;
        (*stream)->next_cycle = as_schedule_cycle(&sampling->schedule, thread, 1);
        (*stream)->readers = as_alloc_array(sampling->n, sizeof *(*stream)->readers);
    }
    return *stream;
}

static struct as_sampling_sample *sample_at(struct as_sampling_stream *stream, uint64_t number)
{
    return &stream->queue.data[stream->queue_start + (size_t)(number - stream->forgotten)];
}

/* ---- answers ---- */

/* The tallies of a thread, one for each sampler. */
static struct as_pics_tally *tallies_of(struct as_sampling *sampling, uint32_t thread)
{
    while (sampling->tallies.len <= thread)
        *as_vec_push(&sampling->tallies) = NULL;
    struct as_pics_tally **tallies = &sampling->tallies.data[thread];
    if (!*tallies)
        *tallies = as_alloc_array(sampling->n, sizeof **tallies);
    return *tallies;
}

/* By instruction, or by path. The sample counts once, for one of its instructions in turn. */
static void tally(struct as_pics_tally *tally, const uint32_t *ids, uint32_t events, const struct as_attribution *said,
                  uint64_t cycles, uint64_t turn)
{
    for (uint32_t i = 0; i < said->n; i++)
        as_pics_tally_add(tally, ids[i], said->events[i] & events, as_share(cycles * AS_CYCLE_UNITS, said->n, i),
                          i == turn % said->n);
}

static void charge(struct as_sampling *sampling, struct as_sampling_stream *stream, size_t index,
                   const struct as_sampling_sample *sample, enum as_verdict verdict, const struct as_attribution *said)
{
    struct as_sampling_result *result = &sampling->results[index];
    struct as_sampling_reader *reader = &stream->readers[index];
    uint64_t cycles = sample->cycles + reader->carried;
    if (verdict == AS_SAMPLE_DROPPED) {
        result->dropped++;
        reader->carried = cycles;
        return;
    }
    result->samples++;
    reader->carried = 0;
    as_profile_charge(&result->profile, said, cycles);
    tally(&tallies_of(sampling, stream->thread)[index], said->ids, result->events, said, cycles, reader->answered);
    tally(&sampling->paths[index], said->paths, result->events, said, cycles, reader->answered);
    as_confusion_add(&result->confusion, said, &sample->truth, cycles);
}

static struct as_query query_of(const struct as_sampling *sampling, struct as_sampling_stream *stream,
                                struct as_sampling_reader *reader, uint64_t cycle)
{
    return (struct as_query){.window = &stream->window,
                             .run = &sampling->run,
                             .cycle = cycle,
                             .cursor = &reader->cursor,
                             .busy = &reader->busy};
}

/* Lets a sampler answer as many samples as possible whose truth is known. */
static void answer(struct as_sampling *sampling, struct as_sampling_stream *stream, size_t index)
{
    struct as_sampling_reader *reader = &stream->readers[index];
    const struct as_sampler *sampler = sampling->results[index].sampler;
    while (!reader->waits && reader->answered < stream->truth.answered) {
        struct as_sampling_sample *sample = sample_at(stream, reader->answered);
        struct as_query query = query_of(sampling, stream, reader, sample->cycle);
        struct as_attribution said;
        enum as_verdict verdict = sampler->take(&query, &said);
        reader->waits = verdict == AS_SAMPLE_WAITS;
        if (reader->waits)
            return;
        charge(sampling, stream, index, sample, verdict, &said);
        reader->answered++;
    }
}

static void find_truth(struct as_sampling *sampling, struct as_sampling_stream *stream)
{
    while (!stream->truth.waits && stream->truth.answered < stream->taken) {
        struct as_sampling_sample *sample = sample_at(stream, stream->truth.answered);
        struct as_query query = query_of(sampling, stream, &stream->truth, sample->cycle);
        stream->truth.waits = as_truth_take(&query, &sample->truth) != AS_SAMPLE_TAKEN;
        stream->truth.answered += !stream->truth.waits;
    }
}

/* Drops samples from the queue that all samplers have answered. */
static void forget(struct as_sampling *sampling, struct as_sampling_stream *stream)
{
    uint64_t slowest = stream->truth.answered;
    for (size_t i = 0; i < sampling->n; i++)
        slowest = stream->readers[i].answered < slowest ? stream->readers[i].answered : slowest;
    stream->queue_start += (size_t)(slowest - stream->forgotten);
    stream->forgotten = slowest;
    size_t left = stream->queue.len - stream->queue_start;
    if (stream->queue_start >= left) { /* moving costs no more than what was dropped */
        if (left)
            memmove(stream->queue.data, stream->queue.data + stream->queue_start, left * sizeof *stream->queue.data);
        stream->queue.len = left;
        stream->queue_start = 0;
    }
}

static void answer_all(struct as_sampling *sampling, struct as_sampling_stream *stream)
{
    find_truth(sampling, stream);
    for (size_t i = 0; i < sampling->n; i++)
        answer(sampling, stream, i);
    forget(sampling, stream);
}

/* ---- records ---- */

static void take_sample(struct as_sampling *sampling, struct as_sampling_stream *stream, uint32_t thread)
{
    uint64_t k = ++stream->taken;
    *as_vec_push(&stream->queue) =
        (struct as_sampling_sample){.cycle = stream->next_cycle, .cycles = sampling->schedule.period};
    stream->next_cycle = as_schedule_cycle(&sampling->schedule, thread, k + 1);
}

static void stop_waiting(struct as_sampling *sampling, struct as_sampling_stream *stream)
{
    stream->truth.waits = false;
    for (size_t i = 0; i < sampling->n; i++)
        stream->readers[i].waits = false;
}

/* Adds a thread's tallies to the shared ones. */
static void merge_tallies(struct as_sampling *sampling, uint32_t thread)
{
    if (thread >= sampling->tallies.len || !sampling->tallies.data[thread])
        return;
    struct as_pics_tally *tallies = sampling->tallies.data[thread];
    for (size_t i = 0; i < sampling->n; i++)
        as_pics_tally_merge(&sampling->merged[i], &tallies[i]);
    free_tallies(sampling, tallies);
    sampling->tallies.data[thread] = NULL;
}

static void end_stream(struct as_sampling *sampling, uint32_t thread)
{
    free_stream(sampling->streams.data[thread]);
    sampling->streams.data[thread] = NULL;
}

void as_sampling_observe(void *self, const struct as_pipe_batch *batch)
{
    struct as_sampling *sampling = self;
    struct as_sampling_stream *stream = as_sampling_stream_of(sampling, batch->thread);
    uint64_t last_commit = batch->pipes[batch->n - 1].commit;
    as_window_open(&stream->window, batch);
    if (stream->forgotten < stream->taken) {
        stop_waiting(sampling, stream);
        answer_all(sampling, stream);
    }
    while (stream->next_cycle <= last_commit) {
        take_sample(sampling, stream, batch->thread);
        answer_all(sampling, stream);
    }
    if (!stream->window.ended) {
        as_window_close(&stream->window);
        return;
    }
    end_stream(sampling, batch->thread);
    merge_tallies(sampling, as_thread_limit_end(&sampling->limit, batch->thread, last_commit));
}

static void finish(void *self, FILE *out)
{
    struct as_sampling *sampling = self;
    for (size_t i = 0; i < sampling->streams.len; i++) {
        struct as_sampling_stream *stream = sampling->streams.data[i];
        if (!stream)
            continue;
        stream->window.ended = true;
        stop_waiting(sampling, stream);
        answer_all(sampling, stream);
        end_stream(sampling, (uint32_t)i);
    }
}

static void release(void *self)
{
    as_sampling_free(self);
}

const struct as_observer as_sampling_observer = {
    .version = AS_OBSERVER_VERSION,
    .record_size = sizeof(struct as_pipe),
    .name = "samplers",
    .batch = as_sampling_observe,
    .finish = finish,
    .free = release,
    .edges = as_sampling_edges,
    .forget = as_sampling_forget,
};

const struct as_sampling_result *as_sampling_results(const struct as_sampling *sampling, size_t *n)
{
    *n = sampling->n;
    return sampling->results;
}

const struct as_schedule *as_sampling_schedule(const struct as_sampling *sampling)
{
    return &sampling->schedule;
}

static void add_entries(struct as_pics *pics, const struct as_pics_tally *tally)
{
    for (size_t i = 0; i < tally->entries.len; i++)
        as_pics_push(pics, &tally->entries.data[i]);
}

struct as_pics as_sampling_pics(const struct as_sampling *sampling, size_t index)
{
    struct as_pics pics = {0};
    for (size_t i = 0; i < sampling->tallies.len; i++)
        if (sampling->tallies.data[i])
            add_entries(&pics, &sampling->tallies.data[i][index]);
    add_entries(&pics, &sampling->merged[index]);
    as_pics_sort(&pics);
    return pics;
}

struct as_pics as_sampling_thread_pics(const struct as_sampling *sampling, size_t index, uint32_t thread)
{
    struct as_pics pics = {0};
    const struct as_pics_tally *tallies = sampling->merged;
    if (thread != AS_NO_THREAD)
        tallies = thread < sampling->tallies.len ? sampling->tallies.data[thread] : NULL;
    if (tallies)
        add_entries(&pics, &tallies[index]);
    as_pics_sort(&pics);
    return pics;
}

struct as_pics as_sampling_path_pics(const struct as_sampling *sampling, size_t index)
{
    struct as_pics pics = {0};
    add_entries(&pics, &sampling->paths[index]);
    as_pics_sort(&pics);
    return pics;
}
