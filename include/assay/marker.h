/* Markers: places that a program names for Assay, at which regions start and stop.
 *
 *     #include <assay/marker.h>
 *
 *     ASSAY_ROI_BEGIN();
 *     work();
 *     ASSAY_ROI_END();
 *
 *     assay stat --region marker:1..marker:2 -- ./program
 *
 * A marker is one instruction that does nothing: on x86-64 a nop with a displacement that no compiler emits, on RISC-V
 * a hint of the encodings that are kept for custom use. It needs no library, costs a nop where nobody looks, and
 * survives stripping. Memory accesses are not moved across it by the compiler. On other architectures it is empty.
 *
 * Numbers are constants from 0 to 2047; 1 and 2 are by custom the begin and the end of the region of interest.
 */
#ifndef ASSAY_MARKER_H
#define ASSAY_MARKER_H

#define ASSAY_MARKER_BEGIN 1
#define ASSAY_MARKER_END 2

/* The bytes. x86-64: nopl 0x4153NNNN(%rax,%rax,1), with the number in the low half. RISC-V: slti x0, x27, NUMBER. */
#define ASSAY_MARKER_X86_MAGIC 0x4153
#define ASSAY_MARKER_RISCV_REGISTER 27

#if defined(__x86_64__)
#define ASSAY_MARKER(number)                                                                                           \
    __asm__ volatile(".byte 0x0f, 0x1f, 0x84, 0x00; .short %c0, %c1"                                                   \
                     :                                                                                                 \
                     : "i"((number)&2047), "i"(ASSAY_MARKER_X86_MAGIC)                                                 \
                     : "memory")
#elif defined(__riscv)
#define ASSAY_MARKER(number)                                                                                           \
    __asm__ volatile(".insn i 0x13, 2, x0, x%c1, %c0"                                                                  \
                     :                                                                                                 \
                     : "i"((number)&2047), "i"(ASSAY_MARKER_RISCV_REGISTER)                                            \
                     : "memory")
#else
#define ASSAY_MARKER(number) ((void)(number))
#endif

#define ASSAY_ROI_BEGIN() ASSAY_MARKER(ASSAY_MARKER_BEGIN)
#define ASSAY_ROI_END() ASSAY_MARKER(ASSAY_MARKER_END)

#endif
