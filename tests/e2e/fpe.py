#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Floating-point exceptions: every one counted, as the flags of the CPU tell them, while
programs compute what they always do and keep their signals, masks and flags.
usage: fpe.py DWELL WORKLOAD_DIR PROGRAM_DIR [WORD...]"""
import json
import os
import re
import subprocess
import sys

import harness
from harness import DIR, Skip, dwell, need, report, run_all, skip_all, test

WORKLOADS, PROGRAMS = (os.path.abspath(p) for p in sys.argv[2:4])
RAISED = os.path.join(PROGRAMS, 'e2e-fpe_raised')
PROGRAM = os.path.join(PROGRAMS, 'e2e-fpe_program')
TYPES = ('exceptions', 'invalid', 'denormal', 'divide-by-zero', 'overflow', 'underflow', 'inexact')


def native(*command, **more):
    return subprocess.run(command, capture_output=True, timeout=300, **more)


def record(name, types, *command, run=(), **more):
    path = os.path.join(DIR, f'{name}.dwell')
    p = dwell('run', '-q', *run, '-e', f'fpe:{types}' if types else 'fpe', '-o', path, '--', *command,
              text=False, timeout=300, **more)
    return path, p


def fpe(path, *args):
    p = dwell('fpe', '--json', *args, path)
    assert p.returncode == 0, p.stderr
    return json.loads(p.stdout)


def total(path, may_lose=''):
    r = fpe(path)
    for f in r['quality']['facts']:
        assert f['kind'] != 'loss' or not f['value'] or f['name'] == may_lose, f
    return {k: v for k, v in r['total'].items() if v}


def same(name, types, *command, **more):
    """Recorded, it says and returns what it does natively."""
    path, p = record(name, types, *command, **more)
    want = native(*command, **more)
    assert (p.returncode, p.stdout) == (want.returncode % 256 if want.returncode >= 0
                                        else 128 - want.returncode, want.stdout), (
        want.returncode, p.returncode, want.stdout[-800:], p.stdout[-800:], p.stderr[-800:])
    return path, p


def truth(*args):
    """By flags that are cleared before each instruction: all, and by type, of each unit."""
    out = native(RAISED, 'flags', *args).stdout.decode()
    return {unit: [int(n) for n in re.search(rf'{unit} (.*)', out)[1].split()]
            for unit in ('sse', 'x87')}


def counted(path):
    """The same of a recording; what prepares operands of the x87 unit is left out."""
    sums = {'sse': [0] * 7, 'x87': [0] * 7}
    for row in fpe(path)['rows']:
        unit = 'x87' if row['name'].startswith('x87') else 'sse'
        for i, name in enumerate(TYPES):
            sums[unit][i] += row[name] * (row['name'] != 'extend')
    return sums


@test
def what_a_compiler_has_made_has_its_names():
    """Of one that ends at once, and of one that makes more when it was looked at."""
    for n, ms in (1, 0), (8, 50):
        path, p = record('compiled', '', os.path.join(PROGRAMS, 'e2e-fpe_compiled'), str(n), str(ms))
        os.unlink(f'/tmp/perf-{int(p.stdout)}.map')
        got = {row['name']: row['divide-by-zero'] for row in fpe(path)['rows']}
        assert got == {f'compiled_{i}': 1 for i in range(n)}, got


@test
def every_exception_is_counted_as_the_flags_tell_it():
    want = truth()
    for args in (('flags',), ('1',)):
        path, _ = same('all', 'all', RAISED, *args)
        got = counted(path)
        assert got['sse'] == want['sse'], (args, got, want)
        # Of the x87 unit denormal operands and infinite results alone.
        assert [got['x87'][i] for i in (1, 2, 3, 4, 5, 6)] == [0, *want['x87'][2:4], 0, 0, 0], (
            args, got, want)


@test
def single_events_are_those_that_were_counted():
    path, p = record('events', 'all+x87', RAISED, '2', 'wait', run=('--trace',))
    assert p.returncode == native(RAISED, '2', 'wait').returncode, p.stderr
    lines = dwell('cat', '--section', 'traces', path).stdout.splitlines()
    rows = [dict(word.split('=', 1) for word in line.split()[1:]) for line in lines]
    want = total(path)
    assert len(rows) == want['exceptions'], (len(rows), want)
    for name in TYPES[1:]:
        n = sum(name in row['types'].strip('"').split('+') for row in rows)
        assert n == want.get(name, 0), (name, n, want)
    # One thread: as its clock went.
    times = [int(row['time_ns']) for row in rows]
    assert times == sorted(times) and len({row['thread'] for row in rows}) == 1
    # Without being asked none is kept.
    path, _ = record('none', 'all', RAISED, '1')
    assert not dwell('cat', '--section', 'traces', path).stdout


@test
def the_x87_units_are_counted_too_when_they_are_asked_for():
    want = truth('wait')
    for args in (('flags', 'wait'), ('1', 'wait')):
        path, _ = same('x87', 'all+x87', RAISED, *args)
        got = counted(path)
        assert got['sse'] == want['sse'], (args, got, want)
        assert got['x87'][:4] == want['x87'][:4], (args, got, want)


@test
def without_being_asked_rounding_and_denormal_operands_are_no_exceptions():
    want = truth()['sse']
    path, _ = same('usual', '', RAISED, '1')
    got = counted(path)['sse']
    assert got[1:] == [want[1], 0, want[3], want[4], want[5], 0], (got, want)


@test
def only_the_types_that_are_asked_for_are_observed():
    want = truth()['sse']
    path, _ = same('some', 'overflow+divide-by-zero', RAISED, '3')
    got = total(path)
    assert got['overflow'] > 3 * want[4] - 1, (got, want)
    assert set(got) == {'exceptions', 'overflow', 'divide-by-zero'}, got
    p = dwell('run', '-e', 'fpe:overflow+all+nonsense', '--', 'true')
    assert p.returncode == 2 and "no exception 'nonsense'" in p.stderr, p.stderr


def check_program(what, **types):
    path, p = same(what, '', PROGRAM, what)
    raised = re.search(rb'raised (\d+)', p.stdout)
    got = total(path)
    if raised:
        assert got['exceptions'] == int(raised[1]), (got, raised)
    for name, n in types.items():
        assert got.get(name.replace('_', '-')) == n, (got, types)
    return path


@test
def a_program_sees_the_masks_and_flags_that_it_set():
    check_program('environment', divide_by_zero=3, invalid=2, underflow=1)


@test
def exceptions_that_a_program_enabled_are_its_own_and_counted():
    check_program('enabled', divide_by_zero=3, invalid=1)
    check_program('deadly', divide_by_zero=1)


@test
def divisions_of_integers_end_a_program_or_are_handled_by_it():
    check_program('divide', integer_divide=1)
    check_program('caught', integer_divide=3, divide_by_zero=3)
    check_program('skipped', integer_divide=5)


@test
def exceptions_in_handlers_of_signals_are_seen():
    check_program('handlers', divide_by_zero=2000)


def check_interrupted(what):
    path, p = record(what, '', PROGRAM, what, '2000')
    assert p.returncode == 0, p.stderr
    want = int(re.search(rb'raised (\d+)', p.stderr)[1])
    # The stack of a signal that comes within what makes an instruction again ends there.
    got = total(path, 'truncated-stacks')
    assert got == {'exceptions': want, 'divide-by-zero': want}, (got, want)


@test
def a_signal_may_come_at_any_moment():
    check_interrupted('interrupted')


@test
def a_signal_may_come_while_a_program_looks_at_its_masks():
    check_interrupted('shown')


@test
def where_instructions_cannot_be_copied_each_takes_a_step():
    check_interrupted('stepped')


@test
def what_a_program_asks_for_may_be_left_or_masked_by_its_handler():
    check_program('asked_and_left', divide_by_zero=2)
    check_program('asked_and_masked', divide_by_zero=2)


@test
def a_breakpoint_that_nobody_handles_ends_a_program():
    check_program('breakpoint')


@test
def flags_of_before_do_not_signal_what_a_program_enabled_later():
    check_program('inherited', divide_by_zero=2, invalid=3)


@test
def the_x87_unit_divides_by_what_was_there():
    check_program('changed', divide_by_zero=2)


@test
def flags_that_are_loaded_into_the_x87_unit_are_no_instructions():
    path, _ = same('loaded', 'denormal', PROGRAM, 'loaded')
    assert total(path) == {'exceptions': 1, 'denormal': 1}, total(path)


@test
def a_program_may_block_the_signal_in_old_ways():
    check_program('held', divide_by_zero=4000)
    check_program('made_blocked', divide_by_zero=1000)


@test
def what_is_found_wrong_after_a_fork_is_the_parents():
    check_program('forked_between', divide_by_zero=2, underflow=999)


@test
def a_program_that_restricts_itself_still_sees_what_it_enabled():
    same('restricted', '', PROGRAM, 'restricted')


@test
def threads_that_come_and_go_are_observed():
    path = check_program('threads', divide_by_zero=100000)
    rows = fpe(path, '--by', 'thread')['rows']
    assert len(rows) == 100 and all(row['exceptions'] == 1000 for row in rows), rows[:3]


@test
def a_program_may_block_ignore_and_send_the_signal():
    check_program('blocked', divide_by_zero=2000)
    check_program('sent', divide_by_zero=2000)


@test
def the_child_of_a_fork_is_observed():
    path = check_program('forked', divide_by_zero=3000)
    rows = fpe(path, '--by', 'process')['rows']
    assert sorted(row['exceptions'] for row in rows) == [1000, 2000], rows


@test
def rounding_and_flushing_that_a_program_sets_by_itself_stay():
    check_program('registers', divide_by_zero=2)


@test
def a_program_without_exceptions_has_none():
    path = check_program('nothing')
    assert 'No exception was raised' in dwell('fpe', path).stdout


@test
def exceptions_are_where_they_were_raised():
    path, _ = record('places', '', os.path.join(WORKLOADS, 'fpetest'), '5000')
    rows = {row['name']: row for row in fpe(path)['rows']}
    assert rows['time_divisions']['divide-by-zero'] == 5000, rows
    assert rows['thread']['divide-by-zero'] == 100, rows
    line = max(fpe(path, '--by', 'line')['rows'], key=lambda r: r['exceptions'])
    assert line['exceptions'] == 5000 and line['function']['name'] == 'time_divisions', line
    place = max(fpe(path, '--by', 'instruction')['rows'], key=lambda r: r['exceptions'])
    assert place['exceptions'] == 5000 and place['line'] == line['line'], place
    stack = max(fpe(path, '--by', 'stack')['rows'], key=lambda r: r['exceptions'])
    assert re.match('time_divisions.*main', stack['name']), stack
    types = {row['name']: row['exceptions'] for row in fpe(path, '--by', 'type')['rows']}
    assert types['divide-by-zero'] > 5100 and types['overflow'] >= 2, types
    shown = {r['name']: r['exclusive'].get('divide-by-zero') for r in report(path)['rows']}
    assert shown['time_divisions'] == 5000, shown
    assert 'divs' in dwell('report', '--by', 'instruction', '--event', 'divide-by-zero', path).stdout


def check_real(name, command, least=1, types='', **more):
    """It computes what it always does, and raises something on the way."""
    need(command[0])
    path, _ = same(name, types, *command, **more)
    assert total(path).get('exceptions', 0) >= least, total(path)


@test
def interpreters_compute_what_they_always_do():
    check_real('awk', ('awk', 'BEGIN { for (i = 1; i < 3000; i++) { x = exp(-i); y = log(i) * x; '
                       's += y / (i % 7 + 1) } printf "%.17g %.17g\\n", s, 2 ^ 1024 }'), 1000)
    check_real('python', (sys.executable, '-c', 'import math\nx = 1.0\nfor i in range(3000):\n'
                          ' x = x * 0.7 + 1e-310\n'
                          'print(repr(x), repr(1e308 * 10), math.exp(-745.1), repr(5e-324 * 0.3))'))


@test
def handlers_do_not_return_by_the_kernel():
    need('strace')
    path, log = os.path.join(DIR, 'way.dwell'), os.path.join(DIR, 'way.strace')
    p = native('strace', '-f', '-o', log, '-e', 'trace=rt_sigreturn', '-e', 'signal=FPE', harness.DWELL, 'run', '-q', '-e', 'fpe',
               '-o', path, '--', os.path.join(WORKLOADS, 'fpetest'), '500')
    assert p.returncode == 0, p.stderr
    with open(log, encoding='ascii') as f:
        lines = f.readlines()
    got = {what: sum(what in line for line in lines) for what in ('--- SIGFPE', 'rt_sigreturn')}
    # Steps where there is no copy go that way, and handlers of the program's.
    assert got['--- SIGFPE'] >= 600 and got['rt_sigreturn'] <= 60, got
    assert total(path)['divide-by-zero'] >= 600


@test
def numpy_computes_what_it_always_does_and_warns_of_it():
    code = """
