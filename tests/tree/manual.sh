#!/usr/bin/env bash
# The manual pages against the program: every verb has its page and stands in assay(1), the options of a page are those
# of -h, spelled alike, and mandoc finds nothing to say.
. "$(dirname "$0")/lib.sh"

if ! command -v mandoc >/dev/null; then
    skip "manual pages" "mandoc is not installed"
    exit 0
fi
man=$SOURCE/doc/man

# A page as plain text, wide, without overstrikes.
rendered() { mandoc -T utf8 -O width=200 "$1" | LC_ALL=C.UTF-8 sed $'s/.\b//g'; }
# "-o, --output=FILE" of each option: in -h they stand under "Options:", in a page under OPTIONS.
help_options() { "$ASSAY" "$1" -h | sed -n '/^Options:/,/^$/p' | option_spellings; }
page_options() { rendered "$1" | sed -n '/^OPTIONS/,/^[A-Z]/p' | option_spellings; }
option_spellings() { sed -nE 's/^ +((-[[:alnum:]], )?--[a-z0-9-]+(=[^ ]+)?).*/\1/p' | sort; }

verbs=$("$ASSAY" -h | sed -n '/^Verbs:/,/^$/s/^  \([a-z][a-z]*\) .*/\1/p' | sort)
check "there are verbs" test -n "$verbs"
listed=$(rendered "$man/assay.1" | grep -oE 'assay-[a-z]+\(1\)' | sed 's/assay-\(.*\)(1)/\1/' | sort -u)
check_same "assay(1) lists the verbs" "$verbs" "$listed"
check_same "each page is a verb's" "$verbs" "$(cd "$man" && printf '%s\n' assay-*.1 | sed 's/assay-\(.*\)\.1/\1/' | sort)"
for verb in $verbs; do
    check_same "$verb: the synopsis is of 'assay $verb'" "" \
        "$(rendered "$man/assay-$verb.1" | sed -n '/^SYNOPSIS/,/^[A-RT-Z]/s/^ *\(assay[- ][a-z]*\).*/\1/p' | grep -vx "assay $verb")"
    check_same "$verb: the page's options are those of -h" "$(help_options "$verb")" "$(page_options "$man/assay-$verb.1")"
done
for page in "$man"/*.1; do
    check "${page##*/}: mandoc is content" mandoc -T lint -W warning "$page"
    check_same "${page##*/}: it is installed" 1 "$(grep -c "'$(basename "$page" .1)'" "$man/meson.build")"
done
