#!/usr/bin/env bash
# The frame around the verbs: help, version, unknown verbs and options, output that cannot be written.
. "$(dirname "$0")/lib.sh"

verbs=$("$ASSAY" -h | sed -n '/^Verbs:/,/^$/s/^  \([a-z][a-z]*\) .*/\1/p')
first=${verbs%%$'\n'*}
check "there are verbs" test -n "$first"

check "-h" "$ASSAY" -h
check_same "-h says nothing on stderr" "" "$err"
for word in --help help; do
    check_stdout_equals "$("$ASSAY" -h)" "$word is -h" "$ASSAY" "$word"
done
check "the version" "$ASSAY" --version
check "the version is one line" grep -qE '^assay [0-9]+\.[0-9]+\.[0-9]+$' <<<"$out"

check_status 2 "no verb" "$ASSAY"
check_same "no verb: nothing on stdout" "" "$out"
check "no verb: usage on stderr" grep -q '^Usage: assay VERB' <<<"$err"

check_fails 2 "unknown verb '${first}x' \(did you mean '$first'\?\)" "a mistyped verb" "$ASSAY" "${first}x"
check_fails 2 "unknown verb 'zzzzzzzz'; see 'assay -h'" "a foreign verb" "$ASSAY" zzzzzzzz
check_fails 2 "unknown verb 'zzzzzzzz'" "help on a foreign verb" "$ASSAY" help zzzzzzzz
check_fails 2 "help takes one verb; see 'assay -h'" "help on two verbs" "$ASSAY" help "$first" "$first"
check_fails 2 "unknown option '--zzz'" "an option before the verb" "$ASSAY" --zzz
check_fails 2 "unknown verb 'a\?b\?\[31m'" "control characters in a verb" "$ASSAY" $'a\nb\e[31m'

for verb in $verbs; do
    check "$verb -h" "$ASSAY" "$verb" -h
    help=$out
    check "$verb -h begins with its summary" grep -q "^assay $verb: ." <<<"$help"
    check_same "$verb -h stays within 80 columns" "" "$(LC_ALL=C.UTF-8 grep -E '^.{81}' <<<"$help")"
    check_stdout_equals "$help" "help $verb is $verb -h" "$ASSAY" help "$verb"
    check_fails 2 "unknown option --no-such-thing; see 'assay $verb -h'" "$verb: unknown option" \
        "$ASSAY" "$verb" --no-such-thing
done

full() { "$ASSAY" -h >/dev/full; }
check_fails 125 "cannot write to standard output: No space left" "a full stdout" full
closed() { "$ASSAY" -h >&-; }
check_fails 125 "cannot write to standard output: Bad file" "a closed stdout" closed
piped() {
    { sleep 0.2 && exec "$ASSAY" "$first" -h; } | true
    return "${PIPESTATUS[0]}"
}
check_status 141 "a reader that leaves: ended by SIGPIPE" piped
check_same "a reader that leaves: quiet" "" "$err"
