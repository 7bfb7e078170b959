#!/usr/bin/env bash
# What `meson install` installs works, wherever it is put, from an empty directory: the plugin, the agent and the machine
# files are found relative to the program; manual pages and completion are where they belong.
. "$(dirname "$0")/lib.sh"

install_here() { DESTDIR=$PWD/root meson install -C "$BUILD" --no-rebuild --quiet; }
check "meson install" install_here
installed=$(find root -name assay -type f -path '*/bin/*')
prefix=$PWD/${installed%/bin/assay}
mv "$prefix" "$PWD/moved here" # nowhere near the prefix that the build was configured with
prefix="$PWD/moved here" assay=$prefix/bin/assay
mkdir empty && cd empty || exit 1

program=$WORKLOADS/known/x86-call-deep
check_json "stat finds its plugin" 'd["calls"] == 4000' "$assay" stat -q --json -- "$program"
check_json "compare finds its machines" 'd["core"] == "boom-tea"' "$assay" compare -q --json -- "$program"
check_json "the plugin is the installed one" \
    '[r["state"] for r in d["rows"] if r["name"] == "engine"][0].startswith("'"$prefix"'")' "$assay" doctor --json
check "record" "$assay" record -q -o model.db -- "$program"
check "report of it as a page" "$assay" report --html=page.html model.db
check "record finds its agent" "$assay" record -q --source=timer --allocations -o timer.db -- python3 -c pass
check_json "… and it counted" 'len(d["rows"]) > 0' "$assay" report --json --series="allocated bytes" timer.db
for page in "$SOURCE"/doc/man/*.1; do
    check "${page##*/} is installed" test -s "$prefix/share/man/man1/${page##*/}"
done

# ---- completion ----

cat >ask.sh <<'SH'
. "$1/share/bash-completion/completions/assay"
compopt() { :; } # only works while bash completes
PATH=$1/bin:$PATH
shift
COMP_WORDS=(assay "$@") COMP_CWORD=$#
_assay
printf '%s\n' ${COMPREPLY[@]+"${COMPREPLY[@]}"} | sort
SH
ask() { bash ask.sh "$prefix" "$@"; }
touch some.db some.txt
check_stdout_equals $'record\nremedy\nreport\nreuse' "a verb is completed" ask re
check_stdout_equals "--samplers=" "… an option with a value" ask compare --sam
check_stdout_equals $'boom-tea\nboom-tip' "… a core" ask record --core = boom
check_stdout_equals $'boom-tea\nboom-tip' "… in a word of its own" ask record --core boom
check_stdout_equals $'tea,tip\ntea,tip-ilp' "… a sampler of a list" ask compare --samplers = tea,ti
check_stdout_equals $'some.db\nsome.txt' "… a file" ask report some
check_stdout_equals $'some.db\nsome.txt' "… a file as a value" ask report --diff = some
check_stdout_equals "ST-L1" "… an event" ask report --event = ST-L1
check_stdout_equals $'perf-script\npprof' "… a format" ask export --to = p
check_stdout_equals "some.txt" "… the program's own arguments" ask stat -- cat some.t
check_stdout_equals "instruction" "… a choice" ask report --by = i
check_stdout_equals "doctor" "… help of a verb" ask help d
check_stdout_equals "" "… nothing behind an unknown verb" ask nonsense ""
run ask stat --json python
check "… a program" grep -qx python3 <<<"$out"

# Every verb completes the options that its help lists.
for verb in $("$assay" -h | sed -n '/^Verbs:/,/^$/s/^  \([a-z][a-z]*\) .*/\1/p'); do
    wanted=$("$assay" "$verb" -h | sed -nE '/^Options:/,/^$/s/^ +(-[[:alnum:]], )?(--[a-z0-9-]+=?).*/\2/p' | sort)
    check_stdout_equals "$wanted" "the options of $verb are completed" ask "$verb" --
done
