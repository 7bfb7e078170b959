#!/usr/bin/env bash
# assay reuse: distances, curves, caches, pairs, threads and advice of programs whose answers follow from their source.
# plain-only: long runs; sanitized.sh runs each way of it under sanitizers
. "$(dirname "$0")/lib.sh"

# 1000 lines over and over; then 300 lines; a matrix by columns; records of which one member is used.
cat >walks.c <<'END'
#include <stdlib.h>
enum { LINES = 1000, N = 512, RECORDS = 4000 };
static char lines[LINES * 64] __attribute__((aligned(64)));
static double matrix[N][N] __attribute__((aligned(64)));
static struct record { long key, rest[7]; } records[RECORDS] __attribute__((aligned(64)));
#define LOAD(place) __asm__ volatile("" : : "r"(*(volatile long *)(place)))
__attribute__((noinline)) void walk(int n, int turns)
{
    for (int turn = 0; turn < turns; turn++)
        for (int i = 0; i < n; i++)
            LOAD(lines + 64 * i);
}
__attribute__((noinline)) void columns(void)
{
    for (int column = 0; column < 64; column++)
        for (int row = 0; row < N; row++)
            LOAD(&matrix[row][column]);
}
__attribute__((noinline)) void keys(void)
{
    for (int turn = 0; turn < 10; turn++)
        for (int i = 0; i < RECORDS; i++)
            LOAD(&records[i].key);
}
static char table[1 << 20] __attribute__((aligned(64)));
__attribute__((noinline)) void at_random(unsigned step) /* anywhere, or always the first bytes of a line */
{
    for (unsigned long i = 0, x = 1; i < 40000; i++) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        LOAD(table + (x >> 33) % (sizeof table / step) * step);
    }
}
static double rows[40 * 520] __attribute__((aligned(4096)));
__attribute__((noinline)) void stride(int columns)
{
    for (int turn = 0; turn < 200; turn++)
        for (int row = 0; row < 40; row++)
            LOAD(&rows[row * columns]);
}
__attribute__((noinline)) void finished(void) { __asm__ volatile(""); }
int main(int argc, char **argv)
{
    switch (argv[1][0]) {
    case 'w': walk(LINES, 10); break;
    case 'c': columns(); break;
    case 'k': keys(); break;
    case 'r': at_random(8); break;
    case 'f': at_random(64); break;
    case 's': stride(512); break;
    case 'p': stride(520); break;
    }
    finished();
}
END
gcc -O1 -g -o walks walks.c
walks() { # KIND FUNCTION [OPTIONS…]
    local kind=$1 function=$2
    shift 2
    "$ASSAY" reuse --json --from "$function" --to finished "$@" -- ./walks "$kind"
}

walks w walk >walk.json
"$ASSAY" reuse --granularity 8 --from walk -- ./walks w >words.txt
check "words are in no cache" grep -qE '^ +[0-9,]+ +- +- +[0-9,]+ +[0-9.]+ %' words.txt
"$ASSAY" reuse --html --granularity 8 --from walk -- ./walks w >words.html
check "… on the page, too" grep -q '<td class="n">-<td class="n">-<td' words.html
check "… nor in this machine's" bash -c '! grep -q "L1 here" words.txt'
holds "each line is touched once in 1000 others" 'sum(b["count"] for b in d["histogram"] if b["lo"] == 512) == 9000' walk.json
holds "time is as far" 'sum(b["count"] for b in d["time_histogram"] if b["lo"] == 512) == 9000' walk.json
holds "nothing else but the stack" '1000 <= d["cold"] <= 1004 and d["reuses"] - 9000 <= 30 and d["invalidations"] == 0' walk.json
holds "the fields of the contract" \
    'all(k in d for k in ("samples", "miss_ratio", "invalidations", "histogram")) and set(d["histogram"][0]) == {"lo", "hi", "count"}' walk.json
holds "temporal: the same bytes" 'd["temporal"] >= 9000' walk.json
holds "a cache of 1024 lines has them, one of 512 has none" \
    '{p["bytes"]: round(p["ratio"], 1) for p in d["miss_ratio"]}[65536] == 0.1 and {p["bytes"]: round(p["ratio"], 1) for p in d["miss_ratio"]}[32768] == 1' walk.json
holds "the L1 of 512 lines misses all, simulated too" \
    '[(c["name"], round(c["predicted"], 2), round(c["simulated"], 2)) for c in d["caches"] if c["name"] == "L1"] == [("L1", 1.0, 1.0)]' walk.json
holds "causes add up" \
    'all(c["misses"] == c["cold"] + c["capacity"] + c["conflict"] + c["coherence"] for c in d["caches"])' walk.json
holds "the pair is the load and itself" \
    'd["pairs"][0]["use"] == d["pairs"][0]["reuse"] and d["pairs"][0]["reuse"]["function"] == "walk" and d["pairs"][0]["count"] == 9000' walk.json
