// The data that the tabs read: the document's columns as typed arrays, with sums that several tabs need.

import { BranchTable, DataTable, FORMAT, PageData, RowErrors, SeriesData, Sparse, VERSION, WaitList, WaitTable } from "./contract";
import { clean } from "./format";

export interface Part {
    component: number;
    cycles: number;
}

/** Time by row and component: the entries of row r are start[r] … start[r + 1] - 1, in the components' order. */
export class Stacks {
    readonly total: Float64Array;
    all = 0;

    constructor(
        readonly start: Uint32Array,
        readonly component: Uint16Array,
        readonly cycles: Float64Array,
        readonly known: boolean, // whether the source recorded events
    ) {
        this.total = new Float64Array(start.length - 1);
        for (let row = 0; row + 1 < start.length; row++) {
            let sum = 0;
            for (let i = start[row]; i < start[row + 1]; i++) sum += cycles[i];
            this.total[row] = sum;
            this.all += sum;
        }
    }

    parts(row: number): Part[] {
        const parts: Part[] = [];
        for (let i = this.start[row]; i < this.start[row + 1]; i++)
            parts.push({ component: this.component[i], cycles: this.cycles[i] });
        return parts;
    }
}

/** The component of time whose source recorded no events. */
export const UNKNOWN = 0xffff;

function isCount(value: unknown, below: number): boolean {
    return typeof value === "number" && Number.isInteger(value) && value >= 0 && value < below;
}

function decodeSparse(sparse: Sparse, rows: number, components: number): Stacks {
    const known = sparse.component !== undefined;
    const n = sparse.row.length;
    if (sparse.cycles.length !== n || (known && sparse.component!.length !== n))
        throw new Error("the columns of a table differ in length");
    const at = new Uint32Array(n);
    const start = new Uint32Array(rows + 1);
    for (let i = 0, row = 0; i < n; i++) {
        row += sparse.row[i];
        if (!isCount(row, rows)) throw new Error(`row ${row} of a table with ${rows} rows`);
        if (known && !isCount(sparse.component![i], components)) throw new Error("time of a component that is not listed");
        at[i] = row;
        start[row + 1]++;
    }
    for (let row = 0; row < rows; row++) start[row + 1] += start[row];
    const next = start.slice();
    const component = new Uint16Array(n).fill(UNKNOWN);
    const cycles = new Float64Array(n);
    for (let i = 0; i < n; i++) {
        const to = next[at[i]]++;
        if (known) component[to] = sparse.component![i];
        cycles[to] = sparse.cycles[i];
    }
    return new Stacks(start, component, cycles, known);
}

/** Half the 95 % interval of each row's share; -1: not known. */
function decodeErrors(errors: RowErrors | undefined, rows: number): Float64Array | null {
    if (!errors) return null;
    if (errors.row.length !== errors.share.length) throw new Error("the columns of a table differ in length");
    const shares = new Float64Array(rows).fill(-1);
    for (let i = 0, row = 0; i < errors.row.length; i++) {
        row += errors.row[i];
        if (!isCount(row, rows)) throw new Error(`row ${row} of a table with ${rows} rows`);
        shares[row] = errors.share[i];
    }
    return shares;
}

function decodePartErrors(errors: (RowErrors & { component: number[] }) | undefined, rows: number, width: number): Map<number, number> | null {
    if (!errors) return null;
    const { row: steps, component, share } = errors;
    if (steps.length !== share.length || steps.length !== component.length) throw new Error("the columns of a table differ in length");
    const shares = new Map<number, number>();
    for (let i = 0, row = 0; i < steps.length; i++) {
        row += steps[i];
        if (!isCount(row, rows) || !isCount(component[i], width)) throw new Error(`row ${row}, component ${component[i]} of a table with ${rows} rows`);
        shares.set(row * width + component[i], share[i]);
    }
    return shares;
}

/** Adds rows up into groups; rows with group -1 are left out. */
export function groupStacks(stacks: Stacks, group: (row: number) => number, groups: number, width: number): Stacks {
    const sums = new Map<number, number>();
    for (let row = 0; row + 1 < stacks.start.length; row++) {
        const to = stacks.start[row] < stacks.start[row + 1] ? group(row) : -1;
        if (to < 0) continue;
        for (let i = stacks.start[row]; i < stacks.start[row + 1]; i++) {
            const component = stacks.component[i] === UNKNOWN ? width : stacks.component[i];
            const key = to * (width + 1) + component;
            sums.set(key, (sums.get(key) ?? 0) + stacks.cycles[i]);
        }
    }
    const keys = Float64Array.from(sums.keys()).sort();
    const start = new Uint32Array(groups + 1);
    const component = new Uint16Array(keys.length);
    const cycles = new Float64Array(keys.length);
    keys.forEach((key, i) => {
        const to = Math.floor(key / (width + 1));
        const which = key - to * (width + 1);
        start[to + 1]++;
        component[i] = which === width ? UNKNOWN : which;
        cycles[i] = sums.get(key)!;
    });
    for (let to = 0; to < groups; to++) start[to + 1] += start[to];
    return new Stacks(start, component, cycles, stacks.known);
}

