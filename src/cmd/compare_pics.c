/* See compare_pics.h. */
#include "cmd/compare_pics.h"

#include "base/alloc.h"
#include "base/ratio.h"
#include "base/similar.h"
#include "base/vec.h"
#include "cmd/compare_events.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { BAR = 40, KEYS = 12 };

/* ---- which instructions ---- */

static int compare_places(const void *a, const void *b, void *context)
{
    const struct as_engine *engine = context;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    uint32_t image_x = as_engine_insn_image(engine, x), image_y = as_engine_insn_image(engine, y);
    if (image_x != image_y)
        return image_x < image_y ? -1 : 1;
    uint64_t left = as_engine_insn(engine, x)->address, right = as_engine_insn(engine, y)->address;
    if (left != right)
        return left < right ? -1 : 1;
    return (x > y) - (x < y);
}

/* The file address of the function that contains the instruction or, for an address, of the instruction itself. */
static uint64_t start_of(const struct as_place *place, const struct as_location *location, uint64_t address)
{
    uint64_t into = location->function_start ? address - location->function_start : 0;
    return place->has_address ? location->module_offset : location->module_offset - into;
}

/* Refuses instructions that are not all in the same function of the same file. */
static bool check_one_function(const struct as_compare *compare, const struct as_place *place,
                               const struct as_listing *listing, struct as_error *err)
{
    struct as_location first = {0}, other = {0};
    uint64_t start = 0;
    for (size_t i = 0; i < listing->n; i++) {
        uint64_t address = as_engine_insn(as_model_engine(compare->model), listing->ids[i])->address;
        as_model_locate(compare->model, listing->ids[i], i ? &other : &first);
        uint64_t now = start_of(place, i ? &other : &first, address);
        if (i == 0)
            start = now;
        else if (now != start || strcmp(first.module, other.module) != 0)
            return as_error_set_status(err, AS_EXIT_USAGE,
                                       "--pics: '%s' is ambiguous: there is one at 0x%" PRIx64
                                       " of %s and one at 0x%" PRIx64 " of %s; give MODULE:NAME or an address",
                                       place->text, start, first.module, now, other.module);
    }
    return true;
}

/* ---- if there is none ---- */

static bool known_somewhere(const struct as_compare *compare, const struct as_place *place)
{
    const struct as_engine *engine = as_model_engine(compare->model);
    const struct as_image *image;
    char name[4096];
    snprintf(name, sizeof name, "%s%s%s", place->module ? place->module : "", place->module ? ":" : "",
             place->function);
    for (uint32_t number = 1; (image = as_engine_image(engine, number)); number++)
        if (as_space_resolve(image->space, name))
            return true;
    return false;
}

/* Functions that ran and have a similar name. */
static char *near_names(const struct as_compare *compare, const char *wanted)
{
    struct as_similar similar = {.typed = wanted};
    for (uint32_t i = 0; i < compare->groups.functions.count; i++) {
        const char *name = as_groups_function(&compare->groups, i), *end = strstr(name, " (");
        char *alone = as_strndup(name, end ? (size_t)(end - name) : strlen(name));
        if (!strstr(alone, "+0x")) /* code without a name */
            as_similar_add(&similar, alone);
        free(alone);
    }
    return as_similar_take(&similar);
}

static bool not_found(const struct as_compare *compare, const struct as_place *place, struct as_error *err)
{
    if (place->has_address)
        return as_error_set_status(err, AS_EXIT_FAILURE, "--pics: no instruction at %s was executed", place->text);
    if (known_somewhere(compare, place))
        return as_error_set_status(err, AS_EXIT_FAILURE, "--pics: '%s' is there, but %s", place->text,
                                   place->has_offset ? "no instruction at that offset was executed"
                                                     : "none of its instructions was executed");
    char *near = near_names(compare, place->function);
    as_error_set_status(err, AS_EXIT_USAGE, "--pics: there is no function '%s'%s", place->text, near);
    free(near);
    return false;
}

