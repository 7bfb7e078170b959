#!/usr/bin/env bash
# The table of known answers itself, held against the processor: the smaller x86-64 programs, single-stepped.
# plain-only: it runs no code of Assay's
# time-limit: 300
. "$(dirname "$0")/lib.sh"

table=$SOURCE/workloads/known/known_answers.table
known() { python3 "$SOURCE/tests/cli/known_answers.py" "$table" "$@"; }
stepcount=$WORKLOADS/known/stepcount

if [ ! -x "$stepcount" ]; then
    skip "stepping" "not an x86-64 machine"
    exit 0
fi
if ! "$stepcount" "$WORKLOADS/known/x86-load-1" >/dev/null 2>"$TMP/why"; then
    skip "stepping" "cannot trace here: $(cat "$TMP/why")"
    exit 0
fi
has_avx2=$(grep -cm1 '\bavx2\b' /proc/cpuinfo)

# A step costs tens of microseconds in a virtual machine: of each family the shortest program, and all others that are short.
programs=$(known small x86- 3000)
check "there are small programs" test "$(wc -w <<<"$programs")" -ge 60
mkdir counts
for program in $programs; do
    if [[ $program =~ gather|load-32|store-32 ]] && [ "$has_avx2" = 0 ]; then
        skip "$program" "no AVX2"
        continue
    fi
    run "$stepcount" "$WORKLOADS/known/$program"
    if [ "$status" -ne 0 ]; then report "$program" "expected status 0"; else cp "$LOGS/out" "counts/$program"; fi
done
compared=0
while IFS=$'\t' read -r program differences; do
    check_same "$program" "" "$differences"
    compared=$((compared + 1))
done < <(known compare-steps counts)
check_same "all were compared" "$(find counts -type f | wc -l)" "$compared"
