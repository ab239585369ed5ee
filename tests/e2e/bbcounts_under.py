#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bbcounts --under: what is executed under functions is counted apart, exactly.  The truth
is callgrind's, or that of functions in assembly whose instructions can be counted by hand.
usage: bbcounts_under.py DWELL DIRECTORY"""
import bisect
import collections
import functools
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time

import callgrind
import harness
from callgrind import ELVES
from harness import dwell, test

PROGRAMS = os.path.abspath(sys.argv[2])
UNDER = f'{PROGRAMS}/e2e-blocks_under'
THROWING = f'{PROGRAMS}/e2e-blocks_under_cc'
LIBRARIES = '/usr/lib/x86_64-linux-gnu'
LOSSES = ['unbalanced-executions', 'unknown-edges', 'uncounted-entries', 'undecoded-blocks', 'damaged-counts', 'still-counted']
LIMIT_S = 60
TURNS = 100
# Of the C library in static programs: it takes strings in pieces that depend on where these are, and
# those of the environment are elsewhere on the stack each time.  There is one for each CPU.
STRINGS = re.compile('strlen')
# Instructions of those in assembly, blocks_under.c; of the last ones with what they call
LEAF, MARK, HANDLED = 3, 4, 2
TESTED, TAKING, TAIL = 3, 2, 2 + LEAF
ASKING, INNER = 10 + 2 * TESTED, 13 + 3 * MARK
OUTER = 8 + 2 * LEAF + INNER + ASKING + TAIL


def pairs(line):
    return dict(re.findall(r'(\w+)=("[^"]*"|\S+)', line))


@functools.lru_cache(None)
def symbols(path):
    """[(offset in the file, bytes, name)] of a file's functions."""
    text = ''.join(subprocess.run(['nm', *options, '-S', path], capture_output=True, text=True, check=False).stdout for options in ([], ['-D']))
    words = [line.split() for line in text.splitlines()]
    return sorted({(ELVES[path].offset(int(w[0], 16)), int(w[1], 16), w[3].split('@')[0]) for w in words if len(w) == 4 and w[2] in 'tTwWi'})


@functools.lru_cache(None)
def name_at(path, offset):
    if not path.startswith('/'):
        return path
    i = bisect.bisect_right(symbols(path), (offset, 1 << 64, ''))
    start, size, name = symbols(path)[i - 1] if i else (0, 0, '')
    return name if start <= offset < start + size else '?'


class Nests:
    """A recording: {(process, chosen functions that it was in, the outermost first,
    image, offset): instructions}."""

    def __init__(self, path):
        self.path, self.facts, self.insns = path, {}, collections.Counter()
        images, locations, stacks, threads = [], [], [None], []
        for line in dwell('cat', path).stdout.splitlines():
            kind, f = line.split()[0], pairs(line)
            if kind == 'image':
                images.append(f['path'].strip('"'))
            elif kind == 'location':
                locations.append((images[int(f['image'])], int(f['offset'], 0)))
            elif kind == 'stack':
                stacks.append((int(f['parent']), locations[int(f['location'])]))
            elif kind == 'thread':
                threads.append(int(f['process']))
            elif kind == 'fact':
                self.facts[f['name'].strip('"')] = int(f['value'])
            elif kind == 'sample':
                parent, where = stacks[int(f['stack'])]
                chain = []
                while parent:
                    parent, function = stacks[parent]
                    chain.insert(0, self.called(*function))
                self.insns[threads[int(f['thread'])], tuple(chain), where] += int(f['weight'])
        for loss in LOSSES:
            assert not self.facts.get(loss), (path, loss, self.facts)

    @staticmethod
    def called(path, offset):
        name = name_at(path, offset)
        return name if path.startswith(PROGRAMS) else f'{os.path.basename(path)}:{name}'

    def of(self, *names, image=None, process=None):
        """{name: {chain: instructions}}, each without what is not executed."""
        found = {name: {} for name in names}
        for (pid, chain, (path, offset)), n in self.insns.items():
            name = name_at(path, offset)
            if name in found and image in (None, path) and process in (None, pid):
                found[name][chain] = found[name].get(chain, 0) + n
        return found

    def exclusive(self):
        """{function of our programs: instructions}"""
        found = collections.Counter()
        for (_, _, (path, offset)), n in self.insns.items():
            if path.startswith(PROGRAMS):
                found[name_at(path, offset)] += n
        return found

    def under(self):
        """{name: instructions}, as reported"""
        return {u['name']: u['exact']['instructions'] for u in harness.report(self.path).get('under', [])}


