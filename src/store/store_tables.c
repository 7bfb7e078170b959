/* See store_table.h; doc/format/profile.md explains the tables.
 *
 * Rows are found by their primary keys, which begin with the series and then the instruction, so that a report reads
 * one range, in the order of the code. Released tables and columns never change; a new version may add both.
 */
#include "store/store_table.h"

#include <string.h>

#define NAMED(row, title, member, kind, ...)                                                                           \
    {                                                                                                                  \
        .name = title, .type = AS_COLUMN_##kind, .offset = offsetof(struct row, member), __VA_ARGS__                   \
    }
#define COLUMN(row, member, kind, ...) NAMED(row, #member, member, kind, __VA_ARGS__)
#define REFERENCE(row, title, member, to, ...) NAMED(row, title, member, REF, .table = AS_TABLE_##to, __VA_ARGS__)
#define ROW_NUMBER                                                                                                     \
    {                                                                                                                  \
        .name = "id", .type = AS_COLUMN_ROW, .flags = AS_COLUMN_KEY, .json = AS_JSON_HIDDEN                            \
    }
#define ROW_ORDER                                                                                                      \
    {                                                                                                                  \
        .name = "id", .type = AS_COLUMN_ORDER, .flags = AS_COLUMN_KEY, .json = AS_JSON_HIDDEN                          \
    }
#define TEXT_ROW(title)                                                                                                \
    {                                                                                                                  \
        .name = title, .type = AS_COLUMN_TEXT, .merge = AS_MERGE_SAME                                                  \
    }

/* Frequent combinations: */
#define KEY .flags = AS_COLUMN_KEY, .merge = AS_MERGE_SAME
#define NULLABLE .flags = AS_COLUMN_NULL
#define SAME .merge = AS_MERGE_SAME
#define TIME .merge = AS_MERGE_TIME
#define COUNTED .merge = AS_MERGE_COUNT
#define SAMPLED .merge = AS_MERGE_SAMPLES
#define ADDRESS .merge = AS_MERGE_ADDRESS, .json = AS_JSON_ADDRESS
#define EVENTS .json = AS_JSON_EVENTS

/* ---- what was run ---- */

static const struct as_store_column pair_columns[] = {
    COLUMN(as_store_pair, key, TEXT, KEY),
    COLUMN(as_store_pair, value, TEXT, .merge = AS_MERGE_OWN),
};

static const struct as_store_column counter_columns[] = {
    COLUMN(as_store_counter, name, TEXT, KEY),
    COLUMN(as_store_counter, value, U64, COUNTED),
};

static const struct as_store_column quality_columns[] = {
    ROW_ORDER,
    COLUMN(as_store_quality, key, TEXT, .flags = AS_COLUMN_UNIQUE, SAME),
    COLUMN(as_store_quality, value, DOUBLE, NULLABLE, .merge = AS_MERGE_OWN),
    COLUMN(as_store_quality, text, TEXT, NULLABLE),
};

static const struct as_store_column value_columns[] = {ROW_ORDER, TEXT_ROW("value")};

static const struct as_store_column run_columns[] = {
    COLUMN(as_store_run, number, U32, .flags = AS_COLUMN_KEY, .merge = AS_MERGE_OWN),
    COLUMN(as_store_run, cycles, COUNT),
    COLUMN(as_store_run, instructions, COUNT),
    COLUMN(as_store_run, samples, COUNT),
    COLUMN(as_store_run, seconds, DOUBLE),
    COLUMN(as_store_run, status, I32),
};

static const struct as_store_column recording_columns[] = {
    ROW_ORDER,
    {.name = "identity", .type = AS_COLUMN_TEXT, .flags = AS_COLUMN_UNIQUE, .merge = AS_MERGE_OWN},
};

static const struct as_store_column thread_columns[] = {
    ROW_NUMBER,
    COLUMN(as_store_thread, number, U32, .merge = AS_MERGE_OWN),
    COLUMN(as_store_thread, process, I64, .merge = AS_MERGE_OWN),
    COLUMN(as_store_thread, name, TEXT, NULLABLE, SAME),
    COLUMN(as_store_thread, cycles, COUNT, COUNTED),
    COLUMN(as_store_thread, instructions, COUNT, COUNTED),
    COLUMN(as_store_thread, samples, COUNT, SAMPLED),
};

