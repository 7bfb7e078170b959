/* What holds for every record that a decoder makes, whatever the bytes were. For random tests and fuzzing. */
#ifndef AS_TEST_INSN_CHECK_H
#define AS_TEST_INSN_CHECK_H

#include "assay/insn.h"

/* NULL, or what is wrong. `bytes` are the `size` bytes that were decoded, `known` is what as_insn_decode returned. */
const char *insn_check(const struct as_insn *insn, const uint8_t *bytes, size_t size, bool known);

#endif
