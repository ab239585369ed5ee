# SPDX-License-Identifier: Apache-2.0
"""What other programs count of a program: strace its system calls, perf its events."""
import os
import re
import subprocess

from harness import DIR, Skip, need

# Addresses are the same in every run, and so is what depends on them.
STILL = ('setarch', '-R')
ENVIRONMENT = {**os.environ, 'PYTHONHASHSEED': '0', 'LC_ALL': 'C'}


def calls_by_strace(*command, starter=()):
    """{call: (calls, errors)}, but for those of what starts strace."""
    need('strace')
    out = os.path.join(DIR, 'strace')
    subprocess.run([*starter, 'strace', '-f', '-c', '-o', out, *command], capture_output=True,
                   timeout=120, check=True, env=ENVIRONMENT)
    counts = {}
    with open(out, encoding='ascii') as f:
        for line in f:
            if m := re.fullmatch(r'\s*[\d.]+\s+[\d.]+\s+\d+\s+(\d+)\s+(\d+)?\s*(\w+)\n', line):
                counts[m[3]] = (int(m[1]), int(m[2] or 0))
    counts.pop('total', None)
    assert counts, out
    return counts


def counts_by_perf(events, *command):
    """{event: times}"""
    need('perf')
    p = subprocess.run(['perf', 'stat', '-x', ',', '-e', ','.join(events), *command],
                       capture_output=True, text=True, timeout=120, check=False,
                       env=ENVIRONMENT)
    counts = {}
    for line in p.stderr.splitlines():
        cells = line.split(',')
        if len(cells) > 2 and cells[2] in events and cells[0].isdigit():
            counts[cells[2]] = int(cells[0])
    if set(counts) != set(events):
        raise Skip('perf does not count them here')
    return counts
