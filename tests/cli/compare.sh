#!/usr/bin/env bash
# assay compare: the JSON contract, what must hold whatever the program and the machine, every option, traces and what
# others make of them, observers of the user's own, and bad input.
# plain-only: long runs; sanitized.sh writes documents and traces under sanitizers
# time-limit: 240
# shellcheck disable=SC2016 # scripts in single quotes are the programs to measure
DEFAULT_CORE=boom-tip
. "$(dirname "$0")/lib.sh"

compare() { "$ASSAY" compare "$@"; }
demo=$STATIC/demo
known=$WORKLOADS/known
cores="boom-tip boom-tea golden-cove-like zen4-like"
[ -z "${SANITIZED:-}" ] || cores="boom-tip zen4-like" # the others differ in numbers alone
riscv=$([ -x "$WORKLOADS/demo-riscv64-static" ] && echo "$WORKLOADS/demo-riscv64-static")

# What holds knows beside near.
HOLDS='
def timeless(document):
    return {name: value for name, value in document.items() if name not in ("seconds", "mips")}
def sampler(document, name):
    return next(entry for entry in document["samplers"] if entry["name"] == name)
'

# ---- the document --------------------------------------------------------------------------------------------------
check "a run" compare --json -o first.json --max 600k --top 1000000 -- "$demo" 2
holds "the contract's fields" '
    all(isinstance(d[name], (int, float)) and d[name] > 0 for name in ("cycles", "instructions", "ipc", "mips"))
    and all(isinstance(s["name"], str) and isinstance(s["samples"], int)
            and sorted(s["error"]) == sorted(s["systematic"]) == ["block", "function", "instruction"]
            and all(0 <= s[kind][of] <= 1 for kind in ("error", "systematic") for of in s[kind])
            for s in d["samplers"])' first.json
holds "what was run, and on what" '
    d["program"][1:] == ["2"] and d["source"] == "model" and d["core"] == "boom-tip" and d["frequency"] == 3.2e9
    and d["threads"] == 1 and d["period"] == 1009 and d["random"] is False and d["complete"] is False
    and d["signal"] is None' first.json
holds "all twelve samplers, the worst first, then those with events" '
    [s["name"] for s in d["samplers"]] == ["software", "dispatch", "lci", "nci", "nci+ilp", "tip-ilp", "tip",
                                           "ris", "ibs", "spe", "nci-tea", "tea"]' first.json
holds "rows" '
    all(sorted(r["samplers"]) == sorted(s["name"] for s in d["samplers"]) and r["address"].startswith("0x")
        and r["text"] and 0 < r["share"] <= 1 and r["cycles"] > 0 for r in d["rows"])
    and [r["cycles"] for r in d["rows"]] == sorted((r["cycles"] for r in d["rows"]), reverse=True)' first.json
holds "every cycle was charged, once" '
    math.isclose(sum(r["cycles"] for r in d["rows"]), d["cycles"], rel_tol=1e-9)
    and math.isclose(sum(r["share"] for r in d["rows"]), 1, rel_tol=1e-9)
    and math.isclose(sum(d["stack"].values()), 1, rel_tol=1e-9)
    and math.isclose(sum(d["states"].values()), 1, rel_tol=1e-9)' first.json
holds "every sampler charges all of its profile to instructions" '
    all(math.isclose(sum(r["samplers"][s["name"]] for r in d["rows"]), 1, rel_tol=1e-9) for s in d["samplers"])' first.json
