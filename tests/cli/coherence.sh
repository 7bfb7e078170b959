#!/usr/bin/env bash
# Threads that share lines: what coherence costs in programs whose sharing is known, threads that follow simulated time,
# and runs that repeat to the cycle.
# plain-only: long runs; sanitized.sh runs each protocol under sanitizers
. "$(dirname "$0")/lib.sh"

lines=$STATIC/lines
modelled() { # modelled FILE OPTION… -- KIND THREADS ROUNDS
    local file=$1
    shift
    "$ASSAY" compare -q --json --samplers none --events all -o "$file" "${@:1:$#-3}" "$lines" "${@: -3}"
}

# ---- known answers ----------------------------------------------------------------------------------------------------
# In turn, so that all of them are there at the same time, whatever the machine does. On a machine that renames memory: where an addition waits for
# the store before it, what its core has stored goes out in the time that the line is there, and nothing is left to wait for.
for kind in counters padded readonly; do
    check "$kind" modelled "$kind.json" --core zen4-like --deterministic -- "$kind" 4 12000
    check "$kind without coherence" modelled "$kind-off.json" --core zen4-like --deterministic --set coherence.protocol=off -- "$kind" 4 12000
done
check "a ball to and fro" modelled pingpong.json --deterministic -- pingpong 2 300
holds "counters in one line wait for each other: stores, after their commit" '
    d[0]["cycles"] > 1.2 * d[1]["cycles"]
    and d[0]["events"]["components"].get("DR-SQ+ST-CO", 0) > 0.9 * (d[0]["cycles"] - d[1]["cycles"])' counters.json counters-off.json
holds "padded ones do not, and neither do readers" '
    d[0]["cycles"] < 1.1 * d[1]["cycles"] and d[2]["cycles"] < 1.1 * d[3]["cycles"]' padded.json padded-off.json readonly.json readonly-off.json
holds "a ball is waited for: ST-CO" '
    sum(v for k, v in d["events"]["components"].items() if "ST-CO" in k.split("+")) > 300 * 40' pingpong.json
holds "without coherence nobody waits" '
    not any("ST-CO" in k for x in d for k in x["events"]["components"])' counters-off.json padded-off.json readonly-off.json

# ---- waits in a profile -----------------------------------------------------------------------------------------------
check "a profile" "$ASSAY" record -q --deterministic -o waits.db -- "$lines" counters 4 12000
"$ASSAY" report --waits waits.db >waits.txt
check "… says what turns do" grep -q 'note: threads executed in turns' waits.txt
"$ASSAY" report waits.db --waits --json >waits.json
again() { # the plan of a sampled run, which is there by default, must not keep threads from running in turn
    "$ASSAY" record -q --deterministic -o "$1" -- "$lines" counters 4 2000 >/dev/null
    sqlite3 "$1" "SELECT value FROM meta WHERE key IN ('cycles', 'instructions') ORDER BY key"
}
check_same "… the same in every run, to the cycle" "$(again one.db)" "$(again two.db)"
holds "waits: false sharing, most of it of one object" '(lambda o: o["object"] == "counters" and
    o["false_cycles"] > 0.99 * o["cycles"] and o["cycles"] > 0.9 * d["cycles"] > 100000)(d["objects"][0])' waits.json
holds "… as often as the line can move, whatever the quantum: a core gets some forty stores done each time, and not all fight all the time" '650 < d["transfers"] < 12000' waits.json
holds "… of threads for each other" 'len(d["threads"]) >= 4 and
    abs(sum(map(sum, d["matrix_true"])) + sum(map(sum, d["matrix_false"])) - d["cycles"]) < 1' waits.json
holds "… and how often, by pair" 'sum(map(sum, d["transfers_true"])) + sum(map(sum, d["transfers_false"])) == d["transfers"] > d["lines_moved"] > 0 and
    sum(map(sum, d["transfers_false"])) > sum(map(sum, d["transfers_true"]))' waits.json
holds "… and in bytes" 'sum(map(sum, d["bytes_true"])) + sum(map(sum, d["bytes_false"])) == d["bytes"] == 64 * d["lines_moved"] and
    sum(o["bytes"] for o in d["objects"]) == d["bytes"]' waits.json
holds "… by line and code, with both sides" 'd["lines"][0]["place"].startswith("counters[") and
    [d["code_pairs"][0][side]["function"] for side in ("waited", "culprit")] == ["count_beside_others"] * 2' waits.json
