#!/usr/bin/env bash
# Every way that compare, comm, reuse, trust, whatif, coherence and modelled units have of showing what they found, and programs and
# regions of every kind that are recorded, once and on little, for the sanitizers: their own suites hold the numbers against answers,
# on the plain build.
# sanitized-only: their own suites run on the plain build
# time-limit: 300
# shellcheck disable=SC2016 # scripts in single quotes are the programs to measure
. "$(dirname "$0")/lib.sh"

demo=$STATIC/demo sharing=$STATIC/sharing lines=$STATIC/lines
# writes NAME FILE COMMAND…: it succeeds, and leaves something in the file.
writes() {
    check "$1" "${@:3}"
    check "… and it is written" test -s "$2"
}

writes "comm with allocations" heap.json "$ASSAY" comm --json --period 200 --allocations -o heap.json -- "$WORKLOADS/sharing" false -t 3 -n 3000 -f 0.5
for format in json csv svg html; do
    writes "comm as $format" comm.$format "$ASSAY" comm --$format --period 200 --sockets 2 --cores 4 --pin scatter -o comm.$format -- "$sharing" false -t 3 -n 3000 -f 0.5
done
writes "comm as text" comm.txt "$ASSAY" comm --period 50 -o comm.txt -- "$STATIC/processes" file 100
writes "comm, operations alone" ibs.json "$ASSAY" comm --json --no-exact --sampling=operations --period 200 -o ibs.json -- "$sharing" pairs -t 4 -n 3000
writes "comm by last stores" last.json "$ASSAY" comm --json --method=last-stores --period 50 -o last.json -- "$STATIC/contend" lock -t 3 -n 300

ribench=("$STATIC/ribench" 2 2 20 5 300 5 300 1 10 1 10 1 10)
writes "reuse with allocations" heap.json "$ASSAY" reuse --json --allocations -o heap.json -- "$WORKLOADS/ribench" "${ribench[@]:1}"
for format in json csv html; do
    writes "reuse as $format" reuse.$format "$ASSAY" reuse --$format --interval 5000 --window 1000 -o reuse.$format -- "${ribench[@]}"
done
writes "reuse as text" reuse.txt "$ASSAY" reuse -o reuse.txt -- "${ribench[@]}"
for replacement in reservoir ""; do
    writes "reuse by watchpoints${replacement:+, $replacement}" watch.json "$ASSAY" reuse --json --method watch --exact --period 200 ${replacement:+--replacement "$replacement"} -o watch.json -- "${ribench[@]}"
done
writes "reuse in the shared cache" shared.json "$ASSAY" reuse --json --method watch --shared --period 200 -o shared.json -- "${ribench[@]}"
writes "reuse of a sample of lines" lines.json "$ASSAY" reuse --json --method lines --lines 64 --max 300k -o lines.json -- "$demo" 1

if [ -x "$WORKLOADS/qualify" ]; then
    for format in json csv html; do
        writes "trust as $format" trust.$format "$ASSAY" trust --scale 2 --runs 1 --experiments=bias,mode --$format -o trust.$format skylake
    done
    writes "trust of IBS, as text" trust.txt "$ASSAY" trust --scale 2 --runs 1 --experiments=interval -o trust.txt zen2
fi
for unit in skylake zen2 neoverse-n1 tea; do
    writes "record of $unit" $unit.db "$ASSAY" record -q --source="pmu:$unit" --max 300k --period 1031 -o $unit.db -- "$demo" 1
done
writes "… with branches, as perf's recording" s.data "$ASSAY" record -q --source=pmu:skylake --event loads --event load-latency=20 --branches --max 300k --period 101 -o s.db --perf-data s.data -- "$demo" 1
check "trust in one profile" "$ASSAY" trust skylake.db
check "trust in two" "$ASSAY" trust --json skylake.db zen2.db

writes "whatif" whatif.json "$ASSAY" whatif --json --max 100k --rank 2 --ideal FL-MB --change front.redirect=30 --together -o whatif.json -- "$demo" 1
writes "… as text, of lines that are apart" apart.txt "$ASSAY" whatif --separate counters -o apart.txt -- "$lines" counters 3 1000

writes "compare on two machines, as text" compare.txt "$ASSAY" compare --core boom-tip,zen4-like --max 100k --sweep 53,1009 --random -o compare.txt -- "$demo" 1
writes "… with traces" k "$ASSAY" compare -q --max 20k --konata k --o3pipeview o3 --cycle-trace cycles --cycle-trace-all all -o traced.txt -- "$demo" 1
writes "… of threads" k.threads "$ASSAY" compare -q --konata k.threads --o3pipeview o3.threads -o threads.txt -- "$STATIC/threads" -t 2 -w 20 -r 1
writes "stacks and events" pics.json "$ASSAY" compare --json --events all --top 1000 --max 200k -o pics.json -- "$demo" 1
check "stacks of a function" "$ASSAY" compare -q --max 200k --pics text_fill -- "$demo" 1
check "… of threads" "$ASSAY" compare -q --json --pics main -- "$STATIC/threads" -t 2 -w 20 -r 1

