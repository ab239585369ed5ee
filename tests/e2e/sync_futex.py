#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Waits that no wrapper sees: each as often and as long as the program itself says, under the
name of what was waited for; and what wrappers tell is not told twice.
usage: sync_futex.py DWELL PROGRAM_DIR [WORD...]"""
import collections
import json
import os
import shutil
import signal
import subprocess
import sys
import time

import harness
from harness import DIR, IS_ROOT, TESTS, Skip, dwell, is_asleep, need, run_all, skip_all, test, wait_until

PROGRAMS = os.path.abspath(sys.argv[2])
PROGRAM = os.path.join(PROGRAMS, 'e2e-sync_futex')
STATIC = PROGRAM + '-static'
HOLD_NS = 20000000
Account = collections.namedtuple('Account', 'n ns')


def record(name, *command, run=(), experiments='sync'):
    path = os.path.join(DIR, f'{name}.dwell')
    p = dwell('run', '-q', '-e', experiments, *run, '-o', path, '--', *command)
    if p.returncode == 77:
        raise Skip('this kernel has no such call, or no room')
    assert p.returncode == 0, (p.returncode, p.stdout, p.stderr)
    return path, accounts(p.stdout)


def under_its_own_name(name):
    """As the kernel cuts it: others may run the program at the same time."""
    path = os.path.join(DIR, f'{name}{os.getpid()}'[:15])
    shutil.copy(PROGRAM, path)
    return path


def accounts(text):
    """What the program says of itself, of all processes: {name: Account}"""
    sums = {}
    for line in text.splitlines():
        name, n, ns = line.split()
        had = sums.get(name, Account(0, 0))
        sums[name] = Account(had.n + int(n), had.ns + int(ns))
    return sums


def report(path, *args):
    p = dwell('sync', '--json', *args, path)
    assert p.returncode == 0, p.stderr
    r = json.loads(p.stdout)
    assert not r['quality']['lost'], r['quality']
    return r


def rows(path, *args):
    return {(r['name'], r['kind']): r for r in report(path, *args)['rows']}


def functions(stack):
    return [f['name'] for f in stack['frames']]


def check(row, account):
    """The program reads its clock around the call.  Who came late, every time, has no row."""
    if not account.n:
        raise Skip('nothing had to be waited for')
    assert row['waits'] == account.n, (row, account)
    assert account.ns >= row['ns'] > 0, (row, account)
    assert sum(d['waits'] for d in row['durations_ns']) == row['waits'], row


def check_raw(found, told):
    """Both words, which only the kernel sees; who comes late need not wait."""
    waited = {name for name in ('word', 'words+0x9c3c') if told[name].n}
    assert {name for name, kind in found if kind == 'futex'} == waited, (found, told)
    for name in waited:
        row = found[name, 'futex']
        check(row, told[name])
        assert not row['is_lock'], row
        assert {'wait_for', 'waiter'} <= set(functions(row['waiters'][0])), row
        assert {'wake', 'run_waiter'} <= set(functions(row['holders'][0])), row
        assert row['holders'][0]['waits'] == row['waits'], row
        assert not any('dwell' in f['image'] for s in row['waiters'] for f in s['frames']), row


@test
def raw_waits_are_those_of_the_program():
    path, told = record('raw', PROGRAM, 'raw', '10')
    check_raw(rows(path), told)


@test
def times_are_those_of_the_program():
    """What else runs here may come between the end of a wait and the program's clock."""
    shares = []
    while len(shares) < 20 and not (shares and shares[-1] > .98):
        path, told = record('times', PROGRAM, 'raw', '10')
        shares.append(rows(path)['word', 'futex']['ns'] / told['word'].ns)
    assert max(shares) > .98 and max(shares) <= 1, shares


@test
def a_static_program_is_seen_through_the_kernel():
    path, told = record('static', STATIC, 'mixed', '10')
    found = rows(path)
    check_raw(found, told)
    row = found.get(('mutex', 'mutex'))
    check(row, told['mutex'])
    assert row['is_lock'] and 'take_mutex' in functions(row['waiters'][0]), row
    ends = [r for r in found.values() if r['kind'] == "thread's end"]
    assert all(not r['is_lock'] for r in ends), ends


