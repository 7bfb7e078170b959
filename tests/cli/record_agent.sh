#!/usr/bin/env bash
# record --allocations: what the agent counts, that the program does not notice it, and programs that it cannot be in.
# sanitized-only: its checks are the same in both builds
# time-limit: 200
# shellcheck disable=SC2016 # scripts in single quotes are the programs to measure
. "$(dirname "$0")/lib.sh"

record() { "$ASSAY" record --source=timer --allocations "$@"; }
if ! "$ASSAY" record -q --source=timer -o try.db -- true 2>try.err; then
    skip "the agent" "$(cat try.err)"
    exit 0
fi
# counter FILE NAME
counter() { sqlite3 "$1" "SELECT value FROM counters WHERE name = '$2'"; }
# site FILE SERIES FUNCTION: units and samples at its call sites
site() {
    sqlite3 -separator ' ' "$1" "SELECT sum(t.units), sum(t.samples) FROM times t JOIN series s ON s.id = t.series JOIN instructions i ON i.id = t.instruction
        JOIN functions f ON f.id = i.function WHERE s.name = '$2' AND f.name = '$3'"
}

cat >known.c <<'END'
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#define APART __attribute__((noinline))
static volatile int keep;
APART void *small(void) { void *p = malloc(100); keep++; return p; }
APART void *zeroed(void) { void *p = calloc(10, 1000); keep++; return p; }
APART void *grown(void *p) { p = realloc(p, 20000); keep++; return p; }
APART void *aligned(void) { void *p; p = posix_memalign(&p, 64, 640) ? NULL : p; keep++; return p; }
APART void *mapped(void) { void *p = mmap(NULL, 1 << 20, 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); keep++; return p; }
APART void work(int n)
{
    for (int i = 0; i < n; i++) {
        free(small());
        if (i % 10 == 0)
            free(grown(zeroed()));
    }
}
static void *thread(void *x) { work(500); if (x) pthread_exit(x); return x; }
static void handler(int signal) { (void)signal; free(small()); }
static long count_fds(void) { long n = 0; for (int fd = 0; fd < 1024; fd++) n += fcntl(fd, F_GETFD) >= 0; return n; }
int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "fds") == 0) return printf("%ld\n", count_fds()) < 0;
    if (argc > 1 && strcmp(argv[1], "exec") == 0) { work(10); execl(argv[0], argv[0], "ten", (char *)0); return 99; }
    if (argc > 1 && strcmp(argv[1], "ten") == 0) { work(10); return 10; }
    if (argc > 1 && strcmp(argv[1], "signals") == 0) {
        stack_t alternate = {.ss_sp = malloc(SIGSTKSZ * 4), .ss_size = SIGSTKSZ * 4};
        sigaltstack(&alternate, NULL);
        struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
        sigaction(SIGUSR1, &action, NULL);
        for (int i = 0; i < 1000; i++) raise(SIGUSR1);
        return 0;
    }
    errno = 77;
    work(1000);
    if (errno != 77) return 1;
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, thread, i % 2 ? &keep : NULL);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    free(aligned());
    munmap(mapped(), 1 << 20);
    if (malloc(-1UL / 2) || errno != ENOMEM) return 2;
    int status = 0;
    if (fork() == 0) { work(5000); _exit(0); }
    wait(&status);
    if (syscall(SYS_fork) == 0) { work(5000); _exit(0); } /* nobody tells the C library */
    wait(&status);
    puts("done");
    return status;
}
END
cc -O1 -g -fno-omit-frame-pointer -Wno-alloc-size-larger-than -o known known.c -lpthread || exit 1

