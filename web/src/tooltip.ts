// One tooltip for the page. It repeats the text or label of the focused or hovered element as a table, and contains nothing
// that is not available elsewhere.

import { el } from "./dom";

const sources = new WeakMap<Element, () => Node>();
let box: HTMLElement | null = null;

export function tip(element: Element, content: () => Node): void {
    sources.set(element, content);
}

function sourceOf(target: EventTarget | null): (() => Node) | undefined {
    for (let at = target instanceof Element ? target : null; at; at = at.parentElement) {
        const source = sources.get(at);
        if (source) return source;
    }
    return undefined;
}

function place(x: number, y: number): void {
    if (!box) return;
    const { width, height } = box.getBoundingClientRect();
    const left = Math.max(4, Math.min(x + 14, window.innerWidth - width - 8));
    const top = y + 18 + height > window.innerHeight ? y - height - 12 : y + 18;
    box.style.left = `${left}px`;
    box.style.top = `${Math.max(4, top)}px`;
}

export function hideTip(): void {
    box?.remove();
    box = null;
}

export function installTips(): void {
    let shown: (() => Node) | undefined;
    document.addEventListener("pointerover", (event) => {
        const source = sourceOf(event.target);
        if (source === shown && box) return;
        hideTip();
        shown = source;
        if (!source) return;
        box = el("div", { class: "tip", role: "tooltip" });
        box.append(source());
        document.body.append(box);
        place(event.clientX, event.clientY);
    });
    document.addEventListener("pointermove", (event) => place(event.clientX, event.clientY));
    document.addEventListener("scroll", hideTip, true);
    document.addEventListener("keydown", hideTip, true);
    document.documentElement.addEventListener("pointerleave", hideTip);
}
