/* Profiles from anyone. The input is a file as it is, or a recipe: 'P', then patches of a sound profile, seven bytes
 * each (offset in three bytes, then four bytes to put there), so that mutations reach what is behind the header.
 * Whatever opens can be asked everything, and what it answers is consistent; whatever does not leaves one line. Merged
 * with the sound profile it gives a profile that opens, or one line. */
#include "merge/merge.h"
#include "store/store_read.h"
#include "store/store_write.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint8_t *sound;
static size_t sound_size;

static void need(bool ok)
{
    if (!ok)
        abort();
}

/* ---- a sound profile ---- */

static void add_rows(struct as_store_writer *writer)
{
    as_store_add_meta(writer, AS_META_SOURCE, "model");
    as_store_add_argument(writer, "demo");
    as_store_add_counter(writer, "branches", 7);
    as_store_add_quality(writer, "lost", 0.5, "half");
    as_store_add_run(writer, &(struct as_store_run){.number = 1, .seconds = 2});
    as_store_add_thread(writer, &(struct as_store_thread){.number = 1, .name = "main"});
    as_store_add_module(writer, &(struct as_store_module){.path = "demo", .build_id = "abcd"});
    as_store_add_file(writer, "demo.c");
    as_store_add_function(writer, &(struct as_store_function){"main", "main", 0, 0, 1, 0x1000, 64});
    as_store_add_block(writer, &(struct as_store_block){0, 0x1000, 64});
    as_store_add_inline(writer, &(struct as_store_inline){AS_STORE_NONE, "inlined", 0, 3});
    as_store_add_series(writer, &(struct as_store_series){.name = "golden", .exact = true, .scale = 1, .events = 3});
    as_store_add_estimate(writer, &(struct as_store_estimate){0, "error", "function", 0.1});
    as_store_add_event(writer, &(struct as_store_event){0, "ST-L1", NULL, AS_STORE_NONE, "stalled"});
    as_store_add_state(writer, &(struct as_store_state){"stalled", NULL});
    as_store_add_stack(writer, &(struct as_store_stack){0, "states", "stalled", 5});
    for (uint32_t i = 0; i < 200; i++) {
        as_store_add_instruction(
            writer,
            &(struct as_store_insn){
                {0x1000 + i, 0, 0, 0, 0, i, i ? AS_STORE_NONE : 0}, 0, "nop", "nop", (const uint8_t *)"\x90", 1});
        as_store_add_time(writer, &(struct as_store_time){0, 0, i, i, 0, i});
        as_store_add_component(writer, &(struct as_store_component){0, 0, i, 1, i, 0});
        as_store_add_state_time(writer, &(struct as_store_state_time){0, 0, i, 0, i});
        as_store_add_path(writer, &(struct as_store_path){i ? i - 1 : AS_STORE_NONE, 0, i, 0x1000, 0, false});
        as_store_add_path_time(writer, &(struct as_store_path_time){0, 0, i, i, i, 0});
        as_store_add_path_component(writer, &(struct as_store_path_component){0, 0, i, 1, i, 0});
        as_store_add_branch(writer, &(struct as_store_branch){0, i, i / 2, i, 0, i});
        as_store_add_object(writer, &(struct as_store_object){i % 2 ? 0 : AS_STORE_NONE, "table", i, i});
        as_store_add_access(writer, &(struct as_store_access){0, 0, i, i, 8, 1, i % 4, i, i, 1});
    }
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    char path[] = "/tmp/assay-fuzz-XXXXXX";
    struct as_error err = AS_ERROR_INIT;
    struct stat info;
    (void)argc, (void)argv;
    int fd = mkstemp(path);
    struct as_store_writer *writer = as_store_writer_open(path, &err);
    need(fd >= 0 && writer);
    close(fd);
    add_rows(writer);
    need(as_store_writer_commit(writer, &err));
    fd = open(path, O_RDONLY);
    need(fd >= 0 && fstat(fd, &info) == 0);
    sound_size = (size_t)info.st_size;
    sound = malloc(sound_size);
    need(sound && read(fd, sound, sound_size) == (ssize_t)sound_size);
    close(fd);
    unlink(path);
    return 0;
}

/* ---- asking ---- */

static void check_line(const struct as_error *err)
{
    need(err->message[0] != '\0' && !strpbrk(err->message, "\n\r\x1b"));
}

static bool use_instruction(void *context, uint32_t id, const struct as_store_insn *insn)
{
    size_t *sum = context;
    *sum += id + (insn->text ? strlen(insn->text) : 0) + (insn->n_bytes ? insn->bytes[insn->n_bytes - 1] : 0);
    return true;
}

static void ask_rows(struct as_store *store, uint32_t series)
{
    size_t functions, n_instructions;
    for (int level = AS_STORE_BY_PROGRAM; level <= AS_STORE_BY_INSTRUCTION; level++) {
        struct as_store_query query = AS_STORE_QUERY_INIT;
        struct as_store_rows rows;
        struct as_error err = AS_ERROR_INIT;
        query.series = series;
        query.level = (enum as_store_level)level;
        query.split = (enum as_store_split)(level % 3);
        query.events = level == AS_STORE_BY_BLOCK ? 1 : 0;
        query.function = level == AS_STORE_BY_LINE ? 0 : AS_STORE_NONE;
        if (!as_store_query(store, &query, &rows, &err)) {
            check_line(&err);
            continue;
        }
        as_store_functions(store, &functions);
        as_store_locations(store, &n_instructions);
        need(level == AS_STORE_BY_PROCESSOR || rows.n <= n_instructions + 64);
        for (size_t i = 0; i < rows.n; i++)
            need(rows.rows[i].function == AS_STORE_NONE || rows.rows[i].function < functions);
        as_store_rows_free(&rows);
    }
}

