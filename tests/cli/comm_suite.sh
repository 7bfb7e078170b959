#!/usr/bin/env bash
# suite/comm_run: a line for each run and pictures; draws again from its table; refuses to write nothing.
# plain-only: what it runs (comm) runs under sanitizers in sanitized
. "$(dirname "$0")/lib.sh"

comm() { "$SOURCE/suite/comm_run" --build "$BUILD" --runs 1 --iterations 500 --out comm.csv "$@"; }
check "some parts are measured" comm --parts pairs,sensitivity
check_same "a line for each run" "$((1 + 4 + 4 + 5))" "$(wc -l <comm.csv)"
check "a picture of the matrices" test -s comm-pairs.svg
cp comm.csv before.csv
check "appended: nothing is run again" comm --parts pairs,sensitivity --append
check "… and nothing is lost" cmp before.csv comm.csv
check "false sharing and reads" comm --parts false,read --threads 2
check "their pictures" test -s comm-false.svg -a -s comm-read.svg
rm comm-false.svg
check "drawn again" comm --draw-only
check "… from the table" test -s comm-false.svg
check_status 1 "no such part" comm --parts nosuch
