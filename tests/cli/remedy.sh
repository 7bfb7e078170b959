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

check_stderr_line 'the number of nops is missing' "no number" "$ASSAY" remedy hot.s
check_stderr_line "there is no function 'cold'" "no such function" "$ASSAY" remedy --nops 3 --function cold hot.s
check_fails 125 'hot.s: the file has no loads among' "assembly of another processor" "$ASSAY" remedy --arch riscv64 --nops 3 hot.s
check "x86_64 with a hyphen" "$ASSAY" remedy --arch x86-64 --nops 3 -o /dev/null hot.s
check_fails 2 'core has no effect without --pmu' "a core without a PMU" "$ASSAY" remedy --nops 3 --core zen4-like hot.s
check_fails 2 'event has no effect with --at' "an event and places" "$ASSAY" remedy --nops 3 --event stores --function hot --at 1 hot.s
check_status 125 "nowhere to write" "$ASSAY" remedy --nops 3 hot.s -o absent/nops.s
check_same "… and nothing is said to be done" 1 "$(wc -l <<<"$err")"
check_stderr_line 'zen2 has no shadow' "IBS" "$ASSAY" remedy --pmu zen2 hot.s
check_stderr_line 'cannot be read' "no such file" "$ASSAY" remedy --nops 3 absent.s
check_stderr_line 'neither assembly nor' "no text" "$ASSAY" remedy --nops 3 before.db
check_stderr_line 'which file' "no file" "$ASSAY" remedy --nops 3

cc -O2 -S -masm=intel hot.c -o intel.s
check_status 125 "Intel syntax" "$ASSAY" remedy --nops 3 intel.s -o intel-nops.s
check_same "… says what to do, in one line" 1 "$(grep -c 'compile without -masm=intel, or give the object file' <<<"$err")"
check_same "… and writes nothing" "" "$(ls intel-nops.s 2>/dev/null)"

# ---- objects: tables of jumps, pointers to static functions, frames, and jumps that are short no more ----

cat >table.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <unwind.h>
volatile int cell = 3;
static int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
int (*pointer)(const void *, const void *) = compare;
static _Unwind_Reason_Code count(struct _Unwind_Context *context, void *frames)
{
    ++*(int *)frames;
    return _URC_NO_REASON;
}
__attribute__((noinline)) int choose(int n)
{
    int frames = 0;
    switch (n) {
    case 0: return cell * 3;
    case 1: _Unwind_Backtrace(count, &frames); return frames > 2;
    case 2: return cell++;
    case 3: qsort((int[]){3, 1, cell}, 3, sizeof(int), compare); return 1;
    case 4: puts("four"); return cell;
    case 5: cell = 7; return pointer(&n, (const int *)&cell);
    default: return cell - n;
    }
}
int main(void)
{
    for (int i = 0; i < 8; i++)
        printf("%d\n", choose(i));
    return 0;
}
END
cc -O2 -c hot.c && cc -O2 -c table.c && cc -o table table.o
check "nops for the loads of an object" "$ASSAY" remedy --function hot --pmu skylake hot.o -o after.o
check_same "says what it did to it" "assay: hot.o: 6 loads" "${err%% among*}"
cc -o from_object after.o
check_same "its program does the same" "$(./before)" "$(./from_object)"
"$ASSAY" remedy -q --function hot --pmu skylake hot.s -o same.s && cc -c same.s
# Without the padding that aligned the loop, and without addresses.
disassembled() { objdump -d --no-show-raw-insn --disassemble=hot "$1" | sed -n 's/^ *[0-9a-f]*:\t\([a-z]*\).*/\1/p' | grep -v '^nop[lw]'; }
check_same "assembly and object give the same code" "$(disassembled same.o)" "$(disassembled after.o)"
for event in loads stores branches; do
    check "many nops for $event" "$ASSAY" remedy -q --event "$event" --nops 200 table.o -o nops.o
    cc -o changed nops.o
    check_same "… tables, pointers and frames follow" "$(./table)" "$(./changed)"
done
check "a listing" "$ASSAY" remedy -q --show --function choose --nops 5 --at 0x0 table.o -o nops.s
check_same "… says what was added" "+          5 nops" "$(grep -F + <<<"$out" | head -n 1)"
check_same "… once, where it was asked for" 1 "$(grep -c 'rept 5' nops.s)"
check_stderr_line 'not at the start of an instruction' "between instructions" "$ASSAY" remedy --function choose --nops 5 --at 0x1 table.o
check_stderr_line '--at needs --function' "no function" "$ASSAY" remedy --nops 5 --at 1 table.o
check_stderr_line 'a linked program' "a program" "$ASSAY" remedy --nops 3 before
check_status 2 "another architecture than the object's" "$ASSAY" remedy --arch riscv64 --nops 3 hot.o
head -c 600 hot.o >cut.o
check_stderr_line 'damaged' "half an object" "$ASSAY" remedy --nops 3 cut.o
