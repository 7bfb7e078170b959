# shellcheck shell=bash
# The checks of the tree use the helpers of the command-line tests; see there.
. "$(dirname "${BASH_SOURCE[0]}")/../cli/lib.sh"

# The files of the source tree that match a find expression, build trees and the like aside.
tree_files() {
    (cd "$SOURCE" && find . \( -path './build*' -o -path './.git' -o -path './.cache' \) -prune -o -type f "$@" -print |
        sed 's|^\./||' | sort)
}
