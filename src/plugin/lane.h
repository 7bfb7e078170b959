/* Writing into the lanes of engine/wire.h from inside QEMU: the hot path is inline here, everything rare is in lane.c.
 */
#ifndef AS_PLUGIN_LANE_H
#define AS_PLUGIN_LANE_H

#include "assay/insn.h"
#include "engine/wire.h"

#include <sys/types.h>

/* A wait for another thread ends by itself after so many milliseconds, should nobody wake this one. That is longer than the kernel's tick (4 ms
 * on most): a timer that comes before the next tick is written into the processor's own, on a virtual machine by way of its host, for each wait
 * and again for what comes after it. A program that takes a contended lock all the time took 1.6 times as long with one millisecond. */
enum { AS_PLUGIN_VCPUS = 65536, AS_LANE_NAP = 5 };

/* This process's share of the plugin's state. */
struct as_plugin {
    struct as_wire_header *wire;
    enum as_arch arch;
    uint32_t process, image;
    uint32_t recording;                      /* enum as_wire_accesses: what code that is translated now reports */
    void (*switch_recording)(unsigned vcpu); /* has code executed that is as `wire` wants it, with an empty sieve */
    pid_t pid;
    bool guest_base_known;
    uint64_t guest_base;
    struct as_wire_lane *code; /* the lane for translated code; guarded by the lock in code.c */
};
extern struct as_plugin as_plugin;

/* Each vcpu's lane. A vcpu that has not run yet has the unclaimed lane, which sends its first block to the slow path.
 */
extern struct as_wire_lane *as_lane_of[AS_PLUGIN_VCPUS];
extern struct as_wire_lane as_lane_unclaimed;

void as_lane_setup(void);
struct as_wire_lane *as_lane_mine(void);                            /* of the calling thread; NULL: none */
void as_lane_push_slowly(struct as_wire_lane *lane, uint64_t word); /* the chunk is full */
/* Claims the vcpu's lane, or holds the thread back if it is ahead. Returns whether it waited for others to keep close to them. */
bool as_lane_check(unsigned vcpu);
void as_lane_ask(unsigned vcpu); /* publishes, and waits until the reader lets the thread go on */
/* Before an atomic: waits until no other thread is behind in simulated time, if the reader orders them. Returns whether it did. */
bool as_lane_take_turn(unsigned vcpu);
struct as_wire_lane *as_lane_claim(bool is_code);
void as_lane_publish(struct as_wire_lane *lane);
/* The same, of a thread that waits for another one and not for the reader: a reader that sleeps is woken only if there is much to read. */
void as_lane_publish_quietly(struct as_wire_lane *lane);
void as_lane_end(struct as_wire_lane *lane);
void as_lane_enter_syscall(struct as_wire_lane *lane);
void as_lane_leave_syscall(struct as_wire_lane *lane, bool waited);
uint32_t as_lane_count_settled(void); /* threads of this process that have come to a gate or a system call */
void as_lane_start_thread(unsigned vcpu, const struct as_wire_lane *parent);
void as_lane_note_birth(unsigned vcpu); /* the calling thread makes the thread that will be this vcpu */
uint64_t as_lane_clock(const struct as_wire_lane *lane);
/* Whether a lane is that of another thread of the same program, which runs. */
bool as_lane_is_fellow(const struct as_wire_lane *other, const struct as_wire_lane *lane);
uint32_t as_lane_count_live(void);
void as_lane_wake_waiters(void); /* those that are ahead look again */
_Noreturn void as_plugin_die(const char *message);

/* There must be room in the chunk. */
static inline void as_lane_append(struct as_wire_lane *lane, uint64_t word)
{
    uint64_t *at = lane->write;
    *at = word;
    atomic_signal_fence(memory_order_release); /* a killed writer's last word counts: it must be there first */
    lane->write = at + 1;
}

static inline void as_lane_push(struct as_wire_lane *lane, uint64_t word)
{
    if (__builtin_expect(lane->write == lane->chunk_end, 0))
        as_lane_push_slowly(lane, word);
    else
        as_lane_append(lane, word);
}

/* The same past the host's caches, for all that comes often. The reader, as a rule on another processor, has the ring's lines in its
 * caches, and to get each of them back for writing takes longer than the guest takes to fill it: of processors that share no cache,
 * two to three times as long. Other threads see such words in any order until as_lane_publish, so a lane whose words are looked at
 * before that (lane_idle.c), which is one with stamps, has none. A killed writer's are there when it has ended. */
static inline void as_lane_stream(struct as_wire_lane *lane, uint64_t word)
{
#if defined(__x86_64__)
    uint64_t *at = lane->write;
    if (__builtin_expect(at == lane->chunk_end, 0)) {
        as_lane_push_slowly(lane, word);
        return;
    }
    __builtin_ia32_movnti64((long long *)at, (long long)word);
    atomic_signal_fence(memory_order_release);
    lane->write = at + 1;
#else
    as_lane_push(lane, word);
#endif
}

#endif
