#!/usr/bin/env bash
# assay merge: profiles of the model, of this machine and of perf, wherever the program was loaded; weights; what is
# refused; files that are no profiles; being killed.
# sanitized-only: what is merged is the same in both builds; the plain one merges in record (--repeat)
# time-limit: 240
. "$(dirname "$0")/lib.sh"

demo=$STATIC/demo
rows() { python3 -IS -c 'import sqlite3, sys; print(*sqlite3.connect(sys.argv[1]).execute(sys.argv[2]).fetchall(), sep="\n")' "$@"; }

# ---- the model ----

for i in 1 2; do "$RECORDER" record -q -o "m$i.db" --max 300k -- "$demo" "$i" >/dev/null; done
check "two runs in the model" "$ASSAY" merge m1.db m2.db -o m.db
check_same "says what it did" "assay: 2 profiles merged into m.db" "$err"
sum="SELECT sum(units) FROM times t JOIN series s ON s.id = t.series WHERE s.name = 'golden'"
check_same "all cycles of both" $(($(one m1.db "$sum") + $(one m2.db "$sum"))) "$(one m.db "$sum")"
check_same "the parts add up" "$(one m.db "$sum")" "$(one m.db "${sum/times/components}")"
check_same "both runs" 2 "$(one m.db 'SELECT count(*) FROM runs')"
check_same "one program" "$(one m1.db 'SELECT count(*) FROM modules')" "$(one m.db 'SELECT count(*) FROM modules')"
exact() { "$ASSAY" report m.db | grep -cE 'error 0.00 %: every cycle|^2 runs merged: '; }
check_stdout_equals 2 "the report: exact, and of two runs" exact
check_json "JSON" 'd["meta"]["merged"] == "2" and len(d["runs"]) == 2' "$ASSAY" export --to=json m.db
check_same "one process with one thread" "1 1" "$(one m.db "SELECT group_concat(value, ' ') FROM counters WHERE name IN ('processes', 'threads')")"
started() { # the number in the note on start-up; 0: there is none
    one "$1" "SELECT coalesce((SELECT replace(substr(text, instr(text, '(') + 1, instr(text, ')') - instr(text, '(') - 1), ',', '')
        FROM quality WHERE key = 'start_up'), 0)"
}
for i in 1 2; do "$RECORDER" record -q -o "s$i.db" --max "${i}50k" -- "$WORKLOADS/demo" "$i" >/dev/null; done
check "two runs with much start-up" "$ASSAY" merge -q s1.db s2.db -o s.db
check_same "… which is counted in both" "$(($(started s1.db) + $(started s2.db)))" "$(started s.db)"
check_same "… as a share of all instructions" 1 "$(one s.db "SELECT abs(value * (SELECT value FROM meta WHERE key = 'instructions') -
    $(started s.db)) < 1 FROM quality WHERE key = 'start_up'")"
check "one profile" "$ASSAY" merge -q m1.db -o same.db
dump() { python3 -IS -c 'import sqlite3, sys; print(*sqlite3.connect(sys.argv[1]).iterdump(), sep="\n")' "$1" | md5sum; }
check_same "… is itself" "$(dump m1.db)" "$(dump same.db)"
check "the other way round" "$ASSAY" merge -q -o r.db -- m2.db m1.db
functions="SELECT f.name, sum(units) FROM times t JOIN instructions i ON i.id = t.instruction LEFT JOIN functions f
    ON f.id = i.function WHERE series = 0 GROUP BY f.name ORDER BY f.name"
check_same "… gives the same times" "$(rows m.db "$functions")" "$(rows r.db "$functions")"

check "weights" "$ASSAY" merge -q --weights=0.25,1/3 m1.db m2.db -o w.db
scaled="SELECT cast(round(12.0 * sum(units) / s.scale) AS INTEGER) FROM times t JOIN series s ON s.id = t.series WHERE s.name = 'golden'"
check_same "… scale times exactly" "$(($(one m1.db "SELECT value FROM meta WHERE key = 'cycles'") * 3 +
    $(one m2.db "SELECT value FROM meta WHERE key = 'cycles'") * 4))" "$(one w.db "$scaled")"
