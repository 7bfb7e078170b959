// The page in a browser: what it shows, how it is used with the mouse, with keys alone and by a screen reader, and that
// nothing in a profile can do anything but be shown.

import assert from "node:assert/strict";
import { compared, HOSTILE, hostile, large, reuse, small, timer, TRUST, withLists } from "./fixtures.mjs";
import { contrast, eventually, finish, gridRows, openPage, pageFile, template, test } from "./harness.mjs";

const SMALL = pageFile("small", small());
const COMPARED = pageFile("compared", compared());
const LARGE = pageFile("large", large());
const COMPONENTS = small().components.length;
const functionNames = async (page) => (await gridRows(page, "Functions")).map((row) => row[2]);

// --- loading -----------------------------------------------------------------------------------------------------------

for (const [name, data] of Object.entries({ small, compared, timer, hostile }))
    for (const deflated of data === small || data === hostile ? [true, false] : [true]) // what is read is the same
        await test(`${name}, ${deflated ? "deflated" : "plain"}: every tab opens without a message, an exception or a request`, async () => {
            const page = await openPage(pageFile(`${name}-${deflated}`, data(), deflated));
            assert.equal(await page.getAttribute("html", "data-ready"), "yes");
            for (const tab of await page.$$("[role=tab]")) {
                await tab.click();
                await page.waitForTimeout(50);
            }
            assert.deepEqual(page.trouble, []);
            await page.close();
        });

for (const file of (process.env.REAL_PAGES ?? "").split(":").filter(Boolean))
    await test(`${file.split("/").at(-1)}, as the program wrote it: every tab opens, in every series, without a message`, async () => {
        const page = await openPage(file);
        assert.equal(await page.getAttribute("html", "data-ready"), "yes");
        const all = await page.$$eval("select.series option", (list) => list.map((one) => one.value));
        for (const series of all.length > 0 ? all : [null]) {
            if (series !== null) await page.selectOption("select.series", series);
            for (const tab of await page.$$("[role=tab]")) {
                await tab.click();
                await page.waitForTimeout(50);
                await eventually(async () => assert.ok((await page.textContent("[role=tabpanel]:not([hidden])")).length > 100, await tab.textContent()));
            }
        }
        assert.deepEqual(page.trouble, []);
        await page.close();
    });

for (const [name, spoil, message] of [
    ["nothing in it", () => template, "contains no profile"],
    ["another format", (data) => ({ ...data, format: "pprof" }), "not a document of Assay's page"],
    ["a newer version", (data) => ({ ...data, version: 99 }), "version 99"],
    ["a part missing", (data) => ({ ...data, functions: undefined }), "no functions"],
    ["columns of two lengths", (data) => ({ ...data, instructions: { ...data.instructions, text: [1] } }), "do not add up"],
    ["a row that is not there", (data) => ({ ...data, series: [{ name: "x", instructions: { row: [99], cycles: [1] } }] }), "row 99"],
    ["a component that is not there", (data) => ({ ...data, components: [[]] }), "not listed"],
    ["a call path under itself", (data) => ({ ...data, paths: { ...data.paths, parent: [0, 0, 0, 1] } }), "out of order"],
    ["objects of two lengths", (data) => (withLists(data).series[0].data.bytes.pop(), data), "columns of the objects differ"],
    ["accesses of no object", (data) => ((withLists(data).series[0].data.listed[0] = 1), data), "accesses do not add up"],
    ["branches of two lengths", (data) => (withLists(data).series[0].branches.to.row.pop(), data), "columns of the branches differ"],
    ["waits of two lengths", (data) => (withLists(data).series[0].waits.pairs.culprit.row.pop(), data), "columns of the waits differ"],
    ["a matrix of waits that is not square", (data) => (withLists(data).series[0].waits.matrix_false[1].pop(), data), "columns of the waits differ"],
    ["broken base64", () => template.replace("<!--assay-data-->", '<script type="application/json" id="assay-data" data-encoding="deflate-base64">!!</script>'), ""],
    ["a broken stream", () => template.replace("<!--assay-data-->", '<script type="application/json" id="assay-data" data-encoding="deflate-base64">AAAA</script>'), ""],
])
    await test(`a page with ${name} says so`, async () => {
        const page = await openPage(pageFile(`bad ${name}`, spoil(small())));
        assert.equal(await page.getAttribute("html", "data-ready"), "failed");
        assert.ok((await page.textContent("[role=alert] p")).includes(message));
        assert.deepEqual(page.trouble, []);
        await page.close();
    });

// --- what it shows -----------------------------------------------------------------------------------------------------

await test("the summary's numbers are those of the document", async () => {
    const page = await openPage(SMALL);
    const said = (await page.textContent(".headline")).replace(/\s+/g, " ");
    assert.ok(said.startsWith("60.0 % of the time is spent in copy, 50.0 % of that with ST-L1+ST-LLC"), said);
    const facts = await page.$$eval(".fact", (list) => Object.fromEntries(list.map((one) => [one.querySelector("dt").textContent, one.querySelector("dd").firstChild.textContent])));
    assert.deepEqual(facts, { Cycles: "1,000", Instructions: "1,500", IPC: "1.50", Time: "0.50 s", Threads: "1" });
    const rows = await page.$$eval(".stack-card tbody tr", (list) => list.map((row) => [row.children[0].textContent, row.children[1].textContent]));
    assert.deepEqual(rows, [["Base", "45.0 %"], ["ST-L1+ST-LLC", "30.0 %"], ["ST-L1", "10.0 %"], ["FL-MB", "10.0 %"], ["DR-SQ", "5.00 %"]]);
    const states = await page.$$eval(".states-card tbody tr", (list) => list.map((row) => row.children[1].textContent));
    assert.deepEqual(states, ["40.0 %", "45.0 %", "5.00 %", "10.0 %"]);
    const quality = await page.textContent(".quality");
    for (const part of ["model, core boom-tea", "TEA", "100, one every 10 cycles", "2.10 % – against the golden reference"]) assert.ok(quality.includes(part), part);
    await page.close();
});

await test("a partial profile, a region and files that changed are warnings where trust is told, in words and with a sign", async () => {
    const data = small();
    const whole = await openPage(SMALL);
    assert.deepEqual(await whole.$$eval(".quality-card .warnings li", (list) => list.map((one) => one.textContent)), ["⚠libsort.so: no build id; the page shows what was recorded"]);
    assert.equal(await whole.locator(".quality dd.good:has-text('2.10 %')").count(), 1);
    await whole.close();
    Object.assign(data.summary, { partial: "the program was killed by signal 11 (Segmentation fault)", part: "the first 1,000 instructions", region: "--max 1000" });
    data.modules[0].note = "it no longer exists";
    const page = await openPage(pageFile("partial", data));
    assert.deepEqual(await page.$$eval(".quality-card .warnings li", (list) => list.map((one) => one.textContent)), ["⚠Partial: the program was killed by signal 11 (Segmentation fault)", "⚠Only a part of the run: the first 1,000 instructions (--max 1000)",
        "⚠demo: it no longer exists; the page shows what was recorded", "⚠libsort.so: no build id; the page shows what was recorded"]);
    assert.ok(await page.isVisible(".quality-card .warnings .sign"));
    assert.ok((await page.textContent(".headline")).startsWith("In the first 1,000 instructions: 60.0 % of the time is spent in copy"));
    assert.equal(await page.textContent(".quality dd.warn:has-text('2.10 %')"), "2.10 % – against the golden reference of this run, as far as it was recorded");
    await page.click("#tab-run");
    for (const said of ["Partial: the program was killed", "Only a part of the run: the first 1,000 instructions (--max 1000)"]) await eventually(async () => assert.ok((await page.textContent("#panel-run")).includes(said), said));
    await page.goto(`file://${pageFile("partial", data)}#function=copy`);
    await eventually(async () => assert.equal(await page.textContent(".function-head .warnings"), "⚠demo: it no longer exists; the page shows what was recorded"));
    await page.close();
});

await test("many files that changed: those with the most time are named, the others counted", async () => {
    const data = small();
    data.modules = [...data.modules, ...[2, 3, 4].map((i) => ({ name: `lib${i}.so`, note: "it has changed since the recording" }))];
    data.functions.module = [3, 1, 0];
    const page = await openPage(pageFile("many changed", data));
    assert.deepEqual(await page.$$eval(".quality-card .warnings strong", (list) => list.map((one) => one.textContent)), ["libsort.so", "lib3.so", "lib2.so", "1 more file"]);
    await page.goto(`file://${pageFile("many changed", data)}#function=sort`);
    await eventually(async () => assert.equal(await page.textContent(".function-head h2"), "sort"));
    assert.equal(await page.locator(".function-head .warnings").count(), 0);
    await page.close();
});

await test("times come in units that have digits to show", async () => {
    for (const [time, text] of [[0.001116, "1.12 ms"], [12.5, "12.5 s"], [0.25, "0.25 s"], [0.0999, "99.9 ms"], [0.0000042, "4.20 µs"], [3e-9, "3.00 ns"], [0, "0 s"]]) {
        const data = small();
        data.summary.seconds = time;
        const page = await openPage(pageFile(`time ${time}`, data));
        assert.equal(await page.$eval(".fact:nth-child(4) dd", (one) => one.firstChild.textContent), text);
        await page.close();
    }
});

await test("the class is named by its rule", async () => {
    const data = small();
    data.summary.class = "flush";
    const page = await openPage(pageFile("class", data));
    const fact = page.locator(".fact", { hasText: "Class" });
    assert.equal(await fact.textContent(), "Classflush-intensiveby the TIP paper's rule");
    assert.ok((await fact.getAttribute("title")).includes("more than 3 % of the time flushed"));
    await page.close();
});

await test("bars are as long as their time, segment by segment", async () => {
    const page = await openPage(SMALL);
    const widths = await page.$$eval(".stack-card .bar .seg", (list) => list.map((one) => one.getBoundingClientRect().width / one.parentElement.clientWidth));
    assert.deepEqual(widths.map((width) => Math.round(width * 100)), [45, 10, 30, 5, 10]);
    await page.close();
});

