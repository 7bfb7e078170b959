#!/usr/bin/env bash
# assay annotate: lines and instructions against the report's sums, names in all spellings, arrows, inlined functions;
# sources and binaries that are missing or have changed.
# sanitized-only: what is shown is the same in both builds
# time-limit: 200
. "$(dirname "$0")/lib.sh"

note() { "$ASSAY" annotate "$@"; }

mkdir src
cat >src/work.c <<'END'
#include <stdio.h>
volatile int table[4096];
static inline __attribute__((always_inline)) int twice(int x)
{
    for (int k = 0; k < 3; k++)
        x += table[(x + k) & 4095]; /* inlined here */
    return x * 2 + 1;
}
__attribute__((noinline)) int loop(int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++) {
        if (table[i & 4095] > sum)
            sum += twice(i); /* the line of twice */
        else
            sum -= i;
    }
    return sum;
}
__attribute__((noinline)) int rare(int n)
{
    if (n == 12345) {
        puts("never executed");
        n = twice(n); /* nor is this */
    }
    return n + table[n];
}
END
cat >src/main.c <<'END'
#include <stdio.h>
int loop(int n);
static __attribute__((noinline)) int same(int n) { return loop(n) + 1; }
int other(int n), rare(int n);
int main(void)
{
    printf("%d\n", loop(10));
    return (loop(20000) + same(100) + other(100) + rare(7)) == 12345;
}
END
cat >src/other.c <<'END'
int loop(int n);
static __attribute__((noinline)) int same(int n) { return loop(n) + 2; }
int other(int n) { return same(n) + 1; }
END
cat >src/names.cc <<'END'
namespace space { struct thing { __attribute__((noinline)) int value(int x); }; }
int space::thing::value(int x) { int sum = 0; for (int i = 0; i < x; i++) sum += i * sum; return sum; }
volatile int table[64];
inline __attribute__((always_inline)) int helper(int x)
{
    return table[x & 63] + x; /* of helper */
}
namespace a_name_that_takes_place {
struct a_type_whose_name_is_as_long_as_those_of_strings { int x; };
template <class T, class U> struct box {
                static inline __attribute__((always_inline)) int fill(int x)
                {
                    return table[x & 31] * x + table[x & 15]; /* far to the right */
                }
};
}
using long_name = a_name_that_takes_place::a_type_whose_name_is_as_long_as_those_of_strings;
int main()
{
    space::thing t;
    int sum = 0;
    for (int i = 0; i < 100; i++)
        sum += helper(i) + a_name_that_takes_place::box<long_name, long_name>::fill(i);
    return t.value(1000) == sum;
}
END
build() { gcc -g -O1 -Wl,--build-id,-z,lazy -o prog "$PWD"/src/{main,work,other}.c; }
check "a program" build
check "its profile" "$RECORDER" record -q -- ./prog
check_json "stubs that were executed are named by what they call" 'any(r.get("target_name") == "printf@plt" for r in d["rows"])' note main --json
check "a C++ program" g++ -g -O1 -o names "$PWD/src/names.cc"
check "its profile" "$RECORDER" record -q -o names.db -- ./names

# ---- what it shows --------------------------------------------------------------------------------------------------
check "--json" note loop --json -o loop.json
"$ASSAY" report --json -o function.json
holds "instructions are the function's time" '
    near(sum(r["cycles"] for r in d[0]["rows"]), next(r for r in d[1]["rows"] if r["function"] == "loop")["cycles"])
    and near(sum(r["share"] for r in d[0]["rows"]), d[0]["share"]) and near(sum(r["function_share"] for r in d[0]["rows"]), 1)' loop.json function.json
holds "lines are its time too" 'near(sum(l["cycles"] for l in d["lines"]), sum(r["cycles"] for r in d["rows"]))
    and [l["cycles"] for l in d["lines"]] == sorted((l["cycles"] for l in d["lines"]), reverse=True)' loop.json
