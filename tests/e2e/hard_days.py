#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Days that are hard on the continuous profiler: thousands of processes, a hundred
containers, enormous files, directories that cannot be written, damage, sudden ends.
usage: hard_days.py DWELL WORKLOAD_DIR PROGRAM_DIR"""
import contextlib
import glob
import os
import random
import shutil
import struct
import subprocess
import sys
import time

import harness
from daemons import Daemon, daemon, kernel_stats, own_memory, samples
from harness import DIR, DWELL, TESTS, dwell, need, run_all, skip_all, test

WORKLOADS, PROGRAMS = map(os.path.abspath, sys.argv[2:4])
# Others may run the same programs at the same time: ours have names of their own.
ID = os.getpid() % 100000
CPU = os.path.join(DIR, f'cpu{ID}')
TRUE = os.path.join(DIR, f'true{ID}')
STORM = os.path.join(DIR, f'storm{ID}')
GIGABYTE = 1 << 30


def of_command(d, command, *options):
    """The report of all that a daemon's database has of processes of a name."""
    p = dwell('report', '--json', '--limit', '0', '--filter', f'command == {command}', *options, '--db', d.db)
    assert p.returncode == 0, p.stderr
    return harness.json.loads(p.stdout)


def total(r):
    return r['total']['cpu-time']


def share(r, function, column='inclusive'):
    return harness.total_of(r, function, column) / total(r)


def unknown_share(r):
    """Of no known file, or one that nobody could open; not: of a stripped one."""
    unknown = [i for i in r['quality']['unresolved_images'] if not (i['problem'] or '').startswith('no debug')]
    return sum(i['weight'] for i in unknown) / total(r), unknown


def used_ns(child):
    """Waits for it; its CPU time by the kernel's account, and that of its children."""
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    assert child.returncode == 0
    return (usage.ru_utime + usage.ru_stime) * 1e9


@contextlib.contextmanager
def own_file_system(*options):
    """An empty one, of its own."""
    place = os.path.join(DIR, f'mount{len(os.listdir(DIR))}')
    os.mkdir(place)
    subprocess.run(['mount', '-t', 'tmpfs', *options, 'none', place], check=True)
    try:
        yield place
    finally:
        subprocess.run(['umount', '-l', place], check=True)


@test
def nothing_is_lost_in_a_storm_of_execs():
    with daemon() as d:
        begin, memory = time.time(), own_memory(d.child.pid)
        child = subprocess.Popen([STORM, 'execs', '4', TRUE], stdout=subprocess.PIPE, text=True)
        n = int(child.stdout.readline().split()[0])
        used = used_ns(child)
        took = time.time() - begin
        memory = own_memory(d.child.pid) - memory
        d.done('flush')
        status = d.status()
        d.quit()
        r = of_command(d, os.path.basename(TRUE))
        whole = total(r) + total(of_command(d, os.path.basename(STORM)))
        print(f'# {n / took:.0f} execs a second')
        assert status['lost'] == 0, status
        assert r['quality']['lost'] == 0
        assert 0.9 < whole / used < 1.1, f'{whole / 1e6} of {used / 1e6} ms'
        assert unknown_share(r)[0] <= 0.0005, unknown_share(r)
        assert memory < 16e6, f'{memory / 1e6} MB more'


@test
def a_hundred_containers_keep_their_files_apart():
    need('unshare')
    name = f'boxed{ID}'
    with own_file_system() as place:
        # At the same place, with the same inode number, another program.
        shutil.copy(os.path.join(WORKLOADS, 'mt'), os.path.join(place, name))
        script = f'mount -t tmpfs none {place} && cp {CPU} {place}/{name} && exec {place}/{name} 1'
        with daemon() as d:
            used = 0
            for _ in range(10):
                children = [subprocess.Popen(['unshare', '-m', 'sh', '-c', script], stdout=subprocess.DEVNULL)
                            for _ in range(10)]
                used += sum(map(used_ns, children))
            d.done('flush')
            d.quit()
            r = of_command(d, name)
            images = of_command(d, name, '--by', 'image')
            assert 0.7 < total(r) / used < 1.1, f'{total(r) / 1e6} of {used / 1e6} ms'
            boxed = sum(row['exclusive']['cpu-time'] for row in images['rows'] if row['name'].endswith(name))
            assert boxed > 0.7 * total(r), images['rows'][:5]
            # What was another program's would have that one's names.
            wrong = [row for row in r['rows'] if row['name'] in ('worker', 'spin', 'inside', 'outside')]
            assert not wrong, wrong


