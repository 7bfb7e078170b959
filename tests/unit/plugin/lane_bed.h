/* The wire as memory of this process, for tests of what threads do with their lanes: vcpus are what a test calls them. */
#ifndef AS_TESTS_LANE_BED_H
#define AS_TESTS_LANE_BED_H

#include "unit.h"

#include "plugin/lane.h"
#include "plugin/one_processor.h"
#include "plugin/thread_step.h"

#include <linux/futex.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { BED_LANES = 72, BED_NOBODY = INT32_MAX /* no thread has that number */, BED_PID = 4321 };
static struct as_wire_header *wire;
static unsigned bed_joined, bed_left;      /* a processor, so many times */
static uint32_t bed_followed = UINT32_MAX; /* … which one */

void as_one_processor_join(void)
{
    bed_joined++;
}

void as_one_processor_leave(void)
{
    bed_left++;
}

void as_one_processor_follow(uint32_t chosen)
{
    bed_followed = chosen;
}

static inline void bed_open(void)
{
    void *memory = mmap(NULL, as_wire_size(BED_LANES), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(memory != MAP_FAILED);
    wire = memory;
    as_plugin = (struct as_plugin){.wire = wire, .process = 3, .image = 5, .pid = BED_PID};
    as_lane_setup();
}

/* A thread that another one has made, if it is not the first. */
static inline struct as_wire_lane *bed_start(unsigned vcpu)
{
    if (as_lane_count_live()) {
        atomic_fetch_add(&wire->woken, 1);
        as_turns_expect(1);
    }
    as_lane_start_thread(vcpu, NULL);
    as_lane_of[vcpu]->tid = BED_NOBODY;
    return as_lane_of[vcpu];
}

static inline void bed_wait_until(_Atomic uint32_t *word, uint32_t value)
{
    while (atomic_load(word) != value)
        sched_yield();
}

static inline void bed_wake(_Atomic uint32_t *word)
{
    atomic_fetch_add(word, 1);
    syscall(SYS_futex, word, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

struct bed_test {
    void (*run)(void *);
    void *argument;
};

static inline void bed_in_child(void *test)
{
    setenv("CMOCKA_TEST_ABORT", "1", 1); /* the tests behind it are the parent's */
    ((struct bed_test *)test)->run(((struct bed_test *)test)->argument);
}

/* In a process of its own: what a thread has learned stays in it. */
static inline void bed_run(void (*test)(void *), void *argument)
{
    char text[4096];
    if (unit_run_child(bed_in_child, &(struct bed_test){test, argument}, text, sizeof text) != 0)
        fail_msg("%s", text);
}

#endif
