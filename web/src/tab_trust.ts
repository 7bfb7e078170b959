// How far the samples can be trusted, as pictures: what error to expect by function, block and instruction, what chance and what
// the way of sampling make of it; or the errors themselves, where they were measured in the same run.

import { Range, SummaryData, TrustData } from "./contract";
import { el } from "./dom";
import { clean, percent } from "./format";
import { Model } from "./model";
import { Context, Tab, View } from "./tabs";

const LEVELS = ["function", "block", "instruction"];
const ENOUGH = 0.1; // the error up to which a level is believed, as `assay trust` has it

interface Span {
    label: string;
    kind: string;
    low: number;
    median: number;
    high: number;
}
interface Level {
    by: string;
    error: number;
    spans: Span[];
}

function fromTrust(trust: TrustData): Level[] {
    const span = (label: string, kind: string, { low, median, high }: Range): Span => ({ label, kind, low, median, high });
    return trust.levels.map(({ by, chance, bias, expected }) => ({
        by, error: expected.median,
        spans: [
            span("to expect", "expected", expected),
            ...(typeof chance === "number" ? [span("by chance", "chance", { low: 0, median: chance, high: chance })] : []),
            span("by bias", "bias", bias),
        ],
    }));
}

/** Errors that the run itself has, of which nothing is a range. */
function fromErrors(summary: SummaryData): Level[] {
    return LEVELS.flatMap((by) => {
        const error = summary.error_by?.[by];
        return typeof error === "number" ? [{ by, error, spans: [{ label: "measured", kind: "expected", low: 0, median: error, high: error }] }] : [];
    });
}

export function trustLevels(model: Model): Level[] {
    const { summary } = model.data;
    if (model.main !== model.named || model.main.exact || typeof summary.error_estimate !== "number") return [];
    return summary.trust ? fromTrust(summary.trust) : fromErrors(summary);
}

/** "down to the block": the finest level whose error is small enough. */
function verdict(levels: Level[]): string {
    const order = [...levels].sort((a, b) => LEVELS.indexOf(a.by) - LEVELS.indexOf(b.by));
    const bad = order.findIndex(({ error }) => error > ENOUGH);
    const good = bad < 0 ? order : order.slice(0, bad), next = bad < 0 ? null : order[bad];
    if (!good.length) return `Even by ${clean(order[0].by, 20)}, expect an error of ${percent(order[0].error)}.`;
    if (!next) return `Believe it down to the ${clean(good[good.length - 1].by, 20)}.`;
    return `Believe it by ${clean(good[good.length - 1].by, 20)}; by ${clean(next.by, 20)} expect an error of ${percent(next.error)}.`;
}

function drawSpan({ label, kind, low, median, high }: Span, full: number): HTMLElement {
    const track = el("span", { class: "trust-track" });
    const range = el("span", { class: `trust-range ${kind}` });
    range.style.left = `${(low / full) * 100}%`;
    range.style.width = `${Math.max(0.3, ((high - low) / full) * 100)}%`;
    const mark = el("span", { class: "trust-mark" });
    mark.style.left = `${(median / full) * 100}%`;
    track.append(range, mark);
    const text = low === high || low === 0 && median === high ? percent(median) : `${percent(median)} (${percent(low)} to ${percent(high)})`;
    return el("div", { class: "trust-row" }, el("span", { class: "trust-label" }, label), track, el("span", { class: "num" }, text));
}

function drawLevel(level: Level, full: number): HTMLElement {
    return el("section", { class: "card", "data-level": level.by }, el("h2", {}, `By ${clean(level.by, 20)}`),
        el("div", { class: "trust-picture", role: "img", "aria-label": level.spans.map(({ label, median }) => `${label} ${percent(median)}`).join(", ") },
            ...level.spans.map((span) => drawSpan(span, full))));
}

export const trustTab: Tab = {
    id: "trust",
    title: "Trust",
    available: (model) => trustLevels(model).length > 0,
    create({ model }: Context): View {
        const levels = trustLevels(model), { summary } = model.data;
        const full = Math.max(0.05, ...levels.flatMap(({ spans }) => spans.map(({ high }) => high)));
        const how = summary.trust ? [summary.trust.about, summary.trust.from] : [summary.error_how ?? ""];
        return {
            element: el("div", { class: "trust" }, el("p", { class: "trust-verdict" }, levels.length ? verdict(levels) : "Not known."),
                el("p", { class: "dim" }, how.map((text) => clean(text, 300)).filter(Boolean).join("; ")),
                ...levels.map((level) => drawLevel(level, full)),
                el("p", { class: "dim" }, "A bar is a range over programs, the mark its median. “assay trust PMU” qualifies a sampler; “assay trust --again” measures the bias on this program.")),
            show() {},
        };
    },
};