def with_large_section(source, target):
    """A copy with a section of a gigabyte behind all others, without its bytes on the disk."""
    data = bytearray(open(source, 'rb').read())
    at, = struct.unpack_from('<Q', data, 0x28)
    size, n = struct.unpack_from('<HH', data, 0x3a)
    headers = data[at:at + size * n] + struct.pack('<IIQQQQIIQQ', 0, 1, 0, 0, len(data), GIGABYTE, 0, 0, 1, 0)
    struct.pack_into('<Q', data, 0x28, len(data) + GIGABYTE)
    struct.pack_into('<H', data, 0x3c, n + 1)
    with open(target, 'wb') as f:
        f.write(data)
        f.seek(len(data) + GIGABYTE)
        f.write(headers)
    os.chmod(target, 0o755)


@test
def a_file_of_a_gigabyte_costs_no_memory():
    large = os.path.join(DIR, f'large{ID}')
    with_large_section(CPU, large)
    with daemon() as d:
        memory = own_memory(d.child.pid)
        # Long beside the moment until its rules are there.
        used = used_ns(subprocess.Popen([large, '200'], stdout=subprocess.DEVNULL))
        d.done('flush')
        memory = own_memory(d.child.pid) - memory
        d.quit()
        r = of_command(d, os.path.basename(large))
        assert 0.95 < total(r) / used < 1.05
        assert share(r, 'main') > 0.95 and share(r, 'C') > 0.7, r['rows'][:5]
        assert memory < 16e6, f'{memory / 1e6} MB more'


@test
def a_directory_that_cannot_be_written_ends_it_at_once():
    with own_file_system('-o', 'ro') as place:
        p = dwell('daemon', '--db', os.path.join(place, 'db'), '--socket', os.path.join(DIR, 'ro.socket'))
        assert p.returncode == 1 and 'Read-only' in p.stderr, p.stderr


@test
def a_directory_that_becomes_read_only_ends_nothing():
    with own_file_system() as place, daemon(db=os.path.join(place, 'db')) as d:
        # Over itself: what is open stays writable, what is opened from now on is not.
        subprocess.run(['mount', '--bind', place, place], check=True)
        subprocess.run(['mount', '-o', 'remount,bind,ro', place], check=True)
        used = used_ns(subprocess.Popen([CPU, '10'], stdout=subprocess.DEVNULL))
        failed = d.ctl('flush')
        assert failed.returncode == 1 and 'Read-only' in failed.stderr, failed.stderr
        assert d.status()['failures'] > 0
        subprocess.run(['umount', place], check=True)
        used += used_ns(subprocess.Popen([CPU, '10'], stdout=subprocess.DEVNULL))
        d.wait_for(is_well_again)
        d.done('pause')
        d.done('flush')
        all_is_there_or_lost(d, d.status()['lost'])
        d.quit()
        assert total(of_command(d, os.path.basename(CPU))) > 0.5 * used


@contextlib.contextmanager
def full(place):
    """Nothing more can be written there meanwhile."""
    ballast = os.path.join(place, 'ballast')
    with open(ballast, 'wb', buffering=0) as f, contextlib.suppress(OSError):
        while True:
            f.write(bytes(4096))
    yield
    os.unlink(ballast)


def is_in_trouble(s):
    return s.get('trouble') and s['waiting-bytes'] > 0


def is_well_again(s):
    return not s.get('trouble') and not s['waiting-bytes']


def all_is_there_or_lost(d, lost):
    """Each sample that the kernel took is in the database once, or counted as lost."""
    taken, in_database = kernel_stats(d)[0], samples(d)
    assert not d.status()['waiting-recordings']
    assert abs(in_database + lost - taken) < 0.5, (in_database, lost, taken)


@test
def a_disk_that_is_full_for_a_while_costs_nothing_and_is_told():
    with own_file_system('-o', 'size=16m') as place, daemon(db=os.path.join(place, 'db')) as d:
        with full(place):
            s = d.wait_for(is_in_trouble)
            assert 'No space' in s['trouble-text'] and s['troubles'] == 1, s
            failed = d.ctl('flush')
            assert failed.returncode == 1 and 'No space' in failed.stderr, failed
            used = used_ns(subprocess.Popen([CPU, '10'], stdout=subprocess.DEVNULL))
            assert 'waits in memory' in d.done('status')
        s = d.wait_for(is_well_again)
        assert s['trouble-bytes'] > 0 and 'ended' in d.done('status'), s
        d.done('pause')
        d.done('flush')
        all_is_there_or_lost(d, d.status()['lost'])
        assert total(of_command(d, os.path.basename(CPU))) > 0.5 * used
        d.quit()
        told = d.child.stderr.read()
        lines = told.splitlines()
        assert len(lines) == len(set(lines)) and lines[-1].endswith('works again'), told


