import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import { ErrorCode, FrameDecoderStream, decodeFrameStream, init, open } from "../index.js";
import { loadFrames } from "../lib/engine.js";
import { equal, fixture, manifest } from "./helpers.js";

const UNORDERED = ["zeros-between.b2frame", "inserted.b2frame"];

function* pieces(bytes, length) {
    for (let at = 0; at < bytes.length; at += length) {
        yield bytes.subarray(at, at + length);
    }
}

async function collect(stream) {
    const parts = [];
    for await (const part of stream) {
        parts.push(part);
    }
    return parts;
}

test("the chunks of a stream are those of the frame, however it is cut", async () => {
    for (const { name, lengths } of manifest.frames.filter((it) => !UNORDERED.includes(it.name))) {
        const bytes = fixture(name);
        for (const length of [1, 7, 1000, 65_536, bytes.length]) {
            if (length === 1 && bytes.length > 50_000) {
                continue;
            }
            const parts = await collect(decodeFrameStream(pieces(bytes, length)));
            assert.deepEqual(
                parts.map((part) => part.length),
                lengths,
                `${name} ${length}`,
            );
            assert.ok(equal(Buffer.concat(parts), fixture(`${name}.raw`)), `${name} ${length}`);
        }
    }
});

test("the chunks of an array are those that `chunk` returns", async () => {
    const frame = await open(fixture("grid-zstd.b2nd"));
    const parts = await collect(decodeFrameStream(pieces(fixture("grid-zstd.b2nd"), 5000)));
    assert.equal(parts.length, frame.nchunks);
    for (const [number, part] of parts.entries()) {
        assert.ok(equal(part, await frame.chunk(number)));
    }
});

test("a chunk is decoded as soon as it has arrived", async () => {
    const bytes = fixture("random.b2frame");
    let given = 0;
    const source = (function* () {
        for (const piece of pieces(bytes, 1000)) {
            given += piece.length;
            yield piece;
        }
    })();
    for await (const part of decodeFrameStream(source)) {
        assert.equal(part.length, 30_000);
        assert.ok(given < 35_000, `${given} bytes`);
        break;
    }
});

test("the next chunk is decoded when it is asked for, also if its bytes have arrived", async () => {
    const bytes = fixture("random.b2frame");
    const engine = await loadFrames();
    const { decompress } = Object.getPrototypeOf(engine);
    let decoded = 0;
    engine.decompress = (...values) => {
        decoded += 1;
        return decompress.apply(engine, values);
    };
    try {
        const source = new ReadableStream({
            start(controller) {
                controller.enqueue(bytes);
                controller.close();
            },
        });
        for (const stream of [
            decodeFrameStream([bytes]),
            source.pipeThrough(new FrameDecoderStream()),
        ]) {
            let count = 0;
            decoded = 0;
            for await (const part of stream) {
                count += 1;
                assert.equal(part.length, 30_000);
                assert.equal(decoded, count);
            }
            assert.ok(count > 2, `${count} chunks`);
        }
    } finally {
        delete engine.decompress;
    }
});

test("frames whose chunks are not in order are rejected", async () => {
    for (const name of UNORDERED) {
        const { error } = await collect(decodeFrameStream([fixture(name)])).catch((it) => ({
            error: it,
        }));
        assert.match(error.message, /stored in order|cannot be decoded as a stream/, name);
        assert.equal(error.code, ErrorCode.DATA);
    }
    const zeros = await collect(decodeFrameStream([fixture("zeros.b2nd")])).catch((it) => it);
    assert.match(zeros.message, /repeated values/);
});

test("truncated and longer streams are rejected", async () => {
    const bytes = fixture("numbers-lz4.b2frame");
    for (const length of [0, 1, 86, 87, 150, 5000, bytes.length - 100, bytes.length - 1]) {
        const error = await collect(decodeFrameStream([bytes.subarray(0, length)])).catch(
            (it) => it,
        );
        assert.match(error.message, /truncated|ended after/, `${length}`);
    }
    await assert.rejects(
        collect(decodeFrameStream([bytes, Uint8Array.of(0)])),
        /further bytes follow/,
    );
    await assert.rejects(collect(decodeFrameStream([new Uint8Array(200)])), /not a Blosc2 frame/);
    await assert.rejects(collect(decodeFrameStream([bytes], { maxBytes: 100 })), {
        code: ErrorCode.LIMIT,
    });
});

