/* What a predictor says of routes, many transfers at a time, is what it says of each of them. Routes come again, some always with the same
 * outcomes and some not, so that what was noted of them counts and must be given up.
 *
 * usage: test_foresee MACHINE */
#include "bed_random.h"
#include "core/core.h"
#include "core/memory.h"

#include "unit.h"

enum { ROUTES = 24, TIMES = 400, GUARD = 0x5eed };

static char *machine_path;

static bool nowhere(void *context, uint64_t address, struct as_code_run *run)
{
    return false;
}

struct bed {
    struct as_insn insns[ROUTES][AS_ROUTE_STEPS];
    struct as_route routes[ROUTES];
};

/* Mostly branches; jumps, calls and returns; now and then where nobody can know beforehand where it leads. */
static void make_route(struct bed *bed, uint32_t number, uint64_t *seed)
{
    static const enum as_class classes[] = {AS_CLASS_BRANCH, AS_CLASS_BRANCH, AS_CLASS_BRANCH,        AS_CLASS_JUMP,
                                            AS_CLASS_CALL,   AS_CLASS_RETURN, AS_CLASS_JUMP_INDIRECT, AS_CLASS_BRANCH};
    struct as_route *route = &bed->routes[number];
    uint32_t kinds = number % 2 ? 4 : 8, n = 1 + number % AS_ROUTE_STEPS;
    for (uint32_t i = 0; i < n; i++) {
        struct as_insn *insn = &bed->insns[number][i];
        *insn = (struct as_insn){.address = 0x10000 + 0x400 * number + 0x20 * i, .length = 4};
        insn->class_ = classes[bed_random(seed) % kinds];
        insn->target =
            insn->class_ == AS_CLASS_RETURN || insn->class_ == AS_CLASS_JUMP_INDIRECT ? 0 : insn->address + 64;
        as_route_add(route, insn);
    }
    assert_int_equal(route->n, n);
    for (uint32_t i = 0; i < n; i++) {
        struct as_route_step *step = &route->steps[i];
        bool branch = step->insn->class_ == AS_CLASS_BRANCH;
        assert_int_equal(route->branches >> i & 1, branch);
        assert_int_equal(i < route->plain,
                         (i == 0 || i - 1 < route->plain) && (branch || step->insn->class_ == AS_CLASS_JUMP));
        step->taken = !branch || bed_random(seed) % 2;
    }
}

static void set_last(struct as_route *route, bool taken)
{
    struct as_route_step *last = &route->steps[route->n - 1];
    last->taken = taken || last->insn->class_ != AS_CLASS_BRANCH;
    for (uint32_t i = 0; i < route->n; i++) {
        const struct as_insn *insn = route->steps[i].insn;
        route->steps[i].next = !route->steps[i].taken ? insn->address + insn->length
                               : insn->target         ? insn->target
                                                      : insn->address + 128;
    }
}

static void check_route(struct as_core *together, struct as_core *apart, const struct as_route *route)
{
    uint32_t foreseen[AS_ROUTE_STEPS + 1];
    for (uint32_t i = 0; i <= AS_ROUTE_STEPS; i++)
        foreseen[i] = GUARD;
    as_core_foresee_route(together, route, foreseen);
    for (uint32_t i = 0; i < route->n; i++)
        assert_int_equal(foreseen[i],
                         as_core_foresee(apart, route->steps[i].insn, route->steps[i].taken, route->steps[i].next));
    for (uint32_t i = route->n; i <= AS_ROUTE_STEPS; i++)
        assert_int_equal(foreseen[i], GUARD);
}

static void routes_and_transfers(void **state)
{
    struct as_machine machine;
    struct as_error err = AS_ERROR_INIT;
    struct bed *bed = calloc(1, sizeof *bed);
    uint64_t seed = 7;
    assert_true(as_machine_load(machine_path, &machine, &err));
    struct as_uncore *uncore = as_uncore_new(&machine);
    struct as_core *together = as_core_new(&machine, uncore, 0, nowhere, NULL);
    struct as_core *apart = as_core_new(&machine, uncore, 1, nowhere, NULL);
    for (uint32_t i = 0; i < ROUTES; i++)
        make_route(bed, i, &seed);
    for (uint32_t i = 0; i < TIMES; i++)
        for (uint32_t k = 0; k < ROUTES; k++) {
            bool usual = i < TIMES / 2 || bed_random(&seed) % 8;
            set_last(&bed->routes[k], k % 3 == 0 ? usual : i % (k + 1) != 0);
            check_route(together, apart, &bed->routes[k]);
        }
    as_core_free(together);
    as_core_free(apart);
    as_uncore_free(uncore);
    free(bed);
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    machine_path = argv[1];
    const struct CMUnitTest tests[] = {cmocka_unit_test(routes_and_transfers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
