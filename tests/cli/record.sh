#!/usr/bin/env bash
# assay record: what the file holds and that it adds up, every option, programs with threads and children, what is left
# of runs that fail, die, are interrupted or killed.
# plain-only: long runs; sanitized.sh records programs of each kind under sanitizers
# time-limit: 240
# shellcheck disable=SC2016 # scripts in single quotes are the programs to measure
. "$(dirname "$0")/lib.sh"

record() { "$ASSAY" record "$@"; }
demo=$STATIC/demo

# db NAME EXPRESSION FILE…: a Python expression; q(sql) is the rows of a query of the first file, one(sql) its only
# value, p(n, sql) the same of file n.
db() {
    local name=$1 expression=$2 HOLDS
    shift 2
    HOLDS="names = '$*'.split()"'
import sqlite3
def p(n, sql):
    file = sqlite3.connect(names[n])
    file.text_factory = bytes
    rows = file.execute(sql).fetchall()
    file.close()
    return rows
def q(sql):
    return p(0, sql)
def one(sql):
    return q(sql)[0][0]
def meta(key):
    rows = q(f"SELECT value FROM meta WHERE key = \"{key}\"")
    return rows[0][0].decode() if rows else None'
    holds "$name" "$expression"
}

# Whatever was recorded: nothing is lost, nothing twice.
adds_up() {
    db "$1: the golden times are the cycles" 'one("SELECT sum(units) FROM times WHERE series = 0") == int(meta("cycles")) * 720720' "$2"
    db "$1: executions are the instructions" 'one("SELECT sum(executions) FROM times") == int(meta("instructions"))' "$2"
    db "$1: components are the times" 'q("SELECT series, instruction, thread, units FROM times ORDER BY 1, 2, 3") ==
        q("SELECT series, instruction, thread, sum(units) FROM components GROUP BY 1, 2, 3 ORDER BY 1, 2, 3")' "$2"
    db "$1: states are the times" 'q("SELECT instruction, thread, units FROM times WHERE series = 0 ORDER BY 1, 2") ==
        q("SELECT instruction, thread, sum(units) FROM state_times GROUP BY 1, 2 ORDER BY 1, 2")' "$2"
    db "$1: call paths are the cycles" 'one("SELECT sum(units) FROM path_times WHERE series = 0") == int(meta("cycles")) * 720720' "$2"
    db "$1: … of each thread" 'q("SELECT thread, sum(units) FROM times WHERE series = 0 GROUP BY 1") ==
        q("SELECT thread, sum(units) FROM path_times WHERE series = 0 GROUP BY 1")' "$2"
    db "$1: every series has its time on call paths" 'q("SELECT series, sum(units) FROM times GROUP BY 1") ==
        q("SELECT series, sum(units) FROM path_times GROUP BY 1") == q("SELECT series, sum(units) FROM path_components GROUP BY 1")' "$2"
    db "$1: components of call paths are those of the program" '
        q("SELECT series, thread, events, sum(units) FROM components GROUP BY 1, 2, 3 HAVING sum(units)") ==
        q("SELECT series, thread, events, sum(units) FROM path_components GROUP BY 1, 2, 3 HAVING sum(units)")' "$2"
    db "$1: rows and call paths of a sampler have each sample once" '
        all(n == sum(row[0] for row in q(f"SELECT samples FROM {table} WHERE series = {s}"))
            for s, n in q("SELECT id, samples FROM series WHERE exact = 0") for table in ("times", "path_times"))' "$2"
    db "$1: stacks are the cycles" '[row[1] for row in q("SELECT stack, sum(units) FROM stacks GROUP BY 1")] ==
        [int(meta("cycles")) * 720720] * 2' "$2"
    db "$1: threads add up" 'q("SELECT sum(cycles), sum(instructions) FROM threads") == [(int(meta("cycles")), int(meta("instructions")))]' "$2"
}

# ---- a run ----------------------------------------------------------------------------------------------------------
check_stdout_equals "hello" "stdout is the program's" record -- echo hello
summary=$err
check "the file is there, and its summary names the next commands" grep -q 'assay annotate' <<<"$summary"
check_same "… as it was called" "  $ASSAY report" "$(grep ' report$' <<<"$summary")"
check "… and says what it is worth" grep -qE 'source model, series golden.*0 lost, 0 throttled$' <<<"$summary"
check_stdout_equals "" "-q leaves nothing but the program" record -q -o quiet.db -- "$STATIC/nothing"
check_same "… on stderr too" "" "$err"

