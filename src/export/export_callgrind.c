/* Callgrind's format, version 1 (valgrind.org, "Callgrind Format Specification"): the self cost of each function by
 * instruction, and for each of its calls the cost of the callee. The events are the time and its components: the
 * largest by name, the rest in one.
 *
 * The number of calls is known if the series counts executions and the call has one target; otherwise the number of its
 * call paths is written. A call that recurs below itself counts once, with its outermost cost.
 */
#include "export/export_frames.h"
#include "export/export_internal.h"
#include "export/export_text.h"

#include <ctype.h>
#include <inttypes.h>

enum { MOST_EVENTS = 13 }; /* events: the time, its components, and one for the remaining components */

struct fn {
    uint32_t function, module; /* function NONE: code of a module outside any function */
};

/* Self cost in units; only the parts are kept, because they add up. */
struct cost {
    uint32_t fn, instruction;
    uint64_t address;
    uint64_t parts[MOST_EVENTS - 1];
};

struct call {
    uint32_t caller, callee; /* fn */
    uint64_t address;        /* of the call; 0: unknown */
    uint32_t site, paths;    /* instruction, or NONE */
    uint64_t target;
    uint64_t parts[MOST_EVENTS - 1];
};

struct writer {
    struct as_export_view view;
    struct as_export_frames frames;
    FILE *out;
    struct as_str text;
    size_t n_parts;
    struct as_map part_of;                /* events to part */
    struct as_map by_function, by_module; /* to fn + 1 */
    struct as_map executions;             /* by instruction */
    struct as_map targets;                /* by call site: how many callees */
    struct as_strings *names[3];          /* names written already, by context */
    struct as_strings *call_keys, *event_names;
    AS_VEC(struct fn) fns;
    AS_VEC(struct cost) costs;
    AS_VEC(struct call) calls;
    struct as_export_rounder rounder;
    uint64_t totals[MOST_EVENTS - 1];
};

static uint32_t fn_of(struct writer *writer, uint32_t function, uint32_t module)
{
    uint64_t *known =
        function == AS_STORE_NONE ? as_map_put(&writer->by_module, module) : as_map_put(&writer->by_function, function);
    if (*known == 0) {
        *as_vec_push(&writer->fns) = (struct fn){function, module};
        *known = writer->fns.len;
    }
    return (uint32_t)*known - 1;
}

static size_t part_of(const struct writer *writer, uint64_t events)
{
    return (size_t)*as_map_get(&writer->part_of, events);
}

static void name_parts(struct writer *writer)
{
    size_t n = writer->view.masks.len, last = MOST_EVENTS - 2;
    writer->n_parts = n <= last + 1 ? n : last + 1;
    for (size_t i = 0; i < n; i++)
        *as_map_put(&writer->part_of, writer->view.masks.data[i].events) = n <= last + 1 || i < last ? i : last;
}

/* ---- own costs ---- */

static int compare_costs(const void *a, const void *b)
{
    const struct cost *x = a, *y = b;
    if (x->fn != y->fn)
        return x->fn < y->fn ? -1 : 1;
    if (x->address != y->address)
        return x->address < y->address ? -1 : 1;
    return x->instruction < y->instruction ? -1 : x->instruction > y->instruction;
}

static void add_costs(struct writer *writer)
{
    size_t n;
    const struct as_export_view *view = &writer->view;
    const struct as_store_location *locations = as_store_locations(view->store, &n);
    struct as_map known = {0}; /* instruction to cost + 1 */
    for (size_t i = 0; i < view->cells.len; i++) {
        const struct as_export_cell *cell = &view->cells.data[i];
        const struct as_store_location *location = &locations[cell->instruction];
        uint64_t *index = as_map_put(&known, cell->instruction);
        if (*index == 0) {
            *as_vec_push(&writer->costs) = (struct cost){.fn = fn_of(writer, location->function, location->module),
                                                         .instruction = cell->instruction,
                                                         .address = location->address};
            *index = writer->costs.len;
        }
        writer->costs.data[*index - 1].parts[part_of(writer, cell->events)] += cell->units;
    }
    as_map_free(&known);
    for (size_t i = 0; i < view->raw.n_times; i++)
        *as_map_put(&writer->executions, view->raw.times[i].instruction) += view->raw.times[i].executions;
    if (writer->costs.len > 0)
        qsort(writer->costs.data, writer->costs.len, sizeof *writer->costs.data, compare_costs);
}

