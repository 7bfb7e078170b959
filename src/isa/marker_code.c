/* See marker_code.h. */
#include "isa/marker_code.h"

#include "assay/marker.h"

#include <string.h>

enum { MOST = 2047 };

static int x86_number(const uint8_t *bytes, size_t length)
{
    static const uint8_t nop[] = {0x0f, 0x1f, 0x84, 0x00};
    if (length != 8 || memcmp(bytes, nop, sizeof nop) != 0 || (bytes[6] | bytes[7] << 8) != ASSAY_MARKER_X86_MAGIC)
        return -1;
    int number = bytes[4] | bytes[5] << 8;
    return number <= MOST ? number : -1;
}

static int riscv_number(const uint8_t *bytes, size_t length)
{
    enum { OP_IMM = 0x13, SLTI = 2, REST = 0xfffff };
    if (length != 4)
        return -1;
    uint32_t word = (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
    if ((word & REST) != (OP_IMM | SLTI << 12 | ASSAY_MARKER_RISCV_REGISTER << 15))
        return -1;
    int number = (int)(word >> 20);
    return number <= MOST ? number : -1;
}

int as_marker_code_number(enum as_arch arch, const uint8_t *bytes, size_t length)
{
    return arch == AS_ARCH_X86_64 ? x86_number(bytes, length) : riscv_number(bytes, length);
}
