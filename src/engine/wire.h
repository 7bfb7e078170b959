/* The shared memory between the QEMU plugin (writers) and the engine (the one reader).
 *
 *   header | lane control blocks | ring of lane 0 | ring of lane 1 | …
 *
 * It is one memfd, made by the engine and mapped by every traced process, also by those that the program forks and
 * executes. A lane is a ring of 64-bit words with one writer: each guest thread has one for what it executes, each
 * process has one for the code it translates. Nothing is ever dropped: a writer whose ring is full waits.
 *
 * A thread writes chunk by chunk. `write` moves with every word but is looked at by the reader only once the writer is
 * dead (so that nothing that was executed is lost); `published` moves at the end of a chunk and before the thread may
 * block. Words:
 *
 *   00 | 0 (6) | stamp (24) | block id (32)                           a translation block starts to execute; its stamp
 *                                                                     is 0 unless threads are to be read in causal order
 *   01 load, 10 store, 11 both | index (9) | size (3) | 00 | address (48)
 *                                                                     its index-th instruction accesses memory; kind and
 *                                                                     size are as far apart as in what QEMU passes
 *   00 | event (6) | …, then the event's operands                     everything else: enum as_wire_event
 *
 * A block's accesses follow it in program order; a reader that needs none asks for those alone that the code does not
 * tell (rep, gather, store-conditional …). Blocks are all that is recorded of control flow: which instructions of
 * a block completed, branch outcomes and rep iterations are worked out by the reader (stream.c).
 */
#ifndef AS_ENGINE_WIRE_H
#define AS_ENGINE_WIRE_H

#include "engine/block_word.h"

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/* In the first word of a code message: the block reports only the accesses that vary. */
#define AS_WIRE_CODE_BARE (UINT64_C(1) << 32)
#define AS_WIRE_MAGIC UINT64_C(0x31796173734157)
enum {
    AS_WIRE_VERSION = 21,
    AS_WIRE_LANES = 4096,    /* most threads and processes alive at a time */
    AS_WIRE_CHUNK = 4096,    /* words: 32 KiB, published at a time */
    AS_WIRE_RING = 8 * 4096, /* words: 256 KiB a lane, touched only where the lane is used … */
    AS_WIRE_LONG = 4,        /* … and so many times as long for the first lanes, … */
    AS_WIRE_LONG_LANES = 2,  /* … which a single thread has: it may be far ahead of the reader (gear.h) */
    AS_WIRE_SYSCALL_ARGS = 6,
    AS_WIRE_WATCHES = 1024, /* landmarks that a plugin can be told of */
    AS_WIRE_NAME_WORDS = 8, /* for the end of a path */
    AS_WIRE_THREAD_NAME_WORDS = 2,
    AS_WIRE_REGISTERS = 32, /* of x86-64 the first sixteen; what follows them there means nothing */
};

#define AS_WIRE_ADDRESS_BITS 48
#define AS_WIRE_LOAD (UINT64_C(1) << 62)
#define AS_WIRE_STORE (UINT64_C(2) << 62)
#define AS_WIRE_ACCESS_MASK (UINT64_C(3) << 62)
#define AS_WIRE_INDEX_SHIFT 53
#define AS_WIRE_INDEX_MASK UINT64_C(511)
#define AS_WIRE_SIZE_SHIFT 50
#define AS_WIRE_EVENT_SHIFT 56
/* The low 32 bits of an event word hold its number operand, the words behind it the rest. */
enum as_wire_event {
    AS_WIRE_BLOCK = 0,      /* not an event: low bits are the block id */
    AS_WIRE_THREAD_START,   /* process number; words: thread number, tid, parent thread number or 0, position in the
                               parent's lane at the fork (its lane number in the high 16 bits). With AS_WIRE_CREATED the
                               parent is a thread of the same process, and the position behind its call of clone */
    AS_WIRE_THREAD_END,     /* 0 */
    AS_WIRE_SYSCALL,        /* system call number; words: six arguments */
    AS_WIRE_SYSCALL_RETURN, /* system call number; word: result */
    AS_WIRE_REGISTERS_AT,   /* 0; words: the integer registers at the start of the block just announced, before its
                               accesses: where it has prefetches or line flushes, which QEMU does not perform */
    AS_WIRE_SIGNAL,         /* signal, and AS_WIRE_SYNCHRONOUS_BIT; word: where it interrupted the thread. The handler's
                               first block follows */
    AS_WIRE_DEATH,          /* a signal without a handler; word: where the thread was, 0 unknown */
    AS_WIRE_MAPPING, /* 0; words: start, bytes, object, offset in it, the end of its path: memory that processes may
                               share. Object 0: the memory is no longer shared. A forked process reports what it has */
    AS_WIRE_TIME, /* 0; word: the time of the block, or of the return from a system call, that follows. 1: of the block just
                               announced, which begins only now: its thread has waited */
    AS_WIRE_THREAD_NAME, /* 0; words: what the thread has just named itself, padded with 0 */
    AS_WIRE_EVENTS
};
#define AS_WIRE_CREATED (UINT64_C(1) << 32)
enum { AS_WIRE_SYNCHRONOUS_BIT = 8 }; /* raised by the instruction at the interrupted place, which did not complete */
/* Whether an instruction can raise this signal: SIGILL, SIGTRAP, SIGBUS, SIGFPE, SIGSEGV (the same numbers on both
 * architectures). */
