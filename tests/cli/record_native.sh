#!/usr/bin/env bash
# assay record on the machine itself: known shares, threads, children, exec, attaching, programs that close descriptors,
# block signals, die or become daemons, missing rights, interruptions, the recorder's death, what reads such a profile,
# and agreement with perf record.
# plain-only: sampling runs under sanitizers in the unit tests of native and record, in record_agent and accesses
# waits: for programs that are sampled, and for seconds of theirs
# time-limit: 400
# shellcheck disable=SC2016 # scripts in single quotes are the programs to measure
. "$(dirname "$0")/lib.sh"

victim=$BUILD/tests/unit/native/native_victim
record() { "$ASSAY" record "$@"; }
timer() { record --source=timer "$@"; }

if ! record -q --source=timer -o try.db -- true 2>try.err; then
    skip "the timer source" "$(cat try.err)"
    exit 0
fi

# Shares of the two functions that the victim spends all of its time in, in user mode: five standard deviations, and
# two points for what the victim does besides.
SHARES='(lambda r, n: n > 200 and abs(r.get("seven_tenths", 0) / (r.get("seven_tenths", 0) + r.get("three_tenths", 0)) - 0.7)
    < 0.02 + 5 * math.sqrt(0.21 / n) and r["seven_tenths"] + r["three_tenths"] > 0.9)({x["function"]: x["share"] for x in d["rows"]}, d["summary"]["samples"])'

# ---- what is recorded ------------------------------------------------------------------------------------------------
check "a program of known shares" timer -o shares.db --rate 4000 --user -- "$victim" shares 1500
told=$err
check_same "the time from its start on is all of it" "$("$ASSAY" report --json shares.db | sed -n 's/.*"seconds": //p' | head -n 1)" \
    "$("$ASSAY" report --json --time=0s.. shares.db | sed -n 's/.*"seconds": //p' | head -n 1)"
check_json "its functions have them" "$SHARES" "$ASSAY" report --json shares.db
check "the summary says where it comes from" grep -q 'source timer, series task-clock: .* samples, one in 250,007 nanoseconds, 0 lost, 0 throttled$' <<<"$told"
check "… and that there are no cycle stacks" grep -q '^no cycle stacks: task-clock records no events' <<<"$told"
check_json "the profile tells the rest" '((lambda s: s["source"] == "timer" and s["sampler"] == "task-clock" and not s["cycle_stacks"] and not s["exact"]
    and s["source_why"] == "asked for: the kernel'\''s task clock" and s["seconds"] > 0 and 0 < s["error_estimate"] < 1
    and s["error_level"] == "instruction" and s["error_by"]["instruction"] == s["error_estimate"] > s["error_by"]["line"] > s["error_by"]["function"] > 0 and s["runs_apart"] > 0
    and s["trust"]["way"] == "interrupt" and all(0 < l["chance"] < 0.5 for l in s["trust"]["levels"]) and s["cycles"] is None and s["instructions"] is None
    and {"timer", "user_only"} <= {q["key"] for q in s["quality"]} and "components" not in d["rows"][0])(d["summary"]))' "$ASSAY" report --json shares.db
check_json "instructions have text, bytes and lines, modules build-ids" '(any(m["path"].endswith("/native_victim") and len(m["build_id"]) == 40 for m in d["modules"])
    and sum(1 for i in d["instructions"] if "imul" in (i.get("text") or "") or "sub" in (i.get("text") or "") or "j" in (i.get("text") or "")) > 0
    and any(i["line"] > 0 for i in d["instructions"])
    and sum(t["units"] for t in d["series"][0]["times"]) == sum(t["units"] for t in d["series"][0]["path_times"])
    and sum(t["samples"] for t in d["series"][0]["times"]) == d["series"][0]["samples"]
    and d["series"][0]["unit"] == "nanoseconds")' "$ASSAY" export --to=json shares.db
check_json "call paths lead from the start to the work" '"main" in str(d) and "seven_tenths" in str(d)' "$ASSAY" report --calls --json shares.db

check "threads" timer -q -o threads.db --rate 4000 --user -- "$victim" threads 4 1000
check_json "… have the shares together" "$SHARES" "$ASSAY" report --json threads.db
check_json "… and each its own time" 'sum(1 for r in d["rows"] if 0.1 < r["share"] < 0.4) == 4' "$ASSAY" report --by thread --json threads.db
check "many short threads" timer -o many.db --rate 4000 -- "$victim" short 3000
told=$err
check_json "… all of them were seen" 'int(d["counters"]["threads"]) == 3001 and d["series"][0]["lost"] == 0' "$ASSAY" export --to=json many.db
if [ "$(id -u)" = 0 ]; then # with kernel time the clock's count says how much it was
    check "… and that they are too short for samples is said" grep -q 'of the time .* was in threads too short to be sampled at this rate' <<<"$told"
    # shellcheck disable=SC2016 # sh's own
    # Two hundred processes that take far less than a period each, and together more than the five that have to be missing.
    check "a short program of short ones" timer -o brief.db --rate 100 -- sh -c 'i=0; while [ $i -lt 200 ]; do /bin/true; i=$((i + 1)); done'
    check "… says so too" grep -q 'too short to be sampled' <<<"$err"
    check "a short program that is sampled" timer -o brief.db --rate 4000 -- "$victim" shares 100
    check_same "… does not" 0 "$(grep -c 'too short to be sampled' <<<"$err")"
    if grep -q '^kthreadd$' /proc/2/comm 2>/dev/null && [ "$(id -u)" = 0 ]; then
        check "a thread of the kernel" record -q -o kernel.db --pid 2 --duration 0.2
        check_same "… has its name" kthreadd "$(sqlite3 kernel.db "SELECT value FROM meta WHERE key = 'program'")"
    fi
