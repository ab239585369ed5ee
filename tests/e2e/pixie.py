#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Exact counts in pixie's form, read back by a reader of their own.
usage: pixie.py DWELL DIRECTORY"""
import json
import os
import shutil
import subprocess
import sys

import harness
import pixie_pair
from harness import dwell, test

PROGRAMS = os.path.abspath(sys.argv[2])
BLOCKS, STATIC, HARD = (f'{PROGRAMS}/e2e-blocks{s}' for s in ['', '-static', '_hard'])
SAMPLED = f'{PROGRAMS}/e2e-directions'
THREADS = f'{PROGRAMS}/e2e-blocks_threads'


def record(*words, name='r'):
    path = f'{harness.DIR}/{name}.dwell'
    dwell('run', '-e', 'bbcounts', '-o', path, '--', *words)
    return path


def export(path, name='counts', code=0):
    """The directory, and what was said."""
    folder = f'{harness.DIR}/{name}'
    shutil.rmtree(folder, ignore_errors=True)
    p = dwell('export', 'pixie', '-o', folder, path)
    assert p.returncode == code, p
    return folder, p


def rows(what, path):
    return json.loads(dwell(what, '--json', '--limit', '0', path).stdout)['rows']


def blocks_of(path):
    """{image's path: [(start, end, times)]}, of files."""
    found = {}
    for b in rows('blocks', path):
        if os.path.isabs(b['function']['image']):
            found.setdefault(b['function']['image'], []).append((b['address'], b['address'] + b['bytes'], b['times']))
    return found


def instructions_of(path):
    """{image's name: [(address, times, function)]}"""
    found = {}
    for row in rows('pcs', path):
        found.setdefault(row['image'], []).append((row['address'], row['exclusive']['instructions'], row['function']))
    return found


def pairs_of(path):
    """{image's path: its pair}, where no two have one name."""
    folder, _ = export(path)
    return {image: pixie_pair.Pair(f'{folder}/{os.path.basename(image)}', image) for image in blocks_of(path)}


def code_at(image, address):
    return next(code[address - at] for at, code in pixie_pair.text_of(image) if at <= address < at + len(code))


@test
def every_instruction_was_executed_as_often_as_its_block():
    for words in [[BLOCKS], [STATIC], [THREADS], ['ls', '-l', '/usr/bin'], ['/bin/sh', '-c', '(exit 3); date; date']]:
        path = record(*words)
        own = instructions_of(path)
        for image, pair in pairs_of(path).items():
            different = [(hex(a), n, pair.count(a)) for a, n, _ in own[os.path.basename(image)]
                         if n != pair.count(a) and code_at(image, a - 1) != 0xf0]  # whose lock is skipped
            assert own[os.path.basename(image)] and not different, (words, image, different)


@test
def blocks_begin_where_others_begin_or_end_and_add_up():
    for program in [BLOCKS, HARD]:
        path = record(program)
        blocks = blocks_of(path)
        assert program in blocks, blocks.keys()
        for image, pair in pairs_of(path).items():
            cuts = {at for start, end, _ in blocks[image] for at in (start, end)}
            assert cuts | {pair.starts[0], pair.starts[-1]} == set(pair.starts), image
            times = dict.fromkeys(pair.starts, 0)
            index = {at: i for i, at in enumerate(pair.starts)}
            for start, end, n in blocks[image]:
                for at in pair.starts[index[start]:index[end]]:
                    times[at] += n
            assert [times[at] for at in pair.starts[:-1]] == pair.counts, image


@test
def only_instructions_within_others_are_not_told_apart():
    path = record(HARD)
    pair = pairs_of(path)[HARD]
    different = {f for a, n, f in instructions_of(path)['e2e-blocks_hard'] if n != pair.count(a)}
    assert different == {'jump_into_instructions'}, different


@test
def a_block_that_was_left_in_its_middle_was_entered():
    harness.need('gcc')
    source, program = f'{harness.DIR}/fault.c', f'{harness.DIR}/fault'
    with open(source, 'w', encoding='ascii') as f:
        f.write('#include <signal.h>\n#include <stdlib.h>\n'
                'static int n; int *volatile p[20] = { [0 ... 18] = &n };\n'
                'static void leave(int s) { _Exit(s != SIGSEGV); }\n'
                'int main(void) { signal(SIGSEGV, leave); for (int i = 0; i < 20; i++) { ++*p[i]; n ^= 1; } return 0; }\n')
    subprocess.run(['gcc', '-O1', source, '-o', program], check=True)
    path = record(program)
    pair = pairs_of(path)[program]
    different = {(n, pair.count(a)) for a, n, _ in instructions_of(path)['fault'] if n != pair.count(a)}
    assert different == {(19, 20)}, different


@test
def what_was_never_executed_is_there():
    pair = pairs_of(record(BLOCKS))[BLOCKS]
    out = subprocess.run(['nm', BLOCKS], capture_output=True, text=True, check=True).stdout
    address = {words[2]: int(words[0], 16) for words in map(str.split, out.splitlines()) if len(words) == 3}
    assert pair.count(address['branch']) == 3200
    assert 0 in pair.counts and pair.count(pair.starts[0]) == 1  # _init


@test
def copies_of_a_file_are_one_and_namesakes_are_told_apart():
    for name, program in [('a', STATIC), ('b', BLOCKS), ('c', STATIC)]:
        os.makedirs(f'{harness.DIR}/{name}', exist_ok=True)
        shutil.copy(program, f'{harness.DIR}/{name}/prog')
    path = record('/bin/sh', '-c', f'for i in a b c; do {harness.DIR}/$i/prog; done')
    folder, _ = export(path)
    found = {}
    for name in ['prog', 'prog.2']:
        for program in [STATIC, BLOCKS]:
            try:
                found[program] = pixie_pair.Pair(f'{folder}/{name}', program)
            except AssertionError:  # the other's
                pass
    once = pairs_of(record(STATIC, name='once'))[STATIC]
    out = subprocess.run(['nm', STATIC], capture_output=True, text=True, check=True).stdout
    branch = next(int(line.split()[0], 16) for line in out.splitlines() if line.endswith(' branch'))
    assert found[STATIC].count(branch) == 2 * once.count(branch) == 6400, found
    assert len(found) == 2 and not os.path.exists(f'{folder}/prog.3.Addrs'), os.listdir(folder)


@test
def what_has_no_file_is_left_out_and_told():
    program = f'{harness.DIR}/gone'
    shutil.copy(BLOCKS, program)
    path = record(program)
    os.unlink(program)
    folder, p = export(path)
    lines = p.stderr.splitlines()
    assert len(lines) == 1 and f'instructions of {program}: not found' in lines[0], p.stderr
    assert sorted(os.listdir(folder)) == [f'{name}.{part}' for name in ['ld-linux-x86-64.so.2', 'libc.so.6']
                                          for part in ['Addrs', 'Counts']], os.listdir(folder)
    shutil.copy(STATIC, program)
    _, p = export(path)
    assert f'instructions of {program}: replaced' in p.stderr, p.stderr
    p = dwell('export', 'pixie', '-o', f'{harness.DIR}/date', record('date'))
    assert p.returncode == 0 and 'of [vdso]: there is no file of it' in p.stderr, p


def ranges_of(path):
    """{offset: (low, estimate, high)}"""
    with open(path, encoding='ascii') as f:
        lines = [line.split() for line in f if not line.startswith('#')]
    return {int(at, 16): tuple(map(int, numbers)) for at, *numbers in lines}


def branches_of(path):
    """{offset: (share of taken, passages)}"""
    with open(path, encoding='ascii') as f:
        lines = [line.split() for line in f if not line.startswith('#')]
    assert [int(at, 16) for at, *_ in lines] == sorted({int(at, 16) for at, *_ in lines}), lines
    return {int(at, 16): (float(taken), int(seen)) for at, taken, seen in lines}


def check_branches(row, branches, start):
    """As calc has them."""
    n = 0
    for b in row['blocks']:
        at = b['instructions'][-1]['address'] - start
        if at not in branches:
            continue
        n += 1
        taken, on = (sum(w['times'] for w in b['ways'] if w['kind'] == kind) for kind in ('taken', 'on'))
        assert len(b['ways']) == 2 and abs(branches[at][0] - taken / (taken + on)) < 1e-3, (at, branches[at], b['ways'])
        assert branches[at][1] == sum(w['seen'] for w in b['ways']), (at, branches[at], b['ways'])
    return n


@test
def what_samples_tell_is_there_as_an_estimate():
    for options in [['--insn'], []]:
        path = f'{harness.DIR}/sampled.dwell'
        p = dwell('run', '-e', 'usertime', *options, '-i', '200us', '-o', path, '--', SAMPLED)
        assert p.returncode == 0, p
        folder, p = export(path, 'estimates')
        assert 'no counts but estimates' in p.stderr and 'confidence low' in p.stderr, p.stderr
        pair = pixie_pair.Pair(f'{folder}/e2e-directions', SAMPLED)
        ranges = ranges_of(f'{folder}/e2e-directions.Ranges')
        assert [pair.starts[0] + at for at in ranges] == pair.starts[:-1], ranges.keys()
        assert [numbers[1] for numbers in ranges.values()] == pair.counts, ranges
        # As calc has it, function by function.
        functions = {r['function'] for r in rows('pcs', path)
                     if r['image'] == 'e2e-directions' and r['exclusive']['cpu-time']}
        branches, n_branches = branches_of(f'{folder}/e2e-directions.Branches'), 0
        assert any(seen for _, seen in branches.values()) == ('--insn' in options), branches
        n_seen = 0
        for name in functions:
            p = dwell('calc', '--json', name, path)
            if p.returncode:
                assert 'only inlined' in p.stderr, p
                continue
            n_seen += 1
            row, = json.loads(p.stdout)['rows']
            for b in row['blocks']:
                told = ranges[b['start'] - pair.starts[0]]
                for n, key in zip(told, ['times_low', 'times', 'times_high']):
                    assert abs(n - b[key]) <= .5 + 1e-9 * b[key], (name, b['start'], told, b[key])
                assert told[0] <= told[1] <= told[2], told
            n_branches += check_branches(row, branches, pair.starts[0])
        assert n_seen > 3 and n_branches > 3, functions
    # Exact counts have no ranges, and estimates do not add to them.
    counted = record(SAMPLED)
    p = dwell('export', 'pixie', '-o', f'{harness.DIR}/both', path, counted)
    assert p.returncode == 2 and 'export it alone' in p.stderr, p
    folder, p = export(counted, 'exact')
    assert not [name for name in os.listdir(folder) if name.endswith(('.Ranges', '.Branches'))] and 'estimate' not in p.stderr, p


@test
def all_files_are_written_or_none():
    path = record(BLOCKS)
    folder = f'{harness.DIR}/full'
    os.makedirs(folder)
    os.symlink('/dev/full', f'{folder}/libc.so.6.Counts')
    with open(f'{folder}/mine', 'w', encoding='ascii') as f:
        f.write('stays')
    p = dwell('export', 'pixie', '-o', folder, path)
    assert p.returncode == 1 and 'libc.so.6.Counts: cannot write' in p.stderr, p
    assert sorted(os.listdir(folder)) == ['libc.so.6.Counts', 'mine'], os.listdir(folder)
    p = dwell('export', 'pixie', '-o', f'{path}/below', path)
    assert p.returncode == 1 and 'cannot create directory' in p.stderr, p


@test
def what_cannot_be_told_is_refused_in_words():
    path = record(BLOCKS)
    for words, text in [(['-o', '-'], 'several files'), (['--filter', 'function == main'], '--filter')]:
        p = dwell('export', 'pixie', *words, path)
        assert p.returncode and text in p.stderr and len(p.stderr.splitlines()) == 1, (words, p)


sys.exit(harness.run_all(harness.TESTS, words=sys.argv[3:]))
