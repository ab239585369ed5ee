#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a process executes that is attached to is traced from its beginning, as if it had been
started so, and finds the environment that it would have had.
usage: inject_exec.py DWELL PROGRAM_DIR [WORD...]"""
import os
import subprocess
import sys

import harness
import visiting
from harness import DIR, dwell, fact, report, run_all, test
from visiting import attached, check_left, heap_of, is_traced_by, meeting_place, numbers, obeying, text_of, wait_until

PROGRAMS = os.path.abspath(sys.argv[2])
EXECUTES = f'{PROGRAMS}/e2e-visited_executes'
STATIC = f'{PROGRAMS}/e2e-visited-static'

WAYS = ('execl', 'execle', 'execlp', 'execv', 'execve', 'execveat', 'execvp', 'execvpe', 'fexecve', 'many',
        'posix_spawn', 'posix_spawnp', 'vfork')


class Executes(visiting.Program):
    """Says whether something was not as it should be, and nothing to its standard error."""

    def __init__(self):
        with open(f'{DIR}/said', 'wb') as said:
            super().__init__(EXECUTES, stderr=said)

    def tell(self, line):
        said = super().tell(line)
        assert said.startswith('0 wrong'), (line, said)
        return said

    def become(self):
        assert super().tell('become') == 'again\n'

    def end(self):
        super().end()
        with open(f'{DIR}/said', encoding='utf-8') as f:
            said = f.read()
        assert not said, said


def executes():
    return obeying(Executes())


def taken_by_itself(n):
    """What such a program takes that was started by dwell."""
    path = f'{DIR}/itself-{n}.dwell'
    p = dwell('run', '-q', '-e', 'heap', '-o', path, '--', EXECUTES, 'taken', str(n), env={**os.environ, 'VISITED': 'yes'})
    assert p.returncode != 0  # it finds an environment that tells of us
    process, = heap_of(path)
    return numbers(process)


@test
def whichever_way_a_program_is_executed_it_is_traced_from_its_beginning():
    path = f'{DIR}/ways.dwell'
    with executes() as p:
        with attached(p.pid, path):
            place = meeting_place(p.pid)
            for i, way in enumerate(WAYS):
                p.tell(f'{way} {100 + i}')
        check_left(p.pid)
        assert not os.path.exists(place)
        for way in WAYS:
            p.tell(f'{way} 7')
    begun = sorted(numbers(x) for x in heap_of(path) if x['heap-allocations'] >= 100)
    wanted = [taken_by_itself(100 + i) for i in range(len(WAYS))]
    assert begun == wanted, (begun, wanted)
    r = report(path)
    assert not fact(r, 'not-followed', 'loss'), r['sources']
    rows = {r['name']: r['inclusive'].get('allocations', 0) for r in r['rows']}
    assert rows['take'] == sum(100 + i for i in range(len(WAYS))), rows


@test
def a_process_that_executes_another_program_is_traced_on_and_left():
    path = f'{DIR}/become.dwell'
    with executes() as p:
        with attached(p.pid, path):
            p.become()
            p.tell('execve 100')
            p.tell('vfork 101')
            p.become()
            p.tell('execv 102')
        for way in WAYS:
            p.tell(f'{way} 7')
        p.become()
        p.tell('execv 7')
    rows = {r['name']: r['inclusive'].get('allocations', 0) for r in report(path)['rows']}
    assert rows['take'] == 303, rows
    assert [numbers(x)[0] for x in heap_of(path) if x['pid'] != p.pid] == [102, 101, 100], heap_of(path)


@test
def what_no_library_is_brought_to_is_named_and_left_as_it_is():
    path = f'{DIR}/named.dwell'
    with executes() as p:
        with attached(p.pid, path):
            p.tell('system')
            child = p.tell(f'run {STATIC}').split()[-1]
            wait_until(lambda: text_of(child, 'cmdline').startswith(STATIC), 'it is not executed')
            said = text_of(child, 'environ')
            assert 'VISITED=yes' in said and 'LD_PRELOAD' not in said and 'DWELL' not in said, said
            harness.time.sleep(.3)
    source, = report(path)['sources']
    why = {x['program'].rpartition('/')[2]: x['why'] for x in source['not_followed']}
    assert set(why) == {'sleep', 'e2e-visited-static'}, why
    assert 'statically linked' in why['e2e-visited-static'], why
    assert 'system()' in why['sleep'], why


def begun(p):
    """A program that it executes, and has beside it."""
    child = p.tell(f'run {EXECUTES}').split()[-1]
    wait_until(lambda: text_of(child, 'wchan').startswith(('pipe', 'anon_pipe')), 'it does not wait')
    return child


@test
def nothing_is_brought_any_more_when_dwell_has_been_killed():
    with executes() as p:
        with harness.beside(harness.DWELL, 'attach', '-e', 'heap', '-p', str(p.pid), '-o', f'{DIR}/killed.dwell',
                            stderr=subprocess.DEVNULL) as d:
            wait_until(lambda: is_traced_by(p.pid, d.pid), 'it does not begin')
            assert 'libdwell-tracer' in text_of(begun(p), 'maps')
            d.kill()
            d.wait()
        assert 'libdwell' not in text_of(begun(p), 'maps')
        for way in WAYS:
            p.tell(f'{way} 7')


@test
def who_has_become_another_user_executes_as_before():
    path = f'{DIR}/user.dwell'
    with executes() as p:
        with attached(p.pid, path):
            p.tell('user')
            p.tell('execve 100')
            p.tell('posix_spawnp 100')
    assert all(x['heap-allocations'] < 100 for x in heap_of(path)), heap_of(path)


@test
def who_has_a_small_stack_executes_as_before():
    with executes() as p:
        with attached(p.pid, f'{DIR}/small.dwell'):
            p.tell('handler 7')
        check_left(p.pid)
        p.tell('handler 7')


@test
def what_is_as_large_as_the_kernel_takes_is_executed_as_before():
    with executes() as p:
        p.tell('large 7')
        with attached(p.pid, f'{DIR}/large.dwell'):
            p.tell('large 7')
        p.tell('large 7')


@test
def nothing_is_brought_where_descendants_are_not_to_be_followed():
    path = f'{DIR}/alone.dwell'
    with executes() as p:
        with attached(p.pid, path, '-e', 'heap', '--follow', 'off'):
            p.tell('execve 100')
        check_left(p.pid)
    assert all(x['heap-allocations'] < 100 for x in heap_of(path)), heap_of(path)


@test
def what_runs_when_it_is_left_goes_on_without_waiting_for_anybody():
    path = f'{DIR}/goes-on.dwell'
    script = ('import os, sys, time\n'
              'print("ready", flush=True)\n'
              'for line in sys.stdin:\n'
              '    since = time.monotonic()\n'
              '    worst = 0\n'
              '    for i in range(100000):\n'
              '        was = time.monotonic()\n'
              '        bytearray(5000)\n'
              '        worst = max(worst, time.monotonic() - was)\n'
              '    print(int(worst * 1000), "LD_PRELOAD" in os.environ, flush=True)\n')
    shell = visiting.Program('sh', '-c', f'echo ready; read x; {sys.executable} -c \'{script}\'; exit 0')
    with obeying(shell) as p:
        with attached(p.pid, path):
            assert p.tell('go') == 'ready\n'
            assert p.tell('').split()[1] == 'False'
        for _ in range(5):
            worst_ms, is_told = p.tell('').split()
            assert is_told == 'False'
            assert int(worst_ms) < 150, worst_ms
    assert 'python3' in ' '.join(x['command'] for x in heap_of(path)), heap_of(path)


def make_says(path, *args):
    """What make says of a rule that executes programs of all kinds."""
    with open(f'{DIR}/Makefile', 'w', encoding='ascii') as f:
        f.write('all: a b\n\t@cat a b; env | sort | grep -v ^_=\n'
                'a:\n\t@env -i sh -c "echo clean; env | grep -v ^_=" | sort >$@\n'
                f"b:\n\t@{sys.executable} -c 'import subprocess; subprocess.run([\"ls\", \"/\"])' | cat >$@\n")
    with obeying(visiting.Program('sh', '-c', f'echo ready; read x; make -C {DIR} --no-print-directory -B -j2 2>&1 | sed "s/$/;/" | tr -d "\\n"; echo; '
                                  'read x; exit 0')) as p:
        if not path:
            return p.tell('go')
        with attached(p.pid, path, *args):
            return p.tell('go')


@test
def what_shells_make_and_python_execute_is_traced_and_says_the_same():
    harness.need('make')
    path = f'{DIR}/make.dwell'
    before = make_says(None)
    assert 'clean' in before and 'usr' in before, before
    assert make_says(path) == before
    assert make_says(path, '-e', 'heap,sync,io') == before
    r = report(path)
    assert not fact(r, 'not-followed', 'loss'), r['sources']
    names = {x['command'] for x in heap_of(path)}
    assert {'sh', 'make', 'ls', 'cat', 'env', 'sort'} <= names, names


if __name__ == '__main__':
    if visiting.why_not():
        sys.exit(harness.skip_all(visiting.why_not()))
    sys.exit(run_all(harness.TESTS, words=sys.argv[3:]))
