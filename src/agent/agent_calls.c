/* The functions that the agent interposes: memory allocation and the start of threads. Each calls the next definition
 * (the C library's, or that of another allocator) and counts. See agent.h. */
#undef _FILE_OFFSET_BITS /* with it, mmap would be compiled under the name mmap64 */
#include "agent/agent.h"

#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define FRAME __builtin_frame_address(0)

static struct {
    void *(*malloc)(size_t);
    void *(*calloc)(size_t, size_t);
    void *(*realloc)(void *, size_t);
    void *(*memalign)(size_t, size_t);
    void *(*aligned_alloc)(size_t, size_t);
    int (*posix_memalign)(void **, size_t, size_t);
    void (*free)(void *);
    void *(*mmap)(void *, size_t, int, int, int, off_t);
    int (*munmap)(void *, size_t);
    int (*pthread_create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
} real;

/* Memory for allocations while dlsym searches for the functions, since dlsym may allocate. Never freed. */
static _Alignas(16) char early[16384];
static _Atomic size_t early_used;

static void *early_alloc(size_t size)
{
    size_t rounded = (size + 31) & ~(size_t)15, at; /* its size is stored before it */
    if (size > sizeof early || (at = atomic_fetch_add(&early_used, rounded)) > sizeof early - rounded) {
        errno = ENOMEM;
        return NULL;
    }
    *(size_t *)(early + at) = size;
    return early + at + 16;
}

static bool is_early(const void *pointer)
{
    return (const char *)pointer >= early && (const char *)pointer < early + sizeof early;
}

static _Atomic int state; /* 0: not searched yet; 1: a thread is searching; 2: found */

static void look_up(void)
{
    static const struct {
        const char *name;
        size_t offset;
    } wanted[] = {
#define WANTED(name) {#name, __builtin_offsetof(__typeof__(real), name)}
        WANTED(malloc),         WANTED(calloc), WANTED(realloc), WANTED(memalign), WANTED(aligned_alloc),
        WANTED(posix_memalign), WANTED(free),   WANTED(mmap),    WANTED(munmap),   WANTED(pthread_create)};
    int expected = 0;
    if (!atomic_compare_exchange_strong(&state, &expected, 1))
        return;
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        void *found = dlsym(RTLD_NEXT, wanted[i].name);
        memcpy((char *)&real + wanted[i].offset, &found, sizeof found);
    }
    atomic_store(&state, 2); /* releases `real` to ready */
}

static bool ready(void)
{
    if (atomic_load_explicit(&state, memory_order_acquire) == 2) /* acquires `real` from look_up */
        return true;
    int saved = errno;
    look_up();
    errno = saved;
    return atomic_load(&state) == 2;
}

AS_EXPORT void *malloc(size_t size)
{
    if (!ready())
        return early_alloc(size);
    void *result = real.malloc(size);
    if (result)
        as_agent_took(AS_AGENT_MALLOC, result, size, FRAME);
    return result;
}

AS_EXPORT void *calloc(size_t n, size_t size)
{
    size_t bytes;
    if (!ready())
        return __builtin_mul_overflow(n, size, &bytes) ? NULL : early_alloc(bytes); /* fresh memory is 0 */
    void *result = real.calloc(n, size);
    if (result)
        as_agent_took(AS_AGENT_CALLOC, result, n * size, FRAME);
    return result;
}

/* Moves a block from the early memory to the real heap. */
static void *move_early(void *old, size_t size)
{
    size_t before = *(size_t *)((char *)old - 16);
    void *result = ready() ? real.malloc(size) : early_alloc(size);
    if (result)
        memcpy(result, old, before < size ? before : size);
    return result;
}

AS_EXPORT void *realloc(void *old, size_t size)
{
    if (is_early(old) || !ready())
        return old ? move_early(old, size) : early_alloc(size);
    uint64_t what = as_agent_gave(old, true);
    void *result = real.realloc(old, size);
    if (result)
        as_agent_took(AS_AGENT_REALLOC, result, size, FRAME);
    else if (size > 0)
        as_agent_keep(old, what);
    return result;
}

AS_EXPORT void *memalign(size_t alignment, size_t size)
{
    void *result = ready() ? real.memalign(alignment, size) : NULL;
    if (result)
        as_agent_took(AS_AGENT_ALIGNED, result, size, FRAME);
    return result;
}

AS_EXPORT void *aligned_alloc(size_t alignment, size_t size)
{
    void *result = ready() ? real.aligned_alloc(alignment, size) : NULL;
    if (result)
        as_agent_took(AS_AGENT_ALIGNED, result, size, FRAME);
    return result;
}

AS_EXPORT int posix_memalign(void **result, size_t alignment, size_t size)
{
    int error = ready() ? real.posix_memalign(result, alignment, size) : ENOMEM;
    if (!error)
        as_agent_took(AS_AGENT_ALIGNED, *result, size, FRAME);
    return error;
}

AS_EXPORT void free(void *pointer)
{
    if (!pointer || is_early(pointer) || !ready())
        return;
    if (!as_agent_deleting(pointer))
        as_agent_gave(pointer, false);
    real.free(pointer);
}

AS_EXPORT void *mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset)
{
    if (!ready())
        return MAP_FAILED;
    void *result = real.mmap(address, size, protection, flags, fd, offset);
    if (result != MAP_FAILED)
        as_agent_mapped(size, FRAME);
    return result;
}

/* On 64-bit machines both are the same. */
AS_EXPORT void *mmap64(void *address, size_t size, int protection, int flags, int fd, off64_t offset)
    __attribute__((alias("mmap")));

AS_EXPORT int munmap(void *address, size_t size)
{
    if (!ready())
        return -1;
    int result = real.munmap(address, size);
    if (result == 0)
        as_agent_unmapped();
    return result;
}

/* GCC wants an alias to have the attributes of what it stands for; clang has no such attribute and does not ask. */
#if __has_attribute(copy)
#define LIKE_MALLOC copy(malloc),
#else
#define LIKE_MALLOC
#endif

/* A program may have its own malloc, which comes before this one and makes it unused. */
extern __typeof__(malloc) own_malloc __attribute__((LIKE_MALLOC alias("malloc"), visibility("hidden")));

__attribute__((constructor(102))) static void note_other(void)
{
    struct as_agent_image *image = as_agent_here();
    bool before = as_agent_enter();
    if (image && dlsym(RTLD_DEFAULT, "malloc") != (void *)own_malloc)
        atomic_store(&image->other, 1);
    as_agent_leave(before);
}

/* ---- threads ---- */

struct beginning {
    void *(*body)(void *);
    void *argument;
};

static void finish(void *unused)
{
    as_agent_tell(AS_AGENT_THREAD_END);
}

/* Reports the end of the thread, whether it returns, calls pthread_exit, or is cancelled. */
static void *begin(void *argument)
{
    struct beginning mine = *(struct beginning *)argument;
    void *result;
    real.free(argument);
    as_agent_thread_begin();
    as_agent_tell(AS_AGENT_THREAD_START);
    pthread_cleanup_push(finish, NULL);
    result = mine.body(mine.argument);
    pthread_cleanup_pop(1);
    return result;
}

AS_EXPORT int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*body)(void *), void *argument)
{
    if (!ready())
        return EAGAIN;
    struct beginning *beginning = as_agent_here() ? real.malloc(sizeof *beginning) : NULL;
    if (!beginning)
        return real.pthread_create(thread, attributes, body, argument);
    *beginning = (struct beginning){body, argument};
    int error = real.pthread_create(thread, attributes, begin, beginning);
    if (error)
        real.free(beginning);
    return error;
}
