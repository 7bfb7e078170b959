#!/usr/bin/env bash
# The commands of the README and of the longer tour work: every block that opens with "```sh ci" runs, in order, in a fresh
# copy of the tree. The first one builds it. To compile all of it again takes most of a minute, so it takes objects of src and
# RISC-V programs from our build, which made them in the same way; the plugin, the agent and the other workloads it compiles by clang,
# where there is one. That measures what ours measures.
# time-limit: 400
. "$(dirname "$0")/lib.sh"

mkdir copy blocks
(cd "$SOURCE" && tree_files -name '*' | tar -cf - -T -) | tar -xf - -C copy

awk '/^```sh ci$/ { n++; inside = 1; next } /^```/ { inside = 0 } inside { print > sprintf("blocks/%03d", n) }' \
    "$SOURCE/README.md" "$SOURCE/doc/tour.md"
check "there are commands to run" test -e blocks/001
compiler=$(command -v clang || echo cc)
cat >compiler <<END
#!/bin/sh
for word; do
    case \$word in *.c) file=\$word ;; *.c.o) object=\$word ;; esac
done
case \$file in
*src/plugin/* | *src/agent/*) exec $compiler "\$@" -g0 ;;
*src/*) [ ! -e "$BUILD/\$object" ] || exec cp "$BUILD/\$object" "\$object" ;;
esac
exec $compiler "\$@" -O0 -g1
END
mkdir cross
if cross=$(command -v riscv64-linux-gnu-gcc); then
    cat >cross/riscv64-linux-gnu-gcc <<END
#!/bin/sh
for word; do
    case \$word in workloads/*-riscv64*) [ ! -e "$BUILD/\$word" ] || exec cp "$BUILD/\$word" "\$word" ;; esac
done
exec $cross "\$@"
END
    chmod +x cross/riscv64-linux-gnu-gcc
fi
chmod +x compiler
for block in blocks/*; do
    [ -e "$block" ] || continue
    in_copy() { (cd copy && CC=$TMP/compiler PATH=$TMP/cross:$PATH bash -e "../$block"); }
    check "README: $(head -n 1 "$block")" in_copy
done

same_results "$PWD/copy/build/assay" "the build of the README, parts of it by ${compiler##*/}"
agent_works() { copy/build/assay record -q --source=timer --allocations -o agent.db -- python3 -c pass && test -s agent.db; }
check "… its agent works" agent_works
