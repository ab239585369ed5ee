#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Regions that programs mark, against what the programs count themselves.
usage: regions.py DWELL PROGRAM_DIR INCLUDE_DIR [WORD...]"""
import json
import os
import re
import signal
import subprocess
import sys

from harness import DIR, TESTS, Skip, dwell, fact, need, report, run_all, test

PROGRAMS, INCLUDE = (os.path.abspath(p) for p in sys.argv[2:4])
REGIONS = os.path.join(PROGRAMS, 'e2e-regions')
MS = 1000000


def record(name, *command, code=0, run=('-e', 'regions')):
    path = os.path.join(DIR, f'{name}.dwell')
    p = dwell('run', *run, '-o', path, '--', *command)
    assert p.returncode == code, (p.returncode, p.stderr)
    return path, p.stdout


def told(text, what='calls'):
    """What the program itself says, summed over its processes."""
    sums = {}
    for name, n in re.findall(rf'^{what} (\w+) (\d+)$', text, re.M):
        sums[name] = sums.get(name, 0) + int(n)
    return sums


def plain(name):
    return re.sub(r'^\[(?:region|counter) (.*)\]$', r'\1', name)


def values(path, event, kind='exclusive', *args):
    return {plain(row['name']): row[kind][event] for row in report(path, '-e', event, *args)['rows']
            if row[kind].get(event)}


def loss(path, name):
    return fact(report(path), name, 'loss') or 0


def check_calls(path, text, lost=()):
    have, want = values(path, 'region-calls'), told(text)
    assert {n: have.get(n, 0) for n in want} == want, (have, want)
    for name in ('lost-events', 'damaged-records', 'unmatched-ends', 'cut-regions',
                 'unobserved-regions'):
        assert name in lost or not loss(path, name), (name, loss(path, name))


@test
def recursion_is_counted_to_the_unit():
    path, text = record('recursion', REGIONS, 'recursion', '20')
    check_calls(path, text)
    assert values(path, 'counted') == told(text, 'counted'), values(path, 'counted')
    exclusive, inclusive = (values(path, 'region-time', k) for k in ('exclusive', 'inclusive'))
    assert inclusive['whole'] == sum(exclusive.values()), (exclusive, inclusive)
    assert inclusive['fib'] == exclusive['fib'] + exclusive['leaf']


@test
def threads_have_their_own_and_their_names():
    path, text = record('threads', REGIONS, 'threads', '12')
    check_calls(path, text)
    rows = {r['name'].split('  tid')[0]: r['exclusive'].get('region-calls')
            for r in report(path, '--by', 'thread')['rows']}
    calls = lambda n: 1 if n < 2 else 1 + calls(n - 1) + calls(n - 2)
    leaves = lambda n: 1 if n < 2 else leaves(n - 1) + leaves(n - 2)
    for n in range(12, 20):
        assert rows[f'fib of {n}'] == calls(n) + leaves(n), (n, rows)


@test
def a_child_of_vfork_takes_nothing_that_is_its_parents():
    path, text = record('vfork', REGIONS, 'vfork', '12')
    check_calls(path, text)


@test
def groups_are_switched_off_and_on():
    path, text = record('groups', REGIONS, 'groups', '15')
    check_calls(path, text)


@test
def nothing_begins_in_a_pause():
    path, text = record('paused', REGIONS, 'paused', '15')
    check_calls(path, text)
    assert values(path, 'counted') == told(text, 'counted')


@test
def jumps_and_unmatched_ends_are_counted():
    path, text = record('unbalanced', REGIONS, 'unbalanced', '100')
    check_calls(path, text, ('cut-regions', 'unmatched-ends'))
    assert loss(path, 'cut-regions') == 200, loss(path, 'cut-regions')
    assert loss(path, 'unmatched-ends') == 100, loss(path, 'unmatched-ends')


@test
def exceptions_end_scopes():
    path, text = record('scopes', os.path.join(PROGRAMS, 'e2e-regions_scopes'))
    check_calls(path, text)
    assert told(text)['after'] == 2000


@test
def marks_alone_lead_no_calls_elsewhere():
    allocator = lambda *run: record('allocator', REGIONS, 'allocator', run=run)[1]
    alone = subprocess.run([REGIONS, 'allocator'], capture_output=True, text=True, check=True).stdout
    assert allocator() == allocator('-e', 'regions') == alone, alone
    assert 'libdwell-tracer.so' in allocator('-e', 'regions', '-e', 'heap')


@test
def scopes_are_no_functions():
    path, text = record('told_scopes', os.path.join(PROGRAMS, 'e2e-regions_told_scopes'))
    check_calls(path, text, ('cut-regions',))
    # Each lasts as long as the function that has it, and so what that calls is within.
    rows = [(row['name'], row['depth']) for row in regions(path, '--by', 'tree')]
    assert sorted(rows) == sorted([('main', 0), ('outer(int)', 1), ('outer', 2), ('inner(int)', 3),
                                   ('inner', 4), ('after', 3)]), rows


@test
def functions_tell_of_themselves():
    path, text = record('functions', os.path.join(PROGRAMS, 'e2e-regions_functions'))
    check_calls(path, text, ('cut-regions',))
    n = told(text)
    jumped = n['thrower'] + 3 * n['behind'] + n['holder'] + n['held']
    assert loss(path, 'cut-regions') == jumped, (loss(path, 'cut-regions'), n)
    # Those that the compiler has put into others are within these.
    within = {}
    for row in regions(path, '--by', 'tree'):
        within.setdefault(row['name'], set()).add(row['depth'])
    depth, = within['caller']
    assert within['around'] == {depth + 1}, within
    assert within['inlined'] == {depth + 1, depth + 2}, within
    # Nothing is within what a jump has left.
    main, = within['main']
    assert within['nested'] == {main + i for i in range(1, 5)}, within
    assert within['behind'] == within['leaver'] == {main + 1} and within['after'] == {main + 2}, within
    assert 'thrower' not in values(path, 'region-calls', 'inclusive',
                                   '--filter', 'leaf == "ackermann"')


@test
def a_fork_goes_on_within_what_is_active():
    path, text = record('fork', REGIONS, 'fork', '12')
    check_calls(path, text)
    assert values(path, 'region-calls')['whole'] == 1
    assert values(path, 'region-time', 'inclusive')['whole'] >= 80 * MS


@test
def a_thread_ends_what_it_leaves_active():
    path, _ = record('thread_ends', REGIONS, 'thread_ends', '100')
    time = values(path, 'region-time', 'inclusive')
    # What comes behind the thread is 100 ms of the whole.
    assert 30 * MS <= time['leaf'] <= time['whole'] - 100 * MS, time
    assert values(path, 'region-calls') == {'whole': 1, 'leaf': 1, 'work': 3}


@test
def a_process_ends_while_threads_come_and_go():
    for n in range(10):
        path, _ = record(f'leaves{n}', REGIONS, 'leaves', str(n))
        calls = values(path, 'region-calls')
        # Each of the four makers may have one under way, of five calls.
        assert calls['fib'] >= 80 + n, calls
        assert not loss(path, 'damaged-records')


@test
def what_is_active_at_a_kill_lasts_until_then():
    path, _ = record('killed', REGIONS, 'killed', '60', code=128 + signal.SIGKILL)
    time = values(path, 'region-time')
    calls = values(path, 'region-calls')
    assert time['work'] >= 60 * MS and time['leaf'] >= 119 * MS, time
    # The last milliseconds may not have been told.
    assert calls['whole'] == calls['leaf'] == 1 and calls['work'] in (1, 2), calls


@test
def the_program_reads_its_callstack():
    _, text = record('callstack', REGIONS, 'callstack', '50')
    lines = text.splitlines()
    assert lines[:3] == ['whole 1 2 1 1', 'leaf 1 1 0 0', 'work 2 0 1 0'], text
    assert lines[3].split() == ['Calls', 'Subroutines', 'Exclusive', 'Inclusive', 'Instance', 'excl',
                                'Instance', 'incl', 'Region'], text
    assert [line.split()[-1] for line in lines[4:7]] == ['whole', 'leaf', 'work'], text
    assert lines[7] == '0', text
    alone = subprocess.run([REGIONS, 'callstack', '1'], capture_output=True, text=True, check=True)
    assert alone.stdout == '0\n', alone.stdout


def regions(path, *args):
    p = dwell('regions', '--json', *args, path)
    assert p.returncode == 0, p.stderr
    return json.loads(p.stdout)['rows']


@test
def the_report_has_what_samples_say():
    path, text = record('rows', REGIONS, 'recursion', '15')
    rows = {r['name']: r for r in regions(path)}
    calls = told(text)
    assert {n: rows[n]['calls'] for n in calls} == calls, rows
    assert rows['fib']['subroutines'] == calls['fib'] - 1 + calls['leaf'], rows
    assert rows['whole']['subroutines'] == 1
    assert rows['bytes']['counted'] == told(text, 'counted')['bytes']
    assert rows['whole']['inclusive'] == sum(r['exclusive'] for r in rows.values())
    tree = regions(path, '--by', 'tree')
    assert [r['name'] for r in tree[:3]] == ['whole', 'fib', 'fib'], tree[:3]
    assert sum(r['calls'] for r in tree) == sum(r['calls'] for r in rows.values())


def moments(path):
    """Callstacks of a history: by time, regions from the outermost on."""
    found = {}
    for row in regions(path, '--history'):
        found.setdefault(row['time_ns'], []).append(row)
    for whole, *inner in found.values():
        assert whole['name'] == 'whole' and whole['depth'] == 0 and whole['calls'] == 1
        assert whole['inclusive'] == whole['instance-inclusive'], whole
        if inner:
            assert inner[0]['name'] == 'leaf' and inner[0]['depth'] == 1
            total = whole['exclusive'] + inner[0]['exclusive']
            assert abs(total - whole['inclusive']) <= 2, (whole, inner)
    return found


def are_most(tests):
    return sum(tests) > len(tests) / 2


def is_even(found):
    """A callstack every 100 ms, and as much time has passed in what is active.  Who loses its CPU
    between two clocks tells a late time: few do, and none is told before it is due."""
    times = sorted(found)
    past = [ns - i * 100 * MS for i, ns in enumerate(times)]
    pairs = [(b - a, found[b][0]['inclusive'] - found[a][0]['inclusive']) for a, b in zip(times, times[1:])]
    return (are_most([ns - min(past) < 5 * MS for ns in past])
            and are_most([abs(ns - 100 * MS) < 5 * MS and abs(passed - ns) < 5 * MS for ns, passed in pairs]))


@test
def a_history_of_callstacks():
    n = 6
    for _ in range(3):
        path, _ = record('history', REGIONS, 'history', str(n),
                         run=('-e', 'regions', '--callstack-every', '100ms'))
        found = moments(path)
        assert len(found) >= n, found
        if is_even(found):
            break
    assert is_even(found), sorted(found)


@test
def a_history_of_who_rests_often():
    path, _ = record('rests', REGIONS, 'rests', '4',
                     run=('-e', 'regions', '--callstack-every', '100ms'))
    rows = regions(path, '--history')
    assert {r['name'] for r in rows} == {'whole'}, rows
    assert len(rows) >= 3, rows


@test
def a_callstack_that_is_asked_for():
    path, _ = record('asked', REGIONS, 'asked', '4',
                     run=('-e', 'regions', '--callstack-signal', 'USR2'))
    (time, (whole, *inner)), = moments(path).items()
    assert whole['subroutines'] >= 51 and time > whole['inclusive'], whole
    assert not inner or inner[0]['calls'] == whole['subroutines']


@test
def cpu_time_does_not_pass_in_sleep():
    path, _ = record('cpu', REGIONS, 'cpu', '60', run=('-e', 'regions:cpu'))
    time = values(path, 'region-cpu-time')
    assert time['leaf'] >= 50 * MS and time['whole'] < 30 * MS, time
    assert {r['name']: r['exclusive'] for r in regions(path)} == time, regions(path)


@test
def a_counter_passes_in_regions():
    if dwell('count', '-e', 'page-faults', '--', 'true').returncode:
        raise Skip('no counters here')
    path, _ = record('pages', REGIONS, 'pages', '1000', run=('-e', 'regions:page-faults'))
    faults = values(path, 'region-page-faults')
    assert 1000 <= faults['leaf'] <= 1050, faults
    assert values(path, 'region-calls') == {'leaf': 1}


@test
def a_counters_number_may_become_the_programs():
    if dwell('count', '-e', 'page-faults', '--', 'true').returncode:
        raise Skip('no counters here')
    path, text = record('closed', REGIONS, 'closed', '5', run=('-e', 'regions:page-faults'))
    assert text == 'all of it\n', text
    assert values(path, 'region-calls') == {'leaf': 1, 'work': 5}


@test
def names_that_are_made_up_are_told_apart_by_the_thousand():
    path, _ = record('named', REGIONS, 'named', '20000')
    want = {f'named_{i}': 2 for i in range(20000)}
    assert values(path, 'region-calls') == want and not loss(path, 'unobserved-regions')


@test
def marks_end_intervals():
    path, _ = record('marks', REGIONS, 'marks', '30')
    whole = values(path, 'region-time')['work']
    second = values(path, 'region-time', 'exclusive', '--filter', 'interval == "second"')['work']
    others = values(path, 'region-time', 'exclusive', '--filter', 'interval == "other"')['work']
    assert second >= 30 * MS and second + others == whole, (second, others, whole)
    assert others >= 60 * MS


@test
def marks_are_heard_beside_samples():
    path, _ = record('heard', REGIONS, 'marks', '30', run=('-e', 'usertime'))
    p = dwell('global', '--json', path)
    assert p.returncode == 0, p.stderr
    rows = json.loads(p.stdout)['rows']
    assert [r['name'] for r in rows if r['cause'] == 'program'] == ['other', 'second', 'other'], rows
    path, _ = record('unheard', REGIONS, 'marks', '1', run=('-e', 'usertime', '--source', 'timer'))
    rows = json.loads(dwell('global', '--json', path).stdout)['rows']
    assert not [r for r in rows if r['cause'] == 'program'], rows


@test
def no_mark_is_late_where_timers_end_intervals_too():
    for ms in (30, 120, 480, 1920):  # until the recorder got to run often enough
        path, _ = record('often', REGIONS, 'marks', str(ms),
                         run=('-e', 'regions,usertime', '-S', '2ms'))
        p = dwell('global', '--json', path)
        assert p.returncode == 0, p.stderr
        rows = json.loads(p.stdout)['rows']
        for before, after in zip(rows, rows[1:]):
            assert after['from_ns'] == before['to_ns'], (before, after)
        marks = [r['name'] for r in rows if r['cause'] == 'program']
        assert marks == ['other', 'second', 'other'] and not loss(path, 'late-marks'), rows
        assert rows[-1]['cause'] == 'end', rows
        n_timers = sum(r['cause'] == 'timer' for r in rows)
        if n_timers > 5:
            break
    assert n_timers > 5, rows


@test
def handlers_have_regions_too():
    for how in ('signals', 'signals_above'):
        path, text = record(how, REGIONS, how, '2000')
        check_calls(path, text)


@test
def floating_point_flags_are_the_programs():
    _, text = record('exceptions', REGIONS, 'exceptions', '1',
                     run=('-e', 'regions', '--callstack-every', '10ms'))
    assert text == '0\n', text


@test
def a_handler_with_a_small_stack():
    path, _ = record('small_stack', REGIONS, 'small_stack', '5',
                     run=('-e', 'regions', '--callstack-every', '10ms'))
    assert values(path, 'region-calls') == {'whole': 1, 'work': 5}
    assert any(r['name'] == 'work' for r in regions(path, '--history'))


@test
def beside_samples():
    path, text = record('beside', REGIONS, 'recursion', '28', run=('-e', 'fusertime,regions'))
    check_calls(path, text)
    assert any(n.startswith('fib') for n in values(path, 'cpu-time')), values(path, 'cpu-time')


@test
def every_way_to_build_a_program():
    source = os.path.join(DIR, 'built.c')
    with open(source, 'w', encoding='utf-8') as f:
        f.write('#include <dwell.h>\nDWELL_REGION(r, "built", "ways");\n'
                'int main(void)\n{\n\tint i;\n\tfor (i = 0; i < 7; i++) {\n\t\tdwell_begin(&r);\n'
                '\t\tdwell_end(&r);\n\t}\n\treturn 0;\n}\n')
    strict = ['-Wall', '-Wextra', '-Werror', '-pedantic', '-I', INCLUDE]
    n = 0
    for compiler, language in (('gcc', '-std=c99'), ('clang', '-std=c99'), ('g++', '-std=c++11'),
                               ('clang++', '-std=c++11'), ('gcc', '-std=gnu89')):
        for way in ([], ['-O2', '-fno-pie', '-no-pie'], ['-O2', '-flto'], ['-static']):
            program = os.path.join(DIR, 'built')
            try:
                need(compiler)
            except Skip:
                continue
            kind = ['-x', 'c++'] if '++' in compiler else []
            subprocess.run([compiler, language, *strict, *way, *kind, source, '-o', program],
                           check=True)
            subprocess.run([program], check=True)
            if way == ['-static'] or (way == ['-O2', '-flto'] and 'clang' in compiler):
                continue
            path, _ = record('built', program)
            assert values(path, 'region-calls') == {'built': 7}, (compiler, language, way)
            n += 1
    assert n >= 2, n


sys.exit(run_all(TESTS, words=sys.argv[4:]))
