#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How heaps grow from mark to mark: as programs that count their own blocks say.
usage: heap_growth.py DWELL PROGRAM_DIR [WORD...]"""
import collections
import itertools
import json
import os
import platform
import subprocess
import sys

import harness
import visiting
from harness import DIR, Skip, dwell, report, run_all, test

PROGRAM = os.path.join(os.path.abspath(sys.argv[2]), 'e2e-heap_growth')
# The ends of the program's four phases, as --between has them.
BOUNDS = ('start', 'one', 'two', 'three', 'end')
SUMS = ('kept-blocks', 'kept', 'net-blocks', 'net', 'allocations', 'allocated', 'given-blocks',
        'given')


def far_off(estimate, true, sample):
    """In standard errors, which are less where blocks are large beside a sample."""
    return abs(estimate - true) / (sample * max(true, 4 * sample)) ** 0.5


def record(name, how, *options):
    path = os.path.join(DIR, f'{name}.dwell')
    p = dwell('run', '-q', '-e', 'heap', *options, '-o', path, '--', PROGRAM, how)
    assert p.returncode == 0, p.stderr
    return path, p.stdout


def truth(text):
    """{(site, taken in, given back in): (blocks, bytes)}, by phases."""
    sums = {}
    for line in text.splitlines():
        if line.startswith('site_'):
            site, *numbers = line.split()
            taken, given, blocks, size = map(int, numbers)
            sums[site, taken, given] = (blocks, size)
    assert len(sums) == 3 * (5 + 4 + 3 + 2), text
    return sums


def between(sums, site, lo, hi):
    """What the report is to say of a site from the end of phase lo to that of phase hi."""
    n = collections.Counter()
    for (where, taken, given), (blocks, size) in sums.items():
        if where != site:
            continue
        is_taken, is_given = lo <= taken < hi, lo <= given < hi
        for name, value in (('-blocks', blocks), ('', size)):
            n['kept' + name] += value * (is_taken and not given < hi)
            n['net' + name] += value * (is_taken - is_given)
            n['given' + name] += value * is_given
        n['allocations'] += blocks * is_taken
        n['allocated'] += size * is_taken
    return {key: n[key] for key in SUMS}


def growth(bounds, *paths, options=()):
    p = dwell('heap', '--json', '--between', bounds, *options, *paths)
    assert p.returncode == 0, p.stderr
    return json.loads(p.stdout)


def by_site(rows):
    sums = collections.defaultdict(collections.Counter)
    for row in rows:
        sums[row['frames'][0]['name'] if row['frames'] else ''].update(row['growth'])
    return sums


def check(path, text, names=BOUNDS):
    sums = truth(text)
    for lo, hi in itertools.combinations(range(5), 2):
        found = by_site(growth(f'{names[lo]},{names[hi]}', path)['rows'])
        for site in 'site_0', 'site_1', 'site_2':
            got, want = {key: found[site][key] for key in SUMS}, between(sums, site, lo, hi)
            assert got == want, (names[lo], names[hi], site, got, want)


@test
def growth_is_as_the_program_counts_it():
    path, text = record('program', 'program', '-S', '0')
    check(path, text)
    # The same by the numbers of intervals.
    check(path, text, ('0', '1', '2', '3', '4'))


@test
def blocks_of_threads_are_counted_too():
    path, text = record('threads', 'threads', '-S', '0')
    check(path, text)


@test
def a_child_has_a_heap_of_its_own():
    path, text = record('child', 'child', '-S', '0')
    check(path, text)


@test
def the_timer_cuts_between_the_marks():
    path, text = record('timer', 'program', '-S', '2ms')
    check(path, text)
    # What grows from end to end adds up, whoever has ended them.
    n = growth('start,end', path)['between'][0]['to']['interval']
    net = sum(growth(f'{i},{i + 1}', path)['growth']['net'] for i in range(n))
    assert net == growth('start,end', path)['growth']['net'], net


@test
def marks_from_outside_cut_as_well():
    path = os.path.join(DIR, 'lines.dwell')
    with subprocess.Popen([harness.DWELL, 'run', '-q', '-e', 'heap', '-S', '0', '-o', path, '--',
                           PROGRAM, 'lines'], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          text=True) as p:
        for name in BOUNDS[1:-1]:
            assert p.stdout.readline() == 'ready\n'
            marked = dwell('ctl', 'mark', str(p.pid), name)
            assert marked.returncode == 0, marked.stderr
            p.stdin.write('go\n')
            p.stdin.flush()
        text, _ = p.communicate()
        assert p.returncode == 0
    check(path, text)


@test
def growth_of_sampled_blocks_is_estimated():
    sample = 1024
    path, text = record('sampled', 'program', '-S', '0', '--sample', str(sample))
    sums = truth(text)
    for lo, hi in itertools.combinations(range(5), 2):
        r = growth(f'{BOUNDS[lo]},{BOUNDS[hi]}', path)
        assert r['sample'] == sample, r['sample']
        found = by_site(r['rows'])
        for site in 'site_0', 'site_1', 'site_2':
            got, want = found[site], between(sums, site, lo, hi)
            for key in 'kept', 'allocated', 'given':
                assert far_off(got[key], want[key], sample) < 6, (lo, hi, site, key, got, want)
    true = sum(size for _, size in sums.values())
    assert far_off(growth('start,end', path)['growth']['allocated'], true, sample) < 6, true
    text = dwell('heap', '--between', 'one,three', path).stdout
    assert 'estimated from a block for each 1.0 KB' in ' '.join(text.split()), text


@test
def of_a_process_that_runs_already_what_was_taken_since_grows():
    if platform.machine() != 'x86_64':
        raise Skip('no calls are wrapped in processes that run already here')
    path = os.path.join(DIR, 'visited.dwell')
    with subprocess.Popen([PROGRAM, 'lines'], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as p:
        assert p.stdout.readline() == 'ready\n'
        with visiting.attached(p.pid, path, '-e', 'heap', '-S', '0'):
            for name in BOUNDS[1:-1]:
                marked = dwell('ctl', 'mark', str(p.pid), name)
                assert marked.returncode == 0, marked.stderr
                p.stdin.write('go\n')
                p.stdin.flush()
                if name != BOUNDS[-2]:
                    assert p.stdout.readline() == 'ready\n'
            text, _ = p.communicate()
            assert p.returncode == 0
    # Nothing is known of what was taken before.
    sums = {x: n for x, n in truth(text).items() if x[1] > 0}
    for lo, hi in itertools.combinations(range(1, 5), 2):
        found = by_site(growth(f'{BOUNDS[lo]},{BOUNDS[hi]}', path)['rows'])
        for site in 'site_0', 'site_1', 'site_2':
            got, want = {key: found[site][key] for key in SUMS}, between(sums, site, lo, hi)
            assert got == want, (BOUNDS[lo], BOUNDS[hi], site, got, want)


@test
def what_is_held_at_marks_is_the_sum_of_what_grew():
    path, _ = record('held', 'program', '-S', '0')
    held = 0
    for lo, hi in itertools.pairwise(BOUNDS):
        r = growth(f'{lo},{hi}', path)
        (process,) = r['between'][0]['processes']
        assert process['held-from'] == held, (lo, process, held)
        held += r['growth']['net']
        assert process['held-to'] == held, (hi, process, held)


@test
def marks_of_two_processes_keep_their_order():
    path, _ = record('pair', 'pair', '-S', '0')
    n = growth('start,end', path)['between'][0]['to']['interval']
    assert n > 2, n
    held = 0
    for i in range(n):
        r = growth(f'{i},{i + 1}', path)
        processes = r['between'][0]['processes']
        assert len(processes) == 2, processes
        assert sum(p['held-from'] for p in processes) == held, (i, processes, held)
        held += r['growth']['net']
        assert sum(p['held-to'] for p in processes) == held, (i, processes, held)
    assert held == growth('start,end', path)['growth']['net'], held


@test
def several_recordings_are_shown_together():
    a, text = record('a', 'program', '-S', '0')
    b, _ = record('b', 'threads', '-S', '0')
    both = growth('one,three', a, b)
    alone = [growth('one,three', path) for path in (a, b)]
    for key in SUMS:
        assert both['growth'][key] == sum(r['growth'][key] for r in alone), key
    rows = [row for row in both['rows'] if row['source'] == 0]
    found = by_site(rows)['site_1']
    assert {k: found[k] for k in SUMS} == between(truth(text), 'site_1', 1, 3), found


@test
def a_filter_chooses_places():
    path, text = record('filter', 'program', '-S', '0')
    rows = growth('one,two', path, options=('--filter', 'function == site_2'))['rows']
    found = by_site(rows)
    assert set(found) == {'site_2'}, found
    assert {k: found['site_2'][k] for k in SUMS} == between(truth(text), 'site_2', 1, 2), found


@test
def other_reports_know_when_blocks_were_taken():
    path, text = record('reports', 'program', '-S', '0')
    sums = truth(text)
    rows = report(path, '--filter', 'mark == two')['rows']
    taken = {r['name']: r['exclusive']['allocations'] for r in rows if 'site_' in r['name']}
    leaks = {r['name']: r['exclusive']['leaks'] for r in rows if 'site_' in r['name']}
    for site in 'site_0', 'site_1', 'site_2':
        assert taken[site] == sum(sums[site, 1, k][0] for k in range(1, 5)), (site, taken)
        assert leaks[site] == sums[site, 1, 4][0], (site, leaks)


@test
def a_text_says_it_at_first_sight():
    path, text = record('text', 'program', '-S', '0')
    kept = sum(between(truth(text), f'site_{i}', 1, 2)['kept-blocks'] for i in range(3))
    out = dwell('heap', '--between', 'one,two', '--limit', '0', path).stdout
    assert 'site_1' in out and ' at one (' in out and ' at two (' in out, out
    blocks = [int(line.split('Blocks ')[1].split()[0].replace(',', ''))
              for line in out.splitlines() if '  Blocks ' in line]
    assert sum(blocks) == kept, (blocks, kept, out)


@test
def what_is_no_mark_is_refused():
    path, _ = record('refused', 'program', '-S', '0')
    for bounds, words in (('one,nowhere', "'nowhere' is no mark"), ('two,one', 'is not before'),
                          ('one', 'two marks'), ('one,9', "'9' is no mark"),
                          ('one,one', 'is not before')):
        p = dwell('heap', '--between', bounds, path)
        assert p.returncode == 2 and words in p.stderr, (bounds, p.returncode, p.stderr)
    p = dwell('heap', '--between', 'one,two', '--filter', 'mark == two', path)
    assert p.returncode == 2 and "not for 'mark'" in p.stderr, p.stderr
    p = dwell('heap', '--between', 'one,two', '--peak', path)
    assert p.returncode == 2 and 'one view' in p.stderr, p.stderr


sys.exit(run_all(harness.TESTS, words=sys.argv[3:]))
