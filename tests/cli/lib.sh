# shellcheck shell=bash
# Helpers for the command-line tests. A test is an executable bash script tests/cli/NAME.sh:
#
#   #!/usr/bin/env bash
#   # What this file tests, in a line or two.
#   . "$(dirname "$0")/lib.sh"
#
#   check "stat counts" "$ASSAY" stat -- true                         # passes when the command ends with status 0
#   check_status 127 "a missing program" "$ASSAY" stat -- ./absent    # … with exactly this status
#   check_stdout_equals "hello" "output passes" "$ASSAY" stat -q -- echo hello
#   check_stderr_line 'not found' "says so" "$ASSAY" stat -- ./absent # stderr is ONE line, and it matches this regex
#   check_same "exit status" 3 "$status"                              # two strings are equal
#   check_json "counts" 'd["instructions"] > 1000' "$ASSAY" stat --json -- true   # a Python expression over stdout
#   holds "as much" 'near(d[0]["cycles"], d[1]["cycles"])' a.json b.json  # over files: `d` the only one, or the list
#   check_golden NAME "script of loop" "$ASSAY" script -- "$WORKLOADS/loop"       # stdout equals tests/golden/NAME
#   check_same "exact" golden "$(one a.db "SELECT …")"                # the first value of a query of a profile
#   skip "on the PMU" "no PMU here"
#   wait_until test -s started                                        # three minutes at most; for programs in the background
#   check_no_strays "nothing left behind"                             # no process of this test is still alive
#
#   by_chance FUNCTION                                                # checks of what samples hit, or of how threads met
#
# What there is: $ASSAY the program under test; $RECORDER the same, to make profiles with that it then reads (where $ASSAY is of
# the sanitizer build, of the plain one, which takes a third of the time); $BUILD its build directory, $WORKLOADS where the
# plain build puts the workloads, $STATIC those that are linked statically, which take a third of the time of the others to start, and
# among them `nothing`; $SOURCE the source tree, $TMP an empty directory that is also the working directory and goes away at the
# end. After each check, $out and $err hold what the command printed and $status how it ended. Standard input of
# commands is /dev/null unless the caller redirects it (check … <file does). A function works as a command:
#   piped() { echo in | "$ASSAY" stat -q -- cat; };  check_stdout_equals in "stdin passes" piped
#
# Each check prints one TAP line ("ok 3 - name"), a failed one is followed by what was expected and seen ("# …"). The
# plan comes at the end; a script that dies half-way, or whose last command fails, is a failure. Under scripts/test,
# each script also has a time limit (default 120 s; a comment line "# time-limit: 300" in the script sets its own).
# UPDATE_GOLDEN=1 rewrites golden files; SHOW_COSTS=1 prints behind each check the seconds of processor time, and those of the
# clock, since the one before it; STOP_AT_FAILURE=1 ends a script at its first failure.

set -u
exec </dev/null

