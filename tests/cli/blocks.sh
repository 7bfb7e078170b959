#!/usr/bin/env bash
# assay blocks: exact counts of blocks and edges, loops, traces, code that never ran.
# sanitized-only: its checks are the same in both builds
DEFAULT_CORE=boom-tip
. "$(dirname "$0")/lib.sh"

nested=$WORKLOADS/known/x86-call-nested

# x86_calls.S: 1000 turns, three calls deep (see tests/cli/stat.sh).
check_json "blocks of a known program" \
    'sorted((b["offset"], b["instructions"], b["executions"]) for b in d["blocks"] if b["function"] == "function") == [(0, 2, 3000), (4, 1, 2000), (9, 1, 3000)]' \
    "$ASSAY" blocks --json -- "$nested"
check_json "its function is entered by every call" '[f["entries"] for f in d["functions"] if f["function"] == "function"] == [3000]' \
    "$ASSAY" blocks --json -- "$nested"
check_json "its loop" '[(l["function"], l["iterations"], l["entries"], l["trip_count"]) for l in d["loops"]] == [("_start", 1000, 1, 1000)]' \
    "$ASSAY" blocks --json -- "$nested"

# A program with branches, an indirect jump, an indirect call, and code that never runs; counts follow from its source.
cat >known.c <<'END'
#include <stdlib.h>
#define WORK(n) __asm__ volatile("mov %0, %%ecx\n1: dec %%ecx\njnz 1b" : : "i"(n) : "ecx")
__attribute__((noinline)) void rare(void) { WORK(3); }
__attribute__((noinline)) void often(void) { WORK(5); }
__attribute__((noinline)) void never(void) { WORK(7); }
void (*volatile table[])(void) = {rare, often, often, often};
__attribute__((noinline)) int pick(int i)
{
    switch (i & 7) {
    case 0: return __builtin_popcount(i);
    case 1: return i * 3;
    case 2: return i ^ 0x55;
    case 3: return i + 17;
    case 4: return i << 3;
    case 5: return -i;
    case 6: return i % 5;
    default: abort();
    }
}
int main(int argc, char **argv)
{
    int sum = 0;
    for (int i = 0; i < 4000; i++)
        table[i & 3]();
    for (int i = 0; i < 800; i++)
        sum += i % 8 == 7 ? 1 : pick(i);
    if (argc > 100)
        never();
    return sum == 42;
}
END
known() { "$ASSAY" blocks "$@" -- ./known; }
for how in x86-64 riscv64; do
    cc=cc
    [ "$how" = riscv64 ] && cc=riscv64-linux-gnu-gcc
    loop='s/.*/&/'
    [ "$how" = riscv64 ] && loop='s/"mov .*jnz 1b" : : "i"(n) : "ecx"/"li t0, %0\\n1: addi t0, t0, -1\\nbnez t0, 1b" : : "i"(n) : "t0"/'
    sed "$loop" known.c >known-$how.c
    if ! command -v $cc >/dev/null || ! $cc -O1 -g -static -fno-tree-switch-conversion -o known known-$how.c 2>cc.log; then
        skip "exact counts on $how" "no static C library for it: $(head -1 cc.log)"
        continue
    fi
    known --json -o all.json
    holds "$how: functions are entered as often as they were called" \
        '{f["function"]: f["entries"] for f in d["functions"] if f["function"] in ("rare", "often", "pick", "main")}
         == {"rare": 1000, "often": 3000, "pick": 700, "main": 1}' all.json
    holds "$how: loops in assembly" \
        'sorted((l["function"], l["trip_count"], l["entries"]) for l in d["loops"] if l["function"] in ("rare", "often"))
         == [("often", 5, 3000), ("rare", 3, 1000)]' all.json
    holds "$how: the loops of main" \
        'sorted(round(l["iterations"]) for l in d["loops"] if l["function"] == "main") == [800, 4000]' all.json
    holds "$how: where the indirect call went" \
        'sorted(e["count"] for b in d["blocks"] if b["function"] == "main" for e in b["edges"]
                if e["kind"] == "call" and e["count"] > 900) == [1000, 3000]' all.json
    holds "$how: each case of the switch ran a hundred times" \
        'len([b for b in d["blocks"] if b["function"] == "pick" and b["executions"] == 100]) >= 7' all.json
    holds "$how: the sum of all blocks is the run" \
        'sum(b["instructions"] * b["executions"] for b in d["blocks"]) == d["instructions"]' all.json
    # What comes into a block is how often it ran: Kirchhoff's law on the exact counts, in the program's own functions.
    holds "$how: what comes in, comes out" \
        '(lambda own, come: all(b["offset"] == 0 or come.get(b["address"], 0) == b["executions"] for b in own))(
            [b for b in d["blocks"] if b["function"] in ("rare", "often", "pick")],
            (lambda c: [c.__setitem__(e["to"], c.get(e["to"], 0) + e["count"])
                for b in d["blocks"] for e in b["edges"] if e["kind"] != "call"] and c)({}))' all.json
    "$ASSAY" stat --json -o stat.json -- ./known
    holds "$how: as many instructions as stat counts" 'd[0]["instructions"] == d[1]["instructions"]' all.json stat.json
    holds "$how: … in each function" \
        '(lambda f: all(f[s["function"]] == s["instructions"] for s in d[1]["functions"][:5]))(
            {f["function"]: f["instructions"] for f in d[0]["functions"]})' all.json stat.json
    known --json --never -o never.json
    holds "$how: what never ran" \
        '"never" in [n["function"] for n in d["never_executed"]]
         and len([n for n in d["never_executed"] if n["function"] == "pick" and "offset" in n]) == 1
         and not [n for n in d["never_executed"] if n["function"] in ("rare", "often")]' never.json
