/* The first hundred bytes of a file, checked before SQLite reads it (https://www.sqlite.org/fileformat2.html). */
#ifndef AS_STORE_HEADER_H
#define AS_STORE_HEADER_H

#include "base/error.h"

#include <stdint.h>

enum { AS_STORE_HEADER_SIZE = 100 };

struct as_store_header {
    bool is_database; /* the file is a database of SQLite */
    bool is_profile;  /* … with Assay's application id */
    bool is_perf_data;
    bool write_ahead; /* its newest changes may be in another file */
    uint32_t version; /* user_version */
    uint64_t size;    /* the least size in bytes that the header implies; 0: not known */
};

/* Returns false and sets errno if the file cannot be read. A file that is too short is not an error. */
bool as_store_header_read(int fd, struct as_store_header *header) AS_MUST_CHECK;
/* Whether there is an Assay profile at `path`. Returns false if it cannot be read. */
bool as_store_is_profile(const char *path);

#endif
