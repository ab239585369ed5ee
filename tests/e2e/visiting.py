# SPDX-License-Identifier: Apache-2.0
"""What the tests share that attach to processes: a program that obeys, dwell beside it, and
whether it is as it was."""
import contextlib
import json
import os
import re
import shutil
import signal
import struct
import subprocess
import urllib.request

import harness
from harness import DIR, dwell, text_of, wait_until

LIMIT_S = 60
PLACE = range(0x468040000000, 0x468040000000 + (1 << 30))  # where dwell puts its library


def n_led(pid):
    """How many words of the program's and its libraries' data lead into dwell's library."""
    n = 0
    with open(f'/proc/{pid}/mem', 'rb', 0) as memory:
        for line in text_of(pid, 'maps').splitlines():
            where, rights, _, _, inode, *_ = line.split()
            start, end = (int(x, 16) for x in where.split('-'))
            if inode == '0' or 'x' in rights or 'p' not in rights or start in PLACE:
                continue
            memory.seek(start)
            data = memory.read(end - start)
            n += sum(x in PLACE for x, in struct.iter_unpack('<Q', data[:len(data) // 8 * 8]))
    return n


def is_led_by(pid, owner):
    """Does that dwell lead the calls of the program, which goes on by itself?  See src/wire/injected.h."""
    starts = {int(line.split('-')[0], 16) for line in text_of(pid, 'maps').splitlines()}
    with open(f'/proc/{pid}/mem', 'rb', 0) as memory:
        for at in starts & set(range(PLACE.start, PLACE.stop, 64 << 20)):
            memory.seek(at)
            _, _, _, is_patched, _, by = struct.unpack('<QQQQQI', memory.read(44))
            if is_patched and by == owner:
                return is_free(pid)
    return False


def is_free(pid):
    return 'TracerPid:\t0' in text_of(pid, 'status')


def meeting_place(pid):
    return re.search(r' (/\S+)/control$', text_of(pid, 'maps'), re.M).group(1)


def is_observed(pid):
    """See src/wire/sampler.h."""
    with open(f'{meeting_place(pid)}/control', 'rb') as f:
        _, _, _, is_paused = struct.unpack('<IIII', f.read(16))
    return not is_paused


def is_traced_by(pid, owner):
    return is_led_by(pid, owner) and is_observed(pid)


def check_left(pid):
    assert is_free(pid)
    assert n_led(pid) == 0, n_led(pid)


def heap_of(path):
    p = dwell('heap', '--json', path)
    assert p.returncode == 0, p.stderr
    return json.loads(p.stdout)['processes']


def numbers(process):
    return tuple(process[k] for k in ('heap-allocations', 'heap-frees', 'heap-left-blocks', 'heap-left'))


class Program:
    """A program that obeys, and answers each line with one."""

    def __init__(self, *command, **more):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, **more)
        self.pid = self.process.pid
        assert self.process.stdout.readline() == 'ready\n'

    def tell(self, line):
        self.process.stdin.write(line + '\n')
        self.process.stdin.flush()
        return self.process.stdout.readline()

    def end(self):
        if self.process.stdin.closed:
            return
        self.process.stdin.close()
        assert self.process.wait(LIMIT_S) == 0, self.process.returncode


@contextlib.contextmanager
def obeying(program):
    try:
        yield program
        program.end()
    finally:
        program.process.kill()
        program.process.wait()


@contextlib.contextmanager
def attached(pid, path, *args):
    """dwell, until the block ends."""
    with harness.beside(harness.DWELL, 'attach', *(args or ('-e', 'heap')), '-p', str(pid), '-o', path,
                        stderr=subprocess.PIPE, text=True) as p:
        wait_until(lambda: p.poll() is not None or is_traced_by(pid, p.pid), 'it does not begin')
        assert p.poll() is None, p.stderr.read()
        yield p
        p.send_signal(signal.SIGINT)
        assert p.wait(LIMIT_S) == 0, p.stderr.read()


def refusal(*args):
    p = dwell('attach', *args, '-d', '0.1', '-o', f'{DIR}/refused.dwell')
    assert p.returncode != 0, p.stderr
    return p.stderr


def check_lives(pid):
    assert 'State:\tZ' not in text_of(pid, 'status')
    check_left(pid)


def read_url(url):
    with urllib.request.urlopen(url, timeout=LIMIT_S) as r:
        return r.read()


@contextlib.contextmanager
def server(*command, **more):
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **more) as p:
        try:
            yield p
        finally:
            p.terminate()
            try:
                p.wait(LIMIT_S)
            finally:
                p.kill()


@contextlib.contextmanager
def redis_server(commands):
    """With what answers these commands through its client."""
    harness.need('redis-server', 'redis-cli')
    socket = f'{DIR}/redis.sock'

    def ask():
        p = subprocess.run(['redis-cli', '-s', socket], capture_output=True, text=True, timeout=LIMIT_S, input=commands, check=False)
        return p.stdout
    with server('redis-server', '--port', '0', '--unixsocket', socket, '--save', '', '--dir', DIR) as p:
        wait_until(lambda: os.path.exists(socket), 'it does not listen')
        yield p, ask


def is_answered(ask):
    try:
        return ask() or True
    except OSError:
        return False


def why_not():
    """None where nothing is in the way of attaching."""
    if not harness.IS_ROOT:
        return 'only root may trace what it did not start'
    if shutil.which('getconf') and re.match(r'glibc 2\.([0-2]?\d|3[0-4])$', subprocess.run(
            ['getconf', 'GNU_LIBC_VERSION'], capture_output=True, text=True, check=False).stdout.strip()):
        return 'glibc before 2.35'
    return None
