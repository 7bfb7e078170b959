#!/usr/bin/env bash
# assay record --points: the estimate against the truth, points of files, points side by side, and what is refused.
# plain-only: forks of a sanitized program; the parts that it uses run under the sanitizers elsewhere
# time-limit: 240
. "$(dirname "$0")/lib.sh"

gcc -O1 -static -nostdlib -ffreestanding -fno-pic -no-pie -DROUNDS=5 "$SOURCE/tests/cli/two_phases.c" -o two 2>/dev/null ||
    { skip "simulation points" "no C compiler for this machine" && exit 0; }
how=(--points=auto --point-interval 100k --max-k 4)

# ---- the estimate ----

check "a profile from points" "$ASSAY" record "${how[@]}" --jobs 1 -o one.db -- ./two
check_same "… says so" 1 "$(grep -c 'SAMPLED: an estimate for all .* from [0-9]* simulation points of [0-9]* phases' <<<"$err")"
check "the truth" "$ASSAY" record -q --budget 0 -o true.db -- ./two
"$ASSAY" report --json --limit 0 one.db >one.json
"$ASSAY" report --json --limit 0 true.db >true.json
estimates_truth one.json true.json
holds "rows have error bars" 'all(r["share_error"] >= 0 for r in d["rows"])' one.json
check_same "executions are exact" "$(one true.db 'SELECT sum(executions) FROM times WHERE series = 0')" \
    "$(one one.db 'SELECT sum(executions) FROM times WHERE series = 0')"
for table in components state_times; do
    check_same "$table add up" "$(one one.db 'SELECT sum(units) FROM times WHERE series = 0')" \
        "$(one one.db "SELECT sum(units) FROM $table WHERE series = 0")"
done
check_same "… so do the call paths, but for code that no point has" 1 "$(one one.db 'SELECT (SELECT sum(units) FROM path_times WHERE series = 0) * 1.0 / sum(units) BETWEEN 0.99 AND 1 FROM times WHERE series = 0')"
check_same "the call path of the truth" "$(one true.db 'SELECT count(*) FROM paths')" "$(one one.db 'SELECT count(*) FROM paths')"

# A core that learns from violations which loads wait: points settle long enough to know that.
check "a core that learns" "$ASSAY" record -q --core zen4-like "${how[@]}" -o learns.db -- ./two
check "… the truth" "$ASSAY" record -q --core zen4-like --budget 0 -o learnt.db -- ./two
check "… is near" python3 - <<'END'
import sqlite3
points, truth = (int(sqlite3.connect(f).execute("SELECT value FROM meta WHERE key = 'cycles'").fetchone()[0]) for f in ("learns.db", "learnt.db"))
assert abs(points / truth - 1) < 0.05, (points, truth)
END

# A rep instruction costs what its iterations do: half of the copies are more than twice as long as the others.
cat >lengths.c <<'END'
#include <stdint.h>
static char from[1 << 13], to[1 << 13];
static volatile uint64_t sum;
__attribute__((noinline)) static void copy(uint64_t n)
{
    void *d = to;
    const void *s = from;
    __asm__ volatile("rep movsb" : "+D"(d), "+S"(s), "+c"(n) : : "memory");
}
int main(void)
{
    uint64_t x = 1;
    for (int i = 0; i < 600; i++) {
        for (int k = 0; k < 1000; k++)
            sum += x = x * 6364136223846793005u + 1442695040888963407u;
        copy(i < 300 ? 3400 + (x >> 58) : 8000 + (x >> 58));
    }
}
END
gcc -O1 -static lengths.c -o lengths
check "copies of different lengths" "$ASSAY" record -q --points=auto --point-interval 50k --max-k 2 -o copies.db -- ./lengths
check "… all of them" "$ASSAY" record -q --budget=0 -o copied.db -- ./lengths
check "… take as long" python3 - <<'END'
import sqlite3
points, truth = (int(sqlite3.connect(f).execute("SELECT value FROM meta WHERE key = 'cycles'").fetchone()[0]) for f in ("copies.db", "copied.db"))
assert abs(points / truth - 1) < 0.03, (points, truth)
END

