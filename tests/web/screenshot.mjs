// A picture of a page, for the README and for looking at it:
//   WEB_MODULES=build/web/modules node tests/web/screenshot.mjs PAGE.html OUT.png ['#function=main'] [light|dark] [WIDTHxHEIGHT]

import { createRequire } from "node:module";
import { join, resolve } from "node:path";

const [page, out, hash = "", scheme = "light", size = "1440x860"] = process.argv.slice(2);
const [width, height] = size.split("x").map(Number);
const { chromium } = createRequire(join(resolve(process.env.WEB_MODULES), "package.json"))("playwright-core");
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox", "--disable-dev-shm-usage"] });
const tab = await browser.newPage({ viewport: { width, height }, colorScheme: scheme });
await tab.goto(`file://${resolve(page)}${hash}`);
await tab.waitForSelector("html[data-ready=yes]");
await tab.waitForTimeout(200); // the frames that follow a resize
if (out.endsWith(".pdf")) await tab.pdf({ path: out });
else await tab.screenshot({ path: out });
await browser.close();
