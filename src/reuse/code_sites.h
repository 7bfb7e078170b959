/* Code as the distances know it: an instruction on a call path, as one number.
 *
 * Numbers are given in the order in which they are seen. A program that recurses has more paths than anybody reads: where
 * there are AS_CODE_SITES numbers, further ones are those of the instruction without its path. */
#ifndef AS_REUSE_CODE_SITES_H
#define AS_REUSE_CODE_SITES_H

#include "base/map.h"
#include "base/random.h"
#include "base/vec.h"

enum { AS_CODE_SITES = 1 << 18, AS_CODE_RECENT = 1 << 13 };

struct as_code_site {
    uint32_t insn, path; /* path 0: unknown */
};

struct as_code_sites {
    AS_VEC(struct as_code_site) list; /* by number */
    AS_VEC(uint64_t) paths;           /* by path - 1: whatever it was called with */
    uint32_t insns[AS_CODE_SITES];    /* by number; other threads may read those of numbers that they were given */
    struct as_map numbers, path_numbers;
    struct {
        struct as_code_site site;
        uint32_t number;
    } recent[AS_CODE_RECENT];
};

void as_code_sites_free(struct as_code_sites *sites);
uint32_t as_code_sites_path(struct as_code_sites *sites, uint64_t name); /* the number of a path */
uint32_t as_code_sites_add(struct as_code_sites *sites, uint32_t insn, uint32_t path);

static inline uint32_t as_code_sites_number(struct as_code_sites *sites, uint32_t insn, uint32_t path)
{
    uint64_t key = (uint64_t)path << 32 | insn, place = (key * AS_RANDOM_STEP >> 40) % AS_CODE_RECENT;
    if (sites->recent[place].site.insn == insn && sites->recent[place].site.path == path && sites->list.len)
        return sites->recent[place].number;
    sites->recent[place].number = as_code_sites_add(sites, insn, path);
    sites->recent[place].site = (struct as_code_site){insn, path};
    return sites->recent[place].number;
}

#endif