# ---- side by side: the same, to the unit ----

cat >same.py <<'END'
import sqlite3
a, b = sqlite3.connect("one.db"), sqlite3.connect("four.db")
tables = [t for (t,) in a.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
varies = {"date", "host_seconds", "command_line"}
for table in tables:
    if table in ("runs", "recordings", "sqlite_stat1"): # each recording has a number of its own
        continue
    rows = [sorted(map(repr, (r for r in db.execute(f"SELECT * FROM {table}") if table != "meta" or r[0] not in varies)))
            for db in (a, b)]
    assert rows[0] == rows[1], (table, [x for x in rows[0] if x not in rows[1]][:3], [x for x in rows[1] if x not in rows[0]][:3])
assert a.execute("SELECT count(*) FROM times").fetchone()[0] > 100
END
check "four points at a time" "$ASSAY" record -q "${how[@]}" --jobs 4 -o four.db -- ./two
check "… give the same profile" python3 same.py

# ---- points of files ----

check "points in files" "$ASSAY" points -q --interval 100k --max-k 4 --cpi off --simpoints p.s --weights p.w -o /dev/null -- ./two
check "a profile from files" "$ASSAY" record --points=p.s --point-weights=p.w --point-interval 100k -o files.db -- ./two
check_same "… has no error bars" 0 "$(one files.db "SELECT count(*) FROM series WHERE name LIKE 'replicate%'")"
check_same "… and says that" 1 "$(grep -c 'error is not known: of each phase one interval was measured' <<<"$err")"
check_same "one interval of each phase is the same" "$(one files.db "SELECT value FROM meta WHERE key = 'cycles'")" \
    "$("$ASSAY" record -q "${how[@]}" --per-phase 1 -o single.db -- ./two; one single.db "SELECT value FROM meta WHERE key = 'cycles'")"

# ---- real programs ----

cat >count.pl <<'END'
my $n = 0; my $seed = 7; $n += () = <STDIN>;
for (1 .. 15000) { $seed = ($seed * 1103515245 + 12345) % 2147483648; $n += $seed % 3; }
print "$n\n";
END
if command -v perl >/dev/null; then
    export PERL_HASH_SEED=0
    printf 'a\nb\nc\n' >lines
    check "standard input is read by both runs" "$ASSAY" record -q --points=auto --point-interval 200k --max-k 3 -o perl.db -- perl count.pl <lines
    check_same "… and the output is there once" "$(perl count.pl <lines)" "$out"
fi

# Other code stands for what no point executes: nothing shows what it would have cost.
check "a program with code in no point" "$ASSAY" record -q --points=auto --point-interval 20k --max-k 3 -o unseen.db -- /bin/true
check_same "… is no surer than that" 1 "$(one unseen.db "SELECT (SELECT value FROM estimates WHERE measure = 'interval') >= 2 * (SELECT coalesce(sum(value), 0) FROM quality WHERE key = 'unseen')")"

# ---- another program the second time ----

cat >other.c <<'END'
#include <fcntl.h>
#include <unistd.h>
__attribute__((noinline, aligned(4096))) void first(void) { for (volatile long i = 0; i < 300000; i++) ; }
__attribute__((noinline, aligned(4096))) void later(void) { for (volatile long i = 0; i < 300000; i++) ; }
int main(void) { int fd = open("ran", O_CREAT | O_EXCL, 0600); if (fd >= 0) first(); else later(); return 0; }
END
gcc -O1 -static other.c -o other
check "a program that does something else in the second run" "$ASSAY" record --points=auto --point-interval 100k --max-k 3 -o other.db -- ./other
check_same "… is noticed, though it executes as many instructions" 1 "$(grep -c 'does not do the same in every run' <<<"$err")"
check "… and in a third one as in the second" "$ASSAY" record --points=auto --point-interval 100k --max-k 3 -o other.db -- ./other
check_same "… nothing is said" 0 "$(grep -c 'does not do the same in every run' <<<"$err")"

# ---- threads: each point has a run of its own ----

cat >apart.c <<'END'
#include <pthread.h>
#include <stdio.h>
enum { THREADS = 3, WORDS = 4096, ROUNDS = 20 };
static _Alignas(64) unsigned data[THREADS][WORDS];
static void *work(void *arg)
{
    unsigned *own = arg;
    for (unsigned round = 0; round < ROUNDS; round++)
        for (unsigned i = 0; i < WORDS; i++)
            own[i] += round ^ own[i * 7 % WORDS];
    return NULL;
}
int main(void)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, data[i]);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    printf("own %u\n", data[0][1]);
}
END
gcc -O1 -static -pthread apart.c -o apart
threads=("$ASSAY" record -q --points=auto --deterministic --point-interval 20k --max-k 3)
check "points of threads" "${threads[@]}" --jobs 1 -o turn1.db -- ./apart
check_same "… the program prints once" 1 "$(grep -c own <<<"$out")"
check "… three at a time" "${threads[@]}" --jobs 3 -o turn3.db -- ./apart
check "… the same to the unit" python3 - <<'END'
import sqlite3
# By place: blocks and instructions are numbered in the order in which threads come to them.
queries = ["SELECT i.address, t.series, t.thread, t.units, t.executions FROM times t JOIN instructions i ON i.id = t.instruction",
           "SELECT i.address, t.series, t.thread, t.events, t.units FROM components t JOIN instructions i ON i.id = t.instruction",
           "SELECT i.address, t.series, t.thread, t.state, t.units FROM state_times t JOIN instructions i ON i.id = t.instruction",
           "SELECT p.address, p.call_address, t.series, t.thread, t.units FROM path_times t JOIN paths p ON p.id = t.path",
           "SELECT * FROM counters", "SELECT * FROM estimates", "SELECT number, cycles, instructions FROM threads"]
