#!/bin/bash -eu
# Copyright 2026 The Ferroblosc authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

# Builds the fuzz targets for OSS-Fuzz, with a zip file of seeds for each. TARGETS selects some of
# them.
cd "$SRC/ferroblosc/fuzz"
# The variable takes precedence over rust-toolchain.toml, which selects the stable compiler.
export RUSTUP_TOOLCHAIN=${RUSTUP_TOOLCHAIN:-nightly}
all=$(for source in targets/*.rs; do basename "$source" .rs; done)
targets=${TARGETS:-$all}

host=$(rustc -vV | sed -n 's/^host: //p')
binaries=${CARGO_TARGET_DIR:-target}/$host/release
for target in $targets; do
    cargo fuzz build --fuzz-dir . --release --debug-assertions "$target"
    cp "$binaries/$target" "$OUT/"
    # Targets with input other than chunks have their own seeds.
    seeds=seeds-${target%%_*}
    [ -d "$seeds" ] || seeds=seeds
    zip --quiet --junk-paths "$OUT/${target}_seed_corpus.zip" "$seeds"/*
    printf '[libfuzzer]\nmax_len = 4096\n' > "$OUT/$target.options"
done
