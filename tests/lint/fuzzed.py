#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every parser of foreign bytes is in a fuzz target.  usage: fuzzed.py SOURCE-ROOT BUILD-ROOT

A file that calls reader_over() must be linked into one of the replay programs, which
a static library does only for what the target reaches."""
import glob
import os
import subprocess

import lint


def symbols(paths):
    """Per file the set of text symbols it defines."""
    out = subprocess.run(['nm', '-A', '--defined-only', *paths], capture_output=True, text=True,
                         check=True).stdout
    found = {p: set() for p in paths}
    for line in out.splitlines():
        where, _, rest = line.partition(':')
        kind, name = rest.split()[-2:]
        if kind in 'Tt':
            found[where].add((kind, name))
    return found


def findings():
    build = lint.build_dir()
    objects = glob.glob(os.path.join(build, 'src/*/lib*.a.p/*.c.o'))
    targets = [p for p in glob.glob(os.path.join(build, 'fuzz/replay-*')) if os.path.isfile(p)]
    reached = set().union(*symbols(targets).values())
    for path in lint.files('.c', under=['src']):
        if 'reader_over(' not in lint.text(path):
            continue
        name = lint.stem(path) + '.c.o'
        layer = path.split('/')[1]
        own = [o for o in objects if os.path.basename(o) == name and f'/src/{layer}/' in o]
        exported = {s for o in own for s in symbols([o])[o] if s[0] == 'T'}
        if exported and not exported & reached:
            yield f'{path}: calls reader_over() and is in no fuzz target'


lint.finish(list(findings()), 'add fuzz/<stem>.c and a line in fuzz/meson.build')
