#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: checksum.py HEADER NAME FILE… OUT.c: the function NAME(), which HEADER declares;
it returns a checksum of the files."""
import pathlib
import sys
import zlib

if __name__ == "__main__":
    header, name, *files, out = sys.argv[1:]
    checksum = 0
    for file in files:
        checksum = zlib.crc32(pathlib.Path(file).read_bytes(), checksum)
    pathlib.Path(out).write_text(f"""/* SPDX-License-Identifier: Apache-2.0 */
#include "{header}"

uint32_t {name}(void)
{{
\treturn 0x{checksum:08x}u;
}}
""", encoding="ascii")
