#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The engine that counts basic blocks, on programs that know nothing of it.
usage: count_engine.py DWELL DIRECTORY ENGINE"""
import os
import re
import shutil
import struct
import subprocess
import sys
import time
from signal import SIGUSR1

import breakpoints
import harness
from harness import test

PROGRAMS = os.path.abspath(sys.argv[2])
ENGINE = os.path.abspath(sys.argv[3])
FIB_15 = 1973   # calls of the usual recursion, the first one included


class Blocks:
    """What was counted: {(path, offset): [size, instructions, entered]}, summed."""

    def __init__(self, path):
        text = subprocess.run([f'{PROGRAMS}/e2e-count_dump', path], capture_output=True, check=True, text=True).stdout
        *lines, last = text.splitlines()
        self.wrong, self.at = last, {}
        for line in lines:
            name, offset, size, insns, n = line.rsplit(' ', 4)
            one = self.at.setdefault((name, int(offset, 16)), [int(size), int(insns), 0])
            one[2] += int(n)

    def executed(self):
        return sum(insns * n for _, insns, n in self.at.values())


def find(program):
    if not shutil.which(program):
        raise harness.Skip(f'no {program} here')
    return os.path.realpath(shutil.which(program))


def count(words, flags='-', running=0):
    """Output, exit code and the blocks of each process, the first one's first.  One block of each of so many threads
    that may still run when the program ends need not add up."""
    directory = os.path.join(harness.DIR, str(len(os.listdir(harness.DIR))))
    os.mkdir(directory)
    path = find(words[0])
    with subprocess.Popen(['setarch', '-R', ENGINE, f'{directory}/of', flags, path, path, '--', *words],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as run:
        try:
            out, errors = run.communicate(timeout=300)
        except subprocess.TimeoutExpired:
            run.kill()
            raise
    numbers = {name: [int(n) for n in name.split('.')[1:]] for name in os.listdir(directory)}
    # the kernel's numbers of processes begin anew at some time
    files = sorted(numbers, key=lambda name: (numbers[name][0] != run.pid, numbers[name]))
    blocks = [Blocks(f'{directory}/{name}') for name in files]
    shutil.rmtree(directory)
    for one in blocks:
        unbalanced, unknown = map(int, one.wrong.split()[1:])
        assert unbalanced <= running and not unknown, f'{words}: {one.wrong}, {errors[-300:]}'
    return out, run.returncode, blocks


def natively(words):
    run = subprocess.run(words, capture_output=True, check=False)
    return run.stdout, run.returncode


def functions(program):
    """{name: its offset in the file}"""
    lines = subprocess.run(['nm', program], capture_output=True, check=True, text=True).stdout.splitlines()
    loads = subprocess.run(['readelf', '-lW', program], capture_output=True, check=True, text=True).stdout.splitlines()
    parts = [[int(w, 16) for w in line.split()[1:5]] for line in loads if line.split()[:1] == ['LOAD']]
    found = {}
    for line in lines:
        address, kind, name = line.rsplit(' ', 2)
        if kind in 'tT':
            found[name] = next(int(address, 16) - v + off for off, v, _, size in parts if v <= int(address, 16) < v + size)
    return found


def known(program):
    path = f'{PROGRAMS}/{program}'
    out, code, [blocks] = count([path])
    assert (out, code) == natively([path]) and code == 0, (out, code)
    at = functions(path)
    entered = {name: blocks.at[path, at[name]][2] for name in ('leaf', 'left', 'right', 'branch', 'deep', 'jump')}
    # branch: of 3,200 (200 by pointer, with 3) every third is leaf's; qsort's own are the rest
    numbers = [n for n in range(3000)] + [3] * 200
    leaf = sum(n % 3 == 0 for n in numbers) + 200
    assert entered['branch'] == 3200 and entered['jump'] == 100, entered
    assert entered['left'] == 200 + sum(n % 3 != 0 and n % 5 != 0 for n in numbers), entered
    assert entered['right'] == 200 + sum(n % 3 != 0 and n % 5 == 0 for n in numbers), entered
    assert entered['deep'] == FIB_15 + 200 * 9, entered
    assert entered['leaf'] == leaf + 2 * blocks.at[path, at['compare']][2], entered


@test
def functions_are_entered_as_often_as_their_author_says():
    known('e2e-blocks')


@test
def so_they_are_without_a_dynamic_linker():
    known('e2e-blocks-static')


@test
def what_has_no_counter_is_what_a_counter_would_say():
    for words in [[f'{PROGRAMS}/e2e-blocks'], [f'{PROGRAMS}/e2e-blocks-static'], ['/bin/true']]:
        _, _, [few] = count(words)
        _, _, [all_] = count(words, 'a')
        assert few.executed() == all_.executed(), (words, few.executed(), all_.executed())
        assert few.at == all_.at, words


@test
def flags_that_nobody_should_need_may_be_kept():
    path = f'{PROGRAMS}/e2e-blocks'
    out, code, [blocks] = count([path], 's')
    _, _, [usual] = count([path])
    assert (out, code) == natively([path]) and blocks.at == usual.at and usual.executed() > 10000


def parts(words, flags):
    """Output, exit code, and how often each block of the first process was executed in all that it left, and how many that
    were."""
    out, code, blocks = count(words, flags)
    at = {}
    for one in blocks:
        for place, (size, insns, n) in one.at.items():
            at[place, size] = at.get((place, size), 0) + insns * n
    return out, code, at, len(blocks)


@test
def what_is_known_of_code_may_be_forgotten_at_any_time():
    for words in [f'{PROGRAMS}/e2e-blocks'], [f'{PROGRAMS}/e2e-blocks-static'], ['/bin/bash', '-c', 'for i in 1 2 3; do echo $i; done']:
        out, code, whole, _ = parts(words, '-')
        again, _, forgotten, n = parts(words, 't')
        # where a block began anew in the middle of another, it is two
        assert again == out and code == 0 and n >= 2, (words, n)
        assert sum(whole.values()) == sum(forgotten.values()), (words, sum(whole.values()), sum(forgotten.values()))
    for words in [[f'{PROGRAMS}/e2e-blocks_signals', '7000', 'storm'], [f'{PROGRAMS}/e2e-blocks_threads'],
                  [f'{PROGRAMS}/e2e-blocks_changes'], [f'{PROGRAMS}/e2e-blocks_forever', '200']]:
        out, code, blocks = count(words, 't')
        assert (out, code) == natively(words) and len(blocks) >= 2, (words, code, len(blocks), out[-200:])


@test
def threads_and_children_are_counted_each():
    path = f'{PROGRAMS}/e2e-blocks_threads'
    out, code, blocks = count([path])
    assert (out, code) == natively([path]) and code == 0, (out, code)
    work = functions(path)['work']
    # 40 threads, a child by fork, and a child by vfork, which borrows its parent's memory
    assert [one.at[path, work][2] for one in blocks] == [40 * 10000 + 7, 10000], blocks
    out, code, blocks = count(['sh', '-c', 'for i in 1 2 3; do (echo $i); done; (exit 5); echo $?'])
    assert (out, code) == (b'1\n2\n3\n5\n', 0) and len(blocks) == 5, (out, code, len(blocks))


@test
def children_of_who_has_all_mappings_it_may_have_are_counted():
    path = f'{PROGRAMS}/e2e-blocks_crowded'
    if natively([path])[1] == 77:
        raise harness.Skip('a process may have too many mappings here')
    out, code, blocks = count([path])
    assert (out, code) == natively([path]) and code == 0, (code, out)
    place = path, functions(path)['in_child']
    assert sorted(one.at.get(place, [0, 0, 0])[2] for one in blocks) == [0, *range(2, 11)], len(blocks)


@test
def handlers_of_signals_are_counted_and_what_they_interrupt_goes_on():
    path = f'{PROGRAMS}/e2e-blocks_signals'
    for name in ['timer', 'faults_left', 'faults_mended', 'context', 'queued', 'settings', 'waits', 'children', 'forked_within']:
        out, code, _ = count([path, name])
        assert (out, code) == natively([path, name]) and code == 0, (name, code, out[-300:])
    for flags in '-', 's', 'a':
        out, code, [blocks] = count([path, '7000', 'storm'], flags)
        assert (out, code) == (b'7000 0\n', 0), (flags, code, out[-300:])
        assert blocks.at[path, functions(path)['take']][2] == 7000, flags


@test
def a_segment_of_the_programs_own_is_there_in_all_forms():
    path = f'{PROGRAMS}/e2e-blocks_gs'
    for flags in '-', 's', 'a', 't':
        out, code, blocks = count([path], flags)
        assert (out, code) == natively([path]) and code == 0 and b'wrong' not in out, (flags, code, out)
    _, _, [blocks, child, _] = count([path])
    at = functions(path)
    # of 8 threads, and some more among signals
    assert blocks.at[path, at['step']][2] > 8 * 20000 and child.at[path, at['step']][2] == 1, blocks.at
    assert blocks.at[path, at['leaf']][2] == 2, blocks.at


@test
def data_as_far_away_as_it_can_be_is_reached():
    path = f'{PROGRAMS}/e2e-blocks_far'
    for flags in '-', 's', 'a':
        out, code, _ = count([path], flags)
        assert (out, code) == natively([path]) and code == 0, (flags, code, out)


@test
def code_that_changes_is_executed_as_it_is_then():
    path = f'{PROGRAMS}/e2e-blocks_changes'
    for flags in '-', 's', 'a':
        out, code, blocks = count([path], flags)
        assert (out, code) == natively([path]) and code == 0 and len(blocks) == 21, (flags, code, out)
        # a page that was writable for a while has the same functions as before, not new ones
        assert len(blocks[0].at) < 20000, len(blocks[0].at)
        assert blocks[0].at[path, functions(path)['in_counted_code']][2] == 1020, flags


@test
def code_that_is_written_at_another_address_is_executed_as_it_is_then():
    path = f'{PROGRAMS}/e2e-blocks_aliases'
    for flags in '-', 's', 'a':
        out, code, blocks = count([path], flags)
        assert (out, code) == natively([path]) and code == 0 and len(blocks) == 2, (flags, code, out)


def changed_by_others(what, rounds, flags='-'):
    """What was told of each of its files."""
    words = [f'{PROGRAMS}/e2e-blocks_patched', what, str(rounds)]
    out, code, blocks = count(words, flags)
    assert (out, code) == (f'{what}: 0 wrong\n'.encode(), 0), (code, out)
    return blocks


@test
def code_is_read_when_nobody_writes_it_any_more():
    changed_by_others('jumps', 5000)


@test
def a_programs_own_code_may_be_changed_while_others_execute_it():
    path = f'{PROGRAMS}/e2e-blocks_patched'
    place = path, functions(path)['patched']
    for flags in '-', 's', 'a', 't':
        blocks = changed_by_others('alone', 300, flags)
        assert sum(one.at.get(place, [0, 0, 0])[2] for one in blocks) == 300, flags
        # once all that was translated is forgotten, then such code is known to change
        assert len(blocks) <= 2 or flags == 't', flags
    for flags in '-', 'a':
        assert len(changed_by_others('patch', 100, flags)) <= 2, flags


@test
def a_thread_that_never_comes_to_rest_is_waited_for_long_only_once():
    begin = time.monotonic()
    changed_by_others('deaf', 8)
    took_s = time.monotonic() - begin
    # the long wait is 10 s of sleeps and what they take longer
    assert 8 < took_s < 40, took_s


@test
def code_may_come_to_need_flags_that_other_code_has_left():
    path = f'{PROGRAMS}/e2e-blocks_flags'
    for flags in '-', 'a', 's', 't':
        out, code, _ = count([path], flags)
        assert (out, code) == natively([path]) and b': 0' not in out, (flags, code, out)


@test
def pages_may_be_written_while_they_cannot_be_executed():
    changed_by_others('rights', 2000)


@test
def calls_of_32_bit_programs_are_made_and_counted():
    path = f'{PROGRAMS}/e2e-blocks_int80'
    if natively([path])[1] in (77, -11):
        raise harness.Skip('this kernel has none')
    out, code, blocks = count([path])
    assert (out, code) == natively([path]) and code == 3 and len(blocks) == 3, (code, out)
    assert all('libc' in str(one.at.keys()) for one in blocks), blocks
    assert blocks[0].at[path, functions(path)['call']][2] > 20, blocks


@test
def a_program_that_steps_through_its_own_code_hears_of_each_instruction():
    path = f'{PROGRAMS}/e2e-blocks_steps'
    for flags in '-', 'a', 's', 't':
        out, code, blocks = count([path], flags)
        assert (out, code) == natively([path]) and code == 0, (flags, code, out)
        where = functions(path)
        # once for each of three rounds; and the handler for each of its steps
        assert sum(one.at.get((path, where['called']), [0, 0, 0])[2] for one in blocks) == 3, flags
        assert sum(one.at.get((path, where['note']), [0, 0, 0])[2] for one in blocks) == 3 * 46, flags
    assert count([path, 'unhandled'])[:2] == natively([path, 'unhandled']) == (b'', -5)


@test
def programs_that_are_executed_are_followed():
    script = os.path.join(harness.DIR, 'script')
    with open(script, 'w') as f:
        f.write('#! /bin/sh -e \necho $0 "$@"; cat /proc/$$/comm; tr "\\0" " " </proc/self/cmdline; sh -c "exit 7" || echo $?; exec ls /\n')
    os.chmod(script, 0o755)
    words = ['env', script, 'a', 'b c']
    out, code, blocks = count(words)
    assert (out, code) == natively(words) and code == 0, (code, out)
    # env becomes sh becomes ls; cat, tr and another sh are its children
    seen = [{os.path.basename(name) for name, _ in one.at} for one in blocks]
    for program in 'env', 'cat', 'tr', 'ls':
        path = os.path.basename(find(program))
        assert sum(path in names for names in seen) == 1, (program, seen)
    for words in [['sh', '-c', 'exec /nonexistent'], ['sh', '-c', 'exec /etc/passwd'], ['sh', '-c', 'exec /'],
                  ['env', 'no-such-program'], ['bash', '-c', 'exec -a other sh -c "echo $0"'],
                  ['/usr/bin/python3', '-c', 'import os; os.execv("/bin/true", ["x"] * 5000)']]:
        out, code, _ = count(words)
        assert (out, code) == natively(words), (words, out, code)


EXECUTE = '''
import os, sys
what, path = sys.argv[1:3]
words = ['shown', 'a', 'b']
directory = os.open(os.path.dirname(path), os.O_RDONLY)
os.set_inheritable(directory, what == 'at-lasting')
fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
if what == 'memory':
    copy = os.memfd_create('copy')
    os.write(copy, open(path, 'rb').read())
    os.close(fd)
    fd = os.open(f'/proc/self/fd/{copy}', os.O_RDONLY | os.O_CLOEXEC)
    os.close(copy)
if what == 'named':
    os.execv(f'/proc/self/fd/{fd}', words)
if what.startswith('at'):
    import ctypes
    pointers = lambda texts: (ctypes.c_char_p * (len(texts) + 1))(*[t.encode() for t in texts], None)
    ctypes.CDLL(None).syscall(322, directory, os.path.basename(path).encode(), pointers(words), pointers(['X=1']), 0)
    sys.exit('not executed')
if what == 'lasting':
    os.set_inheritable(fd, True)
try:
    os.execve(fd, words, {'X': '1'})
except OSError as e:
    sys.exit(e.strerror)
'''


@test
def programs_that_are_open_are_followed():
    program = os.path.join(harness.DIR, 'program')
    shutil.copy(find('env'), program)
    # older kernels call what is open by the descriptor's number
    show = '; cat /proc/$$/comm' if [int(n) for n in os.uname().release.split('.')[:2]] >= [6, 14] else ''
    for what, file in [(w, f) for w in ('open', 'lasting', 'memory', 'named', 'at', 'at-lasting') for f in (program, f'{program}.sh')]:
        with open(f'{program}.sh', 'w') as f:
            f.write(f'#!/bin/sh -u\necho "$0 $*"{show}')
        os.chmod(f'{program}.sh', 0o755)
        words = ['/usr/bin/python3', '-c', EXECUTE, what, file]
        out, code, blocks = count(words)
        assert (out, code) == natively(words), (what, file, code, out)
        seen = {os.path.basename(name) for one in blocks for name, _ in one.at}
        if file == program and what != 'memory':
            assert 'program' in seen, (what, seen)
        if file == program and what == 'memory':
            assert any(name.startswith('memfd:copy') for name in seen), seen


IGNORED = '''
import os, signal
def tell():
    print([name for name in "SEGV BUS ILL FPE SYS USR1 USR2".split()
           if signal.getsignal(getattr(signal, "SIG" + name)) == signal.SIG_IGN], flush=True)
tell()
signal.signal(signal.SIGUSR2, signal.SIG_IGN)
try:
    os.execv("/nonexistent", ["x"])
except OSError:
    os.kill(os.getpid(), signal.SIGSEGV)
    tell()
if os.environ.pop("AGAIN", ""):
    os.execv("/usr/bin/python3", ["python3", "-c", os.environ["IGNORED"]])
'''


@test
def what_is_ignored_the_next_program_ignores_too():
    words = ['sh', '-c', f'trap "" SEGV BUS ILL FPE SYS USR1; AGAIN=1 IGNORED=$1 exec {find("python3")} -c "$1"', 'sh', IGNORED]
    out, code, _ = count(words)
    assert (out, code) == natively(words) and code == 0 and out.count(b'SEGV') == 4, (code, out)


@test
def scripts_of_scripts_are_followed():
    def script(i):
        return os.path.join(harness.DIR, f'script{i}')
    for i in range(7):
        with open(script(i), 'w') as f:
            f.write(f'#!{script(i - 1) if i else "/bin/echo"}{" -x" if i % 2 else ""}\n')
        os.chmod(script(i), 0o755)
    for i in range(7):
        words = ['env', script(i), 'a', 'b']
        out, code, blocks = count(words)
        assert (out, code) == natively(words), (i, code, out)
        assert i > 4 or find('echo') in {name for name, _ in blocks[0].at | blocks[-1].at}, i


LIMITED = '''
import ctypes, os, resource, subprocess, threading
memory, data = resource.RLIMIT_AS, resource.RLIMIT_DATA
def show():
    print([resource.getrlimit(what) for what in (memory, data, resource.RLIMIT_FSIZE)], flush=True)
show()
resource.setrlimit(memory, (1 << 30, 1 << 31))
show()
resource.setrlimit(data, (1 << 29, 1 << 31))
print(resource.prlimit(0, memory, (3 << 29, 1 << 31)), resource.prlimit(os.getpid(), memory))
for t in [threading.Thread(target=show) for _ in range(3)]:
    t.start()
    t.join()
libc = ctypes.CDLL(None, use_errno=True)
print([(libc.mlockall(how), ctypes.get_errno()) for how in (3, 8, 0)], libc.munlockall())
if not os.fork():
    show()
    os._exit(0)
os.wait()
resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
print(subprocess.run(['sh', '-c', 'ulimit -v; ulimit -d; ulimit -f; echo shown | cat'], capture_output=True))
try:
    bytearray(2 << 30)
except MemoryError:
    print('no memory')
'''


@test
def limits_of_memory_are_those_of_the_program():
    words = ['/usr/bin/python3', '-c', LIMITED]
    out, code, _ = count(words)
    assert (out, code) == natively(words) and code == 0, (code, out)


@test
def programs_that_forbid_themselves_much_are_counted():
    path = f'{PROGRAMS}/e2e-blocks_filter'
    out, code, blocks = count([path])
    assert (out, code) == natively([path]) and code == 0 and b'over' in out, (code, out)
    assert len(blocks) == 2, len(blocks)


@test
def programs_that_forbid_themselves_what_the_engine_needs_go_on_natively():
    path = f'{PROGRAMS}/e2e-blocks_confined'
    for which in '0', '1', '2', '3':
        out, code, [blocks] = count([path, which])
        assert (out, code) == natively([path, which]), (which, code, out)
        assert out == b'handled 1, on its stack 1, mask 1, registers 1\n' and code == 7, (which, out)
        at = functions(path)
        # which leads to the call, and what comes behind it
        assert blocks.at[path, at['prepare']][2] == 1 and (path, at['say']) not in blocks.at, which


@test
def what_goes_on_natively_has_its_handlers_though_it_can_set_none():
    path = f'{PROGRAMS}/e2e-blocks_confined'
    for which, former, *end in ('1', '0'), ('2', '0'), ('3', '0'), ('2', '1'), ('3', '1'), ('2', '0', 'dies'):
        words = [path, which, former, *end]
        out, code, _ = count(words)
        assert (out, code) == natively(words), (words, code, out, natively(words))
        assert out == b'handled 1, on its stack 1, mask 1, registers 1\n' and (code == 7) == (not end), (words, code, out)


@test
def what_is_trapped_of_the_engine_is_not_the_programs():
    path = f'{PROGRAMS}/e2e-blocks_trapped'
    out, code, blocks = count([path])
    assert (out, code) == natively([path]) and code == 0, (code, out)
    assert out == b'1 1 2 3 4 77 1 1\n', out


@test
def what_a_program_blocks_is_blocked_and_the_engine_hears_it_all_the_same():
    path = f'{PROGRAMS}/e2e-blocks_masked'
    for flags in '-', 't':
        out, code, _ = count([path], flags)
        assert (out, code) == natively([path]) and code == 0 and b'executed: 0 0' in out, (flags, code, out)


def place_in_engine(pid, name):
    """Of a function of the engine's, in the process that it counts in."""
    symbols = subprocess.run(['readelf', '-sW', ENGINE], stdout=subprocess.PIPE, text=True, check=True).stdout
    with open(f'/proc/{pid}/maps', encoding='ascii') as maps:
        start = next(int(line.split('-')[0], 16) for line in maps if line.rstrip().endswith(ENGINE))
    return start + int(re.search(rf': (\w+) .* {name}$', symbols, re.M)[1], 16)


