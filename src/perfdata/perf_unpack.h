/* Recordings that somebody has compressed as a whole, with gzip or zstd: unpacked into a temporary file without a name,
 * which is then read like any other. (perf's own compression is inside the records: perf_inflate.h.) */
#ifndef AS_PERFDATA_PERF_UNPACK_H
#define AS_PERFDATA_PERF_UNPACK_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

enum { AS_PERF_UNPACK_HEAD = 1 << 18 }; /* bytes of a head at most */

enum as_perf_packing { AS_PERF_NOT_PACKED, AS_PERF_GZIP, AS_PERF_ZSTD };

/* How a file that begins with these bytes is compressed. */
enum as_perf_packing as_perf_packing_of(const uint8_t *head, size_t n_head);

/* Unpacks `head` and all that follows it in `from`. Returns the descriptor of the temporary file, or -1. `*broken` is
 * set where the compressed data is damaged or ends early: the file then holds what came before. */
int as_perf_unpack(enum as_perf_packing packing, int from, const uint8_t *head, size_t n_head, bool *broken,
                   struct as_error *err) AS_MUST_CHECK;

#endif
