#!/usr/bin/env bash
# assay blocks of recordings, against the exact counts that the recordings were made from; and ways of sampling in the
# model.
# plain-only: long runs; unit tests of its parts run under the sanitizers
. "$(dirname "$0")/lib.sh"

cp "$SOURCE/tests/cli/blocks_victim.c" victim.c
check "the program" cc -O1 -g -pie -fPIE -fno-if-conversion -fno-if-conversion2 -o victim victim.c
"$ASSAY" blocks --json --module victim -o exact.json -- ./victim
record() { python3 "$SOURCE/tests/cli/blocks_recording.py" exact.json victim "$@"; }
# Shares of executed instructions by block, of the functions that the walk knows.
cat >off.py <<'END'
import json, sys
def shares(path):
    own = {b["address"]: b["instructions"] * b["executions"] for b in json.load(open(path))["blocks"]
           if b["function"] in ("main", "middle", "leaf")}
    total = sum(own.values())
    return {a: n / total for a, n in own.items()}
exact, got = shares("exact.json"), shares(sys.argv[1])
print(sum(abs(exact.get(a, 0) - got.get(a, 0)) for a in exact.keys() | got.keys()) < float(sys.argv[2]))
END
off() { python3 off.py "$@"; }

# 2000 stacks of 15 runs: each block's share is off by some 1 %, so all of them together by far less than 10 %.
record taken.data taken
"$ASSAY" blocks --json -o taken.json taken.data
check_stdout_equals True "branch stacks give the counts" off taken.json 0.10
holds "… by the method of branch stacks" 'd["method"] == "lbr" and d["trouble"]["impossible"] == 0' taken.json
holds "… all of them" 'd["trouble"]["used"] > 0.9 * 2000 * 29 and d["trouble"]["between"] == 0' taken.json
holds "… believes it" '"the method to believe" in d["advice"]' taken.json
holds "… with an interval for each block" 'all(0 < b["interval"] < 1.96 * 16 ** 0.5 for b in d["blocks"])' taken.json
run "$ASSAY" blocks --csv taken.data
check_same "… in CSV too" "module,function,address,offset,lines,bytes,instructions,executions,share,samples,interval" "${out%%$'\n'*}"
"$ASSAY" blocks --json --balance -o balanced.json taken.data
check_stdout_equals True "balanced too" off balanced.json 0.10
holds "… and says so" 'd[0]["balanced"] is True and d[1]["balanced"] is False' balanced.json taken.json
# Nothing comes out of a block that did not come in, to another function either; ways out of a block are parts of it.
cat >law.py <<'END'
import json, sys
d = json.load(open(sys.argv[1]))
ways = [(b["executions"], sum(e["count"] for e in b["edges"] if (e["kind"] == "call") == call), b)
        for b in d["blocks"] for call in (False, True)]
own = [w for w in ways if w[2]["function"] in ("main", "middle", "leaf")]
print(all(out <= 1.001 * ran + 0.1 for ran, out, _ in own), all(0 < b["interval"] < 10 for _, _, b in own))
# What does not return goes on, behind calls too.
kinds = [({e["kind"] for e in b["edges"]} - {"call"}, ran, out) for ran, out, b in own[::2]]
print(len([k for k, _, _ in kinds if k]) > 8, all(out >= 0.999 * ran - 0.1 for k, ran, out in kinds if k))
END
check_stdout_equals $'True True\nTrue True' "… and consistent, with intervals" python3 law.py balanced.json
run "$ASSAY" blocks --balance --function main taken.data
check_same "… in text too: no way out is more than all" 0 "$(grep -cE '[0-9]{4,}\.[0-9]+ %|[2-9][0-9]{2}\.[0-9]+ % +(falls|jumps|calls)' <<<"$out")"
"$ASSAY" blocks --json --method ip -o ip.json taken.data
holds "addresses of the same recording" 'd["method"] == "ip" and "--method=lbr is more accurate" in d["advice"]' ip.json