for query in queries:
    one, three = (sorted(map(repr, sqlite3.connect(f).execute(query))) for f in ("turn1.db", "turn3.db"))
    assert one and one == three, (query, [r for r in one if r not in three][:3], [r for r in three if r not in one][:3])
END
check "… and executions are exact" test "$(one turn1.db 'SELECT sum(executions) FROM times WHERE series = 0')" -gt 700000
check "all of their run" "$ASSAY" record -q --deterministic --budget=0 -o turns.db -- ./apart
check "… points in most of the phases of its start" "${threads[@]}" --max-k 30 -o many.db -- ./apart
check "… take as long" python3 - <<'END'
import sqlite3
points, truth = (dict(sqlite3.connect(f).execute("SELECT name, value FROM counters")) for f in ("many.db", "turns.db"))
for name in ("cycles", "elapsed_cycles"):
    assert abs(points[name] / truth[name] - 1) < 0.03, (name, points[name], truth[name])
END
run "$ASSAY" report many.db
check_same "… and say how sure that is" 1 "$(grep -c '% of the elapsed time is half of its 95 % interval' <<<"$out")"
check "points of threads in files" "$ASSAY" points -q --interval 20k --max-k 2 --cpi off --simpoints t.s --weights t.w -o /dev/null -- ./apart
check "… measured in turn" "$ASSAY" record -q --points=t.s --point-weights=t.w --deterministic --point-interval 20k -o turn.db -- ./apart
check_fails 125 "wait for each other's cache lines for [0-9]* % of the time.*--sampled measures them" "threads that fight for lines are not for points" \
    "${threads[@]}" -o no.db -- "$STATIC/threads"
check_fails 125 "several processes" "processes have no order" "$ASSAY" record -q --points=auto --deterministic --point-interval 20k -o no.db -- \
    sh -c "$STATIC/nothing; $STATIC/nothing"