/* ---- calls ---- */

static int compare_calls(const void *a, const void *b)
{
    const struct call *x = a, *y = b;
    if (x->caller != y->caller)
        return x->caller < y->caller ? -1 : 1;
    if (x->address != y->address)
        return x->address < y->address ? -1 : 1;
    return x->callee < y->callee ? -1 : x->callee > y->callee;
}

static uint32_t fn_of_path(struct writer *writer, const struct as_store_path *path)
{
    size_t n;
    uint32_t module = path->function == AS_STORE_NONE
                          ? AS_STORE_NONE
                          : as_store_functions(writer->view.store, &n)[path->function].module;
    return fn_of(writer, path->function, module);
}

/* Returns the number of the call that leads to a path; paths with the same caller, call and callee share it. */
static uint32_t call_of(struct writer *writer, const struct as_store_path *paths, uint32_t at)
{
    const struct as_store_path *path = &paths[at];
    struct call call = {.caller = fn_of_path(writer, &paths[path->parent]),
                        .callee = fn_of_path(writer, path),
                        .address = path->call_address,
                        .site = path->call_site,
                        .target = path->address};
    char key[64];
    snprintf(key, sizeof key, "%" PRIx32 " %" PRIx32 " %" PRIx64, call.caller, call.callee, call.address);
    uint32_t number = as_strings_intern(writer->call_keys, key);
    if (number == writer->calls.len) {
        *as_vec_push(&writer->calls) = call;
        ++*as_map_put(&writer->targets, call.site);
    }
    return number;
}

/* The time of each path with everything it calls, by part. Parents come before their children. */
static uint64_t *path_totals(const struct writer *writer, const struct as_store_path *paths, size_t n)
{
    size_t width = writer->n_parts;
    uint64_t *totals = as_alloc_array(n * width + 1, sizeof *totals);
    for (size_t i = 0; i < writer->view.cells.len; i++) {
        const struct as_export_cell *cell = &writer->view.cells.data[i];
        if (cell->path != AS_STORE_NONE)
            totals[cell->path * width + part_of(writer, cell->events)] += cell->units;
    }
    for (size_t i = n; i-- > 0;)
        for (size_t k = 0; paths[i].parent != AS_STORE_NONE && k < width; k++)
            totals[paths[i].parent * width + k] += totals[i * width + k];
    return totals;
}

/* Finds out whether each path's call is open already further up the stack: depth first, by parents and siblings. */
struct walk {
    const struct as_store_path *paths;
    const uint32_t *call;      /* by path: number + 1; 0: a root */
    uint32_t *child, *sibling; /* as number + 1 */
    uint32_t *open;            /* by call */
    bool *again;               /* by path */
};

static void walk_from(const struct walk *walk, uint32_t root)
{
    uint32_t at = root;
    for (;;) {
        if (walk->call[at])
            walk->again[at] = walk->open[walk->call[at] - 1]++ > 0;
        if (walk->child[at]) {
            at = walk->child[at] - 1;
            continue;
        }
        for (;; at = walk->paths[at].parent) {
            if (walk->call[at])
                walk->open[walk->call[at] - 1]--;
            if (at == root)
                return;
            if (walk->sibling[at])
                break;
        }
        at = walk->sibling[at] - 1;
    }
}

static bool *find_repeated(const struct writer *writer, const struct as_store_path *paths, size_t n,
                           const uint32_t *call)
{
    struct walk walk = {.paths = paths,
                        .call = call,
                        .child = as_alloc_array(n, sizeof(uint32_t)),
                        .sibling = as_alloc_array(n, sizeof(uint32_t)),
                        .open = as_alloc_array(writer->calls.len, sizeof(uint32_t)),
                        .again = as_alloc_array(n, sizeof(bool))};
    for (size_t i = n; i-- > 0;)
        if (paths[i].parent != AS_STORE_NONE) {
            walk.sibling[i] = walk.child[paths[i].parent];
            walk.child[paths[i].parent] = (uint32_t)i + 1;
        }
    for (size_t i = 0; i < n; i++)
        if (paths[i].parent == AS_STORE_NONE)
            walk_from(&walk, (uint32_t)i);
    free(walk.child);
    free(walk.sibling);
    free(walk.open);
    return walk.again;
}

