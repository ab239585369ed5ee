#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The timeline: exported from real recordings, it obeys the rules of the Trace Event Format
and shows what the programs did, when.  usage: timeline.py DWELL"""
import collections
import json
import os
import subprocess
import sys

import harness
from harness import DIR, IS_ROOT, TESTS, Skip, dwell, report, run_all, test

FILE = os.path.join(DIR, 'timeline.dwell')
TRACE = os.path.join(DIR, 'trace.json')
PYTHON = [sys.executable, '-S', '-B', '-c']
EACH = {'each-io-call': 'io-time', 'each-sync-wait': 'sync-wait-time', 'each-lock-wait': 'lock-wait-time'}
PHASES = {'X': {'ts', 'dur', 'cat'}, 'C': {'ts', 'args'}, 'i': {'ts', 's'}, 'M': {'args'}}
EPSILON = 1e-6


def check_nesting(slices):
    """Slices of a thread lie within each other or beside each other, outer ones first."""
    ends = []
    for x in slices:
        while ends and ends[-1] <= x['ts'] + EPSILON:
            ends.pop()
        assert not ends or x['ts'] + x['dur'] <= ends[-1] + EPSILON, (x, ends)
        ends.append(x['ts'] + x['dur'])


def check(trace):
    threads = collections.defaultdict(list)
    counters = collections.defaultdict(list)
    named = set()
    for x in trace['traceEvents']:
        assert x['ph'] in PHASES and PHASES[x['ph']] <= x.keys(), x
        assert isinstance(x['pid'], int) and isinstance(x['tid'], int) and x['name'], x
        assert x['ph'] == 'M' or x['ts'] >= 0, x
        if x['ph'] == 'X':
            assert x['dur'] > 0, x
            threads[x['pid'], x['tid']].append(x)
        elif x['ph'] == 'M':
            assert x['name'] in ('process_name', 'thread_name') and x['args']['name'], x
            named.add((x['pid'], x['tid']))
        elif x['ph'] == 'C':
            assert x['args'] and all(v >= 0 for v in x['args'].values()), x
            counters[x['pid'], x['name']].append(x)
        else:
            assert x['s'] in 'gpt', x
    for thread, slices in threads.items():
        assert thread in named and (thread[0], 0) in named, thread
        check_nesting(slices)
    for values in counters.values():
        times = [v['ts'] for v in values]
        assert times == sorted(times), values
    return threads, counters


def export(*options):
    p = dwell('export', 'chrome', '-o', TRACE, *options, FILE)
    assert p.returncode == 0, p.stderr
    with open(TRACE, encoding='utf-8') as f:
        trace = json.load(f)
    assert not trace['otherData']['left_out'], trace['otherData']
    return trace, *check(trace)


def record(experiment, code, *options):
    if dwell('run', '-n', '-e', experiment, '--', 'true').returncode:
        raise Skip(f'{experiment} cannot be recorded here')
    p = dwell('run', '-q', '-e', experiment, '-o', FILE, *options, '--', *PYTHON, code)
    assert p.returncode == 0, p.stderr
    return p.stdout


def samples(event):
    return harness.samples_of(FILE, event)


def outer(slices):
    """(from, to) in seconds, of what is in no other slice."""
    end, ret = -1, []
    for x in slices:
        if x['ts'] + EPSILON >= end:
            end = x['ts'] + x['dur']
            ret.append((x['ts'] / 1e6, end / 1e6))
    return ret


WORK = ('import os, time\n'
        'def work(s):\n'
        '    end = time.process_time() + s\n'
        '    while time.process_time() < end: sum(range(1000))\n')
# For how long it could have run, and did not.
WAITED = 'print(open("/proc/self/schedstat").read().split()[1])\n'


@test
def slices_have_the_time_of_the_samples():
    waited = int(record('usertime:10ms', WORK + f'work(0.6)\n{WAITED}')) / 1e9
    _, threads, _ = export()
    shown = sum(to - begin for slices in threads.values() for begin, to in outer(slices))
    told = report(FILE)['total']['cpu-time'] / 1e9
    # What lies between two samples that belong together may be filled.
    assert 0.8 * told < shown < 2 * told + waited + 0.02, (shown, told, waited)


@test
def waits_are_slices_at_their_time():
    code = (WORK + 'work(0.2); before = time.monotonic_ns(); time.sleep(0.5); after = time.monotonic_ns()\n'
            'work(0.2); print(before, after)')
    before, after = map(int, record('totaltime', code).split())
    _, threads, _ = export()
    waits = [x for slices in threads.values() for x in slices
             if x['name'] == 'blocked-time' and x['dur'] > 0.49e6]
    kept = [x for x in samples('blocked-time') if int(x['weight']) > 490000000]
    assert len(waits) == len(kept) == 1 and abs(waits[0]['dur'] * 1e3 - int(kept[0]['weight'])) < 1000, (waits, kept)
    # It begins when the thread gives its CPU away, and is over when the time is, not before.
    begin = int(kept[0]['time_ns'])
    end = begin + int(kept[0]['weight'])
    assert before <= begin and before + 500000000 <= end <= after, (before, begin, end, after)
    around = [x for slices in threads.values() for x in slices
              if x['ts'] <= waits[0]['ts'] and x['ts'] + x['dur'] >= waits[0]['ts'] + waits[0]['dur']]
    assert len(around) > 2, around  # its callers


@test
def threads_and_programs_have_their_own():
    record('usertime:10ms', WORK + 'import threading\n'
           'if os.fork() == 0:\n'
           f'    os.execv({sys.executable!r}, {[*PYTHON, WORK + "work(0.3)"]!r})\n'
           'os.wait(); t = threading.Thread(target=work, args=(0.3,)); t.start(); t.join()')
    _, threads, _ = export()
    # The first thread may have had no sample.
    assert len({pid for pid, _ in threads}) == 2, threads.keys()
    assert any(pid != tid for pid, tid in threads), threads.keys()


@test
def io_is_a_rate_of_its_process():
    if not IS_ROOT:
        raise Skip('only root may load BPF programs')
    record('io', 'import os, time\n'
           f'f = os.open({os.path.join(DIR, "out")!r}, os.O_CREAT | os.O_WRONLY)\n'
           'for i in range(20): os.write(f, bytes(1000000)); time.sleep(0.1)')
    _, threads, counters = export()
    assert not threads, threads
    (values,) = [v for (_, name), v in counters.items() if name == 'written-bytes']
    moved = sum(a['args']['bytes/s'] * (b['ts'] - a['ts']) / 1e6 for a, b in zip(values, values[1:]))
    assert abs(moved - report(FILE)['total']['written-bytes']) < 1000, (moved, values)
    assert values[-1]['args']['bytes/s'] == 0, values[-1]


@test
def the_heap_has_a_course():
    record('heap', 'x = [bytes(1000) for i in range(50000)]')
    _, _, counters = export()
    (values,) = [v for (_, name), v in counters.items() if name == 'heap']
    assert max(v['args']['bytes'] for v in values) > 50e6, values


@test
def marks_and_what_the_system_counts_are_there():
    p = subprocess.Popen([harness.DWELL, 'run', '-q', '--mark', 'USR1', '-S', '100ms', '-o', FILE, '--',
                          *PYTHON, 'import time\nprint("here", flush=True)\n'
                          'input()\ntime.sleep(0.1)'],
                         stdout=subprocess.PIPE, stdin=subprocess.PIPE)
    p.stdout.readline()
    p.send_signal(10)
    p.communicate(b'\n', timeout=120)
    trace, _, counters = export()
    marks = [x for x in trace['traceEvents'] if x['ph'] == 'i']
    assert [(x['name'], x['cat']) for x in marks] == [('mark', 'signal')], marks
    assert {'CPU', 'ready', 'resident', 'load'} <= {name for pid, name in counters if not pid}, counters.keys()


def text(*options):
    """The rows of threads: what they are called, and the cells; and the lines below."""
    p = dwell('timeline', '--width', '100', '--cells', '50', *options, FILE)
    assert p.returncode == 0, p.stderr
    lines = p.stdout.splitlines()
    first = next(i for i, line in enumerate(lines) if 'Run Thread' in line)
    width = lines[first].index('|')
    rows = lines[first + 1:lines.index('', first)]
    return [(row[:width].split(), row[width:]) for row in rows], '\n'.join(lines)


def json_rows(*options):
    p = dwell('timeline', '--json', '--cells', '50', *options, FILE)
    assert p.returncode == 0, p.stderr
    return json.loads(p.stdout)['rows']


@test
def the_text_has_what_threads_did_in_its_order():
    record('totaltime', WORK + 'work(0.4); time.sleep(0.6); work(0.4)')
    thread = next(r for r in json_rows() if r['of'] == 'thread')
    told = report(FILE)['total']
    assert abs(thread['ns']['run'] - told['cpu-time']) < 0.05 * told['cpu-time'] + 1e6, (thread, told)
    waits = [i for i, c in enumerate(thread['cells']) if c['most'] == 'blocked']
    runs = [i for i, c in enumerate(thread['cells']) if c['ns'].get('run', 0)]
    assert any(runs[0] < i < runs[-1] for i in waits), (runs, waits)
    rows, whole = text('--limit', '1')
    assert '-' in rows[0][1] and '- waits' in whole, whole


@test
def sums_are_within_the_life_of_their_process():
    if not IS_ROOT:
        raise Skip('only root may load BPF programs')
    record('io', 'import os, time\n'
           f'f = os.open({os.path.join(DIR, "out")!r}, os.O_CREAT | os.O_WRONLY)\n'
           'for i in range(20): os.write(f, bytes(1000000)); time.sleep(0.1)')
    thread = next(r for r in json_rows() if r['of'] == 'thread')
    shown = sum(c['ns'].get('io', 0) for c in thread['cells'])
    told = report(FILE)['total']['io-time']
    assert 0.9 * told - 1e6 < shown <= told + 1e3, (shown, told)
    half = json_rows('--from', '1s')
    shown = sum(r['ns'].get('io', 0) for r in half if r['of'] == 'thread')
    assert 0 < shown < told, (shown, told)


@test
def marks_and_the_heap_are_beneath():
    p = dwell('run', '-q', '-e', 'heap', '--mark', 'USR1', '-o', FILE, '--', *PYTHON,
              'import os, signal, time\n'
              'time.sleep(0.3); os.kill(os.getppid(), signal.SIGUSR1); time.sleep(0.3)\n'
              'x = bytes(50000000); time.sleep(0.3)')
    assert p.returncode == 0, p.stderr
    _, whole = text()
    assert '1 mark at ' in whole and ', by signal' in whole, whole
    heap = next(r for r in json_rows() if r['of'] == 'value' and r['name'] == 'heap')
    assert heap['most'] >= 50e6 and heap['cells'][0] < 40e6, heap


# Main reads what another thread writes, or takes a lock that another lets go: each time it
# notes when it asked and had it, and the other one when it was about to give it.
TURNS = 20
READ_TURNS = ('import json, os, threading, time\n'
              'now, given = time.monotonic_ns, []\n'
              'r, w = os.pipe()\n'
              'def give():\n'
              f'    for i in range({TURNS}):\n'
              '        time.sleep(0.02); given.append(now()); os.write(w, b"x")\n'
              'def turn(i): os.read(r, 1)\n')
LOCK_TURNS = ('import json, threading, time\n'
              'now, given = time.monotonic_ns, []\n'
              f'locks = [threading.Lock() for i in range({TURNS})]\n'
              'for l in locks: l.acquire()\n'
              'def give():\n'
              '    for l in locks: time.sleep(0.02); given.append(now()); l.release()\n'
              'def turn(i): locks[i].acquire()\n')
TAKE_TURNS = ('t = threading.Thread(target=give); t.start(); turns = []\n'
              f'for i in range({TURNS}):\n'
              '    before = now(); turn(i); turns.append([before, now()])\n'
              't.join(); print(json.dumps([turns, given]))\n')


def one_by_one(code, name, experiment, *options):
    """What was kept of each turn: (asked, had it, was given it, the slices within)."""
    turns, given = json.loads(record(experiment, code + TAKE_TURNS, '--trace', *options))
    _, threads, counters = export()
    labels = [(pid == tid, x) for (pid, tid), thread in threads.items()
              for x in thread if x['name'].startswith('[')]
    # Time 0 of the picture is where the recording begins, of the samples when the machine did.
    start = check_sums() - min(x['ts'] for _, x in labels) * 1e3
    slices = [(start + x['ts'] * 1e3, start + (x['ts'] + x['dur']) * 1e3)
              for is_main, x in labels if is_main and name in x['name']]
    # They are slices, not how many threads are in them.
    assert not {'io-time', 'sync-wait-time', 'lock-wait-time'} & {n for _, n in counters}, counters.keys()
    return [(before, after, gave, [x for x in slices if before - 1e3 < x[0] < after])
            for (before, after), gave in zip(turns, given)]


def check_sums():
    """Each by itself adds up to what was summed; returns when the first was."""
    sums = {event: sum(int(x['weight']) for x in samples(event))
            for event in ('io-time', 'sync-wait-time', 'lock-wait-time', *EACH)}
    for each, whole in EACH.items():
        assert sums[each] == sums[whole], (each, sums)
    return min(int(x['time_ns']) for each in EACH for x in samples(each))


def check_turns(turns, most=1):
    n = 0
    for before, after, gave, slices in turns:
        assert len(slices) <= most, (before, after, slices)
        # Within what the program saw, and not over before it was given what it waited for;
        # microseconds as numbers of JSON are to a ns or so.
        for begin, end in slices:
            assert begin <= end <= after + 1e3, (before, after, begin, end)
        n += any(end >= gave - 1e3 for _, end in slices)
    return n


@test
def each_call_is_where_it_was():
    if not IS_ROOT:
        raise Skip('only root may load BPF programs')
    assert check_turns(one_by_one(READ_TURNS, 'syscall read', 'io')) == TURNS


@test
def each_call_that_wrappers_see_is_where_it_was():
    turns = one_by_one(READ_TURNS, 'read', 'io', '--source', 'tracer')
    assert check_turns(turns) == TURNS, turns


@test
def each_wait_is_where_it_was():
    # Who comes late need not wait.
    assert check_turns(one_by_one(LOCK_TURNS, 'semaphore', 'sync', '--source', 'tracer')) > 0


@test
def each_wait_in_the_kernel_is_where_it_was():
    if not IS_ROOT:
        raise Skip('only root may load BPF programs')
    # Behind the lock the interpreter's own.
    turns = one_by_one(LOCK_TURNS, 'futex', 'sync', '--source', 'futex')
    assert check_turns(turns, most=10) > 0, turns


# A thread waits all the time for what never comes, another from before a pause to behind it, and
# one that ends with the program in the pause that it ends in.
IN_PAUSES = ('import os, sys, threading, time\n'
             'def step(): print("step", flush=True); sys.stdin.readline()\n'
             'WAIT\n'
             'def start(i): t = threading.Thread(target=wait, args=(i,), daemon=True); t.start(); time.sleep(0.1); return t\n'
             'start(0); t = start(1); step(); time.sleep(0.2); step(); end(1); t.join()\n'
             'start(2); step(); time.sleep(0.2); os._exit(0)\n')
WAIT_IN_READ = ('pipes = [os.pipe() for i in range(3)]\n'
                'def wait(i): os.read(pipes[i][0], 1)\n'
                'def end(i): os.write(pipes[i][1], b"x")\n')
WAIT_FOR_LOCK = ('locks = [threading.Lock() for i in range(3)]\n'
                 'for l in locks: l.acquire()\n'
                 'def wait(i): locks[i].acquire()\n'
                 'def end(i): locks[i].release()\n')


def in_pauses(experiment, wait, *options):
    harness.run_in_steps(['-e', experiment, '--trace', '--toggle', 'USR2', '-o', FILE, *options],
                         [*PYTHON, IN_PAUSES.replace('WAIT\n', wait)], [['pause'], ['resume'], ['pause']])
    check_sums()


@test
def nothing_is_kept_of_a_pause():
    if not IS_ROOT:
        raise Skip('only root may load BPF programs')
    in_pauses('io', WAIT_IN_READ)
    in_pauses('sync', WAIT_FOR_LOCK, '--source', 'futex')
    # One that ends before anything was observed, while a thread waits.
    code = WAIT_IN_READ + 'import os, threading\nthreading.Timer(1.5, end, (0,)).start(); wait(0)'
    record('io', 'import os\n' + code, '--trace', '--delay', '5s', '-d', '500ms')
    assert not samples('each-io-call') and not samples('io-time')


@test
def the_text_draws_each_where_it_was():
    if not IS_ROOT:
        raise Skip('only root may load BPF programs')
    code = ('import os, threading, time\n'
            'r, w = os.pipe()\n'
            'threading.Timer(0.3, lambda: os.write(w, b"x")).start()\n'
            'os.read(r, 1); time.sleep(0.4)\n')
    record('io', code, '--trace')
    thread = max((r for r in json_rows() if r['of'] == 'thread'), key=lambda r: r['ns'].get('io', 0))
    cells = [c['ns'].get('io', 0) for c in thread['cells']]
    # Not spread over the second that its sum is of.
    assert sum(cells[len(cells) * 3 // 4:]) < 0.01 * sum(cells) and sum(cells) > 0.2e9, cells


if __name__ == '__main__':
    sys.exit(run_all(TESTS))
