/* See reuse_advice.h. */
#include "reuse/reuse_advice.h"

static const double SMALLEST_SHARE = 0.05; /* of the misses of a level */
static const double MOST_USED = 0.5;       /* of a line, for a structure to be worth splitting */
enum { FEWEST = 1000 };                    /* misses: fewer are noise whatever their share */

static uint64_t all_misses(const struct as_reuse_view *view, int level)
{
    uint64_t n = 0;
    for (int cause = 0; cause < AS_MISS_CAUSES; cause++)
        n += view->missed[level][cause];
    return n;
}

/* The power of two that half of a pair's reuses beyond `from` lie at or above. */
static uint64_t median(const struct as_reuse_pair *pair, uint64_t from)
{
    uint64_t beyond = 0, half = 0;
    uint32_t first = as_distance_octave(from);
    for (uint32_t i = first; i < AS_DISTANCE_OCTAVES; i++)
        beyond += pair->octaves[i];
    for (uint32_t i = first; i < AS_DISTANCE_OCTAVES; i++)
        if ((half += pair->octaves[i]) * 2 >= beyond)
            return as_distance_octave_low(i);
    return from;
}

struct list {
    struct as_reuse_advice *data;
    size_t len, most;
};

/* Sorted by share, the greatest first. */
static void add(struct list *list, const struct as_reuse_advice *advice)
{
    if (advice->share < SMALLEST_SHARE || advice->count < FEWEST)
        return;
    size_t at = list->len;
    while (at > 0 && list->data[at - 1].share < advice->share)
        at--;
    if (at == list->most)
        return;
    list->len += list->len < list->most;
    memmove(list->data + at + 1, list->data + at, (list->len - at - 1) * sizeof *list->data);
    list->data[at] = *advice;
}

static struct as_reuse_advice advice_of(const struct as_reuse_view *view, enum as_reuse_advice_kind kind,
                                        const struct as_reuse_pair *pair, int level, uint64_t count)
{
    enum { LEAST_PARTS = 2 };
    uint64_t lines = view->shape->levels[level].lines, all = all_misses(view, level);
    uint64_t distance = median(pair, lines), parts = 2 * distance / lines;
    if (distance < lines) /* the lower end of its octave; what misses is at least that far apart */
        distance = lines;
    return (struct as_reuse_advice){.kind = kind,
                                    .use = pair->use,
                                    .reuse = pair->reuse,
                                    .count = count,
                                    .share = all ? (double)count / (double)all : 0,
                                    .level = (enum as_reuse_level)level,
                                    .distance = distance,
                                    .parts = parts > LEAST_PARTS ? parts : LEAST_PARTS};
}

static uint64_t misses_of(const struct as_reuse_code *code)
{
    uint64_t n = 0;
    for (int cause = 0; cause < AS_MISS_CAUSES; cause++)
        n += code->misses[AS_REUSE_L1][cause];
    return n;
}

/* Most of its misses are one step from the one before. */
static bool walks(const struct as_reuse_code *code)
{
    return code->steady * 2 > misses_of(code);
}

/* The same bytes again, from beyond the level below which there is none that holds them. */
static void look_at_blocking(struct list *list, const struct as_reuse_view *view, const struct as_reuse_pair *pair)
{
    if (pair->reuse >= view->codes.len || !walks(&view->codes.data[pair->reuse]))
        return;
    int level = view->shape->levels[AS_REUSE_L2].lines && pair->beyond[AS_REUSE_L2] * 2 >= pair->beyond[AS_REUSE_L1]
                    ? AS_REUSE_L2
                    : AS_REUSE_L1;
    uint64_t temporal = pair->beyond[level] > pair->spatial_beyond ? pair->beyond[level] - pair->spatial_beyond : 0;
    if (temporal * 2 < pair->beyond[level] || !view->shape->levels[level].lines)
        return;
    struct as_reuse_advice advice = advice_of(view, AS_ADVICE_BLOCKING, pair, level, temporal);
    add(list, &advice);
}

/* What is known of an instruction's touches as reuses. */
struct habit {
    const struct as_reuse_pair *main; /* where most of its reuses come from */
};

