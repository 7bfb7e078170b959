/* The programs by which `assay trust` qualifies a sampler: small loops whose events are known (src/trust/trust_kernels.h).
 *
 * usage: qualify KERNEL [KEY=VALUE…] [threads=N]
 *
 * Keys: iterations, ratio, places, nops, fence. Each thread executes the loop on data of its own; only that lies between
 * the markers 1 and 2 (assay/marker.h). */
#include "assay/marker.h"
#include "trust/trust_kernels.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { THREADS_MAX = 64 };

struct work {
    pthread_t thread;
    void (*run)(void *data, uint64_t iterations);
    void *data;
    uint64_t iterations;
};

static void *work(void *context)
{
    struct work *own = context;
    own->run(own->data, own->iterations);
    return NULL;
}

static int usage(const char *wrong)
{
    fprintf(stderr, "qualify: %s\nusage: qualify KERNEL [KEY=VALUE...] [threads=N]\n", wrong);
    for (size_t i = 0; i < AS_KERNEL_COUNT; i++)
        fprintf(stderr, "  %-15s %s\n", as_kernels[i].name, as_kernels[i].about);
    return 2;
}

static void *map(uint64_t address, size_t size, int protection)
{
    int fixed = address ? MAP_FIXED_NOREPLACE : 0;
    void *memory = mmap((void *)(uintptr_t)address, size, protection, MAP_PRIVATE | MAP_ANONYMOUS | fixed, -1, 0);
    if (memory == MAP_FAILED) {
        perror("qualify: no memory for the code or its data");
        exit(1);
    }
    return memory;
}

static void run_threads(struct work *works, unsigned threads)
{
    ASSAY_ROI_BEGIN();
    for (unsigned i = 1; i < threads; i++)
        if (pthread_create(&works[i].thread, NULL, work, &works[i]) != 0)
            exit(1);
    work(&works[0]);
    for (unsigned i = 1; i < threads; i++)
        pthread_join(works[i].thread, NULL);
    ASSAY_ROI_END();
}

int main(int argc, char **argv)
{
    const struct as_kernel *kernel = argc > 1 ? as_kernel_find(argv[1]) : NULL;
    static struct work works[THREADS_MAX];
    unsigned threads = 1;
    if (!kernel)
        return usage(argc > 1 ? "no such kernel" : "no kernel given");
    struct as_kernel_options options = kernel->usual;
#ifdef __riscv
    options.riscv = true;
    if (!kernel->emit_riscv)
        return usage("no such kernel for RISC-V");
#endif
    for (int i = 2; i < argc; i++)
        if (sscanf(argv[i], "threads=%u", &threads) != 1 && !as_kernel_set(&options, argv[i]))
            return usage("a key or its value is wrong");
    if (threads < 1 || threads > THREADS_MAX)
        return usage("threads: 1 to 64");
    struct as_kernel_code code = {.bytes = map(AS_KERNEL_ADDRESS, AS_KERNEL_BYTES, PROT_READ | PROT_WRITE)};
    if (!as_kernel_build(kernel, &options, &code))
        return usage("so many nops do not fit");
    mprotect(code.bytes, AS_KERNEL_BYTES, PROT_READ | PROT_EXEC);
    __builtin___clear_cache((char *)code.bytes, (char *)code.bytes + AS_KERNEL_BYTES);
    for (unsigned i = 0; i < threads; i++) {
        works[i].data = map(0, AS_KERNEL_DATA + 4096, PROT_READ | PROT_WRITE);
        as_kernel_fill(kernel, works[i].data, AS_KERNEL_DATA);
        works[i].iterations = options.iterations;
        memcpy(&works[i].run, &code.bytes, sizeof works[i].run);
    }
    run_threads(works, threads);
    return 0;
}
