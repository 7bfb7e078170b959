/* See report_text.h. */
#include "report/report_text.h"

#include "base/alloc.h"
#include "base/str.h"
#include "view/module_check.h"

#include <string.h>

void as_module_notes_text(const struct as_view *view, FILE *out, const struct as_term *term)
{
    struct as_str text = {0};
    size_t more = 0;
    for (size_t i = 0; i < view->n_modules && i < AS_MODULES_CHECKED; i++) {
        const char *note = as_module_check(view->store, &view->module[i]);
        if (note && !text.len)
            as_str_addf(&text, "note: %s: %s", AS_SHOW(view->module[i].path), note);
        else
            more += note != NULL;
    }
    if (more)
        as_str_addf(&text, " (and %zu more file%s)", more, more == 1 ? "" : "s");
    if (text.len) {
        as_str_add(&text, "; the report shows what was recorded");
        as_show_wrapped(out, term, as_str_get(&text), 0, 6);
        fputc('\n', out);
    }
    as_str_free(&text);
}

bool as_filters_text(const struct as_view *view, FILE *out, bool shares)
{
    struct as_view_filter filters[AS_VIEW_FILTERS];
    bool any = false;
    as_view_filters(view, filters);
    for (size_t i = 0; i < AS_VIEW_FILTERS; i++)
        for (size_t k = 0; k < filters[i].words->len; k++) {
            if (k)
                fputs(" or ", out);
            else
                fprintf(out, "%s %s ", any ? "," : "only", filters[i].name);
            fputs(AS_SHOW(filters[i].words->data[k]), out);
            any = true;
        }
    if (any && shares)
        fprintf(out, "; shares are of %s", view->options.threads.len ? "the time of these threads" : "the whole time");
    return any;
}

char *as_part_text(double part, const char *text)
{
    static const char prefix[] = "part of ";
    if (strncmp(text, prefix, sizeof prefix - 1) == 0)
        return as_format("%.3g %% of %s", 100 * part, text + sizeof prefix - 1);
    if (strncmp(text, "of ", 3) == 0)
        return as_format("%.3g %% %s", 100 * part, text);
    return as_format("%s (%.3g %%)", text, 100 * part);
}

void as_head_text(const struct as_view *view, FILE *out, const struct as_term *term)
{
    as_summary_text(&view->summary, out, term);
    as_module_notes_text(view, out, term);
    if (as_filters_text(view, out, true))
        fputc('\n', out);
    fputc('\n', out);
}