static inline int as_wire_is_fault(uint32_t signal)
{
    return signal == 4 || signal == 5 || signal == 7 || signal == 8 || signal == 11;
}
/* How many words follow each event word. */
static const uint8_t as_wire_event_words[AS_WIRE_EVENTS] = {
    0, 4, 0, AS_WIRE_SYSCALL_ARGS, 1, AS_WIRE_REGISTERS, 1, 1, 4 + AS_WIRE_NAME_WORDS, 1, AS_WIRE_THREAD_NAME_WORDS};

/* Messages in a code lane: first word = kind << 56 | number of words that follow. */
enum as_wire_message {
    AS_WIRE_PROCESS = 1, /* process, parent process or 0, image, pid, guest base: a process started or executed anew */
    AS_WIRE_MODULE,      /* image, start, end, file offset, path bytes padded with 0 */
    AS_WIRE_CODE,        /* image, block id, n instructions, address of the first, then for each (they are adjacent) two
                            words: its bytes, with its length in the last byte */
    AS_WIRE_NOTE,        /* a message of QEMU: text bytes padded with 0 */
    AS_WIRE_EXECUTE,     /* 1: followed into the program, 0: it runs untraced; path bytes padded with 0 */
    AS_WIRE_PROGRAM,     /* image, path bytes of its program padded with 0; missing where QEMU does not report it */
    AS_WIRE_DUMP,        /* image, path bytes of the jitdump that the process has mapped, padded with 0 */
};
enum { AS_WIRE_MESSAGE_MAX = 8192 }; /* words; longer ones are never written and a reader may refuse them */

enum as_wire_state {
    AS_WIRE_FREE,    /* not in use */
    AS_WIRE_CLAIMED, /* being set up */
    AS_WIRE_LIVE,
    AS_WIRE_ENDED, /* the writer is done; free again once it is drained */
};
enum as_wire_activity {
    AS_WIRE_RUNNING,
    AS_WIRE_IN_SYSCALL,
    AS_WIRE_FULL,      /* waits for room in its ring */
    AS_WIRE_THROTTLED, /* is too far ahead of its fellow threads */
    AS_WIRE_GATED,     /* has executed as much as it may, or asks before a landmark */
};

/* Which accesses are reported. */
enum as_wire_accesses {
    AS_WIRE_VARYING, /* those of instructions that do not access the same every time */
    AS_WIRE_ALL,
    AS_WIRE_SIEVED,  /* … and of the others those that pass a sieve: engine/sieve.h */
    AS_WIRE_COARSE,  /* … a coarse sieve, but for those of instructions that only access the stack */
    AS_WIRE_SAMPLED, /* … those that may touch sampled granules: plugin/sample_filter.h */
};

#define AS_WIRE_SAMPLE_STEP                                                                                            \
    UINT64_C(0x9e3779b97f4a7c15) /* AS_RANDOM_STEP of src/base, which the plugin does not have */

