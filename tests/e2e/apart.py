#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What is told apart: processes of chosen executables, and CPUs.  Each page fault of a
program that causes a known number of them is a sample, so that nothing is about right.
usage: apart.py DWELL PROGRAM_DIR"""
import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time

import harness
from daemons import daemon, without_bpf
from harness import DIR, DWELL, TESTS, Skip, dwell, run_all, skip_all, test

COUNTED = os.path.join(os.path.abspath(sys.argv[2]), 'e2e-counted')
FAULTS = 256  # that it causes in touch() in each round
EVENT = ('-e', 'page-faults:1')


def program(name):
    """The same under a name that nobody else has: a file of its own."""
    path = os.path.join(DIR, f'{name}{os.getpid()}')
    if not os.path.exists(path):
        shutil.copy(COUNTED, path)
    return path


def run(path, rounds, cpu=None):
    """Its process id; on that CPU from the start."""
    child = subprocess.Popen([path, str(rounds)],
                             preexec_fn=None if cpu is None else lambda: os.sched_setaffinity(0, {cpu}))
    assert child.wait(120) == 0
    return child.pid


def faults(by, path, *where):
    """{row: faults in touch() of that program}, by what is told apart."""
    p = dwell('report', '--json', '--limit', '0', '--by', by, '--filter',
              f'command == {os.path.basename(path)} && leaf == touch', *where)
    assert p.returncode in (0, 1), p.stderr
    rows = json.loads(p.stdout)['rows']
    return {row['name']: row['exclusive']['page-faults'] for row in rows}


def is_all(got, rounds, lost):
    """Where other programs cause more than there is room for, that is counted."""
    return rounds * FAULTS - lost <= got <= rounds * FAULTS


def check(chosen, other, rounds, lost, *where):
    """Processes of the one are told apart, those of the other are one; {pid: rounds}."""
    rows = faults('process', chosen, *where)
    assert len(rows) == len(rounds), rows
    for pid, n in rounds.items():
        got = [count for name, count in rows.items() if re.search(rf'\bpid {pid}\b', name)]
        assert len(got) == 1 and is_all(got[0], n, lost), (pid, n, lost, rows)
    rows = faults('process', other, *where)
    assert len(rows) == 1 and ' pid ' not in list(rows)[0], rows
    assert is_all(sum(rows.values()), sum(rounds.values()), lost), (rounds, lost, rows)


def run_both(chosen, other, rounds=(20, 30, 45)):
    """Each of them, so many rounds; {pid: rounds} of what is chosen."""
    for n in rounds:
        run(other, n)
    return {run(chosen, n): n for n in rounds}


def told_apart(events=EVENT, pattern=None):
    chosen, other = program('chosen'), program('other')
    choice = pattern or os.path.basename(chosen)
    with daemon(*events, f'--per-process=none-is-called-so,{choice}') as d:
        text = ''.join(d.done('status').split())
        assert f'processesofnone-is-called-so,{choice}' in text, text
        rounds = run_both(chosen, other)
        d.done('flush')
        check(chosen, other, rounds, d.status()['lost'], '--db', d.db)
        d.quit()


@test
def processes_of_a_chosen_name_are_told_apart_and_others_are_one():
    told_apart()


@test
def processes_of_a_chosen_path_are_told_apart():
    told_apart(pattern=f'{DIR}/chos*')


@test
def a_daemon_that_takes_over_goes_on_telling_them_apart():
    chosen, other = program('chosen'), program('other')
    options = (*EVENT, f'--per-process={os.path.basename(chosen)}')
    with daemon(*options) as first:
        if first.status()['unkept']:
            raise Skip(first.status()['unkept'])
        rounds = run_both(chosen, other)
        first.child.kill()
        first.child.wait(30)
        rounds.update(run_both(chosen, other, (7, 11)))  # nobody is there
        with daemon(*options, db=first.db) as d:
            rounds.update(run_both(chosen, other, (13,)))
            d.done('flush')
            status = d.status()
            assert status['taken-over'], status
            check(chosen, other, rounds, status['lost'] + status['gap-lost'], '--db', d.db)
            d.quit()


def has_begun(pid):
    """Its events are open, and it waits for what they tell."""
    with contextlib.suppress(OSError):
        fds = [os.readlink(f'/proc/{pid}/fd/{fd}') for fd in os.listdir(f'/proc/{pid}/fd')]
        with open(f'/proc/{pid}/wchan', encoding='ascii') as f:
            return sum('perf_event' in fd for fd in fds) >= os.cpu_count() and 'poll' in f.read()
    return False


@contextlib.contextmanager
def recording(path, *options):
    """Ends when what is inside is done."""
    child = subprocess.Popen([DWELL, 'attach', '-a', '--source', 'system', *EVENT, '-o', path, *options],
                             stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    deadline = time.time() + 60
    while not has_begun(child.pid):
        assert child.poll() is None, child.stderr.read()
        assert time.time() < deadline, 'it does not begin'
        time.sleep(0.02)
    try:
        yield child
    finally:
        child.send_signal(signal.SIGINT)
        assert child.wait(60) == 0, child.stderr.read()


def lost_of(path):
    return harness.report(path)['quality']['lost']


@test
def a_recording_of_the_machine_tells_only_chosen_ones_apart():
    chosen, other = program('chosen'), program('other')
    path = os.path.join(DIR, 'attached.dwell')
    with recording(path, f'--per-process={os.path.basename(chosen)}'):
        rounds = run_both(chosen, other)
    check(chosen, other, rounds, lost_of(path), path)
    p = dwell('attach', '-p', str(os.getpid()), '--per-process=x', '-d', '0.1')
    assert p.returncode == 2 and 'need -a' in p.stderr, p.stderr


def names(rows):
    return sorted(re.sub(r'.*\bpid (\d+).*', r'\1', name) for name in rows)


def by_process(d, path, column):
    """{process id, or the name of what is one: what was measured there}, of a program; all of it."""
    p = dwell('report', '--json', '--limit', '0', '--by', 'process', '--db', d.db,
              '--filter', f'command == {os.path.basename(path)}')
    assert p.returncode == 0, p.stderr
    r = json.loads(p.stdout)
    rows = {names([row['name']])[0]: row['exclusive'].get(column, 0) for row in r['rows']}
    assert sum(rows.values()) == r['total'][column], r
    return rows


def are_told_apart(column, *options, prefix=()):
    """Where what was measured is not known before: by whom it was."""
    chosen, other = program('chosen'), program('other')
    with daemon(*options, f'--per-process={os.path.basename(chosen)}', prefix=prefix) as d:
        rounds = run_both(chosen, other, (400, 400))
        d.done('flush')
        rows = by_process(d, chosen, column)
        assert set(rows) >= set(map(str, rounds)) and all(pid.isdigit() for pid in rows), rows
        assert all(rows[str(pid)] for pid in rounds), rows
        rows = by_process(d, other, column)
        assert len(rows) == 1 and not list(rows)[0].isdigit(), rows
        d.quit()


@test
def states_are_told_apart_as_samples_are():
    are_told_apart('user-cpu', '-e', 'states')


@test
def without_bpf_the_same_is_told_apart():
    are_told_apart('cpu-time', '-F', '997', prefix=without_bpf())


@test
def cpus_are_told_apart_where_it_is_asked_for():
    path = program('pinned')
    cpus = sorted(os.sched_getaffinity(0))
    rounds = {cpu: 10 + i for i, cpu in enumerate(cpus)}
    with daemon(*EVENT, '--per-cpu') as d:
        assert d.status()['apart'] == 'CPUs', d.status()
        for cpu, n in rounds.items():
            run(path, n, cpu)
        d.done('flush')
        rows = faults('cpu', path, '--db', d.db)
        assert set(rows) == {f'cpu {cpu}' for cpu in cpus}, rows
        for cpu, n in rounds.items():
            assert is_all(rows[f'cpu {cpu}'], n, d.status()['lost']), (rounds, rows)
        d.quit()


@test
def a_recording_of_the_machine_tells_cpus_apart_where_it_is_asked_for():
    path = program('pinned')
    last = max(os.sched_getaffinity(0))
    for options, want in ((('--per-cpu',), f'cpu {last}'), ((), '(unknown)')):
        file = os.path.join(DIR, 'cpus.dwell')
        with recording(file, *options):
            run(path, 10, last)
        rows = faults('cpu', path, file)
        assert list(rows) == [want] and is_all(rows[want], 10, lost_of(file)), rows
        os.unlink(file)


@test
def where_cpus_are_not_told_apart_none_is_made_up():
    path = program('pinned')
    with daemon(*EVENT) as d:
        run(path, 10)
        d.done('flush')
        assert list(faults('cpu', path, '--db', d.db)) == ['(unknown)']
        d.quit()


if __name__ == '__main__':
    WHY = harness.why_no_bpf()
    sys.exit(skip_all(WHY) if WHY else run_all(TESTS, words=sys.argv[3:]))
