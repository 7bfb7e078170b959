// All functions with their stacks: sort by any column, search by name or module, Enter goes to the instructions.

import { button, el } from "./dom";
import { clean, count, percent, plusMinus, short } from "./format";
import { Column, Grid } from "./grid";
import { Model, Stacks } from "./model";
import { Context, Tab, View } from "./tabs";

/** What the table shows: the whole run, or one of its threads. */
interface Scope {
    stacks: Stacks;
    total: number; // 100 % of the shares
    whole: boolean; // otherwise totals with callees, and executions, are not known
    full: number; // the time of the longest bar
    each: boolean; // … or every bar has full width
    only: number; // a component, -1: all
}

/** A function's time in one component; -1: in all. */
function cyclesOf({ stacks, only }: Scope, fn: number): number {
    return only < 0 ? stacks.total[fn] : stacks.parts(fn).find((part) => part.component === only)?.cycles ?? 0;
}

const UNITS: Record<string, string> = { cycles: "Cycles", ns: "Time, ns", samples: "Samples" };

function columns(context: Context, scope: Scope): Column[] {
    const { model, bars, names, link } = context;
    const { known } = model.main.functions;
    const { executions, inclusive } = model;
    const errors = model.main.functionErrors;
    const { totalErrors } = model.main;
    const own = (fn: number) => scope.stacks.total[fn];
    const ipc = (fn: number) => (own(fn) > 0 && executions![fn] > 0 ? executions![fn] / own(fn) : -1);
    const number = (key: string, title: string, value: (fn: number) => number, show: (value: number) => string, hint: string): Column =>
        ({ key, title, width: "minmax(76px, 96px)", numeric: true, hint, value, cell: (fn, cell) => (cell.textContent = value(fn) < 0 ? "–" : show(value(fn))) });
    const unit = UNITS[model.unit] ?? model.unit;
    const list: (Column | null | false)[] = [
        number("self", "Self", (fn) => own(fn) / scope.total, percent, "Share of all time spent in the function itself"),
        scope.whole && errors && number("error", "±", (fn) => errors[fn], plusMinus, "Half the 95 % interval of the share, in points: the run was measured in parts"),
        scope.whole && inclusive && number("total", "Total", (fn) => inclusive[fn] / scope.total, percent, "Including its callees"),
        scope.whole && inclusive && totalErrors && number("total_error", "± total", (fn) => totalErrors[fn], plusMinus, "Half the 95 % interval of the share with its callees, in points"),
        {
            key: "name", title: "Function", width: "minmax(200px, 3fr)", value: (fn) => model.name(fn, 400).toLowerCase(),
            cell: (fn, cell) => {
                const name = model.name(fn, 120);
                cell.append(el("a", { class: "code", tabindex: -1, href: link({ function: names.key(fn) }), title: name.endsWith("…") ? model.name(fn, 4000) : undefined }, name));
            },
        },
        {
            key: "stack", title: known ? "Cycle stack" : "Time (no events)", width: "minmax(180px, 4fr)", downFirst: true,
            hint: "Sorted by the chosen component, or by all time", value: (fn) => cyclesOf(scope, fn),
            cell: (fn, cell) => cell.append(bars.make(scope.stacks.parts(fn), scope.each ? own(fn) || 1 : scope.full, { total: own(fn) || 1, title: model.name(fn, 80), only: scope.only, errors: scope.whole ? bars.errorsOf(fn) : undefined })),
        },
        number("cycles", unit, own, short, model.main.exact ? `In the function itself: all were counted` : `In the function itself, estimated from samples`),
        scope.whole && executions && number("executed", "Executed", (fn) => executions[fn], short, "Instructions executed"),
        scope.whole && executions && model.unit === "cycles" ? number("ipc", "IPC", ipc, (v) => v.toFixed(2), "Instructions per cycle") : null,
        {
            key: "module", title: "Module", width: "minmax(90px, 1fr)", value: (fn) => model.moduleName(fn).toLowerCase(),
            cell: (fn, cell) => (cell.textContent = model.moduleName(fn)),
        },
    ];
    return list.filter((column): column is Column => !!column);
}

/** The threads whose times are in the document; null where there is nothing to choose. */
function threadChoice(model: Model, choose: (thread: number) => void): HTMLSelectElement | null {
    const there = (model.main.data.threads ?? []).flatMap((sparse, thread) => (sparse ? [thread] : []));
    if (there.length < 2) return null;
    const names = there.map((thread) => clean(model.data.threads?.[thread]?.name ?? "", 60) || `thread ${thread + 1}`);
    const choice = el("select", { "aria-label": "Thread" }, el("option", { value: -1 }, "All threads"),
        ...there.map((thread, i) => el("option", { value: thread }, names.indexOf(names[i]) === names.lastIndexOf(names[i]) ? names[i] : `${names[i]} (${thread + 1})`)));
    choice.addEventListener("change", () => choose(Number(choice.value)));
    return choice;
}

