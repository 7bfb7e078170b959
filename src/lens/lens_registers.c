/* See lens_registers.h. Arming reserves the time of a trap, and for the first register of a thread that of watching for a
 * while; what was not needed comes back when the register is disarmed. */
#include "lens/lens_registers.h"

#include "base/clock.h"

#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <stdio.h>

/* Seconds of the program's time, and how much of the budget can be saved up. A kernel that refuses so often in a row will go
 * on to do so. */
#define ARM_SECONDS 15e-6
#define TRAP_SECONDS 16e-6
#define WATCHING_SHARE 0.1     /* of the time that a thread runs with registers armed: what zstd loses */
#define WATCHING_RESERVED 0.03 /* seconds, as long as the usual watchpoint lives */
#define AT_START 0.1           /* seconds of budget time */
#define MOST_SAVED 0.2
enum { HOPELESS = 8 };

void as_lens_registers_start(struct as_lens_registers *registers, double budget, struct as_native_lens_cost *cost)
{
    *registers = (struct as_lens_registers){.budget = budget, .cost = cost, .at = as_clock_seconds()};
    registers->left = budget * AT_START;
}

void as_lens_registers_end(struct as_lens_registers *registers)
{
    for (size_t i = 0; i < registers->list.len; i++)
        if (registers->list.data[i].armed)
            as_breakpoint_close(&registers->list.data[i].ring);
    as_vec_free(&registers->list);
}

/* What is reserved for a register. */
static double price_of(const struct as_lens_registers *registers, uint32_t thread)
{
    double watching = as_lens_registers_used(registers, thread) ? 0 : WATCHING_RESERVED * WATCHING_SHARE;
    return ARM_SECONDS + TRAP_SECONDS + watching;
}

/* The smallest budget saves as much as one register costs. */
static bool is_affordable(struct as_lens_registers *registers, double price)
{
    double now = as_clock_seconds(), most = registers->budget * MOST_SAVED;
    most = most > price ? most : price;
    registers->left += (now - registers->at) * registers->budget;
    registers->left = registers->left > most ? most : registers->left;
    registers->at = now;
    return registers->budget > 0 && registers->left >= price;
}

static void spend(struct as_lens_registers *registers, double seconds)
{
    registers->left -= seconds;
    registers->cost->watching += seconds;
}

static struct as_lens_register *free_place(struct as_lens_registers *registers)
{
    for (size_t i = 0; i < registers->list.len; i++)
        if (!registers->list.data[i].armed)
            return &registers->list.data[i];
    return as_vec_push(&registers->list);
}

/* A thread that has ended meanwhile does not count as a refusal. */
static enum as_lens_result refuse(struct as_lens_registers *registers, int error)
{
    struct as_native_lens_cost *cost = registers->cost;
    if (error == ESRCH)
        return AS_LENS_GONE;
    cost->refused++;
    registers->refusals++;
    if (!cost->note[0])
        snprintf(cost->note, sizeof cost->note, "%s", as_breakpoint_refusal(error));
    return AS_LENS_REFUSED;
}

enum as_lens_result as_lens_registers_arm(struct as_lens_registers *registers, uint32_t tid,
                                          const struct as_lens_ref *ref, const struct as_lens_watch *watch,
                                          uint64_t *generation)
{
    struct as_breakpoint_order order = {.tid = tid,
                                        .type = watch->kind & AS_ACCESS_LOAD ? HW_BREAKPOINT_RW : HW_BREAKPOINT_W,
                                        .address = watch->address,
                                        .length = watch->length,
                                        .chain = true};
    if (registers->refusals >= HOPELESS)
        return AS_LENS_REFUSED;
    double price = price_of(registers, ref->thread);
    if (!is_affordable(registers, price)) {
        registers->cost->postponed++;
        return AS_LENS_BUSY;
    }
    struct as_lens_register *reg = free_place(registers);
    *reg = (struct as_lens_register){
        .thread = ref->thread, .slot = ref->slot, .generation = ++registers->generations, .watch = *watch};
    if (!as_breakpoint_open(&reg->ring, &order))
        return refuse(registers, errno);
    reg->armed = true;
    registers->refusals = 0;
    registers->cost->armings++;
    spend(registers, price);
    *generation = reg->generation;
    return AS_LENS_OK;
}

struct as_lens_register *as_lens_registers_find(struct as_lens_registers *registers, const struct as_lens_ref *ref)
{
    for (size_t i = 0; i < registers->list.len; i++) {
        struct as_lens_register *reg = &registers->list.data[i];
        if (reg->armed && reg->thread == ref->thread && reg->slot == ref->slot && reg->generation == ref->generation)
            return reg;
    }
    return NULL;
}

uint32_t as_lens_registers_used(const struct as_lens_registers *registers, uint32_t thread)
{
    uint32_t used = 0;
    for (size_t i = 0; i < registers->list.len; i++)
        if (registers->list.data[i].armed && registers->list.data[i].thread == thread)
            used |= UINT32_C(1) << registers->list.data[i].slot;
    return used;
}

/* Registers of a thread slow it down together: the one that is disarmed last pays for the longest of them. */
static void pay_watching(struct as_lens_registers *registers, const struct as_lens_register *reg)
{
    double seconds = as_breakpoint_seconds(&reg->ring);
    seconds = seconds > reg->longest ? seconds : reg->longest;
    for (size_t i = 0; i < registers->list.len; i++) {
        struct as_lens_register *other = &registers->list.data[i];
        if (other == reg || !other->armed || other->thread != reg->thread)
            continue;
        other->longest = seconds > other->longest ? seconds : other->longest;
        return;
    }
    spend(registers, (seconds - WATCHING_RESERVED) * WATCHING_SHARE);
}

/* One that has trapped since is counted, and lost: nothing waits for it any more. */
void as_lens_registers_disarm(struct as_lens_registers *registers, struct as_lens_register *reg)
{
    if (as_ring_pending(&reg->ring))
        registers->cost->traps++;
    else
        spend(registers, -TRAP_SECONDS);
    pay_watching(registers, reg);
    as_breakpoint_close(&reg->ring);
    reg->armed = false;
}

struct as_lens_register *as_lens_registers_next(struct as_lens_registers *registers, size_t *at,
                                                struct as_breakpoint_hit *hit)
{
    while (*at < registers->list.len) {
        struct as_lens_register *reg = &registers->list.data[(*at)++];
        if (!reg->armed || !as_breakpoint_take(&reg->ring, true, hit))
            continue;
        registers->cost->traps += hit->hits;
        spend(registers, hit->hits * TRAP_SECONDS);
        return reg;
    }
    return NULL;
}
