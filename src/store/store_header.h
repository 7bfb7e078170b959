/* The first hundred bytes of a file, looked at before SQLite is (https://www.sqlite.org/fileformat2.html). */
#ifndef AS_STORE_HEADER_H
#define AS_STORE_HEADER_H

#include "base/error.h"

#include <stdint.h>

enum { AS_STORE_HEADER_SIZE = 100 };

struct as_store_header {
    bool is_database; /* of SQLite */
    bool is_profile;  /* … with our application id */
    bool is_perf_data;
    bool write_ahead; /* its newest changes may be in another file */
    uint32_t version; /* user_version */
    uint64_t size;    /* bytes that it should have at least; 0: it does not say */
};

/* False and errno where the file cannot be read. Files that are too short are nothing in particular. */
bool as_store_header_read(int fd, struct as_store_header *header) AS_MUST_CHECK;
/* Whether there is an Assay profile at `path`; what cannot be read is none. */
bool as_store_is_profile(const char *path);

#endif
