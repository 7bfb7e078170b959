/* Recognises the markers of include/assay/marker.h by their bytes. Uses nothing but libc: the QEMU plugin has it too. */
#ifndef AS_ISA_MARKER_CODE_H
#define AS_ISA_MARKER_CODE_H

#include "assay/insn.h"

#include <stddef.h>

enum { AS_MARKER_CODE_LONGEST = 8 }; /* bytes */

/* The number of the marker that an instruction is; -1: it is not one. */
int as_marker_code_number(enum as_arch arch, const uint8_t *bytes, size_t length);

#endif
