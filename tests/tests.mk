# SPDX-License-Identifier: GPL-2.0-only
#
#   make test       what needs no root and no network: unit tests, and the fuzz programs on
#                   their seeds alone; under a minute
#   make unit       unit tests: tests/unit/test_*.c, one cmocka program each; what needs root
#                   is left out without it, and said to be
#   make fuzz       each of tests/fuzz/fuzz_*.c for FUZZ_SECONDS
#   make e2e        opprobe on real processes (root); E2E='TEXT...' chooses tests, SAMPLE=1 few
#                   of those that differ in the release or the model alone; AGAIN=1 runs again
#                   what failed
#   make package    the Debian package, and its life in a clean Debian (root)
#   make test-runtime  of these, what proves that a runtime is one folder (root)
#   make faults     every point of failure fails in turn (root): allocations, writes, mappings,
#                   opens, bpf() and perf events, starts; FAULT_POINTS=N of each kind only,
#                   FAULTS='WORD...' chooses
#   make soak       SOAK_FAULTS=N faults at random moments while a server answers (root):
#                   opprobe, its target or the machine fails; SOAK='WORD...' chooses
#   make vm         opprobe on emulated machines (root), see tests/vm/vm.mk
#   make mutants    break opprobe in many places, one after another, and see whether a test
#                   notices each (root); MUTANTS='TEXT...' chooses; mutants-check: is each
#                   place still there? (see tests/mutants/run)
#   make format     what clang-format would change; cppcheck, tidy: what they find,
#                   tidy in ANALYZED='FILE...' alone
#
# Each ends with a line "N passed, N failed". make check runs them all, of the long ones a sample.

FUZZ_SECONDS ?= 20
PYTHON ?= /usr/bin/python3
JOBS   ?= $(shell nproc)

# A node.js from elsewhere than Debian is as good, and brings its own npm.
DEBIAN_TESTS = libcmocka-dev g++ binutils clang-format clang-tidy cppcheck \
	libclang-rt-14-dev python3 python3-onnx protobuf-compiler chromium tmux ca-certificates file \
	bash-completion zsh fish mandoc man-db debootstrap lintian linux-perf openssl systemd \
	$(shell command -v node >/dev/null || echo nodejs) \
	$(shell command -v npm >/dev/null || echo npm)
DEBIAN_DEMO = python3 python3-onnx ca-certificates file \
	$(shell command -v node >/dev/null || echo nodejs) \
	$(shell command -v npm >/dev/null || echo npm)

.PHONY: test unit fuzz faults soak e2e package test-runtime mutants mutants-check format cppcheck tidy check \
	check-programs e2e-programs runtime-programs demo pictures deps-tests deps-demo
deps-tests:
	$(Q)tests/install-packages $(DEBIAN_BUILD) $(DEBIAN_TESTS)

deps-demo:
	$(Q)tests/install-packages $(DEBIAN_BUILD) $(DEBIAN_DEMO)

# -- unit tests: linked against the library, which brings in just the rooms used --

UNIT_SOURCES := $(sort $(wildcard tests/unit/test_*.c))
UNIT_PROGRAMS := $(UNIT_SOURCES:%.c=$(O)/%)

$(O)/tests/unit/%: tests/unit/%.c $(LIBRARY)
	$(say) CC $<
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) -Iuser $(CFLAGS_ALL) $(LDFLAGS) -MMD -MP -o $@ $< $(LIBRARY) $(LIB_LIBS) -lcmocka

unit: $(UNIT_PROGRAMS)
	$(Q)tests/run-unit $(UNIT_PROGRAMS)

-include $(UNIT_PROGRAMS:=.d)

# -- what stands in for a GPU ---------------------------------------------------------

# Operators that have a GPU do things, by clang's own code for the host, and what stands in for
# the libraries of a GPU.
GPU_FOLDER := $(O)/tests/targets/gpu
GPU_OPERATORS := $(GPU_FOLDER)/operators.so $(GPU_FOLDER)/stripped.so $(GPU_FOLDER)/hip.so
GPU_SOURCES := $(addprefix tests/targets/gpu/,cuda.S cuda.c cudart.c device.h gpu.h hip.c hip.h \
	operators.cu pushed.h)
# The same clang for another architecture, if $(CC) says so. How CUDA's code launches is as its
# version says, which is to be the same where a CUDA toolkit is installed and where none is.
GPU_CLANG := clang $(filter --target=% --sysroot=%,$(CC))
GPU_CUDA := --cuda-path=/nonexistent -Xclang -target-sdk-version=11.5
GPU_HOST := --cuda-host-only -nogpuinc -nogpulib -Xclang -fcuda-include-gpubinary \
	-Xclang $(GPU_FOLDER)/fatbinary -Wno-unknown-cuda-version -O2 -fPIC -std=c++14 -Wall

