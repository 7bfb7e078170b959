/* The code of a profile and its call paths: loaded when somebody needs them. */
#include "store/store_internal.h"
#include "store/store_sql.h"

static bool module_row(struct as_store *store, sqlite3_stmt *row)
{
    struct as_store_module *module = as_vec_push(&store->modules);
    uint32_t id;
    return as_store_get(row, "wssuui", &id, &module->path, &module->build_id, &module->base, &module->file_size,
                        &module->file_time) &&
           id == store->modules.len - 1 && as_store_keep(store, &module->path) &&
           as_store_keep(store, &module->build_id);
}

static bool file_row(struct as_store *store, sqlite3_stmt *row)
{
    const char **path = as_vec_push(&store->files);
    uint32_t id;
    return as_store_get(row, "ws", &id, path) && id == store->files.len - 1 && *path && as_store_keep(store, path);
}

static bool function_row(struct as_store *store, sqlite3_stmt *row)
{
    struct as_store_function *function = as_vec_push(&store->functions);
    uint32_t id;
    return as_store_get(row, "wnssuunw", &id, &function->module, &function->name, &function->linkage_name,
                        &function->address, &function->size, &function->file, &function->line) &&
           id == store->functions.len - 1 && as_store_valid(function->module, store->modules.len) &&
           as_store_valid(function->file, store->files.len) && as_store_keep(store, &function->name) &&
           as_store_keep(store, &function->linkage_name);
}

static bool block_row(struct as_store *store, sqlite3_stmt *row)
{
    struct as_store_block *block = as_vec_push(&store->blocks);
    uint32_t id;
    return as_store_get(row, "wnuu", &id, &block->function, &block->address, &block->size) &&
           id == store->blocks.len - 1 && as_store_valid(block->function, store->functions.len);
}

/* A parent comes before its children: there can be no circles. */
static bool inline_row(struct as_store *store, sqlite3_stmt *row)
{
    struct as_store_inline *inlined = as_vec_push(&store->inlines);
    uint32_t id;
    return as_store_get(row, "wnsnw", &id, &inlined->parent, &inlined->function, &inlined->file, &inlined->line) &&
           id == store->inlines.len - 1 && as_store_valid(inlined->parent, id) &&
           as_store_valid(inlined->file, store->files.len) && as_store_keep(store, &inlined->function);
}

static bool valid_place(const struct as_store *store, const struct as_store_place *place)
{
    return as_store_valid(place->module, store->modules.len) && as_store_valid(place->function, store->functions.len) &&
           as_store_valid(place->block, store->blocks.len) && as_store_valid(place->file, store->files.len) &&
           as_store_valid(place->inlined, store->inlines.len);
}

static bool place_row(struct as_store *store, sqlite3_stmt *row)
{
    struct as_store_place *place = as_vec_push(&store->places);
    uint32_t id;
    return as_store_get(row, "wunnnnwn", &id, &place->address, &place->module, &place->function, &place->block,
                        &place->file, &place->line, &place->inlined) &&
           id == store->places.len - 1 && valid_place(store, place);
}

static bool path_row(struct as_store *store, sqlite3_stmt *row)
{
    struct as_store_path *path = as_vec_push(&store->paths);
    uint32_t id, signal;
    if (!as_store_get(row, "wnnnuuw", &id, &path->parent, &path->function, &path->call_site, &path->address,
                      &path->call_address, &signal))
        return false;
    path->signal = signal != 0;
    return id == store->paths.len - 1 && as_store_valid(path->parent, id) &&
           as_store_valid(path->function, store->functions.len) && as_store_valid(path->call_site, store->places.len);
}

static bool object_row(struct as_store *store, sqlite3_stmt *row)
{
    struct as_store_object *object = as_vec_push(&store->objects);
    uint32_t id;
    return as_store_get(row, "wnsuu", &id, &object->module, &object->name, &object->address, &object->size) &&
           id == store->objects.len - 1 && as_store_valid(object->module, store->modules.len) &&
           as_store_keep(store, &object->name);
}

static const struct as_store_table code_tables[] = {
    {"modules", "SELECT id, path, build_id, base, file_size, file_time FROM modules ORDER BY id", module_row},
    {"files", "SELECT id, path FROM files ORDER BY id", file_row},
    {"functions", "SELECT id, module, name, linkage_name, address, size, file, line FROM functions ORDER BY id",
     function_row},
    {"blocks", "SELECT id, function, address, size FROM blocks ORDER BY id", block_row},
    {"inlines", "SELECT id, parent, function, file, line FROM inlines ORDER BY id", inline_row},
    {"instructions", "SELECT id, address, module, function, block, file, line, inlined FROM instructions ORDER BY id",
     place_row},
};

