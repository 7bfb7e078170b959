#!/usr/bin/env bash
# The layout of the C files is what clang-format makes of them.
. "$(dirname "$0")/lib.sh"

formatted() { (cd "$SOURCE" && tree_files -name '*.[ch]' | xargs -d '\n' clang-format --dry-run -Werror); }
if command -v clang-format >/dev/null; then
    check "clang-format changes nothing" formatted
else
    skip "clang-format changes nothing" "clang-format is not installed"
fi
