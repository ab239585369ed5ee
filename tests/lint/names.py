#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One word per thing.  usage: names.py SOURCE-ROOT BUILD-ROOT

File stems are unique in src/, none is another library's, every symbol a file exports
begins with its stem, or the stem of the folder's header that it implements a part of
(filter_parse.c: filter_free), with or without the folder before it; a table's entry
may end with it (cmd_run, export_folded), also where the table's name is behind it as
the other name is taken (io_experiment.c: experiment_io)."""
import glob
import os
import re
import subprocess

import lint

FORBIDDEN = re.compile(r'^(elf|gelf|dwarf|bpf|btf|ring_buffer|perf_buffer|ZYAN.*|DW_.*)$')
# What tells a reader more than the stem would.
ALLOWED = {
    'mem': re.compile(r'^x(calloc|realloc|memdup|strdup|strndup|asprintf)$'),
    'map': re.compile(r'^hash_'),
    'main': re.compile(r'^main$'),
}
HEADERS = set(lint.files('.h', under=['src']))
# Symbols of the injected libraries are judged by what they export (exports.py).
OBJECTS = 'src/*/lib*.a.p/*.c.o'


def stems():
    seen = {}
    for path in lint.files('.c', '.h', under=['src']):
        s = lint.stem(path)
        if FORBIDDEN.match(s):
            yield f'{path}: the name belongs to another library'
        folder = os.path.dirname(path)
        if seen.setdefault(s, folder) != folder:
            yield f'{path}: the name is taken by {seen[s]}/{s}'


def exported(objects):
    """(object, symbol) of every global definition, by one call of nm."""
    out = subprocess.run(['nm', '-A', '--defined-only', '--extern-only', *objects],
                         capture_output=True, text=True, check=True).stdout
    for line in out.splitlines():
        where, _, rest = line.partition(':')
        kind, name = rest.split()[-2:]
        if kind not in 'Ww' and not name.startswith('__'):
            yield where, name


def is_named_after(stem, layer, name):
    """Whether a reader who meets the name knows the file."""
    own = [stem]
    while '_' in own[-1]:
        own.append(own[-1].rpartition('_')[0])
    own = [stem] + [o for o in own[1:] if f'src/{layer}/{o}.h' in HEADERS]
    bare = name[len(layer) + 1:] if name.startswith(layer + '_') else name
    if stem in ALLOWED and ALLOWED[stem].match(name):
        return True
    kept, _, table = stem.rpartition('_')
    return (name.startswith(tuple(own)) or bare.startswith(tuple(own)) or
            name.endswith('_' + stem) or name == f'{table}_{kept}')


def symbols():
    sources = {f'{p.split("/")[1]}/{lint.stem(p)}' for p in lint.files('.c', under=['src'])}
    objects = {}
    for path in glob.glob(os.path.join(lint.build_dir(), OBJECTS)):
        layer, stem = path.split('/')[-3], os.path.basename(path)[:-len('.c.o')]
        stem = stem.rpartition('_')[2] if f'{layer}/{stem}' not in sources else stem
        # A build directory keeps the objects of sources that are gone.
        if f'{layer}/{stem}' in sources and layer not in ('inject', 'count'):
            objects[path] = stem
    for where, name in exported(list(objects)) if objects else ():
        s = objects[where]
        if is_named_after(s, where.split('/')[-3], name):
            continue
        yield f'{s}.c: {name} does not begin with the name of its file'


lint.finish([*stems(), *symbols()], 'see CONTRIBUTING.md, Names')
