/* See same_code.h. */
#include "reuse/same_code.h"

#include "base/map.h"
#include "base/str.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct as_same_code {
    const struct as_engine *engine;
    struct as_strings *places; /* what tells instructions apart, in the order of `first` */
    AS_VEC(uint32_t) first;    /* the instruction that was there first */
    struct as_map known;       /* by instruction: the first one + 1 */
};

struct as_same_code *as_same_code_new(const struct as_engine *engine)
{
    struct as_same_code *same = as_alloc(sizeof *same);
    same->engine = engine;
    same->places = as_strings_new();
    return same;
}

void as_same_code_free(struct as_same_code *same)
{
    as_strings_free(same->places);
    as_vec_free(&same->first);
    as_map_free(&same->known);
    free(same);
}

static uint32_t find_first(struct as_same_code *same, uint32_t code)
{
    struct as_location location;
    as_engine_locate(same->engine, code, &location);
    if (location.generated || !location.module || location.module[0] != '/')
        return code;
    char *place = as_format("%" PRIu32 " %" PRIx64 " %s", as_engine_insn_image(same->engine, code),
                            location.module_offset, location.module);
    uint32_t number = as_strings_intern(same->places, place);
    free(place);
    if (number == same->first.len)
        *as_vec_push(&same->first) = code;
    return same->first.data[number];
}

uint32_t as_same_code_of(struct as_same_code *same, uint32_t code)
{
    if (!as_engine_insn(same->engine, code))
        return code;
    uint64_t *first = as_map_put(&same->known, code);
    if (!*first)
        *first = find_first(same, code) + UINT64_C(1);
    return (uint32_t)(*first - 1);
}

static uint64_t misses_of(const struct as_reuse_code *code)
{
    uint64_t misses = 0;
    for (int cause = 0; cause < AS_MISS_CAUSES; cause++)
        misses += code->misses[AS_REUSE_L1][cause];
    return misses;
}

static void join_codes(struct as_same_code *same, struct as_reuse_view *view)
{
    static const struct as_reuse_code none;
    struct as_reuse_view joined = {0};
    AS_VEC(uint64_t) tops = {0};
    for (size_t i = 0; i < view->codes.len; i++) {
        const struct as_reuse_code *code = &view->codes.data[i];
        if (memcmp(code, &none, sizeof none) == 0)
            continue;
        uint32_t first = as_same_code_of(same, (uint32_t)i);
        struct as_reuse_code *sum = as_reuse_code_of(&joined, first);
        while (tops.len < joined.codes.len)
            *as_vec_push(&tops) = 0;
        as_reuse_code_add(sum, code);
        if (code->path && (!sum->path || misses_of(code) > tops.data[first])) {
            tops.data[first] = misses_of(code);
            sum->path = code->path;
        }
    }
    as_vec_free(&tops);
    as_reuse_codes_move(view, &joined);
}

static void join_pairs(struct as_same_code *same, struct as_reuse_view *view)
{
    static const struct as_reuse_shape without_paths;
    struct as_reuse_view *joined = as_alloc(sizeof *joined);
    joined->shape = &without_paths;
    for (size_t i = 0; i < view->pairs.len; i++) {
        const struct as_reuse_pair *pair = &view->pairs.data[i];
        struct as_reuse_pair *sum =
            as_reuse_pair_of(joined, as_same_code_of(same, pair->use), as_same_code_of(same, pair->reuse));
        as_reuse_pair_add(sum, pair);
        if (pair->path_count <= sum->path_count)
            continue;
        sum->path_count = pair->path_count;
        sum->use_path = pair->use_path;
        sum->reuse_path = pair->reuse_path;
    }
    as_reuse_pairs_move(view, joined);
    free(joined);
}

void as_same_code_join(struct as_same_code *same, struct as_reuse_view *view)
{
    join_codes(same, view);
    join_pairs(same, view);
}

static void add_estimated(struct as_estimated_pair *sum, const struct as_estimated_pair *pair)
{
    double weight = sum->weight + pair->weight;
    if (weight > 0)
        sum->distance = (sum->distance * sum->weight + pair->distance * pair->weight) / weight;
    sum->weight = weight;
    sum->samples += pair->samples;
}

/* Call paths through a library that was elsewhere are others, too: what was at several addresses is one row, on the paths of its
 * heaviest. Code that was at one alone keeps a row for each of its paths. */
void as_same_code_join_estimate(struct as_same_code *same, struct as_reuse_estimate *estimate)
{
    struct as_map places = {0};
    AS_VEC(bool) moved = {0};
    size_t n = 0;
    for (size_t i = 0; i < estimate->pairs.len; i++) {
        struct as_estimated_pair pair = estimate->pairs.data[i];
        uint32_t use = as_same_code_of(same, (uint32_t)pair.use), reuse = as_same_code_of(same, (uint32_t)pair.reuse);
        bool elsewhere = use != pair.use || reuse != pair.reuse;
        uint64_t *place = as_map_put(&places, (uint64_t)use << 32 | reuse);
        pair.use = use;
        pair.reuse = reuse;
        if (*place && (elsewhere || moved.data[*place - 1])) {
            add_estimated(&estimate->pairs.data[*place - 1], &pair);
            moved.data[*place - 1] = true;
            continue;
        }
        estimate->pairs.data[n++] = pair;
        *as_vec_push(&moved) = elsewhere;
        *place = *place ? *place : n;
    }
    estimate->pairs.len = n;
    if (n)
        qsort(estimate->pairs.data, n, sizeof *estimate->pairs.data, as_estimated_by_weight);
    as_vec_free(&moved);
    as_map_free(&places);
}
