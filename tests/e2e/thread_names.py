#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Threads have their names whatever observes them, those of wrappers in the program included.
usage: thread_names.py DWELL PROGRAM_DIR [WORD...]"""
import json
import os
import re
import signal
import subprocess
import sys

import harness
from harness import DIR, Skip, dwell, run_all, test

PROGRAM = os.path.join(os.path.abspath(sys.argv[2]), 'e2e-thread_names')
FIRST, THEN = ['alpha', 'beta'], ['delta', 'gamma']
WAYS = {'heap': ('heap',), 'sync': ('sync', '--source', 'tracer'), 'io': ('io', '--source', 'tracer'),
        'fpe': ('fpe',), 'regions': ('regions',), 'beside': ('usertime,heap',)}


def names(path):
    """Of all threads but the first."""
    p = dwell('cat', '--section', 'threads', path)
    assert p.returncode == 0, p.stderr
    threads = re.findall(r'thread \d+ tid=(\d+) .*?name="(.*?)"', p.stdout)
    assert len({tid for tid, _ in threads}) == len(threads) == 3, p.stdout
    return sorted(name for _, name in threads if name != 'e2e-thread_name')


def record(name, *options):
    path = os.path.join(DIR, f'{name}.dwell')
    p = dwell('run', '-q', '-e', *options, '-o', path, '--', PROGRAM)
    if 'not available here' in p.stderr:
        raise Skip(p.stderr)
    assert p.returncode == 0 and not p.stderr, p
    return path


@test
def every_experiment_knows_them():
    skipped = {}
    for way, options in WAYS.items():
        try:
            assert names(record(way, *options)) == FIRST, way
        except Skip as why:
            skipped[way] = why
    if len(skipped) == len(WAYS):
        raise Skip(f'none of them is available here: {skipped}')


@test
def a_report_chooses_by_name():
    path = record('choose', 'sync', '--threshold', '0')
    p = dwell('sync', '--json', '--by', 'thread', '--filter', 'thread == alpha', path)
    rows = json.loads(p.stdout)['rows']
    assert [r['waits'] for r in rows if r['kind'] == 'barrier'] == [1], rows
    assert rows[0]['name'].startswith('alpha ('), rows


@test
def a_name_that_comes_later_counts():
    path = os.path.join(DIR, 'later.dwell')
    p = subprocess.Popen([harness.DWELL, 'run', '-q', '-e', 'heap', '-o', path, '--', PROGRAM, 'later'],
                         stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
    for word in 'unnamed', 'named':
        assert p.stdout.readline().split() == [word]
        if word == 'unnamed':
            p.stdin.write('\n')
    p.send_signal(signal.SIGTERM)  # the program goes on
    p.wait(120)
    p.stdin.close()
    assert p.stdout.read() == ''
    p.stdout.close()
    assert names(path) == THEN, names(path)


sys.exit(run_all(harness.TESTS, words=sys.argv[3:]))
