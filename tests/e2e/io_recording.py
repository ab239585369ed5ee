# SPDX-License-Identifier: Apache-2.0
"""Recordings by the experiment io, and their rows."""
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time

import harness
import oracles
from harness import DIR, dwell

FILE = os.path.join(DIR, 'io.dwell')


def record(*command, path=FILE, stdin=None, options=()):
    p = subprocess.run([harness.DWELL, 'run', '-q', '-e', 'io', *options, '-o', path, '--', *command],
                       capture_output=True, env=oracles.ENVIRONMENT, check=False, stdin=stdin,
                       timeout=120)
    assert p.returncode == 0, (p.returncode, p.stderr)
    return p.stdout


def record_client(options=()):
    """Who reads 5000 bytes of a server; its port."""
    server = socket.create_server(('127.0.0.1', 0))
    port = server.getsockname()[1]

    def answer():
        peer, _ = server.accept()
        with peer:
            peer.sendall(b'x' * 5000)

    t = threading.Thread(target=answer)
    t.start()
    record(sys.executable, '-c',
           f'import socket; s = socket.create_connection(("127.0.0.1", {port}));\n'
           'while s.recv(1000): pass', options=options)
    t.join()
    server.close()
    return port


# What waits until the program is killed, and the file that it waits for.  Of a network's
# names that are no files each is another's while several run this.
ADDRESS = f'endless-{os.getpid()}'
ENDLESS = {
    'accept4': (f'import socket; s = socket.socket(socket.AF_UNIX); s.bind("\\0{ADDRESS}"); s.listen()',
                's.accept()', f'UNIX @{ADDRESS}'),
    'sendfile': ('import os; f = os.memfd_create("endless"); os.ftruncate(f, 1 << 20); r, w = os.pipe()',
                 'while True: os.sendfile(w, f, 0, 1 << 20)', 'memfd:endless'),
}


def endless_waits_have_their_time(options=()):
    for call, (before, wait, name) in ENDLESS.items():
        p = dwell('run', '-q', '-e', 'io', *options, '-o', FILE, '--', sys.executable, '-c',
                  f'import signal\n{before}\nsignal.setitimer(signal.ITIMER_REAL, .5)\n{wait}')
        assert p.returncode == 128 + signal.SIGALRM, p
        r = rows('call')[call]
        assert r['ns'] > 50e6, r
        assert rows('file')[name]['ns'] >= r['ns'], rows('file')


def rows(by, *options, path=FILE):
    """{name: row}"""
    p = dwell('io', '--json', '--by', by, *options, path)
    assert p.returncode == 0, p.stderr
    r = json.loads(p.stdout)
    assert not r['quality']['lost'], r['quality']
    return {row['name']: row for row in r['rows']}


# Two threads wait for pipes that nobody writes to.
HANGS = """
import os, threading
def read(pipe):
    os.read(pipe[0], 1)
pipes = [os.pipe() for _ in range(2)]
t = threading.Thread(target=read, args=(pipes[0],))
t.start()
told = {t.native_id: pipes[0], os.getpid(): pipes[1]}
print(os.getpid(), *[f'{tid}:{os.fstat(pipe[0]).st_ino}' for tid, pipe in told.items()], flush=True)
read(pipes[1])
"""


def unfinished(path=FILE):
    p = dwell('io', '--json', '--limit', '0', path)
    assert p.returncode == 0, p.stderr
    r = json.loads(p.stdout)
    assert not r['quality']['lost'], r['quality']
    return {call['tid']: call for call in r['unfinished_calls']}


def is_reading(pid, tid):
    call = harness.text_of(f'{pid}/task/{tid}', 'syscall')
    return call.startswith('0 ') and harness.is_asleep(f'{pid}/task/{tid}')


class Hanging:
    """A program that hangs, started by a command; end() tells the time since before it began and
    since it hangs."""

    def __init__(self, *command):
        self.began_ns = time.monotonic_ns()
        self.process = subprocess.Popen([*command, sys.executable, '-c', HANGS], stdout=subprocess.PIPE, text=True)
        pid, *pipes = self.process.stdout.readline().split()
        self.pid = int(pid)
        self.files = {int(tid): f'pipe:[{inode}]' for tid, inode in (pipe.split(':') for pipe in pipes)}
        harness.wait_until(lambda: all(is_reading(pid, tid) for tid in self.files), 'it does not read')
        self.hangs_ns = time.monotonic_ns()

    def kill(self):
        os.kill(self.pid, signal.SIGKILL)
        self.process.stdout.close()
        return self.process.wait(60)

    def check(self, found, least_ns, since_before):
        most_ns = time.monotonic_ns() - self.began_ns
        assert set(found) == set(self.files), (found, self.files)
        text = ' '.join(dwell('io', FILE).stdout.split())
        assert 'Calls that had not returned' in text, text
        for tid, call in found.items():
            assert (call['pid'], call['call'], call['file']) == (self.pid, 'read', self.files[tid]), call
            assert least_ns <= call['ns'] <= most_ns, (call, least_ns, most_ns)
            assert call['calls'] == 1 and ('since_ns' in call) == (not since_before), call
            assert bool(call['frames']) == (not since_before), call
            assert f'read of {self.files[tid]}, since' in text, text


def what_hangs_is_listed_when_it_is_killed(options=()):
    h = Hanging(harness.DWELL, 'run', '-q', '-e', 'io', *options, '-o', FILE, '--')
    time.sleep(.3)
    least_ns = time.monotonic_ns() - h.hangs_ns
    assert h.kill() == 128 + signal.SIGKILL
    h.check(unfinished(), least_ns, False)
    record('cat', '/dev/null', options=options)
    assert not unfinished(), unfinished()
    assert 'had not returned' not in dwell('io', FILE).stdout