record addresses.data addresses
"$ASSAY" blocks --json -o addresses.json addresses.data
"$ASSAY" blocks --never --json -o rare.json addresses.data
holds "what has no samples is not called never executed" 'd["not_sampled"] and "never_executed" not in d' rare.json
run "$ASSAY" blocks --never addresses.data
check_same "… nor in the text" "1 0" "$(grep -c '^No samples, ' <<<"$out") $(grep -c 'Never executed' <<<"$out")"
holds "addresses alone" 'd["method"] == "ip"' addresses.json
check_stdout_equals True "… give the counts, less accurately" off addresses.json 0.25
# Which way control went is an estimate then, but for blocks with one way out.
cat >ways.py <<'END'
import json
ways = [[e for e in b["edges"] if e["kind"] != "call"] for b in json.load(open("addresses.json"))["blocks"]]
print(any(len(w) == 2 for w in ways), all("estimated" in e for w in ways if len(w) > 1 for e in w),
      any(len(w) == 1 and "estimated" not in w[0] for w in ways))
END
check_stdout_equals "True True True" "… with ways that say that they are estimates" python3 ways.py
"$ASSAY" blocks --json --balance -o even.json addresses.data
check_stdout_equals True "… its loops are those of the addresses, without their measured counts" python3 -c 'import json
a, b = ([(l["address"], l["blocks"], l["iterations"], l["trip_count"]) for l in json.load(open(n))["loops"]] for n in ("addresses.json", "even.json"))
print(len(a) > 0 and a == b)'
check_stdout_equals $'True True\nTrue True' "… balanced they are consistent" python3 law.py even.json
run "$ASSAY" blocks --for bolt -o addresses.fdata addresses.data
check_same "… for BOLT they are balanced by themselves" 1 "$(grep -c 'counts are balanced as with --balance' <<<"$err")"
"$ASSAY" blocks -q --for bolt --balance -o balanced.fdata addresses.data
check_same "… as with --balance" "$(cat balanced.fdata)" "$(cat addresses.fdata)"
check_stdout_equals True "… and are large enough for whole numbers" python3 -c '
print(max(int(line.split()[-1]) for line in open("addresses.fdata")) >= 100000)'

# A part of a function that was moved away runs as often as control jumps there, sampled or not.
cat >cold.c <<'END'
volatile int sink;
__attribute__((cold, noinline)) void rare(int x) { sink += x; }
__attribute__((noinline)) int work(int x)
{
    if (x % 8 == 0) {
        rare(x);
        return x; /* from there: control does not come back to the rest */
    }
    return sink + x;
}
int main(void)
{
    for (int i = 0; i < 2000; i++)
        sink += work(i);
    return 0;
}
END
check "a program with a part that was moved away" cc -O2 -pie -fPIE -o cold cold.c
check_same "… there is one" 1 "$(nm cold | grep -c ' work\.cold$')"
"$ASSAY" blocks --json --module cold -o cold.exact.json -- ./cold
cat >cold.py <<'END'
import json, sys
blocks = [b for b in json.load(open(sys.argv[1]))["blocks"] if b["function"].startswith("work")]
cold = {b["address"]: b["executions"] for b in blocks if b["function"] == "work.cold"}
into = {a: sum(e["count"] for b in blocks for e in b["edges"] if e["to"] == a and e["kind"] != "call") for a in cold}
away = sum(e["count"] for b in blocks for e in b["edges"] if b["function"] == "work" and e["kind"] == "taken")
print(away > 0 and max(cold.values()) > 0.99 * away, all(abs(into[a] - n) <= 0.001 * n for a, n in cold.items()))
END
for what in "taken 2000" "addresses 2000" "addresses 30"; do # the last has none there
    python3 "$SOURCE/tests/cli/blocks_recording.py" cold.exact.json cold cold.data "${what% *}" "${what#* }"
    "$ASSAY" blocks -q --json --balance -o cold.json cold.data
    check_stdout_equals "True True" "… balanced: $what" python3 cold.py cold.json
