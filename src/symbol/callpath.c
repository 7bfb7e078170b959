/* The shadow stack of a thread. Most returns match the top frame. For the others, `filter` counts the frames on the
 * stack by a hash of their return address, so a return to an address that no frame has is recognised at once. A search
 * nearly always ends by popping the frames that it passed, so the pushes have already paid for it. */
#include "symbol/callpath.h"

#include "base/vec.h"
#include "symbol/calltree.h"

enum { FILTER = 1024, MAX_SEARCH = 65536 };

struct frame {
    uint64_t return_address; /* of a signal frame: what it interrupted */
    uint64_t call_site;
    uint64_t slot;   /* where the return address lies; 0: unknown */
    uint64_t callee; /* the slot of its last call; 0: unknown */
    uint32_t node;
    uint32_t site; /* as_call_node.site */
    bool signal;
};

struct as_callpath {
    struct as_call_tree *tree;
    AS_VEC(struct frame) frames; /* [0]: the thread's entry; never empty */
    uint64_t base;               /* the highest slot of calls by the entry; 0: unknown */
    bool partial;
    uint32_t filter[FILTER];
};

static size_t filter_index(uint64_t return_address)
{
    return (return_address * 0x9e3779b97f4a7c15) >> 54;
}

static uint32_t *filter_of(struct as_callpath *path, uint64_t return_address)
{
    return &path->filter[filter_index(return_address)];
}

static struct frame *top(const struct as_callpath *path)
{
    return &path->frames.data[path->frames.len - 1];
}

struct as_callpath *as_callpath_new(struct as_call_tree *tree, uint64_t entry)
{
    struct as_callpath *path = as_alloc(sizeof *path);
    path->tree = tree;
    *as_vec_push(&path->frames) =
        (struct frame){.node = as_call_tree_child(tree, &(struct as_call_node){.function = entry})};
    return path;
}

struct as_callpath *as_callpath_fork(const struct as_callpath *path)
{
    struct as_callpath *copy = as_alloc(sizeof *copy);
    *copy = *path;
    copy->frames.data = as_alloc_array(path->frames.len, sizeof *path->frames.data);
    copy->frames.cap = path->frames.len;
    memcpy(copy->frames.data, path->frames.data, path->frames.len * sizeof *path->frames.data);
    return copy;
}

void as_callpath_free(struct as_callpath *path)
{
    if (path == NULL)
        return;
    as_vec_free(&path->frames);
    free(path);
}

uint32_t as_callpath_node(const struct as_callpath *path)
{
    return top(path)->node;
}

size_t as_callpath_depth(const struct as_callpath *path)
{
    return path->frames.len;
}

/* Leaves `len` frames, at least the first. */
static void pop_to(struct as_callpath *path, size_t len)
{
    while (path->frames.len > len) {
        const struct frame *frame = top(path);
        if (!frame->signal)
            --*filter_of(path, frame->return_address);
        path->frames.len--;
    }
}

/* A stack that only grows (frames that nothing ever returns to) forgets its older half, but not the entry. */
static void forget_half(struct as_callpath *path)
{
    size_t drop = path->frames.len / 2;
    for (size_t i = 1; i <= drop; i++)
        if (!path->frames.data[i].signal)
            --*filter_of(path, path->frames.data[i].return_address);
    path->frames.len -= drop;
    memmove(&path->frames.data[1], &path->frames.data[1 + drop], (path->frames.len - 1) * sizeof *path->frames.data);
}

static void push(struct as_callpath *path, const struct frame *frame)
{
    if (path->frames.len == AS_CALLPATH_MAX_FRAMES)
        forget_half(path);
    *as_vec_push(&path->frames) = *frame;
    if (!frame->signal)
        ++*filter_of(path, frame->return_address);
}

void as_callpath_call_from(struct as_callpath *path, uint32_t site, uint64_t call_site, uint64_t return_address,
                           uint64_t target)
{
    if (target == return_address)
        return;
    struct frame frame = {.return_address = return_address, .call_site = call_site, .site = site};
    frame.node = as_call_tree_child(
        path->tree,
        &(struct as_call_node){.parent = top(path)->node, .function = target, .call_site = call_site, .site = site});
    push(path, &frame);
}