@test
def what_a_wrapper_tells_is_told_once():
    path, told = record('mixed', PROGRAM, 'mixed', '10')
    found = rows(path)
    check_raw(found, told)
    check(found.get(('mutex', 'mutex')), told['mutex'])
    assert {kind for _, kind in found} <= {'futex', 'mutex', "thread's end"}, found


@test
def nothing_of_a_program_whose_waits_are_all_wrapped_comes_twice():
    command = [os.path.join(PROGRAMS, 'e2e-sync_waits'), 'calls']
    seen = []
    for name, run in (('both', ()), ('wrappers', ('--source', 'tracer'))):
        path = os.path.join(DIR, f'{name}.dwell')
        p = dwell('run', '-q', '-e', 'sync', *run, '-o', path, '--', *command)
        assert p.returncode == 0, p.stderr
        by_lock = [r for r in rows(path).values()
                   if r['ns'] >= HOLD_NS and r['kind'] != "thread's end"]
        seen.append(sorted((r['kind'], r['name'][:3] if r['name'][0] == '[' else r['name'],
                            sum(d['waits'] for d in r['durations_ns'] if d['from'] >= HOLD_NS / 4))
                           for r in by_lock))
    assert seen[0] == seen[1] and len(seen[0]) > 5, seen


@test
def a_forked_process_says_where_it_waits_too():
    path, told = record('forked', PROGRAM, 'forked', '5')
    found = rows(path)
    check_raw(found, told)
    check(found.get(('mutex', 'mutex')), told['mutex'])


@test
def what_a_wrapper_tells_another_recording_is_seen_by_this_one():
    path = os.path.join(DIR, 'machine.dwell')
    program = under_its_own_name('machine')
    with subprocess.Popen([harness.DWELL, 'attach', '-q', '-a', '-e', 'sync', '-o', path]) as p:
        try:
            while dwell('ctl', 'status', str(p.pid)).returncode:
                assert p.poll() is None, p.returncode
                time.sleep(.05)
            own, told = record('own', program, 'mixed', '10')
        finally:
            p.send_signal(signal.SIGINT)
    assert p.returncode == 0, p.returncode
    for recording in (own, path):
        found = rows(recording, '--filter', f'command == "{os.path.basename(program)}"')
        check_raw(found, told)
        check(found.get(('mutex', 'mutex')), told['mutex'])


@test
def a_lock_that_lends_its_holder_a_priority_is_a_lock():
    path, told = record('priority', STATIC, 'priority', '5')
    row = rows(path).get(('inheriting', 'futex'))
    check(row, told['inheriting'])
    assert row['is_lock'] and 'hold_inheriting' in functions(row['holders'][0]), row


@test
def one_of_several_is_called_after_the_first():
    path, told = record('several', PROGRAM, 'several', '3')
    row = rows(path)['word', 'futex']
    check(row, told['word'])
    assert 'wake_second' in functions(row['holders'][0]), row


@test
def memory_behind_the_data_of_a_file_is_none_of_its_data():
    path, told = record('behind', PROGRAM, 'behind', '5')
    (name, account), = told.items()
    assert name.startswith('[0x'), told
    row = rows(path).get((name, 'futex'))
    check(row, account)


@test
def who_waits_in_vain_was_woken_by_nobody():
    path, told = record('timeouts', STATIC, 'timeouts', '20')
    row = rows(path)['word', 'futex']
    check(row, told['word'])
    assert not row['holders'], row


@test
def what_is_below_the_threshold_is_only_counted():
    path, told = record('threshold', STATIC, 'timeouts', '20', run=('--threshold', '1000s'))
    r = report(path)
    assert not r['rows'], r['rows']
    short, = r['short_waits']
    assert short['waits'] == told['word'].n and short['ns'] <= told['word'].ns, (short, told)