holds "its line" 'd["pairs"][0]["reuse"]["line"] == 11 and d["pairs"][0]["reuse"]["file"].endswith("walks.c")' walk.json
holds "the code with its misses" 'd["code"][0]["at"]["function"] == "walk" and d["code"][0]["L1"]["capacity"] == 9000' walk.json
holds "the path of both" 'd["pairs"][0]["use"]["path"] == d["pairs"][0]["reuse"]["path"] == ["walk"] and d["pairs"][0]["on_path"] == 9000' walk.json
holds "the object" \
    '[(o["kind"], o["name"], o["lines"], o["cold"], o["capacity"], o["hottest"]["misses"]) for o in d["objects"]][0] == ("global", "lines", 1000, 1000, 9000, 10)' walk.json
holds "… at which distances" '[(b["lo"], b["count"]) for b in d["objects"][0]["histogram"]] == [(512, 9000)]' walk.json
holds "objects add up" 'sum(o["misses"] for o in d["objects"]) == [c["misses"] for c in d["caches"] if c["name"] == "L1"][0]' walk.json
holds "no pairs of lines unless asked for" '"adjacent" not in d' walk.json
check_json "pairs of lines: one thread shares nothing falsely" 'd["adjacent"]["line_pairs"] >= 500 and d["adjacent"]["false_sharing"] == 0 == d["adjacent"]["possible"] and d["adjacent"]["misses"] >= 1000' walks w walk --adjacent
check_fails 2 "needs every access" "pairs of lines of a sample" "$ASSAY" reuse --adjacent --method=lines -- ./walks w
check_json "without paths" '"path" not in d["pairs"][0]["use"] and d["pairs"][0]["count"] == 9000' walks w walk --no-paths
check_json "the path from the entry" 'd["pairs"][0]["use"]["path"][:2] == ["walk", "main"]' "$ASSAY" reuse --json -- ./walks w
walks w walk --set memory.l1d.size=64K,memory.l1d.ways=16 >large.json
holds "a larger L1 has them" '[round(c["simulated"], 2) for c in d["caches"] if c["name"] == "L1"] == [0.1]' large.json
walks w walk --granularity 4096 >pages.json
holds "by page there are 16" 'd["granularity"] == 4096 and 16 <= d["cold"] <= 20 and not d["caches"]' pages.json
walks w walk --granularity 1 >bytes.json
holds "by byte eight times as many" '8000 <= d["cold"] <= 8040' bytes.json
walks w walk --interval 1000 >intervals.json
holds "the working set" 'all(63000 <= b <= 64300 for b in d["working_set"]["bytes"][1:-2])' intervals.json

walks c columns >columns.json
holds "columns: the loops are in the wrong order" \
    'd["advice"][0]["kind"] == "loop order" and d["advice"][0]["reuse"]["function"] == "columns"' columns.json
walks k keys >keys.json
holds "keys: 8 bytes of each line" 'd["code"][0]["line_bytes_used"] == 8' keys.json
holds "keys: split the structure" '"structure splitting" in [a["kind"] for a in d["advice"]]' keys.json
check_json "no order: nothing is certain" 'd["advice"] == [] and d["caches"][0]["capacity"] > 10000' walks r at_random
check_json "… but the same bytes of all lines: split the structure, and no blocks" '[a["kind"] for a in d["advice"]] == ["structure splitting"]' walks f at_random
walks s stride >rows.json
holds "pairs have the conflict misses of the L1" 'sum(p["conflicts"] for p in d["pairs"]) == d["caches"][0]["conflict"] > 30 and d["pairs"][0]["reuse"]["function"] == "stride" and d["pairs"][0]["conflicts"] > d["pairs"][0]["beyond_L1"]' rows.json
check_json "rows of 4096 bytes: pad them" '[a["kind"] for a in d["advice"]] == ["row padding"] and d["advice"][0]["reuse"]["function"] == "stride"' walks s stride
check_json "… and where they are padded, nothing is left" 'd["advice"] == []' walks p stride
check_json "lines that come again in order, whole: blocks alone" '[a["kind"] for a in d["advice"] if a["kind"] != "structure splitting"] == ["blocking"]' walks w walk
holds "keys: which bytes" 'd["objects"][0]["name"] == "records" and d["objects"][0]["used_bytes"] == "0-7" and d["objects"][0]["line_bytes_used"] == 8' keys.json

cat >filled.c <<'END'
static volatile char lines[1000][64];

int main(void)
{
    for (int i = 0; i < 64000; i++)
        ((volatile char *)lines)[i] = 1;
    for (int pass = 0; pass < 20; pass++)
        for (int i = 0; i < 1000; i++)
            (void)*(volatile long *)lines[i];
}
END
gcc -O1 -g -o filled filled.c
"$ASSAY" reuse --json --from main -- ./filled >filled.json
holds "bytes that were only filled once are not in use" 'd["objects"][0]["name"] == "lines" and d["objects"][0]["used_bytes"] == "0-7"' filled.json
holds "blocks are at most half of what lies in between, which the L1 does not hold" \
    'any("after 32 KiB or more" in a["text"] and "the L1 has 32 KiB" in a["text"] and " 1/2 of" in a["text"] for a in d["advice"] if a["kind"] == "blocking")' filled.json

# A recursion with more call paths than are kept apart: 2^18 of its leaves, and a loop behind it.
cat >tree.c <<'END'
static volatile long word, lines[1000][8];

__attribute__((noinline)) void tree(int depth)
{
    if (!depth) {
        (void)word;
        return;
    }
    tree(depth - 1);
    tree(depth - 1);
    __asm__ volatile("");
}

