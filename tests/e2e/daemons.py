# SPDX-License-Identifier: Apache-2.0
"""The continuous profiler, as the tests of it use it."""
import atexit
import contextlib
import glob
import json
import os
import re
import shutil
import subprocess
import tempfile
import time

from harness import DIR, DWELL, Skip, dwell


def clean_up(d):
    """What a killed one left in the kernel would count on for some minutes."""
    if d.child.poll() is None:
        d.child.kill()
        d.child.wait(30)
    dwell('daemon', '--unpin', '--db', d.db)


class Daemon:
    """One that runs on a database of its own, or on one that is given."""

    def __init__(self, *options, db=None, prefix=(), **more):
        self.db = db or tempfile.mkdtemp(prefix='db', dir=DIR)
        self.socket = self.db + '.socket'
        self.child = subprocess.Popen(
            [*prefix, DWELL, 'daemon', '--db', self.db, '--socket', self.socket, *options],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, **more)
        atexit.register(clean_up, self)

    def wait_until_ready(self):
        deadline = time.time() + 60
        while self.ctl('status').returncode:
            assert self.child.poll() is None, (self.child.returncode, self.child.stderr.read())
            assert time.time() < deadline, 'it does not answer'
            time.sleep(0.1)
        time.sleep(1)  # what runs already is met
        return self

    def ctl(self, *words):
        return dwell('ctl', '--socket', self.socket, *words)

    def done(self, *words):
        p = self.ctl(*words)
        assert p.returncode == 0, p.stderr
        return p.stdout

    def status(self):
        return json.loads(self.done('status', '--json'))

    def segments(self, epoch='*'):
        return sorted(glob.glob(f'{self.db}/*/{epoch}/*.dwell'))

    def quit(self):
        self.done('quit')
        assert self.child.wait(30) == 0, (self.child.returncode, self.child.stderr.read())


def without_bpf():
    """The start of a command that may use perf events, but no BPF."""
    if not shutil.which('setpriv'):
        raise Skip('needs setpriv')
    less = '-sys_admin,-bpf,-net_admin'
    return ['setpriv', f'--inh-caps={less}', f'--bounding-set={less}', '--']


@contextlib.contextmanager
def daemon(*options, **more):
    d = Daemon(*options, **more)
    try:
        yield d.wait_until_ready()
    finally:
        if d.child.poll() is None:
            d.child.kill()
            d.child.wait(30)


def own_memory(pid):
    """Its anonymous memory: what it maps of the kernel's maps is bounded by itself."""
    text = open(f'/proc/{pid}/status', encoding='utf-8').read()
    return int(re.search(r'RssAnon:\s*(\d+)', text)[1]) * 1024
