#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# An empty 32-bit library where the compiler can make one, else an empty file.
# usage: empty.sh OUTPUT CC...
out=$1
shift
"$@" -m32 -nostdlib -shared -Wl,-s -Wl,--build-id=none -Wl,-z,max-page-size=4096 \
	-Wl,-z,noseparate-code -x c /dev/null -o "$out" 2>/dev/null || : >"$out"