for protocol in mesi mesif moesi; do
    check "threads that share lines, $protocol" "$ASSAY" compare -q --json --samplers none --events all --deterministic --memo check --set coherence.protocol=$protocol,coherence.cores=2 -o co.json -- "$lines" sync 3 32
done
# Threads that end, meet and wait between regions: their cores go while others go on.
for i in 1 2 3; do
    check "a sampled run of threads, $i" "$ASSAY" record -q --budget 20k --sample-period 40k --sample-unit 4k --sample-warm 4k -o sampled.db -- "$STATIC/threads" -w 200
done
check "waits in a profile" "$ASSAY" record -q --deterministic -o waits.db -- "$lines" counters 3 1000
for format in "" --json --csv; do
    check "… reported${format:+ with $format}" "$ASSAY" report waits.db --waits ${format:+"$format"}
done

# ---- records of programs of each kind ----

threads=$STATIC/threads
writes "records of threads, as JSON" records.json "$ASSAY" script -q --json --max 20k -o records.json -- "$threads" -t 2 -w 20 -r 1
writes "… of children that execute programs" records.txt "$ASSAY" script -q -o records.txt --class call,return --max 100k -- sh -c '/bin/true; exec /bin/echo done'
writes "counts of them, checked, with call trees" calls.json "$ASSAY" stat --check --json --calls=0 -o calls.json -- sh -c '/bin/true | /bin/true; exec /bin/true'
check_status 139 "a program that dies" "$ASSAY" record -q -o died.db -- sh -c 'kill -SEGV $$'
check_status 130 "one that is interrupted" "$ASSAY" record -q -o cut.db -- sh -c 'kill -INT $PPID; while :; do :; done'
check "a part of each is kept" "$ASSAY" report --by process cut.db
check "all samplers and events, at chance" "$ASSAY" record -q --samplers software,dispatch,lci,nci,nci+ilp,tip-ilp,tip,ris,ibs,spe,nci-tea,tea --events all --random --max 100k -o all.db -- "$demo" 1
check "without a reference, and what is behind the part" "$ASSAY" record -q --golden=off --rate 1000000 --skip 1000 --max 50k --count-rest -o part.db -- "$demo" 1
check "several runs" "$ASSAY" record -q --repeat 2 -o repeat.db -- "$STATIC/nothing"
check "many threads" "$ASSAY" record -q -o many.db -- "$threads" -t 24 -w 5 -r 1
riscv=$WORKLOADS/demo-riscv64-static
[ ! -x "$riscv" ] || check "a RISC-V program" "$ASSAY" record -q --max 100k -o riscv.db -- "$riscv" 1
for kind in map dump; do
    check "code that a program makes, $kind" "$ASSAY" record -q -o jit.db -- "$WORKLOADS/jit" $kind 4096 "$([ $kind = map ] && echo /tmp || echo .)" calls
    rm -f "/tmp/perf-$(sed -n 's/^pid //p' <<<"$out").map"
    check_json "… and its names" '"jit_heavy" in {r["function"] for r in d["rows"]}' "$ASSAY" report --json --limit 0 jit.db
done
check "switches of stacks" "$ASSAY" record -q -o stacks.db -- "$STATIC/coroutines" scheduler
check "all observers" "$ASSAY" compare -q --samplers none --from main --max 20k --commit-csv c.csv --commit-trace c.bin --counters k.csv --interval 5000 \
    --calls calls.csv --flame flame.txt --timeline --observer counters,k.json,5000 -o observed.txt -- "$demo" 1
check "… of threads" "$ASSAY" compare -q --samplers none --commit-csv t.csv --counters t.counters -o /dev/null -- "$threads" -t 2 -w 20 -r 1
check "… of accesses alone" "$ASSAY" stat --footprint --max 100k -- "$demo" 1

# ---- regions of each kind ----

known=$WORKLOADS/known/x86-regions
if [ -x "$known" ]; then
    printf 'assay-regions 1\nfunction#2..marker,weight=2\n  marker:1#9..+10  \n' >two.regions
    check "a file of regions" "$ASSAY" stat --json --regions two.regions -- "$known"
    check "a region that comes again" "$ASSAY" stat --region marker:1..marker:2,repeat -- "$known"
    check "regions with gaps, warmed and settled" "$ASSAY" compare --json --region 1k..2k --region 5k..7k,warm=500 --region 20k..21k,settle=500 -- "$known"
    check "regions that only warm" "$ASSAY" compare --json --region ..1k,mode=warm --region 1k..2k,mode=count --region 2k..3k -- "$known"
    check "cycles" "$ASSAY" compare --json --region cycle:2000..cycle:3000 -- "$known"
    check "a region behind what is not recorded" "$ASSAY" compare --json --region 8M..+10k -- "$known-long"
    check "… that is never reached" "$ASSAY" stat --region 'function#21..' -- "$known"
fi
check_no_strays "nothing is left behind"
