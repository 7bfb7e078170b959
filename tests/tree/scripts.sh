#!/usr/bin/env bash
# The scripts: shellcheck is content, the tests can be executed, and the package list is well-formed.
. "$(dirname "$0")/lib.sh"

shell_files() {
    tree_files -name '*.sh'
    (cd "$SOURCE" && grep -lE '^#!.*\b(ba)?sh$' scripts/* .ci/run)
}
# A script is read with the names that it may have from lib.sh and those that lib.sh has from it, but without the code of
# lib.sh, which would be read again for each of a hundred scripts; that is read once, as it is.
linted() {
    local libraries=("$SOURCE"/{scripts,tests/cli,tests/tree}/lib.sh) settings files
    settings=$(shellcheck --version && cat "$SOURCE"/{.shellcheckrc,tests/tree/scripts.sh})
    files=$(shell_files | sort -u)
    mkdir lint
    (cd "$SOURCE" && not_yet_right scripts "$settings" <<<"$files" | tar -cf - .shellcheckrc -T -) | tar -xf - -C lint
    mkdir -p lint/{scripts,tests/cli,tests/tree}
    tee lint/{scripts,tests/cli,tests/tree}/lib.sh >/dev/null <<'END'
# shellcheck shell=bash
out='' err='' status=0 judged=''
: "$out$err$status$judged${DEFAULT_CORE-}${HOLDS-}${any_environment-}"
END
    shellcheck -S warning "${libraries[@]}" &&
        (cd lint && find . -type f -not -name .shellcheckrc -not -name lib.sh -print0 | xargs -r0 shellcheck -S warning) &&
        now_right scripts "$settings" <<<"$files"
}
if command -v shellcheck >/dev/null; then
    check "shellcheck is content" linted
else
    skip "shellcheck is content" "shellcheck is not installed"
fi

unusable=$(cd "$SOURCE" && for file in tests/cli/*.sh tests/tree/*.sh scripts/quickstart scripts/test .ci/run; do
    [ -x "$file" ] || [ "${file##*/}" = lib.sh ] || echo "$file"
done)
check_same "scripts are executable" "" "$unusable"

check_same "each package has a reason" "" "$(grep -vE '^(#.*|\[(build|test|bench)\]|[a-z0-9.+-]+ +# .+|)$' "$SOURCE/scripts/packages")"

# A user who may not install: one apt command, nothing done. The stand-ins make a package missing and us nobody.
cp -r "$SOURCE/scripts" .
mkdir stand-in
echo "absent-package # made up" >>scripts/packages
printf '#!/bin/sh\necho 1000\n' >stand-in/id
printf '#!/bin/sh\nexit 1\n' >stand-in/sudo
for tool in apt-get meson ninja; do printf '#!/bin/sh\necho %s >>called\n' "$tool" >stand-in/$tool; done
chmod +x stand-in/*
sed -i '/^\[test\]/d' scripts/packages
if command -v dpkg-query >/dev/null; then
    poor() { PATH=$PWD/stand-in:$PATH scripts/quickstart; }
    check_status 1 "quickstart without rights stops" poor
    check "… with the one command" grep -qE '^  apt-get update && apt-get install -y .*absent-package' <<<"$err"
    check "… and has touched nothing" test ! -e called
else
    skip "quickstart without rights stops" "not a Debian system"
fi
