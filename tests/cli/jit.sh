#!/usr/bin/env bash
# Code that programs make while they run has its names, in the model and on the machine, also where other code was at the
# same address before (workloads/jit.c).
# plain-only: long runs; sanitized.sh names code of either kind under sanitizers, and unit tests read what is damaged
. "$(dirname "$0")/lib.sh"

# Removes the maps of the programs that told their number.
tidy() {
    local pid
    for pid in $(sed -n 's/^pid //p' <<<"$out"$'\n'"$err"); do
        rm -f "/tmp/perf-$pid.map"
    done
}

dumps=$TMP/.debug/jit/runtime-1 && mkdir -p "$dumps"
# The loops of each function are known: the first has 65536 of two instructions, each other one twice as many.
for program in jit jit-riscv64; do
    [ -x "$WORKLOADS/$program" ] || { skip "$program" "no RISC-V cross compiler" && continue; }
    for kind in map dump; do
        check_json "$program $kind: stat names each function, with what it executed" '(lambda of: [of["jit_first"] // 131072, of["jit_second"] // 131072, of["jit_third"] // 131072] == [1, 2, 4])(
                {f["function"]: f["instructions"] for f in d["functions"]})' "$ASSAY" stat --json -- "$WORKLOADS/$program" $kind 65536
        tidy
        # Runtimes put their dumps where the user likes ($JITDUMPDIR, ~/.debug/jit), and map them.
        [ $kind = map ] || check_json "… wherever the dump is" '[f["function"] for f in d["functions"]].count("jit_first") == 1' \
            "$ASSAY" stat --json -- "$WORKLOADS/$program" dump 65536 "$dumps"
        check "$program $kind: record" "$ASSAY" record -q -o jit.db -- "$WORKLOADS/$program" $kind 65536
        tidy
        check_json "… keeps apart what was at one address" '(lambda of: of["jit_second"] > 1.8 * of["jit_first"] and of["jit_third"] > 1.8 * of["jit_second"])(
                {r["function"]: r["cycles"] for r in d["rows"]})' "$ASSAY" report --json jit.db
        # Two pieces of code at one address stay apart as callees and as callers: jit_heavy and jit_light, jit_caller and jit_other.
        directory=$([ $kind = map ] && echo /tmp || echo .)
        check_json "… as stat's call paths" '(lambda name, total: sorted((name[n["parent"]], n["function"], n["self"] // 131072) for n in d["call_tree"] if n["function"] in ("jit_heavy", "jit_light"))
                == [("jit_caller", "jit_heavy", 8), ("jit_caller", "jit_light", 1), ("jit_other", "jit_light", 1)]
                and [total[f] // 131072 for f in ("jit_caller", "jit_other")] == [9, 1])(
                {n["node"]: n["function"] for n in d["call_tree"]}, {n["function"]: n["total"] for n in d["call_tree"]})' \
            "$ASSAY" stat --json --calls=0 -- "$WORKLOADS/$program" $kind 65536 "$directory" calls
        tidy
        check "… record of callers" "$ASSAY" record -q -o calls.db -- "$WORKLOADS/$program" $kind 65536 "$directory" calls
        tidy
        check_json "… have their own totals" '(lambda self, total: self["jit_heavy"] > 3.9 * self["jit_light"] > 0 and total["jit_caller"] > total["jit_heavy"] > 0.99 * self["jit_heavy"]
                and total["jit_caller"] > self["jit_heavy"] + 0.45 * self["jit_light"] and 0.45 * self["jit_light"] < total["jit_other"] < 0.6 * self["jit_light"])(
                {r["function"]: r["cycles"] for r in d["rows"]}, {r["function"]: r["total"] for r in d["rows"]})' "$ASSAY" report --json calls.db
        paths() { "$ASSAY" export --to=folded calls.db | sed -n 's/.*;\(jit_[a-z]*;jit_[a-z]*\) .*/\1/p' | sort -u | tr '\n' ' '; }
        check_same "… and paths" "jit_caller;jit_heavy jit_caller;jit_light jit_other;jit_light " "$(paths)"
        # Samples of a modelled PMU are of instructions, too; the call stack of its branch record, and branches, are addresses.
        [ "$program" = jit ] || continue
        for how in auto lbr branches; do
            option=$([ $how = branches ] && echo --branches || echo --call-graph=$how)
            check "$program $kind: a modelled PMU, $option" "$ASSAY" record -q --source=pmu:skylake --period=2000 "$option" -o calls.db -- "$WORKLOADS/$program" $kind 65536 "$directory" calls
            tidy
            [ $how = branches ] || check_same "… paths" "jit_caller;jit_heavy jit_caller;jit_light jit_other;jit_light " "$(paths)"
        done
        check_json "… samples and branches are of the same code" '(lambda of: of["jit_heavy"] > 3.9 * of["jit_light"] > 0 and "[anon]" not in of)({r["function"]: r["samples"] for r in d["rows"]})' \
            "$ASSAY" report --json calls.db
        check_json "… and lead to where they come from" '(lambda pairs: ("jit_heavy", "jit_heavy") in pairs and ("jit_light", "jit_light") in pairs and ("jit_light", "jit_heavy") not in pairs
                and ("jit_heavy", "jit_light") not in pairs)({(r["from"]["function"], r["to"]["function"]) for r in d["rows"]})' "$ASSAY" report --branches --json calls.db
    done
