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
struct as_callpath *as_stacks_take_return(struct as_stacks *stacks, struct as_stack_owner owner, uint64_t target,
                                          uint64_t slot)
{
    for (size_t i = stacks->list.len; i-- > 0;)
        if (is_owned(&stacks->list.data[i], owner) &&
            as_callpath_return_through(stacks->list.data[i].path, target, slot, true))
            return take(stacks, i);
    return NULL;
}

static uint64_t distance(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

struct as_callpath *as_stacks_take_near(struct as_stacks *stacks, struct as_stack_owner owner, uint64_t target,
                                        uint64_t pointer)
{
    uint64_t nearest = UINT64_MAX;
    size_t found = SIZE_MAX;
    for (size_t i = 0; i < stacks->list.len; i++) {
        uint64_t slot =
            is_owned(&stacks->list.data[i], owner) ? as_callpath_slot_to(stacks->list.data[i].path, target) : 0;
        if (!slot || (pointer ? distance(slot, pointer) : 0) >= nearest)
            continue;
        nearest = pointer ? distance(slot, pointer) : 0;
        found = i;
    }
    return found == SIZE_MAX ? NULL : take(stacks, found);
}

struct as_callpath *as_stacks_take_function(struct as_stacks *stacks, struct as_stack_owner owner, uint64_t function)
{
    for (size_t i = stacks->list.len; i-- > 0;)
        if (is_owned(&stacks->list.data[i], owner) && as_callpath_slot_of(stacks->list.data[i].path, function))
            return take(stacks, i);
    return NULL;
}
