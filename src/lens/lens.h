/* A lens: a machine as the analyses of communication and reuse see it. It samples accesses of a program's threads, watches
 * addresses on them, and counts their accesses. What implements it: the model (lens/modelled_lens.h), this machine
 * (lens/native_lens.h), and a scripted one in the tests.
 *
 * The machine calls the client (struct as_lens_client), the client calls the machine (struct as_lens_ops).
 *
 * Order: thread_start before anything else of a thread; samples and traps in the order in which the thread made the
 * accesses; thread_end last. A number is not used again. An access that traps and is sampled traps first; what its own
 * sample or trap arms does not trap on it.
 *
 * Threading: calls for one thread never overlap. Calls for different threads may, and may come in signal handlers of the
 * threads concerned. So `sample` and `trap` must not lock or wait; where they allocate, they are for machines that call from
 * one thread alone, as both of this folder do. The client may call the machine's functions from within its own, for any
 * thread, and at no other time.
 */
#ifndef AS_LENS_LENS_H
#define AS_LENS_LENS_H

#include "assay/insn.h"

#include <stdbool.h>
#include <stdint.h>

enum { AS_LENS_REGISTERS = 4 }; /* at most, of a thread */

/* An access as far as the machine knows it. */
struct as_lens_access {
    uint32_t thread, core;
    uint64_t address; /* of its first byte */
    uint32_t size;    /* bytes; 0: unknown */
    uint8_t kind;     /* AS_ACCESS_LOAD, AS_ACCESS_STORE, both for an atomic; 0: unknown */
    uint64_t insn;    /* in the model the instruction's id; otherwise its address */
    uint32_t path;    /* of calls, as the machine numbers them; 0: unknown */
    uint64_t time;    /* the machine's, equal for all threads; never 0 and never going back */
    /* Samples of a machine whose threads take turns on its processors: the thread has run without a break since then, and its
     * next sample comes by then if it goes on to run. 0: all threads run all the time. */
    uint64_t since, until;
};

struct as_lens_sample {
    struct as_lens_access access;
    uint8_t counter; /* that overflowed: AS_ACCESS_LOAD, AS_ACCESS_STORE; both: one that counts all operations */
    uint64_t period; /* operations of that counter for which the sample stands */
};

/* A watchpoint: which thread, which register, which arming of it. */
struct as_lens_ref {
    uint32_t thread, slot;
    uint64_t generation;
};

struct as_lens_watch {
    uint64_t address; /* a multiple of `length` */
    uint8_t length;   /* 1, 2, 4, 8 */
    uint8_t kind;     /* AS_ACCESS_STORE, or AS_ACCESS_LOAD | AS_ACCESS_STORE: x86 has no others */
    uint64_t data;    /* the client's own, comes back with the trap */
};

struct as_lens_trap {
    struct as_lens_access access; /* address, size and kind as far as they are known; otherwise those watched */
    struct as_lens_ref ref;       /* still armed: the client disarms or moves it, or lets it be */
    struct as_lens_watch watch;
};

enum as_lens_result {
    AS_LENS_OK,
    AS_LENS_FULL,   /* all debug registers of the thread are armed */
    AS_LENS_BUSY,   /* being changed, or its trap is being handled elsewhere: try later or let it be */
    AS_LENS_GONE,   /* the thread has ended, or that arming is over */
    AS_LENS_REFUSED /* a debugger has the registers, there are none, or the request is wrong */
};

/* Accesses that a thread has made: instructions that load, that store (an atomic does both), and their sum. */
struct as_lens_counts {
    uint64_t loads, stores, accesses;
    uint8_t how; /* enum as_lens_how */
};

/* What a number of accesses comes from: all of them were counted; time, and a rate that was measured; time, and a rate that
 * was not. */
enum as_lens_how { AS_LENS_COUNTED, AS_LENS_TIMED, AS_LENS_ASSUMED };

struct as_lens_ops {
    const char *name;
    /* Arms a free register of a thread. */
    enum as_lens_result (*arm)(void *context, uint32_t thread, const struct as_lens_watch *watch,
                               struct as_lens_ref *ref);
    /* The same register for something else; `ref` becomes the new arming. */
    enum as_lens_result (*move)(void *context, struct as_lens_ref *ref, const struct as_lens_watch *watch);
    enum as_lens_result (*disarm)(void *context, const struct as_lens_ref *ref);
    /* Up to and including the access that is being sampled or has trapped. False: no such thread (any more). */
    bool (*counts)(void *context, uint32_t thread, struct as_lens_counts *counts);
    uint64_t (*time)(void *context);
    uint32_t (*registers)(void *context); /* debug registers of a thread: 0 to AS_LENS_REGISTERS */
};

struct as_lens {
    const struct as_lens_ops *ops;
    void *context;
};

/* Any member may be NULL. */
struct as_lens_client {
    void (*thread_start)(void *client, uint32_t thread, uint32_t process);
    void (*thread_end)(void *client, uint32_t thread);
    void (*sample)(void *client, const struct as_lens_sample *sample);
    void (*trap)(void *client, const struct as_lens_trap *trap);
};

static inline enum as_lens_result as_lens_arm(const struct as_lens *lens, uint32_t thread,
                                              const struct as_lens_watch *watch, struct as_lens_ref *ref)
{
    return lens->ops->arm(lens->context, thread, watch, ref);
}

static inline enum as_lens_result as_lens_move(const struct as_lens *lens, struct as_lens_ref *ref,
                                               const struct as_lens_watch *watch)
{
    return lens->ops->move(lens->context, ref, watch);
}

static inline enum as_lens_result as_lens_disarm(const struct as_lens *lens, const struct as_lens_ref *ref)
{
    return lens->ops->disarm(lens->context, ref);
}

static inline bool as_lens_counts(const struct as_lens *lens, uint32_t thread, struct as_lens_counts *counts)
{
    return lens->ops->counts(lens->context, thread, counts);
}

static inline uint64_t as_lens_time(const struct as_lens *lens)
{
    return lens->ops->time(lens->context);
}

static inline uint32_t as_lens_registers(const struct as_lens *lens)
{
    return lens->ops->registers(lens->context);
}

#endif
