/* See pmu_events.h. Codes: Intel's event files for Skylake (perfmon-events.intel.com). */
#include "pmu/pmu_events.h"

#include <string.h>
#include <strings.h>

#define PEBS_EVENT .kinds = 1 << AS_PMU_PEBS
#define LOADS .insn_flags = AS_INSN_LOAD, .shadow = AS_SHADOW_LOADS
#define ELSEWHERE (AS_EVENT_L2_HIT | AS_EVENT_LLC_HIT | AS_EVENT_ST_LLC) /* it did not come from a core */
#define BRANCHES .classes = AS_INSN_CONTROL_CLASSES, .shadow = AS_SHADOW_BRANCHES

const struct as_pmu_event as_pmu_events[] = {
    {"instructions", "inst_retired.any", "retired instructions", PEBS_EVENT, .config = 0x00c0,
     .shadow = AS_SHADOW_INSTRUCTIONS, .fixed = 1},
    {"loads", "mem_inst_retired.all_loads", "retired loads", PEBS_EVENT, .config = 0x81d0, LOADS},
    {"stores", "mem_inst_retired.all_stores", "retired stores", PEBS_EVENT, .config = 0x82d0,
     .insn_flags = AS_INSN_STORE, .shadow = AS_SHADOW_STORES},
    {"locked-loads", "mem_inst_retired.lock_loads", "retired loads with a lock", PEBS_EVENT, .config = 0x21d0,
     .insn_flags = AS_INSN_LOAD | AS_INSN_ATOMIC, .shadow = AS_SHADOW_LOADS},
    {"branches", "br_inst_retired.all_branches", "retired branches", PEBS_EVENT, .config = 0x00c4, BRANCHES},
    {"conditional", "br_inst_retired.conditional", "retired conditional branches", PEBS_EVENT, .config = 0x01c4,
     .classes = 1u << AS_CLASS_BRANCH, .shadow = AS_SHADOW_BRANCHES},
    {"taken", "br_inst_retired.near_taken", "retired branches that were taken", PEBS_EVENT, .config = 0x20c4, BRANCHES,
     .flags = AS_PIPE_TAKEN},
    {"calls", "br_inst_retired.near_call", "retired calls", PEBS_EVENT, .config = 0x02c4,
     .classes = 1u << AS_CLASS_CALL | 1u << AS_CLASS_CALL_INDIRECT, .shadow = AS_SHADOW_BRANCHES},
    {"returns", "br_inst_retired.near_return", "retired returns", PEBS_EVENT, .config = 0x08c4,
     .classes = 1u << AS_CLASS_RETURN, .shadow = AS_SHADOW_BRANCHES},
    {"far", "br_inst_retired.far_branch", "transfers to the kernel and back", PEBS_EVENT, .config = 0x40c4,
     .classes = 1u << AS_CLASS_SYSTEM, .shadow = AS_SHADOW_BRANCHES},
    {"mispredicted", "br_misp_retired.all_branches", "retired branches that were mispredicted", PEBS_EVENT,
     .config = 0x00c5, BRANCHES, .flags = AS_PIPE_MISPREDICTED},
    {"mispredicted-conditional", "br_misp_retired.conditional", "… conditional ones", PEBS_EVENT, .config = 0x01c5,
     .classes = 1u << AS_CLASS_BRANCH, .shadow = AS_SHADOW_BRANCHES, .flags = AS_PIPE_MISPREDICTED},
    {"mispredicted-taken", "br_misp_retired.near_taken", "… and taken", PEBS_EVENT, .config = 0x20c5, BRANCHES,
     .flags = AS_PIPE_MISPREDICTED | AS_PIPE_TAKEN},
    {"l1-hit", "mem_load_retired.l1_hit", "retired loads that hit the L1", PEBS_EVENT, .config = 0x01d1, LOADS,
     .never = AS_EVENT_ST_L1},
    {"l1-miss", "mem_load_retired.l1_miss", "retired loads that missed the L1", PEBS_EVENT, .config = 0x08d1,
     .insn_flags = AS_INSN_LOAD, .shadow = AS_SHADOW_L1_MISS, .events = AS_EVENT_ST_L1},
    {"l2-hit", "mem_load_retired.l2_hit", "retired loads that hit the L2", PEBS_EVENT, .config = 0x02d1, LOADS,
     .events = AS_EVENT_L2_HIT},
    {"l2-miss", "mem_load_retired.l2_miss", "retired loads that missed the L2", PEBS_EVENT, .config = 0x10d1,
     .insn_flags = AS_INSN_LOAD, .shadow = AS_SHADOW_L2_MISS, .events = AS_EVENT_ST_L1, .never = AS_EVENT_L2_HIT},
    {"l3-hit", "mem_load_retired.l3_hit", "retired loads that hit the last level", PEBS_EVENT, .config = 0x04d1, LOADS,
     .events = AS_EVENT_LLC_HIT},
    {"l3-miss", "mem_load_retired.l3_miss", "retired loads that missed the last level", PEBS_EVENT, .config = 0x20d1,
     .insn_flags = AS_INSN_LOAD, .shadow = AS_SHADOW_L3_MISS, .events = AS_EVENT_ST_LLC},
    {"dtlb-miss", "mem_inst_retired.stlb_miss_loads", "retired loads that missed the data TLB", PEBS_EVENT,
     .config = 0x11d0, LOADS, .events = AS_EVENT_ST_TLB},
    {"snoop-none", "mem_load_l3_hit_retired.xsnp_none", "hits of the last level without a snoop", PEBS_EVENT,
     .config = 0x08d2, LOADS, .events = AS_EVENT_LLC_HIT, .never = AS_EVENT_COHERENCE | AS_EVENT_SNOOP_MISS},
    {"snoop-modified", "mem_load_l3_hit_retired.xsnp_hitm", "… whose line another core had modified", PEBS_EVENT,
     .config = 0x04d2, LOADS, .events = AS_EVENT_COHERENCE | AS_EVENT_ST_L1, .never = AS_EVENT_SNOOP_CLEAN | ELSEWHERE},
    {"snoop-hit", "mem_load_l3_hit_retired.xsnp_hit", "… whose line another core had clean", PEBS_EVENT,
     .config = 0x02d2, LOADS, .events = AS_EVENT_COHERENCE | AS_EVENT_SNOOP_CLEAN},
    {"snoop-miss", "mem_load_l3_hit_retired.xsnp_miss", "… whose line the core that had it alone has dropped",
     PEBS_EVENT, .config = 0x01d2, LOADS, .events = AS_EVENT_LLC_HIT | AS_EVENT_SNOOP_MISS},
    {"load-latency", "mem_trans_retired.load_latency", "loads that took as long as the threshold says", PEBS_EVENT,
     .config = 0x01cd, LOADS, .latency = true},
    {"ops", "ibs_op", "dispatched operations; one of them is tagged", .kinds = 1 << AS_PMU_IBS,
     .counts = AS_COUNTS_OPS},
    {"cycles", "cpu-cycles", "cycles", .kinds = 1 << AS_PMU_PEBS | 1 << AS_PMU_IBS | 1 << AS_PMU_TIP | 1 << AS_PMU_TEA,
     .counts = AS_COUNTS_CYCLES, .config = 0x003c, .shadow = AS_SHADOW_INSTRUCTIONS, .fixed = 2},
    {"ref-cycles", "cpu_clk_unhalted.ref_tsc", "cycles of the reference clock, which are the core's in the model",
     PEBS_EVENT, .counts = AS_COUNTS_CYCLES, .config = 0x0300, .shadow = AS_SHADOW_INSTRUCTIONS, .fixed = 3},
    {"fetches", "ibs_fetch", "completed fetches; one of them is tagged", .kinds = 1 << AS_PMU_IBS,
     .counts = AS_COUNTS_FETCHES},
    {"operations", "arm_spe", "decoded operations; one of them is tagged", .kinds = 1 << AS_PMU_SPE,
     .counts = AS_COUNTS_OPS},
};
const size_t as_pmu_events_count = sizeof as_pmu_events / sizeof *as_pmu_events;
_Static_assert(sizeof as_pmu_events / sizeof *as_pmu_events <= AS_PMU_EVENTS_MAX, "raise AS_PMU_EVENTS_MAX");

const struct as_pmu_event *as_pmu_event_find(const char *name)
{
    for (size_t i = 0; i < as_pmu_events_count; i++)
        if (strcasecmp(as_pmu_events[i].name, name) == 0 || strcasecmp(as_pmu_events[i].alias, name) == 0)
            return &as_pmu_events[i];
    return NULL;
}

void as_pmu_events_name(uint32_t kind, struct as_str *list)
{
    for (size_t i = 0; i < as_pmu_events_count; i++)
        as_str_add_word(list, (as_pmu_events[i].kinds >> kind & 1), as_pmu_events[i].name);
}

bool as_pmu_event_may(const struct as_pmu_event *event, const struct as_insn *insn)
{
    return (insn->flags & event->insn_flags) == event->insn_flags &&
           (!event->classes || event->classes >> insn->class_ & 1);
}
