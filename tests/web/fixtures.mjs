// Documents for the page (doc/format/page.md), made up so that every number can be checked by hand, or large.
//
//   node fixtures.mjs NAME TEMPLATE OUT.html     writes a page with the document NAME in it

import { readFileSync, writeFileSync } from "node:fs";
import { deflateSync } from "node:zlib";

const EVENTS = [
    { name: "DR-L1", meaning: "L1 instruction cache miss", state: "drained" },
    { name: "DR-TLB", meaning: "L1 instruction TLB miss", state: "drained" },
    { name: "DR-SQ", meaning: "store stalled at dispatch", state: "drained" },
    { name: "FL-MB", meaning: "mispredicted branch", state: "flushed" },
    { name: "FL-EX", meaning: "exception or flush at commit", state: "flushed" },
    { name: "FL-MO", meaning: "memory ordering violation", state: "flushed" },
    { name: "ST-L1", meaning: "L1 data cache miss", state: "stalled" },
    { name: "ST-TLB", meaning: "L1 data TLB miss", state: "stalled" },
    { name: "ST-LLC", meaning: "last-level cache miss of a load", state: "stalled" },
];
const COMPONENTS = [[], [6], [6, 8], [6, 7], [6, 7, 8], [2], [3], [0], [4], [5]];

/** Collects strings once. */
class Strings {
    list = [];
    numbers = new Map();
    of(text) {
        if (!this.numbers.has(text)) this.numbers.set(text, this.list.push(text) - 1);
        return this.numbers.get(text);
    }
}

/** [[row, component, cycles]…], in the order of rows, as the document has it. */
function sparse(entries, components = true) {
    const out = { row: [], component: [], cycles: [] };
    let last = 0;
    for (const [row, component, cycles] of entries) {
        out.row.push(row - last);
        out.component.push(component);
        out.cycles.push(cycles);
        last = row;
    }
    if (!components) delete out.component;
    return out;
}

function summary(more = {}) {
    return {
        program: "demo", arguments: "--size 3", source: "model", sampler: "tea", core: "boom-tea", instructions: 1500, cycles: 1000,
        samples: 100, lost: 0, throttled: 0, period: "10 cycles", error_estimate: 0.021, error_how: "against the golden reference of this run",
        seconds: 0.5, threads: 1, recorded: "2025-01-02T03:04:05Z",
        states: { computing: 400, stalled: 450, drained: 50, flushed: 100 }, unmeasured: [], notes: [], ...more,
    };
}

/** Own time of the call paths main, main-copy, main-sort, main-copy-sort. */
const OWN = [[0, 0, 100], [1, 0, 150], [1, 1, 100], [1, 2, 300], [1, 5, 50], [2, 0, 100], [2, 6, 60], [3, 0, 100], [3, 6, 40]];

