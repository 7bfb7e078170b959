// The source beside the instructions: the lines of one file with the time that the function's instructions spend on them.

import { Bars } from "./bar";
import { el, replace } from "./dom";
import { clean, percent } from "./format";
import { Grid } from "./grid";
import { groupStacks, Model, Stacks } from "./model";

const LINE = 20;

export class SourcePane {
    readonly element = el("section", { class: "source", "aria-label": "Source" });
    private grid: Grid | null = null;
    private file = -1;
    private firstLine = 1;
    private stacks: Stacks | null = null;

    constructor(
        private readonly model: Model,
        private readonly bars: Bars,
        private readonly onLine: (file: number, line: number) => void,
    ) {}

    /** The files that a function's instructions come from, the one with the most time first. */
    private filesOf(fn: number): number[] {
        const { model } = this;
        const time = new Map<number, number>();
        for (let row = model.first[fn]; row < model.first[fn + 1]; row++) {
            const file = model.fileOf(row);
            if (file >= 0) time.set(file, (time.get(file) ?? 0) + model.main.instructions.total[row]);
        }
        return [...time.keys()].sort((a, b) => time.get(b)! - time.get(a)!);
    }

    show(fn: number): void {
        const files = this.filesOf(fn);
        this.file = -1;
        this.fn = fn;
        if (files.length === 0) {
            replace(this.element, el("h2", {}, "Source"), el("p", { class: "missing" }, "No line information: the program was built without -g, or its debug information was not found."));
            this.grid = null;
            return;
        }
        const choice = el("select", { "aria-label": "Source file" }, ...files.map((file) => el("option", { value: file }, clean(this.model.data.files![file].name, 120))));
        choice.addEventListener("change", () => this.open(Number(choice.value)));
        this.body = el("div", { class: "fill" });
        replace(this.element, el("div", { class: "source-head" }, el("h2", {}, "Source"), choice), this.body);
        this.choice = choice;
        this.open(files[0]);
    }

    private fn = 0;
    private body = el("div");
    private choice: HTMLSelectElement | null = null;

    private open(file: number): void {
        const { model, bars } = this;
        const data = model.data.files![file];
        this.file = file;
        if (this.choice) this.choice.value = String(file);
        if (!data.lines || data.lines.length === 0) {
            this.grid = null;
            replace(this.body, el("p", { class: "missing" }, `The text of this file is not in the page: ${clean(data.note ?? "it was not found when the page was written", 300)}.`));
            return;
        }
        const lines = data.lines;
        const first = (this.firstLine = data.first ?? 1);
        const [low, high] = [model.first[this.fn], model.first[this.fn + 1]];
        const lineOf = (row: number) => {
            const line = model.lineOf(row) - first;
            return row >= low && row < high && model.fileOf(row) === file && line >= 0 && line < lines.length ? line : -1;
        };
        const stacks = (this.stacks = groupStacks(model.main.instructions, lineOf, lines.length, model.components.length));
        const texts = lines.map((line) => clean(line.replace(/\t/g, "    "), 400));
        const longest = texts.reduce((most, line) => Math.max(most, line.length), 40);
        const full = stacks.total.reduce((most, value) => Math.max(most, value), 1e-9);
        this.grid = new Grid({
            label: `Source lines of ${clean(data.name, 80)}`, rowHeight: LINE, className: "lines",
            columns: [
                { key: "line", title: "Line", width: "40px", numeric: true, cell: (line, cell) => (cell.textContent = String(line + first)) },
                { key: "share", title: "Share", width: "54px", numeric: true, cell: (line, cell) => (cell.textContent = stacks.total[line] > 0 ? percent(stacks.total[line] / model.total) : "") },
                { key: "stack", title: "Stack", width: "44px", cell: (line, cell) => stacks.total[line] > 0 && cell.append(bars.make(stacks.parts(line), full, { total: stacks.total[line] })) },
                { key: "text", title: data.note ? `Source (${clean(data.note, 80)})` : "Source", width: `minmax(${longest}ch, 1fr)`, cell: (line, cell) => {
                    cell.classList.add("code");
                    cell.textContent = texts[line];
                } },
            ],
            onSelect: (line) => this.onLine(file, line + first),
        });
        // As wide as the longest line: the rest can be scrolled to, nothing is cut.
        this.grid.element.style.setProperty("--least", `calc(${longest}ch + 220px)`);
        replace(this.body, this.grid.element);
        this.grid.setRows(Array.from({ length: lines.length }, (_, line) => line));
        this.showHottest();
    }

    private showHottest(): void {
        let hottest = 0;
        this.stacks!.total.forEach((value, line) => (hottest = value > this.stacks!.total[hottest] ? line : hottest));
        this.grid!.select(hottest, true);
        this.grid!.clearSelection();
    }

    /** Shows the line that an instruction comes from, without selecting that line's instruction in turn. */
    follow(row: number): void {
        const file = this.model.fileOf(row);
        if (file < 0) return;
        if (file !== this.file) this.open(file);
        this.grid?.select(this.model.lineOf(row) - this.firstLine, true);
    }

    print(on: boolean): void {
        this.grid?.print(on);
    }
}
