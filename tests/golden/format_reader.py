#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Recordings read by docs/format.md alone say what dwell says of them.

usage: format_reader.py DWELL MKRECORDING SPEC...   Written from that page and from nothing
else: where this reader fails, the page or the writer is wrong.  Prints TAP."""
import collections
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile

INFO, STRINGS, EVENTS, LOCATIONS, STACKS, SAMPLES, TRACES, INDEX, END = 1, 2, 6, 8, 9, 13, 14, 17, 18
BASIC_BLOCKS, EDGES, ACCESSES = 19, 20, 22
WITH_IDS = (3, 4, 5, 6, 7, 10, 11, 12, 15)
MASK = (1 << 64) - 1


def crc_table():
    for value in range(256):
        for _ in range(8):
            value = value >> 1 ^ (0x82f63b78 if value & 1 else 0)
        yield value


CRC = list(crc_table())


def crc(data):
    value = 0xffffffff
    for byte in data:
        value = value >> 8 ^ CRC[(value ^ byte) & 255]
    return value ^ 0xffffffff


def inflate(data, size):
    raw = subprocess.run(['zstd', '-dcq'], input=data, capture_output=True, check=True).stdout
    assert len(raw) == size, (len(raw), size)
    return raw


class Bytes:
    def __init__(self, data):
        self.data, self.at = data, 0

    def left(self):
        return len(self.data) - self.at

    def take(self, n):
        assert n <= self.left()
        self.at += n
        return self.data[self.at - n:self.at]

    def uleb(self):
        value = shift = 0
        while True:
            byte = self.take(1)[0]
            value |= (byte & 0x7f) << shift
            shift += 7
            if byte < 0x80:
                return value

    def zigzag(self):
        value = self.uleb()
        return value >> 1 ^ -(value & 1)

    def inner(self):
        """What has its length before it: a record, a head."""
        return Bytes(self.take(self.uleb()))


def fixed(b, n):
    lowest, width = b.uleb(), b.take(1)[0]
    return [lowest + int.from_bytes(b.take(width), 'little') for _ in range(n)]


def delta(b, n):
    rows, value = [], 0
    for _ in range(n):
        value = value + b.zigzag() & MASK
        rows.append(value)
    return rows


def runs(b, n):
    rows = []
    while len(rows) < n:
        value, length = b.uleb(), b.uleb()
        rows += [value] * length
    return rows


def palette(b, n):
    values = [b.uleb() for _ in range(b.uleb())]
    return [values[i] for i in b.take(n)]


def bits(b, n):
    front = b.take(b.uleb())
    lengths = front if len(front) == n else inflate(front, n)
    stream, rows = int.from_bytes(b.take(b.left()), 'little'), []
    for length in lengths:
        below = max(length - 1, 0)
        rows.append((1 << below if length else 0) | stream & (1 << below) - 1)
        stream >>= below
    assert stream == 0
    return rows


def delta_bits(b, n):
    rows, value = [], 0
    for difference in bits(b, n):
        value = value + difference & MASK
        rows.append(value)
    return rows


CODECS = [lambda b, n: [b.uleb()] * n, fixed, lambda b, n: [b.uleb() for _ in range(n)], delta,
          runs, palette, bits, delta_bits]


def column(codec, b, n):
    if codec & 0x80:
        size = b.uleb()
        b = Bytes(inflate(b.take(b.left()), size))
    rows = CODECS[codec & 0x7f](b, n) if n else []
    assert b.left() == 0 and len(rows) == n
    return rows


def columns(b):
    """The number of rows, the id of the first and the columns of a block."""
    head = b.inner()
    n, first = head.uleb(), head.uleb()
    found = {}
    while b.left():
        name, codec = b.take(2)
        found[name] = column(codec, b.inner(), n)
    return n, first, found


def blocks(data):
    """(offset, kind, payload) of each."""
    assert data[:8] == b'\x89DWELL\r\n' and data[8:10] == b'\x01\x00'
    assert struct.unpack('<I', data[12:16])[0] == crc(data[:12])
    at = 16
    while at < len(data):
        head = data[at:at + 24]
        kind, flags, stored, raw, payload_crc, head_crc = struct.unpack('<HHIIII', head[4:])
        payload = data[at + 24:at + 24 + stored]
        assert head[:4] == bytes.fromhex('de424bed')
        assert head_crc == crc(head[:20] + struct.pack('<Q', at))
        assert payload_crc == crc(payload)
        yield at, kind, Bytes(inflate(payload, raw) if flags & 1 else payload)
        at += 24 + stored


class Recording:
    def __init__(self, data):
        self.info, self.strings = {}, ['']
        self.records = collections.defaultdict(dict)
        self.locations, self.stacks = [], [None]
        self.weights, self.counts = collections.Counter(), collections.Counter()
        self.offsets, self.index, self.end = [], [], None
        self.basic_blocks, self.edges, self.accesses = [], [], []
        for at, kind, payload in blocks(data):
            self.offsets.append((kind, at))
            if kind in WITH_IDS:
                self.add_records(kind, payload)
            else:
                READERS.get(kind, lambda *ignored: None)(self, payload)

    def add_records(self, kind, b):
        while b.left():
            record = b.inner()
            self.records[kind][record.uleb()] = record

    def add_info(self, b):
        while b.left():
            record = b.inner()
            key = record.inner().data.decode()
            self.info[key] = record.inner().data.decode()

    def add_strings(self, b):
        assert b.inner().uleb() == len(self.strings)
        while b.left():
            self.strings.append(b.inner().data.decode('utf-8', 'replace'))

    def add_locations(self, b):
        n, first, found = columns(b)
        assert first == len(self.locations)
        for i in range(n):
            self.locations.append(tuple(found[k][i] if k in found else 0 for k in range(3)))

    def add_stacks(self, b):
        n, first, found = columns(b)
        assert first == len(self.stacks)
        for i in range(n):
            distance, location = (found[k][i] if k in found else 0 for k in range(2))
            parent = first + i - 1 - distance
            if 2 in found:
                parent = first + i - 1
                for _ in range(found[2][i]):
                    parent = self.stacks[parent][0]
            self.stacks.append((parent, location))

    def add_samples(self, b):
        n, _, found = columns(b)
        for i in range(n):
            event = found[1][i] if 1 in found else 0
            count = found[5][i] if 5 in found else 1
            weight = count * found[7][i] if 7 in found else 0
            self.weights[event] += found[6][i] if 6 in found else weight
            self.counts[event] += count
            self.frames(found[4][i] if 4 in found else 0)

    def frames(self, stack):
        """Locations from the innermost frame out: every id leads to the end."""
        found = []
        while stack:
            stack, location = self.stacks[stack]
            found.append(self.locations[location])
        return found

    def add_basic_blocks(self, b):
        n, first, found = columns(b)
        assert first == len(self.basic_blocks)
        self.basic_blocks += zip(*(found.get(k, [0] * n) for k in range(6)))

    def add_edges(self, b):
        n, _, found = columns(b)
        self.edges += zip(*(found.get(k, [0] * n) for k in range(4)))

    def add_accesses(self, b):
        n, _, found = columns(b)
        self.accesses += zip(*(found.get(k, [0] * n) for k in range(5)))

    def add_index(self, b):
        while b.left():
            record = b.inner()
            self.index.append((record.uleb(), record.uleb()))

    def add_end(self, b):
        self.end = struct.unpack('<Q', b.take(8))[0]


READERS = {INFO: Recording.add_info, STRINGS: Recording.add_strings,
           LOCATIONS: Recording.add_locations, STACKS: Recording.add_stacks,
           SAMPLES: Recording.add_samples, BASIC_BLOCKS: Recording.add_basic_blocks,
           EDGES: Recording.add_edges, ACCESSES: Recording.add_accesses,
           INDEX: Recording.add_index, END: Recording.add_end}


ENDS = ['on', 'branch', 'jump', 'call', 'indirect-jump', 'indirect-call', 'return', 'syscall', 'stop']
KINDS = ['on', 'taken', 'call', 'indirect-jump', 'indirect-call', 'return', 'returned', 'syscall', 'entered', 'left']

WHATS = ['met', 'unknown', 'line', 'page', 'stride', 'again', 'other-line', 'other-page', 'last', 'lowest',
         'highest']


def check_code(r, path):
    """Basic blocks, edges and accesses as dwell cat has them."""
    told = [f'basic-block {i} process={p} location={l} size={s} instructions={n} end={ENDS[e]} times={t}'
            for i, (p, l, s, n, e, t) in enumerate(r.basic_blocks)]
    for block, location, kind, times in r.edges:
        where = f' location={location - 1}' if location else ''
        told.append(f'edge block={block} kind={KINDS[kind]}{where} times={times}')
    for process, location, what, value, times in r.accesses:
        told.append(f'access process={process} location={location} what={WHATS[what]} value={value} times={times}')
    said = subprocess.run([DWELL, 'cat', '--section', 'basic-blocks,edges,accesses', path], stdout=subprocess.PIPE,
                          check=False, timeout=60, text=True).stdout
    assert said.splitlines() == told, (said, told)


def check(path):
    with open(path, 'rb') as f:
        r = Recording(f.read())
    report = json.loads(subprocess.run([DWELL, 'report', '--json', path], stdout=subprocess.PIPE,
                                       check=False, timeout=60).stdout)
    for i, record in r.records[EVENTS].items():
        name = r.strings[record.uleb()]
        told = next((e for e in report['events'] if e['name'] == name), None)
        assert (told['samples'] if told else 0) == r.counts[i], (name, told, r.counts[i])
        assert report['total'].get(name, 0) == r.weights[i], (name, r.weights[i])
    assert r.info['command'] == report['sources'][0]['command'], r.info
    check_code(r, path)
    if r.end:
        assert (INDEX, r.end) in r.offsets
        assert r.index == [o for o in r.offsets if o[0] not in (INDEX, END)]


def main():
    specs = sys.argv[3:]
    if not shutil.which('zstd'):
        print('1..0 # SKIP no zstd here')
        return 0
    print(f'1..{len(specs)}')
    failed = 0
    for i, spec in enumerate(specs, 1):
        name = os.path.basename(spec)[:-len('.spec')]
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, name + '.dwell')
            subprocess.run([MKRECORDING, path, spec], check=True)
            try:
                check(path)
                print(f'ok {i} - {name}')
            except (AssertionError, LookupError, struct.error) as why:
                failed += 1
                print(f'not ok {i} - {name}\n# {type(why).__name__}: {why}')
    return 1 if failed else 0


DWELL, MKRECORDING = (os.path.abspath(word) for word in sys.argv[1:3])
if __name__ == '__main__':
    sys.exit(main())