check_stdout_equals "done" "a program of known allocations" record -q -o known.db -- ./known
check_same "… its status" 0 "$status"
check_same "malloc: 3000 of 100 bytes" "300000 3000" "$(site known.db 'allocated bytes' small)"
check_same "calloc: 300 of 10000 bytes" "3000000 300" "$(site known.db 'allocated bytes' zeroed)"
check_same "realloc: 300 of 20000 bytes" "6000000 300" "$(site known.db 'allocated bytes' grown)"
check_same "posix_memalign" "640 1" "$(site known.db 'allocated bytes' aligned)"
check_same "mmap" "1048576 1" "$(site known.db 'mapped bytes' mapped)"
check_same "forked children are none of its business" 1 "$(counter known.db agent_images)"
check_same "threads start" 4 "$(counter known.db threads_started)"
check_same "… and end, also by pthread_exit" 4 "$(counter known.db threads_ended)"
check_same "each thread is in the profile" 4 "$(sqlite3 known.db "SELECT count(*) FROM threads WHERE process = (SELECT process FROM threads WHERE name = '(all threads)') AND number != process AND number != 0")"
check "frees are counted" test "$(counter known.db calls_free)" -ge 3300
check_json "call paths lead to the sites" '(all(any(d["functions"][p["function"]]["name"] == n for p in d["paths"] if p["function"] is not None) for n in ("main", "thread", "work", "small"))
    and [s["unit"] for s in d["series"]] == ["nanoseconds"] + 4 * ["bytes"])' "$ASSAY" export --to=json known.db
check "report reads the series" "$ASSAY" report --series 'allocated bytes' known.db
check "… the most is grown's" grep -qE '^ +64\.[0-9]+ %.* grown ' <<<"$out"
check "report --calls" "$ASSAY" report --calls --series 'allocated bytes' known.db
check "annotate shows the call" "$ASSAY" annotate --series 'allocated bytes' small known.db
check "the profile of time is there too" "$ASSAY" report known.db

check_status 10 "exec: both programs are counted" record -q -o exec.db -- ./known exec
check_same "… as two" 2 "$(counter exec.db agent_images)"
check_same "… and one function" "2000 20" "$(site exec.db 'allocated bytes' small)"
check "a child that execs, of a shell" record -q -o shell.db -- sh -c './known ten; exit 0'
check_same "… is counted" "1000 10" "$(site shell.db 'allocated bytes' small)"
check "allocations in signal handlers, on a stack of their own" record -q -o signals.db -- ./known signals
check_same "… are counted" "100000 1000" "$(site signals.db 'allocated bytes' small)"
check_stdout_equals "$(./known fds)" "no descriptor is left in the program" record -q -o fds.db -- ./known fds
preload() { LD_PRELOAD=$BUILD/nothing-there.so record -q -o preload.db -- sh -c 'echo "$LD_PRELOAD"' 2>/dev/null; }
check "what is preloaded already stays" grep -q 'assay-agent.so:.*nothing-there.so' <(preload)
check "--call-graph=none: sites without paths" record -q -o flat.db --call-graph=none -- ./known
check_same "… one frame deep" 0 "$(sqlite3 flat.db 'SELECT count(*) FROM paths WHERE parent IS NOT NULL')"

# Real programs: their output is the same with the agent in them.
for program in "ls -l /usr/bin" "python3 -c print(sum(len(str(i))for(i)in(range(100000))))" "sort --parallel=2 known.c" "perl -e print(join(q(,),sort(map($_*7%1000,1..1000))))"; do
    read -ra words <<<"$program"
    command -v "${words[0]}" >/dev/null || { skip "$program" "it is not here" && continue; }
    check_stdout_equals "$("${words[@]}")" "the output of ${words[0]} is the same" record -q -o real.db -- "${words[@]}"
    check "… and its allocations are counted" test "$(counter real.db calls_malloc)" -gt 0
done

