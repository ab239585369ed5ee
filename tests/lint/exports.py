#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An injected library exports only dwell_* and what it wraps.  usage: exports.py SOURCE-ROOT BUILD-ROOT

What it wraps is a function of the C library or a known one; what it needs is nothing else, and no
sanitizer's run-time library.  What it calls there it can do without, and asks for in no
particular version: so it loads with any C library."""
import glob
import os
import re
import subprocess

import lint

ALLOWED_NEEDED = re.compile(r'^(libc\.so\.6|ld-linux.*|linux-vdso.*)$')
# All that is wrapped where nothing is wanted but what a program says of itself.
HEARING = {'libdwell-marks.so': {'_exit', '_Exit', 'prctl', 'syscall', '__cyg_profile_func_enter',
                                 '__cyg_profile_func_exit'}}
# Of other libraries; a program that has none of them calls none.
KNOWN = {'_gfortran_set_fpe'}


def dynamic_names(path):
    out = subprocess.run(['nm', '-D', '--defined-only', path], capture_output=True, text=True,
                         check=True).stdout
    return {line.split()[-1].partition('@')[0] for line in out.splitlines()
            if line.split()[-2] != 'A'}


def libc_path():
    out = subprocess.run(['ldd', '/bin/true'], capture_output=True, text=True, check=True).stdout
    return re.search(r'libc\.so\.6 => (\S+)', out).group(1)


def hard_references(path):
    """What would keep a library from loading where a symbol or its version is not."""
    out = subprocess.run(['nm', '-D', '--undefined-only', path], capture_output=True,
                         text=True, check=True).stdout
    for kind, symbol in (line.split()[-2:] for line in out.splitlines()):
        if kind not in 'wv' or '@' in symbol:
            yield f'{symbol} must be weak and without version'
    out = subprocess.run(['readelf', '-dW', path], capture_output=True, text=True,
                         check=True).stdout
    if '(VERNEED)' in out:
        yield 'must need no version of a library'


def findings():
    libraries = glob.glob(os.path.join(lint.build_dir(), 'src/inject/*.so'))
    libc = set(KNOWN)
    for library in ('libc.so.6', 'libm.so.6') if libraries else ():
        libc |= dynamic_names(os.path.join(os.path.dirname(libc_path()), library))
    for path in libraries:
        name = os.path.basename(path)
        for symbol in sorted(dynamic_names(path)):
            if not symbol.startswith('dwell_') and symbol not in HEARING.get(name, libc):
                yield f'{name}: exports {symbol}'
        out = subprocess.run(['readelf', '-d', path], capture_output=True, text=True,
                             check=True).stdout
        for needed in re.findall(r'NEEDED.*\[(.+)\]', out):
            if not ALLOWED_NEEDED.match(needed):
                yield f'{name}: needs {needed}'
        yield from (f'{name}: {what}' for what in hard_references(path))


lint.finish(list(findings()), 'hide it: static, or visibility hidden')
