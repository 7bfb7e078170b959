/* Stores past the host's caches, for memory that a thread on another processor reads next and has read before: to get a line back
 * from its caches for writing takes longer than most of what is written there took to compute. Whoever writes hands the memory over
 * only behind as_host_stream_end, and reads none of it himself: he would have to wait for it.
 */
#ifndef AS_BASE_HOST_STREAM_H
#define AS_BASE_HOST_STREAM_H

#include <stdint.h>

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

/* Stores before this are seen by whoever sees one behind it. */
static inline void as_host_stream_end(void)
{
#if defined(__x86_64__)
    __builtin_ia32_sfence();
#endif
}

#endif
