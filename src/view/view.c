/* See view.h. */
#include "view/view.h"

#include "base/alloc.h"
#include "base/path.h"
#include "base/str.h"
#include "view/time_window.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char *last_component(const char *path)
{
    return path ? as_path_shown(path) : NULL;
}

/* ---- filters ---- */

static bool choose_threads(struct as_view *view, const struct as_words *words, struct as_error *err)
{
    if (!words->len)
        return true;
    view->threads = as_alloc_array(view->n_threads + 1, sizeof *view->threads);
    for (size_t i = 0; i < words->len; i++) {
        bool found = false;
        for (size_t t = 0; t < view->n_threads; t++) {
            char number[16];
            snprintf(number, sizeof number, "%" PRIu32, view->thread[t].number);
            if (strcmp(number, words->data[i]) == 0 ||
                (view->thread[t].name && strcmp(view->thread[t].name, words->data[i]) == 0))
                found = view->threads[t] = true;
        }
        if (!found)
            return as_error_set_status(err, AS_EXIT_USAGE,
                                       "--thread=%s: the profile has no such thread; it has %zu thread%s",
                                       words->data[i], view->n_threads, view->n_threads == 1 ? "" : "s");
    }
    return true;
}

static bool matches(const char *pattern, const char *name)
{
    return name && (strcmp(pattern, name) == 0 || fnmatch(pattern, name, 0) == 0);
}

static bool choose_modules(struct as_view *view, const struct as_words *words, struct as_error *err)
{
    if (!words->len)
        return true;
    view->modules = as_alloc_array(view->n_modules + 1, sizeof *view->modules);
    for (size_t i = 0; i < words->len; i++) {
        bool found = false;
        for (size_t m = 0; m < view->n_modules; m++)
            if (matches(words->data[i], view->module[m].path) ||
                matches(words->data[i], last_component(view->module[m].path)))
                found = view->modules[m] = true;
        if (!found)
            return as_error_set_status(err, AS_EXIT_USAGE, "--module=%s: no module of the profile matches",
                                       words->data[i]);
    }
    return true;
}

static bool choose_functions(struct as_view *view, const struct as_words *words, struct as_error *err)
{
    if (!words->len)
        return true;
    view->functions = as_alloc_array(view->n_functions + 1, sizeof *view->functions);
    for (size_t i = 0; i < words->len; i++) {
        bool found = false;
        for (size_t f = 0; f < view->n_functions; f++)
            if (matches(words->data[i], view->function[f].name) ||
                matches(words->data[i], view->function[f].linkage_name))
                found = view->functions[f] = true;
        if (!found)
            return as_error_set_status(err, AS_EXIT_USAGE, "--symbol=%s: no function of the profile matches",
                                       words->data[i]);
    }
    return true;
}

static bool say_no_event(const struct as_view *view, const char *word, struct as_error *err)
{
    struct as_str names = {0};
    size_t n;
    const struct as_store_event *events = as_store_events(view->store, &n);
    for (size_t i = 0; i < n; i++)
        as_str_add_word(&names, events[i].name != NULL, AS_SHOW(events[i].name));
    as_error_set_status(err, AS_EXIT_USAGE, "--event=%s: the profile has no such event; its events are %s", word,
                        as_str_get(&names));
    as_str_free(&names);
    return false;
}

static bool choose_events(struct as_view *view, const struct as_words *words, struct as_error *err)
{
    size_t n;
    const struct as_store_event *events = as_store_events(view->store, &n);
    if (words->len && !view->has_events)
        return as_error_set_status(err, AS_EXIT_USAGE, "--event: the series %s records no events",
                                   view->summary.sampler);
    for (size_t i = 0; i < words->len; i++) {
        uint64_t bit = 0;
        for (size_t e = 0; e < n; e++)
            if (events[e].name && strcasecmp(events[e].name, words->data[i]) == 0)
                bit = UINT64_C(1) << events[e].bit;
        if (!bit)
            return say_no_event(view, words->data[i], err);
        view->events |= bit;
    }
    return true;
}

/* ---- opening ---- */

static bool say_no_series(const struct as_view_options *options, const struct as_store_series *all, size_t n,
                          struct as_error *err)
{
    const char *option = options->series_option ? options->series_option : "series";
    struct as_str names = {0};
    for (size_t i = 0; i < n; i++)
        as_str_add_word(&names, all[i].name != NULL, AS_SHOW(all[i].name));
    as_error_set_status(err, AS_EXIT_USAGE, "--%s=%s: the profile has no series of that name; its series are %s",
                        option, options->series, as_str_get(&names));
    as_str_free(&names);
    return false;
}