check "a program with lines and calls" record -q -o demo.db --max 3M -- "$demo" 1
adds_up demo demo.db
db "one sample a period" 'int(meta("cycles")) // 1009 == one("SELECT samples + dropped FROM series WHERE name = \"tea\"")' demo.db
db "all samples are there" 'one("SELECT sum(units) FROM times WHERE series = 1") == one("SELECT samples + dropped FROM series WHERE name = \"tea\"") * 1009 * 720720' demo.db
db "what was run, and on what" '
    meta("source") == "model" and meta("core") == "boom-tea" and meta("program").endswith("/workloads/static/demo")
    and [row[0] for row in q("SELECT value FROM arguments ORDER BY id")][1:] == [b"1"]
    and meta("status") == "0" and meta("region") == "--max 3M" and meta("partial") is None
    and "back.rob" in meta("machine") and q("SELECT value FROM machine WHERE key = \"back.rob\"") != []
    and meta("arch") in ("x86_64", "riscv64")' demo.db
db "the code" '
    one("SELECT count(*) FROM modules WHERE build_id IS NOT NULL AND file_size > 0") > 0
    and one("SELECT count(*) FROM functions WHERE name = \"main\" AND line > 0") == 1
    and one("SELECT count(*) FROM files WHERE path LIKE \"%demo.c\"") == 1
    and one("SELECT count(*) FROM instructions WHERE text IS NULL OR length(bytes) = 0") == 0
    and one("SELECT count(*) FROM instructions i JOIN blocks b ON b.id = i.block WHERE i.address < b.address OR i.address >= b.address + b.size") == 0
    and one("SELECT count(*) FROM instructions WHERE block IS NULL") == 0' demo.db
db "the whole is known by estimates of its error" '
    one("SELECT value FROM estimates WHERE series = 1 AND measure = \"error\" AND granularity = \"instruction\"") < 0.5
    and one("SELECT count(*) FROM estimates WHERE measure IN (\"systematic\", \"pics\", \"estimate\")") == 10' demo.db
db "the error that the number of samples lets expect is not below the true one, nor far above" '
    all(0.8 * error <= estimate <= 5 * error for estimate, error in q("SELECT a.value, b.value FROM estimates a JOIN estimates b USING (series, granularity) WHERE a.measure = \"estimate\" AND b.measure = \"error\""))' demo.db
check "the counts are those of assay stat" "$ASSAY" stat --json -o stat.json --max 3M -- "$demo" 1
db "… instructions" 'int(meta("instructions")) == __import__("json").load(open("stat.json"))["instructions"]' demo.db
check "again" record -q -o again.db --max 3M -- "$demo" 1
db "the same run gives the same profile" '
    all(p(0, f"SELECT * FROM {table}") == p(1, f"SELECT * FROM {table}") for table in
        ("times", "components", "state_times", "path_times", "paths", "functions", "instructions", "stacks", "counters",
         "estimates", "blocks", "inlines"))' demo.db again.db

check_json "--json is the summary" '(d["summary"]["source"] == "model" and d["summary"]["sampler"] == "golden" and d["summary"]["core"] == "boom-tea"
    and d["summary"]["instructions"] > 0 and d["summary"]["cycles"] > 0 and d["summary"]["lost"] == 0
    and d["summary"]["throttled"] == 0 and d["summary"]["error_estimate"] == 0
    and math.isclose(sum(d["summary"]["states"].values()), 1) and len(d["functions"]) == 3 and all(f["low"] == f["share"] == f["high"] for f in d["functions"]))' \
    record --json -o json.db -- sh -c 'echo noise'
check_same "… and the program's stdout goes to stderr" noise "$(grep -v '^assay' <<<"$err")"
cat >timer.c <<'END'
#include <unistd.h>
int main(void) { alarm(1000); return 0; }
END
gcc -o timer timer.c
check "a program that sets a timer" record -o timer.db -- ./timer
check_same "… the summary says what depends on this computer" 1 "$(tr '\n' ' ' <<<"$err" | tr -s ' ' | grep -c 'note: the program sets timers')"
check "a program that sleeps" record -o sleeps.db -- sleep 0.01
check_same "… the summary says what is missing" 1 "$(tr '\n' ' ' <<<"$err" | tr -s ' ' | grep -c 'note: the program sleeps or waits with a timeout: that waiting is not in the profile')"
db "… and of others nothing" 'one("SELECT count(*) FROM quality WHERE key = \"clock\"") == 0' demo.db

