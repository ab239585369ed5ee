#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The live view: as text, on a terminal, from a daemon.
usage: top.py DWELL WORKLOAD_DIR"""
import contextlib
import glob
import os
import re
import shutil
import signal
import subprocess
import sys
import time

import harness
from daemons import daemon
from harness import DIR, DWELL, IS_ROOT, TESTS, Skip, dwell, run_all, test
from terminal import Terminal

# Others may run the workload at the same time: ours has a name of its own.
NAME = f'cpu{os.getpid()}'
CPU = os.path.join(DIR, NAME)
DOWN, ESCAPE, ENTER, PAGE_DOWN, END = '\x1b[B', '\x1b', '\r', '\x1b[6~', '\x1b[F'
OWN = f'command == {NAME}'
os.environ['TMPDIR'] = DIR  # where recorders put their files


@contextlib.contextmanager
def workload():
    """Goes on until it is no longer needed."""
    child = subprocess.Popen([CPU, "1000000"], stdout=subprocess.DEVNULL)
    try:
        time.sleep(0.2)
        yield child
    finally:
        child.kill()
        child.wait()


@contextlib.contextmanager
def terminal(*options, columns=80, rows=24, **env):
    with Terminal([DWELL, 'top', *options], columns, rows, **env) as t:
        yield t


def may_watch_machine():
    p = dwell('top', '--batch', '-n', '1', '-d', '0.25', '--self')
    if p.returncode:
        raise Skip(p.stderr.strip())


def shares(text):
    """Self and inclusive percents by function, of the last table in a text."""
    rows = {}
    for line in text.split('──')[-1].splitlines():
        m = re.match(r'\s*((?:(?:[\d.<]+ %|–)\s+)+)(\S.*?)\s{2,}', line)
        if m:  # of a wide table the first number is the time of one CPU
            numbers = re.findall(r'[\d.]+|–', m[1])[-2:]
            rows[m[2]] = tuple(0 if x == '–' else float(x) for x in numbers)
    return rows


def shows_workload(t):
    return {'B', 'E'} <= set(shares(t.text()))


def leftovers():
    return glob.glob(os.path.join(DIR, 'dwell-live-*'))


def assert_nothing_remains():
    deadline = time.time() + 10
    while leftovers():
        assert time.time() < deadline, leftovers()
        time.sleep(0.1)


def check_split(rows):
    """Of 32 units E takes 10, and B 20 with what it calls."""
    assert abs(rows['E'][0] - 31.25) < 5, rows
    assert abs(rows['B'][1] - 62.5) < 5, rows
    assert rows['main'][1] > 95, rows


@test
def text_tells_what_a_workload_does():
    may_watch_machine()
    with workload():
        p = dwell('top', '--batch', '-n', '2', '-d', '2', '--self', '--filter', OWN)
    assert p.returncode == 0, p.stderr
    assert p.stdout.count('dwell top  ') == 2, p.stdout
    assert '\x1b' not in p.stdout
    check_split(shares(p.stdout))
    assert_nothing_remains()


@test
def a_process_of_ones_own_needs_no_bpf():
    with workload() as child:
        p = dwell('top', '--batch', '-n', '2', '-d', '1', '--pid', str(child.pid))
        if p.returncode and 'permi' in p.stderr:
            raise Skip(p.stderr.strip())
        assert p.returncode == 0, p.stderr
        assert f'process {child.pid}: ' in p.stdout, p.stdout
        check_split(shares(p.stdout))
    assert_nothing_remains()


@test
def where_bpf_is_refused_perf_does_it_and_it_says_so():
    if not IS_ROOT or not shutil.which('capsh'):
        raise Skip('needs root and capsh')
    with workload():
        os.chmod(DIR, 0o755)  # what has the names must be readable
        # Perf events may be used with this capability alone, BPF programs may not.
        p = subprocess.run(
            ['capsh', '--keep=1', '--user=nobody', '--inh=cap_perfmon', '--addamb=cap_perfmon',
             '--', '-c', f'{DWELL} top --batch -n 1 -d 2 --self --filter "{OWN}"'],
            capture_output=True, text=True, timeout=120, env={**os.environ, 'TMPDIR': '/tmp'})
    if p.returncode:
        raise Skip((p.stderr.strip() or 'capsh fails').splitlines()[-1])
    assert 'perf, not BPF: ' in p.stdout, p.stdout
    check_split(shares(p.stdout))


@test
def rows_may_be_processes():
    may_watch_machine()
    with workload() as child:
        p = dwell('top', '--batch', '-n', '1', '-d', '2', '--self', '--by', 'process',
                  '--filter', OWN)
    assert re.search(rf'100\.0 %  {NAME}  pid {child.pid}\n', p.stdout), p.stdout


@test
def it_ends_with_the_process_that_it_shows():
    with workload() as child:
        top = subprocess.Popen([DWELL, 'top', '--batch', '-d', '0.5', '-p', str(child.pid)],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(5):
            top.stdout.readline()
    out, err = top.communicate(timeout=60)
    if top.returncode and 'permi' in err:
        raise Skip(err.strip())
    assert top.returncode == 0 and 'ENDED' in out, out[-2000:] + err
    assert_nothing_remains()


@test
def a_reader_that_has_seen_enough_ends_it():
    may_watch_machine()
    top = subprocess.Popen([DWELL, 'top', '--self', '-d', '0.25'], stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE)
    assert top.stdout.readline().startswith(b'dwell top')
    top.stdout.close()
    assert top.wait(30) == 0, top.stderr.read()
    assert_nothing_remains()


@test
def a_recorder_ends_with_a_top_that_was_killed():
    may_watch_machine()
    top = subprocess.Popen([DWELL, 'top', '--batch', '--self', '-d', '0.25'],
                           stdout=subprocess.PIPE)
    top.stdout.readline()
    assert leftovers()
    top.kill()
    top.wait()
    assert_nothing_remains()


@test
def what_makes_no_sense_is_refused():
    for options, words in ((['--pid', 'x'], 'no process id'),
                           (['--pid', '4194303'], 'no process'),
                           (['--filter', 'funtion == x'], "did you mean 'function'"),
                           (['--daemon', '--socket', '/no/such'], 'no daemon at'),
                           (['--daemon', '--self'], 'of one\'s own'),
                           (['program'], 'too much')):
        p = dwell('top', '--batch', '-n', '1', *options)
        assert p.returncode and words in p.stderr and not p.stdout, (options, p.stderr)


@test
def the_screen_shows_the_workload_on_top():
    may_watch_machine()
    for columns, rows in ((60, 24), (80, 24), (160, 50)):
        with workload(), terminal('--self', '-d', '2', '--filter', OWN, columns=columns,
                                  rows=rows) as t:
            t.wait_for(shows_workload)
            t.pump(4)  # of a look by itself, once the unwind tables are loaded
            check_split(shares(t.text()))
            assert next(iter(shares(t.text()))) == 'E', t.text()
            assert t.lines()[-1].startswith('q quit'), t.text()
            assert ('Command' in t.text()) == (columns >= 80)
            t.keys('q')
            assert t.wait() == 0
            assert t.is_restored()


@test
def keys_lead_to_callers_code_and_back():
    may_watch_machine()
    with workload() as child, terminal('--self', '-d', '0.5', '--filter', OWN) as t:
        t.wait_for(shows_workload)
        t.keys(DOWN)
        assert re.search(r'% +E  ', t.selected()), t.text()
        t.keys('c')
        t.wait_for('Callers and callees of E in ')
        t.wait_for(lambda t: re.search(r'caller +C ', t.text()))
        t.keys('a')
        t.wait_for('Code of E in ')
        t.keys(ESCAPE)
        t.wait_for('Function')
        t.keys('p')
        t.wait_for(f'{NAME}  pid {child.pid}')
        t.keys(DOWN, ENTER)
        t.wait_for(f'only where ({OWN}) && pid == {child.pid}')
        t.wait_for(shows_workload)
        t.keys(ESCAPE)
        t.wait_for('by process')
        t.wait_for(lambda t: f'pid {child.pid}' in (t.selected() or ''))
        t.keys('h')
        t.wait_for('by function, image')
        t.resize(80, 12)
        t.wait_for(lambda t: 'by function, image' in t.text() and len(t.lines()) == 12)
        t.keys('j', 'j', END)
        t.wait_for('of the time of one CPU')
        t.resize(80, 24)
        t.keys(ESCAPE, 'f', 's')
        t.wait_for('↓Incl.')
        t.keys('q')
        assert t.wait() == 0 and t.is_restored()


@test
def a_filter_is_typed_and_mended():
    may_watch_machine()
    with workload(), terminal('--self', '-d', '0.5') as t:
        t.wait_for('Function')
        t.keys('/', *'funtion == E', ENTER)
        t.wait_for("did you mean 'function'")
        t.keys('/', *f'command == {NAME}x', '\x7f', ENTER)
        t.wait_for(f'only where {OWN}')
        t.wait_for(shows_workload)
        assert t.text().count(NAME) >= 3
        t.keys('/', '\x15', ENTER)
        t.wait_for(lambda t: 'only where' not in t.text())
        t.keys('/', ESCAPE, 'q')
        assert t.wait() == 0 and t.is_restored()


@test
def it_holds_still_while_it_is_told_to():
    may_watch_machine()
    with workload(), terminal('--self', '-d', '0.25') as t:
        t.wait_for('Function')
        t.keys(' ')
        t.wait_for('PAUSED')
        before = t.text()
        t.pump(1.5)
        assert t.text() == before
        t.keys(' ')
        t.wait_for(lambda t: 'PAUSED' not in t.text())
        t.keys('q')
        assert t.wait() == 0


@test
def another_size_is_filled():
    may_watch_machine()
    with workload(), terminal('--self', '-d', '0.5', columns=80, rows=24) as t:
        t.wait_for('Command')
        t.resize(60, 12)
        t.wait_for(lambda t: 'Function' in t.text() and t.lines()[-1].startswith('q quit'))
        assert 'Command' not in t.text()
        t.resize(160, 50)
        # How wide the table is depends on the names in it; only a wide screen has the CPU's.
        t.wait_for(lambda t: 'Command' in t.text() and t.lines()[-1].startswith('q quit') and
                   t.lines()[3].split()[:1] == ['CPU'])
        t.resize(20, 4)
        t.pump(1)
        t.keys('q')
        assert t.wait() == 0 and t.is_restored()


@test
def the_terminal_is_restored_whatever_ends_it():
    may_watch_machine()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGSEGV):
        with terminal('--self', '-d', '0.5') as t:
            t.wait_for('Function')
            assert t.is_other and not t.has_cursor
            t.signal(number)
            code = t.wait()
            assert code == (-number if number == signal.SIGSEGV else 0), code
            assert t.is_restored(), number
    assert_nothing_remains()


@test
def it_may_be_stopped_and_goes_on():
    may_watch_machine()
    # A shell, as who stops needs somebody who lets it go on.
    with Terminal(['/bin/bash', '--norc', '--noprofile', '-i'], PS1='ready> ') as t:
        t.wait_for(lambda t: 'ready> ' in t.before)
        t.keys(f'{DWELL} top --self -d 0.5\n')
        t.wait_for('Function')
        t.keys('\x1a')
        t.wait_for(lambda t: not t.is_other and 'Stopped' in t.before)
        assert t.has_cursor
        t.keys('echo one-$((1 + 1))\n')
        t.wait_for(lambda t: 'one-2' in t.before)
        t.keys('fg\n')
        t.wait_for(lambda t: t.is_other and 'Function' in t.text())
        t.keys('q')
        t.wait_for(lambda t: not t.is_other)
        t.keys('exit\n')
        assert t.wait() == 0


@test
def without_colour_nothing_is_bold():
    may_watch_machine()
    with terminal('--self', '-d', '0.25', NO_COLOR='1') as t:
        t.control = lambda *args: (
            Terminal.control(t, *args),
            [None for _ in [0] if args[2] == 'm' and args[1] not in ('', '0', '7') and 1 / 0])
        t.wait_for('Function')
        t.keys(DOWN)
        assert t.selected()
        t.keys('q')
        assert t.wait() == 0


def cpu_seconds(pid):
    with open(f'/proc/{pid}/stat', encoding='ascii') as f:
        fields = f.read().rsplit(')', 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')


@test
def a_daemon_is_asked_and_its_database_gets_all():
    may_watch_machine()
    with daemon() as d, workload() as child:
        time.sleep(1)
        begun = cpu_seconds(child.pid)
        p = dwell('top', '--batch', '-n', '4', '-d', '1', '--socket', d.socket, '--filter', OWN)
        assert p.returncode == 0, p.stderr
        assert not leftovers() and 'from the daemon' in dwell(
            'top', '--batch', '-n', '1', '-d', '0.25', '--width', '200', '--socket', d.socket,
            '--daemon').stdout
        check_split(shares(p.stdout))
        # The looks lie side by side: what they show is all that it did meanwhile.
        seconds = sum(float(m[1]) * float(m[2]) / 100 for m in re.finditer(
            r'the last ([\d.]+) s.*\nchosen ([\d.]+) %', p.stdout)) * os.cpu_count()
        used = cpu_seconds(child.pid) - begun
        assert 0.6 * used < seconds < 1.1 * used, (seconds, used)
        child.kill()
        used = cpu_seconds(child.pid)
        assert dwell('ctl', '--socket', d.socket, 'flush').returncode == 0
        r = harness.report(d.db, '--filter', OWN)
        lost = r['quality']['lost'] / 5200
        got = r['total']['cpu-time'] / 1e9
        assert abs(got - used) < 0.05 * used + lost + 0.1, (got, used, lost)


@test
def a_new_recording_of_the_daemon_is_followed():
    may_watch_machine()
    with daemon() as d, workload(), terminal('--socket', d.socket, '-d', '0.5', '--filter',
                                             OWN) as t:
        for _ in range(3):
            t.wait_for(shows_workload)
            assert dwell('ctl', '--socket', d.socket, 'flush').returncode == 0
            t.pump(1)
        t.wait_for(shows_workload)
        dwell('ctl', '--socket', d.socket, 'quit')
        t.wait_for('no daemon at')
        t.keys('q')
        assert t.wait() == 0 and t.is_restored()


def main():
    shutil.copy(os.path.join(sys.argv[2], 'cpu'), CPU)
    return run_all(TESTS, words=sys.argv[3:])


sys.exit(main())
