// Who blames whom: the samplers of one run side by side, by function or by instruction, and where each departs from the
// reference. Rows come in the order of the largest disagreement.

import { button, el, replace } from "./dom";
import { clean, count, percent, signedPercent } from "./format";
import { Column, Grid } from "./grid";
import { Model, Series } from "./model";
import { Context, Tab, View } from "./tabs";
import { tip } from "./tooltip";

const ROWS_MAX = 5000;
const NAME_WIDTH = 260;
const SHARE_WIDTH = 152; // a bar, a share and a difference

export function reference(model: Model): Series {
    return model.series.find((series) => series.exact) ?? model.main;
}

class SamplersView implements View {
    readonly element: HTMLElement;
    private readonly place = el("div", { class: "fill" });
    private readonly pairs = el("div");
    private grid: Grid | null = null;
    private readonly truth: Series;
    private readonly others: Series[];
    private readonly levels: Record<string, HTMLButtonElement>;

    constructor(private readonly context: Context) {
        const { model } = context;
        this.truth = reference(model);
        this.others = model.series.filter((series) => series !== this.truth);
        const level = (name: string, title: string) => button(title, () => context.go({ tab: "samplers", level: name === "functions" ? undefined : name }, true), { "aria-pressed": "false" });
        this.levels = { functions: level("functions", "Functions"), instructions: level("instructions", "Instructions") };
        this.element = el("div", { class: "fill" }, this.errors(), this.pairs,
            el("div", { class: "toolbar" }, el("div", { class: "group", role: "group", "aria-label": "Compare by" }, this.levels.functions, this.levels.instructions),
                el("span", { class: "dim" }, `Share of the time, and how far that is from ${this.truth.label} (the mark). The largest disagreement comes first.`)),
            this.place);
    }

    private errors(): HTMLElement {
        const cell = (value: number | null | undefined) => el("td", { class: "num" }, typeof value === "number" ? percent(value) : "–");
        const rows = [this.truth, ...this.others].map((series) =>
            el("tr", { class: series === this.truth ? "truth" : null },
                el("th", { scope: "row" }, series.label), el("td", { class: "num" }, series.exact ? "every cycle" : count(series.data.samples)),
                ...(["instruction", "block", "function", "pics"] as const).map((key) => cell(series.data.error?.[key])),
                el("td", { class: "dim" }, series === this.truth ? "the reference" : clean(series.data.note ?? "", 200))));
        return el("table", { class: "plain errors" }, el("caption", { class: "hidden" }, "Samplers and their errors"),
            el("thead", {}, el("tr", {}, ...["Sampler", "Samples", "Error: instruction", "block", "function", "cycle stacks", ""].map((head, i) =>
                el("th", { scope: "col", class: i > 0 && i < 6 ? "num" : null }, head)))),
            el("tbody", {}, ...rows));
    }

    private shares(series: Series, level: string): Float64Array {
        const { total } = level === "instructions" ? series.instructions : series.functions;
        return total.map((cycles) => cycles / (series.total || 1));
    }

    private build(level: string): void {
        const { model, names } = this.context;
        const truth = this.shares(this.truth, level);
        const others = this.others.map((series) => this.shares(series, level));
        const away = truth.map((share, row) => others.reduce((most, other) => Math.max(most, Math.abs(other[row] - share)), 0));
        const most = truth.reduce((max, share, row) => Math.max(max, share, ...others.map((other) => other[row])), 1e-9);
        const order = Array.from(truth.keys()).filter((row) => truth[row] > 0 || away[row] > 0);
        order.sort((a, b) => away[b] - away[a] || truth[b] - truth[a] || a - b);
        const fnOf = (row: number) => (level === "instructions" ? model.functionOf[row] : row);
        const open = (row: number) => this.context.go({ function: names.key(fnOf(row)), insn: level === "instructions" ? model.addressOf(row) : undefined });
        this.grid = new Grid({
            label: `Shares by ${level} and sampler`, rowHeight: 30, className: "compare", onOpen: open,
            columns: [
                this.nameColumn(level), this.shareColumn(this.truth, truth, null, most),
                ...this.others.map((series, i) => this.shareColumn(series, others[i], truth, most)),
            ],
        });
        // With many samplers the table is wider than the window, and scrolls: nothing in it is cut.
        this.grid.element.style.setProperty("--least", `${NAME_WIDTH + model.series.length * (SHARE_WIDTH + 14) + 24}px`);
        replace(this.place, this.grid.element);
        this.grid.setRows(order.slice(0, ROWS_MAX));
    }

