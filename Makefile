# SPDX-License-Identifier: Apache-2.0
# A thin front to Meson and Ninja.
#
#   make run        install what is missing, build, record a workload, print its report
#   make check      install what is missing, build, run every test that this machine can run
#   make check-vm   only the tests that run in emulated guests (tests/vm; part of check)
#   make check-random SECONDS=3600 [SEED=1]
#                   only random sets of record's options (part of check, for three minutes), of a new seed
#   make            build (build/release/src/cli/ringtail)
#   make install    build if needed, install below PREFIX (default /usr/local)
#   make uninstall  remove what `make install` has put below PREFIX
#   make deps       only install what is missing (Debian packages)
#   make fuzz       build the libFuzzer targets and run each for FUZZ_SECONDS (default 60)
#   make clean

PREFIX ?= /usr/local
FUZZ_SECONDS ?= 60
SECONDS = 600
SEED =
RELEASE = build/release
STAGE = $(RELEASE)/stage
# What is written below build/ is the tree owner's, whoever runs make.
OWNER = scripts/as-owner

# 'product' is what a user runs and reads; tests are built by those who run them.
all: $(RELEASE)/build.ninja
	$(OWNER) ninja --quiet -C $(RELEASE) product

$(RELEASE)/build.ninja:
	$(OWNER) meson setup $(RELEASE) --prefix $(abspath $(PREFIX)) --buildtype release -Ddebug=true >/dev/null

deps:
	scripts/install-deps build

run: deps
	@$(MAKE) --no-print-directory all
	scripts/run-demo $(RELEASE)

check:
	scripts/install-deps build check
	tests/run

check-vm:
	scripts/install-deps build check
	tests/run build-release vm

check-random:
	scripts/install-deps build check
	RANDOM_SECONDS=$(SECONDS) RANDOM_SEED=$(SEED) tests/run build-gcc build-release random

fuzz:
	scripts/install-deps build check
	tests/fuzz/run $(FUZZ_SECONDS)

install: $(RELEASE)/build.ninja
	$(OWNER) meson configure $(RELEASE) --prefix $(abspath $(PREFIX)) >/dev/null
	$(OWNER) ninja -C $(RELEASE) build.ninja >/dev/null
	@$(MAKE) --no-print-directory all
	$(OWNER) rm -rf $(STAGE)
	DESTDIR= $(OWNER) meson install -C $(RELEASE) --no-rebuild --quiet --destdir $(abspath $(STAGE))
	scripts/install $(abspath $(STAGE)) $(abspath $(PREFIX))

uninstall:
	scripts/install --remove $(abspath $(PREFIX))

clean:
	rm -rf build

.PHONY: all deps run check check-vm check-random fuzz install uninstall clean
