#!/usr/bin/env bash
# assay remedy: a function with nops does the same, and its equal loads get equal numbers of samples.
# sanitized-only: its checks are the same in both builds
. "$(dirname "$0")/lib.sh"

cat >hot.c <<'END'
#include <stdio.h>
volatile int cell;
__attribute__((noinline)) int hot(int n)
{
    while (n--) {
        (void)cell;
        (void)cell;
        (void)cell;
        (void)cell;
    }
    return cell;
}
int main(void)
{
    cell = 3;
    printf("%d\n", hot(20000));
    return 0;
}
END
if ! cc -O2 -S hot.c -o hot.s 2>/dev/null || ! grep -q 'cell(%rip)' hot.s; then
    skip "assay remedy" "no compiler for x86-64 here"
    exit 0
fi
check "nops for loads" "$ASSAY" remedy --function hot --pmu skylake hot.s -o nops.s
# The four, the one behind the loop, and the return.
check_same "says what it did" "assay: hot.s: 6 loads" "${err%% among*}"
cc -o before hot.s && cc -o after nops.s
check_same "the program does the same" "$(./before)" "$(./after)"
check_same "39 nops each" 6 "$(grep -c 'rept 39' nops.s)"

# Before and after, under the PMU that it is for. Loads of `hot` alone; 80,000 of them, one in 101 is a sample.
shares() {
    "$ASSAY" record -q --source=pmu:skylake --core skylake-like --event loads:u --period 101 -o "$1.db" -- "./$1" >/dev/null
    "$ASSAY" report --json --by instruction --symbol hot "$1.db" >"$1.json"
}
check "before" shares before
check "after" shares after
most='max(r["samples"] for r in d["rows"]) / sum(r["samples"] for r in d["rows"])'
holds "one or two of four equal loads had most samples" "$most > 0.4" before.json
# About 790 samples: five standard deviations are 0.077.
holds "… now each has its share" "abs($most - 0.25) < 0.077" after.json

check_stderr_line 'how many nops' "no number" "$ASSAY" remedy hot.s
check_stderr_line "there is no function 'cold'" "no such function" "$ASSAY" remedy --nops 3 --function cold hot.s
check_stderr_line 'zen2 has no shadow' "IBS" "$ASSAY" remedy --pmu zen2 hot.s
check_stderr_line 'cannot be read' "no such file" "$ASSAY" remedy --nops 3 absent.s
check_stderr_line 'not assembly' "an object" "$ASSAY" remedy --nops 3 before
check_stderr_line 'which assembly' "no file" "$ASSAY" remedy --nops 3
