#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""CPUs that go and come back, also for a sleep of the machine, in one that is emulated: what was
taken is not lost, what ended goes on, and the time asleep is nobody's.

usage: suspend.py DWELL MACHINE PROGRAM_DIR SYSROOT... [-- WORD...]	(of tests' names)"""
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../e2e'))
# pylint: disable=wrong-import-position
from harness import test
from inside import PATIENCE_S, Daemon, done, guest, main, of, report, used_ns

CPU = ('user-cpu', 'system-cpu', 'unaccounted')
# One for each page of memory that the program has, exactly: on a CPU that is observed.
FAULTS, PAGES = 'page-faults', 256
ONLINE = '/sys/devices/system/cpu/cpu1/online'
ON_IT = 'taskset 2 known'  # on CPU 1
MS, SECOND = 1e6, 1e9
ASLEEP_S = 3


def cycle_unseen(pid):
    """CPU 1 goes and comes back while the process cannot look."""
    done(f'kill -STOP {pid}; echo 0 >{ONLINE}; echo 1 >{ONLINE}; kill -CONT {pid}')
    assert done(f'cat {ONLINE}').strip() == '1'


def seen(d):
    """Faults of the program since the last flush."""
    return of(d.report('known'), 'main', FAULTS)


def until_seen_on_it(d):
    """What runs on CPU 1 is observed."""
    deadline = time.time() + PATIENCE_S
    while True:
        done(f'{ON_IT} 1')
        n = seen(d)
        if n >= PAGES:
            return
        assert time.time() < deadline, n


def go_to_sleep_and_wake():
    """The machine, while its shell waits in the command that makes it sleep."""
    guest().begin('echo mem >/sys/power/state')
    deadline = time.time() + PATIENCE_S
    while guest().tell_emulator('query-status')['return']['status'] != 'suspended':
        assert time.time() < deadline
        time.sleep(0.1)
    time.sleep(ASLEEP_S)
    guest().tell_emulator('system_wakeup')
    p = guest().end(PATIENCE_S)
    assert p.code == 0, p.text


@test
def the_daemon_observes_a_cpu_again_that_nobody_saw_go():
    with Daemon('-e', f'{FAULTS}:1', before=f'{ON_IT} 1') as d:
        done(f'{ON_IT} 1')
        cycle_unseen('$daemon')
        n = seen(d)  # before it went
        assert n >= PAGES, n
        until_seen_on_it(d)


@test
def perf_observes_a_cpu_again_that_nobody_saw_go():
    done('dwell attach -a -q --source perf -o /tmp/all.dwell & recorder=$!; '
         'while ! [ -s /tmp/all.dwell ]; do sleep 0.2; done')
    cycle_unseen('$recorder')
    # It looks ten times a second, and misses the start of what comes before that; with so many
    # rounds nobody keeps it from that for long enough.
    done('cp /bin/known /bin/after; for i in 1 2 3 4 5; do taskset 2 after 5; done')
    done('kill -INT $recorder; wait $recorder')
    r = report('/tmp/all.dwell', '--filter', 'command == after')
    assert of(r, 'alpha', 'cpu-time') > 0, report('/tmp/all.dwell', '--by', 'process')['rows']


@test
def the_machine_sleeps_and_all_goes_on():
    with Daemon('-e', f'{FAULTS}:1,states', before=f'{ON_IT} 1') as d:
        done('(time known 8) >/tmp/used 2>&1 & worker=$!')
        go_to_sleep_and_wake()
        used = used_ns(done('wait $worker; cat /tmp/used'))
        d.flush()
        r = report(d.newest(), '--filter', 'command == known')
        cpu = sum(r['total'].get(state, 0) for state in CPU)
        assert abs(cpu - used) < 0.1 * used + 200 * MS, (cpu, used)
        asleep = r['sources'][0]['asleep_ns']
        assert asleep > (ASLEEP_S - 2) * SECOND, asleep  # its clock has seconds
        until_seen_on_it(d)


sys.exit(main(('-smp', '2')))