static void add_calls(struct writer *writer)
{
    size_t n;
    const struct as_store_path *paths = as_store_paths(writer->view.store, &n);
    uint64_t *totals = path_totals(writer, paths, n);
    uint32_t *call = as_alloc_array(n, sizeof *call);
    for (uint32_t i = 0; i < n; i++)
        call[i] = paths[i].parent == AS_STORE_NONE ? 0 : call_of(writer, paths, i) + 1;
    bool *again = find_repeated(writer, paths, n, call);
    for (size_t i = 0; i < n; i++) {
        if (!call[i])
            continue;
        struct call *into = &writer->calls.data[call[i] - 1];
        into->paths++;
        for (size_t k = 0; !again[i] && k < writer->n_parts; k++)
            into->parts[k] += totals[i * writer->n_parts + k];
    }
    free(totals);
    free(call);
    free(again);
    if (writer->calls.len > 0)
        qsort(writer->calls.data, writer->calls.len, sizeof *writer->calls.data, compare_calls);
}

/* ---- writing ---- */

enum context { FILES, FUNCTIONS, OBJECTS };

/* Readers strip blanks at both ends of a name, and take a name of blanks only for no name. */
static void add_name(struct as_str *text, const char *name)
{
    const char *quote = name[0] == ' ' || name[strlen(name) - 1] == ' ' ? "\"" : "";
    as_str_add(text, quote);
    as_export_clean(text, name, NULL, 0, 0);
    as_str_add(text, quote);
}

/* Writes "(3) name" the first time, "(3)" from then on. */
static void put_name(struct writer *writer, const char *key, enum context context, const char *name)
{
    as_str_clear(&writer->text);
    add_name(&writer->text, name && name[0] ? name : "???");
    size_t before = as_strings_count(writer->names[context]);
    uint32_t number = as_strings_intern(writer->names[context], as_str_get(&writer->text));
    fprintf(writer->out, "%s=(%" PRIu32 ")%s%s\n", key, number + 1, number == before ? " " : "",
            number == before ? as_str_get(&writer->text) : "");
}

static const char *module_path(const struct writer *writer, uint32_t module)
{
    size_t n;
    return module == AS_STORE_NONE ? NULL : as_store_modules(writer->view.store, &n)[module].path;
}

static const char *file_path(const struct writer *writer, uint32_t file)
{
    size_t n;
    return file == AS_STORE_NONE ? NULL : as_store_files(writer->view.store, &n)[file];
}

/* Readers identify a function by its file and name. If there is no file, its object tells it from functions of the same
 * name.
 */
static void put_source(struct writer *writer, const char *key, const char *file, uint32_t module)
{
    const char *object = module_path(writer, module);
    char *instead = (!file || !file[0]) && object && object[0] ? as_format("??? (%s)", object) : NULL;
    put_name(writer, key, FILES, instead ? instead : file);
    free(instead);
}

static const struct as_export_frame *frame_of(struct writer *writer, const struct fn *fn)
{
    uint32_t frame = as_export_function_frame(&writer->frames, fn->function, fn->module); /* may move the frames */
    return &writer->frames.frames.data[frame];
}

static uint32_t file_of(const struct writer *writer, const struct fn *fn)
{
    size_t n;
    return fn->function == AS_STORE_NONE ? AS_STORE_NONE
                                         : as_store_functions(writer->view.store, &n)[fn->function].file;
}

static bool put_values(struct writer *writer, uint64_t address, uint32_t line, const uint64_t *values)
{
    uint64_t time = 0;
    for (size_t k = 0; k < writer->n_parts; k++)
        time += values[k];
    if (!time)
        return false;
    fprintf(writer->out, "0x%" PRIx64 " %" PRIu32 " %" PRIu64, address, line, time);
    for (size_t k = 0; writer->view.has_components && k < writer->n_parts; k++)
        fprintf(writer->out, " %" PRIu64, values[k]);
    fputc('\n', writer->out);
    return true;
}

