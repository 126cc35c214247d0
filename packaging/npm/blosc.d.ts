/** Bytes: an `ArrayBuffer`, a typed array or a `DataView`. */
export type Bytes = ArrayBufferLike | ArrayBufferView;

/** The codecs. `lz4hc` and `zstd` are decoded only. */
export type CodecName = "blosclz" | "lz4" | "lz4hc" | "snappy" | "zlib" | "zstd";

/** The filter: none, bytes, bits, or automatic (bits for items of one byte, otherwise bytes). */
export type Shuffle = 0 | 1 | 2 | -1 | "noshuffle" | "shuffle" | "bitshuffle" | "autoshuffle";

export interface CompressOptions {
    /** The level, from 0 (no compression) to 9. Default: 5. */
    clevel?: number;
    /** The codec. Default: `"lz4"`. */
    cname?: CodecName;
    /** The filter. Default: 1, bytes. */
    shuffle?: Shuffle;
    /** The size of a block in bytes, or 0 to choose it automatically. Default: 0. */
    blocksize?: number;
    /**
     * The size of an item in bytes, from 1 to 255. Default: 4 for the class `Blosc`, as in
     * numcodecs; that of the typed array for `compress`.
     */
    typesize?: number;
}

export interface BloscConfig extends CompressOptions {
    id?: string;
    /** The largest result of `decode` in bytes. Default: 2²⁸. */
    maxBytes?: number;
}

/** The codec `blosc` of Zarr. It writes chunks of Blosc 1.x, and also reads those of Blosc2. */
export class Blosc {
    static readonly codecId: "blosc";
    static readonly COMPRESSORS: CodecName[];
    static readonly NOSHUFFLE: 0;
    static readonly SHUFFLE: 1;
    static readonly BITSHUFFLE: 2;
    static readonly AUTOSHUFFLE: -1;
    readonly clevel: number;
    readonly cname: CodecName;
    readonly shuffle: -1 | 0 | 1 | 2;
    readonly blocksize: number;
    readonly typesize: number;
    constructor(
        clevel?: number,
        cname?: CodecName,
        shuffle?: Shuffle,
        blocksize?: number,
        typesize?: number,
        maxBytes?: number,
    );
    /** @throws RangeError for an invalid parameter */
    static fromConfig(config?: BloscConfig): Blosc;
    /** Compresses data. Rejects with a `BloscError` for codecs that are decoded only. */
    encode(data: Bytes): Promise<Uint8Array>;
    /** Decompresses a chunk into `out`, which is returned, or into a new array. */
    decode(data: Bytes): Promise<Uint8Array>;
    decode<T extends Bytes>(data: Bytes, out: T): Promise<T>;
}
export default Blosc;

/** Compresses data into a chunk of Blosc2. */
export function compress(data: Bytes, options?: CompressOptions): Promise<Uint8Array>;

/** Decompresses a chunk of Blosc2 or of Blosc 1.x. */
export function decompress(chunk: Bytes, options?: { maxBytes?: number }): Promise<Uint8Array>;
export function decompress<T extends Bytes>(
    chunk: Bytes,
    options: { out: T; maxBytes?: number },
): Promise<T>;

/** An error of this package, with a code of C-Blosc2 or of `ErrorCode`. */
export class BloscError extends Error {
    constructor(message: string, code: number, options?: { cause?: unknown });
    readonly name: "BloscError";
    readonly code: number;
}

export const ErrorCode: {
    /** The data has more bytes than `maxBytes`. */
    readonly LIMIT: -100;
    /** The WebAssembly instance failed; frames that it holds must be opened again. */
    readonly TRAP: -101;
    /** The source of a frame failed or changed. */
    readonly SOURCE: -102;
    readonly DATA: -3;
    readonly MEMORY: -4;
    readonly READ_BUFFER: -5;
    readonly WRITE_BUFFER: -6;
    readonly CODEC_SUPPORT: -7;
    readonly VERSION: -10;
    readonly INVALID_HEADER: -11;
    readonly INVALID_PARAM: -12;
    readonly FILTER: -18;
};

/** A WebAssembly module: its URL, a response with it, its bytes, or the compiled module. */
export type ModuleSource = string | URL | Response | Bytes | WebAssembly.Module;

/**
 * Loads the modules in advance, or from other places than the folder of this package. Without
 * arguments it loads the module for chunks.
 */
export function init(sources?: {
    chunks?: ModuleSource | Promise<ModuleSource>;
    frames?: ModuleSource | Promise<ModuleSource>;
}): Promise<void>;