fi
check "children" timer -q -o forks.db --rate 4000 --user -- "$victim" forks 3 1000
check_json "… are recorded" "$SHARES" "$ASSAY" report --json forks.db
check "a program that becomes another" timer -q -o exec.db --rate 4000 --user -- "$victim" exec "$victim" shares 1000
check_json "… is recorded as that" "$SHARES" "$ASSAY" report --json exec.db
check "one that closes all descriptors" timer -q -o close.db --rate 4000 --user -- "$victim" close 1000
check_json "… is recorded" "$SHARES" "$ASSAY" report --json close.db
check "one that blocks all signals" timer -q -o block.db --rate 4000 --user -- "$victim" block 1000
check_json "… is recorded" "$SHARES" "$ASSAY" report --json block.db
check_status 139 "one that dies by a signal" timer -o die.db --rate 4000 --user -- "$victim" die 1000
check "… is told" grep -q 'killed by signal 11' <<<"$err"
check_json "… and recorded until then, as partial" "$SHARES and 'signal 11' in d['summary']['partial']" "$ASSAY" report --json die.db
touch daemon.done.wait
check "one that becomes a daemon" timer -o daemon.db --rate 4000 -- "$victim" daemon 200 "$TMP/daemon.done"
check "… leaves a note" grep -q 'process.* still run' <<<"$err"
rm daemon.done.wait
wait_until test -s daemon.done
check_same "… and the daemon goes on to its end" "done" "$(cat daemon.done)"

check "call chains without frame pointers" timer -q -o deep.db --rate 4000 --user --call-graph=dwarf -- "$victim" deep 300
check_json "… are unwound" '((lambda p: sum(x["units"] for x in p) > 0)(d["series"][0]["path_times"])
    and (lambda names, f: all(n in names for n in ("outer_call", "middle_call", "inner_call")))([d["functions"][p["function"]]["name"] for p in d["paths"] if p["function"] is not None], 0))' \
    "$ASSAY" export --to=json deep.db
check_same "… completely" 1 "$(sqlite3 deep.db "WITH RECURSIVE up(leaf, id) AS (SELECT id, id FROM paths
    UNION ALL SELECT leaf, p.parent FROM up JOIN paths p ON p.id = up.id WHERE p.parent IS NOT NULL)
    SELECT (SELECT sum(units) FROM path_times WHERE path IN (SELECT leaf FROM up JOIN paths p ON p.id = up.id
    JOIN functions f ON f.id = p.function WHERE f.name = 'outer_call')) > 0.9 * (SELECT sum(units) FROM path_times)")"
# A library whose first address is not 0, as pieces of perf inject --jit have.
cat >far.c <<'END'
static volatile long x;
__attribute__((noinline)) long far_work(long n) { for (long i = 0; i < n; i++) x += i; return x; }
END
cat >near.c <<'END'
long far_work(long);
__attribute__((noinline)) long near_caller(void) { return far_work(100000000) + 1; }
int main(void) { return near_caller() == 42; }
END
link_far() { cc -O1 -fomit-frame-pointer -shared -fPIC -Wl,-Ttext-segment=0x200000 -o libfar.so far.c && cc -O1 -o near near.c -L. -lfar -Wl,-rpath,"$PWD"; }
check "a library that does not begin at 0" link_far
check "… is sampled" timer -q -o far.db --rate 500 --user --call-graph=dwarf -- ./near
check_json "… with its callers" 'any(r["function"] == "near_caller" and r["total"] > 0.9 * sum(x["time"] for x in d["rows"]) for r in d["rows"])' \
    "$ASSAY" report --json --limit 0 --sort total far.db
