/* What the three ways to print reuse distances share: places, orders, ratios, advice in words. See reuse_show.h. */
#include "cmd/reuse_show.h"
#include "base/path.h"

#include <inttypes.h>
#include <stdlib.h>

const char *const as_reuse_level_names[AS_REUSE_LEVELS] = {"L1", "L2", "LLC"};
const char *const as_miss_cause_names[AS_MISS_CAUSES] = {"cold", "capacity", "conflict", "coherence"};
const char *const as_reuse_advice_names[] = {"loop order", "blocking", "structure splitting", "padding", "row padding"};

static struct as_reuse_location locate_in(struct as_space *space, uint64_t address, const struct as_location *location)
{
    struct as_line line;
    struct as_reuse_location found = {.address = address,
                                      .module = location->module,
                                      .function =
                                          location->function ? location->function : as_space_name(space, address)};
    if (as_space_line(space, address, &line)) {
        found.file = line.file;
        found.line = line.line;
    }
    return found;
}

const char *as_reuse_part(const struct as_reuse_shown *shown, char text[AS_ENGINE_PART])
{
    bool cut = !shown->native && as_engine_part(shown->result, shown->instructions, text, AS_ENGINE_PART);
    return cut ? text : NULL;
}

bool as_reuse_has_caches(const struct as_reuse_shown *shown)
{
    return shown->options->shape.levels[AS_REUSE_L1].lines != 0;
}

struct as_reuse_location as_reuse_locate(const struct as_reuse_shown *shown, uint32_t code)
{
    struct as_reuse_location found = {0};
    struct as_location location;
    if (shown->native) {
        struct as_space *space;
        uint64_t address = as_reuse_native_insn(shown->native, code, &space);
        if (!address)
            return found;
        as_space_find(space, address, &location);
        return locate_in(space, address, &location);
    }
    const struct as_insn *insn = as_engine_insn(shown->engine, code);
    if (code == AS_REUSE_NO_CODE)
        found.function = "[more code than is kept apart]";
    if (!insn)
        return found;
    const struct as_image *image = as_engine_image(shown->engine, as_engine_insn_image(shown->engine, code));
    as_engine_locate(shown->engine, code, &location);
    return locate_in(image->space, insn->address, &location);
}

char *as_reuse_location_text(const struct as_reuse_shown *shown, uint32_t code)
{
    struct as_reuse_location found = as_reuse_locate(shown, code);
    if (found.file && found.line)
        return as_format("%s at %s:%d", found.function, as_path_base(found.file), found.line);
    return as_format("%s (0x%" PRIx64 ")", found.function ? found.function : "?", found.address);
}

size_t as_reuse_frames(const struct as_reuse_shown *shown, uint32_t path, const char **names, size_t n)
{
    size_t count = 0;
    if (shown->native)
        return as_reuse_native_frames(shown->native, path, names, n);
    if (!path || !shown->sites || path > shown->sites->paths.len || !shown->calls)
        return 0;
    uint64_t name = shown->sites->paths.data[path - 1];
    const struct as_call_tree *tree = as_call_tracker_tree(shown->calls, name >> 32);
    const struct as_image *image = as_call_tracker_image(shown->calls, name >> 32);
    for (uint32_t node = (uint32_t)name; node; node = as_call_tree_node(tree, node)->parent) {
        if (count < n)
            names[count] = as_call_node_name(shown->engine, image, as_call_tree_node(tree, node));
        count++;
    }
    return count;
}

char *as_reuse_path_text(const struct as_reuse_shown *shown, uint32_t path)
{
    enum { DEPTH = 64, SHOWN = 6 };
    const char *names[DEPTH];
    struct as_str text = {0};
    size_t n = as_reuse_frames(shown, path, names, DEPTH), known = n < DEPTH ? n : DEPTH;
    if (known > SHOWN || n > known)
        as_str_add(&text, "… > ");
    for (size_t i = known < SHOWN ? known : SHOWN; i-- > 0;)
        as_str_addf(&text, "%s%s", names[i], i ? " > " : "");
    return as_str_take(&text);
}

const struct as_reuse_view *as_reuse_shown_shared(const struct as_reuse_shown *shown)
{
    const struct as_reuse_view *sockets = as_reuse_all_sockets(shown->exact);
    return sockets ? sockets : as_reuse_all_threads(shown->exact);
}

