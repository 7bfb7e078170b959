// What was run, on which machine, how it was measured and with which limits; counters with rates, threads, modules, sources.

import { Child, el } from "./dom";
import { clean, count, digits, percent, seconds, short } from "./format";
import { counterGroups } from "./counters";
import { Model } from "./model";
import { Context, Tab, View } from "./tabs";
import { partWarnings } from "./warnings";

type Cell = string | { text: string; number?: boolean; dim?: boolean; code?: boolean };

function card(title: string, ...children: Child[]): HTMLElement {
    return el("section", { class: "card" }, el("h2", {}, title), ...children);
}

function table(title: string, heads: string[], rows: Cell[][]): HTMLElement | null {
    if (rows.length === 0) return null;
    const cell = (value: Cell, first: boolean) => {
        const { text, number, dim, code } = typeof value === "string" ? { text: value, number: false, dim: false, code: false } : value;
        const look = [number ? "num" : "", dim ? "dim" : "", code ? "code" : ""].join(" ").trim() || null;
        return first ? el("th", { scope: "row", class: look }, text) : el("td", { class: look }, text);
    };
    const isNumber = (i: number) => typeof rows[0][i] === "object" && (rows[0][i] as { number?: boolean }).number;
    return el("table", { class: "plain" }, el("caption", { class: "hidden" }, title),
        heads.length ? el("thead", {}, el("tr", {}, ...heads.map((head, i) => el("th", { scope: "col", class: isNumber(i) ? "num" : null }, head)))) : null,
        el("tbody", {}, ...rows.map((row) => el("tr", {}, ...row.map((value, i) => cell(value, i === 0))))));
}

/** The run's properties by key; those used here are not listed again below. */
class Facts {
    private readonly values = new Map<string, string>();
    private readonly used = new Set<string>(["cycles", "instructions", "seconds", "class", "series", "environment", "program", "date", "source"]);

    constructor(model: Model) {
        for (const { name, value } of model.data.run ?? []) if (name !== "environment") this.values.set(name, clean(value, 2000));
    }

    get(key: string): string {
        this.used.add(key);
        return this.values.get(key) ?? "";
    }

    others(): [string, string][] {
        return [...this.values].filter(([key]) => !this.used.has(key));
    }
}

function dateText(text: string): string {
    const match = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)Z$/.exec(text);
    return match ? `${match[1]} ${match[2]} UTC` : clean(text, 60);
}

function statusText(status: string): string {
    if (!/^\d+$/.test(status)) return status;
    return Number(status) > 128 ? `${status} (signal ${Number(status) - 128})` : status;
}

function facts(title: string, rows: [string, string, boolean?][]): HTMLElement {
    const there = rows.filter(([, value]) => value !== "");
    return card(title, el("dl", { class: "quality" }, ...there.flatMap(([name, value, code]) => [el("dt", {}, name), el("dd", { class: code ? "code" : null }, value)])));
}

function frequency(text: string): string {
    const hertz = Number(text);
    return hertz > 0 ? `${short(hertz).replace(/ ?([kMGT]?)$/, " $1")}Hz` : "";
}

function whatRan(model: Model, known: Facts): HTMLElement {
    const { summary } = model.data;
    return facts("What was run", [
        ["Program", clean(summary.program, 400), true], ["Arguments", clean(summary.arguments ?? "", 2000), true], ["Directory", known.get("directory"), true],
        ["Exit status", statusText(known.get("status") || known.get("Exit status"))], ["Recorded", dateText(summary.recorded ?? "")],
        ["Took", known.get("host_seconds") ? seconds(Number(known.get("host_seconds"))) : ""], ["Assay", known.get("assay")],
        ...known.others().filter(([key]) => /^[A-Z]/.test(key)).map(([key, value]): [string, string] => (known.get(key), [clean(key, 80), value])),
    ]);
}

