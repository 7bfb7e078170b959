/* The code lanes: what processes report about themselves and about the code that they translate. See reader.h; the other side is
 * src/plugin/code.c, and src/plugin/lane.c for the atomics.
 */
#include "engine/reader_lanes.h"

#include "base/log.h"
#include "engine/gates.h"

#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

struct as_process *as_reader_find_process(struct as_reader *reader, uint32_t number)
{
    for (size_t i = reader->processes.len; i-- > 0;)
        if (reader->processes.data[i]->number == number)
            return reader->processes.data[i];
    return NULL;
}

/* Marks a lane as written to its very end. Its writer must be gone, so the plain members can be read: the kernel has
 * said so (pidfd, reaper), or the process has announced its next program. turn_chunk (lane.c) keeps them consistent. */
static void seal_lane(struct as_wire_lane *lane)
{
    uint64_t in_chunk = (uint64_t)(lane->write - lane->chunk);
    if (in_chunk > AS_WIRE_CHUNK)
        in_chunk = AS_WIRE_CHUNK; /* it was just turning to its next chunk (lane.c) */
    if (lane->chunk_position + in_chunk > atomic_load(&lane->published))
        atomic_store(&lane->published, lane->chunk_position + in_chunk);
    atomic_store(&lane->state, AS_WIRE_ENDED);
}

void as_reader_seal_lanes(struct as_reader *reader, uint32_t process, uint32_t before_image)
{
    uint32_t used = atomic_load(&reader->wire->lanes_used);
    for (uint32_t i = 0; i < used; i++) {
        struct as_wire_lane *lane = &reader->wire->lanes[i];
        if (atomic_load(&lane->state) == AS_WIRE_LIVE && lane->process == process && lane->image < before_image)
            seal_lane(lane);
    }
}

/* A new process, or the same one in a new program. What a process says of a program may be read before what it said of the
 * one before, which is in another lane. */
static bool on_process(struct as_reader *reader, const uint64_t *words, size_t n)
{
    if (n != 5 || words[4] >= AS_ARCH_COUNT)
        return false;
    as_code_table_image(&reader->code, (uint32_t)words[2], (enum as_arch)words[4]);
    struct as_process *process = as_reader_find_process(reader, (uint32_t)words[0]);
    if (process && (uint32_t)words[2] < process->image)
        return true;
    if (!process) {
        process = as_alloc(sizeof *process);
        process->number = (uint32_t)words[0];
        process->pid = (int32_t)words[3];
        process->pidfd = (int)syscall(SYS_pidfd_open, process->pid, 0);
        *as_vec_push(&reader->processes) = process;
    }
    as_reader_seal_lanes(reader, process->number, (uint32_t)words[2]);
    process->image = (uint32_t)words[2];
    return true;
}

/* Before the program runs, a message of QEMU is the reason why it cannot. */
static void on_note(struct as_reader *reader, const char *text)
{
    if (reader->threads == 0)
        snprintf(reader->refusal, sizeof reader->refusal, "%.*s", (int)strcspn(text, "\n"), text);
    else if (!strstr(text, "uncaught target signal")) /* the exit status has that */
        as_log_warn("QEMU says: %.*s", (int)strcspn(text, "\n"), text);
}

static void on_execute(struct as_reader *reader, bool followed, const char *path)
{
    if (followed)
        return;
    if (reader->untraced++ == 0)
        snprintf(reader->first_untraced, sizeof reader->first_untraced, "%.255s", path);
}

static bool on_message(struct as_reader *reader, uint64_t head, const uint64_t *words, size_t n)
{
    bool text_ends = n > 0 && words[n - 1] >> 56 == 0;
    switch ((enum as_wire_message)(head >> AS_WIRE_EVENT_SHIFT)) {
    case AS_WIRE_PROCESS:
        return on_process(reader, words, n);
    case AS_WIRE_MODULE:
        if (!as_code_table_add_module(&reader->code, words, n))
            return false;
        as_gear_watch(reader);
        return true;
    case AS_WIRE_PROGRAM:
        return as_code_table_add_program(&reader->code, words, n);
    case AS_WIRE_DUMP:
        return as_code_table_add_dump(&reader->code, words, n);
    case AS_WIRE_CODE:
        return as_code_table_add_block(&reader->code, words, n);
    case AS_WIRE_NOTE:
        if (text_ends)
            on_note(reader, (const char *)words);
        return text_ends;
    case AS_WIRE_EXECUTE:
        if (text_ends && n > 1)
            on_execute(reader, words[0] != 0, (const char *)(words + 1));
        return text_ends && n > 1;
    }
    return false;
}

/* Reads whole messages. A message can wrap around the ring, so it is copied out. */
static bool read_code_lane(struct as_reader *reader, uint32_t number)
{
    static uint64_t message[AS_WIRE_MESSAGE_MAX];
    struct as_wire_lane *lane = &reader->wire->lanes[number];
    const uint64_t *ring = as_wire_ring(reader->wire, number);
    size_t length = as_wire_ring_words(number);
    for (;;) {
        /* Acquires the words before `published` from as_lane_publish (lane.c). */
        uint64_t position = atomic_load(&lane->consumed), end = atomic_load(&lane->published);
        if (position == end)
            return true;
        uint64_t head = ring[position % length];
        size_t n = head & 0xffffffff;
        if (n > AS_WIRE_MESSAGE_MAX)
            return false;
        if (end - position < n + 1)
            return true;
        for (size_t i = 0; i < n; i++)
            message[i] = ring[(position + 1 + i) % length];
        bool sound = on_message(reader, head, message, n);
        as_lane_give_room(reader, number,
                          position + 1 + n); /* not before: the writer may wait for its message to be read */
        if (!sound)
            return false;
    }
}

bool as_reader_read_code(struct as_reader *reader, bool *progress)
{
    uint32_t used = atomic_load(&reader->wire->lanes_used);
    for (uint32_t i = 0; i < used; i++) {
        struct as_wire_lane *lane = &reader->wire->lanes[i];
        uint32_t state = atomic_load(&lane->state); /* acquires the lane's other members from as_lane_claim (lane.c) */
        if ((state != AS_WIRE_LIVE && state != AS_WIRE_ENDED) || !lane->is_code)
            continue;
        uint64_t before = atomic_load(&lane->consumed);
        if (!read_code_lane(reader, i))
            return false;
        *progress |= atomic_load(&lane->consumed) != before;
        if (state == AS_WIRE_ENDED && as_gates_drained(lane))
            atomic_store(&lane->state, AS_WIRE_FREE); /* to find_free_lane (lane.c) */
    }
    return true;
}
