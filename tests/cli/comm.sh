#!/usr/bin/env bash
# assay comm: matrices, kinds of sharing, patterns, objects with members and advice on programs whose communication is
# known; the estimate beside the exact count; odd programs; wrong usage.
# plain-only: long runs; sanitized.sh runs each way of it under sanitizers
. "$(dirname "$0")/lib.sh"

sharing=$STATIC/sharing
comm() { "$ASSAY" comm --json --period 500 "$@" 2>/dev/null; }

# Two pairs: the matrix has two cells, of whichever threads (they are numbered as they appear). 40,000 stores each, of which
# half are shared; what follows a store of the same thread is no transfer, so about 26,000 in all.
two_pairs() {
    comm -- "$sharing" pairs -t 4 -n 40000 -f 0.5 >pairs.json
    holds "five threads" 'd["threads"] == 5 and [t["thread"] for t in d["by_thread"]] == [1, 2, 3, 4, 5]' pairs.json
    holds "their names" '[t["name"] for t in d["by_thread"]] == ["main"] + ["work"] * 4' pairs.json
    holds "pairs, by name" 'd["pattern"] == "pairs"' pairs.json
    large='[(a, b) for a in range(5) for b in range(a) if d["exact"]["matrix"][a][b] > 8000]'
    holds "two cells of the exact matrix, of four threads" "len($large) == 2 and len(set(sum($large, ()))) == 4" pairs.json
    holds "hardly anything beside them" "d['exact']['total'] - sum(d['exact']['matrix'][a][b] for a, b in $large) < 2000" pairs.json
    holds "matrices are symmetric" 'all(m[i][k] == m[k][i] and m[i][i] == 0 for m in (d["matrix"], d["exact"]["matrix_true"])
        for i in range(5) for k in range(5))' pairs.json
    holds "totals are those of the matrices" 'sum(map(sum, d["matrix"])) == 2 * d["total"] and
        d["total"] == d["true_sharing"] + d["false_sharing"] and
        sum(map(sum, d["exact"]["matrix_false"])) == 2 * d["exact"]["false_sharing"]' pairs.json
    holds "by core: the same, one core for each thread, in the order in which they began" '(lambda c: sorted(c) == [0, 1, 2, 3, 4] and
        all(d["matrix_by_core"][c[a]][c[b]] == d["matrix"][a][b] for a in range(5) for b in range(5)))([t["core"] for t in d["by_thread"]])' pairs.json
    holds "an object by name" 'd["objects"][0]["name"] == "of_pair" and d["objects"][0]["kind"] == "global"' pairs.json
    # 320 samples; about 70 detections: the standard deviation of the volume is 12 %. Five of them.
    holds "the estimate is of that size" 'abs(d["exact"]["error"]["total"]) < 0.6 and d["sampling"]["found"] > 20' pairs.json
}
by_chance two_pairs

# False sharing alone, between elements of a member of an array of structs; and true sharing alone.
beside_each_other() {
    comm -- "$sharing" false -t 4 -n 20000 -f 1 >false.json
    holds "false sharing" 'd["exact"]["false_sharing"] > 0.9 * d["exact"]["total"] > 20000' false.json
    holds "the estimate says so, too" 'd["false_sharing"] > 0.9 * d["total"] > 0' false.json
    holds "the members of both sides" 'd["lines"][0]["from"]["place"].startswith("beside[0].words[") and
        d["lines"][0]["to"]["place"] != d["lines"][0]["from"]["place"]' false.json
    holds "source lines and paths of both sides" 'all(d["code_pairs"][0][side]["file"].endswith("sharing.c") and
        "work" in d["code_pairs"][0][side]["path"] for side in ("from", "to"))' false.json
}
by_chance beside_each_other
one_word() {
    comm -- "$sharing" write -t 4 -n 20000 -f 0.4 >true.json
    holds "true sharing" 'd["exact"]["true_sharing"] > 0.9 * d["exact"]["total"] > 10000' true.json
    holds "all to all" 'd["pattern"] == "all to all" and d["pattern_share"] > 0.8' true.json
}
by_chance one_word

