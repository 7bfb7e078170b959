/* Branch prediction: TAGE for directions, a BTB for targets, a return stack, and tagged tables for indirect targets.
 *
 * The core asks once for each control transfer in program order, with the outcome in hand: the answer says what the
 * predictor would have said at fetch, and the tables are trained at the same time (immediate update; real predictors
 * train at commit, see doc/design/core.md for what that changes). Histories are the right path's: wrong-path
 * fetches do not pollute them, as with perfect history repair.
 */
#ifndef AS_CORE_PREDICTOR_H
#define AS_CORE_PREDICTOR_H

#include "core/machine.h"

struct as_predictor;
struct as_predictor *as_predictor_new(const struct as_machine *machine);
void as_predictor_free(struct as_predictor *predictor);

struct as_prediction {
    bool mispredicted; /* direction or target was wrong: resolved when the branch executes */
    bool btb_miss;     /* taken, the direction was right and the target computable at decode, but not in the BTB */
    bool fast;         /* taken as predicted, and the first-level BTB had the target: no bubble behind it */
    bool taken;        /* what was predicted … */
    uint64_t target;   /* … and where the front end went (the wrong path, where mispredicted); the fall-through if not
                          taken;   0: nowhere, it waits for an indirect jump or a return that it knows nothing of */
};

/* `insn` is a control transfer that went to `next`; `taken` whether that left the fall-through path. */
struct as_prediction as_predictor_predict(struct as_predictor *predictor, const struct as_insn *insn, bool taken,
                                          uint64_t next);

/* The first `plain` transfers of a route, if it is right about all of them and has nothing to learn: `fast` and `missed` get a bit for each,
 * the first one lowest, as as_prediction has them. False: it must be asked one by one, and be told as_predictor_note then. */
struct as_route_look;
struct as_route;
bool as_predictor_pass(struct as_predictor *predictor, const struct as_route *route, uint32_t plain, uint32_t *fast,
                       uint32_t *missed, struct as_route_look *look);
void as_predictor_note(struct as_predictor *predictor, const struct as_route *route, uint32_t plain,
                       const struct as_route_look *look);

/* For the wrong path: what the predictor would say now for any control transfer, changing nothing: histories and the
 * return stack are the right path's. Returns the address where fetch would go on (0: unknown target). */
uint64_t as_predictor_peek(struct as_predictor *predictor, const struct as_insn *insn);

/* Storage of a hardware predictor of this size, in bytes: of each part, and of all together. */
struct as_predictor_storage {
    size_t tage, base, btb, fast, ras, indirect;
};
struct as_predictor_storage as_predictor_storage(const struct as_predictor *predictor);
size_t as_predictor_bytes(const struct as_predictor *predictor);

#endif
