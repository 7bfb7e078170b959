/* The functions of the running kernel, as named in /proc/kallsyms. They apply to a recording only if the recorded
 * kernel is the running one, loaded at the same address: see as_perf_kallsyms_fits. */
#ifndef AS_PERFDATA_PERF_KALLSYMS_H
#define AS_PERFDATA_PERF_KALLSYMS_H

#include "base/vec.h"
#include "perfdata/perfdata.h"

struct as_perf_kallsym {
    uint64_t start, end;
    uint32_t name;  /* offset of its name in `names` */
    uint32_t order; /* position in the file */
};

struct as_perf_kallsyms {
    AS_VEC(char) names; /* NUL-terminated; over a hundred thousand, so nothing else is stored per name */
    AS_VEC(struct as_perf_kallsym) symbols; /* by address, disjoint */
    uint64_t text, stext;                   /* addresses of _text and _stext; 0: unknown */
    struct as_perf_build_id build_id;       /* of the running kernel; size 0: unknown */
};

/* Reads files like /proc/kallsyms and /sys/kernel/notes; returns false if they cannot be read or hide the addresses. */
bool as_perf_kallsyms_load(struct as_perf_kallsyms *table, const char *kallsyms, const char *notes);
void as_perf_kallsyms_free(struct as_perf_kallsyms *table);

/* What a recording says about its kernel. */
struct as_perf_kernel {
    struct as_perf_build_id build_id; /* size 0: not recorded */
    const char *release;              /* NULL: not recorded */
    uint64_t reference;               /* the address of _text or _stext; 0: not recorded */
};

/* Whether the running kernel, of this release and with these notes, can be the recorded one: false spares reading all of
 * its symbols. */
bool as_perf_kallsyms_could_fit(const char *notes, const struct as_perf_kernel *recorded, const char *release,
                                bool trust);
/* Whether the running kernel, of this release (as from uname), is the recorded one, at the same address: by the
 * build-id or, if the recording has none (as in packed and piped ones), by the release. `trust`: what is not recorded
 * counts as equal. */
bool as_perf_kallsyms_fits(const struct as_perf_kallsyms *table, const struct as_perf_kernel *recorded,
                           const char *release, bool trust);
const char *as_perf_kallsyms_name(const struct as_perf_kallsyms *table, const struct as_perf_kallsym *symbol);
const struct as_perf_kallsym *as_perf_kallsyms_find(const struct as_perf_kallsyms *table,
                                                    uint64_t address); /* or NULL */

#endif
