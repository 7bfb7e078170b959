/* The bytes of the code that ran, by address in a module: whether one module's counts are of one code.
 *
 * Counts are added up by path and address. Two files that were at one path in turn (a test program that a script builds
 * again and again, a library that was replaced), and code that a program changes in a file's mapping, share addresses and
 * are not the same blocks. Only bytes tell: paths are the same, and a file is gone when the run is over.
 */
#ifndef AS_BLOCKS_EXECUTED_BYTES_H
#define AS_BLOCKS_EXECUTED_BYTES_H

#include "base/map.h"
#include "base/vec.h"
#include "symbol/elffile.h"

enum { AS_EXECUTED_BYTES_PIECE = 64 };

struct as_executed_piece {
    uint64_t address, known; /* known: a bit for each byte that ran */
    uint8_t bytes[AS_EXECUTED_BYTES_PIECE];
};

struct as_executed_bytes {
    struct as_map by_address; /* address over AS_EXECUTED_BYTES_PIECE: place in the list, and 1 */
    AS_VEC(struct as_executed_piece) pieces;
};

/* False: one of the bytes was another before. What was there first stays. */
bool as_executed_bytes_add(struct as_executed_bytes *code, uint64_t address, const uint8_t *bytes, size_t n);
/* Whether no byte is different in both. */
bool as_executed_bytes_agree(const struct as_executed_bytes *a, const struct as_executed_bytes *b);
/* Adds all bytes of another, which agrees. */
void as_executed_bytes_join(struct as_executed_bytes *to, const struct as_executed_bytes *from);
/* Whether the file has the same bytes wherever it has code; if not, *address is the lowest that differs. */
bool as_executed_bytes_are_in(const struct as_executed_bytes *code, const struct as_elf *elf, uint64_t *address);
void as_executed_bytes_free(struct as_executed_bytes *code);

#endif