$(GPU_OPERATORS) &: $(GPU_SOURCES)
	$(say) CUDA $(GPU_FOLDER)
	$(Q)mkdir -p $(GPU_FOLDER)
	$(Q)$(CC) -O2 -fPIC -shared -fno-omit-frame-pointer -Wl,-soname,libcuda.so.1 \
		-o $(GPU_FOLDER)/libcuda.so.1 tests/targets/gpu/cuda.S tests/targets/gpu/cuda.c
	$(Q)$(CC) -O2 -fPIC -shared -DCONTRADICTS -Wl,-soname,libcuda.so.1 \
		-o $(GPU_FOLDER)/contradicting.so tests/targets/gpu/cuda.S tests/targets/gpu/cuda.c
	$(Q)$(CC) -O2 -fPIC -shared -fno-omit-frame-pointer -Wl,-soname,libcudart.so.12 \
		-o $(GPU_FOLDER)/libcudart.so.12 tests/targets/gpu/cudart.c \
		$(GPU_FOLDER)/libcuda.so.1 -Wl,-rpath,'$$ORIGIN'
	$(Q)echo 'no code of a device' >$(GPU_FOLDER)/fatbinary
	$(Q)$(GPU_CLANG) -x cuda $(GPU_CUDA) $(GPU_HOST) -c -o $(GPU_FOLDER)/operators.o tests/targets/gpu/operators.cu
	$(Q)$(CC) -shared -o $(GPU_FOLDER)/operators.so $(GPU_FOLDER)/operators.o \
		$(GPU_FOLDER)/libcudart.so.12 $(GPU_FOLDER)/libcuda.so.1 -Wl,-rpath,'$$ORIGIN'
	$(Q)$(CC) -shared -s -Wl,--version-script=tests/targets/gpu/stripped.map \
		-o $(GPU_FOLDER)/stripped.so $(GPU_FOLDER)/operators.o \
		$(GPU_FOLDER)/libcudart.so.12 $(GPU_FOLDER)/libcuda.so.1 -Wl,-rpath,'$$ORIGIN'
	$(Q)for how in "" -DBY_TABLE -DCONTRADICTS; do \
		mkdir -p $(GPU_FOLDER)/hip$$how && $(CC) -O2 -fPIC -shared -fno-omit-frame-pointer \
			$(if $(findstring clang,$(CC)),,-fno-ipa-ra) $$how -Wl,-soname,libamdhip64.so.6 -o $(GPU_FOLDER)/hip$$how/libamdhip64.so.6 \
			tests/targets/gpu/hip.c || exit 1; done
	$(Q)$(GPU_CLANG) -x hip $(GPU_HOST) -c -o $(GPU_FOLDER)/hip.o tests/targets/gpu/operators.cu
	$(Q)$(CC) -shared -s -Wl,--version-script=tests/targets/gpu/stripped.map \
		-o $(GPU_FOLDER)/hip.so $(GPU_FOLDER)/hip.o \
		$(GPU_FOLDER)/hip/libamdhip64.so.6 -Wl,-rpath,'$$ORIGIN/hip'

# What opprobe says of other libraries of that kind, and what they say themselves.
GPU_TOLD := $(GPU_FOLDER)/told $(GPU_FOLDER)/hip_name

$(GPU_FOLDER)/told: tests/targets/gpu/told.c $(LIBRARY)
	$(say) CC $<
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) -Iuser $(CFLAGS_ALL) $(LDFLAGS) -o $@ $< $(LIBRARY) $(LIB_LIBS)

# For the C libraries of older and of newer Debians.
$(GPU_FOLDER)/hip_name: tests/targets/gpu/hip_name.c
	$(say) CC $<
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 -O2 $(WARNINGS) -o $@ $< -ldl

# -- fuzzing: the library once more, instrumented ----------------------------------

FUZZ_SOURCES := $(sort $(wildcard tests/fuzz/fuzz_*.c))
FUZZ_PROGRAMS := $(FUZZ_SOURCES:%.c=$(O)/%)
FUZZ_CHECKS := -fsanitize=address,undefined -fno-sanitize-recover=undefined
FUZZ_BUILD := CC=$(CLANG) OPTIMISE='-O1 -fno-omit-frame-pointer $(FUZZ_CHECKS)' \
	HARDEN= HARDEN_LINK= CFLAGS='-g -fsanitize=fuzzer-no-link'