done
check_fails 125 "the function 'work.cold' of .*cold has no samples" "… and has none without" "$ASSAY" blocks -q --function work.cold cold.data

# A recording and the profile made of it say the same, in the same unit.
record clock.data clock
cat >same.py <<'END'
import json, sys
a, b = (json.load(open(p)) for p in sys.argv[1:3])
counts = lambda d: {x["address"]: round(x["executions"], 6) for x in d["blocks"]}
print(a["unit"], a["unit"] == b["unit"] and counts(a) == counts(b) and abs(a["instructions"] - b["instructions"]) < 1e-3)
END
for what in "clock nanoseconds" "addresses instructions" "plain instructions"; do
    kind=${what% *}
    [ "$kind" = plain ] && record plain.data plain
    "$ASSAY" import -q --trust-paths -o "$kind.db" "$kind.data"
    for from in data db; do
        "$ASSAY" blocks -q --json --method ip -o "$kind.$from.json" "$kind.$from"
    done
    check_stdout_equals "${what#* } True" "a recording and its profile: $kind" python3 same.py "$kind.data.json" "$kind.db.json"
done
for from in data db; do
    check_fails 125 "counts neither instructions nor micro-operations" "a clock over micro-operations: $from" \
        "$ASSAY" blocks --method uops clock.$from
done

record bogus.data bogus
"$ASSAY" blocks --json -o bogus.json bogus.data
holds "entries that cannot be are left out, by reason" \
    'd["trouble"]["between"] > 0 and d["trouble"]["impossible"] + d["trouble"]["unknown"] > 0' bogus.json
check_fails 125 "the function '_start' of .*victim has no samples" "a function that was not sampled" "$ASSAY" blocks -q --function _start taken.data
check_stdout_equals True "… and the rest gives the counts" off bogus.json 0.12

record other.data other
check_status 125 "another file than the recorded one is refused" "$ASSAY" blocks other.data
run "$ASSAY" blocks other.data
check_same "… with the reason" 1 "$(grep -c "victim: the recording has no build-id of it, and the file here is another one or was changed" <<<"$err")"
check "… unless it is trusted" "$ASSAY" blocks --trust-paths other.data

record known.data build-id 200
check "the recorded build-id is the file's" "$ASSAY" blocks known.data
record unknown.data other-build-id 200
check_status 125 "another build-id is refused" "$ASSAY" blocks unknown.data
run "$ASSAY" blocks unknown.data
check_same "… with the reason" 1 "$(grep -c "victim: the file here is another one: its build-id is not the recorded one" <<<"$err")"

mv victim here
mkdir -p "root$PWD" home/.debug/.build-id
cp here "root$PWD/victim"
check_json "files below a relative --symfs, by the recorded path" '[m["module"] for m in d["modules"]] == ["'"$PWD"'/victim"]' \
    "$ASSAY" blocks --json --symfs root known.data
check "… for import too" "$ASSAY" import -q --symfs root -o below.db known.data
check_json "… and the profile knows where they are" '[m["module"] for m in d["modules"]] == ["'"$PWD"'/victim"]' \
    "$ASSAY" blocks --json below.db
check "… so code of it can be shown" "$ASSAY" annotate --blocks middle below.db
check_same "… without a complaint" 0 "$(grep -c "no longer exists" <<<"$out$err")"
check_fails 125 "not a directory" "… that is not there" "$ASSAY" blocks --symfs nowhere known.data
id=$(readelf -nW here | sed -n 's/.*Build ID: //p')
mkdir -p "home/.debug/.build-id/${id:0:2}/${id:2}"
cp here "home/.debug/.build-id/${id:0:2}/${id:2}/elf"
check_json "a file in perf's cache has its own name" '[m["module"] for m in d["modules"]] == ["'"$PWD"'/victim"]' \
    env HOME="$PWD/home" "$ASSAY" blocks --json --module victim known.data
