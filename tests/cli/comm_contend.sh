#!/usr/bin/env bash
# assay comm on threads that change one word at the same time: its line moves with each change, however they change it, whether or not they
# wait for each other before they begin, and however the host lets them run.
# plain-only: long runs; sanitized.sh runs each way of it under sanitizers
. "$(dirname "$0")/lib.sh"

# Threads execute one instruction a unit of time (doc/design/comm.md). Each change is by another thread than the one before it, but for
# the first and the last ones: threads begin one after the other, by the thousand instructions that it takes to make one, 200 changes. A
# plain change is a load and a store, between which other threads may come. A compare-and-swap that fails moves the line as well.
times=5000
contend() {
    "$ASSAY" comm --json --no-estimate --no-paths -- "$WORKLOADS/$program" "$way" -t "$threads" -n $times $together >contend.json 2>/dev/null
    holds "$program: $way by $threads threads${together:+, together}: $least to $most of a move for a change" \
        "(lambda moves: $least <= moves / ($threads * $times) <= $most)(sum(o['total'] for o in d['objects'] if o['name'] == 'word'))" contend.json
}
for program in contend contend-riscv64-static; do
    if [ ! -x "$WORKLOADS/$program" ]; then
        skip "$program" "no RISC-V compiler"
        continue
    fi
    while read -r way threads together least most; do
        together=${together#none}
        by_chance contend
    done <<'CASES'
plain 2 none 0.8 2
plain 4 -b 0.8 2
add 2 -b 0.8 1.01
add 4 none 0.8 1.01
take 2 none 0.8 1.01
take 4 -b 0.8 1.01
cas 2 none 0.8 1.5
cas 2 -b 0.8 1.5
cas 4 none 0.8 1.5
cas 4 -b 0.8 1.5
lock 4 -b 0.8 1.5
CASES
done

# Where each access is sampled, the estimate is the exact count: what is wrong at longer periods is the sampling's doing. A trap counts twice its
# access here, and there are hardly any.
every_access() {
    "$ASSAY" comm --json --no-paths --period 1 --fixed -- "$STATIC/contend" "$1" -t 4 -n 1000 >every.json 2>/dev/null
    holds "each access sampled: the estimate of $1 is the exact count" \
        "abs(d['total'] - d['exact']['total']) <= 0.01 * d['exact']['total'] + 2 * d['sampling']['trapped'] and abs(d['false_sharing'] / d['total'] - d['exact']['false_sharing'] / d['exact']['total']) < 0.05" every.json
}
for way in plain cas lock; do
    every_access $way
done

# Samples of last stores count each of 80,000 changes by a load and a compare-and-swap once, where Algorithm 1 counts both accesses as often as others
# come between (1.4 to 1.5 times as many). 1,600 samples of stores: five standard deviations are 12.5 %.
last_stores() {
    "$ASSAY" comm --json --no-paths --period 50 --method=last-stores -- "$STATIC/contend" cas -t 4 -n 20000 >last.json 2>/dev/null
    holds "--method=last-stores counts compare-and-swaps as often as they move the line" \
        "abs(d['total'] / d['exact']['total'] - 1) < 0.125 and d['sampling']['method'] == 'last-stores' and d['sampling']['found'] == 0" last.json
}
by_chance last_stores
check_stderr_line 'method is the model.s' "--method is the model's" "$ASSAY" comm --method=last-stores --source=timer -- true

# One thread copies by an instruction of two million iterations, the other one counts. Both take as long, and none is late: what comes late is in no
# order with the other thread's accesses.
cat >copies.c <<'C'
#include <pthread.h>
#include <stdlib.h>
enum { SIZE = 1 << 18 };
static char from[SIZE], to[SIZE];
static volatile long count;
static void *copy(void *unused)
{
    for (int i = 0; i < 8; i++) {
        void *d = to, *s = from;
        size_t n = SIZE;
        __asm__ volatile("rep movsb" : "+D"(d), "+S"(s), "+c"(n) : : "memory");
    }
    return unused;
}
static void *add(void *unused)
{
    for (int i = 0; i < 700000; i++)
        count++;
    return unused;
}
int main(void)
{
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, copy, NULL);
    pthread_create(&threads[1], NULL, add, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
}
C
if [ "$(uname -m)" = x86_64 ]; then
    gcc -O1 -pthread -o copies copies.c
    "$ASSAY" comm --json --no-estimate --no-paths -- ./copies >copies.json
    holds "iterations of a rep instruction take time: nothing is late" 'd["late_accesses"] == 0 and d["instructions"] < 4500000' copies.json
else
    skip "iterations of a rep instruction take time" "not x86-64"
fi

# Threads that wait for each other stay on one processor, and are not to notice.
natively=$("$STATIC/contend" add -t 2 -n 10 | sed 's/.*processors //')
check_stdout_equals "word 4000 failed 0 processors $natively" "a thread that waited for others may run where it could" \
    "$ASSAY" comm --no-estimate -o contend.txt -- "$STATIC/contend" take -t 2 -n 2000

check_no_strays "nothing is left running"
