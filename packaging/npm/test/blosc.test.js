import assert from "node:assert/strict";
import test from "node:test";

import { Blosc, BloscError, ErrorCode, compress, decompress } from "../index.js";
import DefaultBlosc from "../blosc.js";
import { bytesOf, equal, fixture, manifest, numbers, numcodecsBlosc, random } from "./helpers.js";

const Peer = await numcodecsBlosc();
const ENCODED = ["blosclz", "lz4", "zlib", "snappy"];
const next = random(7);
const noise = Uint8Array.from({ length: 70_000 }, () => next(256));
const DATA = {
    nothing: new Uint8Array(0),
    byte: Uint8Array.of(7),
    odd: numbers(5).subarray(1, 18),
    small: numbers(40),
    zeros: new Uint8Array(100_000),
    numbers: numbers(100_000),
    unaligned: numbers(30_000).subarray(1),
    noise,
    mixed: new Uint8Array([...noise, ...numbers(20_000)]),
};

test("the class has the interface of numcodecs", async () => {
    assert.equal(Blosc, DefaultBlosc);
    assert.equal(Blosc.codecId, "blosc");
    for (const name of ["NOSHUFFLE", "SHUFFLE", "BITSHUFFLE", "AUTOSHUFFLE", "COMPRESSORS"]) {
        const value = Peer[name];
        assert.deepEqual(
            new Set([Blosc[name]].flat()),
            new Set(value?.values?.() ?? [value].flat()),
            name,
        );
    }
    const peer = Peer.fromConfig({ id: "blosc" });
    const codec = Blosc.fromConfig({ id: "blosc" });
    assert.deepEqual({ ...codec, typesize: undefined }, { ...peer, typesize: undefined });
    const config = { id: "blosc", clevel: 3, cname: "zlib", shuffle: 2, blocksize: 4096 };
    assert.deepEqual({ ...Blosc.fromConfig(config) }, { ...Peer.fromConfig(config), typesize: 4 });
    assert.deepEqual(
        { ...new Blosc(1, "lz4", 0, 64) },
        { clevel: 1, cname: "lz4", shuffle: 0, blocksize: 64, typesize: 4 },
    );
});

test("each library decodes the chunks of the other", async () => {
    for (const [name, data] of Object.entries(DATA)) {
        for (const cname of Blosc.COMPRESSORS) {
            for (const shuffle of [0, 1, 2]) {
                for (const [clevel, blocksize] of [
                    [0, 0],
                    [1, 0],
                    [5, 0],
                    [9, 0],
                    [5, 8192],
                ]) {
                    const config = { id: "blosc", cname, clevel, shuffle, blocksize };
                    const text = `${name} ${JSON.stringify(config)}`;
                    const ours = Blosc.fromConfig(config);
                    const theirs = Peer.fromConfig(config);
                    assert.ok(
                        equal(await ours.decode(await theirs.encode(data)), data),
                        `decoding of ${text}`,
                    );
                    if (ENCODED.includes(cname)) {
                        const chunk = await ours.encode(data);
                        assert.equal(chunk[0], 2, `${text} has the version of Blosc 1.x`);
                        assert.ok(equal(await theirs.decode(chunk), data), `encoding of ${text}`);
                        assert.ok(
                            equal(await ours.decode(chunk), data),
                            `encoding and decoding of ${text}`,
                        );
                    }
                }
            }
        }
    }
});

test("chunks of other item sizes are read by numcodecs", async () => {
    for (const typesize of [1, 2, 3, 8, 16, 24, 255]) {
        for (const shuffle of ["noshuffle", "shuffle", "bitshuffle", "autoshuffle", -1]) {
            const chunk = await Blosc.fromConfig({ cname: "lz4", typesize, shuffle }).encode(
                DATA.mixed,
            );
            assert.equal(chunk[3], typesize);
            assert.ok(equal(await new Peer().decode(chunk), DATA.mixed), `${typesize} ${shuffle}`);
        }
    }
});

test("codecs without an encoder state the reason", async () => {
    for (const cname of ["zstd", "lz4hc"]) {
        const codec = Blosc.fromConfig({ id: "blosc", cname });
        await assert.rejects(
            codec.encode(DATA.numbers),
            (error) =>
                error instanceof BloscError &&
                error.code === ErrorCode.CODEC_SUPPORT &&
                error.message.includes(`no encoder of ${cname}`),
        );
        await assert.rejects(compress(DATA.numbers, { cname }), /no encoder/);
    }
    await assert.rejects(compress(DATA.numbers, { cname: "snappy" }), {
        code: ErrorCode.CODEC_SUPPORT,
    });
});

