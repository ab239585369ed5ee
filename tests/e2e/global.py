#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Global data: what the system counted in each interval of a recording, compared with what
the kernel tells when the program has ended and with what the program does.
usage: global.py DWELL"""
import json
import os
import signal
import subprocess
import sys

import harness
from harness import DIR, TESTS, dwell, fact, report, run_all, test

FILE = os.path.join(DIR, 'global.dwell')
OUT = os.path.join(DIR, 'out')
PYTHON = [sys.executable, '-S', '-B', '-c']

# Works until it has had so much CPU time of its own, however busy the machine is.
WORK = ('import os, subprocess, sys, time\n'
        'def work(s):\n'
        '    while time.process_time() < s: sum(range(1000))\n')


def record(code, *options):
    p = dwell('run', '-q', '-e', 'usertime:10ms', '-o', FILE, *options, '--', *PYTHON, WORK + code)
    assert p.returncode == 0, p.stderr


# Ends an interval, and waits until that is done.
TOLD = 'print(os.getpid(), flush=True)\nsys.stdin.readline()\n'


def record_marking(code, n_told, *options):
    """The program tells so often that an interval is to end."""
    with subprocess.Popen(
            [harness.DWELL, 'run', '-q', '-e', 'usertime:10ms', '-o', FILE, *options, '--', *PYTHON,
             WORK + code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as p:
        for _ in range(n_told):
            mark = dwell('ctl', 'mark', str(int(p.stdout.readline())), 'told')
            assert mark.returncode == 0, mark.stderr
            p.stdin.write('\n')
            p.stdin.flush()
    assert p.returncode == 0, p.returncode


def intervals(*options):
    p = dwell('global', '--json', *options, FILE)
    assert p.returncode == 0, p.stderr
    rows = json.loads(p.stdout)['rows']
    for before, after in zip(rows, rows[1:]):
        assert after['from_ns'] == before['to_ns'], (before, after)
        assert after['interval'] == before['interval'] + 1, (before, after)
    return rows


def total(rows, gauge):
    return sum(row['gauges'][gauge] for row in rows)


@test
def intervals_have_the_cpu_time_that_the_kernel_tells_at_the_end():
    record('work(1)', '-S', '100ms')
    rows = intervals()
    assert len(rows) > 2 and rows[-1]['cause'] == 'end', rows
    assert {row['cause'] for row in rows[:-1]} == {'timer'}, rows
    used = fact(report(FILE), 'user-time') + fact(report(FILE), 'system-time')
    told = total(rows, 'user-time') + total(rows, 'system-time')
    # Told in hundredths of a second; what the child did before its exec is not in it.
    assert abs(told - used) < 60e6, (told, used)
    assert told > 0.9e9 and total(rows, 'turns') > 0, rows


@test
def children_count_before_and_after_they_end():
    record('for i in range(3):\n'
           '    subprocess.run([sys.executable, "-S", "-c", """' + WORK + 'work(0.3)"""])\n',
           '-S', '100ms')
    rows = intervals()
    used = fact(report(FILE), 'user-time') + fact(report(FILE), 'system-time')
    told = total(rows, 'user-time') + total(rows, 'system-time')
    assert used > 0.8e9 and abs(told - used) < 150e6, (told, used)
    # What ended is told as it goes, not when it is waited for.
    most = max((r['gauges']['user-time'] + r['gauges']['system-time']) / (r['to_ns'] - r['from_ns'])
               for r in rows if r['to_ns'] - r['from_ns'] > 90e6)
    assert most < 2, rows


@test
def processes_have_what_they_used_themselves():
    record_marking('subprocess.run([sys.executable, "-S", "-c", """' + WORK + f'work(0.6)\n{TOLD}"""])\n'
                   f'work(0.5)\n{TOLD}', 2, '-S', '20ms')
    p = dwell('global', '--by', 'process', '--json', FILE)
    assert p.returncode == 0, p.stderr
    rows = json.loads(p.stdout)['rows']
    sums = {}
    for row in rows:
        sums[row['pid']] = sums.get(row['pid'], 0) + row['cpu_ns']
    first = rows[0]['pid']
    parent, children = sums[first], [n for pid, n in sums.items() if pid != first]
    # What the child did in its last interval is in no row of its own: that was no work.
    assert len(children) == 1 and 0.55e9 < children[0] < 0.75e9, sums
    assert 0.45e9 < parent < 0.75e9, sums
    assert all(row['process'] and row['gauges']['threads'] >= 1 for row in rows), rows
    whole = sum(row['cpu_ns'] for row in intervals())
    assert parent + children[0] <= whole + 60e6, (sums, whole)


@test
def bytes_that_calls_move_are_told_to_the_byte():
    record(f'f = os.open({OUT!r}, os.O_CREAT | os.O_RDWR)\n'
           'for i in range(5): os.write(f, bytes(1000001)); time.sleep(0.1)\n', '-S', '50ms')
    rows = intervals()
    assert total(rows, 'written-bytes') == 5 * 1000001, total(rows, 'written-bytes')
    assert sum(row['gauges']['written-bytes'] > 0 for row in rows) > 1, rows


@test
def memory_and_threads_are_those_of_the_end_of_an_interval():
    record('import threading\n'
           'x = b"1" * (200 << 20)\n'
           't = [threading.Thread(target=time.sleep, args=(1,)) for i in range(5)]\n'
           '[i.start() for i in t]; [i.join() for i in t]\n', '-S', '100ms')
    rows = intervals()
    assert max(r['gauges']['resident-bytes'] for r in rows) > 200 << 20, rows
    assert max(r['gauges']['threads'] for r in rows) == 6, rows
    assert all(r['gauges']['available-bytes'] and r['gauges']['idle-time'] >= 0 for r in rows), rows


@test
def a_signal_ends_an_interval_and_says_so():
    p = subprocess.Popen([harness.DWELL, 'run', '-q', '--mark', 'USR1', '-S', '0', '-o', FILE, '--',
                          *PYTHON, 'import time\nprint("here", flush=True)\n'
                          'input()\ntime.sleep(0.1)'],
                         stdout=subprocess.PIPE, stdin=subprocess.PIPE)
    p.stdout.readline()
    p.send_signal(signal.SIGUSR1)
    p.communicate(b'\n', timeout=120)
    rows = intervals()
    assert [(r['cause'], r['name']) for r in rows] == [('signal', 'mark'), ('end', '')], rows


@test
def reports_take_intervals():
    record('work(1)', '-S', '100ms')
    whole = report(FILE)['total']['cpu-time']
    by = report(FILE, '--by', 'interval')
    assert sum(row['exclusive']['cpu-time'] for row in by['rows']) == whole, by['rows']
    parts = [report(FILE, '--filter', f'interval == {r["interval"]}')['total']['cpu-time']
             for r in intervals()]
    # Taken before the first one began, or after the last one.
    assert sum(parts) <= whole and sum(parts) > 0.9 * whole, (parts, whole)
    chosen = report(FILE, '--filter', 'interval in 2..3')['total']['cpu-time']
    assert chosen == parts[1] + parts[2], (chosen, parts)


@test
def what_is_attached_to_has_what_it_does_from_then_on():
    victim = subprocess.Popen([*PYTHON, WORK + 'work(0.5)\nprint("here", flush=True)\nwork(1000)'],
                              stdout=subprocess.PIPE)
    try:
        victim.stdout.readline()
        p = dwell('attach', '-q', '-S', '100ms', '-d', '1', '-o', FILE, '-p', str(victim.pid))
        assert p.returncode == 0, p.stderr
    finally:
        victim.kill()
        victim.communicate()
    rows = intervals()
    length = rows[-1]['to_ns'] - rows[0]['from_ns']
    told = total(rows, 'user-time') + total(rows, 'system-time')
    # It runs or is ready all of that time.
    assert told <= 1.3 * length + 60e6, (told, length)
    assert abs(told + total(rows, 'ready-time') - length) < 0.3 * length + 60e6, (rows, length)


@test
def sums_of_many_threads_are_fetched_seldom_enough_to_cost_little():
    """Whoever fetches them goes through all threads of the machine."""
    if not harness.IS_ROOT or harness.why_no_bpf():
        raise harness.Skip('nothing is summed in the kernel here')
    crowd = ('import threading\n'
             'threading.stack_size(65536)\n'
             'end = threading.Event()\n'
             'for i in range(3000): threading.Thread(target=end.wait, daemon=True).start()\n'
             'work(time.process_time() + 1)\n'
             'os._exit(0)\n')
    used = {}
    for every in '10ms', '0':
        p = dwell('run', '-q', '-e', 'states', '-S', every, '-o', FILE, '--', *PYTHON, WORK + crowd)
        assert p.returncode == 0, p.stderr
        used[every] = fact(report(FILE), 'cpu-time', 'self')
        if every != '0':
            rows = intervals()
            length = rows[-1]['to_ns'] - rows[0]['from_ns']
    share = (used['10ms'] - used['0']) / length
    print(f'# {len(rows)} intervals, {share:.3f} of the time')
    # A twentieth for these; what else the system counts is kept as often.
    assert share < .15, (used, length)


if __name__ == '__main__':
    sys.exit(run_all(TESTS, words=sys.argv[2:]))