void as_callpath_call(struct as_callpath *path, uint64_t call_site, uint64_t return_address, uint64_t target)
{
    as_callpath_call_from(path, 0, call_site, return_address, target);
}

/* Puts another function in the place of the top one. */
static void replace_top(struct as_callpath *path, uint64_t function, uint32_t entry)
{
    struct frame *frame = top(path);
    frame->node = as_call_tree_instead(path->tree, frame->node,
                                       &(struct as_call_node){.parent = path->frames.len > 1 ? frame[-1].node : 0,
                                                              .function = function,
                                                              .call_site = frame->call_site,
                                                              .signal = frame->signal,
                                                              .entry = entry,
                                                              .site = frame->site});
}

void as_callpath_tail(struct as_callpath *path, uint64_t target)
{
    replace_top(path, target, 0);
}

void as_callpath_enter(struct as_callpath *path, uint64_t address, uint32_t entry)
{
    const struct as_call_node *node = as_call_tree_node(path->tree, top(path)->node);
    if (node->function == address && node->entry != entry)
        replace_top(path, address, entry);
}

static size_t find_function(const struct as_callpath *path, uint64_t function)
{
    size_t lowest = path->frames.len > MAX_SEARCH ? path->frames.len - MAX_SEARCH : 0;
    for (size_t i = path->frames.len; i-- > lowest;)
        if (as_call_tree_node(path->tree, path->frames.data[i].node)->function == function)
            return i;
    return SIZE_MAX;
}

void as_callpath_land(struct as_callpath *path, uint64_t function)
{
    size_t found = find_function(path, function);
    if (found == SIZE_MAX)
        as_callpath_tail(path, function);
    else
        pop_to(path, found + 1);
}

/* The index of the nearest frame that returns to `target`; 0: none. */
static size_t find_return(const struct as_callpath *path, uint64_t target)
{
    size_t i = path->frames.len - 1;
    if (i > 0 && path->frames.data[i].return_address == target && !path->frames.data[i].signal)
        return i;
    if (path->filter[filter_index(target)] == 0)
        return 0;
    for (size_t searched = 0; i > 0 && searched < MAX_SEARCH; i--, searched++)
        if (path->frames.data[i].return_address == target && !path->frames.data[i].signal)
            return i;
    return 0;
}

void as_callpath_return(struct as_callpath *path, uint64_t target)
{
    size_t found = find_return(path, target);
    if (found > 0) {
        pop_to(path, found);
        return;
    }
    uint64_t function = as_call_tree_function_of(path->tree, target);
    if (function == target)
        as_callpath_tail(path, target);
    else
        as_callpath_land(path, function);
}

void as_callpath_set_slot(struct as_callpath *path, uint64_t slot)
{
    if (path->frames.len > 1) {
        top(path)->slot = slot;
        top(path)[-1].callee = slot;
    }
    if (path->frames.len == 2 && slot > path->base)
        path->base = slot;
}

/* The index of the nearest frame that returns to `target` through `slot`; 0: none. */
static size_t find_frame(const struct as_callpath *path, uint64_t target, uint64_t slot, bool exact)
{
    size_t i = path->frames.len - 1;
    if (i == 0 || path->filter[filter_index(target)] == 0)
        return 0;
    for (size_t searched = 0; i > 0 && searched < MAX_SEARCH; i--, searched++) {
        const struct frame *frame = &path->frames.data[i];
        if (frame->return_address == target && !frame->signal && (frame->slot == slot || !(frame->slot || exact)))
            return i;
    }
    return 0;
}

bool as_callpath_return_through(struct as_callpath *path, uint64_t target, uint64_t slot, bool exact)
{
    size_t found = find_frame(path, target, slot, exact);
    if (found)
        pop_to(path, found);
    return found;
}

bool as_callpath_has_return(const struct as_callpath *path, uint64_t target, uint64_t slot)
{
    return find_frame(path, target, slot, true);
}

bool as_callpath_unwind_to(struct as_callpath *path, uint64_t target, uint64_t slot)
{
    size_t found = find_frame(path, target, slot, true);
    if (found)
        pop_to(path, found + 1);
    return found;
}

