/* Recordings that were compressed as a whole with gzip or zstd: unpacked into a temporary file without a name, which is
 * then read like any other. (perf's own compression is inside the records: perf_inflate.h.) */
#ifndef AS_PERFDATA_PERF_UNPACK_H
#define AS_PERFDATA_PERF_UNPACK_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

enum { AS_PERF_UNPACK_HEAD = 1 << 18 }; /* most bytes of a head */

enum as_perf_packing { AS_PERF_NOT_PACKED, AS_PERF_GZIP, AS_PERF_ZSTD };

/* Returns how a file that begins with these bytes is compressed. */
enum as_perf_packing as_perf_packing_of(const uint8_t *head, size_t n_head);

/* The program that unpacks a file that begins with these bytes, where Assay cannot; NULL: none is known. */
const char *as_perf_unpacker_of(const uint8_t *head, size_t n_head);

/* Unpacks `head` and everything that follows it in `from`. Returns the descriptor of the temporary file, or -1. Sets
 * `*broken` if the compressed data is damaged or ends early: the file then contains what came before. */
int as_perf_unpack(enum as_perf_packing packing, int from, const uint8_t *head, size_t n_head, bool *broken,
                   struct as_error *err) AS_MUST_CHECK;

#endif
