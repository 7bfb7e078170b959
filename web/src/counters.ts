// The run's counters as people ask about them: by part, with the rate that says whether a count is large.

import { PageData } from "./contract";
import { clean, count, digits, percent } from "./format";

export interface CounterLine {
    label: string;
    value: string;
    rate: string; // per 1000 instructions, or a share
    of: string; // a second rate
}

export interface CounterGroup {
    title: string;
    lines: CounterLine[];
}

/** Name, label, and what else it is a part of: [counter, "of the branches"]. */
type Entry = [name: string, label: string, whole?: [name: string, words: string]];

const GROUPS: [title: string, entries: Entry[]][] = [
    ["Work", [["instructions", "Instructions"], ["uops", "Micro-operations"], ["wrong_path_instructions", "Instructions on wrong paths"]]],
    ["Branches", [["branches", "Branches"], ["branch_mispredictions", "Mispredicted", ["branches", "of the branches"]], ["btb_misses", "Unknown targets (BTB misses)", ["branches", "of the branches"]]]],
    ["Instruction fetch", [["l1i_accesses", "L1 instruction cache accesses"], ["l1i_misses", "L1 instruction cache misses", ["l1i_accesses", "of the accesses"]], ["itlb_misses", "Instruction TLB misses"]]],
    ["Data", [["l1d_accesses", "L1 data cache accesses"], ["l1d_misses", "L1 data cache misses", ["l1d_accesses", "of the accesses"]], ["l2_accesses", "L2 accesses"], ["l2_misses", "L2 misses", ["l2_accesses", "of the accesses"]],
        ["llc_accesses", "Last-level cache accesses"], ["llc_misses", "Last-level cache misses", ["llc_accesses", "of the accesses"]], ["prefetches", "Prefetches"], ["store_forwards", "Loads served by queued stores"]]],
    ["Address translation", [["dtlb_misses", "Data TLB misses", ["l1d_accesses", "of the data accesses"]], ["l2tlb_misses", "L2 TLB misses"], ["page_walks", "Page walks"], ["page_faults", "Pages touched first"]]],
    ["DRAM", [["dram_reads", "Reads"], ["dram_writes", "Writes"], ["dram_row_hits", "Open row hits", ["dram_all", "of the requests"]]]],
    ["Flushes", [["flushes", "Flushes at commit"], ["memory_order_violations", "Memory-order violations"]]],
    ["Time", [["cycles", "Cycles of all threads"], ["elapsed_cycles", "Cycles from start to end"], ["kernel_cycles", "In the kernel (not in the profile)"]]],
];

function line(values: Map<string, number>, [name, label, whole]: Entry): CounterLine {
    const value = values.get(name)!;
    const instructions = values.get("instructions") ?? 0;
    const all = whole ? values.get(whole[0]) ?? 0 : 0;
    const timed = ["instructions", "cycles", "elapsed_cycles", "kernel_cycles"].includes(name);
    return {
        label, value: count(value),
        rate: timed || instructions === 0 ? "" : digits((value / instructions) * 1000),
        of: whole && all > 0 ? `${percent(value / all)} ${whole[1]}` : "",
    };
}

/** What no group knows comes last, under its own name. Counters of a part that is not there (no L2) are left out. */
export function counterGroups(counters: NonNullable<PageData["counters"]>): CounterGroup[] {
    const values = new Map(counters.map((one) => [one.name, one.value]));
    const used = new Set<string>();
    values.set("dram_all", (values.get("dram_reads") ?? 0) + (values.get("dram_writes") ?? 0));
    const groups = GROUPS.map(([title, entries]) => {
        const there = entries.filter(([name]) => values.has(name));
        there.forEach(([name]) => used.add(name));
        const absent = (name: string) => /^l2_/.test(name) && !values.get("l2_accesses");
        return { title, lines: there.filter(([name]) => !absent(name)).map((entry) => line(values, entry)) };
    });
    const others = counters.filter((one) => !used.has(one.name));
    groups.push({ title: "Others", lines: others.map((one) => ({ label: clean(one.name, 60), value: count(one.value), rate: "", of: clean(one.meaning ?? "", 200) })) });
    return groups.filter((group) => group.lines.length > 0);
}
