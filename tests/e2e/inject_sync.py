#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Waits of processes that already run: those for locks each once, as the program has them, and
others as the kernel sees them; nothing is left in anybody's way.
usage: inject_sync.py DWELL PROGRAM_DIR [WORD...]"""
import json
import os
import re
import resource
import signal
import subprocess
import sys

import harness
import visiting
from harness import DIR, dwell, fact, report, run_all, test
from visiting import (LIMIT_S, attached, check_left, is_free, is_traced_by, obeying, redis_server, text_of, wait_until)

PROGRAMS = os.path.abspath(sys.argv[2])
WAITS = f'{PROGRAMS}/e2e-sync_waits'
OLDER = f'{PROGRAMS}/e2e-sync_older'
HELD_NS = 15000000  # of what is held for 20 ms, by whoever's clock


def waiting():
    return obeying(visiting.Program(WAITS, 'obey'))


def do(program, line):
    said = program.tell(line)
    assert said == 'done\n', said


def only_wrappers():
    return '-e', 'sync', '--source', 'tracer'


def sync(path, *args):
    p = dwell('sync', '--json', *args, path)
    assert p.returncode == 0, p.stderr
    return json.loads(p.stdout)['rows']


def locks(path, *args):
    return [r for r in sync(path, *args) if r['is_lock']]


def functions(stack):
    return [f['name'] for f in stack['frames']]


def long_waits(rows):
    """By who waits and for what: how often for some time."""
    return sorted((r['kind'], r['name'][:3] if r['name'][0] == '[' else r['name'],
                   sum(d['waits'] for d in r['durations_ns'] if d['from'] >= HELD_NS / 2)) for r in rows if r['ns'] >= HELD_NS)


def check_complete(path):
    r = report(path)
    for name in 'lost-events', 'damaged-records':
        assert not fact(r, name, 'loss'), (name, fact(r, name, 'loss'))


def says(path, what):
    return what in ' '.join(dwell('sync', path).stdout.split())


def n_kept(pid):
    """How many recorders' rings it still has."""
    return len(set(re.findall(r'/\S+/control', text_of(pid, 'maps'))))


LOCKS = [('mutex', '[0x', 1), ('mutex', 'c11', 2), ('mutex', 'plain', 3), ('rwlock', 'in_struct+0x28', 6)]


@test
def waits_for_locks_from_begin_to_end_are_counted_and_no_others():
    for name, experiment in ('both', ('-e', 'sync')), ('wrappers', only_wrappers()):
        path = f'{DIR}/{name}.dwell'
        with waiting() as p:
            do(p, 'calls')
            with attached(p.pid, path, *experiment):
                do(p, 'calls')
            check_left(p.pid)
            do(p, 'calls')
        assert long_waits(locks(path)) == LOCKS, locks(path)
        check_complete(path)
    assert says(f'{DIR}/both.dwell', 'are as the kernel sees them')
    assert says(path, 'ends of threads were not observed') and not says(path, 'kernel sees')


@test
def what_is_no_lock_is_seen_by_the_kernel_once():
    path = f'{DIR}/others.dwell'
    with waiting() as p, attached(p.pid, path, '-e', 'sync'):
        do(p, 'calls')
    others = [r for r in sync(path) if not r['is_lock']]
    n = {}
    for kind, _, waits in long_waits(others):
        n[kind] = n.get(kind, 0) + waits
    assert (n.get('semaphore'), n.get('condition'), n.get('barrier')) == (3, 5, 1), others


@test
def who_held_is_told_with_every_wait():
    path = f'{DIR}/holders.dwell'
    with waiting() as p, attached(p.pid, path, '-e', 'sync'):
        do(p, 'holders 10')
    row, = locks(path)
    assert (row['name'], row['waits']) == ('plain', 10), row
    assert 'slow_waiter' in functions(row['waiters'][0]), row
    assert 'hold_mutex' in functions(row['holders'][0]) and row['holders'][0]['ns'] == row['ns'], row
    assert not any('dwell' in f['image'] for s in row['waiters'] + row['holders'] for f in s['frames']), row


@test
def who_gives_a_lock_to_wait_for_a_condition_is_its_holder():
    path = f'{DIR}/given.dwell'
    with waiting() as p, attached(p.pid, path, '-e', 'sync'):
        do(p, 'given 5')
    row, = [r for r in locks(path) if r['ns'] >= 5 * HELD_NS]
    assert row['name'] == 'plain' and 'answer' in functions(row['waiters'][0]), row
    assert 'give_by_waiting' in functions(row['holders'][0]), row['holders']


