#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What 'dwell list FILE' says can be probed: compared with what readelf says of the same
files.
usage: probeable.py DWELL PROGRAM_DIR"""
import collections
import json
import os
import re
import shutil
import subprocess
import sys

import harness
from harness import DIR, TESTS, dwell, need, run_all, test

PROGRAMS = os.path.abspath(sys.argv[2])
NOTED = os.path.join(PROGRAMS, 'e2e-noted')


def listed(path, *patterns):
    p = dwell('list', '--json', path, *patterns)
    assert p.returncode == 0 and not p.stderr, p.stderr
    return json.loads(p.stdout)


def readelf(*args):
    need('readelf')
    return subprocess.run(['readelf', *args], capture_output=True, text=True, check=True).stdout


def files():
    """Some that have symbols, probes, or neither."""
    ours = [NOTED, os.path.join(PROGRAMS, 'e2e-reached'), harness.DWELL]
    with open('/proc/self/maps', encoding='utf-8') as f:
        return ours + sorted(set(re.findall(r'(/\S*/lib\S*\.so\S*)$', f.read(), re.M)))


def notes_of(path):
    """{(provider, name): {(address, semaphore, arguments)}}, by readelf's word."""
    found = collections.defaultdict(set)
    for m in re.finditer(r'Provider: (.*)\n *Name: (.*)\n *Location: 0x(\w+), Base: \w+, '
                         r'Semaphore: 0x(\w+)\n *Arguments: (.*)\n', readelf('-nW', path)):
        found[m[1], m[2]].add((int(m[3], 16), int(m[4], 16), m[5]))
    return dict(found)


def symbols_of(path):
    """{(name, address, size)} of functions, and the names at each address."""
    functions, names = set(), collections.defaultdict(set)
    for line in readelf('-sW', path).splitlines():
        m = re.match(r' *\d+: (\w+) +(\w+) (\w+) +\w+ +\w+ +(?:\[.*\] +)?(\w+) ([^@ ]+)', line)
        if not m or not m[4].isdigit():
            continue
        names[int(m[1], 16)].add(m[5])
        if m[3] in ('FUNC', 'IFUNC'):
            functions.add((m[5], int(m[1], 16), int(m[2], 0)))
    return functions, names


@test
def probes_are_those_that_readelf_tells():
    n = 0
    for path in files():
        told = {(p['provider'], p['name']): {(q['address'], q['semaphore'], q['arguments'])
                                             for q in p['places']} for p in listed(path)['probes']}
        assert told == notes_of(path), (path, told)
        n += len(told)
    assert n >= 4, n


@test
def functions_are_those_that_symbols_name():
    need('nm')
    for path in files():
        told = {(f['linkage'].split('@')[0], f['address'], f['bytes'])
                for f in listed(path)['functions']}
        functions, names = symbols_of(path)
        assert functions <= told, (path, sorted(functions - told)[:5])
        if path.startswith(PROGRAMS):  # others may have a debug file
            strange = [t for t in told if t[0] not in names[t[1]]]
            assert told and not strange, (path, strange[:5])


@test
def what_is_listed_can_be_asked_for():
    r = listed(NOTED)
    wishes = [f'usdt:{NOTED}:{p["provider"]}:{p["name"]}' for p in r['probes']]
    wishes += [w + f'.arg{i}' for w, p in zip(list(wishes), r['probes'])
               for i in range(1, 1 + len(p['types']))]
    wishes += [f'uprobe:{NOTED}:{f["linkage"]}' for f in r['functions']]
    assert len(wishes) > 12, wishes
    for i in range(0, len(wishes), 8):  # as many as share a recording
        p = dwell('run', '-n', '-e', ','.join('trigger:' + w for w in wishes[i:i + 8]), '--', 'true')
        # 1: it may not be recorded here; 2: there is no such place.
        assert p.returncode in (0, 1), p.stderr


@test
def patterns_choose_by_name():
    for patterns, probes, functions in (
            (['wice'], {'twice'}, {'twice'}),
            (['noted:*'], {'guarded', 'plain', 'twice', 'values'}, set()),
            (['*ed'], {'guarded'}, {'guarded', 'paced', 'settled'}),
            (['pac', 'noted:plain'], {'plain'}, {'paced'}), (['nothing-like-it'], set(), set())):
        r = listed(NOTED, *patterns)
        assert {p['name'] for p in r['probes']} == probes, (patterns, r)
        assert {f['name'] for f in r['functions']} >= functions, (patterns, r)
        if not functions:
            assert not r['functions'], (patterns, r)


@test
def the_text_says_the_same():
    p = dwell('list', NOTED)
    assert p.returncode == 0, p.stderr
    rows = [line.split() for line in p.stdout.splitlines()]
    assert ['2', 'u64', 'noted:twice'] in rows, p.stdout
    assert ['1', 'u64', 'i32', 'u32', 'u8', 'i16', 'noted:values'] in rows, p.stdout
    assert ['1', 'noted:plain'] in rows, p.stdout
    for f in listed(NOTED)['functions']:
        assert [str(f['bytes']), f['name']] in rows, (f, p.stdout)


@test
def a_program_is_found_by_its_name():
    assert listed('sh')['file'] == os.path.realpath(shutil.which('sh'))


@test
def what_cannot_be_listed_is_said_in_one_line():
    text, damaged = os.path.join(DIR, 'text'), os.path.join(DIR, 'damaged')
    with open(text, 'w', encoding='ascii') as f:
        f.write('no program\n')
    with open(NOTED, 'rb') as f:
        data = f.read()
    with open(damaged, 'wb') as f:  # a note that is larger than its section
        at = data.index(b'\x03\0\0\0stapsdt\0') - 4
        f.write(data[:at] + b'\xff\xff\xff\x7f' + data[at + 4:])
    for args, words in ((['/nowhere/at/all'], 'No such file'), ([text], text),
                        (['no-such-program'], "no program 'no-such-program'"),
                        ([damaged], 'damaged at byte'), (['--json'], 'name one')):
        p = dwell('list', *args)
        assert p.returncode in (1, 2) and words in p.stderr, (args, p.returncode, p.stderr)
        assert p.stderr.count('\n') == 1 and not p.stdout, (p.stdout, p.stderr)


if __name__ == '__main__':
    sys.exit(run_all(TESTS, words=sys.argv[3:]))
