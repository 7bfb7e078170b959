/* C++'s operators new and delete, under the names that they have in object files. See agent.h.
 *
 * They usually end in malloc and free, but the C++ library has no frame pointers: seen from malloc, the caller would
 * always be operator new, without any caller of its own. So the operator remembers its frame, and the malloc within
 * consumes it; an operator that throws therefore leaves nothing behind. If there was no malloc within (an allocator
 * with operators of its own), the operator itself counts.
 *
 * Each operator calls the one that the program would use without the agent. Programs that define their own operators
 * never reach these. A library opened by dlopen may have its own, or bring the C++ library with it. RTLD_NEXT does not
 * see those, so the search starts from the caller.
 */
#include "agent/agent.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdlib.h>

#define FRAME __builtin_frame_address(0)
#define CALLER __builtin_return_address(0)

/* The next definition of an operator, as found by RTLD_NEXT: the same for all callers. */
struct as_operator {
    const char *name;
    _Atomic uintptr_t next; /* NOT_THERE: RTLD_NEXT finds none */
};

enum { NOT_THERE = 1, CALLERS = 256 };

/* ---- the next definition ---- */

/* For callers for which RTLD_NEXT finds nothing. Entries are never freed. */
static struct {
    _Atomic uint64_t key; /* of the operator and the caller's file; 0: free */
    _Atomic uintptr_t function;
} found[CALLERS];

static bool is_own(const struct dl_find_object *file)
{
    const char *here = (const char *)found;
    return here >= (const char *)file->dlfo_map_start && here < (const char *)file->dlfo_map_end;
}

/* A library that was loaded with another one has no search list until it is opened itself. */
static void *search(const struct dl_find_object *file, const char *name)
{
    struct dl_find_object there;
    void *handle = dlopen(file->dlfo_link_map->l_name, RTLD_LAZY | RTLD_NOLOAD);
    void *function = handle ? dlsym(handle, name) : NULL;
    if (handle)
        dlclose(handle);
    return function && _dl_find_object(function, &there) == 0 && !is_own(&there) ? function : NULL;
}

/* An operator may end by jumping to another, which then seems to be called by the agent. The caller of the first one
 * counts. */
AS_THREAD_LOCAL struct dl_find_object last;

static uintptr_t find_from(const struct as_operator *op, const void *caller)
{
    struct dl_find_object file;
    if (_dl_find_object((void *)caller, &file) != 0)
        return 0;
    if (is_own(&file))
        file = last;
    if (!file.dlfo_link_map)
        return 0;
    last = file;
    uint64_t key = ((uintptr_t)file.dlfo_map_start ^ (uintptr_t)op) * UINT64_C(0x9e3779b97f4a7c15) | 1, none = 0;
    uint64_t at = key >> 32 & (CALLERS - 1);
    /* Stored below behind the key, which then stays: who sees it sees the key that it is of. */
    uintptr_t function = atomic_load(&found[at].function);
    if (atomic_load(&found[at].key) == key && function)
        return function;
    function = (uintptr_t)search(&file, op->name);
    if (function && atomic_compare_exchange_strong(&found[at].key, &none, key))
        atomic_store(&found[at].function, function);
    return function;
}

static uintptr_t look_up(struct as_operator *op, const void *caller)
{
    int saved = errno;
    bool before = as_agent_enter(); /* the linker may allocate */
    uintptr_t next = atomic_load(&op->next);
    if (!next) {
        next = (uintptr_t)dlsym(RTLD_NEXT, op->name);
        atomic_store(&op->next, next ? next : NOT_THERE);
    }
    if (!next || next == NOT_THERE)
        next = find_from(op, caller);
    as_agent_leave(before);
    errno = saved;
    return next;
}

static uintptr_t behind(struct as_operator *op, const void *caller)
{
    uintptr_t next = atomic_load_explicit(&op->next, memory_order_acquire); /* what dlsym did, from look_up */
    return next > NOT_THERE ? next : look_up(op, caller);
}