def record(words, *under, name='r', code=0, launcher=(), **more):
    path = f'{harness.DIR}/{name}.dwell'
    under = [word for f in under for word in ('--under', f)]
    p = subprocess.run([*launcher, harness.DWELL, 'run', '-e', 'bbcounts', '-o', path, *under, '--', *words],
                       **{'capture_output': True, 'text': True, 'timeout': LIMIT_S, **more}, check=False)
    assert p.returncode == code, (words, p)
    return Nests(path), p.stdout


def same_as_natively(words, *under, code=0, **more):
    """Without functions it does the same, and as much of each."""
    native = subprocess.run(words, capture_output=True, text=True, check=False, timeout=LIMIT_S)
    nests, out = record(words, *under, code=code, **more)
    plain, also = record(words, name='plain', code=code, **more)
    assert native.returncode == code and out == native.stdout == also, (words, native, out, also)
    assert not plain.under() and {chain for _, chain, _ in plain.insns} == {()}
    a, b = nests.exclusive(), plain.exclusive()
    # who waits for whom is not the same twice
    named = (a.keys() | b.keys()) - ({'?'} if 'threads' in words else set())
    different = {name: (a[name], b[name]) for name in named
                 if a[name] != b[name] and not STRINGS.search(name)}
    assert a and not different, f'with and without --under: {different}'
    return nests


def expect(nests, **wanted):
    """function={chain of chosen ones: instructions}"""
    found = nests.of(*wanted)
    wanted = {name: {chain: n for chain, n in of.items() if n} for name, of in wanted.items()}
    different = {name: (found[name], of) for name, of in wanted.items() if found[name] != of}
    assert not different, '; '.join(f'{name}: {a}, not {b}' for name, (a, b) in different.items())


# Inclusive values.

def work(n):
    return 2 + 2 * n


def recursive(n):
    return 3 + 7 * n


IN_POINTS = 20      # calls of each
CALLS = {
    'caller': sum(4 + (3 + LEAF) * n for n in range(1, TURNS + 1)),
    'recursive': recursive(50),
    'even': sum(recursive(n) for n in range(TURNS)) + sum(recursive(n - 1) for n in range(1, TURNS)),
    'odd': sum(recursive(n) for n in range(TURNS)) + sum(recursive(n - 1) for n in range(1, TURNS)),
    'head': sum(2 + 2 * (n + 1) for n in range(TURNS)),
    'tail': (2 * TURNS + 2 * IN_POINTS) * TAIL,
    'tail_to': (TURNS + IN_POINTS) * TAIL,
    'bounce': (TURNS + IN_POINTS) * (3 + LEAF),
    'cheap': (TURNS + IN_POINTS) * (5 + work(1)),
    'dear': (1 + IN_POINTS) * (5 + work(1000)),
    'work': (TURNS + IN_POINTS) * work(1) + (1 + IN_POINTS) * work(1000),
    'taking': (TURNS + IN_POINTS) * TAKING,
    'taken': (TURNS + IN_POINTS) * (7 + TAKING),
    'tested': 2 * (2 * TURNS + 2 * IN_POINTS) * TESTED,
    'asking': (2 * TURNS + 2 * IN_POINTS) * ASKING,
    'inner': (TURNS + 2 * IN_POINTS) * INNER,
    'outer': (TURNS + IN_POINTS) * OUTER,
}


@test
def inclusive_values_are_those_that_can_be_counted_by_hand():
    names = list(CALLS)
    for some in names[:9], names[9:]:
        nests = same_as_natively([UNDER, 'calls'], *some)
        assert nests.under() == {name: CALLS[name] for name in some}, (nests.under(), CALLS)
    for suffix in '-static', '-static-pie', '-fixed':
        nests = same_as_natively([UNDER + suffix, 'calls'], ','.join(names[:9]))
        assert nests.under() == {name: CALLS[name] for name in names[:9]}, (suffix, nests.under())


