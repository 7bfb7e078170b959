// An overview: the components of the time, where it is spent, and how far the numbers can be trusted.

import { Child, el } from "./dom";
import { clean, count, digits, percent, plusMinus, seconds, short } from "./format";
import { Range, TrustData } from "./contract";
import { groupStacks, Model, Part, UNKNOWN } from "./model";
import { Context, Tab, View } from "./tabs";
import { partWarnings, profileWarnings } from "./warnings";

const STATES: [string, string][] = [
    ["computing", "instructions commit"],
    ["stalled", "the oldest instruction is not finished"],
    ["drained", "the front end is late"],
    ["flushed", "the pipeline was flushed"],
];

export function programStack(model: Model): Part[] {
    const all = groupStacks(model.main.functions, () => 0, 1, model.components.length);
    return all.parts(0);
}

function unitName(model: Model): string {
    return { cycles: "Cycles", ns: "Nanoseconds", samples: "Samples" }[model.unit] ?? model.unit;
}

/** The main result in one sentence: the first function and what it waits for. */
function headline({ model, names, link }: Context): HTMLElement {
    const totals = model.main.functions.total;
    let top = 0;
    for (let fn = 1; fn < totals.length; fn++) if (totals[fn] > totals[top]) top = fn;
    const line = el("p", { class: "headline" });
    if (!(totals[top] > 0)) {
        line.append("No time was measured.");
        return line;
    }
    const parts = model.main.functions.parts(top).sort((a, b) => b.cycles - a.cycles);
    const { part, repeat } = model.data.summary;
    if (part) line.append(`${repeat ? "Of each run," : "In"} ${clean(part, 200)}: `);
    line.append(el("strong", {}, percent(totals[top] / model.total)), " of the time is spent in ",
        el("a", { href: link({ function: names.key(top) }), class: "code" }, model.name(top, 80)));
    // Work is not a finding if something else can be named.
    const named = parts.find((part) => part.component !== UNKNOWN && model.components[part.component].events.length > 0);
    const first = named && parts[0].cycles < totals[top] / 2 ? named : parts[0];
    if (first.component === UNKNOWN) line.append(".");
    else {
        const component = model.components[first.component];
        line.append(", ", el("strong", {}, percent(first.cycles / totals[top])), " of that ");
        if (component.events.length === 0) line.append("without any event: computing, or waiting for results and units.");
        else line.append("with ", el("strong", {}, component.name), component.meaning ? ` (${component.meaning}).` : ".");
    }
    return line;
}

const CLASS_RULE = "Compute-intensive: commits in more than half of the time; else flush-intensive: more than 3 % of the time flushed; else stall-intensive";

function fact(label: string, value: string, note?: string, title?: string): HTMLElement {
    return el("div", { class: "fact", title }, el("dt", {}, label), el("dd", {}, value, note && note !== value ? el("small", {}, note) : null));
}

/** Of a sampled run: half the 95 % interval of its cycles, as a part of them; 0 where every cycle was counted. */
function estimateError(model: Model): number {
    const error = model.data.summary.error_estimate;
    return model.main.functionErrors && model.main === model.named && typeof error === "number" ? error : 0;
}