weighted() { "$ASSAY" report w.db | grep -c 'error 0.00 %: every cycle'; }
check_stdout_equals 1 "… and the result is still exact" weighted
says() { "$ASSAY" report w.db | tr -s ' \n' ' ' | grep -co 'note: WEIGHTED: merged profiles count by their weights (0.25, 0.333333); instructions'; }
check_stdout_equals 1 "… and a report says so" says
check "a weighted one is merged again" "$ASSAY" merge -q --weights=2 w.db -o ww.db
check_same "… and says so once" 1 "$(one ww.db "SELECT count(*) FROM quality WHERE key = 'weights'")"
check_same "one without weights does not" 0 "$(one m.db "SELECT count(*) FROM quality WHERE key = 'weights'")"
check_same "what was merged" "1/4	1	m1.db 1/3	1	m2.db" \
    "$(one w.db "SELECT replace(trim(value, char(10)), char(10), ' ') FROM meta WHERE key = 'merged_inputs'")"

# ---- this machine: other addresses every time ----

if "$RECORDER" record -q --source=timer -o t1.db -- "$demo" 20 >/dev/null 2>&1; then
    "$RECORDER" record -q --source=timer -o t2.db -- "$demo" 20 >/dev/null
    check "two native runs" "$ASSAY" merge -q t1.db t2.db -o t.db
    samples="SELECT samples FROM series"
    check_same "all samples" $(($(one t1.db "$samples") + $(one t2.db "$samples"))) "$(one t.db "$samples")"
    check_same "… on instructions" "$(one t.db 'SELECT sum(samples) FROM times')" "$(one t.db "$samples")"
    check_same "the program is one module" 1 "$(one t.db "SELECT count(*) FROM modules WHERE path LIKE '%/demo'")"
    check_same "one instruction a place" 0 "$(one t.db 'SELECT count(*) FROM (SELECT 1 FROM instructions GROUP BY module,
        address, bytes HAVING count(*) > 1)')"
    check_same "one function a place" 0 "$(one t.db 'SELECT count(*) FROM (SELECT 1 FROM functions GROUP BY module,
        address, name HAVING count(*) > 1)')"
    check "a call tree" "$ASSAY" report --calls t.db
    check_fails 125 'different cores|cannot be merged|architectures' "the model and this machine" "$ASSAY" merge m1.db t1.db -o no.db
    check "more runs than are open at a time" "$ASSAY" record -q --source=timer -o many.db --repeat 70 -- "$STATIC/nothing"
    check_same "… are all there" "70 70" "$(one many.db "SELECT count(*) || ' ' || max(number) FROM runs")"
    check_same "… which the profile says" 70 "$(one many.db "SELECT value FROM meta WHERE key = 'merged'")"
    check_same "… with their samples" "$(one many.db 'SELECT sum(samples) FROM runs')" "$(one many.db "$samples")"
else
    skip "native runs" "record --source=timer does not work here"
fi

# ---- perf script ----

cat >a.txt <<'TXT'
demo 11/11 1.000000: 100 cycles:
	            1010 inner+0x10 (/opt/demo)
	            2020 main+0x20 (/opt/demo)

TXT
sed 's/11\/11/12\/12/; s/1010 inner+0x10/1014 inner+0x14/' a.txt >b.txt
"$ASSAY" import -q -o a.db a.txt && "$ASSAY" import -q -o b.db b.txt
check "two imports" "$ASSAY" merge -q a.db b.db -o i.db
check_same "both samples" "2 200" "$(one i.db 'SELECT sum(samples) || " " || sum(units) FROM times')"
check_same "one thread, by its name" 1 "$(one i.db 'SELECT count(*) FROM threads')"
check_same "one function" 1 "$(one i.db "SELECT count(*) FROM functions WHERE name = 'inner'")"
check_same "one path to it" 1 "$(one i.db "SELECT count(*) FROM paths p JOIN functions f ON f.id = p.function WHERE f.name = 'inner'")"

# ---- an older format ----

