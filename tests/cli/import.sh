#!/usr/bin/env bash
# Recordings of perf as profiles: the counts of other machines' recordings, shares as perf report gives them, text and
# binary alike, export and import back, bad and hostile input.
# sanitized-only: what is read is the same in both builds
# time-limit: 300
. "$(dirname "$0")/lib.sh"
unset ASSAY_DEBUG_PATH # perf, whose answers are held against ours, reads what is installed

DATA=$SOURCE/../shared/data/perf
SHARES=$SOURCE/tests/cli/import_shares.py
CHAINS=$SOURCE/tests/cli/import_chains.py
MAKE=$BUILD/tests/unit/export/export_profile

# ---- other machines' recordings ----

# all FILE EXPRESSION: imports and holds the whole profile, as JSON, against a Python expression; s: its series by name.
held() {
    local name=$1 file=$DATA/$2.perf.data expression=$3
    if [ ! -e "$file" ]; then
        skip "$name" "$file is not there"
        return
    fi
    check "$name: it is imported" "$ASSAY" import -o "$2.db" "$file"
    check_json "$name" "(lambda s, c, q: $expression)({x['name']: x for x in d['series']}, d['counters'], {x['key']: x['value'] for x in d['quality']})" \
        "$ASSAY" export --to=json "$2.db"
    check "$name: reported" "$ASSAY" report "$2.db"
}
held "load latencies" pebs-load-latency \
    '(lambda e: e["samples"] == 14 and e["period"] == 10009 and e["precise"] == 2 and sum(t["units"] for t in e["times"]) == 14 * 10009
      and c["record_MMAP2"] == 6930 and c["record_COMM"] == 2959 and c["record_FORK"] == 2955
      and len(e["components"]) > 0 and all(x["events"] != "base" for x in e["components"]))([v for k, v in s.items() if k.startswith("MEM") and not k.endswith("weight")][0])
      and (lambda w: w["unit"] == "cycles" and min(t["units"] for t in w["times"]) == 70 and max(t["units"] for t in w["times"]) == 249
      and sum(t["samples"] for t in w["times"]) == 14)([v for k, v in s.items() if k.endswith(" weight")][0])'
if [ -e pebs-load-latency.db ]; then
    check "options may come behind the recording" "$ASSAY" import "$DATA/pebs-load-latency.perf.data" -o behind.db
    check "… and count" test -s behind.db
    run "$ASSAY" import -o pebs-load-latency.db "$DATA/pebs-load-latency.perf.data"
    check "a series of weights is no event" grep -q '14 samples of 2 events (1 without samples) in' <<<"$err"
fi
held "branch stacks" lbr-skylake \
    's["cycles:ppp"]["samples"] == 13 and c["branch_stacks"] == 13 and c["branch_entries"] == 387 and c["record_MMAP2"] == 10 and c["record_MMAP"] == 21'
if [ -r "$DATA/lost-samples.perf.data" ]; then
    "$ASSAY" import -q -o lost.db "$DATA/lost-samples.perf.data"
    check_same "samples that other series lost are counted, too" "1 lost (2 of all series)" "$("$ASSAY" report lost.db | grep -o '1 lost (.*)')"
fi
held "lost samples" lost-samples \
    's["cycles:pp"]["samples"] + s["instructions:pp"]["samples"] + s["branch-instructions:pp"]["samples"] == 191 and q["lost_samples"] == 2
     and all(x["period"] == 20003 for x in s.values()) and c["record_LOST_SAMPLES"] == 2 and sum(x["lost"] for x in s.values()) == 2'
held "throttling" lbr-throttled \
    's["cycles:u"]["samples"] == 3740 and s["cycles:u"]["throttled"] == 926 and q["throttled"] == 926 and c["record_UNTHROTTLE"] == 926 and c["branch_stacks"] == 3732'
held "a packed pipe" zstd-pipe \
    's["cycles:P"]["samples"] == 547 and s["cycles:P"]["rate"] == 997 and c["stack_copies"] == 547 and c["stack_copies_unwound"] == 0 and q["not_unwound"] == 1 and sorted(x["samples"] for x in s.values()) == [0, 547] and len(s["cycles:P"]["path_times"]) > 0'
for name in pebs-load-latency lbr-skylake lost-samples lbr-throttled; do
    if ! command -v perf >/dev/null || [ ! -e "$DATA/$name.perf.data" ]; then
        skip "$name: shares as in perf report" "no perf, or no such recording"
        continue
    fi
    mapfile -t events < <(sqlite3 "$name.db" "SELECT name FROM series WHERE samples > 0 AND name NOT LIKE '% weight'")
    check "$name: modules have the shares of perf report" \
        "$SHARES" modules "$ASSAY" "$DATA/$name.perf.data" "$name.db" "${events[@]}"
done

# ---- recordings made here ----

recorded() { perf record -q "$@" 2>perf.log >/dev/null; }
if command -v perf >/dev/null && recorded -e cpu-clock -o try.data -- true; then
    cat >known.c <<'END'