int main(void)
{
    tree(18);
    for (int pass = 0; pass < 11; pass++)
        for (int i = 0; i < 1000; i++)
            (void)lines[i][0];
}
END
gcc -O1 -g -static -o tree tree.c
"$ASSAY" reuse --json --from main -- ./tree >tree.json
tree_pair() { # LINE COUNT BEYOND_L1: of the load of this line and itself
    echo "[(p['count'], p['beyond_L1']) for p in d['pairs'] if p['use'] == p['reuse'] and p['use'].get('line') == $1] == [($2, $3)]"
}
holds "more paths than are kept: the pairs of instructions are whole" "$(tree_pair 6 '(1 << 18) - 1' 0)" tree.json
holds "… also those that come late" "$(tree_pair 19 10000 10000)" tree.json
holds "… and none is with the rest" 'all(p["use"]["function"][:1] != "[" for p in d["pairs"])' tree.json

# Blocks by the place that allocates, also before the measured part; two places that had the same memory.
cat >blocks.c <<'END'
#include <stdlib.h>
struct node { struct node *next; long key, rest[6]; };
__attribute__((noinline)) struct node *list(int n)
{
    struct node *first = 0;
    for (int i = 0; i < n; i++) {
        struct node *node = malloc(sizeof *node);
        node->next = first;
        first = node;
    }
    return first;
}
__attribute__((noinline)) double *vector(int n) { return calloc(n, sizeof(double)); }
__attribute__((noinline)) long work(const struct node *first, const double *vector, int n)
{
    double sum = 0;
    for (int turn = 0; turn < 5; turn++) {
        for (const struct node *node = first; node; node = node->next)
            __asm__ volatile("" : : "r"(node->next));
        for (int i = 0; i < n; i++)
            sum += vector[i];
    }
    return (long)sum;
}
int main(void)
{
    struct node *first = list(2000);
    double *numbers = vector(16000);
    return (int)work(first, numbers, 16000);
}
END
gcc -O1 -g -fno-omit-frame-pointer -o blocks blocks.c
"$ASSAY" reuse --json --allocations --from work -- ./blocks >blocks.json
holds "blocks of both places" \
    'sorted(o["name"].split(" < ")[0] for o in d["objects"] if o["kind"] == "blocks" and o["misses"] > 1000) == ["blocks of list at blocks.c:7", "blocks of vector at blocks.c:13"]' blocks.json
holds "a vector is used whole, a node is not" \
    '{o["name"].split()[2]: round(o["line_bytes_used"]) for o in d["objects"] if o["misses"] > 1000} == {"vector": 64, "list": 8}' blocks.json
holds "their callers" 'all(" < main at blocks.c:" in o["name"] for o in d["objects"] if o["misses"] > 1000)' blocks.json
"$ASSAY" reuse --json --from work -- ./blocks >heap.json
holds "without the agent: the heap and a mapping" 'sum(o["misses"] for o in d["objects"] if o["kind"] in ("heap", "mapping")) > 10000' heap.json
check "text" "$ASSAY" reuse --from walk --to finished -o text -- ./walks w
check_same "text names the machine's caches" 1 "$(grep -c 'L1 of boom-tea: 32 KiB, 99' text)"
check "csv" "$ASSAY" reuse --csv --from walk --to finished -o csv -- ./walks w
check_same "csv has the bin" 1 "$(grep -c '^distance,0,512,1023,9000,$' csv)"
check_same "csv has the pair with its path" 1 \
    "$(grep -c '^pair,0,512,1023,9000,walk at walks.c:11 \[walk\] -> walk at walks.c:11 \[walk\]$' csv)"
check_same "csv has the object" 1 "$(grep -c '^object: capacity misses,0,[0-9]*,[0-9]*,9000,lines$' csv)"
check_same "csv has the working set" 1 "$(grep -c '^working set,0,0,999999,' csv)"

# Two threads that write neighbouring words, in turns.
cat >sharing.c <<'END'
#include <pthread.h>
static volatile long words[64] __attribute__((aligned(64)));
static pthread_barrier_t both;
static void *work(void *own)
{
    pthread_barrier_wait(&both);
    for (int i = 0; i < 60000; i++)
        words[(long)own]++;
    return 0;
}
int main(void)
{
    pthread_t thread;
    pthread_barrier_init(&both, 0, 2);
    pthread_create(&thread, 0, work, (void *)1);
    work((void *)0);
    pthread_join(thread, 0);
}
END
gcc -O1 -g -pthread -o sharing sharing.c
neighbours() {
    "$ASSAY" reuse --json --window 1000 -- ./sharing >sharing.json
    holds "two threads" 'd["threads"] == 2 and [t["thread"] for t in d["by_thread"]] == [1, 2]' sharing.json
    holds "they invalidate each other" 'd["invalidations"] > 100' sharing.json
    # How many of them are false sharing depends on how the threads interleave, which differs from run to run.
    holds "reuses in the shared cache are false sharing" 'd["shared"]["reuses"] > 100 and d["shared"]["false_sharing"] > 100' sharing.json
    holds "coherence misses" '[c["coherence"] > 100 for c in d["caches"] if c["name"] == "L1"] == [True]' sharing.json
    holds "padding would help" 'd["shared"]["false_sharing"] < d["shared"]["reuses"] / 3 or d["advice"][0]["kind"] == "padding" and d["advice"][0]["use"]["function"] == "work"' sharing.json
    holds "misses of the words by object" '[o["coherence"] > 100 for o in d["objects"] if o["name"] == "words"] == [True]' sharing.json
    holds "stacks by thread" '{"stack of thread 1", "stack of thread 2"} <= {o["name"] for o in d["objects"]}' sharing.json
    holds "threads add up" 'sum(t["reuses"] for t in d["by_thread"]) == d["reuses"]' sharing.json
    holds "each touch is one thing" 'd["touches"] == d["reuses"] + d["cold"] + d["after_invalidation"]' sharing.json
}
by_chance neighbours
by_word() {
    "$ASSAY" reuse --json --window 1000 --granularity 8 -- ./sharing >words.json
    holds "by word nothing of it is shared" 'd["invalidations"] < 100' words.json
}
by_chance by_word
two_sockets() {
    "$ASSAY" reuse --json --window 1000 --sockets 2 -- ./sharing >sockets.json
    holds "on two sockets there is no shared reuse of it" 'd["shared"]["reuses"] < 100 and d["shared"]["invalidations"] > 100' sockets.json
}
by_chance two_sockets

