#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What is no recording, or no longer one, or cannot be written out: every command that
reads says so in one line and fails, or shows what is left; it never dies or hangs.
usage: hostile.py DWELL WORKLOAD_DIR [WORD...]     WORD: only the cases whose name contains it"""
import ctypes
import functools
import os
import random
import shutil
import socket
import subprocess
import sys
import threading
import time

from harness import DIR, DWELL, Skip, run_all, skip_all

WORKLOADS = os.path.abspath(sys.argv[2])
WHOLE = os.path.join(DIR, 'whole.dwell')
SECONDS = 60  # a hang, on a busy machine too

FORMATS = 'chrome', 'flamegraph', 'folded', 'pprof', 'speedscope', 'perf-script', 'csv'
COMMANDS = [
    ('report', '{file}'),
    ('report', '--by', 'line', '{file}'),
    ('report', '--json', '{file}'),
    ('report', '{file}', '{whole}'),
    ('callers', 'main', '{file}'),
    ('tree', '{file}'),
    ('tree', '--bottom-up', '{file}'),
    ('annotate', 'main', '{file}'),
    ('lines', '{file}'),
    ('pcs', '{file}'),
    ('timeline', '{file}'),
    ('timeline', '--json', '{file}'),
    ('cat', '{file}'),
    ('archive', '-o', '{out}', '{file}'),
    *(('export', '-o', '{out}', name, '{file}') for name in FORMATS),
]


def bytes_of(path):
    with open(path, 'rb') as f:
        return f.read()


def write(path, data):
    with open(path, 'wb') as f:
        f.write(data)


# Makers of what is no recording: every command fails, in one line that names the file.

def sparse(path):
    write(path, b'')
    os.truncate(path, 10 << 30)


def bind(path):
    with socket.socket(socket.AF_UNIX) as s:
        s.bind(path)


def unreadable(path):
    shutil.copy(WHOLE, path)
    os.chmod(path, 0)
    if subprocess.run(['cat', path], capture_output=True, check=False).returncode == 0:
        raise Skip('root may read anything')


NO_RECORDINGS = [
    ('nothing there', lambda path: None),
    ('an empty file', lambda path: write(path, b'')),
    ('one byte', lambda path: write(path, bytes_of(WHOLE)[:1])),
    ('ten gigabytes of nothing', sparse),
    ('noise', lambda path: write(path, random.Random(1).randbytes(100000))),
    ('text', lambda path: write(path, b'no recording\n' * 1000)),
    ('a recording of another tool', lambda path: write(path, b'PERFILE2' + bytes(4096))),
    ('a program', lambda path: shutil.copy(DWELL, path)),
    ('a later format', lambda path: write(path, bytes_of(WHOLE)[:4] + b'\xff' +
                                          bytes_of(WHOLE)[5:])),
    ('a pipe', os.mkfifo),
    ('a socket', bind),
    ('a directory', os.mkdir),
    ('a link to nothing', lambda path: os.symlink('/no/such/file', path)),
    ('a link to itself', lambda path: os.symlink(path, path)),
    ('nothing from a device', lambda path: os.symlink('/dev/null', path)),
    ('zeroes from a device', lambda path: os.symlink('/dev/zero', path)),
    ('noise from a device', lambda path: os.symlink('/dev/urandom', path)),
    ('a file of the kernel', lambda path: os.symlink('/proc/self/maps', path)),
    ('memory of a process', lambda path: os.symlink('/proc/self/mem', path)),
    ('a file that may not be read', unreadable),
]


# Makers of damage: what is left is shown, or it is refused.

def cut(path, share):
    data = bytes_of(WHOLE)
    write(path, data[:int(len(data) * share)])


def flip(path, seed):
    data = bytearray(bytes_of(WHOLE))
    chance = random.Random(seed)
    for _ in range(1 + seed % 3):
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    write(path, data)


def overwrite(path, seed):
    data = bytearray(bytes_of(WHOLE))
    at = random.Random(seed).randrange(len(data))
    data[at:at + 64] = b'\xff' * len(data[at:at + 64])
    write(path, data)


def tail(path):
    shutil.copy(WHOLE, path)
    os.truncate(path, 10 << 30)


DAMAGED = [
    ('a recording twice', lambda path: write(path, bytes_of(WHOLE) * 2)),
    ('ten gigabytes of nothing behind', tail),
    ('a byte missing', lambda path: write(path, bytes_of(WHOLE)[:-1])),
    *((f'cut at {share:.2f}', lambda path, s=share: cut(path, s))
      for share in (0.01, 0.2, 0.5, 0.8, 0.97)),
    *((f'flipped by {seed}', lambda path, s=seed: flip(path, s)) for seed in range(6)),
    *((f'overwritten by {seed}', lambda path, s=seed: overwrite(path, s))
      for seed in range(3)),
]


# Writers that work on the file while it is read, again and again.

def shrink(path):
    shutil.copy(WHOLE, path + '.new')
    os.rename(path + '.new', path)
    os.truncate(path, random.randrange(os.path.getsize(WHOLE)))


def rewrite(path):
    with open(path, 'r+b') as f:
        f.write(os.urandom(os.path.getsize(WHOLE)))
    write(path, bytes_of(WHOLE))


def replace(path):
    write(path + '.new', random.choice((b'', b'x' * 100, bytes_of(WHOLE))))
    os.rename(path + '.new', path)


WRITERS = [('a file that shrinks meanwhile', shrink),
           ('a file that is written over meanwhile', rewrite),
           ('a file that is replaced meanwhile', replace)]


def is_one_line(text):
    return text.count(b'\n') == 1 and text.startswith(b'dwell') and len(text) < 500


def words(command, path, out):
    return [DWELL, *(w.format(file=path, whole=WHOLE, out=out) for w in command)]


def is_written(command):
    return '{out}' in command


def run(command, path, out, **more):
    begin = time.time()
    more.setdefault('stdout', subprocess.PIPE)
    p = subprocess.run(words(command, path, out), stdin=subprocess.DEVNULL,
                       stderr=subprocess.PIPE, timeout=SECONDS, **more)
    what = (command, p.returncode, p.stderr[-500:], f'{time.time() - begin:.1f} s')
    assert p.returncode in (0, 1), what
    # A report says itself that something is missing.
    assert p.returncode == 0 or p.stderr or (p.stdout and not is_written(command)), what
    assert all(line.startswith(b'dwell') for line in p.stderr.splitlines()), what
    return p, what


def refused(path, make):
    make(path)
    for command in COMMANDS:
        p, what = run(command, path, path + '.out')
        assert p.returncode == 1 and is_one_line(p.stderr), what
        assert os.path.basename(path).encode() in p.stderr, what
        assert p.stdout == b'' and not os.path.exists(path + '.out'), what


def survived(path, make):
    make(path)
    for command in COMMANDS:
        run(command, path, path + '.out')


def survived_meanwhile(path, writer):
    shutil.copy(WHOLE, path)
    is_over = threading.Event()

    def go_on():
        while not is_over.is_set():
            writer(path)

    thread = threading.Thread(target=go_on)
    thread.start()
    try:
        for command in COMMANDS:
            run(command, path, path + '.out')
    finally:
        is_over.set()
        thread.join()


def full_disk(path, _):
    for command in COMMANDS:
        if 'archive' in command:
            continue  # a device is none for it
        if is_written(command):
            p, what = run(command, WHOLE, '/dev/full')
        else:
            with open('/dev/full', 'wb') as full:
                p, what = run(command, WHOLE, path, stdout=full)
        assert p.returncode == 1 and is_one_line(p.stderr), what
        assert b'No space left' in p.stderr, what


def too_large(path, _):
    """What cannot be written whole is not left behind."""
    for command in COMMANDS:
        if not is_written(command):
            continue
        p = subprocess.run(['sh', '-c', 'ulimit -f 0; exec "$@"', 'sh',
                            *words(command, WHOLE, path)], capture_output=True,
                           timeout=SECONDS)
        assert p.returncode == 1 and is_one_line(p.stderr), (command, p)
        assert b'too large' in p.stderr and not os.path.exists(path), (command, p)


def nowhere(path, _):
    for command in COMMANDS:
        if not is_written(command):
            continue
        p, what = run(command, WHOLE, '/no/such/directory/x')
        assert p.returncode == 1 and is_one_line(p.stderr) and b'/no/such' in p.stderr, what


def closed_pipe(path, _):
    """As in | head: an end without a word."""
    for command in COMMANDS:
        if 'archive' in command:
            continue
        if is_written(command):
            command = tuple('/dev/stdout' if w == '{out}' else w for w in command)
        ours, theirs = os.pipe()
        os.close(ours)
        p = subprocess.run(words(command, WHOLE, path), stdin=subprocess.DEVNULL, stdout=theirs,
                           stderr=subprocess.PIPE, timeout=SECONDS)
        os.close(theirs)
        assert p.stderr == b'' and p.returncode in (-13, 0, 1, 141), (command, p)


def closed_descriptors(path, _):
    for command in COMMANDS:
        p = subprocess.run(['sh', '-c', '"$@" <&- >&- 2>&-', 'sh',
                            *words(command, WHOLE, path + '.out')], timeout=SECONDS)
        assert p.returncode in (0, 1), (command, p)


CASES = [(name, refused, make) for name, make in NO_RECORDINGS] + \
        [(name, survived, make) for name, make in DAMAGED] + \
        [(name, survived_meanwhile, writer) for name, writer in WRITERS] + \
        [('a full disk', full_disk, None), ('a limit of the size of files', too_large, None),
         ('a directory that is not there', nowhere, None),
         ('a reader that went away', closed_pipe, None),
         ('no descriptors at all', closed_descriptors, None)]


def let_modes_count():
    """What root starts here may not read what its mode forbids."""
    libc = ctypes.CDLL(None, use_errno=True)
    for capability in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
        libc.prctl(24, capability, 0, 0, 0)  # PR_CAPBSET_DROP


def record():
    for source in ('perf', 'timer'):
        p = subprocess.run([DWELL, 'run', '-q', '-i', '1ms', '--trace', '--source', source,
                            '-o', WHOLE, '--', os.path.join(WORKLOADS, 'cpu'), '5'],
                           capture_output=True, timeout=60)
        if p.returncode == 0:
            return
    raise Skip('nothing can be recorded here')


def main():
    try:
        record()
    except Skip as why:
        return skip_all(why)
    let_modes_count()
    tests = [(name, functools.partial(check, os.path.join(DIR, f'case{i}.dwell'), how))
             for i, (name, check, how) in enumerate(CASES)]
    return run_all(tests, os.cpu_count(), sys.argv[3:])


if __name__ == '__main__':
    sys.exit(main())
