#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What is counted exactly now and then of a program that runs natively otherwise.
usage: anchors.py DWELL DIRECTORY"""
import collections
import functools
import json
import math
import os
import re
import shutil
import signal
import subprocess
import sys
import time

import harness
from harness import dwell, test
from process_code import code_of

PROGRAM = os.path.abspath(sys.argv[2]) + '/e2e-anchored'
TURNS = 60000  # about four seconds
OFTEN = 10000  # the same, a thousand calls each
ALONE = 25000  # about two seconds, a hundred thousand rounds each: fewer than 32 bits have
SHORT = 1500  # a tenth of a second
SHORT_RUNS = 40
WINDOW_NS = 20e6  # is what the first is expected to cost
LIMIT_S = 60
BECOMING = 300  # of five milliseconds
CHOICES = 20000  # about two seconds
CLIMB = 41  # the same
OF_TURN = {'add_100000': 100000, 'divide_10000': 10000}  # what anchored.c does in each


def pairs(line):
    return dict(re.findall(r'([\w-]+)=("[^"]*"|\S+)', line), **({'near': True} if line.endswith(' near') else {}))


def cat(path, section):
    p = dwell('cat', '--section', section, path)
    assert p.returncode == 0, p
    return p.stdout.splitlines()


class Anchors:
    """Of the program's own code: windows and watched places by offset, and the CPU time outside of windows."""

    def __init__(self, path):
        images = [pairs(line)['path'].strip('"') for line in cat(path, 'images')]
        places = [(images[int(f['image'])], int(f['offset'], 16)) for f in map(pairs, cat(path, 'locations'))]
        self.windows, self.blocks, self.hits, self.watched_ns, self.native_ns = set(), collections.Counter(), collections.Counter(), collections.Counter(), 0
        self.n_near, self.near_ns, self.near_hits = 0, collections.Counter(), collections.Counter()
        for f in map(pairs, cat(path, 'anchors')):
            image, offset = places[int(f['location'])] if 'location' in f else (None, None)
            if image is None:
                self.native_ns += int(f['cpu'])
            elif 'near' in f:
                self.n_near += 1
                self.near_hits[offset] += int(f['times'])
                self.near_ns[offset] += int(f['cpu'])
            elif image == PROGRAM and int(f['size']):
                self.windows.add(int(f['window']))
                self.blocks[offset] += int(f['times'])
            elif image == PROGRAM:
                self.hits[offset] += int(f['times'])
                self.watched_ns[offset] += int(f['cpu'])


