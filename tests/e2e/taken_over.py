#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Daemons that are killed, and what the next one finds in the kernel.
usage: taken_over.py DWELL WORKLOAD_DIR"""
import glob
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time

from daemons import PERIOD_NS, Daemon, daemon, kernel_stats, pins_of, report, samples, without_bpf
from harness import DIR, DWELL, IS_ROOT, TESTS, dwell, need, run_all, skip_all, stolen_ns, test, wait_until

WORKLOADS = os.path.abspath(sys.argv[2])
NAME = f'cpu{os.getpid()}'
CPU = os.path.join(DIR, NAME)
STOLEN_NS = stolen_ns()
MOMENTS = random.Random(os.getpid())


def kill(d):
    d.child.kill()
    d.child.wait(30)


def of_command(d, *options):
    return report(d, '--filter', f'command == {NAME}', *options)


def cut_off(r):
    """The share of CPU time whose stacks ended early."""
    whole = r['total']['cpu-time']
    return sum(row['exclusive'].get('cpu-time', 0) for row in r['rows'] if row['name'] == '[truncated]') / whole


def busy(seconds):
    """A process that is for so long on a CPU, and what it took of it."""
    return subprocess.Popen([CPU, str(int(seconds * 30))], stdout=subprocess.DEVNULL)


def used_ns(child):
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    assert child.returncode == 0, child.returncode
    return (usage.ru_utime + usage.ru_stime) * 1e9


def is_exact(d):
    """Each sample that the kernel took is in the database once, but for those that did not
    fit into its rings, which are counted."""
    d.done('pause')
    d.done('flush')
    taken, lost = kernel_stats(d)
    in_database = samples(d)
    assert abs(in_database + lost - taken) < 0.5, (in_database, lost, taken)


def is_all(d, used):
    """The workload's time, but for what is known to be lost.  What the hypervisor took is
    sampled, and is not in what a process used."""
    r = of_command(d)
    lost_ns = kernel_stats(d)[1] * PERIOD_NS
    took = r['total']['cpu-time']
    assert 0.97 * used - lost_ns < took < 1.03 * used + stolen_ns() - STOLEN_NS, (took, used, lost_ns)
    return r


@test
def what_is_taken_while_nobody_is_there_is_in_the_database_once():
    with daemon() as d:
        child = busy(3)
        time.sleep(1)
        kill(d)
        time.sleep(1)
    with daemon(db=d.db) as d:
        used = used_ns(child)
        s = d.status()
        assert s['taken-over'] == 1, s
        assert s['gap-ns'] > 1e9 and s['gap-samples'] > 3000, s
        is_exact(d)
        r = is_all(d, used)
        assert cut_off(r) < 0.001, cut_off(r)
        d.quit()
    assert not os.path.exists(pins_of(d))


@test
def killed_again_and_again_at_any_moment_nothing_is_lost_or_counted_twice():
    with daemon() as d:
        child = busy(4)
        for _ in range(5):
            time.sleep(MOMENTS.uniform(0, 1.2))
            kill(d)
            d = Daemon(db=d.db)
            d.wait_until_ready()
        used = used_ns(child)
        is_exact(d)
        is_all(d, used)
        d.quit()


@test
def killed_while_it_starts_it_leaves_what_was_there():
    with daemon() as d:
        child = busy(3)
        for _ in range(6):
            kill(d)
            d = Daemon(db=d.db)
            time.sleep(MOMENTS.uniform(0, 0.7))
        kill(d)
        d = Daemon(db=d.db).wait_until_ready()
        used = used_ns(child)
        is_exact(d)
        is_all(d, used)
        d.quit()


@test
def killed_while_it_drains_and_makes_segments_all_the_time_nothing_is_lost():
    options = ('--drain', '100ms', '--merge', '1s')
    with daemon(*options) as d:
        for _ in range(6):
            child = busy(0.5)
            time.sleep(MOMENTS.uniform(0, 1))
            kill(d)
            d = Daemon(*options, db=d.db).wait_until_ready()
            used_ns(child)
        is_exact(d)
        d.quit()


@test
def programs_that_come_and_go_meanwhile_have_their_names():
    name = f'gone{os.getpid()}'
    program = os.path.join(DIR, name)
    with daemon() as d:
        kill(d)
        shutil.copy(os.path.join(WORKLOADS, 'cpu'), program)
        for _ in range(3):
            subprocess.run([program, '5'], stdout=subprocess.DEVNULL, check=True)
    with daemon(db=d.db) as d:
        d.done('flush')
        r = report(d, '--filter', f'command == {name}')
        assert r['total']['cpu-time'] > 0.2e9, r['total']
        assert any(name in row['image'] for row in r['rows']), r['rows'][:5]
        d.quit()


@test
def another_daemon_does_not_go_on_with_what_it_cannot_understand_and_says_so():
    with daemon() as d:
        kill(d)
        before = kernel_stats(d)[0]
        used_ns(busy(1))
        least = kernel_stats(d)[0] - before
    with daemon('-F', '997', db=d.db) as d:
        s = d.status()
        assert 'removed' in s['removed'] and 'taken-over' not in s, s
        # What came between the last drain and the removal is lost, too.
        assert s['lost'] >= least > 0, (s, least)
        assert len(glob.glob(pins_of(d) + '/link*')) == os.cpu_count()
        used = used_ns(busy(1))
        d.quit()
        r = of_command(d)
        assert r['total']['cpu-time'] > 0.9 * used
        assert r['quality']['lost'] >= least, (r['quality'], least)
    text = d.child.stderr.read()
    assert len(re.findall(r'was removed: [0-9,.]+ *\w* samples', text)) == 1, text


@test
def where_bpf_is_refused_to_the_next_perf_samples_and_nothing_else_counts():
    with daemon() as d:
        path = pins_of(d)
        kill(d)
        assert glob.glob(path + '/link*')
    with daemon('-F', '199', db=d.db, prefix=without_bpf()) as d:
        s = d.status()
        assert 'BPF' in s['notice'] and s['how'] == 'perf cpu-clock' and 'taken-over' not in s, s
        assert not os.path.exists(path)
        used_ns(busy(1))
        d.quit()
        assert of_command(d)['total']['cpu-time'] > 0, report(d)['total']


@test
def it_leaves_nothing_when_it_ends_in_order():
    for end in (lambda d: d.quit(), lambda d: d.child.send_signal(signal.SIGTERM)):
        with daemon() as d:
            path = pins_of(d)
            assert glob.glob(path + '/link*')
            end(d)
            assert d.child.wait(30) == 0
            assert not os.path.exists(path)


@test
def what_is_not_asked_for_is_not_left_and_what_was_left_can_be_removed():
    with daemon('--no-pins') as d:
        path = pins_of(d)
        assert not os.path.exists(path) and d.status()['unkept']
        assert 'if killed' in d.done('status')
        kill(d)
    with daemon(db=d.db) as d:
        assert not d.status()['unkept'] and os.path.exists(path)
        p = dwell('daemon', '--unpin', '--db', d.db)
        assert p.returncode and 'pid' in p.stderr and os.path.exists(path), p
        kill(d)
    for text in ('is removed', 'nothing was left'):
        p = dwell('daemon', '--unpin', '--db', d.db)
        assert p.returncode == 0 and text in p.stdout, p
    assert not os.path.exists(path)
    none = d.db + '-none'
    p = dwell('daemon', '--unpin', '--db', none)
    assert p.returncode and 'no database' in p.stderr and not os.path.exists(none), p


LEAVES = '''
from daemons import Daemon, pins_of
d = Daemon().wait_until_ready()
print(pins_of(d), d.db, flush=True)
input()
'''


@test
def a_test_that_is_killed_with_its_daemon_leaves_nothing():
    with subprocess.Popen([sys.executable, '-c', LEAVES, DWELL], cwd=os.path.dirname(os.path.abspath(__file__)),
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True, text=True) as p:
        pins, db = p.stdout.readline().split()
        was_there = os.path.exists(pins) and os.path.exists(db)
        os.killpg(p.pid, signal.SIGKILL)
    assert was_there, (pins, db)
    wait_until(lambda: not os.path.exists(pins) and not os.path.exists(os.path.dirname(db)), (pins, db))


@test
def the_kernel_stops_when_nobody_comes_for_long():
    need('bpftool')
    with daemon() as d:
        kill(d)
        path = pins_of(d) + '/stats'
        dump = json.loads(subprocess.run(['bpftool', '-j', 'map', 'dump', 'pinned', path], capture_output=True,
                                         text=True, check=True).stdout)
        for entry in dump:  # as if all of that had been taken
            value = [byte[2:] for byte in entry['value']]
            value[8 * 71:8 * 72] = ['00'] * 8
            subprocess.run(['bpftool', 'map', 'update', 'pinned', path, 'key', 'hex',
                            *[byte[2:] for byte in entry['key']], 'value', 'hex', *value], check=True)
        used_ns(busy(0.2))
        before = kernel_stats(d)[0]
        used_ns(busy(0.5))
        assert kernel_stats(d)[0] == before
    with daemon(db=d.db) as d:
        assert d.status()['gap-ended'] == 1
        assert 'stopped by itself' in d.done('status')
        used = used_ns(busy(1))
        d.quit()
        assert of_command(d)['total']['cpu-time'] > 0.9 * used


@test
def without_the_file_system_it_goes_on_and_says_so():
    need('unshare')
    prefix = ['unshare', '-m', 'sh', '-c', 'while umount /sys/fs/bpf 2>/dev/null; do :; done; exec "$@"', 'sh']
    with daemon(prefix=prefix) as d:
        assert 'no BPF file system' in d.status()['unkept']
        used = used_ns(busy(1))
        d.quit()
        assert of_command(d)['total']['cpu-time'] > 0.9 * used


@test
def a_directory_that_others_may_write_is_not_used():
    with daemon() as d:
        path = pins_of(d)
        kill(d)
    os.chmod(path, 0o777)
    with daemon(db=d.db) as d:
        assert "not root's alone" in d.status()['unkept'] and 'taken-over' not in d.status()
        d.quit()
    os.chmod(path, 0o700)
    assert re.search('is removed', dwell('daemon', '--unpin', '--db', d.db).stdout)


def main():
    if not IS_ROOT:
        return skip_all('only root may load BPF programs')
    p = dwell('attach', '-a', '--source', 'system', '-d', '0.01', '-o', os.path.join(DIR, 'probe'))
    if p.returncode != 0:
        return skip_all(p.stderr.strip().splitlines()[-1])
    shutil.copy(os.path.join(WORKLOADS, 'cpu'), CPU)
    with daemon() as d:
        why = d.status()['unkept']
        d.quit()
    if why:
        return skip_all(why)
    return run_all(TESTS, words=sys.argv[3:])


sys.exit(main())