await test("rows of a sampled run have error bars, and others none", async () => {
    const data = small();
    const paths = data.paths.parent.length;
    data.series[0].errors = { functions: { row: [1, 1], share: [0.0123, 0.00001] }, instructions: { row: [4], share: [0.21] }, totals: { row: [1], share: [0.0345] },
        components: { row: [0, 1], share: [0.0234, 0.0078] }, parts: { row: [1, 0], component: [0, 1], share: [0.0112, 0.0089] },
        path_self: new Array(paths).fill(0.0456), path_total: new Array(paths).fill(0.0567) };
    data.summary.error_estimate = 0.0117;
    data.summary.seconds_error = 0.0223;
    data.summary.state_errors = { computing: 0.0321, stalled: 0.0322, drained: 0, flushed: 0.0001 };
    const rough = data.counters.find((one) => one.name !== "instructions");
    rough.error = 0.0765;
    const page = await openPage(pageFile("sampled", data), "#tab=functions");
    const column = (title) => page.locator("#panel-functions [role=columnheader]").allTextContents().then((all) => all.indexOf(title));
    assert.equal(await column("±"), 1);
    const cells = await page.$$eval("#panel-functions [role=row]:has([role=gridcell])", (rows) => rows.map((row) => row.children[1].textContent));
    assert.deepEqual(cells, ["±1.23", "±<0.01", "–"]);
    const totals = await column("± total");
    const beside = await page.$$eval("#panel-functions [role=row]:has([role=gridcell])", (rows, at) => rows.map((row) => row.children[at].textContent), totals);
    assert.deepEqual(beside, ["±3.45", "–", "–"]);
    await page.click("#tab-flame");
    assert.ok((await page.textContent("#panel-flame [role=grid]")).includes("±4.56"));
    await page.locator("#panel-flame .frame").first().click();
    assert.match(await page.textContent("#panel-flame .flame-detail"), /±5\.67 of the time .* ±4\.56 itself/);
    await page.click("#tab-summary");
    assert.ok((await page.textContent(".top-card")).includes("60.0 %±1.23copy"));
    assert.match(await page.textContent(".facts"), /Cycles[^I]* ± 1\.17 %estimated from regions.*IPC[\d.]+ ± 1\.17 %.*Time[^±]*s ± 2\.23 %/s);
    assert.match(await page.textContent(".quality-card"), /Regions/);
    assert.ok((await page.textContent(".stack-card")).includes("±2.34"));
    assert.ok((await page.textContent(".states-card")).includes("±3.21"));
    await page.hover(".top-card .bar");
    assert.match(await page.textContent(".tip"), /±1\.87.*±1\.48|±1\.48.*±1\.87/s); // of copy's 60 %
    await page.click("#tab-run");
    assert.ok((await page.textContent(".counters")).includes("± 7.65 %"));
    await page.goto(page.url().replace(/#.*/, "#function=copy"));
    await eventually(async () => assert.ok((await page.textContent("#panel-annotate")).includes("±21.0")));
    await page.close();
    const without = await openPage(SMALL, "#tab=functions");
    assert.ok(!(await without.textContent("#panel-functions")).includes("±"));
    await without.close();
});

await test("a source without events says so and shows no stacks", async () => {
    const page = await openPage(pageFile("timer", timer()));
    assert.ok((await page.textContent(".stack-card")).includes("records no events"));
    assert.equal(await page.locator(".stack-card .bar .seg").count(), 1);
    assert.ok((await page.textContent(".states-card")).includes("Not measured"));
    assert.ok((await page.textContent(".quality-card")).includes("events: no PMU on this machine"));
    const facts = await page.$$eval(".fact", (list) => list.map((one) => one.textContent));
    assert.deepEqual(facts, ["Cycles–not measured", "Instructions–not measured", "Time0.50 s", "Threads1"]);
    const data = timer();
    Object.assign(data.summary, { cycles: 0, instructions: 0 });
    const zero = await openPage(pageFile("timer with zeros", data));
    assert.deepEqual(await zero.$$eval(".fact", (list) => list.map((one) => one.textContent)), facts);
    await zero.close();
    const clock = await openPage(pageFile("timer in nanoseconds", { ...timer(), unit: "ns" }));
    const times = await clock.$$eval(".fact", (list) => list.map((one) => one.textContent));
    assert.equal(times[2], "Time0.50 selapsed");
    assert.match(times[3], /^Processor time.*of all threads$/);
    await clock.close();
    assert.equal(await page.locator(".quality .unknown").count(), 2);
    assert.equal(await page.locator(".quality .warn").count(), 1);
    assert.deepEqual(await page.$$eval("[role=tab]", (list) => list.map((one) => one.textContent)), ["Summary", "Functions", "Flame graph", "Instructions", "Run"]);
    await page.click("#tab-functions");
    await eventually(async () => assert.ok((await page.textContent("#panel-functions")).includes("records no events")));
    await page.close();
});

await test("samples say what error to expect, by chance and by bias", async () => {
    const data = timer();
    Object.assign(data.summary, { error_estimate: 0.63, error_how: "expected", error_level: "instruction", error_by: { function: 0.051, line: 0.3, block: 0.3, instruction: 0.63 }, runs_apart: 0.072, trust: TRUST });
    const page = await openPage(pageFile("expected", data));
    const cells = await page.$$eval(".quality-card dd table tbody tr", (rows) => rows.map((row) => [...row.children].map((cell) => cell.textContent)));
    assert.deepEqual(cells, [["by function", "5.10 %", "1.00 %", "2.00 % to 12.0 %"], ["by block", "30.1 %", "3.00 %", "10.0 % to 50.0 %"], ["by instruction", "63.2 %", "20.0 %", "50.0 % to 80.0 %"]]);
    assert.ok((await page.textContent(".quality-card")).includes("5.10 % by function, 30.0 % by line and block, more than 50 % by instruction – expected"));
    assert.ok((await page.textContent(".quality-card")).includes("expected. Two such runs would differ by about 7.20 % by function"));
    assert.ok((await page.textContent(".quality-card")).includes("behind the instruction that it was due at; as in eight of ten of 24 programs"));
    await page.goto(`${page.url().split("#")[0]}#tab=trust`);
    assert.equal(await page.textContent("#panel-trust .trust-verdict"), "Believe it by function; by block expect an error of 30.1 %.");
    assert.deepEqual(await page.$$eval("#panel-trust section", (list) => list.map((one) => one.querySelectorAll(".trust-row").length)), [3, 3, 3]);
    const marks = await page.$$eval("#panel-trust [data-level=block] .trust-row", (rows) => rows.map((row) => [row.querySelector(".trust-range").style.width !== "", row.textContent.includes("%")]));
    assert.deepEqual(marks, [[true, true], [true, true], [true, true]]);
    await page.close();
    delete data.summary.trust;
    Object.assign(data.summary, { error_by: { function: 0.01, block: 0.02, instruction: 0.03 }, runs_apart: null, error_how: "compared with everything" });
    const measured = await openPage(pageFile("measured", data), "#tab=trust");
    assert.equal(await measured.textContent("#panel-trust .trust-verdict"), "Believe it down to the instruction.");
    await measured.close();
    data.summary.trust = TRUST;
    Object.assign(data.summary, { error_estimate: null, error_how: "too few samples to tell" });
    const few = await openPage(pageFile("too few", data));
    assert.equal(await few.locator("#tab-trust").count(), 0);
    assert.ok((await few.textContent(".quality-card")).includes("too few samples to tell"));
    assert.equal(await few.locator(".quality-card dd table").count(), 0);
    await few.close();
});

await test("the run says what was run, on what, how it was measured, and rates beside counts", async () => {
    const data = small();
    data.counters = [{ name: "instructions", value: 1500, group: "Work", label: "Instructions" }, { name: "branches", value: 300, group: "Branches", label: "Branches" },
        { name: "branch_mispredictions", value: 15, group: "Branches", label: "Mispredicted", whole: "branches", of: "of the branches" },
        { name: "l1d_accesses", value: 200, group: "Data", label: "L1 data cache accesses" }, { name: "l1d_misses", value: 50, group: "Data", label: "L1 data cache misses", whole: "l1d_accesses", of: "of the accesses" },
        { name: "l2_accesses", value: 0, group: "Data", label: "L2 accesses" }, { name: "l2_misses", value: 0, group: "Data", label: "L2 misses", whole: "l2_accesses", of: "of the accesses" },
        { name: "teapots", value: 7, meaning: "in the cupboard" }];
    data.run = [["assay", "0.1.0"], ["frequency", "3200000000"], ["host_seconds", "2.5"], ["source_why", "asked for"], ["status", "139"], ["directory", "there"], ["period", "10"], ["oddity", "kept"], ["environment", "LANG=C"]].map(([name, value]) => ({ name, value }));
    const page = await openPage(pageFile("run", data), "#tab=run");
    const facts = await page.$$eval("#panel-run .card", (cards) => cards.map((card) => [card.querySelector("h2").textContent, [...card.querySelectorAll("dt")].map((dt) => `${dt.textContent}: ${dt.nextSibling.textContent}`)]));
    const of = Object.fromEntries(facts);
    assert.deepEqual(of["What was run"], ["Program: demo", "Arguments: --size 3", "Directory: there", "Exit status: 139 (signal 11)", "Recorded: 2025-01-02 03:04:05 UTC", "Took: 2.50 s", "Assay: 0.1.0"]);
    assert.deepEqual(of["The machine"].slice(0, 2), ["Modelled core: boom-tea", "Clock: 3.20 GHz"]);
    assert.deepEqual(of["How it was measured"], ["Source: model", "Why: asked for", "Series: TEA (100 samples), Golden (every cycle), Software (100 samples)", "Period: 10 cycles", "oddity: kept"]);
    const rows = await page.$$eval(".counters tbody tr:not(.group-head)", (list) => list.map((row) => [...row.children].map((cell) => cell.textContent)));
    assert.deepEqual(rows, [["Instructions", "1,500", "", ""], ["Branches", "300", "200", ""], ["Mispredicted", "15", "10.0", "5.00 % of the branches"], ["L1 data cache accesses", "200", "133", ""],
        ["L1 data cache misses", "50", "33.3", "25.0 % of the accesses"], ["teapots", "7", "", "in the cupboard"]]);
    assert.deepEqual(await page.$$eval(".counters .group-head", (list) => list.map((one) => one.textContent)), ["Work", "Branches", "Data", "Others"]);
    await page.close();
});

await test("machine parameters come by part, with units", async () => {
    const data = small();
    const rows = (pairs) => pairs.map(([name, value, note]) => ({ name, value, note }));
    data.machine = [
        { name: "memory", rows: rows([["l1d.size", "32K"], ["l1d.latency", "3"], ["l1i.size", "16K"], ["l1i.latency", "1"], ["l2.size", "0"], ["line", "64", "bytes of a cache line"], ["dtlb.entries", "32"]]) },
        { name: "front", rows: rows([["redirect", "4", "cycles from a mispredicted branch's result to the fetch"], ["constructor", "1"]]) }, { name: "dram", rows: rows([["cas", "14ns"], ["bandwidth", "16GB/s"]]) }];
    const page = await openPage(pageFile("machine", data), "#tab=machine");
    assert.deepEqual(await page.$$eval("#panel-machine h2", (list) => list.map((one) => one.textContent)), ["Front end", "Memory", "DRAM"]);
    const cells = await page.$$eval("#panel-machine tbody tr", (list) => list.map((row) => [...row.children].map((cell) => cell.textContent).slice(0, 3)));
    assert.deepEqual(cells, [["redirect", "4 cycles", "cycles from a mispredicted branch's result to the fetch"], ["constructor", "1", ""], ["L1 instruction", "16 KiB", "1 cycle"], ["L1 data", "32 KiB", "3 cycles"],
        ["L2", "there is none"], ["Data TLB", "32"], ["line", "64 bytes", "bytes of a cache line"], ["cas", "14 ns", ""], ["bandwidth", "16 GB/s", ""]]);
    await page.close();
});

// --- functions ---------------------------------------------------------------------------------------------------------

await test("functions sort by every column, both ways", async () => {
    const page = await openPage(SMALL, "#tab=functions");
    assert.deepEqual(await functionNames(page), ["copy", "sort", "main"]);
    const headers = page.locator("#panel-functions [role=columnheader]:has(button)");
    const expected = { Self: "copy sort main", Total: "main copy sort", Function: "copy main sort", "Cycle stack": "copy sort main", Cycles: "copy sort main", Executed: "copy sort main", IPC: "copy sort main", Module: "main copy sort" };
    assert.deepEqual(await headers.allTextContents(), Object.keys(expected));
    for (const [title, order] of Object.entries(expected)) {
        const header = headers.filter({ hasText: new RegExp(`^${title}$`) });
        const button = header.locator("button");
        const names = title === "Function" || title === "Module";
        if (title === "Self") await button.click(); // it is sorted down already: this turns it round
        await button.click();
        assert.equal(await header.getAttribute("aria-sort"), names ? "ascending" : "descending", title);
        assert.deepEqual((await functionNames(page)).join(" "), order, title);
        await button.click();
        assert.equal(await header.getAttribute("aria-sort"), names ? "descending" : "ascending", title);
        const turned = (await functionNames(page)).join(" ");
        if (title !== "Module") assert.equal(turned, order.split(" ").reverse().join(" "), title);
        assert.equal(await page.locator("#panel-functions [aria-sort=ascending], #panel-functions [aria-sort=descending]").count(), 1);
    }
    await page.close();
});

await test("functions keep their totals and executions where instructions and call paths were left out", async () => {
    const data = small();
    data.functions = { ...data.functions, count: [4, 6, 0], total: [1000, 740, 300], executed: [4, 1001, 446] };
    for (const column of ["address", "text", "file", "line", "executed", "jump"]) data.instructions[column] = data.instructions[column].slice(0, 10);
    data.series = [{ ...data.series[0], instructions: { row: [], cycles: [] }, functions: { row: [0, 1, 1], cycles: [100, 600, 300] } }];
    data.paths = { parent: [-1, 0], function: [0, 1] };
    data.series[0].paths = { row: [0, 1], cycles: [260, 740] };
    const cells = async (page) => (await gridRows(page, "Functions")).map((row) => [row[2], row[1], row[5], row[6]]);
    const page = await openPage(pageFile("left out", data), "#tab=functions");
    assert.deepEqual(await cells(page), [["copy", "74.0 %", "1,001", "1.67"], ["sort", "30.0 %", "446", "1.49"], ["main", "100 %", "4", "0.04"]]);
    await page.close();
    data.functions = { ...data.functions, total: [1000, 740, null], executed: undefined };
    const unknown = await openPage(pageFile("left out and unknown", data), "#tab=functions");
    assert.deepEqual((await cells(unknown))[1], ["sort", "–", "–", "–"]);
    await unknown.close();
});

await test("search finds names and modules, says how many, and Escape clears it", async () => {
    const page = await openPage(SMALL, "#tab=functions");
    await page.fill("#panel-functions input", "OR");
    assert.deepEqual(await functionNames(page), ["sort"]);
    assert.equal(await page.textContent("#panel-functions [role=status]"), "1 of 3 functions");
    await eventually(async () => assert.ok(page.url().endsWith("#tab=functions&q=OR"), page.url()));
    await page.fill("#panel-functions input", "demo");
    assert.deepEqual(await functionNames(page), ["copy", "main"]);
    await page.fill("#panel-functions input", "nothing like it");
    assert.deepEqual(await functionNames(page), []);
    await page.press("#panel-functions input", "Escape");
    assert.equal((await functionNames(page)).length, 3);
    await page.close();
});

await test("a component of the legend sorts by itself and pales the others", async () => {
    const page = await openPage(SMALL, "#tab=functions");
    const item = page.locator("#panel-functions .legend-item", { hasText: "FL-MB" });
    await item.click();
    assert.equal(await item.getAttribute("aria-pressed"), "true");
    assert.equal((await functionNames(page))[0], "sort");
    assert.equal(await page.locator("#panel-functions .seg:not(.faint)").count(), 1);
    await item.click();
    assert.equal((await functionNames(page))[0], "copy");
    assert.equal(await page.locator("#panel-functions .seg.faint").count(), 0);
    await page.close();
});

// --- from function to instruction --------------------------------------------------------------------------------------

await test("a function leads to its instructions, and the back button back", async () => {
    const page = await openPage(SMALL, "#tab=functions&q=o");
    await page.click("#panel-functions a:text('copy')");
    await eventually(async () => assert.ok(page.url().endsWith("#function=copy")));
    const rows = await gridRows(page, "Instructions of copy");
    assert.deepEqual(rows.map((row) => row[1]), ["401104", "401107", "40110a", "40110e", "401111", "401113"]);
    assert.deepEqual(rows[0].slice(2), ["mov rax, qword ptr [rsi]", "45.0 %", "", "ST-L1+ST-LLC", "200", "2.25"]);
    await page.goBack();
    await eventually(async () => assert.equal(await page.getAttribute("#tab-functions", "aria-selected"), "true"));
    assert.equal(await page.inputValue("#panel-functions input"), "o");
    await page.goForward();
    await eventually(async () => assert.equal(await page.getAttribute("#tab-annotate", "aria-selected"), "true"));
    assert.equal(await page.textContent(".function-head h2"), "copy");
    await page.close();
});

await test("an instruction has an address of its own, which a reload keeps", async () => {
    const page = await openPage(SMALL, "#function=copy");
    await page.click("[aria-label='Instructions of copy'] .row:has-text('dec rcx')");
    await eventually(async () => assert.ok(page.url().endsWith("#function=copy&insn=0x40110e"), page.url()));
    await page.reload();
    await page.waitForSelector("html[data-ready]");
    assert.ok((await page.textContent("[aria-label='Instructions of copy'] [aria-selected=true]")).includes("dec rcx"));
    assert.ok((await page.textContent(".source [aria-selected=true]")).includes("while (n--)"));
    await page.close();
});

await test("the source stands beside: its line follows the instruction, and the other way round", async () => {
    const page = await openPage(SMALL, "#function=copy");
    const lines = await gridRows(page, "Source lines of demo.c");
    assert.deepEqual(lines[9].filter(Boolean), ["10", "54.0 %", "*to++ = *from++;"]);
    await page.click(".source .row:has-text('while (n--)')");
    await eventually(async () => assert.ok(page.url().endsWith("insn=0x40110e"), "the hottest instruction of that line"));
    await page.goto(`file://${SMALL}#function=sort`);
    await eventually(async () => assert.ok((await page.textContent(".source")).includes("not in the page: not found")));
    await page.close();
});

await test("jumps have arrows, calls lead to the callee", async () => {
    const page = await openPage(SMALL, "#function=copy");
    assert.equal(await page.locator(".jumps .jump.head").count(), 1);
    const [from, to] = await page.$eval(".jumps .jump:not(.head)", (path) => path.getAttribute("d").match(/M\S+ (\S+)H\S+V(\S+)H/).slice(1).map(Number));
    assert.deepEqual([from, to], [4.5 * 24, 0.5 * 24]);
    await page.goto(`file://${SMALL}#function=main`);
    await page.click("[aria-label='Instructions of main'] a.callee:text('sort')");
    await eventually(async () => assert.equal(await page.textContent(".function-head h2"), "sort"));
    await page.close();
});

await test("a function that is not there leads to the hottest, and that is said", async () => {
    const page = await openPage(SMALL, "#function=nobody");
    assert.equal(await page.textContent(".function-head h2"), "copy");
    for (const place of ["body > [role=status]", ".absent"]) assert.ok((await page.textContent(place)).includes("There is no such function: nobody. This is the hottest one of all."));
    assert.ok(await page.isVisible(".absent"));
    await page.goto(`file://${SMALL}#function=sort`);
    await eventually(async () => assert.equal(await page.isVisible(".absent"), false));
    await page.close();
});

await test("functions of one name are told apart", async () => {
    const data = small();
    data.functions.name[2] = data.functions.name[1];
    const page = await openPage(pageFile("twins", data), "#tab=functions");
    assert.deepEqual(await page.$$eval("#panel-functions a", (list) => list.map((one) => one.getAttribute("href"))), ["#function=1", "#function=2", "#function=main"]);
    await page.click("#panel-functions a >> nth=1");
    await eventually(async () => assert.equal((await gridRows(page, "Instructions of copy")).length, 4));
    await page.goto(`file://${pageFile("twins", data)}#function=copy`);
    await eventually(async () => assert.equal(await page.textContent(".absent"), "Several functions have the name copy. This is the hottest one of all."));
    await page.close();
});

// --- flame graph, samplers ---------------------------------------------------------------------------------------------

await test("frames are as wide as their time and stand under their callers", async () => {
    const page = await openPage(SMALL, "#tab=flame");
    const frames = await page.$$eval(".frame", (list) => list.map((one) => [one.textContent, Math.round(parseFloat(one.style.width)), Math.round(parseFloat(one.style.left)), Number(one.getAttribute("aria-level"))]));
    assert.deepEqual(frames, [["main", 100, 0, 1], ["copy", 74, 0, 2], ["sort", 16, 74, 2], ["sort", 14, 0, 3]]);
    assert.equal(await page.getAttribute(".frame >> nth=1", "aria-label"), "copy, 74.0 % of the time, 60.0 % itself");
    await page.fill("#panel-flame input", "sort");
    assert.equal(await page.locator(".frame.hit").count(), 2);
    await page.close();
});

await test("a frame's lower edge holds all of its time, small components together", async () => {
    const data = small();
    data.series[0].paths.cycles[3] -= 20; // of copy's 300 with ST-L1+ST-LLC …
    for (const [at, component] of [[4, 3], [5, 4]]) { // … 10 each go to two components that had none
        data.series[0].paths.row.splice(at, 0, 0);
        data.series[0].paths.component.splice(at, 0, component);
        data.series[0].paths.cycles.splice(at, 0, 10);
    }
    const page = await openPage(pageFile("small components", data), "#tab=flame");
    const edges = await page.$$eval(".frame .strip", (list) => list.map((strip) => [strip.getBoundingClientRect(), ...[...strip.children].map((one) => one.getBoundingClientRect())].map((box) => box.width)));
    for (const [whole, ...parts] of edges) assert.ok(Math.abs(parts.reduce((a, b) => a + b) - whole) < 1, `${parts} of ${whole}`);
    assert.deepEqual(await page.$$eval(".strip .rest", (list) => list.map((one) => Math.round(parseFloat(one.style.width) * 10) / 10)), [2, 2.7]);
    assert.ok((await page.textContent("#panel-flame .toolbar")).includes("all of them, those below 2 % together (hatched)"));
    await page.close();
});

await test("a frame's name that is cut ends in an ellipsis", async () => {
    const data = small();
    data.strings[data.functions.name[2]] = "a_function_with_a_name_longer_than_its_frame_is_wide";
    const page = await openPage(pageFile("long frame", data), "#tab=flame");
    const looks = await page.$$eval(".frame-name", (list) => list.map((one) => [one.scrollWidth > one.clientWidth, getComputedStyle(one).textOverflow]));
    assert.deepEqual(looks, [[false, "ellipsis"], [false, "ellipsis"], [true, "ellipsis"], [true, "ellipsis"]]);
    await page.close();
});

await test("a flame graph says when callers are missing, or all paths", async () => {
    const data = timer();
    const text = "94 % of the call chains have no caller: the code was built without frame pointers";
    const whole = await openPage(pageFile("timer", data), "#tab=flame");
    assert.equal(await whole.locator("#panel-flame .warnings").count(), 0);
    await whole.close();
    data.summary.chains = text;
    const page = await openPage(pageFile("lone chains", data), "#tab=flame");
    assert.ok((await page.textContent("#panel-flame .warnings")).includes(`Callers are missing: ${text}`));
    await page.close();
    delete data.paths;
    for (const series of data.series) delete series.paths;
    const none = await openPage(pageFile("no chains", data), "#tab=flame");
    assert.ok((await none.textContent("#panel-flame")).includes("recorded without call chains, so there is no flame graph"));
    await none.close();
});

await test("a flame graph without events says whose they are not, and has no legend", async () => {
    const data = small();
    assert.ok((await (await openPage(SMALL, "#tab=flame")).locator("#panel-flame .legend-item").count()) > 0);
    delete data.series[0].paths.component;
    const page = await openPage(pageFile("paths without events", data), "#tab=flame");
    assert.ok((await page.textContent("#panel-flame .toolbar")).includes("Call paths are recorded without events."));
    assert.equal(await page.locator("#panel-flame .legend-item").count(), 0);
    await page.close();
    const none = await openPage(pageFile("timer", timer()), "#tab=flame");
    assert.ok((await none.textContent("#panel-flame .toolbar")).includes("Timer: this source records no events."));
    await none.close();
});

await test("a selected frame shows its own stack and that of everything below", async () => {
    const page = await openPage(SMALL, "#tab=flame&zoom=1");
    const said = await page.$$eval(".flame-stacks .words", (list) => list.map((one) => one.textContent));
    assert.deepEqual(said, ["ST-L1+ST-LLC 40.5 %, Base 33.8 %, ST-L1 13.5 %, DR-SQ 6.76 % and 1 smaller", "ST-L1+ST-LLC 40.5 %, Base 20.3 %, ST-L1 13.5 %, DR-SQ 6.76 %"]);
    await page.hover(".frame >> nth=1");
    assert.ok((await page.textContent(".tip")).includes("ST-L1+ST-LLC"));
    await page.close();
});

await test("another series fills every tab, stays while one goes about, and the first choice needs no word in the address", async () => {
    const page = await openPage(SMALL, "#tab=functions");
    await page.selectOption("select.series", "software");
    await eventually(async () => assert.deepEqual((await gridRows(page, "Functions")).map((row) => [row[2], row[0], row[1]]), [["copy", "45.0 %", "45.0 %"], ["sort", "40.0 %", "40.0 %"], ["main", "15.0 %", "100 %"]]));
    await eventually(async () => assert.ok(page.url().endsWith("#tab=functions&series=software"), page.url()));
    await page.click("#tab-flame");
    await eventually(async () => assert.deepEqual(await page.$$eval(".frame", (list) => list.map((one) => [one.textContent, Math.round(parseFloat(one.style.width))])), [["main", 100], ["copy", 45], ["sort", 40]]));
    assert.ok((await page.textContent("#panel-flame .toolbar")).includes("Software: this source records no events."));
    await page.click("#tab-summary");
    await eventually(async () => assert.ok((await page.textContent(".quality")).includes("60.0 % – by instruction, against the golden reference")));
    await page.selectOption("select.series", "tea");
    await eventually(async () => assert.ok(page.url().endsWith("#tab=summary")));
    await page.goBack();
    await eventually(async () => assert.equal(await page.inputValue("select.series"), "software"));
    assert.deepEqual(page.trouble, []);
    await page.close();
});

await test("the flame graph zooms by key and by address", async () => {
    const page = await openPage(SMALL, "#tab=flame");
    await page.focus(".flame");
    for (const key of ["Home", "ArrowDown", "ArrowRight", "ArrowLeft"]) await page.keyboard.press(key);
    assert.equal(await page.textContent(".frame[aria-selected=true]"), "copy");
    assert.equal(await page.getAttribute(".flame", "aria-activedescendant"), "frame-1");
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => document.querySelectorAll(".frame").length === 3);
    await eventually(async () => assert.ok(page.url().endsWith("zoom=1"), page.url()));
    const widths = await page.$$eval(".frame", (list) => list.map((one) => [one.textContent, Math.round(parseFloat(one.style.width)), one.classList.contains("above")]));
    assert.deepEqual(widths, [["main", 100, true], ["copy", 100, false], ["sort", 19, false]]);
    await page.keyboard.press("Escape");
    await page.waitForFunction(() => document.querySelectorAll(".frame").length === 4);
    await page.click(".frame:has-text('copy')");
    await page.waitForFunction(() => document.querySelectorAll(".frame").length === 3);
    await page.click(".frame.above");
    await page.waitForFunction(() => document.querySelectorAll(".frame").length === 4);
    await page.close();
});

await test("the samplers' shares stand side by side, the largest disagreement first", async () => {
    const page = await openPage(SMALL, "#tab=samplers");
    const rows = await gridRows(page, "Shares by functions");
    assert.deepEqual(rows[0], ["copy", "60.0 %", "60.0 %", "45.0 %−15.0 %"]);
    assert.deepEqual(rows[1], ["sort", "30.0 %", "30.0 %", "40.0 %+10.0 %"]);
    await page.click("text=Instructions >> nth=1");
    await page.waitForSelector("[aria-label^='Shares by instructions']");
    const first = (await gridRows(page, "Shares by instructions"))[0];
    assert.ok(first[0].startsWith("mov rax, qword ptr [rsi]") || first[0].startsWith("mov qword ptr [rdi], rax"), first[0]);
    await page.close();
});

await test("one sampler: how much it moves, from where to where", async () => {
    const page = await openPage(SMALL, "#tab=samplers");
    await page.selectOption("select[aria-label=Sampler]", "software");
    await eventually(async () => assert.equal((await page.textContent(".moved")).replace(/\s+/g, " "), "64.5 % of the time is charged to another instruction of the same function, 15.0 % to another function."));
    const rows = await page.$$eval(".moves tbody tr", (list) => list.map((row) => [...row.children].map((cell) => cell.textContent)));
    assert.deepEqual(rows[0], ["40.0 %", "mov rax, qword ptr [rsi]", "mov qword ptr [rdi], rax", "1 instruction further", "copy"]);
    assert.deepEqual(rows[1], ["18.0 %", "jle 0x401208", "xchg eax, edx", "1 instruction further", "sort"]);
    assert.deepEqual(rows[2].slice(0, 4), ["3.00 %", "call copy", "push rbp", "1 instruction before"]);
    const first = (await gridRows(page, "Shares by instructions"))[0];
    assert.deepEqual(first.slice(1), ["45.0 %", "0 %−45.0 %", ""]);
    assert.equal(await page.getAttribute(".blame >> nth=0", "aria-label"), "45.0 % too little");
    await page.click("text=Functions >> nth=1");
    await eventually(async () => assert.deepEqual((await gridRows(page, "Shares by functions"))[0].slice(0, 3), ["copy", "60.0 %", "45.0 %−15.0 %"]));
    await page.close();
});

await test("eight samplers: the table scrolls sideways and cuts no number", async () => {
    const data = small();
    for (let i = 0; data.series.length < 8; i++) data.series.push({ ...data.series[2], name: `software${i}`, label: `Software ${i}` });
    const page = await openPage(pageFile("eight samplers", data), "#tab=samplers", { viewport: { width: 1400, height: 900 } });
    const [cut, reach] = await page.$eval(".compare", (grid) => {
        const cells = [...grid.querySelectorAll(".grid-space .cell")].filter((cell) => cell.querySelector(".share"));
        const cut = cells.filter((cell) => [...cell.children].some((one) => one.getBoundingClientRect().right > cell.getBoundingClientRect().right + 0.5 || one.scrollWidth > one.clientWidth + 1));
        grid.scrollLeft = 1e6;
        return [cut.length, grid.getBoundingClientRect().right - Math.max(...cells.map((cell) => cell.getBoundingClientRect().right))];
    });
    assert.equal(cut, 0);
    assert.ok(reach >= 0, `the last column ends ${-reach} pixels beyond the table`);
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth));
    await page.close();
});

