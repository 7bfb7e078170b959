/* What a live session adds to an import besides its samples: series that are not samples, such as allocations by call
 * path, and accesses to data that it found by other means than the sample's own fields. See import.h for when to call
 * these functions. */
#ifndef AS_IMPORT_ADD_H
#define AS_IMPORT_ADD_H

#include "import/import.h"

/* ---- series that the caller adds, which are not samples ---- */

struct as_import_own {
    const char *name, *description, *unit;
};
/* Adds a series and returns its number. Call this after the last sample. */
uint32_t as_import_add_own(struct as_import *import, const struct as_import_own *own);
/* Returns the number of the thread with this name; NULL: the name that it was last given. */
uint32_t as_import_thread(struct as_import *import, uint32_t pid, uint32_t tid, const char *name);
/* Adds a value to such a series, at the call path of `n` return addresses in the space of `pid`, innermost first. */
void as_import_add_calls(struct as_import *import, uint32_t series, uint32_t pid, uint32_t thread,
                         const uint64_t *returns, size_t n, uint64_t units, uint64_t count);

/* ---- data accesses that the caller found ---- */

/* One access, as found by a sample. */
struct as_import_touch {
    uint32_t event, pid, tid;
    enum as_perf_mode mode;
    uint64_t ip, address, stack_pointer; /* 0: not known */
    uint32_t size;
    uint8_t kind, how; /* as in the store */
    uint64_t events;   /* where the data came from, as bits of the profile's events; 0: not known */
    uint64_t units, weight, samples;
};
/* Returns the number of the access that it was added to. */
uint32_t as_import_add_touch(struct as_import *import, const struct as_import_touch *touch);
void as_import_add_to_access(struct as_import *import, uint32_t number, uint64_t units, uint64_t samples);
/* Sets the kind and size of the next sample's access, for samples that do not contain them. 0: not known. */
void as_import_expect_access(struct as_import *import, uint8_t kind, uint32_t size);
/* Counts samples whose address was found in this way (enum as_store_access_how). */
void as_import_count_found(struct as_import *import, uint8_t how, uint64_t samples);

#endif
