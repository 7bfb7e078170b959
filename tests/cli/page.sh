#!/usr/bin/env bash
# The HTML page: its types, what it is built from, and its behaviour in a browser (tests/web).
# plain-only: the page is the same in both builds
# time-limit: 400
. "$(dirname "$0")/lib.sh"

template=$BUILD/web/page.html
check "the build has made the page" test -s "$template"
check "it is smaller than 300 KB" test "$(stat -c %s "$template")" -lt $((300 * 1024))
check_same "it names no directory of this machine" "" "$(grep -oF -e "$SOURCE" -e "$BUILD" -e "$HOME/" "$template")"
check_same "the lock file names no registry" "" "$(grep -n -e '://' -e '"resolved"' "$SOURCE/web/package-lock.json")"

chromium=$(command -v chromium) || true
if ! command -v npm >/dev/null || [ -z "$chromium" ]; then
    skip "the page in a browser" "npm or chromium is not installed"
    exit 0
fi

# The packages that check the page live in the build directory; a change of the lock file brings them up to date.
modules=$BUILD/web/modules
prepare() {
    cmp -s "$SOURCE/web/package-lock.json" "$modules/installed" && return
    rm -rf "$modules"
    mkdir -p "$modules" && cp "$SOURCE/web/"{package.json,package-lock.json,.npmrc} "$modules" &&
        (cd "$modules" && npm ci --prefer-offline --no-progress) && cp "$modules/package-lock.json" "$modules/installed"
}
check "npm installs what the lock file names" prepare
check "the compiler finds nothing wrong with the types" "$modules/node_modules/.bin/tsc" -p "$SOURCE/web"

run env WEB_MODULES="$modules" PAGE_TEMPLATE="$template" PAGE_DIR="$TMP/pages" CHROMIUM="$chromium" HOME="$TMP" \
    node "$SOURCE/tests/web/page_test.mjs"
ran=0
while IFS= read -r line; do
    case $line in
    "ok - "*) pass "${line#ok - }" && ran=$((ran + 1)) ;;
    "not ok - "*) fail "${line#not ok - }" && ran=$((ran + 1)) ;;
    *) echo "$line" ;;
    esac
done <<<"$out"
check "the browser's tests ran to their end" test "$ran" -gt 30 -a "$status" -le 1 -a -z "$err"
