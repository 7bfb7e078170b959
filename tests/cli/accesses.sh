#!/usr/bin/env bash
# Data accesses: those that record --accesses works out against the exact stream and the known answer of a program, what
# the profile says of how they were obtained, addresses that recordings of perf bring, and report --data.
# sanitized-only: its checks are the same in both builds
# time-limit: 300
. "$(dirname "$0")/lib.sh"

victim=$BUILD/tests/unit/native/data_victim
timer() { "$ASSAY" record --source=timer --user "$@"; }
sum() { sqlite3 "$1" "select coalesce(sum(value), 0) from quality where key in ($2)"; }

if ! timer -q --accesses -o try.db -- true 2>try.err; then
    skip "record --accesses" "$(cat try.err)"
    exit 0
fi

# ---- the truth -------------------------------------------------------------------------------------------------------
for function in stream regions chase ways; do
    case $function in chase | ways) rounds=120000 ;; *) rounds=200000 ;; esac # watchpoints are few a second
    "$ASSAY" script -q -o "$function.txt" --from "$function" --symbol "$function" --max 60000 -- "$victim" "$function" 1
    exact() { python3 "$SOURCE/tests/cli/data_truth.py" exact "$function.txt" "$victim" "$function"; }
    check "$function accesses what it was written to" exact
    echo "$out" >"$function.json"
    found() {
        timer -q -o "$function.db" --rate 4000 --accesses -- "$victim" "$function" "$rounds"
        check "… and samples find it so" python3 "$SOURCE/tests/cli/data_truth.py" check "$function.db" "$function" "$function.json"
        printf '%s\n' "$out" | sed 's/^/# /'
    }
    by_chance found
done
# Many places that run once, and then one that runs on: what waits at the former in vain must leave a register for the latter.
cat >phases.c <<'END'
#include <stdlib.h>
static void *ring[1 << 16];
#define PHASE(n) __attribute__((noinline)) static void *phase_##n(void *at, long turns) \
    { for (long i = 0; i < turns; i++) { at = *(void **)at; if ((size_t)at & 8 * (n)) at = *(void **)at; } return at; }
PHASE(1) PHASE(2) PHASE(3) PHASE(4) PHASE(5) PHASE(6) PHASE(7) PHASE(8) PHASE(9) PHASE(10) PHASE(11) PHASE(12)
int main(void)
{
    void *(*phases[])(void *, long) = {phase_1, phase_2, phase_3, phase_4, phase_5, phase_6,
                                       phase_7, phase_8, phase_9, phase_10, phase_11};
    void *at = ring;
    for (size_t i = 0; i < 1 << 16; i++)
        ring[i] = &ring[(i * 5 + 12345) % (1 << 16)];
    for (int i = 0; i < 11; i++)
        at = phases[i](at, 500000);
    return phase_12(at, 30000000) == NULL;
}
END
gcc -O1 -o phases phases.c
in_the_last_phase() {
    timer -q -o phases.db --rate 997 --accesses -- ./phases
    check "what ran once does not keep the registers from what runs on" test "$(sum phases.db "'watch_hit'" | sed 's/\..*//')" -ge 8
}
by_chance in_the_last_phase
between() { [ "$2" -ge "$1" ] && [ "$2" -le "$3" ]; } # a few instructions have two
all_of_it() {
    check "a program of known accesses" timer -o all.db --rate 4000 --accesses -- "$victim" all 20000
    check_same "every sample is accounted for" "$(sqlite3 all.db 'select samples from series')" \
        "$(sum all.db "'data_exact', 'data_next', 'data_watched', 'data_none'" | sed 's/\.0$//')"
    found=$(sum all.db "'data_exact', 'data_next', 'data_watched'" | sed 's/\..*//')
    check "… and has its access" between "$found" "$(sqlite3 all.db 'select sum(samples) from accesses')" $((found + found / 50 + 2))
    check "few have none" test "$(sum all.db "'data_none'" | sed 's/\..*//')" -lt "$(sqlite3 all.db 'select samples / 10 from series')"
    check_same "chase and ways need watchpoints, stream and regions do not" "chase ways" \
        "$(sqlite3 -separator ' ' all.db "select group_concat(name, ' ') from (select distinct f.name from accesses a
            join instructions i on i.id = a.instruction join functions f on f.id = i.function where how = 3 order by 1)")"
    check "the hits are counted" test "$(sum all.db "'watch_hit'" | sed 's/\..*//')" -gt 5
    check_same "loads and stores are told apart" "a 1|b 1|c 2|even 3|nodes 1|odd 3|tally 3" \
        "$(sqlite3 all.db "select group_concat(x, '|') from (select distinct o.name || ' ' || a.kind as x from accesses a
            join objects o on o.id = a.object where o.module is not null and length(o.name) < 6 and o.name not like '.%'
            and o.name in ('a', 'b', 'c', 'even', 'nodes', 'odd', 'tally')
            and a.instruction in (select i.id from instructions i join functions f on f.id = i.function
                where f.name in ('stream', 'chase', 'ways')) order by 1)")"
    check_json "report --data: each object has its samples" '{"a", "b", "c", "nodes", "tally", "odd", "even", "[heap]", "[stack]"} <= {r["object"] for r in d["rows"]}' \
        "$ASSAY" report --data --json all.db
    check_json "by source line" 'd["by"] == "line" and sum(1 for r in d["rows"] if r["object"] == "nodes") >= 3' \
        "$ASSAY" report --data --by line --json all.db
}
by_chance all_of_it
check_same "addresses are inside their objects" 0 \
    "$(sqlite3 all.db "select count(*) from accesses a join objects o on o.id = a.object where o.size > 0 and
        (a.address < o.address or a.address + a.size > o.address + o.size)")"

