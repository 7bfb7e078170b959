/* Nanoseconds of processor time for one prediction with training, average and best of some rounds, on a mix of loops,
 * patterns, biased and random branches over some hundred addresses: bench_predictor [MACHINE…]. Not a test: run it by
 * hand. */
#include "predictor_bed.h"

#include <time.h>

enum { BRANCHES = 512, LENGTH = 1 << 18, ROUNDS = 40 };

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static struct as_insn insns[BRANCHES];

struct step {
    uint16_t insn;
    bool taken;
};

static void make_steps(struct step *steps)
{
    uint64_t state = 1;
    for (uint32_t i = 0; i < BRANCHES; i++)
        insns[i] = bed_insn(AS_CLASS_BRANCH, 0x10000 + i * 24, 0x10040 + i * 24);
    for (uint32_t i = 0; i < LENGTH; i++) {
        uint32_t which = i % 17 ? i % 61 : i % BRANCHES;
        steps[i].insn = (uint16_t)which;
        steps[i].taken = which % 3 == 0   ? i % (which + 2) != 0
                         : which % 3 == 1 ? as_random(&state) % 64 != 0
                                          : (i >> which % 5 & 1) != 0;
    }
}

static uint64_t run(struct as_predictor *predictor, const struct step *steps)
{
    uint64_t wrong = 0;
    for (uint32_t i = 0; i < LENGTH; i++) {
        const struct as_insn *insn = &insns[steps[i].insn];
        uint64_t next = steps[i].taken ? insn->target : insn->address + 4;
        wrong += as_predictor_predict(predictor, insn, steps[i].taken, next).mispredicted;
    }
    return wrong;
}

static void measure(const char *name, const struct step *steps)
{
    struct as_predictor *predictor = bed_predictor(name, NULL);
    uint64_t wrong = run(predictor, steps);
    double best = 1e9, all = 0;
    for (int i = 0; i < ROUNDS; i++) {
        double start = seconds();
        wrong = run(predictor, steps);
        double spent = (seconds() - start) * 1e9 / LENGTH;
        best = spent < best ? spent : best;
        all += spent / ROUNDS;
    }
    struct as_predictor_storage part = as_predictor_storage(predictor);
    printf("%-18s %.1f ns (best round %.1f)  %.2f %% wrong  %zu bytes: tage %zu base %zu btb %zu fast %zu ras %zu "
           "indirect %zu\n",
           name, all, best, 100.0 * (double)wrong / LENGTH, as_predictor_bytes(predictor), part.tage, part.base,
           part.btb, part.fast, part.ras, part.indirect);
    as_predictor_free(predictor);
}

int main(int argc, char **argv)
{
    static const char *const names[] = {"boom-tip", "boom-tea", "golden-cove-like", "zen4-like"};
    struct step *steps = calloc(LENGTH, sizeof *steps);
    if (!steps)
        return 1;
    make_steps(steps);
    for (int i = 0; i < (argc > 1 ? argc - 1 : 4); i++)
        measure(argc > 1 ? argv[i + 1] : names[i], steps);
    free(steps);
    return 0;
}
