#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Threads that wait for each other: every kind of wait once and of known length, what it was
for, who waited and who let him.
usage: sync.py DWELL WORKLOAD_DIR PROGRAM_DIR [WORD...]"""
import json
import os
import re
import subprocess
import sys

import harness
from harness import DIR, Skip, dwell, fact, need, report, run_all, test

PROGRAMS = os.path.abspath(sys.argv[3])
WAITS = os.path.join(PROGRAMS, 'e2e-sync_waits')
DEADLOCK = os.path.join(PROGRAMS, 'e2e-deadlock')
ALONE = os.path.join(PROGRAMS, 'e2e-sync_alone')
MS = 1000000

# Who waits, for what, called what, let by whom; each for 20 ms at least.
CALLS = [
    ('by_lock', 'mutex', 'plain', 'hold_mutex'),
    ('by_timedlock', 'mutex', 'plain', 'hold_mutex'),
    ('by_clocklock', 'mutex', 'plain', 'hold_mutex'),
    ('by_heap_lock', 'mutex', '[0x', 'hold_heap'),
    ('by_rdlock', 'rwlock', 'in_struct+0x28', 'hold_rwlock'),
    ('by_timedrdlock', 'rwlock', 'in_struct+0x28', 'hold_rwlock'),
    ('by_clockrdlock', 'rwlock', 'in_struct+0x28', 'hold_rwlock'),
    ('by_wrlock', 'rwlock', 'in_struct+0x28', 'hold_rwlock'),
    ('by_timedwrlock', 'rwlock', 'in_struct+0x28', 'hold_rwlock'),
    ('by_clockwrlock', 'rwlock', 'in_struct+0x28', 'hold_rwlock'),
    ('by_mtx_lock', 'mutex', 'c11', 'hold_mtx'),
    ('by_mtx_timedlock', 'mutex', 'c11', 'hold_mtx'),
    ('by_sem_wait', 'semaphore', 'semaphore', 'post'),
    ('by_sem_timedwait', 'semaphore', 'semaphore', 'post'),
    ('by_sem_clockwait', 'semaphore', 'semaphore', 'post'),
    ('by_cond_wait', 'condition', 'condition', 'wake'),
    ('by_cond_timedwait', 'condition', 'condition', 'wake'),
    ('by_cond_clockwait', 'condition', 'condition', 'wake'),
    ('by_cnd_wait', 'condition', 'c11_condition', 'wake_c11'),
    ('by_cnd_timedwait', 'condition', 'c11_condition', 'wake_c11'),
    ('by_barrier', 'barrier', 'barrier', None),
]


def record(name, *command, code=0, run=()):
    path = os.path.join(DIR, f'{name}.dwell')
    p = dwell('run', '-e', 'sync', *run, '-o', path, '--', *command)
    assert p.returncode == code, (p.returncode, p.stdout, p.stderr)
    return path, p


def sync(path, *args):
    p = dwell('sync', '--json', *args, path)
    assert p.returncode == 0, p.stderr
    return json.loads(p.stdout)


def rows(path, *args):
    return sync(path, *args)['rows']


def functions(stack):
    return [f['name'] for f in stack['frames']]


def check_lossless(path):
    for name in ('lost-events', 'damaged-records', 'truncated-stacks'):
        assert not (fact(report(path), name, 'loss') or 0), name


def waits_of(path, function):
    """Of all rows by stack, those that wait in a function of the program."""
    return [r for r in rows(path, '--by', 'stack') if function in functions(r['waiters'][0])]


@test
def every_call_that_waits_is_seen_and_who_let_it():
    path, _ = record('calls', WAITS, 'calls')
    check_lossless(path)
    by_lock = {(r['name'][:3] if r['name'].startswith('[0x') else r['name'], r['kind']): r
               for r in rows(path)}
    for waiter, kind, lock, holder in CALLS:
        found = [r for r in waits_of(path, waiter) if r['ns'] >= 20 * MS]
        assert len(found) == 1 and found[0]['waits'] == 1, (waiter, found)
        row = found[0]
        assert row['kind'] == kind, row
        assert row['is_lock'] == (kind in ('mutex', 'rwlock')), row
        of_lock = by_lock[lock, kind]
        assert any(waiter in functions(s) for s in of_lock['waiters']), (waiter, of_lock)
        if not holder:
            continue
        assert holder in functions(row['holders'][0]), (waiter, row['holders'])
        assert row['holders'][0]['ns'] == row['ns'], row
    ends = [r for r in rows(path) if r['kind'] == "thread's end"]
    assert len(ends) == 1 and not ends[0]['is_lock'], ends
    assert any('join' in functions(s) for s in ends[0]['waiters']), ends
    # Whatever the rows are they have all of the time, be it that nobody let it pass.
    total = sync(path)['total']
    for by in ('lock', 'stack', 'holder', 'thread'):
        assert sum(r['ns'] for r in rows(path, '--by', by)) == \
            total['lock-wait-time'] + total['sync-wait-time'], (by, rows(path, '--by', by), total)
    unseen = [r for r in rows(path, '--by', 'holder') if r['name'] == '[nobody seen]']
    assert {'barrier', "thread's end"} <= {r['kind'] for r in unseen}, unseen
    assert not any(r['holders'] for r in unseen), unseen


@test
def waits_are_counted_and_charged_to_who_held():
    path, _ = record('holders', WAITS, 'holders', '10')
    check_lossless(path)
    row, = [r for r in rows(path) if r['is_lock']]
    assert (row['name'], row['waits']) == ('plain', 10) and row['ns'] >= 200 * MS, row
    assert sum(d['waits'] for d in row['durations_ns']) == 10, row
    assert all(d['from'] >= 16 * MS / 2 for d in row['durations_ns']), row
    holder, = [r for r in rows(path, '--by', 'holder') if r['is_lock']]
    assert holder['ns'] == row['ns'] and holder['waits'] == 10, (holder, row)
    assert 'hold_mutex' in functions(holder['holders'][0]), holder
    assert 'slow_waiter' in functions(holder['waiters'][0]), holder
    threads = [r for r in rows(path, '--by', 'thread') if r['is_lock']]
    assert len(threads) == 10 and all(r['waits'] == 1 for r in threads), threads


@test
def other_reports_have_the_same():
    path, _ = record('events', WAITS, 'holders', '4')
    r = report(path, '--event', 'lock-waits')
    assert {x['name']: x['exclusive']['lock-waits'] for x in r['rows']
            if x['exclusive']['lock-waits']} == {'plain': 4}, r['rows']
    r = report(path, '--event', 'holder-time')
    name, = [x['name'] for x in r['rows'] if x['exclusive']['holder-time']]
    assert name == 'hold_mutex', name
    text = ' '.join(dwell('sync', path).stdout.split())
    assert 'plain' in text and 'held by hold_mutex' in text, text


@test
def free_locks_are_no_waits_whatever_their_kind():
    path, _ = record('free', WAITS, 'uncontended', '10000', run=('--threshold', '0'))
    assert not [r for r in rows(path) if r['waits'] > 1], rows(path)


@test
def results_are_those_of_the_calls_themselves():
    for mode in ('robust', 'cancelled'):
        path, p = record(mode, WAITS, mode)
        assert not p.stdout, p.stdout
    # Behind the threads that were cancelled locks are observed as before.
    row, = [r for r in rows(path) if r['name'] == 'plain' and r['waiters']]
    assert any('slow_waiter' in functions(s) and s['waits'] == 3 for s in row['waiters']), row


@test
def children_are_observed_too():
    path, _ = record('forked', WAITS, 'forked')
    plain = [r for r in rows(path) if r['name'] == 'plain']
    assert sum(r['waits'] for r in plain) == 5, plain
    path, _ = record('alone', WAITS, 'forked', run=('--follow', 'off'))
    assert sum(r['waits'] for r in rows(path) if r['name'] == 'plain') == 2


@test
def threads_that_come_and_go_take_the_memory_of_those_that_went():
    _, p = record('pool', DEADLOCK, 'pool', run=('--source', 'tracer'))
    assert int(p.stdout) < 8192, p.stdout


@test
def processes_of_one_thread_wait_for_what_they_share():
    path, _ = record('shared', ALONE, 'shared', run=('--source', 'tracer'))
    row, = waits_of(path, 'by_shared_lock')
    assert row['waits'] == 1 and row['ns'] >= 20 * MS and row['kind'] == 'mutex', row


@test
def a_child_is_known_by_a_lock_that_is_free():
    path, _ = record('forked_free', ALONE, 'forked-free', run=('--source', 'tracer'))
    text = dwell('cat', '--section', 'processes', path).stdout
    assert len(set(re.findall(r'^process \d+ pid=(\d+)', text, re.MULTILINE))) == 2, text


@test
def what_was_waited_before_a_kill_is_known():
    path, _ = record('killed', WAITS, 'killed', code=137)
    row, = [r for r in rows(path) if r['name'] == 'plain']
    assert row['waits'] == 5 and row['holders'], row


@test
def a_spin_lock_is_one_of_those_that_others_hold():
    path, _ = record('spinning', WAITS, 'spinning')
    row, = [r for r in rows(path) if r['kind'] == 'spin lock']
    assert row['is_lock'] and row['waits'] == 1 and row['name'] == 'spin', row
    assert 'hold_spin' in functions(row['holders'][0]), row


@test
def the_threshold_is_measured_or_chosen():
    path, _ = record('measured', WAITS, 'holders', '1')
    assert 0 < sync(path)['short_waits'][0]['threshold_ns'] < MS
    path, _ = record('all', WAITS, 'contended', '20000', run=('--threshold', '0'))
    short = sync(path)['short_waits'][0]
    assert short == {'threshold_ns': 0, 'waits': 0, 'ns': 0}, short
    path, _ = record('none', WAITS, 'holders', '3', run=('--threshold', '10s'))
    short = sync(path)['short_waits'][0]
    assert short['threshold_ns'] == 10000 * MS and short['waits'] >= 3, short
    assert short['ns'] >= 60 * MS and not rows(path), (short, rows(path))
    assert 'shorter than' in dwell('sync', path).stdout


@test
def more_waits_are_seen_than_strace_sees_futexes_that_block():
    """Each wait of the kernel's is one of ours; of the wake-ups nothing is said."""
    need('strace')
    path, _ = record('futexes', WAITS, 'holders', '20')
    p = subprocess.run(['strace', '-f', '-e', 'trace=futex', WAITS, 'holders', '20'],
                       capture_output=True, text=True, timeout=120)
    lines = re.findall(r'futex\(0x[0-9a-f]+, FUTEX_WAIT\w*(?:\|\w+)*, 2, NULL', p.stderr)
    assert len(lines) == 20, p.stderr[-2000:]
    assert sum(r['waits'] for r in rows(path) if r['is_lock']) == len(lines)


