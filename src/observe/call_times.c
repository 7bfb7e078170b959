/* The bundled observer `calls`: start and end cycle of every call, as FirePerf writes them. Argument: FILE.
 *
 * Calls follow from the call paths of the records. A path that is not on its thread's stack has been called. When a
 * path further down comes back, all above it have returned. So a longjmp ends the calls that it skips, and a tail call
 * counts as a call from the function that it replaces. A call begins when the instruction before its first one commits,
 * and ends when its last one does: the cycles of a call do not overlap with those of its caller around it.
 *
 * Names are known only when the run is over. Until then calls are stored in a nameless file, 32 bytes each.
 */
#include "assay/edge.h"
#include "base/log.h"
#include "base/vec.h"
#include "observe/bundled.h"
#include "observe/digits.h"

#include <stdlib.h>
#include <string.h>

struct call {
    uint64_t start, end;
    uint32_t thread, depth, path, unused;
};

struct frame {
    uint32_t path;
    uint64_t start;
};

struct stack {
    AS_VEC(struct frame) frames;
    AS_VEC(uint32_t) places; /* by path: the frame that it had last, which may be another path's now */
    uint64_t last;           /* commit */
};

/* What stands before a call's cycles: its thread and its depth. */
struct beginning {
    char text[2 * 12];
    uint32_t length;
};

/* What stands behind a call's numbers: the function's name, quoted if need be, and the end of the line. */
struct ending {
    char *text; /* at least SHORT bytes; NULL: not made yet */
    size_t length;
};

enum { KEPT = 512, LINES = 1 << 13, NUMBERS = 4 * 24, SHORT = 32 };

/* The digits of the number that was written last, without the last four. */
struct near {
    uint64_t above; /* as a number; UINT64_MAX: none */
    char text[16];
    uint32_t length;
};

struct calls {
    const struct as_run_info *run;
    FILE *file, *raw;
    struct call kept[KEPT]; /* calls that are not in the nameless file yet */
    size_t n_kept;
    AS_VEC(struct stack) stacks;         /* by thread */
    AS_VEC(struct ending) endings;       /* by path, when the run is over */
    AS_VEC(struct beginning) beginnings; /* by depth, those of one thread */
    uint32_t begins;                     /* … of this one */
    struct near starts, ends;            /* cycles of calls */
    char lines[LINES];                   /* lines that are not in the file yet */
    size_t n_lines;
};

static void release(void *opaque)
{
    struct calls *self = opaque;
    for (size_t i = 0; i < self->stacks.len; i++) {
        as_vec_free(&self->stacks.data[i].frames);
        as_vec_free(&self->stacks.data[i].places);
    }
    as_vec_free(&self->stacks);
    as_vec_free(&self->beginnings);
    for (size_t i = 0; i < self->endings.len; i++)
        free(self->endings.data[i].text);
    as_vec_free(&self->endings);
    if (self->raw)
        fclose(self->raw);
    free(self);
}

static void *create(const struct as_run_info *run, const char *argument)
{
    struct calls *self = as_alloc(sizeof *self);
    self->run = run;
    self->starts.above = self->ends.above = UINT64_MAX;
    if (*argument && !(self->raw = tmpfile()))
        perror("assay: the observer 'calls' cannot create a temporary file for its calls");
    if (self->raw)
        self->file = run->open(run->context, argument);
    if (self->file)
        return self;
    release(self);
    return NULL;
}

static struct stack *stack_of(struct calls *self, uint32_t thread)
{
    while (self->stacks.len <= thread)
        *as_vec_push(&self->stacks) = (struct stack){0};
    return &self->stacks.data[thread];
}

static void flush(struct calls *self)
{
    fwrite(self->kept, sizeof *self->kept, self->n_kept, self->raw);
    self->n_kept = 0;
}

/* Ends the innermost frame at cycle `end`. */
static inline void pop_one(struct calls *self, struct stack *stack, uint32_t thread, uint64_t end)
{
    const struct frame *frame = &stack->frames.data[--stack->frames.len];
    struct call *call = &self->kept[self->n_kept++];
    call->start = frame->start;
    call->end = end;
    call->thread = thread;
    call->depth = (uint32_t)stack->frames.len;
    call->path = frame->path;
    if (__builtin_expect(self->n_kept == KEPT, 0))
        flush(self);
}

