// Compares the speed of decoding and encoding with npm `numcodecs`, and the sizes of the modules.
//
// Both packages decode the same chunks, which numcodecs has written, and encode the same data.
// Calls alternate; a row has the median of the speeds, and the quotient of the medians.

import { readFileSync, statSync } from "node:fs";

import { Blosc } from "../index.js";
import { equal, numbers, numcodecsBlosc, numcodecsFile, random } from "./helpers.js";

const ROUNDS = Number(process.env.ROUNDS ?? 25);
const LENGTH = 4 << 20;
const Peer = await numcodecsBlosc();

const next = random(5);
const walk = Float32Array.from(
    { length: LENGTH / 4 },
    (() => {
        let value = 0;
        return () => (value += (next(2001) - 1000) / 1000);
    })(),
);
const DATA = {
    integers: numbers(LENGTH / 4),
    floats: new Uint8Array(walk.buffer),
    text: Uint8Array.from(
        { length: LENGTH },
        (() => {
            const words = Array.from({ length: 500 }, () =>
                Array.from({ length: 2 + next(8) }, () => 97 + next(26)),
            );
            let word = [];
            return () => {
                if (word.length === 0) {
                    word = [...words[Math.min(next(500), next(500))], 32];
                }
                return word.shift();
            };
        })(),
    ),
};

/** Returns the median times of both functions, which are called alternately. */
async function times(...functions) {
    const all = functions.map(() => []);
    for (let round = 0; round < ROUNDS + 3; round += 1) {
        for (const [i, call] of functions.entries()) {
            const start = performance.now();
            await call();
            if (round >= 3) {
                all[i].push(performance.now() - start);
            }
        }
    }
    return all.map((list) => list.sort((a, b) => a - b)[list.length >> 1]);
}

const ratios = { decode: [], encode: [] };

function print(what, name, config, ours, theirs, more = "") {
    const speed = (time) => `${(LENGTH / time / 1000).toFixed(0).padStart(6)} MB/s`;
    const ratio = theirs / ours;
    ratios[what].push(ratio);
    const { cname, clevel, shuffle } = config;
    const cell = `${name.padEnd(9)} ${cname.padEnd(8)} level ${clevel} shuffle ${shuffle}`;
    console.log(`${what} ${cell} ${speed(ours)} ${speed(theirs)} ${ratio.toFixed(2)}${more}`);
}

console.log("                                       ferroblosc   numcodecs  ratio");
for (const cname of ["lz4", "blosclz", "lz4hc", "zlib", "zstd", "snappy"]) {
    for (const [name, data] of Object.entries(DATA)) {
        for (const shuffle of [0, 1, 2]) {
            if (name === "text" && shuffle !== 0) {
                continue;
            }
            const config = { id: "blosc", cname, clevel: 5, shuffle, blocksize: 0 };
            const ours = Blosc.fromConfig(config);
            const theirs = Peer.fromConfig(config);
            const chunk = await theirs.encode(data);
            if (!equal(await ours.decode(chunk), data)) {
                throw new Error(`${name} ${JSON.stringify(config)}`);
            }
            print(
                "decode",
                name,
                config,
                ...(await times(
                    () => ours.decode(chunk),
                    () => theirs.decode(chunk),
                )),
            );
            if (cname !== "lz4hc" && cname !== "zstd") {
                const size = (await ours.encode(data)).length / chunk.length;
                const more = `  size ${size.toFixed(3)}`;
                print(
                    "encode",
                    name,
                    config,
                    ...(await times(
                        () => ours.encode(data),
                        () => theirs.encode(data),
                    )),
                    more,
                );
            }
        }
    }
}
for (const [what, list] of Object.entries(ratios)) {
    const mean = Math.exp(list.reduce((sum, ratio) => sum + Math.log(ratio), 0) / list.length);
    console.log(
        `${what}: geometric mean ${mean.toFixed(2)}, smallest ${Math.min(...list).toFixed(2)}`,
    );
}

/** Returns the size of the module that is embedded in the file of numcodecs. */
function embeddedSize() {
    const [, base64] = /"([A-Za-z0-9+/=]{10000,})"/.exec(readFileSync(numcodecsFile, "utf8"));
    return Buffer.from(base64, "base64").length;
}
for (const name of ["ferroblosc.wasm", "ferroblosc-frames.wasm"]) {
    console.log(`${name}: ${statSync(new URL(`../${name}`, import.meta.url)).size} bytes`);
}
console.log(`module of numcodecs: ${embeddedSize()} bytes`);