# Threads that take turns: the line of the word that they look at moves in each of them, and so does that of the mutex.
turns=100
take_turns() {
    "$ASSAY" reuse --json -- "$STATIC/turns" $way $turns >turns.json
    holds "$way: each turn moves the word and the mutex once" \
        'all(2 * '$turns' - 3 <= o["coherence"] <= 2 * '$turns' - 1 for o in d["objects"] if o["name"] in ("turn", "guard"))' turns.json
}
# … and by the word alone: of each hand-over the store of the one and the look of the other that sees it are a reuse between threads, and at most two
# more, if the one looks before and behind that. Looks that saw nothing new come before the store, however many the host let a thread execute
# meanwhile (there were 700 to 36,000 reuses for 300). Of the first hand-over the order may not be known, which is worth a few.
take_looks() {
    "$ASSAY" reuse --json --top 1000 -- "$WORKLOADS/turns" $way $turns >looks.json
    holds "$way: no reuses of the word between threads that cannot be" '2 * '$turns' - 3 <= sum(p["count"] for p in d["shared"]["pairs"]
        if p["use"]["function"] == p["reuse"]["function"] == "by_'$way'") <= 6 * '$turns' + 24' looks.json
}
for way in spin atomic; do
    by_chance take_turns
    by_chance take_looks
done

