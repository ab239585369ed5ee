#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Daemons that record states, system calls and triggers, and are killed: what the next one
finds in the kernel is in the database once, as a program that counts its own calls and as
the life of another tell.
usage: sums_taken_over.py DWELL WORKLOAD_DIR PROGRAM_DIR"""
import glob
import os
import random
import re
import sys
import threading
import time

from daemon_reports import Life, by_call, counted, name_of, program, report, states, total
from daemons import Daemon, daemon, pins_of
from harness import DIR, IS_ROOT, TESTS, dwell, run_all, skip_all, test
from placed import Paced

MS = 1e6
MOMENTS = random.Random(os.getpid())
WORKLOADS = os.path.abspath(sys.argv[2])
CALLS = os.path.join(os.path.abspath(sys.argv[3]), 'e2e-calls')
SYSCALLS = ('-e', 'syscalls')
Daemon.MEETING_S = 0  # nothing that is told here depends on who was met
BUSY = ('--drain', '100ms', '--merge', '1s')


def workload(name):
    return program(os.path.join(WORKLOADS, name), name)


def kill(d):
    d.child.kill()
    d.child.wait(30)


def left_of(d):
    return glob.glob(pins_of(d) + '*')


def in_function(d, path, event, name):
    """What a program has of it below that function by now; 0 until its stacks are known."""
    d.done('flush')
    rows = report(d, path, '--event', event)['rows']
    return max((r['inclusive'].get(event, 0) for r in rows if r['name'] == name), default=0)


class Rounds:
    """Rounds of the paced program, one after the other, until they are ended."""

    def __init__(self, path):
        self.paced, self.n, self.is_over = Paced(path), 0, False
        self.thread = threading.Thread(target=self.go, daemon=True)  # ends with a test that fails
        self.thread.start()

    def go(self):
        while not self.is_over:
            self.paced.round()
            self.n += 1
            time.sleep(0.01)

    def wait_for(self, more):
        """So many more, from now on."""
        until, deadline = self.n + more, time.time() + 120
        while self.n < until:
            assert self.thread.is_alive() and time.time() < deadline, (self.n, until)
            time.sleep(0.01)

    def end(self):
        self.is_over = True
        self.thread.join(60)
        self.paced.end()
        return self.n


def assert_exact(d, path, n):
    """Of a program that made so many rounds."""
    c = counted(d, path)
    assert c['getppid'] == (1000 * n, 0), (n, c)
    assert c['write'] == (n, 0), (n, c)


@test
def calls_are_counted_once_whoever_was_there():
    calls = program(CALLS, 'left')
    with daemon(*SYSCALLS) as d:
        paced, n = Paced(calls), 1
        paced.round()
        while not in_function(d, calls, 'syscalls', 'asks_one_way'):
            paced.round()
            n += 1
        kill(d)
        for _ in range(2):
            paced.round()
    with daemon(*SYSCALLS, db=d.db) as d:
        s = d.status()
        assert s['taken-over'] == 1 and not s['unkept'] and not s['removed'], s
        for _ in range(4):
            paced.round()
        paced.end()
        d.done('flush')
        assert_exact(d, calls, n + 6)
        # And they are below the function that makes them, though its stack was told to the first.
        assert in_function(d, calls, 'syscalls', 'asks_one_way') >= 6000
        d.quit()
    assert not left_of(d)


def killed_again_and_again(options, times):
    calls = program(CALLS, 'again')
    with daemon(*options) as d:
        rounds = Rounds(calls)
        for _ in range(times):
            time.sleep(MOMENTS.uniform(0, 1))
            kill(d)
            rounds.wait_for(3)
            d = Daemon(*options, db=d.db).wait_until_ready()
        n = rounds.end()
        d.done('flush')
        assert_exact(d, calls, n)
        d.quit()


@test
def killed_again_and_again_no_call_is_lost_or_counted_twice():
    killed_again_and_again((*SYSCALLS, *BUSY), 6)


@test
def killed_while_it_starts_it_leaves_what_was_there():
    calls = program(CALLS, 'early')
    with daemon(*SYSCALLS) as d:
        rounds = Rounds(calls)
        rounds.wait_for(3)
        for _ in range(6):
            kill(d)
            d = Daemon(*SYSCALLS, db=d.db)
            time.sleep(MOMENTS.uniform(0, 0.7))
        kill(d)
        d = Daemon(*SYSCALLS, db=d.db).wait_until_ready()
        rounds.wait_for(3)
        n = rounds.end()
        d.done('flush')
        assert_exact(d, calls, n)
        d.quit()


@test
def the_states_of_a_process_are_its_life():
    turns = workload('turns')
    with daemon('-e', 'states') as d:
        life = Life(turns, '8000')
        time.sleep(1)
        kill(d)
        time.sleep(1)
    with daemon('-e', 'states', db=d.db) as d:
        assert d.status()['taken-over'] == 1, d.status()
        life.wait()
        d.done('flush')
        t = states(d, name_of(turns))
        d.quit()
    total_ns = sum(t.values())
    assert life.least * 0.999 - MS < total_ns < life.most + MS, (t, life.least, life.most)
    assert not left_of(d)


@test
def waits_that_nobody_saw_end_are_whole():
    crowd = workload('crowd')
    command = name_of(crowd)
    with daemon('-e', 'states', *BUSY) as d:
        life = Life(crowd, '30000')
        n = 0
        while life.goes_on() and not in_function(d, crowd, 'io-wait', 'reading'):
            pass
        while not n or life.goes_on() and n < 3:
            time.sleep(MOMENTS.uniform(0, 1))
            kill(d)
            d = Daemon('-e', 'states', *BUSY, db=d.db).wait_until_ready()
            n += 1
        lines = life.wait()
        d.done('flush')
        for name, _, ns in map(str.split, lines):
            state = {'locked': 'user-lock', 'reading': 'io-wait'}[name]
            found = in_function(d, crowd, state, name)
            assert abs(found / int(ns) - 1) < 0.001, f'{command} {name}: {found}, planned {ns}'
        d.quit()


@test
def triggers_are_met_once_whoever_was_there():
    calls = program(CALLS, 'met')
    event = 'raw_syscalls:sys_exit'
    options = ('-e', f'trigger:{event},trigger:uprobe:{calls}:asks_one_way')
    with daemon(*options) as d:
        rounds = Rounds(calls)
        for _ in range(3):
            rounds.wait_for(3)
            kill(d)
            rounds.wait_for(3)
            d = Daemon(*options, db=d.db).wait_until_ready()
            assert d.status()['taken-over'] == 1, d.status()
        n = rounds.end()
        d.done('flush')
        t = total(d, calls)
        place = next(v for k, v in t.items() if 'asks_one_way' in k)
        assert place == n, (t, n)
        assert t[event] > 1000 * n, (t, n)
        d.quit()
    assert not left_of(d)


@test
def all_of_it_beside_samples_is_taken_over_together():
    calls = program(CALLS, 'joint')
    turns = workload('turns')
    options = ('-e', 'cpu-clock,states,syscalls', *BUSY)
    with daemon(*options) as d:
        rounds, life = Rounds(calls), Life(turns, '9000')
        for _ in range(3):
            time.sleep(MOMENTS.uniform(0, 1))
            kill(d)
            rounds.wait_for(2)
            d = Daemon(*options, db=d.db).wait_until_ready()
            s = d.status()
            assert s['taken-over'] == 1 and not s['unkept'] and not s['removed'], s
        life.wait()
        n = rounds.end()
        d.done('flush')
        assert_exact(d, calls, n)
        total_ns = sum(v for k, v in states(d, name_of(turns)).items()
                       if not k.startswith(('syscall', 'cpu-')))
        assert life.least * 0.999 - MS < total_ns < life.most + MS, (total_ns, life.least, life.most)
        d.quit()
    assert not left_of(d)


@test
def with_other_settings_what_was_left_is_told_as_lost_with_its_number():
    calls = program(CALLS, 'other')
    with daemon('-e', 'syscalls', '--drain', '60s') as d:
        paced = Paced(calls)
        paced.round()
        d.done('flush')
        kill(d)
        for _ in range(5):
            paced.round()
    with daemon('-e', 'syscalls,trigger:signal:signal_generate', db=d.db) as d:
        s = d.status()
        assert 'removed' in s['removed'] and 'taken-over' not in s, s
        assert s['lost'] >= 5000, s
        paced.round()
        paced.end()
        d.done('flush')
        n = counted(d, calls)['getppid'][0]
        assert n == 2000, n  # those before the kill, and those behind it
        d.quit()
    text = d.child.stderr.read()
    assert len(re.findall(r'was removed: [0-9,.]+ *\w* calls', text)) == 1, text


@test
def what_is_not_asked_for_any_more_is_removed_and_told():
    calls = program(CALLS, 'fewer')
    with daemon('-e', 'cpu-clock,syscalls') as d:
        paced = Paced(calls)
        paced.round()
        d.done('flush')
        kill(d)
        assert len(left_of(d)) == 2, left_of(d)
        paced.round()
    with daemon('-e', 'cpu-clock', db=d.db) as d:
        s = d.status()
        assert 'calls' in s['removed'] and s['taken-over'] == 1 and s['lost'] >= 1000, s
        assert len(left_of(d)) == 1, left_of(d)
        paced.end()
        d.done('flush')
        assert by_call(d, calls)['getppid']['syscalls'] == 1000
        kill(d)
    p = dwell('daemon', '--unpin', '--db', d.db)
    assert p.returncode == 0 and 'is removed' in p.stdout, p
    assert not left_of(d)


@test
def unpinned_programs_do_not_go_on():
    with daemon('-e', 'states,syscalls') as d:
        kill(d)
        assert len(left_of(d)) == 2, left_of(d)
    p = dwell('daemon', '--unpin', '--db', d.db)
    assert p.returncode == 0 and not left_of(d), p
    with daemon('-e', 'states,syscalls', '--no-pins', db=d.db) as d:
        assert d.status()['unkept'] and not left_of(d)
        d.quit()


def main():
    if not IS_ROOT:
        return skip_all('only root may load BPF programs')
    for what in ('states', 'syscalls'):
        p = dwell('attach', '-a', '-e', what, '-d', '0.01', '-o', os.path.join(DIR, 'probe'))
        if p.returncode != 0:
            return skip_all(p.stderr.strip().splitlines()[-1])
    with daemon('-e', 'syscalls') as d:
        why = d.status()['unkept']
        d.quit()
    if why:
        return skip_all(why)
    return run_all(TESTS, words=sys.argv[4:])


sys.exit(main())
