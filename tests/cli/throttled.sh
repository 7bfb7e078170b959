#!/usr/bin/env bash
# assay record where the kernel throttles: samples that it did not take are counted, and told.
# plain-only: what it says is the same in both builds
# alone: it lowers a limit of the kernel for a moment, which others would notice
. "$(dirname "$0")/lib.sh"

victim=$BUILD/tests/unit/native/native_victim
rate=/proc/sys/kernel/perf_event_max_sample_rate
if [ "$(id -u)" = 0 ] && [ -w "$rate" ] && before=$(cat "$rate"); then
    ended=0
    trap 'ended=$?; echo "$before" >"$rate"; (exit "$ended"); finish' EXIT
    echo 1000 >"$rate"
    check "a kernel that throttles" "$ASSAY" record --source=timer -o throttled.db --rate 20000 --user -- "$victim" shares 1000
    echo "$before" >"$rate"
    trap finish EXIT
    check "… is told" grep -q 'kernel stopped the sampling .* times (kernel.perf_event_max_sample_rate)' <<<"$err"
    check_json "… and counted" 'd["summary"]["throttled"] > 5' "$ASSAY" report --json throttled.db
    check_same "… the limit is as before" "$before" "$(cat "$rate")"
else
    skip "throttling" "only root can provoke it"
fi
