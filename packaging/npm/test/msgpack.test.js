import assert from "node:assert/strict";
import test from "node:test";

import { Extension, decodeMessagePack } from "../index.js";

const value = (...bytes) => decodeMessagePack(Uint8Array.from(bytes));
const text = (string) => [...new TextEncoder().encode(string)];

test("each form of MessagePack is decoded", () => {
    assert.deepEqual([value(0x7f), value(0xe0), value(0xff)], [127, -32, -1]);
    assert.deepEqual([value(0xc0), value(0xc2), value(0xc3)], [null, false, true]);
    assert.deepEqual(
        [value(0xcc, 200), value(0xcd, 1, 0), value(0xce, 255, 0, 0, 0)],
        [200, 256, 0xff000000],
    );
    assert.equal(value(0xcf, 0, 0, 0, 1, 0, 0, 0, 0), 2 ** 32);
    assert.equal(value(0xcf, ...Array(8).fill(255)), 2n ** 64n - 1n);
    assert.deepEqual(
        [value(0xd0, 0x80), value(0xd1, 0x80, 0), value(0xd2, 0x80, 0, 0, 0)],
        [-128, -32768, -(2 ** 31)],
    );
    assert.equal(value(0xd3, 0x80, 0, 0, 0, 0, 0, 0, 0), -(2n ** 63n));
    assert.equal(value(0xd3, ...Array(8).fill(255)), -1);
    assert.equal(value(0xca, 0x3f, 0x80, 0, 0), 1);
    assert.equal(value(0xcb, 0xbf, 0xe0, 0, 0, 0, 0, 0, 0), -0.5);
    assert.equal(value(0xa2, ...text("é")), "é");
    assert.equal(value(0xa4, ...text("\ufeffa")), "\ufeffa");
    for (const marker of [
        [0xd9, 3],
        [0xda, 0, 3],
        [0xdb, 0, 0, 0, 3],
    ]) {
        assert.equal(value(...marker, ...text("abc")), "abc");
    }
    for (const marker of [
        [0xc4, 2],
        [0xc5, 0, 2],
        [0xc6, 0, 0, 0, 2],
    ]) {
        assert.deepEqual(value(...marker, 8, 9), Uint8Array.of(8, 9));
    }
    for (const marker of [[0x92], [0xdc, 0, 2], [0xdd, 0, 0, 0, 2]]) {
        assert.deepEqual(value(...marker, 1, 0x91, 2), [1, [2]]);
    }
    for (const marker of [[0x81], [0xde, 0, 1], [0xdf, 0, 0, 0, 1]]) {
        assert.deepEqual({ ...value(...marker, 0xa1, 97, 5) }, { a: 5 });
    }
    assert.deepEqual(value(0x81, 1, 2), new Map([[1, 2]]));
    for (const [marker, length] of [
        [[0xd4], 1],
        [[0xd5], 2],
        [[0xd6], 4],
        [[0xd7], 8],
        [[0xd8], 16],
    ]) {
        assert.deepEqual(
            value(...marker, 0xff, ...Array(length).fill(3)),
            new Extension(-1, new Uint8Array(length).fill(3)),
        );
    }
    for (const marker of [
        [0xc7, 3],
        [0xc8, 0, 3],
        [0xc9, 0, 0, 0, 3],
    ]) {
        assert.deepEqual(value(...marker, 5, 1, 2, 3), new Extension(5, Uint8Array.of(1, 2, 3)));
    }
});

test("bytes of a buffer of Node are copied", () => {
    const bytes = Buffer.of(0xc4, 2, 5, 6);
    const decoded = decodeMessagePack(bytes);
    bytes.fill(0);
    assert.deepEqual(decoded, Uint8Array.of(5, 6));
    assert.equal(decodeMessagePack(new Uint8Array(Buffer.of(0xa1, 0x61)).buffer), "a");
});
