/* A machine behind a lens that does what a test says: each access, each sample. Watchpoints that the client arms trap on the
 * accesses that touch them. */
#ifndef AS_TESTS_SCRIPTED_LENS_H
#define AS_TESTS_SCRIPTED_LENS_H

#include "lens/lens.h"

enum { SCRIPTED_THREADS = 66 };

struct scripted_register {
    bool armed;
    uint64_t generation;
    struct as_lens_watch watch;
};

struct scripted_lens {
    struct as_lens lens; /* for the client */
    const struct as_lens_client *client;
    void *client_context;
    uint32_t registers;              /* of a thread; 4 unless the test says otherwise */
    enum as_lens_result arm_result;  /* anything but AS_LENS_OK: the machine refuses */
    uint64_t time;                   /* goes on by one with each access */
    uint64_t armed, moved, disarmed; /* how often */
    uint64_t traps;
    bool live[SCRIPTED_THREADS];
    struct as_lens_counts counts[SCRIPTED_THREADS];
    struct scripted_register slots[SCRIPTED_THREADS][AS_LENS_REGISTERS];
    uint64_t generations;
};

void scripted_lens_init(struct scripted_lens *script);
/* The client may be set behind that; threads 0 to n - 1 start, all of one process. */
void scripted_lens_start(struct scripted_lens *script, const struct as_lens_client *client, void *context, uint32_t n);
void scripted_lens_end(struct scripted_lens *script, uint32_t thread);
/* An access of 8 bytes; returns how many traps it made. */
uint64_t scripted_lens_access(struct scripted_lens *script, uint32_t thread, uint64_t address, uint8_t kind);
/* The same, and it is sampled. */
uint64_t scripted_lens_sample(struct scripted_lens *script, uint32_t thread, uint64_t address, uint8_t kind,
                              uint64_t period);
uint32_t scripted_lens_armed(const struct scripted_lens *script, uint32_t thread); /* registers */

#endif
