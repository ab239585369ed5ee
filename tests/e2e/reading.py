#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads the recording of a program whose time is spent in one loop, down to its lines and
instructions.  usage: reading.py DWELL"""
import json
import os
import re
import subprocess
import sys

import spinning
from harness import DIR, TESTS, Skip, dwell, fact, may_record, need, run_all, test

FILE = os.path.join(DIR, 'x.dwell')
USER = ('--filter', 'mode == user')


def shell(command):
    subprocess.run(command, shell=True, cwd=DIR, check=True, timeout=120,
                   stdout=subprocess.DEVNULL)


def record(program, file):
    p = dwell('run', '-q', '-i', '2ms', '-o', file, '--', program, cwd=DIR)
    assert p.returncode == 0, p.stderr


def build():
    need('gcc')
    if os.path.exists(FILE):
        return
    with open(os.path.join(DIR, 'spin.c'), 'w', encoding='utf-8') as f:
        f.write(spinning.source(2))
    shell('gcc -O2 -g spin.c -o spin')
    record('./spin', FILE)


def distinct(pairs):
    keys = [key for key, _ in pairs]
    assert len(keys) == len(set(keys)), f'a key twice in {keys}'
    return dict(pairs)


def answer(command, *args):
    """What a command says in JSON."""
    p = dwell(command, '--json', *args, FILE, cwd=DIR)
    assert p.returncode == 0, p.stderr
    return json.loads(p.stdout, object_pairs_hook=distinct)


def text(command, *args):
    p = dwell(command, '--width', '120', *args, FILE, cwd=DIR)
    assert p.returncode == 0, p.stderr
    return p.stdout


def exclusive(rows):
    return sum(row['exclusive'].get('cpu-time', 0) for row in rows)


def kept(expression):
    """The share of the program's own time for which a filter holds."""
    rows = answer('report', '--filter', f'mode == user && ({expression})')['rows']
    return exclusive(rows) / exclusive(answer('report', *USER)['rows'])


@test
def the_time_of_a_file_is_that_of_its_loop():
    build()
    r = answer('report', '--by', 'file', *USER)
    rows = [row for row in r['rows'] if row['name'].endswith('spin.c')]
    assert len(rows) == 1 and exclusive(rows) > 0.95 * r['total']['cpu-time'], r['rows']


@test
def filters_know_places():
    build()
    assert kept('experiment == usertime') == 1
    assert kept('experiment == faults') == 0
    assert kept('file == spin.c') > 0.95
    assert kept('file == spin.h') == 0
    assert kept('line == 4 || line == 5') > 0.9
    assert kept('line == 99') == 0
    work = answer('annotate', 'work')['rows'][0]['instructions']
    first, last = work[0]['address'], work[-1]['address']
    assert kept(f'address in {first}..{last}') > 0.9
    assert kept(f'address > {last + 100000}') == 0


@test
def intervals_of_time_that_overlap_count_once():
    build()
    whole = kept('time >= 0')
    halves = kept('time < 300ms || time in 100ms..1000s')
    assert whole == halves == 1, (whole, halves)
    half = fact(answer('report'), 'wall-time') // 2  # however slow the machine is
    early, late = kept(f'time < {half}ns'), kept(f'time >= {half}ns')
    assert 0 < early < 1 and abs(early + late - 1) < 1e-9, (early, late)


@test
def each_instruction_has_its_time_and_its_line():
    build()
    row = answer('annotate', 'work', *USER)['rows'][0]
    code = row['instructions']
    assert all(re.match(r'[a-z]', i['text']) and i['address'] for i in code), code
    assert [i['address'] for i in code] == sorted({i['address'] for i in code})
    loop = [i for i in code if i.get('line') in spinning.LOOP and i.get('inlined') == 'mix']
    measured = exclusive(i for i in loop if 'exclusive' in i)
    total = exclusive(i for i in code if 'exclusive' in i)
    assert loop and measured > 0.95 * total > 0, code
    inlined = row['inlined']
    assert [i['function']['name'] for i in inlined] == ['mix'], inlined
    assert inlined[0]['line'] == 10 and inlined[0]['function']['line'] == 2, inlined
    assert exclusive(inlined) > 0.95 * total, (inlined, total)


@test
def source_and_code_are_shown_beside_their_time():
    build()
    source = text('annotate', 'work')
    assert re.search(r'100\.0 % +10 +return mix\(x\) \+ 1;', source), source
    assert re.search(r'▶ +↳ inlined mix', source), source
    code = text('annotate', '--show', 'asm', 'work', *USER)
    hot = [line for line in code.splitlines() if '▶' in line]
    assert hot and all('← inlined mix' in line for line in hot), code
    assert all(x in code for x in ('; spin.c:4', '; spin.c:5', '<work+0x')), code
    mixed = text('annotate', '--show', 'mixed', 'work')
    assert re.search(r'spin\.c:5 +x = x \* 6364136223846793005u', mixed), mixed


@test
def names_come_from_the_small_file_in_a_stripped_one():
    need('objcopy', 'xz', 'strip')
    build()
    shell('cp spin mini && objcopy --strip-debug mini mini.names && strip mini && '
          'xz -k mini.names && objcopy --add-section .gnu_debugdata=mini.names.xz mini')
    record('./mini', 'mini.dwell')
    p = dwell('report', '--json', *USER, 'mini.dwell', cwd=DIR)
    r = json.loads(p.stdout)
    work = [row for row in r['rows'] if row['name'] == 'work']
    assert exclusive(work) > 0.95 * r['total']['cpu-time'], r['rows']


@test
def counts_of_intervals_add_up():
    build()
    if not may_record('perf'):
        raise Skip('perf_event_open is not permitted here')
    p = dwell('count', '-e', 'page-faults', '-I', '100ms', '--', './spin', cwd=DIR)
    assert p.returncode == 0, p.stderr
    intervals, total = p.stderr.split('Count  Event')
    rows = re.findall(r'^ *([\d.]+) s +([\d,]+)  page-faults$', intervals, re.M)
    times = [float(seconds) for seconds, _ in rows]
    faults = [int(n.replace(',', '')) for _, n in rows]
    total = re.search(r'^ *([\d,]+)  page-faults', total, re.M)[1].replace(',', '')
    assert len(rows) >= 5 and times == sorted(times), p.stderr
    assert sum(faults) == int(total) > 0, p.stderr


if __name__ == '__main__':
    sys.exit(run_all(TESTS))