# ---- threads, children, another architecture ------------------------------------------------------------------------
check "threads" record -q -o threads.db -- "$STATIC/threads" -t 3 -w 200 -r 3
adds_up threads threads.db
db "each thread is there" 'one("SELECT count(*) FROM threads") == 4' threads.db
db "… in one process" 'q("SELECT DISTINCT process FROM threads") == [(1,)]' threads.db
check_status 3 "children, and programs that they execute: the status is the program's" record -q -o children.db -- sh -c 'for i in 1 2 3; do /bin/true; done; exit 3'
adds_up children children.db
db "a program that ran three times is one" 'one("SELECT count(*) FROM modules WHERE path LIKE \"%/true\"") == 1' children.db
db "… and counts three times" '
    one("SELECT max(t.executions) FROM (SELECT sum(executions) AS executions FROM times t JOIN instructions i ON i.id = t.instruction JOIN modules m ON m.id = i.module WHERE m.path LIKE \"%/true\" GROUP BY i.id) t") >= 3' children.db
check "programs that share libraries" record -o shared.db -- sh -c 'for i in 1 2; do /bin/echo $i | grep -q 2; done; true'
adds_up shared shared.db
db "a library is one module, wherever it was mapped" '
    q("SELECT path FROM modules WHERE path LIKE \"/%\" GROUP BY path, build_id HAVING count(*) > 1") == []
    and one("SELECT count(*) FROM modules WHERE path LIKE \"%/libc%\"") == 1' shared.db
db "… with each function once" 'q("SELECT module, address FROM functions GROUP BY 1, 2 HAVING count(*) > 1") == []' shared.db
db "… and each instruction, inside its function" '
    q("SELECT module, address FROM instructions WHERE module IS NOT NULL GROUP BY module, address, bytes HAVING count(*) > 1") == []
    and q("SELECT i.id FROM instructions i JOIN functions f ON f.id = i.function WHERE f.size > 0 AND (i.address < f.address OR i.address >= f.address + f.size)") == []' shared.db
db "… and jumps lead where their text says" '
    one("SELECT count(*) FROM instructions i JOIN functions f ON f.id = i.function WHERE i.target >= f.address AND i.target < f.address + f.size") > 100
    and one("SELECT count(*) FROM instructions i WHERE i.target AND instr(i.text, printf(\"0x%x\", i.target)) = 0") == 0' shared.db
annotate=$(sed -n 's/^  .*assay annotate //p' <<<"$err")
check_same "… whose next command names a function of this file" shared.db "${annotate##* }"
# shellcheck disable=SC2086 # two words
check "… that works as it is" "$ASSAY" annotate $annotate
db "threads have the numbers of their processes" 'sorted(row[0] for row in q("SELECT DISTINCT process FROM threads")) == list(range(1, 6))' shared.db
check_json "… reports tell them" 'sorted(r["process"] for r in d["rows"]) == list(range(1, 6))' "$ASSAY" report --by thread --json shared.db
check_same "… as text too" 5 "$("$ASSAY" report --by thread --limit 0 shared.db | grep -cE ' [1-5] [^ ,]+( .before: [a-z]+.)?, process [1-5] ')"
check_json "… and the programs, each of which adds up" \
    '({r["command"] for r in d["rows"]} == {"sh", "echo", "grep"} and math.isclose(sum(r["share"] for r in d["rows"]), 1))' \
    "$ASSAY" report --by command --json shared.db
check_json "… by process with its program" \
    '(sorted((r["process"], r["command"]) for r in d["rows"])[0] == (1, "sh") and len(d["rows"]) == 5)' "$ASSAY" report --by process --json shared.db
riscv=$WORKLOADS/demo-riscv64-static
if [ -x "$riscv" ]; then
    check "a RISC-V program" record -q -o riscv.db --max 500k -- "$riscv" 1
    adds_up riscv riscv.db
    db "… is told as one" 'meta("arch") == "riscv64"' riscv.db
else
    skip "a RISC-V program" "there is no cross-compiler"
fi
check "many threads" record -q -o many.db -- "$STATIC/threads" -t 64 -w 5 -r 1
check_same "… of which those without a row are counted" 1 \
    "$("$ASSAY" report --limit 1 many.db | tr -s '\n ' ' ' | grep -cE "note: [0-9]+ threads share one row, 'other threads'")"