static const struct as_store_table call_tables[] = {
    {"paths", "SELECT id, parent, function, call_site, address, call_address, signal FROM paths ORDER BY id", path_row},
};

static const struct as_store_table data_tables[] = {
    {"objects", "SELECT id, module, name, address, size FROM objects ORDER BY id", object_row},
};

/* What fails is not tried again: half a table would be taken for a whole one. */
bool as_store_load(struct as_store *store, unsigned parts, struct as_error *err)
{
    parts |= parts & (AS_STORE_CALLS | AS_STORE_DATA) ? AS_STORE_CODE : 0;
    parts &= ~store->loaded;
    if (store->broken)
        return as_store_damaged(store, err, "its code cannot be read");
    bool ok = !(parts & AS_STORE_CODE) ||
              as_store_read_tables(store, code_tables, sizeof code_tables / sizeof *code_tables, err);
    ok = ok && (!(parts & AS_STORE_CALLS) || as_store_read_tables(store, call_tables, 1, err));
    ok = ok && (!(parts & AS_STORE_DATA) || as_store_read_tables(store, data_tables, 1, err));
    store->broken = !ok;
    store->loaded |= ok ? parts : 0;
    return ok;
}

/* ---- instructions with their text ---- */

#define INSTRUCTION_COLUMNS "id, address, module, function, block, file, line, inlined, target, class, text, bytes"

static bool get_instruction(const struct as_store *store, sqlite3_stmt *row, uint32_t *id, struct as_store_insn *insn)
{
    struct as_store_place *place = &insn->place;
    return as_store_get(row, "wunnnnwnussb", id, &place->address, &place->module, &place->function, &place->block,
                        &place->file, &place->line, &place->inlined, &insn->target, &insn->class_, &insn->text,
                        &insn->bytes, &insn->n_bytes) &&
           *id < store->places.len && valid_place(store, place);
}

static int next_instruction(struct as_store *store, sqlite3_stmt *row, uint32_t *id, struct as_store_insn *insn,
                            struct as_error *err)
{
    int more = as_store_step(store, row, err);
    if (more > 0 && !get_instruction(store, row, id, insn)) {
        as_store_damaged(store, err, "an instruction makes no sense");
        return -1;
    }
    return more;
}

bool as_store_instructions(struct as_store *store, uint32_t function, as_store_each_insn *each, void *context,
                           struct as_error *err)
{
    static const char *const all = "SELECT " INSTRUCTION_COLUMNS " FROM instructions ORDER BY id";
    static const char *const some =
        "SELECT " INSTRUCTION_COLUMNS " FROM instructions WHERE function = ?1 ORDER BY function, address";
    struct as_store_insn insn;
    uint32_t id;
    int more;
    if (!as_store_load(store, AS_STORE_CODE, err))
        return false;
    sqlite3_stmt *row = as_store_prepare(store, function == AS_STORE_NONE ? all : some, err);
    if (!row)
        return false;
    if (function != AS_STORE_NONE)
        sqlite3_bind_int64(row, 1, function); /* cannot fail: the parameter is there */
    while ((more = next_instruction(store, row, &id, &insn, err)) > 0 && each(context, id, &insn))
        ;
    sqlite3_finalize(row);
    return more >= 0;
}

const struct as_store_insn *as_store_instruction(struct as_store *store, uint32_t instruction, struct as_error *err)
{
    static const char *const one = "SELECT " INSTRUCTION_COLUMNS " FROM instructions WHERE id = ?1";
    uint32_t id;
    if (!as_store_load(store, AS_STORE_CODE, err))
        return NULL;
    if (!store->one_instruction && !(store->one_instruction = as_store_prepare(store, one, err)))
        return NULL;
    as_store_allow(store);
    sqlite3_reset(store->one_instruction);
    sqlite3_bind_int64(store->one_instruction, 1, instruction);
    int more = next_instruction(store, store->one_instruction, &id, &store->instruction, err);
    if (more == 0)
        as_error_set(err, "%s has no instruction %u", store->path, instruction);
    return more > 0 ? &store->instruction : NULL;
}
