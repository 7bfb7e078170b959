/* Names of code that a program made, for the samples of a modelled unit. A recording says which address was sampled, and when;
 * the run knows which instruction it was, and so which of several functions that lay there one after the other. See
 * record_unit.h. */
#include "base/search.h"
#include "record/record_unit.h"

#include <stdlib.h>

enum { NO_PIECE = 1 }; /* no pointer */

static bool take_piece(const struct as_location *location, struct as_jit_piece *piece)
{
    if (!location->generated || !location->function)
        return false;
    *piece = (struct as_jit_piece){
        .start = location->function_start, .size = location->function_size, .name = location->function};
    return true;
}

static const struct as_jit_piece *piece_of(struct as_unit_made *made, uint32_t insn)
{
    uint64_t *known = as_map_put(&made->pieces, insn);
    if (*known == 0) {
        struct as_location location;
        struct as_jit_piece piece, *kept = NULL;
        as_engine_locate(made->engine, insn, &location);
        if (take_piece(&location, &piece)) {
            kept = as_alloc(sizeof *kept);
            *kept = piece;
        }
        *known = kept ? (uint64_t)(uintptr_t)kept : NO_PIECE;
    }
    return *known == NO_PIECE ? NULL : (const struct as_jit_piece *)(uintptr_t)*known;
}

void as_unit_made_add(struct as_unit_made *made, uint32_t insn, uint64_t address, uint64_t time)
{
    const struct as_jit_piece *piece = piece_of(made, insn);
    if (!piece || address - piece->start >= piece->size) /* a unit may give the address of another instruction */
        return;
    struct as_unit_sight sight = {
        .image = as_engine_insn_image(made->engine, insn), .address = address, .time = time, .piece = piece};
    *as_vec_push(&made->sights) = sight;
    if (!made->turns.len || made->turns.data[made->turns.len - 1].piece != piece)
        *as_vec_push(&made->turns) = sight;
    made->sorted = false;
}

static int compare_times(const void *a, const void *b)
{
    const struct as_unit_sight *x = a, *y = b;
    return x->time < y->time ? -1 : x->time > y->time;
}

static int compare(const void *a, const void *b)
{
    const struct as_unit_sight *x = a, *y = b;
    if (x->image != y->image)
        return x->image < y->image ? -1 : 1;
    if (x->address != y->address)
        return x->address < y->address ? -1 : 1;
    return compare_times(a, b);
}

static void sort(struct as_unit_made *made)
{
    if (made->sorted || !made->sights.len)
        return;
    made->sorted = true;
    qsort(made->sights.data, made->sights.len, sizeof *made->sights.data, compare);
    qsort(made->turns.data, made->turns.len, sizeof *made->turns.data, compare_times);
}

/* The last sight of an address up to a time; NULL: none. */
static const struct as_unit_sight *last_sight(struct as_unit_made *made, uint32_t image, uint64_t address,
                                              uint64_t time)
{
    const struct as_unit_sight wanted = {.image = image, .address = address, .time = time};
    size_t end = as_search(0, made->sights.len, i, compare(&made->sights.data[i], &wanted) <= 0);
    const struct as_unit_sight *last = end > 0 ? &made->sights.data[end - 1] : NULL;
    return last && last->image == image && last->address == address ? last : NULL;
}

/* The last sight of a piece that covers the address. */
static const struct as_unit_sight *last_around(struct as_unit_made *made, uint32_t image, uint64_t address,
                                               uint64_t time)
{
    enum { MOST = 256 };
    size_t end = as_search(0, made->turns.len, i, made->turns.data[i].time <= time);
    for (size_t i = end; i-- > 0 && end - i <= MOST;) {
        const struct as_unit_sight *turn = &made->turns.data[i];
        if (turn->image == image && address - turn->piece->start < turn->piece->size)
            return turn;
    }
    return NULL;
}

bool as_unit_made_find(void *context, uint32_t number, uint64_t address, uint64_t known, struct as_jit_piece *piece)
{
    struct as_unit_made *made = context;
    uint64_t time = known ? known : UINT64_MAX;
    sort(made);
    const struct as_unit_sight *exact = last_sight(made, number, address, time),
                               *around = last_around(made, number, address, time),
                               *sight = exact && (!around || exact->time >= around->time) ? exact : around;
    const struct as_image *image = as_engine_image(made->engine, number);
    if (sight) {
        *piece = *sight->piece;
        return true;
    }
    struct as_location location;
    if (!image)
        return false;
    as_space_find(image->space, address, &location);
    return take_piece(&location, piece);
}

void as_unit_made_free(struct as_unit_made *made)
{
    for (size_t i = 0; i < made->pieces.cap; i++)
        if (made->pieces.slots[i].used && made->pieces.slots[i].value > NO_PIECE)
            free((void *)(uintptr_t)made->pieces.slots[i].value);
    as_map_free(&made->pieces);
    as_vec_free(&made->sights);
    as_vec_free(&made->turns);
}
