#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The header of a BPF object, without its debug information (its types stay).
#
#	usage: skeleton.sh BPFTOOL OBJECT NAME > HEADER
set -eu
bare=$(mktemp)
trap 'rm -f "$bare"' EXIT
"$1" gen object "$bare" "$2"
# A name that no macro of ours has.
"$1" gen skeleton "$bare" name "$3" | sed 's/((unused))/((__unused__))/g'
