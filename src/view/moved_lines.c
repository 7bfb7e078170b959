/* See moved_lines.h. What a sample met is a mask of the profile's events, which are found by their names. */
#include "view/moved_lines.h"

#include "base/path.h"
#include "view/view.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum met { L1, FILL_BUFFER, L2, L3, RAM, REMOTE, FAR_NODE, MODIFIED, LOCKED, L1_MISS, MISSED, MET_COUNT };

static const char *const names[MET_COUNT] = {
    [L1] = "L1",
    [FILL_BUFFER] = "fill buffer",
    [L2] = "L2",
    [L3] = "L3",
    [RAM] = "RAM",
    [REMOTE] = "remote",
    [FAR_NODE] = "far-node",
    [MODIFIED] = "modified",
    [LOCKED] = "locked",
    [L1_MISS] = "L1-miss",
    [MISSED] = "missed",
};

struct lines {
    struct as_view view;
    struct as_c2c *c2c;
    struct as_c2c_index index;
    uint64_t mask[MET_COUNT];
    const struct as_store_object *objects;
    size_t n_objects;
};

static void find_events(struct lines *lines)
{
    size_t n;
    const struct as_store_event *events = as_store_events(lines->view.store, &n);
    for (size_t i = 0; i < n; i++)
        for (enum met met = 0; met < MET_COUNT; met++)
            if (strcmp(events[i].name, names[met]) == 0)
                lines->mask[met] |= UINT64_C(1) << events[i].bit;
}

/* IBS and SPE have a bit for a miss alone. Of a modelled store it is not known when it is sampled. */
static bool is_modelled(const struct lines *lines)
{
    const char *source = as_store_meta(lines->view.store, AS_META_SOURCE);
    return source && strncmp(source, "pmu:", 4) == 0;
}

/* ---- one sample's worth ---- */

static void count_load(const struct lines *lines, uint64_t events, uint64_t n, struct as_c2c_counts *counts)
{
    const uint64_t *mask = lines->mask;
    bool remote = events & mask[REMOTE], memory = events & mask[RAM];
    counts->loads = n;
    if (events & mask[MODIFIED])
        *(remote ? &counts->remote_hitm : &counts->local_hitm) = n;
    else if (remote && !memory) /* the cache of another core, in a state that is not told */
        *(events & mask[FAR_NODE] ? &counts->remote_peer : &counts->local_peer) = n;
    else if (memory)
        *(remote ? &counts->remote_dram : &counts->local_dram) = n;
    else if (events & mask[L3])
        counts->load_llc = n;
    else if (events & mask[L2])
        counts->load_l2 = n;
    else if (events & mask[FILL_BUFFER])
        counts->load_fill_buffer = n;
    else if (events & mask[L1])
        counts->load_l1 = n;
}

static void count_store(const struct lines *lines, uint64_t events, uint64_t n, struct as_c2c_counts *counts)
{
    const uint64_t *mask = lines->mask;
    counts->stores = n;
    if (events & (mask[L1_MISS] | mask[MISSED]))
        counts->store_l1_miss = n;
    else if (events & mask[L1] && !lines->c2c->modelled)
        counts->store_l1_hit = n;
    else
        counts->store_no_level = n;
}

/* An atomic is a load, as for perf. */
static struct as_c2c_counts count(const struct lines *lines, const struct as_store_access_component *row)
{
    struct as_c2c_counts counts = {.records = row->samples};
    counts.locks = row->events & lines->mask[LOCKED] ? row->samples : 0;
    if (row->kind & AS_STORE_LOAD)
        count_load(lines, row->events, row->samples, &counts);
    else if (row->kind & AS_STORE_STORE)
        count_store(lines, row->events, row->samples, &counts);
    else
        counts.unparsed = row->samples;
    return counts;
}

/* ---- names ---- */

static char *object_of(const struct lines *lines, uint32_t object, uint64_t line)
{
    if (object >= lines->n_objects)
        return as_strdup("[unknown]");
    const struct as_store_object *known = &lines->objects[object];
    const char *name = known->name ? known->name : "[unknown]";
    bool inside = known->module != AS_STORE_NONE && known->address && line > known->address;
    return inside ? as_format("%s+0x%" PRIx64, name, line - known->address) : as_strdup(name);
}

