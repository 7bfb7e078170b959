/* See loop_heads.h. */
#include "engine/loop_heads.h"

#include "symbol/space.h"

#include <string.h>

/* Beginnings of the names of functions that wait: of the C library, of GCC's, LLVM's and Intel's OpenMP. */
static const char *const waiting[] = {"pthread_", "__pthread_", "___pthread_", "__lll_", "sem_",  "__new_sem_",
                                      "mtx_",     "cnd_",       "futex_",      "gomp_",  "GOMP_", "__kmp"};

static bool waits(const char *function)
{
    for (size_t i = 0; function && i < sizeof waiting / sizeof *waiting; i++)
        if (strncmp(function, waiting[i], strlen(waiting[i])) == 0)
            return true;
    return false;
}

bool as_is_loop_head(const struct as_image *image, const struct as_block *block, uint64_t next)
{
    struct as_location location;
    bool jumps = block->last_class == AS_CLASS_BRANCH || block->last_class == AS_CLASS_JUMP;
    if (!jumps || next == 0 || next != block->target || next > block->insns[block->n - 1]->address)
        return false;
    as_space_find(image->space, next, &location);
    return !waits(location.raw_function);
}
