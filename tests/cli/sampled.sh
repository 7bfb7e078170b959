#!/usr/bin/env bash
# assay record of a program that is longer than its budget: the estimate against the truth, error bars, reports, merging,
# and what is refused.
# plain-only: long runs; unit tests of its parts run under the sanitizers
# time-limit: 240
. "$(dirname "$0")/lib.sh"

gcc -g -O1 -static -nostdlib -ffreestanding -fno-pic -no-pie -DROUNDS=16 "$SOURCE/tests/cli/two_phases.c" -o two 2>/dev/null ||
    { skip "sampled runs" "no C compiler for this machine" && exit 0; }
how=(--sample-period 4M --sample-unit 200k --sample-warm 200k)

# ---- a program within its budget is measured in full ----

check "a budget that suffices" "$ASSAY" record -q --budget 100M -o short.db -- ./two
check "no budget" "$ASSAY" record -q --budget 0 -o true.db -- ./two
cycles="SELECT value FROM meta WHERE key = 'cycles'"
check_same "… the same cycles" "$(one true.db "$cycles")" "$(one short.db "$cycles")"
check_same "… exact" golden "$(one short.db "SELECT value FROM meta WHERE key = 'series'")"

# ---- a longer one is estimated ----

check "a program longer than its budget" "$ASSAY" record --budget 8M "${how[@]}" -o long.db -- ./two
check_same "… says so" 1 "$(grep -c 'SAMPLED: an estimate for all' <<<"$err")"
"$ASSAY" stat --json -- ./two >stat.json 2>/dev/null
check_same "… instructions are exact" "$(python3 -c 'import json; print(json.load(open("stat.json"))["instructions"])')" \
    "$(one long.db "SELECT value FROM meta WHERE key = 'instructions'")"
check_same "… executions too" "$(one true.db 'SELECT sum(executions) FROM times WHERE series = 0')" \
    "$(one long.db 'SELECT sum(executions) FROM times WHERE series = 0')"
check_same "… the parts add up" "$(one long.db 'SELECT sum(units) FROM times WHERE series = 0')" \
    "$(one long.db 'SELECT sum(units) FROM components WHERE series = 0')"
check_same "… so do the call paths, but for code that no region has" 1 "$(one long.db 'SELECT (SELECT sum(units) FROM path_times WHERE series = 0) * 1.0 / sum(units) BETWEEN 0.99 AND 1 FROM times WHERE series = 0')"
check_same "… and the states" "$(one long.db 'SELECT sum(units) FROM times WHERE series = 0')" \
    "$(one long.db 'SELECT sum(units) FROM state_times WHERE series = 0')"
"$ASSAY" report --json --limit 0 long.db >long.json
"$ASSAY" report --json --limit 0 true.db >true.json
estimates_truth long.json true.json
holds "every row has an error bar" 'all(0 <= r["share_error"] < 1 for r in d["rows"])' long.json
holds "so have components, of rows and of the program, states and counters" 'all(set(r["component_errors"]) == set(r["components"]) for r in d["rows"])
    and sum(c["share"] for c in d["components"]) > 0.99 and all(0 <= c["share_error"] < 1 for c in d["components"])
    and set(d["summary"]["state_errors"]) == set(d["summary"]["states"]) and set(d["summary"]["stack_errors"]) == set(d["summary"]["stack"])
    and d["summary"]["counters"]["l1d_accesses"]["error"] > 0' long.json
cat >bars.py <<'END'
# How many error bars hold the truth of the same program, of those of half a per cent or more: bars.py ESTIMATE TRUTH
import json, sys
own, true = (json.load(open(path)) for path in sys.argv[1:])
rows = {r["function"]: r for r in true["rows"]}
total = sum(r["time"] for r in true["rows"])
held = [(abs(r["components"][name] / sum(x["time"] for x in own["rows"]) - rows[r["function"]]["components"].get(name, 0) / total) <= error + 1e-9)
        for r in own["rows"] for name, error in r["component_errors"].items() if r["components"][name] / r["time"] * r["share"] >= 0.005]