export interface Series {
    data: SeriesData;
    name: string;
    label: string;
    exact: boolean;
    functions: Stacks;
    instructions: Stacks;
    /** Half the 95 % intervals of the rows' shares, -1: not known. Null: the series has none. */
    functionErrors: Float64Array | null;
    /** The same of components: of the program, and of functions by their number times that of all components plus the component's. */
    componentErrors: Float64Array | null;
    partErrors: Map<number, number> | null;
    instructionErrors: Float64Array | null;
    totalErrors: Float64Array | null; // of functions with their callees
    total: number;
    unit: string;
}

export interface Component {
    name: string; // "Base", "ST-L1", "ST-L1+ST-LLC"
    events: number[];
    meaning: string;
}

export interface Paths {
    parent: Int32Array;
    fn: Int32Array;
    self: Stacks;
    inclusive: Float64Array;
    children: number[][];
    roots: number[];
    /** Half the 95 % intervals of the shares, of self time and of total. Null: not known. */
    selfErrors: number[] | null;
    totalErrors: number[] | null;
}

export class Model {
    readonly components: Component[];
    readonly series: Series[];
    readonly named: Series; // that the document names
    main: Series; // the one that is shown
    readonly functionCount: number;
    readonly first: Uint32Array; // first instruction of each function; one more at the end
    readonly functionOf: Uint32Array; // of an instruction
    readonly address: bigint[]; // of functions
    readonly offset: Float64Array; // of instructions, from their function's address
    readonly callee: Map<number, number>;
    paths: Paths | null = null; // of the series that is shown
    inclusive: Float64Array | null = null; // of functions, with what they called; -1: not known
    readonly executions: Float64Array | null; // of functions' instructions; -1: not known
    total = 1;
    unit = "cycles";

    constructor(readonly data: PageData) {
        this.components = readComponents(data);
        const count = data.functions.count;
        this.functionCount = count.length;
        this.first = new Uint32Array(count.length + 1);
        count.forEach((n, i) => (this.first[i + 1] = this.first[i] + n));
        const rows = this.first[count.length];
        if (rows !== data.instructions.text.length || rows !== data.instructions.address.length)
            throw new Error("the functions' instructions do not add up");
        this.functionOf = new Uint32Array(rows);
        this.offset = new Float64Array(rows);
        for (let fn = 0; fn < count.length; fn++) {
            this.functionOf.fill(fn, this.first[fn], this.first[fn + 1]);
            for (let row = this.first[fn], at = 0; row < this.first[fn + 1]; row++)
                this.offset[row] = at += data.instructions.address[row];
        }
        this.address = count.map((_, fn) => parseAddress(data.functions.address?.[fn]));
        this.series = data.series.map((series) => this.readSeries(series, rows));
        if (this.series.length === 0) throw new Error("there is no series");
        this.main = this.named = this.series.find((series) => series.name === data.summary.sampler) ?? this.series[0];
        this.callee = new Map();
        for (let i = 0, row = 0; i < (data.instructions.call?.row.length ?? 0); i++)
            this.callee.set((row += data.instructions.call!.row[i]), data.instructions.call!.function[i]);
        this.choose(null);
        this.executions = readColumn(data.functions.executed, this.functionCount) ?? this.addExecutions();
    }

    /** Shows another series and recomputes what depends on it. Null: the document's default. */
    choose(name: string | null): void {
        const { data } = this;
        this.main = this.series.find((series) => series.name === name) ?? this.named;
        this.total = this.main.total || 1;
        this.unit = this.main.unit;
        const self = this.main.data.paths;
        this.paths = data.paths && self && data.paths.parent.length > 0 ? readPaths(data.paths, self, this) : null;
        this.inclusive = this.paths && inclusiveOf(this.paths, this.functionCount);
        // Call paths may have been left out, but the document's sums include all. A function's self time is part of its total.
        if (this.main === this.named) this.inclusive = readColumn(data.functions.total, this.functionCount) ?? this.inclusive;
        else this.inclusive?.forEach((value, fn) => (this.inclusive![fn] = Math.max(value, this.main.functions.total[fn])));
    }

