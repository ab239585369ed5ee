#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The heap of programs whose recorder is killed: what they did until a moment is known.
usage: heap_killed.py DWELL PROGRAM_DIR [WORD...]"""
import json
import os
import signal
import struct
import subprocess
import sys
import time

import harness
from harness import DIR, dwell, need, report, run_all, test, wait_until

PROGRAM = os.path.join(os.path.abspath(sys.argv[2]), 'e2e-heap_lasting')
DWELL = os.path.abspath(sys.argv[1])
CHILD_STEPS = 1300
LATEST_NS = 30e9  # a second and more on a machine with nothing else to do


def steps(log):
    """By process: when each of its steps was over."""
    told = {}
    with open(log, 'rb') as f:
        for pid, i, at in struct.iter_unpack('<3Q', f.read()):
            assert len(told.setdefault(pid, [])) + 1 == i
            told[pid].append(at)
    return told


def begin(name, *before, n=20000, experiment='heap', options=()):
    log, path = (os.path.join(DIR, f'{name}.{x}') for x in ('log', 'dwell'))
    for old in log, path:
        if os.path.exists(old):
            os.unlink(old)
    p = subprocess.Popen([*before, DWELL, 'run', '-e', experiment, *options, '-o', path, '--', PROGRAM, log,
                          str(n), str(CHILD_STEPS)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_until(lambda: os.path.exists(log) and len(steps(log)) == 2, 'it has not begun')
    return p, log, path


def end(log):
    """What was done until the program was ended, too."""
    told = steps(log)
    for pid in told:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    return told


def heap(path):
    p = dwell('heap', '--json', path)
    assert p.returncode == 1, (p.returncode, p.stderr)
    return json.loads(p.stdout)['processes']


def counts(path, pid):
    """Blocks by function that took them: all, and those that were kept."""
    r = report(path, '--filter', f'pid={pid}', code=1)
    return {x['name']: (x['exclusive'].get('allocations', 0), x['exclusive'].get('leaks', 0))
            for x in r['rows'] if x['name'] in ('keep', 'churn')}


def check(path, log, killed_ns):
    told = end(log)
    known = {p['pid']: p for p in heap(path)}
    assert known, 'nothing is known'
    for pid, p in known.items():
        taken = counts(path, pid)
        (n, left), (n_churn, left_churn) = taken['keep'], taken['churn']
        assert n == left and n_churn - n in (0, 1) and left_churn <= 1, taken
        if 'as_of_ns' not in p:
            # The child, which had ended.
            assert n == len(told[pid]) == CHILD_STEPS and p['heap-looked'] == 3, (n, p)
            continue
        as_of = p['as_of_ns']
        assert sum(at <= as_of for at in told[pid]) <= n <= sum(at <= killed_ns for at in told[pid]) + 1
        assert killed_ns - as_of < LATEST_NS and p['heap-looked'] == 8, (killed_ns - as_of, p)
        assert p['heap-left-blocks'] - n in range(3) and p['heap-allocations'] >= 2 * n
    return known


@test
def what_a_program_did_is_known_until_a_moment_before_its_recorder_was_killed():
    for wait in 1.3, 1.9, 3.4:
        p, log, path = begin('killed')
        time.sleep(wait)
        p.kill()
        p.wait()
        known = check(path, log, time.monotonic_ns())
        assert len(known) == 2, known
        text = ' '.join(dwell('heap', path).stdout.split())
        assert 'so far the recorder was killed: of what had not ended, the heap as of' in text, text
        assert 'not known, as the recorder was killed before it ended' in text, text


@test
def a_process_that_had_ended_is_known_to_its_end():
    for wait in 0, 0.4:
        p, log, path = begin('told')
        wait_until(lambda: CHILD_STEPS in map(len, steps(log).values()), 'no child ends')
        # It is written within a second, like all that is taken.
        time.sleep(1.1 + wait)
        p.kill()
        p.wait()
        known = check(path, log, time.monotonic_ns())
        assert len(known) == 2 and sum('as_of_ns' in x for x in known.values()) == 1, known


@test
def it_is_known_wherever_in_its_writing_the_recorder_was_killed():
    need('strace')
    n_known = 0
    for nth in range(17, 29, 2):
        # Only calls of the recording count: the first second has about 16.
        p, log, path = begin('writing', 'strace', '-o', '/dev/null', '-P', os.path.join(DIR, 'writing.dwell'),
                             '-e', 'trace=pwrite64', '-e', f'inject=pwrite64:signal=KILL:when={nth}')
        p.wait(30)
        killed_ns = time.monotonic_ns()
        # Before the first second is over there may be nothing.
        first = min(at[0] for at in steps(log).values())
        if killed_ns - first > 1.2e9:
            check(path, log, killed_ns)
            n_known += 1
        else:
            end(log)
    assert n_known >= 4, n_known


@test
def exceptions_are_known_as_well():
    p, log, path = begin('exceptions', experiment='fpe:divide-by-zero')
    time.sleep(2.2)
    p.kill()
    p.wait()
    killed_ns = time.monotonic_ns()
    told = end(log)
    r = dwell('fpe', '--json', path)
    assert r.returncode == 1 and 'sums of what ran then are as of' in r.stderr, (r.returncode, r.stderr)
    n = json.loads(r.stdout)['total']['divide-by-zero']
    first, last = (sum(at <= t for times in told.values() for at in times) for t in (killed_ns - LATEST_NS, killed_ns))
    child = CHILD_STEPS * any(len(x) == CHILD_STEPS for x in told.values())
    assert max(first, child, 1) <= n <= last + 2, (first, child, n, last)


@test
def calls_are_known_as_well():
    p, log, path = begin('calls', experiment='io', options=['--source', 'tracer'])
    time.sleep(2.7)
    p.kill()
    p.wait()
    killed_ns = time.monotonic_ns()
    told = end(log)
    r = report(path, code=1)
    n = sum(x['exclusive'].get('io-calls', 0) for x in r['rows'])
    first, last = (sum(at <= t for times in told.values() for at in times) for t in (killed_ns - LATEST_NS, killed_ns))
    print(f'# {last - n} of {last} calls are not known')
    assert max(first, 1) <= n <= last + 10, (first, n, last)


@test
def of_a_recording_that_ends_nothing_is_left_behind_its_end():
    p, log, path = begin('ended', n=2000)
    p.wait(60)
    size = os.stat(path).st_size
    assert size < 64 << 10, size
    told = steps(log)
    r = dwell('heap', '--json', path)
    assert r.returncode == 0, r.stderr
    for x in json.loads(r.stdout)['processes']:
        assert 'as_of_ns' not in x and x['heap-allocations'] >= 2 * len(told[x['pid']]), x


sys.exit(run_all(harness.TESTS, words=sys.argv[3:]))
