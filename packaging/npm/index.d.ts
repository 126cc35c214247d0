import type { Bytes } from "./blosc.js";

export {
    Blosc,
    BloscConfig,
    BloscError,
    Bytes,
    CodecName,
    CompressOptions,
    ErrorCode,
    ModuleSource,
    Shuffle,
    compress,
    decompress,
    init,
} from "./blosc.js";

/** A source of a frame that is read by ranges. */
export interface Source {
    /** The size in bytes. */
    readonly size: number;
    /** The name in texts of errors. */
    readonly name?: string;
    /**
     * Returns exactly `length` bytes from `offset` on, in memory that no other call writes to:
     * several calls may be active at a time.
     */
    read(
        offset: number,
        length: number,
        options: { signal?: AbortSignal },
    ): Uint8Array | Promise<Uint8Array>;
}

export interface OpenOptions {
    /** The largest result of `chunk`, `slice` and `vlmeta` in bytes. Default: 2²⁸. */
    maxBytes?: number;
    /**
     * The length of the shortest request in bytes. Ranges with smaller gaps are read together.
     * Default: 4096.
     */
    readAhead?: number;
    /** Aborts the opening. */
    signal?: AbortSignal;
}

export interface UrlOptions extends OpenOptions {
    /** Further headers of the requests. */
    headers?: ConstructorParameters<typeof Headers>[0];
    /** The function that is called instead of the global `fetch`. */
    fetch?: typeof globalThis.fetch;
}

export interface ReadOptions {
    signal?: AbortSignal;
}

/** `Float16Array`, if the libraries of TypeScript that are in use declare it. */
type Float16Items = typeof globalThis extends { Float16Array: { prototype: infer T } } ? T : never;

/** The items of a slice. Types without a typed array, such as records, are bytes. */
export type Items =
    | Float16Items
    | Uint8Array
    | Int8Array
    | Uint16Array
    | Int16Array
    | Uint32Array
    | Int32Array
    | BigUint64Array
    | BigInt64Array
    | Float32Array
    | Float64Array;

/** A frame, such as a file `.b2frame`, or an array, such as a file `.b2nd`. */
export class Frame {
    private constructor();
    /** Whether the frame is an array. */
    readonly isArray: boolean;
    /** The extents of an array. */
    readonly shape?: number[];
    /** The extents of a chunk of an array. */
    readonly chunks?: number[];
    /** The extents of a block of an array. */
    readonly blocks?: number[];
    /** The type of the items of an array in NumPy's notation. */
    readonly dtype?: string;
    /** The size of an item in bytes. */
    readonly typesize: number;
    /** The number of chunks. */
    readonly nchunks: number;
    /** The size of the data in bytes. */
    readonly nbytes: number;
    /** The size of the compressed chunks in bytes. */
    readonly cbytes: number;
    /** The size of the data of each chunk but the last; 0 if it varies, −1 without chunks. */
    readonly chunksize: number;
    /** The codec and the level that the frame records. */
    readonly codec: string;
    readonly level: number;
    /** The filters that the frame records. */
    readonly filters: string[];
    /** The fixed metalayers, decoded from MessagePack; others are bytes. */
    readonly metalayers: Record<string, unknown>;
    /** The variable-length metalayers, decoded from MessagePack; others are bytes. */
    readonly vlmeta: Record<string, unknown>;
    /** Returns the bytes of a metalayer. */
    metalayerBytes(name: string): Uint8Array;
    vlmetaBytes(name: string): Uint8Array;
    /** Returns the data of a chunk; the items of an array are in the order of its blocks. */
    chunk(number: number, options?: ReadOptions): Promise<Uint8Array>;
    /** Returns the data of all chunks, one after the other. */
    chunksInOrder(options?: ReadOptions): AsyncGenerator<Uint8Array, void, undefined>;
    /**
     * Returns the items from `start` to before `stop` in row-major order: all by default. Without a
     * shape, the bounds are numbers of items, and the result is bytes.
     */
    slice(
        start?: number | readonly number[],
        stop?: number | readonly number[],
        options?: ReadOptions,
    ): Promise<Items>;
    /** Frees the memory of the frame. */
    close(): void;
}

/** Opens a frame. Reads its header, its index and its trailer only. */
export function open(source: Bytes | Blob | Source, options?: OpenOptions): Promise<Frame>;

/** Opens a frame on an HTTP server that supports range requests. */
export function fromUrl(url: string | URL, options?: UrlOptions): Promise<Frame>;

/**
 * Decodes a frame that arrives as a stream; yields the data of each chunk. The order of the chunks
 * is checked at the end: the data is valid only if no error is thrown.
 */
export function decodeFrameStream(
    stream: ReadableStream<Bytes> | AsyncIterable<Bytes> | Iterable<Bytes>,
    options?: { maxBytes?: number },
): AsyncGenerator<Uint8Array, void, undefined>;

/** The same as a transform stream. */
export class FrameDecoderStream extends TransformStream<Bytes, Uint8Array> {
    constructor(options?: { maxBytes?: number });
}

/** A value of an extension type of MessagePack. */
export class Extension {
    constructor(type: number, data: Uint8Array);
    readonly type: number;
    readonly data: Uint8Array;
}

/**
 * Decodes one value. Maps with other keys than texts are of type `Map`; integers that a number
 * cannot represent exactly are of type `bigint`.
 */
export function decodeMessagePack(bytes: Bytes): unknown;