done

check_json "lines" 'all(".c:" in b["lines"] for b in d["blocks"])' \
    known --json --function pick
check_json "only a function: blocks that never ran too" \
    '{b["function"] for b in d["blocks"]} == {"pick"} and min(b["executions"] for b in d["blocks"]) == 0' known --json --function pick
check_json "only a module" 'len(d["modules"]) == 1 and d["modules"][0]["module"].endswith("/known")' known --json --module known
known --csv -o blocks.csv
check_same "CSV has a line a block" "$(python3 -c 'import csv; print(len({r["address"] for r in csv.DictReader(open("blocks.csv"))}))')" \
    "$(($(wc -l <blocks.csv) - 1))"
cat >cover.py <<'END'
import collections, json, sys
d = json.load(open(sys.argv[1]))
listed = collections.Counter(f["module"] for f in d["functions"])
print(all(m["functions_run"] == listed[m["module"]] and m["functions"] >= m["functions_run"] for m in d["modules"]), len(listed) > 0)
END
known --json -o cover.json
check_stdout_equals "True True" "functions that ran are those of the list, in each file" python3 cover.py cover.json
# often() goes round its block five times in each of 3000 calls: four times back to itself.
known --json -o traces.json
holds "hot traces have loops of one block" '[(t["count"], t["loops"]) for t in d["traces"]
    if t["function"] == "often" and len(t["blocks"]) == 1] == [(12000, True)]' traces.json
run known --function often
check_same "… in the text" 1 "$(grep -A2 'Hot traces' <<<"$out" | grep -c ' 12,000 ')"
known --csv --function pick -o pick.csv
check_stdout_equals True "CSV of a function has its blocks that never ran too" python3 -c '
import csv
print(0 in {float(r["executions"]) for r in csv.DictReader(open("pick.csv"))})'
for option in functions blocks loops traces; do
    check_fails 2 "$option=18446744073709551615: must be at most" "more rows than there are numbers: $option" \
        known --$option=18446744073709551615
done
check_fails 2 "module= needs the name or path of a file" "an empty module" known --module=
check_fails 2 "function= needs the name of a function" "an empty function" known --function=
check_fails 2 "delay=1e.300: must be at least 0 and below" "a delay beyond all time" known --delay=1e300
run known
for part in "Code that ran" "Functions by instructions" "Blocks by instructions" "Loops by instructions" "Hot traces"; do
    check_same "text: $part" 1 "$(grep -c "^$part:" <<<"$out")"
done
run known --never
check_same "text: what never ran" 1 "$(grep -c "all  never  (known)" <<<"$out")"
run known --function pick
check_same "text: where control went" 1 "$(($(grep -c "jumps to\|falls to" <<<"$out") > 7))"

