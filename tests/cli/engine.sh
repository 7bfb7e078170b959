#!/usr/bin/env bash
# The engine as a user sees it: the same records in every run, counts that agree with the records and with each other,
# exact regions, and programs that make life hard for a tracer.
# plain-only: what is hard happens in QEMU, where no sanitizer is; sanitized.sh reads records of each kind under sanitizers
# time-limit: 180
# shellcheck disable=SC2016 # scripts in single quotes are the programs to measure
. "$(dirname "$0")/lib.sh"

# ---- the programs --------------------------------------------------------------------------------------------------
cat >tricks.c <<'END'
/* Programs in one: the first argument says which. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#if defined(__x86_64__) /* work: 1 + 2 * 100 + 1 instructions; both: 5 and what it calls */
__asm__(".globl work, after, both\n.type work, @function\n.type after, @function\n.type both, @function\n"
        "work: mov $100, %ecx\n1: dec %ecx\njnz 1b\nret\n.size work, . - work\n"
        "after: nop\nret\n.size after, . - after\n"
        "both: call work\ncall after\ncall work\ncall after\nret\n.size both, . - both\n");
#define LOOP(n) __asm__ volatile("1: dec %0\n\tjnz 1b" : "+r"(n))
#else
__asm__(".globl work, after, both\n.type work, @function\n.type after, @function\n.type both, @function\n"
        ".option push\n.option norelax\n"
        "work: li t0, 100\n1: addi t0, t0, -1\nbnez t0, 1b\nret\n.size work, . - work\n"
        "after: nop\nret\n.size after, . - after\n"
        "both: mv t1, ra\njal work\njal after\njal work\njal after\njr t1\n.size both, . - both\n.option pop\n");
#define LOOP(n) __asm__ volatile("1: addi %0, %0, -1\n\tbnez %0, 1b" : "+r"(n))
#endif
void work(void), after(void), both(void);

static __attribute__((noinline)) void loop(unsigned long n) { LOOP(n); }
static void fail(const char *what)
{
    perror(what);
    exit(99);
}

static void *run_loop(void *n)
{
    loop((unsigned long)(uintptr_t)n);
    return NULL;
}
static int threads(int n, unsigned long work)
{
    static pthread_t all[4096];
    for (int i = 0; i < n; i++)
        if (pthread_create(&all[i], NULL, run_loop, (void *)(uintptr_t)work) != 0)
            fail("pthread_create");
    for (int i = 0; i < n; i++)
        pthread_join(all[i], NULL);
    return printf("%d threads\n", n) < 0;
}
static int one_by_one(int n)
{
    for (int i = 0; i < n; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, run_loop, (void *)1) != 0)
            fail("pthread_create");
        pthread_join(thread, NULL);
    }
    return printf("%d one by one\n", n) < 0;
}

/* A lock that goes round among spinning threads. */
enum { PLAYERS = 4, TURNS = 400 };
static _Atomic unsigned turn;
static void *play(void *self)
{
    for (int i = 0; i < TURNS; i++) {
        while (atomic_load(&turn) % PLAYERS != (uintptr_t)self) {
        }
        atomic_fetch_add(&turn, 1);
    }
    return NULL;
}
static int hand_over(void)
{
    pthread_t players[PLAYERS];
    for (uintptr_t i = 0; i < PLAYERS; i++)
        pthread_create(&players[i], NULL, play, (void *)i);
    for (int i = 0; i < PLAYERS; i++)
        pthread_join(players[i], NULL);
    return printf("turn %u\n", atomic_load(&turn)) < 0;
}

