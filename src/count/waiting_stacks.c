/* See waiting_stacks.h. */
#include "count/waiting_stacks.h"

void as_stacks_free(struct as_stacks *stacks)
{
    for (size_t i = 0; i < stacks->list.len; i++)
        as_callpath_free(stacks->list.data[i].path);
    as_vec_free(&stacks->list);
}

static struct as_callpath *take(struct as_stacks *stacks, size_t index)
{
    struct as_stack *list = stacks->list.data;
    struct as_callpath *path = list[index].path;
    stacks->list.len--;
    memmove(&list[index], &list[index + 1], (stacks->list.len - index) * sizeof *list);
    return path;
}

void as_stacks_put(struct as_stacks *stacks, struct as_stack_owner owner, struct as_callpath *path)
{
    if (stacks->list.len == AS_STACKS_MAX)
        as_callpath_free(take(stacks, 0));
    *as_vec_push(&stacks->list) = (struct as_stack){.owner = owner, .path = path};
}

static bool is_owned(const struct as_stack *stack, struct as_stack_owner owner)
{
    return stack->owner.process == owner.process && stack->owner.image == owner.image;
}

/* The one left last first: a stack that is used again by another coroutine has had an older path. */
struct as_callpath *as_stacks_take_frame(struct as_stacks *stacks, struct as_stack_owner owner, uint64_t target,
                                         uint64_t slot)
{
    for (size_t i = stacks->list.len; i-- > 0;)
        if (is_owned(&stacks->list.data[i], owner) && as_callpath_unwind_to(stacks->list.data[i].path, target, slot))
            return take(stacks, i);
    return NULL;
}

uint64_t as_stack_distance(struct as_callpath *path, const struct as_stack_target *place)
{
    enum { FRAME = 512 }; /* a function that goes on has not moved its stack pointer by more, when it first uses it */
    uint64_t slot =
        place->is_function ? as_callpath_slot_of(path, place->address) : as_callpath_slot_to(path, place->address);
    if (!slot || !place->pointer)
        return slot ? 0 : UINT64_MAX;
    uint64_t distance = slot > place->pointer ? slot - place->pointer : place->pointer - slot;
    return place->is_function || distance < FRAME ? distance : UINT64_MAX;
}

uint64_t as_stack_room(const struct as_callpath *path, const struct as_stack_target *place)
{
    enum { LARGEST = 8 << 20 };
    uint64_t base = as_callpath_base(path), room = base - place->pointer;
    return base && as_callpath_is_partial(path) == place->partial && room < LARGEST ? room : UINT64_MAX;
}

struct as_callpath *as_stacks_take_around(struct as_stacks *stacks, struct as_stack_owner owner,
                                          const struct as_stack_target *place, uint64_t *below)
{
    size_t found = SIZE_MAX;
    for (size_t i = stacks->list.len; i-- > 0;) {
        const struct as_stack *stack = &stacks->list.data[i];
        uint64_t room = is_owned(stack, owner) ? as_stack_room(stack->path, place) : UINT64_MAX;
        if (room >= *below)
            continue;
        *below = room;
        found = i;
    }
    if (found == SIZE_MAX || !as_callpath_has_function(stacks->list.data[found].path, place->pointer, place->address))
        return NULL;
    return take(stacks, found);
}

struct as_callpath *as_stacks_take_near(struct as_stacks *stacks, struct as_stack_owner owner,
                                        const struct as_stack_target *place, uint64_t below)
{
    size_t found = SIZE_MAX;
    for (size_t i = 0; i < stacks->list.len; i++) {
        size_t index = place->is_function ? stacks->list.len - 1 - i : i;
        const struct as_stack *stack = &stacks->list.data[index];
        uint64_t distance = is_owned(stack, owner) ? as_stack_distance(stack->path, place) : UINT64_MAX;
        if (distance >= below)
            continue;
        below = distance;
        found = index;
    }
    return found == SIZE_MAX ? NULL : take(stacks, found);
}

uint32_t as_stacks_guess(struct as_stacks *stacks, struct as_stack_owner owner, uint64_t target, uint64_t function)
{
    uint32_t node = 0;
    for (size_t i = 0; i < stacks->list.len && !node; i++)
        if (is_owned(&stacks->list.data[i], owner))
            node = as_callpath_node_at(stacks->list.data[i].path, target, function);
    return node;
}

bool as_stacks_have_return(const struct as_stacks *stacks, struct as_stack_owner owner, uint64_t target)
{
    for (size_t i = 0; i < stacks->list.len; i++)
        if (is_owned(&stacks->list.data[i], owner) && as_callpath_slot_to(stacks->list.data[i].path, target))
            return true;
    return false;
}

void as_stacks_drop(struct as_stacks *stacks, struct as_stack_owner owner, uint64_t slot)
{
    for (size_t i = stacks->list.len; i-- > 0;)
        if (is_owned(&stacks->list.data[i], owner) && as_callpath_base(stacks->list.data[i].path) == slot)
            as_callpath_free(take(stacks, i));
}
