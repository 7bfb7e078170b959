/* Kanata 0004, the Konata viewer's format: a log of events in time order, whereas records come in program order.
 *
 * The events of an instruction wait in a heap until no later record can have an earlier event: records are in order of
 * their fetch, and nothing happens to an instruction before its fetch. So the heap holds what is in flight. Stages: F
 * from fetch to dispatch, Ds the dispatch, Is in the issue queue, X from issue to result, Cm until commit.
 *
 * An instruction that was tried twice (exception, memory order) appears twice, the first time as flushed; the records
 * do not contain the fetch and issue of the first try, nor wrong-path instructions.
 */
#include "observe/trace_format.h"

#include "base/vec.h"
#include "observe/events.h"

#include <inttypes.h>

enum kind { APPEARS, CHANGES, RETIRES, SQUASHED };

struct event {
    uint64_t cycle, id;
    uint64_t retired;          /* RETIRES, SQUASHED: number among the retired ones */
    const char *ends, *starts; /* stages; NULL: none */
    uint32_t insn, events;
    uint16_t flags;
    uint8_t kind, order; /* order: among those of the same instruction */
};

struct konata {
    struct as_trace_target target;
    AS_VEC(struct event) heap; /* the earliest is the first */
    bool began;
    uint64_t cycle;      /* of the last line written */
    uint64_t base, last; /* cycles of programs before this one; the last commit */
    uint64_t dispatched; /* dispatch cycle of the preceding record */
    uint64_t ids, retired;
};

static void *start(const struct as_trace_target *target)
{
    struct konata *self = as_alloc(sizeof *self);
    self->target = *target;
    fputs("Kanata\t0004\n", target->out);
    return self;
}

static void release(void *opaque)
{
    struct konata *self = opaque;
    as_vec_free(&self->heap);
    free(self);
}

/* ---- the heap ---- */

static bool before(const struct event *a, const struct event *b)
{
    if (a->cycle != b->cycle)
        return a->cycle < b->cycle;
    return a->id != b->id ? a->id < b->id : a->order < b->order;
}

static void push(struct konata *self, const struct event *event)
{
    *as_vec_push(&self->heap) = *event;
    struct event *heap = self->heap.data;
    size_t at = self->heap.len - 1;
    for (; at > 0 && before(event, &heap[(at - 1) / 2]); at = (at - 1) / 2)
        heap[at] = heap[(at - 1) / 2];
    heap[at] = *event;
}

