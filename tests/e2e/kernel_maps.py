# SPDX-License-Identifier: Apache-2.0
"""Maps of the kernel that a daemon has pinned, as tests look into them and change them."""
import ctypes
import json
import os
import subprocess

BPF_CALL = {'x86_64': 321, 'aarch64': 280}
LOOKUP, UPDATE, OBJ_GET = 1, 2, 7


class _Object(ctypes.Structure):
    _fields_ = [('path', ctypes.c_uint64), ('fd', ctypes.c_uint32), ('flags', ctypes.c_uint32)]


class _Element(ctypes.Structure):
    _fields_ = [('map', ctypes.c_uint64), ('key', ctypes.c_uint64), ('value', ctypes.c_uint64),
                ('flags', ctypes.c_uint64)]


def _call(command, attributes):
    libc = ctypes.CDLL(None, use_errno=True)
    n = libc.syscall(BPF_CALL[os.uname().machine], command, ctypes.byref(attributes),
                     ctypes.sizeof(attributes))
    if n < 0:
        raise OSError(ctypes.get_errno(), 'bpf')
    return n


class ThreadMap:
    """One that keeps a struct for each thread: its members by their names."""

    def __init__(self, path):
        name = ctypes.create_string_buffer(path.encode())
        self.fd = _call(OBJ_GET, _Object(path=ctypes.addressof(name)))
        types = json.loads(subprocess.run(['bpftool', '-j', 'btf', 'dump', 'map', 'pinned', path, 'value'],
                                          check=True, capture_output=True, text=True).stdout)['types']
        sizes = {t['id']: t['size'] for t in types if 'size' in t}
        struct = next(t for t in types if t['kind'] == 'STRUCT')
        self.places = {m['name']: m['bits_offset'] // 8 for m in struct['members']}
        self.bytes = sizes[struct['id']]

    def close(self):
        os.close(self.fd)

    def change(self, pid, **members):
        """Each a member's type, and its value."""
        value = ctypes.create_string_buffer(self.bytes)
        pidfd = os.pidfd_open(pid)
        try:
            key = ctypes.c_int(pidfd)
            e = _Element(map=self.fd, key=ctypes.addressof(key), value=ctypes.addressof(value))
            _call(LOOKUP, e)
            for name, (kind, number) in members.items():
                kind.from_buffer(value, self.places[name]).value = number
            _call(UPDATE, e)
        finally:
            os.close(pidfd)