@test
def a_program_that_was_not_to_notice_does_not():
    """Its threads are cancelled where they wait, leave locks behind, and check what they get."""
    with waiting() as p:
        for i in range(3):
            with attached(p.pid, f'{DIR}/same-{i}.dwell', '-e', 'sync'):
                for line in 'uncontended 1000', 'robust', 'cancelled', 'spinning', 'forked', 'given 2':
                    do(p, line)
            check_left(p.pid)
            do(p, 'cancelled')


@test
def locks_that_are_taken_before_and_released_behind_are_no_trouble():
    with waiting() as p:
        do(p, 'park')
        with attached(p.pid, f'{DIR}/before.dwell', '-e', 'sync'):
            do(p, 'go')
            do(p, 'park')
        check_left(p.pid)
        do(p, 'go')
        do(p, 'calls')


@test
def who_waits_within_when_it_is_left_goes_on_and_is_in_no_ones_way():
    with waiting() as p:
        for i in range(4):
            with attached(p.pid, f'{DIR}/within-{i}.dwell', *only_wrappers()):
                do(p, 'park')
            check_left(p.pid)
            with attached(p.pid, f'{DIR}/besides-{i}.dwell', *only_wrappers()):
                do(p, 'holders 3')
            check_left(p.pid)
            do(p, 'go')
            row, = locks(f'{DIR}/besides-{i}.dwell')
            assert row['waits'] == 3, row


@test
def who_waits_for_a_condition_is_within_nothing_of_ours():
    """So the next one finds the place of the first free."""
    with waiting() as p:
        for i in range(4):
            with attached(p.pid, f'{DIR}/condition-{i}.dwell', '-e', 'sync'):
                do(p, 'condition')
            check_left(p.pid)
            assert n_kept(p.pid) == 0
            do(p, 'go')


@test
def who_reads_on_after_it_let_another_wait_is_within_nothing_of_ours():
    """It writes a number over half of what a wrapper has left on its stack."""
    with waiting() as p:
        for i in range(4):
            with attached(p.pid, f'{DIR}/reads-{i}.dwell', '-e', 'sync'):
                do(p, 'wake')
            check_left(p.pid)
            assert n_kept(p.pid) == 0
            do(p, 'go on')


@test
def what_was_kept_for_one_who_was_within_is_given_back_to_the_next():
    with waiting() as p:
        for i in range(3):
            with attached(p.pid, f'{DIR}/kept-{i}.dwell', *only_wrappers()):
                do(p, 'park')
            assert n_kept(p.pid) == 1
            do(p, 'go')
        with attached(p.pid, f'{DIR}/returned.dwell', *only_wrappers()):
            do(p, 'holders 3')
        assert n_kept(p.pid) == 0


@test
def who_waits_for_a_condition_of_older_programs_is_woken():
    """By the call that goes with it, which it has not looked up yet when dwell comes."""
    if not os.path.exists(OLDER):
        raise harness.Skip('this C library never had another one')
    with obeying(visiting.Program(OLDER)) as p:
        for i in range(2):
            with attached(p.pid, f'{DIR}/older-{i}.dwell', '-e', 'sync'):
                for _ in range(5):
                    do(p, 'wait')
            check_left(p.pid)
            do(p, 'wait')


@test
def a_program_whose_dwell_is_killed_goes_on():
    with waiting() as p:
        with harness.beside(harness.DWELL, 'attach', '-e', 'sync', '-p', str(p.pid), '-o', f'{DIR}/killed.dwell',
                            stderr=subprocess.DEVNULL) as d:
            wait_until(lambda: is_traced_by(p.pid, d.pid), 'it does not begin')
            do(p, 'park')
        do(p, 'go')
        assert p.tell('contended 100000') == '400000\n'
        assert p.process.stdout.readline() == 'done\n'
        do(p, 'calls')
        with attached(p.pid, f'{DIR}/again.dwell', '-e', 'sync'):
            do(p, 'holders 5')
        check_left(p.pid)
    assert sum(r['waits'] for r in locks(f'{DIR}/again.dwell')) == 5


@test
def a_busy_process_is_attached_to_fifty_times():
    with waiting() as p:
        p.process.stdin.write('contended 20000000\n')
        p.process.stdin.flush()
        for i in range(50):
            r = dwell('attach', *only_wrappers(), '-p', str(p.pid), '-d', '0.02', '-o', f'{DIR}/often.dwell')
            assert r.returncode == 0, (i, r.stderr)
            assert is_free(p.pid)
        check_left(p.pid)
        assert p.process.stdout.readline() == '80000000\n'
        assert p.process.stdout.readline() == 'done\n'


