#!/usr/bin/env bash
# The suite's committed results: they hold what the project promises, and the pictures are drawn from them.
. "$(dirname "$0")/lib.sh"

results() { python3 - "$SOURCE/suite/results.csv" "$1" <<'EOF'; }
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1], encoding="utf-8")))
error = lambda row, sampler, level="instruction": float(row[f"{sampler} {level}"])
mean = lambda sampler, level="instruction": sum(error(row, sampler, level) for row in rows) / len(rows)
classes = [row["class"] for row in rows]
if not eval(sys.argv[2]):
    sys.exit(f"not so: {sys.argv[2]}")
EOF
check "24 programs and more" results 'len(rows) >= 24'
check "each class has four and more" results 'all(classes.count(c) >= 4 for c in ("compute", "flush", "stall"))'
check "most are Debian's, not ours" results 'sum(not row["program"].startswith("rv-") for row in rows) > len(rows) / 2'
check "TIP is wrong by 1.6 % on average at most" results 'mean("tip") <= 1.6'
check "… and by 5 % at most" results 'max(error(row, "tip") for row in rows) <= 5'
check "… no more than sampling costs" results 'all(error(row, "tip") <= float(row["noise"]) + 0.05 for row in rows)'
check "… never in what it charges" results 'all(float(row["systematic tip"]) == 0 for row in rows)'
check "the samplers come in the paper's order" results \
    'mean("software") > mean("dispatch") > mean("nci") > mean("tip-ilp") > mean("tip") and mean("lci") > mean("nci")'
check "… and none is as good as TIP" results 'all(mean(s) > 4 * mean("tip") for s in ("software", "dispatch", "lci",
    "nci", "nci+ilp", "tip-ilp"))'
check "coarser profiles are better" results 'all(mean(s, "instruction") > mean(s, "block") > mean(s, "function") for s in
    ("software", "dispatch", "lci", "nci", "nci+ilp", "tip-ilp", "tip"))'
check "NCI beats NCI+ILP where it stalls" results 'all(error(row, "nci") < error(row, "nci+ilp") for row in rows
    if float(row["load_stall"]) > 80)'

cp "$SOURCE"/suite/results*.csv .
check "the pictures can be drawn" "$SOURCE/suite/draw" results.csv
for picture in results results-stacks results-periods; do
    check "$picture.svg is the committed one" cmp "$picture.svg" "$SOURCE/suite/$picture.svg"
    check "… and is well-formed" python3 -c 'import sys, xml.dom.minidom as d; d.parse(sys.argv[1])' "$picture.svg"
done
check_status 1 "draw without a file says how" "$SOURCE/suite/draw"

# ---- bias: what reports say of the error to expect (suite/bias_run, src/score/bias.h) ----

bias() { python3 - "$SOURCE/suite" "$1" <<'END'; }
import csv, math, sys
read = lambda name: list(csv.DictReader(open(f"{sys.argv[1]}/{name}.csv", encoding="utf-8")))
rows, points = read("bias"), read("results-periods")
of = lambda way, level="instruction": sorted(float(row[level]) for row in rows if row["way"] == way)
median = lambda values: values[len(values) // 2]
def apart(sampler):
    """How far bias and chance together are from the errors with fewer samples, on average: in points."""
    often = {point["program"]: point for point in points if point["period"] == "31"}
    chance = lambda point: float(point["tip"]) / 0.65  # README.md: TIP shares samples, so that chance is 0.65 of others'
    gaps = []
    for point in points:
        first = often[point["program"]]
        bias = math.sqrt(max(0, float(first[sampler]) ** 2 - chance(first) ** 2))
        if point is not first:
            gaps.append(abs(min(100, math.hypot(bias, chance(point))) - float(point[sampler])))
    return sum(gaps) / len(gaps)
if not eval(sys.argv[2]):
    sys.exit(f"not so: {sys.argv[2]}")
END
check "each way has 10 programs and more" bias 'all(len(of(way)) >= 10 for way in {row["way"] for row in rows})'
check "an interrupt is the worst for time" bias 'median(of("interrupt")) > median(of("ibs-cycles")) > median(of("pebs-cycles")) > median(of("tip"))'
check "a precise distribution helps" bias 'median(of("pdir-instructions")) < median(of("pebs-instructions")) / 4'
check "bias and chance come together in squares" bias 'all(apart(s) < 1.5 for s in ("software", "dispatch", "lci", "nci"))'