@test
def what_waits_for_room_when_the_daemon_is_killed_is_counted_as_lost():
    with own_file_system('-o', 'size=16m') as place:
        with daemon(db=os.path.join(place, 'db')) as d:
            with full(place):
                d.wait_for(is_in_trouble)
                d.child.kill()
                d.child.wait(30)
        with daemon(db=d.db) as d:
            d.done('pause')
            d.done('flush')
            p = dwell('report', '--json', '--limit', '0', '--db', d.db)
            lost = harness.json.loads(p.stdout)['quality']['lost']
            assert lost > 0
            all_is_there_or_lost(d, lost)
            d.quit()


@test
def a_daemon_that_begins_on_a_full_disk_waits_for_room_and_says_so():
    with own_file_system('-o', 'size=1m') as place:
        with full(place):
            d = Daemon(db=os.path.join(place, 'db'))
            deadline = time.time() + 60
            while 'waits for room' not in d.ctl('status').stderr:
                assert d.child.poll() is None and time.time() < deadline, d.ctl('status')
                time.sleep(0.1)
        d.wait_until_ready()
        d.quit()
        told = d.child.stderr.read()
        assert told.count('No space') == 1, told


def flip(path, at):
    with open(path, 'r+b') as f:
        f.seek(at)
        byte = f.read(1)[0]
        f.seek(at)
        f.write(bytes([byte ^ 0x40]))


@test
def corrupt_blocks_are_named_and_the_rest_is_answered():
    with daemon() as d:
        used = used_ns(subprocess.Popen([CPU, '10'], stdout=subprocess.DEVNULL))
        d.done('flush')
        used_ns(subprocess.Popen([CPU, '10'], stdout=subprocess.DEVNULL))
        d.quit()
    whole, first = total(of_command(d, os.path.basename(CPU))), d.segments()[0]
    for at in (100, os.path.getsize(first) // 2, os.path.getsize(first) - 10):
        flip(first, at)
        p = dwell('report', '--json', '--limit', '0', '--filter', f'command == {os.path.basename(CPU)}', '--db', d.db)
        assert p.returncode == 1 and os.path.basename(first) in p.stderr + p.stdout, (at, p.stderr)
        rest = total(harness.json.loads(p.stdout))
        assert whole - 1.1 * used < rest <= whole, (at, rest, whole)
        verified = dwell('db', 'verify', d.db)
        assert verified.returncode == 1 and os.path.basename(first) in verified.stdout + verified.stderr
        flip(first, at)
    assert dwell('db', 'verify', d.db).returncode == 0
    assert total(of_command(d, os.path.basename(CPU))) == whole


@test
def killed_at_any_moment_it_leaves_what_a_reader_can_verify():
    db = os.path.join(DIR, 'killed')
    moments = random.Random(os.getpid())
    with daemon(db=db) as d:
        d.quit()
    for _ in range(3):
        with daemon('--merge', '1s', db=db) as d:
            reader = subprocess.Popen(['sh', '-c', f'while [ -e {d.socket} ]; do {DWELL} db verify {db} || exit 1; done'],
                                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            time.sleep(moments.uniform(0, 2))
            d.child.kill()
            d.child.wait(30)
        os.unlink(d.socket)
        text = reader.communicate(timeout=60)[0]
        assert reader.returncode == 0, text
    with daemon(db=db) as d:
        d.done('flush')
        d.quit()
    p = dwell('db', 'verify', db)
    assert p.returncode == 0, p.stdout + p.stderr
    assert len(d.segments()) >= 2 and not glob.glob(f'{db}/*/*.part'), os.listdir(db)


def main():
    why = harness.why_no_bpf()
    if why:
        return skip_all(why)
    for source, target in ((os.path.join(WORKLOADS, 'cpu'), CPU), ('/bin/true', TRUE),
                           (os.path.join(PROGRAMS, 'e2e-storm'), STORM)):
        shutil.copy(source, target)
    return run_all(TESTS, words=sys.argv[4:])


sys.exit(main())
