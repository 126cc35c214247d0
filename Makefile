# The commands of the project; `make help` lists them.

CARGO ?= cargo
PREFIX ?= /usr/local
DESTDIR ?=
# The library directory, relative to PREFIX, or a directory in PREFIX.
LIBDIR ?= lib
# The file that `make demo` compresses, and the size of its items in bytes; without a file, the demo
# uses its own data.
FILE ?=
TYPESIZE ?= 4

# The duration of the random comparisons of `make test` with the reference, in seconds.
SAMPLE_SECONDS ?= 5
# The seed of the random parameters; empty for a new seed in each run, as in `make test-long`.
SAMPLE_SEED ?= 1
# The duration of `make soak`, in seconds.
SOAK_SECONDS ?= 3600
# Options of `make bench`, such as BENCH='--levels 1,9 --file file:4:data.raw'.
BENCH ?=

# The duration of each target of `make fuzz`, in seconds.
FUZZ_SECONDS ?= 60
# The seed of the mutations; empty for a new seed in each run.
FUZZ_SEED ?=

# The packages that are tested: all but the benchmarks, and the generator of the headers, which
# `make check-headers` tests. All commands for tests select the same packages, so that none compiles
# crates again with other features. The generator would select features that the installed packages
# do not have, which some tests build by name.
TESTED := --workspace --exclude 'ferroblosc-bench-*' --exclude ferroblosc-headers

# Cargo's output directory; a configuration file of the user must not select another one.
TARGET_DIR := $(or $(CARGO_TARGET_DIR),$(CARGO_BUILD_TARGET_DIR),target)
# With a target triple, cargo adds it to the path.
TRIPLE := $(if $(CARGO_BUILD_TARGET),$(CARGO_BUILD_TARGET)/)
BUILD := $(TARGET_DIR)/$(TRIPLE)release
TEST_BUILD := $(TARGET_DIR)/$(TRIPLE)debug
DEMO := $(CURDIR)/target/demo-prefix

.PHONY: \
	help build fortran install install-musl install-windows deb dist test-dist package public-api \
	check-public-api notice headers demo reference test test-needs test-doc test-fortran \
	test-consumers test-clients test-hdf5 test-musl test-wasm test-npm test-windows test-models \
	test-asan test-tsan test-miri test-mutants soak coverage test-durability test-timing test-full \
	test-long test-arm test-ports \
	bench bench-compare bench-full bench-levels bench-scaling count-instructions plot bench-frames \
	bench-b2nd bench-bloscpack bench-bcolz bench-hdf5 bench-programs bench-zarrs bench-stores fuzz \
	check check-source check-docs check-features check-rust-packages check-oldest check-arm check-targets \
	check-headers check-deny clean

