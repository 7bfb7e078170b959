/* A run: starts the child, reads until it is over, reports how it ended. */
#include "engine/engine.h"

#include "base/clock.h"
#include "base/processors.h"
#include "base/signals.h"
#include "engine/launch.h"
#include "engine/reader.h"
#include "engine/twin.h"

#include <stdio.h>
#include <time.h>

static bool has_landmark(const struct as_reader *reader, uint32_t landmark)
{
    for (size_t i = 0; i < reader->code.images.len; i++) {
        const struct as_sites *sites = &reader->code.images.data[i]->sites;
        for (size_t at = 0; at < sites->list.len; at++)
            if (sites->list.data[at].landmark == landmark)
                return true;
    }
    return false;
}

static void explain_regions(struct as_engine_result *result, const struct as_reader *reader)
{
    const struct as_regions *regions = reader->options->regions;
    for (uint32_t i = 0; regions && i < regions->list.len; i++) {
        const struct as_point *start = &regions->list.data[i].start;
        bool known = start->kind == AS_POINT_LANDMARK && has_landmark(reader, start->landmark);
        char text[sizeof result->region_trouble];
        if (as_region_run_explain(&reader->regions, i, known, text, sizeof text) && result->region_troubles++ == 0)
            memcpy(result->region_trouble, text, sizeof text);
    }
}

/* Whether what was measured, if it is a part of the run, is its beginning. */
static bool begins_at_once(const struct as_regions *regions)
{
    const struct as_region *only = regions && regions->list.len == 1 ? &regions->list.data[0] : NULL;
    return only && only->start.kind == AS_POINT_NONE && only->offset == 0;
}

static void fill_result(struct as_engine_result *result, const struct as_reader *reader, const struct as_child *child)
{
    result->started = reader->threads > 0;
    result->region_reached = as_region_run_reached(&reader->regions);
    result->executed = reader->regions.count;
    result->from_start = begins_at_once(reader->options->regions);
    explain_regions(result, reader);
    result->blind = reader->blind;
    result->processes = (uint32_t)reader->processes.len;
    result->threads = reader->threads;
    result->untraced = reader->untraced;
    result->disagreements = reader->disagreements;
    memcpy(result->clock_calls, reader->clock_calls, sizeof result->clock_calls);
    snprintf(result->first_untraced, sizeof result->first_untraced, "%s", reader->first_untraced);
    if (!result->end.stopped) /* else that it was killed was our doing */
        as_run_end_take(&result->end, child->wait_status);
    result->end.asked = as_signals_interrupts() > 0 && !result->end.stopped && !result->end.interrupted;
    result->end.asked_by = as_signals_last();
}

/* Where the files of a process are that does not say so. */
static void read_usual_places(const struct as_image *image, int pid, int64_t since)
{
    enum { MAP_FILE, PLACES = 3 };
    static const char *const places[PLACES] = {"/tmp/perf-%d.map", "/tmp/jit-%d.dump", "./jit-%d.dump"};
    char path[64];
    /* A file must not be read under two names: its pieces would be there twice. */
    for (size_t k = 0; k < (image->dumps.len ? MAP_FILE + 1 : PLACES); k++) {
        snprintf(path, sizeof path, places[k], pid);
        as_space_read_jit(image->space, path, since);
    }
}

/* Names of code that the program generated, from the files that runtimes write for profilers. */
static void read_generated(const struct as_reader *reader, int64_t since)
{
    for (size_t i = 0; i < reader->code.images.len; i++) {
        const struct as_image *image = reader->code.images.data[i];
        for (size_t k = 0; k < image->dumps.len; k++)
            as_space_read_jit(image->space, image->dumps.data[k], since);
    }
    for (size_t i = 0; i < reader->processes.len; i++) {
        const struct as_process *process = reader->processes.data[i];
        const struct as_image *image = as_code_table_find_image(&reader->code, process->image);
        if (image && as_space_has_anonymous(image->space))
            read_usual_places(image, process->pid, since);
    }
}

struct as_engine {
    const struct as_engine_options *options;
    struct as_child child;
    struct as_reader reader;
    double started;
    time_t began; /* likewise, on the clock that files have */
    bool batch;   /* as_processors_begin_batch */
};

struct as_engine *as_engine_start(const struct as_engine_options *options, struct as_error *err)
{
    struct as_engine *engine = as_alloc(sizeof *engine);
    engine->options = options;
    engine->started = as_clock_seconds();
    engine->began = time(NULL);
    bool idle = as_processors_idle(); /* the child is not yet there to be counted */
    if (!as_child_start(&engine->child, options, err)) {
        free(engine);
        return NULL;
    }
    /* Behind the child, whose program would see it and must not depend on what else runs on the machine. */
    engine->batch = idle && as_processors_begin_batch();
    as_reader_init(&engine->reader, &engine->child, options);
    return engine;
}

