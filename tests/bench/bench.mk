# SPDX-License-Identifier: GPL-2.0-only
#
#   make bench      what opprobe costs: its probes beside the alternatives, as ratios
#                   from one run, what it does to the slowest runs, what a budget
#                   leaves, and its views (root); BENCH_ORT=VERSION, TURNS=N

BENCH_ORT ?= 1.30.0
BENCH_PROGRAMS := $(O)/tests/bench/empty_pair $(O)/tests/bench/make_capture \
	$(O)/tests/bench/live_cost

$(BENCH_PROGRAMS): $(O)/%: %.c $(LIBRARY)
	$(say) CC $<
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) -Iuser $(CFLAGS_ALL) $(LDFLAGS) -o $@ $< $(LIBRARY) $(LIB_LIBS)

.PHONY: bench deps-bench
deps-bench:
	$(Q)tests/install-packages $(DEBIAN_BUILD) $(DEBIAN_DEMO) bpftrace

bench: deps-bench
	$(Q)$(MAKE) -j$(JOBS) $(PROGRAM) $(MODELS) $(ORT_RUN) $(GPU_OPERATORS) $(BENCH_PROGRAMS)
	$(Q)tests/bench/probes $(abspath $(PROGRAM)) $(abspath $(O)) $(BENCH_ORT)
	$(Q)echo
	$(Q)tests/bench/latency $(abspath $(PROGRAM)) $(abspath $(O)) $(BENCH_ORT)
	$(Q)echo
	$(Q)tests/bench/budget $(abspath $(PROGRAM)) $(abspath $(O)) $(BENCH_ORT)
	$(Q)echo
	$(Q)tests/bench/views $(abspath $(PROGRAM)) $(abspath $(O))/tests/bench/make_capture \
		$(abspath $(O))/tests/bench/live_cost
