/* See blocks_fit.h. */
#include "blocks/blocks_fit.h"

#include "base/show.h"
#include "base/str.h"

#include <math.h>
#include <string.h>

static const double DOUBT = 0.1, REFUSE = 0.5;
/* Of all that was checked: what is wrong with a file that hardly ran changes nothing. */
static const double NOTABLE = 0.01;

static const char *unit_of(const struct as_blocks_fit *fit)
{
    return fit->method == AS_METHOD_IP || fit->method == AS_METHOD_UOPS ? "addresses" : "branch entries";
}

static bool wants(const struct as_blocks_fit *fit, uint32_t module)
{
    const struct as_cfg_module *m = as_cfg_get(fit->flow->cfg, module);
    return !fit->module || strcmp(fit->module, m->name) == 0 || strcmp(fit->module, m->path) == 0;
}

static struct as_flow_fit sum_of(const struct as_blocks_fit *fit)
{
    struct as_flow_fit sum = {0};
    for (uint32_t m = 0; fit->flow->fits && m < as_cfg_count_modules(fit->flow->cfg); m++)
        if (wants(fit, m)) {
            sum.checked += fit->flow->fits[m].checked;
            sum.wrong += fit->flow->fits[m].wrong;
        }
    return sum;
}

static double part_of(struct as_flow_fit fit)
{
    return fit.checked > 0 ? fit.wrong / fit.checked : 0;
}

double as_blocks_misfit(const struct as_blocks_fit *fit)
{
    return part_of(sum_of(fit));
}

/* The file in which most is wrong; AS_CFG_NONE: nothing is. */
static uint32_t worst_of(const struct as_blocks_fit *fit)
{
    uint32_t worst = AS_CFG_NONE;
    double most = 0;
    for (uint32_t m = 0; fit->flow->fits && m < as_cfg_count_modules(fit->flow->cfg); m++)
        if (wants(fit, m) && fit->flow->fits[m].wrong > most) {
            most = fit->flow->fits[m].wrong;
            worst = m;
        }
    return worst;
}

bool as_blocks_check_fit(const struct as_blocks_fit *fit, struct as_error *err)
{
    double misfit = as_blocks_misfit(fit);
    uint32_t worst = worst_of(fit);
    if (misfit > REFUSE)
        return as_error_set(err,
                            "%.1f %% of the %s do not fit the code of %s: is it another build than the recorded one?",
                            100 * misfit, unit_of(fit), AS_SHOW(as_cfg_get(fit->flow->cfg, worst)->path));
    if (fit->method == AS_METHOD_LBR && fit->disordered > REFUSE)
        return as_error_set(err,
                            "%.1f %% of the runs between two entries of branch stacks end before they begin: the "
                            "recording is damaged",
                            100 * fit->disordered);
    return true;
}

/* Files of which too much is wrong, each with how much. */
static size_t name_files(const struct as_blocks_fit *fit, struct as_str *text)
{
    double least = NOTABLE * sum_of(fit).checked;
    size_t n = 0;
    for (uint32_t m = 0; fit->flow->fits && m < as_cfg_count_modules(fit->flow->cfg); m++) {
        const struct as_flow_fit *own = &fit->flow->fits[m];
        if (!wants(fit, m) || part_of(*own) <= DOUBT || own->wrong < least)
            continue;
        as_str_addf(text, "%s%.1f %% of the %s in %s", n++ ? ", " : "", 100 * part_of(*own), unit_of(fit),
                    AS_SHOW(as_cfg_get(fit->flow->cfg, m)->path));
    }
    return n;
}

bool as_blocks_add_doubt(const struct as_blocks_fit *fit, struct as_str *text)
{
    size_t n = name_files(fit, text);
    if (n)
        as_str_addf(text,
                    " do not fit the code, and were left out: is %s another build than the recorded one? Counts are "
                    "then of chance. ",
                    n == 1 ? "it" : "each of them");
    bool disordered = fit->method == AS_METHOD_LBR && fit->disordered > DOUBT;
    if (disordered)
        as_str_addf(text, "%.1f %% of the runs of branch stacks end before they begin, and were left out. ",
                    100 * fit->disordered);
    return n || disordered;
}
