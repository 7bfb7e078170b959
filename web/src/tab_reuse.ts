// How far apart use and reuse of memory are, from a run of its own (`assay reuse --json`): distances as bars, misses by the size of
// a cache with the caches of both machines marked, the working set over time; caches, pairs of code, code and objects as tables.
// The document is a file that somebody named, so nothing in it is taken for granted but that it is JSON.

import { ReuseBin, ReuseCauses, ReuseData, ReusePair, ReusePlace } from "./contract";
import { el, svg } from "./dom";
import { clean, count, percent, short } from "./format";
import { Context, Tab, View } from "./tabs";

const ROWS = 50; // of each table
const [WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM] = [900, 240, 62, 16, 12, 34];
const CAUSES = ["cold", "capacity", "conflict", "coherence"] as const;

const list = <T>(value: T[] | undefined): T[] => (Array.isArray(value) ? value.filter((one) => one !== null && one !== undefined) : []);
const number = (value: unknown): number => (typeof value === "number" && Number.isFinite(value) ? value : 0);
const text = (value: unknown, limit: number): string => (typeof value === "string" ? clean(value, limit) : "");

/** "32 KiB" */
function bytes(value: number): string {
    let unit = 0;
    for (; value >= 1024 && unit < 4; unit++) value /= 1024;
    return `${Number.isInteger(value) ? value : value.toFixed(1)} ${["B", "KiB", "MiB", "GiB", "TiB"][unit]}`;
}

// ---- pictures

interface Line {
    label: string;
    kind: "a" | "b";
}
const x = (share: number) => LEFT + share * (WIDTH - LEFT - RIGHT);
const y = (share: number) => TOP + (1 - share) * (HEIGHT - TOP - BOTTOM);

function label(at: number, height: number, said: string, anchor: string): SVGElement {
    const element = svg("text", { x: at, y: height, "text-anchor": anchor });
    element.textContent = said;
    return element;
}

/** A picture with a grid, for which `most` is the top; `described` is what it shows, as a sentence. */
function drawing(described: string, most: number, show: (value: number) => string): SVGElement {
    const picture = svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", class: "chart" });
    picture.setAttribute("aria-label", described);
    for (let i = 0; i <= 4; i++) {
        picture.append(svg("line", { class: "chart-grid", x1: LEFT, x2: WIDTH - RIGHT, y1: y(i / 4), y2: y(i / 4) }));
        picture.append(label(LEFT - 6, y(i / 4) + 4, show((most * i) / 4), "end"));
    }
    return picture;
}

function card(title: string, picture: SVGElement, lines: Line[], note = ""): HTMLElement {
    return el("section", { class: "card" }, el("h2", {}, title), picture as unknown as HTMLElement,
        note ? el("p", { class: "dim" }, note) : null,
        lines.length > 1 ? el("p", { class: "chart-key dim" }, ...lines.map((line) => el("span", {}, el("span", { class: `chart-swatch ${line.kind}` }), line.label))) : null);
}

interface Bars extends Line {
    bins: ReuseBin[];
}
const octave = (low: number) => (low < 1 ? 0 : Math.min(63, Math.floor(Math.log2(low)) + 1));

function histogram(title: string, all: Bars[]): HTMLElement | null {
    const bars = all.map((one) => ({ ...one, sum: one.bins.reduce((sum, bin) => sum + number(bin.count), 0) })).filter(({ sum }) => sum > 0);
    if (bars.length === 0) return null;
    const last = Math.max(...bars.flatMap(({ bins }) => bins.map((bin) => octave(number(bin.lo)))));
    const most = Math.max(...bars.flatMap(({ bins, sum }) => bins.map((bin) => number(bin.count) / sum)));
    const step = (WIDTH - LEFT - RIGHT) / (last + 1), width = (0.8 * step) / bars.length;
    const largest = bars.map(({ label: name, bins, sum }) => {
        const bin = bins.reduce((a, b) => (number(b.count) > number(a.count) ? b : a));
        return `${name}: most, ${percent(number(bin.count) / sum)}, from ${count(number(bin.lo))} to ${count(number(bin.hi))}`;
    });
    const picture = drawing(`${title}: ${largest.join("; ")}`, most, percent);
    bars.forEach(({ label: name, kind, bins, sum }, i) => {
        for (const bin of bins) {
            const share = number(bin.count) / sum / most;
            const bar = svg("rect", { class: `chart-${kind}`, x: LEFT + step * (octave(number(bin.lo)) + 0.1) + i * width, y: y(share), width, height: y(0) - y(share) });
            const tip = svg("title");
            tip.textContent = `${name}, distance ${count(number(bin.lo))} to ${count(number(bin.hi))}: ${count(number(bin.count))} reuses, ${percent(share * most)}${unsure(bin)}`;
            bar.append(tip);
            picture.append(bar);
        }
    });
    for (let at = 0; at <= last; at += last > 24 ? 2 : 1) picture.append(label(LEFT + step * (at + 0.5), HEIGHT - BOTTOM + 16, at < 11 ? count(at === 0 ? 0 : 2 ** (at - 1)) : `2^${at - 1}`, "middle"));
    return card(title, picture, bars, timed(bars[0].bins, bars[0].sum));
}