/* ---- the code ---- */

static const struct as_store_column module_columns[] = {
    ROW_NUMBER,
    COLUMN(as_store_module, path, TEXT, NULLABLE, SAME, .json = AS_JSON_NULLS),
    COLUMN(as_store_module, build_id, TEXT, NULLABLE, SAME),
    COLUMN(as_store_module, base, U64, .json = AS_JSON_ADDRESS, .merge = AS_MERGE_OWN),
    COLUMN(as_store_module, file_size, U64, .json = AS_JSON_HIDDEN, .merge = AS_MERGE_OWN),
    COLUMN(as_store_module, file_time, I64, .json = AS_JSON_HIDDEN, .merge = AS_MERGE_OWN),
};

static const struct as_store_column file_columns[] = {ROW_NUMBER, TEXT_ROW("path")};

static const struct as_store_column function_columns[] = {
    ROW_NUMBER,
    REFERENCE(as_store_function, "module", module, MODULES, NULLABLE, SAME),
    COLUMN(as_store_function, name, TEXT, NULLABLE, SAME, .json = AS_JSON_NULLS),
    COLUMN(as_store_function, linkage_name, TEXT, NULLABLE, SAME),
    COLUMN(as_store_function, address, U64, ADDRESS),
    COLUMN(as_store_function, size, U64, SAME),
    REFERENCE(as_store_function, "file", file, FILES, NULLABLE),
    COLUMN(as_store_function, line, U32),
};

static const struct as_store_column block_columns[] = {
    ROW_NUMBER,
    REFERENCE(as_store_block, "function", function, FUNCTIONS, NULLABLE, SAME),
    COLUMN(as_store_block, address, U64, ADDRESS),
    COLUMN(as_store_block, size, U64, SAME),
};

static const struct as_store_column inline_columns[] = {
    ROW_NUMBER,
    REFERENCE(as_store_inline, "parent", parent, INLINES, NULLABLE, SAME),
    COLUMN(as_store_inline, function, TEXT, NULLABLE, SAME, .json = AS_JSON_NULLS),
    REFERENCE(as_store_inline, "file", file, FILES, NULLABLE, SAME),
    COLUMN(as_store_inline, line, U32, SAME),
};

static const struct as_store_column instruction_columns[] = {
    ROW_NUMBER,
    NAMED(as_store_insn, "address", location.address, U64, ADDRESS),
    REFERENCE(as_store_insn, "module", location.module, MODULES, NULLABLE, SAME),
    REFERENCE(as_store_insn, "function", location.function, FUNCTIONS, NULLABLE),
    REFERENCE(as_store_insn, "block", location.block, BLOCKS, NULLABLE),
    REFERENCE(as_store_insn, "file", location.file, FILES, NULLABLE),
    NAMED(as_store_insn, "line", location.line, U32),
    REFERENCE(as_store_insn, "inlined", location.inlined, INLINES, NULLABLE),
    COLUMN(as_store_insn, target, U64, NULLABLE, .json = AS_JSON_SET_ADDRESS, .merge = AS_MERGE_OWN),
    NAMED(as_store_insn, "class", class_, TEXT, NULLABLE),
    COLUMN(as_store_insn, text, TEXT, NULLABLE),
    COLUMN(as_store_insn, bytes, BYTES, NULLABLE, SAME),
};
_Static_assert(offsetof(struct as_store_insn, location) == 0, "places are kept by the instructions' columns");

/* ---- what was measured ---- */

static const struct as_store_column series_columns[] = {
    ROW_NUMBER,
    COLUMN(as_store_series, name, TEXT, .flags = AS_COLUMN_UNIQUE, SAME),
    COLUMN(as_store_series, description, TEXT, NULLABLE),
    COLUMN(as_store_series, exact, BOOL, .merge = AS_MERGE_EQUAL),
    COLUMN(as_store_series, unit, TEXT, NULLABLE, .merge = AS_MERGE_EQUAL),
    COLUMN(as_store_series, scale, COUNT, .least = 1, .merge = AS_MERGE_OWN),
    COLUMN(as_store_series, event, TEXT, NULLABLE, .merge = AS_MERGE_EQUAL),
    COLUMN(as_store_series, precise, I32, .merge = AS_MERGE_EQUAL),
    COLUMN(as_store_series, period, COUNT, .merge = AS_MERGE_OWN),
    COLUMN(as_store_series, rate, DOUBLE, .merge = AS_MERGE_OWN),
    COLUMN(as_store_series, samples, COUNT, SAMPLED),
    COLUMN(as_store_series, lost, COUNT, SAMPLED),
    COLUMN(as_store_series, throttled, COUNT, SAMPLED),
    COLUMN(as_store_series, dropped, COUNT, SAMPLED),
    COLUMN(as_store_series, events, U64, .json = AS_JSON_ADDRESS, .merge = AS_MERGE_UNION),
};

