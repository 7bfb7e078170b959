/* See record_part.h.
 *
 * A run that is cut after its first instructions is mostly a run of the dynamic linker: of 20 M instructions of a large
 * program 12 M can be relocations. Every number of such a profile is exact, but none is about the program itself. So a
 * part of a run is named with the linker's share of it.
 */
#include "record/record_part.h"

#include "base/ratio.h"
#include "base/show.h"

#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* The linker's share of the instructions that is worth a remark: lower if the run was cut, because everything that was
 * left out belongs to the program. */
static const double most_of_cut = 0.25, most_of_whole = 0.5;

static bool is_linker(const char *module)
{
    static const char *const patterns[] = {"ld-*.so*", "ld.so*", "ld64.so*"};
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
        if (fnmatch(patterns[i], module, 0) == 0)
            return true;
    return false;
}

struct as_record_start as_record_start_of(const struct as_modelled *modelled)
{
    struct as_record_start start = {0};
    size_t n = 0;
    const struct as_oracle_row *rows = modelled->oracle ? as_oracle_rows(modelled->oracle, &n) : NULL;
    for (uint32_t id = 0; id < n; id++) {
        struct as_location location;
        if (!rows[id].executions || !as_model_locate(modelled->model, id, &location) ||
            !is_linker(location.module_name))
            continue;
        start.instructions += rows[id].executions;
        snprintf(start.linker, sizeof start.linker, "%s", location.module_name);
    }
    return start;
}

static void remark(const struct as_record *record, const struct as_record_start *start, double share, bool cut)
{
    char *text = as_format("part of the instructions (%s) are in the dynamic linker: start-up dominates; --from main "
                           "or --skip leaves them "
                           "out%s",
                           AS_COUNT(start->instructions),
                           cut ? "; --budget or --sampled estimate the whole program instead" : "");
    as_store_add_quality(record->writer, "start_up", share, text);
    free(text);
}

void as_record_add_part(const struct as_record *record, const struct as_record_run *run)
{
    const struct as_record_start *start = &run->start;
    double share = as_ratio(start->instructions, run->row.instructions);
    char part[AS_ENGINE_PART];
    bool cut = as_engine_part(&run->result.engine, run->row.instructions, part, sizeof part);
    bool much = share >= (cut ? most_of_cut : most_of_whole);
    if (cut) {
        char *text =
            share >= 0.01 ? as_format("%s, %.0f %% of them in %s", part, 100 * share, start->linker) : as_strdup(part);
        as_store_add_meta(record->writer, AS_META_PART, text);
        as_store_add_meta(record->writer, "region", record->options->region);
        free(text);
    }
    if (much && (run->row.instructions >= run->result.engine.executed || run->result.engine.from_start))
        remark(record, start, share, cut);
    if (cut && run->result.end.stopped)
        as_store_add_quality(record->writer, "rest", NAN,
                             "Assay ended the program there, so the length of the whole run is not known; --count-rest "
                             "lets it run on, only counted");
}
