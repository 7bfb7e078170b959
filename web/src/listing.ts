// A table that can be sorted by its columns and searched; the address holds its state. Cells link to instructions.

import { el } from "./dom";
import { clean } from "./format";
import { Column, Grid } from "./grid";
import { Context } from "./tabs";

export interface ListingOptions {
    tab: string;
    label: string;
    what: string; // "Search objects": what the field finds
    columns: Column[];
    rows: number;
    sort: string; // the column that it is sorted by at first, down
    /** The text that is searched. */
    text(row: number): string;
    open(row: number): void;
    /** The current row; -1: none. */
    select?(row: number): void;
    /** The text of the counter. */
    say(found: number[]): string;
}

export class Listing {
    readonly toolbar: HTMLElement;
    readonly grid: Grid;
    private readonly search: HTMLInputElement;
    private readonly counter = el("span", { class: "dim", role: "status" });
    private readonly texts: string[];
    private sort: string;
    private down = true;

    constructor(
        private readonly context: Context,
        private readonly options: ListingOptions,
    ) {
        const { what, label, columns, rows, text, open, select } = options;
        this.sort = options.sort;
        this.texts = Array.from({ length: rows }, (_, row) => text(row).toLowerCase());
        this.search = el("input", { type: "search", placeholder: `Search ${what}  ( / )`, "aria-label": `Search ${what}`, spellcheck: "false" });
        this.search.addEventListener("input", () => this.go(this.search.value, this.sort, this.down));
        this.search.addEventListener("keydown", (event) => this.onSearchKey(event));
        this.grid = new Grid({ label, columns, rowHeight: 30, onOpen: open, onSelect: select, onSort: (sort, down) => this.go(this.search.value, sort, down) });
        this.toolbar = el("div", { class: "toolbar" }, this.search, this.counter);
    }

    private onSearchKey(event: KeyboardEvent): void {
        if (event.key === "Escape" && this.search.value) this.go("", this.sort, this.down);
        else if (event.key === "ArrowDown" || event.key === "Enter") this.grid.element.focus();
        else return;
        event.preventDefault();
    }

    private go(q: string, sort: string, down: boolean): void {
        this.context.go({ tab: this.options.tab, q: q || undefined, sort: sort === this.options.sort && down ? undefined : sort, order: down ? undefined : "up" }, true);
    }

    show(params: URLSearchParams): void {
        const query = params.get("q") ?? "";
        if (this.search.value !== query) this.search.value = query;
        const { columns } = this.grid.options;
        const column = columns.find((one) => one.key === params.get("sort") && one.value) ?? columns.find((one) => one.key === this.options.sort)!;
        [this.sort, this.down] = [column.key, params.get("order") !== "up"];
        const wanted = query.toLowerCase().split(/\s+/).filter(Boolean);
        const found = Array.from(this.texts.keys()).filter((row) => wanted.every((word) => this.texts[row].includes(word)));
        const keys = new Map(found.map((row) => [row, column.value!(row)]));
        const sign = this.down ? -1 : 1;
        found.sort((a, b) => (keys.get(a)! < keys.get(b)! ? -sign : keys.get(a)! > keys.get(b)! ? sign : a - b));
        this.grid.markSort(this.sort, this.down);
        this.grid.setRows(found);
        this.counter.textContent = this.options.say(found);
        this.options.select?.(-1);
    }

    print(on: boolean): void {
        this.grid.print(on);
    }
}

/** A column of numbers. */
export function numbers(key: string, title: string, hint: string, value: (row: number) => number, show: (value: number) => string, width = "86px"): Column {
    return { key, title, hint, width, numeric: true, value, cell: (row, cell) => (cell.textContent = show(value(row))) };
}

/** The location of an instruction on the page, for `go`. Undefined: it was left out. */
export function placeOf({ model, names }: Context, row: number): { function: string; insn: string } | undefined {
    return row >= 0 && row < model.functionOf.length ? { function: names.key(model.functionOf[row]), insn: model.addressOf(row) } : undefined;
}

/** A link to an instruction, "main+0x1c". In a table the keys move by row, so its links are not in the tab order. */
export function placeLink(context: Context, name: number, row: number, inTable: boolean): HTMLElement {
    const place = placeOf(context, row);
    const text = clean(context.model.string(name), 100) || "?";
    if (!place) return el("span", { class: "code", title: "This instruction is not in the page" }, text);
    return el("a", { class: "code", tabindex: inTable ? -1 : undefined, href: context.link(place), title: context.model.text(row) }, text);
}
