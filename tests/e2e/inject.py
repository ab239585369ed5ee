#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tracing experiments on processes that already run: their calls are counted from then on,
they do not notice, and afterwards nothing of them leads through dwell.
usage: inject.py DWELL PROGRAM_DIR [WORD...]"""
import contextlib
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

import harness
import visiting
from harness import DIR, dwell, fact, need, report, run_all, test
from visiting import (LIMIT_S, PLACE, attached, check_left, check_lives, heap_of, is_answered, is_free, is_traced_by, meeting_place,
                      n_led, numbers, obeying, read_url, redis_server, refusal, server, text_of, wait_until)

PROGRAMS = os.path.abspath(sys.argv[2])
VISITED = f'{PROGRAMS}/e2e-visited'
MORE = f'{PROGRAMS}/libe2e-visited-more.so'


class Visited(visiting.Program):
    """Says at its end whether something was not as it was."""

    def __init__(self, *args, variant=''):
        super().__init__(VISITED + variant, *args)

    def end(self):
        if not self.process.stdin.closed:
            said = self.tell('wrong')
            assert said.startswith('0 wrong'), said
        super().end()


def visited(*args, **more):
    return obeying(Visited(*args, **more))


def check_complete(path):
    r = report(path)
    for name in 'lost-events', 'damaged-records', 'unmatched-frees', 'unseen-frees':
        assert not fact(r, name, 'loss'), (name, fact(r, name, 'loss'))


# What visited.c says of calls(): blocks of 2000 + 4 + 3 + 2 + 1, of which 2000 + 5 are given
# back, and of the others 4 have 3000 bytes.
CALLS = (2010, 2005, 5, 4 * 3000 + len('left behind') + 1)


@test
def calls_from_begin_to_end_are_counted_and_no_others():
    path = f'{DIR}/calls.dwell'
    with visited() as p:
        p.tell('calls')
        with attached(p.pid, path):
            p.tell('calls')
            place = meeting_place(p.pid)
        check_left(p.pid)
        assert not os.path.exists(place)
        p.tell('calls')
    processes = heap_of(path)
    assert len(processes) == 1 and numbers(processes[0]) == CALLS, processes
    check_complete(path)
    said = ' '.join(dwell('heap', path).stdout.split())
    assert 'not given back so far (lost or not: not known, as it ran before' in said, said
    assert 'Not given back so far: ' in said and 'ever given back' not in said, said


@test
def how_long_it_stood_is_told_and_is_less_than_all_it_took():
    path = f'{DIR}/stood.dwell'
    with visited() as p:
        since = time.monotonic_ns()
        with attached(p.pid, path):
            p.tell('calls')
        took = time.monotonic_ns() - since
    stood = fact(report(path), 'stopped', 'rate')
    assert 0 < stood < took, (stood, took)


@test
def stacks_are_those_of_the_callers():
    path = f'{DIR}/stacks.dwell'
    with visited() as p, attached(p.pid, path):
        p.tell('calls')
    rows = {r['name']: r['inclusive'].get('allocations', 0) for r in report(path)['rows']}
    assert rows['in_thread'] == 2000 and rows['calls'] == 10, rows


@test
def a_process_that_is_busy_is_attached_to_a_hundred_times():
    with visited('busy') as p:
        for i in range(100):
            r = dwell('attach', '-e', 'heap', '-p', str(p.pid), '-d', '0.02', '-o', f'{DIR}/often.dwell')
            assert r.returncode == 0, (i, r.stderr)
            assert is_free(p.pid)
        check_left(p.pid)
        places = [line for line in text_of(p.pid, 'maps').splitlines() if int(line.split('-')[0], 16) in PLACE]
        assert len(places) <= 6, places  # at most one more library than is needed


def mapped_bytes(pid):
    """By the program and for it, but for the place of the library."""
    ranges = [[int(end, 16) for end in line.split()[0].split('-')] for line in text_of(pid, 'maps').splitlines()]
    return sum(hi - lo for lo, hi in ranges if lo not in PLACE)


@test
def nothing_is_left_that_adds_up():
    with visited() as p:
        p.tell('calls')
        before = mapped_bytes(p.pid)
        for i in range(3):
            with attached(p.pid, f'{DIR}/adds-{i}.dwell', '-e', 'heap,sync,regions,fpe'):
                pass
            check_left(p.pid)
        assert mapped_bytes(p.pid) == before, text_of(p.pid, 'maps')


@test
def a_library_that_is_loaded_later_is_traced_from_its_first_call():
    path = f'{DIR}/later.dwell'
    with visited() as p:
        with attached(p.pid, path):
            p.tell(f'open {MORE}')
        check_left(p.pid)
    rows = {r['name']: r['inclusive'].get('allocations', 0) for r in report(path)['rows']}
    assert rows['take'] == 400, rows


@test
def a_process_that_is_named_twice_is_traced_once():
    path = f'{DIR}/twice.dwell'
    with visited() as p:
        with attached(p.pid, path, '-e', 'heap', '-p', str(p.pid)):
            p.tell('calls')
    processes = heap_of(path)
    assert len(processes) == 1 and numbers(processes[0]) == CALLS, processes


@test
def a_child_is_traced_and_left_with_its_parent():
    path = f'{DIR}/child.dwell'
    with visited() as p:
        with attached(p.pid, path):
            child = int(p.tell('fork').split()[-1])
            assert n_led(child)
        check_left(p.pid)
        check_left(child)
    both = heap_of(path)
    assert sorted(numbers(x)[0] for x in both)[-1] >= 7, both
    rows = {r['name']: r['inclusive'].get('allocations', 0) for r in report(path)['rows']}
    assert rows['in_child'] == 7, rows


@test
def a_program_whose_dwell_is_killed_goes_on_and_can_be_attached_to_again():
    path = f'{DIR}/killed.dwell'
    with visited('busy') as p:
        with harness.beside(harness.DWELL, 'attach', '-e', 'heap', '-p', str(p.pid), '-o', path,
                            stderr=subprocess.DEVNULL) as d:
            wait_until(lambda: is_traced_by(p.pid, d.pid), 'it does not begin')
            d.kill()

        def rounds():
            return int(p.tell('wrong').split()[3])
        was = rounds()
        wait_until(lambda: rounds() > was + 10000, 'it does not go on')
        with attached(p.pid, f'{DIR}/again.dwell'):
            p.tell('calls')
        check_left(p.pid)
    assert numbers(heap_of(f'{DIR}/again.dwell')[0])[0] >= CALLS[0]


@test
def a_program_that_forbids_itself_system_calls_meanwhile_lives_on():
    path = f'{DIR}/box.dwell'
    for what in 'box', 'box thread', 'box child':
        with visited() as p:
            with attached(p.pid, path):
                child = int(p.tell(what).split()[-1])
                p.tell('calls')
            check_lives(p.pid)
            if child:
                check_lives(child)
            p.tell('calls')
        assert sum(numbers(x)[0] for x in heap_of(path)) >= CALLS[0], what


@test
def a_child_that_has_ended_is_in_no_others_way():
    with visited() as p:
        with attached(p.pid, f'{DIR}/ended.dwell'):
            p.tell('ended')
            child = int(p.tell('fork').split()[-1])
            assert n_led(child)
        check_left(p.pid)
        check_lives(child)


def children_of(pid):
    found = []
    for name in os.listdir('/proc'):
        with contextlib.suppress(OSError):
            if name.isdigit() and int(text_of(name, 'stat').rpartition(')')[2].split()[1]) == pid:
                found.append(int(name))
    return found


@test
def children_are_left_that_are_made_meanwhile_or_whose_parents_have_ended():
    with visited() as p:
        with attached(p.pid, f'{DIR}/many.dwell'):
            orphan = int(p.tell('orphan').split()[-1])
            assert n_led(orphan)
            parent = int(p.tell('litter').split()[-1])
        wait_until(lambda: len(children_of(parent)) == 40, 'they are not made')
        for pid in p.pid, orphan, parent, *children_of(parent):
            check_lives(pid)


@test
def a_child_that_is_older_is_left_as_it_was_found():
    with visited() as p:
        child = int(p.tell('fork').split()[-1])
        with attached(p.pid, f'{DIR}/two.dwell', '-e', 'heap', '-p', str(child)):
            wait_until(lambda: n_led(child), 'it does not begin')
        check_lives(p.pid)
        check_lives(child)


@contextlib.contextmanager
def all_attached(pid, path, *args):
    """dwell, which answers when it has begun with all descendants."""
    with attached(pid, path, *args):
        wait_until(lambda: dwell('ctl', 'status', str(pid)).returncode == 0, 'it does not begin')
        yield


def waits_below(shell, child):
    """It is no copy of the shell any more, and what it reads does not come."""
    return text_of(child, 'cmdline') not in ('', text_of(shell, 'cmdline')) and harness.is_asleep(child)


def below_a_shell(*commands):
    """A shell that waits for the last one, which obeys; the others beside it read what never comes."""
    *others, last = commands
    never = f'{DIR}/never'
    if not os.path.exists(never):
        os.mkfifo(never)
    line = ''.join(f'{c} <>{never} >/dev/null & pids="$pids $!"; ' for c in others) + f'{last}; kill $pids; exit 0'
    p = visiting.Program('sh', '-c', line.replace('kill $pids; ', '' if not others else 'kill $pids; '))
    wait_until(lambda: [waits_below(p.pid, c) for c in children_of(p.pid)] == [True] * len(commands), 'they do not begin')
    return obeying(p)


@test
def descendants_that_run_already_are_traced_and_left():
    path = f'{DIR}/below.dwell'
    with below_a_shell(VISITED) as p:
        child, = children_of(p.pid)
        with all_attached(p.pid, path):
            assert n_led(child)
            p.tell('calls')
        check_lives(p.pid)
        check_lives(child)
        p.tell('calls')
    assert CALLS in map(numbers, heap_of(path)), heap_of(path)
    check_complete(path)
    assert not fact(report(path), 'not-followed', 'loss')


@test
def copies_of_many_are_looked_for_at_once():
    need('strace')
    log = f'{DIR}/many.strace'
    with below_a_shell(*['cat'] * 11, VISITED) as p:
        subprocess.run(['strace', '-f', '-o', log, '-e', 'trace=openat', harness.DWELL, 'attach', '-q', '-e', 'heap', '-p', str(p.pid),
                        '-d', '0.1', '-o', f'{DIR}/many-below.dwell'], check=True, timeout=LIMIT_S)
        for pid in p.pid, *children_of(p.pid):
            check_lives(pid)
    with open(log, encoding='ascii', errors='replace') as f:
        opened = re.findall(r'"/proc/(\d+)/mem"', f.read())
    # Of one that is none of them.
    assert 0 < opened.count(str(os.getpid())) <= 2, opened.count(str(os.getpid()))


@test
def a_process_of_one_thread_stands_once_when_it_is_attached_to_and_once_when_it_is_left():
    need('strace')
    log = f'{DIR}/once.strace'
    with below_a_shell('cat', VISITED) as p:
        alone = [pid for pid in (p.pid, *children_of(p.pid)) if len(os.listdir(f'/proc/{pid}/task')) == 1]
        subprocess.run(['strace', '-f', '--seccomp-bpf', '-o', log, '-e', 'trace=ptrace', harness.DWELL, 'attach', '-q', '-e', 'heap',
                        '-p', str(p.pid), '-d', '0.1', '-o', f'{DIR}/once.dwell'], check=True, timeout=LIMIT_S)
        for pid in p.pid, *children_of(p.pid):
            check_lives(pid)
    with open(log, encoding='ascii', errors='replace') as f:
        seized = re.findall(r'PTRACE_SEIZE, (\d+)', f.read())
    assert len(alone) >= 2 and all(seized.count(str(pid)) == 2 for pid in alone), (alone, seized)


# Children that cannot be stopped: each waits for a child of its own, which waits to open a file.
STUCK = """
import os, sys
for i in range(N):
    if not os.fork():
        os.posix_spawn('/bin/true', ['true'], {}, file_actions=[(os.POSIX_SPAWN_OPEN, 9, sys.argv[1], os.O_RDONLY, 0)])
        os.write(1, b'loose\\n')
        os.read(0, 1)
        os._exit(0)
