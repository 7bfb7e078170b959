// What the page's tests share: a browser, pages that notice everything that goes wrong, and lines for page.sh to read.
//
// The environment names where things are: WEB_MODULES (the directory with node_modules), PAGE_TEMPLATE, PAGE_DIR (where
// to write pages), CHROMIUM.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { inject } from "./fixtures.mjs";

const { chromium } = createRequire(join(process.env.WEB_MODULES, "package.json"))("playwright-core");
const template = readFileSync(process.env.PAGE_TEMPLATE, "utf8");
mkdirSync(process.env.PAGE_DIR, { recursive: true });

export const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM,
    args: ["--no-sandbox", "--disable-dev-shm-usage"], // as root, and in a container
});

let failed = 0;
const wanted = process.argv[2] ?? "";

/** One case: passes unless it throws. */
export async function test(name, body) {
    if (!name.includes(wanted)) return;
    try {
        await body();
        console.log(`ok - ${name}`);
    } catch (error) {
        failed++;
        console.log(`not ok - ${name}`);
        for (const line of String(error?.stack ?? error).split("\n").slice(0, 12)) console.log(`# ${line}`);
    }
}

export async function finish() {
    await browser.close();
    process.exitCode = failed > 0 ? 1 : 0;
}

const written = new Map();

/** The file with a document in it; `name` is its name, so that equal ones are written once. */
export function pageFile(name, data, deflated = true) {
    if (!written.has(name)) {
        const file = join(process.env.PAGE_DIR, `${name.replace(/\W+/g, "-")}.html`);
        writeFileSync(file, typeof data === "string" ? data : inject(template, data, deflated));
        written.set(name, file);
    }
    return written.get(name);
}

export { template };

/** Opens a page from disk. `trouble` collects console messages, exceptions and requests for anything but the file. */
export async function openPage(file, hash = "", options = {}) {
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 }, ...options });
    const trouble = [];
    page.on("console", (message) => trouble.push(`console: ${message.type()}: ${message.text()}`));
    page.on("pageerror", (error) => trouble.push(`exception: ${error.message}`));
    page.on("request", (request) => request.url().split("#")[0] === `file://${file}` || trouble.push(`request: ${request.url()}`));
    page.on("dialog", (dialog) => {
        trouble.push(`dialog: ${dialog.message()}`);
        void dialog.dismiss();
    });
    await page.goto(`file://${file}${hash}`);
    await page.waitForSelector("html[data-ready]");
    page.trouble = trouble;
    return page;
}

/** Tries until it no longer throws, or for ten seconds: the address changes at once, the page a moment later. */
export async function eventually(attempt) {
    const end = Date.now() + 10000;
    for (;;)
        try {
            return await attempt();
        } catch (error) {
            if (Date.now() > end) throw error;
            await new Promise((done) => setTimeout(done, 50));
        }
}

/** The texts of a grid's visible rows, cell by cell. */
export async function gridRows(page, label) {
    await page.waitForSelector(`[role=grid][aria-label^="${label}"]`, { state: "attached", timeout: 60000 });
    return page.evaluate((wantedLabel) => {
        const grid = [...document.querySelectorAll("[role=grid]")].find((one) => one.getAttribute("aria-label").startsWith(wantedLabel));
        return [...grid.querySelectorAll(".grid-space [role=row]")].map((row) => [...row.children].map((cell) => cell.textContent.trim()));
    }, label);
}

/** Luminance contrast of two CSS colours "rgb(…)", as WCAG defines it. */
export function contrast(a, b) {
    const light = (colour) => {
        const [red, green, blue] = colour.match(/[\d.]+/g).slice(0, 3).map((value) => {
            const share = Number(value) / 255;
            return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
        });
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
    };
    const [high, low] = [light(a), light(b)].sort((one, other) => other - one);
    return (high + 0.05) / (low + 0.05);
}
