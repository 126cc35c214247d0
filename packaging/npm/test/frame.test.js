import assert from "node:assert/strict";
import test from "node:test";
import vm from "node:vm";

import {
    BloscError,
    ErrorCode,
    Extension,
    Frame,
    compress,
    decodeFrameStream,
    decompress,
    fromUrl,
    open,
} from "../index.js";
import { CountingSource, bytesOf, equal, fixture, manifest, serve } from "./helpers.js";

/** Returns the items from `start` to before `stop` of all items in row-major order. */
function sliceOf(raw, shape, typesize, start, stop) {
    const parts = [];
    const visit = (dim, offset) => {
        if (dim === shape.length) {
            parts.push(raw.subarray(offset * typesize, (offset + 1) * typesize));
            return;
        }
        for (let i = start[dim]; i < stop[dim]; i += 1) {
            visit(dim + 1, offset * shape[dim] + i);
        }
    };
    visit(0, 0);
    return Buffer.concat(parts);
}

test("arrays of python-blosc2 have their properties and items", async () => {
    for (const expected of manifest.arrays) {
        const { name, shape, chunks, blocks, dtype, typesize, nchunks } = expected;
        const frame = await open(fixture(name));
        assert.ok(frame instanceof Frame && frame.isArray, name);
        const { shape: s, chunks: c, blocks: b, dtype: d, typesize: t, nchunks: n } = frame;
        const found = {
            ...expected,
            shape: s,
            chunks: c,
            blocks: b,
            dtype: d,
            typesize: t,
            nchunks: n,
        };
        assert.deepEqual(found, { ...expected, shape, chunks, blocks, dtype, typesize, nchunks });
        assert.ok(equal(bytesOf(await frame.slice()), fixture(`${name}.raw`)), name);
        frame.close();
    }
});

test("slices are those of the whole array", async () => {
    for (const { name, shape, typesize } of manifest.arrays.filter(
        (it) => it.name !== "large.b2nd",
    )) {
        const raw = fixture(`${name}.raw`);
        const frame = await open(fixture(name));
        const fractions = [
            [0, 1],
            [0.3, 0.6],
            [0.5, 0.51],
            [0.9, 1],
            [0.2, 0.2],
        ];
        for (const [from, to] of fractions) {
            const start = shape.map((extent) => Math.floor(extent * from));
            const stop = shape.map((extent, i) => Math.max(start[i], Math.ceil(extent * to)));
            const items = await frame.slice(start, stop);
            const text = `${name} ${start} ${stop}`;
            assert.ok(equal(bytesOf(items), sliceOf(raw, shape, typesize, start, stop)), text);
        }
        frame.close();
    }
});

test("items are typed arrays", async () => {
    const types = {
        "grid-zstd": Float64Array,
        bits: Int16Array,
        delta: Uint32Array,
        bytes: Uint8Array,
        bool: Uint8Array,
        bigendian: Int32Array,
        int64: BigInt64Array,
        complex: Float64Array,
        dates: BigInt64Array,
        text: Uint8Array,
        half: globalThis.Float16Array ?? Uint16Array,
        sparse: Float32Array,
    };
    for (const [name, type] of Object.entries(types)) {
        const frame = await open(fixture(`${name}.b2nd`));
        assert.equal((await frame.slice()).constructor, type, name);
    }
    const frame = await open(fixture("bigendian.b2nd"));
    assert.deepEqual([...(await frame.slice([3, 98], [5, 100]))], [398, 399, 498, 499]);
});

test("metalayers are decoded", async () => {
    const frame = await open(fixture("grid-zstd.b2nd"));
    assert.deepEqual(Object.keys(frame.metalayers), ["b2nd"]);
    const plain = (value) => structuredClone({ ...value });
    const { nested, ...others } = plain(frame.vlmeta);
    assert.deepEqual(others, {
        title: "temperature",
        count: 70000,
        large: 2n ** 60n,
        negative: -5,
        ratio: 0.25,
        flags: [true, false, null],
        bytes: Uint8Array.of(0, 1),
    });
    assert.deepEqual(JSON.parse(JSON.stringify(nested)), { a: { b: [1, 2, { c: "é" }] } });
    assert.deepEqual(frame.vlmetaBytes("negative"), Uint8Array.of(0xfb));
    assert.throws(() => frame.vlmetaBytes("absent"), /there is no metalayer absent/);
    assert.throws(() => frame.metalayerBytes("absent"), BloscError);
    const schunk = await open(fixture("numbers-lz4.b2frame"));
    assert.deepEqual(plain(schunk.metalayers), { origin: "test", n: 3 });
    assert.equal(Extension.name, "Extension");
});

