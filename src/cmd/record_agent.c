/* What the agent found out, as a profile has it: allocations are series of their own, by call site and call path.
 * See record_native.h. The memory that is read here was written by the program: every number is checked. */
#include "cmd/record_native.h"

#include "base/log.h"
#include "engine/program.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

static const struct as_import_own own_series[AS_AGENT_KINDS] = {
    [AS_AGENT_HEAP] = {"allocated bytes", "bytes that were asked for (malloc and its like); samples: how often",
                       "bytes"},
    [AS_AGENT_MAPPED] = {"mapped bytes", "bytes that were mapped (mmap); samples: how often", "bytes"},
};

/* ---- before the run ---- */

static bool can_preload(const char *name, struct as_error *err)
{
    struct as_program *program = as_alloc(sizeof *program);
    bool known = as_program_find(name, getenv("PATH"), program, err);
    bool dynamic = known && program->dynamic, usual = dynamic && strstr(program->elf_interpreter, "ld-linux");
    free(program);
    if (!known || usual)
        return known;
    if (!dynamic)
        return as_error_set(err,
                            "%s is statically linked: nothing can be preloaded into it; leave --allocations out, or "
                            "use --source=model",
                            name);
    return as_error_set(err, "%s uses another C library than the agent: leave --allocations out", name);
}

bool as_record_agent_open(struct as_native_result *result, const struct as_record *record, struct as_error *err)
{
    bool chains = record->options->call_graph != AS_RECORD_NO_CALLS;
    if (!can_preload(record->argv[0], err))
        return false;
    result->agent = as_agent_open(chains ? AS_AGENT_DEPTH : 1, err);
    return result->agent != NULL;
}

/* ---- after it ---- */

/* No process has such a number: an image has an address space of its own, since a process may exec. */
static uint32_t space_of(uint32_t image)
{
    return UINT32_C(0x80000000) | image;
}

static void add_file(struct as_import *import, uint32_t number, const struct as_agent_image *image,
                     const struct as_agent_file *file)
{
    char path[AS_AGENT_PATH];
    struct stat info;
    uint64_t start = file->start, end = file->end;
    struct as_error ignored = AS_ERROR_INIT;
    memcpy(path, file->path[0] ? file->path : image->program, sizeof path);
    path[sizeof path - 1] = '\0';
    if (!start || end <= start || path[0] != '/' || stat(path, &info) != 0)
        return;
    struct as_perf_process map = {.kind = AS_PERF_MAP,
                                  .pid = space_of(number),
                                  .tid = space_of(number),
                                  .time = AS_PERF_NO_TIME,
                                  .mode = AS_PERF_USER,
                                  .name = path,
                                  .start = start,
                                  .length = end - start,
                                  .major = major(info.st_dev),
                                  .minor = minor(info.st_dev),
                                  .inode = info.st_ino};
    (void)!as_perf_spaces_process(import->spaces, &map, &ignored);
}

static void add_site(struct as_import *import, uint32_t number, uint32_t thread, uint32_t first,
                     const struct as_agent_site *site)
{
    uint64_t stack[AS_AGENT_DEPTH];
    uint32_t frames = site->frames, kind = site->kind;
    if (!site->ready || frames == 0 || frames > AS_AGENT_DEPTH || kind >= AS_AGENT_KINDS || site->count == 0)
        return;
    memcpy(stack, site->stack, sizeof stack);
    as_import_add_calls(import, first + kind, space_of(number), thread, stack, frames, site->bytes, site->count);
}

static void add_image(struct as_import *import, uint32_t number, uint32_t first, const struct as_agent_image *image)
{
    uint32_t files = image->files < AS_AGENT_FILES ? image->files : AS_AGENT_FILES;
    uint32_t thread = as_import_thread(import, image->pid, UINT32_MAX, "(all threads)");
    for (uint32_t i = 0; i < files; i++)
        add_file(import, number, image, &image->file[i]);
    for (uint32_t i = 0; i < AS_AGENT_SITES; i++)
        add_site(import, number, thread, first, &image->site[i]);
}

