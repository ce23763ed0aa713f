# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Packages of another Debian than this one, fetched and unpacked, never installed. Who
# reads this has a function fail STATUS SENTENCE.

# Print the address of the mirror that this computer's apt has for archives of label $1.
mirror_of() {
	# shellcheck disable=SC2016
	apt-get indextargets --format '$(LABEL) $(REPO_URI)' 'Created-By: Packages' |
		sed -n "s/^$1 //p" | head -n 1
}

# Make folder $1 an apt of its own for the packages of suite $2 and architecture $3, of main or
# of components $4, and export it. Nothing counts as installed there, so that every dependency
# is fetched.
apt_private() {
	local folder=$1 suite=$2 arch=$3 components=${4:-main} mirror security
	mirror=$(mirror_of Debian)
	security=$(mirror_of Debian-Security)
	[ -n "$mirror" ] ||
		fail 1 "apt knows no Debian mirror: run apt-get update, or see its sources in /etc/apt"
	mkdir -p "$folder"/{state/lists/partial,cache/archives/partial,etc/preferences.d}
	: >"$folder/status"
	echo "deb $mirror $suite $components" >"$folder/sources.list"
	if [ -n "$security" ] && [ "$suite" != sid ]; then
		echo "deb $security $suite-security $components" >>"$folder/sources.list"
	fi
	{
		apt-config dump | grep '^Acquire::'
		cat <<-END
			Dir::State "$folder/state";
			Dir::State::status "$folder/status";
			Dir::Cache "$folder/cache";
			Dir::Etc "$folder/etc";
			Dir::Etc::sourcelist "$folder/sources.list";
			Dir::Etc::sourceparts "/dev/null";
			Dir::Etc::trustedparts "/etc/apt/trusted.gpg.d";
			Dir::Etc::parts "/dev/null";
			Dir::Etc::main "/dev/null";
			APT::Architecture "$arch";
			APT::Architectures { "$arch"; };
			APT::Sandbox::User "root";
		END
	} >"$folder/apt.conf"
	export APT_CONFIG=$folder/apt.conf
	apt-get update -qq -o APT::Update::Error-Mode=any >&2 ||
		fail 1 "the list of packages of Debian $suite for $arch cannot be fetched"
}

# Unpack the package file $1 into folder $2; further arguments go to tar.
unpack() {
	local file=$1 folder=$2
	shift 2
	dpkg-deb --fsys-tarfile "$file" |
		tar -x -C "$folder" --keep-directory-symlink --exclude=./usr/share/doc \
			--exclude=./usr/share/man --exclude=./usr/share/locale "$@"
}