bool as_engine_run(struct as_engine *engine, const struct as_sink *sink, void *context, struct as_engine_result *result,
                   struct as_error *err)
{
    struct as_reader *reader = &engine->reader;
    memset(result, 0, sizeof *result);
    reader->sink = sink;
    reader->code.tell_jumps = sink->jumps;
    reader->code.tell_transfers = sink->passed != NULL;
    reader->context = context;
    bool ok = as_reader_run(reader, err);
    result->end.stopped = reader->regions.over;
    result->end.interrupted = !result->end.stopped && !atomic_load(&engine->child.ended);
    if (result->end.stopped || result->end.interrupted || !ok ||
        as_signals_interrupts()) /* a user who ends Assay wants the whole tree ended */
        as_reader_kill_all(reader);
    else
        result->left_running = as_reader_count_alive(reader);
    atomic_store(&reader->wire->detached, 1);
    as_reader_end_threads(reader);
    result->seconds = as_clock_seconds() - engine->started;
    as_child_wait(&engine->child);
    read_generated(reader, engine->began);
    fill_result(result, reader, &engine->child);
    if (ok && !result->started && reader->refusal[0])
        ok = as_error_set_status(err, AS_EXIT_CANNOT_RUN, "%s cannot be run: %s", engine->options->argv[0],
                                 reader->refusal);
    else if (ok && !result->started && result->end.asked) /* by a signal that QEMU got before the program was there */
        ok = as_error_set_status(err, 128 + result->end.asked_by, "interrupted before the program started");
    else if (ok && !result->started)
        ok = as_error_set(err, "QEMU ended before the program started (status %d)", result->end.exit_status);
    return ok;
}

pid_t as_engine_twin(struct as_engine *engine, void (*at_end)(void *context), void *context, struct as_error *err)
{
    return as_reader_twin(&engine->reader, at_end, context, err);
}

void as_engine_twin_end(struct as_engine *engine)
{
    as_twin_free(&engine->reader);
}

void as_engine_treat_as(struct as_engine *engine, enum as_mode mode)
{
    as_reader_treat_as(&engine->reader, mode);
}

bool as_engine_is_single(const struct as_engine *engine)
{
    return as_reader_find_alone(&engine->reader) < AS_WIRE_LANES && as_reader_count_alive(&engine->reader) == 1;
}

const char *as_engine_qemu(const struct as_engine *engine, enum as_arch arch)
{
    return engine->child.wire->qemu[arch];
}

uint64_t as_engine_progress(const struct as_engine *engine)
{
    return as_reader_progress(&engine->reader);
}

const struct as_block *as_engine_block(const struct as_engine *engine, size_t index)
{
    return engine->reader.code.blocks.data[index];
}

size_t as_engine_count_blocks(const struct as_engine *engine)
{
    return engine->reader.code.blocks.len;
}

const struct as_regions *as_engine_regions(const struct as_engine *engine)
{
    static const struct as_regions none;
    return engine->reader.code.regions ? engine->reader.code.regions : &none; /* options may be gone */
}

struct as_region_outcome as_engine_region(const struct as_engine *engine, uint32_t region)
{
    return as_region_run_outcome(&engine->reader.regions, region);
}

const struct as_image *as_engine_image(const struct as_engine *engine, uint32_t number)
{
    return as_code_table_find_image(&engine->reader.code, number);
}

const struct as_insn *as_engine_insn_at(const struct as_engine *engine, uint32_t image, uint64_t address)
{
    return as_code_table_insn_at(&engine->reader.code, image, address);
}

const struct as_insn *as_engine_insn(const struct as_engine *engine, uint32_t id)
{
    return id < engine->reader.code.n_insns ? &as_code_table_insn(&engine->reader.code, id)->insn : NULL;
}

size_t as_engine_count_insns(const struct as_engine *engine)
{
    return engine->reader.code.n_insns;
}

uint32_t as_engine_insn_image(const struct as_engine *engine, uint32_t id)
{
    return as_code_table_insn(&engine->reader.code, id)->image;
}

/* What had been executed before an instruction. */
struct seen_before {
    const struct as_code_table *table;
    const struct as_code_insn *code;
};

static uint32_t versions_at(void *context, uint64_t address)
{
    const struct seen_before *seen = context;
    return as_code_table_versions(seen->table, seen->code->image, address, seen->code->insn.id);
}

void as_engine_locate(const struct as_engine *engine, uint32_t id, struct as_location *location)
{
    const struct as_code_insn *code = as_code_table_insn(&engine->reader.code, id);
    struct seen_before seen = {&engine->reader.code, code};
    struct as_jit_insn insn = {.bytes = code->insn.bytes,
                               .n = code->insn.length,
                               .version = code->version,
                               .versions = versions_at,
                               .context = &seen};
    as_space_find_insn(as_engine_image(engine, code->image)->space, code->insn.address, &insn, location);
}

void as_engine_free(struct as_engine *engine)
{
    if (!engine)
        return;
    as_child_free(&engine->child);
    as_reader_free(&engine->reader);
    as_processors_end_batch(engine->batch);
    free(engine);
}