/* `file`: the file that lines currently refer to. */
static void put_file(struct writer *writer, const struct fn *fn, uint32_t wanted, uint32_t *file)
{
    if (wanted == *file || wanted == AS_STORE_NONE)
        return;
    put_name(writer, wanted == file_of(writer, fn) ? "fe" : "fi", FILES, file_path(writer, wanted));
    *file = wanted;
}

static void put_cost(struct writer *writer, const struct fn *fn, const struct cost *cost, uint32_t *file)
{
    size_t n;
    const struct as_store_location *location = &as_store_locations(writer->view.store, &n)[cost->instruction];
    uint64_t values[MOST_EVENTS - 1] = {0}, any = 0;
    for (size_t k = 0; k < writer->n_parts; k++) {
        any += values[k] = as_export_round(&writer->rounder, cost->parts[k]);
        writer->totals[k] += values[k];
    }
    if (!any)
        return;
    put_file(writer, fn, location->file, file);
    put_values(writer, cost->address, location->file == *file ? location->line : 0, values);
}

static uint64_t count_of(const struct writer *writer, const struct call *call)
{
    const uint64_t *executions = as_map_get(&writer->executions, call->site);
    const uint64_t *targets = as_map_get(&writer->targets, call->site);
    bool known = call->site != AS_STORE_NONE && executions && *executions && targets && *targets == 1;
    return known ? *executions : call->paths;
}

static void put_call(struct writer *writer, const struct fn *fn, const struct call *call, uint32_t *file)
{
    size_t n;
    const struct fn *callee = &writer->fns.data[call->callee];
    const struct as_store_location *location =
        call->site == AS_STORE_NONE ? NULL : &as_store_locations(writer->view.store, &n)[call->site];
    uint64_t values[MOST_EVENTS - 1] = {0}, any = 0;
    uint64_t scale = writer->view.series->scale;
    for (size_t k = 0; k < writer->n_parts; k++)
        any += values[k] = call->parts[k] / scale + (call->parts[k] % scale > scale / 2);
    if (!any)
        return;
    if (location)
        put_file(writer, fn, location->file, file);
    const struct as_export_frame *frame = frame_of(writer, callee);
    put_name(writer, "cob", OBJECTS, module_path(writer, callee->module));
    put_source(writer, "cfi", frame->file, callee->module);
    put_name(writer, "cfn", FUNCTIONS, frame->name);
    fprintf(writer->out, "calls=%" PRIu64 " 0x%" PRIx64 " %" PRIu32 "\n", count_of(writer, call), call->target,
            frame->line);
    put_values(writer, call->address, location && location->file == *file ? location->line : 0, values);
}

static void put_functions(struct writer *writer)
{
    size_t cost = 0, call = 0;
    for (uint32_t i = 0; i < writer->fns.len && !ferror(writer->out); i++) {
        const struct fn fn = writer->fns.data[i];
        uint32_t file = file_of(writer, &fn);
        fputc('\n', writer->out);
        put_name(writer, "ob", OBJECTS, module_path(writer, fn.module));
        put_source(writer, "fl", file_path(writer, file), fn.module);
        put_name(writer, "fn", FUNCTIONS, frame_of(writer, &fn)->name);
        for (; cost < writer->costs.len && writer->costs.data[cost].fn == i; cost++)
            put_cost(writer, &fn, &writer->costs.data[cost], &file);
        for (; call < writer->calls.len && writer->calls.data[call].caller == i; call++)
            put_call(writer, &fn, &writer->calls.data[call], &file);
    }
}

/* Event names consist of letters, digits and '_' here; the real names follow them. */
static void event_name(struct writer *writer, size_t part, char *name, char *full, size_t size)
{
    size_t before = as_strings_count(writer->event_names);
    if (part == MOST_EVENTS - 2 && writer->view.masks.len > MOST_EVENTS - 1)
        snprintf(full, size, "other components");
    else
        as_store_events_name(writer->view.store, writer->view.masks.data[part].events, full, size);
    snprintf(name, size, "%s", full);
    for (char *at = name; *at; at++)
        *at = isalnum((unsigned char)*at) ? *at : '_';
    if (!isalpha((unsigned char)name[0]) || as_strings_intern(writer->event_names, name) != before)
        snprintf(name, size, "Component_%zu", part + 1);
}

