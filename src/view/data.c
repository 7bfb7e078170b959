/* See data.h. */
#include "view/data.h"

#include "base/saturate.h"
#include "base/vec.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_BITS = 6 };

/* The key by which accesses are sorted. */
static uint64_t part_key(const struct as_data *data, const struct as_store_access *access)
{
    const struct as_store_location *location = &data->view->location[access->instruction];
    switch (data->level) {
    case AS_DATA_BY_INSTRUCTION:
        return access->instruction;
    case AS_DATA_BY_LINE:
        return (uint64_t)location->file << 32 | location->line;
    default:
        return 0;
    }
}

static int compare_groups(const struct as_data *data, const struct as_store_access *a, const struct as_store_access *b)
{
    if (a->object != b->object)
        return a->object < b->object ? -1 : 1;
    uint64_t x = part_key(data, a), y = part_key(data, b);
    return (x > y) - (x < y);
}

static int by_group(const void *x, const void *y, void *context)
{
    const struct as_store_access *a = x, *b = y;
    int order = compare_groups(context, a, b);
    if (order)
        return order;
    return (a->address > b->address) - (a->address < b->address);
}

static int by_instruction(const void *x, const void *y)
{
    const struct as_store_access *a = x, *b = y;
    return (a->instruction > b->instruction) - (a->instruction < b->instruction);
}

static int by_units(const void *x, const void *y)
{
    const struct as_data_row *a = x, *b = y;
    if (a->units != b->units)
        return a->units < b->units ? 1 : -1;
    if (a->object != b->object)
        return a->object < b->object ? -1 : 1;
    return (a->instruction > b->instruction) - (a->instruction < b->instruction);
}

/* ---- rows ---- */

/* Counts the different bytes and lines of accesses that are sorted by address. */
static void count_places(const struct as_store_access *accesses, size_t n, struct as_data_row *row)
{
    uint64_t end = 0, line = 0; /* the end of what is counted already */
    for (size_t i = 0; i < n; i++) {
        uint64_t start = accesses[i].address, size = accesses[i].size ? accesses[i].size : 1;
        uint64_t stop = start > UINT64_MAX - size ? UINT64_MAX : start + size;
        uint64_t first = start >> LINE_BITS, last = ((stop - 1) >> LINE_BITS) + 1;
        as_add_to(&row->bytes, stop > end ? stop - (start > end ? start : end) : 0);
        as_add_to(&row->lines, last > line ? last - (first > line ? first : line) : 0);
        end = stop > end ? stop : end;
        line = last > line ? last : line;
    }
}

static void keep_top(struct as_data_row *row, uint32_t instruction, uint64_t units)
{
    size_t at = row->n_top;
    while (at > 0 && row->top[at - 1].units < units)
        at--;
    if (at == AS_DATA_TOP)
        return;
    row->n_top += row->n_top < AS_DATA_TOP;
    for (size_t i = row->n_top - 1; i > at; i--)
        row->top[i] = row->top[i - 1];
    row->top[at].instruction = instruction;
    row->top[at].units = units;
}

/* Makes a row of accesses, which it leaves sorted by instruction. */
static struct as_data_row make_row(struct as_store_access *accesses, size_t n)
{
    struct as_data_row row = {.object = accesses[0].object};
    count_places(accesses, n, &row);
    qsort(accesses, n, sizeof *accesses, by_instruction);
    row.instruction = accesses[0].instruction;
    for (size_t i = 0, first = 0; i < n; i++) {
        as_add_to(&row.units, accesses[i].units);
        as_add_to(&row.samples, accesses[i].samples);
        as_add_to(&row.load_units, accesses[i].kind & AS_STORE_LOAD ? accesses[i].units : 0);
        as_add_to(&row.store_units, accesses[i].kind & AS_STORE_STORE ? accesses[i].units : 0);
        if (i + 1 < n && accesses[i + 1].instruction == accesses[first].instruction)
            continue;
        uint64_t units = 0;
        for (; first <= i; first++)
            as_add_to(&units, accesses[first].units);
        keep_top(&row, accesses[i].instruction, units);
        row.n_instructions++;
    }
    return row;
}