test("names of metalayers can begin with a byte order mark, or not be UTF-8", async () => {
    const bytes = Buffer.from(fixture("grid-zstd.b2nd"));
    bytes.write("\ufeffxy", bytes.lastIndexOf("flags"));
    bytes.write("\xff\xfe", bytes.lastIndexOf("ratio"), "latin1");
    const frame = await open(bytes);
    assert.deepEqual(frame.vlmeta["\ufeffxy"], [true, false, null]);
    assert.equal(frame.vlmeta["\ufffd\ufffdtio"], 0.25);
    assert.equal(frame.vlmeta.title, "temperature");
    assert.equal(frame.vlmetaBytes("\ufeffxy").length, 4);
});

test("frames without a shape return chunks and items", async () => {
    for (const { name, nchunks, nbytes, typesize, chunksize, lengths } of manifest.frames) {
        const frame = await open(fixture(name));
        assert.deepEqual(
            [frame.isArray, frame.nchunks, frame.nbytes, frame.typesize, frame.shape],
            [false, nchunks, nbytes, typesize, undefined],
            name,
        );
        const raw = fixture(`${name}.raw`);
        let at = 0;
        let count = 0;
        for await (const chunk of frame.chunksInOrder()) {
            assert.equal(chunk.length, lengths[count], name);
            assert.ok(equal(chunk, raw.subarray(at, at + chunk.length)), `${name} ${count}`);
            at += chunk.length;
            count += 1;
        }
        assert.equal(count, nchunks);
        const nitems = nbytes / typesize;
        for (const [from, to] of [
            [0, nitems],
            [nitems >> 1, (nitems >> 1) + Math.min(3, nitems)],
            [0, Math.min(1, nitems)],
        ]) {
            assert.ok(
                equal(await frame.slice(from, to), raw.subarray(from * typesize, to * typesize)),
                `${name} ${from} ${to}`,
            );
        }
        assert.equal(frame.chunksize > 0 ? frame.chunksize : chunksize, chunksize);
    }
});

test("only the needed bytes are read", async () => {
    const source = new CountingSource(fixture("large.b2nd"));
    const frame = await open(source);
    assert.deepEqual([source.requests, source.total], [2, 8192], "header and trailer");
    source.reset();
    // One block of 32 KiB of a chunk of 4 MiB.
    const raw = fixture("large.b2nd.raw");
    const items = await frame.slice([70, 130], [80, 140]);
    assert.ok(equal(bytesOf(items), sliceOf(raw, frame.shape, 8, [70, 130], [80, 140])));
    assert.ok(source.requests <= 3, `${source.requests} requests`);
    assert.ok(source.total < 45_000, `${source.total} bytes`);
    source.reset();
    // Both chunks, as neighbours, are one request.
    assert.ok(equal(bytesOf(await frame.slice()), raw));
    assert.equal(source.requests, 1);
    assert.ok(source.total < source.size);
    source.reset();
    // Nothing is read again for properties.
    assert.deepEqual([Object.keys(frame.vlmeta), source.requests], [[], 0]);

    const exact = new CountingSource(fixture("large.b2nd"));
    const other = await open(exact, { readAhead: 0 });
    assert.ok(exact.total < 1000, `${exact.total} bytes to open`);
    exact.reset();
    await other.slice([0, 0], [1, 1]);
    // The header of the chunk with the positions of its 128 blocks, and one block.
    assert.ok(exact.total < 32 + 4 * 128 + 33_000, `${exact.total} bytes`);
});

test("many small chunks need few requests", async () => {
    const source = new CountingSource(fixture("many.b2nd"));
    const frame = await open(source);
    source.reset();
    const items = await frame.slice([50_000], [60_000]);
    assert.ok(equal(bytesOf(items), fixture("many.b2nd.raw").subarray(200_000, 240_000)));
    assert.ok(source.requests <= 1, `${source.requests} requests`);
    assert.ok(source.total < 40_000, `${source.total} bytes`);
});

