// The flame graph: call paths from the top down, as wide as their time. A frame has the colour of the largest component of
// its total time, so that the cause is visible at a glance. Frames narrower than a pixel are left out; the table of the
// heaviest paths below it describes everything in words.

import { button, el, replace } from "./dom";
import { count, percent, plusMinus, short } from "./format";
import { Column, Grid } from "./grid";
import { Model, Part, Paths, UNKNOWN } from "./model";
import { Context, Tab, View } from "./tabs";
import { tip } from "./tooltip";
import { chainWarnings } from "./warnings";

const HEIGHT = 25;
const DRAWN_MAX = 2500;
const SMALLEST = 0.02; // of a frame, for a piece of its own in its lower edge

interface Frame {
    node: number;
    depth: number;
    left: number;
    width: number; // of 1
    above: boolean; // a caller of what is zoomed to
}

/** The total time of each requested node by component: one pass from the leaves up. */
function stacksBelow(paths: Paths, wanted: Set<number>): Map<number, Part[]> {
    const n = paths.parent.length;
    const sums: (Map<number, number> | undefined)[] = new Array(n);
    const result = new Map<number, Part[]>();
    for (let node = n - 1; node >= 0; node--) {
        const mine = sums[node] ?? new Map<number, number>();
        sums[node] = undefined;
        for (let i = paths.self.start[node]; i < paths.self.start[node + 1]; i++)
            mine.set(paths.self.component[i], (mine.get(paths.self.component[i]) ?? 0) + paths.self.cycles[i]);
        if (wanted.has(node)) result.set(node, [...mine].map(([component, cycles]) => ({ component, cycles })).sort((a, b) => a.component - b.component));
        const parent = paths.parent[node];
        if (parent < 0) continue;
        const theirs = sums[parent];
        if (!theirs) sums[parent] = mine; // not needed any more
        else for (const [component, cycles] of mine) theirs.set(component, (theirs.get(component) ?? 0) + cycles);
    }
    return result;
}

function largest(parts: Part[]): number {
    return parts.reduce((most, part) => (part.cycles > most.cycles ? part : most), { component: UNKNOWN, cycles: 0 }).component;
}

function layout(paths: Paths, from: number, narrowest: number): Frame[] {
    const frames: Frame[] = [];
    const roots = from < 0 ? paths.roots : [from];
    const all = roots.reduce((sum, root) => sum + paths.inclusive[root], 0) || 1;
    for (let node = from < 0 ? -1 : paths.parent[from]; node >= 0; node = paths.parent[node]) frames.unshift({ node, depth: 0, left: 0, width: 1, above: true });
    frames.forEach((frame, depth) => (frame.depth = depth));
    const top = frames.length;
    let level: Frame[] = [];
    let left = 0;
    for (const node of roots) {
        level.push({ node, depth: top, left, width: paths.inclusive[node] / all, above: false });
        left += paths.inclusive[node] / all;
    }
    // Level by level: if there are too many, the deepest ones are missing.
    while (level.length > 0 && frames.length < DRAWN_MAX) {
        const wide = level.filter((frame) => frame.width >= narrowest);
        frames.push(...wide);
        level = [];
        for (const frame of wide) {
            let at = frame.left;
            for (const child of paths.children[frame.node]) {
                const width = paths.inclusive[child] / all;
                level.push({ node: child, depth: frame.depth + 1, left: at, width, above: false });
                at += width;
            }
        }
    }
    return frames.slice(0, DRAWN_MAX);
}

/** The names up to the root, innermost first, because that one matters most if there is no room for all. */
function pathOf(model: Model, node: number): string[] {
    const names: string[] = [];
    for (let at = node; at >= 0 && names.length < 60; at = model.paths!.parent[at]) names.push(model.name(model.paths!.fn[at], 80));
    return names;
}