test("the transform stream decodes, and reports errors", async () => {
    const bytes = fixture("numbers-zstd.b2frame");
    const through = (all) => new Blob([all]).stream().pipeThrough(new FrameDecoderStream());
    const decoded = new Uint8Array(await new Response(through(bytes)).arrayBuffer());
    assert.ok(equal(decoded, fixture("numbers-zstd.b2frame.raw")));
    await assert.rejects(new Response(through(bytes.subarray(0, 9000))).arrayBuffer(), /truncated/);
    await assert.rejects(
        collect(decodeFrameStream(new Blob([bytes.subarray(0, 9000)]).stream())),
        /truncated/,
    );
});

test("a stream is cancelled if its reader stops", async () => {
    let isCancelled = false;
    const bytes = fixture("random.b2frame");
    let at = 0;
    const stream = new ReadableStream({
        pull(controller) {
            controller.enqueue(bytes.subarray(at, at + 10_000));
            at += 10_000;
        },
        cancel() {
            isCancelled = true;
        },
    });
    for await (const part of decodeFrameStream(stream)) {
        assert.equal(part.length, 30_000);
        break;
    }
    assert.ok(isCancelled);
});

test("the source of a transform stream is cancelled while its reader waits for bytes", async () => {
    const bytes = fixture("random.b2frame");
    let cancelled;
    const isCancelled = new Promise((resolve) => {
        cancelled = resolve;
    });
    const source = new ReadableStream({
        start(controller) {
            controller.enqueue(bytes.subarray(0, 1000));
        },
        cancel: cancelled,
    });
    const reader = source.pipeThrough(new FrameDecoderStream()).getReader();
    const read = reader.read();
    await reader.cancel("enough");
    assert.equal(await isCancelled, "enough");
    assert.equal((await read).done, true);
});

test("invalid limits of a stream are rejected", async () => {
    assert.throws(() => new FrameDecoderStream({ maxBytes: -1 }), RangeError);
    await assert.rejects(collect(decodeFrameStream([], { maxBytes: NaN })), RangeError);
});

test("a source can reuse the memory of its pieces", async () => {
    const bytes = fixture("numbers-lz4.b2frame");
    const raw = fixture("numbers-lz4.b2frame.raw");
    for (const piece of [new Uint8Array(1000), Buffer.alloc(1000)]) {
        const source = (function* () {
            for (let at = 0; at < bytes.length; at += piece.length) {
                const part = bytes.subarray(at, at + piece.length);
                piece.set(part);
                yield piece.subarray(0, part.length);
                piece.fill(0xee);
            }
        })();
        const parts = await collect(decodeFrameStream(source));
        assert.ok(equal(Buffer.concat(parts), raw), piece.constructor.name);
    }
});

test("the length of the trailer is limited", async () => {
    const bytes = fixture("one.b2frame").slice();
    new DataView(bytes.buffer).setBigUint64(16, 2n ** 40n);
    const error = await collect(decodeFrameStream([bytes])).catch((it) => it);
    assert.match(error.message, /the trailer of the frame has \d+ bytes, and at most/);
    assert.equal(error.code, ErrorCode.LIMIT);
});

test("a stream is cancelled if the module cannot be loaded", async () => {
    const source = () => {
        let cancelled;
        const isCancelled = new Promise((resolve) => {
            cancelled = resolve;
        });
        const stream = new ReadableStream({
            start(controller) {
                controller.enqueue(fixture("one.b2frame").subarray(0, 100));
            },
            cancel: cancelled,
        });
        return { stream, isCancelled };
    };
    try {
        await assert.rejects(init({ frames: Promise.reject(new Error("no module")) }), /no module/);
        const first = source();
        await assert.rejects(collect(decodeFrameStream(first.stream)), /no module/);
        await first.isCancelled;
        const second = source();
        const decoded = second.stream.pipeThrough(new FrameDecoderStream());
        await assert.rejects(collect(decoded), /no module/);
        await second.isCancelled;
    } finally {
        await init({ frames: readFileSync(new URL("../ferroblosc-frames.wasm", import.meta.url)) });
    }
});
