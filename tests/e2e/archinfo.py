#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What programs are made of, beside what objdump reads in their code and what callgrind saw.
usage: archinfo.py DWELL DIRECTORY"""
import collections
import json
import os
import re
import shutil
import subprocess
import sys

import harness
from harness import dwell, test

PROGRAMS = os.path.abspath(sys.argv[2])
COUNTED = f'{PROGRAMS}/e2e-archinfo_counted'
STATIC = f'{PROGRAMS}/e2e-blocks-static'
# What the disassemblers call otherwise.
ALIASES = {'sal': 'shl'}
PREFIXES = {'lock', 'rep', 'repz', 'repnz', 'bnd', 'notrack', 'data16', 'cs', 'ds', 'es', 'ss', 'fs', 'gs', 'addr32',
            'rex', 'rex.W', 'xacquire', 'xrelease'}
STRING = {'movs', 'stos', 'lods', 'scas', 'cmps'}
SUFFIX = {'BYTE': 'b', 'WORD': 'w', 'DWORD': 'd', 'QWORD': 'q'}
# Their first operand is not written.
ONLY_READ = re.compile(r'cmp$|test$|bt$|v?u?comis[sd]$|v?ptest$|push$|mul$|imul$|i?div$|call$|jmp$|prefetch|nop$|'
                       r'f|ldmxcsr$|v?ldmxcsr$|xrstor|clflush')
ONLY_WRITTEN = re.compile(r'v?mov|v?extract|v?pextr|set|v?stmxcsr$|fn?i?st|f?xsave|kmov|vcompress')


def record(*words, name='r', **more):
    path = f'{harness.DIR}/{name}.dwell'
    p = dwell('run', '-e', 'bbcounts', '-o', path, '--', *words, **more)
    assert os.path.exists(path), (words, p)
    return path


class Info:
    """{name: row} of each table."""

    def __init__(self, path, *options):
        p = dwell('archinfo', '--json', *options, path)
        assert p.returncode == 0, p.stderr
        self.whole = json.loads(p.stdout)
        self.tables = collections.defaultdict(dict)
        for row in self.whole['rows']:
            table = self.tables[row['table']]
            assert row['name'] not in table, row
            table[row['name']] = row

    def times(self, table, name):
        return self.tables[table].get(name, {'times': 0})['times']


def pairs(line):
    return dict(re.findall(r'(\w+)=("[^"]*"|\S+)', line))


def counts(path, program):
    """{offset in the program: times}, by dwell cat."""
    of = collections.defaultdict(list)
    for line in dwell('cat', path).stdout.splitlines():
        of[line.split()[0]].append(pairs(line))
    found = collections.Counter()
    for s in of['sample']:
        where = of['location'][int(of['stack'][int(s['stack']) - 1]['location'])]
        if of['image'][int(where['image'])]['path'].strip('"') == program:
            found[int(where['offset'], 0)] += int(s['weight'])
    return found


def image_paths(path):
    return [pairs(line)['path'].strip('"') for line in dwell('cat', path).stdout.splitlines() if line.startswith('image ')]


def run(*words):
    return subprocess.run(words, capture_output=True, text=True, check=True, timeout=120).stdout


def loads_of(program):
    lines = run('readelf', '-lW', program).splitlines()
    return [[int(w, 16) for w in line.split()[1:5]] for line in lines if line.split()[:1] == ['LOAD']]


def offset_of(segments, address):
    return next(address - v + off for off, v, _, size in segments if v <= address < v + size)


def disassembled(program):
    """{offset: (mnemonic, operands)} by objdump."""
    segments, found = loads_of(program), {}
    for line in run('objdump', '-d', '-M', 'intel', '--no-show-raw-insn', program).splitlines():
        m = re.match(r' *([0-9a-f]+):\t(.*)', line)
        if not m:
            continue
        address = int(m.group(1), 16)
        words = m.group(2).split('#')[0].strip().split(' ')
        if words[0] == '(bad)':
            continue
        prefixes = []
        while len(words) > 1 and (words[0] in PREFIXES or words[0].startswith('rex.')):
            prefixes.append(words.pop(0))
        name, operands = words[0].split(',')[0], re.sub(r' *<.*', '', ' '.join(words[1:]).strip())
        if name in STRING:
            name += SUFFIX[re.search(r'(\w+) PTR', operands).group(1)]
            name = 'rep ' + name if set(prefixes) & {'rep', 'repz', 'repnz'} else name
        if name == 'xchg' and operands == 'ax,ax':
            name = 'nop'
        found[offset_of(segments, address)] = ALIASES.get(name, name), operands
    return found


def memory_of(name, operands):
    """(loads, stores) that stand in an instruction's text."""
    operands = re.sub(r'\b[defgs]s:(0x\w+)', r'[\1]', operands)
    if name in ('push', 'call'):
        return '[' in operands, True
    if name in ('pop', 'ret', 'leave'):
        return True, '[' in operands
    plain = name.removeprefix('rep ')
    if plain[:4] in STRING and plain[4:] in SUFFIX.values() and 'xmm' not in operands:
        return plain[:4] != 'stos', plain[:4] in ('movs', 'stos')
    if '[' not in operands or name in ('lea', 'nop') or name.startswith('prefetch'):
        return False, False
    if '[' not in operands.split(',')[0] and not re.match(r'xchg$', name):
        return True, False
    if ONLY_READ.match(name) and not ONLY_WRITTEN.match(name):
        return True, False
    return not ONLY_WRITTEN.match(name), True


