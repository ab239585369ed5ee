# SPDX-License-Identifier: Apache-2.0
"""The continuous profiler, as the tests of it use it."""
import atexit
import contextlib
import functools
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

from harness import DIR, DWELL, Skip, dwell, need, text_of

PINS = '/sys/fs/bpf/dwell'
PERIOD_NS = 10**9 // 5200


def clean_up(d):
    """What a killed one left in the kernel would count on for some minutes."""
    if d.child.poll() is None:
        d.child.kill()
        d.child.wait(30)
    dwell('daemon', '--unpin', '--db', d.db)


# Who takes too long is told to end, and half a second later is killed with all of its group, which
# may be too soon for that: another group does it then, when nobody holds the other end of its input.
CLEAR_AWAY = '''
while read -r db; do set -- "$@" "$db"; done
for db; do
    for try in $(seq 100); do
        [ -d "$db" ] || break
        "$DWELL" daemon --unpin --db "$db" && break
        sleep 0.1
    done
done
rm -rf "$DIR"
'''


@functools.cache
def survivor():
    return subprocess.Popen(['sh', '-c', CLEAR_AWAY], env={**os.environ, 'DWELL': DWELL, 'DIR': DIR},
                            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                            start_new_session=True, text=True)


def clear_away_at_last(d):
    survivor().stdin.write(d.db + '\n')
    survivor().stdin.flush()
    atexit.register(clean_up, d)


def what_it_does(pid):
    """Where it waits, and for how long it has run."""
    return [text_of(pid, name) for name in ('wchan', 'stat', 'schedstat')]


class Daemon:
    """One that runs on a database of its own, or on one that is given."""

    MEETING_S = 1  # until what runs already is met

    def __init__(self, *options, db=None, prefix=(), **more):
        self.db = db or tempfile.mkdtemp(prefix='db', dir=DIR)
        self.socket = self.db + '.socket'
        self.child = subprocess.Popen(
            [*prefix, DWELL, 'daemon', '--db', self.db, '--socket', self.socket, *options],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, **more)
        clear_away_at_last(self)

    def wait_until_ready(self):
        deadline = time.time() + 120
        while (p := self.ctl('status')).returncode:
            assert self.child.poll() is None, (self.child.returncode, self.child.stderr.read())
            assert time.time() < deadline, f'it does not answer: {p.stderr}, {what_it_does(self.child.pid)}'
            time.sleep(0.1)
        time.sleep(self.MEETING_S)
        return self

    def ctl(self, *words):
        return dwell('ctl', '--socket', self.socket, *words)

    def done(self, *words):
        p = self.ctl(*words)
        assert p.returncode == 0, p.stderr
        return p.stdout

    def status(self):
        return json.loads(self.done('status', '--json'))

    def wait_for(self, is_it, seconds=120):
        """The status when it is so; it may take long where the machine is busy."""
        deadline = time.time() + seconds
        while not is_it(s := self.status()):
            assert time.time() < deadline, s
            time.sleep(0.2)
        return s

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
        if d.child.poll() is None:  # else a test may go on with what it left
            clean_up(d)


def own_memory(pid):
    """Its anonymous memory: what it maps of the kernel's maps is bounded by itself."""
    text = open(f'/proc/{pid}/status', encoding='utf-8').read()
    return int(re.search(r'RssAnon:\s*(\d+)', text)[1]) * 1024


def pins_of(d):
    """Where a daemon's pins are: by its host's directory, and when that was born."""
    directory = glob.glob(f'{d.db}/*/lock')[0].rsplit('/', 1)[0]
    st = os.stat(directory)
    born = subprocess.run(['stat', '-c', '%.9W', directory], capture_output=True, text=True, check=True).stdout
    seconds, ns = map(int, born.split('.'))
    return f'{PINS}/{st.st_dev:x}-{st.st_ino:x}-{seconds:x}-{ns:x}'


def numbers_of(value):
    """The 64-bit numbers of a map's value as bpftool shows it."""
    raw = bytes(int(byte, 16) for byte in value)
    return [int.from_bytes(raw[i:i + 8], sys.byteorder) for i in range(0, len(raw), 8)]


def kernel_stats(d):
    """Samples taken and lost since the maps were made, by whichever daemons."""
    need('bpftool')
    p = subprocess.run(['bpftool', '-j', 'map', 'dump', 'pinned', pins_of(d) + '/stats'],
                       capture_output=True, text=True, check=True)
    all_cpus = [numbers_of(entry['value']) for entry in json.loads(p.stdout)]
    return sum(c[0] for c in all_cpus), sum(c[3] for c in all_cpus)


def report(d, *options):
    p = dwell('report', '--json', '--limit', '0', *options, '--db', d.db)
    assert p.returncode == 0, p.stderr
    return json.loads(p.stdout)


def samples(d):
    return sum(report(d)['total'].values()) / PERIOD_NS
