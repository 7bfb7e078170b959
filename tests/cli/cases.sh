#!/usr/bin/env bash
# The case studies of the papers, on programs of our own with the same disease (doc/cases).
# plain-only: it is numbers; sanitized.sh runs compare and whatif under sanitizers
# time-limit: 180
DEFAULT_CORE=boom-tip
. "$(dirname "$0")/lib.sh"

with=$WORKLOADS/rounding-riscv64 without=$WORKLOADS/rounding-noflags-riscv64
if [ ! -x "$with" ]; then
    skip "rounding: the flags" "no RISC-V cross compiler (gcc-riscv64-linux-gnu)"
    exit 0
fi
"$ASSAY" compare -q --json --top 6 -o "$TMP/with" -- "$with" 60 >/dev/null
"$ASSAY" compare -q --json --top 6 -o "$TMP/without" -- "$without" 60 >/dev/null
check_case() { # NAME EXPRESSION, where `a` is the run with the flags and `b` the one without
    check "$1" python3 -c "
import json, sys
a, b = json.load(open('$TMP/with')), json.load(open('$TMP/without'))
flags = [row for row in a['rows'] if row['text'].split()[0] in ('frflags', 'fsflags')]
share = lambda name: sum(row['samplers'][name] for row in flags)
truth = sum(row['share'] for row in flags)
sys.exit(not ($2))"
}
check_case "rounding: flush-intensive with the flags" 'a["class"] == "flush" and b["class"] != "flush"'
check_case "rounding: the Oracle puts the flags first" '[row["text"].split()[0][-5:] for row in a["rows"][:4]] == ["flags"] * 4'
check_case "rounding: TIP names them" 'abs(share("tip") - truth) < 0.02'
check_case "rounding: NCI blames their neighbours" 'share("nci") < 0.6 * truth'
check_case "rounding: without them at least 1.5 times as fast" 'a["cycles"] / b["cycles"] >= 1.5'