class FlameView implements View {
    readonly element: HTMLElement;
    private readonly chart = el("div", { class: "flame", role: "tree", tabindex: 0, "aria-label": "Flame graph of call paths. Up and down: caller and callee; left and right: neighbours; Enter: zoom; Escape: back" });
    private readonly detail = el("div", { class: "flame-detail", role: "status" });
    private readonly stackBars = el("div", { class: "flame-stacks", hidden: true });
    private readonly search = el("input", { type: "search", placeholder: "Highlight functions  ( / )", "aria-label": "Highlight functions", spellcheck: "false" });
    private readonly paths: Paths;
    private readonly grid: Grid;
    private frames: Frame[] = [];
    private items = new Map<number, HTMLElement>();
    private stacks = new Map<number, Part[]>(); // of the frames that are drawn
    private zoom = -1;
    private active = -1; // a node
    private drawn = ""; // for which width and zoom

    constructor(private readonly context: Context) {
        this.paths = context.model.paths!;
        this.grid = new Grid({ label: "Heaviest call paths", columns: this.columns(), rowHeight: 28, onOpen: (node) => this.open(node), onSelect: (node) => this.focusNode(node) });
        this.chart.addEventListener("keydown", (event) => this.onKey(event));
        this.chart.addEventListener("click", (event) => this.onClick(event));
        this.search.addEventListener("input", () => this.highlight());
        new ResizeObserver(() => this.draw()).observe(this.chart);
        const reset = button("All", () => this.context.go({ tab: "flame" }), { title: "Back to the whole program (Escape)" });
        this.element = el("div", { class: "fill" },
            el("div", { class: "toolbar" }, this.search, reset, el("span", { class: "spring" }),
                el("span", { class: "dim" }, this.about())),
            chainWarnings(context.model),
            this.paths.self.known ? context.bars.legend() : null, this.chart, this.detail, this.stackBars, el("h2", { class: "bar-title" }, "Heaviest call paths"), this.grid.element);
        const heavy = Array.from(this.paths.self.total.keys()).filter((node) => this.paths.self.total[node] > 0);
        this.grid.setRows(heavy.sort((a, b) => this.paths.self.total[b] - this.paths.self.total[a]).slice(0, 500));
    }

    private about(): string {
        if (this.paths.self.known) return `Tint: the largest component. Lower edge: all of them, those below ${SMALLEST * 100} % together (hatched).`;
        return this.context.model.main.functions.known ? "Call paths are recorded without events." : `${this.context.model.main.label}: this source records no events.`;
    }

    private columns(): Column[] {
        const { model, bars } = this.context;
        const totals = this.paths.self.total;
        const full = totals.reduce((most, value) => Math.max(most, value), 1e-9);
        const { selfErrors } = this.paths;
        const list: (Column | null)[] = [
            { key: "self", title: "Self", width: "80px", numeric: true, cell: (node, cell) => (cell.textContent = percent(totals[node] / model.total)) },
            selfErrors && { key: "error", title: "±", width: "64px", numeric: true, hint: "Half the 95 % interval of the share, in points: the run was measured in parts", cell: (node, cell) => (cell.textContent = plusMinus(selfErrors[node])) },
            { key: "stack", title: this.paths.self.known ? "Cycle stack" : "Time", width: "minmax(140px, 1fr)", cell: (node, cell) => cell.append(bars.make(this.paths.self.parts(node), full, { total: totals[node] })) },
            { key: "path", title: "Call path, innermost first", width: "minmax(300px, 4fr)", cell: (node, cell) => {
                const names = pathOf(model, node);
                cell.classList.add("code");
                cell.append(el("b", {}, names[0]), el("span", { class: "dim" }, names.slice(1).map((name) => " ‹ " + name).join("")));
            } },
        ];
        return list.filter((column): column is Column => !!column);
    }

    /** The share of a path with its callees, and its own, with their errors. */
    private shares(node: number): { total: string; self: string } {
        const { total } = this.context.model;
        const { inclusive, self, selfErrors, totalErrors } = this.paths;
        const error = (errors: number[] | null) => (errors ? ` ${plusMinus(errors[node])}` : "");
        return { total: percent(inclusive[node] / total) + error(totalErrors), self: percent(self.total[node] / total) + error(selfErrors) };
    }

