// Starts the page: loads the document, creates the tabs, and follows the address.

import { Bars } from "./bar";
import { Colours } from "./colours";
import { button, el, replace } from "./dom";
import { clean } from "./format";
import { loadDocument } from "./load";
import { Model } from "./model";
import { FunctionNames, Params, readRoute, routeText } from "./route";
import { Context, Tab, tabs, View } from "./tabs";
import { installTips } from "./tooltip";

class Page {
    private readonly views = new Map<string, View>();
    private readonly buttons = new Map<string, HTMLElement>();
    private readonly panels = new Map<string, HTMLElement>();
    private readonly live = el("div", { class: "hidden", role: "status", "aria-live": "polite" });
    private readonly tabs: Tab[];
    private readonly context: Context;
    private readonly help = button("?", () => showHelp(), { class: "help", "aria-label": "Keys", title: "Keys ( ? )" });
    private readonly series: HTMLSelectElement | null;
    private current = "";
    private entering = false; // the next tab gets the focus: it was asked for by its key

    constructor(model: Model) {
        this.tabs = tabs.filter((tab) => tab.available?.(model) ?? true);
        this.context = {
            model, bars: new Bars(model, new Colours(model)), names: new FunctionNames(model),
            go: (params, swap) => this.go(params, swap === true),
            link: (params) => routeText(this.withSeries(params)),
            announce: (text) => (this.live.textContent = text),
        };
        this.series = seriesChoice(model, (name) => this.chooseSeries(name));
        const { summary } = model.data;
        document.title = `${clean(summary.program, 60)} – Assay`;
        replace(document.body, this.header(clean(summary.program, 80)), this.main(), this.live);
        window.addEventListener("hashchange", () => this.follow());
        window.addEventListener("beforeprint", () => this.views.get(this.current)?.print?.(true));
        window.addEventListener("afterprint", () => this.views.get(this.current)?.print?.(false));
        document.addEventListener("keydown", (event) => this.onKey(event));
        this.follow();
    }

    private header(program: string): HTMLElement {
        const list = el("div", { class: "tabs", role: "tablist", "aria-label": "Views" });
        for (const tab of this.tabs) {
            const one = button(tab.title, () => this.go({ tab: tab.id }, false), { role: "tab", id: `tab-${tab.id}`, "aria-controls": `panel-${tab.id}`, "aria-selected": "false", tabindex: -1 });
            this.buttons.set(tab.id, one);
            list.append(one);
        }
        list.addEventListener("keydown", (event) => this.onTabKey(event));
        return el("header", {}, el("div", { class: "brand" }, el("span", { class: "logo", "aria-hidden": "true" }), el("h1", {}, el("span", { class: "code" }, program), el("small", {}, "Assay"))), list, el("div", { class: "tools" }, this.series, themeButton(), this.help));
    }

    private main(): HTMLElement {
        const main = el("main");
        for (const tab of this.tabs) {
            const panel = el("div", { class: `panel panel-${tab.id}`, role: "tabpanel", id: `panel-${tab.id}`, "aria-labelledby": `tab-${tab.id}`, tabindex: -1, hidden: true });
            this.panels.set(tab.id, panel);
            main.append(panel);
        }
        return main;
    }

    /** Adds the current series to a place, unless it is the document's default. */
    private withSeries(params: Params): Params {
        const { model } = this.context;
        return model.main === model.named ? params : { ...params, series: model.main.name };
    }

    private chooseSeries(name: string): void {
        const params = Object.fromEntries(readRoute());
        delete params.series;
        if (!new URLSearchParams(location.hash.slice(1)).has("tab")) delete params.tab;
        location.hash = routeText(name === this.context.model.named.name ? params : { ...params, series: name });
    }

    /** The views show one series, so another one recreates them. */
    private showSeries(name: string | null): void {
        const { model } = this.context;
        const wanted = model.series.find((one) => one.name === name) ?? model.named;
        if (this.series) this.series.value = wanted.name;
        if (wanted === model.main) return;
        model.choose(wanted.name);
        this.views.clear();
        for (const panel of this.panels.values()) panel.textContent = "";
        this.context.announce(`Showing ${wanted.label}`);
    }

    private go(params: Params, swap: boolean): void {
        const text = routeText(this.withSeries(params));
        if (text === location.hash) return;
        if (swap) {
            history.replaceState(null, "", text);
            this.follow();
        } else location.hash = text;
    }

    private follow(): void {
        const params = readRoute();
        const tab = this.tabs.find((one) => one.id === params.get("tab")) ?? this.tabs[0];
        // Before a panel is hidden, because hiding removes the focus from its contents.
        const along = tab.id !== this.current && document.activeElement?.closest("[role=tabpanel]");
        this.current = tab.id;
        this.showSeries(params.get("series"));
        for (const [id, panel] of this.panels) panel.hidden = id !== tab.id;
        for (const [id, one] of this.buttons) {
            one.setAttribute("aria-selected", String(id === tab.id));
            one.tabIndex = id === tab.id ? 0 : -1;
        }
        let view = this.views.get(tab.id);
        if (!view) {
            view = tab.create(this.context);
            this.views.set(tab.id, view);
            this.panels.get(tab.id)!.append(view.element);
        }
        view.show(params);
        if (along || this.entering) this.enter();
    }