@test
def with_other_experiments_it_is_the_same():
    path, told = record('many', PROGRAM, 'mixed', '5', experiments='usertime,states,sync,io')
    found = rows(path)
    check_raw(found, told)
    check(found.get(('mutex', 'mutex')), told['mutex'])
    assert not rows(path, '--filter', 'function == wake')['word', 'futex']['waits']
    only = rows(path, '--filter', 'function == words')
    assert {name for name, _ in only} <= {'words+0x9c3c'}, only


@test
def with_other_experiments_its_source_can_be_chosen_too():
    for source in ('futex', 'tracer'):
        path, told = record(source, PROGRAM, 'mixed', '5', run=('--source', source),
                            experiments='usertime,sync')
        found = rows(path)
        if source == 'futex':
            check_raw(found, told)
        else:
            assert 'futex' not in {kind for _, kind in found}, found
        check(found.get(('mutex', 'mutex')), told['mutex'])


@test
def what_has_waited_since_before_is_found_when_it_is_attached_to():
    path = os.path.join(DIR, 'attach.dwell')
    with subprocess.Popen([PROGRAM, 'forever', '2'], stdout=subprocess.PIPE, text=True) as p:
        try:
            assert p.stdout.readline() == 'ready\n'
            a = dwell('attach', '-q', '-e', 'sync', '--source', 'futex', '-p', str(p.pid), '-d', '1s', '-o', path)
            assert a.returncode == 0, a.stderr
        finally:
            p.kill()
    row = rows(path)['word', 'futex']
    assert row['waits'] == 0 and row['ns'] > 0, row
    threads = [r for r in rows(path, '--by', 'thread').values()]
    assert len(threads) == 2, threads


@test
def of_who_waits_for_several_since_before_nobody_knows_the_first():
    """Above all it is not looked up in the recorder, which has other words there."""
    need('setarch')
    fixed = ['setarch', '-R']
    same = {'PADDING': 'x' * 8192}
    path = os.path.join(DIR, 'first.dwell')
    with subprocess.Popen([*fixed, PROGRAM, 'several_forever'], stdout=subprocess.PIPE, text=True,
                          env=same) as p:
        try:
            assert p.stdout.readline() == 'ready\n'
            wait_until(lambda: p.poll() is not None or is_asleep(p.pid), 'it does not wait')
            a = subprocess.run([*fixed, harness.DWELL, 'attach', '-q', '-e', 'sync', '--source', 'futex',
                                '-p', str(p.pid), '-d', '1s', '-o', path], capture_output=True,
                               text=True, env=same, check=False)
            if p.poll() == 77:
                raise Skip('this kernel has no such call')
            assert a.returncode == 0, a.stderr
        finally:
            p.kill()
    row, = report(path)['rows']
    assert row['name'] == '[futex, of several]' and row['ns'] > 0, row


@test
def no_wait_is_longer_than_its_program():
    path = os.path.join(DIR, 'middle.dwell')
    since_ns = time.monotonic_ns()
    with subprocess.Popen([PROGRAM, 'raw', '100000'], stdout=subprocess.DEVNULL) as p:
        try:
            a = dwell('attach', '-q', '-e', 'sync', '-p', str(p.pid), '-d', '1s', '-o', path)
            assert a.returncode == 0, a.stderr
        finally:
            p.kill()
    row = rows(path)['word', 'futex']
    took_ns = time.monotonic_ns() - since_ns
    assert row['waits'] and all(d['from'] < took_ns for d in row['durations_ns']), row


@test
def a_wait_in_which_its_thread_is_stopped_goes_on():
    """How long the program is stopped is not known exactly where much runs."""
    shares = []
    while len(shares) < 20 and not (shares and shares[-1] > .9):
        path, told = record('stopped', PROGRAM, 'stopped', '3', run=('--source', 'futex'))
        row = rows(path)['word', 'futex']
        check(row, told['word'])
        assert row['waits'] == 1 and 'wake' in functions(row['holders'][0]), row
        shares.append(row['ns'] / (told['word'].ns - told['stopped'].ns))
    assert max(shares) > .9, shares