/* An address of the run takes precedence over one of a file. */
static void prefer_run_addresses(const struct as_compare *compare, const struct as_place *place,
                                 struct as_listing *listing)
{
    size_t kept = 0;
    if (!place->has_address)
        return;
    for (size_t i = 0; i < listing->n; i++)
        if (as_engine_insn(as_model_engine(compare->model), listing->ids[i])->address == place->address)
            listing->ids[kept++] = listing->ids[i];
    listing->n = kept ? kept : listing->n;
}

bool as_listing_find(const struct as_compare *compare, const struct as_place *place, struct as_listing *listing,
                     struct as_error *err)
{
    const struct as_engine *engine = as_model_engine(compare->model);
    size_t n;
    const struct as_oracle_row *rows = as_oracle_rows(compare->oracle, &n);
    listing->ids = as_alloc_array(n + 1, sizeof *listing->ids);
    for (uint32_t id = 0; id < n; id++) {
        struct as_location location = {0};
        if (!as_oracle_row_units(&rows[id]) || !as_model_locate(compare->model, id, &location))
            continue;
        if (as_place_holds(place, as_engine_insn(engine, id), &location))
            listing->ids[listing->n++] = id;
    }
    prefer_run_addresses(compare, place, listing);
    qsort_r(listing->ids, listing->n, sizeof *listing->ids, compare_places, (void *)engine);
    return listing->n ? check_one_function(compare, place, listing, err) : not_found(compare, place, err);
}

/* ---- showing them ---- */

/* The components of the listing, sorted by time; the first ones have a key of their own in the bars. */
struct legend {
    struct as_pics_entry parts[KEYS];
    size_t n;
    uint64_t total, others, most; /* units: of all, of components without a key, of the largest instruction */
};

static int compare_units(const void *a, const void *b)
{
    const struct as_pics_entry *x = a, *y = b;
    if ((x->events == 0) != (y->events == 0))
        return x->events == 0 ? -1 : 1;
    if (x->units != y->units)
        return x->units < y->units ? 1 : -1;
    return (x->events > y->events) - (x->events < y->events);
}

static struct legend legend_of(const struct as_compare *compare)
{
    struct legend legend = {.n = 0};
    struct as_pics sum = {0};
    for (size_t i = 0; i < compare->listing->n; i++) {
        size_t n;
        const struct as_pics_entry *entries = as_pics_find(&compare->shown, compare->listing->ids[i], &n);
        uint64_t units = 0;
        for (size_t k = 0; k < n; k++) {
            struct as_pics_entry entry = entries[k];
            entry.id = 0;
            units += entry.units;
            as_pics_push(&sum, &entry);
        }
        legend.total += units;
        legend.most = units > legend.most ? units : legend.most;
    }
    as_pics_sort(&sum);
    if (sum.len)
        qsort(sum.data, sum.len, sizeof *sum.data, compare_units);
    for (size_t i = 0; i < sum.len; i++)
        if (legend.n < KEYS && sum.data[i].units)
            legend.parts[legend.n++] = sum.data[i];
        else
            legend.others += sum.data[i].units;
    as_pics_free(&sum);
    return legend;
}

/* '.' for Base, then letters; '?' for components without a key. */
static char key_of(const struct legend *legend, uint32_t events)
{
    if (events == 0)
        return '.';
    for (size_t i = 0; i < legend->n; i++)
        if (legend->parts[i].events == events)
            return (char)('A' + i - (legend->parts[0].events == 0));
    return '?';
}

static void put_key(FILE *out, char key, size_t times, bool colour)
{
    static const int colours[KEYS] = {41, 44, 43, 45, 42, 46, 101, 104, 103, 105, 102, 106};
    if (times == 0)
        return;
    if (colour)
        fprintf(out, "\033[%dm\033[30m", key == '.' ? 47 : key == '?' ? 100 : colours[(key - 'A') % KEYS]);
    while (times-- > 0)
        fputc(key, out);
    if (colour)
        fputs("\033[0m", out);
}

