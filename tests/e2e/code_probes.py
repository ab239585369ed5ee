#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Places in the code of programs as triggers: compared with what a workload is known to do,
and with the kernel's own counts of the same places.
usage: code_probes.py DWELL WORKLOAD_DIR PROGRAM_DIR"""
import collections
import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import time

import harness
import oracles
import placed
from daemons import daemon
from harness import DIR, IS_ROOT, TESTS, Skip, dwell, need, run_all, skip_all, test
from placed import FILE, Paced, are_refused, depths, record

REACHED = os.path.join(os.path.abspath(sys.argv[3]), 'e2e-reached')
NAME = os.path.basename(REACHED)
PATIENCE = 120
SETTLING = 20  # calls of each function while the tables are read


def spec(*probes):
    """KIND:PLACE, of the workload, as an option."""
    return ','.join(f'trigger:{kind}:{REACHED}:{place}'
                    for kind, place in (p.split(':', 1) for p in probes))


def totals(*options):
    return placed.totals(NAME, *options)


@test
def calls_and_returns_are_counted_and_their_values_summed():
    record(spec('uprobe:fib.arg1', 'uretprobe:fib.return', 'uprobe:adds.arg2',
                'uretprobe:adds.return'), REACHED, 'known')
    t = totals()
    calls = 2 * 987 - 1  # of fib(15): 2 fib(16) - 1
    assert t['uprobe:fib'] == t['uretprobe:fib'] == calls + SETTLING, t
    args = collections.Counter({15: 1})
    for n in range(15, 1, -1):
        args[n - 1] += args[n]
        args[n - 2] += args[n]
    fib = [0, 1]
    while len(fib) < 16:
        fib.append(fib[-1] + fib[-2])
    assert sum(args.values()) == calls
    args[1] += SETTLING
    values = sum(k * fib[n] for n, k in args.items())
    assert t['uprobe:fib.arg1'] == sum(n * k for n, k in args.items()), t
    assert t['uretprobe:fib.return'] == values, (t, values)
    # Negative values are counted, not summed: -3 i, and i - 3 i.
    assert t['uprobe:adds'] == t['uretprobe:adds'] == 1000 + SETTLING, t
    assert t['uprobe:adds.arg2'] == 0 and t['uprobe:adds.arg2<0'] == 999, t
    assert t['uretprobe:adds.return<0'] == 999, t


@test
def values_of_32_bit_programs_are_where_their_calls_have_them():
    path = f'{REACHED}32'
    if not os.path.exists(path):
        raise Skip('no 32-bit program could be built here')
    places = ('uprobe:{}:adds.arg1', 'uprobe:{}:adds.arg2', 'uretprobe:{}:adds.return',
              'usdt:{}:narrow:pass.arg1', 'usdt:{}:narrow:pass.arg2')
    record(','.join('trigger:' + p.format(path) for p in places), path)
    t = placed.totals(os.path.basename(path))
    sums, below = {}, {}
    for n in range(1000):
        values = (n, -3 * n, n - 3 * n + 1000, -n, 7)
        for place, value in zip(places, values):
            name = place.format('').replace('::', ':')
            sums[name] = sums.get(name, 0) + max(value, 0)
            below[name + '<0'] = below.get(name + '<0', 0) + (value < 0)
    del below['usdt:narrow:pass.arg2<0']  # which has no sign
    for name, n in {**sums, **below}.items():
        assert t[name] == n, (name, n, t)
    assert t['uretprobe:adds'] == 1000, t
    are_refused([(f'uprobe:{path}:adds.arg9', 'not in one known place')])


@test
def stacks_of_returns_reach_through_returns_that_are_probed():
    record(spec('uprobe:fib', 'uretprobe:fib'), REACHED, 'known')
    entered = depths(f'uprobe:{NAME}:fib', 'fib', SETTLING)
    returned = depths(f'uretprobe:{NAME}:fib', 'fib', SETTLING)
    assert sum(entered.values()) == 1973 and max(entered) == 15, entered
    # A function that has returned is on its stack no more.
    assert returned == {depth - 1: n for depth, n in entered.items()}, (entered, returned)


@test
def what_is_left_by_a_jump_does_not_confuse():
    record(spec('uprobe:deep', 'uretprobe:deep', 'uprobe:fib', 'uretprobe:fib'), REACHED, 'jumps')
    t = totals()
    assert t['uprobe:deep'] == 600 and not t.get('uretprobe:deep'), t
    assert t['uprobe:fib'] == t['uretprobe:fib'] == 2 * 89 - 1 + SETTLING, t
    assert depths(f'uprobe:{NAME}:deep', 'deep') == {k: 100 for k in range(1, 7)}
    entered = depths(f'uprobe:{NAME}:fib', 'fib', SETTLING)
    returned = depths(f'uretprobe:{NAME}:fib', 'fib', SETTLING)
    assert returned == {depth - 1: n for depth, n in entered.items()}, (entered, returned)


@test
def a_place_inside_of_a_function_is_counted():
    need('objdump')
    text = subprocess.run(['objdump', '-d', '--no-show-raw-insn', '--disassemble=adds', REACHED],
                          capture_output=True, text=True, check=True).stdout
    places = [int(a, 16) for a in re.findall(r'^ *([0-9a-f]+):\t(?!nop)', text, re.M)]
    last = places[-1] - places[0]  # where it returns
    record(spec(f'uprobe:adds+{last}'), REACHED, 'known')
    assert totals()[f'uprobe:adds+{last}'] == 1000 + SETTLING, totals()
    inside = next(k for k in range(1, last) if places[0] + k not in places)
    p = dwell('run', '-e', spec(f'uprobe:adds+{inside}'), '--', 'true')
    assert p.returncode == 2 and 'no instruction begins' in p.stderr, p.stderr


@test
def threads_and_children_count():
    record(spec('uprobe:adds.arg1'), REACHED, 'crowd')
    assert totals() == {'uprobe:adds': 80000, 'uprobe:adds.arg1': 80000,
                        'uprobe:adds.arg1<0': 0}, totals()
    record(spec('uprobe:adds.arg1'), REACHED, 'family')
    t = totals()
    assert (t['uprobe:adds'], t['uprobe:adds.arg1']) == (300, 3 * 4950), t


def place_of(path, function):
    """Where a file has a function, by other programs' word."""
    need('nm', 'readelf')
    names = subprocess.run(['nm', '-D', path], capture_output=True, text=True, check=True).stdout
    at = int(re.search(rf'^([0-9a-f]+) \w {function}@@', names, re.M)[1], 16)
    text = subprocess.run(['readelf', '-lW', path], capture_output=True, text=True,
                          check=True).stdout
    for line in text.splitlines():
        cells = line.split()
        if cells[:1] == ['LOAD']:
            offset, address, size = (int(cells[i], 16) for i in (1, 2, 4))
            if address <= at < address + size:
                return at - address + offset
    raise AssertionError(function)


