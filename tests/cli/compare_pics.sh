#!/usr/bin/env bash
# assay compare and why: events, cycle stacks, samplers with events, --events, --pics, --pics-of, and bad input to them.
# plain-only: stacks are the same in both builds; sanitized.sh writes some under sanitizers
# time-limit: 180
DEFAULT_CORE=boom-tip
. "$(dirname "$0")/lib.sh"

compare() { "$ASSAY" compare "$@"; }
demo=$STATIC/demo

# What holds knows beside near.
HOLDS='
TEA = ["DR-L1", "DR-TLB", "DR-SQ", "FL-MB", "FL-EX", "FL-MO", "ST-L1", "ST-TLB", "ST-LLC"]
def sampler(document, name):
    return next(entry for entry in document["samplers"] if entry["name"] == name)
def fold(components, events):
    """Components with only these events left in their names."""
    folded = {}
    for name, cycles in components.items():
        kept = "+".join(e for e in name.split("+") if e in events) or "Base"
        folded[kept] = folded.get(kept, 0) + cycles
    return folded
'

# ---- the document ---------------------------------------------------------------------------------------------------
check "a run" compare --json -o all.json --max 1500k --top 1000000 -- "$demo" 3
holds "the nine events of the paper are the default" 'd["events"]["set"] == TEA' all.json
holds "components of each instruction are its cycles" '
    all(near(sum(r["components"].values()), r["cycles"]) for r in d["rows"])' all.json
holds "… and of all of them the program, component by component" '
    all(near(sum(r["components"].get(name, 0) for r in d["rows"]), cycles)
        for name, cycles in d["events"]["components"].items())
    and near(sum(d["events"]["components"].values()), d["cycles"])' all.json
holds "an event has the time of its components, and its executions" '
    all(near(e["cycles"], sum(c for n, c in d["events"]["components"].items() if name in n.split("+")))
        and near(e["share"], e["cycles"] / d["cycles"])
        and e["count"] == sum(r["met"].get(name, 0) for r in d["rows"])
        and e["instructions"] == sum(name in r["met"] for r in d["rows"])
        for name, e in d["events"]["by_event"].items()) and list(d["events"]["by_event"]) == TEA' all.json
holds "executions are all instructions" 'sum(r["executions"] for r in d["rows"]) == d["instructions"]' all.json
holds "events are what the core counted" '
    d["events"]["by_event"]["FL-MB"]["count"] == d["counters"]["branch_mispredictions"]
    and d["events"]["by_event"]["FL-MO"]["count"] == d["counters"]["memory_order_violations"]' all.json
holds "combined" '
    (lambda c: c["met"] <= d["instructions"] and 0 <= c["independent_executions"] <= c["executions"] <= 1
        and 0 <= c["independent_cycles"] <= c["cycles"] <= 1
        and near(c["cycles"] * d["cycles"], sum(v for n, v in d["events"]["components"].items() if "+" in n)))(
        d["events"]["combined"])' all.json
holds "correlations by an implementation of its own" '
    (lambda pearson: all(
        (r is None and (len(p) < 3 or len(set(x for x, _ in p)) == 1)) or abs(r - pearson(p)) < 1e-6
        for name, r in d["events"]["correlation"].items()
        for p in [[(row["met"][name], sum(c for n, c in row["components"].items() if name in n.split("+")))
                   for row in d["rows"] if name in row["met"]]]))(
    lambda p: (lambda mx, my: sum((x - mx) * (y - my) for x, y in p)
        / math.sqrt(sum((x - mx) ** 2 for x, _ in p) * sum((y - my) ** 2 for _, y in p)))(
        sum(x for x, _ in p) / len(p), sum(y for _, y in p) / len(p)))' all.json
holds "stalls without an event" '
    (lambda u: 0 < u["count"] and u["p50"] <= u["p99"] <= u["longest"] <= u["cycles"] < d["cycles"]
        and len(u["long"]) <= 5 and all(r["text"] for r in u["long"]))(d["events"]["unexplained_stalls"])' all.json

