#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Floating-point exceptions of processes that already run: as many as these raise from when
they are attached to, with the results, signals and registers that they have without.
usage: inject_fpe.py DWELL PROGRAM_DIR [WORD...]"""
import json
import os
import signal
import subprocess
import sys

import harness
import visiting
from harness import DIR, Skip, dwell, fact, report, run_all, test
from visiting import attached, check_left, is_free, is_traced_by, n_led, obeying, text_of, wait_until

PROGRAMS = os.path.abspath(sys.argv[2])
FPE = ('-e', 'fpe')
LATE = f'{PROGRAMS}/libe2e-visited-late-fpe.so'
KINDS = ('main', 'worker', 'blocker', 'new')


def raising():
    return obeying(visiting.Program(f'{PROGRAMS}/e2e-visited_fpe'))


def plain():
    return obeying(visiting.Program(f'{PROGRAMS}/e2e-visited_fpe_plain'))


def fpe(path, *options):
    p = dwell('fpe', '--json', *options, path)
    assert p.returncode == 0, p.stderr
    return json.loads(p.stdout)


def totals(path):
    r = report(path)
    for name in 'lost-events', 'damaged-records', 'restricted-processes':
        assert not fact(r, name, 'loss'), (name, fact(r, name, 'loss'))
    return {k: v for k, v in fpe(path)['total'].items() if v}


def check_as_before(program, state):
    check_left(program.pid)
    now = program.tell('state')
    assert now == state, (now, state)


@test
def exceptions_from_begin_to_end_are_counted_in_every_thread_and_no_others():
    with raising() as p:
        state, want = p.tell('state'), p.tell('hash')
        for i in range(3):  # what was kept of an earlier time means nothing
            path = f'{DIR}/calls{i}.dwell'
            p.tell('divide worker 10')
            with attached(p.pid, path, *FPE):
                for kind in KINDS:
                    p.tell(f'divide {kind} {1000 + i}')
                p.tell('x87 50')
            check_as_before(p, state)
            p.tell('divide worker 10')
            n = len(KINDS) * (1000 + i) + 50
            assert totals(path) == {'exceptions': n, 'divide-by-zero': n}, totals(path)
            rows = {r['name']: r['divide-by-zero'] for r in fpe(path)['rows']}
            assert rows == {'divide_once': n - 50, 'divide_x87': 50}, rows
            assert fact(report(path), 'stopped', 'rate') > 0
        with attached(p.pid, f'{DIR}/hash.dwell', '-e', 'fpe:all'):
            assert p.tell('hash') == want
        assert totals(f'{DIR}/hash.dwell')['inexact'] > 100
        check_as_before(p, state)


@test
def of_types_that_are_found_later_those_that_were_are_counted():
    path = f'{DIR}/small.dwell'
    with raising() as p:
        with attached(p.pid, path, *FPE):
            p.tell('small 1001')
    assert totals(path) == {'exceptions': 500, 'underflow': 500}, totals(path)


@test
def a_program_has_the_signals_that_it_enabled():
    path = f'{DIR}/enabled.dwell'
    with raising() as p:
        state = p.tell('state')
        with attached(p.pid, path, *FPE):
            said = p.tell('enabled 100')
            assert said.startswith('100 signals, 0 wrong'), said
            p.tell('divide main 10')
        check_as_before(p, state)
        said = p.tell('enabled 10')
        assert said.startswith('110 signals, 0 wrong'), said
    assert totals(path) == {'exceptions': 110, 'divide-by-zero': 110}, totals(path)


@test
def handlers_that_were_there_before_are_observed_and_left():
    path = f'{DIR}/handlers.dwell'
    with raising() as p:
        state = p.tell('state')
        p.tell('park')
        with attached(p.pid, path, *FPE):
            p.tell('handler 200')
            p.tell('leave')
            p.tell('divide worker 300')  # behind the handler that it was in
            p.tell('divide main 30')
        check_as_before(p, state)
        with attached(p.pid, f'{DIR}/parked.dwell', *FPE):
            p.tell('park')
            p.tell('handler 5')
        p.tell('leave')  # what it was called by is ours
        check_as_before(p, state)
    assert totals(path) == {'exceptions': 530, 'divide-by-zero': 530}, totals(path)
    assert totals(f'{DIR}/parked.dwell') == {'exceptions': 5, 'divide-by-zero': 5}


@test
def a_child_is_observed_and_left_with_its_parent():
    path = f'{DIR}/child.dwell'
    with raising() as p:
        with attached(p.pid, path, *FPE):
            p.tell('divide main 5')
            child = int(p.tell('divide child 70').split()[-1])
            wait_until(lambda: text_of(child, 'syscall').startswith('34 '), 'it does not come to its pause()')
        check_left(p.pid)
        check_left(child)
    rows = fpe(path, '--by', 'process')['rows']
    assert sorted(r['divide-by-zero'] for r in rows) == [5, 70], rows


N_SUMMERS = 8


@test
def who_computes_what_puts_exceptions_aside_is_observed_behind():
    with raising() as p:
        for i in range(2):
            path = f'{DIR}/sums{i}.dwell'
            p.tell('add')
            with attached(p.pid, path, *FPE):
                assert ' 0 wrong' in p.tell('sum')
            check_left(p.pid)
            n = 100 * N_SUMMERS
            assert totals(path) == {'exceptions': n, 'divide-by-zero': n}, totals(path)


@test
def who_has_exceptions_put_aside_when_it_is_left_has_them_masked():
    with raising() as p:
        for i in range(2):
            with attached(p.pid, f'{DIR}/masks{i}.dwell', *FPE):
                p.tell('add')
            check_left(p.pid)
            said = p.tell('masks')
            assert ' 0 wrong' in said, (i, said)


def spun(said):
    return int(said.split()[4])


@test
def who_raises_all_the_time_is_left_too():
    with raising() as p:
        state = p.tell('state')
        was = spun(p.tell('spin'))
        for i in range(4):
            path = f'{DIR}/spin{i}.dwell'
            with attached(p.pid, path, *FPE):
                p.tell('divide main 100')
                begun = spun(p.tell('small 0'))
                wait_until(lambda n=begun + 10: spun(p.tell('small 0')) > n, 'it does not go on')
            check_left(p.pid)
            now = spun(p.tell('small 0'))
            assert 110 <= totals(path)['divide-by-zero'] <= 100 + now - was + 1, (totals(path), was, now)
            was = now
        p.tell('rest')
        check_as_before(p, state)


@test
def a_program_whose_dwell_is_killed_goes_on_and_can_be_attached_to_again():
    path = f'{DIR}/killed.dwell'
    with raising() as p:
        state = p.tell('state')
        p.tell('spin')
        with harness.beside(harness.DWELL, 'attach', *FPE, '-p', str(p.pid), '-o', path,
                            stderr=subprocess.DEVNULL) as d:
            wait_until(lambda: is_traced_by(p.pid, d.pid), 'it does not begin')
            p.tell('divide main 1000')
            d.kill()
        for kind in KINDS:
            p.tell(f'divide {kind} 1000')
        p.tell('rest')
        said = p.tell('enabled 10')
        assert said.startswith('10 signals, 0 wrong'), said
        with attached(p.pid, f'{DIR}/again.dwell', *FPE):
            for kind in KINDS:
                p.tell(f'divide {kind} 100')
        check_as_before(p, state)
    assert totals(f'{DIR}/again.dwell') == {'exceptions': 400, 'divide-by-zero': 400}


@test
def who_blocks_the_signal_is_let_go_with_the_exceptions_masked():
    with plain() as p:
        p.tell('blocking')
        for i in range(2):
            with attached(p.pid, f'{DIR}/blocking{i}.dwell', *FPE):
                p.tell('divide')
            check_left(p.pid)
            was = int(p.tell('').split()[0])
            wait_until(lambda n=was: int(p.tell('').split()[0]) > n, 'it does not go on')
        p.tell('rest')


@test
def what_is_left_on_a_stack_is_in_nobodys_way():
    with plain() as p:
        for i in range(2):
            with attached(p.pid, f'{DIR}/remains{i}.dwell', *FPE):
                p.tell('once')
            check_left(p.pid)
            p.tell('divide')


def ended(program, word):
    program.process.stdin.write(word + '\n')
    program.process.stdin.flush()
    program.process.stdin.close()
    return program.process.wait(visiting.LIMIT_S)


@test
def registers_that_a_program_has_kept_mean_nothing_when_it_is_left():
    with plain() as p:
        for i in range(2):
            with attached(p.pid, f'{DIR}/kept{i}.dwell', *FPE):
                p.tell('keep')
            check_left(p.pid)
            for word in 'raise', 'back', 'raise', 'raise-x87', 'raise':
                p.tell(word)
        with attached(p.pid, f'{DIR}/heap.dwell'):
            p.tell('back')
        for word in 'raise', 'back', 'raise-x87', 'raise':
            p.tell(word)


@test
def what_it_has_kept_is_not_signalled_to_its_own_handler():
    with plain() as p:
        p.tell('catch')
        for i in range(2):
            with attached(p.pid, f'{DIR}/own{i}.dwell', *FPE):
                p.tell('keep')
            for word in 'back', 'raise', 'raise-x87', 'raise':
                p.tell(word)
            assert p.tell('').split()[1] == str(i), i
            p.tell('enable')
            assert p.tell('raise').split()[1] == str(i + 1), i
            p.tell('forbid')


@test
def a_program_that_was_left_ends_as_it_would_have():
    for words in ('kill',), ('enable', 'raise'), ('catch', 'enable', 'raise'):
        with plain() as p:
            with attached(p.pid, f'{DIR}/ends.dwell', *FPE):
                p.tell('once')
            for word in words[:-1]:
                p.tell(word)
            assert ended(p, words[-1]) == (0 if 'catch' in words else -signal.SIGFPE), words


@test
def what_a_program_enabled_it_has_behind_a_handler_and_in_new_threads():
    with plain() as p:
        p.tell('catch')
        p.tell('park')
        with attached(p.pid, f'{DIR}/behind.dwell', *FPE):
            p.tell('leave')
        assert p.tell('').split()[1] == '1'
        p.tell('enable')
        with attached(p.pid, f'{DIR}/anew.dwell', *FPE):
            p.tell('raise-new')
        assert p.tell('').split()[1] == '2'


def check_as_linked(pid):
    """Left, with what the linker looks symbols up in as it is in the files."""
    check_left(pid)
    with open(f'/proc/{pid}/mem', 'rb', 0) as memory:
        for line in text_of(pid, 'maps').splitlines():
            where, rights, offset, _, inode, *name = line.split()
            if inode == '0' or rights != 'r--p' or int(offset, 16):
                continue
            start, end = (int(x, 16) for x in where.split('-'))
            memory.seek(start)
            with open(name[0], 'rb') as f:
                was = f.read(end - start)
                assert memory.read(end - start)[:len(was)] == was, line


def loading(*libraries):
    """Those are there from the beginning."""
    return obeying(visiting.Program('env', 'LD_PRELOAD=' + ':'.join(libraries), f'{PROGRAMS}/e2e-visited_late'))


@test
def a_library_that_a_child_loads_is_observed_though_nobody_visits_it():
    path = f'{DIR}/late-child.dwell'
    with loading('libm.so.6') as p:
        with attached(p.pid, path, *FPE):
            p.tell('fork')
            child = int(text_of(p.pid, f'task/{p.pid}/children'))
            assert p.tell(f'load {LATE} all') == '6 caught, 0 wrong\n'
        check_as_linked(p.pid)
        check_as_linked(child)
    assert totals(path) == {'exceptions': 12, 'divide-by-zero': 12}, totals(path)


@test
def a_library_that_is_loaded_later_is_observed_from_its_first_instruction():
    path = f'{DIR}/late.dwell'
    with loading('libm.so.6') as p:
        with attached(p.pid, path, *FPE):
            assert p.tell(f'load {LATE} all') == '6 caught, 0 wrong\n'
            assert p.tell('all') == '12 caught, 0 wrong\n'
        check_as_linked(p.pid)
        assert p.tell('block') == p.tell('hold') == '12 caught, 0 wrong\n'
    assert totals(path) == {'exceptions': 22, 'divide-by-zero': 22}, totals(path)


@test
def a_library_that_is_loaded_when_dwell_was_killed_is_in_nobodys_way():
    with loading('libm.so.6') as p:
        with harness.beside(harness.DWELL, 'attach', *FPE, '-p', str(p.pid), '-o', f'{DIR}/dead.dwell',
                            stderr=subprocess.DEVNULL) as d:
            wait_until(lambda: is_traced_by(p.pid, d.pid), 'it does not begin')
            d.kill()
        assert p.tell(f'load {LATE} all') == '6 caught, 0 wrong\n'
        path = f'{DIR}/alive.dwell'
        with attached(p.pid, path, *FPE):
            assert p.tell('all') == '12 caught, 0 wrong\n'
        check_as_linked(p.pid)
    assert totals(path) == {'exceptions': 10, 'divide-by-zero': 10}, totals(path)


@test
def the_library_of_mathematics_may_come_later_itself():
    path = f'{DIR}/libm.dwell'
    with loading() as p:
        with attached(p.pid, path, *FPE) as d:
            d.send_signal(signal.SIGSTOP)
            assert p.tell(f'load {LATE} block') == '0 caught, 0 wrong\n'
            was = n_led(p.pid)
            d.send_signal(signal.SIGCONT)
            wait_until(lambda: n_led(p.pid) >= was + 4, 'its calls are not led')
            wait_until(lambda: is_free(p.pid), 'it does not go on')
            assert p.tell('catch') == '2 caught, 0 wrong\n'
            p.tell('hold')
            assert p.tell('seek') == '4 caught, 0 wrong\n'
        check_as_linked(p.pid)
    assert totals(path) == {'exceptions': 10, 'divide-by-zero': 10}, totals(path)


PYTHON = '/usr/bin/python3'
NUMPY = """
import sys
import zlib
def compute(n):
    import numpy as np
    a = np.arange(-500, 500, dtype=float)
    for _ in range(n):
        with np.errstate(all='ignore'):
            yield 1 / a, np.sqrt(a)
