/* The second pass: copies the code and the rows of one input into the output. See merge_internal.h.
 *
 * Each row is copied, its references are renumbered, and its addresses are moved to where the output has their module.
 * Things are looked up by their keys and added if they are new; measurements are scaled and added up.
 */
#include "base/path.h"
#include "base/search.h"
#include "merge/merge_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* The range of a module's instructions, for addresses about which nothing else is known. */
struct extent {
    uint64_t first, last;
    uint32_t module;
};

struct numbers {
    uint32_t *data;
    size_t len, cap;
};

struct source {
    struct as_merge *merge;
    struct as_store *store;
    struct numbers numbers[AS_TABLE_COUNT]; /* numbers in the output, by number in the input */
    AS_VEC(uint64_t) module_shifts;         /* what to add to addresses, modulo 2^64 */
    AS_VEC(uint64_t) object_shifts;
    struct extent *extents; /* by address */
    size_t n_extents;
    const struct as_store_location *locations;
    const struct as_store_function *functions;
    uint64_t *units; /* of each series of the output, in this input */
    uint32_t main_module;
    const char *main_build_id;
    struct as_str key;
};

static void *field(const struct as_store_column *column, void *row)
{
    return (char *)row + column->offset;
}

/* ---- addresses ---- */

static int compare_extents(const void *a, const void *b)
{
    const struct extent *x = a, *y = b;
    return x->first < y->first ? -1 : x->first > y->first;
}

static void find_extents(struct source *source, size_t n_locations, size_t n_modules)
{
    source->extents = as_alloc_array(n_modules + 1, sizeof *source->extents);
    for (size_t i = 0; i < n_modules; i++)
        source->extents[i] = (struct extent){UINT64_MAX, 0, (uint32_t)i};
    for (size_t i = 0; i < n_locations; i++) {
        const struct as_store_location *location = &source->locations[i];
        if (location->module == AS_STORE_NONE)
            continue;
        struct extent *extent = &source->extents[location->module];
        extent->first = location->address < extent->first ? location->address : extent->first;
        extent->last = location->address > extent->last ? location->address : extent->last;
    }
    qsort(source->extents, n_modules, sizeof *source->extents, compare_extents);
    source->n_extents = n_modules;
}

static uint64_t shift_of_module(const struct source *source, uint32_t module)
{
    return module == AS_STORE_NONE ? 0 : source->module_shifts.data[module];
}

/* The last module that begins at or before the address, unless the address is beyond its end. */
static uint64_t shift_of_address(const struct source *source, uint64_t address)
{
    size_t behind = as_search(0, source->n_extents, i, source->extents[i].first <= address);
    const struct extent *last = behind > 0 ? &source->extents[behind - 1] : NULL;
    return last && address <= last->last ? shift_of_module(source, last->module) : 0;
}

static uint64_t shift_of_function(const struct source *source, uint32_t function, uint64_t address)
{
    return function == AS_STORE_NONE ? shift_of_address(source, address)
                                     : shift_of_module(source, source->functions[function].module);
}

/* What to add to an address of a row of the input. */
static uint64_t shift_of(const struct source *source, enum as_store_table_id id, const struct as_store_column *column,
                         const void *row, uint64_t address)
{
    switch (id) {
    case AS_TABLE_FUNCTIONS:
        return shift_of_module(source, ((const struct as_store_function *)row)->module);
    case AS_TABLE_INSTRUCTIONS:
        return shift_of_module(source, ((const struct as_store_insn *)row)->location.module);
    case AS_TABLE_BLOCKS:
        return shift_of_function(source, ((const struct as_store_block *)row)->function, address);
    case AS_TABLE_PATHS: {
        const struct as_store_path *path = row;
        if (column->offset == offsetof(struct as_store_path, address))
            return shift_of_function(source, path->function, address);
        return path->call_site == AS_STORE_NONE ? shift_of_address(source, address)
                                                : shift_of_module(source, source->locations[path->call_site].module);
    }
    case AS_TABLE_ACCESSES: {
        uint32_t object = ((const struct as_store_access *)row)->object;
        return object == AS_STORE_NONE ? 0 : source->object_shifts.data[object];
    }
    case AS_TABLE_ACCESS_COMPONENTS: {
        uint32_t object = ((const struct as_store_access_component *)row)->object;
        return object == AS_STORE_NONE ? 0 : source->object_shifts.data[object];
    }
    case AS_TABLE_WAITS: {
        uint32_t object = ((const struct as_store_wait *)row)->object;
        return object == AS_STORE_NONE ? 0 : source->object_shifts.data[object];
    }
    default:
        return 0;
    }
}