# Threads that wait for each other in the kernel may run one after the other on a busy machine: only what holds then, too.
library_threads() {
    comm -- "$STATIC/threads" -t 3 -w 5000 -r 2 >threads.json
    holds "last writers beside it" 'd["exact"]["last_writer"] > 0 and d["exact"]["last_writer_overcount"] > 0' threads.json
    holds "advice: an array of counters" 'any("pad each element of adjacent from 8 to 64 bytes" in a["text"] and
        a["from"].startswith("adjacent[") for a in d["advice"])' threads.json
    holds "a member of a type of the library" 'any("lock.__data." in l["to"]["place"] + l["from"]["place"] for l in d["lines"])' \
        threads.json
}
by_chance library_threads
if [ -x "$WORKLOADS/sharing-riscv64-static" ]; then
    riscv_pairs() {
        comm -- "$WORKLOADS/sharing-riscv64-static" pairs -t 4 -n 20000 -f 0.5 >riscv.json
        holds "RISC-V: pairs" 'd["pattern"] == "pairs" and d["objects"][0]["name"] == "of_pair"' riscv.json
    }
    by_chance riscv_pairs
else
    skip "RISC-V: pairs" "no RISC-V compiler"
fi

# Two processes: each hand-over of the ball is at most one transfer, wherever each of them has the memory. The host decides how many
# are left when the two are put in order, the fewer the more idle it is, but the line moves at least once.
shares_memory() {
    comm --period 50 -- "$STATIC/processes" "$kind" 200 >"$kind.json"
    holds "processes share memory: $kind" '1 <= d["exact"]["true_sharing"] <= 402 and d["pattern"] == "one pair" and
        d["objects"][0]["kind"] == "shared" and d["objects"][0]["total"] == d["exact"]["total"]' "$kind.json"
}
for kind in anon file sysv; do
    by_chance shares_memory
done
holds "… by name" '[x["objects"][0]["name"][:12] for x in d] == ["[shared]", "/tmp/assay-p", "/SYSV0000000"]' anon.json file.json sysv.json
sampled() {
    comm --period 50 -- "$STATIC/processes" anon 200 >anon.json
    holds "… found by samples, too" 'd["total"] > 0 and d["sampling"]["found"] > 0' anon.json
}
by_chance sampled
comm -- "$STATIC/processes" private 200 >private.json
holds "a private mapping is not shared" 'd["exact"]["total"] == 0 and d["total"] == 0' private.json

# Threads that hand a word to each other 2N - 1 times: its line moves as often, however they wait for each other and whether
# or not they really run at the same time. Before a thread writes the word it reads what the other wrote, and that load decides, so it comes
# behind the store in every order in which it could have happened; further looks find a copy, and nobody reads the last store.
# Only of the first hand-over the order may be unknown, and of others where the host stops a thread for long
# (doc/design/comm.md). The mutex moves with each turn, or more often.
turns=25 idle=
take_turns() {
    comm --no-estimate --top 1000 -- "$WORKLOADS/$program" $way $turns $idle >turns.json
    holds "$program by $way${idle:+, $idle threads asleep}: each turn moves the word and the mutex" '(lambda total:
        '$((2 * turns - 2))' <= total["turn"] <= '$((2 * turns - 1))' and total["guard"] >= '$((2 * turns - 2))')(
        {o["name"]: o["total"] for o in d["objects"]})' turns.json
}
for way in spin yield atomic mutex condvar; do
    for program in turns turns-riscv64-static; do
        if [ -x "$WORKLOADS/$program" ]; then
            by_chance take_turns
        else
            skip "$program by $way" "no RISC-V compiler"
        fi
    done
done

program=turns way=mutex idle=80
by_chance take_turns

# The mutex is taken behind what was seen, not while the other thread still has it. One turn in fifty was wrong once.
many_turns() {
    comm --no-estimate -- "$WORKLOADS/turns" spin 200 >turns.json
    holds "of 200 turns each moves the mutex once" '398 <= sum(o["total"] for o in d["objects"] if o["name"] == "guard") <= 399' \
        turns.json
}
by_chance many_turns

