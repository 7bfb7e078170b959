#!/usr/bin/env bash
# Where results go: no profile is lost to a report, permissions and links stay, "-" is standard output, and what
# cannot be written is named.
# plain-only: it is about files; what it writes is written under sanitizers by the suites of each verb
# time-limit: 120
. "$(dirname "$0")/lib.sh"

check "a profile" "$ASSAY" record -q -o own.db --max 1M -- "$STATIC/demo" 1
cp own.db other.db
ln own.db hard.db
ln -s own.db soft.db
ln -s soft.db chain.db
before=$(sha256sum own.db other.db)

# ---- profiles stay ----

lost='is an Assay profile, which would be lost'
for name in own.db hard.db soft.db chain.db ./own.db "$PWD/own.db" other.db; do
    check_fails 2 "$lost" "report -o $name" "$ASSAY" report own.db -o "$name"
    check_fails 2 "$lost" "report --html $name" "$ASSAY" report own.db --html "$name"
    check_fails 2 "$lost" "export -o $name" "$ASSAY" export --to=folded -o "$name" own.db
done
check_fails 2 "$lost" "report --diff" "$ASSAY" report own.db --diff other.db -o other.db
check_fails 2 "$lost" "report --json" "$ASSAY" report own.db --json -o own.db
check_fails 2 "$lost" "annotate" "$ASSAY" annotate main own.db -o own.db
check_fails 2 "$lost" "stat" "$ASSAY" stat -o own.db -- true
check_fails 2 "$lost" "script" "$ASSAY" script -o own.db -- true
check_fails 2 "$lost" "compare" "$ASSAY" compare -o own.db -- true
check_fails 2 "$lost" "whatif" "$ASSAY" whatif -o own.db --remove main -- true
cp own.db assay.db
check_fails 2 "$lost" "an option that takes the profile for its value" "$ASSAY" report --html assay.db
check "assay.db is whole" cmp own.db assay.db
check_same "nothing of them changed" "$before" "$(sha256sum own.db other.db)"
check_same "links are links" "own.db soft.db" "$(readlink soft.db) $(readlink chain.db)"
echo text >old.txt
check "other files are replaced" "$ASSAY" report own.db -o old.txt
check "… with the report" grep -q main old.txt

# ---- permissions and links ----

chmod 600 own.db old.txt
check "a profile is recorded again" "$ASSAY" record -q -o own.db --max 100k -- "$STATIC/nothing"
check_same "… with the permissions that it had" 600 "$(stat -c %a own.db)"
check "a report is written again" "$ASSAY" report own.db -o old.txt
check_same "… with the permissions that it had" 600 "$(stat -c %a old.txt)"
(umask 027 && "$ASSAY" report own.db -o new.txt)
check_same "a new one has those of the umask" 640 "$(stat -c %a new.txt)"
mkdir far
for name in page.html list.txt run.db; do ln -s "far/$name" "to-$name"; done
check "a page behind a link to nothing" "$ASSAY" report own.db --html to-page.html
check "a report behind one" "$ASSAY" report own.db -o to-list.txt
check "a profile behind one" "$ASSAY" record -q -o to-run.db --max 100k -- "$STATIC/nothing"
check_same "all are where the links lead" "list.txt page.html run.db" "$(cd far && echo *)"
check "a report behind a link to a file" "$ASSAY" report own.db --json -o to-list.txt
check_same "… leaves the link" "far/list.txt" "$(readlink to-list.txt)"
ln -s loop loop
check_fails 125 'cannot write loop' "links in a circle" "$ASSAY" report own.db -o loop
check_fails 125 'cannot write loop' "… for a profile" "$ASSAY" record -q -o loop -- true

# ---- standard output ----

