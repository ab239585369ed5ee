#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Waits that never end: which thread waits for what since when, in which stack, and who has
it, whether the program is killed or the recording ends before it does.
usage: sync_unfinished.py DWELL PROGRAM_DIR [WORD...]"""
import json
import os
import signal
import subprocess
import sys
import time

import harness
from harness import DIR, IS_ROOT, Skip, dwell, is_asleep, run_all, test, wait_until

PROGRAM = os.path.join(os.path.abspath(sys.argv[2]), 'e2e-deadlock')
NS = 1000000000
LASTS = .3
LOOK = .25  # between two looks at who is there
SOURCES = ('tracer', 'futex', None) if IS_ROOT else ('tracer',)


def unfinished(path):
    p = dwell('sync', '--json', '--limit', '0', path)
    assert p.returncode == 0, p.stderr
    r = json.loads(p.stdout)
    assert not r['quality']['lost'], r['quality']
    return r['unfinished_waits']


def functions(wait):
    return [f['name'] for f in wait['frames']]


def may_use(source):
    args = ('--source', source) if source else ()
    if dwell('run', '-n', '-e', 'sync', *args, '--', 'true').returncode:
        raise Skip(f'{source or "nothing"} cannot observe waits here')
    return args


def has_thread(pid, tid):
    return os.path.exists(f'/proc/{pid}/task/{tid}')


class Deadlock:
    """A program whose threads all wait, and dwell that records it."""

    def __init__(self, name, mode, source, options=()):
        self.path = os.path.join(DIR, f'{name}-{source}.dwell')
        self.began_ns = time.monotonic_ns()
        self.dwell = subprocess.Popen(
            [harness.DWELL, 'run', '-q', '-e', 'sync', *may_use(source), *options, '-o',
             self.path, '--', PROGRAM, mode], stdout=subprocess.PIPE, text=True, start_new_session=True)
        word, self.pid, *self.tids = self.dwell.stdout.readline().split()
        assert word == 'ready', word
        self.pid, self.tids = int(self.pid), [int(tid) for tid in self.tids]
        wait_until(lambda: all(is_asleep(tid) for tid in (self.pid, *self.tids)), 'they do not wait')
        self.ready_ns = time.monotonic_ns()
        time.sleep(LASTS)

    def end(self, how, code):
        least_ns = time.monotonic_ns() - self.ready_ns
        how()
        assert self.dwell.wait(120) == code, self.dwell.returncode
        self.dwell.stdout.close()
        return least_ns, time.monotonic_ns() - self.began_ns

    def kill(self):
        os.kill(self.pid, signal.SIGKILL)


def check_locks(d, times, source):
    """Both have what the other one waits for."""
    waits = unfinished(d.path)
    text = ' '.join(dwell('sync', d.path).stdout.split())
    left, right, idle = d.tids
    for tid, name, function, holder in ((left, 'mutex_b', 'take_b', right),
                                        (right, 'mutex_a', 'take_a', left)):
        wait, = [w for w in waits if w['tid'] == tid]
        assert (wait['pid'], wait['name'], wait['kind'], wait['is_lock'], wait['waits']) == (
            d.pid, name, 'mutex', True, 1), wait
        assert function in functions(wait), wait
        assert times[0] <= wait['ns'] <= times[1], (wait, times)
        assert wait['since_ns'] + wait['ns'] <= times[1], (wait, times)
        if source != 'futex':
            assert wait['holder'] == f'thread {holder}', (wait, d.tids)
            assert f'held by thread {holder}' in text, text
    others = {w['tid']: w['kind'] for w in waits if not w['is_lock']}
    # Where all are killed the first may see the end of the one that it waits for.
    assert others.pop(d.pid, "thread's end") == "thread's end", waits
    assert others == {idle: 'condition'}, waits
    assert waits[0]['is_lock'] and waits[1]['is_lock'], waits
    assert 'Waits that had not ended' in text, text


def each_source(name, mode, how, code, check, options=()):
    for source in SOURCES:
        d = Deadlock(name, mode, source, options)
        try:
            check(d, d.end(lambda d=d: how(d), code), source)
        finally:
            try:
                d.kill()
            except ProcessLookupError:
                pass


@test
def a_deadlock_that_is_killed_is_told_with_who_waits_for_whom():
    each_source('killed', 'locks', Deadlock.kill, 128 + signal.SIGKILL, check_locks)


@test
def so_is_one_of_threads_that_come_behind_many_others():
    each_source('crowd', 'crowd', Deadlock.kill, 128 + signal.SIGKILL, check_locks)


@test
def it_is_where_some_threads_have_gone_before_others_have_a_cpu_to_end_with():
    """It is looked at four times a second who is there, and who has left its wait."""
    if not IS_ROOT or len(os.sched_getaffinity(0)) == 1:
        raise Skip('nobody can be kept from all CPUs')
    kept = []

    def kill(d):
        idle = d.tids[2]
        with harness.starved(idle):
            d.kill()
            wait_until(lambda: not has_thread(d.pid, d.tids[0]) or not has_thread(d.pid, idle), 'it does not end')
            time.sleep(2 * LOOK)
            kept.append(has_thread(d.pid, idle))
    each_source('slowly', 'locks', kill, 128 + signal.SIGKILL, check_locks)
    # Beside load it may have its CPU before the others have theirs: then all is as in the test before.
    print(f'# {sum(kept)} of {len(kept)} were kept from ending')


@test
def so_is_one_that_goes_on_when_its_recording_ends():
    def wait(d):
        if d.dwell.poll() is not None:
            raise Skip('too much to do here')
        d.dwell.wait(120)
        assert is_asleep(d.pid)
    each_source('left', 'locks', wait, 0, check_locks, options=('-d', '3s'))


@test
def so_is_one_that_is_interrupted_with_its_recording():
    def interrupt(d):
        os.killpg(d.dwell.pid, signal.SIGINT)
    each_source('interrupted', 'locks', interrupt, 128 + signal.SIGINT, check_locks)


@test
def a_wait_for_a_word_that_the_kernel_alone_sees_is_told_when_it_is_killed():
    if not IS_ROOT:
        raise Skip('only root sees it')
    for source in ('futex', None):
        d = Deadlock('word', 'words', source)
        times = d.end(d.kill, 128 + signal.SIGKILL)
        wait, = unfinished(d.path)
        assert (wait['tid'], wait['name'], wait['kind']) == (d.tids[0], 'word', 'futex'), wait
        assert 'wait_for_word' in functions(wait), wait
        assert times[0] <= wait['ns'] <= times[1], (wait, times)


@test
def of_a_process_that_hangs_already_it_is_told_by_who_attaches():
    if not IS_ROOT or harness.why_no_bpf():
        raise Skip('only root sees what has begun before')
    path = os.path.join(DIR, 'attached.dwell')
    began_ns = time.monotonic_ns()
    with subprocess.Popen([PROGRAM, 'locks'], stdout=subprocess.PIPE, text=True) as p:
        try:
            left, right, idle = [int(x) for x in p.stdout.readline().split()[2:]]
            wait_until(lambda: is_asleep(p.pid), 'it does not wait')  # the others do: it says so
            a = dwell('attach', '-q', '-e', 'sync', '-p', str(p.pid), '-d', '1s', '-o', path)
            assert a.returncode == 0, a.stderr
            # They wait on, as if nothing had been.
            assert all(is_asleep(f'{p.pid}/task/{tid}') for tid in (left, right, idle, p.pid))
        finally:
            p.kill()
    took_ns = time.monotonic_ns() - began_ns
    found = {w['tid']: w for w in unfinished(path)}
    assert set(found) == {left, right, idle, p.pid}, found
    for tid, function, name, kind in ((left, 'take_b', 'mutex_b', 'mutex'),
                                      (right, 'take_a', 'mutex_a', 'mutex'),
                                      (idle, 'wait_for_ever', None, 'condition'),
                                      (p.pid, 'main', None, "thread's end")):
        w = found[tid]
        assert function in functions(w) and w['kind'] == kind, w
        assert name in (None, w['name']), w
        assert 'since_ns' not in w and NS / 2 < w['ns'] <= took_ns, w
    assert 'since before the recording' in dwell('sync', path).stdout


@test
def what_has_ended_is_not_told():
    for source in SOURCES:
        path = os.path.join(DIR, f'over-{source}.dwell')
        p = dwell('run', '-q', '-e', 'sync', *may_use(source), '-o', path, '--', PROGRAM, 'over')
        assert p.returncode == 0, p.stderr
        assert not unfinished(path), unfinished(path)
        assert 'had not ended' not in dwell('sync', path).stdout


@test
def nor_is_the_wait_of_a_thread_that_was_cancelled():
    for source in SOURCES:
        path = os.path.join(DIR, f'cancelled-{source}.dwell')
        with subprocess.Popen([harness.DWELL, 'run', '-q', '-e', 'sync', *may_use(source), '-o',
                               path, '--', PROGRAM, 'cancelled'], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, text=True) as p:
            assert p.stdout.readline().startswith('ready')
            assert p.stdout.readline() == 'joined\n'
            time.sleep(2)  # it is looked at four times a second who is there
            p.communicate('\n')
        assert p.returncode == 0, p.returncode
        assert not unfinished(path), unfinished(path)


sys.exit(run_all(harness.TESTS, words=sys.argv[3:]))
