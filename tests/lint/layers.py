#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""No include runs the wrong way.  usage: layers.py SOURCE-ROOT

The table is ARCHITECTURE.md's; the two walls are that recording knows no symbols and
reading no perf, and that what runs inside other programs knows only records."""
import re

import lint

MAY_INCLUDE = {
    'base': '',
    'bare': '',
    'wire': '',
    'decode': '',
    'unwind': 'base decode',
    'inject': 'bare wire decode unwind',
    'count': 'bare wire decode',
    'host': 'base',
    'store': 'base wire',
    'collect': 'base wire decode unwind host store',
    'sym': 'base host unwind',
    'insn': 'base decode sym',
    'analyze': 'base store sym insn unwind',
    'export': 'base store analyze',
    'view': 'base store analyze export',
    'fleet': 'base store analyze',
    'cmd': 'base decode unwind host store collect sym insn analyze export view fleet',
}
# The freestanding core is all of unwind that code in a target may use; own.h and
# reader.h are macros and inline functions without libc behind them.
ONLY = {
    ('inject', 'unwind'): re.compile(r'unwind/(local|stop|row|eh_frame|cfi|core)\w*\.h'),
    ('collect/bpf', 'wire'): re.compile(r'wire/'),
}
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)


def check(path):
    layer = path.split('/')[1]
    if layer not in MAY_INCLUDE:
        yield f'{path}: {layer} is no layer'
        return
    for target in INCLUDE.findall(lint.text(path)):
        folder = target.split('/')[0]
        if '/' not in target or target.endswith('.skel.h'):
            if not target.endswith(('.skel.h', 'vmlinux.h')) and '/bpf/' not in path:
                yield f'{path}: "{target}" is not written as "folder/file.h"'
        elif folder != layer and folder not in MAY_INCLUDE[layer].split():
            yield f'{path}: {layer} may not include "{target}"'
        elif (layer, folder) in ONLY and not ONLY[layer, folder].match(target):
            yield f'{path}: {layer} may include only the freestanding part of {folder}, not "{target}"'
        elif '/bpf/' in path and folder != 'wire' and not target.startswith('collect/bpf/'):
            yield f'{path}: kernel-side code may include only wire, not "{target}"'


lint.finish([f for p in lint.files('.c', '.h', '.def', '.S', under=['src']) for f in check(p)],
            'see the table in ARCHITECTURE.md')
