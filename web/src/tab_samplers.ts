// The samplers of one run side by side, by function or by instruction, and where each differs from the reference; or one
// sampler alone, with the time that it moves. Rows are sorted by the largest difference.

import { button, el, replace } from "./dom";
import { clean, count, percent, signedPercent } from "./format";
import { Column, Grid } from "./grid";
import { Model, Series } from "./model";
import { Context, Tab, View } from "./tabs";
import { findMoves, Move } from "./moves";
import { tip } from "./tooltip";

const ROWS_MAX = 5000;
const NAME_WIDTH = 200;
const MOVES = 8;
const SHARE_WIDTH = 144; // a bar, a share and a difference

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
    private readonly choice: HTMLSelectElement;
    private readonly about = el("span", { class: "dim" });
    private level = "functions";
    private one: Series | null = null; // the sampler that is shown alone

    constructor(private readonly context: Context) {
        const { model } = context;
        this.truth = reference(model);
        this.others = model.series.filter((series) => series !== this.truth);
        const level = (name: string, title: string) => button(title, () => this.go(name, this.one), { "aria-pressed": "false" });
        this.levels = { functions: level("functions", "Functions"), instructions: level("instructions", "Instructions") };
        this.choice = el("select", { "aria-label": "Sampler" }, el("option", { value: "" }, "All samplers"), ...this.others.map((series) => el("option", { value: series.name }, `Only ${series.label}`)));
        this.choice.addEventListener("change", () => {
            const one = this.others.find((series) => series.name === this.choice.value) ?? null;
            this.go(one ? "instructions" : this.level, one);
        });
        this.element = el("div", { class: "fill" }, this.errors(),
            el("div", { class: "toolbar" }, this.choice, el("div", { class: "group", role: "group", "aria-label": "Compare by" }, this.levels.functions, this.levels.instructions), this.about),
            this.pairs, this.place);
    }

    private go(level: string, one: Series | null): void {
        this.context.go({ tab: "samplers", level: level === "functions" ? undefined : level, sampler: one?.name }, true);
    }

    private errors(): HTMLElement {
        const cell = (value: number | null | undefined) => el("td", { class: "num" }, typeof value === "number" ? percent(value) : "–");
        const rows = [this.truth, ...this.others].map((series) =>
            el("tr", { class: series === this.truth ? "truth" : null, "data-series": series.name },
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
        const compared = this.one ? [this.one] : this.others;
        const others = compared.map((series) => this.shares(series, level));
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
                ...compared.map((series, i) => this.shareColumn(series, others[i], truth, most)),
                ...(this.one ? [this.blameColumn(others[0], truth)] : []),
            ],
        });
        // With many samplers the table is wider than the window, and scrolls: nothing in it is cut.
        this.grid.element.style.setProperty("--least", `${NAME_WIDTH + (compared.length + 1) * (SHARE_WIDTH + 14) + 24}px`);
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

    /** Too little to the left of the middle, too much to the right of it. */
    private blameColumn(said: Float64Array, truth: Float64Array): Column {
        const most = said.reduce((max, share, row) => Math.max(max, Math.abs(share - truth[row])), 1e-9);
        return {
            key: "blame", title: "Too little  |  too much", width: "minmax(180px, 2fr)",
            cell: (row, cell) => {
                const off = said[row] - truth[row];
                const fill = el("span", { class: off > 0 ? "over" : "under" });
                fill.style.width = `${(Math.abs(off) / most) * 50}%`;
                cell.append(el("div", { class: "blame", role: "img", "aria-label": off === 0 ? "correct" : `${percent(Math.abs(off))} too ${off > 0 ? "much" : "little"}` }, fill));
            },
        };
    }

    /** The largest moves of one sampler. */
    private showMoves(): void {
        replace(this.pairs);
        if (!this.one) return;
        const { model } = this.context;
        const { moves, between } = findMoves(model, this.shares(this.truth, "instructions"), this.shares(this.one, "instructions"));
        const all = moves.reduce((sum, move) => sum + move.share, 0);
        const heads = ["Share", "The time of", "is charged to", "", "in"];
        this.pairs.append(el("p", { class: "moved" }, el("strong", {}, percent(all)), ` of the time is charged to another instruction of the same function, `, el("strong", {}, percent(between)), " to another function."));
        if (moves.length === 0) return;
        this.pairs.append(el("details", { open: true }, el("summary", {}, "The largest moves", el("span", { class: "dim" }, " – time that an instruction lacks is assumed to be at the nearest instruction that has too much")),
            el("table", { class: "plain moves" }, el("caption", { class: "hidden" }, "The largest moves"),
                el("thead", {}, el("tr", {}, ...heads.map((head, i) => el("th", { scope: "col", class: i === 0 ? "num" : null }, head)))),
                el("tbody", {}, ...moves.slice(0, MOVES).map((move) => this.moveRow(move))))));
    }

    private moveRow({ from, to, share }: Move): HTMLElement {
        const { model, names, link } = this.context;
        const fn = model.functionOf[from];
        const place = (row: number) => el("a", { class: "code", href: link({ function: names.key(fn), insn: model.addressOf(row) }) }, model.text(row));
        const steps = Math.abs(to - from);
        return el("tr", {}, el("td", { class: "num" }, percent(share)), el("td", {}, place(from)), el("td", {}, place(to)),
            el("td", { class: "dim" }, `${count(steps)} ${steps === 1 ? "instruction" : "instructions"} ${to > from ? "further" : "before"}`), el("td", { class: "code" }, model.name(fn, 60)));
    }

    show(params: URLSearchParams): void {
        this.level = params.get("level") === "instructions" ? "instructions" : "functions";
        this.one = this.others.find((series) => series.name === params.get("sampler")) ?? null;
        this.choice.value = this.one?.name ?? "";
        for (const row of this.element.querySelectorAll<HTMLElement>("[data-series]"))
            row.hidden = this.one !== null && row.dataset.series !== this.one.name && row.dataset.series !== this.truth.name;
        this.about.textContent = this.one ? `${this.one.label} compared with ${this.truth.label}. The largest difference comes first.`
            : `Share of the time, and its difference from ${this.truth.label} (the mark). The largest difference comes first.`;
        for (const [name, one] of Object.entries(this.levels)) one.setAttribute("aria-pressed", String(name === this.level));
        this.showMoves();
        this.build(this.level);
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
