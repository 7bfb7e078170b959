/* Loads the tables that stay in memory: the short ones, the code, the call paths, and the data that was accessed. Also
 * reads single instructions with their text, which do not stay. */
#include "store/store_internal.h"

static bool has_strings(const struct as_store_row_reader *reader)
{
    bool found = false;
    for (size_t i = 0; i < reader->n; i++)
        found |= reader->table->columns[i].type == AS_COLUMN_TEXT;
    return found;
}

/* Replaces the strings of a row by kept copies. Returns false if there are too many for a file of this size. */
static bool keep_strings(struct as_store *store, const struct as_store_row_reader *reader, void *row)
{
    for (size_t i = 0; i < reader->n; i++) {
        const struct as_store_column *column = &reader->table->columns[i];
        const char **text = (const char **)((char *)row + column->offset);
        if (column->type != AS_COLUMN_TEXT || !*text)
            continue;
        size_t length = strlen(*text);
        if (length > store->text_left)
            return false;
        store->text_left -= length;
        *text = as_strings_get(store->strings, as_strings_intern(store->strings, *text));
    }
    return true;
}

static bool load_table(struct as_store *store, enum as_store_table_id id, struct as_error *err)
{
    const struct as_store_table *table = &as_store_tables[id];
    size_t size = table->kept_size ? table->kept_size : table->size, cap = 0;
    struct as_store_cursor cursor;
    uint32_t number, *count = &store->counts[id];
    int more;
    if (!as_store_cursor_open(&cursor, store, id, (struct as_store_select){.n = table->kept_columns}, err))
        return false;
    bool strings = has_strings(&cursor.reader);
    do {
        as_vec_reserve(&store->rows[id], &cap, (size_t)*count + 1, size);
        void *row = (char *)store->rows[id] + *count * size;
        more = as_store_cursor_next(&cursor, &number, row, err);
        if (more > 0 && (number != *count || number == AS_STORE_NONE - 1 ||
                         (strings && !keep_strings(store, &cursor.reader, row)))) {
            as_store_damaged(store, err, "row %u of %s is invalid", *count, table->name);
            more = -1;
        }
        *count += more > 0;
    } while (more > 0);
    as_store_cursor_close(&cursor);
    return more == 0;
}

static bool load_tables(struct as_store *store, enum as_store_table_id first, enum as_store_table_id last,
                        struct as_error *err)
{
    bool ok = true;
    for (enum as_store_table_id id = first; id <= last && ok; id++)
        ok = load_table(store, id, err);
    return ok;
}

bool as_store_load_short(struct as_store *store, struct as_error *err)
{
    return load_tables(store, AS_TABLE_META, AS_TABLE_STACKS, err);
}

/* A failed load is not retried: half a table could be mistaken for a whole one. */
bool as_store_load(struct as_store *store, unsigned parts, struct as_error *err)
{
    parts |= parts & (AS_STORE_CALLS | AS_STORE_DATA) ? AS_STORE_CODE : 0;
    parts &= ~store->loaded;
    if (store->broken)
        return as_store_damaged(store, err, "its code cannot be read");
    bool ok = !(parts & AS_STORE_CODE) || load_tables(store, AS_TABLE_MODULES, AS_TABLE_INSTRUCTIONS, err);
    ok = ok && (!(parts & AS_STORE_CALLS) || load_table(store, AS_TABLE_PATHS, err));
    ok = ok && (!(parts & AS_STORE_DATA) || load_table(store, AS_TABLE_OBJECTS, err));
    store->broken = !ok;
    store->loaded |= ok ? parts : 0;
    return ok;
}

/* ---- instructions with their text ---- */

bool as_store_instructions(struct as_store *store, uint32_t function, as_store_each_insn *each, void *context,
                           struct as_error *err)
{
    struct as_store_cursor cursor;
    struct as_store_insn insn;
    uint32_t id;
    int more;
    struct as_store_select select = {.of_function = function != AS_STORE_NONE};
    if (!as_store_load(store, AS_STORE_CODE, err) ||
        !as_store_cursor_open(&cursor, store, AS_TABLE_INSTRUCTIONS, select, err))
        return false;
    if (select.of_function)
        as_store_cursor_bind(&cursor, function, AS_STORE_NONE);
    while ((more = as_store_cursor_next(&cursor, &id, &insn, err)) > 0 && each(context, id, &insn))
        ;
    as_store_cursor_close(&cursor);
    return more >= 0;
}

static bool prepare_one(struct as_store *store, struct as_error *err)
{
    if (store->one_instruction)
        return true;
    struct as_store_cursor *cursor = as_alloc(sizeof *cursor);
    if (!as_store_cursor_open(cursor, store, AS_TABLE_INSTRUCTIONS, (struct as_store_select){.of_row = true}, err)) {
        free(cursor);
        return false;
    }
    store->one_instruction = cursor;
    return true;
}

const struct as_store_insn *as_store_instruction(struct as_store *store, uint32_t instruction, struct as_error *err)
{
    uint32_t id;
    if (!as_store_load(store, AS_STORE_CODE, err) || !prepare_one(store, err))
        return NULL;
    as_store_allow(store);
    sqlite3_reset(store->one_instruction->statement);
    as_store_cursor_bind(store->one_instruction, instruction, AS_STORE_NONE);
    int more = as_store_cursor_next(store->one_instruction, &id, &store->instruction, err);
    if (more == 0)
        as_error_set(err, "%s has no instruction %u", store->path, instruction);
    return more > 0 ? &store->instruction : NULL;
}