def functions():
    """{name: (first offset, offset behind)} of the program."""
    headers = subprocess.run(['readelf', '-lW', PROGRAM], stdout=subprocess.PIPE, text=True, check=True).stdout
    offset, address = re.search(r'LOAD\s+(\S+)\s+(\S+)\s+\S+\s+\S+\s+\S+\s+R E', headers).groups()
    lines = subprocess.run(['nm', '-S', PROGRAM], stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()
    rows = [line.split() for line in lines]
    delta = int(offset, 16) - int(address, 16)
    return {row[3]: (int(row[0], 16) + delta, int(row[0], 16) + int(row[1], 16) + delta) for row in rows if len(row) == 4 and row[2] in 'tT'}


def record(*options, turns=TURNS):
    path = f'{harness.DIR}/r.dwell'
    p = dwell('run', '-q', '-e', 'usertime,anchors:20%', *options, '-o', path, '--', PROGRAM, str(turns))
    assert p.returncode == 0 and p.stdout == dwell_free_output(turns), p
    return path


@functools.cache
def dwell_free_output(turns):
    return subprocess.run([PROGRAM, str(turns)], stdout=subprocess.PIPE, text=True, check=True).stdout


def most_executed(blocks, span):
    return max(n for offset, n in blocks.items() if span[0] <= offset < span[1])


@test
def windows_have_what_the_program_did():
    a = Anchors(record())
    assert len(a.windows) >= 4, a.windows
    spans = functions()
    loops = {name: most_executed(a.blocks, spans[name]) for name in OF_TURN}
    turns = sum(n for offset, n in a.blocks.items() if offset == spans['turn'][0])
    # A window begins and ends somewhere in a turn.
    for name, n in OF_TURN.items():
        assert abs(loops[name] / n - turns) <= 2 * len(a.windows), (loops, turns, a.windows)
    assert turns > 20 * len(a.windows), (turns, a.windows)


@test
def what_is_watched_is_all_of_it():
    """Of each turn that was done outside of windows, by the time that the places were watched."""
    a = Anchors(record())
    turns = a.blocks[functions()['turn'][0]]
    assert a.hits, 'no place was watched'
    for offset, n in a.hits.items():
        seen = n * a.native_ns / a.watched_ns[offset]
        # Chance, and a machine whose speed changes.
        assert n > 100 and abs(seen / (TURNS - turns) - 1) < .15, (hex(offset), n, seen, TURNS - turns)


@test
def calls_are_counted_all_of_the_time():
    """From the first window on, a call in each turn exactly."""
    a = Anchors(record())
    turns = a.blocks[functions()['turn'][0]]
    assert a.n_near, 'nothing is told of the moments near windows'
    offset, watched = max(a.watched_ns.items(), key=lambda row: row[1])
    assert watched > a.native_ns / 4, (watched, a.native_ns)
    assert a.hits[offset] <= TURNS - turns, (a.hits, turns)


def record_often(budget):
    path = f'{harness.DIR}/r.dwell'
    command = [PROGRAM, str(OFTEN), 'often']
    p = dwell('run', '-q', '--insn', '-e', f'usertime,anchors:{budget}%', '-o', path, '--', *command)
    assert p.returncode == 0 and p.stdout == subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout, p
    return path


@test
def what_comes_too_often_is_counted_for_moments():
    a = Anchors(record_often(2))
    offset, near_ns = max(a.near_ns.items(), key=lambda row: row[1])
    assert offset not in a.hits, (a.hits, a.watched_ns)
    assert a.near_hits[offset] > 1e4 and near_ns < a.native_ns, (a.near_hits, a.near_ns)


@test
def how_often_short_calls_come_is_told_by_them():
    """For moments, or all of the time where a processor takes next to nothing for a counter."""
    path = record_often(20)
    assert all(n <= 1000 * OFTEN for n in Anchors(path).hits.values())
    row = calc('add_1000', path)
    assert row['windows'] >= 5 and row['confidence'] in ('high', 'medium'), row
    assert_estimated(row, 1000 * OFTEN)


def blocks_of_rounds(kind, *loops):
    """There is nothing that comes rarely enough to be watched or to have a counter; each loop has as much: (its block, the truth)"""
    path, rounds = f'{harness.DIR}/r.dwell', ALONE * 100000
    p = dwell('run', '-q', '--insn', '-e', 'usertime,anchors:20%', '-o', path, '--', PROGRAM, str(ALONE), kind)
    assert p.returncode == 0 and int(p.stdout) == pow(3, rounds, 1 << 64), p
    a = Anchors(path)
    assert a.hits and sum(a.hits.values()) + sum(most_executed(a.blocks, functions()[f]) for f in loops) <= rounds, (a.hits, rounds)
    for function in loops:
        row = calc(function, path)
        assert row['windows'] >= 5, row
        yield max(row['blocks'], key=lambda b: b['times']), rounds / len(loops)


def assert_rounds_are_told(kind, loop):
    for block, rounds in blocks_of_rounds(kind, loop):
        assert block['confidence'] in ('high', 'medium') and abs(block['times'] / rounds - 1) < .15, (block, rounds)


@test
def loops_that_never_leave_themselves_are_told_by_registers():
    assert_rounds_are_told('alone', 'go_round')


@test
def where_registers_do_not_tell_words_of_the_stack_do():
    assert_rounds_are_told('stack', 'go_round_stack')


@test
def static_variables_tell_too():
    """Of 32 bits, that do not come round between windows."""
    assert_rounds_are_told('static', 'go_round_static')


@test
def a_loop_of_half_of_the_time_is_told_for_that():
    """Not for all of it, which was twice the truth and told with high confidence.  Where no place tells, windows do, as well as
    chance lets them; no range is wide enough to excuse twice the truth."""
    for block, rounds in blocks_of_rounds('phases', 'go_first', 'go_second'):
        assert_within_range(block, rounds)
        assert abs(math.log(block['times'] / rounds)) < .4, (block, rounds)
        assert block['confidence'] != 'high' or abs(block['times'] / rounds - 1) < .15, (block, rounds)


@test
def where_indirect_jumps_go_is_told():
    """Each operation's jump leads to others that are come to from several, so that their blocks do not tell."""
    path = f'{harness.DIR}/r.dwell'
    p = dwell('run', '-q', '--insn', '-e', 'usertime,anchors:20%', '-o', path, '--', PROGRAM, str(CHOICES), 'choose')
    assert p.returncode == 0, p
    blocks = calc('choose', path)['blocks']
    round_of = max(b['times'] for b in blocks) / 4
    told = [[w['times'] / round_of for w in b['ways'] if w['kind'] == 'table'] for b in blocks if b['times'] > round_of / 2]
    # How often in a round, of each operation's.
    shares = sorted(sorted(round(n, 2) for n in ways if n > .01) for ways in told if ways)
    assert shares == [[1], [1], [1, 1, 2], [2]], (shares, told)


def climb_calls(n):
    a, b = 0, 1
    for _ in range(n + 1):
        a, b = b, a + b
    return 2 * a - 1


@test
def calls_too_hot_for_any_counter_are_told_by_the_time_of_windows():
    """By how much slower programs are there, more or less."""
    path = f'{harness.DIR}/r.dwell'
    p = dwell('run', '-q', '--insn', '-e', 'usertime,anchors:20%', '-o', path, '--', PROGRAM, str(CLIMB), 'climb')
    assert p.returncode == 0, p
    a, row = Anchors(path), calc('climb_to', path)
    assert not a.hits and not a.near_hits, (a.hits, a.near_hits)
    assert row['windows'] >= 5 and row['confidence'] == 'low', row
    assert abs(math.log(row['times'] / climb_calls(CLIMB))) < .6 and .4 < math.log(row['times_high'] / row['times_low']) / 2 < .8, (row, climb_calls(CLIMB))


@test
def what_is_executed_in_a_window_has_not_its_counts():
    """One program executes another again and again, mostly in a window: each has its own code only."""
    path = f'{harness.DIR}/r.dwell'
    names = 'one', 'other'
    one, other = (shutil.copy(f'{os.path.dirname(PROGRAM)}/e2e-becoming', f'{harness.DIR}/{name}') for name in names)
    p = dwell('run', '-q', '-e', 'usertime,anchors:50%', '-o', path, '--', one, str(BECOMING), other)
    assert p.returncode == 0, p
    who = [pairs(line)['comm'].strip('"') for line in cat(path, 'processes')]
    images = [os.path.basename(pairs(line)['path'].strip('"')) for line in cat(path, 'images')]
    image_of = [images[int(pairs(line)['image'])] for line in cat(path, 'locations')]
    met = collections.Counter()
    for f in map(pairs, cat(path, 'anchors')):
        if 'location' in f and int(f['size']) and image_of[int(f['location'])] in names:
            met[who[int(f['process'])], image_of[int(f['location'])]] += 1
    assert set(met) == {(name, name) for name in names}, met


@test
def what_is_left_is_as_it_was():
    """Attached to for a while, a program goes on and tells what it would."""
    with subprocess.Popen([PROGRAM, str(2 * TURNS)], stdout=subprocess.PIPE, text=True) as program:
        before, hits = code_of(program.pid, PROGRAM), False
        for seconds in (1, 3, 9):
            path = f'{harness.DIR}/r.dwell'
            p = dwell('attach', '-q', '-e', 'usertime,anchors:50%', '--duration', f'{seconds}s', '-o', path, '-p', str(program.pid))
            assert p.returncode == 0, p
            hits = Anchors(path).hits
            if hits:
                break
        after = code_of(program.pid, PROGRAM)
        text, _ = program.communicate()
    assert before == after
    assert text == dwell_free_output(2 * TURNS) and program.returncode == 0, (text, program.returncode)
    assert hits, 'nothing had a counter'


def attached(pid, program=PROGRAM):
    """A recorder that has put counters into the program."""
    path = f'{harness.DIR}/r.dwell'
    before = code_of(pid, program)
    recorder = subprocess.Popen([harness.DWELL, 'attach', '-q', '-e', 'usertime,anchors:50%', '-o', path, '-p', str(pid)])
    end = time.time() + LIMIT_S
    while code_of(pid, program) == before:
        assert time.time() < end and recorder.poll() is None, 'nothing had a counter'
        time.sleep(0.01)
    return recorder, before


@test
def a_file_that_has_another_name_is_no_other_program():
    """Built anew while it runs, for instance."""
    copy = f'{harness.DIR}/copy-e2e-anchored'
    shutil.copy(PROGRAM, copy)
    with subprocess.Popen([copy, str(20 * TURNS)], stdout=subprocess.DEVNULL) as program:
        try:
            recorder, before = attached(program.pid, copy)
            os.remove(copy)
            time.sleep(3)  # in which there are windows
            recorder.send_signal(signal.SIGINT)
            assert recorder.wait(LIMIT_S) == 0
            assert code_of(program.pid, f'{copy} (deleted)') == before
            assert program.poll() is None
        finally:
            program.kill()


@test
def a_recorder_that_is_killed_leaves_it_running():
    with subprocess.Popen([PROGRAM, str(2 * TURNS)], stdout=subprocess.PIPE, text=True) as program:
        recorder, before = attached(program.pid)
        recorder.kill()
        recorder.wait(LIMIT_S)
        text, _ = program.communicate()
    assert text == dwell_free_output(2 * TURNS) and program.returncode == 0, (text, program.returncode)
    assert before


@test
def a_thread_that_does_not_stop_goes_on():
    """It is in vfork() when the first windows are due, and stands for nobody when it leaves it."""
    path = f'{harness.DIR}/r.dwell'
    turns = 2 * TURNS
    p = dwell('run', '-q', '-e', 'usertime,anchors:20%', '-o', path, '--', PROGRAM, str(turns), 'vfork')
    assert p.returncode == 0 and p.stdout == dwell_free_output(turns), p
    assert Anchors(path).windows, 'no window came afterwards'


def assert_within_range(row, truth):
    """A range has the truth in 19 of 20 cases; so far beyond it is none by chance."""
    off, width = math.log(row['times'] / truth), math.log(row['times_high'] / row['times_low']) / 2
    assert abs(off) < 3 * width, (off, width, row)


def assert_estimated(row, truth):
    assert_within_range(row, truth)
    assert abs(row['times'] / truth - 1) < .15, (row, truth)


def calc(name, path):
    p = dwell('calc', '--json', name, path)
    assert p.returncode == 0, p
    return json.loads(p.stdout)['rows'][0]


@test
def how_often_is_told_by_them():
    path = f'{harness.DIR}/r.dwell'
    p = dwell('run', '-q', '--insn', '-e', 'usertime,anchors:20%', '-o', path, '--', PROGRAM, str(TURNS))
    assert p.returncode == 0, p
    for name, n in OF_TURN.items():
        row = calc(name, path)
        often = max(b['times'] for b in row['blocks'])
        block = next(b for b in row['blocks'] if b['times'] == often)
        assert row['windows'] >= 5 and block['confidence'] in ('high', 'medium'), row
        assert_estimated(block, n * TURNS)
    assert 'by exact counts in' in dwell('calc', 'add_100000', path).stdout


def record_without_window():
    """Of a fifth of a second: most often it has none."""
    for _ in range(8):
        path = f'{harness.DIR}/r.dwell'
        p = dwell('run', '-q', '--insn', '-e', 'usertime,anchors:1%', '-o', path, '--', PROGRAM, '3000')
        assert p.returncode == 0, p
        if not Anchors(path).windows:
            return path
    raise AssertionError('each had a window')


@test
def without_enough_of_them_samples_alone_tell():
    row = calc('add_100000', record_without_window())
    assert 'windows' not in row and row['confidence'] == 'low', row


@test
def windows_are_none_of_the_time_that_is_sampled():
    path = record()
    total = float(re.search(r'([\d.]+) s of cpu-time', dwell('report', path).stdout).group(1))
    native = Anchors(path).native_ns / 1e9
    assert abs(total / native - 1) < .05, (total, native)
    images = [pairs(line)['path'] for line in cat(path, 'images')]
    assert not any('dwell-count' in image for image in images), images


@test
def what_a_pause_left_out_is_not_told():
    """Nor does it make anchors void: they are of the time that is sampled."""
    path = record('--delay', '1500ms', '--insn')
    total = float(re.search(r'([\d.]+) s of cpu-time', dwell('report', path).stdout).group(1))
    a = Anchors(path)
    assert a.windows and abs(total / (a.native_ns / 1e9) - 1) < .05, (total, a.native_ns)
    assert calc('add_100000', path).get('windows'), 'samples alone tell'


@test
def it_costs_what_it_may():
    for budget in (2, 10):
        path = f'{harness.DIR}/r.dwell'
        p = dwell('run', '-q', '-e', f'usertime,anchors:{budget}%', '-o', path, '--', PROGRAM, str(TURNS))
        assert p.returncode == 0, p
        facts = {pairs(line)['name'].strip('"'): int(pairs(line)['value']) for line in cat(path, 'facts')}
        # One window more than that, perhaps.
        assert facts['windows-cost'] < budget / 100 * facts['user-time'] * 1.3 + 60e6, facts


@test
def without_time_beside_it_nothing_is_told():
    p = dwell('run', '-e', 'anchors', '--', 'true')
    assert p.returncode == 2 and 'record CPU time with them' in p.stderr, p
    p = dwell('run', '-e', 'usertime,anchors:0', '--', 'true')
    assert p.returncode == 2 and 'not within 1 and 50' in p.stderr, p


@test
def they_come_with_instructions_unless_it_is_said_what_is_recorded():
    for words, comes in [(['--insn'], True), ([], False), (['--insn', '-e', 'usertime'], False)]:
        p = dwell('run', '-n', *words, '--', 'true')
        assert p.returncode == 0 and ('anchors, 1 % of CPU time' in p.stdout) == comes, (words, p)
    path = f'{harness.DIR}/supposed.dwell'
    for _ in range(20):  # each has some window in most cases
        p = dwell('run', '-q', '--insn', '-o', path, '--', PROGRAM, str(TURNS))
        assert p.returncode == 0, p
        if cat(path, 'anchors'):
            break
    else:
        raise AssertionError('no window in twenty runs')


@test
def archives_keep_them():
    path = record()
    there = f'{harness.DIR}/there.dwell'
    p = dwell('archive', '-o', there, path)
    assert p.returncode == 0, p
    for section in ('anchors', 'anchor-ways'):
        assert cat(there, section) == cat(path, section) != [], section


@test
def many_short_runs_have_windows_by_chance():
    """As often as their time together lets them, at any moment: none of them is long enough for one."""
    n, may, early = 0, 0, []
    for _ in range(SHORT_RUNS):
        path = f'{harness.DIR}/r.dwell'
        p = dwell('run', '-q', '-e', 'usertime,anchors:10%', '-o', path, '--', PROGRAM, str(SHORT))
        assert p.returncode == 0, p
        facts = {pairs(line)['name'].strip('"'): int(pairs(line)['value']) for line in cat(path, 'facts')}
        n += facts['windows']
        may += .1 * facts['user-time'] / WINDOW_NS
        native = {int(f['window']): int(f['cpu']) for f in map(pairs, cat(path, 'anchors')) if 'location' not in f}
        if facts['windows'] == 1:
            early.append(native.get(0, 0) < facts['user-time'] / 2)
    # One costs less than what is expected of the first.
    assert may / 4 < n < 2.5 * may, (n, may)
    assert any(early) and not all(early), early


if not harness.may_record('perf'):
    sys.exit(harness.skip_all('perf_event_open is not permitted here'))
sys.exit(harness.run_all(harness.TESTS, words=sys.argv[3:]))
