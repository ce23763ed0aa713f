# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034
# The emulated machines that tests run in: their names, and where the parts
# that they are made of lie. Read by the programs of this folder.

vm_folder=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
vm_cache=${OPPROBE_CACHE:-/var/cache/opprobe}/vm
vm_machines="arm64 x64-5.10 x64-6.1 x64-6.12"

# Libraries that opprobe and its targets need, node.js as a host of ONNX Runtime, and
# Python for the tests.
vm_packages="busybox-static libc6 libstdc++6 libbpf1 libelf1 libcapstone4 libpfm4 \
libcjson1 zlib1g libseccomp2 libcap-ng0 libncursesw6 libmicrohttpd12 libgnutls30 libsqlite3-0 libprotobuf-c1 nodejs python3"
# What clang needs to build for a machine of another architecture than ours, and
# perf for second opinions.
vm_packages_cross="libc6-dev libgcc-12-dev libbpf-dev libpfm4-dev libcjson-dev libelf-dev \
libcapstone-dev zlib1g-dev libseccomp-dev libcap-ng-dev libmicrohttpd-dev libgnutls28-dev libsqlite3-dev libncurses-dev libprotobuf-c-dev libcmocka-dev linux-perf"

say() {
	echo "vm: $*" >&2
}

# fail STATUS SENTENCE
fail() {
	local status=$1
	shift
	say "$*"
	exit "$status"
}

# Set the vm_ variables that describe machine $1.
machine_select() {
	vm_machine=$1
	vm_suite=bookworm
	vm_arch=amd64
	case $1 in
	arm64) vm_arch=arm64 ;;
	x64-5.10) vm_suite=bullseye ;;
	x64-6.1) ;;
	x64-6.12) vm_suite=trixie ;;
	*) fail 2 "no machine is called '$1'; there are: $vm_machines" ;;
	esac
	vm_root_packages=$vm_packages
	if [ "$vm_arch" = arm64 ]; then
		vm_root_packages="$vm_packages $vm_packages_cross"
	fi
	# Another recipe is another folder: a machine in use is never changed.
	local recipe
	recipe=$(cat "$vm_folder/prepare" "$vm_folder/lib.sh" "$vm_folder/../debian.sh" |
		sha256sum | cut -c1-8)
	vm_root=$vm_cache/root-$vm_arch-$recipe
	vm_kernel=$vm_cache/kernel-$vm_machine-$recipe
}
