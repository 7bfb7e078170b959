/* `assay compare --pics PLACE`: the instructions of a function, or one of them, each with its cycle stack. */
#ifndef AS_CMD_COMPARE_PICS_H
#define AS_CMD_COMPARE_PICS_H

#include "cmd/compare.h"
#include "model/place.h"

/* Executed instructions, by image and address. */
struct as_listing {
    uint32_t *ids;
    size_t n;
};

/* Finds the instructions after the run. On failure `err` tells whether the place is unknown (and which names are
 * similar), ambiguous, or never ran. The caller frees `ids`. */
bool as_listing_find(const struct as_compare *compare, const struct as_place *place, struct as_listing *listing,
                     struct as_error *err) AS_MUST_CHECK;

void as_listing_text(const struct as_compare *compare, FILE *out, bool colour);
/* "pics": what is listed, and by which sampler. */
void as_listing_json(const struct as_compare *compare, struct as_json *json);

#endif
