/* The bulletin board of Algorithm 1 (002, 5.3): stores that were sampled a while ago, by cache line, for all threads to see.
 *
 * A table of buckets of a few slots each; a line lies in any slot of its bucket. Every function may be called in signal
 * handlers and from any number of threads. None waits: a slot that somebody is writing is passed over, so a reader may miss
 * an entry and a writer may drop one, which costs a sample.
 *
 * A slot is a sequence lock. Its version is odd while a writer has it.
 *   - A writer takes the slot by compare-and-swap of the version from even to odd (acquire: its stores stay behind that),
 *     stores the entry word by word (relaxed), then stores the next even version (release: synchronises with (1)).
 *   - A reader loads the version (1, acquire), copies the words (relaxed), issues an acquire fence, and loads the version
 *     again (2, relaxed). Words from a writer that came between imply that (2) sees its odd version or a later one, because
 *     the writer's release fence (as_board_put) orders the odd version before its words; then the copy is thrown away.
 */
#ifndef AS_COMM_BOARD_H
#define AS_COMM_BOARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    AS_BOARD_BUCKETS = 127,
    AS_BOARD_LINE = 64,
    AS_BOARD_MARKS = 64 /* threads whose numbers are below that can mark an entry */
};

struct as_board_entry {
    uint64_t address; /* that was stored to; its line is the key, together with the process */
    uint32_t size, process;
    uint32_t thread, path;
    uint64_t time; /* when it was published; never 0 */
    uint64_t insn;
    uint64_t number;  /* the publisher's store samples up to this one */
    uint64_t period;  /* accesses for which it stands */
    uint64_t since;   /* when its thread's samples of the line without another's between them began */
    uint64_t written; /* bytes of the line that its thread has been sampled to store to, by bit */
    uint64_t marks;   /* as_board_mark: bit n for thread n; 0 when it is published */
};

struct as_board;
struct as_board *as_board_new(size_t buckets);
void as_board_free(struct as_board *board);

/* The entry of the line of `address`. False: there is none, or it is being written. */
bool as_board_get(struct as_board *board, uint32_t process, uint64_t address, struct as_board_entry *entry);
/* Replaces the line's entry; otherwise takes a free slot of the bucket, or the oldest entry's. False: somebody else is
 * writing there. */
bool as_board_put(struct as_board *board, const struct as_board_entry *entry);
/* Sets the thread's bit in the marks of the line's entry, if that is still the one of `entry`. A writer that comes between may get the
 * mark for its new entry instead. */
void as_board_mark(struct as_board *board, const struct as_board_entry *entry, uint32_t thread);
/* One of the entries that `fits`, each with the same probability. `random` 64 random bits. */
bool as_board_pick(struct as_board *board, bool (*fits)(void *context, const struct as_board_entry *entry),
                   void *context, uint64_t random, struct as_board_entry *entry);

#endif