@test
def a_Cplusplus_or_python_program_is_observed():
    script = ('import threading, time\n'
              'l = threading.Lock()\n'
              'def f():\n    l.acquire()\n    l.release()\n'
              'l.acquire()\n'
              't = threading.Thread(target=f)\nt.start()\ntime.sleep(.2)\nl.release()\nt.join()\n')
    path, _ = record('python', sys.executable, '-c', script)
    long = [r for r in rows(path) if r['ns'] >= 100 * MS]
    assert long and all(r['waiters'] for r in long), rows(path)


@test
def a_mark_lies_between_the_waits_before_it_and_those_behind():
    script = ('import threading, time\n'
              'def wait(n):\n'
              '    for _ in range(n):\n'
              '        t = threading.Thread(target=time.sleep, args=(0.02,))\n'
              '        t.start(); t.join()\n'
              'wait(5); print("ready", flush=True); input(); wait(3)\n')
    path = os.path.join(DIR, 'marked.dwell')
    harness.run_in_steps(['-e', 'sync', '-S', '0', '-o', path], [sys.executable, '-c', script],
                         [('mark', 'here')])
    before = report(path, '--filter', 'mark == here')['total']['sync-waits']
    behind = report(path, '--filter', 'cause == end')['total']['sync-waits']
    assert before >= 5 and behind >= 3, (before, behind)
    assert before + behind == report(path)['total']['sync-waits'], (before, behind)


