/* See thread_start.h. The record begins with its own address, and has it again as the third word. */
#include "native/thread_start.h"

#include <string.h>
#include <sys/uio.h>

enum {
    SEARCHED = 16 << 10, /* bytes: the record has 2,304, and thread-local variables lie below it */
    PAGE = 4096,
    WORD = sizeof(uint64_t),
    SELF = 2,          /* words from the start of the record to its own address */
    FIRST = 0x5c0 / 8, /* the function is the word 0x640 of glibc 2.31 to 2.36 on x86-64 */
};

/* The record in memory that ends there. */
static bool look_below(pid_t pid, uint64_t end, uint64_t words[AS_THREAD_START_WORDS])
{
    uint64_t read[SEARCHED / WORD];
    uint64_t start = end - SEARCHED;
    struct iovec to = {read, sizeof read}, from = {(void *)(uintptr_t)start, sizeof read};
    if (end < SEARCHED || process_vm_readv(pid, &to, 1, &from, 1, 0) != (ssize_t)sizeof read)
        return false;
    for (size_t i = 0; i + FIRST + AS_THREAD_START_WORDS <= SEARCHED / WORD; i++) {
        uint64_t address = start + i * WORD;
        if (read[i] != address || read[i + SELF] != address)
            continue;
        memcpy(words, &read[i + FIRST], AS_THREAD_START_WORDS * WORD);
        return true;
    }
    return false;
}

/* The kernel reports a new stack together with the guard page of the one above it. */
bool as_thread_start_words(pid_t pid, uint64_t stack_end, uint64_t words[AS_THREAD_START_WORDS])
{
    return look_below(pid, stack_end, words) || (stack_end > PAGE && look_below(pid, stack_end - PAGE, words));
}
