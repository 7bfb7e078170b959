// The recorded taken branches (branch stacks, IBS, SPE): source and target, how often, how many of them mispredicted, and the
// cycles since the preceding branch.

import { BranchTable } from "./contract";
import { el, replace } from "./dom";
import { count, digits, percent, short } from "./format";
import { Column } from "./grid";
import { Listing, numbers, placeLink, placeOf } from "./listing";
import { Context, Tab, View } from "./tabs";

class BranchesView implements View {
    readonly element: HTMLElement;
    private readonly listing: Listing;
    private readonly detail = el("p", { class: "row-detail" });
    private readonly taken: number; // with what is left out
    private readonly mispredicted: number;

    constructor(
        private readonly context: Context,
        private readonly table: BranchTable,
    ) {
        const { model } = context;
        const sum = (column: number[]) => column.reduce((a, b) => a + b, 0);
        this.taken = sum(table.taken) + (table.rest?.taken ?? 0) || 1;
        this.mispredicted = sum(table.mispredicted) + (table.rest?.mispredicted ?? 0);
        this.listing = new Listing(context, {
            tab: "branches", label: "Branches", what: "branches and modules", columns: this.columns(), rows: table.taken.length, sort: "share",
            text: (row) => [table.from, table.to].flatMap((end) => [model.string(end.name[row]), this.module(end.row[row])]).join("\n"),
            open: (row) => this.open(row), select: (row) => this.select(row), say: (found) => this.say(found),
        });
        this.element = el("div", { class: "fill" }, this.listing.toolbar, this.listing.grid.element, this.detail);
    }

    private module(insn: number): string {
        const { model } = this.context;
        return insn >= 0 && insn < model.functionOf.length ? model.moduleName(model.functionOf[insn]) : "";
    }

    private rate(row: number): number {
        return this.table.mispredicted[row] / (this.table.taken[row] || 1);
    }

    /** A bar as long as its share, with the mispredicted part marked. */
    private bar(row: number, most: number): HTMLElement {
        const { taken, mispredicted } = this.table;
        const segment = (part: number, kind: string) => {
            const one = el("span", { class: `seg ${kind}` });
            one.style.width = `${(Math.max(0, part) / most) * 100}%`;
            return one;
        };
        const label = `${percent(taken[row] / this.taken)} of the taken branches, ${percent(this.rate(row))} of them mispredicted`;
        const wrong = Math.min(taken[row], mispredicted[row]);
        return el("div", { class: "bar", role: "img", "aria-label": label, title: label }, segment(taken[row] - wrong, "predicted"), wrong > 0 ? segment(wrong, "mispredicted") : null);
    }

    private columns(): Column[] {
        const { table, context } = this;
        const most = table.taken.reduce((max, n) => Math.max(max, n), 1);
        const end = (key: "from" | "to", title: string): Column => ({
            key, title, width: "minmax(150px, 3fr)", value: (row) => context.model.string(table[key].name[row]).toLowerCase(),
            cell: (row, cell) => {
                const module = this.module(table[key].row[row]);
                cell.append(placeLink(context, table[key].name[row], table[key].row[row], true), module ? el("span", { class: "dim" }, `  ${module}`) : "");
            },
        });
        const list: (Column | undefined)[] = [
            numbers("share", "Share", "Share of all recorded taken branches", (row) => table.taken[row] / this.taken, percent, "72px"),
            end("from", "From"),
            end("to", "To"),
            { key: "bar", title: "Taken, mispredicted", width: "minmax(80px, 2fr)", cell: (row, cell) => cell.append(this.bar(row, most)) },
            numbers("taken", "Taken", "How often it was recorded as taken", (row) => table.taken[row], short, "68px"),
            numbers("mispredicted", "Mispredicted", "How often it was mispredicted", (row) => table.mispredicted[row], short, "90px"),
            numbers("rate", "Rate", "Share of its executions that were mispredicted", (row) => this.rate(row), percent, "68px"),
            table.cycles && numbers("cycles", "Cycles", "Average cycles since the preceding taken branch", (row) => table.cycles![row] / (table.taken[row] || 1), (cycles) => (cycles < 1000 ? digits(cycles) : short(cycles)), "68px"),
        ];
        return list.filter((column): column is Column => column !== undefined);
    }

    private open(row: number): void {
        const place = placeOf(this.context, this.table.from.row[row]);
        if (place) this.context.go(place);
        else this.context.announce("This instruction is not in the page");
    }

    private select(row: number): void {
        if (row < 0) return replace(this.detail, el("span", { class: "dim" }, "Select a row to see its two instructions; Enter goes to the branch."));
        const { model } = this.context;
        const end = ({ name, row: rows }: BranchTable["from"]) => [placeLink(this.context, name[row], rows[row], false), placeOf(this.context, rows[row]) && model.text(rows[row]) !== "?" ? el("span", { class: "code dim" }, ` ${model.text(rows[row])}`) : null];
        replace(this.detail, "From ", ...end(this.table.from), " to ", ...end(this.table.to));
    }

    private say(found: number[]): string {
        const { table } = this;
        const n = table.taken.length;
        const taken = found.reduce((sum, row) => sum + table.taken[row], 0);
        const said = found.length === n ? `${count(n)} ${n === 1 ? "branch" : "branches"}, recorded as taken ${count(this.taken)} times, ${percent(this.mispredicted / this.taken)} of them mispredicted`
            : `${count(found.length)} of ${count(n)} branches, ${percent(taken / this.taken)} of those taken`;
        return table.rest ? `${said}; ${count(table.rest.rows)} more, with ${percent(table.rest.taken / this.taken)} of those taken, are not in the page` : said;
    }

    show(params: URLSearchParams): void {
        this.listing.show(params);
    }

    print(on: boolean): void {
        this.listing.print(on);
    }
}

function noBranches({ model }: Context): View {
    return { element: el("p", { class: "missing" }, `${model.main.label} has no branches in this profile, but another series has.`), show: () => undefined };
}

export const branchesTab: Tab = {
    id: "branches",
    title: "Branches",
    available: (model) => model.series.some((series) => series.data.branches),
    create: (context) => (context.model.main.data.branches ? new BranchesView(context, context.model.main.data.branches) : noBranches(context)),
};