/** Of distances that were timed on a machine and not counted. */
function unsure(bin: ReuseBin): string {
    return number(bin.off) > 1 ? `; ${percent(1 - number(bin.counted))} of them timed, so the distance may be ${number(bin.off).toFixed(1)} times too long or too short` : "";
}

function timed(bins: ReuseBin[], sum: number): string {
    const off = Math.max(1, ...bins.map((bin) => number(bin.off)));
    const share = bins.reduce((all, bin) => all + (number(bin.off) > 1 ? number(bin.count) * (1 - number(bin.counted)) : 0), 0) / sum;
    return off > 1 ? `${percent(share)} of the distances were timed, not counted: these may be ${off.toFixed(1)} times too long or too short.` : "";
}

/** How far off the miss ratio may be: at the largest size up to this one. */
function errorAt(points: NonNullable<ReuseData["miss_ratio"]>, size: number): number {
    return number(points.filter((point) => point.bytes <= size).pop()?.ratio_error);
}

function curve(reuse: ReuseData): HTMLElement | null {
    const points = list(reuse.miss_ratio).filter((point) => number(point.bytes) > 0).sort((a, b) => a.bytes - b.bytes);
    if (points.length < 2) return null;
    const largest = Math.max(...[...list(reuse.caches), ...list(reuse.host_caches)].map((cache) => number(cache.bytes)));
    if (largest > points[points.length - 1].bytes) points.push({ ...points[points.length - 1], bytes: largest }); // larger caches miss no less
    const first = Math.log2(points[0].bytes), last = Math.max(first + 1, Math.log2(points[points.length - 1].bytes));
    const sampled = points.some((point) => number(point.ratio_error) > 0);
    const value = (point: (typeof points)[number], kind: Line["kind"], errors: number) =>
        Math.min(1, Math.max(0, kind === "a" ? number(point.ratio) + errors * number(point.ratio_error) : number(point.shared) + errors * number(point.shared_error)));
    const most = Math.max(1e-9, ...points.flatMap((point) => [value(point, "a", 1), value(point, "b", 1)]));
    const at = (size: number) => x((Math.log2(size) - first) / (last - first));
    const lines: Line[] = [{ label: "of a thread", kind: "a" }];
    if (reuse.shared) lines.push({ label: "shared by all threads", kind: "b" });
    const marks = [
        ...list(reuse.caches).map((cache) => ({ name: text(cache.name, 12), size: number(cache.bytes), ratio: number(cache.predicted) })),
        ...list(reuse.host_caches).map((cache) => ({ name: `L${number(cache.level)} here`, size: number(cache.bytes), ratio: number(cache.predicted) })),
    ].filter(({ size }) => size > 0 && at(size) >= LEFT && at(size) <= WIDTH - RIGHT);
    const said = marks.map(({ name, size, ratio }) => `${name}, ${bytes(size)}: ${percent(ratio)}${sampled ? ` ± ${(100 * errorAt(points, size)).toFixed(2)}` : ""}`);
    const picture = drawing(`Misses by the size of a cache: ${said.join("; ") || `${percent(number(points[0].ratio))} at ${bytes(points[0].bytes)}`}`, most, percent);
    for (let power = Math.ceil(first); power <= last; power += Math.ceil((last - first) / 12)) picture.append(label(at(2 ** power), HEIGHT - BOTTOM + 16, bytes(2 ** power), at(2 ** power) > WIDTH - 2 * RIGHT ? "end" : "middle"));
    const path = (kind: Line["kind"], errors: number) => points.map((point) => `${at(point.bytes).toFixed(1)},${y(value(point, kind, errors) / most).toFixed(1)}`);
    for (const { kind } of sampled ? lines : []) picture.append(svg("polygon", { class: `chart-band chart-${kind}`, points: [...path(kind, 1), ...path(kind, -1).reverse()].join(" ") }));
    for (const { kind } of lines)
        picture.append(svg("polyline", { class: `chart-line chart-${kind}`, points: path(kind, 0).join(" ") }));
    marks.forEach(({ size }, i) => {
        const right = at(size) > WIDTH - 220;
        picture.append(svg("line", { class: "chart-mark", x1: at(size), x2: at(size), y1: TOP, y2: y(0) }), label(at(size) + (right ? -4 : 4), TOP + 10 + 13 * i, said[i], right ? "end" : "start"));
    });
    return card("Misses by the size of a fully associative LRU cache", picture, lines, sampled ? "Shaded: where the ratio is, by twice its standard error; the lines are a sample." : "");
}

