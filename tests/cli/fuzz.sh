#!/usr/bin/env bash
# A short run of every fuzz target: it compiles, its seeds pass, and nothing is found in 2000 inputs or a second. Longer runs are
# made by hand (FUZZ_SECONDS=60 tests/cli/fuzz.sh).
# plain-only: fuzz targets are built with their own sanitizers, whatever the build
# time-limit: 400
. "$(dirname "$0")/lib.sh"

# Not in the build tree: a test starts from the committed seeds alone. Only objects stay, as what is compiled in a build does.
export FUZZ_DIR=$TMP/fuzz FUZZ_OBJECTS=$BUILD/fuzz-objects
seconds=${FUZZ_SECONDS:-1}
export FUZZ_OPTIMIZE=$((seconds > 20)) # to compile takes longer than a short run

# fuzz TARGET: the run must also have done something, if only read the seeds where the machine is busy.
fuzz() {
    local target=$1 runs seeds most=()
    seeds=$(find "$SOURCE/fuzz/corpus/$target" -type f | wc -l)
    [ -n "${FUZZ_SECONDS:-}" ] || most=("-runs=$((seeds + 2000))")
    run "$SOURCE/fuzz/run.sh" "$target" "$seconds" ${most[@]+"${most[@]}"}
    if [ "$status" -eq 77 ]; then
        skip "fuzzing $target" "$err"
        return
    fi
    runs=$(sed -n 's/^stat::number_of_executed_units: *//p' <<<"$err")
    if [ "$status" -eq 0 ] && [ "${runs:-0}" -ge "$seeds" ]; then
        pass "fuzzing $target for $seconds s finds nothing ($runs inputs)"
    else
        fail "fuzzing $target for $seconds s finds nothing" "status: $status, inputs: ${runs:-none}" "$(tail -n 40 <<<"$err")"
    fi
}

for target in $(sed -n 's/^\([a-z0-9_]*\):.*/\1/p' "$SOURCE/fuzz/targets.txt"); do
    fuzz "$target"
    check "$target has seeds" test -n "$(ls "$SOURCE/fuzz/corpus/$target")"
done