static struct habit *habits_of(const struct as_reuse_view *view)
{
    struct habit *habits = as_alloc_array(view->codes.len + 1, sizeof *habits);
    for (size_t i = 0; i < view->pairs.len; i++) {
        const struct as_reuse_pair *pair = &view->pairs.data[i];
        if (pair->reuse >= view->codes.len)
            continue;
        struct habit *habit = &habits[pair->reuse];
        if (!habit->main || habit->main->count < pair->count)
            habit->main = pair;
    }
    return habits;
}

/* Conflicts of a walk whose steps leave out most of the sets. */
static void look_at_rows(struct list *list, const struct as_reuse_view *view, uint32_t id)
{
    const struct as_reuse_code *code = &view->codes.data[id];
    if (code->folded * 2 <= misses_of(code))
        return;
    add(list, &(struct as_reuse_advice){.kind = AS_ADVICE_ROWS,
                                        .use = id,
                                        .reuse = id,
                                        .count = code->folded,
                                        .share = (double)code->folded / (double)all_misses(view, AS_REUSE_L1),
                                        .level = AS_REUSE_L1});
}

/* Lines that leave with half of their bytes unused or more. If it is other bytes each time, and the code walks, the order is wrong. If
 * it is the same few places of most lines, they are members of structures, and the others do not belong there; that counts for accesses
 * in no order, too. */
static void look_at_code(struct list *list, const struct as_reuse_view *view, uint32_t id, const struct habit *habit)
{
    const struct as_reuse_code *code = &view->codes.data[id];
    double line = (double)(UINT64_C(1) << view->shape->shift), all = (double)all_misses(view, AS_REUSE_L1);
    double scale = view->shape->shift > 6 ? line / 64 : 1;
    double used = code->fetched ? (double)code->fetched_bytes / (double)code->fetched * scale : line;
    bool order = code->moved * 2 > code->again && walks(code);
    uint64_t misses = code->misses[AS_REUSE_L1][AS_MISS_CAPACITY] + order * code->misses[AS_REUSE_L1][AS_MISS_CONFLICT];
    if (!order)
        look_at_rows(list, view, id);
    if (used > MOST_USED * line || all == 0 || !habit->main || (!order && code->alike * 4 < code->fetched * 3))
        return;
    add(list, &(struct as_reuse_advice){.kind = order ? AS_ADVICE_LOOP_ORDER : AS_ADVICE_SPLITTING,
                                        .use = order ? habit->main->use : id,
                                        .reuse = id,
                                        .count = misses,
                                        .share = (double)misses / all,
                                        .level = AS_REUSE_L1,
                                        .distance = median(habit->main, 0),
                                        .bytes_used = used});
}

static void look_at_padding(struct list *list, const struct as_reuse_view *sockets)
{
    for (size_t i = 0; i < sockets->pairs.len; i++) {
        const struct as_reuse_pair *pair = &sockets->pairs.data[i];
        if (pair->false_sharing * 2 < pair->count || pair->reuse == AS_REUSE_NO_CODE)
            continue;
        add(list, &(struct as_reuse_advice){.kind = AS_ADVICE_PADDING,
                                            .use = pair->use,
                                            .reuse = pair->reuse,
                                            .count = pair->false_sharing,
                                            .share = (double)pair->false_sharing / (double)sockets->counts.reuses});
    }
}

size_t as_reuse_advise(const struct as_reuse_view *threads, const struct as_reuse_view *sockets,
                       struct as_reuse_advice *advice, size_t most)
{
    struct list list = {.data = advice, .most = most};
    if (sockets)
        look_at_padding(&list, sockets);
    if (!threads->shape->levels[AS_REUSE_L1].lines)
        return list.len;
    for (size_t i = 0; i < threads->pairs.len; i++)
        if (threads->pairs.data[i].reuse != AS_REUSE_NO_CODE)
            look_at_blocking(&list, threads, &threads->pairs.data[i]);
    struct habit *habits = habits_of(threads);
    for (size_t i = 0; i < threads->codes.len; i++)
        look_at_code(&list, threads, (uint32_t)i, &habits[i]);
    free(habits);
    return list.len;
}