holds "samples are a period apart" '
    all(s["samples"] + s["dropped"] == d["cycles"] // d["period"] for s in d["samplers"])' first.json
holds "the stack has its parts, and a class" '
    list(d["stack"]) == ["execution", "alu_stall", "load_stall", "store_stall", "front_end", "mispredict", "misc_flush"]
    and d["class"] in ("compute", "flush", "stall")' first.json
check "the same again" compare --json -o second.json --max 600k --top 1000000 -- "$demo" 2
holds "the same input gives the same document" 'timeless(d[0]) == timeless(d[1])' first.json second.json
bytes() { sed '/"seconds":/d; /"mips":/d' "$1"; }
check_same "… to the byte" "$(bytes first.json | cksum)" "$(bytes second.json | cksum)"
check "a program that sleeps" compare -o sleeps.txt -- sleep 0.01
check "… is said to" grep -q '^note: the program sleeps' sleeps.txt
check_stdout_equals "" "-o leaves stdout to the program" compare -o text.txt --max 200k -- "$WORKLOADS/demo" 1
check "… a part of the run has the linker's share" grep -qE "^'.*demo' on .*: the first 200,000 instructions of a run of unknown length, [0-9]+ % of them in ld-" text.txt
check "the text has the same figures" grep -qE '^tip +[0-9]+ ' text.txt
check_json "stdout is the document alone" 'd["instructions"] > 0' compare --json -- sh -c 'echo noise'
check_same "… and the program's own goes to stderr" noise "$(grep -v '^assay' <<<"$err")"

# ---- counts are those of assay stat ---------------------------------------------------------------------------------
same_counts() {
    local name=$1
    shift
    run "$ASSAY" stat --json -o stat.json "$@"
    run compare --json -o compare.json "$@"
    holds "$name: instructions are those of assay stat" 'd[0]["instructions"] == d[1]["instructions"] > 0' stat.json compare.json
}
same_counts "a program to its end" -- "$STATIC/nothing"
same_counts "a region" --skip 5000 --max 50k -- "$demo" 1
same_counts "from a function to another" --from words_count --to sort -- "$demo" 1
same_counts "rep instructions" -- "$known/x86-rep-movsb-4000"
same_counts "signals" -- "$known/x86-signal-fault"
same_counts "threads" -- "$known/x86-threads-3"

# ---- samplers -------------------------------------------------------------------------------------------------------
check "enough samples" compare --json -o dense.json --max 1500k --period 53 --sweep 1k,101 -- "$demo" 3
holds "TIP is the best for instructions" '
    all(sampler(d, "tip")["error"]["instruction"] < s["error"]["instruction"]
        for s in d["samplers"] if s["name"] not in ("tip", "tea"))' dense.json
holds "TIP has no systematic error" 'sampler(d, "tip")["systematic"] == {"instruction": 0, "block": 0, "function": 0}' dense.json
holds "in the order of the paper" '
    (lambda e: e["tip"] < e["tip-ilp"] < e["nci"] < min(e["lci"], e["dispatch"], e["software"]))(
        {s["name"]: s["systematic"]["instruction"] for s in d["samplers"]})' dense.json
holds "coarser is never worse" '
    all(s[kind]["function"] <= s[kind]["block"] + 1e-12 and s[kind]["block"] <= s[kind]["instruction"] + 1e-12
        for s in d["samplers"] for kind in ("error", "systematic"))' dense.json
holds "a sweep has its periods, and more samples are better" '
    [entry["period"] for entry in d["sweep"]] == [1000, 101]
    and d["sweep"][0]["samplers"][6]["error"]["instruction"] > d["sweep"][1]["samplers"][6]["error"]["instruction"]
        > sampler(d, "tip")["error"]["instruction"]' dense.json
check "the sweep's period alone" compare --json -o alone.json --max 1500k --period 101 -- "$demo" 3
holds "a sweep's entry is what its period alone gives" 'd[0]["sweep"][1]["samplers"] == d[1]["samplers"]' dense.json alone.json
holds "chance explains the errors of TIP, and not those of a software sampler" '
    all(0 < s["chance"][level] < 1 for s in d["samplers"] for level in ("instruction", "block", "function"))
    and sampler(d, "tip")["agrees"] == {"instruction": True, "block": True, "function": True}
    and sampler(d, "software")["agrees"]["instruction"] is False' first.json
check_json "… and no verdict where samples are too few" 'all(s["agrees"]["instruction"] is None for s in d["samplers"])' compare --json --max 20k --period 5000 -- "$demo" 1
check "a choice" compare --json -o some.json --max 600k --samplers tip,nci+ilp -- "$demo" 2
holds "only those, in that order, with the same results" '
    [s["name"] for s in d[0]["samplers"]] == ["tip", "nci+ilp"]
    and all(s == sampler(d[1], s["name"]) for s in d[0]["samplers"])' some.json first.json
check "none" compare --json -o none.json --max 600k --samplers none -- "$demo" 2
holds "no sampler, the same Oracle" '
    d[0]["samplers"] == [] and all(d[0][key] == d[1][key] for key in ("cycles", "stack", "states", "counters"))' none.json first.json
check_json "a rate is a period at the machine's frequency" 'd["period"] == 1000' compare --json --rate 3200000 --max 20k -- "$demo" 1
check_json "… of its own machine" 'd["period"] == d["frequency"] / 1e6' compare --json --core zen4-like --rate 1000000 --max 20k -- "$demo" 1
random() { compare --json --max 300k --random "$@" -- "$demo" 2; }
check "random" random -o random-1.json
check "random, seed 1" random --seed 1 -o random-1a.json
check "random, seed 2" random --seed 2 -o random-2.json
holds "a seed gives the same samples, another gives others" '
    timeless(d[0]) == timeless(d[1]) and d[0]["random"] is True and d[0]["samplers"] != d[2]["samplers"]
    and d[0]["cycles"] == d[2]["cycles"] and d[0]["stack"] == d[2]["stack"]' random-1.json random-1a.json random-2.json
check_json "--top" 'len(d["rows"]) == 3' compare --json --top 3 --max 20k -- "$demo" 1
check_json "--top 0" 'd["rows"] == []' compare --json --top 0 --max 20k -- "$demo" 1

# ---- several machines -----------------------------------------------------------------------------------------------
check "two machines" compare --json -o both.json --max 600k --core boom-tip,zen4-like -- "$demo" 2
check "the second alone" compare --json -o second.json --max 600k --core zen4-like -- "$demo" 2
holds "each is what it is alone" '
    d[0]["core"] == "boom-tip" and [c["core"] for c in d[0]["cores"]] == ["boom-tip", "zen4-like"]
    and all(c[key] == other[key] for c, other in zip(d[0]["cores"], d[1:]) for key in c)' both.json first.json second.json
check "as text" compare --max 20k --core boom-tip,zen4-like -o both.txt -- "$demo" 1
check_same "a line for each" 2 "$(sed -n '/^The machines/,$p' both.txt | grep -c '^boom-tip\|^zen4-like')"
# A process that starts while all others wait starts in the present; what it costs is its own.
cat >forks.c <<'END'
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    for (volatile int i = 0; i < 200000; i++)
        ;
    for (int n = atoi(argv[1]); n > 0; n--) {
        if (fork() == 0)
            _exit(0);
        wait(NULL);
    }
    if (argc > 2)
        execl(argv[0], argv[0], "0", NULL);
}
END
if check "a program that forks builds" cc -O1 -o forks forks.c; then
    for n in 0 1 2 3; do compare -q --json --samplers none -o "forks-$n.json" -- ./forks "$n" >/dev/null; done
    holds "each child costs little beside what was before it" '
        all(0 < one["cycles"] - d[0]["cycles"] < 0.2 * d[0]["cycles"] for one in d[1:])' forks-0.json forks-1.json forks-2.json forks-3.json
    check "a program that executes itself" compare -q --json --samplers none -o twice.json -- ./forks 0 again
    holds "its time goes on" '1.8 * d[0]["cycles"] < d[1]["elapsed_cycles"] == d[1]["cycles"]' forks-0.json twice.json