const struct as_reuse_view *as_reuse_working_view(const struct as_reuse_shown *shown)
{
    const struct as_reuse_view *view = as_reuse_all_sockets(shown->exact);
    if (!view && as_reuse_count_threads(shown->exact))
        view = as_reuse_get_thread(shown->exact, 0)->view;
    return shown->options->shape.sampled ? NULL : view; /* intervals of a sample are not those of the run */
}

uint64_t as_reuse_least(const struct as_reuse_shown *shown)
{
    uint64_t least = as_reuse_all_threads(shown->exact)->distances.least;
    return least ? least : 1;
}

const char *as_reuse_method_text(const struct as_reuse_shown *shown, char text[AS_REUSE_HOW])
{
    if (!shown->options->shape.sampled)
        snprintf(text, AS_REUSE_HOW, "exact");
    else if (!as_reuse_scale(shown->exact))
        snprintf(text, AS_REUSE_HOW, "from all lines, which are few enough");
    else
        snprintf(text, AS_REUSE_HOW, "from one of %u lines", 1u << as_reuse_scale(shown->exact));
    if (as_reuse_least(shown) > 1)
        snprintf(text + strlen(text), AS_REUSE_HOW - strlen(text), " (distances from %" PRIu64 " on)",
                 as_reuse_least(shown));
    return text;
}

double as_reuse_miss_ratio(const struct as_reuse_shown *shown, bool shared, uint64_t granules)
{
    const struct as_reuse_view *view = shared ? as_reuse_shown_shared(shown) : as_reuse_all_threads(shown->exact);
    const struct as_distances *distances = view->shared ? &view->all : &view->distances;
    double always = (double)(view->counts.cold + view->counts.after_invalidation);
    return view->counts.touches ? (always + as_distances_beyond(distances, granules)) / (double)view->counts.touches
                                : 0;
}

double as_reuse_miss_ratio_error(const struct as_reuse_shown *shown, bool shared, uint64_t granules)
{
    const struct as_reuse_view *view = shared ? as_reuse_shown_shared(shown) : as_reuse_all_threads(shown->exact);
    if (!view->parts || !view->counts.touches)
        return 0;
    return as_sample_error(view->parts, granules, as_reuse_scale(shown->exact)) / (double)view->counts.touches;
}

/* Weights are rounded, so a few may be missing. */
const char *as_reuse_how(uint64_t all, uint64_t counted)
{
    return counted + all / 1000 >= all ? "counted" : counted <= all / 1000 ? "timed" : "both";
}

void as_reuse_level_misses(const struct as_reuse_shown *shown, int level, uint64_t missed[AS_MISS_CAUSES])
{
    const struct as_reuse_view *all = as_reuse_all_threads(shown->exact), *shared = as_reuse_all_sockets(shown->exact);
    for (int cause = 0; cause < AS_MISS_CAUSES; cause++)
        missed[cause] = all->missed[level][cause] + (shared ? shared->missed[level][cause] : 0);
}

uint64_t as_reuse_sum(const uint64_t causes[AS_MISS_CAUSES])
{
    uint64_t n = 0;
    for (int cause = 0; cause < AS_MISS_CAUSES; cause++)
        n += causes[cause];
    return n;
}

/* ---- orders ---- */

static int by_beyond(const void *a, const void *b)
{
    const struct as_reuse_pair *x = *(const struct as_reuse_pair *const *)a,
                               *y = *(const struct as_reuse_pair *const *)b;
    uint64_t x_misses = x->beyond[AS_REUSE_L1] + x->conflicts, y_misses = y->beyond[AS_REUSE_L1] + y->conflicts;
    if (x_misses != y_misses)
        return x_misses < y_misses ? 1 : -1;
    if (x->count != y->count)
        return x->count < y->count ? 1 : -1;
    return x->use != y->use ? (x->use > y->use) - (x->use < y->use) : (x->reuse > y->reuse) - (x->reuse < y->reuse);
}

