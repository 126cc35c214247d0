// Helpers of the tests. The environment has the directories that `scripts/test-npm.sh` fills.

import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const target = join(dirname(fileURLToPath(import.meta.url)), "../../../target/npm");
export const fixtures = process.env.FERROBLOSC_FIXTURES ?? join(target, "fixtures");
const peer = process.env.FERROBLOSC_NPM_PEER ?? join(target, "peer");

/** Returns the bytes of a fixture. */
export function fixture(name) {
    return new Uint8Array(readFileSync(join(fixtures, name)));
}

/** The list of the fixtures. */
export const manifest = JSON.parse(readFileSync(join(fixtures, "fixtures.json"), "utf8"));

/** The codec of npm `numcodecs`. */
export const numcodecsFile = join(peer, "node_modules/numcodecs/dist/blosc.js");

/** Returns the path of a file of the packages that the tests use. */
export function peerFile(path) {
    return join(peer, path);
}

/** The codec class of npm `numcodecs`. */
export async function numcodecsBlosc() {
    return (await import(numcodecsFile)).default;
}

/** A source that counts its reads. */
export class CountingSource {
    constructor(bytes) {
        this.bytes = bytes;
        this.size = bytes.length;
        this.reset();
    }

    reset() {
        this.requests = 0;
        this.total = 0;
    }

    async read(offset, length) {
        this.requests += 1;
        this.total += length;
        return this.bytes.slice(offset, offset + length);
    }
}

/** Returns the bytes of a typed array. */
export function bytesOf(array) {
    return new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
}

/** Whether two byte arrays are equal. */
export function equal(a, b) {
    return Buffer.compare(a, b) === 0;
}

/** Returns pseudo-random integers below a limit. */
export function random(seed = 1) {
    let state = seed;
    return (limit) => {
        state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
        return Math.floor((state / 2 ** 32) * limit);
    };
}

/** Returns bytes that resemble measurements: integers that increase with some noise. */
export function numbers(count) {
    const next = random();
    return new Uint8Array(Uint32Array.from({ length: count }, (_, i) => i * 3 + next(16)).buffer);
}

const TYPES = {
    js: "text/javascript",
    html: "text/html",
    wasm: "application/wasm",
    json: "application/json",
};

/**
 * Answers a request for a file, also for a range of it. `find` returns the bytes of a path, or
 * undefined; `options` can change the behaviour of the server for tests.
 */
export function respond(request, response, find, options = {}) {
    const path = decodeURIComponent(new URL(request.url, "http://localhost").pathname);
    const bytes = find(path);
    if (bytes === undefined) {
        response.writeHead(404).end();
        return;
    }
    const type = TYPES[path.split(".").at(-1)] ?? "application/octet-stream";
    const headers = { "Content-Type": type, ETag: options.etag?.() ?? '"1"' };
    const range = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? "");
    if (range && !options.ignoresRanges) {
        const start = Number(range[1]);
        const part = bytes.subarray(start, Number(range[2]) + 1);
        if (!options.hidesTotal) {
            headers["Content-Range"] = `bytes ${start}-${start + part.length - 1}/${bytes.length}`;
        }
        const sent = options.shortens ? part.subarray(0, part.length - 1) : part;
        response.writeHead(206, { ...headers, "Content-Length": sent.length }).end(sent);
    } else {
        response.writeHead(200, { ...headers, "Content-Length": bytes.length });
        response.end(request.method === "HEAD" ? undefined : bytes);
    }
}

/** Serves files over HTTP (see `respond`), and records the requests. */
export async function serve(find, options = {}) {
    const requests = [];
    const server = createServer((request, response) => {
        requests.push({ path: request.url, method: request.method, range: request.headers.range });
        respond(request, response, find, options);
    });
    await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
    const close = () =>
        new Promise((resolve) => {
            server.close(resolve);
            server.closeAllConnections();
        });
    return { url: `http://127.0.0.1:${server.address().port}`, requests, close };
}
