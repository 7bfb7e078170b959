#!/usr/bin/env python3
"""What `assay comm` says of real programs with threads: who hands lines to whom, and what they are.

usage: bench/comm_programs.py [--only NAME,…] [--matrices] [BUILD]

Compressors, x264 and redis of this machine (those that are not in PATH are left out), an OpenMP stencil and a queue with one lock, which are
compiled here. In the model, exact, with the heap by the place that allocated it. redis has four threads for its clients' data, and
16 clients of redis-benchmark on the loopback.
"""
import argparse
import json
import pathlib
import shutil
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent

STENCIL = """
#include <stdio.h>
enum { N = 96, STEPS = 6 };
static double grid[2][N][N];
int main(void)
{
    for (int i = 0; i < N; i++)
        grid[0][i][0] = i;
    for (int step = 0; step < STEPS; step++) {
#pragma omp parallel for num_threads(4) schedule(static)
        for (int i = 1; i < N - 1; i++)
            for (int k = 1; k < N - 1; k++)
                grid[~step & 1][i][k] = (grid[step & 1][i - 1][k] + grid[step & 1][i + 1][k] + grid[step & 1][i][k - 1] +
                                         grid[step & 1][i][k + 1]) / 4;
    }
    printf("%f\\n", grid[STEPS & 1][N / 2][1]);
    return 0;
}
"""

QUEUE = """
#include <pthread.h>
#include <stdio.h>
enum { ITEMS = 4000, ROOM = 64 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long queue[ROOM], head, tail, taken;
static void *put(void *a)
{
    for (long i = 0; i < ITEMS;) {
        pthread_mutex_lock(&lock);
        if (tail - head < ROOM)
            queue[tail++ % ROOM] = i++;
        pthread_mutex_unlock(&lock);
    }
    return a;
}
static void *take(void *a)
{
    for (long i = 0; i < ITEMS;) {
        pthread_mutex_lock(&lock);
        if (head < tail) {
            taken += queue[head++ % ROOM];
            i++;
        }
        pthread_mutex_unlock(&lock);
    }
    return a;
}
int main(void)
{
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], 0, i % 2 ? put : take, 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], 0);
    printf("%ld\\n", taken);
    return 0;
}
"""


def compiled(folder, name, source, *flags):
    path = pathlib.Path(folder, name)
    subprocess.run(["cc", "-O2", "-g", "-fno-omit-frame-pointer", *flags, "-x", "c", "-o", str(path), "-"], input=source.encode(), check=True)
    return [str(path)]


def programs(folder):
    data = pathlib.Path(folder, "data")
    data.write_bytes(pathlib.Path("/usr/lib/x86_64-linux-gnu/libc.so.6").read_bytes()[:1 << 20])
    yield "pigz -p4", ["pigz", "-p4", "-b", "128", "-k", "-c", str(data)]
    yield "xz -T4", ["xz", "-T4", "-1", "--block-size=256KiB", "-k", "-c", str(data)]
    yield "zstd -T4", ["zstd", "-T4", "-B262144", "-3", "-q", "-c", str(data)]
    picture = pathlib.Path(folder, "frames.yuv")
    picture.write_bytes(bytes((x * y + 7 * f + (x ^ y)) & 255 for f in range(8) for y in range(216) for x in range(176)))
    yield "x264 --threads 4", ["x264", "--threads", "4", "--preset", "veryfast", "--input-res", "176x144", "--demuxer", "raw", "-o", f"{folder}/x.264",
                               str(picture)]
    yield "redis, 4 io-threads", ["redis-server", "--save", "", "--port", "0", "--unixsocket", f"{folder}/socket", "--io-threads", "4",
                                  "--io-threads-do-reads", "yes"]
    yield "OpenMP stencil, 4 threads", compiled(folder, "stencil", STENCIL, "-fopenmp")
    yield "queue with one lock, 2 + 2 threads", compiled(folder, "queue", QUEUE, "-pthread")


def run(command, folder):
    """Where it is a server, with clients."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    if "redis-server" in command:
        client = ["redis-cli", "-s", f"{folder}/socket"]
        for _ in range(300):
            if subprocess.run([*client, "ping"], capture_output=True).returncode == 0:
                break
            time.sleep(0.1)
        subprocess.run(["redis-benchmark", "-s", f"{folder}/socket", "-n", "400", "-c", "16", "-P", "4", "-t", "set,get", "-q"], capture_output=True,
                       timeout=120, check=True)
        subprocess.run([*client, "shutdown", "nosave"], capture_output=True)
    if process.wait(timeout=300):
        raise SystemExit(f"{command}: status {process.returncode}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="")
    parser.add_argument("--matrices", action="store_true")
    parser.add_argument("build", nargs="?", type=pathlib.Path, default=ROOT / "build")
    args = parser.parse_args()
    assay = str(args.build / "assay")
    print("| program | threads | transfers | in 1,000 accesses | false sharing | pattern | most on |")
    print("|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for name, command in programs(folder):
            if not shutil.which(command[0]) or (args.only and name.split()[0].strip(",") not in args.only.split(",")):
                continue
            out = pathlib.Path(folder, "comm.json")
            run([assay, "comm", "--json", "--no-estimate", "--allocations", "-o", str(out), "--", *command], folder)
            result = json.loads(out.read_text())
            exact, most = result["exact"], "; ".join(f"{o['name'].split(' < ')[0]} {100 * o['total'] / max(result['total'], 1):.0f} %"
                                                     for o in result["objects"][:3])
            print(f"| {name} | {result['threads']} | {exact['total']:,} | {1000 * exact['total'] / max(exact['accesses'], 1):.2f} | "
                  f"{100 * exact['false_sharing'] / max(exact['total'], 1):.0f} % | {result['pattern']} | {most} |", flush=True)
            for row in exact["matrix"] if args.matrices else []:
                print("   ", *(f"{cell:7}" for cell in row))


if __name__ == "__main__":
    main()