static bool choose_series(struct as_view *view, const char *name, struct as_error *err)
{
    size_t n;
    const struct as_store_series *all = as_store_series(view->store, &n);
    view->series = as_store_find_series(view->store, name);
    if (view->series == AS_STORE_NONE && name && n)
        return say_no_series(&view->options, all, n, err);
    if (view->options.time && !as_time_window_choose(view, err))
        return false;
    if (!as_summary_read(view->store, view->series, &view->summary, err))
        return false;
    view->has_events = all[view->series].events != 0;
    return !view->options.time || as_time_window_describe(view, err);
}

static bool find_totals(struct as_view *view, struct as_error *err)
{
    size_t n;
    struct as_store_path_time *times = as_store_path_times(view->store, view->series, view->threads, &n, err);
    if (!times)
        return false;
    free(times);
    view->has_calls = n > 0;
    return !n || as_store_totals(view->store, view->series, view->threads, &view->totals, err);
}

bool as_view_open(struct as_view *view, const struct as_view_options *options, struct as_error *err)
{
    *view = (struct as_view){.store = as_store_open(options->file, err), .options = *options};
    if (!view->store || !choose_series(view, options->series, err) ||
        !as_store_load(view->store, AS_STORE_CODE | AS_STORE_CALLS, err))
        return false;
    view->module = as_store_modules(view->store, &view->n_modules);
    view->function = as_store_functions(view->store, &view->n_functions);
    view->file = as_store_files(view->store, &view->n_files);
    view->location = as_store_locations(view->store, &view->n_locations);
    view->thread = as_store_threads(view->store, &view->n_threads);
    return choose_threads(view, &options->threads, err) && choose_modules(view, &options->modules, err) &&
           choose_functions(view, &options->symbols, err) && choose_events(view, &options->events, err) &&
           find_totals(view, err) && as_stack_errors_make(view, err);
}

void as_view_free(struct as_view *view)
{
    if (view->has_calls)
        as_store_totals_free(&view->totals);
    free(view->threads);
    free(view->modules);
    free(view->functions);
    free(view->part);
    free(view->stack_errors);
    as_store_close(view->store);
}

/* Refuses rows that the profile knows nothing of. */
static bool check_level(const struct as_view *view, enum as_store_level level, struct as_error *err)
{
    uint64_t first, last;
    if (level == AS_STORE_BY_PROCESSOR) {
        int any = as_store_span(view->store, view->series, &first, &last, err);
        return any != 0 ? any > 0 : as_time_window_refuse(view->store, view->series, "--by=cpu", err);
    }
    bool processes = false, names = false;
    for (size_t i = 0; i < view->n_threads; i++) {
        processes |= view->thread[i].process != 0;
        names |= view->thread[i].name && *view->thread[i].name;
    }
    if (level == AS_STORE_BY_PROCESS && !processes)
        return as_error_set_status(err, AS_EXIT_USAGE, "%s does not say to which processes its threads belong",
                                   view->options.file);
    return level != AS_STORE_BY_COMMAND || names ||
           as_error_set_status(err, AS_EXIT_USAGE, "%s has no names of commands or threads", view->options.file);
}

/* perf records the processor only if it is asked to. */
static bool check_processors(const struct as_view *view, enum as_store_level level, struct as_store_rows *rows,
                             struct as_error *err)
{
    bool known = level != AS_STORE_BY_PROCESSOR || rows->n == 0;
    for (size_t i = 0; i < rows->n; i++)
        known |= rows->rows[i].id != AS_STORE_NONE;
    if (known)
        return true;
    as_store_rows_free(rows);
    return as_error_set_status(err, AS_EXIT_USAGE,
                               "--by=cpu: the samples of %s do not contain the processor: perf record --sample-cpu, "
                               "perf record -a and assay record keep it",
                               view->options.file);
}

bool as_view_rows(const struct as_view *view, enum as_store_level level, struct as_store_rows *rows,
                  struct as_error *err)
{
    struct as_store_query query = AS_STORE_QUERY_INIT;
    if (!check_level(view, level, err))
        return false;
    query.series = view->series;
    query.level = level;
    query.split = view->has_events ? AS_STORE_BY_EVENTS : AS_STORE_WHOLE;
    query.threads = view->threads;
    query.modules = view->modules;
    query.functions = view->functions;
    query.events = view->events;
    return as_store_query(view->store, &query, rows, err) && check_processors(view, level, rows, err);
}

void as_view_filters(const struct as_view *view, struct as_view_filter filters[AS_VIEW_FILTERS])
{
    const struct as_view_options *options = &view->options;
    filters[0] = (struct as_view_filter){"thread", "threads", &options->threads};
    filters[1] = (struct as_view_filter){"module", "modules", &options->modules};
    filters[2] = (struct as_view_filter){"symbol", "symbols", &options->symbols};
    filters[3] = (struct as_view_filter){"event", "events", &options->events};
}