static const struct as_store_column estimate_columns[] = {
    REFERENCE(as_store_estimate, "series", series, SERIES, KEY),
    COLUMN(as_store_estimate, measure, TEXT, KEY),
    COLUMN(as_store_estimate, granularity, TEXT, KEY),
    COLUMN(as_store_estimate, value, DOUBLE, NULLABLE, .merge = AS_MERGE_OWN),
};

static const struct as_store_column event_columns[] = {
    COLUMN(as_store_event, bit, U32, KEY, .limit = 64),  COLUMN(as_store_event, name, TEXT, .merge = AS_MERGE_EQUAL),
    COLUMN(as_store_event, description, TEXT, NULLABLE), COLUMN(as_store_event, parent, U32, NULLABLE, .limit = 64),
    COLUMN(as_store_event, state, TEXT, NULLABLE),
};

static const struct as_store_column state_columns[] = {
    ROW_NUMBER,
    COLUMN(as_store_state, name, TEXT, SAME),
    COLUMN(as_store_state, description, TEXT, NULLABLE),
};

static const struct as_store_column stack_columns[] = {
    ROW_ORDER,
    REFERENCE(as_store_stack, "series", series, SERIES, SAME),
    COLUMN(as_store_stack, stack, TEXT, SAME),
    COLUMN(as_store_stack, name, TEXT, SAME),
    COLUMN(as_store_stack, units, COUNT, TIME),
};

static const struct as_store_column time_columns[] = {
    REFERENCE(as_store_time, "series", series, SERIES, KEY),
    REFERENCE(as_store_time, "instruction", instruction, INSTRUCTIONS, KEY),
    REFERENCE(as_store_time, "thread", thread, THREADS, KEY),
    COLUMN(as_store_time, units, COUNT, TIME),
    COLUMN(as_store_time, samples, COUNT, SAMPLED),
    COLUMN(as_store_time, executions, COUNT, COUNTED),
};

static const struct as_store_column component_columns[] = {
    REFERENCE(as_store_component, "series", series, SERIES, KEY),
    REFERENCE(as_store_component, "instruction", instruction, INSTRUCTIONS, KEY),
    REFERENCE(as_store_component, "thread", thread, THREADS, KEY),
    COLUMN(as_store_component, events, U64, KEY, EVENTS),
    COLUMN(as_store_component, units, COUNT, TIME),
    COLUMN(as_store_component, samples, COUNT, SAMPLED),
};

static const struct as_store_column state_time_columns[] = {
    REFERENCE(as_store_state_time, "series", series, SERIES, KEY),
    REFERENCE(as_store_state_time, "instruction", instruction, INSTRUCTIONS, KEY),
    REFERENCE(as_store_state_time, "thread", thread, THREADS, KEY),
    REFERENCE(as_store_state_time, "state", state, STATES, KEY),
    COLUMN(as_store_state_time, units, COUNT, TIME),
};

static const struct as_store_column path_columns[] = {
    ROW_NUMBER,
    REFERENCE(as_store_path, "parent", parent, PATHS, NULLABLE, SAME),
    REFERENCE(as_store_path, "function", function, FUNCTIONS, NULLABLE, SAME),
    REFERENCE(as_store_path, "call_site", call_site, INSTRUCTIONS, NULLABLE, SAME),
    COLUMN(as_store_path, address, U64, ADDRESS),
    COLUMN(as_store_path, call_address, U64, .merge = AS_MERGE_ADDRESS, .json = AS_JSON_SET_ADDRESS),
    COLUMN(as_store_path, signal, BOOL, SAME, .json = AS_JSON_SET),
};

