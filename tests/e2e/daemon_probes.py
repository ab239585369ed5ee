#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""System calls and tracepoints, recorded by the daemon over several epochs: compared with
what strace and perf count of the same programs, and with what a workload is known to do.
usage: daemon_probes.py DWELL WORKLOAD_DIR PROGRAM_DIR"""
import os
import subprocess
import sys
import time

import oracles
from daemon_reports import by_call, counted, program, report, total
from daemons import Daemon, daemon
from harness import DIR, IS_ROOT, TESTS, dwell, is_asleep, run_all, skip_all, test, wait_until
from placed import Paced

WORKLOADS = os.path.abspath(sys.argv[2])
PROGRAMS = os.path.abspath(sys.argv[3])
CALLS = os.path.join(PROGRAMS, 'e2e-calls')
Daemon.MEETING_S = 0  # nothing that is told here depends on who was met


def run(*command):
    subprocess.run(command, check=True, capture_output=True, timeout=120,
                   env=oracles.ENVIRONMENT)


@test
def calls_of_every_epoch_are_exact_and_so_is_their_sum():
    calls = program(CALLS, 'paced')
    rounds = (3, 1, 5)
    with daemon('-e', 'syscalls') as d:
        paced = Paced(calls)
        for i, n in enumerate(rounds):
            for _ in range(n):
                paced.round()
            d.done('epoch', f'after {i}')
        paced.end()
        d.done('flush')
        for i, n in enumerate(rounds, 1):
            c = counted(d, calls, '--epoch', str(i))
            assert c['getppid'] == (1000 * n, 0), (i, c)
            assert c['write'] == (n, 0), (i, c)
        last = counted(d, calls, '--epoch', str(len(rounds) + 1))
        assert 'getppid' not in last and last['read'] == (1, 0), last
        assert counted(d, calls)['getppid'] == (1000 * sum(rounds), 0)
        # And they are below the function that makes them.
        rows = report(d, calls, '--event', 'syscalls')['rows']
        row = next(r for r in rows if r['name'] == 'asks_one_way')
        assert row['inclusive']['syscalls'] >= 1000 * (sum(rounds) - 1), row


@test
def counts_are_those_of_strace_in_every_epoch():
    ls = program('ls', 'ls')
    command = (ls, '-lR', '/usr/share/doc/bash', '/etc/apt')
    told = oracles.calls_by_strace(*command, starter=oracles.STILL)
    told.pop('execve')  # before the program has its name
    with daemon('-e', 'syscalls') as d:
        for i in range(3):
            run(*oracles.STILL, *command)
            d.done('epoch', f'after {i}')
        for i in range(3):
            found = counted(d, ls, '--epoch', str(i + 1))
            assert found == told, {k: (found.get(k), told.get(k)) for k in {*found, *told}
                                   if found.get(k) != told.get(k)}
        assert counted(d, ls) == {k: (3 * n, 3 * errors) for k, (n, errors) in told.items()}


@test
def tracepoints_are_counted_as_perf_does():
    ls = program('ls', 'lister')
    command = (*oracles.STILL, ls, '-lR', '/usr/share/doc/bash')
    event = 'raw_syscalls:sys_exit'
    told = oracles.counts_by_perf([event], *command[:2], 'sh', '-c', 'exec "$@"', 'x', *command[2:])
    base = oracles.counts_by_perf([event], *command[:2], 'sh', '-c', 'exec "$@"', 'x', '/bin/true')
    with daemon('-e', f'trigger:{event},trigger:signal:signal_generate.sig') as d:
        true = program('true', 'truth')
        for i in range(2):
            run(*command)
            run(*oracles.STILL, true)
            d.done('epoch', f'after {i}')
        for options in (('--epoch', '1'), ('--epoch', '2')):
            ours = total(d, ls, *options)[event] - total(d, true, *options)[event]
            assert ours == told[event] - base[event], (ours, told, base)
        assert total(d, ls)[event] == 2 * total(d, ls, '--epoch', '1')[event]


@test
def a_field_is_summed_over_the_epochs():
    calls = program(CALLS, 'family')
    event = 'signal:signal_generate'
    with daemon('-e', f'trigger:{event}.sig') as d:
        for i in range(3):
            run(calls, 'family')
            d.done('epoch', f'after {i}')
        # A child's end, its own signal and its own end; another child has another name.
        for i in (1, 2, 3):
            t = total(d, calls, '--epoch', str(i))
            assert (t[event], t[event + '.sig']) == (3, 17 + 10 + 17), t
        t = total(d, calls)
        assert (t[event], t[event + '.sig']) == (9, 3 * 44), t


@test
def a_call_through_epochs_has_its_time_in_each():
    calls = program(CALLS, 'waits')
    with daemon('-e', 'syscalls') as d:
        child = subprocess.Popen([calls, 'waits'], stdout=subprocess.PIPE)
        child.stdout.readline()
        last = None
        try:
            wait_until(lambda: is_asleep(child.pid), 'it does not wait')
            for i in range(3):
                before = time.monotonic_ns()
                d.done('epoch', f'after {i}')
                after = time.monotonic_ns()
                if last:
                    c = by_call(d, calls, '--epoch', str(i + 1))
                    least, most = before - last[1], after - last[0]
                    assert set(c) == {'pause'}, c
                    assert least * 0.999 < c['pause']['syscall-time'] < most, (c, least, most)
                    assert not c['pause'].get('syscalls'), c
                last = before, after
                time.sleep(1)
        finally:
            child.kill()
            child.wait()
            child.stdout.close()


@test
def more_sums_than_one_generation_has_are_counted_once():
    calls = program(CALLS, 'crowd')
    rounds = 8
    with daemon('-e', 'syscalls', '--per-thread') as d:
        for i in range(rounds):
            run(calls, 'threads')
            d.done('epoch', f'after {i}')
        assert counted(d, calls)['getppid'][0] == rounds * 1000 * 100, counted(d, calls)


@test
def all_that_there_is_stands_beside_each_other():
    calls = program(CALLS, 'beside')
    cpu = program(os.path.join(WORKLOADS, 'cpu'), 'cpu')
    with daemon('-e', 'cpu-clock,states,syscalls,trigger:raw_syscalls:sys_exit') as d:
        paced = Paced(calls)
        paced.round()
        run(cpu, '2')
        d.done('epoch', 'two')
        paced.round()
        paced.end()
        d.done('flush')
        for epoch in ('1', '2'):
            assert counted(d, calls, '--epoch', epoch)['getppid'] == (1000, 0), epoch
        t = total(d, cpu)
        assert t['cpu-time'] and t['user-cpu'] and t['syscalls'], t
        t = total(d, calls)
        # The program's own first call returns before it has its name.
        assert t['raw_syscalls:sys_exit'] - t['syscalls'] in (0, 1), t


@test
def the_status_tells_what_is_probed():
    calls = program(CALLS, 'status')
    trigger = 'signal:signal_generate'
    with daemon('-e', f'syscalls,trigger:{trigger}.sig') as d:
        run(calls, 'family')
        d.done('flush')
        st = d.status()
        assert st['calls'] > 50 and st['met-1'] >= 4 and st['probe-1'] == trigger, st
        assert st['samples'] == 0 and 'lost' in st, st
        text = d.done('status')
        for words in ('system calls', 'tracepoint', 'that returned', f'times {trigger}'):
            assert words in text, (words, text)
        assert not [line for line in text.splitlines() if line.startswith('samples')], text


@test
def a_paused_daemon_counts_nothing():
    calls = program(CALLS, 'paused')
    with daemon('-e', 'syscalls') as d:
        paced = Paced(calls)
        paced.round()
        d.done('pause')
        paced.round()
        d.done('resume')
        paced.round()
        paced.end()
        d.done('flush')
        assert counted(d, calls)['getppid'] == (2000, 0), counted(d, calls)


@test
def what_cannot_be_is_said_in_one_line():
    for options, words in (
            (('-e', 'syscalls', '--flat'), 'with stacks or not at all'),
            (('-e', 'trigger:sched:sched_process_fork', '--flat'), 'with stacks or not at all'),
            (('-e', 'syscalls,syscalls'), 'twice'),
            (('-e', ','.join(['trigger:signal:signal_generate.sig'] * 2)), 'twice'),
            (('-e', 'trigger:sched:sched_proces_fork'), 'did you mean'),
            (('-e', 'sched:sched_process_fork'), "'trigger:sched:sched_process_fork'")):
        p = dwell('daemon', '--db', os.path.join(DIR, 'none'), '--socket',
                  os.path.join(DIR, 'none.socket'), *options)
        assert p.returncode in (1, 2) and words in p.stderr, (options, p.returncode, p.stderr)
        assert p.stderr.count('\n') == 1, p.stderr


def main():
    if not IS_ROOT:
        return skip_all('only root may load BPF programs')
    p = dwell('run', '-e', 'syscalls', '-o', os.path.join(DIR, 'probe'), 'true')
    if p.returncode != 0:
        return skip_all(p.stderr.strip().splitlines()[-1])
    return run_all(TESTS, words=sys.argv[4:])


sys.exit(main())
