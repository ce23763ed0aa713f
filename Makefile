# SPDX-License-Identifier: GPL-2.0-only
#
#   make            build ./opprobe
#   make deps       install what the build, the tests and the demo need (Debian, root)
#   make demo       a real inference server, profiled (root)
#   make test       unit tests and fuzz seeds: no root, no network, under a minute with -j
#   make check      everything that can be checked (root)
#   make bench      what a probe costs, as ratios (root)
#   make install    into $(DESTDIR)$(prefix): the program, its manual, completion of shells
#   make deb        a Debian package, in $(O)/deb
#   make pictures   those of the README, from real runs (root)
#
# V=1 shows the commands, DEBUG=1 builds with ASan and UBSan, O=DIR builds there,
# RUNTIME=FOLDER links a runtime in that is none of opprobe's own (more_runtime of runtimes.c):
# the FOLDER holds its *.c and its *.bpf.c.

VERSION := 0.1.0
O       ?= build
prefix  ?= /usr/local
CC      ?= gcc
CLANG   ?= clang
BPFTOOL ?= $(firstword $(wildcard /usr/sbin/bpftool /usr/local/sbin/bpftool) bpftool)
PKG_CONFIG ?= pkg-config
STRIP_BPF  ?= llvm-strip

ifeq ($(V),1)
Q :=
say = @:
else
Q := @
say = @printf '  %-8s%s\n'
MAKEFLAGS += --no-print-directory
endif

ARCH ?= $(shell uname -m)
BPF_ARCH := $(if $(filter aarch64 arm64,$(ARCH)),arm64,x86)

# name in messages : pkg-config module or header : Debian package
LIBRARIES := libbpf libelf libcjson capstone zlib libseccomp libcap-ng ncursesw libmicrohttpd gnutls sqlite3
PFM_LIBS  ?= -lpfm

comma := ,
WARNINGS := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wno-unused-parameter \
	-Wno-missing-field-initializers \
	$(if $(WERROR),-Werror)
OPTIMISE := $(if $(DEBUG),-O1 -fno-omit-frame-pointer -fsanitize=address$(comma)undefined \
	-fno-sanitize-recover=undefined,-O2)

# It runs as root, on what others have made (tests/e2e/test_hardening.py).
HARDEN := $(if $(DEBUG),,-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2 -fstack-protector-strong \
	-fstack-clash-protection -fPIE $(if $(filter x86,$(BPF_ARCH)),-fcf-protection=full,\
	-mbranch-protection=standard))
HARDEN_LINK := $(if $(DEBUG),,-pie -Wl,-z$(comma)relro -Wl,-z$(comma)now \
	-Wl,-z$(comma)noexecstack)

CPPFLAGS += -D_GNU_SOURCE -DOPPROBE_VERSION='"$(VERSION)"' -I$(O)
CFLAGS   ?= -g
CFLAGS_ALL = -std=gnu11 $(OPTIMISE) $(HARDEN) $(WARNINGS) $(CFLAGS) $(LIB_CFLAGS)
LIB_CFLAGS = $(shell $(PKG_CONFIG) --cflags $(LIBRARIES) 2>/dev/null)
LIB_LIBS   = $(shell $(PKG_CONFIG) --libs $(LIBRARIES) 2>/dev/null) $(PFM_LIBS) -lm -lpthread
# Where it was built stands in no file.
BPF_CFLAGS := -g -fdebug-compilation-dir=. -O2 -target bpf -mcpu=v3 -D__TARGET_ARCH_$(BPF_ARCH) -Ivmlinux/$(BPF_ARCH) -Ibpf \
	-Wall -Wextra -Wno-unused-parameter -Wno-unused-function $(if $(WERROR),-Werror) \
	$(if $(SYSROOT),-isystem $(SYSROOT)/usr/include)

