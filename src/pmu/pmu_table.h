/* The keys of a .pmu file: one row each. Private to src/pmu. */
#ifndef AS_PMU_TABLE_H
#define AS_PMU_TABLE_H

#include "pmu/pmu.h"

#include <stddef.h>

enum as_pmu_field_kind { AS_PMU_COUNT, AS_PMU_YESNO, AS_PMU_CHOICE, AS_PMU_TEXT };

struct as_pmu_field {
    const char *key;
    enum as_pmu_field_kind kind;
    uint32_t
        kinds; /* units that have it, by 1 << enum as_pmu_kind: one that has must say it, others must not. 0: a text
                       that any may have */
    size_t offset;
    uint32_t min, max;          /* texts: max is the size of the buffer */
    const char *const *choices; /* CHOICE: NULL behind the last */
    const char *meaning;
};

extern const struct as_pmu_field as_pmu_fields[];
extern const size_t as_pmu_fields_count;

const struct as_pmu_field *as_pmu_field_find(const char *key);
const char *as_pmu_field_allowed(const struct as_pmu_field *field, char *text, size_t size);
bool as_pmu_field_parse(const struct as_pmu_field *field, struct as_pmu *pmu, const char *text);
const char *as_pmu_field_text(const struct as_pmu_field *field, const struct as_pmu *pmu, char *text, size_t size);
/* Whether a unit of this kind has the key. */
bool as_pmu_field_of(const struct as_pmu_field *field, uint32_t kind);

#endif
