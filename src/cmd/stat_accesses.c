/* See stat_accesses.h. */
#include "cmd/stat_accesses.h"

#include "base/processors.h"
#include "cmd/observer_set.h"
#include "model/access_buffer.h"
#include "model/access_stream.h"
#include "observe/footprint.h"

#include <inttypes.h>
#include <stdlib.h>

enum { BATCH = 4096, IN_FLIGHT = 8 }; /* as much as a second-level cache holds */
/* The program and the thread that reads it keep so many processors busy. Where there are no more, an observer on a thread of its own would only
 * take them from both, and fetch from another processor's caches what the reader has just had in its own. */
enum { PROCESSORS_TAKEN = 2 };

struct as_stat_accesses {
    const struct as_strlist *observers;
    bool apart;                     /* observers have threads of their own */
    struct as_footprint *footprint; /* NULL: not asked for. Owned by the fan-out */
    struct as_fanout *fanout;
    struct as_access_stream *stream;
    struct as_observer_set *set;
    char *said;
};

struct as_stat_accesses *as_stat_accesses_new(bool footprint, const struct as_strlist *observers, const char *result)
{
    if (!footprint && observers->len == 0)
        return NULL;
    struct as_stat_accesses *accesses = as_alloc(sizeof *accesses);
    accesses->apart = as_processors() > PROCESSORS_TAKEN;
    struct as_fanout_options options = {
        .kind = &as_access_buffers, .inline_ = !accesses->apart, .batch = BATCH, .in_flight = IN_FLIGHT};
    accesses->observers = observers;
    accesses->fanout = as_fanout_new(&options);
    accesses->set = as_observer_set_new(result, NULL);
    accesses->stream = as_access_stream_new(accesses->fanout, as_observer_set_open, accesses->set);
    if (footprint) {
        accesses->footprint = as_footprint_new();
        as_fanout_add(accesses->fanout, &as_footprint_observer, accesses->footprint, false);
    }
    return accesses;
}

bool as_stat_accesses_are_apart(const struct as_stat_accesses *accesses)
{
    return accesses && accesses->apart;
}

bool as_stat_accesses_open(struct as_stat_accesses *accesses, struct as_sink_tee *tee, struct as_error *err)
{
    if (!accesses)
        return true;
    for (size_t i = 0; i < accesses->observers->len; i++)
        if (!as_observer_set_add(accesses->set, accesses->observers->data[i], true,
                                 as_access_stream_run_info(accesses->stream), accesses->fanout, err))
            return false;
    as_sink_tee_add(tee, as_access_stream_choose_sink(accesses->stream), accesses->stream);
    return true;
}

bool as_stat_accesses_start(struct as_stat_accesses *accesses, const struct as_engine *engine, struct as_error *err)
{
    if (!accesses)
        return true;
    as_access_stream_set_engine(accesses->stream, engine);
    return as_fanout_start(accesses->fanout, err);
}

bool as_stat_accesses_finish(struct as_stat_accesses *accesses, struct as_error *err)
{
    if (!accesses)
        return true;
    size_t size = 0;
    FILE *memory = open_memstream(&accesses->said, &size);
    as_access_stream_finish(accesses->stream);
    as_fanout_report(accesses->fanout, memory ? memory : stderr);
    if (memory)
        fclose(memory);
    return as_observer_set_finish(accesses->set, err);
}

/* ---- showing the footprint ---- */

static void json_counts(struct as_json *json, const struct as_footprint_counts *counts)
{
    as_json_u64(json, "accesses", counts->accesses);
    as_json_u64(json, "lines", counts->lines);
    as_json_u64(json, "lines_read", counts->read);
    as_json_u64(json, "lines_written", counts->written);
    as_json_u64(json, "lines_shared", counts->shared);
    as_json_u64(json, "lines_shared_written", counts->shared_written);
    as_json_u64(json, "pages", counts->pages);
}

void as_stat_accesses_json(const struct as_stat_accesses *accesses, struct as_json *json)
{
    size_t n;
    if (!accesses || !accesses->footprint)
        return;
    const struct as_footprint_thread *threads = as_footprint_threads(accesses->footprint, &n);
    struct as_footprint_counts total = as_footprint_total(accesses->footprint);
    as_json_object(json, "footprint");
    as_json_u64(json, "line_bytes", AS_FOOTPRINT_LINE);
    as_json_u64(json, "page_bytes", AS_FOOTPRINT_PAGE);
    json_counts(json, &total);
    as_json_array(json, "by_thread");
    for (size_t i = 0; i < n; i++) {
        as_json_object(json, NULL);
        as_json_u64(json, "process", threads[i].process);
        as_json_u64(json, "thread", threads[i].thread);
        json_counts(json, &threads[i].counts);
        as_json_end(json);
    }
    as_json_end(json);
    as_json_end(json);
}

static void print_counts(FILE *out, const char *name, const struct as_footprint_counts *counts)
{
    enum { LINES_A_KIB = 1024 / AS_FOOTPRINT_LINE };
    fprintf(out, "  %-10s %12" PRIu64 " %12" PRIu64 " %12" PRIu64 " %12" PRIu64 " %12" PRIu64 " %10" PRIu64 " %11.1f\n",
            name, counts->lines, counts->read, counts->written, counts->shared, counts->shared_written, counts->pages,
            (double)counts->lines / LINES_A_KIB);
}

void as_stat_accesses_text(const struct as_stat_accesses *accesses, FILE *out)
{
    enum { MOST = 32 };
    size_t n;
    if (!accesses || !accesses->footprint)
        return;
    const struct as_footprint_thread *threads = as_footprint_threads(accesses->footprint, &n);
    struct as_footprint_counts total = as_footprint_total(accesses->footprint);
    fprintf(out, "\nFootprint, in lines of %d bytes and pages of %d:\n  %-10s %12s %12s %12s %12s %12s %10s %11s\n",
            AS_FOOTPRINT_LINE, AS_FOOTPRINT_PAGE, "thread", "lines", "read", "written", "shared", "and written",
            "pages", "KiB");
    for (size_t i = 0; i < n && i < MOST && n > 1; i++) {
        char name[16];
        snprintf(name, sizeof name, "%" PRIu32, threads[i].thread);
        print_counts(out, name, &threads[i].counts);
    }
    if (n > MOST)
        fprintf(out, "  … and %zu more; --json lists them all\n", n - MOST);
    print_counts(out, "all", &total);
}

const char *as_stat_accesses_said(const struct as_stat_accesses *accesses)
{
    return accesses && accesses->said ? accesses->said : "";
}

size_t as_stat_accesses_free(struct as_stat_accesses *accesses)
{
    if (!accesses)
        return 0;
    as_access_stream_free(accesses->stream);
    size_t crashed = as_fanout_free(accesses->fanout); /* frees the observers */
    as_observer_set_free(accesses->set, crashed > 0);
    free(accesses->said);
    free(accesses);
    return crashed;
}
