#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Ideal time: what counted instructions take on a machine where nothing is missing.
usage: ideal.py DWELL DIRECTORY"""
import json
import os
import re
import shutil
import sys

import harness
from harness import dwell, test

LOOPS = os.path.abspath(sys.argv[2]) + '/e2e-ideal_loops'
CHASE = os.path.abspath(sys.argv[2]) + '/e2e-ideal_chase'
TURNS = 20000


def record(*words, name='r', **more):
    path = f'{harness.DIR}/{name}.dwell'
    p = dwell('run', '-e', 'bbcounts', '-o', path, '--', *words, **more)
    assert os.path.exists(path), (words, p)
    return path


def models():
    p = dwell('report', '--model', '?', record('true', name='models'))
    return re.search(r'there are ([\w-]+(?:, [\w-]+)*)', p.stderr).group(1).split(', ')


def row(report, name):
    return next(r for r in report['rows'] if r['name'] == name)


def cycles(path, name, *options, key='exclusive'):
    """At 1 GHz a cycle is a nanosecond."""
    return row(harness.report(path, '--clock', '1', *options), name)[key].get('ideal-time', 0)


@test
def loops_take_what_the_manuals_say_on_every_machine():
    path = record(LOOPS)
    found = models()
    assert len(found) >= 3, found
    for model in found:
        for name, told in [('products', 30 * TURNS), ('sums', 3 * 12 * TURNS)]:
            n = cycles(path, name, '--model', model)
            assert told * .99 < n < told * 1.03, (model, name, n, told)


@test
def no_machine_does_more_than_its_width():
    for words in [['gzip', '-c', '/bin/ls'], ['ls', '-l', '/usr/bin']]:
        path = record(*words, text=False)
        for model in models():
            total = harness.report(path, '--clock', '1', '--model', model)['total']
            rate = total['instructions'] / total['ideal-time']
            assert .5 < rate < 8, (words, model, rate)


@test
def a_clock_twice_as_fast_takes_half_the_time():
    path = record('ls', '/usr/bin')
    slow, fast = (harness.report(path, '--clock', ghz)['total']['ideal-time'] for ghz in ['2', '4'])
    assert abs(slow - 2 * fast) <= 2, (slow, fast)
    # What is not said is as it was when recording.
    told = dwell('cat', path).stdout
    mhz = int(re.search(r'info clock-mhz="(\d+)"', told).group(1))
    as_recorded = harness.report(path)['total']['ideal-time']
    assert 200 < mhz < 10000 and abs(as_recorded * mhz / 2000 - slow) < slow * .001, (mhz, as_recorded, slow)


@test
def every_report_has_the_same_time():
    path = record(LOOPS)
    total = harness.report(path)['total']['ideal-time']
    for by in ['function', 'line', 'instruction', 'image', 'file', 'process']:
        rows = harness.report(path, '--by', by, '--limit', '0')['rows']
        assert sum(r['exclusive'].get('ideal-time', 0) for r in rows) == total, by
    alone = harness.report(path, '--event', 'ideal-time')
    assert alone['total'] == {'ideal-time': total}, alone['total']
    leaf = harness.report(path, '--filter', 'function == products')['total']['ideal-time']
    assert abs(leaf - row(harness.report(path), 'products')['exclusive']['ideal-time']) <= 1, leaf


@test
def callers_have_what_they_called():
    path = record(LOOPS)
    r = harness.report(path, '--limit', '0')
    for event in ['instructions', 'ideal-time']:
        of = {name: row(r, name)['inclusive'][event] for name in ['main', 'products', 'often', 'rarely', 'sums']}
        own = row(r, 'main')['exclusive'][event]
        for name, share in [('often', 2 / 3), ('rarely', 1 / 3)]:
            alone = row(r, name)['exclusive'].get(event, 0)
            assert abs(of[name] - alone - of['sums'] * share) < 5, (event, of)
        printed = of['main'] - own - of['products'] - of['often'] - of['rarely']
        assert -3 <= printed < of['main'] * .05, (event, of, printed)
        assert of['main'] <= r['total'][event]
    found = json.loads(dwell('callers', '--json', 'sums', path).stdout)['rows'][0]
    callers = {x['name']: x['attributed']['instructions'] for x in found['callers']}
    assert abs(callers['often'] - 2 * callers['rarely']) <= 2, callers


@test
def code_that_is_gone_has_no_time_and_the_report_says_so():
    gone = f'{harness.DIR}/gone'
    shutil.copy(LOOPS, gone)
    path = record(gone)
    before = harness.report(path)
    os.unlink(gone)
    after = harness.report(path)
    assert after['total']['instructions'] == before['total']['instructions']
    assert after['total']['ideal-time'] < before['total']['ideal-time']
    share = after['quality']['not_timed_share']['ideal-time']
    assert share > .5 and 'not_timed_share' not in before['quality'], share
    assert 'not timed' in dwell('report', path).stdout


@test
def what_waits_for_memory_stands_out_beside_ideal_time():
    counted, sampled = record(CHASE, name='counted'), f'{harness.DIR}/sampled.dwell'
    p = dwell('run', '-e', 'usertime', '-i', '1ms', '-o', sampled, '--', CHASE)
    assert p.returncode == 0, p
    for files in [(counted, sampled), (sampled, counted)]:
        r = json.loads(dwell('report', '--json', '--compare', 'ideal', *files).stdout)
        first = r['rows'][0]
        assert first['name'] in ('chase', 'lay_ring'), first
        chase, compute = row(r, 'chase'), row(r, 'compute')
        # About as many instructions, one each waiting for memory.
        assert chase['exclusive_ratio']['cpu-time'] > 5 and not chase['exclusive_chance']['cpu-time'], chase
        assert chase['exclusive_change']['cpu-time'] == \
            chase['exclusive']['cpu-time'] - chase['exclusive']['ideal-time'], chase
        assert compute['inclusive']['ideal-time'] > 1e6, compute
    text = dwell('report', '--compare', 'ideal', counted, sampled)
    assert text.returncode == 0 and 'Sampled' in text.stdout and 'Gap' in text.stdout, text


sys.exit(harness.run_all(harness.TESTS, words=sys.argv[3:]))
