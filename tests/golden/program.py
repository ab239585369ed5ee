#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An executable of some bytes of x86-64 code at 0x400078, its place in the file, and the names of functions
in it.  usage: program.py FILE HEX NAME:OFFSET:SIZE…"""
import os
import struct
import sys

START, HEAD = 0x400000, 0x78


def section(name, kind, flags, address, offset, size, link=0, info=0, entry=0):
    return struct.pack('<IIQQQQIIQQ', name, kind, flags, address, offset, size, link, info, 1, entry)


def main():
    path, code = sys.argv[1], bytes.fromhex(sys.argv[2])
    names, symbols = b'\0', bytes(24)
    for function in sys.argv[3:]:
        name, offset, size = function.split(':')
        symbols += struct.pack('<IBBHQQ', len(names), 0x12, 0, 1, START + HEAD + int(offset, 0), int(size, 0))
        names += name.encode() + b'\0'
    titles = b'\0.text\0.symtab\0.strtab\0.shstrtab\0'
    at = [HEAD]
    for part in (code, symbols, names, titles):
        at.append(at[-1] + len(part))
    sections = (bytes(64) + section(1, 1, 6, START + HEAD, HEAD, len(code))
                + section(7, 2, 0, 0, at[1], len(symbols), 3, 1, 24) + section(15, 3, 0, 0, at[2], len(names))
                + section(23, 3, 0, 0, at[3], len(titles)))
    ident = b'\x7fELF\2\1\1' + bytes(9)
    head = ident + struct.pack('<HHIQQQIHHHHHH', 2, 62, 1, START + HEAD, 64, at[4], 0, 64, 56, 1, 64, 5, 4)
    load = struct.pack('<IIQQQQQQ', 1, 5, HEAD, START + HEAD, START + HEAD, len(code), len(code), 0x1000)
    os.makedirs(os.path.dirname(path) or '.', exist_ok=True)
    with open(path, 'wb') as f:
        f.write(head + load + code + symbols + names + titles + sections)


if __name__ == '__main__':
    main()
