#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What ./check counts: of meson's logs, and of what ran once more.
usage: summary_test.py SUMMARY"""
import json
import os
import subprocess
import sys
import tempfile


def entry(name, *cases, result=None):
    is_bad = any(c.startswith('not ok') for c in cases)
    return {'name': name, 'stdout': '\n'.join([f'1..{len(cases)}', *cases, '']), 'stderr': '',
            'result': result or ('FAIL' if is_bad else 'OK'), 'returncode': int(is_bad)}


GOOD = entry('dwell:unit / map', 'ok 1 - finds', 'ok 2 - forgets')
LINT = entry('dwell:lint / names', result='FAIL')
SKIPPED = entry('dwell:e2e / numa', 'ok 1 - nodes # SKIP one node')
BAD = entry('dwell:e2e / daemon', 'ok 1 - starts', 'not ok 2 - ends', '# 3 of 4')
WELL = entry('dwell:e2e / daemon', 'ok 1 - starts', 'ok 2 - ends')

# Logs of the first and the second run, the last line, the exit code and what else is told.
CASES = [
    ('all is well', [GOOD, SKIPPED], None, '2 passed, 0 failed, 1 skipped', 0, ''),
    ('a case that failed is told', [GOOD, BAD], None, '3 passed, 1 failed', 1,
     'FAILED  gcc dwell:e2e / daemon: ends'),
    ('what failed twice has failed', [GOOD, BAD], [BAD], '3 passed, 1 failed', 1,
     'FAILED  gcc dwell:e2e / daemon: ends'),
    ('what passed alone has failed and that is told', [GOOD, BAD], [WELL], '3 passed, 1 failed', 1,
     'FAILED  gcc dwell:e2e / daemon: ends, but passes alone'),
    ('another that passed changes nothing', [LINT, BAD], [WELL], '1 passed, 2 failed', 1,
     'FAILED  gcc dwell:lint / names (fail)\n'),
    ('a run that left no log has failed', None, None, '0 passed, 1 failed', 1, 'gcc tests'),
]


def write(build, name, entries):
    if entries is None:
        return
    os.makedirs(os.path.join(build, 'meson-logs'), exist_ok=True)
    with open(os.path.join(build, 'meson-logs', name), 'w', encoding='utf-8') as f:
        f.writelines(json.dumps(e) + '\n' for e in entries)


def summary(*words):
    return subprocess.run([sys.executable, sys.argv[1], *words], capture_output=True, text=True)


def is_as_told(first, again, last, code, told):
    with tempfile.TemporaryDirectory() as build:
        write(build, 'testlog.json', first)
        write(build, 'again.json', again)
        p = summary(f'gcc={build}')
    return p.stdout.splitlines()[-1] == last and p.returncode == code and told in p.stdout


def lists_what_failed_of_these_suites():
    with tempfile.TemporaryDirectory() as build:
        write(build, 'testlog.json', [GOOD, LINT, BAD, SKIPPED])
        return summary('--failed', build, 'e2e', 'guest').stdout == 'daemon\n'


def main():
    tests = [(name, lambda case=case: is_as_told(*case)) for name, *case in CASES]
    tests.append(('what failed is listed by suite', lists_what_failed_of_these_suites))
    print(f'1..{len(tests)}')
    failed = 0
    for i, (name, is_true) in enumerate(tests, 1):
        is_ok = is_true()
        failed += not is_ok
        print(f'{"ok" if is_ok else "not ok"} {i} - {name}')
    return 1 if failed else 0


sys.exit(main())