print('ready', flush=True)
for line in sys.stdin:
    print(zlib.crc32(b''.join(x.tobytes() + y.tobytes() for x, y in compute(int(line)))), flush=True)
"""


def computing():
    if subprocess.run([PYTHON, '-c', 'import numpy'], capture_output=True, check=False).returncode:
        raise Skip('no numpy here')
    return obeying(visiting.Program(PYTHON, '-c', NUMPY))


@test
def numpy_that_is_loaded_later_computes_what_it_always_does():
    path = f'{DIR}/numpy-late.dwell'
    with computing() as p:
        want = p.tell('20')
    with computing() as p:
        with attached(p.pid, path, *FPE):
            assert p.tell('20') == want
        check_as_linked(p.pid)
        assert p.tell('20') == want
    rows = {r['name']: r['divide-by-zero'] for r in fpe(path)['rows']}
    assert rows.get('DOUBLE_divide') == 20 or 20 in rows.values(), rows


@test
def numpy_computes_what_it_always_does():
    counts = []
    with computing() as p:
        want = p.tell('20')
        for n in 20, 40:
            path = f'{DIR}/numpy{n}.dwell'
            with attached(p.pid, path, *FPE):
                said = p.tell(str(n))
            assert n != 20 or said == want, (said, want)
            check_left(p.pid)
            counts.append(totals(path))
        assert p.tell('20') == want
    # A division by zero and 500 roots of negative numbers, by vectors, each time.
    assert counts[0]['divide-by-zero'] == 20 and counts[0]['invalid'] >= 20 * 62, counts
    assert {k: 2 * v for k, v in counts[0].items()} == counts[1], counts


if __name__ == '__main__':
    if visiting.why_not():
        sys.exit(harness.skip_all(visiting.why_not()))
    sys.exit(run_all(harness.TESTS, words=sys.argv[3:]))
