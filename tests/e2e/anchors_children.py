#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What is counted exactly now and then of the processes that a program starts.
usage: anchors_children.py DWELL DIRECTORY"""
import collections
import json
import math
import os
import re
import subprocess
import sys
import time

import harness
from harness import dwell, test
from process_code import code_of

PROGRAM = os.path.abspath(sys.argv[2]) + '/e2e-anchored'
TURNS = 30000  # of each child, two seconds
OF_TURN = {'add_100000': 100000, 'divide_10000': 10000}
LIMIT_S = 60


def cat(path, section):
    p = dwell('cat', '--section', section, path)
    assert p.returncode == 0, p
    return [dict(re.findall(r'([\w-]+)=("[^"]*"|\S+)', line)) for line in p.stdout.splitlines()]


def windows_of(path):
    """{process of the recording: windows in which blocks of it were counted}"""
    ret = collections.defaultdict(set)
    for f in cat(path, 'anchors'):
        if int(f['size']):
            ret[int(f['process'])].add(int(f['window']))
    return ret


def times_of(path):
    """{process: {window: native time before it that the process is told of}}"""
    ret = collections.defaultdict(collections.Counter)
    for f in cat(path, 'anchors'):
        if 'location' not in f:
            ret[int(f['process'])][int(f['window'])] += int(f['cpu'])
    return ret


def names_met(path):
    """{name of a program: windows of it}"""
    names = [f['comm'].strip('"') for f in cat(path, 'processes')]
    ret = collections.Counter()
    for process, windows in windows_of(path).items():
        ret[names[process]] += len(windows)
    return ret


def record(command, budget=20, **more):
    path = f'{harness.DIR}/r.dwell'
    p = dwell('run', '-q', '--insn', '-e', f'usertime,anchors:{budget}%', '-o', path, '--', *command, **more)
    return path, p


def calc(name, path):
    p = dwell('calc', '--json', name, path)
    assert p.returncode == 0, p
    return json.loads(p.stdout)['rows'][0]


@test
def children_beside_each_other_are_told_together():
    """Windows are of both, and what both did is told by them."""
    path, p = record(['sh', '-c', f'{PROGRAM} {TURNS} & {PROGRAM} {TURNS}; wait'])
    alone = subprocess.run([PROGRAM, str(TURNS)], stdout=subprocess.PIPE, text=True, check=True).stdout
    assert p.returncode == 0 and p.stdout == 2 * alone, p
    children = {i for i, f in enumerate(cat(path, 'processes')) if f['comm'] == '"e2e-anchored"'}
    windows = {process: met for process, met in windows_of(path).items() if process in children}
    assert len(windows) == 2 and not set.intersection(*windows.values()), windows
    # Also when the other one is counted: else the next window of its own would stand for all of the time.  In a short time
    # between two windows one of them may not have run: that counts for as much as it is.
    times = times_of(path)
    for process, met in windows.items():
        told, last = times[process], max(met)
        gaps = {w: max(t.get(w, 0) for t in times.values()) for w in set.union(*windows.values()) if w <= last}
        assert sum(ns for w, ns in gaps.items() if w in told) >= .8 * sum(gaps.values()), (process, told, gaps)
    for name, n in OF_TURN.items():
        row = calc(name, path)
        block = max(row['blocks'], key=lambda b: b['times'])
        truth = 2 * TURNS * n
        off, width = math.log(block['times'] / truth), math.log(block['times_high'] / block['times_low']) / 2
        assert row['windows'] >= 5 and block['confidence'] in ('high', 'medium'), block
        # A range has the truth in 19 of 20 cases.
        assert abs(off) < 3 * width and abs(off) < .15, (off, width, block)


@test
def a_compiler_is_told_and_not_its_driver():
    """What it makes is the same to the byte."""
    harness.need('gcc')
    lines = [f'int f{i}(int *a, int n) {{ int s = {i}; for (int k = 0; k < n; k++) s += a[k] * {i + 3} ^ s >> {i % 7}; return s; }}' for i in range(300)]
    with open(f'{harness.DIR}/f.c', 'w', encoding='ascii') as f:
        f.write('\n'.join(lines))
    command = ['gcc', '-O2', '-c', 'f.c', '-o']
    path, p = record([*command, 'with.o'], budget=50, cwd=harness.DIR)
    subprocess.run([*command, 'alone.o'], cwd=harness.DIR, check=True)
    assert p.returncode == 0 and not p.stderr, p
    with open(f'{harness.DIR}/with.o', 'rb') as a, open(f'{harness.DIR}/alone.o', 'rb') as b:
        assert a.read() == b.read()
    met = names_met(path)
    assert met['cc1'] > 4 * met['gcc'], met


@test
def who_waits_for_a_child_has_not_its_windows():
    """The shell is all that there is to choose when the first is due, as often as not."""
    for _ in range(4):
        path, p = record(['sh', '-c', f'{PROGRAM} {TURNS // 4}; true'], budget=50)
        assert p.returncode == 0, p
        met = names_met(path)
        assert met['e2e-anchored'] > 4 * met['sh'], met


@test
def how_a_child_ends_is_as_without():
    path, p = record(['sh', '-c', f'{PROGRAM} {10 * TURNS} & sleep 2; kill -9 $!; wait $!; exit $(($? - 100))'])
    assert p.returncode == 37 and len(p.stderr.splitlines()) <= 1, p
    assert windows_of(path), 'it was never counted'


@test
def who_cannot_be_counted_is_left_alone_and_said():
    """With a limit on files, that is: the engine would need larger ones."""
    path, p = record(['sh', '-c', f'ulimit -f 1000; exec {PROGRAM} {TURNS // 2}'])
    assert p.returncode == 0 and not windows_of(path), (p, windows_of(path))
    for words in ['stalls'], ['calc', 'add_100000']:
        p = dwell(*words, path)
        assert p.returncode == 0 and 'ulimit -f' in p.stdout.replace('\n ', ''), p


@test
def processes_of_a_pool_are_told_together():
    """By fork, so that some have the counters of their parent."""
    program = f'''
import multiprocessing
def work(n):
    x = 1
    for i in range(n):
        x = x * 31 + i & 0xffffffff
    return x
print(work({10 ** 6}))
with multiprocessing.get_context('fork').Pool(2) as pool:
    print(pool.map(work, [{5 * 10 ** 6}] * 4))
'''
    path, p = record([sys.executable, '-c', program])
    assert p.returncode == 0, p
    assert p.stdout == subprocess.run([sys.executable, '-c', program], stdout=subprocess.PIPE, text=True, check=True).stdout
    assert len(windows_of(path)) >= 2, windows_of(path)


def fork_with_counters(parent_ends):
    """A child that sleeps, of one of two programs that are recorded."""
    idle = subprocess.Popen(['sleep', str(LIMIT_S)])
    with subprocess.Popen([PROGRAM, str(100 * TURNS), 'fork'], stdout=subprocess.PIPE, text=True) as program:
        try:
            before, child = code_of(program.pid, PROGRAM), None
            path = f'{harness.DIR}/r.dwell'
            command = [harness.DWELL, 'attach', '-q', '-e', 'usertime,anchors:50%', '-o', path, '-p', str(program.pid), '-p', str(idle.pid)]
            recorder = subprocess.Popen(command)
            end = time.time() + LIMIT_S
            while code_of(program.pid, PROGRAM) == before:
                assert time.time() < end and recorder.poll() is None, 'nothing had a counter'
                time.sleep(.01)
            program.send_signal(10)  # SIGUSR1: it forks
            child = int(program.stdout.readline())
            inherited = code_of(child, PROGRAM)
            if parent_ends:
                program.kill()
                program.wait()
                time.sleep(1)  # in which it is missed
            recorder.send_signal(2)
            assert recorder.wait(LIMIT_S) == 0
            assert parent_ends or code_of(program.pid, PROGRAM) == before
            assert code_of(child, PROGRAM) == before, ('its counters are there', inherited == before)
        finally:
            program.kill()
            idle.kill()
            idle.wait()
            if child:
                os.kill(child, 9)


@test
def who_is_forked_with_counters_is_left_as_it_was():
    """Its parent has gone on; it sleeps, and is nobody's child."""
    fork_with_counters(parent_ends=False)


@test
def who_is_forked_by_one_that_ends_is_too():
    fork_with_counters(parent_ends=True)


if not harness.may_record('perf'):
    harness.skip_all('perf_event_open is not permitted here')
sys.exit(harness.run_all(harness.TESTS, words=sys.argv[3:]))