done
# The same code under two names at one address: nothing tells which of them ran, and the profile says so.
check "code that is there twice" "$ASSAY" record -o copies.db -- "$WORKLOADS/jit" dump 65536 . copies
check_same "… is told" 1 "$(tr -s '\n ' ' ' <<<"$err" | grep -c 'made the same code under another name, and nothing tells which of them ran')"
# What made code accesses is told apart, too: it writes lines that another thread then reads, others the
# second time, so that it does not matter in which order Assay reads the threads.
cat >touch.c <<'END'
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
static long lines[2][512 * 8];
static volatile long sum;
static void *reader(void *data)
{
    for (int i = 0; i < 512; i++)
        sum += ((long *)data)[8 * i];
    return data;
}
int main(void)
{
    /* 1: mov %rax, (%rdi); add $64, %rdi; dec %rsi; jnz 1b; ret; then with %rcx */
    unsigned char code[] = {0x48, 0x89, 0x07, 0x48, 0x83, 0xc7, 0x40, 0x48, 0xff, 0xce, 0x75, 0xf4, 0xc3};
    void *page = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char name[64];
    snprintf(name, sizeof name, "/tmp/perf-%d.map", getpid());
    FILE *file = fopen(name, "w");
    for (int i = 0; i < 2; i++) {
        pthread_t thread;
        code[2] = i ? 0x0f : 0x07;
        memcpy(page, code, sizeof code);
        fprintf(file, "%lx %lx store_%s\n", (unsigned long)page, sizeof code, i ? "second" : "first");
        ((void (*)(long *, long))page)(lines[i], 512);
        pthread_create(&thread, 0, reader, lines[i]);
        pthread_join(thread, 0);
    }
    fclose(file);
    fprintf(stderr, "pid %d\n", getpid());
    return 0;
}
END
if [ "$(uname -m)" = x86_64 ] && cc -O1 -o touch touch.c -pthread; then
    check_json "reuse names the code that was there" \
        '{c["at"]["function"] for c in d["code"]} >= {"store_first", "store_second"} and {f for c in d["code"] for f in c["at"]["path"]} >= {"store_first", "store_second"}' \
        "$ASSAY" reuse --json -- ./touch
    tidy
    check_json "… so does comm" \
        '{c["from"]["function"] for c in d["code_pairs"]} >= {"store_first", "store_second"} and {f for c in d["code_pairs"] for f in c["from"]["path"]} >= {"store_first", "store_second"}' \
        "$ASSAY" comm --json -- ./touch
    tidy
fi
check_json "a program that tells nothing" 'all("jit_" not in f["function"] for f in d["functions"])' \
    "$ASSAY" stat --json -- "$WORKLOADS/jit" none 65536

check "… record" "$ASSAY" record -q -o nameless.db -- "$WORKLOADS/jit" none 65536
check "… says how it could" bash -c '"$1" report nameless.db | tr -s "\n " " " | grep -q "% of the time is in code that the program made .*/tmp/perf-PID.map"' - "$ASSAY"
read -ra asks_java <<<"$("$ASSAY" report nameless.db | tr -s '\n ' ' ' | grep -o 'java [^;]*;' | tr -d ';')"
if command -v java >/dev/null; then
    check "… in a way that java takes" "${asks_java[@]}" -version
