/* Reads the rows of a table one by one and checks them. All reading of a profile goes through here. */
#include "store/store_internal.h"

bool as_store_cursor_open(struct as_store_cursor *cursor, struct as_store *store, enum as_store_table_id id,
                          struct as_store_select select, struct as_error *err)
{
    const struct as_store_table *table = &as_store_tables[id];
    if (select.n == 0) {
        select.first = select.of_series || select.of_function ? as_store_table_of_series(table) : 0;
        select.n = table->n_columns - select.first;
    }
    *cursor = (struct as_store_cursor){.store = store,
                                       .id = id,
                                       .series = AS_STORE_NONE,
                                       .reader = {.table = table,
                                                  .first = select.first,
                                                  .n = select.n,
                                                  .counts = store->counts,
                                                  .adds_up = as_store_table_of_series(table) || id == AS_TABLE_STACKS}};
    char *sql = as_store_sql_select(table, &select);
    cursor->statement = as_store_prepare(store, sql, err);
    free(sql);
    return cursor->statement != NULL;
}

bool as_store_cursor_of_series(struct as_store_cursor *cursor, struct as_store *store, enum as_store_table_id id,
                               uint32_t series, struct as_error *err)
{
    if (series >= store->counts[AS_TABLE_SERIES])
        return as_error_set(err, "%s has no series %u", store->path, series);
    if (!as_store_load(store, as_store_parts_of(id), err) ||
        !as_store_cursor_open(cursor, store, id, (struct as_store_select){.of_series = true}, err))
        return false;
    as_store_cursor_bind(cursor, series, AS_STORE_NONE);
    return true;
}

void as_store_cursor_bind(struct as_store_cursor *cursor, uint32_t first, uint32_t second)
{
    sqlite3_bind_int64(cursor->statement, 1, first); /* cannot fail: the parameters exist */
    if (second != AS_STORE_NONE)
        sqlite3_bind_int64(cursor->statement, 2, second);
    if (as_store_table_of_series(cursor->reader.table))
        cursor->series = first;
}

int as_store_cursor_next(struct as_store_cursor *cursor, uint32_t *number, void *row, struct as_error *err)
{
    const struct as_store_table *table = cursor->reader.table;
    int more = as_store_step(cursor->store, cursor->statement, err);
    if (more <= 0)
        return more;
    if (cursor->series != AS_STORE_NONE)
        memcpy((char *)row + table->columns[0].offset, &cursor->series, sizeof cursor->series);
    *number = (uint32_t)cursor->rows;
    if (as_store_get_row(&cursor->reader, cursor->statement, number, row)) {
        cursor->rows++;
        return 1;
    }
    as_store_damaged(cursor->store, err, "row %llu of %s is invalid", (unsigned long long)cursor->rows, table->name);
    return -1;
}

void as_store_cursor_close(struct as_store_cursor *cursor)
{
    sqlite3_finalize(cursor->statement);
    cursor->statement = NULL;
}

/* ---- all rows ---- */

/* The part that a table belongs to; 0: it is loaded with the file, or never. */
static unsigned part_of(enum as_store_table_id id)
{
    if (id < AS_TABLE_MODULES || id > AS_TABLE_OBJECTS)
        return 0;
    return id == AS_TABLE_OBJECTS ? AS_STORE_DATA : id == AS_TABLE_PATHS ? AS_STORE_CALLS : AS_STORE_CODE;
}

unsigned as_store_parts_of(enum as_store_table_id id)
{
    const struct as_store_table *table = &as_store_tables[id];
    unsigned parts = part_of(id);
    for (size_t i = 0; i < table->n_columns; i++)
        parts |= table->columns[i].type == AS_COLUMN_REF ? part_of(table->columns[i].table) : 0;
    return parts;
}