static struct event pop(struct konata *self)
{
    struct event *heap = self->heap.data, first = heap[0], last = heap[--self->heap.len];
    size_t at = 0, child;
    while ((child = 2 * at + 1) < self->heap.len) {
        child += child + 1 < self->heap.len && before(&heap[child + 1], &heap[child]);
        if (!before(&heap[child], &last))
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = last;
    return first;
}

/* ---- lines ---- */

/* What the viewer shows under the mouse. */
static void write_details(FILE *out, const struct event *event)
{
    const char *before = "";
    if (!event->events && !(event->flags & AS_PIPE_SERIALISED))
        return;
    fprintf(out, "L\t%" PRIu64 "\t1\t", event->id);
    for (int i = 0; i < AS_EVENT_COUNT; i++)
        if (event->events & as_events[i].bit) {
            fprintf(out, "%s%s", before, as_events[i].name);
            before = ", ";
        }
    fprintf(out, "%s\n", !(event->flags & AS_PIPE_SERIALISED) ? "" : *before ? ", serialised" : "serialised");
}

static void write_cycle(struct konata *self, uint64_t cycle)
{
    if (!self->began)
        fprintf(self->target.out, "C=\t%" PRIu64 "\n", cycle);
    else if (cycle > self->cycle)
        fprintf(self->target.out, "C\t%" PRIu64 "\n", cycle - self->cycle);
    self->began = true;
    self->cycle = cycle;
}

static void write_event(struct konata *self, const struct event *event)
{
    FILE *out = self->target.out;
    write_cycle(self, event->cycle);
    if (event->kind == APPEARS) {
        fprintf(out, "I\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu32 "\nL\t%" PRIu64 "\t0\t%" PRIx64 ": %s%s\n", event->id,
                event->retired, self->target.thread, event->id, as_trace_address(self->target.run, event->insn),
                event->flags & AS_PIPE_CONTINUES ? "… " : "", as_trace_text(self->target.texts, event->insn));
        write_details(out, event);
    }
    if (event->ends)
        fprintf(out, "E\t%" PRIu64 "\t0\t%s\n", event->id, event->ends);
    if (event->starts)
        fprintf(out, "S\t%" PRIu64 "\t0\t%s\n", event->id, event->starts);
    if (event->kind == RETIRES || event->kind == SQUASHED)
        fprintf(out, "R\t%" PRIu64 "\t%" PRIu64 "\t%d\n", event->id, event->retired, event->kind == SQUASHED);
}

static void write_before(struct konata *self, uint64_t cycle)
{
    while (self->heap.len > 0 && self->heap.data[0].cycle < cycle) {
        struct event event = pop(self);
        write_event(self, &event);
    }
}

/* ---- records ---- */

/* The next thing that happens to the instruction of `event`, not before the previous one. */
static void happens(struct konata *self, struct event *event, enum kind kind, uint64_t cycle, const char *stage)
{
    cycle += self->base;
    event->cycle = cycle > event->cycle ? cycle : event->cycle;
    event->kind = (uint8_t)kind;
    event->starts = stage;
    push(self, event);
    event->ends = stage;
    event->order++;
}

static void add_first_try(struct konata *self, const struct as_pipe *pipe)
{
    struct as_tries tries = as_tries_of(pipe);
    uint64_t from = tries.first > self->dispatched ? tries.first : self->dispatched;
    if (from >= tries.fault)
        return;
    struct event event = {.id = self->ids++, .retired = self->retired, .insn = pipe->insn, .cycle = self->cycle};
    if (pipe->fetch < from) { /* an instruction fetched later must not appear earlier */
        happens(self, &event, APPEARS, pipe->fetch, "F");
        happens(self, &event, CHANGES, from, "Ds");
    } else {
        happens(self, &event, APPEARS, from, "Ds");
    }
    happens(self, &event, SQUASHED, tries.fault, NULL);
}

static void add_record(struct konata *self, const struct as_pipe *pipe)
{
    add_first_try(self, pipe);
    struct event event = {.id = self->ids++,
                          .retired = self->retired++,
                          .insn = pipe->insn,
                          .events = pipe->events,
                          .flags = pipe->flags,
                          .cycle = self->cycle};
    happens(self, &event, APPEARS, pipe->fetch, "F");
    happens(self, &event, CHANGES, pipe->dispatch, "Ds");
    if (pipe->issue > pipe->dispatch + 1)
        happens(self, &event, CHANGES, pipe->dispatch + 1, "Is");
    happens(self, &event, CHANGES, pipe->issue, "X");
    happens(self, &event, CHANGES, pipe->done, "Cm");
    happens(self, &event, RETIRES, pipe->commit, NULL);
    self->dispatched = pipe->dispatch;
    self->last = pipe->commit;
}

static void add(void *opaque, const struct as_pipe *pipes, size_t n)
{
    struct konata *self = opaque;
    for (size_t i = 0; i < n; i++) {
        add_record(self, &pipes[i]);
        write_before(self, self->base + pipes[i].fetch);
    }
}

static void end(void *opaque)
{
    struct konata *self = opaque;
    write_before(self, UINT64_MAX);
    self->base += self->last;
    self->last = self->dispatched = 0;
}

const struct as_trace_format as_trace_konata = {
    .name = "Konata", .start = start, .add = add, .end = end, .free = release};
