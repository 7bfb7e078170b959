/* How fast exact reuse distances are worked out on one core, and how much memory they take, by pattern and footprint:
 * the analysis alone, fed with made-up accesses, by processor time. Prints CSV. Goal: 10 million a second up to 1 GiB.
 *
 * Memory that the analysis will need is touched once and given back before the clock starts. The host of a virtual machine may have
 * taken back memory that nobody used for a while, and giving it again takes processor time here: the first 320 MiB took 0.73
 * seconds and the same again 0.03, which is a fourth of a run of 30 million accesses and says nothing of the analysis.
 *
 * usage: reuse_speed [ACCESSES [caches|plain [PATTERN [MIB]]]] */
#include "base/random.h"
#include "reuse/reuse.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { BATCH = 4096 };
static const uint64_t MIB = 1 << 20;

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* sequential: line by line, over and over. random: any line. local: nine of ten in 32 KiB, the rest in any line. */
static uint64_t next_address(const char *pattern, uint64_t i, uint64_t bytes, uint64_t *seed)
{
    if (*pattern == 's')
        return i * 64 % bytes;
    if (*pattern == 'l' && as_random_below(seed, 10))
        return as_random_below(seed, 32 << 10);
    return as_random_below(seed, bytes / 64) * 64;
}

static void wake_memory(size_t bytes)
{
    char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return;
    for (size_t i = 0; i < bytes; i += 4096)
        memory[i] = 1;
    munmap(memory, bytes);
}

static void run(const char *pattern, uint64_t bytes, uint64_t accesses, bool caches)
{
    static struct as_data_access batch[BATCH];
    struct as_reuse_options options = {.shape = {.shift = 6, .interval = 1000000}, .sockets = 1};
    if (caches)
        options.shape =
            (struct as_reuse_shape){.shift = 6, .interval = 1000000, .levels = {{768, 12}, {32768, 16}, {983040, 15}}};
    wake_memory(caches ? 2 * bytes : bytes / 2);
    struct as_reuse *reuse = as_reuse_new(&options);
    uint64_t seed = 1;
    double spent = 0;
    for (uint64_t i = 0; i < accesses; i += BATCH) {
        for (uint64_t k = 0; k < BATCH; k++)
            batch[k] = (struct as_data_access){.address = 0x7f0000000000 + next_address(pattern, i + k, bytes, &seed),
                                               .insn = k % 64,
                                               .size = 8,
                                               .kind = k % 4 ? AS_ACCESS_LOAD : AS_ACCESS_STORE};
        struct as_access_turn turn = {.thread = 1, .process = 1, .end = BATCH};
        struct as_access_batch all = {.n = BATCH, .n_turns = 1, .accesses = batch, .turns = &turn};
        double before = seconds();
        as_reuse_observer.accesses(reuse, &all);
        spent += seconds() - before;
    }
    as_reuse_observer.finish(reuse, NULL);
    const struct as_reuse_view *view = as_reuse_all_threads(reuse);
    uint64_t footprint = view->counts.cold * 64;
    printf("%s,%" PRIu64 ",%s,%.1f,%.2f\n", pattern, footprint / MIB, caches ? "yes" : "no",
           (double)accesses / spent / 1e6, (double)as_reuse_bytes(reuse) / (double)footprint);
    fflush(stdout);
    as_reuse_free(reuse);
}

int main(int argc, char **argv)
{
    uint64_t accesses = argc > 1 ? strtoull(argv[1], NULL, 10) : 50000000;
    bool caches = argc > 2 && !strcmp(argv[2], "caches");
    const char *patterns[] = {"sequential", "random", "local"};
    printf("pattern,footprint_mib,caches,million_accesses_per_second,bytes_per_byte\n");
    for (size_t i = 0; i < 3; i++) {
        for (uint64_t mib = 1; mib <= 1024; mib *= mib == 1 ? 64 : 16)
            if ((argc <= 3 || !strcmp(argv[3], patterns[i])) && (argc <= 4 || strtoull(argv[4], NULL, 10) == mib))
                run(patterns[i], mib * MIB, accesses, caches);
    }
}