# Frames that a copy of the stack does not hold: frame pointers continue where it ends, without a frame too many or too few.
towers() { "$ASSAY" export --to=folded "$1" | python3 -c 'import re, sys
right = all_ = 0
for line in sys.stdin:
    names, units = line.rsplit(None, 1)
    names = re.sub(r"[.]\w+[.]\d+", "", names) # clones
    if re.search(r";tower_top(;|$)", names):
        all_ += int(units)
        right += int(units) if re.search(r"(^|;)main;(run_tall;)?(tower;){41}tower_top", names) else 0
print("all" if all_ and right > 0.9 * all_ else f"{right} of {all_}")'; }
check "call chains longer than the copy of the stack" timer -o tall.db --rate 2000 --user -- "$victim" tall 400
check "… are told" grep -q 'of the call chains have callers: .* % by unwind tables and then frame pointers' <<<"$(tr '\n' ' ' <<<"$err" | tr -s ' ')"
check_same "… and are right" all "$(towers tall.db)"
check_json "… as is the way that each was found" 'd["counters"]["chains_joined"] > 0.9 * d["counters"]["samples"] and any(q["key"] == "call_chains" and q["value"] > 0.9 for q in d["quality"])' "$ASSAY" export --to=json tall.db
timer -q -o tall-dwarf.db --rate 4000 --user --call-graph=dwarf -- "$victim" tall 400
check_same "… which the copies alone are not" 1 "$(sqlite3 tall-dwarf.db "SELECT value > 0.9 FROM quality WHERE key = 'cut_chains'")"
timer -q -o tall-large.db --rate 500 --user --call-graph=dwarf --stack-size=65528 -- "$victim" tall 400
check_same "… unless they are larger" 0 "$(sqlite3 tall-large.db "SELECT count(*) FROM quality WHERE key = 'cut_chains' AND value > 0.1")"
timer -q -o quick.db --rate 2001 --user -- "$victim" tall 100
check_same "… and what auto takes at higher rates, where copies would be lost" "0|1" "$(sqlite3 quick.db "SELECT (SELECT count(*) FROM counters WHERE name = 'stack_copies'),
    (SELECT count(*) FROM counters WHERE name = 'chains_by_frame_pointers')")"
check "no call chains" timer -q -o none.db --call-graph=none --rate 4000 -- "$victim" shares 500
check "… a flame graph is told that" "$ASSAY" export --to=folded -o none.folded none.db
check_same "… " "assay: the profile has no call paths: every stack is one function" "$err"
check_json "… none" 'd["paths"] == [] and d["series"][0]["path_times"] == []' "$ASSAY" export --to=json none.db
check "kernel time" timer -q -o kernel.db --rate 4000 -- dd if=/dev/zero of=/dev/null bs=1M count=8000
if [ "$(id -u)" = 0 ]; then
    check_json "… is the kernel's" 'sum(r["share"] for r in d["rows"] if r["module"] == "[kernel]") > 0.5' "$ASSAY" report --json --by module kernel.db
else
    skip "… is the kernel's" "only root may sample it"
fi
check "--period is nanoseconds" timer -q -o period.db --period 2000000 -- "$victim" shares 500
check_json "… made prime" 'abs(d["summary"]["period"] - 2000000) < 100' "$ASSAY" report --json period.db
check "a program too short for a sample" timer -o short.db --rate 1 -- true
check "… is told" grep -q 'there are no samples' <<<"$err"
check "… and reported" "$ASSAY" report short.db

# ---- the program's own --------------------------------------------------------------------------------------------
check_status 3 "the exit status is the program's" timer -q -o status.db -- sh -c 'echo out; echo err >&2; exit 3'
check_same "… stdout too" out "$out"
check_same "… and stderr" err "$err"
check_json "--json: one document" 'd["summary"]["source"] == "timer" and len(d["functions"]) == 3 and all(f["low"] < f["share"] < f["high"] for f in d["functions"])' timer --json -o json.db --rate 4000 -- sh -c "echo noise; i=0; while [ \$i -lt 100000 ]; do i=\$((i + 1)); done; '$victim' shares 300"
check_same "… the program's stdout goes to stderr" noise "$(grep -v '^assay' <<<"$err")"
stdin() { echo in | timer -q -o in.db -- cat; }
check_stdout_equals in "stdin is the program's" stdin
check_stdout_equals "$(sh -c 'set -- /proc/self/fd/*; echo $#')" "the program inherits no descriptor" timer -q -o fds.db -- sh -c 'set -- /proc/self/fd/*; echo $#'

# ---- attaching ----------------------------------------------------------------------------------------------------
# Whether a process has opened its events, which it does when it is ready to be interrupted.
samples() { find "/proc/$1/fd" -lname '*perf_event*' | grep -q .; }
runs() { [ "$(readlink "/proc/$1/exe")" = "$(readlink -f "$(command -v "$2")")" ]; }
set -m # background jobs get SIGINT
"$victim" threads 2 20000000 &
pid=$!
wait_until runs "$pid" "$victim"
check "a process that runs" record -o pid.db --pid "$pid" --duration 0.5 --rate 4000 --user
check_json "… its name, its source, and is not partial" '(d["summary"]["program"].endswith("/native_victim") and d["summary"]["source"] == "timer"
    and "auto: " in d["summary"]["source_why"] and d["summary"]["partial"] is None and d["summary"]["seconds"] > 0.4)' "$ASSAY" report --json pid.db
check_json "… and its threads their names" 'len(d["threads"]) >= 2 and all(t["name"] == "native_victim" for t in d["threads"])' "$ASSAY" export --to=json pid.db
check_json "… and their command line as its title" 'd["summary"]["title"] == "native_victim threads 2 20000000 (process '"$pid"')"' "$ASSAY" report --json pid.db
check "it goes on" kill -0 "$pid"
"$ASSAY" record -q -o int.db --pid "$pid" --rate 4000 --user &
recorder=$!
wait_until samples "$recorder"
works_on "$pid" native_victim 50
kill -INT "$recorder" 2>/dev/null
wait "$recorder"
check_same "Ctrl-C ends attaching" 0 $?
check_json "… and what was recorded is there: its shares" "$SHARES" "$ASSAY" report --json int.db
check "… the process goes on" kill -0 "$pid"
"$ASSAY" record -q -o killed.db --pid "$pid" &
recorder=$!
wait_until samples "$recorder"
kill -KILL "$recorder" 2>/dev/null
wait "$recorder" 2>/dev/null
check "… also where the recorder is killed" kill -0 "$pid"
check "… which leaves nothing" test ! -e killed.db
kill "$pid" 2>/dev/null
wait "$pid" 2>/dev/null
mkdir ending
"$victim" phases 0 ending &
pid=$!
wait_until test -e ending/idle.2
ends_while_recorded() {
    "$ASSAY" record -q -o ended.db --pid "$pid" --rate 4000 &
    wait_until samples $!
    touch ending/go.2 ending/go.3
    wait $!
}
check "a process that ends while it is recorded" ends_while_recorded
wait "$pid"
check_fails 125 'there is no process' "a process that is not there" record --pid 4194300
if [ "$(uname -m)" = x86_64 ] && [ -x "$WORKLOADS/demo-riscv64-static" ]; then
    check_fails 126 'is for riscv64, and this machine is x86_64: --source=model runs it' "another machine's program" \
        record --source=timer -- "$WORKLOADS/demo-riscv64-static"
fi

