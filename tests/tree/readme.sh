#!/usr/bin/env bash
# The commands of the README and of the longer tour work: every block that opens with "```sh ci" runs, in order, in a fresh
# copy of the tree.
# time-limit: 400
. "$(dirname "$0")/lib.sh"

mkdir copy blocks
(cd "$SOURCE" && tree_files -name '*' | tar -cf - -T -) | tar -xf - -C copy

awk '/^```sh ci$/ { n++; inside = 1; next } /^```/ { inside = 0 } inside { print > sprintf("blocks/%03d", n) }' \
    "$SOURCE/README.md" "$SOURCE/doc/tour.md"
check "there are commands to run" test -e blocks/001
for block in blocks/*; do
    [ -e "$block" ] || continue
    # Compiled without optimisation, which takes half the time; what is compiled and run is the same.
    in_copy() { (cd copy && CFLAGS=-O0 bash -e "../$block"); }
    check "README: $(head -n 1 "$block")" in_copy
done
