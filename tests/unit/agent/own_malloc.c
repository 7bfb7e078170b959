/* A program with a malloc of its own: the agent's is never called. */
#include <stdlib.h>

static _Alignas(16) char room[1 << 16];
static size_t used;

__attribute__((visibility("default"))) void *malloc(size_t size)
{
    size_t at = used;
    used += (size + 15) & ~(size_t)15;
    return used <= sizeof room ? room + at : NULL;
}

__attribute__((visibility("default"))) void free(void *block)
{
}

__attribute__((visibility("default"))) void *calloc(size_t n, size_t size)
{
    return malloc(n * size); /* fresh memory is 0 */
}

__attribute__((visibility("default"))) void *realloc(void *block, size_t size)
{
    char *moved = malloc(size);
    for (size_t i = 0; block && moved && i < size && (char *)block + i < room + sizeof room; i++)
        moved[i] = ((char *)block)[i];
    return moved;
}

int main(void)
{
    char *volatile block = malloc(50);
    block[0] = 1;
    return 0;
}
