# SPDX-License-Identifier: Apache-2.0
"""What tests of places in code share: a recording, and what it says of them."""
import collections
import os
import subprocess

import harness
from harness import DIR, dwell, is_asleep, wait_until

FILE = os.path.join(DIR, 'placed.dwell')


def record(probes, *command, **more):
    p = dwell('run', '-q', '-e', probes, '-o', FILE, '--', *command, **more)
    assert p.returncode == 0, (p.returncode, p.stderr)
    return p.stdout


def totals(name, *options):
    """{event without the file's name: n}"""
    return {k.replace(f':{name}:', ':'): n
            for k, n in harness.report(FILE, *options)['total'].items()}


def stacks(event, settling=0):
    """[(frames, n)] of an event, but for those that are met while the tables are read: so
    many."""
    p = dwell('export', '-o', '-', 'folded', '--event', event, FILE)
    assert p.returncode == 0, p.stderr
    found = []
    for line in p.stdout.splitlines():
        stack, n = line.rsplit(' ', 1)
        frames = stack.split(';')
        if 'settle' in frames or frames[0].startswith('[truncated'):
            settling -= int(n)
        else:
            assert 'main' in frames, line
            found.append((frames, int(n)))
    assert settling == 0, p.stdout
    return found


def depths(event, name, settling=0):
    """How often the stacks have how many frames of a function."""
    found = collections.Counter()
    for frames, n in stacks(event, settling):
        found[frames.count(name)] += n
    return found


def are_refused(cases):
    """[(place, words of the line that says why)]"""
    for what, words in cases:
        p = dwell('run', '-e', 'trigger:' + what, '--', 'true')
        assert p.returncode in (1, 2) and words in p.stderr, (what[:60], p.returncode, p.stderr)
        assert p.stderr.count('\n') == 1, p.stderr


class Paced:
    """A workload that does a known thing for each byte that it gets, and answers; a round is over when it waits for
    the next one, not when its answer is there: it may be in the call by which it gave that."""

    def __init__(self, path, mode='paced'):
        self.child = subprocess.Popen([path, mode], stdin=subprocess.PIPE,
                                      stdout=subprocess.PIPE, bufsize=0)

    def round(self, what='x'):
        self.child.stdin.write(what.encode('ascii'))
        answer = self.child.stdout.read(1)
        assert answer
        wait_until(lambda: is_asleep(self.child.pid), 'it does not wait')
        return answer.decode('ascii')

    def end(self):
        self.child.stdin.close()
        assert self.child.wait(60) == 0
        self.child.stdout.close()