static void put_line(struct writer *writer, const char *key, const char *text)
{
    as_str_clear(&writer->text);
    as_export_clean(&writer->text, text, NULL, 0, 0);
    fprintf(writer->out, "%s: %s\n", key, as_str_get(&writer->text));
}

static void put_command(struct writer *writer)
{
    size_t n;
    const char *const *arguments = as_store_arguments(writer->view.store, &n);
    struct as_str command = {0};
    for (size_t i = 0; i < n; i++)
        as_str_addf(&command, "%s%s", i ? " " : "", arguments[i]);
    if (n > 0)
        put_line(writer, "cmd", as_str_get(&command));
    as_str_free(&command);
}

static void put_header(struct writer *writer)
{
    char name[256], full[256];
    struct as_str events = {0}, line = {0};
    as_export_clean(&events, as_export_unit(writer->view.series), " \t:", '_', 64);
    fputs("# callgrind format\nversion: 1\ncreator: assay\n", writer->out);
    put_command(writer);
    as_str_addf(&line, "Series: %s", writer->view.series->name);
    put_line(writer, "desc", as_str_get(&line));
    fputs("positions: instr line\n", writer->out);
    events.data[0] = (char)toupper((unsigned char)events.data[0]);
    for (size_t k = 0; writer->view.has_components && k < writer->n_parts; k++) {
        event_name(writer, k, name, full, sizeof name);
        as_str_addf(&events, " %s", name);
        as_str_clear(&line);
        as_str_addf(&line, "%s : %s", name, full);
        put_line(writer, "event", as_str_get(&line));
    }
    fprintf(writer->out, "events: %s\n", as_str_get(&events));
    as_str_free(&events);
    as_str_free(&line);
}

static void put_totals(struct writer *writer)
{
    uint64_t time = 0;
    for (size_t k = 0; k < writer->n_parts; k++)
        time += writer->totals[k];
    fprintf(writer->out, "\ntotals: %" PRIu64, time);
    for (size_t k = 0; writer->view.has_components && k < writer->n_parts; k++)
        fprintf(writer->out, " %" PRIu64, writer->totals[k]);
    fputc('\n', writer->out);
}

static void free_writer(struct writer *writer)
{
    as_map_free(&writer->part_of);
    as_map_free(&writer->by_function);
    as_map_free(&writer->by_module);
    as_map_free(&writer->executions);
    as_map_free(&writer->targets);
    for (size_t i = 0; i < 3; i++)
        as_strings_free(writer->names[i]);
    as_strings_free(writer->call_keys);
    as_strings_free(writer->event_names);
    as_vec_free(&writer->fns);
    as_vec_free(&writer->costs);
    as_vec_free(&writer->calls);
    as_str_free(&writer->text);
    as_export_frames_free(&writer->frames);
    as_export_view_free(&writer->view);
}

static bool write_callgrind(struct as_store *store, const struct as_export_options *options, FILE *out,
                            struct as_error *err)
{
    struct writer writer = {.out = out};
    if (!as_export_view_open(&writer.view, store, options, err))
        return false;
    writer.rounder = (struct as_export_rounder){.scale = writer.view.series->scale, .parts = 1};
    for (size_t i = 0; i < 3; i++)
        writer.names[i] = as_strings_new();
    writer.call_keys = as_strings_new();
    writer.event_names = as_strings_new();
    as_export_frames_open(&writer.frames, &writer.view);
    name_parts(&writer);
    add_costs(&writer);
    add_calls(&writer);
    put_header(&writer);
    put_functions(&writer);
    put_totals(&writer);
    free_writer(&writer);
    return true;
}

const struct as_export_format as_export_callgrind = {
    .name = "callgrind", .description = "for callgrind_annotate and KCachegrind", .write = write_callgrind};
