#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Recordings that are told from outside: marks, pauses, questions, and clients that mean
no good.
usage: marks.py DWELL"""
import array
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time

import harness
from harness import DIR, IS_ROOT, TESTS, Skip, dwell, report, run_all, test, why_no_bpf

PYTHON = [sys.executable, '-S', '-B', '-c']
NOBODY = 65534
PATIENCE = 120

# Works as it is told: a line has it use so much CPU time, and answers; the first line is
# its process.
WORKER = ('import os, sys, time\n'
          'def used(): return time.process_time()\n'
          'print(os.getpid(), flush=True)\n'
          'for line in sys.stdin:\n'
          '    until = used() + float(line)\n'
          '    while used() < until: sum(range(1000))\n'
          '    print("done", flush=True)\n')


class Recording:
    """A program that is recorded and does as it is told."""

    def __init__(self, name, *options, experiment='usertime:1ms'):
        self.path = os.path.join(DIR, f'{name}.dwell')
        self.recorder = subprocess.Popen(
            [harness.DWELL, 'run', '-q', '-S', '0', '-e', experiment, '-o', self.path, *options,
             '--', *PYTHON, WORKER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.program = int(self.recorder.stdout.readline())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.recorder.poll() is None:
            self.recorder.kill()
        self.recorder.communicate()

    def work(self, seconds):
        self.recorder.stdin.write(f'{seconds}\n')
        self.recorder.stdin.flush()
        assert self.recorder.stdout.readline() == 'done\n'

    def end(self):
        self.recorder.communicate(timeout=PATIENCE)
        assert self.recorder.returncode == 0, self.recorder.returncode

    def intervals(self):
        p = dwell('global', '--json', self.path)
        assert p.returncode == 0, p.stderr
        return [(r['cause'], r['name']) for r in json.loads(p.stdout)['rows']]

    def total(self, column, *options):
        return report(self.path, *options)['total'][column]

    def cpu(self, *options):
        return self.total('cpu-time', *options)

    def socket_names(self):
        with open('/proc/net/unix', encoding='utf-8', errors='replace') as f:
            return [line.split()[7][1:] for line in f
                    if f' @dwell-recording.{self.recorder.pid}.' in line]


def ctl(*words, code=0, **more):
    p = dwell('ctl', *map(str, words), **more)
    assert p.returncode == code, (words, p.returncode, p.stdout, p.stderr)
    return p


def refused(*words):
    p = dwell('ctl', *map(str, words))
    assert p.returncode != 0 and p.stderr.count('\n') == 1, (words, p.stdout, p.stderr)
    return p.stderr


@test
def a_mark_from_outside_ends_an_interval_of_its_name():
    with Recording('marked') as r:
        r.work(0.1)
        ctl('mark', r.program, 'warm', 'up')
        r.work(0.3)
        ctl('mark', r.recorder.pid)
        r.work(0.1)
        r.end()
        assert r.intervals() == [('ctl', 'warm up'), ('ctl', 'mark'), ('end', '')], r.intervals()
        whole = r.cpu()
        warm, later, rest = (r.cpu('--filter', f) for f in (
            "mark == 'warm up'", 'mark == mark', 'cause == end'))
        assert warm + later + rest == whole and min(warm, later, rest) > 0, (warm, later, rest, whole)
        assert r.cpu('--filter', 'cause == ctl') == warm + later
        names = [row['name'] for row in report(r.path, '--by', 'interval')['rows']]
        assert sorted(n.strip() for n in names) == ['1  warm up', '2  mark', '3'], names


@test
def what_was_attached_to_is_found_by_its_process():
    victim = subprocess.Popen([*PYTHON, 'input()'], stdin=subprocess.PIPE, text=True)
    path = os.path.join(DIR, 'attached.dwell')
    recorder = subprocess.Popen([harness.DWELL, 'attach', '-q', '-o', path, '-p', str(victim.pid)])
    try:
        deadline = time.time() + PATIENCE
        while dwell('ctl', 'mark', str(victim.pid), 'here').returncode:
            assert time.time() < deadline and recorder.poll() is None
            time.sleep(0.05)
        recorder.send_signal(signal.SIGTERM)
        recorder.wait(timeout=PATIENCE)
    finally:
        recorder.kill()
        victim.kill()
        victim.communicate()
    rows = json.loads(dwell('global', '--json', path).stdout)['rows']
    assert [r['name'] for r in rows if r['cause'] == 'ctl'] == ['here'], rows


# It tells its child and its grandchild, and they sleep.
FAMILY = ('sh', '-c', 'sh -c \'sleep 1000 & echo $$ $!; wait\'; exit 0')


@contextlib.contextmanager
def family(name, *options):
    """The recorder, and whom its program waits for."""
    path = os.path.join(DIR, f'{name}.dwell')
    with subprocess.Popen([harness.DWELL, 'run', '-q', '-S', '0', '-e', 'io', *options, '-o', path,
                           '--', *FAMILY], stdout=subprocess.PIPE, text=True) as recorder:
        below = [int(pid) for pid in recorder.stdout.readline().split()]
        try:
            yield recorder, below
        finally:
            os.kill(below[1], signal.SIGTERM)  # the others have nobody to wait for then


@test
def children_are_found_where_only_the_kernel_counts():
    if why := why_no_bpf():
        raise Skip(why)
    with family('family') as (recorder, below):
        for pid in below:
            ctl('mark', pid, str(pid))
            assert json.loads(ctl('status', '--json', pid).stdout)[0]['recorder'] == recorder.pid
        assert 'no recording' in refused('mark', os.getpid())
    rows = json.loads(dwell('global', '--json', os.path.join(DIR, 'family.dwell')).stdout)['rows']
    assert [r['name'] for r in rows] == [*map(str, below), ''], rows


@test
def children_that_are_not_followed_are_nobodys():
    if why := why_no_bpf():
        raise Skip(why)
    with family('alone', '--follow', 'off') as (recorder, below):
        for pid in below:
            assert 'no recording' in refused('mark', pid)
        ctl('mark', recorder.pid)


@test
def a_recording_tells_how_it_is():
    with Recording('asked') as r:
        r.work(0.2)
        rows = json.loads(ctl('status', '--json', r.program).stdout)
        assert len(rows) == 1, rows
        row = rows[0]
        assert row['recorder'] == r.recorder.pid and row['program'] == r.program, row
        assert row['path'] == os.path.realpath(r.path) and row['experiments'] == 'usertime', row
        assert row['samples'] > 50 and row['lost'] == 0 and row['paused'] == 0, row
        # What it says is in the file: a reader finds no less.
        read = report(r.path, code=1)['total']['cpu-time']  # of one that has no end yet
        assert row['bytes'] > 0 and read >= 0.1e9, (row, read)
        text = ctl('status', r.program).stdout
        assert r.path in text and 'lost nothing' in text, text
        r.end()


@test
def a_recording_pauses_if_it_was_to():
    with Recording('unpaused') as r:
        assert '--toggle' in refused('pause', r.program)
    with Recording('paused', '--pause') as r:
        r.work(0.3)
        assert json.loads(ctl('status', '--json', r.program).stdout)[0]['paused'] == 1
        ctl('resume', r.program)
        r.work(0.2)
        ctl('pause', r.program)
        r.work(0.3)
        r.end()
        assert 0.1e9 < r.cpu() < 0.3e9, r.cpu()


def state_after_a_delay_in_which_it_is_toggled_twice(delay_s):
    """Whether it is paused then; None: the delay was over sooner."""
    began = time.monotonic()
    with Recording(f'toggled-{delay_s}', '--delay', f'{delay_s}s', '--toggle', 'USR2') as r:
        def is_paused():
            return json.loads(ctl('status', '--json', r.program).stdout)[0]['paused']

        for want in (0, 1):
            r.recorder.send_signal(signal.SIGUSR2)
            while is_paused() != want:
                if time.monotonic() > began + delay_s:
                    return None
        if time.monotonic() > began + delay_s:
            return None
        time.sleep(delay_s + 0.5)
        return is_paused()


@test
def who_toggles_within_the_delay_has_the_last_word():
    delay_s, paused = 1, None
    while paused is None and delay_s < PATIENCE:
        delay_s *= 2
        paused = state_after_a_delay_in_which_it_is_toggled_twice(delay_s)
    assert paused == 1, (paused, delay_s)


def who_is_told_to_go_on_again_forgets_nothing(experiment, column):
    """The program waits for a line all the while."""
    if why := why_no_bpf():
        raise Skip(why)
    with Recording(f'resumed-{experiment}', '--pause', experiment=experiment) as r:
        ctl('resume', r.program)
        began = time.monotonic_ns()
        while time.monotonic_ns() < began + 1e9:
            ctl('resume', r.program)
        lasted = time.monotonic_ns() - began
        r.end()
        assert r.total(column) > 0.5 * lasted, (r.total(column), lasted)


@test
def a_wait_lasts_on_if_it_is_resumed_twice():
    who_is_told_to_go_on_again_forgets_nothing('states', 'io-wait')


@test
def a_call_lasts_on_if_it_is_resumed_twice():
    who_is_told_to_go_on_again_forgets_nothing('io', 'io-time')


@test
def who_asks_for_something_else_is_told_so():
    with Recording('strict') as r:
        assert 'no recording' in refused('mark', 1, 'x')
        assert 'is no process id' in refused('mark', 'x')
        assert 'which process' in refused('mark')
        assert 'takes one process' in refused('pause', r.program, 'now')
        assert 'one line' in refused('mark', r.program, 'x' * 300)
        assert 'one line' in refused('mark', r.program, 'a\nb')
        r.end()
        assert r.intervals() == [('end', '')], r.intervals()
    assert 'no recording' in refused('mark', r.program, 'late')


@test
def nobody_else_is_heard_and_who_floods_does_no_harm():
    if not IS_ROOT:
        raise Skip('needs root to become another user')
    with Recording('flooded') as r:
        name = r.socket_names()[0]
        # As another user: valid requests as fast as they can be sent.
        flood = (f'import os, socket\nos.setuid({NOBODY})\n'
                 's = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)\n'
                 'print("here", flush=True)\n'
                 f'while True: s.sendto(b"mark {r.program} theirs", b"\\0{name}")\n')
        flooder = subprocess.Popen([*PYTHON, flood], stdout=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL)
        try:
            flooder.stdout.readline()
            r.work(0.3)
            ctl('mark', r.program, 'mine')
            r.work(0.1)
            assert flooder.poll() is None
            r.end()
        finally:
            flooder.kill()
            flooder.communicate()
        assert r.intervals() == [('ctl', 'mine'), ('end', '')], r.intervals()
        losses = [f for f in report(r.path)['quality']['facts']
                  if f['kind'] == 'loss' and f['value'] and f['name'].startswith('lost')]
        assert not losses, losses


@test
def garbage_is_answered_or_ignored():
    with Recording('garbage') as r:
        name = b'\0' + r.socket_names()[0].encode()
        s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        s.bind('')
        s.settimeout(PATIENCE)
        pieces = [b'', b'\0' * 100, b'mark', b'mark x y', b'mark -1 y', b'mark 99999999999 y',
                  f'fly {r.program} y'.encode(), b'\xff' * 8192, b'mark ' * 10000,
                  f'mark {r.program} a\0b'.encode()]
        for piece in pieces:
            s.sendto(piece, name)
            answer = s.recv(65536)
            assert answer.startswith(b'error\n'), (piece[:20], answer)
        # Descriptors that come along are closed by the kernel.
        ends = os.pipe()
        s.sendmsg([f'mark {r.program} with'.encode()],
                  [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array('i', [ends[1]]))], 0, name)
        assert s.recv(65536) == b'ok\n'
        os.close(ends[1])
        assert os.read(ends[0], 1) == b''
        os.close(ends[0])
        # One who waits for no answer.
        socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(
            f'mark {r.program} quiet'.encode(), name)
        ctl('mark', r.program, 'mine')
        r.end()
        assert [n for _, n in r.intervals()] == ['with', 'quiet', 'mine', ''], r.intervals()


@test
def a_socket_that_only_has_the_name_is_not_believed():
    if not IS_ROOT:
        raise Skip('needs root to become another user')
    with Recording('spoofed') as r:
        code = ('import os, socket\n'
                f'os.setuid({NOBODY})\n'
                's = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)\n'
                's.bind(b"\\0dwell-recording.1.a")\n'
                'print("here", flush=True)\n'
                'while True:\n'
                '    _, who = s.recvfrom(9999)\n'
                '    s.sendto(b"ok\\npath=/tmp/theirs\\n", who)\n')
        spoof = subprocess.Popen([*PYTHON, code], stdout=subprocess.PIPE)
        try:
            spoof.stdout.readline()
            # Ours is asked by a user who is not root, but whom the recorder's user is not.
            p = dwell('ctl', 'status', str(r.program), user=1)
            assert p.returncode and 'no recording' in p.stderr, p
        finally:
            spoof.kill()
            spoof.communicate()
        r.end()


@test
def nothing_is_left_of_a_recorder_that_is_killed():
    with Recording('killed') as r:
        assert len(r.socket_names()) == 1
        r.recorder.kill()
        r.recorder.wait(timeout=PATIENCE)
        assert not r.socket_names()
        assert 'no recording' in refused('mark', r.program, 'late')
    with Recording('ended') as r:
        r.end()
        assert not r.socket_names()


if __name__ == '__main__':
    sys.exit(run_all(TESTS, words=sys.argv[2:]))
