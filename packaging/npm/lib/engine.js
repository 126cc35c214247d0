// Loading of the WebAssembly modules, and calls of their exports.
//
// After a trap the memory of an instance may be inconsistent. The instance is then discarded, and
// the next call creates another one.

/** An error of this package: `code` is an error code of C-Blosc2, or one of `ErrorCode`. */
export class BloscError extends Error {
    constructor(message, code, options) {
        super(message, options);
        this.name = "BloscError";
        this.code = code;
    }
}

/** Codes of errors that C-Blosc2 does not have, and of some that it has. */
export const ErrorCode = Object.freeze({
    /** The data has more bytes than `maxBytes`. */
    LIMIT: -100,
    /** The module trapped. */
    TRAP: -101,
    /** The source of a frame failed or changed. */
    SOURCE: -102,
    DATA: -3,
    MEMORY: -4,
    READ_BUFFER: -5,
    WRITE_BUFFER: -6,
    CODEC_SUPPORT: -7,
    VERSION: -10,
    INVALID_HEADER: -11,
    INVALID_PARAM: -12,
    FILTER: -18,
});

/** The largest result by default, in bytes. */
export const MAX_BYTES = 2 ** 28;

/** Returns the limit of a result in bytes. */
export function limitOf(maxBytes = MAX_BYTES) {
    if (!(maxBytes >= 0)) {
        throw new RangeError(`maxBytes must be a number of bytes, not ${maxBytes}`);
    }
    return Math.min(Math.floor(maxBytes), 2 ** 31 - 1);
}

/**
 * Whether a value is bytes: a buffer or a view. Those of other realms, such as of frames of a page
 * and of test environments, have other constructors.
 */
export function isBytes(value) {
    return (
        ArrayBuffer.isView(value) ||
        /^\[object (Shared)?ArrayBuffer\]$/.test(Object.prototype.toString.call(value))
    );
}

/**
 * Returns a view of the bytes of a buffer or an array. It is always a plain `Uint8Array` of a fixed
 * length: `slice` of Node's `Buffer` does not copy, and views of growable buffers can become
 * longer. A detached buffer is a `TypeError`.
 */
export function bytesOf(data) {
    if (ArrayBuffer.isView(data)) {
        return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
    }
    if (isBytes(data)) {
        return new Uint8Array(data, 0, data.byteLength);
    }
    throw new TypeError("the data must be an ArrayBuffer, or a view of one");
}

const utf8 = new TextDecoder();

/** An instance of a module. */
class Engine {
    constructor(instance, slot) {
        this.wasm = instance.exports;
        this.slot = slot;
        this.isDead = false;
    }

    /** Returns a view of memory, which is valid until the next call. */
    view(start, length) {
        return new Uint8Array(this.wasm.memory.buffer, start >>> 0, length);
    }

    /** Calls an export. */
    call(name, ...values) {
        if (this.isDead) {
            throw new BloscError(
                "the WebAssembly instance failed earlier; open the frame again",
                ErrorCode.TRAP,
            );
        }
        try {
            return this.wasm[name](...values);
        } catch (cause) {
            this.isDead = true;
            if (this.slot.engine === this) {
                this.slot.engine = undefined;
            }
            throw new BloscError(
                `the WebAssembly module failed: ${cause.message}`,
                ErrorCode.TRAP,
                { cause },
            );
        }
    }

    /** Calls an export whose negative results are the codes of errors. */
    check(name, ...values) {
        const code = this.call(name, ...values);
        if (code < 0) {
            throw new BloscError(this.text(), code);
        }
        return code;
    }

    /** Returns a copy of the last result with a variable size. */
    result() {
        const length = this.call("fb_result_len");
        return this.view(this.call("fb_result"), length).slice();
    }

    /** Returns the last result as a text. */
    text() {
        return utf8.decode(this.result());
    }

    /** Allocates memory for a call of `use` with its address, and frees it afterwards. */
    withMemory(length, use) {
        const size = Math.max(length, 1);
        // The argument has 32 bits.
        const start = size < 2 ** 32 ? this.call("fb_alloc", size) : 0;
        if (start === 0) {
            throw new BloscError(
                `the WebAssembly memory has no ${length} free bytes`,
                ErrorCode.MEMORY,
            );
        }
        try {
            return use(start);
        } finally {
            if (!this.isDead) {
                this.call("fb_free", start, size);
            }
        }
    }

    /** Calls `use` with the address of a copy of `bytes`. */
    withBytes(bytes, use) {
        return this.withMemory(bytes.length, (start) => {
            this.view(start, bytes.length).set(bytes);
            return use(start, bytes.length);
        });
    }

