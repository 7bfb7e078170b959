/* Bit positions are those of union perf_mem_data_src. Levels that may be newer than the headers of the build machine
 * are given by number. */
#include "perfdata/mem_source.h"

#include <linux/perf_event.h>

enum { LVLNUM_L2_MISS_BUFFER = 5, LVLNUM_MEMORY_SIDE_CACHE = 6, LVLNUM_L0 = 7, LVLNUM_UNCACHED = 8, LVLNUM_CXL = 9 };

static enum as_mem_level level_by_number(unsigned number)
{
    static const enum as_mem_level levels[16] = {
        [PERF_MEM_LVLNUM_L1] = AS_MEM_L1,
        [PERF_MEM_LVLNUM_L2] = AS_MEM_L2,
        [PERF_MEM_LVLNUM_L3] = AS_MEM_L3,
        [PERF_MEM_LVLNUM_L4] = AS_MEM_L4,
        [LVLNUM_L2_MISS_BUFFER] = AS_MEM_FILL_BUFFER,
        [LVLNUM_MEMORY_SIDE_CACHE] = AS_MEM_CACHE,
        [LVLNUM_L0] = AS_MEM_L0,
        [LVLNUM_UNCACHED] = AS_MEM_UNCACHED,
        [LVLNUM_CXL] = AS_MEM_CXL,
        [PERF_MEM_LVLNUM_IO] = AS_MEM_IO,
        [PERF_MEM_LVLNUM_ANY_CACHE] = AS_MEM_CACHE,
        [PERF_MEM_LVLNUM_LFB] = AS_MEM_FILL_BUFFER,
        [PERF_MEM_LVLNUM_RAM] = AS_MEM_RAM,
        [PERF_MEM_LVLNUM_PMEM] = AS_MEM_PERSISTENT,
    };
    return levels[number & 15];
}

/* The older field: one bit per level. */
static enum as_mem_level level_by_bits(unsigned bits, bool *remote)
{
    static const struct {
        unsigned bit;
        enum as_mem_level level;
        bool remote;
    } levels[] = {
        {PERF_MEM_LVL_L1, AS_MEM_L1, false},         {PERF_MEM_LVL_LFB, AS_MEM_FILL_BUFFER, false},
        {PERF_MEM_LVL_L2, AS_MEM_L2, false},         {PERF_MEM_LVL_L3, AS_MEM_L3, false},
        {PERF_MEM_LVL_LOC_RAM, AS_MEM_RAM, false},   {PERF_MEM_LVL_REM_RAM1, AS_MEM_RAM, true},
        {PERF_MEM_LVL_REM_RAM2, AS_MEM_RAM, true},   {PERF_MEM_LVL_REM_CCE1, AS_MEM_CACHE, true},
        {PERF_MEM_LVL_REM_CCE2, AS_MEM_CACHE, true}, {PERF_MEM_LVL_IO, AS_MEM_IO, false},
        {PERF_MEM_LVL_UNC, AS_MEM_UNCACHED, false},
    };
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++)
        if (bits & levels[i].bit) {
            *remote |= levels[i].remote;
            return levels[i].level;
        }
    return AS_MEM_LEVEL_UNKNOWN;
}

static void decode_level(uint64_t value, struct as_mem_source *source)
{
    unsigned bits = value >> PERF_MEM_LVL_SHIFT & 0x3fff, number = value >> PERF_MEM_LVLNUM_SHIFT & 15;
    bool remote = false;
    enum as_mem_level old = level_by_bits(bits, &remote), new = level_by_number(number);
    source->hit = bits & PERF_MEM_LVL_HIT;
    source->miss = bits & PERF_MEM_LVL_MISS;
    source->level = new != AS_MEM_LEVEL_UNKNOWN ? new : old;
    source->remote = remote || value >> PERF_MEM_REMOTE_SHIFT & 1;
    source->hops = value >> PERF_MEM_HOPS_SHIFT & 7;
}

static void decode_snoop(uint64_t value, struct as_mem_source *source)
{
    unsigned snoop = value >> PERF_MEM_SNOOP_SHIFT & 31, more = value >> PERF_MEM_SNOOPX_SHIFT & 3;
    source->snoop_known = snoop != 0 && !(snoop & PERF_MEM_SNOOP_NA);
    source->snoop_hit = snoop & PERF_MEM_SNOOP_HIT;
    source->snoop_miss = snoop & PERF_MEM_SNOOP_MISS;
    source->snoop_modified = snoop & PERF_MEM_SNOOP_HITM;
    source->snooped = source->snoop_hit || source->snoop_miss || source->snoop_modified;
    source->forwarded = more & PERF_MEM_SNOOPX_FWD;
    source->from_peer = more & 2;
}

static void decode_tlb(uint64_t value, struct as_mem_source *source)
{
    unsigned tlb = value >> PERF_MEM_TLB_SHIFT & 127;
    source->tlb_known = tlb != 0 && !(tlb & PERF_MEM_TLB_NA);
    source->tlb_hit = tlb & PERF_MEM_TLB_HIT;
    source->tlb_miss = tlb & PERF_MEM_TLB_MISS;
    source->tlb_l1 = tlb & PERF_MEM_TLB_L1;
    source->tlb_l2 = tlb & PERF_MEM_TLB_L2;
    source->tlb_walk = tlb & PERF_MEM_TLB_WK;
    source->tlb_fault = tlb & PERF_MEM_TLB_OS;
}

