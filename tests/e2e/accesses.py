#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which memory instructions access, by the registers of samples, of a program that tells where its memory is.
usage: accesses.py DWELL DIRECTORY"""
import functools
import json
import os
import sys

import harness
from harness import dwell, test

PROGRAM = os.path.abspath(sys.argv[2]) + '/e2e-accesses'


@functools.lru_cache(maxsize=None)
def record():
    """Recordings of time and of counts, and the (first address, bytes) that each function may access."""
    paths = [f'{harness.DIR}/accesses.{what}.dwell' for what in ('time', 'counts')]
    p = dwell('run', '-e', 'usertime', '--insn', '-i', '250us', '-o', paths[0], '--', PROGRAM)
    assert p.returncode == 0, p
    memory = {name: (int(at), int(size)) for name, at, size in (line.split() for line in p.stdout.splitlines())}
    p = dwell('run', '-e', 'bbcounts', '-o', paths[1], '--', PROGRAM)
    assert p.returncode == 0, p
    return paths, memory


def blocks(function, *more):
    paths, _ = record()
    p = dwell('calc', function, '--json', '--all', *paths, *more)
    assert p.returncode == 0, p
    row, = json.loads(p.stdout)['rows']
    return row['blocks']


def accesses(function):
    """Of the instruction of the function that accesses memory most often."""
    return max((i['accesses'] for b in blocks(function) for i in b['instructions'] if 'accesses' in i),
               key=lambda a: a['known'] + a['unknown'])


def check_range(function):
    at, size = record()[1][function]
    a = accesses(function)
    assert at <= a['lowest'] < a['highest'] < at + size, (a, at, size)
    return a


@test
def a_walk_has_its_stride_and_its_range():
    a = check_range('walk')
    assert a['samples'] >= 20 and a['known'] > a['samples'], a
    most = max(a['strides'], key=lambda s: s['times'])
    assert most['bytes'] == 192 and most['times'] >= 0.98 * a['again'], a
    assert a['to_another_line'] == a['again'], a
    assert a['highest'] - a['lowest'] > 0.7 * record()[1]['walk'][1], a
    # Nearly every line is a new one.
    assert a['lines_once'] > 0.7 * a['lines'], a


@test
def a_table_has_its_lines():
    a = check_range('choose')
    assert a['samples'] >= 50, a
    assert 35 <= a['lines'] <= 110 and a['pages'] == 1, a
    assert a['lines_once'] == 0 and a['to_another_page'] == 0, a


@test
def where_memory_leads_is_known_but_once():
    a = check_range('chase')
    assert a['samples'] >= 50 and a['unknown'] > a['known'], a
    assert a['lines_once'] > 0.8 * a['lines'] and a['pages'] > 100, a


@test
def what_is_at_hand_is_not_blamed():
    causes = {}
    for b in blocks('choose'):
        for stall in [b.get('arrival_stall')] + [i.get('stall') for i in b['instructions']]:
            for c in stall['culprits'] if stall else []:
                most = c.get('most_cycles_each', float('inf'))
                causes[c['cause']] = max(causes.get(c['cause'], 0), most)
    assert 'mispredict' in causes, causes
    # By chance there may be a few.
    assert causes.get('D-cache miss', 0) <= 12 and causes.get('DTLB miss', 0) <= 12, causes
    stalls = [i['stall'] for b in blocks('chase') for i in b['instructions'] if 'stall' in i]
    worst = max(stalls, key=lambda s: s['cycles_each'])
    assert 'D-cache miss' in {c['cause'] for c in worst['culprits']}, worst


@test
def the_listing_says_it_in_words():
    paths, _ = record()
    told = {name: dwell('calc', name, *paths, env={**os.environ, 'COLUMNS': '80'}).stdout for name in ('walk', 'choose', 'chase')}
    assert '↳ walks by 192 bytes over ' in told['walk'], told['walk']
    assert ' lines in 1 page' in told['choose'], told['choose']
    assert 'known ' in told['chase'] and ' of the times' in told['chase'], told['chase']


@test
def archives_keep_them():
    paths, _ = record()
    p = dwell('archive', '-o', f'{harness.DIR}/kept.dwell', paths[0])
    assert p.returncode == 0, p
    cats = [dwell('cat', '--section', 'accesses', path).stdout for path in (paths[0], f'{harness.DIR}/kept.dwell')]
    assert cats[0].count('\n') == cats[1].count('\n') > 100, cats


sys.exit(harness.run_all(harness.TESTS, words=sys.argv[3:]))