mv here victim

record plain.data plain
"$ASSAY" blocks --json -o plain.json plain.data
# Each sample says that a block of its address ran 29 times: blocks of several instructions, so there are more instructions.
holds "taken branches without stacks are no instructions" \
    'd["instructions"] > 1.5 * 2000 * 29 and "counts are too low" in d["advice"] and abs(sum(b["executions"] for b in d["blocks"]) - 2000 * 29) < 1' plain.json
for how in lbr fixed flow; do
    check_fails 125 "have no branch stacks, which --method=$how needs" "--method=$how without stacks" "$ASSAY" blocks --method $how plain.data
done
check_fails 125 "counts branches" "branches over micro-operations" "$ASSAY" blocks --method uops plain.data
check_fails 125 "leave --drop-oldest out" "… nothing to drop" "$ASSAY" blocks --drop-oldest plain.data

record events.data events
check_json "several events through a pipe: the one with most samples" 'd["method"] == "lbr" and d["trouble"]["used"] > 0.9 * 2000 * 29' \
    sh -c 'cat events.data | "$0" blocks --json -' "$ASSAY"
check_json "… or the one that is asked for" 'd["method"] == "ip" and 0 < d["trouble"]["used"] <= 1000 * 29' \
    sh -c 'cat events.data | "$0" blocks - --json --event instr' "$ASSAY"

check_json "options behind the file" '{b["function"] for b in d["blocks"]} == {"leaf"}' "$ASSAY" blocks taken.data --json --function leaf
check_fails 2 "max is for runs of programs, not for a recording" "options of runs" "$ASSAY" blocks --max 5 taken.data
check_fails 2 "methods is for runs of programs, not for a recording" "… and ways of sampling" "$ASSAY" blocks taken.data --methods

"$ASSAY" blocks --for bolt --module victim -o victim.fdata taken.data
check_same "a profile for BOLT from samples" 1 "$(($(grep -c '^1 middle .* 1 leaf 0 ' victim.fdata) > 0))"
"$ASSAY" blocks --for bolt -o own.fdata taken.data
check_same "… of the program that ran most" "$(cat victim.fdata)" "$(cat own.fdata)"
check "… and for clang" "$ASSAY" blocks -q --for autofdo --module victim -o victim.prof taken.data
check_same "… with lines" 1 "$(grep -c '^middle:' victim.prof)"

check_status 2 "one recording at a time" "$ASSAY" blocks taken.data other.data
head -c 400 taken.data >short.data
check_fails 125 "not whole, and has no samples: the file ends too early" "a recording that ends before its samples" "$ASSAY" blocks short.data
# Feature sections behind the data that are not all there: the name of the host has 100 bytes too many.
python3 - <<'END'
import struct
data = bytearray(open("taken.data", "rb").read())
struct.pack_into("<Q", data, 72, 1 << 3)
end = len(data)
open("features.data", "wb").write(data + struct.pack("<QQ", end + 16, 4 + 8 + 100) + struct.pack("<I8s", 8, b"host"))
END
check_stderr_line "not whole: the file ends before its feature sections do" "feature sections that are cut" "$ASSAY" blocks features.data
check_status 125 "an event that is not there" "$ASSAY" blocks --event nothing taken.data
printf 'PERFILE2junk' >junk.data
check_status 125 "not a recording" "$ASSAY" blocks junk.data

