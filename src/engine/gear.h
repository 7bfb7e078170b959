/* Fast-forward: accesses are not recorded where nobody wants them.
 *
 * Stretches that are only counted can be billions of instructions long. While recording is off, QEMU runs code without
 * callbacks for accesses, as for `assay stat`. In a process with several threads,
 * switching means that all code is translated anew (the plugin's switch_recording), so it is done for long stretches only, and in such a way that nothing of a region is missed:
 *
 *   record    accesses are recorded. When a long counted stretch has begun, the reader closes the gates:
 *   stopping  threads wait at their gates (lane.stop_at) until all that they wrote has been read. If the stretch still
 *             goes on, recording is switched off:
 *   fast      threads may execute so many instructions in all that the next border cannot be reached, then they wait to
 *             be given more. Before landmarks that may start a region they ask. Near the border recording is switched
 *             on, and all gates open: record.
 *
 * Blocks say themselves whether their accesses are recorded (as_block_gist.bare), so the streams need not know of this.
 * One reader, one gear; everything here runs on the reader's thread.
 */
#ifndef AS_ENGINE_GEAR_H
#define AS_ENGINE_GEAR_H

#include "region/regions.h"

#include <stdbool.h>
#include <stdint.h>

struct as_reader;
struct as_wire_header;

enum as_gear_state { AS_GEAR_RECORD, AS_GEAR_STOPPING, AS_GEAR_FAST };

struct as_gear {
    bool possible; /* the run can have stretches in which accesses are not needed */
    enum as_gear_state state;
    bool wanted;       /* something outside the program starts a region: it waits for accesses to be recorded */
    double stopping;   /* since when */
    double not_before; /* the next time to try */
};

/* Before the program starts: whether its run is to be switched, and how it begins. */
void as_gear_prepare(struct as_wire_header *wire, const struct as_regions *regions, bool blocks_only);
void as_gear_init(struct as_reader *reader);
/* After each round of reading. Returns whether it changed anything. */
bool as_gear_turn(struct as_reader *reader);
/* A module was mapped: tells the plugin of landmarks in it. */
void as_gear_watch(struct as_reader *reader);
/* Something outside the program happens: whether it can be told to the regions now. Otherwise ask again later. */
bool as_gear_admits(struct as_reader *reader);

#endif
