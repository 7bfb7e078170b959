// What was run, on what: the run's own facts, threads, counters, modules and source files.

import { el } from "./dom";
import { clean, count, percent } from "./format";
import { Model } from "./model";
import { Tab } from "./tabs";

type Cell = string | { text: string; number?: boolean; dim?: boolean };

function table(title: string, heads: string[], rows: Cell[][]): HTMLElement | null {
    if (rows.length === 0) return null;
    const cell = (value: Cell, first: boolean) => {
        const { text, number, dim } = typeof value === "string" ? { text: value, number: false, dim: false } : value;
        return first ? el("th", { scope: "row" }, text) : el("td", { class: [number ? "num" : "", dim ? "dim" : ""].join(" ").trim() || null }, text);
    };
    return el("section", { class: "card" }, el("h2", {}, title),
        el("table", { class: "plain" }, el("caption", { class: "hidden" }, title),
            heads.length ? el("thead", {}, el("tr", {}, ...heads.map((head, i) => el("th", { scope: "col", class: typeof rows[0][i] === "object" && (rows[0][i] as { number?: boolean }).number ? "num" : null }, head)))) : null,
            el("tbody", {}, ...rows.map((row) => el("tr", {}, ...row.map((value, i) => cell(value, i === 0)))))));
}

function runRows(model: Model): Cell[][] {
    const { summary } = model.data;
    const rows: Cell[][] = [["Program", clean(summary.program, 400)]];
    if (summary.arguments) rows.push(["Arguments", clean(summary.arguments, 2000)]);
    if (summary.recorded) rows.push(["Recorded", clean(summary.recorded, 60)]);
    return rows.concat((model.data.run ?? []).map((row) => [clean(row.name, 80), clean(row.value, 2000)]));
}

export const runTab: Tab = {
    id: "run",
    title: "Run",
    create({ model }) {
        const { threads = [], counters = [], modules = [], files = [] } = model.data;
        const cycles = threads.reduce((sum, thread) => sum + (thread.cycles ?? 0), 0) || 1;
        const element = el("div", { class: "columns" },
            table("Run", [], runRows(model)),
            table("Threads", ["Thread", "Instructions", "Cycles", "Share"], threads.map((thread) => [
                clean(thread.name, 80), { text: count(thread.instructions), number: true }, { text: count(thread.cycles), number: true },
                { text: thread.cycles ? percent(thread.cycles / cycles) : "–", number: true }])),
            table("Counters", [], counters.map((counter) => [clean(counter.name, 60), { text: count(counter.value), number: true }, { text: clean(counter.meaning ?? "", 200), dim: true }])),
            table("Modules", ["Module", "Path", "Build id", ""], modules.map((module) => [
                clean(module.name, 80), clean(module.path ?? "", 300), clean(module.build_id ?? "none", 80), { text: clean(module.note ?? "", 200), dim: true }])),
            table("Sources", ["File", ""], files.map((file) => [
                clean(file.name, 300), { text: clean(file.note ?? (file.lines ? `${count(file.lines.length)} lines in this page` : "not available"), 200), dim: true }])));
        return { element, show: () => undefined };
    },
};