# ---- interrupted, killed ----------------------------------------------------------------------------------------------
"$ASSAY" record -q --source=timer -o interrupted.db --rate 4000 --user -- "$victim" shares 5000000 &
recorder=$!
wait_until samples "$recorder"
works_on "$recorder" native_victim 50
kill -INT "$recorder"
wait "$recorder"
check_same "an interrupt ends the program: the status" 130 $?
check_json "… what ran is there, marked" "$SHARES and 'signal 2' in d['summary']['partial']" "$ASSAY" report --json interrupted.db
"$ASSAY" record -q --source=timer -o stubborn.db --rate 4000 --user -- sh -c "trap '' INT; echo yes >trapped; exec '$victim' linger 15000 '$TMP/stubborn.done'" &
recorder=$!
wait_until test -s trapped
works_on "$recorder" native_victim 50
kill -INT "$recorder"
wait_until took_signal "$recorder" 2
kill -INT "$recorder"
wait "$recorder"
check_same "a second one ends the recording: the status" 130 $?
check_json "… what ran is there, marked" "$SHARES and 'interrupted' in d['summary']['partial']" "$ASSAY" report --json stubborn.db
"$ASSAY" record -q --source=timer -o gone.db -- sh -c "echo yes >lingers; exec '$victim' linger 8000 '$TMP/linger.done'" &
recorder=$!
wait_until test -s lingers
kill -KILL "$recorder"
wait "$recorder" 2>/dev/null
wait_until test -s linger.done
wait_until test -s stubborn.done
check_same "the recorder is killed: the program goes on" "done" "$(cat linger.done)"
check_same "… and one whose recording was ended" "done" "$(cat stubborn.done)"
check "… no profile appears" test ! -e gone.db

set +m

# ---- the whole machine ------------------------------------------------------------------------------------------------
check_fails 2 'cannot be used with --pid$' "the machine or a process" record --system-wide --pid 1
check_fails 2 'system-wide needs the pmu or timer source' "the model has one process" record --source=model --system-wide
if [ "$(id -u)" = 0 ]; then
    check "the whole machine, while a program runs" record -q --source=timer --system-wide -o wide.db -- "$victim" shares 300
    check_json "… is called that" 'd["summary"]["title"] == "system-wide during native_victim shares 300"' "$ASSAY" report --json wide.db
    check_json "… has the program, and all processors" '{r["command"] for r in d["rows"]} >= {"native_victim"}' "$ASSAY" report --by command --json wide.db
    "$victim" shares 1000000 &
    pid=$!
    wait_until runs "$pid" "$victim"
    check "… for a time, with what ran before" record -q --source=timer --system-wide --duration 0.5 -o second.db
    check_json "… is called so" 'd["summary"]["title"] == "system-wide" and 0.4 < d["summary"]["seconds"]' "$ASSAY" report --json second.db
    check_json "… every process is there" "any(r['process'] == $pid and r['command'] == 'native_victim' for r in d['rows'])" "$ASSAY" report --by process --json second.db
    check_json "… with its functions" 'any((r["module"] or "").endswith("native_victim") and not r["function"].startswith("[") for r in d["rows"])' "$ASSAY" report --json second.db
    check_same "… on as many processors as there are" "$(nproc --all)" "$("$ASSAY" report --by cpu --csv second.db | sed 1d | wc -l)"
    kill "$pid"
    wait "$pid" 2>/dev/null
else
    skip "the whole machine" "only root may sample it"
fi

# Started in the background by a script, which ignores SIGINT for it and the program: one interrupt ends the recording.
"$ASSAY" record -q --source=timer -o background.db --user -- "$victim" linger 15000 "$TMP/background.done" &
recorder=$!
wait_until samples "$recorder"
works_on "$recorder" native_victim 10
kill -INT "$recorder"
wait "$recorder"
check_same "an interrupt in the background: the status" 130 $?
# The program is sent the signal, too: whether it or the recording ends first depends on the host.
check "… and the profile is marked" grep -qE '^(interrupted by the user|the program was killed by signal 2)' \
    <<<"$(sqlite3 background.db "SELECT value FROM meta WHERE key = 'partial'")"

# ---- rights -----------------------------------------------------------------------------------------------------------
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null && [ "$(cat /proc/sys/kernel/perf_event_paranoid)" = 2 ]; then
    cp "$ASSAY" "$victim" . && chmod 755 . .. assay native_victim && mkdir -m 777 open
    # Locked memory is each user's, and other tests may run.
    nobody() { setpriv --reuid=$((2000000 + $$)) --regid=65534 --clear-groups "$@"; }
    check "another user, perf_event_paranoid 2" nobody ./assay record --source=timer -o open/n.db --rate 4000 -- ./native_victim shares 1000
    check "… is told that the kernel's time is missing" grep -q 'user mode only: perf_event_paranoid is 2' <<<"$err"
    check_json "… and has the shares" "$SHARES" "$ASSAY" report --json open/n.db
    small() { (ulimit -l 0 && nobody "$@"); }
    check "no locked memory" small ./assay record --source=timer -o open/s.db --rate 4000 --call-graph=dwarf -- ./native_victim deep 300
    check "… makes smaller buffers, and says so" grep -q 'buffers of .* KiB instead of 4096: perf_event_mlock_kb and ulimit -l allow no more' <<<"$err"
    ./native_victim shares 1000000 &
    pid=$!
    check_fails 125 'the whole machine needs root or CAP_PERFMON' "all users' processes" nobody ./assay record --system-wide --duration 1 -o open/w.db
    check_fails 125 'no permission to measure process' "another user's process" nobody ./assay record --pid "$pid" --duration 1 -o open/o.db
    kill "$pid"
    wait "$pid" 2>/dev/null
else
    skip "another user" "needs root and perf_event_paranoid 2"
