/* Threads follow simulated time: QEMU executes no thread further than a quantum ahead of the others.
 *
 * Where the sink has clocks, each thread gets a budget of instructions that take it, at its own pace, to the time of the
 * thread that is behind, and a quantum more; at its end the thread waits at its gate (plugin/lane.c) until the reader
 * has seen the others come that far, and half a quantum is to be had: a thread that slept for each instruction that it may
 * execute would cost more than all it executes. Which thread gets a lock, and how often the others look at it meanwhile, then follows
 * from the modelled machine, to within a quantum. A thread in a system call does not hold the others up. If a thread
 * waits inside QEMU for others that are at their gates, those continue for one block.
 *
 * While threads meet (handover.h), each waits before a block that learns something from an atomic until no other thread is behind it in simulated time:
 * locks are then taken in that order. A thread that runs alone then has no more than a quantum: those that it wakes start
 * from where it is. One that waits by looking (handover.h) gets a few instructions, more the longer it has looked: looks in vain that are executed
 * beyond the store that it waits for take the line away from the thread that is about to store.
 *
 * In turn (`deterministic`): one thread at a time executes its budget, in the order of thread numbers. The reader reads
 * nothing until every thread that can run has had its turn. Every run then reports the same to the sink. A turn ends at
 * the gate, in a system call that blocks (the kernel has put the thread to sleep), or with the thread. Time, input and
 * signals from outside still differ between runs, and so does the order of several processes.
 *
 * Threads are then not kept together by instructions (`window`): two threads that wait for each other by different rules
 * would never continue.
 *
 * While accesses are not recorded because a part of the run is only counted (gear.h), the gates serve that purpose, and threads
 * are kept together by instructions alone.
 */
#ifndef AS_ENGINE_PACE_H
#define AS_ENGINE_PACE_H

#include "engine/engine.h"
#include "engine/meeting_place.h"
#include "engine/wire.h"

struct as_reader;

struct as_pace_lane {
    uint64_t at, clock; /* instructions and time when its pace was last looked at */
    double pace;        /* instructions a cycle; 0: not known yet */
    uint64_t budget;    /* in turn: what it gets in this round; 0: nothing */
    uint64_t taken;     /* … words of its full ring that are read, without its knowing: see as_pace_keeps_room */
};

struct as_pace {
    struct as_pace_lane *lanes; /* by lane; NULL: threads are not paced */
    bool in_turn, reads;        /* reads: a round is over, its words are being read */
    bool alone;                 /* in turn: there is one thread, whose words can be read at any time */
    uint32_t thread;            /* in turn: the thread that runs; 0: none */
    uint64_t granted;           /* the time behind when budgets were last given */
    uint64_t met, met_at;       /* as_handovers.met, and the time behind when it last changed */
    uint64_t window, meetings;  /* when it was last looked how often threads meet, and how often they did since */
    uint64_t meeting;           /* cycles between two meetings */
    double woken,
        looked; /* when threads were first seen to be woken, and not back (0: they are not), and when last looked for */
    double asleep;    /* since when a thread sleeps in a call that should come back at once; 0: none does */
    int32_t given_up; /* of those that were woken: they are not waited for any more */
    struct as_meeting_place place;
    double since; /* when all were first seen to be stuck, or, not in turn, nothing was to be done; 0: it is not so */
};

/* A thread that fills its ring in its turn is read then, while the others have not had theirs. How much of it must not depend on how fast
 * it goes on: it gets room when all that it wrote is read. */
bool as_pace_keeps_room(const struct as_reader *reader);
void as_pace_prepare(struct as_wire_header *wire, const struct as_engine_options *options); /* behind as_gear_prepare */
void as_pace_init(struct as_reader *reader);                                                /* the sink is known */
void as_pace_free(struct as_reader *reader);
/* Gives budgets. `idle`: nothing else is to be done. Returns whether something changed. */
bool as_pace_turn(struct as_reader *reader, bool idle);
/* Whether a thread waits for its turn, so that clocks have to be exact. */
bool as_pace_is_asked(const struct as_reader *reader);
/* When the thread of a lane does something next, by the sink's clocks: one that waits before an atomic has to have its line, which another
 * thread's core may be using. */
uint64_t as_pace_time(const struct as_reader *reader, uint32_t lane);
/* Whether a lane may be read now. A thread begins when all that was executed before it has been read. */
bool as_pace_reads(const struct as_reader *reader, uint32_t lane);
/* The kernel's letter for what a thread does; 0: there is no such thread. */
char as_pace_thread_state(const struct as_wire_lane *lane);

#endif
