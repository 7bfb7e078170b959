// What threads waited for: lines that another core had. Who waited for whom as heat maps (all, true and false sharing), threads that
// wait for each other side by side; the objects and lines with the most of it; and, in a table that is sorted and searched, pairs of
// code: which instruction waited, and which one made it wait.

import { WaitList, WaitTable } from "./contract";
import { el, replace, svg } from "./dom";
import { clean, count, percent, short } from "./format";
import { Column } from "./grid";
import { Listing, numbers, placeLink, placeOf } from "./listing";
import { Context, Tab, View } from "./tabs";

const TOP = 8; // rows of the short lists
const NUMBERED = 8; // threads up to which the cells say their numbers
const LABELLED = 24; // … and rows have the threads' names

type Matrix = { title: string; cell: (row: number, column: number) => number };

class WaitsView implements View {
    readonly element: HTMLElement;
    private readonly listing: Listing;
    private readonly detail = el("p", { class: "row-detail" });

    constructor(
        private readonly context: Context,
        private readonly table: WaitTable,
    ) {
        const { model } = context;
        const { pairs } = table;
        this.listing = new Listing(context, {
            tab: "waits", label: "Pairs of code", what: "code and objects", columns: this.columns(), rows: pairs.cycles.length, sort: "cycles",
            text: (row) => [pairs.waited!.name[row], pairs.culprit!.name[row], pairs.object[row]].map((name) => model.string(name)).join("\n"),
            open: (row) => this.open(row), select: (row) => this.select(row), say: (found) => this.say(found),
        });
        this.element = el("div", { class: "fill waits" }, this.sentence(), this.maps(), this.lists(), this.listing.toolbar, this.listing.grid.element, this.detail);
    }

    private sentence(): HTMLElement {
        const { table } = this;
        return el("p", { class: "origins" }, el("strong", {}, `${short(table.cycles)} cycles of waiting for lines that another core had`),
            `, in ${count(table.transfers)} transfers; ${percent(table.false / (table.cycles || 1))} of it false sharing. Pattern: ${clean(table.pattern, 40)}. `,
            "Waits of one core can overlap. What they cost is in its cycles: ST-CO of loads and atomics, DR-SQ+ST-CO where stores fill the store queue.");
    }

    private thread(i: number): string {
        return clean(this.context.model.string(this.table.threads[i]), 30);
    }

    // ---- heat maps

    private maps(): HTMLElement {
        const { matrix_true: same, matrix_false: other } = this.table;
        const all: Matrix[] = [
            { title: "All waits", cell: (row, column) => same[row][column] + other[row][column] },
            { title: "True sharing", cell: (row, column) => same[row][column] },
            { title: "False sharing", cell: (row, column) => other[row][column] },
        ];
        const more = this.table.threads_left_out ? el("p", { class: "dim" }, `${count(this.table.threads_left_out)} threads more are not in the page.`) : null;
        const rows = [...Array(this.table.threads.length).keys()];
        // One scale for the three: a pale one has little.
        const most = Math.max(1, ...rows.flatMap((row) => rows.map((column) => (row === column ? 0 : all[0].cell(row, column)))));
        const scale = el("p", { class: "dim" }, `One scale of colours for the three: the darkest is ${count(most)} cycles.`);
        return el("div", { class: "heat-maps" }, ...all.map((matrix) => this.map(matrix, most)), scale, more);
    }

    private map({ title, cell }: Matrix, most: number): HTMLElement {
        const n = this.table.threads.length;
        const rows = [...Array(n).keys()];
        const side = Math.max(6, Math.min(36, Math.floor(280 / n)));
        const longest = Math.max(...rows.map((row) => this.thread(row).length));
        const left = n <= LABELLED ? Math.max(76, Math.min(200, 12 + 6.2 * longest)) : 4;
        const drawing = svg("svg", { width: left + n * side + 2, height: n * side + 20, role: "img" });
        drawing.setAttribute("aria-label", this.describe(title, rows, cell));
        for (const row of rows) {
            if (n <= LABELLED) drawing.append(this.label(left - 4, row * side + side / 2 + 4, this.thread(row), "end"));
            for (const column of rows) if (row !== column) drawing.append(...this.cell(left + column * side, row * side, side, cell(row, column), most, row, column, n));
        }
        drawing.append(this.label(left, n * side + 15, "rows wait for columns", "start"));
        return el("figure", { class: "heat-map" }, el("figcaption", {}, title), drawing as unknown as HTMLElement);
    }

    private label(x: number, y: number, text: string, anchor: string): SVGElement {
        const label = svg("text", { x, y, "text-anchor": anchor, class: "heat-label" });
        label.textContent = text;
        return label;
    }

    private cell(x: number, y: number, side: number, value: number, most: number, row: number, column: number, n: number): SVGElement[] {
        const box = svg("rect", { x: x + 0.5, y: y + 0.5, width: side - 1, height: side - 1, class: "heat-cell" });
        box.style.fillOpacity = String(value > 0 ? 0.08 + (0.92 * value) / most : 0);
        const title = svg("title");
        title.textContent = `${this.thread(row)} waited ${short(value)} cycles for ${this.thread(column)}`;
        box.append(title);
        if (n > NUMBERED || value <= 0) return [box];
        const text = this.label(x + side / 2, y + side / 2 + 4, short(value).replace(" ", ""), "middle");
        if (value / most > 0.5) text.classList.add("on-dark");
        return [box, text];
    }

