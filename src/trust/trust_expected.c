/* See trust_expected.h. */
#include "trust/trust_expected.h"

#include <math.h>

static const double good = 0.1; /* an error up to which a level can be believed */

static double measured(const struct as_view *view, enum as_bias_level level)
{
    return as_store_estimate_of(view->store, view->series, "error", as_bias_levels[level]);
}

bool as_trust_open_view(struct as_view *view, const char *file, const char *series, struct as_error *err)
{
    struct as_view_options options = {.file = file, .series = series};
    return as_view_open(view, &options, err) &&
           (view->summary.exact || view->summary.samples > 0 || as_error_set(err, "%s: it has no samples", file));
}

bool as_trust_has_error(const struct as_view *view)
{
    return view->summary.exact || !isnan(measured(view, AS_BIAS_INSTRUCTION));
}

double as_trust_error_at(const struct as_view *view, enum as_bias_level level)
{
    return view->summary.exact  ? 0
           : view->summary.bias ? view->summary.trust[level].expected.median
                                : measured(view, level);
}

struct as_trust_expected as_trust_expect(const struct as_view *view)
{
    const struct as_summary *summary = &view->summary;
    struct as_trust_expected expected = {.believed = -1};
    for (int i = 0; i < AS_BIAS_LEVELS; i++) {
        expected.chance[i] = summary->bias && !summary->too_few ? summary->trust[i].chance : NAN;
        expected.errors[i] = summary->too_few && !summary->exact ? NAN : as_trust_error_at(view, i);
    }
    for (int i = 0; i < AS_BIAS_LEVELS && expected.errors[i] <= good; i++)
        expected.believed = i;
    return expected;
}
