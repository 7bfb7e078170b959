#!/usr/bin/env bash
# suite/run: measures a program, leaves out what is not installed, keeps the other lines, refuses to write nothing.
# plain-only: what it runs (compare) runs under sanitizers in sanitized
# time-limit: 300
DEFAULT_CORE=boom-tip
. "$(dirname "$0")/lib.sh"

suite() { "$SOURCE/suite/run" --assay "$ASSAY" --scale 0.002 --out results.csv "$@"; }
lines() { python3 -c 'import csv; print(*(row["program"] for row in csv.DictReader(open("results.csv"))))'; }
check "a program is measured" suite --only gzip
check_stdout_equals "gzip" "… and has a line" lines
check "… with the errors at other periods" grep -q '^gzip,1009,' results-periods.csv
check "… and pictures" test -s results.svg -a -s results-stacks.svg -a -s results-periods.svg
check "another one joins it" suite --only lz4,bzip2 --keep
check_stdout_equals "bzip2 gzip lz4" "… sorted" eval 'lines | tr " " "\n" | sort | xargs'
cp results.csv first.csv
check "again" suite --only gzip --keep
check "… gives the same bytes" cmp first.csv results.csv
check_status 1 "no program of that name is an error" suite --only nosuch
check "… that leaves the results alone" cmp first.csv results.csv
