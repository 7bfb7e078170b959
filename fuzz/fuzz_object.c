/* The remedy on arbitrary objects: assembly comes out, or a reason. The first byte chooses the event and whether places are
 * named; the others are the file. */
#include "trust/remedy.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint64_t places[] = {0, 4};
    struct as_error err = AS_ERROR_INIT;
    struct as_str out = {0}, shown = {0};
    struct as_remedy_result result = {.shown = &shown};
    struct as_remedy_options options = {.nops = 3};
    if (size == 0)
        return 0;
    options.event = data[0] % AS_REMEDY_EVENTS;
    if (data[0] & 0x80) {
        options.places = places;
        options.n_places = 2;
        options.function = "hot";
    }
    char *bytes = malloc(size); /* aligned, and a NUL behind */
    if (!bytes)
        return 0;
    memcpy(bytes, data + 1, size - 1);
    bytes[size - 1] = '\0';
    if (!as_remedy_apply(&options, bytes, size - 1, &out, &result, &err) && !err.message[0])
        abort();
    free(bytes);
    as_str_free(&out);
    as_str_free(&shown);
    return 0;
}
