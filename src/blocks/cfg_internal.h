/* What building a module shares between cfg.c and cfg_decode.c. */
#ifndef AS_BLOCKS_CFG_INTERNAL_H
#define AS_BLOCKS_CFG_INTERNAL_H

#include "base/map.h"
#include "blocks/cfg.h"

struct as_cfg_seen {
    AS_VEC(uint64_t) addresses, leaders, cuts; /* sorted once building begins */
    AS_VEC(struct as_insn) insns;              /* of code in no file, likewise */
    struct as_map known;
    bool loose; /* addresses may lie inside instructions */
};

/* Decodes a function and adds its blocks; addresses[from..to) of those seen are its. `elf`: NULL where there is no file. */
void as_cfg_decode(struct as_cfg_module *module, const struct as_elf *elf, uint32_t function, size_t from, size_t to);

#endif
