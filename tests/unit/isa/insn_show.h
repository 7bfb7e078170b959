/* An instruction record as one line of text, so that a test's expectation can be read and compared whole. */
#ifndef AS_TEST_INSN_SHOW_H
#define AS_TEST_INSN_SHOW_H

#include "assay/insn.h"

/* "bytes | text | class flags | reads > writes | memory | micro-operations", for example
 *   "48 01 03 | add qword ptr [rbx], rax | int load store | rbx rax > flags | ls8[rbx] | load(rbx) int(rax #0)>flags
 *    store(rbx #1)"
 * Memory is access letters, size and address; a uop shows what it reads, the uops it waits for (#0 the first one) and
 * what it writes. Nothing is shown as "-". Returns text. */
const char *insn_show(const struct as_insn *insn, char *text, size_t size);

#endif