"$ASSAY" import -q --trust-paths -o profile.db taken.data
"$ASSAY" blocks --json -o flow.json profile.db
check_stdout_equals True "a profile of it: branches without their order" off flow.json 0.10
check_fails 125 "needs the recording itself" "… no stacks" "$ASSAY" blocks --method lbr profile.db
check_fails 2 "symfs is for recordings of perf, not for a profile" "… nor options of recordings" "$ASSAY" blocks profile.db --symfs .
holds "… by the law of flow" 'd["method"] == "flow" and "without their order" in d["advice"]' flow.json
# The branches of a stack are not independent: it is one sample, so the profile knows no more than the recording did.
cat >wide.py <<'END'
import json
of = lambda path: {b["address"]: b["interval"] for b in json.load(open(path))["blocks"] if b["function"] in ("main", "middle", "leaf")}
recording, profile = of("taken.json"), of("flow.json")
print(len(profile) > 8 and all(0.6 < profile[a] / recording[a] < 1.6 for a in profile.keys() & recording.keys()))
END
check_stdout_equals True "… with intervals as wide as those of the recording" python3 wide.py
"$ASSAY" blocks --json --method ip -o profile_ip.json profile.db
holds "… or by its addresses" 'd["method"] == "ip"' profile_ip.json
# The loop of middle goes round seven times.
check_json "annotate has the blocks" 'sum(r["block_start"] for r in d["rows"]) > 3 and 5.5 < max(r["block_runs"] for r in d["rows"]) / d["rows"][0]["block_runs"] < 8.5' \
    "$ASSAY" annotate --blocks --json middle profile.db
check "… as text" "$ASSAY" annotate --blocks middle profile.db
check_same "… in a column" 1 "$(grep -c '^  share   block runs ' <<<"$out")"
run "$ASSAY" annotate --blocks middle clock.db
check_same "… of a clock it is time" 1 "$(grep -c '^  share   block time ' <<<"$out")"
for from in data db; do
    run "$ASSAY" blocks --for pre-aggregated -o clock.bolt clock.$from
    check_same "--for of a clock says so: $from" 1 "$(grep -c "counts are of nanoseconds: they say where the time went" <<<"$err")"
done
check "the page has them" "$ASSAY" report --html profile.html profile.db

"$ASSAY" record -q --source=model -o golden.db -- ./victim
"$ASSAY" blocks --json --module victim -o golden.json golden.db
check_stdout_equals True "a profile of the model: exact" off golden.json 1e-9
check_fails 125 "leave --balance out" "… nothing to balance" "$ASSAY" blocks --balance golden.db
# fork comes back twice, and its child has counts of its own.
cat >forks.c <<'END'
#include <sys/wait.h>
#include <unistd.h>
__attribute__((noinline)) int work(int n) { int s = 0; for (int i = 0; i < n; i++) s += i % 3 ? i : -i; return s; }
int main(void)
{
    int s = 0;
    for (int k = 0; k < 3; k++) {
        pid_t child = fork();
        if (child == 0)
            _exit(work(100) == 42);
        waitpid(child, 0, 0);
    }
    for (int i = 0; i < 50; i++)
        s += i & 1 ? work(10) : 2;
    return s == 42;
}
END
check "a program that forks" cc -O1 -g -o forks forks.c
"$ASSAY" record -q --source=model -o forks.db -- ./forks
"$ASSAY" blocks --json --module forks -o forks.json forks.db
"$ASSAY" blocks --json --module forks -o forks_run.json -- ./forks
cat >forks.py <<'END'
import json
def of(path):
    d = json.load(open(path))
    return ([(b["address"], b["executions"], [(e["to"], e["count"], e.get("estimated")) for e in b["edges"] if e["kind"] != "call"])
             for b in d["blocks"] if b["function"] in ("main", "work")],
            [(l["address"], l["iterations"], l["trip_count"]) for l in d["loops"] if l["function"] in ("main", "work")])
