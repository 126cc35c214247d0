// Chunks: the codec class of Zarr libraries, and functions for chunks of Blosc2.

import {
    BloscError,
    ErrorCode,
    bytesOf,
    limitOf,
    loadChunks,
    loadFor,
    loadFrames,
} from "./engine.js";

/** The codecs, by the number in the format. */
const CODECS = ["blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd"];
/** Codecs that this package decodes only. Their encoders exist only in C. */
const DECODED_ONLY = ["lz4hc", "zstd"];
/** The encoder of Snappy is for chunks of Blosc 1.x; Blosc2 has no number for it. */
const SNAPPY = 3;
const SHUFFLES = { noshuffle: 0, shuffle: 1, bitshuffle: 2, autoshuffle: -1 };
const MAX_TYPESIZE = 255;
const MAX_BLOCKSIZE = 2 ** 29;

function checkInteger(name, value, least, most) {
    if (!Number.isInteger(value) || value < least || value > most) {
        throw new RangeError(`${name} must be an integer from ${least} to ${most}, not ${value}`);
    }
}

/** Checks the parameters; returns them with a numeric shuffle. */
function checked({ clevel = 5, cname = "lz4", shuffle = 1, blocksize = 0, typesize = 4 }) {
    checkInteger("clevel", clevel, 0, 9);
    checkInteger("blocksize", blocksize, 0, MAX_BLOCKSIZE);
    checkInteger("typesize", typesize, 1, MAX_TYPESIZE);
    if (!CODECS.includes(cname)) {
        throw new RangeError(`cname must be one of ${CODECS.join(", ")}, not ${cname}`);
    }
    const number = Object.hasOwn(SHUFFLES, shuffle) ? SHUFFLES[shuffle] : shuffle;
    if (![-1, 0, 1, 2].includes(number)) {
        throw new RangeError(
            "shuffle must be 0 (none), 1 (bytes), 2 (bits), -1 (automatic) or a name of these, " +
                `not ${shuffle}`,
        );
    }
    return { clevel, cname, shuffle: number, blocksize, typesize };
}

/** Errors of chunks with registered codecs and filters, which only the module for frames has. */
const MISSING = [ErrorCode.CODEC_SUPPORT, ErrorCode.FILTER];

/** Decompresses a chunk into `out`, or into a new array. */
async function decompressed(chunk, out, limit) {
    const dest = out && bytesOf(out);
    const engine = await loadFor(chunk, loadChunks);
    try {
        const decoded = engine.decompress(chunk, dest, limit);
        return out ?? decoded;
    } catch (error) {
        if (!(error instanceof BloscError && MISSING.includes(error.code))) {
            throw error;
        }
    }
    const decoded = (await loadFor(chunk, loadFrames)).decompress(chunk, dest, limit);
    return out ?? decoded;
}

/** Compresses bytes with checked parameters. */
async function compressed(data, { clevel, cname, shuffle, blocksize, typesize }, isBlosc1) {
    const bytes = bytesOf(data);
    if (DECODED_ONLY.includes(cname)) {
        throw new BloscError(
            `chunks of the codec ${cname} can be decoded, but not encoded: this package contains no ` +
                `encoder of ${cname}, because it exists only in C; use blosclz, lz4 or zlib`,
            ErrorCode.CODEC_SUPPORT,
        );
    }
    const codec = CODECS.indexOf(cname);
    if (codec === SNAPPY && !isBlosc1) {
        throw new BloscError(
            "chunks of Blosc2 cannot have the codec snappy",
            ErrorCode.CODEC_SUPPORT,
        );
    }
    // The choice of other libraries: bits of single bytes, bytes of larger items.
    const filter = shuffle === -1 ? (typesize === 1 ? 2 : 1) : shuffle;
    const engine = await loadFor(bytes, loadChunks);
    return engine.compress(bytes, { codec, level: clevel, filter, typesize, blocksize, isBlosc1 });
}

/** The codec `blosc` of Zarr: chunks of Blosc 1.x. Chunks of Blosc2 are decoded, too. */
export class Blosc {
    static codecId = "blosc";
    static COMPRESSORS = [...CODECS];
    static NOSHUFFLE = 0;
    static SHUFFLE = 1;
    static BITSHUFFLE = 2;
    static AUTOSHUFFLE = -1;

    constructor(
        clevel = 5,
        cname = "lz4",
        shuffle = Blosc.SHUFFLE,
        blocksize = 0,
        typesize = 4,
        maxBytes = undefined,
    ) {
        Object.assign(this, checked({ clevel, cname, shuffle, blocksize, typesize }));
        Object.defineProperty(this, "limit", { value: limitOf(maxBytes) });
    }

    static fromConfig(config = {}) {
        const { clevel, cname, shuffle, blocksize, typesize, maxBytes } = config;
        return new Blosc(clevel, cname, shuffle, blocksize, typesize, maxBytes);
    }

    async encode(data) {
        return compressed(data, this, true);
    }

    async decode(data, out) {
        const chunk = bytesOf(data);
        if (chunk.length === 0) {
            throw new BloscError("the chunk is empty", ErrorCode.READ_BUFFER);
        }
        return decompressed(chunk, out, this.limit);
    }
}

/** Compresses data into a chunk of Blosc2. */
export async function compress(data, options = {}) {
    const typesize = options.typesize ?? Math.min(data.BYTES_PER_ELEMENT ?? 1, MAX_TYPESIZE);
    return compressed(data, checked({ ...options, typesize }), false);
}

/** Decompresses a chunk of Blosc2 or of Blosc 1.x. */
export async function decompress(chunk, { out, maxBytes } = {}) {
    return decompressed(bytesOf(chunk), out, limitOf(maxBytes));
}
