/* The LRU stack of one thread, or of one shared cache: for each touch of a granule how far back its last use lies, in
 * accesses and in distinct granules.
 *
 * An invalidated granule leaves a hole in the stack, as it leaves an empty way in a cache. A touch that finds its
 * granule deeper than the topmost hole, or not at all, fills that hole: what lies below it does not sink. With that, a
 * fully associative LRU cache of n granules misses exactly where the distance is n or more, invalidations included,
 * for every n at once. Without invalidations the distance is the number of distinct granules in between; with `distinct`
 * it is that in any case, and invalidated granules keep their place.
 *
 * One thread owns a stack. */
#ifndef AS_REUSE_LRU_STACK_H
#define AS_REUSE_LRU_STACK_H

#include "reuse/granules.h"
#include "reuse/slot_moves.h"

/* The last use of a granule. */
struct as_use {
    uint32_t slot; /* 0: none */
    uint32_t code; /* who: whatever the caller passed */
    uint64_t time : 38, offset : 12, thread : 12, write : 1;
    uint64_t invalid : 1; /* it was invalidated since */
};

/* The same access again and again, each time right behind the bytes of the time before and in the same granule, as repeated string
 * instructions make them, is two touches: the first one, and one of 0 bytes for all the others. */
struct as_touch {
    uint64_t key;         /* the granule */
    uint32_t code;        /* of 0 bytes: how many others; `offset` is that of the last */
    uint16_t bytes;       /* of the granule that are accessed */
    uint16_t offset : 12; /* of the first of them */
    uint16_t write : 1;
    uint16_t first : 1;      /* the first granule of an access: a new access begins */
    uint16_t invalidate : 1; /* no touch: another thread's store invalidates the granule */
    uint16_t missed : 1;     /* the private caches did not have it */
};

enum as_touch_kind { AS_TOUCH_COLD, AS_TOUCH_INVALIDATED, AS_TOUCH_REUSE };

struct as_touched {
    enum as_touch_kind kind;
    uint32_t distance;  /* of a reuse: granules in between … */
    uint64_t time;      /* … and accesses in between */
    struct as_use last; /* the use before, unless this is the first */
};

struct as_lru_stack {
    struct as_granules uses; /* struct as_use */
    struct as_slot_order order;
    AS_VEC(uint32_t) holes; /* a heap, the greatest slot first */
    uint64_t granules;      /* distinct ones so far */
    bool distinct;          /* no holes */
};

void as_lru_stack_init(struct as_lru_stack *stack);
void as_lru_stack_free(struct as_lru_stack *stack);
uint64_t as_lru_stack_bytes(const struct as_lru_stack *stack);

/* Returns whether the granule was there. */
bool as_lru_stack_invalidate(struct as_lru_stack *stack, uint64_t key);
/* A stack of its own that is the same. */
void as_lru_stack_copy(struct as_lru_stack *to, struct as_lru_stack *from);
/* Forgets a granule that is there as if it had never been touched. */
void as_lru_stack_forget(struct as_lru_stack *stack, struct as_use *use);

static inline struct as_use *as_lru_stack_use(struct as_lru_stack *stack, uint64_t key)
{
    return as_granules_put(&stack->uses, key);
}

/* When the slots run out: more of them, or new numbers for all. */
void as_lru_stack_squeeze(struct as_lru_stack *stack);
/* Moves a granule from `slot` (0: it has none) to the top where holes may be in the way. */
struct as_slot_moved as_lru_stack_place(struct as_lru_stack *stack, uint32_t slot, bool reuse);

/* Field by field into registers, then two whole words: GCC makes the record on the stack piece by piece otherwise, and waits for it. */
static inline void as_use_write(struct as_use *use, uint32_t slot, const struct as_touch *touch, uint32_t thread,
                                uint64_t now)
{
    enum { OFFSET = 38, THREAD = 50, WRITE = 62 };
    uint64_t words[2] = {slot | (uint64_t)touch->code << 32,
                         (now & ((UINT64_C(1) << OFFSET) - 1)) | (uint64_t)touch->offset << OFFSET |
                             (uint64_t)(thread & 0xfff) << THREAD | (uint64_t)touch->write << WRITE};
    _Static_assert(sizeof words == sizeof *use, "two words");
    uint64_t *to = (uint64_t *)__builtin_assume_aligned(use, 8);
    memcpy(to, &words[0], sizeof *to);
    memcpy(to + 1, &words[1], sizeof *to);
}

/* `use` is the granule's record (as_lru_stack_use), `thread` up to 4095, `now` the number of accesses before this one. The result is
 * written in place: GCC copies a returned one by vectors, which wait for the members that were just stored. */
static AS_FAST_PART void as_lru_stack_touch(struct as_lru_stack *stack, struct as_use *use,
                                            const struct as_touch *touch, uint32_t thread, uint64_t now,
                                            struct as_touched *touched)
{
    touched->last = *use;
    touched->kind = AS_TOUCH_COLD;
    touched->time = 0;
    struct as_slot_moved moved = {.slot = use->slot};
    bool reuse = moved.slot && !use->invalid;
    if (reuse) {
        touched->kind = AS_TOUCH_REUSE;
        touched->time = now - use->time - 1;
    } else if (use->invalid) {
        touched->kind = AS_TOUCH_INVALIDATED;
    } else {
        stack->granules++;
    }
    if (!reuse || moved.slot != stack->order.top) { /* else it is on top already */
        if (__builtin_expect(as_slot_order_full(&stack->order), 0))
            as_lru_stack_squeeze(stack);
        if (__builtin_expect(stack->holes.len > 0, 0) || (!reuse && moved.slot))
            moved = as_lru_stack_place(stack, use->slot, reuse);
        else if (reuse)
            moved = as_slot_order_renew(&stack->order, use->slot);
        else
            moved.slot = as_slot_order_begin(&stack->order);
    }
    touched->distance = moved.behind;
    as_use_write(use, moved.slot, touch, thread, now);
}

#endif
