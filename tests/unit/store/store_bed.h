/* Profiles for the tests of the store: a directory for each program, a small profile in which every table has rows, and
 * the raw bytes of a file. */
#ifndef STORE_BED_H
#define STORE_BED_H

#include "store/store_read.h"
#include "store/store_write.h"

/* A name in a directory that is removed at exit; "" for the directory. Valid until four more calls. */
const char *bed_path(const char *name);

struct as_store_writer *bed_writer(const char *path);
void bed_commit(struct as_store_writer *writer);
struct as_store *bed_open(const char *path);
/* Opening must fail with one line that has `part` in it. */
void bed_refused(const char *path, const char *part);
void bed_writer_refused(const char *path, const char *part);
void bed_assert_line(const struct as_error *err, const char *part);

/* Two modules, three functions, six instructions, two threads, two series ("golden", "tea") with components and states,
 * a call tree with recursion. bed_small has the numbers. */
void bed_add_small(struct as_store_writer *writer);
void bed_write_small(const char *path);

/* Changes a profile with SQLite itself, as a hostile hand would. */
void bed_sql(const char *path, const char *sql);

uint8_t *bed_read(const char *path, size_t *size); /* the caller frees */
void bed_write(const char *path, const void *bytes, size_t size);
int bed_count_files(void); /* in the directory */

#endif