/* One thread runs many windows ahead while others wait in the kernel for it, for data, for time. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int ends[2];
static void *in_futex(void *unused)
{
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    return unused;
}
static void *in_read(void *unused)
{
    char byte;
    if (read(ends[0], &byte, 1) != 1)
        fail("read");
    return unused;
}
static void *in_sleep(void *unused)
{
    nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL);
    return unused;
}
static int blocked(void)
{
    pthread_t waiting[3];
    if (pipe(ends) != 0)
        fail("pipe");
    pthread_mutex_lock(&lock);
    pthread_create(&waiting[0], NULL, in_futex, NULL);
    pthread_create(&waiting[1], NULL, in_read, NULL);
    pthread_create(&waiting[2], NULL, in_sleep, NULL);
    loop(1000000);
    pthread_mutex_unlock(&lock);
    if (write(ends[1], "x", 1) != 1)
        fail("write");
    for (int i = 0; i < 3; i++)
        pthread_join(waiting[i], NULL);
    return puts("all came back") < 0;
}

static int forks(int n)
{
    int sum = 0, status;
    for (int i = 0; i < n; i++)
        if (fork() == 0)
            loop(500), _exit(i % 7);
    while (wait(&status) > 0)
        sum += WEXITSTATUS(status);
    return printf("sum %d\n", sum) < 0;
}
static int spawns(char **argv, int by_vfork)
{
    extern char **environ;
    int status;
    pid_t pid = 0;
    if (by_vfork && (pid = vfork()) == 0) {
        execvp(argv[0], argv);
        _exit(77);
    } else if (!by_vfork && (errno = posix_spawnp(&pid, argv[0], NULL, NULL, argv, environ)) != 0) {
        fail("posix_spawnp");
    }
    waitpid(pid, &status, 0);
    return printf("child %d\n", WEXITSTATUS(status)) < 0;
}
static int outlived(void)
{
    if (fork() == 0) {
        for (int i = 0; i < 3; i++)
            close(i);
        close(open("has_begun", O_CREAT | O_WRONLY, 0666));
        for (int i = 0; i < 1200 && access("may_end", F_OK) != 0; i++)
            usleep(50000);
        loop(1000000);
        _exit(write(open("outlived", O_CREAT | O_WRONLY, 0666), "well", 4) != 4);
    }
    for (int i = 0; i < 1200 && access("has_begun", F_OK) != 0; i++) /* the host may let it run late */
        usleep(50000);
    puts("the parent ends");
    return 4;
}
static int close_all(void)
{
    for (int i = 0; i < 1024; i++)
        close(i);
    loop(100000);
    return 5;
}