/** Three functions, 1000 cycles: main 100 (10 %), copy 600 (60 %), sort 300 (30 %). */
export function small() {
    const strings = new Strings();
    const texts = [
        "push rbp", "call copy", "call sort", "ret", // main
        "mov rax, qword ptr [rsi]", "mov qword ptr [rdi], rax", "add rsi, 8", "dec rcx", "jnz 0x401104", "ret", // copy
        "cmp eax, edx", "jle 0x401208", "xchg eax, edx", "ret", // sort
    ];
    const truth = [[0, 0, 40], [1, 0, 30], [2, 0, 20], [3, 0, 10],
        [4, 0, 50], [4, 1, 100], [4, 2, 300], [5, 5, 50], [6, 0, 40], [7, 0, 30], [8, 0, 25], [9, 0, 5],
        [10, 0, 100], [11, 0, 80], [11, 6, 100], [12, 0, 15], [13, 0, 5]];
    const software = [[5, 0, 450], [0, 0, 150], [10, 0, 100], [12, 0, 300]].sort((a, b) => a[0] - b[0]);
    return {
        format: "assay-page", version: 1, unit: "cycles", summary: summary(),
        events: EVENTS, components: COMPONENTS,
        series: [
            { name: "tea", label: "TEA", samples: 100, error: { instruction: 0.021, block: 0.01, function: 0, pics: 0.03 }, instructions: sparse(truth), paths: sparse(OWN) },
            { name: "golden", label: "Golden", exact: true, instructions: sparse(truth), paths: sparse(OWN) },
            { name: "software", label: "Software", samples: 100, error: { instruction: 0.6, block: 0.5, function: 0.2 }, note: "skids to a later instruction",
                instructions: sparse(software, false),
                paths: sparse([[0, 0, 150], [1, 0, 450], [2, 0, 400]], false) },
        ],
        modules: [{ name: "demo", path: "bin/demo", build_id: "0123abcd" }, { name: "libsort.so", path: "lib/libsort.so", note: "no build id" }],
        files: [
            { name: "demo.c", first: 1, lines: ["int main(void)", "{", "    copy();", "    sort();", "}", "", "void copy(void)", "{", "    while (n--)", "        *to++ = *from++;", "}"] },
            { name: "sort.c", lines: null, note: "not found" },
        ],
        functions: { name: ["main", "copy", "sort"].map((name) => strings.of(name)), module: [0, 0, 1], address: ["0x401000", "0x401104", "0x401200"],
            file: [0, 0, 1], line: [1, 7, 10], count: [4, 6, 4] },
        instructions: {
            address: [0, 1, 5, 5, 0, 3, 3, 4, 3, 2, 0, 2, 2, 1], text: texts.map((text) => strings.of(text)),
            file: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1], line: [2, 3, 4, 5, 10, 10, 10, 9, 9, 11, 12, 12, 13, 14],
            executed: [1, 1, 1, 1, 200, 200, 200, 200, 200, 1, 150, 150, 100, 96], jump: [0, 0, 0, 0, 0, 0, 0, 0, -4, 0, 0, 2, 0, 0],
            call: { row: [1, 1], function: [1, 2] },
        },
        paths: { parent: [-1, 0, 0, 1], function: [0, 1, 2, 2] },
        threads: [{ name: "demo 1", instructions: 1500, cycles: 1000 }],
        counters: [{ name: "loads", value: 200, meaning: "instructions that read memory" }],
        machine: [{ name: "Front end", rows: [{ name: "front.fetch_width", value: "8", note: "Table B.2" }] }, { name: "Back end", rows: [{ name: "back.rob", value: "192", note: "Table B.2" }] }],
        run: [{ name: "Exit status", value: "0" }], strings: strings.list,
    };
}

/** Puts objects and branches into a document: 600 and 260 of 1000 cycles and 300 branches, the rest left out. */
export function withLists(data) {
    const of = (list) => list.map((text) => (data.strings.includes(text) ? data.strings.indexOf(text) : data.strings.push(text) - 1));
    data.addresses = [
        { how: "exact", samples: 10, meaning: "at an instruction that accesses" }, { how: "watched", samples: 85, meaning: "taken from later executions" },
        { how: "none", samples: 5, meaning: "samples without a data address" }, { how: "none_branch", samples: 3, meaning: "… because the way depends on loaded values" },
        { how: "none_kernel", samples: 2, meaning: "… because they are in the kernel" },
    ];
    Object.assign(data.series[0], {
        data: {
            name: of(["table", "[heap]", "[anon]"]), module: [0, -1, -1], address: ["0x404000", null, "0x7f0000000000"], size: [4096, 0, 8192],
            cycles: [400, 160, 40], loads: [300, 160, 40], stores: [100, 160, 0], samples: [40, 15, 5], lines: [12, 3, 1], bytes: [300, 24, 8],
            instructions: [5, 1, 1], listed: [2, 1, 1], accesses: { name: of(["copy", "copy+0x3", "sort+0x2", "gone+0x8"]), row: [4, 5, 11, -1], cycles: [240, 100, 160, 40] },
            rest: { rows: 7, cycles: 400, samples: 40 },
        },
        branches: {
            from: { name: of(["copy+0xd", "sort+0x2", "main+0x1"]), row: [8, 11, 1] }, to: { name: of(["copy", "sort+0x5", "gone"]), row: [4, 13, -1] },
            taken: [190, 60, 10], mispredicted: [19, 30, 0], cycles: [760, 600, 12000], rest: { rows: 3, taken: 40, mispredicted: 1 },
        },
        waits: {
            pattern: "one pair", cycles: 200, false: 150, transfers: 20, threads: of(["thread 1", "thread 2"]), threads_left_out: 0,
            matrix_true: [[0, 10], [40, 0]], matrix_false: [[0, 50], [100, 0]],
            objects: { cycles: [150, 50], false: [150, 0], transfers: [15, 5], object: of(["table", "[heap]"]), left_out: 0 },
            lines: { cycles: [150, 50], false: [150, 0], transfers: [15, 5], object: of(["table", "[heap]"]), place: of(["table[3].hits", "[heap]+0x40"]), address: ["0x404000", "0x7f0000000040"],
                waited: { name: of(["copy+0x3", "sort+0x2"]), row: [5, 11] }, culprit: { name: of(["copy", "gone"]), row: [4, -1] }, left_out: 1 },
            pairs: { cycles: [150, 30, 20], false: [150, 0, 0], transfers: [15, 2, 3], object: of(["table", "[heap]", "[heap]"]),
                waited: { name: of(["copy+0x3", "sort+0x2", "sort+0x2"]), row: [5, 11, 11] }, culprit: { name: of(["copy", "gone", "main+0x1"]), row: [4, -1, 1] }, left_out: 0 },
        },
    });
    return data;
}

