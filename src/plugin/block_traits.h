/* What a block that QEMU translates has among its `n` instructions that decides how it is reported. */
#ifndef AS_PLUGIN_BLOCK_TRAITS_H
#define AS_PLUGIN_BLOCK_TRAITS_H

#include "plugin/qemu_plugin_api.h"

#include <stdbool.h>

bool as_traits_watched(const struct qemu_plugin_tb *tb, size_t n);
bool as_traits_asks(const struct qemu_plugin_tb *tb, size_t n);
bool as_traits_ends_reserved(const struct qemu_plugin_tb *tb, size_t n);

#endif