holds "instructions by address, with all that is known of them" '
    [int(r["address"], 16) for r in d["rows"]] == sorted(int(r["address"], 16) for r in d["rows"])
    and all(r["file"].endswith("work.c") and r["line"] > 0 and r["text"] and (r["executions"] > 0) == r["recorded"] and r["module"].endswith("/prog")
            and near(sum(r["components"].values()), r["cycles"]) for r in d["rows"])' loop.json
holds "source stands beside it" 'any("twice(i)" in l["source"] for l in d["lines"]) or any("inlined here" in l["source"] for l in d["lines"])' loop.json
holds "inlined functions are named" 'any(r.get("inlined") == ["twice"] for r in d["rows"])' loop.json
holds "jumps have targets, named by their place in the function" '
    (lambda start: any("target" in r for r in d["rows"]) and all(r["target_name"] == "+0x%x" % (int(r["target"], 16) - start) for r in d["rows"]
        if "target" in r))(int(d["rows"][0]["address"], 16))' loop.json
holds "events are counted" '
    all(0 < n <= r["executions"] for r in d["rows"] for n in r["events"].values()) and any(r["events"] for r in d["rows"])' loop.json
note loop >loop.txt
check "the worst lines come first" grep -qE '^\* *[0-9.]+ % work.c:[0-9]+ ' loop.txt
check "source and disassembly" grep -qE 'work.c:13 +if \(table' loop.txt
check "… alternate" awk '/work.c:13/ { line = 1 } line && /cmp|mov/ { found = 1 } END { exit !found }' loop.txt
check "arrows of jumps" grep -qE "[0-9] [.|+'-]*> +[+]0x[0-9a-f]+  " loop.txt
check_same "… in UTF-8 where that can be shown" yes "$(LC_ALL=C.UTF-8 note loop | grep -q '▶' && echo yes)"
check "a legend" grep -qE '^  \. +[0-9.]+ %  Base' loop.txt
check "what it is worth" grep -q 'source model, series golden' loop.txt
check_json "--series" 'd["summary"]["sampler"] == "tea" and sum(r["samples"] for r in d["rows"]) > 0' note loop --series tea --json
check_json "--thread" 'len(d["rows"]) > 5' note loop --thread 1 --json

# ---- names ----------------------------------------------------------------------------------------------------------
check "a name of a module" note prog:loop
address=$(python3 -c 'import json; print(json.load(open("loop.json"))["rows"][3]["address"])')
check_json "an address of the run" 'd["function"] == "loop"' note "$address" --json
check_json "an address of the file" 'd["function"] == "loop"' note "prog:0x$(nm prog | awk '$3 == "loop" { print $1 }')" --json
for name in 'space::thing::value(int)' 'space::thing::value' thing::value value _ZN5space5thing5valueEi 'names:space::thing::value'; do
    check_json "C++: $name" 'd["function"] == "space::thing::value(int)"' note "$name" names.db --json
