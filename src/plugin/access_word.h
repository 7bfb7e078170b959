/* An access as a word of engine/wire.h, in a hurry. */
#ifndef AS_PLUGIN_ACCESS_WORD_H
#define AS_PLUGIN_ACCESS_WORD_H

#include "engine/wire.h"
#include "plugin/qemu_plugin_api.h"

enum { AS_ACCESS_WORD_SIZE_AT = 4 }; /* the bit of `info` where the size begins, as a power of two */

/* This relies on how QEMU lays out `info`; the plugin checks that against QEMU's own accessors. */
static inline uint64_t as_access_word(qemu_plugin_meminfo_t info, uint64_t address, const void *userdata)
{
    enum { SIZE_AT = AS_ACCESS_WORD_SIZE_AT, KIND_AT = 16, SIZE_AND_KIND = 7 << SIZE_AT | 3 << KIND_AT };
    _Static_assert(AS_WIRE_SIZE_SHIFT - SIZE_AT == 62 - KIND_AT, "one shift for both");
    return (address & ((UINT64_C(1) << AS_WIRE_ADDRESS_BITS) - 1)) | (uintptr_t)userdata |
           (uint64_t)(info & SIZE_AND_KIND) << (AS_WIRE_SIZE_SHIFT - SIZE_AT);
}

#endif
