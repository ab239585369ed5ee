#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records programs with compiled code of their own, whose stacks lead through code that
has no unwind table, and checks that they reach the outermost frame.
usage: managed.py DWELL WORKLOAD_SOURCES"""
import json
import os
import shutil
import subprocess
import sys
import tempfile

DWELL, SOURCES = (os.path.abspath(p) for p in sys.argv[1:3])
DIR = tempfile.mkdtemp(prefix='dwell-managed-')


class Skip(Exception):
    pass


def need(program):
    if not shutil.which(program):
        raise Skip(f'no {program} here')


def record(source, *command):
    path = os.path.join(DIR, 'x.dwell')
    if os.path.exists(path):
        os.unlink(path)
    p = subprocess.run([DWELL, 'run', '-q', '--jit', '-i', '1ms', '--source', source, '-o',
                        path, '--', *command], capture_output=True, text=True, timeout=120)
    assert p.returncode == 0, p.stderr
    p = subprocess.run([DWELL, 'report', '--json', '--limit', '0', path],
                       capture_output=True, text=True, timeout=120)
    assert p.returncode == 0, p.stderr
    return json.loads(p.stdout)


def inclusive(r, *names):
    """Share of the time below any of the functions, which do not call each other."""
    return sum(row['inclusive'].get('cpu-time', 0) for row in r['rows']
               if row['name'].split('@')[0] in names) / r['total']['cpu-time']


def check(r, least, *outermost):
    cut = r['quality']['truncated'].get('cpu-time', {}).get('total', 0)
    assert cut / r['total']['cpu-time'] < 0.05, r['quality']['truncated']
    below = inclusive(r, *outermost)
    assert below > least, f'{below:.3f} of the time is below {outermost}'


def node_reaches_its_start_through_builtins(source):
    need('node')
    r = record(source, 'node', os.path.join(SOURCES, 'n.js'), '36')
    check(r, 0.95, '_start', 'clone3', '__clone')
    check(r, 0.9, '_start')


def java_reaches_the_start_of_its_threads(source):
    need('java')
    need('javac')
    subprocess.run(['javac', '-d', DIR, os.path.join(SOURCES, 'J.java')], check=True,
                   timeout=120)
    r = record(source, 'java', '-cp', DIR, 'J', '36')
    check(r, 0.95, '_start', 'clone3', '__clone')


TESTS = [(test, source)
         for test in (node_reaches_its_start_through_builtins,
                      java_reaches_the_start_of_its_threads)
         for source in ('perf', 'timer')]


def is_available(source):
    return subprocess.run([DWELL, 'run', '--source', source, '-n', '--', 'true'],
                          capture_output=True).returncode == 0


def main():
    print(f'1..{len(TESTS)}')
    failed = 0
    for i, (test, source) in enumerate(TESTS, 1):
        name = f'{test.__name__} by {source}'.replace('_', ' ')
        try:
            if not is_available(source):
                raise Skip(f'no {source} here')
            test(source)
            print(f'ok {i} - {name}', flush=True)
        except Skip as why:
            print(f'ok {i} - {name} # SKIP {why}', flush=True)
        except Exception as why:  # the test's own words
            failed += 1
            print(f'not ok {i} - {name}\n# {type(why).__name__}: {str(why)[:2000]}',
                  flush=True)
    return 1 if failed else 0


if __name__ == '__main__':
    try:
        sys.exit(main())
    finally:
        shutil.rmtree(DIR, ignore_errors=True)