@test
def one_function_or_sixteen_are_told_the_same():
    for some in [['inner'], ['tested'], list(CALLS)[:16]]:
        nests, _ = record([UNDER, 'calls'], *some)
        assert nests.under() == {name: CALLS[name] for name in some}, (some, nests.under())


@test
def flags_are_as_they_were_where_a_function_is_left():
    # All in nests of their own: elsewhere another return of the same lowest 16 bits may change what is no part of an ABI.
    nests, _ = record([UNDER, 'flags'], 'needing', 'tested')
    assert nests.under() == {'needing': TURNS * ASKING, 'tested': TURNS * 2 * TESTED}, nests.under()


@test
def lists_have_files_as_well():
    os.makedirs(f'{harness.DIR}/a/b', exist_ok=True)
    for place in './program', 'a/program', 'a/b/program':
        os.symlink(UNDER, f'{harness.DIR}/{place}')
        for path in place, f'{harness.DIR}/{place}':
            nests, _ = record([UNDER, 'called'], f'{path}:chosen,{path}:outer,inner', cwd=harness.DIR)
            expect(nests, mark={('chosen',): 3 * MARK}, leaf={(): 7 * LEAF})


@test
def calls_would_share_what_differs():
    nests, _ = record([UNDER, 'calls'], 'cheap,dear')
    shared = {u['name']: u['by-calls']['instructions'] for u in harness.report(nests.path)['under']}
    assert shared['cheap'] > 10 * CALLS['cheap'] and shared['dear'] < CALLS['dear'] / 2, shared
    assert nests.under() == {name: CALLS[name] for name in ('cheap', 'dear')}


# What callgrind counts.

def same_as_callgrind(words, function, *files):
    """Each instruction; but Valgrind counts those of strings as often as it repeats them."""
    path, file = shutil.which(words[0]), os.path.realpath((*files, words[0])[0])
    if not path or not os.path.exists(file) or not os.path.exists(callgrind.VALGRIND):
        raise harness.Skip(f'no valgrind here or no {words[0]}')
    theirs = callgrind.Callgrind(words, path, {**callgrind.ENVIRONMENT, 'VALGRIND_OPTS': f'--toggle-collect={function}'}, harness.DIR, stdin=subprocess.DEVNULL)
    nests, out = record([path, *words[1:]], ':'.join([*files, function]), env=callgrind.ENVIRONMENT, launcher=['setarch', '-R'], stdin=subprocess.DEVNULL, text=False)
    assert out == theirs.run.stdout and theirs.run.returncode == 0, (words, theirs.run)
    ours = collections.Counter()
    for (_, chain, (image, offset)), n in nests.insns.items():
        if chain or (image == file and name_at(image, offset) == function):
            ours[os.path.realpath(image), ELVES[image].address(offset)] += n
    different = {place: (ours[place], theirs.insns[place]) for place in ours.keys() | theirs.insns.keys()
                 if ours[place] != theirs.insns[place] and not ELVES[place[0]].is_repeated(place[1])}
    text = '; '.join(f'{os.path.basename(at[0])} {at[1]:#x} ({theirs.names.get(at)}): {a}, there {b}' for at, (a, b) in sorted(different.items())[:20])
    assert not different, f'{function}: {len(different)} instructions: {text}'
    assert sum(ours.values()) > 100 and sum(ours.values()) == nests.under()[function], (function, sum(ours.values()), nests.under())


@test
def callgrind_collects_as_much_in_functions():
    for function in ['leaf', 'even', 'recursive', 'tail', 'work', 'outer', 'points', 'sorts', 'compare', 'formats', 'main']:
        same_as_callgrind([f'{UNDER}-static', 'calls'], function)


@test
def callgrind_collects_as_much_in_functions_of_libraries():
    text = '/usr/share/common-licenses/Artistic'
    query = 'create table t(a); insert into t values (3), (1); select sum(a), max(a) from t;'
    same_as_callgrind(['bzip2', '-c', text], 'BZ2_bzCompress', f'{LIBRARIES}/libbz2.so.1.0')
    same_as_callgrind(['bzip2', '-c', text], 'BZ2_bzWrite', f'{LIBRARIES}/libbz2.so.1.0')
    same_as_callgrind(['xz', '-T1', '-c', text], 'lzma_code', f'{LIBRARIES}/liblzma.so.5')
    same_as_callgrind(['sqlite3', ':memory:', query], 'sqlite3_step', f'{LIBRARIES}/libsqlite3.so.0')


