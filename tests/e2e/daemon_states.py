#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The states of all threads, recorded by the daemon over several epochs: compared with how
long programs lived, with what they planned and with what the kernel says of them.
usage: daemon_states.py DWELL WORKLOAD_DIR"""
import ctypes
import json
import os
import re
import shutil
import subprocess
import sys
import time

from daemon_reports import Life, assert_hardly_lost, name_of, states
from daemons import Daemon, daemon, own_memory, pins_of
from harness import (DIR, IS_ROOT, TESTS, dwell, is_asleep, need, run_all, skip_all, sleeper, stolen_ns, test, text_of,
                     wait_until)
from kernel_maps import ThreadMap

WORKLOADS = os.path.abspath(sys.argv[2])
CPU = ('user-cpu', 'system-cpu', 'unaccounted')
MS = 1e6
WAITS = 2  # as the kernel's program says it of a thread
Daemon.MEETING_S = 0  # nothing that is told here depends on who was met


def program(name):
    """The workload under a name of its own: others may run it at the same time."""
    path = os.path.join(DIR, f'{name}{os.getpid()}')
    if not os.path.exists(path):
        shutil.copy(os.path.join(WORKLOADS, name), path)
    return path


def sleep_called(name):
    path = os.path.join(DIR, f'{name}{os.getpid()}')
    shutil.copy('/bin/sleep', path)
    return path


def report(*args):
    p = dwell('report', '--json', '--limit', '0', *args)
    assert p.returncode == 0, p.stderr
    return json.loads(p.stdout)


@test
def the_states_of_a_process_are_its_life():
    turns = program('turns')
    with daemon('-e', 'states') as d:
        life = Life(turns, '6000')
        ends = []
        while len(ends) < 3 and life.goes_on():
            time.sleep(1)
            before = time.monotonic_ns()
            goes_on = life.goes_on()
            d.done('epoch', f'part{len(ends)}')
            ends.append((before, time.monotonic_ns(), goes_on))
        life.wait()
        d.done('flush')
        t = states(d, name_of(turns))
        epochs = [sum(states(d, name_of(turns), '--epoch', str(i + 1)).values())
                  for i in range(len(ends) + 1)]
        assert_hardly_lost(d)
    total = sum(t.values())
    assert life.least * 0.999 - MS < total < life.most + MS, (t, life.least, life.most)
    assert sum(epochs) == total and len(epochs) > 2, epochs
    for i in range(1, len(ends)):
        least, most = ends[i][0] - ends[i - 1][1], ends[i][1] - ends[i - 1][0]
        assert epochs[i] < most + MS, (i, epochs, ends)
        # How long is not known of the one in which it ends.
        assert epochs[i] > least * 0.999 - MS or not ends[i][2], (i, epochs, ends)
    assert t.get('unaccounted', 0) <= 0.001 * total, t


@test
def cpu_time_is_the_kernels():
    # Few switches: what these cost by being told of is in the kernel's account.
    cpu = program('cpu')
    with daemon('-e', 'states') as d:
        stolen = stolen_ns()
        life = Life(cpu, '60')
        time.sleep(0.7)
        d.done('epoch', 'two')
        life.wait()
        stolen = stolen_ns() - stolen
        d.done('flush')
        t = states(d, name_of(cpu))
    used = (life.usage.ru_utime + life.usage.ru_stime) * 1e9
    found = sum(t.get(s, 0) for s in CPU)
    assert abs(found - used) < 0.02 * used + stolen, (found, used, stolen, t)
    assert t['user-cpu'] > 0.8 * found, t


@test
def who_came_back_to_a_cpu_untold_is_not_told_to_wait():
    """Some kernels do not tell of all switches: as if this one had not been told of."""
    need('bpftool')
    stolen = stolen_ns()
    cpu = program('cpu')
    with daemon('-e', 'states') as d:
        life = Life(cpu, '1000000')
        child = life.child
        try:
            threads = ThreadMap(pins_of(d) + '-states/threads')
            wait_until(lambda: name_of(cpu) == text_of(child.pid, 'comm').strip(), 'it does not begin')
            for _ in range(50):
                ran = int(text_of(child.pid, 'schedstat').split()[0])
                threads.change(child.pid, where=(ctypes.c_uint32, WAITS), began_ns=(ctypes.c_uint64, 0),
                               ran_ns=(ctypes.c_uint64, ran))
                time.sleep(0.02)
                d.done('flush')
            threads.close()
            child.kill()
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
        finally:
            life.end()
        d.done('flush')
        t = states(d, name_of(cpu))
    used = (usage.ru_utime + usage.ru_stime) * 1e9
    found = sum(t.get(s, 0) for s in CPU)
    assert abs(found - used) < 0.02 * used + stolen_ns() - stolen, (found, used, t)


@test
def waits_through_epochs_are_in_each_and_counted_once():
    crowd = program('crowd')
    command = name_of(crowd)
    with daemon('-e', 'states', '--drain', '0.3') as d:
        life = Life(crowd, '100000')  # for three epochs, where nothing else runs
        n = 0
        while not n or life.goes_on() and n < 8:
            time.sleep(1.2)
            d.done('epoch', f'part{n}')
            n += 1
        lines = life.wait()
        d.done('flush')
        for name, _, ns in map(str.split, lines):
            state = {'locked': 'user-lock', 'reading': 'io-wait'}[name]
            r = report('--db', d.db, '--event', state, '--filter',
                       f'command == {command} and function == {name}')
            found = max(row['inclusive'][state] for row in r['rows'])
            assert abs(found / int(ns) - 1) < 0.001, f'{name}: {found}, planned {ns}'
            if n < 3:
                continue  # it is over where threads are made so fast
            second = report('--db', d.db, '--epoch', '2', '--event', state, '--filter',
                            f'command == {command} and function == {name}')
            assert second['total'][state] > 0.5e9, second['total']


@test
def sleepers_are_asleep_for_all_of_the_time():
    n, last = 20, None
    program = sleep_called('sleeper')
    with daemon('-e', 'states') as d:
        children = [sleeper(program, '1000') for _ in range(n)]
        try:
            for i in range(3):
                before = time.monotonic_ns()
                d.done('epoch', str(i))
                after = time.monotonic_ns()
                if i:
                    t = states(d, name_of(program), '--epoch', str(i + 1))
                    least, most = before - last[1], after - last[0]
                    total = sum(t.values())
                    assert n * least * 0.999 < total < n * most * 1.001, (t, least, most)
                    assert t['sleep'] > 0.999 * total, t
                last = before, after
                time.sleep(2)
        finally:
            for c in children:
                c.kill()
                c.wait()


@test
def a_thousand_threads_are_a_thousand_times_as_long():
    n = 1000
    text = (f'import threading, time\nfor i in range({n}):\n'
            '    threading.Thread(target=time.sleep, args=(600,), daemon=True).start()\n'
            'print(flush=True)\ntime.sleep(600)\n')
    python = os.path.join(DIR, f'crowd-py{os.getpid()}')
    os.symlink(sys.executable, python)
    with daemon('-e', 'states') as d:
        life = Life(python, '-c', text)
        life.child.stdout.readline()
        try:
            time.sleep(0.5)
            before = time.monotonic_ns()
            d.done('epoch', 'two')
            begun = time.monotonic_ns()
            time.sleep(2)
            now = time.monotonic_ns()
            d.done('epoch', 'three')
            after = time.monotonic_ns()
            t = states(d, name_of(python), '--epoch', '2')
            total = sum(t.values())
            assert (n + 1) * (now - begun) * 0.999 < total < (n + 1) * (after - before), (
                t, now - begun, after - before)
            assert_hardly_lost(d)
            assert own_memory(d.child.pid) < 40 << 20, own_memory(d.child.pid)
        finally:
            life.end()


@test
def a_killed_daemon_loses_no_more_than_the_last_second():
    program = sleep_called('dozer')
    with daemon('-e', 'states') as d:
        before = time.monotonic_ns()
        child = sleeper(program, '1000')
        begun = time.monotonic_ns()
        try:
            time.sleep(6)
            d.child.kill()
            killed = time.monotonic_ns()
            d.child.wait(30)
        finally:
            child.kill()
            child.wait()
    with daemon(db=d.db) as again:
        again.done('flush')
        t = states(again, name_of(program))
    assert killed - begun - 2.5e9 < t['sleep'] < killed - before, (t, killed - begun)


@test
def a_recording_of_the_same_time_tells_the_same():
    # Few waits, for each of the two sees what the other's telling takes.
    planned = program('states')
    cold = os.path.join(DIR, 'cold')
    with open(cold, 'wb') as f:
        f.write(os.urandom(1 << 20))
    path = os.path.join(DIR, 'same.dwell')
    with daemon('-e', 'cpu-clock,states') as d:
        p = dwell('run', '-e', 'states', '-o', path, '--', planned, cold)
        assert p.returncode == 0, p.stderr
        d.done('flush')
        ours = report('--db', d.db, '--filter', f'command == {name_of(planned)}')['total']
    theirs = report(path)['total']
    assert ours['cpu-time'] > 0, ours
    for event in ('sleep', 'io-wait', 'user-lock', 'woken-wait', 'stopped'):
        assert abs(ours[event] - theirs[event]) < 0.01 * theirs[event] + 2 * MS, (
            event, ours, theirs)
    cpu = [sum(t.get(s, 0) for s in CPU) for t in (ours, theirs)]
    assert abs(cpu[0] / cpu[1] - 1) < 0.02, (cpu, ours, theirs)


@test
def every_report_takes_them_from_a_database():
    turns = program('turns')
    with daemon('-e', 'states') as d:
        for _ in range(2):
            life = Life(turns, '300')
            life.wait()
            d.done('epoch')
        own = ('--db', d.db, '--filter', f'command == {name_of(turns)}')
        p = dwell('callers', 'polls', *own, '--event', 'io-wait')
        assert p.returncode == 0 and 'take_turn' in p.stdout, (p.stdout, p.stderr)
        p = dwell('tree', *own, '--event', 'user-lock')
        assert p.returncode == 0 and 'locks' in p.stdout, (p.stdout, p.stderr)
        p = dwell('tree', *own, '--event', 'wakeups')
        assert p.returncode == 0 and '[woken by interrupt: timer]' in p.stdout, p.stdout
        for by in ('process', 'command', 'cgroup', 'host', 'image', 'epoch', 'thread'):
            r = report(*own, '--by', by, '--event', 'sleep')
            assert r['rows'] and r['total']['sleep'] > 2 * 300 * 0.3 * MS, (by, r['total'])
        d.wait_for(lambda _: len(d.segments()) >= 2)
        segments = d.segments()
        only = own[2:]
        p = dwell('diff', segments[0], segments[1], *only, '--event', 'sleep')
        assert p.returncode == 0 and '__schedule' in p.stdout, (p.stdout, p.stderr)
        p = dwell('stats', *segments[:2], *only, '--event', 'sleep')
        assert p.returncode == 0 and '__schedule' in p.stdout, (p.stdout, p.stderr)


@test
def the_status_tells_of_states():
    with daemon('-e', 'states') as d:
        st = d.wait_for(lambda s: s['states'] > 10)
        assert not st['samples'] and 'switches' in st['how'], st
        text = d.done('status')
        assert re.search('^states +[0-9,]+ ', text, re.M), text
        assert not re.search('^samples', text, re.M), text


@test
def a_paused_daemon_charges_nothing():
    program = sleep_called('napper')
    with daemon('-e', 'states') as d:
        moments = [time.monotonic_ns()]

        def now(word=None):
            if word:
                d.done(word)
            moments.append(time.monotonic_ns())
            return moments[-1]

        child = sleeper(program, '1000')
        try:
            begun = now()
            time.sleep(0.5)
            pausing = now()
            paused = now('pause')
            time.sleep(2)
            d.done('flush')
            t = states(d, name_of(program))
            assert pausing - begun <= t['sleep'] <= paused - moments[0], (t, moments)
            resuming = now()
            resumed = now('resume')
            time.sleep(0.5)
            flushing = now()
            flushed = now('flush')
            t = states(d, name_of(program))
            least = pausing - begun + flushing - resumed
            most = paused - moments[0] + flushed - resuming
            assert 0.999 * least - MS < t['sleep'] < most, (t, moments)
        finally:
            child.kill()
            child.wait()


@test
def a_wait_that_outlives_pauses_is_one():
    cat = os.path.join(DIR, f'reader{os.getpid()}')
    shutil.copy('/bin/cat', cat)
    with daemon('-e', 'states') as d:
        child = subprocess.Popen([cat], stdin=subprocess.PIPE)
        wait_until(lambda: is_asleep(child.pid), 'it does not wait')
        for word in ('pause', 'resume', 'pause', 'resume'):
            time.sleep(0.2)
            d.done(word)
        child.stdin.close()
        assert child.wait(60) == 0
        d.done('flush')
        r = report('--db', d.db, '--filter', f'command == {name_of(cat)}', '--event', 'io-wait')
        found = [e['samples'] for e in r['events'] if e['name'] == 'io-wait']
        assert found == [1], r['events']


def main():
    if not IS_ROOT:
        return skip_all('only root may load BPF programs')
    p = dwell('run', '-e', 'states', '-o', os.path.join(DIR, 'probe'), 'true')
    if p.returncode != 0:
        return skip_all(p.stderr.strip().splitlines()[-1])
    return run_all(TESTS, words=sys.argv[3:])


sys.exit(main())
