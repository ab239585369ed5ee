#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What each instruction of a function took: counts, samples, directions and the best case.
usage: calc.py DWELL DIRECTORY"""
import json
import os
import re
import shlex
import sys

import harness
from harness import dwell, test

DIRECTORY = os.path.abspath(sys.argv[2])
FORKS = DIRECTORY + '/e2e-directions'
LOOPS = DIRECTORY + '/e2e-ideal_loops'
CHASE = DIRECTORY + '/e2e-ideal_chase'
TURNS = 20000  # of the loops


def record(experiment, *words, options=(), **more):
    path = f'{harness.DIR}/{experiment}.dwell'
    p = dwell('run', '-e', experiment, *options, '-o', path, '--', *words, **more)
    assert p.returncode == 0, p
    return path, p.stdout


def sampled(*words, **more):
    return record('usertime', *words, options=['--insn', '-i', '200us'], **more)[0]


def calc(function, *paths, options=()):
    p = dwell('calc', '--json', *options, function, *paths)
    assert p.returncode == 0, p
    row, = json.loads(p.stdout)['rows']
    return row


def branch_of(row, name):
    """The ways out of the one block with a fork, which is recognised by its compare and jb."""
    found = [b for b in row['blocks'] if b['instructions'][-1]['mnemonic'] == 'jb']
    assert len(found) == 1, (name, row)
    return {w['kind']: w for w in found[0]['ways']}


@test
def a_recording_ends_with_what_to_look_at():
    path = f'{harness.DIR}/what is next.dwell'
    p = dwell('run', '--insn', '-i', '200us', '-o', path, '--', CHASE)
    assert p.returncode == 0, p
    told = [line.split(': next: ')[1] for line in p.stderr.splitlines() if line.startswith('dwell: next: ')]
    hot = max((r for r in harness.report(path, '--no-inline')['rows'] if r['image'][0] != '['),
              key=lambda r: r['exclusive']['cpu-time'])
    file = shlex.quote(path)
    assert told == [f'dwell report {file}', f'dwell stalls {file}', f'dwell calc {hot["name"]} {file}'], (told, hot)
    for line in told:
        p = dwell(*shlex.split(line)[1:])
        assert p.returncode == 0 and p.stdout, (line, p)
    p = dwell('run', '-o', path, '--', CHASE)
    assert 'dwell stalls' not in p.stderr and f'dwell: next: dwell report {file}' in p.stderr, p


@test
def counts_are_exact_and_samples_are_all_there():
    counted, out = record('bbcounts', FORKS)
    timed = sampled(FORKS)
    report = {r['name']: r for r in harness.report(timed, '--no-inline')['rows']}
    for line in out.splitlines():
        name, taken, met = line.split()
        row = calc(name, timed, counted)
        ways = branch_of(row, name)
        assert (ways['taken']['times'], ways['on']['times']) == (int(taken), int(met) - int(taken)), (name, ways)
        assert row['times'] == 1 and row['model'], row
        assert sum(b['samples'] for b in row['blocks']) == row['samples'], row
        assert sum(i['samples'] for b in row['blocks'] for i in b['instructions']) == row['samples'], row
        told = report[name]['exclusive']['cpu-time'] / 200000
        assert abs(row['samples'] - told) < 1.01, (row['samples'], told)


@test
def the_time_of_a_block_is_that_of_its_instructions_and_of_the_way_there():
    counted, _ = record('bbcounts', FORKS)
    row = calc('even', sampled(FORKS), counted)
    for b in row['blocks']:
        whole = b['arrival_cycles'] + sum(i['cycles'] for i in b['instructions'])
        assert abs(whole - b['cycles']) < 1, b
        assert {i['times'] for i in b['instructions']} == {b['times']}, b
    assert abs(sum(b['cycles'] for b in row['blocks']) - row['cycles']) < row['cycles'] * .001, row


def told(path):
    """Directions of each branch that could be told."""
    sums = {}
    for line in dwell('cat', '--section', 'directions', path).stdout.splitlines():
        place, to, times, samples = re.search(r' location=(\d+)(?: to=(\d+))? times=(\d+) samples=(\d+)$', line).groups()
        assert int(samples) <= int(times), line
        sums[place] = sums.get(place, 0) + (int(times) if to else 0)
    return set(sums.values())


@test
def samples_alone_tell_directions():
    path = sampled(FORKS)
    row = calc('seldom', path)
    ways = branch_of(row, 'seldom')
    seen = ways['taken']['seen'], ways['on']['seen']
    assert sum(seen) > 60 and .01 < seen[0] / sum(seen) < .15, ways
    assert sum(seen) in told(path), (seen, told(path))
    # How often is a range, then, and what is told of it is honest.
    assert row['is_estimated'] and row['confidence'] == 'low' and row['times_low'] < row['times_high'], row
    for b in row['blocks']:
        assert b['times_low'] <= b['times'] <= b['times_high'] and b['confidence'] == row['confidence'], b
        assert abs(sum(w['times'] for w in b['ways']) - b['times']) <= 1e-6 * b['times'] or b['has_unknown_ways_out'], b


@test
def what_is_estimated_is_counted_where_counts_are_given():
    """Loops that wait for nothing but their own results: the model knows them, and the range has the truth."""
    counted, _ = record('bbcounts', LOOPS)
    timed = sampled(LOOPS, '300')
    for name, times in [('products', 300 * TURNS), ('sums', 900 * TURNS)]:
        row = calc(name, timed)
        loop = max(row['blocks'], key=lambda b: b['samples'])
        if loop['samples'] < 40:
            continue
        assert loop['times_low'] < times < loop['times_high'] and 1 / 3 < loop['times'] / times < 3, (name, loop)
        assert 'is_estimated' not in calc(name, timed, counted), name
        stalls = [i['stall'] for b in row['blocks'] for i in b['instructions'] if 'stall' in i]
        assert all(s['cycles_each_low'] <= s['cycles_each'] <= s['cycles_each_high'] for s in stalls), stalls


@test
def runs_add_up():
    once, again = sampled(FORKS), f'{harness.DIR}/again.dwell'
    os.rename(once, again)
    twice = sampled(FORKS)
    one, other, both = calc('even', again), calc('even', twice), calc('even', again, twice)
    assert both['samples'] == one['samples'] + other['samples'], (one['samples'], other['samples'], both['samples'])
    seen = [sum(w['seen'] for b in row['blocks'] for w in b['ways']) for row in (one, other, both)]
    assert seen[2] >= max(seen[:2]) > 0, seen


@test
def the_best_case_is_what_manuals_tell():
    counted, _ = record('bbcounts', LOOPS)
    for name, times, cycles in [('products', TURNS, 30), ('sums', 3 * TURNS, 12)]:
        row = calc(name, counted, options=['--model', 'zen4'])
        assert row['samples'] == 0 and row['model'] == 'zen4', row
        loop = max(row['blocks'], key=lambda b: b['times'])
        assert loop['times'] == times, loop
        assert cycles * .97 < loop['ideal_cycles_each'] < cycles * 1.06, (name, loop)


def flow_in(row):
    """{block: what comes in by known ways}."""
    into = [0] * len(row['blocks'])
    for b in row['blocks']:
        for w in b['ways']:
            if 'to' in w:
                into[w['to']] += w.get('times', 0)
    return into


@test
def what_comes_into_a_block_is_what_it_was_executed():
    """The ways are read from the code, the times were counted: they can only agree if none is missing.  What is
    written in assembler jumps into other functions, whose blocks know nothing of it."""
    checked, whole, missing = 0, 0, []
    for words in [['gzip', '-9', '-c', sys.executable], ['bzip2', '-c', '/usr/bin/gzip'], ['sort', '/usr/bin/gzip'],
                  ['grep', '-c', 'a.*b.*c', '/usr/bin/gzip'], ['ls', '-lR', '/usr/lib/python3']]:
        path, _ = record('bbcounts', *words, text=False)
        rows = harness.report(path, '--limit', '12', '--sort', 'exclusive')['rows']
        for r in rows[:12]:
            p = dwell('calc', '--json', r['name'], path)
            if p.returncode:
                assert 'not known' in p.stderr or 'not at hand' in p.stderr or 'only inlined' in p.stderr, p
                continue
            row, = json.loads(p.stdout)['rows']
            into = flow_in(row)
            for i, b in enumerate(row['blocks']):
                if i and not b['has_unknown_ways_in'] and b['times']:
                    checked += 1
                    whole += b['times']
                    if abs(into[i] - b['times']) > max(2, b['times'] * .001):
                        missing.append((abs(into[i] - b['times']), words, row['name'], b, into[i]))
    assert checked > 300 and sum(m[0] for m in missing) < whole * .003, (checked, whole, missing)


def worst_stall(row):
    """What costs most in all, and the instruction that it is of."""
    found = [(i['stall']['cycles_each'] * i['times'], i['stall']['culprits'], i)
             for b in row['blocks'] for i in b['instructions'] if 'stall' in i]
    found += [(b['arrival_stall']['cycles_each'] * b['times'], b['arrival_stall']['culprits'], None)
              for b in row['blocks'] if 'arrival_stall' in b]
    assert found, row
    return max(found, key=lambda stall: stall[0])


def stalled_share(row):
    return sum(i['stall']['cycles_each'] * i['times'] for b in row['blocks'] for i in b['instructions']
               if 'stall' in i) / row['cycles']


@test
def the_load_that_misses_is_blamed():
    counted, _ = record('bbcounts', CHASE)
    timed = sampled(CHASE)
    row = calc('chase', timed, counted)
    _, culprits, instruction = worst_stall(row)
    assert 'mov' in instruction['mnemonic'] and '(' in instruction['operands'], instruction
    blamed = {c['cause']: c.get('blamed') for c in culprits}
    assert blamed['D-cache miss'] == blamed['DTLB miss'] == instruction['address'], culprits
    assert stalled_share(row) > max(.5, stalled_share(calc('compute', timed, counted))), row


@test
def the_branch_that_nobody_foresees_is_blamed():
    counted, _ = record('bbcounts', FORKS)
    timed = sampled(FORKS)
    row = calc('even', timed, counted)
    branch, = [b['instructions'][-1] for b in row['blocks'] if b['instructions'][-1]['mnemonic'] == 'jb']
    found = [c for b in row['blocks'] for at in [b, *b['instructions']] for key in ('stall', 'arrival_stall')
             for c in at.get(key, {'culprits': []})['culprits'] if c['cause'] == 'mispredict']
    assert {c['blamed'] for c in found} == {branch['address']} and max(c['most_cycles_each'] for c in found) > 5, row
    # Whoever always goes the same way is foreseen.
    for b in calc('never', timed, counted)['blocks']:
        for stall in [i['stall'] for i in b['instructions'] if 'stall' in i]:
            assert all(c['cause'] != 'mispredict' or c['most_cycles_each'] < 1 for c in stall['culprits']), stall


@test
def no_line_is_wider_than_the_screen():
    counted, _ = record('bbcounts', FORKS)
    timed = sampled(FORKS)
    for width in 80, 100, 160:
        for options in [], ['--all'], ['--intel']:
            p = dwell('calc', *options, '--width', str(width), 'even', timed, counted)
            assert p.returncode == 0 and 'At' in p.stdout and 'taken 50.0 %' in p.stdout, p
            text = p.stdout.partition('\nNext:')[0]  # whose commands are never cut
            long = [line for line in text.splitlines() if len(line) > width]
            assert not long, long
    for width in 80, 160:
        alone = dwell('calc', '--width', str(width), 'even', timed).stdout.partition('\nNext:')[0]
        assert 'estimated from samples: confidence ' in alone and ' seen' in alone, alone
        assert not [line for line in alone.splitlines() if len(line) > width or '…cycles' in line or '…way' in line], alone


@test
def what_is_not_shown_is_not_worked_out():
    """Counts are used where they are among the events; ideal time is a report's, and a model needs no counts."""
    counted, _ = record('bbcounts', FORKS)
    timed = sampled(FORKS)
    whole = calc('even', timed, counted)
    p = dwell('calc', '--json', 'even', timed, counted)
    assert [e['name'] for e in json.loads(p.stdout)['events']] == ['cpu-time', 'instructions'], p
    assert 'ideal-time' in dwell('report', counted).stdout
    chosen = calc('even', timed, counted, options=['--event', 'cpu-time,instructions'])
    assert chosen == whole and 'is_estimated' not in chosen, chosen
    other = calc('even', timed, options=['--model', 'golden-cove', '--clock', '2'])
    assert other['model'] == 'golden-cove' and other['is_estimated'], other


@test
def what_has_no_code_is_refused():
    counted, _ = record('bbcounts', FORKS)
    p = dwell('calc', 'chance', sampled(FORKS))
    assert p.returncode != 0 and 'inlined' in p.stderr, p
    p = dwell('calc', 'no_such_function', counted)
    assert p.returncode != 0 and 'no_such_function' in p.stderr, p
    p = dwell('calc', '--model', 'z80', 'even', counted)
    assert p.returncode == 2 and 'z80' in p.stderr, p


sys.exit(harness.run_all(harness.TESTS, words=sys.argv[3:]))