function facts(model: Model): HTMLElement {
    const { summary } = model.data, error = estimateError(model), range = error > 0 ? ` ± ${percent(error)}` : "";
    // A clock counts neither cycles nor instructions; 0 therefore means that they are not known.
    const known = (value: number | null | undefined): value is number => typeof value === "number" && (value > 0 || summary.source === "model");
    const counted = (label: string, value: number | null | undefined) =>
        known(value) ? fact(label, short(value), count(value)) : fact(label, "–", "not measured");
    const list = el("dl", { class: "facts" });
    list.append(range && known(summary.cycles) ? fact("Cycles", `${short(summary.cycles)}${range}`, "estimated from regions") : counted("Cycles", summary.cycles), counted("Instructions", summary.instructions));
    if (known(summary.cycles) && known(summary.instructions) && summary.cycles > 0)
        list.append(fact("IPC", `${digits(summary.instructions / summary.cycles)}${range}`, "instructions per cycle"));
    // The elapsed time of several threads has an interval of its own.
    const late = range && typeof summary.seconds_error === "number" ? ` ± ${percent(summary.seconds_error)}` : "";
    const byClock = model.unit === "ns" && summary.source !== "model";
    if (known(summary.seconds)) list.append(fact("Time", `${seconds(summary.seconds)}${late}`, summary.source === "model" ? "on the modelled core" : byClock ? "elapsed" : undefined));
    // What the shares are of: a program that waits has less of it than of elapsed time.
    if (byClock && model.total > 0) list.append(fact("Processor time", seconds(model.total / 1e9), "of all threads"));
    if (known(summary.threads)) list.append(fact("Threads", count(summary.threads)));
    if (summary.class) list.append(fact("Class", `${clean(summary.class, 30)}-intensive`, "by the TIP paper's rule", CLASS_RULE));
    return list;
}

const HALF = "Half the 95 % interval of the share, in points: the run was measured in parts";

function stackCard({ model, bars }: Context): HTMLElement {
    const parts = programStack(model);
    const total = model.total;
    const known = parts.length > 0 && parts[0].component !== UNKNOWN;
    const sorted = [...parts].sort((a, b) => b.cycles - a.cycles);
    const errors = model.main.componentErrors;
    const rows = sorted.slice(0, 12).map((part) =>
        el("tr", {},
            el("th", { scope: "row" }, bars.swatch(part.component), model.componentName(part.component)),
            el("td", { class: "num" }, percent(part.cycles / total)),
            errors && el("td", { class: "num dim", title: HALF }, part.component === UNKNOWN ? "" : plusMinus(errors[part.component])),
            el("td", { class: "num" }, short(part.cycles)),
            el("td", { class: "dim" }, part.component === UNKNOWN ? "" : model.components[part.component].meaning)));
    const rest = sorted.length - rows.length;
    return card(known ? "Cycle stack of the program" : "Time of the program", "stack-card",
        bars.make(parts, total, { total, className: "hero", title: "The program", errors: errors ? (component) => (component === UNKNOWN ? undefined : errors[component]) : undefined }),
        known ? null : el("p", { class: "missing" }, "This source records no events: it shows how long, but not why. The model source, or a PMU with TEA's events, records them."),
        el("table", { class: "plain legend" },
            el("caption", { class: "hidden" }, "Components of the program's time"),
            el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "Component"), el("th", { scope: "col", class: "num" }, "Share"), errors && el("th", { scope: "col", class: "num", title: HALF }, "±"),
                el("th", { scope: "col", class: "num" }, unitName(model)), el("th", { scope: "col" }, "What it means"))),
            el("tbody", {}, ...rows)),
        rest > 0 ? el("p", { class: "dim" }, `and ${rest} smaller ones, together ${percent(sorted.slice(12).reduce((a, b) => a + b.cycles, 0) / total)}`) : null);
}

function card(title: string, className: string, ...children: Child[]): HTMLElement {
    return el("section", { class: `card ${className}` }, el("h2", {}, title), ...children);
}

function statesCard({ model, bars }: Context): HTMLElement {
    const { states, state_errors: errors } = model.data.summary;
    if (!states) return card("Commit states", "states-card", el("p", { class: "missing" }, "Not measured by this source."));
    const total = STATES.reduce((sum, [name]) => sum + (states[name] ?? 0), 0) || 1;
    const bar = el("div", { class: "bar hero", role: "img", "aria-label": STATES.map(([name]) => `${name} ${percent((states[name] ?? 0) / total)}`).join(", ") });
    for (const [name] of STATES) {
        const segment = el("span", { class: `seg state-${name}` });
        segment.style.width = `${((states[name] ?? 0) / total) * 100}%`;
        segment.style.background = bars.colours.state(name);
        bar.append(segment);
    }
    const rows = STATES.map(([name, meaning]) => {
        const swatch = el("span", { class: `swatch state-${name}`, "aria-hidden": "true" });
        swatch.style.background = bars.colours.state(name);
        return el("tr", {}, el("th", { scope: "row" }, swatch, name), el("td", { class: "num" }, percent((states[name] ?? 0) / total)),
            errors && el("td", { class: "num dim", title: HALF }, plusMinus(errors[name] ?? -1)), el("td", { class: "dim" }, meaning));
    });
    return card("What the commit stage does", "states-card", bar,
        el("table", { class: "plain legend" }, el("caption", { class: "hidden" }, "Commit states"), el("tbody", {}, ...rows)));
}

