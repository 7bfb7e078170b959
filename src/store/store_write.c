/* See store_write.h. One transaction into a file that nobody else can see: no journal, no syncs until the end. */
#include "store/store_write.h"

#include "base/alloc.h"
#include "store/store_schema.h"
#include "store/store_sql.h"
#include "store/store_target.h"
#include "store/store_vfs.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum insert {
    META,
    MACHINE,
    COUNTER,
    QUALITY,
    ARGUMENT,
    ENVIRONMENT,
    RUN,
    THREAD,
    MODULE,
    FILE_NAME,
    FUNCTION,
    BLOCK,
    INLINE,
    INSTRUCTION,
    SERIES,
    ESTIMATE,
    EVENT,
    STATE,
    STACK,
    TIME,
    COMPONENT,
    STATE_TIME,
    PATH,
    PATH_TIME,
    PATH_COMPONENT,
    OBJECT,
    ACCESS,
    BRANCH,
    INSERT_COUNT
};

/* Tables with an id of their own get it as the first parameter. */
static const char *const inserts[INSERT_COUNT] = {
    [META] = "INSERT OR REPLACE INTO meta VALUES(?,?)",
    [MACHINE] = "INSERT OR REPLACE INTO machine VALUES(?,?)",
    [COUNTER] = "INSERT OR REPLACE INTO counters VALUES(?,?)",
    [QUALITY] = "INSERT OR REPLACE INTO quality VALUES(?,?,?,?)",
    [ARGUMENT] = "INSERT INTO arguments VALUES(?,?)",
    [ENVIRONMENT] = "INSERT INTO environment VALUES(?,?)",
    [RUN] = "INSERT INTO runs VALUES(?,?,?,?,?,?)",
    [THREAD] = "INSERT INTO threads VALUES(?,?,?,?,?,?,?)",
    [MODULE] = "INSERT INTO modules VALUES(?,?,?,?,?,?)",
    [FILE_NAME] = "INSERT INTO files VALUES(?,?)",
    [FUNCTION] = "INSERT INTO functions VALUES(?,?,?,?,?,?,?,?)",
    [BLOCK] = "INSERT INTO blocks VALUES(?,?,?,?)",
    [INLINE] = "INSERT INTO inlines VALUES(?,?,?,?,?)",
    [INSTRUCTION] = "INSERT INTO instructions VALUES(?,?,?,?,?,?,?,?,?,?,?,?)",
    [SERIES] = "INSERT INTO series VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
    [ESTIMATE] = "INSERT OR REPLACE INTO estimates VALUES(?,?,?,?)",
    [EVENT] = "INSERT OR REPLACE INTO events VALUES(?,?,?,?,?)",
    [STATE] = "INSERT INTO states VALUES(?,?,?)",
    [STACK] = "INSERT INTO stacks VALUES(?,?,?,?,?)",
    [TIME] = "INSERT INTO times VALUES(?,?,?,?,?,?) ON CONFLICT DO UPDATE SET units = units + excluded.units,"
             " samples = samples + excluded.samples, executions = executions + excluded.executions",
    [COMPONENT] = "INSERT INTO components VALUES(?,?,?,?,?,?) ON CONFLICT DO UPDATE SET"
                  " units = units + excluded.units, samples = samples + excluded.samples",
    [STATE_TIME] = "INSERT INTO state_times VALUES(?,?,?,?,?) ON CONFLICT DO UPDATE SET"
                   " units = units + excluded.units",
    [PATH] = "INSERT INTO paths VALUES(?,?,?,?,?,?,?)",
    [PATH_TIME] = "INSERT INTO path_times VALUES(?,?,?,?,?,?) ON CONFLICT DO UPDATE SET"
                  " units = units + excluded.units, samples = samples + excluded.samples",
    [PATH_COMPONENT] = "INSERT INTO path_components VALUES(?,?,?,?,?,?) ON CONFLICT DO UPDATE SET"
                       " units = units + excluded.units, samples = samples + excluded.samples",
    [OBJECT] = "INSERT INTO objects VALUES(?,?,?,?,?)",
    [ACCESS] = "INSERT INTO accesses VALUES(?,?,?,?,?,?,?,?,?,?) ON CONFLICT DO UPDATE SET"
               " units = units + excluded.units, samples = samples + excluded.samples",
    [BRANCH] = "INSERT INTO branches VALUES(?,?,?,?,?,?) ON CONFLICT DO UPDATE SET taken = taken + excluded.taken,"
               " mispredicted = mispredicted + excluded.mispredicted, cycles = cycles + excluded.cycles",
};