/* Ends all frames from `depth` on at cycle `end`. */
static inline void pop(struct calls *self, struct stack *stack, uint32_t thread, size_t depth, uint64_t end)
{
    while (stack->frames.len > depth)
        pop_one(self, stack, thread, end);
}

static __attribute__((noinline)) void make_place(struct stack *stack, uint32_t path)
{
    while (stack->places.len <= path)
        *as_vec_push(&stack->places) = 0;
}

/* The thread continues in `path`; the preceding path ended at cycle `now`. */
static inline void enter(struct calls *self, struct stack *stack, uint32_t thread, uint32_t path, uint64_t now)
{
    if (__builtin_expect(path >= stack->places.len, 0))
        make_place(stack, path);
    uint32_t *place = &stack->places.data[path];
    if (*place < stack->frames.len && stack->frames.data[*place].path == path) {
        pop(self, stack, thread, *place + 1, now);
        return;
    }
    *place = (uint32_t)stack->frames.len;
    *as_vec_push(&stack->frames) = (struct frame){.path = path, .start = now};
}

static uint32_t top_of(const struct stack *stack)
{
    return stack->frames.len ? stack->frames.data[stack->frames.len - 1].path : UINT32_MAX;
}

static void follow(struct calls *self, struct stack *stack, uint32_t thread, const struct as_pipe *pipes, size_t n,
                   uint64_t before)
{
    uint32_t path = top_of(stack);
    for (size_t i = 0; i < n; i++) {
        if (__builtin_expect(pipes[i].path == path, 1))
            continue;
        path = pipes[i].path;
        enter(self, stack, thread, path, i ? before + pipes[i - 1].commit : stack->last);
    }
    stack->last = before + pipes[n - 1].commit;
}

static void observe(void *opaque, const struct as_pipe_batch *batch)
{
    struct stack *stack = stack_of(opaque, batch->thread);
    follow(opaque, stack, batch->thread, batch->pipes, batch->n, batch->cycles_before);
    if (batch->pipes[batch->n - 1].flags & AS_PIPE_LAST)
        pop(opaque, stack, batch->thread, 0, stack->last);
}

static void observe_edges(void *opaque, const struct as_edge_batch *batch)
{
    struct stack *stack = stack_of(opaque, batch->thread);
    uint64_t last = stack->last;
    uint32_t path = top_of(stack);
    for (const struct as_edge_run *run = batch->runs, *end = run + batch->n_runs; run < end; run++) {
        if (__builtin_expect(run->path != path, 0))
            enter(opaque, stack, batch->thread, path = run->path, last);
        last = batch->cycles_before + as_edge_run_commit(run);
    }
    stack->last = last;
    if (batch->last)
        pop(opaque, stack, batch->thread, 0, last);
}

/* ---- the end ---- */

/* A name that contains a comma or a quote is quoted. */
static struct ending make_ending(const char *name)
{
    size_t length = strlen(name), n = 0;
    bool quoted = name[strcspn(name, ",\"")] != '\0';
    char *text = as_alloc(2 * length + 4 + SHORT);
    if (quoted)
        text[n++] = '"';
    for (const char *c = name; *c; c++) {
        if (*c == '"')
            text[n++] = '"';
        text[n++] = *c;
    }
    if (quoted)
        text[n++] = '"';
    text[n++] = '\n';
    return (struct ending){text, n};
}

static __attribute__((noinline)) const struct ending *look_up_ending(struct calls *self, uint32_t path)
{
    while (self->endings.len <= path)
        *as_vec_push(&self->endings) = (struct ending){0};
    struct ending *ending = &self->endings.data[path];
    const char *name = "[unknown]";
    if (!ending->text) {
        self->run->frames(self->run->context, path, &name, 1);
        *ending = make_ending(name);
    }
    return ending;
}

static inline const struct ending *ending_of(struct calls *self, uint32_t path)
{
    bool known = path < self->endings.len && self->endings.data[path].text;
    return __builtin_expect(known, 1) ? &self->endings.data[path] : look_up_ending(self, path);
}

