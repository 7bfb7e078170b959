#!/usr/bin/env bash
# The commands of the README and of the longer tour work: every block that opens with "```sh ci" runs, in order, in a fresh
# copy of the tree. The first one builds it, by clang where there is one; that build measures what ours measures. Most of it is
# not optimised, so the blocks after the first run our program in its place.
# time-limit: 400
. "$(dirname "$0")/lib.sh"

mkdir copy blocks
(cd "$SOURCE" && tree_files -name '*' | tar -cf - -T -) | tar -xf - -C copy

awk '/^```sh ci$/ { n++; inside = 1; next } /^```/ { inside = 0 } inside { print > sprintf("blocks/%03d", n) }' \
    "$SOURCE/README.md" "$SOURCE/doc/tour.md"
check "there are commands to run" test -e blocks/001
compiler=$(command -v clang || echo cc)
# Compiled without optimisation, which takes half the time; what is compiled is the same. The core model alone is optimised: it
# would run for longer than that saves.
cat >some_optimised <<END
#!/bin/sh
case "\$*" in
*src/core/*.c | *src/observe/*.c | *src/sampler/*.c) exec $compiler "\$@" -O1 -g0 ;;
*src/*.c) exec $compiler "\$@" -O0 -g0 ;;
*) exec $compiler "\$@" -O0 -g1 ;;
esac
END
chmod +x some_optimised
for block in blocks/*; do
    [ -e "$block" ] || continue
    in_copy() { (cd copy && CC=$TMP/some_optimised bash -e "../$block"); }
    check "README: $(head -n 1 "$block")" in_copy
    [ -e copy/build/assay.built ] || { mv copy/build/assay copy/build/assay.built && cp "$ASSAY" copy/build/assay; }
done

same_results "$PWD/copy/build/assay.built" "the build of the README by ${compiler##*/}"
agent_works() { copy/build/assay.built record -q --source=timer --allocations -o agent.db -- python3 -c pass && test -s agent.db; }
check "… its agent works" agent_works