# ---- samplers -------------------------------------------------------------------------------------------------------
holds "events of Table B.1" '
    sampler(d, "tea")["events"] == sampler(d, "nci-tea")["events"] == TEA
    and sampler(d, "ibs")["events"] == ["DR-L1", "DR-TLB", "FL-MB", "ST-L1", "ST-TLB", "ST-LLC"]
    and sampler(d, "spe")["events"] == ["FL-MB", "FL-EX", "ST-L1", "ST-TLB", "ST-LLC"]
    and sampler(d, "ris")["events"] == ["DR-L1", "DR-TLB", "DR-SQ", "FL-MB", "ST-L1", "ST-TLB", "ST-LLC"]
    and "events" not in sampler(d, "tip")' all.json
holds "pics_error of those with events, null for the others" '
    all((s["pics_error"] is None) == ("events" not in s) for s in d["samplers"])
    and all(list(s["pics_error"]) == ["instruction", "block", "function", "program"]
            and all(0 <= e <= 1 for e in s["pics_error"].values()) for s in d["samplers"] if s["pics_error"])' all.json
holds "stacks are never better than the time alone, and coarser ones never worse" '
    all(s["pics_error"]["instruction"] >= s["error"]["instruction"] - 1e-12
        and s["pics_error"]["function"] >= s["error"]["function"] - 1e-12
        and s["pics_error"]["program"] <= s["pics_error"]["function"] + 1e-12
        and s["pics_error"]["function"] <= s["pics_error"]["block"] + 1e-12
        and s["pics_error"]["block"] <= s["pics_error"]["instruction"] + 1e-12
        for s in d["samplers"] if s["pics_error"])' all.json
holds "TEA samples what TIP samples" '
    all(sampler(d, "tea")[field] == sampler(d, "tip")[field] for field in ("samples", "dropped", "error", "systematic"))
    and all(r["samplers"]["tea"] == r["samplers"]["tip"] and r["samplers"]["nci-tea"] == r["samplers"]["nci"]
            for r in d["rows"])' all.json
check "dense" compare --json -o dense.json --max 1500k --period 53 --sweep 1009 -- "$demo" 3
holds "in the order of the paper" '
    (lambda e: e["tea"] < e["nci-tea"] < min(e["ibs"], e["spe"], e["ris"]))(
        {s["name"]: s["pics_error"]["instruction"] for s in d["samplers"] if s["pics_error"]})' dense.json
holds "a sweep has them too, and more samples are better" '
    sampler(d["sweep"][0], "tea")["pics_error"]["instruction"] > sampler(d, "tea")["pics_error"]["instruction"]' dense.json
check "every cycle" compare --json -o every.json --period 1 --max 60k -- "$demo" 1
holds "TEA in every cycle is the golden reference" '
    sampler(d, "tea")["pics_error"] == {"instruction": 0, "block": 0, "function": 0, "program": 0}' every.json
check "a period longer than the run" compare --json -o none.json --period 1G --max 50k -- "$demo" 1
holds "no samples: errors are null" 'set(sampler(d, "tea")["pics_error"].values()) == {None}' none.json
check "threads" compare --json -o threads.json --top 1000000 -- "$STATIC/threads" -t 4 -w 200 -r 3
holds "threads are added up" '
    near(sum(d["events"]["components"].values()), d["cycles"])
    and all(near(sum(r["components"].values()), r["cycles"]) for r in d["rows"])' threads.json

# ---- event sets -----------------------------------------------------------------------------------------------------
events() { compare --json -o "$1" --max 1500k --top 1000000 --events "$2" -- "$demo" 3; }
check "all events" events wide.json all
check "two events" events two.json st-l1,ST-TLB
check "one more" events more.json +FORWARDED
check "one less" events less.json -FL-MO
check "none" events zero.json none
holds "sets" '
    [x["events"]["set"] for x in d[1:]] == [["ST-L1", "ST-TLB"], TEA + ["FORWARDED"], [e for e in TEA if e != "FL-MO"], []]
    and set(TEA) < set(d[0]["events"]["set"]) and "ST-CO" in d[0]["events"]["set"]' wide.json two.json more.json less.json zero.json
