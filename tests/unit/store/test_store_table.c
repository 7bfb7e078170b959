/* The descriptors of the tables: the SQL that they make is that of the files which exist, their columns lie in the
 * structs, and what each column's range forbids is refused, both when it is written and when it is read. */
#include "unit.h"

#include "store/store_internal.h"
#include "store_bed.h"

#include <math.h>
#include <stdio.h>

static const char *golden_path;

static size_t width(enum as_column_type type)
{
    switch (type) {
    case AS_COLUMN_ROW:
    case AS_COLUMN_ORDER:
        return 0;
    case AS_COLUMN_REF:
    case AS_COLUMN_U32:
    case AS_COLUMN_I32:
        return 4;
    case AS_COLUMN_BOOL:
        return 1;
    case AS_COLUMN_BYTES:
        return 16;
    default:
        return 8;
    }
}

/* Columns lie side by side: none overlaps another, all are inside, keys come first and references point back. */
static void descriptors_are_sound(void **state)
{
    for (int id = 0; id < AS_TABLE_COUNT; id++) {
        const struct as_store_table *table = &as_store_tables[id];
        uint8_t used[sizeof(union as_store_any_row)] = {0};
        assert_true(table->size <= sizeof(union as_store_any_row));
        assert_in_range(table->n_columns, 1, AS_STORE_MAX_COLUMNS);
        assert_in_range(table->since, 1, AS_STORE_VERSION);
        assert_true(table->columns[0].flags & AS_COLUMN_KEY);
        for (size_t i = 0; i < table->n_columns; i++) {
            const struct as_store_column *column = &table->columns[i];
            assert_ptr_equal(as_store_table_column(table, column->name), column);
            assert_true(column->offset + width(column->type) <= table->size);
            for (size_t k = 0; k < width(column->type); k++)
                assert_int_equal(used[column->offset + k]++, 0);
            if (column->type == AS_COLUMN_REF)
                assert_true(column->table <= (enum as_store_table_id)id &&
                            as_store_tables[column->table].columns[0].type == AS_COLUMN_ROW);
            if (column->names)
                assert_non_null(column->names[column->limit - 1]);
        }
    }
    assert_null(as_store_table_column(&as_store_tables[AS_TABLE_TIMES], "nothing"));
    assert_true(as_store_table_of_series(&as_store_tables[AS_TABLE_BRANCHES]));
    assert_false(as_store_table_of_series(&as_store_tables[AS_TABLE_STACKS]));
}

static int compare_lines(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The lines of a text in order; the caller frees the text of the result. */
static size_t sorted_lines(char *text, char **lines, size_t room)
{
    size_t n = 0;
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        assert_true(n < room);
        lines[n++] = line;
    }
    qsort(lines, n, sizeof *lines, compare_lines);
    return n;
}

/* Readers compare definitions byte by byte: those of released versions are kept in a file. */
static void schema_never_changes(void **state)
{
    char *made[64], *kept[64];
    size_t size, n;
    char *golden = (char *)bed_read(golden_path, &size);
    golden[size] = '\0';
    char *steps[AS_STORE_VERSION], *all = calloc(1, 1);
    for (int i = 0; i < AS_STORE_VERSION; i++) {
        steps[i] = as_store_sql_step(i + 1);
        all = realloc(all, strlen(all) + strlen(steps[i]) + 1);
        strcat(all, steps[i]);
    }
    n = sorted_lines(golden, kept, 64);
    assert_int_equal(sorted_lines(all, made, 64), n);
    for (size_t i = 0; i < n; i++)
        assert_string_equal(made[i], kept[i]);
    char *none = as_store_sql_step(AS_STORE_VERSION + 1);
    assert_string_equal(none, "");
    free(none);
    for (int i = 0; i < AS_STORE_VERSION; i++)
        free(steps[i]);
    free(all);
    free(golden);
}

/* A table that joins later would be missing in files of versions that have it, and made twice in others. */
static void tables_of_each_version(void **state)
{
    static const char *const joined[AS_STORE_VERSION][32] = {
        {"meta",   "machine", "counters", "quality", "arguments",  "environment", "runs",         "threads",
         "series", "events",  "states",   "stacks",  "estimates",  "modules",     "files",        "functions",
         "blocks", "inlines", "paths",    "times",   "components", "state_times", "instructions", "path_times"},
        {"objects", "path_components", "accesses", "branches"},
        {"waits"},
        {"moments"},
        {"access_components"},
        {"recordings"}};
    for (int i = 0; i < AS_STORE_VERSION; i++) {
        char *step = as_store_sql_step(i + 1);
        size_t n = 0, made = 0;
        for (const char *at = step; (at = strstr(at, "CREATE TABLE ")); at++)
            made++;
        for (char name[64]; joined[i][n]; n++) {
            snprintf(name, sizeof name, "CREATE TABLE %s(", joined[i][n]);
            assert_non_null(strstr(step, name));
        }
        assert_int_equal(made, n);
        free(step);
    }
}