/* Converts references and addresses to those of the output. Addresses come first: they are found by the input's
 * numbers. */
static void translate(const struct source *source, enum as_store_table_id id, void *row)
{
    const struct as_store_table *table = &as_store_tables[id];
    for (size_t i = 0; i < table->n_columns; i++) {
        const struct as_store_column *column = &table->columns[i];
        bool moves = column->merge == AS_MERGE_ADDRESS ||
                     (id == AS_TABLE_INSTRUCTIONS && column->offset == offsetof(struct as_store_insn, target));
        uint64_t *address = moves && column->type == AS_COLUMN_U64 ? field(column, row) : NULL;
        if (address && *address)
            *address += shift_of(source, id, column, row, *address);
    }
    for (size_t i = 0; i < table->n_columns; i++) {
        const struct as_store_column *column = &table->columns[i];
        uint32_t *number = column->type == AS_COLUMN_REF ? field(column, row) : NULL;
        if (number && *number != AS_STORE_NONE)
            *number = source->numbers[column->table].data[*number];
    }
}

/* ---- things ---- */

/* Memory without a file matches only at the same address. */
static bool is_anonymous(const char *path)
{
    static const char *const names[] = {"", "[anon]", "[unknown]", "[heap]", "[stack]"};
    bool found = !path || strncmp(path, "//", 2) == 0 || strncmp(path, "/memfd:", 7) == 0;
    for (size_t i = 0; path && i < sizeof names / sizeof *names; i++)
        found |= strcmp(path, names[i]) == 0;
    return found;
}

/* A file is identified by its build-id and name, wherever it lies and is mapped; without a build-id, also by its size
 * and time. */
static void module_key(struct as_str *key, const struct as_store_module *module)
{
    as_key_add_text(key, module->build_id);
    as_key_add_text(key, module->build_id && module->path ? as_path_base(module->path) : module->path);
    if (!module->build_id && is_anonymous(module->path))
        as_key_add_u64(key, module->base);
    if (!module->build_id) {
        as_key_add_u64(key, module->file_size);
        as_key_add_u64(key, (uint64_t)module->file_time);
    }
}

/* A variable is identified by its location in its module; a range of memory has only its name. */
static void object_key(struct as_str *key, const struct as_store_object *object)
{
    as_key_add_u64(key, object->module);
    as_key_add_text(key, object->name);
    if (object->module != AS_STORE_NONE) {
        as_key_add_u64(key, object->address);
        as_key_add_u64(key, object->size);
    }
}

static void make_key(struct source *source, enum as_store_table_id id, const void *row)
{
    const struct as_store_table *table = &as_store_tables[id];
    as_str_clear(&source->key);
    if (id == AS_TABLE_MODULES)
        module_key(&source->key, row);
    else if (id == AS_TABLE_OBJECTS)
        object_key(&source->key, row);
    else
        for (size_t i = 0; i < table->n_columns; i++)
            if (table->columns[i].merge == AS_MERGE_SAME || table->columns[i].merge == AS_MERGE_ADDRESS)
                as_key_add(&source->key, &table->columns[i], row);
}

static bool is_main(const struct source *source, const struct as_store_module *module)
{
    const char *program = as_store_meta(source->store, AS_META_PROGRAM);
    return program && module->path && strcmp(as_path_base(program), as_path_base(module->path)) == 0;
}