help:
	@echo "make build                      build the libraries and the programs"
	@echo "make fortran                    build the Fortran modules, which make install installs"
	@echo "make install PREFIX= DESTDIR= LIBDIR=  install the build and the headers"
	@echo "make install-musl PREFIX=       build and install the libraries for static programs"
	@echo "make install-windows PREFIX=    build for Windows and install the result"
	@echo "make deb                        make Debian packages and test their installation"
	@echo "make dist                       make a tarball of the sources that builds without a network"
	@echo "make test-dist [DIST_TEST=]     build and test that tarball in an empty directory"
	@echo "make package [PACKAGES=]        pack the crates for crates.io and test the packed files"
	@echo "make public-api                 write docs/public-api/ (installs cargo-public-api)"
	@echo "make check-public-api           compare the public items of the crates with the lists"
	@echo "make demo [FILE= TYPESIZE=]     compress a file with a C program and the library"
	@echo "make test                       run all tests except the slow suites"
	@echo "make test-durability [ROUNDS=]  test stored data: killed processes, failing disks"
	@echo "make test-timing                repeat C programs whose results could depend on timing"
	@echo "make test-doc                   run the examples of the Rust documentation"
	@echo "make test-fortran               run the tests of the Fortran modules, under Valgrind"
	@echo "make test-consumers             build C, C++ and Rust projects against an installed tree"
	@echo "make test-clients [CLIENTS=]    run the test suites of client programs (downloads them)"
	@echo "make test-hdf5                  run HDF5's programs and MPI with the filter plugins"
	@echo "make test-musl [PROFILE=]       run C programs with the libraries for musl"
	@echo "make test-wasm [ROUNDS=]        build the Rust crate for WebAssembly and test it in Node"
	@echo "make test-npm [ROUNDS=]         build the npm package and test it in Node and Chromium"
	@echo "make test-windows               build for Windows and test under wine (installs it)"
	@echo "make test-models                run the lock-free code in many interleavings (minutes)"
	@echo "make test-asan                  run tests with AddressSanitizer, and UBSan in the C codecs"
	@echo "make test-tsan                  run tests with ThreadSanitizer"
	@echo "make test-miri                  run unit tests under Miri (installs nightly Rust)"
	@echo "make coverage [COVERAGE=PROGRAMS]  measure the coverage of lines and branches by the tests"
	@echo "make test-mutants [SHARD=]      change the code and count what no test notices (an hour)"
	@echo "make test-full                  run all suites of CI, then make test-long (hours)"
	@echo "make test-long                  compare with the reference over the full product (hours)"
	@echo "make soak [SOAK_SECONDS=]       change and read files for an hour, kill writers, count leaks"
	@echo "make test-arm                   run the kernel checks as an AArch64 program"
	@echo "make test-ports [TARGETS=]      run tests for other targets in QEMU or Node"
	@echo "make fuzz [FUZZ_SECONDS=]       test the seeds, then fuzz each target for a minute"
	@echo "make bench [BENCH=OPTIONS]      time the libraries and the references (minutes)"
	@echo "make bench-compare A= B=        compare two results of make bench BENCH='--json FILE'"
	@echo "make bench-full                 make bench with many more cells (half an hour)"
	@echo "make bench-levels               make bench with AVX2, SSE2 and without vectors"
	@echo "make bench-scaling              time by the number of threads and of callers"
	@echo "make count-instructions [TARGETS=]  count the instructions of calls in QEMU"
	@echo "make plot                       draw speed against ratio, for docs/performance.md"
	@echo "make bench-frames               time super-chunks and frames like make bench"
	@echo "make bench-b2nd                 time arrays like make bench"
	@echo "make bench-bloscpack            time blpk, Bloscpack and gzip side by side"
	@echo "make bench-bcolz                time libferroblosc and bcolz side by side"
	@echo "make bench-hdf5                 time the filter plugins and those of hdf5plugin"
	@echo "make bench-programs             time whole programs with ours and with the originals"
	@echo "make bench-stores               time queries of tables, ours and python-blosc2's"
	@echo "make bench-zarrs                time zarrs with the crate blosc-src and with our package"
	@echo "make check                      all of the next seven"
	@echo "make check-source               check formatting and lints"
	@echo "make check-docs                 check the Rust documentation, and the crate without internals"
	@echo "make check-headers              check the C headers and their comments (Doxygen)"
	@echo "make check-deny                 check licences, versions and advisories of the crates"
	@echo "make check-rust-packages        check the packages in packaging/rust"
	@echo "make check-oldest               check with the oldest supported rustc"
	@echo "make check-arm                  check the code for AArch64"
	@echo "make check-targets [TARGETS=]   build for systems that cannot be run here"
	@echo "make check-features             check each feature of the core alone; test it without them"
	@echo "make reference                  install the reference, which tests need, under target/"
	@echo "make clean                      remove what make and cargo have built"
	@echo "make notice                     regenerate NOTICE after a change of the dependencies"
	@echo "make headers                    write include/ again, after a change of the C functions"

build:
	$(CARGO) build --release --target-dir "$(TARGET_DIR)" \
		--package ferroblosc-capi-blosc2 --package ferroblosc-capi-blosc1 \
		--package ferroblosc-capi-ferroblosc --package ferroblosc-b2 --package ferroblosc-blpk \
		--package ferroblosc-hdf5-blosc --package ferroblosc-hdf5-blosc2

# Builds the Fortran modules; `make install` installs them if they are built.
fortran:
	scripts/need.sh gcc gfortran cmake
	scripts/install-fortran.sh build

install: build
	LIBDIR="$(patsubst $(PREFIX)/%,%,$(LIBDIR))" \
		scripts/install.sh "$(BUILD)" "$(DESTDIR)$(PREFIX)"
	LIBDIR="$(patsubst $(PREFIX)/%,%,$(LIBDIR))" \
		scripts/install-fortran.sh install "$(DESTDIR)$(PREFIX)"

# Builds the libraries for musl (x86-64) and installs them, without the programs and plugins.
install-musl:
	scripts/install-musl.sh "$(DESTDIR)$(PREFIX)"

# Builds the project for Windows (x86-64, UCRT) with zig's compiler and installs it.
install-windows:
	scripts/install-windows.py "$(DESTDIR)$(PREFIX)"

