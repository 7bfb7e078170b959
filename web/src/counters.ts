// The run's counters, grouped by part of the machine, with rates that show whether a count is large.

import { PageData } from "./contract";
import { clean, count, digits, percent } from "./format";

export interface CounterLine {
    label: string;
    value: string;
    error: string; // half the 95 % interval, as a part of the count; "" if it is exact
    rate: string; // per 1000 instructions, or a share
    of: string; // a second rate
}

export interface CounterGroup {
    title: string;
    lines: CounterLine[];
}

type Counter = NonNullable<PageData["counters"]>[number];

/** Totals of the run, for which a rate per instruction is meaningless. */
const TOTALS = new Set(["instructions", "processes", "threads", "cycles", "elapsed_cycles", "kernel_cycles"]);

function line(values: Map<string, number>, { name, value, error, group, label, whole, of, meaning }: Counter): CounterLine {
    const instructions = values.get("instructions") ?? 0;
    const all = whole ? values.get(whole) ?? 0 : 0;
    const plain = group === undefined || TOTALS.has(name) || instructions === 0;
    return {
        label: clean(label ?? name, 60), value: count(value), error: error === undefined ? "" : `± ${percent(error)}`,
        rate: plain ? "" : digits((value / instructions) * 1000),
        of: all > 0 ? `${percent(value / all)} ${clean(of ?? "", 60)}` : clean(meaning ?? "", 200),
    };
}

/** Groups in their first order; counters without one come last. Counters of a missing part (no L2) are left out. */
export function counterGroups(counters: NonNullable<PageData["counters"]>): CounterGroup[] {
    const values = new Map(counters.map((one) => [one.name, one.value]));
    const absent = (name: string) => /^l2_/.test(name) && !values.get("l2_accesses");
    const groups = new Map<string | undefined, CounterLine[]>(counters.filter((one) => one.group !== undefined).map((one) => [one.group, []]));
    groups.set(undefined, []);
    for (const one of counters) if (one.group === undefined || !absent(one.name)) groups.get(one.group)!.push(line(values, one));
    return [...groups].map(([title, lines]) => ({ title: clean(title ?? "Others", 60), lines })).filter((group) => group.lines.length > 0);
}
