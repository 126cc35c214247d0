// Decoding of a frame that arrives as a stream.

import { BloscError, ErrorCode, MAX_BYTES, bytesOf, limitOf, loadFrames } from "./engine.js";
import { Collector, piecesOf } from "./pieces.js";

const FIXED_HEADER = 87;
const CHUNK_HEADER = 16;
const EXTENDED_HEADER = 32;
/** The largest difference between the sizes of a chunk and of its data. */
const CHUNK_OVERHEAD = 2 ** 16;

/** Decodes a frame from its first byte to its last. `engine` is set before bytes are pushed. */
class FrameScanner {
    constructor(limit) {
        this.limit = limit;
        this.collected = new Collector();
        this.position = 0;
        this.positions = [];
        this.decoded = 0;
        this.begin(this.readFixedHeader, FIXED_HEADER);
    }

    begin(step, wanted, kept) {
        this.step = step;
        this.collected.start(wanted, kept);
    }

    /** Begins a part without data, whose size `maxBytes` does not limit unless it is larger. */
    beginPart(name, step, wanted, kept) {
        const most = Math.max(this.limit, MAX_BYTES) + CHUNK_OVERHEAD;
        if (wanted > most) {
            throw new BloscError(
                `the ${name} of the frame has ${wanted} bytes, and at most ${most} are allowed`,
                ErrorCode.LIMIT,
            );
        }
        this.begin(step, wanted, kept);
    }

    /** Processes bytes; yields the data of each chunk before it decodes the next one. */
    *push(bytes) {
        let rest = bytes;
        while (rest.length > 0) {
            if (this.step === undefined) {
                throw new BloscError(
                    `the frame has ${this.frameLength} bytes, and further bytes follow`,
                    ErrorCode.DATA,
                );
            }
            const count = this.collected.add(rest);
            this.position += count;
            rest = rest.subarray(count);
            // A step may need no bytes at all.
            while (this.step !== undefined && this.collected.isComplete) {
                const data = this.step(this.collected.take());
                if (data !== undefined) {
                    yield data;
                }
            }
        }
    }

    readFixedHeader(bytes) {
        this.engine.withBytes(bytes, (start, length) =>
            this.engine.check("fb_scan_header", start, length),
        );
        const numbers = new BigUint64Array(this.engine.result().buffer);
        const [header, data, frame, nbytes] = Array.from(numbers, Number);
        this.dataStart = header;
        this.dataEnd = header + data;
        this.frameLength = frame;
        this.nbytes = nbytes;
        if (data === 0 && nbytes > 0) {
            throw this.unordered("its chunks have no bytes: they consist of repeated values");
        }
        this.beginPart("header", this.readHeader, header, [bytes]);
    }

    readHeader(bytes) {
        this.header = bytes;
        this.beginChunk();
    }

    beginChunk() {
        if (this.position < this.dataEnd) {
            this.positions.push(this.position);
            this.begin(this.readChunkHeader, CHUNK_HEADER);
        } else if (this.decoded !== this.nbytes) {
            throw this.unordered(
                `its stored chunks have ${this.decoded} bytes of data instead of ${this.nbytes}`,
            );
        } else {
            this.beginPart("trailer", this.readTail, this.frameLength - this.dataEnd);
        }
    }

    readChunkHeader(bytes) {
        const size = new DataView(bytes.buffer, bytes.byteOffset).getInt32(12, true);
        const number = this.positions.length - 1;
        if (size < CHUNK_HEADER || this.positions[number] + size > this.dataEnd) {
            throw new BloscError(
                `chunk ${number} has an impossible size of ${size} bytes`,
                ErrorCode.INVALID_HEADER,
            );
        }
        if (size > this.limit + CHUNK_OVERHEAD) {
            throw new BloscError(
                `chunk ${number} has ${size} bytes, and at most ${this.limit} are allowed`,
                ErrorCode.LIMIT,
            );
        }
        this.begin(this.readChunk, size, [bytes]);
    }

    /** Returns the data of a chunk. */
    readChunk(bytes) {
        this.first ??= bytes.slice(0, EXTENDED_HEADER);
        const number = this.positions.length - 1;
        let data;
        try {
            data = this.engine.decompress(bytes, undefined, this.limit);
        } catch (error) {
            throw error instanceof BloscError
                ? new BloscError(`chunk ${number}: ${error.message}`, error.code)
                : error;
        }
        this.decoded += data.length;
        // The next step needs no bytes. An error in it is thrown after the data was passed on.
        this.begin(this.beginChunk, 0);
        return data;
    }

    /** Compares the order of the chunks with the index. */
    readTail(bytes) {
        this.step = undefined;
        const { engine } = this;
        const name = new TextEncoder().encode("the frame");
        const frame = engine.withBytes(name, (start, length) =>
            engine.call("fb_frame_new", BigInt(this.frameLength), start, length),
        );
        try {
            const parts = [
                [0, this.header],
                [this.dataEnd, bytes],
            ];
            if (this.first) {
                parts.push([this.dataStart, this.first]);
            }
            for (const [offset, part] of parts) {
                engine.withBytes(part, (start, length) =>
                    engine.check("fb_frame_supply", frame, 0, BigInt(offset), start, length),
                );
            }
            const positions = new Uint8Array(BigUint64Array.from(this.positions, BigInt).buffer);
            engine.withBytes(positions, (start) =>
                engine.check("fb_scan_check", frame, start, this.positions.length),
            );
        } finally {
            if (!engine.isDead) {
                engine.call("fb_frame_free", frame);
            }
        }
    }

    unordered(reason) {
        const text =
            `the frame cannot be decoded as a stream, because ${reason}; ` +
            "open it by ranges instead";
        return new BloscError(text, ErrorCode.DATA);
    }

    /** Checks that the frame is complete. */
    finish() {
        if (this.step !== undefined) {
            const text =
                this.frameLength === undefined
                    ? `the stream ended after ${this.position} bytes, within the header`
                    : `the frame is truncated: its stream has ${this.position} bytes of ${this.frameLength}`;
            throw new BloscError(text, ErrorCode.READ_BUFFER);
        }
    }
}

/** Decodes a frame from a stream, or an iterable of bytes; yields the data of each chunk. */
export async function* decodeFrameStream(stream, { maxBytes } = {}) {
    const limit = limitOf(maxBytes);
    const scanner = new FrameScanner(limit);
    for await (const piece of piecesOf(stream)) {
        // Here an error also cancels the stream.
        scanner.engine ??= await loadFrames();
        yield* scanner.push(bytesOf(piece));
    }
    scanner.finish();
}

/** A transform stream from the bytes of a frame to the data of its chunks. */
export class FrameDecoderStream extends TransformStream {
    #readable;

    constructor({ maxBytes } = {}) {
        limitOf(maxBytes);
        let input;
        // The inherited streams pass the bytes on: a transformer cannot wait between two chunks of
        // a piece until the reader asks for the second one.
        super({
            start(controller) {
                input = controller;
            },
        });
        const chunks = decodeFrameStream(super.readable, { maxBytes });
        this.#readable = new ReadableStream(
            {
                async pull(controller) {
                    const { done, value } = await chunks.next();
                    if (done) {
                        controller.close();
                    } else {
                        controller.enqueue(value);
                    }
                },
                async cancel(reason) {
                    // Also ends a read that waits for bytes.
                    input.error(reason);
                    await chunks.return();
                },
            },
            { highWaterMark: 0 },
        );
    }

    get readable() {
        return this.#readable;
    }
}
