#!/usr/bin/env bash
# Exported profiles: golden files, what readers of each format make of them, names that try to break out, bad input.
# sanitized-only: what writers write is the same in both builds
# time-limit: 300
. "$(dirname "$0")/lib.sh"

MAKE=$BUILD/tests/unit/export/export_profile
READ=$SOURCE/tests/cli/export_read.py
formats="pprof folded callgrind speedscope perf-script csv json"
if [ ! -x "$MAKE" ]; then
    skip "exports" "the program that makes profiles was not built (no cmocka)"
    exit 0
fi
for kind in small hostile large empty; do
    check "a profile to export: $kind" "$MAKE" "$kind" "$kind.db"
done

check "options may come behind the profile" "$ASSAY" export small.db --to=json -o behind.json
check_same "… and count" "$("$ASSAY" export --to=json small.db)" "$(cat behind.json)"

# ---- golden files ----

for format in folded callgrind speedscope perf-script csv json; do
    check_golden "export_small.$format" "$format: the small profile" "$ASSAY" export --to="$format" small.db
    check_golden "export_samples.$format" "$format: a series of samples" \
        "$ASSAY" export --to="$format" --series=cycles:ppp small.db
done
decoded() {
    "$ASSAY" export --to=pprof --uncompressed --series="$1" small.db |
        protoc -I "$SOURCE/tests/cli" --decode=pprof_fields.Profile pprof_fields.proto
}
if command -v protoc >/dev/null; then
    check_golden export_small.pprof "pprof: the small profile" decoded golden
    check_golden export_samples.pprof "pprof: a series of samples" decoded cycles:ppp
    unknown() { decoded golden | grep -cE '^ *[0-9]+[ :]'; }
    check_stdout_equals 0 "pprof: no field that the format does not have" unknown
else
    skip "pprof: golden files" "protoc is not installed"
fi

# ---- readers ----

for kind in small hostile large; do
    total=$("$READ" profile "$kind.db" golden)
    check "$kind: the profile has time" test "$total" -gt 100
    for format in $formats; do
        if [ "$format" = callgrind ] && ! command -v callgrind_annotate >/dev/null; then
            skip "$format of $kind" "callgrind_annotate is not installed"
            continue
        fi
        check "$format of $kind: written" "$ASSAY" export --to="$format" -o "$kind.$format" "$kind.db"
        check_stdout_equals "$total" "$format of $kind: a reader finds all of the time" "$READ" "$format" "$kind.$format"
    done
done
samples=$("$READ" profile small.db cycles:ppp)
for format in pprof folded speedscope perf-script csv; do
    "$ASSAY" export --to="$format" --series=cycles:ppp -o "samples.$format" small.db
    check_stdout_equals "$samples" "$format of samples: all of the time" "$READ" "$format" "samples.$format"