held += [abs(own["summary"]["states"][name] - true["summary"]["states"][name]) <= error + 1e-9
         for name, error in own["summary"]["state_errors"].items() if own["summary"]["states"][name] >= 0.005]
print(len(held) >= 4 and sum(held) >= 0.8 * len(held), sum(held), len(held))
END
out=$(python3 bars.py long.json true.json)
check_same "… which hold what a full run has" True "${out%% *}"
holds "a part was measured" 'any(q["key"] == "sampled" and 0 < q["value"] < 0.5 for q in d["summary"]["quality"])' long.json
for by in instruction line block; do
    check_json "rows by $by" 'abs(sum(r["share"] for r in d["rows"]) - 1) < 1e-9 and all("share_error" in r for r in d["rows"])' \
        "$ASSAY" report --json --limit 0 --by "$by" long.db
done
check_json "lines of a file have errors of their own" 'len({r["share_error"] for r in d["rows"] if (r["file"] or "").endswith("two_phases.c")}) > 1' \
    "$ASSAY" report --json --limit 0 --by line long.db
check "text" "$ASSAY" report long.db
check_same "… with a column of errors" 1 "$(grep -c '^ *self *+-' <<<"$out")"
check_same "CSV" 1 "$("$ASSAY" report --csv long.db | head -1 | tr -d '\r' | grep -c ',share_error,total_share_error,Base share_error,')"
holds "… and of their totals" 'all(0 <= r["total_share_error"] < 1 for r in d["rows"])' long.json
check_json "call paths have error bars" 'all(0 <= r[e] < 1 for r in d["rows"] for e in ("share_error", "total_share_error")) and any(r["share_error"] > 0 for r in d["rows"])' \
    "$ASSAY" report --json --calls --limit 0 long.db
check "… in text" "$ASSAY" report --calls long.db
check_same "… two columns of them" 1 "$(grep -c '^ *total *+- *self *+-' <<<"$out")"
check "… in CSV" "$ASSAY" report --csv --calls long.db
check_same "… the last columns, with those of components" 1 "$(head -1 <<<"$out" | tr -d '\r' | grep -c ',share_error,total_share_error,Base share_error,.*,total Base share_error,')"
gcc -O1 "$SOURCE/tests/cli/through_pointers.c" -o pointers
check "calls through pointers behind the head" "$ASSAY" record -q --sampled --budget 2M --sample-period 100k -o pointers.db -- ./pointers
"$ASSAY" report --json --calls --limit 0 pointers.db >calls.json
check "… have their callers" python3 - <<'END'
import json
path, share = [], 0
for row in json.load(open("calls.json"))["rows"]:
    path = path[:row["depth"]] + [row["function"]]
    if path[-5:] == ["main", "go", "trunk", "go", "leaf"]:
        share = row["share"] / sum(r["share"] for r in json.load(open("calls.json"))["rows"] if r["function"] == "leaf")
assert share > 0.99, share
END
gcc -O1 "$SOURCE/tests/cli/faults_between.c" -o faults
check "handlers between regions" "$ASSAY" record -q --sampled --budget 2M --sample-period 100k -o faults.db -- ./faults
"$ASSAY" report --json --calls --limit 0 faults.db >calls.json
check "… leave the path on which they came" python3 - <<'END'
import json
path, below_main, work = [], 0, 0
for row in json.load(open("calls.json"))["rows"]:
    path = path[:row["depth"]] + [row["function"]]
    work += row["share"] if path[-1] == "work" else 0
    below_main += row["share"] if path[-2:] == ["main", "work"] else 0
