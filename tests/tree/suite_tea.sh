#!/usr/bin/env bash
# The committed results of suite/tea_run: they hold what suite/TEA.md says, and the pictures are drawn from them.
. "$(dirname "$0")/lib.sh"

results() { python3 - "$SOURCE/suite" "$1" <<'PYTHON'; }
import csv, sys
read = lambda table: list(csv.DictReader(open(f"{sys.argv[1]}/tea{table}.csv", encoding="utf-8")))
rows, periods, events, stalls, top = (read(t) for t in ("", "-periods", "-events", "-stalls", "-top"))
SAMPLERS, LEVELS = ["tea", "nci-tea", "ibs", "spe", "ris"], ["instruction", "block", "function", "program"]
TAGGING = ["ibs", "spe", "ris"]
error = lambda row, sampler, level="instruction": float(row[f"{sampler} {level}"])
mean = lambda sampler, level="instruction": sum(error(row, sampler, level) for row in rows) / len(rows)
average = lambda column, some=rows: sum(float(row[column]) for row in some) / len(some)
def median(event):
    some = sorted(float(row["correlation"]) for row in events if row["event"] == event and row["correlation"])
    middle = len(some) // 2
    return some[middle] if len(some) % 2 else (some[middle - 1] + some[middle]) / 2
at = lambda period, sampler: average(sampler, [row for row in periods if row["period"] == str(period)])
def height(program, rank, series):
    return sum(float(row["share"]) for row in top if (row["program"], row["rank"], row["series"]) == (program, rank, series))
def line(first):  # of the tables in TEA.md
    text = next(l for l in open(f"{sys.argv[1]}/TEA.md", encoding="utf-8") if l.startswith(f"| {first} |"))
    return [cell.strip() for cell in text.strip().strip("|").split("|")][1:]
tidy = lambda values, digits=1: [f"{value:.{digits}f}" for value in values]
if not eval(sys.argv[2]):
    sys.exit(f"not so: {sys.argv[2]}")
PYTHON

check "24 programs and more" results 'len(rows) >= 24'
check "TEA is wrong by 2.1 % on average at most" results 'mean("tea") <= 2.1'
check "… and by 7.7 % at most" results 'max(error(row, "tea") for row in rows) <= 7.7'
check "… no more than sampling costs" results 'all(error(row, "tea") <= float(row["noise"]) + 0.05 for row in rows)'
check "… with enough samples" results 'all(float(row["noise"]) <= 8 for row in rows)'
check "NCI-TEA comes next, those that tag far behind" results \
    'all(10 * mean("tea") < mean("nci-tea") < 0.5 * mean(s) for s in TAGGING)'
check "… for every program, but for NCI-TEA where flushes are all of it" results \
    'all(error(row, "tea") <= min(error(row, s) for s in SAMPLERS) for row in rows) and \
     [row["program"] for row in rows if error(row, "nci-tea") > error(row, "ibs")] in ([], ["rv-ceil"])'
check "IBS and SPE are alike, RIS is worse" results 'abs(mean("ibs") - mean("spe")) < 1 and mean("ris") > mean("ibs")'
check "coarser stacks are better" results 'all(mean(s, a) >= mean(s, b) for s in SAMPLERS for a, b in zip(LEVELS, LEVELS[1:]))'
check "… but for those that tag, never good" results 'all(mean(s, "program") > 15 for s in TAGGING)'
check "TEA's error falls with more samples" results \
    'all(at(a, "tea") < at(b, "tea") for a, b in zip((31, 101, 331, 1009, 3301), (101, 331, 1009, 3301, 10007)))'
check "… the others' hardly" results 'all(at(31, s) > 0.9 * at(1009, s) - 3 for s in SAMPLERS[1:])'
check "flushes cost what they are counted" results 'min(median(e) for e in ("FL-MB", "FL-EX", "FL-MO")) > 0.8'
check "… misses do not" results 'max(median(e) for e in ("ST-L1", "ST-TLB", "ST-LLC", "DR-L1", "DR-TLB")) < 0.8'
check "TEA sees the top instructions as they are" results \
    'all(abs(height(row["program"], row["rank"], "tea") - height(row["program"], row["rank"], "golden")) < 0.5 for row in top)'
check "… IBS does not" results \
    'max(abs(height(row["program"], row["rank"], "ibs") - height(row["program"], row["rank"], "golden")) for row in top) > 20'
check "stalls that no event explains are short for two thirds of the programs" results \
    'sum(int(row["stalls p99"]) <= 7 for row in rows) >= 2 * len(rows) / 3'
check "… the others are looked into" results \
    '{row["program"] for row in stalls} == {row["program"] for row in rows if int(row["stalls p99"]) > 7}'
check "… and most of them divide" results \
    'sum(float(row["divisions"]) > 90 for row in stalls if row["events"] == "tea") > sum(row["events"] == "tea" for row in stalls) / 2'
check "every program is in every other table" results \
    'all({row["program"] for row in rows} == {row["program"] for row in t} for t in (periods, events))'

check "TEA.md has the means" results 'all(line(f"here, {level}") == tidy(mean(s, level) for s in SAMPLERS) for level in LEVELS)'
check "… the 99th percentiles" results 'all(int(line("nine events")[i]) == int(row["p99"])
    for i, row in enumerate(row for row in stalls if row["events"] == "tea"))'
check "… the largest" results 'line("here, at most") == tidy(max(error(row, s) for row in rows) for s in SAMPLERS)'
check "… the periods" results 'all(line(f"{p:,}")[0] == tidy([at(p, "tea")])[0] for p in (31, 101, 331, 1009, 3301, 10007))'
check "… the correlations" results 'all(line(row["event"])[0] == tidy([median(row["event"])], 2)[0] for row in events)'

cp "$SOURCE"/suite/tea*.csv .
check "the pictures can be drawn" "$SOURCE/suite/tea_draw" tea.csv
for picture in tea tea-levels tea-top tea-events tea-periods tea-stalls; do
    check "$picture.svg is the committed one" cmp "$picture.svg" "$SOURCE/suite/$picture.svg"
    check "… and is well-formed" python3 -c 'import sys, xml.dom.minidom as d; d.parse(sys.argv[1])' "$picture.svg"
done
check_status 1 "tea_draw without a file says how" "$SOURCE/suite/tea_draw"

# The expected noise: exact for a coin thrown twice (1/4 each of 0, 1/2, 1/2, 1), close to the usual formula for many.
noise() { python3 - "$SOURCE/suite" <<'EOF'; }
import importlib.machinery, importlib.util, math, sys
sys.dont_write_bytecode = True
loader = importlib.machinery.SourceFileLoader("tea_run", sys.argv[1] + "/tea_run")
run = importlib.util.module_from_spec(importlib.util.spec_from_loader("tea_run", loader))
loader.exec_module(run)
assert abs(run.expected_noise([0.5, 0.5], 2) - 0.25) < 1e-12
assert abs(run.expected_noise([0.5, 0.5], 1) - 0.5) < 1e-12
shares, n = [0.1] * 10, 100000
usual = sum(math.sqrt(2 / math.pi * p * (1 - p) / n) for p in shares) / 2
assert abs(run.expected_noise(shares, n) / usual - 1) < 0.01
EOF
check "the expected noise is right" noise
