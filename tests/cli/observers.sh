#!/usr/bin/env bash
# Observers as a user sees them: the bundled ones of assay compare against what compare itself counts, files that appear
# whole or not at all, and accesses without the core model (assay stat --footprint, --observer).
# plain-only: what they write is the same in both builds; sanitized.sh runs all of them under sanitizers
# time-limit: 180
DEFAULT_CORE=boom-tip
. "$(dirname "$0")/lib.sh"

demo=$STATIC/demo
example=$BUILD/doc/examples/observer
compare() { "$ASSAY" compare -q --samplers none "$@"; }
some() { compare --from main --max 200k "$@" -- "$demo" 1; }

# ---- traces, counters, calls, flames ---------------------------------------------------------------------------------
check_json "all of them in one run" 'd["instructions"] == 200000' some --json --commit-csv c.csv --commit-trace c.bin \
    --counters k.csv --interval 5000 --calls calls.csv --flame flame.txt --observer counters,k.json,5000
read -r cycles flushes < <(python3 -c 'import json, sys; d = json.load(open(sys.argv[1])); print(d["cycles"], d["counters"]["flushes"])' "$LOGS/out")
check "the CSV has every instruction, and every iteration of rep" test "$(wc -l <c.csv)" -gt 200000
sized() { "$ASSAY" compare --samplers none --from main --max 20k --commit-csv size.csv -- "$demo" 1; }
together() { "$ASSAY" compare --from main --max 20k --commit-csv size.csv -- "$demo" 1 2>&1; }
check "a file is noted where the report goes, too" together
check_same "… on a line of its own" 1 "$(grep -c '^assay: wrote size.csv' "$LOGS/out")"
check "a file is noted" sized
check_same "… with its size" "wrote size.csv ($(wc -c <size.csv | awk '{ printf "%.1f kB", $1 / 1000 }'))" "$(grep -o 'wrote size.csv (.*)' <<<"$err")"
same_commits() {
    python3 - <<'END'
import struct
data = open("c.bin", "rb").read()
assert data[:8] == b"ASSAYCMT" and struct.unpack("<II", data[8:16]) == (1, 16)
records = ["%d,0x%x" % record for record in struct.iter_unpack("<QQ", data[16:])]
assert records == open("c.csv").read().split("\n")[1:-1]
END
}
check "the binary trace says the same" same_commits
check_same "the last commit is the last cycle" "$cycles" "$(tail -n 1 c.csv | cut -d, -f1)"
column() { awk -F, -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) at = i; next } { sum += $at } END { print sum }' k.csv; }
check_same "the intervals hold all cycles" "$cycles" "$(column cycles)"
check_same "… and all instructions" 200000 "$(column instructions)"
check_same "… and all flushes, whatever their cause" "$flushes" "$(column flushes)"
check_same "JSON has the same intervals" "$cycles 200000" "$(python3 -c '
import json
d = json.load(open("k.json"))
assert d["interval"] == 5000 and d["entries"]["rob"] == 128
rows = [dict(zip(d["columns"], row)) for thread in d["threads"] for row in thread["rows"]]
assert all(0 <= row[name] <= d["entries"][name] for row in rows for name in ("rob", "queue_int", "load_queue", "store_queue"))
assert any(row["rob"] > 1 for row in rows)
print(sum(row["cycles"] for row in rows), sum(row["instructions"] for row in rows))')"
check_same "the flames hold all cycles" "$cycles" "$(awk '{ sum += $NF } END { print sum }' flame.txt)"
check "… main calls what it calls" grep -q '^.*main;text_fill [0-9]*$' flame.txt
check_same "the outermost call lasts as long as the run" "$cycles" "$(awk -F, '$2 == 0 { print $4 }' calls.csv | tail -n 1)"
check_same "no call ends before it starts" 0 "$(awk -F, 'NR > 1 && $4 < $3' calls.csv | wc -l)"
check "… and one of them has its name" grep -qE '^1,[0-9]+,[0-9]+,[0-9]+,text_fill$' calls.csv

check "a timeline" some --timeline
check_same "… has its bars" 1 "$(grep -c '^  instructions a cycle .*|.*█.*|$' "$LOGS/out")"
check "… by name and with columns" some --observer timeline,10
check_same "… of that width" 1 "$(grep -c '^Timeline of thread 1: [0-9,]* cycles, [0-9,]* a column$' "$LOGS/out")"

check "threads have a file each" compare -o /dev/null --commit-csv t.csv --counters t.counters -- "$STATIC/threads" -t 2 -w 20 -r 1
check_same "… and rows of their own" "1 2 3" "$(tail -n +2 t.counters | cut -d, -f1 | sort -u | xargs)"
check "… the traces too" test -s t.csv -a -s t.csv.2 -a -s t.csv.3

