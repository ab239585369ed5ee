#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Probes that files say they have (USDT) as triggers: compared with what a workload is known
to do, and with what an interpreter that has probes counts itself.
usage: noted_probes.py DWELL WORKLOAD_DIR PROGRAM_DIR"""
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import time

import harness
import placed
from daemons import daemon
from harness import DIR, IS_ROOT, TESTS, Skip, dwell, need, run_all, skip_all, test
from placed import FILE, Paced, are_refused, record

NOTED = os.path.join(os.path.abspath(sys.argv[3]), 'e2e-noted')
NAME = os.path.basename(NOTED)
SETTLING = 20  # passes while the tables are read
PATIENCE = 120


def spec(*probes, path=NOTED):
    return ','.join(f'trigger:usdt:{path}:noted:{p}' for p in probes)


def totals():
    return placed.totals(NAME)


@test
def passes_are_counted_and_values_summed():
    out = record(spec('plain', 'values.arg1', 'twice.arg1', 'guarded.arg1'), NOTED, 'known')
    t = totals()
    assert t['usdt:noted:plain'] == 700, t
    assert t['usdt:noted:values'] == 1000, t
    assert t['usdt:noted:values.arg1'] == sum(range(1000)), t
    # At two places, of which each has the value elsewhere.
    assert t['usdt:noted:twice'] == 900, t
    assert t['usdt:noted:twice.arg1'] == sum(range(900)), t
    # The program looks whether somebody wants this one.
    assert t['usdt:noted:guarded'] == 100, t
    assert t['usdt:noted:guarded.arg1'] == sum(range(100)), t
    assert int(out) > 0, out


@test
def values_are_read_wherever_they_are():
    for arg, total, below in (('arg2', 0, 999), ('arg3', 7000, None),
                              ('arg4', sum(i & 255 for i in range(1000)), None),
                              ('arg5', sum(range(500)), 500)):
        record(spec('values.' + arg), NOTED, 'known')
        t = totals()
        assert t['usdt:noted:values'] == 1000, (arg, t)
        assert t[f'usdt:noted:values.{arg}'] == total, (arg, t)
        assert t.get(f'usdt:noted:values.{arg}<0') == below, (arg, t)


def copy_of(name):
    """The workload as a file of its own, of which nobody has wanted a probe yet."""
    copy = os.path.join(DIR, f'{name}{os.getpid()}')
    shutil.copy(NOTED, copy)
    return copy


@test
def a_probe_that_nobody_asked_for_is_not_wanted():
    own = copy_of('unwanted')
    assert record(spec('plain', path=own), own, 'known') == '0\n'
    assert placed.totals(os.path.basename(own))['usdt:noted:plain'] == 700


@test
def stacks_lead_from_main_to_the_probe():
    record(spec('plain'), NOTED, 'settled')
    found = placed.stacks(f'usdt:{NAME}:noted:plain', SETTLING)
    assert sum(n for _, n in found) == 700, found
    assert all(frames[-1] == 'plain' for frames, _ in found), found


@test
def what_runs_already_is_counted_from_then_on():
    own = copy_of('late')
    paced = Paced(own)
    try:
        assert paced.round() == 'n'
        for who in (('-p', str(paced.child.pid)), ('-a',)):
            passes = 0
            with harness.beside(harness.DWELL, 'attach', '-q', '-e',
                                spec('guarded', path=own), '-o', FILE, '-d', '1', *who,
                                stderr=subprocess.PIPE) as attach:
                while attach.poll() is None:
                    paced.round()
                    passes += 10
                assert attach.returncode == 0, attach.stderr.read()
            t = placed.totals(os.path.basename(own), '--filter', f'pid == {paced.child.pid}')
            assert 0 < t.get('usdt:noted:guarded', 0) <= passes, (who, t, passes)
        # Nobody wants it any more, as soon as the kernel has taken its breakpoints away.
        end = time.time() + PATIENCE
        while paced.round() == 'y':
            assert time.time() < end, 'it is wanted for ever'
            time.sleep(0.1)
        paced.end()
    finally:
        paced.child.kill()
        paced.child.wait()


@test
def the_daemon_counts_them_in_every_epoch():
    own = copy_of('noted')
    event = f'usdt:{os.path.basename(own)}:noted:guarded'
    with daemon('-e', spec('guarded.arg1', path=own)) as d:
        paced = Paced(own)
        for n in (2, 3):
            for _ in range(n):
                assert paced.round() == 'y'
            d.done('epoch', f'after {n}')
        paced.end()
        d.done('flush')
        for epoch, n in (('1', 2), ('2', 3)):
            p = dwell('report', '--json', '--db', d.db, '--epoch', epoch)
            t = json.loads(p.stdout)['total']
            assert t[event] == 10 * n and t[event + '.arg1'] == 45 * n, t
        st = d.status()
        assert st['met-1'] == 50 and st['probe-1'] == event, st


def moved(path, by):
    """As if the file had been moved since: notes are of places that lie so many bytes before
    those that it has now."""
    text = subprocess.run(['readelf', '-SW', path], capture_output=True, text=True,
                          check=True).stdout
    cells = re.search(r'\.note\.stapsdt +NOTE +(\w+) (\w+) (\w+)', text)
    at, size = (int(cells[i], 16) for i in (2, 3))
    with open(path, 'rb') as f:
        data = bytearray(f.read())
    end = at + size
    n = 0
    while at < end:
        name, desc, _ = struct.unpack_from('<3I', data, at)
        at += 12 + (name + 3 & ~3)
        place, mark, semaphore = struct.unpack_from('<3Q', data, at)
        struct.pack_into('<3Q', data, at, place - by, mark - by, semaphore and semaphore - by)
        at += desc + 3 & ~3
        n += 1
    copy = os.path.join(DIR, 'moved')
    with open(copy, 'wb') as f:
        f.write(data)
    os.chmod(copy, 0o755)
    return copy, n


@test
def probes_of_a_file_that_was_moved_are_where_they_are_now():
    need('readelf')
    path, n = moved(NOTED, 0x800)
    assert n >= 5, n
    record(spec('plain', 'twice.arg1', 'guarded', path=path), path, 'known')
    t = placed.totals('moved')
    assert t['usdt:noted:plain'] == 700 and t['usdt:noted:guarded'] == 100, t
    assert t['usdt:noted:twice.arg1'] == sum(range(900)), t


def interpreter():
    """A Python whose garbage collector has probes, and the file that they are in."""
    need('readelf', 'ldd')
    for python in (sys.executable, '/usr/bin/python3'):
        if not os.path.exists(python):
            continue
        libraries = subprocess.run(['ldd', python], capture_output=True, text=True,
                                   check=False).stdout
        for path in [os.path.realpath(python), *re.findall(r'(/\S*libpython\S*)', libraries)]:
            notes = subprocess.run(['readelf', '-n', path], capture_output=True, text=True,
                                   check=False).stdout
            if 'Name: gc__start' in notes and 'Name: gc__done' in notes:
                return python, os.path.realpath(path)
    raise Skip('no Python with probes here')


# Counts its collections, and what they collected, itself; and ends without more of them.
COLLECTS = '''
import gc, os, sys
for k in range(60):
    for _ in range(k):
        a = []
        a.append(a)
    gc.collect(k % 3)
s = gc.get_stats()
print(*(sum(f(i, x) for i, x in enumerate(s)) for f in (
    lambda i, x: x["collections"], lambda i, x: i * x["collections"],
    lambda i, x: x["collected"] + x["uncollectable"])), flush=True)
os._exit(0)
'''


@test
def an_interpreters_collections_are_as_many_as_it_says_itself():
    python, path = interpreter()
    probes = ','.join(f'trigger:usdt:{path}:python:{p}' for p in ('gc__start.arg1', 'gc__done.arg1'))
    told = [int(n) for n in record(probes, python, '-I', '-c', COLLECTS).split()]
    t = placed.totals(os.path.basename(path))
    assert told[0] >= 60, told
    assert t['usdt:python:gc__start'] == t['usdt:python:gc__done'] == told[0], (t, told)
    assert t['usdt:python:gc__start.arg1'] == told[1], (t, told)
    assert t['usdt:python:gc__done.arg1'] == told[2], (t, told)


@test
def what_is_wrong_is_said_in_one_line():
    are_refused((
        ('usdt', 'give one like'), ('usdt:', 'give one like'),
        (f'usdt:{NOTED}', 'give one like'), (f'usdt:{NOTED}:', 'give one like'),
        (f'usdt:{NOTED}:plain', 'PROVIDER:NAME, like noted:'),
        (f'usdt:{NOTED}:noted:plane', "did you mean 'noted:plain'"),
        (f'usdt:{NOTED}:nothing:like-it', "no probe 'nothing:like-it'"),
        (f'usdt:{NOTED}:noted:values.arg6', 'it has 5 arguments'),
        (f'usdt:{NOTED}:noted:plain.arg1', 'it has 0 arguments'),
        (f'usdt:{NOTED}:noted:plain.arg0', 'none is number 0'),
        (f'usdt:{NOTED}:noted:plain.return', 'does not return'),
        (f'usdt:{harness.DWELL}:a:b', 'no probes of its own'),
        ('usdt:/nowhere/at/all:a:b', 'No such file'),
        ('usdt:no-such-program:a:b', "no program 'no-such-program'")))


if __name__ == '__main__':
    if not IS_ROOT:
        sys.exit(skip_all('only root may load BPF programs'))
    if not harness.may_record('probes', spec('plain')):
        sys.exit(skip_all(dwell('run', '-n', '-e', spec('plain'), '--', 'true').stderr.strip()))
    sys.exit(run_all(TESTS, words=sys.argv[4:]))
