/* Times by function, line, instruction …: one pass over the rows of a series, which are added up here. SQL only finds
 * the rows: it does not know names, and the work that a profile can cause is bounded by its number of rows. */
#include "base/saturate.h"
#include "store/store_internal.h"

struct cell {
    uint32_t instruction, thread, processor;
    uint64_t key, units, samples, executions;
};

/* A part of a row, while it is being summed. */
struct part {
    uint32_t row;
    struct as_store_row_part part;
};

struct sum {
    struct as_store *store;
    const struct as_store_query *query;
    uint32_t
        *leaders; /* for threads, processes and commands, by thread: the thread that stands for its row; else NULL */
    struct as_map by_key; /* key at the level of the query, to a row */
    AS_VEC(struct as_store_row) rows;
    struct as_map masks;   /* key of a part to a small number */
    struct as_map by_part; /* row << 32 | small number, to a part */
    AS_VEC(struct part) parts;
    uint64_t total;
};

/* ---- which row ---- */

static bool is_group(enum as_store_level level)
{
    return level == AS_STORE_BY_THREAD || level == AS_STORE_BY_PROCESS || level == AS_STORE_BY_COMMAND;
}

/* A thread that changed its name has a row for each. */
static uint64_t group_key(enum as_store_level level, const struct as_store_thread *thread, size_t number,
                          struct as_strings *names)
{
    if (level == AS_STORE_BY_COMMAND)
        return as_strings_intern(names, thread->name ? thread->name : "");
    if (level == AS_STORE_BY_PROCESS)
        return (uint64_t)thread->process;
    bool known = thread->number && thread->process > 0 && thread->process < INT32_MAX;
    return known ? (uint64_t)thread->process << 32 | thread->number : UINT64_C(1) << 63 | number;
}

/* Returns for each thread the one that stands for its row: of a thread the one with its last name, of a process its main
 * thread, or else the first, with its last name. The caller frees. */
static uint32_t *leaders_of(const struct as_store *store, enum as_store_level level)
{
    size_t n;
    const struct as_store_thread *threads = as_store_threads(store, &n);
    uint32_t *leaders = as_alloc_array(n + 1, sizeof *leaders);
    uint64_t *keys = as_alloc_array(n + 1, sizeof *keys);
    struct as_strings *names = as_strings_new();
    struct as_map groups = {0};
    for (size_t i = 0; i < n; i++) {
        keys[i] = group_key(level, &threads[i], i, names);
        uint64_t *leader = as_map_put(&groups, keys[i]);
        if (*leader == 0 || level == AS_STORE_BY_THREAD || (int64_t)threads[i].number == threads[i].process ||
            (level == AS_STORE_BY_PROCESS && threads[i].number == threads[*leader - 1].number))
            *leader = i + 1;
    }
    for (size_t i = 0; i < n; i++)
        leaders[i] = (uint32_t)(*as_map_put(&groups, keys[i]) - 1);
    as_map_free(&groups);
    as_strings_free(names);
    free(keys);
    return leaders;
}

static bool counts(const bool *filter, uint32_t number)
{
    return !filter || (number != AS_STORE_NONE && filter[number]);
}

static bool location_counts(const struct as_store_query *query, const struct as_store_location *location)
{
    return counts(query->modules, location->module) && counts(query->functions, location->function) &&
           (query->function == AS_STORE_NONE || query->function == location->function);
}

static uint32_t id_at(const struct sum *sum, const struct cell *cell, const struct as_store_location *location)
{
    switch (sum->query->level) {
    case AS_STORE_BY_THREAD:
    case AS_STORE_BY_PROCESS:
    case AS_STORE_BY_COMMAND:
        return sum->leaders[cell->thread];
    case AS_STORE_BY_PROCESSOR:
        return cell->processor;
    case AS_STORE_BY_MODULE:
        return location->module;
    case AS_STORE_BY_FUNCTION:
        return location->function;
    case AS_STORE_BY_FILE:
    case AS_STORE_BY_LINE:
        return location->file;
    case AS_STORE_BY_BLOCK:
        return location->block;
    case AS_STORE_BY_INSTRUCTION:
        return cell->instruction;
    case AS_STORE_BY_PROGRAM:
    default:
        return 0;
    }
}

/* Code outside functions forms one row for each module, code outside blocks one for each instruction. */
static uint64_t key_at(enum as_store_level level, uint32_t id, const struct cell *cell,
                       const struct as_store_location *location)
{
    if (level == AS_STORE_BY_PROCESSOR)
        return id;
    if (level == AS_STORE_BY_BLOCK && id == AS_STORE_NONE)
        return (uint64_t)id << 32 | cell->instruction;
    if (level == AS_STORE_BY_LINE)
        return (uint64_t)id << 32 | (id == AS_STORE_NONE ? location->module : location->line);
    return id == AS_STORE_NONE ? (uint64_t)id << 32 | location->module : id;
}