def told_by_objdump(path, program):
    """Mnemonics, loads and stores of what was executed of the program."""
    code = disassembled(program)
    mnemonics, loads, stores = collections.Counter(), 0, 0
    for off, times in counts(path, program).items():
        name, operands = code[off]
        mnemonics[name] += times
        does = memory_of(name, operands)
        loads += does[0] * times
        stores += does[1] * times
    return mnemonics, loads, stores


def check_image(path, program, *options):
    """One image against objdump.  What the decoder does not know is vectors' of late: told as unknown."""
    info = Info(path, *options)
    theirs, loads, stores = told_by_objdump(path, program)
    ours = {name: row['times'] for name, row in info.tables['mnemonics'].items()}
    unknown = ours.pop('(unknown)', 0)
    differ = {name: (ours.get(name, 0), theirs[name]) for name in {*ours, *theirs} if ours.get(name, 0) != theirs[name]}
    assert not info.tables['not-at-hand'], info.tables['not-at-hand']
    assert unknown == info.times('kinds', 'unknown') and unknown < 5000, unknown
    assert unknown == sum(b - a for a, b in differ.values()), (program, unknown, differ)
    assert all(name[0] in 'vk' and a < b for name, (a, b) in differ.items()), (program, differ)
    assert abs(info.times('totals', 'loads') - loads) <= unknown, (program, info.tables['totals'], loads)
    assert abs(info.times('totals', 'stores') - stores) <= unknown, (program, info.tables['totals'], stores)


