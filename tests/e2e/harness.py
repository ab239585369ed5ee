# SPDX-License-Identifier: Apache-2.0
"""What the end-to-end tests share: their results in the Test Anything Protocol, a directory
of their own, running dwell and reading what it reports.  A test file's first argument is
the path of dwell."""
import atexit
import concurrent.futures
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback

DWELL = os.path.abspath(sys.argv[1])
DIR = tempfile.mkdtemp(
    prefix=f'dwell-{os.path.splitext(os.path.basename(sys.argv[0]))[0]}-')
IS_ROOT = os.geteuid() == 0
TESTS = []
atexit.register(shutil.rmtree, DIR, ignore_errors=True)
# Whoever takes too long is told to end so: what is registered has to be cleared away.
signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))


class Skip(Exception):
    """Raised by a test that cannot run here, with the reason."""


def need(*programs):
    for program in programs:
        if not shutil.which(program):
            raise Skip(f'no {program} here')


def test(function):
    """Decorates a test, whose name is the sentence that it checks."""
    TESTS.append((function.__name__.replace('_', ' '), function))
    return function


def outcome(function):
    """The verdict, and what stands behind the test's name."""
    begin = time.time()
    try:
        function()
    except Skip as why:
        return 'ok', f' # SKIP {why}'
    except Exception as why:  # the test's own words, or its line where it has none
        *_, last = traceback.extract_tb(why.__traceback__)
        words = str(why) or f'{last.line} ({os.path.basename(last.filename)}:{last.lineno})'
        text = f'{type(why).__name__}: {words}'[:3000].replace('\n', '\n# ')
        return 'not ok', f'\n# {text}'
    return 'ok', f'\n# {time.time() - begin:.1f} s'


def outcomes(tests, jobs):
    functions = [function for _, function in tests]
    if jobs == 1:  # in the main thread, where signals may be handled
        yield from map(outcome, functions)
        return
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        yield from pool.map(outcome, functions)


def run_all(tests, jobs=1, words=()):
    """Runs (name, function) pairs, only those with one of the words in their names when
    there are words; the exit code."""
    tests = [t for t in tests if not words or any(w in t[0] for w in words)]
    print(f'1..{len(tests)}', flush=True)
    failed = 0
    for i, ((name, _), (verdict, text)) in enumerate(zip(tests, outcomes(tests, jobs)), 1):
        print(f'{verdict} {i} - {name}{text}', flush=True)
        failed += verdict != 'ok'
    return 1 if failed else 0


def skip_all(why):
    print(f'1..0 # SKIP {why}')
    return 0


def stolen_ns():
    """By the hypervisor, so far, of all CPUs.  Of the clocks that tests compare some go on
    meanwhile and others stop, and it is told late, so that it is another's time at times."""
    with open('/proc/stat', encoding='ascii') as f:
        return int(f.readline().split()[8]) * 1e9 / os.sysconf('SC_CLK_TCK')


def wait_until(is_so, why, seconds=60):
    """A machine that has other things to do may take long."""
    end = time.time() + seconds
    while not is_so():
        assert time.time() < end, why
        time.sleep(0.005)


def text_of(pid, name):
    """What the kernel tells of a process or a thread."""
    with open(f'/proc/{pid}/{name}', encoding='utf-8') as f:
        return f.read()


def is_asleep(pid):
    """Does its first thread, or this one, wait in the kernel for what may take for ever?"""
    return text_of(pid, 'stat').rsplit(')', 1)[1].split()[0] == 'S'


def sleeper(*command):
    """A process that does nothing but sleep, by now."""
    child = subprocess.Popen(command or ['sleep', '1000'])
    wait_until(lambda: is_asleep(child.pid), f'{command} does not sleep')
    return child


def dwell(*args, **more):
    return subprocess.run([DWELL, *args],
                          **{'capture_output': True, 'text': True, 'timeout': 120, **more})


def may_record(source, experiment='usertime'):
    return dwell('run', '-n', '-e', experiment, '--source', source, '--',
                 'true').returncode == 0


def why_no_bpf():
    """What forbids counting whole CPUs in the kernel here, or None."""
    if not IS_ROOT:
        return 'only root may load BPF programs'
    p = dwell('attach', '-a', '--source', 'system', '-d', '0.01', '-o', os.path.join(DIR, 'probe'))
    lines = p.stderr.strip().splitlines()
    if p.returncode == 0:
        return next((line for line in lines if 'is refused' in line), None)
    return lines[-1]


def report(path, *args, code=0):
    p = dwell('report', '--json', '--limit', '0', *args, path)
    assert p.returncode == code, (p.returncode, p.stderr)
    return json.loads(p.stdout)


@contextlib.contextmanager
def beside(*command, **more):
    """A process that ends with the block at the latest, also where an assertion fails: a recorder goes
    on as long as its program, which ends behind the block."""
    with subprocess.Popen(command, **more) as p:
        try:
            yield p
        finally:
            p.kill()


@contextlib.contextmanager
def starved(*tids, others=()):
    """Of its CPU each thread has a thirty thousandth part, until the block ends: some milliseconds in a minute and a half.
    Other threads, and who is begun in it, have the other CPUs: on that one they would have a hundredth part."""
    cpus = os.sched_getaffinity(0)
    for tid in (0, *others):
        os.sched_setaffinity(tid, cpus - {min(cpus)} or cpus)
    with beside(sys.executable, '-c', 'print("ready", flush=True)\nwhile True: pass', stdout=subprocess.PIPE, text=True) as hog:
        assert hog.stdout.readline() == 'ready\n'
        os.sched_setaffinity(hog.pid, {min(cpus)})
        os.setpriority(os.PRIO_PROCESS, hog.pid, -20)
        for tid in tids:
            os.sched_setaffinity(tid, {min(cpus)})
            os.sched_setscheduler(tid, os.SCHED_IDLE, os.sched_param(0))
        yield
        hog.kill()
        for tid in tids:
            with contextlib.suppress(ProcessLookupError):  # it has ended meanwhile
                os.sched_setscheduler(tid, os.SCHED_OTHER, os.sched_param(0))
                os.sched_setaffinity(tid, cpus)
        for tid in (0, *others):
            with contextlib.suppress(ProcessLookupError):
                os.sched_setaffinity(tid, cpus)


def run_in_steps(options, command, orders):
    """Records a program that prints a line before each of the orders of 'dwell ctl', and reads
    one before it goes on."""
    with subprocess.Popen([DWELL, 'run', '-q', *options, '--', *command],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as p:
        for order, *words in orders:
            assert p.stdout.readline(), 'it has ended'
            told = dwell('ctl', order, str(p.pid), *words)
            assert told.returncode == 0, told.stderr
            p.stdin.write('go\n')
            p.stdin.flush()
        p.communicate()
        assert p.returncode == 0, p.returncode


def samples_of(path, event):
    """As the recording has them: dictionaries of texts."""
    numbers = {line.split('name="')[1].split('"')[0]: line.split()[1]
               for line in dwell('cat', '--section', 'events', path).stdout.splitlines()}
    every = (dict(w.split('=') for w in line.split()[1:])
             for line in dwell('cat', '--section', 'samples', path).stdout.splitlines())
    return [x for x in every if x['event'] == numbers.get(event)]


def fact(r, name, kind='target'):
    """What a recording knows besides its samples."""
    return next((f['value'] for f in r['quality']['facts']
                 if f['name'] == name and f['kind'] == kind), None)


def total_of(r, name, column, event='cpu-time'):
    """What was measured in the functions of a name, or below them."""
    return sum(row[column].get(event, 0) for row in r['rows']
               if row['name'].split('@')[0] == name)
