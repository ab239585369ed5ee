# SPDX-License-Identifier: Apache-2.0
"""A file system for Linux to start from: a cpio archive of the "newc" kind, as the kernel's
Documentation/driver-api/early-userspace/buffer-format.rst describes it."""
import os
import subprocess

DIRECTORY, FILE, LINK = 0o040000, 0o100000, 0o120000
LIBRARY_FOLDERS = ('lib', 'lib64', *(f'{at}/{machine}-linux-gnu' for at in ('lib', 'usr/lib')
                                     for machine in ('aarch64', 'x86_64')))


def needed_by(path):
    """The libraries that a program or library names, its interpreter among them."""
    text = subprocess.run(['readelf', '-ld', path], capture_output=True, text=True,
                          check=True).stdout
    for line in text.splitlines():
        if '(NEEDED)' in line:
            yield line[line.index('[') + 1:line.index(']')]
        elif 'program interpreter:' in line:
            yield os.path.basename(line.split(':', 1)[1].strip(' ]'))


class Initramfs:
    def __init__(self, sysroots):
        """Libraries are taken from the sysroots."""
        self.sysroots = sysroots
        self.data = bytearray()
        self.names = set()
        self.inode = 0

    def entry(self, name, mode, data=b''):
        if name in self.names:
            return
        self.names.add(name)
        self.inode += 1
        fields = (self.inode, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name) + 1, 0)
        head = b'070701' + b''.join(b'%08X' % f for f in fields) + name.encode() + b'\0'
        for part in (head, data):
            self.data += part + b'\0' * (-len(part) % 4)

    def directory(self, name):
        parent = os.path.dirname(name)
        if parent:
            self.directory(parent)
        self.entry(name, DIRECTORY | 0o755)

    def file(self, name, data, mode=0o755):
        if os.path.dirname(name):
            self.directory(os.path.dirname(name))
        self.entry(name, FILE | mode, data)

    def link(self, name, target):
        self.entry(name, LINK | 0o777, target.encode())

    def find_library(self, name):
        for root in self.sysroots:
            for folder in LIBRARY_FOLDERS:
                path = os.path.join(root, folder, name)
                if os.path.exists(path):
                    return path
        raise FileNotFoundError(f'no {name} in {self.sysroots}')

    def program(self, name, path):
        """The file, and what it is linked with."""
        with open(path, 'rb') as f:
            self.file(name, f.read())
        for library in needed_by(path):
            if 'lib/' + library not in self.names:
                self.program('lib/' + library, self.find_library(library))

    def finish(self):
        self.entry('TRAILER!!!', 0)
        return bytes(self.data)
