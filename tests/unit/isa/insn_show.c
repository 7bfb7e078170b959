/* See insn_show.h. */
#include "insn_show.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *const flag_names[] = {
    "load",        "store",      "atomic",     "locked",     "cond_mem",    "multi_mem",   "bulk_mem",
    "rep",         "serialises", "flushes",    "fence_load", "fence_store", "prefetch",    "cache_flush",
    "conditional", "may_trap",   "ends_block", "fuse_first", "fp_state",    "cache_clean",
};

struct out {
    char *text;
    size_t used, size;
};

static void put(struct out *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(struct out *out, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(out->text + out->used, out->size - out->used, format, arguments);
    va_end(arguments);
    if (length > 0 && (out->used += (size_t)length) >= out->size)
        out->used = out->size - 1;
}

static void put_registers(struct out *out, const struct as_insn *insn, const uint8_t *list, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        put(out, "%s%s", i ? " " : "", as_register_name(insn->arch, list[i]));
    if (count == 0)
        put(out, "-");
}

static void put_mem(struct out *out, const struct as_insn *insn, const struct as_mem_operand *mem)
{
    put(out, "%s%s%u[", mem->access & AS_ACCESS_LOAD ? "l" : "", mem->access & AS_ACCESS_STORE ? "s" : "", mem->size);
    if (mem->segment)
        put(out, "%s:", mem->segment == 1 ? "fs" : "gs");
    if (mem->pc_relative)
        put(out, "pc:");
    const char *plus = "";
    if (mem->base != AS_REG_NONE) {
        put(out, "%s", as_register_name(insn->arch, mem->base));
        plus = "+";
    }
    if (mem->index != AS_REG_NONE) {
        put(out, "%s%s*%u", plus, as_register_name(insn->arch, mem->index), mem->scale);
        plus = "+";
    }
    if (mem->disp < 0)
        put(out, "%" PRId64, mem->disp);
    else if (mem->disp > 0 || plus[0] == '\0')
        put(out, "%s0x%" PRIx64, plus, mem->disp);
    put(out, "]");
}

static void put_uop(struct out *out, const struct as_insn *insn, const struct as_uop *uop)
{
    const char *blank = "";
    put(out, "%s(", as_class_name(uop->class_));
    for (unsigned i = 0; i < AS_INSN_MAX_READS; i++)
        if (uop->reads >> i & 1) {
            put(out, "%s%s", blank, as_register_name(insn->arch, insn->reads[i]));
            blank = " ";
        }
    for (unsigned i = 0; i < AS_INSN_MAX_UOPS; i++)
        if (uop->after >> i & 1) {
            put(out, "%s#%u", blank, i);
            blank = " ";
        }
    put(out, ")%s", uop->writes ? ">" : "");
    blank = "";
    for (unsigned i = 0; i < AS_INSN_MAX_WRITES; i++)
        if (uop->writes >> i & 1) {
            put(out, "%s%s", blank, as_register_name(insn->arch, insn->writes[i]));
            blank = ",";
        }
}

const char *insn_show(const struct as_insn *insn, char *text, size_t size)
{
    struct out out = {.text = text, .size = size};
    char words[160];
    for (unsigned i = 0; i < insn->length; i++)
        put(&out, "%02x%s", insn->bytes[i], i + 1 < insn->length ? " " : "");
    put(&out, " | %s | %s", as_insn_text(insn, words, sizeof words), as_class_name(insn->class_));
    for (unsigned i = 0; i < sizeof flag_names / sizeof flag_names[0]; i++)
        if (insn->flags >> i & 1)
            put(&out, " %s", flag_names[i]);
    if (insn->target)
        put(&out, " to=0x%" PRIx64, insn->target);
    put(&out, " | ");
    put_registers(&out, insn, insn->reads, insn->n_reads);
    put(&out, " > ");
    put_registers(&out, insn, insn->writes, insn->n_writes);
    put(&out, " | %s", insn->n_mem ? "" : "-");
    for (unsigned i = 0; i < insn->n_mem; i++) {
        put(&out, "%s", i ? " " : "");
        put_mem(&out, insn, &insn->mem[i]);
    }
    put(&out, " |");
    for (unsigned i = 0; i < insn->n_uops; i++) {
        put(&out, " ");
        put_uop(&out, insn, &insn->uops[i]);
    }
    return text;
}