    /** Puts the focus where the arrow keys do something. */
    private enter(): void {
        const panel = this.panels.get(this.current)!;
        this.entering = false;
        (panel.querySelector<HTMLElement>("[role=grid], [role=tree]") ?? panel).focus();
    }

    private goByKey(id: string): void {
        this.entering = id !== this.current;
        if (this.entering) this.go({ tab: id }, false);
        else this.enter();
    }

    private onTabKey(event: KeyboardEvent): void {
        const ids = this.tabs.map((tab) => tab.id);
        const at = ids.indexOf(this.current);
        const to: Record<string, number> = { ArrowRight: (at + 1) % ids.length, ArrowLeft: (at + ids.length - 1) % ids.length, Home: 0, End: ids.length - 1 };
        if (!(event.key in to)) return;
        const id = ids[to[event.key]];
        this.buttons.get(id)!.focus();
        this.go({ tab: id }, false);
        event.preventDefault();
    }

    private onKey(event: KeyboardEvent): void {
        const typing = event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement;
        if (event.ctrlKey || event.altKey || event.metaKey) return;
        if (event.key === "/" && !typing) {
            let field = this.panels.get(this.current)!.querySelector<HTMLElement>("input[type=search]");
            if (!field) {
                this.go({ tab: "functions" }, false);
                this.follow();
                field = this.panels.get(this.current)!.querySelector<HTMLElement>("input[type=search]");
            }
            field?.focus();
            event.preventDefault();
        } else if (event.key === "?" && !typing) showHelp();
        else if (/^[0-9]$/.test(event.key) && !typing && this.tabs[(Number(event.key) + 9) % 10]) this.goByKey(this.tabs[(Number(event.key) + 9) % 10].id);
    }
}

const KEYS: [string[], string][] = [
    [["1", "…", "9", "0"], "the tabs, from left to right"],
    [["/"], "search"],
    [["↑", "↓", "Page ↑", "Page ↓", "Home", "End"], "rows; frames of the flame graph, with ← and →"],
    [["Enter"], "open a function's instructions; follow a jump or call; zoom to a frame"],
    [["n", "p"], "the next or previous hot instruction"],
    [["Esc"], "back: from a search, a frame or the instructions"],
    [["?"], "this list"],
];

function showHelp(): void {
    const rows = KEYS.map(([keys, what]) => el("tr", {}, el("th", { scope: "row" }, ...keys.flatMap((key) => [el("kbd", {}, key), " "])), el("td", {}, what)));
    const close = button("Close", () => dialog.close());
    const dialog = el("dialog", { "aria-label": "Keys" }, el("h2", {}, "Keys"),
        el("table", { class: "plain" }, el("caption", { class: "hidden" }, "Keys"), el("tbody", {}, ...rows)), el("p", {}, close));
    dialog.addEventListener("close", () => dialog.remove());
    document.body.append(dialog);
    dialog.showModal();
}

/** The choice of the series that all tabs show; null if there is only one. */
function seriesChoice(model: Model, choose: (name: string) => void): HTMLSelectElement | null {
    if (model.series.length < 2) return null;
    const choice = el("select", { class: "series", "aria-label": "Series shown", title: "Which measurement of the run is shown" },
        ...model.series.map((one) => el("option", { value: one.name }, one.exact ? `${one.label} (exact)` : one.label)));
    choice.value = model.main.name;
    choice.addEventListener("change", () => choose(choice.value));
    return choice;
}

/** Light, dark, or as set in the system. The choice is stored if the browser allows storage for files. */
function themeButton(): HTMLElement {
    const stored = (value?: string): string => {
        try {
            if (value !== undefined) localStorage.setItem("assay-theme", value);
            return localStorage.getItem("assay-theme") ?? "";
        } catch {
            return value ?? "";
        }
    };
    const names: Record<string, string> = { "": "Auto", light: "Light", dark: "Dark" };
    let theme = stored() in names ? stored() : "";
    const apply = () => {
        if (theme) document.documentElement.dataset.theme = theme;
        else delete document.documentElement.dataset.theme;
        one.textContent = names[theme];
        one.setAttribute("aria-label", `Colours: ${names[theme]}`);
    };
    const one = button("", () => {
        const order = Object.keys(names);
        theme = order[(order.indexOf(theme) + 1) % order.length];
        stored(theme);
        apply();
    }, { class: "theme", title: "Light, dark, or the system's setting" });
    apply();
    return one;
}

async function start(): Promise<void> {
    performance.mark("assay-start");
    try {
        installTips();
        new Page(new Model(await loadDocument()));
        performance.mark("assay-ready"); // what the tests measure
        document.documentElement.dataset.ready = "yes";
    } catch (error) {
        replace(document.body, el("main", { class: "failed", role: "alert" }, el("h1", {}, "This page cannot be shown"),
            el("p", {}, clean(error instanceof Error ? error.message : String(error), 300))));
        document.documentElement.dataset.ready = "failed";
    }
}

void start();