check "as text" "$ASSAY" report waits.db --waits
check "… with the matrices" grep -qzE 'Cycles that a thread \(row\) waited for lines of another \(column\).*Bytes of the lines that a thread \(row\) got' <<<"$out"
check_same "… and rows that can be told apart" "" "$("$ASSAY" report waits.db --waits --limit 0 | sed -n '/code that waited/,$s/^.*%  //p' | sort | uniq -d)"
check_json "threads by the functions that they began with" 'sorted(r.get("start", "") for r in d["rows"]) == ["", *["start"] * 4]' \
    "$ASSAY" report waits.db --by thread --json
by_thread=$("$ASSAY" report waits.db --by thread)
check "… as text" grep -qE ' [2-5] lines: start ' <<<"$by_thread"
check "… and what cycles and seconds are" grep -q '^cycles and instructions are sums over all threads' <<<"$by_thread"
"$ASSAY" report waits.db --waits --csv >waits.csv
check_same "as CSV: the same cycles" 1 "$(python3 -c 'import csv, json
rows = list(csv.DictReader(open("waits.csv")))
print(int(abs(sum(float(r["cycles"]) for r in rows) - json.load(open("waits.json"))["cycles"]) < 1))')"
check "on the page" "$ASSAY" report waits.db --html waits.html
cat >page.py <<'END'
import json, sys
sys.path.insert(0, sys.argv[1])
from page_lists import document, near
page, told = document("waits.html"), json.load(open("waits.json"))
waits, name = page["series"][0]["waits"], page["strings"]
assert near(waits["cycles"], told["cycles"]) and waits["transfers"] == told["transfers"] and waits["pattern"] == told["pattern"]
for kind in ("true", "false"):
    flat = [[cell for row in rows for cell in row] for rows in (waits["matrix_" + kind], told["matrix_" + kind])]
    assert len(flat[0]) == len(flat[1]) and all(map(near, *flat)), kind
for page_list, list_ in ((waits["objects"], told["objects"]), (waits["lines"], told["lines"])):
    assert len(page_list["cycles"]) == len(list_) and page_list["left_out"] == 0
    for i, row in enumerate(list_):
        assert near(page_list["cycles"][i], row["cycles"]) and near(page_list["false"][i], row["false_cycles"]), row
        assert page_list["transfers"][i] == row["transfers"] and name[page_list["object"][i]] == row["object"], row
for i, row in enumerate(told["lines"]):
    assert int(waits["lines"]["address"][i], 16) == int(row["line"], 16) and name[waits["lines"]["place"][i]] == row["place"], row
for i, row in enumerate(told["code_pairs"]):
    for side in ("waited", "culprit"):
        assert not row[side] or name[waits["pairs"][side]["name"][i]].startswith(row[side]["function"]), row
print(len(told["lines"]), len(told["code_pairs"]))
END
check "… they are the same" python3 -B page.py "$SOURCE/tests/cli"
check "of a thread" "$ASSAY" report waits.db --waits --thread 2
check "merged, with a weight" "$ASSAY" merge -q --weights 3 -o thrice.db waits.db
"$ASSAY" report thrice.db --waits --json >thrice.json
holds "… three times as much" 'abs(d[1]["cycles"] - 3 * d[0]["cycles"]) < 1 and d[1]["transfers"] == 3 * d[0]["transfers"]' waits.json thrice.json
# Waits for a lock are marked, by types and by the functions that lock; the word that threads look at is none.
strip --strip-debug -o untyped "$WORKLOADS/turns"
for program in "$WORKLOADS/turns" ./untyped; do
    (unset ASSAY_DEBUG_PATH && "$ASSAY" record -q --deterministic -o locks.db -- "$program" spin 25) # with the C library's own functions
    "$ASSAY" report locks.db --waits --json >locks.json
    holds "waits for a lock: ${program##*/}" '(lambda o: o["guard"]["lock"] == "pthread_mutex_t" and
        o["guard"]["lock_cycles"] == o["guard"]["cycles"] > 0 and o["turn"]["lock"] is None and
        o["guard"]["cycles"] <= d["lock_cycles"] < d["cycles"])({o["object"]: o for o in d["objects"]})' locks.json
    check "… as text" grep -q '%  guard  (pthread_mutex_t)$' <("$ASSAY" report locks.db --waits)
