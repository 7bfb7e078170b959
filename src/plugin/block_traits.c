/* See block_traits.h. */
#include "plugin/block_traits.h"

#include "isa/marker_code.h"
#include "plugin/lane.h"
#include "plugin/varies.h"

/* Whether an instruction of the block is a landmark that the reader waits for. */
bool as_traits_watched(const struct qemu_plugin_tb *tb, size_t n)
{
    const struct as_wire_header *wire = as_plugin.wire;
    uint32_t watches = atomic_load(&wire->n_watches); /* acquires them from as_gear_watch (engine/gear.c) */
    for (size_t i = 0; i < n && (watches || wire->watches_markers); i++) {
        const struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
        if (wire->watches_markers &&
            as_marker_code_number(as_plugin.arch, qemu_plugin_insn_data(insn), qemu_plugin_insn_size(insn)) >= 0)
            return true;
        for (uint32_t w = 0; w < watches; w++)
            if (wire->watches[w].image == as_plugin.image && wire->watches[w].address == qemu_plugin_insn_vaddr(insn))
                return true;
    }
    return false;
}

/* Whether the block learns from an atomic what other threads did. If it does not, a counter that it only adds to for example, it
 * executes the same in whichever order threads come. */
bool as_traits_asks(const struct qemu_plugin_tb *tb, size_t n)
{
    bool flags = false; /* those of an atomic, which nobody has read or changed yet */
    for (size_t i = 0; i < n; i++) {
        const struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
        enum as_answer answer =
            as_insn_answer(as_plugin.arch, qemu_plugin_insn_data(insn), qemu_plugin_insn_size(insn));
        if (answer == AS_ANSWER_VALUE || (flags && answer == AS_ANSWER_READ))
            return true;
        flags = answer == AS_ANSWER_FLAGS || (flags && answer == AS_ANSWER_NONE);
    }
    return flags;
}

/* Whether the block has a load-reserved whose store-conditional comes in another block. */
bool as_traits_ends_reserved(const struct qemu_plugin_tb *tb, size_t n)
{
    bool reserved = false;
    for (size_t i = 0; i < n; i++) {
        const struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
        enum as_reservation kind =
            as_insn_reservation(as_plugin.arch, qemu_plugin_insn_data(insn), qemu_plugin_insn_size(insn));
        reserved = kind == AS_RESERVATION_MADE || (reserved && kind != AS_RESERVATION_USED);
    }
    return reserved;
}
