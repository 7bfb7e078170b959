/* A handler of SIGSEGV that comes between calls of the function that takes the time: also where nothing is measured. */
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { PAGE = 4096, ROUNDS = 6000, STEPS = 300 };
static char *page;
static volatile unsigned long kept;

static void open_page(int number)
{
    mprotect(page, PAGE, PROT_READ | PROT_WRITE);
}

__attribute__((noinline)) static unsigned long work(void)
{
    unsigned long x = kept;
    for (int i = 0; i < STEPS; i++)
        x = x * 6364136223846793005 + 1;
    return x;
}

int main(void)
{
    signal(SIGSEGV, open_page);
    page = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        return EXIT_FAILURE;
    for (int i = 0; i < ROUNDS; i++) {
        mprotect(page, PAGE, PROT_NONE);
        *(volatile char *)page = (char)i;
        kept += work();
    }
}