fi

# ---- a part of the run -----------------------------------------------------------------------------------------------
# Nothing here depends on how long things take: the program waits without using processor time until Assay has said that
# it measures, or no longer does. Before the delay it works until a time that lies before the delay's end.
await() {
    local i
    for ((i = 0; i < 1200; i++)); do
        "$@" 2>/dev/null && return
        sleep 0.05
    done
    echo "waited in vain: $*" >&2
    return 1
}
says() { grep -q "measuring $1" part.err; }
# begin_phases UNTIL OPTION…: the program in the background, as $recorder
begin_phases() {
    rm -rf part && mkdir part
    "$ASSAY" record -v --rate 4000 -o part.db "${@:2}" -- "$victim" phases "$1" part 2>part.err &
    recorder=$!
}
delayed() {
    begin_phases "$(date -d '+1 second' +%s.%N)" "$@"
    await says starts && touch part/go.2 part/go.3 || kill "$recorder"
    wait "$recorder"
}
switched() {
    begin_phases 0 "$@"
    await test -e part/idle.2 && kill -USR2 "$recorder" && await says starts && touch part/go.2 &&
        await test -e part/idle.3 && kill -USR2 "$recorder" && await says stops && touch part/go.3 || kill "$recorder"
    wait "$recorder"
}
PHASES='(lambda names, q: %s and 0 < q["value"] < 1 and "%s" in q["text"])({r["function"] for r in d["rows"]}, next(q for q in d["summary"]["quality"] if q["key"] == "measured"))'
# shellcheck disable=SC2059 # the format is ours
phases() { printf "$PHASES" "$1" "$2"; }
after_first='"first_phase" not in names and {"second_phase", "third_phase"} <= names'
second='not {"first_phase", "third_phase"} & names and "second_phase" in names'
delays() { # a program that was not run from before its time until behind the delay's end is seen in its first phase
    check "--delay" delayed --source=timer --delay 1.5
    check_json "… what came before is not in the profile, what came then is" "$(phases "$after_first" "--delay 1.5")" "$ASSAY" report --json --limit 0 part.db
}
by_chance delays
check_same "… which says what it is of" "--delay 1.5" "$(sqlite3 part.db "SELECT value FROM meta WHERE key = 'region'")"
check_same "… and the elapsed time is that of the measured part" "$(sqlite3 part.db "SELECT text FROM quality WHERE key = 'measured'" | sed -n 's/.*): \([0-9.e+]*\) of .*/\1/p')" \
    "$(sqlite3 part.db "SELECT printf('%.3g', value) FROM meta WHERE key = 'seconds'")"
check "--switch-signal" switched --source=timer --switch-signal USR2
check_json "… only what lies between the signals is in the profile" "$(phases "$second" "in 1 piece")" "$ASSAY" report --json --limit 0 part.db
check "… of a software event" switched --source=pmu --event task-clock:u --switch-signal SIGUSR2
check_json "… the same" "$(phases "$second" "--switch-signal SIGUSR2")" "$ASSAY" report --json --limit 0 part.db
region_of_delays() {
    check "a region from a delay to a later one" delayed --source=timer --region delay:1.5..delay:1000
    check_json "… what came before is not in the profile, what came then is" "$(phases "$after_first" "delay:1.5..delay:1000")" "$ASSAY" report --json --limit 0 part.db
}
by_chance region_of_delays
check "a region between signals" switched --source=timer --region signal..signal
check_json "… only what lies between them is in the profile" "$(phases "$second" "signal..signal")" "$ASSAY" report --json --limit 0 part.db
attached_delayed() {
    rm -rf part && mkdir part
    "$victim" phases 0 part &
    local pid=$!
    await test -e part/idle.2
    "$ASSAY" record -v --pid "$pid" --delay 0.1 -o part.db 2>part.err &
    recorder=$!
    await says starts && touch part/go.2 part/go.3 || kill "$recorder" "$pid"
    wait "$pid" "$recorder"
}
check "--delay after attaching" attached_delayed
check_json "… is the same" "$(phases "$after_first" "--delay 0.1")" "$ASSAY" report --json --limit 0 part.db
check "a program that ends before the delay" timer -o never.db --delay 1000 -- "$victim" shares 10
check "… is told" grep -q 'no samples: the program ended before --delay (1000 s)$' <<<"$err"
check "one that no signal comes to" timer -o never.db --switch-signal USR1 -- "$victim" shares 10
check "… is told" grep -q 'no samples: the program ended before a signal came' <<<"$err"
check_fails 2 'allocations counts the whole run' "--allocations and a part" timer --allocations --delay 1 -o never2.db -- true