struct as_store_writer {
    char *path; /* as given, for messages */
    struct as_store_target target;
    sqlite3 *db;
    sqlite3_stmt *statements[INSERT_COUNT];
    uint32_t counts[INSERT_COUNT];
    bool failed;
    struct as_error err; /* the first one */
};

/* ---- errors ---- */

/* What went wrong, in the system's words where it was the system. */
static const char *reason(sqlite3 *db, int code)
{
    int error = db ? as_store_vfs_errno(db) : 0;
    return error ? strerror(error) : db ? sqlite3_errmsg(db) : sqlite3_errstr(code);
}

static void note_failure(struct as_store_writer *writer, int code)
{
    if (writer->failed)
        return;
    writer->failed = true;
    if ((code & 0xff) == SQLITE_TOOBIG)
        as_error_set(&writer->err, "cannot write %s: a name in it is longer than %d bytes", writer->path,
                     AS_STORE_MAX_TEXT);
    else
        as_error_set(&writer->err, "cannot write %s: %s", writer->path, reason(writer->db, code));
}

/* A mistake of the caller's, not of the user's. */
static void note_misuse(struct as_store_writer *writer, enum insert what, const char *field)
{
    if (writer->failed)
        return;
    writer->failed = true;
    as_error_set(&writer->err, "cannot write %s: internal error: row %" PRIu32 " of \"%.20s…\" has a bad %s",
                 writer->path, writer->counts[what], inserts[what], field);
}

/* ---- opening and ending ---- */

static int prepare(struct as_store_writer *writer)
{
    static const char *const settings = "PRAGMA page_size = 4096; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
                                        "PRAGMA locking_mode = EXCLUSIVE; PRAGMA temp_store = MEMORY;"
                                        "PRAGMA cache_size = -32768; BEGIN";
    int code = as_store_vfs_open(writer->target.fd, true, &writer->db);
    if (code == SQLITE_OK)
        code = sqlite3_exec(writer->db, settings, NULL, NULL, NULL);
    if (code == SQLITE_OK)
        code = as_store_schema_apply(writer->db, &as_store_schema, 0, AS_STORE_VERSION);
    sqlite3_limit(writer->db, SQLITE_LIMIT_LENGTH, AS_STORE_MAX_TEXT);
    for (int i = 0; i < INSERT_COUNT && code == SQLITE_OK; i++)
        code = sqlite3_prepare_v3(writer->db, inserts[i], -1, SQLITE_PREPARE_PERSISTENT, &writer->statements[i], NULL);
    return code;
}

struct as_store_writer *as_store_writer_open(const char *path, struct as_error *err)
{
    struct as_store_writer *writer = as_alloc(sizeof *writer);
    writer->path = as_strdup(path);
    writer->target.fd = -1;
    if (!as_store_target_open(&writer->target, path, true, err)) {
        as_store_writer_abort(writer);
        return NULL;
    }
    int code = prepare(writer);
    if (code == SQLITE_OK)
        return writer;
    note_failure(writer, code);
    as_error_set(err, "%s", writer->err.message);
    as_store_writer_abort(writer);
    return NULL;
}

static int close_database(struct as_store_writer *writer)
{
    for (int i = 0; i < INSERT_COUNT; i++)
        sqlite3_finalize(writer->statements[i]);
    int code = sqlite3_close(writer->db);
    memset(writer->statements, 0, sizeof writer->statements);
    writer->db = NULL;
    return code;
}

void as_store_writer_abort(struct as_store_writer *writer)
{
    if (!writer)
        return;
    close_database(writer);
    as_store_target_free(&writer->target);
    free(writer->path);
    free(writer);
}