# ---- what is not freed ------------------------------------------------------------------------------------------------
# Numbers of functions of the program alone: the C library keeps blocks of its own (the buffer of stdout, threads).
cat >leaks.c <<'END'
#define _GNU_SOURCE
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#define APART __attribute__((noinline))
static volatile int keep;
APART static void *lost(void) { void *p = malloc(100); keep++; return p; }
APART static void *kept(void) { void *p = calloc(3, 7); keep++; return p; }
APART static void *gone(size_t n) { void *p = malloc(n); keep++; return p; }
APART static void *grow(void *p, size_t n) { p = realloc(p, n); keep++; return p; }
APART static void *aligned(void) { void *p = memalign(256, 1000); keep++; return p; }
APART static void *passed(size_t n) { void *p = malloc(n); keep++; return p; }
static void *volatile sink[4096];
static _Atomic(void *) shared[512];
/* Threads free what others allocated: each slot goes from hand to hand, and main empties them. */
static void *stress(void *x)
{
    unsigned seed = (unsigned)(uintptr_t)x;
    for (int i = 0; i < 60000; i++) {
        seed = seed * 1103515245 + 12345;
        void *mine = passed(1 + seed % 700);
        if (i % 7 == 0) mine = grow(mine, 1 + seed % 1500);
        free(__atomic_exchange_n((void **)&shared[seed / 65536 % 512], mine, __ATOMIC_ACQ_REL));
    }
    return NULL;
}
static void *all(void *x) { (void)x; for (int i = 0; i < 50; i++) sink[i] = lost(); return NULL; }
int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    for (int i = 0; i < 10; i++) sink[i] = lost();           /* 1000 */
    for (int i = 0; i < 4; i++) free(sink[i]);               /* 600 are left */
    for (int i = 0; i < 5; i++) sink[i] = kept();            /* 105 */
    if (!strcmp(what, "_exit")) _exit(3);
    if (!strcmp(what, "quick_exit")) quick_exit(4);
    if (!strcmp(what, "abort")) abort();
    if (!strcmp(what, "kill")) raise(9);
    if (!strcmp(what, "vfork")) {
        pid_t child = vfork();
        if (child == 0) { execl("/bin/true", "true", (char *)0); _exit(99); }
        int status;
        waitpid(child, &status, 0);
        return WEXITSTATUS(status);
    }
    if (!strcmp(what, "daemon")) { if (daemon(1, 1)) return 1; for (int i = 0; i < 10; i++) lost(); return 0; }
    if (!strcmp(what, "threads")) {
        pthread_t threads[8];
        for (uintptr_t i = 0; i < 8; i++) pthread_create(&threads[i], NULL, stress, (void *)(i + 1));
        for (int i = 0; i < 8; i++) pthread_join(threads[i], NULL);
        for (int i = 0; i < 512; i++) free(shared[i]);
        if (argc > 2) for (int i = 0; i < atoi(argv[2]); i++) sink[i] = passed(10 + i);
        return 0;
    }
    if (!strcmp(what, "preload")) return puts(getenv("LD_PRELOAD")) < 0;
    void *p = gone(1 << 20);                                  /* the peak: 1 MiB + 705 */
    free(p);
    p = grow(grow(NULL, 10), 5000);                           /* 5000, of which nothing is left after: */
    if (realloc(p, (size_t)-1 / 2) || errno != ENOMEM) return 5; /* fails, and it is still there */
    p = grow(p, 300);                                         /* 300 */
    free(grow(gone(50), 60));
    if (grow(gone(70), 0)) return 6;                          /* a free */
    free(aligned());
    sink[100] = aligned();                                    /* 1000 */
    sink[101] = malloc(0);
    pthread_t thread;
    if (!strcmp(what, "other")) { pthread_create(&thread, NULL, all, NULL); pthread_join(thread, NULL); }
    if (fork() == 0) { free(sink[9]); for (int i = 0; i < 100; i++) lost(); _exit(0); } /* not the parent's */
    wait(NULL);
    return 0;
}
END
cc -O1 -g -fno-omit-frame-pointer -Wno-alloc-size-larger-than -Wno-unused-result -o leaks leaks.c -lpthread || exit 1
check "a program of known leaks" record -q -o leaks.db -- ./leaks
check_same "malloc: six of ten blocks are left" "600 6" "$(site leaks.db 'live bytes' lost)"
check_same "calloc: all" "105 5" "$(site leaks.db 'live bytes' kept)"
check_same "what was freed is not there" "" "$(site leaks.db 'live bytes' gone | tr -d ' ')"
check_same "realloc: the last size, also after one that failed" "300 1" "$(site leaks.db 'live bytes' grow)"
check_same "memalign" "1000 1" "$(site leaks.db 'live bytes' aligned)"
check_same "live_bytes" 2005 "$(counter leaks.db live_bytes)"
check_same "live_blocks" 14 "$(counter leaks.db live_blocks)"
check_same "peak_bytes" $((1048576 + 705)) "$(counter leaks.db peak_bytes)"
check_same "the peak, by site" "600 6,105 5,1048576 1" "$(for f in lost kept gone; do site leaks.db 'peak bytes' $f; done | paste -sd,)"
check_same "no free of a block that nobody knows" 0 "$(counter leaks.db unknown_frees)"
check "report reads the series" "$ASSAY" report --calls --series 'live bytes' leaks.db
check "… and says what it is of" grep -q main <<<"$out"
check "blocks of another thread" record -q -o other.db -- ./leaks other
check_same "… are left after it" "5600 56" "$(site other.db 'live bytes' lost)"
check "eight threads that free each other's blocks" record -q -o stress.db -- ./leaks threads
check_same "… leave nothing" ",," "$(for f in passed grow; do site stress.db 'live bytes' $f | tr -d ' '; done | paste -sd,),"
check_same "… and each block was known" 0 "$(counter stress.db unknown_frees)"
check_same "… of all that they took" 480000 "$(site stress.db 'allocated bytes' passed | cut -d' ' -f2)"
check "… and when some is left" record -q -o stress.db -- ./leaks threads 1000
check_same "… exactly that" "$((10 * 1000 + 999 * 500)) 1000" "$(site stress.db 'live bytes' passed)"