enum as_wire_stamps {
    AS_WIRE_STAMPED = 1,
    /* … once the process has had a second thread, or memory that other processes may share; the first stamp of a lane comes as
     * AS_WIRE_TIME */
    AS_WIRE_STAMPED_THREADS,
};

struct as_wire_lane {
    /* The writer's, in its own addresses: */
    _Alignas(64) uint64_t *write; /* the next word goes here */
    uint64_t *chunk, *chunk_end;
    uint64_t chunk_position; /* of *chunk, in words since the lane was claimed */
    uint64_t instructions;   /* executed, by whole blocks: a clock; stands still while nothing asks for it */
    uint64_t check_at;       /* look at the other threads when `instructions` gets here */
    void *cpu;               /* the writer's: QEMU's state of this vcpu */
    uint64_t clock_offset;   /* instructions + clock_offset is comparable between threads */
    uint64_t stamp;          /* the whole time of its last block; 0: none */
    uint64_t throttle_at;    /* … and whether it is too far ahead, when it gets here */
    uint64_t
        looks[2]; /* while it keeps close to the others (plugin/thread_step.h): what its last two blocks loaded, … */
    uint64_t close_until; /* … up to so many of its instructions it keeps close to the others: plugin/thread_step.h */
    uint64_t line_at;     /* … when it gets here, it looks at the line of those that wait */
    uint64_t before;      /* AS_WIRE_SAMPLED: the word of its last access (plugin/sample_filter.c) */
    uint32_t reserves;    /* its block has a load-reserved, and the next one belongs to it: plugin/thread_step.h */

    _Alignas(64) _Atomic uint64_t published; /* words since the lane was claimed */
    _Atomic uint32_t state, activity;
    _Atomic uint32_t
        quick; /* it is in a system call that takes no simulated time: others keep to its time (brief_calls.h) */
    _Atomic uint32_t brief; /* it is in a system call that does not block: it comes back, or ends */
    _Atomic uint32_t leaks; /* the header's when it came to its gate */
    uint32_t is_code, process, image, thread;
    int32_t pid, tid;

    _Alignas(64) _Atomic uint64_t consumed;
    _Atomic uint64_t stop_at;            /* `instructions` may not go beyond; the thread then waits: see gate */
    _Atomic uint32_t questions, answers; /* the thread asks before a landmark and waits until both are the same */
    _Atomic uint32_t asked, given;       /* … before an atomic, while `orders` is set: engine/pace.h */
    _Atomic uint32_t ring,
        sleeps; /* futex: bumped by the reader when the thread is to look at its gate; whether it sleeps there */
    /* While threads keep step (plugin/thread_step.h): it waits for its turn, a futex that others wake it by, how far others
     * may be behind it, and the clock that others are to take for its own; 0: none. */
    _Atomic uint32_t in_line, call, slack;
    _Atomic uint64_t stands_at;
    _Atomic uint32_t room; /* futex: bumped by the reader when it has consumed and somebody waits */
    _Atomic uint32_t writer_waits;
    _Atomic uint64_t wake_at; /* … for `consumed` to come so far */
};

struct as_wire_header {
    uint64_t magic;
    uint32_t version, header_size;
    uint32_t gated;                   /* recording is switched while the program runs: threads look at their gates */
    _Atomic uint32_t cheap_switch;    /* recording is switched without translating code anew (plugin/code_sets.h) */
    _Atomic uint32_t record_accesses; /* enum as_wire_accesses */
    uint32_t stacks;                  /* … and of those by which the stacks of call paths are told apart */
    uint32_t in_turn;                 /* one thread executes at a time: engine/pace.h */
    uint32_t in_step;           /* threads execute atomics in the order of their instructions: plugin/thread_step.h */
    uint32_t stamped;           /* blocks have stamps: enum as_wire_stamps; 0: none */
    _Atomic uint32_t several;   /* the program has made a thread or a process: before that, stamps stand still */
    _Atomic uint64_t quantum;   /* cycles that threads may be apart now, kept by their budgets (stop_at); 0: no limit */
    _Atomic uint32_t orders;    /* atomics are executed in the order of simulated time: engine/pace.h */
    _Atomic uint32_t processor; /* the host's where threads wait for that, + 1; 0: anywhere (engine/meeting_place.h) */
    _Atomic int32_t
        woken;       /* threads that others have woken or made, and that do not run yet; below 0: the other way round */
    uint64_t window; /* instructions that a thread may run ahead of its process's slowest; 0: no limit */