function whatMachine(model: Model, known: Facts): HTMLElement {
    const { summary } = model.data;
    const of = (name: string) => clean(model.data.machine?.find((one) => one.name === "machine")?.rows.find((row) => row.name === name)?.value ?? "", 400);
    const modelled = summary.source === "model";
    return facts("The machine", [
        [modelled ? "Modelled core" : "Processor", [known.get("core") || clean(summary.core ?? "", 100), of("description")].filter(Boolean).join(": ")],
        ["Clock", frequency(known.get("frequency"))], ["Architecture", known.get("arch")], ["Host", known.get("host") + (known.get("host") && modelled ? " (ran the model)" : "")],
        ["Numbers from", of("source")],
    ]);
}

/** What merged runs have of a number: mean, range, deviation. */
function spread(known: Facts, what: string, show: (value: number) => string): string {
    const [mean, deviation, least, most] = ["mean", "deviation", "least", "most"].map((part) => Number(known.get(`${what}_${part}`))) as [number, number, number, number];
    return mean > 0 ? `${show(mean)} on average, ${show(least)} to ${show(most)}, standard deviation ${percent(deviation / mean)}` : "";
}

/** What was merged; one line for each: weight, runs, file. */
function mergedText(known: Facts): string {
    const number = Number(known.get("merged"));
    const inputs = known.get("merged_inputs").split("␊").filter(Boolean).map((line) => line.split("␉"));
    const files = inputs.map(([weight = "", runs = "", name = ""]) => `${name} (weight ${weight.replace(/\/1$/, "")}, ${runs} run${runs === "1" ? "" : "s"})`);
    return number > 1 ? [`${count(number)} profiles`, ...files].join("; ") : files.join("; ");
}

function howMeasured(model: Model, known: Facts): HTMLElement {
    const { summary } = model.data;
    const random = known.get("random") === "1" ? `at random${known.get("seed") ? `, seed ${known.get("seed")}` : ""}` : "";
    known.get("golden");
    known.get("seed");
    return facts("How it was measured", [
        ["Source", clean(summary.source, 40)], ["Why", known.get("source_why")], ["Why this core", known.get("core_why")],
        ["Series", model.series.map((one) => `${one.label} (${one.exact ? "every cycle" : `${count(one.data.samples)} samples`})`).join(", ")],
        ["Period", [known.get("period") ? `${count(Number(known.get("period")))} ${known.get("rate") ? "" : model.unit}`.trim() : "", random].filter(Boolean).join(", ")],
        ["Rate", known.get("rate") && Number(known.get("rate")) ? `${count(Number(known.get("rate")))} a second` : ""], ["Part of the run", known.get("part")], ["Asked for", known.get("region")], ["Partial", known.get("partial")],
        ["Merged from", mergedText(known)], ["Cycles of a run", spread(known, "cycles", (value) => count(Math.round(value)))], ["Seconds of a run", spread(known, "seconds", seconds)],
        ...known.others().map(([key, value]): [string, string] => [clean(key, 80).replace(/_/g, " "), value]),
    ]);
}

function whatLimits(model: Model): HTMLElement {
    const { summary, modules = [], files = [] } = model.data;
    const part = partWarnings(model).map(({ title, text }) => `${title}: ${text}`);
    const lines = [...part, ...(summary.notes ?? []), ...(summary.unmeasured ?? []).map((text) => `not measured: ${text}`)].map((text) => clean(text, 600));
    for (const module of modules) if (module.note) lines.push(`${clean(module.name, 80)}: ${clean(module.note, 200)}`);
    const without = files.filter((file) => !file.lines?.length).length;
    if (without > 0) lines.push(`${count(without)} of ${count(files.length)} source files are not in the page`);
    return card("What limits it", lines.length ? el("ul", {}, ...lines.map((text) => el("li", {}, text))) : el("p", { class: "dim" }, "No known limits."));
}