/* Draws the stack as a bar, its length relative to the largest instruction's. Each component ends at its rounded
 * cumulative sum, so that rounding loses nothing. */
static void put_bar(FILE *out, const struct legend *legend, const struct as_pics_entry *entries, size_t n, bool colour)
{
    uint64_t sum = 0, others = 0;
    size_t drawn = 0;
    for (size_t i = 0; i < legend->n; i++)
        for (size_t k = 0; k < n; k++)
            if (entries[k].events == legend->parts[i].events) {
                sum += entries[k].units;
                size_t end = (size_t)((double)BAR * as_ratio(sum, legend->most) + 0.5);
                put_key(out, key_of(legend, entries[k].events), end - drawn, colour);
                drawn = end;
            }
    for (size_t k = 0; k < n; k++)
        others += key_of(legend, entries[k].events) == '?' ? entries[k].units : 0;
    size_t end = (size_t)((double)BAR * as_ratio(sum + others, legend->most) + 0.5);
    put_key(out, '?', end - drawn, colour);
}

static void text_row(const struct as_compare *compare, FILE *out, const struct legend *legend, uint32_t id, bool colour)
{
    const struct as_insn *insn = as_engine_insn(as_model_engine(compare->model), id);
    char text[160];
    size_t n;
    const struct as_pics_entry *entries = as_pics_find(&compare->shown, id, &n);
    uint64_t units = 0;
    for (size_t i = 0; i < n; i++)
        units += entries[i].units;
    fprintf(out, "%7.2f %% %10" PRIx64 "  %-42.42s ", 100 * as_ratio(units, compare->shown_total), insn->address,
            as_insn_text(insn, text, sizeof text));
    put_bar(out, legend, entries, n, colour);
    fputc('\n', out);
}

void as_listing_text(const struct as_compare *compare, FILE *out, bool colour)
{
    struct legend legend = legend_of(compare);
    const struct as_engine *engine = as_model_engine(compare->model);
    uint32_t image = 0;
    for (size_t i = 0; i < compare->listing->n; i++) {
        uint32_t id = compare->listing->ids[i];
        if (as_engine_insn_image(engine, id) != image) {
            struct as_location location = {0};
            image = as_engine_insn_image(engine, id);
            as_model_locate(compare->model, id, &location);
            fprintf(out, "\n%s (%s): %.2f %% of all cycles%s%s\n", location.function ? location.function : "?",
                    location.module_name, 100 * as_ratio(legend.total, compare->shown_total),
                    compare->pics_of ? ", says " : "", compare->pics_of ? compare->pics_of : "");
        }
        text_row(compare, out, &legend, id, colour);
    }
    fputc('\n', out);
    for (size_t i = 0; i < legend.n; i++) {
        char text[AS_EVENTS_NAME_MAX];
        fputs("  ", out);
        put_key(out, key_of(&legend, legend.parts[i].events), 1, colour);
        fprintf(out, " %7.2f %%  %s\n", 100 * as_ratio(legend.parts[i].units, compare->shown_total),
                as_events_name(legend.parts[i].events, text, sizeof text));
    }
    if (legend.others)
        fprintf(out, "  ? %7.2f %%  other combinations\n", 100 * as_ratio(legend.others, compare->shown_total));
}

void as_listing_json(const struct as_compare *compare, struct as_json *json)
{
    struct legend legend = legend_of(compare);
    as_json_object(json, "pics");
    as_json_string(json, "place", compare->place);
    as_json_string(json, "of", compare->pics_of ? compare->pics_of : "golden");
    as_compare_event_names_json(json, "events", compare->shown_events);
    as_json_double(json, "cycles", (double)legend.total / (double)AS_CYCLE_UNITS);
    as_json_double(json, "share", as_ratio(legend.total, compare->shown_total));
    as_json_end(json);
}