# Nests.

@test
def those_that_call_each_other_are_told_by_the_way_they_came():
    nests = same_as_natively([UNDER, 'nests'], 'even', 'odd')
    n = 20
    first = sum(7 if i else 3 for i in range(n))
    wanted = {'even': collections.Counter(), 'odd': collections.Counter()}
    for i in range(n):
        for of, names in ('even', 'odd'), ('odd', 'even'):
            for level in range(i + 1):
                chain = () if level == 0 else (of,) if level == 1 or level % 2 else (of, names)
                wanted[(of, names)[level % 2]][chain] += 7 if level < i else 3
    expect(nests, **wanted, leaf={(): TURNS * LEAF})
    total = 2 * sum(recursive(i) for i in range(n))
    assert nests.under() == {'even': total - first, 'odd': total - first}, (nests.under(), total, first)


@test
def trees_and_filters_know_the_ways():
    nests = same_as_natively([UNDER, 'nests'], 'even', 'odd')
    rows = json.loads(dwell('tree', '--json', '--depth', '0', '--min', '0', nests.path).stdout)['rows']
    names = {row['id']: row['name'] for row in rows}
    found = {(names.get(row.get('parent')), row['name']): row['exclusive']['instructions'] for row in rows if row['name'] in ('even', 'odd') and row['depth'] <= 2}
    told = nests.of('even', 'odd')
    for of, names in ('even', 'odd'), ('odd', 'even'):
        wanted = {('<total>', of): told[of][()], (of, names): told[names][(of,)]}
        assert {way: found.get(way) for way in wanted} == wanted, (wanted, found)
        filtered = harness.report(nests.path, '--filter', f'function == {of}')
        assert filtered['total']['instructions'] == nests.under()[of], (of, filtered['total'])
    outside = harness.report(nests.path, '--filter', 'function != even && function != odd')
    assert harness.total_of(outside, 'leaf', 'exclusive', 'instructions') == TURNS * LEAF
    whole = sum(nests.insns.values())
    assert outside['total']['instructions'] + 2 * sum(recursive(i) for i in range(20)) == whole


# Ways out.

@test
def a_jump_ends_what_it_leaves():
    nests = same_as_natively([UNDER, 'jumps'], 'jumper', 'relay')
    expect(nests, mark={('jumper',): 300 * MARK, (): TURNS * MARK, ('relay', 'jumper'): 300 * MARK, ('relay',): TURNS * MARK}, leaf={(): TURNS * LEAF})


@test
def what_exits_is_under_the_function_to_the_end():
    expect(same_as_natively([UNDER, 'exits'], 'again', code=7), mark={('again',): 2 * MARK})


@test
def an_exception_ends_what_it_leaves():
    if not os.path.exists(THROWING):
        raise harness.Skip('no C++ compiler here')
    names = ['thrower', 'catcher', 'passing', 'again']
    nests = same_as_natively([THROWING], *(f'under::{name}' for name in names))
    thrower, catcher, passing, again = [f'_ZN5under{len(name)}{name}Ei' for name in names]
    thrown = {chain: 300 for chain in [(thrower,), (catcher, thrower), (passing, thrower), (again, passing, thrower)]}
    expect(nests, leaf={chain: n * LEAF for chain, n in {**thrown, (): 300}.items()},
           mark={chain: n * MARK for chain, n in {**thrown, (): 400, (catcher,): 200, (again,): 100}.items()})


@test
def an_exception_that_a_handler_throws_ends_what_it_leaves():
    if not os.path.exists(THROWING):
        raise harness.Skip('no C++ compiler here')
    nests = same_as_natively([THROWING, 'handlers'], 'interrupted')
    function = next(chain for _, chain, _ in nests.insns if chain)[0]
    expect(nests, leaf={(function,): TURNS * LEAF, (): TURNS * LEAF}, mark={(): TURNS * MARK})