@test
def numbers_of_a_loop_are_those_that_are_counted_by_hand():
    info = Info(record(COUNTED), '--filter', 'function == counted')
    n = 1000
    assert info.times('totals', 'instructions') == 4 + 12 * n + n // 2 + 3, info.tables['totals']
    assert info.times('totals', 'distinct-instructions') == 4 + 13 + 3
    assert info.times('totals', 'loads') == 3 * n + 3
    assert info.times('totals', 'stores') == 2 * n + 2
    assert info.times('totals', 'loads-and-stores') == n + 1
    kinds = {name: (row['times'], row['loads'], row['stores']) for name, row in info.tables['kinds'].items()}
    assert kinds == {
        'load': (2 * n, 2 * n, 0), 'store': (n, 0, n), 'stack': (2, 1, 1), 'move': (1, 0, 0),
        'integer': (5 * n + 1, n, n), 'address': (1, 0, 0), 'branch': (2 * n, 0, 0), 'return': (1, 1, 0),
        'scalar': (n, 0, 0), 'vector-128': (n, 0, 0), 'atomic': (1, 1, 1), 'nothing': (n // 2, 0, 0)}, kinds
    operands = {name: (row['times'], row['loads'], row['stores']) for name, row in info.tables['operands'].items()}
    assert operands == {
        'indexed': (n, n, 0), 'displaced': (n, n, n), 'ip-relative': (n + 1, n + 1, 1), 'base': (n, 0, n),
        'stack': (3, 2, 1)}, operands
    used = {name: (row['reads'], row['writes'], row['addresses']) for name, row in info.tables['registers'].items()}
    assert used == {
        'rax': (3 * n, 2 * n + 1, n), 'rcx': (n, n + 1, 0), 'rdx': (n, n, 0), 'rbx': (n + 1, n + 1, 0),
        'rsp': (3, 3, 0), 'rsi': (0, 1, 3 * n), 'rdi': (1, 0, 0),
        'xmm0': (n, n, 0), 'xmm1': (n, 0, 0), 'xmm2': (n, n, 0), 'xmm3': (n, 0, 0),
        # xor, add, and, add, test, dec, lock inc
        'flags': (2 * n, 5 * n + 2, 0)}, used
    assert not info.tables['flow'] and 'blocks' not in info.tables['totals']
    text = dwell('archinfo', '--filter', 'function == counted', f'{harness.DIR}/r.dwell').stdout
    assert 'left out' in text, text


@test
def every_instruction_is_of_one_kind():
    for words in [[COUNTED], [STATIC], ['gzip', '-c', '/bin/ls'], ['ls', '-l', '/usr/bin']]:
        info = Info(record(*words, text=False))
        total, known = info.times('totals', 'instructions'), info.times('totals', 'known-instructions')
        assert total == info.whole['total']['instructions'], info.whole['total']
        for table in ['kinds', 'mnemonics']:
            assert sum(row['times'] for row in info.tables[table].values()) == known, (words, table)
        assert known + sum(row['times'] for row in info.tables['not-at-hand'].values()) == total
        for key in ['loads', 'stores']:
            for table in ['kinds', 'operands']:
                told = sum(row.get(key, 0) for row in info.tables[table].values())
                # Few have implicit operands only; those of push and pop may be in two forms.
                assert abs(told - info.times('totals', key)) <= (table == 'operands') * total * .001, (words, table, key)
        for kind, flow in [('branch', 'branches'), ('jump', 'jumps'), ('call', 'calls'), ('return', 'returns'),
                           ('indirect-jump', 'indirect-jumps'), ('indirect-call', 'indirect-calls')]:
            ours, told = info.times('kinds', kind), info.times('flow', flow)
            assert abs(ours - told) <= 2 + total - known, (words, kind, ours, told)


@test
def filters_share_what_there_is():
    path = record(STATIC)
    whole = Info(path)
    parts = [Info(path, '--filter', f'function {how} main') for how in ['==', '!=']]
    for table in ['kinds', 'mnemonics', 'operands']:
        for name, row in whole.tables[table].items():
            assert sum(part.times(table, name) for part in parts) == row['times'], (table, name)
    nobody = dwell('archinfo', '--filter', 'function == nobody', path)
    assert nobody.returncode == 0, nobody


@test
def another_disassembler_reads_the_same_mnemonics_loads_and_stores():
    harness.need('objdump', 'readelf')
    for program in [COUNTED, STATIC]:
        check_image(record(program), program)


@test
def another_disassembler_reads_the_same_of_libraries():
    harness.need('objdump', 'readelf', 'gzip')
    path = record('gzip', '-c', '/bin/ls', text=False)
    images = [row['name'] for row in harness.report(path, '--by', 'image')['rows']]
    paths = {os.path.basename(x): x for x in image_paths(path)}
    checked = [check_image(path, paths[name], '--filter', f'image == "{name}"') for name in images
               if os.path.exists(paths.get(name, ''))]
    assert len(checked) >= 3, (images, paths)


def jumps_of(out):
    """What callgrind saw: {(branch, target): times taken}, {branch: times}, indirect calls."""
    taken, branches, indirect, is_skipped, pending = collections.Counter(), collections.Counter(), 0, False, None
    with open(out, encoding='ascii') as f:
        for line in f:
            words = line.split()
            if line.startswith('jcnd='):
                pending = int(words[1], 16), int(words[0][len('jcnd='):].split('/')[0])
            elif line.startswith(('calls=', 'jump=')):
                is_skipped = True
            elif line.startswith('0x') and pending:
                taken[int(words[0], 16), pending[0]] += pending[1]
                pending = None
            elif line.startswith('0x') and not is_skipped:  # Ir Bc Bcm Bi Bim, no zeros at the end
                events = [*map(int, words[2:]), 0, 0, 0, 0]
                branches[int(words[0], 16)] += events[1]
                indirect += events[3]
            elif line.startswith('0x'):  # what the callee cost
                is_skipped = False
    return taken, branches, indirect


@test
def another_counter_sees_the_same_branches_taken():
    harness.need('valgrind', 'objdump', 'readelf')
    out = f'{harness.DIR}/callgrind'
    run('valgrind', '--tool=callgrind', '--branch-sim=yes', '--collect-jumps=yes', '--dump-instr=yes',
        '--compress-pos=no', '--compress-strings=no', f'--callgrind-out-file={out}', COUNTED)
    taken, branches, indirect = jumps_of(out)
    # Its own of other instructions: a lock is a loop there.
    segments, code = loads_of(COUNTED), disassembled(COUNTED)
    sites = {a: n for a, n in branches.items() if n and re.match(r'j(?!mp)', code[offset_of(segments, a)][0])}
    info = Info(record(COUNTED))
    told = info.tables['flow']['branches']
    assert (told['times'], told['sites']) == (sum(sites.values()), len(sites)), (told, sites)
    assert info.times('flow', 'taken') == sum(taken.values()), (info.tables['flow'], taken)
    for name, is_forward in [('taken-forward', True), ('taken-backward', False)]:
        times = sum(n for (site, to), n in taken.items() if (to > site) == is_forward)
        assert info.times('flow', name) == times, (name, times)
    of_site = {site: n for (site, _), n in taken.items()}
    assert told['usual'] == sum(max(of_site.get(site, 0), n - of_site.get(site, 0)) for site, n in sites.items())
    calls = info.tables['flow']['indirect-calls']
    assert calls['times'] == indirect == 300, (calls, indirect)
    assert (calls['sites'], calls['ways'], calls['usual']) == (1, 3, 200), calls


@test
def code_that_is_gone_is_told():
    gone = f'{harness.DIR}/gone'
    shutil.copy(COUNTED, gone)
    path = record(gone)
    before = Info(path)
    os.unlink(gone)
    after = Info(path)
    assert after.times('totals', 'instructions') == before.times('totals', 'instructions')
    assert after.times('totals', 'known-instructions') == 0, after.tables['totals']
    assert after.times('not-at-hand', gone) == after.times('totals', 'instructions')
    assert after.tables['flow'] == before.tables['flow']
    assert 'not at hand' in dwell('archinfo', path).stdout


@test
def what_has_no_counts_is_refused_in_words():
    harness.need('sleep')
    path = f'{harness.DIR}/sampled.dwell'
    dwell('run', '-o', path, '--', 'true')
    p = dwell('archinfo', path)
    assert p.returncode == 1 and 'bbcounts' in p.stderr, p
    counted = record(COUNTED)
    p = dwell('archinfo', counted, counted)
    assert p.returncode == 2 and 'one recording' in p.stderr, p


@test
def tables_fit_the_terminal():
    path = record(STATIC)
    for width in [60, 80, 160]:
        lines = dwell('archinfo', '--width', str(width), path).stdout.splitlines()
        assert max(map(len, lines)) <= width, max(lines, key=len)


sys.exit(harness.run_all(harness.TESTS, words=sys.argv[3:]))
