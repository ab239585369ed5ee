#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The engine that counts basic blocks beside others that count: callgrind each instruction,
jump and call, objdump what an instruction is, gcov each line.
usage: count_oracle.py DWELL DIRECTORY ENGINE SOURCES"""
import array
import bisect
import collections
import functools
import os
import re
import shutil
import subprocess
import sys
import tempfile

import callgrind
import harness
from callgrind import ELVES
from harness import test

PROGRAMS, ENGINE, SOURCES = map(os.path.abspath, sys.argv[2:5])
TEXT = '/usr/share/common-licenses/GPL-3'
ENVIRONMENT = {**callgrind.ENVIRONMENT, 'GIT_CONFIG_NOSYSTEM': '1', 'PYTHONHASHSEED': '0', 'PYTHONDONTWRITEBYTECODE': '1', 'PERL_HASH_SEED': '0',
               'PERL_PERTURB_KEYS': '0'}
OBJDUMP_MAX_BYTES = 12 << 20    # of a file; what instructions of larger ones are, Valgrind alone says

# What may differ, file and function, and why.
EXPLAINED = [
    (r'ld-linux.*', r'init_cpu_features.*|update_active.*|get_common_cache_info.*|get_common_indices.*|get_extended_indices.*|handle_intel.*'
     r'|intel_check_word.*|handle_amd.*|handle_zhaoxin.*|dl_init_cacheinfo.*|_dl_tunable_set_hwcaps|get_cet_status',
     'asks the CPU what it is, and Valgrind answers for another'),
    (r'ld-linux.*', r'strcmp|strlen|strcspn', 'takes strings in pieces that depend on where they are: some are in pages that Valgrind puts'
     ' elsewhere, one, of the platform, is at another place of the stack; how often they are called is the same'),
    (r'ld-linux.*', r'__minimal_malloc', 'looks whether the next page follows the last'),
    (r'ld-linux.*', r'_dlfo_sort_mappings', 'sorts the libraries by where they are'),
    (r'libc\.so.*', r'__x86_cacheinfo.*', 'takes over what the loader found out of the CPU'),
    (r'libc\.so.*', r'__(mem|memp)cpy_avx_unaligned|__memmove_avx_unaligned', 'copies by how far apart the two are modulo 4096; how often it is called is the same'),
    (r'libc\.so.*', r'__stpncpy_avx2', 'takes a string whose end may be in the next page another way; how often it is called is the same'),
    (r'libc\.so.*', r'_*longjmp', 'Valgrind takes its jump for a return; its instructions are the same'),
    (r'libc\.so.*', r'_exit', 'Valgrind does not count the last block, which ends the process'),
]


@functools.lru_cache(None)
def environment():
    """As Valgrind passes it on: it has its own library loaded first."""
    run = subprocess.run([callgrind.VALGRIND, '-q', '--tool=callgrind', '--callgrind-out-file=/dev/null', '/usr/bin/env'],
                         env=ENVIRONMENT, capture_output=True, check=True, text=True)
    return dict(line.split('=', 1) for line in run.stdout.splitlines())


PAGE, AUXILIARY_BYTES = 4096, 23 * 16


def bytes_of(strings):
    return sum(len(os.fsencode(word)) + 1 for word in strings)


def engine_and_prefix(words, env, path, prefix):
    """Of lengths with which the program's strings and its first stack pointer are within their pages where Valgrind
    has them, for functions of strings tell apart what crosses a line of the cache.  The engine's path is relative
    to the directory of the tests; how Linux and Valgrind fill a stack is well known."""
    variables = [f'{name}={value}' for name, value in env.items()]
    strings = bytes_of(words) + bytes_of(variables)
    theirs = (strings + 16 + bytes_of([path, 'x86_64']) + 3) // 4 * 4
    link = f'{harness.DIR}/e'
    if not os.path.islink(link):
        os.symlink(ENGINE, link)
    engine = '.' + '/' * ((theirs - 8 - strings) % PAGE - 2) + 'e'
    pointers = 8 * (1 + len(words) + 1 + len(variables) + 1) + AUXILIARY_BYTES
    wanted = -(pointers + theirs) // 16 * 16 % PAGE

    def stack_pointer(more):
        top = -8 - bytes_of([engine, *variables, *words, engine, prefix, '-', path, path, '--']) - more
        return (top // 16 * 16 - len('x86_64') - 1 - 16 - pointers - 6 * 8) // 16 * 16 + 6 * 8
    more = next(n for n in range(PAGE) if stack_pointer(n) % PAGE == wanted)
    return engine, '/' * more + prefix


class Counted:
    """A run in the engine.  blocks: [(file, address in it, size, instructions, entered)];
    ways: {(last instruction, target): taken}, without returns."""

    def __init__(self, words, path, scratch, env, launcher=(), **more):
        engine, prefix = engine_and_prefix(words, env, path, f'{scratch}/of')
        self.run = subprocess.run(['setarch', '-R', *launcher, engine, prefix, '-', path, path, '--', *words],
                                  capture_output=True, check=False, env=env, cwd=harness.DIR, **more)
        names = sorted((name for name in os.listdir(scratch) if name.startswith('of.')), key=lambda name: int(name.split('.')[1]))
        self.files = [f'{scratch}/{name}' for name in names]
        assert self.files, self.run.stderr[-300:]
        *lines, self.wrong = self._dump()
        self.blocks = [(*self._place(name, offset), int(size), int(insns), int(n))
                       for name, offset, size, insns, n in (line.rsplit(' ', 4) for line in lines)]

    def _dump(self, *options):
        return subprocess.run([f'{PROGRAMS}/e2e-count_dump', *options, self.files[0]], capture_output=True, check=True, text=True).stdout.splitlines()

    @staticmethod
    def _place(path, offset):
        if not path.startswith('/'):
            return path, int(offset, 16)
        path = os.path.realpath(path)
        return path, ELVES[path].address(int(offset, 16))

    def ways(self, last):
        found = collections.Counter()
        for line in self._dump('-e')[:-1]:
            name, offset, size, kind, target, target_offset, n = re.fullmatch(r'(.*) (\w+) (\d+) ([a-z-]+) (.*) (\w+) (-?\d+)', line).groups()
            if kind in ('on', 'syscall', 'return'):
                continue
            path, address = self._place(name, offset)
            to = self._place(target, target_offset)
            if kind != 'branch' or to != (path, address + int(size)):
                found[(path, last(path, address, int(size))), to] += int(n)
        return found


@functools.lru_cache(None)
def boundaries(path, *extent):
    """Where objdump sees instructions begin; it may be out of step unless told where."""
    extent = [f'--{name}-address={address}' for name, address in zip(('start', 'stop'), extent)]
    text = subprocess.run(['objdump', '-dw', '--no-show-raw-insn', *extent, path], capture_output=True, check=True).stdout
    return array.array('Q', (int(a, 16) for a in re.findall(rb'^ +([0-9a-f]+):\t', text, re.MULTILINE)))


def starts(path, valgrinds):
    if os.path.getsize(path) <= OBJDUMP_MAX_BYTES:
        return boundaries(path)
    return valgrinds.get(path, array.array('Q'))


def check_block(path, address, size, insns, _):
    """A file's block consists of so many instructions."""
    if not path.startswith('/'):
        return
    at = boundaries(path)
    i, j = bisect.bisect_left(at, address), bisect.bisect_left(at, address + size)
    if j - i != insns or at[i] != address:
        at = boundaries(path, address, address + size)
        assert len(at) == insns and at[0] == address, f'{path} {address:#x}: {size} bytes, {insns} instructions here, {len(at)} elsewhere'


