#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The states of threads: compared with a planted schedule, with the kernel's accounts and
with its trace of the same switches.
usage: states.py DWELL WORKLOAD_DIR"""
import collections
import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import time

import harness
import switches
from harness import (DIR, DWELL, IS_ROOT, TESTS, Skip, dwell, need, run_all, skip_all, sleeper, stolen_ns,
                     test, wait_until)

WORKLOADS = os.path.abspath(sys.argv[2])
FILE = os.path.join(DIR, 'states.dwell')
MS = 1e6
INTERVAL = 1 * MS  # of samples, on average
CPU = ('user-cpu', 'system-cpu', 'unaccounted')
# What a thread waits for because others have it: a CPU, or the address space.
BY_OTHERS = ('wait-cpu', 'taken', 'other-wait', 'text-fault', 'data-fault', 'other-fault')
WAKING = ('wakeups', 'wakeup-latency', 'woken-wait')  # no states

Plan = collections.namedtuple('Plan', 'name tid planned least most run wait')


def by_thread(path, *options, column='exclusive'):
    """{tid: {state: ns}}, or how often by the column 'samples'"""
    threads = collections.defaultdict(collections.Counter)
    for row in harness.report(path, '--by', 'thread', *options)['rows']:
        threads[int(re.search(r'tid (\d+)', row['name'])[1])].update(
            {k: v for k, v in row[column].items() if k not in WAKING})
    return threads


def by_waker(path, tid):
    """{waker: {column: n}} of a thread"""
    r = harness.report(path, '--filter', f'tid == {tid}', '--event', ','.join(WAKING))
    return {m[1]: row['inclusive'] for row in r['rows']
            if (m := re.fullmatch(r'\[woken by (.*)\]', row['name']))}


def run_states(*command, before=None):
    with contextlib.suppress(FileNotFoundError):
        os.unlink(FILE)
    p = subprocess.run([DWELL, 'run', '-e', 'states', '-o', FILE, '--', *command],
                       capture_output=True, text=True, timeout=120, check=False,
                       preexec_fn=before)
    assert p.returncode == 0, p.stderr
    return p.stdout


def cold_file():
    """On a disk: what is in memory only has no cold pages."""
    path = os.path.join(DIR, 'cold')
    with open(path, 'wb') as f:
        f.write(os.urandom(16 << 20))
        os.fsync(f.fileno())
    return path


RECORDED = {}


def plant():
    stolen = stolen_ns()
    with switches.traced() if switches.available() else (
            contextlib.nullcontext((None, []))) as (before, lines):
        out = run_states(os.path.join(WORKLOADS, 'states'), cold_file(), before=before)
    RECORDED['stolen'] = stolen_ns() - stolen
    RECORDED['trace'] = switches.threads_of(lines)
    RECORDED['plans'] = [Plan(x[0], *map(int, x[1:])) for x in map(str.split, out.splitlines())]
    RECORDED['threads'] = by_thread(FILE)
    RECORDED['waits'] = by_thread(FILE, column='samples')


def is_witnessed():
    """Has the trace most threads whole?  Some kernels hide threads of their own."""
    plans, trace = (RECORDED[k] for k in ('plans', 'trace'))
    living = [p for p in plans if p.most]
    return not trace or sum(trace[p.tid].is_whole for p in living) > len(living) / 2


def planted():
    """The schedule, and what was recorded of it; once, unless the other witness missed it."""
    for _ in range(0 if RECORDED else 3):
        plant()
        if is_witnessed():
            break
    return [(p, RECORDED['threads'][p.tid]) for p in RECORDED['plans']]


def live():
    return [(p, t) for p, t in planted() if p.most]


@test
def sums_are_the_life_of_each_thread():
    for p, t in live():
        total = sum(t.values())
        assert p.least <= total <= p.most, f'{p.name}: {total} of {p.least} to {p.most}'


@test
def planned_waits_are_in_their_states():
    states = {'asleep': 'sleep', 'polling': 'io-wait', 'locked': 'user-lock', 'reading': 'io-wait',
              'stopped': 'stopped', 'waiting': 'sleep'}
    seen = set()
    lived = {p.name: p.least for p, _ in planted()}
    lived['stopped'] = lived['waiting']  # which makes it and waits for it
    for p, t in planted():
        if p.name not in states:
            continue
        seen.add(p.name)
        state, found = states[p.name], t[states[p.name]]
        # Who is to wait may have no CPU to begin with it, and who ends a wait may come late.
        other = sum(ns for s, ns in t.items() if s in (*CPU, *BY_OTHERS))
        assert p.planned - other <= found <= lived[p.name], f'{p.name}: {t} of {p}'
        assert found > p.planned / 4, f'{p.name}: {t} of {p}'
        for s, ns in t.items():
            if s not in (*CPU, *BY_OTHERS, state):
                assert ns < 10 * MS, f'{p.name}: {ns} of {s}'
    assert seen == set(states)


@test
def cpu_time_is_the_kernels():
    for p, t in live():
        if p.name in ('spinning', 'in-kernel'):
            cpu = sum(t[s] for s in CPU)
            assert abs(cpu - p.run) < 0.01 * p.run + RECORDED['stolen'], (
                f'{p.name}: {cpu}, by the kernel {p.run}, {RECORDED["stolen"]} stolen')


@test
def cpu_time_and_waits_are_those_of_the_trace():
    # The kernel's account of waits begins later than the wake-up, and its account of runs
    # earlier than the switch, so that many short ones add up: its trace has both.
    planted()
    if not RECORDED['trace']:
        raise Skip('the kernel gives no traces')
    n = 0
    for p, t in live():
        trace = RECORDED['trace'][p.tid]
        if not trace.is_whole:  # some kernels hide threads of their own, and their switches
            continue
        n += 1
        cpu = sum(t[s] for s in CPU) + t['taken']
        told = f'{p.name}: {t}, by the trace {vars(trace)}'
        assert abs(cpu - trace.run) < 0.01 * trace.run + MS, told
        assert abs(t['wait-cpu'] - trace.wait) < 0.01 * trace.wait + MS, told
        waits = sum(t.values()) - cpu - t['wait-cpu']
        assert abs(waits - trace.blocked) < 0.01 * trace.blocked + MS, told
    assert n > len(live()) / 2, n


@test
def user_and_system_time_are_told_apart():
    for p, t in live():
        if p.name == 'spinning':
            assert t['user-cpu'] > 0.85 * p.run, t
        if p.name == 'in-kernel':
            assert t['system-cpu'] > 0.85 * p.run, t


@test
def faults_are_those_of_the_program_or_the_kernel():
    # How often: one wait for the address space, whose owner has no CPU, may outlast them all.
    for p, _ in live():
        if p.name not in ('faulting', 'writing-cold'):
            continue
        t = RECORDED['waits'][p.tid]
        if not t['data-fault'] + t['other-fault']:
            raise Skip('the file has no cold pages here')
        mine, other = (('data-fault', 'other-fault') if p.name == 'faulting'
                       else ('other-fault', 'data-fault'))
        assert t[mine] > 20 * t[other], t


@test
def next_to_nothing_is_unaccounted():
    for p, t in live():
        # A thread that no sample met has run for less than some of their intervals: for more
        # than 15 once in three million times, if it runs for a moment at a time.
        limit = 0.001 * p.least
        if t['user-cpu'] + t['system-cpu'] == 0:
            limit = max(limit, 15 * INTERVAL)
        assert t['unaccounted'] <= limit, f'{p.name}: {t["unaccounted"]} of {p.least}'


@test
def wake_ups_are_those_of_the_trace():
    planted()
    if not RECORDED['trace']:
        raise Skip('the kernel gives no traces')
    # What could not be told of is counted as lost.
    lost = harness.fact(harness.report(FILE), 'lost-samples', 'loss') or 0
    ours = {p.tid for p, _ in planted() if p.name != 'stopped'}  # which is a process
    seen = set()
    for p, _ in live():
        trace = RECORDED['trace'][p.tid]
        if not trace.is_whole or 'either' in trace.wakers:
            continue
        found = by_waker(FILE, p.tid)
        told = {}
        for who, w in trace.wakers.items():
            name = 'interrupt' if who == 'interrupt' else (
                'states' if who[1] in ours or who[0] == 'states' else who[0].split('/')[0])
            told.setdefault(name, []).append(w)
        merged = collections.defaultdict(collections.Counter)
        for who, columns in found.items():
            merged[who.split(':')[0]].update(columns)
        words = f'{p.name}: {found}, by the trace ' + str(
            {k: [vars(w) for w in v] for k, v in told.items()})
        assert set(merged) <= set(told), words
        for who, all_of_it in told.items():
            n = sum(w.n for w in all_of_it)
            missing = n - merged[who]['wakeups']
            assert 0 <= missing <= lost, f'{lost} lost, {words}'
            lost -= missing
            if missing:
                continue
            for column, of in (('wakeup-latency', 'latency'), ('woken-wait', 'waited')):
                want = sum(getattr(w, of) for w in all_of_it)
                assert abs(merged[who][column] - want) < 0.01 * want + MS, words
            seen.add((p.name, who))
    assert {('asleep', 'interrupt'), ('polling', 'interrupt'), ('locked', 'states'),
            ('reading', 'states')} & seen, seen


@test
def who_woke_whom_is_in_the_stacks_of_both():
    planted()
    tid = next(p.tid for p, _ in live() if p.name == 'locked')
    p = dwell('tree', '--json', '--filter', f'tid == {tid}', '--event', 'wakeups', FILE)
    assert p.returncode == 0, p.stderr
    # The waiter's part is outside of the waker's.
    at = [p.stdout.find(f'"{name}"')
          for name in ('__schedule', '[woken by states]', 'try_to_wake_up')]
    assert -1 not in at and at == sorted(at), (at, p.stdout)


@test
def timers_are_told_apart():
    planted()
    tid = next(p.tid for p, _ in live() if p.name == 'asleep')
    assert by_waker(FILE, tid)['interrupt: timer']['wakeups'] >= 1


@test
def waits_have_the_stacks_in_which_they_were():
    r = planted() and harness.report(FILE, '--filter', 'thread == "locked"', '--event', 'user-lock')
    functions = {row['name'].split('@')[0] for row in r['rows']}
    assert any('futex' in f for f in functions), functions


@test
def code_that_is_not_there_is_a_text_fault():
    need('gcc')  # its compiler is large: reading ahead does not fetch it whole
    cc1 = subprocess.run(['gcc', '-print-prog-name=cc1'], capture_output=True, text=True,
                         check=True).stdout.strip()
    cold = os.path.join(DIR, 'program')
    shutil.copy(cc1, cold)
    with open(cold, 'rb') as f:
        os.fsync(f.fileno())
        os.posix_fadvise(f.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    run_states(cold, '-quiet', '-o', '/dev/null', '/dev/null')
    t = sum(by_thread(FILE).values(), collections.Counter())
    faults = {s: t[s] for s in ('text-fault', 'data-fault', 'other-fault')}
    if not sum(faults.values()):
        raise Skip('the file has no cold pages here')
    assert faults['text-fault'] > 0, faults


def woken_in_calls(function, calls):
    """{call: how often threads that waited in it, for the function, were woken}"""
    rows = harness.report(FILE, '--event', 'wakeups', '--filter', f'function == {function}')['rows']
    return {call: sum(row['inclusive']['wakeups'] for row in rows if row['name'].endswith(call))
            for call in calls}


@test
def a_stack_that_is_known_again_is_the_one_that_it_was():
    calls = {'sleeps': 'sys_clock_nanosleep', 'polls': 'sys_ppoll', 'locks': 'sys_futex'}
    for _ in range(3):  # the first rounds are not told of the function where the rules of its code come late
        out = run_states(os.path.join(WORKLOADS, 'turns'), '1000')
        waited = {name: int(n) for name, n in map(str.split, out.splitlines())}
        told = {mine: woken_in_calls(mine, calls.values()) for mine in calls}
        for mine, found in told.items():
            assert sum(found.values()) == found[calls[mine]] <= waited[mine], (mine, found, waited)
        if all(told[mine][kernels] > 0.7 * waited[mine] for mine, kernels in calls.items()):
            return
    raise AssertionError((told, waited))


def woken_in(function):
    """How often threads that waited in it were woken, by function of either side."""
    rows = harness.report(FILE, '--event', 'wakeups', '--filter',
                          f'function == {function}')['rows']
    return {row['name'].split('@')[0]: row['inclusive']['wakeups'] for row in rows}


@test
def stacks_that_differ_further_out_are_told_apart():
    # All of them are known again by what is on the stack, and never by where it is alone.
    n = 2000
    run_states(os.path.join(WORKLOADS, 'paths'), str(n))
    calls = {'sleeps': 'sys_clock_nanosleep', 'polls': 'sys_ppoll', 'locks': 'sys_futex'}
    for mine, kernels in calls.items():
        found = woken_in(mine)
        told = woken_in_calls(mine, calls.values())
        assert told[kernels] > n / 20, f'{mine}: {told}'
        assert sum(told.values()) == told[kernels], f'{mine}: {told}'
        assert not set(calls) - {mine} & set(found), f'{mine}: {found}'
    for mine, waker, other in (('first', 'wakes_first', 'wakes_second'),
                               ('second', 'wakes_second', 'wakes_first')):
        found = woken_in(mine)
        assert found.get(waker, 0) > n / 20 and other not in found, f'{mine}: {found}'


@test
def no_recording_ends_because_there_were_many_threads():
    # Each has two sums at least, which are more than there are numbers: these are used again,
    # while some threads keep theirs.
    n = 132000
    out = run_states(os.path.join(WORKLOADS, 'crowd'), str(n))
    report = harness.report(FILE, '--by', 'thread')
    lost = report['quality'].get('lost') or 0
    # The rings hold what comes in a fifth of a second: a collector that gets no CPU for so
    # long, as others have it, loses some, and says so.
    assert lost < n / 1000, lost
    sums = sum(e['samples'] for e in report['events'] if e['name'] not in WAKING)
    assert sums > 2 * n, report['events']
    threads = by_thread(FILE)
    for name, tid, ns in map(str.split, out.splitlines()):
        state = {'locked': 'user-lock', 'reading': 'io-wait'}[name]
        t = threads[int(tid)]
        assert abs(t[state] / int(ns) - 1) < 0.001, f'{name}: {t}, planned {ns}'
        rows = harness.report(FILE, '--event', state, '--filter',
                              f'tid == {tid} and function == {name}')['rows']
        found = max(row['inclusive'][state] for row in rows)
        assert found > 0.999 * t[state], f'{name}: {found} of {t[state]}'


def times_off_cpu(pid):
    with open(f'/proc/{pid}/status', encoding='ascii') as f:
        return int(re.search(r'^voluntary_ctxt_switches:\s+(\d+)', f.read(), re.M)[1])


@test
def what_could_not_be_told_is_time_of_the_thread_all_the_same():
    with contextlib.suppress(FileNotFoundError):
        os.unlink(FILE)
    p = subprocess.Popen([DWELL, 'run', '-q', '-e', 'states', '-o', FILE, '--',
                          os.path.join(WORKLOADS, 'untold'), '6000'], stdin=subprocess.PIPE,
                         stdout=subprocess.PIPE, text=True)
    try:
        assert p.stdout.readline() == 'ready\n'
        p.send_signal(signal.SIGSTOP)
        p.stdin.write('\n')
        p.stdin.flush()
        assert p.stdout.readline() == 'done\n'
        p.send_signal(signal.SIGCONT)
        before = times_off_cpu(p.pid)
        wait_until(lambda: times_off_cpu(p.pid) > before + 5, 'the rings are not emptied')
        tid, lived = map(int, p.communicate('\n', timeout=120)[0].split())
        assert p.returncode == 0
    finally:
        p.send_signal(signal.SIGCONT)
        p.kill()
        p.wait()
    assert harness.fact(harness.report(FILE), 'lost-samples', 'loss'), 'all could be told'
    t = by_thread(FILE)[tid]
    assert sum(t.values()) >= lived, f'{t} of {lived}'


def sums_told(path):
    """[(when, since the recording began, ns)] of all sums, in their order"""
    lines = dwell('cat', '--section', 'samples', path).stdout
    begin = int(harness.report(path)['sources'][0]['start-monotonic-ns'])
    told = collections.Counter()
    for weight, at in re.findall(r' weight=(\d+) .*?time_ns=(\d+)', lines):
        told[int(at) - begin] += int(weight)
    return sorted(told.items())


@test
def long_waits_are_in_every_interval():
    child = sleeper()
    try:
        for seconds in 5, 15, 45:
            p = dwell('attach', '-p', str(child.pid), '-e', 'states', '-d', str(seconds), '-o', FILE)
            assert p.returncode == 0, p.stderr
            told = sums_told(FILE)
            if len(told) > 4:
                break
    finally:
        child.kill()
        child.wait()
    # Each is of the time since the one before it, and is taken between its own moment and the next one's; they are a second
    # apart, unless the recorder gets no CPU.
    assert len(told) > 4 and min(after - before for (before, _), (after, _) in zip(told[1:], told[2:-1])) < 1.5e9, told
    for (before, _), (_, ns), (after, _) in zip(told, told[1:], told[2:]):
        assert ns < after - before, told
    whole = sum(ns for _, ns in told[2:-1])
    assert told[-2][0] - told[2][0] < whole < told[-1][0] - told[1][0], told
    asleep = harness.report(FILE, '--event', 'sleep', '--filter', f'time in {told[2][0]}ns..{told[-2][0] + 1}ns')
    assert abs(asleep['total']['sleep'] - whole) < 1 * MS, (asleep['total'], told)


@test
def a_process_that_waits_already_is_met():
    child = sleeper()
    try:
        p = dwell('attach', '-p', str(child.pid), '-e', 'states', '-d', '1', '-o', FILE)
        assert p.returncode == 0, p.stderr
    finally:
        child.kill()
        child.wait()
    t = by_thread(FILE)[child.pid]
    assert t['sleep'] > 0.98e9 and sum(t.values()) - t['sleep'] < 1 * MS, t


def who_is_told_of(path, *columns):
    """(pid, executable) of each process of the recording; those that have all columns, by pid"""
    p = dwell('cat', '--section', 'processes', path)
    assert p.returncode == 0, p.stderr
    told = [(int(m[1]), m[2]) for m in re.finditer(r'pid=(\d+) .*?exe="(.*?)"', p.stdout)]
    rows = harness.report(path, '--by', 'process')['rows']
    have = {int(re.search(r'pid (\d+)', r['name'])[1]) for r in rows
            if all(any(r['exclusive'].get(name) for name in c) for c in columns)}
    return told, have


@test
def the_whole_machine_is_as_many_threads():
    child = sleeper()
    begun = time.time()
    p = dwell('attach', '-a', '-e', 'states', '-d', '1', '-o', FILE)
    most = time.time() - begun
    child.send_signal(signal.SIGTERM)
    child.wait()
    assert p.returncode == 0, p.stderr
    threads = by_thread(FILE)
    assert threads[child.pid]['sleep'] > 0.98e9
    for tid, t in threads.items():
        # A number may have had several threads behind each other.
        assert sum(t.values()) < most * 1e9, f'{tid}: {t}'
    told, _ = who_is_told_of(FILE)
    assert len(set(told)) == len(told), told


@test
def an_ordinary_user_is_told_what_it_takes():
    need('runuser')
    p = subprocess.run(['runuser', '-u', 'nobody', '--', DWELL, 'run', '-e', 'states', '-o',
                        '/tmp/none.dwell', 'true'], capture_output=True, text=True, timeout=60,
                       check=False)
    assert p.returncode != 0 and 'states is not available here' in p.stderr, p.stderr
    assert re.search('permitted|root', p.stderr), p.stderr


RUNS = (*CPU, 'wait-cpu')
COPY = 'dd if=/dev/zero of=/dev/null bs=64k count=2000 2>/dev/null'


@test
def several_sums_tell_of_each_process_once():
    for experiments, columns in (('states,io', (RUNS, ('io-calls',))),
                                 ('io,syscalls', (('io-calls',), ('syscalls',))),
                                 ('states,io,syscalls', (RUNS, ('io-calls',), ('syscalls',)))):
        p = dwell('run', '-q', '-e', experiments, '-o', FILE, '--', 'sh', '-c', f'{COPY}; {COPY}')
        assert p.returncode == 0, p.stderr
        told, have = who_is_told_of(FILE, *columns)
        copies = {pid for pid, exe in told if exe.endswith('/dd')}
        assert len(copies) == 2 and copies <= have, (experiments, told, have)
        assert len(set(told)) == len(told), (experiments, told)


# Its first thread waits, so that others are told of before it.
WRITERS = ('import os, threading\n'
           'def write(fd):\n'
           '    while True: os.write(fd, b"x")\n'
           'for i in range(3):\n'
           '    threading.Thread(target=write, args=[os.open("/dev/null", os.O_WRONLY)]).start()\n')


@test
def several_sums_of_what_runs_already_tell_of_it_once():
    with subprocess.Popen([sys.executable, '-S', '-c', WRITERS]) as child:
        try:
            for _ in range(20):  # until it got to run
                p = dwell('attach', '-q', '-p', str(child.pid), '-e', 'states,io', '-d', '0.5',
                          '-o', FILE)
                assert p.returncode == 0, p.stderr
                told, have = who_is_told_of(FILE, RUNS, ('io-calls',))
                if have:
                    break
        finally:
            child.kill()
    assert [pid for pid, _ in told] == [child.pid] and have == {child.pid}, (told, have)


def main():
    if not IS_ROOT:
        return skip_all('only root may load BPF programs')
    p = dwell('run', '-e', 'states', '-o', os.path.join(DIR, 'probe'), 'true')
    if p.returncode != 0:
        return skip_all(p.stderr.strip().splitlines()[-1])
    return run_all(TESTS, words=sys.argv[3:])


sys.exit(main())
