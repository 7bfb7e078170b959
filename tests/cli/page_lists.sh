#!/usr/bin/env bash
# Objects and branches in the document of the HTML page: they are what report --data and --branches tell, the first
# 2,000 of each with the sum of the others.
# sanitized-only: the document is the same in both builds
. "$(dirname "$0")/lib.sh"

victim=$BUILD/tests/unit/native/data_victim
DATA=$SOURCE/../shared/data/perf
lists() { python3 "$SOURCE/tests/cli/page_lists.py" "$@"; }
# NAME PROFILE SERIES data|- branches|-: what kinds of report this series has
agree() {
    local name=$1 profile=$2 series=$3 kind told=()
    for kind in "$4" "$5"; do
        if [ "$kind" != - ]; then
            check "$name: $kind" "$ASSAY" report --"$kind" --json --limit 0 --series "$series" -o "$kind.json" "$profile"
            kind=$kind.json
        fi
        told+=("$kind")
    done
    check "$name: the page is written" "$ASSAY" report --html page.html "$profile"
    check "$name: its document has the same" lists check page.html "$series" "${told[@]}"
}

python3 "$SOURCE/tests/cli/data_recording.py" pebs "$victim" pebs.data
check "a recording with addresses" "$ASSAY" import -q -o pebs.db pebs.data
agree "addresses of the processor" pebs.db loads data -
agree "another series of them" pebs.db "loads weight" data -
check "many objects and branches" eval 'cp pebs.db many.db && lists grow many.db 2500 2600'
agree "2,500 objects, 2,600 branches" many.db loads data branches
check "a place that is not there" sqlite3 many.db 'UPDATE branches SET target = 99999999 WHERE target = (SELECT max(target) FROM branches)'
check_status 125 "… is refused" "$ASSAY" report --html bad.html many.db
check_same "… and leaves no page" "" "$(ls bad.html 2>/dev/null)"

if "$ASSAY" record --source=timer --user -q --accesses --rate 4000 -o timer.db -- "$victim" all 6000 2>timer.err; then
    agree "addresses worked out" timer.db task-clock data -
else
    skip "addresses worked out" "$(cat timer.err)"
fi

for name in lbr-skylake lbr-throttled pebs-load-latency; do
    if [ ! -e "$DATA/$name.perf.data" ]; then
        skip "$name" "the recording is not there"
        continue
    fi
    check "$name" "$ASSAY" import -q -o "$name.db" "$DATA/$name.perf.data"
    case $name in lbr-*) kinds=(- branches) ;; *) kinds=(data -) ;; esac
    agree "$name" "$name.db" "$(sqlite3 "$name.db" 'SELECT name FROM series ORDER BY id LIMIT 1')" "${kinds[@]}"
done

check "a profile without either" "$ASSAY" record -q --max 50k -o model.db -- "$STATIC/demo" 1
agree "neither" model.db "$(sqlite3 model.db 'SELECT name FROM series ORDER BY id LIMIT 1')" - -