    /** A thread's time by function; null: not in the document. */
    threadStacks(thread: number): Stacks | null {
        const sparse = this.main.data.threads?.[thread];
        return sparse ? decodeSparse(sparse, this.functionCount, this.components.length) : null;
    }

    /** The inlined functions that an instruction comes from, innermost first. */
    inlinedIn(row: number): string[] {
        const { inlined, inlines } = this.data.instructions;
        const names: string[] = [];
        let at = inlined?.[row] ?? -1;
        while (inlines && isCount(at, inlines.parent.length) && names.length < 50) {
            names.push(clean(this.string(inlines.name[at]), 100) || "?");
            at = inlines.parent[at] < at ? inlines.parent[at] : -1; // parents come first
        }
        return names;
    }

    private readSeries(data: SeriesData, rows: number): Series {
        const width = this.components.length;
        const instructions = decodeSparse(data.instructions, rows, width);
        const functions = data.functions
            ? decodeSparse(data.functions, this.functionCount, width)
            : groupStacks(instructions, (row) => this.functionOf[row], this.functionCount, width);
        if (data.data) checkObjects(data.data);
        if (data.branches) checkBranches(data.branches);
        if (data.waits) checkWaits(data.waits);
        const label = clean(data.label ?? data.name, 40);
        const functionErrors = decodeErrors(data.errors?.functions, this.functionCount);
        const instructionErrors = decodeErrors(data.errors?.instructions, rows);
        const totalErrors = decodeErrors(data.errors?.totals, this.functionCount);
        const componentErrors = decodeErrors(data.errors?.components, width);
        const partErrors = decodePartErrors(data.errors?.parts, this.functionCount, width);
        return { data, name: data.name, label, exact: data.exact === true, functions, instructions, functionErrors, componentErrors, partErrors, instructionErrors, totalErrors, total: functions.all, unit: data.unit ?? this.data.unit ?? "cycles" };
    }

    /** From the instructions; unknown for functions without any. */
    private addExecutions(): Float64Array | null {
        const executed = this.data.instructions.executed;
        if (!executed) return null;
        const sums = Float64Array.from(this.data.functions.count, (n) => (n > 0 ? 0 : -1));
        executed.forEach((n, row) => (sums[this.functionOf[row]] += n));
        return sums;
    }

    /** Functions that took part: those with time of their own or below them, or that were executed. A profile also has those that
     * only a place in the code or another series needs. */
    get listed(): number[] {
        const { functions } = this.main;
        const list: number[] = [];
        for (let fn = 0; fn < this.functionCount; fn++)
            if (functions.total[fn] > 0 || (this.inclusive?.[fn] ?? 0) > 0 || (this.executions?.[fn] ?? 0) > 0) list.push(fn);
        return list;
    }

    string(index: number | undefined): string {
        return (index !== undefined && this.data.strings[index]) || "";
    }

    /** A function's name as it may be shown: control characters made visible, cut to `limit`. */
    name(fn: number, limit = 200): string {
        return clean(this.string(this.data.functions.name[fn]), limit) || "(unknown)";
    }

    moduleName(fn: number): string {
        const module = this.data.functions.module?.[fn];
        return module === undefined || module < 0 ? "" : clean(this.data.modules?.[module]?.name ?? "", 80);
    }

    text(row: number): string {
        return clean(this.string(this.data.instructions.text[row]), 300);
    }

    addressOf(row: number): string {
        return "0x" + (this.address[this.functionOf[row]] + BigInt(Math.max(0, Math.trunc(this.offset[row])))).toString(16);
    }

    fileOf(row: number): number {
        const file = this.data.instructions.file?.[row] ?? -1;
        return file >= 0 && file < (this.data.files?.length ?? 0) ? file : -1;
    }

    lineOf(row: number): number {
        return this.data.instructions.line?.[row] ?? 0;
    }

    executed(row: number): number | undefined {
        return this.data.instructions.executed?.[row];
    }

    componentName(component: number): string {
        return component === UNKNOWN ? "time" : this.components[component].name;
    }
}

function readColumn(column: (number | null)[] | undefined, rows: number): Float64Array | null {
    if (!column) return null;
    if (column.length !== rows) throw new Error("the columns of the functions differ in length");
    return Float64Array.from(column, (value) => value ?? -1);
}

function checkColumns(what: string, ...columns: (unknown[] | undefined)[]): void {
    if (columns.some((column) => !Array.isArray(column) || column.length !== columns[0]!.length)) throw new Error(`the columns of the ${what} differ in length`);
}

