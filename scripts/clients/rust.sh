# Functions of the client scripts for Rust programs, which source this file after common.sh.
#
# The programs are crates of the registry, built with a [patch.crates-io] line for a package in
# packaging/rust, which replaces the crate of the C library. `proven` proves from the ELF note which
# of the two libraries a program contains: it is linked statically.
# shellcheck shell=bash

# The build output is kept for later runs.
export CARGO_TARGET_DIR=$TARGET/client-rust
# RUSTFLAGS of the caller would compile everything again.
unset RUSTFLAGS CARGO_ENCODED_RUSTFLAGS

# crate NAME VERSION: copies the sources of a crate from the registry to the directory NAME.
crate() {
    local manifest
    mkdir -p "fetch-$1/src"
    touch "fetch-$1/src/lib.rs"
    cat > "fetch-$1/Cargo.toml" << END
[package]
name = "fetch"
version = "0.0.0"
edition = "2021"
[dependencies]
the_crate = { package = "$1", version = "=$2", default-features = false }
[workspace]
END
    manifest=$(cargo metadata --quiet --format-version 1 --manifest-path "fetch-$1/Cargo.toml" |
        python3 -c "import json, sys; print(*[p['manifest_path'] for p in json.load(sys.stdin)['packages'] if p['name'] == '$1'])")
    cp -r "$(dirname "$manifest")" "$1"
    # An older Cargo.lock could not contain the patch.
    rm -f "$1/Cargo.lock"
    printf '\n[workspace]\n' >> "$1/Cargo.toml"
}

# patched NAME: prints the option of cargo that replaces the crate NAME of the registry.
patched() {
    printf -- '--config\npatch.crates-io.%s.path="%s/packaging/rust/%s"\n' "$1" "$ROOT" "$1"
}

# proven ours|theirs PROGRAM...: fails unless each program contains our code, or does not.
proven() {
    local expected=$1 program notes
    shift
    for program in "$@"; do
        notes=$(readelf -p .note.ferroblosc "$program" 2> /dev/null | grep -c 'ferroblosc [0-9]' || true)
        case $expected:$notes in
            ours:[1-9]* | theirs:0) ;;
            *) echo "$program has $notes notes of our code; expected: $expected" >&2; exit 1 ;;
        esac
    done
    echo "   $# program(s) with $expected"
}

# rust_tests DIRECTORY REPLACED OPTIONS...: runs `cargo test` with our package instead of the crate
# REPLACED, and writes the results to the file DIRECTORY.results: a sorted line for each test,
# without the times. CLIENT_ORIGINALS=yes runs the tests with the original crate, too, whose results
# are in DIRECTORY.originals.
rust_tests() {
    local folder=$1 replaced=$2 patch
    shift 2
    mapfile -t patch < <(patched "$replaced")
    if [ -n "${CLIENT_ORIGINALS:-}" ]; then
        tested theirs "$folder" "$folder.originals" "$@"
    fi
    tested ours "$folder" "$folder.results" "$@" "${patch[@]}"
}

# tested ours|theirs DIRECTORY RESULTS OPTIONS...: runs `cargo test` once.
tested() {
    local whose=$1 folder=$2 results=$3 log=$3.log
    shift 3
    (cd "$folder" && cargo test --quiet --no-run "$@") > "$log" 2>&1 || { tail -n 50 "$log"; exit 1; }
    (cd "$folder" && cargo test --no-fail-fast "$@" -- --test-threads 2) > "$log" 2>&1 || true
    mapfile -t programs < <(sed -n 's/^ *Running .*(\(.*\))$/\1/p' "$log")
    [ ${#programs[@]} -gt 0 ] || { tail -n 50 "$log"; exit 1; }
    (cd "$folder" && proven "$whose" "${programs[@]}")
    grep -E '^test .* \.\.\. ' "$log" | sed 's/ (line [0-9]*)//' | LC_ALL=C sort > "$results"
}

# same_results DIRECTORY TESTS [FAILING...]: fails unless TESTS tests passed and exactly the tests
# FAILING failed, as with the original crate. Prints the counts.
same_results() {
    local folder=$1 tests=$2 passed failed
    shift 2
    passed=$(grep -c ' \.\.\. ok$' "$folder.results" || true)
    failed=$(sed -n 's/^test \(.*\) \.\.\. FAILED$/\1/p' "$folder.results" | tr '\n' ' ')
    if [ "$passed:$failed" != "$tests:${*:+$* }" ]; then
        tail -n 50 "$folder.results.log" >&2
        echo "$passed tests of $folder passed, not $tests; failed: ${failed:-none}, not ${*:-none}" >&2
        exit 1
    fi
    if [ -n "${CLIENT_ORIGINALS:-}" ]; then
        diff "$folder.originals" "$folder.results" >&2 || true
    fi
    echo "$passed passed, $# failed"
}