/* Remembers what the locations of later things depend on. */
static void note_thing(struct source *source, enum as_store_table_id id, const void *in, const void *out,
                       uint32_t number, bool is_new)
{
    struct as_merge *merge = source->merge;
    if (id == AS_TABLE_MODULES) {
        const struct as_store_module *module = in;
        if (is_new)
            *as_vec_push(&merge->bases) = module->base;
        *as_vec_push(&source->module_shifts) = merge->bases.data[number] - module->base;
        if (source->main_module == AS_STORE_NONE && is_main(source, module)) {
            source->main_module = number;
            source->main_build_id = as_merge_keep(merge, module->build_id);
        }
    } else if (id == AS_TABLE_OBJECTS) {
        if (is_new)
            *as_vec_push(&merge->object_addresses) = ((const struct as_store_object *)out)->address;
        *as_vec_push(&source->object_shifts) =
            merge->object_addresses.data[number] - ((const struct as_store_object *)in)->address;
    } else if (id == AS_TABLE_INSTRUCTIONS && is_new) {
        *as_vec_push(&merge->functions_of) = ((const struct as_store_insn *)out)->location.function;
        *as_vec_push(&merge->blocks_of) = ((const struct as_store_insn *)out)->location.block;
    }
}

struct things {
    struct source *source;
    enum as_store_table_id id;
};

static bool add_thing(void *context, uint32_t number, const void *row)
{
    struct things *things = context;
    struct source *source = things->source;
    union as_store_any_row copy;
    bool is_new;
    (void)number;
    memcpy(&copy, row, as_store_tables[things->id].size);
    translate(source, things->id, &copy);
    if (things->id == AS_TABLE_OBJECTS)
        ((struct as_store_object *)&copy)->address +=
            shift_of_module(source, ((const struct as_store_object *)row)->module);
    make_key(source, things->id, &copy);
    uint32_t out = as_identities_find(&source->merge->identities[things->id], &source->key, &is_new);
    *as_vec_push(&source->numbers[things->id]) = out;
    if (is_new)
        as_store_add(source->merge->writer, things->id, &copy);
    note_thing(source, things->id, row, &copy, out, is_new);
    return !as_store_writer_failed(source->merge->writer);
}

static bool add_things(struct source *source, enum as_store_table_id id, struct as_error *err)
{
    struct things things = {source, id};
    as_identities_begin(&source->merge->identities[id]);
    return as_store_each(source->store, id, AS_STORE_NONE, add_thing, &things, err);
}

/* Two builds of a program have little in common but the name. */
static bool check_main(struct source *source, struct as_error *err)
{
    struct as_merge *merge = source->merge;
    if (merge->main_module == AS_STORE_NONE) {
        merge->main_module = source->main_module;
        merge->main_build_id = source->main_build_id;
    }
    if (source->main_module == merge->main_module || source->main_module == AS_STORE_NONE || merge->options->force)
        return true;
    return as_error_set(err,
                        "%s and %s are of different builds of one program (build-id %.40s, %.40s): --force merges them "
                        "anyway",
                        as_merge_name(merge, 0), as_merge_name(merge, merge->at),
                        merge->main_build_id ? merge->main_build_id : "unknown",
                        source->main_build_id ? source->main_build_id : "unknown");
}

static bool add_code(struct source *source, struct as_error *err)
{
    size_t n_locations, n_modules, n;
    source->locations = as_store_locations(source->store, &n_locations);
    source->functions = as_store_functions(source->store, &n);
    as_store_modules(source->store, &n_modules);
    find_extents(source, n_locations, n_modules);
    bool ok = true;
    for (enum as_store_table_id id = 0; id < AS_TABLE_COUNT && ok; id++)
        ok = as_store_tables[id].merging != AS_MERGING_THINGS ||
             (add_things(source, id, err) && (id != AS_TABLE_MODULES || check_main(source, err)));
    return ok;
}

/* ---- what was measured ---- */

/* The rows of one table and series that are being copied. */
struct rows {
    struct source *source;
    const struct as_store_table *table;
    enum as_store_table_id id;
    struct as_weight time, count; /* factors for times and counts */
    uint64_t carry[AS_STORE_MAX_COLUMNS];
    uint64_t *sums; /* by column, of all inputs */
    bool failed;
};