def scratch_for(words):
    return tempfile.mkdtemp(prefix=os.path.basename(words[0]), dir=harness.DIR)


def by_file(callgrind_run):
    found = collections.defaultdict(list)
    for path, address in callgrind_run.insns:
        found[path].append(address)
    return {path: array.array('Q', sorted(all_)) for path, all_ in found.items()}


@functools.lru_cache(None)
def symbols(path):
    """(addresses, names) of a file or of what Debian keeps beside it."""
    notes = subprocess.run(['readelf', '-n', path], capture_output=True, check=True, text=True).stdout
    build_id = re.search(r'Build ID: (\w\w)(\w+)', notes)
    beside = build_id and f'/usr/lib/debug/.build-id/{build_id[1]}/{build_id[2]}.debug'
    lines = subprocess.run(['nm', beside if beside and os.path.exists(beside) else path], capture_output=True, check=False, text=True).stdout.splitlines()
    found = sorted((int(words[0], 16), words[2]) for words in map(str.split, lines) if len(words) == 3 and words[1] in 'tTwWiu')
    return [a for a, _ in found], [name for _, name in found]


def function_at(path, address, names):
    if (path, address) in names:
        return names[path, address]
    addresses, functions = symbols(path) if path.startswith('/') else ([], [])
    i = bisect.bisect_right(addresses, address)
    return functions[i - 1] if i else '?'


