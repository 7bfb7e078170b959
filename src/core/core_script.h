/* What the core asks while it runs a block: the caches, TLBs and the predictor, and its own list of stores, whose
 * addresses are data. All else is arithmetic on its state, so that the state and the answers decide every time of the
 * block (doc/design/memo.md).
 *
 * A script is there while a block is run for the memo. Answers are first taken from it: those of a run that is done
 * again. From where they end, the core asks, and the script notes what. A block that meets something rare (a page
 * fault, a load that passed a store or that a store covers in part) is run but not remembered: it is spoiled.
 */
#ifndef AS_CORE_CORE_SCRIPT_H
#define AS_CORE_CORE_SCRIPT_H

#include "core/core.h"

enum as_ask_kind {
    AS_ASK_END,       /* no more of the block: behind it lies the edge */
    AS_ASK_FETCH,     /* a line of code */
    AS_ASK_WAITS,     /* whether a load was caught passing a store before */
    AS_ASK_LOAD,      /* a store that has not drained, or the cache */
    AS_ASK_TRANSLATE, /* a store that has its address */
    AS_ASK_ACCESS,    /* the cache alone: atomics, prefetches, line flushes */
    AS_ASK_DRAIN,     /* the oldest store that has committed writes its line */
    AS_ASK_PUT_OFF,   /* no question: a store commits and waits for its drain */
    AS_ASK_PREDICT,
    AS_ASK_IDEAL, /* no question: events that do not happen from here on. Only questions that are kept have it */
};

/* The answer of a prediction. */
enum as_ask_prediction {
    AS_PREDICT_TAKEN = 1 << 0,
    AS_PREDICT_WRONG = 1 << 1,
    AS_PREDICT_BTB_MISS = 1 << 2,
    AS_PREDICT_FAST = 1 << 3,
    AS_PREDICT_NONE = 1 << 4, /* where control went is not known: nobody was asked */
};

/* Cycles count from the last dispatch before the block. */
struct as_ask {
    uint8_t kind; /* enum as_ask_kind */
    uint8_t
        memory; /* ACCESS: enum as_memory_kind. PREDICT: whether it was taken, where it is not the last instruction */
    bool flag;  /* DRAIN, PUT_OFF: it writes something. PREDICT: the block's last instruction. FETCH: the second line */
    uint16_t access; /* LOAD, TRANSLATE, ACCESS, PUT_OFF: the number of the access in the block. FETCH, PREDICT: of the
                        instruction */
    uint16_t slot;   /* WAITS: its place in the table */
    uint32_t ideal;  /* events that do not happen to the instruction at hand */
    int32_t cycle;   /* for when it asks; PUT_OFF: its commit */
    int32_t done;    /* the answer; PREDICT: instructions on the wrong path; PUT_OFF: its dispatch */
    uint32_t events; /* … met on the way; DRAIN: COHERENCE alone; WAITS: whether; PREDICT: enum as_ask_prediction */
    union {
        int32_t data;  /* TRANSLATE: the data is there, but for the translation */
        uint32_t most; /* PREDICT: instructions that a wrong path can have */
        uint32_t back; /* PUT_OFF: stores of the same instruction before it */
    };
    uint32_t id; /* PUT_OFF: as_insn.id */
};

/* A question as it is kept. A walk reads one after the other, most of them from the host's second-level cache or from
 * further away, so they are small: four of them are a line of it. */
struct as_question {
    uint8_t kind : 4, flag : 1, memory : 3;
    uint8_t access; /* FETCH: lines from the body's first one on, + AS_QUESTION_NEAR */
    int16_t cycle;  /* PREDICT: as_ask.most */
    int16_t done;
    union {
        int16_t data;
        uint16_t number; /* FETCH, PREDICT: as_ask.access. WAITS: slot. PUT_OFF: back */
    };
    uint32_t events; /* PUT_OFF: id. IDEAL: which */
    uint32_t other;  /* the same question with another answer; END: the edge (as_memo_at). 0: none */
};

enum { AS_QUESTION_NEAR = 127, AS_QUESTION_FAR = 255 }; /* FAR: a line that is further away */

#define AS_ASK_FAULT (1u << 31) /* among the events of an answer: the page is not there yet */

enum { AS_SCRIPT_ASKS = 1024 }; /* of one block, at most */

struct as_script {
    uint64_t base; /* the last dispatch before the block */
    const struct as_core_access *accesses;
    struct as_question *const *given;
    uint32_t n_given, at;
    struct as_ask taken; /* the last of them that was taken */
    bool answered;       /* behind the given ones: `answer` is that of a question that has been asked already */
    bool spoiled;        /* not to be remembered */
    bool checks;         /* whether the questions are those that were asked before */
    bool differs;        /* … they are not: `given[at - 1]` was not to come, or in another cycle … */
    uint64_t came;       /* … in this one */
    struct as_ask answer;
    uint64_t target; /* of the prediction that is the answer */
    uint32_t n;
    struct as_ask asks[AS_SCRIPT_ASKS + 1]; /* those that were not given; the last is for those without room */
};

/* The answer that the script has for the next question; NULL: it has to be asked. */
const struct as_ask *as_script_next(struct as_script *script, enum as_ask_kind kind, uint64_t cycle);
/* Notes a question, asked for `cycle`; the caller fills in the rest, of which the answer's time is as_script_note_answer's.
 * (In place: to copy what has just been written in small words, the host has to wait until they are in its cache.) */
struct as_ask *as_script_note(struct as_script *script, enum as_ask_kind kind, uint32_t ideal, uint64_t cycle);
struct as_ask *as_script_note_answer(struct as_script *script, enum as_ask_kind kind, uint32_t ideal, uint64_t cycle,
                                     uint64_t done);

/* False: it does not fit, and is not worth it: something waited for a very long time. */
bool as_question_pack(const struct as_ask *ask, struct as_question *question);
void as_question_unpack(const struct as_question *question, uint32_t ideal, struct as_ask *ask);
/* Starts to take the first `n` of the questions in `given`. */
void as_script_give(struct as_script *script, struct as_question *const *given, uint32_t n);

static inline uint64_t as_script_done(const struct as_script *script, const struct as_ask *ask)
{
    return script->base + (uint64_t)(int64_t)ask->done;
}

#endif