/** Where the error comes from, by level. */
function expectedError(trust: TrustData, line: (name: string, value: Child) => void): void {
    const range = ({ low, high }: Range) => (low === high ? percent(low) : `${percent(low)} to ${percent(high)}`);
    const rows = trust.levels.map(({ by, chance, bias, expected }) => el("tr", {}, el("th", { scope: "row" }, `by ${clean(by, 20)}`),
        el("td", { class: "num" }, percent(expected.median)), el("td", { class: "num" }, typeof chance === "number" ? percent(chance) : "–"), el("td", { class: "num" }, range(bias))));
    line("Expected", el("table", { class: "plain" }, el("caption", { class: "hidden" }, "Error to expect by level"),
        el("thead", {}, el("tr", {}, ...["", "Error", "By chance", "By bias"].map((head, i) => el("th", { scope: "col", class: i ? "num" : null }, head)))),
        el("tbody", {}, ...rows)));
    line("Bias", `${clean(trust.about, 200)}; ${clean(trust.from, 200)}`);
}

/** If no function is known, rows by function are modules (as in src/view/summary.h). */
const functionWord = (unnamed?: number | null): string => (unnamed && unnamed >= 0.995 ? "module" : "function");
function unnamedWords(unnamed?: number | null): string {
    if (!unnamed || unnamed < 0.05) return "";
    return unnamed >= 0.995 ? ". No function is known, so there is no error by function" : `. ${Math.round(100 * unnamed)} % of the time is in code of which no function is known: it counts by module`;
}

/** Names of code that replaced other code are guesses (as in src/report/summary_text.c). */
function guessedWords(guessed?: number | null): string {
    if (!guessed) return "";
    return `. ${Math.round(100 * guessed)} % of the names of functions are guesses${guessed >= 0.5 ? ", so there is no error by function" : ": by function the error is larger"}`;
}

/** The error at each level, as the text report has it: expected ones above a half say no more than that. */
function errorLevels(by: Record<string, number | null>, expected: boolean, rows: string): string {
    let text = "", before = "";
    for (const level of ["function", "line", "block", "instruction"]) {
        const error = by[level];
        if (typeof error !== "number") continue;
        const value = expected && error > 0.5 ? "more than 50 %" : percent(error);
        const word = level === "function" ? rows : level;
        text += value === before ? ` and ${word}` : `${text ? ", " : ""}${value} by ${word}`;
        before = value;
    }
    return text;
}

