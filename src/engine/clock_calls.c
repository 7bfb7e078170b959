/* See clock_calls.h, and as_engine_clock_note in engine.h. */
#include "engine/clock_calls.h"

#include "engine/engine.h"

/* A loop that waits for the clock reads it once in a few hundred instructions. */
enum { MANY_READINGS = 100, BETWEEN_READINGS = 2000 };

/* What the timeout is given by. */
enum timeout { ALWAYS, NUMBER, POINTER };

struct call {
    uint32_t number;
    enum as_clock_call kind;
    enum timeout timeout;
    uint32_t argument;
};

/* Each list ends with number 0. RISC-V has only the newer forms of select, poll and epoll_wait. */
static const struct call x86_64[] = {{35, AS_CLOCK_WAIT, ALWAYS, 0},    /* nanosleep */
                                     {230, AS_CLOCK_WAIT, ALWAYS, 0},   /* clock_nanosleep */
                                     {7, AS_CLOCK_WAIT, NUMBER, 2},     /* poll */
                                     {23, AS_CLOCK_WAIT, POINTER, 4},   /* select */
                                     {232, AS_CLOCK_WAIT, NUMBER, 3},   /* epoll_wait */
                                     {270, AS_CLOCK_WAIT, POINTER, 4},  /* pselect6 */
                                     {271, AS_CLOCK_WAIT, POINTER, 2},  /* ppoll */
                                     {281, AS_CLOCK_WAIT, NUMBER, 3},   /* epoll_pwait */
                                     {441, AS_CLOCK_WAIT, POINTER, 3},  /* epoll_pwait2 */
                                     {37, AS_CLOCK_TIMER, NUMBER, 0},   /* alarm */
                                     {38, AS_CLOCK_TIMER, POINTER, 1},  /* setitimer */
                                     {223, AS_CLOCK_TIMER, POINTER, 2}, /* timer_settime */
                                     {286, AS_CLOCK_TIMER, POINTER, 2}, /* timerfd_settime */
                                     {96, AS_CLOCK_READ, ALWAYS, 0},    /* gettimeofday */
                                     {98, AS_CLOCK_READ, ALWAYS, 0},    /* getrusage */
                                     {100, AS_CLOCK_READ, ALWAYS, 0},   /* times */
                                     {201, AS_CLOCK_READ, ALWAYS, 0},   /* time */
                                     {228, AS_CLOCK_READ, ALWAYS, 0},   /* clock_gettime */
                                     {0}};
static const struct call riscv64[] = {{101, AS_CLOCK_WAIT, ALWAYS, 0},   /* nanosleep */
                                      {115, AS_CLOCK_WAIT, ALWAYS, 0},   /* clock_nanosleep */
                                      {72, AS_CLOCK_WAIT, POINTER, 4},   /* pselect6 */
                                      {73, AS_CLOCK_WAIT, POINTER, 2},   /* ppoll */
                                      {22, AS_CLOCK_WAIT, NUMBER, 3},    /* epoll_pwait */
                                      {441, AS_CLOCK_WAIT, POINTER, 3},  /* epoll_pwait2 */
                                      {103, AS_CLOCK_TIMER, POINTER, 1}, /* setitimer */
                                      {110, AS_CLOCK_TIMER, POINTER, 2}, /* timer_settime */
                                      {86, AS_CLOCK_TIMER, POINTER, 2},  /* timerfd_settime */
                                      {113, AS_CLOCK_READ, ALWAYS, 0},   /* clock_gettime */
                                      {153, AS_CLOCK_READ, ALWAYS, 0},   /* times */
                                      {165, AS_CLOCK_READ, ALWAYS, 0},   /* getrusage */
                                      {169, AS_CLOCK_READ, ALWAYS, 0},   /* gettimeofday */
                                      {0}};
static const struct call *const calls_of[AS_ARCH_COUNT] = {[AS_ARCH_X86_64] = x86_64, [AS_ARCH_RISCV64] = riscv64};

static bool has_timeout(const struct call *call, const uint64_t args[6])
{
    return call->timeout == ALWAYS ||
           (call->timeout == POINTER ? args[call->argument] != 0 : (int32_t)args[call->argument] > 0);
}

enum as_clock_call as_clock_call_of(enum as_arch arch, uint32_t number, const uint64_t args[6])
{
    for (const struct call *call = calls_of[arch]; call && call->number; call++)
        if (call->number == number)
            return has_timeout(call, args) ? call->kind : AS_CLOCK_NONE;
    return AS_CLOCK_NONE;
}

#define WAITS "the program sleeps or waits with a timeout: that waiting is not in the profile"
#define READS                                                                                                          \
    "the program reads the clock all the time: it is this computer's, and the model is slower than the modelled "      \
    "core, so loops that wait for the clock are too short in the profile"
#define TIMERS                                                                                                         \
    "the program sets timers: they run by this computer's clock, and the model is slower than the modelled core, so "  \
    "less work is done until they expire, and how much depends on this computer"

const char *as_engine_clock_note(const struct as_engine_result *result)
{
    static const char *const notes[2][2][2] = {
        {{NULL, READS}, {TIMERS, TIMERS "; " READS}},
        {{WAITS, WAITS "; " READS}, {WAITS "; " TIMERS, WAITS "; " TIMERS "; " READS}}};
    uint64_t readings = result->clock_calls[AS_CLOCK_READ];
    bool reads = readings >= MANY_READINGS && readings >= result->executed / BETWEEN_READINGS;
    return notes[result->clock_calls[AS_CLOCK_WAIT] > 0][result->clock_calls[AS_CLOCK_TIMER] > 0][reads];
}
