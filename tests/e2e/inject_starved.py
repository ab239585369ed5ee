#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tracing experiments on processes whose threads wait for a CPU that others have: they are
not waited for for ever, and it is said which they were.
usage: inject_starved.py DWELL PROGRAM_DIR [WORD...]"""
import contextlib
import os
import re
import signal
import subprocess
import sys

import harness
import visiting
from harness import DIR, dwell, report, run_all, test
from visiting import LIMIT_S, attached, check_left, is_free, is_traced_by, obeying, wait_until

VISITED = f'{os.path.abspath(sys.argv[2])}/e2e-visited'


def visited(*args):
    return obeying(visiting.Program(VISITED, *args))


def tids_of(pid):
    return [int(tid) for tid in os.listdir(f'/proc/{pid}/task')]


def cpu_ns(tid):
    return int(harness.text_of(tid, 'schedstat').split()[0])


class Starved:
    """The threads of a process but its first have no CPU until the block ends, or until all of them have had one by chance
    after all: they are fed then, as nothing is known of who starves. By the first one calls are made, which takes as long as
    it waits."""

    def __init__(self, pid, *others):
        self.pid, self.others = pid, [pid, *(tid for other in others for tid in tids_of(other))]
        self.stack = contextlib.ExitStack()
        self.is_fed = False

    def __enter__(self):
        tids = [tid for tid in tids_of(self.pid) if tid != self.pid]
        self.stack.enter_context(harness.starved(*tids, others=self.others))
        self.had_ns = {tid: cpu_ns(tid) for tid in tids}
        return self

    def __exit__(self, *_):
        self.stack.close()

    def wait_until(self, is_so, why):
        def is_so_or_fed():
            if not self.is_fed and all(cpu_ns(tid) > had for tid, had in self.had_ns.items()):
                self.is_fed = True
                self.stack.close()
            return is_so()

        wait_until(is_so_or_fed, why)


def where_one_starves(attempt):
    """It returns whether it was so."""
    for n in range(8):
        print(f'# attempt {n + 1}', flush=True)
        if attempt():
            return
    raise AssertionError('it had a CPU every time')


def check_as_before(p):
    assert p.tell('calls').startswith('0 wrong'), p.tell('wrong')
    p.end()


def leaves_out():
    path = f'{DIR}/starved.dwell'
    with visited('busy') as poor, visited() as other:
        tids = tids_of(poor.pid)
        with Starved(poor.pid, other.pid) as starved:
            with harness.beside(harness.DWELL, 'attach', '-e', 'heap', '-p', str(poor.pid), '-p', str(other.pid), '-o', path,
                                stderr=subprocess.PIPE, text=True) as d:
                starved.wait_until(lambda: d.poll() is not None or is_traced_by(other.pid, d.pid), 'it does not begin')
                assert d.poll() is None, d.stderr.read()
                other.tell('calls')
                d.send_signal(signal.SIGINT)
                assert d.wait(LIMIT_S) == 0, d.stderr.read()
        wait_until(lambda: all(is_free(tid) for tid in tids_of(poor.pid)), 'it is held')
        check_left(poor.pid)
        check_left(other.pid)
        check_as_before(poor)
    if starved.is_fed:
        return False
    refused, = report(path)['sources'][0]['not_followed']
    why = re.fullmatch(r'given up after .* s: thread (\d+) has been waiting for a CPU for .* s', refused['why'])
    assert why and int(why.group(1)) in tids and refused['processes'] == 1, (refused, tids)
    return True


@test
def who_has_no_cpu_is_left_out_and_the_others_are_traced():
    where_one_starves(leaves_out)


def names_who_is_left():
    path = f'{DIR}/starved-later.dwell'
    with visited('busy') as poor, visited() as other:
        with harness.beside(harness.DWELL, 'attach', '-e', 'heap', '-p', str(poor.pid), '-p', str(other.pid), '-o', path,
                            stderr=subprocess.PIPE, text=True) as d:
            wait_until(lambda: d.poll() is not None or is_traced_by(other.pid, d.pid), 'it does not begin')
            with Starved(poor.pid, other.pid, d.pid) as starved:
                d.send_signal(signal.SIGINT)
                starved.wait_until(lambda: d.poll() is not None, 'it does not end')
            said = d.communicate(timeout=LIMIT_S)[1]
        assert d.returncode == 0, said
        if not starved.is_fed:
            assert f'process {poor.pid} goes on with its calls led through ours, which pass them on' in said, said
            assert 'waiting for a CPU' in said and str(other.pid) not in said, said
        check_left(other.pid)
        # Who comes next leaves it as it was.
        with attached(poor.pid, f'{DIR}/starved-again.dwell'):
            poor.tell('calls')
        check_left(poor.pid)
        check_as_before(poor)
    return not starved.is_fed


@test
def who_has_no_cpu_when_it_is_left_is_named_and_its_calls_pass():
    where_one_starves(names_who_is_left)


SPAWNING = """
import os, sys
print('ready', flush=True)
os.posix_spawn('/bin/true', ['true'], {}, file_actions=[(os.POSIX_SPAWN_OPEN, 0, sys.argv[1], os.O_RDONLY, 0)])
"""


@contextlib.contextmanager
def spawning(fifo):
    """A process that waits for its child by vfork, and so for us, and cannot be interrupted."""
    os.mkfifo(fifo)
    with harness.beside(sys.executable, '-c', SPAWNING, fifo, stdout=subprocess.PIPE, text=True) as p:
        assert p.stdout.readline() == 'ready\n'
        wait_until(lambda: 'State:\tD' in harness.text_of(p.pid, 'status'), 'it does not wait')
        yield p
        os.close(os.open(fifo, os.O_WRONLY))
        assert p.wait(LIMIT_S) == 0, p.returncode


@test
def what_it_takes_to_visit_one_is_not_sampled_of_another():
    path = f'{DIR}/sampled.dwell'
    with harness.beside(sys.executable, '-c', 'while True: pass') as busy, spawning(f'{DIR}/fifo-1') as first, spawning(f'{DIR}/fifo-2') as second:
        p = dwell('attach', '-q', '-e', 'usertime', '-e', 'heap', '-d', '0.3', '-o', path,
                  *(f'-p{x.pid}' for x in (busy, first, second)))
        assert p.returncode == 0, p.stderr
    r = report(path)
    # Two seconds each: rings have no room for all that one makes meanwhile, and in all of the recording there is not so much.
    assert r['quality']['lost'] < 400, r['quality']
    assert r['total']['cpu-time'] < harness.fact(r, 'wall-time') + 1e9, r['total']
    assert sum(x['processes'] for s in r['sources'] for x in s.get('not_followed', [])) == 2, r['sources']


if __name__ == '__main__':
    if visiting.why_not():
        sys.exit(harness.skip_all(visiting.why_not()))
    sys.exit(run_all(harness.TESTS, words=sys.argv[3:]))
