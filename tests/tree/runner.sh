#!/usr/bin/env bash
# The test runner itself: nothing that goes wrong may look like success.
# waits: for the limits of programs that hang
. "$(dirname "$0")/lib.sh"

# A tree of its own, whose Meson is a stand-in that lists the unit tests found in units/.
mkdir -p tests/cli tests/tree units bin fake-build
cat >bin/meson <<'END'
#!/usr/bin/env python3
import glob, json, os
print(json.dumps([{"name": os.path.basename(p), "cmd": ["bash", os.path.abspath(p)], "env": {}, "workdir": None,
                   "timeout": 2, "suite": ["x:unit"] + ["x:both"] * p.endswith("both"), "is_parallel": True}
                  for p in glob.glob("units/*")]))
END
chmod +x bin/meson
runner() { PATH=$PWD/bin:$PATH python3 "$SOURCE/scripts/run_tests.py" -j 2 --build fake-build "$@"; }

# expect STATUS LAST-LINE NAME: one script or unit test, which the caller has written, gives this.
expect() {
    run runner
    if [ "$status" -eq "$1" ] && [ "${out##*$'\n'}" = "$2" ]; then
        pass "$3"
    else
        report "$3" "expected status $1 and the last line: $2"
    fi
    rm -f tests/cli/* units/*
}

expect 1 "0 passed, 0 failed, 0 skipped" "nothing ran"

printf 'echo ok 1 - a\necho "ok 2 - b # SKIP why"\necho 1..2\n' >tests/cli/good.sh
expect 0 "1 passed, 0 failed, 1 skipped" "a good script"
printf 'echo "ok 1 - b # SKIP why"\necho 1..1\n' >tests/cli/skipped.sh
run runner
check "the reason for a skip is shown" grep -qx 'skipped: cli/skipped: b: why' <<<"$out"
expect 1 "0 passed, 0 failed, 1 skipped" "everything skipped: nothing ran"
printf 'echo ok 1 - a\necho not ok 2 - b\necho 1..2\nexit 1\n' >tests/cli/bad.sh
run runner
check "the log of a failure is shown" grep -qx 'not ok 2 - b' <<<"$out"
expect 1 "1 passed, 1 failed, 0 skipped" "a failed case"
for i in {1..10}; do printf 'echo ok 1 - a\necho 1..1\n' >"tests/cli/cheap$i.sh"; done
printf 'i=0\nwhile [ $i -lt 300000 ]; do i=$((i + 1)); done\necho ok 1 - a\necho 1..1\n' >tests/cli/dear.sh
run runner
check "the dearest of many are named" grep -qE '^[0-9]+ s of processor time; the dearest: cli/dear [0-9]+(, cli/cheap[0-9]+ 0){9}$' <<<"$out"
expect 0 "11 passed, 0 failed, 0 skipped" "many scripts"
mark=$PWD/left-$$
printf 'set -m\nbash -c "exec -a %s sleep 1000" >/dev/null 2>&1 &\necho ok 1 - a\necho 1..1\n' "$mark" >tests/cli/leaves.sh
expect 0 "1 passed, 0 failed, 0 skipped" "a script that leaves a process group of its own behind"
check_status 1 "… which is ended with it" pgrep -f "$mark"
printf 'echo not ok 1 - b\necho 1..1\n' >tests/cli/mild.sh
expect 1 "0 passed, 1 failed, 0 skipped" "a failed case with status 0"
printf 'echo ok 1 - a\necho 1..1\nexit 3\n' >tests/cli/status.sh
expect 1 "1 passed, 1 failed, 0 skipped" "good cases with a bad status"
printf 'echo ok 1 - a\n' >tests/cli/short.sh
expect 1 "1 passed, 1 failed, 0 skipped" "a script without its plan"
printf 'echo ok 1 - a\necho 1..2\n' >tests/cli/fewer.sh
expect 1 "1 passed, 1 failed, 0 skipped" "fewer cases than planned"
printf 'true\n' >tests/cli/silent.sh
expect 1 "0 passed, 1 failed, 0 skipped" "a script that says nothing"
printf '# time-limit: 1\necho ok 1 - a\necho 1..1\nsleep 30\n' >tests/cli/hang.sh
expect 1 "1 passed, 1 failed, 0 skipped" "a script that hangs"
check_no_strays "what hung is gone"
printf '. "%s/tests/cli/lib.sh"\nASSAY=x\ncheck a true\nexit 7\n' "$SOURCE" >tests/cli/died.sh
sed -i "1i ASSAY=$ASSAY" tests/cli/died.sh
expect 1 "1 passed, 1 failed, 0 skipped" "a script that ends half-way"

# A Meson that lists a program that is not there.
cp bin/meson bin/meson.good
sed -i 's/"bash", //' bin/meson
printf 'no program\n' >units/unable
expect 1 "0 passed, 1 failed, 0 skipped" "a test that cannot be started"
mv bin/meson.good bin/meson

printf 'echo 1..3\necho ok 1 - a\necho not enough\necho "not ok 2 # SKIP b"\necho ok 3 - c\n' >units/mixed
run runner
check "cmocka's reason is the line before" grep -qx 'skipped: unit/mixed: b: not enough' <<<"$out"
expect 0 "2 passed, 0 failed, 1 skipped" "cmocka's way to skip"
printf 'echo 1..2\necho ok 1 - a\nkill -ABRT $$\n' >units/crash
expect 1 "1 passed, 1 failed, 0 skipped" "a unit test that crashes"
printf 'sleep 30\n' >units/hang
expect 1 "0 passed, 1 failed, 0 skipped" "a unit test that hangs"
printf 'echo plain\n' >units/plain
expect 0 "1 passed, 0 failed, 0 skipped" "a test without cases counts as one"
printf 'exit 1\n' >units/plain
expect 1 "0 passed, 1 failed, 0 skipped" "… and fails by its status"
printf 'echo no hardware; exit 77\n' >units/plain
expect 1 "0 passed, 0 failed, 1 skipped" "… and is skipped by 77"
# shellcheck disable=SC2016
printf 'echo 1..1\necho ok 1 - a\npath=${ASAN_OPTIONS#log_path=}; echo leak >"${path%%%%:*}.1"\n' >units/leak
expect 1 "1 passed, 1 failed, 0 skipped" "a sanitizer's report alone is a failure"

printf 'echo ok 1 - a\necho 1..1\n' | tee tests/cli/one.sh >tests/cli/two.sh
run runner -- cli/two
check_same "names select" "1 passed, 0 failed, 0 skipped" "${out##*$'\n'}"
printf '# plain-only: too slow\necho ok 1 - a\necho 1..1\n' >tests/cli/one.sh
run runner --asan fake-build
check_same "plain-only leaves the sanitizer build out" "3 passed, 0 failed, 1 skipped" "${out##*$'\n'}"
rm -f tests/cli/*
printf 'echo 1..1\necho ok 1 - a\n' | tee units/once >units/both
run runner --asan fake-build
check_same "unit tests run on the sanitizer build, those that say so on both" "asan/unit/both asan/unit/once unit/both" \
    "$(grep -o '[a-z/]*unit/[a-z]*' <<<"$out" | sort | xargs)"
expect 0 "2 passed, 0 failed, 0 skipped" "… and all on the only one"
# What a script finds in its environment, and when it ran.
# shellcheck disable=SC2016
printf 'echo "# on $SANITIZED"\necho ok 1 - a\necho 1..1\nexit 1\n' >tests/cli/one.sh
run runner --asan fake-build
check_same "a script knows that it runs under sanitizers" "# on yes" "$(grep -x '# on yes' <<<"$out")"
check_same "… and that it does not" "# on " "$(grep -x '# on ' <<<"$out")"
printf '# sanitized-only: says the same\necho ok 1 - a\necho 1..1\n' >tests/cli/one.sh
run runner --asan fake-build
check_same "sanitized-only leaves the plain build out" "skipped: cli/one: cli/one: says the same" "$(grep '^skipped' <<<"$out")"
expect 0 "1 passed, 0 failed, 0 skipped" "… where there is another"
# Two places, four scripts: the one that waits takes none of them, and the longest begins first.
for name in long short waits; do
    printf 'echo $(date +%%s%%N) %s >>order\necho ok 1 - a\necho 1..1\n' "$name" >"tests/cli/$name.sh"
done
sed -i '1i # time-limit: 500' tests/cli/long.sh
# It ends when the others have ended, which it could not see if it held them up.
printf '# waits: for the others\nfor i in $(seq 300); do [ "$(wc -l <order)" -ge 3 ] && break; sleep 0.1; done\n' |
    cat - tests/cli/waits.sh >waits && mv waits tests/cli/waits.sh && echo 0 none >order
run env PATH="$PWD/bin:$PATH" python3 "$SOURCE/scripts/run_tests.py" -j 1 --build fake-build
check_same "the longest first, and beside them what waits" "none long short waits" "$(awk '{ print $2 }' order | xargs)"

# A script's programs find the same in the model wherever it runs.
cat >cycles.sh <<'END'
. "$LIBRARY"
"$ASSAY" compare -q --json --samplers none --max 100k -o seen.json -- "$WORKLOADS/demo" 1 >/dev/null
python3 -c 'import json; d = json.load(open("seen.json")); print(d["cycles"], d["counters"])'
END
sed -i "s|\\\$LIBRARY|$SOURCE/tests/cli/lib.sh|" cycles.sh
mkdir -p a/much/longer/name/of/a/directory
here=$(bash cycles.sh)
check "a number of the model" grep -qE '^[1-9][0-9]* .*l1d_misses' <<<"$here"
check_same "… does not depend on what is in the environment" "$here" "$(MORE=$(printf '%1000s' '') OTHER=yes bash cycles.sh)"
# Of what is kept the size is the same, but not where each variable begins, which the dynamic linker looks at.
near() { [ $((200 * (${1%% *} - ${2%% *}))) -lt "${1%% *}" ] && [ $((200 * (${2%% *} - ${1%% *}))) -lt "${1%% *}" ]; }
check "… hardly on the sizes of what is kept" near "$here" "$(env -i PATH="$PATH" ASSAY="$ASSAY" bash cycles.sh)"
check "… nor on where files are" near "$here" "$(TMPDIR=$PWD/a/much/longer/name/of/a/directory bash cycles.sh)"