test("zeros are not read", async () => {
    const source = new CountingSource(fixture("sparse.b2nd"));
    const frame = await open(source, { readAhead: 0 });
    source.reset();
    assert.equal((await frame.slice([0, 0], [100, 100])).length, 10_000);
    assert.equal(source.requests, 0);
});

test("reads at the same time do not disturb each other", async () => {
    const raw = fixture("grid-zstd.b2nd.raw");
    const source = new CountingSource(fixture("grid-zstd.b2nd"));
    const slowly = {
        size: source.size,
        read: async (offset, length) => {
            await new Promise((resolve) => setTimeout(resolve, offset % 7));
            return source.read(offset, length);
        },
    };
    const frame = await open(slowly, { readAhead: 0 });
    const reads = Array.from({ length: 40 }, async (_, i) => {
        const [start, stop] = [
            [i * 5, i],
            [i * 5 + 60, i + 90],
        ];
        return equal(
            bytesOf(await frame.slice(start, stop)),
            sliceOf(raw, [300, 200], 8, start, stop),
        );
    });
    assert.ok((await Promise.all(reads)).every(Boolean));
});

test("invalid arguments are rejected", async () => {
    const frame = await open(fixture("grid-lz4.b2nd"));
    for (const [start, stop] of [
        [[0], [1]],
        [
            [0, 0, 0],
            [1, 1, 1],
        ],
        [
            [-1, 0],
            [1, 1],
        ],
        [
            [0, 0],
            [301, 1],
        ],
        [
            [5, 0],
            [4, 1],
        ],
        [
            [0.5, 0],
            [1, 1],
        ],
        [
            [NaN, 0],
            [1, 1],
        ],
        [
            ["0", 0],
            [1, 1],
        ],
        [
            [0, 0],
            [2 ** 53, 1],
        ],
    ]) {
        await assert.rejects(frame.slice(start, stop), Error, `${start} ${stop}`);
    }
    await assert.rejects(
        frame.slice([0, 0], [301, 1]),
        /0\.\.301 of axis 0 is outside its length 300/,
    );
    for (const number of [-1, 12, 0.5, "0", undefined]) {
        await assert.rejects(frame.chunk(number), RangeError);
    }
    await assert.rejects(open("path"), TypeError);
    await assert.rejects(open({ size: -1, read() {} }), TypeError);
    await assert.rejects((await open(fixture("grid-lz4.b2nd"), { maxBytes: 1000 })).slice(), {
        code: ErrorCode.LIMIT,
    });
    await assert.rejects((await open(fixture("grid-lz4.b2nd"), { maxBytes: 1000 })).chunk(0), {
        code: ErrorCode.LIMIT,
    });
    for (const readAhead of [-1, NaN, "far"]) {
        await assert.rejects(open(fixture("grid-lz4.b2nd"), { readAhead }), RangeError);
        await assert.rejects(fromUrl("http://127.0.0.1:1/", { readAhead }), RangeError);
    }
    frame.close();
    frame.close();
    await assert.rejects(frame.slice(), /closed/);
});

test("bytes of another realm are accepted", async () => {
    const realm = vm.createContext({});
    const foreign = (bytes) => {
        const copy = vm.runInContext(`new Uint8Array(${bytes.length})`, realm);
        copy.set(bytes);
        return copy;
    };
    const bytes = fixture("grid-lz4.b2nd");
    assert.ok(!(foreign(bytes) instanceof Uint8Array));
    const raw = fixture("grid-lz4.b2nd.raw");
    const read = async (offset, length) => foreign(bytes.subarray(offset, offset + length));
    const reads = { size: bytes.length, read };
    for (const source of [foreign(bytes), foreign(bytes).buffer, reads]) {
        assert.ok(equal(bytesOf(await (await open(source)).slice()), raw));
    }
    const chunk = foreign(await compress(foreign(raw).buffer));
    assert.ok(equal(await decompress(chunk.buffer), raw));
    const out = foreign(raw.subarray(0, 0)).constructor.from(raw, () => 0);
    assert.equal(await decompress(chunk, { out: out.buffer }), out.buffer);
    assert.ok(equal(out, raw));
    let count = 0;
    for await (const part of decodeFrameStream([foreign(bytes).buffer])) {
        assert.ok(part.length > 0);
        count += 1;
    }
    assert.equal(count, (await open(bytes)).nchunks);
    for (const source of [{}, "bytes", null, 5, [1, 2], { byteLength: 5 }]) {
        await assert.rejects(compress(source ?? {}), TypeError);
        await assert.rejects(open(source), TypeError);
    }
});