# ---- however it ends --------------------------------------------------------------------------------------------------
check_status 3 "_exit" record -q -o ends.db -- ./leaks _exit
check_same "… leaves what was allocated" "705 11" "$(counter ends.db live_bytes) $(counter ends.db live_blocks)"
check_status 4 "quick_exit" record -q -o ends.db -- ./leaks quick_exit
check_same "… too" "600 6" "$(site ends.db 'live bytes' lost)"
for how in "abort 134" "kill 137"; do
    read -r how number <<<"$how"
    check_status "$number" "a program that ends by a signal ($how)" record -q -o ends.db -- ./leaks "$how"
    check_same "… leaves what was allocated" "600 6" "$(site ends.db 'live bytes' lost)"
done
check "vfork and exec" record -q -o ends.db -- ./leaks vfork
check_same "… is two programs" 2 "$(counter ends.db agent_images)"
check_same "… and the parent goes on counting" "600 6" "$(site ends.db 'live bytes' lost)"
check "a program that becomes a daemon" record -q -o ends.db -- ./leaks daemon
check_same "… is counted until then: a fork is another's" "600 6" "$(site ends.db 'live bytes' lost)"
cat >own.c <<'END'
int own(void) { return 1; }
END
cc -shared -fPIC -o own.so own.c
own() { ASAN_OPTIONS=${ASAN_OPTIONS:-}:verify_asan_link_order=0 LD_PRELOAD=./own.so record -q -o own.db -- ./leaks preload; }
check "a program with an LD_PRELOAD of its own" own
check "… has both" grep -q 'assay-agent.so:./own.so' <<<"$out"
check_same "… and is counted" "600 6" "$(site own.db 'live bytes' lost)"
resets() { record -q -o resets.db -- env LD_PRELOAD=./own.so ./leaks preload; }
check "a child whose LD_PRELOAD is another" resets
check_same "… runs without the agent" "./own.so" "$out"
check_same "… which is in the first alone" 1 "$(counter resets.db agent_images)"

