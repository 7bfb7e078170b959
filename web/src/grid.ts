// A table that keeps only the visible rows in the document: 100,000 rows scroll like ten.
//
// All rows have the same height. The grid itself has the focus and the current row is its active descendant, so that
// rows may come and go while scrolling. The header row is part of the scrolled area and sticks to its top.

import { button, el, uniqueId } from "./dom";

export interface Column {
    key: string;
    title: string;
    width: string; // a grid track
    numeric?: boolean;
    downFirst?: boolean; // the first press sorts down, as in numeric columns
    hint?: string;
    /** The sort key; without it the column cannot be sorted. */
    value?(row: number): number | string;
    cell(row: number, cell: HTMLElement): void;
}

export interface GridOptions {
    label: string;
    columns: Column[];
    rowHeight: number;
    className?: string;
    onOpen?(row: number): void;
    onSelect?(row: number): void;
    onSort?(key: string, down: boolean): void;
    onRender?(first: number, last: number, space: HTMLElement): void;
    decorate?(row: number, element: HTMLElement): void;
}

const OVERSCAN = 8;
const PRINT_LIMIT = 400;

export class Grid {
    readonly element: HTMLElement;
    private readonly head: HTMLElement;
    private readonly space: HTMLElement;
    private readonly rowId = uniqueId("row");
    private rows: ArrayLike<number> = [];
    private active = -1; // position in `rows`
    private live = new Map<number, HTMLElement>();
    private scheduled = false;
    private printing = false;
    private headers = new Map<string, HTMLElement>();

    constructor(readonly options: GridOptions) {
        this.head = this.makeHead();
        this.space = el("div", { class: "grid-space", role: "rowgroup" });
        this.element = el("div", {
            class: `grid ${options.className ?? ""}`, role: "grid", tabindex: 0,
            "aria-label": options.label, "aria-colcount": options.columns.length,
        }, this.head, this.space);
        this.element.style.setProperty("--columns", options.columns.map((column) => column.width).join(" "));
        this.element.style.setProperty("--row", `${options.rowHeight}px`);
        this.element.addEventListener("scroll", () => this.schedule(), { passive: true });
        this.element.addEventListener("keydown", (event) => this.onKey(event));
        this.space.addEventListener("click", (event) => this.onClick(event));
        this.space.addEventListener("dblclick", (event) => this.at(event) >= 0 && options.onOpen?.(this.rows[this.at(event)]));
        new ResizeObserver(() => this.schedule()).observe(this.element);
    }

    private makeHead(): HTMLElement {
        const cells = this.options.columns.map((column) => {
            const sortable = column.value !== undefined && this.options.onSort !== undefined;
            const content = sortable
                ? button(column.title, () => this.options.onSort!(column.key, this.nextOrder(column)), { title: column.hint })
                : el("span", { title: column.hint }, column.title);
            const cell = el("div", { class: column.numeric ? "cell num" : "cell", role: "columnheader", "aria-sort": sortable ? "none" : null }, content);
            this.headers.set(column.key, cell);
            return cell;
        });
        return el("div", { class: "grid-head", role: "rowgroup" }, el("div", { class: "row", role: "row", "aria-rowindex": 1 }, ...cells));
    }

    /** The first click sorts numbers in descending order, names in ascending order. */
    private nextOrder(column: Column): boolean {
        const now = this.headers.get(column.key)!.getAttribute("aria-sort");
        return column.numeric || column.downFirst ? now !== "descending" : now === "ascending";
    }

    markSort(key: string, down: boolean): void {
        for (const [name, cell] of this.headers)
            if (cell.hasAttribute("aria-sort")) cell.setAttribute("aria-sort", name !== key ? "none" : down ? "descending" : "ascending");
    }

    get length(): number {
        return this.rows.length;
    }

    setRows(rows: ArrayLike<number>): void {
        this.rows = rows;
        this.active = -1;
        this.element.setAttribute("aria-rowcount", String(rows.length + 1));
        this.space.style.height = `${rows.length * this.options.rowHeight}px`;
        this.element.scrollTop = 0;
        this.refresh();
    }

    refresh(): void {
        for (const row of this.live.values()) row.remove();
        this.live.clear();
        this.render();
    }

    private schedule(): void {
        if (this.scheduled) return;
        this.scheduled = true;
        requestAnimationFrame(() => {
            this.scheduled = false;
            this.render();
        });
    }

