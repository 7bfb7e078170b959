/* See c2c_source.h. The bits are those of union perf_mem_data_src (linux/perf_event.h). A processor that only says "remote"
 * without a number of hops (Skylake) means another socket's cache or memory. */
#include "comm/c2c_source.h"

#include <linux/perf_event.h>

struct source {
    uint64_t level, snoop, snoopx;
    bool far; /* remote, and not said how far */
};

static bool has(uint64_t bits, uint64_t wanted)
{
    return (bits & wanted) != 0;
}

static void count_llc(const struct source *source, struct as_c2c_counts *counts)
{
    if (has(source->snoop, PERF_MEM_SNOOP_HITM))
        counts->local_hitm++;
    else
        counts->load_llc++;
    counts->local_peer += has(source->snoopx, PERF_MEM_SNOOPX_PEER);
}

static void count_memory(const struct source *source, uint64_t *kind, struct as_c2c_counts *counts)
{
    ++*kind;
    if (has(source->snoop, PERF_MEM_SNOOP_HIT))
        counts->shared++;
    else
        counts->exclusive++;
}

static void count_hit(const struct source *source, struct as_c2c_counts *counts)
{
    uint64_t level = source->level;
    counts->load_uncached += has(level, PERF_MEM_LVL_UNC);
    counts->load_io += has(level, PERF_MEM_LVL_IO);
    counts->load_fill_buffer += has(level, PERF_MEM_LVL_LFB);
    counts->load_l1 += has(level, PERF_MEM_LVL_L1);
    if (has(level, PERF_MEM_LVL_L2)) {
        counts->load_l2++;
        counts->local_peer += has(source->snoopx, PERF_MEM_SNOOPX_PEER);
    }
    if (has(level, PERF_MEM_LVL_L3))
        count_llc(source, counts);
    if (has(level, PERF_MEM_LVL_LOC_RAM))
        count_memory(source, &counts->local_dram, counts);
    if (has(level, PERF_MEM_LVL_REM_RAM1 | PERF_MEM_LVL_REM_RAM2) || source->far)
        count_memory(source, &counts->remote_dram, counts);
}

static void count_load(const struct source *source, struct as_c2c_counts *counts)
{
    if (has(source->level, PERF_MEM_LVL_HIT))
        count_hit(source, counts);
    if (has(source->level, PERF_MEM_LVL_REM_CCE1 | PERF_MEM_LVL_REM_CCE2) || source->far) {
        if (has(source->snoop, PERF_MEM_SNOOP_HIT))
            counts->remote_hit++;
        else if (has(source->snoop, PERF_MEM_SNOOP_HITM))
            counts->remote_hitm++;
        counts->remote_peer += has(source->snoopx, PERF_MEM_SNOOPX_PEER);
    }
    counts->load_miss += has(source->level, PERF_MEM_LVL_MISS);
}

static void count_store(const struct source *source, struct as_c2c_counts *counts)
{
    uint64_t level = source->level;
    if (has(level, PERF_MEM_LVL_HIT)) {
        counts->store_uncached += has(level, PERF_MEM_LVL_UNC);
        counts->store_l1_hit += has(level, PERF_MEM_LVL_L1);
    }
    counts->store_l1_miss += has(level, PERF_MEM_LVL_MISS) && has(level, PERF_MEM_LVL_L1);
    counts->store_no_level += has(level, PERF_MEM_LVL_NA);
}

bool as_c2c_decode(uint64_t data_src, uint64_t address, struct as_c2c_counts *counts)
{
    union perf_mem_data_src bits = {.val = data_src};
    struct source source = {.level = bits.mem_lvl,
                            .snoop = bits.mem_snoop,
                            .snoopx = bits.mem_snoopx,
                            .far = bits.mem_remote && !bits.mem_hops};
    bool load = has(bits.mem_op, PERF_MEM_OP_LOAD), store = !load && has(bits.mem_op, PERF_MEM_OP_STORE);
    counts->records++;
    counts->locks += has(bits.mem_lock, PERF_MEM_LOCK_LOCKED);
    counts->blocked_data += has(bits.mem_blk, PERF_MEM_BLK_DATA);
    counts->blocked_address += has(bits.mem_blk, PERF_MEM_BLK_ADDR);
    counts->loads += load;
    counts->stores += store;
    counts->unparsed += !load && !store;
    counts->load_no_address += load && !address;
    counts->store_no_address += store && !address;
    if (!address || (!load && !store))
        return false;
    if (load)
        count_load(&source, counts);
    else
        count_store(&source, counts);
    return true;
}
