#!/usr/bin/env bash
# Every way that compare, comm, reuse, trust, whatif, coherence and modelled units have of showing what they found, once and
# on little, for the sanitizers: their own suites hold the numbers against answers, on the plain build.
# sanitized-only: their own suites run on the plain build
# time-limit: 240
. "$(dirname "$0")/lib.sh"

demo=$WORKLOADS/demo sharing=$WORKLOADS/sharing lines=$WORKLOADS/lines
# writes NAME FILE COMMAND…: it succeeds, and leaves something in the file.
writes() {
    check "$1" "${@:3}"
    check "… and it is written" test -s "$2"
}

for format in json csv svg html; do
    writes "comm as $format" comm.$format "$ASSAY" comm --$format --period 200 --allocations --sockets 2 --cores 4 --pin scatter -o comm.$format -- "$sharing" false -t 3 -n 3000 -f 0.5
done
writes "comm as text" comm.txt "$ASSAY" comm --period 50 -o comm.txt -- "$WORKLOADS/processes" file 100
writes "comm, operations alone" ibs.json "$ASSAY" comm --json --no-exact --sampling=operations --period 200 -o ibs.json -- "$sharing" pairs -t 4 -n 3000

ribench=("$WORKLOADS/ribench" 2 2 20 5 300 5 300 1 10 1 10 1 10)
for format in json csv html; do
    writes "reuse as $format" reuse.$format "$ASSAY" reuse --$format --allocations --interval 5000 --window 1000 -o reuse.$format -- "${ribench[@]}"
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
writes "… of threads" k.threads "$ASSAY" compare -q --konata k.threads --o3pipeview o3.threads -o threads.txt -- "$WORKLOADS/threads" -t 2 -w 20 -r 1
writes "stacks and events" pics.json "$ASSAY" compare --json --events all --top 1000 --max 200k -o pics.json -- "$demo" 1
check "stacks of a function" "$ASSAY" compare -q --max 200k --pics text_fill -- "$demo" 1
check "… of threads" "$ASSAY" compare -q --json --pics main -- "$WORKLOADS/threads" -t 2 -w 20 -r 1

for protocol in mesi mesif moesi; do
    check "threads that share lines, $protocol" "$ASSAY" compare -q --json --samplers none --events all --deterministic --memo check --set coherence.protocol=$protocol,coherence.cores=2 -o co.json -- "$lines" sync 3 32
done
# Threads that end, meet and wait between regions: their cores go while others go on.
for i in 1 2 3; do
    check "a sampled run of threads, $i" "$ASSAY" record -q --budget 100k --sample-period 200k --sample-unit 20k --sample-warm 20k -o sampled.db -- "$WORKLOADS/threads"
done
check "waits in a profile" "$ASSAY" record -q --deterministic -o waits.db -- "$lines" counters 3 1000
for format in "" --json --csv; do
    check "… reported${format:+ with $format}" "$ASSAY" report waits.db --waits ${format:+"$format"}
done
check_no_strays "nothing is left behind"