def tell_kernel(line):
    fd = os.open('/sys/kernel/tracing/uprobe_events', os.O_WRONLY | os.O_APPEND)
    try:
        os.write(fd, line.encode('ascii'))
    finally:
        os.close(fd)


@contextlib.contextmanager
def event_of_the_kernel(path, function):
    """GROUP:NAME of a probe of the kernel's own there."""
    name = f'dwell_test_{os.getpid()}/{function}'
    place = place_of(path, function)
    try:
        tell_kernel(f'p:{name} {path}:0x{place:x}\n')
    except OSError as why:
        raise Skip(f'no events of the kernel: {why}') from why
    try:
        yield name.replace('/', ':')
    finally:
        tell_kernel(f'-:{name}\n')


@test
def a_librarys_function_is_counted_as_the_kernel_does():
    with open('/proc/self/maps', encoding='ascii') as f:
        libc = os.path.realpath(re.search(r'/\S*/libc\.so\.6', f.read())[0])
    command = (*oracles.STILL, 'ls', '-lR', '/usr/share/doc/bash', '/etc/apt')
    with event_of_the_kernel(libc, 'malloc') as event:
        told = oracles.counts_by_perf([event], *command)[event]
    p = dwell('run', '-q', '-e', f'trigger:uprobe:{libc}:malloc.arg1', '-o', FILE, '--', *command,
              env=oracles.ENVIRONMENT)
    assert p.returncode == 0, p.stderr
    event = f'uprobe:{os.path.basename(libc)}:malloc'
    t = harness.report(FILE)['total']
    assert t[event] == told > 100, (t, told)
    assert t[event + '.arg1'] > t[event], t


@test
def what_runs_already_is_counted_from_then_on():
    victim = subprocess.Popen([REACHED, 'loops'], stdout=subprocess.PIPE)
    try:
        victim.stdout.read(1)  # it is there
        for options in (('-p', str(victim.pid)), ('-a',)):
            p = dwell('attach', '-q', '-e', spec('uprobe:adds.arg2'), '-o', FILE, '-d', '1',
                      *options)
            assert p.returncode == 0, p.stderr
            t = totals('--filter', f'pid == {victim.pid}')
            assert t['uprobe:adds.arg2'] == t['uprobe:adds'] > 1000, t
    finally:
        victim.kill()
        victim.wait()
        victim.stdout.close()


