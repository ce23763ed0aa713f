# SPDX-License-Identifier: GPL-2.0-only
# Unit tests: tests/unit/test_*.c, one cmocka program each, linked against the
# library, which brings in just the rooms that a test uses.

UNIT_SOURCES := $(sort $(wildcard tests/unit/test_*.c))
UNIT_PROGRAMS := $(UNIT_SOURCES:%.c=$(O)/%)

$(O)/tests/unit/%: tests/unit/%.c $(LIBRARY)
	$(say) CC $<
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) -Iuser $(CFLAGS_ALL) $(LDFLAGS) -MMD -MP -o $@ $< $(LIBRARY) $(LIB_LIBS) -lcmocka

-include $(UNIT_PROGRAMS:=.d)