await test("seven series: all columns are seen at 1400 pixels; at 600 no word is broken and no row hidden", async () => {
    const data = small();
    data.series[2].note = "interrupt-driven profilers, such as perf without hardware support";
    for (let i = 0; data.series.length < 7; i++) data.series.push({ ...data.series[2], name: `software${i}`, label: `Software ${i}` });
    const page = await openPage(pageFile("seven series", data), "#tab=samplers", { viewport: { width: 1400, height: 900 } });
    assert.equal(await page.$eval(".compare", (grid) => grid.scrollWidth - grid.clientWidth), 0);
    await page.setViewportSize({ width: 600, height: 800 });
    const [hidden, broken] = await page.$eval("#panel-samplers table.errors", (table) => {
        const line = document.createRange();
        const broken = [...table.querySelectorAll("td, th")].flatMap((cell) => [...cell.childNodes].flatMap((node) => [...node.data.matchAll(/\w+/g)].filter((word) => {
            line.setStart(node, word.index);
            line.setEnd(node, word.index + word[0].length);
            return line.getClientRects().length > 1;
        }).map((word) => word[0])));
        return [table.scrollHeight - table.clientHeight, broken];
    });
    assert.equal(hidden, 0);
    assert.deepEqual(broken, []);
    assert.ok(await page.$eval("#panel-samplers", (panel) => panel.scrollHeight > panel.clientHeight && getComputedStyle(panel).overflowY === "auto"));
    assert.ok(await page.$eval("#panel-samplers .compare", (grid) => grid.clientHeight >= 300));
    await page.close();
});