$(O)/fuzz/libopprobe.a: FORCE
	$(Q)$(MAKE) O=$(O)/fuzz $(FUZZ_BUILD) $@

$(O)/tests/fuzz/%: tests/fuzz/%.c $(O)/fuzz/libopprobe.a
	$(say) CC $<
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) $(CPPFLAGS) -Iuser -std=gnu11 -g -O1 $(LIB_CFLAGS) \
		-fsanitize=fuzzer $(FUZZ_CHECKS) \
		$(FUZZ_LINK) -o $@ $< $(O)/fuzz/libopprobe.a $(LIB_LIBS)
$(O)/tests/fuzz/fuzz_config: FUZZ_LINK := -Wl,--wrap=catalog_load
$(O)/tests/fuzz/fuzz_sysfs: FUZZ_LINK := -Wl,--wrap=open,--wrap=opendir

# A whole runtime to begin with: too large to be kept.
FUZZ_RUNTIME := $(O)/tests/fuzz/fuzz_elf.seeds/runtime
$(FUZZ_RUNTIME): tests/unit/fake_runtime.cc
	$(say) CXX $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CXX) -Os -fPIC -shared -fvisibility=hidden -s -Wl,-z,noseparate-code -o $@ $<

# And what stands in for libraries of GPUs, with a file that registers kernels.
FUZZ_GPU := $(FUZZ_RUNTIME)-gpu
$(FUZZ_GPU): $(GPU_OPERATORS)
	$(Q)mkdir -p $(@D)
	$(Q)cp $(GPU_FOLDER)/stripped.so $@ && cp $(GPU_FOLDER)/libcudart.so.12 $@-runtime && \
		cp $(GPU_FOLDER)/libcuda.so.1 $@-driver && cp $(GPU_FOLDER)/hip.so $@-hip && \
		cp $(GPU_FOLDER)/hip-DBY_TABLE/libamdhip64.so.6 $@-hip-driver

fuzz: $(FUZZ_PROGRAMS) $(FUZZ_RUNTIME) $(FUZZ_GPU)
	$(Q)tests/run-fuzz $(FUZZ_SECONDS) $(FUZZ_PROGRAMS)

.PHONY: FORCE
FORCE:

# -- faults: one preloaded function fails, once ------------------------------------

FAULT_LIBRARY := $(O)/tests/faults/fail.so
$(FAULT_LIBRARY): tests/faults/fail.c
	$(say) CC $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE -O1 -g $(WARNINGS) -fPIC -shared -o $@ $<

faults: $(PROGRAM) $(FAULT_LIBRARY) $(O)/tests/bench/make_capture e2e-programs
	$(Q)tests/faults/run --program $(PROGRAM) --library $(FAULT_LIBRARY) --objects $(O) \
		$(if $(FAULT_POINTS),--points $(FAULT_POINTS)) $(FAULTS)

# -- the soak: faults at random moments, under load ----------------------------------

SOAK_FAULTS ?= 1000

soak: $(PROGRAM) e2e-programs
	$(Q)tests/soak/run --program $(PROGRAM) --objects $(O) --faults $(SOAK_FAULTS) $(SOAK)

# -- the first tier: for everyone, after every change -------------------------------

test: $(PROGRAM) $(UNIT_PROGRAMS) $(FUZZ_PROGRAMS) $(FUZZ_RUNTIME) $(FUZZ_GPU)
	$(Q)tests/run-unit $(UNIT_PROGRAMS)
	$(Q)tests/run-fuzz 0 $(FUZZ_PROGRAMS)

# -- what the end-to-end tests attach to -------------------------------------------

MODELS := $(O)/tests/models/.made
ORT_RUN := $(O)/tests/targets/ort_run

$(MODELS): tests/targets/models.py
	$(say) MODELS $(@D)
	$(Q)$(PYTHON) $< $(@D)
	$(Q)touch $@

$(ORT_RUN): tests/targets/ort_run.c tests/targets/ort_api.h tests/targets/ort_held.h
	$(say) CC $<
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -D_GNU_SOURCE -std=gnu11 -O2 -g $(WARNINGS) -o $@ $< -ldl -lpthread

# Opprobe once more, with a runtime that no release has, and what that one is for.
RUNTIME_PROGRAM := $(O)/runtime/opprobe
SYMBOLS := $(O)/tests/targets/symbols $(O)/tests/targets/symbols_few
SYMBOLS_PARTS := $(patsubst %,$(O)/tests/targets/symbols_%.so,part bare twin wide)