static bool scale_row(struct rows *rows, void *row)
{
    bool ok = true;
    for (size_t i = 0; i < rows->table->n_columns && ok; i++) {
        const struct as_store_column *column = &rows->table->columns[i];
        uint64_t *value = column->type == AS_COLUMN_COUNT ? field(column, row) : NULL;
        if (!value)
            continue;
        if (column->merge == AS_MERGE_TIME)
            ok = as_weight_times(rows->time, *value, &rows->carry[i], value);
        else if (column->merge == AS_MERGE_COUNT)
            ok = as_weight_times(rows->count, *value, &rows->carry[i], value);
        ok = ok && !__builtin_add_overflow(rows->sums[i], *value, &rows->sums[i]) && rows->sums[i] <= INT64_MAX;
    }
    return ok;
}

static bool add_row(void *context, uint32_t number, const void *row)
{
    struct rows *rows = context;
    union as_store_any_row copy;
    (void)number;
    memcpy(&copy, row, rows->table->size);
    translate(rows->source, rows->id, &copy);
    rows->failed = !scale_row(rows, &copy);
    if (!rows->failed)
        as_merge_push(rows->source->merge, rows->id, &copy);
    return !rows->failed && !as_store_writer_failed(rows->source->merge->writer);
}

/* Adds the times of a series without events as components without events, if the output's series has some. */
static bool add_time_as_component(void *context, uint32_t number, const void *row)
{
    const struct as_store_time *time = row;
    return add_row(context, number,
                   &(struct as_store_component){.series = time->series,
                                                .thread = time->thread,
                                                .instruction = time->instruction,
                                                .units = time->units,
                                                .samples = time->samples});
}

static bool add_path_as_component(void *context, uint32_t number, const void *row)
{
    const struct as_store_path_time *time = row;
    return add_row(context, number,
                   &(struct as_store_path_component){.series = time->series,
                                                     .thread = time->thread,
                                                     .path = time->path,
                                                     .units = time->units,
                                                     .samples = time->samples});
}

static const struct as_store_series *output_series(const struct source *source, uint32_t series)
{
    const struct as_merge *merge = source->merge;
    uint32_t number = source->numbers[AS_TABLE_SERIES].data[series];
    for (size_t i = 0; i < merge->series.len; i++)
        if (merge->series.data[i].number == number)
            return &merge->series.data[i].row;
    return NULL; /* of a series that is not in the output */
}

/* The factor from the input's scale to the output's, with the weight. An integer, by the choice of the output's
 * scale. */
static struct as_weight time_weight(const struct source *source, uint32_t series)
{
    size_t n;
    uint64_t from = as_store_series(source->store, &n)[series].scale, to = output_series(source, series)->scale;
    struct as_weight ratio = {to / as_gcd(to, from), from / as_gcd(to, from)}, product = {0, 1};
    return as_weight_product(source->merge->inputs[source->merge->at].weight, ratio, &product)
               ? product
               : (struct as_weight){0, 1}; /* cannot happen: the first pass has chosen the scale */
}

static bool too_large(const struct as_merge *merge, struct as_error *err)
{
    return as_error_set(err, "%s: times add up to more than 63 bits: give weights with fewer digits",
                        as_merge_name(merge, merge->at));
}

static bool read_rows(struct rows *rows, uint32_t series, enum as_store_table_id from, as_store_each_row *each,
                      struct as_error *err)
{
    bool ok = as_store_each(rows->source->store, from, series, each, rows, err);
    return rows->failed ? too_large(rows->source->merge, err) : ok;
}

static bool add_table(struct source *source, enum as_store_table_id id, uint32_t series, bool fill,
                      struct as_error *err)
{
    struct as_merge *merge = source->merge;
    uint32_t out = source->numbers[AS_TABLE_SERIES].data[series];
    struct rows rows = {.source = source,
                        .table = &as_store_tables[id],
                        .id = id,
                        .time = time_weight(source, series),
                        .count = merge->inputs[merge->at].weight,
                        .sums = merge->sums[out][id]};
    for (size_t i = 0; i < rows.table->n_columns;
         i++) /* times are integers; sums of counts are rounded to the nearest */
        rows.carry[i] = rows.table->columns[i].merge == AS_MERGE_COUNT ? rows.count.whole / 2 : 0;
    uint64_t before = rows.sums[3];
    bool ok = !fill || !(id == AS_TABLE_COMPONENTS || id == AS_TABLE_PATH_COMPONENTS)
                  ? read_rows(&rows, series, id, add_row, err)
                  : read_rows(&rows, series, id == AS_TABLE_COMPONENTS ? AS_TABLE_TIMES : AS_TABLE_PATH_TIMES,
                              id == AS_TABLE_COMPONENTS ? add_time_as_component : add_path_as_component, err);
    if (id == AS_TABLE_TIMES)
        source->units[out] += rows.sums[3] - before;
    return ok;
}

