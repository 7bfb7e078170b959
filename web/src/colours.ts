// One colour for each event, one hue for each commit state: grey is work, blue is waiting for data, yellow the front
// end, red a flush. Combinations are stripes of their events' colours, so that colour is never the only sign.
// The colours themselves are custom properties in page.css (light and dark), chosen so that any two of them are apart for
// every kind of colour vision; a test computes that.

import { Model, UNKNOWN } from "./model";

const KNOWN: Record<string, string> = {
    "ST-L1": "st-0", "ST-LLC": "st-1", "ST-TLB": "st-2",
    "DR-L1": "dr-0", "DR-TLB": "dr-1", "DR-SQ": "dr-2",
    "FL-MB": "fl-0", "FL-EX": "fl-1", "FL-MO": "fl-2",
};
const FAMILY: Record<string, string> = { stalled: "st", drained: "dr", flushed: "fl" };
const SLOTS = 4;

export class Colours {
    private readonly slots: string[];

    constructor(private readonly model: Model) {
        const used: Record<string, number> = { st: 3, dr: 3, fl: 3, ot: 0 };
        this.slots = (model.data.events ?? []).map((event) => {
            const family = FAMILY[event.state ?? ""] ?? { ST: "st", DR: "dr", FL: "fl" }[event.name.slice(0, 2)] ?? "ot";
            return KNOWN[event.name] ?? `${family}-${used[family]++ % SLOTS}`;
        });
    }

    /** A CSS background. */
    of(component: number): string {
        if (component === UNKNOWN) return "var(--c-plain)";
        const events = this.model.components[component].events;
        if (events.length === 0) return "var(--c-base)";
        const colours = events.map((event) => `var(--c-${this.slots[event]})`);
        if (colours.length === 1) return colours[0];
        const stops = colours.map((colour, i) => `${colour} ${i * 4}px ${i * 4 + 4}px`);
        return `repeating-linear-gradient(135deg, ${stops.join(", ")})`;
    }

    state(name: string): string {
        return { computing: "var(--c-computing)", stalled: "var(--c-st-0)", drained: "var(--c-dr-0)", flushed: "var(--c-fl-0)" }[name] ?? "var(--c-plain)";
    }
}