report=$("$ASSAY" report own.db)
check_stdout_equals "$report" "report -o -" "$ASSAY" report own.db -o -
check_stdout_equals "$("$ASSAY" export --to=csv own.db)" "export -o -" "$ASSAY" export --to=csv -o - own.db
check_json "annotate -o -" 'len(d) > 0' "$ASSAY" annotate main other.db --json -o -
check_json "stat -o -" 'd["instructions"] > 0' "$ASSAY" stat --json -o - -- echo text
check_same "… and the program's own goes elsewhere" text "$err"
check "report --html -" "$ASSAY" report own.db --html -
check "… is the page" grep -qi '<!doctype html>' <<<"$out"
# By its other names it is what the shell opened: what others write there stays.
sides() { { echo before && "$ASSAY" report own.db -o "$1" && echo after; } >sides.txt; }
ln -s /dev/stdout to-stdout
for name in /dev/stdout /dev/fd/1 /proc/self/fd/1 to-stdout; do
    check "report -o $name, into a file" sides "$name"
    check_same "… between what others wrote" $'before\n'"$report"$'\nafter' "$(cat sides.txt)"
done
check_same "links are still links" "/dev/stdout /proc/self/fd/1" "$(readlink to-stdout /dev/stdout | tr '\n' ' ' | sed 's/ $//')"
check_fails 125 'cannot write /dev/fd/99: Bad file descriptor' "a descriptor that is not open" "$ASSAY" report own.db -o /dev/fd/99
check_fails 2 'not standard output' "record -o -" "$ASSAY" record -o - -- true
check_fails 2 'a file of its own' "record -o /dev/stdout" "$ASSAY" record -o /dev/stdout -- true
check_same "there is no file of that name" "" "$(find . -name '-*')"
check "./- is one" "$ASSAY" report own.db -o ./-
check "… with the report in it" test -s ./-

# ---- what fails ----

check_fails 125 'cannot write /dev/full: No space left' "a page on a full disk" "$ASSAY" report own.db --html /dev/full
check_fails 125 'cannot write /dev/full: No space left' "an export on a full disk" \
    "$ASSAY" export --to=json -o /dev/full own.db
full() { "$ASSAY" report own.db --html - >/dev/full; }
check_fails 125 'standard output: No space left' "a page to a full standard output" full
check_same "nothing is left of what failed" "" "$(find . -name '*.part*')"

# ---- two results in one file ----
# All but the last would be lost; the program does not even run.
both='cannot write to one file'
run_twice() { check_fails 2 "--$1 and --$2 $both" "--$1 and --$2 with one name" "$ASSAY" "${@:3}"; }
run_twice output commit-csv compare -o both.txt --commit-csv=both.txt -- touch ran
run_twice konata flame compare --konata=./both.txt --flame="$PWD/both.txt" -- touch ran
run_twice bb simpoints points --bb=both.txt --simpoints=both.txt --weights=both.txt -- touch ran
run_twice output perf-data record --source=pmu:skylake -o both.db --perf-data=both.db -- touch ran
run_twice output perf-data record --source=pmu:skylake --perf-data=./assay.db -- touch ran
run_twice markdown junit report own.db --diff other.db --fail-over 5 --markdown=both.txt --junit=both.txt
run_twice html output report own.db --html=both.txt -o both.txt
ln -s both.txt to-both.txt
run_twice html output report own.db --html=both.txt -o to-both.txt
ln old.txt hard.txt
run_twice html output report own.db --html=old.txt -o hard.txt
check_fails 2 "--output and --observer $both" "--output and an observer with one name" "$ASSAY" compare -o both.txt --observer flame,./both.txt -- touch ran
check_fails 2 "observers of two machines $both" "an observer of two machines" "$ASSAY" compare --core boom-tip,boom-tea --observer flame,both.txt -- touch ran
check_same "nothing ran, and nothing was written" "" "$(find . -name ran -o -name both.txt -o -name both.db)"
check "a device takes several" "$ASSAY" compare -q -o /dev/null --commit-csv=/dev/null --max 1k -- "$STATIC/nothing"

