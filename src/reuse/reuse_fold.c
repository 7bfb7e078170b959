/* See reuse_fold.h. */
#include "reuse/reuse_fold.h"

static uint64_t weight_of(const struct as_reuse_code *code)
{
    uint64_t misses = 0;
    for (int cause = 0; cause < AS_MISS_CAUSES; cause++)
        misses += code->misses[AS_REUSE_L1][cause];
    return misses << 20 | (code->touches < 1 << 20 ? code->touches : (1 << 20) - 1);
}

static void fold_codes(struct as_reuse_view *view, const struct as_code_sites *sites)
{
    struct as_reuse_view folded = {0};
    AS_VEC(uint64_t) tops = {0};
    for (size_t i = 0; i < view->codes.len && i < sites->list.len; i++) {
        struct as_code_site site = sites->list.data[i];
        as_reuse_code_add(as_reuse_code_of(&folded, site.insn), &view->codes.data[i]);
        while (tops.len < folded.codes.len)
            *as_vec_push(&tops) = 0;
        uint64_t weight = weight_of(&view->codes.data[i]);
        if (weight > tops.data[site.insn]) {
            tops.data[site.insn] = weight;
            folded.codes.data[site.insn].path = site.path;
        }
    }
    as_vec_free(&tops);
    as_reuse_codes_move(view, &folded);
}

static struct as_code_site site_of(const struct as_code_sites *sites, uint32_t code)
{
    if (code != AS_REUSE_NO_CODE && code & AS_REUSE_ON_ANY_PATH)
        return (struct as_code_site){.insn = code & ~AS_REUSE_ON_ANY_PATH};
    return code < sites->list.len ? sites->list.data[code] : (struct as_code_site){.insn = AS_REUSE_NO_CODE};
}

static void fold_pairs(struct as_reuse_view *view, const struct as_code_sites *sites)
{
    static const struct as_reuse_shape without_paths;
    struct as_reuse_view *folded = as_alloc(sizeof *folded);
    folded->shape = &without_paths;
    for (size_t i = 0; i < view->pairs.len; i++) {
        const struct as_reuse_pair *pair = &view->pairs.data[i];
        struct as_code_site use = site_of(sites, pair->use), reuse = site_of(sites, pair->reuse);
        struct as_reuse_pair *sum = as_reuse_pair_of(folded, use.insn, reuse.insn);
        as_reuse_pair_add(sum, pair);
        if (pair->count < sum->path_count || !(use.path | reuse.path))
            continue;
        sum->path_count = pair->count;
        sum->use_path = use.path;
        sum->reuse_path = reuse.path;
    }
    as_reuse_pairs_move(view, folded);
    free(folded);
}

void as_reuse_fold(struct as_reuse_view *view, const struct as_code_sites *sites)
{
    fold_codes(view, sites);
    fold_pairs(view, sites);
}
