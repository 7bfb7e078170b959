/* What the three ways to print reuse distances share: places, orders, ratios, advice in words. See reuse_show.h. */
#include "cmd/reuse_show.h"
#include "base/path.h"

#include <inttypes.h>
#include <stdlib.h>

const char *const as_reuse_level_names[AS_REUSE_LEVELS] = {"L1", "L2", "LLC"};
const char *const as_miss_cause_names[AS_MISS_CAUSES] = {"cold", "capacity", "conflict", "coherence"};
const char *const as_reuse_advice_names[] = {"loop order", "blocking", "structure splitting", "padding", "row padding"};

bool as_reuse_has_caches(const struct as_reuse_shown *shown)
{
    return shown->options->shape.levels[AS_REUSE_L1].lines != 0;
}

struct as_reuse_location as_reuse_locate(const struct as_reuse_shown *shown, uint32_t code)
{
    return shown->names.locate(shown->names.context, code);
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
    return shown->names.frames(shown->names.context, path, names, n);
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

const char *as_reuse_method_text(const struct as_reuse_shown *shown, char text[AS_REUSE_HOW])
{
    if (!shown->options->shape.sampled)
        snprintf(text, AS_REUSE_HOW, "exact");
    else if (!as_reuse_scale(shown->exact))
        snprintf(text, AS_REUSE_HOW, "from all lines, which are few enough");
    else
        snprintf(text, AS_REUSE_HOW, "from one of %u lines", 1u << as_reuse_scale(shown->exact));
    if (as_reuse_least(shown->exact) > 1)
        snprintf(text + strlen(text), AS_REUSE_HOW - strlen(text), " (distances from %" PRIu64 " on)",
                 as_reuse_least(shown->exact));
    return text;
}

/* Weights are rounded, so a few may be missing. */
const char *as_reuse_how(uint64_t all, uint64_t counted)
{
    return counted + all / 1000 >= all ? "counted" : counted <= all / 1000 ? "timed" : "both";
}

/* Each miss brings a line from the level below. */
const char *as_reuse_brought_text(const struct as_reuse_shown *shown, const struct as_reuse_code *code, int level,
                                  char text[32])
{
    const struct as_reuse_shape *shape = &shown->options->shape;
    return shape->levels[level].lines ? as_reuse_size_text(as_reuse_sum(code->misses[level]) << shape->shift, text)
                                      : "-";
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