threads() {
    check "threads" timer -q -o threads.db --rate 2000 --accesses -- "$victim" threads 20000
    check "… have the shares together" python3 "$SOURCE/tests/cli/data_truth.py" check threads.db stream stream.json
}
by_chance threads
"$victim" stream 1000000000 &
running=$!
attached() {
    check "a process that runs already" timer -q -o pid.db --rate 4000 --accesses --pid "$running" --duration 1
    check "… tells its variables" python3 "$SOURCE/tests/cli/data_truth.py" check pid.db stream stream.json
}
by_chance attached
kill "$running"
wait "$running" 2>/dev/null

# ---- page faults: the kernel knows the address -----------------------------------------------------------------------
cat >touch.c <<'END'
#include <sys/mman.h>
enum { PAGES = 300 };
static char stored[PAGES * 4096] __attribute__((aligned(4096))), loaded[PAGES * 4096] __attribute__((aligned(4096)));
int main(void) { int sum = 0; madvise(stored, sizeof stored, MADV_NOHUGEPAGE); madvise(loaded, sizeof loaded, MADV_NOHUGEPAGE); for (long i = 0; i < PAGES; i++) *(volatile char *)&stored[i * 4096 + 8] = 1;
    for (long i = 0; i < PAGES; i++) sum += *(volatile char *)&loaded[i * 4096 + 16]; return sum; }
END
cc -O1 -g -o touch touch.c
check "page faults" "$ASSAY" record -q --source=pmu --user --event page-faults --period 1 --accesses -o faults.db -- ./touch
# touched VARIABLE OFFSET KIND: pages of which the only access is that of the program.
touched() { sqlite3 faults.db "SELECT count(DISTINCT a.address) > 270 AND min(a.address % 4096) = $2 AND max(a.address % 4096) = $2
    FROM accesses a JOIN objects o ON o.id = a.object JOIN instructions i ON i.id = a.instruction
    WHERE o.name = '$1' AND a.kind = $3 AND a.size = 1"; }
check_same "… of stores have the address that the kernel recorded" 1 "$(touched stored 8 2)"
check_same "… and of loads" 1 "$(touched loaded 16 1)"
check_same "… nothing was worked out" 0 "$(sum faults.db "'data_exact', 'data_next', 'data_watched'" | sed 's/\.0$//')"

chains() {
    check "call chains beside it" timer -q -o dwarf.db --rate 2000 --accesses --call-graph=dwarf -- "$victim" stream 30000
    check "… do no harm" python3 "$SOURCE/tests/cli/data_truth.py" check dwarf.db stream stream.json
}
by_chance chains
check_json "… and are there" '"main" in str(d) and "stream" in str(d)' "$ASSAY" report --calls --json dwarf.db

# ---- the report ------------------------------------------------------------------------------------------------------
check "report --data" "$ASSAY" report --data all.db
told=$out
check "… says how the addresses were obtained" grep -Eq '^addresses: [0-9.]+ % exact, [0-9.]+ % next, [0-9.]+ % watched' <<<"$told"
check "… objects with their instructions" grep -Eq 'nodes +data_victim +(ways|chase)\+0x' <<<"$told"
check_json "as JSON" '(d["by"] == "object" and abs(sum(r["share"] for r in d["rows"]) - 1) < 1e-9
    and all(r["load_time"] == 0 and r["store_time"] == r["time"] for r in d["rows"] if r["object"] == "c")
    and all(r["size"] == 65536 and 64 * r["lines"] >= r["bytes"] >= 8 and r["bytes"] <= 8 * r["samples"]
            and r["instructions"][0]["function"] == "stream" and r["instruction_count"] == 2
            for r in d["rows"] if r["object"] == "a")
    and d["addresses"]["watched"] > 0 and d["addresses"]["hardware"] == 0)' "$ASSAY" report --data --json all.db
