#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The kernel's side of the sampler: whole machine, stacks walked in the kernel.  What it
says of programs is compared with a known truth, with the kernel's own accounts, and with
the stacks that the perf source walks at the same time.
usage: system.py DWELL WORKLOAD_DIR PROGRAM_DIR"""
import contextlib
import math
import os
import re
import shutil
import signal
import subprocess
import sys
import time

import harness
from harness import DIR, DWELL, TESTS, Skip, dwell, need, run_all, skip_all, test

WORKLOADS, PROGRAMS = (os.path.abspath(p) for p in sys.argv[2:4])
FILE = os.path.join(DIR, 'system.dwell')


def workload(name):
    return os.path.join(WORKLOADS, name)


@contextlib.contextmanager
def recording(*options, path=FILE, source='system'):
    """Everything that runs inside is recorded; ends when it is done."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)
    child = subprocess.Popen([DWELL, 'attach', '-a', '--source', source, '-o', path, *options],
                             stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    deadline = time.time() + 60
    while not (os.path.exists(path) and os.path.getsize(path) > 64):
        assert child.poll() is None, child.stderr.read()
        assert time.time() < deadline, 'it does not begin'
        time.sleep(0.02)
    time.sleep(1)  # what runs already is met, and its rules are loaded
    try:
        yield child
    finally:
        child.send_signal(signal.SIGINT)
        child.wait(60)


def of(pid, path=FILE, *options):
    """The report of one process."""
    return harness.report(path, '--filter', f'process == {pid}', *options)


def total(r):
    return r['total']['cpu-time']


def share(r, function, column='exclusive'):
    return harness.total_of(r, function, column, 'cpu-time') / total(r)


def spawn(*args, **more):
    return subprocess.Popen(args, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **more)


def used_ns(child):
    """Waits for it; its CPU time by the kernel's account."""
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    assert child.returncode == 0
    return (usage.ru_utime + usage.ru_stime) * 1e9


def wait_for_cpu(child, ns):
    """Until it has used so much; a loaded machine may need a while for it."""
    deadline = time.time() + 120
    while True:
        with open(f'/proc/{child.pid}/schedstat', encoding='ascii') as f:
            if int(f.read().split()[0]) >= ns:
                return
        assert time.time() < deadline, 'it does not run'
        time.sleep(0.05)


def ended_early(r):
    """{reason: ns} of the stacks that ended early."""
    return {k: v for k, v in r['quality']['truncated'].get('cpu-time', {}).items() if k != 'total'}


def truncated(r):
    """The same, rules that came late left out."""
    return {k: v for k, v in ended_early(r).items() if 'not loaded' not in k}


@test
def shares_of_a_known_call_tree():
    with recording('-F', '5200'):
        used_ns(spawn(workload('cpu'), '2'))  # it is met, and its rules are loaded
        time.sleep(0.5)
        child = spawn(workload('cpu'), '60')
        used = used_ns(child)
    r = of(child.pid)
    assert abs(total(r) / used - 1) < 0.03, f'{total(r) / 1e6} ms sampled, {used / 1e6} ms used'
    for name, exclusive, inclusive in (('main', 2, 32), ('A', 0, 10), ('B', 5, 20), ('C', 5, 25),
                                       ('E', 10, 10), ('F', 5, 10), ('G', 5, 5)):
        got = share(r, name), share(r, name, 'inclusive')
        assert abs(got[0] - exclusive / 32) < 0.02, (name, got)
        assert abs(got[1] - inclusive / 32) < 0.02, (name, got, r['quality']['truncated'])
    # Also of its moments before its exec, in a function that has its return address in a
    # register, and in _init and _fini, which no table covers.
    assert not truncated(r), truncated(r)
    assert r['quality']['lost'] == 0


CLOSED = """
extern int __cxa_atexit(void (*)(void *), void *, void *);
extern void *__dso_handle;
extern long clock(void);
/* Half a second, however fast the CPU is: much longer than it takes to begin. */
static void end(void *n)
{
	for (long until = clock() + (long)n; clock() < until;)
		for (volatile unsigned long i = 0; i < 10000000; i++) ;
}
static __attribute__((constructor)) void begin(void) { __cxa_atexit(end, (void *)500000, &__dso_handle); }
"""
CLOSES = """
#include <dlfcn.h>
int main(int argc, char **argv) { void *h = dlopen(argv[argc - 1], RTLD_NOW); return h ? dlclose(h) : 1; }
"""


def compiled(name, source, *options):
    path = os.path.join(DIR, name)
    subprocess.run(['gcc', '-O2', '-x', 'c', '-', '-o', path, *options], input=source, text=True, check=True)
    return path


@test
def destructors_of_a_library_have_their_callers():
    """Below a function that every library is given and that has no unwind table."""
    need('gcc')
    program, library = compiled('closes', CLOSES), compiled('closed.so', CLOSED, '-shared', '-fPIC')
    with recording('-F', '1999'):
        used_ns(spawn(program, library))  # it is met, and its rules are loaded
        time.sleep(2)  # however busy the machine is
        child = spawn(program, library)
        used_ns(child)
    r = of(child.pid)
    assert share(r, 'end') > 0.8 and share(r, '__do_global_dtors_aux', 'inclusive') > 0.8, r['quality']
    assert not truncated(r), truncated(r)
    assert share(r, '_start', 'inclusive') > 0.8, r['quality']


def big_source(path, functions):
    with open(path, 'w', encoding='utf-8') as f:
        f.write('#include <stdio.h>\n#include <stdlib.h>\n' + ''.join(
            f'int f{i}(int *a, int n) {{ int s = {i}; for (int k = 0; k < n; k++) '
            f's += a[k] * (s ^ k) % {i + 3}; return s; }}\n' for i in range(functions)))
    return path


@test
def stacks_are_those_of_the_other_unwinder():
    need('gcc', 'python3')
    cc1 = subprocess.run(['gcc', '-print-prog-name=cc1'], capture_output=True, text=True,
                         check=True).stdout.strip()
    compile_it = [cc1, '-quiet', '-O2', '-o', '/dev/null']
    fib = 'def f(n): return n if n < 2 else f(n - 1) + f(n - 2)\nf(%d)'
    # The first of each is met, so that the second has its rules from its first moment on:
    # a start without them would be missing on one side only.  It runs for long enough to
    # be met in all of its libraries.
    programs = (([*compile_it, big_source(os.path.join(DIR, 'small.c'), 100)],
                 [*compile_it, big_source(os.path.join(DIR, 'big.c'), 800)]),
                (['python3', '-c', fib % 29], ['python3', '-c', fib % 31]),
                ([workload('cxx')], [workload('cxx')]))
    other = os.path.join(DIR, 'perf.dwell')
    for first, second in programs:
        with recording('-i', '0.5ms'), recording('-i', '0.5ms', path=other, source='perf'):
            assert spawn(*first).wait(120) == 0
            time.sleep(1)
            child = spawn(*second)
            assert child.wait(120) == 0
        mine, theirs = (by_function(child.pid, path) for path in (FILE, other))
        r = of(child.pid)
        two_samples = 1e6  # its first moments, while the kernel still maps it
        assert sum(ended_early(r).values()) <= 0.002 * total(r) + two_samples, (
            second[0], ended_early(r))
        for name in {*mine[0], *theirs[0]}:
            p, q = (x[0].get(name, 0) for x in (mine, theirs))
            if max(p, q) >= 0.05:
                chance = 5 * math.sqrt(max(p, q) * (1 - min(p, q)) * (1 / mine[1] + 1 / theirs[1]))
                assert abs(p - q) < chance + 0.005, (
                    f'{second[0]}: {name}: {p:.3f}, by perf {q:.3f} of {theirs[1]}')


def by_function(pid, path):
    """({(function, image): inclusive share}, samples) of a process."""
    r = of(pid, path)
    return ({(row['name'], os.path.basename(row['image'])):
             row['inclusive']['cpu-time'] / total(r) for row in r['rows']},
            sum(row['samples']['cpu-time'] for row in r['rows']))


@test
def a_page_of_code_may_have_more_rules_than_a_block_of_rows():
    dense = os.path.join(PROGRAMS, 'e2e-dense')
    if not os.path.exists(dense):
        raise Skip('for x86-64 alone')
    with recording('-F', '1000'):
        used_ns(spawn(dense, '0.5'))  # it is met, and its rules are loaded
        time.sleep(0.5)
        child = spawn(dense, '2')  # much longer than it takes to begin
        used_ns(child)
    r = of(child.pid)
    assert not truncated(r), truncated(r)
    late = sum(ended_early(r).values()) / total(r)
    assert share(r, 'main', 'inclusive') + late > 0.97, r['rows'][:4]
    assert share(r, 'main', 'inclusive') > 0.5, 'they were there before it began'


@test
def files_that_are_gone_have_their_names():
    gone = os.path.join(DIR, 'gone')
    shutil.copy(workload('cpu'), gone)
    with recording('-F', '1000'):
        child = spawn(gone, '30')
        time.sleep(0.3)
        os.unlink(gone)
        child.wait(60)
    r = of(child.pid, FILE, '--by', 'image')
    assert any(row['name'].startswith('gone') for row in r['rows']), r['rows']


@test
def code_of_another_mount_namespace_is_found():
    need('unshare')
    place = os.path.join(DIR, 'inside')
    os.mkdir(place)
    script = (f'mount -t tmpfs none {place} && cp {workload("cpu")} {place}/boxed && '
              f'exec {place}/boxed 30')
    with recording('-F', '1000'):
        child = spawn('unshare', '-m', 'sh', '-c', script)
        child.wait(60)
    assert child.returncode == 0
    r = of(child.pid, FILE, '--by', 'image')
    boxed = [row for row in r['rows'] if 'boxed' in row['name']]
    assert boxed and boxed[0]['exclusive']['cpu-time'] / total(r) > 0.9, r['rows'][:5]
    assert sum(truncated(r).values()) < 0.01 * total(r), truncated(r)


@test
def compiled_code_has_its_names():
    need('node')
    script = 'function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }\nfib(40);'
    with recording('-F', '1000'):
        child = spawn('node', '--perf-basic-prof', '--interpreted-frames-native-stack', '-e', script,
                      cwd=DIR)
        child.wait(120)
    r = of(child.pid)
    fib = sum(row['exclusive']['cpu-time'] for row in r['rows'] if 'fib' in row['name'])
    assert fib / total(r) > 0.5, r['rows'][:5]


@test
def every_process_of_a_storm_is_counted():
    # Others may run programs of a usual name at the same time.
    short = os.path.join(DIR, f'short{os.getpid()}')
    shutil.copy('/bin/true', short)
    with recording('-F', '5200'):
        used = sum(used_ns(spawn(short)) for _ in range(200))
    r = harness.report(FILE, '--filter', f'command == {os.path.basename(short)}')
    # The fork's own part is under our name.
    assert 0.3 * used < total(r) < 1.1 * used, f'{total(r) / 1e6} of {used / 1e6} ms'
    assert r['quality']['lost'] == 0


@test
def a_new_program_has_no_frames_of_the_old_one():
    # Its address space may well lie where one lay that is gone.
    with recording('-F', '20000'):
        loop = 'i=0; while [ $i -lt 200 ]; do /bin/true; i=$((i + 1)); done'
        assert spawn('bash', '-c', loop).wait(120) == 0
    p = dwell('export', '-o', '-', 'folded', FILE, '--filter', 'command == true')
    assert p.returncode == 0, p.stderr
    # The old address space is gone before the kernel maps the program.
    mapped = [line for line in p.stdout.splitlines() if ';load_elf_binary;elf_load;' in line]
    assert len(mapped) > 10, len(mapped)
    for line in mapped:
        assert line.startswith('entry_SYSCALL'), line


@test
def code_that_is_mapped_where_other_code_was_is_told_apart():
    with recording('-F', '5200'):
        child = spawn(os.path.join(PROGRAMS, 'e2e-remap'))
        used_ns(child)
    r = of(child.pid)
    first, second = share(r, 'first'), share(r, 'second')
    assert first + second > 0.9, f'{first}, {second}'
    assert abs(first / (first + second) - 0.25) < 0.03, f'{first}, {second}'


@test
def a_killed_recorder_leaves_what_it_had():
    with recording('-F', '1000') as recorder:
        child = spawn(workload('cpu'), '120')
        wait_for_cpu(child, 3e9)
        recorder.kill()
        recorder.wait(60)
        child.kill()
        child.wait(60)
    r = harness.report(FILE, '--filter', 'command == cpu', code=1)
    assert total(r) > 1e9, r


@test
def flat_profiles_have_the_place_alone():
    with recording('-e', 'pcsamp', '-F', '5200'):
        child = spawn(workload('cpu'), '30')
        used_ns(child)
    r = of(child.pid)
    assert abs(share(r, 'E') - 10 / 32) < 0.02
    assert share(r, 'main', 'inclusive') < 3 / 32


@test
def an_ordinary_user_is_told_what_it_takes():
    need('runuser')
    p = subprocess.run(['runuser', '-u', 'nobody', '--', DWELL, 'attach', '-a', '--source', 'system',
                        '-d', '0.1', '-o', '/tmp/none.dwell'], capture_output=True, text=True,
                       timeout=60, check=False)
    assert p.returncode == 1 and re.search('permitted|root', p.stderr), p.stderr


@test
def where_bpf_is_refused_perf_is_taken_and_it_is_told():
    if not shutil.which('setpriv'):
        raise Skip('needs setpriv')
    less = ['setpriv', '--inh-caps=-sys_admin,-bpf,-net_admin', '--bounding-set=-sys_admin,-bpf,-net_admin', '--']
    child = spawn(workload('cpu'), '60')
    p = subprocess.run([*less, DWELL, 'attach', '-a', '--source', 'system', '-i', '5ms', '-d', '2', '-o', FILE],
                       capture_output=True, text=True, timeout=120, check=False)
    child.wait(120)
    assert p.returncode == 0, p.stderr
    assert 'source system is refused' in p.stderr and 'perf does the same' in p.stderr, p.stderr
    r = of(child.pid)
    assert share(r, 'main', 'inclusive') > 0.9, r['rows'][:5]
    assert 'notice' in dwell('cat', '--section', 'info', FILE).stdout
    # What is asked for otherwise is no refusal of the kernel's.
    p = dwell('attach', '-p', str(os.getpid()), '--source', 'system', '-d', '0.1', '-o', FILE)
    assert p.returncode == 1 and 'whole CPUs' in p.stderr, p.stderr


def main():
    why = harness.why_no_bpf()
    if why:
        return skip_all(why)
    return run_all(TESTS, words=sys.argv[4:])


sys.exit(main())