# Words of one lock, with types and without: not to be moved apart. The threads take turns, so that the line moves.
cat >locks.c <<'END'
#include <pthread.h>
#include <sched.h>
static _Alignas(64) pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static _Alignas(64) volatile long turn;
static void *work(void *which)
{
    for (int i = 0; i < 50; i++) {
        while (turn != (long)which)
            sched_yield();
        pthread_mutex_lock(&guard);
        pthread_mutex_unlock(&guard);
        turn = !which;
    }
    return NULL;
}
int main(void)
{
    pthread_t threads[2];
    for (long i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
END
lock_in_turns() { # functions that lock have names in the C library's debug file alone
    (unset ASSAY_DEBUG_PATH && comm --no-estimate -- ./locks >locks.json)
    holds "words of one mutex, $symbols: no advice" 'not any("guard" in a["from"] for a in d["advice"]) and
        all(l.get("inside") == "pthread_mutex_t" for l in d["lines"] if l["object"] == "guard" and l["false_sharing"] > l["true_sharing"]) and
        all(o["false_in_lock"] == o["false_sharing"] > 0 for o in d["objects"] if o["name"] == "guard")' locks.json
    holds "… each turn moves it once, $symbols" 'min(sum(o["total"] for o in d["objects"] if o["name"] == name)
        for name in ("turn", "guard")) >= 98' locks.json
}
for symbols in -g -g0; do
    gcc -O1 $symbols -pthread -o locks locks.c
    by_chance lock_in_turns
done

# Blocks of the heap, by the place that allocated them; without the agent, they are the heap.
cat >heap.c <<'END'
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
static volatile uint64_t *slots, *table;
static uint64_t *make_slots(void) { return calloc(8, 8); }
static uint64_t *make_table(void) { return aligned_alloc(64, 4096); }
static void *work(void *which)
{
    for (int i = 0; i < 3000; i++) {
        slots[(uintptr_t)which]++;
        table[i % 512]++;
    }
    return NULL;
}
int main(void)
{
    pthread_t threads[2];
    slots = make_slots();
    table = make_table();
    for (uintptr_t i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
END
gcc -O1 -g -fno-inline -fno-omit-frame-pointer -pthread -o heap heap.c
heap_blocks() {
    comm --allocations --no-estimate -- ./heap >blocks.json
    comm --no-estimate -- ./heap >heap.json
    holds "blocks by the place that allocated them" 'all(any(o["kind"] == "blocks" and o["name"].startswith(f"blocks of {f} at heap.c:")
        and "< main at heap.c:" in o["name"] for o in d["objects"]) for f in ("make_slots", "make_table"))' blocks.json
    holds "without the agent: the heap" 'sum(o["total"] for o in d["objects"] if o["kind"] == "heap") >= 64 and
        not any(o["kind"] == "blocks" for o in d["objects"])' heap.json
}
by_chance heap_blocks
check_stderr_line 'the agent saw no allocation' "an agent that is not there" \
    "$ASSAY" comm --json --allocations -o none.json -- "$WORKLOADS/known/x86-load-1"

# Like IBS: one counter, and most tagged instructions give no sample.
counts_operations() {
    comm --sampling=operations -- "$sharing" write -t 2 -n 40000 -f 1 >ibs.json
    holds "one counter of all instructions" 'd["sampling"]["kind"] == "operations" and d["sampling"]["store_samples"] > 20' ibs.json
}
by_chance counts_operations
# Two counters of a thread give samples that follow each other more closely than its accesses do: 14 % are missed here, and 1 % with one.
counts_accesses() {
    comm --sampling=accesses --period 200 -- "$sharing" read -t 4 -n 40000 -f 0.6 >one.json
    holds "one counter of loads and stores" 'd["sampling"]["kind"] == "accesses" and d["sampling"]["load_samples"] > 100 and
        d["sampling"]["store_samples"] > 100 and abs(d["exact"]["error"]["total"]) < 0.08' one.json
}
by_chance counts_accesses
check "sharing knows its programs" test "$("$sharing" reads -n 10 2>&1 | cut -c1-5)" = usage
two_cores() {
    check_json "two cores: threads of one do not count" 'd["cores"] == 2 and 0 < d["matrix_by_core"][0][1] < d["total"]' \
        "$ASSAY" comm --json --cores 2 --period 500 -- "$sharing" write -t 4 -n 20000 -f 0.4
}
by_chance two_cores
# Threads take cores in the order in which they start, which is the host's.
check_json "pinned" '(lambda cores: cores[0] == 0 and sorted(cores) == [0, 0, 3])([t["core"] for t in d["by_thread"]])' \
    "$ASSAY" comm --json --pin 0,3 -- "$sharing" write -t 2 -n 1000
check_json "scattered" '(lambda cores: cores[0] == 0 and sorted(cores) == [0, 0, 1, 2, 3])([t["core"] for t in d["by_thread"]])' \
    "$ASSAY" comm --json --pin scatter --sockets 2 --cores 4 -- "$sharing" write -t 4 -n 1000
# Threads start in the host's order, so which of them share a node is too. What goes between nodes follows from the matrix.
between_nodes() {
    comm --no-estimate --top 1000 --sockets 2 --cores 4 --pin $pins -- "$sharing" pairs -t 4 -n 5000 -f 1 >nodes.json
    holds "by node: remote transfers of the object, $pins" '(lambda far, pair: d["nodes"] == 2 and
        d["matrix_by_node"][0][1] == far(0) and abs(pair["remote"] - far(1)) <= 0.1 * pair["total"] and
        d["code_pairs"][0]["remote"] <= d["code_pairs"][0]["total"])(
        lambda first: sum(d["exact"]["matrix"][a][b] for a in range(first, 5) for b in range(first, a)
            if d["by_thread"][a]["core"] // 2 != d["by_thread"][b]["core"] // 2), d["objects"][0])' nodes.json
    holds "… by code, in lines and bytes" 'sum(c["remote"] for c in d["remote_code"]) == d["exact"]["remote"] == d["matrix_by_node"][0][1] and
        d["exact"]["remote_line_bytes"] == sum(c["bytes"] for c in d["remote_code"]) == 64 * d["exact"]["remote"] and
        all(0 < c["remote"] <= c["wanted_bytes"] <= c["bytes"] and c["remote"] <= c["total"] for c in d["remote_code"])' nodes.json
}
for pins in 0,0,2,1,3 0,0,1,2,3; do
    by_chance between_nodes
done
# The two threads are on two nodes.
nodes_as_text() {
    check "nodes as text" "$ASSAY" comm --no-estimate --sockets 2 --cores 4 --pin 0,0,2 -o nodes.txt -- "$sharing" write -t 2 -n 5000 -f 1
    check "… the matrix" grep -q '^Between nodes, in transfers of lines:' nodes.txt
    check "… the code" grep -qE '^ +[0-9,]+ +[0-9.]+ +[0-9,]+ +[0-9,]+ +[0-9.]+  write_words\+0x[0-9a-f]+ at sharing.c:[0-9]+$' nodes.txt
}
by_chance nodes_as_text
check_json "one node: no such table" '"remote_code" not in d and "remote" not in d["exact"]' \
    "$ASSAY" comm --json --no-estimate -- "$sharing" write -t 2 -n 1000
one_of_both() {
    check_json "only exact" '"sampling" not in d and d["total"] == d["exact"]["total"] > 0' \
        "$ASSAY" comm --json --no-estimate -- "$sharing" write -t 2 -n 1000
    check_json "only estimated" '"exact" not in d and d["total"] > 0 and d["objects"][0]["name"] == "all"' \
        "$ASSAY" comm --json --no-exact --period 200 -- "$sharing" write -t 2 -n 20000 -f 1
}
by_chance one_of_both

# Text and CSV.
text() {
    check "text" "$ASSAY" comm --period 500 -o text -- "$sharing" false -t 2 -n 20000 -f 1
    for part in 'Pattern: one pair' 'beside\[0\].words\[[01]\]' '^Advice:' 'transfers of lines in'; do
        check "text: $part" grep -qE "$part" text
    done
}
by_chance text
csv() {
    check "csv" "$ASSAY" comm --csv --period 500 -o pairs.csv -- "$sharing" pairs -t 4 -n 20000
    check_same "csv: the pairs" 2 "$(awk -F, 'NR > 1 && $6 > 4000' pairs.csv | wc -l)"
    check "csv: a line of names" grep -q '^thread_a,thread_b,total' pairs.csv
}
by_chance csv
# A sample of the threads' start, which falls into any cell, is a tenth of what has four digits.
svg() {
    check "svg" "$ASSAY" comm --svg --period 100 -o maps.svg -- "$sharing" pairs -t 4 -n 20000
    check_same "svg: cells of both pairs, both ways, exact and estimated, all and true" 16 \
        "$(grep -cE 'threads [0-9] and [0-9]: [0-9]{4,}<' maps.svg)"
    check_same "svg: one scale for exact pictures, one for estimated ones" 2 "$(grep -c 'the largest pair of the three' maps.svg)"
    check "svg: it is XML" python3 -c 'import xml.dom.minidom as m; m.parse("maps.svg")'
}
by_chance svg

# Labels of threads have the number and as much of the name as there is room for.
cat >long_name.c <<'END'
#include <pthread.h>
static volatile long words[2];
static void *a_function_with_a_long_name(void *a) { for (long i = 0; i < 2000; i++) words[(long)a]++; return 0; }
int main(void)
{
    pthread_t threads[2];
    for (long i = 0; i < 2; i++)
        pthread_create(&threads[i], 0, a_function_with_a_long_name, (void *)i);
    for (long i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    return 0;
}
END
cc -O1 -pthread -o long_name long_name.c
check "svg: a long name" "$ASSAY" comm --svg -o long_name.svg -- ./long_name
check_same "… is cut" 12 "$(grep -c '>[23] a_function_w…<title>a_function_with_a_long_name</title></text>' long_name.svg)"

html() {
    check "html" "$ASSAY" comm --html --period 500 -o page.html -- "$sharing" false -t 2 -n 20000 -f 1
    for part in '<svg xmlns' '<h2>Objects</h2>' 'beside\[0\].words\[[01]\] by <code>' '<h2>Advice</h2>'; do
        check "html: $part" grep -q "$part" page.html
    done
    check_same "html: nothing is loaded or run" "" "$(grep -oiE '<script|<link|<img|https?://[^w]' page.html)"
}
by_chance html

# Odd programs.
check "one thread" "$ASSAY" comm --max 300k -- "$STATIC/demo"
check "one thread: nothing to see" grep -q 'One thread alone: there is nobody to communicate with' <<<"$out"
printf '.globl _start\n_start: mov $60, %%eax\n xor %%edi, %%edi\n syscall\n' >bare.S
if check "a program without memory builds" cc -nostdlib -static -o bare bare.S; then
    check_stdout_equals "0 threads that accessed memory, 3 instructions" "… has no thread to show" "$ASSAY" comm -- ./bare
fi
check_json "a thousand threads" 'd["threads"] == 1001 and len(d["matrix"]) == 1001' \
    "$ASSAY" comm --json --top 1 -- "$sharing" write -t 1000 -n 20
check_json "a program that forks: processes do not communicate" 'd["exact"]["total"] == 0 and d["threads"] > 2' \
    "$ASSAY" comm --json -- sh -c 'ls / >/dev/null; ls / >/dev/null'
check_json "a program that executes another" 'd["exact"]["total"] == 0' "$ASSAY" comm --json -- sh -c 'exec true'
check_status 139 "a program that dies" "$ASSAY" comm -- sh -c 'kill -SEGV $$'
check_status 127 "no such program" "$ASSAY" comm -- ./absent
check_status 125 "a part that never comes" "$ASSAY" comm -q --from nosuch -- "$STATIC/sharing" false -t 2 -n 10
cat >ends.c <<'END'
#include <pthread.h>
static _Alignas(64) volatile long word;
static void *work(void *a) { for (long i = 0; i < 2000; i++) word += i; return a; }
int main(void)
{
    pthread_t threads[3];
    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < 3; i++)
            pthread_create(&threads[i], 0, work, 0);
        for (int i = 0; i < 3; i++)
            pthread_join(threads[i], 0);
    }
    return 7;
}
END
cc -O1 -pthread -o ends ends.c
ending() {
    check_status 7 "threads that end while they watch" "$ASSAY" comm --json -o ends.json --period 50 -- ./ends
    holds "… all of them are there" 'd["threads"] == 61 and d["exact"]["total"] > 0 and d["sampling"]["watched"] > 0' ends.json
}
by_chance ending

# What is not all of a run is marked as such, in each format; and a pattern is none of starting threads.
check_json "a part of a run" 'd["part"] == "the first 100,000 instructions of a run of unknown length"' "$ASSAY" comm --json --max 100k -- "$sharing" write -t 2 -n 100000
check_stdout_equals 2 "… on the page, in its text and in its picture" sh -c '"$0" comm --html --max 100k -- "$1" write -t 2 -n 100000 | grep -c "the first 100,000 instructions of a run of unknown length"' "$ASSAY" "$sharing"
"$ASSAY" comm --json -o killed.json -- sh -c 'kill -KILL $$'
holds "a program that was killed" 'd["part"].endswith(" instructions, until it was killed")' killed.json
"$ASSAY" comm -o killed.txt -- sh -c 'kill -KILL $$'
check "… as text" grep -q '^1 thread, [0-9,]* instructions, until it was killed$' killed.txt
check_json "nothing is shared" 'd["pattern"] == "nothing shared" and 0 < d["exact"]["total"] < 200' "$ASSAY" comm --json -- "$sharing" write -t 2 -n 1000 -f 0
check "… as text" sh -c '"$0" comm -- "$1" write -t 2 -n 1000 -f 0 | grep -q "^Pattern: nothing shared: so few transfers come from"' "$ASSAY" "$sharing"

# Wrong usage.
check_stderr_line 'no program given' "no program" "$ASSAY" comm
check_stderr_line 'leave nothing to do' "neither of both" "$ASSAY" comm --no-exact --no-estimate -- true
check_stderr_line 'choose one' "two formats" "$ASSAY" comm --json --csv -- true
check_stderr_line 'pin takes compact, scatter or a list' "a wrong list" "$ASSAY" comm --pin 1,x -- true
check_stderr_line 'pin=0,9 names core 9, but --cores=2 has cores 0 to 1' "a core that is not there" "$ASSAY" comm --cores 2 --pin 0,9 -- true
check_stderr_line 'sockets=2 needs --cores, a multiple of it' "sockets without cores" "$ASSAY" comm --sockets 2 -- true
check_stderr_line 'sockets=2 needs --cores, a multiple of it' "sockets of unequal size" "$ASSAY" comm --sockets 2 --cores 5 -- true
for option in --rate=500 --budget=5 --duration=3; do
    check_stderr_line "${option%=*} needs --source=timer or pmu" "of no use in the model: $option" "$ASSAY" comm $option -- true
done
echo text >plain.txt
: >empty.db
python3 -c 'import sqlite3; sqlite3.connect("other.db").execute("create table t (a)")'
for file in "plain.txt is a text file" "./empty.db is an empty file" "other.db is a database of another program"; do
    check_stderr_line "$file; comm takes a program, a recording of perf \(perf.data\) or a profile" "no operand: ${file%% *}" "$ASSAY" comm "${file%% *}"
done
check_stderr_line 'absent.data: no such file here, and no such program along PATH' "no file" "$ASSAY" comm absent.data
check_stderr_line 'needs --sockets' "scatter without sockets" "$ASSAY" comm --pin scatter -- true
check_stderr_line 'registers' "too many registers" "$ASSAY" comm --registers 5 -- true
check_no_strays "nothing is left running"
