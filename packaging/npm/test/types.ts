// Checked by the compiler of TypeScript, never run.

import DefaultBlosc from "../blosc.js";
import {
    Blosc,
    BloscError,
    ErrorCode,
    FrameDecoderStream,
    compress,
    decodeFrameStream,
    decodeMessagePack,
    decompress,
    fromUrl,
    init,
    open,
} from "../index.js";
import type { Frame, Items, Source } from "../index.js";

/** The interface of the codecs of numcodecs and zarrita. */
interface Codec {
    encode(data: Uint8Array): Uint8Array | Promise<Uint8Array>;
    decode(data: Uint8Array, out?: Uint8Array): Uint8Array | Promise<Uint8Array>;
}

interface CodecConstructor<T> {
    fromConfig(config: T & { id: string }): Codec;
    codecId: string;
}

export const constructors: CodecConstructor<{ clevel?: number; shuffle?: 0 | 1 | 2 | -1 }>[] = [
    Blosc,
    DefaultBlosc,
];

export async function use(
    source: Source,
    stream: ReadableStream<Uint8Array>,
): Promise<Items | undefined> {
    await init({ chunks: fetch("ferroblosc.wasm") });
    const chunk: Uint8Array = await compress(new Float64Array(10), {
        cname: "zlib",
        shuffle: "bitshuffle",
    });
    const floats: Float64Array = await decompress(chunk, { out: new Float64Array(10) });
    const plain: Uint8Array = await decompress(chunk, { maxBytes: floats.byteLength });
    // @ts-expect-error: the codec does not exist.
    new Blosc(5, "gzip");
    try {
        const frames: Frame[] = [
            await open(source),
            await open(new Blob([])),
            await open(plain),
            await fromUrl("f.b2nd"),
        ];
        for await (const data of frames[0].chunksInOrder()) {
            const bytes: Uint8Array = data;
            console.log(
                bytes.length,
                frames[0].vlmeta.title,
                decodeMessagePack(frames[0].vlmetaBytes("title")),
            );
        }
        for await (const data of decodeFrameStream(stream)) {
            console.log(data.byteLength);
        }
        stream.pipeThrough(new FrameDecoderStream({ maxBytes: 1000 }));
        return await frames[1].slice([0, 0], [1, 1], { signal: AbortSignal.timeout(1000) });
    } catch (error) {
        if (error instanceof BloscError && error.code === ErrorCode.LIMIT) {
            return undefined;
        }
        throw error;
    }
}
