#!/usr/bin/env bash
# Programs that nobody here wrote run under Assay to the same output, the same error output and the same exit status as
# natively; so do programs built in every way that there is. And a single-threaded program counts alike in every run.
# plain-only: what it measures with (stat) runs under sanitizers in sanitized, stat and bad_input
# time-limit: 400
# shellcheck disable=SC2016 # scripts in single quotes are the programs to measure
DEFAULT_CORE=boom-tip
. "$(dirname "$0")/lib.sh"

counts=$TMP/counts.json
measured() { "$ASSAY" stat -q --json -o "$counts" -- "$@"; }

# The counts of the last run: an expression over the document, or nothing where it is not one.
counted() { python3 -IS -c 'import json, sys; d = json.load(open(sys.argv[1])); print(eval(sys.argv[2]))' "$counts" "$1"; }

# same NAME COMMAND…: both runs, compared to the byte. The counts must be there and add up. A command in `around` is put
# before both (it gives them their input, say).
around=()
same() {
    local name=$1 native seen
    shift
    "${around[@]}" "$@" >native.out 2>native.err
    native=$?
    rm -f "$counts"
    "${around[@]}" measured "$@" >seen.out 2>seen.err
    seen=$?
    out=$(head -c 2000 seen.out | tr -d '\0') err=$(head -c 2000 seen.err | tr -d '\0') status=$seen
    if [ "$native" -ne "$seen" ]; then
        report "$name" "natively its status was $native"
    elif ! cmp -s native.out seen.out; then
        report "$name" "standard output differs: $(cmp native.out seen.out 2>&1)"
    elif ! cmp -s native.err seen.err; then
        report "$name" "standard error was: $(head -c 2000 native.err)"
    elif ! judge 'd["instructions"] > 0 and sum(d["classes"].values()) == d["instructions"]' "$counts"; then
        report "$name" "the counts are not there or do not add up: $judged"
    else
        pass "$name"
    fi
}

# same_with FUNCTION NAME COMMAND…
same_with() {
    around=("$1")
    shift
    same "$@"
    around=()
}

# ---- real programs -------------------------------------------------------------------------------------------------
for i in {1..2500}; do echo "line $i: $((i * 7919 % 10007)) the quick brown fox"; done >text
same "xz compresses" xz -6 -c text
xz -6 -k text
same "xz decompresses" xz -d -c text.xz
two_threads() { # it starts the second where the first is at work when there is more to do
    same "xz with two threads" xz -T2 --block-size=40000 -c text
    check_same "xz -T2 has its threads" True "$(counted 'd["threads"] >= 3')"
}
by_chance two_threads
same "gzip" gzip -9 -n -c text
same "sort" sort -k3,3n -k2,2 text
same "awk" awk '{ n[$3 % 10]++; s += $3 } END { for (i = 0; i < 10; i++) print i, n[i]; print s }' text
same "sed" sed -nE 's/^line ([0-9]*5): ([0-9]+).*/\2-\1/p' text
tarred() { tar --sort=name --mtime=@0 --owner=0 --group=0 -cf - "$@"; }
tarred text text.xz >files.tar
same "tar lists" tar -tvf files.tar
same "perl" perl -e 'my %h; for (1 .. 20000) { $h{$_ % 977} .= chr(97 + $_ % 26) }
    print join(",", map { "$_=" . length $h{$_} } sort { $a <=> $b } keys %h), "\n"; $_ = "x" x 50; s/x{7}/y/g; print; exit 5'
same "perl dies" perl -e 'eval { die { code => 7 } }; print "caught $@->{code}\n"; die "for good\n"'