# A semaphore that nobody posts, by a call that this C library may not have.
ABSENT_C = """
#include <dlfcn.h>
#include <errno.h>
#include <semaphore.h>
#include <stdio.h>
#include <time.h>
int main(void)
{
	int (*f)(sem_t *, int, const struct timespec *) = dlsym(RTLD_DEFAULT, "sem_clockwait");
	struct timespec t = { 0 };
	sem_t s;
	int rc;
	if (sem_init(&s, 0, 0) != 0 || !f)
		return 1;
	rc = f(&s, CLOCK_MONOTONIC, &t);
	printf("%d %d\\n", rc, errno == ENOSYS || errno == ETIMEDOUT);
	return 0;
}
"""


@test
def a_call_that_another_C_library_has_not_fails_as_those_of_its_kind():
    need('musl-gcc')
    path = os.path.join(DIR, 'absent')
    subprocess.run(['musl-gcc', '-O2', '-D_GNU_SOURCE', '-x', 'c', '-', '-o', path], check=True, input=ABSENT_C,
                   text=True)
    assert record('absent', path)[1].stdout == '-1 1\n'


@test
def a_recording_of_something_else_says_how():
    path = os.path.join(DIR, 'time.dwell')
    dwell('run', '-e', 'usertime', '-o', path, '--', 'true')
    p = dwell('sync', path)
    assert p.returncode == 1 and 'dwell run -e sync' in p.stderr, p


@test
def a_static_program_is_refused_by_name_where_only_wrappers_would_tell():
    program = os.path.join(PROGRAMS, 'e2e-victim-static')
    if not os.path.exists(program):
        raise Skip('no static program here')
    p = dwell('run', '-e', 'sync', '--source', 'tracer', '--', program, 'spawns')
    assert p.returncode == 1 and 'statically linked' in p.stderr, (p.returncode, p.stderr)


sys.exit(run_all(harness.TESTS, words=sys.argv[4:]))