# ---- operators of C++: memory is their callers' -----------------------------------------------------------------------
cat >news.cc <<'END'
#include <cstdio>
#include <cstdlib>
#include <new>
#define APART __attribute__((noinline))
struct alignas(128) Wide { char bytes[256]; };
static volatile int keep;
APART int *one() { int *p = new int; keep = keep + 1; return p; }
APART char *many() { char *p = new char[1000]; keep = keep + 1; return p; }
APART Wide *wide() { Wide *p = new Wide; keep = keep + 1; return p; }
APART int *quiet() { int *p = new (std::nothrow) int[25]; keep = keep + 1; return p; }
extern "C" APART void work(int n) { for (int i = 0; i < n; i++) { delete one(); delete[] many(); delete wide(); delete[] quiet(); } }
static int handled;
static void handler() { if (++handled == 3) std::set_new_handler(nullptr); }
#ifdef OWN
static char pool[1 << 16];
static size_t used;
void *operator new(size_t n) { if (n > sizeof pool - used) throw std::bad_alloc(); used += (n + 15) & ~(size_t)15; return pool + used - ((n + 15) & ~(size_t)15); }
void operator delete(void *) noexcept { }
void operator delete(void *, size_t) noexcept { }
#endif
#ifndef LIBRARY
int main()
{
    work(20);
    one(), many(), wide(); /* are left */
    std::set_new_handler(handler);
    volatile size_t huge = (size_t)-1 / 2;
    try { keep = ::operator new(huge) != nullptr; return 1; } catch (const std::bad_alloc &) { }
#if !defined OWN && !defined POOLED
    if (handled != 3) return 2;
#endif
    if (::operator new[](huge, std::nothrow)) return 3;
    one(); /* after a throw */
    std::puts("done");
}
#endif
END
cat >opens.c <<'END'
#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    void *library = dlopen(argv[argc - 1], RTLD_NOW | RTLD_LOCAL);
    void (*work)(int) = library ? (void (*)(int))dlsym(library, "work") : NULL;
    if (!work) return puts(dlerror());
    work(20);
    return puts("done") < 0;
}
END
# An allocator as a library: its operators call no malloc.
cat >pool.cc <<'END'
#include <cstddef>
#include <new>
using std::size_t;
static char pool[1 << 16];
static size_t used;
void *operator new(size_t n) { if (n > sizeof pool - used) throw std::bad_alloc(); used += (n + 15) & ~(size_t)15; return pool + used - ((n + 15) & ~(size_t)15); }
void operator delete(void *) noexcept { }
void operator delete(void *, size_t) noexcept { }
END
if command -v c++ >/dev/null; then
    flags="-O1 -g -std=c++17 -fno-omit-frame-pointer"
    # shellcheck disable=SC2086 # words
    cxx() { c++ $flags "$@"; }
    cxx -o news news.cc && cxx -DOWN -o own_new news.cc && cxx -shared -fPIC -o pool.so pool.cc && cxx -DPOOLED -o pooled news.cc ./pool.so &&
        cxx -DLIBRARY -shared -fPIC -o part.so news.cc && cxx -DLIBRARY -static-libstdc++ -shared -fPIC -o whole.so news.cc && cc -o opens opens.c || exit 1
    check_stdout_equals "done" "C++: operators new and delete" record -q -o news.db -- ./news
    check_same "… new is its caller's" "88 22" "$(site news.db 'allocated bytes' 'one()')"
    check_same "… new[] too" "21000 21" "$(site news.db 'allocated bytes' 'many()')"
    check_same "… for more than the usual alignment" "5376 21" "$(site news.db 'allocated bytes' 'wide()')"
    check_same "… and without throwing" "2000 20" "$(site news.db 'allocated bytes' 'quiet()')"
    check_same "… what was not deleted" "8 2,1000 1,256 1," "$(for f in one many wide quiet; do site news.db 'live bytes' "$f()" | sed 's/^ $//'; done | paste -sd,)"
    check_same "… nothing is operator new's" 0 "$(sqlite3 news.db "SELECT count(*) FROM times t JOIN series s ON s.id = t.series JOIN instructions i ON i.id = t.instruction
        JOIN functions f ON f.id = i.function WHERE s.name LIKE '% bytes' AND f.name LIKE 'operator new%'")"
    check_same "… each delete was of a known block" 0 "$(counter news.db unknown_frees)"
    check_json "… main calls work calls many" 'any(f["name"] == "main" for f in d["functions"]) and all(any(d["functions"][p["function"]]["name"] == n for p in d["paths"] if p["function"] is not None) for n in ("main", "work", "many()"))' "$ASSAY" export --to=json news.db
    check_stdout_equals "done" "C++: a program with operators of its own" record -q -o own_new.db -- ./own_new
    check_stdout_equals "done" "C++: a library with operators of its own" record -q -o pooled.db -- ./pooled
    check_same "… that call no malloc" "88 22" "$(site pooled.db 'allocated bytes' 'one()')"
    check_same "… nor free" "8 2" "$(site pooled.db 'live bytes' 'one()')"
    for library in part whole; do
        check_stdout_equals "done" "C++ comes by dlopen ($library)" record -q -o opens.db -- ./opens "$PWD/$library.so"
        check_same "… and is counted" "20000 20" "$(site opens.db 'allocated bytes' 'many()')"
    done
