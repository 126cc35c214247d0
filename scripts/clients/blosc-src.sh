#!/bin/bash
# blosc-src: chunks of each codec, written by one build of a Rust program and read by the other.
. "$ROOT/scripts/clients/common.sh"
. "$ROOT/scripts/clients/rust.sh"
need g++

mkdir -p exchange/src
cp "$ROOT/scripts/clients/exchange.rs" exchange/src/main.rs
cat > exchange/Cargo.toml << 'END'
[package]
name = "exchange"
version = "0.0.0"
edition = "2024"
[features]
codecs = ["blosc-src/lz4", "blosc-src/snappy", "blosc-src/zlib", "blosc-src/zstd"]
[dependencies]
blosc-src = "=0.3.8"
[workspace]
END
mapfile -t ours < <(patched blosc-src)

# built ours|theirs SUFFIX OPTIONS...: builds the program and copies it to exchange-WHOSE-SUFFIX.
built() {
    local program=$PWD/exchange-$1-$2
    (cd exchange && cargo build --quiet --release "${@:3}")
    cp "$CARGO_TARGET_DIR/release/exchange" "$program"
    proven "$1" "$program"
}
built theirs all --features codecs
built ours all --features codecs "${ours[@]}"
for pair in "theirs ours" "ours theirs" "ours ours"; do
    read -r writer reader <<< "$pair"
    "./exchange-$writer-all" write "$writer.chunks"
    "./exchange-$reader-all" read "$writer.chunks" > log
done
chunks=$(cat log)
rm -f ./*.chunks

# A codec without its feature is unknown, as in the original; only LZ4 is always there.
built theirs none
built ours none "${ours[@]}"
for whose in theirs ours; do
    "./exchange-$whose-all" codecs > "$whose.all"
    "./exchange-$whose-none" codecs > "$whose.none"
done
diff theirs.all ours.all
diff <(grep -v '^"lz4"' theirs.none) <(grep -v '^"lz4"' ours.none)
grep -q '^"lz4": number 1,' ours.none
result "$chunks: 6 codecs × 3 shuffles × 8 typesizes × 4 levels × 8 inputs, each way"