const struct as_reuse_pair **as_reuse_sorted_pairs(const struct as_reuse_view *view)
{
    const struct as_reuse_pair **sorted = as_alloc_array(view->pairs.len + 1, sizeof *sorted);
    for (size_t i = 0; i < view->pairs.len; i++)
        sorted[i] = &view->pairs.data[i];
    qsort(sorted, view->pairs.len, sizeof *sorted, by_beyond);
    return sorted;
}

/* Each miss brings a line from the level below. */
const char *as_reuse_brought_text(const struct as_reuse_shown *shown, const struct as_reuse_code *code, int level,
                                  char text[32])
{
    const struct as_reuse_shape *shape = &shown->options->shape;
    return shape->levels[level].lines ? as_reuse_size_text(as_reuse_sum(code->misses[level]) << shape->shift, text)
                                      : "-";
}

struct ranked {
    uint64_t misses;
    uint32_t code;
};

static int by_misses(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->misses != y->misses)
        return x->misses < y->misses ? 1 : -1;
    return (x->code > y->code) - (x->code < y->code);
}

uint32_t *as_reuse_sorted_codes(const struct as_reuse_view *view, int level, size_t *n)
{
    struct ranked *ranked = as_alloc_array(view->codes.len + 1, sizeof *ranked);
    uint32_t *codes = as_alloc_array(view->codes.len + 1, sizeof *codes);
    *n = 0;
    for (size_t i = 0; i < view->codes.len; i++) {
        uint64_t misses = as_reuse_sum(view->codes.data[i].misses[level]);
        if (misses)
            ranked[(*n)++] = (struct ranked){.misses = misses, .code = (uint32_t)i};
    }
    qsort(ranked, *n, sizeof *ranked, by_misses);
    for (size_t i = 0; i < *n; i++)
        codes[i] = ranked[i].code;
    free(ranked);
    return codes;
}

/* ---- advice ---- */

static void say(struct as_str *text, const struct as_reuse_shown *shown, const struct as_reuse_advice *advice)
{
    uint32_t shift = shown->options->shape.shift;
    const char *level = as_reuse_level_names[advice->level];
    char between[32], cache[32];
    as_reuse_size_text(advice->distance << shift, between);
    switch (advice->kind) {
    case AS_ADVICE_LOOP_ORDER:
        as_str_addf(text,
                    "neighbouring bytes of a line are used only after %s or more of other lines, when the line is "
                    "gone; %.0f of %u bytes are used while it is there: let the inner loop walk along the line (swap "
                    "the loops, or transpose the data)",
                    between, advice->bytes_used, 1u << shift);
        break;
    case AS_ADVICE_BLOCKING:
        as_str_addf(text,
                    "the same data comes again after %s or more of other lines, and the %s has %s: work on "
                    "blocks, 1/%" PRIu64 " of what lies in between or less",
                    between, level,
                    as_reuse_size_text(shown->options->shape.levels[advice->level].lines << shift, cache),
                    advice->parts);
        break;
    case AS_ADVICE_SPLITTING:
        as_str_addf(text,
                    "of each line of %u bytes that it brings only %.0f are used before the line goes: keep these "
                    "together (split the structure, or an array for each member)",
                    1u << shift, advice->bytes_used);
        break;
    case AS_ADVICE_PADDING:
        as_str_addf(text,
                    "threads use different bytes of the same lines, and write some: give each thread lines of its own "
                    "(padding, "
                    "alignment to %u bytes)",
                    1u << shift);
        break;
    case AS_ADVICE_ROWS:
        as_str_addf(text,
                    "its misses are conflicts: its steps fall into few sets of the %s, which could hold all that lies "
                    "in between; let each step "
                    "be a line of %u bytes longer (pad the rows)",
                    level, 1u << shift);
        break;
    }
}

char *as_reuse_advice_text(const struct as_reuse_shown *shown, const struct as_reuse_advice *advice)
{
    struct as_str text = {0};
    char *use = as_reuse_location_text(shown, advice->use), *reuse = as_reuse_location_text(shown, advice->reuse);
    as_str_addf(&text, "%s", use);
    if (advice->use != advice->reuse && strcmp(use, reuse) != 0)
        as_str_addf(&text, " and then %s", reuse);
    as_str_add(&text, ": ");
    say(&text, shown, advice);
    free(use);
    free(reuse);
    return as_str_take(&text);
}
