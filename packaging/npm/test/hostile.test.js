// Damaged and truncated bytes, failing memory and traps. ROUNDS is the number of damaged copies of
// each source.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import {
    Blosc,
    BloscError,
    ErrorCode,
    compress,
    decodeFrameStream,
    decodeMessagePack,
    decompress,
    init,
    open,
} from "../index.js";
import { loadChunks, loadFrames } from "../lib/engine.js";
import { bytesOf, equal, fixture, manifest, numbers, random } from "./helpers.js";

const ROUNDS = Number(process.env.ROUNDS ?? 25);
const MAX_BYTES = 1 << 24;
const MAX_MEMORY = 160 << 20;
const EXTREMES = [0, 1, -1, 0x7fffffff, -0x80000000, 0x10000, 0x7fffffe0];
const next = random(3);

/** Returns a damaged copy of bytes. */
function damaged(bytes) {
    const copy = bytes.slice(0, next(4) === 0 ? next(bytes.length + 1) : bytes.length);
    const view = new DataView(copy.buffer);
    for (let count = next(4); count >= 0 && copy.length > 0; count -= 1) {
        // Most headers are at the beginning, most trailers at the end.
        const near = Math.min(copy.length, 150);
        const at = [() => next(copy.length), () => next(near), () => copy.length - 1 - next(near)][
            next(3)
        ]();
        switch (next(3)) {
            case 0:
                copy[at] ^= 1 << next(8);
                break;
            case 1:
                copy[at] = next(256);
                break;
            default:
                if (at + 4 <= copy.length) {
                    view.setInt32(at, EXTREMES[next(EXTREMES.length)], next(2) === 0);
                }
        }
    }
    return copy;
}

/** Calls `work`, which may fail only with an error that has a text and the code of a cause. */
async function attempt(work, counts) {
    counts.calls += 1;
    try {
        await work();
        counts.decoded += 1;
    } catch (error) {
        assert.ok(error instanceof BloscError, `${error.stack}`);
        assert.notEqual(error.code, ErrorCode.TRAP, error.message);
        assert.ok(error.message.length > 5, error.message);
    }
}

async function memoryInUse() {
    const engines = [await loadChunks(), await loadFrames()];
    return Math.max(...engines.map(({ wasm }) => wasm.memory.buffer.byteLength));
}

test("damaged chunks", async () => {
    const counts = { calls: 0, decoded: 0 };
    const chunks = manifest.chunks.map(({ name }) => fixture(name));
    for (const cname of ["blosclz", "lz4", "zlib", "snappy"]) {
        chunks.push(await Blosc.fromConfig({ cname }).encode(numbers(10_000)));
    }
    const codec = Blosc.fromConfig({ maxBytes: MAX_BYTES });
    for (const chunk of chunks) {
        for (let round = 0; round < ROUNDS; round += 1) {
            await attempt(() => codec.decode(damaged(chunk)), counts);
        }
    }
    assert.ok(counts.decoded < counts.calls * 0.7, `${counts.decoded} of ${counts.calls}`);
    assert.ok((await memoryInUse()) < MAX_MEMORY, `${await memoryInUse()} bytes`);
});

test("damaged frames and arrays", async () => {
    const counts = { calls: 0, decoded: 0 };
    const names = [...manifest.arrays, ...manifest.frames].map(({ name }) => name);
    for (const name of names.filter((it) => it !== "large.b2nd")) {
        const bytes = fixture(name);
        for (let round = 0; round < ROUNDS; round += 1) {
            await attempt(async () => {
                const frame = await open(damaged(bytes), {
                    maxBytes: MAX_BYTES,
                    readAhead: [0, 64, 4096][next(3)],
                });
                try {
                    assert.equal(typeof frame.metalayers, "object");
                    assert.equal(typeof frame.vlmeta, "object");
                    if (frame.nchunks > 0) {
                        await frame.chunk(next(Math.min(frame.nchunks, 10)));
                    }
                    await frame.slice();
                } finally {
                    frame.close();
                }
            }, counts);
        }
    }
    assert.ok(counts.decoded < counts.calls * 0.7, `${counts.decoded} of ${counts.calls}`);
    assert.ok((await memoryInUse()) < MAX_MEMORY, `${await memoryInUse()} bytes`);
});