class Comparison:
    def __init__(self, words, **more):
        scratch = scratch_for(words)
        path = shutil.which(words[0])
        self.theirs = callgrind.Callgrind(words, path, ENVIRONMENT, scratch, cwd=harness.DIR, **more)
        self.ours = Counted([path, *words[1:]], path, scratch, environment(), [f'{PROGRAMS}/e2e-count_start'], **more)
        self.differing = collections.Counter()      # {(file, function): executions}
        self.known = by_file(self.theirs)
        self.examples = {}

    def differs(self, path, address, n, what):
        function = function_at(path, address, self.theirs.names)
        name = os.path.basename(path)
        if any(re.fullmatch(of, name) and re.fullmatch(fn, function) for of, fn, _ in EXPLAINED):
            return
        self.differing[name, function] += abs(n)
        self.examples.setdefault((name, function), f'{address:#x} {what}')

    def executions(self):
        found = collections.Counter()
        for path, address, size, insns, n in self.ours.blocks:
            if not path.startswith('/'):
                self.differs(path, address, n, 'is in no file')
                continue
            at = starts(path, self.known)
            i, j = bisect.bisect_left(at, address), bisect.bisect_left(at, address + size)
            if (j - i != insns or i == j or at[i] != address) and (n or at is not self.known.get(path)):
                there = boundaries(path, address, address + size)
                if len(there) != insns or there[0] != address:
                    self.differs(path, address, n or 1, f'{size} bytes, {insns} instructions here, {j - i} elsewhere')
                for place in there:
                    found[path, place] += n
            elif n:
                for k in range(i, j):
                    found[path, at[k]] += n
        return found

    def compare_instructions(self):
        ours, theirs = self.executions(), self.theirs.insns
        for place in ours.keys() | theirs.keys():
            if ours[place] != theirs[place] and not self.is_repeated(place):
                self.differs(*place, ours[place] - theirs[place], f'{ours[place]} times, {theirs[place]} in Valgrind')
        return sum(ours.values())

    @staticmethod
    def is_repeated(place):
        return place[0].startswith('/') and ELVES[place[0]].is_repeated(place[1])

    def _last(self, path, address, size):
        at = starts(path, self.known) if path.startswith('/') else []
        i = bisect.bisect_left(at, address + size)
        return at[i - 1] if i else address

    def compare_ways(self):
        ours, theirs = self.ours.ways(self._last), collections.Counter()
        for (_, source, target), n in self.theirs.ways.items():
            theirs[source, target] += n
        self._split_resolved(ours, theirs)
        for source, target in ours.keys() | theirs.keys():
            a, b = ours[source, target], theirs[source, target]
            if a != b and not self.is_repeated(source):
                self.differs(*source, a - b, f'to {target[1]:#x} of {os.path.basename(target[0])} {a} times, {b} in Valgrind')
        return sum(ours.values())

    def _split_resolved(self, ours, theirs):
        """Callgrind tells a function's first call as if the stub of its file did what it jumps to."""
        resolved = {source: target for source, target in ours if function_at(*target, self.theirs.names).startswith('_dl_runtime_resolve')}
        leaves = {source for source, _ in ours if function_at(*source, self.theirs.names).startswith('_dl_runtime_resolve') and source[1] != 0
                  and not any(source[1] == call[1] for call in self._calls_of_resolver(ours))}
        for (source, target), n in list(theirs.items()):
            if source in resolved and target != resolved[source]:
                del theirs[source, target]
                for leave in leaves:
                    theirs[leave, target] += n

    def _calls_of_resolver(self, ours):
        return {source for source, target in ours if function_at(*target, self.theirs.names) == '_dl_fixup'}

    def verdict(self):
        assert (self.ours.run.stdout, self.ours.run.returncode) == (self.theirs.run.stdout, self.theirs.run.returncode), \
            (self.ours.run.returncode, self.ours.run.stderr[-200:], self.theirs.run.returncode, self.theirs.run.stderr[-200:])
        assert self.ours.wrong == 'wrong 0 0', self.ours.wrong
        text = '; '.join(f'{name} {function}: {n} ({self.examples[name, function]})' for (name, function), n in self.differing.most_common(25))
        assert not self.differing, text


def same_as_valgrind(words, **more):
    need(words)
    if not os.path.exists(callgrind.VALGRIND):
        raise harness.Skip('no valgrind here')
    both = Comparison(words, **more)
    executed = both.compare_instructions()
    taken = both.compare_ways()
    both.verdict()
    assert executed > 50000 and taken > 5000, (executed, taken)