    /** Decompresses a chunk into `out`, or into a new array. */
    decompress(chunk, out, limit) {
        return this.withBytes(chunk, (src, length) => {
            const nbytes = this.check("fb_chunk_nbytes", src, length, limit);
            if (out && out.length < nbytes) {
                const text = `the output has ${out.length} bytes, and the data has ${nbytes}`;
                throw new BloscError(text, ErrorCode.WRITE_BUFFER);
            }
            return this.withMemory(nbytes, (dest) => {
                this.check("fb_decompress", src, length, dest, nbytes);
                const data = this.view(dest, nbytes);
                if (out) {
                    out.set(data);
                    return out;
                }
                return data.slice();
            });
        });
    }

    /** Compresses bytes with numeric parameters. */
    compress(bytes, { codec, level, filter, typesize, blocksize, isBlosc1 }) {
        return this.withBytes(bytes, (src, length) => {
            const room = length + 32;
            return this.withMemory(room, (dest) => {
                const size = this.check(
                    "fb_compress",
                    src,
                    length,
                    dest,
                    room,
                    codec,
                    level,
                    filter,
                    typesize,
                    blocksize,
                    isBlosc1 ? 1 : 0,
                );
                return this.view(dest, size).slice();
            });
        });
    }
}

/** A module, which is compiled once, and its instance. */
class Slot {
    constructor(url) {
        this.source = url;
        this.module = undefined;
        this.engine = undefined;
    }

    /** Loads the module from another source. */
    replace(source) {
        this.source = source;
        this.module = undefined;
        this.engine = undefined;
    }

    /** Returns the instance; creates it if necessary. */
    async load() {
        while (!this.engine) {
            this.module ??= compile(this.source);
            const { module } = this;
            let instance;
            try {
                instance = await WebAssembly.instantiate(await module, {});
            } catch (error) {
                if (this.module === module) {
                    this.module = undefined;
                    throw error;
                }
            }
            // In the meantime another call may have created the instance, or replaced the source.
            if (instance && this.module === module) {
                this.engine ??= new Engine(instance, this);
            }
        }
        return this.engine;
    }
}

/** Compiles a module: a URL, a response, bytes or a module. */
async function compile(source) {
    source = await source;
    if (source instanceof WebAssembly.Module) {
        return source;
    }
    if (isBytes(source)) {
        return WebAssembly.compile(source);
    }
    if (typeof Response !== "undefined" && source instanceof Response) {
        return compileResponse(source);
    }
    const url = new URL(source, import.meta.url);
    if (url.protocol === "file:") {
        const { readFile } = await import(
            /* webpackIgnore: true */ /* @vite-ignore */ "node:fs/promises"
        );
        return WebAssembly.compile(await readFile(url));
    }
    return compileResponse(await fetch(url));
}

async function compileResponse(response) {
    if (!response.ok) {
        throw new BloscError(
            `cannot load ${response.url}: HTTP ${response.status}`,
            ErrorCode.SOURCE,
        );
    }
    // Servers that do not know the type of WebAssembly files prevent compilation while loading.
    const type = response.headers.get("content-type") ?? "";
    return type.startsWith("application/wasm")
        ? WebAssembly.compileStreaming(response)
        : WebAssembly.compile(await response.arrayBuffer());
}

const chunks = new Slot(new URL("../ferroblosc.wasm", import.meta.url));
const frames = new Slot(new URL("../ferroblosc-frames.wasm", import.meta.url));

/**
 * Returns an instance that `load` returns. Fails if the buffer of `bytes` was detached or shortened
 * while it was loaded: a view of it is then empty.
 */
export async function loadFor(bytes, load) {
    const { length } = bytes;
    const engine = await load();
    if (bytes.length !== length) {
        throw new TypeError("the buffer of the data was detached or shortened before it was read");
    }
    return engine;
}

/** Returns an instance for chunks. */
export function loadChunks() {
    // The module for frames can do everything.
    return frames.engine ?? chunks.load();
}

/** Returns an instance for frames. */
export function loadFrames() {
    return frames.load();
}

/**
 * Loads the modules from other places than the folder of this package, or in advance.
 */
export async function init(sources = {}) {
    for (const [slot, source] of [
        [chunks, sources.chunks],
        [frames, sources.frames],
    ]) {
        if (source !== undefined) {
            slot.replace(source);
        }
    }
    const wanted = [];
    if (sources.frames !== undefined) {
        wanted.push(frames.load());
    }
    if (sources.chunks !== undefined || wanted.length === 0) {
        wanted.push(chunks.load());
    }
    await Promise.all(wanted);
}