test("damaged streams", async () => {
    const counts = { calls: 0, decoded: 0 };
    for (const { name } of manifest.frames) {
        const bytes = fixture(name);
        for (let round = 0; round < ROUNDS; round += 1) {
            await attempt(async () => {
                for await (const part of decodeFrameStream([damaged(bytes)], {
                    maxBytes: MAX_BYTES,
                })) {
                    assert.ok(part.length <= MAX_BYTES);
                }
            }, counts);
        }
    }
    assert.ok(counts.decoded < counts.calls * 0.7, `${counts.decoded} of ${counts.calls}`);
});

test("every truncation of a chunk and of a frame has its cause", async () => {
    const chunk = await compress(numbers(2000), { typesize: 4 });
    for (let length = 0; length < chunk.length; length += 1) {
        await assert.rejects(
            decompress(chunk.subarray(0, length)),
            /truncated|a header has/,
            `${length}`,
        );
    }
    const frame = fixture("one.b2frame");
    for (let length = 0; length < frame.length; length += 211) {
        const error = await open(frame.subarray(0, length)).catch((it) => it);
        assert.match(
            error.message,
            /not a Blosc2 frame|header records|a header has/,
            `${length}: ${error.message}`,
        );
    }
    await assert.rejects(new Blosc().decode(new Uint8Array(0)), /empty/);
});

test("codecs that are not in the build are named", async () => {
    const chunk = await compress(numbers(2000), { typesize: 4 });
    // A chunk of the codec ZFP: the format of registered codecs, and the number of the codec.
    chunk[2] = (chunk[2] & 0x1f) | (6 << 5);
    chunk[22] = 33;
    await assert.rejects(decompress(chunk), /zfp/i);
});

test("sizes that do not fit into memory are errors", async () => {
    const zeros = await compress(new Uint8Array(1 << 20));
    new DataView(zeros.buffer).setInt32(4, 0x7fffffdf, true);
    await assert.rejects(decompress(zeros), { code: ErrorCode.LIMIT });
    // The whole address space of the module is not enough for several of them.
    const engine = await loadFrames();
    for (const length of [2 ** 32 - 1, 2 ** 32, 2 ** 32 + 100, 2 ** 40]) {
        assert.throws(() => engine.withMemory(length, assert.fail), { code: ErrorCode.MEMORY });
    }
    const blocks = [];
    let error;
    try {
        for (;;) {
            const start = engine.call("fb_alloc", 2 ** 30);
            if (start === 0) {
                break;
            }
            blocks.push(start);
        }
        assert.ok(blocks.length <= 4);
        error = await decompress(zeros, { maxBytes: 2 ** 31 }).catch((it) => it);
    } finally {
        for (const start of blocks) {
            engine.call("fb_free", start, 2 ** 30);
        }
    }
    assert.equal(error.code, ErrorCode.MEMORY);
    assert.ok(
        equal(await decompress(await compress(numbers(100))), numbers(100)),
        "the instance works",
    );
    // Instances do not return memory to the system: the next test begins with a new one.
    engine.isDead = true;
    engine.slot.engine = undefined;
});

test("after a trap another instance is used", async () => {
    const frame = await open(fixture("grid-lz4.b2nd"));
    const engine = await loadFrames();
    assert.throws(() => engine.call("fb_decompress", -16, 2 ** 30, 16, 2 ** 30), {
        code: ErrorCode.TRAP,
    });
    assert.ok(engine.isDead);
    await assert.rejects(frame.slice(), /open the frame again/);
    frame.close();
    const again = await open(fixture("grid-lz4.b2nd"));
    assert.ok(equal(bytesOf(await again.slice()), fixture("grid-lz4.b2nd.raw")));
    assert.ok(equal(await decompress(await compress(numbers(100))), numbers(100)));
});

