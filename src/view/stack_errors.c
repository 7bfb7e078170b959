/* Error bars of the bars that a profile has of the whole program: commit states, kinds of time. See summary.h. */
#include "base/alloc.h"
#include "view/bars.h"
#include "view/replicates.h"

#include <stdlib.h>
#include <string.h>

/* The items: the rows of the view's series, by their number among all; and as many sums, of the bar that each begins. */
struct items {
    const struct as_store_stack *stacks;
    size_t n;
    uint32_t series;
};

static bool is_same(const struct as_store_stack *one, const struct as_store_stack *other)
{
    return strcmp(one->stack, other->stack) == 0 && strcmp(one->name, other->name) == 0;
}

/* The first row of the view's series that is of the same bar, or also has the same name; `n`: there is none. */
static size_t find(const struct items *items, const struct as_store_stack *like, bool named)
{
    for (size_t i = 0; i < items->n; i++)
        if (items->stacks[i].series == items->series && strcmp(items->stacks[i].stack, like->stack) == 0 &&
            (!named || is_same(&items->stacks[i], like)))
            return i;
    return items->n;
}

static bool read_items(const void *context, uint32_t series, double *units, double *total, struct as_error *err)
{
    const struct items *items = context;
    for (size_t i = 0; i < items->n; i++) {
        const struct as_store_stack *row = &items->stacks[i];
        size_t at = find(items, row, true), bar = find(items, row, false);
        if (row->series != series || at == items->n)
            continue;
        units[at] += (double)row->units;
        units[items->n + bar] += (double)row->units;
        *total += (double)row->units;
    }
    return true;
}

/* The first row of a bar is what instructions commit in: code that no region has is taken to do so. */
static void widen(const struct items *items, const uint32_t *of, struct as_bars *bars)
{
    for (size_t i = 0; i < items->n; i++) {
        size_t bar = of[i];
        double all = bars->units[bar], share = all > 0 ? bars->units[i] / all : 0;
        bars->errors[i] = as_bar_of_part(bars, &(struct as_bar_part){.found = bars->errors[i],
                                                                     .part = share,
                                                                     .whole = 1,
                                                                     .guessed = all > 0 ? bars->guessed[bar] / all : 0,
                                                                     .usual = share,
                                                                     .plain = bar == items->n + i});
    }
}

bool as_stack_errors_make(struct as_view *view, struct as_error *err)
{
    struct items items = {.series = view->series};
    items.stacks = as_store_stacks(view->store, &items.n);
    uint32_t *of = as_alloc_array(2 * items.n + 1, sizeof *of);
    for (size_t i = 0; i < items.n; i++) {
        size_t bar = find(&items, &items.stacks[i], false);
        of[i] = of[items.n + i] = (uint32_t)(items.n + (bar < items.n ? bar : i));
    }
    struct as_bars bars = {0};
    /* The bars are of the whole program, whatever is shown. */
    struct as_view whole = *view;
    whole.options.threads.len = whole.options.events.len = 0;
    bool ok = as_bars_make(&bars, &(struct as_bar_items){&whole, 2 * items.n, read_items, &items, of}, err);
    if (ok && bars.errors)
        widen(&items, of, &bars);
    view->summary.stack_errors = view->stack_errors = bars.errors;
    bars.errors = NULL;
    as_bars_free(&bars);
    free(of);
    return ok;
}