/* Without an instruction: the path as a whole. */
static const struct as_store_column path_time_columns[] = {
    REFERENCE(as_store_path_time, "series", series, SERIES, KEY),
    REFERENCE(as_store_path_time, "path", path, PATHS, KEY),
    REFERENCE(as_store_path_time, "instruction", instruction, INSTRUCTIONS, .flags = AS_COLUMN_KEY | AS_COLUMN_NULL,
              SAME),
    REFERENCE(as_store_path_time, "thread", thread, THREADS, KEY),
    COLUMN(as_store_path_time, units, COUNT, TIME),
    COLUMN(as_store_path_time, samples, COUNT, SAMPLED),
};

static const struct as_store_column path_component_columns[] = {
    REFERENCE(as_store_path_component, "series", series, SERIES, KEY),
    REFERENCE(as_store_path_component, "path", path, PATHS, KEY),
    REFERENCE(as_store_path_component, "thread", thread, THREADS, KEY),
    COLUMN(as_store_path_component, events, U64, KEY, EVENTS),
    COLUMN(as_store_path_component, units, COUNT, TIME),
    COLUMN(as_store_path_component, samples, COUNT, SAMPLED),
};

static const struct as_store_column object_columns[] = {
    ROW_NUMBER,
    REFERENCE(as_store_object, "module", module, MODULES, NULLABLE, SAME),
    COLUMN(as_store_object, name, TEXT, NULLABLE, SAME),
    COLUMN(as_store_object, address, U64, .json = AS_JSON_ADDRESS, .merge = AS_MERGE_OWN),
    COLUMN(as_store_object, size, U64, .merge = AS_MERGE_OWN),
};

static const char *const kinds[] = {"unknown", "load", "store", "load and store"};
static const char *const hows[AS_STORE_HOW_COUNT] = {"hardware", "exact", "next", "watched"};

static const struct as_store_column access_columns[] = {
    REFERENCE(as_store_access, "series", series, SERIES, KEY),
    REFERENCE(as_store_access, "instruction", instruction, INSTRUCTIONS, KEY),
    REFERENCE(as_store_access, "thread", thread, THREADS, KEY),
    COLUMN(as_store_access, address, U64, .flags = AS_COLUMN_KEY, ADDRESS),
    COLUMN(as_store_access, size, U32, KEY),
    COLUMN(as_store_access, kind, U32, KEY, .limit = 4, .names = kinds),
    COLUMN(as_store_access, how, U32, KEY, .limit = AS_STORE_HOW_COUNT, .names = hows),
    REFERENCE(as_store_access, "object", object, OBJECTS, NULLABLE),
    COLUMN(as_store_access, units, COUNT, TIME),
    COLUMN(as_store_access, samples, COUNT, SAMPLED),
};

static const struct as_store_column access_component_columns[] = {
    REFERENCE(as_store_access_component, "series", series, SERIES, KEY),
    REFERENCE(as_store_access_component, "instruction", instruction, INSTRUCTIONS, KEY),
    REFERENCE(as_store_access_component, "thread", thread, THREADS, KEY),
    COLUMN(as_store_access_component, address, U64, .flags = AS_COLUMN_KEY, ADDRESS),
    COLUMN(as_store_access_component, kind, U32, KEY, .limit = 4, .names = kinds),
    COLUMN(as_store_access_component, events, U64, KEY, EVENTS),
    REFERENCE(as_store_access_component, "object", object, OBJECTS, NULLABLE),
    COLUMN(as_store_access_component, units, COUNT, TIME),
    COLUMN(as_store_access_component, samples, COUNT, SAMPLED),
};

static const struct as_store_column branch_columns[] = {
    REFERENCE(as_store_branch, "series", series, SERIES, KEY),
    REFERENCE(as_store_branch, "source", source, INSTRUCTIONS, KEY),
    REFERENCE(as_store_branch, "target", target, INSTRUCTIONS, KEY),
    COLUMN(as_store_branch, taken, COUNT, COUNTED),
    COLUMN(as_store_branch, mispredicted, COUNT, COUNTED),
    COLUMN(as_store_branch, cycles, COUNT, COUNTED),
};

