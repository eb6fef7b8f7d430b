# SPDX-License-Identifier: Apache-2.0
# A thin front to Meson and Ninja.
#
#   make run        install what is missing, build, record a workload, print its report
#   make check      install what is missing, build, run every test that this machine can run
#   make check-vm   only the tests that run in emulated guests (tests/vm; part of check)
#   make            build (build/release/src/cli/ringtail)
#   make install    install below PREFIX (default /usr/local)
#   make deps       only install what is missing (Debian packages)
#   make fuzz       build the libFuzzer targets and run each for FUZZ_SECONDS (default 60)
#   make clean

PREFIX ?= /usr/local
FUZZ_SECONDS ?= 60
RELEASE = build/release
# What a user runs; tests are built by those who run them.
PROGRAMS = src/cli/ringtail demo/workload

all: $(RELEASE)/build.ninja
	ninja --quiet -C $(RELEASE) $(PROGRAMS)

$(RELEASE)/build.ninja:
	meson setup $(RELEASE) --prefix $(PREFIX) --buildtype release -Ddebug=true >/dev/null

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

fuzz:
	scripts/install-deps build check
	tests/fuzz/run $(FUZZ_SECONDS)

install: $(RELEASE)/build.ninja
	meson configure $(RELEASE) --prefix $(PREFIX)
	ninja --quiet -C $(RELEASE)
	meson install -C $(RELEASE) --no-rebuild

clean:
	rm -rf build

.PHONY: all deps run check check-vm fuzz install clean
