/* Ways of sampling on made-up records: what each of them sees of a program whose times are known. */
#include "blocks/units.h"

#include "unit.h"

enum { LOOP = 10, ROUNDS = 20000 };

static const struct as_insn *insn_of(void *context, uint32_t id)
{
    static struct as_insn insns[LOOP];
    insns[id] = (struct as_insn){.address = 0x1000 + 4 * (uint64_t)id, .length = 4, .n_uops = id == 3 ? 4 : 1};
    return &insns[id];
}
static const struct as_run_info run = {.insn = insn_of};

/* A loop of ten instructions; the fourth takes `slow` cycles to retire, the others retire two a cycle. The last jumps
 * back. */
static void feed(struct as_units *units, uint64_t slow)
{
    struct as_pipe pipes[LOOP];
    uint64_t cycle = 1;
    for (int round = 0; round < ROUNDS; round++) {
        for (uint32_t i = 0; i < LOOP; i++) {
            cycle += i == 3 ? slow : i % 2;
            pipes[i] =
                (struct as_pipe){.commit = cycle, .insn = i, .uops = 1, .flags = i == LOOP - 1 ? AS_PIPE_TAKEN : 0};
        }
        as_units_observer.batch(
            units, &(struct as_pipe_batch){.size = sizeof(struct as_pipe_batch), .n = LOOP, .pipes = pipes});
    }
}

static bool place(void *context, uint64_t address, struct as_cfg *cfg, uint32_t *module, uint64_t *offset)
{
    *module = 0;
    *offset = address;
    return true;
}

static size_t way_of(const char *name)
{
    for (size_t i = 0; i < as_ways_count; i++)
        if (strcmp(as_ways[i].name, name) == 0)
            return i;
    fail_msg("no way %s", name);
    return 0;
}

static struct as_samples *samples_of(struct as_units *units, const char *name)
{
    struct as_samples *samples = as_units_samples(units, way_of(name));
    assert_non_null(samples);
    struct as_cfg *cfg = as_cfg_new(NULL);
    as_samples_settle(samples, cfg, place, NULL);
    as_cfg_free(cfg);
    return samples;
}

static double total(const as_samples_pairs *pairs)
{
    double sum = 0;
    for (size_t i = 0; i < pairs->len; i++)
        sum += pairs->data[i].weight;
    return sum;
}

static struct as_units *sampled(uint32_t kind, uint64_t slow, uint64_t period)
{
    static struct as_pmu pmu;
    pmu = (struct as_pmu){
        .kind = kind, .pdir = true, .lbr = 8, .random_bits = 4, .shadow = {[AS_SHADOW_INSTRUCTIONS] = 3}};
    struct as_units *units =
        as_units_new(&run, &(struct as_units_options){.pmu = &pmu, .period = period, .skid = 5, .seed = 1});
    feed(units, slow);
    return units;
}

/* A round period of ten times the loop samples one instruction only; a prime one all of them alike. */
static void test_periods(void **state)
{
    struct as_units *units = sampled(AS_PMU_PEBS, 1, 100);
    assert_int_equal(as_samples_ips(samples_of(units, "precise"))->len, 1);
    const as_samples_pairs *ips = as_samples_ips(samples_of(units, "pdir"));
    assert_int_equal(ips->len, LOOP);
    for (size_t i = 0; i < ips->len; i++) /* 198 each, one more or less */
        assert_true(ips->data[i].count >= 197 && ips->data[i].count <= 199);
    assert_true(as_samples_ips(samples_of(units, "random"))->len > 1);
    as_units_free(units);
}

/* Samples stand for all that was counted, up to the last period. */
static void test_weights(void **state)
{
    struct as_units *units = sampled(AS_PMU_PEBS, 20, 500);
    for (size_t i = 0; i < as_ways_count; i++) {
        struct as_samples *samples = as_units_samples(units, i);
        if (!samples || as_ways[i].same_samples || as_ways[i].trigger == AS_UNIT_BRANCHES)
            continue;
        double weight = total(as_samples_ips(samples_of(units, as_ways[i].name)));
        assert_true(weight <= LOOP * ROUNDS && weight >= LOOP * ROUNDS - 2000);
    }
    as_units_free(units);
}

/* What retires in the shadow of the overflow is never sampled: the instruction behind the slow one gets its share. */
static void test_shadow(void **state)
{
    struct as_units *units = sampled(AS_PMU_PEBS, 20, 500);
    const as_samples_pairs *ips = as_samples_ips(samples_of(units, "prime"));
    double most = 0;
    for (size_t i = 0; i < ips->len; i++)
        most = ips->data[i].weight > most && ips->data[i].from == 3 + 1 + 1 ? ips->data[i].weight : most;
    assert_true(most > 0.5 * total(ips)); /* IP+1 of the slow one */
    as_units_free(units);
}

/* Every run of the stack is the whole loop. */
static void test_stack(void **state)
{
    struct as_units *units = sampled(AS_PMU_PEBS, 7, 600);
    const as_samples_pairs *runs = as_samples_runs(samples_of(units, "lbr"));
    assert_int_equal(runs->len, 1);
    assert_int_equal(runs->data[0].from, 1);
    assert_int_equal(runs->data[0].to, LOOP);
    double weight = total(runs);
    assert_true(weight <= ROUNDS && weight >= ROUNDS - 300);
    as_units_free(units);
}

static void test_ops(void **state)
{
    struct as_units *units = sampled(AS_PMU_IBS, 1, 100);
    const as_samples_pairs *ips = as_samples_ips(samples_of(units, "uops"));
    double all = total(ips), fourth = 0;
    for (size_t i = 0; i < ips->len; i++)
        fourth += ips->data[i].from == 3 + 1 ? ips->data[i].weight : 0;
    assert_true(fourth > 0.25 * all && fourth < 0.36 * all); /* 4 of 13 micro-operations, not 1 of 10 instructions */
    double random =
        total(as_samples_ips(samples_of(units, "uops-random"))); /* of another period, but the same on average */
    assert_true(random > 0.98 * all && random < 1.02 * all);
    assert_int_not_equal(as_samples_ips(samples_of(units, "uops-random"))->data[0].count, ips->data[0].count);
    assert_null(as_units_samples(units, way_of("prime")));
    as_units_free(units);
}

static void test_primes(void **state)
{
    assert_int_equal(as_units_prime(2000), 2003);
    assert_int_equal(as_units_prime(2003), 2003);
    assert_int_equal(as_units_prime(0), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_periods), cmocka_unit_test(test_weights), cmocka_unit_test(test_shadow),
        cmocka_unit_test(test_stack),   cmocka_unit_test(test_ops),     cmocka_unit_test(test_primes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
