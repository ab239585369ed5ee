#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The experiment bbcounts on programs that know nothing of it: numbers are exact.
usage: bbcounts.py DWELL DIRECTORY"""
import glob
import json
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

import harness
from harness import dwell, need, test

PROGRAMS = os.path.abspath(sys.argv[2])
BLOCKS = f'{PROGRAMS}/e2e-blocks'
STATIC = f'{PROGRAMS}/e2e-blocks-static'
THREADS = f'{PROGRAMS}/e2e-blocks_threads'
# blocks.c: branch is called with 0 .. 2999, and by pointer with 3
NUMBERS = [*range(3000)] + [3] * 200
ENTERED = {
    'branch': 3200,
    'jump': 100,
    'left': 200 + sum(n % 3 != 0 and n % 5 != 0 for n in NUMBERS),
    'right': 200 + sum(n % 3 != 0 and n % 5 == 0 for n in NUMBERS),
    'deep': 1973 + 200 * 9,
}


def record(*words, name='r', options=(), **more):
    """Of a program whose counts add up."""
    path = f'{harness.DIR}/{name}.dwell'
    p = dwell('run', '-e', 'bbcounts', '-o', path, *options, '--', *words, **more)
    assert os.path.exists(path), (words, p)
    return path, p


def natively(words, **more):
    return subprocess.run(words, capture_output=True, text=True, check=False, timeout=60, **more)


def places_of(recorder):
    return [found for place in ['/dev/shm', '/tmp'] for found in glob.glob(f'{place}/dwell-{recorder}-*')]


def is_running(pid):
    try:
        with open(f'/proc/{pid}/stat', encoding='ascii') as f:
            return f.read().rsplit(')', 1)[1].split()[0] not in 'ZX'
    except OSError:
        return False


def pairs(line):
    return dict(re.findall(r'(\w+)=("[^"]*"|\S+)', line))


class Cat:
    """All of a recording, by dwell cat."""

    def __init__(self, path):
        lines = dwell('cat', path).stdout.splitlines()
        self.of = {}
        for line in lines:
            self.of.setdefault(line.split()[0], []).append(pairs(line))

    def get(self, kind):
        return self.of.get(kind, [])

    def fact(self, name):
        return sum(int(f['value']) for f in self.get('fact') if f['name'] == f'"{name}"')

    def where(self, location):
        x = self.get('location')[int(location)]
        return self.get('image')[int(x['image'])]['path'].strip('"'), int(x['offset'], 0)

    def entered(self):
        """{(path, offset): times}, over all processes."""
        found = {}
        for b in self.get('basic-block'):
            where = self.where(b['location'])
            found[where] = found.get(where, 0) + int(b['times'])
        return found

    def instructions(self):
        """{(path, offset): times}."""
        found = {}
        for s in self.get('sample'):
            where = self.where(self.get('stack')[int(s['stack']) - 1]['location'])
            found[where] = found.get(where, 0) + int(s['weight'])
        return found


def loads(program):
    lines = natively(['readelf', '-lW', program]).stdout.splitlines()
    return [[int(w, 16) for w in line.split()[1:5]] for line in lines if line.split()[:1] == ['LOAD']]


def offset(program, address):
    return next(address - v + off for off, v, _, size in loads(program) if v <= address < v + size)


def functions(program):
    """{name: (address, bytes)}"""
    found = {}
    for line in natively(['nm', '-S', program]).stdout.splitlines():
        words = line.split()
        if len(words) == 4 and words[2] in 'tT':
            found[words[3]] = int(words[0], 16), int(words[1], 16)
    return found


def entered_as_often_as_told(program):
    path, p = record(program)
    assert p.returncode == 0 and p.stdout == natively([program]).stdout, p
    entered = Cat(path).entered()
    for name, times in ENTERED.items():
        where = program, offset(program, functions(program)[name][0])
        assert entered[where] == times, (name, entered[where], times)


@test
def who_forbids_itself_calls_is_counted_until_then():
    path, p = record(f'{PROGRAMS}/e2e-blocks_confined', '0')
    assert p.returncode == 7 and 'handled 1, on its stack 1, mask 1, registers 1' in p.stdout, p
    assert 'name="restricted-counts" value=1' in dwell('cat', path).stdout
    assert 'name="damaged-counts"' not in dwell('cat', path).stdout


@test
def functions_are_entered_as_often_as_their_author_says():
    entered_as_often_as_told(BLOCKS)
    entered_as_often_as_told(STATIC)


@test
def instructions_are_those_that_another_counter_sees():
    harness.need('valgrind')
    out = f'{harness.DIR}/callgrind'
    natively(['valgrind', '--tool=callgrind', '--dump-instr=yes', '--compress-pos=no', '--compress-strings=no',
              f'--callgrind-out-file={out}', STATIC])
    told, in_call = {}, False
    with open(out, encoding='ascii') as f:
        for line in f:
            words = line.split()
            if line.startswith('calls='):
                in_call = True
            elif line.startswith('0x') and in_call:  # what the callee cost
                in_call = False
            elif line.startswith('0x'):
                told[int(words[0], 16)] = told.get(int(words[0], 16), 0) + int(words[2])
    own = Cat(record(STATIC)[0]).instructions()
    for name in [*ENTERED, 'leaf', 'main', 'compare']:
        begin, size = functions(STATIC)[name]
        theirs = {offset(STATIC, a): n for a, n in told.items() if begin <= a < begin + size}
        first = offset(STATIC, begin)
        ours = {at: n for (path, at), n in own.items() if path == STATIC and first <= at < first + size}
        assert theirs and ours == theirs, (name, ours, theirs)


@test
def lines_are_executed_as_often_as_the_compiler_counts():
    harness.need('gcc', 'gcov')
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'blocks.c')
    # Unoptimised, so that both see the same lines.
    for options, name in [(['--coverage'], 'counting'), ([], 'plain')]:
        subprocess.run(['gcc', '-O0', '-g', *options, '-c', source, '-o', f'{name}.o'], check=True, cwd=harness.DIR)
        subprocess.run(['gcc', *options, f'{name}.o', '-o', name], check=True, cwd=harness.DIR)
    subprocess.run([f'{harness.DIR}/counting'], check=True, cwd=harness.DIR, stdout=subprocess.DEVNULL)
    gcov = subprocess.run(['gcov', '-t', 'counting.gcda'], cwd=harness.DIR, check=True, capture_output=True, text=True).stdout
    theirs = {}
    for line in gcov.splitlines():
        times, number = line.split(':')[:2]
        if times.strip() != '-':
            theirs[int(number)] = int(times.strip().rstrip('*').replace('#####', '0'))
    path, _ = record(f'{harness.DIR}/plain')
    ours, is_here = {}, False
    functions_entered = {}
    for line in dwell('export', 'lcov', '-o', '-', path).stdout.splitlines():
        if line.startswith('SF:'):
            is_here = line == f'SF:{source}'
        elif is_here and line.startswith('DA:'):
            number, times = line[3:].split(',')
            ours[int(number)] = int(times)
        elif is_here and line.startswith('FNDA:'):
            times, name = line[5:].split(',', 1)
            functions_entered[name] = int(times)
    # gcov counts a function at its name, debug information at its brace; and setjmp
    # returns twice, which gcov knows as one more way into what is behind it
    with open(source, encoding='ascii') as f:
        text = f.read().splitlines()
    for n in [*theirs]:
        if text[n] == '{':
            theirs[n + 1] = theirs.pop(n)
        elif 'setjmp' in text[n - 1]:
            assert ours[n] == theirs.pop(n) + 100
    different = {n: (ours.get(n), theirs.get(n)) for n in theirs if ours.get(n) != theirs[n]}
    assert len(theirs) > 25 and not different, different
    for name, times in ENTERED.items():
        assert functions_entered[name] == times, (name, functions_entered)


@test
def every_report_tells_the_same_number():
    path, _ = record(BLOCKS)
    total = sum(Cat(path).instructions().values())
    assert harness.report(path)['total']['instructions'] == total
    for by in ['function', 'line', 'image', 'file']:
        r = harness.report(path, '--by', by)
        assert sum(row['exclusive'].get('instructions', 0) for row in r['rows']) == total, by
    text = dwell('report', path)
    assert text.returncode == 0 and 'instructions (every one' in text.stdout, text


@test
def nothing_is_missing_of_an_ordinary_program():
    for words in [[BLOCKS], ['ls', '-l', '/usr/bin'], ['sha256sum', '/usr/share/common-licenses/GPL-3']]:
        path, p = record(*words)
        cat = Cat(path)
        assert p.returncode == 0 and p.stdout == natively(words).stdout, p
        for name in ['unbalanced-executions', 'unknown-edges', 'uncounted-entries', 'undecoded-blocks', 'damaged-counts']:
            assert cat.fact(name) == 0, (words, name, cat.fact(name))
        blocks = sum(int(b['instructions']) * int(b['times']) for b in cat.get('basic-block'))
        assert blocks == sum(cat.instructions().values()), words


@test
def calls_lead_into_functions_as_often_as_these_are_entered():
    path, _ = record(BLOCKS)
    cat = Cat(path)
    into = {}
    for e in cat.get('edge'):
        if e['kind'] in ('call', 'indirect-call', 'taken', 'indirect-jump', 'on'):
            where = cat.where(e['location'])
            into[where] = into.get(where, 0) + int(e['times'])
    for name, times in ENTERED.items():
        where = BLOCKS, offset(BLOCKS, functions(BLOCKS)[name][0])
        assert into[where] == times, (name, into.get(where), times)


@test
def functions_call_each_other_as_often_as_their_author_says():
    path, _ = record(BLOCKS)
    calls = {}
    for row in json.loads(dwell('calls', '--json', path).stdout)['rows']:
        pair = row['caller']['name'], row['callee']['name'], row['jump']
        calls[pair] = calls.get(pair, 0) + row['times']
    assert calls['main', 'branch', False] == 3200 and calls['main', 'deep', False] == 201, calls
    assert calls['deep', 'deep', False] == ENTERED['deep'] - 201, calls
    left = ENTERED['left'] - 200  # by main, the others by branch, which jumps where it is optimised
    assert sum(n for (a, b, _), n in calls.items() if (a, b) == ('branch', 'left')) == left, calls
    blocks = json.loads(dwell('blocks', '--json', path).stdout)['rows']
    assert sum(b['times'] * b['instructions'] for b in blocks) == harness.report(path)['total']['instructions']
    begin = functions(BLOCKS)['branch'][0]
    entered = [b['times'] for b in blocks if (b['function']['name'], b['address']) == ('branch', begin)]
    assert entered == [3200], entered


def rows(command, path, *options):
    p = dwell(command, '--json', *options, path)
    assert p.returncode == 0, p
    return json.loads(p.stdout)['rows']


def summed(found):
    """{what a row is: times} of blocks or calls."""
    sums = {}
    for row in found:
        what = tuple(str(v) for k, v in row.items() if k not in ('times', 'ideal_cycles'))
        sums[what] = sums.get(what, 0) + row['times']
    return sums


def parts_make_the_whole(path, filters):
    """Each block and call is let pass by one of the filters."""
    for command in ['blocks', 'calls']:
        parts = [row for chosen in filters for row in rows(command, path, '--filter', chosen)]
        assert summed(parts) == summed(rows(command, path)), (command, filters)


def instructions_of(blocks):
    return sum(b['times'] * b['instructions'] for b in blocks)


@test
def what_a_process_did_is_told_of_it_alone():
    path, p = record('/bin/sh', '-c', f'{BLOCKS}; gzip -c {BLOCKS} | wc -c; {BLOCKS}')
    assert p.returncode == 0, p
    by_pid = {}
    for row in harness.report(path, '--by', 'process')['rows']:
        pid = re.search(r'pid (\d+)', row['name'])[1]
        by_pid[pid] = by_pid.get(pid, 0) + row['exclusive']['instructions']
    assert len(by_pid) == 5, by_pid
    for pid, instructions in by_pid.items():
        told = instructions_of(rows('blocks', path, '--filter', f'pid == {pid}'))
        assert told == instructions, (pid, told, by_pid)
    parts_make_the_whole(path, [f'pid == {pid}' for pid in by_pid])
    once = summed(rows('calls', record(BLOCKS, name='once')[0], '--filter', 'image == e2e-blocks'))
    assert ENTERED['deep'] - 201 in once.values(), once
    twice = summed(rows('calls', path, '--filter', 'image == e2e-blocks'))
    assert twice == {what: 2 * n for what, n in once.items()}, (once, twice)


@test
def what_a_function_did_is_told_of_it_alone():
    path, _ = record(BLOCKS)
    for name in [*ENTERED, 'main']:
        blocks = rows('blocks', path, '--filter', f'function == {name} && image == e2e-blocks')
        told = harness.report(path, '--filter', f'function == {name} && image == e2e-blocks')['total']['instructions']
        assert {b['function']['name'] for b in blocks} == {name} and instructions_of(blocks) == told, (name, blocks)
    calls = rows('calls', path, '--filter', 'function == main && image == e2e-blocks')
    assert {c['caller']['name'] for c in calls} == {'main'}, calls
    assert sum(c['times'] for c in calls if c['callee']['name'] == 'branch') == 3200, calls
    parts_make_the_whole(path, ['image == e2e-blocks', 'image != e2e-blocks'])
    parts_make_the_whole(path, ['address in 0..0x1100', 'address > 0x1100'])
    for nothing in ['pid == 1', 'cpu == 0', 'function == nobody']:
        assert rows('blocks', path, '--filter', nothing) == rows('calls', path, '--filter', nothing) == [], nothing
        text = dwell('blocks', '--filter', nothing, path)
        assert text.returncode == 0 and text.stdout == 'No samples that the filter lets pass.\n', text


@test
def threads_are_counted_together_and_children_apart():
    path, p = record(THREADS)
    assert p.stdout == natively([THREADS]).stdout and p.returncode == 0, p
    cat = Cat(path)
    where = offset(THREADS, functions(THREADS)['work'][0])
    per_process = {}
    for b in cat.get('basic-block'):
        if cat.where(b['location']) == (THREADS, where):
            per_process[b['process']] = per_process.get(b['process'], 0) + int(b['times'])
    assert sorted(per_process.values()) == [10000, 40 * 10000 + 7], per_process
    first, second = cat.get('process')
    assert second['parent'] == '0' and second['exe'] == first['exe'], cat.get('process')


@test
def children_of_a_shell_have_their_parent():
    path, p = record('/bin/sh', '-c', '(exit 3); (echo a); echo $?')
    assert p.stdout == 'a\n0\n' and p.returncode == 0, p
    processes = Cat(path).get('process')
    assert len(processes) == 3 and [x.get('parent') for x in processes] == [None, '0', '0'], processes


@test
def children_with_ids_of_their_own_are_called_as_we_call_them():
    need('unshare')
    if subprocess.run(['unshare', '-pf', 'true'], capture_output=True, check=False).returncode:
        raise harness.Skip('no namespaces here')
    # each of two is the first process of its own namespace
    inner = 'unshare -pf sh -c \'echo $$; sleep 0.3; echo end\''
    path, p = record('sh', '-c', f'unshare -pf sh -c "sleep 0.3; echo \\$\\$" & {inner}; wait')
    assert (p.returncode, sorted(p.stdout.split())) == (0, ['1', '1', 'end']), p
    rows = Cat(path).get('process')
    names = {row['comm'].strip('"') for row in rows}
    assert {'unshare', 'sh', 'sleep'} == names, rows
    assert not [row for row in rows if int(row['pid']) < 10], rows


@test
def only_those_are_kept_that_were_asked_for():
    path, p = record('/bin/sh', '-c', '(exit 3); (echo a); echo $?', options=['--follow', 'off'])
    assert p.stdout == 'a\n0\n' and p.returncode == 0, p
    assert {b['process'] for b in Cat(path).get('basic-block')} == {'0'}, Cat(path).get('process')


@test
def the_program_is_as_it_is_natively():
    script = 'pwd; echo "$A" "$0" "$1"; cat; cut -d" " -f1,5 /proc/$$/stat >&2; exit 7'
    for words in [['/bin/sh', '-c', 'echo "$A" "$0" "$1"; read x; echo $x; pwd; exit 7', 'zero', 'one two']]:
        more = {'input': 'hello\n', 'cwd': '/usr', 'env': {**os.environ, 'A': 'b c'}}
        mine, own = natively(words, **more), record(*words, **more)[1]
        assert (own.stdout, own.returncode) == (mine.stdout, mine.returncode), (own, mine, script)
    for words, code in [(['false'], 1), (['/nonexistent'], 127), (['/etc/passwd'], 126)]:
        p = dwell('run', '-e', 'bbcounts', '-o', f'{harness.DIR}/code', '--', *words)
        assert p.returncode == code, (words, p)


@test
def scripts_are_run_by_what_they_name():
    path = f'{harness.DIR}/script'
    with open(path, 'w', encoding='ascii') as f:
        f.write('#!/bin/sh -e\necho $0 $1\nfalse\necho no\n')
    os.chmod(path, 0o755)
    out = record(path, 'x', name='s')[1]
    assert (out.stdout, out.returncode) == (f'{path} x\n', 1), out


@test
def what_another_loader_brings_to_memory_is_counted_or_named():
    need('proot')
    words = ['proot', '-0', '/bin/sh', '-c', f'sleep 0.3; readlink /proc/self/exe; {BLOCKS} a; exit 3']
    path, p = record(*words)
    assert (p.stdout, p.returncode) == (natively(words).stdout, 3), p
    entered = Cat(path).entered()
    for name in 'branch', 'deep':
        where = BLOCKS, offset(BLOCKS, functions(BLOCKS)[name][0])
        assert entered.get(where) == ENTERED[name], (name, entered.get(where))
    # The engine's own file is not among those that this one may see.
    root = f'{harness.DIR}/root'
    os.mkdir(root)
    shutil.copy(STATIC, f'{root}/program')
    words = ['proot', '-r', root, '-w', '/', '/program']
    path, p = record(*words)
    cat = Cat(path)
    assert (p.stdout, p.returncode) == (natively(words).stdout, 0) and p.stdout, p
    assert cat.fact('not-followed') == 1 and not cat.fact('damaged-counts'), cat.get('fact')


@test
def a_program_that_is_killed_has_been_counted():
    path, p = record('/bin/sh', '-c', 'i=0; while [ $i -lt 1000 ]; do i=$((i + 1)); done; kill -9 $$')
    cat = Cat(path)
    assert p.returncode == 128 + signal.SIGKILL, p
    assert sum(cat.instructions().values()) > 100000
    # in the call with which it killed itself
    assert not cat.fact('unbalanced-executions'), cat.get('fact')


@test
def who_is_killed_before_it_counts_is_told():
    """Of it there is a file without a size, or one without a header."""
    path = f'{harness.DIR}/unbegun.dwell'
    with subprocess.Popen([harness.DWELL, 'run', '-e', 'bbcounts', '-o', path, '--', 'cat'],
                          stdin=subprocess.PIPE, stderr=subprocess.DEVNULL) as p:
        deadline = time.monotonic() + 60
        while not any(glob.glob(f'{place}/of.*') for place in places_of(p.pid)) and time.monotonic() < deadline:
            time.sleep(0.02)
        for name, size in [('of.4190001.0', 0), ('of.4190002.0', 1 << 38)]:
            with open(f'{places_of(p.pid)[0]}/{name}', 'wb') as f:
                f.truncate(size)
        p.stdin.close()
        assert p.wait(60) == 0
    cat = Cat(path)
    assert cat.fact('unbegun-counts') == 2 and not cat.fact('cut-counts') and not cat.fact('damaged-counts'), cat.get('fact')
    told = ' '.join(dwell('report', path).stdout.split())
    assert 'programs or children that were ended before anything of them was counted: 2' in told, told


@test
def who_comes_late_to_write_a_header_is_waited_for():
    path = f'{harness.DIR}/late.dwell'
    with subprocess.Popen([harness.DWELL, 'run', '-e', 'bbcounts', '-o', path, '--', 'cat'],
                          stdin=subprocess.PIPE, stderr=subprocess.DEVNULL) as p:
        deadline, head = time.monotonic() + 60, b''
        while head[:8] != b'dwcount1' and time.monotonic() < deadline:
            time.sleep(0.02)
            for name in [n for place in places_of(p.pid) for n in glob.glob(f'{place}/of.*')]:
                with open(name, 'rb') as f:
                    head = f.read(12)
        with open(f'{places_of(p.pid)[0]}/of.4190003.0', 'wb', buffering=0) as f:
            f.truncate(1 << 38)
            time.sleep(0.1)
            # ids, and tables of nothing but entries that are none
            f.write(head + struct.pack('<9I16sQII', 4190003, p.pid, 0, 1, 0, 0, 0, 1, 0, b'latecomer', 0, 1, 0))
        time.sleep(0.3)
        p.stdin.close()
        assert p.wait(60) == 0
    cat = Cat(path)
    assert not cat.fact('unbegun-counts') and not cat.fact('damaged-counts'), cat.get('fact')
    assert 'latecomer' in dwell('cat', path).stdout


@test
def children_that_are_killed_at_once_are_no_fault_of_the_file_system():
    path, p = record('/bin/sh', '-c', 'i=0; while [ $i -lt 100 ]; do (exec /bin/true) & kill -9 $!; wait $!; i=$((i + 1)); done 2>/dev/null')
    cat = Cat(path)
    assert not cat.fact('cut-counts') and not cat.fact('damaged-counts'), (p, cat.get('fact'))


@test
def a_fault_that_nobody_handles_ends_the_block_where_it_is():
    program = f'{PROGRAMS}/e2e-blocks_fault'
    names = functions_and_labels(program)
    for how, number, faulting in [('segv', signal.SIGSEGV, 'here'), ('bus', signal.SIGBUS, 'here'),
                                  ('fpe', signal.SIGFPE, 'divide'), ('ill', signal.SIGILL, 'illegal')]:
        for words in [[program, how], [program, how, 'ignored']]:
            path, p = record(*words)
            assert p.returncode == 128 + number and natively(words).returncode == -number, (words, p)
            cat = Cat(path)
            assert not cat.fact('unbalanced-executions'), words
            executed = {name: cat.instructions().get((program, offset(program, at)), 0) for name, at in names.items()}
            turns = 0 if faulting == 'illegal' else 19
            assert executed['before'] == 20 and executed[faulting] == turns, (words, executed)
            assert executed['behind'] == (19 if faulting == 'here' else 20), (words, executed)


def functions_and_labels(program):
    out = subprocess.run(['nm', program], capture_output=True, text=True, check=True).stdout
    named = {line.split()[2]: int(line.split()[0], 16) for line in out.splitlines() if len(line.split()) == 3}
    return {name: named[name] for name in ['before', 'here', 'behind', 'divide', 'illegal']}


@test
def a_recorder_that_is_told_to_end_leaves_the_program_running():
    path = f'{harness.DIR}/left.dwell'
    with subprocess.Popen([harness.DWELL, 'run', '-e', 'bbcounts', '-o', path, '--', 'sh', '-c', 'echo here; exec sleep 1000'],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as p:
        p.stdout.readline()
        with open(f'/proc/{p.pid}/task/{p.pid}/children', encoding='ascii') as f:
            child = int(f.read().split()[0])
        # clock_nanosleep
        harness.wait_until(lambda: harness.text_of(child, 'syscall').startswith('230 '), 'it does not sleep')
        p.terminate()
        p.wait(20)
        with open(f'/proc/{child}/stat', encoding='ascii') as f:
            assert f.read().split()[1] == '(sleep)'
        os.kill(child, signal.SIGTERM)
    assert sum(Cat(path).instructions().values()) > 10000
    harness.wait_until(lambda: not is_running(child), 'it does not end')
    record('true')  # removes what others had to leave
    assert not places_of(p.pid), places_of(p.pid)


def built(name, source, *options):
    harness.need('gcc')
    path = f'{harness.DIR}/{name}'
    with open(path, 'w', encoding='ascii') as f:
        f.write(source)
    subprocess.run(['gcc', '-o', f'{path}.program', path, *options], check=True)
    return f'{path}.program'


@test
def flags_come_back_with_returns_to_addresses_that_look_alike():
    # 64 KB apart: behind one call of g the carry is looked at, behind the other it is not
    program = built('alike.S', """
	.globl main
	.text
