// Reading of frames and arrays (`.b2frame`, `.b2nd`) by ranges.

import { typedArray } from "./dtype.js";
import { BloscError, ErrorCode, bytesOf, isBytes, limitOf, loadFrames } from "./engine.js";
import { decodeMessagePack } from "./msgpack.js";
import { HttpSource, toSource } from "./source.js";

/** The smallest request, and the largest gap between ranges that are read together, in bytes. */
const READ_AHEAD = 4096;
/** The number of requests at the same time. */
const MAX_REQUESTS = 8;
/** Requests are not merged beyond this length. */
const MAX_REQUEST = 2 ** 24;
/** The length of the fixed part of a header, which is always needed. */
const FIXED_HEADER = 87;

const CODECS = ["blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd"];
const PLUGIN_CODECS = {
    32: "ndlz",
    33: "zfp_acc",
    34: "zfp_prec",
    35: "zfp_rate",
    36: "openhtj2k",
    37: "grok",
    38: "openzl",
    39: "j2k",
    40: "htj2k",
};
const FILTERS = ["nofilter", "shuffle", "bitshuffle", "delta", "trunc_prec"];
const PLUGIN_FILTERS = {
    32: "ndcell",
    33: "ndmean",
    34: "bytedelta_buggy",
    35: "bytedelta",
    36: "int_trunc",
};

const utf8 = new TextEncoder();
const fromUtf8 = new TextDecoder("utf-8", { ignoreBOM: true });

/**
 * Calls `work` for all items, for at most `limit` at the same time; returns the results. After an
 * error no further call is made.
 */
async function limited(items, limit, work) {
    const results = new Array(items.length);
    let next = 0;
    const run = async () => {
        while (next < items.length) {
            const at = next;
            next += 1;
            try {
                results[at] = await work(items[at]);
            } catch (error) {
                next = items.length;
                throw error;
            }
        }
    };
    await Promise.all(Array.from({ length: Math.min(limit, items.length) }, run));
    return results;
}

/** Returns the length of the shortest request in bytes. */
function readAheadOf(readAhead = READ_AHEAD) {
    if (!(readAhead >= 0)) {
        throw new RangeError(`readAhead must be a number of bytes, not ${readAhead}`);
    }
    return Math.floor(readAhead);
}

/** Merges ranges that are close together, and lengthens short ones. */
export function merged(ranges, readAhead, size) {
    const sorted = [...ranges].sort((a, b) => a.start - b.start);
    const result = [];
    for (const { start, end } of sorted) {
        const last = result.at(-1);
        if (
            last &&
            start - last.end <= readAhead &&
            Math.max(end, last.end) - last.start <= MAX_REQUEST
        ) {
            last.end = Math.max(last.end, end);
        } else {
            result.push({ start, end: Math.min(size, Math.max(end, start + readAhead)) });
        }
    }
    return result;
}

/** Frees the memory of frames that were not closed. */
const registry = new FinalizationRegistry(({ engine, pointer }) => {
    if (!engine.isDead) {
        engine.call("fb_frame_free", pointer);
    }
});

/** A frame in the memory of the module, and its source. */
class Handle {
    constructor(engine, source, { readAhead, limit }) {
        this.engine = engine;
        this.source = source;
        this.readAhead = readAhead;
        this.limit = limit;
        const name = utf8.encode(source.name ?? "the frame");
        this.pointer = engine.withBytes(name, (start, length) =>
            engine.call("fb_frame_new", BigInt(source.size), start, length),
        );
        registry.register(this, { engine, pointer: this.pointer }, this);
    }

    close() {
        if (this.pointer !== undefined) {
            registry.unregister(this);
            if (!this.engine.isDead) {
                this.engine.call("fb_frame_free", this.pointer);
            }
            this.pointer = undefined;
        }
    }

    /** Calls an export with the frame; negative results are errors. */
    check(name, ...values) {
        if (this.pointer === undefined) {
            throw new BloscError("the frame is closed", ErrorCode.INVALID_PARAM);
        }
        return this.engine.check(name, this.pointer, ...values);
    }

    /** Passes bytes of the source to the module. */
    supply(read, offset, bytes) {
        this.engine.withBytes(bytes, (start, length) => {
            this.check("fb_frame_supply", read, BigInt(offset), start, length);
        });
    }

