/* Components and their signs in bars. See report_text.h. */
#include "report/report_text.h"

_Static_assert((int)AS_LEGEND_KEYS == (int)AS_TERM_KEYS, "each component of a legend has a sign");

size_t as_legend_columns(const struct as_legend *legend, const struct as_term *term, size_t keys[AS_LEGEND_COLUMNS])
{
    size_t n = 0;
    for (size_t key = 1; key < legend->n && n < AS_LEGEND_COLUMNS && term->width >= AS_TERM_WIDE; key++)
        if (as_ratio(legend->units[key], legend->total) >= 0.005)
            keys[n++] = key;
    return n;
}

/* Each component ends at its rounded cumulative sum, so that rounding loses nothing. */
void as_legend_bar(const struct as_legend *legend, FILE *out, const struct as_term *term,
                   const struct as_store_row *row, uint64_t most, unsigned width, bool pad)
{
    uint64_t by_key[AS_LEGEND_KEYS + 1] = {0}, sum = 0;
    size_t drawn = 0;
    for (size_t i = 0; i < row->n_parts; i++)
        by_key[as_legend_key(legend, row->parts[i].key)] += row->parts[i].units;
    if (!row->n_parts)
        by_key[0] = row->units;
    for (size_t key = 0; key <= AS_LEGEND_KEYS; key++) {
        sum += by_key[key];
        size_t end = (size_t)(width * as_ratio(sum, most) + 0.5);
        as_term_key(out, term, key, end > drawn ? end - drawn : 0);
        drawn = end > drawn ? end : drawn;
    }
    for (; pad && drawn < width; drawn++)
        fputc(' ', out);
}

enum { MEANING = 35, ERROR = 10 }; /* the column in which explanations start, and what an error adds */

static const char *meaning_of(const struct as_view *view, uint64_t mask)
{
    size_t n;
    const struct as_store_event *events = as_store_events(view->store, &n);
    if (mask == 0)
        return "no event: computing, waiting for results and units";
    for (size_t i = 0; i < n; i++)
        if (mask == UINT64_C(1) << events[i].bit)
            return events[i].description;
    return NULL;
}

/* The error bar of a share, if there are any. */
static void put_error(const struct as_legend *legend, FILE *out, size_t key)
{
    if (legend->has_errors)
        fprintf(out, "+- %5.2f  ", 100 * legend->errors[key]);
}

void as_legend_text(const struct as_legend *legend, const struct as_view *view, FILE *out, const struct as_term *term)
{
    for (size_t i = 0; i < legend->n; i++) {
        char component[AS_COMPONENT_MAX];
        const char *meaning = meaning_of(view, legend->masks[i]);
        unsigned at = MEANING + (legend->has_errors ? ERROR : 0);
        if (!legend->units[i])
            continue;
        fputs("  ", out);
        as_term_key(out, term, i, 1);
        fprintf(out, " %6.2f %%  ", 100 * as_ratio(legend->units[i], legend->total));
        put_error(legend, out, i);
        fprintf(out, meaning ? "%-20s " : "%s", AS_SHOW(as_view_component(view, legend->masks[i], component)));
        as_show_wrapped(out, term, meaning ? AS_SHOW(meaning) : "", at, at);
        fputc('\n', out);
    }
    if (!legend->others)
        return;
    fprintf(out, "  %c %6.2f %%  ", as_term_letter(AS_LEGEND_KEYS), 100 * as_ratio(legend->others, legend->total));
    put_error(legend, out, AS_LEGEND_KEYS);
    fputs("other combinations\n", out);
}