/* Writes the number and a comma; returns what is behind it. */
static inline char *put_number(char *to, uint64_t number)
{
    to = as_digits_put(to, number);
    *to = ',';
    return to + 1;
}

static __attribute__((noinline)) char *put_far(char *to, struct near *near, uint64_t number)
{
    char *end = put_number(to, number);
    if (number < AS_FOUR_DIGITS)
        return end;
    near->above = number / AS_FOUR_DIGITS;
    near->length = (uint32_t)(end - to) - 5;
    memcpy(near->text, to, near->length);
    return end;
}

/* The same for one of numbers that are close together: of the last one, all digits but four are still there. */
static inline char *put_near(char *to, struct near *near, uint64_t number)
{
    uint64_t above = number / AS_FOUR_DIGITS;
    if (__builtin_expect(above != near->above, 0))
        return put_far(to, near, number);
    memcpy(to, near->text, sizeof near->text);
    to += near->length;
    memcpy(to, as_four_digits[number % AS_FOUR_DIGITS], 4);
    to[4] = ',';
    return to + 5;
}

static __attribute__((noinline)) void make_beginnings(struct calls *self, const struct call *call)
{
    if (call->thread != self->begins)
        as_vec_clear(&self->beginnings);
    self->begins = call->thread;
    while (self->beginnings.len <= call->depth) {
        char text[2 * 24] = {0}, *end = put_number(put_number(text, call->thread), self->beginnings.len);
        struct beginning *beginning = as_vec_push(&self->beginnings);
        memcpy(beginning->text, text, sizeof beginning->text);
        beginning->length = (uint32_t)(end - text);
    }
}

static inline const struct beginning *beginning_of(struct calls *self, const struct call *call)
{
    if (__builtin_expect(call->thread != self->begins || call->depth >= self->beginnings.len, 0))
        make_beginnings(self, call);
    return &self->beginnings.data[call->depth];
}

static void write_lines(struct calls *self)
{
    fwrite(self->lines, 1, self->n_lines, self->file);
    self->n_lines = 0;
}

static void write_call(struct calls *self, const struct call *call)
{
    const struct ending *ending = ending_of(self, call->path);
    if (self->n_lines + NUMBERS + SHORT + ending->length > LINES)
        write_lines(self);
    const struct beginning *beginning = beginning_of(self, call);
    char *end = self->lines + self->n_lines;
    memcpy(end, beginning->text, sizeof beginning->text);
    end = put_near(end + beginning->length, &self->starts, call->start);
    end = put_near(end, &self->ends, call->end);
    self->n_lines = (size_t)(end - self->lines);
    if (ending->length > LINES - NUMBERS - SHORT) { /* a name of C++ may be that long */
        write_lines(self);
        fwrite(ending->text, 1, ending->length, self->file);
        return;
    }
    memcpy(end, ending->text, SHORT); /* mostly all of it, and of a size that is known */
    if (ending->length > SHORT)
        memcpy(end + SHORT, ending->text + SHORT, ending->length - SHORT);
    self->n_lines += ending->length;
}

static void finish(void *opaque, FILE *out)
{
    struct calls *self = opaque;
    size_t n;
    for (uint32_t thread = 0; thread < self->stacks.len; thread++) /* the run was cut short */
        pop(self, &self->stacks.data[thread], thread, 0, self->stacks.data[thread].last);
    flush(self);
    if (fflush(self->raw) != 0 || ferror(self->raw))
        as_log_error("calls are missing: the temporary file for them could not be written");
    rewind(self->raw);
    fputs("thread,depth,start,end,function\n", self->file);
    while ((n = fread(self->kept, sizeof *self->kept, KEPT, self->raw)) > 0)
        for (size_t i = 0; i < n; i++)
            write_call(self, &self->kept[i]);
    write_lines(self);
}

const struct as_observer as_calls_observer = {
    .version = AS_OBSERVER_VERSION,
    .record_size = sizeof(struct as_pipe),
    .name = "calls",
    .create = create,
    .batch = observe,
    .finish = finish,
    .free = release,
    .edges = observe_edges,
};