class FunctionsView implements View {
    readonly element: HTMLElement;
    private grid: Grid;
    private readonly search = el("input", { type: "search", placeholder: "Search functions and modules  ( / )", "aria-label": "Search functions and modules", spellcheck: "false" });
    private readonly counter = el("span", { class: "dim", role: "status" });
    private readonly names: string[];
    private readonly threads: HTMLSelectElement | null;
    private readonly scope: Scope;
    private readonly listed: number[];
    private thread = -1;
    private sort = "self";
    private down = true;
    private readonly legend: HTMLElement;

    constructor(private readonly context: Context) {
        const { model } = context;
        this.names = Array.from({ length: model.functionCount }, (_, fn) => `${model.name(fn, 4000)}\n${model.moduleName(fn)}`.toLowerCase());
        this.listed = model.listed;
        this.scope = { stacks: model.main.functions, total: model.total, whole: true, full: 1, each: false, only: -1 };
        this.threads = threadChoice(model, (thread) => this.go({ thread }));
        this.grid = this.makeGrid();
        this.search.addEventListener("input", () => this.go({ q: this.search.value }));
        this.search.addEventListener("keydown", (event) => this.onSearchKey(event));
        const scale = button("Bars to full width", () => {
            this.scope.each = !this.scope.each;
            scale.setAttribute("aria-pressed", String(this.scope.each));
            this.grid.refresh();
        }, { "aria-pressed": "false", title: "All bars of the same length: the components of a function's time, whatever its share" });
        this.legend = context.bars.legend((component) => this.choose(component));
        this.element = el("div", { class: "fill" },
            el("div", { class: "toolbar" }, this.search, this.threads, this.counter, el("span", { class: "spring" }), scale),
            model.main.functions.known ? this.legend : el("p", { class: "missing" }, "This source records no events: bars show how long, not why."),
            this.grid.element);
    }

    private makeGrid(): Grid {
        const { context } = this;
        return new Grid({
            label: "Functions", columns: columns(context, this.scope), rowHeight: 30,
            onOpen: (fn) => context.go({ function: context.names.key(fn) }),
            onSort: (key, down) => this.go({ sort: key, down }),
        });
    }

    private go(change: { q?: string; sort?: string; down?: boolean; only?: number; thread?: number }): void {
        const { q = this.search.value, sort = this.sort, down = this.down, only = this.scope.only, thread = this.thread } = change;
        this.context.go({
            tab: "functions", q: q || undefined, sort: sort === "self" && down ? undefined : sort, order: down ? undefined : "up",
            only: only < 0 ? undefined : String(only), thread: thread < 0 ? undefined : String(thread),
        }, true);
    }

    /** Sorts by one component; a second press goes back. */
    private choose(component: number): void {
        const only = component === this.scope.only ? -1 : component;
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
        const wanted = query.toLowerCase().split(/\s+/).filter(Boolean);
        const { scope } = this;
        const all = scope.whole ? this.listed : this.listed.filter((fn) => scope.stacks.total[fn] > 0);
        this.found = all.filter((fn) => wanted.every((word) => this.names[fn].includes(word)));
        const column = this.grid.options.columns.find((one) => one.key === this.sort && one.value) ?? this.grid.options.columns[0];
        const keys = new Map(this.found.map((fn) => [fn, column.value!(fn)]));
        const sign = this.down ? -1 : 1;
        this.found.sort((a, b) => (keys.get(a)! < keys.get(b)! ? -sign : keys.get(a)! > keys.get(b)! ? sign : a - b));
        scope.full = this.found.reduce((most, fn) => Math.max(most, scope.stacks.total[fn]), 1e-9);
        this.grid.markSort(column.key, this.down);
        this.grid.setRows(this.found);
        const many = all.length === 1 ? "1 function" : `${count(all.length)} functions`;
        this.counter.textContent = (wanted.length ? `${count(this.found.length)} of ${many}` : many) + (scope.whole ? "" : `, ${percent(scope.total / this.context.model.total)} of the program's time`);
    }

    /** For one thread: its own time, and shares of that. */
    private chooseThread(text: string | null): void {
        const { model } = this.context;
        const { whole } = this.scope;
        const thread = text !== null && /^\d{1,6}$/.test(text) ? Number(text) : -1;
        const stacks = thread < 0 ? null : model.threadStacks(thread);
        this.thread = stacks ? thread : -1;
        Object.assign(this.scope, stacks ? { stacks, total: stacks.all || 1, whole: false } : { stacks: model.main.functions, total: model.total, whole: true });
        if (this.threads) this.threads.value = String(this.thread);
        if (this.scope.whole === whole) return;
        const { element } = this.grid; // a thread has other columns than the run
        this.grid = this.makeGrid();
        element.replaceWith(this.grid.element);
    }

    show(params: URLSearchParams): void {
        const query = params.get("q") ?? "";
        if (this.search.value !== query) this.search.value = query;
        this.sort = params.get("sort") ?? "self";
        this.down = params.get("order") !== "up";
        const only = Number(params.get("only") ?? -1);
        this.scope.only = Number.isInteger(only) && only < this.context.model.components.length ? only : -1;
        this.chooseThread(params.get("thread"));
        for (const item of this.legend.querySelectorAll<HTMLElement>("button")) item.setAttribute("aria-pressed", String(item.dataset.component === String(this.scope.only)));
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
