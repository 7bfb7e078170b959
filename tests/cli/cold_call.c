/* Calls of one function, of which one meets cold memory: its instructions are those of all others. Without a C library. */
enum { CALLS = 100, STEPS = 10000, COLD = 1 << 22, HOT = 1 << 10 };
static volatile unsigned memory[COLD];

__attribute__((noinline)) static unsigned walk(unsigned at, unsigned mask)
{
    unsigned sum = 0;
    for (unsigned i = 0; i < STEPS; i++) {
        at = at * 1664525u + 1013904223u;
        sum += memory[(at >> 8 ^ (sum & 1)) & mask];
    }
    return sum;
}

void _start(void)
{
    unsigned sum = 0;
    for (unsigned i = 0; i < COLD; i += 1024) /* a word of each page */
        memory[i] = i;
    for (unsigned i = 0; i < CALLS; i++)
        sum += walk(i, i == CALLS / 2 ? COLD - 1 : HOT - 1);
    __asm__ volatile("syscall" : : "a"(60), "D"(sum & 1) : "rcx", "r11", "memory");
    __builtin_unreachable();
}
