# SPDX-License-Identifier: Apache-2.0
"""What Valgrind's callgrind counted: each instruction, each jump and call."""
import collections
import os
import re
import subprocess

# The program itself; what Debian calls valgrind is a script that sets more variables.
VALGRIND = '/usr/bin/valgrind.bin'
# Where Valgrind puts what it maps itself.
PROGRAM_BASE, LOADER_BASE = 0x108000, 0x4000000
LOADER = '/lib64/ld-linux-x86-64.so.2'
UNKNOWN = '???'
# The CPU that Valgrind shows has less than this one, and libc would choose other functions: this makes it choose the same.
TUNABLES = {'cpu.hwcaps': ','.join('-' + name for name in '''
    Fast_Rep_String Fast_Unaligned_Load Fast_Unaligned_Copy Prefer_PMINUB_for_stringop Prefer_No_AVX512 Prefer_No_VZEROUPPER Slow_BSF
    Fast_Copy_Backward AVX512F AVX512VL AVX512BW AVX512CD AVX512DQ AVX512ER AVX512PF XSAVEC ERMS FSRM RTM FMA MOVBE LZCNT'''.split()),
            'cpu.x86_data_cache_size': '0x8000', 'cpu.x86_shared_cache_size': '0x100000',
            'cpu.x86_non_temporal_threshold': '0xc0000', 'cpu.x86_rep_movsb_threshold': '0x800',
            'cpu.x86_rep_stosb_threshold': '0x800'}
ENVIRONMENT = {'GLIBC_TUNABLES': ':'.join(f'glibc.{name}={value}' for name, value in TUNABLES.items()),
               'PATH': '/usr/bin:/bin', 'LC_ALL': 'C', 'HOME': '/nonexistent'}


class Elf:
    """Where the parts of a file are in memory, relative to its base."""

    def __init__(self, path):
        lines = subprocess.run(['readelf', '-hlW', path], capture_output=True, check=True, text=True).stdout.splitlines()
        self.path, self.is_fixed = path, any('EXEC (' in line for line in lines if line.split()[:1] == ['Type:'])
        self.parts = [[int(w, 16) for w in line.split()[1:5]] for line in lines if line.split()[:1] == ['LOAD']]
        with open(path, 'rb') as f:
            self.bytes = f.read()

    def address(self, offset):
        return next(offset - off + v for off, v, _, size in self.parts if off <= offset < off + size)

    def offset(self, address):
        return next((address - v + off for off, v, _, size in self.parts if v <= address < v + size), None)

    def is_repeated(self, address):
        """A string instruction that Valgrind counts as often as it repeats it."""
        return re.match(rb'(?=.{0,4}[\xf2\xf3])[\xf2\xf3\x66\x67\x2e\x3e\x26\x36\x64\x65]+[\x40-\x4f]?[\xa4-\xa7\xaa-\xaf]',
                        self.bytes[self.offset(address):][:16], re.DOTALL) is not None


class Elves(dict):
    def __missing__(self, path):
        self[path] = Elf(path)
        return self[path]


ELVES = Elves()


def mapped(log):
    """[(start, end, path, address in the file)] of what the program mapped itself, the last first."""
    found, path = [], None
    for line in log.splitlines():
        opened = re.search(r'sys_openat \( \d+, 0x\w+\(([^)]*)\)', line)
        if opened:
            path = opened[1]
        made = re.search(r'sys_mmap \( 0x\w+, (\d+), (\d+), \d+, (\d+), (\d+) \).*Success\(0x(\w+)\)', line)
        if made and int(made[2]) & 4 and int(made[3]) < 1 << 31:
            start = int(made[5], 16)
            real = os.path.realpath(path)
            found.append((start, start + int(made[1]), real, ELVES[real].address(int(made[4]))))
    return found[::-1]


class Callgrind:
    """A run.  insns: {(file, address in it): executions}; names: their functions;
    ways: {(kind, from, to): taken}, kind jcnd, jump or calls; branches: {from: executions}."""

    def __init__(self, words, path, env, scratch, **more):
        out, log = f'{scratch}/callgrind', f'{scratch}/valgrind.log'
        self.run = subprocess.run([VALGRIND, '-q', '--tool=callgrind', '--dump-instr=yes', '--collect-jumps=yes', '--dump-line=no', '--skip-plt=no', '--trace-syscalls=yes',
                                   f'--log-file={log}', f'--callgrind-out-file={out}', path, *words[1:]],
                                  capture_output=True, check=False, env=env, **more)
        self.program = os.path.realpath(path)
        with open(log, encoding='utf-8', errors='replace') as f:
            self.mapped = mapped(f.read())
        self.insns, self.ways, self.branches = (collections.Counter() for _ in range(3))
        self.names, self.ids = {}, {}
        with open(out, encoding='utf-8', errors='replace') as f:
            self._read(f)

    def _place(self, path, address):
        if path == UNKNOWN:
            return self._place_in_memory(address)
        return path, address

    def _place_in_memory(self, address):
        for start, end, path, base in self.mapped:
            if start <= address < end:
                return path, address - start + base
        loader, program = ELVES[os.path.realpath(LOADER)], ELVES[self.program]
        base = 0 if program.is_fixed else PROGRAM_BASE
        for elf, base in (loader, LOADER_BASE), (program, base):
            if elf.offset(address - base) is not None:
                return elf.path, address - base
        return UNKNOWN, address

    def _name(self, kind, text):
        """Of a position, which is written out once."""
        kind = {'cob': 'ob', 'cfn': 'fn'}.get(kind, kind)
        number, _, name = text.partition(' ')
        if not number.startswith('('):
            return text
        if name:
            self.ids[kind, number] = os.path.realpath(name) if kind == 'ob' and name != UNKNOWN else name
        return self.ids[kind, number]

    def _read(self, lines):
        last, at, pending = 0, {'ob': UNKNOWN, 'fn': UNKNOWN}, None

        def address(text):
            if text == '*':
                return last
            return last + int(text, 0) if text[0] in '+-' else int(text, 0)
        for line in lines:
            first = line[:1]
            if first.isdigit() or first in '+-*' and first:
                text, *costs = line.split()
                last = address(text)
                here = self._place(at['ob'], last)
                self.names.setdefault(here, at['fn'])
                if pending:
                    kind, target, taken, executed = pending
                    self.ways[kind, here, target] += taken
                    if kind == 'jcnd':
                        self.branches[here] += executed
                    pending = None
                    at.pop('cob', None)
                elif costs:
                    self.insns[here] += int(costs[-1])
                continue
            key, is_key, value = line.rstrip('\n').partition('=')
            if not is_key:
                continue
            if key in ('ob', 'fn', 'cob', 'cfn'):
                at[key] = self._name(key, value)
            elif key in ('jcnd', 'jump', 'calls'):
                counts, target = value.split()[:2]
                taken, _, executed = counts.partition('/')
                path = at.get('cob', at['ob']) if key == 'calls' else at.pop('cob', at['ob'])
                pending = key, self._place(path, address(target)), int(taken), int(executed or 0)