adds_up many many.db

# A recursion of 60,000 calls, whose frames take 15 MB.
cat >deep.c <<'END'
__attribute__((noinline)) static long deep(long n)
{
    volatile char room[200];
    room[0] = (char)n;
    return n ? deep(n - 1) + room[0] : 0;
}
int main(int argc, char **argv)
{
    return deep(60000) == argc;
}
END
unlimited() { bash -c 'ulimit -s unlimited && exec "$@"' - "$@"; }
if cc -O1 -o deep deep.c && unlimited true 2>/dev/null; then
    check "a stack without a limit" unlimited "$ASSAY" record -o deep.db -- ./deep
    folded='note: 5[0-9],[0-9]{3} calls are counted as part of their callers, with all of their time: call paths are kept to a depth of 4,096, and at most 1,048,576 of them'
    check "… and how deep call paths are" grep -Eq "$folded" <<<"$(tr -s '\n ' ' ' <<<"$err")"
    check_json "… nothing of which is lost" 'sum(r["share"] for r in d["rows"]) > 0.999 and [r["total_share"] > 0.5 for r in d["rows"] if r["function"] == "deep"] == [True]' \
        "$ASSAY" report --json --limit 0 deep.db
    check "stat says the same" unlimited "$ASSAY" stat --calls 1 -- ./deep
    check "… in its text" grep -Eq '^note: 5[0-9],[0-9]{3} calls are counted as part of their callers' <<<"$out"
else
    skip "a stack without a limit" "no C compiler, or a limit that only root may lift"
fi

cat >named.c <<'END'
#include <pthread.h>
#include <sys/prctl.h>
static void *name_itself(void *name)
{
    prctl(PR_SET_NAME, name);
    return 0;
}
static void *nothing(void *name)
{
    return name;
}
int main(void)
{
    static const char *const names[] = {"first-name", "sixteen-and-more", 0};
    for (int i = 0; i < 3; i++) {
        pthread_t thread;
        pthread_create(&thread, 0, names[i] ? name_itself : nothing, (void *)names[i]);
        pthread_join(thread, 0);
    }
}
END
if cc -pthread -o named named.c; then
    check "threads that name themselves" record -q -o named.db -- ./named
    check_same "… have these names, the others the program's" "first-name named sixteen-and-mor" \
        "$("$ASSAY" report --by command --json named.db | sed -n 's/.*"command": "\(.*\)".*/\1/p' | sort -u | paste -sd' ')"
    check "… for a modelled PMU" record -q --source=pmu:skylake --period 20 -o named.db -- ./named
    check_same "… too" "first-name named sixteen-and-mor" \
        "$("$ASSAY" report --by command --json named.db | sed -n 's/.*"command": "\(.*\)".*/\1/p' | sort -u | paste -sd' ')"
else
    skip "threads that name themselves" "no C compiler"
fi

# Repeated string instructions take a cycle an element on cores without back.string_bytes, which a profile says if it matters.
if [ "$(uname -m)" = x86_64 ] && cc -O1 -x c -o repeats - <<'END'; then
int main(void)
{
    static char to[65536];
    for (int i = 0; i < 4; i++) {
        void *at = to;
        long n = sizeof to;
        __asm__ volatile("rep stosb" : "+D"(at), "+c"(n) : "a"(0) : "memory");
    }
    return 0;
}
END
    check "repeated string instructions" record -q -o repeats.db --from main -- ./repeats
    check "… are said to be slow in the model" grep -q 'note: [0-9.]* % of the time is in repeated string instructions' < <("$ASSAY" report repeats.db)
    check "… and in pieces on others" record -q -o pieces.db --set back.string_bytes=32 --from main -- ./repeats
    db "… 32 times as fast, but for what memory takes" 'int(meta("cycles")) < 4 * 65536 / 4' pieces.db
    db "… which was slower" 'int(meta("cycles")) > 4 * 65536' repeats.db
    check_same "… with nothing to be said" "" "$("$ASSAY" report pieces.db | grep 'repeated string')"
fi

