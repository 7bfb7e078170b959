/* A small JIT whose functions are known: jit_first and jit_second lie side by side in anonymous memory, jit_third later where
 * jit_second was. Each loops a number of times, twice as often as the one before it.
 *
 *   jit map|dump|none [LOOPS [DIRECTORY]]
 *
 * tells profilers of them as runtimes do: in DIRECTORY/perf-PID.map (default /tmp), or in DIRECTORY/jit-PID.dump (default .),
 * which holds their bytes and is mapped for the recorder to see.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { ROOM = 64, PAGE = 4096, MAGIC = 0x4a695444, LOAD = 0 };

static FILE *map, *dump;
static void *marker;

#if defined(__x86_64__)
enum { MACHINE = 62 };
/* mov $loops, %r; 1: dec %r; jnz 1b; ret */
static size_t make(uint8_t *code, uint32_t loops, int reg)
{
    const uint8_t head = (uint8_t)(0xb8 + reg), tail[] = {0xff, (uint8_t)(0xc8 + reg), 0x75, 0xfc, 0xc3};
    code[0] = head;
    memcpy(code + 1, &loops, 4);
    memcpy(code + 5, tail, sizeof tail);
    return 5 + sizeof tail;
}
#elif defined(__riscv)
enum { MACHINE = 243 };
/* lui r, loops; 1: addi r, r, -1; bnez r, 1b; ret */
static size_t make(uint8_t *code, uint32_t loops, int reg)
{
    uint32_t r = (uint32_t)(5 + reg);
    const uint32_t words[] = {(loops & ~0xfffu) | r << 7 | 0x37, 0xfff00013 | r << 15 | r << 7, 0xfe001ee3 | r << 15,
                              0x00008067};
    memcpy(code, words, sizeof words);
    return sizeof words;
}
#endif

struct header {
    uint32_t magic, version, size, machine, pad, pid;
    uint64_t time, flags;
};
struct load {
    uint32_t id, total;
    uint64_t time;
    uint32_t pid, tid;
    uint64_t vma, address, size, index;
};

static uint64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static void open_files(const char *kind, const char *directory)
{
    char path[4200];
    if (strcmp(kind, "map") == 0) {
        snprintf(path, sizeof path, "%s/perf-%d.map", directory ? directory : "/tmp", getpid());
        map = fopen(path, "w");
    } else if (strcmp(kind, "dump") == 0) {
        struct header header = {MAGIC, 1, sizeof header, MACHINE, 0, (uint32_t)getpid(), now(), 0};
        snprintf(path, sizeof path, "%s/jit-%d.dump", directory ? directory : ".", getpid());
        dump = fopen(path, "w+");
        if (!dump || fwrite(&header, sizeof header, 1, dump) != 1 || fflush(dump) != 0)
            exit(2);
        marker = mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(dump), 0);
    }
}

static void tell(const char *name, const uint8_t *code, size_t size)
{
    static uint64_t index;
    if (map) {
        fprintf(map, "%" PRIxPTR " %zx %s\n", (uintptr_t)code, size, name);
        fflush(map);
    }
    if (dump) {
        struct load load = {LOAD,
                            (uint32_t)(sizeof load + strlen(name) + 1 + size),
                            now(),
                            (uint32_t)getpid(),
                            (uint32_t)getpid(),
                            (uintptr_t)code,
                            (uintptr_t)code,
                            size,
                            index++};
        fwrite(&load, sizeof load, 1, dump);
        fwrite(name, strlen(name) + 1, 1, dump);
        fwrite(code, size, 1, dump);
        fflush(dump);
    }
}

static void compile_and_run(const char *name, uint8_t *code, uint32_t loops, int reg)
{
    size_t size = make(code, loops, reg);
    __builtin___clear_cache((char *)code, (char *)code + size);
    tell(name, code, size);
    ((void (*)(void))(uintptr_t)code)();
}

int main(int argc, char **argv)
{
    uint32_t loops = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) & ~0xfffu : 1 << 16;
    uint8_t *code = mmap(NULL, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (code == MAP_FAILED || argc < 2) {
        fprintf(stderr, "usage: jit map|dump|none [LOOPS [DIRECTORY]]\n");
        return 2;
    }
    open_files(argv[1], argc > 3 ? argv[3] : NULL);
    compile_and_run("jit_first", code, loops, 0);
    compile_and_run("jit_second", code + ROOM, 2 * loops, 1);
    compile_and_run("jit_third", code + ROOM, 4 * loops, 2);
    printf("pid %d\n", getpid());
    return 0;
}