static uint64_t address_at(const struct sum *sum, uint32_t id, const struct as_store_location *location)
{
    if (id != AS_STORE_NONE && sum->query->level == AS_STORE_BY_FUNCTION)
        return ((const struct as_store_function *)sum->store->rows[AS_TABLE_FUNCTIONS])[id].address;
    if (id != AS_STORE_NONE && sum->query->level == AS_STORE_BY_BLOCK)
        return ((const struct as_store_block *)sum->store->rows[AS_TABLE_BLOCKS])[id].address;
    return location->address;
}

static void meet(uint32_t *common, uint32_t other)
{
    if (*common != other)
        *common = AS_STORE_NONE;
}

static uint32_t row_of(struct sum *sum, const struct cell *cell, const struct as_store_location *location)
{
    uint32_t id = id_at(sum, cell, location);
    uint64_t *index = as_map_put(&sum->by_key, key_at(sum->query->level, id, cell, location));
    if (*index == 0) {
        *as_vec_push(&sum->rows) = (struct as_store_row){.id = id,
                                                         .module = location->module,
                                                         .function = location->function,
                                                         .file = location->file,
                                                         .line = location->line,
                                                         .address = address_at(sum, id, location)};
        *index = sum->rows.len;
        return (uint32_t)(*index - 1);
    }
    struct as_store_row *row = &sum->rows.data[*index - 1];
    if (row->file != location->file || row->line != location->line)
        row->line = 0;
    meet(&row->module, location->module);
    meet(&row->function, location->function);
    meet(&row->file, location->file);
    return (uint32_t)(*index - 1);
}

/* ---- adding up ---- */

static void add_time(struct sum *sum, const struct cell *cell, const struct as_store_location *location)
{
    uint32_t index = row_of(sum, cell, location);
    struct as_store_row *row = &sum->rows.data[index];
    as_add_to(&row->units, cell->units);
    as_add_to(&row->samples, cell->samples);
    as_add_to(&row->executions, cell->executions);
}

static void add_part(struct sum *sum, const struct cell *cell, const struct as_store_location *location)
{
    uint32_t row = row_of(sum, cell, location);
    uint64_t *mask = as_map_put(&sum->masks, cell->key);
    if (*mask == 0)
        *mask = sum->masks.len;
    uint64_t *index = as_map_put(&sum->by_part, (uint64_t)row << 32 | *mask);
    if (*index == 0) {
        *as_vec_push(&sum->parts) = (struct part){.row = row, .part = {.key = cell->key}};
        *index = sum->parts.len;
    }
    struct as_store_row_part *part = &sum->parts.data[*index - 1].part;
    as_add_to(&part->units, cell->units);
    as_add_to(&part->samples, cell->samples);
}

/* A row of times, components, state times or moments. */
union measured {
    struct as_store_time time;
    struct as_store_component component;
    struct as_store_state_time state;
    struct as_store_moment moment;
};

static struct cell cell_of(enum as_store_table_id table, const union measured *row)
{
    switch (table) {
    case AS_TABLE_COMPONENTS:
        return (struct cell){.instruction = row->component.instruction,
                             .thread = row->component.thread,
                             .key = row->component.events,
                             .units = row->component.units,
                             .samples = row->component.samples};
    case AS_TABLE_STATE_TIMES:
        return (struct cell){.instruction = row->state.instruction,
                             .thread = row->state.thread,
                             .key = row->state.state,
                             .units = row->state.units};
    case AS_TABLE_MOMENTS:
        return (struct cell){.instruction = row->moment.instruction,
                             .thread = row->moment.thread,
                             .processor = row->moment.processor,
                             .key = row->moment.events,
                             .units = row->moment.units,
                             .samples = row->moment.samples};
    default:
        return (struct cell){.instruction = row->time.instruction,
                             .thread = row->time.thread,
                             .units = row->time.units,
                             .samples = row->time.samples,
                             .executions = row->time.executions};
    }
}

/* Calls `use` for each cell of the series that passes the filters: all rows, or those of one function's
 * instructions. */
static bool each_cell(struct sum *sum, enum as_store_table_id table,
                      void (*use)(struct sum *, const struct cell *, const struct as_store_location *),
                      struct as_error *err)
{
    struct as_store *store = sum->store;
    const struct as_store_query *query = sum->query;
    const struct as_store_location *locations = as_store_location_rows(store);
    bool narrow = query->function != AS_STORE_NONE && table != AS_TABLE_MOMENTS; /* which are not sorted by code */
    struct as_store_cursor cursor;
    union measured row;
    uint32_t number;
    int more;
    if (!as_store_cursor_open(&cursor, store, table,
                              (struct as_store_select){.of_series = !narrow, .of_function = narrow}, err))
        return false;
    as_store_cursor_bind(&cursor, query->series, query->function);
    while ((more = as_store_cursor_next(&cursor, &number, &row, err)) > 0) {
        struct cell cell = cell_of(table, &row);
        const struct as_store_location *location = &locations[cell.instruction];
        if (counts(query->threads, cell.thread) && location_counts(query, location))
            use(sum, &cell, location);
    }
    as_store_cursor_close(&cursor);
    return more == 0;
}