$(RUNTIME_PROGRAM): FORCE
	$(Q)$(MAKE) O=$(O)/runtime RUNTIME=tests/runtime $@

# By the C compiler: of C++ it takes the language and what carries exceptions, no headers. The
# tables that clang makes for arm64 are true behind the prologue, without frame pointers.

$(SYMBOLS): tests/targets/symbols.cc
	$(say) CXX $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -std=gnu++17 -O2 -g -fstack-protector-all -fomit-frame-pointer \
		-Wall -Wextra $(if $(WERROR),-Werror) \
		$(if $(filter %_few,$@),-DFEW) -Wl,--export-dynamic-symbol=symbols_of_operators \
		-o $@ $< -l:libstdc++.so.6 -lpthread

# symbols_NAME.so: with -DNAME.
$(SYMBOLS_PARTS): tests/targets/symbols_part.cc
	$(say) CXX $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -std=gnu++17 -O2 -fPIC -shared -fomit-frame-pointer \
		-D$(patsubst symbols_%.so,%,$(@F))=1 -o $@ $<

runtime-programs: $(RUNTIME_PROGRAM) $(SYMBOLS) $(SYMBOLS_PARTS)
e2e-programs: $(PROGRAM) pages $(MODELS) $(ORT_RUN) $(GPU_OPERATORS) $(GPU_TOLD) runtime-programs e2e-exact \
	$(O)/tests/bench/make_capture

test-runtime: runtime-programs
	$(Q)tests/e2e/run --program $(PROGRAM) --objects $(O) test_runtime

e2e: e2e-programs
	$(Q)tests/e2e/run --program $(PROGRAM) --objects $(O) \
		$(if $(SAMPLE),--sample) $(if $(AGAIN),--again) $(E2E)

# The Debian package, in a clean Debian.
package: deb $(ORT_RUN) $(MODELS)
	$(Q)tests/e2e/run --folder tests/package --program $(PROGRAM) --objects $(O) \
		$(if $(AGAIN),--again) $(PACKAGE)

demo: deps-demo
	$(Q)$(MAKE) -j$(JOBS) $(PROGRAM) $(MODELS)
	$(Q)tests/demo/run $(PROGRAM) $(O)

# What the README shows, from real runs: look at them before they are committed.
pictures: deps-tests
	$(Q)tests/install-packages imagemagick
	$(Q)$(MAKE) $(PROGRAM) $(MODELS)
	$(Q)tests/demo/pictures --program $(PROGRAM) --objects $(O) .github/pictures

mutants:
	$(Q)tests/mutants/run . $(MUTANTS)

mutants-check:
	$(Q)tests/mutants/run --check .

include tests/vm/vm.mk

# -- everything ---------------------------------------------------------------------

C_FILES = $(shell find user bpf tests -name '*.[ch]')

format:
	$(Q)clang-format --dry-run -Werror $(C_FILES) && echo '1 passed, 0 failed' || \
		{ echo '0 passed, 1 failed'; exit 1; }

cppcheck:
	$(Q)cppcheck --quiet --std=c11 --enable=warning,performance,portability --inline-suppr \
		--suppress=missingIncludeSystem --error-exitcode=1 -j $(JOBS) -D_GNU_SOURCE \
		-i tests/runtime/symbols.bpf.c user tests && echo '1 passed, 0 failed' || { echo '0 passed, 1 failed'; exit 1; }

# Only our own files are judged: what bpftool wrote is put between marks.
$(O)/tidy/opprobe.skel.h: $(SKELETON)
	$(Q)mkdir -p $(@D)
	$(Q){ echo '/* NOLINTBEGIN */'; cat $<; echo '/* NOLINTEND */'; } >$@

$(O)/tidy/commit.h: $(O)/commit.h
	$(Q)mkdir -p $(@D) && cp $< $@

tidy: $(O)/tidy/opprobe.skel.h $(O)/tidy/commit.h
	$(Q)printf '%s\n' $(or $(ANALYZED),$(SOURCES)) | xargs -P $(JOBS) -I FILE clang-tidy --quiet FILE -- \
		-D_GNU_SOURCE -DOPPROBE_VERSION='"$(VERSION)"' -isystem $(O)/tidy -std=gnu11 \
		$(LIB_CFLAGS) && echo '1 passed, 0 failed' || \
		{ echo '0 passed, 1 failed'; exit 1; }

check-programs: $(PROGRAM) $(UNIT_PROGRAMS) e2e-programs vm-programs $(MIXED_MODEL)
	@echo '1 passed, 0 failed'

check: deps-tests
	$(Q)MAKE='$(MAKE)' tests/check $(O) $(JOBS)
