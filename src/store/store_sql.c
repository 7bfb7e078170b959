/* See store_sql.h. A file contains the text of its CREATE statements, and readers compare it byte by byte. So the text
 * generated here for a released version must not change (tests/golden/schema.sql). */
#include "store/store_sql.h"

#include "base/alloc.h"
#include "base/str.h"

/* ---- creating ---- */

static const char *sql_type(const struct as_store_column *column)
{
    switch (column->type) {
    case AS_COLUMN_DOUBLE:
        return "REAL";
    case AS_COLUMN_TEXT:
        return "TEXT";
    case AS_COLUMN_BYTES:
        return "BLOB";
    default:
        return "INTEGER";
    }
}

static size_t count_keys(const struct as_store_table *table)
{
    size_t n = 0;
    for (size_t i = 0; i < table->n_columns; i++)
        n += (table->columns[i].flags & AS_COLUMN_KEY) != 0;
    return n;
}

/* Appends the key: "a, b, c". */
static void add_keys(struct as_str *sql, const struct as_store_table *table, const char *prefix)
{
    const char *comma = "";
    for (size_t i = 0; i < table->n_columns; i++) {
        if (!(table->columns[i].flags & AS_COLUMN_KEY))
            continue;
        as_str_addf(sql, "%s%s%s", comma, prefix, table->columns[i].name);
        comma = ", ";
    }
}

/* A single key column is declared with its column; parts of a longer key are never NULL. */
static void add_definition(struct as_str *sql, const struct as_store_column *column, bool alone)
{
    bool is_key = column->flags & AS_COLUMN_KEY;
    as_str_addf(sql, "%s %s", column->name, sql_type(column));
    if (is_key && alone)
        as_str_add(sql, " PRIMARY KEY");
    else if (is_key || !(column->flags & AS_COLUMN_NULL))
        as_str_add(sql, " NOT NULL");
    if (column->flags & AS_COLUMN_UNIQUE)
        as_str_add(sql, " UNIQUE");
}

/* WITHOUT ROWID stores a table as one tree, sorted by its key. If the key is an integer, SQLite does so anyway. */
static void add_create(struct as_str *sql, const struct as_store_table *table, const char *kind)
{
    bool alone = count_keys(table) == 1, by_number = alone && table->columns[0].type != AS_COLUMN_TEXT;
    as_str_addf(sql, "CREATE %s %s(", kind, table->name);
    for (size_t i = 0; i < table->n_columns; i++) {
        as_str_add(sql, i ? ", " : "");
        add_definition(sql, &table->columns[i], alone);
    }
    if (!alone) {
        as_str_add(sql, ", PRIMARY KEY(");
        add_keys(sql, table, "");
        as_str_add(sql, ")");
    }
    if (table->constraint)
        as_str_addf(sql, ", %s", table->constraint);
    as_str_addf(sql, ") STRICT%s;\n", by_number ? "" : ", WITHOUT ROWID");
    if (table->index_name)
        as_str_addf(sql, "CREATE INDEX %s ON %s(%s);\n", table->index_name, table->name, table->by);
}

char *as_store_sql_step(int version)
{
    struct as_str sql = {0};
    for (int i = 0; i < AS_TABLE_COUNT; i++)
        if (as_store_tables[i].since == version)
            add_create(&sql, &as_store_tables[i], "TABLE");
    return sql.len ? as_str_take(&sql) : as_strdup("");
}

char *as_store_sql_temporary(const struct as_store_table *table)
{
    struct as_str sql = {0};
    add_create(&sql, table, "TEMP TABLE");
    return as_str_take(&sql);
}

/* ---- inserting ---- */

static bool adds_up(const struct as_store_column *column)
{
    return column->merge == AS_MERGE_TIME || column->merge == AS_MERGE_COUNT || column->merge == AS_MERGE_SAMPLES;
}

char *as_store_sql_insert(const struct as_store_table *table)
{
    struct as_str sql = {0};
    const char *comma = "";
    as_str_addf(&sql, "INSERT%s INTO %s VALUES(", table->again == AS_AGAIN_REPLACE ? " OR REPLACE" : "", table->name);
    for (size_t i = 0; i < table->n_columns; i++)
        as_str_add(&sql, i ? ",?" : "?");
    as_str_add(&sql, ")");
    if (table->again == AS_AGAIN_ADD)
        as_str_add(&sql, " ON CONFLICT DO UPDATE SET ");
    for (size_t i = 0; i < table->n_columns && table->again == AS_AGAIN_ADD; i++) {
        const char *name = table->columns[i].name;
        if (!adds_up(&table->columns[i]))
            continue;
        as_str_addf(&sql, "%s%s = %s + excluded.%s", comma, name, name, name);
        comma = ", ";
    }
    return as_str_take(&sql);
}

/* ---- selecting ---- */

/* The instructions of a function are found by their index; the join gives the rows of each. */
static void add_source(struct as_str *sql, const struct as_store_table *table, const struct as_store_select *select)
{
    bool is_code = table == &as_store_tables[AS_TABLE_INSTRUCTIONS];
    if (select->of_function && !is_code)
        as_str_addf(sql,
                    " FROM instructions i CROSS JOIN %s t ON t.series = ?1 AND t.instruction = i.id"
                    " WHERE i.function = ?2",
                    table->name);
    else
        as_str_addf(sql, " FROM %s t%s", table->name,
                    select->of_series                ? " WHERE t.series = ?1"
                    : is_code && select->of_function ? " WHERE t.function = ?1"
                    : select->of_row                 ? " WHERE t.id = ?1"
                                                     : "");
}

char *as_store_sql_select(const struct as_store_table *table, const struct as_store_select *select)
{
    struct as_str sql = {0};
    for (size_t i = 0; i < select->n; i++)
        as_str_addf(&sql, "%st.%s", i ? ", " : "SELECT ", table->columns[select->first + i].name);
    add_source(&sql, table, select);
    if (select->of_function && table == &as_store_tables[AS_TABLE_INSTRUCTIONS]) {
        as_str_add(&sql, " ORDER BY t.function, t.address");
    } else if (!select->of_function) {
        as_str_add(&sql, " ORDER BY ");
        add_keys(&sql, table, "t.");
    }
    return as_str_take(&sql);
}