static volatile sig_atomic_t hits;
static void hit(int signal) { hits++; }
static int blocks_signals(void)
{
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    kill(getpid(), SIGUSR1);
    kill(getpid(), SIGTERM);
    loop(1000000);
    sigpending(&all);
    return printf("pending %d %d\n", sigismember(&all, SIGUSR1), sigismember(&all, SIGTERM)) < 0;
}
static void copy(int times)
{
    static char from[1000000], to[1000000];
    for (int i = 0; i < times; i++) {
#if defined(__x86_64__)
        void *destination = to, *source = from;
        unsigned long count = sizeof to;
        __asm__ volatile("rep movsb" : "+D"(destination), "+S"(source), "+c"(count)::"memory");
#else
        memcpy(to, from, sizeof to);
#endif
    }
}
/* A loop of one block, interrupted by a timer and by the end of a child: signals that no instruction raises. */
static int timer(int copies)
{
    struct itimerval every = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};
    struct sigaction action = {.sa_handler = hit, .sa_flags = SA_RESTART};
    sigaction(SIGALRM, &action, NULL);
    sigaction(SIGCHLD, &action, NULL);
    if (fork() == 0)
        _exit(0);
    setitimer(ITIMER_REAL, &every, NULL);
    if (copies)
        copy(copies);
    else
        loop(20000000);
    setitimer(ITIMER_REAL, &never, NULL);
    return printf("interrupted %d\n", hits > 3) < 0;
}
static int renames(char **argv)
{
    char where[100];
    if (chdir("/") != 0)
        fail("chdir");
    argv[0][0] = 'x';
    argv[0][1] = 0;
    setenv("LD_PRELOAD", "/nowhere", 1);
    return printf("%s in %s\n", argv[0], getcwd(where, sizeof where)) < 0;
}
static int executes(char **argv)
{
    execv(argv[0], argv);
    printf("%s\n", strerror(errno));
    return 6;
}
static void *execute_later(void *argv)
{
    usleep(10000);
    exit(executes(argv));
}
static _Atomic int begun;
static void *for_ever(void *unused)
{
    for (begun++;;) {
        loop(100);
        getppid();
    }
    return unused;
}
/* Other threads are in the middle of something when one executes another program, or ends this one. */
static int ends_among_threads(char **argv)
{
    pthread_t thread;
    for (int i = 0; i < 3; i++)
        pthread_create(&thread, NULL, for_ever, NULL);
    if (argv[0]) {
        pthread_create(&thread, NULL, execute_later, argv);
        for (;;)
            pause();
    }
    while (begun < 3)
        usleep(1000);
    exit(9);
}
static int recurses(int n)
{
    volatile char frame[64];
    frame[0] = (char)n;
    return n ? recurses(n - 1) + 1 + 0 * frame[0] : 0;
}
/* As GHC's runtime does it: a terabyte, or as much of it as can be had. */
static int reserves(void)
{
    size_t bytes = (size_t)1 << 40;
    while (bytes > 1 << 30 && mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) == MAP_FAILED)
        bytes /= 2;
    return puts(bytes < (size_t)1 << 40 && bytes > 1 << 30 ? "a part" : "all or nothing") < 0;
}
static int huge(void)
{
    size_t size = (size_t)4 << 30, sum = 0;
    char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        fail("mmap");
    for (size_t i = 0; i < size; i += size / 64)
        memory[i] = 1;
    for (size_t i = 0; i < size; i += size / 64)
        sum += (size_t)memory[i];
    return printf("sum %zu\n", sum) < 0;
}
static int prints(int n)
{
    char line[1024];
    memset(line, 'a', sizeof line);
    line[sizeof line - 1] = '\n';
    for (int i = 0; i < n; i++)
        if (fwrite(line, sizeof line, 1, stdout) != 1)
            return 1;
    return 0;
}
static int stops(void)
{
    puts("before");
    fflush(stdout);
    raise(SIGSTOP);
    puts("after");
    return 3;
}
/* Something of everything, always the same. */
static int mixes(void)
{
    static char from[5000], to[5000];
    unsigned sum = 0;
    for (unsigned i = 0; i < sizeof from; i++)
        from[i] = (char)(i * i >> 3);
    for (unsigned i = 0; i < 6; i++) {
        memcpy(to + i, from, sizeof from - 100 * i);
#if defined(__x86_64__)
        void *destination = to, *source = from;
        unsigned long count = 10 * i;
        __asm__ volatile("rep movsb" : "+D"(destination), "+S"(source), "+c"(count)::"memory");
#endif
        sum = sum * 31 + (unsigned char)to[i * 97] + (unsigned)(1000.0 / (i + 1));
        __atomic_fetch_add(&sum, 1, __ATOMIC_SEQ_CST);
        qsort(to, sizeof to / 40, 4, (int (*)(const void *, const void *))strcmp);
    }
    both();
    return printf("%u\n", sum) < 0;
}
int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    int n = argc > 2 ? atoi(argv[2]) : 0;
#define IS(name) (strcmp(what, name) == 0)
    return IS("mix")               ? mixes()
           : IS("both")            ? (both(), 0)
           : IS("threads")         ? threads(n, (unsigned long)atol(argv[3]))
           : IS("one-by-one")      ? one_by_one(n)
           : IS("hand-over")       ? hand_over()
           : IS("blocked")         ? blocked()
           : IS("forks")           ? forks(n)
           : IS("vfork")           ? spawns(argv + 2, 1)
           : IS("spawn")           ? spawns(argv + 2, 0)
           : IS("outlived")        ? outlived()
           : IS("close-all")       ? close_all()
           : IS("block-signals")   ? blocks_signals()
           : IS("timer")           ? timer(n)
           : IS("rename")          ? renames(argv)
           : IS("exec")            ? executes(argv + 2)
           : IS("among-threads")   ? ends_among_threads(argv + 2)
           : IS("recurse")         ? printf("%d\n", recurses(n)) < 0
           : IS("huge")            ? huge()
           : IS("reserve")         ? reserves()
           : IS("print")           ? prints(n)
           : IS("stop")            ? stops()
                                   : printf("%d arguments\n", argc) < 0;
}
END
check "the x86-64 program builds" gcc -O1 -g -Wall -pthread -o tricks tricks.c
programs=(./tricks)
if command -v riscv64-linux-gnu-gcc >/dev/null; then
    check "the RISC-V program builds" riscv64-linux-gnu-gcc -O1 -g -Wall -pthread -static -o tricks-riscv64 tricks.c
    check "the dynamic RISC-V program builds" riscv64-linux-gnu-gcc -O1 -g -pthread -o tricks-riscv64-dynamic tricks.c
    programs+=(./tricks-riscv64)