/** Every line is shown, whether or not it could be measured. */
function qualityCard({ model }: Context): HTMLElement {
    const { summary } = model.data;
    // The document's summary describes its default series; the other series describe themselves.
    const own = model.main === model.named ? summary : { ...model.main.data, error_estimate: model.main.data.error?.instruction, error_how: model.main.data.error ? "by instruction, against the golden reference of this run" : null };
    const list = el("dl", { class: "quality" });
    const line = (name: string, value: Child, level = "") => list.append(el("dt", {}, name), el("dd", { class: level }, value));
    const worry = (value: number | null | undefined) => (typeof value !== "number" ? "unknown" : value > 0 ? "warn" : "good");
    line("Source", [clean(summary.source, 40), summary.core ? `core ${clean(summary.core, 60)}` : ""].filter(Boolean).join(", "));
    line("Sampler", model.main.exact ? `${model.main.label}: every cycle counted` : model.main.label);
    if (model.main.exact) line("Samples", "none: it covers every cycle");
    else {
        line(estimateError(model) ? "Regions" : "Samples", [count(own.samples), own.period ? `one every ${clean(own.period, 60)}` : ""].filter(Boolean).join(", "));
        line("Lost", count(own.lost), worry(own.lost));
        line("Throttled", count(own.throttled), worry(own.throttled));
    }
    // As in the text: what most people read are functions.
    const byFunction = model.main === model.named && !model.main.exact && typeof own.error_estimate === "number" ? summary.error_by?.function : undefined;
    const error = byFunction ?? own.error_estimate;
    const part = partWarnings(model).length > 0;
    const guesses = model.main === model.named && (summary.guessed ?? 0) >= 0.5;
    const levels = (typeof byFunction === "number" || guesses) && summary.error_by ? errorLevels(summary.error_by, guesses || typeof summary.runs_apart === "number", functionWord(summary.unnamed)) : "";
    const apart = typeof summary.runs_apart === "number" && model.main === model.named ? `. Two such runs would differ by ${summary.runs_apart > 0.5 ? "more than 50 %" : `about ${percent(summary.runs_apart)}`} by ${functionWord(summary.unnamed)}${unnamedWords(summary.unnamed)}` : "";
    line("Error", typeof error === "number" ? `${levels || percent(error)}${own.error_how ? ` – ${clean(own.error_how, 200)}` : ""}${part ? ", as far as it was recorded" : ""}${apart}${model.main === model.named ? guessedWords(summary.guessed) : ""}` : clean(own.error_how || "not known", 200),
        typeof error !== "number" ? "unknown" : error <= 0.05 && !part ? "good" : error <= 0.2 ? "warn" : "bad");
    if (typeof error === "number" && model.main === model.named && summary.trust) expectedError(summary.trust, line);
    if (summary.repeat)
        line("Repeated", `${count(summary.repeat.runs)} runs, mean ${short(summary.repeat.mean)}, spread ${percent(summary.repeat.spread / (summary.repeat.mean || 1))}`);
    const missing = (summary.unmeasured ?? []).map((text) => el("li", {}, clean(text, 400)));
    return card("How far to trust this", "quality-card", profileWarnings(model), list,
        missing.length ? el("h3", {}, "Could not be measured") : null, missing.length ? el("ul", { class: "missing" }, ...missing) : null);
}

function topCard({ model, bars, names, link }: Context): HTMLElement {
    const totals = model.main.functions.total;
    const order = Array.from(totals.keys()).filter((fn) => totals[fn] > 0).sort((a, b) => totals[b] - totals[a]).slice(0, 8);
    const full = totals[order[0]] || 1;
    const errors = model.main.functionErrors;
    const rows = order.map((fn) =>
        el("tr", {},
            el("td", { class: "num" }, percent(totals[fn] / model.total)),
            errors && el("td", { class: "num dim", title: "Half the 95 % interval of the share, in points" }, plusMinus(errors[fn])),
            el("th", { scope: "row", class: "code" }, el("a", { href: link({ function: names.key(fn) }) }, model.name(fn, 60))),
            el("td", { class: "wide" }, bars.make(model.main.functions.parts(fn), full, { total: totals[fn], title: model.name(fn, 80), errors: bars.errorsOf(fn) }))));
    return card("Where the time goes", "top-card",
        el("table", { class: "plain top" }, el("caption", { class: "hidden" }, "The first functions by time"), el("tbody", {}, ...rows)),
        el("p", {}, el("a", { href: link({ tab: "functions" }) }, `All ${count(model.listed.length)} functions`)));
}

export const summaryTab: Tab = {
    id: "summary",
    title: "Summary",
    create(context: Context): View {
        const notes = (context.model.data.summary.notes ?? []).map((note) => el("li", {}, clean(note, 600)));
        const element = el("div", { class: "summary" },
            headline(context), facts(context.model),
            el("div", { class: "cards" }, el("div", {}, topCard(context), stackCard(context)), el("div", {}, qualityCard(context), statesCard(context))),
            notes.length ? el("section", { class: "card" }, el("h2", {}, "Notes"), el("ul", {}, ...notes)) : null);
        return { element, show: () => undefined };
    },
};
