#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records programs with a known truth and checks what the recording says, and that the
programs are none the wiser.  usage: record.py DWELL WORKLOAD_DIR PROGRAM_DIR"""
import functools
import os
import re
import signal
import subprocess
import sys
import time
from shlex import quote

import harness
from harness import (DIR, DWELL, IS_ROOT, TESTS, Skip, dwell, fact, is_asleep, may_record, run_all, skip_all,
                     sleeper, test, text_of, wait_until)

WORKLOADS, PROGRAMS = (os.path.abspath(p) for p in sys.argv[2:4])
FILE = os.path.join(DIR, 'x.dwell')


def workload(name):
    return os.path.join(WORKLOADS, name)


def program(name):
    return os.path.join(PROGRAMS, 'e2e-' + name)


def run(*args, options=(), **more):
    if os.path.exists(FILE):
        os.unlink(FILE)
    return dwell('run', '-o', FILE, *options, '--', *args, **more)


def report(*args, code=0):
    return harness.report(FILE, *args, code=code)


def second_half(*filters):
    """When what is learned from the first stacks is known, however slow the machine is."""
    r = report('--filter', ' and '.join([f"time > {fact(report(), 'wall-time') // 2}ns", *filters]))
    assert r['total']['cpu-time'] > 2e8
    return r


def share(r, function, column, event='cpu-time'):
    return harness.total_of(r, function, column, event) / r['total'][event]


def close(got, want, tolerance, what):
    assert abs(got - want) <= tolerance, f'{what}: {got} is not {want} ± {tolerance}'


def used_ns(r):
    return fact(r, 'user-time') + fact(r, 'system-time')


def may_observe_machine():
    return dwell('attach', '-a', '-d', '0.01', '-o', os.path.join(DIR, 'all')).returncode == 0


@test
def shares_of_a_known_call_tree():
    p = run(workload('cpu'), '30', options=['-i', '1ms'])
    assert p.returncode == 0, p.stderr
    r = report()
    # What a function does itself is inlined into it from workload.h.
    for name, percent in (('E', 31.25), ('G', 15.6), ('B', 62.5), ('C', 78.1),
                          ('F', 31.25), ('A', 31.25), ('main', 100)):
        close(100 * share(r, name, 'inclusive'), percent, 3, name)
    assert r['quality']['lost'] == 0


def stolen_of(r):
    """Of the clocks compared some go on while a hypervisor has the CPU and others stop; how long
    that was is told in hundredths of a second."""
    stolen = fact(r, 'stolen-time') or 0
    return stolen + 1e7 if stolen else 0


@test
def cpu_seconds_are_those_of_the_kernel():
    for interval in ('10ms', '1ms', '200us'):
        run(workload('cpu'), '20', options=['-i', interval])
        r = report()
        period = r['events'][0]['period']
        excess = r['total']['cpu-time'] - used_ns(r)
        close(excess, 0, max(0.01 * used_ns(r), 2 * period) + 5e6 + stolen_of(r), interval)


@test
def a_program_that_a_thread_execs_is_counted_once():
    run(program('storm'), 'exec', workload('cpu'), '20')
    r = report()
    period = r['events'][0]['period']
    close(r['total']['cpu-time'], used_ns(r), 0.02 * used_ns(r) + 3 * period + stolen_of(r), 'exec')
    close(share(r, 'main', 'inclusive'), 1, 0.1, 'main')


def switches(r):
    return fact(r, 'voluntary-switches') + fact(r, 'involuntary-switches')


@functools.cache
def unclocked_ns_of_a_switch():
    """What rusage charges for a switch while no event of a thread can be on: the kernel
    begins with a thread's account before the switch and with its events after it (a
    counter without samples misses as much), and stops the clock in between.  Measured with
    a program that does nothing but switch, for it depends on the machine."""
    run(program('storm'), 'handoffs', '5000', options=['-i', '1ms'])
    r = report()
    return max(0, used_ns(r) - r['total']['cpu-time']) / switches(r)


def check_sum_of_mt(r, want, n_switches):
    """One interval per thread and CPU may be missing."""
    missing = 5 * os.cpu_count() * 1e6 + n_switches * unclocked_ns_of_a_switch() + stolen_of(r)
    close(r['total']['cpu-time'], want, 0.01 * want + missing, 'mt')


@test
def every_thread_is_there_with_its_cpu_time():
    run(workload('mt'), '3000', options=['-i', '1ms'])
    r = report()
    close(share(r, 'worker', 'inclusive'), 1, 0.1, 'worker')
    assert len(report('--by', 'thread')['rows']) >= 4
    check_sum_of_mt(r, used_ns(r), switches(r))


@test
def stacks_of_a_thousand_frames_are_complete():
    run(workload('rec'), '200', options=['-i', '1ms'])
    r = report()
    close(share(r, 'main', 'inclusive'), 1, 0.02, 'main')
    assert fact(r, 'truncated-stacks', 'loss') <= 1


@test
def stacks_beyond_what_perf_copies_are_complete():
    if not IS_ROOT:
        raise Skip('only root may load BPF programs')
    run(program('deep'), '800', '15000', options=['-i', '1ms'])
    r = report()
    assert fact(r, 'stacks', 'rate') > 100
    assert fact(r, 'truncated-stacks', 'loss') <= 1
    spin = {name: share(r, name, 'inclusive') for name in ('shorter', 'longer')}
    close(sum(spin.values()), 1, 0.01, 'both')
    close(spin['shorter'], 0.32, 0.08, 'shorter')


@test
def stacks_with_pages_that_were_never_touched_are_complete():
    if not IS_ROOT and may_record('perf'):
        raise Skip('perf copies no more than what is before them')
    run(program('gaps'), '2000', options=['-i', '1ms'])
    # By perf such pages are looked for once a stack of the thread was cut at one.
    # The first thread, which waits for the others, runs for less than an interval of its clock: one time in some tens a
    # sample of ten milliseconds stands for it, which is in no function of theirs.
    first, = {int(pid) for pid in re.findall(r'pid (\d+)', str(report('--by', 'process')['rows']))}
    r = second_half(f'tid != {first}')
    close(share(r, 'thread', 'inclusive'), 1, 0.002, 'thread')
    close(share(r, 'near', 'inclusive'), 0.5, 0.1, 'near')


@test
def a_frame_whose_address_is_in_the_red_zone_has_callers():
    if not os.path.exists(program('redzone')):
        raise Skip('only x86-64 has a red zone')
    if not IS_ROOT and may_record('perf'):
        raise Skip('perf does not copy it, and only root may load BPF programs')
    run(program('redzone'), '2000000000', options=['-i', '1ms'])
    # By perf it is copied from the first stack on that was looked for there.
    r = second_half()
    assert share(r, 'redzone_spin', 'exclusive') > 0.9, r['rows'][:3]
    close(share(r, 'main', 'inclusive'), share(r, 'redzone_spin', 'inclusive'), 0.01, 'main')


def record_waits():
    """What lasted for how long by the program's clock, and how much of it without a CPU that it
    wanted, in ns."""
    p = run(program('wait'), options=['-e', 'totaltime', '-i', '1ms'])
    assert p.returncode == 0, p.stderr
    return {name: (int(ns), int(late)) for name, ns, late in map(str.split, p.stdout.splitlines())}


@test
def waits_are_charged_to_where_they_happen():
    lasted = record_waits()
    r = report()
    blocked = {row['name']: row['inclusive'].get('blocked-time', 0) for row in r['rows']}
    # Of each wait all but the first 10 ms.
    for name, n_waits in (('do_sleep', 1), ('do_poll', 1), ('hold', 1), ('want', 2)):
        ns, late = lasted[name]
        assert 0.95 * ns - late - n_waits * 1e7 < blocked.get(name, 0) <= ns, (name, blocked, lasted)
    close(r['total']['cpu-time'] / 1e6, 200, 20, 'CPU time')


@test
def the_three_times_of_a_thread_are_its_wall_time():
    own, _ = record_waits()['main']
    rows = report('--by', 'thread')['rows']
    r = report()
    sums = [sum(v for event, v in row['exclusive'].items() if event != 'total-time')
            for row in rows]
    # It runs for longer than main() does; what a hypervisor takes is none of the three.
    least, most = own - (fact(r, 'stolen-time') or 0), fact(r, 'wall-time')
    assert least - 0.02 * own - 5e6 < max(sums) < most + 0.02 * own + 5e6, (least, sums, most)


@test
def faults_are_counted_exactly():
    p = run(workload('cpu'), '1', options=['-e', 'faults'])
    assert p.returncode == 0, p.stderr
    r = report()
    total = sum(r['total'].values())
    kernel = fact(r, 'minor-faults') + fact(r, 'major-faults')
    # The kernel's account begins before the exec.
    assert 0 < total <= kernel, (total, kernel)


@test
def pcsamp_and_usertime_share_one_recording():
    run(workload('cpu'), '10', options=['-e', 'pcsamp,usertime', '-i', '1ms'])
    r = report()
    names = [e['experiment'] for e in r['events']]
    assert names == ['pcsamp', 'usertime'], names
    totals = list(r['total'].values())
    close(totals[0], totals[1], 0.05 * totals[0], 'both')


@test
def exit_codes_are_those_of_a_shell():
    assert run('sh', '-c', 'exit 7').returncode == 7
    assert run('sh', '-c', 'kill -9 $$').returncode == 137
    p = run('/no/such/program')
    assert p.returncode == 127 and 'No such file' in p.stderr, p.stderr
    assert run('/etc/passwd').returncode == 126
    assert not os.path.exists(FILE)


@test
def what_was_taken_before_a_kill_remains():
    p = subprocess.Popen([DWELL, 'run', '-q', '-i', '1ms', '-o', FILE, '--', 'sh', '-c',
                          f'{quote(workload("cpu"))} 10; kill -9 $$'], stdout=subprocess.DEVNULL)
    assert p.wait(60) == 137
    assert share(report(), 'E', 'inclusive') > 0.2


@test
def a_signal_that_ends_the_program_is_told():
    p = run('sh', '-c', 'kill -SEGV $$')
    assert p.returncode == 139 and 'ended by signal 11' in p.stderr, (p.returncode, p.stderr)
    p = run('sh', '-c', 'kill -INT $$')
    assert p.returncode == 130 and 'signal' not in p.stderr, (p.returncode, p.stderr)


@test
def a_killed_recorder_leaves_a_readable_file():
    if os.path.exists(FILE): # of the case before
        os.unlink(FILE)
    p = subprocess.Popen([DWELL, 'run', '-q', '-i', '1ms', '-o', FILE, '--',
                          workload('cpu'), '300'], stdout=subprocess.DEVNULL)
    end = time.monotonic() + 30
    # On a busy machine it takes a while until there is something to lose.
    while time.monotonic() < end and not (os.path.exists(FILE) and os.path.getsize(FILE) > 3000):
        time.sleep(0.2)
    p.send_signal(signal.SIGKILL)
    p.wait()
    # Unfinished, so the exit code says so; what was taken is there.
    assert report(code=1)['total']['cpu-time'] > 1e8


@test
def a_terminated_recorder_closes_the_file_and_lets_the_program_go_on():
    p = subprocess.Popen([DWELL, 'run', '-o', FILE, '--', 'cat'], stdin=subprocess.PIPE,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    p.stdin.write('here\n')
    p.stdin.flush()
    assert p.stdout.readline() == 'here\n'
    p.send_signal(signal.SIGTERM)
    assert p.wait(60) == 143, p.returncode
    _, err = p.communicate('', timeout=60)
    assert 'goes on' in err, err
    assert report() is not None


@test
def ten_thousand_forks():
    p = run(program('storm'), 'forks', '10000')
    assert p.returncode == 0 and p.stdout == '10000 done\n', p
    r = report()
    assert r['quality']['lost'] == 0, [f for f in r['quality']['facts'] if f['kind'] == 'loss']


@test
def children_of_who_forks_again_and_again_need_no_file_to_be_sampled():
    """Nobody can open any after that."""
    spin = 'i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; echo $BASHPID'
    p = run('bash', '-c', f'(:); (:); (:); ulimit -n 3; ({spin})', options=['-i', '1ms', '--source', 'timer'])
    assert p.returncode == 0, p.stderr
    r = report('--by', 'process')
    assert not [f for f in r['quality']['facts'] if f['name'] == 'processes-without-ring'], r['quality']
    spinning = [row for row in r['rows'] if f'pid {p.stdout.strip()} ' in row['name'] + ' ']
    assert spinning and spinning[0]['exclusive']['cpu-time'] > 0.9 * r['total']['cpu-time'], r['rows']


@test
def a_thousand_threads():
    p = run(program('storm'), 'threads', '1000', options=['-i', '1ms'])
    assert p.returncode == 0 and p.stdout == '1000 done\n', p
    r = report()
    assert r['quality']['lost'] == 0
    assert share(r, 'spin', 'inclusive') > 0.4, 'spin'


@test
def processes_shorter_than_the_interval_are_sampled():
    if not may_observe_machine():
        raise Skip('only with a view of the whole machine')
    run('sh', '-c', 'i=0; while [ $i -lt 1500 ]; do /bin/true; i=$((i+1)); done')
    r = report()
    # Each process is met or not: at most the variance of a Poisson process.
    period = r['events'][0]['period']
    close(r['total']['cpu-time'], used_ns(r), 5 * (used_ns(r) * period) ** 0.5 + stolen_of(r), 'sampled')
    assert any(row['name'] == 'true' for row in report('--by', 'command')['rows'])


def switch_counts(pid):
    """How often each thread has left its CPU."""
    counts = {}
    for tid in os.listdir(f'/proc/{pid}/task'):
        with open(f'/proc/{pid}/task/{tid}/status', encoding='ascii') as f:
            counts[tid] = sum(int(line.split()[1]) for line in f if 'ctxt_switches' in line)
    return counts


@test
def attach_sees_all_threads_of_a_running_process():
    target = subprocess.Popen([workload('mt'), '20000'], stdout=subprocess.DEVNULL)
    try:
        time.sleep(0.2)
        before = sum(switch_counts(target.pid).values())
        p = dwell('attach', '-i', '1ms', '-d', '0.5', '-o', FILE, '-p', str(target.pid))
        n_switches = sum(switch_counts(target.pid).values()) - before
        assert p.returncode == 0, p.stderr
        title = dwell('report', FILE).stdout.splitlines()[0]
        assert title == f'process {target.pid} (mt)', title
        r = report()
        close(share(r, 'worker', 'inclusive'), 1, 0.15, 'worker')
        assert len(report('--by', 'thread')['rows']) >= 3
    finally:
        target.kill()
        target.wait()
    check_sum_of_mt(r, fact(r, 'counted-cpu-time'), n_switches)


@test
def attach_sees_the_children_that_run_already_and_those_that_come():
    spin = f'{workload("cpu")} 100000 >/dev/null & '
    target = subprocess.Popen(['sh', '-c', f'{spin}sleep 1.5; {spin}wait'],
                              start_new_session=True)
    try:
        time.sleep(0.3)
        def children(*options):
            p = dwell('attach', '-o', FILE, '-p', str(target.pid), *options)
            assert p.returncode == 0, p.stderr
            rows = report('--by', 'process', '--filter', 'command == cpu')['rows']
            return len([row for row in rows if row['exclusive'].get('cpu-time')])

        assert children('-d', '2.5') == 2
        assert children('-d', '0.5', '--follow', 'cpu') == 2
        assert children('-d', '0.5', '--follow', 'another') == 0
        assert children('-d', '0.5', '--follow', 'off') == 0
    finally:
        os.killpg(target.pid, signal.SIGKILL)
        target.wait()


def until_all_sleep(target):
    """All four threads, in the functions that they are to wait in."""
    target.stdout.readline()
    counts = {}

    def are_still():
        nonlocal counts
        before, counts = counts, switch_counts(target.pid)
        return len(counts) == 4 and counts == before and all(map(is_asleep, counts))
    wait_until(are_still, 'they do not wait')


@test
def attach_sees_where_blocked_threads_wait_without_waking_them():
    target = subprocess.Popen([program('asleep')], stdout=subprocess.PIPE, text=True)
    try:
        until_all_sleep(target)
        before = switch_counts(target.pid)
        p = dwell('attach', '-e', 'totaltime', '-d', '1', '-o', FILE, '-p', str(target.pid))
        assert p.returncode == 0, p.stderr
        assert switch_counts(target.pid) == before
        r = report()
        for name in ('wait_condition', 'wait_input', 'wait_deep'):
            close(share(r, name, 'inclusive', 'blocked-time'), 0.25, 0.02, name)
        close(share(r, 'main', 'inclusive', 'blocked-time'), 0.25, 0.02, 'main')
        close(r['total']['blocked-time'] / fact(r, 'wall-time'), 4, 0.4, 'four threads')
        assert fact(r, 'truncated-stacks', 'loss') == 0
    finally:
        target.kill()
        target.wait()


@test
def attach_to_a_thread_tells_of_no_other():
    target = subprocess.Popen([program('asleep')], stdout=subprocess.PIPE, text=True)
    try:
        until_all_sleep(target)
        tid = max(os.listdir(f'/proc/{target.pid}/task'), key=int)
        p = dwell('attach', '-e', 'totaltime', '-d', '1', '-o', FILE, '-t', tid)
        assert p.returncode == 0, p.stderr
        r = report()
        close(r['total']['blocked-time'] / fact(r, 'wall-time'), 1, 0.1, 'one thread')
    finally:
        target.kill()
        target.wait()


@test
def a_machine_has_no_account_of_its_own():
    """The clock of a CPU also counts what it idles, where no sample is due."""
    if not may_observe_machine():
        raise Skip('only with a view of the whole machine')
    assert dwell('attach', '-a', '-d', '0.2', '-o', FILE).returncode == 0
    assert fact(report(), 'counted', 'rate') is None
    if os.cpu_count() > 1:
        p = dwell('attach', '-e', 'totaltime', '--cpu', '0', '-d', '0.2', '-o', FILE)
        assert p.returncode == 1 and 'waits are not known' in p.stderr, p.stderr


@test
def attach_ends_with_the_process():
    if os.path.exists(FILE):
        os.unlink(FILE)
    target = subprocess.Popen(['cat'], stdin=subprocess.PIPE)
    p = subprocess.Popen([DWELL, 'attach', '-q', '-o', FILE, '-p', str(target.pid)])
    wait_until(lambda: p.poll() is not None or dwell('ctl', 'status', str(p.pid)).returncode == 0,
               'it does not begin')
    target.stdin.close()
    target.wait()
    assert p.wait(60) == 0


def sleeps_of(pid):
    """How often its first thread has left its CPU because there was nothing to do."""
    return int(re.search(r'^voluntary_ctxt_switches:\s*(\d+)', text_of(pid, 'status'), re.M)[1])


@test
def attach_rests_when_the_first_of_several_has_ended():
    if os.path.exists(FILE):
        os.unlink(FILE)
    first, second = sleeper(), sleeper()
    p = subprocess.Popen([DWELL, 'attach', '-q', '-o', FILE, '-p', str(first.pid), '-p', str(second.pid)])
    try:
        wait_until(lambda: p.poll() is not None or dwell('ctl', 'status', str(p.pid)).returncode == 0,
                   'it does not begin')
        first.kill()
        first.wait()
        before = sleeps_of(p.pid)
        wait_until(lambda: sleeps_of(p.pid) >= before + 5, 'it does not rest', 10)
    finally:
        second.kill()
        second.wait()
    assert p.wait(60) == 0


@test
def follow_off_leaves_descendants_out():
    script = f'{quote(workload("cpu"))} 5; :'
    run('sh', '-c', script, options=['-i', '1ms', '--follow', 'off'])
    assert not any(row['name'] == 'E' for row in report()['rows'])
    run('sh', '-c', script, options=['-i', '1ms', '--follow', '^cpu$'])
    assert any(row['name'] == 'E' for row in report()['rows'])


@test
def a_delay_leaves_the_beginning_out():
    # 45 ms of work: done before the delay ends, also where others have the CPUs.
    run('sh', '-c', f'{quote(workload("cpu"))} 1; sleep 2',
        options=['-i', '1ms', '--delay', '1.5s'])
    # What is there is the end of sleep and of the shell.
    assert not any(row['name'] == 'cpu' for row in report('--by', 'command')['rows'])
    assert report()['total'].get('cpu-time', 0) < 5e7


@test
def a_time_between_samples_is_not_for_events():
    if not may_record('perf', 'faults'):
        raise Skip('faults may not be recorded here')
    p = run('true', options=['-n', '-e', 'usertime,faults', '-i', '3ms'])
    assert p.returncode == 0, p
    assert 'usertime, every 3.00 ms' in p.stdout and 'faults, every 1,' in p.stdout, p


@test
def a_dry_run_records_nothing():
    p = run('true', options=['-n'])
    assert p.returncode == 0 and 'usertime' in p.stdout and not os.path.exists(FILE), p


@test
def the_default_name_says_program_experiment_and_pid():
    p = dwell('run', '--', 'sh', '-c', 'echo $$', cwd=DIR)
    assert os.path.exists(os.path.join(DIR, f'sh.usertime.{p.stdout.strip()}.dwell')), p


@test
def a_full_disk_does_not_disturb_the_program():
    if not os.path.exists('/dev/full'):
        raise Skip('no /dev/full')
    p = run(workload('cpu'), '5', options=['-i', '100us', '--max-size', '8K'])
    assert p.returncode == 0, p
    p = subprocess.run(['sh', '-c', f'ulimit -f 1; exec {quote(DWELL)} run -i 100us -o {FILE} '
                        f'-- {quote(workload("cpu"))} 5'], capture_output=True, text=True)
    assert p.returncode == 0 and p.stdout.strip().isdigit(), p


@test
def count_counts():
    p = dwell('count', '-e', 'task-clock,page-faults,cycles', '-r', '2', '--',
              workload('cpu'), '2')
    assert p.returncode == 0 and 'page-faults' in p.stderr and '±' in p.stderr, p


@test
def list_names_every_experiment():
    out = dwell('list', env={**os.environ, 'COLUMNS': '60'}).stdout
    assert all(len(line) <= 76 for line in out.splitlines()), out
    assert '  by perf' in out or '  of a program you run: ' in out, out
    assert all(x in out for x in ('pcsamp', 'usertime', 'totaltime', 'faults', 'cycles'))


if __name__ == '__main__':
    sys.exit(run_all(TESTS, words=sys.argv[4:]) if may_record('perf') else
             skip_all('perf_event_open is not permitted here'))