# Makes Debian packages in target/deb and tests them in a separate root.
deb: build
	rm -rf target/deb
	scripts/make-deb.sh "$(BUILD)" target/deb
	scripts/test-deb.sh target/deb

# Makes a tarball of the sources and of all crates that they need, in target/dist.
dist:
	scripts/need.sh xz-utils
	scripts/make-dist.sh target/dist

# The command that `make test-dist` runs in the unpacked tarball; the default runs all tests, which
# takes long.
DIST_TEST ?= make test
test-dist:
	scripts/need.sh xz-utils
	scripts/test-dist.sh "$$(scripts/make-dist.sh target/dist)" $(DIST_TEST)

# Packs the published crates, and builds and tests them from the packed files; PACKAGES selects
# those that are tested.
PACKAGES ?=
package:
	scripts/test-packages.sh $(PACKAGES)

# Writes docs/public-api/, after a change of the public items of the crates.
public-api:
	scripts/public-api.sh write

check-public-api:
	scripts/public-api.sh check

notice:
	python3 scripts/notice.py > target/NOTICE
	mv target/NOTICE NOTICE

headers:
	$(CARGO) run --quiet --package ferroblosc-headers

demo:
	scripts/need.sh gcc pkg-config python3-venv
	$(MAKE) install PREFIX="$(DEMO)" DESTDIR= LIBDIR=lib
	scripts/demo.sh "$(DEMO)" $(if $(FILE),"$(FILE)" "$(TYPESIZE)")

# Fetches the libraries that the tests compare with: C-Blosc2 from the Python Package Index, C-Blosc
# from Debian.
reference:
	scripts/need.sh python3-venv
	scripts/reference.sh library
	scripts/reference.sh blosc1

# Installs the packages and references that `make test` needs.
test-needs: reference
	scripts/need.sh gcc g++ pkg-config cmake libzstd-dev libhdf5-dev man-db

test: test-needs
	$(CARGO) build $(TESTED)
	# The commands change no library in the build directory: the libraries are built, and `cargo test`
	# builds only rlibs and programs.
	FERROBLOSC_SAMPLE_SECONDS=$(SAMPLE_SECONDS) \
		$(if $(SAMPLE_SEED),FERROBLOSC_SAMPLE_SEED=$(SAMPLE_SEED)) \
		scripts/run-tests.py --also '$(MAKE) test-doc'

test-doc:
	$(CARGO) test $(TESTED) --doc

# Installs the Fortran modules and the libraries in a temporary directory and tests them there, with
# each program under Valgrind unless VALGRIND=no.
VALGRIND ?= yes
test-fortran:
	scripts/need.sh gcc gfortran pkg-config cmake valgrind libhdf5-dev python3-venv
	$(CARGO) build $(TESTED)
	VALGRIND=$(VALGRIND) scripts/test-fortran.sh $(TEST_BUILD)

# Builds projects in C, C++ and Rust with the installed files, with the packages of packaging/rust,
# and for AArch64.
test-consumers: build
	scripts/test-consumers.sh $(BUILD)

# Runs third-party programs with our libraries instead of theirs; CLIENTS selects some of them.
CLIENTS ?=
test-clients: build
	scripts/test-clients.sh $(BUILD) $(CLIENTS)

# Tests the filter plugins with several builds of HDF5, and together with other plugins.
test-hdf5:
	$(CARGO) build --package ferroblosc-hdf5-blosc --package ferroblosc-hdf5-blosc2
	scripts/test-hdf5.sh $(TEST_BUILD)

# Tests the libraries for musl in static programs, static PIEs and dynamic programs.
test-musl:
	scripts/test-musl.sh

# Tests the core in WebAssembly: files of native builds, and damaged ones (ROUNDS times each).
test-wasm: ROUNDS = 40
test-wasm:
	ROUNDS=$(ROUNDS) scripts/test-wasm.sh

# Tests the npm package, with damaged files (ROUNDS times each). `scripts/test-npm.sh speed`
# compares it with the package numcodecs.
test-npm: ROUNDS = 25
test-npm:
	ROUNDS=$(ROUNDS) scripts/test-npm.sh

# Tests the project as Windows programs.
test-windows:
	scripts/test-windows.sh

# Runs models of the lock-free code with model checkers; MODEL_ITERATIONS random executions of each.
test-models:
	cd tests/models && SHUTTLE_SILENCE_WARNINGS=1 \
		$(if $(MODEL_ITERATIONS),MODEL_ITERATIONS=$(MODEL_ITERATIONS)) \
		$(CARGO) test --target-dir ../../target/models

test-asan:
	scripts/test-sanitizer.sh address

