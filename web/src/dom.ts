// Creates elements. Text is always inserted as text: nothing in the page parses markup.

export type Child = Node | string | null | undefined | false;

export interface Attributes {
    class?: string | null;
    title?: string;
    [name: string]: string | number | boolean | null | undefined;
}

export function el<K extends keyof HTMLElementTagNameMap>(
    tag: K,
    attributes: Attributes = {},
    ...children: Child[]
): HTMLElementTagNameMap[K] {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes))
        if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : String(value));
    append(element, children);
    return element;
}

export function append(parent: Node, children: Child[]): void {
    for (const child of children)
        if (child !== null && child !== undefined && child !== false)
            parent.appendChild(typeof child === "string" ? document.createTextNode(child) : child);
}

export function replace(parent: Element, ...children: Child[]): void {
    parent.textContent = "";
    append(parent, children);
}

const SVG = "http://www.w3.org/2000/svg";

export function svg(tag: string, attributes: Record<string, string | number> = {}): SVGElement {
    const element = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
    return element;
}

export function button(label: string, action: () => void, attributes: Attributes = {}): HTMLButtonElement {
    const element = el("button", { type: "button", ...attributes }, label);
    element.addEventListener("click", action);
    return element;
}

let lastId = 0;
export function uniqueId(prefix: string): string {
    return `${prefix}-${++lastId}`;
}
