/* From the words of whole block executions to accesses by instruction id, many at a time and on any thread: as_accesses
 * (engine.h) for code that keeps the words and looks at them later. */
#ifndef AS_ENGINE_ACCESS_WORDS_H
#define AS_ENGINE_ACCESS_WORDS_H

#include "assay/observer.h"
#include "engine/engine.h"

/* What is needed of a block. */
struct as_access_plain {
    uint64_t head; /* of a word that is one access by itself: the word without its address */
    uint64_t rest; /* all of the access but the address */
};
struct as_access_codes {
    const struct as_block *block;
    uint32_t *codes;  /* private, as what follows; by index: the instruction's id, and whether to look closer */
    uint32_t n_plain; /* number of such words in an execution; UINT32_MAX: it has others */
    struct as_access_plain plain[];
};
/* The words are those of an execution of the block, which most others resemble; none: n is 0. The caller frees. */
struct as_access_codes *as_access_codes_new(const struct as_block *block, const uint64_t *words, size_t n);

/* The accesses of one whole execution of a block without hints go to `to`, at most one for each of its n words. Returns how
 * many they are. */
size_t as_access_words_make(const struct as_access_codes *codes, const uint64_t *words, size_t n,
                            struct as_data_access *to);
/* The accesses of executions as they come in as_exec_words; the blocks have codes. */
size_t as_access_words_make_all(const struct as_block_pages *blocks, const uint64_t *words, size_t n,
                                struct as_data_access *to);
/* The number of accesses that follow the block's number words[0], of n words. */
size_t as_access_words_count(const uint64_t *words, size_t n);
/* The iteration of a rep instruction whose block's number is words->words[at] (as_sink.iterations), as `block` would be given it. Returns
 * where the next one begins; 0: there was none at `at`. */
size_t as_access_words_iteration(const struct as_exec_words *words, size_t at, struct as_block_exec *exec);

/* An access as as_accesses returns it. */
struct as_data_access as_access_convert(const struct as_block *block, const struct as_access *access);

#endif
