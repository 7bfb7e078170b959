#!/usr/bin/env bash
# assay blocks --for: profiles for compilers, held against what the exact counts say and, where they are installed,
# against LLVM's own tools.
# sanitized-only: its checks are the same in both builds
DEFAULT_CORE=boom-tip
. "$(dirname "$0")/lib.sh"

cat >known.c <<'END'
#include <stdlib.h>
static inline __attribute__((always_inline)) int twice(int x)
{
    return x % 3 ? x * 2 : x - 1;
}
__attribute__((noinline)) int add(int x)
{
    return twice(x) + 7;
}
__attribute__((noinline)) static int sub(int x)
{
    return x - 7;
}
int (*volatile table[])(int) = {add, sub, sub, sub};
__attribute__((noinline)) int sum(const unsigned char *p, int n)
{
    int s = 0;
    for (int i = 0; i < n; i++)
        s += p[i] * 3;
    return s;
}
int main(int argc, char **argv)
{
    static unsigned char bytes[1003];
    int s = 0;
    for (int i = 0; i < 4000; i++)
        s += table[i & 3](i);
    for (int i = 0; i < 50; i++) {
        s += sum(bytes, 1003 - argc);
        __asm__ volatile("" : : : "memory"); /* so that it is called each time */
    }
    if (argc > 100)
        abort();
    return s == 42;
}
END
compiler=(cc)
command -v clang >/dev/null && compiler=(clang -fdebug-info-for-profiling)
check "the program" "${compiler[@]}" -O2 -g -o known known.c
profile() { "$ASSAY" blocks "$@" -- ./known; }
profile --for autofdo -o auto.prof
profile --json -o all.json

# line FUNCTION OFFSET: the count of a line, as the text has it.
cat >line.py <<'END'
import re, sys
wanted, offset, inside = sys.argv[1], sys.argv[2], False
for line in open("auto.prof"):
    if not line.startswith(" "):
        inside = line.rsplit(":", 2)[0] == wanted
        if inside and offset == "head":
            print(line.rsplit(":", 2)[2].strip())
    elif inside and re.match(rf" {offset}(\.\d+)?: \d+", line) and offset != "head":
        print(line.split(":", 1)[1].strip())
END
line() { python3 line.py "$@"; }
check_stdout_equals 1000 "head: how often a function was called" line add head
check_stdout_equals 3000 "… a local one" line sub head
check_stdout_equals 3000 "lines count from the function's own" line sub 2
check_same "the indirect call's targets" 1 "$(line main 5 | grep -c 'sub:3000 add:1000')"
check_same "what was inlined is below its call" 1 "$(grep -c '^ 2: twice:' auto.prof)"
check_same "no line of what never ran has a count" "" "$(line main 11 | grep -v '^0')"
if [ "${compiler[0]}" = cc ]; then
    skip "copies of an unrolled loop" "no clang"
else
    check_stdout_equals 50100 "copies of an unrolled or vectorised loop count together" line sum 4
    cat >fill.c <<'END'
int numbers[4096];
int main(void)
{
    for (int i = 0; i < 4096; i++)
        numbers[i] = i * 3;
    return numbers[1] == 0;
}
END
    check "a loop whose block has instructions for one turn and for eight" "${compiler[@]}" -O2 -g -o fill fill.c
    "$ASSAY" blocks --for autofdo -o fill.prof -- ./fill
    check_same "… counts once" 4096 "$(sed -n '/^main:/,/^[a-z]/s/^ 3\(\.[0-9]*\)\{0,1\}: //p' fill.prof)"