test-tsan:
	scripts/test-sanitizer.sh thread

test-miri:
	scripts/test-miri.sh

# COVERAGE selects test programs, such as `ferroblosc` for the unit tests of the core.
COVERAGE ?=
coverage:
	scripts/coverage.sh $(COVERAGE)

# SHARD selects a part of the changes, such as 3/150.
SHARD ?= 0/150
test-mutants:
	scripts/test-mutants.sh $(SHARD)

# Tests stored data: writers that are killed at random moments (ROUNDS times for each kind of
# storage), disks that fail at each call, full disks, journals and temporary files, failing
# allocations, C programs under Valgrind, and changes of damaged frames. The reference reads the
# results.
ROUNDS ?= 25
test-durability: reference
	scripts/need.sh gcc g++ pkg-config valgrind libhdf5-dev
	$(CARGO) build $(TESTED)
	@if unshare --map-root-user --mount true; then \
		unshare --map-root-user --mount \
			python3 scripts/test-full-disk.py $(TEST_BUILD)/b2 target/full-disk; \
	else \
		echo "the test of full disks is omitted: the system permits no mount namespace"; \
	fi
	FERROBLOSC_STORM_ROUNDS=$(ROUNDS) $(CARGO) test $(TESTED) --test crash_loop -- --nocapture
	HANDLES_ROUNDS=$(ROUNDS) FERROBLOSC_MEMORY_STEP=401 $(CARGO) test $(TESTED) --test c_programs -- \
		--include-ignored valgrind without_memory agree_with_a_model
	FERROBLOSC_DURABILITY_ROUNDS=$(ROUNDS) $(CARGO) test $(TESTED) --test faults --test durable --test changing
	$(CARGO) test $(TESTED) --lib -- journal temporary

# Runs the C programs whose results could depend on timing, which `make test` runs 25 times.
TIMING_ROUNDS ?= 100
test-timing:
	$(CARGO) build $(TESTED)
	FERROBLOSC_TIMING_ROUNDS=$(TIMING_ROUNDS) $(CARGO) test $(TESTED) --test c_programs -- \
		children_compress threads_can_call first_calls can_be_unloaded

# Runs all suites of CI, then the long comparisons, and prints the duration of each.
test-full:
	CI_SUITES=full .ci/run

# Compares with the reference over the full product of parameters, and repeats tests of races,
# cancellation and failing allocations more often than `make test`.
test-long: reference build
	$(CARGO) test --release --package ferroblosc-interop --test differential -- --ignored --nocapture
	FERROBLOSC_MEMORY_STEP=1 $(CARGO) test --package ferroblosc-capi-blosc2 \
		--test c_programs without_memory
	$(MAKE) test-timing TIMING_ROUNDS=400
	CANCEL_ROUNDS=200 $(CARGO) test --package ferroblosc-capi-blosc2 --test c_programs cancelled
	FERROBLOSC_SAMPLE_SECONDS=240 $(CARGO) test --package ferroblosc-interop -- random_sample

# Uses files for SOAK_SECONDS, and continues with those of the last run.
soak: build
	$(CC) -std=c99 -D_DEFAULT_SOURCE -O1 -g -pthread -Iinclude c-tests/soak.c \
		-o "$(TARGET_DIR)/soak-program" "$(BUILD)/libblosc2.a" -lm -ldl
	"$(TARGET_DIR)/soak-program" $(SOAK_SECONDS) "$(TARGET_DIR)/soak"

test-arm:
	scripts/test-arm.sh

# Tests other targets, natively, in QEMU or in Node; TARGETS selects some of them.
TARGETS ?=
test-ports:
	scripts/test-ports.py $(TARGETS)

fuzz:
	FUZZ_TESTS=yes FUZZ_SEED='$(FUZZ_SEED)' scripts/fuzz-smoke.sh $(FUZZ_SECONDS)

# Also measures a second copy of the reference, so that each line shows the noise of its group;
# '--noise no' omits the copy.
bench: reference build
	scripts/real-data.sh > /dev/null || echo "continuing without real files"
	$(CARGO) run --release --package ferroblosc-bench-peer -- --noise yes $(BENCH)

bench-compare:
	python3 scripts/bench-compare.py "$(A)" "$(B)"

bench-full:
	$(MAKE) bench BENCH='--full yes $(BENCH)'

# Compares our lower SIMD levels with the unrestricted reference, without measuring the noise.
bench-levels: reference build
	$(CARGO) build --release --package ferroblosc-bench-peer
	python3 scripts/bench-levels.py $(BUILD)/ferroblosc-bench-peer $(BENCH)