done
check_same "… as CSV" pthread_mutex_t "$("$ASSAY" report locks.db --waits --csv | tr -d '\r' | awk -F, '$8 ~ /^guard/ { print $NF }' | sort -u)"
"$ASSAY" record -q -o alone.db -- "$WORKLOADS/known/x86-load-1" >/dev/null
check_stderr_line 'no thread waited for another core' "one thread waits for nobody" "$ASSAY" report alone.db --waits
"$ASSAY" record -q --budget=100k -o parts.db -- "$STATIC/sharing" false -t 2 -n 200000 >/dev/null
check_stderr_line 'is not kept of a run that was sampled' "a run of which parts were measured" "$ASSAY" report parts.db --waits

# ---- threads that take turns ------------------------------------------------------------------------------------------
# Not in turn, so the host decides how long each looks; but the word moves by one load and one store with each of 50 turns, and the mutex
# as often where it is taken once in each: 98 times. Of the first hand-over the order may be unknown.
take_turns() {
    "$ASSAY" record -q -o turns.db -- "$WORKLOADS/$program" $way 25 $idle
    "$ASSAY" report turns.db --waits --json >turns.json
    holds "$program by $way${idle:+, $idle threads asleep}: each turn moves the word and the mutex" '(lambda moves: 95 <= moves["turn"] <= 103 and
        moves["guard"] >= '$least')({o["object"]: o["transfers"] for o in d["objects"]})' turns.json
}
idle=
for program in turns turns-riscv64-static; do
    [ -x "$WORKLOADS/$program" ] || continue
    for way in spin yield atomic mutex condvar; do
        least=$(case $way in mutex) echo 25 ;; *) echo 94 ;; esac) # who looks by the mutex may get it twice in a row
        by_chance take_turns
    done
done
program=turns way=spin idle=80 least=94
by_chance take_turns

# A program that maps a file for sharing before it has threads, as libc does with tables of character sets in other locales than C: QEMU then
# keeps the code that it had when the threads begin. Without their stamps the run below came to its region and hardly went on (in most runs; their schedule decides).
python3 -c 'for i in range(140000): print(i * 2654435761 % 4294967296)' >numbers
if [ "$(locale -a 2>/dev/null | grep -c '^C.utf8$')" = 1 ]; then
    check "threads behind a file that is mapped for sharing" \
        timeout 300 "$ASSAY" compare -q --samplers none --skip 9M --max 6M -- env LC_ALL=C.UTF-8 sort --parallel=2 -S 64M -o sorted numbers
fi

# ---- how long waits take ----------------------------------------------------------------------------------------------
# Threads that take pieces of work under one mutex seldom wait for it, whatever the host does: in turn, where nobody can be put behind another
# one, they take as long. (With a quantum of 10,000 cycles between threads that meet it was 2.6 times that.)
check "pieces of work, in turn" modelled in-turn.json --deterministic -- work 4 2400
take_pieces() {
    modelled pieces.json -- work 4 2400
    holds "a lock that is free is not waited for" 'd[0]["counters"]["elapsed_cycles"] < 1.5 * d[1]["counters"]["elapsed_cycles"]' pieces.json in-turn.json
}
by_chance take_pieces
# Sixteen threads wait for it all the time, and most of them sleep: what they do between two pieces is hidden, so they take a little longer than
# four. (A thread that was alone for a moment went on by a million instructions before those that it woke came back, and which thread got the
# mutex was the host's doing: 1.3 to 1.8 times.)
share_pieces() {
    modelled shared.json -- work 16 2400
    holds "a lock that is never free" 'd[0]["counters"]["elapsed_cycles"] < 1.3 * d[1]["counters"]["elapsed_cycles"]' shared.json pieces.json
}
by_chance share_pieces

# ---- processes --------------------------------------------------------------------------------------------------------
# As with turns of threads, wherever each has the memory: of 400 hand-overs of the ball each but the first moves its line by a load and a store.
processes() {
    "$ASSAY" record -q -o "$kind.db" -- "$STATIC/processes" "$kind" 200 >/dev/null
    "$ASSAY" report "$kind.db" --waits --json >"$kind.json"
    holds "processes wait for lines that they share: $kind" '780 <= d["lines"][0]["transfers"] <= 820 and
        sum(o["cycles"] for o in d["objects"] if o["object"].startswith(("[shared]", "/tmp/assay-", "/SYSV"))) > 0.99 * d["cycles"] and
        d["matrix_true"][0][1] > 0 < d["matrix_true"][1][0]' "$kind.json"
}
for kind in anon file sysv futex; do
    by_chance processes
done
"$ASSAY" record -q -o private.db -- "$STATIC/processes" private 200 >/dev/null
check_stderr_line 'no thread waited for another core' "… and for no others" "$ASSAY" report private.db --waits