bool as_store_writer_commit(struct as_store_writer *writer, struct as_error *err)
{
    int code = writer->failed ? SQLITE_OK : sqlite3_exec(writer->db, "COMMIT", NULL, NULL, NULL);
    if (code == SQLITE_OK)
        code = close_database(writer);
    if (code != SQLITE_OK)
        note_failure(writer, code);
    bool ok = !writer->failed && as_store_target_publish(&writer->target, err);
    if (writer->failed)
        as_error_set(err, "%s", writer->err.message);
    as_store_writer_abort(writer);
    return ok;
}

bool as_store_writer_failed(const struct as_store_writer *writer)
{
    return writer->failed;
}

/* ---- rows ---- */

/* Inserts a row; returns its number. */
static uint32_t add(struct as_store_writer *writer, enum insert what, const char *format, ...)
{
    if (writer->failed)
        return 0;
    if (writer->counts[what] == AS_STORE_NONE - 1) {
        note_misuse(writer, what, "number");
        return 0;
    }
    va_list args;
    va_start(args, format);
    int code = as_store_bind(writer->statements[what], format, args);
    va_end(args);
    if (code == SQLITE_OK)
        code = sqlite3_step(writer->statements[what]);
    if (code == SQLITE_DONE)
        code = sqlite3_reset(writer->statements[what]);
    if (code != SQLITE_OK)
        note_failure(writer, code);
    return writer->counts[what]++;
}

/* Whether `number` was added, as everything that is referred to must have been. */
static void refer(struct as_store_writer *writer, enum insert from, enum insert to, uint32_t number, const char *field)
{
    if (number >= writer->counts[to])
        note_misuse(writer, from, field);
}

static void refer_or_none(struct as_store_writer *writer, enum insert from, enum insert to, uint32_t number,
                          const char *field)
{
    if (number != AS_STORE_NONE)
        refer(writer, from, to, number, field);
}

void as_store_add_meta(struct as_store_writer *writer, const char *key, const char *value)
{
    if (value)
        add(writer, META, "ss", key, value);
}

void as_store_add_meta_u64(struct as_store_writer *writer, const char *key, uint64_t value)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRIu64, value);
    as_store_add_meta(writer, key, text);
}

void as_store_add_meta_double(struct as_store_writer *writer, const char *key, double value)
{
    char text[40];
    snprintf(text, sizeof text, "%.17g", value);
    as_store_add_meta(writer, key, text);
}

void as_store_add_machine(struct as_store_writer *writer, const char *key, const char *value)
{
    if (value)
        add(writer, MACHINE, "ss", key, value);
}

void as_store_add_counter(struct as_store_writer *writer, const char *name, uint64_t value)
{
    add(writer, COUNTER, "su", name, value);
}

void as_store_add_quality(struct as_store_writer *writer, const char *key, double value, const char *text)
{
    add(writer, QUALITY, "wsds", writer->counts[QUALITY], key, value, text);
}

void as_store_add_argument(struct as_store_writer *writer, const char *value)
{
    add(writer, ARGUMENT, "ws", writer->counts[ARGUMENT], value);
}

void as_store_add_environment(struct as_store_writer *writer, const char *value)
{
    add(writer, ENVIRONMENT, "ws", writer->counts[ENVIRONMENT], value);
}

void as_store_add_run(struct as_store_writer *writer, const struct as_store_run *run)
{
    double seconds = isnan(run->seconds) ? 0 : run->seconds;
    add(writer, RUN, "wuuudi", run->number, run->cycles, run->instructions, run->samples, seconds,
        (int64_t)run->status);
}

uint32_t as_store_add_thread(struct as_store_writer *writer, const struct as_store_thread *thread)
{
    return add(writer, THREAD, "wwisuuu", writer->counts[THREAD], thread->number, thread->process, thread->name,
               thread->cycles, thread->instructions, thread->samples);
}

uint32_t as_store_add_module(struct as_store_writer *writer, const struct as_store_module *module)
{
    return add(writer, MODULE, "wssuui", writer->counts[MODULE], module->path, module->build_id, module->base,
               module->file_size, module->file_time);
}

