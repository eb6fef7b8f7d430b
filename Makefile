# SPDX-License-Identifier: Apache-2.0
# A thin front to Meson and Ninja. `make help` prints the lines below that begin with 'make'.
#
#   make             build (build/release/src/cli/ringtail)
#   make run         install what is missing, build, record a workload, print its report
#   make check-fast  before every commit: build, unit tests but the slow ones, golden files, manual, house rules
#   make check       install what is missing, build, run every test that this machine can run (up to 45 minutes)
#   make check-vm    of check, the tests in emulated guests alone (tests/vm)
#   make check-long  what takes too long for check: AUX areas in guests, many times and on other kernels (2 hours), lines of
#                    a vmlinux (860 MB to download), and the unit and live tests on an emulated arm64 (many hours; a run
#                    goes on where the last one ended)
#   make check-random SECONDS=3600 [SEED=1]
#                    of check, random sets of record's options alone, with a new seed
#   make tidy        of check, clang-tidy alone
#   make format      format all C code (clang-format 14)
#   make fuzz        build the libFuzzer targets and run each for FUZZ_SECONDS (default 60)
#   make install     build if needed, install below PREFIX (default /usr/local)
#   make uninstall   remove what `make install` has put below PREFIX
#   make static      build one static file that runs where nothing is installed (build/static/src/cli/ringtail)
#   make deb [DEB_ARCH=arm64]
#                    build the Debian packages in build/deb, for another architecture by its cross compiler
#   make dist        write the tree as build/dist/ringtail-VERSION.tar.xz
#   make deps        install the missing Debian packages that a build needs
#   make clean       remove build/
#   make help        print these lines

PREFIX ?= /usr/local
FUZZ_SECONDS ?= 60
SECONDS = 600
SEED =
RELEASE = build/release
STATIC = build/static
DEB_ARCH =
STAGE = $(RELEASE)/stage
# What is written below build/ is the tree owner's, whoever runs make.
OWNER = scripts/as-owner
# On a terminal, ninja and APT show how far they are.
QUIET = $(shell [ -t 2 ] || echo --quiet)

# 'product' is what a user runs and reads; tests are built by those who run them.
all: $(RELEASE)/build.ninja
	$(OWNER) ninja $(QUIET) -C $(RELEASE) product

$(RELEASE)/build.ninja:
	$(OWNER) meson setup $(RELEASE) --prefix $(abspath $(PREFIX)) --buildtype release -Ddebug=true >/dev/null

static:
	scripts/install-deps build
	test -e $(STATIC)/build.ninja || $(OWNER) meson setup $(STATIC) -Dstatic=true --buildtype release -Ddebug=true >/dev/null
	$(OWNER) ninja --quiet -C $(STATIC) product

deb:
	scripts/install-deps build deb
	$(OWNER) scripts/package deb $(DEB_ARCH)

dist:
	$(OWNER) scripts/package dist

deps:
	scripts/install-deps build

run: deps
	@$(MAKE) --no-print-directory all
	scripts/run-demo $(RELEASE)

check:
	scripts/install-deps build check house export
	tests/run

check-fast:
	scripts/install-deps build cli house
	tests/run --fast

check-vm:
	scripts/install-deps build check
	tests/run build-release vm

check-long:
	scripts/install-deps build check
	tests/run --long

check-random:
	scripts/install-deps build check
	RANDOM_SECONDS=$(SECONDS) RANDOM_SEED=$(SEED) tests/run build-gcc build-release random

tidy:
	scripts/install-deps build check house
	tests/run build-clang tidy

format:
	scripts/install-deps house
	git ls-files -z '*.c' '*.h' | grep -zv '^tests/data/' | xargs -0 $$(command -v clang-format-14 || echo clang-format) -i

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

help:
	@sed -n 's/^#   //p' Makefile

clean:
	rm -rf build

.PHONY: all static deb dist deps run check check-fast check-vm check-long check-random tidy format fuzz install uninstall help clean