# Assay is interrupted while the program runs to a point that is far away.
echo "100000000 0" >away.s
echo "1 0" >away.w
"$ASSAY" record -q --points=away.s --point-weights=away.w --deterministic --point-interval 20k -o no.db -- \
    "$STATIC/threads" -w 100000000 >interrupted.out 2>&1 &
recorder=$!
runs_to_it() { [ "$(ps -o comm= --ppid "$(pgrep -P "$recorder")" | grep -c qemu)" = 1 ]; }
runs_to_it_first() { [ "$(ps -o comm= --ppid "$recorder" | grep -c qemu)" = 1 ]; }
wait_until runs_to_it
kill -TERM "$recorder"
wait "$recorder"
check_same "an interrupted run ends with the signal's status" 143 "$?"
check_same "… and says so" 1 "$(grep -c interrupted interrupted.out)"
"$ASSAY" record -q --points=auto -o no.db -- sh -c 'while :; do :; done' >interrupted.out 2>&1 &
recorder=$!
wait_until runs_to_it_first
kill -TERM "$recorder"
wait "$recorder"
check_same "… in the first run, too" 143 "$?" # before its handler is there it says nothing, and ends alike

# ---- what is refused ----

check_fails 125 "threads need --deterministic" "a program with threads" "$ASSAY" record -q --points=auto --point-interval 20k --max-k 2 -o no.db -- "$STATIC/threads"
check_fails 125 "less than one interval" "a short program" "$ASSAY" record -q --points=auto --point-interval 1G -o no.db -- "$STATIC/demo" 1
sed 's/^/77/' p.s >far.s
check_fails 125 "the program ends before the interval" "points beyond the end" "$ASSAY" record -q --points=far.s --point-weights=p.w \
    --point-interval 100k -o no.db -- ./two
# The pipeline begins to settle before the end, for a point behind it.
"$ASSAY" points -q --interval 100k --cpi off --bb two.bb -o /dev/null -- ./two
echo "$(grep -c ^T two.bb) 0" >near.s
echo "1 0" >near.w
check_fails 125 "the program ends before the interval" "a point right behind the end" timeout -s KILL 100 "$ASSAY" record -q --points=near.s --point-weights=near.w \
    --point-interval 100k -o no.db -- ./two
for option in --max-k=4 --per-phase=3 --point-interval=100k --point-warm=all --jobs=1; do
    check_fails 2 "record: ${option%=*} needs --points" "${option%=*} without points" "$ASSAY" record -q "$option" -o no.db -- ./two
done
printf '1 0\n' >single.s
printf '1 0\n' >single.w
for option in --max-k=4 --per-phase=3; do
    check_fails 2 "record: ${option%=*} needs --points=auto" "${option%=*} with points of a file" "$ASSAY" record -q "$option" \
        --points=single.s --point-weights=single.w -o no.db -- ./two
done
check "a single point" "$ASSAY" record --points=single.s --point-weights=single.w --point-interval 100k -o single.db -- ./two
check_same "… is told as one" 1 "$(grep -c ' from 1 simulation point of 1 phase;' <<<"$err")"
printf '0.5 0\n' >half.w
check_fails 125 "half.w: the weights of the points in single.s sum to 0.5 instead of 1.*make them again" "weights of a part of the points" \
    "$ASSAY" record -q --points=single.s --point-weights=half.w -o no.db -- ./two
check_fails 2 "belong together" "weights are missing" "$ASSAY" record -q --points=p.s -o no.db -- ./two
check_fails 2 "no machine 'nosuch'" "a core that does not exist, before the first run" "$ASSAY" record -q --points=auto --point-interval 1G --core nosuch \
    -o no.db -- ./two
check_fails 2 "another way to sample" "two ways to sample" "$ASSAY" record -q --points=auto --sampled -o no.db -- ./two
check_fails 2 "needs the whole program" "a part of the program" "$ASSAY" record -q --points=auto --max 1M -o no.db -- ./two
check_same "no profile was written" 0 "$([ -e no.db ] && echo 1 || echo 0)"
check_no_strays "no copy is left"