done
check_same "perf-script: an entry for each sample" 7 "$(grep -c cycles:ppp: samples.perf-script)"
check_same "perf-script: an exact series of many stacks has 10000" 10000 "$(grep -c ' cycles: $' large.perf-script)"
check_same "… which is told" 1 "$("$ASSAY" export --to=perf-script -o x large.db 2>&1 | grep -c '10000 evenly spaced samples stand for the time of [0-9]* stacks; --samples=0')"
check_same "… is what was asked for" 77 "$("$ASSAY" export --to=perf-script --samples=77 large.db 2>/dev/null | grep -c ' cycles: $')"
"$ASSAY" export --to=perf-script --samples=77 large.db 2>/dev/null >thinned.perf-script
check_stdout_equals "$("$READ" profile large.db golden)" "… with all of the time" "$READ" perf-script thinned.perf-script
fair() {
    python3 - <<'END'
import collections, subprocess, sys
def leaves(text):
    time = collections.Counter()
    lines = text.split("\n")
    for i, line in enumerate(lines):
        if line.endswith(" cycles: "):
            time[lines[i + 1].split()[1].split("+")[0]] += int(line.split()[-2])
    return time
whole = collections.Counter()
for line in open("large.folded", encoding="utf-8"):
    stack, value = line.rsplit(" ", 1)
    whole[stack.rsplit(";", 1)[-1].split("+")[0].replace(" ", "_")] += int(value)
thinned = leaves(open("large.perf-script", encoding="utf-8").read())
total = sum(whole.values())
off = sum(abs(thinned[name] - whole[name]) for name in whole | thinned) / total
assert off < 0.2, off
END
}
check "… shared out fairly" fair
check_same "… of samples too" 3 "$("$ASSAY" export --to=perf-script --series=cycles:ppp --samples=3 small.db 2>/dev/null | grep -c ' cycles:ppp: $')"
"$ASSAY" export --to=perf-script --series=cycles:ppp --samples=3 -o thinned.perf-script small.db 2>/dev/null
check_stdout_equals "$samples" "… with all of their time" "$READ" perf-script thinned.perf-script
check_same "--samples=0 is all" "$(wc -l <samples.perf-script)" "$("$ASSAY" export --to=perf-script --series=cycles:ppp --samples=0 small.db | wc -l)"
check_fails 2 'samples is for perf-script' "--samples elsewhere" "$ASSAY" export --to=csv --samples=3 small.db
check_fails 2 'not a number' "--samples of nothing" "$ASSAY" export --to=perf-script --samples=x small.db
check_same "pprof: counts of samples" 7 "$("$READ" pprof-samples samples.pprof)"
check "a profile with a sampler" "$RECORDER" record -q -o model.db --max 2M -- "$STATIC/demo" 1
check "… as pprof" "$ASSAY" export --to=pprof --series=tea -o model.pprof model.db
check_same "pprof: each sample counts once, though it may be of several instructions" \
    "$(python3 -c 'import sqlite3; print(sqlite3.connect("model.db").execute("SELECT samples FROM series WHERE name = \"tea\"").fetchone()[0])')" \
    "$("$READ" pprof-samples model.pprof)"
check "pprof is packed" gzip -t small.pprof
gunzip <small.pprof >unpacked.pprof
check "pprof: --uncompressed is the same without" cmp unpacked.pprof <("$ASSAY" export --to=pprof --uncompressed small.db)
check_same "hostile names stay inside their line" "$(wc -l <small.folded)" "$(wc -l <hostile.folded)"
check_same "hostile names add no function" "$(grep -c '^fn=' small.callgrind)" "$(grep -c '^fn=' hostile.callgrind)"

changed() { # COPY SQL: a copy of the small profile with a change
    cp small.db "$1"
    python3 -c 'import sqlite3, sys; d = sqlite3.connect(sys.argv[1]); d.executescript(sys.argv[2])' "$@"
}
if command -v callgrind_annotate >/dev/null; then
    changed blank.db "UPDATE functions SET name = ' ' WHERE id = 1; UPDATE functions SET name = '_start', file = NULL WHERE id <> 1"
    "$ASSAY" export --to=callgrind -o blank.callgrind blank.db
    annotated() { callgrind_annotate --threshold=100 --inclusive=yes blank.callgrind; }
    check "callgrind: names that are blank or the same" annotated
    check_same "… are nothing to warn of" "" "$err"
    check_same "… a blank name can be seen" 1 "$(grep -c ':" "' <<<"$out")"
    check_same "… namesakes of two objects stay apart" 2 "$(grep -c '??? (.*):_start' <<<"$out")"
else
    skip "callgrind: names that are blank or the same" "callgrind_annotate is not installed"
fi
changed control.db "UPDATE functions SET name = char(27) || '[31m' || char(10) || char(1) || char(127) WHERE id = 0"
control='"\x1b[31m\n\x01\x7f"'
check_json "json has names as they are" "d[\"functions\"][0][\"name\"] == $control" "$ASSAY" export --to=json control.db
check_json "speedscope too" "any(f[\"name\"] == $control for f in d[\"shared\"][\"frames\"])" \
    "$ASSAY" export --to=speedscope control.db