# ---- options --------------------------------------------------------------------------------------------------------
check "another core, changed" record -q -o core.db --core zen4-like --set back.rob=64 -- "$STATIC/nothing"
db "… is in the file" 'meta("core") == "zen4-like" and one("SELECT value FROM machine WHERE key = \"back.rob\"") == b"64"' core.db
check "several samplers" record -q -o samplers.db --samplers software,ibs,tip,tea --max 300k -- "$demo" 1
db "… are series, in that order" '[row[0] for row in q("SELECT name FROM series ORDER BY id")] == [b"golden", b"software", b"ibs", b"tip", b"tea"]' samplers.db
db "those without events have no components, but threads" '
    one("SELECT count(*) FROM components WHERE series = 1") == 0 and one("SELECT count(*) FROM times WHERE series = 1") > 0
    and one("SELECT events FROM series WHERE id = 1") == 0' samplers.db
check "--period" record -q -o period.db --period 100 --max 300k -- "$demo" 1
db "… gives samples by it" 'abs(one("SELECT samples FROM series WHERE name = \"tea\"") - int(meta("cycles")) // 100) <= 1' period.db
check "--rate" record -q -o rate.db --rate 32000000 --max 300k -- "$demo" 1
db "… gives a period" 'meta("period") == "100" and float(meta("rate")) == 32e6' rate.db
check "--random" record -q -o random1.db --random --seed 7 --max 300k -- "$demo" 1
check "… again" record -q -o random2.db --random --seed 7 --max 300k -- "$demo" 1
check "… with another seed" record -q -o random3.db --random --seed 8 --max 300k -- "$demo" 1
db "the seed decides" 'p(0, "SELECT * FROM times") == p(1, "SELECT * FROM times") != p(2, "SELECT * FROM times")' random1.db random2.db random3.db
check "--events" record -q -o events.db --events all --max 300k -- "$demo" 1
db "… are kept" 'one("SELECT events FROM series WHERE id = 0") > one("SELECT 511")' events.db
check "--golden=off" record -q -o fast.db --golden=off --max 300k -- "$demo" 1
db "… leaves the sampler, and an estimate from its samples alone" '
    [row[0] for row in q("SELECT name FROM series")] == [b"tea"] and meta("series") == "tea" and meta("golden") is None
    and one("SELECT sum(units) FROM path_times") == one("SELECT sum(units) FROM times") and one("SELECT count(*) FROM estimates WHERE measure = \"error\"") == 0
    and 0 < one("SELECT value FROM estimates WHERE measure = \"estimate\" AND granularity = \"instruction\"") < 1
    and one("SELECT count(*) FROM quality WHERE key = \"golden\"") == 1' fast.db
check "--repeat" record -o repeat.db --repeat 3 -- "$STATIC/nothing"
told=$err
check_json "… and between which bounds the mean lies" '(lambda c: c["low"] <= c["mean"] <= c["high"] and c["low"] < c["high"] or c["deviation"] == 0)(d["summary"]["runs"]["cycles"])' \
    "$ASSAY" report --json repeat.db
check "… tells the spread" grep -q '^3 runs merged: ' <<<"$told"
db "… and keeps all runs" '
    one("SELECT count(*) FROM runs WHERE cycles > 0 AND seconds > 0 AND samples > 0") == 3
    and float(meta("cycles_least")) <= float(meta("cycles_mean")) <= float(meta("cycles_most"))
    and one("SELECT sum(cycles) FROM runs") == int(meta("cycles")) == one("SELECT sum(units) / 720720 FROM times WHERE series = 0")
    and one("SELECT sum(samples) FROM runs") == one("SELECT samples FROM series WHERE name = \"tea\"") and meta("merged") == "3"' repeat.db
second_fails() { # a program that ends with status 3 where a file is there, which its first run makes
    rm -f was_here
    record -o failing.db --repeat 2 -- sh -c '[ ! -e was_here ] && : >was_here || exit 3'
}
check "a run that ends in another way" second_fails
check_same "… is named" "assay: run 2 of 2 ended with status 3, the first with 0: the profile contains both" "$(grep "run 2" <<<"$err")"
input() { record -q -o cat.db --repeat 2 -- cat <numbers; }
seq 3 >numbers
check_stdout_equals $'1\n2\n3\n1\n2\n3' "every run reads the same input" input
check "--from, --skip, --to" record -q -o region.db --from main --skip 1000 --max 100k -- "$demo" 1
db "… cut the run" 'int(meta("instructions")) == 100000 and meta("region") == "--from main --skip 1k --max 100k"' region.db
db "… and which part that is, in words" 'meta("part").startswith("100,000 of the first ") and
    meta("part").endswith(" instructions of a run of unknown length") and not q("SELECT 1 FROM quality WHERE key = \"start_up\"")' region.db
