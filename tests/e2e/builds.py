#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares two builds of a program: renamed, with a function moved to another file, one
renamed and lines inserted; with symbols and stripped.  usage: builds.py DWELL"""
import functools
import json
import os
import subprocess
import sys

from harness import DIR, TESTS, dwell, need, run_all, test

NOINLINE = '__attribute__((noinline, noclone))'
MIX = f'''static {NOINLINE} unsigned mix(unsigned x, int n)
{{
	for (int i = 0; i < n; i++) {{
		x ^= x << 13;
		x ^= x >> 17;
		x ^= x << 5;
	}}
	return x;
}}
'''
SUM = f'''static {NOINLINE} unsigned NAME(const unsigned *p, int n)
{{
	unsigned s = 0;

	for (int i = 0; i < n; i++) {{
		if (p[i] & 1)
			s += p[i] * 3;
		else
			s ^= p[i] >> 2;
		s = (s << 3) | (s >> 29);
	}}
	return s;
}}
'''
STEP = f'''static {NOINLINE} unsigned step(unsigned x)
{{
	for (int i = 0; i < 400000; i++)
		x = x * 1103515245 + 12345 + (x >> 7);
	return x;
}}
unsigned moved(unsigned x);
unsigned moved(unsigned x)
{{
	return step(x) + 1;
}}
'''
MAIN = '''unsigned moved(unsigned x);
static unsigned table[20000];
int main(void)
{
	volatile unsigned x = 1;

	for (int round = 0; round < 600; round++) {
		for (int i = 0; i < 20000; i++)
			table[i] = mix(x + i, ROUNDS);
		for (int i = 0; i < 20; i++)
			x += NAME(table, 20000);
		x += moved(x);
	}
	return 0;
}
'''
BUILDS = {
    'prog-1.0': {'main.c': '#define ROUNDS 8\n#define NAME sum_old\n' + MIX + SUM + MAIN,
                 'first.c': STEP},
    'prog-1.1': {'main.c': '#define ROUNDS 16\n#define NAME sum_fast\n' + '/* news */\n' * 40 +
                 MIX + SUM + MAIN, 'second.c': STEP},
}


def write_sources(where, files):
    os.makedirs(where)
    for name, text in files.items():
        with open(os.path.join(where, name), 'w', encoding='utf-8') as f:
            f.write(text)


@functools.cache
def recording(build, is_stripped):
    """Built in a directory of its own, as packages are, and recorded."""
    need('gcc', 'strip')
    where = os.path.join(DIR, build + ('-stripped' if is_stripped else ''))
    write_sources(where, BUILDS[build])
    subprocess.run(['gcc', '-O2', '-g', '-Wl,--build-id', '-o', build, *BUILDS[build]],
                   cwd=where, check=True, timeout=120)
    if is_stripped:
        subprocess.run(['strip', build], cwd=where, check=True, timeout=60)
    path = os.path.join(where, 'x.dwell')
    done = dwell('run', '-q', '-i', '1ms', '-o', path, '--', os.path.join(where, build))
    assert done.returncode == 0, done.stderr
    return path


def diff(*options, before=False, after=False):
    """The report of the two builds; before, after: whether they are stripped."""
    done = dwell('diff', '--json', '--no-debuginfod', *options,
                 recording('prog-1.0', before), recording('prog-1.1', after))
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def values(report, name, image='prog-1.0'):
    """Of the only row that is called so: what both builds have."""
    rows = [r for r in report['rows'] if r['name'] == name and r.get('image', image) == image]
    assert len(rows) == 1, [r['name'] for r in report['rows']][:12]
    values = [v for k, v in sorted(rows[0]['exclusive'].items()) if k.startswith('cpu-time')]
    assert len(values) == 2, rows
    return values


def assert_both(pair):
    assert min(pair) > 0, pair


@test
def a_renamed_program_is_the_same():
    report = diff('--by', 'image')
    assert_both(values(report, 'prog-1.0'))
    match = [m for m in report['matches'] if m['what'] == 'image'][0]
    assert match['name'] == 'prog-1.1' and not match['guess'], match


@test
def a_matched_function_has_what_the_reports_say():
    both = values(diff(), 'mix')
    for build, value in zip(BUILDS, both):
        done = dwell('report', '--json', recording(build, False))
        rows = [r for r in json.loads(done.stdout)['rows'] if r['name'] == 'mix']
        assert [r['exclusive']['cpu-time'] for r in rows] == [value], (rows, both)


@test
def a_static_function_that_moved_is_one():
    assert_both(values(diff('--no-guess'), 'step'))


@test
def a_renamed_function_is_guessed_by_its_code():
    assert_both(values(diff(), 'sum_old ≈ sum_fast'))
    names = {r['name'] for r in diff('--no-guess')['rows']}
    assert {'sum_old', 'sum_fast'} <= names, names


@test
def lines_are_counted_from_where_their_function_begins():
    rows = [r for r in diff('--by', 'line')['rows'] if r.get('function') == 'mix']
    hot = max(rows, key=lambda r: max(r['exclusive'].values()))
    assert hot['line'] < 20 and hot['name'].startswith('main.c:'), hot
    assert_both([v for k, v in hot['exclusive'].items() if k.startswith('cpu-time')])


@test
def instructions_of_two_builds_are_rows_of_their_own():
    rows = [r for r in diff('--by', 'instruction')['rows'] if r['image'] == 'prog-1.0']
    assert len(rows) > 4, rows
    for row in rows:
        both = [v for k, v in row['exclusive'].items() if k.startswith('cpu-time')]
        assert min(both) == 0, row


@test
def stripped_builds_are_guessed_by_their_code():
    report = diff(before=True, after=True)
    heavy = [r for r in report['rows'] if r.get('image') == 'prog-1.0' and
             max(r['exclusive'].values()) > 0.1 * max(report['total'].values())]
    assert heavy and all('≈' in r['name'] for r in heavy), [r['name'] for r in heavy]


@test
def a_stripped_build_is_named_by_one_that_is_not():
    report = diff(after=True)
    name = [r['name'] for r in report['rows'] if r['name'].startswith('mix ≈ ')]
    assert len(name) == 1, [r['name'] for r in report['rows']][:12]
    assert_both(values(report, name[0]))


@test
def one_build_twice_is_compared_without_guesses():
    path = recording('prog-1.0', True)
    done = dwell('diff', '--json', path, path)
    report = json.loads(done.stdout)
    assert 'matches' not in report, report['matches']


if __name__ == '__main__':
    sys.exit(run_all(TESTS, 1, sys.argv[2:]))
