#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The unwinder's core goes into other people's programs: of libc it may need only what
# compilers call by themselves, and weakly what finds modules.
# usage: freestanding.sh LIBRARY.A...
set -eu
defined=$(nm --defined-only "$@" | awk '$2 ~ /[A-Z]/ { print $3 }' | sort -u)
needed=$(nm --undefined-only "$@" | awk 'NF == 2 && $1 == "U" { print $2 }' | sort -u)
bad=0
for name in $needed; do
	case $name in
	memcpy | memset | memcmp | memmove | _GLOBAL_OFFSET_TABLE_) continue ;;
	esac
	echo "$defined" | grep -qx "$name" && continue
	echo "needs $name"
	bad=1
done
exit $bad