holds "a set is the larger one with events left out" '
    all(near(cycles, fold(d[0]["events"]["components"], x["events"]["set"])[name])
        for x in d[1:] for name, cycles in x["events"]["components"].items())
    and all(set(x["events"]["components"]) == set(fold(d[0]["events"]["components"], x["events"]["set"]))
            for x in d[1:])' wide.json all.json two.json more.json less.json zero.json
holds "tea has the set, ibs keeps its own" '
    sampler(d[0], "tea")["events"] == ["ST-L1", "ST-TLB"]
    and sampler(d[0], "ibs") == sampler(d[1], "ibs") and sampler(d[0], "tip") == sampler(d[1], "tip")' two.json all.json
holds "fewer events, smaller errors" '
    sampler(d[0], "tea")["pics_error"]["instruction"] <= sampler(d[1], "tea")["pics_error"]["instruction"]' two.json all.json
holds "no events: the stacks are the time" '
    list(d["events"]["components"]) == ["Base"]
    and sampler(d, "tea")["pics_error"]["instruction"] == sampler(d, "tip")["error"]["instruction"]' zero.json
holds "more events explain no less" '
    d[0]["events"]["unexplained_stalls"]["cycles"] <= d[1]["events"]["unexplained_stalls"]["cycles"]
        <= d[2]["events"]["unexplained_stalls"]["cycles"]' wide.json all.json zero.json
bad() { check_fails 2 "$1" "$2" compare "${@:3}" -- "$demo" 1; }
bad "unknown event 'ST-L7'; the events are DR-L1, .*ST-CO, ORDER, and the sets tea" "an unknown event" --events ST-L7
bad "list of events is empty" "no event" --events ,
bad "ST-LLC .*needs ST-L1 in the set too" "a dependent event alone" --events ST-LLC
bad "needs DR-L1 in the set too" "one of two roots" --events ST-L1,LLC-HIT
bad "cannot raise the event ST-CO" "an event of other cores, where caches ignore them" --events +ST-CO --set coherence.protocol=off
bad "cannot raise the event FL-MO" "an event that this machine has not" --events FL-MO --set back.memory_speculation=no
check "a set as a whole is cut down to the machine" compare -o /dev/null --events all --set back.memory_speculation=no --max 10k -- "$demo" 1

# ---- --pics ---------------------------------------------------------------------------------------------------------
pics() { compare --max 1500k "$@" -- "$demo" 3; }
check "a function" pics --json -o function.json --pics words_count
holds "its instructions, by address, all of its time" '
    len(d[0]["rows"]) > 10 and all(r["function"] == "words_count" for r in d[0]["rows"])
    and [int(r["address"], 16) for r in d[0]["rows"]] == sorted(int(r["address"], 16) for r in d[0]["rows"])
    and {r["address"] for r in d[0]["rows"]} == {r["address"] for r in d[1]["rows"] if r["function"] == "words_count"}
    and all(r == next(s for s in d[1]["rows"] if s["address"] == r["address"]) for r in d[0]["rows"])
    and near(sum(r["cycles"] for r in d[0]["rows"]), d[0]["pics"]["cycles"])
    and d[0]["pics"]["of"] == "golden" and d[0]["pics"]["place"] == "words_count"' function.json all.json
holds "file and line are there" 'all(r["file"].endswith("demo.c") and r["line"] > 0 for r in d["rows"])' function.json
check "as a sampler sees it" pics --json -o seen.json --period 101 --pics words_count --pics-of tea
holds "… with its samples" '
    d["pics"]["of"] == "tea" and all("executions" not in r and r["samples"] >= 0 for r in d["rows"])
    and all(near(r["share"], r["samplers"]["tea"]) for r in d["rows"])
    and sum(r["samples"] for r in d["rows"]) > 0' seen.json
