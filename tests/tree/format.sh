#!/usr/bin/env bash
# The layout of the C files is what clang-format makes of them.
. "$(dirname "$0")/lib.sh"

formatted() {
    local settings files
    settings=$(clang-format --version && cat "$SOURCE/.clang-format")
    files=$(tree_files -name '*.[ch]')
    (cd "$SOURCE" && not_yet_right format "$settings" <<<"$files" | xargs -rd '\n' clang-format --dry-run -Werror) &&
        now_right format "$settings" <<<"$files"
}
if command -v clang-format >/dev/null; then
    check "clang-format changes nothing" formatted
else
    skip "clang-format changes nothing" "clang-format is not installed"
fi

# What the build directory remembers: a file that is right is not looked at again, one that has changed is.
(
    export SOURCE=$TMP/tree BUILD=$TMP/remembers
    mkdir -p "$SOURCE" && cd "$SOURCE" && echo 1 >one && echo 2 >'the other'
    ask() { printf '%s\n' one 'the other' | not_yet_right example "$1" | paste -sd ,; }
    ask a && printf '%s\n' one 'the other' | now_right example a
    ask a && ask b && echo 3 >one && ask a
) >"$TMP/asked"
check_same "files that were found right, and then changed" "one,the other||one,the other|one|" "$(tr '\n' '|' <"$TMP/asked")"