import hashlib, warnings
import numpy as np
a = np.arange(-500, 500, dtype=float)
with np.errstate(all='ignore'):
    for x in (1 / a, np.log(a), np.exp(a * 5), np.sqrt(a), (a * 1e300).astype(np.float32),
              np.exp(a).astype(np.int32), np.linalg.svd(np.sin(a).reshape(20, 50))[1]):
        print(hashlib.md5(x.tobytes()).hexdigest())
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter('always')
    np.array([1.0]) / np.array([0.0]), np.log(np.array([-1.0])), np.array([1e308]) * 10
    print([str(x.message) for x in seen])
"""
    if native('/usr/bin/python3', '-c', 'import numpy').returncode:
        raise Skip('no numpy here')
    check_real('numpy', ('/usr/bin/python3', '-c', code), 1000)


@test
def octave_computes_what_it_always_does():
    check_real('octave', ('octave-cli', '-q', '--eval',
                          'a = magic(6) - 17; s = sum(exp(-(1:800))); printf("%.17g ", 1 ./ a, '
                          'real(log(a)), inv(magic(4)), s, 0/0, gamma(171:0.5:173), '
                          'besselj(0, 1:10))'), 50)


@test
def a_Fortran_program_sees_its_flags():
    need('gfortran')
    source, program = (os.path.join(DIR, name) for name in ('flags.f90', 'flags'))
    with open(source, 'w', encoding='ascii') as f:
        f.write("""program flags
  use, intrinsic :: ieee_arithmetic
  use, intrinsic :: ieee_exceptions
  real(8) :: x = 0, y
  real(10) :: z = 1
  logical :: flag
  y = 1 / x
  z = z / x
  call ieee_get_flag(ieee_divide_by_zero, flag)
  print *, y, z, flag
  call ieee_set_flag(ieee_divide_by_zero, .false.)
  call ieee_get_flag(ieee_divide_by_zero, flag)
  y = exp(-800d0 + x)
  print *, flag, y
  stop 3
end program
""")
    subprocess.run(['gfortran', '-O0', '-o', program, source], check=True)
    check_real('fortran', (program,), 3)
    want, got = native(program), record('fortran', '', program)[1]
    assert b'UNDERFLOW' in want.stderr and want.stderr == got.stderr, (want.stderr, got.stderr)


@test
def the_tests_of_a_BLAS_library_pass():
    folder = '/usr/lib/x86_64-linux-gnu/blas'
    for program in ('xblat1s', 'xblat1d', 'xblat1c', 'xblat1z'):
        check_real(program, (os.path.join(folder, program),), 100, 'all')


if harness.os.uname().machine != 'x86_64':
    sys.exit(skip_all('floating-point exceptions trap on x86-64 alone'))
sys.exit(run_all(harness.TESTS, words=sys.argv[4:]))