check "the first instructions" record -o first.db --max 120k -- "$WORKLOADS/demo" 1
check_same "… are named in the headline, with the dynamic linker's part" 1 \
    "$(grep -c '^demo on .*: the first 120,000 instructions of a run of unknown length, [0-9]* % of them in ld-' <<<"$err")"
check_same "… their error is that of the part" 1 "$(grep -c '^error 0.00 %: every cycle of this part of the run' <<<"$err")"
check_same "… and the start-up has a remedy" 1 \
    "$(tr -s '\n ' ' ' <<<"$err" | grep -c 'note: [0-9.]* % of the instructions ([0-9,]*) are in the dynamic linker: start-up dominates; --from main or --skip leaves them out; --budget or --sampled')"
db "… the linker's part is that of its executions" 'abs(one("SELECT value FROM quality WHERE key = \"start_up\"") -
    one("SELECT sum(executions) FROM times t JOIN instructions i ON i.id = t.instruction JOIN modules m ON m.id = i.module WHERE m.path LIKE \"%/ld-%\"")
    / 120000) < 1e-9' first.db
check "--count-rest" record -q -o rest.db --max 10k --count-rest -- "$STATIC/nothing"
db "… tells the length of the run" 'int(meta("instructions")) == 10000 and meta("part").startswith("the first 10,000 of ")
    and 10000 < int(meta("part").split()[4].replace(",", "")) and not q("SELECT 1 FROM quality WHERE key = \"rest\"")' rest.db
db "… which is not known without it" 'one("SELECT count(*) FROM quality WHERE key = \"rest\"") == 1' first.db
check_fails 2 'needs a part of the program' "… has nothing to count behind a whole program" record --count-rest -- true
check "a run that ends before --max" record -o all.db --max 1G -- "$STATIC/nothing"
check_same "… is not a part" "" "$(grep -E 'max|unknown number|this part' <<<"$err")"
db "… nor is one in the file" 'meta("region") is None and meta("part") is None' all.db
check "a part of a run that ends by itself" record -q -o some.db --skip 1000 -- "$STATIC/nothing"
db "… is told of the whole" 'meta("part").startswith("{:,} of {:,} instructions (".format(int(meta("instructions")), int(meta("instructions")) + 1000))' some.db
check "a program that executes another" record -q -o exec.db -- sh -c 'sh -c : ; exec true'
check_json "… has its time under both names" '{r["command"] for r in d["rows"]} == {"sh", "true"} and all(r["time"] > 0 for r in d["rows"])' \
    "$ASSAY" report --json --by command exec.db
db "… a row of the thread for each" 'sorted(q("SELECT number, name FROM threads")) == [(1, b"sh"), (1, b"true"), (2, b"sh")] and
    [r[0] for r in q("SELECT sum(instructions) FROM threads")] == [int(meta("instructions"))] and
    len(q("SELECT DISTINCT thread FROM path_times")) == 3' exec.db
check_json "… of a process the name is the last" '{r["process"]: r["command"] for r in d["rows"]} == {1: "true", 2: "sh"}' \
    "$ASSAY" report --json --by process exec.db
export MY_TOKEN=hunter2-secret
check "the environment" env LC_ALL=C OMP_NUM_THREADS=4 "$ASSAY" record -q -o environment.db -- "$STATIC/nothing"
check_same "… keeps no secrets" "" "$(grep -ac hunter2-secret environment.db | grep -v '^0$')"
db "… but what matters to a run" '(b"OMP_NUM_THREADS=4",) in q("SELECT value FROM environment")' environment.db

