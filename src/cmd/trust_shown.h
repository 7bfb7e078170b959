/* What `assay trust` prints: rows, verdicts, shadows and storage, as text, JSON and CSV; trust_html.h has the page. */
#ifndef AS_CMD_TRUST_SHOWN_H
#define AS_CMD_TRUST_SHOWN_H

#include "base/json.h"
#include "pmu/pmu_cost.h"
#include "trust/trust.h"

struct as_trust_shown {
    const struct as_trust_subject *subject;
    struct as_trust_report report;
    AS_VEC(struct as_trust_shadow) shadows;
    bool has_hardware; /* TIP and TEA */
    struct as_pmu_hardware hardware;
};

void as_trust_print(const struct as_trust_shown *shown, FILE *out);
void as_trust_print_csv(const struct as_trust_shown *shown, FILE *out); /* the rows */
const char *as_trust_about(const char *experiment);                     /* "" for one that there is not */
/* The kernel of a search for the shadow, with what tells it from others; and why there is no result, NULL: there is one. */
const char *as_trust_shadow_kernel(const struct as_trust_shadow *shadow, char *text, size_t size);
const char *as_trust_shadow_failure(const struct as_trust_shadow *shadow, char *text, size_t size);
bool as_trust_print_json(const struct as_trust_shown *shown, FILE *out);

#endif
