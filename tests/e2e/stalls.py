#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Where time went that a machine model does not expect: causes, their ranges, and sums.
usage: stalls.py DWELL DIRECTORY"""
import functools
import json
import math
import os
import re
import shlex
import sys

import harness
from harness import dwell, test

DIRECTORY = os.path.abspath(sys.argv[2])
KERNELS = DIRECTORY + '/e2e-stall_kernels'
FORKS = DIRECTORY + '/e2e-directions'
CHASE = DIRECTORY + '/e2e-ideal_chase'
ANCHORED = DIRECTORY + '/e2e-anchored'


def record(name, words, **more):
    """Recordings of time and of counts."""
    paths = []
    for experiment, options in [('usertime', ['--insn', '-i', '250us']), ('bbcounts', [])]:
        path = f'{harness.DIR}/{name}.{experiment}.dwell'
        p = dwell('run', '-e', experiment, *options, '-o', path, '--', *words, **more)
        assert p.returncode == 0, p
        paths.append(path)
    return paths


@functools.cache
def chased():
    return record('chased', [CHASE])


def kernel(name, turns):
    return record(f'{name}{turns}', [KERNELS, name, f'={turns}'])


def rows(*words):
    p = dwell('stalls', '--json', *words)
    assert p.returncode == 0, p
    report = json.loads(p.stdout)
    assert report['report'] == 'stalls' and 'quality' in report, report
    return report['rows']


def parts(row):
    return (row['execution_cycles'] + sum(w['cycles'] for w in row['waits']) + row['explained_cycles']
            + row['unexplained_cycles'] + row['gained_cycles'] + row['error_cycles'])


def check_sums(row):
    assert abs(parts(row) - row['cycles']) <= 1e-6 * row['cycles'] + 1, row
    for cause in row['causes']:
        assert -1e-6 <= cause['least_cycles'] <= cause['most_cycles'] + 1 <= row['explained_cycles'] + 2, (cause, row)


def range_of(row, cause):
    """Shares of the cycles."""
    found, = [c for c in row['causes'] if c['cause'] == cause]
    return found['least_cycles'] / row['cycles'], found['most_cycles'] / row['cycles']


def wait_of(row, wait):
    return sum(w['cycles'] for w in row['waits'] if w['wait'] == wait) / row['cycles']


@test
def all_parts_are_the_whole_whatever_the_program():
    for words in [['gzip', '-9', '-c', sys.executable], ['bzip2', '-c', '/usr/bin/gzip'], ['sort', '/usr/bin/gzip'],
                  ['grep', '-c', 'a.*b.*c', '/usr/bin/gzip'], ['awk', 'BEGIN { for (i = 0; i < 300000; i++) n[i % 1000] += i; print n[5] }'],
                  [FORKS], [CHASE]]:
        paths = record(os.path.basename(words[0]), words, text=False)
        whole, *functions = rows('--seconds', '0', *paths)
        check_sums(whole)
        assert whole['functions'] == len(functions) > 0, whole
        for row in functions:
            check_sums(row)
        # Whole and parts are of the same samples, and all that were left out are told.
        assert sum(row['samples'] for row in functions) == whole['samples'], words
        left = sum(whole[key]['samples'] for key in ('without_code', 'not_counted', 'not_in_time'))
        assert abs(whole['samples'] + left - whole['all_samples']) <= whole['all_samples'] * .001 + len(functions), whole
        assert abs(sum(row['cycles'] for row in functions) - whole['cycles']) <= 1e-6 * whole['cycles'], words
        assert rows('all', '--seconds', '0', *paths)[0] == whole, words
        # An image is a part of it.
        image, = rows('--limit', '1', functions[0]['image'], *paths)[:1]
        check_sums(image)
        assert image['kind'] == 'image' and functions[0]['samples'] <= image['samples'] <= whole['samples'], image


@test
def the_best_case_is_the_ideal_time_of_reports():
    """These go over the counted ways of all functions at once, calls included."""
    timed, counted = record('best', ['gzip', '-9', '-c', sys.executable], text=False)
    ideal = {}
    for row in harness.report(timed, counted, '--no-inline', '--limit', '0')['rows']:
        # Functions of one name are told apart by their files there.
        name = row['name'].split(' (')[0]
        ideal[name] = ideal.get(name, 0) + row['exclusive'].get('ideal-time', 0)
    whole, *functions = rows('--seconds', '0', timed, counted)
    expected = sum(ideal[name] for name in {row['name'] for row in functions}) * whole['clock_ghz']
    assert .85 * expected < whole['best_cycles'] < 1.15 * expected, (expected, whole)


@test
def a_planted_cause_is_named_where_it_is():
    for name, turns, cause in [('dram_chase', 300000, 'D-cache miss'), ('store_forward', 8000000, 'store forwarding'),
                               ('store_forward_far', 8000000, 'store forwarding'),
                               ('store_forward_apart', 8000000, 'store forwarding'),
                               ('mispredict', 12000000, 'mispredict'), ('fence', 3000000, 'synchronisation')]:
        paths = kernel(name, turns)
        row, = rows('kernel_' + name, *paths)
        check_sums(row)
        least, most = range_of(row, cause)
        assert most > .2, (name, row)
        for other in row['causes']:
            # Whoever shares the core makes all slower, which nothing explains.
            assert other['cause'] == cause or other['least_cycles'] < .05 * row['cycles'], (name, other, row)
        assert cause == 'D-cache miss' or least > .2, (name, row)
        worst = rows('--by', 'instruction', 'kernel_' + name, *paths)[0]
        assert cause in {c['cause'] for c in worst['culprits']}, (name, worst)


@test
def what_the_machine_cannot_do_faster_is_static():
    for name, turns, wait in [('products', 10000000, 'port'), ('divide', 4000000, 'divider'), ('l1_chase', 15000000, 'dependency')]:
        row, = rows('kernel_' + name, *kernel(name, turns))
        check_sums(row)
        # Where three products begin in a cycle their ports are less of the turn.
        has_three = name == 'products' and row['model'] == 'zen5'
        assert wait_of(row, wait) > (.25 if has_three else .35), (name, row)
        assert wait == max(row['waits'], key=lambda w: w['cycles'])['wait'], (name, row)
        # Each turn's best case is what manuals tell, however long it took here; of a machine without a model nobody knows.
        if row['model'].startswith('generic'):
            continue
        best = 2 if has_three else {'products': 6, 'divide': 14, 'l1_chase': 4}[name]
        assert .8 * best < row['best_cycles'] / turns < 1.3 * best, (name, row)


@test
def what_grew_between_two_runs_is_told():
    fast, slow = kernel('l2_chase', 8000000), kernel('dram_chase', 400000)
    # Loops of the same code: what was planted is in one function that both have.
    for paths in [fast, slow]:
        assert rows('kernel_reference', *paths)[0]['samples'], paths
    first, second = rows('kernel_reference', *fast, '--against', slow[0], '--against', slow[1])
    assert (first['run'], second['run']) == ('first', 'second') and first['samples'] and second['samples'], first
    check_sums(first)
    check_sums(second)
    # Without counts of its own the other has those of the first.
    chase = chased()
    first, second = rows('chase', *chase, '--against', chase[0])
    assert {**first, 'run': ''} == {**second, 'run': ''}, (first, second)
    text = dwell('stalls', 'chase', *chase, '--against', chase[0]).stdout
    assert 'Grew by' in text and '+0.0 %' in text, text


@test
def several_recordings_grew_as_each_of_them_did():
    fast, slow = kernel('l2_chase', 8000000)[0], kernel('dram_chase', 400000)[0]
    once, often = ({'growth': rows('kernel_reference', *[fast] * n, *['--against', slow] * m)[1]['growth'],
                    'text': dwell('stalls', 'kernel_reference', *[fast] * n, *['--against', slow] * m).stdout} for n, m in [(1, 1), (2, 3)])
    assert often['growth']['functions'] == once['growth']['functions'] == 1, (once, often)
    for key in 'cycles', 'elsewhere_cycles':
        assert math.isclose(often['growth'][key], once['growth'][key], rel_tol=1e-6, abs_tol=1), (key, once, often)
    total = [re.search(r'^total .*', x['text'], re.M).group() for x in (once, often)]
    assert total[0] == total[1], total


@test
def instructions_that_stall_most_come_first():
    paths = chased()
    found = rows('--by', 'instruction', *paths)
    assert found == sorted(found, key=lambda row: -row['cycles']), found
    assert found[0]['name'] == 'chase' and {'D-cache miss', 'DTLB miss'} <= {c['cause'] for c in found[0]['culprits']}, found[0]
    assert len(rows('--by', 'instruction', '--limit', '1', *paths)) == 1


def by_instruction(*words):
    p = dwell('report', '--by', 'instruction', '--json', *words)
    assert p.returncode == 0, p
    return json.loads(p.stdout)


@test
def reports_by_instruction_name_the_same_stalls():
    for words in [[CHASE], ['gzip', '-9', '-c', sys.executable]]:
        paths = record('rows', words, text=False)
        places = rows('--by', 'instruction', '--seconds', '0', *paths)
        report = by_instruction('--seconds', '0', *paths)
        total = report['total']['cpu-time']
        found = [r for r in report['rows'] if 'stall' in r]
        key = lambda x: (x['address'], x['is_on_the_way'], round(x['cycles']), len(x['culprits']))
        assert sorted(key(r['stall']) for r in found) == sorted(key(x) for x in places), words
        for r in found:
            assert not r['stall']['is_estimated'] and r['instruction'], r
            # Nobody stalls longer than was sampled there, and not the one that was sampled, but who was before.
            assert 0 < r['stall']['share'] <= r['exclusive']['cpu-time'] / total * 1.001, (r, total)
            assert (r['stall']['address'] == r['address']) == r['stall']['is_on_the_way'], r
        # Without looking at all functions the first are the same ones.
        first = by_instruction('--sort', 'stalled', '-n', '5', '--seconds', '0', *paths)['rows']
        worst = sorted(found, key=lambda r: -r['stall']['share'])[:5]
        assert [round(r['stall']['cycles']) for r in first] == [round(r['stall']['cycles']) for r in worst], (first, worst)


@test
def rows_of_instructions_are_those_of_samples_whatever_is_known():
    timed, counted = chased()
    report = by_instruction('--filter', 'leaf == chase', timed)
    assert sum(r['exclusive']['cpu-time'] for r in report['rows']) == report['total']['cpu-time'] > 0, report['total']
    # How often is estimated then, and so is what it waited.
    stalled = by_instruction('--sort', 'stalled', timed)['rows']
    assert stalled and all('stall' in r for r in stalled), stalled
    for stall in [r['stall'] for r in stalled]:
        assert stall['is_estimated'] and stall['cycles_each_low'] <= stall['cycles_each'] <= stall['cycles_each_high'], stall
    p = dwell('report', '--by', 'instruction', '--sort', 'stalled', counted)
    assert p.returncode == 0 and 'Nothing is known' in p.stdout, p
    # Only what was counted waits for nothing that is known; its instructions are there.
    row = max(by_instruction(counted)['rows'], key=lambda r: r['exclusive']['instructions'])
    assert row['instruction'] and 'stall' not in row, row


@test
def what_is_filtered_out_is_not_tallied():
    paths = chased()
    whole, part = rows(*paths)[0], rows('--filter', 'leaf == chase', *paths)
    assert part[0]['functions'] == 1 and part[0]['samples'] < whole['samples'], part[0]


@test
def no_line_is_wider_than_the_screen():
    paths = record('wide', [FORKS])
    for width in 80, 120, 160:
        p = dwell('report', '--by', 'instruction', '--seconds', '60', '--width', str(width), '--event', 'cpu-time', *paths)
        text = p.stdout.partition('\nNext:')[0]  # whose commands are never cut
        assert '↳ waited' in text and 'leaves out the counts' in ' '.join(text.split()), text
        long = [line for line in text.splitlines() if len(line) > width]
        assert not long, long
        for options in [], ['--by', 'procedure'], ['--by', 'instruction'], ['even'], ['--against', paths[0]]:
            for files in paths, paths[:1]:
                p = dwell('stalls', *options, '--width', str(width), *([] if options else ['all']), *files)
                assert p.returncode == 0 and 'tallied' in p.stdout, p
                text = p.stdout.partition('\nNext:')[0]
                long = [line for line in text.splitlines() if len(line) > width]
                assert not long, long


@test
def what_was_counted_now_and_then_will_do():
    """As often as in a run that counts all, and the same parts of the time."""
    path = f'{harness.DIR}/anchored.dwell'
    p = dwell('run', '-q', '--insn', '-e', 'usertime,anchors:20%', '-o', path, '--', ANCHORED, '60000')
    assert p.returncode == 0, p
    p = dwell('run', '-q', '-e', 'bbcounts', '-o', path + '.counts', '--', ANCHORED, '60000')
    assert p.returncode == 0, p
    for function in ('add_100000', 'divide_10000'):
        estimated, = rows(function, path)
        counted, = rows(function, path, path + '.counts')
        assert abs(parts(estimated) - estimated['cycles']) <= 1e-6 * estimated['cycles'] + 1, estimated
        assert not lies_in(counted, estimated), (lies_in(counted, estimated), estimated, counted)
        assert estimated['windows'] >= 5 and estimated['confidence'] in ('high', 'medium'), estimated
        assert abs(math.log(estimated['instructions'] / counted['instructions'])) < .3, (estimated, counted)
        for part in ('static_cycles', 'execution_cycles'):
            assert abs(estimated[part] - counted[part]) < .3 * counted['cycles'], (part, estimated, counted)
    total = rows(path)[0]
    assert total['functions'] >= 2 and total['windows'] >= 5, total
    assert 'by exact counts in' in dwell('stalls', path).stdout


def check_ranges(row):
    """What is about is the whole, and between the least and the most."""
    assert abs(parts(row) - row['cycles']) <= 1e-6 * row['cycles'] + 1, row
    assert row['confidence'] == 'low' and row['instructions_low'] <= row['instructions'] <= row['instructions_high'], row
    for part in PARTS:
        low, mean, high = (row[f'{part}_cycles{end}'] for end in ('_low', '', '_high'))
        assert low <= mean <= high and (part == 'error' or 0 <= low and high <= 1.001 * row['cycles']), (part, row)
    for wait in row['waits']:
        assert 0 <= wait['cycles_low'] <= wait['cycles'] <= wait['cycles_high'], (wait, row)
    for cause in row['causes']:
        assert -1e-6 <= cause['least_cycles'] <= cause['most_cycles'] <= 1.001 * row['cycles'], (cause, row)


PARTS = ('dynamic', 'static', 'execution', 'unexplained', 'gained', 'error')
ROUGHLY = .02  # of the cycles: of the one and the other model's schedule, whose ways were not as likely


def lies_in(exact, estimated):
    """The parts of the exact summary that are not in the ranges of the other."""
    room = ROUGHLY * exact['cycles']
    names = [f'{part}_cycles' for part in ('dynamic', 'static', 'execution')]
    out = [n for n in names if not estimated[n + '_low'] - room <= exact[n] <= estimated[n + '_high'] + room]
    for counted, guessed in zip(exact['waits'], estimated['waits']):
        if not guessed['cycles_low'] - room <= counted['cycles'] <= guessed['cycles_high'] + room:
            out.append(counted['wait'])
    for counted, guessed in zip(exact['causes'], estimated['causes']):
        if counted['least_cycles'] < guessed['least_cycles'] - room or counted['most_cycles'] > guessed['most_cycles'] + room:
            out.append(counted['cause'])
    return out


@test
def samples_alone_tell_ranges_that_have_the_truth():
    for words, function in [([CHASE], 'chase'), ([FORKS], None), (['gzip', '-c', os.path.abspath(sys.argv[1])], None)]:
        timed, counted = chased() if function else record('alone' + os.path.basename(words[0]), words, text=False)
        for name in ['all', function] if function else ['all']:
            exact, guessed = rows(name, '--seconds', '0', timed, counted)[0], rows(name, '--seconds', '0', timed)[0]
            check_ranges(guessed)
            assert guessed['samples'] == exact['samples'] and not lies_in(exact, guessed), (
                words, name, lies_in(exact, guessed), exact, guessed)


@test
def who_may_wait_for_memory_is_not_told_to_work():
    """A loop of three instructions, of which one is a load, has no samples but its waits."""
    timed, _ = chased()
    row, = rows('chase', timed)
    assert row['instructions_high'] > 10 * row['instructions_low'], row
    assert row['dynamic_cycles_high'] > .95 * row['cycles'] and row['static_cycles_low'] < .05 * row['cycles'], row
    assert range_of(row, 'D-cache miss')[1] > .95 and range_of(row, 'DTLB miss')[1] > .95, row
    others = [c['most_cycles'] for c in row['causes'] if c['cause'] not in ('D-cache miss', 'DTLB miss')]
    assert max(others) < .3 * row['cycles'], row
    # Each place as well.
    worst = rows('--by', 'instruction', 'chase', timed)[0]
    assert worst['cycles_low'] <= worst['cycles'] <= worst['cycles_high'] <= row['cycles'], worst
    assert worst['cycles_each_low'] < worst['cycles_each_high'], worst
    # What grew is told as far apart as both may be.
    text = ' '.join(dwell('stalls', 'chase', timed, '--against', timed).stdout.split())
    assert 'confidence low' in text and 'anchors:5%' in text and 'bbcounts' in text and 'execution' in text, text
    assert re.search(r'dynamic stalls (-?[0-9.]+–[0-9.]+ % ){2}-[0-9.]+ to \+[0-9.]+ %', text), text


def told_next(p):
    """Commands without 'dwell'."""
    assert p.returncode == 0, p
    _, _, text = p.stdout.partition('\nNext: ')
    return [shlex.split(line)[1:] for line in re.split(r'  ·  |\n', text) if line.strip()]


@test
def what_to_run_next_runs():
    paths = chased()
    library = next(row['image'] for row in rows('--seconds', '0', *paths)[1:])
    for words in ['stalls', *paths], ['stalls', 'chase', *paths], ['stalls', library, *paths], ['stalls', paths[0], '--against', paths[0]]:
        told = told_next(dwell(*words))
        assert [line[0] for line in told] == ['calc', 'stalls'], (words, told)
        for line in told:
            assert dwell(*line).returncode == 0, line
            assert ['cfg', 'calc', 'stalls'][line[0] == 'stalls':][0] in [x[0] for x in told_next(dwell(*line))], line
    assert ['stalls', '--by', 'instruction', library, *paths] in told_next(dwell('stalls', library, *paths)), library
    # Without samples of time there are no stalls.
    assert [line[0] for line in told_next(dwell('calc', 'chase', paths[1]))] == ['cfg']


@test
def what_is_missing_is_said():
    timed, counted = chased()
    text = ' '.join(dwell('stalls', timed).stdout.split())
    assert 'low confidence, so all are ranges' in text and 'bbcounts' in text and 'anchors:5%' in text, text
    p = dwell('stalls', counted)
    assert p.returncode == 1 and 'cpu-time' in p.stderr, p
    p = dwell('stalls', '--against', timed, '--by', 'procedure', timed, counted)
    assert p.returncode == 2, p
    p = dwell('stalls', 'no_such_function', timed, counted)
    assert p.returncode == 2 and 'no_such_function' in p.stderr, p


sys.exit(harness.run_all(harness.TESTS, words=sys.argv[3:]))
