// A test of the main functions, which runs in Node and in browsers.
//
// `load(name)` returns the bytes of a fixture, and `url(name)` its address.

import {
    Blosc,
    BloscError,
    FrameDecoderStream,
    compress,
    decodeFrameStream,
    decompress,
    fromUrl,
    open,
} from "../index.js";

function equal(a, b) {
    return a.length === b.length && a.every((byte, i) => byte === b[i]);
}

function bytesOf(array) {
    return new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
}

/** Runs all checks; returns the names of those that passed and failed. */
export async function smoke({ load, url }) {
    const passed = [];
    const failed = [];
    const check = async (name, work) => {
        try {
            ((await work()) ? passed : failed).push(name);
        } catch (error) {
            failed.push(`${name}: ${error}`);
        }
    };
    const manifest = JSON.parse(new TextDecoder().decode(await load("fixtures.json")));
    const data = await load("chunk.raw");

    for (const cname of ["blosclz", "lz4", "zlib", "snappy"]) {
        await check(`codec ${cname}`, async () => {
            const codec = Blosc.fromConfig({
                id: "blosc",
                cname,
                clevel: 5,
                shuffle: 1,
                blocksize: 0,
            });
            const chunk = await codec.encode(data);
            return chunk.length < data.length && equal(await codec.decode(chunk), data);
        });
    }
    await check("chunk of Blosc2", async () =>
        equal(await decompress(await compress(data, { typesize: 4 })), data),
    );
    for (const { name } of manifest.chunks) {
        await check(name, async () => equal(await decompress(await load(name)), data));
    }
    await check("a truncated chunk", async () => {
        const chunk = await compress(data);
        const error = await decompress(chunk.subarray(0, chunk.length - 1)).catch((it) => it);
        return error instanceof BloscError && error.message.includes("truncated");
    });
    for (const { name, dtype } of manifest.arrays) {
        await check(name, async () => {
            const frame = await open(await load(name));
            const items = await frame.slice();
            frame.close();
            return frame.dtype === dtype && equal(bytesOf(items), await load(`${name}.raw`));
        });
        await check(`${name} by HTTP`, async () => {
            const frame = await fromUrl(url(name));
            return equal(bytesOf(await frame.slice()), await load(`${name}.raw`));
        });
    }
    await check("a Blob", async () => {
        const frame = await open(new Blob([await load("grid-lz4.b2nd")]));
        return (await frame.slice([10, 20], [11, 23])).length === 3;
    });
    for (const name of ["numbers-zstd.b2frame", "random.b2frame", "none.b2frame"]) {
        const all = await load(`${name}.raw`);
        await check(`${name} as a stream`, async () => {
            const response = await fetch(url(name));
            let at = 0;
            for await (const part of decodeFrameStream(response.body)) {
                if (!equal(part, all.subarray(at, at + part.length))) {
                    return false;
                }
                at += part.length;
            }
            return at === all.length;
        });
        await check(`${name} through a transform stream`, async () => {
            const response = await fetch(url(name));
            const decoded = new Response(response.body.pipeThrough(new FrameDecoderStream()));
            return equal(new Uint8Array(await decoded.arrayBuffer()), all);
        });
    }
    return { passed, failed };
}