one, other = of("forks.json"), of("forks_run.json")
print(sorted(one[0]) == sorted(other[0]), sorted(one[1]) == sorted(other[1]), len(one[1]) > 1)
END
check_stdout_equals "True True True" "… has the edges and loops of its run" python3 forks.py
check_fails 125 "leave --method out" "… nothing to estimate" "$ASSAY" blocks --method ip golden.db
check_fails 2 "--event=absent: the profile has no series" "… an event that it has not" "$ASSAY" blocks --event absent golden.db
holds "… and says so" 'd["method"].startswith("exact") and all("interval" not in b for b in d["blocks"])' golden.json
# Edges are not recorded: those that follow from the counts are the exact ones, and the others say what they are.
cat >edges.py <<'END'
import json, sys
exact, got = (json.load(open(p)) for p in sys.argv[1:3])
edges = lambda d: {(b["address"], e["kind"], e["to"]): e for b in d["blocks"] for e in b["edges"] if "module" not in e}
loops = lambda d: {l["address"]: l for l in d["loops"]}
known = [(k, e) for k, e in edges(got).items() if not e.get("estimated")]
sound = all(edges(exact)[k]["count"] == e["count"] for k, e in known)
trips = all(l.get("estimated") or loops(exact)[a]["trip_count"] == l["trip_count"] for a, l in loops(got).items())
own = [e for b in got["blocks"] if b["function"] in ("main", "middle", "leaf") for e in b["edges"]]
print(sound, trips, len(own) > 10 and not any(e.get("estimated") for e in own))
END
check_stdout_equals "True True True" "… with the edges and trip counts of a run, where the law of flow leaves one way" \
    python3 edges.py exact.json golden.json
cat >switch.c <<'END'
static volatile int sink;
__attribute__((noinline)) void pick(int x)
{
    switch (x) {
    case 0: sink += 3; break;
    case 1: sink *= 5; break;
    case 2: sink ^= 7; break;
    case 3: sink -= 9; break;
    case 4: sink |= 11; break;
    case 5: sink &= 13; break;
    }
    sink++;
}
int main(void)
{
    for (int i = 0; i < 60; i++)
        pick(i ? i % 5 : 5);
    return 0;
}
END
cc -O2 -falign-labels=16 -o switch switch.c
"$ASSAY" blocks --json --module switch -o switch.json -- ./switch
"$ASSAY" record -q --source=model -o switch.db -- ./switch
"$ASSAY" blocks --json --module switch -o padded.json switch.db
check_stdout_equals True "what runs behind padding is counted" python3 -c 'import json
a, b = ({x["address"]: x["executions"] for x in json.load(open(p))["blocks"]} for p in ("switch.json", "padded.json"))
print(a == b and len(a) > 10)'
# Cases of a switch of which one falls into the next: the table in the file says where they begin, samples of addresses do not.
cat >cases.c <<'END'
static volatile int sink;
__attribute__((noinline)) void pick(int x)
{
    switch (x) {
    case 0: sink += 3; sink ^= 1; /* fall through */
    case 1: sink *= 5; sink ^= 2; /* fall through */
    case 2: sink ^= 7; sink += 3; break;
    case 3: sink -= 9; sink += 4; /* fall through */
    case 4: sink |= 11; sink += 5; break;
    case 5: sink &= 13; break;
    }
    sink++;
}
int main(void)
{
    for (int i = 0; i < 6000; i++)
        pick(i * 7 % 13 % 6);
    return 0;
}
END
cat >cases.py <<'END'
import json
exact, got = ({b["address"]: b["executions"] for b in json.load(open(p))["blocks"] if b["function"] == "pick"}
              for p in ("cases.exact.json", "cases.json"))
total, guessed = sum(exact.values()), sum(got.values())
print(exact.keys() == got.keys(), sum(abs(exact[a] / total - got.get(a, 0) / guessed) for a in exact) < 0.12)
END
for how in "cc -O2 -pie -fPIE" "cc -O1 -pie -fPIE" "cc -O2 -no-pie -fno-pic -Wl,-Ttext-segment=0" \
    "riscv64-linux-gnu-gcc -Os -static" "riscv64-linux-gnu-gcc -Os -static -mcmodel=medlow -fno-pic"; do
    if $how -fno-if-conversion -o cases cases.c 2>cc.log; then
        "$ASSAY" blocks --json --module cases -o cases.exact.json -- ./cases
        python3 "$SOURCE/tests/cli/blocks_recording.py" cases.exact.json cases cases.data addresses 20000
        "$ASSAY" blocks --json --balance --module cases -o cases.json cases.data
        check_stdout_equals "True True" "each case has a block of its own, and its count: $how" python3 cases.py
    else
        skip "each case has a block of its own: $how" "$(head -1 cc.log)"
    fi