SOURCES := $(sort $(wildcard user/*.c user/*/*.c user/*/*/*.c))
ASSEMBLY := $(wildcard user/*/*.S user/*/*/*.S)
OBJECTS := $(SOURCES:%.c=$(O)/%.o) $(ASSEMBLY:%.S=$(O)/%.o)
LIB_OBJECTS := $(filter-out $(O)/user/main.o,$(OBJECTS))
MORE := $(if $(RUNTIME),$(wildcard $(RUNTIME)/*.c))
MORE_OBJECTS := $(patsubst %.c,$(O)/%.o,$(filter-out %.bpf.c,$(MORE)))
LIBRARY := $(O)/libopprobe.a
SKELETON := $(O)/opprobe.skel.h
PROGRAM := $(if $(filter build,$(O)),opprobe,$(O)/opprobe)

all: $(PROGRAM)

$(PROGRAM): $(O)/user/main.o $(MORE_OBJECTS) $(LIBRARY)
	$(say) LINK $@
	$(Q)$(CC) $(CFLAGS_ALL) $(HARDEN_LINK) $(LDFLAGS) -o $@ $^ $(LIB_LIBS)

$(LIBRARY): $(LIB_OBJECTS)
	$(say) AR $@
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(O)/%.o: %.c | needs
	$(say) CC $<
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS_ALL) -MMD -MP -c -o $@ $<

$(MORE_OBJECTS): CPPFLAGS += -Iuser

$(O)/user/%.o: user/%.S | needs
	$(say) AS $<
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) -I. $(CFLAGS_ALL) -c -o $@ $<

# The commit that is built, of a checkout that says so: written where it changes.
COMMIT ?= $(if $(wildcard .git),$(shell git describe --always --dirty --abbrev=12 --exclude='*' \
	2>/dev/null))

$(O)/commit.h: FORCE
	$(Q)mkdir -p $(@D)
	$(Q)echo '#define OPPROBE_COMMIT "$(COMMIT)"' >$@.tmp
	$(Q)cmp -s $@.tmp $@ && rm $@.tmp || mv $@.tmp $@

$(O)/user/cmd_version.o: $(O)/commit.h

# The skeleton is made from the BPF object; the rooms that include it wait for it.
$(patsubst %.c,$(O)/%.o,$(filter user/collect/% user/runtime/%,$(SOURCES))): $(SKELETON)

# What a page of a capture is made of is built in, with the hashes that its policy names it by.
WEB := $(wildcard user/output/web/*.css user/output/web/*.js user/output/web/vendor/*.css \
	user/output/web/vendor/*.js user/output/web/vendor/*.LICENSE)
WEB_HASHES := $(patsubst %,$(O)/%.hash,$(filter %.css %.js,$(WEB)))
WEB_VENDOR := user/output/web/vendor/SHA256SUMS

$(O)/user/output/web/assets.o: $(WEB) $(WEB_HASHES)

$(O)/user/output/web/%.hash: user/output/web/% $(WEB_VENDOR)
	$(Q)mkdir -p $(@D)
	$(if $(filter vendor/%,$*),$(Q)cd $(dir $(WEB_VENDOR)) && sha256sum --quiet --check SHA256SUMS)
	$(Q)sha256sum $< | cut -c 1-64 | tr -d '\n' | tr a-f A-F | basenc --base16 -d | base64 | \
		tr -d '\n' >$@.tmp && mv $@.tmp $@

# One object for what belongs to no runtime and one for each runtime, linked.
BPF_SOURCES := bpf/core.bpf.c $(wildcard bpf/*/*.bpf.c) $(filter %.bpf.c,$(MORE))
BPF_OBJECTS := $(BPF_SOURCES:%.c=$(O)/%.o)