fi
printf 'one two three\n' >words
check "a program that reads its input" compare --core boom-tip,boom-tea --json -o words.json -- wc -w <words
holds "… reads it on each machine" 'd["cores"][0]["instructions"] == d["cores"][1]["instructions"]' words.json
check_fails 2 'either --rate or --period' "a period and a rate" "$ASSAY" compare --period 5 --rate 100 -- true
check_fails 2 'names no period' "an empty sweep" "$ASSAY" compare --sweep , -- true
check_fails 2 'no machine .nope' "nothing runs when the second is wrong" compare --core boom-tip,nope -- "$demo" 1
check_fails 2 'names no machine' "no machine" compare --core , -- "$demo" 1
check_fails 2 'a file for one machine' "a trace of two machines" compare --core boom-tip,boom-tea --konata k -- "$demo" 1

# ---- machines -------------------------------------------------------------------------------------------------------
# A signal ends the runs on all machines. A run that it cut off compares with nothing.
cut() { rm -f runs && compare --samplers none --core boom-tip,boom-tea,zen4-like "${@:3}" -- sh -c "$INTERRUPTING" sh "$1" "$2"; }
check_fails 130 'interrupted on the first of 3 machines' "SIGINT in the first of three runs" cut 1 INT -o none
check_same "… is the last run" 1 "$(wc -l <runs)"
check "… and there is no result" test ! -e none
check_status 143 "SIGTERM in the second" cut 2 TERM --json -o cut.json
check_same "… is the last run" 2 "$(wc -l <runs)"
holds "… leaves the first machine, and names the others" 'd["complete"] is False and d["missing_cores"] == ["boom-tea", "zen4-like"]
    and [c["core"] for c in d["cores"]] == ["boom-tip"] and d["signal"] is None' cut.json
