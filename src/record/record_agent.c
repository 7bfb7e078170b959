/* The results of the agent in a profile: allocations are series of their own, by call site and call path. See
 * record_native.h. The program wrote the memory that is read here, so every number is checked. */
#include "record/record_native.h"

#include "engine/program.h"
#include "import/import_add.h"
#include "symbol/elffile.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

enum { ALLOCATED, MAPPED, LIVE, PEAK, OWN_SERIES };

static const struct as_import_own own_series[OWN_SERIES] = {
    [ALLOCATED] = {"allocated bytes", "bytes requested (malloc and the like); samples: number of calls", "bytes"},
    [MAPPED] = {"mapped bytes", "bytes mapped (mmap); samples: number of calls", "bytes"},
    [LIVE] = {"live bytes", "bytes of the heap not freed at the end; samples: blocks", "bytes"},
    [PEAK] = {"peak bytes", "bytes of the heap not freed at the peak; samples: blocks", "bytes"},
};

/* ---- before the run ---- */

/* Whether the program uses AddressSanitizer, whose runtime must be loaded before all others and ends the program if it
 * is not. */
static bool has_asan(const char *path)
{
    static const char name[] = "__asan_init";
    struct as_error ignored = AS_ERROR_INIT;
    struct as_elf *elf = as_elf_open(path, &ignored);
    const struct as_elf_section *names = elf ? as_elf_section(elf, ".dynstr") : NULL;
    size_t size = 0;
    uint8_t *text = names ? as_elf_read(elf, names, 64 << 20, &size) : NULL;
    bool found = text && memmem(text, size, name, sizeof name - 1);
    free(text);
    as_elf_close(elf);
    return found;
}

bool as_record_can_preload(const char *name, const char *path, struct as_error *err)
{
    struct as_program *program = as_alloc(sizeof *program);
    bool known = as_program_find(name, path, program, err);
    bool dynamic = known && program->dynamic, usual = dynamic && strstr(program->elf_interpreter, "ld-linux");
    bool asan = usual && has_asan(program->path);
    free(program);
    if (asan)
        return as_error_set(err,
                            "%s was built with AddressSanitizer, which does not allow preloading: leave "
                            "out --allocations, or build it without AddressSanitizer",
                            name);
    if (!known || usual)
        return known;
    if (!dynamic)
        return as_error_set(err,
                            "%s is statically linked: the agent cannot be preloaded into it; leave out --allocations, "
                            "or use --source=model",
                            name);
    return as_error_set(err, "%s uses another C library than the agent: leave out --allocations", name);
}

bool as_record_agent_open(struct as_native_result *result, const struct as_record *record, struct as_error *err)
{
    bool chains = record->options->call_graph != AS_RECORD_NO_CALLS;
    if (!as_record_can_preload(record->argv[0], as_record_variable(record->options, "PATH"), err))
        return false;
    result->agent = as_agent_open(NULL, chains ? AS_AGENT_DEPTH : 1, err);
    return result->agent != NULL;
}

/* ---- after it ---- */

/* A number that is not a process id: each image has an address space of its own, because a process may exec. */
static uint32_t space_of(uint32_t image)
{
    return UINT32_C(0x80000000) | image;
}

static void add_file(struct as_import *import, uint32_t number, const struct as_agent_seen_file *file)
{
    struct stat info;
    struct as_error ignored = AS_ERROR_INIT;
    if (stat(file->path, &info) != 0 || !S_ISREG(info.st_mode))
        return;
    struct as_perf_process map = {.kind = AS_PERF_MAP,
                                  .pid = space_of(number),
                                  .tid = space_of(number),
                                  .time = AS_PERF_NO_TIME,
                                  .mode = AS_PERF_USER,
                                  .name = file->path,
                                  .start = file->start,
                                  .length = file->end - file->start,
                                  .major = major(info.st_dev),
                                  .minor = minor(info.st_dev),
                                  .inode = info.st_ino};
    (void)!as_perf_spaces_process(as_import_spaces(import), &map, &ignored);
}

/* Where the results of an image are added: the first of the agent's series, and its thread. */
struct target {
    struct as_import *import;
    uint32_t image, first, thread;
    bool peak, live_is_peak; /* it has the highest peak; its end was that peak */
};

static void add_to_series(const struct target *target, uint32_t series, const struct as_agent_seen_site *site,
                          uint64_t bytes, uint64_t count)
{
    if (count > 0)
        as_import_add_calls(target->import, target->first + series, space_of(target->image), target->thread,
                            site->stack, site->frames, bytes, count);
}