done
check_fails 2 "did you mean loop" "a name that is near" note lopo
cp assay.db clone.db
python3 -IS -c 'import sqlite3
db = sqlite3.connect("clone.db")
db.execute("UPDATE functions SET name = \"loop.constprop.0\", linkage_name = NULL WHERE name = \"loop\"")
db.execute("UPDATE modules SET path = \"[kernel]\" WHERE path LIKE \"%/prog\"")
db.execute("UPDATE instructions SET line = 0, file = NULL")
db.commit()'
check_json "a function that the compiler cloned" 'd["function"] == "loop.constprop.0"' note loop clone.db --json
check_same "code in no file is not blamed on -g" "" "$(note loop clone.db | grep "built without debug")"
check_fails 2 "no function 'zzzzqqq'" "a name that is not" note zzzzqqq
check_fails 2 "ambiguous: same at 0x.*, same at 0x.*MODULE:NAME" "two of a name" note same
cat >src/few.cc <<'END'
volatile long sum;
namespace a { __attribute__((noinline)) void few(int x) { for (int i = 0; i < x; i++) sum += i; } }
namespace b { template <class T> __attribute__((noinline)) void few(T x) { for (T i = 0; i < 100 * x; i++) sum += i * i; } }
namespace b { template <class T> __attribute__((noinline)) void one(T x) { for (T i = 0; i < x; i++) sum += i * i; } }
int main() { a::few(100); b::few<long>(100); b::one<long>(100); }
END
check "functions of one short name" g++ -g -O1 -o few "$PWD/src/few.cc"
check "… in a profile" "$RECORDER" record -q -o few.db -- ./few
check_fails 2 "'few' is ambiguous: void b::few<long>.* at 0x.*, a::few.* at 0x" "… are listed by their time" note few few.db
check_json "the only one of its name" 'd["function"] == "void b::one<long>(long)"' note one few.db --json
# A part that the compiler split from a function has the function's name, and more.
cat >src/split.cc <<'END'
volatile long rare, sum;
__attribute__((noinline, cold)) void seldom(long i) { rare += i; }
namespace a {
__attribute__((noinline)) void worker(long n)
{
    for (long i = 0; i < n; i++)
        if (__builtin_expect(i % 64 == 63, 0)) { seldom(i); rare += sum; } else sum += i;
}
}
int main() { a::worker(2000); }
END
check "a function in two parts" g++ -g -O2 -freorder-blocks-and-partition -o split "$PWD/src/split.cc"
check "… in a profile" "$RECORDER" record -q -o split.db -- ./split
check_same "… both of which ran" 2 "$(sqlite3 split.db "SELECT count(*) FROM functions WHERE name LIKE 'a::worker(long)%'")"
for name in a::worker worker split:a::worker; do
    check_json "… by its name: $name" 'd["function"] == "a::worker(long)"' note "$name" split.db --json
done
check_json "… and its other part" 'd["function"] == "a::worker(long) [clone .cold]"' note 'a::worker(long) [clone .cold]' split.db --json
check_fails 2 'it was inlined into loop;' "an inlined function" note twice
for name in helper 'helper(int)'; do check_fails 2 'it was inlined into main;' "… of C++: $name" note "$name" names.db; done
check_fails 2 'it was inlined into loop;' "… with parameters that nobody recorded" note 'twice(int)'
check_json "one of two, by its address" 'd["function"] == "same"' note "$(note same 2>&1 | grep -oE '0x[0-9a-f]+' | head -n 1)" --json
check_fails 2 'no symbol' "no name" note
check_fails 2 'one function' "too many words" note loop assay.db more
check_fails 125 'there is no' "no profile" note loop absent.db
check_fails 2 'its series are golden' "an unknown series" note loop --series x
full() { note loop "$@" >/dev/full; }
check_fails 125 'No space left' "a full stdout" full
check_fails 125 'No space left' "a full stdout, JSON" full --json

# ---- what was not executed ------------------------------------------------------------------------------------------
check "a function that was executed in part" note rare --json -o rare.json
holds "… has all of its instructions" '
    sum(not r["recorded"] for r in d["rows"]) > 3 and d["hole_note"] is None and all(r["executions"] == r["cycles"] == r["share"] == 0 and r["components"] == {}
        for r in d["rows"] if not r["recorded"]) and all(r["executions"] == 1 for r in d["rows"] if r["recorded"])' rare.json