# Code that was made while running, and rewritten.
cat >overlap.S <<'END'
    .globl main
    .type main, @function
main:
    movl $100, %ecx
    leaq word(%rip), %rdx
    xorl %eax, %eax
again:
    testl $3, %ecx
    jz past
    .byte 0xf0 # lock, which every fourth turn jumps past
past:
    addl $1, (%rdx)
    .byte 0xeb, 0xff, 0xc0 # a jump to its own second byte, where an incl begins
    decl %ecx
    jnz again
    xorl %eax, %eax
    ret
    .size main, .-main
    .bss
word: .long 0
    .section .note.GNU-stack,"",@progbits
END
check "code that overlaps" gcc -o overlap overlap.S
ways='[(b["instructions"], b["executions"], [(e["kind"], int(e["to"], 16) - int(b["address"], 16), e["count"]) for e in b["edges"]])
    for b in sorted(d["blocks"], key=lambda b: b["offset"]) if b["function"] == "main"][1:6] == [
    (2, 100, [("fall", 8, 75), ("taken", 9, 25)]), (1, 75, [("fall", 4, 75)]), (1, 25, [("fall", 3, 25)]),
    (1, 100, [("taken", 1, 100)]), (3, 100, [("fall", 6, 1), ("taken", -13, 99)])]'
check_json "… each way to read it is a block of its own" "$ways" "$ASSAY" blocks --json -- ./overlap
check "… recorded" "$ASSAY" record -q -o overlap.db -- ./overlap
check_json "… and in a profile" "$ways" "$ASSAY" blocks --json overlap.db
check_json "JIT code" 'sum(b["instructions"] * b["executions"] for b in d["blocks"] if b["module"] == "[anon]") == 1300' "$ASSAY" blocks --json -- "$WORKLOADS/known/x86-jit"

# Two programs at one path in one run are counted apart; code of a library that is replaced in one process is mixed, and has a note.
cat >first.c <<'END'
volatile int g;
__attribute__((noinline)) void f(int n)
{
    for (int i = 0; i < n; i++)
        g += i;
}
#ifndef LIBRARY
int main(void) { f(1000); }
#endif
END
cat >second.c <<'END'
volatile int g;
__attribute__((noinline)) void f(int n)
{
    for (int i = 0; i < n; i += 2) {
        g += i;
        if (i % 4)
            g ^= 3;
        else
            g -= 7;
    }
}
#ifndef LIBRARY
int main(void) { f(600); }
#endif
END
cat >loads.c <<'END'
#include <dlfcn.h>
#include <stdio.h>
static int call(void)
{
    void *library = dlopen("./libturn.so", RTLD_NOW);
    void (*f)(int) = library ? (void (*)(int))dlsym(library, "f") : NULL;
    if (f)
        f(100);
    return f && dlclose(library) == 0;
}
int main(void) { return !(call() && rename("libnext.so", "libturn.so") == 0 && call()); }
END
for one in first second; do
    gcc -g -O1 -o $one $one.c && gcc -g -O1 -shared -fPIC -DLIBRARY -o lib$one.so $one.c
done
printf '#!/bin/sh\nfor v in "$@"; do rm -f turn; cp $v turn; ./turn; done\n' >turns.sh
printf '#!/bin/sh\ncp first turn; ./turn; rm turn; cp second turn\n' >replaced.sh
chmod +x turns.sh replaced.sh
mixed='different code ran at one address'
noted() { printf '["%s" in m["note"] for m in d["modules"] if "note" in m and m["module"].endswith("/%s")] == [True]' "$1" "$2"; }
"$ASSAY" blocks -q --json -o turns.json -- ./turns.sh first second first
holds "two programs at one path: trip counts of each" \
    'sorted((l["function"], l["trip_count"], l["entries"]) for l in d["loops"] if l["function"] == "f" or "turn" in l["function"])
     == [("f", 1000, 2), ("turn (2)+0x1000", 300, 1)]' turns.json
for one in first second; do
    cp $one turn
    "$ASSAY" blocks -q --json --module turn -o $one.json -- ./turn
