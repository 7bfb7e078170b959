#!/usr/bin/env bash
# Programs that meet each event of the TEA paper, alone and with others, a known number of times (workloads/events).
. "$(dirname "$0")/lib.sh"

table=$SOURCE/workloads/events/event_answers.table
answers() { python3 "$SOURCE/tests/cli/event_answers.py" "$table" "$@"; }

check "the counting observer builds" \
    cc -O2 -Wall -Wextra -shared -fPIC -I "$SOURCE/include" "$SOURCE/tests/cli/event_counter.c" -o "$TMP/counter.so"

# known_events PROGRAM: all combinations that differ are told.
known_events() {
    local differences program=$WORKLOADS/events/$1
    run "$ASSAY" compare -q --core boom-tea --samplers tip --top 1 --observer "$TMP/counter.so" -o "$TMP/met" -- "$program"
    if [ "$status" -ne 0 ]; then
        report "$1" "expected status 0"
    elif differences=$(answers counts "$1" "$program" "$TMP/met" 2>&1); then
        pass "$1"
    else
        fail "$1" "$differences" "stderr: $err"
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