static const char *const wait_kinds[AS_STORE_WAIT_KINDS] = {"read", "write", "upgrade"};
static const char *const sharings[] = {"false", "true"};

static const struct as_store_column wait_columns[] = {
    REFERENCE(as_store_wait, "series", series, SERIES, KEY),
    REFERENCE(as_store_wait, "instruction", instruction, INSTRUCTIONS, KEY),
    REFERENCE(as_store_wait, "thread", thread, THREADS, KEY),
    REFERENCE(as_store_wait, "culprit", culprit, INSTRUCTIONS, .flags = AS_COLUMN_KEY | AS_COLUMN_NULL, SAME),
    REFERENCE(as_store_wait, "other", other, THREADS, KEY),
    COLUMN(as_store_wait, line, U64, .flags = AS_COLUMN_KEY, ADDRESS),
    COLUMN(as_store_wait, offset, U32, KEY),
    COLUMN(as_store_wait, kind, U32, KEY, .limit = AS_STORE_WAIT_KINDS, .names = wait_kinds),
    COLUMN(as_store_wait, sharing, U32, KEY, .limit = 2, .names = sharings),
    REFERENCE(as_store_wait, "object", object, OBJECTS, NULLABLE),
    REFERENCE(as_store_wait, "place", place, OBJECTS, NULLABLE),
    COLUMN(as_store_wait, units, COUNT, TIME),
    COLUMN(as_store_wait, transfers, COUNT, COUNTED),
};

/* By time, so that a part of the run is one range. */
static const struct as_store_column moment_columns[] = {
    REFERENCE(as_store_moment, "series", series, SERIES, KEY),
    COLUMN(as_store_moment, time, U64, KEY),
    COLUMN(as_store_moment, processor, U32, .flags = AS_COLUMN_KEY | AS_COLUMN_NULL, SAME),
    REFERENCE(as_store_moment, "thread", thread, THREADS, KEY),
    REFERENCE(as_store_moment, "instruction", instruction, INSTRUCTIONS, KEY),
    REFERENCE(as_store_moment, "path", path, PATHS, .flags = AS_COLUMN_KEY | AS_COLUMN_NULL, SAME),
    COLUMN(as_store_moment, events, U64, KEY, EVENTS),
    COLUMN(as_store_moment, units, COUNT, TIME),
    COLUMN(as_store_moment, samples, COUNT, SAMPLED),
};

/* ---- the tables ---- */

#define TABLE(title, version, row, list, merged, ...)                                                                  \
    {                                                                                                                  \
        .name = title, .since = version, .columns = list, .n_columns = sizeof list / sizeof *list,                     \
        .size = sizeof(row), .merging = AS_MERGING_##merged, __VA_ARGS__                                               \
    }
#define REPLACED .again = AS_AGAIN_REPLACE
#define ADDED .again = AS_AGAIN_ADD

