// Sources of frames: objects with `size` and `read(offset, length)`.

import { BloscError, ErrorCode, bytesOf, isBytes } from "./engine.js";
import { Collector, piecesOf } from "./pieces.js";

/** Bytes in memory. */
class BytesSource {
    name = "the frame";

    constructor(bytes) {
        this.bytes = bytes;
        this.size = bytes.length;
    }

    async read(offset, length) {
        return this.bytes.subarray(offset, offset + length);
    }
}

/** A Blob, such as a File. */
class BlobSource {
    constructor(blob) {
        this.blob = blob;
        this.size = blob.size;
        this.name = blob.name ?? "the frame";
    }

    async read(offset, length) {
        return new Uint8Array(await this.blob.slice(offset, offset + length).arrayBuffer());
    }
}

/** Returns a source for bytes, a Blob or an object of the caller. */
export function toSource(source) {
    if (isBytes(source)) {
        return new BytesSource(bytesOf(source));
    }
    if (typeof Blob !== "undefined" && source instanceof Blob) {
        return new BlobSource(source);
    }
    if (
        typeof source?.read === "function" &&
        Number.isSafeInteger(source.size) &&
        source.size >= 0
    ) {
        return source;
    }
    throw new TypeError(
        "the source must be bytes, a Blob, or an object with `size` and `read(offset, length)`",
    );
}

/**
 * Returns the first byte and the size of the file in the header `Content-Range`; `undefined` for
 * those that the server does not report, or hides from other origins.
 */
function rangeOf(response) {
    const range = /^bytes (\d+)-\d+\/(\d+|\*)$/i.exec(response.headers.get("content-range") ?? "");
    return {
        start: range ? Number(range[1]) : undefined,
        total: range && range[2] !== "*" ? Number(range[2]) : undefined,
    };
}

/** Ends the transfer of a response whose body is not needed. */
async function discard(response) {
    // Streams of other implementations of `fetch` may have no such method.
    await response.body?.cancel?.().catch(() => {});
}

/** A file on an HTTP server that supports ranges. */
export class HttpSource {
    constructor(url, { fetch: fetchUrl = globalThis.fetch, headers = {} } = {}) {
        this.name = String(url);
        this.fetch = (init) => fetchUrl.call(globalThis, url, init);
        this.headers = Object.fromEntries(new Headers(headers));
        // A second header would be appended to the range of a request.
        delete this.headers.range;
    }

    /** Learns the size of the file, and reads its first bytes. */
    async begin(length, signal) {
        const response = await this.request(0, length, signal);
        this.version = response.headers.get("etag") ?? response.headers.get("last-modified");
        try {
            // Servers of other origins may hide the header of the range.
            this.size = rangeOf(response).total ?? (await this.sizeByHead(signal));
            if (!Number.isSafeInteger(this.size)) {
                throw this.error(`the server reports an impossible size of ${this.name}`);
            }
        } catch (error) {
            await discard(response);
            throw error;
        }
        this.prefetched = {
            offset: 0,
            bytes: await this.body(response, Math.min(length, this.size)),
        };
    }

    error(text) {
        return new BloscError(text, ErrorCode.SOURCE);
    }

    async sizeByHead(signal) {
        const response = await this.fetch({ method: "HEAD", headers: this.headers, signal });
        const length = response.headers.get("content-length");
        if (!response.ok || !/^\d+$/.test(length ?? "")) {
            throw this.error(`the server does not report the size of ${this.name}`);
        }
        return Number(length);
    }

    /** Requests bytes; the response begins with the first of them. */
    async request(offset, length, signal) {
        const range = `bytes=${offset}-${offset + length - 1}`;
        const response = await this.fetch({ headers: { ...this.headers, Range: range }, signal });
        const { start = offset } = rangeOf(response);
        if (response.status === 206 && start === offset) {
            return response;
        }
        await discard(response);
        if (response.status === 206) {
            throw this.error(
                `the server sent bytes from ${start} on of ${this.name} instead of ${offset}`,
            );
        }
        throw this.error(
            response.status === 200
                ? `the server ignores ranges and would send all of ${this.name}`
                : `cannot read ${this.name}: HTTP ${response.status}`,
        );
    }

    /** Returns the body of a response, which must have `length` bytes; reads no further ones. */
    async body(response, length) {
        const collected = new Collector(length);
        const pieces = response.body
            ? piecesOf(response.body)
            : [new Uint8Array(await response.arrayBuffer())];
        for await (const piece of pieces) {
            const bytes = bytesOf(piece);
            if (collected.add(bytes) < bytes.length) {
                throw this.error(`the server sent more than ${length} bytes of ${this.name}`);
            }
        }
        if (!collected.isComplete) {
            throw this.error(
                `the server sent ${collected.length} bytes of ${this.name} instead of ${length}`,
            );
        }
        return collected.take();
    }

    async read(offset, length, { signal } = {}) {
        const response = await this.request(offset, length, signal);
        const version = response.headers.get("etag") ?? response.headers.get("last-modified");
        const { total = this.size } = rangeOf(response);
        if (version !== this.version || total !== this.size) {
            await discard(response);
            throw this.error(`${this.name} has changed since it was opened`);
        }
        return this.body(response, length);
    }
}