await test("two profiles: before, after, and what changed", async () => {
    const page = await openPage(COMPARED, "#tab=diff");
    const rows = await gridRows(page, "Functions before and after");
    assert.deepEqual(rows.map((row) => row.slice(0, 5)), [["copy", "1,000", "600", "−400", "1.67× faster"], ["sort", "150", "300", "+150", "2.00× slower"], ["old", "150", "0", "−150", "gone"], ["main", "0", "100", "+100", "new"]]);
    assert.equal(rows[0][6], "ST-L1+ST-LLC −500ST-L1 +100");
    assert.equal((await page.textContent("#panel-diff .headline")).replace(/\s+/g, " "), "demo: 1.30× faster (−300 cycles)");
    assert.ok((await page.textContent("#panel-diff [role=status]")).includes("saved 42.3 %, added 19.2 % of the earlier time"));
    await page.click("#panel-diff [role=columnheader] button:text('Before')");
    await eventually(async () => assert.deepEqual((await gridRows(page, "Functions before and after")).map((row) => row[0]), ["copy", "sort", "old", "main"]));
    await page.fill("#panel-diff input", "lib");
    await eventually(async () => assert.deepEqual((await gridRows(page, "Functions before and after")).map((row) => row[0]), ["sort"]));
    await page.click("#panel-diff a");
    await eventually(async () => assert.ok(page.url().endsWith("#function=sort")));
    const data = compared();
    const pairs = [[100210, 100000], [100000, 100210], [100001, 100000], [10060, 10000], [0, 0], [1234567, 1000]];
    data.diff.rows = pairs.map(([before, cycles], i) => ({ name: `f${i}`, module: "demo", function: `f${i}`, before, cycles, change: cycles - before, before_executions: 1000, executions: 1000 + 4 * i }));
    Object.assign(data.diff.rows[5], { before_components: { Base: 1234000, "FL-MB": 567 }, components: { Base: 1000 } }); // FL-MB's is too little to say
    Object.assign(data.diff.before, { cycles: 100210, instructions: 2000 });
    Object.assign(data.diff.summary, { cycles: 100000, instructions: 1900 });
    const close = await openPage(pageFile("diff of little", data), "#tab=diff");
    assert.equal((await close.textContent("#panel-diff .headline")).replace(/\s+/g, " "), "demo: 0.21 % faster (−210 cycles, instructions −5.0 %)");
    const said = Object.fromEntries((await gridRows(close, "Functions before and after")).map((row) => [row[0], [row[4], row[6]]]));
    assert.deepEqual(said, { f0: ["0.21 % faster", ""], f1: ["0.21 % slower", ""], f2: ["same", "instructions +0.8 %"], f3: ["1.01× faster", "instructions +1.2 %"], f4: ["same", "instructions +1.6 %"], f5: ["1235× faster", "Base −1.23 Minstructions +2.0 %"] });
    assert.deepEqual(await close.$$eval("#panel-diff .grid-space .cell:is(.better, .worse)", (list) => list.length), 5); // not the one without a change
    await close.close();
    data.diff.differ_in = "core, arguments";
    const warned = await openPage(pageFile("diff of two cores", data), "#tab=diff");
    assert.ok((await warned.textContent("#panel-diff .missing")).includes("more than the program: core, arguments"));
    await warned.close();
    await page.close();
});

// --- data, branches ----------------------------------------------------------------------------------------------------

const column = async (page, label, at) => (await gridRows(page, label)).map((row) => row[at]);

await test("objects: their time, what was met of them, and the instructions that access them", async () => {
    const page = await openPage(COMPARED, "#tab=data");
    const rows = await gridRows(page, "Objects");
    assert.deepEqual(rows, [
        ["40.0 %", "table", "", "40", "75.0 %", "25.0 %", "12", "300", "demo", "copy 60 %, copy+0x3 25 %, 3 more"],
        ["16.0 %", "[heap]", "", "15", "100 %", "100 %", "3", "24", "", "sort+0x2 100 %"],
        ["4.00 %", "[anon] 0x7f0000000000", "", "5", "100 %", "0 %", "1", "8", "", "gone+0x8 100 %"]]);
    assert.equal(await page.textContent("#panel-data .origins"), "Addresses of 100 samples: 10.0 % exact (of the interrupted instruction); " +
        "85.0 % watched (when the instruction was executed again); 5.00 % none (the way depends on loaded values: 3, they are in the kernel: 2).");
    assert.equal(await page.textContent("#panel-data [role=status]"), "3 objects in 100 samples; 7 more, with 40.0 % of the time, are not in the page");
    const widths = await page.$$eval("#panel-data .bar .seg", (list) => list.map((one) => Math.round((100 * one.getBoundingClientRect().width) / one.parentElement.clientWidth)));
    assert.deepEqual(widths, [100, 40, 10]);
    assert.deepEqual(await page.$$eval("#panel-data .grid a", (list) => list.map((one) => one.getAttribute("href"))), ["#function=copy&insn=0x401104", "#function=copy&insn=0x401107", "#function=sort&insn=0x401202"]);
    await page.click("#panel-data a:text('copy+0x3')");
    await eventually(async () => assert.ok((await page.textContent("[aria-label='Instructions of copy'] [aria-selected=true]")).includes("mov qword ptr [rdi], rax")));
    assert.deepEqual(page.trouble, []);
    await page.close();
});