assert work > 0.8 and below_main > 0.99 * work, (work, below_main)
END
in_series="SELECT sum(units) FROM times JOIN series ON series.id = times.series WHERE name"
whole="($in_series IN ('replicate 3', 'replicate common', 'replicate alike')) * 1.0 / ($in_series = 'sampled')"
check_same "a replicate and what all have in common are about the whole" 1 "$(one long.db "SELECT $whole BETWEEN 0.7 AND 1.3")"
check_same "… there is something in common" 1 "$(one long.db "SELECT ($in_series = 'replicate common') > 0")"
check_same "… which no replicate has" 0 "$(one long.db "SELECT count(*) FROM (SELECT instruction, count(DISTINCT name = 'replicate common') AS kinds
    FROM times JOIN series ON series.id = times.series WHERE name LIKE 'replicate %' GROUP BY instruction) WHERE kinds > 1")"
# A single region agrees with itself: what it stands for is as uncertain as one region of other programs is.
check "a single region" "$ASSAY" record -q --budget 8M --sample-period 45M --sample-unit 10k --sample-warm 20k -o single.db -- ./two
check_same "… is not taken for certain" 1 "$(one single.db "SELECT count(*) FROM estimates, series WHERE series.id = series AND series.name = 'sampled' AND measure = 'interval' AND value > 0.1")"
check_json "… nor are its rows" 'd["rows"][0]["share_error"] > 0.05' "$ASSAY" report --json single.db
check_same "… says what it cannot show" 1 "$("$ASSAY" report single.db | tr -s '\n ' ' ' | grep -c '% of the run can be slow for a reason of its own other than cold data and in no region')"
# One call of 100 meets cold memory. Executions do not show that; what DRAM was read for does, whether a region has the call or not.
gcc -g -O1 -static -nostdlib -ffreestanding -fno-pic -no-pie "$SOURCE/tests/cli/cold_call.c" -o cold
"$ASSAY" record -q --core boom-tea --budget 0 -o cold.db -- ./cold
counter() { one "$1" "SELECT value FROM counters WHERE name = '$2'"; }
near() { python3 -c 'import sys; a, b, t = map(float, sys.argv[1:]); sys.exit(abs(a / b - 1) > t)' "$@"; }
for seed in 1 3; do
    check "a cold call, seed $seed" "$ASSAY" record -q --core boom-tea --budget 2M --seed $seed -o call.db -- ./cold
    interval=$(one call.db "SELECT value FROM estimates JOIN series ON series.id = series WHERE name = 'sampled' AND measure = 'interval'")
    check "… its interval holds" near "$(counter cold.db cycles)" "$(counter call.db cycles)" "$interval"
    check "… reads of DRAM are those of the whole run" near "$(counter call.db dram_reads)" "$(counter cold.db dram_reads)" 0.03
    [ $seed = 1 ] || check_same "… and reports say why it is wide" 1 "$("$ASSAY" report call.db | grep -c 'of the time is what reads of DRAM can cost')"
    [ $seed = 3 ] || check "… a region that has it stands for no other calls" near "$(counter call.db cycles)" "$(counter cold.db cycles)" 0.03
