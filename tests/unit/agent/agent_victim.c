/* A program for test_preloaded.c: calls what the agent interposes, and checks that it still does what it should. Prints the line of what was
 * wrong and ends with 1. */
#include "new_user.h"

#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "agent_victim.c:%d: %s\n", __LINE__, #condition);                                          \
            _exit(1);                                                                                                  \
        }                                                                                                              \
    } while (0)

static void *volatile kept[32]; /* what is not freed stays in use */
static volatile size_t too_much = SIZE_MAX / 2;

static int is_zero(const char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (bytes[i])
            return 0;
    return 1;
}

/* malloc: 4 calls, 340 bytes, of which 100 and 40 go back; calloc: 2 calls, 140 bytes. */
static void take_blocks(void)
{
    for (int i = 0; i < 3; i++)
        CHECK((kept[i] = malloc(100)) && (uintptr_t)kept[i] % 16 == 0);
    memset(kept[0], 7, 100);
    free(kept[0]);
    for (int i = 3; i < 5; i++) {
        CHECK((kept[i] = calloc(10, 7)) && is_zero(kept[i], 70));
        memset(kept[i], 7, 70);
    }
    errno = 0;
    CHECK(!malloc(too_much) && errno == ENOMEM);
    errno = 0;
    CHECK(!calloc(too_much, 3) && errno == ENOMEM);
    errno = 77;
    free(NULL);
    CHECK(errno == 77);
}

/* realloc: 3 calls, 160 bytes; the first and the last of them go back. */
static void move_blocks(void)
{
    char *block = malloc(40), *other = realloc(NULL, 30);
    CHECK(block && other);
    memset(block, 9, 40);
    CHECK((block = realloc(block, 80)) && block[0] == 9 && block[39] == 9);
    kept[5] = block;
    kept[6] = other;
    errno = 0;
    CHECK(!realloc(kept[5], too_much) && errno == ENOMEM);
    CHECK(block[39] == 9);
    free(kept[6]);
    char *third = realloc(NULL, 50);
    CHECK(third && !realloc(third, 0)); /* goes back */
}

/* Aligned: 3 calls, 1261 bytes, of which 1000 go back. */
static void take_aligned(void)
{
    void *block = (void *)1;
    CHECK((kept[7] = memalign(64, 1000)) && (uintptr_t)kept[7] % 64 == 0);
    CHECK((kept[8] = aligned_alloc(128, 256)) && (uintptr_t)kept[8] % 128 == 0);
    CHECK(posix_memalign(&block, 256, 5) == 0 && (uintptr_t)block % 256 == 0);
    kept[9] = block;
    CHECK(malloc_usable_size(kept[7]) >= 1000 && malloc_usable_size(kept[8]) >= 256);
    CHECK(posix_memalign(&block, 3, 5) == EINVAL && block == kept[9]);
    CHECK(!memalign(64, too_much) && !aligned_alloc(64, too_much));
    free(kept[7]);
}

/* 2 mappings, 12288 bytes, one of which goes. */
static void map_memory(void)
{
    enum { FLAGS = MAP_PRIVATE | MAP_ANONYMOUS };
    char *one = mmap(NULL, 8192, PROT_READ | PROT_WRITE, FLAGS, -1, 0);
    char *two = mmap64(NULL, 4096, PROT_READ | PROT_WRITE, FLAGS, -1, 0);
    CHECK(one != MAP_FAILED && two != MAP_FAILED && one != two);
    one[8191] = two[0] = 1;
    CHECK(munmap(one, 8192) == 0);
    errno = 0;
    CHECK(munmap(two + 1, 4096) == -1 && errno == EINVAL);
    errno = 0;
    CHECK(mmap(NULL, 0, PROT_READ, FLAGS, -1, 0) == MAP_FAILED && errno == EINVAL);
}

static void heap(void)
{
    take_blocks();
    move_blocks();
    take_aligned();
    map_memory();
}

static int cleaned;

static void clean(void *unused)
{
    cleaned++;
}

static void *return_next(void *argument)
{
    return (char *)argument + 1;
}

static void *leave(void *argument)
{
    pthread_exit((char *)argument + 2);
}

static void *sleep_long(void *argument)
{
    pthread_cleanup_push(clean, NULL);
    for (;;)
        pause();
    pthread_cleanup_pop(0);
    return NULL;
}

/* Three threads, which end in three ways, and one that cannot begin. */
static void threads(void)
{
    pthread_t thread;
    pthread_attr_t attributes;
    void *result;
    CHECK(pthread_create(&thread, NULL, return_next, (void *)40) == 0 && pthread_join(thread, &result) == 0);
    CHECK(result == (void *)41);
    CHECK(pthread_create(&thread, NULL, leave, (void *)40) == 0 && pthread_join(thread, &result) == 0);
    CHECK(result == (void *)42);
    CHECK(pthread_create(&thread, NULL, sleep_long, NULL) == 0 && pthread_cancel(thread) == 0);
    CHECK(pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED && cleaned <= 1);
    CHECK(pthread_attr_init(&attributes) == 0 && pthread_attr_setstacksize(&attributes, SIZE_MAX / 4) == 0);
    CHECK(pthread_create(&thread, &attributes, return_next, NULL) == EAGAIN);
}

/* Operators of a library that comes with the C++ library. */
static void new_by_dlopen(const char *library)
{
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    CHECK(handle);
    void (*use)(void) = (void (*)(void))dlsym(handle, "use_new");
    CHECK(use);
    use();
    use();
}

int main(int argc, char **argv)
{
    CHECK(argc == 3);
    if (strcmp(argv[1], "heap") == 0)
        heap();
    else if (strcmp(argv[1], "threads") == 0)
        threads();
    else if (strcmp(argv[1], "new") == 0)
        new_by_dlopen(argv[2]);
#ifdef LINKED
    else if (strcmp(argv[1], "linked") == 0)
        use_new();
#endif
    else
        CHECK(!"a case that there is");
    return 0;
}
