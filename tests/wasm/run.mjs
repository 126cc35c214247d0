// Runs the WebAssembly module in Node.
//
// usage: node run.mjs check MODULE DIR | node run.mjs damage MODULE DIR ROUNDS
//        | node run.mjs speed MODULE DIR
//
// DIR has the files that the program `native` has written. `check` compares all results with the
// expected ones. `damage` changes bytes of the sources: each call must return, and use little
// memory. `speed` prints the decompression speeds.

import { readFileSync } from "node:fs";
import { join } from "node:path";

const [command, module, folder, rounds] = process.argv.slice(2);
const { instance } = await WebAssembly.instantiate(readFileSync(module), {});
const wasm = instance.exports;

/** The size of the destination, as in `native.rs`. */
const DEST = 1 << 20;
const LARGE = 8 << 20;
const FILE_OPEN = -15;
const LOCK = -37;

let passed = 0;
let failed = 0;

function check(isTrue, text) {
    if (isTrue) {
        passed += 1;
    } else {
        failed += 1;
        console.log(`failed: ${text}`);
    }
}

/** The memory of the module, which may have grown since the last call. */
function bytesAt(start, length) {
    return new Uint8Array(wasm.memory.buffer, start, length);
}

/** Memory of the module that is allocated once. */
function block(length) {
    return { start: wasm.fb_alloc(length), length };
}

const dest = block(LARGE);
const src = block(2 * LARGE);

/** Calls a function of the module with a source; returns its result. */
function call(name, bytes, numbers, length = DEST) {
    bytesAt(src.start, bytes.length).set(bytes);
    return wasm[`fb_${name}`](src.start, bytes.length, dest.start, length, ...numbers);
}

const read = (name) => new Uint8Array(readFileSync(join(folder, name)));
const cases = readFileSync(join(folder, "cases"), "utf8").trim().split("\n").map((line) => line.split("\t"));
const functions = cases.filter(([name]) => name !== "speed").map((fields) => ({
    name: fields[0],
    numbers: fields.slice(1, -2).map(Number),
    source: fields.at(-2),
    result: fields.at(-1),
}));

function checkAll() {
    for (const { name, numbers, source, result } of functions) {
        const bytes = read(source);
        const length = call(name, bytes, numbers);
        const text = `${name} ${numbers} of ${source}: ${length} instead of ${result}`;
        if (result.startsWith("-")) {
            check(length === Number(result), text);
        } else {
            const isEqual = length >= 0 && Buffer.from(bytesAt(dest.start, length)).equals(Buffer.from(read(result)));
            check(isEqual, text);
        }
    }
    for (const [kind, codec, name] of cases) {
        if (kind === "speed") {
            check(call("decompress", read(name), [], LARGE) === LARGE, `the large chunk of codec ${codec}`);
        }
    }
    checkEncoders();
    checkFiles();
}

/** Codecs without an encoder return the documented error. */
function checkEncoders() {
    const CODEC_SUPPORT = -7;
    const { source } = functions.find(({ name }) => name === "compress");
    for (const codec of [2, 5, 33]) {
        const result = call("compress", read(source), [codec, 5, 1, 4]);
        check(result === CODEC_SUPPORT, `compressing with codec ${codec}: ${result}`);
    }
}

/** Operations on files fail with the cause. */
function checkFiles() {
    const length = wasm.fb_use_files(dest.start, DEST);
    check(length > 0, `using files: ${length}`);
    const lines = Buffer.from(bytesAt(dest.start, Math.max(length, 0))).toString().trim().split("\n");
    check(lines.length === 8, `${lines.length} errors of files`);
    for (const line of lines) {
        const hasCause = line.includes("not supported on this platform") && line.includes("/a.b2frame");
        const code = Number(line.split(" ")[0]);
        check(hasCause && (code === FILE_OPEN || code === LOCK && line.includes("cannot lock")), line);
    }
}

/** Returns pseudo-random integers below a limit. */
function random() {
    let state = 1;
    return (limit) => {
        state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
        return Math.floor(state / 2 ** 32 * limit);
    };
}

const EXTREMES = [0, 1, -1, 0x7fffffff, -0x80000000, 0x10000, 0x7fffffe0];

/** Returns a damaged copy of bytes. */
function damaged(bytes, next) {
    const copy = bytes.slice(0, next(4) === 0 ? next(bytes.length + 1) : bytes.length);
    const view = new DataView(copy.buffer);
    for (let count = next(4); count >= 0 && copy.length > 0; count -= 1) {
        // Most headers are at the beginning.
        const at = next(next(2) === 0 ? Math.min(copy.length, 120) : copy.length);
        switch (next(3)) {
            case 0: copy[at] ^= 1 << next(8); break;
            case 1: copy[at] = next(256); break;
            default:
                if (at + 4 <= copy.length) {
                    view.setInt32(at, EXTREMES[next(EXTREMES.length)], next(2) === 0);
                }
        }
    }
    return copy;
}

function damageAll(count) {
    const next = random();
    const readers = functions.filter(({ name }) => ["decompress", "read_frame", "read_array"].includes(name));
    let decoded = 0;
    let calls = 0;
    for (const { name, source } of readers) {
        const bytes = read(source);
        for (let round = 0; round < count; round += 1) {
            const result = call(name, damaged(bytes, next), []);
            calls += 1;
            decoded += result >= 0 ? 1 : 0;
        }
    }
    const megabytes = wasm.memory.buffer.byteLength / 2 ** 20;
    console.log(`${calls} damaged sources, ${decoded} decoded, ${megabytes.toFixed(0)} MiB of memory`);
    check(decoded < calls * 0.7, "most damage is detected");
    check(megabytes < 256, `${megabytes} MiB of memory`);
}

function speeds() {
    for (const [kind, codec, name] of cases) {
        if (kind !== "speed") {
            continue;
        }
        const bytes = read(name);
        let best = Infinity;
        for (let round = 0; round < 40; round += 1) {
            const start = performance.now();
            call("decompress", bytes, [], LARGE);
            best = Math.min(best, performance.now() - start);
        }
        console.log(`codec ${codec}: ${(LARGE / best / 1000).toFixed(0)} MB/s`);
    }
}

switch (command) {
    case "check": checkAll(); break;
    case "damage": damageAll(Number(rounds)); break;
    case "speed": speeds(); break;
    default: throw new Error("unknown command");
}
if (command !== "speed") {
    console.log(`${command}: ${passed} passed, ${failed} failed`);
    process.exitCode = failed > 0 || passed === 0 ? 1 : 0;
}
