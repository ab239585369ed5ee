#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Regions and marks of processes that already run: as often as these say, from when they are
attached to, and nobody is heard afterwards.
usage: inject_regions.py DWELL PROGRAM_DIR [WORD...]"""
import json
import os
import re
import subprocess
import sys
import time

import harness
import visiting
from harness import DIR, Skip, dwell, fact, report, run_all, test
from visiting import LIMIT_S, attached, check_left, is_traced_by, obeying, wait_until

PROGRAMS = os.path.abspath(sys.argv[2])
MORE = f'{PROGRAMS}/libe2e-visited-regions-more.so'
REGIONS = ('-e', 'regions')


def marked():
    return obeying(visiting.Program(f'{PROGRAMS}/e2e-visited_regions'))


def calls(path, event='region-calls', *options):
    rows = report(path, '-e', event, *options)['rows']
    return {re.sub(r'^\[\w+ (.*)\]$', r'\1', r['name']): r['exclusive'][event]
            for r in rows if r['exclusive'].get(event)}


def check_whole(path, begun_before=0):
    r = report(path)
    for name in 'lost-events', 'damaged-records', 'cut-regions', 'unobserved-regions', 'late-marks':
        assert not fact(r, name, 'loss'), (name, fact(r, name, 'loss'))
    assert (fact(r, 'unseen-begins', 'loss') or 0) == begun_before


def heard(program):
    return [int(x) for x in program.tell('heard').split()[:2]]


def check_unheard(program):
    check_left(program.pid)
    assert heard(program) == [0, 0]


@test
def calls_from_begin_to_end_are_counted_and_no_others():
    with marked() as p:
        for i in range(3):  # what the program keeps of an earlier time means nothing
            path = f'{DIR}/calls{i}.dwell'
            p.tell('calls 10')
            with attached(p.pid, path, *REGIONS):
                p.tell(f'calls {1000 + i}')
            check_unheard(p)
            n = 2 * (1000 + i)
            assert calls(path) == {'around': 2, 'work': n, 'told_of_itself': n}, calls(path)
            assert calls(path, 'counted') == {'done': 2 * n}, calls(path, 'counted')
            check_whole(path)


@test
def what_had_begun_before_is_told_and_what_goes_on_has_its_time():
    path = f'{DIR}/open.dwell'
    with marked() as p:
        p.tell('open')
        with attached(p.pid, path, *REGIONS):
            p.tell('calls 5')
            p.tell('close')
            p.tell('open')
            p.tell('calls 5')
        check_unheard(p)
        p.tell('close')
    assert calls(path) == {'around': 4, 'work': 20, 'told_of_itself': 20, 'open': 1}, calls(path)
    check_whole(path, begun_before=1)
    said = ' '.join(dwell('regions', path).stdout.split())
    assert 'ends of regions that had begun before, if at all: 1' in said, said


@test
def what_is_counted_meanwhile_is_left_to_the_kernel():
    if dwell('count', '-e', 'page-faults', '--', 'true').returncode:
        raise Skip('no counters here')
    with marked() as p:
        before = sorted(os.listdir(f'/proc/{p.pid}/fd'))
        for i, quantity in enumerate(('page-faults', 'cpu', 'time')):
            path = f'{DIR}/quantity{i}.dwell'
            with attached(p.pid, path, '-e', f'regions:{quantity}', '--callstack-every', '1ms'):
                p.tell('calls 20')
            check_unheard(p)
            assert sorted(os.listdir(f'/proc/{p.pid}/fd')) == before
            assert calls(path) == {'around': 2, 'work': 40, 'told_of_itself': 40}, calls(path)


@test
def a_library_that_is_loaded_later_is_heard():
    path = f'{DIR}/later.dwell'
    with marked() as p:
        with attached(p.pid, path, *REGIONS):
            assert p.tell(f'load {MORE} 77').split()[:2] == ['1', '1']
        check_unheard(p)
    assert calls(path) == {'in the library': 77}, calls(path)


@test
def a_child_goes_on_within_what_is_active_and_is_left_with_its_parent():
    for i, options in enumerate((REGIONS, ('-e', 'heap,regions'))):
        path = f'{DIR}/child{i}.dwell'
        with marked() as p:
            with attached(p.pid, path, *options):
                p.tell('open')
                child = int(p.tell('fork 30').split()[-1])
            check_unheard(p)
            check_left(child)
        assert calls(path) == {'open': 1, 'around': 1, 'work': 30, 'told_of_itself': 30}, calls(path)
        assert calls(path, 'region-calls', '--filter', 'function == "[region open]"') == calls(path)


@test
def a_child_is_left_with_what_its_parent_has_unloaded():
    with marked() as p:
        with attached(p.pid, f'{DIR}/unloaded.dwell', '-e', 'heap,regions'):
            p.tell(f'load {MORE} 1')
            child = int(p.tell('fork 1').split()[-1])
            p.tell('unload')
            wait_until(lambda: 'visited-regions-more' not in visiting.text_of(p.pid, 'maps'), 'it stays')
            time.sleep(0.2)  # dwell looks 50 times a second what is there
        check_unheard(p)
        check_left(child)


@test
def what_a_program_does_just_before_it_ends_is_counted():
    path = f'{DIR}/leaves.dwell'
    with marked() as p:
        with harness.beside(harness.DWELL, 'attach', *REGIONS, '-p', str(p.pid), '-o', path,
                            stderr=subprocess.DEVNULL) as d:
            wait_until(lambda: d.poll() is not None or is_traced_by(p.pid, d.pid), 'it does not begin')
            p.tell('leave 123')
            assert d.wait(LIMIT_S) == 0
        p.process.wait(LIMIT_S)
        p.process.stdin.close()
    assert calls(path) == {'around': 1, 'work': 123, 'told_of_itself': 123}, calls(path)


@test
def marks_are_heard_beside_whatever_is_traced():
    for i, options in enumerate((('-e', 'heap'), REGIONS, ('-e', 'usertime,sync'))):
        path = f'{DIR}/marks{i}.dwell'
        with marked() as p:
            with attached(p.pid, path, *options):
                p.tell('mark warm')
                p.tell('calls 10')
                p.tell('mark done')
            check_unheard(p)
        q = dwell('global', '--json', path)
        assert q.returncode == 0, q.stderr
        names = [(r['cause'], r['name']) for r in json.loads(q.stdout)['rows'] if r['cause'] != 'timer']
        assert names == [('program', 'warm'), ('program', 'done'), ('end', '')], names
        assert 'worker' in dwell('report', '--by', 'thread', path).stdout or i != 1


if __name__ == '__main__':
    if visiting.why_not():
        sys.exit(harness.skip_all(visiting.why_not()))
    sys.exit(run_all(harness.TESTS, words=sys.argv[3:]))
