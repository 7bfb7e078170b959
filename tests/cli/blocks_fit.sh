#!/usr/bin/env bash
# assay blocks of recordings whose samples do not fit the code: another build, another processor, damaged branch stacks.
# sanitized-only: what is read is the same in both builds
. "$(dirname "$0")/lib.sh"

cp "$SOURCE/tests/cli/blocks_victim.c" victim.c
check "the program" cc -O1 -g -pie -fPIE -fno-if-conversion -fno-if-conversion2 -o victim victim.c
"$ASSAY" blocks --json --module victim -o exact.json -- ./victim
record() { python3 "$SOURCE/tests/cli/blocks_recording.py" exact.json victim "$@"; }
record taken.data taken 500
record addresses.data addresses 500
record few.data wrong-5 500
record some.data wrong-25 500
record most.data wrong-90 500
record torn.data random-90 500

# ---- damaged stacks ----
check_json "a few entries that do not fit leave the method to believe" \
    '0.02 < d["misfit"] < 0.1 and "the method to believe" in d["advice"]' "$ASSAY" blocks --json few.data
check_json "a quarter of them does not" '0.15 < d["misfit"] < 0.35 and "believe" not in d["advice"] and
    "do not fit the code, and were left out: is it another build" in d["advice"]' "$ASSAY" blocks --json some.data
check_stderr_line "[0-9.]+ % of the branch entries in .*victim do not fit the code" "… with a warning" "$ASSAY" blocks some.data
check_stderr_line "[0-9.]+ % of the branch entries in .*victim do not fit the code" "… for a compiler too" \
    "$ASSAY" blocks --for bolt -o some.fdata some.data
doubt='most.data: [0-9.]+ % of the branch entries do not fit the code of .*victim: is it another build than the recorded one'
for how in "" --json --csv "--method=flow" "--module=victim" "--for=bolt" "--for=autofdo --module=victim"; do
    # shellcheck disable=SC2086
    check_fails 125 "$doubt.*--method=ip uses those alone" "most entries do not fit: refused $how" "$ASSAY" blocks $how most.data
done
check "… but not their addresses" "$ASSAY" blocks --method=ip most.data
check_fails 125 'torn.data: [0-9.]+ % of the (branch entries|runs between two entries)' "entries of any addresses" "$ASSAY" blocks torn.data

# ---- another build ----
mv victim recorded
cc -O3 -pie -fPIE -o victim victim.c
for how in "" --json "--method=flow" "--for=bolt"; do
    # shellcheck disable=SC2086
    check_fails 125 'of the branch entries do not fit the code of .*victim' "another build that is trusted $how" \
        "$ASSAY" blocks --trust-paths $how taken.data
done
check_fails 125 'of the addresses do not fit the code of .*victim' "… by addresses" "$ASSAY" blocks --trust-paths addresses.data
check "… imported" "$ASSAY" import -q --trust-paths -o other.db taken.data
check_fails 125 'what was sampled does not fit the code of .*victim: is it another build' "… says the same" "$ASSAY" blocks other.db

# ---- another processor ----
# A recording that says of which processor it is: feature 6 of its header, behind the data.
cat >machine.py <<'END'
import struct, sys
data = bytearray(open("taken.data", "rb").read())
struct.pack_into("<Q", data, 72, 1 << 6)
name = sys.argv[1].encode() + b"\0"
open(sys.argv[2], "wb").write(data + struct.pack("<QQ", len(data) + 16, 4 + len(name)) + struct.pack("<I", len(name)) + name)
END
mv recorded victim
python3 machine.py x86_64 same.data
python3 machine.py aarch64 machine.data
check "a recording of the file's processor" "$ASSAY" blocks same.data
check_fails 125 "victim: the file here is of another processor: its code is for x86_64, the recording is of aarch64" \
    "a recording of another processor" "$ASSAY" blocks machine.data
mkdir -p "root$PWD"
: >"root$PWD/victim"
check_fails 125 "victim: the file is not here, or is not an ELF file that can be read" "an empty file" "$ASSAY" blocks --symfs root taken.data
if riscv64-linux-gnu-gcc -O1 -static -o "root$PWD/victim" victim.c 2>cc.log; then
    check_fails 125 "victim: the file here is of another processor: its code is for riscv64, the recording is of x86_64" \
        "a file of another processor below --symfs" "$ASSAY" blocks --symfs root same.data
    check_fails 125 "of the branch entries do not fit the code of .*victim" "… where the recording does not say its own" \
        "$ASSAY" blocks --symfs root taken.data
else
    skip "a file of another processor below --symfs" "$(head -1 cc.log)"
fi

# ---- no recording at all ----
: >empty.data
echo hello >text.data
for how in "" --balance --method=ip "--event cycles" "--symfs ." --trust-paths --drop-oldest; do
    # shellcheck disable=SC2086
    check_fails 127 "absent.data: not found" "a file that is not there $how" "$ASSAY" blocks $how absent.data
    # shellcheck disable=SC2086
    check_fails 125 "empty.data: the file is empty" "an empty file $how" "$ASSAY" blocks $how empty.data
    # shellcheck disable=SC2086
    check_fails 125 "text.data: not a recording of perf" "a text $how" "$ASSAY" blocks $how text.data
done
check_fails 2 "balance is for recordings and profiles, not for a run" "a program is none" "$ASSAY" blocks --balance ./victim
check_fails 2 "balance is for recordings and profiles, not for a run" "… nor what is said to be one" "$ASSAY" blocks --balance -- ./absent

# ---- what is said of what can be read ----
check_json "the law of flow has words of its own" '"Branches of the stacks without their order" in d["advice"] and
    "--method=lbr is more accurate" in d["advice"] and "counts are too low" not in d["advice"]' \
    "$ASSAY" blocks --json --method=flow taken.data
record faults.data faults 500
record clock.data clock 500
check_json "page faults are no time" '"where that happened" in d["advice"] and "time" not in d["advice"]' "$ASSAY" blocks --json faults.data
check_json "… a clock has it" '"where the time went" in d["advice"]' "$ASSAY" blocks --json clock.data
run "$ASSAY" blocks --for pre-aggregated -o faults.bolt faults.data
check_same "… for a compiler" 1 "$(grep -c "counts are of page-faults: they say where those happened" <<<"$err")"
check "page faults as a profile" "$ASSAY" import -q --trust-paths -o faults.db faults.data
check_json "… are no time either" '"where something happened" in d["advice"]' "$ASSAY" blocks --json faults.db
cat >script.txt <<END
victim 77 1.000001:     1000 instructions:u:      555555555131 leaf+0x1 ($PWD/victim)
victim 77 1.000002:     1000 instructions:u:      555555555134 leaf+0x4 ($PWD/victim)
END
check_fails 125 "no sample is in code that could be read: text of perf script does not say where" "text through a pipe" \
    sh -c '"$0" blocks - <script.txt' "$ASSAY"
for pmu in neoverse-n1 tea; do
    run "$ASSAY" blocks --methods --pmu $pmu --period 500 --max 300000 -- ./victim
    check_same "a PMU with one way is not said to have a better one: $pmu" "1 0" \
        "$(grep -c '^This PMU has one way of sampling only: classic' <<<"$out") $(grep -c '^Believe' <<<"$out")"
done