print('ready', flush=True)
os.read(0, 1)
os._exit(0)
"""


def told_to_stop(log):
    """Of strace's: the processes that were seized before the first of them was told so again, as it did not."""
    seen = []
    for line in log:
        what, tid = re.search(r'ptrace\(PTRACE_(SEIZE|INTERRUPT), (\d+)', line).groups()
        if what == 'INTERRUPT' and seen.count(tid) == 2:
            break
        seen.append(tid)
    return len(set(seen))


@test
def several_are_waited_for_at_once_but_not_all():
    need('strace')
    log, fifo, n = f'{DIR}/stuck.strace', f'{DIR}/stuck', 20
    os.mkfifo(fifo)
    script = STUCK.replace('N', str(n), 1)
    with subprocess.Popen([sys.executable, '-c', script, fifo], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as p:
        try:
            assert p.stdout.readline() == 'ready\n'
            children = children_of(p.pid)
            wait_until(lambda: all('State:\tD' in text_of(c, 'status') for c in children), 'they are not stuck')
            subprocess.run(['strace', '-f', '--seccomp-bpf', '-o', log, '-e', 'trace=ptrace', harness.DWELL, 'attach', '-q', '-e', 'heap',
                            '-p', str(p.pid), '-d', '0.1', '-o', f'{DIR}/stuck.dwell'], check=True, timeout=LIMIT_S)
            with open(fifo, 'wb', 0):
                said = [p.stdout.readline() for _ in range(n)]
                assert said == ['loose\n'] * n, said
            for pid in p.pid, *children:
                check_lives(pid)
        finally:
            p.stdin.close()
            p.wait(LIMIT_S)
    with open(log, encoding='ascii', errors='replace') as f:
        asked = [line for line in f if re.search(r'PTRACE_(SEIZE|INTERRUPT)', line)]
    asked = [line for line in asked if re.search(r'\d+', line.partition('PTRACE_')[2]).group() in map(str, children)]
    assert told_to_stop(asked) > 1, asked
    assert len({line.split()[0] for line in asked}) <= 16, asked  # threads of ours, of which each waits for one


@test
def descendants_stay_alone_where_they_are_not_to_be_followed():
    with below_a_shell(VISITED) as p:
        child, = children_of(p.pid)
        with all_attached(p.pid, f'{DIR}/alone.dwell', '-e', 'heap', '--follow', 'off'):
            assert not n_led(child)


@test
def a_descendant_that_cannot_be_traced_is_named_and_the_others_are():
    path = f'{DIR}/refused-below.dwell'
    with below_a_shell(f'{VISITED}-static', VISITED) as p:
        with all_attached(p.pid, path):
            p.tell('calls')
        for pid in p.pid, *children_of(p.pid):
            check_lives(pid)
    assert CALLS in map(numbers, heap_of(path)), heap_of(path)
    source, = report(path)['sources']
    refused, = source['not_followed']
    assert refused['program'].endswith('/e2e-visited-static') and 'statically linked' in refused['why'], refused
    said = ' '.join(dwell('heap', path).stdout.split())
    assert 'not followed: e2e-visited-sta: it is statically linked' in said, said


@test
def only_what_was_executed_later_is_said_to_be():
    path = f'{DIR}/ourselves.dwell'
    subprocess.run(['sh', '-c', f'{harness.DWELL} attach -q -e heap -p $$ -d 0.3 -o {path}; exit 0'], check=True, timeout=LIMIT_S)
    assert 'not_followed' not in report(path)['sources'][0], report(path)['sources']
    # Waits are seen by others, too, where these may be had.
    path = f'{DIR}/dispensable.dwell'
    with below_a_shell(f'{VISITED}-static', VISITED) as p:
        with all_attached(p.pid, path, '-e', 'sync'):
            time.sleep(.3)
    named = report(path)['sources'][0].get('not_followed', [])
    assert all('executed' not in x['why'] for x in named), named


# Children that live for a while, one after the other.
FORKING = """
import os, signal, time
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
print('ready', flush=True)
while os.getppid() == PARENT:
    if not os.fork():
        until = time.time() + 2
        while time.time() < until:
            bytearray(5000)
            time.sleep(.001)
        os._exit(0)
    time.sleep(.005)
"""


@test
def none_is_lost_of_those_that_fork_meanwhile():
    path = f'{DIR}/forking.dwell'
    script = FORKING.replace('PARENT', str(os.getpid()))
    with subprocess.Popen([sys.executable, '-c', script], stdout=subprocess.PIPE, text=True) as p:
        try:
            assert p.stdout.readline() == 'ready\n'
            wait_until(lambda: len(children_of(p.pid)) > 20, 'they are not made')
            with all_attached(p.pid, path):
                n_missed = 0
                for child in children_of(p.pid):
                    with contextlib.suppress(OSError):
                        n_missed += not n_led(child) and bool(text_of(child, 'maps'))  # one that ends has none
            left = children_of(p.pid)
            for pid in p.pid, *left:
                with contextlib.suppress(OSError):  # it may have ended by now
                    check_left(pid)
        finally:
            p.kill()
    assert n_missed == 0, n_missed
    assert not fact(report(path), 'not-followed', 'loss')


# A child that has ended as far as it can: it is the first in a namespace of processes, and
# waits for the other one there, which only we are to wait for.
ENDING = """
import ctypes, os, sys, time
if ctypes.CDLL(None).unshare(0x20000000):
    sys.exit('not allowed')
first = os.fork()
if not first:
    time.sleep(60)
other = os.fork()
if not other:
    time.sleep(60)
os.kill(first, 9)
os.waitid(os.P_PID, other, os.WEXITED | os.WNOWAIT)
print(first, flush=True)
sys.stdin.read()
"""


@test
def a_child_that_is_about_to_end_is_not_taken_for_one_that_cannot_be_traced():
    path = f'{DIR}/ending.dwell'
    with subprocess.Popen([sys.executable, '-c', ENDING], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as p:
        child = p.stdout.readline().strip()
        if not child:
            raise harness.Skip('no namespace of processes can be had')
        assert 'State:\tZ' not in text_of(child, 'status') and not text_of(child, 'maps')
        with all_attached(p.pid, path):
            pass
        p.stdin.close()
    assert not fact(report(path), 'not-followed', 'loss'), report(path)['sources']


@test
def processes_of_two_users_are_traced_in_one_recording():
    if not harness.IS_ROOT:
        raise harness.Skip('only root may become others')
    need('setpriv')
    path = f'{DIR}/users.dwell'
    other = f'setpriv --reuid 65534 --clear-groups {VISITED}'
    with obeying(visiting.Program('sh', '-c', f'{other}; exit 0')) as p:
        child, = children_of(p.pid)
        with all_attached(p.pid, path):
            p.tell('calls')
            assert meeting_place(p.pid) != meeting_place(child)
        check_lives(p.pid)
        check_lives(child)
    assert CALLS in map(numbers, heap_of(path)), heap_of(path)
    check_complete(path)


@test
def other_experiments_are_recorded_of_what_nothing_can_be_put_into():
    path = f'{DIR}/others.dwell'
    with visited('busy', variant='-static') as p:
        d = dwell('attach', '-e', 'usertime,heap', '-p', str(p.pid), '-d', '0.5', '-o', path)
        assert d.returncode == 0, d.stderr
        assert 'not recorded: heap: process' in d.stderr and 'statically linked' in d.stderr, d.stderr
    assert report(path)['total']['cpu-time'] > 1e8, report(path)['total']


@test
def who_is_within_when_it_is_left_goes_on_and_is_in_no_ones_way():
    with visited() as p:
        for i in range(4):
            with attached(p.pid, f'{DIR}/within-{i}.dwell'):
                p.tell('park')
            check_left(p.pid)
            assert '/control' in text_of(p.pid, 'maps')  # nothing is taken from under it
        with attached(p.pid, f'{DIR}/within.dwell'):
            p.tell('calls')
            p.tell('go')
            p.tell('calls')
        check_left(p.pid)
        p.tell('calls')
    assert numbers(heap_of(f'{DIR}/within.dwell')[0])[0] >= 2 * CALLS[0]


@test
def a_program_that_ends_by_itself_is_no_trouble():
    path = f'{DIR}/itself.dwell'
    with visited() as p:
        with harness.beside(harness.DWELL, 'attach', '-e', 'heap', '-p', str(p.pid), '-o', path,
                            stderr=subprocess.PIPE, text=True) as d:
            wait_until(lambda: d.poll() is not None or is_traced_by(p.pid, d.pid), 'it does not begin')
            p.tell('calls')
            p.end()
            said = d.communicate(timeout=LIMIT_S)[1]
            assert d.returncode == 0 and 'goes on' not in said, said
        assert numbers(heap_of(path)[0])[0] >= CALLS[0]


def n_waits(pid):
    return int(re.search(r'^voluntary_ctxt_switches:\s*(\d+)', text_of(pid, 'status'), re.M).group(1))


@test
def a_recorder_that_stalls_is_not_taken_for_dead_by_a_program_that_may_not_ask():
    path = f'{DIR}/stalls.dwell'
    with visited() as p:
        with attached(p.pid, path) as d:
            p.tell('user')
            d.send_signal(signal.SIGSTOP)
            try:
                for _ in range(200):  # more than there is room for
                    p.tell('calls')
            finally:
                d.send_signal(signal.SIGCONT)
            stood = n_waits(d.pid)
            wait_until(lambda: n_waits(d.pid) > stood + 20, 'dwell does not go on')
            p.tell(f'open {MORE}')
        check_left(p.pid)
    r = report(path)
    assert fact(r, 'lost-events', 'loss')
    rows = {r['name']: r['inclusive'].get('allocations', 0) for r in r['rows']}
    assert rows.get('take', 0) > 0, rows


@test
def where_a_thread_cannot_be_stopped_the_others_do_not_notice():
    with visited('busy') as p:
        p.tell('stick')
        try:
            assert 'does not stop' in refusal('-e', 'heap', '-p', str(p.pid))
        finally:
            p.tell('loosen')
        with attached(p.pid, f'{DIR}/loose.dwell'):
            pass
        check_left(p.pid)


@test
def it_goes_beside_samples():
    path = f'{DIR}/both.dwell'
    with visited('busy') as p:
        with attached(p.pid, path, '-e', 'usertime,heap'):
            p.tell('calls')
            time.sleep(0.3)
        check_left(p.pid)
    r = report(path)
    events = {e for row in r['rows'] for e in row['inclusive']}
    assert {'cpu-time', 'allocations'} <= events, events
    assert len(heap_of(path)) == 1


@test
def what_cannot_be_done_is_said_in_a_line():
    need('strace')
    with visited() as p, attached(p.pid, f'{DIR}/first.dwell'):
        assert 'traces it already' in refusal('-e', 'heap', '-p', str(p.pid))
    with visited() as p:
        p.tell('box thread')
        assert 'seccomp' in refusal('-e', 'heap', '-p', str(p.pid))
    for variant, why in ('-static', 'statically linked'), ('-musl', 'its C library'):
        if os.path.exists(VISITED + variant):
            with visited(variant=variant) as p:
                assert why in refusal('-e', 'heap', '-p', str(p.pid)), variant
    with visited() as p, harness.beside('strace', '-p', str(p.pid), stderr=subprocess.DEVNULL) as s:
        wait_until(lambda: not is_free(p.pid), 'strace does not begin')
        assert f'process {s.pid} traces it' in refusal('-e', 'heap', '-p', str(p.pid))
        s.terminate()


def attach_often(pid, ask, name, times=5):
    want = ask()
    for i in range(times):
        path = f'{DIR}/{name}-{i}.dwell'
        with attached(pid, path):
            for _ in range(20):
                assert ask() == want
        check_left(pid)
        assert ask() == want
    assert sum(numbers(x)[0] for x in heap_of(path)) > 0, heap_of(path)
    check_complete(path)


@test
def a_python_server_answers_as_before():
    directory = tempfile.mkdtemp(dir=DIR)
    with open(f'{directory}/page', 'w', encoding='ascii') as f:
        f.write('hello ' * 1000)
    port = str(20000 + os.getpid() % 20000)

    def ask():
        return read_url(f'http://127.0.0.1:{port}/page')
    with server(sys.executable, '-m', 'http.server', port, '--bind', '127.0.0.1', cwd=directory) as p:
        wait_until(lambda: is_answered(ask), 'it does not listen')
        attach_often(p.pid, ask, 'python')


@test
def a_redis_server_answers_as_before():
    with redis_server('set a 1\nlpush l 1 2 3\ndel l\nget a\n') as (p, ask):
        attach_often(p.pid, ask, 'redis')


if __name__ == '__main__':
    if visiting.why_not():
        sys.exit(harness.skip_all(visiting.why_not()))
    sys.exit(run_all(harness.TESTS, words=sys.argv[3:]))