void as_callpath_move(struct as_callpath *path, uint64_t distance)
{
    if (path->frames.len > AS_CALLPATH_MAX_DEPTH) /* a bound on what one return costs */
        return;
    for (size_t i = 1; i < path->frames.len; i++)
        path->frames.data[i].slot += path->frames.data[i].slot ? distance : 0;
    for (size_t i = 0; i < path->frames.len; i++)
        path->frames.data[i].callee += path->frames.data[i].callee ? distance : 0;
    path->base += path->base ? distance : 0;
}

void as_callpath_return_moved(struct as_callpath *path, uint64_t target, uint64_t slot)
{
    const struct frame *last = top(path);
    if (slot && last->slot && !last->signal && last->return_address == target)
        as_callpath_move(path, slot - last->slot);
    as_callpath_return(path, target);
}

uint64_t as_callpath_slot_to(const struct as_callpath *path, uint64_t target)
{
    size_t found = find_return(path, target);
    return found ? path->frames.data[found].slot : 0;
}

size_t as_callpath_calls_since(const struct as_callpath *path, uint64_t target)
{
    size_t found = find_return(path, target);
    return found ? path->frames.len - found : 0;
}

uint64_t as_callpath_slot_of(const struct as_callpath *path, uint64_t function)
{
    size_t found = find_function(path, function);
    return found == SIZE_MAX ? 0 : path->frames.data[found].slot;
}

uint64_t as_callpath_top_slot(const struct as_callpath *path)
{
    return top(path)->signal ? 0 : top(path)->slot;
}

bool as_callpath_in_handler(const struct as_callpath *path)
{
    return top(path)->signal;
}

void as_callpath_set_partial(struct as_callpath *path)
{
    path->partial = true;
}

bool as_callpath_is_partial(const struct as_callpath *path)
{
    return path->partial;
}

uint64_t as_callpath_base(const struct as_callpath *path)
{
    return path->base;
}

/* How many frames a stack with this pointer has. */
static size_t frames_above(const struct as_callpath *path, uint64_t pointer)
{
    size_t i = 1;
    while (i < path->frames.len && path->frames.data[i].slot >= pointer)
        i++;
    return i;
}

/* Whether a function can have this stack pointer in a frame: the one of its last call, nearly. */
static bool fits(const struct frame *frame, uint64_t pointer)
{
    enum { PUSHED = 256, FRAME = 1024 };
    return frame->callee ? frame->callee + PUSHED - pointer <= 2 * PUSHED : frame->slot - pointer < FRAME;
}

/* The number of frames up to the nearest of `function` among them; 0: there is none. */
static size_t frames_to(const struct as_callpath *path, uint64_t pointer, uint64_t function)
{
    for (size_t n = frames_above(path, pointer); n > 0; n--)
        if (fits(&path->frames.data[n - 1], pointer) &&
            as_call_tree_node(path->tree, path->frames.data[n - 1].node)->function == function)
            return n;
    return 0;
}

bool as_callpath_has_function(const struct as_callpath *path, uint64_t pointer, uint64_t function)
{
    return frames_to(path, pointer, function);
}

void as_callpath_resume(struct as_callpath *path, uint64_t pointer, uint64_t function)
{
    size_t n = frames_to(path, pointer, function);
    if (n)
        pop_to(path, n);
}

uint32_t as_callpath_node_at(const struct as_callpath *path, uint64_t target, uint64_t function)
{
    size_t to = find_return(path, target), of = to ? to - 1 : find_function(path, function);
    return of == SIZE_MAX ? 0 : path->frames.data[of].node;
}

void as_callpath_signal(struct as_callpath *path, uint64_t handler, uint64_t interrupted)
{
    struct frame frame = {.return_address = interrupted, .signal = true};
    frame.node = as_call_tree_child(
        path->tree, &(struct as_call_node){.parent = top(path)->node, .function = handler, .signal = true});
    push(path, &frame);
}

uint64_t as_callpath_sigreturn(struct as_callpath *path)
{
    for (size_t i = path->frames.len; i-- > 1;) {
        if (!path->frames.data[i].signal)
            continue;
        uint64_t interrupted = path->frames.data[i].return_address;
        pop_to(path, i);
        return interrupted;
    }
    return 0;
}
