# SPDX-License-Identifier: GPL-2.0-only
#
#   make vm         opprobe on emulated machines (root): older kernels, arm64 with exact
#                   hardware counters; VM='MACHINE...' chooses machines,
#                   SAMPLE=1 few of many releases, and two machines
#
# Included by the Makefile. What runs in a machine of arm64 is built by these same rules,
# by tests/vm/build-arm64.

EXACT := $(O)/tests/vm/exact
EXACT_MODEL := $(O)/tests/vm/exact.onnx
MIXED_MODEL := $(O)/tests/vm/mixed.onnx
WAITS_MODEL := $(O)/tests/vm/waits.onnx
SLOWER_MODEL := $(O)/tests/vm/slower.onnx
KNOWN_COUNTS := $(if $(filter arm64,$(BPF_ARCH)),$(O)/tests/vm/known_counts)

$(EXACT): tests/vm/exact.c tests/targets/ort_api.h
	$(say) CC $<
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -D_GNU_SOURCE -std=gnu11 -O2 -g $(WARNINGS) -o $@ $< -ldl -lpthread

$(KNOWN_COUNTS): tests/vm/known_counts.S
	$(say) AS $<
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -nostdlib -static -o $@ $<

$(EXACT_MODEL): tests/vm/exact_model.py
	$(say) MODEL $@
	$(Q)mkdir -p $(@D)
	$(Q)$(PYTHON) $< $@

$(MIXED_MODEL) $(WAITS_MODEL) $(SLOWER_MODEL): $(O)/tests/vm/%.onnx: tests/vm/exact_model.py
	$(say) MODEL $@
	$(Q)mkdir -p $(@D)
	$(Q)$(PYTHON) $< $@ $*

# It has a run inside a run as well, and waits, which need no such machine.
.PHONY: vm vm-programs e2e-exact
e2e-exact: $(EXACT) $(EXACT_MODEL) $(WAITS_MODEL) $(SLOWER_MODEL)

vm-programs: $(PROGRAM) $(ORT_RUN) $(RUNTIME_PROGRAM) $(SYMBOLS) $(EXACT) $(KNOWN_COUNTS) \
	$(GPU_OPERATORS)

vm: vm-programs $(MODELS) $(EXACT_MODEL) $(MIXED_MODEL)
	$(Q)tests/vm/check --program $(PROGRAM) --objects $(O) $(if $(SAMPLE),--sample) $(if $(AGAIN),--again) $(VM)
