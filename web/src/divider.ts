// The bar between two panes, moved by dragging or with the arrow keys. It divides the grid that contains it.

import { el } from "./dom";

const [LEAST, MOST, START] = [25, 75, 54];

export function divider(): HTMLElement {
    const bar = el("div", { class: "divider", role: "separator", tabindex: 0, "aria-orientation": "vertical", "aria-label": "Width of the panes", "aria-valuemin": LEAST, "aria-valuemax": MOST });
    let share = START;
    const set = (to: number) => {
        share = Math.max(LEAST, Math.min(MOST, Math.round(to)));
        bar.setAttribute("aria-valuenow", String(share));
        bar.parentElement?.style.setProperty("--left", `${share}fr`);
        bar.parentElement?.style.setProperty("--right", `${100 - share}fr`);
    };
    bar.setAttribute("aria-valuenow", String(share));
    bar.addEventListener("keydown", (event) => {
        const to: Record<string, number> = { ArrowLeft: share - 4, ArrowRight: share + 4, Home: LEAST, End: MOST };
        if (!(event.key in to) || event.ctrlKey || event.altKey || event.metaKey) return;
        set(to[event.key]);
        event.preventDefault();
    });
    bar.addEventListener("pointerdown", (event) => bar.setPointerCapture(event.pointerId));
    bar.addEventListener("pointermove", (event) => {
        if (!bar.hasPointerCapture(event.pointerId)) return;
        const { left, width } = bar.parentElement!.getBoundingClientRect();
        set(((event.clientX - left) / width) * 100);
    });
    bar.addEventListener("dblclick", () => set(START));
    return bar;
}