python=$(for p in /usr/bin/python3 python3; do command -v "$p" && break; done)
same "python3" "$python" -c 'import json, hashlib, re, sys
print(json.dumps({str(i): hashlib.sha256(str(i).encode()).hexdigest()[:8] for i in range(200)}, sort_keys=True))
print(sum(i * i for i in range(30000)), re.sub("a(b+)", r"<\1>", "abbbcab"))
sys.stderr.write("to stderr\n"); sys.exit(9)'
# The rest without what it imports of its own: that ran above, and takes most of the time.
same "python3 with a traceback" "$python" -IS -c 'raise ValueError("on purpose")'
same "python3 with a child process" "$python" -IS -c 'import subprocess
r = subprocess.run(["sh", "-c", "read x; echo got $x; exit 4"], input=b"word\n", capture_output=True)
print(r.stdout, r.returncode)'
check_same "its child is counted" True "$(counted 'd["processes"] >= 2')"
same "python3 with threads" "$python" -IS -c 'import threading
out = []
ts = [threading.Thread(target=lambda n=n: out.append(sum(range(n * 1000)))) for n in range(4)]
[t.start() for t in ts]; [t.join() for t in ts]; print(sorted(out))'
check_same "its threads are counted" True "$(counted 'd["threads"] == 5')"
same "python3 with signals" "$python" -IS -c 'import signal, os, time
hits = []
signal.signal(signal.SIGUSR1, lambda *_: hits.append("usr1")); signal.signal(signal.SIGALRM, lambda *_: hits.append("alrm"))
os.kill(os.getpid(), signal.SIGUSR1); signal.setitimer(signal.ITIMER_REAL, 0.05); time.sleep(0.5); print(hits)'

same "sqlite3" sqlite3 :memory: 'create table t(a integer primary key, b text);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 3000) insert into t select i, printf("%05d", i * 37 % 1009) from n;
create index x on t(b); select count(*), sum(a), max(b) from t; select b, count(*) from t group by b order by b limit 5;
select a from t where b between "00100" and "00110" order by a;'
same "sqlite3 with an error" sqlite3 :memory: 'select * from absent'

cat >unit.c <<'END'
int printf(const char *, ...);
struct point { int x, y; };
static int area(const struct point *p, int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += p[i].x * p[(i + 1) % n].y - p[(i + 1) % n].x * p[i].y;
    return sum / 2;
}
int main(void) { struct point p[4] = {{0, 0}, {4, 0}, {4, 3}, {0, 3}}; return printf("%d\n", area(p, 4)) != 3; }
END
gcc -O1 -c unit.c -o native.o
check "gcc -c" measured gcc -O1 -c unit.c -o seen.o
check "gcc -c makes the same object" cmp native.o seen.o
check_same "its compiler and assembler are counted" True "$(counted 'd["processes"] >= 3')"
echo 'int main(void) { return undeclared; }' >wrong.c
same "gcc with an error" gcc -c wrong.c -o wrong.o

same "bash with pipes" bash -c 'seq 1 3000 | sort -rn | head -n 3; printf "%s\n" c a b | sort | tr a-z A-Z; (exit 3) | cat
    echo "${PIPESTATUS[@]}"; x=$(echo nested | tr d-t D-T); echo "$x" >&2; [[ $x == NESTED ]] && exit 42'
check_same "the pipes' processes are counted" True "$(counted 'd["processes"] >= 8')"
same "a here-document and job control" bash -c 'cat <<<"here"; sleep 0.1 & wait $!; echo "waited $?"; trap "echo trapped" EXIT'
same "find and xargs" sh -c "find . -name 'text*' | sort | xargs wc -c"
same "timeout kills" timeout 0.3 sleep 5

# ---- what passes through -------------------------------------------------------------------------------------------
head -c 1000000 /dev/urandom >binary
file_input() { "$@" <binary; }
same_with file_input "standard input" sha256sum
same "empty standard input" cat
pipe_input() { head -c 300000 binary | "$@"; }
same_with pipe_input "standard input by a pipe" md5sum
extra_descriptor() { "$@" 7<text; }
same_with extra_descriptor "another descriptor" sh -c 'head -n 2 <&7'
export ODD_1='a,b=c d' ODD_2=$'two\nlines' ODD_3='' LD_ODD=kept LC_TIME=C
same "the environment" sh -c "env -u _ | sort"
LD_LIBRARY_PATH=/nowhere same "a loader variable" sh -c 'echo "$LD_LIBRARY_PATH"'
mkdir -p 'a dir/with, comma'
cp /bin/echo 'a dir/with, comma/my echo'
same "a path with spaces and commas" "$TMP/a dir/with, comma/my echo" 'a  b' '' '*' "ü\\" --
in_directory() { (cd 'a dir/with, comma' && "$@"); }
same_with in_directory "the working directory" pwd -P
same_with in_directory "a program by a relative path" './my echo' relative
for code in 0 1 2 77 125 126 127 255; do
    same "exit status $code" sh -c "exit $code"
done
for name in TERM KILL SEGV ABRT INT PIPE; do
    run measured sh -c "kill -$name \$\$"
    check_same "killed by SIG$name" $((128 + $(kill -l $name))) "$status"