g:	clc
	ret
	.balign 65536
main:	push %rbx
	mov $100, %ebx
	xor %edx, %edx
	jmp 5f
	.org main+0x100
5:	call g
	stc
	jmp 6f
	.org main+0x10100
6:	call g
	adc $0, %edx
	dec %ebx
	jnz 5b
	mov %edx, %eax
	pop %rbx
	ret
	.section .note.GNU-stack
""")
    assert natively([program]).returncode == 0
    path, p = record(program)
    assert p.returncode == 0 and not Cat(path).fact('unbalanced-executions'), p


@test
def a_program_may_execute_itself_by_what_the_kernel_calls_it():
    program = built('again.c', """
#include <stdio.h>
#include <string.h>
#include <unistd.h>
int main(int n, char **words)
{
	char path[4096];
	if (n > 1)
		return printf("again %s\\n", words[1]) < 0;
	memset(path, 'x', sizeof(path)); /* what is behind the name is not its own */
	strcpy(path, "/proc/self/exe");
	return execl(path, words[0], "child", (char *)0);
}
""")
    path, p = record(program)
    assert (p.returncode, p.stdout) == (0, 'again child\n'), p
    assert len(Cat(path).get('process')) == 2, Cat(path).get('process')


@test
def what_would_take_gs_from_the_engine_ends_with_a_message_where_it_is_executed():
    for insn in 'mov %eax, %gs', 'pop %gs', 'lodsb %gs:(%rsi)', 'vpgatherdd %xmm1, %gs:(%rax,%xmm2), %xmm3':
        for way, code in ('jz', 0), ('jnz', 125):
            program = built('gs.S', f'.globl main\nmain: xor %eax, %eax\n{way} 1f\n{insn}\n1: xor %eax, %eax\nret\n.section .note.GNU-stack\n')
            p = dwell('run', '-q', '-e', 'bbcounts', '-o', f'{harness.DIR}/gs.dwell', '--', program)
            assert p.returncode == code and ('of the segment gs' in p.stderr) == (code == 125), (insn, way, p)


@test
def code_without_a_file_is_told_wherever_its_name_would_end():
    """Also where that is the begin of a page of the file of counts, which is not written then."""
    program = built('pieces.S', """.globl main
