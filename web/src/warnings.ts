// Warnings about the numbers: that the profile does not cover the whole run, or that files have changed since it was recorded.
// The reports in a terminal begin with the same warnings.

import { el } from "./dom";
import { clean, count } from "./format";
import { Model } from "./model";

export interface Warning {
    title: string;
    text: string;
}

const FILES = 3;

/** Why the profile does not cover the whole run; empty: it does, as far as is known. */
export function partWarnings({ data: { summary } }: Model): Warning[] {
    const list: Warning[] = [];
    if (summary.partial) list.push({ title: "Partial", text: clean(summary.partial, 300) });
    const part = [summary.part, summary.region && summary.part ? `(${summary.region})` : summary.region].filter(Boolean).join(" ");
    if (part) list.push({ title: "Only a part of the run", text: clean(part, 400) });
    return list;
}

function fileWarning(model: Model, module: number): Warning | null {
    const { name, note } = model.data.modules?.[module] ?? {};
    return name !== undefined && note ? { title: clean(name, 80), text: `${clean(note, 200)}; the page shows what was recorded` } : null;
}

/** Files that are gone or have changed, those with the most time first. */
function fileWarnings(model: Model): Warning[] {
    const time = new Float64Array(model.data.modules?.length ?? 0);
    model.main.functions.total.forEach((cycles, fn) => (time[model.data.functions.module?.[fn] ?? -1] += cycles));
    const order = Array.from(time.keys()).sort((a, b) => time[b] - time[a] || a - b);
    const all = order.flatMap((module) => fileWarning(model, module) ?? []);
    const more = all.length - FILES;
    return more > 0 ? [...all.slice(0, FILES), { title: more === 1 ? "1 more file" : `${count(more)} more files`, text: "the Run tab names them" }] : all;
}

/** A list of warnings with a sign, or null if there are none. */
function listOf(warnings: Warning[]): HTMLElement | null {
    if (warnings.length === 0) return null;
    return el("ul", { class: "warnings", "aria-label": "Warnings" }, ...warnings.map(({ title, text }) =>
        el("li", {}, el("span", { class: "sign", "aria-hidden": "true" }, "⚠"), el("span", {}, el("strong", {}, title), `: ${text}`))));
}

export function profileWarnings(model: Model): HTMLElement | null {
    return listOf([...partWarnings(model), ...fileWarnings(model)]);
}

/** The warning about call chains without callers, which make flame graphs flat. */
export function chainWarnings({ data: { summary } }: Model): HTMLElement | null {
    return listOf(summary.chains ? [{ title: "Callers are missing", text: clean(summary.chains, 400) }] : []);
}

/** The warning about a function's file. */
export function functionWarnings(model: Model, fn: number): HTMLElement | null {
    const warning = fileWarning(model, model.data.functions.module?.[fn] ?? -1);
    return listOf(warning ? [warning] : []);
}
