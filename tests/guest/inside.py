# SPDX-License-Identifier: Apache-2.0
"""What the tests of a guest share: it is started once, and dwell runs inside."""
import json
import os
import re
import sys

from guest import Guest, why_none
from harness import TESTS, run_all, skip_all

# It is emulated, maybe beside much else.
PATIENCE_S = 600
GUEST = []


def guest():
    return GUEST[0]


def run(command, seconds=PATIENCE_S):
    return guest().run(command, seconds)


def done(command, seconds=PATIENCE_S):
    p = run(command, seconds)
    assert p.code == 0, f'{command}: {p.code}: {p.text}'
    return p.text


def report(path, *options):
    words = ' '.join(f"'{o}'" for o in options)
    return json.loads(done(f'dwell report --json --limit 0 {words} {path}'))


def of(r, name, event='cycles', column='inclusive'):
    return sum(row[column].get(event, 0) for row in r['rows'] if row['name'] == name)


def used_ns(text):
    """What the shell's time told, by the kernel's account."""
    told = re.findall(r'(?:user|sys)\s+(\d+)m ([\d.]+)s', text)
    assert len(told) == 2, text
    return sum(int(m) * 60 + float(s) for m, s in told) * 1e9


class Daemon:
    """One in the guest; the guest's shell waits for it."""

    def __init__(self, *options, before='true'):
        """before: what it is to have met."""
        self.before = before
        done(f'rm -rf /tmp/db; dwell daemon --db /tmp/db --socket /tmp/s {" ".join(options)} '
             '2>/tmp/said & daemon=$!; i=0; while ! dwell ctl --socket /tmp/s status >/dev/null 2>&1; do '
             'sleep 0.5; i=$((i + 1)); if [ $i -gt 1000 ]; then cat /tmp/said; false; break; fi; done')

    def __enter__(self):
        done(self.before)
        self.flush()
        return self

    def __exit__(self, *_):
        run('dwell ctl --socket /tmp/s quit; wait')

    def status(self):
        return json.loads(done('dwell ctl --socket /tmp/s status --json'))

    def flush(self):
        done('dwell ctl --socket /tmp/s flush')

    def newest(self):
        return done('find /tmp/db -name "*.dwell" | sort | tail -n 1').strip()

    def report(self, command):
        """Of what was taken last."""
        self.flush()
        return report(self.newest(), '--filter', f'command == {command}')

    def facts(self, name):
        r = report(self.newest())
        return {f['event']: f['value'] for f in r['quality']['facts'] if f['name'] == name}


def main(options, programs=('known',)):
    """With the words of the command line: DWELL MACHINE PROGRAM_DIR SYSROOT... [-- WORD...]"""
    at = sys.argv.index('--') if '--' in sys.argv else len(sys.argv)
    dwell, machine, folder, *sysroots = sys.argv[1:at]
    why = why_none(machine)
    if why:
        return skip_all(why)
    files = {'bin/dwell': dwell, **{f'bin/{name}': os.path.join(folder, name) for name in programs}}
    GUEST.append(Guest(machine, sysroots, files, options))
    try:
        return run_all(TESTS, words=sys.argv[at + 1:])
    finally:
        guest().close()