    private range(): [number, number] {
        if (this.printing) return [0, Math.min(this.rows.length, PRINT_LIMIT)];
        const height = this.options.rowHeight;
        const first = Math.max(0, Math.floor(this.element.scrollTop / height) - OVERSCAN);
        return [first, Math.min(this.rows.length, first + Math.ceil((this.element.clientHeight || 600) / height) + 2 * OVERSCAN)];
    }

    private render(): void {
        const [first, last] = this.range();
        for (const [index, row] of this.live)
            if (index < first || index >= last) {
                row.remove();
                this.live.delete(index);
            }
        // In the order of the table, however it was scrolled, because screen readers follow this order.
        let before: ChildNode | null = this.space.querySelector(".row");
        for (let index = first; index < last; index++) {
            let row = this.live.get(index);
            if (!row) {
                row = this.makeRow(index);
                this.live.set(index, row);
                this.space.insertBefore(row, before);
            }
            before = row.nextSibling;
        }
        this.options.onRender?.(first, last, this.space);
        this.markActive();
    }

    private makeRow(index: number): HTMLElement {
        const row = el("div", {
            class: "row", role: "row", id: `${this.rowId}-${index}`, "aria-rowindex": index + 2, "aria-selected": "false",
        });
        row.dataset.index = String(index);
        row.style.top = `${index * this.options.rowHeight}px`;
        for (const column of this.options.columns) {
            const cell = el("div", { class: column.numeric ? "cell num" : "cell", role: "gridcell" });
            column.cell(this.rows[index], cell);
            row.append(cell);
        }
        this.options.decorate?.(this.rows[index], row);
        return row;
    }

    private markActive(): void {
        for (const [index, row] of this.live) {
            const on = index === this.active;
            if ((row.getAttribute("aria-selected") === "true") !== on) row.setAttribute("aria-selected", String(on));
        }
        if (this.live.has(this.active)) this.element.setAttribute("aria-activedescendant", `${this.rowId}-${this.active}`);
        else this.element.removeAttribute("aria-activedescendant");
    }

    /** Makes the row with this number the active one and scrolls to it; returns whether it exists. */
    select(row: number, quiet = false): boolean {
        const index = Array.prototype.indexOf.call(this.rows, row);
        if (index < 0) return false;
        this.moveTo(index, quiet, true);
        return true;
    }

    clearSelection(): void {
        this.active = -1;
        this.markActive();
    }

    get selected(): number {
        return this.active < 0 ? -1 : this.rows[this.active];
    }

    private moveTo(index: number, quiet = false, centre = false): void {
        if (this.rows.length === 0) return;
        this.active = Math.max(0, Math.min(index, this.rows.length - 1));
        const height = this.options.rowHeight;
        const top = this.active * height;
        const visible = this.element.clientHeight - this.head.offsetHeight;
        if (top < this.element.scrollTop || top + height > this.element.scrollTop + visible)
            this.element.scrollTop = centre ? top - visible / 2 : top < this.element.scrollTop ? top : top + height - visible;
        this.render();
        if (!quiet) this.options.onSelect?.(this.rows[this.active]);
    }

    private at(event: Event): number {
        const row = event.target instanceof Element ? event.target.closest<HTMLElement>(".row") : null;
        return row?.dataset.index === undefined ? -1 : Number(row.dataset.index);
    }

    private onClick(event: Event): void {
        const index = this.at(event);
        if (index >= 0 && !(event.target instanceof Element && event.target.closest("a"))) this.moveTo(index);
    }

    private onKey(event: KeyboardEvent): void {
        if (event.target !== this.element || event.ctrlKey || event.altKey || event.metaKey) return;
        const page = Math.max(1, Math.floor(this.element.clientHeight / this.options.rowHeight) - 2);
        const steps: Record<string, number> = {
            ArrowDown: this.active + 1, ArrowUp: this.active - 1, Home: 0, End: this.rows.length - 1,
            PageDown: this.active + page, PageUp: this.active - page,
        };
        if (event.key in steps) this.moveTo(steps[event.key]);
        else if (event.key === "Enter" && this.active >= 0) this.options.onOpen?.(this.rows[this.active]);
        else return;
        event.preventDefault();
    }

    /** For printing, all rows are put into the flow, up to a limit that the page states. */
    print(on: boolean): void {
        this.printing = on;
        this.element.classList.toggle("printing", on);
        this.element.querySelector(".print-rest")?.remove();
        if (on && this.rows.length > PRINT_LIMIT)
            this.element.append(el("p", { class: "print-rest" }, `… and ${this.rows.length - PRINT_LIMIT} more rows, which only the screen shows.`));
        this.refresh();
    }
}