static bool add_series(struct source *source, uint32_t series, struct as_error *err)
{
    size_t n;
    bool sees = as_store_series(source->store, &n)[series].events != 0, ok = true;
    bool fill = output_series(source, series)->events != 0 && !sees;
    for (enum as_store_table_id id = 0; id < AS_TABLE_COUNT && ok; id++)
        ok = as_store_tables[id].merging != AS_MERGING_OF_SERIES || add_table(source, id, series, fill, err);
    return ok;
}

/* ---- stacks ---- */

static struct as_store_stack *find_stack(struct as_merge *merge, uint32_t series, const struct as_store_stack *like)
{
    for (size_t i = 0; i < merge->stacks.len; i++) {
        struct as_store_stack *stack = &merge->stacks.data[i];
        if (stack->series == series && strcmp(stack->stack, like->stack) == 0 && strcmp(stack->name, like->name) == 0)
            return stack;
    }
    struct as_store_stack *added = as_vec_push(&merge->stacks);
    *added = (struct as_store_stack){series, as_merge_keep(merge, like->stack), as_merge_keep(merge, like->name), 0};
    return added;
}

static bool add_stacks(struct source *source, struct as_error *err)
{
    size_t n;
    const struct as_store_stack *stacks = as_store_stacks(source->store, &n);
    for (size_t i = 0; i < n; i++) {
        uint32_t out = source->numbers[AS_TABLE_SERIES].data[stacks[i].series];
        uint64_t units, carry = 0;
        if (out == AS_STORE_NONE)
            continue;
        struct as_store_stack *stack = find_stack(source->merge, out, &stacks[i]);
        if (!as_weight_times(time_weight(source, stacks[i].series), stacks[i].units, &carry, &units) ||
            __builtin_add_overflow(stack->units, units, &stack->units) || stack->units > INT64_MAX)
            return too_large(source->merge, err);
    }
    return true;
}

/* ---- an input ---- */

static void take_numbers(struct numbers *numbers, uint32_t *data)
{
    free(numbers->data);
    *numbers = (struct numbers){.data = data};
}

static void free_source(struct source *source)
{
    for (int i = 0; i < AS_TABLE_COUNT; i++)
        free(source->numbers[i].data);
    as_vec_free(&source->module_shifts);
    as_vec_free(&source->object_shifts);
    free(source->extents);
    free(source->units);
    as_str_free(&source->key);
}

bool as_merge_rows(struct as_merge *merge, struct as_store *store, struct as_error *err)
{
    struct source source = {.merge = merge, .store = store, .main_module = AS_STORE_NONE};
    size_t n;
    as_store_series(store, &n);
    as_identities_begin(&merge->identities[AS_TABLE_THREADS]);
    as_identities_begin(&merge->identities[AS_TABLE_STATES]);
    take_numbers(&source.numbers[AS_TABLE_THREADS], as_merge_thread_numbers(merge, store));
    take_numbers(&source.numbers[AS_TABLE_STATES], as_merge_state_numbers(merge, store));
    take_numbers(&source.numbers[AS_TABLE_SERIES], as_merge_series_numbers(merge, store));
    source.units = as_alloc_array(merge->series.len + 1, sizeof *source.units);
    bool ok =
        as_store_load(store, AS_STORE_CALLS | AS_STORE_DATA, err) && add_code(&source, err) && add_stacks(&source, err);
    for (uint32_t i = 0; i < n && ok; i++)
        if (source.numbers[AS_TABLE_SERIES].data[i] != AS_STORE_NONE)
            ok = add_series(&source, i, err);
    if (ok)
        as_merge_estimates(merge, store, source.numbers[AS_TABLE_SERIES].data, source.units);
    free_source(&source);
    return ok;
}