# At places of the program, which execution breakpoints find.
region() {
    rm -rf part && mkdir part && touch part/go.2 part/go.3
    "$ASSAY" record -q --rate 4000 -o part.db --source=timer "$@" -- "$victim" phases 0 part
}
if "$ASSAY" doctor --json | grep -q '4 hardware watchpoints per thread; one was fired'; then
    markers() {
        check "a region between markers" region --region marker:1..marker:2
        check_json "… has what lies between them" "$(phases "$second" "marker:1..marker:2")" "$ASSAY" report --json --limit 0 part.db
    }
    functions() {
        check "… between functions" region --from second_phase --to third_phase
        check_json "… the same" "$(phases "$second" "in 1 piece")" "$ASSAY" report --json --limit 0 part.db
    }
    to_a_marker() {
        check "… from the start to a marker" region --region ..marker:1
        check_json "… has what lies before" "$(phases '"first_phase" in names and not {"second_phase", "third_phase"} & names' "..marker:1")" "$ASSAY" report --json --limit 0 part.db
    }
    by_chance markers
    by_chance functions
    by_chance to_a_marker
    attached_region() {
        rm -rf part && mkdir part
        "$victim" phases 0 part &
        local pid=$!
        await test -e part/idle.2
        "$ASSAY" record -v --pid "$pid" --region marker:1..marker:2 -o part.db 2>part.err &
        recorder=$!
        await grep -q "attached to process" part.err && touch part/go.2 part/go.3 || kill "$recorder" "$pid"
        wait "$pid" "$recorder"
    }
    of_a_process() {
        check "… of a process that runs" attached_region
        check_json "… has what lies between its markers" "$(phases "$second" "marker:1..marker:2")" "$ASSAY" report --json --limit 0 part.db
    }
    by_chance of_a_process
    check_fails 125 'no_such is not in the program' "a function that is not there" timer --region no_such.. -o never2.db -- "$victim" shares 10
    check_no_strays "… and the program is not left behind"
    check_fails 125 'at 5 places, but the processor has 4' "more places than debug registers" \
        timer --region main..marker:1 --region first_phase..marker:2 --region second_phase.. -o never2.db -- "$victim" shares 10
else
    skip "regions at places of the program" "there are no four debug registers"
fi
check_fails 2 'counts of instructions or cycles need --source=model' "regions by count are the model's" timer --region 5M.. -o never2.db -- true
check_fails 2 'weight, warm, settle and mode need' "so are weights" timer --region marker..marker,weight=2 -o never2.db -- true
check_fails 2 'use USR1 or USR2' "a signal that means something else" timer --switch-signal ALRM -o never2.db -- true
check_fails 2 'delay=-1' "a delay that is none" timer --delay -1 -o never2.db -- true

# ---- what is forbidden or used up ------------------------------------------------------------------------------------
deny=$BUILD/tests/unit/native/deny_perf
if "$deny" EPERM true 2>/dev/null; then
    for error in EPERM EACCES; do
        check_fails 125 'perf_event_open is forbidden here .*seccomp filter has to allow it' "a container that forbids perf events: $error" \
            "$deny" "$error" "$ASSAY" record --source=timer -o denied.db -- touch denied
    done
    check_fails 125 'no perf events, or a container hides them' "one that hides them" "$deny" ENOSYS "$ASSAY" record --source=timer -o denied.db -- touch denied
    check_fails 125 'page-faults: out of file descriptors after 0' "no descriptor" "$deny" EMFILE "$ASSAY" record --source=pmu --event page-faults -o denied.db -- touch denied
    check_fails 125 'counters are in use' "a counter that is taken" "$deny" EBUSY "$ASSAY" record --source=pmu --event page-faults -o denied.db -- touch denied
    check "… nothing ran, nothing was written" test ! -e denied -a ! -e denied.db
    "$victim" shares 1000000 &
    pid=$!
    check_fails 125 "no permission to measure process $pid" "nor may a process be attached to" "$deny" EPERM "$ASSAY" record --pid "$pid" --duration 1 -o denied.db
    kill "$pid"
    wait "$pid" 2>/dev/null
    check "auto then takes the model" "$deny" EPERM "$ASSAY" record -q -o denied.db -- true
    check_json "… and says why" 'd["summary"]["source"] == "model" and d["summary"]["source_why"].startswith("auto: ")' "$ASSAY" report --json denied.db
    printf '3\n' >three
    paranoid3() { unshare -m sh -c 'mount --bind three /proc/sys/kernel/perf_event_paranoid && exec "$@"' sh "$@"; }
    if paranoid3 true 2>/dev/null; then # a stock kernel takes 3 as 2, Debian's refuses: what it would say
        check_fails 125 'perf_event_paranoid is 3: only root may measure' "perf_event_paranoid 3" paranoid3 "$deny" EACCES "$ASSAY" record --source=timer -o denied3.db -- true
    else
        skip "perf_event_paranoid 3" "no mount namespace here"
    fi
else
    skip "perf events are forbidden" "no seccomp filter can be set"
fi
few() { (ulimit -n 11 && "$@"); }
check_fails 125 '(out of file descriptors|Too many open files|cannot start)' "few descriptors" few "$ASSAY" record --source=pmu --event task-clock --event page-faults --event minor-faults \
    --event context-switches --event dummy -o few.db -- true
# shellcheck disable=SC2120
watched() { record --source=pmu --event mem:0x1000 --event mem:0x1008 --event mem:0x1010 --event mem:0x1018 "$@" -o watched.db -- true; }
if watched 2>/dev/null; then # four
    check_fails 125 'the debug registers are in use' "a fifth watchpoint" watched --event mem:0x1020
else
    skip "a fifth watchpoint" "there are no four debug registers"
fi

# ---- wrong usage, failures -------------------------------------------------------------------------------------------
check_fails 127 'absent' "a program that is not there" timer -- ./absent
check_fails 126 'Permission denied' "a file that cannot be run" timer -- /etc/passwd
check_fails 125 'absent/x.db' "a directory that is not there" timer -o absent/x.db -- touch ran
check "… nothing ran" test ! -e ran
check_fails 2 'max needs --source=model' "an option of the model" timer --max 100 -- true
check_fails 2 'pid needs the pmu or timer source' "one of the others with the model" record --source=model --pid 1
check_fails 2 "core needs --source=model, but --user" "options of both" record --core boom-tea2 --user -- true
check_fails 2 'either --pid or a program' "a program and a process" record --pid 1 -- true
check_fails 2 'duration is for --pid' "--duration without a process" timer --duration 1 -- true
check_fails 2 'at most 100000 samples a second' "a rate that no clock has" timer --rate 200000 -- true
check_fails 2 'at least 10000' "a period that no clock has" timer --period 9999 -- true
check_fails 2 'either --rate or --period' "rate and period" timer --rate 10 --period 1000000 -- true
check_fails 2 'rate=-1' "a negative rate" timer --rate -1 -- true
check_fails 2 'event is for --source=pmu' "an event of the timer" timer --event cycles -- true
check_fails 2 'the sources are auto, model, pmu, timer, and pmu:NAME' "an unknown source" record --source=x -- true
check_fails 125 'nonsense_event' "an unknown event" record --source=pmu --event nonsense_event -- true
if [ "$("$ASSAY" doctor --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["summary"]["source"])')" = pmu ]; then
    skip "no PMU" "there is one"
