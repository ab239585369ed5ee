#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tracepoints as triggers: compared with perf's counts of the same programs, with what a
workload is known to do, and with system calls counted otherwise.
usage: triggers.py DWELL WORKLOAD_DIR PROGRAM_DIR"""
import os
import subprocess
import sys

import harness
import oracles
from harness import DIR, IS_ROOT, TESTS, dwell, run_all, skip_all, test

CALLS = os.path.join(os.path.abspath(sys.argv[3]), 'e2e-calls')
FILE = os.path.join(DIR, 'triggers.dwell')


def record(triggers, *command):
    p = dwell('run', '-q', '-e', triggers, '-o', FILE, '--', *command)
    assert p.returncode == 0, (p.returncode, p.stderr)


def totals(*options):
    return harness.report(FILE, *options)['total']


@test
def counts_are_those_of_perf():
    # Not what a process does behind its exit, when perf counts it no more.
    events = ('sched:sched_process_fork', 'sched:sched_process_exit', 'signal:signal_deliver',
              'task:task_newtask')
    command = ('sh', '-c', '/bin/true; (exit 3); /bin/echo one >/dev/null; kill -CONT $$')
    told = oracles.counts_by_perf(events, *command)
    record(','.join('trigger:' + e for e in events), *command)
    found = totals()
    assert {e: found.get(e, 0) for e in events} == told, (found, told)


@test
def a_field_is_summed_over_all_processes():
    record('trigger:signal:signal_generate.sig', CALLS, 'family')
    t = totals()
    # Two children that end, one signal to itself, and its own end.
    assert t['signal:signal_generate'] == 4, t
    assert t['signal:signal_generate.sig'] == 3 * 17 + 10, t
    rows = harness.report(FILE, '--by', 'command')['rows']
    true = next(r['exclusive'] for r in rows if r['name'] == 'true')
    assert (true['signal:signal_generate'], true['signal:signal_generate.sig']) == (1, 17), true


@test
def what_is_below_zero_is_counted_and_not_summed():
    record('trigger:raw_syscalls:sys_exit.ret,syscalls', CALLS, 'known')
    t = totals()
    assert t['raw_syscalls:sys_exit.ret<0'] == t['syscall-errors'] >= 7001, t
    assert t['raw_syscalls:sys_exit'] == t['syscalls'], t


@test
def stacks_are_the_programs_and_the_kernels():
    record('trigger:raw_syscalls:sys_enter', CALLS, 'known')
    r = harness.report(FILE)
    event = 'raw_syscalls:sys_enter'
    for name, n in (('asks_one_way', 60000), ('asks_other_way', 40000)):
        total = harness.total_of(r, name, 'inclusive', event)
        assert total == n, (name, total)
    images = {row['image'] for row in r['rows'] if row['exclusive'].get(event)}
    assert images == {'[kernel]'}, images


@test
def a_running_program_and_the_whole_machine_can_be_watched():
    victim = subprocess.Popen([CALLS, 'asks'], stdout=subprocess.PIPE, text=True)
    try:
        victim.stdout.readline()
        for options in (('-p', str(victim.pid)), ('-a',)):
            p = dwell('attach', '-q', '-e', 'trigger:raw_syscalls:sys_enter', '-o', FILE, '-d',
                      '0.3', *options)
            assert p.returncode == 0, p.stderr
            t = totals('--filter', f'pid == {victim.pid}')
            assert t['raw_syscalls:sys_enter'] > 1000, t
    finally:
        victim.kill()
        victim.wait()
        victim.stdout.close()


@test
def many_share_a_recording():
    names = ('sched:sched_process_fork', 'sched:sched_process_exec', 'sched:sched_process_exit',
             'sched:sched_process_wait', 'signal:signal_generate', 'signal:signal_deliver',
             'task:task_newtask')
    record(','.join(['syscalls', *('trigger:' + n for n in names)]), CALLS, 'family')
    t = totals()
    assert t['sched:sched_process_fork'] == t['task:task_newtask'] == 2, t
    assert t['sched:sched_process_exit'] == 3 and t['syscalls'] > 50, t


@test
def what_is_wrong_is_said_in_one_line():
    for spec, words in (
            ('trigger', 'give one like'), ('trigger:', 'give one like'),
            ('trigger:sched', 'give one like'), ('trigger::x', 'give one like'),
            ('trigger:sched:sched_proces_fork', "did you mean 'sched:sched_process_fork'"),
            ('trigger:shed:sched_switch', "did you mean 'sched:sched_switch'"),
            ('trigger:sched:sched_switch.comm', 'next_pid'),
            ('trigger:sched:sched_switch.', 'field'),
            ('trigger:../../etc:passwd', 'no name'), ('trigger:sched:' + 'x' * 5000, ''),
            ('trigger:' + 'y' * 5000 + ':z', ''), ('trigger:sched:\x1b[31m', ''),
            ('sched:sched_switch', "did you mean 'trigger:sched:sched_switch'"),
            (','.join(['trigger:sched:sched_switch'] * 9), 'at most 8')):
        p = dwell('run', '-e', spec, '--', 'true')
        assert p.returncode == 2 and words in p.stderr, (spec[:60], p.returncode, p.stderr)
        assert p.stderr.count('\n') == 1 and '\x1b' not in p.stderr, p.stderr


if __name__ == '__main__':
    if not IS_ROOT:
        sys.exit(skip_all('only root may load BPF programs'))
    if not harness.may_record('probes', 'trigger:sched:sched_process_fork'):
        sys.exit(skip_all(dwell('run', '-n', '-e', 'trigger:sched:sched_process_fork', '--',
                                'true').stderr.strip()))
    sys.exit(run_all(TESTS, words=sys.argv[4:]))
