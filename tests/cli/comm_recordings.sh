#!/usr/bin/env bash
# assay comm on recordings: the counts of perf c2c on one with every kind of data source, by line and by offset, beside
# perf itself where it is installed; recordings that have none, and files that are no recordings.
# sanitized-only: its checks are the same in both builds
. "$(dirname "$0")/lib.sh"

python3 "$SOURCE/tests/cli/c2c_recording.py" c2c.data
check "a recording is read" "$ASSAY" comm --json -o c2c.json c2c.data
holds "counts" '[d["counts"][name] for name in ("records", "loads", "stores", "locks", "hitm", "local_hitm", "remote_hitm",
    "no_map", "load_no_address", "store_no_address", "unparsed")] == [47, 35, 11, 3, 10, 6, 4, 2, 1, 1, 1]' c2c.json
holds "lines, most HITM first" '[(l["address"], l["hitm"], l["loads"], l["stores"]) for l in d["lines"]] ==
    [("0x600000", 8, 8, 8), ("0x600040", 2, 22, 0), ("0x600080", 0, 2, 2)]' c2c.json
holds "offsets and who made the accesses" '[(a["offset"], a["hitm"], a["stores"], a["threads"], a["cpus"])
    for a in d["lines"][0]["accesses"]] == [(8, 5, 0, [78], [1]), (16, 3, 0, [77], [0]), (0, 0, 5, [77], [0]),
    (24, 0, 3, [78], [1])]' c2c.json
holds "latency" 'd["lines"][0]["accesses"][0]["latency"] == 70' c2c.json
check "text" "$ASSAY" comm -o text c2c.data
check "text: HITM" grep -q 'HITM     10: 6 of a core of this socket, 4 of another one' text
check_stdout_equals "line,object,hitm,local_hitm,remote_hitm,loads,stores,records
0x600000,[anon],8,5,3,8,8,16
0x600040,[anon],2,1,1,22,0,22
0x600080,[anon],0,0,0,2,2,4" "csv" "$ASSAY" comm --csv c2c.data

# perf's own words for the counts. Its "LLC hit" has the local HITMs in it.
compare_with_perf() { # RECORDING
    perf c2c report --stdio -i "$1" >perf.txt 2>perf.err && "$ASSAY" comm --json "$1" >ours.json && python3 - <<'END'
import json, re
words = {"Total records": "records", "Locked Load/Store Operations": "locks", "Load Operations": "loads",
         "Loads - uncacheable": "load_uncached", "Loads - IO": "load_io", "Loads - Miss": "load_miss",
         "Loads - no mapping": "load_no_address", "Load Fill Buffer Hit": "load_fill_buffer", "Load L1D hit": "load_l1",
         "Load L2D hit": "load_l2", "Load Local HITM": "local_hitm", "Load Remote HITM": "remote_hitm",
         "Load Remote HIT": "remote_hit", "Load Local DRAM": "local_dram", "Load Remote DRAM": "remote_dram",
         "Load MESI State Exclusive": "exclusive", "Load MESI State Shared": "shared",
         "Load access blocked by data": "blocked_data", "Load access blocked by address": "blocked_address",
         "Load HIT Local Peer": "local_peer", "Load HIT Remote Peer": "remote_peer", "Store Operations": "stores",
         "Store - uncacheable": "store_uncached", "Store - no mapping": "store_no_address", "Store L1D Hit": "store_l1_hit",
         "Store L1D Miss": "store_l1_miss", "No Page Map Rejects": "no_map", "Unable to parse data source": "unparsed"}
text, data = open("perf.txt").read(), json.load(open("ours.json"))
head = text.split("Global Shared Cache Line")[0]
seen = dict(re.findall(r"^  (.+?) +: +(\d+)$", head, re.M))
assert len(words.keys() & seen.keys()) > 20, seen
assert not {w: (int(seen[w]), data["counts"][n]) for w, n in words.items() if w in seen and int(seen[w]) != data["counts"][n]}
rows = re.findall(r"^ +\d+ +(0x[0-9a-f]+) +\S+ +\d+ +[\d.]+% +(\d+) +(\d+) +(\d+) +\d+ +\d+ +(\d+) ", text, re.M)
ours = [[l["address"], *(str(l[n]) for n in ("hitm", "local_hitm", "remote_hitm", "stores"))] for l in data["lines"] if l["hitm"]]
assert [list(row) for row in rows] == ours, (rows, ours)
END
}
if ! perf c2c report --stdio -i c2c.data >/dev/null 2>&1; then
    skip "equal to perf c2c" "no perf here that reads such recordings"
else
    check "equal to perf c2c: every kind of source" compare_with_perf c2c.data
    real=$SOURCE/../shared/data/perf/pebs-load-latency.perf.data
    if [ -r "$real" ]; then
        check "equal to perf c2c: a real recording" compare_with_perf "$real"
    else
        skip "equal to perf c2c: a real recording" "no such file"
    fi
fi

# Bad input.
head -c $(($(stat -c %s c2c.data) * 8 / 10)) c2c.data >cut.data
check "a recording that was cut off is read as far as it goes" "$ASSAY" comm --json -o cut.json cut.data
holds "… and says so" '"partial" in d and 0 < d["counts"]["records"] < 47' cut.json
check_stderr_line 'cut.data is not whole: ' "… to a person, too" "$ASSAY" comm cut.data
head -c 300 c2c.data >cut.data
check_status 125 "a recording that is cut off" "$ASSAY" comm cut.data
printf 'PERFILE2' >tiny.data
check_status 125 "one that is only a magic number" "$ASSAY" comm tiny.data
python3 - <<'END'
data = bytearray(open("c2c.data", "rb").read())
data[104 + 24 + 1] &= 0x7f & ~0x40  # sample_type without DATA_SRC and WEIGHT
open("none.data", "wb").write(data)
END
check_stderr_line 'no sample has a data address and a data source' "one without data sources" "$ASSAY" comm none.data
echo 'echo program' >program && chmod +x program
check_status 127 "a file that is neither" "$ASSAY" comm ./absent.data
