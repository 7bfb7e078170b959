#!/usr/bin/env bash
# Programs whose counts are known to the unit: `assay stat` must agree in every field (workloads/known).
# plain-only: the same code as stat, which runs under sanitizers; here it is numbers
# time-limit: 300
DEFAULT_CORE=boom-tip
. "$(dirname "$0")/lib.sh"

table=$SOURCE/workloads/known/known_answers.table
known() { python3 "$SOURCE/tests/cli/known_answers.py" "$table" "$@"; }

# known_answer PROGRAM: its counts, to be compared with all others at the end.
mkdir counts
known_answer() {
    run "$ASSAY" stat --json -o "counts/$1" -- "$WORKLOADS/known/$1"
    if [ "$status" -ne 0 ]; then
        report "$1" "expected status 0"
        rm -f "counts/$1"
    fi
}

for prefix in x86- rv-; do
    programs=$(known list "$prefix") || exit 1
    check "the table names $prefix programs" test -n "$programs"
    for program in $programs; do
        if [ -x "$WORKLOADS/known/$program" ]; then
            known_answer "$program"
        elif [ "$prefix" = rv- ] && ! command -v riscv64-linux-gnu-gcc >/dev/null; then
            skip "$program" "no RISC-V cross compiler (gcc-riscv64-linux-gnu)"
        else
            fail "$program" "not built: $WORKLOADS/known/$program"
        fi
    done
done

# One case each; all fields that differ are printed.
compared=0
while IFS=$'\t' read -r program differences; do
    check_same "$program" "" "$differences"
    compared=$((compared + 1))
done < <(known compare counts)
check_same "all were compared" "$(find counts -type f | wc -l)" "$compared"

# The threads' numbers: in order of appearance from 1, and the first thread is the one that starts the others.
check_json "threads are numbered from 1" '[t["thread"] for t in d["by_thread"]] == [1, 2, 3, 4]' \
    "$ASSAY" stat --json -- "$WORKLOADS/known/x86-threads-3"
check_json "the processes of a fork" '[t["process"] for t in d["by_thread"]] == [1, 2, 3, 4, 5, 6]' \
    "$ASSAY" stat --json -- "$WORKLOADS/known/x86-fork"

# Counts by function: 1000 times three frames (dec, jz, ret) with two calls, and _start's loop.
check_json "functions of a call loop" \
    '{f["function"]: f["instructions"] for f in d["functions"]} == {"function": 11000, "_start": 4005}' \
    "$ASSAY" stat --json -- "$WORKLOADS/known/x86-call-nested"

check_no_strays "no process is left"