@test
def so_does_one_for_a_lock_that_lends_its_holder_a_priority():
    path, told = record('locked', PROGRAM, 'priority_stopped', '5', run=('--source', 'futex'))
    row = rows(path)['inheriting', 'futex']
    check(row, told['inheriting'])
    assert row['waits'] == 1, row


@test
def what_a_handler_waits_for_is_not_what_was_waited_for():
    """How often the latter wait is made again depends on when the signals come."""
    n = 5
    path, told = record('handlers', PROGRAM, 'handlers', str(n), run=('--source', 'futex'))
    found = rows(path)
    inner, word = found['inner', 'futex'], found['word', 'futex']
    check(inner, told['inner'])
    assert inner['waits'] == n and inner['ns'] >= n * HOLD_NS, inner
    assert all('wait_within' in functions(s) for s in inner['waiters']), inner
    assert 1 <= word['waits'] <= n + 1 and word['ns'] > 0, word
    assert word['ns'] + inner['ns'] <= told['word'].ns, (word, inner, told)
    assert not any('wait_within' in functions(s) for s in word['waiters']), word


@test
def threads_of_go_that_have_nothing_to_do_are_no_locks():
    program = os.path.join(PROGRAMS, 'e2e-goroutines')
    if not os.path.exists(program):
        raise Skip('no go here')
    path = os.path.join(DIR, 'go.dwell')
    p = dwell('run', '-q', '-e', 'sync', '-o', path, '--', program)
    assert p.returncode == 4, p
    found = [r for r in rows(path).values() if r['kind'] == 'idle thread']
    assert found and not any(r['is_lock'] for r in found), rows(path)
    assert all('runtime.futexsleep' in functions(s) for r in found for s in r['waiters']), found


@test
def without_privilege_the_report_says_what_nobody_sees():
    if not shutil.which('setpriv'):
        raise Skip('no setpriv here')
    place = os.path.join(DIR, 'unprivileged')
    os.chmod(DIR, 0o755)
    os.mkdir(place)
    os.chmod(place, 0o777)
    path = os.path.join(place, 'x.dwell')
    run = ['setpriv', '--reuid', '65534', '--clear-groups', harness.DWELL]
    p = subprocess.run([*run, 'run', '-q', '-e', 'sync', '-o', path, '--', PROGRAM, 'mixed', '1'],
                       capture_output=True, text=True, check=False)
    if p.returncode == 126 or 'Permission denied' in p.stderr:
        raise Skip('another user cannot run what is here')
    assert p.returncode == 0, p
    assert ('mutex', 'mutex') in rows(path) and ('word', 'futex') not in rows(path), rows(path)
    text = dwell('sync', path).stdout
    assert 'not observed: only root may load BPF programs' in text.replace('\n', ' '), text
    assert 'not observed' not in dwell('sync', os.path.join(DIR, 'mixed.dwell')).stdout


def can_observe():
    return dwell('run', '-n', '-e', 'sync', '--source', 'futex', '--', 'true').returncode == 0


@test
def short_programs_are_one_process_each():
    """Though sums are fetched, where intervals end, before wrappers have told of who they are of."""
    loop = f'for i in $(seq 20); do {PROGRAM} timeouts 1 >/dev/null; done'
    for interval in ('10ms', '50ms', '1s'):
        path, _ = record('short', 'bash', '-c', loop, run=['-S', interval])
        lines = dwell('cat', '--section', 'processes', path).stdout.splitlines()
        pids = [line.split('pid=')[1].split()[0] for line in lines if 'comm="e2e-sync_futex' in line]
        assert len(pids) == len(set(pids)) == 20, (interval, pids)


if not IS_ROOT or not can_observe():
    sys.exit(skip_all('the kernel lets nobody see waits here'))
sys.exit(run_all(TESTS, words=sys.argv[3:]))