#include <pthread.h>
static volatile unsigned long sum;
__attribute__((noinline)) void three(long n) { for (long i = 0; i < n; i++) sum += i; sum++; }
__attribute__((noinline)) void one(long n) { for (long i = 0; i < n; i++) sum += i; sum++; }
static int rounds = 60;
static void *work(void *x) { for (int i = 0; i < rounds; i++) { three(900000); one(300000); } return x; }
int main(int argc, char **argv) { pthread_t t; if (argc > 1) rounds = 15; pthread_create(&t, 0, work, 0); work(0); pthread_join(t, 0); return 0; }
END
    cc -O1 -g -fno-omit-frame-pointer -o known known.c -lpthread
    for how in "-e cpu-clock" "-g -e cpu-clock" "-e cpu-clock,task-clock" "-z -e cpu-clock"; do
        # shellcheck disable=SC2086
        if ! recorded -F 3000 $how -o run.data -- ./known; then
            skip "perf record $how" "$(tail -n 1 perf.log)"
            continue
        fi
        check "perf record $how: imported" "$ASSAY" import -o run.db run.data
        mapfile -t events < <(sqlite3 run.db "SELECT name FROM series WHERE samples > 0")
        check "perf record $how: functions and modules have the shares of perf report" \
            "$SHARES" "$ASSAY" run.data run.db "${events[@]}"
        check "perf record $how: functions were compared" grep -qE '[1-9][0-9]* functions' <<<"$out"
    done
    # From here on one recording is held against other forms of itself, for which a short one will do.
    recorded -F 3000 -g -e cpu-clock -o run.data -- ./known short
    "$ASSAY" import -q -o run.db run.data
    check_json "instructions have text, lines and a build-id" \
        'sum(1 for i in d["instructions"] if i.get("text") and i["file"] is not None and i["line"] > 0) >= 4 and any(m["path"].endswith("/known") and len(m.get("build_id") or "") == 40 for m in d["modules"])' \
        "$ASSAY" export --to=json run.db
    check_json "call paths lead to every sample" \
        'sum(t["units"] for t in d["series"][0]["path_times"]) == sum(t["units"] for t in d["series"][0]["times"])' \
        "$ASSAY" export --to=json run.db
    check_json "both threads are there" 'len(d["threads"]) == 2 and all(t["name"] == "known" for t in d["threads"])' \
        "$ASSAY" export --to=json run.db
    check_json "calls are found where the file is here" \
        'any(p["call_site"] is not None and d["instructions"][p["call_site"]]["class"] == "call" and d["instructions"][p["call_site"]]["text"].startswith("call") for p in d["paths"])' \
        "$ASSAY" export --to=json run.db
    check "annotate" "$ASSAY" annotate three run.db
    perf script -i run.data >run.txt 2>/dev/null
    check "perf script text: imported" "$ASSAY" import -o text.db run.txt
    functions() { "$ASSAY" report --json "$1" | python3 -c 'import json, sys
for r in sorted((r["function"], round(r["share"], 9)) for r in json.load(sys.stdin)["rows"] if r["function"] in ("one", "three")): print(*r)'; }
    check_same "perf script text: the same functions with the same shares" "$(functions run.db)" "$(functions text.db)"
    text_functions=$(functions text.db) text_calls=$("$ASSAY" report --calls --csv text.db)
    for how in 's/^\t/        /' 's/^\t *//'; do
        sed "$how" run.txt >indented.txt
        "$ASSAY" import -q -o indented.db indented.txt
        check_same "… with other indentation ($how)" "$text_functions" "$(functions indented.db)"
        check_same "… and the same call tree" "$text_calls" "$("$ASSAY" report --calls --csv indented.db)"
    done
    perf script -i run.data -F +srcline >lines.txt 2>/dev/null
    "$ASSAY" import -q -o lines.db lines.txt
    check_same "… with source lines" "$text_calls" "$("$ASSAY" report --calls --csv lines.db)"
    sed 's/^[[:space:]]*//' lines.txt >flat.txt
    "$ASSAY" import -q -o flat.db flat.txt
    check_same "… and without any indentation" "$text_calls" "$("$ASSAY" report --calls --csv flat.db)"
    perf script -i run.data -F comm,tid,time,event,ip,sym,dso >periodless.txt 2>/dev/null
    "$ASSAY" import -q -o periodless.db periodless.txt
    check_json "… without periods: times are samples" \
        'd["series"][0]["unit"] == "samples" and sum(t["units"] for t in d["series"][0]["times"]) == d["series"][0]["samples"]' \
        "$ASSAY" export --to=json periodless.db
    "$ASSAY" report --by instruction periodless.db >periodless.out
    check_same "… a symbol without its offset gets none" 0 "$(grep -cE ' [a-z_]+\+0x' periodless.out)"
    "$ASSAY" export --to=perf-script -o times.txt run.db
    times() { awk '{ for (i = 1; i <= NF; i++) if ($i ~ /^[0-9]+\.[0-9]+:$/) printf "%.6f\n", $i + 0 }' "$1" | sort -n |
        awk '{ if (NR == 1) first = $1; last = $1 } END { printf "%d %.6f\n", NR, last - first }'; }
    check_same "what is exported as perf script has the samples' times" True "$(python3 -c 'import sys
a, b = (s.split() for s in sys.argv[1:])
print(a[0] == b[0] and abs(float(a[1]) - float(b[1])) < 3e-6)' "$(times run.txt)" "$(times times.txt)")"
    perf script -i run.data -F comm,tid,time,ip,sym,dso >eventless.txt 2>/dev/null
    "$ASSAY" import -q -o eventless.db eventless.txt
    check_same "… without events: the same samples" "$("$ASSAY" report --calls --csv periodless.db)" "$("$ASSAY" report --calls --csv eventless.db)"
    perf script -i run.data -F comm,tid,ip,sym >timeless.txt 2>/dev/null
    "$ASSAY" import -q -o timeless.db timeless.txt
    shares() { "$ASSAY" report --json "$1" | python3 -c 'import json, sys
d = json.load(sys.stdin)
for r in sorted((r["function"], r["samples"]) for r in d["rows"] if r["function"] in ("one", "three")): print(*r)
print(d["summary"]["samples"], d["unit"])'; }
    periodless=$(shares periodless.db)
    check_same "… without times and events: the same samples" "$periodless" "$(shares timeless.db)"
    "$ASSAY" report --csv timeless.db >timeless.csv
    check_same "… functions without addresses have none in CSV" 0 "$(grep -c ',0x0,' timeless.csv)"
    perf script -i run.data -G -F ip,sym >bare.txt 2>/dev/null # without chains
    "$ASSAY" import -q -o bare.db bare.txt
    check_same "… of addresses and symbols alone" "$periodless" "$(shares bare.db)"
    samples_of() { sqlite3 -separator ' ' "$1" "SELECT f.name, sum(t.samples) FROM times t JOIN instructions i ON i.id = t.instruction
        JOIN functions f ON f.id = i.function WHERE f.name IN ('one', 'three') GROUP BY f.name ORDER BY f.name"; }
    periodless=$(head -n 2 <<<"$periodless")
    check_same "… which are those that report shows" "$periodless" "$(samples_of periodless.db)"
    for fields in comm,pid,tid,period,ip,sym,dso comm,tid,period,ip,sym pid,ip,sym period,ip,sym comm,period,ip,sym tid,time,ip,sym period,time,ip,sym event,ip,sym comm,event,ip,sym; do
        for chains in '' -G; do
            perf script -i run.data $chains -F $fields >fields.txt 2>/dev/null
            "$ASSAY" import -q -o fields.db fields.txt
            check_same "… of $fields $chains" "$periodless" "$(samples_of fields.db)"
        done
    done
    perf script -i run.data -G -F comm,period,ip,sym 2>/dev/null | sed 's/  */ /g; s/ [0-9]* / 250000 /' >squeezed.txt
    check_fails 125 'could be threads, periods or addresses' "… not where nobody can tell a period from a thread" "$ASSAY" import -o squeezed.db squeezed.txt
    printf 'Chapter 12\n\nnothing 12 of\nthis is a sample\n' >prose.txt
    check_fails 125 'no line of it is a sample' "prose is not a recording" "$ASSAY" import -o prose.db prose.txt
    check_fails 125 'perf script -F comm,tid,ip,sym' "nor are addresses in groups" "$ASSAY" import -o prose.db - < <(printf '401136 f\n\n401137 f\n')
    printf 'gzip 7 40%04d [unknown] (/opt/nosuch)\n' {1..60} >nameless.txt
    "$ASSAY" import -q -o nameless.db nameless.txt
    check_same "a text without times counts samples" "gzip: 60 samples" "$("$ASSAY" report nameless.db | head -1)"
    one_line() { "$ASSAY" report "$1" | tr -s '\n ' ' '; }
    check_same "… and has no error by function if none is known" 1 "$(one_line nameless.db | grep -c '^.*error 0.0 % by module, .* by module. No function is known, so there is no error by function')"
    printf 'gzip 7 1.0: 1 cpu-clock: 40%04d [unknown] (/opt/nosuch)\n' {1..60} >clocked.txt
    "$ASSAY" import -q -o clocked.db clocked.txt
    check_same "… by chance or by bias" 1 "$(one_line clocked.db | grep -c 'of it by chance [0-9.]* % by module, .* of it by bias [0-9.to ]* % by module, ')"
    head -7 clocked.txt | "$ASSAY" import -q -o few.db -
    check_json "few samples have no error anywhere" \
        '(lambda s: set(s["error_by"].values()) == {None} == {e["value"] for e in s["errors"] if e["measure"] == "estimate"} and "trust" not in s)(d["summary"])' \
        "$ASSAY" report --json few.db
    check_json "… says how much of the time that is" 'd["summary"]["unnamed"] == 1 and d["summary"]["error_by"]["line"] is None' "$ASSAY" report --json nameless.db
    (cat nameless.txt && printf 'gzip 7 50%04d f%d (/opt/nosuch)\n' {1..40}) | "$ASSAY" import -q -o half.db -
    check_same "… of a part, that it counts by module" 1 "$(one_line half.db | grep -c ' by function. 75 % of the time is in code of which no function is known: it counts by module')"
    printf 'gzip 7 40%04d [unknown] ([unknown])\n' {1..40} | "$ASSAY" import -q -o nowhere.db -
    check_json "code in no module and no function has no address" \
        '[(r["address"], r["module_offset"], r["samples"]) for r in d["rows"]] == [(None, None, 40)]' "$ASSAY" report --json nowhere.db
    printf 'java 7 %s+0x0 (/opt/a)\n' '401000 hot' '402000 hot' '403000 cold' | "$ASSAY" import -q -o alike.db -
    check_same "functions of one name have their addresses" "cold hot at a+0x401000 hot at a+0x402000 " \
        "$("$ASSAY" report alike.db | grep -oE '(hot|cold)( at [^ ]*)?' | sort | tr '\n' ' ')"
    check_fails 125 "'nowhere' is not a directory" "a --debug-path that is not there" "$ASSAY" import --debug-path=.:nowhere -o nowhere.db nameless.txt
    printf '%s 1.0: 1 cycles: \n\t401136 hot+0x6 (/bin/prog)\n\n' 'worker 100/101' 'main 200/200' 'helper 200/201' >leaders.txt
    "$ASSAY" import -q -o leaders.db leaders.txt
    check_json "a process whose first thread has no samples in a text has no name" \
        '[(r["process"], r["command"]) for r in d["rows"]] == [(200, "main"), (100, None)]' "$ASSAY" report --by process --json leaders.db
    check_same "… but that of a thread in parentheses" 1 "$("$ASSAY" report --by process leaders.db | grep -c ' 100 (thread worker) ')"
    # Most of the samples are gzip's.
    if perf record -q -F 4000 -e cpu-clock:u -o shell.data -- sh -c 'head -c 3000000 /dev/zero | gzip >shell.gz' 2>/dev/null; then
        "$ASSAY" import -q -o shell.db shell.data
        check_json "the program is the one that perf started" 'd["meta"]["program"] == "sh"' "$ASSAY" export --to=json shell.db
    fi
    if perf record -q -o idle.data -e dummy:u true 2>/dev/null; then
        check "a recording without samples" "$ASSAY" import -o idle.db idle.data
        said=$("$ASSAY" report idle.db)
        check_same "… says so in its head, and why below" "1 1" \
            "$(grep -c '^true.*: no samples$' <<<"$said") $(grep -c 'has no samples: dummy events take none' <<<"$said")"
    else
        skip "a recording without samples" "perf has no dummy events here"
    fi
    for pack in gzip zstd; do
        for file in run.txt run.data; do
            "$pack" -qc "$file" >packed
            "$ASSAY" import -q -o packed.db packed
            check_same "$pack: $file" "$("$ASSAY" report --csv "$([ $file = run.txt ] && echo text || echo run).db")" "$("$ASSAY" report --csv packed.db)"
        done
        through_pipe() { "$pack" -qc run.txt | "$ASSAY" import -q -o packed.db -; }
        check "$pack: from a pipe" through_pipe
        "$pack" -qc run.txt >packed
        truncate -s $(($(stat -c %s packed) * 3 / 4)) packed
        "$ASSAY" import -o packed.db packed 2>packed.err
        check "$pack: cut short, which is said" grep -q 'the compressed file is damaged or ends early' packed.err
    done
    for pack in xz bzip2; do
        if command -v $pack >/dev/null; then
            $pack -qc run.txt >packed
            check_stderr_line "compressed with $pack; gzip and zstd are read as they are" "$pack: says how to unpack it" "$ASSAY" import -q -o none.db packed
        else
            skip "$pack: says how to unpack it" "$pack is not installed"
        fi
    done
    printf '\x1f\x8b\x08garbage' >packed
    refused() { ! "$ASSAY" import -q -o none.db packed 2>packed.err && [ ! -e none.db ] && [ "$(wc -l <packed.err)" = 1 ]; }
    check "gzip: garbage is refused in one line" refused
    # Files that are not where they were: perf's cache has a copy, or a copy of the file system does.
    mkdir -p home empty "fs$PWD"
    cp known moved && cp known "fs$PWD/moved"
    HOME=$PWD/home recorded -F 3000 -e cpu-clock -o moved.data -- ./moved
    rm moved
    named() { "$ASSAY" report --json moved.db | python3 -c 'import json, sys
print(any(r["function"] == "three" for r in json.load(sys.stdin)["rows"]))'; }
    "$ASSAY" import -q --buildid-dir empty -o moved.db moved.data
    check_same "a file that is gone has no names" False "$(named)"
    HOME=$PWD/home "$ASSAY" import -q -o moved.db moved.data
    check_same "… but those of perf's build-id cache" True "$(named)"
    check_json "… and instructions from there" 'any(i.get("text") and i["line"] > 0 for i in d["instructions"])' \
        "$ASSAY" export --to=json moved.db
    "$ASSAY" import -q --buildid-dir empty --symfs fs -o moved.db moved.data
    check_same "… or of a copy of the file system" True "$(named)"
    for option in symfs buildid-dir vmlinux kallsyms; do
        check_status 125 "--$option of nothing is refused" "$ASSAY" import --$option nowhere -o none.db moved.data
        check_same "… in one line that names it" "assay import: --$option: cannot read 'nowhere': No such file or directory" "$err"
    done
    printf 'root:x:0:0:root:/root:/bin/bash\nat:x:6:6::/:/bin/sh\n0000000000000000 T hidden\n' >passwd.txt
    check_status 125 "--kallsyms of another file is refused" "$ASSAY" import --kallsyms passwd.txt -o none.db moved.data
    check_same "… in one line" "assay import: --kallsyms: 'passwd.txt' contains no addresses: copy /proc/kallsyms of the recorded machine as root" "$err"
    # The kernel's names from files that the user names. The pipe has no build-ids.
    perf record -q -e cpu-clock -o - -- dd if=/dev/zero of=/dev/null bs=1M count=800 2>/dev/null >kernel.data
    kernel_functions() { "$ASSAY" report --json kernel.db | python3 -c 'import json, sys
print(*sorted({r["function"] for r in json.load(sys.stdin)["rows"] if r["module"] == "[kernel]" and r["function"].startswith("made_up")}))'; }
    if "$ASSAY" import -q -o kernel.db kernel.data && "$ASSAY" report --by module kernel.db | grep -q '\[kernel\]'; then
        echo 'ffffffff80000000 T made_up_kernel' >kallsyms.txt
        echo 'fffffffffffff000 T made_up_end' >>kallsyms.txt
        "$ASSAY" import -q --kallsyms kallsyms.txt -o kernel.db kernel.data
        check_same "--kallsyms names the kernel's functions" made_up_kernel "$(kernel_functions)"
        printf '.globl _start\n.type made_up_vmlinux, @function\n_start: made_up_vmlinux: .fill 0x4000000, 1, 0x90\n.size made_up_vmlinux, 0x4000000\n' >vmlinux.S
        cc -nostdlib -static -Wl,-Ttext=0xffffffff81000000,--build-id -o vmlinux vmlinux.S
        "$ASSAY" import -q --vmlinux vmlinux -o kernel.db kernel.data
        check_same "--vmlinux names the kernel's functions" made_up_vmlinux "$(kernel_functions)"
        check_json "… and its code" 'any(i.get("text") == "nop" for i in d["instructions"])' "$ASSAY" export --to=json kernel.db
        perf record -q -e cpu-clock -o kernel2.data -- dd if=/dev/zero of=/dev/null bs=1M count=300 2>/dev/null
        run "$ASSAY" import --vmlinux vmlinux -o kernel.db kernel2.data
        check "… unless it is another kernel's" grep -q 'vmlinux is not used: it is not the ELF file of the recorded kernel' <<<"$err"
        rm -f vmlinux
    else
        skip "names of the kernel" "perf records no samples of the kernel here"
    fi
    if recorded -e dummy -e page-faults -c 1 -e cpu-clock -F 999 -o events.data -- ./known; then
        run "$ASSAY" import -o events.db events.data
        check "an event without samples is counted" grep -q 'samples of 3 events (1 without samples) in' <<<"$err"
        "$ASSAY" report events.db >events.txt
        check "… and listed" grep -q 'dummy[a-zA-Z:]* (0 samples)' events.txt
        run "$ASSAY" blocks --trust-paths events.data
        series=$(sed -n 's/.*source import, series \(.*\): .* samples, .*/\1/p' events.txt)
        check "blocks takes the event that report takes, the one with most samples" grep -qF "samples of $series, method" <<<"$out"
    else
        skip "an event without samples" "$(tail -n 1 perf.log)"
    fi
    piped() { perf record -q -e cpu-clock -o - -- ./known 2>/dev/null | "$ASSAY" import -o pipe.db -; }
    check "through a pipe" piped
    check_json "through a pipe: functions have names" 'any(r["function"] == "three" and r["share"] > 0.5 for r in d["rows"])' \
        "$ASSAY" report --json pipe.db
    if recorded -e '{cpu-clock,page-faults}:S' -o group.data -- ./known; then
        check "a group sampled by its leader: imported" "$ASSAY" import -o group.db group.data
        theirs=$(perf script -i group.data -F event,period 2>/dev/null | awk '$2 == "page-faults:" { n++; s += $1 } END { print n + 0, s + 0 }')
        check "… perf has samples of its members" test "${theirs%% *}" -gt 0
        check_same "… their numbers and units are perf's" "$theirs" \
            "$(sqlite3 -separator ' ' group.db "SELECT sum(t.samples), sum(t.units) FROM times t JOIN series s ON s.id = t.series WHERE s.name = 'page-faults'")"
    else
        skip "a group sampled by its leader" "$(tail -n 1 perf.log)"
    fi
    recorded -c 1 -e page-faults,page-faults:u -o twice.data -- ./known
    run "$ASSAY" import -o twice.db twice.data
    check "one event twice: it is said" grep -q 'page-faults and page-faults:u are the same event' <<<"$err"
    run "$ASSAY" import -o run.db run.data
    check_same "… and only then" 0 "$(grep -c 'the same event' <<<"$err")"
    # Neither of these has the kernel's build-id.
    if [ -z "$(grep -m 1 -v '^0* ' /proc/kallsyms)" ]; then
        skip "functions of the kernel" "/proc/kallsyms shows no addresses"
    else
        for how in "-z -o kernel.data" "-o -"; do
            # shellcheck disable=SC2086
            perf record -q -e cpu-clock:k $how -- dd if=/dev/zero of=/dev/null bs=1M count=3000 2>perf.log | cat >kernel.pipe
            [ "$how" = "-o -" ] && mv kernel.pipe kernel.data
            check "perf record $how: imported" "$ASSAY" import -o kernel.db kernel.data
            check_json "perf record $how: functions of the kernel have names" \
                'any(r["share"] > 0.1 and r["module"] == "[kernel]" and r["function"] not in ("", "[kernel]") for r in d["rows"])' "$ASSAY" report --json kernel.db
        done
    fi
    size=$(stat -c %s run.data)
    samples=$(sqlite3 run.db "SELECT samples FROM series")
    for part in 1 30 60 90; do
        head -c $((size * part / 100)) run.data >cut.data
        run "$ASSAY" import -o cut.db cut.data
        if [ "$status" -eq 0 ]; then
            # Behind the samples there is what perf says of the machine: without that, all samples are there.
            check_json "cut at $part %: imported as partial, or whole" \
                "d['meta'].get('partial', '') != '' or d['series'][0]['samples'] == $samples" "$ASSAY" export --to=json cut.db
        else
            check_fails 125 'cut.data' "cut at $part %: one line" "$ASSAY" import -o cut.db cut.data
        fi
    done
    # Copies of the stack, of a program without frame pointers: unwound with the files that were recorded, where they are.
    cat >deep.c <<'END'
#include <stdlib.h>
#include <string.h>
static volatile unsigned long sum;
__attribute__((noinline)) void leaf(int n) { for (int i = 0; i < n; i++) sum += i; }
__attribute__((noinline)) int down(int d, int n) { char pad[40]; memset(pad, d, sizeof pad); if (d) return down(d - 1, n) + pad[d % 40]; leaf(n); return 1; }
static int order(const void *a, const void *b) { leaf(20); return *(const int *)a - *(const int *)b; }
int main(int argc, char **argv) { static int v[500]; for (int k = 0; k < 400; k++) { for (int i = 0; i < 500; i++) v[i] = rand(); qsort(v, 500, sizeof *v, order); sum += down(k % 20, 100000); } return argc > 99; }
END
    cc -O1 -g -fomit-frame-pointer -fno-optimize-sibling-calls -o deep deep.c
    recorded -F 2000 -e cpu-clock --call-graph dwarf -o stacks.data -- ./deep
    check "perf record --call-graph dwarf: imported" "$ASSAY" import -o stacks.db stacks.data
    # 98 % of them, by five standard deviations: a quick machine takes a hundred samples.
    nearly_all='(lambda n: 0.98 * n - 5 * (0.98 * 0.02 * n) ** 0.5)(d["counters"]["stack_copies"])'
    check "… with the call chains of perf script" "$CHAINS" stacks.data stacks.db 0.95
    check_json "… of nearly all samples, to main" \
        '(d["counters"]["stack_copies_unwound"] >= '"$nearly_all"' > 0
         and any(d["functions"][p["function"]]["name"] == "main" for p in d["paths"] if p["function"] is not None))' "$ASSAY" export --to=json stacks.db
    piped() { perf record -q -F 2000 -e cpu-clock --call-graph dwarf -o - -- ./deep 2>/dev/null | "$ASSAY" import -o stackpipe.db -; }
    check "… through a pipe" piped
    check_json "… too" 'd["counters"]["stack_copies_unwound"] >= '"$nearly_all"' > 0' "$ASSAY" export --to=json stackpipe.db
    if command -v perl >/dev/null && recorded -F 1000 -e cpu-clock --call-graph dwarf -o perl.data -- perl -e 'for (1 .. 500000) { $h{$_ % 977} .= chr(65 + $_ % 26) } print length join(q(), sort values %h)'; then
        "$ASSAY" import -q -o perl.db perl.data
        check "… of perl" "$CHAINS" perl.data perl.db 0.95
    fi
    # Chains that are longer than the kernel or the copy allows.
    cat >tower.c <<'END'
static volatile unsigned long sum;
__attribute__((noinline)) int down(int d) { if (d) return down(d - 1) + 1; for (int i = 0; i < 300000; i++) sum += i; return 1; }
int main(int argc, char **argv) { for (int i = 0; i < 300; i++) down(argc > 1 ? 600 : 5); return 0; }
END
    cc -O1 -g -fno-omit-frame-pointer -fno-optimize-sibling-calls -o tower tower.c
    cut() { "$ASSAY" export --to=json "$1" | python3 -c 'import json, sys; print(sum(q["value"] for q in json.load(sys.stdin)["quality"] if q["key"] == "cut_chains") > 0.5)'; }
    for how in fp dwarf; do
        recorded -F 1000 -e cpu-clock --call-graph $how -o tower.data -- ./tower
        "$ASSAY" import -o tower.db tower.data 2>tower.log
        check_same "call chains by $how: whole ones are not called cut" False "$(cut tower.db)"
        check_same "… and nothing is said" 0 "$(grep -c 'were cut' tower.log)"
        recorded -F 1000 -e cpu-clock --call-graph $how -o tower.data -- ./tower deep
        "$ASSAY" import -o tower.db tower.data 2>tower.log
        check_same "… of a deep recursion: cut ones are counted" True "$(cut tower.db)"
        check "… and it is said" grep -q '% of the call chains were cut \(at 127 frames\|at the end of the copy of 8,192 bytes\)' tower.log
    done
    echo 'int more(void) { return 1; }' >>deep.c
    cc -O1 -g -o deep deep.c
    check "… of a program that is another one by now" "$ASSAY" import --buildid-dir empty -o stale.db stacks.data
    check_json "… its tables are not used, and it is said" \
        '(lambda c: any(q["key"] == "not_unwound" and abs(q["value"] - 1 + c["stack_copies_unwound"] / c["stack_copies"]) < 1e-9 and q["value"] > 0.3 for q in d["quality"]))(d["counters"])' "$ASSAY" export --to=json stale.db
else
    skip "recordings made here" "perf is not installed, or cannot record cpu-clock here"
fi

# ---- branch stacks ----

if [ -r "$DATA/lbr-throttled.perf.data" ] && command -v perf >/dev/null; then
    for file in lbr-throttled lbr-skylake; do
        "$ASSAY" import -q -o lbr.db "$DATA/$file.perf.data"
        # from/to/mispredicted/…/…/cycles, with entries that were left empty
        perf script -i "$DATA/$file.perf.data" -F brstack 2>/dev/null | tr ' ' '\n' | awk -F/ '$1 ~ /^0x/ && $1 != "0x0" {
            k = $1 " " $2; n[k]++; m[k] += $3 == "M"; c[k] += $6 } END { for (k in n) print k, n[k], m[k], c[k] }' | sort >theirs
        sqlite3 -separator ' ' lbr.db "SELECT printf('0x%x', i.address), printf('0x%x', j.address), taken, mispredicted, cycles
            FROM branches b JOIN instructions i ON i.id = b.source JOIN instructions j ON j.id = b.target" | sort >ours
        check "$file: perf script lists branches" test -s theirs
        check_same "$file: branches are those of perf script" "$(<theirs)" "$(<ours)"
    done
    check_json "report --branches" 'd["taken"] == sum(r["taken"] for r in d["rows"]) == 387 and d["mispredicted"] == 21 and d["rows"][0]["taken"] == 12' \
        "$ASSAY" report --branches --json lbr.db
    check "… as CSV" "$ASSAY" report --branches --csv -o branches.csv lbr.db
    check_same "… has the same" 387 "$(python3 -c 'import csv; print(sum(int(r["taken"]) for r in csv.DictReader(open("branches.csv"))))')"
    check "… as text" "$ASSAY" report --branches lbr.db
    check_fails 2 'does not apply' "… not by thread" "$ASSAY" report --branches --thread 1 lbr.db
    check_fails 2 'cannot be used together' "… or with a call tree" "$ASSAY" report --branches --calls lbr.db
else
    skip "branches of branch stacks" "no recordings, or no perf"
fi

# ---- back again ----

if [ -x "$MAKE" ]; then
    "$MAKE" small small.db
    "$ASSAY" export --to=perf-script --series=cycles:ppp -o small.txt small.db
    check "what perf-script exports is imported" "$ASSAY" import -o back.db small.txt
    sums() { "$ASSAY" export --to=folded --series=cycles:ppp "$1" | sort; }
    check_same "and has the same stacks" "$(sums small.db)" "$(sums back.db)"
    "$MAKE" hostile hostile.db
    "$ASSAY" export --to=perf-script -o hostile.txt hostile.db
    check "hostile names are imported" "$ASSAY" import -o back.db hostile.txt
    check_json "with all of their time" 'sum(t["units"] for t in d["series"][0]["times"]) == 465' "$ASSAY" export --to=json back.db
else
    skip "export and import back" "the program that makes profiles was not built (no cmocka)"
fi

# ---- bad input ----

check_fails 2 'no recording given' "no file" "$ASSAY" import
check_fails 2 'one recording at a time' "two files" "$ASSAY" import a b
check_fails 125 'absent.data' "no such file" "$ASSAY" import absent.data
check_fails 125 '[Dd]irectory' "a directory" "$ASSAY" import /
: >empty.data
check_fails 125 'empty.data' "an empty file" "$ASSAY" import empty.data
: >e
check_fails 125 '^assay import: e: ' "… whose name is part of the message" "$ASSAY" import e
head -c 100000 /dev/urandom >random.data
check_fails 125 'random.data' "random bytes" "$ASSAY" import random.data
printf 'PERFILE2' >short.data
check_fails 125 'short.data' "a header that breaks off" "$ASSAY" import short.data
check_fails 125 'assay' "a program" "$ASSAY" import "$ASSAY"
echo "this is some text" >text.txt
check_fails 125 'text.txt' "text that is not perf's" "$ASSAY" import text.txt
check "nothing was written" test ! -e assay.db
printf 'p 1/1 0.1: 5 cycles: \n\t10 f+0x1 (m)\n\n' >ok.txt
check_fails 125 'no/such' "an unwritable profile" "$ASSAY" import -o no/such/dir.db ok.txt
check_fails 125 'text.txt' "a target that is no profile" "$ASSAY" import -o text.txt ok.txt
check "a small text" "$ASSAY" import ok.txt
check_stdout_equals 'f 5' "assay.db is the default" "$ASSAY" export --to=folded

# Where the binaries are missing, frames keep their modules.
printf 'p 7 1.1: 5 cycles: \n\t401000 [unknown] (/nowhere/p)\n\t7f0010 [unknown] (/lib/libc-2.19.so)\n\n' >bare.txt
check "frames without symbols" "$ASSAY" import -o bare.db bare.txt
check_stdout_equals '[libc-2.19.so];[p] 5' "… are known by their modules" "$ASSAY" export --to=folded bare.db
check_json "… whose totals have what they call" '{r["function"]: (r["cycles"], r["total"]) for r in d["rows"]} == {"[p]": (5, 5), "[libc-2.19.so]": (0, 5)}' "$ASSAY" report --json bare.db
printf 'p 7 1.1: 5 cycles: \n\t401000 [unknown] (/nowhere/p)\n\t402000 [unknown] (/nowhere/p)\n\t7f0010 [unknown] (/lib/libc-2.19.so)\n\n' >merged.txt
check "calls within such a module" "$ASSAY" import -o merged.db merged.txt
check "… are one node" "$ASSAY" report --calls merged.db
check_same "… which is no recursion" "[libc-2.19.so] (libc-2.19.so) [p]" "$(sed -n '/call path/,$s/.* %[ │|]*//p' <<<"$out" | xargs)"
check_json "… and has no address" 'all(r["address"] is None and r["module_offset"] is None for r in d["rows"])' "$ASSAY" report --calls --json merged.db
check_json "… nor has its row" 'len(d["rows"]) == 2 and all(r["address"] is None and r["module_offset"] is None for r in d["rows"])' "$ASSAY" report --json merged.db

# The first event of a recording can be one that hardly ever happened.
printf 'p 7 1.%d: %d %s: \n\t401%d00 f%d (/nowhere/p)\n\n' 1 1 page-faults 0 0 2 100 cycles 1 1 3 100 cycles 1 1 >two.txt
check "two events" "$ASSAY" import -o two.db two.txt
check "the one with most samples is shown" "$ASSAY" report two.db
check "… the other is named" grep -q '^other series, for --series: page-faults (1 samples)$' <<<"$out"
check_fails 2 'its series are page-faults, cycles$' "… and a wrong name is answered with all of them" "$ASSAY" report --series=x two.db

# Times, processors, and names that change: a shell that becomes a compiler.
printf '%s 7/7 [%s] %s: %d cycles: \n\t%s (/nowhere/p)\n\t901000 main (/nowhere/p)\n\n' \
    sh 000 10.0 100 '401000 read_input' \
    cc 001 10.5 200 '402000 parse' \
    cc 001 11.5 300 '403000 emit' \
    cc 000 12.0 400 '403010 emit' >timed.txt
check "samples with times" "$ASSAY" import -o timed.db timed.txt
check_json "a part of the time" '({r["function"]: (r["samples"], r["time"], r["total"]) for r in d["rows"]}, d["summary"]["samples"], d["summary"]["part"], d["summary"]["seconds"]) == ({"parse": (1, 200, 200), "emit": (1, 300, 300), "main": (0, 0, 500)}, 2, "0.5 s to 2 s of 2 s", 1.5)' "$ASSAY" report --json --time 500ms..2s timed.db
check_json "… to its end, by processor" '{r["cpu"]: r["time"] for r in d["rows"]} == {0: 400, 1: 300}' "$ASSAY" report --json --by cpu --time 1.. timed.db
check_same "… as CSV" "cpu,1 0,500 1,500" "$("$ASSAY" report --by cpu --csv timed.db | tr -d '\r' | awk -F, 'NR == 1 { print $1 ",1" } NR > 1 { print $1 "," $12 }' | tr '\n' ' ' | sed 's/ $//')"
check_json "by block, where none is known: instructions, and the module is named" \
    '(sorted((r["address"], r["function"], r["time"]) for r in d["rows"]) == [("0x401000", "read_input", 100), ("0x402000", "parse", 200), ("0x403000", "emit", 300), ("0x403010", "emit", 400)] and d["without_blocks"] == ["/nowhere/p"])' \
    "$ASSAY" report --json --by block timed.db
check_same "by process as CSV: its name, and no place in the code" "7,,,,,,,cc" "$("$ASSAY" report --by process --csv timed.db | sed -n 2p | command cut -d, -f1-8)"
check_same "by command as CSV: no place in the code" "cc,,,,,," "$("$ASSAY" report --by command --csv timed.db | sed -n 2p | command cut -d, -f1-7)"
check_same "call paths as CSV: the module" "0,/nowhere/p,main" "$("$ASSAY" report --calls --csv timed.db | sed -n 2p | command cut -d, -f1-3)"
printf 'p 7 1.1: 5 cycles: \n\tffffffff81000010 do_work ([kernel.kallsyms])\n\n' >kernel.txt
"$ASSAY" import -o kernel.db kernel.txt 2>/dev/null
check_json "code of the kernel has no offset in a file" 'd["rows"][0]["module_offset"] is None' "$ASSAY" report --json kernel.db
check "by block as text" "$ASSAY" report --by block timed.db
check "… a note says so" grep -q '^note: this profile has no basic blocks of p: their rows are single instructions$' <<<"$out"
check "… its call tree" "$ASSAY" report --calls --time ..0.1 timed.db
check "… has one path" grep -q read_input <<<"$out"
check "… and none of later" test "$(grep -c emit <<<"$out")" = 0
check "… an annotation" "$ASSAY" annotate --time 1..2 emit timed.db
check "… says which part" grep -q ': 1 s to 2 s of 2 s' <<<"$out"
check_stdout_equals $'main;emit 700' "… an export" "$ASSAY" export --to=folded --time 1.. timed.db
check_fails 2 'there are no samples then;' "… of a time that there was not" "$ASSAY" export --to=folded --time 3.. timed.db
check "… a page" "$ASSAY" report --time 1..2 --html timed.html timed.db
check_fails 2 'there are no samples then; the first is at 0 s, the last at 2 s$' "a time after the end" "$ASSAY" report --time 3.. timed.db
check_fails 2 'there are no samples then$' "a time between two samples" "$ASSAY" report --time 0.1..0.2 timed.db
check_fails 2 'not a range of times such as 1s..2s' "no range" "$ASSAY" report --time 1s timed.db
check_fails 2 '^assay report: --time does not apply to data' "data have no times" "$ASSAY" report --data --time 1.. timed.db
check_json "a command is the name at the time of the sample" '{r["command"]: r["time"] for r in d["rows"]} == {"sh": 100, "cc": 900}' "$ASSAY" report --json --by command timed.db
check_json "… a thread stays one" '[(r["thread"], r["command"], r["time"]) for r in d["rows"]] == [(7, "cc", 1000)]' "$ASSAY" report --json --by thread timed.db
check "… with its former name" bash -c '"$1" report --by thread timed.db | grep -q "7 cc (before: sh)"' - "$ASSAY"
"$ASSAY" import -q -o again.db timed.txt
check "merged with another like it" "$ASSAY" merge -o twice.db timed.db again.db
check_json "… each run has its own start" '{r["function"]: r["samples"] for r in d["rows"]} == {"read_input": 2, "main": 0}' "$ASSAY" report --json --time ..0.4 twice.db
sed 's/ \[...\]//' timed.txt >no-cpu.txt
check "samples without processors" "$ASSAY" import -o no-cpu.db no-cpu.txt
check_fails 2 'do not contain the processor: perf record --sample-cpu' "… are not shown by them" "$ASSAY" report --by cpu no-cpu.db
sed -E "s| \\[...\\] 1[012]\\.[0-9]:| |" timed.txt >no-time.txt
check "samples without times" "$ASSAY" import -o no-time.db no-time.txt
check_fails 2 'the series cycles has no times of its samples' "… have no part of the time" "$ASSAY" report --time 1.. no-time.db

# The whole machine: by the idle loop, by what perf was asked for, or by the kernel's threads.
printf '# cmdline : /usr/bin/perf %s\n#\np 7/7 1.1: 5 cycles: \n\t10 f+0x1 (m)\n\n' 'record -e cycles -ag -- make -j2' >wide.txt
check "perf record -a" "$ASSAY" import -o wide.db wide.txt
check_json "… is titled so" 'd["summary"]["title"] == "system-wide"' "$ASSAY" report --json wide.db
sed 's/record.*/record -F 99 -o a -g make -a/' wide.txt >narrow.txt
check "perf record of a program that has such an option" "$ASSAY" import -o narrow.db narrow.txt
check_json "… is not" 'd["summary"]["title"] == "p"' "$ASSAY" report --json narrow.db
printf 'swapper 0/0 1.1: 5 cycles: \n\t10 idle+0x1 ([kernel.kallsyms])\n\n' >idle.txt
check "an idle processor" "$ASSAY" import -o idle.db idle.txt
check_json "… was not alone" 'd["summary"]["title"] == "system-wide"' "$ASSAY" report --json idle.db
kernel_thread='ksoftirqd/1 22/22 1.1: 5 cycles: \n\t10 run_ksoftirqd+0x1 ([kernel.kallsyms])\n\n'
{ grep -v '^#' wide.txt && printf %b "$kernel_thread"; } >beside.txt
check "a program beside a thread of the kernel" "$ASSAY" import -o beside.db beside.txt
check_json "… was not alone either" 'd["summary"]["title"] == "system-wide"' "$ASSAY" report --json beside.db
printf %b "$kernel_thread" >thread.txt
check "a thread of the kernel" "$ASSAY" import -o thread.db thread.txt
check_json "… may be all that was asked for" 'd["summary"]["title"] != "system-wide"' "$ASSAY" report --json thread.db
{ cat narrow.txt && printf %b "$kernel_thread"; } >narrow2.txt
check "perf's command line" "$ASSAY" import -o narrow2.db narrow2.txt
check_json "… is believed" 'd["summary"]["title"] == "p"' "$ASSAY" report --json narrow2.db

# Source lines that perf printed, where the program is not here: of the innermost inlined function.
printf 'p 7 1.1: 5 cycles: \n\t401000 small (inlined)\n  /src/small.h:12\n\t401000 large+0x10 (/nowhere/p)\n  large.c:30\n\t402000 main (/nowhere/p)\n  p+0x402000\n\n' >sources.txt
check "source lines of perf script" "$ASSAY" import -o sources.db sources.txt
check_json "… are those of the instructions" '[(r["file"], r["line"], r["time"]) for r in d["rows"]] == [("/src/small.h", 12, 5)]' "$ASSAY" report --by line --json sources.db

printf 'p 7 1.1: 5 cycles: \n\tffffffff81000010 do_it+0x10 ([kernel.kallsyms])\n\n' >kernel.txt
check "text with the kernel" "$ASSAY" import -o kernel.db kernel.txt
check_json "… has the name that it has in files" '[r["module"] for r in d["rows"]] == ["[kernel]"]' "$ASSAY" report --by module --json kernel.db

# One address with two names, as in code that a runtime has rewritten: they stay apart.
printf 'j 5 1.%s: cycles: 401000 %s+0x0 (/tmp/perf-5.map)\n' 1 Alpha 2 Beta 3 Beta 4 Alpha 5 Beta >names.txt
check "two names at one address" "$ASSAY" import -o names.db names.txt
check_json "… are two functions" '[(r["function"], r["samples"]) for r in d["rows"]] == [("Beta", 3), ("Alpha", 2)]' "$ASSAY" report --json names.db

# Text has the addresses of a run, not the offsets in the file.
check_json "text has no offsets in modules" 'all(r["module_offset"] is None for r in d["rows"])' "$ASSAY" report --json names.db
check_same "… nor in CSV" '0x401000,' "$("$ASSAY" report --csv names.db | grep -o '0x401000,[^,]*' | sort -u)"

check_same "… nor as an export" ',0x401000,/tmp/perf-5.map,,' "$("$ASSAY" export --to=csv names.db | sed -n '2s/^\(0x401000,[^,]*,[^,]*,\).*/,\1/p')"
# … unless it has both (-F +dsoff): then two processes have one module, wherever it lay.
printf 'p %s 1.1: cycles: %s hot+0x9 (/opt/my prog+0x1139)\n' 7 55001139 8 56001139 9 57001139 >placed.txt
check "text with offsets in modules" "$ASSAY" import -o placed.db placed.txt
check_json "… has one module, function and instruction" '[(r["function"], r["module"], r["module_offset"], r["samples"]) for r in d["rows"]] == [("hot", "/opt/my prog", "0x1139", 3)]' \
    "$ASSAY" report --by instruction --json placed.db

# Functions that are inlined in callers, and in the sampled one.
printf 'p 7 1.1: 5 cycles: \n\t401100 leaf (inlined)\n\t401100 foo+0x10 (/opt/p)\n\t401200 push_back (inlined)\n\t401200 grow (inlined)\n\t401200 main+0x5 (/opt/p)\n\n' >inlined.txt
check "text with inlined functions" "$ASSAY" import -o inlined.db inlined.txt
check_same "… has all of them in its stacks" "main;grow;push_back;foo;leaf 5" "$("$ASSAY" export --to=folded inlined.db)"

# Text that breaks off or ends in nonsense.
for rest in $'garb\n' 'p 7 1.2: 5 cyc'; do
    (cat inlined.txt && printf '%s' "$rest") >cut.txt
    check "text that ends in '${rest%$'\n'}'" "$ASSAY" import -o cut.db cut.txt
    check_same "… is incomplete, which is said" 1 "$(grep -c 'the recording is incomplete (the text ends in .*partial' <<<"$err")"
    check "… and marked" grep -q PARTIAL < <("$ASSAY" report cut.db)
done

# ---- damaged recordings --------------------------------------------------------------------------------------------
# Whatever an import accepts, reports must accept: a few changes here, thousands by hand (with other seeds).
for unit in pebs ibs; do
    python3 "$SOURCE/tests/cli/data_recording.py" $unit "$BUILD/tests/unit/native/data_victim" "whole-$unit.data"
done
whole=(whole-*.data)
for name in run.data stacks.data "$DATA"/{lbr-skylake,lost-samples,zstd-pipe}.perf.data; do
    [ ! -r "$name" ] || whole+=("$name")
done
check "a damaged recording: one line, or a profile that can be read" \
    python3 "$SOURCE/tests/cli/import_mutants.py" "$ASSAY" 11 $((5 * ${#whole[@]})) "${whole[@]}"

# Samples that stand for unequal times say less by chance: (sum of w)^2 / sum of w^2 = 11.9 of 100 with these.
python3 - <<'END'
for name, long in (("equal", 1000), ("unequal", 100000)):
    with open(name + ".txt", "w") as out:
        for i in range(100):
            print(f"prog 7 1.{i:06d}: {1000 if i % 10 else long} cycles: {0x1000 + 16 * (i // 10 % 2):x} f{i // 10 % 2}+0x0 (/bin/prog)", file=out)
END
for name in equal unequal; do
    check "samples of $name periods" "$ASSAY" import -q -o $name.db $name.txt
done
check_json "equal ones: the error by chance is that of 100" \
    'abs(d["summary"]["trust"]["levels"][0]["chance"] - 0.0399) < 1e-4' "$ASSAY" report --json equal.db
check_json "unequal ones: that of 11.9" \
    'abs([e["value"] for e in d["series"][0]["estimates"] if e["measure"] == "estimate"][0] - 0.1158) < 1e-4' "$ASSAY" export --to json unequal.db
said() { "$ASSAY" report "$1" | grep -E '^error'; }
check_same "… too few for an error in words" 'error: too few samples (100, worth 12) to tell' "$(said unequal.db)"
check "… of 100 there is one, of no more digits than it has" grep -qE '^error ([0-9]\.[0-9]|[1-4][0-9]|50|more than 50) % by function,' <<<"$(said equal.db)"
"$ASSAY" import -q -o again.db unequal.txt
"$ASSAY" merge -q -o both.db unequal.db again.db
check_json "… of twice as many when merged" \
    'abs([e["value"] for e in d["series"][0]["estimates"] if e["measure"] == "estimate"][0] - 0.1158 / 2 ** 0.5) < 2e-3' \
    "$ASSAY" export --to json both.db
