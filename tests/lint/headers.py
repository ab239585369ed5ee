#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each header compiles alone, and twice.  usage: headers.py SOURCE-ROOT BUILD-ROOT CC..."""
import concurrent.futures
import re
import subprocess
import sys

import lint

FLAGS = ['-Isrc', '-D_GNU_SOURCE', '-std=gnu17', '-Wall', '-Wextra', '-Werror',
         '-Wno-unused-function', '-fsyntax-only', '-x', 'c', '-']


def check(path):
    twice = f'#include "{path[4:]}"\n' * 2
    run = subprocess.run([*sys.argv[3:], *FLAGS], input=twice, cwd=lint.root(),
                         capture_output=True, text=True, check=False)
    return f'{path}: does not compile alone\n{run.stderr}' if run.returncode else None


def guard(path):
    """DWELL_FOLDER_STEM_H, and the include as others would write it."""
    want = 'DWELL_' + re.sub(r'\W', '_', path[4:]).upper()
    text = lint.text(path)
    if f'#ifndef {want}\n#define {want}\n' not in text and '#pragma once' not in text:
        return f'{path}: the guard should be {want}'
    return None


paths = [p for p in lint.files('.h', under=['src']) if '/bpf/' not in p]
with concurrent.futures.ThreadPoolExecutor(2) as pool:
    results = [*pool.map(check, paths), *map(guard, paths)]
lint.finish([r for r in results if r], 'include what the header uses')
