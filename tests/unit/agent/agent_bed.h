/* Both sides of the agent in one process: the shared memory that Assay makes, and the agent that gets its place. */
#ifndef AS_TESTS_AGENT_BED_H
#define AS_TESTS_AGENT_BED_H

#include "agent/agent.h"
#include "agent/agent_host.h"

struct agent_bed {
    struct as_agent *host;
    struct as_agent_wire *wire; /* the host's mapping, to be written to as a program might */
    const char *where;          /* what the agent's variable says */
};

void agent_bed_open(struct agent_bed *bed);
void agent_bed_start(struct agent_bed *bed); /* another image, in which the agent counts from now on */
void agent_bed_close(struct agent_bed *bed);
struct as_agent_image *agent_bed_image(const struct agent_bed *bed, uint32_t number);

/* An allocation by a caller with this return address, and none before it. */
void agent_bed_take(enum as_agent_call call, uintptr_t block, size_t bytes, uintptr_t caller);
/* The sum over the image's sites, those without a place too. */
struct as_agent_seen_site agent_bed_sum(const struct as_agent_image *image, uint32_t *sites);

#endif