# ---- runs that repeat -------------------------------------------------------------------------------------------------
facts() { python3 -c '
import json, sys
d = json.load(open(sys.argv[1]))
print(d["cycles"], d["instructions"], d["counters"]["l1d_misses"], sorted(d["events"]["components"].items()))' "$1"; }
for core in boom-tip zen4-like; do
    check "in turn, $core" modelled first.json --deterministic --core "$core" -- sync 4 128
    check "… again" modelled second.json --deterministic --core "$core" -- sync 4 128
    check_same "mutex, condition variable, spin lock, atomics: the same to the cycle, $core" "$(facts first.json)" "$(facts second.json)"
done
check_stdout_equals 1024 "the program's result" "$ASSAY" compare -q --deterministic --samplers none -o /dev/null -- "$lines" sync 4 128
check_stdout_equals $'a\nb\nc' "shells that execute others, in turn" timeout 200 "$ASSAY" compare -q --deterministic --samplers none -o /dev/null -- \
    sh -c 'sh -c "echo a; (exec sh -c \"echo b | cat\")"; echo c | cat'
check "what is remembered is the same" modelled checked.json --deterministic --memo check -- sync 3 64
# Threads whose lines do not move: their cores run on another host thread than the reader, two rounds behind it.
for way in on off check; do
    check "threads that share nothing, memo $way" modelled "rounds-$way.json" --deterministic --memo "$way" -- padded 4 40000
done
check_same "the same to the cycle without a memo" "$(facts rounds-on.json)" "$(facts rounds-off.json)"
check_same "… and where it is checked" "$(facts rounds-on.json)" "$(facts rounds-check.json)"
for quantum in 0 1000 100k; do
    check "a quantum of $quantum" modelled quantum.json --quantum "$quantum" -- sync 3 64
done

# ---- machines ---------------------------------------------------------------------------------------------------------
for protocol in mesi mesif moesi; do
    check "$protocol, checked" modelled "$protocol.json" --memo check --set "coherence.protocol=$protocol" -- counters 3 500
done
for cores in 1 2; do
    check "three threads on $cores cores" modelled "cores-$cores.json" --core zen4-like --deterministic --memo check --set coherence.cores=$cores,coherence.slice=5000 -- counters 3 80000
done
check "… on one for each" modelled cores.json --core zen4-like --deterministic -- counters 3 80000
modelled apart-2.json --core zen4-like --deterministic --set coherence.cores=2,coherence.slice=5000 -- padded 3 80000 # they do not fight for lines
holds "one core: one thread after the other, and no line moves" '
    d[0]["counters"]["elapsed_cycles"] == d[0]["cycles"]
    and not any("ST-CO" in k for k in d[0]["events"]["components"])
    and d[0]["counters"]["elapsed_cycles"] > d[1]["counters"]["elapsed_cycles"]' cores-1.json apart-2.json
holds "a core for each: they fight for the line, and three cores bring hardly more than one" '
    d[1]["cycles"] > 1.5 * d[0]["cycles"] and d[1]["counters"]["elapsed_cycles"] > 0.8 * d[0]["counters"]["elapsed_cycles"]' cores-1.json cores.json
check_json "ST-CO is among the events where threads wait" 'd["events"]["by_event"]["ST-CO"]["count"] > 100 and "ST-CO" in d["events"]["set"]' \
    "$ASSAY" compare -q --json --samplers=none --deterministic -- "$WORKLOADS/lines" counters 2 2000
check_json "… and not where one thread runs" '"ST-CO" not in d["events"]["set"] and "ST-L1" in d["events"]["set"]' \
    "$ASSAY" compare -q --json --samplers=tea --max 100k -- "$STATIC/demo"
far=coherence.sockets=2,coherence.cores=8
check "two sockets" modelled near.json --deterministic --set $far,"coherence.pinning=0 1 2" -- counters 2 8000
check "… apart" modelled far.json --deterministic --set $far,"coherence.pinning=0 1 5" -- counters 2 8000
holds "the other socket is further" 'd[1]["cycles"] > 1.1 * d[0]["cycles"]' near.json far.json
bad() { check_fails 2 "$1" "$2" "$ASSAY" compare --set "$3" -- "$lines" padded; }
bad "sockets = 2 needs coherence.cores" "sockets without cores" coherence.sockets=2
bad "pinning names core 7" "a core that is not there" "coherence.cores=4,coherence.pinning=0 7"
bad "one of off mesi mesif moesi" "no such protocol" coherence.protocol=dragon
bad "give compact, scatter, or cores" "no such pinning" "coherence.cores=4,coherence.pinning=0 x"
check_no_strays "nothing left behind"