check_status 130 "SIGINT in the third" cut 3 INT
check_same "… leaves two machines" "2 Interrupted: there is no whole run on zen4-like" "$(grep -c '^boom-t.. ' <<<"$out") $(grep Interrupted <<<"$out")"
check_same "… and says so" 1 "$(grep -c '^assay: interrupted on machine 3 of 3' <<<"$err")"
check_status 130 "the only machine" eval 'rm -f runs && compare --json -o alone.json --core boom-tip -- sh -c "$INTERRUPTING" sh 1 INT'
holds "… is reported as far as it went" 'd["complete"] is False and d["signal"] == 2 and "missing_cores" not in d' alone.json

for core in $cores; do
    for program in "$demo" $riscv; do
        name="$core, ${program##*/}"
        run compare --json -o "on-$core.json" --top 1000000 --core "$core" --max 150k -- "$program" 1
        holds "$name: all is accounted for" '
            d["instructions"] == 150000 and d["core"] == "'"$core"'" and 0.05 < d["ipc"] < 8
            and math.isclose(sum(r["cycles"] for r in d["rows"]), d["cycles"], rel_tol=1e-9)
            and sampler(d, "tip")["systematic"]["instruction"] == 0' "on-$core.json"
    done
    for program in x86-classes x86-rep-stosl-1000 x86-atomics x86-signal-fault rv-classes rv-atomics rv-fences rv-signal-illegal; do
        [ -x "$known/$program" ] || continue
        check "$core, $program" compare --core "$core" --max 100k -o /dev/null -- "$known/$program"
    done
    check "$core, threads" compare --core "$core" -o /dev/null -- "$STATIC/threads" -t 3 -w 100 -r 2
done
[ -n "$riscv" ] || skip "RISC-V programs" "no cross compiler"
holds "machines differ" 'len({one["cycles"] for one in d}) == len(d) >= 2' on-*.json
cp "$SOURCE/machines/boom-tip.machine" copy.machine
check "a machine file by its path" compare --core ./copy.machine --json -o copy.json --max 600k --top 1000000 -- "$demo" 2
holds "… is the same machine" 'timeless(d[0]) == timeless(d[1])' first.json copy.json
check "values changed" compare --set back.rob=16 --set memory.l1d.latency=9 --json -o small.json --max 600k -- "$demo" 2
holds "a smaller machine is slower" 'd[0]["cycles"] * 1.1 < d[1]["cycles"]' first.json small.json
# What each level is asked for is what the levels above it miss and prefetch: only if all cores' counters are added up.
check "two threads, all levels prefetch" compare --json -o two.json --core zen4-like --samplers none -- "$STATIC/threads" -t 2 -w 200 -r 3
holds "the counters of all cores add up, and those of what they share count once" '
    all(c["threads"] == 3 and c["l1d_prefetches"] > 0 and c["walk_accesses"] > 0
        and c["l2_accesses"] == sum(c[k] for k in ("l1i_misses", "l1d_misses", "l1i_prefetches", "l1d_prefetches", "walk_accesses"))
        and c["llc_accesses"] == c["l2_misses"] + c["l2_prefetches"] and c["dram_reads"] == c["llc_misses"] + c["llc_prefetches"]
        and c["prefetches"] == sum(c[k + "_prefetches"] for k in ("l1i", "l1d", "l2", "llc"))
        for c in [d["counters"]])' two.json
holds "the profile's format names all counters" '
    [c for c in d["counters"] if f"`{c}`" not in open("'"$SOURCE"'/doc/format/profile.md").read()] == []' two.json
check "threads" compare --json -o threads.json -- "$STATIC/threads" -t 4 -w 200 -r 3
holds "four and the main one, each with a core of its own" '
    d["threads"] == 5 and d["elapsed_cycles"] < d["cycles"]' threads.json
cp "$WORKLOADS/demo" bare && strip bare
check "a program without symbols" compare --json -o bare.json --max 600k --top 50 -- ./bare 2
holds "… is known by its module" 'all(r["function"] is None or r["function"].startswith("bare+0x") for r in d["rows"] if "bare" in r["module"])' bare.json

