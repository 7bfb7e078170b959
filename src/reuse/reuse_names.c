/* See reuse_names.h. */
#include "reuse/reuse_names.h"

struct as_reuse_location as_reuse_location_in(struct as_space *space, uint64_t address,
                                              const struct as_location *location)
{
    struct as_line line;
    struct as_reuse_location found = {.address = address,
                                      .module = location->module,
                                      .function =
                                          location->function ? location->function : as_space_name(space, address)};
    if (as_space_line(space, address, &line)) {
        found.file = line.file;
        found.line = line.line;
    }
    return found;
}