/** What `assay reuse --json` writes: 1000 accesses, 900 reuses in threads and 20 between them. */
export function reuse() {
    const place = (fn, line) => ({ function: fn, file: "src/demo.c", line, module: "demo", address: "0x401104", path: [fn, "main"] });
    const octaves = Array(64).fill(0);
    return {
        program: ["bin/demo", "--size", "3"], source: "model", method: "exact", core: "boom-tea", granularity: 64, threads: 2, accesses: 1000, touches: 1000, reuses: 900,
        temporal: 600, spatial: 300, cold: 60, after_invalidation: 40, invalidations: 40,
        histogram: [{ lo: 0, hi: 0, count: 600 }, { lo: 4, hi: 7, count: 225 }, { lo: 1024, hi: 2047, count: 75 }],
        time_histogram: [{ lo: 1, hi: 1, count: 600 }, { lo: 8, hi: 15, count: 300 }],
        miss_ratio: [{ bytes: 64, ratio: 0.4, shared: 0.45 }, { bytes: 4096, ratio: 0.175, shared: 0.2 }, { bytes: 1048576, ratio: 0.1, shared: 0.06 }],
        shared: { sockets: 1, reuses: 20, false_sharing: 5, histogram: [{ lo: 2, hi: 3, count: 20 }], time_histogram: [{ lo: 2, hi: 3, count: 20 }],
            pairs: [{ use: place("copy", 10), reuse: place("sort", 12), count: 20, spatial: 10, false_sharing: 5, beyond_L1: 0, beyond_LLC: 0, octaves }] },
        caches: [{ name: "L1", bytes: 32768, ways: 8, predicted: 0.175, simulated: 0.18, misses: 180, cold: 60, capacity: 75, conflict: 5, coherence: 40 }],
        host_caches: [{ level: 2, bytes: 524288, ways: 8, predicted: 0.1 }, { level: 3, bytes: 8388608, ways: 16, predicted: 0.1 }], // the last one beyond the curve
        pairs: [{ use: place("copy", 10), reuse: place("copy", 10), count: 675, spatial: 225, beyond_L1: 75, conflicts: 5, beyond_LLC: 0, octaves },
            { use: { function: "gone", address: "0x7000" }, reuse: place("main", 3), count: 225, spatial: 75, beyond_L1: 0, beyond_LLC: 0, octaves }],
        code: [{ at: place("copy", 10), touches: 800, line_bytes_used: 8, L1: { cold: 60, capacity: 75, conflict: 5, coherence: 40 } }],
        objects: [{ kind: "variable", name: "table", misses: 180, cold: 60, capacity: 75, conflict: 5, coherence: 40, line_bytes_used: 8, distance: 1100, hottest: { name: "table+0x40", misses: 9 } }],
        working_set: { interval: 250, bytes: [6400, 12800, 3200, 3200] },
        advice: [{ kind: "order of loops", share: 0.4, text: "copy at demo.c:10: let the inner loop walk along the line" }],
    };
}

/** The small one, with objects and branches, compared with an earlier one that took 1300 cycles. */
export function compared() {
    return {
        ...withLists(small()),
        reuse: reuse(),
        diff: {
            before: { program: "demo", core: "boom-tea", sampler: "golden", cycles: 1300, instructions: 1500, seconds: 0.65 },
            summary: { program: "demo", core: "boom-tea", sampler: "golden", cycles: 1000, instructions: 1500, seconds: 0.5 }, differ_in: "", change: -300, speedup: 1.3,
            rows: [
                { name: "copy", module: "demo", function: "copy", before: 1000, cycles: 600, change: -400, before_components: { Base: 150, "ST-L1+ST-LLC": 800, "DR-SQ": 50 }, components: { Base: 150, "ST-L1": 100, "ST-L1+ST-LLC": 300, "DR-SQ": 50 } },
                { name: "sort", module: "libsort.so", function: "sort", before: 150, cycles: 300, change: 150, before_components: { Base: 150 }, components: { Base: 200, "FL-MB": 100 } },
                { name: "old", module: "demo", function: "old", before: 150, cycles: 0, change: -150, before_components: { Base: 150 }, components: {} },
                { name: "main", module: "demo", function: "main", before: 0, cycles: 100, change: 100, before_components: {}, components: { Base: 100 } },
            ],
        },
    };
}

