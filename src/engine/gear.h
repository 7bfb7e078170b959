/* Fast-forward: accesses are not recorded where they are not needed.
 *
 * Stretches that are only counted can be billions of instructions long. While recording is off, QEMU runs code without
 * callbacks for accesses, as for `assay stat`. In a process with several threads, QEMU then has to translate all code
 * again (the plugin's switch_recording), so the reader switches only in long stretches. It does so without missing any
 * instruction of a region:
 *
 *   record    accesses are recorded. When a long counted stretch has begun, the reader closes the gates:
 *   stopping  threads wait at their gates (lane.stop_at) until all that they wrote has been read. If the stretch still
 *             goes on, recording is switched off:
 *   fast      each thread may execute a number of instructions that cannot reach the next border, then waits for more.
 *             It asks the reader before landmarks that may start a region. Near the border the reader switches
 *             recording on and opens all gates: record. Where accesses are sieved and there is one thread, the sieve is a
 *             coarse one without the stack up to some place before the border, and a fine one from there on.
 *
 * A single thread that is held, where regions lie by count, need not wait until all that it wrote has been read: the words themselves say
 * where it is (outlook.h). So it goes on into the next stretch, with the accesses that are wanted there, while the reader and the
 * core are still busy with the region. It stops at the same places either way.
 *
 * Each translated block states whether its accesses are recorded (as_block_gist.bare), so streams need no other sign.
 * If threads follow simulated time (pace.h), their budgets close the gates while accesses are recorded. Threads that run in
 * turn need their accesses recorded all the time, so that every run stops them at the same places.
 * A reader has one gear. All functions run on the reader's thread.
 */
#ifndef AS_ENGINE_GEAR_H
#define AS_ENGINE_GEAR_H

#include "engine/outlook.h"
#include "region/regions.h"

#include <stdbool.h>
#include <stdint.h>

struct as_engine_options;
struct as_reader;
struct as_wire_header;

enum as_gear_state { AS_GEAR_RECORD, AS_GEAR_STOPPING, AS_GEAR_FAST };

struct as_gear {
    bool possible; /* the run can have stretches in which accesses are not needed */
    enum as_gear_state state;
    bool coarse; /* while fast: the sieve is the coarse one */
    bool held;   /* while accesses are recorded: the only thread waits at the end of its region */
    bool wanted; /* something outside the program starts a region: it waits for accesses to be recorded */
    struct as_outlook outlook;
    double stopping;   /* since when */
    double not_before; /* the next time to try */
};

/* The sample of the granules as it is now (as_engine_options.sample). */
void as_gear_sample(struct as_wire_header *wire, const struct as_engine_options *options);
/* Before the program starts: whether its run is to be switched, and how it begins. */
void as_gear_prepare(struct as_wire_header *wire, const struct as_engine_options *options);
void as_gear_init(struct as_reader *reader);
/* After each round of reading. Returns whether it changed anything. */
bool as_gear_turn(struct as_reader *reader);
/* A module was mapped: passes the landmarks in it to the plugin. */
void as_gear_watch(struct as_reader *reader);
/* Something outside the program happens: whether it can be told to the regions now. Otherwise ask again later. */
bool as_gear_admits(struct as_reader *reader);

#endif
