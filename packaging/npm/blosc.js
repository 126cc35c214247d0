// The codec class alone, as `numcodecs/blosc` exports it.
export { Blosc, Blosc as default, compress, decompress } from "./lib/codec.js";
export { BloscError, ErrorCode, init } from "./lib/engine.js";
