// The machine's parameters by part, with units: repeated parts (caches, TLBs, queues, units) as a table, the others as lists
// with their meanings.

import { el } from "./dom";
import { clean } from "./format";
import { PageData } from "./contract";
import { Tab } from "./tabs";

type Row = NonNullable<PageData["machine"]>[number]["rows"][number];

const SECTIONS: Record<string, string> = {
    machine: "The machine", front: "Front end", predictor: "Branch prediction", back: "Back end", queue: "Issue queues",
    unit: "Execution units", memory: "Memory", dram: "DRAM",
};
const PARTS: Record<string, string> = {
    l1i: "L1 instruction", l1d: "L1 data", l2: "L2", llc: "Last level", itlb: "Instruction TLB", dtlb: "Data TLB", l2tlb: "L2 TLB",
    int: "integer", mul: "integer multiply", div: "integer divide", mem: "memory", fp: "FP", fp_mul: "FP multiply", fp_div: "FP divide",
    fp_fma: "FP multiply-add", fp_convert: "FP convert", fp_sqrt: "FP square root", vector: "packed integer", load: "load", store: "store", atomic: "atomic",
};
const HEADS: Record<string, string> = {
    count: "Units", size: "Size", entries: "Entries", ways: "Ways", latency: "Latency", mshrs: "Misses at once", banks: "Banks", next_line: "Next-line prefetch",
    width: "Issues a cycle", interval: "Interval",
};
const ORDER = Object.keys(HEADS);
const PLACES = Object.keys(PARTS);
const TEXTS = ["name", "description", "source", "frequency"]; // these need no explanation

function known(table: Record<string, string>, key: string): string | undefined {
    return Object.prototype.hasOwnProperty.call(table, key) ? table[key] : undefined;
}

/** "32 KiB", "3.2 GHz", "4 cycles": the machine file's number with its unit. */
export function withUnit({ name, value, note }: Row): string {
    const bytes = /^(\d+)([KMG])$/.exec(value);
    if (bytes) return `${bytes[1]} ${bytes[2]}iB`;
    const unit = /^([\d.]+)([A-Za-z]\S*)$/.exec(value);
    if (unit) return `${unit[1]} ${clean(unit[2], 20)}`;
    if (!/^\d+$/.test(value)) return clean(value, 200);
    if (/(^|\.)(latency|interval)$|_bubble$/.test(name) || /^(extra |kernel )?cycles\b/.test(note ?? "")) return value === "1" ? "1 cycle" : `${value} cycles`;
    return /^bytes\b/.test(note ?? "") || /bytes$/.test(name) ? `${value} bytes` : value;
}

/** A cell of a table; the meaning of 0 is spelled out. */
function inTable(row: Row | undefined, column: string): string {
    if (!row) return "";
    if (row.value === "0") return column === "banks" ? "no limit" : "–";
    return withUnit(row);
}

function list(title: string, rows: Row[]): HTMLElement {
    return el("table", { class: "plain parameters" }, el("caption", { class: "hidden" }, title),
        el("tbody", {}, ...rows.map((row) => {
            const note = TEXTS.includes(row.name) ? "" : clean(row.note ?? "", 300);
            return el("tr", {}, el("th", { scope: "row" }, clean(row.name, 80).replace(/_/g, " ")), el("td", { class: /^[\d.]+/.test(row.value) ? "value" : null }, withUnit(row)), el("td", { class: "dim" }, note));
        })));
}

/** Rows named PART.WHAT as a table: one line per PART, one column per WHAT. */
function matrix(title: string, parts: Map<string, Map<string, Row>>): HTMLElement {
    const columns = [...new Set([...parts.values()].flatMap((cells) => [...cells.keys()]))].sort((a, b) => ORDER.indexOf(a) - ORDER.indexOf(b));
    return el("table", { class: "plain matrix" }, el("caption", { class: "hidden" }, title),
        el("thead", {}, el("tr", {}, el("th", { scope: "col" }, ""), ...columns.map((column) => el("th", { scope: "col", class: "num" }, known(HEADS, column) ?? clean(column, 40))))),
        el("tbody", {}, ...[...parts].sort((a, b) => PLACES.indexOf(a[0]) - PLACES.indexOf(b[0])).map(([part, cells]) => {
            const absent = cells.get("size")?.value === "0" || cells.get("entries")?.value === "0";
            return el("tr", {}, el("th", { scope: "row" }, known(PARTS, part) ?? clean(part, 40)),
                ...(absent ? [el("td", { class: "dim", colspan: columns.length }, "there is none")]
                    : columns.map((column) => el("td", { class: "num", title: clean(cells.get(column)?.note ?? "", 200) || undefined }, inTable(cells.get(column), column)))));
        })));
}

function section(name: string, rows: Row[]): HTMLElement {
    const title = known(SECTIONS, name) ?? clean(name, 80);
    const groups = new Map<string, Map<string, Map<string, Row>>>(); // TLBs have other columns than caches
    const plain: Row[] = [];
    for (const row of rows) {
        const [part, what, more] = row.name.split(".");
        if (!what || more !== undefined || known(PARTS, part) === undefined) {
            plain.push(row);
            continue;
        }
        const group = /tlb$/.test(part) ? "tlb" : "";
        const parts = groups.get(group) ?? groups.set(group, new Map()).get(group)!;
        (parts.get(part) ?? parts.set(part, new Map()).get(part)!).set(what, row);
    }
    return el("section", { class: "card" }, el("h2", {}, title), ...[...groups].sort().map(([, parts]) => matrix(title, parts)), plain.length ? list(title, plain) : null);
}

export const machineTab: Tab = {
    id: "machine",
    title: "Machine",
    available: (model) => (model.data.machine?.length ?? 0) > 0,
    create({ model }) {
        const order = Object.keys(SECTIONS);
        const place = (name: string) => (order.includes(name) ? order.indexOf(name) : order.length);
        const sections = [...model.data.machine!].sort((a, b) => place(a.name) - place(b.name)).map(({ name, rows }) => section(name, rows));
        return { element: el("div", { class: "columns" }, ...sections), show: () => undefined };
    },
};