/* ---- new ---- */

static void *done(void *result, size_t size, bool aligned, const void *frame)
{
    if (as_agent_operator_end(frame) && result)
        as_agent_took(aligned ? AS_AGENT_ALIGNED : AS_AGENT_MALLOC, result, size, frame);
    return result;
}

/* `…`: further parameters, with types and as arguments. Without a next definition there is no C++ library, so nothing
 * can throw. */
#define NEW(symbol, aligned, parameters, ...)                                                                          \
    AS_EXPORT void *symbol parameters;                                                                                 \
    AS_EXPORT void *symbol parameters                                                                                  \
    {                                                                                                                  \
        static struct as_operator self = {.name = #symbol};                                                            \
        void *(*next)parameters = (void *(*)parameters)behind(&self, CALLER);                                          \
        if (!next)                                                                                                     \
            abort();                                                                                                   \
        as_agent_operator_begin(FRAME);                                                                                \
        return done(next(__VA_ARGS__), size, aligned, FRAME);                                                          \
    }

NEW(_Znwm, false, (size_t size), size)
NEW(_Znam, false, (size_t size), size)
NEW(_ZnwmRKSt9nothrow_t, false, (size_t size, const void *nothrow), size, nothrow)
NEW(_ZnamRKSt9nothrow_t, false, (size_t size, const void *nothrow), size, nothrow)
NEW(_ZnwmSt11align_val_t, true, (size_t size, size_t alignment), size, alignment)
NEW(_ZnamSt11align_val_t, true, (size_t size, size_t alignment), size, alignment)
NEW(_ZnwmSt11align_val_tRKSt9nothrow_t, true, (size_t size, size_t alignment, const void *nothrow), size, alignment,
    nothrow)
NEW(_ZnamSt11align_val_tRKSt9nothrow_t, true, (size_t size, size_t alignment, const void *nothrow), size, alignment,
    nothrow)

/* ---- delete ---- */

/* The free inside frees the same block: see free. */
#define DELETE(symbol, parameters, ...)                                                                                \
    AS_EXPORT void symbol parameters;                                                                                  \
    AS_EXPORT void symbol parameters                                                                                   \
    {                                                                                                                  \
        static struct as_operator self = {.name = #symbol};                                                            \
        void(*next) parameters = (void(*) parameters)behind(&self, CALLER);                                            \
        if (!next)                                                                                                     \
            abort();                                                                                                   \
        const void *outer = as_agent_delete_begin(block);                                                              \
        next(__VA_ARGS__);                                                                                             \
        as_agent_delete_end(outer);                                                                                    \
    }

DELETE(_ZdlPv, (void *block), block)
DELETE(_ZdaPv, (void *block), block)
DELETE(_ZdlPvm, (void *block, size_t size), block, size)
DELETE(_ZdaPvm, (void *block, size_t size), block, size)
DELETE(_ZdlPvRKSt9nothrow_t, (void *block, const void *nothrow), block, nothrow)
DELETE(_ZdaPvRKSt9nothrow_t, (void *block, const void *nothrow), block, nothrow)
DELETE(_ZdlPvSt11align_val_t, (void *block, size_t alignment), block, alignment)
DELETE(_ZdaPvSt11align_val_t, (void *block, size_t alignment), block, alignment)
DELETE(_ZdlPvmSt11align_val_t, (void *block, size_t size, size_t alignment), block, size, alignment)
DELETE(_ZdaPvmSt11align_val_t, (void *block, size_t size, size_t alignment), block, size, alignment)
DELETE(_ZdlPvSt11align_val_tRKSt9nothrow_t, (void *block, size_t alignment, const void *nothrow), block, alignment,
       nothrow)
DELETE(_ZdaPvSt11align_val_tRKSt9nothrow_t, (void *block, size_t alignment, const void *nothrow), block, alignment,
       nothrow)