else
    skip "… in a way that java takes" "no java"
fi

# Chains that end in made code are told, although they have callers; those that end elsewhere are not.
printf 't 7 %d.0: 1000 cycles:u:\n\t401136 leaf+0x6 (/opt/t)\n\t%s\n\n' 1 '5000 py::f+0x0 (/tmp/perf-7.map)' 2 '401200 main+0x6 (/opt/t)' >made.txt
check "chains into made code" "$ASSAY" import -q -o made.db made.txt
check_json "… are told" '[q["value"] for q in d["summary"]["quality"] if q["key"] == "made_chains"] == [0.5]' "$ASSAY" report --json made.db
check "… in a line" bash -c '"$1" report made.db | tr -s "\n " " " | grep -q "note: 50 % of the call chains end in code that the program made"' - "$ASSAY"

# On the machine; the sizes are such that each has samples.
if "$ASSAY" record -q --source=timer -o native.db -- "$STATIC/nothing" 2>/dev/null; then
    for kind in map dump; do
        check "on the machine: $kind" "$ASSAY" record -q --source=timer --rate 1000 -o native.db -- "$WORKLOADS/jit" $kind 200000000
        tidy
        # Only a dump tells when a function was made.
        check_json "… has the names" "{'jit_first', 'jit_third'} | ({'jit_second'} if '$kind' == 'dump' else set()) <= {r['function'] for r in d['rows']}" \
            "$ASSAY" report --json native.db
        check_json "… and says so" "any(q['key'] == 'guessed_names' for q in d['summary']['quality']) == ('$kind' == 'map')" "$ASSAY" report --json native.db
    done
    # Java's -XX:+DumpPerfMapAtExit writes its names when the samples have long been taken.
    cat >late.c <<'END'
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
int main(void)
{
    /* mov rax, rdi; loop: dec rax; jnz loop; ret */
    static const unsigned char code[] = {0x48, 0x89, 0xf8, 0x48, 0xff, 0xc8, 0x75, 0xfb, 0xc3};
    void *page = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memcpy(page, code, sizeof code);
    ((void (*)(long))page)(300000000);
    char name[64];
    snprintf(name, sizeof name, "/tmp/perf-%d.map", getpid());
    FILE *file = fopen(name, "w");
    fprintf(file, "%lx %lx late_name\n", (unsigned long)page, sizeof code);
    fclose(file);
    printf("pid %d\n", getpid());
    return 0;
}
END
    if [ "$(uname -m)" = x86_64 ] && cc -O1 -o late late.c; then
        check "on the machine: a map that is written at the end" "$ASSAY" record -q --source=timer -o late.db -- ./late
        tidy
        # With what the kernel did meanwhile, which on a busy machine can be a fifth of so short a run.
        check_json "… names all samples" '(lambda of: of.get("late_name", 0) > 0.8 and of.get("[anon]", 0) == 0)({r["function"]: r["total_share"] for r in d["rows"]})' "$ASSAY" report --json late.db
        check_json "… and their call paths" 'any(r["function"] == "late_name" and r["total_share"] > 0.8 for r in d["rows"])' "$ASSAY" report --calls --json late.db
        # Neither unwind tables nor a frame pointer: as the code of Java, which keeps them when asked.
        says_why() { "$ASSAY" report late.db | tr -s '\n ' ' ' | grep -q 'of the call chains in user code have no caller: most of them are in code that the program made .*-XX:+PreserveFramePointer'; }
        check "… and why these have no callers" says_why
    fi
else
    skip "on the machine" "no timer source here"
fi

if command -v node >/dev/null; then
    check "node" "$ASSAY" record -q --source=timer -o node.db -- node --perf-basic-prof \
        -e 'console.log("pid " + process.pid); function hot(n) { let s = 0; for (let i = 0; i < n; i++) s += i % 7; return s; } for (let i = 0; i < 300; i++) hot(1e6);'
    tidy
    check_json "… names its functions" 'any("hot" in (r["function"] or "") for r in d["rows"])' "$ASSAY" report --json node.db
else
    skip "node" "it is not installed"
fi