# ---- numbers are read at a glance ---------------------------------------------------------------------------------------
# What a program prints itself is left out by -o; addresses and sizes in hexadecimal, line numbers and fractions are no counts.
bare_numbers() { grep -nE '(^|[ (])[0-9]{5,}([ ),:;]|$)' "$@"; }
check "texts of all kinds" bash -c '
    set -e; demo=$2/demo
    "$1" report own.db >report.txt; "$1" report --calls own.db >calls.txt; "$1" report --by instruction --limit 20 own.db >rows.txt
    "$1" stat -o stat.txt -- "$demo" 1; "$1" blocks -o blocks.txt -- "$demo" 1
    "$1" points --interval=100k -o points.txt -- "$2/lattice" 1; "$1" compare --max 200k -o compare.txt -- "$demo" 1
    "$1" reuse --max 200k -o reuse.txt -- "$demo" 1; "$1" whatif --max 200k --ideal ST-LLC -o whatif.txt -- "$demo" 1' - "$ASSAY" "$WORKLOADS"
check_same "… have thousands separators" "" "$(bare_numbers {report,calls,rows,stat,blocks,points,compare,reuse,whatif}.txt)"

# ---- a run that takes long says how far it is --------------------------------------------------------------------------
# The lines of a log, from the first hundredth of a second on.
log_of() { ASSAY_PROGRESS=0.01 "$ASSAY" "$@" -- "$STATIC/demo" 1; }
for verb in "record --max 3M -o long.db" stat; do
    # shellcheck disable=SC2086 # words
    check "${verb%% *} off a terminal" log_of $verb
    check "… has lines about its progress" grep -Eq '^assay: running for [0-9]+ s: [0-9]+ M instructions, [0-9.]+ MIPS' <<<"$err"
    check "… at growing distances" test "$(grep -c '^assay: running' <<<"$err")" -le $((16 + SECONDS / 60))
done
# Instructions that are only counted are progress, too: of the few that are measured a line would say 0 M all the time.
skipping() { ASSAY_PROGRESS=0.01 "$ASSAY" record -o skipped.db --skip 150M --max 1000 -- "$STATIC/demo" 60; }
check "a run that leaves most of the program out" skipping
check "… counts all of it as progress" grep -Eq '^assay: running for [0-9]+ s: [1-9][0-9]* M instructions' <<<"$err"
check "a run of unknown length" env ASSAY_PROGRESS=0.01 "$ASSAY" record -o long.db -- "$STATIC/lattice" 1
check "… tells how far it is" grep -q '^assay: running' <<<"$err"
check_same "… promises no end" "" "$(grep 'to go' <<<"$err")"
# On a terminal the program's own output must begin on a line of its own.
on_terminal() {
    python3 -IS - "$ASSAY" stat -- "$STATIC/demo" 1 <<'END_PY'
import os, pty, sys
os.environ["ASSAY_PROGRESS"] = "0.01"
seen = bytearray()
def keep(fd):
    data = os.read(fd, 4096)
    seen.extend(data)
    return data
status = pty.spawn(sys.argv[1:], keep)
sys.exit(status != 0 or b"\r\x1b[Kassay" in seen or b"assay: running for" not in seen)
END_PY
}
check "progress beside the output of the program has lines of its own" on_terminal
slow_writing() { ASSAY_PROGRESS=0.000001 "$ASSAY" "$@"; }
check "a profile that takes long to write" slow_writing record --max 3M -o long.db -- "$STATIC/demo" 1
check "… has a line about it" grep -Eq '^assay: writing the profile for [0-9]+ s: [0-9.]+ M rows' <<<"$err"
check "with -q" log_of record -q --max 3M -o long.db
check_same "… there are none" "" "$err"
check "with 0" "$ASSAY" stat -- "$STATIC/demo" 1
check_same "… there are none, however long it takes" "" "$(grep "^assay: running" <<<"$err")"