done
# A program that ends before the first region behind its budget: the rest costs what the measured part did.
check "no region" "$ASSAY" record -q --budget 8M --sample-period 400M --sample-unit 10k --sample-warm 20k -o none.db -- ./two
check_same "… is within a half of the truth" 1 "$(($(one none.db "$cycles") * 2 < $(one true.db "$cycles") * 3 && $(one none.db "$cycles") * 2 > $(one true.db "$cycles")))"
check_same "a single region is not taken for several" 1 "$("$ASSAY" report single.db | tr -s '\n ' ' ' | grep -cw 'from 1 region')"
# Code that runs once, between regions: its times in the replicates are the mean times one factor each.
{
    echo 'static volatile long x;'
    for i in {1..300}; do echo "__attribute__((noinline)) static void f$i(void) { x ^= x * $i + 1; x ^= x * $i + 2; x ^= x * $i + 3; }"; done
    echo 'int main(void) { for (long i = 0; i < 2000000; i++) x += i;'
    for i in {1..300}; do echo "f$i();"; done
    echo 'for (long i = 0; i < 2000000; i++) x += i; return 0; }'
} >once.c
check "a program with much code that runs once" cc -O1 -o once once.c
check "… is estimated" "$ASSAY" record -q --budget 2M "${how[@]}" -o once.db -- ./once
rows="SELECT count(*) FROM times JOIN series ON series.id = times.series WHERE name"
check_same "… what is alike in the replicates is written once" 1 "$(one once.db "SELECT ($rows = 'replicate alike') > 1500 AND ($rows = 'replicate 1') < 1000")"
check_same "… with ten factors" 10 "$(one once.db "SELECT count(*) FROM estimates WHERE measure = 'factor'")"
check_same "… whose mean is 1" 1 "$(one once.db "SELECT abs(avg(value) - 1) < 1e-6 FROM estimates WHERE measure = 'factor'")"
# Hot code whose executions all cost the same has the same factors, too, but regions have it: nothing of it is guessed.
cat >even.c <<'END'
__attribute__((noinline)) static long f(long n) { long a = 1; while (n--) { a = a * 3 + n; a ^= 5; } return a; }
__attribute__((noinline)) static long g(long n) { long a = 1; while (n--) a = (a ^ n) * 5 + 1; return a; }
int main(void) { long sum = 0; for (int i = 0; i < 300; i++) sum += f(10000 + (i & 1)) + g(10000 + (i & 1)); return sum == 0; }
END
gcc -O1 -static even.c -o even
for seed in 1 2 3; do
    check "a program of two even loops (seed $seed)" "$ASSAY" record -q --seed "$seed" --budget 1M --sample-period 500k --sample-unit 20k --sample-warm 20k -o even.db -- ./even
    check_json "… whose shares are certain" 'all(r["share_error"] < 0.1 for r in d["rows"])' "$ASSAY" report --json --limit 0 even.db
    check_json "… and which take the same with what they call, which is nothing" \
        'sum(abs(r["total_share"] - r["share"]) < 1e-4 for r in d["rows"] if r["function"] in ("f", "g")) == 2' "$ASSAY" report --json --limit 0 even.db
done
check "a program that is mostly start-up" "$ASSAY" record --budget 20k --sample-period 10k --sample-unit 1000 --sample-warm 2k -o start_up.db -- true
check_same "… is estimated" 1 "$(one start_up.db "SELECT count(*) FROM series WHERE name = 'sampled'")"
check_same "… and says so" 1 "$(tr -s '\n ' ' ' <<<"$err" | grep -c 'are in the dynamic linker: start-up dominates; --from main or --skip leaves them out; what is left is measured in full then')"
check "sorted by executions" "$ASSAY" report --sort executions long.db
check_status 2 "there are no samples to sort by" "$ASSAY" report --sort samples long.db
check "annotate" "$ASSAY" annotate walk long.db
check_same "… with executions, which are exact, and error bars" 1 "$(grep -c '^ *share  *+-  *executions$' <<<"$out")"
check_same "… that are shown" 1 "$(grep -cE ' [0-9][0-9,]* +[^ ]* *\+0x0 ' <<<"$out")"
"$ASSAY" annotate --json walk long.db >walk.json
"$ASSAY" report --json --limit 0 --by instruction long.db >insns.json
check "… in JSON, those of a report by instruction" python3 - <<'END'
import json
load = lambda name: json.load(open(name))["rows"]
report = {row["address"]: row for row in load("insns.json")}
rows = [row for row in load("walk.json") if row["time"]]
assert len(rows) > 3 and any(row["share_error"] for row in rows)
for row in rows:
    assert all(row[key] == report[row["address"]][key] for key in ("share", "share_error", "executions")), row