for how in "" --calls "--by instruction" "--diff control.db"; do
    # shellcheck disable=SC2086
    check_json "report --json $how too" "any(r[\"function\"] == $control for r in d[\"rows\"])" \
        "$ASSAY" report --json control.db $how
done
check_json "… under each key" "any(r[\"name\"] == $control for r in d[\"rows\"])" \
    "$ASSAY" report --json control.db --diff control.db

# ---- filters ----

first=$("$ASSAY" export --to=folded --thread=1 small.db | awk '{ n += $NF } END { print n }')
second=$("$ASSAY" export --to=folded --thread=2 small.db | awk '{ n += $NF } END { print n }')
check_same "--thread: each thread's own" "363 102" "$first $second"
check_json "--thread in json" 'len(d["series"]) == 2 and {t["thread"] for s in d["series"] for t in s["times"]} == {1}' \
    "$ASSAY" export --to=json --thread=2 small.db
check_json "--thread given twice is both" 'sum(p["endValue"] for p in d["profiles"]) == 465' \
    "$ASSAY" export --to=speedscope --thread=1 --thread=2 small.db
check_json "json has all series" '[s["name"] for s in d["series"]] == ["golden", "cycles:ppp"]' \
    "$ASSAY" export --to=json small.db
cp small.db assay.db
check_stdout_equals "$(cat small.folded)" "assay.db is the default" "$ASSAY" export --to=folded

# ---- bad input ----

check_fails 2 'unknown format .svg.; the formats are pprof, folded, callgrind, speedscope, perf-script, csv, json' \
    "an unknown format" "$ASSAY" export --to=svg small.db
check_fails 2 'to is missing; the formats are pprof' "no format" "$ASSAY" export small.db
check_fails 2 'one profile at a time' "two profiles" "$ASSAY" export --to=csv small.db large.db
check_fails 2 'uncompressed is for pprof' "--uncompressed elsewhere" "$ASSAY" export --to=csv --uncompressed small.db
check_fails 2 'series=tea: small.db has no series of that name; its series are golden, cycles:ppp' "no such series" "$ASSAY" export --to=csv --series=tea small.db
check_fails 2 'series=tea: small.db has no series of that name; its series are golden, cycles:ppp' "no such series in json" "$ASSAY" export --to=json --series=tea small.db
check_fails 2 'no thread .7' "no such thread" "$ASSAY" export --to=csv --thread=7 small.db
check_fails 2 'no thread .x' "a thread that is no number" "$ASSAY" export --to=csv --thread=x small.db
check_fails 125 'has no series: nothing was measured' "an empty profile" "$ASSAY" export --to=folded empty.db
check "an empty profile in json" "$ASSAY" export --to=json empty.db
check_fails 125 'absent.db' "no such file" "$ASSAY" export --to=csv absent.db
echo "no profile" >text.db
check_fails 125 'text.db' "not a profile" "$ASSAY" export --to=csv text.db
head -c 60000 small.db >cut.db
check_fails 125 'cut.db' "a truncated profile" "$ASSAY" export --to=csv cut.db
check_fails 125 'cannot write no/such/dir/out' "an unwritable output" "$ASSAY" export --to=csv -o no/such/dir/out small.db
for format in $formats; do
    check_fails 125 'No space left' "$format: a full disk" "$ASSAY" export --to="$format" -o /dev/full small.db
done
full() { "$ASSAY" export --to=csv small.db >/dev/full; }
check_fails 125 'No space left' "standard output on a full disk" full
check "nothing is left of what failed" test ! -e no -a -z "$(find . -name '*.part')"
binary() { script -qec "$ASSAY export --to=pprof small.db" /dev/null; }
if command -v script >/dev/null; then
    check_status 2 "no binary for a terminal" binary
else
    skip "no binary for a terminal" "script is not installed"
fi