await test("branches: from, to, how often, mispredictions and cycles", async () => {
    const page = await openPage(COMPARED, "#tab=branches");
    assert.deepEqual(await gridRows(page, "Branches"), [
        ["63.3 %", "copy+0xd  demo", "copy  demo", "", "190", "19", "10.0 %", "4.00"],
        ["20.0 %", "sort+0x2  libsort.so", "sort+0x5  libsort.so", "", "60", "30", "50.0 %", "10.0"],
        ["3.33 %", "main+0x1  demo", "gone", "", "10", "0", "0 %", "1,200"]]);
    assert.equal(await page.textContent("#panel-branches [role=status]"), "3 branches, recorded as taken 300 times, 16.7 % of them mispredicted; 3 more, with 13.3 % of those taken, are not in the page");
    assert.deepEqual(await page.$$eval("#panel-branches .bar", (list) => list.map((one) => [one.getAttribute("aria-label"), ...[...one.children].map((part) => Math.round((100 * part.getBoundingClientRect().width) / one.clientWidth))])), [
        ["63.3 % of the taken branches, 10.0 % of them mispredicted", 90, 10], ["20.0 % of the taken branches, 50.0 % of them mispredicted", 16, 16], ["3.33 % of the taken branches, 0 % of them mispredicted", 5]]);
    await page.click("#panel-branches a:text('sort+0x5')");
    await eventually(async () => assert.ok(page.url().endsWith("#function=sort&insn=0x401205")));
    const data = withLists(small());
    delete data.series[0].branches.cycles;
    delete data.series[0].branches.rest;
    const plain = await openPage(pageFile("branches without cycles", data), "#tab=branches");
    assert.deepEqual(await plain.locator("#panel-branches [role=columnheader]").allTextContents(), ["Share", "From", "To", "Taken, mispredicted", "Taken", "Mispredicted", "Rate"]);
    assert.ok((await plain.textContent("#panel-branches [role=status]")).endsWith("recorded as taken 260 times, 18.8 % of them mispredicted"));
    assert.deepEqual(page.trouble, []);
    await plain.close();
    await page.close();
});

await test("waits: who waited for whom, for what, and which code made it wait", async () => {
    const page = await openPage(COMPARED, "#tab=waits");
    assert.ok((await page.textContent("#panel-waits .origins")).startsWith("200 cycles of waiting for lines that another core had, in 20 transfers; 75.0 % of it false sharing. Pattern: one pair."));
    assert.deepEqual(await page.$$eval("#panel-waits .heat-map svg", (list) => list.map((one) => one.getAttribute("aria-label"))), [
        "All waits: thread 2 for thread 1 140 cycles, thread 1 for thread 2 60 cycles",
        "True sharing: thread 2 for thread 1 40 cycles, thread 1 for thread 2 10 cycles",
        "False sharing: thread 2 for thread 1 100 cycles, thread 1 for thread 2 50 cycles"]);
    assert.deepEqual(await page.$$eval("#panel-waits .heat-map:first-child .heat-cell", (list) => list.map((one) => [one.textContent, one.style.fillOpacity])), [
        ["thread 1 waited 60 cycles for thread 2", "0.474286"], ["thread 2 waited 140 cycles for thread 1", "1"]]);
    assert.deepEqual(await page.$$eval("#panel-waits table tbody tr", (list) => list.map((row) => [...row.children].map((cell) => cell.textContent).join("|"))), [
        "75.0 %|150|15|100 %|table", "25.0 %|50|5|0 %|[heap]", "75.0 %|150|15|100 %|table[3].hits  by copy+0x3", "25.0 %|50|5|0 %|[heap]+0x40  by sort+0x2"]);
    assert.deepEqual(await gridRows(page, "Pairs of code"), [
        ["75.0 %", "150", "copy+0x3", "copy", "table", "15", "100 %"], ["15.0 %", "30", "sort+0x2", "gone", "[heap]", "2", "0 %"], ["10.0 %", "20", "sort+0x2", "main+0x1", "[heap]", "3", "0 %"]]);
    assert.equal(await page.textContent("#panel-waits [role=status]"), "3 pairs of code, 100 % of the cycles");
    await page.click("#panel-waits [role=grid] a:text('main+0x1')");
    await eventually(async () => assert.ok(page.url().includes("#function=main")));
    assert.deepEqual(page.trouble, []);
    await page.close();
});

await test("reuse: distances, curve, working set, caches, pairs of code and objects of a run of its own", async () => {
    const page = await openPage(COMPARED, "#tab=reuse");
    assert.equal(await page.textContent("#panel-reuse .origins"), "A run of its own: bin/demo --size 3, every access, granules of 64 B; 1,000 accesses, 90.0 % reuses in threads, 6.00 % first touches, 40 invalidations, 20 reuses of another thread's lines, 25.0 % of them false sharing.");
    assert.deepEqual(await page.$$eval("#panel-reuse svg", (list) => list.map((one) => one.getAttribute("aria-label"))), [
        "Reuse distance: distinct granules in between: in threads: most, 66.7 %, from 0 to 0; between threads, in the shared cache: most, 100 %, from 2 to 3",
        "Time distance: accesses in between: in threads: most, 66.7 %, from 1 to 1; between threads, in the shared cache: most, 100 %, from 2 to 3",
        "Misses by the size of a cache: L1, 32 KiB: 17.5 %; L2 here, 512 KiB: 10.0 %; L3 here, 8 MiB: 10.0 %",
        "Working set over time: at most 12.5 KiB in 250 accesses"]);
    const heights = await page.$$eval("#panel-reuse svg:first-of-type rect", (list) => list.map((one) => Number(one.getAttribute("height"))));
    assert.deepEqual(heights.slice(0, 4).map((height) => Math.round((1000 * height) / heights[3]) / 1000), [0.667, 0.25, 0.083, 1]);
    assert.deepEqual(await page.$$eval("#panel-reuse table tbody tr", (list) => list.map((row) => [...row.children].map((cell) => cell.textContent).join("|"))), [
        "32 KiB|17.5 %|18.0 %|60|75|5|40|L1", "675|75|5|0|33.3 %|copy at demo.c:10|copy at demo.c:10", "225|0|–|0|33.3 %|gone|main at demo.c:3", "20|0|–|0|50.0 %|copy at demo.c:10|sort at demo.c:12",
        "180|60|75|5|40|8.0|copy at demo.c:10", "180|60|75|5|40|8.0|1,100|table|table+0x40"]);
    assert.equal(await page.textContent("#panel-reuse li"), "order of loops (40.0 %): copy at demo.c:10: let the inner loop walk along the line");
    await page.click("#panel-reuse table a:text('main')");
    await eventually(async () => assert.ok(page.url().endsWith("#function=main")));
    const odd = { ...small(), reuse: { program: 7, method: "__proto__", histogram: [null, 3, { lo: "a" }], miss_ratio: [{}, { bytes: 64 }, { bytes: 128 }], pairs: [{}], code: [{}], objects: [{}], working_set: { bytes: ["a", 1] }, shared: 5, caches: [{}], advice: [{}] } };
    const strange = await openPage(pageFile("odd reuse", odd), "#tab=reuse");
    assert.ok((await strange.textContent("#panel-reuse .origins")).startsWith("A run of its own: , unknown, granules of 0 B; 0 accesses."));
    assert.deepEqual(strange.trouble, []);
    await strange.close();
    assert.deepEqual(page.trouble, []);
    await page.close();
});

await test("reuse: what is not sure says so: ratios of a sample, distances that were timed, accesses of a run that is too short", async () => {
    const sampled = { ...reuse(), method: "lines", miss_ratio: [{ bytes: 64, ratio: 0.4, shared: 0.45, ratio_error: 0.1, shared_error: 0.05 }, { bytes: 4096, ratio: 0.2, shared: 0.2, ratio_error: 0.02, shared_error: 0 }, { bytes: 1048576, ratio: 0.1, shared: 0.06, ratio_error: 0, shared_error: 0 }] };
    const page = await openPage(pageFile("sampled reuse", { ...small(), reuse: sampled }), "#tab=reuse");
    const labels = await page.$$eval("#panel-reuse svg", (list) => list.map((one) => one.getAttribute("aria-label")));
    assert.equal(labels[2], "Misses by the size of a cache: L1, 32 KiB: 17.5 % ± 2.00; L2 here, 512 KiB: 10.0 % ± 2.00; L3 here, 8 MiB: 10.0 % ± 0.00");
    const bands = await page.$$eval("#panel-reuse polygon.chart-band", (list) => list.map((one) => one.getAttribute("points").split(" ").map((point) => point.split(",").map(Number))));
    assert.equal(bands.length, 2);
    const [first, last] = [bands[0][0], bands[0][7]]; // of the smallest size, above and below: 0.5 is the top
    assert.equal(first[0], last[0]);
    assert.ok(Math.abs((last[1] - first[1]) / (240 - 12 - 34) - 0.2 / 0.5) < 0.01, `${first} ${last}`);
    assert.ok((await page.textContent("#panel-reuse")).includes("Shaded: where the ratio is"));
    await page.close();
    const native = { program: ["bin/demo"], source: "timer", method: "watchpoints", granularity: 8, accesses: null, native: { accesses_least: 5050, accesses_most: 8080480 }, miss_ratio: [],
        time_histogram: [{ lo: 1, hi: 1, count: 60, how: "counted", counted: 1, off: 1 }, { lo: 1024, hi: 2047, count: 40, how: "both", counted: 0.25, off: 4 }] };
    const short = await openPage(pageFile("short reuse", { ...small(), reuse: native }), "#tab=reuse");
    assert.equal(await short.textContent("#panel-reuse .origins"), "A run of its own: bin/demo, samples and watchpoints, granules of 8 B; between 5,050 and 8,080,480 accesses, too short a run to say how many.");
    assert.equal(await short.textContent("#panel-reuse .card p"), "30.0 % of the distances were timed, not counted: these may be 4.0 times too long or too short.");
    assert.ok((await short.textContent("#panel-reuse rect:last-of-type title")).endsWith("40 reuses, 40.0 %; 75.0 % of them timed, so the distance may be 4.0 times too long or too short"));
    await short.close();
    const longer = await openPage(pageFile("longer reuse", { ...small(), reuse: { ...native, accesses: 9000 } }), "#tab=reuse");
    assert.ok((await longer.textContent("#panel-reuse .origins")).includes("; 9,000 accesses, between 5,050 and 8,080,480 in all likelihood."));
    await longer.close();
});