function checkObjects(table: DataTable): void {
    const { name, module, address, size, cycles, loads, stores, samples, lines, bytes, instructions, listed, accesses } = table;
    checkColumns("objects", name, module, address, size, cycles, loads, stores, samples, lines, bytes, instructions, listed);
    checkColumns("accesses", accesses?.name, accesses?.row, accesses?.cycles);
    if (listed.some((n) => !isCount(n, accesses.row.length + 1)) || listed.reduce((a, b) => a + b, 0) !== accesses.row.length) throw new Error("the objects' accesses do not add up");
}

function checkBranches({ from, to, taken, mispredicted, cycles }: BranchTable): void {
    checkColumns("branches", taken, mispredicted, cycles ?? taken, from?.name, from?.row, to?.name, to?.row);
}

function checkWaits({ threads, matrix_true, matrix_false, objects, lines, pairs }: WaitTable): void {
    const same = ({ cycles, false: wrong, transfers, object }: WaitList, ...more: (unknown[] | undefined)[]) => checkColumns("waits", cycles, wrong, transfers, object, ...more);
    same(objects);
    same(lines, lines.place, lines.address, lines.waited?.name, lines.waited?.row, lines.culprit?.name, lines.culprit?.row);
    same(pairs, pairs.waited?.name, pairs.waited?.row, pairs.culprit?.name, pairs.culprit?.row);
    for (const matrix of [matrix_true, matrix_false]) {
        checkColumns("waits", threads, matrix);
        for (const row of matrix) checkColumns("waits", threads, row);
    }
}

function parseAddress(text: string | undefined): bigint {
    return text !== undefined && /^0x[0-9a-f]{1,16}$/i.test(text) ? BigInt(text) : 0n;
}

function readComponents(data: PageData): Component[] {
    const events = data.events ?? [];
    return (data.components ?? []).map((list) => {
        const known = list.filter((event) => isCount(event, events.length));
        return {
            events: known,
            name: known.map((event) => clean(events[event].name, 30)).join("+") || "Base",
            meaning: known.map((event) => clean(events[event].meaning ?? "", 120)).filter(Boolean).join(" and ") ||
                (known.length ? "" : "no event: computing, or waiting for results and units"),
        };
    });
}

function readPaths(data: NonNullable<PageData["paths"]>, times: Sparse, model: Model): Paths {
    const n = data.parent.length;
    const self = decodeSparse(times, n, model.components.length);
    const parent = Int32Array.from(data.parent);
    const fn = Int32Array.from(data.function);
    if (fn.length !== n) throw new Error("the columns of the call paths differ in length");
    const inclusive = self.total.slice();
    const children: number[][] = Array.from({ length: n }, () => []);
    const roots: number[] = [];
    for (let i = n - 1; i >= 0; i--) {
        if (parent[i] >= i || parent[i] < -1 || !isCount(fn[i], model.functionCount)) throw new Error(`call path ${i} is out of order`);
        if (parent[i] < 0) roots.push(i);
        else {
            inclusive[parent[i]] += inclusive[i];
            children[parent[i]].push(i);
        }
    }
    const byTime = (a: number, b: number) => inclusive[b] - inclusive[a] || a - b;
    children.forEach((list) => list.sort(byTime));
    const errors = (list?: number[]) => (list && list.length === n ? list : null);
    const own = model.main.data.errors;
    return { parent, fn, self, inclusive, children, roots: roots.sort(byTime), selfErrors: errors(own?.path_self), totalErrors: errors(own?.path_total) };
}

/** Time in each function and what it called; a recursive function counts once. */
function inclusiveOf(paths: Paths, functions: number): Float64Array {
    const sums = new Float64Array(functions);
    const open = new Uint32Array(functions);
    const stack: [number, boolean][] = paths.roots.map((root) => [root, false]);
    while (stack.length > 0) {
        const [node, leaving] = stack.pop()!;
        const fn = paths.fn[node];
        if (leaving) {
            open[fn]--;
            continue;
        }
        if (open[fn]++ === 0) sums[fn] += paths.inclusive[node];
        stack.push([node, true]);
        for (const child of paths.children[node]) stack.push([child, false]);
    }
    return sums;
}

export function checkDocument(value: unknown): PageData {
    const data = value as PageData;
    if (typeof value !== "object" || value === null || data.format !== FORMAT) throw new Error("this is not a document of Assay's page");
    if (data.version !== VERSION) throw new Error(`the document has version ${String(data.version)}, but this page reads version ${VERSION}`);
    for (const member of ["summary", "strings", "series", "functions", "instructions"] as const)
        if (typeof data[member] !== "object" || data[member] === null) throw new Error(`the document has no ${member}`);
    return data;
}
