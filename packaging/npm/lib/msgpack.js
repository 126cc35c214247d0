// Decoding of MessagePack, the usual form of metalayers.

import { BloscError, ErrorCode, bytesOf } from "./engine.js";

/** Values that are nested more deeply are rejected. */
const MAX_DEPTH = 100;

/** Keeps a byte order mark, which is a character of the text. */
const utf8 = new TextDecoder("utf-8", { ignoreBOM: true });

/** A value of an extension type. */
export class Extension {
    constructor(type, data) {
        this.type = type;
        this.data = data;
    }
}

function invalid(text) {
    return new BloscError(`invalid MessagePack: ${text}`, ErrorCode.DATA);
}

class Decoder {
    /** Decodes a plain `Uint8Array`. */
    constructor(bytes) {
        this.bytes = bytes;
        this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
        this.at = 0;
        this.depth = 0;
    }

    /** Returns the offset of the next `length` bytes, and skips them. */
    skip(length) {
        const start = this.at;
        if (length > this.bytes.length - start) {
            throw invalid("it is truncated");
        }
        this.at += length;
        return start;
    }

    unsigned(size) {
        const at = this.skip(size);
        switch (size) {
            case 1:
                return this.view.getUint8(at);
            case 2:
                return this.view.getUint16(at);
            case 4:
                return this.view.getUint32(at);
            default:
                return exact(this.view.getBigUint64(at));
        }
    }

    signed(size) {
        const at = this.skip(size);
        switch (size) {
            case 1:
                return this.view.getInt8(at);
            case 2:
                return this.view.getInt16(at);
            case 4:
                return this.view.getInt32(at);
            default:
                return exact(this.view.getBigInt64(at));
        }
    }

    binary(length) {
        const start = this.skip(length);
        return this.bytes.slice(start, start + length);
    }

    text(length) {
        const start = this.skip(length);
        // A copy: some decoders refuse shared memory.
        return utf8.decode(this.bytes.slice(start, start + length));
    }

    extension(length) {
        const type = this.signed(1);
        return new Extension(type, this.binary(length));
    }

    nested(read) {
        this.depth += 1;
        if (this.depth > MAX_DEPTH) {
            throw invalid("it is nested too deeply");
        }
        const value = read();
        this.depth -= 1;
        return value;
    }

    array(length) {
        return this.nested(() => {
            const items = [];
            for (let i = 0; i < length; i += 1) {
                items.push(this.value());
            }
            return items;
        });
    }

    /** An object without a prototype, in which no name is special; a Map for other keys. */
    map(length) {
        return this.nested(() => {
            const entries = [];
            for (let i = 0; i < length; i += 1) {
                const key = this.value();
                entries.push([key, this.value()]);
            }
            if (!entries.every(([key]) => typeof key === "string")) {
                return new Map(entries);
            }
            const object = Object.create(null);
            for (const [key, value] of entries) {
                object[key] = value;
            }
            return object;
        });
    }

    value() {
        const marker = this.unsigned(1);
        if (marker < 0x80) return marker;
        if (marker < 0x90) return this.map(marker & 0x0f);
        if (marker < 0xa0) return this.array(marker & 0x0f);
        if (marker < 0xc0) return this.text(marker & 0x1f);
        if (marker >= 0xe0) return marker - 0x100;
        switch (marker) {
            case 0xc0:
                return null;
            case 0xc2:
                return false;
            case 0xc3:
                return true;
            case 0xc4:
            case 0xc5:
            case 0xc6:
                return this.binary(this.unsigned(1 << (marker - 0xc4)));
            case 0xc7:
            case 0xc8:
            case 0xc9:
                return this.extension(this.unsigned(1 << (marker - 0xc7)));
            case 0xca:
                return this.view.getFloat32(this.skip(4));
            case 0xcb:
                return this.view.getFloat64(this.skip(8));
            case 0xcc:
            case 0xcd:
            case 0xce:
            case 0xcf:
                return this.unsigned(1 << (marker - 0xcc));
            case 0xd0:
            case 0xd1:
            case 0xd2:
            case 0xd3:
                return this.signed(1 << (marker - 0xd0));
            case 0xd4:
            case 0xd5:
            case 0xd6:
            case 0xd7:
            case 0xd8:
                return this.extension(1 << (marker - 0xd4));
            case 0xd9:
            case 0xda:
            case 0xdb:
                return this.text(this.unsigned(1 << (marker - 0xd9)));
            case 0xdc:
            case 0xdd:
                return this.array(this.unsigned(2 << (marker - 0xdc)));
            case 0xde:
            case 0xdf:
                return this.map(this.unsigned(2 << (marker - 0xde)));
            default:
                throw invalid(`the marker ${marker} has no meaning`);
        }
    }
}

/** Returns an integer as a number if it is exact, otherwise as a BigInt. */
function exact(integer) {
    const number = Number(integer);
    return Number.isSafeInteger(number) ? number : integer;
}

/** Decodes one value, which must use all bytes. */
export function decodeMessagePack(bytes) {
    const decoder = new Decoder(bytesOf(bytes));
    const value = decoder.value();
    if (decoder.at !== decoder.bytes.length) {
        throw invalid("bytes follow the value");
    }
    return value;
}
