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
core="decode/x86_flags decode/x86_flow decode/x86_op decode/x86_writes
unwind/cfa_expr unwind/cfa_program unwind/cfa_row unwind/cfi unwind/code_path unwind/eh_hdr
unwind/last_stack unwind/local unwind/local_guard unwind/local_modules unwind/no_table
unwind/stack_end unwind/step"
objects=
for file in $core; do
	stem=${file#*/}
	$cc -O2 -Wall -Wextra -Werror -D_GNU_SOURCE -I"$src/src" -fno-omit-frame-pointer \
		-c "$src/src/$file.c" -o "$work/$stem.o"
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