else
    check_fails 125 'PMU' "no PMU" record --source=pmu -o pmu.db -- true
    check_fails 125 'cycles cannot be sampled on this machine' "an event of one" record --source=pmu --event cycles -o pmu.db -- true
    check "auto takes the model" record -o auto.db --golden=off -- true
    check "auto takes the model, and names the timer" record -o auto.db -- true
    check "… in one line" grep -q 'this is the model; --source=timer' <<<"$err"
    check_json "… as doctor says" 'd["summary"]["source"] == "model" and d["summary"]["source_why"].startswith("auto: ")' "$ASSAY" report --json auto.db
    check "an option of the real machine takes that" record -q -o auto2.db --user -- true
    check_json "… by auto" 'd["summary"]["source"] == "timer"' "$ASSAY" report --json auto2.db
fi
check "software events, two at a time" record -q --source=pmu --event task-clock:u --event page-faults:u --rate 4000 -o events.db -- "$victim" shares 1000
check_json "… are series" '[s["name"] for s in d["series"]] == ["task-clock:u", "page-faults:u"] and d["series"][1]["samples"] > 0 and d["series"][0]["unit"] == "nanoseconds" and d["series"][1]["unit"] == "page-faults"' \
    "$ASSAY" export --to=json events.db
check_json "… with the shares" "$SHARES" "$ASSAY" report --json events.db

check "a period of software events" record -q --source=pmu --event page-faults:u --period 150 -o faults.db -- "$victim" faults 60000
check_json "… is kept" 'all(t["units"] == 149 * t["samples"] for t in d["series"][0]["times"]) and abs(sum(t["units"] for t in d["series"][0]["times"]) - 60000) < 2000' \
    "$ASSAY" export --to=json faults.db
check "a random one" record -q --source=pmu --event page-faults:u --period 150 --random -o random.db -- "$victim" faults 300000
check_json "… gives the same in the end" 'd["meta"]["random"] in (1, "1") and abs(sum(t["units"] for t in d["series"][0]["times"]) - 300000) < 30000' "$ASSAY" export --to=json random.db
check_fails 2 'random needs a --period of at least 100' "… needs one" record --source=pmu --event page-faults --random -- true

# ---- everything that reads a profile ----------------------------------------------------------------------------------
check "annotate" "$ASSAY" annotate seven_tenths shares.db
check "… shows the loop's line" grep -q 'native_victim.c:.*count--' <<<"$out"
check "report --html" "$ASSAY" report --html page.html shares.db
check "… a page" grep -q '</html>' page.html
for to in perf-script pprof speedscope folded callgrind csv json; do
    check "export --to=$to" "$ASSAY" export --to="$to" -o "out.$to" shares.db
    check "… is not empty" test -s "out.$to"
done
check "two such profiles are compared" "$ASSAY" report --diff threads.db shares.db

# ---- against perf -----------------------------------------------------------------------------------------------------
# Both sample one and the same run: it is stopped while they attach. What is left is chance, whatever else the machine
# does: five standard deviations of the difference of two samples, and one sample for functions that only one has seen.
agrees() {
    "$@" >/dev/null &
    local pid=$! theirs ours
    wait_until runs "$pid" "$1" && kill -STOP "$pid" || return 1
    perf record -q -F 4000 -e cpu-clock:u -p "$pid" -o perf.data >perf.log 2>&1 &
    theirs=$!
    "$ASSAY" record -q --source=timer --rate 4000 --user -o ours.db --pid "$pid" & # no function: its own pid is wanted
    ours=$!
    wait_until samples "$theirs" && wait_until samples "$ours" || return 1
    sleep 0.5 # for the last of their events, when some are there
    kill -CONT "$pid"
    wait "$pid"
    wait "$ours" && wait "$theirs" && "$ASSAY" import -q -o theirs.db perf.data || return 1
    "$ASSAY" report --json --limit 0 ours.db >ours.json && "$ASSAY" report --json --limit 0 theirs.db >theirs.json || return 1
    python3 - <<'END'
import json, math, sys
from collections import defaultdict
def read(name):
    document, shares = json.load(open(name)), defaultdict(float)
    for row in document["rows"]:
        shares[row["module"].rsplit("/", 1)[-1], row["function"]] += row["share"]
    return shares, document["summary"]["samples"]
(ours, n), (theirs, m) = read("ours.json"), read("theirs.json")
worst, bad = 0, 0
for key in ours.keys() | theirs.keys():
    p = (ours[key] * n + theirs[key] * m) / (n + m)
    limit = 5 * math.sqrt(p * (1 - p) * (1 / n + 1 / m)) + 1 / min(n, m)
    difference = abs(ours[key] - theirs[key])
    worst = max(worst, difference)
    bad += difference > limit
print(f"{n} and {m} samples, {len(ours)} and {len(theirs)} functions, largest difference {100 * worst:.2f} points")
sys.exit(bad > 0 or n < 200 or m < 200)
END
}
if command -v perf >/dev/null && perf record -q -e cpu-clock:u -o try.data -- true >/dev/null 2>&1; then
    seq 1 150000 >numbers
    seq 1 600000 >many
    for program in "gzip -9 -c many" "$victim threads 2 1500"; do
        read -ra words <<<"$program"
        as_perf() { check "as by perf record: ${words[0]##*/}" agrees "${words[@]}"; }
        by_chance as_perf # perf may lose samples
    done
    awk_as_perf() { check "as by perf record: awk" agrees awk '{ for (i = 0; i < 20; i++) s += length($0 i) } END { print s }' numbers; }
    by_chance awk_as_perf