@test
def another_stack_is_of_the_function_under_which_it_is_changed_to():
    nests = same_as_natively([UNDER, 'coroutines'], 'chosen', 'other')
    expect(nests, leaf={('chosen',): TURNS * LEAF, (): TURNS * LEAF}, handled={(): 2 * TURNS * HANDLED},
           mark={('chosen',): 2 * TURNS * MARK, ('other',): TURNS * MARK, (): (TURNS - 1) * MARK})


@test
def a_stack_above_the_functions_is_its_end():
    expect(same_as_natively([UNDER, 'up-and-down'], 'chosen'), leaf={('chosen',): TURNS * LEAF, (): TURNS * LEAF},
           handled={(): 2 * TURNS * HANDLED}, mark={('chosen',): 3 * TURNS * MARK, (): TURNS * MARK})


# Signals: without a stack for handlers, with one below the thread's, and above.

def handlers_return(name):
    expect(same_as_natively([UNDER, name], 'chosen', 'inner'), leaf={('chosen',): 300 * LEAF, (): 300 * LEAF}, handled={('chosen',): 900 * HANDLED},
           mark={('chosen',): 600 * MARK, ('chosen', 'inner'): 900 * MARK})


@test
def a_handler_is_under_what_it_interrupts():
    handlers_return('handlers')


@test
def a_handler_whose_stack_is_forgotten_meanwhile_is_no_exception():
    handlers_return('handlers-autodisarm')


def handlers_jump(name):
    expect(same_as_natively([UNDER, name], 'chosen'), mark={('chosen',): 300 * MARK}, handled={('chosen',): 300 * HANDLED}, leaf={(): 300 * LEAF})


@test
def a_handler_that_jumps_out_ends_what_it_leaves():
    handlers_jump('handlers-jump')


@test
def a_handler_that_sets_another_context_ends_what_it_leaves():
    handlers_jump('handlers-context')


@test
def what_a_handler_enters_ends_where_it_jumps_out():
    expect(same_as_natively([UNDER, 'handlers-enter'], 'other'), mark={('other',): 600 * MARK}, leaf={('other',): 300 * LEAF, (): 3000 * LEAF})


@test
def signals_at_a_high_rate_change_nothing():
    for where in 'stack', 'main':
        nests, out = record([UNDER, 'storm', '10000', where], 'outer', 'inner', 'tested')
        told = {name: int(n) for name, n in re.findall(r'(\w+) (\d+)', out)}
        turns, found = told['turns'], nests.of('mark', 'handled', 'tested')
        assert told['handled'] >= 10000 and turns > 1000, told
        expect(nests, leaf={('outer',): 3 * turns * LEAF, (): 5 * turns * LEAF}, asking={('outer',): turns * 10, (): turns * 10})
        within = sum(n for chain, n in found['mark'].items() if 'inner' in chain)
        assert within == (2 * turns + told['entered']) * 3 * MARK and found['mark'][()] == turns * MARK, (told, found)
        assert within + turns * MARK == sum(found['mark'].values()), (told, found)
        assert sum(found['handled'].values()) == (turns + told['handled']) * HANDLED, (told, found)
        assert found['tested'] == {('outer',): 2 * turns * TESTED, (): 2 * turns * TESTED}, (told, found)


# Threads and processes.

@test
def each_thread_is_for_itself():
    nests = same_as_natively([UNDER, 'threads'], 'chosen', 'outer')
    expect(nests, mark={('outer',): 8000 * 3 * MARK, ('chosen',): (2 + 2 * TURNS + TURNS) * MARK},
           leaf={('outer',): 8000 * 3 * LEAF, (): (8000 + 2 * TURNS) * LEAF})


@test
def the_child_of_a_fork_is_where_its_parent_was():
    nests, _ = record([UNDER, 'children', 'fork'], 'chosen')
    assert sorted(n['mark'][('chosen',)] for n in (nests.of('mark', process=i) for i in range(2))) == [2 * MARK, 3 * MARK], nests.of('mark')
    expect(nests, leaf={(): 2 * LEAF})