function countersCard(model: Model): HTMLElement | null {
    const groups = counterGroups(model.data.counters ?? []);
    if (groups.length === 0) return null;
    const known = groups.some(({ lines }) => lines.some((one) => one.error));
    const heads = ["", "Count", ...(known ? ["±"] : []), "Per 1000 instructions", ""];
    const hint = "Half the 95 % interval, as a part of the count: the run was measured in parts";
    const { cycles, instructions } = model.data.summary;
    return el("section", { class: "card counters" }, el("h2", {}, "Counters"),
        typeof cycles === "number" && typeof instructions === "number" && cycles > 0 ? el("p", { class: "dim" }, `${digits(instructions / cycles)} instructions a cycle`) : null,
        el("table", { class: "plain" }, el("caption", { class: "hidden" }, "Counters"),
            el("thead", {}, el("tr", {}, ...heads.map((head, i) => el("th", { scope: "col", class: i > 0 && i < heads.length - 1 ? "num" : null, title: head === "±" ? hint : undefined }, head)))),
            ...groups.map(({ title, lines }) => el("tbody", {}, el("tr", { class: "group-head" }, el("th", { scope: "rowgroup", colspan: heads.length }, title)),
                ...lines.map((one) => el("tr", {}, el("th", { scope: "row" }, one.label), el("td", { class: "num" }, one.value), known && el("td", { class: "num dim" }, one.error), el("td", { class: "num" }, one.rate), el("td", { class: "dim" }, one.of)))))));
}

function threadsCard({ model, link }: Context): HTMLElement | null {
    const { threads = [] } = model.data;
    const cycles = threads.reduce((sum, thread) => sum + (thread.cycles ?? 0), 0) || 1;
    const rows = table("Threads", ["Thread", "Instructions", "Cycles", "IPC", "Share"], threads.map((thread) => [
        clean(thread.name, 80), { text: count(thread.instructions), number: true }, { text: count(thread.cycles), number: true },
        { text: thread.cycles && thread.instructions ? digits(thread.instructions / thread.cycles) : "–", number: true },
        { text: thread.cycles ? percent(thread.cycles / cycles) : "–", number: true }]));
    if (!rows) return null;
    if (threads.length > 1)
        rows.querySelectorAll("tbody th").forEach((cell, i) => {
            if (model.main.data.threads?.[i]) cell.replaceChildren(el("a", { href: link({ tab: "functions", thread: String(i) }) }, cell.textContent));
        });
    return card("Threads", rows);
}

function sourcesCard(model: Model): HTMLElement | null {
    const { files = [] } = model.data;
    const row = (file: (typeof files)[number]): Cell[] => [{ text: clean(file.name, 300), code: true }, { text: clean(file.note ?? (file.lines ? `${count(file.lines.length)} lines` : "not available"), 200), dim: true }];
    const shown = files.filter((file) => file.lines?.length);
    const missing = files.filter((file) => !file.lines?.length);
    if (files.length === 0) return null;
    return card("Sources", table("Sources", ["In the page", ""], shown.map(row)),
        missing.length ? el("details", {}, el("summary", {}, `${count(missing.length)} without text`), table("Sources without text", [], missing.map(row))) : null);
}

function environmentCard(model: Model, known: Facts): HTMLElement | null {
    const values = (model.data.run ?? []).filter((row) => row.name === "environment").map((row) => clean(row.value, 400));
    const all = known.get("environment_variables");
    if (values.length === 0) return null;
    return card("Environment", all ? el("p", { class: "dim" }, `${count(values.length)} of ${clean(all, 20)} variables were kept`) : null,
        el("ul", { class: "code" }, ...values.map((value) => el("li", {}, value))));
}

export const runTab: Tab = {
    id: "run",
    title: "Run",
    create(context): View {
        const { model } = context;
        const known = new Facts(model);
        const environment = environmentCard(model, known);
        const first = [whatRan(model, known), whatMachine(model, known), howMeasured(model, known), whatLimits(model)];
        const modules = (model.data.modules ?? []).map((module): Cell[] => [clean(module.name, 80), { text: clean(module.path ?? "", 300), code: true }, { text: clean(module.build_id ?? "none", 80), code: true }, { text: clean(module.note ?? "", 200), dim: true }]);
        const element = el("div", { class: "cards" },
            el("div", {}, ...first, threadsCard(context), sourcesCard(model), environment),
            el("div", {}, countersCard(model), modules.length ? card("Modules", table("Modules", ["Module", "Path", "Build id", ""], modules)) : null));
        return { element, show: () => undefined };
    },
};