for (const [tab, label, name, orders, searches] of [
    ["data", "Objects", 1,
        { Object: "[anon] 0x7f0000000000|[heap]|table", Samples: "table|[heap]|[anon] 0x7f0000000000", Loads: "[heap]|[anon] 0x7f0000000000|table", Stores: "[heap]|table|[anon] 0x7f0000000000", Lines: "table|[heap]|[anon] 0x7f0000000000",
            Bytes: "table|[heap]|[anon] 0x7f0000000000", Module: "[heap]|[anon] 0x7f0000000000|table", "Accessed by": "table|[heap]|[anon] 0x7f0000000000", Time: "table|[heap]|[anon] 0x7f0000000000" },
        { HEAP: "[heap]", "sort+": "[heap]", demo: "table", "7f00": "[anon] 0x7f0000000000", nothing: "" }],
    ["branches", "Branches", 5,
        { From: "19|0|30", To: "19|0|30", Taken: "19|30|0", Mispredicted: "30|19|0", Rate: "30|19|0", Cycles: "0|30|19", Share: "19|30|0" }, { "LIBSORT": "30", "main gone": "0", "copy": "19", nothing: "" }],
])
    await test(`${tab}: every column sorts both ways, search and its key lead into the table`, async () => {
        const page = await openPage(COMPARED, `#tab=${tab}`);
        const headers = page.locator(`#panel-${tab} [role=columnheader]:has(button)`);
        assert.deepEqual((await headers.allTextContents()).sort(), Object.keys(orders).sort());
        for (const [title, order] of Object.entries(orders)) {
            const header = headers.filter({ hasText: new RegExp(`^${title}$`) });
            await header.locator("button").click();
            const first = await header.getAttribute("aria-sort");
            assert.equal(first, ["Object", "Module", "From", "To"].includes(title) ? "ascending" : "descending");
            assert.equal((await column(page, label, name)).join("|"), order, title);
            await header.locator("button").click();
            assert.equal(await header.getAttribute("aria-sort"), first === "ascending" ? "descending" : "ascending");
            assert.equal((await column(page, label, name)).at(first === "ascending" || title === "Loads" ? 0 : -1), order.split("|").at(title === "Loads" ? -1 : first === "ascending" ? -1 : 0), title);
        }
        await page.keyboard.press("/");
        for (const [text, found] of Object.entries(searches)) {
            await page.fill(`#panel-${tab} input`, text);
            await eventually(async () => assert.equal((await column(page, label, name)).join("|"), found, text));
        }
        await page.keyboard.press("Escape");
        await eventually(async () => assert.equal((await gridRows(page, label)).length, 3));
        await page.click(`#panel-${tab} [role=columnheader] button:text-matches("^(Time|Share)")`);
        await page.focus(`#panel-${tab} input`);
        for (const key of ["ArrowDown", "ArrowDown", "ArrowDown"]) await page.keyboard.press(key);
        const said = (await page.textContent(`#panel-${tab} .row-detail`)).trim();
        assert.equal(said, tab === "data" ? "[heap]; accessed by sort+0x2 100 %" : "From sort+0x2 jle 0x401208 to sort+0x5 ret");
        await page.keyboard.press("Enter");
        await eventually(async () => assert.ok(page.url().endsWith("#function=sort&insn=0x401202")));
        await page.goBack();
        await eventually(async () => assert.equal(await page.getAttribute(`#tab-${tab}`, "aria-selected"), "true"));
        await page.focus(`#panel-${tab} [role=grid]`);
        await page.keyboard.press("Home");
        const within = () => page.evaluate(() => document.activeElement.closest(".row-detail") !== null);
        for (let i = 0; i < 15 && !(await within()); i++) await page.keyboard.press("Tab"); // past the columns' buttons
        assert.ok(await within(), "the links below the table are reached with keys");
        await page.keyboard.press("Enter");
        await eventually(async () => assert.ok(page.url().endsWith(tab === "data" ? "#function=copy&insn=0x401104" : "#function=copy&insn=0x401111"), page.url()));
        assert.deepEqual(page.trouble, []);
        await page.close();
    });

await test("objects and branches: a row says more below the table, and one without instructions in the page says so", async () => {
    const page = await openPage(COMPARED, "#tab=data");
    await page.click("#panel-data .row:has-text('table')");
    assert.equal(await page.textContent("#panel-data .row-detail"), "table, 4,096 bytes at 0x404000 in demo; accessed by copy 60 %, copy+0x3 25 %, 3 more");
    await page.fill("#panel-data input", "anon");
    await page.focus("#panel-data [role=grid]");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    assert.ok((await page.textContent("body > [role=status]")).includes("not in the page"));
    await eventually(async () => assert.ok(page.url().includes("tab=data"), page.url()));
    await page.close();
});

await test("objects and branches belong to a series: without any the tabs are not there, another series says that it has none", async () => {
    const none = await openPage(SMALL);
    assert.equal(await none.locator("#tab-data, #tab-branches").count(), 0);
    await none.close();
    for (const [tab, text] of [["data", "Software has no data addresses"], ["branches", "Software has no branches"]]) {
        const page = await openPage(COMPARED, `#tab=${tab}&series=software`);
        assert.ok((await page.textContent(`#panel-${tab} .missing`)).startsWith(text));
        await page.selectOption("select.series", "tea");
        await eventually(async () => assert.equal((await gridRows(page, tab === "data" ? "Objects" : "Branches")).length, 3));
        assert.deepEqual(page.trouble, []);
        await page.close();
    }
});

await test("objects and branches: narrow, the table scrolls and nothing else; on paper it is whole", async () => {
    for (const tab of ["data", "branches"]) {
        const page = await openPage(COMPARED, `#tab=${tab}`, { viewport: { width: 600, height: 800 } });
        const [outside, inside] = await page.evaluate((id) => [document.documentElement, document.querySelector(`#panel-${id} .grid`)].map((one) => one.scrollWidth - one.clientWidth), tab);
        assert.equal(outside, 0);
        assert.ok(inside > 100);
        await page.setViewportSize({ width: 1032, height: 800 }); // A4 lying, without its margins
        await page.emulateMedia({ media: "print" });
        await page.evaluate(() => window.dispatchEvent(new Event("beforeprint")));
        assert.ok(await page.$eval(`#panel-${tab} .grid-space`, (space) => space.scrollWidth <= window.innerWidth));
        assert.equal(await page.isVisible(`#panel-${tab} .row-detail`), false);
        assert.equal(await page.$eval(`#panel-${tab} .grid-space .row`, (row) => getComputedStyle(row).position), "static");
        await page.close();
    }
});

await test("the tenth tab has a key too", async () => {
    const page = await openPage(COMPARED);
    assert.equal(await page.locator("[role=tab]").count(), 12);
    await page.keyboard.press("0");
    await page.waitForSelector("#panel-samplers:not([hidden])");
    await page.close();
});

await test("one thread: its functions, shares of its own time, and only columns that it has", async () => {
    const data = small();
    data.threads = [{ name: "demo", cycles: 700 }, { name: "worker", cycles: 300 }];
    data.series[0].threads = [{ row: [0, 1], component: [0, 0], cycles: [100, 600] }, { row: [2, 0], component: [0, 6], cycles: [200, 100] }];
    const page = await openPage(pageFile("threads", data), "#tab=functions");
    await page.selectOption("select[aria-label=Thread]", "1");
    await eventually(async () => assert.deepEqual((await gridRows(page, "Functions")).map((row) => row.slice(0, 2)), [["100 %", "sort"]]));
    assert.ok((await page.textContent("#panel-functions [role=status]")).includes("1 function, 30.0 % of the program's time"));
    assert.deepEqual(await page.locator("#panel-functions [role=columnheader]").allTextContents(), ["Self", "Function", "Cycle stack", "Cycles", "Module"]);
    await page.selectOption("select[aria-label=Thread]", "-1");
    await eventually(async () => assert.equal((await gridRows(page, "Functions")).length, 3));
    await page.goto(`file://${pageFile("threads", data)}#tab=functions&thread=7`);
    assert.equal((await gridRows(page, "Functions")).length, 3);
    assert.deepEqual(page.trouble, []);
    await page.close();
});

await test("functions without time, calls or executions are not listed", async () => {
    const data = small();
    data.functions = Object.fromEntries(Object.entries(data.functions).map(([name, column]) => [name, [...column, { name: data.strings.push("(no function)") - 1, address: "0x0", count: 0 }[name] ?? -1]]));
    const page = await openPage(pageFile("empty function", data), "#tab=functions");
    assert.deepEqual(await functionNames(page), ["copy", "sort", "main"]);
    assert.ok((await page.textContent("#panel-functions [role=status]")).startsWith("3 functions"));
    await page.close();
});

await test("instructions of inlined functions say which", async () => {
    const data = small();
    const of = (text) => data.strings.push(text) - 1;
    data.instructions.inlined = data.instructions.text.map((_, row) => ({ 5: 1, 6: 0 })[row] ?? -1);
    data.instructions.inlines = { parent: [-1, 0], name: [of("outer"), of("inner")], file: [0, 0], line: [9, 10] };
    const page = await openPage(pageFile("inlined", data), "#function=copy");
    const heads = await page.locator("#panel-annotate .instructions [role=columnheader]").allTextContents();
    const at = heads.indexOf("Inlined from");
    assert.deepEqual((await gridRows(page, "Instructions of copy")).map((row) => row[at]), ["", "inner ‹ outer", "outer", "", "", ""]);
    await page.goto(`file://${pageFile("inlined", data)}#function=main`);
    await eventually(async () => assert.ok(!(await page.locator("#panel-annotate .instructions [role=columnheader]").allTextContents()).includes("Inlined from")));
    await page.close();
});

await test("the panes' divider moves with keys, and long source lines can be scrolled to", async () => {
    const data = small();
    data.files[0].lines[9] = "        " + "x".repeat(180);
    const page = await openPage(pageFile("divider", data), "#function=copy");
    const width = () => page.$eval(".source", (pane) => pane.getBoundingClientRect().width);
    const before = await width();
    await page.focus(".divider");
    await page.keyboard.press("ArrowLeft");
    assert.ok((await width()) > before + 20);
    assert.equal(await page.getAttribute(".divider", "aria-valuenow"), "50");
    assert.ok(await page.$eval(".lines", (grid) => grid.scrollWidth > grid.clientWidth + 500));
    assert.ok(await page.$$eval(".lines .cell.code", (cells) => cells.every((cell) => cell.scrollWidth <= cell.clientWidth + 1)));
    await page.close();
});

for (const width of [1400, 1000, 600, 360])
    await test(`${width} pixels: every tab is in sight and can be clicked`, async () => {
        const page = await openPage(COMPARED, "", { viewport: { width, height: 800 } });
        for (const tab of await page.$$("[role=tab]")) {
            const { x, width: wide } = await tab.boundingBox();
            const list = await page.locator("[role=tablist]").boundingBox();
            assert.ok(x >= list.x && x + wide <= list.x + list.width && list.x + list.width <= width, await tab.textContent());
            await tab.click();
            await page.waitForTimeout(30);
            await eventually(async () => assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth), await tab.textContent()));
        }
        await page.close();
    });

// --- keys, screen readers ----------------------------------------------------------------------------------------------

await test("everything can be reached with keys alone", async () => {
    const page = await openPage(SMALL);
    await page.keyboard.press("Tab");
    assert.equal(await page.evaluate(() => document.activeElement.id), "tab-summary");
    await page.keyboard.press("ArrowRight");
    await page.waitForSelector("#panel-functions:not([hidden])");
    assert.equal(await page.evaluate(() => document.activeElement.id), "tab-functions");
    await page.keyboard.press("/");
    await page.keyboard.type("o");
    await page.keyboard.press("ArrowDown"); // from the field into the table
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    assert.ok((await page.textContent("#panel-functions [aria-selected=true]")).includes("sort"));
    const active = await page.getAttribute("#panel-functions [role=grid]", "aria-activedescendant");
    assert.equal(await page.getAttribute(`#${active}`, "aria-selected"), "true");
    await page.keyboard.press("Enter");
    await page.waitForSelector("#panel-annotate:not([hidden])");
    assert.equal(await page.textContent(".function-head h2"), "sort");
    assert.equal(await page.evaluate(() => document.activeElement.getAttribute("aria-label")), "Instructions of sort");
    await page.keyboard.press("Home");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter"); // follows the jump
    await eventually(async () => assert.ok(page.url().includes("insn=0x401205"), page.url()));
    await page.keyboard.press("p"); // from the fourth hottest to the third
    assert.ok((await page.textContent("#panel-annotate .code-pane [aria-selected=true]")).includes("xchg"));
    await page.keyboard.press("Escape");
    await page.waitForSelector("#panel-functions:not([hidden])");
    assert.equal(await page.evaluate(() => document.activeElement.getAttribute("role")), "grid");
    await page.keyboard.press("7");
    await page.waitForSelector("#panel-run:not([hidden])");
    await page.keyboard.press("?");
    assert.ok((await page.textContent("dialog[open]")).includes("the next or previous hot instruction"));
    await page.keyboard.press("Escape");
    await page.waitForSelector("dialog", { state: "detached" });
    await page.close();
});

