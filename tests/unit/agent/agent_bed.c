/* See agent_bed.h. */
#include "agent_bed.h"

#include "unit.h"

void agent_bed_open(struct agent_bed *bed)
{
    struct as_error err = AS_ERROR_INIT;
    *bed = (struct agent_bed){.host = as_agent_open("/nowhere/agent.so", 4, &err)};
    assert_non_null(bed->host);
    bed->wire = (struct as_agent_wire *)as_agent_wire(bed->host);
    for (char *const *entry = as_agent_environment(bed->host); *entry; entry++)
        if (strncmp(*entry, AS_AGENT_VARIABLE "=", sizeof AS_AGENT_VARIABLE) == 0)
            bed->where = *entry + sizeof AS_AGENT_VARIABLE;
    assert_non_null(bed->where);
}

void agent_bed_start(struct agent_bed *bed)
{
    assert_true(as_agent_start(bed->where));
}

void agent_bed_close(struct agent_bed *bed)
{
    as_agent_close(bed->host);
}

struct as_agent_image *agent_bed_image(const struct agent_bed *bed, uint32_t number)
{
    struct as_agent_image *image = (struct as_agent_image *)as_agent_image(bed->host, number);
    assert_non_null(image);
    return image;
}

void agent_bed_take(enum as_agent_call call, uintptr_t block, size_t bytes, uintptr_t caller)
{
    uintptr_t frame[2] = {0, caller};
    as_agent_took(call, (const void *)block, bytes, frame);
}

struct as_agent_seen_site agent_bed_sum(const struct as_agent_image *image, uint32_t *sites)
{
    struct as_agent_seen_site sum = {0}, site;
    *sites = 0;
    for (uint32_t i = 0; i < AS_AGENT_ALL_SITES; i++) {
        if (!as_agent_read_site(image, i, &site))
            continue;
        sum.count += site.count;
        sum.bytes += site.bytes;
        sum.freed += site.freed;
        sum.live += site.live;
        sum.live_bytes += site.live_bytes;
        sum.peak += site.peak;
        sum.peak_bytes += site.peak_bytes;
        *sites += site.frames > 0;
    }
    return sum;
}