    /** Returns the ranges that the last attempt missed. */
    missing() {
        this.check("fb_frame_missing");
        const numbers = new BigUint64Array(this.engine.result().buffer);
        const ranges = [];
        for (let i = 0; i < numbers.length; i += 2) {
            ranges.push({ start: Number(numbers[i]), end: Number(numbers[i + 1]) });
        }
        return ranges;
    }

    async readSource({ start, end }, signal) {
        signal?.throwIfAborted();
        const read = await this.source.read(start, end - start, { signal });
        const length = isBytes(read) ? read.byteLength : "no";
        if (length !== end - start) {
            const text = `the source returned ${length} bytes instead of ${end - start}`;
            throw new BloscError(text, ErrorCode.SOURCE);
        }
        return bytesOf(read);
    }

    /** Repeats `attempt`, and supplies the bytes that it misses, until it succeeds. */
    async complete(read, signal, attempt) {
        let before = "";
        while (attempt() !== 0) {
            const missing = this.missing();
            const now = missing.map(({ start, end }) => `${start}-${end}`).join();
            if (now === before) {
                throw new BloscError("the module misses bytes that it has", ErrorCode.TRAP);
            }
            before = now;
            const ranges = merged(missing, this.readAhead, this.source.size);
            const all = await limited(ranges, MAX_REQUESTS, (range) =>
                this.readSource(range, signal),
            );
            ranges.forEach(({ start }, i) => this.supply(read, start, all[i]));
        }
    }

    /** Runs a read of the module; returns a copy of its result. */
    async run(number, signal) {
        try {
            await this.complete(number, signal, () => this.check("fb_read_step", number));
            const length = this.check("fb_read_result_len", number);
            return this.engine
                .view(this.engine.call("fb_read_result", this.pointer, number), length)
                .slice();
        } finally {
            if (this.pointer !== undefined && !this.engine.isDead) {
                this.engine.call("fb_read_end", this.pointer, number);
            }
        }
    }

    /** Returns the names of the metalayers, as bytes, which need not be UTF-8. */
    layerNames(isVariable) {
        this.check("fb_frame_layers", isVariable);
        const bytes = this.engine.result();
        const view = new DataView(bytes.buffer);
        const names = [];
        for (let at = 0; at < bytes.length; ) {
            const length = view.getUint32(at, true);
            names.push(bytes.subarray(at + 4, at + 4 + length));
            at += 4 + length;
        }
        return names;
    }

    /** Returns the content of a metalayer; the name is bytes. */
    layer(isVariable, name) {
        return this.engine.withBytes(name, (start, length) => {
            this.check("fb_frame_layer", isVariable, start, length, this.limit);
            return this.engine.result();
        });
    }

    /** Returns all metalayers, decoded if they are in MessagePack. */
    layers(isVariable) {
        const layers = Object.create(null);
        for (const name of this.layerNames(isVariable)) {
            layers[fromUtf8.decode(name)] = valueOf(this.layer(isVariable, name));
        }
        return layers;
    }
}

/** Decodes MessagePack; returns other bytes unchanged. */
function valueOf(bytes) {
    try {
        return decodeMessagePack(bytes);
    } catch (error) {
        if (error instanceof BloscError) {
            return bytes;
        }
        throw error;
    }
}

/** Returns the numbers of `fb_frame_info`, and the dtype. */
function describe(handle) {
    handle.check("fb_frame_info");
    const bytes = handle.engine.result();
    const view = new DataView(bytes.buffer);
    let at = 0;
    const next = () => {
        at += 8;
        return Number(view.getBigInt64(at - 8, true));
    };
    const list = (length) => Array.from({ length }, next);
    const ndim = next();
    const [typesize, nchunks, nbytes, cbytes, chunksize, codec, level] = list(7);
    const filters = list(6).filter((id) => id !== 0);
    const hasDtype = next() === 1;
    const isArray = ndim >= 0;
    const [shape, chunks, blocks] = isArray ? [list(ndim), list(ndim), list(ndim)] : [];
    return {
        isArray,
        typesize,
        nchunks,
        nbytes,
        cbytes,
        chunksize,
        level,
        shape,
        chunks,
        blocks,
        codec: CODECS[codec] ?? PLUGIN_CODECS[codec] ?? `codec ${codec}`,
        filters: filters.map((id) => FILTERS[id] ?? PLUGIN_FILTERS[id] ?? `filter ${id}`),
        dtype: hasDtype ? fromUtf8.decode(bytes.subarray(at)) : undefined,
    };
}