static size_t filter(const struct as_view *view, struct as_store_access *accesses, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (as_view_counts(view, accesses[i].instruction))
            accesses[kept++] = accesses[i];
    return kept;
}

static void make_rows(struct as_data *data, struct as_store_access *accesses, size_t n)
{
    AS_VEC(struct as_data_row) rows = {0};
    if (n)
        qsort_r(accesses, n, sizeof *accesses, by_group, data);
    for (size_t first = 0, i = 1; i <= n; i++) {
        if (i < n && compare_groups(data, &accesses[first], &accesses[i]) == 0)
            continue;
        struct as_data_row row = make_row(accesses + first, i - first);
        *as_vec_push(&rows) = row;
        as_add_to(&data->units, row.units);
        as_add_to(&data->samples, row.samples);
        first = i;
    }
    if (rows.len)
        qsort(rows.data, rows.len, sizeof *rows.data, by_units);
    data->rows = rows.data;
    data->n = rows.len;
}

/* ---- how the addresses were obtained ---- */

static const char reason_prefix[] = "data_none_";

static double quality_of(const struct as_view *view, const char *key)
{
    size_t n;
    const struct as_store_quality *quality = as_store_quality(view->store, &n);
    for (size_t i = 0; i < n; i++)
        if (quality[i].key && strcmp(quality[i].key, key) == 0 && quality[i].value > 0)
            return quality[i].value;
    return 0;
}

static void find_origins(struct as_data *data)
{
    static const struct as_data_origin origins[] = {
        [AS_DATA_HARDWARE] = {.key = "data_hardware", .text = "recorded by the processor"},
        [AS_DATA_EXACT] = {.key = "data_exact", .text = "exact"},
        [AS_DATA_NEXT] = {.key = "data_next", .text = "next"},
        [AS_DATA_WATCHED] = {.key = "data_watched", .text = "watched"},
        [AS_DATA_NONE] = {.key = "data_none", .text = "none"}};
    for (size_t i = 0; i < AS_DATA_ORIGINS; i++) {
        data->origins[i] = origins[i];
        data->origins[i].samples = quality_of(data->view, origins[i].key);
    }
    data->watch_hits = quality_of(data->view, "watch_hit");
}

bool as_data_next_reason(const struct as_data *data, size_t *at, const char **reason, double *samples)
{
    size_t n, length = sizeof reason_prefix - 1;
    const struct as_store_quality *quality = as_store_quality(data->view->store, &n);
    while (*at < n) {
        const struct as_store_quality *row = &quality[(*at)++];
        if (!row->key || strncmp(row->key, reason_prefix, length) != 0)
            continue;
        *reason = row->key + length;
        *samples = row->value;
        return true;
    }
    return false;
}

/* ---- all of it ---- */

bool as_data_read(struct as_data *data, const struct as_view *view, enum as_data_level level, struct as_error *err)
{
    *data = (struct as_data){.view = view, .level = level};
    struct as_store_access *accesses =
        as_store_accesses(view->store, view->series, view->threads, &data->n_accesses, err);
    if (!accesses)
        return false;
    data->objects = as_store_objects(view->store, &data->n_objects);
    make_rows(data, accesses, filter(view, accesses, data->n_accesses));
    find_origins(data);
    free(accesses);
    return true;
}

bool as_data_make(struct as_data *data, const struct as_view *view, enum as_data_level level, struct as_error *err)
{
    if (!as_data_read(data, view, level, err))
        return false;
    double none = data->origins[AS_DATA_NONE].samples;
    if (!data->n_accesses && none > 0)
        return as_error_set(err,
                            "%s: none of the %.0f samples has a data address: the code accesses no memory, or its "
                            "accesses could not be reconstructed (report --json: quality, data_none_…)",
                            as_store_file_name(view->store), none);
    return data->n_accesses ||
           as_error_set(err,
                        "%s: no data addresses in series %s; 'assay record --source=timer --accesses' records them",
                        as_store_file_name(view->store), view->summary.sampler ? view->summary.sampler : "?");
}

void as_data_free(struct as_data *data)
{
    free(data->rows);
}
