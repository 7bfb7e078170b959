#!/usr/bin/env bash
# assay comm --mpi: what the ranks of an MPI program send to each other. The program's messages are known to the byte; it runs
# with a small MPI of the tree's own, and with Open MPI where that is installed.
# plain-only: what is counted is counted in a library that no sanitizer is in
. "$(dirname "$0")/lib.sh"

# Rank r sends 20 messages of 8 (r + 1) bytes to the next; 96 bytes are broadcast, 16 reduced by all; in the small MPI, 0 sends 5 bytes to
# rank 0 of a communicator in which that is the last one.
around='[[20 * 8 * (a + 1) if b == (a + 1) % 4 else 0 for b in range(4)] for a in range(4)]'
together='[[0, 112, 112, 112], [16, 0, 0, 0], [16, 0, 0, 0], [16, 0, 0, 0]]'
plus_one="(lambda m: [[m[a][b] + 5 * ((a, b) == (0, 3)) for b in range(4)] for a in range(4)])($around)"
ranks=$WORKLOADS/ranks

# How often lines move between processes is the host's affair, but they do.
in_the_model() {
    check "in the model" "$ASSAY" comm --mpi --no-estimate --json -o model.json -- "$ranks" 20
    holds "… lines between the same processes, both ways alike" "(lambda m: all(m[a][(a + 1) % 4] > 0 == m[a][a] for a in range(4))
        and m == [list(c) for c in zip(*m)])(d['mpi']['lines'])" model.json
}
by_chance in_the_model
holds "… bytes and messages of each pair" "d['mpi']['ranks'] == 4 and d['mpi']['bytes'] == $plus_one and
    d['mpi']['total_messages'] == 81 == sum(sum(r) for r in d['mpi']['messages']) and d['mpi']['elsewhere'] == 0" model.json
holds "… what collective operations move" "d['mpi']['collective_bytes'] == $together and d['mpi']['total_collective_bytes'] == 384" model.json
holds "ranks are processes, with their threads" "{t['rank']: t['pid'] for t in d['by_thread']} == dict(enumerate(d['mpi']['pids'])) and
    len(set(d['mpi']['pids'])) == 4" model.json

"$ASSAY" comm --mpi --no-estimate -o text -- "$ranks" 20
check "as text" grep -qE -- 'MPI: 4 ranks; 1,605 bytes in 81 messages, 384 bytes of collective operations' text
"$ASSAY" comm --mpi --no-estimate --csv -o pairs.csv -- "$ranks" 20
check "as CSV, by pair of ranks" grep -qE -- '^2,3,20,480,0,' pairs.csv
"$ASSAY" comm --mpi --no-estimate --svg -o map.svg -- "$ranks" 20
check "as heat maps" grep -qE -- 'ranks 2 and 3: 480<' map.svg
"$ASSAY" comm --mpi --no-estimate -o none -- "$STATIC/lines" padded 2 100 >/dev/null
check "no MPI in it: said" grep -qE -- 'MPI: no process initialised it' none
check_status 2 "not for a process that runs already" "$ASSAY" comm --mpi --source=timer --pid 1

if "$ASSAY" comm --source=timer -- "$STATIC/nothing" >/dev/null 2>try.err; then
    check "on the machine" "$ASSAY" comm --mpi --source=timer --json -o native.json -- "$ranks" 20
    holds "… the same" "d['mpi']['bytes'] == $plus_one and d['mpi']['collective_bytes'] == $together" native.json
else
    skip "on the machine" "$(cat try.err)"
fi

exec </dev/null # MPICH's starter reads ahead of its ranks
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
for kind in openmpi mpich; do
    if [ -s native.json ] && command -v "mpicc.$kind" >/dev/null && command -v "mpirun.$kind" >/dev/null; then
        more=()
        [ $kind = openmpi ] && more=(--oversubscribe)
        "mpicc.$kind" -O1 -o "ranks-$kind" "$SOURCE/workloads/ranks.c"
        check "$kind, on the machine" "$ASSAY" comm --mpi --source=timer --json -o "$kind.json" -- "mpirun.$kind" "${more[@]}" -n 4 "./ranks-$kind" 20
        holds "… the same" "d['mpi']['bytes'] == $around and d['mpi']['collective_bytes'] == $together" "$kind.json"
    else
        skip "$kind" "not installed, or nothing can be sampled"
    fi
done
