#!/usr/bin/env bash
# The part of a run that results are of: every verb that can end a program early says which it was, in text, JSON and
# pages, and says nothing where all of the program was seen.
# sanitized-only: what is said is the same in both builds
. "$(dirname "$0")/lib.sh"

first='the first 5,000 instructions of a run of unknown length'
ways() {
    printf '%s\n' reuse 'reuse --method=lines' 'reuse --method=watch' comm blocks 'blocks --methods' stat
}

while read -r way; do
    # shellcheck disable=SC2086  # a way is a verb and its options
    "$ASSAY" $way -q --max 5k -o cut.txt -- true
    check "assay $way says the part" grep -qF "$first" cut.txt
    # shellcheck disable=SC2086
    "$ASSAY" $way -q -o all.txt -- true
    check_same "… of a whole run nothing" "" "$(grep -o 'instructions of\|the first' all.txt)"
    case $way in stat) continue ;; esac
    # shellcheck disable=SC2086
    check_json "… the same as JSON" 'd["part"] == "'"$first"'"' "$ASSAY" $way -q --json --max 5k -- true
    # shellcheck disable=SC2086
    check_json "… of a whole run nothing" '"part" not in d and d["instructions"] > 5000' "$ASSAY" $way -q --json -- true
done < <(ways)

for verb in reuse comm; do
    "$ASSAY" $verb -q --html --max 5k -o cut.html -- true
    check "the page of $verb says the part" grep -qF "$first" cut.html
    "$ASSAY" $verb -q --html -o all.html -- true
    check_same "… of a whole run nothing" "" "$(grep -o 'instructions of' all.html)"
done

# What was left out at the beginning: the whole is known, because the program ran to its end.
for verb in reuse comm blocks; do
    check_json "$verb: what --skip left out" 'd["part"].startswith("{:,} of ".format(d["instructions"]))' \
        "$ASSAY" $verb -q --json --skip 20k -- true
done
check_no_strays "nothing is left running"