    private draw(): void {
        const width = this.chart.clientWidth;
        const as = `${width} ${this.zoom}`;
        if (width === 0 || as === this.drawn) return;
        this.drawn = as;
        this.frames = layout(this.paths, this.zoom, 1.2 / width);
        this.stacks = stacksBelow(this.paths, new Set(this.frames.map((frame) => frame.node)));
        this.items.clear();
        this.chart.textContent = "";
        const depth = this.frames.reduce((most, frame) => Math.max(most, frame.depth), 0);
        this.chart.style.setProperty("--flame-height", `${(depth + 1) * HEIGHT + 2}px`);
        for (const frame of this.frames) this.chart.append(this.item(frame, width));
        this.highlight();
        this.mark();
    }

    private item(frame: Frame, width: number): HTMLElement {
        const { model, bars } = this.context;
        const { node } = frame;
        const name = model.name(this.paths.fn[node], 120);
        const shares = this.shares(node);
        const item = el("div", {
            class: frame.above ? "frame above" : "frame", role: "treeitem", id: `frame-${node}`, "aria-level": frame.depth + 1, "aria-selected": "false",
            "aria-label": `${name}, ${shares.total} of the time, ${shares.self} itself`,
        });
        item.dataset.node = String(node);
        item.style.left = `${frame.left * 100}%`;
        item.style.width = `${frame.width * 100}%`;
        item.style.top = `${frame.depth * HEIGHT}px`;
        const stripe = el("span", { class: "stripe" });
        stripe.style.background = bars.colours.of(largest(this.stacks.get(node)!));
        item.append(stripe);
        if (frame.width * width > 30) item.append(el("span", { class: "frame-name" }, name));
        if (frame.width * width > 60) item.append(this.strip(node));
        tip(item, () => bars.table(this.stacks.get(node) ?? [], model.total, name));
        this.items.set(node, item);
        return item;
    }

    /** The cycle stack of the total, along the frame's lower edge; components too small to see are one piece. */
    private strip(node: number): HTMLElement {
        const strip = el("span", { class: "strip" });
        const add = (share: number, look: string): HTMLElement => {
            const segment = el("span", { class: look });
            segment.style.width = `${share * 100}%`;
            strip.append(segment);
            return segment;
        };
        let rest = 0;
        for (const part of this.stacks.get(node)!) {
            const share = part.cycles / this.paths.inclusive[node];
            if (share < SMALLEST) rest += share;
            else add(share, "seg").style.background = this.context.bars.colours.of(part.component);
        }
        if (rest > 0) add(rest, "seg rest");
        return strip;
    }

    private highlight(): void {
        const wanted = this.search.value.trim().toLowerCase();
        let sum = 0;
        for (const frame of this.frames) {
            const hit = wanted !== "" && this.context.model.name(this.paths.fn[frame.node], 4000).toLowerCase().includes(wanted);
            this.items.get(frame.node)!.classList.toggle("hit", hit);
            sum += hit ? 1 : 0;
        }
        this.chart.classList.toggle("searching", wanted !== "");
        if (wanted !== "") this.detail.textContent = `${count(sum)} of ${count(this.frames.length)} frames match`;
    }

    private mark(): void {
        for (const [node, item] of this.items) item.setAttribute("aria-selected", String(node === this.active));
        if (this.items.has(this.active)) this.chart.setAttribute("aria-activedescendant", `frame-${this.active}`);
        else this.chart.removeAttribute("aria-activedescendant");
    }