static void add_site(const struct target *target, const struct as_agent_seen_site *site)
{
    bool heap = site->call != AS_AGENT_MMAP;
    add_to_series(target, heap ? ALLOCATED : MAPPED, site, site->bytes, site->count);
    if (heap)
        add_to_series(target, LIVE, site, site->live_bytes, site->live);
    if (heap && target->peak && target->live_is_peak)
        add_to_series(target, PEAK, site, site->live_bytes, site->live);
    else if (heap && target->peak)
        add_to_series(target, PEAK, site, site->peak_bytes, site->peak);
}

static void add_image(struct target *target, const struct as_agent_image *image)
{
    struct as_agent_seen_file file;
    struct as_agent_seen_site site;
    target->thread = as_import_thread(target->import, image->pid, UINT32_MAX, "(all threads)");
    for (uint32_t i = 0; i < AS_AGENT_FILES; i++)
        if (as_agent_read_file(image, i, &file))
            add_file(target->import, target->image, &file);
    for (uint32_t i = 0; i < AS_AGENT_SITES; i++)
        if (as_agent_read_site(image, i, &site) && site.frames > 0)
            add_site(target, &site);
}

/* Sums over all images, except the peak, which is that of the image with the highest. */
struct totals {
    uint64_t calls[AS_AGENT_CALLS], frees, munmaps;
    uint64_t allocated, mapped, no_room;
    uint64_t live, live_bytes, untracked, untracked_bytes, unknown;
    uint64_t peak, at_peak; /* at_peak: the bytes at which the details of the sites were taken */
    uint32_t images, not_tracking, others, peak_image;
    const struct as_agent_image *other; /* the first image that calls another malloc */
};

static void sum_up_site(struct totals *totals, const struct as_agent_seen_site *site)
{
    totals->calls[site->call] += site->count;
    totals->no_room += site->frames == 0 ? site->count : 0;
    if (site->call == AS_AGENT_MMAP) {
        totals->mapped += site->bytes;
        return;
    }
    totals->allocated += site->bytes;
    totals->frees += site->freed;
    totals->live += site->live;
    totals->live_bytes += site->live_bytes;
}

static void sum_up(struct totals *totals, const struct as_agent_image *image, uint32_t number)
{
    uint64_t live = image->live, at_peak = image->at_peak;
    struct as_agent_seen_site site;
    for (uint32_t i = 0; i < AS_AGENT_ALL_SITES; i++)
        if (as_agent_read_site(image, i, &site))
            sum_up_site(totals, &site);
    totals->frees += image->unknown - image->moved - image->untracked;
    totals->munmaps += image->munmaps;
    totals->untracked += image->untracked;
    totals->unknown += image->unknown;
    totals->untracked_bytes += image->untracked_bytes;
    totals->not_tracking += image->tracks == 0;
    if (image->other && totals->others++ == 0)
        totals->other = image;
    if (totals->images++ == 0 || image->peak > totals->peak) {
        totals->peak = image->peak;
        totals->at_peak = live > at_peak ? live : at_peak;
        totals->peak_image = number;
    }
}

static void add_counters(struct as_store_writer *writer, const struct totals *totals, const struct as_agent *agent)
{
    static const char *const names[AS_AGENT_CALLS] = {[AS_AGENT_MALLOC] = "calls_malloc",
                                                      [AS_AGENT_CALLOC] = "calls_calloc",
                                                      [AS_AGENT_REALLOC] = "calls_realloc",
                                                      [AS_AGENT_ALIGNED] = "calls_aligned",
                                                      [AS_AGENT_MMAP] = "calls_mmap"};
    size_t threads, ended = 0;
    const struct as_agent_thread *all = as_agent_threads(agent, &threads);
    for (size_t i = 0; i < threads; i++)
        ended += all[i].end != 0;
    for (size_t i = 0; i < AS_AGENT_CALLS; i++)
        as_store_add_counter(writer, names[i], totals->calls[i]);
    as_store_add_counter(writer, "calls_free", totals->frees);
    as_store_add_counter(writer, "calls_munmap", totals->munmaps);
    as_store_add_counter(writer, "allocated_bytes", totals->allocated);
    as_store_add_counter(writer, "mapped_bytes", totals->mapped);
    as_store_add_counter(writer, "live_bytes", totals->live_bytes);
    as_store_add_counter(writer, "live_blocks", totals->live);
    as_store_add_counter(writer, "peak_bytes", totals->peak);
    as_store_add_counter(writer, "unknown_frees", totals->unknown);
    as_store_add_counter(writer, "agent_images", totals->images);
    as_store_add_counter(writer, "threads_started", threads);
    as_store_add_counter(writer, "threads_ended", ended);
    as_store_add_counter(writer, "threads_at_once", as_agent_most_at_once(agent));
}

