/* x86-64 disassembly: Zydis' formatter in Intel syntax, sizes always shown, addresses absolute and in lower case. */
#include "isa/x86.h"

#include <stdio.h>
#include <threads.h>

static once_flag formatter_once = ONCE_FLAG_INIT;
static ZydisFormatter formatter; /* constant after formatter_init */

static void formatter_init(void)
{
    ZydisFormatterInit(&formatter, ZYDIS_FORMATTER_STYLE_INTEL);
    ZydisFormatterSetProperty(&formatter, ZYDIS_FORMATTER_PROP_FORCE_SIZE, ZYAN_TRUE);
    ZydisFormatterSetProperty(&formatter, ZYDIS_FORMATTER_PROP_HEX_UPPERCASE, ZYAN_FALSE);
    ZydisFormatterSetProperty(&formatter, ZYDIS_FORMATTER_PROP_ADDR_PADDING_ABSOLUTE, ZYDIS_PADDING_DISABLED);
    ZydisFormatterSetProperty(&formatter, ZYDIS_FORMATTER_PROP_DISP_PADDING, ZYDIS_PADDING_DISABLED);
    ZydisFormatterSetProperty(&formatter, ZYDIS_FORMATTER_PROP_IMM_PADDING, ZYDIS_PADDING_DISABLED);
}

void as_x86_text(const struct as_insn *insn, char *text, size_t size)
{
    struct as_x86 x86;
    /* Zydis gives up where the text does not fit; ours is then cut instead. */
    char whole[256];
    call_once(&formatter_once, formatter_init);
    if (insn->class_ == AS_CLASS_UNKNOWN || insn->length == 0 || !as_x86_read(&x86, insn->bytes, insn->length) ||
        !ZYAN_SUCCESS(ZydisFormatterFormatInstruction(&formatter, &x86.insn, x86.operands,
                                                      x86.insn.operand_count_visible, whole, sizeof whole,
                                                      insn->address, ZYAN_NULL)))
        snprintf(whole, sizeof whole, "(bad)");
    snprintf(text, size, "%s", whole);
}
