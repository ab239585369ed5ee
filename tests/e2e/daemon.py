#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The continuous profiler, its database and its controls.
usage: daemon.py DWELL WORKLOAD_DIR"""
import contextlib
import glob
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

import harness
from daemons import Daemon, daemon, own_memory, without_bpf
from harness import DIR, DWELL, TESTS, dwell, run_all, skip_all, stolen_ns, test

# Others may run the workload at the same time: ours has a name of its own.
NAME = f'cpu{os.getpid()}'
CPU = os.path.join(DIR, NAME)


def cpu_ns(path, command=NAME, code=0):
    r = harness.report(path, '--filter', f'command == {command}', code=code)
    return r['total']['cpu-time'], r


def run_cpu(units=30):
    """Runs for about a second; its CPU time."""
    child = subprocess.Popen([CPU, str(units)], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    assert child.returncode == 0
    return (usage.ru_utime + usage.ru_stime) * 1e9


def run_cpu_pid():
    child = subprocess.Popen([CPU, '15'], stdout=subprocess.DEVNULL)
    assert child.wait(60) == 0
    return child.pid


def sum_of(segments, command=NAME):
    return sum(cpu_ns(s, command)[0] for s in segments)


def assert_is_all(got, used, stolen):
    """Of what a hypervisor takes, pieces shorter than a period are in samples, not in the usage."""
    assert 0.95 * used < got < 1.05 * used + stolen, f'{got / 1e6} of {used / 1e6} ms, {stolen / 1e6} stolen'


@test
def what_ran_is_in_the_database_after_a_flush():
    with daemon() as d:
        stolen = stolen_ns()
        used = run_cpu(2)  # it is met, and its rules are loaded
        d.done('flush')
        used += run_cpu() + run_cpu()
        stolen = stolen_ns() - stolen
        d.done('flush')
        segments = d.segments()
        got, r = cpu_ns(segments[-1])
        assert_is_all(sum_of(segments), used, stolen)
        # Two processes of one name are one class, with complete stacks.
        assert r['quality']['lost'] == 0
        inclusive = harness.total_of(r, 'main', 'inclusive')
        assert inclusive > 0.98 * got, (inclusive, got, r['quality']['truncated'], r['rows'][:5])
        d.quit()


def ask(d, request):
    """What the daemon answers, by name."""
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(d.socket)
        s.sendall(request.encode() + b'\n')
        lines = b''.join(iter(lambda: s.recv(4096), b'')).decode().splitlines()
    assert lines[0] == 'ok', lines
    return dict(line.split('=', 1) for line in lines[1:])


def read_along(d):
    """What the daemon says of its open recording, and what of ours is in that."""
    while True:
        recent = ask(d, 'recent')
        r = harness.report(recent['path'], '--filter', f'command == {NAME}', code=1)  # not complete
        # Had it become a segment meanwhile, the next one would have been read.
        if ask(d, 'recent')['opened-ns'] == recent['opened-ns']:
            return recent, r['total'].get('cpu-time', 0)


@test
def what_was_taken_lately_can_be_read_along_and_is_still_the_databases():
    with daemon() as d:
        runs = []
        for _ in range(3):
            begin = time.monotonic_ns()
            runs.append((begin, run_cpu()))
            recent, got = read_along(d)
            opened, taken = int(recent['opened-ns']), int(recent['taken-ns'])
            assert opened < taken <= time.monotonic_ns(), recent
            lost = int(recent['lost']) * int(recent['period-ns'])
            # On a busy machine a segment is made meanwhile, and another recording begins.
            least = sum(used for begin, used in runs if begin >= opened)
            most = sum(used for _, used in runs)
            assert 0.95 * least - lost <= got <= 1.05 * most, f'{got} of {least} to {most}'
        d.done('flush')
        lost = d.status()['lost'] * int(recent['period-ns'])
        assert 0.95 * most - lost <= sum_of(d.segments()) <= 1.05 * most
        d.quit()


@test
def programs_of_a_moment_have_their_paths():
    # A name of its own, and gone before anybody could look for it.
    short = os.path.join(DIR, f'short{os.getpid()}')
    shutil.copy('/bin/true', short)
    with daemon('-F', '10000') as d:
        subprocess.run(['bash', '-c', f'for i in $(seq 200); do {short}; done'], check=True)
        d.done('flush')
        r = harness.report(d.segments()[-1], '--by', 'process', '--filter',
                           f'command == {os.path.basename(short)}')
        assert [row['name'].split()[:2] for row in r['rows']] == [[os.path.basename(short), short]], r
        d.quit()


@test
def functions_of_a_file_that_is_gone_have_names_when_symbols_are_kept():
    for keep in ((), ('--keep-symbols', '100M')):
        gone = os.path.join(DIR, f'gone{os.getpid()}')
        shutil.copy(CPU, gone)
        with daemon(*keep) as d:
            subprocess.run([gone, '15'], check=True, stdout=subprocess.DEVNULL)
            os.unlink(gone)
            d.done('flush')
            ours = ('--db', d.db, '--filter', f'command == {os.path.basename(gone)}')
            p = dwell('report', *ours)
            assert p.returncode == 0, p.stderr
            assert bool(re.search(r'\bmain\b', p.stdout)) == bool(keep), p.stdout
            if keep:  # names are all that is there: no code is made up
                p = dwell('annotate', 'main', *ours)
                assert 'has no code' in p.stdout and 'mov' not in p.stdout, p.stdout + p.stderr
            d.quit()


@test
def processes_are_told_apart_where_it_is_asked_for():
    with daemon('--per-process') as d:
        pids = {run_cpu_pid(), run_cpu_pid()}
        d.done('flush')
        r = harness.report(d.segments()[-1], '--by', 'process', '--filter', f'command == {NAME}')
        # Until an exec has named it, it is its parent's process in its own file.
        rows = [row['name'].split()[-1] for row in r['rows'] if row['name'].startswith(NAME)]
        assert sorted(p for p in rows if int(p) in pids) == sorted(map(str, pids)), rows
        d.quit()


@test
def epochs_and_labels_part_what_runs():
    with daemon('--label', 'first') as d:
        run_cpu()
        d.done('epoch', 'the', 'second one')
        one = run_cpu(15)
        d.done('label', 'renamed')
        assert d.status()['label'] == 'renamed'
        d.quit()
        assert 'label first' in open(f'{glob.glob(d.db + "/*")[0]}/0001/MANIFEST', encoding='utf-8').read()
        got = sum_of(d.segments('0002'))
        assert abs(got / one - 1) < 0.1, f'{got / 1e6} of {one / 1e6} ms'


@test
def the_status_tells_rates_and_costs():
    with daemon('-F', '1000') as d:
        run_cpu()
        s = d.status()
        assert s['samples'] > 500 and s['lost'] == 0, s
        assert s['samples'] <= 1.2e-9 * 1000 * s['running-ns'] * os.cpu_count(), s
        assert 0 < s['longest-gap-ns'] < s['running-ns'], s
        assert 0 < s['own-bytes'] < 100e6 and 0 < s['kernel-bytes'] < 60e6, s
        text = d.done('status')
        for word in ('running', 'samples', 'lost        nothing', 'own cost', 'database'):
            assert word in text, text
        assert max(map(len, text.splitlines())) <= 80, text
        d.quit()


@test
def a_paused_daemon_takes_no_samples():
    with daemon() as d:
        d.done('pause')
        assert 'paused' in d.done('status')
        before = d.status()['samples']
        run_cpu()
        assert d.status()['samples'] == before
        d.done('resume')
        stolen = stolen_ns()
        used = run_cpu()
        stolen = stolen_ns() - stolen
        d.done('flush')
        assert_is_all(sum_of(d.segments()), used, stolen)
        d.quit()


@test
def how_late_samples_are_is_told_where_it_is_measured():
    with daemon('--measure') as d:
        run_cpu()
        s = d.status()
        assert 0 < s['late-ns-median'] <= s['late-ns-p99'] <= s['late-ns-max'], s
        assert s['late-user'] <= s['late'] < s['samples'] / 2, s
        text = d.done('status')
        assert 'within' in text and max(map(len, text.splitlines())) <= 80, text
        d.done('flush')
        text = dwell('report', '--db', d.db).stdout
        assert ('32 us or more after their time' in text.replace('\n              ', ' ')) == (s['late'] > 0), text
        d.quit()


@test
def what_samples_cost_is_told_where_it_is_measured():
    with daemon('--measure') as d:
        run_cpu()
        s = d.status()
        assert 0 < s['hit-ns-mean'] < s['miss-ns-mean'], s
        assert s['hit-ns-mean'] < s['sample-ns-mean'] < 1e6, s
        assert 'in the table' in d.done('status')
        d.quit()
    with daemon() as d:
        assert d.status()['sample-ns-mean'] == 0
        d.quit()


@test
def a_killed_daemon_loses_no_more_than_the_last_seconds():
    with daemon() as d:
        run_cpu(90)
        time.sleep(7)
        d.child.kill()
        d.child.wait(30)
        assert not d.segments(), d.segments()
    with daemon(db=d.db) as again:
        again.done('flush')
        took = sum_of(again.segments())
        assert took > 1e9, took
        again.quit()
    left = glob.glob(f'{d.db}/*/*.part')
    assert not left, left


@contextlib.contextmanager
def hurried():
    """Who looks for what lives for a moment must get to run."""
    usual = os.getpriority(os.PRIO_PROCESS, 0)
    os.setpriority(os.PRIO_PROCESS, 0, -20)
    try:
        yield
    finally:
        os.setpriority(os.PRIO_PROCESS, 0, usual)


def making(d, deadline):
    """The process that makes segments, stopped; None when there was none until then."""
    with hurried():
        while time.time() < deadline:
            for pid in open(f'/proc/{d.child.pid}/task/{d.child.pid}/children', encoding='utf-8').read().split():
                # Until it is another program it is a copy of the daemon.
                with contextlib.suppress(ProcessLookupError, FileNotFoundError):
                    if '\0segments\0' in open(f'/proc/{pid}/cmdline', encoding='utf-8').read():
                        os.kill(int(pid), signal.SIGSTOP)
                        return int(pid)
            time.sleep(0.001)
    return None


def is_dead(pid):
    """Also when whoever inherited it has not asked how it ended yet."""
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        return open(f'/proc/{pid}/stat', encoding='utf-8').read().rsplit(')', 1)[1].split()[0] in 'ZX'
    return True


def killed(pid):
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


@test
def making_segments_does_not_hold_up_the_daemon():
    with daemon('--merge', '2s') as d:
        pid = making(d, time.time() + 30)
        assert pid, 'it makes no segments'
        before = d.status()['stored']
        run_cpu(60)
        assert d.status()['stored'] > before + 1000
        os.kill(pid, signal.SIGCONT)
        d.quit()
        assert sum_of(d.segments()) > 1e9


@test
def what_is_killed_making_segments_is_started_again_and_counts_once():
    with daemon() as d:
        used = run_cpu() + run_cpu()
        flush = subprocess.Popen([DWELL, 'ctl', '--socket', d.socket, 'flush'])
        for _ in range(2):
            pid = making(d, time.time() + 30)
            if pid:
                killed(pid)
        assert flush.wait(60) == 0
        assert abs(sum_of(d.segments()) / used - 1) < 0.05
        d.quit()
    assert not glob.glob(f'{d.db}/*/*.part')


@test
def what_is_killed_again_and_again_is_told_and_waits():
    with daemon() as d:
        used = run_cpu()
        flush = subprocess.Popen([DWELL, 'ctl', '--socket', d.socket, 'flush'], stderr=subprocess.PIPE, text=True)
        while flush.poll() is None:
            pid = making(d, time.time() + 0.1)
            if pid:
                killed(pid)
        assert flush.returncode == 1 and 'killed by signal 9' in flush.stderr.read()
        s = d.status()
        assert s['failures'] == 1 and s['makers-killed'] == 3 and s['makers-failed'] == 0, s
        assert '3 were killed' in d.done('status')
        d.done('flush')
        assert abs(sum_of(d.segments()) / used - 1) < 0.05
        d.quit()


@test
def a_flush_waits_for_what_makes_segments_and_is_at_work():
    with daemon('--merge', '2s') as d:
        for _ in range(5):
            lazy = making(d, time.time() + 60)
            assert lazy, 'it makes no segments'
            flush = subprocess.Popen([DWELL, 'ctl', '--socket', d.socket, 'flush'])
            os.kill(lazy, signal.SIGCONT)
            assert flush.wait(60) == 0
        s = d.status()
        assert s['makers'] >= 10 and not s['makers-killed'] + s['makers-failed'] + s['makers-ended'], s
        d.quit()


@test
def what_makes_segments_dies_with_the_daemon():
    with daemon('--merge', '2s') as d:
        stolen = stolen_ns()
        used = run_cpu(60)
        stolen = stolen_ns() - stolen
        pid = making(d, time.time() + 30)
        d.child.kill()
        d.child.wait(30)
        with daemon(db=d.db) as again:
            assert is_dead(pid), 'it outlives the daemon'
            again.quit()
        took = sum_of(d.segments())
        assert used * 0.3 < took < used * 1.02 + stolen, f'{took / 1e6} of {used / 1e6} ms, {stolen / 1e6} stolen'


@test
def what_hangs_making_segments_does_not_hold_up_the_end():
    with daemon('--patience', '2s') as d:
        used = run_cpu(60)
        flush = subprocess.Popen([DWELL, 'ctl', '--socket', d.socket, 'flush'], stderr=subprocess.DEVNULL)
        first = making(d, time.time() + 30)
        assert first, 'it makes no segments'
        d.child.send_signal(signal.SIGTERM)
        flush.kill()
        flush.wait(30)
        # One that hangs is done away with, and another tries.
        second = first
        while second in (first, None):
            assert d.child.poll() is None, 'nobody else tries'
            second = making(d, time.time() + 1)
        code = d.child.wait(60)
        text = d.child.stderr.read()
        assert code == 1 and 'takes too long' in text, (code, text)
        assert len(glob.glob(f'{d.db}/*/*.closed.part')) >= 1, 'nothing waits'
    with daemon(db=d.db) as again:
        again.done('flush')
        again.quit()
        assert abs(sum_of(again.segments()) / used - 1) < 0.05


@test
def nobody_waits_for_what_is_made_lazily():
    with daemon('--merge', '2s') as d:
        used = run_cpu(60)
        lazy = making(d, time.time() + 30)
        assert lazy, 'it makes no segments'
        # It stands still for ever; a flush, an epoch and a label do not.
        d.done('flush')
        assert is_dead(lazy) and d.status()['makers-ended'] == 1
        d.done('epoch', 'next')
        d.done('label', 'other')
        assert d.status()['label'] == 'other'
        d.quit()
    assert abs(sum_of(d.segments()) / used - 1) < 0.05
    assert not glob.glob(f'{d.db}/*/*.part')


@test
def a_second_daemon_on_the_same_database_is_refused():
    with daemon() as d:
        other = Daemon('--socket', os.path.join(DIR, 'other.socket'), db=d.db)
        text = other.child.communicate(timeout=30)[1]
        assert other.child.returncode == 1 and str(d.child.pid) in text, text
        same = dwell('daemon', '--db', os.path.join(DIR, 'elsewhere'), '--socket', d.socket)
        assert same.returncode == 2 and 'already' in same.stderr, same.stderr
        d.quit()


@test
def what_is_damaged_is_kept_aside_and_told():
    with daemon() as d:
        d.quit()
        host = os.path.dirname(os.path.dirname(d.segments()[0])) if d.segments() else glob.glob(f'{d.db}/*')[0]
    damaged = os.path.join(host, '100-200.closed.part')
    with open(damaged, 'wb') as f:
        f.write(b'no recording')
    with daemon(db=d.db) as again:
        used = run_cpu()
        failed = again.ctl('flush')
        deadline = time.time() + 30
        while os.path.exists(damaged):
            assert time.time() < deadline, 'it is still there'
            time.sleep(0.1)
        again.done('flush')
        assert again.status()['damaged'] == 1
        assert '*.damaged' in again.done('status')
        again.child.send_signal(signal.SIGTERM)
        again.child.wait(30)
        told = again.child.stderr.read() + failed.stderr
        assert '100-200.damaged' in told and 'not a' in told, told
        assert abs(sum_of(again.segments()) / used - 1) < 0.05
    with open(os.path.join(host, '100-200.damaged'), 'rb') as f:
        assert f.read() == b'no recording'


@test
def a_relative_database_can_be_followed_from_elsewhere():
    place = tempfile.mkdtemp(dir=DIR)
    d = Daemon(db='here', cwd=place)
    d.socket = os.path.join(place, d.socket)
    try:
        d.wait_until_ready()
        run_cpu(15)
        r = dwell('top', '-b', '-n', '1', '-d', '0.5', '--socket', d.socket, cwd='/')
        assert r.returncode == 0, r.stderr
        d.quit()
    finally:
        d.child.kill()
    assert glob.glob(f'{place}/here/*/*/*.dwell')


@test
def signals_flush_and_end_it():
    with daemon() as d:
        run_cpu(15)
        d.child.send_signal(signal.SIGHUP)
        deadline = time.time() + 20
        while not d.segments():
            assert time.time() < deadline, 'SIGHUP did not flush'
            time.sleep(0.1)
        run_cpu(15)
        d.child.send_signal(signal.SIGTERM)
        assert d.child.wait(30) == 0
        assert len(d.segments()) == 2, d.segments()
        assert not os.path.exists(d.socket)


@test
def only_its_owner_may_speak_to_it_or_read_what_it_wrote():
    with daemon() as d:
        d.done('flush')
        assert os.stat(d.socket).st_mode & 0o077 == 0
        for path in (d.segments()[0], os.path.dirname(d.segments()[0])):
            assert os.stat(path).st_mode & 0o077 == 0, path
        d.quit()


@test
def it_keeps_no_privilege_that_it_does_not_need():
    with daemon() as d:
        status = open(f'/proc/{d.child.pid}/status', encoding='utf-8').read()
        caps = int(re.search(r'CapPrm:\s*(\w+)', status)[1], 16)
        assert not caps & (1 << 21 | 1 << 12 | 1 << 6 | 1 << 7), hex(caps)  # sys_admin, net_admin, set[gu]id
        assert re.search(r'NoNewPrivs:\s*1', status)
        # and yet names what it meets later: kernel symbols, files of others
        run_cpu(15)
        subprocess.run(['find', '/usr/share/doc', '-maxdepth', '1'], stdout=subprocess.DEVNULL, check=True)
        d.done('flush')
        r = harness.report(d.segments()[-1])
        kernel = [row for row in r['rows'] if row['image'] == '[kernel]']
        assert len(kernel) > 10 and not [row for row in kernel if row['name'] == '[kernel]'], kernel[:5]
        d.quit()


@test
def a_full_disk_ends_nothing():
    place = os.path.join(DIR, 'small')
    os.mkdir(place)
    subprocess.run(['mount', '-t', 'tmpfs', '-o', 'size=4m', 'none', place], check=True)
    try:
        with daemon('--merge', '1s', db=os.path.join(place, 'db')) as d:
            filler = os.path.join(place, 'filler')
            with contextlib.suppress(OSError), open(filler, 'wb') as f:
                f.write(bytes(8 << 20))
            run_cpu(60)
            assert d.child.poll() is None
            os.unlink(filler)
            run_cpu(60)
            d.done('flush')
            assert d.status()['troubles'] > 0
            assert sum_of(d.segments()) > 5e8
            d.quit()
    finally:
        subprocess.run(['umount', '-l', place], check=True)


@test
def thousands_of_processes_cost_no_memory():
    with daemon('--merge', '5s') as d:
        def storm(n):
            for _ in range(n):
                subprocess.run(['/bin/true'], check=True)
            d.done('flush')
            return own_memory(d.child.pid)
        before = storm(300)
        after = storm(1500)
        assert after < before + 12e6, f'{before / 1e6} to {after / 1e6} MB'
        d.quit()


@test
def stacks_are_no_deeper_than_asked_for():
    with daemon('--depth', '1', '--drain', '300ms') as d:
        used = run_cpu()
        d.done('flush')
        got, r = cpu_ns(d.segments()[-1])
        assert abs(got / used - 1) < 0.05, f'{got / 1e6} of {used / 1e6} ms'
        assert harness.total_of(r, 'main', 'inclusive') < 0.5 * got, r['rows'][:5]
        d.quit()


@test
def where_bpf_is_refused_perf_samples_and_it_is_told():
    with daemon('-F', '997', prefix=without_bpf()) as d:
        used = run_cpu() + run_cpu()
        note = ask(d, 'recent')['note']
        assert 'BPF' in note, note
        d.done('flush')
        segment = d.segments()[-1]
        got, r = cpu_ns(segment)
        lost = d.status()['lost'] * 1e9 / 997
        assert 0.95 * used - lost < got < 1.05 * used, f'{got / 1e6} of {used / 1e6} ms'
        inclusive = harness.total_of(r, 'main', 'inclusive')
        assert inclusive > 0.98 * got, (inclusive, got, r['quality']['truncated'], r['rows'][:5])
        assert abs(harness.total_of(r, 'E', 'exclusive') / got - 10 / 32) < 0.04, r['rows'][:5]
        # As the kernel would count them, they are one.
        r = harness.report(segment, '--by', 'process', '--filter', f'command == {NAME}')
        assert [row['name'].split()[:2] for row in r['rows'] if row['name'].startswith(NAME)] == [
            [NAME, CPU]], r['rows']
        # Of what only the kernel's tables would tell, nothing is made up.
        s = d.status()
        assert s['how'] == 'perf cpu-clock' and 'BPF' in s['notice'] and 'hits' not in s, s
        text = d.done('status')
        assert 'perf samples' in text and "in the kernel's tables" not in text, text
        assert 'perf samples' in dwell('cat', '--section', 'info', segment).stdout
        d.quit()
        assert 'perf samples' in d.child.stderr.read()


@test
def without_bpf_nothing_is_missed_between_recordings():
    with daemon('-F', '997', prefix=without_bpf()) as d:
        child = subprocess.Popen([CPU, '40'], stdout=subprocess.DEVNULL)
        pid = 0
        while not pid:
            time.sleep(0.3)
            d.done('flush')
            pid, status, usage = os.wait4(child.pid, os.WNOHANG)
        child.returncode = os.waitstatus_to_exitcode(status)
        assert child.returncode == 0
        used = (usage.ru_utime + usage.ru_stime) * 1e9
        d.done('flush')
        segments = d.segments()
        assert len(segments) >= 3, segments
        got = sum(harness.report(s, '--filter', f'command == {NAME}')['total'].get('cpu-time', 0)
                  for s in segments)
        lost = d.status()['lost'] * 1e9 / 997
        assert 0.95 * used - lost < got < 1.05 * used, f'{got / 1e6} of {used / 1e6} ms'
        d.quit()


@test
def without_bpf_memory_is_bounded_and_options_mean_the_same():
    with daemon('--depth', '1', '--per-process', '--merge', '5s', prefix=without_bpf()) as d:
        def storm(n):
            for _ in range(n):
                subprocess.run(['/bin/true'], check=True)
            d.done('flush')
            return own_memory(d.child.pid)
        before = storm(300)
        after = storm(1500)
        assert after < before + 12e6, f'{before / 1e6} to {after / 1e6} MB'
        pids = {run_cpu_pid(), run_cpu_pid()}
        d.done('flush')
        r = harness.report(d.db, '--filter', f'command == {NAME}', '--db')
        got = r['total']['cpu-time']
        assert harness.total_of(r, 'main', 'inclusive') < 0.5 * got, r['rows'][:5]
        r = harness.report(d.db, '--by', 'process', '--filter', f'command == {NAME}', '--db')
        assert all(any(str(pid) in row['name'].split() for row in r['rows']) for pid in pids), r['rows']
        d.quit()


@test
def controls_without_a_daemon_say_so():
    p = dwell('ctl', '--socket', os.path.join(DIR, 'nobody'), 'status')
    assert p.returncode == 1 and 'no daemon' in p.stderr, p.stderr
    p = dwell('ctl', 'fly')
    assert p.returncode == 2 and 'status, flush' in p.stderr, p.stderr


def main():
    why = harness.why_no_bpf()
    if why:
        return skip_all(why)
    shutil.copy(os.path.join(sys.argv[2], 'cpu'), CPU)
    return run_all(TESTS, words=sys.argv[3:])


sys.exit(main())
