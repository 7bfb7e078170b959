/* See waits.h. The rows are sorted once for each level, so that those that belong together are neighbours. */
#include "view/waits.h"

#include "base/alloc.h"
#include "base/path.h"
#include "base/saturate.h"
#include "base/vec.h"
#include "comm/lock_object.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- bytes ---- */

/* Profiles of the model say how long a line was; 64 bytes where one does not. */
static uint64_t find_line_bytes(const struct as_store *store)
{
    enum { USUAL = 64, MOST = 1 << 20 };
    size_t n;
    const struct as_store_pair *pairs = as_store_machine(store, &n);
    for (size_t i = 0; i < n; i++) {
        if (strcmp(pairs[i].key, "memory.line") != 0 || !pairs[i].value)
            continue;
        char *unit;
        uint64_t bytes = strtoull(pairs[i].value, &unit, 10) * (strchr(unit, 'K') ? 1024 : 1);
        return bytes && bytes <= MOST ? bytes : USUAL;
    }
    return USUAL;
}

uint64_t as_waits_bytes(const struct as_waits *waits, const struct as_store_wait *wait)
{
    if (wait->kind == AS_STORE_WAIT_UPGRADE)
        return 0;
    return wait->transfers > UINT64_MAX / waits->line_bytes ? UINT64_MAX : wait->transfers * waits->line_bytes;
}

/* ---- rows ---- */

