#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a process writes in the sampler before its first sample is on one page: each more costs a fault
in all that are executed, and a copy in all that are forked.  usage: one_page.py SOURCE-ROOT BUILD-ROOT"""
import os
import subprocess

import lint

PAGE = 4096
# Of the last, which is large, the lock and the small of the first slot.
WRITTEN = {'_DYNAMIC': 1, 'carry_ns': 8, 'runtime': 248, 'table': 168}


def findings():
    path = os.path.join(lint.build_dir(), 'src/inject/libdwell-sampler.so')
    if not os.path.exists(path):
        return
    out = subprocess.run(['nm', path], capture_output=True, text=True, check=True).stdout
    at = {line.split()[-1]: int(line.split()[0], 16) for line in out.splitlines() if len(line.split()) == 3}
    page = at['_DYNAMIC'] // PAGE
    for name, size in WRITTEN.items():
        if not page * PAGE <= at[name] <= (page + 1) * PAGE - size:
            yield f'libdwell-sampler.so: {name} is at {at[name]:#x}, and _DYNAMIC at {at["_DYNAMIC"]:#x}'


lint.finish(list(findings()), 'put large data behind it (src/inject/meson.build, src/inject/slot.c)')