test("errors of a source are returned, and the frame can be used afterwards", async () => {
    const bytes = fixture("grid-lz4.b2nd");
    let isBroken = false;
    let isShort = false;
    const frame = await open({
        size: bytes.length,
        read: async (offset, length) => {
            if (isBroken) {
                throw new Error("the cable is cut");
            }
            return bytes.slice(offset, offset + length - (isShort ? 1 : 0));
        },
    });
    isBroken = true;
    await assert.rejects(frame.slice(), /the cable is cut/);
    isBroken = false;
    isShort = true;
    await assert.rejects(frame.slice(), { code: ErrorCode.SOURCE });
    isShort = false;
    const controller = new AbortController();
    controller.abort();
    await assert.rejects(frame.slice(undefined, undefined, { signal: controller.signal }), {
        name: "AbortError",
    });
    assert.ok(equal(bytesOf(await frame.slice()), fixture("grid-lz4.b2nd.raw")));
});

test("a frame is read over HTTP by ranges", async () => {
    const server = await serve((path) =>
        path === "/large.b2nd" ? fixture("large.b2nd") : undefined,
    );
    try {
        const frame = await fromUrl(`${server.url}/large.b2nd`);
        assert.equal(server.requests.length, 2);
        assert.ok(server.requests.every(({ range }) => range !== undefined));
        const items = await frame.slice([70, 130], [80, 140]);
        assert.ok(
            equal(
                bytesOf(items),
                sliceOf(fixture("large.b2nd.raw"), frame.shape, 8, [70, 130], [80, 140]),
            ),
        );
        assert.ok(server.requests.length <= 5, `${server.requests.length} requests`);
        await assert.rejects(fromUrl(`${server.url}/absent`), /HTTP 404/);
        for (const readAhead of [0, 0.5, 100.5, "4096", 2 ** 53, Infinity]) {
            const other = await fromUrl(`${server.url}/large.b2nd`, { readAhead });
            assert.ok(equal(bytesOf(await other.slice([70, 130], [80, 140])), bytesOf(items)));
        }
    } finally {
        await server.close();
    }
});

test("faulty responses of servers are detected", async () => {
    const find = () => fixture("grid-lz4.b2nd");
    const during = async (options, use) => {
        const server = await serve(find, options);
        try {
            await use(`${server.url}/f.b2nd`);
        } finally {
            await server.close();
        }
    };
    await during({ ignoresRanges: true }, (url) => assert.rejects(fromUrl(url), /ignores ranges/));
    await during({ shortens: true }, (url) =>
        assert.rejects(fromUrl(url), /4095 bytes .* instead of 4096/),
    );
    await during({ hidesTotal: true }, async (url) =>
        assert.equal((await (await fromUrl(url)).slice()).length, 60_000),
    );
    let version = 1;
    await during({ etag: () => `"${version}"` }, async (url) => {
        const frame = await fromUrl(url);
        version = 2;
        await assert.rejects(frame.slice(), /has changed since it was opened/);
    });
});

/** Returns a function like `fetch` for one file, whose responses `change` can replace. */
function fetchOf(bytes, change = (response) => response) {
    const requests = [];
    const fetch = async (url, { method = "GET", headers }) => {
        const given = new Headers(headers);
        requests.push(given);
        if (method === "HEAD") {
            return new Response(undefined, { headers: { "Content-Length": bytes.length } });
        }
        const [start, end] = /^bytes=(\d+)-(\d+)$/.exec(given.get("range")).slice(1).map(Number);
        const part = bytes.subarray(start, end + 1);
        return change(
            new Response(part, {
                status: 206,
                headers: {
                    "Content-Range": `bytes ${start}-${start + part.length - 1}/${bytes.length}`,
                },
            }),
            requests.length,
        );
    };
    return { fetch, requests };
}

