# SPDX-License-Identifier: Apache-2.0
"""What a daemon's database says of one program, and programs that can be told from others."""
import contextlib
import json
import os
import shutil
import subprocess
import time

from harness import DIR, dwell

WAKING = ('wakeups', 'wakeup-latency', 'woken-wait')  # no states


def program(path, name):
    """The program under a name of its own: others may run it at the same time."""
    copy = os.path.join(DIR, f'{name}{os.getpid()}')
    if not os.path.exists(copy):
        shutil.copy(shutil.which(path), copy)
    return copy


def name_of(path):
    return os.path.basename(path)[:15]


def report(d, command, *options):
    p = dwell('report', '--json', '--limit', '0', '--db', d.db, '--filter',
              f'command == {name_of(command)}', *options)
    assert p.returncode == 0, p.stderr
    return json.loads(p.stdout)


def total(d, command, *options):
    return report(d, command, *options)['total']


def by_call(d, command, *options):
    """{call: {column: n}}"""
    return {r['name']: r['exclusive'] for r in report(d, command, '--by', 'call', *options)['rows']}


def counted(d, command, *options):
    """{call: (calls, errors)} of those that returned"""
    return {name: (c.get('syscalls', 0), c.get('syscall-errors', 0))
            for name, c in by_call(d, command, *options).items() if c.get('syscalls')}


def states(d, command, *options):
    """{state: ns} of a program, of all epochs or some"""
    return {k: v for k, v in total(d, command, *options).items() if k not in WAKING}


def assert_hardly_lost(d):
    """A wake-up by an interrupt of the program that tells has nobody to tell it: it is counted."""
    st = d.status()
    assert st['lost'] <= 1 + 0.001 * st['states'], st


class Life:
    """A program, and for how long it lived at least and at most."""

    def __init__(self, *command):
        self.before = time.monotonic_ns()
        self.child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.begun = time.monotonic_ns()

    def goes_on(self):
        return not os.waitid(os.P_PID, self.child.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)

    def wait(self):
        """The lines that it wrote.  Who waits may come late: how long it lived at least is
        known of one that says when it ends."""
        lines = self.child.stdout.read().splitlines()
        _, status, self.usage = os.wait4(self.child.pid, 0)
        now = time.monotonic_ns()
        self.child.returncode = os.waitstatus_to_exitcode(status)
        assert self.child.returncode == 0
        self.most = now - self.before
        for end in (line.split()[1] for line in lines if line.startswith('end ')):
            self.least = int(end) - self.begun
        return lines

    def end(self):
        with contextlib.suppress(ProcessLookupError):
            self.child.kill()
        self.child.wait()
