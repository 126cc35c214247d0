// Sources of frames: objects with `size` and `read(offset, length)`.

import { BloscError, ErrorCode, bytesOf, isBytes } from "./engine.js";

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

/** A file on an HTTP server that supports ranges. */
export class HttpSource {
    constructor(url, { fetch: fetchUrl = globalThis.fetch, headers = {} } = {}) {
        this.name = String(url);
        this.fetch = (init) => fetchUrl.call(globalThis, url, init);
        this.headers = headers;
    }

    /** Learns the size of the file, and reads its first bytes. */
    async begin(length, signal) {
        const response = await this.request(0, length, signal);
        const total = /\/(\d+)$/.exec(response.headers.get("content-range") ?? "")?.[1];
        this.version = response.headers.get("etag") ?? response.headers.get("last-modified");
        // Servers of other origins may hide the header of the range.
        this.size = total === undefined ? await this.sizeByHead(signal) : Number(total);
        this.prefetched = {
            offset: 0,
            bytes: await this.body(response, Math.min(length, this.size)),
        };
    }

    async sizeByHead(signal) {
        const response = await this.fetch({ method: "HEAD", headers: this.headers, signal });
        const length = response.headers.get("content-length");
        if (!response.ok || !/^\d+$/.test(length ?? "")) {
            throw new BloscError(
                `the server does not report the size of ${this.name}`,
                ErrorCode.SOURCE,
            );
        }
        return Number(length);
    }

    async request(offset, length, signal) {
        const range = `bytes=${offset}-${offset + length - 1}`;
        const response = await this.fetch({ headers: { ...this.headers, Range: range }, signal });
        if (response.status !== 206) {
            await response.body?.cancel();
            const text =
                response.status === 200
                    ? `the server ignores ranges and would send all of ${this.name}`
                    : `cannot read ${this.name}: HTTP ${response.status}`;
            throw new BloscError(text, ErrorCode.SOURCE);
        }
        return response;
    }

    async body(response, length) {
        const bytes = new Uint8Array(await response.arrayBuffer());
        if (bytes.length !== length) {
            const sent = `${bytes.length} bytes of ${this.name}`;
            const text = `the server sent ${sent} instead of ${length}`;
            throw new BloscError(text, ErrorCode.SOURCE);
        }
        return bytes;
    }

    async read(offset, length, { signal } = {}) {
        const response = await this.request(offset, length, signal);
        const version = response.headers.get("etag") ?? response.headers.get("last-modified");
        if (version !== this.version) {
            await response.body?.cancel();
            throw new BloscError(`${this.name} has changed since it was opened`, ErrorCode.SOURCE);
        }
        return this.body(response, length);
    }
}
