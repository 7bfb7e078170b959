#!/usr/bin/env python3
"""How long merging takes, and how much memory: two profiles of a million instructions, and a thousand small ones.

   bench/merge_bench.py [--build build] [--instructions N] [--profiles N] [--json FILE]

The large ones come from store_bench, the small ones are copies of one of the model and of one of this machine's timer.
Processor time and peak memory are those of `assay merge` alone, as the kernel counts them for a child."""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile


def merge(assay, inputs, output):
    pid = os.fork()
    if pid == 0:
        os.execv(assay, [assay, 'merge', '-q', *inputs, '-o', output])
    _, status, usage = os.wait4(pid, 0)
    if status != 0:
        sys.exit(f'merge_bench: assay merge ended with status {status}')
    return {'seconds': round(usage.ru_utime + usage.ru_stime, 2), 'megabytes': round(usage.ru_maxrss / 1024),
            'inputs': len(inputs), 'input_megabytes': round(sum(map(os.path.getsize, inputs)) / 1e6, 1)}


def copies(source, directory, n):
    paths = [os.path.join(directory, f'{os.path.basename(source)}.{i}') for i in range(n)]
    for path in paths:
        shutil.copyfile(source, path)
    return paths


def run(command):
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument('--build', default='build')
    options.add_argument('--instructions', type=int, default=1000000)
    options.add_argument('--profiles', type=int, default=1000)
    options.add_argument('--json')
    given = options.parse_args()
    assay, demo = os.path.abspath(f'{given.build}/assay'), f'{given.build}/workloads/demo'
    results = {}
    with tempfile.TemporaryDirectory() as directory:
        def inside(name):
            return os.path.join(directory, name)
        run([f'{given.build}/bench/store_bench', str(given.instructions), inside('large.db')])
        results['large'] = merge(assay, copies(inside('large.db'), directory, 2), inside('out.db'))
        run([assay, 'record', '-q', '--max', '2M', '-o', inside('model.db'), '--', demo, '1'])
        run([assay, 'record', '-q', '--source=timer', '-o', inside('timer.db'), '--', demo, '1'])
        for name in 'model', 'timer':
            results[name] = merge(assay, copies(inside(f'{name}.db'), directory, given.profiles), inside('out.db'))
    for name, result in results.items():
        print(f"{name}: {result['inputs']} profiles, {result['input_megabytes']} MB: {result['seconds']} s of processor "
              f"time, {result['megabytes']} MB of memory")
    if given.json:
        with open(given.json, 'w', encoding='utf-8') as file:
            json.dump(results, file, indent=2)


if __name__ == '__main__':
    main()
