#!/usr/bin/env bash
# The HTML page: its types, what it is built from, and its behaviour in a browser (tests/web).
# plain-only: the page is the same in both builds
# waits: for the browser
# time-limit: 600
. "$(dirname "$0")/lib.sh"

template=$BUILD/web/page.html
check "the build has made the page" test -s "$template"
check "it is smaller than 300 KB" test "$(stat -c %s "$template")" -lt $((300 * 1024))
check_same "it names no directory of this machine" "" "$(grep -oF -e "$SOURCE" -e "$BUILD" -e "$HOME/" "$template")"
check_same "the lock file names no registry" "" "$(grep -n -e '://' -e '"resolved"' "$SOURCE/web/package-lock.json")"

# Pages as the program writes them: two profiles compared, several threads, samplers, inlined functions.
cd "$TMP" || exit 1
record() { "$ASSAY" record -q --max 300k "$@" >/dev/null 2>&1; }
check "a profile, and one before it" eval 'record --samplers software,tea -o after.db -- "$STATIC/demo" 1 &&
    record -o before.db -- "$STATIC/demo" 2'
check "a profile of threads" record -o threads.db -- "$STATIC/threads"
check "--html with --diff" "$ASSAY" report after.db --diff before.db --html diff.html
check "reuse distances of a run of the same program" eval '"$ASSAY" reuse -q --json -o reuse.json -- "$STATIC/threads" >/dev/null'
check "--html of threads, with them" "$ASSAY" report threads.db --html threads.html --reuse reuse.json
refused() { # STATUS MESSAGE [option…]: no page is left
    run "$ASSAY" report threads.db "${@:3}"
    [ "$status" = "$1" ] && grep -qF -- "$2" <<<"$err" && [ "$(wc -l <<<"$err")" = 1 ] && [ ! -e not.html ]
}
check "--reuse needs a page" refused 2 "--reuse needs --html" --reuse reuse.json
check "… a file that is there" refused 125 "cannot read 'none.json'" --html not.html --reuse none.json
printf '{"program": ["x"],}' >odd.json
check "… that is JSON" refused 125 "'odd.json' is not JSON from byte 18 on" --html not.html --reuse odd.json
printf '{"program": ["threads"]}' >other.json
check "… of assay reuse" refused 125 "'other.json' is not what assay reuse --json writes" --html not.html --reuse other.json
sed 's|/threads"|/thread"|' reuse.json >other.json
check "… of the same program" refused 125 "'other.json' is of another program than the profile" --html not.html --reuse other.json
lists() { # objects and branches, more than a page holds
    python3 "$SOURCE/tests/cli/data_recording.py" pebs "$BUILD/tests/unit/native/data_victim" lists.data &&
        "$ASSAY" import -q -o lists.db lists.data && python3 "$SOURCE/tests/cli/page_lists.py" grow lists.db 2500 2600 &&
        "$ASSAY" report lists.db --html lists.html
}
check "--html of data and branches" lists
documents_agree() {
    python3 - <<'END'
import base64, json, re, sys, zlib
def document(file):
    found = re.findall(r'data-encoding="deflate-base64">([^<]*)<', open(file, encoding="utf-8").read())
    return json.loads(zlib.decompress(base64.b64decode(found[0])))
d, t = document("diff.html"), document("threads.html")
diff = d["diff"]
assert any(r.get("executions") for r in diff["rows"]) and sum(r.get("executions", 0) for r in diff["rows"]) == diff["summary"]["instructions"]
assert diff["rows"] and all(abs(r["cycles"] - r["before"] - r["change"]) < 1 for r in diff["rows"])
assert diff["differ_in"] == "arguments", diff["differ_in"]
counters = {c["name"]: c for c in t["counters"]}
assert all("group" in c and "label" in c for c in t["counters"]), t["counters"]
assert [c["name"] for c in t["counters"]][:2] == ["instructions", "uops"] and counters["l1d_misses"]["whole"] in counters
for series in d["series"]:
    total = sum(series["instructions"]["cycles"])
    assert total > 0 and abs(sum(series["paths"]["cycles"]) - total) < 1 + total * 1e-5, series["name"]
    assert sum(series["paths"]["row"]) < len(d["paths"]["parent"])
code = d["instructions"]
calls = code["inlines"]
assert max(code["inlined"]) < len(calls["parent"]) and all(parent < i for i, parent in enumerate(calls["parent"]))
assert {d["strings"][calls["name"][i]] for i in code["inlined"] if i >= 0} >= {"next_random"}
rows = {row["name"]: row for section in d["machine"] for row in section["rows"]}
assert rows["redirect"]["note"].startswith("cycles from a mispredicted"), rows["redirect"]
assert len(t["threads"]) > 1 and "threads" not in d["series"][0]
assert t["reuse"] == json.load(open("reuse.json")) and t["reuse"]["shared"] and "reuse" not in d
for series in t["series"]:
    by_thread = [one and sum(one["cycles"]) for one in series["threads"]]
    total = sum(series["instructions"]["cycles"])
    assert len(by_thread) == len(t["threads"]) and abs(sum(x or 0 for x in by_thread) - total) < 1 + total * 1e-5
    if series["exact"]:
        for one, thread in zip(by_thread, t["threads"]):
            assert abs((one or 0) - thread["cycles"]) < 1 + total * 1e-5, (one, thread)
END
}
check "the documents hold paths of each series, inlined calls, threads and differences" documents_agree

