// The instructions of one function, each with its cycle stack, its share and its jumps; the source beside them.

import { button, el, replace } from "./dom";
import { clean, count, digits, percent, plusMinus, short } from "./format";
import { Column, Grid } from "./grid";
import { Jumps } from "./jumps";
import { SourcePane } from "./source_pane";
import { divider } from "./divider";
import { Context, Tab, View } from "./tabs";
import { functionWarnings } from "./warnings";

const ROW = 24;
const HOT = 5;

class AnnotateView implements View {
    readonly element: HTMLElement;
    private readonly absent = el("p", { class: "missing absent", hidden: true });
    private readonly title = el("div", { class: "function-head" });
    private readonly hot = el("div", { class: "hot", role: "group", "aria-label": "Hottest instructions" });
    private readonly place = el("div", { class: "fill" });
    private readonly overview = el("canvas", { class: "overview", "aria-hidden": "true", width: 14, height: 400 });
    private readonly choice = el("input", { type: "search", list: "function-names", "aria-label": "Go to function", placeholder: "Go to function  ( / )", spellcheck: "false" });
    private readonly source: SourcePane;
    private grid: Grid | null = null;
    private jumps: Jumps | null = null;
    private fn = -1;
    private full = 1;
    private mostRuns = 0; // of the function's instructions
    private inlines = false; // the function has code of inlined ones
    private ofFunction = false; // shares are of the function's time, not of the program's
    private hottest: number[] = [];

    constructor(private readonly context: Context) {
        this.source = new SourcePane(context.model, context.bars, (file, line) => this.selectLine(file, line));
        this.choice.addEventListener("change", () => this.goTo(this.choice.value));
        this.overview.addEventListener("click", (event) => this.clickOverview(event));
        new ResizeObserver(() => this.drawOverview()).observe(this.place);
        const base = button("% of function", () => {
            this.ofFunction = !this.ofFunction;
            base.setAttribute("aria-pressed", String(this.ofFunction));
            this.reopen();
        }, { "aria-pressed": "false", title: "Shares of the function's time instead of the program's" });
        const toggle = button("Source", () => {
            toggle.setAttribute("aria-pressed", String(!this.element.classList.toggle("no-source")));
            this.reopen();
        }, { "aria-pressed": "true" });
        this.element = el("div", { class: "fill annotate" },
            el("div", { class: "toolbar" }, this.choice, this.names(), this.hot, el("span", { class: "spring" }), base, toggle), this.absent, this.title, context.bars.legend(),
            el("div", { class: "split" }, el("div", { class: "code-pane" }, this.place, this.overview), divider(), this.source.element));
        this.element.addEventListener("keydown", (event) => this.onKey(event));
    }

    private reopen(): void {
        const at = this.grid!.selected;
        this.open(this.fn);
        if (at < 0) return;
        this.grid!.select(at, true);
        this.source.follow(at);
    }

    /** Whether the source text is shown beside the instructions; its lines then need no column. */
    private sourceShown(): boolean {
        const { model } = this.context;
        const file = model.first[this.fn] < model.first[this.fn + 1] ? model.fileOf(this.hottest[0] ?? model.first[this.fn]) : -1;
        return !this.element.classList.contains("no-source") && file >= 0 && !!model.data.files![file].lines?.length;
    }

    /** The suggestions of the field: the functions with the most time. */
    private names(): HTMLElement {
        const { model, names } = this.context;
        const totals = model.main.functions.total;
        const order = Array.from(totals.keys()).sort((a, b) => totals[b] - totals[a]).slice(0, 300);
        return el("datalist", { id: "function-names" }, ...order.filter((fn) => names.key(fn) !== String(fn)).map((fn) => el("option", { value: names.key(fn) }, percent(totals[fn] / model.total))));
    }

    private goTo(text: string): void {
        const { model, names } = this.context;
        let fn = names.find(text.trim());
        for (let at = 0; fn < 0 && text.trim() && at < model.functionCount; at++) if (model.name(at, 4000).toLowerCase().includes(text.trim().toLowerCase())) fn = at;
        if (fn >= 0) this.context.go({ function: names.key(fn) });
        else if (text.trim()) this.context.announce(`No function matches ${clean(text, 60)}`);
    }

