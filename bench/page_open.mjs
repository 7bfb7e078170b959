// How long pages take in a browser: until they can be used, to sort all functions, to open the largest function, to draw the
// flame graph and scroll through it. Prints JSON. Environment as in tests/web/harness.mjs.
//
//   WEB_MODULES=DIR CHROMIUM=PROGRAM node bench/page_open.mjs PAGE.html…

import { createRequire } from "node:module";
import { join, resolve } from "node:path";

const { chromium } = createRequire(join(resolve(process.env.WEB_MODULES), "package.json"))("playwright-core");
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox", "--disable-dev-shm-usage"] });
const RUNS = 3;

/** Milliseconds from an action in the page until the next frame is painted. */
const act = (tab, action) => tab.evaluate(async (text) => {
    const begun = performance.now();
    new Function(text)();
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    return performance.now() - begun;
}, action);

async function once(file) {
    const tab = await browser.newPage({ viewport: { width: 1400, height: 900 } });
    await tab.goto(`file://${resolve(file)}#tab=functions`);
    await tab.waitForSelector("html[data-ready=yes]", { timeout: 120000 });
    const ready = await tab.evaluate(() => performance.getEntriesByName("assay-ready")[0].startTime);
    const script = await tab.evaluate(() => performance.measure("own", "assay-start", "assay-ready").duration);
    const sort = await act(tab, "document.querySelectorAll('#panel-functions [role=columnheader] button')[2].click()");
    const open = await act(tab, "location.hash = '#tab=annotate'");
    await tab.waitForSelector("#panel-annotate [role=grid]");
    const flame = await act(tab, "document.getElementById('tab-flame')?.click()");
    await tab.close();
    return { ready, script, sort, open, flame };
}

for (const file of process.argv.slice(2)) {
    const runs = [];
    for (let i = 0; i < RUNS; i++) runs.push(await once(file));
    const least = Object.fromEntries(Object.keys(runs[0]).map((key) => [key, Math.round(Math.min(...runs.map((run) => run[key])))]));
    console.log(JSON.stringify({ file, ...least }));
}
await browser.close();
