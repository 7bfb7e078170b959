// Two profiles compared: the time of every function before and after, and which components made the difference. The document
// contains the result of `assay report --diff`; here it is sorted, searched and drawn.

import { DiffRow, DiffSide } from "./contract";
import { el } from "./dom";
import { clean, count, digits, percent, seconds, short } from "./format";
import { Column } from "./grid";
import { Listing, numbers } from "./listing";
import { Part, UNKNOWN } from "./model";
import { Context, Tab, View } from "./tabs";

const REASONS = 3;
const MATTERS = 0.05; // share of a function's change: smaller changes of components are not listed as reasons

function signed(value: number): string {
    return value === 0 ? "0" : (value < 0 ? "−" : "+") + short(Math.abs(value));
}

/** "1.25× faster", "0.21 % slower", "same", "new", "gone", "within noise": as `assay report --diff` says it. */
function verdict(before: number, after: number, significant = true): string {
    if (!significant && before !== after) return "within noise";
    if (before <= 0) return after > 0 ? "new" : "same";
    if (after <= 0) return "gone";
    const factor = Math.max(before / after, after / before);
    if (factor - 1 < 0.00005) return "same";
    const much = factor < 1.005 ? `${((factor - 1) * 100).toFixed(2)} %` : `${factor.toFixed(factor < 1000 ? 2 : 0)}×`;
    return `${much} ${before > after ? "faster" : "slower"}`;
}

/** "instructions +3.0 %"; empty if they were not counted, or did not change noticeably. */
function moreWork(before: number | null | undefined, after: number | null | undefined): string {
    if (!before || !after || Math.abs(after / before - 1) < 0.005) return "";
    return `instructions ${after > before ? "+" : "−"}${(Math.abs(after / before - 1) * 100).toFixed(1)} %`;
}

/** The components that changed, the largest change first. */
function changes(row: DiffRow): [string, number][] {
    const { before_components: before = {}, components: after = {} } = row;
    const names = new Set([...Object.keys(before), ...Object.keys(after)]);
    const list = [...names].map((name): [string, number] => [name, (after[name] ?? 0) - (before[name] ?? 0)]);
    return list.filter(([, change]) => change !== 0).sort((a, b) => Math.abs(b[1]) - Math.abs(a[1]));
}

class DiffView implements View {
    readonly element: HTMLElement;
    private readonly rows: DiffRow[];
    private readonly listing: Listing;
    private readonly byName: Map<string, number>;
    private readonly places = new Map<string, number>(); // function of the page, by module and name

    constructor(private readonly context: Context) {
        const { model } = context;
        this.rows = model.data.diff!.rows;
        this.byName = new Map(model.components.map((component, i) => [component.name, i]));
        for (let fn = 0; fn < model.functionCount; fn++) this.places.set(`${model.moduleName(fn)}\n${model.string(model.data.functions.name[fn])}`, fn);
        this.listing = new Listing(context, {
            tab: "diff", label: "Functions before and after", what: "functions", columns: this.columns(), rows: this.rows.length, sort: "change",
            text: (row) => `${this.rows[row].function ?? ""}\n${this.rows[row].module ?? ""}`, open: (row) => this.open(row), say: (found) => this.say(found),
        });
        this.element = el("div", { class: "fill" }, this.head(), this.listing.toolbar,
            model.main.functions.known ? context.bars.legend() : null, this.listing.grid.element);
    }

    private head(): HTMLElement {
        const { diff, summary } = this.context.model.data;
        const { before, summary: after, differ_in: differ } = diff!;
        const fact = (side: DiffSide, title: string) => el("tr", {}, el("th", { scope: "row" }, title), el("td", { class: "code" }, clean(side.program ?? "", 80)),
            el("td", {}, clean([side.core, side.sampler].filter(Boolean).join(", "), 80)), ...[side.cycles, side.instructions].map((value) => el("td", { class: "num" }, count(value))),
            el("td", { class: "num" }, side.cycles && side.instructions ? digits(side.instructions / side.cycles) : "–"), el("td", { class: "num" }, typeof side.seconds === "number" ? seconds(side.seconds) : "–"));
        const sum = (key: "before" | "cycles") => diff!.rows.reduce((all, row) => all + row[key], 0);
        const told = typeof before.cycles === "number" && typeof after.cycles === "number" ? [before.cycles, after.cycles] : [sum("before"), sum("cycles")];
        return el("div", {}, el("p", { class: "headline" }, el("span", { class: "code" }, clean(summary.program, 60)), ": ", el("strong", {}, verdict(told[0], told[1], diff!.significant)), ` (${[`${signed(told[1] - told[0])} ${this.context.model.named.unit}`, moreWork(before.instructions, after.instructions)].filter(Boolean).join(", ")})`),
            differ ? el("p", { class: "missing" }, `The profiles differ in more than the program: ${clean(differ, 100)}.`) : null,
            el("table", { class: "plain errors" }, el("caption", { class: "hidden" }, "The two profiles"),
                el("thead", {}, el("tr", {}, ...["", "Program", "Core, series", "Cycles", "Instructions", "IPC", "Time"].map((title, i) => el("th", { scope: "col", class: i > 2 ? "num" : null }, title)))),
                el("tbody", {}, fact(before, "Before"), fact(after, "After"))));
    }