await test("a tab's number puts the keys into it, also when it is there already", async () => {
    const page = await openPage(SMALL);
    const focus = () => page.evaluate(() => document.activeElement.getAttribute("role"));
    await page.keyboard.press("2");
    await eventually(async () => assert.equal(await focus(), "grid"));
    await page.keyboard.press("ArrowDown");
    assert.ok((await page.textContent("#panel-functions [aria-selected=true]")).includes("copy"));
    await page.keyboard.press("Enter");
    await eventually(async () => assert.equal(await page.textContent(".function-head h2"), "copy"));
    await page.keyboard.press("3");
    await eventually(async () => assert.equal(await focus(), "tree"));
    await page.focus("#tab-flame");
    await page.keyboard.press("3");
    assert.equal(await focus(), "tree");
    await page.keyboard.press("1");
    await eventually(async () => assert.equal(await focus(), "tabpanel"));
    await page.close();
});

await test("roles, names and relations hold on every tab", async () => {
    const page = await openPage(COMPARED);
    assert.equal(await page.getAttribute("html", "lang"), "en");
    assert.equal(await page.locator("h1").count(), 1);
    for (const id of await page.$$eval("[role=tab]", (list) => list.map((one) => one.id))) {
        await page.click(`#${id}`);
        await page.waitForTimeout(50);
        const wrong = await page.evaluate(() => {
            const bad = [];
            const shown = (one) => one.getClientRects().length > 0;
            const nameOf = (one) => one.getAttribute("aria-label") || one.textContent.trim() || one.title;
            for (const one of document.querySelectorAll("button, a, [role=grid], [role=tree], [role=treeitem], [role=img], [role=tab], [role=tablist], [role=group], input, select"))
                if (shown(one) && !nameOf(one)) bad.push(`no name: ${one.outerHTML.slice(0, 100)}`);
            for (const one of document.querySelectorAll("input, select")) if (!one.getAttribute("aria-label")) bad.push("a field without a label");
            for (const tab of document.querySelectorAll("[role=tab]")) {
                const panel = document.getElementById(tab.getAttribute("aria-controls"));
                if (panel?.getAttribute("role") !== "tabpanel" || panel.getAttribute("aria-labelledby") !== tab.id) bad.push(`tab without panel: ${tab.id}`);
                if (panel.hidden === (tab.getAttribute("aria-selected") === "true")) bad.push(`panel and tab differ: ${tab.id}`);
            }
            for (const grid of document.querySelectorAll("[role=grid]")) {
                const columns = grid.querySelectorAll("[role=columnheader]").length;
                if (Number(grid.getAttribute("aria-colcount")) !== columns) bad.push("aria-colcount");
                if (!(Number(grid.getAttribute("aria-rowcount")) >= 1)) bad.push("aria-rowcount");
                for (const row of grid.querySelectorAll(".grid-space [role=row]"))
                    if (row.querySelectorAll("[role=gridcell]").length !== columns || !row.getAttribute("aria-rowindex")) bad.push("a row that does not fit");
                const order = [...grid.querySelectorAll(".grid-space [role=row]")].map((row) => Number(row.getAttribute("aria-rowindex")));
                if (order.some((index, i) => i > 0 && index !== order[i - 1] + 1)) bad.push("rows out of order");
            }
            for (const table of document.querySelectorAll("table.plain")) if (!table.querySelector("caption") && !table.closest("details")) bad.push("a table without caption");
            const ids = [...document.querySelectorAll("[id]")].map((one) => one.id);
            if (new Set(ids).size !== ids.length) bad.push("an id twice");
            if (document.querySelector("[tabindex]:not([tabindex='0']):not([tabindex='-1'])")) bad.push("a tabindex above 0");
            return bad;
        });
        assert.deepEqual(wrong, [], id);
    }
    await page.close();
});

await test("a bar says in words what it shows", async () => {
    const page = await openPage(SMALL, "#tab=functions");
    assert.equal(await page.getAttribute("#panel-functions .bar >> nth=0", "aria-label"), "ST-L1+ST-LLC 50.0 %, Base 25.0 %, ST-L1 16.7 %, DR-SQ 8.33 %");
    await page.hover("#panel-functions .bar >> nth=0");
    assert.ok((await page.textContent("[role=tooltip]")).includes("ST-L1+ST-LLC30050.0 %"));
    await page.close();
});

// --- colours, paper, narrow windows ------------------------------------------------------------------------------------

for (const scheme of ["light", "dark"])
    await test(`text can be read in the ${scheme} colours`, async () => {
        const page = await openPage(SMALL, "", { colorScheme: scheme });
        const colours = await page.evaluate(() => {
            const probe = document.body.appendChild(document.createElement("i"));
            const value = (name) => {
                probe.style.color = `var(--${name})`;
                return getComputedStyle(probe).color;
            };
            return Object.fromEntries(["bg", "panel", "soft", "accent-soft", "ink", "dim", "accent", "warn", "bad", "good"].map((name) => [name, value(name)]));
        });
        assert.equal(contrast(colours.bg, "rgb(0,0,0)") < contrast(colours.bg, "rgb(255,255,255)"), scheme === "dark");
        for (const ground of ["bg", "panel", "soft", "accent-soft"])
            for (const text of ["ink", "dim", "accent", "warn", "bad", "good"]) {
                if (ground !== "panel" && ground !== "bg" && !["ink", "dim", "accent"].includes(text)) continue;
                assert.ok(contrast(colours[ground], colours[text]) >= 4.5, `${text} on ${ground}: ${contrast(colours[ground], colours[text]).toFixed(2)}`);
            }
        await page.close();
    });

for (const scheme of ["light", "dark"])
    await test(`every text on every tab has a contrast of 4.5 to what is behind it, ${scheme}`, async () => {
        const page = await openPage(COMPARED, "", { colorScheme: scheme });
        const low = new Map();
        for (const tab of await page.$$("[role=tab]")) {
            await tab.click();
            await page.waitForTimeout(60);
            for (const [text, ink, ground] of await page.evaluate(textColours)) if (contrast(ink, ground) < 4.5) low.set(`${text}: ${ink} on ${ground}`, contrast(ink, ground));
        }
        await page.goto(`file://${COMPARED}#tab=flame&zoom=1`);
        await page.waitForSelector(".frame.above");
        for (const [text, ink, ground] of await page.evaluate(textColours)) if (contrast(ink, ground) < 4.5) low.set(`${text}: ${ink} on ${ground}`, contrast(ink, ground));
        assert.deepEqual([...low], []);
        await page.close();
    });

/** In the page: each visible text with its colour and the colour behind it, both as they come out after all opacities. Frames of
 * the flame graph are taken as if all of their tint lay behind the text. */
function textColours() {
    const parse = (colour) => {
        const [red, green, blue, alpha = 1] = colour.match(/[\d.]+/g).map(Number);
        return { rgb: [red, green, blue], alpha };
    };
    const over = (top, alpha, below) => top.map((value, i) => value * alpha + below[i] * (1 - alpha));
    const groundOf = (element) => {
        if (!element) return [255, 255, 255];
        const style = getComputedStyle(element);
        const below = groundOf(element.parentElement);
        const { rgb, alpha } = parse(style.backgroundColor);
        let ground = over(rgb, alpha, below);
        const tint = element.classList.contains("frame") ? element.querySelector(".stripe") : null;
        if (tint) {
            const inside = getComputedStyle(tint);
            const colours = (inside.backgroundImage === "none" ? inside.backgroundColor : inside.backgroundImage).match(/rgba?\([^)]*\)/g).map(parse);
            const dark = matchMedia("(prefers-color-scheme: dark)").matches;
            const light = ({ rgb: [red, green, blue] }) => red + green + blue;
            const worst = colours.sort((a, b) => (dark ? light(b) - light(a) : light(a) - light(b)))[0];
            ground = over(worst.rgb, Number(inside.opacity), ground);
        }
        return ground;
    };
    const opacityOf = (element) => (element ? Number(getComputedStyle(element).opacity) * opacityOf(element.parentElement) : 1);
    const found = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
        const element = walker.currentNode.parentElement;
        const text = walker.currentNode.textContent.trim();
        if (!text || element.closest(".hidden, option, [aria-hidden=true]") || element.getClientRects().length === 0) continue;
        const ground = groundOf(element);
        const { rgb, alpha } = parse(getComputedStyle(element).color);
        const show = (colour) => `rgb(${colour.map((value) => Math.round(value)).join(",")})`;
        found.push([text.slice(0, 40), show(over(rgb, alpha * opacityOf(element), ground)), show(ground)]);
    }
    return found;
}

await test("nothing moves for those who asked for that", async () => {
    const page = await openPage(SMALL, "#tab=flame", { reducedMotion: "reduce" });
    const moving = await page.$$eval("*", (list) => list.filter((one) => getComputedStyle(one).transitionDuration.split(",").some((time) => parseFloat(time) > 0) || getComputedStyle(one).animationName !== "none" || getComputedStyle(one).scrollBehavior === "smooth").length);
    assert.equal(moving, 0);
    await page.close();
});

await test("the focus can be seen wherever the tab key leads, on every tab", async () => {
    const page = await openPage(COMPARED);
    for (const tab of await page.$$eval("[role=tab]", (list) => list.map((one) => one.id))) {
        await page.click(`#${tab}`);
        await page.focus(`#${tab}`);
        const seen = new Set();
        for (let i = 0; i < 60; i++) {
            await page.keyboard.press("Tab");
            const at = await page.evaluate(() => {
                const one = document.activeElement;
                if (!one || one === document.body) return null;
                const style = getComputedStyle(one);
                const box = one.getBoundingClientRect();
                const name = `${one.tagName} ${one.getAttribute("aria-label") || one.textContent.slice(0, 30)} ${one.className}`;
                return { name, outline: parseFloat(style.outlineWidth) > 0 && style.outlineStyle !== "none", there: box.width > 0 && box.height > 0 };
            });
            if (at === null || seen.has(at.name)) break;
            seen.add(at.name);
            assert.ok(at.outline && at.there, `${tab}: ${at.name}`);
        }
        assert.ok(seen.size > 0, tab);
    }
    await page.close();
});

await test("the button goes from the system's colours to light and dark, and reload keeps the choice", async () => {
    const page = await openPage(SMALL);
    const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const light = await background();
    await page.click(".theme");
    assert.equal(await background(), light);
    await page.click(".theme");
    assert.notEqual(await background(), light);
    await page.reload();
    await page.waitForSelector("html[data-ready]");
    assert.notEqual(await background(), light);
    await page.click(".theme");
    assert.equal(await background(), light);
    await page.close();
});

await test("components differ in more than hue: no two have the same look, combinations are striped", async () => {
    const page = await openPage(SMALL);
    const looks = await page.$$eval(".stack-card .seg", (list) => list.map((one) => getComputedStyle(one).background));
    assert.equal(new Set(looks).size, looks.length);
    assert.equal(looks.filter((look) => look.includes("repeating-linear-gradient")).length, 1);
    await page.close();
});