test("failed calls free their memory", async () => {
    const chunk = await compress(numbers(100_000), { typesize: 4 });
    const broken = chunk.slice();
    // The positions of the blocks.
    broken.fill(0xff, 32, 40);
    const frame = fixture("grid-lz4.b2nd");
    const brokenFrame = frame.slice();
    brokenFrame.fill(0xff, 10_000, 40_000);
    const rounds = async (count) => {
        for (let round = 0; round < count; round += 1) {
            await assert.rejects(decompress(broken), BloscError);
            await assert.rejects(decompress(chunk, { out: new Uint8Array(5) }), BloscError);
            await assert.rejects(compress(numbers(1000), { cname: "zstd" }), BloscError);
            await assert.rejects(open(frame.subarray(0, 10_000)), BloscError);
            const opened = await open(brokenFrame);
            await assert.rejects(opened.slice(), /chunk \d+/);
            await assert.rejects(opened.slice([0, 0], [500, 1]), BloscError);
            opened.close();
        }
    };
    await rounds(20);
    const before = await memoryInUse();
    await rounds(200);
    assert.equal(await memoryInUse(), before);
});

test("memory that grows during a call does not matter", async () => {
    const module = await WebAssembly.compile(
        readFileSync(new URL("../ferroblosc-frames.wasm", import.meta.url)),
    );
    await init({ frames: module });
    const { wasm } = await loadFrames();
    const before = wasm.memory.buffer.byteLength;
    const large = numbers(3_000_000);
    assert.ok(equal(await decompress(await compress(large, { typesize: 4 })), large));
    assert.ok(wasm.memory.buffer.byteLength > before + 10 ** 7);
});

test("the last module that is set is used, even if an earlier one is loaded later", async () => {
    const read = (name) => readFileSync(new URL(`../${name}.wasm`, import.meta.url));
    const [chunks, frames] = [read("ferroblosc"), read("ferroblosc-frames")];
    const deferred = () => {
        let settle;
        const promise = new Promise((resolve, reject) => {
            settle = { resolve, reject };
        });
        return { promise, ...settle };
    };
    const engine = await loadFrames();
    // The module for frames would be used for chunks.
    engine.slot.engine = undefined;
    try {
        for (const end of ["resolve", "reject"]) {
            const [first, second] = [deferred(), deferred()];
            const loads = [init({ chunks: first.promise }), init({ chunks: second.promise })];
            first[end](end === "resolve" ? frames : new Error("no module"));
            await new Promise((resolve) => setTimeout(resolve, 50));
            second.resolve(chunks);
            await Promise.all(loads);
            assert.ok(!("fb_frame_new" in (await loadChunks()).wasm), end);
        }
    } finally {
        engine.slot.engine = engine;
    }
});

test("damaged MessagePack", () => {
    const deep = new Uint8Array(100_000).fill(0x91);
    assert.throws(() => decodeMessagePack(deep), /nested too deeply/);
    for (const bytes of [
        [],
        [0xdd, 255, 255, 255, 255],
        [0xdf, 255, 255, 255, 255],
        [0xc6, 255, 255, 255, 255],
        [0xc1],
        [0xcb, 0],
        [1, 2],
        [0xd9],
        [0x82, 1],
    ]) {
        assert.throws(() => decodeMessagePack(Uint8Array.from(bytes)), BloscError, `${bytes}`);
    }
    const map = decodeMessagePack(
        Uint8Array.of(0x81, 0xa9, ...new TextEncoder().encode("__proto__"), 1),
    );
    assert.equal(Object.getPrototypeOf(map), null);
    assert.equal(map.__proto__, 1);
});
