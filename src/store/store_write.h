/* Writing a profile.
 *
 * The file appears under its name when it is committed, whole, in place of an older profile, or not at all: until then
 * it has no name (O_TMPFILE) and whoever is killed leaves nothing behind. Where the file system cannot do that, it is
 * FILE.<pid>-<n>.partial, locked; what a killed run left is removed by the next one that writes the same FILE. Readers
 * of the old file keep reading the old file.
 *
 * Errors stick: add what there is to add, and commit says what went wrong first. All in one thread.
 */
#ifndef AS_STORE_WRITE_H
#define AS_STORE_WRITE_H

#include "store/store_table.h"

struct as_store_writer;

/* Before the program runs, so that a run is not lost to a wrong path. Refuses what it must not replace: directories,
 * devices, files that are no profiles, files that cannot be written, profiles that another process is changing. */
struct as_store_writer *as_store_writer_open(const char *path, struct as_error *err) AS_MUST_CHECK;
bool as_store_writer_commit(struct as_store_writer *writer, struct as_error *err) AS_MUST_CHECK; /* frees, whatever */
/* Completes a profile that never gets a name and goes away with its descriptor, which is returned: it can be opened for
 * reading as /proc/self/fd/N. -1 and `err`: there is none. Frees, whatever. */
int as_store_writer_finish(struct as_store_writer *writer, struct as_error *err) AS_MUST_CHECK;
/* Frees; nothing appears and an old file stays. NULL: nothing. */
void as_store_writer_abort(struct as_store_writer *writer);
bool as_store_writer_failed(const struct as_store_writer *writer); /* adding more is in vain */

/* A row of any table: what the functions below do. What it refers to must have been added before. Returns its number.
 */
uint32_t as_store_add(struct as_store_writer *writer, enum as_store_table_id table, const void *row);

/* Every row of a table that was added so far, or only those of one series (NONE: all), in the order of the keys. `each`
 * returns false to stop. False and `err` where the writer has failed. */
bool as_store_writer_each(struct as_store_writer *writer, enum as_store_table_id table, uint32_t series,
                          bool (*each)(void *context, uint32_t number, const void *row), void *context,
                          struct as_error *err) AS_MUST_CHECK;

/* A value of a key that was added before is replaced; without a value (NULL) nothing is added. */
void as_store_add_meta(struct as_store_writer *writer, const char *key, const char *value);
void as_store_add_meta_u64(struct as_store_writer *writer, const char *key, uint64_t value);
void as_store_add_meta_double(struct as_store_writer *writer, const char *key, double value);
void as_store_add_machine(struct as_store_writer *writer, const char *key, const char *value);
void as_store_add_counter(struct as_store_writer *writer, const char *name, uint64_t value);
void as_store_add_quality(struct as_store_writer *writer, const char *key, double value, const char *text);

/* In their order. */
void as_store_add_argument(struct as_store_writer *writer, const char *value);    /* argv[0] first */
void as_store_add_environment(struct as_store_writer *writer, const char *value); /* "NAME=value" */

/* These return the number of what was added. What they refer to must have been added before. */
uint32_t as_store_add_thread(struct as_store_writer *writer, const struct as_store_thread *thread);
uint32_t as_store_add_module(struct as_store_writer *writer, const struct as_store_module *module);
uint32_t as_store_add_file(struct as_store_writer *writer, const char *path);
uint32_t as_store_add_function(struct as_store_writer *writer, const struct as_store_function *function);
uint32_t as_store_add_block(struct as_store_writer *writer, const struct as_store_block *block);
uint32_t as_store_add_inline(struct as_store_writer *writer, const struct as_store_inline *inlined);
uint32_t as_store_add_instruction(struct as_store_writer *writer, const struct as_store_insn *insn);
uint32_t as_store_add_series(struct as_store_writer *writer, const struct as_store_series *series);
uint32_t as_store_add_state(struct as_store_writer *writer, const struct as_store_state *state);
uint32_t as_store_add_object(struct as_store_writer *writer, const struct as_store_object *object);
uint32_t as_store_add_path(struct as_store_writer *writer, const struct as_store_path *path);

void as_store_add_event(struct as_store_writer *writer, const struct as_store_event *event);
void as_store_add_stack(struct as_store_writer *writer, const struct as_store_stack *stack);
void as_store_add_estimate(struct as_store_writer *writer, const struct as_store_estimate *estimate);
void as_store_add_run(struct as_store_writer *writer, const struct as_store_run *run);

/* Added up where the same key comes again; quickest in the order of series, instruction (path), thread. */
void as_store_add_time(struct as_store_writer *writer, const struct as_store_time *time);
void as_store_add_component(struct as_store_writer *writer, const struct as_store_component *component);
void as_store_add_state_time(struct as_store_writer *writer, const struct as_store_state_time *time);
void as_store_add_path_time(struct as_store_writer *writer, const struct as_store_path_time *time);
void as_store_add_path_component(struct as_store_writer *writer, const struct as_store_path_component *component);
void as_store_add_access(struct as_store_writer *writer, const struct as_store_access *access);
void as_store_add_branch(struct as_store_writer *writer, const struct as_store_branch *branch);

#endif