/** What someone sees: the matrices of Machado, Oliveira and Fernandes (2009) for vision without one kind of cone. */
const VISION = {
    full: [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
    protanopia: [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    deuteranopia: [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
    tritanopia: [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
};

/** CIE L*a*b* (D65) of "rgb(…)" as seen through a matrix. */
function lab(colour, matrix) {
    const linear = colour.match(/[\d.]+/g).slice(0, 3).map((value) => (value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4));
    const seen = matrix.map((row) => Math.min(1, Math.max(0, row.reduce((sum, factor, i) => sum + factor * linear[i], 0))));
    const root = (value) => (value > 0.008856 ? Math.cbrt(value) : 7.787 * value + 16 / 116);
    const [x, y, z] = [[0.4124, 0.3576, 0.1805, 0.95047], [0.2126, 0.7152, 0.0722, 1], [0.0193, 0.1192, 0.9505, 1.08883]]
        .map(([red, green, blue, white]) => root((red * seen[0] + green * seen[1] + blue * seen[2]) / white));
    return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

for (const scheme of ["light", "dark"])
    await test(`the events' ${scheme} colours are apart for every kind of colour vision`, async () => {
        const page = await openPage(SMALL, "", { colorScheme: scheme });
        const names = ["base", "st-0", "st-1", "st-2", "dr-0", "dr-1", "dr-2", "fl-0", "fl-1", "fl-2"];
        const colours = await page.evaluate((list) => {
            const probe = document.body.appendChild(document.createElement("i"));
            return list.map((name) => {
                probe.style.color = `var(--c-${name})`;
                return getComputedStyle(probe).color;
            });
        }, names);
        for (const [kind, matrix] of Object.entries(VISION))
            for (let i = 0; i < names.length; i++)
                for (let k = 0; k < i; k++) {
                    const [a, b] = [lab(colours[i], matrix), lab(colours[k], matrix)];
                    const apart = Math.hypot(...a.map((value, at) => value - b[at]));
                    assert.ok(apart >= 15, `${names[k]} and ${names[i]} with ${kind}: ${apart.toFixed(1)}`);
                }
        await page.close();
    });

await test("paper gets the rows, in dark colours on white, without what only a screen can use", async () => {
    const page = await openPage(SMALL, "#tab=functions", { colorScheme: "dark" });
    await page.emulateMedia({ media: "print", colorScheme: "dark" });
    await page.evaluate(() => window.dispatchEvent(new Event("beforeprint")));
    assert.equal(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), "rgb(255, 255, 255)");
    assert.equal(await page.isVisible(".tabs"), false);
    assert.equal(await page.isVisible("#panel-functions input"), false);
    assert.deepEqual(await functionNames(page), ["copy", "sort", "main"]);
    assert.equal(await page.$eval("#panel-functions .grid-space .row", (row) => getComputedStyle(row).position), "static");
    const pdf = await page.pdf();
    assert.ok(pdf.length > 5000 && pdf.subarray(0, 5).toString() === "%PDF-");
    await page.evaluate(() => window.dispatchEvent(new Event("afterprint")));
    await page.emulateMedia({ media: "screen" });
    assert.equal(await page.$eval("#panel-functions .grid-space .row", (row) => getComputedStyle(row).position), "absolute");
    await page.close();
});

await test("the summary begins on the first sheet; charts keep the words that explain them", async () => {
    const data = small();
    const events = data.events.map((_, i) => i);
    const extra = [5, 6, 7, 8].flatMap((last) => [[...events.slice(0, last)], [...events.slice(1, last)]]);
    data.components = [...data.components, ...extra];
    extra.forEach((_, i) => {
        const { row, component, cycles } = data.series[0].instructions;
        row.splice(1, 0, 0);
        component.splice(1, 0, COMPONENTS + i);
        cycles.splice(1, 0, 5 + i);
    });
    const page = await openPage(pageFile("long stack", data), "", { viewport: { width: 1030, height: 700 } });
    await page.emulateMedia({ media: "print" });
    const broken = await page.$$eval(".stack-card, .quality-card", (list) => list.map((one) => getComputedStyle(one).breakInside));
    assert.deepEqual(broken, ["auto", "avoid"]);
    const high = await page.$eval(".stack-card", (card) => card.getBoundingClientRect().height);
    const sheets = ((await page.pdf({ landscape: true })).toString("latin1").match(/\/Type\s*\/Page\b/g) ?? []).length;
    assert.ok(high > 600 && sheets > 0 && sheets <= Math.ceil(high / 600) + 1, `${high} pixels on ${sheets} sheets`);
    await page.evaluate(() => document.getElementById("tab-flame").click());
    await page.waitForSelector("#panel-flame:not([hidden])");
    assert.ok(await page.isVisible("#panel-flame .toolbar .dim"));
    assert.equal(await page.isVisible("#panel-flame .hint"), false);
    assert.equal(await page.isVisible("#panel-flame input"), false);
    await page.close();
});

await test("a long table is printed up to a limit that is said", async () => {
    const page = await openPage(LARGE, "#function=3");
    await page.evaluate(() => window.dispatchEvent(new Event("beforeprint")));
    assert.equal(await page.locator("#panel-annotate .instructions .grid-space [role=row]").count(), 400);
    assert.ok((await page.textContent(".instructions .print-rest")).includes("19600 more rows"));
    await page.evaluate(() => window.dispatchEvent(new Event("afterprint")));
    assert.equal(await page.locator(".print-rest").count(), 0);
    await page.close();
});

await test("a narrow window does not scroll sideways", async () => {
    const page = await openPage(SMALL, "", { viewport: { width: 420, height: 800 } });
    for (const id of await page.$$eval("[role=tab]", (list) => list.map((one) => one.id))) {
        await page.evaluate((tab) => document.getElementById(tab).click(), id);
        await page.waitForTimeout(50);
        await eventually(async () => assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth), id));
    }
    await page.close();
});

await test("there is one thing to scroll: the panel, or the table in it", async () => {
    const data = small();
    data.machine = Array.from({ length: 30 }, (_, i) => ({ ...data.machine[0], name: `section ${i}` }));
    data.counters = Array.from({ length: 100 }, (_, i) => ({ name: `counter ${i}`, value: i }));
    const page = await openPage(pageFile("long", data), "", { viewport: { width: 1400, height: 600 } });
    for (const id of ["summary", "functions", "flame", "machine", "run"]) {
        await page.evaluate((tab) => document.getElementById(`tab-${tab}`).click(), id);
        await page.waitForSelector(`#panel-${id}:not([hidden])`);
        const [document_, panel] = await page.evaluate((tab) => [document.documentElement, document.getElementById(`panel-${tab}`)].map((one) => one.scrollHeight - one.clientHeight), id);
        assert.equal(document_, 0, id);
        assert.equal(panel > 0, ["summary", "machine", "run"].includes(id), id);
    }
    await page.close();
});

// --- hostile text ------------------------------------------------------------------------------------------------------

await test("hostile text is shown as text, everywhere", async () => {
    const page = await openPage(pageFile("hostile", hostile()));
    for (const id of await page.$$eval("[role=tab]", (list) => list.map((one) => one.id))) {
        await page.click(`#${id}`);
        await page.waitForTimeout(50);
    }
    assert.equal(await page.evaluate(() => window.hacked), undefined);
    assert.equal(await page.locator("img, iframe, object, embed, link").count(), 0);
    assert.equal(await page.locator("body script").count(), 0);
    assert.ok((await page.textContent("#panel-functions")).includes("<script>window.hacked=1</script><img"));
    assert.ok(!(await page.textContent("body")).includes("\u202e"), "characters that turn the writing direction are replaced");
    const longest = await page.evaluate(() => Math.max(...[...document.querySelectorAll("*")].flatMap((one) => [...one.attributes].map((attribute) => attribute.value.length))));
    assert.ok(longest <= 4000, `an attribute of ${longest} characters`);
    assert.deepEqual(page.trouble, []);
    await page.close();
});

await test("a megabyte-long name is cut, keeps its beginning as a title, and leads on", async () => {
    const page = await openPage(pageFile("hostile", hostile()), "#tab=functions");
    const link = page.locator("#panel-functions a", { hasText: "ns::f<T,T," });
    assert.equal((await link.textContent()).length, 120);
    assert.equal((await link.getAttribute("title")).length, 4000);
    assert.equal(await link.getAttribute("href"), "#function=1");
    await link.click();
    await eventually(async () => assert.equal((await gridRows(page, "Instructions of")).length, 6));
    await page.close();
});

await test("hostile text in the address changes nothing but what is said", async () => {
    const page = await openPage(SMALL, `#function=${encodeURIComponent(HOSTILE)}&insn=${encodeURIComponent(HOSTILE)}&zoom=-5&sort=__proto__&tab=annotate`);
    assert.equal(await page.textContent(".function-head h2"), "copy");
    await page.goto(`file://${SMALL}#tab=functions&sort=__proto__&only=1e9&order=${encodeURIComponent(HOSTILE)}`);
    await eventually(async () => assert.equal((await functionNames(page)).length, 3));
    await page.goto(`file://${SMALL}#tab=flame&zoom=1e9`);
    assert.equal(await page.evaluate(() => window.hacked), undefined);
    assert.deepEqual(page.trouble, []);
    await page.close();
});

await test("the page's policy lets no other script run and nothing be fetched", async () => {
    const page = await openPage(SMALL);
    const refused = await page.evaluate(async () => {
        const script = document.createElement("script");
        script.textContent = "window.hacked = 3";
        document.body.append(script);
        const image = new Promise((done) => {
            const one = new Image();
            one.onerror = () => done("refused");
            one.onload = () => done("loaded");
            one.src = "data:image/gif;base64,R0lGODlhAQABAAAAACw=";
        });
        return [window.hacked, await fetch(location.href).then(() => "fetched", () => "refused"), await image];
    });
    assert.deepEqual(refused, [undefined, "refused", "refused"]);
    assert.ok(page.trouble.some((line) => line.includes("Content Security Policy")));
    await page.close();
});

// --- large profiles ----------------------------------------------------------------------------------------------------

await test("100,000 instructions: the file stays below 5 MB, the elements on the page few", async () => {
    const { statSync } = await import("node:fs");
    assert.ok(statSync(LARGE).size < 5e6, `${statSync(LARGE).size} bytes`);
    const page = await openPage(LARGE, "#function=3");
    assert.deepEqual(page.trouble, []);
    assert.equal(await page.getAttribute(".instructions[role=grid]", "aria-rowcount"), "20001");
    assert.ok((await page.locator("*").count()) < 3000);
    await page.focus(".instructions[role=grid]");
    await page.keyboard.press("End");
    await eventually(async () => assert.equal(await page.getAttribute(".instructions [aria-selected=true]", "aria-rowindex"), "20001"));
    const rows = await gridRows(page, "Instructions of");
    assert.ok(rows.length < 80);
    await page.$eval(".instructions[role=grid]", (grid) => (grid.scrollTop = 240000));
    await page.waitForFunction(() => document.querySelector(".instructions .grid-space [role=row]").getAttribute("aria-rowindex") > 9900);
    await page.close();
});

// Not in seconds, which are the machine's: in how long the same browser takes to unpack and parse the same document. What else runs
// may take the processor in one of both times, but hardly in each of five.
async function timesOfPage() {
    const page = await openPage(LARGE, "#tab=functions");
    const times = await page.evaluate(async () => {
        const shown = performance.measure("shown", "assay-start", "assay-ready").duration;
        const response = await new Promise((done) => {
            // The document is not kept; an equal amount of work is one of the same size.
            const columns = Array.from({ length: 14 }, () => Array.from({ length: 100000 }, (_, i) => (i * 2654435761) % 100003));
            const text = JSON.stringify(columns);
            done(new Response(new Blob([text]).stream().pipeThrough(new CompressionStream("deflate"))).arrayBuffer());
        });
        const begun = performance.now();
        JSON.parse(await new Response(new Blob([response]).stream().pipeThrough(new DecompressionStream("deflate"))).text());
        return [shown, performance.now() - begun];
    });
    await page.close();
    return times;
}

await test("100,000 instructions: the page is there in a small multiple of the time that reading its document takes", async () => {
    let [took, reading] = await timesOfPage();
    for (let i = 0; i < 4 && took >= 25 * reading; i++) [took, reading] = await timesOfPage();
    console.log(`# shown after ${took.toFixed(0)} ms; reading an equal document ${reading.toFixed(0)} ms`);
    assert.ok(took < 25 * reading, `${took.toFixed(0)} ms against ${reading.toFixed(0)} ms`);
});

await finish();