END
check "annotate in an exact profile" "$ASSAY" annotate walk true.db
check_same "… has no error bars" 0 "$(grep -c '^ *share .*+-' <<<"$out")"
check "call paths" "$ASSAY" report --calls long.db
check_same "… with what is known of them" 1 "$(grep -c '^note: which paths lead to a function is known in the regions alone' <<<"$out")"
check "the page" "$ASSAY" report --html page.html long.db
check "the same seed" "$ASSAY" record -q --budget 8M "${how[@]}" -o again.db -- ./two
check_same "… the same estimate" "$(one long.db "$cycles")" "$(one again.db "$cycles")"
check "another seed" "$ASSAY" record -q --budget 8M "${how[@]}" --seed 2 -o other.db -- ./two
check_same "… another estimate" different "$([ "$(one long.db "$cycles")" = "$(one other.db "$cycles")" ] || echo different)"
check "estimates are merged" "$ASSAY" merge -q long.db other.db -o both.db
check_json "… with their error bars" 'all("share_error" in r for r in d["rows"])' "$ASSAY" report --json both.db
interval="SELECT value FROM estimates, series WHERE series.id = series AND series.name = 'sampled' AND measure = 'interval'"
for db in long other both; do "$ASSAY" report --json --limit 0 "$db.db" >"$db.json"; done
check_same "… the interval is between theirs" 1 "$(python3 -c "print(int(min($(one long.db "$interval"), $(one other.db "$interval")) <= $(one both.db "$interval") <= max($(one long.db "$interval"), $(one other.db "$interval"))))")"
bar='next(r["share_error"] for r in x["rows"] if r["function"] == "walk") for x in d'
holds "… a row is not more certain than two independent runs make it" "0.6 * min(list($bar)[:2]) < list($bar)[2] <= 1.1 * max(list($bar)[:2])" long.json other.json both.json
all_of() { one "$1" "SELECT value FROM meta WHERE key = 'instructions'"; }
check_same "… the note counts all instructions" 1 "$("$ASSAY" report both.db | tr -s '\n ' ' ' | tr -d , | grep -c "SAMPLED: an estimate for all $(all_of both.db) instructions of 2 merged profiles")"
check_same "… with their part" 1 "$(one both.db "SELECT abs(value - $(one long.db "SELECT value FROM quality WHERE key = 'sampled'")) < 0.05 FROM quality WHERE key = 'sampled'")"
check "the same run twice" "$ASSAY" merge -q long.db again.db -o twice.db
check_same "… is not more certain than once" 1 "$(python3 -c "print(int(abs($(one long.db "$interval") - $(one twice.db "$interval")) < 1e-9))")"
"$ASSAY" report --json --limit 0 twice.db >twice.json
holds "… nor are its rows" "all(abs(a - b) < 1e-6 for a, b in zip(*(sorted(r['share_error'] for r in x['rows']) for x in d)))" long.json twice.json
check "a program with many call paths" "$ASSAY" record -q --sampled --budget 1M --sample-period 500k --sample-unit 20k --sample-warm 20k \
    -o paths.db -- "$STATIC/demo" 1
check_same "… keeps those that were measured" 1 "$(one paths.db 'SELECT 20 * (SELECT count(*) FROM paths WHERE id NOT IN (SELECT path FROM path_times)
    AND id NOT IN (SELECT parent FROM paths WHERE parent IS NOT NULL)) < count(*) FROM paths')"
