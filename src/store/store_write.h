/* Writes a profile.
 *
 * The file appears under its name when it is committed, complete and in place of an older profile, or not at all. Until
 * then it has no name (O_TMPFILE), so a killed process leaves nothing behind. If the file system does not support that,
 * the file is FILE.<pid>-<n>.partial, locked; the next run that writes the same FILE removes what a killed run left.
 * Readers of the old file keep reading the old file.
 *
 * Errors stick: add everything, and commit reports the first error. All calls must come from one thread.
 */
#ifndef AS_STORE_WRITE_H
#define AS_STORE_WRITE_H

#include "store/store_table.h"

struct as_store_writer;

/* Call this before the program runs, so that a run is not lost to a wrong path. Refuses what must not be replaced:
 * directories, devices, files that are not profiles, files that cannot be written, profiles that another process is
 * changing. */
struct as_store_writer *as_store_writer_open(const char *path, struct as_error *err) AS_MUST_CHECK;
/* Frees the writer in any case. */
bool as_store_writer_commit(struct as_store_writer *writer, struct as_error *err) AS_MUST_CHECK;
/* Completes a profile that never gets a name and disappears with its descriptor, which is returned: it can be opened
 * for reading as /proc/self/fd/N. Returns -1 and `err` on failure. Frees the writer in any case. */
int as_store_writer_finish(struct as_store_writer *writer, struct as_error *err) AS_MUST_CHECK;
/* Frees the writer without writing a file; an old file stays. Accepts NULL. */
void as_store_writer_abort(struct as_store_writer *writer);
bool as_store_writer_failed(const struct as_store_writer *writer); /* adding more has no effect */

/* Calls `each` with the number of rows so far, once in a few thousand of them: large profiles take seconds. */
void as_store_writer_watch(struct as_store_writer *writer, void (*each)(void *context, uint64_t rows), void *context);

/* Adds a row to any table, as the functions below do. Rows that it refers to must have been added before. Returns its
 * number.
 */
uint32_t as_store_add(struct as_store_writer *writer, enum as_store_table_id table, const void *row);

/* Calls `each` for every row of a table that was added so far, or only for the rows of one series (NONE: all), in the
 * order of the keys. `each` returns false to stop. Returns false and `err` if the writer has failed. */
bool as_store_writer_each(struct as_store_writer *writer, enum as_store_table_id table, uint32_t series,
                          bool (*each)(void *context, uint32_t number, const void *row), void *context,
                          struct as_error *err) AS_MUST_CHECK;

/* A value replaces an earlier one of the same key; NULL adds nothing. */
void as_store_add_meta(struct as_store_writer *writer, const char *key, const char *value);
void as_store_add_meta_u64(struct as_store_writer *writer, const char *key, uint64_t value);
void as_store_add_meta_double(struct as_store_writer *writer, const char *key, double value);
void as_store_add_machine(struct as_store_writer *writer, const char *key, const char *value);
void as_store_add_counter(struct as_store_writer *writer, const char *name, uint64_t value);
void as_store_add_quality(struct as_store_writer *writer, const char *key, double value, const char *text);

/* Add these in their order. */
void as_store_add_argument(struct as_store_writer *writer, const char *value);    /* argv[0] first */
void as_store_add_environment(struct as_store_writer *writer, const char *value); /* "NAME=value" */
/* The identity of a recording whose profile went into this one. A profile without any gets a new one at its end. */
void as_store_add_recording(struct as_store_writer *writer, const char *identity);

/* These return the number of the new row. Rows that it refers to must have been added before. */
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

/* Rows with the same key are summed; fastest in the order of series, instruction (path), thread. */
void as_store_add_time(struct as_store_writer *writer, const struct as_store_time *time);
void as_store_add_component(struct as_store_writer *writer, const struct as_store_component *component);
void as_store_add_state_time(struct as_store_writer *writer, const struct as_store_state_time *time);
void as_store_add_path_time(struct as_store_writer *writer, const struct as_store_path_time *time);
void as_store_add_path_component(struct as_store_writer *writer, const struct as_store_path_component *component);
void as_store_add_access(struct as_store_writer *writer, const struct as_store_access *access);
void as_store_add_access_component(struct as_store_writer *writer, const struct as_store_access_component *component);
void as_store_add_branch(struct as_store_writer *writer, const struct as_store_branch *branch);
void as_store_add_wait(struct as_store_writer *writer, const struct as_store_wait *wait);
void as_store_add_moment(struct as_store_writer *writer, const struct as_store_moment *moment);

/* Adds estimates to the profile `path`, in place of those of the same series, measure and granularity. The file is replaced
 * by a changed copy, as a commit replaces it. Their series must be in the profile. */
bool as_store_note_estimates(const char *path, const struct as_store_estimate *estimates, size_t n,
                             struct as_error *err) AS_MUST_CHECK;

#endif