@test
def the_daemon_counts_them_in_every_epoch():
    own = os.path.join(DIR, f'reached{os.getpid()}')
    shutil.copy(REACHED, own)
    name = os.path.basename(own)
    with daemon('-e', f'trigger:uprobe:{own}:adds.arg2,trigger:uretprobe:{own}:adds') as d:
        paced = Paced(own)
        for n in (2, 3):
            for _ in range(n):
                paced.round()
            d.done('epoch', f'after {n}')
        paced.end()
        d.done('flush')
        for epoch, n in (('1', 2), ('2', 3)):
            p = dwell('report', '--json', '--db', d.db, '--epoch', epoch)
            t = json.loads(p.stdout)['total']
            assert t[f'uprobe:{name}:adds'] == t[f'uretprobe:{name}:adds'] == 1000 * n, t
            assert t[f'uprobe:{name}:adds.arg2'] == 1000 * n, t
        st = d.status()
        assert st['met-1'] == st['met-2'] == 5000, st
        assert st['probe-1'] == f'uprobe:{name}:adds', st


def stacks_in(d, event, function, *options):
    """[frames] of those that a function is in, but for those that came before the tables."""
    p = dwell('export', '-o', '-', 'folded', '--db', d.db, '--event', event, *options)
    lines = p.stdout.splitlines() if p.returncode == 0 else []
    stacks = [line.rsplit(' ', 1)[0].split(';') for line in lines]
    return [frames for frames in stacks
            if function in frames and 'not loaded yet' not in frames[0]]


LEAVES = (('cpu-time', 'burn'), ('sleep', 'nap'))


def dive_until(d, paced, what, is_enough):
    """Rounds, until that is so of what is in the database."""
    end = time.time() + PATIENCE
    while True:
        for _ in range(5):
            assert paced.round(what) == what
        d.done('flush')
        if is_enough():
            return
        assert time.time() < end, 'it is never there'


@test
def stacks_of_others_reach_through_returns_that_are_probed():
    own = os.path.join(DIR, f'dives{os.getpid()}')
    shutil.copy(REACHED, own)
    own_stacks = ('--filter', f'command == {os.path.basename(own)[:15]}')
    with daemon('-e', f'cpu-clock,states,trigger:uretprobe:{own}:dive') as d:
        paced = Paced(own, 'dives')
        # Until the tables of all code that is run are read, stacks end early.
        dive_until(d, paced, 'w', lambda: all(
            any('main' in frames for frames in stacks_in(d, event, leaf, *own_stacks))
            for event, leaf in LEAVES))
        d.done('epoch', 'dives')
        dive_until(d, paced, 'd', lambda: all(
            stacks_in(d, event, leaf, '--epoch', '2', *own_stacks) for event, leaf in LEAVES))
        paced.end()
        for event, leaf in LEAVES:
            for frames in stacks_in(d, event, leaf, '--epoch', '2', *own_stacks):
                assert frames.count('dive') == 6 and 'main' in frames, (event, frames)


@test
def what_is_wrong_is_said_in_one_line():
    data = os.path.join(DIR, 'text')
    with open(data, 'w', encoding='ascii') as f:
        f.write('no program\n')
    are_refused((
        ('uprobe', 'give one like'), ('uprobe:', 'give one like'),
        (f'uprobe:{REACHED}', 'give one like'), (f'uprobe:{REACHED}:', 'give one like'),
        (f'uprobe:{REACHED}:fibb', "did you mean 'fib'"),
        (f'uprobe:{REACHED}:zzzzzzzz', 'that its symbols name'),
        (f'uprobe:{REACHED}:adds+9999', 'no instruction'),
        (f'uretprobe:{REACHED}:adds+1', 'returns'),
        (f'uprobe:{REACHED}:adds.return', 'arg1'), (f'uretprobe:{REACHED}:adds.arg1', 'return'),
        (f'uprobe:{REACHED}:adds.arg0', 'not in one known place'),
        (f'uprobe:{REACHED}:adds.arg99', 'not in one known place'),
        (f'uprobe:{REACHED}:{"x" * 5000}', ''), (f'uprobe:{data}:main', ''),
        ('uprobe:/nowhere/at/all:main', 'No such file'),
        ('uprobe:no-such-program:main', "no program 'no-such-program'")))


if __name__ == '__main__':
    if not IS_ROOT:
        sys.exit(skip_all('only root may load BPF programs'))
    if not harness.may_record('probes', spec('uprobe:fib')):
        sys.exit(skip_all(dwell('run', '-n', '-e', spec('uprobe:fib'), '--', 'true').stderr.strip()))
    sys.exit(run_all(TESTS, words=sys.argv[4:]))