fi
# Discriminator 9: an instruction that stands for two. One loop has both in a block, and its line goes on behind it; of the other each has
# a block of its own.
cat >copies.c <<'END'
__attribute__((noinline)) void together(int n)
{
    __asm__ volatile(".loc 1 15 0 discriminator 9\n1: nop\n nop\n decl %0\n jnz 1b\n nop" : "+r"(n));
}
__attribute__((noinline)) void apart(int n)
{
    __asm__ volatile("1: .loc 1 15 0 discriminator 9\n nop\n .loc 1 16 0\n decl %0\n jz 2f\n"
                     ".loc 1 15 0 discriminator 9\n nop\n .loc 1 16 0\n decl %0\n jnz 1b\n2:"
                     : "+r"(n));
}
int main(void) { return together(64), apart(127), 0; }
END
check "copies, side by side and apart" gcc -O1 -g -o copies copies.c
"$ASSAY" blocks --for autofdo -o copies.prof -- ./copies
check_stdout_equals "128" "… side by side: what is behind the loop is no copy" sed -n '/^together:/,/^[a-z]/s/^ 14: //p' copies.prof
check_stdout_equals "127" "… apart" sed -n '/^apart:/,/^[a-z]/s/^ 10: //p' copies.prof
# Calls in the last place are jumps: direct, through a register, and none to a part of the function that was moved away.
cat >tail.c <<'END'
static volatile int sink;
__attribute__((noinline)) int leaf(int x) { sink += x; return x * 3; }
__attribute__((noinline)) int other(int x) { sink ^= x; return x * 5; }
__attribute__((noinline, cold)) void rare(void) { sink = 0; }
__attribute__((noinline)) int direct(int x)
{
    if (x == 77) {
        rare();
        rare();
    }
    sink++;
    return leaf(x);
}
__attribute__((noinline)) int through(int (*f)(int), int x)
{
    sink++;
    return f(x);
}
int main(void)
{
    for (int i = 0; i < 100; i++)
        sink += direct(i) + through(i % 4 ? leaf : other, i);
    return 0;
}
END
check "calls in the last place" gcc -O2 -g -freorder-blocks-and-partition -o tail tail.c
"$ASSAY" blocks --for autofdo -o tail.prof -- ./tail
check_same "… direct" " 7: 100 leaf:100" "$(sed -n '/^direct:/,/^[a-z]/{/leaf/p}' tail.prof)"
check_same "… through a register" " 3: 100 leaf:75 other:25" "$(sed -n '/^through:/,/^[a-z]/{/leaf/p}' tail.prof)"
check_same "… not those within a function" "" "$(grep 'cold\|^ 2: .*[a-z]' tail.prof)"
if command -v llvm-profdata >/dev/null; then
    check "llvm-profdata reads the text" llvm-profdata show --sample auto.prof
    profile --for autofdo-binary -o auto.bin
    check "… and the binary" llvm-profdata show --sample auto.bin
    llvm-profdata merge --sample --text auto.prof -o from-text
    llvm-profdata merge --sample --text auto.bin -o from-binary
    check "both say the same" cmp from-text from-binary
    llvm-profdata merge --sample --binary auto.prof -o theirs.bin
    check "… and LLVM's own binary of the text does" cmp from-text <(llvm-profdata merge --sample --text theirs.bin -o -)
else
    skip "LLVM reads the profiles" "no llvm-profdata"
fi
if command -v clang >/dev/null; then
    check "clang takes the profile" clang -O2 -Werror -fprofile-sample-use=auto.prof -o better known.c
    check_same "… and computes the same" "$(./known; echo $?)" "$(./better; echo $?)"
else
    skip "clang takes the profile" "no clang"
fi

# By address: the runs together execute every block as often as it was.
profile --for pre-aggregated -o known.pa
profile --for profgen -o known.ranges
cat >runs.py <<'END'
import json, sys
runs, taken = [], {}
for line in open("known.pa"):
    w = line.split()
    if w[0] == "F":
        runs.append((int(w[1], 16), int(w[2], 16), int(w[3])))
    else:
        assert w[0] == "B" and len(w) == 5, line
        taken[int(w[1], 16)] = taken.get(int(w[1], 16), 0) + int(w[3])
