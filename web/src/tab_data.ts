// The data that samples accessed: each object (a variable, the heap, a stack, a mapped file) with its time, the bytes and lines
// seen, and the instructions that access it. Above: how the addresses were obtained, and why some samples have none.

import { DataTable } from "./contract";
import { el, replace } from "./dom";
import { clean, count, percent, short } from "./format";
import { Column } from "./grid";
import { Listing, numbers, placeLink, placeOf } from "./listing";
import { Model, UNKNOWN } from "./model";
import { Context, Tab, View } from "./tabs";

/** How an address was obtained. */
const HOW: Record<string, string> = {
    hardware: "recorded by the processor", exact: "exact (of the interrupted instruction)", next: "next (of the first access after it)",
    watched: "watched (when the instruction was executed again)", none: "none",
};
const WHY = "none_"; // reasons for "none"

/** One line: "Addresses of 2,575 samples: 1.79 % exact (…); 0.04 % none (the way to the access depends on loaded values: 1)." */
function origins({ data }: Model): HTMLElement | null {
    const known = (data.addresses ?? []).filter(({ how, samples }) => typeof how === "string" && Number.isFinite(samples) && samples > 0);
    const parts = known.filter(({ how }) => !how.startsWith(WHY));
    const reasons = known.filter(({ how }) => how.startsWith(WHY));
    const all = parts.reduce((sum, { samples }) => sum + samples, 0);
    if (all === 0) return null;
    const words = (how: string) => (Object.prototype.hasOwnProperty.call(HOW, how) ? HOW[how] : clean(how, 60));
    const because = reasons.map(({ how, samples, meaning }) => `${clean((meaning ?? "").replace(/^…? *because /, ""), 120) || clean(how, 60)}: ${count(samples)}`);
    const said = parts.map(({ how, samples, meaning }) => el("span", { title: clean(meaning ?? "", 300) || undefined },
        `${percent(samples / all)} ${words(how)}`, how === "none" && because.length > 0 ? ` (${because.join(", ")})` : ""));
    return el("p", { class: "origins" }, el("strong", {}, `Addresses of ${count(all)} samples: `), ...said.flatMap((one, i) => (i > 0 ? ["; ", one] : [one])), ".");
}

class ObjectsView implements View {
    readonly element: HTMLElement;
    private readonly listing: Listing;
    private readonly detail = el("p", { class: "row-detail" });
    private readonly first: number[] = [0]; // of each object's accesses
    private readonly all: number; // time, of what is left out too
    private readonly samples: number;

    constructor(
        private readonly context: Context,
        private readonly table: DataTable,
    ) {
        const { model } = context;
        const sum = (column: number[]) => column.reduce((a, b) => a + b, 0);
        for (const n of table.listed) this.first.push(this.first[this.first.length - 1] + n);
        this.all = sum(table.cycles) + (table.rest?.cycles ?? 0) || 1;
        this.samples = sum(table.samples) + (table.rest?.samples ?? 0);
        this.listing = new Listing(context, {
            tab: "data", label: "Objects", what: "objects, modules, functions", columns: this.columns(), rows: table.name.length, sort: "time",
            text: (row) => [this.name(row), this.module(row), ...this.accesses(row).map((at) => model.string(table.accesses.name[at]))].join("\n"),
            open: (row) => this.open(row), select: (row) => this.select(row), say: (found) => this.say(found),
        });
        this.element = el("div", { class: "fill" }, origins(model), this.listing.toolbar, this.listing.grid.element, this.detail);
    }

    private name(row: number): string {
        const { name, address } = this.table;
        const text = clean(this.context.model.string(name[row]), 120) || "(no name)";
        return this.table.module[row] < 0 && address[row] ? `${text} ${clean(address[row]!, 20)}` : text;
    }

    private module(row: number): string {
        return clean(this.context.model.data.modules?.[this.table.module[row]]?.name ?? "", 80);
    }

    /** The numbers of its instructions in the table of accesses, the most time first. */
    private accesses(row: number): number[] {
        return Array.from({ length: this.table.listed[row] }, (_, i) => this.first[row] + i);
    }

