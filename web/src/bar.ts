// Stacked bars: a cycle stack as a row of segments, with a sentence for screen readers.

import { Colours } from "./colours";
import { button, el } from "./dom";
import { percent, plusMinus, short } from "./format";
import { Model, Part } from "./model";
import { tip } from "./tooltip";

export interface BarOptions {
    total?: number; // 100 % of the percentages; without it, the bar's own time
    title?: string;
    className?: string;
    errors?: (component: number) => number | undefined; // half the 95 % intervals of the shares of the program's time; undefined: not known
    only?: number; // the one component to show; the others go pale
}

export class Bars {
    constructor(
        readonly model: Model,
        readonly colours: Colours,
    ) {}

    /** A bar whose full width stands for `full`. */
    make(parts: Part[], full: number, options: BarOptions = {}): HTMLElement {
        const sum = parts.reduce((all, part) => all + part.cycles, 0);
        const total = options.total ?? sum;
        const bar = el("div", { class: `bar ${options.className ?? ""}`, role: "img", "aria-label": this.sentence(parts, total) });
        for (const part of parts) {
            const width = (part.cycles / full) * 100;
            if (!(width > 0.05)) continue;
            const faint = options.only !== undefined && options.only >= 0 && part.component !== options.only;
            const segment = el("span", { class: faint ? "seg faint" : "seg" });
            segment.style.width = `${width}%`;
            segment.style.background = this.colours.of(part.component);
            bar.append(segment);
        }
        tip(bar, () => this.table(parts, total, options.title, options.errors));
        return bar;
    }

    /** "ST-L1 40.2 %, Base 10 %", the largest first. */
    sentence(parts: Part[], total: number, limit = 6): string {
        const sorted = [...parts].sort((a, b) => b.cycles - a.cycles).filter((part) => part.cycles > 0);
        if (sorted.length === 0) return "no time";
        const said = sorted.slice(0, limit).map((part) => `${this.model.componentName(part.component)} ${percent(part.cycles / total)}`);
        return said.join(", ") + (sorted.length > limit ? ` and ${sorted.length - limit} smaller` : "");
    }

    /** The program's largest components, as buttons where one may be chosen. */
    legend(choose?: (component: number) => void): HTMLElement {
        const sums = new Map<number, number>();
        const { component, cycles } = this.model.main.functions;
        component.forEach((one, i) => sums.set(one, (sums.get(one) ?? 0) + cycles[i]));
        const largest = [...sums].sort((a, b) => b[1] - a[1]).slice(0, 9).map(([one]) => one);
        if (!this.model.main.functions.known) return el("div", { class: "legend-line" });
        return el("div", { class: "legend-line", role: "group", "aria-label": choose ? "Show one component" : "Legend" },
            ...largest.map((one) => {
                const name = this.model.componentName(one);
                const title = this.model.components[one].meaning;
                if (!choose) return el("span", { class: "legend-item", title }, this.swatch(one), name);
                const item = button("", () => choose(one), { class: "legend-item", title, "aria-pressed": "false", "data-component": one });
                item.append(this.swatch(one), name);
                return item;
            }));
    }

    swatch(component: number): HTMLElement {
        const swatch = el("span", { class: "swatch", "aria-hidden": "true" });
        swatch.style.background = this.colours.of(component);
        return swatch;
    }

    /** The error bars of a function's components. */
    errorsOf(fn: number): BarOptions["errors"] {
        const { partErrors } = this.model.main;
        return partErrors ? (component) => partErrors.get(fn * this.model.components.length + component) : undefined;
    }

    table(parts: Part[], total: number, title?: string, errors?: BarOptions["errors"]): HTMLElement {
        const sorted = [...parts].sort((a, b) => b.cycles - a.cycles).slice(0, 12);
        const sum = parts.reduce((all, part) => all + part.cycles, 0);
        // Shares of a function's time have their error bars as parts of it, too.
        const error = (part: Part) => {
            const own = errors?.(part.component);
            return own === undefined || own < 0 ? null : el("td", { class: "num dim" }, plusMinus((own * this.model.total) / total));
        };
        const rows = sorted.map((part) =>
            el("tr", {},
                el("td", {}, this.swatch(part.component), this.model.componentName(part.component)),
                el("td", { class: "num" }, short(part.cycles)),
                el("td", { class: "num" }, percent(part.cycles / total)), error(part)));
        const more = parts.length > 12 ? el("tr", {}, el("td", {}, `and ${parts.length - 12} smaller ones`)) : null;
        const all = el("tr", { class: "sum" }, el("td", {}, this.model.unit),
            el("td", { class: "num" }, short(sum)), el("td", { class: "num" }, percent(sum / total)));
        return el("div", {}, title ? el("div", { class: "tip-title" }, title) : null, el("table", {}, ...rows, more, all));
    }
}