static void statements(void **state)
{
    const struct as_store_table *times = &as_store_tables[AS_TABLE_TIMES],
                                *code = &as_store_tables[AS_TABLE_INSTRUCTIONS];
    struct {
        char *made;
        const char *wanted;
    } cases[] = {
        {as_store_sql_insert(&as_store_tables[AS_TABLE_META]), "INSERT OR REPLACE INTO meta VALUES(?,?)"},
        {as_store_sql_insert(&as_store_tables[AS_TABLE_FILES]), "INSERT INTO files VALUES(?,?)"},
        {as_store_sql_insert(times),
         "INSERT INTO times VALUES(?,?,?,?,?,?) ON CONFLICT DO UPDATE SET units = units + excluded.units,"
         " samples = samples + excluded.samples, executions = executions + excluded.executions"},
        {as_store_sql_select(times, &(struct as_store_select){.first = 1, .n = 2, .of_series = true}),
         "SELECT t.instruction, t.thread FROM times t WHERE t.series = ?1"
         " ORDER BY t.series, t.instruction, t.thread"},
        {as_store_sql_select(times, &(struct as_store_select){.first = 3, .n = 1, .of_function = true}),
         "SELECT t.units FROM instructions i CROSS JOIN times t ON t.series = ?1 AND t.instruction = i.id"
         " WHERE i.function = ?2"},
        {as_store_sql_select(code, &(struct as_store_select){.n = 1, .of_function = true}),
         "SELECT t.id FROM instructions t WHERE t.function = ?1 ORDER BY t.function, t.address"},
        {as_store_sql_select(code, &(struct as_store_select){.n = 1, .of_row = true}),
         "SELECT t.id FROM instructions t WHERE t.id = ?1 ORDER BY t.id"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_string_equal(cases[i].made, cases[i].wanted);
        free(cases[i].made);
    }
}

/* ---- ranges ---- */

/* One row of every thing that others refer to. */
static void add_things(struct as_store_writer *writer)
{
    const uint32_t none = AS_STORE_NONE;
    as_store_add_thread(writer, &(struct as_store_thread){.number = 1});
    as_store_add_series(writer, &(struct as_store_series){.name = "s", .scale = 1, .precise = -1});
    as_store_add_state(writer, &(struct as_store_state){"stalled", NULL});
    as_store_add_module(writer, &(struct as_store_module){.path = "m"});
    as_store_add_file(writer, "f.c");
    as_store_add_function(writer, &(struct as_store_function){.name = "f"});
    as_store_add_block(writer, &(struct as_store_block){0});
    as_store_add_inline(writer, &(struct as_store_inline){.parent = none});
    as_store_add_instruction(writer, &(struct as_store_insn){.location = {0}});
    as_store_add_path(writer, &(struct as_store_path){.parent = none, .call_site = none});
    as_store_add_object(writer, &(struct as_store_object){.name = "o"});
}

/* Adding a row with one bad column fails with that column's name; NONE does where NULL may not be. */
static void try_column(enum as_store_table_id id, const struct as_store_column *column, uint32_t value, bool is_bad)
{
    union as_store_any_row row = {0};
    struct as_error err = AS_ERROR_INIT;
    char wanted[80];
    struct as_store_writer *writer = bed_writer(bed_path("ranges.db"));
    const struct as_store_column *parent = as_store_table_column(&as_store_tables[id], "parent");
    add_things(writer);
    for (size_t i = 0; i < as_store_tables[id].n_columns; i++) {
        const struct as_store_column *other = &as_store_tables[id].columns[i];
        if (other->type == AS_COLUMN_TEXT)
            *(const char **)((char *)&row + other->offset) = "new";
        if (other->least)
            *(uint64_t *)((char *)&row + other->offset) = other->least;
    }
    if (parent && parent != column)
        *(uint32_t *)((char *)&row + parent->offset) = AS_STORE_NONE;
    memcpy((char *)&row + column->offset, &value, sizeof value);
    as_store_add(writer, id, &row);
    snprintf(wanted, sizeof wanted, "of %s has a bad %s", as_store_tables[id].name, column->name);
    assert_int_equal(as_store_writer_failed(writer), is_bad);
    assert_int_equal(as_store_writer_commit(writer, &err), !is_bad);
    if (is_bad)
        bed_assert_line(&err, wanted);
}

static void writing_checks_ranges(void **state)
{
    int tried = 0;
    for (enum as_store_table_id id = 0; id < AS_TABLE_COUNT; id++)
        for (size_t i = 0; i < as_store_tables[id].n_columns; i++) {
            const struct as_store_column *column = &as_store_tables[id].columns[i];
            bool nullable = column->flags & AS_COLUMN_NULL, is_ref = column->type == AS_COLUMN_REF;
            uint32_t limit = is_ref ? 1 : column->limit; /* there is one row of everything */
            if (!is_ref && column->type != AS_COLUMN_U32)
                continue;
            try_column(id, column, AS_STORE_NONE, !nullable);
            if (limit) {
                try_column(id, column, limit - 1, false);
                try_column(id, column, limit, true);
            }
            tried++;
        }
    assert_true(tried > 40);
    struct as_error err = AS_ERROR_INIT;
    struct as_store_writer *writer = bed_writer(bed_path("ranges.db"));
    as_store_add_series(writer, &(struct as_store_series){.name = "s", .scale = 0});
    assert_false(as_store_writer_commit(writer, &err));
    bed_assert_line(&err, "of series has a bad scale");
}

/* What a column cannot hold makes the file a damaged one, whichever column of whichever table it is. */
static bool ignore(void *context, uint32_t number, const void *row)
{
    *(int *)context += 1;
    return true;
}

static bool reads(const char *path, enum as_store_table_id id, struct as_error *err)
{
    struct as_store *store = as_store_open(path, err);
    int rows = 0;
    bool ok = store && as_store_each(store, id, AS_STORE_NONE, ignore, &rows, err);
    assert_true(!ok || rows > 0);
    as_store_close(store);
    return ok;
}

static const char *bad_value(const struct as_store_column *column)
{
    switch (column->type) {
    case AS_COLUMN_ROW:
    case AS_COLUMN_REF:
        return "1000";
    case AS_COLUMN_U32:
        return column->limit ? "64" : column->flags & AS_COLUMN_NULL ? "-2" : "-1"; /* -1 in a key: none */
    case AS_COLUMN_I32:
        return "1 << 40";
    case AS_COLUMN_COUNT:
        return "-1";
    default:
        return NULL;
    }
}

static void reading_checks_ranges(void **state)
{
    int tried = 0;
    char sql[256];
    for (enum as_store_table_id id = 0; id < AS_TABLE_COUNT; id++)
        for (size_t i = 0; i < as_store_tables[id].n_columns; i++) {
            const struct as_store_column *column = &as_store_tables[id].columns[i];
            const char *bad = bad_value(column);
            struct as_error err = AS_ERROR_INIT;
            if (!bad)
                continue;
            bed_write_small(bed_path("ranges.db"));
            assert_true(reads(bed_path("ranges.db"), id, &err));
            snprintf(sql, sizeof sql,
                     "PRAGMA ignore_check_constraints = 1;"
                     "UPDATE OR IGNORE %1$s SET %2$s = %3$s WHERE rowid IN (SELECT rowid FROM %1$s LIMIT 1)",
                     as_store_tables[id].name, column->name, bad);
            if (as_store_table_of_series(&as_store_tables[id]) || id == AS_TABLE_COUNTERS)
                snprintf(sql, sizeof sql, "UPDATE OR IGNORE %s SET %s = %s", as_store_tables[id].name, column->name,
                         bad);
            bed_sql(bed_path("ranges.db"), sql);
            if (reads(bed_path("ranges.db"), id, &err))
                fail_msg("%s", sql);
            bed_assert_line(&err, "is invalid");
            tried++;
        }
    assert_true(tried > 80);
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    golden_path = argv[1];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(descriptors_are_sound),  cmocka_unit_test(schema_never_changes),
        cmocka_unit_test(tables_of_each_version), cmocka_unit_test(statements),
        cmocka_unit_test(writing_checks_ranges),  cmocka_unit_test(reading_checks_ranges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