/** Returns a response with another header or body. */
function changed(response, { range, body = response.body }) {
    const headers = new Headers(response.headers);
    headers.set("Content-Range", range ?? headers.get("Content-Range"));
    return new Response(body, { status: response.status, headers });
}

test("a range that was not requested is detected", async () => {
    const bytes = fixture("large.b2nd");
    // The size of the body is right.
    const { fetch } = fetchOf(bytes, (response, count) =>
        count < 3
            ? response
            : changed(response, {
                  range: `bytes 0-4095/${bytes.length}`,
              }),
    );
    const frame = await fromUrl("http://localhost/f.b2nd", { fetch });
    await assert.rejects(frame.slice([70, 130], [80, 140]), {
        code: ErrorCode.SOURCE,
        message: /bytes from 0 on .* instead of/,
    });
});

test("another size of the file is a change, also without an ETag", async () => {
    const bytes = fixture("large.b2nd");
    const { fetch } = fetchOf(bytes, (response, count) => {
        const range = response.headers.get("Content-Range");
        return count < 3
            ? response
            : changed(response, { range: range.replace(/\d+$/, bytes.length + 1) });
    });
    const frame = await fromUrl("http://localhost/f.b2nd", { fetch });
    await assert.rejects(frame.slice([0, 0], [1, 1]), /has changed since it was opened/);
});

test("a body without end is not read to its end", async () => {
    const bytes = fixture("large.b2nd");
    let sent = 0;
    let isCancelled = false;
    const endless = () =>
        new ReadableStream({
            pull(controller) {
                sent += 1000;
                if (sent > 10 ** 7) {
                    controller.close();
                } else {
                    controller.enqueue(new Uint8Array(1000));
                }
            },
            cancel() {
                isCancelled = true;
            },
        });
    const { fetch } = fetchOf(bytes, (response) => changed(response, { body: endless() }));
    await assert.rejects(fromUrl("http://localhost/f.b2nd", { fetch }), {
        code: ErrorCode.SOURCE,
        message: /sent more than 4096 bytes/,
    });
    assert.ok(isCancelled && sent < 10_000, `${sent}`);
});

test("impossible sizes of a file are errors, and end the transfer", async () => {
    let isCancelled = false;
    const body = new ReadableStream({
        cancel() {
            isCancelled = true;
        },
    });
    const { fetch } = fetchOf(fixture("large.b2nd"), (response) =>
        changed(response, { range: `bytes 0-4095/${10n ** 30n}`, body }),
    );
    await assert.rejects(fromUrl("http://localhost/f.b2nd", { fetch }), /an impossible size/);
    assert.ok(isCancelled);
});

test("headers can be an object of the class Headers, and do not replace the range", async () => {
    const { fetch, requests } = fetchOf(fixture("grid-lz4.b2nd"), (response) =>
        changed(response, { range: "bytes */*" }),
    );
    for (const headers of [new Headers({ Authorization: "a" }), [["authorization", "a"]]]) {
        const frame = await fromUrl("http://localhost/f.b2nd", { fetch, headers });
        assert.equal((await frame.slice()).length, 60_000);
    }
    const headers = { authorization: "a", range: "bytes=5-6" };
    assert.equal((await fromUrl("http://localhost/f.b2nd", { fetch, headers })).nchunks, 12);
    assert.ok(requests.length > 6);
    assert.ok(requests.every((it) => it.get("authorization") === "a"));
});

test("no further request is made after a failed one", async () => {
    const bytes = fixture("large.b2nd");
    let requests = 0;
    let failing = Infinity;
    const frame = await open(
        {
            size: bytes.length,
            read: async (offset, length) => {
                requests += 1;
                if (requests === failing) {
                    throw new Error("the cable is cut");
                }
                await new Promise((resolve) => setTimeout(resolve, 20));
                return bytes.slice(offset, offset + length);
            },
        },
        { readAhead: 0 },
    );
    const slice = () => frame.slice([0, 0], [1024, 1]);
    requests = 0;
    await slice();
    // One for the header of the chunk, and the others for its blocks.
    assert.ok(requests > 12, `${requests}`);
    requests = 0;
    failing = 2;
    await assert.rejects(slice(), /the cable is cut/);
    await new Promise((resolve) => setTimeout(resolve, 100));
    // Those that were active.
    assert.equal(requests, 8);
});
