#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""On the kernel that Debian 12 has, in a machine that is emulated: whatever the kernel does for
dwell works there, and says the same of programs as the kernel's own accounts.

usage: older.py DWELL MACHINE PROGRAM_DIR SYSROOT... [-- WORD...]	(of tests' names)"""
import contextlib
import json
import os
import re
import signal
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../e2e'))
# pylint: disable=wrong-import-position
from harness import test
from inside import Daemon, done, guest, main, of, report, used_ns

READS = 16  # of a round
CROWDS = 3  # requests that have no room are completed by several CPUs at once: not always
CPU = ('user-cpu', 'system-cpu', 'unaccounted')
MS = 1e6
CAP_SYS_ADMIN, CAP_PERFMON = 21, 38
# Of a second: it begins before the thread has left its CPU, which may take long here.
SLEPT = 500 * MS
STAND_S = 0.06


def is_complete(r, event):
    """Compiled without frame pointers, and the C library is stripped: all stacks of the program's
    own code begin where it did."""
    n = {name: of(r, name, event) for name in ('main', 'outer', 'alpha', 'beta', 'gamma_reads')}
    assert all(n.values()), n
    assert n['alpha'] <= n['outer'] <= n['main'] - n['beta'], n
    # Its last caller has no name in a stripped C library: it is there if nothing is cut off.
    # What the kernel does while the program is loaded may have no stack of it.
    cut = r['quality']['truncated'].get(event, {}).get('total', 0)
    assert cut < 0.02 * n['main'], r['quality']


@test
def the_kernel_is_as_old_as_that_and_asks_for_administration():
    assert done('uname -r').startswith('6.1.'), done('uname -r')
    assert int(done('cat /proc/sys/kernel/perf_event_paranoid')) == 3


@test
def the_daemon_samples_and_tells_states_with_complete_stacks():
    with Daemon('-F', '199', '-e', 'cpu-clock,states', before='known 4') as d:
        text = done('time known 15 2>&1; sleep 1')
        d.flush()
        status, path = d.status(), d.newest()
    assert 'counted in the kernel' in status['how'], status
    r = report(path, '--filter', 'command == known')
    is_complete(r, 'cpu-time')
    cpu, used = sum(r['total'].get(state, 0) for state in CPU), used_ns(text)
    assert abs(cpu - used) < 0.1 * used + 100 * MS, (cpu, used)
    slept = report(path, '--filter', 'command == sleep')['total']
    assert slept['sleep'] >= SLEPT, slept


@test
def the_daemon_keeps_what_this_kernel_asks_for_and_no_more():
    with Daemon('-F', '199'):
        told = done('cat /proc/$daemon/status')
    caps = int(re.search(r'CapPrm:\s+([0-9a-f]+)', told)[1], 16)
    assert caps >> CAP_SYS_ADMIN & 1 and caps >> CAP_PERFMON & 1, hex(caps)
    assert bin(caps).count('1') == 8, hex(caps)


@contextlib.contextmanager
def stopped_now_and_then():
    """The machine stands still and does not know: its clocks go on."""
    over = threading.Event()

    def stop():
        while not over.wait(STAND_S):
            guest().child.send_signal(signal.SIGSTOP)
            time.sleep(STAND_S)
            guest().child.send_signal(signal.SIGCONT)

    thread = threading.Thread(target=stop)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


@test
def what_a_hypervisor_takes_and_does_not_tell_is_in_the_samples_as_in_the_account():
    with Daemon('-F', '199', before='known 4') as d:
        with stopped_now_and_then():
            text = done('time known 15 2>&1')
        d.flush()
        status, path = d.status(), d.newest()
    got, used = report(path, '--filter', 'command == known')['total']['cpu-time'], used_ns(text)
    assert status['missed'] > 0.2 * used * 199 / 1e9, status
    assert abs(got - used) < 0.1 * used, (got, used)


def counted(event, rounds, *options):
    done(f'dwell run -q -e {event} -o /tmp/{rounds}.dwell known {rounds}')
    return report(f'/tmp/{rounds}.dwell', *options)


@test
def system_calls_are_counted_each():
    few, many = (counted('syscalls', n) for n in (2, 12))
    assert few['quality']['lost'] == many['quality']['lost'] == 0, many['quality']
    name = '[syscall read]'
    assert of(many, name, 'syscalls') - of(few, name, 'syscalls') == 10 * READS, (
        few['total'], many['total'])
    assert of(many, name, 'syscall-time') > of(few, name, 'syscall-time')


@test
def a_tracepoint_is_counted_each_time():
    few, many = (counted('trigger:raw_syscalls:sys_enter', n) for n in (2, 12))
    event = 'raw_syscalls:sys_enter'
    assert many['total'][event] - few['total'][event] == 10 * READS, (few['total'], many['total'])


@test
def states_of_one_program_are_told():
    done('dwell run -q -e states -o /tmp/sleep.dwell sleep 1')
    total = report('/tmp/sleep.dwell')['total']
    assert total['sleep'] >= SLEPT, total


@test
def requests_of_io_uring_are_counted_as_the_ring_showed_them():
    for mode in ('plain', 'registered', 'shots', *['crowded', 'mixed'] * CROWDS):
        text = done(f'dwell run -q -e io -o /tmp/{mode}.dwell io_uring {mode} /tmp/{mode}')
        told = {line.split()[0]: tuple(map(int, line.split()[1:])) for line in text.splitlines()}
        rows = json.loads(done(f'dwell io --json --by call /tmp/{mode}.dwell'))['rows']
        got = {r['name'].removeprefix('io_uring '):
               (r['calls'], r['errors'], r['read_bytes'] + r['written_bytes'])
               for r in rows if r['name'].startswith('io_uring ')}
        assert told and got == told, (mode, got, told)


sys.exit(main(('-smp', '2'), ('known', 'io_uring')))