else
    skip "the RISC-V programs" "no cross compiler (gcc-riscv64-linux-gnu)"
fi

# measured OPTIONS… -- PROGRAM…: the counts go to counts.json, all else passes. recorded …: the records to records.txt.
# Both leave the program the same environment (bash tells a command its own name in $_).
measured() { timeout 600 "$ASSAY" stat --json -o counts.json "$@"; }
recorded() { timeout 600 "$ASSAY" script -q -o records.txt -- "$@"; }
# counted EXPRESSION: over the counts of the last run.
counted() { python3 -IS -c 'import json, sys; d = json.load(open("counts.json")); print(eval(sys.argv[1]))' "$1"; }
# expect NAME STATUS STDOUT EXPRESSION OPTIONS… -- PROGRAM…: the run ends so, prints this, and the counts say that.
expect() {
    local name=$1 want_status=$2 want_out=$3 expression=$4
    shift 4
    rm -f counts.json
    run measured "$@"
    if [ "$status" -ne "$want_status" ] || [ "$out" != "$want_out" ]; then
        report "$name" "expected status $want_status and stdout: $want_out"
    elif ! judge "$expression" counts.json; then
        report "$name" "$judged: $(head -c 700 counts.json)"
    else
        pass "$name"
    fi
}

# ---- counts that agree ---------------------------------------------------------------------------------------------
# The records as counts: what is on the lines of `assay script`.
cat >sum_records.py <<'END'
import collections, re, sys
line = re.compile(r"\d+ [0-9a-f]{16} \S+ +(… )?")
access = re.compile(r"  (load|store|atomic) 0x[0-9a-f]+ \d+")
counts, seen = collections.Counter(), set()
for text in open(sys.argv[1], encoding="utf-8"):
    if " syscall number " in text:
        counts["syscalls"] += 1
    found = line.match(text)
    if not found:
        continue
    if not found[1]:
        counts["instructions"] += 1
        seen = set()
    rest = text[found.end():-1]
    if "  " not in rest: # as most are: no access, no branch
        continue
    for kind in access.findall(rest):
        for name in {"load": ["load"], "store": ["store"], "atomic": ["load", "store"]}[kind]:
            counts[name + "_accesses"] += 1
            counts[name + "s"] += name not in seen
            seen.add(name)
    counts["branches"] += "  -> " in rest
    counts["taken"] += "  -> " in rest and not rest.endswith(" not taken")
print(" ".join(f"{name}={counts[name]}" for name in sys.argv[2:]))
END
# Counts as "name=value …", of the records and of stat.
fields="instructions loads stores load_accesses store_accesses branches taken syscalls"
sum_of_records() {
    recorded "$@" >/dev/null 2>&1
    # shellcheck disable=SC2086
    python3 sum_records.py records.txt $fields
}
sum_of_counts() { counted "' '.join(f'{n}={d[n]}' for n in '$fields'.split())"; }
# All counts of a document, without what changes from run to run.
all_counts() {
    counted '[d[n] for n in d if n not in ("seconds", "mips", "by_thread", "functions", "disagreements", "program")]'
}

agree() {
    local name=$1 plain
    shift
    measured -- "$@" >/dev/null 2>&1
    plain=$(all_counts)
    check_same "$name: the records add up to the counts" "$(sum_of_counts)" "$(sum_of_records "$@")"
    measured --check -- "$@" >/dev/null 2>&1
    check_same "$name: --check finds the same" "$plain" "$(all_counts)"
    check_same "$name: nothing disagrees" 0 "$(counted 'd["disagreements"]')"
}
for program in "${programs[@]}"; do
    agree "${program#./} mix" "$program" mix
