#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records programs whose debug information is elsewhere: kept by an archive, or at a
debug server; or of another word size.  usage: debug_files.py DWELL"""
import json
import os
import socket
import subprocess
import sys
import time
import urllib.request

import spinning
from harness import DIR, DWELL, TESTS, Skip, need, run_all, test

LOOP_LINES = tuple(f'spin.c:{line}' for line in spinning.LOOP)


def shell(command, where):
    subprocess.run(command, shell=True, cwd=where, check=True, timeout=120,
                   stdout=subprocess.DEVNULL)


def built(name, commands):
    """A directory where the program was built to ./spin by shell commands."""
    where = os.path.join(DIR, name)
    os.mkdir(where)
    with open(os.path.join(where, 'spin.c'), 'w', encoding='utf-8') as f:
        f.write(spinning.source(4))
    shell(commands, where)
    return where


def record(where):
    subprocess.run([DWELL, 'run', '-q', '-i', '2ms', '-o', 'x.dwell', '--', './spin'],
                   cwd=where, check=True, timeout=60, capture_output=True)


def environment(where, **more):
    env = {k: v for k, v in os.environ.items() if not k.startswith('DEBUGINFOD')}
    return {**env, 'DEBUGINFOD_CACHE_PATH': os.path.join(where, 'cache'), **more}


def report(where, *args, file='x.dwell', **env):
    p = subprocess.run([DWELL, 'report', '--limit', '0', *args, file], cwd=where,
                       capture_output=True, text=True, timeout=60, env=environment(where, **env))
    assert p.returncode == 0, p.stderr
    return p.stdout


def share(where, by, *names, **more):
    """Exclusive share of the program's own time: a busy kernel is not the question."""
    r = json.loads(report(where, '--json', '--by', by, '--filter', 'mode == user', **more))
    return sum(row['exclusive'].get('cpu-time', 0) for row in r['rows']
               if row['name'] in names) / r['total']['cpu-time']


def check_inlined(where, **more):
    got = share(where, 'function', 'mix', **more)
    assert got > 0.9, f'{got:.2f} of the time is in mix'
    got = share(where, 'line', *LOOP_LINES, **more)
    assert got > 0.9, f'{got:.2f} of the time is on the lines of its loop'


def check_archive(where, *gone):
    """An archive answers when the files it was made of are gone."""
    record(where)
    check_inlined(where)
    subprocess.run([DWELL, 'archive', '-o', 'kept.dwell', 'x.dwell'], cwd=where, check=True,
                   timeout=60, capture_output=True, env=environment(where))
    for name in ('spin', *gone):
        os.unlink(os.path.join(where, name))
    check_inlined(where, file='kept.dwell')


@test
def an_archive_keeps_split_files():
    need('gcc')
    where = built('split', 'gcc -O2 -g -gsplit-dwarf -c spin.c && gcc spin.o -o spin')
    check_archive(where, 'spin.dwo')


@test
def an_archive_keeps_a_package_of_split_files():
    need('gcc', 'dwp')
    where = built('package', 'gcc -O2 -gdwarf-4 -gsplit-dwarf -c spin.c && gcc spin.o -o spin'
                  ' && dwp -e spin -o spin.dwp && rm spin.dwo')
    check_archive(where, 'spin.dwp')


@test
def an_archive_keeps_what_dwz_shares():
    need('gcc', 'dwz')
    where = built('shared', 'gcc -O2 -g spin.c -o spin -Wl,--build-id && cp spin other && '
                  'dwz -m common spin other')
    check_archive(where, 'common')


@test
def split_files_are_found_next_to_the_program():
    need('gcc')
    where = built('moved', 'mkdir made there && cd made && gcc -O2 -g -gsplit-dwarf -c ../spin.c '
                  '&& gcc spin.o -o spin && mv spin spin.dwo ../there')
    where = os.path.join(where, 'there')
    record(where)
    check_inlined(where)


@test
def a_32_bit_program_has_names_and_lines():
    """What only perf's samples show; its callers are not known, and that is said."""
    need('gcc')
    try:
        where = built('narrow', 'gcc -m32 -O2 -g spin.c -o spin 2>/dev/null')
    except subprocess.CalledProcessError as e:
        raise Skip('no 32-bit C library here') from e
    if subprocess.run([DWELL, 'run', '--source', 'perf', '-n', '--', 'true'],
                      capture_output=True).returncode:
        raise Skip('no perf here')
    record(where)
    check_inlined(where)
    assert '32-bit code' in report(where), report(where)


