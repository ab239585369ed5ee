#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What quickstart and check share: saying what is done, and installing packages.
# Sourced with $root (the source tree) and $logs (a directory) set.
: "${root:?}" "${logs:?}"

if [ -t 1 ] && [ -z "$NO_COLOR" ]; then
	bold=$'\033[1m' plain=$'\033[0m'
else
	bold='' plain=''
fi

say() {
	printf '%s%s%s\n' "$bold" "$*" "$plain"
}

die() {
	printf '%s: %s\n' "${0##*/}" "$*" >&2
	exit 1
}

# quietly NAME COMMAND...: the output goes to a log, whose end is shown on failure.
quietly() {
	local log=$logs/$1.log
	shift
	"$@" >"$log" 2>&1 && return
	printf '%s failed; the end of %s:\n' "$*" "$log" >&2
	tail -n 25 "$log" >&2
	return 1
}

as_root() {
	if [ "$(id -u)" = 0 ]; then
		"$@"
	else
		sudo "$@"
	fi
}

# missing GROUP...: packages of these groups that are not installed.
missing() {
	local group package
	while read -r group package _; do
		[[ " $* " == *" $group "* ]] || continue
		dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q ' installed$' ||
			echo "$package"
	done <"$root/scripts/packages"
}

# install GROUP...: what is missing, and nothing when nothing is.
install() {
	local packages
	command -v dpkg-query >/dev/null || die "this script knows Debian's packages only; see scripts/packages"
	mapfile -t packages < <(missing "$@")
	if [ ${#packages[@]} = 0 ]; then
		say "packages: all installed"
		return
	fi
	say "packages: installing ${packages[*]}"
	if [ "$(id -u)" != 0 ] && ! command -v sudo >/dev/null; then
		die "neither root nor sudo; as root: apt-get install ${packages[*]}"
	fi
	export DEBIAN_FRONTEND=noninteractive
	quietly apt-update as_root apt-get -q update ||
		say "apt-get update failed; trying with the lists there are"
	quietly apt-install as_root env DEBIAN_FRONTEND=noninteractive \
		apt-get -q -y --no-install-recommends install "${packages[@]}" ||
		die "cannot install: ${packages[*]}"
}
