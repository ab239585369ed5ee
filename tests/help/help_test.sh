#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What is made from the option tables is complete and well-formed.
#
#	usage: help_test.sh DWELL COMMAND...
dwell=$1
shift
commands=("$@")
export COLUMNS=80 NO_COLOR=1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
n=0

# verdict NAME: of the command before.
verdict() {
	local code=$?
	n=$((n + 1))
	if [ $code = 0 ]; then
		echo "ok $n - $1"
	else
		echo "not ok $n - $1"
		sed 's/^/# /' "$work/why" 2>/dev/null
	fi
	: >"$work/why"
}

skip() {
	n=$((n + 1))
	echo "ok $n - $1 # SKIP $2"
}

options_of_help() {
	"$dwell" help "$1" | sed -nE 's/^  (-., |    )--([a-z0-9-]*).*/\2/p' | sort -u
}

options_of_man() {
	"$dwell" help --man "$1" | sed -n 's/^\.It.* Fl "\\-\([^"]*\)".*/\1/p' | sed 's/\\-/-/g' | sort -u
}

# The words offered for "dwell COMMAND --".
options_of_bash() {
	complete_words dwell "$1" -- | sed -n 's/^--//p' | sort -u
}

options_of_fish() {
	"$dwell" help --completion fish | sed -n "s/.*_from $1' -l \([a-z0-9-]*\).*/\1/p" | sort -u
}

options_of_zsh() {
	"$dwell" help --completion zsh | sed -n "/^$1)/,/;;/s/.*'\*--\([a-z0-9-]*\)=\{0,1\}\[.*/\1/p" | sort -u
}

# What bash would offer for the last of the words.
complete_words() {
	(
		# shellcheck source=/dev/null
		. "$work/dwell.bash"
		COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
		_dwell
		printf '%s\n' "${COMPREPLY[@]}"
	)
}

same_options() {
	options_of_help "$2" >"$work/help"
	"options_of_$1" "$2" >"$work/other"
	[ -s "$work/help" ] && diff "$work/help" "$work/other" >"$work/why"
}

# expect CODE TEXT WORDS...: the exit code and a part of the one line of complaint.
expect() {
	local code=$1 text=$2 got
	shift 2
	"$dwell" "$@" >/dev/null 2>"$work/why"
	got=$?
	[ $got = "$code" ] && [ "$(wc -l <"$work/why")" = 1 ] && grep -qF -- "$text" "$work/why"
}

"$dwell" help --completion bash >"$work/dwell.bash"

for c in "${commands[@]}"; do
	for other in man bash fish zsh; do
		same_options $other "$c"
		verdict "$other knows the options of $c"
	done
	[ "$("$dwell" "$c" --help)" = "$("$dwell" help "$c")" ]
	verdict "$c --help is help $c"
	"$dwell" help "$c" | awk 'length > 80' >"$work/why"
	[ ! -s "$work/why" ]
	verdict "help $c fits in 80 columns"
	grep -qw "$c" <<<"$("$dwell")"
	verdict "the overview names $c"
	"$dwell" help "$c" | sed -n 3p | grep -q '^[A-Z].*[^.]$'
	verdict "the summary of $c is a sentence without its full stop"
done

for page in "" "${commands[@]}"; do
	if command -v mandoc >/dev/null; then
		"$dwell" help --man ${page:+"$page"} | mandoc -T lint -W style |
			grep -v 'referenced manual not found' >"$work/why"
		[ ! -s "$work/why" ]
		verdict "the manual page of dwell${page:+ }$page is well-formed"
	else
		skip "the manual page of dwell $page is well-formed" "mandoc is not installed"
	fi
done

root=$(dirname "$0")/../..
"$dwell" help --man >"$work/dwell.1"
"$root/scripts/format-page" "$work/dwell.1" "$root/docs/format.md" >"$work/format.5" 2>"$work/why"
verdict "the manual page of the format is made of docs/format.md"
if command -v mandoc >/dev/null; then
	mandoc -T lint -W style "$work/format.5" | grep -v 'referenced manual not found' >"$work/why"
	[ ! -s "$work/why" ]
	verdict "the manual page of the format is well-formed"
else
	skip "the manual page of the format is well-formed" "mandoc is not installed"
fi

bash -n "$work/dwell.bash" 2>"$work/why"
verdict "the bash completion is a script"
for shell in fish zsh; do
	if command -v $shell >/dev/null; then
		"$dwell" help --completion $shell >"$work/dwell.$shell"
		$shell -n "$work/dwell.$shell" 2>"$work/why"
		verdict "the $shell completion is a script"
	else
		skip "the $shell completion is a script" "$shell is not installed"
	fi
done
[ "$(complete_words dwell hel)" = help ]
verdict "bash completes commands"
[ "$(complete_words dwell help --completion z)" = zsh ]
verdict "bash completes the choices of an option"
[ "$(complete_words dwell help rep)" = report ]
verdict "bash completes the commands to explain"

expect 2 "unknown command 'hlep'; did you mean 'dwell help'?" hlep
verdict "a misspelt command is answered with the nearest"
expect 2 "unknown option '--completoin'; did you mean '--completion'?" help --completoin
verdict "a misspelt option is answered with the nearest"
expect 2 "unknown command 'xyzzy'" help xyzzy
verdict "help for an unknown command is a mistake"
expect 1 "cannot write the output" help >/dev/null 2>&1 ||
	{ "$dwell" help >/dev/full 2>"$work/why"; [ $? = 1 ] && grep -q 'cannot write' "$work/why"; }
verdict "a full disk is an error"
"$dwell" help --man 2>"$work/why" | true
[ ! -s "$work/why" ]
verdict "a reader that has seen enough is not"
"$dwell" --version | grep -qE '^dwell [0-9]+\.[0-9]+\.[0-9]+$'
verdict "the version is one line"
! "$dwell" help --color never | grep -q $'\033' && "$dwell" help --color always | grep -q $'\033'
verdict "colour is as asked for"
echo "1..$n"
