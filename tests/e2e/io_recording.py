# SPDX-License-Identifier: Apache-2.0
"""Recordings by the experiment io, and their rows."""
import json
import os
import signal
import socket
import subprocess
import sys
import threading

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