done
cc -O2 -g -pie -fPIE -o victim victim.c
run "$ASSAY" blocks golden.db
check_same "a rebuilt file is left out of the model's profile, with the reason" 1 "$(grep -c 'victim: it has changed since the recording' <<<"$err")"
check_fails 125 'victim: it has changed since the recording' "… and refused where it is asked for" "$ASSAY" blocks --for bolt --module victim golden.db
check_status 125 "another file than the recorded one" "$ASSAY" blocks -q profile.db
cat >script.txt <<END
victim 77 1.000001:     1000 instructions:u:      555555555131 leaf+0x1 ($PWD/victim)
victim 77 1.000002:     1000 instructions:u:      555555555134 leaf+0x4 ($PWD/victim)
END
check_fails 125 "not a recording of perf .text of perf script does not tell where code lies in files" "text of perf script" \
    "$ASSAY" blocks script.txt
check "… as a profile" "$ASSAY" import -q -o script.db script.txt
check_fails 125 "$PWD/victim: it is not known where its code lies in the file" "… says the same" "$ASSAY" blocks script.db
check_status 2 "one profile at a time" "$ASSAY" blocks profile.db golden.db

# In the model: ten functions that do the same, called one by the other. From main on: counts of the dynamic linker take longest to
# balance.
ways() { "$ASSAY" blocks --methods --from main "$@" -- "$STATIC/block_kernels" chain 2000; }
ways --json --period 100 -o ways.json
error='{w["way"]: w["plain"]["block"] for w in d["ways"]}'
holds "ways of sampling: those of the PMU" "{'classic', 'precise', 'prime', 'random', 'pdir', 'lbr'} <= set($error)" ways.json
holds "… a precise distribution is best on a chain of calls" "(lambda e: 1.3 * e['pdir'] < min(e['classic'], e['precise'], e['prime']))($error)" ways.json
holds "… errors are between right and all wrong" "all(0 < e < 2 for e in ($error).values())" ways.json
"$ASSAY" blocks --methods --json --from main --max 400000 --period 200 -o events.json -- "$STATIC/block_apps" events >/dev/null
holds "… no run is lost where code first ran in another order than it lies in" "($error)['lbr'] < 0.25" events.json
ways --json --period 100 --pmu magny-cours -o amd.json
holds "… a PMU without branch stacks" "'lbr' not in ($error) and 'uops' in ($error)" amd.json
holds "… which to believe" 'd["advice"].startswith("Believe pdir")' ways.json
holds "… an instruction in the wrong block counts once" "abs(float(d['advice'].split('(')[1].split()[0]) -
    50 * min(min(w['plain']['block'], w['balanced']['block']) for w in d['ways'])) < 0.051" ways.json
run ways --max 20000 --csv
check_same "… CSV" "way,period,samples,block,balanced,function,covered,balanced_covered,top,top_found,top_ordered" "${out%%$'\n'*}"
run ways --max 20000
check_same "… text" 1 "$(grep -c '^pdir+fix ' <<<"$out")"
check_same "… a handful of samples says nothing" 1 "$(grep -c '^[0-9]* samples do not say which way to believe' <<<"$out")"
check_fails 125 'nothing was measured' "a part that is never reached" "$ASSAY" blocks --methods -q --skip 1G -- "$STATIC/block_kernels" chain 10
check_status 2 "a PMU that is not there" "$ASSAY" blocks --methods --pmu nothing -- true
