#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""System calls: compared with strace's counts of the same programs, and with what a
workload is known to do.
usage: calls.py DWELL WORKLOAD_DIR PROGRAM_DIR"""
import collections
import os
import re
import signal
import subprocess
import sys
import time

import harness
import oracles
from harness import DIR, IS_ROOT, TESTS, Skip, dwell, is_asleep, run_all, skip_all, test, wait_until

PROGRAMS = os.path.abspath(sys.argv[3])
CALLS = os.path.join(PROGRAMS, 'e2e-calls')
FILE = os.path.join(DIR, 'calls.dwell')
MS = 1e6


def record(*command, path=FILE):
    p = dwell('run', '-q', '-e', 'syscalls', '-o', path, '--', *command, env=oracles.ENVIRONMENT)
    assert p.returncode == 0, (p.returncode, p.stderr)
    return p.stdout


def by_call(path=FILE, *options):
    """{call: {column: n}}"""
    return {row['name']: row['exclusive']
            for row in harness.report(path, '--by', 'call', *options)['rows']}


def counted(path=FILE):
    """{call: (calls, errors)} of those that returned"""
    return {name: (c.get('syscalls', 0), c.get('syscall-errors', 0))
            for name, c in by_call(path).items() if c.get('syscalls')}


def same_as_strace(*command):
    # A call of the tracer's own is not in the program: both run it in the same way.
    told = oracles.calls_by_strace(*oracles.STILL, *command)
    record(*oracles.STILL, *command)
    found = counted()
    assert found == told, {k: (found.get(k), told.get(k)) for k in {*found, *told}
                           if found.get(k) != told.get(k)}


@test
def counts_are_those_of_strace():
    same_as_strace('ls', '-lR', '/usr/share/doc/bash', '/etc/apt')


@test
def children_and_programs_that_follow_count_too():
    same_as_strace('sh', '-c', '/bin/true; /bin/echo one >/dev/null; (exit 3); exec /bin/echo two')


@test
def an_interpreter_counts_the_same():
    same_as_strace(sys.executable, '-S', '-c', 'import json; open("/dev/null").close()')


@test
def threads_and_vforked_children_count_the_same():
    same_as_strace(CALLS, 'family')


@test
def programs_of_32_bit_have_their_own_numbers():
    program = os.path.join(PROGRAMS, 'e2e-victim32')
    if not os.path.exists(program):
        raise Skip('no 32-bit programs here')
    dwell('run', '-q', '-e', 'syscalls', '-o', FILE, '--', program)
    assert counted() == {'execve': (1, 0), 'write': (1, 0)}, counted()
    assert 'exit' in by_call(), by_call()


@test
def known_calls_are_counted_with_their_errors():
    record(CALLS, 'known')
    found = by_call()
    assert found['getppid']['syscalls'] == 100000, found['getppid']
    assert found['getppid'].get('syscall-errors', 0) == 0, found['getppid']
    assert found['read']['syscall-errors'] == 7001, found['read']
    rows = {r['name']: r for r in harness.report(FILE, '--event', 'syscall-errors')['rows']}
    assert rows['[EBADF]']['exclusive']['syscall-errors'] == 7000, rows['[EBADF]']
    assert rows['[EAGAIN]']['exclusive']['syscall-errors'] == 1, rows['[EAGAIN]']


@test
def calls_are_below_the_functions_that_make_them():
    record(CALLS, 'known')
    r = harness.report(FILE, '--event', 'syscalls')
    for name, n in (('asks_one_way', 60000), ('asks_other_way', 40000)):
        total = harness.total_of(r, name, 'inclusive', 'syscalls')
        assert total == n, (name, total)
    p = dwell('callers', '[syscall getppid]', '--event', 'syscalls', FILE)
    assert p.returncode == 0 and re.search(r'100,000 .* caller +syscall ', p.stdout), (
        p.stdout + p.stderr)


@test
def time_in_calls_is_the_time_they_take():
    most = int(record(CALLS, 'sleeps'))
    c = by_call()['clock_nanosleep']
    assert c['syscalls'] == 10, c
    assert 10 * 20 * MS <= c['syscall-time'] <= most, (c, most)


@test
def calls_that_the_program_ends_in_have_their_time():
    begin = time.monotonic_ns()
    record(CALLS, 'killed')
    most = time.monotonic_ns() - begin
    found = by_call()
    # One thread waits until the program ends, for which it returns, but not to it.
    c = found['pause']
    assert 100 * MS <= c['syscall-time'] <= most, (c, most)
    assert not found['exit_group'].get('syscalls'), found['exit_group']


@test
def interrupted_calls_are_counted_as_they_return():
    record(CALLS, 'interrupted')
    found = by_call()
    rows = {r['name'] for r in harness.report(FILE, '--event', 'syscall-errors')['rows']}
    assert found['clock_nanosleep']['syscalls'] == 3, found  # two are the child's
    assert found['restart_syscall']['syscalls'] >= 1, found
    assert '[ERESTART_RESTARTBLOCK]' in rows, rows


def attached(mode, is_ready=lambda pid: True):
    """For half a second at least; for how long at most, in ns."""
    victim = subprocess.Popen([CALLS, mode], stdout=subprocess.PIPE, text=True)
    try:
        victim.stdout.readline()  # it is there
        wait_until(lambda: is_ready(victim.pid), 'it does not wait')
        begin = time.monotonic_ns()
        p = dwell('attach', '-q', '-e', 'syscalls', '-o', FILE, '-p', str(victim.pid), '-d', '0.5')
        assert p.returncode == 0, p.stderr
        return time.monotonic_ns() - begin
    finally:
        victim.send_signal(signal.SIGKILL)
        victim.wait()
        victim.stdout.close()


@test
def calls_that_began_before_have_their_part_of_the_time():
    most = attached('waits', is_asleep)
    c = by_call()['pause']
    assert not c.get('syscalls'), c
    assert 480 * MS <= c['syscall-time'] <= most, (c, most)


@test
def an_attached_program_is_counted_from_then_on():
    attached('asks')
    found = by_call()
    assert found['getppid']['syscalls'] > 1000, found
    r = harness.report(FILE, '--event', 'syscalls')
    assert harness.total_of(r, 'asks_one_way', 'inclusive', 'syscalls') > 1000, r['rows'][:5]


@test
def what_is_paused_is_not_counted():
    p = dwell('run', '-q', '-e', 'syscalls', '--delay', '2s', '-o', FILE, '--', CALLS, 'delayed')
    assert p.returncode == 0, p.stderr
    found = by_call()
    assert found['getppid']['syscalls'] == 1000 and 'getpgid' not in found, found


@test
def a_thousand_threads_lose_nothing():
    record(CALLS, 'threads')
    assert by_call()['getppid']['syscalls'] == 1000 * 100
    r = harness.report(FILE)
    assert not harness.fact(r, 'lost-samples', 'loss'), r['quality']


@test
def the_whole_machine_has_every_process():
    victim = subprocess.Popen([CALLS, 'asks'], stdout=subprocess.PIPE, text=True)
    try:
        victim.stdout.readline()
        p = dwell('attach', '-a', '-q', '-e', 'syscalls', '-o', FILE, '-d', '0.5')
        assert p.returncode == 0, p.stderr
    finally:
        victim.kill()
        victim.wait()
        victim.stdout.close()
    found = by_call(FILE, '--filter', f'pid == {victim.pid}')
    assert found['getppid']['syscalls'] > 1000, found
    commands = {row['name'] for row in harness.report(FILE, '--by', 'command')['rows']}
    assert len(commands) > 1, commands


@test
def every_export_takes_them():
    record(CALLS, 'known')
    for kind, options in (('folded', ('--event', 'syscalls')), ('speedscope', ()), ('pprof', ()),
                          ('csv', ()), ('json', ())):
        out = os.path.join(DIR, 'out.' + kind)
        p = dwell('export', '-o', out, kind, *options, FILE)
        if p.returncode == 2 and 'no format' in p.stderr:
            continue
        assert p.returncode == 0 and os.path.getsize(out), (kind, p.stderr)
    p = dwell('export', '-o', '-', 'folded', '--event', 'syscalls', FILE)
    total = collections.Counter()
    for line in p.stdout.splitlines():
        stack, n = line.rsplit(' ', 1)
        total[stack.rsplit(';', 1)[1]] += int(n)
    assert total['[syscall getppid]'] == 100000, total


if __name__ == '__main__':
    if not IS_ROOT:
        sys.exit(skip_all('only root may load BPF programs'))
    if not harness.may_record('probes', 'syscalls'):
        sys.exit(skip_all(dwell('run', '-n', '-e', 'syscalls', '--', 'true').stderr.strip()))
    sys.exit(run_all(TESTS, words=sys.argv[4:]))