check "sampled from the start" "$ASSAY" record -v --sampled --budget 1M --sample-period 500k --sample-unit 20k --sample-warm 20k -o start.db -- ./two
check_same "… in many regions" 1 "$(($(one start.db 'SELECT samples FROM series WHERE id = 0') > 60))"
check_same "… predictors of such loops need less training" 1 "$(grep -c 'trained for 100000 instructions' <<<"$err")"
check "warming is tried out" "$ASSAY" record -q --budget 1M --sample-period 10k --sample-unit 2k -o warm.db -- ./two
warming="SELECT value FROM quality WHERE key = 'warming'"
check_same "… and these loops need little" 1 "$(python3 -c "print(int(0 <= $(one warm.db "$warming") < 0.005))")"
# Two buffers in turn, each larger than half of the last-level cache: what a region finds there was used far before its warming.
cat >turns.c <<'END'
static struct line { struct line *next; long pad[7]; } lines[2][20000];
__attribute__((noinline)) static struct line *chase(struct line *at, long n) { while (n--) at = at->next; return at; }
int main(int argc, char **argv)
{
    for (int b = 0; b < 2; b++)
        for (long i = 0, at = 0; i < 20000; i++) {
            long to = (at + 7919) % 20000;
            lines[b][at].next = &lines[b][to];
            at = to;
        }
    struct line *at[2] = {lines[0], lines[1]};
    for (int i = 0; i < (argc > 1 ? 24 : 12); i++)
        at[i % 2] = chase(at[i % 2], 200000);
    return at[0] == at[1];
}
END
gcc -O1 -static turns.c -o turns
often=(--budget 2M --sample-period 350k --sample-unit 10k)
check "a program that comes back to its data" "$ASSAY" record -q "${often[@]}" --sample-warm all -o turns_all.db -- ./turns
check "… with little warming" "$ASSAY" record -q "${often[@]}" --sample-warm 10k -o turns.db -- ./turns
check_same "… takes the same time" 1 "$(python3 -c "print(int(abs($(one turns.db "$cycles") / $(one turns_all.db "$cycles") - 1) < 0.01))")"
check "… the same again" "$ASSAY" record -q "${often[@]}" --sample-warm 10k -o turns2.db -- ./turns
check_same "… to the cycle" "$(one turns.db "$cycles")" "$(one turns2.db "$cycles")"
# A rep instruction that is executed rarely, and takes from 400 to 50,000 cycles.
if [ "$(uname -m)" = x86_64 ]; then
    cat >copies.c <<'END'
static char from[1 << 16], to[1 << 16];
int main(void)
{
    for (unsigned i = 1, x = 1; i <= 900; i++) {
        for (int k = 0; k < 2500; k++)
            x = x * 1664525 + 1013904223;
        long n = 400L << (__builtin_ctz(i) & 7);
        void *source = from + (x >> 24), *target = to;
        __asm__ volatile("rep movsb" : "+c"(n), "+S"(source), "+D"(target)::"memory");
    }
}
END
    gcc -O1 -static copies.c -o copies
    check "copies of all lengths" "$ASSAY" record -q --budget 0 -o copies_true.db -- ./copies
    check "… sampled" "$ASSAY" record -q --seed 2 --budget 1M --sample-period 100k --sample-unit 10k --sample-warm 20k -o copies.db -- ./copies
    check_same "… take the time that they take" 1 "$(python3 -c "print(int(abs($(one copies.db "$cycles") / $(one copies_true.db "$cycles") - 1) < 0.01))")"
    executions='SELECT sum(executions) FROM times WHERE series = 0'
    check_same "… and are executed as often" "$(one copies_true.db "$executions")" "$(one copies.db "$executions")"
fi
# Between regions QEMU sieves accesses, also where they are near each other. Where the machine is busy it may miss some.
short_stretches() {
    check "short stretches between regions" "$ASSAY" record -v --budget 1M --sample-period 100k --sample-unit 2k --sample-warm 10k -o fast.db -- ./turns long
    sieved=$(grep -c 'accesses are not recorded' <<<"$err") regions=$(one fast.db 'SELECT samples FROM series WHERE id = 0')
    check_same "… are fast" 1 "$((regions > 100 && sieved > 20))"
}
by_chance short_stretches
check "threads" "$ASSAY" record -q --budget 100k --sample-period 200k --sample-unit 20k --sample-warm 20k -o threads.db -- "$STATIC/threads"
check "a program that executes others" "$ASSAY" record -q --budget 100k --sample-period 200k --sample-unit 20k --sample-warm 20k -o sh.db -- sh -c 'ls / >/dev/null; cat /etc/passwd | wc -l'
for seed in 2 3; do # an exec in a part that is not measured must not confuse the Oracle
    check "… with other regions ($seed)" "$ASSAY" record -q --budget 100k --sample-period 200k --sample-unit 20k --seed "$seed" --sample-warm 20k -o sh.db -- sh -c 'ls / >/dev/null; cat /etc/passwd | wc -l'