# The page: one file, nothing of it from elsewhere, text as text.
cp sharing '<b>"sharing" & co'
check "a page" "$ASSAY" reuse --html --window 1000 --interval 5000 -o page.html -- './<b>"sharing" & co'
check "… counts touches beside accesses, where some lie in two lines" grep -q 'some accesses lie in two' page.html
page_holds() {
    python3 - <<'END'
import html.parser, re
text = open("page.html", encoding="utf-8").read()
class Reader(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.titles, self.rows, self.at = [], [], 0, ""
    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.at = tag
        self.rows += tag == "tr"
    def handle_data(self, data):
        if self.at == "h2":
            self.titles.append(data)
            self.at = ""
reader = Reader()
reader.feed(text)
assert not {"script", "link", "img", "b"} & set(reader.tags), set(reader.tags)
assert "http" not in re.sub("http-equiv", "", text)
assert "&lt;b&gt;&quot;sharing&quot; &amp; co" in text
wanted = ["Reuse distance, distinct granules in between", "Time distance, accesses in between", "Misses by the size of a fully associative LRU cache",
          "Caches of boom-tea", "Working set over time", "Use and reuse", "Use and reuse between threads", "L1 misses by code", "L1 misses by object"]
# There is advice where the threads met often enough in this run.
assert [title for title in reader.titles if title != "What could be done"] == wanted, reader.titles
assert text.count("<polyline") == 2 and "L1 of boom-tea, 32 KiB: " in text and "main &gt; work" in text
assert not re.search("nan|inf\\b", re.sub("<title>.*?</title>", "", text)), "a number that is none"
END
}
check "it has its parts, and nothing from elsewhere" page_holds
check "a page of an estimate" "$ASSAY" reuse --html --method watch --exact --period 1000 -o watch.html -- "$STATIC/ribench" 1 1 0 5 500 5 500 5 500 1 10 1 10
check_same "with both histograms" 2 "$(grep -c 'class="b" x=' watch.html | awk '{print ($1 > 5) + 1}')"
check "a page of nothing" "$ASSAY" reuse --html --from walk --max 1 -o nothing.html -- ./walks w
check_same "has no curve" 0 "$(grep -c '<polyline' nothing.html)"

# Watchpoints on the modelled machine, on a program whose distances are its arguments: 1500, 3000 and 6000 (and two short
# arrays). Its exact histogram, and the estimate. (Accuracy 0.85: five standard deviations of what 500 outcomes at
# three distances, with their weights, can be off.)
ribench() { "$ASSAY" reuse --json "$@" -- "$STATIC/ribench" 1 4 0 20 1500 20 3000 20 6000 1 10 1 10; }
ribench --granularity 8 --from work >ri.json
holds "ribench: 1500 of it" 'sum(b["count"] for b in d["time_histogram"] if b["lo"] == 1024) >= 4 * 19 * 1500' ri.json
holds "ribench: 6000 of it" 'sum(b["count"] for b in d["time_histogram"] if b["lo"] == 4096) >= 4 * 19 * 6000' ri.json
ribench --method watch --exact --period 600 --replacement reservoir >reservoir.json
holds "watch: as the paper replaces" 'd["watched"]["given_up"] > 20 and d["watched"]["reused"] > 20' reservoir.json
ribench --method watch --exact --period 600 >watch.json
holds "watch: the estimate is right" 'd["exact"]["accuracy"] > 0.85 and d["method"] == "watchpoints"' watch.json
holds "watch: every sample has one outcome" \
    'sum(d["watched"][k] for k in ("reused", "invalidated", "own", "given_up", "never")) == d["watched"]["armed"] <= d["samples"]' watch.json
holds "watch: registers are given up" 'd["watched"]["given_up"] > 20 and d["watched"]["dropped"] > 20' watch.json
holds "watch: the pair" 'd["pairs"][0]["reuse"]["function"] in ("work", "walk_own")' watch.json
check_json "watch: one register" 'd["watched"]["reused"] > 20 and d["watched"]["dropped"] > d["watched"]["armed"]' ribench --method watch --period 600 --registers 1
watched_threads() {
    check_json "watch: threads that share" 'd["watched"]["invalidated"] > 10 and d["invalidations"] > 1000' \
        "$ASSAY" reuse --json --method watch --granularity 8 --period 500 --window 1000 -- "$STATIC/ribench" 2 60 200 20 100 1 10 1 10 1 10 1 10
    check_json "watch: in the shared cache" 'd["watched"]["reused"] > 10 and d["watched"]["invalidated"] == 0' \
        "$ASSAY" reuse --json --method watch --shared --period 500 --window 1000 -- "$STATIC/ribench" 2 60 200 20 100 1 10 1 10 1 10 1 10
}
by_chance watched_threads
check "watch as text" "$ASSAY" reuse --method watch --exact --period 1000 -- "$STATIC/ribench" 1 1 0 5 500 5 500 5 500 1 10 1 10
check_json "watch: no accuracy of no estimate" 'd["exact"]["accuracy"] is None and d["exact"]["accuracy_distinct"] is None and d["exact"]["reuses"] > 0' \
    "$ASSAY" reuse --json --method watch --exact --period 1G -- "$STATIC/ribench" 1 1 0 5 500 5 500 5 500 1 10 1 10
run "$ASSAY" reuse --method watch --exact --period 1G -- "$STATIC/ribench" 1 1 0 5 500 5 500 5 500 1 10 1 10
check "watch as text: no accuracy of no estimate" grep -q 'no reuse was watched to its end' <<<"$out"
check_stderr_line 'watches no more' "a line cannot be watched" "$ASSAY" reuse --method watch --granularity 64 -- true

# A sample of the lines: of few lines all are taken, and the answers are those of every access.
walks w walk --method lines >lines.json
"$ASSAY" reuse -q --from walk --method lines -- ./walks w >lines.txt
check "a sample of all lines is called that" grep -q 'from all lines' lines.txt
holds "lines: few lines are all there" 'd["method"] == "lines" and d["rate"] == 1 and sum(b["count"] for b in d["histogram"] if b["lo"] == 512) == 9000' lines.json
walks w walk --method lines --lines 64 >thin.json
holds "lines: fewer are a sample" 'd["rate"] < 1 and {p["bytes"]: p["ratio"] for p in d["miss_ratio"]}[32768] > 0.7' thin.json
holds "lines: intervals of a sample are not shown" 'not d["working_set"]["bytes"]' thin.json
walks f at_random --method lines --lines 64 >thin.json
holds "lines: what they cannot resolve is one bin, and no size" \
    'd["histogram"][0]["lo"] == 0 and d["histogram"][0]["hi"] == 4 / d["rate"] - 1 and d["histogram"][1]["lo"] >= 4 / d["rate"] and d["miss_ratio"][0]["bytes"] == 256 / d["rate"]' thin.json
holds "lines: a sample says how far off it may be" \
    'd["miss_ratio"][0]["ratio_error"] > 0 and d["miss_ratio"][0]["shared_error"] > 0' thin.json
holds "lines: all of them have no error" 'all(p["ratio_error"] == 0 for p in d["miss_ratio"])' lines.json
"$ASSAY" reuse --csv --from at_random --to finished --method lines --lines 64 -o thin.csv -- ./walks f
"$ASSAY" reuse --html --from at_random --to finished --method lines --lines 64 -o thin.html -- ./walks f
check "lines: the page says which, and counts no conflicts" python3 - <<'END'
import json, re
rate, page = json.load(open("thin.json"))["rate"], open("thin.html", encoding="utf-8").read()
assert f"from one of {1 / rate:.0f} lines (distances from {4 / rate:.0f} on)" in page
pairs = page[page.index("Use and reuse"):]
assert {row.split('<td class="n">')[3] for row in re.findall("<tr><td.*?</tr>", pairs, re.S)} == {"-"}
END
check "lines: the same in CSV" python3 - <<'END'
import csv, json
rate = json.load(open("thin.json"))["rate"]
rows = list(csv.DictReader(open("thin.csv")))
assert {(r["lo"], r["hi"]) for r in rows if r["what"] in ("distance", "pair") and int(r["lo"]) < 4 / rate} == {("0", str(int(4 / rate) - 1))}
assert min(int(r["lo"]) for r in rows if r["what"] == "miss ratio") == 256 / rate
END
check_json "lines: all of them resolve every distance" 'd["histogram"][0]["hi"] == 0 and d["miss_ratio"][0]["bytes"] == 64' cat lines.json
cat >vectors.c <<'END'
#include <emmintrin.h>
#include <stdint.h>
static _Alignas(64) char bytes[1 << 16];
int main(int argc, char **argv)
{
    __m128i sum = _mm_setzero_si128();
    for (int round = 0; round < 20; round++)
        for (int i = 8; i + 16 <= 1 << 16; i += 16)
            sum = _mm_add_epi8(sum, _mm_loadu_si128((__m128i *)(bytes + i)));
    for (int i = 0; i < 1000; i++)
        __atomic_fetch_add((uint64_t *)bytes, argc, __ATOMIC_SEQ_CST);
    return _mm_cvtsi128_si32(sum) == 1;
}
END
gcc -O1 -o vectors vectors.c
"$ASSAY" reuse --json --from main -- ./vectors >every.json
"$ASSAY" reuse --json --from main --method lines --lines 65536 -- ./vectors >lines.json
same_counts() { # to a thousandth: accesses, touches, the shortest distance
    python3 - "$@" <<'END'
import json, sys
counts = [(d["accesses"], d["touches"], d["histogram"][0]["count"]) for d in (json.load(open(name)) for name in sys.argv[1:])]
sys.exit(any(abs(a - b) > a / 1000 for a, b in zip(*counts)) and f"{counts[0]} and {counts[1]}")
END
}
check "lines: vectors and atomics are one access each, at times of two lines" same_counts every.json lines.json
"$ASSAY" reuse --json --from main --method lines --lines 128 -- ./vectors >lines.json
check "lines: so they are where most are left out" python3 - <<'END'
import json
every, lines = (json.load(open(name)) for name in ("every.json", "lines.json"))
assert lines["rate"] <= 1 / 8, lines["rate"]
for name in ("accesses", "touches"):
    assert abs(lines[name] - every[name]) <= every[name] / 1000, (name, every[name], lines[name])
    assert lines["by_thread"][0][name] == lines[name], name
assert lines["temporal"] is None and lines["spatial"] is None
END
cat >moves.c <<'END'
#define _GNU_SOURCE
#include <sys/mman.h>
enum { BYTES = 4 << 20, MOVES = 4 };
static volatile char sum;
int main(void)
{
    char *room = mmap(0, (MOVES + 1L) * BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *at = mmap(room, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    for (int move = 0; move <= MOVES; move++) {
        for (int i = 0; i < BYTES; i += 16)
            sum += at[i];
        if (move < MOVES)
            at = mremap(at, BYTES, BYTES, MREMAP_MAYMOVE | MREMAP_FIXED, room + (move + 1L) * BYTES);
    }
    madvise(at, BYTES, MADV_DONTNEED);
    for (int i = 0; i < BYTES; i += 16)
        sum += at[i];
}
END
gcc -O1 -o moves moves.c
"$ASSAY" reuse --json -q --from main --method lines -- ./moves >lines.json
check "lines: memory that moves is the same, and what it drops comes anew" python3 - <<'END'
import json
d = json.load(open("lines.json"))
lines = (4 << 20) // 64
assert d["rate"] <= 1 / 16 and abs(d["cold"] - 2 * lines) < lines / 10, (d["rate"], d["cold"], lines)
END
check_stderr_line 'granularity of 64 or more' "lines have 64 bytes" "$ASSAY" reuse --method lines --granularity 8 -- true

# Memory that moves is the same memory; memory that is mapped where other memory was is not.
cat >moves.c <<'END'
#define _GNU_SOURCE
#include <sys/mman.h>
enum { SIZE = 64 * 900, TURNS = 10 };
static char *map(void *at, int flags) { return mmap(at, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0); }
__attribute__((noinline)) void walk(volatile char *memory)
{
    for (int i = 0; i < SIZE; i += 64)
        memory[i]++;
}
__attribute__((noinline)) void finished(void) { __asm__ volatile(""); }
int main(int argc, char **argv)
{
    char *memory = map(0, 0);
    for (int turn = 0; turn < TURNS; turn++) {
        walk(memory);
        if (argv[1][0] == 'm')
            memory = mremap(memory, SIZE + (size_t)turn * 8192, SIZE + (size_t)(turn + 1) * 8192, MREMAP_MAYMOVE);
        if (argv[1][0] == 'n') {
            munmap(memory, SIZE);
            memory = map(memory, MAP_FIXED);
        }
    }
    finished();
    return memory == MAP_FAILED;
}
END
gcc -O1 -g -o moves moves.c
for method in exact lines; do
    check_json "$method: memory that is moved is used again" '900 <= d["cold"] < 1000 and 8100 <= sum(b["count"] for b in d["histogram"] if b["lo"] == 512) < 8200' \
        "$ASSAY" reuse --json --method $method --from walk --to finished -- ./moves m
    check_json "$method: new memory is not" '9000 <= d["cold"] < 9100' "$ASSAY" reuse --json --method $method --from walk --to finished -- ./moves n
done
check_json "moved memory is one object" 'sum(o["name"].startswith("mapping") and o["misses"] > 500 for o in d["objects"]) == 1' "$ASSAY" reuse --json --from walk -- ./moves m

# What is hard on watchpoints: memory that goes while it is watched or comes back empty, strides of megabytes over 64 GiB,
# more threads than registers, a program that does nothing, and one that dies.
cat >hard.c <<'END'
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
enum { SIZE = 1 << 13, TURNS = 10 };
static char *map(size_t size) { return mmap(0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0); }
static void *fill(void *unused)
{
    for (int turn = 0; turn < TURNS; turn++) {
        char *memory = map(SIZE);
        memset(memory, turn, SIZE);
        madvise(memory, SIZE, MADV_DONTNEED);
        memset(memory, turn, SIZE);
        munmap(memory, SIZE);
    }
    return unused;
}
static void stride(void)
{
    size_t step = (size_t)4 << 20, size = (size_t)1 << 36;
    volatile char *memory = map(size);
    for (int turn = 0; turn < 3 && memory != MAP_FAILED; turn++)
        for (size_t at = 0; at < size; at += step)
            memory[at]++;
}
static void threads(int n)
{
    pthread_t all[64];
    for (int i = 0; i < n; i++)
        pthread_create(&all[i], 0, fill, 0);
    for (int i = 0; i < n; i++)
        pthread_join(all[i], 0);
}
int main(int argc, char **argv)
{
    switch (argv[1][0]) {
    case 'm': fill(0); break;
    case 's': stride(); break;
    case 't': threads(12); break;
    case 'd': fill(0); abort();
    }
}
END
gcc -O1 -g -pthread -o hard hard.c
printf 'int main(void) { return 0; }' >empty.c
gcc -O1 -o empty empty.c
one_outcome='sum(d["watched"][k] for k in ("reused", "invalidated", "own", "given_up", "never")) == d["watched"]["armed"] <= d["samples"] and d["watched"]["lost"] == 0'
each_touch='d["touches"] == d["reuses"] + d["cold"] + d["after_invalidation"] and sum(b["count"] for b in d["histogram"]) == d["reuses"]'
check_json "memory that goes, watched" "$one_outcome" "$ASSAY" reuse --json --method watch --period 100 -- ./hard m
check_json "memory that goes, exactly" "$each_touch" "$ASSAY" reuse --json -- ./hard m
check_json "strides, watched" "$one_outcome" "$ASSAY" reuse --json --method watch --period 100 -- ./hard s
check_json "strides, exactly: 16384 lines, each twice again" \
    "$each_touch"' and sum(b["count"] for b in d["histogram"] if b["lo"] >= 8192) >= 2 * 16384' "$ASSAY" reuse --json -- ./hard s
check_json "12 threads, one register" "$one_outcome"' and d["threads"] == 13' "$ASSAY" reuse --json --method watch --registers 1 --period 500 -- ./hard t
for given in --shared --period=9 --registers=2 --replacement=reservoir --arm-lag=5 --disturb --seed=2; do
    check_fails 2 "${given%%=*} is for --method=watch" "$given without watchpoints" "$ASSAY" reuse $given -- ./walks w
done
check_fails 2 'lines is for --method=lines' "--lines of all lines" "$ASSAY" reuse --lines 100 -- ./walks w
for given in --rate=5 --budget=5 --ahead=5 --duration=5; do
    check_fails 2 "${given%%=*} is for --source=timer" "$given in the model" "$ASSAY" reuse $given -- ./walks w
done
check_fails 125 "never reached 'nosuch'" "a region that never comes is an error" "$ASSAY" reuse --from nosuch -o never.txt -- ./walks w
check "… and nothing is written" test ! -e never.txt
check_fails 2 'unknown option --warm' "nothing can be warmed" "$ASSAY" reuse --skip 1000 --warm 500 -- ./walks w
for how in warm=500 settle=500 mode=warm; do
    check_fails 2 'warm, settle and mode are for a modelled core' "… not in a region either: $how" "$ASSAY" reuse --region 1k..9k,$how -- ./walks w
done
check_json "12 threads in the shared cache" "$one_outcome" "$ASSAY" reuse --json --method watch --shared --registers 2 --period 500 -- ./hard t
check_json "12 threads, exactly" "$each_touch"' and len(d["by_thread"]) == 13' "$ASSAY" reuse --json -- ./hard t
check_json "an empty program, watched" "$one_outcome" "$ASSAY" reuse --json --method watch -- ./empty
printf '.globl _start\n_start: mov $60, %%eax\nxor %%edi, %%edi\nsyscall\n' >nothing.s
gcc -nostdlib -static -o nothing nothing.s
"$ASSAY" reuse -q --html -o nothing.html -- ./nothing
check "a program without an access has no ratios on its page" sh -c 'grep -q "No access was seen" nothing.html && ! grep -q "0.000 %" nothing.html'
check_json "an empty program, exactly" "$each_touch" "$ASSAY" reuse --json -- ./empty
check_status 134 "a program that dies" "$ASSAY" reuse --json --method watch --period 100 -- ./hard d

# One list of fields: what is written is on the manual page, and the other way round.
page=$(dirname "$0")/../../doc/man/assay-reuse.1
"$ASSAY" reuse --json --adjacent -o fields-threads.json -- ./hard t
"$ASSAY" reuse --csv -o fields-threads.csv -- ./hard t
walks s stride -o fields-stride.json
"$ASSAY" reuse --csv --from stride --to finished -o fields-stride.csv -- ./walks s
walks w walk --method lines -o fields-lines.json
"$ASSAY" reuse --json --method watch --exact --shared --period 500 --pmu zen4 -o fields-watch.json -- ./hard t
"$ASSAY" reuse --csv --method watch --shared --period 500 -o fields-watch.csv -- ./hard t
"$ASSAY" reuse --csv --method watch --period 100 -o fields-alone.csv -- ./walks w # in which distances are sure to be found
check "fields and the manual page" python3 "$(dirname "$0")/reuse_fields.py" --all "$page" thin.csv fields-*
check "CSV has the document's numbers" python3 - <<'END'
import csv, json
document, rows = json.load(open("fields-stride.json")), list(csv.DictReader(open("fields-stride.csv")))
def value(what, name):
    return [float(row["value"]) for row in rows if (row["what"], row["name"]) == (what, name)]
for name in ("accesses", "reuses", "cold", "temporal"):
    assert value("count", name) == [document[name]], name
for cache in document["caches"]:
    assert abs(value("cache: simulated", cache["name"])[0] - cache["simulated"]) < 1e-9
    assert sum(value(f"cache: {cause} misses", cache["name"])[0] if cache[cause] else 0 for cause in ("cold", "capacity", "conflict", "coherence")) == cache["misses"]
shares = [float(row["value"]) for row in rows if row["what"] == "advice"]
assert shares and abs(sum(shares) - sum(a["share"] for a in document["advice"])) < 1e-9
END

# A library that is opened three times is one: its code by the file, and its data.
cat >again.c <<'END'
static long table[4096];
long work(long n);
long work(long n)
{
    long sum = 0;
    for (long i = 0; i < n; i++)
        sum += table[i * 7 & 4095] += i;
    return sum;
}
END
cat >opens.c <<'END'
#include <dlfcn.h>
int main(int argc, char **argv)
{
    for (int round = 0; round < 3; round++) {
        void *library = dlopen(argv[1], RTLD_NOW);
        long (*work)(long) = library ? (long (*)(long))dlsym(library, "work") : 0;
        if (!work || work(20000) < 0 || dlclose(library) != 0)
            return 1;
    }
    return 0;
}
END
gcc -O1 -g -shared -fPIC -o again.so again.c
gcc -O1 -g -o opens opens.c -ldl
check_json "a library that is opened again" '(lambda tables, work: len(tables) == 1 and tables[0]["misses"] >= 3 * 512 and tables[0]["lines"] >= 3 * 512 and len(work) == len(set(c["at"]["address"] for c in work)) and any(c["touches"] == 60000 for c in work))([o for o in d["objects"] if o["name"] == "table"], [c for c in d["code"] if c["at"]["function"] == "work"])' "$ASSAY" reuse --json -- ./opens ./again.so

# Several processes, nothing at all, and wrong words.
check_json "children" 'len({t["process"] for t in d["by_thread"]}) == 3 and d["exit_status"] == 3' "$ASSAY" reuse --json -- sh -c 'ls >/dev/null; (exit 1); exit 3'
check_json "a part without accesses" 'd["samples"] == 0 and d["histogram"] == []' "$ASSAY" reuse --json --from walk --max 1 -- ./walks w
"$ASSAY" reuse --from walk --max 1 -- ./walks w >nothing.txt
check "… says so, without tables" grep -q 'No access was seen' nothing.txt
"$ASSAY" reuse --method watch --period 3000 --from walk -- ./walks w >few.txt
check "few uses are called few" grep -q 'so few tell little: a smaller --period' few.txt
check_same "… of misses" 0 "$(grep -c 'Misses of' nothing.txt)"
check_fails 2 'exact is for --method=watch' "--exact of a sample of the lines" "$ASSAY" reuse --exact --method=lines -- ./walks w
check_stderr_line 'granularity must be a power of two' "granularity" "$ASSAY" reuse --granularity 48 -- true
check_same "… is wrong usage" 2 "$status"
check_fails 2 "must be a power of two" "… and no note about the core comes with it" env -u ASSAY_CORE "$ASSAY" reuse --granularity 3 -- true
check_fails 127 "not found" "… nor with a program that is not there" env -u ASSAY_CORE "$ASSAY" reuse -- ./nosuch
check_stderr_line 'no program' "no program" "$ASSAY" reuse
check_status 2 "both formats" "$ASSAY" reuse --json --csv -- true
check_status 127 "no such program" "$ASSAY" reuse -- ./absent
check_stderr_line 'memory.l1d' "a machine that cannot be" "$ASSAY" reuse --set memory.l1d.size=1 -- true