# Each with an input that is the same every time.  Not here: grep and diff, which read the list of their memory, and what
# sorts or hashes by addresses or prints process numbers, for which see below.
MATRIX = [
    ['true'], ['ls', '-l', '/usr/share/common-licenses'], ['xz', '-T1', '-c', TEXT], ['zstd', '--single-thread', '--no-asyncio', '-c', TEXT],
    ['gzip', '-c', TEXT], ['sort', '--parallel=1', TEXT], ['sed', 's/the/THE/g', TEXT], ['mawk', '{ n += NF } END { print n }', TEXT],
    ['sha256sum', TEXT], ['wc', TEXT], ['bzip2', '-c', TEXT],
    ['tar', '-cf-', '-C', '/usr/share', 'common-licenses'], ['bc', '-q'], ['git', '--version'], ['git', 'hash-object', TEXT],
    ['sqlite3', ':memory:', 'create table t(a); insert into t values (3), (1); select sum(a) from t;'], ['expr', '6', '*', '7'],
    ['md5sum', TEXT], ['base64', TEXT], ['od', TEXT], ['tr', 'a-z', 'A-Z'], ['objdump', '-h', '/bin/true'], ['readelf', '-h', '/bin/true'],
    ['factor', '1000000016000000063'], ['nl', TEXT], ['cut', '-c3-9', TEXT], ['uniq', '-c', TEXT],
    ['join', TEXT, TEXT], ['comm', TEXT, TEXT], ['seq', '3000'], ['fold', TEXT], [f'{PROGRAMS}/e2e-blocks'],
]
# What they execute depends on addresses, which Valgrind chooses: here only what blocks are and that flows add up.
BY_ADDRESS = [
    ['perl', '-e', 'print join ",", map { $_ ** 2 % 97 } 1 .. 300'], ['grep', '-c', 'the', TEXT],
    ['find', '/usr/share/common-licenses', '-name', '*L'], ['diff', TEXT, '/usr/share/common-licenses/GPL-2'],
    ['python3', '-ISE', '-c', 'print(sorted(str(i * i) for i in range(3000))[7:70])'], ['openssl', 'sha1', TEXT],
    ['cmp', TEXT, '/usr/share/common-licenses/GPL-2'], ['dash', '-c', 'i=0; while [ $i -lt 99 ]; do i=$((i + 1)); done; echo $i'],
]


def add_comparison(words):
    name = ' '.join([os.path.basename(words[0]), *words[1:]])[:40]
    harness.TESTS.append((f'callgrind counts as much in {name}', lambda: same_as_valgrind(words, stdin=subprocess.DEVNULL)))


def need(words):
    harness.need('objdump', 'setarch')
    if not shutil.which(words[0]):
        raise harness.Skip(f'no {words[0]} here')


@test
def blocks_are_made_of_the_instructions_that_objdump_sees():
    for words in BY_ADDRESS:
        if shutil.which(words[0]):
            path = shutil.which(words[0])
            scratch = scratch_for(words)
            ours = Counted([path, *words[1:]], path, scratch, ENVIRONMENT, stdin=subprocess.DEVNULL)
            native = subprocess.run([path, *words[1:]], capture_output=True, check=False, env=ENVIRONMENT, stdin=subprocess.DEVNULL)
            assert (ours.run.stdout, ours.run.returncode, ours.wrong) == (native.stdout, native.returncode, 'wrong 0 0'), words
            for block in ours.blocks:
                check_block(*block)


def executions_of_lines(program, blocks):
    """{line: how often its most frequent statement was begun}"""
    text = subprocess.run(['objdump', '--dwarf=decodedline', program], capture_output=True, check=True, text=True).stdout
    found, insns = collections.Counter(), collections.Counter()
    for path, address, size, _, n in blocks:
        if path == program:
            at = boundaries(path)
            for place in at[bisect.bisect_left(at, address):bisect.bisect_left(at, address + size)]:
                insns[place] += n
    for line, address in re.findall(r'^count_gcov\.c\s+(\d+)\s+0x(\w+).* x$', text, re.MULTILINE):
        found[int(line)] = max(found[int(line)], insns[int(address, 16)])
    return found


