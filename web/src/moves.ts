// Where a sampler moves time to. The profile contains the true time of each instruction and the sampler's, but not which
// sample stood for which cycle. So, inside each function, the time that one instruction lacks is matched with the nearest
// instruction that has too much, in the order of the code, like skid. The remainder moved to or from other functions.

import { Model } from "./model";

export interface Move {
    from: number; // whose time it is
    to: number; // which is blamed
    share: number;
}

const LEAST = 1e-6;

export function findMoves(model: Model, truth: Float64Array, said: Float64Array): { moves: Move[]; between: number } {
    const moves: Move[] = [];
    let between = 0;
    for (let fn = 0; fn < model.functionCount; fn++) {
        const open: { row: number; left: number }[] = []; // all of one sign; the last is the nearest
        for (let row = model.first[fn]; row < model.first[fn + 1]; row++) {
            let off = said[row] - truth[row];
            while (Math.abs(off) > LEAST && open.length > 0 && open[open.length - 1].left * off < 0) {
                const near = open[open.length - 1];
                const share = Math.min(Math.abs(off), Math.abs(near.left));
                moves.push(off > 0 ? { from: near.row, to: row, share } : { from: row, to: near.row, share });
                near.left += near.left > 0 ? -share : share;
                off += off > 0 ? -share : share;
                if (Math.abs(near.left) <= LEAST) open.pop();
            }
            if (Math.abs(off) > LEAST) open.push({ row, left: off });
        }
        between += open.reduce((sum, one) => sum + Math.abs(one.left), 0);
    }
    return { moves: moves.sort((a, b) => b.share - a.share || a.from - b.from), between: between / 2 };
}
