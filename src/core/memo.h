/* What the pipeline did, remembered: blocks that come again in a state that was there before, and get the same answers
 * of caches, TLBs and predictor, take the same times. doc/design/memo.md has the reasons and the figures.
 *
 * A node is a block and the state of the core before it (core_state.h). From it lead edges, one for each sequence of
 * answers; an edge holds the times of the block's instructions, counted from the last dispatch before it, and the node
 * that follows. While a core walks along edges its own pipeline stands still; it is brought up to date where no edge
 * fits. One memo serves all cores of a run.
 *
 * It holds what fits into its bytes. When they are used up nothing is added any more, and the caller, who knows who else
 * reads edges, drops all of it; it is then filled anew with what is needed now.
 */
#ifndef AS_CORE_MEMO_H
#define AS_CORE_MEMO_H

#include "assay/edge.h"
#include "base/error.h"
#include "core/core.h"

/* Instructions that are executed together: a block, the part of one that was executed, or a chain of blocks. It is one
 * piece of memory, in which all that the pipeline reads comes first. */
struct as_body {
    uint32_t n, n_blocks;
    uint64_t address; /* of the first */
    const struct as_insn **insns;
    struct as_recipe *recipes; /* one behind the other */
    uint32_t *ideals;          /* of each: see as_op; NULL: none has any */
    /* What the instructions access, in order: instructions and kinds alone. Number first_access[i] is the first of
     * instruction i; there are n + 1 of them. */
    uint32_t *first_access, n_accesses;
    uint32_t stores;                             /* micro-operations that take an entry of the store queue … */
    uint32_t uops, loads, int_writes, fp_writes; /* … of the ROB, of the load queue, a physical register */
    uint32_t controls;                           /* instructions that transfer control */
    uint32_t lines;                              /* of the host, from its first on, that the pipeline reads */
    bool continues;                              /* the first is a further iteration of the rep instruction before */
    bool
        *taken; /* chains: whether control left the fall-through path behind an instruction but the last; NULL: never */
    struct as_core_access *shape;
};
enum { AS_BODY_STORES = 64, AS_BODY_ACCESSES = 256 }; /* that a body which is remembered has at most */

/* `ideals` may be NULL. All are copied, but for the instructions. Of `shape`, addresses and sizes say nothing. */
struct as_body *as_body_new(const struct as_machine *machine, const struct as_insn *const *insns, uint32_t n,
                            const uint32_t *ideals, bool continues, const struct as_core_access *shape,
                            uint32_t n_shape);
/* All of `first`, whose last instruction went on with `second`'s first. */
struct as_body *as_body_join(const struct as_machine *machine, const struct as_body *first,
                             const struct as_body *second, bool taken);
void as_body_free(struct as_body *body);

/* An execution of a body. */
struct as_body_run {
    const struct as_body *body;
    const struct as_core_access *accesses; /* as many as in its shape, of the same kinds */
    uint64_t next;                         /* where control went; 0 unknown */
    const uint32_t *foreseen; /* what as_core_foresee said of each of its control transfers; NULL: the core predicts */
    bool taken;
    const struct as_body *then; /* what will come next, for the host to fetch; NULL: not known */
};

struct as_memo_options {
    size_t bytes; /* to use at most, with what observers keep for each edge, about. 0: no memo */
    bool checks;  /* the pipeline runs too, and must come to the same */
    bool eager;   /* remembers all that it can, whether that pays or not: for tests */
};
#define AS_MEMO_BYTES ((size_t)512 << 20) /* unless told otherwise */

struct as_memo;
struct as_memo *as_memo_new(const struct as_memo_options *options);
void as_memo_free(struct as_memo *memo); /* after its cores */
/* False: a check found a difference, which `err` names; the cores have done nothing since then. */
bool as_memo_check(const struct as_memo *memo, struct as_error *err) AS_MUST_CHECK;

/* Between blocks. Dropping brings all cores up to date first. Only a block that went along no edge can have filled it. */
bool as_memo_is_full(const struct as_memo *memo);
void as_memo_drop(struct as_memo *memo);

struct as_memo_counters {
    uint64_t blocks, instructions;             /* that were run */
    uint64_t known_blocks, known_instructions; /* … along an edge */
    uint64_t nodes, edges, bytes;              /* now */
    uint64_t made_nodes, made_edges;           /* in all */
    uint64_t restored, drops;                  /* times that a pipeline was brought up to date; all was dropped */
};
void as_memo_count(const struct as_memo *memo, struct as_memo_counters *counters);

/* Before the core's first block. */
void as_core_set_memo(struct as_core *core, struct as_memo *memo);
/* Executes all of a body. Returns the edge that it went along, whose cycles count from *base; NULL: there is none, and
 * `pipes` has the records, but for path and thread. With a memo or without one: the same times. */
const struct as_edge *as_core_run(struct as_core *core, const struct as_body_run *run, struct as_pipe *pipes,
                                  uint64_t *base);

#endif