@test
def what_is_executed_begins_under_nothing():
    called = {'mark': 3, 'leaf': 7}
    for words, mark, leaf in [(['children', 'vfork'], 4, 1), (['children', 'spawn'], 2, 1), (['exec'], 1, 0)]:
        nests, _ = record([UNDER, *words], f'{UNDER}:chosen')
        expect(nests, mark={('chosen',): (mark + called['mark']) * MARK}, leaf={(): (leaf + called['leaf']) * LEAF})


@test
def functions_are_chosen_of_what_scripts_run():
    path = f'{harness.DIR}/script'
    for line in f'#!{UNDER} called', f'#!/bin/sh\n{UNDER} called':
        with open(path, 'w', encoding='ascii') as f:
            f.write(f'{line}\n')
        os.chmod(path, 0o755)
        expect(record([path], f'{UNDER}:chosen')[0], mark={('chosen',): 3 * MARK}, leaf={(): 7 * LEAF})
    p = dwell('run', '-e', 'bbcounts', '--under', 'chosen', '-o', f'{harness.DIR}/no', '--', path)
    assert p.returncode and 'FILE:FUNCTION' in p.stderr and len(p.stderr.splitlines()) == 1, p


@test
def programs_are_found_along_the_path():
    env = {**os.environ, 'PATH': f'{PROGRAMS}:/usr/bin:/bin'}
    nests, _ = record([os.path.basename(UNDER), 'called'], 'chosen', env=env)
    expect(nests, mark={('chosen',): 3 * MARK}, leaf={(): 7 * LEAF})


# Libraries.

def make_library(name):
    """Whose function(n) executes 2 + 3 n, and step n times: 2."""
    path = f'{harness.DIR}/{name}.so'
    with open(f'{harness.DIR}/library.s', 'w', encoding='ascii') as f:
        f.write('.text\n.globl function\n.type function, @function\nfunction: mov %edi, %ecx; 1: call step; dec %ecx; jnz 1b; ret\n'
                '.size function, .-function\n.type step, @function\nstep: nop; ret\n.size step, .-step\n'
                f'.section .rodata\n.ascii "{name}"\n.section .note.GNU-stack\n')
    subprocess.run(['gcc', '-shared', '-nostdlib', '-o', path, f'{harness.DIR}/library.s'], check=True)
    return path


@test
def libraries_come_and_go():
    harness.need('gcc')
    one, other = make_library('one'), make_library('other')
    n = 50
    steps = n * (n + 1) // 2
    for order in [one, other], [other, one], [other, one, one]:
        nests, _ = record([UNDER, 'libraries', str(n), 'stay', *order], f'{one}:function')
        times, chain = order.count(one), ('one.so:function',)
        assert nests.of('step', 'function', image=other) == {'step': {(): 2 * steps}, 'function': {(): 2 * n + 3 * steps}}, (order, nests.of('step', 'function'))
        assert nests.of('step', 'function', image=one) == {'step': {chain: times * 2 * steps}, 'function': {(): times * (2 * n + 3 * steps)}}, \
            (order, nests.of('step', 'function'))
        assert nests.under() == {'function': times * (2 * n + 5 * steps)}, nests.under()


@test
def libraries_may_be_elsewhere_each_time():
    harness.need('gcc')
    one = make_library('one')
    n = 300
    nests, _ = record([UNDER, 'libraries', str(n), 'move', one], f'{one}:function')
    steps = n * (n + 1) // 2
    assert len({(b, i) for b, i in mappings(nests.path, one)}) == n, len(mappings(nests.path, one))
    assert nests.of('step') == {'step': {('one.so:function',): 2 * steps}}, nests.of('step')
    assert nests.under() == {'function': 2 * n + 5 * steps}, nests.under()


def mappings(recording, path):
    lines = [(line.split()[0], pairs(line)) for line in dwell('cat', recording).stdout.splitlines()]
    images = [f['path'].strip('"') for kind, f in lines if kind == 'image']
    return [(f['start'], f['end']) for kind, f in lines if kind == 'mapping' and images[int(f['image'])] == path]


# Processes that run already.

def attached(pid, *options, name='attached'):
    path = f'{harness.DIR}/{name}.dwell'
    p = dwell('attach', '-e', 'bbcounts', '--under', 'outer,inner', '-o', path, *options, '-p', str(pid))
    assert p.returncode == 0, p
    return Nests(path)


