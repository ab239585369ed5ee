#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Waits of threads for each other, recorded by the daemon over several epochs: as often and as
long as the programs themselves say.
usage: daemon_sync.py DWELL PROGRAM_DIR [WORD...]"""
import json
import os
import shutil
import subprocess
import sys

from bpf_maps import n_keys
from daemons import Daemon, daemon
from harness import DIR, IS_ROOT, TESTS, Skip, dwell, run_all, skip_all, test

PROGRAM = os.path.join(os.path.abspath(sys.argv[2]), 'e2e-sync_futex')
EPOCHS = ('one', 'two', 'three')
Daemon.MEETING_S = 0  # nothing that is told here depends on who was met
NONE = {'waits': 0, 'ns': 0}  # of what nobody waited for: who comes late need not


def program(name):
    """Under a name of its own, as the kernel cuts it: others may run it at the same time."""
    path = os.path.join(DIR, f'{name}{os.getpid()}'[:15])
    if not os.path.exists(path):
        shutil.copy(PROGRAM, path)
    return path


def run(path, *words):
    """What the program says of itself: {name: (waits, ns)}"""
    p = subprocess.run([path, *words], capture_output=True, text=True, timeout=120, check=False)
    if p.returncode == 77:
        raise Skip('there is no room for what it does')
    assert p.returncode == 0, p
    return {name: (int(n), int(ns)) for name, n, ns in map(str.split, p.stdout.splitlines())}


def rows(d, path, *options):
    p = dwell('sync', '--json', '--db', d.db, '--filter',
              f'command == "{os.path.basename(path)}"', *options)
    assert p.returncode == 0, p.stderr
    r = json.loads(p.stdout)
    assert not r['quality']['lost'], r['quality']
    return {(row['name'], row['kind']): row for row in r['rows']}


def n_sums(pid):
    return n_keys(pid, 'sum_numbers', 8)


def functions(stack):
    return {f['name'] for f in stack['frames']}


@test
def waits_of_several_runs_and_epochs_are_added_up():
    path, told = program('sums'), []
    with daemon('-e', 'sync') as d:
        run(path, 'mixed', '1')  # its rules are there from now on
        d.done('epoch', 'before')
        for epoch in EPOCHS:
            told.append(run(path, 'mixed', '5'))
            d.done('epoch', epoch)
        d.wait_for(lambda s: len(d.segments()) > len(EPOCHS))
        found = rows(d, path, '--epoch', '2..4')
        second = rows(d, path, '--epoch', '3')
    for name, kind in (('word', 'futex'), ('words+0x9c3c', 'futex'), ('mutex', 'mutex')):
        row = found.get((name, kind), NONE)
        assert row['waits'] == sum(t[name][0] for t in told), (name, found, told)
        assert row['ns'] <= sum(t[name][1] for t in told), (row, told)
        assert (row['ns'] > 0) == (row['waits'] > 0), row
        assert second.get((name, kind), NONE)['waits'] == told[1][name][0], (name, second, told)
    if ('word', 'futex') not in found:
        raise Skip('nothing had to be waited for')
    row = found['word', 'futex']
    assert {'wait_for', 'waiter'} <= functions(row['waiters'][0]), row
    assert {'wake', 'run_waiter'} <= functions(row['holders'][0]), row


@test
def beside_samples_they_are_the_same():
    path = program('beside')
    with daemon('-F', '199', '-e', 'cpu-clock,states,sync') as d:
        told = run(path, 'raw', '5')
        status = d.wait_for(lambda s: s['waits'] and s['states'])
        d.done('flush')
        row = rows(d, path).get(('word', 'futex'), NONE)
    assert 'waits of threads for each other are not kept' in status['unkept'], status
    assert row['waits'] == told['word'][0], (row, told)


@test
def words_that_no_variable_is_are_not_told_apart():
    path = program('nameless')
    with daemon('-e', 'sync') as d:
        (n, _), = run(path, 'behind', '5').values()
        d.done('flush')
        found = rows(d, path)
    assert not any('0x' in name for name, _ in found), found
    assert sum(row['waits'] for row in found.values()) == n, (found, n)


@test
def nor_has_each_of_them_a_sum_of_its_own():
    path, n, told = program('crowd'), 2000, []
    with daemon('-e', 'sync') as d:
        pid = d.status()['pid']
        run(path, 'all_behind', '1')  # its file has been looked at from now on
        d.done('epoch', 'before')
        for _ in range(3):  # whatever else runs on this machine has some at the same time
            had = n_sums(pid)
            (waits, _), = run(path, 'all_behind', str(n)).values()
            told.append(waits)
            more = n_sums(pid) - had
            if more < n / 2:
                break
        d.done('epoch', 'after')
        d.wait_for(lambda s: len(d.segments()) > 1)
        found = rows(d, path, '--epoch', '2')
    assert more < n / 2, (more, told)
    (name, _), = found
    assert name == '[futex]' and found[name, 'futex']['waits'] == sum(told), (found, told)


def can_observe():
    return dwell('run', '-n', '-e', 'sync', '--source', 'futex', '--', 'true').returncode == 0


if not IS_ROOT or not can_observe():
    sys.exit(skip_all('the kernel lets nobody see waits here'))
sys.exit(run_all(TESTS, words=sys.argv[3:]))
