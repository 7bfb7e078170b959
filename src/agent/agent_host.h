/* Assay's side of the agent: the shared memory, the environment that brings the agent into a program, and the results.
 * See agent_wire.h.
 *
 *     struct as_agent *agent = as_agent_open(depth, &err);
 *     … run the program with as_agent_environment(agent) …
 *     as_agent_stop(agent);
 *     … as_agent_wire(agent), as_agent_threads(agent, &n) …
 *     as_agent_close(agent);
 *
 * A thread empties the ring while the program runs. Whatever the program does to the shared memory, reads here stay
 * within its bounds; the sums themselves may then be wrong.
 */
#ifndef AS_AGENT_AGENT_HOST_H
#define AS_AGENT_AGENT_HOST_H

#include "agent/agent_wire.h"
#include "base/error.h"

#include <stddef.h>

/* More threads are counted as dropped: a program that makes them up shall not fill our memory. */
enum { AS_AGENT_MAX_THREADS = 1 << 20 };

struct as_agent_thread {
    uint32_t pid, tid;
    uint64_t start, end; /* nanoseconds; 0: not seen */
    char name[17];
};

/* Copies of what the program wrote, checked. */
struct as_agent_seen_site {
    enum as_agent_call call;
    uint32_t frames; /* 0: of all the sites that found no place; at most AS_AGENT_DEPTH */
    uint64_t stack[AS_AGENT_DEPTH];
    uint64_t count, bytes;
    uint64_t freed;            /* at most count */
    uint64_t live, live_bytes; /* at most count, bytes */
    uint64_t peak, peak_bytes;
};

struct as_agent_seen_file {
    uint64_t start, end;      /* start < end */
    char path[AS_AGENT_PATH]; /* absolute */
};

/* What the table of an image's blocks has. */
struct as_agent_seen_block {
    uint64_t start, bytes; /* start + bytes does not overflow */
    uint64_t sequence;     /* a later one has the memory of an earlier one */
    uint32_t site;         /* for as_agent_read_site */
};

struct as_agent;

/* `depth`: frames of call stacks, 1 to AS_AGENT_DEPTH. `library`: the agent's; NULL: where it is installed. */
struct as_agent *as_agent_open(const char *library, unsigned depth, struct as_error *err) AS_MUST_CHECK;
/* Before the run: images also keep a table of their blocks. */
bool as_agent_want_blocks(struct as_agent *agent, struct as_error *err) AS_MUST_CHECK;
char *const *as_agent_environment(const struct as_agent *agent); /* ours, with LD_PRELOAD */
/* Ours, for a program that runs in the model (AS_AGENT_MODEL). The caller frees it with as_agent_model_environment_free. NULL:
 * the library was not found. */
char **as_agent_model_environment(struct as_error *err) AS_MUST_CHECK;
void as_agent_model_environment_free(char **environment);
void as_agent_stop(struct as_agent *agent); /* reads what is left; once */
const struct as_agent_wire *as_agent_wire(const struct as_agent *agent);
/* The number-th image; NULL: there is none (any more). */
const struct as_agent_image *as_agent_image(const struct as_agent *agent, uint32_t number);
/* False: nothing there, or nonsense. `number`: below AS_AGENT_ALL_SITES, AS_AGENT_FILES. */
bool as_agent_read_site(const struct as_agent_image *image, uint32_t number, struct as_agent_seen_site *seen);
bool as_agent_read_file(const struct as_agent_image *image, uint32_t number, struct as_agent_seen_file *seen);
/* Every block of the table of the number-th image, in no order. After as_agent_want_blocks. */
void as_agent_each_block(const struct as_agent *agent, uint32_t number,
                         void (*each)(void *context, const struct as_agent_seen_block *block), void *context);
/* In the order of their starts. After as_agent_stop. */
const struct as_agent_thread *as_agent_threads(const struct as_agent *agent, size_t *n);
size_t as_agent_most_at_once(const struct as_agent *agent); /* threads, beside those that programs begin with */
uint64_t as_agent_dropped(const struct as_agent *agent);
void as_agent_close(struct as_agent *agent);

#endif