uint32_t as_store_add_file(struct as_store_writer *writer, const char *path)
{
    return add(writer, FILE_NAME, "ws", writer->counts[FILE_NAME], path);
}

uint32_t as_store_add_function(struct as_store_writer *writer, const struct as_store_function *function)
{
    refer_or_none(writer, FUNCTION, MODULE, function->module, "module");
    refer_or_none(writer, FUNCTION, FILE_NAME, function->file, "file");
    return add(writer, FUNCTION, "wnssuunw", writer->counts[FUNCTION], function->module, function->name,
               function->linkage_name, function->address, function->size, function->file, function->line);
}

uint32_t as_store_add_block(struct as_store_writer *writer, const struct as_store_block *block)
{
    refer_or_none(writer, BLOCK, FUNCTION, block->function, "function");
    return add(writer, BLOCK, "wnuu", writer->counts[BLOCK], block->function, block->address, block->size);
}

uint32_t as_store_add_inline(struct as_store_writer *writer, const struct as_store_inline *inlined)
{
    refer_or_none(writer, INLINE, INLINE, inlined->parent, "parent");
    refer_or_none(writer, INLINE, FILE_NAME, inlined->file, "file");
    return add(writer, INLINE, "wnsnw", writer->counts[INLINE], inlined->parent, inlined->function, inlined->file,
               inlined->line);
}

uint32_t as_store_add_instruction(struct as_store_writer *writer, const struct as_store_insn *insn)
{
    const struct as_store_place *place = &insn->place;
    refer_or_none(writer, INSTRUCTION, MODULE, place->module, "module");
    refer_or_none(writer, INSTRUCTION, FUNCTION, place->function, "function");
    refer_or_none(writer, INSTRUCTION, BLOCK, place->block, "block");
    refer_or_none(writer, INSTRUCTION, FILE_NAME, place->file, "file");
    refer_or_none(writer, INSTRUCTION, INLINE, place->inlined, "inlined call");
    return add(writer, INSTRUCTION, "wunnnnwnussb", writer->counts[INSTRUCTION], place->address, place->module,
               place->function, place->block, place->file, place->line, place->inlined, insn->target, insn->class_,
               insn->text, insn->bytes, insn->n_bytes);
}

/* ---- what was measured ---- */

uint32_t as_store_add_series(struct as_store_writer *writer, const struct as_store_series *series)
{
    if (series->scale == 0)
        note_misuse(writer, SERIES, "scale");
    double rate = isnan(series->rate) ? 0 : series->rate;
    return add(writer, SERIES, "wsswsusiuduuuuu", writer->counts[SERIES], series->name, series->description,
               (uint32_t)series->exact, series->unit, series->scale, series->event, (int64_t)series->precise,
               series->period, rate, series->samples, series->lost, series->throttled, series->dropped, series->events);
}

void as_store_add_estimate(struct as_store_writer *writer, const struct as_store_estimate *estimate)
{
    refer(writer, ESTIMATE, SERIES, estimate->series, "series");
    add(writer, ESTIMATE, "wssd", estimate->series, estimate->measure, estimate->granularity, estimate->value);
}

void as_store_add_event(struct as_store_writer *writer, const struct as_store_event *event)
{
    if (event->bit > 63 || (event->parent > 63 && event->parent != AS_STORE_NONE))
        note_misuse(writer, EVENT, "bit");
    add(writer, EVENT, "wssns", event->bit, event->name, event->description, event->parent, event->state);
}

uint32_t as_store_add_state(struct as_store_writer *writer, const struct as_store_state *state)
{
    return add(writer, STATE, "wss", writer->counts[STATE], state->name, state->description);
}

void as_store_add_stack(struct as_store_writer *writer, const struct as_store_stack *stack)
{
    refer(writer, STACK, SERIES, stack->series, "series");
    add(writer, STACK, "wwssu", writer->counts[STACK], stack->series, stack->stack, stack->name, stack->units);
}

static void refer_key(struct as_store_writer *writer, enum insert from, uint32_t series, uint32_t thread)
{
    refer(writer, from, SERIES, series, "series");
    refer(writer, from, THREAD, thread, "thread");
}