    private columns(): Column[] {
        const { model, bars, names, link } = this.context;
        const stacks = model.main.instructions;
        const errors = model.main.instructionErrors;
        const list: (Column | false)[] = [
            { key: "jumps", title: "", width: `${this.jumps!.width}px`, cell: () => undefined },
            { key: "address", title: "Address", width: "minmax(74px, max-content)", cell: (row, cell) => {
                cell.classList.add("code", "dim");
                cell.textContent = model.addressOf(row).slice(2);
            } },
            { key: "text", title: "Instruction", width: "minmax(220px, 6fr)", cell: (row, cell) => {
                const [, mnemonic, rest] = /^(\S*)(.*)$/s.exec(model.text(row))!;
                const callee = model.callee.get(row);
                cell.classList.add("code");
                cell.append(el("b", {}, mnemonic), rest);
                if (rest.length > 24) cell.title = mnemonic + rest;
                if (callee !== undefined && callee < model.functionCount) cell.append(el("a", { class: "callee", tabindex: -1, href: link({ function: names.key(callee) }) }, model.name(callee, 40)));
            } },
            { key: "share", title: "Share", width: "58px", numeric: true, hint: this.ofFunction ? "Of the function's time" : "Of the program's time", cell: (row, cell) => (cell.textContent = stacks.total[row] > 0 ? this.share(row) : "") },
            !!errors && { key: "error", title: "±", width: "52px", numeric: true, hint: "Half the 95 % interval of the share of the program's time, in points", cell: (row, cell) => (cell.textContent = stacks.total[row] > 0 ? plusMinus(errors[row]) : "") },
            { key: "stack", title: stacks.known ? "Cycle stack" : "Time (no events)", width: "minmax(80px, 2fr)", cell: (row, cell) => {
                if (stacks.total[row] > 0) cell.append(bars.make(stacks.parts(row), this.full, { total: stacks.total[row], title: model.text(row) }));
            } },
            stacks.known && { key: "why", title: "Mostly", width: "minmax(58px, 110px)", hint: "The largest component, for instructions with much time", cell: (row, cell) => {
                cell.classList.add("why");
                cell.textContent = this.why(row);
            } },
            !!model.data.instructions.executed && { key: "executed", title: "Runs", hint: "How often it was executed", width: "56px", numeric: true, cell: (row, cell) => {
                cell.textContent = short(model.executed(row) ?? 0);
                this.heat(cell, model.executed(row) ?? 0);
            } },
            !!model.data.instructions.runs && { key: "runs", title: "Block ran", hint: "How often its basic block ran, estimated from the samples", width: "64px", numeric: true, cell: (row, cell) => {
                const runs = model.data.instructions.runs![row] ?? -1;
                cell.textContent = runs < 0 ? "" : short(runs);
                this.heat(cell, runs);
            } },
            !!model.data.instructions.executed && model.unit === "cycles" && { key: "each", title: "Each", width: "48px", numeric: true, hint: "Cycles for one execution", cell: (row, cell) => {
                const executed = model.executed(row) ?? 0;
                cell.textContent = executed > 0 && stacks.total[row] > 0 ? digits(stacks.total[row] / executed) : "";
            } },
            this.inlines && { key: "inlined", title: "Inlined from", width: "minmax(90px, 150px)", hint: "The inlined function that the instruction comes from, innermost first; empty: the function's own code", cell: (row, cell) => {
                const names = model.inlinedIn(row);
                if (names.length === 0) return;
                cell.classList.add("code", "inlined");
                cell.title = [...names, model.name(this.fn, 80)].join(" ‹ ");
                cell.textContent = names.join(" ‹ ");
            } },
            !this.sourceShown() && { key: "line", title: "Line", width: "44px", numeric: true, cell: (row, cell) => {
                cell.classList.add("dim");
                cell.textContent = model.lineOf(row) > 0 ? String(model.lineOf(row)) : "";
            } },
        ];
        return list.filter((column): column is Column => !!column);
    }

    /** A strip beside a count, the longer the nearer it is to the function's largest: over four decades. */
    private heat(cell: HTMLElement, runs: number): void {
        if (runs <= 0 || this.mostRuns <= 0) return;
        const level = Math.max(0, 1 + Math.log10(runs / this.mostRuns) / 4);
        cell.classList.add("heat");
        cell.style.setProperty("--heat", `${Math.round(100 * level)}%`);
    }

    /** The name of the largest component, for instructions with much time, because colour alone is not enough. */
    private why(row: number): string {
        const { model } = this.context;
        const stacks = model.main.instructions;
        if (!stacks.known || stacks.total[row] < this.full * 0.08) return "";
        const top = stacks.parts(row).sort((a, b) => b.cycles - a.cycles)[0];
        return model.componentName(top.component);
    }

    private share(row: number): string {
        const { model } = this.context;
        return percent(model.main.instructions.total[row] / (this.ofFunction ? model.main.functions.total[this.fn] || 1 : model.total));
    }

