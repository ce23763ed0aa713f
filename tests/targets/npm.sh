# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
# Packages of npm, unpacked into the cache (see cache.sh):
#
#	ready=$(cached NAME); [ -n "$ready" ] || { begin_making NAME; ... ; end_making; }

. "$(dirname "$0")/cache.sh"

fail()
{
	echo "${0##*/}: $*" >&2
	exit 1
}

# Have $ready be where $1 is to be in the cache, and $work a folder to make it in, as
# $work/ready; what is left of that is gone at the end.
begin_making()
{
	cache=$(cache_directory)
	[ -n "$cache" ] ||
		fail "no directory to keep downloads in is writable: set OPPROBE_CACHE to one"
	ready=$cache/$1
	work=$(mktemp -d "$cache/.work-XXXXXX")
	trap 'rm -rf "$work"' EXIT
	trap 'exit 130' INT TERM HUP
}

# Whoever is second finds the name taken: both have made the same.
end_making()
{
	chmod 755 "$work/ready"
	mv -T "$work/ready" "$ready" 2>/dev/null || [ -d "$ready" ] ||
		fail "cannot create $ready"
}

# Print the path of the tarball of package $1, version $2 (or ~VERSION: the last
# number may be higher); it is downloaded if the cache has none. Its scripts never
# run: those of onnxruntime-node would download parts for GPUs.
tarball()
{
	case $2 in
	'~'*) pattern=${2#\~}; pattern=${pattern%.*}.* ;;
	*) pattern=$2 ;;
	esac
	for file in "$cache/npm/$1-"$pattern.tgz; do
		if [ -s "$file" ]; then
			echo "$file"
			return
		fi
	done
	command -v npm >/dev/null ||
		fail "npm is missing, which downloads $1 $2: install the packages nodejs and npm"
	mkdir -p "$work/pack"
	npm_config_cache=$work/npm npm pack --loglevel error --ignore-scripts \
		--pack-destination "$work/pack" "$1@$2" >"$work/log" 2>&1 || {
		cat "$work/log" >&2
		fail "npm cannot provide $1 $2: check the version and the network"
	}
	rm -rf "$work/npm"
	for file in "$work/pack/$1-"*.tgz; do
		mv "$file" "$cache/npm/"
		echo "$cache/npm/${file##*/}"
	done
}
