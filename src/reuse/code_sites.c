/* See code_sites.h. */
#include "reuse/code_sites.h"

void as_code_sites_free(struct as_code_sites *sites)
{
    as_vec_free(&sites->list);
    as_vec_free(&sites->paths);
    as_map_free(&sites->numbers);
    as_map_free(&sites->path_numbers);
}

uint32_t as_code_sites_path(struct as_code_sites *sites, uint64_t name)
{
    uint64_t *number = as_map_put(&sites->path_numbers, name);
    if (!*number) {
        *as_vec_push(&sites->paths) = name;
        *number = sites->paths.len;
    }
    return (uint32_t)*number;
}

uint32_t as_code_sites_add(struct as_code_sites *sites, uint32_t insn, uint32_t path)
{
    uint64_t key = (uint64_t)path << 32 | insn;
    bool full = path && sites->list.len >= AS_CODE_SITES;
    uint64_t *number = full ? as_map_get(&sites->numbers, key) : as_map_put(&sites->numbers, key);
    if (!number)
        return as_code_sites_add(sites, insn, 0);
    if (*number)
        return (uint32_t)*number - 1;
    if (sites->list.len < AS_CODE_SITES)
        sites->insns[sites->list.len] = insn;
    *as_vec_push(&sites->list) = (struct as_code_site){insn, path};
    *number = sites->list.len;
    return (uint32_t)*number - 1;
}