struct totals {
    uint64_t calls[AS_AGENT_CALLS], bytes[AS_AGENT_KINDS], no_room;
    uint32_t images;
};

static void add_counters(struct as_store_writer *writer, const struct totals *totals, const struct as_agent *agent)
{
    static const char *const names[AS_AGENT_CALLS] = {
        [AS_AGENT_MALLOC] = "calls_malloc",   [AS_AGENT_CALLOC] = "calls_calloc", [AS_AGENT_REALLOC] = "calls_realloc",
        [AS_AGENT_ALIGNED] = "calls_aligned", [AS_AGENT_MMAP] = "calls_mmap",     [AS_AGENT_FREE] = "calls_free",
        [AS_AGENT_MUNMAP] = "calls_munmap"};
    size_t threads, ended = 0;
    const struct as_agent_thread *all = as_agent_threads(agent, &threads);
    for (size_t i = 0; i < threads; i++)
        ended += all[i].end != 0;
    for (size_t i = 0; i < AS_AGENT_CALLS; i++)
        as_store_add_counter(writer, names[i], totals->calls[i]);
    as_store_add_counter(writer, "allocated_bytes", totals->bytes[AS_AGENT_HEAP]);
    as_store_add_counter(writer, "mapped_bytes", totals->bytes[AS_AGENT_MAPPED]);
    as_store_add_counter(writer, "agent_images", totals->images);
    as_store_add_counter(writer, "threads_started", threads);
    as_store_add_counter(writer, "threads_ended", ended);
    as_store_add_counter(writer, "threads_at_once", as_agent_most_at_once(agent));
}

static void add_notes(struct as_store_writer *writer, const struct totals *totals, const struct as_agent *agent)
{
    uint32_t wanted = as_agent_wire(agent)->images;
    as_store_add_quality(writer, "agent", totals->images,
                         "programs that the agent was in: it counts allocations of dynamically linked programs, of "
                         "forked children only once they execute another program");
    if (totals->no_room)
        as_store_add_quality(writer, "agent_no_room", (double)totals->no_room,
                             "allocations at more call sites than there was room for: counted, but not placed");
    if (wanted > AS_AGENT_IMAGES)
        as_store_add_quality(writer, "agent_left_out", wanted - AS_AGENT_IMAGES,
                             "executed programs that there was no room for: their allocations are not counted");
    if (as_agent_dropped(agent))
        as_store_add_quality(writer, "agent_dropped", (double)as_agent_dropped(agent),
                             "starts and ends of threads that found the ring full");
    if (totals->images == 0)
        as_log_warn("the agent was not loaded: no allocations were counted");
}

void as_record_agent_add(struct as_native_result *result, struct as_store_writer *writer)
{
    const struct as_agent_wire *wire = as_agent_wire(result->agent);
    struct as_import *import = &result->import;
    struct totals totals = {0};
    uint32_t first = (uint32_t)import->series.len;
    size_t threads;
    as_agent_stop(result->agent);
    for (size_t kind = 0; kind < AS_AGENT_KINDS; kind++)
        as_import_add_own(import, &own_series[kind]);
    for (uint32_t i = 0; i < AS_AGENT_IMAGES && i < wire->images; i++) {
        const struct as_agent_image *image = &wire->image[i];
        if (!image->pid)
            continue;
        add_image(import, i, first, image);
        totals.images++;
        totals.no_room += image->no_room;
        for (size_t call = 0; call < AS_AGENT_CALLS; call++)
            totals.calls[call] += image->calls[call];
        for (size_t kind = 0; kind < AS_AGENT_KINDS; kind++)
            totals.bytes[kind] += image->bytes[kind];
    }
    const struct as_agent_thread *all = as_agent_threads(result->agent, &threads);
    for (size_t i = 0; i < threads; i++)
        as_import_thread(import, all[i].pid, all[i].tid, all[i].name);
    add_counters(writer, &totals, result->agent);
    add_notes(writer, &totals, result->agent);
}
