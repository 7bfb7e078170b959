/* The next accesses of a stopped process (native/lookahead.h), as far as reuse is concerned: a use, and what becomes of it, if
 * that is near enough; and places that the thread will come to after a known number of accesses, by which its speed can be
 * measured when it runs on. All threads go on in turn, an instruction each. */
#ifndef AS_REUSE_REUSE_AHEAD_H
#define AS_REUSE_REUSE_AHEAD_H

#include "lens/lens.h"
#include "native/lookahead.h"
#include "reuse/reuse_rules.h"

enum { AS_AHEAD_THREADS = 32 };

/* The use, or what decides, has been made by a thread of the order, on the copy; `before` is its state before the instruction. */
typedef void as_ahead_moment(void *context, bool is_use, size_t thread, uint64_t insn,
                             const struct as_machine_state *before);

struct as_ahead_order {
    struct as_lookahead_thread *const *threads; /* owner first */
    size_t n;
    bool in_cache;           /* reuse between threads, not in one */
    uint32_t length;         /* of a granule: 1 to 8 bytes */
    uint64_t skip;           /* accesses of the owner before the use */
    uint64_t bound;          /* accesses of the owner behind it, at most */
    uint64_t further;        /* if it is decided, up to so many more of the owner's for `last` alone */
    uint64_t least;          /* if it is not, look on up to so many of the owner's, for places and turns alone */
    as_ahead_moment *moment; /* NULL: nobody asks */
    void *context;
};

/* A place that the owner has not touched before, in the order of its accesses from the start. */
struct as_ahead_mark {
    uint64_t address; /* a multiple of 8; 0: there is none */
    uint64_t index, insn;
};

/* What the owner goes round in: two places that it comes to once in so many accesses, at different times. */
struct as_ahead_turn {
    uint64_t addresses[2]; /* multiples of 8; 0: it goes round in nothing that is as long as this */
    uint64_t accesses;
    uint64_t insn; /* for the caller */
};
enum { AS_AHEAD_LEAST_TURN = 4096 };

struct as_ahead_result {
    bool has_use;
    uint64_t use_address, use_insn, use_index; /* use_index: accesses of the owner before it */
    uint32_t use_size;
    uint8_t use_kind;
    uint32_t touches;              /* of its granule by the owner up to the use, included */
    bool decided;                  /* within the bound; if not, what follows up to end_thread is not known */
    enum as_reuse_outcome outcome; /* NONE: in a cache, the owner came first */
    uint64_t distance;             /* accesses in between: of the owner, or of all threads */
    uint64_t end_insn;
    uint8_t end_kind;
    size_t end_thread;         /* place in `threads` */
    enum as_lookahead_end end; /* what stopped the owner, if anything did */
    uint64_t accesses;         /* that the owner made */
    double density;            /* accesses for an instruction of the owner, where it is now */
    struct as_ahead_mark first, next, last;
    /* Where one instruction goes through memory in equal steps over the second half of what was looked at, `last` is its last
     * place, and this where it will be if it goes on. It is a whole number of `step`s further: bytes and accesses that the instruction
     * goes through memory by. */
    struct as_ahead_mark beyond, step;
    struct as_ahead_turn turn;
};

void as_ahead_look(struct as_lookahead *ahead, const struct as_ahead_order *order, struct as_ahead_result *result);

#endif
