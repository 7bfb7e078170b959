/* What the plugin asks QEMU of a block's instructions, answered from a test's own struct qemu_plugin_insn (bytes, size, address) and
 * struct qemu_plugin_tb (insns). Include this behind them, once in a program. */
#ifndef MADE_INSNS_H
#define MADE_INSNS_H

struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t index)
{
    return (struct qemu_plugin_insn *)&tb->insns[index];
}

const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *insn)
{
    return insn->bytes;
}

size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn)
{
    return insn->size;
}

uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn)
{
    return insn->address;
}

#endif