$(O)/%.bpf.o: %.bpf.c $(wildcard bpf/*.h bpf/*/*.h vmlinux/$(BPF_ARCH)/*.h) | needs
	$(say) BPF $<
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) $(BPF_CFLAGS) -c -o $@.tmp $<
	$(Q)$(STRIP_BPF) -g $@.tmp && mv $@.tmp $@

$(O)/opprobe.bpf.o: $(BPF_OBJECTS)
	$(say) LINK $@
	$(Q)$(BPFTOOL) gen object $@.tmp $^ && mv $@.tmp $@

$(SKELETON): $(O)/opprobe.bpf.o
	$(say) SKEL $@
	$(Q)$(BPFTOOL) gen skeleton $< name opprobe_bpf > $@.tmp && mv $@.tmp $@

include tests/tests.mk
include tests/bench/bench.mk

# -- dependencies ------------------------------------------------------------

DEBIAN_BUILD := gcc make clang llvm pkg-config bpftool libbpf-dev libpfm4-dev libcjson-dev \
	libelf-dev libcapstone-dev zlib1g-dev libseccomp-dev libcap-ng-dev libncurses-dev \
	libmicrohttpd-dev libgnutls28-dev libsqlite3-dev libc6-dev

DEBIAN_PACKAGE := debhelper dpkg-dev

.PHONY: all needs deps pages deb install uninstall clean
ifndef NEEDS_CHECKED
needs:
	$(Q)missing=; \
	need() { eval "$$1" >/dev/null 2>&1 || missing="$$missing $$2"; }; \
	need 'command -v $(PKG_CONFIG)' pkg-config; \
	need 'command -v $(CLANG)' clang; \
	need 'command -v $(STRIP_BPF)' llvm; \
	need 'command -v $(BPFTOOL)' bpftool; \
	need '$(PKG_CONFIG) --exists libbpf' libbpf-dev; \
	need '$(PKG_CONFIG) --exists libelf' libelf-dev; \
	need '$(PKG_CONFIG) --exists libcjson' libcjson-dev; \
	need '$(PKG_CONFIG) --exists capstone' libcapstone-dev; \
	need '$(PKG_CONFIG) --exists zlib' zlib1g-dev; \
	need '$(PKG_CONFIG) --exists libseccomp' libseccomp-dev; \
	need '$(PKG_CONFIG) --exists libcap-ng' libcap-ng-dev; \
	need '$(PKG_CONFIG) --exists ncursesw' libncurses-dev; \
	need '$(PKG_CONFIG) --exists libmicrohttpd' libmicrohttpd-dev; \
	need '$(PKG_CONFIG) --exists gnutls' libgnutls28-dev; \
	need '$(PKG_CONFIG) --exists sqlite3' libsqlite3-dev; \
	need 'echo "#include <perfmon/pfmlib.h>" | $(CC) $(CFLAGS) -E -' libpfm4-dev; \
	if [ -n "$$missing" ]; then \
		echo "opprobe: these Debian packages are missing:$$missing" >&2; \
		echo "opprobe: install them with: make deps (as root)" >&2; exit 1; \
	fi
endif

deps:
	$(say) DEPS '$(words $(DEBIAN_BUILD)) packages'
	$(Q)tests/install-packages $(DEBIAN_BUILD)

# What is installed below $(DESTDIR)$(prefix), each from a file of ours.
mandir        ?= $(prefix)/share/man
bashdir       ?= $(prefix)/share/bash-completion/completions
zshdir        ?= $(prefix)/share/zsh/site-functions
fishdir       ?= $(prefix)/share/fish/vendor_completions.d
MANUAL  := $(notdir $(wildcard user/man/*.[15]))
PAGES   := $(MANUAL:%=$(O)/man/%)
MAN_DIRS := $(foreach page,$(MANUAL),$(mandir)/man$(subst .,,$(suffix $(page)))/$(page))
unitdir       ?= $(prefix)/lib/systemd/system
UNITS   := opprobe.service opprobe.socket
INSTALLED = $(prefix)/bin/opprobe $(MAN_DIRS) $(bashdir)/opprobe $(zshdir)/_opprobe \
	$(fishdir)/opprobe.fish $(UNITS:%=$(unitdir)/%)

# The options in them are asked of the program, which has to run here.
pages: $(PAGES)

$(O)/man/%: user/man/% user/man/page.awk user/capture/FORMAT.md $(PROGRAM)
	$(say) MAN $@
	$(Q)mkdir -p $(@D)
	$(Q)awk -v program=$(abspath $(PROGRAM)) -v version=$(VERSION) -f user/man/page.awk $< >$@.tmp
	$(Q)mv $@.tmp $@

install: $(PROGRAM) $(PAGES)
	install -D -m 755 $(PROGRAM) $(DESTDIR)$(prefix)/bin/opprobe
	for page in $(MANUAL); do \
		install -D -m 644 $(O)/man/$$page $(DESTDIR)$(mandir)/man$${page##*.}/$$page || exit; \
	done
	install -D -m 644 user/complete/opprobe.bash $(DESTDIR)$(bashdir)/opprobe
	install -D -m 644 user/complete/opprobe.zsh $(DESTDIR)$(zshdir)/_opprobe
	install -D -m 644 user/complete/opprobe.fish $(DESTDIR)$(fishdir)/opprobe.fish
	install -d $(DESTDIR)$(unitdir)
	for unit in $(UNITS); do \
		sed 's|/usr/bin/|$(prefix)/bin/|' user/serve/deploy/$$unit >$(DESTDIR)$(unitdir)/$$unit && \
		chmod 644 $(DESTDIR)$(unitdir)/$$unit || exit; \
	done

# Debian's own tools, and a folder of files: user/debian.
deb: deps
	$(Q)tests/install-packages $(DEBIAN_PACKAGE)
	$(say) DEB $(O)/deb
	$(Q)MAKEFLAGS= user/debian/build $(O)/deb $(VERSION) '$(COMMIT)' \
		$(filter-out gcc make libc6-dev,$(DEBIAN_BUILD))
	$(Q)ls $(O)/deb/opprobe_$(VERSION)_*.deb

uninstall:
	rm -f $(addprefix $(DESTDIR),$(INSTALLED))

clean:
	rm -rf $(O) opprobe

-include $(OBJECTS:.o=.d) $(MORE_OBJECTS:.o=.d)
.DELETE_ON_ERROR:
