#!/usr/bin/env bash
# assay report: every level, filter and order against sums made from the file; series, call trees, flame graphs,
# differences, the page's document; text on terminals and elsewhere; profiles that are none.
# sanitized-only: what is shown is the same in both builds
# time-limit: 240
# shellcheck disable=SC2016 # scripts in single quotes are the programs to measure
. "$(dirname "$0")/lib.sh"

show() { "$ASSAY" report "$@"; }
demo=$STATIC/demo

check "a profile" env -u ASSAY_DEBUG_PATH "$RECORDER" record -q -o assay.db --samplers tea,tip --max 4M -- "$WORKLOADS/demo" 1
check "one with threads" "$RECORDER" record -q -o threads.db -- "$STATIC/threads" -t 3 -w 300 -r 3

# What holds knows beside near.
HOLDS='
total = lambda document: sum(row["cycles"] for row in document["rows"])
def row(document, **where):
    return next(r for r in document["rows"] if all(r[key] == value for key, value in where.items()))
'

# ---- levels ---------------------------------------------------------------------------------------------------------
for by in function line block instruction file module thread; do
    check "--by $by" show --by $by --json -o $by.json
    holds "--by $by: rows are all of the time" '
        near(total(d), d["summary"]["cycles"]) and near(sum(r["share"] for r in d["rows"]), 1) and d["by"] == "'$by'"' $by.json
    holds "--by $by: components are the cycles" '
        all(near(sum(r["components"].values()), r["cycles"]) for r in d["rows"])' $by.json
    holds "--by $by: the most time first" '
        [r["cycles"] for r in d["rows"]] == sorted((r["cycles"] for r in d["rows"]), reverse=True)' $by.json
done
holds "the summary has what every report must say" '
    d["summary"]["source"] == "model" and d["summary"]["sampler"] == "golden" and d["summary"]["core"] == "boom-tea"
    and d["summary"]["error_estimate"] == 0 and d["summary"]["lost"] == d["summary"]["throttled"] == 0
    and d["summary"]["samples"] == d["summary"]["cycles"] and d["summary"]["instructions"] == 4000000' function.json
holds "rows have what applies to them" '
    all(sorted(r) == sorted(["module", "function", "file", "line", "address", "module_offset", "text", "executions", "time", "cycles", "share", "components"])
        for r in d["rows"] if r["executions"]) and all(r["text"] and r["address"].startswith("0x") for r in d["rows"])' instruction.json
holds "functions have the time of what they call" '
    all(r["total"] >= r["cycles"] - 1e-6 for r in d["rows"]) and row(d, function="main")["total_share"] > 0.5' function.json
holds "executions are the instructions" 'sum(r.get("executions", 0) for r in d["rows"]) == 4000000' instruction.json

# ---- filters --------------------------------------------------------------------------------------------------------
for thread in 1 2 3 4; do check "--thread $thread" show threads.db --thread $thread --json -o t$thread.json; done
holds "threads add up" 'near(sum(total(one) for one in d[:4]), d[4]["summary"]["cycles"]) and all(near(sum(r["share"] for r in one["rows"]), 1) for one in d[:4])' \
    t1.json t2.json t3.json t4.json t1.json
check "two threads" show threads.db --thread 2 --thread 3 --json -o t23.json
holds "… are the sum of both" 'near(total(d[0]), total(d[1]) + total(d[2]))' t23.json t2.json t3.json
check "--module" show --module 'demo*' --json -o filtered.json
holds "… leaves the module's time" 'near(total(d[0]), row(d[1], module=d[0]["rows"][0]["module"])["cycles"]) and all(r["module"].endswith("/demo") for r in d[0]["rows"])' filtered.json module.json
check "--symbol" show --symbol 'ma*' --by instruction --json -o filtered.json
holds "… leaves the functions that match" 'near(total(d[0]), sum(r["cycles"] for r in d[1]["rows"] if (r["function"] or "").startswith("ma"))) and total(d[0]) > 0' filtered.json function.json
check "--event" show --event ST-L1 --json -o filtered.json
holds "… leaves the time with it" '
    near(total(d[0]), sum(cycles for r in d[1]["rows"] for name, cycles in r["components"].items() if "ST-L1" in name.split("+")))
    and total(d[0]) > 0' filtered.json function.json
check "two events" show --event ST-L1 --event fl-mb --json -o filtered.json
holds "… leave the time with any of them" '
    near(total(d[0]), sum(cycles for r in d[1]["rows"] for name, cycles in r["components"].items() if {"ST-L1", "FL-MB"} & set(name.split("+"))))' filtered.json function.json
check "filters are told" show --event ST-L1
check_same "… in the text" 1 "$(show --event ST-L1 | grep -c '^only event ST-L1; shares are of the whole time; the filters leave .* of it$')"
check_same "… and none has the sign of no event" 0 "$(show --event ST-L1 | grep -cE '^  \. |  main.* \.')"
holds "… in JSON" 'd["filters"] == {"threads": [], "modules": [], "symbols": [], "events": ["ST-L1", "fl-mb"], "shares_of": "all"}' filtered.json
holds "… what shares of threads are of too" 'd["filters"]["threads"] == ["2", "3"] and d["filters"]["shares_of"] == "threads"' t23.json
for kind in --by=function --calls --flame; do
    check_same "… and as text, $kind" 1 "$(show threads.db --thread 2 --thread 3 $kind | grep -c "^only thread 2 or 3; shares are of the time of these threads$")"
done
check_same "… nothing where there are none" 0 "$(show | grep -c '^only ')"

# ---- order and number -----------------------------------------------------------------------------------------------
for sort in self total executions name address ST-L1; do check "--sort $sort" show --sort $sort --json -o sort_$sort.json; done
holds "by total" '[r["total"] for r in d["rows"]] == sorted((r["total"] for r in d["rows"]), reverse=True)' sort_total.json
holds "by name" '[r["function"] for r in d["rows"] if r["function"]] == sorted(r["function"] for r in d["rows"] if r["function"])' sort_name.json
holds "by address" '[int(r["address"], 16) for r in d["rows"]] == sorted(int(r["address"], 16) for r in d["rows"])' sort_address.json
holds "by an event" '(lambda of: of == sorted(of, reverse=True))([sum(c for n, c in r["components"].items() if "ST-L1" in n.split("+")) for r in d["rows"]])' sort_ST-L1.json
check_same "executions are shown where they are the order" "$(python3 -c 'import json
print(format(json.load(open("sort_executions.json"))["rows"][0]["executions"], ","))')" "$(show --sort executions | awk 'rows { print $5; exit } /^ *self .* executions / { rows = 1 }')"
check_same "… and so is the time with an event" "$(python3 -c 'import json
d = json.load(open("sort_ST-L1.json"))
print("%.2f" % (100 * sum(c for n, c in d["rows"][0]["components"].items() if "ST-L1" in n.split("+")) / d["summary"]["cycles"]))')" \
    "$(show --sort ST-L1 | awk 'rows { print $5; exit } /^ *self .* ST-L1 / { rows = 1 }')"
check_fails 2 'no samples' "an exact series has no order by samples" show --sort samples
check "… a sampler has" show --series tea --sort samples
check_fails 2 'no executions' "… but none by executions" show --series tea --sort executions
check_fails 2 'records no events' "… nor, without events, by them" show --series tip --sort ST-L1
check_fails 2 'only functions have totals' "lines have none by total" show --sort total --by line
check_fails 2 'no totals' "the time with an event has none either" show --sort total --event ST-L1
check_fails 2 'by=line does not apply to call paths' "call paths have no level" show --calls --by line
check_fails 2 'by=module does not apply to call paths' "… as a flame graph" show --flame --by module
check_json "--limit" 'len(d["rows"]) == 3' show --limit 3 --json
limited=$(show --limit 3 | grep -c ' %  .* demo\| %  .* libc\| %  .* ld-')
check_same "--limit in the text" 3 "$limited"
check_same "… says what it leaves out" 1 "$(show --limit 3 | grep -c 'more; --limit 0 shows all')"

# ---- series ---------------------------------------------------------------------------------------------------------
check "--series tea" show --series tea --json -o tea.json
holds "… has samples and its error" '
    d["summary"]["sampler"] == "tea" and d["summary"]["samples"] > 1000 and 0 < d["summary"]["error_estimate"] < 0.5
    and "golden" in d["summary"]["error_how"] and sum(r["samples"] for r in d["rows"]) == d["summary"]["samples"]
    and "total" in d["rows"][0]' tea.json
check "--series tip" show --series tip --json -o tip.json
holds "… has no components" 'all("components" not in r for r in d["rows"]) and d["summary"]["samples"] > 1000' tip.json
check "without the golden reference" "$RECORDER" record -q -o fast.db --golden=off --max 1M -- "$demo" 1
check_json "… the error is an estimate" 'd["summary"]["sampler"] == "tea" and d["summary"]["error_estimate"] > 0 and "expected from the number of samples and the bias" in d["summary"]["error_how"] and d["summary"]["trust"]["way"] == "tip"' show fast.db --json
check "… the call tree too" show fast.db --calls --json -o fast.json
holds "… of the whole profile" 'abs(sum(r["total_share"] for r in d["rows"] if r["depth"] == 0) - 1) < 0.001' fast.json

# ---- CSV ------------------------------------------------------------------------------------------------------------
check "--csv" show --by instruction --csv -o rows.csv
csv_same() {
    python3 - <<'END'
import csv, json, math
rows = list(csv.DictReader(open("rows.csv", newline="", encoding="utf-8")))
wanted = json.load(open("instruction.json"))["rows"]
assert len(rows) == len(wanted)
for row, want in zip(rows, wanted):
    assert math.isclose(float(row["time"]), want["cycles"]) and row["text"] == want["text"], (row, want)
    assert row["module_offset"] == want["module_offset"] and row["unit"] == "cycles"
    assert row["address"] == want["address"] and row["function"] == (want["function"] or "")
    assert math.isclose(float(row["Base"]), want["components"].get("Base", 0))
    assert row["line"] == ("" if want["line"] is None else str(want["line"]))
    names = list(row)
    parts = sum(float(row[name]) for name in names[names.index("total") + 1:])
    assert math.isclose(parts, want["cycles"], abs_tol=1e-6), (row, want)
assert "other" in rows[0] and any(float(row["other"]) > 0 for row in rows)
END
}
check "… has the rows of the JSON" csv_same

# ---- call trees -----------------------------------------------------------------------------------------------------
check "--calls" show --calls --json -o calls.json
holds "… add up" '
    near(total(d), d["summary"]["cycles"]) and near(sum(r["total"] for r in d["rows"] if r["depth"] == 0), d["summary"]["cycles"])' calls.json
holds "… totals are those of what is below" '
    (lambda rows: all(near(r["total"], r["cycles"] + sum(below["total"] for below in
        (lambda i: (x for x in rows[i + 1:next((k for k in range(i + 1, len(rows)) if rows[k]["depth"] <= r["depth"]), len(rows))] if x["depth"] == r["depth"] + 1))(i)))
        for i, r in enumerate(rows)))(d["rows"])' calls.json