    private nameColumn(level: string): Column {
        const { model, names, link } = this.context;
        const instructions = level === "instructions";
        return {
            key: "name", title: instructions ? "Instruction" : "Function", width: `minmax(${NAME_WIDTH}px, 2fr)`,
            cell: (row, cell) => {
                const fn = instructions ? model.functionOf[row] : row;
                const href = link({ function: names.key(fn), insn: instructions ? model.addressOf(row) : undefined });
                cell.classList.add("code");
                cell.append(el("a", { href, tabindex: -1 }, instructions ? model.text(row) : model.name(fn, 100)),
                    instructions ? el("span", { class: "dim" }, `  ${model.name(fn, 40)}`) : "");
            },
        };
    }

    private shareColumn(series: Series, shares: Float64Array, truth: Float64Array | null, most: number): Column {
        return {
            key: series.name, title: series.label, width: `minmax(${SHARE_WIDTH}px, 1fr)`,
            cell: (row, cell) => {
                const fill = el("span", { class: "share-fill" });
                fill.style.width = `${(shares[row] / most) * 100}%`;
                const box = el("div", { class: truth ? "share" : "share truth" }, fill);
                if (truth) {
                    const mark = el("span", { class: "share-mark" });
                    mark.style.left = `${(truth[row] / most) * 100}%`;
                    box.append(mark);
                }
                const off = truth ? shares[row] - truth[row] : 0;
                const level = Math.abs(off) < Math.min(0.005, 0.1 * most) ? "same" : off > 0 ? "over" : "under";
                cell.append(box, el("span", { class: "share-text" }, percent(shares[row])), el("span", { class: `share-off ${level}` }, level === "same" ? "" : signedPercent(off)));
                tip(cell, () => el("div", {}, `${series.label}: ${percent(shares[row])}`, truth ? `, ${this.truth.label}: ${percent(truth[row])}` : ""));
            },
        };
    }

    /** Where the file tells for which instruction's time which other one was blamed. */
    private showPairs(): void {
        const { model, names, link } = this.context;
        const lists = this.others.filter((series) => series.data.blames?.length).map((series) => {
            const total = series.total || 1;
            const place = (row: number) => el("a", { class: "code", href: link({ function: names.key(model.functionOf[row]), insn: model.addressOf(row) }) }, model.text(row));
            const rows = series.data.blames!.filter(([said, right]) => said < model.functionOf.length && right < model.functionOf.length).slice(0, 8);
            return el("details", {}, el("summary", {}, `${series.label}: who is blamed for whom`),
                el("table", { class: "plain" }, el("tbody", {}, ...rows.map(([said, right, cycles]) =>
                    el("tr", {}, el("td", { class: "num" }, percent(cycles / total)), el("td", {}, place(said)), el("td", { class: "dim" }, "is blamed for the time of"), el("td", {}, place(right)))))));
        });
        replace(this.pairs, ...lists);
    }

    show(params: URLSearchParams): void {
        const level = params.get("level") === "instructions" ? "instructions" : "functions";
        for (const [name, one] of Object.entries(this.levels)) one.setAttribute("aria-pressed", String(name === level));
        this.showPairs();
        this.build(level);
    }

    print(on: boolean): void {
        this.grid?.print(on);
    }
}

export const samplersTab: Tab = {
    id: "samplers",
    title: "Samplers",
    available: (model) => model.series.length > 1,
    create: (context) => new SamplersView(context),
};