function workingSet(reuse: ReuseData): HTMLElement | null {
    const sizes = list(reuse.working_set?.bytes).map(number), interval = number(reuse.working_set?.interval);
    if (sizes.length < 2) return null;
    const columns = Math.min(sizes.length, WIDTH), most = sizes.reduce((a, b) => Math.max(a, b), 1);
    const tops = Array.from({ length: columns }, (_, i) => sizes.slice(Math.floor((i * sizes.length) / columns), Math.max(Math.floor(((i + 1) * sizes.length) / columns), Math.floor((i * sizes.length) / columns) + 1)).reduce((a, b) => Math.max(a, b), 0));
    const picture = drawing(`Working set over time: at most ${bytes(most)} in ${count(interval)} accesses`, most, (value) => bytes(Math.round(value)));
    const outline = tops.flatMap((top, i) => [[i, top], [i + 1, top]]).map(([i, top]) => `${x(i / columns).toFixed(1)},${y(top / most).toFixed(1)}`);
    picture.append(svg("polygon", { class: "chart-a", points: [`${x(0)},${y(0)}`, ...outline, `${x(1)},${y(0)}`].join(" ") }));
    for (let i = 0; i <= 4; i++) picture.append(label(x(i / 4), HEIGHT - BOTTOM + 16, short((sizes.length * interval * i) / 4), i === 4 ? "end" : "middle"));
    return card(`Working set: what each ${count(interval)} accesses touch`, picture, []);
}

// ---- tables

type Cell = Node | string;

function table(title: string, heads: string[], words: number, rows: Cell[][], all: number): HTMLElement | null {
    if (rows.length === 0) return null;
    const kind = (i: number) => (i < heads.length - words ? "num" : null);
    return el("section", { class: "card" }, el("h2", {}, title), el("div", { class: "scroll" }, el("table", { class: "plain" }, el("caption", { class: "hidden" }, title),
        el("thead", {}, el("tr", {}, ...heads.map((head, i) => el("th", { scope: "col", class: kind(i) }, head)))),
        el("tbody", {}, ...rows.map((cells) => el("tr", {}, ...cells.map((cell, i) => el("td", { class: kind(i) }, cell))))))),
    all > rows.length ? el("p", { class: "dim" }, `${count(all - rows.length)} more`) : null);
}

const causes = (of: ReuseCauses | undefined): Cell[] => CAUSES.map((cause) => short(number(of?.[cause])));
const sum = (of: ReuseCauses | undefined): number => CAUSES.reduce((all, cause) => all + number(of?.[cause]), 0);

/** "copy at copy.c:12", with a link where the page has the function. */
function place({ names, link }: Context, at: ReusePlace | undefined): HTMLElement {
    const name = text(at?.function, 100), file = text(at?.file, 100).split("/").pop();
    const fn = name && typeof at?.function === "string" ? names.find(at.function) : -1;
    const where = file && number(at?.line) ? ` at ${file}:${number(at?.line)}` : "";
    const path = list(at?.path).map((frame) => text(frame, 60)).join(" < ");
    const shown = name || text(at?.address, 20) || "?";
    return el("span", { title: path ? clean(path, 1000) : undefined },
        fn >= 0 ? el("a", { class: "code", href: link({ function: names.key(fn) }) }, shown) : el("span", { class: "code" }, shown), el("span", { class: "dim" }, where));
}

function pairs(context: Context, title: string, of: ReusePair[] | undefined): HTMLElement | null {
    const all = list(of);
    const exact = all.some((pair) => pair.count !== undefined);
    const rows = all.slice(0, ROWS).map((pair): Cell[] => [
        ...(exact ? [short(number(pair.count)), short(number(pair.beyond_L1)), typeof pair.conflicts === "number" ? short(pair.conflicts) : "–", short(number(pair.beyond_LLC)), percent(number(pair.spatial) / (number(pair.count) || 1))] : [count(number(pair.samples)), short(number(pair.time))]),
        place(context, pair.use), place(context, pair.reuse),
    ]);
    return table(title, [...(exact ? ["Reuses", "Beyond L1", "L1 conflicts", "Beyond LLC", "Spatial"] : ["Samples", "Time distance"]), "Use", "Reuse"], 2, rows, all.length);
}

