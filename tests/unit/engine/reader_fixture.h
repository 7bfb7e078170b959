/* A reader without a program: lanes whose words tests write by hand, and threads that are where tests say. Nothing runs beside the test,
 * so what the reader finds depends on nothing else. */
#ifndef READER_FIXTURE_H
#define READER_FIXTURE_H

#include "engine/reader.h"
#include "engine/stamp.h"
#include "stream_bed.h"
#include "unit.h"

#include <sys/mman.h>

static struct bed bed;
static struct as_child child;
static struct as_engine_options options;
static struct as_reader reader;
static struct as_sink reader_sink;
static uint64_t began; /* stamps count from here, which is in the past */

static inline int set_up_reader(void **state)
{
    bed_init(&bed);
    bed_add_code(&bed);
    memset(&child, 0, sizeof child);
    child.wire = mmap(NULL, AS_WIRE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert_true(child.wire != MAP_FAILED);
    options = (struct as_engine_options)AS_ENGINE_OPTIONS_DEFAULT;
    options.handovers = true;
    options.quantum = 10000;
    reader_sink = (struct as_sink){.block = bed_sink.block};
    as_reader_init(&reader, &child, &options);
    reader.sink = &reader_sink;
    began = as_stamp_now() - 1000000;
    return 0;
}

/* A thread, in the lane before its number, that waits at its gate. */
static inline struct as_wire_lane *add_thread(uint32_t number, uint32_t process)
{
    struct as_wire_lane *lane = &child.wire->lanes[number - 1];
    struct as_stream *stream = as_alloc(sizeof *stream);
    stream->thread = (struct as_thread){.number = number,
                                        .process = process,
                                        .tid = (int32_t)(1000 + number),
                                        .image = as_code_table_find_image(&bed.code, 1)};
    stream->code = &bed.code;
    stream->regions = &reader.regions;
    stream->causal.time = began;
    reader.streams[number - 1] = stream;
    atomic_store(&lane->state, AS_WIRE_LIVE);
    atomic_store(&lane->activity, AS_WIRE_GATED);
    if (atomic_load(&child.wire->lanes_used) < number)
        atomic_store(&child.wire->lanes_used, number);
    return lane;
}

/* The thread has ended, and its lane is free. */
static inline void remove_thread(uint32_t number)
{
    atomic_store(&child.wire->lanes[number - 1].state, AS_WIRE_FREE);
    free(reader.streams[number - 1]);
    reader.streams[number - 1] = NULL;
}

static inline int tear_down_reader(void **state)
{
    for (uint32_t i = 0; i < AS_WIRE_LANES; i++)
        if (reader.streams[i])
            remove_thread(i + 1);
    as_reader_free(&reader);
    munmap(child.wire, AS_WIRE_SIZE);
    bed_free(&bed);
    return 0;
}

#endif
