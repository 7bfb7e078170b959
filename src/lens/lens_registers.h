/* The debug registers of other processes' threads, as the native lens has them: armed for one trap each, within a budget of
 * the program's time. Armings and traps take some of it, and so does the mere watching: while a data breakpoint is enabled,
 * string instructions (rep movs, rep stos: copies, and the pages that the kernel clears) take some 14 times as long, in
 * the kernel too. */
#ifndef AS_LENS_LENS_REGISTERS_H
#define AS_LENS_LENS_REGISTERS_H

#include "base/vec.h"
#include "lens/native_lens.h"
#include "native/breakpoint.h"

struct as_lens_register {
    bool armed;
    uint32_t thread, slot;
    uint64_t generation;
    struct as_lens_watch watch;
    struct as_ring ring;
    double longest; /* seconds that the thread ran with another register, while this one was armed */
};

struct as_lens_registers {
    double budget;     /* seconds a second */
    double left, at;   /* seconds that may be spent now; when that was so */
    unsigned refusals; /* of the kernel, in a row */
    uint64_t generations;
    AS_VEC(struct as_lens_register) list; /* armed ones and free places */
    struct as_native_lens_cost *cost;
};

void as_lens_registers_start(struct as_lens_registers *registers, double budget, struct as_native_lens_cost *cost);
/* `slot`: which register of the thread. */
enum as_lens_result as_lens_registers_arm(struct as_lens_registers *registers, uint32_t tid,
                                          const struct as_lens_ref *ref, const struct as_lens_watch *watch,
                                          uint64_t *generation);
struct as_lens_register *as_lens_registers_find(struct as_lens_registers *registers, const struct as_lens_ref *ref);
void as_lens_registers_disarm(struct as_lens_registers *registers, struct as_lens_register *reg);
/* Bit n: register n of the thread is armed. */
uint32_t as_lens_registers_used(const struct as_lens_registers *registers, uint32_t thread);
/* The next one, from *at on, that has trapped; NULL: no more. It is still armed from the view of the lens, though it traps no
 * more: the caller disarms it. */
struct as_lens_register *as_lens_registers_next(struct as_lens_registers *registers, size_t *at,
                                                struct as_breakpoint_hit *hit);
void as_lens_registers_end(struct as_lens_registers *registers);

#endif