static int compare(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int compare_keys(enum as_waits_level level, const struct as_store_wait *a, const struct as_store_wait *b)
{
    int order = 0;
    if (level != AS_WAITS_BY_PAIR)
        order = compare(a->object, b->object);
    if (level == AS_WAITS_BY_LINE)
        order = order ? order : compare(a->line, b->line);
    if (level == AS_WAITS_BY_PAIR) {
        order = compare(a->instruction, b->instruction);
        order = order ? order : compare(a->culprit, b->culprit);
    }
    return order;
}

static int by_level(const void *x, const void *y, void *context)
{
    const struct as_store_wait *const *a = x, *const *b = y;
    int order = compare_keys(*(const enum as_waits_level *)context, *a, *b);
    return order ? order : compare((*b)->units, (*a)->units);
}

static int by_units(const void *x, const void *y)
{
    const struct as_waits_row *a = x, *b = y;
    int order = compare(b->units, a->units);
    order = order ? order : compare(a->top->line, b->top->line);
    return order ? order : compare(a->top->instruction, b->top->instruction);
}

/* Rows are added with the longest wait first, so the first lock is that of the longest wait for one. */
static void add_to_row(const struct as_waits *waits, struct as_waits_row *row, const struct as_store_wait *wait)
{
    const char *lock = as_waits_lock(waits, wait);
    as_add_to(&row->lock_units, lock ? wait->units : 0);
    row->lock = row->lock ? row->lock : lock;
    as_add_to(&row->units, wait->units);
    as_add_to(&row->false_units, wait->sharing ? 0 : wait->units);
    as_add_to(&row->transfers, wait->transfers);
    as_add_to(&row->bytes, as_waits_bytes(waits, wait));
    row->n++;
}

static void make_level(struct as_waits *waits, enum as_waits_level level)
{
    AS_VEC(struct as_waits_row) rows = {0};
    const struct as_store_wait **sorted = as_alloc_array(waits->n + 1, sizeof *sorted);
    for (size_t i = 0; i < waits->n; i++)
        sorted[i] = &waits->all[i];
    qsort_r(sorted, waits->n, sizeof *sorted, by_level, &level);
    for (size_t i = 0; i < waits->n; i++) {
        if (i == 0 || compare_keys(level, sorted[i - 1], sorted[i]) != 0)
            *as_vec_push(&rows) = (struct as_waits_row){.top = sorted[i]};
        add_to_row(waits, &rows.data[rows.len - 1], sorted[i]);
    }
    if (rows.len)
        qsort(rows.data, rows.len, sizeof *rows.data, by_units);
    waits->rows[level] = rows.data;
    waits->n_rows[level] = rows.len;
    free(sorted);
}

/* ---- threads ---- */

static bool is_first(const struct as_view *view, size_t thread)
{
    for (size_t i = 0; i < thread; i++)
        if (view->thread[i].process == view->thread[thread].process)
            return false;
    return true;
}

static void make_matrix(struct as_waits *waits)
{
    size_t started = 0;
    size_t n = waits->view->n_threads < AS_PAIR_THREADS ? waits->view->n_threads : AS_PAIR_THREADS;
    as_pair_matrix_grow(&waits->matrix, n);
    for (size_t i = 0; i < waits->n; i++) {
        const struct as_store_wait *wait = &waits->all[i];
        if (wait->thread < n && wait->other < n)
            as_pair_matrix_add(&waits->matrix, wait->other, wait->thread, !wait->sharing, wait->units);
    }
    for (size_t i = 0; i < n; i++)
        started += !is_first(waits->view, i);
    waits->pattern = as_pattern_of_run(&waits->matrix, waits->transfers, started);
}

static bool takes_part(const struct as_pair_matrix *matrix, size_t thread)
{
    for (size_t i = 0; i < matrix->n; i++)
        if (as_pair_sum(as_pair_matrix_pair(matrix, thread, i)))
            return true;
    return false;
}

static void find_threads(struct as_waits *waits)
{
    size_t n = waits->matrix.n;
    uint32_t *order = as_alloc_array(n + 1, sizeof *order);
    waits->threads = as_alloc_array(n + 1, sizeof *waits->threads);
    as_pattern_order(&waits->matrix, order);
    for (size_t i = 0; i < n; i++)
        if (takes_part(&waits->matrix, order[i]))
            waits->threads[waits->n_threads++] = order[i];
    free(order);
}

struct as_pair_cell as_waits_cell(const struct as_waits *waits, size_t thread, size_t other)
{
    return waits->matrix.cells[(size_t)waits->threads[other] * waits->matrix.cap + waits->threads[thread]];
}

/* ---- all of it ---- */

static size_t filter(const struct as_view *view, struct as_store_wait *all, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (as_view_counts(view, all[i].instruction))
            all[kept++] = all[i];
    return kept;
}

bool as_waits_read(struct as_waits *waits, const struct as_view *view, struct as_error *err)
{
    *waits = (struct as_waits){.view = view, .line_bytes = find_line_bytes(view->store)};
    if (!as_store_load(view->store, AS_STORE_DATA, err))
        return false;
    waits->all = as_store_waits(view->store, view->series, view->threads, &waits->n_all, err);
    if (!waits->all)
        return false;
    waits->objects = as_store_objects(view->store, &waits->n_objects);
    waits->n = filter(view, waits->all, waits->n_all);
    for (size_t i = 0; i < waits->n; i++) {
        as_add_to(&waits->units, waits->all[i].units);
        as_add_to(&waits->false_units, waits->all[i].sharing ? 0 : waits->all[i].units);
        as_add_to(&waits->lock_units, as_waits_lock(waits, &waits->all[i]) ? waits->all[i].units : 0);
        as_add_to(&waits->transfers, waits->all[i].transfers);
        as_add_to(&waits->bytes, as_waits_bytes(waits, &waits->all[i]));
    }
    make_matrix(waits);
    find_threads(waits);
    for (int level = 0; level < AS_WAITS_LEVELS; level++)
        make_level(waits, (enum as_waits_level)level);
    return true;
}

static bool set_none(const struct as_view *view, struct as_error *err)
{
    const char *name = as_store_file_name(view->store);
    if (view->summary.sampled)
        return as_error_set(err,
                            "%s: what threads waited for is not kept of a run that was sampled; 'assay record "
                            "--budget=0' measures all of it and keeps that",
                            name);
    return as_error_set(err,
                        "%s: no thread waited for another core's line in series %s; 'assay record' in the model keeps "
                        "what the threads of a program wait for",
                        name, view->summary.sampler ? view->summary.sampler : "?");
}

bool as_waits_make(struct as_waits *waits, const struct as_view *view, struct as_error *err)
{
    return as_waits_read(waits, view, err) && (waits->n_all || set_none(view, err));
}

void as_waits_free(struct as_waits *waits)
{
    free(waits->all);
    free(waits->threads);
    as_pair_matrix_free(&waits->matrix);
    for (int level = 0; level < AS_WAITS_LEVELS; level++)
        free(waits->rows[level]);
}

/* ---- names ---- */

const char *as_waits_place_name(const struct as_waits *waits, const struct as_store_wait *wait, char name[AS_SHOW_MAX])
{
    char text[AS_SHOW_MAX], object[AS_SHOW_MAX];
    if (wait->place < waits->n_objects)
        return as_view_object_name(waits->objects, waits->n_objects, wait->place, name);
    if (wait->object >= waits->n_objects)
        return "[unknown]";
    const struct as_store_object *known = &waits->objects[wait->object];
    uint64_t at = wait->line + wait->offset - known->address;
    as_view_object_name(waits->objects, waits->n_objects, wait->object, object);
    if (!known->address || at == 0)
        return as_show(object, name);
    snprintf(text, sizeof text, "%.200s+0x%" PRIx64, object, at);
    return as_show(text, name);
}

/* What the C library has for itself (the number of threads, the thread's own struct at the end of its stack) is no lock, whichever
 * function looks at it. */
static bool is_library_data(const struct as_waits *waits, const struct as_store_wait *wait, uint32_t module)
{
    const struct as_store_object *known = &waits->objects[wait->object];
    return !known->name || known->name[0] == '.' || strncmp(known->name, "[stack", 6) == 0 ||
           (known->module != AS_STORE_NONE && known->module == module);
}

const char *as_waits_lock(const struct as_waits *waits, const struct as_store_wait *wait)
{
    const struct as_view *view = waits->view;
    if (wait->place < waits->n_objects && waits->objects[wait->place].name) {
        const char *lock = as_lock_of_place(waits->objects[wait->place].name);
        if (lock)
            return lock;
    }
    if (wait->object >= waits->n_objects || wait->instruction >= view->n_locations)
        return NULL;
    const struct as_store_location *location = &view->location[wait->instruction];
    if (is_library_data(waits, wait, location->module))
        return NULL;
    return as_lock_of_function(as_view_function(view, location->function));
}

const char *as_waits_code_name(const struct as_waits *waits, uint32_t instruction, char name[AS_ROW_NAME_MAX])
{
    const struct as_view *view = waits->view;
    char text[AS_SHOW_MAX];
    if (instruction >= view->n_locations)
        return "[unknown]";
    const struct as_store_location *location = &view->location[instruction];
    const char *file = as_view_file(view, location->file), *function = as_view_function(view, location->function);
    if (!file || !function || !location->line)
        return as_view_location_name(view, instruction, name);
    uint64_t start = as_view_function_address(view, location->function);
    snprintf(text, sizeof text, "%.200s+0x%" PRIx64 " at %.200s:%" PRIu32, function,
             location->address > start ? location->address - start : 0, as_path_base(file), location->line);
    return as_show(text, name);
}
