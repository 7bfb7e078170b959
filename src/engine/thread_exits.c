/* See thread_exits.h. */
#include "engine/thread_exits.h"

/* QEMU knows no clone3, so C libraries use clone. The order of its arguments differs by architecture. */
static const struct {
    uint32_t clone, exit, word; /* word: which argument */
} calls_of[AS_ARCH_COUNT] = {
    [AS_ARCH_X86_64] = {.clone = 56, .exit = 60, .word = 3},
    [AS_ARCH_RISCV64] = {.clone = 220, .exit = 93, .word = 4},
};

uint64_t as_exits_word_of(enum as_arch arch, uint32_t number, const uint64_t args[6])
{
    enum { SHARES_MEMORY = 0x100, CLEARS_ID = 0x200000 };
    bool makes = number == calls_of[arch].clone && args[0] & SHARES_MEMORY && args[0] & CLEARS_ID;
    return makes ? args[calls_of[arch].word] : 0;
}

bool as_exits_is_exit(enum as_arch arch, uint32_t number)
{
    return number == calls_of[arch].exit;
}

static uint64_t key_of(uint32_t process, int32_t tid)
{
    return (uint64_t)process << 32 | (uint32_t)tid;
}

void as_exits_add(struct as_thread_exits *exits, uint32_t process, int32_t tid, uint64_t address)
{
    *as_map_put(&exits->words, key_of(process, tid)) = address;
}

uint64_t as_exits_take(struct as_thread_exits *exits, const struct as_thread *thread)
{
    uint64_t key = key_of(thread->process, thread->tid);
    const uint64_t *kept = as_map_get(&exits->words, key);
    uint64_t address = kept ? *kept : 0;
    if (kept)
        as_map_remove(&exits->words, key);
    return address;
}

void as_exits_free(struct as_thread_exits *exits)
{
    as_map_free(&exits->words);
    as_map_free(&exits->marks);
}
