#!/usr/bin/env bash
# Habits that a machine can hold: file names, lengths, and which part may include which.
. "$(dirname "$0")/lib.sh"

code=$(tree_files -name '*.[chS]')
check_same "C files have unique names" "" "$(awk -F/ '{ print $NF }' <<<"$code" | sort | uniq -d)"

long=$(cd "$SOURCE" && xargs -d '\n' wc -l <<<"$code" | awk '$1 > 1000 && $2 != "total"')
check_same "no C file is longer than 1000 lines" "" "$long"

bare=$(cd "$SOURCE" && python3 -IS -c 'import sys; print(*(one for one in sys.stdin.read().split("\n")[:-1] if open(one, "rb").read(2) != b"/*"), sep="\n")' <<<"$code")
check_same "C files open with a comment" "" "$bare"

layers=$SOURCE/tests/tree/layers.py
check_same "includes are those of ARCHITECTURE.md" "" "$(python3 "$layers" "$SOURCE")"

# A scratch tree that is right, and then wrong in one way at a time: what the checker says of it.
scratch=$TMP/tree
write_tree() {
    rm -rf "$scratch"
    mkdir -p "$scratch"/src/{top,middle,low}
    printf '| `src/%s` | it | %s | %s |\n' top 'middle, low/special.h' nothing middle 'low, assay' middle.h \
        low nothing low.h >"$scratch/ARCHITECTURE.md"
    printf '#include "%s"\n' middle/middle.h low/special.h top/own.h >"$scratch/src/top/top.c"
    printf '#include "%s"\n' low/low.h assay/insn.h >"$scratch/src/middle/middle.h"
}
layers_say() { # LABEL EXPECTED
    check_same "layers: $1" "$2" "$(python3 "$layers" "$scratch")"
}
write_tree
layers_say "a tree that is right" ""
echo '#include "low/low.h"' >>"$scratch/src/top/top.c"
layers_say "a folder that is not named" "src/top/top.c:4: includes low/low.h: the row of src/top does not name low"
write_tree
echo '#include "top/own.h"' >>"$scratch/src/low/low.c"
layers_say "a folder above" "src/low/low.c:1: includes top/own.h: the row of src/low does not name top"
write_tree
echo '#include "middle/private.h"' >>"$scratch/src/top/top.c"
layers_say "a header that is not offered" "src/top/top.c:4: includes middle/private.h: src/middle does not offer it"
write_tree
echo '#include "own.h"' >>"$scratch/src/top/top.c"
layers_say "a header without its folder" 'src/top/top.c:4: "own.h" does not name its folder'
write_tree
echo '#include <middle/private.h>' >>"$scratch/src/top/top.c"
layers_say "a header in angle brackets" "src/top/top.c:4: includes middle/private.h: src/middle does not offer it"
write_tree
echo '#include "middle/../low/low.h"' >"$scratch/src/top/table.inc"
layers_say "a way around, in a file of another kind" "src/top/table.inc:1: includes middle/../low/low.h: name the folder itself"
for line in '#include"low/low.h"' '#include /**/ "low/low.h"' '/* */#include "low/low.h"' '#inc\\\nlude "low/low.h"' '%%:include "low/low.h"'; do
    write_tree
    # shellcheck disable=SC2059 # \n is the end of a line
    printf "$line\n" >"$scratch/src/top/table.def"
    layers_say "written as ${line%%"\n"*}" "src/top/table.def:1: includes low/low.h: the row of src/top does not name low"
done
for line in '#import "low/low.h"' '#include LOW_H' '#include_next <low/low.h>'; do
    write_tree
    echo "$line" >"$scratch/src/top/table.def"
    layers_say "$line" 'src/top/table.def:1: an include that names no header: write #include "FOLDER/NAME"'
done
write_tree
printf '/* as in\n#include "low/low.h"\n*/\n' >>"$scratch/src/top/top.c"
layers_say "an include in a comment is none" ""
mkdir -p "$scratch/include/assay"
printf '#include "%s"\n' assay/pipe.h low/low.h >"$scratch/include/assay/insn.h"
layers_say "a public header" "include/assay/insn.h:2: includes low/low.h: include/assay is public"
write_tree
sed -i 's/low.h |$/low.h, absent.h |/' "$scratch/ARCHITECTURE.md"
layers_say "a header that nobody takes" "ARCHITECTURE.md: src/low offers absent.h, which no other folder includes"
write_tree
sed -i '$d' "$scratch/src/middle/middle.h"
layers_say "a name that is not used" "ARCHITECTURE.md: src/middle names assay, which it does not include"
write_tree
sed -i 's/nothing | low.h/top | low.h/' "$scratch/ARCHITECTURE.md"
layers_say "a row that names one above it" "ARCHITECTURE.md: src/low names top, which is not a row below it"
write_tree
mkdir "$scratch/src/new"
layers_say "a folder without a row" "ARCHITECTURE.md: there is no row for src/new"
rmdir "$scratch/src/new" && rm -r "$scratch/src/low"
layers_say "a row without a folder" "ARCHITECTURE.md: there is no folder src/low"
write_tree
echo '#include "low/low.h"' >>"$scratch/src/top/top.c"
python3 "$layers" "$scratch" >/dev/null
check_same "layers: the status of a wrong tree" 1 $?

check_same "nobody but store knows SQL" "" "$(cd "$SOURCE" && grep -rln 'sqlite3' src --include='*.[ch]' | grep -v '^src/store/')"
check_same "view writes nothing" "" "$(cd "$SOURCE" && grep -nE 'base/(json|csv)\.h|FILE \*' src/view/*.[ch])"
check_same "the agent in the program includes nobody" "" "$(cd "$SOURCE" && grep -nE '^#include "(base|assay)/' src/agent/agent_{start,sites,calls}.c src/agent/agent.h src/agent/agent_wire.h)"
check_same "import and record do not print" "" "$(cd "$SOURCE" && grep -nE '\bas_log_(error|warn|note)|\b(printf|puts) ?\(|\bstderr\b|\bstdout\b' src/{import,record}/*.[ch])"
