/* From the words of whole block executions to accesses by instruction id, many at a time and on any thread: as_accesses
 * (engine.h) for those who keep the words and look at them later. */
#ifndef AS_ENGINE_ACCESS_WORDS_H
#define AS_ENGINE_ACCESS_WORDS_H

#include "assay/observer.h"
#include "engine/engine.h"

/* What is needed of a block: the ids of its instructions, and which need a closer look. */
struct as_access_codes {
    const struct as_block *block;
    uint32_t codes[]; /* by index; private */
};
struct as_access_codes *as_access_codes_new(const struct as_block *block); /* the caller frees */

/* The accesses of one whole execution of a block without hints go to `to`, at most one for each of its n words. Returns how
 * many they are. */
size_t as_access_words_make(const struct as_access_codes *codes, const uint64_t *words, size_t n,
                            struct as_data_access *to);

/* An access as as_accesses tells it. */
struct as_data_access as_access_convert(const struct as_block *block, const struct as_access *access);

#endif
