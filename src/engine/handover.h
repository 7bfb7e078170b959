/* Which store of another thread a thread saw before it went on. With that, simulated time does not run backwards between
 * threads.
 *
 * Threads are read in the order of their simulated times (reader.c), and execute up to a quantum apart. A thread may have
 * waited within that quantum for a flag, a lock or a wake-up. Its core would not know, and would run it as if it had
 * waited for nothing. So the words of all threads are looked at before they are read, in the order in which they were
 * executed: blocks have stamps (stamp.h). For each block that decides (decisions.h), the last store of another thread to
 * what it loaded is found. For each return from a futex, the call that woke the thread is found. Where there is one,
 *
 *   - the other thread is read up to that store first, and its sink is told to show it: a mark;
 *   - then the sink is told that this thread comes behind the mark.
 *
 * Everything else is read by simulated time as before. A mark always lies where the words have been looked at before, so no two
 * threads wait for each other. The same things are not known as in causal_reading.h.
 *
 * Words of memory that processes share are known by their physical addresses (base/shared_lines.h), if the sink has them.
 *
 * All functions run on the reader's thread. */
#ifndef AS_ENGINE_HANDOVER_H
#define AS_ENGINE_HANDOVER_H

#include "base/vec.h"
#include "engine/thread_exits.h"

struct as_reader;
struct as_word_clocks;

struct as_mark {
    uint64_t position; /* words of the lane behind which it lies */
    uint32_t number;
};

/* What comes at `position` of a lane comes behind another thread's words up to `behind`. */
struct as_wait {
    uint64_t position, behind;
    uint32_t lane, thread; /* thread 0: it has ended */
    uint32_t mark;
    uint64_t word; /* the address of what saw the other thread's store; 0: the kernel woke this thread */
    bool atomic;   /* … and it is an atomic */
};

enum { AS_HANDOVER_BEHIND = 16 }; /* other threads that a lane remembers */

struct as_handover_lane {
    uint32_t thread; /* number of the thread that this is about; 0: none */
    bool stamped, complete, returns;
    uint64_t looked, allowed; /* words that were looked at; that may be read */
    uint64_t stop;            /* … before something has to be done: see as_handover_arrive */
    uint64_t time, begun;     /* the last stamp; that of the block */
    uint64_t ended, end;      /* if complete: when the block ended, and the position of what ended it, … */
    uint64_t behind;          /* … and that behind it */
    const struct as_block *block;
    uint64_t block_at, futex; /* position of the block's word; what the thread waits for in the kernel: 0 nothing */
    uint64_t exit_word;       /* of the thread that it makes: see thread_exits.h; 0: it makes none */
    const struct as_shared_ranges *shared; /* of its process */
    uint64_t looks[2];         /* the last two blocks, if they only looked, and what they loaded; 0: they did more */
    uint64_t spins_from, spun; /* where it began to look at the same again and again, and last did; 0: never */
    uint64_t front;            /* all that the thread did before this time has been settled */
    bool over;                 /* its thread has ended */
    enum { AS_IDLE_UNKNOWN, AS_IDLE, AS_BUSY } idle; /* now */
    uint64_t published;
    AS_VEC(struct as_mark) marks;
    size_t passed; /* of the marks */
    AS_VEC(struct as_wait) waits;
    size_t waited; /* of them */
    /* By a thread's number: the last of its words that this one came behind, or will. */
    struct {
        uint32_t lane, thread;
        uint64_t position;
    } behind_of[AS_HANDOVER_BEHIND];
};

struct as_handovers {
    bool on;
    double stalled;               /* since when a thread is waited for; 0: none is */
    uint32_t marks;               /* how many there were */
    uint64_t met;                 /* grows where a thread sees what another wrote, or may */
    struct as_word_clocks *words; /* NULL: never on yet */
    struct as_thread_exits exits;
    AS_VEC(struct as_handover_lane) lanes; /* by lane */
    AS_VEC(uint32_t) order;                /* a heap of lanes, the one whose front is the earliest first */
};

/* Looks at new words, if threads are to be read like this now. Returns false if a trace is corrupt. */
bool as_handover_look(struct as_reader *reader, bool timed, bool *progress) AS_MUST_CHECK;
/* The lane has been read up to its `stop`: marks and waits there are told, as far as they can be. */
void as_handover_arrive(struct as_reader *reader, uint32_t lane);
void as_handover_free(struct as_reader *reader);
/* Words of a lane that may be read before as_handover_arrive has to be called, or more can be known of other threads (lane_bounds.h). */
uint64_t as_handover_limit(const struct as_reader *reader, uint32_t lane);
/* Whether a thread waits for others by looking, or did so a short while ago; for how many of its words. */
bool as_handover_spins(const struct as_reader *reader, uint32_t lane, uint64_t *words);
/* Whether a lane waits for another one to be read. */
bool as_handover_blocks(const struct as_reader *reader, uint32_t lane);

#endif