/** What error to expect of a timer's samples. */
export const TRUST = {
    way: "interrupt", about: "an interrupt is taken behind the instruction that it was due at", from: "as in eight of ten of 24 programs", programs: 24,
    levels: [["function", 0.01, 0.02, 0.05, 0.12], ["block", 0.03, 0.1, 0.3, 0.5], ["instruction", 0.2, 0.5, 0.6, 0.8]].map(([by, chance, low, median, high]) =>
        ({ by, chance, bias: { low, median, high }, expected: { low: Math.hypot(low, chance), median: Math.hypot(median, chance), high: Math.hypot(high, chance) } })),
};

/** The same from a source without events, with what that means for everything else. */
export function timer() {
    const data = small();
    const flat = data.series[0].instructions;
    return {
        ...data, unit: "samples", events: [], components: [], machine: [],
        summary: summary({ source: "timer", sampler: "timer", core: null, cycles: null, instructions: null, states: null, lost: 3, throttled: null, error_estimate: null, error_how: null,
            unmeasured: ["events: no PMU on this machine", "cycles: the task clock counts time"], notes: ["auto fell back to the timer: perf_event_open was refused"] }),
        series: [{ name: "timer", label: "Timer", samples: 100, instructions: { row: flat.row, cycles: flat.cycles }, paths: sparse(OWN, false) }],
    };
}

export const HOSTILE = "<script>window.hacked=1</script><img src=x onerror=window.hacked=2>\"'&amp;\u202egnp.exe\n\u0007\u2028</script>";

/** The small one with hostile text wherever there is text. */
export function hostile() {
    const data = compared();
    const spoil = (value, key) => {
        if (typeof value === "string" && !["format", "address", "unit"].includes(key)) return HOSTILE;
        if (Array.isArray(value)) return key === "address" ? value : value.map((one) => spoil(one, key));
        if (value && typeof value === "object") return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, spoil(one, name)]));
        return value;
    };
    const spoilt = spoil(data, "");
    spoilt.strings = data.strings.map((text, i) => (i === 0 ? HOSTILE : i === 1 ? "ns::f<" + "T,".repeat(500000) + ">" : i === 2 ? "__proto__" : text));
    spoilt.series.forEach((series, i) => (series.name = `${HOSTILE}${i}`));
    return spoilt;
}

/** A generator that gives the same numbers everywhere. */
function random(seed) {
    return () => {
        seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
        return seed / 4294967296;
    };
}

