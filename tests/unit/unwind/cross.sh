#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Walks stacks on aarch64 under qemu, built with frame pointers, without, and with signed
# return addresses.  usage: cross.sh SOURCE-ROOT
set -eu
cc=aarch64-linux-gnu-gcc
sysroot=/usr/aarch64-linux-gnu
src=$1
command -v $cc >/dev/null || { echo "SKIP: no $cc"; exit 77; }
command -v qemu-aarch64 >/dev/null || { echo "SKIP: no qemu-aarch64"; exit 77; }
[ -e $sysroot/lib/libc.so.6 ] || { echo "SKIP: no aarch64 libc"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
core="cfa_expr cfa_program cfa_row cfi code_path eh_hdr last_stack local local_guard
local_modules no_table stack_end step x86_op"
objects=
for stem in $core; do
	$cc -O2 -Wall -Wextra -Werror -D_GNU_SOURCE -I"$src/src" -fno-omit-frame-pointer \
		-c "$src/src/unwind/$stem.c" -o "$work/$stem.o"
	objects="$objects $work/$stem.o"
done
for flags in -fomit-frame-pointer -fno-omit-frame-pointer \
	'-fomit-frame-pointer -mbranch-protection=standard'; do
	# shellcheck disable=SC2086
	$cc -O2 -Wall -Wextra -Werror -D_GNU_SOURCE -I"$src/src" $flags -o "$work/walks" \
		"$src/tests/unit/unwind/cross_walks.c" $objects
	echo "aarch64 $flags:"
	timeout 60 qemu-aarch64 -cpu max -L $sysroot "$work/walks"
done