else
    skip "agreement with perf record" "there is no perf, or it may not record"
fi

# ---- what it is called, how long it took -----------------------------------------------------------------------------
cp "$victim" stripped && strip stripped
check "a program without symbols" timer -q --rate 4000 -o stripped.db -- ./stripped shares 1000
check_json "… its functions are known by module and offset, as in the model" \
    'd["rows"][0]["function"].startswith("stripped+0x") and d["rows"][0]["share"] > 0.5 and d["rows"][1]["function"].startswith("stripped+0x")' "$ASSAY" report --json stripped.db
check "… and can be annotated by that" "$ASSAY" annotate "$("$ASSAY" report --csv --limit 1 stripped.db | tail -n 1 | grep -o 'stripped+0x[0-9a-f]*')" stripped.db
took() {
    for _ in 1 2 3 4 5 6; do
        timer -q -o took.db -- true && [ "$(sqlite3 took.db "SELECT (SELECT value FROM meta WHERE key = 'seconds') + 0.0 >=
            (SELECT value FROM counters WHERE name = 'task_clock_nanoseconds') / 1e9")" = 1 ] || return 1
    done
}
check "a short program took no less than its own time" took

check "frame pointers of a program without them" timer --rate 4000 --call-graph=fp -o fp.db -- "$WORKLOADS/demo" 4
check "… that they have no callers is said, and what helps" grep -q 'call-graph=dwarf unwinds it' <<<"$(tr '\n' ' ' <<<"$err" | tr -s ' ')"
check "… by an export of stacks, too" "$ASSAY" export --to=folded -o fp.folded fp.db
check "… which names the part" grep -q '^assay: [0-9.]* % of the call chains in user code have no caller' <<<"$err"
check "by default it has callers" timer --rate 2000 -o auto.db -- "$WORKLOADS/demo" 8
check "… by its unwind tables" grep -q 'of the call chains have callers: .* % by unwind tables' <<<"$err"
check_json "… nearly all" 'sum(q["value"] for q in d["quality"] if q["key"] == "lone_chains") < 0.2' "$ASSAY" export --to=json auto.db
check "… as --call-graph=dwarf" timer --rate 4000 --call-graph=dwarf -o dwarf.db -- "$WORKLOADS/demo" 4
check_same "… and nothing is said" 0 "$(grep -c 'frame pointers' <<<"$err")"

# ---- whole processors -----------------------------------------------------------------------------------------------
# Threads that end within a period have no sample of their own clock; the processors' clocks see them. What they cost is
# what the program used by itself; something else runs beside it and must not be in the profile.
check_fails 2 'is for --source=timer' "--processors with the pmu" record --source=pmu --event page-faults --processors -o x.db -- true
if timer -q --processors -o try.db -- true 2>try.err; then
    attached_processors() {
        "$victim" shares 10000000 &
        local pid=$! ours
        wait_until runs "$pid" "$victim"
        "$ASSAY" record -q --pid "$pid" --processors -o pid.db >&2 &
        ours=$!
        wait_until samples "$ours"
        works_on "$pid" native_victim 50
        kill -INT "$ours"
        wait "$ours"
        kill "$pid"
        wait "$pid" 2>/dev/null
        "$ASSAY" report --json pid.db
    }
    holds_time() { python3 -c 'import sys
sampled, samples, used = (float(x) for x in sys.argv[1:])
# A quarter for what starting and ending a thread costs, which the two count differently, and five standard deviations.
sys.exit(f"{sampled} s sampled, {used} s used" if abs(sampled / used - 1) > 0.25 + 5 / samples ** 0.5 else 0)' "$(sqlite3 short.db 'SELECT sum(units) / 1e9 FROM times')" "$(sqlite3 short.db 'SELECT sum(samples) FROM times')" "$(cut -d' ' -f2 used)"; }
    processors() {
        "$victim" shares 10000000 &
        beside=$!
        check "10,000 short threads, by the processors' clocks" "$ASSAY" record -q --source=timer --rate 2000 --processors -o short.db -- "$victim" time used "$victim" short 10000
        kill "$beside" 2>/dev/null
        wait "$beside" 2>/dev/null
        check "… have their time" holds_time
        check "… all of them" test "$(sqlite3 short.db "SELECT value FROM counters WHERE name = 'threads'")" -ge 10001
        check_same "… and nobody else's" 0 "$(sqlite3 short.db "SELECT count(*) FROM functions WHERE name = 'seven_tenths'")"
        check "children too" timer -q --rate 4000 --processors -o forks.db -- sh -c 'for i in 1 2 3 4 5 6 7 8 9 10; do "$0" shares 30; done' "$victim"
        check "… ten and the shell" test "$(sqlite3 forks.db "SELECT count(DISTINCT process) FROM threads")" -ge 10
        check_json "a process that runs" 'd["summary"]["samples"] > 50 and d["rows"][0]["function"] == "seven_tenths"' attached_processors
    }
    by_chance processors
else
    skip "whole processors" "$(tail -n 1 try.err)"
fi

check_no_strays "nothing is left behind" 30