check_json "by instruction" 'd["by"] == "instruction" and all(r["instruction_count"] == 1 for r in d["rows"])' \
    "$ASSAY" report --data --by instruction --json all.db
# A sample may fall where the function saves a register.
check_json "of one function" '{r["object"] for r in d["rows"][:3]} == {"a", "b", "c"} and sum(r["samples"] for r in d["rows"][3:]) <= 5' \
    "$ASSAY" report --data --symbol stream --json all.db
csv() { "$ASSAY" report --data --csv --limit 2 all.db | tr -d '\r' | awk -F, 'NF == 15 { n++ } END { print n }'; }
check_stdout_equals 3 "as CSV" csv
check_status 2 "not by thread" "$ASSAY" report --data --by thread all.db
check_status 2 "objects are for data" "$ASSAY" report --by object all.db
check_status 2 "nor with a call tree" "$ASSAY" report --data --calls all.db
check "a profile without addresses" timer -q -o none.db -- "$victim" stream 2000
check_stderr_line 'no data addresses in series task-clock' "… says what to do" "$ASSAY" report --data none.db
check_status 2 "accesses are not the model's" "$ASSAY" record --source=model --accesses -o model.db -- true

# ---- addresses of hardware, in recordings made byte by byte: no processor here has any -----------------------------
for unit in pebs ibs; do
    python3 "$SOURCE/tests/cli/data_recording.py" "$unit" "$victim" "$unit.data"
    check "a recording with addresses of $unit" "$ASSAY" import -q -o "$unit.db" "$unit.data"
    check_json "… has its objects" '({r["object"]: (r["samples"], r["load_time"], r["store_time"]) for r in d["rows"]}
        == {"a": (3, 3000, 0), "b": (1, 0, 1000), "[heap]": (2, 2000, 0), "[stack]": (1, 0, 1000), None: (1, 1000, 0)}
        and d["addresses"] == {"hardware": 8, "exact": 0, "next": 0, "watched": 0, "none": 1, "none_because": {}}
        and [r["instructions"][0]["function"] for r in d["rows"] if r["object"] == "a"] == ["stream"])' \
        "$ASSAY" report --data --json "$unit.db"
    check_same "… as the processor recorded them" "0 $([ "$unit" = ibs ] && echo 8 || echo 0)" \
        "$(sqlite3 -separator ' ' "$unit.db" 'select distinct how, size from accesses where series = 0')"
done
check_json "… and latencies by object" '{r["object"]: r["time"] for r in d["rows"]}["a"] == 3 * 70' \
    "$ASSAY" report --data --series 'loads weight' --json pebs.db

# ---- recordings of perf ----------------------------------------------------------------------------------------------
if command -v perf >/dev/null && perf record -q -e page-faults -c 1 -d -o faults.data -- "$victim" stream 1 2>perf.err; then
    check "addresses of a recording of perf" "$ASSAY" import -q -o faults.db faults.data
    check_json "… are the processor's, of the objects that they are in" '(d["addresses"]["hardware"] > 20
        and {"a", "c"} <= {r["object"] for r in d["rows"]})' "$ASSAY" report --data --json faults.db
else
    skip "addresses of a recording of perf" "perf cannot record here: $(head -c 200 perf.err 2>/dev/null)"
fi