    /** The picture as a sentence: its three largest cells. */
    private describe(title: string, rows: number[], cell: (row: number, column: number) => number): string {
        const all = rows.flatMap((row) => rows.map((column) => ({ row, column, value: cell(row, column) }))).filter(({ value }) => value > 0);
        all.sort((a, b) => b.value - a.value);
        const said = all.slice(0, 3).map(({ row, column, value }) => `${this.thread(row)} for ${this.thread(column)} ${short(value)} cycles`);
        return said.length ? `${title}: ${said.join(", ")}` : `${title}: none`;
    }

    // ---- short lists

    private lists(): HTMLElement {
        const { objects, lines } = this.table;
        return el("div", { class: "columns" },
            this.list("Objects", objects, (row) => [clean(this.context.model.string(objects.object[row]), 100)]),
            this.list("Lines", lines, (row) => [
                el("span", { class: "code", title: clean(lines.address![row], 20) }, clean(this.context.model.string(lines.place![row]), 100)),
                el("span", { class: "dim" }, "  by "), placeLink(this.context, lines.waited!.name[row], lines.waited!.row[row], false),
            ]));
    }

    private list(title: string, list: WaitList, name: (row: number) => (Node | string)[]): HTMLElement {
        const rows = [...Array(Math.min(TOP, list.cycles.length)).keys()];
        const left = list.cycles.length - rows.length + list.left_out;
        const cells = (row: number) => [percent(list.cycles[row] / (this.table.cycles || 1)), short(list.cycles[row]), short(list.transfers[row]), percent(list.false[row] / (list.cycles[row] || 1))];
        return el("section", { class: "card" }, el("h2", {}, title), el("table", { class: "plain" }, el("caption", { class: "hidden" }, title),
            el("thead", {}, el("tr", {}, ...["Share", "Cycles", "Transfers", "False"].map((head) => el("th", { scope: "col", class: "num" }, head)), el("th", { scope: "col" }, title))),
            el("tbody", {}, ...rows.map((row) => el("tr", {}, ...cells(row).map((text) => el("td", { class: "num" }, text)), el("td", {}, ...name(row)))))),
        left > 0 ? el("p", { class: "dim" }, `${count(left)} more`) : null);
    }

    // ---- pairs of code

    private columns(): Column[] {
        const { pairs, cycles } = this.table;
        const { context } = this;
        const code = (key: "waited" | "culprit", title: string, hint: string): Column => ({
            key, title, hint, width: "minmax(150px, 3fr)", value: (row) => context.model.string(pairs[key]!.name[row]).toLowerCase(),
            cell: (row, cell) => cell.append(placeLink(context, pairs[key]!.name[row], pairs[key]!.row[row], true)),
        });
        return [
            numbers("cycles", "Share", "Of all cycles that accesses waited", (row) => pairs.cycles[row] / (cycles || 1), percent, "72px"),
            numbers("time", "Cycles", "That the first waited for the second", (row) => pairs.cycles[row], short, "72px"),
            code("waited", "Waited", "The access that waited for the line"),
            code("culprit", "Made it wait", "What wrote the line last, or read it, on another core"),
            { key: "object", title: "Object", width: "minmax(90px, 1fr)", value: (row) => context.model.string(pairs.object[row]).toLowerCase(), cell: (row, cell) => (cell.textContent = clean(context.model.string(pairs.object[row]), 80)) },
            numbers("transfers", "Transfers", "How often the line moved for it", (row) => pairs.transfers[row], short, "76px"),
            numbers("false", "False", "The two sides touched different bytes: false sharing", (row) => pairs.false[row] / (pairs.cycles[row] || 1), percent, "68px"),
        ];
    }

    private open(row: number): void {
        const place = placeOf(this.context, this.table.pairs.waited!.row[row]);
        if (place) this.context.go(place);
        else this.context.announce("This instruction is not in the page");
    }

    private select(row: number): void {
        if (row < 0) return replace(this.detail, el("span", { class: "dim" }, "A row shows here its two instructions; Enter goes to the one that waited."));
        const { pairs } = this.table;
        const side = (key: "waited" | "culprit") => placeLink(this.context, pairs[key]!.name[row], pairs[key]!.row[row], false);
        replace(this.detail, side("waited"), ` waited ${short(pairs.cycles[row])} cycles for `, side("culprit"));
    }

    private say(found: number[]): string {
        const { pairs, cycles } = this.table;
        const sum = found.reduce((all, row) => all + pairs.cycles[row], 0);
        const said = `${count(found.length)} ${found.length === 1 ? "pair" : "pairs"} of code, ${percent(sum / (cycles || 1))} of the cycles`;
        return pairs.left_out ? `${said}; ${count(pairs.left_out)} more are not in the page` : said;
    }

    show(params: URLSearchParams): void {
        this.listing.show(params);
    }

    print(on: boolean): void {
        this.listing.print(on);
    }
}

/** Only the exact series has waits; they are the run's, whichever series is looked at. */
function waitsOf({ series }: Context["model"]): WaitTable | undefined {
    return series.find(({ data }) => data.waits)?.data.waits;
}

export const waitsTab: Tab = {
    id: "waits",
    title: "Waits",
    available: (model) => waitsOf(model) !== undefined,
    create: (context) => new WaitsView(context, waitsOf(context.model)!),
};