@test
def lines_are_executed_as_often_as_gcov_counts():
    harness.need('gcc', 'gcov', 'objdump')
    scratch, words = scratch_for(['gcov']), ['./covered']
    subprocess.run(['gcc', '-O0', '-g', '--coverage', '-o', 'covered', f'{SOURCES}/count_gcov.c'], check=True, cwd=scratch)
    program = f'{scratch}/covered'
    ours = Counted([program], program, scratch, ENVIRONMENT)
    native = subprocess.run(words, capture_output=True, check=True, cwd=scratch, env={**ENVIRONMENT, 'GCOV_PREFIX': f'{scratch}/aside'})
    assert (ours.run.stdout, ours.run.returncode, ours.wrong) == (native.stdout, 0, 'wrong 0 0'), (ours.run, ours.wrong)
    data = next(name for name in os.listdir(scratch) if name.endswith('.gcda'))
    text = subprocess.run(['gcov', '-t', data], capture_output=True, check=True, text=True, cwd=scratch).stdout
    counted = {int(line): 0 if '#' in n else int(n) for n, line in re.findall(r'^ *(\d+|#+)\*?: *(\d+):', text, re.MULTILINE)}
    found = executions_of_lines(program, ours.blocks)
    with open(f'{SOURCES}/count_gcov.c', encoding='ascii') as f:
        returned_to = next(i for i, line in enumerate(f, 1) if 'if (setjmp(' in line)
    counted[returned_to] *= 2   # each time again by longjmp, of which gcov knows nothing
    both = counted.keys() & found.keys()    # heads of functions and labels are no statements to the compiler
    wrong = {line: (found[line], counted[line]) for line in both if found[line] != counted[line]}
    assert len(both) > 35 and not wrong, f'{len(both)} lines: here, gcov {wrong}'


def is_as_natively(path, *words):
    native = subprocess.run([path, *words], capture_output=True, check=False)
    ours = Counted([path, *words], path, scratch_for([path]), dict(os.environ))
    assert (ours.run.stdout, ours.run.returncode) == (native.stdout, native.returncode), \
        f'{path}: {native.returncode} {native.stdout.decode()}, {ours.run.returncode} {ours.run.stdout.decode()} {ours.run.stderr[-200:]}'
    assert ours.wrong == 'wrong 0 0' and native.returncode == 0, (path, ours.wrong, native)
    return ours


@test
def hard_things_come_to_what_they_come_to_natively():
    scratch = scratch_for(['library'])
    with open(f'{scratch}/library.c', 'w', encoding='ascii') as f:
        f.write('int n; int function(int i) { for (int k = 0; k < i; k++) n += i * k; return n; }')
    subprocess.run(['gcc', '-O1', '-shared', '-fPIC', '-o', f'{scratch}/library.so', f'{scratch}/library.c'], check=True)
    for suffix in '', '-fixed':
        is_as_natively(f'{PROGRAMS}/e2e-blocks_hard{suffix}', f'{scratch}/library.so')
    for suffix in '-static', '-static-pie':
        is_as_natively(f'{PROGRAMS}/e2e-blocks_hard{suffix}')


@test
def exceptions_arrive_through_many_frames():
    if not os.path.exists(f'{PROGRAMS}/e2e-blocks_throw'):
        raise harness.Skip('no C++ compiler here')
    is_as_natively(f'{PROGRAMS}/e2e-blocks_throw')


@test
def programs_of_very_many_blocks_are_counted():
    scratch = scratch_for(['many'])
    n = 12000
    each_ = '\n'.join(f'f{i}: test ${1 << i % 12}, %edi\n jz 1f\n add ${i}, %rax\n1: cmp ${i % 90}, %al\n ja 2f\n imul $3, %rax\n2: bt ${i % 64}, %rax\n'
                      f' jnc 3f\n xor ${i + 7}, %rax\n jmp 4f\n3: lea {i % 50}(%rax,%rdi), %rax\n4: ret' for i in range(n))
    calls = '\n'.join(f'call f{i}' for i in range(n))
    with open(f'{scratch}/many.s', 'w', encoding='ascii') as f:
        f.write(f'.globl calls\n.text\n{each_}\ncalls: xor %eax, %eax\n{calls}\nret\n.section .note.GNU-stack\n')
    with open(f'{scratch}/main.c', 'w', encoding='ascii') as f:
        f.write('#include <stdio.h>\nunsigned long calls(int); int main(void) { for (int i = 0; i < 40; i++) printf("%lu\\n", calls(i * 97)); return 0; }')
    subprocess.run(['gcc', '-o', f'{scratch}/many', f'{scratch}/main.c', f'{scratch}/many.s'], check=True)
    assert len(is_as_natively(f'{scratch}/many').blocks) > 8 * n


for each in MATRIX:
    add_comparison(each)

sys.exit(harness.run_all(harness.TESTS, words=sys.argv[5:]))
