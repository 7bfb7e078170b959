/* What observers cost a record: the Oracle, and the samplers one by one and together at several periods. Not a test:
 * build/tests/unit/sampler/bench_observers. Times are CPU time of the calling thread, less what looking at the clock
 * takes; the best of three. */
#include "observe/oracle.h"
#include "pipe_gen.h"
#include "sampler/sampling.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum { BATCH = 4096, BATCHES = 64, ROUNDS = 10 };

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

/* The stream over and over, each time behind the one before. */
static double measure_once(const struct as_observer *ops, void *self, const struct as_pipe *pipes)
{
    static struct as_pipe buffer[BATCH];
    double total = 0;
    uint64_t span = pipes[BATCH * BATCHES - 1].commit;
    for (int i = 0; i < BATCHES * ROUNDS; i++) {
        memcpy(buffer, pipes + i % BATCHES * BATCH, sizeof buffer);
        for (int j = 0; j < BATCH; j++) {
            buffer[j].fetch += span * (uint64_t)(i / BATCHES);
            buffer[j].dispatch += span * (uint64_t)(i / BATCHES);
            buffer[j].done += span * (uint64_t)(i / BATCHES);
            buffer[j].commit += span * (uint64_t)(i / BATCHES);
        }
        struct as_pipe_batch batch = {.size = sizeof batch, .thread = 1, .n = BATCH, .pipes = buffer};
        double start = now();
        ops->batch(self, &batch);
        total += now() - start;
    }
    return total / (BATCHES * ROUNDS * BATCH);
}

static void nothing(void *self, const struct as_pipe_batch *batch)
{
}

static double measure(const struct as_observer *ops, void *self, const struct as_pipe *pipes)
{
    static const struct as_observer idle = {.batch = nothing};
    return measure_once(ops, self, pipes) - measure_once(&idle, NULL, pipes);
}

static double measure_oracle(const struct as_run_info *run, uint32_t events, const struct as_pipe *pipes)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_oracle *oracle = as_oracle_new(run, &err);
    if (oracle)
        as_oracle_set_events(oracle, events, events);
    double cost = oracle ? measure(&as_oracle_observer, oracle, pipes) : 0;
    as_oracle_free(oracle);
    return cost;
}

static double measure_sampling(const struct as_run_info *run, uint64_t period, const struct as_sampler *const *samplers,
                               size_t n, const struct as_pipe *pipes)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_sampling *sampling = as_sampling_new(run, &(struct as_schedule){.period = period}, samplers, n, &err);
    double cost = sampling ? measure(&as_sampling_observer, sampling, pipes) : 0;
    as_sampling_free(sampling);
    return cost;
}

static double oracle_best_of_three(const struct as_run_info *run, uint32_t events, const struct as_pipe *pipes)
{
    double best = 1e9;
    for (int i = 0; i < 3; i++) {
        double cost = measure_oracle(run, events, pipes);
        best = cost < best ? cost : best;
    }
    return best;
}

static double best_of_three(const struct as_run_info *run, uint64_t period, const struct as_sampler *const *samplers,
                            size_t n, const struct as_pipe *pipes)
{
    double best = 1e9;
    for (int i = 0; i < 3; i++) {
        double cost = measure_sampling(run, period, samplers, n, pipes);
        best = cost < best ? cost : best;
    }
    return best;
}

int main(void)
{
    struct pipe_gen gen = {.random = 1, .width = 4, .statics = 4000, .paths = 50, .trouble = 100};
    struct as_run_info run = pipe_gen_run(&gen);
    static struct as_pipe pipes[BATCH * BATCHES];
    static const uint64_t periods[] = {100, 1000, 10000, 100000};
    pipe_gen_fill(&gen, pipes, BATCH * BATCHES);
    pipes[BATCH * BATCHES - 1].flags &= (uint16_t)~AS_PIPE_LAST;
    printf("ns a record; %.2f instructions a cycle\n",
           (double)(BATCH * BATCHES) / (double)pipes[BATCH * BATCHES - 1].commit);
    printf("%-12s %8.2f without events, %.2f with TEA's, %.2f with all\n", "oracle",
           oracle_best_of_three(&run, 0, pipes), oracle_best_of_three(&run, AS_EVENTS_TEA, pipes),
           oracle_best_of_three(&run, AS_EVENTS_ALL, pipes));
    printf("%-12s", "period");
    for (int p = 0; p < 4; p++)
        printf(" %8d", (int)periods[p]);
    for (int i = 0; i <= AS_SAMPLER_COUNT; i++) {
        bool all = i == AS_SAMPLER_COUNT;
        printf("\n%-12s", all ? "all" : as_samplers[i]->name);
        for (int p = 0; p < 4; p++)
            printf(" %8.3f", best_of_three(&run, periods[p], all ? as_samplers : &as_samplers[i],
                                           all ? AS_SAMPLER_COUNT : 1, pipes));
    }
    printf("\n");
    return 0;
}