first=$(python3 -c 'import json; print(json.load(open("function.json"))["rows"][0]["address"])')
for place in "words_count+0x0" "demo:words_count+0x0" "$first" "demo:$first" "$demo:words_count+0x0"; do
    check_json "$place" 'len(d["rows"]) == 1 and d["rows"][0]["address"] == "'"$first"'"' pics --json --pics "$place"
done
check_json "a function of a library, of several threads" 'len(d["rows"]) > 0 and len({r["function"] for r in d["rows"]}) == 1' \
    compare --json --pics main -- "$STATIC/threads" -t 2 -w 20 -r 1
check "in text" pics -o text.txt --pics words_count
check_same "… an instruction a line" "$(python3 -c 'import json; print(len(json.load(open("function.json"))["rows"]))')" \
    "$(grep -cE '^ +[0-9.]+ % +[0-9a-f]{6,} ' text.txt)"
check_same "… a legend" 1 "$(grep -cE '^  \. +[0-9.]+ %  Base$' text.txt)"
check_same "… no colours in a file" 0 "$(grep -c $'\033' text.txt)"
on_terminal() { script -qec "$*" /dev/null </dev/null; }
if command -v script >/dev/null; then
    run on_terminal "$ASSAY" compare -q --max 1500k --pics words_count -- "$demo" 3
    check_same "colours on a terminal" yes "$(grep -q $'\033\[4' <<<"$out" && echo yes)"
    NO_COLOR=1 run on_terminal "$ASSAY" compare -q --max 1500k --pics words_count -- "$demo" 3
    check_same "… not with NO_COLOR" "" "$(grep -q $'\033\[4' <<<"$out" && echo yes)"
else
    skip "colours on a terminal" "script is not installed"
fi

# ---- places that are not there --------------------------------------------------------------------------------------
check_fails 2 "there is no function 'word_count'; did you mean words_count" "a name that is nearly right" pics -o near.txt --pics word_count
check "… costs the listing, not the run" grep -qE '^tea +[0-9,]+ ' near.txt
check_fails 2 "there is no function 'xyzzyxyzzy'$" "a name that is not" pics -o /dev/null --pics xyzzyxyzzy
check_fails 125 "'words_count\+0x1' is there, but no instruction at that offset" "an offset in between" pics -o /dev/null --pics words_count+0x1
check_fails 125 'is there, but none of its instructions was executed' "a function that never ran" pics -o /dev/null --pics abort
check_fails 125 'no instruction at 0x10 was executed' "an address of nothing" pics -o /dev/null --pics 0x10
check_fails 2 'is not a place' "no name" pics -o /dev/null --pics +0x10
bad "pics-of needs --pics" "--pics-of without --pics" --pics-of tea
bad "'nosuch' is not among the samplers" "an unknown sampler" --pics main --pics-of nosuch
bad "'ibs' is not among the samplers" "one that is not in this run" --samplers tea --pics main --pics-of ibs
bad "tip records no events" "one without events" --pics main --pics-of tip

# Two functions of one name in two modules.
cat >plugin.c <<'C'
int same_name(int x) { return x * 3 + 1; }
C
cat >twice.c <<'C'
#include <dlfcn.h>
__attribute__((noinline)) static int same_name(int x) { return x * 5 + 2; }
int main(int argc, char **argv)
{
    void *library = dlopen("./libplugin.so", RTLD_NOW);
    int (*other)(int) = library ? (int (*)(int))dlsym(library, "same_name") : 0;
    volatile int sum = 0;
    for (int i = 0; i < 1000; i++)
        sum += same_name(i + argc) + (other ? other(i) : 0);
    return 0;
}
C
if cc -O1 -shared -fPIC -o libplugin.so plugin.c && cc -O1 -o twice twice.c -ldl; then
    check_fails 2 "'same_name' is ambiguous: .*MODULE:NAME" "a name in two modules" compare -o /dev/null --pics same_name -- ./twice
    check_json "… one of them by its module" 'len(d["rows"]) > 1 and all(r["module"].endswith("libplugin.so") for r in d["rows"])' \
        compare --json --pics libplugin.so:same_name -- ./twice
else
    skip "a name in two modules" "no compiler"
fi
check_no_strays "nothing is left running"
