#!/usr/bin/env bash
# suite/tea_run: measures a program in all its parts, keeps the other lines, refuses to write nothing.
# plain-only: what it runs (compare, record) runs under sanitizers in sanitized
# time-limit: 300
. "$(dirname "$0")/lib.sh"

tea() { "$SOURCE/suite/tea_run" --assay "$ASSAY" --scale 0.002 --out tea.csv "$@"; }
lines() { python3 -c 'import csv, sys; print(*(row["program"] for row in csv.DictReader(open(sys.argv[1]))))' "$1"; }
check "a program is measured" tea --only gzip
check_stdout_equals "gzip" "… and has a line" lines tea.csv
check "… with the errors at other periods" grep -q '^gzip,1009,' tea-periods.csv
check_same "… a line for each of the nine events" 9 "$(grep -c '^gzip,' tea-events.csv)"
check_same "… for each set of events" 3 "$(grep -c '^gzip,' tea-stalls.csv)"
check_same "… the top instructions as three series see them" "golden ibs tea" \
    "$(grep -oE '(golden|tea|ibs),[A-Z][A-Za-z0-9+-]*,[0-9.]+$' tea-top.csv | cut -d, -f1 | sort -u | xargs)"
check "… and pictures" test -s tea.svg -a -s tea-levels.svg -a -s tea-top.svg -a -s tea-events.svg -a -s tea-stalls.svg
check "another one joins it" tea --part errors --only lz4 --keep
check_stdout_equals "gzip lz4" "… in the order of the table" lines tea.csv
cp tea.csv first.csv
check "again" tea --part errors --only lz4 --keep
check "… gives the same bytes" cmp first.csv tea.csv
check_status 1 "no program of that name is an error" tea --only nosuch
check "… that leaves the results alone" cmp first.csv tea.csv
check_status 2 "nor a part of that name" tea --part nosuch
