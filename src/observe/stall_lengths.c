/* See stall_lengths.h. */
#include "observe/stall_lengths.h"

#include "base/alloc.h"

#include <math.h>
#include <stdlib.h>

void as_stall_note_slowly(struct as_stall_lengths *stalls, uint32_t insn, uint64_t cycles, uint64_t times)
{
    if (cycles < AS_STALL_SHORT)
        stalls->below[cycles] += times;
    else
        *as_map_put(&stalls->others, cycles) += times;
    stalls->longest = cycles > stalls->longest ? cycles : stalls->longest;
    *as_map_put(&stalls->long_by_insn, insn) += cycles * times;
}

void as_stall_free(struct as_stall_lengths *stalls)
{
    as_map_free(&stalls->others);
    as_map_free(&stalls->long_by_insn);
}

static int compare_slots(const void *a, const void *b)
{
    const struct as_map_slot *left = a, *right = b;
    return (left->key > right->key) - (left->key < right->key);
}

/* The length of number `rank`, counted from 1, of those that are not short. */
static uint64_t length_of(const struct as_map *lengths, uint64_t rank)
{
    struct as_map_slot *sorted = as_alloc_array(lengths->len, sizeof *sorted);
    size_t n = 0, at = 0;
    for (size_t i = 0; i < lengths->cap; i++)
        if (lengths->slots[i].used)
            sorted[n++] = lengths->slots[i];
    qsort(sorted, n, sizeof *sorted, compare_slots);
    while (at + 1 < n && rank > sorted[at].value)
        rank -= sorted[at++].value;
    uint64_t length = n > 0 ? sorted[at].key : 0;
    free(sorted);
    return length;
}

uint64_t as_stall_quantile(const struct as_stall_lengths *stalls, double part)
{
    uint64_t rank = (uint64_t)ceil(part * (double)stalls->n);
    if (stalls->n == 0)
        return 0;
    rank = rank == 0 ? 1 : rank > stalls->n ? stalls->n : rank;
    for (uint64_t length = 0; length < AS_STALL_SHORT; length++) {
        if (rank <= stalls->below[length])
            return length;
        rank -= stalls->below[length];
    }
    return length_of(&stalls->others, rank);
}
