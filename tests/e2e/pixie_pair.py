# SPDX-License-Identifier: Apache-2.0
"""Reads NAME.Addrs and NAME.Counts of an image, as docs/bbcounts.md tells them."""
import bisect
import struct
import subprocess

ADDRS, COUNTS = 0x0f0e0010, 0x0f0e0a11


def text_of(image):
    """[(address, bytes)] of what may be executed of an ELF file."""
    out = subprocess.run(['readelf', '-lW', image], capture_output=True, text=True, check=True).stdout
    with open(image, 'rb') as f:
        contents = f.read()
    found = []
    for words in map(str.split, out.splitlines()):
        if words[:1] == ['LOAD'] and 'E' in words[6:-1]:
            offset, address, _, size = (int(w, 16) for w in words[1:5])
            found.append((address, contents[offset:offset + size]))
    return found


def hash_of(text):
    value = 0
    for _, code in text:
        code += bytes(-len(code) % 4)
        for word, in struct.iter_unpack('<I', code):
            value = (value << 5 & 0xffffffff | value >> 27) ^ word
    return value


class Pair:
    """Blocks without gaps: block i is [self.starts[i], self.starts[i + 1])."""

    def __init__(self, path, image):
        with open(f'{path}.Addrs', 'rb') as f:
            addrs = f.read()
        with open(f'{path}.Counts', 'rb') as f:
            counts = f.read()
        n = (len(counts) - 8) // 8
        magic, value, *offsets = struct.unpack(f'<{n + 3}I', addrs)
        text = text_of(image)
        assert (magic, value) == (ADDRS, hash_of(text)), (path, magic, value)
        magic, value, *self.counts = struct.unpack(f'<II{n}Q', counts)
        assert (magic, value) == (COUNTS, hash_of(text)), (path, magic, value)
        first, (last, code) = text[0][0], text[-1]
        assert offsets[0] == 0 and offsets[-1] == last + len(code) - first, (path, offsets[0], offsets[-1])
        assert all(a < b for a, b in zip(offsets, offsets[1:])), path
        self.starts = [first + o for o in offsets]

    def count(self, address):
        assert self.starts[0] <= address < self.starts[-1], hex(address)
        return self.counts[bisect.bisect_right(self.starts, address) - 1]