bool as_view_counts(const struct as_view *view, uint32_t instruction)
{
    const struct as_store_location *location = &view->location[instruction];
    return (!view->modules || (location->module < view->n_modules && view->modules[location->module])) &&
           (!view->functions || (location->function < view->n_functions && view->functions[location->function]));
}

/* ---- names ---- */

const char *as_view_level_name(enum as_store_level level)
{
    static const char *const names[] = {"program",  "thread", "process", "command", "cpu",        "module",
                                        "function", "file",   "line",    "block",   "instruction"};
    return names[level];
}

const char *as_view_module(const struct as_view *view, uint32_t module)
{
    return module < view->n_modules ? last_component(view->module[module].path) : NULL;
}

const char *as_view_function(const struct as_view *view, uint32_t function)
{
    return function < view->n_functions ? view->function[function].name : NULL;
}

const char *as_view_file(const struct as_view *view, uint32_t file)
{
    return file < view->n_files ? view->file[file] : NULL;
}

uint64_t as_view_function_address(const struct as_view *view, uint32_t function)
{
    return function < view->n_functions ? view->function[function].address : 0;
}

bool as_view_is_whole_module(const struct as_view *view, uint32_t function)
{
    const char *name = as_view_function(view, function);
    size_t length = name ? strlen(name) : 0;
    return length > 2 && name[0] == '[' && name[length - 1] == ']' && view->function[function].size == 0;
}

/* Some libraries have neither symbols nor unwind tables for their inner functions (Debian's for RISC-V), so only the
 * file of their code is known. Named as import names code of files that are missing. */
const char *as_view_no_function(const struct as_view *view, uint32_t module, char name[AS_ROW_NAME_MAX])
{
    const char *file = as_view_module(view, module);
    if (!file)
        return "(no function)";
    snprintf(name, AS_ROW_NAME_MAX, file[0] == '[' ? "%.480s" : "[%.480s]", AS_SHOW(file));
    return name;
}

const char *as_view_address(const struct as_view *view, uint32_t module, uint64_t address, char name[AS_ROW_NAME_MAX])
{
    const char *file = as_view_module(view, module);
    uint64_t base = file ? view->module[module].base : 0;
    if (file && file[0] != '[' && address >= base)
        snprintf(name, AS_ROW_NAME_MAX, "%.480s+0x%" PRIx64, AS_SHOW(file), address - base);
    else
        snprintf(name, AS_ROW_NAME_MAX, "0x%" PRIx64, address);
    return name;
}

bool as_view_module_offset(const struct as_view *view, uint32_t module, uint64_t address, uint64_t *offset)
{
    bool placed = as_view_module(view, module) && as_store_module_is_placed(&view->module[module]);
    *offset = placed ? address - view->module[module].base : 0;
    return placed && address >= view->module[module].base;
}

static const char *name_address(const struct as_view *view, const struct as_store_row *row, char name[AS_ROW_NAME_MAX])
{
    const char *function = as_view_function(view, row->function);
    uint64_t start = as_view_function_address(view, row->function);
    if (!function || row->address < start)
        return as_view_address(view, function ? AS_STORE_NONE : row->module, row->address, name);
    /* Text of perf script may name a function without the offset in it, so that its start is not known. */
    bool placed = start || function[0] == '[';
    snprintf(name, AS_ROW_NAME_MAX, placed ? "%.480s+0x%" PRIx64 : "%.480s at 0x%" PRIx64, AS_SHOW(function),
             row->address - start);
    return name;
}

/* Appends the names that a thread had before: ", before: sh, make". */
static size_t add_former_names(const struct as_view *view, const struct as_store_thread *thread, char *text,
                               size_t size, size_t n)
{
    const char *word = " (before: ";
    for (size_t i = 0; i < view->n_threads && n < size; i++) {
        const struct as_store_thread *other = &view->thread[i];
        if (other == thread || !thread->number || !thread->process || other->number != thread->number ||
            other->process != thread->process || !other->name)
            continue;
        int more = snprintf(text + n, size - n, "%s%.60s", word, AS_SHOW(other->name));
        n += more > 0 ? (size_t)more : 0;
        word = ", ";
    }
    if (*word == ',' && n < size)
        n += (size_t)snprintf(text + n, size - n, ")");
    return n;
}

