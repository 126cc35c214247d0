// The types of items in NumPy's notation, and typed arrays.

const WORDS = {
    bool: "|b1",
    int8: "|i1",
    int16: "<i2",
    int32: "<i4",
    int64: "<i8",
    uint8: "|u1",
    uint16: "<u2",
    uint32: "<u4",
    uint64: "<u8",
    float16: "<f2",
    float32: "<f4",
    float64: "<f8",
    complex64: "<c8",
    complex128: "<c16",
};

/** Typed arrays by kind and size. Complex numbers are pairs of numbers, dates are integers. */
const ARRAYS = {
    b1: Uint8Array,
    i1: Int8Array,
    i2: Int16Array,
    i4: Int32Array,
    i8: BigInt64Array,
    u1: Uint8Array,
    u2: Uint16Array,
    u4: Uint32Array,
    u8: BigUint64Array,
    f2: globalThis.Float16Array ?? Uint16Array,
    f4: Float32Array,
    f8: Float64Array,
    c8: Float32Array,
    c16: Float64Array,
    M8: BigInt64Array,
    m8: BigInt64Array,
};

/** Reverses the bytes of each item. */
function swap(bytes, size) {
    for (let start = 0; start + size <= bytes.length; start += size) {
        bytes.subarray(start, start + size).reverse();
    }
}

/**
 * Returns the items in `bytes`, which start at offset 0 of their buffer, as a typed array. Other
 * types, such as records and texts, are returned as bytes.
 */
export function typedArray(bytes, dtype, typesize) {
    const notation = Object.hasOwn(WORDS, dtype ?? "") ? WORDS[dtype] : (dtype ?? "");
    const parts = /^([<>|=]?)([biufcMm])(\d+)(\[[^\]]*\])?$/.exec(notation);
    if (!parts) {
        return bytes;
    }
    const [, order, kind, size] = parts;
    const Type = Object.hasOwn(ARRAYS, kind + size) ? ARRAYS[kind + size] : undefined;
    if (!Type || Number(size) !== typesize) {
        return bytes;
    }
    if (order === ">") {
        swap(bytes, Type.BYTES_PER_ELEMENT);
    }
    return new Type(bytes.buffer, bytes.byteOffset, bytes.byteLength / Type.BYTES_PER_ELEMENT);
}