def stripped(name):
    """A program that is recorded without names; those are in DIRECTORY/served."""
    need('gcc', 'objcopy')
    where = built(name, 'gcc -O2 -g spin.c -o spin -Wl,--build-id && mkdir served && '
                  'objcopy --only-keep-debug spin served/spin.debug && strip spin')
    record(where)
    return where


def free_port():
    with socket.socket() as s:
        s.bind(('127.0.0.1', 0))
        return s.getsockname()[1]


class Server:
    """debuginfod over one directory, ready to answer."""

    def __init__(self, directory):
        need('debuginfod')
        self.port = free_port()
        self.log = os.path.join(directory, 'server.log')
        with open(self.log, 'w', encoding='utf-8') as log:
            self.process = subprocess.Popen(
                ['debuginfod', '-v', '-F', directory, '-p', str(self.port), '-d', ':memory:'],
                stdout=log, stderr=log)

    def is_ready(self):
        try:
            with urllib.request.urlopen(self.url() + '/metrics', timeout=5) as f:
                text = f.read().decode()
        except OSError:
            return False
        return all(state in text for state in (
            'thread_work_total{role="traverse"} 1', 'thread_work_pending{role="scan"} 0',
            'thread_busy{role="scan"} 0'))

    def __enter__(self):
        end = time.monotonic() + 30
        while not self.is_ready():
            assert time.monotonic() < end, self.text()
            time.sleep(0.1)
        return self

    def __exit__(self, *unused):
        self.process.terminate()
        self.process.wait(10)

    def text(self):
        with open(self.log, encoding='utf-8', errors='replace') as f:
            return f.read()

    def n_questions(self):
        return self.text().count('GET /buildid/')

    def url(self):
        return f'http://127.0.0.1:{self.port}'


@test
def names_and_lines_come_from_a_debug_server():
    where = stripped('served')
    with Server(os.path.join(where, 'served')) as server:
        got = share(where, 'function', 'mix')
        assert got == 0, f'mix is known without a server: {got:.2f}'
        check_inlined(where, DEBUGINFOD_URLS=server.url())
        assert server.n_questions() > 0
    # from now on without it, by what was fetched
    check_inlined(where, DEBUGINFOD_URLS=server.url())


@test
def a_debug_server_is_asked_only_when_configured():
    where = stripped('unasked')
    with Server(os.path.join(where, 'served')) as server:
        report(where)
        report(where, DEBUGINFOD_URLS='')
        report(where, '--no-debuginfod', DEBUGINFOD_URLS=server.url())
        assert server.n_questions() == 0, server.text()
        assert 'servers' not in report(where)


@test
def what_no_server_has_is_said_in_a_line():
    where = stripped('missing')
    os.unlink(os.path.join(where, 'served', 'spin.debug'))
    with Server(os.path.join(where, 'served')) as server:
        text = report(where, DEBUGINFOD_URLS=server.url())
    assert ' '.join(text.split()).count('the debug servers do not have it') == 1, text


@test
def a_dead_debug_server_holds_nothing_up():
    where = stripped('dead')
    begin = time.monotonic()
    text = report(where, DEBUGINFOD_URLS=f'http://127.0.0.1:{free_port()}')
    took = time.monotonic() - begin
    assert took < 5, f'the report took {took:.1f} s'
    assert ' '.join(text.split()).count('cannot be reached') == 1, text


@test
def a_silent_debug_server_is_given_up():
    where = stripped('silent')
    with socket.socket() as s:
        s.bind(('127.0.0.1', 0))
        s.listen(8)  # the kernel answers, nobody else
        begin = time.monotonic()
        text = report(where, DEBUGINFOD_URLS=f'http://127.0.0.1:{s.getsockname()[1]}')
        took = time.monotonic() - begin
    assert took < 15, f'the report took {took:.1f} s'
    assert ' '.join(text.split()).count('the debug servers were too slow') == 1, text


if __name__ == '__main__':
    sys.exit(run_all(TESTS))
