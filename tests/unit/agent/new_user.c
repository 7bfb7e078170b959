/* See new_user.h. */
#include "new_user.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGNED = 512 };

void *_Znwm(size_t size);
void *_Znam(size_t size);
void *_ZnwmRKSt9nothrow_t(size_t size, const void *nothrow);
void *_ZnamRKSt9nothrow_t(size_t size, const void *nothrow);
void *_ZnwmSt11align_val_t(size_t size, size_t alignment);
void *_ZnamSt11align_val_t(size_t size, size_t alignment);
void *_ZnwmSt11align_val_tRKSt9nothrow_t(size_t size, size_t alignment, const void *nothrow);
void *_ZnamSt11align_val_tRKSt9nothrow_t(size_t size, size_t alignment, const void *nothrow);
void _ZdlPv(void *block);
void _ZdaPv(void *block);
void _ZdlPvm(void *block, size_t size);
void _ZdaPvm(void *block, size_t size);
void _ZdlPvRKSt9nothrow_t(void *block, const void *nothrow);
void _ZdaPvRKSt9nothrow_t(void *block, const void *nothrow);
void _ZdlPvSt11align_val_t(void *block, size_t alignment);
void _ZdaPvSt11align_val_t(void *block, size_t alignment);
void _ZdlPvmSt11align_val_t(void *block, size_t size, size_t alignment);
void _ZdaPvmSt11align_val_t(void *block, size_t size, size_t alignment);
void _ZdlPvSt11align_val_tRKSt9nothrow_t(void *block, size_t alignment, const void *nothrow);
void _ZdaPvSt11align_val_tRKSt9nothrow_t(void *block, size_t alignment, const void *nothrow);

static const char nothrow;
static void *volatile kept[2];

static void fill(void *block, size_t size, size_t alignment)
{
    if (!block || (uintptr_t)block % alignment)
        abort();
    memset(block, 5, size);
}

void use_new(void)
{
    void *plain[4] = {_Znwm(100), _Znam(200), _ZnwmRKSt9nothrow_t(300, &nothrow), _ZnamRKSt9nothrow_t(400, &nothrow)};
    void *aligned[4] = {_ZnwmSt11align_val_t(1024, ALIGNED), _ZnamSt11align_val_t(2048, ALIGNED),
                        _ZnwmSt11align_val_tRKSt9nothrow_t(3072, ALIGNED, &nothrow),
                        _ZnamSt11align_val_tRKSt9nothrow_t(4096, ALIGNED, &nothrow)};
    for (size_t i = 0; i < 4; i++) {
        fill(plain[i], 100 * (i + 1), 16);
        fill(aligned[i], 1024 * (i + 1), ALIGNED);
    }
    kept[0] = plain[3];
    kept[1] = aligned[3];
    _ZdlPv(plain[0]);
    _ZdaPv(plain[1]);
    _ZdlPvm(plain[2], 300);
    _ZdlPvSt11align_val_t(aligned[0], ALIGNED);
    _ZdaPvmSt11align_val_t(aligned[1], 2048, ALIGNED);
    _ZdaPvSt11align_val_tRKSt9nothrow_t(aligned[2], ALIGNED, &nothrow);
    _ZdaPvm(NULL, 0);
    _ZdlPvRKSt9nothrow_t(NULL, &nothrow);
    _ZdaPvRKSt9nothrow_t(NULL, &nothrow);
    _ZdaPvSt11align_val_t(NULL, ALIGNED);
    _ZdlPvmSt11align_val_t(NULL, 0, ALIGNED);
    _ZdlPvSt11align_val_tRKSt9nothrow_t(NULL, ALIGNED, &nothrow);
}