blocks = [b for b in json.load(open("all.json"))["blocks"] if b["module"].endswith("/known") and "plt" not in b["function"]]
assert len(blocks) > 20
for b in blocks:
    at = int(b["address"], 16)
    seen = sum(n for start, end, n in runs if start <= at <= end)
    assert seen == b["executions"], (b["function"], b["offset"], seen, b["executions"])
ranges = open("known.ranges").read().split()
n = int(ranges[0])
assert len(ranges) == 2 + n + int(ranges[n + 1]) and all("-" in r for r in ranges[1:n + 1])
assert all("->" in r for r in ranges[n + 2:])
print(sum(int(r.split(":")[1]) for r in ranges[1:n + 1]) >= sum(r[2] for r in runs))
END
check_stdout_equals True "pre-aggregated runs give the exact counts again" python3 runs.py

profile --for bolt -o known.fdata
check_same "fdata: every line has eight words" "" "$(awk 'NF != 8' known.fdata)"
check_same "… local functions are numbered" 1 "$(grep -c '^1 main [0-9a-f]* 1 sub/1 0 0 3000$' known.fdata)"
check_same "… others are not" 1 "$(grep -c '^1 main [0-9a-f]* 1 add 0 0 1000$' known.fdata)"
check_same "… what another file called" 1 "$(grep -c '^0 \[unknown\] 0 1 main 0 0 1$' known.fdata)"
bolt=$(command -v llvm-bolt-19 || command -v llvm-bolt-16)
if [ -n "$bolt" ] && "${compiler[@]}" -O2 -Wl,-q -o relocs known.c 2>cc.log; then
    "$ASSAY" blocks --for bolt -o relocs.fdata -- ./relocs
    check "llvm-bolt takes the profile" "$bolt" relocs -o bolted -data=relocs.fdata -reorder-blocks=ext-tsp
    check_same "… without a complaint" 0 "$(grep -c 'BOLT-WARNING\|BOLT-ERROR\|mismatch\|stale' <<<"$out$err")"
else
    skip "llvm-bolt takes the profile" "no llvm-bolt-19 or 16: bench/compilers --install"
fi

# Jump tables and setjmp. A profile of the model has no branches: those of jump tables follow from its counts.
cat >tables.c <<'END'
#include <setjmp.h>
volatile int sink;
static jmp_buf where;
__attribute__((noinline)) int choose(int k)
{
    switch (k % 8) {
    case 0: return sink + 1;
    case 1: sink = 3; return 5;
    case 2: sink ^= 9; return 1;
    case 3: return 77 + sink;
    case 4: sink--; return 8;
    case 5: return sink * 3;
    case 6: sink += 100; return 2;
    default: sink = 0; return 0;
    }
}
__attribute__((noinline)) void back(int k)
{
    if (k & 1)
        longjmp(where, k);
    sink = k;
}
__attribute__((noinline)) void again(void)
{
    for (volatile int i = 0; i < 100; i++) {
        if (setjmp(where) == 0)
            back(i);
        else
            sink++;
    }
}
int main(void)
{
    for (int i = 0; i < 400; i++)
        sink += choose(i);
    again();
    return 0;
}
END
"${compiler[@]}" -O2 -o tables tables.c
"$ASSAY" blocks -q --for bolt -o tables.run -- ./tables
"$ASSAY" record -q -o tables.db -- ./tables
"$ASSAY" blocks -q --for bolt -o tables.profile tables.db
cat >inside.py <<'END'
import collections, sys
ways = collections.defaultdict(list)
for w in (line.split() for line in open(sys.argv[1])):
    if w[1] == w[4] == sys.argv[2]:
        ways[int(w[2], 16)].append((int(w[5], 16) - int(w[2], 16), int(w[7])))
if sys.argv[2] == "choose":
    print([n for away, n in max(ways.values(), key=len)])
else:
    print(len(ways) > 0, [one for way in ways.values() for one in way if one[0] == 5])