static void ask_data(struct as_store *store, uint32_t series)
{
    struct as_error err = AS_ERROR_INIT;
    size_t n, paths, objects;
    struct as_store_path_component *parts = as_store_path_components(store, series, NULL, &n, &err);
    as_store_paths(store, &paths);
    for (size_t i = 0; parts && i < n; i++)
        need(parts[i].path < paths);
    if (!parts)
        check_line(&err);
    free(parts);
    struct as_store_access *accesses = as_store_accesses(store, series, NULL, &n, &err);
    as_store_objects(store, &objects);
    for (size_t i = 0; accesses && i < n; i++)
        need(accesses[i].object == AS_STORE_NONE || accesses[i].object < objects);
    if (!accesses)
        check_line(&err);
    free(accesses);
    struct as_store_branch *branches = as_store_branches(store, series, &n, &err);
    as_store_locations(store, &objects);
    for (size_t i = 0; branches && i < n; i++)
        need(branches[i].source < objects && branches[i].target < objects);
    if (!branches)
        check_line(&err);
    free(branches);
}

/* A part of the time: the last question, because it changes the answers. */
static void ask_part(struct as_store *store)
{
    struct as_error err = AS_ERROR_INIT;
    uint64_t first, last;
    size_t n;
    as_store_series(store, &n);
    for (uint32_t i = 0; i < n && i < 3; i++)
        if (as_store_span(store, i, &first, &last, &err) < 0)
            check_line(&err);
    if (n == 0)
        return;
    if (!as_store_keep_time(store, 0, 1000, UINT64_MAX, &err))
        check_line(&err);
    else
        ask_rows(store, n > 1);
}

static void ask(struct as_store *store)
{
    struct as_store_totals totals;
    struct as_error err = AS_ERROR_INIT;
    size_t n, sum = 0;
    char text[32];
    as_store_series(store, &n);
    as_store_events_name(store, UINT64_MAX, text, sizeof text);
    for (uint32_t i = 0; i < n && i < 3; i++) {
        ask_rows(store, i);
        ask_data(store, i);
        if (as_store_totals(store, i, NULL, &totals, &err))
            as_store_totals_free(&totals);
        else
            check_line(&err);
    }
    if (!as_store_instructions(store, AS_STORE_NONE, use_instruction, &sum, &err) ||
        !as_store_instructions(store, 0, use_instruction, &sum, &err) || !as_store_instruction(store, 1, &err))
        check_line(&err);
    ask_part(store);
}

/* ---- merging ---- */

/* Into a file without a name, so that nothing is written to a disk for long. */
static void merge(const char *path)
{
    char other[64], merged[64];
    struct as_error err = AS_ERROR_INIT;
    int fd = memfd_create("sound", MFD_CLOEXEC);
    need(fd >= 0 && pwrite(fd, sound, sound_size, 0) == (ssize_t)sound_size);
    snprintf(other, sizeof other, "/proc/self/fd/%d", fd);
    struct as_merge_input inputs[] = {{.path = other, .weight = {1, 1}}, {.path = path, .weight = {1, 3}}};
    struct as_store_writer *writer = as_store_writer_open("/tmp/assay-fuzz-merged.db", &err);
    need(writer);
    if (!as_merge_into(inputs, 2, writer, &(struct as_merge_options){.force = true}, &err)) {
        check_line(&err);
        as_store_writer_abort(writer);
        close(fd);
        return;
    }
    int out = as_store_writer_finish(writer, &err);
    need(out >= 0);
    snprintf(merged, sizeof merged, "/proc/self/fd/%d", out);
    struct as_store *store = as_store_open(merged, &err);
    need(store && as_store_load(store, AS_STORE_CALLS | AS_STORE_DATA, &err));
    ask(store);
    as_store_close(store);
    close(out);
    close(fd);
}

/* ---- the input ---- */

static void patch(int fd, const uint8_t *data, size_t size)
{
    need(pwrite(fd, sound, sound_size, 0) == (ssize_t)sound_size);
    for (; size >= 7; data += 7, size -= 7) {
        size_t at = ((size_t)data[0] << 16 | (size_t)data[1] << 8 | data[2]) % (sound_size - 4);
        need(pwrite(fd, data + 3, 4, (off_t)at) == 4);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    struct as_error err = AS_ERROR_INIT;
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    need(fd >= 0);
    if (size > 0 && data[0] == 'P')
        patch(fd, data + 1, size - 1);
    else
        need(size == 0 || pwrite(fd, data, size, 0) == (ssize_t)size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    struct as_store *store = as_store_open(path, &err);
    if (store)
        ask(store);
    else
        check_line(&err);
    as_store_close(store);
    if (store)
        merge(path);
    close(fd);
    return 0;
}
