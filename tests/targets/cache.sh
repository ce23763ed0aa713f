# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
# Where what was downloaded for tests is kept: $OPPROBE_CACHE, or /var/cache/opprobe, or a
# directory of the user's if that one is not writable.

writable_directory()
{
	mkdir -p "$1" 2>/dev/null && [ -w "$1" ]
}

candidates()
{
	[ -z "${OPPROBE_CACHE:-}" ] || echo "$OPPROBE_CACHE"
	echo /var/cache/opprobe
	echo "${XDG_CACHE_HOME:-${HOME:-/nonexistent}/.cache}/opprobe"
}

# Both read all candidates: who writes them may not be killed for that nobody reads on.
cache_directory()
{
	candidates | while read -r candidate; do
		if [ -z "${found:-}" ] && writable_directory "$candidate/npm"; then
			echo "$candidate"
			found=1
		fi
	done
}

# Print the path of what is called $1 there, if it is there.
cached()
{
	candidates | while read -r candidate; do
		if [ -z "${found:-}" ] && [ -d "$candidate/$1" ]; then
			echo "$candidate/$1"
			found=1
		fi
	done
}