# ---- traces ---------------------------------------------------------------------------------------------------------
small() { compare -q --max 12 -o /dev/null "$@" -- "$known/x86-branch-alternate" && cat "$2"; }
check_golden trace.konata "a small Konata trace" small --konata trace.konata
check_golden trace.o3pipeview "a small O3PipeView trace" small --o3pipeview trace.o3pipeview
check_stderr_line 'wrote tokens \([0-9.]+ [kM]B\)' "its size is told" compare -o /dev/null --cycle-trace tokens --max 60k -- "$demo" 1
check "instructions that nothing dispatches behind have their bit (doc/format/traces.md)" python3 -IS - <<'END'
import struct
COMMITTING, VALID, EMPTY, CSR_STALL = (1 << bit for bit in (0, 1, 3, 7))
flags = [token[2] for token in struct.iter_unpack("<QQBBHHH5Q", open("tokens", "rb").read())]
stalls = [one for one in flags if one & CSR_STALL]
assert 0 < len(stalls) < len(flags) and all(one & VALID and not one & (COMMITTING | EMPTY) for one in stalls), set(stalls)
END
check "a core that is wider than the tools of TIP's authors" compare -o /dev/null --core zen4-like --cycle-trace-all wide --max 2k -- "$demo" 1
check_same "… is told" 1 "$(grep -cE -e '--cycle-trace-all: zen4-like commits up to [0-9]+ instructions a cycle; .* more than five has several tokens' <<<"$err")"
check "… one that is not" compare -o /dev/null --core boom-tea --cycle-trace-all wide --max 2k -- "$demo" 1
check_same "… is not" 0 "$(grep -c 'instructions a cycle' <<<"$err")"
rm -f wide
check_same "whole tokens" 0 $(($(wc -c <tokens) % 64))

# others PROGRAM…: samplers that know nothing but the tokens get our profiles.
others() {
    local name=$1
    shift
    rm -f tokens tokens[.-]*
    run compare -q --json -o rows.json --top 10000000 --cycle-trace tokens --cycle-trace-all tokens-all "$@"
    check "$name: samplers on the tokens alone" python3 "$SOURCE/tests/cli/cycle_samplers.py" rows.json tokens
}
for core in $cores; do
    others "$core" --core "$core" --period 41 --max 10k -- "$demo" 2
    [ -z "$riscv" ] || others "$core, RISC-V" --core "$core" --period 41 --max 10k -- "$riscv" 2
done
others "every cycle" --period 1 --max 8k -- "$demo" 1
others "threads" --period 31 --from main -- "$STATIC/threads" -t 2 -w 2 -r 1
check_same "a file for each thread" "tokens tokens-all tokens-all.2 tokens-all.3 tokens.2 tokens.3" "$(LC_ALL=C && echo tokens*)"
others "rep instructions" --period 3 -- "$known/x86-rep-movsb-4000"
cat >becomes.c <<'END'
#include <unistd.h>
int main(int argc, char **argv)
{
    return argc > 1 && execl(argv[0], argv[0], NULL);
}
END
check "a program that becomes another builds" cc -O1 -static -o becomes becomes.c
others "another program" --period 97 -- ./becomes again

# Instructions in the Konata trace and their stages, by a reader of its own: as many as there are, in order.
check "a trace of threads" compare -q -o /dev/null --konata many --o3pipeview many.o3 -- "$STATIC/threads" -t 2 -w 20 -r 1
retired=$(cat many many.2 many.3 | grep -c $'^R\t[0-9]*\t[0-9]*\t0$')
check_same "Konata and O3PipeView have the same instructions" "$retired" "$(cat many.o3 many.o3.2 many.o3.3 | grep -c '^O3PipeView:retire')"
check_same "Konata: all that appears retires or is flushed" "$(grep -c $'^I\t' many)" "$(grep -c $'^R\t' many)"
mkdir made && cd made || exit 1
check_fails 125 'cannot write nowhere/trace' "a trace in a directory that is not there" compare --konata nowhere/trace -- "$demo"
check_fails 2 '--interval=67108865: must be at most 67108864' "intervals that are too long" \
    compare --counters c.csv --interval 67108865 -- "$demo"