done
holds "… and as many instructions as each has alone" \
    '[sum(f["instructions"] for f in d[0]["functions"] if f["module"] == m["module"]) for m in d[0]["modules"] if "/turn" in m["module"]]
     == [times * sum(f["instructions"] for f in one["functions"]) for times, one in ((2, d[1]), (1, d[2]))]' turns.json first.json second.json
holds "… a note for the one that is gone" '[m["module"].endswith("/turn (2)") for m in d["modules"] if "note" in m] == [True]' turns.json
check_stderr_line "1 that is gone is counted apart.*/turn \(2\)'" "… and a line" "$ASSAY" blocks --function f --module turn -- ./turns.sh first second
check_stdout_equals "$("$ASSAY" blocks -q --for bolt -- ./first | sed 's/first/turn/g')" "… and the profile of the one that is there" \
    "$ASSAY" blocks -q --for bolt --module turn -- ./turns.sh second first
check_fails 125 "no profile of turn \(2\): several files" "… and none of the other" "$ASSAY" blocks -q --for bolt --module "turn (2)" -- ./turns.sh first second
check_json "the same program twice is one" \
    'not [m for m in d["modules"] if "note" in m] and [f["entries"] for f in d["functions"] if f["function"] == "f"] == [2]' \
    "$ASSAY" blocks --json -- ./turns.sh first first
check_json "a program that is replaced after it ran" "$(noted "not that of the file" turn)" "$ASSAY" blocks --json -- ./replaced.sh
gcc -O1 -o loads loads.c -ldl && cp libfirst.so libturn.so && cp libsecond.so libnext.so
check_json "a library that is replaced and loaded again" "$(noted "$mixed" libturn.so)" "$ASSAY" blocks --json -- ./loads

# Code of a file that the program changes while it runs: what was a block of two instructions is one of one.
cat >patched.c <<'END'
#include <stdint.h>
#include <sys/mman.h>
volatile int g;
void f(void);
__asm__(".text\n.globl f\n.type f, @function\nf: incl g(%rip)\nret\n.size f, .-f\n");
int main(void)
{
    for (int i = 0; i < 150; i++) {
        if (i == 100) {
            if (mprotect((void *)((uintptr_t)f & -4096), 8192, PROT_READ | PROT_WRITE | PROT_EXEC) != 0)
                return 2;
            *(volatile uint8_t *)f = 0xc3; /* ret */
        }
        f();
    }
    return g != 100;
}
END
check "code that is changed while it runs" gcc -O1 -o patched patched.c
check_json "… has a note" "$(noted "$mixed" patched)" "$ASSAY" blocks --json --module patched -- ./patched
f=0x$(nm patched | awk '$3 == "f" { sub(/^0+/, "", $1); print $1 }')
check_stderr_line "patched: $mixed.*first at $f" "… and a warning with its address" "$ASSAY" blocks --module patched -- ./patched
check_fails 125 "no profile of patched: $mixed" "… and no profile" "$ASSAY" blocks --for profgen -- ./patched

# A loop that goes through a part of its function which was moved away.
cat >parts.S <<'END'
    .globl main
    .type main, @function
    .type main.cold, @function
main:
    movl $100, %ecx
again:
    decl %ecx
    jmp main.cold
back:
    xorl %eax, %eax
    ret
    .size main, .-main
    nop
main.cold:
    testl %ecx, %ecx
    jnz again
    jmp back
    .size main.cold, .-main.cold
    .section .note.GNU-stack,"",@progbits
END
check "a function in two parts" gcc -o parts parts.S
run "$ASSAY" blocks --function main.cold -- ./parts
check_same "… its trace names the other one" 1 "$(grep -c ' → main+0x5 ↺$' <<<"$out")"
check_json "… and are one function to those who ask for it" \
    '{(b["function"], b["executions"]) for b in d["blocks"]} == {("main", 1), ("main", 100), ("main.cold", 100), ("main.cold", 1)}' \
    "$ASSAY" blocks --json --function main -- ./parts
check_json "… unless it is the part" '{b["function"] for b in d["blocks"]} == {"main.cold"}' "$ASSAY" blocks --json --function main.cold -- ./parts

# No-operations between a call and a loop run as often as the call comes back.
cat >behind.S <<'END'
    .globl main
    .type main, @function
    .type callee, @function
callee:
    ret
    .size callee, .-callee
main:
    pushq %rbx
    movl $50, %ebx
