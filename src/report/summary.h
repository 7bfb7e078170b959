/* What a profile says of the whole run, and of one of its series: what every report begins with, so that none goes
 * without its source, its losses and its error. */
#ifndef AS_REPORT_SUMMARY_H
#define AS_REPORT_SUMMARY_H

#include "base/json.h"
#include "report/term.h"
#include "store/store_read.h"

/* Strings are the store's, or constants; NULL where unknown. */
struct as_summary {
    const struct as_store *store;
    uint32_t series;     /* the one shown */
    const char *program; /* its last component */
    const char *source, *source_why, *core, *sampler, *description, *unit, *partial, *region;
    bool exact;
    bool contradicts; /* it is said to be exact, and its times are not those of the run */
    int32_t precise;
    double scale; /* units of time a `unit` */
    uint64_t instructions, cycles;
    uint64_t samples; /* an exact series looks at every cycle */
    uint64_t lost, throttled, dropped, period;
    double seconds; /* NAN: unknown */
    double error;   /* by instruction, a fraction; NAN: unknown */
    const char *error_how;
};

/* False where the profile has no series at all, or its times cannot be read. */
bool as_summary_read(struct as_store *store, uint32_t series, struct as_summary *summary,
                     struct as_error *err) AS_MUST_CHECK;

/* The members of design.md's `summary`, into an object that is open. */
void as_summary_json(const struct as_summary *summary, struct as_json *json);
/* A few lines for people, wrapped to the terminal's width. */
void as_summary_text(const struct as_summary *summary, FILE *out, const struct as_term *term);

#endif
