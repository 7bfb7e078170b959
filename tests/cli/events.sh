#!/usr/bin/env bash
# Programs that meet each event of the TEA paper, alone and with others, a known number of times (workloads/events).
# plain-only: it is numbers; sanitized.sh counts all events under sanitizers
DEFAULT_CORE=boom-tip
. "$(dirname "$0")/lib.sh"

table=$SOURCE/workloads/events/event_answers.table
answers() { python3 "$SOURCE/tests/cli/event_answers.py" "$table" "$@"; }

check "the counting observer builds" \
    cc -O2 -Wall -Wextra -shared -fPIC -I "$SOURCE/include" "$SOURCE/tests/cli/event_counter.c" -o "$TMP/counter.so"

# known_events PROGRAM: all that differs is printed. In one run, the observer counts combinations of events (to stderr), and
# the cycle stacks say what they took.
known_events() {
    local differences program=$WORKLOADS/events/$1
    run "$ASSAY" compare -q --core boom-tea --samplers tea --pics _start --json --observer "$TMP/counter.so" \
        -o "$TMP/stacks" -- "$program"
    if [ "$status" -ne 0 ]; then
        report "$1" "expected status 0"
        return
    fi
    if differences=$(answers counts "$1" "$program" "$LOGS/err" 2>&1); then
        pass "$1: so many executions met these events"
    else
        fail "$1: so many executions met these events" "$differences"
    fi
    if differences=$(answers stacks "$1" "$program" "$TMP/stacks" 2>&1); then
        pass "$1: its cycle stacks have these components"
    else
        fail "$1: its cycle stacks have these components" "$differences"
    fi
}

programs=$(answers list) || exit 1
check "the table names programs" test -n "$programs"
for program in $programs; do
    if [ -x "$WORKLOADS/events/$program" ]; then
        known_events "$program"
    elif [[ $program = rv-* ]] && ! command -v riscv64-linux-gnu-gcc >/dev/null; then
        skip "$program" "no RISC-V cross compiler (gcc-riscv64-linux-gnu)"
    else
        fail "$program" "not built: $WORKLOADS/events/$program"
    fi
done