done
# Children that execute the same code as their parent, and then another program: most of that is in no region.
cat >family.c <<'END'
#include <sys/wait.h>
#include <unistd.h>
__attribute__((noinline)) static void spin(volatile long n) { while (n--) ; }
int main(int argc, char **argv)
{
    for (int i = 0; argc == 1 && i < 3; i++) {
        spin(200000);
        if (fork() == 0) {
            spin(100000);
            execl("./other", "other", "-", (char *)0);
            _exit(1);
        }
        wait(0);
    }
    if (argc > 1)
        spin(40000);
    return 0;
}
END
gcc -O1 -static family.c -o family && cp family other
parts=(--budget 50k --sample-period 50k --sample-unit 5k --sample-warm 5k)
check "processes" "$ASSAY" record -q --budget 0 -o family_true.db -- ./family
check "… sampled" "$ASSAY" record "${parts[@]}" -o family.db -- ./family
check_same "… whose profile says what the run said of accesses that were not recorded" \
    "$(grep -c 'ran before their accesses could be recorded$' "$LOGS/err")" "$(one family.db "SELECT count(*) FROM quality WHERE key = 'blind' AND value > 0 AND value < 0.1")"
for db in family_true family; do "$ASSAY" report --json --limit 0 --by process "$db.db" >"$db.json"; done
named='sorted((r["process"], r["command"]) for r in'
holds "… have their numbers and names" "$named d['rows']) == [(1, 'family'), (2, 'other'), (3, 'other'), (4, 'other')]" family_true.json
holds "… as in a full run" "$named d[0]['rows']) == $named d[1]['rows'])" family.json family_true.json
near() { # KEY TOLERANCE
    holds "… with their $1" "all(abs(a['$1'] - b['$1']) <= $2 for a in d[0]['rows'] for b in d[1]['rows'] if a['process'] == b['process'])" \
        family.json family_true.json
}
near executions 2000
near share 0.05
check "more processes than have rows" "$ASSAY" record -q "${parts[@]}" -o many.db -- sh -c 'for i in 1 2 3 4 5 6 7 8 9; do for k in 1 2 3 4 5 6 7 8; do (:); done; done'
check_same "… and what they execute once is said to be in few regions" 1 "$(one many.db "SELECT value > 70 FROM quality WHERE key = 'processes'")"
check_same "… the others have a common one" 1 "$(one many.db "SELECT count(*) FROM threads WHERE name = 'other threads' AND instructions > 0")"

# ---- a run that is interrupted ----

cat >stop.c <<'END'
#include <signal.h>
#include <unistd.h>
__attribute__((noinline)) static long work(long n) { long sum = 0; for (volatile long i = 0; i < n; i++) sum += i; return sum; }
int main(void)
{
    work(300000);
    kill(getppid(), SIGINT); /* Assay, which passes it on */
    for (;;)
        work(1000);
}
END
gcc -O1 -static stop.c -o stop
check_status 130 "interrupted between regions" "$ASSAY" record -q --budget 100k --sample-period 50k --sample-unit 5k --sample-warm 5k -o stop.db -- ./stop
check_same "… what ran is estimated, and said to be a part" 1 "$("$ASSAY" report stop.db | grep -c 'PARTIAL: .*signal 2')"
check_same "… all of that" 1 "$(($(one stop.db 'SELECT samples FROM series WHERE id = 0') > 20))"

# ---- what is refused ----

check_stderr_line 'needs the whole program' "a part of a program" "$ASSAY" record --sampled --max 1M -- true
check_status 2 "a budget for a part" "$ASSAY" record --budget 1M --skip 10 -- true
check_status 2 "no number" "$ASSAY" record --budget much -- true
check_status 2 "no length of warming" "$ASSAY" record --sample-warm long -- true
check_status 2 "regions longer than half of their period" "$ASSAY" record --sample-unit 6M -- true
check_status 2 "without a reference" "$ASSAY" record --sampled --golden=off -- true
check_status 2 "on the machine" "$ASSAY" record --source=timer --sampled -- true
check_no_strays "nothing left behind"
