/* What an instruction costs the host in the core alone, without QEMU and observers: nanoseconds, the least of some
 * runs. Not a test. */
#include "stream_gen.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { STATIC = 600, STEPS = 200000, RUNS = 15 };

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static union as_recipe_room *make_recipes(const struct core_bed *bed)
{
    union as_recipe_room *recipes = as_alloc_array(bed->code.len, sizeof *recipes);
    for (size_t i = 0; i < bed->code.len; i++)
        as_recipe_make(&bed->machine, &bed->code.data[i], &recipes[i].recipe);
    return recipes;
}

static double run(const struct core_bed *bed, const union as_recipe_room *recipes, struct as_core *core)
{
    static struct as_pipe pipes[4096];
    double start = now();
    for (size_t i = 0; i < bed->steps.len; i++) {
        struct as_op op = core_bed_op(bed, &bed->steps.data[i]);
        op.recipe = &recipes[bed->steps.data[i].insn].recipe;
        as_core_execute(core, &op, &pipes[i % 4096]);
    }
    return (now() - start) / (double)bed->steps.len;
}

static void measure(const char *name, const char *machine, const char *changes, const struct stream_mix *mix)
{
    struct core_bed bed;
    core_bed_open_machine(&bed, machine, changes);
    stream_generate(&bed, mix, 1, STATIC, STEPS);
    union as_recipe_room *recipes = make_recipes(&bed);
    struct as_uncore *uncore = as_uncore_new(&bed.machine);
    struct as_core *core = as_core_new(&bed.machine, uncore, 0, NULL, NULL);
    double least = 1e9;
    for (int i = 0; i < RUNS; i++) {
        double ns = run(&bed, recipes, core);
        least = ns < least ? ns : least;
    }
    printf("%-18s %-8s %5.1f ns an instruction\n", machine, name, least);
    as_core_free(core);
    as_uncore_free(uncore);
    free(recipes);
    core_bed_close(&bed);
}

int main(int argc, char **argv)
{
    const struct stream_mix alu = {.mul = 3}, branches = {.mul = 2, .branches = 16, .wild = 2},
                            usual = {.mul = 2,
                                     .fp = 4,
                                     .loads = 22,
                                     .stores = 10,
                                     .branches = 16,
                                     .footprint = 16 << 10,
                                     .alias = 2,
                                     .wild = 2},
                            far = {.mul = 2,
                                   .fp = 4,
                                   .loads = 22,
                                   .stores = 10,
                                   .branches = 16,
                                   .footprint = 64 << 20,
                                   .far = 30,
                                   .alias = 2,
                                   .wild = 2};
    const char *machine = argc > 1 ? argv[1] : "boom-tip", *changes = argc > 2 ? argv[2] : NULL;
    measure("alu", machine, changes, &alu);
    measure("branches", machine, changes, &branches);
    measure("usual", machine, changes, &usual);
    measure("far", machine, changes, &far);
    return 0;
}
