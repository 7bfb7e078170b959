#!/usr/bin/env bash
# The core that is modelled where none is named: the nearest to this processor for x86-64 programs, the same for all
# verbs, with the reason; and what a profile says about the processor that the program saw.
# plain-only: a choice among files, and few instructions
. "$(dirname "$0")/lib.sh"
unset ASSAY_CORE

demo=$STATIC/demo
check_json "record says which core, and why" '(lambda s: s["core_why"].startswith("core " + s["core"] + ": ") and "nearest to this" in s["core_why"] or "none is near" in s["core_why"])(d["summary"])' \
    "$ASSAY" record --json --max 1000 -o near.db -- "$demo" 1
core=$(sqlite3 near.db "SELECT value FROM meta WHERE key = 'core'")
check_stderr_line "core $core: .*this .*\(.*, family [0-9]+, model [0-9]+\)" "compare, too" "$ASSAY" compare --json -o near.json --max 1000 -- "$demo" 1
holds "… the same one" "d[\"core\"] == \"$core\"" near.json
says_core() { "$ASSAY" "$@" 2>&1 >/dev/null | grep -q "^assay: core $core: "; }
check "whatif as well" says_core whatif --rank 1 --max 1000 -- "$demo" 1
check "points as well" says_core points --interval 100k -- "$STATIC/nothing"
check "reuse as well" says_core reuse --max 1000 -- "$demo" 1
check "blocks as well" says_core blocks --methods --max 1000 -- "$demo" 1
vendor=$(sed -n 's/^vendor_id[[:space:]]*: //p' /proc/cpuinfo | head -n 1)
case $vendor in
AuthenticAMD) check_same "an AMD" zen4-like "$core" ;;
GenuineIntel) check "an Intel" grep -qE '^(golden-cove|skylake)-like$' <<<"$core" ;;
*) skip "a known vendor" "this is ${vendor:-no x86-64}" ;;
esac
check "the report says why" "$ASSAY" report near.db
report=$out
check "… in a line of its own" grep -q "^core $core: " <<<"$report"
check "… and that the program saw another processor" grep -q '^note: the program saw the processor of QEMU by CPUID, not this one' <<<"$report"
# What this machine has and QEMU's processor has not, as a program sees it here and there: features without which others are
# not there either stand for those.
cat >features.c <<'END'
#include <cpuid.h>
#include <stdio.h>
static int has(unsigned leaf, unsigned part, unsigned where, unsigned bit)
{
    unsigned words[4] = {0};
    __get_cpuid_count(leaf, part, &words[0], &words[1], &words[2], &words[3]);
    return words[where] >> bit & 1;
}
int main(void)
{
    static const struct { const char *name; unsigned leaf, where, bit; } list[] = {
        {"MOVBE", 1, 2, 22}, {"AVX", 1, 2, 28}, {"BMI1", 7, 1, 3}, {"AVX2", 7, 1, 5}, {"BMI2", 7, 1, 8}, {"ERMS", 7, 1, 9},
        {"AVX-512", 7, 1, 16}, {"ADX", 7, 1, 19}, {"SHA", 7, 1, 29}, {"GFNI", 7, 2, 8}, {"VAES", 7, 2, 9},
        {"VPCLMULQDQ", 7, 2, 10}, {"FSRM", 7, 3, 4}};
    for (unsigned i = 0; i < sizeof list / sizeof *list; i++)
        if (has(list[i].leaf, 0, list[i].where, list[i].bit))
            puts(list[i].name);
}
END
gcc -o features features.c
missing=$(grep -vxFf <(qemu-x86_64 ./features) <(./features))
note=$(sqlite3 near.db "SELECT text FROM quality WHERE key = 'cpuid'")
for feature in $missing; do
    check "… without $feature" grep -qE "(without|,) ${feature}[,;]" <<<"$note"
done
for feature in $(qemu-x86_64 ./features); do
    check_same "… not without $feature" "" "$(grep -oE "(without|,) ${feature}[,;]" <<<"$note")"
done
check_json "… in JSON" 'any(q["key"] == "cpuid" for q in d["summary"]["quality"])' "$ASSAY" report --json near.db

check "--core: nothing to explain" "$ASSAY" record -q --core boom-tip --max 1000 -o named.db -- "$demo" 1
check_same "… so nothing is" "boom-tip|" "$(sqlite3 named.db "SELECT (SELECT value FROM meta WHERE key = 'core'), (SELECT value FROM meta WHERE key = 'core_why')")"
by_variable() { ASSAY_CORE=$1 "$ASSAY" compare --json -o named.json --max 1000 -- "$demo" 1; }
check "ASSAY_CORE" by_variable golden-cove-like
holds "… decides" 'd["core"] == "golden-cove-like"' named.json
check_same "… without a word" "" "$err"
check_fails 2 "no machine" "… and must be a machine" by_variable absent
riscv=$WORKLOADS/demo-riscv64-static
if [ -x "$riscv" ]; then
    check "a RISC-V program" "$ASSAY" compare --json -o riscv.json --max 1000 -- "$riscv" 1
    holds "… has a core of its own kind" 'd["core"] == "boom-tea"' riscv.json
    check "… and so has its profile" "$ASSAY" record -q --max 1000 -o riscv.db -- "$riscv" 1
    check_same "… which says nothing of CPUID" "boom-tea|0" "$(sqlite3 riscv.db "SELECT (SELECT value FROM meta WHERE key = 'core'), (SELECT count(*) FROM quality WHERE key = 'cpuid')")"
fi