# Measures any number of processors: threads of one context, and up to 64 threads that call the
# library.
bench-scaling: reference build
	$(CARGO) run --release --package ferroblosc-bench-peer -- --parts scaling $(BENCH)

# Speed cannot be measured in an emulator; the number of instructions can be counted.
count-instructions:
	scripts/count-instructions.py $(TARGETS)

# Takes some minutes, most of them for Zstd at its highest levels.
plot: reference build
	$(CARGO) run --release --package ferroblosc-bench-peer -- --parts curves $(BENCH) \
		> target/speed.svg
	mv target/speed.svg docs/speed.svg

bench-frames: reference build
	$(CARGO) run --release --package ferroblosc-bench-frames -- $(BENCH)

bench-b2nd: reference build
	$(CARGO) run --release --package ferroblosc-bench-arrays -- $(BENCH)

# Compares our blpk with Bloscpack's and with gzip. BENCH_MEGABYTES=1600 is the size of the data in
# Bloscpack's published benchmark.
BENCH_MEGABYTES ?= 200
bench-bloscpack: build
	scripts/need.sh python3-venv
	"$$(scripts/reference.sh bloscpack)/python" scripts/bench-bloscpack.py \
		$(BUILD)/blpk $(BENCH_MEGABYTES)

# Compares our library with bcolz-zipline on BENCH_MILLIONS million rows, in BENCH_ROUNDS rounds.
BENCH_MILLIONS ?= 10
BENCH_ROUNDS ?= 7
bench-bcolz: build
	scripts/need.sh python3-venv
	"$$(scripts/reference.sh bcolz)/python" scripts/bench-bcolz.py \
		$(BUILD)/libferroblosc.so $(BENCH_MILLIONS) $(BENCH_ROUNDS)

# Times queries and column reads of python-blosc2's tables. BENCH_MILLIONS is the number of rows.
bench-stores:
	scripts/need.sh python3-venv
	$(CARGO) build --release --package ferroblosc-formats --example table_times
	"$$(scripts/reference.sh blosc2)/python" scripts/bench-stores.py \
		$(BUILD)/examples/table_times $(BENCH_MILLIONS) $(BENCH_ROUNDS)

# Compares our HDF5 filters with those of hdf5plugin on one chunk.
bench-hdf5: build
	scripts/need.sh python3-venv
	"$$(scripts/reference.sh hdf5plugin)/python" scripts/bench-hdf5.py $(BUILD)

# Times whole programs with ours and with the originals: h5py, PyTables, b2 beside zstd, h5repack,
# nccopy and zarr-python, blpk.
bench-programs: build
	scripts/need.sh python3-venv python3-tables zstd hdf5-tools netcdf-bin
	"$$(scripts/reference.sh hdf5plugin)/python" scripts/bench-programs.py $(BUILD) \
		--bloscpack "$$(scripts/reference.sh bloscpack)" --zarr "$$(scripts/reference.sh zarr3)" $(BENCH)

# Compares zarrs' benchmark of Blosc with the crate blosc-src and with our package, in
# BENCH_ZARRS_ROUNDS rounds.
BENCH_ZARRS_ROUNDS ?= 3
bench-zarrs:
	scripts/bench-zarrs.sh $(BENCH_ZARRS_ROUNDS)

check: check-source check-docs check-headers check-deny check-rust-packages check-oldest check-arm

# Checks formatting and lints.
check-source:
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets -- -D warnings

# Checks the Rust documentation, and the crate as its users see it, without the feature `internals`.
check-docs:
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps
	$(CARGO) clippy --package ferroblosc -- -D warnings
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --package ferroblosc --no-deps

# Checks the packages in packaging/rust, which are separate workspaces.
check-rust-packages:
	scripts/check-rust-packages.sh

# Checks each feature of the core alone, and tests it without features.
check-features:
	scripts/check-features.sh

# Checks that the C headers are those of the sources, and their comments with Doxygen.
check-headers:
	scripts/need.sh doxygen
	$(CARGO) test --package ferroblosc-headers
	mkdir -p target/doxygen
	doxygen docs/Doxyfile

# Checks the licences, sources and versions of the crates, and the advisories about them.
check-deny:
	scripts/check-deny.sh

check-oldest:
	scripts/check-oldest.sh

check-arm:
	scripts/check-arm.sh

# Builds the project for systems that cannot be run here; TARGETS selects some of them.
check-targets:
	scripts/check-targets.py $(TARGETS)

clean:
	$(CARGO) clean
