// Runs the examples of README.md, with files of the tests instead of those on the network.

import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";

import { Blosc } from "../index.js";
import { fixture, fixtures, peerFile, serve } from "./helpers.js";

const root = fileURLToPath(new URL("..", import.meta.url));
const readme = readFileSync(join(root, "README.md"), "utf8");
const blocks = [...readme.matchAll(/^```js\n([\s\S]*?)^```$/gm)].map((match) => match[1]);
const zarrita = peerFile("node_modules/zarrita/dist/src/index.js");

const FILES = { "/temperature.b2nd": "grid-zstd.b2nd", "/log.b2frame": "numbers-lz4.b2frame" };
const folder = mkdtempSync(join(tmpdir(), "ferroblosc-readme-"));
let server;
let count = 0;

/** Runs a block; returns its log. */
async function runBlock(start) {
    const found = blocks.filter((block) => block.startsWith(start));
    assert.equal(found.length, 1, start);
    const url = (path) => JSON.stringify(pathToFileURL(path).href);
    const code = found[0]
        .replaceAll('"ferroblosc"', url(join(root, "index.js")))
        .replaceAll('"ferroblosc/blosc"', url(join(root, "blosc.js")))
        .replaceAll('"zarrita"', url(zarrita))
        .replaceAll("https://example.org", server.url)
        .replaceAll(
            'openFile("temperature.b2nd")',
            `openFile(${JSON.stringify(join(fixtures, "grid-zstd.b2nd"))})`,
        );
    count += 1;
    const path = join(folder, `${count}.mjs`);
    const logged = `globalThis.logged[${count}]`;
    const console = `const console = { log: (...values) => ${logged}.push(values) };`;
    globalThis.logged ??= {};
    globalThis.logged[count] = [];
    writeFileSync(path, `${console}\n${code}`);
    await import(pathToFileURL(path).href);
    return globalThis.logged[count];
}

test.before(async () => {
    server = await serve((path) => {
        const module = path === "/ferroblosc.wasm" && readFileSync(join(root, path));
        return module || (FILES[path] && fixture(FILES[path]));
    });
});

test.after(async () => {
    await server.close();
    rmSync(folder, { recursive: true });
});

test("all examples are run", () => {
    assert.equal(blocks.length, 6);
});

test("chunks", async () => {
    await runBlock("import { Blosc, compress");
});

test("zarrita reads and writes chunks with the codec", async () => {
    await runBlock("import { registry }");
    const zarr = await import(pathToFileURL(zarrita).href);
    assert.equal(await zarr.registry.get("blosc")(), Blosc);
    const metadata = {
        zarr_format: 2,
        shape: [100],
        chunks: [50],
        dtype: "<i4",
        fill_value: 0,
        order: "C",
        filters: null,
        compressor: { id: "blosc", cname: "lz4", clevel: 5, shuffle: 1, blocksize: 0 },
    };
    const store = new Map([["/.zarray", new TextEncoder().encode(JSON.stringify(metadata))]]);
    const array = await zarr.open.v2(store, { kind: "array" });
    const data = Int32Array.from({ length: 100 }, (_, i) => i * i);
    await zarr.set(array, null, { data, shape: [100], stride: [1] });
    assert.ok(store.get("/0") instanceof Uint8Array && store.get("/0")[0] === 2);
    assert.deepEqual((await zarr.get(array)).data, data);
});

test("arrays and frames", async () => {
    globalThis.file = new Blob([fixture("numbers-zstd.b2frame")]);
    const logged = await runBlock("import { fromUrl, open }");
    assert.deepEqual(logged[0].slice(0, 3), [[300, 200], [100, 60], "<f8"]);
    assert.equal(logged.length, 1 + 9);
});

test("a file in Node", async () => {
    const logged = await runBlock("import { open as openFile }");
    assert.equal(logged[0][0].length, 10);
});

test("streams", async () => {
    const logged = await runBlock("import { FrameDecoderStream");
    assert.equal(logged.length, 9);
});

test("loading", async () => {
    await runBlock("import { init }");
});
