#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Nothing grows too long to read.  usage: size.py SOURCE-ROOT

Functions up to 80 lines (longer: a comment above it says why it is "over 80 lines"),
files up to 800, headers up to 300.  Prints the ten longest functions."""
import subprocess

import lint

MAX_FUNCTION, MAX_FILE, MAX_HEADER = 80, 800, 300
EXCUSE, EXCUSE_LINES = 'over 80 lines', 12


def functions(paths):
    out = subprocess.run(['ctags', '-x', '--c-kinds=f', '--_xformat=%n %e %F %N', *paths],
                         cwd=lint.root(), capture_output=True, text=True, check=True).stdout
    for line in out.splitlines():
        start, end, path, name = line.split(None, 3)
        if end.isdigit():
            yield int(end) - int(start) + 1, path, int(start), name


def is_excused(path, line):
    above = lint.text(path).splitlines()[max(0, line - EXCUSE_LINES):line]
    return any(EXCUSE in text for text in above)


paths = lint.files('.c', '.h', under=['src', 'fuzz', 'tests', 'bench'])
found = sorted(functions(paths), reverse=True)
findings = [f'{path}:{line}: {name} has {n} lines' for n, path, line, name in found
            if n > MAX_FUNCTION and not is_excused(path, line)]
for path in paths:
    n = len(lint.text(path).splitlines())
    limit = MAX_HEADER if path.endswith('.h') else MAX_FILE
    if n > limit:
        findings.append(f'{path}: {n} lines, more than {limit}')
print('the longest functions:')
for n, path, line, name in found[:10]:
    print(f'{n:5} {path}:{line} {name}')
lint.finish(findings, 'split by purpose')