done
agree "sed" sed -n 's/t/T/p; 2q5' tricks.c
agrees_without_records() {
    local name=$1 plain
    shift
    run measured -- "$@"
    plain=$(all_counts)
    run measured --check -- "$@"
    check_same "$name: --check finds the same" "$plain" "$(all_counts)"
    check_same "$name: nothing disagrees" 0 "$(counted 'd["disagreements"]')"
}
head -c 16000 "$ASSAY" >data
agrees_without_records "xz" xz -k -c data
agrees_without_records "perl" env -i PERL_HASH_SEED=0 /usr/bin/perl -e '$h{$_ % 91} .= $_ for 1 .. 3000; print length(join "", %h), sqrt(2)'

# ---- the same in every run -----------------------------------------------------------------------------------------
# What the kernel hands out anew (set_tid_address returns the thread's id) is left out.
records_of() {
    recorded "$@" >/dev/null 2>&1
    grep -vE ' return number (218|96) ' records.txt >kept.txt
    wc -l <kept.txt
    md5sum <kept.txt
}
# From here on, the sanitizer build runs x86-64 programs alone: what differs for RISC-V is decoding, and that was seen.
[ -z "${SANITIZED:-}" ] || programs=(./tricks)
deterministic=("${programs[@]}")
[ "${#programs[@]}" -eq 1 ] || deterministic+=(./tricks-riscv64-dynamic)
for program in "${deterministic[@]}"; do
    first=$(records_of "$program" mix)
    check "${program#./}: there are records" test "${first%%$'\n'*}" -gt 50000
    check_stdout_equals "$first" "${program#./}: the records are the same twice" records_of "$program" mix
done

# ---- regions -------------------------------------------------------------------------------------------------------
# Two neighbouring regions have together what the whole has, in every count.
check_cut() {
    local program=$1 cut=$2
    "$ASSAY" stat -q --json -o whole.json -- "$program" mix >/dev/null 2>&1
    "$ASSAY" stat -q --json --max "$cut" -o before.json -- "$program" mix >/dev/null 2>&1 || return 1
    "$ASSAY" stat -q --json --skip "$cut" -o behind.json -- "$program" mix >/dev/null 2>&1 || return 1
    python3 - "$cut" <<'END'
import json, sys
whole, before, behind = (json.load(open(name + ".json")) for name in ("whole", "before", "behind"))
names = [n for n in whole if isinstance(whole[n], int) and n not in ("exit_status", "threads", "processes", "signal",
                                                                    "complete", "untraced_programs", "left_running")]
assert "instructions" in names and "syscalls" in names and "store_accesses" in names, names
assert before["instructions"] == int(sys.argv[1]), before["instructions"]
wrong = [(n, before[n], behind[n], whole[n]) for n in names if before[n] + behind[n] != whole[n]]
for name in set(whole["classes"]):
    if before["classes"].get(name, 0) + behind["classes"].get(name, 0) != whole["classes"][name]:
        wrong.append(name)
assert not wrong, wrong
END
}
for cut in 1 77 4321 123456 200001; do
    check "tricks: regions before and behind $cut make the whole" check_cut ./tricks $cut
done
if [ "${#programs[@]}" -gt 1 ]; then
    check "tricks-riscv64: regions before and behind 50001 make the whole" check_cut ./tricks-riscv64 50001
fi
# Around a rep instruction, instruction by instruction: it begins 3 instructions behind the start of this program.
cat >rep.S <<'END'
        .globl  _start
_start: lea     text(%rip), %rsi
        lea     copy(%rip), %rdi
        mov     $7, %ecx
        rep movsb
        mov     $60, %eax
        xor     %edi, %edi
        syscall
        .data
text:   .ascii  "1234567"
copy:   .fill   7
END
check "the program with rep builds" gcc -nostdlib -static -o rep rep.S
for max in 3 4 5 7; do
    accesses=$((max > 3 ? 7 : 0)) last=$((max == 7))
    expect "rep, --max $max" 0 "" \
        "(d['instructions'], d['loads'], d['load_accesses'], d['syscalls']) == ($max, $((max > 3)), $accesses, $last)" \
        --max $max -- ./rep
    accesses=$((7 - accesses))
    if [ "$max" -lt 7 ]; then
        expect "rep, --skip $max" 0 "" \
            "(d['instructions'], d['load_accesses'], d['syscalls']) == ($((7 - max)), $accesses, 1)" --skip $max -- ./rep
    fi