else
    skip "C++" "there is no C++ compiler"
fi

# ---- where it cannot be ----------------------------------------------------------------------------------------------
if cc -O1 -static -o static known.c -lpthread 2>/dev/null; then
    check_fails 125 'static is statically linked: .*--source=model' "a static program" record -o static.db -- ./static
    check "… of which no profile appears" test ! -e static.db
else
    skip "a static program" "there is no static C library"
fi
check_fails 2 'cannot be used with --pid' "a process that runs" "$ASSAY" record --allocations --pid 1
check_fails 2 'allocations needs the pmu or timer source' "the model" "$ASSAY" record --source=model --allocations -- true
check_fails 127 'absent' "a program that is not there" record -- ./absent
full() { (ulimit -f 100 && record -q -o full.db -- true); }
check_status 125 "a file-size limit" full
check "… is told in one line" grep -q 'no shared memory for the agent' <<<"$err"

# ---- more than it can follow, and where it counts in vain -------------------------------------------------------------
# quality FILE KEY
quality() { sqlite3 "$1" "SELECT cast(value AS integer) FROM quality WHERE key = '$2'"; }
cat >blocks.c <<'END'
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    long n = argc > 1 ? atol(argv[1]) : 10, failed = 0;
    for (long i = 0; i < n; i++) failed += malloc(16) == NULL;
    return printf("%ld\n", failed) < 0;
}
END
cc -O1 -g -fno-builtin -fno-omit-frame-pointer -o blocks blocks.c || exit 1
check_stdout_equals 0 "five million blocks: more than the first table has" record -o blocks.db -- ./blocks 5000000
check_same "… are all followed" "80000000 5000000" "$(site blocks.db 'live bytes' main)"
check_same "… and nothing is said" "" "$(grep 'found no room' <<<"$err")$(quality blocks.db agent_untracked)"
limited() { record -o limited.db -- sh -c "ulimit -v $1; exec ./blocks $2" | head -1; }
check_stdout_equals 0 "a limit of addresses: the program has its memory" limited 200000 1000000
check_same "… as many blocks are followed" "16000000 1000000" "$(site limited.db 'live bytes' main)"
check_stdout_equals 0 "a lower limit" limited 50000 1000000
check "… says what is missing" grep -qE '[0-9]+ block\(s\) found no room .* too low by the part of their [0-9]+ bytes' <<<"$err"
check_same "… which with the rest is all" yes "$(followed=$(site limited.db 'live bytes' main | cut -d' ' -f2) && [ $(($(quality limited.db agent_untracked) + followed)) -ge 1000000 ] && [ "$followed" -lt 1000000 ] && echo yes)"
check "a counted series has no sampling error" "$ASSAY" report --series 'live bytes' limited.db
text=$out
check "… says so" grep -q 'every call was counted' <<<"$text"
check "… and what is missing" grep -qE '[0-9]+ block\(s\) found no room' <<<"$text"
check "… and nothing of cycle stacks" test -z "$(grep 'records no events' <<<"$text")"
sqlite3 limited.db "INSERT OR REPLACE INTO quality (key, value, text) VALUES ('agent_peak', 0.994835946339098, 'of the peak')"
notes() {
    "$ASSAY" report --html limited.html limited.db && python3 -c 'import base64, json, re, sys, zlib
print(json.dumps(json.loads(zlib.decompress(base64.b64decode(re.findall("deflate-base64\">([^<]*)<", open("limited.html").read())[0])))))'
}
check "a part of the peak is a percentage on the page" grep -q '99.5 % of the peak' <(notes)
cat >own_malloc.c <<'END'
#include <stddef.h>
#include <stdio.h>
static char pool[1 << 20];
static size_t used;
void *malloc(size_t n) { void *p = pool + used; used += (n + 15) & ~(size_t)15; return p; }
void free(void *p) { (void)p; }
void *calloc(size_t n, size_t size) { return malloc(n * size); }
void *realloc(void *p, size_t n) { (void)p; return malloc(n); }
int main(void) { for (int i = 0; i < 10; i++) malloc(10); return puts("done") < 0; }
END
cc -fno-builtin -o own_malloc own_malloc.c || exit 1
run record -o own_malloc.db -- ./own_malloc
check "a program with a malloc of its own is told" grep -q '1 program(s) with their own malloc, .*/own_malloc' <<<"$err"
run record -o true.db -- true
check_same "… and others are not" "0" "$status$(grep agent <<<"$err")$(quality true.db agent_own_malloc)$(quality true.db agent_absent)"
run record -o absent.db -- env -i ./blocks
check "a child without the environment is told" grep -q '1 executed program(s) had no agent' <<<"$err"
check_same "… and noted" 1 "$(quality absent.db agent_absent)"
if cc -fsanitize=address -o asan_blocks blocks.c 2>/dev/null; then
    check_fails 125 'asan_blocks was built with AddressSanitizer' "a program with AddressSanitizer" record -o asan.db -- ./asan_blocks