outer:
    movl $10, %eax
    call callee
    .byte 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0 # nopw
inner:
    decl %eax
    jnz inner
    decl %ebx
    jnz outer
    popq %rbx
    ret
    .size main, .-main
    .section .note.GNU-stack,"",@progbits
END
check "no-operations behind a call" gcc -o behind behind.S
"$ASSAY" blocks --json --module behind -o behind.json -- ./behind
"$ASSAY" record -q --source=model -o behind.db -- ./behind
"$ASSAY" blocks --json --module behind -o behind.profile.json behind.db
for what in behind.json behind.profile.json; do
    holds "… the call falls into them ($what)" \
        '[(b["executions"], [(e["kind"], e["count"]) for e in b["edges"] if e["kind"] != "call"])
          for b in sorted(d["blocks"], key=lambda b: b["offset"]) if b["function"] == "main"]
         == [(1, [("fall", 1)]), (50, [("fall", 50)]), (50, [("fall", 50)]),
             (500, [("fall", 50), ("taken", 450)]), (50, [("fall", 1), ("taken", 49)]), (1, [])]' $what
    holds "… so both loops are there" \
        'sorted((l["iterations"], l["entries"]) for l in d["loops"] if l["function"] == "main") == [(50, 1), (500, 50)]' $what
done
run "$ASSAY" blocks --function main --module behind behind.db
check_same "… and as many blocks ran as there are" 1 "$(grep -c '6 of 6 .*main  (behind)' <<<"$out")"

# An exception in every tenth turn of a loop: its handler is reached from no branch, and lies in a part moved away by -O2.
cat >throws.cc <<'END'
__attribute__((noinline)) int may(int i)
{
    if (i % 10 == 3)
        throw i;
    return i;
}
__attribute__((noinline)) int work(int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++) {
        try {
            sum += may(i);
        } catch (int) {
            sum--;
        }
        sum ^= i;
    }
    return sum;
}
int main() { return work(100) == 42; }
END
for level in 1 2; do
    linked=-static
    [ $level = 2 ] && linked=-pie
    g++ -O$level $linked -o throws throws.cc
    check_json "a loop with a handler of exceptions, -O$level" \
        '[(l["iterations"], l["entries"], l["trip_count"]) for l in d["loops"] if l["function"].startswith("work(")] == [(100, 1, 100)]' \
        "$ASSAY" blocks --json --module throws -- ./throws
done

# A block that a fault leaves in its midst, 1 of 10 times: what follows ran 9 times.
cat >fault.c <<'END'
#include <setjmp.h>
#include <signal.h>
static sigjmp_buf back;
static void handler(int number) { siglongjmp(back, number); }
__attribute__((noinline)) void touch(int *p)
{
    __asm__ volatile("nop\nnop\nmovl $1, (%0)\nnop\nnop\nnop" : : "r"(p) : "memory");
}
int main(void)
{
    static int word;
    signal(SIGSEGV, handler);
    for (volatile int i = 0; i < 10; i++)
        if (!sigsetjmp(back, 1))
            touch(i == 4 ? (int *)8 : &word);
    return 0;
}
END
gcc -O1 -o fault fault.c
"$ASSAY" blocks --json --function touch -o fault.json -- ./fault
"$ASSAY" stat --json -o stat.json -- ./fault
holds "a block that faults half-way counts half" \
    '(lambda b: [x["executions"] for x in b] == [10, 9] and b[0]["edges"][0]["count"] == 9)(sorted(d["blocks"], key=lambda b: b["offset"]))' fault.json
holds "… as stat counts" 'd[0]["instructions"] == d[1]["instructions"]' fault.json stat.json
check_json "a region that begins and ends within blocks" 'd["instructions"] == 2000 == sum(b["instructions"] * b["executions"] for b in d["blocks"])' \
    "$ASSAY" blocks --json --region 1k..+2k -- ./fault

# A run that ends anywhere, behind a taken branch too: what the last branch led to did not run, so its loop was entered once.
cat >cut.S <<'END'
    .globl _start
    .type _start, @function
_start:
    movl $100, %ecx
again:
    nop
    decl %ecx
    jnz again
    leaq table(%rip), %rdx
    movl $50, %ecx