/* "3 name, process 2"; the process is added if there are several. */
static void name_thread(const struct as_view *view, uint32_t id, char *text, size_t size)
{
    bool several = false;
    for (size_t i = 1; i < view->n_threads; i++)
        several |= view->thread[i].process != view->thread[0].process;
    const struct as_store_thread *thread = id < view->n_threads ? &view->thread[id] : NULL;
    const char *name = thread && thread->name ? AS_SHOW(thread->name) : "";
    size_t n = (size_t)snprintf(text, size, "%" PRIu32 "%s%.240s", thread ? thread->number : 0, *name ? " " : "", name);
    if (thread)
        n = add_former_names(view, thread, text, size, n);
    if (several && thread && thread->process && n < size)
        snprintf(text + n, size - n, ", process %" PRId64, thread->process);
}

/* On a machine the first thread of a process has its number; in the model processes and threads are counted apart. */
const char *as_view_process_name(const struct as_view *view, uint32_t id)
{
    const struct as_store_thread *thread = id < view->n_threads ? &view->thread[id] : NULL;
    const char *source = view->summary.source;
    bool modelled = source && (strcmp(source, "model") == 0 || strncmp(source, "pmu:", 4) == 0);
    bool first = thread && (modelled || thread->number == 0 || thread->number == thread->process);
    return first ? thread->name : NULL;
}

/* "1234 name"; "1234 (thread name)" if the name of its first thread is not known. */
static void name_process(const struct as_view *view, uint32_t id, char *text, size_t size)
{
    const struct as_store_thread *thread = id < view->n_threads ? &view->thread[id] : NULL;
    const char *name = thread && thread->name ? AS_SHOW(thread->name) : "";
    bool other = *name && !as_view_process_name(view, id);
    snprintf(text, size, "%" PRId64 "%s%.480s%s", thread ? thread->process : 0,
             other   ? " (thread "
             : *name ? " "
                     : "",
             name, other ? ")" : "");
}

const char *as_view_row_name(const struct as_view *view, enum as_store_level level, const struct as_store_row *row,
                             char name[AS_ROW_NAME_MAX])
{
    const char *own = NULL;
    switch (level) {
    case AS_STORE_BY_THREAD:
        name_thread(view, row->id, name, AS_ROW_NAME_MAX);
        return name;
    case AS_STORE_BY_PROCESS:
        name_process(view, row->id, name, AS_ROW_NAME_MAX);
        return name;
    case AS_STORE_BY_COMMAND:
        own = row->id < view->n_threads ? view->thread[row->id].name : NULL;
        return own && *own ? as_show(own, name) : "(no name)";
    case AS_STORE_BY_PROCESSOR:
        if (row->id == AS_STORE_NONE)
            return "(not known)";
        snprintf(name, AS_ROW_NAME_MAX, "%" PRIu32, row->id);
        return name;
    case AS_STORE_BY_MODULE:
        own = as_view_module(view, row->id);
        return own ? as_show(own, name) : "(no module)";
    case AS_STORE_BY_FUNCTION:
        own = as_view_function(view, row->id);
        return own ? as_show(own, name) : as_view_no_function(view, row->module, name);
    case AS_STORE_BY_FILE:
        own = last_component(as_view_file(view, row->id));
        return own ? as_show(own, name) : "(no source file)";
    case AS_STORE_BY_LINE:
        own = last_component(as_view_file(view, row->id));
        if (!own)
            return "(no source file)";
        snprintf(name, AS_ROW_NAME_MAX, "%s:%" PRIu32, AS_SHOW(own), row->line);
        return name;
    case AS_STORE_BY_BLOCK:
    case AS_STORE_BY_INSTRUCTION:
        return name_address(view, row, name);
    case AS_STORE_BY_PROGRAM:
    default:
        return as_show(view->summary.program, name);
    }
}

const char *as_view_location_name(const struct as_view *view, uint32_t instruction, char name[AS_ROW_NAME_MAX])
{
    const struct as_store_location *location = &view->location[instruction];
    struct as_store_row row = {.id = instruction,
                               .module = location->module,
                               .function = location->function,
                               .file = location->file,
                               .line = location->line,
                               .address = location->address};
    return as_view_row_name(view, AS_STORE_BY_INSTRUCTION, &row, name);
}

const char *as_view_object_name(const struct as_store_object *objects, size_t n, uint32_t object,
                                char name[AS_SHOW_MAX])
{
    char text[AS_SHOW_MAX];
    if (object >= n)
        return "[unknown]";
    const struct as_store_object *known = &objects[object];
    if (known->module != AS_STORE_NONE || !known->address)
        return as_show(known->name, name);
    snprintf(text, sizeof text, "%.200s 0x%" PRIx64, known->name ? known->name : "", known->address);
    return as_show(text, name);
}

const char *as_view_component(const struct as_view *view, uint64_t events, char name[AS_COMPONENT_MAX])
{
    return events ? as_store_events_name(view->store, events, name, AS_COMPONENT_MAX) : "Base";
}

double as_view_cycles(const struct as_view *view, uint64_t units)
{
    return (double)units / view->summary.scale;
}
