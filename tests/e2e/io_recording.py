# SPDX-License-Identifier: Apache-2.0
"""Recordings by the experiment io, and their rows."""
import json
import os
import subprocess

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


def rows(by, *options, path=FILE):
    """{name: row}"""
    p = dwell('io', '--json', '--by', by, *options, path)
    assert p.returncode == 0, p.stderr
    r = json.loads(p.stdout)
    assert not r['quality']['lost'], r['quality']
    return {row['name']: row for row in r['rows']}
