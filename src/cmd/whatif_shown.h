/* What `assay whatif` prints. */
#ifndef AS_CMD_WHATIF_SHOWN_H
#define AS_CMD_WHATIF_SHOWN_H

#include "base/json.h"
#include "whatif/whatif.h"

void as_whatif_json(const struct as_whatif *whatif, struct as_json *json);
void as_whatif_text(const struct as_whatif *whatif, FILE *out);

#endif