def is_counted(pid):
    with open(f'/proc/{pid}/maps', encoding='utf-8') as maps, open(f'/proc/{pid}/status', encoding='ascii') as status:
        return re.search(r'/dwell-\d+-.*/of\.\d+\.\d+', maps.read()) is not None and 'TracerPid:\t0' in status.read()


@test
def a_window_has_what_is_entered_in_it():
    with subprocess.Popen([UNDER, 'lasting'], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as p:
        assert p.stdout.readline() == 'ready\n'
        for i, n in enumerate([1, 12345]):
            path = f'{harness.DIR}/window{i}.dwell'
            with harness.beside(harness.DWELL, 'attach', '-e', 'bbcounts', '--under', 'outer', '--under', f'{UNDER}:inner', '-o', path, '-p', str(p.pid),
                                stderr=subprocess.PIPE, text=True) as recorder:
                end = time.time() + LIMIT_S
                while not is_counted(p.pid) and time.time() < end:
                    time.sleep(0.002)
                time.sleep(0.05)
                p.stdin.write(f'{n}\n')
                p.stdin.flush()
                assert p.stdout.readline() == 'done\n'
                recorder.send_signal(signal.SIGINT)
                assert recorder.wait(LIMIT_S) == 0, recorder.stderr.read()
            nests = Nests(path)
            expect(nests, leaf={('outer',): 3 * n * LEAF, (): n * LEAF}, mark={('outer', 'inner'): 3 * n * MARK}, inner={('outer',): 13 * n})
            assert nests.under() == {'outer': n * OUTER, 'inner': n * INNER}, nests.under()
        p.stdin.close()
        assert p.wait(LIMIT_S) == 0


@test
def windows_begin_and_end_within_the_function():
    with subprocess.Popen([UNDER, 'lasting'], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as p:
        assert p.stdout.readline() == 'ready\n'
        p.stdin.write('200000000\n')
        p.stdin.flush()
        n = 0
        for _ in range(10):
            found = attached(p.pid, '-d', '0.02').of('leaf', 'mark')
            leaf = found['leaf']
            n += leaf.get((), 0)
            # at most one call of outer is not seen from its beginning, and one not to its end
            assert abs(leaf.get(('outer',), 0) - 3 * leaf.get((), 0)) <= 12 * LEAF, leaf
            assert set(found['mark']) <= {(), ('inner',), ('outer', 'inner')}, found
            assert found['mark'].get((), 0) + found['mark'].get(('inner',), 0) <= 3 * MARK, found
        # how far it comes in one window depends on what else the machine does; in all there is this much for each
        assert n > 10 * 100000, n
        assert p.poll() is None
        p.kill()


# What cannot be.

@test
def what_cannot_be_chosen_is_refused_in_words():
    many = ','.join(['caller', 'recursive', 'even', 'odd', 'head', 'tail', 'tail_to', 'bounce', 'cheap', 'dear', 'work', 'taking', 'taken', 'tested', 'asking', 'inner'])
    for words, text in [
            (['-e', 'bbcounts', '--under', 'outr', '--', UNDER], "did you mean 'outer'"),
            (['-e', 'bbcounts', '--under', 'BZ2_bzCompress', '--', UNDER], 'FILE:FUNCTION'),
            (['-e', 'bbcounts', '--under', '/nonexistent:f', '--', UNDER], '/nonexistent'),
            (['-e', 'bbcounts', '--under', 'outer', '--', '/nonexistent'], '/nonexistent'),
            (['-e', 'bbcounts', '--under', 'f', '--', '/usr/bin/bzip2'], 'no symbols'),
            (['-e', 'usertime', '--under', 'outer', '--', UNDER], 'bbcounts'),
            (['--under', 'outer', '--', UNDER], 'bbcounts'),
            (['-e', 'bbcounts', '--under', many, '--under', 'outer', '--', UNDER], '16'),
    ]:
        path = f'{harness.DIR}/refused.dwell'
        p = dwell('run', '-o', path, *words)
        assert p.returncode and text in p.stderr and len(p.stderr.splitlines()) == 1, (words, p)
        assert not p.stdout and not os.path.exists(path), (words, p)


sys.exit(harness.run_all(harness.TESTS, words=sys.argv[3:]))
