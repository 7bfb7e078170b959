// The registry of tabs. To add one: write tab_NAME.ts with a `Tab`, and put it into the list below; README.md has more.

import { Bars } from "./bar";
import { Model } from "./model";
import { FunctionNames, Params } from "./route";
import { annotateTab } from "./tab_annotate";
import { branchesTab } from "./tab_branches";
import { dataTab } from "./tab_data";
import { diffTab } from "./tab_diff";
import { flameTab } from "./tab_flame";
import { functionsTab } from "./tab_functions";
import { machineTab } from "./tab_machine";
import { reuseTab } from "./tab_reuse";
import { runTab } from "./tab_run";
import { samplersTab } from "./tab_samplers";
import { summaryTab } from "./tab_summary";
import { trustTab } from "./tab_trust";
import { waitsTab } from "./tab_waits";

export interface Context {
    model: Model;
    bars: Bars;
    names: FunctionNames;
    /** Goes to a place; with `replace`, without a step in the history (typing in a search field). */
    go(params: Params, replace?: boolean): void;
    /** An address for a link's href. */
    link(params: Params): string;
    announce(text: string): void;
}

export interface View {
    element: HTMLElement;
    /** Called whenever the address names this tab, with the other parameters of the address. */
    show(params: URLSearchParams): void;
    /** Called before and after printing, for which lists write out all their rows. */
    print?(on: boolean): void;
}

export interface Tab {
    id: string;
    title: string;
    /** Whether the document has anything for it; without this, always. */
    available?(model: Model): boolean;
    create(context: Context): View;
}

export const tabs: Tab[] = [
    summaryTab,
    functionsTab,
    diffTab,
    flameTab,
    annotateTab,
    dataTab,
    branchesTab,
    waitsTab,
    reuseTab,
    samplersTab,
    trustTab,
    machineTab,
    runTab,
];