@test
def where_nothing_can_be_put_into_the_kernel_sees_all_waits():
    path = f'{DIR}/static.dwell'
    with subprocess.Popen([f'{PROGRAMS}/e2e-sync_futex-static', 'mixed', '100000'], stdout=subprocess.DEVNULL) as p:
        try:
            a = dwell('attach', '-q', '-e', 'sync', '-p', str(p.pid), '-d', '1s', '-o', path)
            assert a.returncode == 0, a.stderr
            why = dwell('attach', '-q', *only_wrappers(), '-p', str(p.pid), '-d', '1s', '-o', path + '2')
            assert why.returncode and 'statically linked' in why.stderr, why
        finally:
            p.kill()
    assert ('word', 'futex') in {(r['name'], r['kind']) for r in sync(path)}, sync(path)
    assert says(path, 'as the kernel sees them: cannot trace process') and says(path, 'statically linked')


@test
def where_there_is_no_room_the_kernel_sees_all_waits():
    path = f'{DIR}/no-room.dwell'
    with waiting() as p:
        room = int(re.search(r'VmSize:\s+(\d+) kB', text_of(p.pid, 'status')).group(1)) * 1024 + (1 << 20)
        before = resource.prlimit(p.pid, resource.RLIMIT_AS, (room, -1))
        why = dwell('attach', '-q', *only_wrappers(), '-p', str(p.pid), '-d', '1s', '-o', path + '2')
        assert why.returncode and 'cannot have memory' in why.stderr, why
        with harness.beside(harness.DWELL, 'attach', '-q', '-e', 'sync', '-p', str(p.pid), '-o', path) as d:
            wait_until(lambda: dwell('ctl', 'status', str(d.pid)).returncode == 0, 'it does not begin')
            resource.prlimit(p.pid, resource.RLIMIT_AS, before)
            do(p, 'holders 5')
            d.send_signal(signal.SIGINT)
            assert d.wait(LIMIT_S) == 0, d.returncode
        check_left(p.pid)
    assert sum(r['waits'] for r in sync(path) if r['name'] == 'plain') == 5, sync(path)
    assert says(path, 'as the kernel sees them: cannot trace process') and says(path, 'cannot have memory')


@test
def it_goes_beside_other_experiments():
    path = f'{DIR}/all.dwell'
    with waiting() as p, attached(p.pid, path, '-e', 'usertime,heap,sync'):
        do(p, 'holders 5')
    row, = locks(path)
    assert row['waits'] == 5, row
    assert {'allocations', 'lock-waits', 'cpu-time'} <= {e for r in report(path)['rows'] for e in r['inclusive']}


def attach_often(pid, ask, name, times=5):
    want = ask()
    for i in range(times):
        with attached(pid, f'{DIR}/{name}-{i}.dwell', '-e', 'sync'):
            for _ in range(10):
                assert ask() == want
        check_left(pid)
        assert ask() == want


PYTHON = """
import sys, threading
lock, done = threading.Lock(), threading.Condition()
n = 0
def add():
    global n
    for i in range(2000):
        with lock:
            n += 1
    with done:
        done.notify()
while sys.stdin.readline():
    n = 0
    all = [threading.Thread(target=add) for i in range(4)]
    for t in all:
        t.start()
    for t in all:
        t.join()
    print(n, flush=True)
"""


@test
def threads_of_python_go_on_as_before():
    with subprocess.Popen([sys.executable, '-c', PYTHON], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as p:
        def ask():
            p.stdin.write('\n')
            p.stdin.flush()
            return p.stdout.readline()
        assert ask() == '8000\n'
        attach_often(p.pid, ask, 'python')
        p.stdin.close()
        assert p.wait(LIMIT_S) == 0


@test
def a_redis_server_answers_as_before():
    with redis_server('set a 1\nlpush l 1 2 3\nunlink l\nget a\n') as (p, ask):
        attach_often(p.pid, ask, 'redis')


if __name__ == '__main__':
    if visiting.why_not():
        sys.exit(harness.skip_all(visiting.why_not()))
    if dwell('run', '-n', '-e', 'sync', '--source', 'futex', '--', 'true').returncode:
        sys.exit(harness.skip_all('the kernel lets nobody see waits here'))
    sys.exit(run_all(harness.TESTS, words=sys.argv[3:]))
