#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A function's control flow as a picture, read by who knows the formats.
usage: cfg.py DWELL DIRECTORY"""
import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree

import harness
from harness import dwell, test

FORKS = os.path.abspath(sys.argv[2]) + '/e2e-directions'
SVG = '{http://www.w3.org/2000/svg}'


def record(experiment, *options):
    path = f'{harness.DIR}/{experiment}.dwell'
    p = dwell('run', '-e', experiment, *options, '-o', path, '--', FORKS)
    assert p.returncode == 0, p
    return path, p.stdout


def truth(out, name):
    """(taken, not taken)."""
    taken, met = re.search(rf'^{name} (\d+) (\d+)$', out, re.M).groups()
    return int(taken), int(met) - int(taken)


def texts(svg):
    return [''.join(e.itertext()) for e in xml.etree.ElementTree.fromstring(svg).iter(SVG + 'text')]


@test
def a_picture_has_every_block_and_how_often_ways_were_taken():
    counted, out = record('bbcounts')
    timed, _ = record('usertime', '-i', '500us')
    p = dwell('cfg', 'seldom', timed, counted)
    assert p.returncode == 0, p
    found = texts(p.stdout)
    whole = '\n'.join(found)
    for n in truth(out, 'seldom'):
        assert f'{n:,}' in whole, (n, found)
    assert 'seldom in e2e-directions' in whole and 'entry' in found and 'exit' in found, found
    assert re.search(r'^block \d+, \d+\.\d %', whole, re.M) and 'jb ' in whole, found
    once = dwell('cfg', 'seldom', timed, counted)
    assert once.stdout == p.stdout


@test
def without_counts_ways_have_ranges_that_samples_tell():
    timed, _ = record('usertime', '--insn', '-i', '200us')
    p = dwell('cfg', '--all', 'even', timed)
    assert p.returncode == 0, p
    labels = [text for text in texts(p.stdout) if re.fullmatch(r'[\d,.]+–[\d,.]+( [KMG])?', text)]
    notes = [text for text in texts(p.stdout) if re.search(r'[\d,.]+–[\d,.]+( [KMG])? times, ', text)]
    assert labels and notes, texts(p.stdout)


@test
def what_was_never_executed_is_left_out_and_said():
    counted, _ = record('bbcounts')
    some, every = (dwell('cfg', *options, 'never', counted).stdout for options in ([], ['--all']))
    blocks = [len(re.findall(r'^block \d+', '\n'.join(texts(svg)), re.M)) for svg in (some, every)]
    assert blocks[0] < blocks[1] and 'never executed' in some and 'never executed' not in every, blocks


@test
def of_many_blocks_those_with_most_time_are_drawn():
    timed, _ = record('usertime', '--insn', '-i', '200us')
    whole, some, every = ('\n'.join(texts(dwell('cfg', *options, 'even', timed).stdout))
                          for options in ([], ['--blocks', '2'], ['--blocks', '2', '--all']))
    shares = {int(n): float(share or 0) for n, share in re.findall(r'^block (\d+)(?:, (\d+\.\d+) %)?$', whole, re.M)}
    drawn = {int(n) for n in re.findall(r'^block (\d+)', some, re.M)}
    assert len(shares) > 3 and len(drawn) == 2, (shares, drawn)
    assert min(shares[n] for n in drawn) >= max(share for n, share in shares.items() if n not in drawn), (shares, drawn)
    assert f'left out, with the least time: {len(shares) - 2} blocks' in some and 'left out' not in whole + every, some
    assert len(re.findall(r'^block \d+', every, re.M)) >= len(shares), every
    # Of a loop nothing leads outside.
    assert not re.search(r'^(entry|exit)$', some, re.M), some
    assert all(re.search(f'^{end}$', whole, re.M) for end in ('entry', 'exit')), whole


@test
def formats_go_by_the_name_of_the_file():
    counted, out = record('bbcounts')
    for suffix, begin in [('svg', '<?xml'), ('eps', '%!PS-Adobe'), ('dot', 'digraph')]:
        path = f'{harness.DIR}/picture.{suffix}'
        p = dwell('cfg', '-o', path, 'even', counted)
        assert p.returncode == 0 and not p.stdout, p
        text = open(path).read()
        assert text.startswith(begin) and f"{truth(out, 'even')[0]:,}" in text, text[:300]
    assert dwell('cfg', '--format', 'dot', 'even', counted).stdout == text
    for program, words in [('dot', ['-Tsvg', text]), ('gs', ['-q', '-dBATCH', '-dNOPAUSE', '-sDEVICE=nullpage'])]:
        if shutil.which(program):
            at = f'{harness.DIR}/picture.' + ('dot' if program == 'dot' else 'eps')
            subprocess.run([program, *words[:1], at] if program == 'dot' else [program, *words, at], check=True,
                           stdout=subprocess.DEVNULL)


@test
def blocks_are_cut_as_they_are_asked_to_be():
    counted, _ = record('bbcounts')
    short, whole = (dwell('cfg', '--lines', n, 'even', counted).stdout for n in ('2', '0'))
    assert '⋮' in short and '⋮' not in whole and len(short) < len(whole)


@test
def what_cannot_be_written_or_drawn_is_said():
    counted, _ = record('bbcounts')
    for words, code, said in [(['-o', '/dev/full', 'even', counted], 1, 'No space'),
                              (['-o', '/nowhere/x.svg', 'even', counted], 1, '/nowhere/x.svg'),
                              (['--format', 'gif', 'even', counted], 2, 'gif'),
                              (['-o', 'x.png', 'even', counted], 2, '.svg, .eps, .dot and .json'),
                              (['nothing_like_it', counted], None, 'nothing_like_it')]:
        p = dwell('cfg', *words)
        assert p.returncode != 0 and (code is None or p.returncode == code) and said in p.stderr, (words, p)


sys.exit(harness.run_all(harness.TESTS, words=sys.argv[3:]))