# Programs find the same variables wherever a test runs (same_size makes them as long): the stack begins behind them, and where it
# lies decides what caches and predictors of the model do. What a caller may set is kept.
same_variables() {
    local name
    for name in $(compgen -e); do
        case $name in
        PATH | HOME | TMPDIR | ASSAY | RECORDER | SANITIZED | ASAN_OPTIONS | UBSAN_OPTIONS) ;;
        UPDATE_GOLDEN | SHOW_COSTS | STOP_AT_FAILURE | FUZZ_SECONDS | DECODE_ALL | SLURM_PLUGINS | KEEP) ;;
        *) unset "$name" ;;
        esac
    done
    export HOME=${HOME:-/} TMPDIR=${TMPDIR:-/tmp} SANITIZED=${SANITIZED-} ASAN_OPTIONS=${ASAN_OPTIONS-} UBSAN_OPTIONS=${UBSAN_OPTIONS-}
}
# Paths of the build are in the environment of a program from there, too, as its name, and in `_`.
same_size() {
    local size
    export ASSAY_TEST_PADDING=''
    size=$(($(env -u _ -0 | wc -c) + ${#ASSAY} + 2 * (${#WORKLOADS} - 10)))
    ASSAY_TEST_PADDING=$(printf '%*s' $((size < 6144 ? 6144 - size : 0)) '')
}
[ -n "${any_environment-}" ] || same_variables

SOURCE=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
ASSAY=${ASSAY:-$SOURCE/build/assay}
[ -x "$ASSAY" ] || { echo "Bail out! $ASSAY is not there: build first (ninja -C build)" && exit 1; }
ASSAY=$(cd "$(dirname "$ASSAY")" && pwd)/$(basename "$ASSAY")
RECORDER=${RECORDER:-$ASSAY}
export -n RECORDER
BUILD=$(dirname "$ASSAY")
# A sanitizer build has no workloads: they would be the same.
WORKLOADS=$(dirname "$RECORDER")/workloads
[ -d "$WORKLOADS/static" ] || WORKLOADS=$SOURCE/build/workloads
STATIC=$WORKLOADS/static
export ASSAY BUILD WORKLOADS STATIC SOURCE LC_ALL=C

TMP=$(mktemp -d "${TMPDIR:-/tmp}/assay-test.XXXXXX") || exit 1
LOGS=$(mktemp -d "${TMPDIR:-/tmp}/assay-test-logs.XXXXXX") || exit 1
# Every process that a test starts inherits this mark; check_no_strays looks for it.
export ASSAY_TEST_MARK=$LOGS
# Results do not depend on the processor of this machine: the core where --core is not given.
export ASSAY_CORE=${DEFAULT_CORE:-boom-tea}
# Nor does what is printed depend on how long a run takes.
export ASSAY_PROGRESS=0
# Nor do names and lines depend on the debug files that are installed. The C library's take a fifth of a short recording to unpack.
export ASSAY_DEBUG_PATH=
cd "$TMP" || exit 1
[ -n "${any_environment-}" ] || same_size
tap_count=0 tap_failed=0 out='' err='' status=0

finish() {
    local ended=$?
    trap - EXIT
    cd /
    [ ! -e "$LOGS/judge" ] || { kill "$(<"$LOGS/judge")" && wait "$(<"$LOGS/judge")"; } 2>/dev/null
    chmod -R u+rwX "$TMP" 2>/dev/null
    rm -rf "$TMP" "$LOGS"
    if [ "$ended" -ne 0 ]; then
        echo "not ok $((tap_count + 1)) - the script ran to its end (it ended with status $ended)"
        echo "1..$((tap_count + 1))"
        exit 1
    fi
    echo "1..$tap_count"
    exit $((tap_failed > 0))
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# The processor time of all commands so far (`times` prints it on its second line), and the time.
tap_spent="0 $EPOCHREALTIME"
show_cost() {
    local spent
    spent=$(awk -v now="$EPOCHREALTIME" 'NR == 2 { gsub(/[ms]/, " "); print $1 * 60 + $2 + $3 * 60 + $4, now }' "$LOGS/times")
    awk -v name="$1" '{ printf "# %.2f cpu, %.1f s: %s\n", $1 - $3, $2 - $4, name }' <<<"$spent $tap_spent"
    tap_spent=$spent
}

pass() {
    tap_count=$((tap_count + 1))
    echo "ok $tap_count - $1"
    [ -z "${SHOW_COSTS:-}" ] || { builtin times >"$LOGS/times" && show_cost "$1"; }
}

# fail NAME LINE…: the lines tell what was expected and seen.
fail() {
    tap_count=$((tap_count + 1)) tap_failed=$((tap_failed + 1))
    echo "not ok $tap_count - $1"
    shift
    printf '%s\n' "$@" | head -c 20000 | sed 's/^/# /;$a\'
    [ -z "${STOP_AT_FAILURE:-}" ] || exit 1
}

skip() {
    tap_count=$((tap_count + 1))
    echo "ok $tap_count - $1 # SKIP $2"
}

# by_chance FUNCTION…: runs a part of a test whose checks hold for nearly every recording, but not for each: samples may fall
# elsewhere, and threads of a busy machine may not meet. A part that fails is recorded again, five times in all; what is wrong
# fails each time. The checks of the last time count, the failures of the others are shown as remarks. FUNCTION makes the
# recordings and all checks of them.
by_chance() {
    local count=$tap_count failed=$tap_failed try STOP_AT_FAILURE=''
    for try in 1 2 3 4 5; do
        tap_count=$count tap_failed=$failed
        "$@" >"$LOGS/part"
        [ "$tap_failed" -gt "$failed" ] && [ "$try" -lt 5 ] || break
        echo "# $1, try $try:"
        grep -vE '^ok ' "$LOGS/part" | sed 's/^/#   /'
    done
    cat "$LOGS/part"
}

# ticks_of PID COMMAND: the processor time, in ticks of 1/100 s, of the process PID or a child of it that runs COMMAND.
ticks_of() {
    cat /proc/[0-9]*/stat 2>/dev/null | awk -v pid="$1" -v command="($2)" '
        $2 == command && ($1 == pid || $4 == pid) { n += $14 + $15 } END { print n + 0 }'
}

# works_on PID COMMAND TICKS: waits until it has used so much processor time more, however long the machine takes for that.
works_on() {
    local until=$(($(ticks_of "$1" "$2") + $3))
    has_worked() { [ "$(ticks_of "$1" "$2")" -ge "$3" ]; }
    wait_until has_worked "$1" "$2" "$until"
}

# took_signal PID NUMBER: whether it has taken all signals of this number that were sent to it. A second one is its own only then.
took_signal() {
    local pending
    for pending in $(sed -n 's/^S[ih][gd]Pnd:[[:space:]]*/0x/p' "/proc/$1/status" 2>/dev/null); do
        [ $((pending >> ($2 - 1) & 1)) = 0 ] || return 1
    done
}

# A script for sh: its run number $1, counted in the file `runs`, sends the signal $2 to Assay, and would go on for ever.
# shellcheck disable=SC2016,SC2034 # for that sh; used where this is read
INTERRUPTING='echo >>runs; n=0
    while read -r _; do n=$((n + 1)); done <runs
    [ $n != "$1" ] || { kill -"$2" $PPID; while :; do :; done; }'

# Runs a command; sets out, err, status. NUL bytes in the output are dropped.
run() {
    "$@" >"$LOGS/out" 2>"$LOGS/err"
    status=$?
    { out=$(<"$LOGS/out") && err=$(<"$LOGS/err"); } 2>/dev/null # bash would tell of the NUL bytes
}

report() {
    fail "$1" "$2" "status: $status" "stdout: $out" "stderr: $err"
}

check() {
    local name=$1
    shift
    run "$@"
    if [ "$status" -eq 0 ]; then pass "$name"; else report "$name" "expected status 0 of: $*"; fi
}

check_status() {
    local want=$1 name=$2
    shift 2
    run "$@"
    if [ "$status" -eq "$want" ]; then pass "$name"; else report "$name" "expected status $want of: $*"; fi
}

check_stdout_equals() {
    local want=$1 name=$2
    shift 2
    run "$@"
    if [ "$out" = "$want" ]; then pass "$name"; else report "$name" "expected stdout: $want"; fi
}

check_stderr_line() {
    local want=$1 name=$2
    shift 2
    run "$@"
    if [ "$(wc -l <"$LOGS/err")" -eq 1 ] && [[ $err =~ $want ]]; then
        pass "$name"
    else
        report "$name" "expected one line on stderr that matches: $want"
    fi
}

# A message and a status together: what most tests of bad input want.
check_fails() {
    local want_status=$1 want=$2 name=$3
    shift 3
    run "$@"
    if [ "$status" -eq "$want_status" ] && [ "$(wc -l <"$LOGS/err")" -eq 1 ] && [[ $err =~ $want ]]; then
        pass "$name"
    else
        report "$name" "expected status $want_status and one line on stderr that matches: $want"
    fi
}

check_same() {
    if [ "$2" = "$3" ]; then pass "$1"; else fail "$1" "expected: $2" "seen: $3"; fi
}

# judge EXPRESSION FILE…: whether it is true (judge.py; $HOLDS is more Python for it); $judged says what it is otherwise.
judged=''
judge() {
    local expression=$1
    shift
    if [ ! -e "$LOGS/judge" ]; then
        mkfifo "$LOGS/ask" "$LOGS/answer"
        # No stray; -IS: nothing but the language. It is a job of this shell: a bare `wait` would wait for it forever.
        env -u ASSAY_TEST_MARK python3 -IS "$SOURCE/tests/cli/judge.py" "$LOGS/ask" "$LOGS/answer" >/dev/null &
        echo $! >"$LOGS/judge"
    fi
    printf '%s\0' "$PWD" "$expression" "${HOLDS-}" "$@" >"$LOGS/ask"
    IFS= read -r -d '' judged <"$LOGS/answer"
    [ "$judged" = True ]
}

# The document must be all of stdout; `d` is it. The expression must be true.
check_json() {
    local name=$1 expression=$2
    shift 2
    run "$@"
    if judge "$expression" "$LOGS/out"; then pass "$name"; else report "$name" "$judged"; fi
}

# holds NAME EXPRESSION FILE…
holds() {
    local name=$1
    shift
    if judge "$@"; then pass "$name"; else fail "$name" "$judged"; fi
}

# estimates_truth ESTIMATE.json TRUTH.json: reports of a sampled run and of a whole one, by function
estimates_truth() {
    holds "cycles are near the truth" 'abs(d[0]["summary"]["cycles"] / d[1]["summary"]["cycles"] - 1) < 0.05' "$1" "$2"
    holds "an interval is claimed" '0 <= d["summary"]["error_estimate"] < 0.5 and not d["summary"]["exact"]' "$1"
    holds "shares are near the truth" 'max(abs(a["share"] - b["share"]) for a in d[0]["rows"] for b in d[1]["rows"] if a["function"] == b["function"]) < 0.03' "$1" "$2"
}

check_golden() {
    local golden=$SOURCE/tests/golden/$1 name=$2
    shift 2
    run "$@"
    if [ "${UPDATE_GOLDEN:-}" = 1 ]; then
        mkdir -p "$(dirname "$golden")" && cp "$LOGS/out" "$golden"
    fi
    local difference
    if difference=$(diff -u "$golden" "$LOGS/out" 2>&1); then
        pass "$name"
    else
        report "$name" "$difference"
    fi
}

# one PROFILE QUERY: the first value that it answers, as Python writes it: None where there is none.
one() { sqlite3 -readonly -nullvalue None "$1" "$2" | head -n 1; }

# wait_until COMMAND…: tries it ten times a second until it succeeds, for three minutes at most. A busy machine takes its time:
# wait for what has happened, and not for seconds.
wait_until() {
    local waited=0
    until "$@" >/dev/null 2>&1; do
        [ "$waited" -lt 1800 ] || return 1
        sleep 0.1
        waited=$((waited + 1))
    done
}

# Processes that carry this test's mark, this shell and its children of the moment aside.
strays() {
    local dir pid
    for dir in /proc/[0-9]*; do
        pid=${dir#/proc/}
        [ "$pid" = $$ ] || [ "$pid" = "$BASHPID" ] && continue
        if grep -qzx "ASSAY_TEST_MARK=$ASSAY_TEST_MARK" "$dir/environ" 2>/dev/null; then
            # A zombie is dead already: its parent has not looked yet.
            [ "$(sed -n 's/^State:[[:space:]]*\(.\).*/\1/p' "$dir/status" 2>/dev/null)" = Z ] && continue
            echo "$pid $(tr '\0' ' ' <"$dir/cmdline" 2>/dev/null)"
        fi
    done
}

# Processes may take a moment to end: waits up to thirty seconds (or $2). What is left then is killed and a failure.
check_no_strays() {
    local left waited=0 limit=$((${2:-30} * 10))
    while left=$(strays) && [ -n "$left" ] && [ "$waited" -lt "$limit" ]; do
        sleep 0.1
        waited=$((waited + 1))
    done
    if [ -z "$left" ]; then
        pass "$1"
    else
        fail "$1" "still running:" "$left"
        local pid rest
        while read -r pid rest; do kill -KILL "$pid" 2>/dev/null; done <<<"$left"
    fi
}