other:
    decl %ecx
    jmp *(%rdx)
next:
    testl %ecx, %ecx
    jnz other
    movl $60, %eax
    xorl %edi, %edi
    syscall
    .size _start, .-_start
    .data
table: .quad next
    .section .note.GNU-stack,"",@progbits
END
gcc -nostdlib -static -o cut cut.S
cat >cut.py <<'END'
import json, sys
for path in sys.argv[1:]:
    d, come = json.load(open(path)), {}
    for edge in (e for b in d["blocks"] for e in b["edges"]):
        come[edge["to"]] = come.get(edge["to"], 0) + edge["count"]
    print(all(b["offset"] == 0 or come.get(b["address"], 0) == b["executions"] for b in d["blocks"])
          and all(l["entries"] == 1 for l in d["loops"]) and len(d["loops"]), end=" ")
END
for most in 150 151 152 400 401 402 403; do
    "$ASSAY" blocks -q --json --max $most -o cut.$most.json -- ./cut
done
check_stdout_equals "1 1 1 2 2 2 2 " "a run that ends behind a branch" python3 cut.py cut.{150,151,152,400,401,402,403}.json
check_json "ways of sampling are held against whole blocks, wherever the run ends" 'd["instructions"] == 154' \
    "$ASSAY" blocks -q --json --methods --max 152 -- ./cut

# Loops that longjmp closes, which ends in an indirect jump here and in a return on RISC-V.
cat >longjmp.c <<'END'
#include <setjmp.h>
static jmp_buf back;
__attribute__((noinline)) void again(int n) { if (n < 100) longjmp(back, 1); }
__attribute__((noinline)) int loop(void)
{
    volatile int n = 0;
    setjmp(back);
    again(++n);
    return n;
}
__attribute__((noinline)) void may(int n) { if (n % 4) longjmp(back, 1); }
__attribute__((noinline)) int fails(void)
{
    volatile int bad = 0;
    for (volatile int i = 0; i < 200; i++) {
        if (setjmp(back))
            bad++;
        else
            may(i);
    }
    return bad;
}
__attribute__((noinline)) int never(int n) { return n * 3; }
int main(int argc, char **argv) { return loop() + fails() == (argc > 9 ? never(argc) : 1); }
END
for cc in "gcc" "gcc -static" "riscv64-linux-gnu-gcc -static"; do
    if $cc -O1 -o longjmp longjmp.c 2>cc.log; then
        check_json "loops by longjmp, $cc" \
            'sorted((l["function"], l["iterations"], l["entries"]) for l in d["loops"] if l["function"] in ("loop", "fails") and l["entries"] == 1)
             == [("fails", 200, 1), ("loop", 100, 1)]' "$ASSAY" blocks --json --module longjmp -- ./longjmp
    else
        skip "loops by longjmp, $cc" "$(head -1 cc.log)"
    fi
done
gcc -O1 -o longjmp longjmp.c
check_fails 125 "the function 'never' of .*/longjmp never ran" "a function that never ran" "$ASSAY" blocks --function never -- ./longjmp
check_json "a table of stubs is entered, too" \
    'all(f["entries"] > 0 for f in d["functions"] if f["function"].startswith(".plt"))' "$ASSAY" blocks --json -- ./longjmp

# fork() comes back twice, and so does what calls it: no entry of the loop around it, and a child that exits leads nowhere.
cat >forks.c <<'END'
#include <sys/wait.h>
#include <unistd.h>
static volatile int word;
__attribute__((noinline)) int reap(int child, int i)
{
    int status;
    if (!child) {
        for (int j = 0; j < 5; j++)
            word += j;
        _exit(i & 1);
    }
    waitpid(child, &status, 0);
    return WEXITSTATUS(status);
}
__attribute__((noinline)) int start(void)
{
    int child = fork();
    word++;
    return child;
}
#define LOOP(name, begin)                                                                                              \
    __attribute__((noinline)) int name(int n)                                                                          \
    {                                                                                                                  \
        int sum = 0, status;                                                                                           \
        for (int i = 0; i < n; i++) {                                                                                  \
            int child = begin();                                                                                       \
            if (!child)                                                                                                \
                _exit(i & 1);                                                                                          \
            waitpid(child, &status, 0);                                                                                \
            sum += WEXITSTATUS(status);                                                                                \
        }                                                                                                              \
        return sum;                                                                                                    \
    }