static char *code_of(const struct lines *lines, uint32_t instruction)
{
    const struct as_view *view = &lines->view;
    char name[AS_ROW_NAME_MAX];
    const struct as_store_location *location = &view->location[instruction];
    const char *file = as_view_file(view, location->file), *function = as_view_function(view, location->function);
    if (file && function && location->line)
        return as_format("%s at %s:%" PRIu32, function, as_path_base(file), location->line);
    return as_strdup(as_view_location_name(view, instruction, name));
}

static char *module_of(const struct lines *lines, uint32_t instruction)
{
    const char *module = as_view_module(&lines->view, lines->view.location[instruction].module);
    return as_strdup(module ? module : "[unknown]");
}

/* ---- the rows of a series ---- */

static bool slot_of(struct lines *lines, const struct as_store_access_component *row, struct as_c2c_slot *slot)
{
    const struct as_store_thread *thread = &lines->view.thread[row->thread];
    uint64_t ip = lines->view.location[row->instruction].address;
    if (!row->address || !as_c2c_slot(lines->c2c, &lines->index, thread->process, row->address, ip, slot))
        return false;
    if (!slot->line->object)
        slot->line->object = object_of(lines, row->object, slot->line->address);
    if (!slot->access->code) {
        slot->access->code = code_of(lines, row->instruction);
        slot->access->module = module_of(lines, row->instruction);
    }
    return true;
}

static void add_row(struct lines *lines, const struct as_store_access_component *row)
{
    struct as_c2c_counts counts = count(lines, row);
    struct as_c2c_slot slot;
    as_c2c_add_counts(&lines->c2c->counts, &counts);
    if (!counts.unparsed && slot_of(lines, row, &slot))
        as_c2c_add(&slot, &counts, lines->view.thread[row->thread].number);
}

/* Of a series that has the latencies of another one's accesses. */
static void add_latency(struct lines *lines, const struct as_store_access_component *row)
{
    struct as_c2c_slot slot;
    if (row->kind & AS_STORE_LOAD && slot_of(lines, row, &slot)) {
        slot.access->latency += row->units;
        slot.access->weighed += row->samples;
    }
}

/* Whether the series has values of another one's samples: it is called like that one, and what the values are. */
static bool is_measure(const struct as_store_series *series, size_t n, size_t at)
{
    for (size_t i = 0; i < n; i++) {
        size_t length = strlen(series[i].name);
        if (i != at && strncmp(series[at].name, series[i].name, length) == 0 && series[at].name[length] == ' ')
            return true;
    }
    return false;
}

static bool add_series(struct lines *lines, const struct as_store_series *series, size_t n, size_t at,
                       struct as_error *err)
{
    size_t n_rows;
    struct as_store_access_component *rows =
        as_store_access_components(lines->view.store, (uint32_t)at, NULL, &n_rows, err);
    bool measure = is_measure(series, n, at);
    for (size_t i = 0; rows && i < n_rows; i++)
        if (measure)
            add_latency(lines, &rows[i]);
        else
            add_row(lines, &rows[i]);
    if (!measure)
        lines->c2c->without_source += series[at].samples;
    free(rows);
    return rows;
}

static bool add_all(struct lines *lines, struct as_error *err)
{
    size_t n;
    const struct as_store_series *series = as_store_series(lines->view.store, &n);
    for (size_t i = 0; i < n; i++)
        if (!series[i].exact && !add_series(lines, series, n, i, err))
            return false;
    uint64_t told = lines->c2c->counts.records;
    lines->c2c->without_source -= told < lines->c2c->without_source ? told : lines->c2c->without_source;
    return true;
}

bool as_moved_lines_read(struct as_c2c *c2c, const char *path, struct as_error *err)
{
    struct lines lines = {.c2c = c2c};
    if (!as_view_open(&lines.view, &(struct as_view_options){.file = path}, err))
        return false;
    bool ok = as_store_load(lines.view.store, AS_STORE_DATA, err);
    lines.objects = as_store_objects(lines.view.store, &lines.n_objects);
    find_events(&lines);
    c2c->modelled = is_modelled(&lines);
    ok = ok && add_all(&lines, err);
    if (ok && !c2c->counts.records)
        ok =
            as_error_set(err,
                         "%s: no sample says where its data came from; record loads and stores with a PMU that records "
                         "data sources (record --source=pmu:NAME), or run the program with 'assay comm'",
                         path);
    as_c2c_sort(c2c);
    as_c2c_index_free(&lines.index);
    as_view_free(&lines.view);
    return ok;
}