const struct as_store_table as_store_tables[AS_TABLE_COUNT] = {
    [AS_TABLE_META] = TABLE("meta", 1, struct as_store_pair, pair_columns, BY_HAND, REPLACED),
    [AS_TABLE_MACHINE] = TABLE("machine", 1, struct as_store_pair, pair_columns, BY_HAND, REPLACED),
    [AS_TABLE_COUNTERS] = TABLE("counters", 1, struct as_store_counter, counter_columns, BY_HAND, REPLACED),
    [AS_TABLE_QUALITY] = TABLE("quality", 1, struct as_store_quality, quality_columns, BY_HAND, REPLACED),
    [AS_TABLE_ARGUMENTS] = TABLE("arguments", 1, const char *, value_columns, BY_HAND),
    [AS_TABLE_ENVIRONMENT] = TABLE("environment", 1, const char *, value_columns, BY_HAND),
    [AS_TABLE_RUNS] = TABLE("runs", 1, struct as_store_run, run_columns, BY_HAND),
    [AS_TABLE_RECORDINGS] = TABLE("recordings", 6, const char *, recording_columns, BY_HAND),
    [AS_TABLE_THREADS] = TABLE("threads", 1, struct as_store_thread, thread_columns, BY_HAND),
    [AS_TABLE_SERIES] = TABLE("series", 1, struct as_store_series, series_columns, BY_HAND),
    [AS_TABLE_ESTIMATES] = TABLE("estimates", 1, struct as_store_estimate, estimate_columns, BY_HAND, REPLACED),
    [AS_TABLE_EVENTS] = TABLE("events", 1, struct as_store_event, event_columns, BY_HAND, REPLACED),
    [AS_TABLE_STATES] = TABLE("states", 1, struct as_store_state, state_columns, BY_HAND),
    [AS_TABLE_STACKS] = TABLE("stacks", 1, struct as_store_stack, stack_columns, BY_HAND),
    [AS_TABLE_MODULES] = TABLE("modules", 1, struct as_store_module, module_columns, THINGS),
    [AS_TABLE_FILES] = TABLE("files", 1, const char *, file_columns, THINGS),
    [AS_TABLE_FUNCTIONS] = TABLE("functions", 1, struct as_store_function, function_columns, THINGS),
    [AS_TABLE_BLOCKS] = TABLE("blocks", 1, struct as_store_block, block_columns, THINGS),
    [AS_TABLE_INLINES] = TABLE("inlines", 1, struct as_store_inline, inline_columns, THINGS),
    [AS_TABLE_INSTRUCTIONS] = TABLE("instructions", 1, struct as_store_insn, instruction_columns, THINGS,
                                    .index_name = "instructions_of_function", .by = "function, address",
                                    .kept_columns = 8, .kept_size = sizeof(struct as_store_location)),
    [AS_TABLE_PATHS] = TABLE("paths", 1, struct as_store_path, path_columns, THINGS,
                             .constraint = "CHECK(parent IS NULL OR parent < id)"),
    [AS_TABLE_OBJECTS] = TABLE("objects", 2, struct as_store_object, object_columns, THINGS),
    [AS_TABLE_TIMES] = TABLE("times", 1, struct as_store_time, time_columns, OF_SERIES, ADDED),
    [AS_TABLE_COMPONENTS] = TABLE("components", 1, struct as_store_component, component_columns, OF_SERIES, ADDED),
    [AS_TABLE_STATE_TIMES] = TABLE("state_times", 1, struct as_store_state_time, state_time_columns, OF_SERIES, ADDED),
    [AS_TABLE_PATH_TIMES] = TABLE("path_times", 1, struct as_store_path_time, path_time_columns, OF_SERIES, ADDED),
    [AS_TABLE_PATH_COMPONENTS] =
        TABLE("path_components", 2, struct as_store_path_component, path_component_columns, OF_SERIES, ADDED),
    [AS_TABLE_ACCESSES] = TABLE("accesses", 2, struct as_store_access, access_columns, OF_SERIES, ADDED),
    [AS_TABLE_ACCESS_COMPONENTS] =
        TABLE("access_components", 5, struct as_store_access_component, access_component_columns, OF_SERIES, ADDED),
    [AS_TABLE_BRANCHES] = TABLE("branches", 2, struct as_store_branch, branch_columns, OF_SERIES, ADDED),
    [AS_TABLE_WAITS] = TABLE("waits", 3, struct as_store_wait, wait_columns, OF_SERIES, ADDED),
    [AS_TABLE_MOMENTS] = TABLE("moments", 4, struct as_store_moment, moment_columns, OF_SERIES, ADDED),
};

/* ---- questions ---- */

bool as_store_table_of_series(const struct as_store_table *table)
{
    return table->columns[0].type == AS_COLUMN_REF && table->columns[0].table == AS_TABLE_SERIES;
}

const struct as_store_column *as_store_table_column(const struct as_store_table *table, const char *name)
{
    for (size_t i = 0; i < table->n_columns; i++)
        if (strcmp(table->columns[i].name, name) == 0)
            return &table->columns[i];
    return NULL;
}

uint32_t as_store_column_u32(const struct as_store_column *column, const void *row)
{
    uint32_t value;
    memcpy(&value, (const char *)row + column->offset, sizeof value);
    return value;
}

uint64_t as_store_column_u64(const struct as_store_column *column, const void *row)
{
    uint64_t value;
    memcpy(&value, (const char *)row + column->offset, sizeof value);
    return value;
}

const char *as_store_column_text(const struct as_store_column *column, const void *row)
{
    const char *text;
    memcpy(&text, (const char *)row + column->offset, sizeof text);
    return text;
}