else
    skip "a program with AddressSanitizer" "the compiler has none"
fi

# The memory is the program's to write: whatever is in it, Assay reads on.
cat >scribble.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv)
{
    char line[512];
    unsigned long start, end, parts = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && fgets(line, sizeof line, maps))
        if (strstr(line, "memfd:assay-agent") && sscanf(line, "%lx-%lx", &start, &end) == 2) {
            srand(atoi(argv[1]));
            unsigned long most = end - start < 8UL << 20 ? end - start : 8UL << 20; /* the ring, and some images */
            for (unsigned long i = 0; i + 8 <= most; i += 8)
                *(volatile unsigned long *)(start + i) = argc > 2 ? ~0UL : (unsigned long)rand() << 33 ^ (unsigned long)rand() << 3 ^ rand();
            parts++;
        }
    puts(parts ? "scribbled" : "found nothing");
    fflush(stdout);
    _Exit(0);
}
END
cc -O1 -o scribble scribble.c
for words in "1" "2" "3 ones"; do
    read -ra words <<<"$words"
    run record -q -o scribbled.db -- ./scribble "${words[@]}"
    check_same "a program that writes nonsense into the memory (${words[*]}): Assay goes on" "scribbled" "$out"
    check "… to its end" test "$status" -eq 0 -o "$status" -eq 125
    check "… without a word of crashing" test -z "$(grep -iE 'sanitizer|runtime error|core dumped|segmentation' <<<"$err")"
done

# The recorder dies: the program goes on, with the agent in it.
cat >loop.sh <<'END'
i=0
echo yes >loop.began
while [ $i -lt 30 ]; do i=$((i + 1)); sleep 0.1; done
echo done >loop.done
END
"$ASSAY" record -q --source=timer --allocations -o gone.db -- sh loop.sh &
recorder=$!
wait_until test -s loop.began
kill -KILL "$recorder"
wait "$recorder" 2>/dev/null
wait_until test -s loop.done
check_same "the recorder is killed: the program goes on" "done" "$(cat loop.done)"
check_no_strays "nothing is left behind" 20
