// All functions with their stacks: sort by any column, search by name or module, Enter goes to the instructions.

import { button, el } from "./dom";
import { count, percent, short } from "./format";
import { Column, Grid } from "./grid";
import { Model } from "./model";
import { Context, Tab, View } from "./tabs";

/** A function's time in one component; -1: in all. */
function cyclesOf(model: Model, fn: number, only: number): number {
    const { functions } = model.main;
    return only < 0 ? functions.total[fn] : functions.parts(fn).find((part) => part.component === only)?.cycles ?? 0;
}

function columns(context: Context, full: (fn: number) => number, only: () => number): Column[] {
    const { model, bars, names, link } = context;
    const { total, functions } = { total: model.total, functions: model.main.functions };
    const { executions, inclusive } = model;
    const ipc = (fn: number) => (functions.total[fn] > 0 && executions![fn] > 0 ? executions![fn] / functions.total[fn] : -1);
    const number = (key: string, title: string, value: (fn: number) => number, show: (value: number) => string, hint: string): Column =>
        ({ key, title, width: "minmax(76px, 96px)", numeric: true, hint, value, cell: (fn, cell) => (cell.textContent = value(fn) < 0 ? "–" : show(value(fn))) });
    const list: (Column | null)[] = [
        number("self", "Self", (fn) => functions.total[fn] / total, percent, "Share of all time spent in the function itself"),
        inclusive && number("total", "Total", (fn) => inclusive[fn] / total, percent, "With everything that it called"),
        {
            key: "name", title: "Function", width: "minmax(200px, 3fr)", value: (fn) => model.name(fn, 400).toLowerCase(),
            cell: (fn, cell) => {
                const name = model.name(fn, 120);
                cell.append(el("a", { class: "code", tabindex: -1, href: link({ function: names.key(fn) }), title: name.endsWith("…") ? model.name(fn, 4000) : undefined }, name));
            },
        },
        {
            key: "stack", title: functions.known ? "Cycle stack" : "Time (no events)", width: "minmax(180px, 4fr)", downFirst: true,
            hint: "Sorts by the chosen component, without one by all time", value: (fn) => cyclesOf(model, fn, only()),
            cell: (fn, cell) => cell.append(bars.make(functions.parts(fn), full(fn), { total: functions.total[fn] || 1, title: model.name(fn, 80), only: only() })),
        },
        number("cycles", model.unit === "cycles" ? "Cycles" : model.unit, (fn) => functions.total[fn], short, `In the function itself, in ${model.unit}`),
        executions && number("executed", "Executed", (fn) => executions[fn], short, "Instructions executed"),
        executions && model.unit === "cycles" ? number("ipc", "IPC", ipc, (v) => v.toFixed(2), "Instructions per cycle") : null,
        {
            key: "module", title: "Module", width: "minmax(90px, 1fr)", value: (fn) => model.moduleName(fn).toLowerCase(),
            cell: (fn, cell) => (cell.textContent = model.moduleName(fn)),
        },
    ];
    return list.filter((column): column is Column => !!column);
}

class FunctionsView implements View {
    readonly element: HTMLElement;
    private readonly grid: Grid;
    private readonly search = el("input", { type: "search", placeholder: "Search functions and modules  ( / )", "aria-label": "Search functions and modules", spellcheck: "false" });
    private readonly counter = el("span", { class: "dim", role: "status" });
    private readonly names: string[];
    private full = 1; // what the longest bar stands for
    private each = false; // … or every bar for its own function
    private sort = "self";
    private down = true;
    private only = -1; // a component
    private readonly legend: HTMLElement;