void as_store_add_time(struct as_store_writer *writer, const struct as_store_time *time)
{
    refer_key(writer, TIME, time->series, time->thread);
    refer(writer, TIME, INSTRUCTION, time->instruction, "instruction");
    add(writer, TIME, "wwwuuu", time->series, time->instruction, time->thread, time->units, time->samples,
        time->executions);
}

void as_store_add_component(struct as_store_writer *writer, const struct as_store_component *component)
{
    refer_key(writer, COMPONENT, component->series, component->thread);
    refer(writer, COMPONENT, INSTRUCTION, component->instruction, "instruction");
    add(writer, COMPONENT, "wwwuuu", component->series, component->instruction, component->thread, component->events,
        component->units, component->samples);
}

void as_store_add_state_time(struct as_store_writer *writer, const struct as_store_state_time *time)
{
    refer_key(writer, STATE_TIME, time->series, time->thread);
    refer(writer, STATE_TIME, INSTRUCTION, time->instruction, "instruction");
    refer(writer, STATE_TIME, STATE, time->state, "state");
    add(writer, STATE_TIME, "wwwwu", time->series, time->instruction, time->thread, time->state, time->units);
}

uint32_t as_store_add_path(struct as_store_writer *writer, const struct as_store_path *path)
{
    refer_or_none(writer, PATH, PATH, path->parent, "parent");
    refer_or_none(writer, PATH, FUNCTION, path->function, "function");
    refer_or_none(writer, PATH, INSTRUCTION, path->call_site, "call site");
    return add(writer, PATH, "wnnnuuw", writer->counts[PATH], path->parent, path->function, path->call_site,
               path->address, path->call_address, (uint32_t)path->signal);
}

void as_store_add_path_time(struct as_store_writer *writer, const struct as_store_path_time *time)
{
    refer_key(writer, PATH_TIME, time->series, time->thread);
    refer(writer, PATH_TIME, PATH, time->path, "path");
    refer_or_none(writer, PATH_TIME, INSTRUCTION, time->instruction, "instruction");
    int64_t instruction = time->instruction == AS_STORE_NONE ? -1 : (int64_t)time->instruction;
    add(writer, PATH_TIME, "wwiwuu", time->series, time->path, instruction, time->thread, time->units, time->samples);
}

void as_store_add_path_component(struct as_store_writer *writer, const struct as_store_path_component *component)
{
    refer_key(writer, PATH_COMPONENT, component->series, component->thread);
    refer(writer, PATH_COMPONENT, PATH, component->path, "path");
    add(writer, PATH_COMPONENT, "wwwuuu", component->series, component->path, component->thread, component->events,
        component->units, component->samples);
}

/* ---- data ---- */

uint32_t as_store_add_object(struct as_store_writer *writer, const struct as_store_object *object)
{
    refer_or_none(writer, OBJECT, MODULE, object->module, "module");
    return add(writer, OBJECT, "wnsuu", writer->counts[OBJECT], object->module, object->name, object->address,
               object->size);
}

void as_store_add_access(struct as_store_writer *writer, const struct as_store_access *access)
{
    refer_key(writer, ACCESS, access->series, access->thread);
    refer(writer, ACCESS, INSTRUCTION, access->instruction, "instruction");
    refer_or_none(writer, ACCESS, OBJECT, access->object, "object");
    if (access->how >= AS_STORE_HOW_COUNT || access->kind > (AS_STORE_LOAD | AS_STORE_STORE))
        note_misuse(writer, ACCESS, "kind");
    add(writer, ACCESS, "wwwuwwwnuu", access->series, access->instruction, access->thread, access->address,
        access->size, access->kind, access->how, access->object, access->units, access->samples);
}

void as_store_add_branch(struct as_store_writer *writer, const struct as_store_branch *branch)
{
    refer(writer, BRANCH, SERIES, branch->series, "series");
    refer(writer, BRANCH, INSTRUCTION, branch->source, "source");
    refer(writer, BRANCH, INSTRUCTION, branch->target, "target");
    add(writer, BRANCH, "wwwuuu", branch->series, branch->source, branch->target, branch->taken, branch->mispredicted,
        branch->cycles);
}