check "no samplers" compare -q -o none.txt --samplers=none --max 1k -- "$demo" 1
check_same "… have no table" 0 "$(grep -c '^sampler ' none.txt)"
rm none.txt
check_fails 2 '--konata and --o3pipeview cannot write to one file' "two traces in one file" compare --konata one --o3pipeview one -- "$demo"
check_fails 2 'two observers' "two observers with one file" compare --observer konata,one --observer o3pipeview,one -- "$demo"
check_status 127 "a trace of a program that is not there" compare --konata k --o3pipeview o --cycle-trace c -- ./absent
check_status 125 "a disk that is full" compare -o /dev/null --cycle-trace /dev/full --max 100k -- "$demo" 1
timeout -s KILL 1 "$ASSAY" compare -q -o result --konata k --cycle-trace c -- "$demo" 100 >/dev/null 2>&1
check_same "nothing half-written is left, even when killed" "" "$(ls -A)"
cd .. || exit 1

# ---- observers ------------------------------------------------------------------------------------------------------
example=$BUILD/doc/examples/observer/longest_stay.so
cases=$BUILD/tests/unit/observe
observed() { compare --max 50k "$@" -- "$demo" 1; }
crashing() { ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0 observed "$@"; } # what it had is lost
check "the example" observed --observer "$example,3" -o example.txt
check_same "… says what it saw, behind our own" 1 "$(tail -n 4 example.txt | grep -c 'longest stay in a reorder buffer of 128')"
check "two observers" observed --observer "$cases/observer_good.so,one" --observer "$cases/observer_good.so,two" -o two.txt
check_same "… and both say it" "boom-tip one boom-tip two" "$(tail -n 2 two.txt | awk '{ print $1, $3 }' | xargs)"
check_json "with --json" 'd["instructions"] == 50000' observed --json --observer "$cases/observer_good.so,x"
check_same "… what it says goes to stderr" 1 "$(grep -cE '^boom-tip [0-9]+ x$' <<<"$err")"
for crash in aborts_in_batch:SIGABRT overflows_in_batch:SIGSEGV divides_in_finish:SIGFPE crashes_in_free:SIGSEGV; do
    check_fails 125 "observer 'counter' crashed \(${crash#*:}\)" "an observer that ${crash%:*}" \
        crashing -o crashed.txt --observer "$cases/observer_${crash%:*}.so"
    check "… costs nobody else anything" grep -qE '^tip +[1-9][0-9]* ' crashed.txt
    rm -f crashed.txt
done
check_fails 125 'crashed when it was created' "one that crashes in create" observed --observer "$cases/observer_crashes_in_create.so"
check_fails 125 "version 77 .*this is version 2: build it again" "one of another version" observed --observer "$cases/observer_wrong_version.so"
check_fails 125 "version 1 .*this is version 2: build it again" "one of the version before" observed --observer "$cases/observer_version_1.so"
check_fails 125 'records of 48 bytes' "one with other records" observed --observer "$cases/observer_wrong_record.so"
check_fails 125 'cannot work with the argument what' "one that declines" observed --observer "$cases/observer_declines.so,what"
check_fails 125 'does not export' "one that is none" observed --observer "$cases/observer_nothing.so"
check_fails 125 'cannot load' "one that is not there" observed --observer ./absent.so
check_fails 125 'cannot load' "a file that is no shared object" observed --observer "$SOURCE/LICENSE"

# ---- bad input ------------------------------------------------------------------------------------------------------
bad() { check_fails 2 "$1" "$2" compare "${@:3}" -- "$demo" 1; }
bad "no machine 'nope'; there are: boom-tea, boom-tip" "an unknown machine" --core nope
bad "unknown sampler 'tap'" "an unknown sampler" --samplers tip,tap
bad "names no sampler" "no sampler" --samplers ,
bad "'tip' is named twice" "a sampler twice" --samplers tip,nci,tip
bad "at least 1" "period 0" --period 0
bad "not a number" "a period that is none" --period ten
for rate in 0 -5 1e-30; do bad "--rate=$rate: the rate must be" "rate $rate" --rate "$rate"; done
for rate in nan inf fast; do bad "--rate=$rate: not a number" "rate $rate" --rate "$rate"; done
for period in 0 -5 x 99999999999999999999; do bad "'$period' is not a period" "a sweep with $period" --sweep "100,$period"; done
bad "no machine has the key 'back.rop'; did you mean 'back.rob'" "an unknown key" --set back.rop=8
bad "not of the form key=value" "no value" --set back.rob
bad "not allowed" "a value out of range" --set back.rob=0
bad "not allowed" "a value that is no number" --set back.rob=many
bad "unknown option" "an unknown option" --konato x
check_fails 2 'no program given' "no program" compare --json
check_fails 127 'not found' "a program that is not there" compare -- ./absent
check_fails 125 'cannot be read' "a machine that is a directory" compare --core / -- "$demo"
check_fails 125 'no value for' "an empty machine file" compare --core /dev/null -- "$demo"
machine() { compare --core ./bad.machine -o /dev/null --max 1000 -- "$demo" 1; }
broken() {
    sed "$2" "$SOURCE/machines/boom-tip.machine" >bad.machine
    check_fails 125 "$1" "a machine file: $1" machine
}
broken 'bad.machine:[0-9]+: .*no machine has the key|bad.machine:[0-9]+: .*back.rop' 's/^back.rob/back.rop/'
broken 'bad.machine.*back.rob' 's/^back.rob = .*/back.rob = -3/'
broken 'bad.machine.*back.rob' 's/^back.rob = .*/back.rob = 128 128/'
broken 'bad.machine.*back.rob' '/^back.rob =/d'
broken 'bad.machine.*back.rob' '/^back.rob =/p'
broken 'bad.machine.*memory.l1d' 's/^memory.l1d.ways = .*/memory.l1d.ways = 7/'