# What a reader must be warned of, and threads that are none.
warned() {
    cp "$STATIC/demo" gone && record -o part.db -- ./gone 1 && rm gone && "$ASSAY" report part.db --html part.html &&
        ! record -o died.db -- sh -c 'kill -SEGV $$' && "$ASSAY" report died.db --html died.html &&
        "$ASSAY" record -q --source=timer --allocations -o memory.db -- "$WORKLOADS/demo" 1 >/dev/null &&
        "$ASSAY" report memory.db --html memory.html
}
check "pages of a part, of a program that died, of allocations" warned
check "they say what is partial, which file is gone, and count threads that there were" python3 -c '
import base64, json, re, zlib
def document(file):
    return json.loads(zlib.decompress(base64.b64decode(re.findall(r"deflate-base64\">([^<]*)<", open(file).read())[0])))
part, died, memory = map(document, ["part.html", "died.html", "memory.html"])
assert part["summary"]["part"].startswith("the first 300,000 instructions") and part["summary"]["region"] == "--max 300k" and part["summary"]["partial"] is None, part["summary"]
assert [m["note"] for m in part["modules"] if m["name"] == "gone"] == ["it no longer exists"], part["modules"]
assert "signal 11" in died["summary"]["partial"] and not any("signal 11" in note for note in died["summary"]["notes"])
assert [t["name"] for t in memory["threads"]][-1] == "(all threads)" and len(memory["threads"]) == 2, memory["threads"]
assert memory["summary"]["threads"] == 1, memory["summary"]'

# A profile of the first format has components, but none of call paths: the flame graph stays, without them.
check "a profile without components of paths" python3 -c '
import shutil, sqlite3
shutil.copy("after.db", "old.db")
with sqlite3.connect("old.db") as database:
    database.execute("DELETE FROM path_components")'
check "… has its page" "$ASSAY" report old.db --html old.html
check "… with call paths" python3 -c '
import base64, json, re, zlib
d = json.loads(zlib.decompress(base64.b64decode(re.findall(r"deflate-base64\">([^<]*)<", open("old.html").read())[0])))
for series in d["series"]:
    total = sum(series["instructions"]["cycles"])
    assert abs(sum(series["paths"]["cycles"]) - total) < 1 + total * 1e-5 and "component" not in series["paths"], series["name"]'

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
# It remembers what it has checked, by the sums of the files.
check "the compiler finds nothing wrong with the types" "$modules/node_modules/.bin/tsc" -p "$SOURCE/web" --incremental --tsBuildInfoFile "$modules/types"

run env WEB_MODULES="$modules" PAGE_TEMPLATE="$template" PAGE_DIR="$TMP/pages" REAL_PAGES="$TMP/diff.html:$TMP/threads.html:$TMP/lists.html:$TMP/part.html" CHROMIUM="$chromium" HOME="$TMP" \
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
