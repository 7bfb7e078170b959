/* The part of a run that was measured, in words. See engine.h.
 *
 * If Assay ended the program, its length is not known; if it ran to its end, the engine has counted all of it,
 * measured or not.
 */
#include "base/show.h"
#include "engine/engine.h"

#include <stdio.h>

bool as_engine_part(const struct as_engine_result *result, uint64_t measured, char *text, size_t size)
{
    bool cut = result->end.stopped || result->end.interrupted;
    bool all = measured >= result->executed, first = all || result->from_start;
    if (!cut && all)
        return false;
    if (!cut)
        snprintf(text, size, "%s%s of %s instructions (%.3g %%)", first ? "the first " : "", AS_COUNT(measured),
                 AS_COUNT(result->executed), 100 * (double)measured / (double)result->executed);
    else if (all)
        snprintf(text, size, "the first %s instructions of a run of unknown length", AS_COUNT(measured));
    else
        snprintf(text, size, "%s of the first %s instructions of a run of unknown length", AS_COUNT(measured),
                 AS_COUNT(result->executed));
    return true;
}

bool as_engine_check_reached(const struct as_engine_result *result, uint64_t measured, struct as_error *err)
{
    return measured > 0 || result->end.interrupted || result->region_troubles == 0 ||
           as_error_set(err, "%s", result->region_trouble);
}

bool as_engine_check_measured(const struct as_engine_result *result, uint64_t measured, struct as_error *err)
{
    if (measured > 0)
        return true;
    if (!as_engine_check_reached(result, measured, err))
        return false;
    return as_error_set(err, "nothing was measured: %s",
                        result->end.interrupted  ? "the program was ended before that"
                        : result->region_reached ? "no instruction was executed in a region with mode=detail"
                                                 : "the program executed no instruction");
}
