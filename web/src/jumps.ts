// Arrows for the jumps inside a function, beside its instructions. Short jumps get the inner lanes; jumps without a free
// lane share the outermost. Only jumps that cross the visible rows are drawn.

import { svg } from "./dom";
import { Model } from "./model";

const LANES = 7;
const LANE = 9;

interface Jump {
    from: number;
    to: number;
    low: number;
    high: number;
    lane: number;
}

export class Jumps {
    readonly all: Jump[] = [];
    readonly width: number; // of the column that they need
    private drawn: SVGElement | null = null;

    constructor(model: Model, fn: number) {
        const [first, last] = [model.first[fn], model.first[fn + 1]];
        for (let row = first; row < last; row++) {
            const step = model.data.instructions.jump?.[row] ?? 0;
            const to = row + step;
            if (step !== 0 && to >= first && to < last) this.all.push({ from: row - first, to: to - first, low: Math.min(row, to) - first, high: Math.max(row, to) - first, lane: 0 });
        }
        this.all.sort((a, b) => a.high - a.low - (b.high - b.low) || a.low - b.low);
        this.assignLanes(last - first);
        this.width = 14 + LANE * this.all.reduce((most, jump) => Math.max(most, jump.lane + 1), 1);
    }

    private assignLanes(rows: number): void {
        const taken = Array.from({ length: LANES }, () => new Uint8Array(rows));
        for (const jump of this.all) {
            // Finding a lane for a long jump in a large function costs too much.
            const free = (lane: number) => jump.high - jump.low < 5000 && taken[lane].subarray(jump.low, jump.high + 1).every((used) => used === 0);
            let lane = 0;
            while (lane < LANES - 1 && !free(lane)) lane++;
            jump.lane = lane;
            taken[lane].fill(1, jump.low, jump.high + 1);
        }
    }

    draw(space: HTMLElement, first: number, last: number, rowHeight: number, selected: number): void {
        this.drawn?.remove();
        const visible = this.all.filter((jump) => jump.high >= first && jump.low < last).slice(0, 300);
        if (visible.length === 0) return;
        const [top, width] = [first * rowHeight, this.width];
        const height = (last - first) * rowHeight;
        const picture = svg("svg", { class: "jumps", width, height, "aria-hidden": "true" });
        (picture as unknown as HTMLElement).style.top = `${top}px`;
        for (const jump of visible) {
            const y = (row: number) => Math.max(-4, Math.min(height + 4, (row + 0.5) * rowHeight - top));
            const x = width - 10 - jump.lane * LANE;
            const on = jump.from === selected || jump.to === selected;
            const className = on ? "jump on" : "jump";
            picture.append(
                svg("path", { class: className, d: `M${width - 4} ${y(jump.from)}H${x}V${y(jump.to)}H${width - 4}` }),
                svg("path", { class: className + " head", d: `M${width - 7} ${y(jump.to) - 3.5}L${width - 2} ${y(jump.to)}L${width - 7} ${y(jump.to) + 3.5}Z` }));
        }
        space.append(picture);
        this.drawn = picture;
    }
}
