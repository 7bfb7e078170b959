/* The reading side of the shared memory: takes words from all lanes and hands them to the code table and the streams.
 */
#ifndef AS_ENGINE_READER_H
#define AS_ENGINE_READER_H

#include "engine/code_table.h"
#include "engine/gear.h"
#include "engine/handover.h"
#include "engine/launch.h"
#include "engine/pace.h"
#include "engine/stream.h"

struct as_reader {
    struct as_child *child;
    struct as_wire_header *wire;
    const struct as_engine_options *options;
    const struct as_sink *sink;
    void *context;
    struct as_code_table code;
    struct as_region_run regions;
    bool measures; /* what is executed now is measured */
    struct as_gear gear;
    struct as_pace pace;
    struct as_handovers handovers;
    struct as_twin *twin; /* a copy of the run is fed by this one, or this is such a copy; NULL: neither (twin.h) */
    uint64_t blind;       /* see as_stream */
    uint32_t switches;    /* of options->switches, those that were heeded */
    double started;       /* when the program was, on the wall clock */
    struct as_stream **streams; /* by lane; NULL: no thread there */
    uint64_t *bounds;           /* by lane: see lane_bounds.h */
    AS_VEC(struct as_process *) processes;
    uint32_t threads, untraced, disagreements;
    uint64_t clock_calls[AS_CLOCK_CALLS];
    unsigned cores, useless_rounds;
    uint64_t finished_instructions; /* of lanes that were freed */
    bool exactly;                   /* the sink's clocks are exact in this round */
    size_t at_once;                 /* words to read from a lane before the next one has its turn */
    double stalled; /* since when causal reading has waited for a thread that writes nothing; 0: it does not */
    char first_untraced[256];
    char refusal[512]; /* QEMU's message if it never ran the program */
};

void as_reader_init(struct as_reader *reader, struct as_child *child, const struct as_engine_options *options);
/* Reads until the program has ended and everything it wrote is consumed, or the region is over, or the user insists.
 * The sink must be set. */
bool as_reader_run(struct as_reader *reader, struct as_error *err) AS_MUST_CHECK;
void as_reader_end_threads(struct as_reader *reader);           /* reports to the sink that all have ended */
uint64_t as_reader_progress(const struct as_reader *reader);    /* instructions executed so far, roughly */
uint32_t as_reader_count_alive(const struct as_reader *reader); /* processes that still run */
/* The lane of the only thread; AS_WIRE_LANES: there are others, some of which may not have been read of yet. */
uint32_t as_reader_find_alone(const struct as_reader *reader);
void as_reader_kill_all(const struct as_reader *reader);
void as_reader_free(struct as_reader *reader);

#endif
