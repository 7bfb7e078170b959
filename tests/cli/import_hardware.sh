#!/usr/bin/env bash
# Recordings with AMD's IBS and Arm's SPE, made byte by byte (tests/unit/perfdata/perf_hardware.c): imported and reported.
# No processor here has either.
# sanitized-only: what is read is the same in both builds
. "$(dirname "$0")/lib.sh"

"$BUILD/tests/unit/perfdata/perf_seeds" . || exit 1

# ---- IBS ----

check "a recording of IBS" "$ASSAY" import -o ibs.db ibs
check_json "… its operations" '(d["summary"]["samples"] == 14 and d["summary"]["period"] == 1600
    and d["summary"]["description"].startswith("AMD IBS op: ") and "1,600 dispatched operations" in d["summary"]["description"]
    and [(r["module"].split("/")[-1], r["samples"]) for r in d["rows"]] == [("prog", 14)])' \
    "$ASSAY" report --json ibs.db
check_json "… by what they met" '([(r["address"], r["samples"]) for r in d["rows"]] == [("0x401030", 1)])' "$ASSAY" report --by instruction --event mispredicted --json ibs.db
check_json "… a load that missed everything" '([r["components"] for r in d["rows"]]
    == [{"RAM+L1-miss+L2-miss+TLB-walk+load+remote+TLB-miss+far-node": 1600}])' \
    "$ASSAY" report --by instruction --event TLB-walk --json ibs.db
for series in 'tag to retire:1105' 'completion to retire:88' 'miss latency:468' 'TLB refill latency:40' 'open requests:3'; do
    check_json "… ${series%:*}" "(d['summary']['sampler'] == 'ibs_op/cnt_ctl=1/ ${series%:*}'
        and sum(r['cycles'] for r in d['rows']) == ${series#*:})" \
        "$ASSAY" report --series "ibs_op/cnt_ctl=1/ ${series%:*}" --json ibs.db
done
check_json "… what they accessed" '(d["addresses"]["hardware"] == 7 and [(r["samples"], r["load_time"], r["store_time"]) for r in d["rows"]]
    == [(7, 9600, 1600)])' "$ASSAY" report --data --json ibs.db
check_json "… where they branched to" '([(b["taken"], b["mispredicted"]) for b in d["rows"]] == [(2, 1), (1, 0)])' \
    "$ASSAY" report --branches --json ibs.db
check_json "… fetches" '(d["summary"]["samples"] == 3 and d["summary"]["description"].startswith("AMD IBS fetch: "))' \
    "$ASSAY" report --series 'ibs_fetch//' --json ibs.db
check_json "… what could not be decoded is said" '({"raw_bad": 1, "raw_invalid": 1}.items()
    <= {q["key"]: q["value"] for q in d["summary"]["quality"]}.items())' "$ASSAY" report --json ibs.db

# ---- SPE ----

for name in spe spe-pipe; do
    check "a recording of SPE ($name)" "$ASSAY" import -o spe.db "$name"
    check_json "… its records" '(d["summary"]["samples"] == 13 and d["summary"]["description"].startswith("Arm SPE: ")
        and {r["module"].split("/")[-1]: r["samples"] for r in d["rows"]} == {"second": 10, "first": 1, "[kernel]": 1, "[unknown]": 1})' \
        "$ASSAY" report --by module --json spe.db
    check_json "… by thread" '({r["thread"]: r["samples"] for r in d["rows"]} == {101: 5, 102: 7, 0: 1})' \
        "$ASSAY" report --by thread --json spe.db
    check_json "… latencies" '(sum(r["cycles"] for r in d["rows"]) == 299)' \
        "$ASSAY" report --series 'arm_spe_0/ts_enable=1/ total latency' --json spe.db
    check_json "… what they accessed" '(d["addresses"]["hardware"] == 4 and sum(r["samples"] for r in d["rows"]) == 4)' \
        "$ASSAY" report --data --json spe.db
    check_json "… where they branched to" '([(b["taken"], b["mispredicted"]) for b in d["rows"]] == [(1, 1)])' \
        "$ASSAY" report --branches --json spe.db
done
check "… as a page" "$ASSAY" report --html page.html spe.db
check "… exported" "$ASSAY" export --to=json -o spe.json spe.db