    private columns(): Column[] {
        const { table, context } = this;
        const most = table.cycles.reduce((max, time) => Math.max(max, time), 1e-9);
        const part = (column: number[]) => (row: number) => column[row] / (table.cycles[row] || 1);
        return [
            numbers("time", "Time", "Share of the time of the samples with an address", (row) => table.cycles[row] / this.all, percent, "72px"),
            { key: "name", title: "Object", width: "minmax(110px, 4fr)", value: (row) => this.name(row).toLowerCase(), cell: (row, cell) => {
                cell.classList.add("code");
                cell.textContent = cell.title = this.name(row);
            } },
            { key: "bar", title: "", width: "minmax(50px, 3fr)", cell: (row, cell) =>
                cell.append(context.bars.make([{ component: UNKNOWN, cycles: table.cycles[row] }], most, { total: this.all, title: this.name(row) })) },
            numbers("samples", "Samples", "Samples that accessed it", (row) => table.samples[row], short, "68px"),
            numbers("loads", "Loads", "Share of its time at instructions that read it", part(table.loads), percent, "62px"),
            numbers("stores", "Stores", "Share of its time at instructions that write it; those that do both are in both", part(table.stores), percent, "62px"),
            numbers("lines", "Lines", "Different cache lines of 64 bytes in samples: the program may access more", (row) => table.lines[row], short, "62px"),
            numbers("bytes", "Bytes", "Different bytes in samples: the program may access more", (row) => table.bytes[row], short, "66px"),
            { key: "module", title: "Module", width: "minmax(70px, 2fr)", value: (row) => this.module(row).toLowerCase(), cell: (row, cell) => (cell.textContent = this.module(row)) },
            { key: "by", title: "Accessed by", width: "minmax(250px, 9fr)", hint: "The instructions with the most of its time; sorted by their number", downFirst: true,
                value: (row) => table.instructions[row], cell: (row, cell) => cell.append(...this.instructions(row, true)) },
        ];
    }

    /** "copy+0x3 80 %, copy+0x6 20 %, 2 more", with links. */
    private instructions(row: number, inTable: boolean): (Node | string)[] {
        const { accesses, cycles, instructions } = this.table;
        const said = this.accesses(row).flatMap((at, i): (Node | string)[] =>
            [i > 0 ? ", " : "", placeLink(this.context, accesses.name[at], accesses.row[at], inTable), ` ${Math.round((accesses.cycles[at] / (cycles[row] || 1)) * 100)} %`]);
        const more = instructions[row] - this.table.listed[row];
        return more > 0 ? [...said, `, ${count(more)} more`] : said;
    }

    private open(row: number): void {
        const place = this.accesses(row).map((at) => placeOf(this.context, this.table.accesses.row[at])).find((one) => one !== undefined);
        if (place) this.context.go(place);
        else this.context.announce("The instructions that access it are not in the page");
    }

    private select(row: number): void {
        if (row < 0) return replace(this.detail, el("span", { class: "dim" }, "Select a row to see the object and the instructions that access it; Enter goes to the first one."));
        const { size, address } = this.table;
        const where = [size[row] > 0 && `${count(size[row])} bytes`, address[row] && `at ${clean(address[row]!, 20)}`, this.module(row) && `in ${this.module(row)}`].filter(Boolean).join(" ");
        replace(this.detail, el("strong", { class: "code" }, this.name(row)), where ? `, ${where}` : "", "; accessed by ", ...this.instructions(row, false));
    }

    private say(found: number[]): string {
        const { table } = this;
        const n = table.name.length;
        const time = found.reduce((sum, row) => sum + table.cycles[row], 0);
        const objects = found.length === n ? `${count(n)} ${n === 1 ? "object" : "objects"} in ${count(this.samples)} samples` : `${count(found.length)} of ${count(n)} objects, ${percent(time / this.all)} of the time`;
        return table.rest ? `${objects}; ${count(table.rest.rows)} more, with ${percent(table.rest.cycles / this.all)} of the time, are not in the page` : objects;
    }

    show(params: URLSearchParams): void {
        this.listing.show(params);
    }

    print(on: boolean): void {
        this.listing.print(on);
    }
}

function noData({ model }: Context): View {
    return { element: el("p", { class: "missing" }, `${model.main.label} has no data addresses in this profile, but another series has.`), show: () => undefined };
}

export const dataTab: Tab = {
    id: "data",
    title: "Data",
    available: (model) => model.series.some((series) => series.data.data),
    create: (context) => (context.model.main.data.data ? new ObjectsView(context, context.model.main.data.data) : noData(context)),
};
