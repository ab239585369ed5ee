#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What quickstart and check share: saying what is done, and installing packages.
# Sourced with $root (the source tree) and $logs (a directory) set.
: "${root:?}" "${logs:?}"

if [ -t 1 ] && [ -z "${NO_COLOR-}" ]; then
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

# writable DIRECTORY: make it, or say whose it is, as after a run as root.
writable() {
	mkdir -p "$1" 2>/dev/null && [ -w "$1" ] && return
	local there=$1
	while [ ! -e "$there" ]; do
		there=$(dirname "$there")
	done
	die "cannot write to $there, which belongs to $(stat -c %U "$there")"
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

# admitted WORD...: whether this user may install the packages WORD...; asks for the
# password where sudo does, so that apt's output need not be seen.
admitted() {
	[ "$(id -u)" != 0 ] || return 0
	local advice="as root: apt-get install $*"
	command -v sudo >/dev/null || die "neither root nor sudo; $advice"
	sudo -n true 2>/dev/null || sudo -v || die "sudo does not let you; $advice"
}

# apt_get NAME WORD...: its output goes to a log, of which only the complaints are shown.
apt_get() {
	local log=$logs/$1.log
	shift
	as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y "$@" </dev/null >"$log" 2>&1 &&
		return
	grep -E '^(E|Err|dpkg):' "$log" | tail -n 3 >&2
	return 1
}

# install GROUP...: what is missing, and nothing when nothing is.
install() {
	local packages
	if ! command -v dpkg-query >/dev/null; then
		say "packages: not Debian; building with what is here (scripts/packages says what is needed)"
		return
	fi
	mapfile -t packages < <(missing "$@")
	if [ ${#packages[@]} = 0 ]; then
		say "packages: all installed"
		return
	fi
	say "packages: installing ${packages[*]}"
	admitted "${packages[@]}"
	apt_get apt-update update || say "apt-get update failed; trying with the lists there are"
	apt_get apt-install --no-install-recommends install "${packages[@]}" ||
		die "cannot install packages (all of it in $logs/apt-install.log); as root: apt-get install ${packages[*]}"
}