bool as_store_each(struct as_store *store, enum as_store_table_id id, uint32_t series, as_store_each_row *each,
                   void *context, struct as_error *err)
{
    struct as_store_cursor cursor;
    union as_store_any_row row;
    uint32_t number;
    int more;
    bool open = as_store_table_of_series(&as_store_tables[id]) && series != AS_STORE_NONE
                    ? as_store_cursor_of_series(&cursor, store, id, series, err)
                    : as_store_load(store, as_store_parts_of(id), err) &&
                          as_store_cursor_open(&cursor, store, id, (struct as_store_select){0}, err);
    if (!open)
        return false;
    while ((more = as_store_cursor_next(&cursor, &number, &row, err)) > 0 && each(context, number, &row))
        ;
    as_store_cursor_close(&cursor);
    return more >= 0;
}

struct gathered {
    const bool *threads;
    const struct as_store_column *thread; /* NULL: rows have none */
    size_t size;
    char *data;
    size_t len, cap;
};

static bool gather(void *context, uint32_t number, const void *row)
{
    struct gathered *all = context;
    (void)number;
    if (all->threads && all->thread && !all->threads[as_store_column_u32(all->thread, row)])
        return true;
    as_vec_reserve((void **)&all->data, &all->cap, all->len + 1, all->size);
    memcpy(all->data + all->len++ * all->size, row, all->size);
    return true;
}

void *as_store_gather(struct as_store *store, enum as_store_table_id id, uint32_t series, const bool *threads,
                      size_t *n, struct as_error *err)
{
    const struct as_store_table *table = &as_store_tables[id];
    struct gathered all = {.threads = threads, .thread = as_store_table_column(table, "thread"), .size = table->size};
    bool ok = as_store_each(store, id, series, gather, &all, err);
    *n = ok ? all.len : 0;
    if (ok)
        return all.data ? (void *)all.data : as_alloc(table->size);
    free(all.data);
    return NULL;
}

/* ---- the rows of a series as they are in the file ---- */

bool as_store_raw(struct as_store *store, uint32_t series, const bool *threads, struct as_store_raw *raw,
                  struct as_error *err)
{
    *raw = (struct as_store_raw){0};
    bool ok =
        (raw->times = as_store_gather(store, AS_TABLE_TIMES, series, threads, &raw->n_times, err)) &&
        (raw->components = as_store_gather(store, AS_TABLE_COMPONENTS, series, threads, &raw->n_components, err)) &&
        (raw->states = as_store_gather(store, AS_TABLE_STATE_TIMES, series, threads, &raw->n_states, err)) &&
        (raw->paths = as_store_gather(store, AS_TABLE_PATH_TIMES, series, threads, &raw->n_paths, err));
    if (!ok)
        as_store_raw_free(raw);
    return ok;
}

void as_store_raw_free(struct as_store_raw *raw)
{
    free(raw->times);
    free(raw->components);
    free(raw->states);
    free(raw->paths);
    *raw = (struct as_store_raw){0};
}

struct as_store_access *as_store_accesses(struct as_store *store, uint32_t series, const bool *threads, size_t *n,
                                          struct as_error *err)
{
    return as_store_gather(store, AS_TABLE_ACCESSES, series, threads, n, err);
}

struct as_store_access_component *as_store_access_components(struct as_store *store, uint32_t series,
                                                             const bool *threads, size_t *n, struct as_error *err)
{
    return as_store_gather(store, AS_TABLE_ACCESS_COMPONENTS, series, threads, n, err);
}

struct as_store_branch *as_store_branches(struct as_store *store, uint32_t series, size_t *n, struct as_error *err)
{
    return as_store_gather(store, AS_TABLE_BRANCHES, series, NULL, n, err);
}

struct as_store_moment *as_store_moments(struct as_store *store, uint32_t series, const bool *threads, size_t *n,
                                         struct as_error *err)
{
    return as_store_gather(store, AS_TABLE_MOMENTS, series, threads, n, err);
}

struct as_store_wait *as_store_waits(struct as_store *store, uint32_t series, const bool *threads, size_t *n,
                                     struct as_error *err)
{
    return as_store_gather(store, AS_TABLE_WAITS, series, threads, n, err);
}
