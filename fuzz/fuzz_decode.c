/* Both decoders on arbitrary bytes. The first byte chooses the instruction set, the others are decoded one instruction
 * after the other, as a program's text would be; every record must satisfy insn_check and have a text. */
#include "insn_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_text(const struct as_insn *insn)
{
    char text[160], part[8];
    size_t length = strlen(as_insn_text(insn, text, sizeof text));
    as_insn_text(insn, part, sizeof part);
    if (length == 0 || length + 1 == sizeof text || strncmp(part, text, sizeof part - 1) != 0)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    enum as_arch arch = data[0] & 1 ? AS_ARCH_RISCV64 : AS_ARCH_X86_64;
    /* High addresses too, so that targets wrap around. */
    uint64_t address = (uint64_t)data[0] << 56 | 0x1000;
    struct as_insn before = {0};
    for (size_t at = 1; at < size;) {
        struct as_insn insn;
        bool known = as_insn_decode(arch, address, data + at, size - at, &insn);
        const char *wrong = insn_check(&insn, data + at, size - at, known);
        if (wrong) {
            fprintf(stderr, "%s at byte %zu: %s\n", as_arch_name(arch), at, wrong);
            abort();
        }
        check_text(&insn);
        if (as_insn_fuses(&before, &insn) && arch == AS_ARCH_RISCV64)
            abort();
        before = insn;
        at += insn.length;
        address += insn.length;
    }
    return 0;
}