function tables(context: Context, reuse: ReuseData): (HTMLElement | null)[] {
    const caches = list(reuse.caches), codes = list(reuse.code), objects = list(reuse.objects);
    return [
        table(`Caches of ${text(reuse.core, 60) || "the machine"}`, ["Size", "Predicted", "Simulated", "Cold", "Capacity", "Conflict", "Coherence", "Level"], 1, caches.map((cache) => [
            bytes(number(cache.bytes)), percent(number(cache.predicted)), typeof cache.simulated === "number" ? percent(cache.simulated) : "–", ...causes(cache), text(cache.name, 20)]), caches.length),
        pairs(context, "Use and reuse", reuse.pairs),
        pairs(context, "Use and reuse between threads", reuse.shared?.pairs),
        table("L1 misses by code", ["Misses", "Cold", "Capacity", "Conflict", "Coherence", "Bytes used of a line", "Code"], 1, codes.slice(0, ROWS).map((code) => [
            short(sum(code.L1)), ...causes(code.L1), number(code.line_bytes_used).toFixed(1), place(context, code.at)]), codes.length),
        table("L1 misses by object", ["Misses", "Cold", "Capacity", "Conflict", "Coherence", "Bytes used of a line", "Median distance", "Object", "Hottest line"], 2, objects.slice(0, ROWS).map((object) => [
            short(number(object.misses)), ...causes(object), number(object.line_bytes_used).toFixed(1), count(number(object.distance)), text(object.name, 100) || "?", text(object.hottest?.name, 100)]), objects.length),
    ];
}

// ---- the tab

const METHODS: Record<string, string> = { exact: "every access", lines: "a sample of the lines", watchpoints: "samples and watchpoints" };

function accesses(reuse: ReuseData): string {
    const least = number(reuse.native?.accesses_least), most = number(reuse.native?.accesses_most);
    if (typeof reuse.accesses !== "number" && most > 0) return `between ${count(least)} and ${count(most)} accesses, too short a run to say how many`;
    return `${count(number(reuse.accesses))} accesses${most > least ? `, between ${count(least)} and ${count(most)} in all likelihood` : ""}`;
}

function facts(reuse: ReuseData): string {
    const touches = number(reuse.touches), shared = reuse.shared;
    const said = [accesses(reuse)];
    if (touches) said.push(`${percent(number(reuse.reuses) / touches)} reuses in threads`, `${percent(number(reuse.cold) / touches)} first touches`, `${count(number(reuse.invalidations))} invalidations`);
    if (shared && number(shared.reuses)) said.push(`${count(number(shared.reuses))} reuses of another thread's lines, ${percent(number(shared.false_sharing) / number(shared.reuses))} of them false sharing`);
    return said.join(", ");
}

function create(context: Context): View {
    const reuse = context.model.data.reuse!;
    const program = list(reuse.program).map((word) => text(word, 100)).join(" ");
    const method = typeof reuse.method === "string" && Object.prototype.hasOwnProperty.call(METHODS, reuse.method) ? METHODS[reuse.method] : "unknown";
    const advice = list(reuse.advice);
    const bars = (which: "histogram" | "time_histogram"): Bars[] => [
        { label: reuse.method === "watchpoints" ? "estimated from watchpoints" : "in threads", kind: "a", bins: list(reuse[which]) },
        { label: "between threads, in the shared cache", kind: "b", bins: list(reuse.shared?.[which]) },
    ];
    return {
        element: el("div", { class: "reuse" },
            el("p", { class: "origins" }, "A run of its own: ", el("span", { class: "code" }, clean(program, 300)), `, ${method}, granules of ${bytes(number(reuse.granularity))}; ${facts(reuse)}.`),
            advice.length ? el("section", { class: "card" }, el("h2", {}, "What could be done"), el("ul", {}, ...advice.map((one) => el("li", {}, `${text(one.kind, 60)} (${percent(number(one.share))}): ${text(one.text, 1000)}`)))) : null,
            histogram("Reuse distance: distinct granules in between", bars("histogram")),
            histogram("Time distance: accesses in between", bars("time_histogram")),
            curve(reuse), workingSet(reuse), ...tables(context, reuse)),
        show: () => undefined,
    };
}

export const reuseTab: Tab = {
    id: "reuse",
    title: "Reuse",
    available: (model) => typeof model.data.reuse === "object" && model.data.reuse !== null,
    create,
};