function checkBound(value) {
    if (!Number.isSafeInteger(value)) {
        throw new RangeError(`a bound of a slice must be an integer, not ${value}`);
    }
    return BigInt(value);
}

/** A frame that is read by ranges. */
export class Frame {
    #handle;

    constructor(handle) {
        this.#handle = handle;
        Object.assign(this, describe(handle));
    }

    /** The contents of the fixed metalayers, by name. */
    get metalayers() {
        return this.#handle.layers(0);
    }

    /** The contents of the variable-length metalayers, by name. */
    get vlmeta() {
        return this.#handle.layers(1);
    }

    metalayerBytes(name) {
        return this.#handle.layer(0, utf8.encode(name));
    }

    vlmetaBytes(name) {
        return this.#handle.layer(1, utf8.encode(name));
    }

    /** Reads and decompresses a chunk. */
    async chunk(number, { signal } = {}) {
        if (!Number.isInteger(number) || number < 0 || number >= this.nchunks) {
            throw new RangeError(`there is no chunk ${number}: the frame has ${this.nchunks}`);
        }
        const read = this.#handle.check("fb_read_chunk", BigInt(number), this.#handle.limit);
        return this.#handle.run(read, signal);
    }

    /** Reads the chunks one after the other. */
    async *chunksInOrder(options) {
        for (let number = 0; number < this.nchunks; number += 1) {
            yield await this.chunk(number, options);
        }
    }

    /** Reads the items from `start` to before `stop`. */
    async slice(start, stop, { signal } = {}) {
        const shape = this.isArray ? this.shape : [Math.floor(this.nbytes / this.typesize)];
        const listed = (bound) => (typeof bound === "number" ? [bound] : bound);
        const starts = listed(start) ?? shape.map(() => 0);
        const stops = listed(stop) ?? shape;
        if (starts.length !== shape.length || stops.length !== shape.length) {
            throw new RangeError(
                `the slice has ${starts.length} starts and ${stops.length} stops, ` +
                    `and the frame has ${shape.length} dimensions`,
            );
        }
        const bounds = BigInt64Array.from([...starts, ...stops], checkBound);
        const engine = this.#handle.engine;
        const read = engine.withBytes(new Uint8Array(bounds.buffer), (address) =>
            this.#handle.check("fb_read_slice", address, shape.length, this.#handle.limit),
        );
        const bytes = await this.#handle.run(read, signal);
        return this.isArray ? typedArray(bytes, this.dtype, this.typesize) : bytes;
    }

    /** Frees the memory of the frame. */
    close() {
        this.#handle.close();
    }
}

async function openSource(source, { maxBytes, readAhead: given, signal }) {
    const limit = limitOf(maxBytes);
    const readAhead = readAheadOf(given);
    const engine = await loadFrames();
    const handle = new Handle(engine, source, { readAhead, limit });
    try {
        // The header and the trailer, which most often have these lengths at most.
        const first = source.prefetched ?? { offset: 0, bytes: new Uint8Array(0) };
        if (first.bytes.length > 0) {
            handle.supply(0, first.offset, first.bytes);
        }
        const head = { start: first.bytes.length, end: Math.min(source.size, handle.readAhead) };
        const tail = {
            start: Math.max(head.end, first.bytes.length, source.size - handle.readAhead),
            end: source.size,
        };
        const ranges = [head, tail].filter(({ start, end }) => start < end);
        const joined =
            ranges.length === 2 && head.end === tail.start
                ? [{ start: head.start, end: tail.end }]
                : ranges;
        const all = await limited(joined, MAX_REQUESTS, (range) =>
            handle.readSource(range, signal),
        );
        joined.forEach(({ start }, i) => handle.supply(0, start, all[i]));
        await handle.complete(0, signal, () => handle.check("fb_frame_open"));
        return new Frame(handle);
    } catch (error) {
        handle.close();
        throw error;
    }
}

/** Opens a frame in memory, in a Blob, or in a source of the caller. */
export async function open(source, options = {}) {
    return openSource(toSource(source), options);
}

/** Opens a frame on an HTTP server, with range requests. */
export async function fromUrl(url, options = {}) {
    const source = new HttpSource(url, options);
    const length = Math.max(readAheadOf(options.readAhead), FIXED_HEADER);
    await source.begin(Math.min(length, MAX_REQUEST), options.signal);
    return openSource(source, options);
}