# Machine files with random damage: refused in one line, or used; never a crash.
cat >damage.py <<'PYTHON'
import random, sys
number = int(sys.argv[2])
random.seed(number)
data = bytearray(open(sys.argv[1], "rb").read())
for _ in range(random.randint(1, 6)):
    at = random.randrange(len(data))
    kind = random.randrange(5)
    if kind == 0:
        data[at] = random.randrange(256)
    elif kind == 1:
        del data[at:at + random.randint(1, 200)]
    elif kind == 2:
        data[at:at] = data[:random.randint(1, 100)]
    else: # where it hurts: a digit
        digits = [i for i, byte in enumerate(data) if 48 <= byte <= 57 and b"=" in data[max(0, i - 12):i]]
        data[random.choice(digits)] = random.choice(b"0123456789eE.-")
open("bad.machine", "wb").write(data)
PYTHON
wrong=''
for number in $(seq 12); do
    python3 damage.py "$SOURCE/machines/boom-tip.machine" "$number"
    run machine
    lines=$(grep -c . <<<"$err")
    case $status:$lines in 0:0 | 0:1 | 125:1 | 2:1) ;; *) wrong+="$number: status $status, $lines lines: $err"$'\n' ;; esac
done
check_same "damaged machine files" "" "$wrong"

# ---- programs that come to a bad end, and runs with nothing in them -------------------------------------------------
check_status 139 "a program that is killed" compare --json -o killed.json -- sh -c 'kill -SEGV $$'
check_same "… is told" 1 "$(grep -c 'killed by signal 11' <<<"$err")"
holds "… and what ran until then is there, and marked" '
    d["complete"] is False and d["signal"] == 11 and d["exit_status"] == 139 and d["instructions"] > 10000
    and sampler(d, "tip")["samples"] > 0' killed.json
check_status 139 "… in text too" compare -o killed.txt -- sh -c 'kill -SEGV $$'
check_same "… marked" 1 "$(grep -c 'until it was killed' killed.txt)"
check_status 7 "a program that fails" compare --json -o fails.json -- sh -c 'exit 7'
holds "… is complete" 'd["complete"] is True and d["exit_status"] == 7 and d["signal"] is None' fails.json
check "a period longer than the run" compare --json -o none.json --period 1G --max 50k -- "$demo" 1
holds "no samples: errors are null" '
    all(s["samples"] == 0 and set(s["error"].values()) == set(s["systematic"].values()) == {None} for s in d["samplers"])
    and d["cycles"] > 0' none.json
check "… in text" compare -o none.txt --period 1G --max 50k -- "$demo" 1
check_same "… '-'" 1 "$(grep -cE '^tip +0 +- +- +- +- +- +-' none.txt)"
check "a region that is never reached" compare --json -o empty.json --konata empty --from nowhere -- "$demo" 1
check_same "… is told" 1 "$(grep -c "never reached 'nowhere'" <<<"$err")"
holds "… has nothing in it" 'd["instructions"] == d["cycles"] == 0 and d["rows"] == []' empty.json
check_same "… nor has its trace" $'Kanata\t0004' "$(cat empty)"
check_no_strays "nothing is left running"
