/* What lies at an address of a program, by name: a global, a block of its allocator by the place that allocated it (where the agent
 * runs in it), a stack by thread, the heap or a mapping, memory that processes share. One way to name data for all analyses of
 * addresses. */
#ifndef AS_MODEL_GUEST_OBJECTS_H
#define AS_MODEL_GUEST_OBJECTS_H

#include "model/guest_memory.h"

enum as_guest_kind {
    AS_GUEST_GLOBAL,
    AS_GUEST_BLOCKS, /* of one place that allocates */
    AS_GUEST_HEAP,   /* the break, and what of it is of no block that is known */
    AS_GUEST_MAPPING,
    AS_GUEST_SHARED, /* between processes */
    AS_GUEST_STACK,
    AS_GUEST_UNKNOWN,
    AS_GUEST_KINDS
};
extern const char *const as_guest_kinds[AS_GUEST_KINDS];

struct as_guest_object {
    enum as_guest_kind kind;
    uint32_t process, site; /* site: AS_GUEST_BLOCKS */
    char *name;             /* "matrix", "blocks of load at main.c:12", "stack of thread 2" */
    char *module;           /* "" where there is none */
    uint64_t start, end;    /* 0 where it is not one piece */
};

struct as_guest_stack {
    uint32_t thread, process;
    uint64_t start, end; /* 0: unknown */
};

/* Where to look. A program in the model has a `memory` with regions and blocks; of one on the machine there are regions, and
 * in `blocks` the blocks where the agent saw them. */
struct as_guest_lookup {
    struct as_guest_memory *memory, *blocks;
    const struct as_guest_region *regions;
    size_t n_regions;
    const struct as_guest_stack *stacks;
    size_t n_stacks;
};

/* `space`: of the process, for globals; NULL: unknown. */
void as_guest_object_find(struct as_guest_object *object, const struct as_guest_lookup *lookup, struct as_space *space,
                          uint32_t process, uint64_t address);
void as_guest_object_free(struct as_guest_object *object);
/* Equal for the same object. The caller frees. */
char *as_guest_object_key(const struct as_guest_object *object);

#endif