const OPERATIONS = ["mov", "add", "lea", "cmp", "vmovapd", "vfmadd231pd", "xor", "imul", "test", "movzx"];
const REGISTERS = ["rax", "rbx", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13"];

/** Call paths that share out what the functions spend: 20,000 nodes, the time of a function on those that end in it. */
function pathsOf(data, truth, next) {
    const functions = data.functions.count.length;
    const [parent, fn, ends] = [[-1], [0], Array.from({ length: functions }, () => [])];
    const depth = [0];
    ends[0].push(0);
    while (parent.length < 20000) {
        const above = Math.floor(next() * parent.length);
        if (depth[above] > 24) continue;
        const callee = parent.length < functions ? parent.length : Math.floor(next() * functions);
        ends[callee].push(parent.push(above) - 1);
        fn.push(callee);
        depth.push(depth[above] + 1);
    }
    const sums = new Map();
    const functionOf = data.functions.count.flatMap((count, at) => new Array(count).fill(at));
    for (const [row, component, cycles] of truth) {
        const nodes = ends[functionOf[row]];
        const key = nodes[Math.floor(next() ** 4 * nodes.length)] * 16 + component;
        sums.set(key, (sums.get(key) ?? 0) + Math.round(cycles * 100));
    }
    const entries = [...sums].sort((a, b) => a[0] - b[0]).map(([key, cycles]) => [Math.floor(key / 16), key % 16, cycles / 100]);
    return [{ parent, function: fn }, sparse(entries)];
}

/** 100,000 instructions (or as many as asked for) in functions of 20 to 400, one of 20,000. */
export function large(wanted = 100000) {
    const next = random(7);
    const pick = (list) => list[Math.floor(next() * list.length)];
    const strings = new Strings();
    const data = { ...small(), functions: { name: [], module: [], address: [], file: [], line: [], count: [] } };
    const columns = { address: [], text: [], file: [], line: [], executed: [], jump: [], call: { row: [], function: [] } };
    const [truth, software] = [[], []];
    let lastCall = 0;
    for (let rows = 0, fn = 0; rows < wanted; fn++) {
        const size = Math.min(wanted - rows, fn === 3 ? 20000 : 20 + Math.floor(next() ** 2 * 380));
        const heat = fn === 3 ? 20000 : next() ** 8 * 1e6;
        data.functions.name.push(strings.of(`${pick(["std::vector", "engine::scene", "util", "net::http"])}<T${fn % 17}>::${pick(["update", "find", "push_back", "merge", "parse"])}_${fn}(int, char const*)`));
        data.functions.module.push(fn % 3 ? 0 : 1);
        data.functions.address.push("0x" + (0x400000 + rows * 5).toString(16));
        data.functions.file.push(fn % 40);
        data.functions.line.push(10 + fn);
        data.functions.count.push(size);
        for (let i = 0; i < size; i++, rows++) {
            columns.address.push(i === 0 ? 0 : 3 + Math.floor(next() * 5));
            const jump = i > 10 && next() < 0.08 ? -Math.floor(1 + next() * 10) : 0;
            columns.text.push(strings.of(jump ? `jne 0x${(0x400000 + rows * 5).toString(16)}` : `${pick(OPERATIONS)} ${pick(REGISTERS)}, qword ptr [${pick(REGISTERS)} + 0x${Math.floor(next() ** 3 * 4096).toString(16)}]`));
            columns.file.push(fn % 40);
            columns.line.push(10 + Math.floor(i / 4));
            columns.executed.push(Math.floor(heat));
            columns.jump.push(jump);
            if (next() < 0.01) {
                columns.call.row.push(rows - lastCall);
                columns.call.function.push(Math.floor(next() * (fn + 1)));
                lastCall = rows;
            }
            if (next() < 0.6) truth.push([rows, 0, Math.round(heat * next() * 100) / 100 + 1]);
            if (next() < 0.12) truth.push([rows, 1 + Math.floor(next() * 9), Math.round(heat * next() * 1500) / 100 + 1]);
            if (next() < 0.2) software.push([rows, 0, Math.round(heat * next() * 900) / 100 + 1]);
        }
    }
    data.instructions = columns;
    data.strings = strings.list;
    data.series = [
        { name: "tea", label: "TEA", samples: 250000, error: { instruction: 0.02 }, instructions: sparse(truth) },
        { name: "golden", label: "Golden", exact: true, instructions: sparse(truth) },
        { name: "software", label: "Software", samples: 250000, error: { instruction: 0.6 }, instructions: sparse(software, false) },
    ];
    data.files = Array.from({ length: 40 }, (_, file) => ({ name: `src/file_${file}.cc`, first: 1, lines: Array.from({ length: 1500 }, (_, line) => `    value_${line} += table[${line % 31}] * scale(${file}, ${line});`) }));
    const [paths, own] = pathsOf(data, truth, next);
    data.paths = paths;
    data.series[0].paths = data.series[1].paths = own;
    const cycles = truth.reduce((sum, [, , value]) => sum + value, 0);
    data.summary = summary({ program: "large", cycles: Math.round(cycles), instructions: Math.round(cycles * 1.3), samples: 250000 });
    return data;
}

export const documents = { small, compared, timer, hostile, large };

/** What as_page_open() of the program writes. */
export function inject(template, data, deflated) {
    const text = JSON.stringify(data).replace(/</g, "\\u003c");
    const body = deflated ? deflateSync(text).toString("base64") : text;
    const encoding = deflated ? ' data-encoding="deflate-base64"' : "";
    return template.replace("<!--assay-data-->", () => `<script type="application/json" id="assay-data"${encoding}>${body}</script>`);
}

if (process.argv[1]?.endsWith("fixtures.mjs") && process.argv.length === 5) {
    const [, , name, template, out] = process.argv;
    writeFileSync(out, inject(readFileSync(template, "utf8"), documents[name](), true));
}
