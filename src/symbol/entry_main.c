/* See entry_main.h. `_start` of glibc loads the address of main into rdi and calls; behind the call is a hlt that is never
 * reached. The hlt is required: without it, any code that passes an address could be taken for `_start`. */
#include "symbol/entry_main.h"

#include <gelf.h>
#include <string.h>
#include <unistd.h>

enum { LOAD_SIZE = 7, START_MOST = 96 };

/* lea rdi, [rip + main] or mov rdi, main: the address, 0 if the code is neither. */
static uint64_t loaded_by(const uint8_t *code, uint64_t address)
{
    int32_t number;
    memcpy(&number, code + 3, sizeof number);
    if (memcmp(code, "\x48\x8d\x3d", 3) == 0)
        return address + LOAD_SIZE + (uint64_t)(int64_t)number;
    return memcmp(code, "\x48\xc7\xc7", 3) == 0 ? (uint64_t)(int64_t)number : 0;
}

/* call [rip + x], call x, and the same as linkers relax it; 0: no call. */
static size_t call_size(const uint8_t *code, size_t n)
{
    if (n >= 6 && (memcmp(code, "\xff\x15", 2) == 0 || memcmp(code, "\x67\xe8", 2) == 0))
        return 6;
    return n >= 5 && code[0] == 0xe8 ? 5 : 0;
}

static bool is_last_call(const uint8_t *code, size_t n)
{
    size_t size = call_size(code, n);
    return size != 0 && size < n && code[size] == 0xf4;
}

uint64_t as_main_of_start(const uint8_t *code, size_t n, uint64_t entry)
{
    for (size_t i = 0; i + LOAD_SIZE < n; i++) {
        uint64_t address = loaded_by(code + i, entry + i);
        if (address != 0 && is_last_call(code + i + LOAD_SIZE, n - i - LOAD_SIZE))
            return address;
    }
    return 0;
}

static const struct as_elf_segment *code_at(const struct as_elf *elf, uint64_t address)
{
    for (size_t i = 0; i < elf->segments.len; i++) {
        const struct as_elf_segment *segment = &elf->segments.data[i];
        if (segment->executable && address >= segment->address && address - segment->address < segment->file_size)
            return segment;
    }
    return NULL;
}

uint64_t as_elf_main(const struct as_elf *elf)
{
    uint8_t code[START_MOST];
    GElf_Ehdr header;
    if (elf->machine != EM_X86_64 || gelf_getehdr(elf->elf, &header) == NULL)
        return 0;
    const struct as_elf_segment *segment = code_at(elf, header.e_entry);
    if (segment == NULL)
        return 0;
    uint64_t inside = header.e_entry - segment->address, left = segment->file_size - inside;
    ssize_t n = pread(elf->fd, code, left < sizeof code ? left : sizeof code, (off_t)(segment->offset + inside));
    uint64_t address = n > 0 ? as_main_of_start(code, (size_t)n, header.e_entry) : 0;
    return address != 0 && code_at(elf, address) != NULL ? address : 0;
}
