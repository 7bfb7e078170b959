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
    args: ["--no-sandbox", "--disable-dev-shm-usage", "--in-process-gpu", "--disable-gpu", "--renderer-process-limit=1"], // as root, and in a container
});

const VIEWPORT = { width: 1440, height: 900 };
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

const PATIENCE = 120000; // milliseconds, which end what hangs: a busy machine must not meet them
const idle = []; // pages that tests are done with

/** A page that collects console messages, exceptions, dialogs and requests for anything but its file. */
async function newPage() {
    const page = await browser.newPage({ viewport: VIEWPORT });
    page.setDefaultTimeout(PATIENCE);
    page.on("console", (message) => page.trouble.push(`console: ${message.type()}: ${message.text()}`));
    page.on("pageerror", (error) => page.trouble.push(`exception: ${error.message}`));
    page.on("request", (request) => request.url().split("#")[0] === page.address || page.trouble.push(`request: ${request.url()}`));
    page.on("dialog", (dialog) => {
        page.trouble.push(`dialog: ${dialog.message()}`);
        void dialog.dismiss();
    });
    return page;
}

/** A page is used again, as a new one is half of what a test costs: empty, with nothing kept. */
function keepFor(page) {
    page.close = async () => {
        await page.evaluate(() => localStorage.clear());
        await page.mouse.move(0, 0);
        await page.goto("about:blank");
        idle.push(page);
    };
    return page;
}

/** Opens a page from disk, in another size or with other wishes of its user where `options` has them. What goes wrong in it is in its `trouble`. */
export async function openPage(file, hash = "", { viewport = VIEWPORT, colorScheme = null, reducedMotion = null } = {}) {
    const page = idle.pop() ?? keepFor(await newPage());
    await page.setViewportSize(viewport);
    await page.emulateMedia({ media: null, colorScheme, reducedMotion });
    page.trouble = [];
    page.address = `file://${file}`;
    await page.goto(`${page.address}${hash}`);
    await page.waitForSelector("html[data-ready]");
    return page;
}

/** Tries until it no longer throws, or for PATIENCE: the address changes at once, the page a moment later. */
export async function eventually(attempt) {
    const end = Date.now() + PATIENCE;
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
    await page.waitForSelector(`[role=grid][aria-label^="${label}"]`, { state: "attached" });
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
