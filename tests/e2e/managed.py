#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records programs with compiled code of their own, whose stacks lead through code that
has no unwind table, and checks that they reach the outermost frame.
usage: managed.py DWELL WORKLOAD_SOURCES"""
import functools
import os
import subprocess
import sys

from harness import DIR, Skip, dwell, may_record, need, report, run_all, total_of

SOURCES = os.path.abspath(sys.argv[2])


def record(source, *command):
    path = os.path.join(DIR, 'x.dwell')
    if os.path.exists(path):
        os.unlink(path)
    p = dwell('run', '-q', '--jit', '-i', '1ms', '--source', source, '-o', path, '--', *command)
    assert p.returncode == 0, p.stderr
    # Threads that exit have no stack any more, and what one such sample of a thread shorter
    # than the interval stands for differs from run to run.
    return report(path, '--filter', 'function != do_exit')


def check(r, least, *outermost):
    """That the functions, which do not call each other, are below most of the time."""
    total = r['total']['cpu-time']
    cut = r['quality']['truncated'].get('cpu-time', {}).get('total', 0)
    assert cut / total < 0.05, r['quality']['truncated']
    below = sum(total_of(r, name, 'inclusive') for name in outermost) / total
    assert below > least, f'{below:.3f} of the time is below {outermost}'


def node_reaches_its_start_through_builtins(source):
    need('node')
    r = record(source, 'node', os.path.join(SOURCES, 'n.js'), '36')
    check(r, 0.95, '_start', 'clone3', '__clone')
    check(r, 0.9, '_start')


def java_reaches_the_start_of_its_threads(source):
    need('java', 'javac')
    subprocess.run(['javac', '-d', DIR, os.path.join(SOURCES, 'J.java')], check=True,
                   timeout=120)
    r = record(source, 'java', '-cp', DIR, 'J', '36')
    check(r, 0.95, '_start', 'clone3', '__clone')


SORT_C = r"""
#include <pthread.h>
#include <stdlib.h>
static int numbers[50000];
static int compare(const void *a, const void *b) { return *(int *)a - *(int *)b; }
static void *sorter(void *arg)
{
	for (int k = 0; k < 25; k++) {
		for (int i = 0; i < 50000; i++)
			numbers[i] = rand();
		qsort(numbers, 50000, sizeof(numbers[0]), compare);
	}
	return arg;
}
int main(void)
{
	pthread_t t;
	sorter(NULL);
	return pthread_create(&t, NULL, sorter, NULL) || pthread_join(t, NULL);
}
"""


def musl_reaches_the_start_of_programs_and_threads(source):
    need('musl-gcc')
    path = os.path.join(DIR, 'sort')
    # a static program takes no sampler
    for options in [['-static'], []] if source == 'perf' else [[]]:
        subprocess.run(['musl-gcc', '-O2', '-x', 'c', '-', '-o', path, *options], check=True,
                       input=SORT_C, text=True)
        r = record(source, path)
        check(r, 0.95, 'main', 'sorter')


def by_source(test, source):
    if not may_record(source):
        raise Skip(f'no {source} here')
    test(source)


if __name__ == '__main__':
    sys.exit(run_all([(f'{test.__name__} by {source}'.replace('_', ' '),
                       functools.partial(by_source, test, source))
                      for test in (node_reaches_its_start_through_builtins,
                                   java_reaches_the_start_of_its_threads,
                                   musl_reaches_the_start_of_programs_and_threads)
                      for source in ('perf', 'timer')]))