LOOP(plain, fork)
LOOP(wrapped, start)
__attribute__((noinline)) int parted(int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += reap(fork(), i);
    return sum;
}
int main(void) { return plain(12) + wrapped(8) + parted(6) != 13; }
END
for cc in "gcc" "riscv64-linux-gnu-gcc -static"; do
    if $cc -O1 -o forks forks.c 2>cc.log; then
        "$ASSAY" blocks --json --module forks -o forks.json -- ./forks
        "$ASSAY" record -q -o forks.db -- ./forks
        "$ASSAY" blocks --json --module forks -o forks.profile.json forks.db
        for what in forks.json forks.profile.json; do
            holds "loops with fork, $cc ($what)" \
                'sorted((l["function"], l["iterations"], l["entries"]) for l in d["loops"] if l["function"] in ("plain", "wrapped", "parted", "reap"))
                 == [("parted", 6, 1), ("plain", 12, 1), ("reap", 30, 6), ("wrapped", 8, 1)]' $what
        done
    else
        skip "loops with fork, $cc" "$(head -1 cc.log)"
    fi
done

check_status 2 "no program" "$ASSAY" blocks
: >empty.data
head -c 3000 "$SOURCE/README.md" >text.data
for file in empty.data ./empty.data; do
    check_fails 125 "the file is empty" "no program and no recording: $file" "$ASSAY" blocks $file
done
check_fails 125 "not a recording of perf .*, not a profile, and not a program" "… a file of something else" "$ASSAY" blocks text.data
check_fails 127 "empty.data" "… unless it is said to be a program" "$ASSAY" blocks -- empty.data
check_fails 125 "debug-path: './absent' is not a directory" "a path for debug files that is not there" \
    "$ASSAY" blocks --debug-path .:./absent -- "$nested"
# Options that would have no effect; one line each.
refused() { check_fails 2 "$1" "refused: ${*:2}" "$ASSAY" blocks "${@:2}" -- true; }
refused "method is for recordings and profiles" --method ip
refused "balance is for recordings and profiles" --balance
refused "event is for recordings" --event cycles
refused "region '10..5' holds no instructions" --region 10..5
refused "no PMU 'absent'" --methods --pmu absent
refused "period is for runs with --methods" --period 100
refused "for is for counts of blocks, not for --methods" --methods --for bolt
refused "function is for counts of blocks" --methods --function main
refused "functions is for text" --json --functions 3
refused "never is for text and JSON" --csv --never
refused "function is for text and JSON" --for bolt --function main
refused "leave --blocks out" --function main --blocks 3
refused "leave --functions out" --function main --functions 3
refused "warm is for runs with --methods" --warm 1M
check_stderr_line "weights have no effect" "weights of regions" "$ASSAY" blocks --region 0..+100,weight=0.5 -- true
check_fails 125 "nothing was measured: the program ended after" "a part that is never reached" "$ASSAY" blocks -q --skip 1G -- true
check_fails 125 "nothing was measured" "… and a function" "$ASSAY" blocks -q --json --from never -- true
check_fails 2 "not one of autofdo, autofdo-binary" "formats for compilers are named" "$ASSAY" blocks --for people -- true
check_fails 125 "has no map of basic blocks" "what Propeller needs is asked for before the run" \
    "$ASSAY" blocks --for propeller -- "$STATIC/block_kernels" chain 1000000000
check_fails 125 "has no debug information" "… and what AutoFDO needs" "$ASSAY" blocks --for autofdo -- "$nested"
check_fails 125 "--module takes .*: x86-call-nested" "a module that is not there: those that are" "$ASSAY" blocks --module nosuch -- "$nested"
check_status 127 "a program that is not there" "$ASSAY" blocks -- ./absent
check_status 2 "JSON or CSV" "$ASSAY" blocks --json --csv -- true
check_status 125 "a function that is not there" "$ASSAY" blocks --function nothing -- true
check_stderr_line "no file that ran has a function 'nothing'" "… is named" "$ASSAY" blocks --function nothing -- true
check_status 3 "the program's exit status" "$ASSAY" blocks -- sh -c 'exit 3'
