// The state of the page is in its address after "#", so that links, reload and the back button work:
//   #tab=functions&q=sort   #function=main   #function=main&insn=0x401136
// A function is given by its name if that is short and unique, otherwise by its number.

import { Model } from "./model";

export type Params = Record<string, string | undefined>;

export function readRoute(): URLSearchParams {
    const params = new URLSearchParams(location.hash.slice(1));
    if (!params.has("tab")) params.set("tab", params.has("function") ? "annotate" : "summary");
    return params;
}

export function routeText(params: Params): string {
    const out = new URLSearchParams();
    for (const [name, value] of Object.entries(params)) if (value !== undefined && value !== "") out.set(name, value);
    if (out.get("tab") === "annotate" && out.has("function")) out.delete("tab");
    return "#" + out.toString();
}

export class FunctionNames {
    private readonly byName = new Map<string, number>();

    constructor(private readonly model: Model) {
        for (let fn = 0; fn < model.functionCount; fn++) {
            const name = model.string(model.data.functions.name[fn]);
            this.byName.set(name, this.byName.has(name) ? -1 : fn);
        }
    }

    key(fn: number): string {
        const name = this.model.string(this.model.data.functions.name[fn]);
        return name.length > 0 && name.length <= 100 && !/^\d+$/.test(name) && this.byName.get(name) === fn ? name : String(fn);
    }

    find(key: string | null): number {
        if (key === null) return -1;
        if (/^\d{1,9}$/.test(key) && Number(key) < this.model.functionCount) return Number(key);
        return this.byName.get(key) ?? -1;
    }

    /** Several functions have this name: their numbers tell them apart. */
    isShared(key: string): boolean {
        return this.byName.get(key) === -1;
    }
}