    private focusNode(node: number): void {
        const { model, names, link } = this.context;
        this.active = node;
        this.mark();
        this.items.get(node)?.scrollIntoView({ block: "nearest" });
        const fn = this.paths.fn[node];
        const shares = this.shares(node);
        replace(this.detail, el("a", { class: "code", href: link({ function: names.key(fn) }) }, model.name(fn, 100)),
            ` ${shares.total} of the time (${short(this.paths.inclusive[node])} ${model.unit}), ${shares.self} itself`);
        this.showStacks(node);
    }

    /** The components of the selected path's time: total and self, to one scale, with the largest parts in words. */
    private showStacks(node: number): void {
        const { bars } = this.context;
        const full = this.paths.inclusive[node] || 1;
        const all = this.stacks.get(node) ?? stacksBelow(this.paths, new Set([node])).get(node)!;
        const line = (title: string, parts: Part[]) => [el("span", { class: "dim" }, title), bars.make(parts, full, { total: full, title }),
            el("span", { class: "words" }, bars.sentence(parts, full, 4))];
        this.stackBars.hidden = !this.paths.self.known;
        replace(this.stackBars, ...line("Total", all), ...line("Self", this.paths.self.parts(node)));
    }

    private open(node: number): void {
        this.context.go({ function: this.context.names.key(this.paths.fn[node]) });
    }

    private onClick(event: MouseEvent): void {
        const item = event.target instanceof Element ? event.target.closest<HTMLElement>(".frame") : null;
        if (!item) return;
        const node = Number(item.dataset.node);
        if (this.zoom === node || (this.zoom < 0 && this.paths.roots.length === 1 && this.paths.roots[0] === node)) this.focusNode(node);
        else this.context.go({ tab: "flame", zoom: String(node) });
    }

    private neighbour(step: number): number {
        const here = this.frames.find((frame) => frame.node === this.active)!;
        const level = this.frames.filter((frame) => frame.depth === here.depth).sort((a, b) => a.left - b.left);
        return (level[level.indexOf(here) + step] ?? here).node;
    }

    private onKey(event: KeyboardEvent): void {
        if (event.ctrlKey || event.altKey || event.metaKey || this.frames.length === 0) return;
        const here = this.items.has(this.active) ? this.active : -1;
        const moves: Record<string, () => number> = {
            ArrowDown: () => this.paths.children[here].find((child) => this.items.has(child)) ?? here,
            ArrowUp: () => (this.items.has(this.paths.parent[here]) ? this.paths.parent[here] : here),
            ArrowLeft: () => this.neighbour(-1),
            ArrowRight: () => this.neighbour(1),
            Home: () => this.frames[0].node,
        };
        if (event.key in moves) this.focusNode(here < 0 ? this.frames[0].node : moves[event.key]());
        else if (event.key === "Enter" && here >= 0) this.zoom === here ? this.open(here) : this.context.go({ tab: "flame", zoom: String(here) });
        else if (event.key === "Escape" && this.zoom >= 0) this.context.go({ tab: "flame" });
        else return;
        event.preventDefault();
    }

    show(params: URLSearchParams): void {
        const zoom = Number(params.get("zoom") ?? -1);
        this.zoom = Number.isInteger(zoom) && zoom >= 0 && zoom < this.paths.parent.length ? zoom : -1;
        this.draw();
        if (this.zoom >= 0) this.focusNode(this.zoom);
        else if (this.active < 0) replace(this.detail, el("span", { class: "hint" }, "A click, or Enter, zooms to a frame; the frames above it lead back."));
    }

    print(on: boolean): void {
        this.grid.print(on);
    }
}

function noPaths({ model }: Context): View {
    const another = model.series.some((series) => series.data.paths);
    const text = another ? `${model.main.label} has no call paths in this profile, but another series has.`
        : "This profile has no call paths: it was recorded without call chains, so there is no flame graph. 'assay record' finds callers by --call-graph=auto.";
    return { element: el("p", { class: "missing" }, text), show: () => undefined };
}

export const flameTab: Tab = {
    id: "flame",
    title: "Flame graph",
    create: (context) => (context.model.paths ? new FlameView(context) : noPaths(context)),
};