holds "… and functions are sums of paths" '
    (lambda names: len(names) > 3 and all(near(row(d[0], function=name)["cycles"], sum(p["cycles"] for p in d[1]["rows"] if p["function"] == name))
        for name in names))([r["function"] for r in d[0]["rows"] if r["module"].endswith("/demo") and r["line"] is None and r["function"]
                             and r["function"].isidentifier() and r["function"][0] != "_"])' function.json calls.json
holds "… components are the cycles, of a path and of all that it calls" '
    all(near(sum(r["components"].values()), r["cycles"]) and near(sum(r["total_components"].values()), r["total"]) for r in d["rows"])
    and any(len(r["total_components"]) > len(r["components"]) for r in d["rows"])' calls.json
holds "… and those of functions are sums of those of paths" '
    (lambda name: (lambda of: set(row(d[0], function=name)["components"]) == set(of) and all(near(row(d[0], function=name)["components"][c], of[c]) for c in of) and len(of) > 2)(
        {c: sum(p["components"].get(c, 0) for p in d[1]["rows"] if p["function"] == name) for p in d[1]["rows"] if p["function"] == name for c in p["components"]}
    ))("main")' function.json calls.json
check "--calls of a sampler" show --series tea --calls --json -o calls_tea.json
holds "… has components too" 'all(near(sum(r["total_components"].values()), r["total"]) for r in d["rows"]) and len(d["rows"][0]["total_components"]) > 1' calls_tea.json
check_json "… one without events has none" 'all("components" not in r for r in d["rows"])' show --series tip --calls --json
check_same "as text it is a tree" 1 "$(show --calls | grep -cE '%  .* (\| )+main$')"
check_same "… with the bars and columns of components" 1 "$(COLUMNS=120 show --calls | grep -cE '^ +[0-9.]+ % +[0-9.]+ %  ( *[0-9.]+  )+[.A-K?]+ +(\| )+main$')"
check_same "… which are explained" 1 "$(show --calls | grep -c '^  \. .* Base  ')"
check "--calls of a thread" show threads.db --calls --thread 2 --json -o calls2.json
holds "… is its time" 'near(total(d[0]), total(d[1]))' calls2.json t2.json
check "--calls --csv" show --calls --csv -o calls.csv
calls_csv() {
    python3 - <<'END'
import csv, json, math
rows = list(csv.DictReader(open("calls.csv", newline="", encoding="utf-8")))
for row, want in zip(rows, json.load(open("calls.json"))["rows"]):
    own = [name for name in list(row)[9:] if not name.startswith("total ")]
    assert len(own) > 2 and ["total " + name for name in own] == list(row)[9 + len(own):]
    assert math.isclose(sum(float(row[name]) for name in own), want["cycles"], abs_tol=1e-6)
    assert math.isclose(sum(float(row["total " + name]) for name in own), want["total"], abs_tol=1e-6)
    assert math.isclose(float(row["total Base"]), want["total_components"].get("Base", 0))
END
}
check "… has the components of the JSON" calls_csv
check_same "… has as many rows" "$(python3 -c 'import json; print(len(json.load(open("calls.json"))["rows"]) + 1)')" "$(wc -l <calls.csv)"
widest() { COLUMNS=$1 show --flame | sed -n '/^\[/,/^$/p' | awk '{ if (length > most) most = length } END { print most }'; }
check_same "--flame keeps to the width" "yes" "$([ "$(widest 80)" -le 80 ] && [ "$(widest 80)" -ge 70 ] && echo yes)"
check_same "… of any terminal" "yes" "$([ "$(widest 140)" -le 140 ] && [ "$(widest 140)" -ge 120 ] && echo yes)"
check_same "… and names what fits, with the component that takes most of its time" 1 "$(show --flame | grep -cE '^\[[.A-K] _start ')"
check_same "… the same that the tree has" "$(python3 -c 'import json
of = next(r for r in json.load(open("calls.json"))["rows"] if r["function"] == "main")["total_components"]
print(max(of, key=of.get))')" "$(sign=$(show --flame | grep -oE '\[[.A-K] main' | cut -c 2) && show --flame | awk -v s="$sign" '$1 == s && $3 == "%" { print $4 }')"
check_same "… none where the series has no components" 1 "$(show --series tip --flame | grep -cE '^\[_start ')"

cat >deep.c <<'END'
volatile int sink;
__attribute__((noinline)) int leaf(int n)
{
    for (int i = 0; i < 20; i++)
        sink += i * n;
    return sink;
}
__attribute__((noinline)) int down(int n)
{
    int sum = 0;
    for (int i = 0; n == 0 && i < 900; i++)
        sum += leaf(i);
    sink++;
    return n ? down(n - 1) + 1 : sum;
}
int main(void) { return down(99) == 3; }
END
check "deep recursion" gcc -O1 -fno-optimize-sibling-calls -o deep deep.c
check "… a profile" env -u ASSAY_DEBUG_PATH "$RECORDER" record -q -o deep.db -- ./deep # with the dynamic linker's _start
show deep.db --calls >deep.txt
check_same "… is one row of the text" 1 "$(grep -cE '(\| )+down \(x100 deep\)$' deep.txt)"
check_same "… with all that it calls below" "$(grep -oE "([|] )+down" deep.txt | sed "s/down/| leaf/")" "$(grep -oE '(\| )+leaf$' deep.txt)"
check_json "… as JSON all of them" 'sum(r["function"] == "down" for r in d["rows"]) == 100 and any(r["total_share"] < 0.001 for r in d["rows"])' show deep.db --calls --json
check_same "roots have their modules" "_start (deep) _start (ld-linux-x86-64.so.2)" "$(grep -oE '_start \(.*' deep.txt | sort | xargs)"
check_same "… of flame graphs too" 1 "$(show deep.db --flame | grep -cE '_start \(deep\)')"
check_same "nothing small is shown where nobody asks" "" "$(awk '/call path/ { rows = 1 } /^$/ { rows = 0 } rows && $1 + 0 > 0 && $1 < 0.5' deep.txt)"
check "--calls --limit" show deep.db --calls --limit 60 --json -o deep_60.json
show deep.db --calls --json -o deep_all.json
holds "… shows the largest totals" '(lambda of, all: of == all[:60])(sorted((r["total"] for r in d[0]["rows"]), reverse=True), sorted((r["total"] for r in d[1]["rows"]), reverse=True))' deep_60.json deep_all.json
holds "… with their callers" 'all(b["depth"] <= a["depth"] + 1 for a, b in zip(d["rows"], d["rows"][1:])) and d["rows"][0]["depth"] == 0' deep_60.json
check_same "… however small, as text and CSV" "220 220" \
    "$(show deep.db --calls --limit 220 | awk '/call path/ { rows = 1; next } /smaller branches/ { rows = 0 } rows' | wc -l) $(show deep.db --calls --limit 220 --csv | tail -n +2 | wc -l)"

# ---- differences ----------------------------------------------------------------------------------------------------
check "--diff with itself" show --diff assay.db --json -o same.json
holds "… shows no change" 'near(d["change"], 0) and near(d["speedup"], 1) and all(near(r["change"], 0) for r in d["rows"])' same.json
check "another machine" env -u ASSAY_DEBUG_PATH "$RECORDER" record -q -o slow.db --set memory.l1d.latency=12 --max 4M -- "$WORKLOADS/demo" 1
holds "… warns of nothing" 'd["differ_in"] == ""' same.json
cp "$STATIC/demo" renamed
check "the same program under another name" eval '"$RECORDER" record -q --max 200k -o one.db -- "$STATIC/demo" 1 >/dev/null &&
    "$RECORDER" record -q --max 200k -o two.db -- ./renamed 1 >/dev/null && "$ASSAY" report two.db --diff one.db --limit 0 --json -o renamed.json'
holds "… has the same functions" 'sum(r["before"] for r in d["rows"] if r["before"] and not r["cycles"]) < 0.01 * d["summary"]["cycles"]' renamed.json
check "--diff" show slow.db --diff assay.db --json -o diff.json
holds "… tells that the core differs" 'd["differ_in"] == "core"' diff.json
check_same "… in a line of the text" 1 "$(show slow.db --diff assay.db | grep -c '^WARNING: the profiles differ in more than the program: core$')"
check_same "… so do arguments and series" 1 "$(show threads.db --series tea --diff assay.db | grep -c '^WARNING: .*: arguments, part of the run$')"
holds "… changes add up" '
    near(sum(r["change"] for r in d["rows"]), d["change"]) and near(d["change"], d["summary"]["cycles"] - d["before"]["cycles"])
    and near(d["speedup"], d["before"]["cycles"] / d["summary"]["cycles"]) and d["change"] > 0' diff.json
holds "… and so do components" '
    all(near(sum(r["components"].values()), r["cycles"]) and near(sum(r["before_components"].values()), r["before"]) for r in d["rows"])' diff.json
holds "… executions are those of both" '(lambda of: of == [d["before"]["instructions"], d["summary"]["instructions"]])([sum(r.get(k, 0) for r in d["rows"]) for k in ("before_executions", "executions")])' diff.json
holds "… the largest first" '(lambda of: of == sorted(of, reverse=True))([abs(r["change"]) for r in d["rows"]])' diff.json
for by in line block instruction file module thread; do
    check "--diff --by $by" show slow.db --diff assay.db --by $by --json -o diff_$by.json
    holds "… adds up" 'near(sum(r["change"] for r in d[0]["rows"]), d[1]["change"])' diff_$by.json diff.json
done
show slow.db --diff assay.db >diff.txt
check "as text it says by how much" grep -q 'slower' diff.txt
check "… and why" grep -qE 'why$' diff.txt
check "--diff with a filter" show slow.db --diff assay.db --module 'demo*' --json -o diff_filtered.json
check "--diff --csv" show slow.db --diff assay.db --csv -o diff.csv
check_same "… warns on the side" 1 "$(grep -c 'differ in more than the program: core$' <<<"$err")"
check_same "… has no line where there is none" "" "$(awk -F, 'NR > 1 && $5 == "0"' diff.csv)"
holds "--diff in JSON tells its filters" 'd["filters"]["modules"] == ["demo*"] and 0 < sum(r["share"] for r in d["rows"]) < 0.99999' diff_filtered.json
check_same "… as text too" 1 "$(show slow.db --diff assay.db --module 'demo*' | grep -c '^only module demo\*$')"

# A gate: the status says whether something is slower than allowed.
check "--fail-over with itself" show --diff assay.db --fail-over=0% --fail-row-over=0 --markdown same.md --junit same.xml
check "… passes" grep -q '^passed demo: +0.00 %, at most 0 % allowed$' <<<"$out"
check "short work" "$RECORDER" record -q -o short.db -- sh -c 'i=0; while [ $i -lt 20 ]; do i=$((i + 1)); done'
check "… and more of it" "$RECORDER" record -q -o long.db -- sh -c 'i=0; while [ $i -lt 120 ]; do i=$((i + 1)); done'
check_status 1 "--fail-over with more work" "$ASSAY" report long.db --diff short.db --fail-over=2% --fail-row-over=5% --markdown gate.md --junit gate.xml --json -o gate.json
holds "… says so as JSON" 'd["gate"]["failed"] and d["gate"]["findings"][0]["program"] and near(d["gate"]["findings"][0]["growth"], d["summary"]["cycles"] / d["before"]["cycles"] - 1)' gate.json
check "… as Markdown" grep -q '^- \*\*failed\*\* [a-z]*sh: +.* %, at most 2 % allowed$' gate.md
check_same "… and as JUnit XML" "True True" "$(python3 -c '
import sys, xml.etree.ElementTree as xml
failed = xml.parse(sys.argv[1]).getroot()
passed = xml.parse(sys.argv[2]).getroot()
print(int(failed.get("failures")) == len(failed.findall("testcase/failure")) > 1, passed.get("failures") == "0" and passed.get("tests") == "2")' gate.xml same.xml)"
counts_of() { # FILE LINE: the two times of a line
    grep -E "$2" "$1" | head -1 | grep -oE '[0-9][0-9,]{3,}' | head -2 | tr '\n' ' '
}
check_same "… both with the same numbers" "$(counts_of gate.md '^\| all ')" "$(counts_of gate.xml ' before, ')"
check_status 0 "a limit that holds" "$ASSAY" report long.db --diff short.db --fail-over=1000%
check_fails 2 'not a percentage' "a limit that is none" "$ASSAY" report slow.db --diff assay.db --fail-over=much
check_fails 2 'need --diff' "a limit without --diff" "$ASSAY" report slow.db --fail-over=1%
cp assay.db kept.db
check_fails 2 'kept.db: it is an Assay profile' "--junit onto a profile" "$ASSAY" report long.db --diff short.db --fail-over=2% --junit kept.db
check_same "… is refused before the report is printed" "" "$("$ASSAY" report long.db --diff short.db --fail-over=2% --junit kept.db 2>/dev/null)"
check_fails 2 'need --fail-over' "--junit without a limit" "$ASSAY" report slow.db --diff assay.db --junit x.xml
check_fails 2 'need --fail-over' "--strict without a limit" "$ASSAY" report slow.db --diff assay.db --strict

# Threads in an order of chance may be all that a slowdown is made of.
threaded() { # FILE CYCLES
    cp "$1" "$2"
    sqlite3 "$2" "insert into threads select max(id) + 1, max(number) + 1, max(process), 'more', 0, 0, 0 from threads"
}
threaded short.db short2.db
threaded long.db long2.db
check_status 1 "a gate of threads" "$ASSAY" report long2.db --diff short2.db --fail-over=2% --markdown threads.md --junit threads.xml
check_same "… says that their order differs from run to run" "2 1 1" "$(grep -c '^note: the program has several threads' <<<"$out") $(grep -c '^- note: the program has several' threads.md) $(grep -c 'several threads .*--deterministic' threads.xml)"
for file in short2.db long2.db; do sqlite3 "$file" "insert into meta values('deterministic', '1')"; done
check_status 1 "… in a fixed order" "$ASSAY" report long2.db --diff short2.db --fail-over=2%
check_same "… it does not" 0 "$(grep -c 'several threads' <<<"$out")"

# … of different work it is neither a pass nor a slowdown.
not_judged() { # NAME AFTER BEFORE WHY
    check_status 125 "a gate of $1" "$ASSAY" report "$2" --diff "$3" --fail-over=1000% --fail-row-over=100000% --markdown not.md --junit not.xml
    check_same "… says why" "1 1 1 0" "$(grep -c "^NOT JUDGED .*: not comparable: $4" <<<"$out") $(grep -c "^- \*\*not judged\*\* $4" not.md) $(grep -A2 'failures="0" errors="1"' not.xml | grep -c "<error message=.$4") $(grep -cE '^(passed|FAILED)' <<<"$out")"
}
check_status 134 "a program that crashes" "$RECORDER" record -q -o crashed.db -- sh -c 'kill -ABRT $$'
check_status 0 "… one that does not" "$RECORDER" record -q -o whole.db -- sh -c 'exit 0'
check_status 3 "… one that fails" "$RECORDER" record -q -o status.db -- sh -c 'exit 3'
check "… one that is counted in samples" "$ASSAY" import -q -o counted.db - < <(printf 'sh 7 40%04d f (/bin/sh)\n' {1..40})
check "… one that is counted in cycles of a processor" "$ASSAY" import -q -o cycles.db - < <(printf 'sh 7 %d.0: 1000 cycles:u:\n\t401136 f+0x6 (/bin/sh)\n\n' {1..40})
check "… a part" "$RECORDER" record -q -o part.db --max 20k -- sh -c 'exit 0'
"$ASSAY" report crashed.db --diff crashed.db --fail-over=2% --junit twice.xml >/dev/null
check_same "two reasons are two cases" 'name="comparable (2)" name="comparable"' "$(grep -o 'name="comparable[^"]*"' twice.xml | sort | xargs -d '\n')"
not_judged "a program that crashed" crashed.db whole.db 'the profile after is PARTIAL: the program was killed by signal 6'
not_judged "a part and a whole" part.db whole.db 'other part of the run: all before, --max 20k after'
not_judged "two programs" threads.db whole.db 'other program: .* before, threads after'
check "… on another core" "$RECORDER" record -q -o zen.db --core zen4-like -- sh -c 'exit 0'
not_judged "another core" zen.db whole.db 'other core: boom-tea before, zen4-like after (--core names one)'
not_judged "a processor and the model" cycles.db whole.db 'other core: boom-tea before, a processor that is not known after'
not_judged "other parameters of a core" slow.db assay.db 'other core: memory.l1d.latency is [0-9]* before, 12 after'
not_judged "a program that failed" status.db whole.db 'other exit status of the program: 0 before, 3 after'
check_status 125 "a gate of a part and a crash" "$ASSAY" report crashed.db --diff part.db --fail-over=1000%
check_same "… knows no part of the latter" 1 "$(grep -c 'other part of the run: --max 20k before, an unknown part after' <<<"$out")"
check_status 0 "a gate of two equal parts" "$ASSAY" report part.db --diff part.db --fail-over=0%
rm -f not.md not.xml
check_fails 125 'one profile counts' "a gate of cycles and samples" "$ASSAY" report counted.db --diff whole.db --fail-over=2% --markdown not.md --junit not.xml
check_same "… says why in its files" "1 1" "$(grep -c '^- \*\*not judged\*\* .*one profile counts cycles, the other samples' not.md) $(grep -A2 'failures="0" errors="1"' not.xml | grep -c '<error message=.*one profile counts')"

# … of too few samples it decides nothing: 29 and 42 of them, then 2,900 and 4,200.
samples() { # NUMBER
    python3 -c 'for i in range('"$1"'): print(f"t 7 [000] {1 + i * .001:.6f}: 1000 cycles:u:\n\t401136 work+0x6 (/opt/t)\n")'
}
for n in 29 42 2900 4200; do
    check "$n samples" "$ASSAY" import -q -o s$n.db - < <(samples $n)
done
# A recording in pipe mode that ends behind its attribute, in the next record's head.
python3 -c 'import struct, sys
attr = struct.pack("<IIQQQ", 0, 112, 0, 1000, 3).ljust(112, b"\0")
sys.stdout.buffer.write(b"PERFILE2" + struct.pack("<QIHH", 16, 64, 0, 128) + attr + struct.pack("<QI", 5, 9))' >none.data
check "a recording that ends before its first sample" "$ASSAY" import -o none.db none.data
check_same "… is told in one line" "1 1" "$(grep -c . <<<"$err") $(grep -c 'the recording has no samples: .*; none.db has no times to show$' <<<"$err")"
check_same "… and in its report" "The profile has no samples: the recording breaks off before the first of them." "$(show none.db | tail -1)"
check_status 0 "a gate of few samples" "$ASSAY" report s42.db --diff s29.db --fail-over=2% --fail-row-over=2% --markdown few.md --junit few.xml
check_same "… says how many it needs" "INCONCLUSIVE t: +44.83 % (within noise), at most 2 % allowed: 29 samples before and 42 samples after can only show a growth of 145 % or more; the limit needs about 130,000 on each side
INCONCLUSIVE 1 function: none grew significantly by more than 2 %, 1 did within noise" "$(tail -2 <<<"$out")"
check_same "… warns" 1 "$(grep -c 'too few samples to tell' <<<"$err")"
check "a single sample" "$ASSAY" import -q -o s1.db - < <(samples 1)
check_same "… is one sample" 2 "$("$ASSAY" report s1.db --diff s1.db --fail-over=2% | grep -o '1 sample \(before\|after\)' | wc -l)"
check_same "… as Markdown and JUnit XML" "1 2 2" "$(grep -c '^### Inconclusive' few.md) $(grep -c '^- \*\*inconclusive\*\*' few.md) $(grep -c '<skipped message=' few.xml)"
check_status 1 "… fails with --strict" "$ASSAY" report s42.db --diff s29.db --fail-over=2% --strict --junit few.xml --markdown few.md
check_same "… as JUnit XML and Markdown, too" "1 1 1" "$(grep -c 'failures="1" errors="0" skipped="0"' few.xml) $(grep -c '^### Failed (--strict): too few' few.md) $(grep -c '^- \*\*failed\*\*' few.md)"
check_status 1 "a gate of enough samples" "$ASSAY" report s4200.db --diff s2900.db --fail-over=2%
check_same "… is one" 1 "$(grep -c '^FAILED t: +44.83 %, at most 2 % allowed$' <<<"$out")"
check_status 0 "… the other way round" "$ASSAY" report s2900.db --diff s4200.db --fail-over=2% --fail-row-over=2% --strict
check_same "… is one, too" 2 "$(grep -cE '^passed (t: -30.95 %|1 function: none grew significantly by more than 2 %$)' <<<"$out")"
check_same "a profile is the same as itself" 1 "$(show --diff assay.db | grep -cE '^[0-9,]+ cycles before, [0-9,]+ after: same$')"
check_same "… and so are all its rows" "" "$(show --diff assay.db --limit 0 | grep -E '1\.00x|-0')"
check_same "… the longest first" "same $(python3 -c 'import json; print(json.load(open("function.json"))["rows"][0]["function"])')" \
    "$(show --diff assay.db --limit 1 | grep -oE 'same +[a-z_]+' | tr -s ' ')"
check_fails 125 'absent.db' "a profile to compare with that is not there" show --diff absent.db

# ---- the page -------------------------------------------------------------------------------------------------------
check "--html" show --html page.html
page_holds() {
    python3 - "$1" "$2" <<'END'
import base64, json, re, sys, zlib
page = open(sys.argv[1], encoding="utf-8").read()
found = re.findall(r'id="assay-data" data-encoding="deflate-base64">([^<]*)<', page)
assert len(found) == 1
d = json.loads(zlib.decompress(base64.b64decode(found[0])))
want = json.load(open(sys.argv[2]))
cycles = want["summary"]["cycles"]
assert d["format"] == "assay-page" and d["version"] == 1 and d["summary"]["sampler"] == "golden"
for series in d["series"]:
    rows = series["instructions"]
    assert len(rows["row"]) == len(rows["cycles"]) and min(rows["row"]) >= 0
    assert sum(rows["row"]) < len(d["instructions"]["text"]) == sum(d["functions"]["count"])
    assert abs(sum(series["paths"]["cycles"]) - sum(rows["cycles"])) < 1 + cycles * 1e-5, series["name"]
    assert ("component" in series["paths"]) == ("component" in rows), series["name"]
    if series["name"] == "golden":
        assert abs(sum(rows["cycles"]) - cycles) < 1 + cycles * 1e-5, (sum(rows["cycles"]), cycles)
    if "component" in rows:
        assert max(rows["component"]) < len(d["components"])
assert abs(sum(d["summary"]["states"].values()) - cycles) < 1
assert all(parent < i for i, parent in enumerate(d["paths"]["parent"]))
assert max(d["paths"]["function"]) < len(d["functions"]["name"])
names = [d["strings"][i] for i in d["functions"]["name"]]
assert "main" in names
assert {r["function"] for r in want["rows"] if r["function"]} <= set(names)
for row in want["rows"]:
    if names.count(row["function"]) == 1:
        at = names.index(row["function"])
        assert abs(d["functions"]["total"][at] - row["total"]) < 1, (row, d["functions"]["total"][at])
        assert d["functions"]["executed"][at] == row["executions"] > 0, (row, d["functions"]["executed"][at])
source = next(f for f in d["files"] if f["name"].endswith("demo.c"))
assert any("main(" in line for line in source["lines"])
END
}
check "… has the profile in it" page_holds page.html function.json
check "… and is small" test "$(stat -c %s page.html)" -lt 2000000
check_fails 2 'cannot be combined with another kind' "--html beside --json" show --html x.html --json
check_fails 2 'needs the name of a file' "--html without a name" show --html --reuse=x.json
check_fails 2 'own filters' "--html with a filter" show --html x.html --symbol main
check_fails 125 'absent/x.html' "--html where nobody can write" show --html absent/x.html
check_same "… none of them leaves a file" "" "$(find . -name 'x.html*')"

# ---- where it is shown ----------------------------------------------------------------------------------------------
show >plain.txt
check_same "no colour in a file" "" "$(grep -c $'\033' plain.txt | grep -v '^0$')"
check_same "no UTF-8 in a C locale" "" "$(LC_ALL=C grep -aP '[\x80-\xff]' plain.txt)"
check "the text says source, series, samples and losses" grep -q '^source model, series golden: every cycle, 0 lost, 0 throttled$' plain.txt
check "… and the error" grep -q '^error 0.00 %: every cycle ' plain.txt
for kind in --by=function --by=instruction --calls --flame "--diff assay.db" "--series tea"; do
    # shellcheck disable=SC2086
    check_same "no line is wider than the terminal, $kind" "" "$(COLUMNS=80 show $kind | awk 'length > 80')"
done
check "-o writes a file" show -o out.txt
check_same "… with the same" "$(cat plain.txt)" "$(cat out.txt)"
if command -v script >/dev/null; then
    on_terminal() { env TERM=xterm COLUMNS=100 "$@" script -qec "'$ASSAY' report --limit 3" /dev/null </dev/null; }
    check_same "colour on a terminal" yes "$(on_terminal ASSAY_PAGER=cat | grep -q $'\033\[' && echo yes)"
    check_same "… not with NO_COLOR" "" "$(on_terminal ASSAY_PAGER=cat NO_COLOR=1 | grep -c $'\033\[' | grep -v '^0$')"
    check_same "a pager on a terminal" yes "$(on_terminal ASSAY_PAGER='sed s/^/paged:/' | grep -q '^paged:' && echo yes)"
    check_same "… a pager that is not there costs nothing" yes "$(on_terminal ASSAY_PAGER=/nonexistent/pg | grep -q '%' && echo yes)"
    check_same "… nor does one that PATH has not" yes "$(on_terminal ASSAY_PAGER='nosuchpager -x' | grep -q '%' && echo yes)"
    check_same "… PAGER where there is no ASSAY_PAGER" yes "$(on_terminal PAGER='sed s/^/other:/' | grep -q '^other:' && echo yes)"
    check_same "one that quits early is no failure" 0 "$(on_terminal ASSAY_PAGER='head -n 1' >/dev/null && echo 0)"
else
    skip "terminals" "script(1) is not installed"
fi

# ---- several runs ---------------------------------------------------------------------------------------------------
check "several runs" "$RECORDER" record -q -o runs.db --repeat 2 --max 2M -- "$demo" 1
check_same "… cycles and seconds, their mean and deviation" 1 \
    "$(COLUMNS=200 show runs.db | grep -cE '^2 runs merged: [0-9]+,[0-9]{3},[0-9]{3} cycles on average, standard deviation [0-9.]+ %, [0-9,]+ to [0-9,]+; [0-9.e-]+ s on average, standard deviation [0-9.]+ %, [0-9.e-]+ to [0-9.e-]+$')"
sqlite3 runs.db "DELETE FROM meta WHERE key LIKE '%\_mean' ESCAPE '\'"
check "runs without a mean" show runs.db
check_same "… have no line" "" "$(grep -iE 'nan|runs' <<<"$out")"

# ---- partial profiles are marked as such ----------------------------------------------------------------------------
# shellcheck disable=SC2016
"$RECORDER" record -q -o died.db -- sh -c 'kill -ABRT $$' 2>/dev/null
check_same "a partial profile says so" 1 "$(show died.db | grep -c '^PARTIAL: .*signal 6')"
check_json "… in JSON too" '"signal 6" in d["summary"]["partial"]' show died.db --json

# ---- wrong words ----------------------------------------------------------------------------------------------------
check_fails 2 'its series are golden' "an unknown series" show --series x
check_fails 2 'no such thread' "an unknown thread" show --thread 9
check_fails 2 'no module' "an unknown module" show --module 'x*'
check_fails 2 'no function' "an unknown symbol" show --symbol 'x*y'
check_fails 2 'no such event; its events are DR-L1, .*ST-L1, ' "an unknown event" show --event X
check_fails 2 'records no events' "events of a series without" show --series tip --event ST-L1
check_fails 2 '--sort=x' "an unknown order" show --sort x
check_fails 2 '--limit=x' "no number" show --limit x
check_fails 2 '--by' "an unknown level" show --by x
check_fails 2 'cannot be used together' "two kinds" show --calls --flame
check_fails 2 'cannot be used together' "two formats" show --json --csv
check_fails 2 'call paths' "filters of a call tree that do not apply" show --calls --symbol main
check_fails 2 'one profile' "two profiles" show assay.db slow.db

# ---- profiles that are none -----------------------------------------------------------------------------------------
check_fails 125 "there is no file absent.db" "no file" show absent.db
echo "some text" >text.db
check_fails 125 'text.db' "another kind of file" show text.db
python3 -c 'import sqlite3; d = sqlite3.connect("other.db"); d.execute("CREATE TABLE t(x)"); d.commit()'
check_fails 125 'other.db' "somebody else's database" show other.db
head -c 20000 assay.db >cut.db
check_fails 125 'cut.db is truncated .20000 of' "a truncated one" show cut.db
head -c 50 assay.db >stub.db
check_fails 125 'stub.db is truncated .50 bytes, less than its header.' "… one that is hardly there" show stub.db
python3 -c '
data = bytearray(open("assay.db", "rb").read())
data[40960:49152] = bytes([255]) * 8192
open("damaged.db", "wb").write(data)'
check_fails 125 'damaged.db is damaged .[^*?]*[)]: record it again' "a damaged one, in plain words" show damaged.db
cp assay.db newer.db
python3 -c 'import sqlite3; d = sqlite3.connect("newer.db"); d.execute("PRAGMA user_version = 99"); d.commit()'
check_fails 125 'format version 99' "one of a later version" show newer.db
check_fails 125 'a directory' "a directory" show .
: >empty.db
check_fails 125 'empty.db' "an empty file" show empty.db
cp assay.db locked.db
python3 -c '
import sqlite3, subprocess, sys
d = sqlite3.connect("locked.db", isolation_level=None)
d.execute("BEGIN EXCLUSIVE")
sys.exit(subprocess.run([sys.argv[1], "report", "locked.db"], stderr=open("locked.txt", "w")).returncode)' "$ASSAY"
check_same "one that another process changes" 125 $?
check_same "… says so in a line" 1 "$(wc -l <locked.txt)"

# ---- processes and commands ------------------------------------------------------------------------------------------
cat >many.txt <<'END'
server   100/101   1.000000:       1000 cycles:u:
	    401000 serve+0x0 (/opt/server)

worker   100/100   1.100000:       2000 cycles:u:
	    401000 serve+0x0 (/opt/server)

worker   200/200   1.200000:       3500 cycles:u:
	    401000 serve+0x0 (/opt/server)

swapper     0/0     1.300000:       4000 cycles:u:
	    ffffffff81000000 idle ([kernel.kallsyms])

END
check "a recording of several processes" "$ASSAY" import -q -o many.db many.txt
check_json "--by process: by number, with the name of its first thread" \
    '[(r["process"], r["command"], r["cycles"]) for r in d["rows"]] == [(0, "swapper", 4000), (200, "worker", 3500), (100, "worker", 3000)]' \
    "$ASSAY" report --by process --json many.db
check_json "--by command: threads of one name in all processes" \
    '[(r["command"], r["cycles"]) for r in d["rows"]] == [("worker", 5500), ("swapper", 4000), ("server", 1000)]' \
    "$ASSAY" report --by command --json many.db
check_same "… as CSV" $'command,time\nworker,5500\nswapper,4000\nserver,1000' \
    "$("$ASSAY" report --by command --csv many.db | cut -d, -f1,12)"
check_same "… in a part of the threads" 2000 "$("$ASSAY" report --by command --thread 100 --csv many.db | sed 1d | cut -d, -f12)"
check_json "… compared with itself" 'len(d["rows"]) == 3 and all(r["before"] == r["cycles"] for r in d["rows"])' \
    "$ASSAY" report --by command --diff many.db --json many.db
check_status 2 "not of data" "$ASSAY" report --data --by process many.db

# ---- results that do not arrive -------------------------------------------------------------------------------------
full() { show "$@" >/dev/full; }
for kind in --json --csv --calls --flame; do check_fails 125 'No space left' "a full stdout, $kind" full $kind; done
check_fails 125 'No space left' "a full stdout" full
check_fails 125 'No space left' "a full file" show -o /dev/full
check_fails 125 'absent/x' "a directory that is not there" show -o absent/x
