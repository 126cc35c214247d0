export { Blosc, compress, decompress } from "./lib/codec.js";
export { BloscError, ErrorCode, init } from "./lib/engine.js";
export { Frame, fromUrl, open } from "./lib/frame.js";
export { Extension, decodeMessagePack } from "./lib/msgpack.js";
export { FrameDecoderStream, decodeFrameStream } from "./lib/stream.js";