static void add_matching_part(struct sum *sum, const struct cell *cell, const struct as_store_location *location)
{
    if (sum->query->events && !(cell->key & sum->query->events))
        return;
    if (sum->query->events)
        add_time(sum, cell, location);
    if (sum->query->split == AS_STORE_BY_EVENTS)
        add_part(sum, cell, location);
}

bool as_store_total(struct as_store *store, uint32_t series, const bool *threads, uint64_t *total, struct as_error *err)
{
    struct as_store_cursor cursor;
    struct as_store_time time;
    uint32_t number;
    int more;
    *total = 0;
    /* Reads only thread and units, so that the code need not be loaded. */
    if (!as_store_cursor_open(&cursor, store, AS_TABLE_TIMES,
                              (struct as_store_select){.first = 2, .n = 2, .of_series = true}, err))
        return false;
    as_store_cursor_bind(&cursor, series, AS_STORE_NONE);
    while ((more = as_store_cursor_next(&cursor, &number, &time, err)) > 0)
        *total += counts(threads, time.thread) ? time.units : 0;
    as_store_cursor_close(&cursor);
    return more == 0;
}

/* Moments have times and their components in one. */
static void add_moment(struct sum *sum, const struct cell *cell, const struct as_store_location *location)
{
    if (sum->query->events && !(cell->key & sum->query->events))
        return;
    add_time(sum, cell, location);
    if (sum->query->split == AS_STORE_BY_EVENTS)
        add_part(sum, cell, location);
}

static bool add_all(struct sum *sum, struct as_error *err)
{
    const struct as_store_query *query = sum->query;
    if (!as_store_total(sum->store, query->series, query->threads, &sum->total, err))
        return false;
    if (query->level == AS_STORE_BY_PROCESSOR)
        return each_cell(sum, AS_TABLE_MOMENTS, add_moment, err);
    if (!query->events && !each_cell(sum, AS_TABLE_TIMES, add_time, err))
        return false;
    if ((query->events || query->split == AS_STORE_BY_EVENTS) &&
        !each_cell(sum, AS_TABLE_COMPONENTS, add_matching_part, err))
        return false;
    return query->split != AS_STORE_BY_STATE || each_cell(sum, AS_TABLE_STATE_TIMES, add_part, err);
}

/* ---- the result ---- */

static int compare_parts(const void *a, const void *b)
{
    const struct part *x = a, *y = b;
    if (x->row != y->row)
        return x->row < y->row ? -1 : 1;
    if (x->part.units != y->part.units)
        return x->part.units > y->part.units ? -1 : 1;
    return x->part.key < y->part.key ? -1 : x->part.key > y->part.key;
}

static int compare_rows(const void *a, const void *b)
{
    const struct as_store_row *x = a, *y = b;
    if (x->units != y->units)
        return x->units > y->units ? -1 : 1;
    if (x->address != y->address)
        return x->address < y->address ? -1 : 1;
    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    return x->line < y->line ? -1 : x->line > y->line;
}

/* Puts the parts in the order of their rows into one array; after that the rows may move. */
static void hand_out(struct sum *sum, struct as_store_rows *rows)
{
    if (sum->parts.len > 0)
        qsort(sum->parts.data, sum->parts.len, sizeof *sum->parts.data, compare_parts);
    rows->parts = as_alloc_array(sum->parts.len, sizeof *rows->parts);
    for (size_t i = 0; i < sum->parts.len; i++) {
        struct as_store_row *row = &sum->rows.data[sum->parts.data[i].row];
        rows->parts[i] = sum->parts.data[i].part;
        if (row->n_parts++ == 0)
            row->parts = &rows->parts[i];
    }
    rows->rows = sum->rows.data;
    rows->n = sum->rows.len;
    rows->total = sum->total;
    sum->rows.data = NULL;
    for (size_t i = 0; i < rows->n; i++) {
        as_add_to(&rows->units, rows->rows[i].units);
        as_add_to(&rows->samples, rows->rows[i].samples);
    }
    if (rows->n > 0)
        qsort(rows->rows, rows->n, sizeof *rows->rows, compare_rows);
}

bool as_store_query(struct as_store *store, const struct as_store_query *query, struct as_store_rows *rows,
                    struct as_error *err)
{
    struct sum sum = {.store = store, .query = query};
    *rows = (struct as_store_rows){0};
    if (query->series >= store->counts[AS_TABLE_SERIES])
        return as_error_set(err, "%s has no series %u", store->path, query->series);
    if (is_group(query->level))
        sum.leaders = leaders_of(store, query->level);
    bool ok = as_store_load(store, AS_STORE_CODE | (query->level == AS_STORE_BY_PROCESSOR ? AS_STORE_CALLS : 0), err) &&
              add_all(&sum, err);
    if (ok)
        hand_out(&sum, rows);
    free(sum.leaders);
    free(sum.rows.data);
    free(sum.parts.data);
    as_map_free(&sum.by_key);
    as_map_free(&sum.masks);
    as_map_free(&sum.by_part);
    return ok;
}

void as_store_rows_free(struct as_store_rows *rows)
{
    free(rows->rows);
    free(rows->parts);
    *rows = (struct as_store_rows){0};
}