struct as_mem_source as_mem_source_decode(uint64_t data_src)
{
    struct as_mem_source source = {0};
    unsigned lock = data_src >> PERF_MEM_LOCK_SHIFT & 3, blocked = data_src >> PERF_MEM_BLK_SHIFT & 7;
    source.load = data_src & PERF_MEM_OP_LOAD;
    source.store = data_src & PERF_MEM_OP_STORE;
    source.prefetch = data_src & PERF_MEM_OP_PFETCH;
    source.fetch = data_src & PERF_MEM_OP_EXEC;
    decode_level(data_src, &source);
    decode_snoop(data_src, &source);
    decode_tlb(data_src, &source);
    source.lock_known = !(lock & PERF_MEM_LOCK_NA);
    source.locked = lock & PERF_MEM_LOCK_LOCKED;
    source.blocked_data = blocked & PERF_MEM_BLK_DATA;
    source.blocked_address = blocked & PERF_MEM_BLK_ADDR;
    return source;
}

const char *as_mem_level_name(enum as_mem_level level)
{
    static const char *const names[AS_MEM_LEVELS] = {
        [AS_MEM_LEVEL_UNKNOWN] = "unknown level",
        [AS_MEM_L0] = "L0",
        [AS_MEM_L1] = "L1",
        [AS_MEM_FILL_BUFFER] = "fill buffer",
        [AS_MEM_L2] = "L2",
        [AS_MEM_L3] = "L3",
        [AS_MEM_L4] = "L4",
        [AS_MEM_CACHE] = "cache",
        [AS_MEM_RAM] = "RAM",
        [AS_MEM_PERSISTENT] = "persistent memory",
        [AS_MEM_CXL] = "CXL memory",
        [AS_MEM_IO] = "I/O",
        [AS_MEM_UNCACHED] = "uncached",
    };
    return names[level];
}

static void add_level(struct as_str *text, const struct as_mem_source *source)
{
    static const char *const distance[] = {"", " (core)", " (node)", " (socket)", " (board)", "", "", ""};
    if (source->level == AS_MEM_LEVEL_UNKNOWN && !source->hit && !source->miss)
        return;
    as_str_add_word(text, true, source->remote ? "remote " : "");
    as_str_add(text, as_mem_level_name(source->level));
    as_str_add(text, source->hit ? " hit" : "");
    as_str_add(text, source->miss ? " miss" : "");
    as_str_add(text, distance[source->hops]);
}

static void add_tlb(struct as_str *text, const struct as_mem_source *source)
{
    if (!source->tlb_known)
        return;
    as_str_add_word(text, true, "TLB");
    as_str_add(text, source->tlb_l1 ? " L1" : "");
    as_str_add(text, source->tlb_l1 && source->tlb_l2 ? " or" : "");
    as_str_add(text, source->tlb_l2 ? " L2" : "");
    as_str_add(text, source->tlb_hit ? " hit" : "");
    as_str_add(text, source->tlb_miss ? " miss" : "");
    as_str_add(text, source->tlb_walk ? " walk" : "");
    as_str_add(text, source->tlb_fault ? " fault" : "");
}

void as_mem_source_text(uint64_t data_src, struct as_str *text)
{
    struct as_mem_source source = as_mem_source_decode(data_src);
    as_str_add_word(text, source.load, "load");
    as_str_add_word(text, source.store, "store");
    as_str_add_word(text, source.prefetch, "prefetch");
    as_str_add_word(text, source.fetch, "instruction fetch");
    add_level(text, &source);
    as_str_add_word(text, source.snoop_known && !source.snooped, "no snoop");
    as_str_add_word(text, source.snoop_hit, "snoop hit");
    as_str_add_word(text, source.snoop_miss, "snoop miss");
    as_str_add_word(text, source.snoop_modified, "snoop hit modified");
    as_str_add_word(text, source.forwarded, "forwarded");
    as_str_add_word(text, source.from_peer, "from peer");
    add_tlb(text, &source);
    as_str_add_word(text, source.locked, "locked");
    as_str_add_word(text, source.blocked_data, "blocked by data");
    as_str_add_word(text, source.blocked_address, "blocked by address");
    as_str_add_word(text, text->len == 0, "unknown");
}

/* ---- branches and transactions ---- */

const char *as_branch_type_name(const struct as_perf_branch *branch)
{
    static const char *const names[16] = {"",
                                          "conditional",
                                          "jump",
                                          "indirect jump",
                                          "call",
                                          "indirect call",
                                          "return",
                                          "system call",
                                          "system return",
                                          "conditional call",
                                          "conditional return",
                                          "exception return",
                                          "interrupt",
                                          "system error",
                                          "outside of transaction",
                                          ""};
    static const char *const more[16] = {"alignment fault", "data fault", "instruction fault"};
    if (branch->type == PERF_BR_EXTEND_ABI)
        return more[branch->new_type & 15] != NULL ? more[branch->new_type & 15] : "";
    return names[branch->type & 15];
}

void as_branch_text(const struct as_perf_branch *branch, struct as_str *text)
{
    as_str_addf(text, "0x%llx/0x%llx/%s/%s/%s/%u", (unsigned long long)branch->from, (unsigned long long)branch->to,
                branch->mispredicted ? "M"
                : branch->predicted  ? "P"
                                     : "-",
                branch->in_transaction ? "X" : "-", branch->abort ? "A" : "-", branch->cycles);
}

void as_transaction_text(uint64_t transaction, struct as_str *text)
{
    static const char *const names[] = {"elision", "transaction", "synchronous",    "asynchronous",
                                        "retry",   "conflict",    "capacity write", "capacity read"};
    for (unsigned i = 0; i < 8; i++)
        as_str_add_word(text, transaction >> i & 1, names[i]);
    if (transaction >> PERF_TXN_ABORT_SHIFT != 0) {
        as_str_add_word(text, true, "code 0x");
        as_str_addf(text, "%llx", (unsigned long long)(transaction >> PERF_TXN_ABORT_SHIFT));
    }
}