main: push %rbx
mov %edi, %ebx
1: xor %edi, %edi
mov $4096, %esi
mov $5, %edx
mov $0x22, %r10d
mov $-1, %r8
xor %r9d, %r9d
mov $9, %eax
syscall
dec %ebx
jnz 1b
xor %eax, %eax
pop %rbx
ret
.section .note.GNU-stack
""")
    for n in range(75):  # of 56 bytes each
        path, p = record(program, *['x'] * n)
        assert p.returncode == 0 and not Cat(path).fact('damaged-counts'), (n, p)


@test
def a_limit_of_data_is_the_programs():
    path, p = record('bash', '-c', 'ulimit -d 4000000 && /bin/echo done')
    assert (p.returncode, p.stdout) == (0, 'done\n') and len(Cat(path).get('process')) == 2, p


@test
def limits_that_may_not_be_raised_are_told_before_anything_begins():
    need('setpriv')
    if not harness.IS_ROOT:
        raise harness.Skip('root may become another user, and raise limits before')
    place = tempfile.mkdtemp(prefix='dwell-limits-')
    shutil.copy(harness.DWELL, f'{place}/dwell')
    os.chmod(place, 0o777)
    for limit, words in [('-v 8000000', 'addresses are limited (ulimit -v) and may not be raised'),
                         ('-d 8000000', 'data are limited (ulimit -d) and may not be raised'),
                         ('-S -v 8000000', None), ('-S -d 8000000', None),
                         ('-d 90000000000; ulimit -S -d 8000000', None)]:
        shell = f'cd {place}; ulimit {limit} && ulimit -S -v >shown && exec ./dwell run -q -e bbcounts -o r.dwell -- sh -c "ulimit -S -v; echo said"'
        p = subprocess.run(['setpriv', '--reuid', '65534', '--clear-groups', 'sh', '-c', shell], capture_output=True, text=True, check=False)
        if words:
            assert words in p.stderr and p.stderr.count('\n') == 1 and not p.stdout and p.returncode, (limit, p)
            assert not os.path.exists(f'{place}/r.dwell'), limit
        else:
            with open(f'{place}/shown', encoding='ascii') as f:
                assert (p.stdout, p.stderr) == (f.read() + 'said\n', ''), (limit, p)
            os.unlink(f'{place}/r.dwell')
    shutil.rmtree(place)


@test
def code_that_is_made_for_ever_is_counted_and_forgotten():
    n, blocks = 5000, 500
    path, p = record(f'{PROGRAMS}/e2e-blocks_forever', str(n))
    assert (p.returncode, p.stdout) == (0, natively([f'{PROGRAMS}/e2e-blocks_forever', str(n)]).stdout), p
    report = json.loads(dwell('report', '--json', '--event', 'instructions', '--limit', '0', path).stdout)
    made = sum(row['exclusive']['instructions'] for row in report['rows'] if row.get('image', '').startswith('[anon]'))
    assert made == n * (1 + 2 * blocks + 1), (made, n * (2 + 2 * blocks))
    cat = Cat(path)
    assert cat.fact('forgotten-translations') >= 1 and not cat.fact('unbalanced-executions'), cat.get('fact')
    assert len(cat.get('process')) == 1, cat.get('process')


@test
def nothing_stays_behind():
    for program in [BLOCKS, THREADS]:
        with subprocess.Popen([harness.DWELL, 'run', '-e', 'bbcounts', '-o', f'{harness.DIR}/r.dwell', '--', program],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as p:
            assert p.wait(60) == 0 and not places_of(p.pid), places_of(p.pid)


@test
def a_place_that_is_full_is_not_taken():
    """Or the program would be ended once it is."""
    need('unshare', 'mount')
    for places, words in ((('/dev/shm',), None), (('/dev/shm', '/tmp'), 'no place for counts')):
        mounts = ''.join(f'mount -t tmpfs -o size=1m none {place}; ' for place in places)
        shell = (f'set -e; cd {harness.DIR}; {mounts}unset XDG_RUNTIME_DIR; '
                 f'exec {harness.DWELL} run -q -e bbcounts -o full.dwell -- echo said')
        p = subprocess.run(['unshare', '--mount', 'sh', '-c', shell], capture_output=True, text=True, check=False)
        if 'unshare' in p.stderr:
            raise harness.Skip(p.stderr)
        assert (p.stdout == 'said\n') == (not words), p
        assert (words or '') in p.stderr and p.stderr.count('\n') == bool(words), p


@test
def a_place_that_fills_up_ends_the_counts_and_nothing_else():
    need('unshare', 'mount')
    fill = 'head -c 400m /dev/zero >/dev/shm/filler 2>/dev/null'
    loop = 'for i in 1 2 3; do echo $i | cat; done; (echo child); exec sort /dev/null'
    shell = (f'set -e; cd {harness.DIR}; mount -t tmpfs -o size=300m none /dev/shm; '
             f'{harness.DWELL} run -e bbcounts -o cut.dwell -- sh -c "echo before; {fill}; {loop}"')
    p = subprocess.run(['unshare', '--mount', 'sh', '-c', shell.replace('$', '\\$')], capture_output=True, text=True, check=False)
    if 'unshare' in p.stderr:
        raise harness.Skip(p.stderr)
    assert (p.returncode, p.stdout) == (0, 'before\n1\n2\n3\nchild\n'), p
    facts = dwell('cat', f'{harness.DIR}/cut.dwell').stdout
    assert re.search(r'name="cut-counts" value=[1-9]', facts) and 'damaged-counts' not in facts, facts[-3000:]
    told = ' '.join(dwell('report', f'{harness.DIR}/cut.dwell').stdout.split())
    assert 'programs whose counts end early' in told, told
    assert harness.report(f'{harness.DIR}/cut.dwell')['total']['instructions'] > 10000


@test
def what_cannot_be_counted_is_refused_in_words():
    for words, text in [
            (['attach', '-e', 'bbcounts', '-t', '1'], 'whole processes'),
            (['attach', '-e', 'bbcounts', '-a'], 'whole processes'),
            (['attach', '-e', 'bbcounts', '-p', str(os.getpid()), '--delay', '1'], 'paused'),
            (['run', '-e', 'bbcounts,usertime', '--', 'true'], 'alone'),
            (['run', '-e', 'bbcounts', '--source', 'perf', '--', 'true'], 'source count only'),
            (['run', '-e', 'usertime', '--source', 'count', '--', 'true'], 'basic blocks only'),
            (['run', '-e', 'bbcounts', '--delay', '1', '--', 'true'], 'paused'),
    ]:
        p = dwell(*words)
        assert p.returncode and text in p.stderr and len(p.stderr.splitlines()) == 1, (words, p)


sys.exit(harness.run_all(harness.TESTS, words=sys.argv[3:]))