make_old() { python3 -c 'import sqlite3, sys
db = sqlite3.connect("v1.db")
db.executescript(open(sys.argv[1]).read())
db.executescript("PRAGMA application_id = 1098077049; PRAGMA user_version = 1")' "$SOURCE/tests/golden/profile_v1.sql"; }
check "a profile of version 1" make_old
check "… is merged" "$ASSAY" merge -q v1.db -o v2.db
check_same "… into the newest" 6 "$(one v2.db 'PRAGMA user_version')"
check_same "… with its time" "$(one v1.db 'SELECT sum(units) FROM times')" "$(one v2.db 'SELECT sum(units) FROM times')"

# ---- wrong usage and bad files ----

refuse() { check_fails "$@"; check_same "… and writes nothing" no "$([ -e no.db ] && echo yes || echo no)"; }
refuse 2 '-o is missing' "no output" "$ASSAY" merge m1.db m2.db
refuse 2 'no profiles given' "no input" "$ASSAY" merge -o no.db
refuse 2 'm1.db is given twice' "one twice" "$ASSAY" merge m1.db ./m1.db -o no.db
cp m1.db copy.db
refuse 2 'm1.db and copy.db have a recording in common' "a copy" "$ASSAY" merge m1.db copy.db -o no.db
refuse 2 'm.db and m2.db have a recording in common' "a part of a merged one" "$ASSAY" merge m.db m2.db -o no.db
refuse 2 'w.db and m.db have a recording in common' "two merged ones, by force" "$ASSAY" merge --force w.db m.db -o no.db
refuse 2 'has 1 weight for 2' "too few weights" "$ASSAY" merge --weights=1 m1.db m2.db -o no.db
for list in ',1' '1,,2' '1,2,'; do
    refuse 2 'a weight is empty' "an empty weight in $list" "$ASSAY" merge --weights=$list m1.db m2.db -o no.db
done
refuse 2 'up to 18 digits' "a weight of 20 digits" "$ASSAY" merge --weights=18446744073709551615,1 m1.db m2.db -o no.db
refuse 2 'has 3 weights for 2' "too many weights" "$ASSAY" merge --weights=1,2,3 m1.db m2.db -o no.db
for weight in 0 -1 x 1/0 1e3; do
    refuse 2 "is not a weight" "a weight of '$weight'" "$ASSAY" merge --weights="$weight,1" m1.db m2.db -o no.db
done
refuse 125 '63 bits' "weights with too many digits" "$ASSAY" merge --weights=0.0000000000001,0.3333333333333333 m1.db m2.db -o no.db
before=$(dump m1.db)
check_fails 2 'is an input' "an input as the output" "$ASSAY" merge m1.db m2.db -o m1.db
check_same "… which is as it was" "$before" "$(dump m1.db)"
refuse 125 'there is no file absent.db' "a missing file" "$ASSAY" merge m1.db absent.db -o no.db
head -c 20000 m2.db >cut.db
refuse 125 'cut.db is truncated' "a truncated file" "$ASSAY" merge m1.db cut.db -o no.db
echo nothing >text.db
refuse 125 'text.db is not an Assay profile' "not a profile" "$ASSAY" merge m1.db text.db -o no.db
refuse 125 'is a directory' "a directory" "$ASSAY" merge m1.db . -o no.db
"$RECORDER" record -q -o other.db --max 100k -- "$STATIC/nothing"
refuse 125 'different programs' "another program" "$ASSAY" merge m1.db other.db -o no.db
check "… by force" "$ASSAY" merge -q --force m1.db other.db -o forced.db
check "… and a report names both" grep -q "^${demo##*/} and nothing on " <("$ASSAY" report forced.db)
file_limit() { (ulimit -f 100 && "$ASSAY" merge -q m1.db m2.db -o no.db); }
refuse 125 'cannot write no.db: File too large' "a limit of the size of files" file_limit
"$RECORDER" record -q -o wide.db --max 100k --set back.rob=32 -- "$demo" 1 >/dev/null
refuse 125 'cores with different parameters' "another core" "$ASSAY" merge m1.db wide.db -o no.db
"$RECORDER" record -q -o bare.db --max 100k --golden off -- "$demo" 1 >/dev/null
refuse 125 '1 of 2 have the series golden' "without the reference" "$ASSAY" merge m1.db bare.db -o no.db
check "… by force" "$ASSAY" merge --force m1.db bare.db -o forced.db
check_same "… which says what is left out" 1 "$(grep -c 'series golden is left out' <<<"$err")"

# ---- killed ----

killed() {
    mkdir -p dir
    "$ASSAY" merge -q m1.db m2.db -o dir/out.db & local pid=$!
    sleep "$1"
    kill -9 $pid 2>/dev/null
    wait $pid 2>/dev/null
    if [ -e dir/out.db ]; then "$ASSAY" report dir/out.db >/dev/null || echo damaged; fi
    rm -f dir/out.db
    ls -A dir
}
for delay in 0 0.01 0.03 0.1; do
    check_stdout_equals "" "killed after $delay s: whole or not there, and nothing else" killed "$delay"
done

# ---- parts of runs ----
"$RECORDER" record -q --max 20k -o part1.db -- true
"$RECORDER" record -q --max 30k -o part2.db -- true
"$ASSAY" merge -q part1.db part2.db -o parts.db
check_json "different parts are not the whole run" 'd["summary"]["part"] == "a different part" and "this part" in d["summary"]["error_how"]' \
    "$ASSAY" report --json parts.db
