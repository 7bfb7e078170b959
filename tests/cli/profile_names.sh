#!/usr/bin/env bash
# Functions whose names are hostile: quotes, newlines, markup, escape sequences, SQL, invalid UTF-8, a megabyte. Nobody
# who reads a profile of such a program may stumble, or pass them on unharmed.
# sanitized-only: names are treated alike in both builds
# time-limit: 120
. "$(dirname "$0")/lib.sh"

if [ "$(uname -m)" != x86_64 ] || ! command -v gcc >/dev/null; then
    skip "hostile names" "needs gcc for x86-64"
    exit 0
fi
check "the program" python3 "$SOURCE/tests/cli/hostile_names.py" hostile
check "its profile" "$ASSAY" record -o hostile.db -- ./hostile
summary=$err
check_same "the summary has no control characters" "" "$(grep -aP '[\x00-\x08\x0b-\x1f\x7f]' <<<"$summary")"
functions=$(python3 -c '
import sqlite3
d = sqlite3.connect("hostile.db")
d.text_factory = bytes
print(d.execute("SELECT count(*) FROM functions").fetchone()[0], max(len(r[0]) for r in d.execute("SELECT linkage_name FROM functions")))')
check_same "all names are in the file, whole" "19 1000007" "$functions"

offset() {
    "$ASSAY" export --to=pprof --uncompressed hostile.db |
        protoc -I "$SOURCE/tests/cli" --decode=pprof_fields.Profile pprof_fields.proto | sed -n 's/^ *file_offset: //p'
}
if command -v protoc >/dev/null && command -v readelf >/dev/null; then
    text=$(readelf -lW hostile | awk '$1 == "LOAD" && / E / { print $2 }')
    check_stdout_equals "$((text))" "pprof: its code's place in the file, which is not at its address" offset
else
    skip "pprof: its code's place in the file" "needs protoc and readelf"
fi

for how in "" "--by line" "--by instruction" --calls --flame "--diff hostile.db"; do
    # shellcheck disable=SC2086
    "$ASSAY" report hostile.db $how --limit 0 >out.txt 2>err.txt
    check_same "report $how: it ends well" 0 $?
    check_same "report $how: no control characters" "" "$(LC_ALL=C grep -aP '[\x00-\x08\x0b-\x1f\x7f]' out.txt)"
    check_same "report $how: valid UTF-8" yes "$(iconv -f UTF-8 -t UTF-8 out.txt >/dev/null 2>&1 && echo yes)"
    check "report $how: no line is long" awk 'length > 400 { exit 1 }' out.txt
done
for how in "" "--by instruction" --calls "--diff hostile.db"; do
    # shellcheck disable=SC2086
    check_json "report --json $how" 'len(d["rows"]) >= 19' "$ASSAY" report hostile.db $how --json
done
rows() {
    "$ASSAY" report hostile.db --csv >rows.csv && python3 -c '
import csv
rows = list(csv.DictReader(open("rows.csv", newline="", encoding="utf-8")))
names = {row["function"] for row in rows}
assert len(rows) == 19 and "dou\"ble" in names and "comma,name" in names and len(names) == 19, names
assert "\u0027=1+1" in names and "\u0027-dash" in names and "invalid\ufffd\ufffdutf8" in names and "escape?[31mred" in names, names'
}
check "report --csv keeps them apart, as valid UTF-8 and without formulas" rows
for how in --calls "--diff hostile.db"; do
    # shellcheck disable=SC2086
    "$ASSAY" report hostile.db --csv $how >other.csv
    check_same "report --csv $how: no field is a formula" "" "$(grep -aE '(^|,)"?[=+@-][^0-9,]' other.csv | cut -c 1-80)"
    check_same "report --csv $how: valid UTF-8" yes "$(iconv -f UTF-8 -t UTF-8 other.csv >/dev/null 2>&1 && echo yes)"
done

python3 - <<'END' >names.txt
import sqlite3
d = sqlite3.connect("hostile.db")
d.text_factory = bytes
import sys
for (name,) in d.execute("SELECT name FROM functions WHERE length(name) < 100 AND name <> '_start' ORDER BY id"):
    sys.stdout.buffer.write(name + b"\0")
END
said=0
while IFS= read -r -d '' name; do
    "$ASSAY" annotate hostile.db --json -o one.json -- "$name" >/dev/null 2>&1 && said=-99
    "$ASSAY" annotate -o one.txt -- "$name" hostile.db 2>err.txt && [ -s one.txt ] &&
        ! LC_ALL=C grep -qaP '[\x00-\x08\x0b-\x1f\x7f]' one.txt && said=$((said + 1))
done <names.txt
check_same "annotate finds each by its name" 17 "$said"
check_fails 2 'no function' "a name that is not there, as hostile" "$ASSAY" annotate $'no\nsuch\e[31m\'"name' hostile.db
check "--html" "$ASSAY" report hostile.db --html page.html
check_same "no markup of theirs is in the page" "" "$(grep -c 'onerror=alert(1)\|alert(1)</script>' page.html | grep -v '^0$')"
check "it is small" test "$(stat -c %s page.html)" -lt 400000
document() {
    python3 -c '
import base64, json, re, zlib
page = open("page.html", encoding="utf-8").read()
d = json.loads(zlib.decompress(base64.b64decode(re.search(r"data-encoding=\"deflate-base64\">([^<]*)<", page).group(1))))
names = [d["strings"][i] for i in d["functions"]["name"]]
assert "<script>alert(1)</script>" in names and "quo\u0027te" in names and "dou\"ble" in names
assert any("\ufffd" in name for name in names) and max(map(len, names)) <= 4096'
}
check "its document has all names" document

# ---- arguments and file names ---------------------------------------------------------------------------------------
odd=$'odd \'"<b>\n.db'
check "a profile with an odd name" "$ASSAY" record -o "$odd" -- "$STATIC/nothing"
told=$err
check_same "… is told in its own words, in one line" 1 "$(grep -c '^wrote odd' <<<"$told")"
check "… can be read" "$ASSAY" report "$odd"
check "hostile arguments" "$ASSAY" record -q -o arguments.db -- "$STATIC/nothing" $'a\nb' $'\e[31m' '</script>' "$(printf '\377')"
check "… are kept as they are" python3 -c '
import sqlite3
d = sqlite3.connect("arguments.db")
d.text_factory = bytes
assert [row[0] for row in d.execute("SELECT value FROM arguments ORDER BY id")][1:] == [b"a\nb", b"\x1b[31m", b"</script>", b"\xff"]'
check "… and in the page" "$ASSAY" report arguments.db --html arguments.html
ended=$'ends\n'
cp hostile "$ended"
check "a program whose name ends in a newline" "$ASSAY" record -q -o ended.db -- "./$ended"
check_json "… keeps its symbols" '"plain" in {r["function"] for r in d["rows"]}' "$ASSAY" report ended.db --json