done
same "a killed child" sh -c 'sh -c "kill -SEGV \$\$"; echo "child: $?"'
in_background() {
    "$@" &
    wait $!
}
limited() { (ulimit -n 99 -s 4096 && "$@"); }
same_with limited "resource limits" sh -c 'ulimit -n; ulimit -s'
same_with in_background "a program in the background" echo background

# ---- scripts and ways to build -------------------------------------------------------------------------------------
printf '#!/bin/sh\necho "script $0 $*"\nexit 6\n' >script
printf '#!/usr/bin/env perl\nprint "perl $0 @ARGV\\n";\n' >env-script
printf '#! %s -uIS \nimport sys; print("python", sys.argv[1:])\n' "$python" >one-argument
chmod +x script env-script one-argument
same "a script" ./script one two
same "a script through env" ./env-script x
same "a script with an argument of its own" ./one-argument 'a b' c
same "a script found on PATH" env PATH="$TMP:$PATH" script found

cat >program.c <<'END'
/* What a program sees of itself: arguments, environment, its own text, errno, a constructor, thread-local storage. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static __thread int local = 5;
static int constructed;
__attribute__((constructor)) static void construct(void) { constructed = 1; }
static void at_exit(void) { puts("at exit"); }
static int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
int main(int argc, char **argv)
{
    int numbers[100];
    atexit(at_exit);
    for (int i = 0; i < 100; i++)
        numbers[i] = (i * 73 + 11) % 101;
    qsort(numbers, 100, sizeof *numbers, compare);
    for (int i = 1; i < argc; i++)
        printf("[%s]", argv[i]);
    printf(" %s %d %d %.9f %d\n", getenv("ODD_1"), constructed, local, sqrt(argc * 2.0) + sin(0.5), numbers[50]);
    errno = 0;
    FILE *file = fopen("/no/such/file", "r");
    fprintf(stderr, "%d %s\n", file == NULL, strerror(errno));
    return argc + 10;
}
END
build_and_compare() {
    local name=$1 compiler=$2
    shift 2
    if ! "$compiler" -O2 -o "program-$name" "$@" -lm 2>compile.err; then
        fail "$name builds" "$(cat compile.err)"
        return
    fi
    same "$name" "./program-$name" 'first word' second
}
build_and_compare dynamic gcc -no-pie program.c
build_and_compare pie gcc -fPIE -pie program.c
build_and_compare static gcc -static program.c
build_and_compare static-pie gcc -static-pie -fPIE program.c
build_and_compare stripped gcc -s program.c
build_and_compare unoptimised gcc -O0 -g program.c

cat >throws.cc <<'END'
// Exceptions through frames with destructors, rethrown, through a function pointer, and one that nobody catches.
#include <cstdlib>
#include <iostream>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>
struct Tracer { std::string name; ~Tracer() { std::cout << "~" << name << "\n"; } };
static int deep(int n)
{
    Tracer tracer{"frame" + std::to_string(n)};
    if (n == 0)
        throw std::out_of_range("at the bottom");
    return deep(n - 1) + 1;
}
int main(int argc, char **)
{
    std::map<std::string, std::vector<int>> table;
    for (int i = 0; i < 1000; i++)
        table[std::to_string(i % 37)].push_back(i);
    int caught = 0;
    for (int i = 0; i < 10; i++) {
        try {
            (void)table.at("absent");
        } catch (const std::exception &) {
            caught++;
        }
    }
    try {
        try {
            deep(4);
        } catch (const std::logic_error &error) {
            std::cout << "caught " << error.what() << "\n";
            throw;
        }
    } catch (...) {
        std::cout << "again; " << caught << " before; " << table["5"].size() << "\n";
    }
    if (argc > 1)
        throw std::runtime_error("nobody catches this");
    return 3;
}
END
if g++ -O2 -o throws throws.cc; then
    same "C++ with exceptions" ./throws
    same "a C++ exception that nobody catches" ./throws now
fi
same "a threaded program" "$WORKLOADS/threads" -t 4 -w 2000 -r 5
check_same "its threads are counted" True "$(counted 'd["threads"] == 5')"

# ---- RISC-V --------------------------------------------------------------------------------------------------------
# There is no native run to compare with: the x86-64 build of the same source tells what must come out.
# foreign NAME NATIVE PROGRAM ARGS…
foreign() {
    local name=$1 native=$2 program=$3 want
    shift 3
    "$native" "$@" >native.out 2>native.err
    want=$?
    run measured "$program" "$@"
    if [ "$status" -eq "$want" ] && cmp -s native.out "$LOGS/out" && cmp -s native.err "$LOGS/err"; then
        pass "$name"
    else
        report "$name" "expected status $want, stdout $(cat native.out), stderr $(cat native.err)"
    fi
}
riscv() {
    local way from
    # The headers of C++ take most of the time to compile, so both ways to link take one object.
    riscv64-linux-gnu-g++ -O2 -c throws.cc -o throws-rv.o
    for way in '' -static -O0; do # Debian's cross library cannot make static-pie
        riscv64-linux-gnu-gcc -O2 $way -o "program-rv$way" program.c -lm &&
            foreign "RISC-V C ${way:-dynamic}" ./program-dynamic "./program-rv$way" 'first word' second
        from=throws-rv.o
        [ "$way" != -O0 ] || from=throws.cc
        riscv64-linux-gnu-g++ $way -o "throws-rv$way" "$from" &&
            foreign "RISC-V C++ with exceptions ${way:-dynamic}" ./throws "./throws-rv$way"
    done
    for way in static dynamic; do
        foreign "RISC-V threads, $way" "$WORKLOADS/threads" "$WORKLOADS/threads-riscv64-$way" -t 3 -w 1000 -r 4
        check_same "its threads are counted" True "$(counted 'd["threads"] == 4')"
        foreign "RISC-V demo, $way" "$WORKLOADS/demo" "$WORKLOADS/demo-riscv64-$way" 5
    done
    run measured ./throws-rv now
    check_same "RISC-V: an exception that nobody catches" 134 "$status"
}
if command -v riscv64-linux-gnu-gcc >/dev/null && command -v riscv64-linux-gnu-g++ >/dev/null; then
    riscv
else
    skip "RISC-V" "no cross compilers (gcc-riscv64-linux-gnu, g++-riscv64-linux-gnu)"
fi

# ---- where the results go ------------------------------------------------------------------------------------------
check_json "--json: stdout is one document" 'd["instructions"] > 0' "$ASSAY" stat --json -- echo hello
check_same "--json: the program's stdout goes to stderr" hello "$err"
run "$ASSAY" stat -- echo hello
check_same "text: the program's stdout comes first" hello "${out%%$'\n'*}"
check "text: the table follows" grep -q 'instructions' <<<"$out"
check_same "-o: the program's stdout alone" hello "$("$ASSAY" stat -o table -- echo hello)"
check "-o: the table is in the file" grep -q 'instructions' table

# ---- the same in every run -----------------------------------------------------------------------------------------
repeatable() {
    "$ASSAY" stat -q --json -o run.json -- "$@" >/dev/null 2>&1
    python3 - <<'END'
import json
d = json.load(open("run.json"))
for name in ("seconds", "mips"):
    del d[name]
for thread in d["by_thread"]:
    thread.pop("pid", None), thread.pop("tid", None)
print(json.dumps(d, indent=1))
END
}
twice() {
    local name=$1 first
    shift
    first=$(repeatable "$@")
    check_stdout_equals "$first" "$name counts alike twice" repeatable "$@"
}
twice "a static program" "$WORKLOADS/known/x86-call-nested"
twice "a dynamic program" ./program-pie a b
twice "the demo" "$WORKLOADS/demo" 3
twice "C++" ./throws
twice "perl" env -i PERL_HASH_SEED=0 perl -e '$h{$_}++ for 1 .. 100; print sort keys %h'
if [ -x "$WORKLOADS/demo-riscv64-dynamic" ]; then
    twice "RISC-V" "$WORKLOADS/demo-riscv64-dynamic" 2
fi
# What the kernel hands out anew each time (set_tid_address returns the thread's id) is left out.
script_sum() { # [OPTION…] -- PROGRAM
    "$ASSAY" script -q -o records "$@" >/dev/null 2>&1
    grep -v ' return number 218 ' records | tee lines | md5sum
}
for program in "$WORKLOADS/known/x86-call-nested" "$WORKLOADS/known/x86-signal-fault" ./program-pie ./throws; do
    words=(-- "$program")
    [ "$program" != ./throws ] || words=(--from main "${words[@]}") # the dynamic linker has as many lines again
    first=$(script_sum "${words[@]}")
    check "script of ${program##*/} has lines" test "$(wc -l <lines)" -gt 100
    check_stdout_equals "$first" "script of ${program##*/} twice" script_sum "${words[@]}"
done

check_no_strays "no process is left"