@test
def signals_that_come_as_a_handler_returns_come():
    """On the way out of translated code they have to wait, and stayed blocked."""
    harness.need('readelf')
    path, n = f'{PROGRAMS}/e2e-blocks_calling', 5
    with harness.beside('setarch', '-R', ENGINE, f'{harness.DIR}/calling', '-', path, path, '--', path, str(n),
                        stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout.readline() == 'ready\n'
        with breakpoints.Breakpoint(run.pid, place_in_engine(run.pid, 'crossing_out')) as out:
            out.meet()
            for _ in range(n):
                out.meet(SIGUSR1)
                times = 0
                while breakpoints.is_blocked(run.pid, SIGUSR1):
                    assert times < 100, 'it stays blocked'
                    times += 1
                    out.step_over()
                    out.meet()
        assert run.communicate(timeout=60)[0] == f'{n}\n' and run.returncode == 0


@test
def a_compiler_makes_the_same_program():
    source = os.path.join(harness.DIR, 'source.c')
    shutil.copy(os.path.join(os.path.dirname(os.path.abspath(__file__)), 'blocks.c'), source)
    made = []
    for run in natively, count:
        words = [find('gcc'), '-O2', '-g', '-o', f'{source}.out', source]
        assert run(words)[1] == 0
        made.append(open(f'{source}.out', 'rb').read())
    assert made[0] == made[1]


SANITIZED = """
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static int n;
static void *add(void *m)
{
	for (int i = 0; i < 1000; i++) {
		pthread_mutex_lock(m);
		n++;
		pthread_mutex_unlock(m);
	}
	free(malloc(100));
	return NULL;
}
int main(int argc, char **argv)
{
	pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
	pthread_t t[4];
	volatile char *p = malloc(10);
	for (int i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, add, &m);
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	printf("%d\\n", n);
	if (argc > 1)
		putchar(p[10] ? '0' : '1');
	free((void *)p);
	return 0;
}
"""


@test
def programs_with_sanitizers_find_the_memory_that_they_want():
    source = os.path.join(harness.DIR, 'sanitized.c')
    with open(source, 'w') as f:
        f.write(SANITIZED)
    n = 0
    for compiler, kind in [('gcc', 'address'), ('gcc', 'thread'), ('clang', 'memory'), ('clang', 'thread')]:
        program = f'{harness.DIR}/{compiler}-{kind}'
        words = [compiler, '-g', f'-fsanitize={kind}', '-o', program, source, '-lpthread']
        if not shutil.which(compiler) or subprocess.run(words, capture_output=True, check=False).returncode != 0:
            continue
        n += 1
        for more in [], ['wrong']:
            out, code, _ = count([program, *more])
            # Some of their runtimes end where addresses are too random: those are counted without, too.
            assert (out, code) == natively(['setarch', '-R', program, *more]), (program, more, code, out)
            assert code == 0 or more, (program, code)
    if not n:
        raise harness.Skip('no compiler with sanitizers here')


@test
def who_is_killed_leaves_what_was_counted():
    for signal, code in [('TERM', -15), ('KILL', -9), ('SEGV', -11)]:
        words = ['sh', '-c', f'i=0; while [ $i -lt 1000 ]; do i=$((i + 1)); done; kill -{signal} $$']
        out, was, [blocks] = count(words)
        assert (out, was) == natively(words) and was == code, (signal, was)
        assert blocks.executed() > 100000, signal


# Code, threads and children that are new when it is told to go on.
GROWN = '''
import os, sys
print('ready', flush=True)
sys.stdin.readline()
import decimal, json, re, subprocess, threading
told = []
def work(n):
    told.append(len(json.dumps({str(i): i for i in range(n)})) + len(re.sub('[aeiou]+', '', 'education' * n)))
for t in [threading.Thread(target=work, args=(n,)) for n in range(1, 30)]:
    t.start()
    t.join()
if not os.fork():
    print(sorted(told), decimal.Decimal(2).sqrt(), flush=True)
    os._exit(0)
os.wait()
print(subprocess.run(['sh', '-c', 'for i in 1 2 3; do echo $i | cat; done'], capture_output=True).stdout)
'''


def is_cut(path):
    with open(path, 'rb') as f:
        head = f.read(80)
    return len(head) == 80 and struct.unpack('<Q10I16sQII', head)[-1]


def while_full(words, flags, size, left_kb, say):
    """Of a program that says a line when it is ready, and goes on when the file system of its counts is full but for left_kb:
    output and exit code; say(directory, pid) looks at what it left."""
    place = os.path.join(harness.DIR, 'small')
    os.makedirs(place, exist_ok=True)
    if subprocess.run(['mount', '-t', 'tmpfs', '-o', f'size={size}', 'none', place], check=False).returncode:
        raise harness.Skip('no file system can be mounted')
    try:
        with subprocess.Popen([ENGINE, f'{place}/of', flags, words[0], words[0], '--', *words], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE) as p:
            first = p.stdout.readline()
            st = os.statvfs(place)
            with open(f'{place}/filler', 'wb') as f:
                os.posix_fallocate(f.fileno(), 0, st.f_bavail * st.f_bsize - left_kb * 1024)
            try:
                out = first + p.communicate(b'\n', timeout=60)[0]
            except subprocess.TimeoutExpired:
                p.kill()
                raise
        say(place, p.pid)
        return out, p.returncode
    finally:
        subprocess.run(['umount', '-l', place], check=True)


@test
def a_file_system_that_fills_up_ends_nothing_but_the_counting():
    if not harness.IS_ROOT:
        raise harness.Skip('only root mounts file systems')

    def says_so(place, pid):
        assert is_cut(f'{place}/of.{pid}.0'), os.listdir(place)

    words = ['/usr/bin/python3', '-c', GROWN]
    right = subprocess.run(words, input=b'\n', capture_output=True, check=True).stdout, 0
    # left: full at once, some pages later, while it goes on, or when nearly all is done
    for left_kb in 0, 8, 100, 1000:
        is_right = while_full(words, '-', '24m', left_kb, says_so) == right
        assert is_right, left_kb


@test
def so_it_does_while_what_is_known_of_code_is_forgotten_often():
    if not harness.IS_ROOT:
        raise harness.Skip('only root mounts file systems')

    def says_so(place, pid):
        parts = [f'{place}/{name}' for name in os.listdir(place) if name.startswith(f'of.{pid}.0')]
        # cut, or there was no room for its first page
        assert any(os.stat(path).st_size == 1 or is_cut(path) for path in parts), len(parts)

    words = ['/usr/bin/python3', '-c', GROWN]
    right = subprocess.run(words, input=b'\n', capture_output=True, check=True).stdout, 0
    for left_kb in 8, 20:
        is_right = while_full(words, 't', '2g', left_kb, says_so) == right
        assert is_right, left_kb


# Forks below forks, each with code that is new.
CHAIN = '''
import os, sys
print('ready', flush=True)
sys.stdin.readline()
import decimal, json
depth = 0
while depth < 12:
    pid = os.fork()
    if pid:
        os.waitpid(pid, 0)
        break
    depth += 1
    json.dumps({str(i): str(decimal.Decimal(i).sqrt()) for i in range(50)})
    if depth == 4: import argparse, random, statistics
    if depth == 7: import email.message, http.client
print(depth, flush=True)
'''


@test
def children_that_have_no_room_say_so_and_take_none():
    if not harness.IS_ROOT:
        raise harness.Skip('only root mounts file systems')

    def says_so(place, pid):
        files = [f'{place}/{name}' for name in os.listdir(place) if name.startswith('of.')]
        n_marks = 0
        for path in files:
            with open(path, 'rb') as f:
                has_header = f.read(8) == b'dwcount1'
            st = os.stat(path)
            n_marks += not has_header
            assert has_header or (st.st_size, st.st_blocks) == (1, 0), (path, st)
        assert len(files) == 13 and n_marks > 0, (n_marks, files)
        assert os.path.exists(f'{place}/of.{pid}.0')

    words = ['/usr/bin/python3', '-c', CHAIN]
    right = subprocess.run(words, input=b'\n', capture_output=True, check=True).stdout, 0
    for left_kb in 0, 8, 40, 300, 2000, 5000:
        is_right = while_full(words, '-', '60m', left_kb, says_so) == right
        assert is_right, left_kb


@test
def programs_of_this_machine_say_what_they_say_natively():
    text = '/usr/share/common-licenses/GPL-3'
    for words in [['ls', '-l', '/usr/bin'], ['gzip', '-c', text], ['xz', '-T1', '-c', text], ['sort', text],
                  ['grep', '-c', 'the', text], ['xz', '-T2', '--block-size=8KiB', '-c', text],
                  ['bash', '-c', 'for i in a b; do echo $(echo $i | tr a-z A-Z); done'], ['sha256sum', text], ['awk', '{ n += NF } END { print n }', text],
                  ['perl', '-e', 'print join ",", map { $_ ** 2 % 97 } 1 .. 3000'],
                  ['/usr/bin/python3', '-c', 'print(sorted(str(i * i) for i in range(3000))[7:70])'],
                  ['false'], ['expr', '6', '*', '7'], ['readlink', '/proc/self/exe'],
                  ['node', '-p', '[3, 1, 2].sort().map(String).join() + Math.max(7.5, 3)'],
                  ['java', '-version']]:
        if shutil.which(words[0]):
            # A virtual machine does not wait for threads of its own.
            out, code, _ = count(words, running=32 if words[0] in ('java', 'node') else 0)
            assert (out, code) == natively(words), (words, code, out[-200:])


@test
def what_is_no_program_is_refused_in_words():
    for path in ['/etc/passwd', '/nonexistent', '/etc']:
        run = subprocess.run([ENGINE, f'{harness.DIR}/none', '-', path, path, '--', path], capture_output=True, text=True, check=False)
        assert run.returncode == 125 and run.stderr.startswith('dwell: '), (path, run)


sys.exit(harness.run_all(harness.TESTS, words=sys.argv[4:]))
