/* Stores past the host's caches, for memory that a thread on another processor reads next and has read before: to get a line back
 * from its caches for writing takes longer than most of what is written there took to compute. The writer hands the memory over
 * only after as_host_stream_end, and does not read it itself: that would wait until the stores have reached memory.
 */
#ifndef AS_BASE_HOST_STREAM_H
#define AS_BASE_HOST_STREAM_H

#include <stdint.h>
#include <string.h>
#if defined(__x86_64__)
#include <emmintrin.h>
#endif

static inline void as_host_stream(uint64_t *to, uint64_t word)
{
#if defined(__x86_64__)
    __builtin_ia32_movnti64((long long *)to, (long long)word);
#else
    *to = word;
#endif
}

static inline void as_host_stream_half(uint32_t *to, uint32_t half)
{
#if defined(__x86_64__)
    __builtin_ia32_movnti((int *)to, (int)half);
#else
    *to = half;
#endif
}

/* Two halves that lie side by side. */
static inline void as_host_stream_halves(uint32_t *to, uint32_t first, uint32_t second)
{
#if defined(__x86_64__)
    __builtin_ia32_movnti64((long long *)(void *)to, (long long)(first | (uint64_t)second << 32));
#else
    to[0] = first;
    to[1] = second;
#endif
}

/* 16 bytes, on such a border both. */
static inline void as_host_stream_pair(void *to, const void *from)
{
#if defined(__x86_64__)
    _mm_stream_si128(to, _mm_load_si128(from));
#else
    memcpy(to, from, 16);
#endif
}

/* Stores before this are seen by whoever sees one behind it. */
static inline void as_host_stream_end(void)
{
#if defined(__x86_64__)
    __builtin_ia32_sfence();
#endif
}

#endif
