#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The program is never changed: output, errors, exit code and what it sees of itself are
those it has alone, bit by bit, for every program below in every way of recording it, as
root and as an ordinary user to whom the kernel gives nothing.
usage: untouched.py DWELL WORKLOAD_DIR PROGRAM_DIR WORKLOAD_SOURCES [WORD...]
WORD: only the rows whose name contains it"""
import atexit
import collections
import functools
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile

import harness
from harness import DIR, IS_ROOT, Skip, run_all, skip_all

DWELL, WORKLOADS, PROGRAMS, SOURCES = (harness.DWELL,
                                       *(os.path.abspath(p) for p in sys.argv[2:5]))
PARANOID = '/proc/sys/kernel/perf_event_paranoid'
NOBODY = 65534

Way = collections.namedtuple('Way', 'user experiment source')
Row = collections.namedtuple('Row', 'name command ways data also', defaults=('all', b'', None))


def cpu(way):
    return way.experiment in ('usertime', 'heap', 'fpe', 'sync') or way == Way(way.user, 'io', 'tracer')


def perf(way):
    return way.source == 'perf'


# What a library inside the program leaves to see, and docs/transparency.md says so.
def documented(output):
    output = re.sub(rb'^DWELL_(SAMPLER|TRACER)=.*\n', b'', output, flags=re.M)
    output = re.sub(rb'^ASAN_OPTIONS=verify_asan_link_order=0:\n', b'', output, flags=re.M)
    output = re.sub(rb'^(LD_PRELOAD=)[^:\n]*libdwell-(?:marks|sampler|tracer)\.so:?', rb'\1', output, flags=re.M)
    return re.sub(rb'^LD_PRELOAD=\n', b'', output, flags=re.M)


# Who reads the control register finds exceptions unmasked; the flags are as ever.
def without_masks(output):
    return re.sub(rb'mxcsr (\w+)', lambda m: b'mxcsr %x' % (int(m[1], 16) | 0x1f80), output)


# name, command, ways ('all', 'cpu' for the default experiment, 'inside': by a library as the
# child of a shell, as nothing can be loaded into the program itself), input, filter
ROWS = [
    Row('an exit code', "sh -c 'echo out; echo err >&2; exit 3'"),
    Row('a filter', 'sort -r', data=b'b\na\nc\n' * 1000),
    Row('a pipeline', "sh -c 'seq 1 20000 | sort -rn | md5sum; exit 4'"),
    Row('an error', 'cat /no/such/file'),
    Row('another user', f"sh -c 'setpriv --reuid={NOBODY} --regid={NOBODY} --clear-groups -- sh -c \"echo out; exit 3\"; echo $?'"),
    Row('a broken pipe', "bash -c 'yes | head -2; echo ${{PIPESTATUS[*]}}'"),
    Row('a program that is not there', "sh -c './nothing; echo $?'"),
    Row('its situation', '{programs}/e2e-self "a b"', also=documented),
    Row('its situation without descriptors', "sh -c 'exec {programs}/e2e-self 3>&1 >&3 <&- 2>&-'",
        also=documented),
    Row('its situation with an empty environment', "env -i {programs}/e2e-self"),
    Row('its environment', 'env', also=documented),
    Row('its files in memory', '{victim} maps dwell-'),
    Row('its limits', '{victim} limits'),
    Row('die of 9', '{victim} die 9'),
    Row('die of 11', '{victim} die 11', 'cpu'),
    Row('die of 6', '{victim} die 6', 'cpu'),
    Row('die of 15', '{victim} die 15', 'cpu'),
    Row('die of 10', '{victim} die 10', 'cpu'),
    Row('die in a shell', "sh -c 'kill -SEGV $$'", 'cpu'),
    Row('a stack overflow', '{victim} overflow', 'cpu'),
    Row('a stack overflow that is caught', '{victim} caught-overflow'),
    Row('waits that its signals interrupt', '{victim} interrupted'),
    Row('waits that nothing interrupts', '{victim} uninterrupted'),
    Row('timers of its own', '{victim} timers'),
    Row('all signals blocked', '{victim} block'),
    Row('signals taken by sigwait and signalfd', '{victim} take'),
    Row('an alternate stack for two frames', '{victim} alternate 1024'),
    Row('an alternate stack with some room', '{victim} alternate 8192'),
    Row('writes on an alternate stack', '{victim} alternate-write 1500'),
    Row('children', '{victim} children'),
    Row('a loop that reaps', '{victim} reap 100'),
    Row('spawned programs', '{victim} spawns'),
    Row('sessions and groups', '{victim} sessions'),
    Row('threads that fork and exec', '{victim} threads'),
    Row('a tracer of its child', '{victim} trace'),
    Row('small stacks of threads', '{victim} small-stacks'),
    Row('small stacks of threads without tables', '{victim}-untabled small-stacks', 'cpu'),
    Row('coroutines on 8 KB without tables', '{victim}-untabled coroutines 8192', 'cpu'),
    Row('coroutines on 16 KB', '{victim} coroutines 16384'),
    Row('coroutines on 8 KB', '{victim} coroutines 8192'),
    Row('a deleted directory', '{victim} directory'),
    Row('closed descriptors', '{victim} descriptors'),
    Row('a limit of memory', '{victim} out-of-memory 300'),
    Row('few descriptors', "sh -c 'ulimit -n 16; exec {victim} limits'"),
    Row('four descriptors', "sh -c 'ulimit -n 4; exec {victim} limits'"),
    Row('no files', "sh -c 'ulimit -f 0; exec {victim} limits'"),
    Row('little address space', "sh -c 'ulimit -v 20000; exec {victim} children'"),
    Row('no locked memory', "sh -c 'ulimit -l 0; exec {victim} children'"),
    Row('no queued signals', "sh -c 'ulimit -i 0; exec {victim} children'"),
    Row('a small stack', "sh -c 'ulimit -s 256; exec {victim} threads'"),
    Row('a second of CPU time', "bash -c 'ulimit -t 1; while :; do :; done'", 'cpu'),
    Row('strict seccomp', '{victim} seccomp-strict'),
    Row('a seccomp filter by prctl', '{victim} seccomp-filter prctl'),
    Row('a seccomp filter by its own call', '{victim} seccomp-filter syscall'),
    Row('a seccomp filter that is inherited', '{victim} seccomp-inherited'),
    Row('a program that filters itself', 'file /bin/true'),
    Row('what a C library says of threads and signals', '{programs}/e2e-behaviour', 'cpu'),
    Row('a static program', '{victim}-static children', 'inside'),
    Row('a static program that can be anywhere', '{victim}-static-pie spawns', 'inside'),
    Row('a bare program of 32 bits', '{programs}/e2e-victim32', 'inside'),
    Row('a program of 32 bits', '{victim}-32 children', 'inside'),
    Row('another C library', '{victim}-musl children'),
    Row('threads of another C library', '{victim}-musl threads'),
    Row('signals of another C library', '{victim}-musl interrupted'),
    Row('timers of another C library', '{victim}-musl timers'),
    Row('a Go program', '{programs}/e2e-goroutines', 'inside'),
    Row('the address sanitizer', '{victim}-asan children'),
    Row('threads with the address sanitizer', '{victim}-asan threads'),
    Row('the thread sanitizer', '{victim}-tsan spawns', 'cpu'),
    Row('another preloaded allocator', 'env LD_PRELOAD=libjemalloc.so.2 {victim} threads'),
    Row('another preloaded library', 'env LD_PRELOAD=libm.so.6 {victim} spawns'),
    Row('a set-user-id program', 'su --version', 'inside'),
    Row('set-user-id programs', "sh -c 'su --help; passwd --help; echo $?'"),
    Row('a set-user-id program of its own', './self-suid', 'inside', also=documented),
    Row('2,000 forks', '{programs}/e2e-storm forks 2000', 'cpu'),
    Row('100 forks', '{programs}/e2e-storm forks 100'),
    Row('1,000 threads', '{programs}/e2e-storm threads 1000', 'cpu'),
    Row('50 threads', '{programs}/e2e-storm threads 50'),
    Row('a program under strace', 'strace -f -o /dev/null {victim} children'),
    Row('a program under gdb', "sh -c \"gdb -nx -batch -ex run --args {victim} die 11 2>&1 | "
        "grep -oE 'received.*|in raise'\"", 'cpu'),
    Row('job control', "bash -mc 'sleep 0.3 & kill -STOP %1; sleep 0.1; jobs; kill -CONT %1;"
        " wait; echo $?'", 'cpu'),
    Row('a stop and a continuation', "sh -c '(sleep 0.2; kill -CONT $$) & kill -STOP $$; echo on'",
        'cpu'),
    Row('a time limit from outside', 'timeout -s INT 0.2 sleep 5', 'cpu'),
    Row('programs that change what they are', 'nice -n 3 setsid -w {victim} limits'),
    Row('a shell script of many processes', 'bash {sources}/forky.sh 20', 'cpu'),
    Row('make', "sh -c 'printf \"all: a b\\na b:\\n\\t@echo $@; exit 1\\n\" >Makefile; make -k'",
        'cpu'),
    Row('a compiler', "sh -c 'gcc -O2 -c -o /dev/null {sources}/interp.c; echo $?'", 'cpu'),
    Row('python', 'python3 {sources}/py.py 5', 'cpu'),
    Row('node', 'node {sources}/n.js 20', 'cpu'),
    Row('java', 'java -Xshare:auto -cp classes J 20', 'cpu'),
    Row('perl', "perl -e '$SIG{{ALRM}} = sub {{ print \"alarm\\n\" }}; alarm 1; select undef, undef,"
        " undef, 3; print \"$!\\n\"'", 'cpu'),
    Row('cpu', '{workloads}/cpu 1'),
    Row('rec', '{workloads}/rec 3'),
    Row('fib', '{workloads}/fib 20'),
    Row('mt', '{workloads}/mt 30'),
    Row('heap', '{workloads}/heap 300000'),
    Row('interp', '{workloads}/interp 20000'),
    Row('fp', '{workloads}/fp 300000', 'cpu'),
    # What it measured of time is on its standard error.
    Row('fpetest', "sh -c '{workloads}/fpetest 2>/dev/null; echo $?'", 'cpu',
        also=without_masks),
    Row('io', '{workloads}/io 20000', 'cpu'),
    Row('lk', '{workloads}/lk 1000000', 'cpu'),
    Row('churn', '{workloads}/churn 40000', 'cpu'),
    Row('cxx', '{workloads}/cxx', 'cpu'),
    Row('nq', '{workloads}/nq 6', 'cpu'),
]


def as_user(user, command):
    if user == 'root' or not IS_ROOT:
        return command
    return ['setpriv', f'--reuid={NOBODY}', f'--regid={NOBODY}', '--clear-groups', '--',
            *command]


def run(user, command, cwd, data):
    p = subprocess.run(as_user(user, command), input=data, capture_output=True, timeout=120,
                       cwd=cwd)
    code = p.returncode if p.returncode >= 0 else 128 - p.returncode
    return code, p.stdout, p.stderr


def is_available(way, path):
    code, _, _ = run(way.user, [DWELL, 'run', '-n', '-e', way.experiment, '--source',
                                way.source, '--', 'true'], path, b'')
    return code == 0


def find_ways(path):
    me = 'root' if IS_ROOT else 'user'
    users = [(me, 'perf'), (me, 'timer')]
    if IS_ROOT and shutil.which('setpriv'):
        users.append(('user', 'timer'))
    ways = [Way(user, experiment, source) for user, source in users
            for experiment in ('usertime', 'pcsamp', 'totaltime', 'faults')]
    ways += [Way(user, experiment, 'tracer') for user in sorted({user for user, _ in users})
             for experiment in ('heap', 'fpe', 'sync', 'io')]
    ways += [Way(me, 'io', 'io'), Way(me, 'sync', 'futex')]
    return [w for w in ways if is_available(w, path)]


def ways_of(row, ways):
    return [w for w in ways if row.ways in ('all', 'inside') or cpu(w)]


def words(row, way):
    command = shlex.split(row.command.format(
        programs=PROGRAMS, victim=os.path.join(PROGRAMS, 'e2e-victim'), workloads=WORKLOADS,
        sources=SOURCES))
    if row.ways == 'inside' and way.source != 'perf':
        return ['sh', '-c', '"$@"; exit $?', 'sh', *command]
    return command


def difference(row, way, want, got):
    names = 'exit code', 'output', 'errors'
    for name, a, b in zip(names, want, got):
        if a == b:
            continue
        if isinstance(a, bytes):
            a, b = (x.decode(errors='replace').splitlines() for x in (a, b))
            a, b = [x for x in a if x not in b][:5], [x for x in b if x not in a][:5]
        yield f'{" ".join(way)}: {name} {a} is {b}'


def check(row, ways):
    path = tempfile.mkdtemp(dir=DIR)
    os.chmod(path, 0o777)
    for name in ('classes', 'self-suid'):
        if os.path.exists(os.path.join(DIR, name)):
            os.symlink(os.path.join(DIR, name), os.path.join(path, name))
    program = words(row, ways[0])[0]
    if not shutil.which(os.path.join(path, program) if '/' in program else program):
        raise Skip(f'no {os.path.basename(program)} here')
    alone, found = {}, []
    for way in ways_of(row, ways):
        command = words(row, way)
        key = way.user, tuple(command)
        if key not in alone:
            alone[key] = run(way.user, command, path, row.data)
        interval = [] if way.experiment in ('faults', 'fpe', 'heap', 'io', 'sync') else ['-i', '1ms']
        seen = run(way.user, [DWELL, 'run', '-q', '-e', way.experiment, '--source', way.source,
                              *interval, '-o', 'x.dwell', '--', *command], path, row.data)
        want = alone[key]
        if row.also:
            want, seen = ((c, row.also(o), row.also(e)) for c, o, e in (want, seen))
        found += difference(row, way, want, seen)
        # Not 'report': a thousand times the same symbols are most of the time that all takes.
        code, _, errors = run(way.user, [DWELL, 'cat', 'x.dwell'], path, b'')
        if code:
            found.append(f'{" ".join(way)}: not readable: {errors.decode()}')
        if os.path.exists(os.path.join(path, 'x.dwell')):
            os.unlink(os.path.join(path, 'x.dwell'))
    if found:
        raise AssertionError('\n'.join(found))


def public_copies():
    """Where an ordinary user may run them, as build directories are often private."""
    global DWELL, WORKLOADS, PROGRAMS, SOURCES
    os.chmod(DIR, 0o755)
    for name in ('workloads', 'programs', 'sources'):
        os.mkdir(os.path.join(DIR, name))
    for source, to in ((WORKLOADS, 'workloads'), (PROGRAMS, 'programs'), (SOURCES, 'sources')):
        for name in os.listdir(source):
            path = os.path.join(source, name)
            if os.path.isfile(path):
                shutil.copy(path, os.path.join(DIR, to))
    shutil.copy(DWELL, DIR)
    DWELL, WORKLOADS, PROGRAMS, SOURCES = (os.path.join(DIR, n) for n in (
        'dwell', 'workloads', 'programs', 'sources'))
    if IS_ROOT:
        shutil.copy(os.path.join(PROGRAMS, 'e2e-self'), os.path.join(DIR, 'self-suid'))
        os.chmod(os.path.join(DIR, 'self-suid'), 0o4755)
    if shutil.which('javac'):
        subprocess.run(['javac', '-d', os.path.join(DIR, 'classes'),
                        os.path.join(SOURCES, 'J.java')], timeout=120)


def set_paranoid(value):
    with open(PARANOID, 'w', encoding='ascii') as f:
        f.write(value)


def forbid_perf():
    """As stock Debian does to ordinary users, until this program ends or is told to."""
    if not IS_ROOT:
        return
    with open(PARANOID, encoding='ascii') as f:
        before = f.read()
    if int(before) >= 3:
        return

    def give_up(*unused):
        set_paranoid(before)
        os._exit(1)  # without waiting for what runs

    atexit.register(set_paranoid, before)
    signal.signal(signal.SIGTERM, give_up)
    set_paranoid('3')


def main():
    public_copies()
    forbid_perf()
    ways = find_ways(DIR)
    if not ways:
        return skip_all('nothing can be recorded here')
    print('# ways: ' + ', '.join(' '.join(w) for w in ways))
    return run_all([(row.name, functools.partial(check, row, ways)) for row in ROWS],
                   os.cpu_count(), sys.argv[5:])


if __name__ == '__main__':
    sys.exit(main())