done
"$ASSAY" script -q -o whole.txt -- ./tricks both
"$ASSAY" script -q --max 30001 -o before.txt -- ./tricks both
"$ASSAY" script -q --skip 30001 -o behind.txt -- ./tricks both
instructions_in() { grep -hE '^1 [0-9a-f]{16} ' "$@"; }
check_same "script: two regions have the lines of the whole" "$(instructions_in whole.txt | md5sum)" \
    "$(instructions_in before.txt behind.txt | sed 's/  -> 0x[0-9a-f]*$/&/' | md5sum)"

for program in "${programs[@]}"; do
    name=${program#./}
    expect "$name: --skip and --max" 0 "" 'd["instructions"] == 777 and not d["complete"]' --skip 5000 --max 777 -- "$program" both
    expect "$name: --from and --to" 0 "" 'd["instructions"] == 203 and d["conditional"] == 100 and d["taken"] == 101 and d["calls"] == 1' \
        --from work --to after -- "$program" both
    expect "$name: --from, --skip and --max" 0 "" 'd["instructions"] == 150 and d["calls"] == 0' --from work --skip 51 --max 150 -- "$program" both
    expect "$name: --from the same --to" 0 "" 'd["instructions"] == 202 + 1 + 2 + 1' --from work --to work -- "$program" both
    expect "$name: --from alone counts to the end" 0 "" 'd["instructions"] > 2 * 202 and d["complete"]' --from work -- "$program" both
done
expect "a region in many threads" 0 "" 'd["instructions"] == 300000' --skip 200000 --max 300000 -- ./tricks threads 8 100000
# The main of programs as distributions ship them, without symbols, is what their entry gives to the C library.
mkdir has not
for how in -pie -no-pie -static; do
    gcc -O1 $how -pthread -o has/prog tricks.c && strip -o not/prog has/prog
    run measured --from main -- has/prog both
    from_main=$(counted 'd["instructions"]')
    expect "$how, stripped: --from main" 0 "" "d[\"instructions\"] == $from_main and $from_main > 404" --from main -- not/prog both
done
run measured --from absent -- ./tricks both
check "a function that is never reached: a note says so" grep -q "never reached 'absent'" <<<"$err"
check_same "… and nothing is counted" 0 "$(counted 'd["instructions"]')"

# ---- threads -------------------------------------------------------------------------------------------------------
for program in "${programs[@]}"; do
    name=${program#./}
    expect "$name: 64 threads" 0 "64 threads" \
        'd["threads"] == 65 and sum(t["conditional"] >= 5000 for t in d["by_thread"]) >= 64' -- "$program" threads 64 5000
    expect "$name: 2000 short threads" 0 "2000 one by one" 'd["threads"] == 2001 and len(d["by_thread"]) == 2001' \
        -- "$program" one-by-one 2000
    expect "$name: a spin lock goes round" 0 "turn 1600" 'd["threads"] == 5' -- "$program" hand-over
    expect "$name: threads that wait in the kernel" 0 "all came back" 'd["threads"] == 4' -- "$program" blocked
    expect "$name: a narrow window" 0 "6 threads" 'd["threads"] == 7' --window 1000 -- "$program" threads 6 50000
    expect "$name: the narrowest window" 0 "3 threads" 'd["threads"] == 4' --window 1 -- "$program" threads 3 2000
    expect "$name: no window" 0 "6 threads" 'd["threads"] == 7' --window 0 -- "$program" threads 6 50000
    expect "$name: a narrow window and waiting" 0 "all came back" 'd["threads"] == 4' --window 1000 -- "$program" blocked
    expect "$name: exit among threads" 9 "" 'd["threads"] == 4' -- "$program" among-threads
    expect "$name: execve among threads" 7 "" 'd["instructions"] > 1000 and d["processes"] == 1' \
        -- "$program" among-threads /bin/sh -c 'exit 7'
done

# ---- processes -----------------------------------------------------------------------------------------------------
printf '#!/bin/sh\necho "script $*"\nexit 8\n' >script
printf 'no program\n' >text
chmod +x script
for program in "${programs[@]}"; do
    name=${program#./}
    expect "$name: 50 children" 0 "sum 147" 'd["processes"] == 51 and d["threads"] == 51' -- "$program" forks 50
    expect "$name: vfork and execve" 0 $'from the child\nchild 3' 'd["processes"] == 2 and d["untraced_programs"] == 0' \
        -- "$program" vfork sh -c 'echo from the child; exit 3'
    expect "$name: posix_spawn" 0 $'from the child\nchild 3' 'd["processes"] == 2' -- "$program" spawn sh -c 'echo from the child; exit 3'
    expect "$name: execve of a script" 8 "script a b" 'd["processes"] == 1 and d["instructions"] > 50000' -- "$program" exec ./script a b
    expect "$name: execve of what is not there" 6 "No such file or directory" 'd["untraced_programs"] == 0' -- "$program" exec ./absent
    expect "$name: execve of what may not be executed" 6 "Permission denied" 'd["processes"] == 1' -- "$program" exec ./text
done
chmod +x text
expect "execve of a text" 6 "Exec format error" 'd["processes"] == 1' -- ./tricks exec ./text
# Every function of a path belongs to the program that executed it, and no call is lost.
expect "call paths after execve" 0 "" '([sorted({r["image"] for r in d["call_tree"] if r["function"] == f}) for f in ("main", "function")] == [[1], [2]]
    and sum(r["total"] for r in d["call_tree"] if r["parent"] is None) == d["instructions"])' \
    --calls 0.0001 -- ./tricks exec "$WORKLOADS/known/x86-call-deep"
expect "a pipeline" 0 "3" 'd["processes"] >= 4' -- sh -c 'seq 1 3000 | grep 99 | sort -r | tail -n 3 | wc -l'
expect "--no-follow" 0 $'hi\nchild 0' 'd["processes"] == 2 and d["untraced_programs"] == 1' --no-follow -- ./tricks spawn /bin/echo hi
check "… and a note names what ran untraced" grep -q '/bin/echo' <<<"$err"
expect "no note where all was followed" 0 $'hi\nchild 0' 'd["untraced_programs"] == 0' -- ./tricks spawn /bin/echo hi
check_same "… on stderr neither" "" "$err"
expect "a child that outlives the program" 4 "the parent ends" 'd["left_running"] == 1' -- ./tricks outlived
check "… a note says so" grep -q '1 process of the program still runs' <<<"$err"
touch may_end
wait_until test -s outlived
check_same "… and it comes to its own end" well "$(cat outlived 2>/dev/null)"

stop_and_go() {
    "$ASSAY" stat -o stop.txt -- ./tricks stop >stop.out &
    local run=$! pid='' waited=0
    while [ $((waited++)) -lt 2000 ]; do # until it has stopped itself
        read -r pid _ <"/proc/$run/task/$run/children"
        grep -q '^State:.T' "/proc/$pid/status" 2>/dev/null && break
        sleep 0.05
    done
    sleep 0.2
    cat stop.out
    kill -CONT "$pid"
    wait $run
    local ended=$?
    tail -n 1 stop.out
    return $ended
}
check_stdout_equals $'before\nafter' "a program that is stopped goes on" stop_and_go
check_same "… to its own end" 3 "$status"

# ---- what passes through, and what does not get in the way -----------------------------------------------------------
for program in "${programs[@]}"; do
    name=${program#./}
    expect "$name: it closes every descriptor" 5 "" 'd["instructions"] > 200000' -- "$program" close-all
    expect "$name: it blocks every signal" 0 "pending 1 1" 'd["instructions"] > 2000000' -- "$program" block-signals
    expect "$name: timers do not change the count of a loop" 0 "interrupted 1" \
        '2 * 20000000 <= d["functions"][0]["instructions"] <= 2 * 20000000 + 20 and d["functions"][0]["function"] == "loop"' \
        -- "$program" timer
    interrupted=()
    for mode in --quiet --check; do # accesses of handlers are as many as their instructions: what differs is rep's alone
        measured $mode -- "$program" timer 4 >/dev/null 2>&1
        interrupted+=("$(counted 'd["load_accesses"] - d["loads"], d["store_accesses"] - d["stores"]')")
    done
    check_same "$name: timers do not change the accesses of a copy" "${interrupted[0]}" "${interrupted[1]}"
    expect "$name: another directory, another argv[0]" 0 "x in /" 'd["processes"] == 1' -- "$program" rename
    expect "$name: deep recursion" 0 "40000" 'd["calls"] > 40000 and d["returns"] > 40000' -- "$program" recurse 40000
    expect "$name: 4 GiB of address space" 0 "sum 64" 'd["instructions"] > 100' -- "$program" huge
    if [ "$(ulimit -v)" = unlimited ] && [ "$(awk '/^MemTotal/ {print $2}' /proc/meminfo)" -lt 500000000 ]; then
        expect "$name: a terabyte, which would take QEMU gigabytes" 0 "a part" 'd["instructions"] > 100' -- "$program" reserve
    else
        skip "$name: a terabyte" "address space is limited, or memory is not"
    fi
done
many_words() { printf 'w%.0s' {1..90000}; }
word=$(many_words)
args=()
for _ in {1..14}; do args+=("$word"); done
expect "a megabyte of arguments" 0 "15 arguments" 'len(d["program"]) == 15 and d["complete"]' -- ./tricks "${args[@]}"
much_environment() {
    for i in {1..14}; do export "V$i=$word"; done
    measured -- sh -c 'echo ${#V14}'
}
check_stdout_equals 90000 "a megabyte of environment" much_environment
unset word args

through_pipe() { measured -q -- ./tricks print 30000 | md5sum; }
check_stdout_equals "$(./tricks print 30000 | md5sum)" "much output through a pipe" through_pipe
from_pipe() { ./tricks print 2000 | measured -q -- md5sum; }
check_stdout_equals "$(./tricks print 2000 | md5sum)" "much input through a pipe" from_pipe
closed_pipe() {
    "$ASSAY" stat -q -o /dev/null -- ./tricks print 100000 | head -n 1 | head -c 3
    return "${PIPESTATUS[0]}"
}
check_status 141 "a reader that leaves ends the program, not Assay" closed_pipe

# ---- filters of script -----------------------------------------------------------------------------------------------
check "script --symbol" "$ASSAY" script -q --symbol work -o one.txt -- ./tricks both
check_same "… has all of the function's instructions" 404 "$(wc -l <one.txt)"
check_same "… and nothing else" "" "$(grep -v ' work+0x' one.txt)"
check "script --class" "$ASSAY" script -q --symbol both --class call,return -o one.txt -- ./tricks both
check_same "… has those alone" "4 call 1 ret" "$(awk '{ n[$4]++ } END { print n["call"], "call", n["ret"], "ret" }' one.txt)"
check_same "… no other line" 5 "$(wc -l <one.txt)"
check_fails 2 "unknown class 'lood'" "an unknown class" "$ASSAY" script --class load,lood -- ./tricks
check "script --thread" "$ASSAY" script -q --thread 2 -o one.txt -- ./tricks threads 3 1000
check_same "… has that thread alone" "" "$(grep -v '^2 ' one.txt)"
check_same "… from its start to its end" "start end" "$(sed -n '1s/^2 \([a-z]*\).*/\1/p; $s/^2 //p' one.txt | paste -sd' ')"
check_same "… all of its loop" 1000 "$(grep -c ' loop+.* jnz ' one.txt)"
check_json "script --json" 'len(d["records"]) == 404 and all(r["function"] == "work" and r["record"] == "instruction" for r in d["records"])' \
    "$ASSAY" script -q --json --symbol work -- ./tricks both
"$ASSAY" script -q -o one.txt -- ./tricks spawn /bin/echo hi >/dev/null
check_same "script tells of forks" "2 start process 2 forked_by 1" "$(grep -m 1 forked_by one.txt)"
# A thread that executes another program starts again under its number.
check_same "… and of execve" 2 "$(grep -c '^2 start process 2' one.txt)"

check_no_strays "no process is left"
