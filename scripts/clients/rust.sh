# Functions of the client scripts for Rust programs, which source this file after common.sh.
#
# The programs are crates of the registry. They are built twice: as they are, and with a
# [patch.crates-io] line for a package in packaging/rust. `proven` proves from the ELF note which of
# the two libraries a program contains: it is linked statically.
# shellcheck shell=bash

# The build output is kept for later runs.
export CARGO_TARGET_DIR=$TARGET/client-rust
# RUSTFLAGS of the caller would compile everything again.
unset RUSTFLAGS CARGO_ENCODED_RUSTFLAGS

# crate NAME VERSION: copies the sources of a crate from the registry to the folder NAME.
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

# rust_tests ours|theirs FOLDER OPTIONS...: runs `cargo test` and writes the results to the file
# FOLDER.ours or FOLDER.theirs: a sorted line for each test, without the times.
rust_tests() {
    local whose=$1 folder=$2 log=$2.$1.log
    shift 2
    (cd "$folder" && cargo test --quiet --no-run "$@") > "$log" 2>&1 || { tail -n 50 "$log"; exit 1; }
    (cd "$folder" && cargo test --no-fail-fast "$@" -- --test-threads 2) > "$log" 2>&1 || true
    mapfile -t programs < <(sed -n 's/^ *Running .*(\(.*\))$/\1/p' "$log")
    [ ${#programs[@]} -gt 0 ] || { tail -n 50 "$log"; exit 1; }
    (cd "$folder" && proven "$whose" "${programs[@]}")
    grep -E '^test .* \.\.\. ' "$log" | sed 's/ (line [0-9]*)//' | LC_ALL=C sort > "$folder.$whose"
}

# same_results FOLDER TESTS: fails unless the tests had the same results with both libraries, and
# at least TESTS of them passed. Prints the counts.
same_results() {
    local passed failed
    if ! diff "$1.theirs" "$1.ours" >&2; then
        echo "the tests of $1 have other results with our library" >&2
        exit 1
    fi
    passed=$(grep -c ' \.\.\. ok$' "$1.ours" || true)
    failed=$(grep -c ' \.\.\. FAILED$' "$1.ours" || true)
    if [ "$passed" -lt "$2" ]; then
        echo "only $passed tests of $1 passed, not $2" >&2
        exit 1
    fi
    echo "$passed passed, $failed failed"
}