# ---- runs that fail --------------------------------------------------------------------------------------------------
check_status 139 "a program that dies" record -o died.db -- sh -c 'kill -SEGV $$'
told=$err
db "… leaves what ran, marked" '"signal 11" in meta("partial") and meta("status") == "139" and int(meta("cycles")) > 0' died.db
adds_up died died.db
check_same "… and says so" 1 "$(grep -c '^PARTIAL' <<<"$told")"
check "a good one before" record -q -o kept.db -- "$STATIC/nothing"
before=$(cksum <kept.db)
same_file() { check_same "… leaves the old file" "$before" "$(cksum <kept.db)"; }
check_fails 127 'not found' "a program that is not there" record -o kept.db -- ./absent
same_file
check_status 125 "a part that is never reached" record -o kept.db --from no_such_function -- true
told=$err
check "… measured nothing" grep -q 'nothing was measured' <<<"$told"
same_file
check_fails 2 'unknown; the sources are' "an unknown source" record --source=oracle -o kept.db -- true
check_fails 2 "unknown sampler 'x'" "an unknown sampler" record --samplers x -o kept.db -- true
check_fails 2 'named twice' "a sampler twice" record --samplers tea,tea -o kept.db -- true
check_fails 2 'rate' "a rate of nothing" record --rate 0 -o kept.db -- true
check_fails 2 'no-such-core' "an unknown core" record --core no-such-core -o kept.db -- true
check_fails 2 'no program' "no program" record -o kept.db
same_file
echo "precious" >foreign.txt
check_fails 125 'foreign.txt' "a file that is no profile" record -o foreign.txt -- sh -c 'echo ran >ran'
check_same "… stays, and nothing ran" "precious no" "$(cat foreign.txt) $([ -e ran ] && echo yes || echo no)"
check_fails 125 'it is a directory' "a directory as target" record -o . -- true
check_fails 125 'absent/x.db' "a directory that is not there" record -o absent/x.db -- true

# Interrupted twice: the program is ended, what ran is kept.
set -m # background jobs get their own process group, and SIGINT
begun=(sh -c 'echo yes >begun; exec "$0" 100000' "$demo")
"$ASSAY" record -o interrupted.db -- "${begun[@]}" >/dev/null 2>interrupted.txt &
pid=$!
wait_until test -s begun
kill -INT $pid && wait_until took_signal $pid 2 && kill -INT $pid 2>/dev/null
wait $pid
check_same "interrupted: the status" 130 $?
db "… what ran is there, marked" '"interrupted" in meta("partial") or "signal 2" in meta("partial")' interrupted.db
db "… and adds up" 'one("SELECT sum(units) FROM times WHERE series = 0") == int(meta("cycles")) * 720720' interrupted.db
# A program that handles the interrupt and ends by itself: what ran is not what would have run.
"$ASSAY" record -o handled.db -- sh -c 'trap "exit 3" INT; echo yes >handling; while :; do :; done' >/dev/null 2>handled.txt &
pid=$!
wait_until test -s handling
kill -INT $pid
wait $pid
check_same "an interrupt that the program handles: its own status" 3 $?
db "… and a part of the run, marked" '"interrupted" in meta("partial") and meta("status") == "3"' handled.db
check_same "… which the terminal is told, too" 1 \
    "$(tr '\n' ' ' <handled.txt | tr -s ' ' | grep -c 'PARTIAL: interrupted by the user; the program handled that and ended by itself, with status 3')"
# SIGTERM is not the user's Ctrl-C.
"$ASSAY" record -o told.db -- sh -c 'trap "exit 4" TERM; echo yes >telling; while :; do :; done' >/dev/null 2>&1 &
pid=$!
wait_until test -s telling
kill -TERM $pid
wait $pid
check_same "SIGTERM that the program handles: its own status" 4 $?
db "… and the signal by name" 'meta("partial") == "the program was sent signal 15 (Terminated); the program handled that and ended by itself, with status 4"' told.db
# A signal ends all runs: those before it are the profile.
rm -f runs
check_status 130 "several runs, the second interrupted" record --repeat 3 -o several.db -- sh -c "$INTERRUPTING" sh 2 INT
check_same "… is the last run" "2 1" "$(wc -l <runs) $(one several.db "SELECT count(*) FROM runs")"
check_same "… which is said" 1 "$(grep -c '^assay: run 2 of 3: interrupted; the profile contains the runs before it' <<<"$err")"
rm -f runs
check_fails 143 'interrupted: not all weights have been measured' "one run for each weight, the second interrupted" \
    record -q --region 0..+10k,weight=2 --region 20k..,weight=3 -o weights.db -- sh -c "$INTERRUPTING" sh 2 TERM
