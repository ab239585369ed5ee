#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which way branches go, from the registers of samples, beside programs that know it.
usage: directions.py DWELL DIRECTORY"""
import collections
import math
import os
import re
import subprocess
import sys

import harness
from harness import dwell, test

PROGRAM = os.path.abspath(sys.argv[2]) + '/e2e-directions'
SHOWN_BY_REGISTERS = ['often', 'even', 'seldom', 'never', 'in_table']


def pairs(line):
    return dict(re.findall(r'([\w-]+)=("[^"]*"|\S+)', line))


def cat(path, section):
    p = dwell('cat', '--section', section, path)
    assert p.returncode == 0, p
    return p.stdout.splitlines()


def directions(path):
    """{offset of a branch in the program: {offset it went to, None: unknown: times}}."""
    images = [pairs(line)['path'].strip('"') for line in cat(path, 'images')]
    places = [(images[int(f['image'])], int(f['offset'], 16))
              for f in map(pairs, cat(path, 'locations'))]
    found = collections.defaultdict(collections.Counter)
    for f in map(pairs, cat(path, 'directions')):
        image, offset = places[int(f['location'])]
        if image == PROGRAM:
            to = places[int(f['to'])][1] if 'to' in f else None
            found[offset][to] += int(f['times'])
    return found


def symbols():
    """{name: offset in the file}, of the code."""
    headers = subprocess.run(['readelf', '-lW', PROGRAM], stdout=subprocess.PIPE, text=True, check=True).stdout
    offset, address = re.search(r'LOAD\s+(\S+)\s+(\S+)\s+\S+\s+\S+\s+\S+\s+R E', headers).groups()
    lines = subprocess.run(['nm', PROGRAM], stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()
    return {name: int(value, 16) - int(address, 16) + int(offset, 16)
            for value, kind, name in (line.split() for line in lines if line[0] != ' ') if kind in 'tT'}


def record(*options, program=(PROGRAM,), **more):
    path = f'{harness.DIR}/r.dwell'
    p = dwell('run', '--insn', '-i', '200us', *options, '-o', path, '--', *program, **more)
    assert p.returncode == 0, p
    return path, p.stdout


def shares(path, out):
    """{name: (share seen, how often it could be told and could not, share in truth)}."""
    found, at = directions(path), symbols()
    told = {}
    for line in out.splitlines():
        name, taken, met = line.split()
        ways = found[at[f'{name}_fork']]
        known = sum(n for to, n in ways.items() if to is not None)
        passed = ways[at[f'{name}_next']]
        told[name] = ((known - passed) / max(known, 1), known, ways[None], int(taken) / int(met))
    return told


def is_near(seen, n, true):
    """Samples come where time is spent, which is the same in both ways but for chance."""
    return abs(seen - true) < .02 + 4 * math.sqrt(true * (1 - true) / max(n, 1))


def check_registers(told):
    for name in SHOWN_BY_REGISTERS:
        seen, known, unknown, true = told[name]
        assert known > 60 and unknown < known / 10, (name, told)
        assert is_near(seen, known, true), (name, told)


@test
def what_registers_tell_is_what_happens():
    for experiment in ['usertime', 'pcsamp']:
        path, out = record('-e', experiment)
        check_registers(shares(path, out))


@test
def a_turn_that_waits_does_not_stand_for_the_others():
    seen, known, unknown, true = shares(*record('-e', 'usertime'))['waits']
    assert known > 500 and unknown < known / 10, (seen, known, unknown)
    # The next branch alone stays in the loop after next to all samples.
    assert abs(seen - true) < .1, (seen, true)


@test
def a_copied_stack_is_memory_as_it_was():
    told = shares(*record('-e', 'usertime'))
    seen, known, unknown, true = told['on_stack']
    assert known > 60 and unknown < known / 4, told
    assert is_near(seen, known, true), told
    # Nobody may tell what changes elsewhere, unless the branch has its flags already.
    seen, known, unknown, true = told['on_heap']
    assert unknown > 60 and unknown > known, told
    # But what stays the same there may be read later.
    seen, known, unknown, true = told['in_settled']
    assert known > 60 and is_near(seen, known, true), told


@test
def memory_near_registers_and_what_was_missed_is_copied():
    told = shares(*record('-e', 'usertime'))
    for name in ['in_reach', 'in_far']:
        seen, known, unknown, true = told[name]
        assert is_near(seen, known, true), (name, told)
        if not harness.why_no_bpf():
            assert known > 60 and unknown < known / 4, (name, told)


@test
def indirect_jumps_have_places_that_they_went_to():
    path, _ = record('-e', 'usertime')
    at = symbols()
    ways = directions(path)[at['spread_leap']]
    known = sum(n for to, n in ways.items() if to is not None)
    assert known > 60 and set(ways) - {None} == {at['spread_slots'] + 16 * i for i in range(8)}, ways
    for to, n in ways.items():
        assert to is None or is_near(n / known, known, 1 / 8), ways


@test
def without_asking_there_are_none():
    path = f'{harness.DIR}/r.dwell'
    assert dwell('run', '-e', 'usertime', '-o', path, '--', PROGRAM).returncode == 0
    assert not cat(path, 'directions')


@test
def archives_keep_them():
    path, _ = record('-e', 'usertime')
    there = f'{harness.DIR}/there.dwell'
    p = dwell('archive', '-o', there, path)
    assert p.returncode == 0, p
    assert cat(there, 'directions') == cat(path, 'directions') != []


@test
def who_has_no_registers_is_refused():
    for words, said in [(['-e', 'faults'], 'samples of CPU time'), (['--source', 'timer'], 'source perf'),
                        (['-e', 'bbcounts'], 'samples of CPU time')]:
        p = dwell('run', '--insn', *words, '--', 'true')
        assert p.returncode == 2 and said in p.stderr, (words, p)


@test
def a_dry_run_says_so():
    for words, said in [(['--insn'], 'yes'), ([], 'no')]:
        p = dwell('run', '-n', *words, '--', 'true')
        assert re.search(rf'^\s*directions of branches\s+{said}$', p.stdout, re.M), p.stdout


if not harness.may_record('perf'):
    sys.exit(harness.skip_all('perf_event_open is not permitted here'))
sys.exit(harness.run_all(harness.TESTS, words=sys.argv[3:]))