    private open(fn: number): void {
        const { model } = this.context;
        const [first, last] = [model.first[fn], model.first[fn + 1]];
        const totals = model.main.instructions.total;
        this.fn = fn;
        this.jumps = new Jumps(model, fn);
        this.inlines = model.data.instructions.inlined?.slice(first, last).some((call) => call >= 0) ?? false;
        const rows = Array.from({ length: last - first }, (_, i) => first + i);
        this.hottest = rows.filter((row) => totals[row] > 0).sort((a, b) => totals[b] - totals[a]).slice(0, 200);
        this.full = totals[this.hottest[0]] || 1;
        const runs = model.data.instructions.executed ?? model.data.instructions.runs;
        this.mostRuns = rows.reduce((most, row) => Math.max(most, runs?.[row] ?? 0), 0);
        this.element.classList.toggle("no-text", !this.sourceShown());
        this.grid = new Grid({
            label: `Instructions of ${model.name(fn, 80)}`, columns: this.columns(), rowHeight: ROW, className: "instructions",
            onSelect: (row) => this.selected(row),
            onOpen: (row) => this.follow(row),
            onRender: (from, to, space) => this.jumps!.draw(space, from, to, ROW, this.grid ? this.grid.selected - first : -1),
            decorate: (row, element) => this.decorate(row, element, first),
        });
        this.showHead(fn, rows.length);
        this.showHot();
        if (rows.length === 0) replace(this.place, el("p", { class: "missing" }, "The instructions of this function are not in the page: it has none of its own, or they were left out to keep the file small."));
        else replace(this.place, this.grid.element);
        this.grid.setRows(rows);
        this.source.show(fn);
        this.drawOverview();
    }

    /** Whether a line is drawn above the instruction: it starts a basic block, as a jump target or after a jump. */
    private decorate(row: number, element: HTMLElement, first: number): void {
        const { model } = this.context;
        const target = this.targets().has(row - first);
        if (row > first && (target || (model.data.instructions.jump?.[row - 1] ?? 0) !== 0)) element.classList.add("leader");
        if (model.main.instructions.total[row] >= this.full * 0.5) element.classList.add("hottest");
    }

    private targetSet: Set<number> = new Set();
    private targetsOf: Jumps | null = null;
    private targets(): Set<number> {
        if (this.targetsOf !== this.jumps) {
            this.targetsOf = this.jumps;
            this.targetSet = new Set(this.jumps!.all.map((jump) => jump.to));
        }
        return this.targetSet;
    }

    private showHead(fn: number, rows: number): void {
        const { model, bars } = this.context;
        const total = model.main.functions.total[fn];
        const file = model.data.functions.file?.[fn] ?? -1;
        const where = file >= 0 && model.data.files?.[file] ? `${clean(model.data.files[file].name, 120)}:${model.data.functions.line?.[fn] ?? ""}` : "";
        const name = model.name(fn, 160);
        replace(this.title,
            el("h2", { class: "code", tabindex: -1, title: name.endsWith("…") ? model.name(fn, 4000) : undefined }, name),
            el("p", { class: "dim" }, [model.moduleName(fn), where, rows === 1 ? "1 instruction" : `${count(rows)} instructions`, `${percent(total / model.total)} of the time`].filter(Boolean).join("  ·  ")),
            functionWarnings(model, fn),
            bars.make(model.main.functions.parts(fn), total || 1, { total: total || 1, title: name, className: "hero slim", errors: bars.errorsOf(fn) }));
    }

    private showHot(): void {
        const { model } = this.context;
        replace(this.hot, ...this.hottest.slice(0, HOT).map((row, i) =>
            button(`${i + 1}  ${this.share(row)}`, () => this.jumpTo(row), { title: `${model.text(row)}  (n and p step through the hottest)`, "aria-label": `Hot instruction ${i + 1}: ${model.text(row)}, ${this.share(row)}` })));
    }

    private jumpTo(row: number): void {
        this.grid?.select(row);
        this.grid?.element.focus();
    }

    private selected(row: number): void {
        const { model, names } = this.context;
        this.context.go({ function: names.key(this.fn), insn: model.addressOf(row) }, true);
        this.source.follow(row);
        const from = model.inlinedIn(row);
        this.context.announce(`${model.text(row)}${from.length ? `, inlined from ${from.join(", in ")}` : ""}: ${this.share(row)}; ${this.context.bars.sentence(model.main.instructions.parts(row), model.main.instructions.total[row] || 1)}`);
    }

