# SPDX-License-Identifier: Apache-2.0
"""A reader of pprof's protocol buffers that shares nothing with the one who writes them."""
import gzip


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        shift += 7
        at += 1
        if byte < 0x80:
            return value, at


def varints(data):
    at, values = 0, []
    while at < len(data):
        value, at = varint(data, at)
        values.append(value)
    return values


def fields(data):
    """(number, value) of a message: numbers, or bytes of what is nested."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        value, at = varint(data, at)
        if key & 7 == 2:
            value, at = data[at:at + value], at + value
        elif key & 7:
            raise ValueError(f"wire type {key & 7}")
        yield key >> 3, value


class Profile:
    def __init__(self, packed):
        by_number = {}
        for number, value in fields(gzip.decompress(packed)):
            by_number.setdefault(number, []).append(value)
        self.strings = [s.decode("utf-8") for s in by_number.get(6, [])]
        self.types = [self.strings[dict(fields(t))[1]] for t in by_number.get(1, [])]
        self.samples = [dict(fields(s)) for s in by_number.get(2, [])]
        self.build_ids = [self.strings[dict(fields(m)).get(6, 0)] for m in by_number.get(3, [])]
        self.n_locations = len(by_number.get(4, []))
        self.functions = {self.strings[dict(fields(f)).get(2, 0)] for f in by_number.get(5, [])}

    def total(self, sample_type):
        index = self.types.index(sample_type)
        return sum(varints(s[2])[index] for s in self.samples)
