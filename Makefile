# What to do with the project, from the shell. `make help` lists it.

CARGO ?= cargo
PREFIX ?= /usr/local
DESTDIR ?=
# `make demo FILE=... TYPESIZE=...` compresses a file of yours.
FILE ?=
TYPESIZE ?= 4

BUILD := target/release
DEMO := $(CURDIR)/target/demo-prefix

.PHONY: help build install headers demo test check check-arm clean

help:
	@echo "make build                      build the libraries"
	@echo "make install PREFIX= DESTDIR=   install them, with headers, pkg-config and CMake files"
	@echo "make demo [FILE= TYPESIZE=]     show a C program at work with the library"
	@echo "make test                       run all tests"
	@echo "make check                      formatting, lints, documentation, aarch64"
	@echo "make headers                    make include/ anew, after a change of the C functions"

build:
	$(CARGO) build --release --package ferroblosc-capi-blosc2

install: build
	scripts/install.sh $(BUILD) "$(DESTDIR)$(PREFIX)"

headers:
	$(CARGO) run --quiet --package ferroblosc-headers

demo:
	scripts/need.sh gcc pkg-config python3-pip
	$(MAKE) install PREFIX="$(DEMO)" DESTDIR=
	scripts/demo.sh "$(DEMO)" $(if $(FILE),"$(FILE)" "$(TYPESIZE)")

test:
	scripts/need.sh gcc g++ pkg-config cmake valgrind libzstd-dev python3-venv
	$(CARGO) test --workspace

check:
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps
	$(MAKE) check-arm

check-arm:
	scripts/check-arm.sh

clean:
	$(CARGO) clean