    /** Enter: goes to the target of the instruction. */
    private follow(row: number): void {
        const { model, names } = this.context;
        const step = model.data.instructions.jump?.[row] ?? 0;
        const callee = model.callee.get(row);
        if (callee !== undefined && callee < model.functionCount) this.context.go({ function: names.key(callee) });
        else if (step !== 0) this.grid!.select(row + step);
    }

    private selectLine(file: number, line: number): void {
        const { model } = this.context;
        const totals = model.main.instructions.total;
        let best = -1;
        for (let row = model.first[this.fn]; row < model.first[this.fn + 1]; row++)
            if (model.fileOf(row) === file && model.lineOf(row) === line && (best < 0 || totals[row] > totals[best])) best = row;
        if (best >= 0) {
            this.grid!.select(best, true);
            this.context.go({ function: this.context.names.key(this.fn), insn: model.addressOf(best) }, true);
        }
    }

    private onKey(event: KeyboardEvent): void {
        if (event.target instanceof HTMLInputElement || event.ctrlKey || event.altKey || event.metaKey) return;
        const step = event.key === "n" ? 1 : event.key === "p" ? -1 : 0;
        if (step !== 0 && this.hottest.length > 0) {
            const at = this.hottest.indexOf(this.grid!.selected);
            this.jumpTo(this.hottest[at < 0 ? 0 : Math.max(0, Math.min(at + step, this.hottest.length - 1))]);
        } else if (event.key === "Escape") this.context.go({ tab: "functions" });
        else return;
        event.preventDefault();
    }

    /** A strip beside the scroll bar that shows where in the function the time is. */
    private drawOverview(): void {
        const { model } = this.context;
        const pen = this.overview.getContext("2d");
        const height = this.place.clientHeight;
        if (this.fn < 0 || !pen || height === 0) return;
        const [first, last] = [model.first[this.fn], model.first[this.fn + 1]];
        this.overview.hidden = (last - first) * ROW < height;
        this.overview.height = height;
        const sums = new Float64Array(height);
        for (let row = first; row < last; row++) sums[Math.floor(((row - first) / (last - first)) * height)] += model.main.instructions.total[row];
        const most = sums.reduce((a, b) => Math.max(a, b), 1e-9);
        pen.fillStyle = getComputedStyle(this.overview).color;
        sums.forEach((value, y) => {
            if (value > 0) {
                pen.globalAlpha = 0.08 + 0.92 * (value / most);
                pen.fillRect(0, y, 14, Math.max(1, Math.min(4, height / (last - first))));
            }
        });
    }

    private clickOverview(event: MouseEvent): void {
        const { model } = this.context;
        const [first, last] = [model.first[this.fn], model.first[this.fn + 1]];
        const row = first + Math.floor((event.offsetY / this.overview.height) * (last - first));
        if (row >= first && row < last) this.jumpTo(row);
    }

    private rowAt(address: string | null): number {
        const { model } = this.context;
        if (address === null) return -1;
        for (let row = model.first[this.fn]; row < model.first[this.fn + 1]; row++) if (model.addressOf(row) === address.toLowerCase()) return row;
        return -1;
    }

    show(params: URLSearchParams): void {
        const { model, names } = this.context;
        const asked = params.get("function");
        const totals = model.main.functions.total;
        let fn = names.find(asked);
        const absent = fn < 0 && asked !== null;
        this.absent.hidden = !absent;
        if (absent) {
            const why = names.isShared(asked) ? "Several functions have the name" : "There is no such function:";
            this.absent.textContent = `${why} ${clean(asked, 60)}. This is the hottest one of all.`;
            this.context.announce(this.absent.textContent);
        }
        if (fn < 0) fn = totals.reduce((most, value, at) => (value > totals[most] ? at : most), 0);
        if (fn >= model.functionCount) return;
        if (fn !== this.fn) this.open(fn);
        this.choice.value = "";
        const row = this.rowAt(params.get("insn"));
        if (row >= 0 && this.grid!.selected !== row) {
            this.grid!.select(row, true);
            this.source.follow(row);
        } else if (row < 0 && params.get("insn") === null) {
            this.grid!.clearSelection();
            if (this.hottest.length > 0) this.showHottest();
        }
    }

    private showHottest(): void {
        this.grid!.select(this.hottest[0], true);
        this.source.follow(this.hottest[0]);
    }

    print(on: boolean): void {
        this.grid?.print(on);
        this.source.print(on);
    }
}

export const annotateTab: Tab = {
    id: "annotate",
    title: "Instructions",
    available: (model) => model.functionCount > 0,
    create: (context) => new AnnotateView(context),
};