    pthread_mutex_t
        reader_alive; /* robust; held by the reader as long as it lives: a process that gets it knows that the reader has died */

    /* AS_WIRE_SAMPLED, on a line that is hardly ever written: a granule of 1 << sample_shift bytes is sampled if its number times
     * AS_WIRE_SAMPLE_STEP is at most the threshold. */
    _Alignas(64) _Atomic uint64_t sample_threshold;
    uint32_t sample_shift;

    _Alignas(64) _Atomic uint32_t doorbell; /* futex: bumped by writers after publishing when the reader waits */
    _Atomic uint32_t reader_waits;
    _Atomic uint32_t gates_closed; /* 0: threads may go on, whatever stop_at is */
    _Atomic uint32_t leaks;        /* bumped: threads at their gates go on for one block */
    /* Landmarks before which threads ask, and their number; markers are recognised by themselves. */
    _Atomic uint32_t n_watches, asks;
    uint32_t watches_markers;
    struct {
        uint64_t address;
        uint32_t image;
    } watches[AS_WIRE_WATCHES];
    _Atomic uint32_t detached; /* there is no reader any more: writers go on without writing */
    _Atomic uint32_t next_block, next_image, next_process, next_thread;
    _Atomic uint32_t lanes_used; /* lanes at and above were never claimed */
    /* The first process does not ignore SIGINT. The kernel does not know: QEMU has handlers of its own. */
    _Atomic uint32_t minds_interrupt;

    /* What a plugin needs to follow an execve. Empty: not available. */
    char qemu[2][PATH_MAX]; /* by enum as_arch */
    char plugin[PATH_MAX];
    char memory[64];           /* path under which the memfd can be opened */
    char sysroot[2][PATH_MAX]; /* -L of dynamic programs, by enum as_arch */
    uint32_t follow_exec;

    struct as_wire_lane lanes[AS_WIRE_LANES];
};

/* Where a lane's ring starts, in words behind the header, and how long it is. */
static inline size_t as_wire_ring_offset(size_t lane)
{
    size_t longer = lane < AS_WIRE_LONG_LANES ? lane : AS_WIRE_LONG_LANES;
    return (lane + longer * (AS_WIRE_LONG - 1)) * AS_WIRE_RING;
}

static inline size_t as_wire_ring_words(size_t lane)
{
    return lane < AS_WIRE_LONG_LANES ? (size_t)AS_WIRE_LONG * AS_WIRE_RING : AS_WIRE_RING;
}

/* All of it, as far as so many lanes need it. */
static inline size_t as_wire_size(size_t lanes)
{
    return sizeof(struct as_wire_header) + as_wire_ring_offset(lanes) * sizeof(uint64_t);
}
#define AS_WIRE_SIZE as_wire_size(AS_WIRE_LANES)

/* Where a process was forked, as its first thread tells (AS_WIRE_THREAD_START): the parent's lane, and a position in it. */
enum { AS_WIRE_ORIGIN_SHIFT = 48 };
static inline uint64_t as_wire_origin(uint64_t lane, uint64_t position)
{
    return lane << AS_WIRE_ORIGIN_SHIFT | position;
}

static inline uint32_t as_wire_origin_lane(uint64_t origin)
{
    return origin >> AS_WIRE_ORIGIN_SHIFT & (AS_WIRE_LANES - 1);
}

static inline uint64_t as_wire_origin_position(uint64_t origin)
{
    return origin & ((UINT64_C(1) << AS_WIRE_ORIGIN_SHIFT) - 1);
}

static inline uint64_t *as_wire_ring(struct as_wire_header *header, size_t lane)
{
    return (uint64_t *)((char *)header + sizeof *header) + as_wire_ring_offset(lane);
}

#endif
