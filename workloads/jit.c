/* A small JIT whose functions are known: jit_first and jit_second lie side by side in anonymous memory, jit_third later where
 * jit_second was. Each loops a number of times, twice as often as the one before it. All have room for 64 bytes; the loop of
 * jit_third lies where jit_second had nothing to execute.
 *
 *   jit map|dump|none [LOOPS [DIRECTORY [calls|copies]]]
 *
 * With `calls` instead: jit_caller calls jit_heavy, which loops eight times LOOPS; then jit_light, which lies where jit_heavy was
 * and loops LOOPS times; jit_other lies where jit_caller was and calls jit_light, too. With `copies`: jit_one, then the same code as
 * jit_two at the same place.
 *
 * It tells profilers of them as runtimes do: in DIRECTORY/perf-PID.map (default /tmp), or in DIRECTORY/jit-PID.dump (default .),
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
/* mov $loops, %r; jmp 1f; `gap` bytes; 1: dec %r; jnz 1b; ret */
static void make(uint8_t *code, uint32_t loops, int reg, uint8_t gap)
{
    const uint8_t tail[] = {0xff, (uint8_t)(0xc8 + reg), 0x75, 0xfc, 0xc3};
    code[0] = (uint8_t)(0xb8 + reg);
    memcpy(code + 1, &loops, 4);
    code[5] = 0xeb;
    code[6] = gap;
    memcpy(code + 7 + gap, tail, sizeof tail);
}

/* mov $mark, %r8d; call the code that begins ROOM bytes behind; ret */
static void make_caller(uint8_t *code, uint32_t mark)
{
    const uint32_t distance = ROOM - 11;
    code[0] = 0x41;
    code[1] = 0xb8;
    memcpy(code + 2, &mark, 4);
    code[6] = 0xe8;
    memcpy(code + 7, &distance, 4);
    code[11] = 0xc3;
}
#elif defined(__riscv)
enum { MACHINE = 243 };
/* lui r, loops; j 1f; `gap` bytes; 1: addi r, r, -1; bnez r, 1b; ret */
static void make(uint8_t *code, uint32_t loops, int reg, uint8_t gap)
{
    uint32_t r = (uint32_t)(5 + reg);
    const uint32_t head[] = {(loops & ~0xfffu) | r << 7 | 0x37, (uint32_t)(4 + gap) << 20 | 0x6f};
    const uint32_t tail[] = {0xfff00013 | r << 15 | r << 7, 0xfe001ee3 | r << 15, 0x00008067};
    memcpy(code, head, sizeof head);
    memcpy(code + sizeof head + gap, tail, sizeof tail);
}

/* li t0, mark; addi sp, sp, -16; sd ra, 8(sp); jal the code that begins ROOM bytes behind; ld ra, 8(sp); addi sp, sp, 16; ret */
static void make_caller(uint8_t *code, uint32_t mark)
{
    const uint32_t words[] = {mark << 20 | 0x293, 0xff010113, 0x00113423, (uint32_t)(ROOM - 12) << 20 | 0xef,
                              0x00813083,         0x01010113, 0x00008067};
    memcpy(code, words, sizeof words);
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

static void publish(const char *name, uint8_t *code)
{
    __builtin___clear_cache((char *)code, (char *)code + ROOM);
    tell(name, code, ROOM);
}

static void run(uint8_t *code)
{
    ((void (*)(void))(uintptr_t)code)();
}

static void compile_and_run(const char *name, uint8_t *code, uint32_t loops, int reg, uint8_t gap)
{
    make(code, loops, reg, gap);
    publish(name, code);
    run(code);
}

static void compile_calls(uint8_t *caller, uint32_t loops)
{
    uint8_t *callee = caller + ROOM;
    make(callee, 8 * loops, 0, 0);
    publish("jit_heavy", callee);
    make_caller(caller, 1);
    publish("jit_caller", caller);
    run(caller);
    make(callee, loops, 0, 0);
    publish("jit_light", callee);
    run(caller);
    make_caller(caller, 2);
    publish("jit_other", caller);
    run(caller);
}

int main(int argc, char **argv)
{
    uint32_t loops = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) & ~0xfffu : 1 << 16;
    uint8_t *code = mmap(NULL, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (code == MAP_FAILED || argc < 2) {
        fprintf(stderr, "usage: jit map|dump|none [LOOPS [DIRECTORY [calls|copies]]]\n");
        return 2;
    }
    open_files(argv[1], argc > 3 ? argv[3] : NULL);
    if (argc > 4 && strcmp(argv[4], "copies") == 0) {
        compile_and_run("jit_one", code, loops, 0, 0);
        compile_and_run("jit_two", code, loops, 0, 0);
    } else if (argc > 4) {
        compile_calls(code, loops);
    } else {
        compile_and_run("jit_first", code, loops, 0, 0);
        compile_and_run("jit_second", code + ROOM, 2 * loops, 1, 0);
        compile_and_run("jit_third", code + ROOM, 4 * loops, 2, 28);
    }
    printf("pid %d\n", getpid());
    return 0;
}