END
check_stdout_equals "[50, 50, 50, 50, 50, 50, 50]" "fdata: a jump table leads to seven cases" python3 inside.py tables.run choose
check "… of a profile without branches too" cmp <(grep '^1 choose ' tables.run) <(grep '^1 choose ' tables.profile)
check_stdout_equals "True []" "fdata: nothing falls from a call to where longjmp leads" python3 inside.py tables.run again
check_stdout_equals "True []" "… of a profile too" python3 inside.py tables.profile again

check_stderr_line "known has no map of basic blocks.*-fbasic-block-address-map" "Propeller needs the compiler's numbers" \
    "$ASSAY" blocks --for propeller -- ./known
if command -v clang-14 >/dev/null && clang-14 -O1 -fbasic-block-sections=labels -o labelled known.c 2>cc.log; then
    check_fails 125 "map of basic blocks of .*/labelled is of clang 15 or older" "… with a version" "$ASSAY" blocks --for propeller -- ./labelled
else
    skip "… with a version" "no clang-14: $(head -1 cc.log)"
fi
profile --for propeller-order -o known.order
check_same "the order of functions begins with what is called most" "main" "$(grep -m1 -x 'main\|add\|sub\|sum' known.order)"
if command -v clang-19 >/dev/null && command -v ld.lld-19 >/dev/null; then
    taken() { "$ASSAY" blocks -q --json -o taken.json -- "./$1" && python3 -c '
import json
blocks = [b for b in json.load(open("taken.json"))["blocks"] if "/lib" not in b["module"]]
print(sum(e["count"] for b in blocks for e in b["edges"] if e["kind"] == "taken"))'; }
    clang-19 -O2 -fbasic-block-address-map -o mapped known.c
    check "Propeller's clusters" "$ASSAY" blocks -q --for propeller -o mapped.clusters -- ./mapped
    check_same "… of each function once" "$(grep -c '^f ' mapped.clusters)" "$(grep '^f ' mapped.clusters | sort -u | wc -l)"
    check "… which clang and lld take" clang-19 -O2 -fbasic-block-sections=list=mapped.clusters -fuse-ld=lld-19 \
        -Wl,--symbol-ordering-file=known.order -Wl,--no-warn-symbol-ordering -o laid known.c
    check_same "… nothing that never ran lies in the hot part" 1 "$(nm laid | grep -c ' main.cold$')"
    check_same "… and branches are taken no more often" 1 "$(($(taken laid) <= $(taken mapped)))"
else
    skip "Propeller's clusters" "no clang-19 and lld-19: bench/compilers --install"
fi

cc -O2 -o bare known.c && strip bare
check_status 125 "no debug information" "$ASSAY" blocks --for autofdo -- ./bare
check_stderr_line "bare has no debug information.*-fdebug-info-for-profiling" "… what to do" "$ASSAY" blocks --for autofdo -- ./bare
check_fails 125 "bare has no symbols, by which fdata names functions" "no symbols" "$ASSAY" blocks --for bolt -- ./bare
check_stderr_line "nothing of libnothing.so ran" "a module that is not there" "$ASSAY" blocks --for bolt --module libnothing.so -- ./known
check_status 2 "one format at a time" "$ASSAY" blocks --for bolt --json -- ./known

# ---- GCC ----

if [ "$(gcc -dumpversion 2>/dev/null | cut -d. -f1)" -ge 12 ] 2>/dev/null; then
    check "GCC's own build" gcc -O2 -g -o of_gcc known.c
    check "a profile for GCC" "$ASSAY" blocks -q --for gcc -o known.gcov -- ./of_gcc
    check "… which GCC takes" gcc -O2 -fauto-profile=known.gcov -S -o with.s known.c
    gcc -O2 -S -o without.s known.c
    check_status 1 "… and makes other code of" cmp -s with.s without.s
    head -c 40 known.gcov >short.gcov
    check_same "… it does not take any file" 1 "$(gcc -O2 -fauto-profile=short.gcov -S -o short.s known.c >/dev/null 2>&1; echo $(($? != 0)))"
else
    skip "a profile for GCC" "there is no GCC 12 or later"
fi
