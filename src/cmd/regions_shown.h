/* The results of the regions that the user asked for: a part of the results of every verb that runs a program in the
 * engine. Shown only if there is a list, so that other results stay unchanged. */
#ifndef AS_CMD_REGIONS_SHOWN_H
#define AS_CMD_REGIONS_SHOWN_H

#include "base/json.h"
#include "model/model.h"

struct as_regions_shown {
    const struct as_engine *engine;
    const struct as_model *model; /* NULL: there are no cycles */
};

/* Members "regions" and, with a model and weights, "weighted". */
void as_regions_json(struct as_json *json, const struct as_regions_shown *shown);
/* Prints a table if there is more than one region, or a weight. */
void as_regions_print(FILE *out, const struct as_regions_shown *shown);

#endif
