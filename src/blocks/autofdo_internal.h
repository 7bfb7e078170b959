/* The tree that autofdo.c makes and autofdo_write.c writes. */
#ifndef AS_BLOCKS_AUTOFDO_INTERNAL_H
#define AS_BLOCKS_AUTOFDO_INTERNAL_H

#include "base/map.h"
#include "blocks/autofdo.h"

struct as_autofdo_target {
    uint32_t name;
    uint64_t count;
};

/* A block with instructions of a line, of which the compiler says that it made `copies`: it unrolled or vectorised a loop. */
struct as_autofdo_run {
    uint32_t block, copies;
    uint32_t loop; /* the header of the innermost one that it is in */
    uint64_t count;
};

struct as_autofdo_line {
    uint32_t offset, discriminator;
    uint64_t count;
    AS_VEC(struct as_autofdo_run) runs;       /* until the count is known */
    AS_VEC(struct as_autofdo_target) targets; /* what calls there went to */
};

struct as_autofdo_child {
    uint32_t offset, discriminator, node;
};

/* A function, or one that was inlined into its parent. */
struct as_autofdo_node {
    uint32_t name;
    bool inlined;
    uint64_t head, total; /* head: how often it was called */
    AS_VEC(struct as_autofdo_line) lines;
    AS_VEC(struct as_autofdo_child) children;
};

struct as_autofdo {
    struct as_strings *names;
    AS_VEC(struct as_autofdo_node) nodes;
    AS_VEC(uint32_t) functions; /* nodes that are not inlined and ran, largest total first */
    bool discriminators;
};

#endif
