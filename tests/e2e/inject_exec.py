#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a process executes that is attached to is traced from its beginning, as if it had been
started so, and finds the environment that it would have had.
usage: inject_exec.py DWELL PROGRAM_DIR [WORD...]"""
import ctypes
import os
import signal
import subprocess
import sys

import harness
import visiting
from harness import DIR, dwell, fact, report, run_all, test
from visiting import attached, check_left, heap_of, is_led_by, is_traced_by, meeting_place, numbers, obeying, text_of, wait_until

PROGRAMS = os.path.abspath(sys.argv[2])
EXECUTES = f'{PROGRAMS}/e2e-visited_executes'
STATIC = f'{PROGRAMS}/e2e-visited-static'

WAYS = ('execl', 'execle', 'execlp', 'execv', 'execve', 'execveat', 'execvp', 'execvpe', 'fexecve', 'many',
        'posix_spawn', 'posix_spawnp', 'vfork')
SHELLS = ('system', 'popen', 'wordexp')


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


def check_begun(path, begun, counts):
    """Each of these took so many as it does by itself, and no other program took any."""
    wanted = [taken_by_itself(n) for n in counts]
    assert sorted(numbers(x) for x in begun) == wanted, (begun, wanted)
    r = report(path)
    assert not fact(r, 'not-followed', 'loss'), r['sources']
    rows = {r['name']: r['inclusive'].get('allocations', 0) for r in r['rows']}
    assert rows['take'] == sum(counts), rows


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
    check_begun(path, [x for x in heap_of(path) if x['heap-allocations'] >= 100], range(100, 100 + len(WAYS)))


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
def what_the_c_library_has_a_shell_execute_is_traced_from_its_beginning():
    path = f'{DIR}/shells.dwell'
    with executes() as p:
        with attached(p.pid, path):
            for i, way in enumerate(SHELLS):
                p.tell(f'{way} {300 + i}')
            p.tell('manners')
        check_left(p.pid)
        for way in (*SHELLS, 'manners'):
            p.tell(f'{way} 7')
    begun = [x for x in heap_of(path) if x['command'] == 'e2e-visited_exe' and x['pid'] != p.pid]
    check_begun(path, begun, range(300, 300 + len(SHELLS)))


@test
def the_c_library_is_as_it_was_when_it_is_left():
    with executes() as p:
        before = code_of_c_library(p.pid)
        for _ in range(2):
            with attached(p.pid, f'{DIR}/code.dwell'):
                led = code_of_c_library(p.pid)
                assert len(led) == len(before)
                changed = [i for i, (a, b) in enumerate(zip(before, led)) if a != b]
                assert changed, 'no call is led'
            left = code_of_c_library(p.pid)
            end = len(before) - 16  # where the jump is
            assert left[:end] == before[:end]
        p.tell('system 7')


@test
def so_is_that_of_children_it_made_meanwhile():
    script = ('import os, sys, time\n'
              'print("ready", flush=True)\n'
              'for line in sys.stdin:\n'
              '    pid = os.fork()\n'
              '    if not pid:\n'
              '        time.sleep(60)\n'
              '    print(pid, flush=True)\n')
    with obeying(visiting.Program(sys.executable, '-c', script)) as p:
        before = code_of_c_library(p.pid)
        with attached(p.pid, f'{DIR}/children.dwell'):
            child = int(p.tell('fork'))
            try:
                assert code_of_c_library(child)[:-16] != before[:-16]
            except BaseException:
                os.kill(child, signal.SIGKILL)
                raise
        try:
            assert code_of_c_library(child)[:-16] == before[:-16]
            assert code_of_c_library(p.pid)[:-16] == before[:-16]
        finally:
            os.kill(child, signal.SIGKILL)


def code_of_c_library(pid):
    for line in text_of(pid, 'maps').splitlines():
        if 'r-xp' in line and '/libc.so' in line:
            start, end = (int(x, 16) for x in line.split()[0].split('-'))
            with open(f'/proc/{pid}/mem', 'rb', 0) as memory:
                memory.seek(start)
                return memory.read(end - start)
    raise AssertionError(f'{pid} has no C library')


@test
def a_shell_is_executed_while_another_thread_changes_the_environment():
    path = f'{DIR}/busy.dwell'
    with executes() as p:
        with attached(p.pid, path):
            p.tell('busy 300')
        p.tell('busy 7')
    rows = {r['name']: r['inclusive'].get('allocations', 0) for r in report(path)['rows']}
    assert 0 < rows['take'] <= 20 * 300, rows


@test
def a_shell_is_executed_when_dwell_has_been_killed_and_the_next_one_comes():
    path = f'{DIR}/next.dwell'
    with executes() as p:
        before = code_of_c_library(p.pid)
        with harness.beside(harness.DWELL, 'attach', '-e', 'heap', '-p', str(p.pid), '-o', f'{DIR}/killed.dwell',
                            stderr=subprocess.DEVNULL) as d:
            wait_until(lambda: is_traced_by(p.pid, d.pid), 'it does not begin')
            d.kill()
            d.wait()
        for way in (*SHELLS, 'manners'):
            p.tell(f'{way} 7')
        with attached(p.pid, path):
            for way in SHELLS:
                p.tell(f'{way} 300')
        assert code_of_c_library(p.pid)[:-16] == before[:-16]
        p.tell('system 7')
    rows = {r['name']: r['inclusive'].get('allocations', 0) for r in report(path)['rows']}
    assert rows['take'] == 900, rows


@test
def what_no_library_is_brought_to_is_named_and_left_as_it_is():
    path = f'{DIR}/named.dwell'
    with executes() as p:
        with attached(p.pid, path):
            p.tell('bare')
            child = p.tell(f'run {STATIC}').split()[-1]
            wait_until(lambda: text_of(child, 'cmdline').startswith(STATIC), 'it is not executed')
            said = text_of(child, 'environ')
            assert 'VISITED=yes' in said and 'LD_PRELOAD' not in said and 'DWELL' not in said, said
            harness.time.sleep(.3)
    source, = report(path)['sources']
    why = {x['program'].rpartition('/')[2]: x['why'] for x in source['not_followed']}
    assert set(why) == {'sleep', 'e2e-visited-static'}, why
    assert 'statically linked' in why['e2e-visited-static'], why
    assert "the kernel's call" in why['sleep'], why


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


PTRACE_DETACH, PTRACE_SEIZE, PTRACE_O_TRACEEXEC, PTRACE_EVENT_EXEC = 17, 0x4206, 16, 4
WALL = 0x40000000


def ptrace(request, pid, data=0):
    libc = ctypes.CDLL(None, use_errno=True)
    libc.ptrace.argtypes = [ctypes.c_long] * 4
    assert libc.ptrace(request, pid, 0, data) == 0, os.strerror(ctypes.get_errno())


@test
def what_has_been_executed_in_the_last_moment_still_finds_the_library():
    with executes() as p:
        with attached(p.pid, f'{DIR}/last.dwell') as d:
            place = meeting_place(p.pid)
            child = int(p.tell('held 7').split()[-1])
            ptrace(PTRACE_SEIZE, child, PTRACE_O_TRACEEXEC)
            os.kill(child, signal.SIGUSR1)
            _, status = os.waitpid(child, WALL)
            assert status >> 8 == signal.SIGTRAP | PTRACE_EVENT_EXEC << 8, status
            assert place in text_of(child, 'environ')
            d.send_signal(signal.SIGINT)
            wait_until(lambda: not is_led_by(p.pid, d.pid), 'it is not left')
            harness.time.sleep(.3)
            assert os.path.exists(f'{place}/lib'), 'it is not waited for'
            ptrace(PTRACE_DETACH, child)
        assert not os.path.exists(place)
        check_left(p.pid)


@test
def who_never_goes_on_is_waited_for_shortly():
    with executes() as p:
        with attached(p.pid, f'{DIR}/never.dwell'):
            place = meeting_place(p.pid)
            child = int(p.tell('held 7').split()[-1])
            ptrace(PTRACE_SEIZE, child, PTRACE_O_TRACEEXEC)
            os.kill(child, signal.SIGUSR1)
            os.waitpid(child, WALL)
        assert not os.path.exists(place)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, WALL)


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
