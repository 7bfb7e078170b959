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
    uint64_t slot; /* where the return address lies; 0: unknown */
    uint32_t node;
    bool signal;
};

struct as_callpath {
    struct as_call_tree *tree;
    AS_VEC(struct frame) frames; /* [0]: the thread's entry; never empty */
    uint32_t filter[FILTER];
};

static uint32_t *filter_of(struct as_callpath *path, uint64_t return_address)
{
    return &path->filter[(return_address * 0x9e3779b97f4a7c15) >> 54];
}

static struct frame *top(const struct as_callpath *path)
{
    return &path->frames.data[path->frames.len - 1];
}

struct as_callpath *as_callpath_new(struct as_call_tree *tree, uint64_t entry)
{
    struct as_callpath *path = as_alloc(sizeof *path);
    path->tree = tree;
    *as_vec_push(&path->frames) = (struct frame){.node = as_call_tree_child(tree, 0, entry, 0, false)};
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

void as_callpath_call(struct as_callpath *path, uint64_t call_site, uint64_t return_address, uint64_t target)
{
    if (target == return_address)
        return;
    struct frame frame = {.return_address = return_address, .call_site = call_site};
    frame.node = as_call_tree_child(path->tree, top(path)->node, target, call_site, false);
    push(path, &frame);
}

void as_callpath_tail(struct as_callpath *path, uint64_t target)
{
    struct frame *frame = top(path);
    uint32_t parent = path->frames.len > 1 ? frame[-1].node : 0;
    frame->node = as_call_tree_child(path->tree, parent, target, frame->call_site, frame->signal);
}

void as_callpath_land(struct as_callpath *path, uint64_t function)
{
    size_t lowest = path->frames.len > MAX_SEARCH ? path->frames.len - MAX_SEARCH : 0;
    for (size_t i = path->frames.len; i-- > lowest;) {
        if (as_call_tree_node(path->tree, path->frames.data[i].node)->function == function) {
            pop_to(path, i + 1);
            return;
        }
    }
    as_callpath_tail(path, function);
}

/* The index of the nearest frame that returns to `target`; 0: none. */
static size_t find_return(struct as_callpath *path, uint64_t target)
{
    size_t i = path->frames.len - 1;
    if (i > 0 && path->frames.data[i].return_address == target && !path->frames.data[i].signal)
        return i;
    if (*filter_of(path, target) == 0)
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
    if (path->frames.len > 1)
        top(path)->slot = slot;
}

bool as_callpath_return_through(struct as_callpath *path, uint64_t target, uint64_t slot, bool exact)
{
    size_t i = path->frames.len - 1;
    if (i == 0 || *filter_of(path, target) == 0)
        return false;
    for (size_t searched = 0; i > 0 && searched < MAX_SEARCH; i--, searched++) {
        const struct frame *frame = &path->frames.data[i];
        if (frame->return_address != target || frame->signal || (frame->slot != slot && (frame->slot || exact)))
            continue;
        pop_to(path, i);
        return true;
    }
    return false;
}

uint64_t as_callpath_slot_to(struct as_callpath *path, uint64_t target)
{
    size_t found = find_return(path, target);
    return found ? path->frames.data[found].slot : 0;
}

uint64_t as_callpath_slot_of(const struct as_callpath *path, uint64_t function)
{
    size_t lowest = path->frames.len > MAX_SEARCH ? path->frames.len - MAX_SEARCH : 0;
    for (size_t i = path->frames.len; i-- > lowest;)
        if (as_call_tree_node(path->tree, path->frames.data[i].node)->function == function)
            return path->frames.data[i].slot;
    return 0;
}

uint64_t as_callpath_top_slot(const struct as_callpath *path)
{
    return top(path)->signal ? 0 : top(path)->slot;
}

void as_callpath_signal(struct as_callpath *path, uint64_t handler, uint64_t interrupted)
{
    struct frame frame = {.return_address = interrupted, .signal = true};
    frame.node = as_call_tree_child(path->tree, top(path)->node, handler, 0, true);
    push(path, &frame);
}

void as_callpath_sigreturn(struct as_callpath *path)
{
    for (size_t i = path->frames.len; i-- > 1;) {
        if (path->frames.data[i].signal) {
            pop_to(path, i);
            return;
        }
    }
}