    private parts(components: Record<string, number> | undefined): Part[] {
        const parts = Object.entries(components ?? {}).map(([name, cycles]) => ({ component: this.byName.get(name) ?? UNKNOWN, cycles }));
        return parts.sort((a, b) => a.component - b.component);
    }

    private name(row: number): string {
        return clean(this.rows[row].function ?? this.rows[row].name ?? "", 120) || "(unknown)";
    }

    private columns(): Column[] {
        const { bars } = this.context;
        const all = this.rows;
        const most = all.reduce((max, row) => Math.max(max, row.before, row.cycles), 1e-9);
        const number = (key: string, title: string, hint: string, value: (row: DiffRow) => number) => numbers(key, title, hint, (row) => value(all[row]), short);
        const bar = (cells: Record<string, number> | undefined, time: number, title: string) => {
            const parts = this.parts(cells);
            return bars.make(parts.length > 0 ? parts : [{ component: UNKNOWN, cycles: time }], most, { total: time || 1, title });
        };
        return [
            {
                key: "name", title: "Function", width: "minmax(180px, 2fr)", value: (row) => this.name(row).toLowerCase(), cell: (row, cell) => {
                    const fn = this.place(row);
                    cell.classList.add("code");
                    cell.append(fn === undefined ? this.name(row) : el("a", { tabindex: -1, href: this.context.link({ function: this.context.names.key(fn) }) }, this.name(row)));
                },
            },
            number("before", "Before", "Time of the function itself in the earlier profile", (row) => row.before),
            number("after", "After", "Time of the function itself in this profile", (row) => row.cycles),
            { ...number("change", "Change", "Sorted by size, ignoring the sign", (row) => Math.abs(row.change)), cell: (row, cell) => {
                if (all[row].change !== 0) cell.classList.add(all[row].change > 0 ? "worse" : "better");
                cell.textContent = signed(all[row].change);
            } },
            { key: "verdict", title: "", width: "104px", cell: (row, cell) => (cell.textContent = verdict(all[row].before, all[row].cycles, all[row].significant)) },
            { key: "stacks", title: "Before, and after below it", width: "minmax(160px, 2fr)", cell: (row, cell) => {
                cell.classList.add("two-bars");
                cell.append(bar(all[row].before_components, all[row].before, "Before"), bar(all[row].components, all[row].cycles, "After"));
            } },
            { key: "why", title: "What changed most", width: "minmax(220px, 3fr)", cell: (row, cell) => {
                const list = changes(all[row]);
                cell.classList.add("why-diff");
                list.filter(([, change]) => Math.abs(change) >= MATTERS * Math.abs(all[row].change)).slice(0, REASONS).forEach(([name, change]) => cell.append(el("span", { class: "reason" }, bars.swatch(this.byName.get(name) ?? UNKNOWN), `${clean(name, 40)} ${signed(change)}`)));
                const work = moreWork(all[row].before_executions, all[row].executions);
                if (work) cell.append(el("span", { class: "reason" }, work));
                cell.title = [...list.slice(0, 20).map(([name, change]) => `${clean(name, 60)} ${signed(change)}`), work].filter(Boolean).join("\n");
            } },
        ];
    }

    private place(row: number): number | undefined {
        return this.places.get(`${clean(this.rows[row].module ?? "", 80)}\n${this.rows[row].function ?? ""}`);
    }

    private open(row: number): void {
        const fn = this.place(row);
        if (fn !== undefined) this.context.go({ function: this.context.names.key(fn) });
        else this.context.announce("This function is only in the earlier profile");
    }

    private say(found: number[]): string {
        const gone = this.rows.reduce((sum, row) => sum + Math.max(0, -row.change), 0);
        const more = this.rows.reduce((sum, row) => sum + Math.max(0, row.change), 0);
        const whole = this.rows.reduce((sum, row) => sum + row.before, 0) || 1;
        return `${count(found.length)} functions; saved ${percent(gone / whole)}, added ${percent(more / whole)} of the earlier time`;
    }

    show(params: URLSearchParams): void {
        this.listing.show(params);
    }

    print(on: boolean): void {
        this.listing.print(on);
    }
}

export const diffTab: Tab = {
    id: "diff",
    title: "Diff",
    available: (model) => (model.data.diff?.rows?.length ?? 0) > 0,
    create: (context) => new DiffView(context),
};
