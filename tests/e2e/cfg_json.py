#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A function's control flow as JSON, beside what binutils have of the same program.
usage: cfg_json.py DWELL DIRECTORY"""
import functools
import json
import os
import re
import subprocess
import sys

import harness
from harness import dwell, test

FORKS = os.path.abspath(sys.argv[2]) + '/e2e-directions'
# Eight cases, each with a label where its code is; loops in loops; a call in a function's end.
SOURCE = r'''
#include <stdio.h>
#define NOINLINE __attribute__((noinline))
static volatile unsigned sink;
NOINLINE unsigned chosen(unsigned k)
{
	switch (k) {
#define CASE(n) case n: __asm__ volatile("case_" #n ":"); sink = 3 * sink + n; break;
	CASE(0) CASE(1) CASE(2) CASE(3) CASE(4) CASE(5) CASE(6) CASE(7)
	default: __asm__ volatile("case_other:"); sink ^= k;
	}
	return sink;
}
NOINLINE unsigned nested(unsigned n)
{
	unsigned sum = 0;
	for (unsigned i = 0; i < n; i++) {
		for (unsigned j = 0; j < i; j++) {
			sink = j;
			if (sink % 3 == 1)
				continue;
			for (unsigned k = 0; k < n; k++)
				sink = k;
			sum += sink;
		}
		while (sink & 1)
			sink >>= 1;
	}
	return sum;
}
NOINLINE unsigned odd(unsigned n)
{
	sink = n;
	if (n % 5 == 0)
		return nested(n);
	return sink;
}
/* A branch that leaves is rarely a compiler's. */
__asm__(".globl choosy\n.type choosy, @function\nchoosy:\n\ttestl %edi, %edi\n\tjz nested\n\tmovl $7, %eax\n\tret\n"
	".size choosy, .-choosy\n");
unsigned choosy(unsigned);
int main(void)
{
	for (unsigned i = 0; i < 1000; i++)
		chosen(i % 10);
	for (unsigned i = 0; i < 50; i++)
		odd(i);
	for (unsigned i = 0; i < 20; i++)
		choosy(i % 4);
	printf("%u\n", sink);
}
'''
FLAGS = ['-O1', '-g', '-foptimize-sibling-calls', '-fno-align-functions', '-fno-align-loops', '-fno-align-jumps',
         '-fno-align-labels', '-fcf-protection=none']
JUMP = re.compile(r'j[a-z]+$')


@functools.cache
def program():
    harness.need('gcc', 'objdump', 'objcopy', 'nm')
    path = f'{harness.DIR}/shapes'
    with open(f'{path}.c', 'w', encoding='ascii') as f:
        f.write(SOURCE)
    subprocess.run(['gcc', *FLAGS, '-o', path, f'{path}.c'], check=True)
    return path


@functools.cache
def counted():
    path = f'{harness.DIR}/shapes.dwell'
    p = dwell('run', '-e', 'bbcounts', '-o', path, '--', program())
    assert p.returncode == 0, p
    return path


@functools.cache
def timed():
    path = f'{harness.DIR}/forks.dwell'
    p = dwell('run', '--insn', '-e', 'usertime', '-i', '200us', '-o', path, '--', FORKS)
    assert p.returncode == 0, p
    return path


def row_of(text):
    report = json.loads(text)
    row, = report['rows']
    assert report['report'] == 'cfg', report
    return row


def cfg(function, *words):
    p = dwell('cfg', '--json', function, *words)
    assert p.returncode == 0, p
    return row_of(p.stdout)


@functools.cache
def symbols():
    out = subprocess.run(['nm', program()], capture_output=True, text=True, check=True).stdout
    return {name: int(address, 16) for address, _, name in re.findall(r'^(\w+) (\w) (\S+)$', out, re.M)}


def disassembly(row):
    """(address, mnemonic, where a jump leads or None) of each instruction."""
    out = subprocess.run(['objdump', '-d', '--no-show-raw-insn', f'--start-address={row["start"]}',
                          f'--stop-address={row["end"]}', program()], capture_output=True, text=True, check=True).stdout
    found = []
    for address, mnemonic, operands in re.findall(r'^ +([0-9a-f]+):\t(\S+)(.*)$', out, re.M):
        to = re.match(r' +([0-9a-f]+) <', operands) if JUMP.match(mnemonic) else None
        found.append((int(address, 16), mnemonic, int(to[1], 16) if to else None))
    return found


def graph_of(row):
    """The starts of blocks, and ways (address, kind, where to; None: elsewhere), but for those of jump tables."""
    code = disassembly(row)
    starts, ways = {row['start']}, set()
    for i, (address, mnemonic, to) in enumerate(code):
        behind = code[i + 1][0] if i + 1 < len(code) else None
        if not (JUMP.match(mnemonic) or mnemonic.startswith('ret')):
            continue
        starts |= {behind} - {None}
        if mnemonic.startswith('ret'):
            ways.add((address, 'leave', None))
        elif to is not None:
            is_inside = row['start'] <= to < row['end']
            starts |= {to} if is_inside else set()
            ways.add((address, 'taken' if is_inside else 'leave', to))
        if JUMP.match(mnemonic) and mnemonic != 'jmp':
            ways.add((address, 'on', behind))
    return starts, ways, code


def tables(row):
    return {w['to_address'] for w in row['ways'] if w['kind'] == 'table'}


@test
def blocks_and_ways_are_those_of_a_disassembly():
    for name in ('chosen', 'nested', 'odd', 'choosy', 'main'):
        row = cfg(name, counted())
        starts, ways, code = graph_of(row)
        starts |= tables(row)
        blocks = row['blocks']
        assert row['start'] == symbols()[name] and [b['index'] for b in blocks] == list(range(len(blocks))), row
        assert {b['start'] for b in blocks} == starts and blocks[row['entry']]['start'] == row['start'], (name, starts)
        assert [b['end'] for b in blocks] == [*sorted(starts)[1:], row['end']], (name, blocks)
        assert [i['address'] for b in blocks for i in b['instructions']] == [c[0] for c in code], name
        # What falls into a block that something else leads to has no jump.
        last = {b['instructions'][-1]['address']: b['end'] for b in blocks if b['ends_in'] == 'on'}
        ways |= {(address, 'on', end) for address, end in last.items()}
        told = {(w['from_address'], w['kind'], w.get('to_address')) for w in row['ways']
                if w['kind'] not in ('table', 'entry')}
        assert told == ways, (name, told ^ ways)
        for w in row['ways']:
            assert 'to' not in w or blocks[w['to']]['start'] == w['to_address'], w
            assert 'from' not in w or blocks[w['from']]['instructions'][-1]['address'] == w['from_address'], w


@test
def a_switch_leads_by_its_table_to_every_case():
    row = cfg('chosen', counted())
    cases = {symbols()[f'case_{n}'] for n in range(8)}
    found = {}
    for w in row['ways']:
        if w['kind'] == 'table':
            block = row['blocks'][w['to']]
            label, = {a for a in cases if block['start'] <= a < block['end']}
            found[label] = w['times']
            assert abs(w['share'] - 1 / 8) < 1e-9, w
    assert found == {a: 100 for a in cases}, (found, cases)


@test
def ways_out_say_how():
    for name, returns, calls in (('odd', 40, 10), ('choosy', 15, 5)):
        by = {w['leaves_by']: w for w in cfg(name, counted())['ways'] if w['kind'] == 'leave'}
        assert by['return']['times'] == returns and by['tail call']['times'] == calls, by
        assert by['tail call']['to_address'] == symbols()['nested'], by


def check_flow(row, slack):
    for b in row['blocks']:
        for end, known in (('to', not b['has_unknown_ways_in']), ('from', not b['has_unknown_ways_out'])):
            ways = [w for w in row['ways'] if w.get(end) == b['index'] and 'times' in w]
            flow = sum(w['times'] for w in ways)
            assert not known or abs(flow - b['times']) <= slack * b['times'], (end, flow, b, ways)
        shares = [w['share'] for w in row['ways'] if w.get('from') == b['index'] and 'share' in w]
        assert not shares or abs(sum(shares) - 1) < 1e-9, (b, shares)


@test
def what_comes_to_a_block_leaves_it():
    for name, times in (('chosen', 1000), ('nested', 15), ('odd', 50), ('main', 1)):
        row = cfg(name, counted())
        check_flow(row, 0)
        assert row['times'] == times and 'times_low' not in row and len({b['times'] for b in row['blocks']}) > 1, row
    for name in ('even', 'seldom'):
        row = cfg(name, timed())
        check_flow(row, 1e-6)
        assert row['is_estimated'] and row['samples'] and row['confidence'] == 'low', row
        for what in (*row['blocks'], *row['ways']):
            assert what['times_low'] <= what['times'] <= what['times_high'] and what['confidence'] == 'low', what
        for b in row['blocks']:
            if b['times_low'] > 0:
                assert b['cycles_each_low'] <= b['cycles_each'] <= b['cycles_each_high'], b
        assert abs(sum(b['cycles_share'] for b in row['blocks']) - 1) < 1e-9, row
        assert sum(b['samples'] for b in row['blocks']) == row['samples'], row


def loops_of(row):
    """Of each header the blocks of its loop: those that come to who leads back to it without passing it."""
    ways = [(w['from'], w['to']) for w in row['ways'] if 'from' in w and 'to' in w]

    def reach(start, without):
        met, todo = set(), [start]
        while todo:
            block = todo.pop()
            if block not in met | {without}:
                met.add(block)
                todo += [to for of, to in ways if of == block]
        return met
    loops = {}
    for latch, header in ways:
        if latch not in reach(row['entry'], header):
            loops.setdefault(header, {header}).update(
                b['index'] for b in row['blocks'] if latch in reach(b['index'], header))
    return loops


@test
def loops_are_in_loops():
    depths = set()
    for name in ('chosen', 'nested', 'odd', 'main'):
        row = cfg(name, counted())
        loops = loops_of(row)
        assert {l['header'] for l in row['loops']} == set(loops), (row['loops'], loops)
        for b in row['blocks']:
            around = sorted((h for h in loops if b['index'] in loops[h]), key=lambda h: len(loops[h]))
            assert b['loop_depth'] == len(around) and b.get('loop') == (around or [None])[0], (b, loops)
            depths.add(len(around))
        for l in row['loops']:
            around = [h for h in loops if h != l['header'] and l['header'] in loops[h]]
            assert l.get('outer') == min(around, key=lambda h: len(loops[h]), default=None), (l, loops)
            assert l['depth'] == len(around) + 1 and not l['is_entered_elsewhere'], (l, loops)
    assert depths == {0, 1, 2, 3}, depths


@test
def lines_are_those_of_the_compiler():
    row = cfg('odd', counted())
    addresses = [i['address'] for b in row['blocks'] for i in b['instructions']]
    harness.need('addr2line')
    out = subprocess.run(['addr2line', '-e', program(), *map(hex, addresses)], capture_output=True, text=True, check=True)
    lines = dict(zip(addresses, (int(re.search(r':(\d+)', line)[1]) for line in out.stdout.splitlines())))
    for b in row['blocks']:
        source, = b['source']
        assert source['lines'] == sorted({lines[i['address']] for i in b['instructions']}), (b, lines)
        assert source['file'].endswith('shapes.c') and all(i['line'] == lines[i['address']] for i in b['instructions']), b


@test
def names_may_be_any_bytes():
    name, path = b'say "\xff\\\x01"', os.fsencode(harness.DIR) + b'/a "quoted" \xfe name'
    subprocess.run([b'objcopy', b'--redefine-sym', b'odd=' + name, os.fsencode(program()), path], check=True)
    # Names of debug information would come first.
    subprocess.run([b'strip', b'-g', path], check=True)
    recording = f'{harness.DIR}/named.dwell'
    p = dwell('run', '-e', 'bbcounts', '-o', recording, '--', path)
    assert p.returncode == 0, p
    row = cfg(name, recording)
    assert row['name'] == 'say "\ufffd\\\x01"' and row['image'] == 'a "quoted" \ufffd name', row
    assert row['times'] == 50 and not any(b['source'] for b in row['blocks']), row


@test
def a_stripped_program_has_the_same_graph():
    path = f'{harness.DIR}/stripped'
    subprocess.run(['strip', '-o', path, program()], check=True)
    recording = f'{path}.dwell'
    assert dwell('run', '-e', 'bbcounts', '-o', recording, '--', path).returncode == 0
    whole = cfg('nested', counted())
    rows = harness.report(recording, '--no-inline', '--filter', 'image == stripped')['rows']
    # Code that is in no function at all has one name.
    p = dwell('cfg', '--json', '[stripped]', recording)
    assert p.returncode == 1 and 'is no function' in p.stderr, p
    found = [r for r in (cfg(r['name'], recording) for r in rows if 'address' in r) if r['start'] == whole['start']]
    assert len(found) == 1, [r['name'] for r in rows]
    assert [(b['start'], b['end'], b['times']) for b in found[0]['blocks']] == \
        [(b['start'], b['end'], b['times']) for b in whole['blocks']], found
    assert found[0]['ways'] == whole['ways'], found


@test
def less_is_shown_where_it_is_asked_for():
    whole, some, short = (cfg('even', timed(), *words) for words in ([], ['--blocks', '2'], ['--lines', '1']))
    kept = {b['index'] for b in some['blocks']}
    most = sorted(whole['blocks'], key=lambda b: -b['cycles'])[:2]
    assert kept == {b['index'] for b in most} and 'left_out' not in whole, (kept, whole)
    assert some['ways'] == [w for w in whole['ways'] if {w.get('from'), w.get('to')} <= kept | {None}], some
    assert some['left_out'] == {'never_executed': 0, 'least_time': len(whole['blocks']) - 2,
                                'ways': len(whole['ways']) - len(some['ways'])}, some
    for b, all_of_it in zip(short['blocks'], whole['blocks']):
        assert b['instructions'] == all_of_it['instructions'][:1], b
        assert b['n_instructions'] == len(all_of_it['instructions']) == all_of_it['n_instructions'], b
    executed = cfg('chosen', counted(), '--blocks', '0')
    assert all(b['times'] for b in executed['blocks']), executed


@test
def a_file_is_json_by_its_name_and_what_contradicts_is_said():
    said = dwell('cfg', '--json', 'odd', counted()).stdout
    path = f'{harness.DIR}/odd.json'
    p = dwell('cfg', '-o', path, 'odd', counted())
    with open(path, encoding='utf-8') as f:
        text = f.read()
    assert p.returncode == 0 and not p.stdout and row_of(text) == row_of(said), p
    for words in (['--format', 'json'], ['--json', '--format', 'json', '-o', '-'], ['--json', '-o', '/dev/stdout']):
        assert dwell('cfg', *words, 'odd', counted()).stdout == said, words
    for words, code in ((['--json', '--format', 'svg'], 2), (['--json', '-o', 'x.svg'], 2), (['-o', 'x.png'], 2),
                        (['--json', '-o', '/dev/full'], 1), (['--json', '-o', '/nowhere/x.json'], 1)):
        p = dwell('cfg', *words, 'odd', counted())
        assert p.returncode == code and not p.stdout, (words, p)
        assert words[-1] in p.stderr and p.stderr.splitlines()[0].startswith('dwell cfg: '), (words, p)


sys.exit(harness.run_all(harness.TESTS, words=sys.argv[3:]))