/* Adds a quality row and also notifies the user, who may not open the profile. `count` 0: nothing to report. */
static void warn(const struct as_record *record, const char *key, uint64_t count, const char *text)
{
    if (count == 0)
        return;
    as_store_add_quality(record->writer, key, (double)count, text);
    as_notice(&record->options->notices, AS_LOG_WARN, "%" PRIu64 " %s", count, text);
}

static void add_live_notes(const struct as_record *record, const struct totals *totals)
{
    warn(record, "agent_not_tracking", totals->not_tracking,
         "program(s) had no memory for a table of blocks: live and peak bytes do not include them");
    if (totals->untracked && !totals->not_tracking) {
        char *text =
            as_format("block(s) found no room in the agent's tables: live and peak bytes are too low by the part of "
                      "their %" PRIu64 " bytes that was not freed",
                      totals->untracked_bytes);
        warn(record, "agent_untracked", totals->untracked, text);
        free(text);
    }
    if (totals->peak && totals->at_peak < totals->peak)
        as_store_add_quality(record->writer, "agent_peak", (double)totals->at_peak / (double)totals->peak,
                             "of the highest peak is the point at which the series 'peak bytes' was taken");
}

/* Reports programs without the agent, and programs in which it could not count. */
static void add_absent_notes(const struct as_record *record, const struct totals *totals, uint64_t execs,
                             uint32_t wanted)
{
    if (totals->other) {
        char path[AS_AGENT_PATH] = "";
        memcpy(path, totals->other->program, sizeof path - 1);
        char *text = as_format("program(s) with their own malloc, which the agent cannot count (%s)", path);
        warn(record, "agent_own_malloc", totals->others, text);
        free(text);
    }
    uint64_t in = wanted < AS_AGENT_IMAGES ? totals->images : wanted;
    warn(record, "agent_absent", execs > in ? execs - in : 0,
         "executed program(s) had no agent (statically linked, another environment, or no memory for it): "
         "their "
         "allocations are not counted");
}

static void add_notes(const struct as_record *record, const struct totals *totals, const struct as_agent *agent,
                      uint64_t execs)
{
    struct as_store_writer *writer = record->writer;
    uint32_t wanted = as_agent_wire(agent)->images;
    as_store_add_quality(writer, "agent", totals->images,
                         "programs with the agent: it counts allocations of dynamically linked programs, and of "
                         "forked children only once they execute another program");
    if (totals->no_room)
        as_store_add_quality(writer, "agent_no_room", (double)totals->no_room,
                             "allocations beyond the limit of call sites: counted, but without a call site");
    if (wanted > AS_AGENT_IMAGES)
        as_store_add_quality(writer, "agent_left_out", wanted - AS_AGENT_IMAGES,
                             "executed programs beyond the limit: their allocations are not counted");
    if (as_agent_dropped(agent))
        as_store_add_quality(writer, "agent_dropped", (double)as_agent_dropped(agent),
                             "starts and ends of threads that were lost because the ring was full");
    add_live_notes(record, totals);
    add_absent_notes(record, totals, execs, wanted);
    if (totals->images == 0)
        as_notice(&record->options->notices, AS_LOG_WARN, "the agent was not loaded: no allocations were counted");
}

/* Returns the number of the first of the agent's series, and makes room for them. */
static uint32_t add_series(struct as_import *import)
{
    uint32_t first = as_import_add_own(import, &own_series[0]);
    for (size_t i = 1; i < OWN_SERIES; i++)
        as_import_add_own(import, &own_series[i]);
    return first;
}

void as_record_agent_add(struct as_native_result *result, const struct as_record *record)
{
    struct as_import *import = result->import;
    struct totals totals = {0};
    uint32_t first = add_series(import);
    const struct as_agent_image *image;
    size_t threads;
    as_agent_stop(result->agent);
    for (uint32_t i = 0; i < AS_AGENT_IMAGES; i++)
        if ((image = as_agent_image(result->agent, i)))
            sum_up(&totals, image, i);
    for (uint32_t i = 0; i < AS_AGENT_IMAGES; i++)
        if ((image = as_agent_image(result->agent, i)))
            add_image(&(struct target){import, i, first, .peak = i == totals.peak_image,
                                       .live_is_peak = image->live >= totals.at_peak},
                      image);
    const struct as_agent_thread *all = as_agent_threads(result->agent, &threads);
    for (size_t i = 0; i < threads; i++)
        as_import_thread(import, all[i].pid, all[i].tid, all[i].name);
    add_counters(record->writer, &totals, result->agent);
    add_notes(record, &totals, result->agent, result->execs);
}