cat >deep.c <<'END'
__attribute__((noinline)) long rec(long n) { volatile long x = n; return n ? rec(n - 1) + x : 0; }
int main(void) { return (int)rec(6000) & 1; }
END
check "a program that calls deeper than paths are kept" cc -O1 -fno-optimize-sibling-calls -static -o deep deep.c
check_json "… says how many calls are left out" 'd["folded_calls"] > 1900' "$ASSAY" compare --samplers none --json --calls deep.csv --from main -- ./deep
check_same "… and those of the others there are rows" 6001 "$(python3 -IS - "$LOGS/out" <<'END'
import json, sys
rows = sum(line.rstrip().endswith(",rec") for line in open("deep.csv"))
print(rows + json.load(open(sys.argv[1]))["folded_calls"])
END
)"
check_same "… with a warning" 1 "$(grep -cE '^assay( compare)?: [0-9,]+ calls have no row in --calls' <<<"$err")"

# ---- what is refused, and what is left behind ------------------------------------------------------------------------
mkdir made && cd made || exit 1
check_fails 125 'cannot write nowhere/k' "counters in a directory that is not there" some --counters nowhere/k
check_fails 2 '--calls and --flame cannot write to one file' "two observers and one file" some --flame one --calls one
check_fails 2 'two observers cannot write to one file' "… by name too" some --flame one --observer flame,one
check_fails 2 "takes FILE, not" "an observer without its file" some --observer flame
check_fails 2 "takes FILE\[,CYCLES\]" "no interval at all" some --observer counters,k.csv,0
check_fails 2 "interval needs --counters" "an interval of nothing" some --interval 100
check_fails 2 "writes a file for one machine" "counters of two machines" compare --core boom-tip,boom-tea --counters k -- "$demo" 1
check_fails 2 "neither a shared object nor one of konata," "a name that is not there" some --observer nobody
check_fails 2 "takes only accesses; use it with assay stat" "an observer of accesses" some --observer "$example/access_sizes.so"
check_status 125 "a disk that is full" some -o /dev/null --flame /dev/full
check_same "nothing half-written is left" "" "$(ls -A)"
cd .. || exit 1

# ---- accesses without the core model ---------------------------------------------------------------------------------
stat() { "$ASSAY" stat -q "$@"; }
counts='(lambda f, s: f["lines"] > 0 and f["lines"] <= f["lines_read"] + f["lines_written"] and f["pages"] <= f["lines"]'
check_json "a footprint" "$counts and f['accesses'] > 100000 and f['lines_shared'] == 0)(d['footprint'], d)" \
    stat --json --footprint -- "$demo" 1
check_json "… of threads, which share lines" "$counts"' and f["lines_shared_written"] > 0 and
    f["accesses"] == sum(t["accesses"] for t in f["by_thread"]) and len(f["by_thread"]) == 3 and
    max(t["lines"] for t in f["by_thread"]) <= f["lines"] <= sum(t["lines"] for t in f["by_thread"]))(d["footprint"], d)' \
    stat --json --footprint -- "$STATIC/threads" -t 2 -w 20 -r 1
check_same "the accesses are those that are counted" "$(stat --json --check --from main --max 100k -- "$demo" 1 | python3 -c '
import json, sys
d = json.load(sys.stdin)
print(d["load_accesses"], d["store_accesses"])')" "$(stat --from main --max 100k --observer "$example/access_sizes.so" -- "$demo" 1 |
    awk '/^access size/ { on = 1; next } on && /^bytes/ { exit } on { loads += $(NF - 1); stores += $NF } END { print loads, stores }')"
# the loads of all lines, and the mean of the ROB, which --counters has by interval
check "an observer that asks for accesses and occupancy" compare --samplers=none --max 100k --counters w.csv --observer "$example/waited_lines.so,100000" -- "$demo" 1
check_same "… sees all loads" "$(stat --json --check --max 100k -- "$demo" 1 | python3 -c 'import json, sys; print(json.load(sys.stdin)["load_accesses"])')" \
    "$(awk '/^line / { on = 1; next } /^0x/ && on { loads += $2 } /further lines/ { loads += $1 } END { print loads }' "$LOGS/out")"
# the file has three decimals and the observer two, so the two means differ by its rounding at most
check_same "… and how full the reorder buffer was" same "$(awk -F, 'NR == FNR { if ($0 ~ /^reorder buffer:/) { split($0, word, " "); seen = word[3] } next }
    FNR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
    { sum += $at["rob"] * $at["cycles"]; cycles += $at["cycles"] }
    END { mean = sum / cycles; print (seen > 1 && seen - mean < 0.007 && mean - seen < 0.007 ? "same" : seen " and " mean) }' "$LOGS/out" w.csv)"
check "the footprint as text" stat --footprint -- "$demo" 1
check_same "… has its line" 1 "$(grep -cE '^  all( +[0-9]+){6} +[0-9.]+$' "$LOGS/out")"
check_fails 2 "takes the core model's records; use it with assay compare" "an observer of the core model" \
    stat --observer "$example/longest_stay.so" -- "$demo" 1
check_fails 125 "cannot load the observer" "an observer that is not there" stat --observer ./absent.so -- "$demo" 1