# A fault may be QEMU's.
"$ASSAY" record -o fault.db -- sh -c 'kill -SEGV $$' >/dev/null 2>fault.txt
check_same "a program that faults: its status" 139 $?
check_same "… the remedy if QEMU is the cause" 1 "$(tr -s '\n ' ' ' <fault.txt | grep -c 'PARTIAL: the program was killed by signal 11 (Segmentation fault); if that does not happen without Assay, QEMU cannot run this program: --source=timer')"
# What a shell without job control starts in the background ignores SIGINT, and so does the program: one interrupt is enough.
rm begun
(trap '' INT && exec "$ASSAY" record -o background.db -- sh -c 'echo yes >begun; while :; do :; done') >/dev/null 2>&1 &
pid=$!
wait_until test -s begun
kill -INT $pid
wait $pid
check_same "an interrupt in the background" 130 $?
db "… leaves what ran, marked" '"interrupted" in meta("partial") or "signal 2" in meta("partial")' background.db
# … unless the program handles it: then it ends by itself. One that ignores it again is like the others.
cat >minds.c <<'END'
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
static volatile sig_atomic_t caught;
static void on_interrupt(int number) { caught = 1; }
int main(int argc, char **argv)
{
    signal(SIGINT, on_interrupt);
    if (argc > 1)
        signal(SIGINT, SIG_IGN);
    FILE *file = fopen("minding", "w");
    fprintf(file, "%d\n", getpid());
    fclose(file);
    while (!caught)
        ;
    write(1, "cleaned up\n", 11);
    return 7;
}
END
cc -O1 -o minds minds.c
# What is sent to the whole process group reaches the program once, not a second time through Assay.
cat >once.c <<'END'
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
static volatile sig_atomic_t caught, over;
static void on_interrupt(int number) { caught++; }
static void on_end(int number) { over = 1; }
int main(void)
{
    signal(SIGINT, on_interrupt);
    signal(SIGUSR1, on_end);
    FILE *file = fopen("counting", "w");
    fprintf(file, "%d\n", getpid());
    fclose(file);
    while (!caught)
        ;
    fclose(fopen("caught", "w"));
    while (!over)
        ;
    return caught;
}
END
cc -O1 -o once once.c
for source in model timer; do
    if [ $source = timer ] && ! "$ASSAY" record -q --source=timer -o x.db -- "$STATIC/nothing" 2>/dev/null; then
        skip "an interrupt of the process group: $source" "no timer source here"
        continue
    fi
    rm -f counting caught
    "$ASSAY" record -q --source=$source -o once.db -- ./once 2>once.txt &
    pid=$!
    wait_until test -s counting
    kill -INT -- -$pid
    wait_until test -e caught && wait_until took_signal $pid 2
    kill -USR1 "$(cat counting)"
    wait $pid
    check_same "an interrupt of the process group comes once ($source)" 1 $?
done
for source in model timer; do
    if [ $source = timer ] && ! "$ASSAY" record -q --source=timer -o x.db -- "$STATIC/nothing" 2>/dev/null; then
        skip "an interrupt in the background, handled: $source" "no timer source here"
        continue
    fi
    rm -f minding
    (trap '' INT && exec "$ASSAY" record --source=$source -o minds.db -- ./minds) >minds.txt 2>&1 &
    pid=$!
    wait_until test -s minding
    kill -INT $pid
    wait $pid
    check_same "an interrupt in the background, handled: the program's own end ($source)" "7 cleaned up" "$? $(grep -o 'cleaned up' minds.txt)"
    db "… and a part of the run, marked" '"interrupted" in meta("partial") and meta("status") == "7"' minds.db
    rm -f minding
    (trap '' INT && exec "$ASSAY" record --source=$source -o minds.db -- ./minds again) >minds.txt 2>&1 &
    pid=$!
    wait_until test -s minding
    kill -INT $pid
    wait $pid
    check_same "… ignored again: ended at once ($source)" "130 0" "$? $(grep -c 'cleaned up' minds.txt)"
    kill -KILL "$(cat minding)" 2>/dev/null # on the machine it goes on
done
rm begun
"$ASSAY" record -o kept.db -- "${begun[@]}" >/dev/null 2>&1 &
pid=$!
wait_until test -s begun
kill -KILL $pid
wait $pid 2>/dev/null
same_file
check_same "killed: nothing else is left behind" "" "$(find . -name '*partial*' -o -name 'kept.db-*')"
check_no_strays "… and no process"

# ---- a disk that is full ---------------------------------------------------------------------------------------------
mkdir small
if [ "$(id -u)" -eq 0 ] && mount -t tmpfs -o size=256k none small 2>/dev/null; then
    check_fails 125 'No space left' "a full disk" record -q -o small/full.db --max 2M -- "$demo" 1
    check_same "… leaves nothing" "" "$(ls -A small)"
    umount small
else
    skip "a full disk" "needs root to make a small file system"
fi