    constructor(private readonly context: Context) {
        const { model } = context;
        this.names = Array.from({ length: model.functionCount }, (_, fn) => `${model.name(fn, 4000)}\n${model.moduleName(fn)}`.toLowerCase());
        this.grid = new Grid({
            label: "Functions", columns: columns(context, (fn) => (this.each ? context.model.main.functions.total[fn] || 1 : this.full), () => this.only), rowHeight: 30,
            onOpen: (fn) => context.go({ function: context.names.key(fn) }),
            onSort: (key, down) => this.go({ sort: key, down }),
        });
        this.search.addEventListener("input", () => this.go({ q: this.search.value }));
        this.search.addEventListener("keydown", (event) => this.onSearchKey(event));
        const scale = button("Bars to full width", () => {
            this.each = !this.each;
            scale.setAttribute("aria-pressed", String(this.each));
            this.grid.refresh();
        }, { "aria-pressed": "false", title: "Each bar as long as the next: what a function's time is made of, whatever its share" });
        this.legend = context.bars.legend((component) => this.choose(component));
        this.element = el("div", { class: "fill" },
            el("div", { class: "toolbar" }, this.search, this.counter, el("span", { class: "spring" }), scale),
            model.main.functions.known ? this.legend : el("p", { class: "missing" }, "This source tells no events: bars show how long, not why."),
            this.grid.element);
    }

    private go(change: { q?: string; sort?: string; down?: boolean; only?: number }): void {
        const { q = this.search.value, sort = this.sort, down = this.down, only = this.only } = change;
        this.context.go({
            tab: "functions", q: q || undefined, sort: sort === "self" && down ? undefined : sort, order: down ? undefined : "up",
            only: only < 0 ? undefined : String(only),
        }, true);
    }

    /** Which functions suffer most from this? A second press goes back. */
    private choose(component: number): void {
        const only = component === this.only ? -1 : component;
        this.go({ only, sort: only < 0 ? "self" : "stack", down: true });
    }

    private onSearchKey(event: KeyboardEvent): void {
        if (event.key === "Escape" && this.search.value) this.go({ q: "" });
        else if (event.key === "ArrowDown" || event.key === "Enter") this.grid.element.focus();
        else return;
        if (event.key === "Enter" && this.grid.length === 1) this.context.go({ function: this.context.names.key(this.found[0]) });
        event.preventDefault();
    }

    private found: number[] = [];

    private update(query: string): void {
        const { model } = this.context;
        const wanted = query.toLowerCase().split(/\s+/).filter(Boolean);
        this.found = this.names.reduce<number[]>((list, name, fn) => (wanted.every((word) => name.includes(word)) ? (list.push(fn), list) : list), []);
        const column = this.grid.options.columns.find((one) => one.key === this.sort && one.value) ?? this.grid.options.columns[0];
        const keys = new Map(this.found.map((fn) => [fn, column.value!(fn)]));
        const sign = this.down ? -1 : 1;
        this.found.sort((a, b) => (keys.get(a)! < keys.get(b)! ? -sign : keys.get(a)! > keys.get(b)! ? sign : a - b));
        const totals = model.main.functions.total;
        this.full = this.found.reduce((most, fn) => Math.max(most, totals[fn]), 1e-9);
        this.grid.markSort(column.key, this.down);
        this.grid.setRows(this.found);
        const all = model.functionCount === 1 ? "1 function" : `${count(model.functionCount)} functions`;
        this.counter.textContent = wanted.length ? `${count(this.found.length)} of ${all}` : all;
    }

    show(params: URLSearchParams): void {
        const query = params.get("q") ?? "";
        if (this.search.value !== query) this.search.value = query;
        this.sort = params.get("sort") ?? "self";
        this.down = params.get("order") !== "up";
        const only = Number(params.get("only") ?? -1);
        this.only = Number.isInteger(only) && only < this.context.model.components.length ? only : -1;
        for (const item of this.legend.querySelectorAll<HTMLElement>("button")) item.setAttribute("aria-pressed", String(item.dataset.component === String(this.only)));
        this.update(query);
    }

    print(on: boolean): void {
        this.grid.print(on);
    }
}

export const functionsTab: Tab = {
    id: "functions",
    title: "Functions",
    create: (context) => new FunctionsView(context),
};