if command -v objdump >/dev/null; then
    offsets() { python3 -c 'import json
rows = json.load(open("rare.json"))["rows"]
print(*("%x" % (int(r["address"], 16) - int(rows[0]["address"], 16)) for r in rows))'; }
    listed() { objdump -d --disassemble=rare prog | python3 -c 'import re, sys
at = [int(x, 16) for x in re.findall(r"^ +([0-9a-f]+):\t[0-9a-f ]+\t", sys.stdin.read(), re.M)]
print(*("%x" % (x - at[0]) for x in at))'; }
    check_same "… those that objdump finds" "$(listed)" "$(offsets)"
else
    skip "… those that objdump finds" "objdump is not installed"
fi
holds "… with their lines and inlined functions" '
    any(r["line"] == 23 and not r["recorded"] and "never executed" in r["source"] for r in d["rows"])
    and any(r.get("inlined") == ["twice"] and "inlined here" in r["source"] for r in d["rows"] if not r["recorded"])' rare.json
holds "… calls are named by what they call" 'any(r.get("target_name") == "puts@plt" and "call" in r["text"] for r in d["rows"])' rare.json
holds "… and lines are those that were executed" '{l["line"] for l in d["lines"]} == {r["line"] for r in d["rows"] if r["recorded"]}' rare.json
note rare >rare.txt
check "as text too, without shares" grep -qE '^ {20,}.*[+]0x[0-9a-f]+  call puts@plt$' rare.txt
check "… inlined functions are told" grep -qE 'work.c:6 \(inlined twice\) +x \+= table' rare.txt
check_same "no absolute target is left" "" "$(grep -E ' (j[a-z]+|call) 0x' rare.txt loop.txt)"
check_same "no line is wider than the terminal" "" "$(COLUMNS=80 note loop | awk 'length > 80')"
for columns in 60 80 132; do check_same "… of C++, $columns columns" "" "$(COLUMNS=$columns note main names.db | awk -v most=$columns 'length > most')"; done
check "names give up the arguments of their templates first" grep -qE '\(inlined a_name_that_takes_place::box<\.\.>::fill' <<<"$(COLUMNS=132 note main names.db)"
check "… and are cut with an ellipsis, before their source" grep -qE '\(inlined a_name_that_takes_place:\.\.\) retur' <<<"$(COLUMNS=80 note main names.db)"
if command -v script >/dev/null; then
    dimmed=$(env TERM=xterm COLUMNS=100 ASSAY_PAGER=cat script -qec "'$ASSAY' annotate rare" /dev/null </dev/null | grep 'puts@plt')
    check_same "… dimmed on a terminal" yes "$(grep -q $'\033\[2m *[+]0x[0-9a-f]*  call' <<<"$dimmed" && echo yes)"
fi

check_json "nothing has changed" 'd["changed"] == {}' "$ASSAY" report --json
check_same "… and nothing is said" "" "$("$ASSAY" report | grep '^note:' | grep -v -e CPUID -e 'that have no names')"

if [ "$(uname -m)" = x86_64 ]; then
    cat >page.S <<'END'
.globl _start
.type _start, @function
.balign 4096
.skip 4096 - 8
_start:
    mov $9, %ecx
again:
    dec %ecx
    .byte 0x48, 0x81, 0xc0, 1, 0, 0, 0 /* add $1, %rax, in two pages */
    test %ecx, %ecx
    jnz again
    mov $60, %eax
    xor %edi, %edi
    syscall
.size _start, . - _start
END
    check "an instruction in two pages" gcc -nostdlib -static -o page page.S
    "$RECORDER" record -q -o page.db -- ./page
    check_json "… is one" '[r["executions"] for r in d["rows"]] == [1, 9, 9, 9, 9, 1, 1, 1] and all(r["text"] != "(bad)" for r in d["rows"])' note _start page.db --json
else
    skip "an instruction in two pages" "needs an assembler for x86-64"
fi

if [ "$(uname -m)" = x86_64 ]; then
    cat >made.c <<'END'
#include <string.h>
#include <sys/mman.h>
/* mov ecx, 1000; dec ecx; jnz -4; ret */
static const unsigned char code[] = {0xb9, 0xe8, 3, 0, 0, 0xff, 0xc9, 0x75, 0xfc, 0xc3};
int main(void)
{
    char *page = mmap(0, 8192, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memcpy(page + 256, code, sizeof code);
    memcpy(page + 4096, code, sizeof code);
    ((void (*)(void))(page + 256))();
    ((void (*)(void))(page + 4096))();
    return 0;
}
END
    check "code that a program makes" gcc -O1 -o made made.c
    "$RECORDER" record -q -o made.db -- ./made
    made=$("$ASSAY" report made.db --by instruction --json | python3 -c 'import json, sys
print(min(r["address"] for r in json.load(sys.stdin)["rows"] if not r["function"] and r["text"].startswith("dec")))')
    check_json "… by an address in it: what is around it" '[(r["text"].split()[0], r["executions"]) for r in d["rows"]] == [("mov", 1), ("dec", 1000), ("jnz", 1000), ("ret", 1)] and d["function"] is None and all(r["cycles"] > 0 for r in d["rows"][1:3])' note "$made" made.db --json
    check_same "… as text it says what it is" 1 "$(note "$made" made.db | grep -cE '^code in no function, 0x[0-9a-f]+ to 0x[0-9a-f]+ ')"
    check "… and what its own time is made of" grep -qE '^  \. +9[0-9.]+ %  Base' <<<"$(note "$made" made.db)"
    check_fails 2 "no function '0x12'" "… where nothing is" note 0x12 made.db
else
    skip "code that a program makes" "needs x86-64"
fi

# ---- files that change ----------------------------------------------------------------------------------------------
sleep 0.1
touch src/work.c
check_same "a source newer than the program" 1 "$(note loop | grep -c 'newer than the program')"
mv src hidden
check_same "sources that are gone" 1 "$(note loop | grep -c 'no source for .*work.c: it does not exist')"
check "… cost no more than their lines" note loop
check_json "… in JSON neither" 'len(d["rows"]) > 5 and all("source" not in r for r in d["rows"])' note loop --json
note loop --source-path hidden >found.txt
check "--source-path finds them" grep -qE 'work.c:12 +for \(int i' found.txt
mkdir -p "$PWD/src/work.c"
check_same "one that is no file" 1 "$(note loop | grep -c 'it is not a regular file')"
rmdir "$PWD/src/work.c" && mkfifo "$PWD/src/work.c"
check_same "one that would block" 1 "$(timeout 200 "$ASSAY" annotate loop | grep -c 'it is not a regular file')"
rm -r src && mv hidden src
sed -i 's/x \* 2 + 1/x * 3 + 2/' src/work.c
check "another build" build
check_same "a program that has changed" 1 "$(note loop | grep -c 'prog: it has changed since the recording')"
check_json "… in JSON too" '"changed" in d["module_note"]' note loop --json
check_same "… the report says so in a line" 1 "$("$ASSAY" report | tr '\n' ' ' | tr -s ' ' | grep -c 'note: [^ ]*/prog: it has changed since the recording; the report shows what was recorded ')"
check_same "… call trees do" 1 "$("$ASSAY" report --calls | grep -c '^note: .*/prog: it has changed')"
check_json "… and JSON" '[(path.rsplit("/")[-1], note) for path, note in d["changed"].items()] == [("prog", "it has changed since the recording")]' "$ASSAY" report --json
check_same "… what was not executed is not known any more" 1 "$(note rare | grep -c 'that were not executed are not shown: it has changed since the recording$')"
check_json "… in JSON" '"changed" in d["hole_note"] and all(r["recorded"] for r in d["rows"])' note rare --json
rm prog
check_same "a program that is gone" 1 "$(note loop | grep -c 'prog: it no longer exists')"
check "… costs nothing but that" note loop
gcc -g -O1 -Wl,--build-id=none -o bare "$PWD"/src/{main,work,other}.c
"$RECORDER" record -q -o bare.db -- ./bare
check_same "no build-id: unchanged" "" "$(note loop bare.db | grep 'bare: ')"
touch bare
check_same "… changed, by its time" 1 "$(note loop bare.db | grep -c 'bare: it has changed')"
gcc -O1 -s -o stripped "$PWD"/src/{main,work,other}.c
"$RECORDER" record -q -o stripped.db -- ./stripped
check "without symbols and lines: a report" "$ASSAY" report stripped.db --by line
