#!/usr/bin/env bash
# Habits that a machine can hold: file names, lengths, and which part may include which.
. "$(dirname "$0")/lib.sh"

code=$(tree_files -name '*.[chS]')
check_same "C files have unique names" "" "$(awk -F/ '{ print $NF }' <<<"$code" | sort | uniq -d)"

long=$(cd "$SOURCE" && xargs -d '\n' wc -l <<<"$code" | awk '$1 > 1000 && $2 != "total"')
check_same "no C file is longer than 1000 lines" "" "$long"

bare=$(cd "$SOURCE" && while read -r file; do head -c 2 "$file" | grep -q '^/\*' || echo "$file"; done <<<"$code")
check_same "C files open with a comment" "" "$bare"

# includes PART OTHER…: the includes in src/PART of headers of the others.
includes() {
    local part=$1 others
    shift
    others=$(IFS='|' && echo "$*")
    (cd "$SOURCE" && grep -rnE "^#include \"($others)/" "src/$part" --include='*.[ch]')
}
check_same "base includes nobody" "" "$(includes base isa symbol engine plugin native count core cmd)"
check_same "store includes base alone" "" "$(includes store isa symbol engine plugin native count core observe sampler model cmd)"
check_same "nobody but store knows SQL" "" "$(cd "$SOURCE" && grep -rln 'sqlite3' src --include='*.[ch]' | grep -v '^src/store/')"
check_same "page includes base alone" "" "$(includes page isa symbol engine plugin native count core observe sampler model store cmd)"
check_same "report writes values of view alone" "" "$(includes report isa symbol engine plugin native watch perfdata count core observe sampler model cmd)"
check_same "view reads profiles alone" "" "$(includes view page report isa engine plugin native watch perfdata count core observe sampler model cmd)"
check_same "view writes nothing" "" "$(cd "$SOURCE" && grep -nE 'base/(json|csv)\.h|FILE \*' src/view/*.[ch])"
check_same "export includes base and store alone" "" "$(includes export page isa symbol engine plugin native watch perfdata count core observe sampler model report cmd)"
check_same "isa includes base alone" "" "$(includes isa symbol engine plugin native count core cmd)"
check_same "symbol includes base and isa alone" "" "$(includes symbol engine plugin native count core cmd)"
check_same "engine knows neither native nor core nor cmd" "" "$(includes engine native count core cmd)"
check_same "native knows neither engine nor core nor cmd" "" "$(includes native engine plugin count core cmd)"
check_same "plugin knows no command" "" "$(includes plugin native count core cmd)"
check_same "count knows neither native nor cmd" "" "$(includes count plugin native cmd)"
check_same "core includes base and isa alone" "" "$(includes core symbol engine plugin native count observe sampler model cmd)"
check_same "observe includes base alone" "" "$(includes observe symbol engine plugin native count core sampler model cmd)"
check_same "score includes base and observe alone" "" "$(includes score symbol engine plugin native count core sampler model store cmd)"
check_same "sampler includes base and observe alone" "" "$(includes sampler symbol engine plugin native count core model cmd)"
check_same "model knows neither native nor cmd" "" "$(includes model plugin native sampler cmd)"
check_same "agent includes base alone" "" "$(includes agent isa symbol engine plugin native watch perfdata store count core observe sampler model report cmd)"
check_same "the agent in the program includes nobody" "" "$(cd "$SOURCE" && grep -nE '^#include "(base|assay)/' src/agent/agent_{start,sites,calls}.c src/agent/agent.h src/agent/agent_wire.h)"
check_same "watch includes base and isa alone" "" "$(includes watch symbol engine plugin native count core observe sampler model store perfdata cmd)"
check_same "perfdata includes base and symbol alone" "" "$(includes perfdata isa engine plugin native watch store count core observe sampler model cmd)"