test("invalid parameters are rejected", () => {
    for (const config of [
        { clevel: 10 },
        { clevel: -1 },
        { clevel: 1.5 },
        { clevel: "5" },
        { cname: "gzip" },
        { cname: "__proto__" },
        { shuffle: 3 },
        { shuffle: "bytes" },
        { shuffle: "toString" },
        { blocksize: -1 },
        { typesize: 0 },
        { typesize: 256 },
        { maxBytes: -1 },
        { maxBytes: NaN },
    ]) {
        assert.throws(
            () => Blosc.fromConfig({ id: "blosc", ...config }),
            RangeError,
            JSON.stringify(config),
        );
    }
});

test("an output array is filled and returned", async () => {
    const codec = new Blosc();
    const data = DATA.numbers;
    const chunk = await codec.encode(data);
    const out = new Uint8Array(data.length + 10).fill(9);
    assert.equal(await codec.decode(chunk, out), out);
    assert.ok(equal(out.subarray(0, data.length), data));
    assert.deepEqual([...out.subarray(data.length)], Array(10).fill(9));
    const floats = new Float32Array(data.length / 4);
    assert.equal(await decompress(chunk, { out: floats }), floats);
    assert.ok(equal(bytesOf(floats), data));
    await assert.rejects(codec.decode(chunk, new Uint8Array(data.length - 1)), {
        code: ErrorCode.WRITE_BUFFER,
    });
});

test("data may be any view or buffer", async () => {
    const floats = Float64Array.from({ length: 5000 }, (_, i) => i / 4);
    const chunk = await compress(floats);
    assert.equal(chunk[3], 8, "the item size is that of the array");
    assert.ok(equal(await decompress(chunk.buffer), bytesOf(floats)));
    assert.ok(equal(await decompress(await compress(floats.buffer)), bytesOf(floats)));
    await assert.rejects(compress("text"), TypeError);
    await assert.rejects(new Blosc().encode(undefined), TypeError);
    await assert.rejects(new Blosc().decode(null), TypeError);
});

test("chunks of C-Blosc2 are decoded", async () => {
    const data = fixture("chunk.raw");
    for (const { name } of manifest.chunks) {
        const chunk = fixture(name);
        assert.ok(equal(await decompress(chunk), data), name);
        assert.ok(equal(await new Blosc().decode(chunk), data), name);
    }
});

test("chunks of repeated values are decoded, and their size is limited", async () => {
    const zeros = await compress(new Uint8Array(1 << 20));
    assert.equal(zeros.length, 32);
    assert.ok(equal(await decompress(zeros), new Uint8Array(1 << 20)));
    const limited = {
        code: ErrorCode.LIMIT,
        message: /1048576 bytes, and at most 1000 are allowed/,
    };
    await assert.rejects(decompress(zeros, { maxBytes: 1000 }), limited);
    await assert.rejects(Blosc.fromConfig({ maxBytes: 1000 }).decode(zeros), limited);
    // An uninitialised chunk has no bytes; those of an earlier result are not returned.
    zeros[31] = 0x40;
    assert.ok(equal(await decompress(zeros), new Uint8Array(1 << 20)));
});

test("data in a detached buffer is an error, also if it was detached during the call", async () => {
    const transferred = (array) => structuredClone(array, { transfer: [array.buffer] });
    const detached = numbers(1000);
    transferred(detached);
    await assert.rejects(compress(detached), TypeError);
    await assert.rejects(compress(detached.buffer), TypeError);
    await assert.rejects(new Blosc().encode(detached), TypeError);
    for (const encode of [compress, (data) => new Blosc().encode(data)]) {
        const data = numbers(1000);
        const encoded = encode(data);
        transferred(data);
        await assert.rejects(encoded, /detached or shortened/);
    }
    const chunk = await compress(numbers(1000));
    const decoded = decompress(chunk);
    transferred(chunk);
    await assert.rejects(decoded, /detached or shortened/);
});

test("shared and growable memory is compressed and decompressed", async () => {
    const shared = new Uint8Array(new SharedArrayBuffer(4000));
    shared.set(numbers(1000));
    const chunk = await compress(shared, { typesize: 4 });
    const copy = new Uint8Array(new SharedArrayBuffer(chunk.length));
    copy.set(chunk);
    const out = new SharedArrayBuffer(4000);
    assert.equal(await decompress(copy, { out }), out);
    assert.ok(equal(new Uint8Array(out), numbers(1000)));
});
