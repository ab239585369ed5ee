#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What every file must say, and what none may.  usage: sources.py SOURCE-ROOT

A licence line first; no machine's own paths; no promises instead of code."""
import re

import lint

LICENSED = ('.c', '.h', '.def', '.S', '.cpp', '.sh', '.py', '.js', '.java')
SPDX = 'SPDX-License-Identifier: Apache-2.0'
BPF_SPDX = 'GPL-2.0-only OR BSD-2-Clause'
PLACES = re.compile(r'/(?:work|farm|tmp/wt)/[a-z.]|\.\./shared')
PROMISES = re.compile(r'\b(TODO|FIXME|XXX|HACK)\b')
# This file names what it looks for.
SELF = 'tests/lint/sources.py'
BINARY = ('.png', '.dwell', '.gz', '.zst', '.o', '.so')


def check(path):
    text = lint.text(path)
    first = '\n'.join(text.splitlines()[:3])
    if path.endswith(LICENSED):
        is_bpf = path.endswith('.bpf.c') or '/bpf/' in path
        if SPDX not in first and not (is_bpf and BPF_SPDX in first):
            yield f'{path}: no licence line'
    for i, line in enumerate(text.splitlines(), 1):
        if PLACES.search(line):
            yield f'{path}:{i}: names a place of one machine'
        if PROMISES.search(line) and path.endswith(LICENSED):
            yield f'{path}:{i}: promises work instead of doing it'


paths = [p for p in lint.files() if not p.endswith(BINARY) and '/corpus/' not in p
         and p not in (SELF, '.git') and not p.startswith('.ci/')]
lint.finish([f for p in paths for f in check(p)], 'see CONTRIBUTING.md')
